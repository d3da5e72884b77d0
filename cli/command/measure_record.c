/* measure_record.c - the stages of `fulcrum measure --record`. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/command/measure_job.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/pipeline/measure.h"
#include "cli/message.h"
#include "model/quantity.h"
#include "model/try.h"

/*
 * A row for each stage that a run was in; then one for thread time in no stage, which
 * has no place in wall time, and one for wall time in which all waited, which no thread
 * has.
 */

/* The rows after those of the stages. */
enum { ROW_OUTSIDE = FULCRUM_STAGE_KIND_COUNT, ROW_IDLE, ROW_COUNT };

static bool is_any_predicted(const struct fulcrum_stage_run *runs, size_t count)
{
    bool is_any = false;
    for (size_t i = 0; i < count; i++) {
        is_any = is_any || runs[i].predicted != NULL;
    }
    return is_any;
}

/* Waiting, and time in no stage, have no share of wall time. */
static bool has_share(size_t row)
{
    return row < FULCRUM_STAGE_WORK_COUNT;
}

/* Stages are recorded where threads are in them: a GPU's share is not. */
static void add_shares(
    struct fulcrum_table *table, const struct fulcrum_stage_times *times, size_t row)
{
    enum fulcrum_stage_kind kind = (enum fulcrum_stage_kind)row;
    double cpu_only =
        has_share(row) ? fulcrum_stage_times_share(times, kind) : FULCRUM_UNKNOWN;
    double none = has_share(row) ? 0.0 : FULCRUM_UNKNOWN;
    fulcrum_table_number(table, "share_frac", "share",
        row == ROW_IDLE ? fulcrum_stage_times_idle_frac(times) : cpu_only);
    fulcrum_table_number(table, "cpu_only_frac", NULL, cpu_only);
    fulcrum_table_number(table, "cpu_and_gpu_frac", NULL, none);
    fulcrum_table_number(table, "gpu_only_frac", NULL, none);
    fulcrum_table_number(table, "active_s", NULL,
        has_share(row) ? times->kinds[row].active_s : FULCRUM_UNKNOWN);
}

static void add_stage(struct fulcrum_table *table, const struct fulcrum_stage_run *run,
    size_t row, bool has_model)
{
    /* Rows behind the stages have no number but those below. */
    static const struct fulcrum_stage_time none = {.thread_s = FULCRUM_UNKNOWN,
        .cpu_s = FULCRUM_UNKNOWN,
        .event_count = FULCRUM_UNKNOWN,
        .recording_s = FULCRUM_UNKNOWN};
    const struct fulcrum_stage_times *times = run->times;
    const struct fulcrum_stage_prediction *predicted = run->predicted;
    bool is_kind = row < FULCRUM_STAGE_KIND_COUNT;
    const struct fulcrum_stage_time *kind = is_kind ? &times->kinds[row] : &none;
    double steps =
        times->facts.step_count > 0.0 ? times->facts.step_count : FULCRUM_UNKNOWN;
    double thread_s = row == ROW_OUTSIDE ? times->outside_s : kind->thread_s;
    double threads =
        predicted != NULL && is_kind ? predicted->thread_count[row] : FULCRUM_UNKNOWN;
    fulcrum_table_row(table);
    fulcrum_table_text(table, "run", "run", run->name);
    fulcrum_table_text(table, "stage", "stage",
        is_kind           ? fulcrum_stage_kind_name((enum fulcrum_stage_kind)row)
        : row == ROW_IDLE ? "idle"
                          : "outside");
    add_shares(table, times, row);
    fulcrum_table_number(table, "thread_s", has_model ? NULL : "thread time", thread_s);
    fulcrum_table_number(table, "cpu_s", has_model ? NULL : "CPU time", kind->cpu_s);
    fulcrum_table_number(table, "gpu_s", NULL, has_share(row) ? 0.0 : FULCRUM_UNKNOWN);
    fulcrum_table_number(table, "cpu_s_per_step", "CPU per step", kind->cpu_s / steps);
    fulcrum_table_number(table, "event_count", NULL, kind->event_count);
    fulcrum_table_number(table, "recording_s", NULL, kind->recording_s);
    /* Mean number of threads in a stage; time per step does not move with the rate of
     * the whole. */
    fulcrum_table_number(
        table, "threads", has_model ? "threads" : NULL, thread_s / times->window_s);
    fulcrum_table_number(table, "predicted_threads", "predicted", threads);
    fulcrum_table_number(
        table, "thread_s_per_step", has_model ? "per step" : NULL, thread_s / steps);
    fulcrum_table_number(table, "predicted_s_per_step", "predicted",
        predicted != NULL ? threads / predicted->steps_per_s : FULCRUM_UNKNOWN);
}

/* A stage that no thread or device was in has no row. */
static void add_stages(
    struct fulcrum_table *table, const struct fulcrum_stage_run *runs, size_t count)
{
    bool has_model = is_any_predicted(runs, count);
    for (size_t i = 0; i < count * ROW_COUNT; i++) {
        const struct fulcrum_stage_run *run = &runs[i / ROW_COUNT];
        size_t row = i % ROW_COUNT;
        if (row >= FULCRUM_STAGE_KIND_COUNT ||
            run->times->kinds[row].event_count > 0.0) {
            add_stage(table, run, row, has_model);
        }
    }
}

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

/* What one request costs its actor, from one answer to the next. */
static void add_cycle(struct fulcrum_table *table, const struct fulcrum_stage_run *run)
{
    const struct fulcrum_residence *parts = &run->predicted->residence;
    double steps_per_request =
        run->predicted->steps_per_s / run->predicted->requests_per_s;
    double requests = run->times->facts.step_count / steps_per_request;
    fulcrum_table_row(table);
    fulcrum_table_text(table, "run", "run", run->name);
    fulcrum_table_number(
        table, "step_s", "step and hand in", actors_s(run->times, false) / requests);
    fulcrum_table_number(table, "predicted_step_s", "predicted", parts->cpu_s);
    fulcrum_table_number(
        table, "wait_s", "wait", actors_s(run->times, true) / requests);
    fulcrum_table_number(table, "predicted_wait_s", "predicted",
        parts->host_s + parts->gpu_s + parts->delay_s);
    fulcrum_table_number(table, "predicted_host_s", "host wait", parts->host_s);
    fulcrum_table_number(table, "predicted_gpu_s", "learner wait", parts->gpu_s);
    fulcrum_table_number(table, "predicted_delay_s", "delay", parts->delay_s);
}

static bool has_pairs(const struct fulcrum_stage_run *run)
{
    return run->measured != NULL && run->measured->pairs.pair_count > 1;
}

static void add_recording(
    struct fulcrum_table *table, const struct fulcrum_stage_run *run)
{
    static const struct fulcrum_measured_stages none = {
        .recorded_steps_per_s = FULCRUM_UNKNOWN,
        .corrected_steps_per_s = FULCRUM_UNKNOWN,
        .unrecorded_steps_per_s = FULCRUM_UNKNOWN};
    const struct fulcrum_stage_times *times = run->times;
    const struct fulcrum_recorder_cost *cost = &times->facts.cost;
    const struct fulcrum_measured_stages *measured =
        run->measured != NULL ? run->measured : &none;
    bool has = has_pairs(run);
    const struct {
        const char *key;
        double value;
    } cells[] = {
        {"window_s", times->window_s},
        {"corrected_window_s", times->corrected_window_s},
        {"swept_s", times->swept_s},
        {"step_count", times->facts.step_count},
        {"gpu_busy_frac", FULCRUM_UNKNOWN},
        {"sm_active_frac", FULCRUM_UNKNOWN},
        {"recording_s", times->recording_s},
        {"pair_cost_s", cost->pair_inside_s + cost->pair_outside_s},
        {"chained_cost_s", cost->chained_s},
        {"event_count", (double)times->event_count},
        {"dropped_count", (double)times->dropped_count},
        {"thread_count", (double)times->used_track_count},
        {"sampled_thread_count", 0.0},
        {"pair_count", has ? (double)measured->pairs.pair_count : FULCRUM_UNKNOWN},
        {"cost_mean_frac", has ? measured->pairs.mean_frac : FULCRUM_UNKNOWN},
        {"cost_upper_frac", has ? measured->pairs.upper_frac : FULCRUM_UNKNOWN},
        {"recorded_steps_per_s", measured->recorded_steps_per_s},
        {"corrected_steps_per_s", measured->corrected_steps_per_s},
        {"unrecorded_steps_per_s", measured->unrecorded_steps_per_s},
    };
    fulcrum_table_row(table);
    fulcrum_table_text(table, "run", NULL, run->name);
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        fulcrum_table_number(table, cells[i].key, NULL, cells[i].value);
    }
}

static void note_recording(
    struct fulcrum_result *result, const struct fulcrum_stage_run *run)
{
    static const char key[] = "recording_notes";
    const struct fulcrum_stage_times *times = run->times;
    const struct fulcrum_measured_stages *measured = run->measured;
    fulcrum_result_note_print(result, key,
        "%s: %zu stages recorded in %.4g s; recording took %.3g ms of threads' time, "
        "which is taken off, and lengthened the run by at most %.3g %%",
        run->name, times->event_count, times->window_s, 1e3 * times->recording_s,
        100.0 * (1.0 - times->corrected_window_s / times->window_s));
    if (has_pairs(run)) {
        fulcrum_result_note_print(result, key,
            "%s: over %zu pairs of windows by turns recording costs %.3g %%, at most "
            "%.3g %% (95 %% limit): %.4g steps/s with it, %.4g corrected, %.4g without",
            run->name, measured->pairs.pair_count, 100.0 * measured->pairs.mean_frac,
            100.0 * measured->pairs.upper_frac, measured->recorded_steps_per_s,
            measured->corrected_steps_per_s, measured->unrecorded_steps_per_s);
    }
    if (times->dropped_count > 0) {
        fulcrum_result_note_print(result, key,
            "%s: %zu stages found no room: shares are those of the first %.4g s; times "
            "of threads are whole",
            run->name, times->dropped_count, times->swept_s);
    }
}

void fulcrum_measure_add_stages(
    struct fulcrum_result *result, const struct fulcrum_stage_run *runs, size_t count)
{
    struct fulcrum_table *stages = fulcrum_result_table(result, "stages", "stages");
    struct fulcrum_table *cycles =
        fulcrum_result_table(result, "cycles", "an actor's cycle");
    struct fulcrum_table *recordings = fulcrum_result_table(result, "recordings", NULL);
    add_stages(stages, runs, count);
    for (size_t i = 0; i < count; i++) {
        add_recording(recordings, &runs[i]);
        note_recording(result, &runs[i]);
        if (runs[i].predicted != NULL) {
            add_cycle(cycles, &runs[i]);
        }
    }
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
    out->runs = fulcrum_allocate(found->count, sizeof *out->runs);
    out->names = fulcrum_allocate(found->count, sizeof *out->names);
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
        fulcrum_allocate(points->reference->point_count, sizeof *record->predicted);
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
