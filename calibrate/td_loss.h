/* td_loss.h - n-step double Q-learning targets and the loss against them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_TD_LOSS_H
#define FULCRUM_CALIBRATE_TD_LOSS_H

#include <stddef.h>

/*
 * Sequences side by side: row t * batch_count + i is step t of sequence i. Values have
 * step_count + 1 steps (the last is only looked ahead to); actions and rewards, those
 * that follow the observation of their step, have step_count. No episode ends inside.
 */
struct fulcrum_td {
    size_t step_count;
    size_t batch_count;
    size_t action_count;
    size_t look_ahead; /* n of the n-step return; shorter at the end of a sequence */
    double discount;
    const float *online; /* action values, action_count per row */
    const float *target; /* the same of the target network */
    const int *action;   /* in [0, action_count) */
    const float *reward;
};

/* Kapturowski et al. (2019): sign(x) (sqrt(|x| + 1) - 1) + x / 1000. */
double fulcrum_td_rescale(double value);

/* The inverse of fulcrum_td_rescale. */
double fulcrum_td_unscale(double value);

/*
 * Mean over sequences and steps of half the squared difference between the online value
 * of the action taken and its target, all importance weights one. Sets
 * `online_gradient` for the first step_count steps.
 */
double fulcrum_td_loss(const struct fulcrum_td *td, float *online_gradient);

#endif
