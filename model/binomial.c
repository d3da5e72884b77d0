/* binomial.c - how many of several alike come to pass. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/binomial.h"

#include <math.h>

double fulcrum_power(double base, size_t exponent)
{
    double out = 1.0;
    for (; exponent > 0; exponent >>= 1) {
        out *= exponent % 2 == 1 ? base : 1.0;
        base *= base;
    }
    return out;
}

void fulcrum_binomial(double *out, size_t count, double chance)
{
    /* From the likelier end, where the first term is not lost to rounding. */
    double rarer = fmin(chance, 1.0 - chance);
    double odds = rarer / (1.0 - rarer);
    double term = fulcrum_power(1.0 - rarer, count);
    for (size_t i = 0; i <= count; i++) {
        out[chance > 0.5 ? count - i : i] = term;
        term *= odds * (double)(count - i) / (double)(i + 1);
    }
}
