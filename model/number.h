/* number.h - two numbers compared, none, and the 90 % interval of draws. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_NUMBER_H
#define FULCRUM_MODEL_NUMBER_H

#include <math.h>
#include <stddef.h>

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

/* Half of a 90 % interval of a normal law, in standard deviations. */
#define FULCRUM_HALF_OF_90 1.6448536269514722

struct fulcrum_interval {
    double lo; /* 5 % and 95 % quantiles; lo <= hi, or both NAN */
    double hi;
    double median; /* of the same draws */
};

/* A value, or the ratio of two, with its interval. */
struct fulcrum_ratio {
    double value;
    double lo; /* NAN: no interval */
    double hi;
};

/*
 * Of `count` draws, in any order, which are sorted on the way. Unknown where there are
 * fewer than two, or where one of them is NAN.
 */
struct fulcrum_interval fulcrum_interval_of(double *draws, size_t count);

/*
 * The same of a quantity that takes certain values only: its ends are among them, the
 * next ones outward, and so is its median, the lower of two.
 */
struct fulcrum_interval fulcrum_interval_among(double *draws, size_t count);

#endif
