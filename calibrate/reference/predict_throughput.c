/* predict_throughput.c - references of throughput, predicted from calibrations. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit/posterior.h"
#include "calibrate/reference/predictors.h"
#include "calibrate/reference/reference_prediction.h"
#include "calibrate/reference/throughput.h"
#include "model/interval.h"
#include "model/try.h"

/* The small formulas: N / (a + b N), under a ceiling or without one. */

/* How sharply the ceiling bends the hyperbola: p of (22), docs/frameworks.md. */
#define FULCRUM_FORMULA_KNEE 5.0

/* Priors of docs/frameworks.md equation (22), standard deviations of logarithms. */
#define RATE_FRAMES_PER_S 40e3
#define RATE_SD           1.0
#define CAP_SD            0.15

/* Of what has no prior: wide beside what any two points leave open. */
#define FREE_SD 3.0

enum { LATENCY, PER_ITEM, CAP, PARAMETERS };

double fulcrum_formula_rate(const struct fulcrum_formula *formula, double env_count)
{
    double free_per_s =
        env_count / (formula->latency_s + formula->per_item_s * env_count);
    /* From the lesser of the two, so that no power leaves the range of a double. */
    double less = fmin(free_per_s, formula->cap_per_s);
    double more = fmax(free_per_s, formula->cap_per_s);
    return less * pow(1.0 + pow(less / more, FULCRUM_FORMULA_KNEE),
                      -1.0 / FULCRUM_FORMULA_KNEE);
}

static bool has_ceiling(const struct fulcrum_formula_plan *plan)
{
    return !isnan(plan->ceiling_per_s);
}

static struct fulcrum_formula formula_of(
    const struct fulcrum_formula_plan *plan, const double *parameter)
{
    return (struct fulcrum_formula){.latency_s = parameter[LATENCY],
        .per_item_s = parameter[PER_ITEM],
        .cap_per_s = has_ceiling(plan) ? parameter[CAP] : HUGE_VAL};
}

/* A fulcrum_forward. */
static int forward(void *context, const double *parameter, double *out)
{
    const struct fulcrum_formula_plan *plan = context;
    struct fulcrum_formula formula = formula_of(plan, parameter);
    for (size_t i = 0; i < plan->count; i++) {
        out[i] = log(fulcrum_formula_rate(&formula, plan->env_count[i]));
    }
    return 1;
}

static enum fulcrum_status check_plan(
    const struct fulcrum_formula_plan *plan, struct fulcrum_error *err)
{
    FAIL_IF(plan->ceiling_per_s <= 0.0, err, FULCRUM_ERR_RANGE,
        "ceiling = %g: expected a number above 0, or none", plan->ceiling_per_s);
    for (size_t i = 0; i < plan->count; i++) {
        FAIL_IF(!(plan->env_count[i] > 0.0) || !(plan->steps_per_s[i] > 0.0) ||
                    isinf(plan->env_count[i]) || isinf(plan->steps_per_s[i]),
            err, FULCRUM_ERR_RANGE,
            "%g steps/s of %g environments: expected numbers above 0",
            plan->steps_per_s[i], plan->env_count[i]);
    }
    FAIL_IF(plan->count < 2, err, FULCRUM_ERR_RANGE,
        "%zu points for a formula: expected 2 or more", plan->count);
    return FULCRUM_OK;
}

/* The hyperbola through the ends of the curve, where they have one. */
static void guess(
    const struct fulcrum_formula_plan *plan, double *latency_s, double *per_item_s)
{
    size_t last = plan->count - 1;
    double first_s = plan->env_count[0] / plan->steps_per_s[0];
    double last_s = plan->env_count[last] / plan->steps_per_s[last];
    double apart = plan->env_count[last] - plan->env_count[0];
    *per_item_s = fabs(apart) > 0.0 ? (last_s - first_s) / apart : 0.0;
    *latency_s = first_s - *per_item_s * plan->env_count[0];
    if (!(*per_item_s > 0.0) || !(*latency_s > 0.0)) {
        *per_item_s = 0.5 / plan->steps_per_s[0];
        *latency_s = 0.5 * first_s;
    }
}

/* Returns how many there are. */
static size_t list_beliefs(
    const struct fulcrum_formula_plan *plan, struct fulcrum_belief out[PARAMETERS])
{
    double latency_s = 0.0;
    double per_item_s = 0.0;
    guess(plan, &latency_s, &per_item_s);
    out[LATENCY] = (struct fulcrum_belief){
        .path = "a", .scale = FULCRUM_SCALE_LOG, .value = latency_s, .sd = FREE_SD};
    out[PER_ITEM] = (struct fulcrum_belief){
        .path = "b", .scale = FULCRUM_SCALE_LOG, .value = per_item_s, .sd = FREE_SD};
    if (!has_ceiling(plan)) {
        return CAP;
    }
    out[PER_ITEM].value = plan->frame_skip / RATE_FRAMES_PER_S;
    out[PER_ITEM].sd = RATE_SD;
    out[CAP] = (struct fulcrum_belief){.path = "C",
        .scale = FULCRUM_SCALE_LOG,
        .value = FULCRUM_FORMULA_CAP_OF_CEILING * plan->ceiling_per_s,
        .sd = CAP_SD};
    return PARAMETERS;
}

enum fulcrum_status fulcrum_formula_fit(const struct fulcrum_formula_plan *plan,
    struct fulcrum_formula *out, struct fulcrum_error *err)
{
    TRY(check_plan(plan, err));
    struct fulcrum_datum *data = calloc(plan->count, sizeof *data);
    TRY_MEMORY(data, err, "no memory for a formula");
    for (size_t i = 0; i < plan->count; i++) {
        data[i] = (struct fulcrum_datum){log(plan->steps_per_s[i]), plan->noise_rel};
    }
    /* GSL's callbacks take what they are given as not constant; nothing is changed. */
    struct fulcrum_formula_plan own = *plan;
    void *context = &own;
    struct fulcrum_belief beliefs[PARAMETERS];
    const struct fulcrum_posterior_problem problem = {.beliefs = beliefs,
        .belief_count = list_beliefs(plan, beliefs),
        .data = data,
        .datum_count = plan->count,
        .forward = forward,
        .contexts = &context,
        .thread_count = 1};
    struct fulcrum_posterior_mode mode = {.misfit = 0.0};
    enum fulcrum_status status = fulcrum_posterior_mode_find(&problem, 1, &mode, err);
    if (status == FULCRUM_OK) {
        *out = formula_of(plan, mode.value);
    }
    fulcrum_posterior_mode_clear(&mode);
    free(data);
    return status;
}

/* The predictions, and what they are shown beside. */

/* Of a published point, where its repetitions are not: small formulas weigh it by this.
 */
#define FORMULA_NOISE_REL 0.03

struct job {
    const struct fulcrum_reference *reference;
    const struct fulcrum_calibration *calibration;
    struct fulcrum_comparison *out;
    struct fulcrum_throughput *model; /* of the baselines */
    struct fulcrum_prediction *points;
    double *drawn_per_s; /* point by point, FULCRUM_POINT_DRAWS each */
    double *work;        /* of the draws of one figure, or of one of all figures */
    double *env_count;   /* the fitted points of one series */
    double *steps_per_s;
    size_t fitted_count;
};

/* The rate of one point over that of another, draw by draw: their errors are shared.
 * Draws that cannot run are left out. */
static void set_ratio(
    const struct job *job, size_t over, size_t under, struct fulcrum_compared *item)
{
    const enum fulcrum_predicted rate = FULCRUM_OUTPUT_steps_per_s;
    size_t count = 0;
    for (size_t k = 0; k < FULCRUM_POINT_DRAWS; k++) {
        double ratio = job->drawn_per_s[over * FULCRUM_POINT_DRAWS + k] /
                       job->drawn_per_s[under * FULCRUM_POINT_DRAWS + k];
        if (!isnan(ratio)) {
            job->work[count++] = ratio;
        }
    }
    const struct fulcrum_interval interval = fulcrum_interval_of(job->work, count);
    item->predicted = job->points[over].value[rate] / job->points[under].value[rate];
    item->lo = interval.lo;
    item->hi = interval.hi;
}

/* Other quantities than these the model of throughput has refused. */
static void set_prediction(const struct job *job, struct fulcrum_compared *item)
{
    static const struct {
        const char *quantity;
        enum fulcrum_predicted output;
    } outputs[] = {{"cpu_w", FULCRUM_OUTPUT_cpu_w}, {"gpu_w", FULCRUM_OUTPUT_gpu_w},
        {"steps_per_s", FULCRUM_OUTPUT_steps_per_s}};
    const struct fulcrum_reference *reference = job->reference;
    const struct fulcrum_prediction *point = &job->points[item->point];
    const char *quantity =
        reference->points[item->point].observations[item->observation].quantity;
    if (strcmp(quantity, "speedup") == 0) {
        set_ratio(job, item->point, reference->relative_to, item);
    } else if (strcmp(quantity, "runtime_rel") == 0) {
        set_ratio(job, reference->relative_to, item->point, item);
    }
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        if (strcmp(quantity, outputs[i].quantity) == 0) {
            item->predicted = point->value[outputs[i].output];
            item->lo = point->lo[outputs[i].output];
            item->hi = point->hi[outputs[i].output];
        }
    }
}

static void add_baselines(struct job *job)
{
    static const enum fulcrum_baseline baselines[] = {
        [FULCRUM_RULE_BOUNDS] = FULCRUM_BASELINE_BOUNDS,
        [FULCRUM_RULE_TEXTBOOK] = FULCRUM_BASELINE_TEXTBOOK};
    void *context = fulcrum_throughput_contexts(job->model)[0];
    for (size_t k = 0; k < sizeof baselines / sizeof baselines[0]; k++) {
        if (!fulcrum_throughput_by_rule(
                context, NULL, (enum fulcrum_throughput_rule)k, job->work)) {
            continue;
        }
        for (size_t i = 0; i < job->out->count; i++) {
            job->out->items[i].baseline[baselines[k]] = job->work[i];
        }
    }
}

/* Where an item is one of a curve of `series` over environments: their number, else
 * NAN. */
static double env_count_of(
    const struct job *job, const struct fulcrum_compared *item, const char *series)
{
    const struct fulcrum_reference_point *point = &job->reference->points[item->point];
    bool is_rate =
        strcmp(point->observations[item->observation].quantity, "steps_per_s") == 0;
    if (!is_rate || point->setting_count != 1 || strcmp(point->series, series) != 0) {
        return (double)NAN;
    }
    if (strcmp(point->settings[0].path, "run.env_count") == 0) {
        return point->settings[0].number;
    }
    return strcmp(point->settings[0].path, "run.actor_count") == 0
               ? point->settings[0].number * job->reference->design.run.envs_per_actor
               : (double)NAN;
}

/* A formula that cannot be fitted is left out. */
static void add_formula(struct job *job, const char *series, double ceiling_per_s,
    enum fulcrum_baseline baseline)
{
    const struct fulcrum_formula_plan plan = {.env_count = job->env_count,
        .steps_per_s = job->steps_per_s,
        .count = job->fitted_count,
        .ceiling_per_s = ceiling_per_s,
        .noise_rel = FORMULA_NOISE_REL,
        .frame_skip = job->reference->frame_skip};
    struct fulcrum_formula formula;
    if (fulcrum_formula_fit(&plan, &formula, NULL) != FULCRUM_OK) {
        return;
    }
    for (size_t i = 0; i < job->out->count; i++) {
        struct fulcrum_compared *item = &job->out->items[i];
        double env_count = env_count_of(job, item, series);
        if (!isnan(env_count)) {
            item->baseline[baseline] = fulcrum_formula_rate(&formula, env_count);
        }
    }
}

/* Curves over environments of which a fit has seen a part: the same part for all. */
static void add_formulas(struct job *job, const char *series)
{
    /* What the environments alone would do on the machine. */
    const struct fulcrum_quantity *ceiling =
        fulcrum_calibration_quantity(job->calibration, "simulation_ceiling_per_s");
    job->fitted_count = 0;
    for (size_t i = 0; i < job->out->count; i++) {
        const struct fulcrum_compared *item = &job->out->items[i];
        double env_count = env_count_of(job, item, series);
        if (item->is_fitted && !isnan(env_count)) {
            job->env_count[job->fitted_count] = env_count;
            job->steps_per_s[job->fitted_count++] = item->observed;
        }
    }
    if (ceiling != NULL && !isnan(ceiling->value)) {
        add_formula(job, series, ceiling->value, FULCRUM_BASELINE_CAPPED_HYPERBOLA);
    }
    add_formula(job, series, (double)NAN, FULCRUM_BASELINE_HYPERBOLA);
}

static enum fulcrum_status predict_figures(struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_throughput_plan plan = {.references = &job->reference,
        .reference_count = 1,
        .calibrations = &job->calibration,
        .calibration_count = 1,
        .thread_count = 1};
    TRY(fulcrum_throughput_new(&plan, &job->model, err));
    size_t points = job->reference->point_count;
    size_t count = 0;
    const struct fulcrum_figure *figures =
        fulcrum_throughput_figures(job->model, &count);
    size_t most = FULCRUM_POINT_DRAWS + count;
    job->points = calloc(points + 1, sizeof *job->points);
    job->drawn_per_s =
        calloc(points * FULCRUM_POINT_DRAWS + 1, sizeof *job->drawn_per_s);
    job->work = calloc(most, sizeof *job->work);
    job->env_count = calloc(most, sizeof *job->env_count);
    job->steps_per_s = calloc(most, sizeof *job->steps_per_s);
    FAIL_IF(job->points == NULL || job->drawn_per_s == NULL || job->work == NULL ||
                job->env_count == NULL || job->steps_per_s == NULL,
        err, FULCRUM_ERR_NO_MEMORY, "no memory for a reference");
    TRY(fulcrum_reference_predict(
        job->reference, job->calibration, job->points, job->drawn_per_s, err));
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_compared *item = fulcrum_comparison_add(
            job->out, figures[i].point, figures[i].observation, (double)NAN);
        set_prediction(job, item);
        item->is_fitted = fulcrum_fitted_points_point(
            job->calibration, job->reference, figures[i].point);
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_predict_throughput(struct fulcrum_comparison *out,
    const struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    struct job job = {
        .reference = out->reference, .calibration = calibration, .out = out};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(predict_figures(&job, err));
    add_baselines(&job);
    const char *last = NULL;
    for (size_t i = 0; i < out->count && !job.reference->is_relative; i++) {
        const char *series = job.reference->points[out->items[i].point].series;
        if (last == NULL || strcmp(series, last) != 0) {
            add_formulas(&job, series);
        }
        last = series;
    }
end:
    fulcrum_throughput_free(job.model);
    free(job.points);
    free(job.drawn_per_s);
    free(job.work);
    free(job.env_count);
    free(job.steps_per_s);
    return status;
}
