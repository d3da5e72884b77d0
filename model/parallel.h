/* parallel.h - one loop over independent pieces of work, on all threads there are. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_PARALLEL_H
#define FULCRUM_MODEL_PARALLEL_H

#include <stddef.h>

/* Piece `index` of the work: touches nothing that another piece writes. */
typedef void fulcrum_parallel_work(void *context, size_t index);

/*
 * Does pieces 0 to count - 1, each once, in any order and at the same time where the
 * build has OpenMP; returns when all are done.
 */
void fulcrum_parallel_each(size_t count, fulcrum_parallel_work *work, void *context);

/* How many pieces are done at the same time: 1 without OpenMP. */
size_t fulcrum_parallel_threads(void);

#endif
