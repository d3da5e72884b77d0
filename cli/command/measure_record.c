/* measure_record.c - the stages of `fulcrum measure --record`. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/command/measure_job.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/pipeline/measured_reference.h"
#include "calibrate/pipeline/stage_times.h"
#include "calibrate/reference/reference_prediction.h"
#include "cli/command.h"
#include "cli/output/report.h"
#include "model/quantity.h"
#include "model/status.h"
#include "model/try.h"

/* Where the time of recorded runs went, for people and programs. */

/*
 * A row for each stage that a run was in; then one for thread time in no stage, which
 * has no place in wall time, and one for wall time in which all waited, which no thread
 * has. Tables leave out what concerns GPUs where no run had one.
 */

/* The rows after those of the stages. */
enum { ROW_OUTSIDE = FULCRUM_STAGE_KIND_COUNT, ROW_IDLE, ROW_COUNT };

/* One cell's worth of a run. */
struct row {
    const struct fulcrum_stage_run *run;
    size_t number;
};

enum audience {
    FOR_ALL,
    FOR_GPUS,    /* tables have it where a GPU was recorded */
    FOR_MODELS,  /* tables have it where a run was predicted */
    FOR_PROGRAMS /* CSV and JSON only */
};

struct stage_column {
    struct fulcrum_report_head column;
    enum audience audience;
    double (*number)(const struct row *row); /* NULL: a text */
};

static const struct fulcrum_stage_time *kind_of(const struct row *row)
{
    return row->number < FULCRUM_STAGE_KIND_COUNT ? &row->run->times->kinds[row->number]
                                                  : NULL;
}

/* Waiting, and time in no stage, have no share of wall time. */
static bool has_share(const struct row *row)
{
    return row->number < FULCRUM_STAGE_WORK_COUNT;
}

static double share_of(const struct row *row)
{
    if (row->number == ROW_IDLE) {
        return fulcrum_stage_times_idle_frac(row->run->times);
    }
    return has_share(row) ? fulcrum_stage_times_share_sum(
                                row->run->times, (enum fulcrum_stage_kind)row->number)
                          : FULCRUM_UNKNOWN;
}

static double share_where(const struct row *row, enum fulcrum_stage_where where)
{
    return has_share(row) ? fulcrum_stage_times_share(row->run->times,
                                (enum fulcrum_stage_kind)row->number, where)
                          : FULCRUM_UNKNOWN;
}

static double cpu_only_of(const struct row *row)
{
    return share_where(row, FULCRUM_STAGE_CPU_ONLY);
}

static double both_of(const struct row *row)
{
    return share_where(row, FULCRUM_STAGE_CPU_AND_GPU);
}

static double gpu_only_of(const struct row *row)
{
    return share_where(row, FULCRUM_STAGE_GPU_ONLY);
}

static double active_of(const struct row *row)
{
    const struct fulcrum_stage_time *kind = kind_of(row);
    double sum_s = 0.0;
    for (size_t w = 0; w < FULCRUM_STAGE_WHERE_COUNT && has_share(row); w++) {
        sum_s += kind->active_s[w];
    }
    return has_share(row) ? sum_s : FULCRUM_UNKNOWN;
}

static double thread_of(const struct row *row)
{
    if (row->number == ROW_OUTSIDE) {
        return row->run->times->outside_s;
    }
    return row->number < ROW_OUTSIDE ? kind_of(row)->thread_s : FULCRUM_UNKNOWN;
}

static double cpu_of(const struct row *row)
{
    return kind_of(row) != NULL ? kind_of(row)->cpu_s : FULCRUM_UNKNOWN;
}

static double gpu_of(const struct row *row)
{
    return has_share(row) ? kind_of(row)->gpu_s : FULCRUM_UNKNOWN;
}

static double cpu_per_step_of(const struct row *row)
{
    double steps = row->run->times->facts.step_count;
    return steps > 0.0 ? cpu_of(row) / steps : FULCRUM_UNKNOWN;
}

static double events_of(const struct row *row)
{
    return kind_of(row) != NULL ? kind_of(row)->event_count : FULCRUM_UNKNOWN;
}

static double recording_of(const struct row *row)
{
    return kind_of(row) != NULL ? kind_of(row)->recording_s : FULCRUM_UNKNOWN;
}

/* Mean number of threads in a stage: busy shares, summed over threads. */
static double threads_of(const struct row *row)
{
    return thread_of(row) / row->run->times->window_s;
}

static double predicted_threads_of(const struct row *row)
{
    const struct fulcrum_stage_prediction *predicted = row->run->predicted;
    return predicted != NULL && kind_of(row) != NULL
               ? predicted->thread_count[row->number]
               : FULCRUM_UNKNOWN;
}

/* Unlike the share, this does not move with the rate of the whole. */
static double thread_per_step_of(const struct row *row)
{
    double steps = row->run->times->facts.step_count;
    return steps > 0.0 ? thread_of(row) / steps : FULCRUM_UNKNOWN;
}

static double predicted_per_step_of(const struct row *row)
{
    const struct fulcrum_stage_prediction *predicted = row->run->predicted;
    return predicted != NULL ? predicted_threads_of(row) / predicted->steps_per_s
                             : FULCRUM_UNKNOWN;
}

#define NUMBER(key, title)                                                             \
    {                                                                                  \
        key, FULCRUM_COLUMN_NUMBER, title                                              \
    }

static const struct stage_column stage_columns[] = {
    {{"run", FULCRUM_COLUMN_TEXT, NULL}, FOR_ALL, NULL},
    {{"stage", FULCRUM_COLUMN_TEXT, NULL}, FOR_ALL, NULL},
    {NUMBER("share_frac", NULL), FOR_ALL, share_of},
    {NUMBER("cpu_only_frac", NULL), FOR_GPUS, cpu_only_of},
    {NUMBER("cpu_and_gpu_frac", NULL), FOR_GPUS, both_of},
    {NUMBER("gpu_only_frac", NULL), FOR_GPUS, gpu_only_of},
    {NUMBER("active_s", NULL), FOR_ALL, active_of},
    {NUMBER("thread_s", NULL), FOR_ALL, thread_of},
    {NUMBER("cpu_s", NULL), FOR_ALL, cpu_of},
    {NUMBER("gpu_s", NULL), FOR_GPUS, gpu_of},
    {NUMBER("cpu_s_per_step", NULL), FOR_ALL, cpu_per_step_of},
    {NUMBER("event_count", NULL), FOR_PROGRAMS, events_of},
    {NUMBER("recording_s", NULL), FOR_PROGRAMS, recording_of},
    {NUMBER("threads", NULL), FOR_MODELS, threads_of},
    {NUMBER("predicted_threads", "pred."), FOR_MODELS, predicted_threads_of},
    {NUMBER("thread_s_per_step", "s/step"), FOR_MODELS, thread_per_step_of},
    {NUMBER("predicted_s_per_step", "pred."), FOR_MODELS, predicted_per_step_of},
};

enum { STAGE_COLUMNS = sizeof stage_columns / sizeof stage_columns[0] };

static int any_gpu(const struct fulcrum_stage_run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isnan(runs[i].times->gpu_busy_frac)) {
            return 1;
        }
    }
    return 0;
}

static int any_predicted(const struct fulcrum_stage_run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (runs[i].predicted != NULL) {
            return 1;
        }
    }
    return 0;
}

static const char *name_of(const struct row *row)
{
    if (row->number < FULCRUM_STAGE_KIND_COUNT) {
        return fulcrum_stage_kind_name((enum fulcrum_stage_kind)row->number);
    }
    return row->number == ROW_IDLE ? "idle" : "outside";
}

/* The columns of one output, which its report borrows. */
struct selection {
    const struct stage_column *from[STAGE_COLUMNS];
    struct fulcrum_report_head columns[STAGE_COLUMNS];
    size_t count;
};

/* Columns of tables that say something of these runs; all of them for programs. */
static void select_columns(struct selection *out, bool is_table,
    const struct fulcrum_stage_run *runs, size_t count)
{
    bool has_gpu = any_gpu(runs, count);
    bool has_model = any_predicted(runs, count);
    out->count = 0;
    for (size_t j = 0; j < STAGE_COLUMNS; j++) {
        const struct stage_column *column = &stage_columns[j];
        if (!is_table || column->audience == FOR_ALL ||
            (column->audience == FOR_GPUS && has_gpu) ||
            (column->audience == FOR_MODELS && has_model)) {
            out->from[out->count] = column;
            out->columns[out->count++] = column->column;
        }
    }
}

static struct fulcrum_report *new_stages(const struct selection *selection,
    const struct fulcrum_stage_run *runs, size_t count)
{
    struct fulcrum_report *report =
        fulcrum_report_new("stages", selection->columns, selection->count);
    for (size_t i = 0; i < count * ROW_COUNT; i++) {
        struct row row = {&runs[i / ROW_COUNT], i % ROW_COUNT};
        /* A stage that no thread or device was in has no row. */
        if (kind_of(&row) != NULL && !(kind_of(&row)->event_count > 0.0)) {
            continue;
        }
        for (size_t j = 0; j < selection->count; j++) {
            const struct stage_column *column = selection->from[j];
            if (column->number != NULL) {
                fulcrum_report_add_number(report, column->number(&row));
            } else {
                fulcrum_report_add_text(report, j == 0 ? row.run->name : name_of(&row));
            }
        }
    }
    return report;
}

static const struct fulcrum_report_head cycle_columns[] = {
    {"run", FULCRUM_COLUMN_TEXT, NULL},
    NUMBER("step_s", "step and hand in"),
    NUMBER("predicted_step_s", "pred."),
    NUMBER("wait_s", "wait"),
    NUMBER("predicted_wait_s", "pred."),
    NUMBER("predicted_host_s", "of it host"),
    NUMBER("predicted_gpu_s", "learner"),
    NUMBER("predicted_delay_s", "delay"),
};

/* Thread time of the actors in what is work, or in what is waiting. */
static double actors_s(const struct fulcrum_stage_times *times, bool is_wait)
{
    double sum_s = 0.0;
    for (size_t i = FULCRUM_LIVE_ACTORS; i < times->track_count; i++) {
        for (size_t k = 0; k < FULCRUM_STAGE_KIND_COUNT; k++) {
            sum_s += is_wait == (k == FULCRUM_STAGE_WAIT) ? times->tracks[i].stage_s[k]
                                                          : 0.0;
        }
    }
    return sum_s;
}

/* A row for each run that was predicted. */
static struct fulcrum_report *new_cycles(
    const struct fulcrum_stage_run *runs, size_t count)
{
    struct fulcrum_report *report = fulcrum_report_new(
        "cycles", cycle_columns, sizeof cycle_columns / sizeof cycle_columns[0]);
    for (size_t i = 0; i < count; i++) {
        if (runs[i].predicted != NULL) {
            /* What one request costs its actor, from one answer to the next. */
            const struct fulcrum_stage_run *run = &runs[i];
            const struct fulcrum_residence *parts = &run->predicted->residence;
            double steps_per_request =
                run->predicted->steps_per_s / run->predicted->requests_per_s;
            double requests = run->times->facts.step_count / steps_per_request;
            const double numbers[] = {actors_s(run->times, 0) / requests, parts->cpu_s,
                actors_s(run->times, 1) / requests,
                parts->host_s + parts->gpu_s + parts->delay_s, parts->host_s,
                parts->gpu_s, parts->delay_s};
            fulcrum_report_add_text(report, run->name);
            for (size_t j = 0; j < sizeof numbers / sizeof numbers[0]; j++) {
                fulcrum_report_add_number(report, numbers[j]);
            }
        }
    }
    return report;
}

static const struct fulcrum_report_head recording_columns[] = {
    {"run", FULCRUM_COLUMN_TEXT, NULL},
    NUMBER("window_s", NULL),
    NUMBER("corrected_window_s", NULL),
    NUMBER("swept_s", NULL),
    NUMBER("step_count", NULL),
    NUMBER("gpu_busy_frac", NULL),
    NUMBER("sm_active_frac", NULL),
    NUMBER("recording_s", NULL),
    NUMBER("pair_cost_s", NULL),
    NUMBER("chained_cost_s", NULL),
    NUMBER("event_count", NULL),
    NUMBER("dropped_count", NULL),
    NUMBER("thread_count", NULL),
    NUMBER("sampled_thread_count", NULL),
    NUMBER("pair_count", NULL),
    NUMBER("cost_mean_frac", NULL),
    NUMBER("cost_upper_frac", NULL),
    NUMBER("recorded_steps_per_s", NULL),
    NUMBER("corrected_steps_per_s", NULL),
    NUMBER("unrecorded_steps_per_s", NULL),
};

static bool has_pairs(const struct fulcrum_stage_run *run)
{
    return run->measured != NULL && run->measured->pairs.pair_count > 1;
}

static struct fulcrum_report *new_recordings(
    const struct fulcrum_stage_run *runs, size_t count)
{
    struct fulcrum_report *report = fulcrum_report_new("recordings", recording_columns,
        sizeof recording_columns / sizeof recording_columns[0]);
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_stage_times *times = runs[i].times;
        const struct fulcrum_recorder_cost *cost = &times->facts.cost;
        const double numbers[] = {times->window_s, times->corrected_window_s,
            times->swept_s, times->facts.step_count, times->gpu_busy_frac,
            times->facts.sm_active_frac, times->recording_s,
            cost->pair_inside_s + cost->pair_outside_s, cost->chained_s,
            (double)times->event_count, (double)times->dropped_count,
            (double)times->used_track_count, (double)times->sampled_track_count};
        fulcrum_report_add_text(report, runs[i].name);
        for (size_t j = 0; j < sizeof numbers / sizeof numbers[0]; j++) {
            fulcrum_report_add_number(report, numbers[j]);
        }
        const struct fulcrum_stage_run *run = &runs[i];
        const struct fulcrum_measured_stages *measured = run->measured;
        const double unknown = FULCRUM_UNKNOWN;
        int has = measured != NULL;
        bool has_cost = has_pairs(run);
        fulcrum_report_add_number(
            report, has_cost ? (double)measured->pairs.pair_count : unknown);
        fulcrum_report_add_number(
            report, has_cost ? measured->pairs.mean_frac : unknown);
        fulcrum_report_add_number(
            report, has_cost ? measured->pairs.upper_frac : unknown);
        fulcrum_report_add_number(
            report, has ? measured->recorded_steps_per_s : unknown);
        fulcrum_report_add_number(
            report, has ? measured->corrected_steps_per_s : unknown);
        fulcrum_report_add_number(
            report, has ? measured->unrecorded_steps_per_s : unknown);
    }
    return report;
}

void fulcrum_stage_report_to_json(
    const struct fulcrum_stage_run *runs, size_t count, struct fulcrum_json *object)
{
    struct selection selection;
    select_columns(&selection, 0, runs, count);
    struct fulcrum_report *stages = new_stages(&selection, runs, count);
    struct fulcrum_report *cycles = new_cycles(runs, count);
    struct fulcrum_report *recordings = new_recordings(runs, count);
    fulcrum_report_to_json(stages, object);
    fulcrum_report_to_json(cycles, object);
    fulcrum_report_to_json(recordings, object);
    fulcrum_report_free(stages);
    fulcrum_report_free(cycles);
    fulcrum_report_free(recordings);
}

static void print_pairs(FILE *stream, const struct fulcrum_stage_run *run)
{
    const struct fulcrum_measured_stages *measured = run->measured;
    if (has_pairs(run)) {
        (void)fprintf(stream,
            "%s: over %zu pairs of windows by turns recording costs %.2g %%, at most "
            "%.2g %% (95 %% limit): %.4g steps/s with it, %.4g corrected, %.4g "
            "without.\n",
            run->name, measured->pairs.pair_count, 100.0 * measured->pairs.mean_frac,
            100.0 * measured->pairs.upper_frac, measured->recorded_steps_per_s,
            measured->corrected_steps_per_s, measured->unrecorded_steps_per_s);
    }
}

static void print_limits(FILE *stream, const struct fulcrum_stage_run *run)
{
    const struct fulcrum_stage_times *times = run->times;
    if (times->dropped_count > 0) {
        (void)fprintf(stream,
            "%s: %zu stages found no room: shares are those of the first %.4g s; times "
            "of threads are whole.\n",
            run->name, times->dropped_count, times->swept_s);
    }
    if (times->sampled_track_count > 0) {
        (void)fprintf(stream,
            "%s: %zu of %zu threads recorded some of their cycles only: what ran at "
            "the same time is not known, and there are no shares.\n",
            run->name, times->sampled_track_count, times->used_track_count);
    }
}

void fulcrum_stage_report_notes(
    const struct fulcrum_stage_run *runs, size_t count, FILE *stream)
{
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_stage_run *run = &runs[i];
        const struct fulcrum_stage_times *times = run->times;
        (void)fprintf(stream,
            "%s: %zu stages recorded in %.4g s; recording took %.3g ms of threads' "
            "time, "
            "which is taken off, and lengthened the run by at most %.2g %%.\n",
            run->name, times->event_count, times->window_s, 1e3 * times->recording_s,
            100.0 * (1.0 - times->corrected_window_s / times->window_s));
        print_pairs(stream, &runs[i]);
        print_limits(stream, &runs[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (!isnan(runs[i].times->gpu_busy_frac)) {
            char sentence[FULCRUM_STAGE_SENTENCE_SIZE];
            fulcrum_stage_times_busy_sentence(runs[i].times, sentence);
            (void)fprintf(stream, "%s: %s\n", runs[i].name, sentence);
        }
    }
}

/* An actor's cycle in seconds, below the stages. */
static enum fulcrum_status print_cycles(const struct fulcrum_stage_run *runs,
    size_t count, const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_report *cycles = new_cycles(runs, count);
    (void)fputc('\n', context->out);
    enum fulcrum_status status =
        fulcrum_report_print(cycles, "fulcrum-measure", context, err);
    fulcrum_report_free(cycles);
    return status;
}

enum fulcrum_status fulcrum_stage_report_print(const struct fulcrum_stage_run *runs,
    size_t count, const struct fulcrum_context *context, struct fulcrum_error *err)
{
    bool is_table = context->format == FULCRUM_FORMAT_TABLE;
    struct selection selection;
    if (context->format == FULCRUM_FORMAT_JSON) {
        struct fulcrum_json *document = fulcrum_report_document("fulcrum-measure");
        fulcrum_stage_report_to_json(runs, count, document);
        return fulcrum_report_print_document(document, context, err);
    }
    select_columns(&selection, is_table, runs, count);
    struct fulcrum_report *stages = new_stages(&selection, runs, count);
    enum fulcrum_status status =
        fulcrum_report_print(stages, "fulcrum-measure", context, err);
    fulcrum_report_free(stages);
    if (status == FULCRUM_OK && is_table && any_predicted(runs, count)) {
        status = print_cycles(runs, count, context, err);
    }
    if (status == FULCRUM_OK && is_table && !context->quiet) {
        (void)fputc('\n', context->out);
        fulcrum_stage_report_notes(runs, count, context->out);
    }
    return status;
}

/* "8 actors", and what else tells configurations apart where it is not usual. */
static void write_name(
    char *out, size_t size, const struct fulcrum_measure_config *config, bool has_rules)
{
    char envs[32] = "";
    char rule[48] = "";
    if (config->envs_per_actor > 1) {
        (void)snprintf(envs, sizeof envs, " of %zu", config->envs_per_actor);
    }
    if (has_rules) {
        fulcrum_measured_series(config, rule, sizeof rule);
    }
    (void)snprintf(out, size, "%zu actor%s%s%s%s", config->actor_count,
        config->actor_count == 1 ? "" : "s", envs, has_rules ? ", " : "", rule);
}

/* Whether configurations differ in how they batch. */
static bool has_rules(const struct fulcrum_stages_measurement *found)
{
    const struct fulcrum_measure_config *first = &found->items[0].config;
    for (size_t i = 1; i < found->count; i++) {
        const struct fulcrum_measure_config *config = &found->items[i].config;
        if (config->policy != first->policy || config->batch_size < first->batch_size ||
            config->batch_size > first->batch_size ||
            config->population_frac < first->population_frac ||
            config->population_frac > first->population_frac) {
            return 1;
        }
    }
    return 0;
}

enum fulcrum_status fulcrum_measure_record_take(struct fulcrum_measure_record *out,
    const struct fulcrum_measure_stages_options *options, struct fulcrum_error *err)
{
    *out = (struct fulcrum_measure_record){.found = NULL};
    TRY(fulcrum_measure_stages(&out->found, options, err));
    const struct fulcrum_stages_measurement *found = out->found;
    out->runs = calloc(found->count, sizeof *out->runs);
    out->names = calloc(found->count, sizeof *out->names);
    if (out->runs == NULL || out->names == NULL) {
        fulcrum_measure_record_clear(out);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "names of runs");
    }
    int names_rules = has_rules(found);
    for (size_t i = 0; i < found->count; i++) {
        const struct fulcrum_measured_stages *item = &found->items[i];
        if (item->failure[0] == '\0') {
            char *name = out->names[out->run_count];
            write_name(name, sizeof out->names[0], &item->config, names_rules);
            out->runs[out->run_count++] =
                (struct fulcrum_stage_run){name, &item->times, item, NULL};
        }
    }
    return FULCRUM_OK;
}

/* The configuration's place among the points: those that have windows, in order. */
static const struct fulcrum_stage_prediction *prediction_of(
    const struct fulcrum_measure_record *record,
    const struct fulcrum_measurement *measurement,
    const struct fulcrum_measured_stages *item)
{
    size_t index = (size_t)(item - record->found->items);
    size_t point = 0;
    if (index >= measurement->count || measurement->items[index].window_count == 0) {
        return NULL;
    }
    for (size_t i = 0; i < index; i++) {
        point += measurement->items[i].window_count > 0 ? 1 : 0;
    }
    return &record->predicted[point];
}

enum fulcrum_status fulcrum_measure_record_predict(
    struct fulcrum_measure_record *record, const struct fulcrum_measured_points *points,
    struct fulcrum_error *err)
{
    free(record->predicted);
    record->predicted =
        calloc(points->reference->point_count + 1, sizeof *record->predicted);
    TRY_MEMORY(record->predicted, err, "predictions of stages");
    TRY(fulcrum_stage_predict(points->reference, points->calibration,
        points->predictions, record->predicted, err));
    for (size_t i = 0; i < record->run_count; i++) {
        struct fulcrum_stage_run *run = &record->runs[i];
        run->predicted = prediction_of(record, points->measurement, run->measured);
    }
    return FULCRUM_OK;
}

void fulcrum_measure_record_clear(struct fulcrum_measure_record *record)
{
    fulcrum_stages_measurement_free(record->found);
    free(record->runs);
    free(record->names);
    free(record->predicted);
    *record = (struct fulcrum_measure_record){.found = NULL};
}
