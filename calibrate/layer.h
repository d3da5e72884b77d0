/* layer.h - what every layer of a network is given for a pass through it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_LAYER_H
#define FULCRUM_CALIBRATE_LAYER_H

#include <stddef.h>

#include "calibrate/random.h"

/*
 * A layer is its shape and the offset of its parameters in the network's one array of
 * them, so that two sets of weights (online, target) share the layers. All arrays are
 * row-major, one row per sample. The members below the first five are read by backward
 * passes alone; gradients of parameters are added to, gradients of inputs are set.
 */
struct fulcrum_pass {
    const float *parameters; /* of the whole network */
    size_t row_count;
    const float *input;
    float *output;
    float *column;          /* convolutions: room for column_count floats per row */
    float *gradients;       /* of the parameters of the whole network */
    float *output_gradient; /* overwritten */
    float *input_gradient;  /* NULL where nobody needs it */
};

/* Uniform in +-sqrt(6 / (fan_in + fan_out)): Glorot and Bengio (2010). */
void fulcrum_layer_fill(
    float *weights, size_t count, size_t fan_sum, struct fulcrum_random *random);

#endif
