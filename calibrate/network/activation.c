/* activation.c - element-wise functions of layers and their derivatives. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/network/layer.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static void add_bias(float *row, const float *bias, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        row[i] += bias[i];
    }
}

static void add_bias_and_rectify(float *row, const float *bias, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float sum = row[i] + bias[i];
        row[i] = sum > 0.0F ? sum : 0.0F;
    }
}

void fulcrum_activate(enum fulcrum_activation activation, float *value,
    size_t row_count, const float *bias, size_t col_count)
{
    for (size_t i = 0; i < row_count; i++) {
        float *row = value + i * col_count;
        if (activation == FULCRUM_RELU) {
            add_bias_and_rectify(row, bias, col_count);
        } else {
            add_bias(row, bias, col_count);
        }
    }
}

void fulcrum_activate_backward(enum fulcrum_activation activation, float *gradient,
    const float *output, size_t count)
{
    if (activation == FULCRUM_LINEAR) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        gradient[i] = output[i] > 0.0F ? gradient[i] : 0.0F;
    }
}

void fulcrum_add_rows(
    float *bias_gradient, const float *gradient, size_t row_count, size_t col_count)
{
    for (size_t i = 0; i < row_count; i++) {
        const float *row = gradient + i * col_count;
        for (size_t j = 0; j < col_count; j++) {
            bias_gradient[j] += row[j];
        }
    }
}

/*
 * exp without a branch or a call, so that compilers vectorise the loops around it:
 * exp(x) = 2^k exp(r) with |r| <= ln(2) / 2, and Taylor's series to the seventh power,
 * whose remainder there is 5e-9 of the result.
 */
static inline float exp_clamped(float x)
{
    /* Adding 1.5 * 2^23 rounds to a whole number and leaves it in the low bits. */
    const float rounder = 12582912.0F;
    /* ln(2) in two parts: the first has few bits, so that k times it is exact. */
    const float ln2_high = 0.693359375F;
    const float ln2_low = -2.12194440e-4F;
    float bounded = x < -87.0F ? -87.0F : x;
    bounded = bounded > 87.0F ? 87.0F : bounded;
    float shifted = bounded * 1.44269504F + rounder;
    float k = shifted - rounder;
    float r = bounded - k * ln2_high - k * ln2_low;
    float series = 1.0F / 5040.0F;
    series = series * r + 1.0F / 720.0F;
    series = series * r + 1.0F / 120.0F;
    series = series * r + 1.0F / 24.0F;
    series = series * r + 1.0F / 6.0F;
    series = series * r + 0.5F;
    series = series * r + 1.0F;
    series = series * r + 1.0F;
    uint32_t bits = 0;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 23) + (UINT32_C(127) << 23);
    float power = 0.0F;
    memcpy(&power, &bits, sizeof power);
    return series * power;
}

void fulcrum_sigmoid(float *value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        value[i] = 1.0F / (1.0F + exp_clamped(-value[i]));
    }
}

void fulcrum_tanh(float *output, const float *input, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        output[i] = 2.0F / (1.0F + exp_clamped(-2.0F * input[i])) - 1.0F;
    }
}

size_t fulcrum_largest(const float *values, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++) {
        if (values[i] > values[best]) {
            best = i;
        }
    }
    return best;
}

/* The Adam optimiser. */

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
