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

/* The best at one value of an axis. */
struct end {
    size_t place; /* of the value */
    double value; /* 0: none yet */
};

/* Of the first and the last value of an axis at which anything can run. */
struct ends {
    struct end first;
    struct end last;
};

struct fulcrum_sweep_best {
    const struct fulcrum_sweep_plan *plan;
    size_t draw_count;
    struct champion *champions; /* draw_count x FULCRUM_SWEEP_METRICS */
    struct ends *ends;          /* the same x axis_count */
    double *column;             /* draw_count, to be sorted */
};

enum fulcrum_status fulcrum_sweep_best_new(const struct fulcrum_sweep_plan *plan,
    struct fulcrum_sweep_best **out, struct fulcrum_error *err)
{
    struct fulcrum_sweep_best *best = calloc(1, sizeof *best);
    if (best != NULL) {
        best->plan = plan;
        best->draw_count = (size_t)plan->predict.draws;
        size_t count = best->draw_count * FULCRUM_SWEEP_METRICS;
        best->champions = calloc(count, sizeof *best->champions);
        best->ends = calloc(count * plan->axis_count + 1, sizeof *best->ends);
        best->column = calloc(best->draw_count, sizeof *best->column);
    }
    if (best == NULL || best->champions == NULL || best->ends == NULL ||
        best->column == NULL) {
        fulcrum_sweep_best_free(best);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "the best of each draw");
    }
    *out = best;
    return FULCRUM_OK;
}

void fulcrum_sweep_best_free(struct fulcrum_sweep_best *best)
{
    if (best != NULL) {
        free(best->champions);
        free(best->ends);
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

static void raise_first(struct end *first, const struct end *other)
{
    int is_new = !(first->value > 0.0) || other->place < first->place;
    if (is_new || (other->place == first->place && other->value > first->value)) {
        *first = *other;
    }
}

static void raise_last(struct end *last, const struct end *other)
{
    int is_new = !(last->value > 0.0) || other->place > last->place;
    if (is_new || (other->place == last->place && other->value > last->value)) {
        *last = *other;
    }
}

static void raise_ends(const struct fulcrum_sweep_plan *plan,
    const struct champion *point, struct ends *ends)
{
    for (size_t i = 0; i < plan->axis_count; i++) {
        const struct end end = {place_along(plan, point->index, i), point->value};
        raise_first(&ends[i].first, &end);
        raise_last(&ends[i].last, &end);
    }
}

/* Draw k of a point, which may be the best so far of each metric. */
static void add_draw(struct fulcrum_sweep_best *best, size_t k, size_t index,
    const double values[FULCRUM_OUTPUT_COUNT])
{
    for (size_t j = 0; j < FULCRUM_SWEEP_METRICS; j++) {
        size_t at = k * FULCRUM_SWEEP_METRICS + j;
        const struct champion point = {
            values[metrics[j]], values[FULCRUM_OUTPUT_cpu_gpu_ratio_used], index};
        if (point.value > 0.0) {
            challenge(&best->champions[at], &point);
            raise_ends(best->plan, &point, best->ends + at * best->plan->axis_count);
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
    size_t count = best->draw_count * FULCRUM_SWEEP_METRICS;
    for (size_t i = 0; i < count; i++) {
        if (other->champions[i].value > 0.0) {
            challenge(&best->champions[i], &other->champions[i]);
        }
    }
    for (size_t i = 0; i < count * best->plan->axis_count; i++) {
        if (other->ends[i].first.value > 0.0) {
            raise_first(&best->ends[i].first, &other->ends[i].first);
            raise_last(&best->ends[i].last, &other->ends[i].last);
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

struct fulcrum_best_along fulcrum_sweep_best_along(
    const struct fulcrum_sweep_best *best, size_t metric, size_t axis)
{
    size_t first = 0;
    size_t last = 0;
    for (size_t k = 0; k < best->draw_count; k++) {
        double near = FULCRUM_PLATEAU_FRAC * champion_of(best, metric, k)->value;
        const struct ends *ends =
            &best->ends[(k * FULCRUM_SWEEP_METRICS + metric) * best->plan->axis_count +
                        axis];
        first += near > 0.0 && ends->first.value >= near;
        last += near > 0.0 && ends->last.value >= near;
    }
    size_t count = collect(best, metric, AXIS, axis);
    double draws = count > 1 ? (double)count : FULCRUM_UNKNOWN;
    return (struct fulcrum_best_along){
        .at = fulcrum_interval_among(best->column, count),
        .first_near_frac = (double)first / draws,
        .last_near_frac = (double)last / draws};
}
