/* resident.h - workloads whose environments are simulated on the GPU: closed form. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_PREDICT_RESIDENT_H
#define FULCRUM_MODEL_PREDICT_RESIDENT_H

#include "model/network/solution.h"
#include "model/predict/partition.h"
#include "model/predict/to_network.h"

/* What one process does, in seconds; docs/model.md "Simulation on the GPU". */
struct fulcrum_resident_times {
    double env_count;    /* environments of the process */
    double simulation_s; /* a step of all of them */
    double inference_s;
    double host_s;
    double train_s;       /* a training step; 0 without training */
    double steps_between; /* steps of all environments between two training steps; 1
                             without training */
};

/* design  one that fulcrum_design_check accepts, with fulcrum_design_is_resident */
struct fulcrum_resident_times fulcrum_resident_times_of(
    const struct fulcrum_design *design);

/*
 * Rate and utilisations of one process on its GPU or instance: step after step of all
 * environments, then a training step, nothing side by side.
 *   replicas   its stations and counts, for watts and ratios; no solver can take its
 *            network
 *   fails    FULCRUM_ERR_INFEASIBLE (memory)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_resident_solve(
    const struct fulcrum_design *design, struct fulcrum_replicas *replicas,
    struct fulcrum_solution *solution, struct fulcrum_error *err);

/*
 * The stages of one process on a whole GPU, for fulcrum_place_...: simulation,
 * inference and, where there is one, training. A round is one training step's worth of
 * agent steps, or one step of all environments without training. Host work counts as
 * inference's. The design's instances are not looked at.
 */
void fulcrum_resident_loop(
    const struct fulcrum_design *design, struct fulcrum_gpu_loop *out);

#endif
