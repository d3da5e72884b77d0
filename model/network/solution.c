/* solution.c - what follows from any solution, and the names of what it tells. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/network/network.h"

#include <stddef.h>

enum fulcrum_bottleneck fulcrum_bottleneck_of(const struct fulcrum_solution *solution)
{
    const struct {
        enum fulcrum_bottleneck bound;
        double busy_frac;
    } stations[] = {
        {FULCRUM_BOUND_CPU, solution->cpu_thread_busy_frac},
        {FULCRUM_BOUND_HOST, solution->host_busy_frac},
        {FULCRUM_BOUND_GPU, solution->gpu_busy_frac},
    };
    enum fulcrum_bottleneck bound = FULCRUM_BOUND_LATENCY;
    double busiest = FULCRUM_BOTTLENECK_BUSY_FRAC;
    for (size_t i = 0; i < sizeof stations / sizeof stations[0]; i++) {
        if (stations[i].busy_frac >= busiest) {
            busiest = stations[i].busy_frac;
            bound = stations[i].bound;
        }
    }
    return bound;
}

const char *fulcrum_bottleneck_name(enum fulcrum_bottleneck bottleneck)
{
    static const char *const names[] = {"cpu", "host", "gpu", "latency", "learner"};
    size_t i = (size_t)bottleneck;
    return i < sizeof names / sizeof names[0] ? names[i] : NULL;
}

const char *fulcrum_flag_text(enum fulcrum_flag_index flag)
{
    static const char *const texts[] = {
#define X(name, text) text,
        FULCRUM_FLAG_LIST(X)
#undef X
    };
    size_t i = (size_t)flag;
    return i < sizeof texts / sizeof texts[0] ? texts[i] : NULL;
}
