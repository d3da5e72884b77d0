/* loss.h - losses: PPO's clipped objective, n-step double Q-learning. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_NETWORK_LOSS_H
#define FULCRUM_CALIBRATE_NETWORK_LOSS_H

#include <stddef.h>

/* The clipped surrogate loss of proximal policy optimisation. */

/*
 * The policy is Gaussian, independent in each action. A row of `output` has the
 * action_count means and then the value of the state.
 */
struct fulcrum_ppo {
    size_t sample_count;
    size_t action_count;
    double clip_frac; /* the ratio of probabilities counts within 1 +- this */
    double value_weight;
    const float *output;
    const float *log_std; /* action_count, the same for all samples */
    const float *action;  /* action_count per sample */
    const float *old_log_probability;
    const float *advantage;
    const float *value_target;
};

/* Logarithm of the probability density of a sample's action. */
double fulcrum_ppo_log_probability(const struct fulcrum_ppo *ppo, size_t sample);

/*
 * Mean over samples of the clipped surrogate (Schulman et al., 2017, equation 7, with
 * the sign of a loss) plus value_weight times half the squared error of the value.
 * Sets output_gradient, adds to log_std_gradient.
 */
double fulcrum_ppo_loss(
    const struct fulcrum_ppo *ppo, float *output_gradient, float *log_std_gradient);

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
