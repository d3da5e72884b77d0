/* sweep_finding.c - what a sweep found: the best points and how sure. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where throughput ends to grow is worth more than where its last promille is, so the
 * sentence names the first point within a few per cent of the best. Which one that is
 * shows at the end only. It is always among the points that beat every earlier one;
 * of those, the ones that are still near enough to the best are kept, and none that
 * beats the one before by next to nothing: a sweep that creeps up to its best would
 * otherwise be kept whole.
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model/quantity.h"
#include "model/string.h"
#include "model/study/sweep.h"
#include "model/try.h"

/* Records are this much apart: at most ln(1 / 0.95) / 1e-5 = 5130 on the plateau. */
#define RECORD_STEP_REL 1e-5
enum { RECORDS_MOST = 8192 };

/* What the sentence says of a point. */
struct record {
    double value;
    double cpu_gpu_ratio;
    double actor_count;
    double varied[FULCRUM_SWEEP_AXES_MOST];
};

struct track {
    enum fulcrum_predicted output;
    struct record best;
    size_t first; /* records before it have fallen behind */
    size_t end;
    struct record ring[RECORDS_MOST];
};

struct fulcrum_sweep_finding {
    const struct fulcrum_sweep_plan *plan;
    struct track tracks[FULCRUM_SWEEP_METRICS];
    struct fulcrum_sweep_best *profile; /* NULL: no optima are told */
    size_t simulated;                   /* points */
};

enum fulcrum_status fulcrum_sweep_finding_new(const struct fulcrum_sweep_plan *plan,
    bool wants_optima, struct fulcrum_sweep_finding **out, struct fulcrum_error *err)
{
    struct fulcrum_sweep_finding *finding = calloc(1, sizeof *finding);
    TRY_MEMORY(finding, err, "what a sweep finds");
    finding->plan = plan;
    for (size_t i = 0; i < FULCRUM_SWEEP_METRICS; i++) {
        finding->tracks[i].output = fulcrum_sweep_metric(i);
    }
    enum fulcrum_status status =
        wants_optima ? fulcrum_sweep_profile_new(plan, &finding->profile, err)
                     : FULCRUM_OK;
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

/* A whole point would be ten times as large. */
static struct record record_of(
    const struct fulcrum_sweep_point *point, enum fulcrum_predicted output)
{
    const struct fulcrum_prediction *prediction = &point->prediction;
    struct record record = {.value = prediction->value[output],
        .cpu_gpu_ratio = prediction->value[FULCRUM_OUTPUT_cpu_gpu_ratio_used],
        .actor_count = prediction->actor_count};
    memcpy(record.varied, point->varied, sizeof record.varied);
    return record;
}

static void follow(struct track *track, const struct fulcrum_sweep_point *point)
{
    double value = point->prediction.value[track->output];
    if (!(value > track->best.value)) {
        return;
    }
    track->best = record_of(point, track->output);
    while (track->first < track->end && track->ring[track->first % RECORDS_MOST].value <
                                            FULCRUM_PLATEAU_FRAC * value) {
        track->first++;
    }
    double last = track->first < track->end
                      ? track->ring[(track->end - 1) % RECORDS_MOST].value
                      : 0.0;
    if (value > last * (1.0 + RECORD_STEP_REL)) {
        track->ring[track->end++ % RECORDS_MOST] = track->best;
    }
}

void fulcrum_sweep_finding_add(struct fulcrum_sweep_finding *finding,
    const struct fulcrum_sweep_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (points[i].status != FULCRUM_OK) {
            continue;
        }
        for (size_t j = 0; j < FULCRUM_SWEEP_METRICS; j++) {
            follow(&finding->tracks[j], &points[i]);
        }
        if (finding->profile != NULL) {
            fulcrum_sweep_best_add(
                finding->profile, points[i].index, points[i].prediction.value, 1);
            finding->simulated +=
                points[i].prediction.method == FULCRUM_METHOD_SIMULATE ? 1 : 0;
        }
    }
}

/* "CPU/GPU ratio 1 (machine.cpu.thread_count = 640, 4096 actors)" */
static void describe_point(const struct fulcrum_sweep_plan *plan,
    const struct record *record, struct fulcrum_string *out)
{
    double ratio = record->cpu_gpu_ratio;
    if (!isnan(ratio)) {
        fulcrum_string_add(out, "CPU/GPU ratio %.3g (", ratio);
    }
    for (size_t i = 0; i < plan->axis_count; i++) {
        const char *path = plan->axes[i].field->path;
        if (strcmp(path, "run.actor_count") != 0) {
            fulcrum_string_add(out, "%s = %.6g, ", path, record->varied[i]);
        }
    }
    fulcrum_string_add(
        out, "%.6g actors%s", record->actor_count, isnan(ratio) ? "" : ")");
}

/* A fact for each metric: its best, and the first point near it. */
static void add_best(
    const struct fulcrum_sweep_finding *finding, struct fulcrum_result *result)
{
    static const struct {
        const char *key;
        const char *title;
        const char *unit;
        bool is_best; /* it has an optimum: the best point, else the first near it */
    } facts[FULCRUM_SWEEP_METRICS] = {
        {"finding/steps_per_s", "throughput", "steps/s", false},
        {"finding/steps_per_j_gpu", "per GPU watt", "steps/J", false},
        {"finding/steps_per_j_system", "per system watt", "steps/J", true},
    };
    for (size_t i = 0; i < FULCRUM_SWEEP_METRICS; i++) {
        const struct track *track = &finding->tracks[i];
        if (!(track->best.value > 0.0)) {
            continue;
        }
        struct fulcrum_string text = {.chars = NULL};
        const struct record *near = &track->ring[track->first % RECORDS_MOST];
        double best = track->best.value;
        fulcrum_string_add(&text, "best %.*f %s%s ",
            best >= 1e4     ? 0
            : best >= 100.0 ? 1
                            : 2,
            best, facts[i].unit, facts[i].is_best ? " at" : "; within 5 % from");
        describe_point(finding->plan, facts[i].is_best ? &track->best : near, &text);
        fulcrum_result_text(
            result, facts[i].key, facts[i].title, fulcrum_string_get(&text));
        fulcrum_string_clear(&text);
    }
}

/* Where each metric is best along each axis, and how sure that is. */

/*
 * A best point always exists, even of a metric that rises all along and is within a
 * promille of its best from the middle on. So beside the best stands the plateau, the
 * values within 5 % of it: a plateau that reaches an end of the sweep is called one,
 * and only what falls on both sides is called an optimum.
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
    struct fulcrum_interval ratios = {FULCRUM_UNKNOWN, FULCRUM_UNKNOWN};
    for (size_t i = 0; finding->plan->axis_count == 1 && i < along->count; i++) {
        double ratio = fulcrum_sweep_profile_ratio(finding->profile, metric, axis, i);
        ratios.lo = along->values[i] <= at->lo ? ratio : ratios.lo;
        ratios.hi = along->values[i] <= at->hi ? ratio : ratios.hi;
    }
    return ratios;
}

/* One metric along one axis; nothing where it has no best there. */
static void add_optimum(const struct fulcrum_sweep_finding *finding, size_t metric,
    size_t axis, struct fulcrum_table *table)
{
    const struct fulcrum_sweep_axis *along = &finding->plan->axes[axis];
    struct fulcrum_plateau plateau;
    if (along->count < 2 ||
        !fulcrum_sweep_profile_plateau(finding->profile, metric, axis, &plateau)) {
        return;
    }
    const struct fulcrum_best_along draws =
        fulcrum_sweep_best_along(finding->plan->best, metric, axis);
    const struct {
        const char *keys[2];
        const char *titles[2];
        size_t at;
        struct fulcrum_interval ends;
        struct fulcrum_interval ratios;
    } places[] = {
        {{"best", "best_ratio"}, {"at", "CPU/GPU ratio"}, plateau.best, draws.at,
            draws.ratio},
        {{"plateau_first", "plateau_first_ratio"}, {"within 5 % from", NULL},
            plateau.first, draws.plateau_first,
            ratios_at(finding, metric, axis, &draws.plateau_first)},
        {{"plateau_last", "plateau_last_ratio"}, {"to", NULL}, plateau.last,
            draws.plateau_last, ratios_at(finding, metric, axis, &draws.plateau_last)},
    };
    fulcrum_table_row(table);
    fulcrum_table_text(
        table, "output", NULL, fulcrum_output_name(fulcrum_sweep_metric(metric)));
    fulcrum_table_text(table, "metric", "best of", metric_words[metric]);
    fulcrum_table_text(table, "path", "over", along->field->path);
    fulcrum_table_text(table, "shape", "shape", shape_names[shape_of(&plateau)]);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        fulcrum_table_estimate(table, places[i].keys[0], places[i].titles[0],
            along->values[places[i].at], places[i].ends.lo, places[i].ends.hi);
        fulcrum_table_estimate(table, places[i].keys[1], places[i].titles[1],
            fulcrum_sweep_profile_ratio(finding->profile, metric, axis, places[i].at),
            places[i].ratios.lo, places[i].ratios.hi);
    }
    fulcrum_table_number(table, "plateau_value_count", NULL, (double)plateau.count);
    fulcrum_table_estimate(table, "value", NULL, finding->tracks[metric].best.value,
        draws.value.lo, draws.value.hi);
    fulcrum_table_number(table, "draws", NULL, (double)draws.draw_count);
    fulcrum_table_number(table, "first_near_frac", NULL, draws.first_near_frac);
    fulcrum_table_number(table, "last_near_frac", NULL, draws.last_near_frac);
}

void fulcrum_sweep_finding_tell(
    const struct fulcrum_sweep_finding *finding, struct fulcrum_result *result)
{
    add_best(finding, result);
    if (finding->profile == NULL) {
        return;
    }
    struct fulcrum_table *table = fulcrum_result_table(result, "optima", "");
    for (size_t i = 0; i < FULCRUM_SWEEP_METRICS * finding->plan->axis_count; i++) {
        add_optimum(finding, i / finding->plan->axis_count,
            i % finding->plan->axis_count, table);
    }
    if (finding->plan->best != NULL && finding->simulated > 0) {
        fulcrum_result_note(result, "notes",
            "simulated draws are noisy: of points that are close together the noise "
            "picks the best; --method fast is smooth");
    }
}
