/* mean_field.h - greedy batches by the embedded mean-field equation (9). */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_MEAN_FIELD_H
#define FULCRUM_MODEL_MEAN_FIELD_H

#include "model/cpu_drain.h"
#include "model/cycle_mean.h"
#include "model/network.h"

struct fulcrum_mean_field {
    struct fulcrum_cycle cycle; /* smoothed, idling counted */
    double idle_frac;   /* batches at whose end nobody waits, so that the GPU idles */
    double plain_batch; /* of the fluid alone: not smoothed, never idle */
    double plain_steps_per_s;
    double plain_least; /* of its actors at the CPU, at the end of a batch */
};

/*
 * docs/model.md "Mean-field equation": any number of actors, steps taken as
 * exponential, a batch limit not looked at.
 *   network      checked; t_e > 0 and t(1) > 0
 *   drain        of its CPU
 *   gpu_stretch  as fulcrum_pace_of
 */
struct fulcrum_mean_field fulcrum_mean_field_solve(
    const struct fulcrum_network *network, const struct fulcrum_cpu_drain *drain,
    double gpu_stretch);

#endif
