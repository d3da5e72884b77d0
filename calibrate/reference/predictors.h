/* predictors.h - what predicts the points of each kind of reference. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_REFERENCE_PREDICTORS_H
#define FULCRUM_CALIBRATE_REFERENCE_PREDICTORS_H

#include "calibrate/reference/comparison.h"
#include "model/design/calibration.h"
#include "model/design/reference.h"

/*
 * Each adds what it predicts to `out`, which is of the reference and empty.
 *   fails    FULCRUM_ERR_MISSING, FULCRUM_ERR_RANGE, FULCRUM_ERR_NO_FIT and others of
 *            what the reference says, FULCRUM_ERR_NO_MEMORY
 */

/* The first observation of a point whose quantity has a pattern of the shell; their
 * count: none. */
size_t fulcrum_observed_find(
    const struct fulcrum_reference_point *point, const char *pattern);

/*
 * Whether there is such an observation, above 0.
 *   expected  what is missing where there is none, for the detail
 *   fails     FULCRUM_ERR_MISSING, FULCRUM_ERR_RANGE
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_observed_check(
    const struct fulcrum_reference *reference, size_t point, size_t observation,
    const char *expected, struct fulcrum_error *err);

/*
 * cpu_curve, gpu_power, server_power, sm_scaling and node_scaling: of each curve the
 * first, third, ... place is fitted, and all are predicted.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_curves(
    struct fulcrum_comparison *out, struct fulcrum_error *err);

/* What a curve of node_scaling counts: "gpu_count", the GPUs of a machine, where the
 * point sets it, else machines, "node_count". */
const char *fulcrum_scaling_setting(const struct fulcrum_reference_point *point);

/*
 * server_prior: watts of servers by (13) at the values of the reference's machine. The
 * interval is that of the spreads of the machine preset's priors.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_watts(
    struct fulcrum_comparison *out, struct fulcrum_error *err);

/*
 * memory_gain: the first gain of a series fixes the family of DRAM-bound shares and
 * exponents (docs/model.md "Memory system", (18)) and is left out: that it is met is an
 * identity. Predicted is the member with an exponent of 0.5, the interval is that of
 * exponents from 0.3 to 0.7.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_memory(
    struct fulcrum_comparison *out, struct fulcrum_error *err);

/*
 * gpu_parts: every largest gain of processes on parts of a GPU, from the mean gains of
 * serving and of its utilisation, which are left out: docs/whatifs.md "Parts of a GPU".
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_parts(
    struct fulcrum_comparison *out, struct fulcrum_error *err);

/*
 * throughput: every figure by simulation at the calibration's values, with 90 %
 * intervals from draws of its errors, and the baselines. Figures that the calibration
 * was fitted to are marked, as its notes say.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_throughput(
    struct fulcrum_comparison *out, const struct fulcrum_calibration *calibration,
    struct fulcrum_error *err);

/* The small formulas that predictions of throughput are shown beside. */

/* The centre of the prior of C, of what the environments alone would do. */
#define FULCRUM_FORMULA_CAP_OF_CEILING 0.85

/* N / (a + b N), under a ceiling or without one. */
struct fulcrum_formula {
    double latency_s;  /* a: a round where nobody waits */
    double per_item_s; /* b: what each environment adds to it */
    double cap_per_s;  /* C; INFINITY: none */
};

/*
 * Steps per second of `env_count` environments, above 0:
 * [((a + b N) / N)^p + C^-p]^(-1/p).
 */
double fulcrum_formula_rate(const struct fulcrum_formula *formula, double env_count);

/* One curve, and how it is fitted. */
struct fulcrum_formula_plan {
    const double *env_count; /* by rising count, above 0 */
    const double *steps_per_s;
    size_t count;
    double ceiling_per_s; /* of environments alone; NAN: no ceiling is fitted */
    double noise_rel;     /* of every point */
    double frame_skip;    /* the prior of b is one of frames; unused without ceiling */
};

/*
 * The maximum a posteriori, by trust regions, of latency, b and ceiling. With a
 * ceiling: ln(1 / b) about that of 40,000 frames per second (sd 1), ln C about that of
 * 0.85 ceilings (sd 0.15), a free. Without: a and b free. Errors are those of
 * logarithms, which take half as much and twice as much alike.
 *   fails    FULCRUM_ERR_RANGE (fewer than two points, a number that is not above 0),
 *            FULCRUM_ERR_NO_FIT, FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_formula_fit(
    const struct fulcrum_formula_plan *plan, struct fulcrum_formula *out,
    struct fulcrum_error *err);

#endif
