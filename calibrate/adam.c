/* adam.c - the Adam optimiser. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/adam.h"

#include <math.h>

struct fulcrum_adam_step fulcrum_adam_begin(struct fulcrum_adam *adam)
{
    adam->step_count++;
    double steps = (double)adam->step_count;
    double root = sqrt(1.0 - pow(adam->beta2, steps));
    /* Both bias corrections folded into the rate and epsilon, as the paper suggests. */
    return (struct fulcrum_adam_step){
        .rate = (float)(adam->rate * root / (1.0 - pow(adam->beta1, steps))),
        .epsilon = (float)(adam->epsilon * root),
        .keep1 = (float)adam->beta1,
        .keep2 = (float)adam->beta2,
        .add1 = (float)(1.0 - adam->beta1),
        .add2 = (float)(1.0 - adam->beta2)};
}

void fulcrum_adam_update(
    struct fulcrum_adam *adam, float *parameters, const float *gradients)
{
    const struct fulcrum_adam_step step = fulcrum_adam_begin(adam);
    float *restrict mean = adam->mean;
    float *restrict square = adam->square;
    for (size_t i = 0; i < adam->parameter_count; i++) {
        float gradient = gradients[i];
        mean[i] = step.keep1 * mean[i] + step.add1 * gradient;
        square[i] = step.keep2 * square[i] + step.add2 * gradient * gradient;
        parameters[i] -= step.rate * mean[i] / (sqrtf(square[i]) + step.epsilon);
    }
}
