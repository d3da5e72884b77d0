/* baseline.h - a run of `validate`, stored, and what has moved since. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_REFERENCE_BASELINE_H
#define FULCRUM_CALIBRATE_REFERENCE_BASELINE_H

#include "calibrate/reference/validation.h"
#include "model/predict/predict.h"
#include "model/result.h"
#include "model/string.h"

/* What was checked: rows of a table with "suite", "name", "outcome" and "text". */

enum fulcrum_check_outcome {
    FULCRUM_CHECK_PASSED,
    FULCRUM_CHECK_FAILED,
    FULCRUM_CHECK_SKIPPED
};

/*
 * Adds a check named as by printf; clears the text.
 *   suite    what it belongs to: the name of a reference
 *   text     why it failed or was skipped; empty where it passed
 *   outcome  with a text: failed or skipped
 */
void fulcrum_check_add(struct fulcrum_table *checks, const char *suite,
    enum fulcrum_check_outcome outcome, struct fulcrum_string *text, const char *name,
    ...) FULCRUM_PRINTF(5, 6);

enum fulcrum_check_outcome fulcrum_check_outcome_of(
    const struct fulcrum_table *checks, size_t row);

/* |to - from| over |from|: 0 where neither is known, INFINITY where `from` is 0 and
 * `to` is not, or one of them alone is not known. */
double fulcrum_relative_change(double from, double to);

/*
 * A run is a result with a table "points", a row for each prediction of a reference's
 * point, and perhaps "designs", a row for each design: machine preset, workload preset
 * and actors on one GPU, by the fast method. No reference says what is right of these:
 * they show which predictions a change moved. Numbers have six digits.
 */
struct fulcrum_result *fulcrum_baseline_new(
    const struct fulcrum_validation *sets, size_t count);

/* Adds a row to the table "designs". */
void fulcrum_baseline_add_design(struct fulcrum_table *designs, const char *machine,
    const char *workload, const struct fulcrum_prediction *prediction);

/*
 * Reads a stored run, or what `fulcrum validate --format json` wrote.
 *   out      set on success only
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_baseline_read(
    const char *path, struct fulcrum_result **out, struct fulcrum_error *err);

/* A stored run beside one of now. Borrowed. */
struct fulcrum_baseline_check {
    const struct fulcrum_result *stored; /* NULL: none */
    const struct fulcrum_result *now;
    const struct fulcrum_validation *sets; /* of now */
    size_t set_count;
    double moved_rel; /* that one prediction may differ by */
    double loss_frac; /* that the mean absolute percentage error of a set's predicted
                         points may grow by: 0.005 is half a percentage point */
    struct fulcrum_table *checks; /* gets what was checked */
};

/*
 * Checks one set: its error against the stored one, and each stored prediction.
 * Returns how many stored points belong to the set.
 */
size_t fulcrum_baseline_check_set(const struct fulcrum_baseline_check *baseline,
    const struct fulcrum_validation *set);

/* A check for each stored design: it must be predicted, and as it was. */
void fulcrum_baseline_check_designs(const struct fulcrum_baseline_check *baseline);

/*
 * A failed check for each reference and calibration that is stored and no longer
 * predicted by any set.
 *   is_all  the run is over all that was stored; false: over some references, of which
 *           none may lack stored predictions altogether, as under a calibration of
 *           another name
 */
void fulcrum_baseline_check_missing(
    const struct fulcrum_baseline_check *baseline, bool is_all);

#endif
