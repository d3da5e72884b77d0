/* statistics.c - medians, spread and when to stop; random numbers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/statistics.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/try.h"

/* Failures of GSL's routines are statuses, not the end of the program. */

void fulcrum_numerics_return_failures(void)
{
    (void)gsl_set_error_handler_off();
}

/* Chance left outside the median's interval on either side. */
static const double tail_frac = 0.025;

double fulcrum_statistics_quantile(const double *sorted, size_t count, double frac)
{
    assert(count > 0 && frac >= 0 && frac <= 1);
    return gsl_stats_quantile_from_sorted_data(sorted, 1, count, frac);
}

double fulcrum_statistics_median(double *sample, size_t count)
{
    gsl_sort(sample, 1, count);
    return count > 0 ? fulcrum_statistics_quantile(sample, count, 0.5) : (double)NAN;
}

double fulcrum_statistics_robust_sd(double *sample, size_t count)
{
    double middle = fulcrum_statistics_median(sample, count);
    for (size_t i = 0; i < count; i++) {
        sample[i] = fabs(sample[i] - middle);
    }
    return FULCRUM_DISTANCE_SD * fulcrum_statistics_median(sample, count);
}

size_t fulcrum_statistics_median_rank(size_t count)
{
    /* Here the normal law is exact to a rank, and the binomial one slow. */
    if (count > 1000000) {
        return (size_t)((double)count / 2 - 0.98 * sqrt((double)count));
    }
    size_t low = 0;
    size_t high = count / 2 + 1;
    while (high - low > 1) {
        size_t rank = low + (high - low) / 2;
        double outside = gsl_cdf_binomial_P((unsigned)(rank - 1), 0.5, (unsigned)count);
        if (outside <= tail_frac) {
            low = rank;
        } else {
            high = rank;
        }
    }
    return low;
}

/* By hand: GSL divides by a variance that may be zero. */
static double lag1_of(const double *sample, size_t count)
{
    double mean = gsl_stats_mean(sample, 1, count);
    double product = 0;
    double square = 0;
    for (size_t i = 0; i < count; i++) {
        double here = sample[i] - mean;
        product += i > 0 ? here * (sample[i - 1] - mean) : 0;
        square += here * here;
    }
    return square > 0 ? product / square : 0;
}

enum fulcrum_status fulcrum_statistics_of(struct fulcrum_statistics *out,
    const double *sample, size_t count, struct fulcrum_error *err)
{
    FAIL_IF(count == 0, err, FULCRUM_ERR_RANGE, "statistics of no samples");
    for (size_t i = 0; i < count; i++) {
        FAIL_IF(!isfinite(sample[i]), err, FULCRUM_ERR_RANGE,
            "sample %zu of %zu is %g, not a finite number", i + 1, count, sample[i]);
    }
    double *sorted = calloc(count, sizeof *sorted);
    TRY_MEMORY(sorted, err, "%zu samples", count);
    memcpy(sorted, sample, count * sizeof *sorted);
    struct fulcrum_statistics result = {.count = count};
    /* The part that needs order: `sorted` is used up. */
    result.median = fulcrum_statistics_median(sorted, count);
    result.low_quartile = fulcrum_statistics_quantile(sorted, count, 0.25);
    result.high_quartile = fulcrum_statistics_quantile(sorted, count, 0.75);
    size_t rank = fulcrum_statistics_median_rank(count);
    result.median_low = rank > 0 ? sorted[rank - 1] : (double)NAN;
    result.median_high = rank > 0 ? sorted[count - rank] : (double)NAN;
    free(sorted);
    result.mean = gsl_stats_mean(sample, 1, count);
    result.lag1 = lag1_of(sample, count);
    *out = result;
    return FULCRUM_OK;
}

double fulcrum_statistics_spread_rel(const struct fulcrum_statistics *statistics)
{
    double half = (statistics->median_high - statistics->median_low) / 2;
    double size = fabs(statistics->median);
    if (isnan(half) || !(size > 0)) {
        return (double)INFINITY;
    }
    /* Two standard errors of a correlation that is not there. */
    double chance = 2 / sqrt((double)statistics->count);
    double lag1 = fmin(statistics->lag1, 0.99);
    double widen = lag1 > chance ? sqrt((1 + lag1) / (1 - lag1)) : 1;
    return widen * half / size;
}

bool fulcrum_statistics_settled(
    const struct fulcrum_statistics *statistics, double target_rel)
{
    assert(target_rel > 0);
    return fulcrum_statistics_spread_rel(statistics) <= target_rel;
}

struct fulcrum_random fulcrum_random_seeded(uint64_t seed)
{
    struct fulcrum_random random = {seed};
    /* Neighbouring seeds would give one stream shifted by a step of the counter. */
    random.state = fulcrum_random_bits(&random);
    return random;
}

/* Steele, Lea and Flood: Fast splittable pseudorandom number generators (2014). */
uint64_t fulcrum_random_bits(struct fulcrum_random *random)
{
    random->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t bits = random->state;
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

double fulcrum_random_between(struct fulcrum_random *random, double low, double high)
{
    double unit = (double)(fulcrum_random_bits(random) >> 11) * 0x1p-53;
    return low + (high - low) * unit;
}
