/* cmd_measure.c - `fulcrum measure`: the real pipeline, beside its prediction. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Actors, central inference and, if wanted, training run for real on this machine, one
 * configuration after the other. A calibration that was taken beforehand, and has seen
 * none of it, says what to expect; the errors are what the model is worth here.
 */
#define _POSIX_C_SOURCE 200809L /* access, getcwd */

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/pipeline/measure.h"
#include "calibrate/probe/probe.h"
#include "cli/command/measure_job.h"
#include "cli/message.h"
#include "cli/range.h"
#include "cli/whatif/whatif.h"
#include "model/quantity.h"
#include "model/try.h"
#include "presets/io/output.h"
#include "presets/load/preset.h"
#include "presets/load/reference_file.h"

/* Where the reference goes unless told. */
static const char standard_path[] = "measured.json";

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

static const struct fulcrum_option_group groups[] = {
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
    struct fulcrum_numbers actors;
    struct fulcrum_numbers envs;
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
            "--batching %s: expected greedy, greedy:N (at most N observations), half "
            "(of all environments, as SEED RL waits) or fixed:N",
            text);
        *out = (struct rule){
            .policy = is_greedy ? FULCRUM_BATCH_GREEDY : FULCRUM_BATCH_FIXED,
            .size = size,
            .population_frac = is_half ? 0.5 : 0.0};
    }
    return FULCRUM_OK;
}

static enum fulcrum_status read_counts(struct fulcrum_numbers *out, const char *path,
    const char *text, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    out->field = fulcrum_field_find(path);
    enum fulcrum_status status =
        fulcrum_range_parse(out->field, text, &out->values, &out->count, &why);
    FULCRUM_USAGE_IF(status != FULCRUM_OK, context, err, status, "%s %s: %s",
        out->option, text, why.detail);
    return FULCRUM_OK;
}

static enum fulcrum_status make_configs(
    struct reading *reading, struct fulcrum_error *err)
{
    const struct fulcrum_numbers *actors = &reading->actors;
    const struct fulcrum_numbers *envs = &reading->envs;
    size_t per_rule = envs->count * actors->count;
    size_t count = reading->rule_count * per_rule;
    reading->out->configs = calloc(count + 1, sizeof *reading->out->configs);
    TRY_MEMORY(reading->out->configs, err, "%zu configurations", count);
    for (size_t i = 0; i < count; i++) {
        const struct rule *rule = &reading->rules[i / per_rule];
        reading->out->configs[i] = (struct fulcrum_measure_config){
            .actor_count = (size_t)actors->values[i % actors->count],
            .envs_per_actor = (size_t)envs->values[i / actors->count % envs->count],
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
    TRY(read_counts(
        &reading->actors, "run.actor_count", settings->actors, context, err));
    TRY(read_counts(
        &reading->envs, "run.envs_per_actor", settings->envs, context, err));
    TRY(make_configs(reading, err));
    TRY(read_cpus("--actor-cpus", settings->actor_cpus,
        &reading->out->options.placement.actors, context, err));
    TRY(read_cpus("--server-cpus", settings->server_cpus,
        &reading->out->options.placement.server, context, err));
    /* Later it is too late to find out that there is no such file. */
    if (settings->calibration == NULL) {
        return FULCRUM_OK;
    }
    TRY(fulcrum_calibration_load(
        settings->calibration, &reading->out->calibration, err));
    /* One of another environment or network says nothing of this run. */
    char wanted[96];
    const char *actor = settings->actor.actor;
    const char *has_actor = note_of(reading->out->calibration, "actor");
    const char *has_learner = note_of(reading->out->calibration, "learner");
    (void)snprintf(wanted, sizeof wanted, "%s, network %s", settings->learner.learner,
        fulcrum_learner_network_name(reading->out->options.network));
    FAIL_IF(has_learner[0] != '\0' && strcmp(has_learner, wanted) != 0, err,
        FULCRUM_ERR_INFEASIBLE, "%s was taken with learner %s; this run has %s",
        settings->calibration, has_learner, wanted);
    size_t length = strcspn(has_actor, " :");
    FAIL_IF(actor != NULL && length > 0 &&
                (strlen(actor) != length || strncmp(has_actor, actor, length) != 0),
        err, FULCRUM_ERR_INFEASIBLE, "%s was taken with actor %.*s; this run has %s",
        settings->calibration, (int)length, has_actor, actor);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_measure_inputs_load(
    const struct fulcrum_measure_settings *settings, struct fulcrum_context *context,
    struct fulcrum_measure_inputs *out, struct fulcrum_error *err)
{
    struct reading reading = {.settings = settings,
        .out = out,
        .actors = {.option = "--actors"},
        .envs = {.option = "--envs"}};
    *out = (struct fulcrum_measure_inputs){.options = options_of(settings)};
    enum fulcrum_status status = read_all(&reading, context, err);
    free(reading.actors.values);
    free(reading.envs.values);
    return status;
}

void fulcrum_measure_inputs_clear(struct fulcrum_measure_inputs *inputs)
{
    free(inputs->configs);
    fulcrum_calibration_free(inputs->calibration);
    *inputs = (struct fulcrum_measure_inputs){.configs = NULL};
}

/* A canary that differs so much tells of another clock or other neighbours. */
#define DRIFT_MOST_REL 0.05

static double relative_error(
    const struct fulcrum_measured *item, const struct fulcrum_prediction *prediction)
{
    return prediction->value[FULCRUM_OUTPUT_steps_per_s] / item->median.steps_per_s -
           1.0;
}

/* The prediction of the item at hand; `next` counts those with windows. */
static const struct fulcrum_prediction *prediction_of(
    const struct fulcrum_measured_points *points, const struct fulcrum_measured *item,
    size_t *next)
{
    if (item->window_count == 0 || points->predictions == NULL) {
        return NULL;
    }
    return &points->predictions[(*next)++];
}

/* Over the undisturbed points, or, where `takes_all`, over all that were measured. */
static void add_errors(struct fulcrum_result *result, const char *kind,
    const struct fulcrum_measured_points *points, bool takes_all)
{
    enum { RATE = FULCRUM_OUTPUT_steps_per_s };
    double count = 0.0;
    double sums[] = {0.0, 0.0, 0.0, 0.0};
    static const char *const names[] = {
        "mape_frac", "bias_frac", "covered_frac", "max_frac"};
    size_t next = 0;
    for (size_t i = 0; i < points->measurement->count; i++) {
        const struct fulcrum_measured *item = &points->measurement->items[i];
        const struct fulcrum_prediction *prediction =
            prediction_of(points, item, &next);
        if (prediction == NULL || (item->is_disturbed && !takes_all)) {
            continue;
        }
        double error = relative_error(item, prediction);
        count += 1.0;
        sums[0] += fabs(error);
        sums[1] += error;
        /* Measured within the interval, both widened by the windows' range. */
        sums[2] += item->hi >= prediction->lo[RATE] && item->lo <= prediction->hi[RATE];
        sums[3] = fmax(sums[3], fabs(error));
    }
    char key[64];
    (void)snprintf(key, sizeof key, "%s/point_count", kind);
    fulcrum_result_number(result, key, NULL, count);
    for (size_t i = 0; i < 4; i++) {
        sums[i] = count > 0.0 ? sums[i] / (i < 3 ? count : 1.0) : FULCRUM_UNKNOWN;
        (void)snprintf(key, sizeof key, "%s/%s", kind, names[i]);
        fulcrum_result_number(result, key, NULL, sums[i]);
    }
    if (count > 0.0) {
        (void)snprintf(key, sizeof key, "%s/summary", kind);
        fulcrum_result_print(result, key, takes_all ? "all points" : "undisturbed",
            "%.0f points: mean |error| %.1f %%, largest %.1f %%, bias %+.1f %%; %.0f "
            "%% within the interval",
            count, 100.0 * sums[0], 100.0 * sums[3], 100.0 * sums[1], 100.0 * sums[2]);
    }
}

/* Not known of what has no window. */
static void add_measured(struct fulcrum_table *table,
    const struct fulcrum_measured *item, const char *key, const char *title,
    double value)
{
    fulcrum_table_number(
        table, key, title, item->window_count > 0 ? value : FULCRUM_UNKNOWN);
}

static void add_prediction(struct fulcrum_table *table,
    const struct fulcrum_measured *item, const struct fulcrum_prediction *prediction)
{
    enum { RATE = FULCRUM_OUTPUT_steps_per_s };
    bool has = prediction != NULL;
    bool has_interval = has && prediction->has_interval;
    fulcrum_table_number(table, "predicted_steps_per_s", "predicted",
        has ? prediction->value[RATE] : FULCRUM_UNKNOWN);
    fulcrum_table_number(table, "predicted_lo", "5 %",
        has_interval ? prediction->lo[RATE] : FULCRUM_UNKNOWN);
    fulcrum_table_number(table, "predicted_hi", "95 %",
        has_interval ? prediction->hi[RATE] : FULCRUM_UNKNOWN);
    fulcrum_table_number(table, "error_frac", "error",
        has ? relative_error(item, prediction) : FULCRUM_UNKNOWN);
    add_measured(table, item, "mean_batch", "batch", item->median.mean_batch);
    fulcrum_table_number(table, "predicted_mean_batch", NULL,
        has ? prediction->value[FULCRUM_OUTPUT_mean_batch] : FULCRUM_UNKNOWN);
}

/* Seconds of the canary when the calibration was taken; NAN: not known. */
static double calibrated_canary_s(const struct fulcrum_measured_points *points)
{
    return points->calibration != NULL ? points->calibration->machine.cpu.canary_s
                                       : FULCRUM_UNKNOWN;
}

static void add_point(struct fulcrum_table *table,
    const struct fulcrum_measured_points *points, const struct fulcrum_measured *item,
    size_t *next)
{
    char batching[48];
    const struct fulcrum_measure_window *median = &item->median;
    bool trains = !isnan(points->measurement->train_step_flop);
    double disturbed = 0.0;
    for (size_t i = 0; i < item->window_count; i++) {
        disturbed += item->windows[i].is_disturbed;
    }
    fulcrum_measured_series(&item->config, batching, sizeof batching);
    fulcrum_table_row(table);
    fulcrum_table_text(table, "batching", "batching", batching);
    fulcrum_table_number(table, "actors", "actors", (double)item->config.actor_count);
    fulcrum_table_number(
        table, "envs_per_actor", "envs", (double)item->config.envs_per_actor);
    add_measured(table, item, "measured_steps_per_s", "measured", median->steps_per_s);
    add_measured(table, item, "measured_lo", NULL, item->lo);
    add_measured(table, item, "measured_hi", NULL, item->hi);
    add_prediction(table, item, prediction_of(points, item, next));
    add_measured(table, item, "predicted_speed_rel", NULL,
        median->canary_s > 0.0 ? calibrated_canary_s(points) / median->canary_s
                               : FULCRUM_UNKNOWN);
    add_measured(
        table, item, "actor_busy_frac", "actors busy", median->actor_busy_frac);
    add_measured(
        table, item, "server_busy_frac", "server busy", median->server_busy_frac);
    add_measured(table, item, "train_busy_frac", trains ? "trainer busy" : NULL,
        median->train_busy_frac);
    add_measured(table, item, "train_steps", NULL, median->train_step_count);
    add_measured(table, item, "cpu_w", "CPU power", median->cpu_w);
    add_measured(table, item, "gpu_w", "GPU power", median->gpu_w);
    add_measured(table, item, "j_per_step", "energy per step", median->j_per_step);
    fulcrum_table_number(table, "windows", NULL, (double)item->window_count);
    fulcrum_table_number(table, "disturbed_windows", NULL, disturbed);
    fulcrum_table_text(table, "note", "note",
        item->failure[0] != '\0' ? item->failure
        : !item->is_disturbed    ? ""
        : item->window_count > 0 ? "disturbed"
                                 : "not measured");
}

static void add_window(struct fulcrum_table *table, size_t point,
    const struct fulcrum_measure_window *window)
{
    fulcrum_table_row(table);
    fulcrum_table_number(table, "point", NULL, (double)point);
    fulcrum_table_number(table, "steps_per_s", NULL, window->steps_per_s);
    fulcrum_table_number(table, "mean_batch", NULL, window->mean_batch);
    fulcrum_table_number(table, "actor_cpu_s", NULL, window->actor_cpu_s);
    fulcrum_table_number(table, "server_cpu_s", NULL, window->server_cpu_s);
    fulcrum_table_number(table, "train_steps", NULL, window->train_step_count);
    fulcrum_table_number(table, "canary_rel", NULL, window->canary_rel);
    fulcrum_table_number(table, "canary_s", NULL, window->canary_s);
    fulcrum_table_number(table, "others_frac", NULL, window->others_frac);
    fulcrum_table_number(table, "disturbed", NULL, window->is_disturbed);
}

static void add_notes(
    struct fulcrum_result *result, const struct fulcrum_measured_points *points)
{
    const struct fulcrum_measurement *found = points->measurement;
    size_t disturbed = 0;
    double canary_s = 0.0;
    double measured = 0.0;
    bool has_watts = false;
    for (size_t i = 0; i < found->count; i++) {
        const struct fulcrum_measured *item = &found->items[i];
        if (item->window_count > 0) {
            disturbed += item->is_disturbed ? 1 : 0;
            canary_s += item->median.canary_s;
            measured += 1.0;
            has_watts =
                has_watts || !isnan(item->median.cpu_w) || !isnan(item->median.gpu_w);
        }
    }
    /* How much longer the canary takes, on the mean of the points. */
    double drift_rel = measured > 0.0
                           ? canary_s / measured / calibrated_canary_s(points) - 1.0
                           : FULCRUM_UNKNOWN;
    fulcrum_result_number(result, "canary_drift_rel", NULL, drift_rel);
    fulcrum_result_text(result, "power", NULL, found->energy_reason);
    if (!found->placement.is_apart) {
        fulcrum_result_note(
            result, "notes", "actors and server share cores, which the model does not");
    }
    if (points->predictions == NULL) {
        fulcrum_result_note(result, "notes",
            "nothing predicted: --calibration FILE, taken beforehand, gives a "
            "prediction beside each point");
    }
    if (disturbed > 0) {
        fulcrum_result_note_print(result, "notes",
            "%zu of %zu points disturbed: a canary above %.3g of its usual time, or "
            "other programs above %.0f %% of the machine, in more than half of the "
            "windows",
            disturbed, found->count, FULCRUM_CANARY_LIMIT_REL,
            100.0 * FULCRUM_MEASURE_OTHERS_MOST_FRAC);
    }
    if (fabs(drift_rel) > DRIFT_MOST_REL) {
        fulcrum_result_note_print(result, "notes",
            "the canary takes %.1f %% %s than when the calibration was taken: the "
            "machine is in another state, and each point predicted at its own speed",
            100.0 * fabs(drift_rel), drift_rel > 0.0 ? "longer" : "less");
    }
    if (!has_watts) {
        fulcrum_result_note(
            result, "notes", "power not measured: `fulcrum list meters` says why");
    }
}

void fulcrum_measure_add_points(
    struct fulcrum_result *result, const struct fulcrum_measured_points *points)
{
    const struct fulcrum_measurement *found = points->measurement;
    char cpus[128];
    size_t next = 0;
    fulcrum_result_text(result, "machine", "machine", found->machine.cpu.name);
    fulcrum_result_text(result, "actor", "actor", found->actor);
    fulcrum_result_text(result, "learner", "learner", found->learner);
    fulcrum_cpu_list_write(&found->placement.actors, cpus, sizeof cpus);
    fulcrum_result_text(result, "actor_cpus", "actors on processors", cpus);
    fulcrum_cpu_list_write(&found->placement.server, cpus, sizeof cpus);
    fulcrum_result_text(result, "server_cpus", "server on processors", cpus);
    fulcrum_result_flag(result, "complete", NULL, found->is_complete);
    fulcrum_result_text(result, "calibration", "calibration",
        points->calibration != NULL ? points->calibration->name : NULL);
    if (points->predictions != NULL) {
        add_errors(result, "undisturbed", points, false);
        add_errors(result, "all", points, true);
    }
    struct fulcrum_table *table = fulcrum_result_table(result, "points", "");
    for (size_t i = 0; i < found->count; i++) {
        add_point(table, points, &found->items[i], &next);
    }
    if (fulcrum_table_constant(table, "envs_per_actor") <= 1.0) {
        fulcrum_table_hide(table, "envs_per_actor");
    }
    /* Every window: whoever reads the file may judge anew. */
    struct fulcrum_table *windows = fulcrum_result_table(result, "windows", NULL);
    for (size_t i = 0; i < found->count; i++) {
        for (size_t k = 0; k < found->items[i].window_count; k++) {
            add_window(windows, i, &found->items[i].windows[k]);
        }
    }
    add_notes(result, points);
}

/* Everything that one run of the command works with. */
struct job {
    const struct fulcrum_measure_settings *settings;
    struct fulcrum_measure_inputs inputs;
    struct fulcrum_measurement *found;
    struct fulcrum_reference *reference;
    struct fulcrum_prediction *predictions;
    struct fulcrum_measure_record record;
    char *calibration_path; /* from the root; owned */
};

/* NULL: standard output gets the document, and no file is written. */
static const char *output_path(const struct fulcrum_context *context)
{
    return context->output_path != NULL ? context->output_path : standard_path;
}

/* NULL: a path from the root already, or a preset's name, which is that of no file. */
static char *path_from_root(const char *name)
{
    char folder[1024];
    if (name[0] == '/' || access(name, R_OK) != 0 ||
        getcwd(folder, sizeof folder) == NULL) {
        return NULL;
    }
    return fulcrum_format("%s/%s", folder, name);
}

/*
 * The calibration as the reference's file names it: relative paths of a file start in
 * its folder, so one that lies there is named alone, and another from the root.
 */
static const char *calibration_name(struct job *job, const char *path)
{
    const char *name = job->settings->calibration;
    const char *slash = strrchr(path, '/');
    size_t folder = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    if (name == NULL || strncmp(name, path, folder) == 0) {
        return name != NULL ? name + folder : NULL;
    }
    job->calibration_path = path_from_root(name);
    return job->calibration_path != NULL ? job->calibration_path : name;
}

static enum fulcrum_status make_reference(
    struct job *job, const char *path, struct fulcrum_error *err)
{
    const char *name = job->settings->name;
    struct fulcrum_measured_plan plan = {.measurement = job->found,
        .calibration = job->inputs.calibration,
        .calibration_name = calibration_name(job, path),
        .base = &job->inputs.base,
        .training = &job->inputs.options.training,
        .name = name != NULL ? name : "measured"};
    struct fulcrum_error why = {FULCRUM_OK, ""};
    enum fulcrum_status status =
        fulcrum_measured_reference(&plan, &job->reference, &why);
    if (status != FULCRUM_ERR_MISSING || job->inputs.calibration == NULL) {
        return status == FULCRUM_OK ? status
                                    : fulcrum_fail(err, status, "%s", why.detail);
    }
    /* What was measured is kept, whatever the calibration lacks. */
    fulcrum_message_warn("nothing is predicted: %s", why.detail);
    fulcrum_calibration_free(job->inputs.calibration);
    job->inputs.calibration = NULL;
    plan.calibration = NULL;
    return fulcrum_measured_reference(&plan, &job->reference, err);
}

/* What cannot be predicted is told, and costs nothing that was measured. */
static void predict_points(struct job *job, struct fulcrum_context *context)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    if (job->inputs.calibration == NULL) {
        return;
    }
    job->predictions = calloc(job->reference->point_count, sizeof *job->predictions);
    enum fulcrum_status status =
        job->predictions != NULL
            ? fulcrum_reference_predict(
                  job->reference, job->inputs.calibration, job->predictions, NULL, &why)
            : fulcrum_fail(&why, FULCRUM_ERR_NO_MEMORY, "predictions");
    if (status == FULCRUM_OK && job->record.run_count > 0) {
        const struct fulcrum_measured_points points = {
            job->found, job->reference, job->inputs.calibration, job->predictions};
        status = fulcrum_measure_record_predict(&job->record, &points, &why);
    }
    if (status != FULCRUM_OK) {
        fulcrum_message_warn("nothing is predicted: %s", why.detail);
        free(job->predictions);
        job->predictions = NULL;
        context->exit_code = context->exit_code == 0 ? 1 : context->exit_code;
    }
}

static enum fulcrum_status hand_out(
    struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const char *path = output_path(context);
    /* Points that failed are named; the others are kept, and the exit code tells. */
    for (size_t i = 0; i < job->found->count; i++) {
        const struct fulcrum_measured *item = &job->found->items[i];
        if (item->failure[0] != '\0') {
            char rule[48];
            fulcrum_measured_series(&item->config, rule, sizeof rule);
            fulcrum_message_warn(
                "%zu actors, %s: %s", item->config.actor_count, rule, item->failure);
            context->exit_code = context->exit_code == 0 ? 1 : context->exit_code;
        }
    }
    enum fulcrum_status status = make_reference(job, path, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_reference_save(job->reference, path, err);
    }
    if (status != FULCRUM_OK || strcmp(path, "-") == 0) {
        return status;
    }
    fulcrum_message_note(context, "%s%s%s%s%s", path,
        job->inputs.calibration != NULL ? ": `fulcrum validate " : "",
        job->inputs.calibration != NULL ? path : "",
        job->inputs.calibration != NULL ? "` predicts it again" : "",
        job->found->is_complete ? "" : "; stopped early");
    predict_points(job, context);
    const struct fulcrum_measured_points points = {
        job->found, job->reference, job->inputs.calibration, job->predictions};
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-measure");
    fulcrum_measure_add_points(result, &points);
    if (job->record.run_count > 0) {
        fulcrum_measure_add_stages(result, job->record.runs, job->record.run_count);
    }
    return fulcrum_context_show(context, result, err);
}

static enum fulcrum_status measure(
    struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_progress watch;
    fulcrum_progress_watch(&watch, context);
    job->inputs.options.stop = fulcrum_progress_stops;
    job->inputs.options.progress = fulcrum_progress_show;
    job->inputs.options.user = &watch;
    enum fulcrum_status status =
        fulcrum_measure(&job->found, &job->inputs.options, err);
    if (status == FULCRUM_OK) {
        /* Where the time goes, in windows of its own: with a recorder and without, by
         * turns. */
        const struct fulcrum_measure_stages_options options = {
            .measure = &job->inputs.options,
            .pair_count = (size_t)job->settings->record_pairs,
            .trace_path = job->settings->trace};
        status = options.pair_count > 0
                     ? fulcrum_measure_record_take(&job->record, &options, err)
                     : FULCRUM_OK;
    }
    fulcrum_progress_end(&watch);
    if (job->found == NULL) {
        return status;
    }
    status = fulcrum_progress_settle(status, context, err);
    /* What was measured is kept even where the recording failed. */
    enum fulcrum_status handed =
        hand_out(job, context, status == FULCRUM_OK ? err : NULL);
    return status == FULCRUM_OK ? handed : status;
}

static enum fulcrum_status run_measure(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct job job = {.settings = data};
    const char *trace = job.settings->trace;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_measure_inputs_load(job.settings, context, &job.inputs, err));
    if (trace != NULL && job.settings->record_pairs < 1.0) {
        TRY_OR_END(fulcrum_usage_fail(context, err, FULCRUM_ERR_MISSING,
            "--trace %s needs --record: nothing is recorded without it", trace));
    }
    if (trace != NULL) {
        TRY_OR_END(fulcrum_output_check(trace, err));
    }
    TRY_OR_END(fulcrum_output_check(output_path(context), err));
    status = measure(&job, context, err);
end:
    free(job.predictions);
    free(job.calibration_path);
    fulcrum_reference_free(job.reference);
    fulcrum_measure_inputs_clear(&job.inputs);
    fulcrum_measurement_free(job.found);
    fulcrum_measure_record_clear(&job.record);
    return status;
}

static const struct fulcrum_example examples[] = {
    {"fulcrum measure -c calibration.json",
        "humanoid and R2D2 with 1 to 64 actors, beside what the calibration predicts"},
    {"fulcrum measure -c c.json --envs 1,4 -b greedy -b half -o mine.json",
        "two batching rules, one and four environments an actor"},
    {"fulcrum measure --actor cartpole --network mlp --actors 1:8:x2 --window 0.3",
        "a quick look without a prediction"},
    {"fulcrum measure --network mlp --actors 1,8,64 --record 20 --trace trace.json",
        "where the time goes"},
    {"fulcrum validate mine.json --points", "the same errors, later"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_measure = {
    .name = "measure",
    .summary = "run the real pipeline end to end, beside what a calibration predicts",
    .description =
        "Actor threads step real environments, a central server batches their requests "
        "and runs the real network, and with --train a learner trains from a replay "
        "buffer beside it; actors and server have cores of their own. Each point is "
        "measured in several windows, in rounds; windows beside a slow canary loop or "
        "other busy programs count as disturbed. Writes a reference file (-o, else "
        "measured.json) that `fulcrum validate` predicts again, and prints measured "
        "beside predicted.\n\n"
        "Ctrl-C keeps what was measured so far. A point that fails, such as an "
        "environment that crashes, is named; the others are kept and the exit code "
        "is 1.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct fulcrum_measure_settings),
    .output = FULCRUM_OUTPUT_FILE_REPORT,
    .run = run_measure,
};
