/* layer.c - what every layer of a network is given for a pass through it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/layer.h"

#include <math.h>

void fulcrum_layer_fill(
    float *weights, size_t count, size_t fan_sum, struct fulcrum_random *random)
{
    double limit = sqrt(6.0 / (double)fan_sum);
    for (size_t i = 0; i < count; i++) {
        weights[i] = (float)fulcrum_random_between(random, -limit, limit);
    }
}
