/* validation.h - every reference predicted by what predicts its kind. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_REFERENCE_VALIDATION_H
#define FULCRUM_CALIBRATE_REFERENCE_VALIDATION_H

#include "calibrate/reference/comparison.h"
#include "model/design/calibration.h"
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

#endif
