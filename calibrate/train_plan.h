/* train_plan.h - training steps small enough to measure, and the step they stand for.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_TRAIN_PLAN_H
#define FULCRUM_CALIBRATE_TRAIN_PLAN_H

#include <stddef.h>

#define FULCRUM_TRAIN_PLAN_MAX 3

/* Sequences (or samples) of a step, their trained length and what precedes it. */
struct fulcrum_train_size {
    double batch;
    double unroll;
    double burn_in;
};

/*
 * Operations of a step: batch x (constant + per_unroll unroll + per_burn_in burn_in).
 * Exact for networks that run once over each step of a sequence.
 */
struct fulcrum_train_work {
    double constant_flop;
    double per_unroll_flop;
    double per_burn_in_flop;
};

/* Operations of one training step of this size. */
double fulcrum_train_work_flop(
    const struct fulcrum_train_work *work, const struct fulcrum_train_size *size);

struct fulcrum_train_plan {
    struct fulcrum_train_size size[FULCRUM_TRAIN_PLAN_MAX]; /* increasing work */
    size_t count;
    int is_nominal; /* the last size is the nominal one: nothing to extrapolate */
};

/*
 * Sizes whose largest step lasts at most `limit_s` where `flop_per_s` is right: the
 * nominal size, half and a quarter of its sequences if it is short enough; otherwise
 * all its sequences, shortened, so that every matrix keeps its width; fewer sequences
 * only where that is still too long.
 */
struct fulcrum_train_plan fulcrum_train_plan_of(const struct fulcrum_train_work *work,
    const struct fulcrum_train_size *nominal, double flop_per_s, double limit_s);

#endif
