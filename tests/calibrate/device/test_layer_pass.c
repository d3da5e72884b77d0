/* test_layer_pass.c - layers on every device: sums, equations, finite differences. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/device/networks.h"

#include <math.h>
#include <string.h>

#include "tests/support/devices.h"
#include "tests/support/gradient.h"
#include "tests/support/suite.h"

enum { ROOM = 2048 };

/* Places of what a layer is given, and of what it gives. */
enum {
    PARAMETERS = 0x0000,
    INPUT = 0x10000,
    OUTPUT = 0x20000,
    COLUMN = 0x30000,
    SUMS = 0x40000,
    GRADIENTS = 0x50000,
    OUTPUT_GRADIENT = 0x60000,
    INPUT_GRADIENT = 0x70000,
    GATES = 0x80000,
    CELL = 0x90000,
    CELL_TANH = 0xa0000,
    GATE_SUMS = 0xb0000,
    CELL_GRADIENT = 0xc0000,
    RECURRENT = 0xd0000
};

/* One layer between given input and a loss that is linear in its output. */
struct bench {
    void (*forward)(const struct bench *bench);
    void (*backward)(const struct bench *bench);
    const void *layer;
    struct fulcrum_pass pass;
    size_t parameter_count;
    size_t input_count;
    size_t output_count;
    size_t output_first; /* of those counted, from OUTPUT on */
    float parameters[ROOM];
    float input[ROOM];
    float output[ROOM];
    float weights[ROOM]; /* of the outputs in the loss */
    float gradients[ROOM];
    float input_gradient[ROOM];
};

static void fill_bench(
    struct bench *bench, const struct fulcrum_compute *compute, size_t row_count)
{
    CU_ASSERT_TRUE_FATAL(bench->parameter_count <= ROOM);
    CU_ASSERT_TRUE_FATAL(bench->input_count <= ROOM && bench->output_count <= ROOM);
    gradient_fill(bench->parameters, ROOM, 1);
    gradient_fill(bench->input, ROOM, 2);
    gradient_fill(bench->weights, ROOM, 3);
    bench->pass = (struct fulcrum_pass){.compute = compute,
        .parameters = PARAMETERS,
        .row_count = row_count,
        .input = INPUT,
        .output = OUTPUT,
        .column = COLUMN,
        .sums = SUMS,
        .gradients = GRADIENTS,
        .output_gradient = OUTPUT_GRADIENT,
        .input_gradient = INPUT_GRADIENT};
}

static double bench_loss(void *context)
{
    struct bench *bench = context;
    const struct fulcrum_compute *compute = bench->pass.compute;
    devices_write(compute, PARAMETERS, bench->parameters, bench->parameter_count);
    devices_write(compute, INPUT, bench->input, bench->input_count);
    bench->forward(bench);
    devices_read(compute, bench->output, OUTPUT + (fulcrum_place)bench->output_first,
        bench->output_count);
    return gradient_dot(bench->weights, bench->output, bench->output_count);
}

static void bench_backward(struct bench *bench)
{
    const struct fulcrum_compute *compute = bench->pass.compute;
    (void)bench_loss(bench);
    fulcrum_compute_fill(compute, GRADIENTS, ROOM, 0.0F);
    devices_write(compute, OUTPUT_GRADIENT, bench->weights, bench->output_count);
    bench->backward(bench);
    devices_read(compute, bench->gradients, GRADIENTS, ROOM);
    devices_read(compute, bench->input_gradient, INPUT_GRADIENT, bench->input_count);
}

/* Gradients of all parameters of the layer, from `offset` on, and of its input. */
static void check_gradients(struct bench *bench, size_t offset)
{
    bench_backward(bench);
    const struct gradient_check checks[] = {
        {bench->pass.compute->device->name, bench->parameters + offset,
            bench->gradients + offset, bench->parameter_count - offset, bench_loss,
            bench},
        {"input", bench->input, bench->input_gradient, bench->input_count, bench_loss,
            bench}};
    gradient_assert(&checks[0]);
    gradient_assert(&checks[1]);
}

static void dense_forward(const struct bench *bench)
{
    fulcrum_linear_forward(bench->layer, &bench->pass);
}

static void dense_backward(const struct bench *bench)
{
    fulcrum_linear_backward(bench->layer, &bench->pass);
}

static struct bench *dense_bench(const struct fulcrum_linear *layer,
    const struct fulcrum_compute *compute, size_t rows)
{
    static struct bench bench;
    bench = (struct bench){.forward = dense_forward,
        .backward = dense_backward,
        .layer = layer,
        .parameter_count = layer->biases + layer->output_count,
        .input_count = rows * layer->input_count,
        .output_count = rows * layer->output_count};
    fill_bench(&bench, compute, rows);
    return &bench;
}

DEVICE_TEST(test_dense_gradient_matches_differences)
{
    const struct fulcrum_linear layers[] = {{7, 5, FULCRUM_LINEAR, 3, 38},
        {7, 5, FULCRUM_RELU, 3, 38}, {1, 4, FULCRUM_RELU, 0, 4},
        {6, 1, FULCRUM_LINEAR, 0, 6}, {33, 21, FULCRUM_RELU, 2, 695}};
    for (size_t i = 0; i < LENGTH(layers); i++) {
        for (size_t rows = 1; rows <= 21; rows += 20) {
            check_gradients(dense_bench(&layers[i], compute, rows), layers[i].weights);
        }
    }
}

DEVICE_TEST(test_dense_without_input_gradient_leaves_parameters_alike)
{
    const struct fulcrum_linear layer = {7, 5, FULCRUM_RELU, 3, 38};
    struct bench *bench = dense_bench(&layer, compute, 4);
    float with_input[ROOM];
    bench_backward(bench);
    memcpy(with_input, bench->gradients, sizeof with_input);
    bench->pass.input_gradient = FULCRUM_NOWHERE;
    bench_backward(bench);
    for (size_t i = 0; i < ROOM; i++) {
        CU_ASSERT_TRUE(with_input[i] == bench->gradients[i]);
    }
}

/* Odd sizes: unequal edges, windows that leave pixels over, stride above 1. */
static const struct {
    struct fulcrum_conv shape;
    size_t filter_count;
    size_t offset;
} convolutions[] = {
    {{.height = 7, .width = 9, .channel_count = 2, .kernel = 3, .stride = 2}, 3, 5},
    {{.height = 5, .width = 4, .channel_count = 3, .kernel = 2, .stride = 1}, 4, 0},
    {{.height = 6, .width = 6, .channel_count = 1, .kernel = 6, .stride = 4}, 2, 0},
    {{.height = 8, .width = 6, .channel_count = 2, .kernel = 2, .stride = 3}, 2, 0},
};

enum { CONVOLUTIONS = LENGTH(convolutions), IMAGES = 2 };

static void conv_forward(const struct bench *bench)
{
    fulcrum_conv_forward(bench->layer, &bench->pass);
}

static void conv_backward(const struct bench *bench)
{
    fulcrum_conv_backward(bench->layer, &bench->pass);
}

static struct bench *conv_bench(size_t i, const struct fulcrum_compute *compute)
{
    static struct bench bench;
    static struct fulcrum_conv layer;
    size_t end = convolutions[i].offset;
    layer =
        fulcrum_conv_make(&end, convolutions[i].shape, convolutions[i].filter_count);
    bench = (struct bench){.forward = conv_forward,
        .backward = conv_backward,
        .layer = &layer,
        .parameter_count = end,
        .input_count = IMAGES * fulcrum_conv_image_count(&layer),
        .output_count = IMAGES * fulcrum_conv_output_count(&layer)};
    fill_bench(&bench, compute, IMAGES);
    return &bench;
}

DEVICE_TEST(test_conv_gradient_matches_differences)
{
    for (size_t i = 0; i < CONVOLUTIONS; i++) {
        check_gradients(conv_bench(i, compute), convolutions[i].offset);
    }
}

/* The sum over one window, written as in a textbook. */
static double window_sum(size_t which, const struct bench *bench, size_t output)
{
    const struct fulcrum_conv *conv = &convolutions[which].shape;
    size_t filters = convolutions[which].filter_count;
    size_t filter = output % filters;
    size_t position = output / filters;
    size_t across = (conv->width - conv->kernel) / conv->stride + 1;
    size_t down = (conv->height - conv->kernel) / conv->stride + 1;
    size_t image = position / (across * down);
    size_t top = position / across % down * conv->stride;
    size_t left = position % across * conv->stride;
    size_t window = conv->kernel * conv->kernel * conv->channel_count;
    const float *parameters = bench->parameters + convolutions[which].offset;
    const float *weights = parameters + filter * window;
    double sum = (double)parameters[window * filters + filter];
    for (size_t i = 0; i < window; i++) {
        size_t channel = i % conv->channel_count;
        size_t x = left + i / conv->channel_count % conv->kernel;
        size_t y = top + i / conv->channel_count / conv->kernel;
        size_t pixel = (image * conv->height + y) * conv->width + x;
        sum += (double)weights[i] *
               (double)bench->input[pixel * conv->channel_count + channel];
    }
    return sum;
}

DEVICE_TEST(test_conv_equals_the_direct_sum)
{
    for (size_t i = 0; i < CONVOLUTIONS; i++) {
        struct bench *bench = conv_bench(i, compute);
        double worst = 0.0;
        (void)bench_loss(bench);
        for (size_t j = 0; j < bench->output_count; j++) {
            double expected = fmax(window_sum(i, bench, j), 0.0);
            worst = fmax(worst, fabs((double)bench->output[j] - expected));
        }
        /* Below 40 terms of at most one, each rounded to 2^-24 of it. */
        CU_ASSERT_TRUE(worst < 4e-6);
    }
}

TEST(test_conv_counts_those_of_the_atari_agent)
{
    size_t parameter_count = 0;
    const struct fulcrum_conv shape = {
        .height = 84, .width = 84, .channel_count = 4, .kernel = 8, .stride = 4};
    const struct fulcrum_conv conv = fulcrum_conv_make(&parameter_count, shape, 32);
    CU_ASSERT_EQUAL(fulcrum_conv_output_count(&conv), 12800);
    CU_ASSERT_EQUAL(parameter_count, 8224);
    assert_close("mac", fulcrum_conv_mac_count(&conv), 3276800.0, 0.0);
}

enum { DUEL_ROWS = 2, ACTIONS = 3, ADVANTAGES = DUEL_ROWS * ACTIONS };

/* The values are the parameters, the advantages the input. */
static void launch_duel(const struct bench *bench, enum fulcrum_kernel kernel,
    fulcrum_place q, fulcrum_place value, fulcrum_place advantage)
{
    fulcrum_compute_launch(bench->pass.compute, kernel, DUEL_ROWS, 1,
        &(struct fulcrum_kernel_arguments){
            .place = {q, value, advantage}, .count = {ACTIONS}});
}

static void duel_forward(const struct bench *bench)
{
    launch_duel(bench, FULCRUM_KERNEL_DUEL, OUTPUT, PARAMETERS, INPUT);
}

static void duel_backward(const struct bench *bench)
{
    launch_duel(bench, FULCRUM_KERNEL_DUEL_BACKWARD, OUTPUT_GRADIENT, GRADIENTS,
        INPUT_GRADIENT);
}

DEVICE_TEST(test_duel_mean_is_the_value_and_its_gradient_matches)
{
    const float value[DUEL_ROWS] = {2.0F, -1.0F};
    const float advantage[ADVANTAGES] = {1.0F, 4.0F, 1.0F, 0.0F, -3.0F, 6.0F};
    const float expected[ADVANTAGES] = {1.0F, 4.0F, 1.0F, -2.0F, -5.0F, 4.0F};
    static struct bench bench;
    bench = (struct bench){.forward = duel_forward,
        .backward = duel_backward,
        .parameter_count = DUEL_ROWS,
        .input_count = ADVANTAGES,
        .output_count = ADVANTAGES};
    fill_bench(&bench, compute, DUEL_ROWS);
    check_gradients(&bench, 0);
    memcpy(bench.parameters, value, sizeof value);
    memcpy(bench.input, advantage, sizeof advantage);
    (void)bench_loss(&bench);
    for (size_t i = 0; i < ADVANTAGES; i++) {
        CU_ASSERT_DOUBLE_EQUAL((double)bench.output[i], (double)expected[i], 1e-6);
    }
}

#define UNITS ((size_t)4)
#define STEPS ((size_t)5)
#define BATCH ((size_t)2)
#define STATE (BATCH * UNITS)

enum { INPUTS = 3, FIRST = 2 };

static const struct fulcrum_lstm_trace whole = {.step_count = STEPS,
    .batch_count = BATCH,
    .gates = GATES,
    .cell = CELL,
    .cell_tanh = CELL_TANH,
    .hidden = OUTPUT};

static void lstm_forward(const struct bench *bench)
{
    fulcrum_lstm_forward(bench->layer, &bench->pass, &whole);
}

static void lstm_backward(const struct bench *bench)
{
    const struct fulcrum_lstm_gradients gradients = {.hidden = OUTPUT_GRADIENT,
        .gates = GATE_SUMS,
        .cell = CELL_GRADIENT,
        .recurrent = RECURRENT};
    fulcrum_lstm_backward(bench->layer, &bench->pass, &whole, &gradients);
}

/* The state before the first step is random: it is not zero after a burn-in. */
static struct bench *lstm_bench(const struct fulcrum_compute *compute, size_t steps)
{
    static struct bench bench;
    static struct fulcrum_lstm lstm;
    float state[2 * STATE];
    size_t end = FIRST;
    lstm = fulcrum_lstm_make(&end, INPUTS, UNITS);
    bench = (struct bench){.forward = lstm_forward,
        .backward = lstm_backward,
        .layer = &lstm,
        .parameter_count = end,
        .input_count = steps * BATCH * INPUTS,
        .output_count = steps * STATE,
        .output_first = STATE};
    fill_bench(&bench, compute, steps * BATCH);
    gradient_fill(state, 2 * STATE, 4);
    fulcrum_compute_fill(compute, INPUT, ROOM, 0.0F);
    devices_write(compute, CELL, state, STATE);
    devices_write(compute, OUTPUT, state + STATE, STATE);
    return &bench;
}

/* All steps, and a loss that ends before the trace does. */
DEVICE_TEST(test_lstm_gradient_matches_differences)
{
    for (size_t steps = STEPS - 1; steps <= STEPS; steps++) {
        check_gradients(lstm_bench(compute, steps), FIRST);
    }
}

static double sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

/* One unit, one input, two steps, from the equations with the C library's functions. */
DEVICE_TEST(test_two_steps_of_one_unit_follow_the_equations)
{
    size_t taken = 0;
    const struct fulcrum_lstm one = fulcrum_lstm_make(&taken, 1, 1);
    /* Per gate: input, forget, candidate, output. */
    const float parameters[] = {0.5F, -0.25F, 1.0F, 0.75F, /* of the input */
        0.3F, 0.6F, -0.8F, 0.1F,                           /* of the hidden state */
        0.1F, 1.0F, -0.2F, 0.05F};                         /* biases */
    const float input[] = {1.0F, -2.0F};
    const float state[] = {0.4F, -0.2F};
    struct fulcrum_lstm_trace trace = whole;
    trace.step_count = 2;
    trace.batch_count = 1;
    const struct fulcrum_pass pass = {
        .compute = compute, .parameters = PARAMETERS, .row_count = 2, .input = INPUT};
    float cells[3];
    float hiddens[3];
    devices_write(compute, PARAMETERS, parameters, 12);
    devices_write(compute, INPUT, input, 2);
    devices_write(compute, CELL, state, 1);
    devices_write(compute, OUTPUT, state + 1, 1);
    fulcrum_lstm_forward(&one, &pass, &trace);
    devices_read(compute, cells, CELL, 3);
    devices_read(compute, hiddens, OUTPUT, 3);
    double c = (double)state[0];
    double h = (double)state[1];
    for (size_t step = 0; step < 2; step++) {
        double sums[4];
        for (size_t i = 0; i < 4; i++) {
            sums[i] = (double)parameters[i] * (double)input[step] +
                      (double)parameters[4 + i] * h + (double)parameters[8 + i];
        }
        c = sigmoid(sums[1]) * c + sigmoid(sums[0]) * tanh(sums[2]);
        h = sigmoid(sums[3]) * tanh(c);
        CU_ASSERT_DOUBLE_EQUAL((double)cells[step + 1], c, 1e-6);
        CU_ASSERT_DOUBLE_EQUAL((double)hiddens[step + 1], h, 1e-6);
    }
}

/* Steps one by one, the state after each replacing the one before, are all at once. */
DEVICE_TEST(test_steps_one_by_one_are_the_sequence)
{
    struct bench *bench = lstm_bench(compute, STEPS);
    struct fulcrum_lstm_trace step = whole;
    float expected[STATE];
    float actual[STATE];
    (void)bench_loss(bench);
    memcpy(expected, bench->output + (STEPS - 1) * STATE, sizeof expected);
    bench = lstm_bench(compute, STEPS);
    devices_write(compute, INPUT, bench->input, bench->input_count);
    step.step_count = 1;
    bench->pass.row_count = BATCH;
    for (size_t i = 0; i < STEPS; i++) {
        bench->pass.input = INPUT + (fulcrum_place)(i * BATCH * INPUTS);
        fulcrum_lstm_advance(bench->layer, &bench->pass, &step);
    }
    devices_read(compute, actual, OUTPUT, STATE);
    for (size_t i = 0; i < STATE; i++) {
        CU_ASSERT_DOUBLE_EQUAL((double)actual[i], (double)expected[i], 1e-6);
    }
}

TEST(test_init_opens_the_forget_gates)
{
    float parameters[512] = {0.0F};
    struct fulcrum_random random = fulcrum_random_seeded(1);
    size_t end = FIRST;
    const struct fulcrum_lstm lstm = fulcrum_lstm_make(&end, INPUTS, UNITS);
    fulcrum_lstm_init(&lstm, parameters, &random);
    for (size_t i = 0; i < 4 * UNITS; i++) {
        double bias = (double)parameters[end - 4 * UNITS + i];
        CU_ASSERT_DOUBLE_EQUAL(bias, i / UNITS == 1 ? 1.0 : 0.0, 0.0);
    }
    CU_ASSERT_TRUE(parameters[FIRST] != 0.0F);
    CU_ASSERT_TRUE(parameters[end - 4 * UNITS - 1] != 0.0F);
    CU_ASSERT_TRUE(parameters[end] == 0.0F);
}
