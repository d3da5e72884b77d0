/* td_loss.c - n-step double Q-learning targets and the loss against them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/td_loss.h"

#include <math.h>
#include <string.h>

#include "calibrate/activation.h"

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

static double target_value(const struct fulcrum_td *td, size_t row)
{
    size_t left = td->step_count - row / td->batch_count;
    size_t steps = left < td->look_ahead ? left : td->look_ahead;
    double value = bootstrap_value(td, row + steps * td->batch_count);
    for (size_t i = steps; i > 0; i--) {
        double reward = (double)td->reward[row + (i - 1) * td->batch_count];
        value = reward + td->discount * value;
    }
    return fulcrum_td_rescale(value);
}

double fulcrum_td_loss(const struct fulcrum_td *td, float *online_gradient)
{
    size_t rows = td->step_count * td->batch_count;
    double loss = 0.0;
    memset(online_gradient, 0, rows * td->action_count * sizeof *online_gradient);
    for (size_t row = 0; row < rows; row++) {
        size_t taken = row * td->action_count + (size_t)td->action[row];
        double error = (double)td->online[taken] - target_value(td, row);
        loss += 0.5 * error * error;
        online_gradient[taken] = (float)(error / (double)rows);
    }
    return loss / (double)rows;
}
