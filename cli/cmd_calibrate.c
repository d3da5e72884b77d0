/* cmd_calibrate.c - `fulcrum calibrate`: measures this machine. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/calibrate.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "cli/show.h"
#include "model/nearest.h"
#include "presets/output.h"
#include "presets/preset.h"

/* Where the calibration goes unless told. */
static const char standard_path[] = "calibration.json";

struct settings {
    const char *actor;
    const char *core;
    const char *rom;
    double frame_skip;
    const char *learner;
    int network; /* enum fulcrum_learner_network */
    double budget_s;
    double threads;
    double seed;
};

static const char *actor_name(int index)
{
    /* One step at a time: the end of the table is not known beforehand. */
    const struct fulcrum_actor *const *actors = fulcrum_actors();
    for (int i = 0; i < index && *actors != NULL; i++) {
        actors++;
    }
    return *actors != NULL ? (*actors)->name : NULL;
}

static const char *learner_name(int index)
{
    const struct fulcrum_learner *const *learners = fulcrum_learners();
    for (int i = 0; i < index && *learners != NULL; i++) {
        learners++;
    }
    return *learners != NULL ? (*learners)->name : NULL;
}

static const char *network_name(int index)
{
    return fulcrum_learner_network_name((enum fulcrum_learner_network)index);
}

/* What the run asks and tells through its callbacks. */
struct watch {
    struct fulcrum_progress progress;
    const volatile sig_atomic_t *interrupted;
};

static int is_interrupted(void *user)
{
    const struct watch *watch = user;
    return *watch->interrupted != 0;
}

static void show_progress(void *user, const struct fulcrum_calibrate_progress *progress)
{
    struct watch *watch = user;
    fulcrum_progress_update(&watch->progress, progress->done_frac, progress->what);
}

/* A name that is in no table is a wrong command line, and costs no time. */
static enum fulcrum_status check_name(struct fulcrum_context *context,
    struct fulcrum_error *err, const char *name, const char *kind,
    fulcrum_choice_name *names)
{
    enum { MOST = 32 };
    const char *known[MOST];
    size_t count = 0;
    for (; count < MOST && names((int)count) != NULL; count++) {
        known[count] = names((int)count);
        if (name == NULL || strcmp(known[count], name) == 0) {
            return FULCRUM_OK;
        }
    }
    size_t nearest = fulcrum_nearest(name, known, count, sizeof known[0]);
    return fulcrum_usage_fail(context, err, FULCRUM_ERR_UNKNOWN_NAME,
        "there is no %s %s%s%s%s: `fulcrum list %ss` shows them", kind, name,
        nearest < count ? " (did you mean " : "", nearest < count ? known[nearest] : "",
        nearest < count ? "?)" : "", kind);
}

/* A core or a game that no actor would load is a wrong command line too. */
static enum fulcrum_status check_console(const struct settings *settings,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    int is_console =
        settings->actor != NULL && strcmp(settings->actor, "libretro") == 0;
    if (is_console || (settings->core == NULL && settings->rom == NULL)) {
        return FULCRUM_OK;
    }
    return fulcrum_usage_fail(context, err, FULCRUM_ERR_UNSUPPORTED,
        "--%s is for --actor libretro", settings->core != NULL ? "core" : "rom");
}

static struct fulcrum_calibrate_options options_of(const struct settings *settings)
{
    return (struct fulcrum_calibrate_options){
        .actor = settings->actor,
        .actor_options = {.frame_skip =
                              isnan(settings->frame_skip) ? 0.0 : settings->frame_skip,
            .core = settings->core,
            .rom = settings->rom},
        .learner = settings->learner,
        .network = (enum fulcrum_learner_network)settings->network,
        .budget_s = settings->budget_s,
        .max_threads = isnan(settings->threads) ? 0 : (size_t)settings->threads,
        .seed = (uint64_t)settings->seed,
    };
}

/* NULL: standard output gets the calibration, and no file is written. */
static const char *output_path(const struct fulcrum_context *context)
{
    if (context->output_path != NULL) {
        return strcmp(context->output_path, "-") == 0 ? NULL : context->output_path;
    }
    return context->format == FULCRUM_FORMAT_JSON ? NULL : standard_path;
}

static void warn(const struct fulcrum_calibration *calibration)
{
    for (size_t i = 0; i < calibration->note_count; i++) {
        if (strcmp(calibration->notes[i].key, "warning") == 0) {
            fulcrum_message_warn("%s", calibration->notes[i].text);
        }
    }
    for (size_t i = 0; i < calibration->fit_count; i++) {
        if (calibration->fits[i].warning[0] != '\0') {
            fulcrum_message_warn("fit of %s: %s", calibration->fits[i].name,
                calibration->fits[i].warning);
        }
    }
}

static enum fulcrum_status hand_out(const struct fulcrum_calibration *calibration,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    const char *path = output_path(context);
    enum fulcrum_status status = fulcrum_calibration_save(calibration, path, err);
    if (status != FULCRUM_OK || path == NULL) {
        return status;
    }
    warn(calibration);
    fulcrum_message_note(context, "%s%s", path,
        calibration->complete ? ""
                              : " holds what was measured; it is marked incomplete");
    /* The same document as in the file, not a report on it. */
    return context->format == FULCRUM_FORMAT_JSON
               ? fulcrum_calibration_save(calibration, NULL, err)
               : fulcrum_show_calibration(calibration, context, err);
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    struct fulcrum_calibrate_options options = options_of(settings);
    struct watch watch;
    enum fulcrum_status status =
        check_name(context, err, settings->actor, "actor", actor_name);
    if (status == FULCRUM_OK) {
        status = check_name(context, err, settings->learner, "learner", learner_name);
    }
    if (status == FULCRUM_OK) {
        status = check_console(settings, context, err);
    }
    if (status == FULCRUM_OK) {
        status = fulcrum_output_check(output_path(context), err);
    }
    if (status != FULCRUM_OK) {
        return status;
    }
    watch.interrupted = fulcrum_interrupt_watch();
    fulcrum_progress_start(&watch.progress, context);
    options.stop = is_interrupted;
    options.progress = show_progress;
    options.user = &watch;
    struct fulcrum_calibration *calibration = NULL;
    status = fulcrum_calibrate(&calibration, &options, err);
    fulcrum_progress_end(&watch.progress);
    if (calibration == NULL) {
        return status;
    }
    /* What was measured before Ctrl-C is kept; the exit code tells. */
    if (status == FULCRUM_ERR_INTERRUPTED) {
        context->exit_code = FULCRUM_EXIT_INTERRUPTED;
        fulcrum_message_note(context, "%s", err != NULL ? err->detail : "stopped");
        status = FULCRUM_OK;
    }
    struct fulcrum_error failure = {FULCRUM_OK, ""};
    enum fulcrum_status handed = hand_out(calibration, context, &failure);
    fulcrum_calibration_free(calibration);
    /* An environment that failed is told of last, by whoever prints `err`. */
    if (status == FULCRUM_OK && handed != FULCRUM_OK) {
        status = fulcrum_fail(err, handed, "%s", failure.detail);
    }
    return status;
}

#define SETTING(member) offsetof(struct settings, member)

static const struct fulcrum_option what_rows[] = {
    {.name = "actor",
        .kind = FULCRUM_OPTION_TEXT,
        .offset = SETTING(actor),
        .value = "NAME",
        .choice = actor_name,
        .help = "environment that the actors step; without it the first that is "
                "available of mujoco-humanoid, libretro and cartpole"},
    {.name = "core",
        .kind = FULCRUM_OPTION_FILE,
        .offset = SETTING(core),
        .value = "CORE",
        .help = "libretro: name or path of an emulator core (gambatte)"},
    {.name = "rom",
        .kind = FULCRUM_OPTION_FILE,
        .offset = SETTING(rom),
        .value = "FILE",
        .help = "libretro: game; without it a small one that is built in"},
    {.name = "frame-skip",
        .kind = FULCRUM_OPTION_COUNT,
        .offset = SETTING(frame_skip),
        .value = "N",
        .unit = "frames",
        .least = 1.0,
        .most = 1000.0,
        .help = "frames in a step; without it the actor's own"},
    {.name = "learner",
        .kind = FULCRUM_OPTION_TEXT,
        .offset = SETTING(learner),
        .value = "NAME",
        .fallback = "cpu",
        .choice = learner_name,
        .help = "what runs the network"},
    {.name = "network",
        .kind = FULCRUM_OPTION_CHOICE,
        .offset = SETTING(network),
        .value = "NAME",
        .fallback = "r2d2",
        .choice = network_name,
        .help = "network that infers actions and trains"},
    {.name = NULL},
};

static const struct fulcrum_option how_rows[] = {
    {.name = "budget",
        .kind = FULCRUM_OPTION_NUMBER,
        .offset = SETTING(budget_s),
        .value = "SECONDS",
        .unit = "s",
        .fallback = "90",
        .least = 10.0,
        .most = FULCRUM_CALIBRATE_BUDGET_MAX_S,
        .help = "how long it takes; more time means more samples"},
    {.name = "threads",
        .kind = FULCRUM_OPTION_COUNT,
        .offset = SETTING(threads),
        .value = "MAX",
        .least = 1.0,
        .most = 65536.0,
        .help = "most actor threads; without it four for each hardware thread"},
    {.name = "seed",
        .kind = FULCRUM_OPTION_COUNT,
        .offset = SETTING(seed),
        .value = "N",
        .fallback = "1",
        .least = 0.0,
        .most = 9007199254740992.0,
        .help = "of actions, environments and weights"},
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"What to measure", what_rows, 0},
    {"How", how_rows, 0},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum calibrate", "humanoid and R2D2 for 90 s into calibration.json"},
    {"fulcrum calibrate --actor cartpole --network mlp --budget 20 -o c.json",
        "the cheapest environment and a small network"},
    {"fulcrum calibrate --actor libretro --core nestopia --rom game.nes",
        "a console game of one's own"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_calibrate = {
    .name = "calibrate",
    .summary = "measure this machine with a real environment and a real network",
    .description =
        "Times one environment step, throughput over actor threads, inference over "
        "batch sizes, training steps, hand-offs between threads, memory and, where a "
        "meter can be read, power; fits curves and writes a calibration file (-o, else "
        "calibration.json) for predict and explore. Probes take turns, and a canary "
        "loop tells which samples were disturbed by other work: keep the machine as "
        "idle as can be.\n\n"
        "Ctrl-C keeps what was measured so far, in a file marked incomplete.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_FILE_REPORT,
    .run = run,
};
