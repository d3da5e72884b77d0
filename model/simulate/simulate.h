/* simulate.h - discrete-event simulation of a whole network. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_SIMULATE_SIMULATE_H
#define FULCRUM_MODEL_SIMULATE_SIMULATE_H

#include <stddef.h>

#include "model/network/solution.h"

/* Confidence interval of a simulated rate. */

enum { FULCRUM_WINDOWS_LEAST = 20, FULCRUM_WINDOWS_MOST = 2 * FULCRUM_WINDOWS_LEAST };

/*
 * Time taken by consecutive windows of equally many steps. When the room is used up,
 * neighbours are merged, so that windows grow with the length of the run and become
 * independent of each other.
 */
struct fulcrum_batch_means {
    double window_s[FULCRUM_WINDOWS_MOST];
    size_t count;
    size_t merged; /* windows added that make one entry */
    size_t pending;
};

/* Adds one window of the original length. */
void fulcrum_batch_means_add(struct fulcrum_batch_means *means, double window_s);

/*
 * Half-width of the 95 % Student-t interval of the mean window, relative to that mean;
 * INFINITY below two entries and where no time has passed. It is the relative
 * half-width of the rate as well, to first order.
 */
double fulcrum_batch_means_half_width_rel(const struct fulcrum_batch_means *means);

/*
 * Correlation of neighbouring entries: near 0 where they are independent, so that the
 * half-width can be believed; 0 where all are equal.
 */
double fulcrum_batch_means_correlation(const struct fulcrum_batch_means *means);

/*
 * Simulates until the 95 % interval of steps_per_s is as narrow as asked for, or
 * max_steps are reached (FULCRUM_FLAG_NOT_SETTLED). The same network, options and seed
 * give the same bytes. The host takes a batch when it is free and fewer than `depth`
 * batches are between the actors and the end of the GPU.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_simulate(
    const struct fulcrum_network *network, const struct fulcrum_solver_options *options,
    struct fulcrum_solution *out, struct fulcrum_error *err);

#endif
