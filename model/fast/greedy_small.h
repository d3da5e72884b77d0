/* greedy_small.h - the mean cycle of a greedy batch server with a handful of actors. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_FAST_GREEDY_SMALL_H
#define FULCRUM_MODEL_FAST_GREEDY_SMALL_H

#include <stdbool.h>
#include <stddef.h>

#include "model/fast/steps.h"
#include "model/network/network.h"
#include "model/status.h"

/* A limit of batches acts where its distance to the usual batch is no more than this
 * many square roots of it: beyond four deviations, chance does not get there. */
#define FULCRUM_LIMIT_MARGIN 4.0

/* Anderson's acceleration of a fixed-point iteration. */

enum { FULCRUM_ANDERSON_DEPTH = 4 };

/* What the last iterations did. */
struct fulcrum_anderson {
    size_t length;
    size_t turns;
    double *memory; /* owned: all rows below */
    double *point;
    double *change;
    double *point_step[FULCRUM_ANDERSON_DEPTH];
    double *change_step[FULCRUM_ANDERSON_DEPTH];
    double gram[FULCRUM_ANDERSON_DEPTH][FULCRUM_ANDERSON_DEPTH];
};

/*
 * Makes room for iterations of vectors of `length`.
 *   out      set on success only; the caller clears it with fulcrum_anderson_clear
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_anderson_init(
    struct fulcrum_anderson *out, size_t length, struct fulcrum_error *err);

/* Accepts a struct of zeros. */
void fulcrum_anderson_clear(struct fulcrum_anderson *anderson);

/*
 * Replaces `point`, whose image under the iterated function is `image`, by a better
 * guess of the fixed point. The first guess is the image itself. Bounds on the vector
 * are not known here and may be overshot.
 */
void fulcrum_anderson_step(
    struct fulcrum_anderson *anderson, double *point, const double *image);

/*
 * Whether fulcrum_greedy_small_solve can take a checked network: greedy, host and GPU
 * one after the other, at most 64 actors, steps that vary next to their mean and the
 * delay, and no delay where there are more actors than threads.
 */
bool fulcrum_greedy_small_accepts(const struct fulcrum_network *network);

/*
 * Whether a network that it can take is one to take it for: so few actors, or a limit
 * of batches that acts for a part of the time with so few, that equations for means are
 * off by more than a few per cent; a solution then costs a millisecond or so at most.
 */
bool fulcrum_greedy_small_suits(const struct fulcrum_network *network);

/*
 * Solves docs/model.md "A handful of actors" for a network that
 * fulcrum_greedy_small_accepts, nothing training. GPU times are multiplied by
 * `gpu_stretch` > 0.
 *   out      set on success only
 *   fails    FULCRUM_ERR_NO_MEMORY, FULCRUM_ERR_NO_FIT (did not settle)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_greedy_small_solve(
    const struct fulcrum_network *network, double gpu_stretch,
    struct fulcrum_cycle *out, struct fulcrum_error *err);

#endif
