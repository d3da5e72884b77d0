/* test_learner.c - every learner of the table, as its users call it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* dladdr */
#include "calibrate/learner.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suite.h"

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
    CU_ASSERT_EQUAL_FATAL(status, FULCRUM_OK);
    return state;
}

static void run_learner(const struct fulcrum_learner *learner,
    const struct fulcrum_learner_options *options)
{
    struct fulcrum_learner_info info;
    struct fulcrum_learner_state *state = open_here(learner, options, &info);
    if (state == NULL) {
        return;
    }
    int action[3] = {-1, -1, -1};
    double loss = NAN;
    memset(learner->input(state), 1, options->max_batch * info.input_byte);
    CU_ASSERT_EQUAL(learner->forward(state, 2, action, NULL), FULCRUM_OK);
    CU_ASSERT_TRUE(action[0] >= 0 && action[0] < (int)options->action_count);
    CU_ASSERT_TRUE(action[1] >= 0 && action[1] < (int)options->action_count);
    CU_ASSERT_EQUAL(action[2], -1);
    CU_ASSERT_EQUAL(learner->forward(state, 3, action, NULL), FULCRUM_OK);
    CU_ASSERT_TRUE(action[2] >= 0 && action[2] < (int)options->action_count);
    CU_ASSERT_EQUAL(learner->train(state, &loss, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(learner->train(state, &loss, NULL), FULCRUM_OK);
    CU_ASSERT_TRUE(isfinite(loss));
    CU_ASSERT_TRUE(info.buffer_byte > info.parameter_count * sizeof(float));
    CU_ASSERT_TRUE(strlen(info.backend) > 0);
    learner->close(state);
}

static void test_every_learner_infers_and_trains_both_networks(void)
{
    for (const struct fulcrum_learner *const *at = fulcrum_learners(); *at; at++) {
        CU_ASSERT_TRUE(strlen((*at)->summary) > 0);
        for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
            run_learner(*at, small[i]);
        }
    }
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
        CU_ASSERT_EQUAL(learner->train(state, &loss, NULL), FULCRUM_OK);
    }
    learner->close(state);
    return loss;
}

static void test_same_seed_gives_the_same_losses(void)
{
    const struct fulcrum_learner *cpu = fulcrum_learner_find("cpu");
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
        struct fulcrum_learner_options other = *small[i];
        other.seed = 8;
        double loss = loss_after(cpu, small[i], 3);
        double again = loss_after(cpu, small[i], 3);
        double different = loss_after(cpu, &other, 3);
        CU_ASSERT_TRUE(loss == again);
        CU_ASSERT_TRUE(loss == 0.0 || fabs(loss - different) > 1e-9);
    }
}

static void test_counts_are_those_of_the_networks(void)
{
    const struct fulcrum_learner *cpu = fulcrum_learner_find("cpu");
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
    suite_assert_close("forward", info.forward_flop, 2.0 * all, 0.0);
    suite_assert_close("train", info.train_step_flop, 2.0 * 2.0 * trained, 0.0);
    CU_ASSERT_EQUAL(info.input_byte, 28224);
    CU_ASSERT_EQUAL(info.parameter_count, 4357299);
    state = open_here(cpu, &small_mlp, &info);
    CU_ASSERT_PTR_NOT_NULL_FATAL(state);
    cpu->close(state);
    double hidden = 2.0 * 256.0 * 256.0 + 256.0 * 18.0;
    suite_assert_close(
        "forward", info.forward_flop, 2.0 * (376.0 * 256.0 + hidden), 0.0);
    suite_assert_close("train", info.train_step_flop,
        2.0 * 8.0 * (2.0 * 376.0 * 256.0 + 3.0 * hidden), 0.0);
    CU_ASSERT_EQUAL(info.input_byte, 376 * sizeof(float));
}

static void test_backend_names_what_may_change_its_speed(void)
{
    const struct fulcrum_learner *cpu = fulcrum_learner_find("cpu");
    struct fulcrum_learner_info info;
    CU_ASSERT_EQUAL(setenv("OPENBLAS_CORETYPE", "Haswell", 1), 0);
    struct fulcrum_learner_state *state = open_here(cpu, &small_mlp, &info);
    CU_ASSERT_EQUAL(unsetenv("OPENBLAS_CORETYPE"), 0);
    if (state == NULL) {
        return;
    }
    cpu->close(state);
    CU_ASSERT_PTR_NOT_NULL(strstr(info.backend, "OpenBLAS"));
    CU_ASSERT_PTR_NOT_NULL(strstr(info.backend, "1 thread"));
    CU_ASSERT_PTR_NOT_NULL(strstr(info.backend, "OPENBLAS_CORETYPE=Haswell"));
}

/* GSL brings functions of the same names, which are many times slower. */
static void test_products_are_those_of_openblas(void)
{
    const struct fulcrum_learner *cpu = fulcrum_learner_find("cpu");
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

static void test_options_outside_their_range_are_refused(void)
{
    const size_t huge = (size_t)1 << 40;
    struct refused cases[] = {
        {"max_batch", small_r2d2},
        {"max_batch", small_mlp},
        {"action_count", small_r2d2},
        {"action_count", small_mlp},
        {"train_batch", small_r2d2},
        {"train_batch", small_mlp},
        {"train_unroll", small_r2d2},
        {"train_burn_in", small_r2d2},
        {"train_batch x", small_r2d2},
        {"input_count", small_mlp},
        {"input_count x train_batch", small_mlp},
        {"input_count x max_batch", small_mlp},
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
    cases[9].options.input_count = 0;
    cases[10].options.input_count = 65536;
    cases[10].options.train_batch = 4097;
    cases[11].options.input_count = 65536;
    cases[11].options.train_batch = 1;
    cases[11].options.max_batch = 4096;
    cases[12].options.network = (enum fulcrum_learner_network)9;
    const struct fulcrum_learner *cpu = fulcrum_learner_find("cpu");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
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

static void test_table_finds_its_names(void)
{
    CU_ASSERT_PTR_EQUAL(fulcrum_learner_find("cpu"), fulcrum_learners()[0]);
    CU_ASSERT_PTR_NULL(fulcrum_learner_find("abacus"));
    CU_ASSERT_STRING_EQUAL(fulcrum_learner_network_name(FULCRUM_NETWORK_R2D2), "r2d2");
    CU_ASSERT_STRING_EQUAL(fulcrum_learner_network_name(FULCRUM_NETWORK_MLP), "mlp");
    CU_ASSERT_PTR_NULL(fulcrum_learner_network_name((enum fulcrum_learner_network)2));
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_every_learner_infers_and_trains_both_networks),
        SUITE_CASE(test_same_seed_gives_the_same_losses),
        SUITE_CASE(test_counts_are_those_of_the_networks),
        SUITE_CASE(test_backend_names_what_may_change_its_speed),
        SUITE_CASE(test_products_are_those_of_openblas),
        SUITE_CASE(test_options_outside_their_range_are_refused),
        SUITE_CASE(test_table_finds_its_names),
    };
    return suite_run("learner", cases, sizeof cases / sizeof cases[0], argc, argv);
}
