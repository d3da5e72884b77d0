/* adam.h - the Adam optimiser. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_ADAM_H
#define FULCRUM_CALIBRATE_ADAM_H

#include <stddef.h>

/* Kingma and Ba (2015), algorithm 1. The moments start at zero; the arrays are the
 * owner's. */
struct fulcrum_adam {
    double rate;
    double beta1;
    double beta2;
    double epsilon;
    size_t parameter_count;
    size_t step_count; /* updates done */
    float *mean;       /* of the gradients */
    float *square;     /* mean square of the gradients */
};

/*
 * One update in float32: mean = keep1 mean + add1 gradient, square = keep2 square +
 * add2 gradient^2, parameter -= rate mean / (sqrt(square) + epsilon).
 */
struct fulcrum_adam_step {
    float rate;
    float epsilon;
    float keep1;
    float keep2;
    float add1;
    float add2;
};

/* Counts one more update and returns its numbers. */
struct fulcrum_adam_step fulcrum_adam_begin(struct fulcrum_adam *adam);

/* Moves the parameters one step against their gradients. */
void fulcrum_adam_update(
    struct fulcrum_adam *adam, float *parameters, const float *gradients);

#endif
