/* thread_counts.h - at how many threads throughput is measured. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_THREAD_COUNTS_H
#define FULCRUM_CALIBRATE_THREAD_COUNTS_H

#include <stddef.h>

#define FULCRUM_THREAD_COUNTS_MAX 12

/*
 * Increasing counts from 1: P/2, P, 5P/4, 3P/2, T, 2T and, on small machines, 4T, for P
 * cores and T threads; none above `most`. docs/model.md "CPU curve" says why these.
 *   out      FULCRUM_THREAD_COUNTS_MAX places
 * Returns how many.
 */
size_t fulcrum_thread_counts(
    size_t *out, size_t core_count, size_t thread_count, size_t most);

#endif
