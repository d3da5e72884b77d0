/* fit_sm.h - how times on a GPU grow as it is left fewer SMs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_FIT_FIT_SM_H
#define FULCRUM_CALIBRATE_FIT_FIT_SM_H

#include <stddef.h>

#include "calibrate/fit/fit.h"
#include "model/design/design.h"
#include "model/status.h"

/* A median time on `sm_count` SMs: of inferring `batch`, or of a training step. */
struct fulcrum_sm_point {
    double batch; /* 0: a training step */
    double sm_count;
    double time_s;
};

struct fulcrum_sm_fit {
    double sm_count;     /* of the whole GPU, where the times below hold */
    double per_batch_s;  /* inference: t0 */
    double per_item_s;   /* t1 */
    double train_step_s; /* NAN where no step was given */
    /* Shares as in the workload; of the four shares of GPU time only that of math shows
     * when SMs are taken away, the others keep their proportions. */
    double launch_bound_frac;
    double math_frac;
    double train_launch_bound_frac; /* NAN where no step was given */
    struct fulcrum_fit_result fit;
};

/*
 * Fits (5) and (6) of docs/model.md "Work on a part of the SMs" to points over batch
 * sizes and SMs, as model/design/scale.c carries times to other numbers of SMs. Shares
 * have weak priors: the fields' fallbacks, with the spread of any number between 0
 * and 1. points    inference at two batch sizes and three numbers of SMs at least
 *   sm_count  all SMs; no point has more
 *   out       set on success only
 *   fails     FULCRUM_ERR_RANGE, FULCRUM_ERR_NO_FIT (too few), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_sm(struct fulcrum_sm_fit *out,
    const struct fulcrum_sm_point *points, size_t count, double sm_count,
    struct fulcrum_error *err);

/* The time that the fit gives to a point's batch and SMs; its time_s is not read. */
double fulcrum_sm_fit_s(
    const struct fulcrum_sm_fit *fit, const struct fulcrum_sm_point *point);

#endif
