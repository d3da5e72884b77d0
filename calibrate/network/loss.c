/* loss.c - losses: PPO's clipped objective, n-step double Q-learning. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/network/loss.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "calibrate/network/layer.h"

/* The clipped surrogate loss of proximal policy optimisation. */

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

/* Keeps the rescaling invertible: Pohlen et al. (2018), Kapturowski et al. (2019). */
static const double rescale_slope = 1e-3;

double fulcrum_td_rescale(double value)
{
    return copysign(sqrt(fabs(value) + 1.0) - 1.0, value) + rescale_slope * value;
}

double fulcrum_td_unscale(double value)
{
    double inner = 1.0 + 4.0 * rescale_slope * (fabs(value) + 1.0 + rescale_slope);
    double root = (sqrt(inner) - 1.0) / (2.0 * rescale_slope);
    return copysign(root * root - 1.0, value);
}

/* The online network chooses the action that the target network values. */
static double bootstrap_value(const struct fulcrum_td *td, size_t row)
{
    size_t first = row * td->action_count;
    size_t best = fulcrum_largest(td->online + first, td->action_count);
    return fulcrum_td_unscale((double)td->target[first + best]);
}

double fulcrum_td_loss(const struct fulcrum_td *td, float *online_gradient)
{
    size_t rows = td->step_count * td->batch_count;
    double loss = 0.0;
    memset(online_gradient, 0, rows * td->action_count * sizeof *online_gradient);
    for (size_t row = 0; row < rows; row++) {
        size_t taken = row * td->action_count + (size_t)td->action[row];
        size_t left = td->step_count - row / td->batch_count;
        size_t steps = left < td->look_ahead ? left : td->look_ahead;
        double value = bootstrap_value(td, row + steps * td->batch_count);
        for (size_t i = steps; i > 0; i--) {
            double reward = (double)td->reward[row + (i - 1) * td->batch_count];
            value = reward + td->discount * value;
        }
        double target_value = fulcrum_td_rescale(value);
        double error = (double)td->online[taken] - target_value;
        loss += 0.5 * error * error;
        online_gradient[taken] = (float)(error / (double)rows);
    }
    return loss / (double)rows;
}
