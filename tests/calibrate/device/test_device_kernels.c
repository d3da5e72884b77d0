/* test_device_kernels.c - each kernel on each device beside the CPU's functions. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/device/compute.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/device/device_network.h"
#include "calibrate/network/loss.h"
#include "tests/support/devices.h"
#include "tests/support/gradient.h"
#include "tests/support/suite.h"

/* Rounding of float32 over at most some hundred terms. */
static const double tolerance = 3e-6;

enum { ROOM = 1 << 20 };

static void run_here(const struct fulcrum_device *device,
    void (*run)(const struct fulcrum_compute *compute))
{
    struct fulcrum_compute compute;
    if (!devices_open(device, &compute)) {
        return;
    }
    enum fulcrum_status status = device->reserve(compute.state, ROOM, NULL);
    CU_ASSERT_EQUAL_FATAL(status, FULCRUM_OK);
    run(&compute);
    devices_finish(&compute);
    devices_close(&compute);
}

/* Runs a case on every device that is there, each with an arena of its own. */
static void on_every_device(void (*run)(const struct fulcrum_compute *compute))
{
    for (size_t i = 0; devices_at(i) != NULL; i++) {
        run_here(devices_at(i), run);
    }
}

/* Arrays of the host: taken one after the other, freed together. */
struct arrays {
    float *items[32];
    size_t count;
};

static float *take(struct arrays *arrays, size_t count, unsigned seed)
{
    float *values = calloc(count, sizeof *values);
    CU_ASSERT_PTR_NOT_NULL_FATAL(values);
    arrays->items[arrays->count] = values;
    arrays->count++;
    if (seed > 0) {
        gradient_fill(values, count, seed);
    }
    return values;
}

static void give_back(struct arrays *arrays)
{
    for (size_t i = 0; i < arrays->count; i++) {
        free(arrays->items[i]);
    }
}

/* Reads an array of the device and compares it. */
static void expect(const struct fulcrum_compute *compute, const char *what,
    fulcrum_place place, const float *expected, size_t count)
{
    char name[80];
    float *actual = calloc(count, sizeof *actual);
    CU_ASSERT_PTR_NOT_NULL_FATAL(actual);
    (void)snprintf(name, sizeof name, "%s on %s", what, compute->device->name);
    devices_read(compute, actual, place, count);
    devices_assert_near(name, actual, expected, count, tolerance);
    free(actual);
}

/* Neighbours of what is written stay as they are. */
static void run_flat(const struct fulcrum_compute *compute)
{
    const size_t counts[] = {1, 63, 4096, 4097, 10000};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct arrays arrays = {.count = 0};
        size_t count = counts[i];
        float *a = take(&arrays, count + 2, 1);
        const float *b = take(&arrays, count, 2);
        devices_write(compute, 0, a, count + 2);
        devices_write(compute, 20000, b, count);
        fulcrum_compute_add(compute, 1, 20000, count);
        fulcrum_compute_copy(compute, 40001, 1, count);
        for (size_t j = 0; j < count; j++) {
            a[j + 1] += b[j];
        }
        expect(compute, "add", 0, a, count + 2);
        expect(compute, "copy", 40001, a + 1, count);
        fulcrum_compute_fill(compute, 1, count, 0.25F);
        for (size_t j = 0; j < count; j++) {
            a[j + 1] = 0.25F;
        }
        expect(compute, "fill", 0, a, count + 2);
        give_back(&arrays);
    }
}

static void test_flat_kernels_touch_their_elements_alone(void)
{
    on_every_device(run_flat);
}

static void sum_columns(
    const struct fulcrum_compute *compute, size_t rows, size_t cols, bool is_added)
{
    struct arrays arrays = {.count = 0};
    const float *value = take(&arrays, rows * cols, 3);
    float *expected = take(&arrays, cols, 4);
    const fulcrum_place sums = 500000;
    devices_write(compute, 0, value, rows * cols);
    devices_write(compute, sums, expected, cols);
    for (size_t j = 0; j < cols; j++) {
        double sum = 0.0;
        for (size_t i = 0; i < rows; i++) {
            sum += (double)value[i * cols + j];
        }
        expected[j] = (float)(0.5 * sum + (is_added ? (double)expected[j] : 0.0));
    }
    struct fulcrum_compute_sum sum = {.row_count = rows,
        .col_count = cols,
        .value = 0,
        .sums = sums,
        .is_added = is_added,
        .factor = 0.5F,
        .scratch = 600000};
    fulcrum_compute_sum_rows(compute, &sum);
    CU_ASSERT_TRUE(fulcrum_compute_sum_scratch(rows, cols) < ROOM - 600000);
    expect(compute, "sums", sums, expected, cols);
    give_back(&arrays);
}

static void run_sums(const struct fulcrum_compute *compute)
{
    const size_t sizes[][2] = {
        {1, 1}, {16, 5}, {17, 5}, {300, 1}, {1000, 33}, {5000, 70}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        sum_columns(compute, sizes[i][0], sizes[i][1], (int)(i % 2));
    }
}

static void test_sums_of_rows_in_segments(void)
{
    on_every_device(run_sums);
}

/* The product in double, of operands as they are stored. */
static void multiply_slowly(const struct fulcrum_device_product *product,
    const float *a, const float *b, float *c)
{
    size_t rows = product->row_count;
    size_t cols = product->col_count;
    size_t inner = product->inner_count;
    for (size_t i = 0; i < rows * cols; i++) {
        double sum = 0.0;
        for (size_t k = 0; k < inner; k++) {
            size_t left = product->is_left_transposed ? k * rows + i / cols
                                                      : i / cols * inner + k;
            size_t right = product->is_right_transposed ? i % cols * inner + k
                                                        : k * cols + i % cols;
            sum += (double)a[left] * (double)b[right];
        }
        c[i] = (float)(sum + (product->beta > 0.0F ? (double)c[i] : 0.0));
    }
}

static void check_product(
    const struct fulcrum_compute *compute, struct fulcrum_device_product product)
{
    struct arrays arrays = {.count = 0};
    size_t count = product.row_count * product.col_count;
    const float *a = take(&arrays, product.row_count * product.inner_count, 5);
    const float *b = take(&arrays, product.inner_count * product.col_count, 6);
    float *c = take(&arrays, count, 7);
    if (!(product.beta > 0.0F)) {
        c[0] = NAN; /* not to be read */
    }
    product.a = 64;
    product.b = 300032;
    product.c = 700032;
    devices_write(compute, product.a, a, product.row_count * product.inner_count);
    devices_write(compute, product.b, b, product.inner_count * product.col_count);
    devices_write(compute, product.c, c, count);
    fulcrum_compute_multiply(compute, &product);
    multiply_slowly(&product, a, b, c);
    expect(compute, "product", product.c, c, count);
    give_back(&arrays);
}

static void run_products(const struct fulcrum_compute *compute)
{
    const size_t sizes[][3] = {{1, 1, 1}, {1, 70, 33}, {3, 33, 17}, {8, 32, 16},
        {65, 63, 15}, {64, 64, 64}, {67, 130, 40}, {200, 5, 129}};
    const int transposed[][2] = {{0, 0}, {0, 1}, {1, 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (size_t j = 0; j < 6; j++) {
            struct fulcrum_device_product product = {.row_count = sizes[i][0],
                .col_count = sizes[i][1],
                .inner_count = sizes[i][2],
                .is_left_transposed = transposed[j / 2][0],
                .is_right_transposed = transposed[j / 2][1],
                .beta = j % 2 == 0 ? 0.0F : 1.0F};
            check_product(compute, product);
        }
    }
}

static void test_products_of_every_shape_and_transposition(void)
{
    on_every_device(run_products);
}

/* Which kernel is to compute a product: CPUs have two, GPUs one. */
static void test_products_choose_their_kernel_by_layout(void)
{
    struct fulcrum_device_product product = {
        .row_count = 65, .col_count = 33, .inner_count = 7, .is_right_transposed = 1};
    struct fulcrum_device_launch launch = fulcrum_device_product_launch(&product, 0);
    CU_ASSERT_EQUAL(launch.kernel, FULCRUM_KERNEL_MULTIPLY_DOT);
    CU_ASSERT_EQUAL(launch.arguments.item_count, 17 * 9);
    launch = fulcrum_device_product_launch(&product, 1);
    CU_ASSERT_EQUAL(launch.kernel, FULCRUM_KERNEL_MULTIPLY_TILE);
    CU_ASSERT_EQUAL(launch.arguments.item_count, 2 * FULCRUM_TILE_ITEMS);
    product.is_right_transposed = 0;
    launch = fulcrum_device_product_launch(&product, 0);
    CU_ASSERT_EQUAL(launch.kernel, FULCRUM_KERNEL_MULTIPLY_BLOCK);
    CU_ASSERT_EQUAL(launch.arguments.item_count, 9 * 2);
}

static const struct fulcrum_conv odd_conv = {.height = 11,
    .width = 9,
    .channel_count = 5,
    .filter_count = 7,
    .kernel = 4,
    .stride = 2,
    .offset = 3};

static struct fulcrum_device_pass device_pass(
    const struct fulcrum_compute *compute, size_t rows)
{
    return (struct fulcrum_device_pass){.compute = compute,
        .parameters = 0,
        .row_count = rows,
        .input = 100000,
        .output = 200000,
        .column = 300000,
        .sums = 400000,
        .gradients = 500000,
        .output_gradient = 600000,
        .input_gradient = 700000};
}

/* One layer forward and backward on the CPU and on a device, from the same numbers. */
struct layer_case {
    size_t parameter_count;
    size_t rows;
    size_t input_count; /* of all rows, as the next ones */
    size_t output_count;
    size_t column_count;
};

static struct fulcrum_pass cpu_pass(
    const struct layer_case *layer, struct arrays *arrays)
{
    return (struct fulcrum_pass){.parameters = take(arrays, layer->parameter_count, 8),
        .row_count = layer->rows,
        .input = take(arrays, layer->input_count, 9),
        .output = take(arrays, layer->output_count, 0),
        .column = take(arrays, layer->column_count + 1, 0),
        .gradients = take(arrays, layer->parameter_count, 10),
        .output_gradient = take(arrays, layer->output_count, 11),
        .input_gradient = take(arrays, layer->input_count, 0)};
}

static void write_pass(const struct fulcrum_compute *compute,
    const struct layer_case *layer, const struct fulcrum_device_pass *to,
    const struct fulcrum_pass *from)
{
    devices_write(compute, to->parameters, from->parameters, layer->parameter_count);
    devices_write(compute, to->input, from->input, layer->input_count);
    devices_write(compute, to->gradients, from->gradients, layer->parameter_count);
    devices_write(
        compute, to->output_gradient, from->output_gradient, layer->output_count);
}

static void expect_pass(const struct fulcrum_compute *compute,
    const struct layer_case *layer, const struct fulcrum_device_pass *actual,
    const struct fulcrum_pass *expected)
{
    expect(compute, "output", actual->output, expected->output, layer->output_count);
    expect(compute, "gradients", actual->gradients, expected->gradients,
        layer->parameter_count);
    expect(compute, "input gradient", actual->input_gradient, expected->input_gradient,
        layer->input_count);
}

static void run_conv(const struct fulcrum_compute *compute)
{
    const size_t rows = 3;
    const struct layer_case layer = {
        .parameter_count = odd_conv.offset + fulcrum_conv_parameter_count(&odd_conv),
        .rows = rows,
        .input_count = rows * fulcrum_conv_image_count(&odd_conv),
        .output_count = rows * fulcrum_conv_output_count(&odd_conv),
        .column_count = rows * fulcrum_conv_column_count(&odd_conv)};
    struct arrays arrays = {.count = 0};
    struct fulcrum_pass cpu = cpu_pass(&layer, &arrays);
    struct fulcrum_device_pass device = device_pass(compute, rows);
    write_pass(compute, &layer, &device, &cpu);
    fulcrum_conv_forward(&odd_conv, &cpu);
    fulcrum_device_conv_forward(&odd_conv, &device);
    fulcrum_conv_backward(&odd_conv, &cpu);
    fulcrum_device_conv_backward(&odd_conv, &device);
    expect_pass(compute, &layer, &device, &cpu);
    give_back(&arrays);
}

static void test_convolution_is_that_of_the_cpu(void)
{
    on_every_device(run_conv);
}

/* Images may begin at any byte. */
static void run_bytes(const struct fulcrum_compute *compute)
{
    enum { FIRST = 3, BYTES = 11 * 9 * 5 };
    unsigned char bytes[FIRST + BYTES] = {0};
    struct arrays arrays = {.count = 0};
    float *image = take(&arrays, BYTES, 0);
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)(i * 37 % 256);
    }
    for (size_t i = 0; i < BYTES; i++) {
        image[i] = (float)bytes[FIRST + i] / 255.0F;
    }
    struct fulcrum_compute_images of_bytes = {
        .count = 1, .place = 1000, .is_bytes = 1, .first_byte = FIRST};
    struct fulcrum_compute_images of_floats = {.count = 1, .place = 2000};
    size_t count = fulcrum_conv_column_count(&odd_conv);
    float *expected = take(&arrays, count, 0);
    compute->device->upload(compute->state, 1000, bytes, sizeof bytes);
    devices_write(compute, 2000, image, BYTES);
    fulcrum_compute_windows(compute, &odd_conv, &of_bytes, 10000);
    fulcrum_compute_windows(compute, &odd_conv, &of_floats, 20000);
    devices_read(compute, expected, 20000, count);
    CU_ASSERT_TRUE(expected[0] > 0.0F);
    expect(compute, "windows of bytes", 10000, expected, count);
    give_back(&arrays);
}

static void test_bytes_stand_for_numbers_up_to_one(void)
{
    on_every_device(run_bytes);
}

static void run_dense(const struct fulcrum_compute *compute)
{
    const struct fulcrum_dense dense[] = {
        {.input_count = 70, .output_count = 33, .activation = FULCRUM_RELU},
        {.input_count = 5,
            .output_count = 1,
            .activation = FULCRUM_LINEAR,
            .offset = 2}};
    for (size_t i = 0; i < 2; i++) {
        const size_t rows = 21;
        const struct layer_case layer = {
            .parameter_count =
                dense[i].offset + fulcrum_dense_parameter_count(&dense[i]),
            .rows = rows,
            .input_count = rows * dense[i].input_count,
            .output_count = rows * dense[i].output_count};
        struct arrays arrays = {.count = 0};
        struct fulcrum_pass cpu = cpu_pass(&layer, &arrays);
        struct fulcrum_device_pass device = device_pass(compute, rows);
        write_pass(compute, &layer, &device, &cpu);
        fulcrum_dense_forward(&dense[i], &cpu);
        fulcrum_device_dense_forward(&dense[i], &device);
        fulcrum_dense_backward(&dense[i], &cpu);
        fulcrum_device_dense_backward(&dense[i], &device);
        expect_pass(compute, &layer, &device, &cpu);
        give_back(&arrays);
    }
}

static void test_dense_layer_is_that_of_the_cpu(void)
{
    on_every_device(run_dense);
}

static const struct fulcrum_lstm odd_lstm = {
    .input_count = 6, .unit_count = 37, .offset = 1};

enum { LSTM_STEPS = 4, LSTM_BATCH = 3, LSTM_ROWS = LSTM_STEPS * LSTM_BATCH };

/* The trace of the CPU, with a state before the first step. */
static struct fulcrum_lstm_trace lstm_trace(struct arrays *arrays)
{
    const size_t units = odd_lstm.unit_count;
    const size_t rows = LSTM_ROWS;
    const size_t batch = LSTM_BATCH;
    return (struct fulcrum_lstm_trace){.step_count = LSTM_STEPS,
        .batch_count = LSTM_BATCH,
        .gates = take(arrays, 4 * rows * units, 0),
        .cell = take(arrays, (rows + batch) * units, 12),
        .cell_tanh = take(arrays, rows * units, 0),
        .hidden = take(arrays, (rows + batch) * units, 13)};
}

static const struct fulcrum_device_lstm_trace lstm_places = {.step_count = LSTM_STEPS,
    .batch_count = LSTM_BATCH,
    .gates = 800000,
    .cell = 810000,
    .cell_tanh = 820000,
    .hidden = 830000};

static void run_lstm(const struct fulcrum_compute *compute)
{
    const size_t units = odd_lstm.unit_count;
    const size_t rows = LSTM_ROWS;
    const size_t batch = LSTM_BATCH;
    const struct layer_case layer = {
        .parameter_count = odd_lstm.offset + fulcrum_lstm_parameter_count(&odd_lstm),
        .rows = rows,
        .input_count = rows * odd_lstm.input_count,
        .output_count = rows * units};
    struct arrays arrays = {.count = 0};
    struct fulcrum_pass cpu = cpu_pass(&layer, &arrays);
    struct fulcrum_lstm_trace trace = lstm_trace(&arrays);
    struct fulcrum_lstm_gradients gradients = {.hidden = cpu.output_gradient,
        .gates = take(&arrays, 4 * rows * units, 0),
        .cell = take(&arrays, batch * units, 0),
        .recurrent = take(&arrays, batch * units, 0)};
    struct fulcrum_device_pass device = device_pass(compute, rows);
    const struct fulcrum_device_lstm_gradients places = {
        .hidden = 600000, .gates = 840000, .cell = 850000, .recurrent = 860000};
    write_pass(compute, &layer, &device, &cpu);
    devices_write(compute, lstm_places.cell, trace.cell, batch * units);
    devices_write(compute, lstm_places.hidden, trace.hidden, batch * units);
    fulcrum_lstm_forward(&odd_lstm, &cpu, &trace);
    fulcrum_device_lstm_forward(&odd_lstm, &device, &lstm_places);
    expect(compute, "hidden", lstm_places.hidden, trace.hidden, (rows + batch) * units);
    fulcrum_lstm_backward(&odd_lstm, &cpu, &trace, &gradients);
    fulcrum_device_lstm_backward(&odd_lstm, &device, &lstm_places, &places);
    expect(
        compute, "gradients", device.gradients, cpu.gradients, layer.parameter_count);
    expect(compute, "input gradient", device.input_gradient, cpu.input_gradient,
        layer.input_count);
    give_back(&arrays);
}

static void test_lstm_is_that_of_the_cpu(void)
{
    on_every_device(run_lstm);
}

static void run_duel(const struct fulcrum_compute *compute)
{
    const struct fulcrum_duel shape = {19, 7};
    const size_t count = shape.row_count * shape.action_count;
    struct arrays arrays = {.count = 0};
    float *value = take(&arrays, shape.row_count, 14);
    float *advantage = take(&arrays, count, 15);
    float *q = take(&arrays, count, 0);
    devices_write(compute, 1000, value, shape.row_count);
    devices_write(compute, 2000, advantage, count);
    fulcrum_duel_forward(shape, value, advantage, q);
    fulcrum_device_duel_forward(compute, shape, 1000, 2000, 3000);
    expect(compute, "q", 3000, q, count);
    fulcrum_duel_backward(shape, q, value, advantage);
    fulcrum_device_duel_backward(compute, shape, 3000, 1000, 2000);
    expect(compute, "value gradient", 1000, value, shape.row_count);
    expect(compute, "advantage gradient", 2000, advantage, count);
    give_back(&arrays);
}

static void test_duel_is_that_of_the_cpu(void)
{
    on_every_device(run_duel);
}

/* The first of equal values; columns beyond those looked at do not count. */
static void run_largest(const struct fulcrum_compute *compute)
{
    const float values[] = {1, 3, 3, 9, -2, -1, -5, 9, 0, 0, 0, 9};
    const float expected[] = {1, 1, 0};
    struct fulcrum_compute_largest largest = {
        .row_count = 3, .col_count = 3, .pitch = 4, .value = 0, .index = 100};
    devices_write(compute, 0, values, 12);
    fulcrum_compute_largest(compute, &largest);
    expect(compute, "largest", 100, expected, 3);
}

static void test_largest_is_the_first_of_equals(void)
{
    on_every_device(run_largest);
}

enum { TD_STEPS = 9, TD_BATCH = 4, TD_ACTIONS = 6 };

/* Values of any size: rescaling and its inverse lose nothing near zero or far off. */
static void run_td(const struct fulcrum_compute *compute)
{
    enum { ROWS = TD_STEPS * TD_BATCH, ALL = (ROWS + TD_BATCH) * TD_ACTIONS };
    const float scales[] = {1e-4F, 1.0F, 300.0F};
    for (size_t i = 0; i < 3; i++) {
        struct arrays arrays = {.count = 0};
        int action[ROWS];
        float *online = take(&arrays, ALL, 16);
        float *target = take(&arrays, ALL, 17);
        float *reward = take(&arrays, ROWS, 18);
        float *taken = take(&arrays, ROWS, 0);
        float *gradient = take(&arrays, ALL, 0);
        for (size_t j = 0; j < ALL; j++) {
            online[j] *= scales[i];
            target[j] *= scales[i];
        }
        for (size_t j = 0; j < ROWS; j++) {
            reward[j] *= scales[i];
            action[j] = (int)(j * 5 % TD_ACTIONS);
            taken[j] = (float)action[j];
        }
        struct fulcrum_td td = {.step_count = TD_STEPS,
            .batch_count = TD_BATCH,
            .action_count = TD_ACTIONS,
            .look_ahead = 5,
            .discount = 0.997,
            .online = online,
            .target = target,
            .action = action,
            .reward = reward};
        double loss = fulcrum_td_loss(&td, gradient);
        devices_write(compute, 0, online, ALL);
        devices_write(compute, 1000, target, ALL);
        devices_write(compute, 2000, taken, ROWS);
        devices_write(compute, 3000, reward, ROWS);
        struct fulcrum_device_launch launch =
            fulcrum_compute_rows(compute, FULCRUM_KERNEL_TD, ROWS, 1);
        const fulcrum_place places[] = {0, 1000, 2000, 3000, 4000, 5000};
        memcpy(launch.arguments.place, places, sizeof places);
        const unsigned int counts[] = {TD_STEPS, TD_BATCH, TD_ACTIONS, 5};
        memcpy(launch.arguments.count, counts, sizeof counts);
        launch.arguments.number[0] = 0.997F;
        fulcrum_compute_launch(compute, &launch);
        expect(compute, "gradient", 4000, gradient, (size_t)ROWS * TD_ACTIONS);
        float row_loss[ROWS];
        double sum = 0.0;
        devices_read(compute, row_loss, 5000, ROWS);
        for (size_t j = 0; j < ROWS; j++) {
            sum += (double)row_loss[j] / ROWS;
        }
        suite_assert_close("loss", sum, loss, tolerance);
        give_back(&arrays);
    }
}

static void test_td_loss_is_that_of_the_cpu(void)
{
    on_every_device(run_td);
}

static void run_adam(const struct fulcrum_compute *compute)
{
    enum { COUNT = 5000 };
    struct arrays arrays = {.count = 0};
    float *parameters = take(&arrays, COUNT, 19);
    const float *gradients = take(&arrays, COUNT, 20);
    struct fulcrum_adam adam = {.rate = 1e-2,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .epsilon = 1e-8,
        .parameter_count = COUNT,
        .mean = take(&arrays, COUNT, 0),
        .square = take(&arrays, COUNT, 0)};
    struct fulcrum_adam counter = adam;
    devices_write(compute, 0, parameters, COUNT);
    devices_write(compute, 10000, gradients, COUNT);
    for (size_t i = 0; i < 3; i++) {
        struct fulcrum_compute_adam step = {.step = fulcrum_adam_begin(&counter),
            .parameter_count = COUNT,
            .parameters = 0,
            .gradients = 10000,
            .mean = 20000,
            .square = 30000};
        fulcrum_compute_adam(compute, &step);
        fulcrum_adam_update(&adam, parameters, gradients);
    }
    expect(compute, "parameters", 0, parameters, COUNT);
    expect(compute, "mean", 20000, adam.mean, COUNT);
    expect(compute, "square", 30000, adam.square, COUNT);
    give_back(&arrays);
}

static void test_adam_is_that_of_the_cpu(void)
{
    on_every_device(run_adam);
}

static void test_places_are_aligned_and_counted(void)
{
    struct fulcrum_arena arena = {.taken = 0};
    CU_ASSERT_EQUAL(fulcrum_arena_take(&arena, 1), 0);
    CU_ASSERT_EQUAL(fulcrum_arena_take(&arena, 64), 64);
    CU_ASSERT_EQUAL(fulcrum_arena_take(&arena, 65), 128);
    CU_ASSERT_EQUAL(fulcrum_arena_take(&arena, 0), 256);
    CU_ASSERT_EQUAL(arena.taken, 320);
    /* More than a place can count is refused before any device is asked. */
    struct fulcrum_error err = {FULCRUM_OK, ""};
    (void)fulcrum_arena_take(&arena, UINT64_C(1) << 33);
    CU_ASSERT_EQUAL(fulcrum_arena_reserve(&arena, NULL, &err), FULCRUM_ERR_NO_MEMORY);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "34.4 GB"));
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_flat_kernels_touch_their_elements_alone),
        SUITE_CASE(test_sums_of_rows_in_segments),
        SUITE_CASE(test_products_of_every_shape_and_transposition),
        SUITE_CASE(test_products_choose_their_kernel_by_layout),
        SUITE_CASE(test_convolution_is_that_of_the_cpu),
        SUITE_CASE(test_bytes_stand_for_numbers_up_to_one),
        SUITE_CASE(test_dense_layer_is_that_of_the_cpu),
        SUITE_CASE(test_lstm_is_that_of_the_cpu),
        SUITE_CASE(test_duel_is_that_of_the_cpu),
        SUITE_CASE(test_largest_is_the_first_of_equals),
        SUITE_CASE(test_td_loss_is_that_of_the_cpu),
        SUITE_CASE(test_adam_is_that_of_the_cpu),
        SUITE_CASE(test_places_are_aligned_and_counted),
    };
    return suite_run(
        "device_kernels", cases, sizeof cases / sizeof cases[0], argc, argv);
}
