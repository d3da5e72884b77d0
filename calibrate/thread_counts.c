/* thread_counts.c - at how many threads throughput is measured. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/thread_counts.h"

#define SMALL_THREAD_COUNT 8

/* Keeps `out` increasing and without doubles; insertion sort over a handful. */
static size_t insert(size_t *out, size_t count, size_t value)
{
    size_t at = 0;
    while (at < count && out[at] < value) {
        at++;
    }
    if (at < count && out[at] == value) {
        return count;
    }
    for (size_t i = count; i > at; i--) {
        out[i] = out[i - 1];
    }
    out[at] = value;
    return count + 1;
}

size_t fulcrum_thread_counts(
    size_t *out, size_t core_count, size_t thread_count, size_t most)
{
    const size_t wanted[] = {
        1,
        core_count / 2,
        core_count,
        (5 * core_count + 3) / 4,
        (3 * core_count + 1) / 2,
        thread_count,
        2 * thread_count,
        thread_count <= SMALL_THREAD_COUNT ? 4 * thread_count : 0,
    };
    size_t count = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        if (wanted[i] >= 1 && wanted[i] <= most) {
            count = insert(out, count, wanted[i]);
        }
    }
    return count;
}
