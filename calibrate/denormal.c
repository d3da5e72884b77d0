/* denormal.c - numbers too small for their exponent are taken for zero. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/denormal.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

/* Results, and operands: bits 15 and 6 of the control register of SSE and AVX. */
#define FLUSH_TO_ZERO      0x8000U
#define DENORMALS_ARE_ZERO 0x0040U

unsigned fulcrum_denormal_flush(void)
{
#if defined(__SSE2__)
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO);
    return before;
#else
    return 0;
#endif
}

void fulcrum_denormal_restore(unsigned before)
{
#if defined(__SSE2__)
    _mm_setcsr(before);
#else
    (void)before;
#endif
}
