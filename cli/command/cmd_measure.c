/* cmd_measure.c - `fulcrum measure`: the real pipeline, beside its prediction. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Actors, central inference and, if wanted, training run for real on this machine, one
 * configuration after the other. A calibration that was taken beforehand, and has seen
 * none of it, says what to expect; the errors are what the model is worth here.
 */
#define _POSIX_C_SOURCE 200809L /* access, getcwd */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/pipeline/measure.h"
#include "calibrate/pipeline/measured_reference.h"
#include "calibrate/reference/reference_prediction.h"
#include "cli/command.h"
#include "cli/command/measure_job.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "model/try.h"
#include "presets/io/output.h"
#include "presets/load/reference_file.h"

/* Where the reference goes unless told. */
static const char standard_path[] = "measured.json";

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
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = calloc(size, sizeof *path);
    if (path != NULL) {
        (void)snprintf(path, size, "%s/%s", folder, name);
    }
    return path;
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

static enum fulcrum_status print(
    const struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_measure_result result = {.measurement = job->found,
        .predictions = job->predictions,
        .calibration = job->inputs.calibration};
    if (context->format == FULCRUM_FORMAT_JSON) {
        struct fulcrum_json *document = fulcrum_report_document("fulcrum-measure");
        fulcrum_measure_report_to_json(&result, document);
        if (job->record.run_count > 0) {
            fulcrum_stage_report_to_json(
                job->record.runs, job->record.run_count, document);
        }
        return fulcrum_report_print_document(document, context, err);
    }
    struct fulcrum_report_head room[FULCRUM_MEASURE_COLUMNS];
    bool is_for_people = context->format == FULCRUM_FORMAT_TABLE;
    struct fulcrum_report *points =
        fulcrum_measure_report_points(&result, is_for_people, room);
    enum fulcrum_status status =
        fulcrum_report_print(points, "fulcrum-measure", context, err);
    fulcrum_report_free(points);
    if (status == FULCRUM_OK && context->format == FULCRUM_FORMAT_TABLE) {
        (void)fputc('\n', context->out);
        fulcrum_measure_report_notes(&result, context->out);
        if (job->record.run_count > 0) {
            (void)fputc('\n', context->out);
            status = fulcrum_stage_report_print(
                job->record.runs, job->record.run_count, context, err);
        }
    }
    return status;
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
    return print(job, context, err);
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

static enum fulcrum_status run(
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
    .run = run,
};
