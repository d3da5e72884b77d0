/* predict_memory.c - references of kind memory_gain: caches and bandwidth. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/predict_memory.h"

#include <math.h>
#include <string.h>

#include "model/memory_system.h"
#include "model/try.h"

/* The usual exponent, and the ends of those that Hartstein et al. 2006 find. */
static const double usual_exponent = 0.5;
static const double end_exponents[] = {0.3, 0.7};

/* A point's change, as far as it sets one. */
static int read_change(
    const struct fulcrum_reference_point *point, struct fulcrum_memory_change *out)
{
    const struct fulcrum_reference_setting *cache =
        fulcrum_reference_find_setting(point, "cache_rel");
    const struct fulcrum_reference_setting *bandwidth =
        fulcrum_reference_find_setting(point, "bandwidth_rel");
    if (cache == NULL || bandwidth == NULL) {
        return 0;
    }
    *out = (struct fulcrum_memory_change){
        .cache_rel = cache->number, .bandwidth_rel = bandwidth->number};
    return 1;
}

static int is_gain(const char *quantity)
{
    static const char end[] = "_gain_frac";
    size_t length = strlen(quantity);
    return length >= sizeof end - 1 &&
           strcmp(quantity + length - (sizeof end - 1), end) == 0;
}

static int is_fewer(const char *quantity)
{
    return strcmp(quantity, "fewer_gpus_frac") == 0;
}

/* The first gain of a series, with the change that has it. */
struct family {
    struct fulcrum_memory_change change;
    size_t point;
    size_t observation;
};

/* The first gain that a point observes; its number of observations: none. */
static size_t find_gain(const struct fulcrum_reference_point *point)
{
    size_t k = 0;
    while (k < point->observation_count && !is_gain(point->observations[k].quantity)) {
        k++;
    }
    return k;
}

static int find_family(
    const struct fulcrum_reference *reference, const char *series, struct family *out)
{
    for (size_t i = 0; i < reference->point_count; i++) {
        const struct fulcrum_reference_point *point = &reference->points[i];
        size_t k = find_gain(point);
        if (strcmp(point->series, series) == 0 && k < point->observation_count &&
            read_change(point, &out->change)) {
            out->change.gain_frac = point->observations[k].value;
            out->point = i;
            out->observation = k;
            return 1;
        }
    }
    return 0;
}

/* The gain at another change of the member with this exponent; NAN: there is none. */
static double gain_of(const struct family *family,
    const struct fulcrum_memory_change *change, double exponent)
{
    return fulcrum_memory_gain_frac(
        change, fulcrum_memory_dram_frac(&family->change, exponent), exponent);
}

/* Of an observed quantity: rates add up, so that so many fewer GPUs do the same. */
static double quantity_of(double gain_frac, const char *quantity)
{
    return is_fewer(quantity) ? gain_frac / (1.0 + gain_frac) : gain_frac;
}

static void add_interval(struct fulcrum_compared *item, const struct family *family,
    const struct fulcrum_memory_change *change, const char *quantity)
{
    double a = quantity_of(gain_of(family, change, end_exponents[0]), quantity);
    double b = quantity_of(gain_of(family, change, end_exponents[1]), quantity);
    item->lo = fmin(a, b);
    item->hi = fmax(a, b);
}

static int is_same_change(
    const struct fulcrum_memory_change *a, const struct fulcrum_memory_change *b)
{
    return fabs(a->cache_rel - b->cache_rel) <= 1e-9 * a->cache_rel &&
           fabs(a->bandwidth_rel - b->bandwidth_rel) <= 1e-9 * a->bandwidth_rel;
}

static enum fulcrum_status check_value(const struct fulcrum_reference *reference,
    size_t point, size_t observation, struct fulcrum_error *err)
{
    const struct fulcrum_observation *seen =
        &reference->points[point].observations[observation];
    return seen->value > 0.0
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_RANGE,
                     "reference %s: points[%zu].observed.%s = %.6g: expected a number "
                     "above 0",
                     reference->name, point, seen->quantity, seen->value);
}

/* One quantity of a point that sets `change`. */
static void add_item(struct fulcrum_comparison *comparison,
    const struct fulcrum_compared *place, const struct family *family,
    const struct fulcrum_memory_change *change)
{
    const struct fulcrum_reference_point *point =
        &comparison->reference->points[place->point];
    const char *quantity = point->observations[place->observation].quantity;
    int is_same = is_same_change(&family->change, change);
    double gain =
        is_same ? family->change.gain_frac : gain_of(family, change, usual_exponent);
    struct fulcrum_compared *item = fulcrum_comparison_add(
        comparison, place->point, place->observation, quantity_of(gain, quantity));
    item->is_fitted =
        place->point == family->point && place->observation == family->observation;
    if (!is_same) {
        add_interval(item, family, change, quantity);
    }
}

static enum fulcrum_status check_family(const struct fulcrum_reference *reference,
    const struct family *family, struct fulcrum_error *err)
{
    enum fulcrum_status status = fulcrum_memory_change_check(&family->change, err);
    if (status == FULCRUM_OK &&
        isnan(fulcrum_memory_dram_frac(&family->change, usual_exponent))) {
        status = fulcrum_fail(err, FULCRUM_ERR_INFEASIBLE,
            "no share meets a gain of %.6g at an exponent of %.2g",
            family->change.gain_frac, usual_exponent);
    }
    return status == FULCRUM_OK ? FULCRUM_OK
                                : fulcrum_fail_in(err, status, reference->name);
}

/* What the point observes at its change. */
static enum fulcrum_status predict_quantity(const struct fulcrum_compared *place,
    const struct family *family, const struct fulcrum_memory_change *change,
    struct fulcrum_comparison *comparison, struct fulcrum_error *err)
{
    const struct fulcrum_reference *reference = comparison->reference;
    const char *quantity =
        reference->points[place->point].observations[place->observation].quantity;
    if (!is_gain(quantity) && !is_fewer(quantity)) {
        return FULCRUM_OK;
    }
    TRY(check_value(reference, place->point, place->observation, err));
    add_item(comparison, place, family, change);
    return FULCRUM_OK;
}

static enum fulcrum_status predict_point(
    size_t index, struct fulcrum_comparison *comparison, struct fulcrum_error *err)
{
    const struct fulcrum_reference *reference = comparison->reference;
    const struct fulcrum_reference_point *point = &reference->points[index];
    struct fulcrum_memory_change change;
    struct family family;
    if (!read_change(point, &change) ||
        !find_family(reference, point->series, &family)) {
        return FULCRUM_OK;
    }
    TRY(check_family(reference, &family, err));
    for (size_t k = 0; k < point->observation_count; k++) {
        const struct fulcrum_compared place = {.point = index, .observation = k};
        TRY(predict_quantity(&place, &family, &change, comparison, err));
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_predict_memory(const struct fulcrum_reference *reference,
    struct fulcrum_comparison *out, struct fulcrum_error *err)
{
    struct fulcrum_comparison comparison = {0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_comparison_init(&comparison, reference, err));
    for (size_t i = 0; i < reference->point_count; i++) {
        TRY_OR_END(predict_point(i, &comparison, err));
    }
    if (comparison.count == 0) {
        TRY_OR_END(fulcrum_fail(err, FULCRUM_ERR_MISSING,
            "reference %s: no point sets cache_rel and bandwidth_rel and observes a "
            "gain, such as training_gain_frac",
            reference->name));
    }
end:
    return fulcrum_comparison_end(&comparison, status, out);
}
