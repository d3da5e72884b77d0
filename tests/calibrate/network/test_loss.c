/* test_loss.c - losses and optimiser against values worked out by hand. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/network/layer.h"
#include "calibrate/network/loss.h"

#include <math.h>
#include <stdbool.h>

#include "tests/support/suite.h"

static void test_rescaling_is_odd_and_invertible(void)
{
    const double values[] = {0.0, 1e-3, 1.0, 3.0, 250.0, 1e6};
    suite_assert_close("h(3)", fulcrum_td_rescale(3.0), 1.003, 1e-15);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        double scaled = fulcrum_td_rescale(values[i]);
        double back = fulcrum_td_unscale(scaled);
        /* The inverse subtracts 1 twice from numbers near it: 1e-16 / 1e-3. */
        CU_ASSERT_DOUBLE_EQUAL(back, values[i], 1e-9 * (1.0 + values[i]));
        suite_assert_close("odd", fulcrum_td_rescale(-values[i]), -scaled, 0.0);
        suite_assert_close("odd", fulcrum_td_unscale(-scaled), -back, 0.0);
    }
}

static void test_best_is_the_first_of_the_largest(void)
{
    const float values[] = {-3.0F, 2.0F, 5.0F, 5.0F, -9.0F};
    CU_ASSERT_EQUAL(fulcrum_largest(values, 5), 2);
    CU_ASSERT_EQUAL(fulcrum_largest(values, 1), 0);
}

/* Two sequences of two steps and the step after. The online network prefers action 1 in
 * every look ahead, whatever the target network makes of it. */
static const float online[] = {0.5F, 0.0F, 1.0F, 0.0F, /* step 0 */
    0.0F, 0.25F, 0.0F, 0.5F,                           /* step 1 */
    -1.0F, 1.0F, -1.0F, 2.0F};                         /* after */
static const float target[] = {9.0F, 9.0F, 9.0F, 9.0F, /* never read */
    7.0F, 0.75F, 7.0F, -0.5F, 7.0F, 0.125F, 7.0F, 2.0F};
static const int td_action[] = {0, 1, 1, 0};
static const float reward[] = {1.0F, -1.0F, 0.5F, 0.25F};

/* Halves of the squared errors of one sequence, checking the slope of its first step.
 */
static double sequence_loss(size_t look_ahead, size_t sequence, const float *gradient)
{
    const double next_value[] = {0.75, -0.5};
    const double end_value[] = {0.125, 2.0};
    const double first_taken[] = {0.5, 0.0};
    const double last_taken[] = {0.25, 0.0};
    double end = fulcrum_td_unscale(end_value[sequence]);
    double last = (double)reward[2 + sequence] + 0.9 * end;
    double next = look_ahead == 1 ? fulcrum_td_unscale(next_value[sequence]) : last;
    double first = (double)reward[sequence] + 0.9 * next;
    double first_error = first_taken[sequence] - fulcrum_td_rescale(first);
    double last_error = last_taken[sequence] - fulcrum_td_rescale(last);
    size_t taken = 2 * sequence + (size_t)td_action[sequence];
    suite_assert_close("slope", (double)gradient[taken], first_error / 4.0, 1e-6);
    CU_ASSERT_TRUE(gradient[taken ^ 1U] == 0.0F);
    return 0.5 * (first_error * first_error + last_error * last_error);
}

static void test_td_loss_looks_ahead_and_chooses_online(void)
{
    for (size_t look_ahead = 1; look_ahead <= 5; look_ahead += 4) {
        struct fulcrum_td td = {.step_count = 2,
            .batch_count = 2,
            .action_count = 2,
            .look_ahead = look_ahead,
            .discount = 0.9,
            .online = online,
            .target = target,
            .action = td_action,
            .reward = reward};
        float gradient[8];
        double loss = fulcrum_td_loss(&td, gradient);
        double expected = sequence_loss(look_ahead, 0, gradient) +
                          sequence_loss(look_ahead, 1, gradient);
        suite_assert_close("loss", loss, expected / 4.0, 1e-12);
    }
}

struct clip_case {
    double log_ratio;
    double gain; /* what the surrogate counts */
    float advantage;
    bool is_moved; /* does the mean have a gradient */
};

static void test_surrogate_is_clipped_on_the_gaining_side_only(void)
{
    const struct clip_case cases[] = {
        {0.0, 2.0, 2.0F, 1},
        {0.5, 2.4, 2.0F, 0},              /* gained enough */
        {0.5, -2.0 * exp(0.5), -2.0F, 1}, /* a loss is felt in full */
        {-0.5, -1.6, -2.0F, 0},           /* avoided enough */
        {-0.5, 2.0 * exp(-0.5), 2.0F, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const float output[] = {0.5F, 3.0F};
        const float log_std = 0.0F;
        const float action = 1.5F;
        const float value_target = 1.0F;
        float old = 0.0F;
        struct fulcrum_ppo ppo = {.sample_count = 1,
            .action_count = 1,
            .clip_frac = 0.2,
            .value_weight = 0.5,
            .output = output,
            .log_std = &log_std,
            .action = &action,
            .old_log_probability = &old,
            .advantage = &cases[i].advantage,
            .value_target = &value_target};
        double log_probability = fulcrum_ppo_log_probability(&ppo, 0);
        double normal = -0.5 - 0.5 * log(2.0 * acos(-1.0));
        suite_assert_close("log probability", log_probability, normal, 1e-14);
        old = (float)(log_probability - cases[i].log_ratio);
        float gradient[2];
        float log_std_gradient = 0.0F;
        double loss = fulcrum_ppo_loss(&ppo, gradient, &log_std_gradient);
        /* The value is 2 off: half of half its square. The old one is a float. */
        suite_assert_close("loss", loss, 1.0 - cases[i].gain, 1e-6);
        double slope = cases[i].is_moved ? -cases[i].gain : 0.0;
        CU_ASSERT_DOUBLE_EQUAL((double)gradient[0], slope, 1e-5);
        suite_assert_close("value", (double)gradient[1], 1.0, 1e-6);
        /* At one standard deviation the width has no first-order effect. */
        CU_ASSERT_DOUBLE_EQUAL((double)log_std_gradient, 0.0, 1e-6);
    }
}

static void test_adam_first_step_has_the_size_of_the_rate(void)
{
    const float gradients[] = {3.0F, -0.01F, 0.0F};
    float parameters[] = {1.0F, 1.0F, 1.0F};
    float mean[3] = {0.0F};
    float square[3] = {0.0F};
    struct fulcrum_adam adam = {.rate = 0.125,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .epsilon = 0.01,
        .parameter_count = 3,
        .mean = mean,
        .square = square};
    fulcrum_adam_update(&adam, parameters, gradients);
    suite_assert_close("falls", (double)parameters[0], 1.0 - 0.125 * 3.0 / 3.01, 1e-6);
    suite_assert_close("rises", (double)parameters[1], 1.0 + 0.125 * 0.5, 1e-6);
    CU_ASSERT_TRUE(parameters[2] == 1.0F);
    CU_ASSERT_EQUAL(adam.step_count, 1);
}

static void test_adam_follows_its_closed_form(void)
{
    const float gradients[] = {1.0F, -2.0F, 0.5F};
    float parameter = 0.0F;
    float mean = 0.0F;
    float square = 0.0F;
    struct fulcrum_adam adam = {.rate = 0.1,
        .beta1 = 0.8,
        .beta2 = 0.95,
        .epsilon = 1e-3,
        .parameter_count = 1,
        .mean = &mean,
        .square = &square};
    double expected = 0.0;
    for (size_t t = 1; t <= 3; t++) {
        fulcrum_adam_update(&adam, &parameter, &gradients[t - 1]);
        double weighted = 0.0;
        double weighted_square = 0.0;
        for (size_t i = 1; i <= t; i++) {
            double g = (double)gradients[i - 1];
            weighted += 0.2 * pow(0.8, (double)(t - i)) * g;
            weighted_square += 0.05 * pow(0.95, (double)(t - i)) * g * g;
        }
        double m = weighted / (1.0 - pow(0.8, (double)t));
        double v = weighted_square / (1.0 - pow(0.95, (double)t));
        expected -= 0.1 * m / (sqrt(v) + 1e-3);
        CU_ASSERT_DOUBLE_EQUAL((double)parameter, expected, 1e-6);
    }
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_rescaling_is_odd_and_invertible),
        SUITE_CASE(test_best_is_the_first_of_the_largest),
        SUITE_CASE(test_td_loss_looks_ahead_and_chooses_online),
        SUITE_CASE(test_surrogate_is_clipped_on_the_gaining_side_only),
        SUITE_CASE(test_adam_first_step_has_the_size_of_the_rate),
        SUITE_CASE(test_adam_follows_its_closed_form),
    };
    return suite_run("loss", cases, sizeof cases / sizeof cases[0], argc, argv);
}
