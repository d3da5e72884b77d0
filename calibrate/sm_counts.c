/* sm_counts.c - on how many SMs a GPU is measured. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/sm_counts.h"

#include <math.h>

/*
 * Times go with 1 / SMs, so that shares get closer towards the fewest; those of Inci et
 * al.'s Figure 4 (all, 3/4, 1/2, 1/4, 1/8) are among them.
 */
static const double shares[] = {
    1.0, 0.0, 0.5, 0.25, 0.75, 0.125, 0.375, 0.0625, 0.1875, 0.3125, 0.625, 0.875};

/* The nearest number that is granted; at least the fewest. */
static double granted(const struct fulcrum_sm_steps *steps, double share)
{
    double above = share * steps->all - steps->least;
    double count = steps->least + fmax(round(above / steps->step), 0.0) * steps->step;
    return share >= 1.0 || count > steps->all ? steps->all : count;
}

static int has(const double *counts, size_t count, double value)
{
    for (size_t i = 0; i < count; i++) {
        if (fabs(counts[i] - value) < 0.5) {
            return 1;
        }
    }
    return 0;
}

size_t fulcrum_sm_counts(
    double out[FULCRUM_SM_COUNTS_MAX], const struct fulcrum_sm_steps *steps)
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        double value = steps->least < steps->all && steps->step > 0.0
                           ? granted(steps, shares[i])
                           : steps->all;
        if (!has(out, count, value)) {
            out[count++] = value;
        }
    }
    return count;
}
