/* half_curve.c - one curve of a reference: every other place fitted, the rest
 * predicted.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/half_curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/try.h"

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
    if (reference->point_count == 0) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_FIT,
            "reference %s: points is empty, curves expected", reference->name);
    }
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
