/* batch_chance.h - the chance that too few are ready for a batch. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_BATCH_CHANCE_H
#define FULCRUM_MODEL_BATCH_CHANCE_H

/* So many standard deviations of the number and one more actor count as certain. */
#define FULCRUM_SURE_SDS 4.0

/*
 * P(A < size) of a number A with this mean and variance, taken as binomial: exactly for
 * sizes up to 10, else to about 0.005. `size` is a whole number >= 1.
 */
double fulcrum_chance_below(double mean, double variance, double size);

/* P(Z < z) of a standard normal Z. */
double fulcrum_normal_below(double z);

/* E[max(0, Y)] of a normal Y with this mean and deviation > 0. */
double fulcrum_normal_beyond(double mean, double deviation);

#endif
