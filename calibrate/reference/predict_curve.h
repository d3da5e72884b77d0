/* predict_curve.h - references of kind cpu_curve: every other worker count predicted.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_REFERENCE_PREDICT_CURVE_H
#define FULCRUM_CALIBRATE_REFERENCE_PREDICT_CURVE_H

#include <stdbool.h>
#include <stddef.h>

#include "calibrate/fit/fit.h"
#include "calibrate/fit/fit_cpu_curve.h"
#include "calibrate/reference/comparison.h"
#include "model/design/reference.h"
#include "model/status.h"

/*
 * Per series, the CPU curve is fitted to the first, third, ... worker count and
 * predicts all; docs/model.md "CPU curve". How workers are coupled follows from the
 * first of these words that the series' name contains:
 *   numa                    asynchronous, bound to their sockets
 *   async, Sample-Factory   asynchronous
 *   sync                    synchronous
 *   Subprocess, pipe        processes stepped through pipes
 *   For-loop                one thread without workers: left out
 *
 * The baselines "bounds" and "textbook" are both min(workers, threads) times the rate
 * of a worker in the first point.
 *
 *   reference  points set "workers" and have "steps_per_s" or "frames_per_s"; a
 *              machine whose sockets are not known has one
 *   out        set on success only: every observation but those left out, in the
 *              unit of the reference; the caller clears it
 *   fails      FULCRUM_ERR_MISSING (workers, a rate, cores, threads),
 *              FULCRUM_ERR_RANGE, FULCRUM_ERR_UNKNOWN_NAME (none of these words),
 *              FULCRUM_ERR_NO_FIT (fewer than three worker counts, or no
 *              convergence), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_curve(
    const struct fulcrum_reference *reference, struct fulcrum_comparison *out,
    struct fulcrum_error *err);

/* What became of one series. */
struct fulcrum_curve_verdict {
    char series[64];
    bool is_left_out; /* then only `reason` says more */
    enum fulcrum_actor_coupling coupling;
    enum fulcrum_fit_advice advice; /* by the fitted points alone; table: no form is to
                                       be trusted with this curve */
    char reason[200];
    struct fulcrum_comparison_errors held_out; /* of the counts that were not fitted */
};

struct fulcrum_curve_verdicts {
    size_t count;
    struct fulcrum_curve_verdict *items; /* in the order of the reference */
};

/* As fulcrum_predict_curve, for the verdicts; the caller clears them. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_curve_verdicts_of(
    const struct fulcrum_reference *reference, struct fulcrum_curve_verdicts *out,
    struct fulcrum_error *err);

/* Accepts a struct of zeros. */
void fulcrum_curve_verdicts_clear(struct fulcrum_curve_verdicts *verdicts);

#endif
