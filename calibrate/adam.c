/* adam.c - the Adam optimiser. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/adam.h"

#include <math.h>

void fulcrum_adam_update(
    struct fulcrum_adam *adam, float *parameters, const float *gradients)
{
    adam->step_count++;
    double steps = (double)adam->step_count;
    double root = sqrt(1.0 - pow(adam->beta2, steps));
    /* Both bias corrections folded into the rate and epsilon, as the paper suggests. */
    float rate = (float)(adam->rate * root / (1.0 - pow(adam->beta1, steps)));
    float epsilon = (float)(adam->epsilon * root);
    float keep1 = (float)adam->beta1;
    float keep2 = (float)adam->beta2;
    float add1 = (float)(1.0 - adam->beta1);
    float add2 = (float)(1.0 - adam->beta2);
    float *restrict mean = adam->mean;
    float *restrict square = adam->square;
    for (size_t i = 0; i < adam->parameter_count; i++) {
        float gradient = gradients[i];
        mean[i] = keep1 * mean[i] + add1 * gradient;
        square[i] = keep2 * square[i] + add2 * gradient * gradient;
        parameters[i] -= rate * mean[i] / (sqrtf(square[i]) + epsilon);
    }
}
