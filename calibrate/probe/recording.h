/* recording.h - one growing series of samples, and what its undisturbed part says. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PROBE_RECORDING_H
#define FULCRUM_CALIBRATE_PROBE_RECORDING_H

#include <stddef.h>

#include "calibrate/stopwatch.h"
#include "model/design/calibration.h"
#include "model/status.h"

/* A fixed piece of work whose time tells whether the machine was disturbed. */

/* A sample beside a canary that took this much longer than usual is disturbed. */
#define FULCRUM_CANARY_LIMIT_REL 1.08

/*
 * Some tenths of a ms of work that feels what environments and networks feel: many
 * additions and multiplications at once, which a thread on the same core slows down,
 * and a walk through memory of the second-level cache's size. Its times hold under one
 * condition: where other cores are loaded on purpose the usual time is another one. {0}
 * is a legal start.
 */
struct fulcrum_canary_tables; /* what the loop reads; opaque */

struct fulcrum_canary {
    struct fulcrum_canary_tables *tables; /* NULL before the first run */
    double *reading_s;                    /* CPU seconds of every run so far */
    size_t count;
    size_t capacity;
    double baseline_s; /* of the readings so far; 0 before the first */
    double usual_frac; /* quantile of the readings that is the usual time; 0: 0.05 */
    struct fulcrum_span last; /* the latest run, and when it ended */
    double last_end_s;
};

/* Gives readings and tables back and leaves an empty canary. */
void fulcrum_canary_free(struct fulcrum_canary *canary);

/*
 * Before a sample: runs the loop, unless a run has only just ended.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_canary_open(
    struct fulcrum_canary *canary, const struct fulcrum_stopwatch *stopwatch,
    struct fulcrum_error *err);

/*
 * After it: runs the loop again.
 *   out      the longer of the two runs
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_canary_close(
    struct fulcrum_canary *canary, double *out, enum fulcrum_clock clock,
    const struct fulcrum_stopwatch *stopwatch, struct fulcrum_error *err);

/* A reading with a time from elsewhere. fails: FULCRUM_ERR_NO_MEMORY */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_canary_add(
    struct fulcrum_canary *canary, double reading_s, struct fulcrum_error *err);

/*
 * A time of the loop over its usual one: the 5th percentile of the readings unless told
 * otherwise, since the very least may be luck. 1 before the first reading.
 */
double fulcrum_canary_rel(const struct fulcrum_canary *canary, double reading_s);

/*
 * Median of the readings within FULCRUM_CANARY_LIMIT_REL of the usual time: how fast
 * the core was while samples were undisturbed. NAN before the first reading. fails
 * FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_canary_calm_s(
    const struct fulcrum_canary *canary, double *out, struct fulcrum_error *err);

struct fulcrum_sample {
    double x;
    double value;
    double canary_s; /* time of the canary beside it, 0: none ran */
    int marked;      /* known to be disturbed for another reason */
};

/* Which samples are disturbed is settled late: the canary's usual time is learnt. */
struct fulcrum_recording {
    struct fulcrum_series header; /* its arrays are not used */
    const struct fulcrum_canary *canary;
    struct fulcrum_sample *samples;
    size_t count;
    size_t capacity;
};

/*
 *   header   name, unit, x_name and condition
 *   canary   the one that runs beside the samples; borrowed
 */
void fulcrum_recording_init(struct fulcrum_recording *out,
    const struct fulcrum_series *header, const struct fulcrum_canary *canary);

/* Leaves it without samples; the canary is not touched. */
void fulcrum_recording_free(struct fulcrum_recording *recording);

/* fails: FULCRUM_ERR_NO_MEMORY */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_recording_add(
    struct fulcrum_recording *recording, const struct fulcrum_sample *sample,
    struct fulcrum_error *err);

/* 1 where the canary or a mark says that sample `i` was disturbed. */
int fulcrum_recording_disturbed(const struct fulcrum_recording *recording, size_t i);

/* How many samples at `x` are undisturbed. */
size_t fulcrum_recording_calm_count(
    const struct fulcrum_recording *recording, double x);

/*
 * The entry of `x` (count > 0) with the fewest samples, the first of such; a disturbed
 * sample counts half, so that it is repeated without holding up the others.
 */
double fulcrum_recording_neediest(
    const struct fulcrum_recording *recording, const double *x, size_t count);

struct fulcrum_summary {
    double median;
    double lo; /* 95 % interval of the median; below six samples least and most */
    double hi;
    double mean;
    double standard_error; /* of the median */
    size_t used;           /* samples behind it; 0: nothing there, the rest is NAN */
    size_t disturbed;      /* samples that were set aside, or would have been */
    int took_all;          /* too few were undisturbed, so all of them count */
};

/*
 * Over the undisturbed samples at `x`, or over all where these are fewer than four and
 * fewer than half.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_recording_summary(
    const struct fulcrum_recording *recording, double x, struct fulcrum_summary *out,
    struct fulcrum_error *err);

/*
 * Adds every sample as a series; nothing where there is none.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_recording_report(
    const struct fulcrum_recording *recording, struct fulcrum_calibration *calibration,
    struct fulcrum_error *err);

#endif
