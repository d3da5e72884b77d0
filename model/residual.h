/* residual.h - how long actors still have to step, on a grid of times. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_RESIDUAL_H
#define FULCRUM_MODEL_RESIDUAL_H

#include <stddef.h>

#include "model/step_law.h"

enum { FULCRUM_RESIDUAL_NODES = 32 };

/*
 * Nodes at which P(what is left of a step > time) is kept. The last node stands for
 * the end of the law: nothing is left there.
 */
struct fulcrum_residual_grid {
    double time_s[FULCRUM_RESIDUAL_NODES];
    double fresh[FULCRUM_RESIDUAL_NODES];  /* of a step that begins, after a delay */
    double rested[FULCRUM_RESIDUAL_NODES]; /* of one met at a random moment */
    double mean_s; /* of a fresh step, as the grid holds it: a little is cut off */
};

/* What happens to any such row of chances while time passes: four weights a node. */
struct fulcrum_residual_shift {
    size_t from[FULCRUM_RESIDUAL_NODES];
    double weight[FULCRUM_RESIDUAL_NODES][4];
};

/* Spreads the nodes over the lengths of `form`, delay_s before its start included. */
void fulcrum_residual_grid_init(struct fulcrum_residual_grid *grid,
    const struct fulcrum_step_form *form, double delay_s);

void fulcrum_residual_shift_init(struct fulcrum_residual_shift *shift,
    const struct fulcrum_residual_grid *grid, double time_s);

/* out[i] = P(left > time of node i + the shift's time); kept falling and >= 0. */
void fulcrum_residual_shift(
    const struct fulcrum_residual_shift *shift, const double *row, double *out);

/* The first entry of fulcrum_residual_shift alone. */
double fulcrum_residual_left(
    const struct fulcrum_residual_shift *shift, const double *row);

/*
 * Moves a row on, given that there is something left, so that it starts with 1 again.
 * Returns the chance that there is not; `out` is of no meaning where that is 1.
 */
double fulcrum_residual_move_on(
    const struct fulcrum_residual_shift *shift, const double *row, double *out);

/* row[i] += weight * other[i] */
void fulcrum_residual_add(double *row, double weight, const double *other);

/* row[i] = weight * other[i]; they may be the same. */
void fulcrum_residual_set(double *row, double weight, const double *other);

/* The mean, between 0 and 1, of a chance that falls from `before` to `after`. */
double fulcrum_residual_mean(double before, double after);

/*
 * `count` times from 0 to `last`, the first two `first` apart, each gap a constant
 * factor of the one before; evenly spaced where `first` would be too large.
 */
void fulcrum_residual_spread(double *out, size_t count, double first, double last);

#endif
