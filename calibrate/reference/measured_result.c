/* measured_result.c - what was measured end to end, as tables. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/measured_result.h"

#include <math.h>
#include <stdio.h>

#include "model/number.h"

/* A canary that differs so much tells of another clock or other neighbours. */
#define DRIFT_MOST_REL 0.05

static double relative_error(
    const struct fulcrum_measured *item, const struct fulcrum_prediction *prediction)
{
    return prediction->value[FULCRUM_OUTPUT_steps_per_s] / item->median.steps_per_s -
           1.0;
}

/* The place of item `i` among those with windows, which predictions are in order of. */
static size_t point_of(const struct fulcrum_measured_points *points, size_t i)
{
    size_t point = 0;
    for (size_t k = 0; k < i; k++) {
        point += points->measurement->items[k].window_count > 0 ? 1 : 0;
    }
    return point;
}

/* NULL: there is none. */
static const struct fulcrum_prediction *prediction_of(
    const struct fulcrum_measured_points *points, size_t i)
{
    return points->measurement->items[i].window_count > 0 && points->predictions != NULL
               ? &points->predictions[point_of(points, i)]
               : NULL;
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
    for (size_t i = 0; i < points->measurement->count; i++) {
        const struct fulcrum_measured *item = &points->measurement->items[i];
        const struct fulcrum_prediction *prediction = prediction_of(points, i);
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

/* Seconds of the canary when the calibration was taken before; NAN: not known. */
static double calibrated_canary_s(const struct fulcrum_measured_points *points)
{
    return points->calibration != NULL && !points->is_beside
               ? points->calibration->machine.cpu.canary_s
               : FULCRUM_UNKNOWN;
}

static void add_point(
    struct fulcrum_table *table, const struct fulcrum_measured_points *points, size_t i)
{
    const struct fulcrum_measured *item = &points->measurement->items[i];
    char batching[48];
    const struct fulcrum_measure_window *median = &item->median;
    bool trains = !isnan(points->measurement->train_step_flop);
    double disturbed = 0.0;
    for (size_t k = 0; k < item->window_count; k++) {
        disturbed += item->windows[k].is_disturbed;
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
    add_prediction(table, item, prediction_of(points, i));
    add_measured(table, item, "predicted_speed_rel", NULL,
        points->is_beside        ? 1.0
        : median->canary_s > 0.0 ? calibrated_canary_s(points) / median->canary_s
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

/*
 * A row for each stage that a run was in; then one for thread time in no stage, which
 * has no place in wall time, and one for wall time in which all waited, which no thread
 * has.
 */

enum { ROW_OUTSIDE = FULCRUM_STAGE_KIND_COUNT, ROW_IDLE, ROW_COUNT };

struct run {
    char name[128];
    const struct fulcrum_measured_stages *measured;
    const struct fulcrum_stage_times *times;
    const struct fulcrum_stage_prediction *predicted; /* NULL: nothing was */
};

/* Waiting, and time in no stage, have no share of wall time. */
static bool has_share(size_t row)
{
    return row < FULCRUM_STAGE_WORK_COUNT;
}

/* Stages are recorded where threads are in them: a GPU's share is not. */
static void add_shares(
    struct fulcrum_table *table, const struct fulcrum_stage_times *times, size_t row)
{
    double cpu_only =
        has_share(row) ? fulcrum_stage_times_share(times, (enum fulcrum_stage_kind)row)
                       : FULCRUM_UNKNOWN;
    double none = has_share(row) ? 0.0 : FULCRUM_UNKNOWN;
    fulcrum_table_number(table, "share_frac", "share",
        row == ROW_IDLE ? fulcrum_stage_times_idle_frac(times) : cpu_only);
    fulcrum_table_number(table, "cpu_only_frac", NULL, cpu_only);
    fulcrum_table_number(table, "cpu_and_gpu_frac", NULL, none);
    fulcrum_table_number(table, "gpu_only_frac", NULL, none);
    fulcrum_table_number(table, "active_s", NULL,
        has_share(row) ? times->kinds[row].active_s : FULCRUM_UNKNOWN);
}

static void add_stage(
    struct fulcrum_table *table, const struct run *run, size_t row, bool has_model)
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
static void add_cycle(struct fulcrum_table *table, const struct run *run)
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

static void add_recording(struct fulcrum_table *table, const struct run *run)
{
    const struct fulcrum_measured_stages *measured = run->measured;
    const struct fulcrum_stage_times *times = run->times;
    const struct fulcrum_recorder_cost *cost = &times->facts.cost;
    bool has = measured->pairs.pair_count > 1;
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

static void note_recording(struct fulcrum_result *result, const struct run *run)
{
    static const char key[] = "recording_notes";
    const struct fulcrum_stage_times *times = run->times;
    const struct fulcrum_measured_stages *measured = run->measured;
    fulcrum_result_note_print(result, key,
        "%s: %zu stages recorded in %.4g s; recording took %.3g ms of threads' time, "
        "which is taken off, and lengthened the run by at most %.3g %%",
        run->name, times->event_count, times->window_s, 1e3 * times->recording_s,
        100.0 * (1.0 - times->corrected_window_s / times->window_s));
    if (measured->pairs.pair_count > 1) {
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

/* Of configuration `i`, named "8 actors" and what else tells configurations apart. */
static struct run run_of(const struct fulcrum_measured_points *points, size_t i)
{
    const struct fulcrum_measured_stages *measured = &points->stages->items[i];
    const struct fulcrum_measure_config *config = &measured->config;
    struct run run = {.measured = measured, .times = &measured->times};
    char envs[32] = "";
    char rule[48] = "";
    if (config->envs_per_actor > 1) {
        (void)snprintf(envs, sizeof envs, " of %zu", config->envs_per_actor);
    }
    bool differ = false; /* configurations, in how they batch */
    for (size_t k = 1; k < points->stages->count; k++) {
        const struct fulcrum_measure_config *first = &points->stages->items[0].config;
        const struct fulcrum_measure_config *other = &points->stages->items[k].config;
        differ = differ || other->policy != first->policy ||
                 other->batch_size != first->batch_size ||
                 other->population_frac != first->population_frac;
    }
    if (differ) {
        fulcrum_measured_series(config, rule, sizeof rule);
    }
    (void)snprintf(run.name, sizeof run.name, "%zu actor%s%s%s%s", config->actor_count,
        config->actor_count == 1 ? "" : "s", envs, rule[0] != '\0' ? ", " : "", rule);
    if (points->stage_predictions != NULL &&
        points->measurement->items[i].window_count > 0) {
        run.predicted = &points->stage_predictions[point_of(points, i)];
    }
    return run;
}

/* A stage that no thread was in has no row. */
static void add_run_stages(
    struct fulcrum_table *table, const struct run *run, bool has_model)
{
    for (size_t row = 0; row < ROW_COUNT; row++) {
        if (row >= FULCRUM_STAGE_KIND_COUNT ||
            run->times->kinds[row].event_count > 0.0) {
            add_stage(table, run, row, has_model);
        }
    }
}

/* Configurations that failed have no rows. */
void fulcrum_measured_add_stages(
    struct fulcrum_result *result, const struct fulcrum_measured_points *points)
{
    size_t count = points->stages != NULL ? points->stages->count : 0;
    size_t first = count; /* that was recorded */
    bool has_model = false;
    for (size_t i = count; i-- > 0;) {
        if (points->stages->items[i].failure[0] == '\0') {
            first = i;
            has_model = has_model || run_of(points, i).predicted != NULL;
        }
    }
    if (first == count) {
        return;
    }
    struct fulcrum_table *stages = fulcrum_result_table(result, "stages", "stages");
    struct fulcrum_table *cycles =
        fulcrum_result_table(result, "cycles", "an actor's cycle");
    struct fulcrum_table *recordings = fulcrum_result_table(result, "recordings", NULL);
    for (size_t i = first; i < count; i++) {
        const struct run run = run_of(points, i);
        if (run.measured->failure[0] != '\0') {
            continue;
        }
        add_run_stages(stages, &run, has_model);
        add_recording(recordings, &run);
        note_recording(result, &run);
        if (run.predicted != NULL) {
            add_cycle(cycles, &run);
        }
    }
}

struct fulcrum_result *fulcrum_measured_result(
    const struct fulcrum_measured_points *points)
{
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-measure");
    const struct fulcrum_measurement *found = points->measurement;
    fulcrum_result_text(result, "machine", "machine", found->machine.cpu.name);
    fulcrum_result_text(result, "actor", "actor", found->actor);
    fulcrum_result_text(result, "learner", "learner", found->learner);
    if (!found->is_loop) {
        char cpus[128];
        fulcrum_cpu_list_write(&found->placement.actors, cpus, sizeof cpus);
        fulcrum_result_text(result, "actor_cpus", "actors on processors", cpus);
        fulcrum_cpu_list_write(&found->placement.server, cpus, sizeof cpus);
        fulcrum_result_text(result, "server_cpus", "server on processors", cpus);
    }
    fulcrum_result_flag(result, "complete", NULL, found->is_complete);
    fulcrum_result_text(result, "calibration", "calibration",
        points->calibration != NULL ? points->calibration->name : NULL);
    if (points->predictions != NULL) {
        add_errors(result, "undisturbed", points, false);
        add_errors(result, "all", points, true);
    }
    struct fulcrum_table *table = fulcrum_result_table(result, "points", "");
    for (size_t i = 0; i < found->count; i++) {
        add_point(table, points, i);
    }
    if (fulcrum_table_constant(table, "envs_per_actor") <= 1.0) {
        fulcrum_table_hide(table, "envs_per_actor");
    }
    /* Every window: whoever reads the file may judge anew. */
    struct fulcrum_table *windows = fulcrum_result_table(result, "windows", NULL);
    for (size_t i = 0; i < found->count; i++) {
        for (size_t k = 0; k < found->items[i].window_count; k++) {
            const struct fulcrum_measure_window *window = &found->items[i].windows[k];
            fulcrum_table_row(windows);
            fulcrum_table_number(windows, "point", NULL, (double)i);
            fulcrum_table_number(windows, "steps_per_s", NULL, window->steps_per_s);
            fulcrum_table_number(windows, "mean_batch", NULL, window->mean_batch);
            fulcrum_table_number(windows, "actor_cpu_s", NULL, window->actor_cpu_s);
            fulcrum_table_number(windows, "server_cpu_s", NULL, window->server_cpu_s);
            fulcrum_table_number(
                windows, "train_steps", NULL, window->train_step_count);
            fulcrum_table_number(windows, "canary_rel", NULL, window->canary_rel);
            fulcrum_table_number(windows, "canary_s", NULL, window->canary_s);
            fulcrum_table_number(windows, "others_frac", NULL, window->others_frac);
            fulcrum_table_number(windows, "disturbed", NULL, window->is_disturbed);
        }
    }
    add_notes(result, points);
    fulcrum_measured_add_stages(result, points);
    return result;
}
