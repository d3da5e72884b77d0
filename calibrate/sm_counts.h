/* sm_counts.h - on how many SMs a GPU is measured. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_SM_COUNTS_H
#define FULCRUM_CALIBRATE_SM_COUNTS_H

#include <stddef.h>

#define FULCRUM_SM_COUNTS_MAX 12

/* Shares that a GPU grants: least, least + step, ..., and all. */
struct fulcrum_sm_steps {
    double all;
    double least;
    double step;
};

/*
 * All SMs, the fewest, then numbers that close the gaps between those before them, so
 * that a sweep that ends early is still spread out. No number comes twice.
 * Returns how many there are, at most FULCRUM_SM_COUNTS_MAX; 1 where there are no
 * parts.
 */
size_t fulcrum_sm_counts(
    double out[FULCRUM_SM_COUNTS_MAX], const struct fulcrum_sm_steps *steps);

#endif
