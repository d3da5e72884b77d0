/* waking.h - solving shards whose actors have to wake a server that waits. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_WAKING_H
#define FULCRUM_MODEL_WAKING_H

#include "model/lower.h"
#include "model/solver.h"

/*
 * As fulcrum_solve of the network of `shards`, to whose step is added what waking the
 * server takes of an actor's thread, shards->wake_s for each batch that the server
 * waited for. How many these are follows from the solution itself: a few rounds of the
 * fast method find it, then the method asked for solves once. Where wake_s is 0 this is
 * fulcrum_solve.
 *   fails    as fulcrum_solve
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_solve_waking(
    struct fulcrum_shards *shards, const struct fulcrum_solver_options *options,
    struct fulcrum_solution *out, struct fulcrum_error *err);

#endif
