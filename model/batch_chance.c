/* batch_chance.c - the chance that too few are ready for a batch. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Of a number that is a sum of independent events only mean and variance are known
 * here. The binomial law with these two, its count not held to be whole, is exact for
 * equal events and close to exact for others. Its sums are the incomplete beta
 * function: a finite sum for small batches, a normal approximation for others.
 */
#include "model/batch_chance.h"

#include <math.h>
#include <stddef.h>

#include "model/lesser.h"

#define FEW 10.0 /* terms of the sum */

/* Least share of the events that happen, and least number of events beyond the batch.
 */
#define LEAST_P 1e-3
#define LEAST_A 0.05

double fulcrum_normal_below(double z)
{
    return 0.5 * erfc(-z * 0.70710678118654752); /* 1 / sqrt(2) */
}

double fulcrum_normal_beyond(double mean, double deviation)
{
    double z = mean / deviation;
    double density = exp(-0.5 * z * z) * 0.39894228040143268; /* 1 / sqrt(2 pi) */
    return deviation * density + mean * fulcrum_normal_below(z);
}

/* The incomplete beta function I_x(a, size) for a small whole size, exactly. */
static double few_below(double a, double x, double size)
{
    double term = pow(x, a);
    double sum = term;
    for (size_t k = 1; k < (size_t)size; k++) {
        term *= (1.0 - x) * (a + (double)k - 1.0) / (double)k;
        sum += term;
    }
    return fulcrum_lesser(1.0, sum);
}

/* P(Z < z) to 2e-4, by a logistic curve; Bowling et al., 2009. */
static double nearly_normal_below(double z)
{
    return 1.0 / (1.0 + exp(-z * (1.5976 + 0.070565992 * z * z)));
}

/* The same for any size, by Camp and Paulson's normal approximation. */
static double many_below(double a, double x, double size)
{
    double ratio = cbrt(a * (1.0 - x) / (size * x));
    double y = 1.0 - 1.0 / (9.0 * size) - ratio * (1.0 - 1.0 / (9.0 * a));
    return nearly_normal_below(3.0 * y / sqrt(1.0 / size + ratio * ratio / a));
}

double fulcrum_chance_below(double mean, double variance, double size)
{
    double reach = FULCRUM_SURE_SDS * (1.0 + sqrt(variance));
    if (mean < size - reach || mean > size + reach) {
        return mean < size ? 1.0 : 0.0;
    }
    double p = fulcrum_lesser(1.0 - 1e-9,
        fulcrum_greater(LEAST_P, 1.0 - variance / fulcrum_greater(1e-9, mean)));
    double a = mean / p - size + 1.0;
    if (a < LEAST_A) {
        return 1.0;
    }
    return size <= FEW ? few_below(a, 1.0 - p, size) : many_below(a, 1.0 - p, size);
}
