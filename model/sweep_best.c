/* sweep_best.c - the best point of each draw. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A draw is one world at every point of the sweep, so the point that is best in it is a
 * draw of the best point, and the interval of the best is that of these points. To take
 * the interval of every point for itself would answer another question: worlds in which
 * everything is fast would be compared with worlds in which everything is slow.
 *
 * Each thread keeps the best of what it has seen. They are joined by value, then by the
 * lower index, so that neither their number nor their order shows.
 */
#include "model/sweep_best.h"

#include <math.h>
#include <stdlib.h>

#include "model/quantity.h"

static const enum fulcrum_predicted metrics[FULCRUM_SWEEP_METRICS] = {
    FULCRUM_OUTPUT_steps_per_s, FULCRUM_OUTPUT_steps_per_j_gpu,
    FULCRUM_OUTPUT_steps_per_j_system};

enum fulcrum_predicted fulcrum_sweep_metric(size_t metric)
{
    return metrics[metric];
}

/* The best point of one metric in one draw. */
struct champion {
    double value; /* 0: none yet */
    double ratio; /* cpu_gpu_ratio_used */
    size_t index;
};

struct fulcrum_sweep_best {
    const struct fulcrum_sweep_plan *plan;
    size_t draw_count;
    struct champion *champions; /* draw_count x FULCRUM_SWEEP_METRICS */
    /* The same x values of an axis, 0: none yet; NULL where that is too much. */
    double *peaks[FULCRUM_SWEEP_AXES_MOST];
    double *column; /* draw_count, to be sorted */
};

/* Most numbers that are kept along one axis: 32 MB. */
enum { PEAKS_MOST = 4194304 };

/* Of all draws along an axis; 0: too many to be kept. */
static size_t peak_count(const struct fulcrum_sweep_best *best, size_t axis)
{
    size_t each = best->plan->axes[axis].count * FULCRUM_SWEEP_METRICS;
    return best->draw_count <= PEAKS_MOST / each ? best->draw_count * each : 0;
}

static enum fulcrum_status fill(struct fulcrum_sweep_best *best)
{
    size_t count = best->draw_count * FULCRUM_SWEEP_METRICS;
    best->champions = calloc(count, sizeof *best->champions);
    best->column = calloc(best->draw_count, sizeof *best->column);
    int is_there = best->champions != NULL && best->column != NULL;
    for (size_t i = 0; is_there && i < best->plan->axis_count; i++) {
        size_t peaks = peak_count(best, i);
        best->peaks[i] = peaks > 0 ? calloc(peaks, sizeof *best->peaks[i]) : NULL;
        is_there = peaks == 0 || best->peaks[i] != NULL;
    }
    return is_there ? FULCRUM_OK : FULCRUM_ERR_NO_MEMORY;
}

enum fulcrum_status fulcrum_sweep_best_new(const struct fulcrum_sweep_plan *plan,
    struct fulcrum_sweep_best **out, struct fulcrum_error *err)
{
    struct fulcrum_sweep_best *best = calloc(1, sizeof *best);
    if (best != NULL) {
        best->plan = plan;
        best->draw_count = (size_t)plan->predict.draws;
    }
    if (best == NULL || fill(best) != FULCRUM_OK) {
        fulcrum_sweep_best_free(best);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "the best of each draw");
    }
    *out = best;
    return FULCRUM_OK;
}

void fulcrum_sweep_best_free(struct fulcrum_sweep_best *best)
{
    if (best != NULL) {
        for (size_t i = 0; i < FULCRUM_SWEEP_AXES_MOST; i++) {
            free(best->peaks[i]);
        }
        free(best->champions);
        free(best->column);
        free(best);
    }
}

/* The place of a point along an axis. */
static size_t place_along(
    const struct fulcrum_sweep_plan *plan, size_t index, size_t axis)
{
    for (size_t i = plan->axis_count - 1; i > axis; i--) {
        index /= plan->axes[i].count;
    }
    return index % plan->axes[axis].count;
}

static void challenge(struct champion *champion, const struct champion *other)
{
    int is_tie = !(other->value < champion->value) && !(other->value > champion->value);
    if (other->value > champion->value || (is_tie && other->index < champion->index)) {
        *champion = *other;
    }
}

/* The best at each value of an axis, of one metric in one draw. */
static double *peaks_of(
    const struct fulcrum_sweep_best *best, size_t axis, size_t draw, size_t metric)
{
    size_t row = draw * FULCRUM_SWEEP_METRICS + metric;
    return best->peaks[axis] + row * best->plan->axes[axis].count;
}

static void raise_peaks(struct fulcrum_sweep_best *best, size_t draw, size_t metric,
    const struct champion *point)
{
    for (size_t i = 0; i < best->plan->axis_count; i++) {
        if (best->peaks[i] != NULL) {
            double *peak = peaks_of(best, i, draw, metric) +
                           place_along(best->plan, point->index, i);
            *peak = fmax(*peak, point->value);
        }
    }
}

/* Draw k of a point, which may be the best so far of each metric. */
static void add_draw(struct fulcrum_sweep_best *best, size_t k, size_t index,
    const double values[FULCRUM_OUTPUT_COUNT])
{
    for (size_t j = 0; j < FULCRUM_SWEEP_METRICS; j++) {
        const struct champion point = {
            values[metrics[j]], values[FULCRUM_OUTPUT_cpu_gpu_ratio_used], index};
        if (point.value > 0.0) {
            challenge(&best->champions[k * FULCRUM_SWEEP_METRICS + j], &point);
            raise_peaks(best, k, j, &point);
        }
    }
}

void fulcrum_sweep_best_add(struct fulcrum_sweep_best *best, size_t index,
    const double *draws, size_t draw_count)
{
    for (size_t k = 0; k < draw_count && k < best->draw_count; k++) {
        add_draw(best, k, index, draws + k * FULCRUM_OUTPUT_COUNT);
    }
}

void fulcrum_sweep_best_merge(
    struct fulcrum_sweep_best *best, const struct fulcrum_sweep_best *other)
{
    for (size_t i = 0; i < best->draw_count * FULCRUM_SWEEP_METRICS; i++) {
        if (other->champions[i].value > 0.0) {
            challenge(&best->champions[i], &other->champions[i]);
        }
    }
    for (size_t i = 0; i < best->plan->axis_count; i++) {
        size_t count = best->peaks[i] != NULL ? peak_count(best, i) : 0;
        for (size_t j = 0; j < count; j++) {
            best->peaks[i][j] = fmax(best->peaks[i][j], other->peaks[i][j]);
        }
    }
}

static const struct champion *champion_of(
    const struct fulcrum_sweep_best *best, size_t metric, size_t draw)
{
    return &best->champions[draw * FULCRUM_SWEEP_METRICS + metric];
}

/* What an interval is taken of. */
enum member { VALUE, RATIO, AXIS };

/* Into the column, of the draws that ran; returns how many those are. */
static size_t collect(
    const struct fulcrum_sweep_best *best, size_t metric, enum member what, size_t axis)
{
    const struct fulcrum_sweep_plan *plan = best->plan;
    size_t count = 0;
    for (size_t k = 0; k < best->draw_count; k++) {
        const struct champion *champion = champion_of(best, metric, k);
        if (champion->value > 0.0 && what == AXIS) {
            best->column[count++] =
                plan->axes[axis].values[place_along(plan, champion->index, axis)];
        } else if (champion->value > 0.0) {
            best->column[count++] = what == VALUE ? champion->value : champion->ratio;
        }
    }
    return count;
}

struct fulcrum_best_spread fulcrum_sweep_best_spread(
    const struct fulcrum_sweep_best *best, size_t metric)
{
    struct fulcrum_best_spread spread;
    spread.draw_count = collect(best, metric, VALUE, 0);
    spread.value = fulcrum_interval_of(best->column, spread.draw_count);
    spread.ratio =
        fulcrum_interval_among(best->column, collect(best, metric, RATIO, 0));
    return spread;
}

/* Places along an axis, of one metric in one draw. */
struct reach {
    size_t first_run; /* where anything can run */
    size_t last_run;
    size_t first_near; /* where it is on the plateau */
    size_t last_near;
};

static struct reach reach_of(const double *peaks, size_t count, double near)
{
    struct reach reach = {count, 0, count, 0};
    for (size_t i = 0; i < count; i++) {
        if (peaks[i] > 0.0) {
            reach.first_run = reach.first_run < count ? reach.first_run : i;
            reach.last_run = i;
        }
        if (peaks[i] >= near) {
            reach.first_near = reach.first_near < count ? reach.first_near : i;
            reach.last_near = i;
        }
    }
    return reach;
}

/* The plateaus of the draws; their last values go to `last`, as many as draws ran. */
static void add_plateaus(const struct fulcrum_sweep_best *best, size_t metric,
    size_t axis, double *last, struct fulcrum_best_along *out)
{
    const struct fulcrum_sweep_axis *along = &best->plan->axes[axis];
    size_t count = 0;
    size_t at_first = 0;
    size_t at_last = 0;
    for (size_t k = 0; k < best->draw_count; k++) {
        double near = FULCRUM_PLATEAU_FRAC * champion_of(best, metric, k)->value;
        if (near > 0.0) {
            struct reach reach =
                reach_of(peaks_of(best, axis, k, metric), along->count, near);
            at_first += reach.first_near == reach.first_run;
            at_last += reach.last_near == reach.last_run;
            best->column[count] = along->values[reach.first_near];
            last[count++] = along->values[reach.last_near];
        }
    }
    if (count > 1) {
        out->first_near_frac = (double)at_first / (double)count;
        out->last_near_frac = (double)at_last / (double)count;
    }
    out->plateau_first = fulcrum_interval_among(best->column, count);
    out->plateau_last = fulcrum_interval_among(last, count);
}

struct fulcrum_best_along fulcrum_sweep_best_along(
    const struct fulcrum_sweep_best *best, size_t metric, size_t axis)
{
    const struct fulcrum_interval unknown = {FULCRUM_UNKNOWN, FULCRUM_UNKNOWN};
    struct fulcrum_best_along along = {.plateau_first = unknown,
        .plateau_last = unknown,
        .first_near_frac = FULCRUM_UNKNOWN,
        .last_near_frac = FULCRUM_UNKNOWN};
    double *last =
        best->peaks[axis] != NULL ? calloc(best->draw_count, sizeof *last) : NULL;
    if (last != NULL) {
        add_plateaus(best, metric, axis, last, &along);
    }
    free(last);
    along.at = fulcrum_interval_among(best->column, collect(best, metric, AXIS, axis));
    return along;
}
