/* anderson.h - Anderson's acceleration of a fixed-point iteration. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_ANDERSON_H
#define FULCRUM_MODEL_ANDERSON_H

#include <stddef.h>

#include "model/status.h"

enum { FULCRUM_ANDERSON_DEPTH = 4 };

/* What the last iterations did. */
struct fulcrum_anderson {
    size_t length;
    size_t turns;
    double *memory; /* owned: all rows below */
    double *point;
    double *change;
    double *point_step[FULCRUM_ANDERSON_DEPTH];
    double *change_step[FULCRUM_ANDERSON_DEPTH];
    double gram[FULCRUM_ANDERSON_DEPTH][FULCRUM_ANDERSON_DEPTH];
};

/*
 * Makes room for iterations of vectors of `length`.
 *   out      set on success only; the caller clears it with fulcrum_anderson_clear
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_anderson_init(
    struct fulcrum_anderson *out, size_t length, struct fulcrum_error *err);

/* Accepts a struct of zeros. */
void fulcrum_anderson_clear(struct fulcrum_anderson *anderson);

/*
 * Replaces `point`, whose image under the iterated function is `image`, by a better
 * guess of the fixed point. The first guess is the image itself. Bounds on the vector
 * are not known here and may be overshot.
 */
void fulcrum_anderson_step(
    struct fulcrum_anderson *anderson, double *point, const double *image);

#endif
