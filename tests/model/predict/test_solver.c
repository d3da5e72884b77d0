/* test_solver.c - the method that runs, and what is said about its result. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/predict/solver.h"

#include <stdbool.h>
#include <string.h>

#include "tests/support/suite.h"

static struct fulcrum_network greedy(void)
{
    return (struct fulcrum_network){.name = "greedy",
        .actors = 64,
        .cpu = {.core_count = 16, .thread_count = 16},
        .step = {1.0, 1.0, FULCRUM_LAW_EXPONENTIAL},
        .gpu = {.per_batch_s = 0.3, .per_item_s = 0.001},
        .depth = 1};
}

static struct fulcrum_solution solved(
    const struct fulcrum_network *network, enum fulcrum_method method)
{
    struct fulcrum_solver_options options = {.method = method, .seed = 5};
    struct fulcrum_solution out = {.steps_per_s = 0.0};
    ASSERT_OK(fulcrum_network_check(network, NULL));
    ASSERT_OK(fulcrum_solve(network, &options, &out, NULL));
    return out;
}

TEST(test_auto_is_fast_where_that_is_accurate_enough)
{
    struct fulcrum_network network = greedy();
    struct fulcrum_solution quick = solved(&network, FULCRUM_METHOD_AUTO);
    CU_ASSERT_EQUAL(quick.method, FULCRUM_METHOD_FAST);
    CU_ASSERT_EQUAL(quick.simulated_steps, 0.0);
    struct fulcrum_solution slow = solved(&network, FULCRUM_METHOD_SIMULATE);
    CU_ASSERT_EQUAL(slow.method, FULCRUM_METHOD_SIMULATE);
    CU_ASSERT(slow.has_interval && slow.simulated_steps > 0.0);
    assert_close("methods", quick.steps_per_s, slow.steps_per_s, 0.03);
    /* Steps that hardly vary: the equations answer, but say that they may be far off.
     */
    network.step = (struct fulcrum_step){1.0, 0.1, FULCRUM_LAW_LOGNORMAL};
    network.cpu.core_count = 64;
    network.cpu.thread_count = 64;
    struct fulcrum_solution risky = solved(&network, FULCRUM_METHOD_FAST);
    CU_ASSERT((risky.flags & FULCRUM_FLAG_LOW_CV) != 0U);
    CU_ASSERT(risky.error_rel > quick.error_rel);
    CU_ASSERT_EQUAL(
        solved(&network, FULCRUM_METHOD_AUTO).method, FULCRUM_METHOD_SIMULATE);
    struct fulcrum_solver_options rough = {
        .method = FULCRUM_METHOD_AUTO, .half_width_rel = risky.error_rel};
    struct fulcrum_solution out = {.steps_per_s = 0.0};
    ASSERT_OK(fulcrum_solve(&network, &rough, &out, NULL));
    CU_ASSERT_EQUAL(out.method, FULCRUM_METHOD_FAST);
    rough.half_width_rel = 0.5 * quick.error_rel;
    network = greedy();
    ASSERT_OK(fulcrum_solve(&network, &rough, &out, NULL));
    CU_ASSERT_EQUAL(out.method, FULCRUM_METHOD_SIMULATE);
}

/* Enough actors keep the CPU full, whatever the batches do: all methods agree. */
TEST(test_each_method_runs_and_says_so)
{
    static const enum fulcrum_method methods[] = {FULCRUM_METHOD_FAST,
        FULCRUM_METHOD_CHAIN, FULCRUM_METHOD_PRODUCT_FORM, FULCRUM_METHOD_SIMULATE};
    struct fulcrum_network network = greedy();
    for (size_t i = 0; i < LENGTH(methods); i++) {
        struct fulcrum_solution out = solved(&network, methods[i]);
        CU_ASSERT_EQUAL(out.method, methods[i]);
        CU_ASSERT_EQUAL(out.bottleneck, FULCRUM_BOUND_CPU);
        assert_close(fulcrum_method_name(methods[i]), out.steps_per_s, 16.0, 0.02);
        bool is_textbook = methods[i] == FULCRUM_METHOD_PRODUCT_FORM;
        CU_ASSERT_EQUAL((out.flags & FULCRUM_FLAG_TEXTBOOK) != 0U, is_textbook);
    }
}

TEST(test_a_method_says_why_it_cannot)
{
    struct fulcrum_network network = greedy();
    network.training = (struct fulcrum_training){100, 1.0, 1.0, 1.0};
    struct fulcrum_solver_options options = {.method = FULCRUM_METHOD_CHAIN};
    struct fulcrum_solution out = {.steps_per_s = -1.0};
    ASSERT_FAILS(fulcrum_solve(&network, &options, &out, &err), FULCRUM_ERR_UNSUPPORTED,
        "train");
    CU_ASSERT_EQUAL(out.steps_per_s, -1.0);
}

TEST(test_bottleneck_is_the_busiest_station_that_is_busy)
{
    struct fulcrum_network network = greedy();
    CU_ASSERT_EQUAL(
        solved(&network, FULCRUM_METHOD_SIMULATE).bottleneck, FULCRUM_BOUND_CPU);
    network.gpu.per_batch_s = 30.0;
    CU_ASSERT_EQUAL(
        solved(&network, FULCRUM_METHOD_SIMULATE).bottleneck, FULCRUM_BOUND_GPU);
    network.gpu.per_batch_s = 0.1;
    network.host.per_batch_s = 30.0;
    CU_ASSERT_EQUAL(
        solved(&network, FULCRUM_METHOD_SIMULATE).bottleneck, FULCRUM_BOUND_HOST);
    network = greedy();
    network.delay_s = 1000.0;
    CU_ASSERT_EQUAL(
        solved(&network, FULCRUM_METHOD_SIMULATE).bottleneck, FULCRUM_BOUND_LATENCY);
}

TEST(test_use_beyond_a_table_is_flagged)
{
    static const double size[] = {2.0, 8.0};
    static const double time_s[] = {0.3, 0.301};
    struct fulcrum_network network = greedy();
    CU_ASSERT_EQUAL(solved(&network, FULCRUM_METHOD_AUTO).flags, 0);
    network.gpu.size = size;
    network.gpu.time_s = time_s;
    network.gpu.count = 2;
    CU_ASSERT_EQUAL(solved(&network, FULCRUM_METHOD_AUTO).flags, 0);
    network.gpu.count = 1;
    CU_ASSERT_EQUAL(
        solved(&network, FULCRUM_METHOD_AUTO).flags, FULCRUM_FLAG_BEYOND_TABLE);
    network = greedy();
    static const double capacity[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9, 9, 9, 9, 9};
    network.cpu.curve = FULCRUM_CURVE_TABLE;
    network.cpu.capacity = capacity;
    network.cpu.capacity_count = 16;
    CU_ASSERT_EQUAL(solved(&network, FULCRUM_METHOD_AUTO).flags, 0);
    network.cpu.capacity_count = 15;
    CU_ASSERT_EQUAL(
        solved(&network, FULCRUM_METHOD_AUTO).flags, FULCRUM_FLAG_BEYOND_TABLE);
}

TEST(test_names_end_where_the_choices_end)
{
    CU_ASSERT_STRING_EQUAL(fulcrum_method_name(FULCRUM_METHOD_AUTO), "auto");
    CU_ASSERT_STRING_EQUAL(fulcrum_method_name(FULCRUM_METHOD_SIMULATE), "simulate");
    CU_ASSERT_PTR_NULL(fulcrum_method_name(FULCRUM_METHOD_SIMULATE + 1));
    CU_ASSERT_STRING_EQUAL(fulcrum_bottleneck_name(FULCRUM_BOUND_LATENCY), "latency");
    CU_ASSERT_PTR_NULL(fulcrum_bottleneck_name((enum fulcrum_bottleneck)5));
    const char *low_cv = fulcrum_flag_text(FULCRUM_FLAG_LOW_CV_INDEX);
    CU_ASSERT(strstr(low_cv, "lock into step") != NULL);
    CU_ASSERT_PTR_NULL(fulcrum_flag_text(FULCRUM_FLAG_COUNT));
}
