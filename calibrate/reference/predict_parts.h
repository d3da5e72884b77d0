/* predict_parts.h - references of kind gpu_parts: gains of processes on parts of a GPU.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_REFERENCE_PREDICT_PARTS_H
#define FULCRUM_CALIBRATE_REFERENCE_PREDICT_PARTS_H

#include "calibrate/reference/comparison.h"
#include "model/design/reference.h"
#include "model/predict/partition.h"
#include "model/status.h"

/* What a publication states of its stages: simulation s, agent a, training t. */
struct fulcrum_parts_inputs {
    double t_s_over_t_a; /* times alone on a GPU */
    double t_s_over_t_t;
    double r_s_over_r_a; /* SMs that they keep busy meanwhile */
    double r_s_over_r_t;
    double launch_overhead_frac;        /* of not being alone */
    double communication_overhead_frac; /* of training in several processes */
};

/*
 * One round of serving (simulation and agent) or of training, with simulation taking 1
 * second and `busy_frac` (0 to 1) of the SMs: docs/whatifs.md "Parts of a GPU".
 */
void fulcrum_parts_loop(const struct fulcrum_parts_inputs *inputs, double busy_frac,
    int trains, struct fulcrum_gpu_loop *out);

/*
 * The gain of `instances` whole loops with environments of their own on equal shares of
 * the SMs over one loop alone.
 */
double fulcrum_parts_gain(const struct fulcrum_parts_inputs *inputs, double busy_frac,
    int trains, double instances);

/* The share of the SMs that a loop alone keeps busy. */
double fulcrum_parts_utilisation(
    const struct fulcrum_parts_inputs *inputs, double busy_frac, int trains);

/*
 * One number is not published, the SMs that simulation keeps busy. It follows from the
 * mean gain of serving and the mean gain of its utilisation, the one point that is
 * fitted; every largest gain is then predicted, with as many instances as a GPU can be
 * cut into (7). The baseline "bounds" is the gain without overhead of any number of
 * instances.
 *
 *   reference  one point with the ratios, overheads and gains of gmidrl-scalars
 *   out        set on success only; the caller clears it
 *   fails      FULCRUM_ERR_MISSING (an input; the pair that is fitted),
 *              FULCRUM_ERR_RANGE (they ask for more than all SMs),
 * FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_parts(
    const struct fulcrum_reference *reference, struct fulcrum_comparison *out,
    struct fulcrum_error *err);

#endif
