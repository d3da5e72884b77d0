/* cohort.h - the stationary cycle of cohorts that batches send to step, (8) and (10).
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_FAST_COHORT_H
#define FULCRUM_MODEL_FAST_COHORT_H

#include "model/fast/steps.h"
#include "model/network/network.h"

struct fulcrum_cohort {
    struct fulcrum_cycle cycle; /* host and GPU keep up with what forms or finishes */
    double interval_s;          /* between the starts of batches in it */
    double interval_sd_s; /* of one interval, fixed batches only: how much chance moves
                             it */
    double stays_frac; /* of a batch's actors, still at the CPU when the next returns */
};

/*
 * docs/model.md "Cohort equation": any law, any number of actors, greedy batches
 * without a limit that never let the GPU idle, or batches of a fixed size. Actors are a
 * fluid, and every cycle is like the last one.
 *   network      checked; t_e > 0, and t(1) > 0 unless batches are of a fixed size
 *   table        of its step
 *   gpu_stretch  as fulcrum_batch_service_of
 *   batch        where to look first; 0 if not known
 */
struct fulcrum_cohort fulcrum_cohort_solve(const struct fulcrum_network *network,
    const struct fulcrum_step_table *table, double gpu_stretch, double batch);

#endif
