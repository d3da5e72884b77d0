/* test_learner.c - every learner of the table, as its users call it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* dladdr */
#include "calibrate/device/learner.h"

#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/statistics.h"
#include "tests/support/suite.h"

static const struct fulcrum_learner_options small_r2d2 = {
    .network = FULCRUM_NETWORK_R2D2,
    .max_batch = 3,
    .action_count = 18,
    .train_batch = 2,
    .train_unroll = 2,
    .train_burn_in = 1,
    .seed = 7,
};

static const struct fulcrum_learner_options small_mlp = {
    .network = FULCRUM_NETWORK_MLP,
    .max_batch = 3,
    .input_count = 376,
    .action_count = 17,
    .train_batch = 8,
    .seed = 7,
};

static const struct fulcrum_learner *const cpu = &fulcrum_learner_cpu;

static const struct fulcrum_learner_options *const small[] = {&small_r2d2, &small_mlp};

/* NULL where this learner is not available here, which is no failure. */
static struct fulcrum_learner_state *open_here(const struct fulcrum_learner *learner,
    const struct fulcrum_learner_options *options, struct fulcrum_learner_info *info)
{
    struct fulcrum_error err = {FULCRUM_OK, ""};
    struct fulcrum_learner_state *state = NULL;
    enum fulcrum_status status = learner->open(options, &state, info, &err);
    if (status == FULCRUM_ERR_UNSUPPORTED) {
        CU_ASSERT_PTR_NULL(state);
        CU_ASSERT_TRUE(strlen(err.detail) > 20);
        return NULL;
    }
    ASSERT_OK(status);
    return state;
}

/* Runs a case with every learner and both networks. */
static void learners_run(void (*run)(const struct fulcrum_learner *learner,
    const struct fulcrum_learner_options *options))
{
    for (const struct fulcrum_learner *const *at = fulcrum_learners(); *at; at++) {
        /* Those that work elsewhere have a test of their own: learner_torch. */
        for (size_t i = 0; i < LENGTH(small) && (*at)->time == NULL; i++) {
            run(*at, small[i]);
        }
    }
}

#define LEARNER_TEST(function)                                                         \
    TEST_EACH(function, learners_run, const struct fulcrum_learner *learner,           \
        const struct fulcrum_learner_options *options)

LEARNER_TEST(test_every_learner_infers_and_trains_both_networks)
{
    CU_ASSERT_TRUE(strlen(learner->summary) > 0);
    struct fulcrum_learner_info info;
    struct fulcrum_learner_state *state = open_here(learner, options, &info);
    if (state == NULL) {
        return;
    }
    int action[3] = {-1, -1, -1};
    double loss = NAN;
    memset(learner->input(state), 1, options->max_batch * info.input_byte);
    ASSERT_OK(learner->forward(state, 2, action, NULL));
    CU_ASSERT_TRUE(action[0] >= 0 && action[0] < (int)options->action_count);
    CU_ASSERT_TRUE(action[1] >= 0 && action[1] < (int)options->action_count);
    CU_ASSERT_EQUAL(action[2], -1);
    ASSERT_OK(learner->forward(state, 3, action, NULL));
    CU_ASSERT_TRUE(action[2] >= 0 && action[2] < (int)options->action_count);
    ASSERT_OK(learner->train(state, &loss, NULL));
    ASSERT_OK(learner->train(state, &loss, NULL));
    CU_ASSERT_TRUE(isfinite(loss));
    CU_ASSERT_TRUE(info.cost.buffer_byte > info.cost.parameter_count * sizeof(float));
    CU_ASSERT_TRUE(strlen(info.device.detail) > 0);
    learner->close(state);
}

/* Training takes them for zero; whoever calls it computes as before. */
TEST(test_training_leaves_the_smallest_numbers_to_others)
{
    struct fulcrum_learner_info info;
    struct fulcrum_learner_state *state = open_here(cpu, &small_mlp, &info);
    if (state == NULL) {
        return;
    }
    double loss = 0.0;
    volatile float tiny = 1e-38F;
    ASSERT_OK(cpu->train(state, &loss, NULL));
    CU_ASSERT(tiny * 0.01F > 0.0F);
    cpu->close(state);
}

static double loss_after(const struct fulcrum_learner *learner,
    const struct fulcrum_learner_options *options, size_t step_count)
{
    struct fulcrum_learner_info info;
    struct fulcrum_learner_state *state = open_here(learner, options, &info);
    double loss = 0.0;
    if (state == NULL) {
        return loss;
    }
    for (size_t i = 0; i < step_count; i++) {
        ASSERT_OK(learner->train(state, &loss, NULL));
    }
    learner->close(state);
    return loss;
}

TEST(test_same_seed_gives_the_same_losses)
{
    for (size_t i = 0; i < LENGTH(small); i++) {
        struct fulcrum_learner_options other = *small[i];
        other.seed = 8;
        double loss = loss_after(cpu, small[i], 3);
        double different = loss_after(cpu, &other, 3);
        CU_ASSERT_TRUE(loss == loss_after(cpu, small[i], 3));
        CU_ASSERT_TRUE(loss == 0.0 || fabs(loss - different) > 1e-9);
    }
}

/* What a state was given, and what one training step made of it. */
struct trained {
    double loss;
    float *weights; /* owned */
    size_t weight_count;
};

/* Rows that follow from the seed; what a network has no use for is NULL. */
static void fill_rows(const struct fulcrum_train_rows *rows,
    const struct fulcrum_learner_options *options, size_t input_byte, uint64_t seed)
{
    struct fulcrum_random random = fulcrum_random_seeded(seed);
    size_t count = rows->batch_count * rows->step_count;
    float *floats = (float *)(void *)rows->observation;
    bool is_bytes = options->network == FULCRUM_NETWORK_R2D2;
    for (size_t i = 0; is_bytes && i < count * input_byte; i++) {
        rows->observation[i] = (unsigned char)(fulcrum_random_bits(&random) & 255U);
    }
    for (size_t i = 0; !is_bytes && i < count * options->input_count; i++) {
        floats[i] = (float)fulcrum_random_between(&random, -1.0, 1.0);
    }
    for (size_t i = 0; rows->index != NULL && i < count + rows->batch_count; i++) {
        rows->index[i] = (int)(fulcrum_random_bits(&random) % options->action_count);
    }
    for (size_t i = 0; rows->action != NULL && i < count * rows->action_count; i++) {
        rows->action[i] = (float)fulcrum_random_between(&random, -1.0, 1.0);
    }
    for (size_t i = 0; rows->log_probability != NULL && i < count; i++) {
        rows->log_probability[i] = -(float)options->action_count;
    }
}

/* One step on rows of a seed; 0: on the learner's own. */
static struct trained train_on(const struct fulcrum_learner *learner,
    const struct fulcrum_learner_options *options, uint64_t seed)
{
    struct fulcrum_learner_info info;
    struct fulcrum_learner_state *state = open_here(learner, options, &info);
    struct trained trained = {.loss = NAN};
    if (state == NULL) {
        return trained;
    }
    trained.weight_count = info.cost.parameter_count;
    trained.weights = calloc(info.cost.parameter_count, sizeof *trained.weights);
    if (trained.weights == NULL) {
        abort();
    }
    struct fulcrum_train_rows rows = {.batch_count = 0};
    if (seed != 0) {
        ASSERT_OK(learner->train_rows(state, &rows, NULL));
        fill_rows(&rows, options, info.input_byte, seed);
        ASSERT_OK(learner->take_rows(state, NULL));
    }
    ASSERT_OK(learner->train(state, &trained.loss, NULL));
    ASSERT_OK(learner->read_weights(state, trained.weights, NULL));
    learner->close(state);
    return trained;
}

static double largest_difference(
    const struct trained *first, const struct trained *second)
{
    double largest = 0.0;
    for (size_t i = 0; i < first->weight_count; i++) {
        double difference = (double)first->weights[i] - (double)second->weights[i];
        largest = fmax(largest, fabs(difference));
    }
    return largest;
}

/* Loss and weights follow from the rows, and from nothing that was there before. */
LEARNER_TEST(test_every_learner_trains_on_the_rows_it_is_given)
{
    struct trained own = train_on(learner, options, 0);
    struct trained first = train_on(learner, options, 41);
    struct trained again = train_on(learner, options, 41);
    struct trained other = train_on(learner, options, 42);
    if (own.weights != NULL) {
        CU_ASSERT(isfinite(first.loss) && isfinite(other.loss));
        assert_close("same rows", again.loss, first.loss, 1e-6);
        CU_ASSERT(largest_difference(&first, &again) < 1e-6);
        CU_ASSERT(fabs(first.loss - other.loss) > 1e-5 * fabs(first.loss));
        CU_ASSERT(fabs(first.loss - own.loss) > 1e-5 * fabs(first.loss));
        CU_ASSERT(largest_difference(&first, &other) > 1e-5);
        CU_ASSERT(largest_difference(&first, &own) > 1e-5);
    }
    free(own.weights);
    free(first.weights);
    free(again.weights);
    free(other.weights);
}

/* Rectifiers take what is not a number for zero, so that the loss may be one; but the
 * gradient of the weights behind that input is a product with it. */
TEST(test_a_row_that_is_not_a_number_spoils_the_weights)
{
    for (const struct fulcrum_learner *const *at = fulcrum_learners(); *at; at++) {
        struct fulcrum_learner_info info;
        struct fulcrum_train_rows rows;
        struct fulcrum_learner_state *state =
            (*at)->time == NULL ? open_here(*at, &small_mlp, &info) : NULL;
        double loss = 0.0;
        if (state == NULL) {
            continue;
        }
        float *weights = calloc(info.cost.parameter_count, sizeof *weights);
        if (weights == NULL) {
            abort();
        }
        ASSERT_OK((*at)->train_rows(state, &rows, NULL));
        fill_rows(&rows, &small_mlp, info.input_byte, 44);
        ((float *)(void *)rows.observation)[5 * small_mlp.input_count + 3] = NAN;
        ASSERT_OK((*at)->take_rows(state, NULL));
        ASSERT_OK((*at)->train(state, &loss, NULL));
        ASSERT_OK((*at)->read_weights(state, weights, NULL));
        size_t spoilt = 0;
        for (size_t i = 0; i < info.cost.parameter_count; i++) {
            spoilt += isnan(weights[i]) ? 1 : 0;
        }
        CU_ASSERT_EQUAL(spoilt, 256); /* one for each unit of the first layer */
        free(weights);
        (*at)->close(state);
    }
}

/* Some batches of what a state infers, one after the other. */
enum { INFERRED = 60 };
static void infer(const struct fulcrum_learner *learner,
    struct fulcrum_learner_state *state, const struct fulcrum_learner_options *options,
    size_t input_byte, int *action)
{
    struct fulcrum_train_rows input = {.batch_count = options->max_batch,
        .step_count = 1,
        .observation = learner->input(state)};
    for (size_t i = 0; i < INFERRED; i += options->max_batch) {
        fill_rows(&input, options, input_byte, 100 + i);
        ASSERT_OK(learner->forward(state, options->max_batch, action + i, NULL));
    }
}

/* Weights that one state trained, in a state that began with others. */
LEARNER_TEST(test_trained_weights_infer_alike_in_another_state)
{
    struct fulcrum_learner_info info;
    struct fulcrum_learner_options other = *options;
    struct trained trained = train_on(learner, options, 45);
    if (trained.weights == NULL) {
        return;
    }
    other.seed = options->seed + 1;
    other.train_batch = 1; /* what it would train on is its own affair */
    struct fulcrum_learner_state *from = open_here(learner, options, &info);
    struct fulcrum_learner_state *to = open_here(learner, &other, &info);
    struct fulcrum_learner_state *unlike = open_here(learner, &other, &info);
    int expected[INFERRED];
    int actual[INFERRED];
    int different[INFERRED];
    ASSERT_OK(learner->write_weights(from, trained.weights, NULL));
    ASSERT_OK(learner->write_weights(to, trained.weights, NULL));
    infer(learner, from, options, info.input_byte, expected);
    infer(learner, to, options, info.input_byte, actual);
    infer(learner, unlike, options, info.input_byte, different);
    CU_ASSERT_EQUAL(memcmp(actual, expected, sizeof actual), 0);
    CU_ASSERT_NOT_EQUAL(memcmp(different, expected, sizeof different), 0);
    struct trained back = trained;
    back.weights = calloc(trained.weight_count, sizeof *back.weights);
    if (back.weights == NULL) {
        abort();
    }
    ASSERT_OK(learner->read_weights(to, back.weights, NULL));
    CU_ASSERT(!(largest_difference(&back, &trained) > 0.0));
    learner->close(from);
    learner->close(to);
    learner->close(unlike);
    free(back.weights);
    free(trained.weights);
}

/* One layout for all: rows and weights of the CPU's learner mean the same elsewhere. */
LEARNER_TEST(test_rows_and_weights_mean_the_same_on_every_learner)
{
    struct trained here = train_on(cpu, options, 46);
    struct trained there = train_on(learner, options, 46);
    if (here.weights != NULL && there.weights != NULL) {
        CU_ASSERT_EQUAL(there.weight_count, here.weight_count);
        assert_close("loss", there.loss, here.loss, 1e-4);
        /* Adam's first step is a rate of at most 3e-4, where a gradient is rounding in
         * either direction. */
        CU_ASSERT(largest_difference(&here, &there) < 2.0 * 3.1e-4);
        double apart = 0.0;
        for (size_t i = 0; i < here.weight_count; i++) {
            apart += fabs((double)here.weights[i] - (double)there.weights[i]);
        }
        CU_ASSERT(apart / (double)here.weight_count < 1e-6);
    }
    free(here.weights);
    free(there.weights);
}

TEST(test_counts_are_those_of_the_networks)
{
    struct fulcrum_learner_info info;
    struct fulcrum_learner_state *state = open_here(cpu, &small_r2d2, &info);
    if (state == NULL) {
        return;
    }
    cpu->close(state);
    /* By hand: three convolutions, dense, LSTM with 1 + 18 extra inputs, two heads. */
    double before = 3276800.0 + 2654208.0 + 1806336.0 + 1605632.0 + 1043.0 * 2048.0;
    double all = before + 2.0 * 512.0 * 512.0 + 512.0 + 512.0 * 18.0;
    double trained = 2.0 * (before + 3.0 * all) + 2.0 * (2.0 * all - 3276800.0);
    assert_close("forward", info.cost.forward_flop, 2.0 * all, 0.0);
    assert_close("train", info.cost.train_step_flop, 2.0 * 2.0 * trained, 0.0);
    CU_ASSERT_EQUAL(info.input_byte, 28224);
    CU_ASSERT_EQUAL(info.cost.parameter_count, 4357299);
    state = open_here(cpu, &small_mlp, &info);
    CU_ASSERT_PTR_NOT_NULL_FATAL(state);
    cpu->close(state);
    double hidden = 2.0 * 256.0 * 256.0 + 256.0 * 18.0;
    assert_close(
        "forward", info.cost.forward_flop, 2.0 * (376.0 * 256.0 + hidden), 0.0);
    assert_close("train", info.cost.train_step_flop,
        2.0 * 8.0 * (2.0 * 376.0 * 256.0 + 3.0 * hidden), 0.0);
    CU_ASSERT_EQUAL(info.input_byte, 376 * sizeof(float));
}

TEST(test_backend_names_what_may_change_its_speed)
{
    struct fulcrum_learner_info info;
    CU_ASSERT_EQUAL(setenv("OPENBLAS_CORETYPE", "Haswell", 1), 0);
    struct fulcrum_learner_state *state = open_here(cpu, &small_mlp, &info);
    CU_ASSERT_EQUAL(unsetenv("OPENBLAS_CORETYPE"), 0);
    if (state == NULL) {
        return;
    }
    cpu->close(state);
    CU_ASSERT_PTR_NOT_NULL(strstr(info.device.detail, "OpenBLAS"));
    CU_ASSERT_PTR_NOT_NULL(strstr(info.device.detail, "1 thread"));
    CU_ASSERT_PTR_NOT_NULL(strstr(info.device.detail, "OPENBLAS_CORETYPE=Haswell"));
}

/* OpenBLAS 0.3.21 takes processors newer than itself for one of 2004. */
TEST(test_a_processor_that_openblas_does_not_know_is_told)
{
    struct fulcrum_learner_info info;
    struct fulcrum_learner_state *state = open_here(cpu, &small_mlp, &info);
    if (state == NULL) {
        return;
    }
    cpu->close(state);
    bool is_slow = false;
#if defined(__x86_64__)
    is_slow = strstr(info.device.detail, "kernels Prescott") != NULL &&
              __builtin_cpu_supports("avx2");
#endif
    CU_ASSERT_EQUAL(info.device.warning != NULL, is_slow);
    if (info.device.warning != NULL) {
        CU_ASSERT_PTR_NOT_NULL(strstr(info.device.warning, "OPENBLAS_CORETYPE="));
    }
}

/* GSL brings functions of the same names, which are many times slower. */
TEST(test_products_are_those_of_openblas)
{
    struct fulcrum_learner_info info;
    struct fulcrum_learner_state *state = open_here(cpu, &small_mlp, &info);
    const void *product = dlsym(RTLD_DEFAULT, "cblas_sgemm");
    Dl_info library = {.dli_fname = NULL};
    /* Not found: no BLAS, or one that is part of the program. */
    if (state != NULL && product != NULL && dladdr(product, &library) != 0) {
        CU_ASSERT_PTR_NOT_NULL(strstr(library.dli_fname, "openblas"));
    }
    if (state != NULL) {
        cpu->close(state);
    }
}

struct refused {
    const char *named; /* in the detail */
    struct fulcrum_learner_options options;
};

TEST(test_options_outside_their_range_are_refused)
{
    const size_t huge = (size_t)1 << 40;
    struct refused cases[] = {
        {"network r2d2: max_batch", small_r2d2},
        {"network mlp: max_batch", small_mlp},
        {"network r2d2: action_count", small_r2d2},
        {"network mlp: action_count", small_mlp},
        {"network r2d2: train_batch", small_r2d2},
        {"network mlp: train_batch", small_mlp},
        {"network r2d2: train_unroll", small_r2d2},
        {"network r2d2: train_burn_in", small_r2d2},
        {"network r2d2: train_batch x", small_r2d2},
        {"network mlp: input_count = 100800 is outside [1, 65536], the numbers of an "
         "observation; network r2d2 takes images",
            small_mlp},
        {"network mlp: input_count x train_batch", small_mlp},
        {"network mlp: input_count x max_batch", small_mlp},
        {"network", small_mlp},
    };
    cases[0].options.max_batch = 0;
    cases[1].options.max_batch = 4097;
    cases[2].options.action_count = 0;
    cases[3].options.action_count = 1025;
    cases[4].options.train_batch = huge;
    cases[5].options.train_batch = 0;
    cases[6].options.train_unroll = 0;
    cases[7].options.train_burn_in = huge;
    cases[8].options.train_batch = 1024;
    cases[8].options.train_unroll = 16;
    cases[9].options.input_count = 100800;
    cases[10].options.input_count = 65536;
    cases[10].options.train_batch = 4097;
    cases[11].options.input_count = 65536;
    cases[11].options.train_batch = 1;
    cases[11].options.max_batch = 4096;
    cases[12].options.network = (enum fulcrum_learner_network)9;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_error err = {FULCRUM_OK, ""};
        struct fulcrum_learner_state *state = NULL;
        struct fulcrum_learner_info info;
        enum fulcrum_status status = cpu->open(&cases[i].options, &state, &info, &err);
        CU_ASSERT_TRUE(
            status == FULCRUM_ERR_RANGE || status == FULCRUM_ERR_UNSUPPORTED);
        CU_ASSERT_PTR_NULL(state);
        CU_ASSERT_TRUE(
            status == FULCRUM_ERR_UNSUPPORTED ||
            strncmp(err.detail, cases[i].named, strlen(cases[i].named)) == 0);
    }
}

TEST(test_table_finds_its_names)
{
    CU_ASSERT_PTR_EQUAL(fulcrum_learner_find("cpu"), cpu);
    CU_ASSERT_PTR_EQUAL(fulcrum_learners()[0], cpu);
    CU_ASSERT_PTR_NULL(fulcrum_learner_find("abacus"));
    CU_ASSERT_STRING_EQUAL(fulcrum_learner_network_name(FULCRUM_NETWORK_R2D2), "r2d2");
    CU_ASSERT_STRING_EQUAL(fulcrum_learner_network_name(FULCRUM_NETWORK_MLP), "mlp");
    CU_ASSERT_PTR_NULL(fulcrum_learner_network_name((enum fulcrum_learner_network)2));
}
