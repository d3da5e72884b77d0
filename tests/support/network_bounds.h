/* network_bounds.h - what no solution of a network can exceed. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_NETWORK_BOUNDS_H
#define FULCRUM_TESTS_NETWORK_BOUNDS_H

#include "model/network/network.h"

/* How many items a batch can have. */
double network_most_batch(const struct fulcrum_network *network);
double network_least_batch(const struct fulcrum_network *network);

/* Steps per second that no station and no actor can exceed; networks without tables. */
double network_bound_per_s(const struct fulcrum_network *network);

/* Nonzero if more actors at the CPU never make it slower. */
int network_cpu_rises(const struct fulcrum_network *network);

#endif
