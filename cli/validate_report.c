/* validate_report.c - the results of `validate` as tables. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/validate_report.h"

#include <math.h>
#include <string.h>

static const struct fulcrum_column set_columns[] = {
    {"reference", FULCRUM_COLUMN_TEXT, NULL},
    {"calibration", FULCRUM_COLUMN_TEXT, NULL},
    {"predictor", FULCRUM_COLUMN_TEXT, NULL},
    {"predicted_points", FULCRUM_COLUMN_NUMBER, "points"},
    {"mape_frac", FULCRUM_COLUMN_NUMBER, "MAPE"},
    {"smape_frac", FULCRUM_COLUMN_NUMBER, "SMAPE"},
    {"max_frac", FULCRUM_COLUMN_NUMBER, "max"},
    {"bias_frac", FULCRUM_COLUMN_NUMBER, "bias"},
    {"covered_frac", FULCRUM_COLUMN_NUMBER, "in 90 %"},
    {"fitted_points", FULCRUM_COLUMN_NUMBER, "fitted"},
    {"fitted_mape_frac", FULCRUM_COLUMN_NUMBER, "MAPE"},
    {"status", FULCRUM_COLUMN_TEXT, NULL},
};

static void add_set(struct fulcrum_report *report, const struct fulcrum_validation *set)
{
    const struct fulcrum_comparison *all = &set->comparison;
    struct fulcrum_comparison_errors new =
        fulcrum_comparison_errors(all, NULL, FULCRUM_COMPARE_PREDICTED, -1);
    struct fulcrum_comparison_errors old =
        fulcrum_comparison_errors(all, NULL, FULCRUM_COMPARE_FITTED, -1);
    fulcrum_report_add_text(report, set->reference->name);
    fulcrum_report_add_text(report, set->calibration);
    fulcrum_report_add_text(
        report, fulcrum_predictor_name((size_t)set->reference->predictor));
    const double errors[] = {(double)new.count, new.mape_frac, new.smape_frac,
        new.count > 0 ? new.max_frac : (double)NAN, new.bias_frac, new.covered_frac};
    for (size_t k = 0; k < sizeof errors / sizeof errors[0]; k++) {
        fulcrum_report_add_number(report, errors[k]);
    }
    fulcrum_report_add_number(report, (double)old.count);
    fulcrum_report_add_number(report, old.mape_frac);
    const char *status = new.count == 0 && old.count > 0 ? "fitted" : "predicted";
    fulcrum_report_add_text(report, set->reason[0] == '\0' ? status : set->reason);
}

struct fulcrum_report *fulcrum_validate_report_sets(
    const struct fulcrum_validate_job *job)
{
    struct fulcrum_report *report = fulcrum_report_new(
        "sets", set_columns, sizeof set_columns / sizeof set_columns[0]);
    for (size_t i = 0; i < job->count; i++) {
        add_set(report, &job->sets[i]);
    }
    return report;
}

static const struct fulcrum_column baseline_columns[] = {
    {"reference", FULCRUM_COLUMN_TEXT, NULL},
    {"calibration", FULCRUM_COLUMN_TEXT, NULL},
    {"by", FULCRUM_COLUMN_TEXT, NULL},
    {"points", FULCRUM_COLUMN_NUMBER, NULL},
    {"mape_frac", FULCRUM_COLUMN_NUMBER, "MAPE"},
    {"smape_frac", FULCRUM_COLUMN_NUMBER, "SMAPE"},
    {"max_frac", FULCRUM_COLUMN_NUMBER, "max"},
    {"bias_frac", FULCRUM_COLUMN_NUMBER, "bias"},
    {"kind", FULCRUM_COLUMN_TEXT, NULL},
};

static void add_baseline(struct fulcrum_report *report,
    const struct fulcrum_validation *set, int baseline,
    const struct fulcrum_comparison_errors *errors)
{
    fulcrum_report_add_text(report, set->reference->name);
    fulcrum_report_add_text(report, set->calibration);
    fulcrum_report_add_text(
        report, baseline < 0 ? "model" : fulcrum_baseline_name((size_t)baseline));
    fulcrum_report_add_number(report, (double)errors->count);
    fulcrum_report_add_number(report, errors->mape_frac);
    fulcrum_report_add_number(report, errors->smape_frac);
    fulcrum_report_add_number(report, errors->max_frac);
    fulcrum_report_add_number(report, errors->bias_frac);
    fulcrum_report_add_text(
        report, fulcrum_validate_filter(set) == FULCRUM_COMPARE_FITTED ? "fitted"
                                                                       : "predicted");
}

/* The model and every small formula that says something of the set. */
static void add_baselines(
    struct fulcrum_report *report, const struct fulcrum_validation *set)
{
    struct fulcrum_comparison_errors errors[FULCRUM_BASELINE_COUNT + 1];
    int is_any = 0;
    for (int k = -1; k < FULCRUM_BASELINE_COUNT; k++) {
        errors[k + 1] = fulcrum_comparison_errors(
            &set->comparison, NULL, fulcrum_validate_filter(set), k);
        is_any = is_any || (k >= 0 && errors[k + 1].count > 0);
    }
    for (int k = -1; is_any && k < FULCRUM_BASELINE_COUNT; k++) {
        if (errors[k + 1].count > 0) {
            add_baseline(report, set, k, &errors[k + 1]);
        }
    }
}

struct fulcrum_report *fulcrum_validate_report_baselines(
    const struct fulcrum_validate_job *job)
{
    struct fulcrum_report *report = fulcrum_report_new("baselines", baseline_columns,
        sizeof baseline_columns / sizeof baseline_columns[0]);
    for (size_t i = 0; i < job->count; i++) {
        add_baselines(report, &job->sets[i]);
    }
    return report;
}

static const struct fulcrum_column series_columns[] = {
    {"reference", FULCRUM_COLUMN_TEXT, NULL},
    {"series", FULCRUM_COLUMN_TEXT, NULL},
    {"predicted_points", FULCRUM_COLUMN_NUMBER, "points"},
    {"mape_frac", FULCRUM_COLUMN_NUMBER, "MAPE"},
    {"max_frac", FULCRUM_COLUMN_NUMBER, "max"},
    {"bias_frac", FULCRUM_COLUMN_NUMBER, "bias"},
    {"covered_frac", FULCRUM_COLUMN_NUMBER, "in 90 %"},
    {"bounds_mape_frac", FULCRUM_COLUMN_NUMBER, "bounds"},
    {"textbook_mape_frac", FULCRUM_COLUMN_NUMBER, "textbook"},
    {"capped_hyperbola_mape_frac", FULCRUM_COLUMN_NUMBER, "capped"},
    {"hyperbola_mape_frac", FULCRUM_COLUMN_NUMBER, "hyperbola"},
    {"fitted_points", FULCRUM_COLUMN_NUMBER, "fitted"},
};

int fulcrum_validate_next_series(
    const struct fulcrum_validation *set, size_t *next, const char **series)
{
    const struct fulcrum_comparison *all = &set->comparison;
    const struct fulcrum_reference_point *points = set->reference->points;
    for (; *next < all->count; (*next)++) {
        *series = points[all->items[*next].point].series;
        size_t first = 0;
        while (strcmp(points[all->items[first].point].series, *series) != 0) {
            first++;
        }
        if (first == *next && (*series)[0] != '\0') {
            (*next)++;
            return 1;
        }
    }
    return 0;
}

static void add_series(struct fulcrum_report *report,
    const struct fulcrum_validation *set, const char *series)
{
    const struct fulcrum_comparison *all = &set->comparison;
    struct fulcrum_comparison_errors new =
        fulcrum_comparison_errors(all, series, FULCRUM_COMPARE_PREDICTED, -1);
    struct fulcrum_comparison_errors old =
        fulcrum_comparison_errors(all, series, FULCRUM_COMPARE_FITTED, -1);
    fulcrum_report_add_text(report, set->reference->name);
    fulcrum_report_add_text(report, series);
    const double errors[] = {(double)new.count, new.mape_frac,
        new.count > 0 ? new.max_frac : (double)NAN, new.bias_frac, new.covered_frac};
    for (size_t k = 0; k < sizeof errors / sizeof errors[0]; k++) {
        fulcrum_report_add_number(report, errors[k]);
    }
    for (int k = 0; k < FULCRUM_BASELINE_COUNT; k++) {
        fulcrum_report_add_number(
            report, fulcrum_comparison_errors(all, series, FULCRUM_COMPARE_PREDICTED, k)
                        .mape_frac);
    }
    fulcrum_report_add_number(report, (double)old.count);
}

struct fulcrum_report *fulcrum_validate_report_series(
    const struct fulcrum_validate_job *job)
{
    struct fulcrum_report *report = fulcrum_report_new(
        "series", series_columns, sizeof series_columns / sizeof series_columns[0]);
    for (size_t i = 0; i < job->count; i++) {
        const char *series = NULL;
        size_t next = 0;
        while (fulcrum_validate_next_series(&job->sets[i], &next, &series)) {
            add_series(report, &job->sets[i], series);
        }
    }
    return report;
}

static const struct fulcrum_column point_columns[] = {
    {"reference", FULCRUM_COLUMN_TEXT, NULL},
    {"calibration", FULCRUM_COLUMN_TEXT, NULL},
    {"series", FULCRUM_COLUMN_TEXT, NULL},
    {"point", FULCRUM_COLUMN_NUMBER, NULL},
    {"quantity", FULCRUM_COLUMN_TEXT, NULL},
    {"observed", FULCRUM_COLUMN_NUMBER, NULL},
    {"half_width", FULCRUM_COLUMN_NUMBER, "+-"},
    {"predicted", FULCRUM_COLUMN_NUMBER, NULL},
    {"predicted_lo", FULCRUM_COLUMN_NUMBER, "5 %"},
    {"predicted_hi", FULCRUM_COLUMN_NUMBER, "95 %"},
    {"error_frac", FULCRUM_COLUMN_NUMBER, "error"},
    {"bounds", FULCRUM_COLUMN_NUMBER, NULL},
    {"textbook", FULCRUM_COLUMN_NUMBER, NULL},
    {"capped_hyperbola", FULCRUM_COLUMN_NUMBER, "capped"},
    {"hyperbola", FULCRUM_COLUMN_NUMBER, NULL},
    {"kind", FULCRUM_COLUMN_TEXT, NULL},
};

static void add_point(struct fulcrum_report *report,
    const struct fulcrum_validation *set, const struct fulcrum_compared *item)
{
    const struct fulcrum_reference *reference = set->reference;
    fulcrum_report_add_text(report, reference->name);
    fulcrum_report_add_text(report, set->calibration);
    fulcrum_report_add_text(report, reference->points[item->point].series);
    fulcrum_report_add_number(report, (double)item->point);
    fulcrum_report_add_text(
        report, fulcrum_validate_observation(&set->comparison, item)->quantity);
    const double numbers[] = {item->observed, item->half_width, item->predicted,
        item->lo, item->hi, item->predicted / item->observed - 1.0};
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        fulcrum_report_add_number(report, numbers[k]);
    }
    for (size_t k = 0; k < FULCRUM_BASELINE_COUNT; k++) {
        fulcrum_report_add_number(report, item->baseline[k]);
    }
    fulcrum_report_add_text(report, item->is_fitted ? "fitted" : "predicted");
}

struct fulcrum_report *fulcrum_validate_report_points(
    const struct fulcrum_validate_job *job)
{
    struct fulcrum_report *report = fulcrum_report_new(
        "points", point_columns, sizeof point_columns / sizeof point_columns[0]);
    for (size_t i = 0; i < job->count; i++) {
        const struct fulcrum_comparison *all = &job->sets[i].comparison;
        for (size_t k = 0; k < all->count; k++) {
            add_point(report, &job->sets[i], &all->items[k]);
        }
    }
    return report;
}
