/* pauses.h - solving replicas whose server pauses between batches, and pays for it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_PREDICT_PAUSES_H
#define FULCRUM_MODEL_PREDICT_PAUSES_H

#include "model/predict/solver.h"
#include "model/predict/to_network.h"

/*
 * What a batch takes longer after a pause of pause_s >= 0, of a learner that has gone
 * wholly cold after a long one and half so after cooling_s > 0.
 */
double fulcrum_cold_s(double cold_s, double cooling_s, double pause_s);

/*
 * As fulcrum_solve of the network of `replicas`, with what a server that paused costs:
 *   - the step has added what waking the server takes of an actor's thread,
 *     replicas->wake_s for each batch that the server waited for;
 *   - a batch after a pause of t has added fulcrum_cold_s(cold_s, cooling_s, t).
 * How often and how long it pauses follows from the solution itself: a few rounds of
 * the fast method find it, then the method asked for solves once. The network of
 * `replicas` keeps the times found. Where wake_s and cold_s are 0 this is
 * fulcrum_solve.
 *   fails    as fulcrum_solve
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_solve_pausing(
    struct fulcrum_replicas *replicas, const struct fulcrum_solver_options *options,
    struct fulcrum_solution *out, struct fulcrum_error *err);

#endif
