/* statistics.h - medians, spread and when to stop; random numbers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_STATISTICS_H
#define FULCRUM_CALIBRATE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/status.h"

/* Failures of GSL's routines are statuses, not the end of the program. */

/*
 * GSL ends the program at its first failure unless told otherwise: a matrix without
 * rank, no memory. Every call of ours looks at what it returns, so programs call this
 * once, before anything else and before any thread. The library does not by itself,
 * since the setting belongs to the whole process.
 */
void fulcrum_numerics_return_failures(void);

/* How far the quartiles of a normal law are apart, in standard deviations. */
#define FULCRUM_QUARTILES_SD 1.349
#define FULCRUM_DISTANCE_SD  1.4826 /* over the median distance from the middle */

/* Of one series of samples, in their unit. */
struct fulcrum_statistics {
    size_t count;
    double median;
    double median_low;  /* distribution-free interval that holds the true median with */
    double median_high; /* at least 95 %; NaN below six samples, where there is none */
    double low_quartile;
    double high_quartile;
    double mean;
    double lag1; /* correlation of neighbours in time; 0 without variation */
};

/*
 *   sample   in the order of measurement; not changed
 *   out      set on success only
 *   fails    FULCRUM_ERR_RANGE (no sample, or one that is not finite),
 *            FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_statistics_of(
    struct fulcrum_statistics *out, const double *sample, size_t count,
    struct fulcrum_error *err);

/* Quantile in [0, 1], linear between order statistics; `sorted` increases. */
double fulcrum_statistics_quantile(const double *sorted, size_t count, double frac);

/* Sorts the sample; NAN where there is none. */
double fulcrum_statistics_median(double *sample, size_t count);

/* From the median distance to the median, which takes the sample's place. */
double fulcrum_statistics_robust_sd(double *sample, size_t count);

/*
 * Rank k in 1..count/2 such that the k-th smallest and the k-th largest sample enclose
 * the true median with at least 95 %, by the binomial law; 0 if no pair does.
 */
size_t fulcrum_statistics_median_rank(size_t count);

/*
 * Half the width of the median's interval over the median. Where neighbours correlate
 * more than chance would have it, it is widened to the count of independent samples
 * that they amount to. Infinite while it is unknown.
 */
double fulcrum_statistics_spread_rel(const struct fulcrum_statistics *statistics);

/* Whether that spread is at most `target_rel`, above 0: time to stop repeating. */
bool fulcrum_statistics_settled(
    const struct fulcrum_statistics *statistics, double target_rel);

/* Random numbers of measurements. */

/* SplitMix64: any state is a good one, and a copy replays the stream. */
struct fulcrum_random {
    uint64_t state;
};

/* Streams of different seeds are unrelated, 0 and 1 included. */
struct fulcrum_random fulcrum_random_seeded(uint64_t seed);

/* 64 independent bits. */
uint64_t fulcrum_random_bits(struct fulcrum_random *random);

/* Uniform in [low, high); `low` < `high`. */
double fulcrum_random_between(struct fulcrum_random *random, double low, double high);

#endif
