/* predict_throughput.c - references of throughput, predicted from calibrations. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/predictors.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/reference/comparison.h"
#include "calibrate/reference/formula.h"
#include "calibrate/reference/reference_prediction.h"
#include "calibrate/reference/throughput.h"
#include "model/interval.h"
#include "model/try.h"

/* Of a published point, where its repetitions are not: small formulas weigh it by this.
 */
#define FORMULA_NOISE_REL 0.03

struct job {
    const struct fulcrum_reference *reference;
    const struct fulcrum_calibration *calibration;
    struct fulcrum_throughput
        *model; /* of the baselines; at the calibration's values */
    struct fulcrum_comparison *out;
    struct fulcrum_prediction *points;
    double *drawn_per_s; /* point by point, FULCRUM_POINT_DRAWS each */
    double *ratio;       /* of one figure, draw by draw */
    size_t figure_count;
    double *by_rule; /* of the figures */
};

static enum fulcrum_status make_model(struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_throughput_plan plan = {.references = &job->reference,
        .reference_count = 1,
        .calibrations = &job->calibration,
        .calibration_count = 1,
        .thread_count = 1};
    TRY(fulcrum_throughput_new(&plan, &job->model, err));
    size_t points = job->reference->point_count;
    (void)fulcrum_throughput_figures(job->model, &job->figure_count);
    job->points = calloc(points + 1, sizeof *job->points);
    job->drawn_per_s =
        calloc(points * FULCRUM_POINT_DRAWS + 1, sizeof *job->drawn_per_s);
    job->ratio = calloc(FULCRUM_POINT_DRAWS, sizeof *job->ratio);
    job->by_rule = calloc(job->figure_count + 1, sizeof *job->by_rule);
    return job->points != NULL && job->drawn_per_s != NULL && job->ratio != NULL &&
                   job->by_rule != NULL
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a reference");
}

/* A value with its interval. */
struct figure {
    double value;
    struct fulcrum_interval interval;
};

static struct figure output_of(
    const struct fulcrum_prediction *point, enum fulcrum_predicted output)
{
    return (struct figure){
        point->value[output], {point->lo[output], point->hi[output]}};
}

/* The rate of one point over that of another, draw by draw: their errors are shared.
 * Draws that cannot run are left out. */
static struct figure ratio_of(const struct job *job, size_t over, size_t under)
{
    const enum fulcrum_predicted rate = FULCRUM_OUTPUT_steps_per_s;
    const double *above = job->drawn_per_s + over * FULCRUM_POINT_DRAWS;
    const double *below = job->drawn_per_s + under * FULCRUM_POINT_DRAWS;
    size_t count = 0;
    for (size_t k = 0; k < FULCRUM_POINT_DRAWS; k++) {
        double ratio = above[k] / below[k];
        if (!isnan(ratio)) {
            job->ratio[count++] = ratio;
        }
    }
    return (struct figure){
        job->points[over].value[rate] / job->points[under].value[rate],
        fulcrum_interval_of(job->ratio, count)};
}

/* Other quantities than these the model of throughput has refused. */
static struct figure predict_figure(
    const struct job *job, const struct fulcrum_figure *figure)
{
    const struct fulcrum_reference *reference = job->reference;
    const char *quantity =
        reference->points[figure->point].observations[figure->observation].quantity;
    if (strcmp(quantity, "speedup") == 0) {
        return ratio_of(job, figure->point, reference->relative_to);
    }
    if (strcmp(quantity, "runtime_rel") == 0) {
        return ratio_of(job, reference->relative_to, figure->point);
    }
    const struct fulcrum_prediction *point = &job->points[figure->point];
    if (strcmp(quantity, "cpu_w") == 0) {
        return output_of(point, FULCRUM_OUTPUT_cpu_w);
    }
    return output_of(point, strcmp(quantity, "gpu_w") == 0
                                ? FULCRUM_OUTPUT_gpu_w
                                : FULCRUM_OUTPUT_steps_per_s);
}

static enum fulcrum_status predict(struct job *job, struct fulcrum_error *err)
{
    enum fulcrum_status status = fulcrum_reference_predict(
        job->reference, job->calibration, job->points, job->drawn_per_s, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_comparison_init(job->out, job->reference, err);
    }
    size_t count = 0;
    const struct fulcrum_figure *figures =
        fulcrum_throughput_figures(job->model, &count);
    for (size_t i = 0; i < count && status == FULCRUM_OK; i++) {
        struct figure predicted = predict_figure(job, &figures[i]);
        struct fulcrum_compared *item = fulcrum_comparison_add(
            job->out, figures[i].point, figures[i].observation, predicted.value);
        item->lo = predicted.interval.lo;
        item->hi = predicted.interval.hi;
        item->is_fitted = fulcrum_fitted_points_point(
            job->calibration, job->reference, figures[i].point);
    }
    return status;
}

static void add_baselines(struct job *job)
{
    void *context = fulcrum_throughput_contexts(job->model)[0];
    static const struct {
        enum fulcrum_baseline baseline;
        enum fulcrum_throughput_rule rule;
    } rules[] = {
        {FULCRUM_BASELINE_BOUNDS, FULCRUM_RULE_BOUNDS},
        {FULCRUM_BASELINE_TEXTBOOK, FULCRUM_RULE_TEXTBOOK},
    };
    for (size_t k = 0; k < sizeof rules / sizeof rules[0]; k++) {
        if (!fulcrum_throughput_by_rule(context, NULL, rules[k].rule, job->by_rule)) {
            continue;
        }
        for (size_t i = 0; i < job->out->count; i++) {
            job->out->items[i].baseline[rules[k].baseline] = job->by_rule[i];
        }
    }
}

/* Where a point is one of a curve over environments: their number, else NAN. */
static double env_count_of(
    const struct fulcrum_reference *reference, const struct fulcrum_compared *item)
{
    const struct fulcrum_reference_point *point = &reference->points[item->point];
    bool is_rate =
        strcmp(point->observations[item->observation].quantity, "steps_per_s") == 0;
    if (!is_rate || point->setting_count != 1) {
        return (double)NAN;
    }
    if (strcmp(point->settings[0].path, "run.env_count") == 0) {
        return point->settings[0].number;
    }
    return strcmp(point->settings[0].path, "run.actor_count") == 0
               ? point->settings[0].number * reference->design.run.envs_per_actor
               : (double)NAN;
}

/* The fitted points of the series that an item belongs to. */
struct curve {
    double *env_count; /* room for every item; owned, as is */
    double *steps_per_s;
    size_t count;
};

static bool is_of_series(const struct job *job, size_t item, const char *series)
{
    const struct fulcrum_reference *reference = job->reference;
    return strcmp(reference->points[job->out->items[item].point].series, series) == 0;
}

static void collect(const struct job *job, const char *series, struct curve *out)
{
    out->count = 0;
    for (size_t i = 0; i < job->out->count; i++) {
        const struct fulcrum_compared *item = &job->out->items[i];
        double env_count = env_count_of(job->reference, item);
        if (item->is_fitted && !isnan(env_count) && is_of_series(job, i, series)) {
            out->env_count[out->count] = env_count;
            out->steps_per_s[out->count++] = item->observed;
        }
    }
}

/* What the environments alone would do on the machine, as the calibration says. */
static double ceiling_of(const struct fulcrum_calibration *calibration)
{
    const struct fulcrum_quantity *ceiling =
        fulcrum_calibration_quantity(calibration, "simulation_ceiling_per_s");
    return ceiling != NULL ? ceiling->value : (double)NAN;
}

/* A formula that cannot be fitted is left out. */
static void add_formula(struct job *job, const char *series, const struct curve *curve,
    enum fulcrum_baseline baseline)
{
    bool is_capped = baseline == FULCRUM_BASELINE_CAPPED_HYPERBOLA;
    double ceiling = ceiling_of(job->calibration);
    const struct fulcrum_formula_plan plan = {.env_count = curve->env_count,
        .steps_per_s = curve->steps_per_s,
        .count = curve->count,
        .ceiling_per_s = is_capped ? ceiling : (double)NAN,
        .noise_rel = FORMULA_NOISE_REL,
        .frame_skip = job->reference->frame_skip};
    struct fulcrum_formula formula;
    if ((is_capped && isnan(ceiling)) ||
        fulcrum_formula_fit(&plan, &formula, NULL) != FULCRUM_OK) {
        return;
    }
    for (size_t i = 0; i < job->out->count; i++) {
        struct fulcrum_compared *item = &job->out->items[i];
        double env_count = env_count_of(job->reference, item);
        if (!isnan(env_count) && is_of_series(job, i, series)) {
            item->baseline[baseline] = fulcrum_formula_rate(&formula, env_count);
        }
    }
}

enum fulcrum_status fulcrum_predict_throughput(
    const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_comparison *out,
    struct fulcrum_error *err)
{
    struct fulcrum_comparison found = {.count = 0};
    struct job job = {
        .reference = reference, .calibration = calibration, .out = &found};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(make_model(&job, err));
    TRY_OR_END(predict(&job, err));
    add_baselines(&job);
    /* Curves over environments of which a fit has seen a part: the same part for all.
     */
    const char *last = NULL;
    struct curve curve = {.env_count = calloc(job.figure_count + 1, sizeof(double)),
        .steps_per_s = calloc(job.figure_count + 1, sizeof(double))};
    bool is_there = curve.env_count != NULL && curve.steps_per_s != NULL;
    size_t count = is_there && !job.reference->is_relative ? job.out->count : 0;
    for (size_t i = 0; i < count; i++) {
        const char *series = job.reference->points[job.out->items[i].point].series;
        if (last == NULL || strcmp(series, last) != 0) {
            collect(&job, series, &curve);
            if (curve.count >= 2) {
                add_formula(&job, series, &curve, FULCRUM_BASELINE_CAPPED_HYPERBOLA);
                add_formula(&job, series, &curve, FULCRUM_BASELINE_HYPERBOLA);
            }
        }
        last = series;
    }
    free(curve.env_count);
    free(curve.steps_per_s);
    status = is_there ? FULCRUM_OK
                      : fulcrum_fail(
                            err, FULCRUM_ERR_NO_MEMORY, "no memory for a reference");
end:
    fulcrum_throughput_free(job.model);
    free(job.points);
    free(job.drawn_per_s);
    free(job.ratio);
    free(job.by_rule);
    return fulcrum_comparison_end(&found, status, out);
}
