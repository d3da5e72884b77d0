/* stream.h - seeds of independent random streams, the same wherever they are drawn. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_STREAM_H
#define FULCRUM_MODEL_STREAM_H

#include <stdint.h>

/* The seed of stream (`index`, `sub_index`) of a run's seed: a 64-bit mix of the three.
 */
uint64_t fulcrum_stream_seed(uint64_t seed, uint64_t index, uint64_t sub_index);

/* Any 64 bits folded into the 32 that GSL's generators take as a seed. */
unsigned long fulcrum_stream_gsl_seed(uint64_t seed);

#endif
