/* parallel.c - one loop over independent pieces of work, on all threads there are. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/parallel.h"

#ifdef _OPENMP
#include <omp.h>
#endif

void fulcrum_parallel_each(size_t count, fulcrum_parallel_work *work, void *context)
{
#ifdef _OPENMP
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
