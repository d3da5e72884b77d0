/* test_layer_lstm.c - the recurrent layer against its equations and differences. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/network/layer.h"

#include <math.h>
#include <string.h>

#include "tests/support/gradient.h"
#include "tests/support/suite.h"

#define INPUTS ((size_t)3)
#define UNITS  ((size_t)4)
#define STEPS  ((size_t)5)
#define BATCH  ((size_t)2)
#define ROWS   (STEPS * BATCH)
#define ROOM   512

static const struct fulcrum_lstm layer = {
    .input_count = INPUTS, .unit_count = UNITS, .offset = 2};

struct bench {
    struct fulcrum_pass pass;
    struct fulcrum_lstm_trace trace;
    float parameters[ROOM];
    float gradients[ROOM];
    float input[ROWS * INPUTS];
    float input_gradient[ROWS * INPUTS];
    float gates[ROWS * 4 * UNITS];
    float cell[(ROWS + BATCH) * UNITS];
    float cell_tanh[ROWS * UNITS];
    float hidden[(ROWS + BATCH) * UNITS];
    float weights[ROWS * UNITS]; /* of the outputs in the loss */
};

/* The state before the first step is random: it is not zero after a burn-in. */
static void bench_fill(struct bench *bench)
{
    memset(bench, 0, sizeof *bench);
    gradient_fill(bench->parameters, ROOM, 1);
    gradient_fill(bench->input, ROWS * INPUTS, 2);
    gradient_fill(bench->weights, ROWS * UNITS, 3);
    gradient_fill(bench->cell, BATCH * UNITS, 4);
    gradient_fill(bench->hidden, BATCH * UNITS, 5);
    bench->pass = (struct fulcrum_pass){.parameters = bench->parameters,
        .row_count = ROWS,
        .input = bench->input,
        .gradients = bench->gradients,
        .input_gradient = bench->input_gradient};
    bench->trace = (struct fulcrum_lstm_trace){.step_count = STEPS,
        .batch_count = BATCH,
        .gates = bench->gates,
        .cell = bench->cell,
        .cell_tanh = bench->cell_tanh,
        .hidden = bench->hidden};
}

static double bench_loss(void *context)
{
    struct bench *bench = context;
    fulcrum_lstm_forward(&layer, &bench->pass, &bench->trace);
    return gradient_dot(
        bench->weights, bench->hidden + BATCH * UNITS, bench->pass.row_count * UNITS);
}

static void bench_backward(struct bench *bench)
{
    float hidden[ROWS * UNITS];
    float gates[ROWS * 4 * UNITS];
    float cell[BATCH * UNITS];
    float recurrent[BATCH * UNITS];
    struct fulcrum_lstm_gradients gradients = {
        .hidden = hidden, .gates = gates, .cell = cell, .recurrent = recurrent};
    memcpy(hidden, bench->weights, sizeof hidden);
    (void)bench_loss(bench);
    fulcrum_lstm_backward(&layer, &bench->pass, &bench->trace, &gradients);
}

/* All steps, and a loss that ends before the trace does. */
static void test_gradient_matches_differences(void)
{
    for (size_t steps = STEPS - 1; steps <= STEPS; steps++) {
        static struct bench bench;
        bench_fill(&bench);
        bench.pass.row_count = steps * BATCH;
        bench_backward(&bench);
        struct gradient_check of_parameters = {.what = "parameters",
            .values = bench.parameters + layer.offset,
            .gradients = bench.gradients + layer.offset,
            .count = fulcrum_lstm_parameter_count(&layer),
            .loss = bench_loss,
            .context = &bench};
        gradient_assert(&of_parameters);
        struct gradient_check of_input = {.what = "input",
            .values = bench.input,
            .gradients = bench.input_gradient,
            .count = steps * BATCH * INPUTS,
            .loss = bench_loss,
            .context = &bench};
        gradient_assert(&of_input);
    }
}

static double sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

/* One unit, one input, two steps, from the equations with the C library's functions. */
static void test_two_steps_of_one_unit_follow_the_equations(void)
{
    const struct fulcrum_lstm one = {.input_count = 1, .unit_count = 1};
    /* Per gate: input, forget, candidate, output. */
    const float parameters[] = {0.5F, -0.25F, 1.0F, 0.75F, /* of the input */
        0.3F, 0.6F, -0.8F, 0.1F,                           /* of the hidden state */
        0.1F, 1.0F, -0.2F, 0.05F};                         /* biases */
    const float input[] = {1.0F, -2.0F};
    float gates[8];
    float cell[3] = {0.4F, 0.0F, 0.0F};
    float hidden[3] = {-0.2F, 0.0F, 0.0F};
    float cell_tanh[2];
    struct fulcrum_pass pass = {
        .parameters = parameters, .row_count = 2, .input = input};
    struct fulcrum_lstm_trace trace = {.step_count = 2,
        .batch_count = 1,
        .gates = gates,
        .cell = cell,
        .cell_tanh = cell_tanh,
        .hidden = hidden};
    fulcrum_lstm_forward(&one, &pass, &trace);
    double c = (double)cell[0];
    double h = (double)hidden[0];
    for (size_t step = 0; step < 2; step++) {
        double sums[4];
        for (size_t i = 0; i < 4; i++) {
            sums[i] = (double)parameters[i] * (double)input[step] +
                      (double)parameters[4 + i] * h + (double)parameters[8 + i];
        }
        c = sigmoid(sums[1]) * c + sigmoid(sums[0]) * tanh(sums[2]);
        h = sigmoid(sums[3]) * tanh(c);
        CU_ASSERT_DOUBLE_EQUAL((double)cell[step + 1], c, 1e-6);
        CU_ASSERT_DOUBLE_EQUAL((double)hidden[step + 1], h, 1e-6);
    }
}

/* Two calls that hand the state on are one call over all steps. */
static void test_sequence_may_be_cut_where_the_state_is_kept(void)
{
    const size_t first_steps = 2;
    static struct bench whole;
    static struct bench part;
    bench_fill(&whole);
    bench_fill(&part);
    (void)bench_loss(&whole);
    part.trace.step_count = first_steps;
    (void)bench_loss(&part);
    memmove(part.cell, part.cell + first_steps * BATCH * UNITS,
        BATCH * UNITS * sizeof(float));
    memmove(part.hidden, part.hidden + first_steps * BATCH * UNITS,
        BATCH * UNITS * sizeof(float));
    part.pass.input = part.input + first_steps * BATCH * INPUTS;
    part.trace.step_count = STEPS - first_steps;
    (void)bench_loss(&part);
    for (size_t i = 0; i < BATCH * UNITS; i++) {
        double expected = (double)whole.hidden[ROWS * UNITS + i];
        double actual = (double)part.hidden[(STEPS - first_steps) * BATCH * UNITS + i];
        CU_ASSERT_DOUBLE_EQUAL(actual, expected, 1e-6);
    }
}

static void test_init_opens_the_forget_gates(void)
{
    float parameters[ROOM] = {0.0F};
    struct fulcrum_random random = fulcrum_random_seeded(1);
    fulcrum_lstm_init(&layer, parameters, &random);
    size_t end = layer.offset + fulcrum_lstm_parameter_count(&layer);
    for (size_t i = 0; i < 4 * UNITS; i++) {
        double bias = (double)parameters[end - 4 * UNITS + i];
        CU_ASSERT_DOUBLE_EQUAL(bias, i / UNITS == 1 ? 1.0 : 0.0, 0.0);
    }
    CU_ASSERT_TRUE(parameters[layer.offset] != 0.0F);
    CU_ASSERT_TRUE(parameters[end - 4 * UNITS - 1] != 0.0F);
    CU_ASSERT_TRUE(parameters[end] == 0.0F);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_gradient_matches_differences),
        SUITE_CASE(test_two_steps_of_one_unit_follow_the_equations),
        SUITE_CASE(test_sequence_may_be_cut_where_the_state_is_kept),
        SUITE_CASE(test_init_opens_the_forget_gates),
    };
    return suite_run("layer_lstm", cases, sizeof cases / sizeof cases[0], argc, argv);
}
