/* ppo_loss.c - the clipped surrogate loss of proximal policy optimisation. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/ppo_loss.h"

#include <math.h>

/* log(2 pi) / 2 */
static const double log_normal = 0.91893853320467274;

static const float *output_row(const struct fulcrum_ppo *ppo, size_t sample)
{
    return ppo->output + sample * (ppo->action_count + 1);
}

/* Distance of the action from its mean, in standard deviations. */
static double deviation(const struct fulcrum_ppo *ppo, size_t sample, size_t i)
{
    double action = (double)ppo->action[sample * ppo->action_count + i];
    double mean = (double)output_row(ppo, sample)[i];
    return (action - mean) * exp(-(double)ppo->log_std[i]);
}

double fulcrum_ppo_log_probability(const struct fulcrum_ppo *ppo, size_t sample)
{
    double sum = 0.0;
    for (size_t i = 0; i < ppo->action_count; i++) {
        double z = deviation(ppo, sample, i);
        sum -= 0.5 * z * z + (double)ppo->log_std[i] + log_normal;
    }
    return sum;
}

/* Returns the loss of the policy; `slope` is its derivative by the log probability. */
static double surrogate(const struct fulcrum_ppo *ppo, size_t sample, double *slope)
{
    double old = (double)ppo->old_log_probability[sample];
    double advantage = (double)ppo->advantage[sample];
    double ratio = exp(fulcrum_ppo_log_probability(ppo, sample) - old);
    double bounded = fmin(fmax(ratio, 1.0 - ppo->clip_frac), 1.0 + ppo->clip_frac);
    double free_gain = ratio * advantage;
    double clipped_gain = bounded * advantage;
    *slope = free_gain <= clipped_gain ? -free_gain : 0.0;
    return -fmin(free_gain, clipped_gain);
}

static double add_sample(const struct fulcrum_ppo *ppo, size_t sample,
    float *output_gradient, float *log_std_gradient)
{
    size_t actions = ppo->action_count;
    double slope = 0.0;
    double loss = surrogate(ppo, sample, &slope);
    slope /= (double)ppo->sample_count;
    for (size_t i = 0; i < actions; i++) {
        double z = deviation(ppo, sample, i);
        output_gradient[i] = (float)(slope * z * exp(-(double)ppo->log_std[i]));
        log_std_gradient[i] += (float)(slope * (z * z - 1.0));
    }
    double error =
        (double)output_row(ppo, sample)[actions] - (double)ppo->value_target[sample];
    output_gradient[actions] =
        (float)(ppo->value_weight * error / (double)ppo->sample_count);
    return loss + 0.5 * ppo->value_weight * error * error;
}

double fulcrum_ppo_loss(
    const struct fulcrum_ppo *ppo, float *output_gradient, float *log_std_gradient)
{
    double loss = 0.0;
    for (size_t i = 0; i < ppo->sample_count; i++) {
        loss += add_sample(
            ppo, i, output_gradient + i * (ppo->action_count + 1), log_std_gradient);
    }
    return loss / (double)ppo->sample_count;
}
