/* cluster.h - training on many devices: data-parallel, model-parallel and both. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_DESIGN_CLUSTER_H
#define FULCRUM_MODEL_DESIGN_CLUSTER_H

#include <stddef.h>

#include "model/design/design.h"

/* Time to sum the gradients of many devices, over links of levels. */

/* How devices sum what each has, so that each has the sum. */
enum fulcrum_allreduce {
    FULCRUM_ALLREDUCE_BEST, /* the shortest of the others */
    FULCRUM_ALLREDUCE_RING, /* one ring over all devices */
    FULCRUM_ALLREDUCE_TREE, /* two binary trees over all devices, half the bytes each */
    FULCRUM_ALLREDUCE_HIERARCHICAL /* scattered within each level, summed across */
};

/*
 * One level of links: devices within a machine, machines of a cluster. The innermost
 * comes first; each level joins groups of the one before.
 */
struct fulcrum_link_level {
    double count;      /* devices or groups that it joins, a whole number >= 1 */
    double byte_per_s; /* out of one of them, one direction; > 0, may be INFINITY */
    double latency_s;  /* of one message over a link; >= 0 */
};

/*
 * Seconds until every device has the sum of `byte` bytes of each
 * (docs/model.md "All-reduce"). One device, or nothing to sum, takes exactly 0.
 *   levels   level_count of them, innermost first
 */
double fulcrum_allreduce_s(enum fulcrum_allreduce how,
    const struct fulcrum_link_level *levels, size_t level_count, double byte);

/* "best", "ring", "tree", "hierarchical"; NULL beyond the last one. Borrowed, static.
 */
const char *fulcrum_allreduce_name(int how);

/*
 * Training of one network, as it is on one device and what more devices change
 * (docs/model.md "Training on many devices"). A worker is one device, or the devices
 * that one copy of the network is split over.
 */
struct fulcrum_cluster {
    double step_s;              /* one training step of one device's own batch */
    double launch_bound_frac;   /* of step_s that a smaller batch does not shorten */
    double batch_size;          /* the own batch; NAN: not known */
    double gradient_byte;       /* summed over the workers after every update */
    double update_count;        /* of a step: each sums gradients by itself */
    double overlap_frac;        /* of a step, during which they already travel */
    double critical_batch_size; /* B_c; INFINITY: epochs do not grow; NAN: not known */
    double model_parallel_frac; /* of step_s that the devices of a worker divide */
    struct fulcrum_link link;   /* NAN bandwidth: takes no time */
    enum fulcrum_allreduce allreduce;
    enum fulcrum_batch_scaling scaling;
};

/* Devices: machines, how many of each, and how many of them make one worker. */
struct fulcrum_layout {
    double node_count;
    double node_device_count; /* a multiple of model_parallel_count */
    double model_parallel_count;
    double instance_count; /* workers on parts of one device; 1 where a worker has
                              several */
};

/* One training step of all devices. */
struct fulcrum_cluster_step {
    double worker_count;
    double global_batch_size;
    double compute_s;
    double allreduce_s;     /* all of it, of every update */
    double exposed_s;       /* of it, what computing does not hide */
    double step_s;          /* compute_s + exposed_s */
    double efficiency;      /* SE: compute_s / step_s */
    double samples_per_s;   /* NAN where batch_size is */
    double epochs_rel;      /* E, over that of the own batch; NAN: not known */
    double speedup;         /* samples per second, over one device */
    double quality_speedup; /* time to the same quality, one device over this */
};

/*
 * Spreads devices evenly over as few machines as there must be.
 *   most_per_node   devices of one machine, a whole number >= 1
 *   fails           FULCRUM_ERR_RANGE (not whole numbers >= 1), FULCRUM_ERR_INFEASIBLE
 * (the devices, or those of a machine, are no multiple of model_parallel_count)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_layout_spread(double device_count,
    double most_per_node, double model_parallel_count, struct fulcrum_layout *out,
    struct fulcrum_error *err);

/* (16). `cluster` and `layout` as described above; strong scaling needs no more workers
 * than its batch has samples, which is not looked at here. */
struct fulcrum_cluster_step fulcrum_cluster_step_of(
    const struct fulcrum_cluster *cluster, const struct fulcrum_layout *layout);

/* SU_M of (16a): Amdahl's law, for `frac` of a step on `count` devices. */
double fulcrum_model_parallel_speedup(double frac, double count);

/* The share that gives `speedup`, from 1 to `count`, on `count` > 1 devices. */
double fulcrum_model_parallel_frac(double speedup, double count);

/*
 * The training of a design: a worker's share of its GPUs, the links of its machine.
 *   train_step_s   of one device, scaled to what the design runs on
 */
struct fulcrum_cluster fulcrum_cluster_of(
    const struct fulcrum_design *design, double train_step_s);

/* Machines and GPUs that train, or learner cores, of a design that fulcrum_design_check
 * accepts.
 */
struct fulcrum_layout fulcrum_layout_of(const struct fulcrum_design *design);

/* "weak", "strong"; NULL beyond the last one. Borrowed, static. */
const char *fulcrum_batch_scaling_name(int scaling);

#endif
