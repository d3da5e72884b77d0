/* binomial.h - how many of several alike come to pass. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_BINOMIAL_H
#define FULCRUM_MODEL_BINOMIAL_H

#include <stddef.h>

/* `base` to a whole power. */
double fulcrum_power(double base, size_t exponent);

/*
 * The chances that 0..count of `count` come to pass, each with this chance of its own.
 *   out    count + 1 numbers
 */
void fulcrum_binomial(double *out, size_t count, double chance);

#endif
