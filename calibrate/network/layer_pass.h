/* layer_pass.h - layers of a network, forward and backward, through the BLAS. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_NETWORK_LAYER_PASS_H
#define FULCRUM_CALIBRATE_NETWORK_LAYER_PASS_H

#include <stddef.h>

/* How many rows, and how many actions each has. */
struct fulcrum_duel {
    size_t row_count;
    size_t action_count;
};

/* q = value + advantage - mean advantage: Wang et al. (2016), equation 9. */
void fulcrum_duel_forward(
    struct fulcrum_duel shape, const float *value, const float *advantage, float *q);

/* Sets the gradients of one value and action_count advantages per row. */
void fulcrum_duel_backward(struct fulcrum_duel shape, const float *q_gradient,
    float *value_gradient, float *advantage_gradient);

#endif
