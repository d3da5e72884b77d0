/* test_networks.c - the whole networks: on the host by differences, elsewhere beside
 * it.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/device/networks.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/devices.h"
#include "tests/support/gradient.h"
#include "tests/support/suite.h"

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

enum { BATCH = 11, ACTIONS = 3, VALUES = BATCH * ACTIONS, IMAGE = 13 * 11 * 3 };

/* A network on a device of its own. */
struct lab {
    struct fulcrum_compute compute;
    struct fulcrum_learner_state *network;
    struct fulcrum_network_places places;
    size_t count;      /* of parameters */
    float *parameters; /* as they were made; of the host */
    float *target;     /* of the target network, if there is one */
};

static float *copy_of(const struct lab *lab, fulcrum_place place, size_t count)
{
    float *copy = calloc(count, sizeof *copy);
    if (copy == NULL) {
        abort();
    }
    devices_read(&lab->compute, copy, place, count);
    return copy;
}

/* One of the two options is NULL. Returns 0 where there is no such device. */
static int lab_open(struct lab *lab, const struct fulcrum_device *device,
    const struct fulcrum_r2d2_options *r2d2, const struct fulcrum_mlp_options *mlp)
{
    *lab = (struct lab){.count = 0};
    if (!devices_open(device, &lab->compute)) {
        return 0;
    }
    enum fulcrum_status status =
        r2d2 != NULL ? fulcrum_r2d2_new(&lab->network, &lab->compute, r2d2, NULL)
                     : fulcrum_mlp_new(&lab->network, &lab->compute, mlp, NULL);
    ASSERT_OK(status);
    lab->places = fulcrum_network_places_of(lab->network);
    lab->count = lab->places.cost.parameter_count;
    lab->parameters = copy_of(lab, lab->places.parameters, lab->count);
    lab->target =
        r2d2 != NULL ? copy_of(lab, lab->places.target_parameters, lab->count) : NULL;
    return 1;
}

static struct lab on_host(
    const struct fulcrum_r2d2_options *r2d2, const struct fulcrum_mlp_options *mlp)
{
    struct lab lab;
    CU_ASSERT_TRUE_FATAL(lab_open(&lab, &fulcrum_device_host, r2d2, mlp));
    return lab;
}

static void lab_close(struct lab *lab)
{
    fulcrum_network_free(lab->network);
    free(lab->parameters);
    free(lab->target);
    devices_close(&lab->compute);
}

static void infer(const struct lab *lab, size_t batch, int *action)
{
    ASSERT_OK(fulcrum_network_infer(lab->network, batch, action, NULL));
}

static double train(const struct lab *lab)
{
    double loss = NAN;
    ASSERT_OK(fulcrum_network_train(lab->network, &loss, NULL));
    return loss;
}

/* Of the parameters that the lab holds, as if no step had been made before. */
static double lab_loss(void *context)
{
    const struct lab *lab = context;
    const struct fulcrum_compute *compute = &lab->compute;
    devices_write(compute, lab->places.parameters, lab->parameters, lab->count);
    if (lab->target != NULL) {
        devices_write(compute, lab->places.target_parameters, lab->target, lab->count);
    }
    return train(lab);
}

/* From one layer's first parameter to the next layer's. */
struct span {
    const char *name;
    size_t first;
    size_t end;
};

static void check_spans(struct lab *lab, const struct span *spans, size_t count)
{
    (void)lab_loss(lab);
    float *gradients = copy_of(lab, lab->places.gradients, lab->count);
    for (size_t i = 0; i < count; i++) {
        struct gradient_check check = {.what = spans[i].name,
            .values = lab->parameters + spans[i].first,
            .gradients = gradients + spans[i].first,
            .count = spans[i].end - spans[i].first,
            .loss = lab_loss,
            .context = lab};
        gradient_assert(&check);
    }
    free(gradients);
}

TEST(test_r2d2_gradient_matches_differences_in_every_layer)
{
    struct lab lab = on_host(&tiny_r2d2, NULL);
    struct fulcrum_r2d2_layers layers = fulcrum_r2d2_layers_make(&tiny_r2d2.shape);
    const struct span spans[] = {
        {"conv 0", layers.conv[0].filters.weights, layers.conv[1].filters.weights},
        {"conv 1", layers.conv[1].filters.weights, layers.conv[2].filters.weights},
        {"conv 2", layers.conv[2].filters.weights, layers.dense.weights},
        {"dense", layers.dense.weights, layers.lstm.gates.weights},
        {"lstm", layers.lstm.gates.weights, layers.value_hidden.weights},
        {"value hidden", layers.value_hidden.weights, layers.value.weights},
        {"value", layers.value.weights, layers.advantage_hidden.weights},
        {"advantage hidden", layers.advantage_hidden.weights, layers.advantage.weights},
        {"advantage", layers.advantage.weights, layers.parameter_count},
    };
    check_spans(&lab, spans, LENGTH(spans));
    lab_close(&lab);
}

/* With a burn-in the heads alone: what comes before them also moves the state that the
 * segment starts from, which R2D2 takes as given. */
TEST(test_r2d2_gradient_after_a_burn_in_matches_differences)
{
    struct fulcrum_r2d2_options options = tiny_r2d2;
    options.train_burn_in = 4;
    struct lab lab = on_host(&options, NULL);
    struct fulcrum_r2d2_layers layers = fulcrum_r2d2_layers_make(&options.shape);
    struct span heads = {"heads", layers.value_hidden.weights, layers.parameter_count};
    check_spans(&lab, &heads, 1);
    lab_close(&lab);
}

TEST(test_mlp_gradient_matches_differences_in_every_layer)
{
    struct lab lab = on_host(NULL, &tiny_mlp);
    const struct span spans[] = {{"layer 0", 0, 54}, {"layer 1", 54, 144},
        {"layer 2", 144, 234}, {"output", 234, 274}, {"log std", 274, 277}};
    CU_ASSERT_EQUAL_FATAL(lab.count, 277);
    check_spans(&lab, spans, LENGTH(spans));
    lab_close(&lab);
}

enum { SEQUENCES = 3, STEPS = 17, ROOM = 4096 };

/* What a network values, of each step and sequence, and the action it takes. */
struct values {
    float q[STEPS][SEQUENCES][ACTIONS];
    int action[STEPS][SEQUENCES];
};

/* Calls of the server, one after the other, on the images of a replay. */
static void value_steps(
    struct lab *lab, size_t steps, const unsigned char *images, struct values *out)
{
    unsigned char *input = fulcrum_network_input(lab->network);
    for (size_t i = 0; i < steps; i++) {
        size_t byte = (size_t)SEQUENCES * IMAGE;
        memcpy(input, images + i * byte, byte);
        infer(lab, SEQUENCES, out->action[i]);
        devices_read(&lab->compute, out->q[i][0], lab->places.inferred,
            (size_t)SEQUENCES * ACTIONS);
    }
}

/* The replay that a network's seed makes. */
static void make_replay(const struct fulcrum_r2d2_options *options,
    const struct fulcrum_r2d2_replay *replay)
{
    static float parameters[ROOM];
    struct fulcrum_r2d2_layers layers = fulcrum_r2d2_layers_make(&options->shape);
    struct fulcrum_random random = fulcrum_random_seeded(options->seed);
    CU_ASSERT_TRUE_FATAL(layers.parameter_count <= ROOM);
    fulcrum_r2d2_layers_init(&layers, parameters, &random);
    fulcrum_r2d2_replay_fill(replay, options, &random);
}

/* Of `unroll` steps from `first` on; the last values are one step after them. */
static double loss_of(
    const struct values *values, const float *rewards, size_t first, size_t unroll)
{
    double sum = 0.0;
    for (size_t i = 0; i < unroll * SEQUENCES; i++) {
        size_t step = first + i / SEQUENCES;
        size_t lane = i % SEQUENCES;
        size_t left = first + unroll - step;
        size_t ahead = left < 5 ? left : 5;
        const float *later = values->q[step + ahead][lane];
        double best = fmax(fmax((double)later[0], (double)later[1]), (double)later[2]);
        double aim = devices_unscaled(best);
        for (size_t j = ahead; j > 0; j--) {
            aim = (double)rewards[(step + j) * SEQUENCES + lane] + 0.997 * aim;
        }
        double taken = (double)values->q[step][lane][values->action[step][lane]];
        double error = taken - devices_rescaled(aim);
        sum += 0.5 * error * error;
    }
    return sum / (double)(unroll * SEQUENCES);
}

/* Training sees what the server saw, and its loss is that of the steps after the
 * burn-in: the same images and actions, the weight of the reward set to zero. */
static void check_loss(size_t burn_in)
{
    struct fulcrum_r2d2_options options = tiny_r2d2;
    options.train_burn_in = burn_in;
    struct lab lab = on_host(&options, NULL);
    struct fulcrum_r2d2_layers layers = fulcrum_r2d2_layers_make(&options.shape);
    size_t steps = burn_in + options.train_unroll + 1;
    static struct values values;
    static uint8_t image[(size_t)SEQUENCES * STEPS * IMAGE] = {0};
    int action[SEQUENCES * (STEPS + 1)];
    float rewards[SEQUENCES * (STEPS + 1)];
    struct fulcrum_train_rows rows;
    for (size_t i = 0; i < 4 * layers.lstm.unit_count; i++) {
        lab.parameters[layers.lstm.gates.weights + i * layers.lstm.gates.input_count +
                       options.shape.dense_count] = 0.0F;
    }
    devices_write(&lab.compute, lab.places.parameters, lab.parameters, lab.count);
    devices_write(
        &lab.compute, lab.places.target_parameters, lab.parameters, lab.count);
    make_replay(&options, &(struct fulcrum_r2d2_replay){image, action, rewards});
    ASSERT_OK(fulcrum_network_rows(lab.network, &rows, NULL));
    gradient_fill((float *)(void *)rows.observation,
        SEQUENCES * steps * IMAGE / sizeof(float), 31);
    value_steps(&lab, steps, rows.observation, &values);
    memcpy(rows.index + SEQUENCES, values.action, steps * sizeof values.action[0]);
    ASSERT_OK(fulcrum_network_load_rows(lab.network, NULL));
    assert_close("loss", train(&lab),
        loss_of(&values, rewards, burn_in, options.train_unroll), 1e-4);
    lab_close(&lab);
}

TEST(test_r2d2_loss_is_that_of_what_is_inferred_after_the_burn_in)
{
    for (size_t burn_in = 0; burn_in <= 9; burn_in += 3) {
        check_loss(burn_in);
    }
}

static bool are_alike(const float *a, const float *b, size_t count)
{
    size_t same = 0;
    while (same < count && a[same] == b[same]) {
        same++;
    }
    return same == count;
}

/* Kapturowski et al. (2019): every 2500 updates. */
TEST(test_r2d2_target_is_renewed_after_2500_updates)
{
    struct fulcrum_r2d2_options options = tiny_r2d2;
    options.train_batch = 1;
    options.train_unroll = 1;
    struct lab lab = on_host(&options, NULL);
    for (size_t i = 1; i < 2500; i++) {
        (void)train(&lab);
    }
    float *late = copy_of(&lab, lab.places.target_parameters, lab.count);
    CU_ASSERT_TRUE(are_alike(late, lab.parameters, lab.count));
    (void)train(&lab);
    float *renewed = copy_of(&lab, lab.places.target_parameters, lab.count);
    float *trained = copy_of(&lab, lab.places.parameters, lab.count);
    CU_ASSERT_TRUE(are_alike(renewed, trained, lab.count));
    CU_ASSERT_FALSE(are_alike(renewed, late, lab.count));
    free(late);
    free(renewed);
    free(trained);
    lab_close(&lab);
}

/* Asserts that an action is that of the largest of its row's values. */
static void check_choice(const float *row, int action)
{
    CU_ASSERT_TRUE_FATAL(action >= 0 && action < ACTIONS);
    for (size_t i = 0; i < ACTIONS; i++) {
        CU_ASSERT_TRUE(row[i] <= row[action]);
    }
}

/* Calls of one image by itself, as often as it was in a batch; values of the last. */
static void check_single(const uint8_t *image, size_t call_count, const float *expected)
{
    struct lab lab = on_host(&tiny_r2d2, NULL);
    int action = -1;
    float q[ACTIONS];
    memcpy(fulcrum_network_input(lab.network), image, IMAGE);
    for (size_t i = 0; i < call_count; i++) {
        infer(&lab, 1, &action);
    }
    devices_read(&lab.compute, q, lab.places.inferred, ACTIONS);
    check_choice(q, action);
    for (size_t i = 0; i < ACTIONS; i++) {
        /* Values are near 0.1: 1e-6 is 1e-5 of them. */
        CU_ASSERT_DOUBLE_EQUAL((double)q[i], (double)expected[i], 1e-6);
    }
    lab_close(&lab);
}

TEST(test_r2d2_batch_equals_single_images_with_state)
{
    struct lab lab = on_host(&tiny_r2d2, NULL);
    uint8_t *images = fulcrum_network_input(lab.network);
    int action[BATCH];
    float first[BATCH][ACTIONS];
    float last[BATCH][ACTIONS];
    double moved = 0.0;
    for (size_t i = 0; i < (size_t)BATCH * IMAGE; i++) {
        images[i] = (uint8_t)(i * 37 % 251);
    }
    infer(&lab, BATCH, action);
    devices_read(&lab.compute, first[0], lab.places.inferred, VALUES);
    /* A smaller batch leaves the states of the others alone. */
    infer(&lab, 2, action);
    infer(&lab, BATCH, action);
    devices_read(&lab.compute, last[0], lab.places.inferred, VALUES);
    for (size_t i = 0; i < BATCH; i++) {
        check_single(images + i * IMAGE, 1, first[i]);
        check_single(images + i * IMAGE, i < 2 ? 3 : 2, last[i]);
        check_choice(last[i], action[i]);
        moved = fmax(moved, fabs((double)last[i][0] - (double)first[i][0]));
    }
    CU_ASSERT_TRUE(moved > 1e-3);
    lab_close(&lab);
}

TEST(test_mlp_batch_equals_single_observations)
{
    enum { INPUTS = 5, OUTPUTS = ACTIONS + 1 };
    struct lab lab = on_host(NULL, &tiny_mlp);
    float *input = fulcrum_network_input(lab.network);
    float kept[BATCH][INPUTS];
    float whole[BATCH][OUTPUTS];
    int action[BATCH];
    gradient_fill(kept[0], sizeof kept / sizeof kept[0][0], 1);
    memcpy(input, kept, sizeof kept);
    infer(&lab, BATCH, action);
    devices_read(
        &lab.compute, whole[0], lab.places.inferred, sizeof whole / sizeof whole[0][0]);
    for (size_t i = 0; i < BATCH; i++) {
        int alone = -1;
        float output[OUTPUTS];
        memcpy(input, kept[i], sizeof kept[i]);
        infer(&lab, 1, &alone);
        devices_read(&lab.compute, output, lab.places.inferred, OUTPUTS);
        check_choice(whole[i], action[i]);
        CU_ASSERT_EQUAL(alone, action[i]);
        for (size_t j = 0; j < OUTPUTS; j++) {
            CU_ASSERT_DOUBLE_EQUAL((double)output[j], (double)whole[i][j], 1e-5);
        }
    }
    lab_close(&lab);
}

static struct fulcrum_mlp_options mlp_of_bytes(void)
{
    struct fulcrum_mlp_options options = tiny_mlp;
    options.takes_bytes = true;
    return options;
}

/* Not the bits of floats: most of those would be no numbers, or next to nothing. */
TEST(test_mlp_takes_bytes_as_numbers_of_0_to_1)
{
    enum { INPUTS = 5, OUTPUTS = ACTIONS + 1, NUMBERS = BATCH * INPUTS };
    struct fulcrum_mlp_options options = mlp_of_bytes();
    struct lab floats = on_host(NULL, &tiny_mlp);
    struct lab bytes = on_host(NULL, &options);
    CU_ASSERT_EQUAL(floats.places.input_byte, INPUTS * sizeof(float));
    CU_ASSERT_EQUAL_FATAL(bytes.places.input_byte, INPUTS);
    devices_write(
        &bytes.compute, bytes.places.parameters, floats.parameters, floats.count);
    float *number = fulcrum_network_input(floats.network);
    unsigned char *byte = fulcrum_network_input(bytes.network);
    for (size_t i = 0; i < NUMBERS; i++) {
        byte[i] = (unsigned char)(255 - i * 37 % 256);
        number[i] = (float)byte[i] / 255.0F;
    }
    float output[2][BATCH * OUTPUTS];
    int action[2][BATCH];
    infer(&floats, BATCH, action[0]);
    infer(&bytes, BATCH, action[1]);
    devices_read(&floats.compute, output[0], floats.places.inferred, LENGTH(output[0]));
    devices_read(&bytes.compute, output[1], bytes.places.inferred, LENGTH(output[1]));
    for (size_t i = 0; i < LENGTH(output[0]); i++) {
        CU_ASSERT_DOUBLE_EQUAL((double)output[0][i], (double)output[1][i], 1e-5);
    }
    CU_ASSERT_EQUAL(memcmp(action[0], action[1], sizeof action[0]), 0);
    lab_close(&floats);
    lab_close(&bytes);
}

TEST(test_training_lowers_the_losses)
{
    for (int i = 0; i < 2; i++) {
        struct lab lab = i == 0 ? on_host(&tiny_r2d2, NULL) : on_host(NULL, &tiny_mlp);
        double before = train(&lab);
        double loss = before;
        for (size_t j = 0; j < 300; j++) {
            loss = train(&lab);
        }
        CU_ASSERT_TRUE(loss < (i == 0 ? 0.9 * before : before - 0.05));
        lab_close(&lab);
    }
}

/* Beyond any address space, and so beyond what the learners let through. */
TEST(test_lack_of_memory_is_a_status)
{
    struct fulcrum_mlp_options mlp = tiny_mlp;
    struct fulcrum_r2d2_options r2d2 = tiny_r2d2;
    struct fulcrum_learner_state *network = NULL;
    struct fulcrum_compute compute;
    CU_ASSERT_TRUE_FATAL(devices_open(&fulcrum_device_host, &compute));
    mlp.max_batch = (size_t)1 << 50;
    r2d2.max_batch = (size_t)1 << 50;
    ASSERT_FAILS(fulcrum_mlp_new(&network, &compute, &mlp, &err), FULCRUM_ERR_NO_MEMORY,
        "max_batch");
    CU_ASSERT_EQUAL(
        fulcrum_r2d2_new(&network, &compute, &r2d2, NULL), FULCRUM_ERR_NO_MEMORY);
    CU_ASSERT_PTR_NULL(network);
    fulcrum_network_free(NULL);
    devices_close(&compute);
}

/* Sums of float32 in another order, and another exp: a few units in the last place of
 * the largest element, which a few hundred terms make 1e-5 of it at most. */
static const double tolerance = 1e-5;

/* Adam divides a gradient by its own size: where that is rounding, so is the step. So a
 * few parameters may differ by a step of 3e-4 in either direction each time, while all
 * of them together differ by little. */
static const double adam_tolerance = 1e-3;
static const double adam_step = 3e-4;
static const double adam_off = 3e-5;
enum { ADAM_STEPS = 3 };

static fulcrum_place place_of(const struct lab *lab, const char *what)
{
    return strcmp(what, "inferred") == 0    ? lab->places.inferred
           : strcmp(what, "gradients") == 0 ? lab->places.gradients
                                            : lab->places.parameters;
}

/* The same array of both; places of the inferred may differ. */
static void expect_alike(const struct lab *device, const struct lab *host,
    const char *what, size_t count, double within)
{
    float *expected = copy_of(host, place_of(host, what), count);
    const struct devices_array array = {expected, count, within};
    devices_assert(&device->compute, what, place_of(device, what), &array);
    free(expected);
}

/* Of parameters after ADAM_STEPS steps. */
static void check_trained_alike(const struct lab *device, const struct lab *host)
{
    float *actual = copy_of(device, device->places.parameters, device->count);
    float *expected = copy_of(host, host->places.parameters, host->count);
    double squares = 0.0;
    double difference_squares = 0.0;
    double worst = 0.0;
    for (size_t i = 0; i < host->count; i++) {
        double difference = (double)actual[i] - (double)expected[i];
        squares += (double)expected[i] * (double)expected[i];
        difference_squares += difference * difference;
        worst = fmax(worst, fabs(difference));
    }
    double off = sqrt(difference_squares / squares);
    if (!(off <= adam_off && worst <= 2.0 * ADAM_STEPS * adam_step)) {
        (void)printf(
            "    parameters on %s: off by %.3g (root mean square), at most %.3g\n",
            device->compute.device->name, off, worst);
    }
    CU_ASSERT_TRUE(off <= adam_off);
    CU_ASSERT_TRUE(worst <= 2.0 * ADAM_STEPS * adam_step);
    free(actual);
    free(expected);
}

/* Batches of growing and shrinking size: states of slots that wait are kept. */
static void compare_inference(
    const struct lab *device, const struct lab *host, size_t max_batch, size_t columns)
{
    const size_t batches[] = {max_batch, 1, max_batch / 2, max_batch};
    for (size_t i = 0; i < LENGTH(batches); i++) {
        int action[64] = {0};
        int expected[64] = {0};
        infer(host, batches[i], expected);
        infer(device, batches[i], action);
        expect_alike(device, host, "inferred", batches[i] * columns, tolerance);
        CU_ASSERT_EQUAL(memcmp(action, expected, batches[i] * sizeof *action), 0);
    }
}

static void compare_training(const struct lab *device, const struct lab *host,
    size_t step_count, double later_tolerance)
{
    expect_alike(device, host, "parameters", host->count, 0.0);
    for (size_t i = 0; i < step_count; i++) {
        double expected = train(host);
        /* From the second step on the parameters may differ a little themselves. */
        double within = i > 0 ? later_tolerance : tolerance;
        assert_close("loss", train(device), expected, within);
        expect_alike(device, host, "gradients", host->count, within);
    }
}

static void compare_costs(const struct lab *device, const struct lab *host)
{
    const struct fulcrum_network_cost cost = device->places.cost;
    const struct fulcrum_network_cost expected = host->places.cost;
    CU_ASSERT_EQUAL(cost.parameter_count, expected.parameter_count);
    assert_close("flop", cost.train_step_flop, expected.train_step_flop, 1e-12);
    CU_ASSERT_TRUE(cost.buffer_byte > 4 * sizeof(float) * cost.parameter_count);
}

static void fill_images(unsigned char *image, size_t byte)
{
    struct fulcrum_random random = fulcrum_random_seeded(3);
    for (size_t i = 0; i < byte; i++) {
        image[i] = (uint8_t)(fulcrum_random_bits(&random) & 255U);
    }
}

/* Either network, on every device as on the host, over some train steps. */
static void compare(const struct fulcrum_r2d2_options *r2d2,
    const struct fulcrum_mlp_options *mlp, size_t step_count)
{
    struct lab device;
    bool is_mlp = mlp != NULL;
    size_t batch = 0;
    size_t columns = 0;
    size_t byte = 0;
    if (mlp != NULL) {
        batch = mlp->max_batch;
        columns = mlp->action_count + 1;
        byte = batch * mlp->input_count * (mlp->takes_bytes ? 1 : sizeof(float));
    }
    if (r2d2 != NULL) {
        batch = r2d2->max_batch;
        columns = r2d2->shape.action_count;
        byte = batch * fulcrum_r2d2_image_byte(r2d2);
    }
    for (size_t i = 0; devices_at(i) != NULL; i++) {
        if (!lab_open(&device, devices_at(i), r2d2, mlp)) {
            continue;
        }
        struct lab host = on_host(r2d2, mlp);
        unsigned char *input = fulcrum_network_input(host.network);
        if (is_mlp && !mlp->takes_bytes) {
            gradient_fill((float *)(void *)input, byte / sizeof(float), 9);
        } else {
            fill_images(input, byte);
        }
        memcpy(fulcrum_network_input(device.network), input, byte);
        compare_inference(&device, &host, batch, columns);
        if (is_mlp) {
            compare_training(&device, &host, step_count, adam_tolerance);
            check_trained_alike(&device, &host);
        } else {
            compare_training(&device, &host, step_count, tolerance);
            expect_alike(&device, &host, "parameters", host.count, tolerance);
        }
        compare_costs(&device, &host);
        lab_close(&host);
        lab_close(&device);
    }
}

TEST(test_r2d2_is_that_of_the_host_on_every_device)
{
    struct fulcrum_r2d2_options with_burn_in = tiny_r2d2;
    with_burn_in.train_burn_in = 2;
    struct fulcrum_r2d2_options long_burn_in = tiny_r2d2;
    long_burn_in.train_burn_in = 9;
    long_burn_in.train_unroll = 2;
    const struct fulcrum_r2d2_options *const options[] = {
        &tiny_r2d2, &with_burn_in, &long_burn_in};
    for (size_t i = 0; i < LENGTH(options); i++) {
        compare(options[i], NULL, 3);
    }
}

/* The real sizes: chunks of images, tiles of products, sums of many rows. */
TEST(test_atari_network_is_that_of_the_host_on_every_device)
{
    struct fulcrum_r2d2_options atari = {.shape = fulcrum_r2d2_atari(18),
        .max_batch = 9,
        .train_batch = 2,
        .train_unroll = 2,
        .train_burn_in = 1,
        .seed = 11};
    compare(&atari, NULL, 2);
}

TEST(test_mlp_is_that_of_the_host_on_every_device)
{
    struct fulcrum_mlp_options humanoid = {.input_count = 376,
        .hidden_count = 256,
        .action_count = 17,
        .max_batch = 33,
        .train_batch = 256,
        .seed = 4};
    compare(NULL, &tiny_mlp, ADAM_STEPS);
    compare(NULL, &humanoid, ADAM_STEPS);
    humanoid.takes_bytes = true;
    compare(NULL, &humanoid, ADAM_STEPS);
}
