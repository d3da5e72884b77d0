/* network_json.h - a network as a line for `fulcrum solve`. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_BENCH_NETWORK_JSON_H
#define FULCRUM_BENCH_NETWORK_JSON_H

#include <stdio.h>

#include "model/network/network.h"
#include "presets/io/json.h"

/*
 * Adds the members that docs/solve.md describes to an object. The network has neither
 * tables nor a saturating curve.
 */
void fulcrum_network_to_json(
    const struct fulcrum_network *network, struct fulcrum_json *object);

/*
 * Prints it as one line.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_network_print(
    FILE *stream, const struct fulcrum_network *network, struct fulcrum_error *err);

#endif
