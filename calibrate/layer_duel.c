/* layer_duel.c - action values from a state value and advantages. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/layer_duel.h"

static float sum(const float *values, size_t count)
{
    float total = 0.0F;
    for (size_t i = 0; i < count; i++) {
        total += values[i];
    }
    return total;
}

void fulcrum_duel_forward(
    struct fulcrum_duel shape, const float *value, const float *advantage, float *q)
{
    size_t count = shape.action_count;
    for (size_t i = 0; i < shape.row_count; i++) {
        const float *row = advantage + i * count;
        float shift = value[i] - sum(row, count) / (float)count;
        for (size_t j = 0; j < count; j++) {
            q[i * count + j] = row[j] + shift;
        }
    }
}

void fulcrum_duel_backward(struct fulcrum_duel shape, const float *q_gradient,
    float *value_gradient, float *advantage_gradient)
{
    size_t count = shape.action_count;
    for (size_t i = 0; i < shape.row_count; i++) {
        const float *row = q_gradient + i * count;
        value_gradient[i] = sum(row, count);
        float mean = value_gradient[i] / (float)count;
        for (size_t j = 0; j < count; j++) {
            advantage_gradient[i * count + j] = row[j] - mean;
        }
    }
}
