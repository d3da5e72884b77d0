/* frameworks.c - whole frameworks over environments: how far predictions of what no fit
 * has seen are off. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/frameworks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/left_out.h"
#include "calibrate/validation.h"
#include "cli/allocate.h"
#include "model/try.h"
#include "presets/preset.h"
#include "presets/reference_load.h"

/* One environment on the machine of ten cores, and what its fits started from. */
static const struct {
    const char *reference;
    const char *prior;
} environments[] = {
    {"sf-fig3-10-core-atari", "sf-10-core-atari-prior"},
    {"sf-fig3-10-core-vizdoom", "sf-10-core-vizdoom-prior"},
    {"sf-fig3-10-core-dmlab", "sf-10-core-dmlab-prior"},
};
enum { ENVIRONMENTS = sizeof environments / sizeof environments[0] };
/* A row for each environment and one for all, of seven frameworks, and of one with
 * environments left out. */
enum {
    ROWS = ENVIRONMENTS + 1,
    COUNTS_ROWS_MOST = 7 * ROWS,
    ROWS_MOST = COUNTS_ROWS_MOST + ROWS
};

#define SEED_RL "SEED RL V-trace"

/* Most points of a curve. */
enum { POINTS_MOST = 64 };

struct job {
    struct fulcrum_framework_rows rows;
    struct fulcrum_reference *references[ENVIRONMENTS];
    struct fulcrum_validation sets[ENVIRONMENTS];
    struct fulcrum_reference *curves[ENVIRONMENTS]; /* SEED RL alone */
    struct fulcrum_calibration *priors[ENVIRONMENTS];
};

static void errors_clear(struct fulcrum_framework_row *row)
{
    for (size_t rule = 0; rule < FULCRUM_FRAMEWORK_RULES; rule++) {
        row->errors[rule] =
            (struct fulcrum_framework_errors){0, (double)NAN, (double)NAN};
    }
}

/* Adds those of one environment to those of all. */
static void add_errors(
    struct fulcrum_framework_errors *sum, const struct fulcrum_framework_errors *one)
{
    double total = (sum->count > 0 ? sum->mape_frac * (double)sum->count : 0.0) +
                   (one->count > 0 ? one->mape_frac * (double)one->count : 0.0);
    sum->count += one->count;
    sum->mape_frac = sum->count > 0 ? total / (double)sum->count : (double)NAN;
    sum->max_frac = fmax(sum->max_frac, one->max_frac);
}

static struct fulcrum_framework_row *add_row(
    struct job *job, const char *left_out, const char *series, const char *reference)
{
    struct fulcrum_framework_row *row = &job->rows.items[job->rows.count++];
    row->left_out = left_out;
    (void)snprintf(row->series, sizeof row->series, "%s", series);
    (void)snprintf(row->reference, sizeof row->reference, "%s", reference);
    errors_clear(row);
    return row;
}

/* The last rows of one framework together. */
static void add_total(struct job *job, size_t first)
{
    const struct fulcrum_framework_row *items = job->rows.items;
    size_t last = job->rows.count;
    char series[sizeof items->series];
    memcpy(series, items[first].series, sizeof series);
    struct fulcrum_framework_row *total =
        add_row(job, items[first].left_out, series, "all");
    for (size_t i = first; i < last; i++) {
        for (size_t rule = 0; rule < FULCRUM_FRAMEWORK_RULES; rule++) {
            add_errors(&total->errors[rule], &items[i].errors[rule]);
        }
    }
}

static enum fulcrum_status load(struct job *job, size_t i, struct fulcrum_error *err)
{
    TRY(fulcrum_reference_load(environments[i].reference, &job->references[i], err));
    TRY(fulcrum_validate(job->references[i], NULL, &job->sets[i], err));
    TRY(fulcrum_reference_load(environments[i].reference, &job->curves[i], err));
    TRY(fulcrum_reference_keep_series(job->curves[i], SEED_RL, err));
    return fulcrum_calibration_load(environments[i].prior, &job->priors[i], err);
}

/* Numbers of environments that the calibrations were not fitted to. */
static void compare_counts(struct job *job, const char *series)
{
    static const struct {
        enum fulcrum_framework_rule rule;
        int baseline;
    } rules[] = {{FULCRUM_FRAMEWORK_NETWORK, -1},
        {FULCRUM_FRAMEWORK_CAPPED_HYPERBOLA, FULCRUM_BASELINE_CAPPED_HYPERBOLA},
        {FULCRUM_FRAMEWORK_HYPERBOLA, FULCRUM_BASELINE_HYPERBOLA}};
    size_t first = job->rows.count;
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        struct fulcrum_framework_row *row =
            add_row(job, "counts", series, environments[i].reference);
        for (size_t k = 0; k < sizeof rules / sizeof rules[0]; k++) {
            struct fulcrum_comparison_errors found =
                fulcrum_comparison_errors(&job->sets[i].comparison, series,
                    FULCRUM_COMPARE_PREDICTED, rules[k].baseline);
            row->errors[rules[k].rule] = (struct fulcrum_framework_errors){
                found.count, found.mape_frac, found.max_frac};
        }
    }
    add_total(job, first);
}

/* Every framework once, in the order of the first reference. */
static void compare_all_counts(struct job *job)
{
    const struct fulcrum_reference *reference = job->references[0];
    for (size_t i = 0; i < reference->point_count; i++) {
        size_t k = 0;
        while (strcmp(reference->points[k].series, reference->points[i].series) != 0) {
            k++;
        }
        if (k == i && job->rows.count < COUNTS_ROWS_MOST) {
            compare_counts(job, reference->points[i].series);
        }
    }
}

static struct fulcrum_framework_errors errors_of(
    const struct fulcrum_reference *reference, const double *predicted)
{
    struct fulcrum_framework_errors sum = {reference->point_count, 0.0, 0.0};
    for (size_t i = 0; i < sum.count; i++) {
        double observed = reference->points[i].observations[0].value;
        double error = fabs(predicted[i] / observed - 1.0);
        sum.mape_frac += error / (double)sum.count;
        sum.max_frac = fmax(sum.max_frac, error);
    }
    return sum;
}

static enum fulcrum_status predict_left_out(const struct fulcrum_left_out_plan *plan,
    enum fulcrum_framework_rule rule, double *predicted, struct fulcrum_error *err)
{
    static const enum fulcrum_left_out_form forms[FULCRUM_FRAMEWORK_RULES] = {
        [FULCRUM_FRAMEWORK_CAPPED_HYPERBOLA] = FULCRUM_LEFT_OUT_CAPPED,
        [FULCRUM_FRAMEWORK_HYPERBOLA] = FULCRUM_LEFT_OUT_HYPERBOLA,
        [FULCRUM_FRAMEWORK_CAPPED_STEPS] = FULCRUM_LEFT_OUT_STEPS};
    return rule == FULCRUM_FRAMEWORK_NETWORK
               ? fulcrum_left_out_network(plan, predicted, err)
               : fulcrum_left_out_formula(plan, forms[rule], predicted, err);
}

static enum fulcrum_status compare_left_out(
    struct job *job, size_t left_out, struct fulcrum_error *err)
{
    struct fulcrum_left_out_environment all[ENVIRONMENTS];
    double predicted[POINTS_MOST];
    struct fulcrum_framework_row *row =
        add_row(job, "environment", SEED_RL, environments[left_out].reference);
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        all[i] = (struct fulcrum_left_out_environment){job->curves[i], job->priors[i]};
    }
    const struct fulcrum_left_out_plan plan = {all, ENVIRONMENTS, left_out};
    for (int rule = 0; rule < FULCRUM_FRAMEWORK_RULES; rule++) {
        TRY(predict_left_out(&plan, (enum fulcrum_framework_rule)rule, predicted, err));
        row->errors[rule] = errors_of(job->curves[left_out], predicted);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status run(struct job *job, struct fulcrum_error *err)
{
    job->rows.items = fulcrum_allocate(ROWS_MOST, sizeof *job->rows.items);
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        TRY(load(job, i, err));
        if (job->curves[i]->point_count > POINTS_MOST) {
            TRY(fulcrum_fail(err, FULCRUM_ERR_RANGE,
                "%s: expected at most %d points of %s", environments[i].reference,
                (int)POINTS_MOST, SEED_RL));
        }
    }
    compare_all_counts(job);
    size_t first = job->rows.count;
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        TRY(compare_left_out(job, i, err));
    }
    add_total(job, first);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_frameworks_run(
    struct fulcrum_framework_rows *out, struct fulcrum_error *err)
{
    struct job job = {.rows = {.count = 0}};
    enum fulcrum_status status = run(&job, err);
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        fulcrum_validation_clear(&job.sets[i]);
        fulcrum_reference_free(job.references[i]);
        fulcrum_reference_free(job.curves[i]);
        fulcrum_calibration_free(job.priors[i]);
    }
    if (status != FULCRUM_OK) {
        fulcrum_framework_rows_clear(&job.rows);
        return status;
    }
    *out = job.rows;
    return FULCRUM_OK;
}

void fulcrum_framework_rows_clear(struct fulcrum_framework_rows *rows)
{
    free(rows->items);
    *rows = (struct fulcrum_framework_rows){.count = 0};
}
