/* sweep_finding.c - what a sweep found: the best points and how sure. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model/number.h"
#include "model/study/sweep.h"
#include "model/try.h"

/* The best point of a metric, as far as it is told of. */
struct best {
    double value; /* 0: no point has the metric */
    double cpu_gpu_ratio;
    double actor_count;
    double varied[FULCRUM_SWEEP_AXES_MOST];
};

struct fulcrum_sweep_finding {
    const struct fulcrum_sweep_plan *plan;
    struct best best[FULCRUM_SWEEP_METRICS];
    struct fulcrum_sweep_best *profile;
    size_t simulated; /* points */
};

enum fulcrum_status fulcrum_sweep_finding_new(const struct fulcrum_sweep_plan *plan,
    struct fulcrum_sweep_finding **out, struct fulcrum_error *err)
{
    struct fulcrum_sweep_finding *finding = calloc(1, sizeof *finding);
    TRY_MEMORY(finding, err, "what a sweep finds");
    finding->plan = plan;
    enum fulcrum_status status =
        fulcrum_sweep_profile_new(plan, &finding->profile, err);
    if (status != FULCRUM_OK) {
        free(finding);
        return status;
    }
    *out = finding;
    return FULCRUM_OK;
}

void fulcrum_sweep_finding_free(struct fulcrum_sweep_finding *finding)
{
    if (finding != NULL) {
        fulcrum_sweep_best_free(finding->profile);
    }
    free(finding);
}

void fulcrum_sweep_finding_add(struct fulcrum_sweep_finding *finding,
    const struct fulcrum_sweep_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_prediction *prediction = &points[i].prediction;
        if (points[i].status != FULCRUM_OK) {
            continue;
        }
        for (size_t j = 0; j < FULCRUM_SWEEP_METRICS; j++) {
            struct best *best = &finding->best[j];
            double value = prediction->value[fulcrum_sweep_metric(j)];
            if (value > best->value) {
                best->value = value;
                best->cpu_gpu_ratio =
                    prediction->value[FULCRUM_OUTPUT_cpu_gpu_ratio_used];
                best->actor_count = prediction->actor_count;
                memcpy(best->varied, points[i].varied, sizeof best->varied);
            }
        }
        fulcrum_sweep_best_add(finding->profile, points[i].index, prediction->value, 1);
        finding->simulated += prediction->method == FULCRUM_METHOD_SIMULATE ? 1 : 0;
    }
}

/*
 * Where each metric is best along each axis, and how sure that is. A best point always
 * exists, even of a metric that rises all along and is within a promille of its best
 * from the middle on. So beside the best stands the plateau, the values within 5 % of
 * it: a plateau that reaches an end of the sweep is called one, and only what falls on
 * both sides is called an optimum.
 *
 * The interval is of the best point over the draws of the calibration, not of the
 * metric at that point.
 */

/* Words for metrics, in the order of fulcrum_sweep_metric. */
static const char *const metric_words[FULCRUM_SWEEP_METRICS] = {
    "throughput", "performance per GPU watt", "performance per system watt"};

/* What a metric does along an axis. */
enum shape { OPTIMUM, RISES, FALLS, PLATEAU_TO_LAST, PLATEAU_FROM_FIRST, FLAT };

static const char *const shape_names[] = {
    "optimum", "rises", "falls", "plateau-to-last", "plateau-from-first", "flat"};

/* Values at which nothing can run are no part of the sweep here. */
static enum shape shape_of(const struct fulcrum_plateau *plateau)
{
    int at_first = plateau->first == plateau->first_run;
    int at_last = plateau->last == plateau->last_run;
    if (at_first && at_last) {
        return FLAT;
    }
    if (at_last) {
        return plateau->count > 1 ? PLATEAU_TO_LAST : RISES;
    }
    if (at_first) {
        return plateau->count > 1 ? PLATEAU_FROM_FIRST : FALLS;
    }
    return OPTIMUM;
}

/* Ratios of an interval's ends, where no other field moves them. */
static struct fulcrum_interval ratios_at(const struct fulcrum_sweep_finding *finding,
    size_t metric, size_t axis, const struct fulcrum_interval *at)
{
    const struct fulcrum_sweep_axis *along = &finding->plan->axes[axis];
    struct fulcrum_interval ratios = {
        FULCRUM_UNKNOWN, FULCRUM_UNKNOWN, FULCRUM_UNKNOWN};
    bool has_ends = !isnan(at->lo) && finding->plan->axis_count == 1;
    for (size_t i = 0; has_ends && i < along->count; i++) {
        double ratio = fulcrum_sweep_profile_ratio(finding->profile, metric, axis, i);
        ratios.lo = along->values[i] <= at->lo ? ratio : ratios.lo;
        ratios.median = along->values[i] <= at->median ? ratio : ratios.median;
        ratios.hi = along->values[i] <= at->hi ? ratio : ratios.hi;
    }
    return ratios;
}

/* The median of the draws with their interval; without draws what the points say. */
static void add_estimate(struct fulcrum_table *table, const char *key,
    const char *title, double without, const struct fulcrum_interval *draws)
{
    fulcrum_table_estimate(table, key, title,
        isnan(draws->median) ? without : draws->median, draws->lo, draws->hi);
}

/* One metric along one axis, of which only the best is known where it is too long. */
static void add_optimum(const struct fulcrum_sweep_finding *finding, size_t metric,
    size_t axis, struct fulcrum_table *table)
{
    const struct fulcrum_sweep_axis *along = &finding->plan->axes[axis];
    const struct best *best = &finding->best[metric];
    const struct fulcrum_best_along draws =
        fulcrum_sweep_best_along(finding->plan->best, metric, axis);
    struct fulcrum_plateau plateau = {.count = 0};
    bool has_plateau =
        fulcrum_sweep_profile_plateau(finding->profile, metric, axis, &plateau);
    const struct {
        const char *keys[2];
        const char *title;
        size_t at;
        const struct fulcrum_interval *ends;
    } limits[] = {
        {{"plateau_first", "plateau_first_ratio"}, "within 5 % from", plateau.first,
            &draws.plateau_first},
        {{"plateau_last", "plateau_last_ratio"}, "to", plateau.last,
            &draws.plateau_last},
    };
    fulcrum_table_row(table);
    fulcrum_table_text(
        table, "output", NULL, fulcrum_output_name(fulcrum_sweep_metric(metric)));
    fulcrum_table_text(table, "metric", "best of", metric_words[metric]);
    fulcrum_table_text(table, "path", "over", along->field->path);
    add_estimate(table, "value", "best", best->value, &draws.value);
    add_estimate(table, "best", "at", best->varied[axis], &draws.at);
    add_estimate(
        table, "best_ratio", "CPU/GPU ratio", best->cpu_gpu_ratio, &draws.ratio);
    fulcrum_table_number(table, "actor_count", "actors", best->actor_count);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        const struct fulcrum_interval ratios =
            ratios_at(finding, metric, axis, limits[i].ends);
        add_estimate(table, limits[i].keys[0], limits[i].title,
            has_plateau ? along->values[limits[i].at] : FULCRUM_UNKNOWN,
            limits[i].ends);
        add_estimate(table, limits[i].keys[1], NULL,
            has_plateau ? fulcrum_sweep_profile_ratio(
                              finding->profile, metric, axis, limits[i].at)
                        : FULCRUM_UNKNOWN,
            &ratios);
    }
    fulcrum_table_text(
        table, "shape", "shape", has_plateau ? shape_names[shape_of(&plateau)] : NULL);
    fulcrum_table_number(table, "plateau_value_count", NULL,
        has_plateau ? (double)plateau.count : FULCRUM_UNKNOWN);
    fulcrum_table_number(table, "draws", NULL, (double)draws.draw_count);
    fulcrum_table_number(table, "first_near_frac", NULL, draws.first_near_frac);
    fulcrum_table_number(table, "last_near_frac", NULL, draws.last_near_frac);
}

void fulcrum_sweep_finding_tell(
    const struct fulcrum_sweep_finding *finding, struct fulcrum_result *result)
{
    const struct fulcrum_sweep_plan *plan = finding->plan;
    struct fulcrum_table *table = fulcrum_result_table(result, "optima", "");
    for (size_t i = 0; i < FULCRUM_SWEEP_METRICS * plan->axis_count; i++) {
        size_t metric = i / plan->axis_count;
        size_t axis = i % plan->axis_count;
        if (plan->axes[axis].count > 1 && finding->best[metric].value > 0.0) {
            add_optimum(finding, metric, axis, table);
        }
    }
    if (plan->axis_count == 1) {
        fulcrum_table_hide(table, "path");
    }
    if (plan->best != NULL && finding->simulated > 0) {
        fulcrum_result_note(result, "notes",
            "simulated points are noisy: of those that are close together the noise "
            "picks the best; --method fast is smooth");
    }
}
