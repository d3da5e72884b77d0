/* validate_baseline.h - an earlier run of `validate`, to compare a new one with. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_VALIDATE_BASELINE_H
#define FULCRUM_CLI_VALIDATE_BASELINE_H

#include "cli/check_list.h"
#include "cli/validate_designs.h"
#include "cli/validate_job.h"

/* One stored prediction. */
struct fulcrum_stored_point {
    char reference[64];
    char calibration[FULCRUM_REFERENCE_CALIBRATION_SIZE]; /* "": none */
    char quantity[64];
    double point; /* of the reference, from 0 */
    double observed;
    double predicted;
    int is_fitted;
};

struct fulcrum_baseline_run {
    size_t count;
    struct fulcrum_stored_point *points;
    struct fulcrum_design_predictions designs;
};

/*
 * Writes the predictions of a job as a baseline, with six digits: enough to see what
 * moves, few enough to be the same on every machine. Whole or not at all.
 *   designs  none: no predictions of presets
 *   fails    as fulcrum_output_open; FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_baseline_write(
    const struct fulcrum_validate_job *job,
    const struct fulcrum_design_predictions *designs, const char *path,
    struct fulcrum_error *err);

/*
 * Reads what fulcrum_baseline_write or `fulcrum validate --format json` wrote.
 *   out      the caller clears it, after a failure too
 *   fails    as fulcrum_document_read; FULCRUM_ERR_FORMAT, FULCRUM_ERR_MISSING,
 *            FULCRUM_ERR_RANGE (all faults, a line each), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_baseline_read(
    const char *path, struct fulcrum_baseline_run *out, struct fulcrum_error *err);

/* Accepts a struct of zeros. */
void fulcrum_baseline_clear(struct fulcrum_baseline_run *baseline);

/* What a new run may differ by. */
struct fulcrum_baseline_limits {
    double moved_rel; /* of one prediction */
    double loss_frac; /* that the mean absolute percentage error of a set's predicted
                         points may grow by: 0.005 is half a percentage point */
};

/*
 * Adds the checks of one set: its error against the stored one, and each stored
 * prediction. Returns how many stored points belong to the set.
 */
size_t fulcrum_baseline_check(const struct fulcrum_baseline_run *baseline,
    const struct fulcrum_validation *set, const struct fulcrum_baseline_limits *limits,
    struct fulcrum_check_list *checks);

/*
 * Adds a failed check for each reference and calibration that is stored and no longer
 * predicted by any set.
 *   is_all  the run is over all that was stored; 0: over some references, of which none
 *           may lack stored predictions altogether, as under a calibration of another
 *           name
 */
void fulcrum_baseline_check_sets(const struct fulcrum_baseline_run *baseline,
    const struct fulcrum_validate_job *job, int is_all,
    struct fulcrum_check_list *checks);

#endif
