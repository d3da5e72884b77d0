/* test_learner_network.c - the two whole networks, at sizes that differences can check.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/network/loss.h"
#include "calibrate/network/networks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/device/learners.h"
#include "calibrate/network/layer.h"
#include "tests/support/gradient.h"
#include "tests/support/suite.h"

/* Every size differs, and the batch takes several chunks of images. */
static const struct fulcrum_r2d2_options tiny_r2d2 = {
    .shape = {.height = 13,
        .width = 12,
        .channel_count = 2,
        .filters = {{3, 4, 2}, {5, 3, 1}, {4, 2, 1}},
        .dense_count = 8,
        .lstm_count = 6,
        .head_count = 7,
        .action_count = 3},
    .max_batch = 11,
    .train_batch = 3,
    .train_unroll = 7,
    .seed = 5,
};

static const struct fulcrum_mlp_options tiny_mlp = {
    .input_count = 5,
    .hidden_count = 9,
    .action_count = 3,
    .max_batch = 11,
    .train_batch = 32,
    .seed = 5,
};

static struct fulcrum_r2d2 *make_r2d2(const struct fulcrum_r2d2_options *options)
{
    struct fulcrum_r2d2 *network = NULL;
    enum fulcrum_status status = fulcrum_r2d2_new(&network, options, NULL);
    CU_ASSERT_EQUAL_FATAL(status, FULCRUM_OK);
    return network;
}

static struct fulcrum_mlp *make_mlp(const struct fulcrum_mlp_options *options)
{
    struct fulcrum_mlp *network = NULL;
    enum fulcrum_status status = fulcrum_mlp_new(&network, options, NULL);
    CU_ASSERT_EQUAL_FATAL(status, FULCRUM_OK);
    return network;
}

static double r2d2_loss(void *context)
{
    return fulcrum_r2d2_loss(context);
}

static double mlp_loss(void *context)
{
    return fulcrum_mlp_loss(context);
}

/* From one layer's first parameter to the next layer's. */
struct span {
    const char *name;
    size_t first;
    size_t end;
};

static void assert_span(struct span span, struct gradient_check check)
{
    check.what = span.name;
    check.values += span.first;
    check.gradients += span.first;
    check.count = span.end - span.first;
    gradient_assert(&check);
}

static void test_r2d2_gradient_matches_differences_in_every_layer(void)
{
    struct fulcrum_r2d2 *network = make_r2d2(&tiny_r2d2);
    const struct fulcrum_r2d2_layers *layers = fulcrum_r2d2_layers_of(network);
    const struct span spans[] = {
        {"conv 0", layers->conv[0].offset, layers->conv[1].offset},
        {"conv 1", layers->conv[1].offset, layers->conv[2].offset},
        {"conv 2", layers->conv[2].offset, layers->dense.offset},
        {"dense", layers->dense.offset, layers->lstm.offset},
        {"lstm", layers->lstm.offset, layers->value_hidden.offset},
        {"value hidden", layers->value_hidden.offset, layers->value.offset},
        {"value", layers->value.offset, layers->advantage_hidden.offset},
        {"advantage hidden", layers->advantage_hidden.offset, layers->advantage.offset},
        {"advantage", layers->advantage.offset, layers->parameter_count},
    };
    (void)fulcrum_r2d2_loss(network);
    fulcrum_r2d2_backward(network);
    struct gradient_check check = {.values = fulcrum_r2d2_parameters(network),
        .gradients = fulcrum_r2d2_gradients(network),
        .loss = r2d2_loss,
        .context = network};
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        assert_span(spans[i], check);
    }
    fulcrum_r2d2_free(network);
}

/* With a burn-in the heads alone: what comes before them also moves the state that the
 * segment starts from, which R2D2 takes as given. */
static void test_r2d2_gradient_after_a_burn_in_matches_differences(void)
{
    struct fulcrum_r2d2_options options = tiny_r2d2;
    options.train_burn_in = 4;
    struct fulcrum_r2d2 *network = make_r2d2(&options);
    const struct fulcrum_r2d2_layers *layers = fulcrum_r2d2_layers_of(network);
    (void)fulcrum_r2d2_loss(network);
    fulcrum_r2d2_backward(network);
    struct gradient_check check = {.values = fulcrum_r2d2_parameters(network),
        .gradients = fulcrum_r2d2_gradients(network),
        .loss = r2d2_loss,
        .context = network};
    struct span heads = {"heads", layers->value_hidden.offset, layers->parameter_count};
    assert_span(heads, check);
    fulcrum_r2d2_free(network);
}

/* One forward pass over all steps of a batch, from a state of zero. */
static struct fulcrum_r2d2_trace forward_whole(struct fulcrum_pool *pool,
    const struct fulcrum_r2d2_layers *layers, const float *parameters,
    const struct fulcrum_r2d2_batch *batch, struct fulcrum_r2d2_scratch *scratch)
{
    *scratch = fulcrum_r2d2_scratch_take(layers, pool);
    struct fulcrum_r2d2_trace trace = fulcrum_r2d2_trace_take(
        layers, pool, batch->step_count, batch->batch_count, FULCRUM_R2D2_KEEP_OUTPUTS);
    CU_ASSERT_FALSE_FATAL(pool->is_exhausted);
    trace.scratch = scratch;
    fulcrum_r2d2_forward_core(layers, parameters, batch, &trace);
    fulcrum_r2d2_forward_heads(layers, parameters, &trace);
    return trace;
}

/* The loss of the network's replay without its way of splitting off the burn-in. */
static double expected_loss(const struct fulcrum_r2d2_options *options,
    struct fulcrum_r2d2 *network, const float *target_parameters)
{
    const struct fulcrum_r2d2_layers *layers = fulcrum_r2d2_layers_of(network);
    struct fulcrum_r2d2_batch replay = fulcrum_r2d2_replay(network);
    struct fulcrum_pool pool = {.item_count = 0};
    struct fulcrum_r2d2_scratch scratch;
    struct fulcrum_r2d2_trace online = forward_whole(
        &pool, layers, fulcrum_r2d2_parameters(network), &replay, &scratch);
    struct fulcrum_r2d2_trace target =
        forward_whole(&pool, layers, target_parameters, &replay, &scratch);
    float *gradient =
        fulcrum_pool_take_floats(&pool, replay.step_count * replay.batch_count * 3);
    size_t row = options->train_burn_in * options->train_batch;
    struct fulcrum_td td = {.step_count = options->train_unroll,
        .batch_count = options->train_batch,
        .action_count = 3,
        .look_ahead = 5,
        .discount = 0.997,
        .online = online.q + row * 3,
        .target = target.q + row * 3,
        .action = replay.last_action + row + options->train_batch,
        .reward = replay.last_reward + row + options->train_batch};
    double loss = fulcrum_td_loss(&td, gradient);
    fulcrum_pool_clear(&pool);
    return loss;
}

static void test_r2d2_loss_is_that_of_the_steps_after_the_burn_in(void)
{
    for (size_t burn_in = 0; burn_in <= 9; burn_in += 3) {
        struct fulcrum_r2d2_options options = tiny_r2d2;
        options.train_burn_in = burn_in;
        struct fulcrum_r2d2 *network = make_r2d2(&options);
        float *parameters = fulcrum_r2d2_parameters(network);
        suite_assert_close("loss", fulcrum_r2d2_loss(network),
            expected_loss(&options, network, parameters), 1e-5);
        fulcrum_r2d2_free(network);
    }
}

/* Kapturowski et al. (2019): every 2500 updates. */
static void test_r2d2_target_is_renewed_after_2500_updates(void)
{
    struct fulcrum_r2d2_options options = tiny_r2d2;
    options.train_batch = 1;
    options.train_unroll = 1;
    struct fulcrum_r2d2 *network = make_r2d2(&options);
    float *parameters = fulcrum_r2d2_parameters(network);
    float first[2048];
    size_t count = fulcrum_r2d2_layers_of(network)->parameter_count;
    CU_ASSERT_TRUE_FATAL(count <= sizeof first / sizeof first[0]);
    memcpy(first, parameters, count * sizeof *first);
    for (size_t i = 1; i < 2500; i++) {
        (void)fulcrum_r2d2_train(network);
    }
    double late = fulcrum_r2d2_loss(network);
    CU_ASSERT_DOUBLE_EQUAL(late, expected_loss(&options, network, first), 1e-7);
    (void)fulcrum_r2d2_train(network);
    double renewed = expected_loss(&options, network, parameters);
    CU_ASSERT_DOUBLE_EQUAL(fulcrum_r2d2_loss(network), renewed, 1e-7);
    CU_ASSERT_TRUE(fabs(renewed - late) > 1e-4);
    fulcrum_r2d2_free(network);
}

/* Calls of the server, one after the other, against one pass over a sequence that has
 * the actions which the server took. */
static void test_r2d2_inference_is_a_sequence_with_its_own_actions(void)
{
    enum { CALLS = 3, IMAGE_SIZE = 13 * 12 * 2, ACTIONS = 3 };
    struct fulcrum_r2d2 *network = make_r2d2(&tiny_r2d2);
    const struct fulcrum_r2d2_layers *layers = fulcrum_r2d2_layers_of(network);
    uint8_t images[CALLS * IMAGE_SIZE];
    float q[CALLS * ACTIONS];
    int action[CALLS + 1] = {0};
    const float reward[CALLS] = {0.0F};
    for (size_t i = 0; i < CALLS; i++) {
        for (size_t j = 0; j < IMAGE_SIZE; j++) {
            images[i * IMAGE_SIZE + j] = (uint8_t)((i * 91 + j * 37) % 251);
        }
        memcpy(fulcrum_r2d2_input(network), images + i * IMAGE_SIZE, IMAGE_SIZE);
        memcpy(q + i * ACTIONS, fulcrum_r2d2_forward(network, 1), ACTIONS * sizeof *q);
        action[i + 1] = (int)fulcrum_largest(q + i * ACTIONS, ACTIONS);
    }
    struct fulcrum_r2d2_batch batch = {.step_count = CALLS,
        .batch_count = 1,
        .image = images,
        .last_action = action,
        .last_reward = reward};
    struct fulcrum_pool pool = {.item_count = 0};
    struct fulcrum_r2d2_scratch scratch;
    struct fulcrum_r2d2_trace trace = forward_whole(
        &pool, layers, fulcrum_r2d2_parameters(network), &batch, &scratch);
    for (size_t i = 0; i < (size_t)CALLS * ACTIONS; i++) {
        CU_ASSERT_DOUBLE_EQUAL((double)q[i], (double)trace.q[i], 1e-6);
    }
    fulcrum_pool_clear(&pool);
    fulcrum_r2d2_free(network);
}

static void test_r2d2_joins_reward_and_action_and_scales_images(void)
{
    struct fulcrum_r2d2_layers layers = fulcrum_r2d2_layers_make(&tiny_r2d2.shape);
    const uint8_t image[13 * 12 * 2] = {255, 51, 0};
    const int action = 1;
    const float reward = -0.5F;
    struct fulcrum_r2d2_batch batch = {.step_count = 1,
        .batch_count = 1,
        .image = image,
        .last_action = &action,
        .last_reward = &reward};
    struct fulcrum_pool pool = {.item_count = 0};
    struct fulcrum_r2d2_scratch scratch;
    float *parameters = fulcrum_pool_take_floats(&pool, layers.parameter_count);
    struct fulcrum_random random = fulcrum_random_seeded(1);
    fulcrum_r2d2_layers_init(&layers, parameters, &random);
    struct fulcrum_r2d2_trace trace =
        forward_whole(&pool, &layers, parameters, &batch, &scratch);
    CU_ASSERT_DOUBLE_EQUAL((double)scratch.image[0], 1.0, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL((double)scratch.image[1], 0.2, 1e-6);
    const float *joined = trace.core_input + tiny_r2d2.shape.dense_count;
    const float expected[] = {-0.5F, 0.0F, 1.0F, 0.0F};
    for (size_t i = 0; i < 4; i++) {
        CU_ASSERT_TRUE(joined[i] == expected[i]);
    }
    for (size_t i = 0; i < tiny_r2d2.shape.dense_count; i++) {
        CU_ASSERT_TRUE(trace.core_input[i] == trace.dense[i]);
    }
    fulcrum_pool_clear(&pool);
}

#define BATCH ((size_t)11)
#define IMAGE ((size_t)(13 * 12 * 2))

/* Calls of one image by itself, as often as it was in a batch; values of the last. */
static void assert_single(
    const uint8_t *image, size_t call_count, const float *expected)
{
    struct fulcrum_r2d2 *single = make_r2d2(&tiny_r2d2);
    memcpy(fulcrum_r2d2_input(single), image, IMAGE);
    const float *q = fulcrum_r2d2_forward(single, 1);
    for (size_t i = 1; i < call_count; i++) {
        q = fulcrum_r2d2_forward(single, 1);
    }
    for (size_t i = 0; i < tiny_r2d2.shape.action_count; i++) {
        /* Values are near 0.1: 1e-6 is 1e-5 of them. */
        CU_ASSERT_DOUBLE_EQUAL((double)q[i], (double)expected[i], 1e-6);
    }
    fulcrum_r2d2_free(single);
}

static void test_r2d2_batch_equals_single_images_with_state(void)
{
    const size_t actions = tiny_r2d2.shape.action_count;
    struct fulcrum_r2d2 *whole = make_r2d2(&tiny_r2d2);
    uint8_t *images = fulcrum_r2d2_input(whole);
    for (size_t i = 0; i < BATCH * IMAGE; i++) {
        images[i] = (uint8_t)(i * 37 % 251);
    }
    float first[BATCH * 3];
    memcpy(first, fulcrum_r2d2_forward(whole, BATCH), sizeof first);
    /* A smaller batch leaves the states of the others alone. */
    (void)fulcrum_r2d2_forward(whole, 2);
    const float *last = fulcrum_r2d2_forward(whole, BATCH);
    double moved = 0.0;
    for (size_t i = 0; i < BATCH; i++) {
        assert_single(images + i * IMAGE, 1, first + i * actions);
        assert_single(images + i * IMAGE, i < 2 ? 3 : 2, last + i * actions);
        moved =
            fmax(moved, fabs((double)last[i * actions] - (double)first[i * actions]));
    }
    CU_ASSERT_TRUE(moved > 1e-3);
    fulcrum_r2d2_free(whole);
}

static void test_r2d2_infers_the_action_of_the_largest_value(void)
{
    const size_t actions = tiny_r2d2.shape.action_count;
    struct fulcrum_r2d2 *network = make_r2d2(&tiny_r2d2);
    struct fulcrum_r2d2 *twin = make_r2d2(&tiny_r2d2);
    memset(fulcrum_r2d2_input(network), 90, BATCH * IMAGE);
    memset(fulcrum_r2d2_input(twin), 90, BATCH * IMAGE);
    int action[BATCH];
    fulcrum_r2d2_infer(network, BATCH, action);
    const float *q = fulcrum_r2d2_forward(twin, BATCH);
    for (size_t i = 0; i < BATCH * actions; i++) {
        CU_ASSERT_TRUE(q[i] <= q[i / actions * actions + (size_t)action[i / actions]]);
    }
    fulcrum_r2d2_free(network);
    fulcrum_r2d2_free(twin);
}

static void test_r2d2_training_lowers_its_loss(void)
{
    struct fulcrum_r2d2 *network = make_r2d2(&tiny_r2d2);
    double before = fulcrum_r2d2_train(network);
    double loss = before;
    for (size_t i = 0; i < 300; i++) {
        loss = fulcrum_r2d2_train(network);
    }
    CU_ASSERT_TRUE(loss < 0.9 * before);
    fulcrum_r2d2_free(network);
}

/* A learner of the small network that its user gives rows, and the rows' learner. */
static const struct fulcrum_learner_options atari = {.network = FULCRUM_NETWORK_R2D2,
    .max_batch = 1,
    .action_count = 4,
    .train_batch = 2,
    .train_unroll = 2,
    .train_burn_in = 1,
    .seed = 7};

static void fill_rows(const struct fulcrum_train_rows *rows, size_t image_byte)
{
    struct fulcrum_random random = fulcrum_random_seeded(43);
    size_t count = rows->batch_count * rows->step_count;
    for (size_t i = 0; i < count * image_byte; i++) {
        rows->observation[i] = (unsigned char)(fulcrum_random_bits(&random) & 255U);
    }
    for (size_t i = 0; i < count + rows->batch_count; i++) {
        rows->index[i] = (int)(fulcrum_random_bits(&random) % atari.action_count);
    }
}

/* The same rows in the network itself: to the last bit of gradient and weight. */
static void test_a_learner_trains_as_its_network_does_on_the_same_rows(void)
{
    const struct fulcrum_learner *learner = fulcrum_learner_find("cpu");
    struct fulcrum_r2d2_options options = fulcrum_learner_r2d2_options(&atari);
    struct fulcrum_r2d2 *network = make_r2d2(&options);
    struct fulcrum_learner_state *state = NULL;
    struct fulcrum_learner_info info;
    struct fulcrum_train_rows rows;
    double loss = NAN;
    CU_ASSERT_EQUAL_FATAL(learner->open(&atari, &state, &info, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(learner->train_rows(state, &rows, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(rows.step_count, 4); /* burn-in, two steps and one more */
    CU_ASSERT_EQUAL(rows.batch_count, 2);
    fill_rows(&rows, info.input_byte);
    CU_ASSERT_EQUAL(learner->take_rows(state, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(learner->train(state, &loss, NULL), FULCRUM_OK);
    struct fulcrum_r2d2_replay replay = fulcrum_r2d2_replay_data(network);
    rows = fulcrum_learner_r2d2_rows(&atari, &replay);
    fill_rows(&rows, fulcrum_r2d2_image_byte(&options));
    suite_assert_close("loss", loss, fulcrum_r2d2_train(network), 0.0);
    float *weights = calloc(info.parameter_count, sizeof *weights);
    if (weights == NULL) {
        abort();
    }
    CU_ASSERT_EQUAL(learner->read_weights(state, weights, NULL), FULCRUM_OK);
    const float *expected = fulcrum_r2d2_parameters(network);
    double apart = 0.0;
    for (size_t i = 0; i < info.parameter_count; i++) {
        apart = fmax(apart, fabs((double)weights[i] - (double)expected[i]));
    }
    suite_assert_close("weights", apart, 0.0, 0.0);
    free(weights);
    learner->close(state);
    fulcrum_r2d2_free(network);
}

static void test_mlp_gradient_matches_differences_in_every_layer(void)
{
    struct fulcrum_mlp *network = make_mlp(&tiny_mlp);
    const struct span spans[] = {{"layer 0", 0, 54}, {"layer 1", 54, 144},
        {"layer 2", 144, 234}, {"output", 234, 274}, {"log std", 274, 277}};
    CU_ASSERT_EQUAL(fulcrum_mlp_cost(network).parameter_count, 277);
    (void)fulcrum_mlp_loss(network);
    fulcrum_mlp_backward(network);
    /* The loss clears the gradients and computes a part of them again. */
    float gradients[277];
    memcpy(gradients, fulcrum_mlp_gradients(network), sizeof gradients);
    struct gradient_check check = {.values = fulcrum_mlp_parameters(network),
        .gradients = gradients,
        .loss = mlp_loss,
        .context = network};
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        assert_span(spans[i], check);
    }
    fulcrum_mlp_free(network);
}

/* Outputs equal those expected; the action has the largest mean (the value is none). */
static void assert_output(const float *output, const float *expected, int action)
{
    const size_t actions = tiny_mlp.action_count;
    CU_ASSERT_TRUE(action >= 0 && (size_t)action < actions);
    for (size_t i = 0; i <= actions; i++) {
        CU_ASSERT_DOUBLE_EQUAL((double)output[i], (double)expected[i], 1e-5);
        CU_ASSERT_TRUE(i == actions || output[i] <= output[action]);
    }
}

static void test_mlp_batch_equals_single_observations(void)
{
    const size_t inputs = tiny_mlp.input_count;
    const size_t outputs = tiny_mlp.action_count + 1;
    struct fulcrum_mlp *network = make_mlp(&tiny_mlp);
    float *input = fulcrum_mlp_input(network);
    float kept[BATCH * 5];
    float output[BATCH * 4];
    int action[BATCH];
    gradient_fill(input, BATCH * inputs, 1);
    memcpy(kept, input, sizeof kept);
    memcpy(output, fulcrum_mlp_forward(network, BATCH), sizeof output);
    fulcrum_mlp_infer(network, BATCH, action);
    for (size_t i = 0; i < BATCH; i++) {
        memcpy(input, kept + i * inputs, inputs * sizeof *input);
        assert_output(fulcrum_mlp_forward(network, 1), output + i * outputs, action[i]);
    }
    fulcrum_mlp_free(network);
}

static void test_mlp_training_lowers_its_loss(void)
{
    struct fulcrum_mlp *network = make_mlp(&tiny_mlp);
    double before = fulcrum_mlp_train(network);
    double loss = before;
    for (size_t i = 0; i < 300; i++) {
        loss = fulcrum_mlp_train(network);
    }
    CU_ASSERT_TRUE(loss < before - 0.05);
    fulcrum_mlp_free(network);
}

/* Beyond any address space, and so beyond what the learners let through. */
static void test_lack_of_memory_is_a_status(void)
{
    struct fulcrum_mlp_options mlp = tiny_mlp;
    struct fulcrum_r2d2_options r2d2 = tiny_r2d2;
    struct fulcrum_mlp *mlp_network = NULL;
    struct fulcrum_r2d2 *r2d2_network = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    mlp.max_batch = (size_t)1 << 50;
    r2d2.max_batch = (size_t)1 << 50;
    CU_ASSERT_EQUAL(fulcrum_mlp_new(&mlp_network, &mlp, &err), FULCRUM_ERR_NO_MEMORY);
    CU_ASSERT_PTR_NULL(mlp_network);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "max_batch"));
    CU_ASSERT_EQUAL(
        fulcrum_r2d2_new(&r2d2_network, &r2d2, &err), FULCRUM_ERR_NO_MEMORY);
    CU_ASSERT_PTR_NULL(r2d2_network);
    fulcrum_mlp_free(NULL);
    fulcrum_r2d2_free(NULL);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_r2d2_gradient_matches_differences_in_every_layer),
        SUITE_CASE(test_r2d2_gradient_after_a_burn_in_matches_differences),
        SUITE_CASE(test_r2d2_loss_is_that_of_the_steps_after_the_burn_in),
        SUITE_CASE(test_r2d2_target_is_renewed_after_2500_updates),
        SUITE_CASE(test_r2d2_inference_is_a_sequence_with_its_own_actions),
        SUITE_CASE(test_r2d2_joins_reward_and_action_and_scales_images),
        SUITE_CASE(test_r2d2_batch_equals_single_images_with_state),
        SUITE_CASE(test_r2d2_infers_the_action_of_the_largest_value),
        SUITE_CASE(test_r2d2_training_lowers_its_loss),
        SUITE_CASE(test_a_learner_trains_as_its_network_does_on_the_same_rows),
        SUITE_CASE(test_mlp_gradient_matches_differences_in_every_layer),
        SUITE_CASE(test_mlp_batch_equals_single_observations),
        SUITE_CASE(test_mlp_training_lowers_its_loss),
        SUITE_CASE(test_lack_of_memory_is_a_status),
    };
    return suite_run(
        "learner_network", cases, sizeof cases / sizeof cases[0], argc, argv);
}
