/* recorder_cost.c - what recording costs, and its traces. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "calibrate/pipeline/recorder.h"
#include "calibrate/pipeline/stage_times.h"
#include "calibrate/statistics.h"
#include "calibrate/stopwatch.h"
#include "model/quantity.h"
#include "model/stage_kind.h"
#include "model/status.h"
#include "model/try.h"

/* What recording costs, and totals without it. */

/* Costs of events from runs with more and fewer of them. */

/*
 * The same work is run with recording off, on, and on in part. What a run takes beyond
 * its work is put down to its events, kind by kind (RL-Scope, Gleeson et al. 2021,
 * calibrates its profiler in this way). Columns are scaled to a mean of 1: counts of
 * events and of work differ by orders of magnitude.
 */

enum { WORK = FULCRUM_STAGE_KIND_COUNT, COLUMNS = FULCRUM_STAGE_KIND_COUNT + 1 };

/*
 * Bisquare weights at 95 % efficiency for normal errors, and the standard deviation
 * over the median absolute one (Huber and Ronchetti 2009, section 5 and 7).
 */
#define BISQUARE_SD 4.685
#define SD_OVER_MAD 1.4826

/*
 * Weights hardly change after so many turns. The first of them minimise absolute
 * residuals, which disturbed runs pull less at: bisquare weights keep to where they
 * begin.
 */
enum { TURNS = 30, ABSOLUTE_TURNS = 15 };

/* Residuals below so many standard deviations weigh alike in the first turns. */
#define ABSOLUTE_FLOOR_SD 0.1

/* Columns that are combinations of others up to rounding. */
#define RANK_TOLERANCE 1e-9

/* Which unknowns there are; the scale of one without any event is 0. */
struct design {
    double scale[COLUMNS];
    size_t unknown_count;
};

struct system {
    gsl_matrix *rows;
    gsl_vector *time_s;
    gsl_vector *solution;
    gsl_matrix *covariance;
    gsl_vector *weights;
    gsl_vector *residuals;
    gsl_vector *magnitudes;
    gsl_multifit_linear_workspace *workspace;
};

static double entry(const struct fulcrum_recorder_run *run, size_t column)
{
    return column == WORK ? run->work_count : run->event_count[column];
}

static enum fulcrum_status find_design(struct design *design,
    const struct fulcrum_recorder_run *runs, size_t count, struct fulcrum_error *err)
{
    *design = (struct design){.unknown_count = 0};
    for (size_t i = 0; i < count; i++) {
        double sum = runs[i].time_s;
        for (size_t k = 0; k < COLUMNS; k++) {
            design->scale[k] += entry(&runs[i], k) / (double)count;
            sum += entry(&runs[i], k);
        }
        FAIL_IF(!isfinite(sum), err, FULCRUM_ERR_RANGE,
            "run %zu has a time or a count that is not finite", i + 1);
    }
    for (size_t k = 0; k < COLUMNS; k++) {
        design->unknown_count += design->scale[k] > 0.0;
    }
    FAIL_IF(design->unknown_count == 0 || count <= design->unknown_count, err,
        FULCRUM_ERR_RANGE, "%zu runs for %zu unknown costs: expected more", count,
        design->unknown_count);
    return FULCRUM_OK;
}

static void system_free(struct system *system)
{
    gsl_matrix_free(system->rows);
    gsl_vector_free(system->time_s);
    gsl_vector_free(system->solution);
    gsl_matrix_free(system->covariance);
    gsl_vector_free(system->weights);
    gsl_vector_free(system->residuals);
    gsl_vector_free(system->magnitudes);
    if (system->workspace != NULL) {
        gsl_multifit_linear_free(system->workspace);
    }
}

static enum fulcrum_status system_new(
    struct system *out, size_t count, size_t unknowns, struct fulcrum_error *err)
{
    struct system system = {.rows = gsl_matrix_alloc(count, unknowns),
        .time_s = gsl_vector_alloc(count),
        .solution = gsl_vector_alloc(unknowns),
        .covariance = gsl_matrix_alloc(unknowns, unknowns),
        .weights = gsl_vector_alloc(count),
        .residuals = gsl_vector_alloc(count),
        .magnitudes = gsl_vector_alloc(count),
        .workspace = gsl_multifit_linear_alloc(count, unknowns)};
    *out = system;
    if (system.rows == NULL || system.time_s == NULL || system.solution == NULL ||
        system.covariance == NULL || system.weights == NULL ||
        system.residuals == NULL || system.magnitudes == NULL ||
        system.workspace == NULL) {
        system_free(&system);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%zu runs", count);
    }
    return FULCRUM_OK;
}

static void system_fill(const struct system *system, const struct design *design,
    const struct fulcrum_recorder_run *runs, size_t count)
{
    size_t column = 0;
    for (size_t i = 0; i < count; i++) {
        gsl_vector_set(system->time_s, i, runs[i].time_s);
    }
    for (size_t k = 0; k < COLUMNS; k++) {
        for (size_t i = 0; i < count && design->scale[k] > 0.0; i++) {
            gsl_matrix_set(
                system->rows, i, column, entry(&runs[i], k) / design->scale[k]);
        }
        column += design->scale[k] > 0.0 ? 1 : 0;
    }
}

static double weight_of(double residual_sd, size_t turn)
{
    if (turn < ABSOLUTE_TURNS) {
        return 1.0 / fmax(fabs(residual_sd), ABSOLUTE_FLOOR_SD);
    }
    double v = 1.0 - pow(residual_sd / BISQUARE_SD, 2.0);
    return v > 0.0 ? v * v : 0.0;
}

/*
 * Weights from the residuals of this turn. Returns 0 where most of them are 0: runs
 * that agree up to rounding need no weights.
 */
static int reweigh(const struct system *system, size_t turn)
{
    size_t count = system->residuals->size;
    for (size_t i = 0; i < count; i++) {
        gsl_vector_set(
            system->magnitudes, i, fabs(gsl_vector_get(system->residuals, i)));
    }
    gsl_sort(system->magnitudes->data, 1, count);
    double sd_s =
        SD_OVER_MAD * fulcrum_statistics_quantile(system->magnitudes->data, count, 0.5);
    for (size_t i = 0; i < count && sd_s > 0.0; i++) {
        gsl_vector_set(system->weights, i,
            weight_of(gsl_vector_get(system->residuals, i) / sd_s, turn));
    }
    return sd_s > 0.0;
}

/* Least squares by turns. Covariances are those of the last weights. */
static enum fulcrum_status solve(
    const struct system *system, size_t unknowns, struct fulcrum_error *err)
{
    double squares = 0.0;
    int goes_on = 1;
    gsl_vector_set_all(system->weights, 1.0);
    for (size_t turn = 0; turn < TURNS && goes_on; turn++) {
        size_t rank = 0;
        (void)gsl_multifit_wlinear_tsvd(system->rows, system->weights, system->time_s,
            RANK_TOLERANCE, system->solution, system->covariance, &squares, &rank,
            system->workspace);
        FAIL_IF(rank < unknowns, err, FULCRUM_ERR_NO_FIT,
            "runs do not tell %zu costs apart: expected counts of events that vary "
            "each for itself",
            unknowns);
        (void)gsl_multifit_linear_residuals(
            system->rows, system->time_s, system->solution, system->residuals);
        goes_on = turn + 1 < TURNS && reweigh(system, turn);
    }
    double freedom = -(double)unknowns;
    for (size_t i = 0; i < system->weights->size; i++) {
        freedom += gsl_vector_get(system->weights, i);
    }
    (void)gsl_matrix_scale(
        system->covariance, freedom > 0.0 ? squares / freedom : (double)INFINITY);
    return FULCRUM_OK;
}

static struct fulcrum_recorder_regression read_solution(
    const struct system *system, const struct design *design)
{
    struct fulcrum_recorder_regression out = {.work_s = FULCRUM_UNKNOWN};
    size_t column = 0;
    for (size_t k = 0; k < COLUMNS; k++) {
        double *value_s = k == WORK ? &out.work_s : &out.event_s[k];
        double *se_s = k == WORK ? &out.work_se_s : &out.event_se_s[k];
        *value_s = *se_s = FULCRUM_UNKNOWN;
        if (design->scale[k] > 0.0) {
            double variance = gsl_matrix_get(system->covariance, column, column);
            *value_s = gsl_vector_get(system->solution, column) / design->scale[k];
            *se_s = sqrt(fmax(0.0, variance)) / design->scale[k];
            column++;
        }
    }
    return out;
}

enum fulcrum_status fulcrum_recorder_cost_regress(
    struct fulcrum_recorder_regression *out, const struct fulcrum_recorder_run *runs,
    size_t count, struct fulcrum_error *err)
{
    struct design design;
    struct system system;
    enum fulcrum_status status = find_design(&design, runs, count, err);
    if (status == FULCRUM_OK) {
        status = system_new(&system, count, design.unknown_count, err);
    }
    if (status != FULCRUM_OK) {
        return status;
    }
    system_fill(&system, &design, runs, count);
    status = solve(&system, design.unknown_count, err);
    if (status == FULCRUM_OK) {
        *out = read_solution(&system, &design);
    }
    system_free(&system);
    return status;
}

/* Blocks short enough that most of them run undisturbed. */
enum { BLOCKS = 61, BLOCK_EVENTS = 500 };

/* Of each block, per event. */
struct blocks {
    double pair_s[BLOCKS];
    double pair_inside_s[BLOCKS];
    double chained_s[BLOCKS];
};

static double exclusive_s(
    const struct fulcrum_recorder *recorder, enum fulcrum_stage_kind kind)
{
    return fulcrum_recorder_read(recorder, 0)
        .totals[FULCRUM_STAGE_CPU][kind]
        .exclusive_s;
}

static void run_block(
    struct fulcrum_recorder *recorder, struct blocks *blocks, size_t i)
{
    double before_s = exclusive_s(recorder, FULCRUM_STAGE_SIMULATION);
    double begin_s = fulcrum_wall_s();
    for (size_t k = 0; k < BLOCK_EVENTS; k++) {
        fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_SIMULATION);
        fulcrum_recorder_end(recorder, 0);
    }
    blocks->pair_s[i] = (fulcrum_wall_s() - begin_s) / BLOCK_EVENTS;
    double inside_s = exclusive_s(recorder, FULCRUM_STAGE_SIMULATION) - before_s;
    blocks->pair_inside_s[i] = inside_s / BLOCK_EVENTS;
    fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_HANDOFF);
    begin_s = fulcrum_wall_s();
    for (size_t k = 0; k < BLOCK_EVENTS; k++) {
        fulcrum_recorder_next(recorder, 0, FULCRUM_STAGE_HANDOFF);
    }
    blocks->chained_s[i] = (fulcrum_wall_s() - begin_s) / BLOCK_EVENTS;
    fulcrum_recorder_end(recorder, 0);
}

static double median(double *values, size_t count)
{
    gsl_sort(values, 1, count);
    return fulcrum_statistics_quantile(values, count, 0.5);
}

enum fulcrum_status fulcrum_recorder_cost_measure(
    struct fulcrum_recorder_cost *out, struct fulcrum_error *err)
{
    /* Every event finds room: the way of those that find none is shorter. */
    const struct fulcrum_recorder_options options = {
        .track_count = 1, .event_capacity = (size_t)BLOCKS * (2 * BLOCK_EVENTS + 1)};
    struct fulcrum_recorder *recorder = NULL;
    TRY(fulcrum_recorder_new(&recorder, &options, err));
    struct blocks blocks;
    fulcrum_recorder_start(recorder);
    for (size_t i = 0; i < BLOCKS; i++) {
        run_block(recorder, &blocks, i);
    }
    fulcrum_recorder_free(recorder);
    out->pair_inside_s = median(blocks.pair_inside_s, BLOCKS);
    out->pair_outside_s = fmax(0.0, median(blocks.pair_s, BLOCKS) - out->pair_inside_s);
    out->chained_s = median(blocks.chained_s, BLOCKS);
    return FULCRUM_OK;
}

struct fulcrum_recorder_cost fulcrum_recorder_cost_scaled(
    const struct fulcrum_recorder_cost *cost, double factor)
{
    return (struct fulcrum_recorder_cost){factor * cost->pair_inside_s,
        factor * cost->pair_outside_s, factor * cost->chained_s};
}

struct fulcrum_recorder_correction fulcrum_recorder_correct(
    const struct fulcrum_recorder_track *track,
    const struct fulcrum_recorder_cost *cost)
{
    struct fulcrum_recorder_correction correction = {.total_s = 0.0};
    for (size_t k = 0; k < FULCRUM_STAGE_KIND_COUNT; k++) {
        const struct fulcrum_recorder_total *total =
            &track->totals[FULCRUM_STAGE_CPU][k];
        double inside_s = 0.5 * (total->paired_end_count * cost->pair_inside_s +
                                    total->chained_end_count * cost->chained_s);
        double recording_s = inside_s + total->child_count * cost->pair_outside_s;
        correction.recording_s[k] = fmin(recording_s, total->exclusive_s);
        correction.exclusive_s[k] = total->exclusive_s - correction.recording_s[k];
        correction.outside_s += 0.5 * total->paired_end_count * cost->pair_outside_s;
        correction.outside_s -= total->child_count * cost->pair_outside_s;
        correction.total_s += correction.recording_s[k];
    }
    correction.outside_s = fmax(0.0, correction.outside_s);
    correction.total_s += correction.outside_s;
    return correction;
}

enum fulcrum_status fulcrum_recorder_cost_of_pairs(struct fulcrum_recorder_pairs *out,
    const double *with_per_s, const double *without_per_s, size_t count,
    struct fulcrum_error *err)
{
    FAIL_IF(count < 2, err, FULCRUM_ERR_RANGE, "%zu pairs of runs: expected 2 or more",
        count);
    double *cost_frac = calloc(count, sizeof *cost_frac);
    TRY_MEMORY(cost_frac, err, "%zu pairs of runs", count);
    for (size_t i = 0; i < count; i++) {
        if (!(with_per_s[i] > 0.0 && without_per_s[i] > 0.0)) {
            free(cost_frac);
            return fulcrum_fail(err, FULCRUM_ERR_RANGE,
                "pair %zu has rates %g and %g: expected more than 0", i + 1,
                with_per_s[i], without_per_s[i]);
        }
        cost_frac[i] = without_per_s[i] / with_per_s[i] - 1.0;
    }
    double root = sqrt((double)count);
    out->pair_count = count;
    out->mean_frac = gsl_stats_mean(cost_frac, 1, count);
    out->sd_frac = gsl_stats_sd_m(cost_frac, 1, count, out->mean_frac);
    out->upper_frac = out->mean_frac + gsl_cdf_tdist_Pinv(0.95, (double)(count - 1)) *
                                           out->sd_frac / root;
    out->median_frac = median(cost_frac, count);
    free(cost_frac);
    return FULCRUM_OK;
}

/* A recording as a trace file. */

struct spans {
    struct fulcrum_trace_span *items; /* owned */
};

/* Two for each track: its thread's, then its device's. */
struct lanes {
    size_t track_count;
    struct fulcrum_recorder_track *tracks; /* owned, as is all below */
    struct spans *spans;
    struct fulcrum_trace_lane *lanes; /* those with a place in the trace */
    size_t count;
};

static void lanes_free(struct lanes *lanes)
{
    for (size_t i = 0; lanes->spans != NULL && i < 2 * lanes->track_count; i++) {
        free(lanes->spans[i].items);
    }
    free(lanes->spans);
    free(lanes->tracks);
    free(lanes->lanes);
}

static enum fulcrum_status lanes_new(struct lanes *out,
    const struct fulcrum_recorder *recorder, struct fulcrum_error *err)
{
    size_t count = fulcrum_recorder_track_count(recorder);
    struct lanes lanes = {.track_count = count,
        .tracks = calloc(count + 1, sizeof *lanes.tracks),
        .spans = calloc(2 * count + 1, sizeof *lanes.spans),
        .lanes = calloc(2 * count + 1, sizeof *lanes.lanes)};
    if (lanes.tracks == NULL || lanes.spans == NULL || lanes.lanes == NULL) {
        lanes_free(&lanes);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a trace of %zu tracks", count);
    }
    for (size_t i = 0; i < count; i++) {
        lanes.tracks[i] = fulcrum_recorder_read(recorder, i);
    }
    *out = lanes;
    return FULCRUM_OK;
}

/* By begin; of two that begin together the longer one is the outer one. */
static int compare(const void *left, const void *right)
{
    const struct fulcrum_trace_span *a = left;
    const struct fulcrum_trace_span *b = right;
    if (a->begin_s < b->begin_s || a->begin_s > b->begin_s) {
        return a->begin_s < b->begin_s ? -1 : 1;
    }
    return (a->end_s < b->end_s) - (a->end_s > b->end_s);
}

/* Stages as they were recorded, within each other. */
static size_t thread_spans(
    struct fulcrum_trace_span *out, const struct fulcrum_recorder_track *track)
{
    size_t count = 0;
    for (size_t i = 0; i < track->event_count; i++) {
        const struct fulcrum_recorder_event *event = &track->events[i];
        if (event->resource == FULCRUM_STAGE_CPU) {
            out[count++] = (struct fulcrum_trace_span){event->begin_s, event->end_s,
                fulcrum_stage_kind_name((enum fulcrum_stage_kind)event->kind)};
        }
    }
    qsort(out, count, sizeof *out, compare);
    return count;
}

/* One after the other: viewers show no spans that overlap without nesting. */
static enum fulcrum_status device_spans(struct fulcrum_trace_span *out, size_t *count,
    const struct fulcrum_recorder_track *track, struct fulcrum_error *err)
{
    struct fulcrum_stage_lane lane = {.count = 0};
    enum fulcrum_status status =
        fulcrum_stage_lane_new(&lane, track, FULCRUM_STAGE_GPU, err);
    for (size_t i = 0; i < lane.count; i++) {
        const struct fulcrum_stage_segment *segment = &lane.segments[i];
        out[i] = (struct fulcrum_trace_span){
            segment->begin_s, segment->end_s, fulcrum_stage_kind_name(segment->kind)};
    }
    *count = lane.count;
    fulcrum_stage_lane_free(&lane);
    return status;
}

/* The `i`-th of all; one of a device without spans has no place. */
static enum fulcrum_status fill(
    struct lanes *lanes, size_t i, struct fulcrum_error *err)
{
    const struct fulcrum_recorder_track *track = &lanes->tracks[i % lanes->track_count];
    struct fulcrum_trace_span *spans = calloc(track->event_count + 1, sizeof *spans);
    lanes->spans[i].items = spans;
    TRY_MEMORY(spans, err, "a trace of %zu events", track->event_count);
    size_t count = 0;
    enum fulcrum_status status = FULCRUM_OK;
    bool is_device = i >= lanes->track_count;
    if (is_device) {
        status = device_spans(spans, &count, track, err);
    } else {
        count = thread_spans(spans, track);
    }
    if (is_device ? count > 0 : track->is_used) {
        lanes->lanes[lanes->count++] = (struct fulcrum_trace_lane){.name = track->name,
            .process = is_device ? FULCRUM_STAGE_GPU : FULCRUM_STAGE_CPU,
            .spans = spans,
            .count = count};
    }
    return status;
}

enum fulcrum_status fulcrum_recorder_save_trace(const struct fulcrum_recorder *recorder,
    const char *path, size_t span_max, struct fulcrum_trace_saved *saved,
    struct fulcrum_error *err)
{
    static const char *const processes[] = {"CPU threads", "GPU"};
    struct lanes lanes = {.count = 0};
    enum fulcrum_status status = lanes_new(&lanes, recorder, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    for (size_t i = 0; i < 2 * lanes.track_count && status == FULCRUM_OK; i++) {
        status = fill(&lanes, i, err);
    }
    if (status == FULCRUM_OK) {
        const struct fulcrum_trace trace = {.processes = processes,
            .process_count = lanes.count > lanes.track_count ? 2 : 1,
            .lanes = lanes.lanes,
            .lane_count = lanes.count,
            .span_max = span_max};
        status = fulcrum_trace_save(path, &trace, saved, err);
    }
    lanes_free(&lanes);
    return status;
}
