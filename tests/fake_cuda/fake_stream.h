/* fake_stream.h - queues of the stand-in driver: what they hold runs when waited for.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_FAKE_STREAM_H
#define FULCRUM_TESTS_FAKE_STREAM_H

#include "tests/fake_cuda/fake_cuda.h"

enum { FAKE_CUDA_OUT_OF_MEMORY = 2 };

/* NULL where there is no memory. `failure` is borrowed. */
struct fake_stream *fake_stream_new(void *context, double sm_count, int *failure);

/* Runs what is queued; returns the failure of the GPU, 0 for none. */
int fake_stream_run(struct fake_stream *stream);

/* What is still queued is dropped. */
void fake_stream_free(struct fake_stream *stream);

#endif
