/* test_layer.c - layers against direct sums, closed forms and finite differences. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/network/layer.h"

#include <math.h>
#include <string.h>

#include "tests/support/gradient.h"
#include "tests/support/suite.h"

enum { ROOM = 4096 };

/* One layer between given input and a loss that is linear in its output. */
struct bench {
    const struct fulcrum_conv *conv;
    const struct fulcrum_dense *dense;
    struct fulcrum_pass pass;
    size_t output_count;
    float parameters[ROOM];
    float gradients[ROOM];
    float input[ROOM];
    float input_gradient[ROOM];
    float output[ROOM];
    float output_gradient[ROOM];
    float column[ROOM];
    float weights[ROOM]; /* of the outputs in the loss */
};

static void bench_fill(struct bench *bench, size_t row_count)
{
    gradient_fill(bench->parameters, ROOM, 1);
    gradient_fill(bench->input, ROOM, 2);
    gradient_fill(bench->weights, ROOM, 3);
    memset(bench->gradients, 0, sizeof bench->gradients);
    bench->pass = (struct fulcrum_pass){.parameters = bench->parameters,
        .row_count = row_count,
        .input = bench->input,
        .output = bench->output,
        .column = bench->column,
        .gradients = bench->gradients,
        .output_gradient = bench->output_gradient,
        .input_gradient = bench->input_gradient};
}

static double bench_loss(void *context)
{
    struct bench *bench = context;
    if (bench->conv != NULL) {
        fulcrum_conv_forward(bench->conv, &bench->pass);
    } else {
        fulcrum_dense_forward(bench->dense, &bench->pass);
    }
    return gradient_dot(bench->weights, bench->output, bench->output_count);
}

static void bench_backward(struct bench *bench)
{
    (void)bench_loss(bench);
    memcpy(bench->output_gradient, bench->weights, sizeof bench->output_gradient);
    if (bench->conv != NULL) {
        fulcrum_conv_backward(bench->conv, &bench->pass);
    } else {
        fulcrum_dense_backward(bench->dense, &bench->pass);
    }
}

/* Gradients of all parameters of the layer and of its whole input. */
static void bench_assert(
    struct bench *bench, size_t offset, size_t parameter_count, size_t input_count)
{
    bench_backward(bench);
    struct gradient_check of_parameters = {.what = "parameters",
        .values = bench->parameters + offset,
        .gradients = bench->gradients + offset,
        .count = parameter_count,
        .loss = bench_loss,
        .context = bench};
    gradient_assert(&of_parameters);
    struct gradient_check of_input = {.what = "input",
        .values = bench->input,
        .gradients = bench->input_gradient,
        .count = input_count,
        .loss = bench_loss,
        .context = bench};
    gradient_assert(&of_input);
}

static void test_dense_gradient_matches_differences(void)
{
    const struct fulcrum_dense layers[] = {{7, 5, FULCRUM_LINEAR, 3},
        {7, 5, FULCRUM_RELU, 3}, {1, 4, FULCRUM_RELU, 0}, {6, 1, FULCRUM_LINEAR, 0}};
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        for (size_t rows = 1; rows <= 4; rows += 3) {
            static struct bench bench;
            bench = (struct bench){
                .dense = &layers[i], .output_count = rows * layers[i].output_count};
            bench_fill(&bench, rows);
            bench_assert(&bench, layers[i].offset,
                fulcrum_dense_parameter_count(&layers[i]),
                rows * layers[i].input_count);
        }
    }
}

static void test_dense_without_input_gradient_leaves_parameters_alike(void)
{
    const struct fulcrum_dense layer = {7, 5, FULCRUM_RELU, 3};
    static struct bench bench;
    static float with_input[ROOM];
    bench = (struct bench){.dense = &layer, .output_count = 20};
    bench_fill(&bench, 4);
    bench_backward(&bench);
    memcpy(with_input, bench.gradients, sizeof with_input);
    bench_fill(&bench, 4);
    bench.pass.input_gradient = NULL;
    bench_backward(&bench);
    for (size_t i = 0; i < ROOM; i++) {
        CU_ASSERT_TRUE(with_input[i] == bench.gradients[i]);
    }
}

/* Odd sizes: unequal edges, windows that leave pixels over, stride above 1. */
static const struct fulcrum_conv convolutions[] = {
    {.height = 7,
        .width = 9,
        .channel_count = 2,
        .filter_count = 3,
        .kernel = 3,
        .stride = 2,
        .offset = 5},
    {.height = 5,
        .width = 4,
        .channel_count = 3,
        .filter_count = 4,
        .kernel = 2,
        .stride = 1},
    {.height = 6,
        .width = 6,
        .channel_count = 1,
        .filter_count = 2,
        .kernel = 6,
        .stride = 4},
    {.height = 8,
        .width = 6,
        .channel_count = 2,
        .filter_count = 2,
        .kernel = 2,
        .stride = 3},
};

static void test_conv_gradient_matches_differences(void)
{
    for (size_t i = 0; i < sizeof convolutions / sizeof convolutions[0]; i++) {
        const struct fulcrum_conv *conv = &convolutions[i];
        size_t rows = 2;
        static struct bench bench;
        bench = (struct bench){
            .conv = conv, .output_count = rows * fulcrum_conv_output_count(conv)};
        bench_fill(&bench, rows);
        bench_assert(&bench, conv->offset, fulcrum_conv_parameter_count(conv),
            rows * conv->height * conv->width * conv->channel_count);
    }
}

/* The sum over one window, written as in a textbook. */
static double window_sum(
    const struct fulcrum_conv *conv, const struct bench *bench, size_t output)
{
    size_t filter = output % conv->filter_count;
    size_t position = output / conv->filter_count;
    size_t across = (conv->width - conv->kernel) / conv->stride + 1;
    size_t down = (conv->height - conv->kernel) / conv->stride + 1;
    size_t image = position / (across * down);
    size_t top = position / across % down * conv->stride;
    size_t left = position % across * conv->stride;
    size_t window = conv->kernel * conv->kernel * conv->channel_count;
    const float *weights = bench->parameters + conv->offset + filter * window;
    double sum =
        (double)bench->parameters[conv->offset + window * conv->filter_count + filter];
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

static void test_conv_equals_the_direct_sum(void)
{
    for (size_t i = 0; i < sizeof convolutions / sizeof convolutions[0]; i++) {
        const struct fulcrum_conv *conv = &convolutions[i];
        static struct bench bench;
        bench = (struct bench){
            .conv = conv, .output_count = 2 * fulcrum_conv_output_count(conv)};
        bench_fill(&bench, 2);
        (void)bench_loss(&bench);
        double worst = 0.0;
        for (size_t j = 0; j < bench.output_count; j++) {
            double expected = fmax(window_sum(conv, &bench, j), 0.0);
            worst = fmax(worst, fabs((double)bench.output[j] - expected));
        }
        /* Below 40 terms of at most one, each rounded to 2^-24 of it. */
        CU_ASSERT_TRUE(worst < 4e-6);
    }
}

static void test_conv_counts_those_of_the_atari_agent(void)
{
    const struct fulcrum_conv conv = {.height = 84,
        .width = 84,
        .channel_count = 4,
        .filter_count = 32,
        .kernel = 8,
        .stride = 4};
    CU_ASSERT_EQUAL(fulcrum_conv_output_count(&conv), 12800);
    CU_ASSERT_EQUAL(fulcrum_conv_parameter_count(&conv), 8224);
    suite_assert_close("mac", fulcrum_conv_mac_count(&conv), 3276800.0, 0.0);
}

static void test_duel_mean_is_the_value_and_order_that_of_advantages(void)
{
    const float value[] = {2.0F, -1.0F};
    const float advantage[] = {1.0F, 4.0F, 1.0F, 0.0F, -3.0F, 6.0F};
    const float expected[] = {1.0F, 4.0F, 1.0F, -2.0F, -5.0F, 4.0F};
    float q[6];
    struct fulcrum_duel shape = {2, 3};
    fulcrum_duel_forward(shape, value, advantage, q);
    for (size_t i = 0; i < 6; i++) {
        CU_ASSERT_DOUBLE_EQUAL((double)q[i], (double)expected[i], 1e-6);
    }
}

struct duel_bench {
    float inputs[8]; /* two values, then six advantages */
    float weights[6];
};

static double duel_loss(void *context)
{
    const struct duel_bench *bench = context;
    struct fulcrum_duel shape = {2, 3};
    float q[6];
    fulcrum_duel_forward(shape, bench->inputs, bench->inputs + 2, q);
    return gradient_dot(bench->weights, q, 6);
}

static void test_duel_gradient_matches_differences(void)
{
    struct duel_bench bench;
    float gradients[8];
    struct fulcrum_duel shape = {2, 3};
    gradient_fill(bench.inputs, 8, 1);
    gradient_fill(bench.weights, 6, 2);
    fulcrum_duel_backward(shape, bench.weights, gradients, gradients + 2);
    struct gradient_check check = {.what = "duel",
        .values = bench.inputs,
        .gradients = gradients,
        .count = 8,
        .loss = duel_loss,
        .context = &bench};
    gradient_assert(&check);
}

static void test_activations_match_the_c_library(void)
{
    double worst_sigmoid = 0.0;
    double worst_tanh = 0.0;
    for (int i = -4000; i <= 4000; i++) {
        double x = (double)i / 32.0;
        float sigmoid = (float)x;
        float input = (float)x;
        float squashed = 0.0F;
        fulcrum_sigmoid(&sigmoid, 1);
        fulcrum_tanh(&squashed, &input, 1);
        double exact = 1.0 / (1.0 + exp(-x));
        worst_sigmoid = fmax(worst_sigmoid, fabs((double)sigmoid - exact));
        worst_tanh = fmax(worst_tanh, fabs((double)squashed - tanh(x)));
    }
    CU_ASSERT_TRUE(worst_sigmoid < 2e-7);
    CU_ASSERT_TRUE(worst_tanh < 3e-7);
}

#define ROWS  ((size_t)14)
#define COLS  ((size_t)600)
#define INNER ((size_t)700)

/* Few and many rows, below and above what sgemm copies: every way to multiply. */
static void test_gemm_with_few_rows_equals_the_direct_sum(void)
{
    static float a[ROWS * INNER];
    static float b[COLS * INNER];
    static float c[ROWS * COLS];
    gradient_fill(a, ROWS * INNER, 1);
    gradient_fill(b, COLS * INNER, 2);
    for (size_t rows = 1; rows <= ROWS; rows++) {
        struct fulcrum_gemm shape = {rows, COLS, INNER};
        double worst = 0.0;
        for (size_t i = 0; i < rows * COLS; i++) {
            c[i] = 1.0F;
        }
        fulcrum_gemm_right_transposed(shape, a, b, 0.5F, c);
        for (size_t i = 0; i < rows * COLS; i += 7) {
            double sum =
                gradient_dot(a + i / COLS * INNER, b + i % COLS * INNER, INNER);
            worst = fmax(worst, fabs((double)c[i] - 0.5 - sum));
        }
        /* 700 terms below one, whose sum is of the order of ten. */
        CU_ASSERT_TRUE(worst < 1e-4);
    }
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_dense_gradient_matches_differences),
        SUITE_CASE(test_dense_without_input_gradient_leaves_parameters_alike),
        SUITE_CASE(test_conv_gradient_matches_differences),
        SUITE_CASE(test_conv_equals_the_direct_sum),
        SUITE_CASE(test_conv_counts_those_of_the_atari_agent),
        SUITE_CASE(test_duel_mean_is_the_value_and_order_that_of_advantages),
        SUITE_CASE(test_duel_gradient_matches_differences),
        SUITE_CASE(test_activations_match_the_c_library),
        SUITE_CASE(test_gemm_with_few_rows_equals_the_direct_sum),
    };
    return suite_run("layer", cases, sizeof cases / sizeof cases[0], argc, argv);
}
