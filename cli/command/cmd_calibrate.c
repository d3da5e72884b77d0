/* cmd_calibrate.c - `fulcrum calibrate`: measures this machine. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/probe/calibrate.h"
#include "cli/message.h"
#include "cli/options/options.h"
#include "cli/progress.h"
#include "model/design/design.h"
#include "model/try.h"
#include "presets/io/output.h"
#include "presets/load/preset.h"

/* Where the calibration goes unless told. */
static const char standard_path[] = "calibration.json";

struct settings {
    struct fulcrum_actor_settings actor;
    struct fulcrum_learner_settings learner;
    double budget_s;
    double threads;
    double seed;
};

/* 0, the probe's own choice, where a workload does not say. */
static double or_zero(double value)
{
    return isnan(value) ? 0.0 : value;
}

/* NULL: standard output gets the calibration, and no file is written. */
static const char *output_path(const struct fulcrum_context *context)
{
    if (context->output_path != NULL) {
        return strcmp(context->output_path, "-") == 0 ? NULL : context->output_path;
    }
    return context->format == FULCRUM_FORMAT_JSON ? NULL : standard_path;
}

/* Beside "mine.json" the workload of a loop is "mine-workload.json". */
static enum fulcrum_status hand_out_workload(struct fulcrum_design *design,
    const struct fulcrum_calibration *calibration, const char *path,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_workload *workload = &design->workload;
    char *name = fulcrum_path_beside(path, "workload");
    (void)snprintf(workload->name, sizeof workload->name, "%s", calibration->name);
    (void)snprintf(workload->title, sizeof workload->title, "%s", calibration->title);
    enum fulcrum_status status = fulcrum_workload_save(
        design, "what the framework was set to when it was calibrated", name, err);
    if (status == FULCRUM_OK) {
        bool is_serial =
            fulcrum_calibration_parameter(calibration, "workload.host.delay_s") == NULL;
        fulcrum_message_note(context,
            "%s; `fulcrum predict -m this -w %s -c %s --actors %s` predicts it", name,
            name, path,
            workload->group_count > 1.0 ? "4 --set run.envs_per_actor=8"
            : is_serial                 ? "1 --set run.envs_per_actor=8"
                                        : "8");
    }
    free(name);
    return status;
}

static enum fulcrum_status hand_out(const struct fulcrum_calibration *calibration,
    struct fulcrum_design *loop, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    const char *path = output_path(context);
    enum fulcrum_status status = fulcrum_calibration_save(calibration, path, err);
    if (status != FULCRUM_OK || path == NULL) {
        return status;
    }
    if (!isnan(loop->workload.total_env_steps)) {
        TRY(hand_out_workload(loop, calibration, path, context, err));
    }
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
    fulcrum_message_note(context, "%s%s", path,
        calibration->complete ? ""
                              : " holds what was measured; it is marked incomplete");
    /* The same document as in the file, not a report on it. */
    return context->format == FULCRUM_FORMAT_JSON
               ? fulcrum_calibration_save(calibration, NULL, err)
               : fulcrum_show_calibration(calibration, context, err);
}

static enum fulcrum_status run_calibrate(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    struct fulcrum_design design;
    struct fulcrum_design loop;
    struct fulcrum_progress watch;
    TRY(fulcrum_actor_settings_check(
        &settings->actor, settings->learner.learner, context, err));
    TRY(fulcrum_learner_settings_read(&settings->learner, context, &design, err));
    TRY(fulcrum_output_check(output_path(context), err));
    const struct fulcrum_workload_training *training = &design.workload.training;
    const struct fulcrum_calibrate_options options = {
        .actor = fulcrum_actor_settings_name(&settings->actor),
        .actor_options = fulcrum_actor_settings_options(&settings->actor),
        .learner = settings->learner.learner,
        .endpoint = settings->learner.endpoint,
        .device_index = (size_t)settings->learner.device,
        .sm_count = or_zero(settings->learner.sms),
        .network = (enum fulcrum_learner_network)settings->learner.network,
        .nominal_train_batch = or_zero(training->batch_size),
        .nominal_unroll = or_zero(training->unroll_length),
        .nominal_burn_in = or_zero(training->burn_in_length),
        .budget_s = settings->budget_s,
        .max_threads = isnan(settings->threads) ? 0 : (size_t)settings->threads,
        .seed = (uint64_t)settings->seed,
        .loop_workload = &loop.workload,
        .listener = {fulcrum_progress_stops, fulcrum_progress_show, &watch}};
    fulcrum_design_init(&loop);
    fulcrum_watch_start(&watch, context, NULL);
    struct fulcrum_calibration *calibration = NULL;
    enum fulcrum_status status = fulcrum_calibrate(&calibration, &options, err);
    fulcrum_progress_end(&watch);
    status = fulcrum_progress_settle(status, context, err);
    if (calibration == NULL) {
        return status;
    }
    struct fulcrum_error failure = {FULCRUM_OK, ""};
    enum fulcrum_status handed = hand_out(calibration, &loop, context, &failure);
    fulcrum_calibration_free(calibration);
    /* An environment that failed is told of last, by whoever prints `err`. */
    if (status == FULCRUM_OK && handed != FULCRUM_OK) {
        status = fulcrum_fail(err, handed, "%s", failure.detail);
    }
    return status;
}

#define SETTING(member) offsetof(struct settings, member)

static const struct fulcrum_option how_rows[] = {
    FULCRUM_OPTION(NUMBER, "budget", SETTING(budget_s), "SECONDS", .unit = "s",
        .fallback = "90", .least = 10.0, .most = FULCRUM_CALIBRATE_BUDGET_MAX_S,
        .help = "how long it takes; more time means more samples"),
    FULCRUM_OPTION(COUNT, "threads", SETTING(threads), "MAX", .least = 1.0,
        .most = 65536.0,
        .help = "most actor threads; default: four per hardware thread, or 64 to a "
                "core for environments in processes of their own"),
    FULCRUM_OPTION_SEED(SETTING(seed), "of actions, environments and weights"),
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Environment", fulcrum_actor_option_rows, offsetof(struct settings, actor)},
    {"Network", fulcrum_learner_option_rows, offsetof(struct settings, learner)},
    {"How", how_rows, 0},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum calibrate", "humanoid and R2D2 for 90 s into calibration.json"},
    {"fulcrum calibrate --actor cartpole --network mlp --budget 20 -o c.json",
        "the cheapest environment and a small network"},
    {"fulcrum calibrate --actor libretro --core nestopia --rom game.nes",
        "a console game of your own"},
    {"fulcrum calibrate --actor plugin --plugin ./libmine.so",
        "your own environment, written in C"},
    {"fulcrum calibrate --actor gym --env ALE/Pong-v5 --python venv/bin/python",
        "a Gymnasium environment"},
    {"fulcrum calibrate --actor cartpole --learner torch --network mlp --make "
     "net.py:make",
        "your own module of PyTorch"},
    {"fulcrum calibrate --actor sandbox --learner endpoint --url "
     "http://localhost:8000/v1",
        "agents: tool calls here, and tokens of a server"},
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
        "loop shows which samples other work disturbed: keep the machine as idle as "
        "possible.\n\n"
        "After Ctrl-C, or when an environment fails, the file keeps what was measured "
        "so far and is marked incomplete.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_FILE_REPORT,
    .run = run_calibrate,
};
