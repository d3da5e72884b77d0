/* network.c - batch service times, and the names of a network's choices. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/network.h"

#include <assert.h>

static double on_line(const struct fulcrum_batch_time *time, double size)
{
    return time->per_batch_s + time->per_item_s * size;
}

/* The line, shifted so that it passes through point `i`. */
static double beyond_point(const struct fulcrum_batch_time *time, size_t i, double size)
{
    double shifted_s =
        time->time_s[i] + on_line(time, size) - on_line(time, time->size[i]);
    return shifted_s > 0.0 ? shifted_s : 0.0;
}

double fulcrum_batch_time(const struct fulcrum_batch_time *time, double size)
{
    assert(size > 0.0);
    if (time->count == 0) {
        return on_line(time, size);
    }
    if (size <= time->size[0]) {
        return beyond_point(time, 0, size);
    }
    size_t low = 0;
    size_t high = time->count - 1;
    if (size >= time->size[high]) {
        return beyond_point(time, high, size);
    }
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (time->size[middle] <= size) {
            low = middle;
        } else {
            high = middle;
        }
    }
    double share = (size - time->size[low]) / (time->size[high] - time->size[low]);
    return time->time_s[low] + share * (time->time_s[high] - time->time_s[low]);
}

double fulcrum_sharing_stretch(const struct fulcrum_training *training)
{
    return training->sharing_frac > 0.0 ? 2.0 / training->sharing_frac : 2.0;
}

const char *fulcrum_step_law_name(enum fulcrum_step_law law)
{
    static const char *const names[] = {"lognormal", "exponential", "deterministic",
        "erlang", "hyperexponential", "pareto"};
    size_t i = (size_t)law;
    return i < sizeof names / sizeof names[0] ? names[i] : NULL;
}

const char *fulcrum_batch_policy_name(enum fulcrum_batch_policy policy)
{
    static const char *const names[] = {"greedy", "fixed"};
    size_t i = (size_t)policy;
    return i < sizeof names / sizeof names[0] ? names[i] : NULL;
}

const char *fulcrum_cpu_curve_name(enum fulcrum_cpu_curve curve)
{
    static const char *const names[] = {
        "smt_turbo", "saturating", "saturating_sync", "table"};
    size_t i = (size_t)curve;
    return i < sizeof names / sizeof names[0] ? names[i] : NULL;
}
