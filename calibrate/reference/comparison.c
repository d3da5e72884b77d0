/* comparison.c - what was observed beside what is predicted, and their difference. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/comparison.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether "a, b, c:d" has the item of `length`, followed by its end or one of `ends`.
 * Items are compared where they begin, as a series may have ", " in its name. */
static bool has(const char *list, const char *item, size_t length, const char *ends)
{
    const char *at = list;
    while (at != NULL) {
        if (strncmp(at, item, length) == 0 &&
            (at[length] == '\0' || strchr(ends, at[length]) != NULL)) {
            return true;
        }
        at = strstr(at, ", ");
        at = at != NULL ? at + 2 : NULL;
    }
    return false;
}

bool fulcrum_fitted_points_list_has(const char *list, const char *item)
{
    return has(list, item, strlen(item), ",");
}

bool fulcrum_fitted_points_saw(
    const char *fitted_to, const char *held_out, const char *point)
{
    const char *colon = strrchr(point, ':');
    size_t length = colon != NULL ? (size_t)(colon - point) : strlen(point);
    return has(fitted_to, point, length, ",:") &&
           !fulcrum_fitted_points_list_has(held_out, point);
}

bool fulcrum_fitted_points_whole(const struct fulcrum_calibration *calibration,
    const struct fulcrum_reference *reference)
{
    return fulcrum_fitted_points_list_has(
        fulcrum_calibration_note(calibration, FULCRUM_NOTE_FITTED_TO), reference->name);
}

bool fulcrum_fitted_points_part(const struct fulcrum_calibration *calibration,
    const struct fulcrum_reference *reference)
{
    return has(fulcrum_calibration_note(calibration, FULCRUM_NOTE_FITTED_TO),
        reference->name, strlen(reference->name), ",:");
}

bool fulcrum_fitted_points_point(const struct fulcrum_calibration *calibration,
    const struct fulcrum_reference *reference, size_t point)
{
    const struct fulcrum_reference_point *from = &reference->points[point];
    const char *fitted = fulcrum_calibration_note(calibration, FULCRUM_NOTE_FITTED_TO);
    char curve[sizeof reference->name + sizeof from->series];
    char single[sizeof reference->name + 24];
    (void)snprintf(curve, sizeof curve, "%s:%s", reference->name, from->series);
    (void)snprintf(single, sizeof single, "%s:%zu", reference->name, from->index);
    return (fulcrum_fitted_points_list_has(fitted, reference->name) ||
               fulcrum_fitted_points_list_has(fitted, curve)) &&
           !fulcrum_fitted_points_list_has(
               fulcrum_calibration_note(calibration, FULCRUM_NOTE_HELD_OUT), single);
}

void fulcrum_comparison_clear(struct fulcrum_comparison *comparison)
{
    free(comparison->items);
    *comparison = (struct fulcrum_comparison){.count = 0};
}

struct fulcrum_compared *fulcrum_comparison_add(struct fulcrum_comparison *comparison,
    size_t point, size_t observation, double predicted)
{
    const struct fulcrum_reference_point *from = &comparison->reference->points[point];
    assert(observation < from->observation_count);
    const struct fulcrum_observation *seen = &from->observations[observation];
    assert(seen->value > 0.0);
    struct fulcrum_compared *item = &comparison->items[comparison->count++];
    *item = (struct fulcrum_compared){.point = point,
        .observation = observation,
        .observed = seen->value,
        .half_width = seen->half_width,
        .predicted = predicted,
        .lo = NAN,
        .hi = NAN,
        .bare = {NAN, NAN, NAN}};
    for (size_t i = 0; i < FULCRUM_BASELINE_COUNT; i++) {
        item->baseline[i] = NAN;
    }
    return item;
}

const struct fulcrum_observation *fulcrum_compared_observation(
    const struct fulcrum_comparison *comparison, const struct fulcrum_compared *item)
{
    return &comparison->reference->points[item->point].observations[item->observation];
}

/* ln(value) as a law with another standard deviation on either side of the median. */
struct law {
    double median;
    double sd_lo;
    double sd_hi;
};

static struct law law_of(const struct fulcrum_compared *item)
{
    return (struct law){.median = log(item->predicted),
        .sd_lo = fmax(0.0, log(item->predicted / item->lo)) / FULCRUM_HALF_OF_90,
        .sd_hi = fmax(0.0, log(item->hi / item->predicted)) / FULCRUM_HALF_OF_90};
}

static double quantile(const struct law *law, double probability)
{
    double z = gsl_cdf_ugaussian_Pinv(probability);
    return law->median + z * (z < 0.0 ? law->sd_lo : law->sd_hi);
}

double fulcrum_compared_nominal(const struct fulcrum_compared *item)
{
    if (isnan(item->lo)) {
        return FULCRUM_UNKNOWN;
    }
    const struct law law = law_of(item);
    double off = log(item->observed) - law.median;
    double sd = off < 0.0 ? law.sd_lo : law.sd_hi;
    double z = sd > 0.0 ? fabs(off) / sd : (fabs(off) > 0.0 ? HUGE_VAL : 0.0);
    return 2.0 * gsl_cdf_ugaussian_P(z) - 1.0;
}

/* Twice the mean pinball loss over the quantiles, here at the middles of hundredths. */
static double crps_of(const struct fulcrum_compared *item)
{
    enum { PARTS = 100 };
    const struct law law = law_of(item);
    double observed = log(item->observed);
    double sum = 0.0;
    for (int i = 0; i < PARTS; i++) {
        double probability = ((double)i + 0.5) / PARTS;
        double over = observed - quantile(&law, probability);
        sum += over * (probability - (over < 0.0 ? 1.0 : 0.0));
    }
    return 2.0 * sum / PARTS;
}

/* The width, and 2 / alpha times what the observation is beyond it. */
static double interval_score_of(const struct fulcrum_compared *item)
{
    double lo = log(item->lo);
    double hi = log(item->hi);
    double observed = log(item->observed);
    double beyond = fmax(0.0, fmax(lo - observed, observed - hi));
    return hi - lo + 2.0 / 0.1 * beyond;
}

static void add_scores(
    const struct fulcrum_compared *item, struct fulcrum_comparison_errors *sum)
{
    double nominal = fulcrum_compared_nominal(item);
    sum->interval_count++;
    sum->covered_frac += nominal <= 0.9 ? 1.0 : 0.0;
    sum->half_covered_frac += nominal <= 0.5 ? 1.0 : 0.0;
    sum->interval_score += interval_score_of(item);
    sum->crps += crps_of(item);
}

/* Whether an item is of the series, NULL for any, and passes the filter. */
static bool is_admitted(const struct fulcrum_comparison *comparison,
    const struct fulcrum_compared *item, const char *series,
    enum fulcrum_comparison_filter filter)
{
    const char *of = comparison->reference->points[item->point].series;
    return (series == NULL || strcmp(of, series) == 0) &&
           (filter == FULCRUM_COMPARE_ALL ||
               (filter == FULCRUM_COMPARE_FITTED) == item->is_fitted);
}

void fulcrum_comparison_errors_add(struct fulcrum_comparison_errors *sum,
    const struct fulcrum_comparison *comparison, const char *series,
    enum fulcrum_comparison_filter filter, int baseline)
{
    for (size_t i = 0; i < comparison->count; i++) {
        const struct fulcrum_compared *item = &comparison->items[i];
        double value = baseline < 0 ? item->predicted : item->baseline[baseline];
        if (!is_admitted(comparison, item, series, filter) || isnan(value)) {
            continue;
        }
        double error = (value - item->observed) / item->observed;
        sum->count++;
        sum->mape_frac += fabs(error);
        sum->smape_frac +=
            2.0 * fabs(value - item->observed) / (fabs(value) + fabs(item->observed));
        sum->max_frac = fmax(sum->max_frac, fabs(error));
        sum->bias_frac += error;
        if (baseline < 0 && !isnan(item->lo)) {
            add_scores(item, sum);
        }
    }
}

void fulcrum_comparison_errors_end(struct fulcrum_comparison_errors *sum)
{
    double count = sum->count > 0 ? (double)sum->count : (double)NAN;
    sum->mape_frac /= count;
    sum->smape_frac /= count;
    sum->bias_frac /= count;
    double intervals =
        sum->interval_count > 0 ? (double)sum->interval_count : (double)NAN;
    sum->covered_frac /= intervals;
    sum->half_covered_frac /= intervals;
    sum->interval_score /= intervals;
    sum->crps /= intervals;
}

struct fulcrum_comparison_errors fulcrum_comparison_errors(
    const struct fulcrum_comparison *comparison, const char *series,
    enum fulcrum_comparison_filter filter, int baseline)
{
    struct fulcrum_comparison_errors sum = {.count = 0};
    fulcrum_comparison_errors_add(&sum, comparison, series, filter, baseline);
    fulcrum_comparison_errors_end(&sum);
    return sum;
}
