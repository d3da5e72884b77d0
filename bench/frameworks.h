/* frameworks.h - whole frameworks over environments: how far predictions of what no fit
 * has seen are off. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_BENCH_FRAMEWORKS_H
#define FULCRUM_BENCH_FRAMEWORKS_H

#include <stddef.h>

#include "model/status.h"

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
