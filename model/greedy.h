/* greedy.h - fast solver of networks that batch greedily. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_GREEDY_H
#define FULCRUM_MODEL_GREEDY_H

#include "model/solver.h"

/*
 * Mean-field solution of a checked network: docs/model.md "Greedy solver", (8) and (9).
 * Returns NULL and sets `out`, or says why the equations would be wrong or less
 * accurate than promised for this network (docs/model.md "Where the fast solver is
 * valid") and leaves `out` alone. The text is borrowed, static.
 */
const char *fulcrum_greedy_solve(
    const struct fulcrum_network *network, struct fulcrum_solution *out);

#endif
