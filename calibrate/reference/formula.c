/* formula.c - throughput over environments by formulas of a few numbers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/formula.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit/posterior.h"
#include "calibrate/reference/comparison.h"
#include "model/design/reference.h"
#include "model/status.h"
#include "model/try.h"

/* How sharply the ceiling bends the hyperbola: p of (22), docs/frameworks.md. */
#define FULCRUM_FORMULA_KNEE 5.0

/* One curve of a reference: every other place fitted, the rest predicted. */

/* Two for the fit, one between or beyond them to be predicted. */
enum { LEAST_PLACES = 3 };

enum fulcrum_status fulcrum_half_curve_init(struct fulcrum_half_curve *out,
    const struct fulcrum_reference *reference, struct fulcrum_error *err)
{
    size_t most = reference->point_count;
    struct fulcrum_half_curve curve = {.reference = reference,
        .readings = calloc(most, sizeof *curve.readings),
        .x = calloc(most, sizeof *curve.x),
        .y = calloc(most, sizeof *curve.y)};
    if (curve.readings == NULL || curve.x == NULL || curve.y == NULL) {
        fulcrum_half_curve_clear(&curve);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY,
            "no memory for %zu points of reference %s", most, reference->name);
    }
    *out = curve;
    return FULCRUM_OK;
}

void fulcrum_half_curve_clear(struct fulcrum_half_curve *curve)
{
    free(curve->readings);
    free(curve->x);
    free(curve->y);
    *curve = (struct fulcrum_half_curve){.count = 0};
}

static int by_x(const void *left, const void *right)
{
    const struct fulcrum_reading *a = left;
    const struct fulcrum_reading *b = right;
    if (a->x < b->x || a->x > b->x) {
        return a->x < b->x ? -1 : 1;
    }
    return a->point < b->point ? -1 : 1;
}

/* Marks the first, third, ... place; returns how many places there are. */
static size_t hold_out(struct fulcrum_half_curve *curve)
{
    size_t different = 0;
    qsort(curve->readings, curve->count, sizeof *curve->readings, by_x);
    for (size_t i = 0; i < curve->count; i++) {
        struct fulcrum_reading *reading = &curve->readings[i];
        different += i == 0 || reading->x > curve->readings[i - 1].x;
        reading->is_fitted = different % 2 == 1;
        if (reading->is_fitted) {
            curve->x[curve->fitted_count] = reading->x;
            curve->y[curve->fitted_count++] = reading->per_s;
        }
    }
    return different;
}

enum fulcrum_status fulcrum_half_curve_fill(struct fulcrum_half_curve *curve,
    size_t first, fulcrum_reading_read *read, const char *places,
    struct fulcrum_error *err)
{
    const struct fulcrum_reference *reference = curve->reference;
    curve->series = reference->points[first].series;
    curve->count = 0;
    curve->fitted_count = 0;
    for (size_t i = first; i < reference->point_count; i++) {
        if (strcmp(reference->points[i].series, curve->series) != 0) {
            continue;
        }
        struct fulcrum_reading *reading = &curve->readings[curve->count++];
        *reading = (struct fulcrum_reading){.point = i};
        TRY(read(reference, reading, err));
    }
    size_t different = hold_out(curve);
    return different >= LEAST_PLACES
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_NO_FIT,
                     "reference %s: series \"%s\" has %zu different %s, at least %d "
                     "expected",
                     reference->name, curve->series, different, places,
                     (int)LEAST_PLACES);
}

enum fulcrum_status fulcrum_reading_take(const struct fulcrum_reference *reference,
    struct fulcrum_reading *reading, size_t i, struct fulcrum_error *err)
{
    const struct fulcrum_observation *seen =
        &reference->points[reading->point].observations[i];
    reading->observation = i;
    reading->per_s = seen->value;
    return isfinite(seen->value) && seen->value > 0
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_RANGE,
                     "reference %s: points[%zu].observed.%s = %.6g, above 0 expected",
                     reference->name, reading->point, seen->quantity, seen->value);
}

enum fulcrum_status fulcrum_half_curves_predict(
    const struct fulcrum_reference *reference, fulcrum_half_curve_predict *predict,
    struct fulcrum_comparison *out, struct fulcrum_error *err)
{
    struct fulcrum_half_curve curve = {0};
    struct fulcrum_comparison comparison = {0};
    FAIL_IF(reference->point_count == 0, err, FULCRUM_ERR_NO_FIT,
        "reference %s: points is empty, curves expected", reference->name);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_half_curve_init(&curve, reference, err));
    TRY_OR_END(fulcrum_comparison_init(&comparison, reference, err));
    for (size_t i = 0; i < reference->point_count; i++) {
        if (fulcrum_reference_begins_series(reference, i)) {
            TRY_OR_END(predict(&curve, i, &comparison, err));
        }
    }
end:
    fulcrum_half_curve_clear(&curve);
    return fulcrum_comparison_end(&comparison, status, out);
}

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

static enum fulcrum_status check(
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
    TRY(check(plan, err));
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
