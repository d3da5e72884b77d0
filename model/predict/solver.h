/* solver.h - methods that turn a network into throughput and utilisations. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_PREDICT_SOLVER_H
#define FULCRUM_MODEL_PREDICT_SOLVER_H

#include "model/network/network.h"

/*
 * Solves a network that fulcrum_network_check accepts. AUTO takes the fast method where
 * the error to be expected of it is no more than the wanted half width, and simulates
 * everything else.
 *   out      set on success only
 *   fails    FULCRUM_ERR_UNSUPPORTED (a method that is not valid for this network),
 *            FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_solve(
    const struct fulcrum_network *network, const struct fulcrum_solver_options *options,
    struct fulcrum_solution *out, struct fulcrum_error *err);

/* Names as they stand in files and on the command line; NULL beyond the last one. */
const char *fulcrum_method_name(int method);

#endif
