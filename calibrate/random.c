/* random.c - a small random stream that each environment owns. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/random.h"

struct fulcrum_random fulcrum_random_seeded(uint64_t seed)
{
    struct fulcrum_random random = {seed};
    /* Neighbouring seeds would give one stream shifted by a step of the counter. */
    random.state = fulcrum_random_bits(&random);
    return random;
}

/* Steele, Lea and Flood: Fast splittable pseudorandom number generators (2014). */
uint64_t fulcrum_random_bits(struct fulcrum_random *random)
{
    random->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t bits = random->state;
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

double fulcrum_random_between(struct fulcrum_random *random, double low, double high)
{
    double unit = (double)(fulcrum_random_bits(random) >> 11) * 0x1p-53;
    return low + (high - low) * unit;
}
