/* mva.h - textbook mean value analysis, a yardstick for the cost of a solution. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_BENCH_MVA_H
#define FULCRUM_BENCH_MVA_H

#include <stddef.h>

enum { FULCRUM_MVA_STATIONS_MOST = 16 };

/*
 * Cycles per second of a closed network of single servers that each customer visits
 * once, by the exact recursion over the customers (Reiser and Lavenberg 1980).
 *   service_s  `station_count` <= FULCRUM_MVA_STATIONS_MOST means, > 0
 */
double fulcrum_mva_cycles_per_s(
    const double *service_s, size_t station_count, size_t customers);

#endif
