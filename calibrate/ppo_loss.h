/* ppo_loss.h - the clipped surrogate loss of proximal policy optimisation. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PPO_LOSS_H
#define FULCRUM_CALIBRATE_PPO_LOSS_H

#include <stddef.h>

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

#endif
