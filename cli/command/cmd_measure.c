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
#include "calibrate/reference/reference_prediction.h"
#include "cli/command.h"
#include "cli/command/measure_job.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "model/quantity.h"
#include "model/try.h"
#include "presets/io/output.h"
#include "presets/load/reference_file.h"

/* Where the reference goes unless told. */
static const char standard_path[] = "measured.json";

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
    const struct fulcrum_measure_answer *answer, const struct fulcrum_measured *item,
    size_t *next)
{
    if (item->window_count == 0 || answer->predictions == NULL) {
        return NULL;
    }
    return &answer->predictions[(*next)++];
}

/* Over the undisturbed points, or, where `takes_all`, over all that were measured. */
static void add_errors(struct fulcrum_result *result, const char *kind,
    const struct fulcrum_measure_answer *answer, bool takes_all)
{
    enum { RATE = FULCRUM_OUTPUT_steps_per_s };
    double count = 0.0;
    double sums[] = {0.0, 0.0, 0.0, 0.0};
    static const char *const names[] = {
        "mape_frac", "bias_frac", "covered_frac", "max_frac"};
    size_t next = 0;
    for (size_t i = 0; i < answer->measurement->count; i++) {
        const struct fulcrum_measured *item = &answer->measurement->items[i];
        const struct fulcrum_prediction *prediction =
            prediction_of(answer, item, &next);
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
            "%% "
            "within the interval",
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
static double calibrated_canary_s(const struct fulcrum_measure_answer *answer)
{
    return answer->calibration != NULL ? answer->calibration->machine.cpu.canary_s
                                       : FULCRUM_UNKNOWN;
}

static void add_point(struct fulcrum_table *table,
    const struct fulcrum_measure_answer *answer, const struct fulcrum_measured *item,
    size_t *next)
{
    char batching[48];
    const struct fulcrum_measure_window *median = &item->median;
    bool trains = !isnan(answer->measurement->train_step_flop);
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
    add_prediction(table, item, prediction_of(answer, item, next));
    add_measured(table, item, "predicted_speed_rel", NULL,
        median->canary_s > 0.0 ? calibrated_canary_s(answer) / median->canary_s
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
    struct fulcrum_result *result, const struct fulcrum_measure_answer *answer)
{
    const struct fulcrum_measurement *found = answer->measurement;
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
                           ? canary_s / measured / calibrated_canary_s(answer) - 1.0
                           : FULCRUM_UNKNOWN;
    fulcrum_result_number(result, "canary_drift_rel", NULL, drift_rel);
    fulcrum_result_text(result, "power", NULL, found->energy_reason);
    if (!found->placement.is_apart) {
        fulcrum_result_note(
            result, "notes", "actors and server share cores, which the model does not");
    }
    if (answer->predictions == NULL) {
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
    struct fulcrum_result *result, const struct fulcrum_measure_answer *answer)
{
    const struct fulcrum_measurement *found = answer->measurement;
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
        answer->calibration != NULL ? answer->calibration->name : NULL);
    if (answer->predictions != NULL) {
        add_errors(result, "undisturbed", answer, false);
        add_errors(result, "all", answer, true);
    }
    struct fulcrum_table *points = fulcrum_result_table(result, "points", "");
    for (size_t i = 0; i < found->count; i++) {
        add_point(points, answer, &found->items[i], &next);
    }
    if (fulcrum_table_constant(points, "envs_per_actor") <= 1.0) {
        fulcrum_table_hide(points, "envs_per_actor");
    }
    /* Every window: whoever reads the file may judge anew. */
    struct fulcrum_table *windows = fulcrum_result_table(result, "windows", NULL);
    for (size_t i = 0; i < found->count; i++) {
        for (size_t k = 0; k < found->items[i].window_count; k++) {
            add_window(windows, i, &found->items[i].windows[k]);
        }
    }
    add_notes(result, answer);
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

static void clear_job(struct job *job)
{
    free(job->predictions);
    free(job->calibration_path);
    fulcrum_reference_free(job->reference);
    fulcrum_measure_inputs_clear(&job->inputs);
    fulcrum_measurement_free(job->found);
    fulcrum_measure_record_clear(&job->record);
}

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
static void predict(struct job *job, struct fulcrum_context *context)
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

static enum fulcrum_status show_measurement(const struct job *job,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_measure_answer answer = {.measurement = job->found,
        .predictions = job->predictions,
        .calibration = job->inputs.calibration};
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-measure");
    fulcrum_measure_add_points(result, &answer);
    if (job->record.run_count > 0) {
        fulcrum_measure_add_stages(result, job->record.runs, job->record.run_count);
    }
    return fulcrum_context_show(context, result, err);
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
    predict(job, context);
    return show_measurement(job, context, err);
}

static enum fulcrum_status measure(
    struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_measuring_progress watch;
    fulcrum_measuring_progress_start(&watch, context);
    job->inputs.options.stop = fulcrum_measuring_progress_stops;
    job->inputs.options.progress = fulcrum_measuring_progress_show;
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
    fulcrum_measuring_progress_end(&watch);
    if (job->found == NULL) {
        return status;
    }
    status = fulcrum_measuring_progress_settle(status, context, err);
    /* What was measured is kept even where the recording failed. */
    enum fulcrum_status handed =
        hand_out(job, context, status == FULCRUM_OK ? err : NULL);
    return status == FULCRUM_OK ? handed : status;
}

static enum fulcrum_status check_trace(const struct fulcrum_measure_settings *settings,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    return settings->record_pairs < 1.0
               ? fulcrum_usage_fail(context, err, FULCRUM_ERR_MISSING,
                     "--trace %s needs --record: nothing is recorded without it",
                     settings->trace)
               : fulcrum_output_check(settings->trace, err);
}

static enum fulcrum_status run_measure(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct job job = {.settings = data};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_measure_inputs_load(job.settings, context, &job.inputs, err));
    if (job.settings->trace != NULL) {
        TRY_OR_END(check_trace(job.settings, context, err));
    }
    TRY_OR_END(fulcrum_output_check(output_path(context), err));
    status = measure(&job, context, err);
end:
    clear_job(&job);
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
    .groups = fulcrum_measure_groups,
    .settings_size = sizeof(struct fulcrum_measure_settings),
    .output = FULCRUM_OUTPUT_FILE_REPORT,
    .run = run_measure,
};
