/* validate_job.h - a validation and its baseline. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_VALIDATE_VALIDATE_JOB_H
#define FULCRUM_CLI_VALIDATE_VALIDATE_JOB_H

#include <stdbool.h>

#include "calibrate/reference/validation.h"
#include "cli/command/fit_job.h"
#include "cli/output/check_list.h"
#include "model/predict/predict.h"

/* References with what is predicted of them, as `validate` wants. */

/*
 * One reference predicted from one calibration, or without any. A reference comes more
 * than once where a calibration was fitted to it beside the one that it names.
 */
struct fulcrum_validate_job {
    size_t count;
    struct fulcrum_validation *sets;
    size_t reference_count;
    struct fulcrum_reference **references;
    /* Presets that were fitted to references, or the one that the user named. */
    size_t calibration_count;
    struct fulcrum_calibration **calibrations;
};

/* What an item of a comparison observed. Borrowed. */
const struct fulcrum_observation *fulcrum_validate_observation(
    const struct fulcrum_comparison *comparison, const struct fulcrum_compared *item);

/* What a run predicted, in the form in which an earlier one is stored. */

/* One prediction of a reference's point, with six digits. Texts lie in the result. */
struct fulcrum_stored_point {
    const char *reference;
    const char *calibration; /* "": none */
    const char *quantity;
    double point; /* of the reference, from 0 */
    double observed;
    double predicted;
    bool is_fitted;
};

/*
 * One machine preset with one workload preset and some actors, on one GPU, by the fast
 * method. No reference says what is right: they show which predictions a change moved.
 */
struct fulcrum_stored_design {
    const char *machine;
    const char *workload;
    double actor_count;
    double value[FULCRUM_OUTPUT_COUNT]; /* those kept; NAN: nothing to say */
};

/* {0} is none. */
struct fulcrum_baseline_run {
    struct fulcrum_result *result; /* as the file has it */
    size_t count;
    struct fulcrum_stored_point *points;
    size_t design_count;
    struct fulcrum_stored_design *designs;
};

/*
 * What a job predicted, and, where `has_designs`, every machine preset with every
 * workload preset that it can run.
 *   out      the caller clears it, after a failure too
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_baseline_make(
    const struct fulcrum_validate_job *job, bool has_designs,
    struct fulcrum_context *context, struct fulcrum_baseline_run *out,
    struct fulcrum_error *err);

/*
 * Reads what fulcrum_baseline_write or `fulcrum validate --format json` wrote.
 *   out      the caller clears it, after a failure too
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_baseline_read(
    const char *path, struct fulcrum_baseline_run *out, struct fulcrum_error *err);

/* Whole or not at all. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_baseline_write(
    const struct fulcrum_baseline_run *run, const char *path,
    struct fulcrum_error *err);

void fulcrum_baseline_clear(struct fulcrum_baseline_run *baseline);

/* What a new run may differ by. */
struct fulcrum_baseline_limits {
    double moved_rel; /* of one prediction */
    double loss_frac; /* that the mean absolute percentage error of a set's predicted
                         points may grow by: 0.005 is half a percentage point */
};

/* Two runs to compare. */
struct fulcrum_baseline_pair {
    const struct fulcrum_baseline_run *stored;
    const struct fulcrum_baseline_run *now;
};

/*
 * Adds the checks of one set: its error against the stored one, and each stored
 * prediction. Returns how many stored points belong to the set.
 */
size_t fulcrum_baseline_check(const struct fulcrum_baseline_pair *runs,
    const struct fulcrum_validation *set, const struct fulcrum_baseline_limits *limits,
    struct fulcrum_check_list *checks);

/* Adds a check for each stored design: it must be predicted, and as it was. */
void fulcrum_baseline_check_designs(const struct fulcrum_baseline_pair *runs,
    double moved_rel, struct fulcrum_check_list *checks);

/*
 * Adds a failed check for each reference and calibration that is stored and no longer
 * predicted by any set.
 *   is_all  the run is over all that was stored; 0: over some references, of which none
 *           may lack stored predictions altogether, as under a calibration of another
 *           name
 */
void fulcrum_baseline_check_sets(const struct fulcrum_baseline_run *baseline,
    const struct fulcrum_validate_job *job, bool is_all,
    struct fulcrum_check_list *checks);

/*
 * Repeats the fit of every calibration of the job that was fitted to one of its
 * references, by the note "fit_arguments", and adds a check for each parameter: value
 * and standard error must come out again. A calibration without the note is skipped.
 *   most_rel  how far the two may differ
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_validate_refit(
    const struct fulcrum_validate_job *job, double most_rel,
    const struct fulcrum_context *context, struct fulcrum_check_list *checks,
    struct fulcrum_error *err);

#endif
