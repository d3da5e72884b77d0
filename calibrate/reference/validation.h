/* validation.h - every reference predicted by what predicts its kind. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_REFERENCE_VALIDATION_H
#define FULCRUM_CALIBRATE_REFERENCE_VALIDATION_H

#include "calibrate/reference/comparison.h"
#include "model/design/calibration.h"
#include "model/design/reference.h"
#include "model/result.h"

/*
 * Predicts the points of a reference by what predicts its kind.
 *   calibration  of throughput; others take NULL
 *   out          set on success only; the caller clears it
 *   fails        FULCRUM_ERR_UNSUPPORTED (nothing does); what the reference says is
 *                missing, out of range or not to be fitted; FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_reference(
    const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_comparison *out,
    struct fulcrum_error *err);

/* What became of one reference. */
struct fulcrum_validation {
    const struct fulcrum_reference *reference;            /* borrowed */
    char calibration[FULCRUM_REFERENCE_CALIBRATION_SIZE]; /* that it was predicted from;
                             "by series" where series have their own
                             (fulcrum_reference_calibration); "": none */
    bool is_carried_over; /* the calibration is of a machine of another name */
    struct fulcrum_comparison comparison; /* empty where nothing was predicted */
    char reason[400]; /* why nothing was, or which series were not; "" where all was */
    bool has_failed; /* some that should have been was not: what the reference says does
                       not run, or no calibration is known for any of it */
};

/*
 * A reference that cannot be predicted is no failure: it says why.
 *   calibration  of references of throughput; NULL: what the reference names for each
 *                series or for all, or its workload
 *   fails        as fulcrum_calibration_load; FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_validate(
    const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_validation *out,
    struct fulcrum_error *err);

void fulcrum_validation_clear(struct fulcrum_validation *validation);

/*
 * What the model is off by, from the points of `count` sets that no fit has seen and
 * that are not carried over: a calibration with run.discrepancy and run.extrapolation,
 * and both without each set as quantities (fulcrum_discrepancy_without).
 *   which    of fulcrum_discrepancy_names
 *   out      the caller frees it with fulcrum_calibration_free
 *   fails    as fulcrum_calibration_load; FULCRUM_ERR_NO_FIT (no points)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_discrepancy_learn(
    const struct fulcrum_validation *sets, size_t count, size_t which,
    struct fulcrum_calibration **out, struct fulcrum_error *err);

/* The points that a set is judged by: those predicted, or the fitted ones where a fit
 * has seen them all. */
enum fulcrum_comparison_filter fulcrum_validation_filter(
    const struct fulcrum_validation *set);

/* What people see first; files have all of it. */
enum fulcrum_validation_view {
    FULCRUM_VALIDATION_SETS,
    FULCRUM_VALIDATION_SERIES,
    FULCRUM_VALIDATION_POINTS,
    FULCRUM_VALIDATION_DOCUMENT /* about accuracy, the same on every machine */
};

/* Means over all points, sets, curves and points, and small formulas beside them. The
 * caller frees it. */
struct fulcrum_result *fulcrum_validation_result(const struct fulcrum_validation *items,
    size_t count, enum fulcrum_validation_view which);

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
