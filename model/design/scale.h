/* scale.h - times measured on one machine, carried over to another. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_DESIGN_SCALE_H
#define FULCRUM_MODEL_DESIGN_SCALE_H

#include "model/design/design.h"

/* One standard deviation of what (23) leaves open, as a factor: docs/model.md. */
#define FULCRUM_CPU_SPREAD_FACTOR 1.15
/* One standard deviation of what (24) leaves open, as a factor: docs/model.md. */
#define FULCRUM_GPU_SPREAD_FACTOR 1.3

/*
 * The four parts of GPU time on a target, each relative to all of it on the reference
 * (docs/model.md "From one machine to another", (24)); their sum is phi'.
 */
struct fulcrum_gpu_scale {
    double math;
    double sm;
    double dram;
    double latency;
    double launch;          /* of launch-bound parts, over what they take there */
    double compulsory_frac; /* of the target's memory traffic */
};

/* Kinds of work that a shared machine does not slow down alike. */
enum fulcrum_cpu_work {
    FULCRUM_CPU_WORK_ANY,
    FULCRUM_CPU_WORK_STEP, /* of environments */
    FULCRUM_CPU_WORK_BATCH /* of a learner on cores */
};

/*
 * r of (23): how much faster one thread of the target is; 1 where either is unknown.
 *   work     whose own canary tells, where both have it
 */
double fulcrum_cpu_speedup(const struct fulcrum_cpu *reference,
    const struct fulcrum_cpu *target, enum fulcrum_cpu_work work);

/* An unknown property of either GPU counts as equal. */
struct fulcrum_gpu_scale fulcrum_gpu_scale(
    const struct fulcrum_workload_network *network, const struct fulcrum_gpu *reference,
    const struct fulcrum_gpu *target);

/* phi' of (24): GPU time on the target over GPU time on the reference. */
double fulcrum_gpu_scale_sum(const struct fulcrum_gpu_scale *scale);

/*
 * Carries CPU times (step, host, delay) over: divides them by `speedup`.
 * `spread` multiplies them besides; 1 for none.
 */
void fulcrum_scale_cpu_times(struct fulcrum_workload *workload,
    const struct fulcrum_cpu *reference, const struct fulcrum_cpu *target,
    double spread);

/*
 * Carries inference, training and simulation times over to a GPU, and restates the
 * shares of GPU time and the launch-bound shares as they are there, so that scaling on
 * from the target (fewer SMs) composes to the same as scaling at once.
 */
void fulcrum_scale_gpu_times(struct fulcrum_workload *workload,
    const struct fulcrum_gpu_scale *scale, double spread);

/* The target with another number of SMs at work: (6) for one GPU. */
struct fulcrum_gpu_scale fulcrum_sm_scale(
    const struct fulcrum_workload_network *network, double sm_all, double sm_used);

/* Sets the share bound by math; the other three keep their proportions, the sum is 1.
 */
void fulcrum_set_math_frac(struct fulcrum_workload_network *network, double math_frac);

#endif
