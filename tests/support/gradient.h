/* gradient.h - holds gradients against central differences of a loss. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_GRADIENT_H
#define FULCRUM_TESTS_GRADIENT_H

#include <stddef.h>

struct gradient_check {
    const char *what;
    float *values; /* moved one at a time, and put back */
    const float *gradients;
    size_t count;
    double (*loss)(void *context);
    void *context;
};

/* Asserts that each gradient is within a hundredth of the largest of them from its
 * central difference. The losses come from float32: with steps of 2^-8, 2^-10 and 2^-12
 * and losses near one, rounding gives errors up to 2e-4, truncation less. One of the
 * steps must agree: where the kink of a ReLU lies between the points of a large step it
 * seldom lies between those of a small one, while a wrong gradient fails them all. */
void gradient_assert(const struct gradient_check *check);

/* Numbers in [-1, 1) that depend on `seed` only. */
void gradient_fill(float *values, size_t count, unsigned seed);

/* Sum of products in double: a loss whose gradient by `values` is `weights`. */
double gradient_dot(const float *weights, const float *values, size_t count);

#endif
