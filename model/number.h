/* number.h - the lesser and the greater of two numbers, their order, and none. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_NUMBER_H
#define FULCRUM_MODEL_NUMBER_H

#include <math.h>

/*
 * fmin and fmax owe an answer to NaN, for which compilers call the library. In inner
 * loops that costs as much as the work around them, and nothing there is ever NaN.
 */
static inline double fulcrum_min(double a, double b)
{
    return a < b ? a : b;
}

static inline double fulcrum_max(double a, double b)
{
    return a > b ? a : b;
}

/* For qsort and bsearch of numbers, or of structs that begin with one. */
static inline int fulcrum_compare_numbers(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* JSON null, an empty CSV cell. A double: NAN itself is a float. */
#define FULCRUM_UNKNOWN ((double)NAN)

#endif
