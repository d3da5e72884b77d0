/* mva.c - textbook mean value analysis, a yardstick for the cost of a solution. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A customer who arrives at a station finds what is there on average with one customer
 * less: R_i(n) = s_i (1 + Q_i(n - 1)). Little's law over the whole cycle gives
 * X(n) = n / sum R_i(n), and at each station Q_i(n) = X(n) R_i(n). Nothing is spared
 * and nothing is added, so that its time is what anybody's exact solution takes.
 */
#include "bench/mva.h"

#include <assert.h>

double fulcrum_mva_cycles_per_s(
    const double *service_s, size_t station_count, size_t customers)
{
    double queue[FULCRUM_MVA_STATIONS_MOST] = {0.0};
    double residence_s[FULCRUM_MVA_STATIONS_MOST] = {0.0};
    double rate = 0.0;
    assert(station_count > 0 && station_count <= FULCRUM_MVA_STATIONS_MOST);
    for (size_t n = 1; n <= customers; n++) {
        double cycle_s = 0.0;
        for (size_t i = 0; i < station_count; i++) {
            residence_s[i] = service_s[i] * (1.0 + queue[i]);
            cycle_s += residence_s[i];
        }
        rate = (double)n / cycle_s;
        for (size_t i = 0; i < station_count; i++) {
            queue[i] = rate * residence_s[i];
        }
    }
    return rate;
}
