/* recorder_cost.h - what recording costs, and totals without it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PIPELINE_RECORDER_COST_H
#define FULCRUM_CALIBRATE_PIPELINE_RECORDER_COST_H

#include <stddef.h>

#include "calibrate/pipeline/recorder.h"
#include "model/status.h"

/*
 * Where the cost of one stage's record arises. A stage that is entered by begin and
 * left by end takes some of it inside its own span and leaves the rest to what is
 * around it; in a chain of next all of it lies inside stages.
 */
struct fulcrum_recorder_cost {
    double pair_inside_s;
    double pair_outside_s;
    double chained_s;
};

/*
 * Medians over tight loops, about 10 ms. Caches are warm there: a pipeline may pay more
 * (fulcrum_recorder_cost_regress, fulcrum_recorder_cost_scaled).
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_recorder_cost_measure(
    struct fulcrum_recorder_cost *out, struct fulcrum_error *err);

/* Every part times `factor`. */
struct fulcrum_recorder_cost fulcrum_recorder_cost_scaled(
    const struct fulcrum_recorder_cost *cost, double factor);

/* T - sum_k n_k o_k of one track: docs/where-the-time-goes.md. */
struct fulcrum_recorder_correction {
    double exclusive_s[FULCRUM_STAGE_KIND_COUNT]; /* corrected; >= 0 */
    double recording_s[FULCRUM_STAGE_KIND_COUNT]; /* taken off each */
    double outside_s;                             /* arose outside any stage */
    double total_s;                               /* of the track */
};

/*
 * Takes the cost off where it arises: its inside part off the stage itself, its outside
 * part off the stage around, or off no stage. Stages of the CPU; a device's clock does
 * not see the recorder. Of the cycles that were recorded.
 */
struct fulcrum_recorder_correction fulcrum_recorder_correct(
    const struct fulcrum_recorder_track *track,
    const struct fulcrum_recorder_cost *cost);

/* Relative cost over interleaved pairs of runs with and without recording. */
struct fulcrum_recorder_pairs {
    size_t pair_count;
    double mean_frac;  /* more time for the same work; below 0 where noise rules */
    double sd_frac;    /* from pair to pair */
    double upper_frac; /* one-sided upper 95 % limit of the mean, Student's t */
    double median_frac;
};

/*
 *   with_per_s, without_per_s   rates of work, > 0, in the order of measurement
 *   fails    FULCRUM_ERR_RANGE (fewer than two pairs, a rate that is not above 0)
 *            FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_recorder_cost_of_pairs(
    struct fulcrum_recorder_pairs *out, const double *with_per_s,
    const double *without_per_s, size_t count, struct fulcrum_error *err);

/* One run of known work with some number of events of each kind, or none. */
struct fulcrum_recorder_run {
    double time_s;
    double work_count;
    double event_count[FULCRUM_STAGE_KIND_COUNT];
};

/* time_s = work_s work_count + sum_k event_s[k] event_count[k]. */
struct fulcrum_recorder_regression {
    double work_s;
    double work_se_s;
    double event_s[FULCRUM_STAGE_KIND_COUNT]; /* NAN: no run has such events */
    double event_se_s[FULCRUM_STAGE_KIND_COUNT];
};

/*
 * Robust least squares (bisquare weights): a run that the machine disturbed counts
 * little.
 *   fails    FULCRUM_ERR_RANGE (not more runs than unknowns, a value that is not
 *            finite), FULCRUM_ERR_NO_FIT (runs do not tell the kinds apart),
 *            FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_recorder_cost_regress(
    struct fulcrum_recorder_regression *out, const struct fulcrum_recorder_run *runs,
    size_t count, struct fulcrum_error *err);

#endif
