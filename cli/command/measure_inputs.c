/* measure_inputs.c - what `fulcrum measure` is to run, as its settings say. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/command/measure_job.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/pipeline/measure.h"
#include "cli/command.h"
#include "cli/option.h"
#include "cli/options/options.h"
#include "cli/range.h"
#include "model/design/calibration.h"
#include "model/design/design.h"
#include "model/try.h"
#include "presets/load/preset.h"

/* What `fulcrum measure` is asked for: its settings and options. */

#define SETTING(member) offsetof(struct fulcrum_measure_settings, member)

static const struct fulcrum_option what_rows[] = {
    FULCRUM_OPTION(TEXT, "actors", SETTING(actors), "RANGE", .letter = 'a',
        .fallback = "1:64:x2", .help = "numbers of actors, as for `explore --vary`"),
    FULCRUM_OPTION(TEXT, "envs", SETTING(envs), "RANGE", .fallback = "1",
        .help = "environments that each actor steps in turn"),
    FULCRUM_OPTION(LIST, "batching", SETTING(batching), "RULE", .letter = 'b',
        .help = "greedy (takes what waits), greedy:N, half (of all environments, as "
                "SEED RL waits for) or fixed:N; may be repeated; greedy without it"),
    FULCRUM_OPTION(FLAG, "train", SETTING(trains), NULL,
        .help = "a learner trains beside inference, at the workload's ratio"),
    FULCRUM_OPTION(FILE, "calibration", SETTING(calibration), "FILE", .letter = 'c',
        .help = "taken beforehand with the same actor, network and learner: predicts "
                "each point"),
    FULCRUM_OPTION(COUNT, "record", SETTING(record_pairs), "PAIRS", .fallback = "0",
        .least = 0.0, .most = 10000.0,
        .help = "pairs of extra windows for each point, one of each pair with its "
                "stages recorded: where the time goes, and what recording costs"),
    FULCRUM_OPTION(FILE, "trace", SETTING(trace), "FILE",
        .help = "with --record: the stages of the last point, to be opened at "
                "https://ui.perfetto.dev"),
    {.name = NULL},
};

static const struct fulcrum_option how_rows[] = {
    FULCRUM_OPTION(TEXT, "actor-cpus", SETTING(actor_cpus), "LIST",
        .help = "processors of the actors, such as 0-6; without it those of every core "
                "but the server's"),
    FULCRUM_OPTION(TEXT, "server-cpus", SETTING(server_cpus), "LIST",
        .help = "processors of inference and training; without it the last core's"),
    FULCRUM_OPTION(NUMBER, "window", SETTING(window_s), "SECONDS", .unit = "s",
        .fallback = "1", .least = 0.05, .most = 3600.0,
        .help = "length of one measurement"),
    FULCRUM_OPTION(COUNT, "windows", SETTING(windows), "N", .fallback = "5",
        .least = 1.0, .most = 1000.0,
        .help = "undisturbed windows wanted of each point"),
    FULCRUM_OPTION(COUNT, "most-windows", SETTING(most_windows), "N", .fallback = "10",
        .least = 1.0, .most = 10000.0,
        .help = "windows after which a point stays as it is, however disturbed"),
    FULCRUM_OPTION(NUMBER, "wait", SETTING(wait_s), "SECONDS", .fallback = "10",
        .least = 0.0, .most = 3600.0, .unit = "s",
        .help = "longest wait for a calm machine before a window"),
    FULCRUM_OPTION(COUNT, "train-steps", SETTING(train_steps), "N", .fallback = "20",
        .least = 1.0, .most = 1e6,
        .help = "with --train: least training steps of a window"),
    FULCRUM_OPTION(COUNT, "copy-weights", SETTING(steps_per_copy), "N", .fallback = "8",
        .least = 0.0, .most = 1e6,
        .help = "with --train: training steps between copies of the weights to "
                "inference; 0: never"),
    FULCRUM_OPTION_SEED(SETTING(seed), "of actions, environments and weights"),
    FULCRUM_OPTION(TEXT, "name", SETTING(name), "NAME",
        .help = "of the reference that is written; \"measured\" without it"),
    {.name = NULL},
};

const struct fulcrum_option_group fulcrum_measure_groups[] = {
    {"What to measure", what_rows, 0},
    {"Environment", fulcrum_actor_option_rows,
        offsetof(struct fulcrum_measure_settings, actor)},
    {"Network", fulcrum_learner_option_rows,
        offsetof(struct fulcrum_measure_settings, learner)},
    {"How", how_rows, 0},
    {.rows = NULL},
};

enum { RULES_MOST = 8 };

/* A batching rule as on the command line. */
struct rule {
    enum fulcrum_batch_policy policy;
    double size;
    double population_frac;
};

/* On the way from settings to inputs. */
struct reading {
    const struct fulcrum_measure_settings *settings;
    struct fulcrum_measure_inputs *out;
    struct rule rules[RULES_MOST];
    size_t rule_count;
    double *actors; /* owned, as the next */
    size_t actor_count;
    double *envs;
    size_t env_count;
};

static enum fulcrum_status read_rules(
    struct reading *reading, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_text_list *given = &reading->settings->batching;
    FULCRUM_USAGE_IF(given->count > RULES_MOST, context, err, FULCRUM_ERR_RANGE,
        "--batching is given %zu times: at most %d", given->count, (int)RULES_MOST);
    reading->rules[0] = (struct rule){.policy = FULCRUM_BATCH_GREEDY};
    reading->rule_count = given->count > 0 ? given->count : 1;
    for (size_t i = 0; i < given->count; i++) {
        /* "greedy", "half", "fixed:32", "greedy:64". */
        const char *text = given->items[i];
        struct rule *out = &reading->rules[i];
        const char *colon = strchr(text, ':');
        size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);
        bool is_greedy = length == 6 && strncmp(text, "greedy", length) == 0;
        bool is_fixed = length == 5 && strncmp(text, "fixed", length) == 0;
        bool is_half = strcmp(text, "half") == 0;
        double size = 0.0;
        bool is_wrong = !(is_greedy || is_half || (is_fixed && colon != NULL));
        if (!is_wrong && colon != NULL) {
            is_wrong = fulcrum_number_parse("--batching", colon + 1, &size, NULL) !=
                           FULCRUM_OK ||
                       !(size >= 1.0 && size <= 1e6 && size == floor(size));
        }
        FULCRUM_USAGE_IF(is_wrong, context, err, FULCRUM_ERR_FORMAT,
            "--batching %s: expected greedy, greedy:N (at most N observations), "
            "half "
            "(of all environments, as SEED RL waits) or fixed:N",
            text);
        *out = (struct rule){
            .policy = is_greedy ? FULCRUM_BATCH_GREEDY : FULCRUM_BATCH_FIXED,
            .size = size,
            .population_frac = is_half ? 0.5 : 0.0};
    }
    return FULCRUM_OK;
}

/* A range of counts as on the command line. */
struct count_range {
    const char *option;
    const char *path; /* of the field whose range holds */
    const char *text;
    double **values;
    size_t *count;
};

static enum fulcrum_status read_ranges(
    struct reading *reading, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_measure_settings *settings = reading->settings;
    const struct count_range ranges[] = {
        {"--actors", "run.actor_count", settings->actors, &reading->actors,
            &reading->actor_count},
        {"--envs", "run.envs_per_actor", settings->envs, &reading->envs,
            &reading->env_count},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        const struct count_range *range = &ranges[i];
        struct fulcrum_error why = {FULCRUM_OK, ""};
        enum fulcrum_status status =
            fulcrum_range_parse(fulcrum_field_find(range->path), range->text,
                range->values, range->count, &why);
        FULCRUM_USAGE_IF(status != FULCRUM_OK, context, err, status, "%s %s: %s",
            range->option, range->text, why.detail);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status make_configs(
    struct reading *reading, struct fulcrum_error *err)
{
    size_t count = reading->rule_count * reading->env_count * reading->actor_count;
    reading->out->configs = calloc(count + 1, sizeof *reading->out->configs);
    TRY_MEMORY(reading->out->configs, err, "%zu configurations", count);
    for (size_t i = 0; i < count; i++) {
        const struct rule *rule =
            &reading->rules[i / (reading->env_count * reading->actor_count)];
        double envs = reading->envs[i / reading->actor_count % reading->env_count];
        reading->out->configs[i] = (struct fulcrum_measure_config){
            .actor_count = (size_t)reading->actors[i % reading->actor_count],
            .envs_per_actor = (size_t)envs,
            .policy = rule->policy,
            .batch_size = rule->size,
            .population_frac = rule->population_frac};
    }
    reading->out->options.configs = reading->out->configs;
    reading->out->options.config_count = count;
    return FULCRUM_OK;
}

/* What trains, as the workload says. */
static enum fulcrum_status read_training(
    struct reading *reading, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_workload_training *training =
        &reading->out->base.workload.training;
    if (!reading->settings->trains) {
        return FULCRUM_OK;
    }
    bool is_whole =
        training->env_steps_per_train_step > 0.0 && training->batch_size >= 1.0;
    FULCRUM_USAGE_IF(reading->settings->learner.workload == NULL || !is_whole, context,
        err, FULCRUM_ERR_MISSING,
        "--train needs a --workload with training.env_steps_per_train_step and "
        "training.batch_size");
    reading->out->options.training = (struct fulcrum_measure_training){
        .env_steps_per_train_step = training->env_steps_per_train_step,
        .queue_train_steps = training->queue_train_steps,
        .batch = (size_t)training->batch_size,
        .unroll = isnan(training->unroll_length) ? 1 : (size_t)training->unroll_length,
        .burn_in =
            isnan(training->burn_in_length) ? 0 : (size_t)training->burn_in_length,
        .steps_per_copy = (size_t)reading->settings->steps_per_copy};
    return FULCRUM_OK;
}

static enum fulcrum_status read_cpus(const char *option, const char *text,
    struct fulcrum_cpu_list *out, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    if (text == NULL) {
        return FULCRUM_OK;
    }
    enum fulcrum_status status = fulcrum_cpu_list_read(out, text, &why);
    return status == FULCRUM_OK
               ? status
               : fulcrum_usage_fail(context, err, status, "%s: %s", option, why.detail);
}

static enum fulcrum_status read_placement(
    struct reading *reading, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_measure_settings *settings = reading->settings;
    struct fulcrum_placement *placement = &reading->out->options.placement;
    TRY(read_cpus(
        "--actor-cpus", settings->actor_cpus, &placement->actors, context, err));
    return read_cpus(
        "--server-cpus", settings->server_cpus, &placement->server, context, err);
}

static const char *note_of(
    const struct fulcrum_calibration *calibration, const char *key)
{
    const char *text = fulcrum_calibration_note(calibration, key);
    return text == NULL ? "" : text;
}

/* Priors of the machine, and the workload; one that fits the network where none is
 * named. */
static enum fulcrum_status read_base(
    struct reading *reading, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_learner_settings settings = reading->settings->learner;
    if (settings.workload == NULL) {
        settings.workload = settings.network == FULCRUM_NETWORK_R2D2
                                ? "r2d2-atari"
                                : "ppo-mujoco-humanoid";
    }
    struct fulcrum_design design;
    enum fulcrum_status status =
        fulcrum_learner_settings_read(&settings, context, &design, err);
    fulcrum_design_init(&reading->out->base);
    if (status == FULCRUM_OK) {
        status = fulcrum_machine_find("this", &reading->out->base, NULL, err);
    }
    reading->out->base.workload = design.workload;
    return status;
}

static struct fulcrum_measure_options options_of(
    const struct fulcrum_measure_settings *settings)
{
    return (struct fulcrum_measure_options){.actor = settings->actor.actor,
        .actor_options = fulcrum_actor_settings_options(&settings->actor),
        .learner = settings->learner.learner,
        .device_index = (size_t)settings->learner.device,
        .sm_count = isnan(settings->learner.sms) ? 0.0 : settings->learner.sms,
        .network = (enum fulcrum_learner_network)settings->learner.network,
        .seed = (uint64_t)settings->seed,
        .window_s = settings->window_s,
        .window_count = (size_t)settings->windows,
        .most_windows = (size_t)fmax(settings->most_windows, settings->windows),
        .calm_wait_s = settings->wait_s,
        .train_steps_least = settings->train_steps};
}

static enum fulcrum_status read_all(
    struct reading *reading, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_measure_settings *settings = reading->settings;
    TRY(fulcrum_actor_settings_check(&settings->actor, context, err));
    TRY(read_base(reading, context, err));
    TRY(read_training(reading, context, err));
    TRY(read_rules(reading, context, err));
    TRY(read_ranges(reading, context, err));
    TRY(make_configs(reading, err));
    TRY(read_placement(reading, context, err));
    /* Later it is too late to find out that there is no such file. */
    if (reading->settings->calibration == NULL) {
        return FULCRUM_OK;
    }
    TRY(fulcrum_calibration_load(
        reading->settings->calibration, &reading->out->calibration, err));
    /* One of another environment or network says nothing of this run. */
    char wanted[96];
    const char *actor = reading->settings->actor.actor;
    const char *has_actor = note_of(reading->out->calibration, "actor");
    const char *has_learner = note_of(reading->out->calibration, "learner");
    (void)snprintf(wanted, sizeof wanted, "%s, network %s",
        reading->settings->learner.learner,
        fulcrum_learner_network_name(reading->out->options.network));
    FAIL_IF(has_learner[0] != '\0' && strcmp(has_learner, wanted) != 0, err,
        FULCRUM_ERR_INFEASIBLE, "%s was taken with learner %s; this run has %s",
        reading->settings->calibration, has_learner, wanted);
    size_t length = strcspn(has_actor, " :");
    FAIL_IF(actor != NULL && length > 0 &&
                (strlen(actor) != length || strncmp(has_actor, actor, length) != 0),
        err, FULCRUM_ERR_INFEASIBLE, "%s was taken with actor %.*s; this run has %s",
        reading->settings->calibration, (int)length, has_actor, actor);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_measure_inputs_load(
    const struct fulcrum_measure_settings *settings, struct fulcrum_context *context,
    struct fulcrum_measure_inputs *out, struct fulcrum_error *err)
{
    struct reading reading = {.settings = settings, .out = out};
    *out = (struct fulcrum_measure_inputs){.options = options_of(settings)};
    enum fulcrum_status status = read_all(&reading, context, err);
    free(reading.actors);
    free(reading.envs);
    return status;
}

void fulcrum_measure_inputs_clear(struct fulcrum_measure_inputs *inputs)
{
    free(inputs->configs);
    fulcrum_calibration_free(inputs->calibration);
    *inputs = (struct fulcrum_measure_inputs){.configs = NULL};
}
