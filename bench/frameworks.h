/* frameworks.h - whole frameworks over environments: how far predictions of what no fit
 * has seen are off. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_BENCH_FRAMEWORKS_H
#define FULCRUM_BENCH_FRAMEWORKS_H

#include <stddef.h>

#include "model/design/calibration.h"
#include "model/design/reference.h"
#include "model/status.h"

/* One environment of a framework, predicted from the others. */

/* One environment: one curve over run.env_count, and the priors of its parameters. */
struct fulcrum_left_out_environment {
    const struct fulcrum_reference *reference;
    const struct fulcrum_calibration *prior;
};

struct fulcrum_left_out_plan {
    const struct fulcrum_left_out_environment *environments; /* borrowed */
    size_t count;    /* 2 to FULCRUM_LEFT_OUT_MOST */
    size_t left_out; /* which of them */
};

/*
 * What the network says of the environment left out after a fit to all points of the
 * others. Time per batch and per observation and the delay are theirs together. A step
 * is the environment's own, known but for a factor each (ln sd 0.15), and the client's
 * share, which all have alike (0.5 ms, ln sd 0.5). Fast method, corrected by
 * simulations.
 *   predicted  one number per point of the one left out
 *   fails      as fulcrum_throughput_new and fulcrum_posterior_mode_find
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_left_out_network(
    const struct fulcrum_left_out_plan *plan, double *predicted,
    struct fulcrum_error *err);

/* What the environments of a formula have of their own beside their name. */
enum fulcrum_left_out_form {
    FULCRUM_LEFT_OUT_HYPERBOLA, /* nothing */
    FULCRUM_LEFT_OUT_CAPPED,    /* ceilings */
    FULCRUM_LEFT_OUT_STEPS      /* ceilings, and the time of a step in the latency */
};

/*
 * The same by a formula whose latency and time per item all share; the ceiling of the
 * one left out is at the median of its prior.
 *   fails    as fulcrum_formula_fit
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_left_out_formula(
    const struct fulcrum_left_out_plan *plan, enum fulcrum_left_out_form form,
    double *predicted, struct fulcrum_error *err);

/* What predicts. */
enum fulcrum_framework_rule {
    FULCRUM_FRAMEWORK_NETWORK,
    FULCRUM_FRAMEWORK_CAPPED_HYPERBOLA,
    FULCRUM_FRAMEWORK_HYPERBOLA,
    FULCRUM_FRAMEWORK_CAPPED_STEPS, /* of environments left out: the capped hyperbola
                                       with each one's step time in its latency */
    FULCRUM_FRAMEWORK_RULES
};

/* Errors of one rule, shares of what was observed. */
struct fulcrum_framework_errors {
    size_t count;
    double mape_frac; /* NAN: no point */
    double max_frac;
};

struct fulcrum_framework_row {
    const char *left_out; /* "counts" of environments, or a whole "environment" */
    char series[64];      /* the framework */
    char reference[64];   /* the environment; "all": all of them */
    struct fulcrum_framework_errors errors[FULCRUM_FRAMEWORK_RULES];
};

struct fulcrum_framework_rows {
    size_t count;
    struct fulcrum_framework_row *items;
};

/*
 * Every framework of Sample Factory's ten-core machine at the numbers of environments
 * that its calibrations were not fitted to, then SEED RL with one environment left out
 * in turn.
 *   out      the caller clears it
 *   fails    as fulcrum_reference_load, fulcrum_validate, fulcrum_posterior_mode_find
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_frameworks_run(
    struct fulcrum_framework_rows *out, struct fulcrum_error *err);

/* Accepts a struct of zeros. */
void fulcrum_framework_rows_clear(struct fulcrum_framework_rows *rows);

#endif
