/* test_device_kernels.c - each kernel on each device beside definitions and examples.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/device/compute.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/device/networks.h"
#include "tests/support/devices.h"
#include "tests/support/gradient.h"
#include "tests/support/suite.h"

/* Rounding of float32 over at most some hundred terms. */
static const double tolerance = 3e-6;

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

static void expect(const struct fulcrum_compute *compute, const char *what,
    fulcrum_place place, const float *expected, size_t count)
{
    const struct devices_array array = {expected, count, tolerance};
    devices_assert(compute, what, place, &array);
}

/* Neighbours of what is written stay as they are. */
DEVICE_TEST(test_flat_kernels_touch_their_elements_alone)
{
    const size_t counts[] = {1, 63, 4096, 4097, 10000};
    for (size_t i = 0; i < LENGTH(counts); i++) {
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
    CU_ASSERT_TRUE(fulcrum_compute_sum_scratch(rows, cols) < DEVICES_ROOM - 600000);
    expect(compute, "sums", sums, expected, cols);
    give_back(&arrays);
}

DEVICE_TEST(test_sums_of_rows_in_segments)
{
    const size_t sizes[][2] = {
        {1, 1}, {16, 5}, {17, 5}, {300, 1}, {1000, 33}, {5000, 70}};
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        sum_columns(compute, sizes[i][0], sizes[i][1], (int)(i % 2));
    }
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
    compute->device->multiply(compute->state, &product);
    multiply_slowly(&product, a, b, c);
    expect(compute, "product", product.c, c, count);
    give_back(&arrays);
}

DEVICE_TEST(test_products_of_every_shape_and_transposition)
{
    const size_t sizes[][3] = {{1, 1, 1}, {1, 70, 33}, {3, 33, 17}, {8, 32, 16},
        {65, 63, 15}, {64, 64, 64}, {67, 130, 40}, {200, 5, 129}};
    const int transposed[][2] = {{0, 0}, {0, 1}, {1, 0}};
    for (size_t i = 0; i < LENGTH(sizes); i++) {
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

/* Which kernel is to compute a product: CPUs have two, GPUs one. */
TEST(test_products_choose_their_kernel_by_layout)
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

/* Images may begin at any byte. The windows of a convolution stay where it left them.
 */
DEVICE_TEST(test_bytes_stand_for_numbers_up_to_one)
{
    enum { FIRST = 3, BYTES = 11 * 9 * 5, BEYOND = BYTES + FIRST };
    const struct fulcrum_conv shape = {
        .height = 11, .width = 9, .channel_count = 5, .kernel = 4, .stride = 2};
    size_t taken = 0;
    const struct fulcrum_conv conv = fulcrum_conv_make(&taken, shape, 7);
    const size_t count = fulcrum_conv_column_count(&conv);
    const struct fulcrum_pass of_floats = {.compute = compute,
        .row_count = 1,
        .input = 2000,
        .output = 5000,
        .column = 20000};
    struct fulcrum_pass of_bytes = of_floats;
    of_bytes.input = 1000;
    of_bytes.input_is_bytes = 1;
    of_bytes.input_first_byte = FIRST;
    of_bytes.column = 10000;
    unsigned char bytes[BEYOND] = {0};
    struct arrays arrays = {.count = 0};
    float *image = take(&arrays, BYTES, 0);
    float *expected = take(&arrays, count, 0);
    for (size_t i = 0; i < BEYOND; i++) {
        bytes[i] = (unsigned char)(i * 37 % 256);
        image[i < FIRST ? 0 : i - FIRST] = (float)bytes[i] / 255.0F;
    }
    compute->device->upload(compute->state, 1000, bytes, sizeof bytes);
    devices_write(compute, 2000, image, BYTES);
    fulcrum_conv_forward(&conv, &of_bytes);
    fulcrum_conv_forward(&conv, &of_floats);
    devices_read(compute, expected, 20000, count);
    CU_ASSERT_TRUE(expected[0] > 0.0F);
    expect(compute, "windows of bytes", 10000, expected, count);
    give_back(&arrays);
}

/* Dense output, last reward, one-hot last action. */
DEVICE_TEST(test_reward_and_action_are_joined)
{
    const float dense[] = {0.25F, -4.0F, 7.0F, 0.5F};
    const float action[] = {1.0F, 2.0F};
    const float last_reward[] = {-0.5F, 3.0F};
    const float expected[] = {
        0.25F, -4.0F, -0.5F, 0.0F, 1.0F, 0.0F, 7.0F, 0.5F, 3.0F, 0.0F, 0.0F, 1.0F};
    devices_write(compute, 0, dense, 4);
    devices_write(compute, 100, action, 2);
    devices_write(compute, 200, last_reward, 2);
    fulcrum_compute_launch(compute, FULCRUM_KERNEL_JOIN, 2, 6,
        &(struct fulcrum_kernel_arguments){
            .place = {300, 0, 100, 200}, .count = {6, 2}});
    expect(compute, "joined", 300, expected, 12);
}

/* All gates have the same sums: gates become sigmoids of them, or tanh. */
DEVICE_TEST(test_activations_match_the_c_library)
{
    enum { UNITS = 8001 };
    struct arrays arrays = {.count = 0};
    float *sums = take(&arrays, 4 * (size_t)UNITS, 0);
    float *gates = take(&arrays, 4 * (size_t)UNITS, 0);
    double worst = 0.0;
    for (size_t i = 0; i < 4 * (size_t)UNITS; i++) {
        sums[i] = ((float)(i % UNITS) - 4000.0F) / 32.0F;
    }
    devices_write(compute, 0, sums, 4 * (size_t)UNITS);
    fulcrum_compute_fill(compute, 100000, UNITS, 0.0F);
    fulcrum_compute_launch(compute, FULCRUM_KERNEL_LSTM, 1, UNITS,
        &(struct fulcrum_kernel_arguments){
            .place = {0, 100000, 200000, 300000, 400000}, .count = {UNITS}});
    devices_read(compute, gates, 0, 4 * (size_t)UNITS);
    for (size_t i = 0; i < 4 * (size_t)UNITS; i++) {
        double x = (double)sums[i];
        double exact = i / UNITS == 2 ? tanh(x) : 1.0 / (1.0 + exp(-x));
        worst = fmax(worst, fabs((double)gates[i] - exact));
    }
    CU_ASSERT_TRUE(worst < 3e-7);
    give_back(&arrays);
}

/* The first of equal values; columns beyond those looked at do not count. */
DEVICE_TEST(test_largest_is_the_first_of_equals)
{
    const float values[] = {1, 3, 3, 9, -2, -1, -5, 9, 0, 0, 0, 9};
    const float expected[] = {1, 1, 0};
    devices_write(compute, 0, values, 12);
    fulcrum_compute_launch(compute, FULCRUM_KERNEL_LARGEST, 3, 1,
        &(struct fulcrum_kernel_arguments){.place = {100}, .count = {3, 4}});
    expect(compute, "largest", 100, expected, 3);
}

/* Two sequences of two steps and the step after. The online network prefers action 1 in
 * every look ahead, whatever the target network makes of it. */
static const float online[] = {0.5F, 0.0F, 1.0F, 0.0F, /* step 0 */
    0.0F, 0.25F, 0.0F, 0.5F,                           /* step 1 */
    -1.0F, 1.0F, -1.0F, 2.0F};                         /* after */
static const float target[] = {9.0F, 9.0F, 9.0F, 9.0F, /* never read */
    7.0F, 0.75F, 7.0F, -0.5F, 7.0F, 0.125F, 7.0F, 2.0F};
static const float td_action[] = {0.0F, 1.0F, 1.0F, 0.0F};
static const float reward[] = {1.0F, -1.0F, 0.5F, 0.25F};

/* Errors of the two steps of a sequence, all values and rewards `scale` times as large.
 */
static void td_errors(size_t look_ahead, size_t sequence, double scale, double *errors)
{
    const double next_value[] = {0.75, -0.5};
    const double end_value[] = {0.125, 2.0};
    const double first_taken[] = {0.5, 0.0};
    const double last_taken[] = {0.25, 0.0};
    double end = devices_unscaled(scale * end_value[sequence]);
    double last = scale * (double)reward[2 + sequence] + 0.9 * end;
    double next =
        look_ahead == 1 ? devices_unscaled(scale * next_value[sequence]) : last;
    double first = scale * (double)reward[sequence] + 0.9 * next;
    errors[0] = scale * first_taken[sequence] - devices_rescaled(first);
    errors[1] = scale * last_taken[sequence] - devices_rescaled(last);
}

static void check_td(const struct fulcrum_compute *compute, size_t ahead, float scale)
{
    float values[2][12];
    float rewards[4];
    float losses[4];
    float gradients[8] = {0.0F};
    for (size_t i = 0; i < 12; i++) {
        values[0][i] = scale * online[i];
        values[1][i] = scale * target[i];
        rewards[i % 4] = scale * reward[i % 4];
    }
    for (size_t i = 0; i < 4; i++) {
        double errors[2];
        td_errors(ahead, i % 2, (double)scale, errors);
        losses[i] = (float)(0.5 * errors[i / 2] * errors[i / 2]);
        gradients[2 * i + (size_t)td_action[i]] = (float)(errors[i / 2] / 4.0);
    }
    devices_write(compute, 0, values[0], 12);
    devices_write(compute, 100, values[1], 12);
    devices_write(compute, 200, td_action, 4);
    devices_write(compute, 300, rewards, 4);
    fulcrum_compute_launch(compute, FULCRUM_KERNEL_TD, 4, 1,
        &(struct fulcrum_kernel_arguments){.place = {0, 100, 200, 300, 400, 500},
            .count = {2, 2, 2, (unsigned)ahead},
            .number = {0.9F}});
    expect(compute, "gradient", 400, gradients, 8);
    expect(compute, "loss", 500, losses, 4);
}

/* Values of any size: rescaling and its inverse lose nothing near zero or far off. */
DEVICE_TEST(test_td_loss_looks_ahead_and_chooses_online)
{
    const float scales[] = {1e-4F, 1.0F, 300.0F};
    for (size_t i = 0; i < 3; i++) {
        check_td(compute, 1, scales[i]);
        check_td(compute, 5, scales[i]);
    }
}

/* One sample each, one action: mean 0.5, action 1.5, value 2 off its target. */
static const struct clip_case {
    float log_ratio;
    float advantage;
    bool is_clipped; /* the mean has no gradient */
    double gain;     /* what the surrogate counts */
} clip_cases[] = {
    {0.0F, 2.0F, 0, 2.0},
    {0.5F, 2.0F, 1, 2.4},                        /* gained enough */
    {0.5F, -2.0F, 0, -2.0 * 1.6487212707001282}, /* a loss is felt in full */
    {-0.5F, -2.0F, 1, -1.6},                     /* avoided enough */
    {-0.5F, 2.0F, 0, 2.0 * 0.60653065971263342},
};

DEVICE_TEST(test_surrogate_is_clipped_on_the_gaining_side_only)
{
    const double log_probability = -0.5 - 0.5 * log(2.0 * acos(-1.0));
    const float output[] = {0.5F, 3.0F};
    for (size_t i = 0; i < LENGTH(clip_cases); i++) {
        const struct clip_case *at = &clip_cases[i];
        /* log std, action, old log probability, advantage, target of the value */
        const float inputs[] = {
            0.0F, 1.5F, (float)log_probability - at->log_ratio, at->advantage, 1.0F};
        /* The value's error is 2: half of half its square. */
        const float loss = (float)(1.0 - at->gain);
        const float gradient[] = {at->is_clipped ? 0.0F : (float)-at->gain, 1.0F};
        float log_std_gradient = NAN;
        devices_write(compute, 0, output, 2);
        devices_write(compute, 64, inputs, 5);
        fulcrum_compute_launch(compute, FULCRUM_KERNEL_PPO, 1, 1,
            &(struct fulcrum_kernel_arguments){
                .place = {0, 64, 65, 66, 67, 68, 100, 200, 300},
                .count = {1},
                .number = {0.2F, 0.5F}});
        expect(compute, "gradient", 100, gradient, 2);
        expect(compute, "loss", 300, &loss, 1);
        devices_read(compute, &log_std_gradient, 200, 1);
        /* At one standard deviation the width has no first-order effect. */
        CU_ASSERT_DOUBLE_EQUAL((double)log_std_gradient, 0.0, 1e-6);
    }
}

/* Against sums of all gradients so far, with weights of their age, in double. */
DEVICE_TEST(test_adam_follows_its_closed_form)
{
    enum { COUNT = 5000, STEPS = 3 };
    struct arrays arrays = {.count = 0};
    float *parameters = take(&arrays, COUNT, 19);
    const float *gradients = take(&arrays, COUNT, 20);
    struct fulcrum_adam adam = {.rate = 0.1,
        .epsilon = 1e-3,
        .parameter_count = COUNT,
        .parameters = 0,
        .gradients = 10000,
        .mean = 20000,
        .square = 30000};
    devices_write(compute, 0, parameters, COUNT);
    fulcrum_compute_fill(compute, 20000, COUNT, 0.0F);
    fulcrum_compute_fill(compute, 30000, COUNT, 0.0F);
    for (size_t t = 1; t <= STEPS; t++) {
        /* Each step's gradients are the next of the same array, in a ring. */
        devices_write(compute, 10000, gradients + t, COUNT - t);
        devices_write(compute, 10000 + COUNT - (fulcrum_place)t, gradients, t);
        fulcrum_compute_adam(compute, &adam);
        for (size_t i = 0; i < COUNT; i++) {
            double mean = 0.0;
            double square = 0.0;
            for (size_t j = 1; j <= t; j++) {
                double gradient = (double)gradients[(i + j) % COUNT];
                mean += 0.1 * pow(0.9, (double)(t - j)) * gradient;
                square += 0.001 * pow(0.999, (double)(t - j)) * gradient * gradient;
            }
            mean /= 1.0 - pow(0.9, (double)t);
            square /= 1.0 - pow(0.999, (double)t);
            parameters[i] -= (float)(0.1 * mean / (sqrt(square) + 1e-3));
        }
        expect(compute, "parameters", 0, parameters, COUNT);
    }
    CU_ASSERT_EQUAL(adam.step_count, STEPS);
    give_back(&arrays);
}

TEST(test_places_are_aligned_and_counted)
{
    struct fulcrum_arena arena = {.taken = 0};
    CU_ASSERT_EQUAL(fulcrum_arena_take(&arena, 1), 0);
    CU_ASSERT_EQUAL(fulcrum_arena_take(&arena, 64), 64);
    CU_ASSERT_EQUAL(fulcrum_arena_take(&arena, 65), 128);
    CU_ASSERT_EQUAL(fulcrum_arena_take(&arena, 0), 256);
    CU_ASSERT_EQUAL(arena.taken, 320);
    /* More than a place can count is refused before any device is asked. */
    (void)fulcrum_arena_take(&arena, UINT64_C(1) << 33);
    ASSERT_FAILS(
        fulcrum_arena_reserve(&arena, NULL, &err), FULCRUM_ERR_NO_MEMORY, "34.4 GB");
}
