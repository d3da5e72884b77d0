/* test_device_network.c - networks on devices beside those on the CPU, step by step. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/device/device_network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/network/layer.h"
#include "calibrate/network/networks.h"
#include "tests/support/devices.h"
#include "tests/support/gradient.h"
#include "tests/support/suite.h"

/*
 * Sums of float32 in another order, and another exp: a few units in the last place of
 * the largest element, which a few hundred terms make 1e-5 of it at most.
 */
static const double tolerance = 1e-5;

/* Every size differs, images do not end at a whole float, chunks are several. */
static const struct fulcrum_r2d2_options tiny_r2d2 = {
    .shape = {.height = 13,
        .width = 11,
        .channel_count = 3,
        .filters = {{3, 4, 2}, {5, 3, 1}, {4, 2, 1}},
        .dense_count = 8,
        .lstm_count = 6,
        .head_count = 7,
        .action_count = 3},
    .max_batch = 11,
    .train_batch = 3,
    .train_unroll = 7,
    .train_burn_in = 2,
    .seed = 5,
};

static const struct fulcrum_mlp_options tiny_mlp = {
    .input_count = 5,
    .hidden_count = 9,
    .action_count = 3,
    .max_batch = 11,
    .train_batch = 37,
    .seed = 5,
};

/* Both networks of one set of options, and the device that one of them is on. */
struct r2d2_pair {
    struct fulcrum_compute compute;
    struct fulcrum_r2d2 *cpu;
    struct fulcrum_device_r2d2 *device;
};

static struct r2d2_pair open_r2d2(
    const struct fulcrum_compute *compute, const struct fulcrum_r2d2_options *options)
{
    struct r2d2_pair pair = {.compute = *compute};
    CU_ASSERT_EQUAL_FATAL(fulcrum_r2d2_new(&pair.cpu, options, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_device_r2d2_new(&pair.device, compute, options, NULL), FULCRUM_OK);
    return pair;
}

static void close_r2d2(struct r2d2_pair *pair)
{
    fulcrum_r2d2_free(pair->cpu);
    fulcrum_device_r2d2_free(pair->device);
}

/*
 * Adam divides a gradient by its own size: where that is rounding, so is the step. So
 * a few parameters may differ by a step of 3e-4 in either direction each time, while
 * all of them together differ by little.
 */
static const double adam_tolerance = 1e-3;
static const double adam_step = 3e-4;
static const double adam_off = 3e-5;
enum { ADAM_STEPS = 3 };

/* Copies an array of `count` floats from the device: the caller frees it. */
static float *copy_of(
    const struct fulcrum_compute *compute, fulcrum_place place, size_t count)
{
    float *copy = calloc(count, sizeof *copy);
    CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
    devices_read(compute, copy, place, count);
    return copy;
}

/* What is compared on a device. */
struct array {
    const char *what;
    fulcrum_place place;
    size_t count;
};

static void assert_equal_array(const struct fulcrum_compute *compute,
    const struct array *array, const float *expected, double bound)
{
    char name[80];
    float *actual = copy_of(compute, array->place, array->count);
    (void)snprintf(name, sizeof name, "%s on %s", array->what, compute->device->name);
    devices_assert_near(name, actual, expected, array->count, bound);
    free(actual);
}

/* Of parameters after ADAM_STEPS steps. */
static void assert_trained_alike(const struct fulcrum_compute *compute,
    fulcrum_place place, const float *expected, size_t count)
{
    float *actual = copy_of(compute, place, count);
    double squares = 0.0;
    double difference_squares = 0.0;
    double worst = 0.0;
    for (size_t i = 0; i < count; i++) {
        double difference = (double)actual[i] - (double)expected[i];
        squares += (double)expected[i] * (double)expected[i];
        difference_squares += difference * difference;
        worst = fmax(worst, fabs(difference));
    }
    double off = sqrt(difference_squares / squares);
    if (!(off <= adam_off && worst <= 2.0 * ADAM_STEPS * adam_step)) {
        (void)printf(
            "    parameters on %s: off by %.3g (root mean square), at most %.3g\n",
            compute->device->name, off, worst);
    }
    CU_ASSERT_TRUE(off <= adam_off);
    CU_ASSERT_TRUE(worst <= 2.0 * ADAM_STEPS * adam_step);
    free(actual);
}

/* Batches of growing and shrinking size: states of slots that wait are kept. */
static void assert_same_inference(
    const struct r2d2_pair *pair, const struct fulcrum_r2d2_options *options)
{
    const size_t batches[] = {
        options->max_batch, 1, options->max_batch / 2, options->max_batch};
    size_t image_byte = fulcrum_r2d2_image_byte(options);
    size_t actions = options->shape.action_count;
    uint8_t *images = fulcrum_r2d2_input(pair->cpu);
    struct fulcrum_random random = fulcrum_random_seeded(3);
    for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++) {
        int action[64] = {0};
        int expected[64] = {0};
        for (size_t j = 0; j < options->max_batch * image_byte; j++) {
            images[j] = (uint8_t)(fulcrum_random_bits(&random) & 255U);
        }
        memcpy(fulcrum_device_r2d2_input(pair->device), images,
            options->max_batch * image_byte);
        const float *q = fulcrum_r2d2_forward(pair->cpu, batches[i]);
        CU_ASSERT_EQUAL(
            fulcrum_device_r2d2_infer(pair->device, batches[i], action, NULL),
            FULCRUM_OK);
        struct array inferred = {"q",
            fulcrum_device_r2d2_places_of(pair->device).inferred_q,
            batches[i] * actions};
        assert_equal_array(&pair->compute, &inferred, q, tolerance);
        for (size_t j = 0; j < batches[i]; j++) {
            expected[j] = (int)fulcrum_largest(q + j * actions, actions);
        }
        CU_ASSERT_EQUAL(memcmp(action, expected, batches[i] * sizeof *action), 0);
    }
}

static void assert_same_training(const struct r2d2_pair *pair, size_t step_count)
{
    size_t count = fulcrum_r2d2_cost(pair->cpu).parameter_count;
    struct fulcrum_device_r2d2_places places =
        fulcrum_device_r2d2_places_of(pair->device);
    struct array parameters = {"parameters", places.parameters, count};
    struct array gradients = {"gradients", places.gradients, count};
    assert_equal_array(
        &pair->compute, &parameters, fulcrum_r2d2_parameters(pair->cpu), 0.0);
    for (size_t i = 0; i < step_count; i++) {
        double loss = NAN;
        double expected = fulcrum_r2d2_train(pair->cpu);
        CU_ASSERT_EQUAL(
            fulcrum_device_r2d2_train(pair->device, &loss, NULL), FULCRUM_OK);
        suite_assert_close("loss", loss, expected, tolerance);
        assert_equal_array(
            &pair->compute, &gradients, fulcrum_r2d2_gradients(pair->cpu), tolerance);
    }
    assert_equal_array(
        &pair->compute, &parameters, fulcrum_r2d2_parameters(pair->cpu), tolerance);
}

static void compare_r2d2(const struct fulcrum_compute *compute,
    const struct fulcrum_r2d2_options *options, size_t step_count)
{
    struct r2d2_pair pair = open_r2d2(compute, options);
    assert_same_inference(&pair, options);
    assert_same_training(&pair, step_count);
    struct fulcrum_network_cost cost = fulcrum_device_r2d2_cost(pair.device);
    struct fulcrum_network_cost expected = fulcrum_r2d2_cost(pair.cpu);
    CU_ASSERT_EQUAL(cost.parameter_count, expected.parameter_count);
    suite_assert_close("flop", cost.train_step_flop, expected.train_step_flop, 1e-12);
    CU_ASSERT_TRUE(cost.buffer_byte > 4 * sizeof(float) * cost.parameter_count);
    close_r2d2(&pair);
}

static void compare_r2d2_everywhere(
    const struct fulcrum_r2d2_options *options, size_t step_count)
{
    for (size_t i = 0; devices_at(i) != NULL; i++) {
        struct fulcrum_compute compute;
        if (devices_open(devices_at(i), &compute)) {
            compare_r2d2(&compute, options, step_count);
            devices_close(&compute);
        }
    }
}

static void test_r2d2_is_that_of_the_cpu_on_every_device(void)
{
    struct fulcrum_r2d2_options without_burn_in = tiny_r2d2;
    without_burn_in.train_burn_in = 0;
    struct fulcrum_r2d2_options long_burn_in = tiny_r2d2;
    long_burn_in.train_burn_in = 9;
    long_burn_in.train_unroll = 2;
    const struct fulcrum_r2d2_options *const options[] = {
        &tiny_r2d2, &without_burn_in, &long_burn_in};
    for (size_t j = 0; j < sizeof options / sizeof options[0]; j++) {
        compare_r2d2_everywhere(options[j], 3);
    }
}

/* The real sizes: chunks of images, tiles of products, sums of many rows. */
static void test_atari_network_is_that_of_the_cpu_on_every_device(void)
{
    struct fulcrum_r2d2_options atari = {.shape = fulcrum_r2d2_atari(18),
        .max_batch = 9,
        .train_batch = 2,
        .train_unroll = 2,
        .train_burn_in = 1,
        .seed = 11};
    compare_r2d2_everywhere(&atari, 2);
}

static void test_target_is_renewed_after_2500_updates(void)
{
    struct fulcrum_r2d2_options small = tiny_r2d2;
    small.train_batch = 1;
    small.train_unroll = 1;
    small.train_burn_in = 0;
    struct fulcrum_compute compute;
    CU_ASSERT_TRUE_FATAL(devices_open(devices_at(0), &compute));
    struct r2d2_pair pair = open_r2d2(&compute, &small);
    double loss = NAN;
    double before = NAN;
    for (size_t i = 0; i < FULCRUM_R2D2_TARGET_PERIOD + 1; i++) {
        before = loss;
        CU_ASSERT_EQUAL_FATAL(
            fulcrum_device_r2d2_train(pair.device, &loss, NULL), FULCRUM_OK);
    }
    /* The loss has converged to an old target, and a new one moves it. */
    CU_ASSERT_TRUE(loss > before);
    close_r2d2(&pair);
    devices_close(&compute);
}

struct mlp_pair {
    struct fulcrum_compute compute;
    struct fulcrum_mlp *cpu;
    struct fulcrum_device_mlp *device;
};

static void assert_same_policy(
    const struct mlp_pair *pair, const struct fulcrum_mlp_options *options)
{
    const size_t batch = options->max_batch;
    const size_t outputs = options->action_count + 1;
    int action[64];
    float *input = fulcrum_mlp_input(pair->cpu);
    gradient_fill(input, batch * options->input_count, 9);
    memcpy(fulcrum_device_mlp_input(pair->device), input,
        batch * options->input_count * sizeof *input);
    const float *output = fulcrum_mlp_forward(pair->cpu, batch);
    CU_ASSERT_EQUAL(
        fulcrum_device_mlp_infer(pair->device, batch, action, NULL), FULCRUM_OK);
    struct array policy = {
        "policy", fulcrum_device_mlp_places_of(pair->device).inferred, batch * outputs};
    assert_equal_array(&pair->compute, &policy, output, tolerance);
    for (size_t i = 0; i < batch; i++) {
        size_t best = fulcrum_largest(output + i * outputs, outputs - 1);
        CU_ASSERT_EQUAL(action[i], (int)best);
    }
}

static void compare_mlp(
    const struct fulcrum_compute *compute, const struct fulcrum_mlp_options *options)
{
    struct mlp_pair pair = {.compute = *compute};
    CU_ASSERT_EQUAL_FATAL(fulcrum_mlp_new(&pair.cpu, options, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_device_mlp_new(&pair.device, compute, options, NULL), FULCRUM_OK);
    size_t count = fulcrum_mlp_cost(pair.cpu).parameter_count;
    struct fulcrum_device_mlp_places places = fulcrum_device_mlp_places_of(pair.device);
    struct array gradients = {"gradients", places.gradients, count};
    assert_same_policy(&pair, options);
    for (size_t i = 0; i < ADAM_STEPS; i++) {
        double loss = NAN;
        double expected = fulcrum_mlp_train(pair.cpu);
        CU_ASSERT_EQUAL(fulcrum_device_mlp_train(pair.device, &loss, NULL), FULCRUM_OK);
        /* From the second step on the parameters differ a little themselves. */
        double bound = i > 0 ? adam_tolerance : tolerance;
        suite_assert_close("loss", loss, expected, bound);
        assert_equal_array(compute, &gradients, fulcrum_mlp_gradients(pair.cpu), bound);
    }
    assert_trained_alike(
        compute, places.parameters, fulcrum_mlp_parameters(pair.cpu), count);
    CU_ASSERT_EQUAL(fulcrum_device_mlp_cost(pair.device).parameter_count, count);
    fulcrum_mlp_free(pair.cpu);
    fulcrum_device_mlp_free(pair.device);
}

static void test_mlp_is_that_of_the_cpu_on_every_device(void)
{
    struct fulcrum_mlp_options humanoid = {.input_count = 376,
        .hidden_count = 256,
        .action_count = 17,
        .max_batch = 33,
        .train_batch = 256,
        .seed = 4};
    for (size_t i = 0; devices_at(i) != NULL; i++) {
        struct fulcrum_compute compute;
        if (devices_open(devices_at(i), &compute)) {
            compare_mlp(&compute, &tiny_mlp);
            devices_close(&compute);
        }
        if (devices_open(devices_at(i), &compute)) {
            compare_mlp(&compute, &humanoid);
            devices_close(&compute);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_r2d2_is_that_of_the_cpu_on_every_device),
        SUITE_CASE(test_atari_network_is_that_of_the_cpu_on_every_device),
        SUITE_CASE(test_target_is_renewed_after_2500_updates),
        SUITE_CASE(test_mlp_is_that_of_the_cpu_on_every_device),
    };
    return suite_run(
        "device_network", cases, sizeof cases / sizeof cases[0], argc, argv);
}
