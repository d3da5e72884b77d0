/* min_max.h - the lesser and the greater of two numbers, and their order. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_MIN_MAX_H
#define FULCRUM_MODEL_MIN_MAX_H

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

#endif
