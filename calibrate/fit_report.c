/* fit_report.c - what a report says of a fit: residuals, warnings, range. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/fit.h"
#include "model/try.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The normal law of the number of runs needs this many points. */
enum { RUNS_LEAST_COUNT = 10 };

/* Fewer runs of equal sign than chance would give: Wald and Wolfowitz's z. */
static double runs_z(const double *residual, const size_t *order, size_t count)
{
    double above = 0;
    double runs = 0;
    int last = -1;
    for (size_t i = 0; i < count; i++) {
        int sign = residual[order[i]] > 0;
        above += sign;
        runs += sign != last;
        last = sign;
    }
    double n = (double)count;
    double pairs = 2 * above * (n - above);
    double mean = pairs / n + 1;
    double variance = pairs * (pairs - n) / (n * n * (n - 1));
    /* All of one sign: impossible for a fit, short of rounding and priors. */
    return variance > 0 ? (runs - mean) / sqrt(variance) : 0;
}

static enum fulcrum_status sign_runs(struct fulcrum_fit_residuals *out,
    const struct fulcrum_fit_problem *problem, const double *fitted,
    struct fulcrum_error *err)
{
    /* Residuals that are rounding have signs without meaning. */
    if (problem->count < RUNS_LEAST_COUNT || out->rms_rel < 1e-9) {
        return FULCRUM_OK;
    }
    size_t *order = calloc(problem->count, sizeof *order);
    double *residual = calloc(problem->count, sizeof *residual);
    if (order != NULL && residual != NULL) {
        for (size_t i = 0; i < problem->count; i++) {
            residual[i] = fitted[i] - problem->y[i];
        }
        gsl_sort_index(order, problem->x, 1, problem->count);
        out->sign_runs_z = runs_z(residual, order, problem->count);
    }
    enum fulcrum_status status =
        order != NULL && residual != NULL
            ? FULCRUM_OK
            : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%s", problem->what);
    free(residual);
    free(order);
    return status;
}

enum fulcrum_status fulcrum_fit_residuals_of(struct fulcrum_fit_residuals *out,
    const struct fulcrum_fit_problem *problem, const double *fitted,
    const double *weight, struct fulcrum_error *err)
{
    struct fulcrum_fit_residuals sum = {.count = problem->count};
    double n = (double)problem->count;
    for (size_t i = 0; i < problem->count; i++) {
        double y = problem->y[i];
        double residual = (fitted[i] - y) / y;
        sum.mape += fabs(residual) / n;
        sum.smape += 2 * fabs(fitted[i] - y) / (fabs(fitted[i]) + y) / n;
        sum.max_abs_rel = fmax(sum.max_abs_rel, fabs(residual));
        sum.bias_rel += residual / n;
        sum.rms_rel += residual * residual / n;
        sum.outlier_count += weight[i] < 0.5;
    }
    sum.rms_rel = sqrt(sum.rms_rel);
    TRY(sign_runs(&sum, problem, fitted, err));
    *out = sum;
    return FULCRUM_OK;
}

const struct fulcrum_fit_estimate *fulcrum_fit_find(
    const struct fulcrum_fit_result *result, const char *name)
{
    for (size_t i = 0; i < result->parameter_count; i++) {
        if (strcmp(result->parameter[i].name, name) == 0) {
            return &result->parameter[i];
        }
    }
    return NULL;
}

int fulcrum_fit_extrapolates(const struct fulcrum_fit_result *result, double x)
{
    return x < result->x_low || x > result->x_high;
}

const char *fulcrum_fit_warning_text(unsigned warning)
{
    static const struct {
        unsigned warning;
        const char *text;
    } texts[] = {
        {FULCRUM_FIT_TOO_FEW_POINTS,
            "fewer points than parameters + 2: the fit meets them whatever the truth"},
        {FULCRUM_FIT_MISFIT, "residuals exceed 5 % rms: the form does not fit, or "
                             "points were disturbed"},
        {FULCRUM_FIT_SIGN_RUNS,
            "residuals keep their sign over long runs: the form does not fit"},
        {FULCRUM_FIT_OUTLIERS, "some points lie far off and were given less weight"},
        {FULCRUM_FIT_BOUND_REACHED,
            "the data pull a parameter beyond its bound, where it is held"},
        {FULCRUM_FIT_UNIDENTIFIED, "the data say next to nothing about a parameter"},
        {FULCRUM_FIT_UNKNOWN_ERROR,
            "as many parameters as points: standard errors are unknown"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i].warning == warning) {
            return texts[i].text;
        }
    }
    return NULL;
}

size_t fulcrum_fit_distinct(const double *x, size_t count, size_t enough)
{
    size_t distinct = 0;
    for (size_t i = 0; i < count && distinct < enough; i++) {
        size_t j = 0;
        /* Counts and sizes are compared as given, not as results of arithmetic. */
        while (j < i && (x[j] < x[i] || x[j] > x[i])) {
            j++;
        }
        distinct += j == i;
    }
    return distinct;
}
