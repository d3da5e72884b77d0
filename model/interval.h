/* interval.h - the 90 % interval of a quantity, from its draws. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_INTERVAL_H
#define FULCRUM_MODEL_INTERVAL_H

#include <stddef.h>

struct fulcrum_interval {
    double lo; /* 5 % and 95 % quantiles; lo <= hi, or both NAN */
    double hi;
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
 * next ones outward.
 */
struct fulcrum_interval fulcrum_interval_among(double *draws, size_t count);

#endif
