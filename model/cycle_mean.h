/* cycle_mean.h - what a fast method says of the mean cycle of a network. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_CYCLE_MEAN_H
#define FULCRUM_MODEL_CYCLE_MEAN_H

/*
 * Means over one stationary cycle, from the start of a batch to the start of the next,
 * nothing training: the parts of which model/fast.c makes a solution.
 */
struct fulcrum_cycle {
    double batch;
    double steps_per_s;
    double at_cpu;   /* actors stepping or waiting for a thread, mean over time */
    double stepping; /* of these on a thread */
    double on_cores; /* cores with a stepping thread */
    double at_gpu;   /* observations on the GPU or waiting for it */
};

#endif
