/* parallel.c - work on all threads there are, and random streams of its pieces. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/parallel.h"

#ifdef _OPENMP
#include <omp.h>
#endif

void fulcrum_parallel_each(size_t count, fulcrum_parallel_work *work, void *context)
{
#ifdef _OPENMP
    /* Pieces of a piece go to threads that have no piece left. */
    if (omp_in_parallel() != 0) {
#pragma omp taskloop grainsize(1) default(none) shared(count, work, context)
        for (size_t i = 0; i < count; i++) {
            work(context, i);
        }
        return;
    }
#pragma omp parallel for schedule(dynamic, 1) if (count > 1)
#endif
    for (size_t i = 0; i < count; i++) {
        work(context, i);
    }
}

size_t fulcrum_parallel_threads(void)
{
#ifdef _OPENMP
    return (size_t)omp_get_max_threads();
#else
    return 1;
#endif
}

/* The finaliser of SplitMix64 (Steele, Lea and Flood 2014, OOPSLA): a bijection. */
static uint64_t mix(uint64_t value)
{
    value += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

uint64_t fulcrum_stream_seed(uint64_t seed, uint64_t index, uint64_t sub_index)
{
    return mix(mix(mix(seed) ^ index) ^ sub_index);
}

unsigned long fulcrum_stream_gsl_seed(uint64_t seed)
{
    uint64_t mixed = mix(seed);
    return (unsigned long)((mixed >> 32) ^ (mixed & UINT64_C(0xffffffff)));
}
