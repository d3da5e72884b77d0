/* parallel.h - work on all threads there are, and random streams of its pieces. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_PARALLEL_H
#define FULCRUM_MODEL_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

/* Piece `index` of the work: touches nothing that another piece writes. */
typedef void fulcrum_parallel_work(void *context, size_t index);

/*
 * Does pieces 0 to count - 1, each once, in any order and at the same time where the
 * build has OpenMP; returns when all are done. A piece may part its own work so, too.
 */
void fulcrum_parallel_each(size_t count, fulcrum_parallel_work *work, void *context);

/* How many pieces are done at the same time: 1 without OpenMP. */
size_t fulcrum_parallel_threads(void);

/* The seed of stream (`index`, `sub_index`) of a run's seed: a 64-bit mix of the three.
 */
uint64_t fulcrum_stream_seed(uint64_t seed, uint64_t index, uint64_t sub_index);

/* Any 64 bits folded into the 32 that GSL's generators take as a seed. */
unsigned long fulcrum_stream_gsl_seed(uint64_t seed);

#endif
