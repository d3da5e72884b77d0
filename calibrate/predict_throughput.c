/* predict_throughput.c - references of throughput, predicted from calibrations. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/predict_throughput.h"

#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/formula.h"
#include "calibrate/seen.h"
#include "calibrate/throughput.h"
#include "model/sampler.h"
#include "model/stream.h"

enum { DRAWS = 400, SEED = 1 };

/* Of the simulations that correct the fast method. */
#define HALF_WIDTH_REL 0.002
#define MOST_STEPS     2e7

/* Of a published point, where its repetitions are not: small formulas weigh it by this.
 */
#define FORMULA_NOISE_REL 0.03

struct job {
    const struct fulcrum_reference *reference;
    const struct fulcrum_calibration *calibration;
    struct fulcrum_throughput *model;
    struct fulcrum_comparison *out;
    size_t figure_count;
    const char **paths;
    double *value;     /* of the parameters */
    double *predicted; /* of the figures */
    double *drawn;     /* figure by figure, DRAWS each */
};

static enum fulcrum_status allocate(struct job *job, struct fulcrum_error *err)
{
    size_t n = job->calibration->parameter_count;
    job->paths = calloc(n + 1, sizeof *job->paths);
    job->value = calloc(n + 1, sizeof *job->value);
    if (job->paths == NULL || job->value == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a reference");
    }
    for (size_t i = 0; i < n; i++) {
        job->paths[i] = job->calibration->parameters[i].path;
        job->value[i] = job->calibration->parameters[i].value;
    }
    return FULCRUM_OK;
}

static enum fulcrum_status make_model(struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_throughput_plan plan = {.references = &job->reference,
        .reference_count = 1,
        .calibrations = &job->calibration,
        .calibration_count = 1,
        .paths = job->paths,
        .path_count = job->calibration->parameter_count,
        .thread_count = 1};
    enum fulcrum_status status = fulcrum_throughput_new(&plan, &job->model, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    (void)fulcrum_throughput_figures(job->model, &job->figure_count);
    job->predicted = calloc(job->figure_count + 1, sizeof *job->predicted);
    job->drawn = calloc(job->figure_count * DRAWS + 1, sizeof *job->drawn);
    return job->predicted != NULL && job->drawn != NULL
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a reference");
}

static enum fulcrum_status predict(struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_solver_options solver = {.method = FULCRUM_METHOD_SIMULATE,
        .seed = SEED,
        .half_width_rel = HALF_WIDTH_REL,
        .max_steps = MOST_STEPS};
    enum fulcrum_status status =
        fulcrum_throughput_correct(job->model, job->value, &solver, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_comparison_init(job->out, job->reference, err);
    }
    if (status != FULCRUM_OK) {
        return status;
    }
    void *context = fulcrum_throughput_contexts(job->model)[0];
    if (!fulcrum_throughput_forward(context, job->value, job->predicted)) {
        return fulcrum_fail(err, FULCRUM_ERR_INFEASIBLE,
            "%s: a point cannot run at the calibration's values", job->reference->name);
    }
    size_t count = 0;
    const struct fulcrum_figure *figures =
        fulcrum_throughput_figures(job->model, &count);
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_compared *item = fulcrum_comparison_add(
            job->out, figures[i].point, figures[i].observation, job->predicted[i]);
        item->is_fitted =
            fulcrum_seen_point(job->calibration, job->reference, figures[i].point);
    }
    return FULCRUM_OK;
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
        if (!fulcrum_throughput_by_rule(
                context, job->value, rules[k].rule, job->predicted)) {
            continue;
        }
        for (size_t i = 0; i < job->out->count; i++) {
            job->out->items[i].baseline[rules[k].baseline] = job->predicted[i];
        }
    }
}

/* Where a point is one of a curve over environments: their number, else NAN. */
static double env_count_of(
    const struct fulcrum_reference *reference, const struct fulcrum_compared *item)
{
    const struct fulcrum_reference_point *point = &reference->points[item->point];
    int is_rate =
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

static int is_of_series(const struct job *job, size_t item, const char *series)
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
    int is_capped = baseline == FULCRUM_BASELINE_CAPPED_HYPERBOLA;
    double ceiling = ceiling_of(job->calibration);
    const struct fulcrum_formula_curve fitted = {curve->env_count, curve->steps_per_s,
        curve->count, is_capped ? ceiling : (double)NAN, 0.0};
    const struct fulcrum_formula_plan plan = {.curves = &fitted,
        .curve_count = 1,
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

static void add_series(struct job *job, const char *series, struct curve *curve)
{
    collect(job, series, curve);
    if (curve->count >= 2) {
        add_formula(job, series, curve, FULCRUM_BASELINE_CAPPED_HYPERBOLA);
        add_formula(job, series, curve, FULCRUM_BASELINE_HYPERBOLA);
    }
}

/* Curves over environments of which a fit has seen a part: the same part for all. */
static enum fulcrum_status add_formulas(struct job *job, struct fulcrum_error *err)
{
    const char *last = NULL;
    struct curve curve = {.env_count = calloc(job->figure_count + 1, sizeof(double)),
        .steps_per_s = calloc(job->figure_count + 1, sizeof(double))};
    int is_there = curve.env_count != NULL && curve.steps_per_s != NULL;
    size_t count = is_there && !job->reference->is_relative ? job->out->count : 0;
    for (size_t i = 0; i < count; i++) {
        const char *series = job->reference->points[job->out->items[i].point].series;
        if (last == NULL || strcmp(series, last) != 0) {
            add_series(job, series, &curve);
        }
        last = series;
    }
    free(curve.env_count);
    free(curve.steps_per_s);
    return is_there
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a reference");
}

static void set_interval(struct job *job, size_t figure, size_t count)
{
    double *drawn = job->drawn + figure * DRAWS;
    gsl_sort(drawn, 1, count);
    job->out->items[figure].lo =
        gsl_stats_quantile_from_sorted_data(drawn, 1, count, 0.05);
    job->out->items[figure].hi =
        gsl_stats_quantile_from_sorted_data(drawn, 1, count, 0.95);
}

/* Draws that cannot run are left out. */
static enum fulcrum_status add_intervals(struct job *job, struct fulcrum_error *err)
{
    struct fulcrum_sampler *sampler = NULL;
    enum fulcrum_status status = fulcrum_sampler_new(job->calibration, &sampler, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    void *context = fulcrum_throughput_contexts(job->model)[0];
    size_t kept = 0;
    for (size_t k = 0; k < DRAWS; k++) {
        gsl_rng_set(rng, fulcrum_stream_gsl_seed(fulcrum_stream_seed(SEED, k, 0)));
        fulcrum_sampler_draw(sampler, rng, job->value);
        if (!fulcrum_throughput_forward(context, job->value, job->predicted)) {
            continue;
        }
        for (size_t i = 0; i < job->out->count; i++) {
            job->drawn[i * DRAWS + kept] = job->predicted[i];
        }
        kept++;
    }
    for (size_t i = 0; kept > 1 && i < job->out->count; i++) {
        set_interval(job, i, kept);
    }
    gsl_rng_free(rng);
    fulcrum_sampler_free(sampler);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_predict_throughput(
    const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_comparison *out,
    struct fulcrum_error *err)
{
    struct fulcrum_comparison found = {.count = 0};
    struct job job = {
        .reference = reference, .calibration = calibration, .out = &found};
    enum fulcrum_status status = allocate(&job, err);
    if (status == FULCRUM_OK) {
        status = make_model(&job, err);
    }
    if (status == FULCRUM_OK) {
        status = predict(&job, err);
    }
    if (status == FULCRUM_OK) {
        add_baselines(&job);
        status = add_formulas(&job, err);
    }
    if (status == FULCRUM_OK) {
        status = add_intervals(&job, err);
    }
    fulcrum_throughput_free(job.model);
    free((void *)job.paths);
    free(job.value);
    free(job.predicted);
    free(job.drawn);
    if (status == FULCRUM_OK) {
        *out = found;
    } else {
        fulcrum_comparison_clear(&found);
    }
    return status;
}
