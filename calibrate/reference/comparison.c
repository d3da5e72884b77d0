/* comparison.c - what was observed beside what is predicted, and their difference. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/comparison.h"

#include <assert.h>
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
        .hi = NAN};
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

struct fulcrum_comparison_errors fulcrum_comparison_errors(
    const struct fulcrum_comparison *comparison, const char *series,
    enum fulcrum_comparison_filter filter, int baseline)
{
    struct fulcrum_comparison_errors sum = {.count = 0};
    double with_interval = 0.0;
    double covered = 0.0;
    for (size_t i = 0; i < comparison->count; i++) {
        const struct fulcrum_compared *item = &comparison->items[i];
        double value = baseline < 0 ? item->predicted : item->baseline[baseline];
        const char *of = comparison->reference->points[item->point].series;
        bool is_admitted = filter == FULCRUM_COMPARE_ALL ||
                           (filter == FULCRUM_COMPARE_FITTED) == item->is_fitted;
        if ((series != NULL && strcmp(of, series) != 0) || !is_admitted ||
            isnan(value)) {
            continue;
        }
        double error = (value - item->observed) / item->observed;
        sum.count++;
        sum.mape_frac += fabs(error);
        sum.smape_frac +=
            2.0 * fabs(value - item->observed) / (fabs(value) + fabs(item->observed));
        sum.max_frac = fmax(sum.max_frac, fabs(error));
        sum.bias_frac += error;
        if (baseline < 0 && !isnan(item->lo)) {
            with_interval += 1.0;
            /* Within the interval, where rounding may have moved the observation. */
            double slack = isnan(item->half_width) ? 0.0 : item->half_width;
            bool is_covered = item->observed >= item->lo - slack &&
                              item->observed <= item->hi + slack;
            covered += is_covered ? 1.0 : 0.0;
        }
    }
    double count = sum.count > 0 ? (double)sum.count : (double)NAN;
    sum.mape_frac /= count;
    sum.smape_frac /= count;
    sum.bias_frac /= count;
    sum.covered_frac = with_interval > 0.0 ? covered / with_interval : (double)NAN;
    return sum;
}
