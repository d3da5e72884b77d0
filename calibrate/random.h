/* random.h - a small random stream that each environment owns. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_RANDOM_H
#define FULCRUM_CALIBRATE_RANDOM_H

#include <stdint.h>

/* SplitMix64: any state is a good one, and a copy replays the stream. */
struct fulcrum_random {
    uint64_t state;
};

/* Streams of different seeds are unrelated, 0 and 1 included. */
struct fulcrum_random fulcrum_random_seeded(uint64_t seed);

/* 64 independent bits. */
uint64_t fulcrum_random_bits(struct fulcrum_random *random);

/* Uniform in [low, high); `low` < `high`. */
double fulcrum_random_between(struct fulcrum_random *random, double low, double high);

#endif
