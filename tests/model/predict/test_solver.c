/* test_solver.c - the method that runs, and what is said about its result; who pays for
 * a server that waits, which has to be woken and goes cold. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/predict/solver.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "model/predict/to_network.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

static struct fulcrum_network greedy(void)
{
    return plain_network(64, 16, 0.3, 0.001);
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
    /* Steps that hardly vary: the equations answer, but may be far off, and say so. */
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
    CU_ASSERT_PTR_NULL(fulcrum_bottleneck_name((enum fulcrum_bottleneck)6));
    const char *low_cv = fulcrum_flag_text(FULCRUM_FLAG_LOW_CV_INDEX);
    CU_ASSERT(strstr(low_cv, "lock into step") != NULL);
    CU_ASSERT_PTR_NULL(fulcrum_flag_text(FULCRUM_FLAG_COUNT));
}

#define STEP_S  1e-4
#define HOST_S  4e-6
#define GPU_S   2e-5
#define ITEM_S  2e-6
#define DELAY_S 3e-6
#define WAKE_S  1.5e-5

static const struct fulcrum_solver_options fast = {.method = FULCRUM_METHOD_FAST};

/* Cores enough, and a server that takes 26 us for one request. */
static struct fulcrum_replicas replicas_of(double actors)
{
    return (struct fulcrum_replicas){
        .network = {.actors = actors,
            .cpu = {.core_count = 64.0, .thread_count = 64.0},
            .step = {.mean_s = STEP_S, .cv = 0.3, .law = FULCRUM_LAW_LOGNORMAL},
            .host = {.per_batch_s = HOST_S},
            .gpu = {.per_batch_s = GPU_S, .per_item_s = ITEM_S},
            .depth = 1.0,
            .delay_s = DELAY_S},
        .count = 1.0,
        .steps_per_request = 1.0,
        .wake_s = WAKE_S};
}

static struct fulcrum_solution solve(struct fulcrum_replicas replicas)
{
    struct fulcrum_solution solution = {.steps_per_s = 0.0};
    ASSERT_OK(fulcrum_solve_pausing(&replicas, &fast, &solution, NULL));
    return solution;
}

/* The same with every request lengthened by `more_s`, and no waking. */
static double lengthened_rate(struct fulcrum_replicas replicas, double more_s)
{
    struct fulcrum_solution solution = {.steps_per_s = 0.0};
    replicas.network.step = fulcrum_step_lengthened(replicas.network.step, more_s);
    ASSERT_OK(fulcrum_solve(&replicas.network, &fast, &solution, NULL));
    return solution.steps_per_s;
}

/* A lone actor finds the server asleep every time: everything adds up. */
TEST(test_a_lone_actor_pays_every_wake_up)
{
    static const double wakes_s[] = {0.0, 1e-6, 1.5e-5, 1e-3};
    for (size_t i = 0; i < LENGTH(wakes_s); i++) {
        struct fulcrum_replicas one = replicas_of(1.0);
        one.wake_s = wakes_s[i];
        double cycle_s = STEP_S + wakes_s[i] + HOST_S + GPU_S + ITEM_S + DELAY_S;
        assert_close("X(1)", solve(one).steps_per_s, 1.0 / cycle_s, 1e-9);
    }
}

/* Neither the law of steps nor the batching rule changes that. */
TEST(test_a_lone_actor_pays_whatever_the_law)
{
    static const enum fulcrum_step_law laws[] = {
        FULCRUM_LAW_DETERMINISTIC, FULCRUM_LAW_EXPONENTIAL, FULCRUM_LAW_LOGNORMAL};
    static const double cvs[] = {0.0, 1.0, 0.8};
    double cycle_s = STEP_S + WAKE_S + HOST_S + GPU_S + ITEM_S + DELAY_S;
    for (size_t i = 0; i < LENGTH(laws); i++) {
        struct fulcrum_replicas one = replicas_of(1.0);
        one.network.step = (struct fulcrum_step){STEP_S, cvs[i], laws[i]};
        one.network.policy = i == 1 ? FULCRUM_BATCH_FIXED : FULCRUM_BATCH_GREEDY;
        one.network.batch_size = i == 1 ? 1.0 : 0.0;
        assert_close("X(1)", solve(one).steps_per_s, 1.0 / cycle_s, 1e-9);
    }
}

/* A server that never waits is never woken. */
TEST(test_a_saturated_server_costs_nobody_a_wake_up)
{
    struct fulcrum_replicas many = replicas_of(60.0);
    many.network.gpu = (struct fulcrum_batch_time){.per_item_s = 1e-4};
    double without = lengthened_rate(many, 0.0);
    struct fulcrum_solution with = solve(many);
    assert_close("saturated", with.steps_per_s, without, 1e-3);
    /* Every request paying for itself would show, were it not for the server. */
    many.network.gpu.per_item_s = 1e-7;
    CU_ASSERT(lengthened_rate(many, WAKE_S) < 0.95 * lengthened_rate(many, 0.0));
}

/* A server that waits for B requests is woken by the last of them. (With B = 1 and many
 * actors it does not always wait.) */
TEST(test_a_fixed_batch_shares_one_wake_up)
{
    static const double sizes[] = {2.0, 4.0, 8.0};
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        struct fulcrum_replicas fixed = replicas_of(8.0);
        fixed.network.policy = FULCRUM_BATCH_FIXED;
        fixed.network.batch_size = sizes[i];
        fixed.network.step.mean_s = 1e-3; /* a hundred times the server's work */
        fixed.wake_s = 2e-4;
        double expected = lengthened_rate(fixed, fixed.wake_s / sizes[i]);
        struct fulcrum_solution found = solve(fixed);
        assert_close("1 / B", found.steps_per_s, expected, 1e-6);
        CU_ASSERT(found.steps_per_s < 0.99 * lengthened_rate(fixed, 0.0));
    }
}

static void assert_same(
    const struct fulcrum_solution *found, const struct fulcrum_solution *expected)
{
    assert_close("rate", found->steps_per_s, expected->steps_per_s, 0.0);
    assert_close("batch", found->mean_batch, expected->mean_batch, 0.0);
    assert_close("GPU", found->gpu_busy_frac, expected->gpu_busy_frac, 0.0);
    assert_close("CPU", found->residence.cpu_s, expected->residence.cpu_s, 0.0);
    CU_ASSERT_EQUAL(found->method, expected->method);
    CU_ASSERT_EQUAL(found->flags, expected->flags);
    CU_ASSERT_EQUAL(found->bottleneck, expected->bottleneck);
}

TEST(test_nothing_to_wake_is_the_solver_itself)
{
    static const enum fulcrum_method methods[] = {
        FULCRUM_METHOD_AUTO, FULCRUM_METHOD_FAST, FULCRUM_METHOD_SIMULATE};
    for (size_t i = 0; i < LENGTH(methods); i++) {
        struct fulcrum_replicas replicas = replicas_of(6.0);
        replicas.wake_s = 0.0;
        const struct fulcrum_solver_options options = {
            .method = methods[i], .seed = 7, .max_steps = 20000};
        struct fulcrum_solution found;
        struct fulcrum_solution expected;
        ASSERT_OK(fulcrum_solve(&replicas.network, &options, &expected, NULL));
        ASSERT_OK(fulcrum_solve_pausing(&replicas, &options, &found, NULL));
        assert_same(&found, &expected);
        assert_close("step", replicas.network.step.mean_s, STEP_S, 0.0);
    }
}

static void assert_rates_fall(double actors)
{
    static const double wakes_s[] = {1e-6, 3e-6, 1e-5, 3e-5, 1e-4};
    struct fulcrum_replicas replicas = replicas_of(actors);
    double last = lengthened_rate(replicas, 0.0);
    for (size_t i = 0; i < LENGTH(wakes_s); i++) {
        replicas.wake_s = wakes_s[i];
        double rate = solve(replicas).steps_per_s;
        CU_ASSERT(rate <= last * (1.0 + 1e-9));
        CU_ASSERT(rate >= lengthened_rate(replicas, wakes_s[i]) * (1.0 - 1e-9));
        last = rate;
    }
}

/* Between nobody paying and everybody paying, and less for a longer wake-up. */
TEST(test_rates_fall_with_the_wake_up_within_their_bounds)
{
    static const double actors[] = {1.0, 2.0, 3.0, 5.0, 8.0, 16.0, 48.0};
    for (size_t i = 0; i < LENGTH(actors); i++) {
        assert_rates_fall(actors[i]);
    }
}

/* The more actors, the busier the server, and the less a request pays. */
TEST(test_a_request_pays_less_among_more_actors)
{
    static const double actors[] = {1.0, 2.0, 4.0, 8.0, 16.0, 32.0};
    double last_share = 1.1;
    for (size_t i = 0; i < LENGTH(actors); i++) {
        struct fulcrum_replicas replicas = replicas_of(actors[i]);
        struct fulcrum_solution solution;
        ASSERT_OK(fulcrum_solve_pausing(&replicas, &fast, &solution, NULL));
        double share = (replicas.network.step.mean_s - STEP_S) / WAKE_S;
        CU_ASSERT(share >= 0.0 && share <= 1.05 / solution.mean_batch);
        CU_ASSERT(share <= last_share);
        last_share = share;
    }
    CU_ASSERT(last_share < 0.2);
}

/* With batches one behind the other the GPU's work does not keep the server awake. */
TEST(test_overlapping_batches_are_woken_for_by_the_host_alone)
{
    struct fulcrum_replicas serial = replicas_of(8.0);
    serial.network.gpu.per_batch_s = 8e-5;
    struct fulcrum_replicas overlapping = serial;
    overlapping.network.depth = 2.0;
    struct fulcrum_solution solution;
    ASSERT_OK(fulcrum_solve_pausing(&serial, &fast, &solution, NULL));
    double serial_s = serial.network.step.mean_s - STEP_S;
    ASSERT_OK(fulcrum_solve_pausing(&overlapping, &fast, &solution, NULL));
    double overlapping_s = overlapping.network.step.mean_s - STEP_S;
    CU_ASSERT(overlapping_s > serial_s);
}

/* What cannot be solved is told by the solver, waking or not. */
TEST(test_what_the_solver_refuses_is_refused)
{
    struct fulcrum_replicas replicas = replicas_of(4.0);
    const struct fulcrum_solver_options chain = {.method = FULCRUM_METHOD_CHAIN};
    struct fulcrum_solution solution;
    enum fulcrum_status alone =
        fulcrum_solve(&replicas.network, &chain, &solution, NULL);
    CU_ASSERT_EQUAL(fulcrum_solve_pausing(&replicas, &chain, &solution, NULL), alone);
    CU_ASSERT_EQUAL(alone, FULCRUM_ERR_UNSUPPORTED); /* lognormal steps */
}

/* A lone actor by simulation, as the fast method has it. */
TEST(test_a_simulation_wakes_as_the_fast_method_does)
{
    struct fulcrum_replicas one = replicas_of(1.0);
    const struct fulcrum_solver_options exact = {.method = FULCRUM_METHOD_SIMULATE,
        .seed = 3,
        .half_width_rel = 0.003,
        .max_steps = 2e5};
    struct fulcrum_solution solution;
    ASSERT_OK(fulcrum_solve_pausing(&one, &exact, &solution, NULL));
    double cycle_s = STEP_S + WAKE_S + HOST_S + GPU_S + ITEM_S + DELAY_S;
    assert_close("simulated", solution.steps_per_s, 1.0 / cycle_s, 0.01);
    CU_ASSERT_EQUAL(solution.method, FULCRUM_METHOD_SIMULATE);
}

#define COLD_S    3e-5
#define COOLING_S 2e-4

/* As replicas_of, where nobody has to be woken but batches find cold caches. */
static struct fulcrum_replicas cold_replicas_of(double actors)
{
    struct fulcrum_replicas replicas = replicas_of(actors);
    replicas.wake_s = 0.0;
    replicas.cold_s = COLD_S;
    replicas.cooling_s = COOLING_S;
    return replicas;
}

TEST(test_half_of_the_cold_comes_with_the_cooling_time)
{
    assert_close("none", fulcrum_cold_s(2.0, 3.0, 0.0), 0.0, 0.0);
    assert_close("half", fulcrum_cold_s(2.0, 3.0, 3.0), 1.0, 1e-15);
    assert_close("a tenth", fulcrum_cold_s(2.0, 3.0, 1.0), 0.2, 1e-15);
    assert_close("nearly all", fulcrum_cold_s(2.0, 3.0, 9.0), 1.8, 1e-15);
    assert_close("all", fulcrum_cold_s(2.0, 1e-9, 1e4), 2.0, 1e-12);
    assert_close("for ever", fulcrum_cold_s(2.0, 3.0, (double)INFINITY), 2.0, 0.0);
}

/* A lone actor's server pauses while it steps: the step itself, nothing more. */
TEST(test_a_lone_actors_batches_are_cold)
{
    static const double coolings_s[] = {1e-9, 1e-5, 1e-4, 1e-3, 1.0};
    for (size_t i = 0; i < LENGTH(coolings_s); i++) {
        struct fulcrum_replicas one = cold_replicas_of(1.0);
        one.cooling_s = coolings_s[i];
        double pause_s = STEP_S + DELAY_S;
        double rel = pause_s / coolings_s[i];
        double cold_s = COLD_S * rel * rel / (rel * rel + 1.0);
        double cycle_s = STEP_S + cold_s + HOST_S + GPU_S + ITEM_S + DELAY_S;
        assert_close("X(1)", solve(one).steps_per_s, 1.0 / cycle_s, 1e-7);
    }
}

/* Steps on an idle core: of a lone actor's cycle all but its own step is idle. */
TEST(test_steps_are_longer_where_their_threads_are_idle)
{
    static const double colds_s[] = {0.0, 1e-6, 2e-5};
    const double rest_s = HOST_S + GPU_S + ITEM_S + DELAY_S;
    for (size_t i = 0; i < LENGTH(colds_s); i++) {
        struct fulcrum_replicas one = replicas_of(1.0);
        one.wake_s = 0.0;
        one.cold_step_s = colds_s[i];
        /* s = t + cold r / (s + r) */
        double half_s = 0.5 * (STEP_S - rest_s);
        double step_s = half_s + sqrt(half_s * half_s + rest_s * (STEP_S + colds_s[i]));
        assert_close("lone", solve(one).steps_per_s, 1.0 / (step_s + rest_s), 1e-4);
    }
    /* On a core that is always busy they are not. */
    struct fulcrum_replicas many = replicas_of(400.0);
    many.network.cpu.core_count = many.network.cpu.thread_count = 1.0;
    many.wake_s = 0.0;
    double warm = solve(many).steps_per_s;
    many.cold_step_s = STEP_S;
    assert_close("busy", solve(many).steps_per_s, warm, 1e-3);
}

/* A batch of all actors: the server pauses for as long as they step. */
TEST(test_a_fixed_batch_pays_by_the_pause_before_it)
{
    struct fulcrum_replicas fixed = cold_replicas_of(8.0);
    fixed.network.policy = FULCRUM_BATCH_FIXED;
    fixed.network.batch_size = 8.0;
    fixed.network.step = (struct fulcrum_step){1e-3, 0.0, FULCRUM_LAW_DETERMINISTIC};
    double batch_s = HOST_S + GPU_S + 8.0 * ITEM_S;
    double rel = (1e-3 + DELAY_S) / COOLING_S;
    double cold_s = COLD_S * rel * rel / (rel * rel + 1.0);
    double expected = 8.0 / (1e-3 + DELAY_S + batch_s + cold_s);
    assert_close("all together", solve(fixed).steps_per_s, expected, 1e-6);
}

TEST(test_a_saturated_server_stays_warm)
{
    struct fulcrum_replicas many = cold_replicas_of(60.0);
    many.network.gpu = (struct fulcrum_batch_time){.per_item_s = 1e-4};
    double without = lengthened_rate(many, 0.0);
    assert_close("saturated", solve(many).steps_per_s, without, 1e-3);
}

/* Training keeps the learner warm as inference does. */
TEST(test_training_leaves_no_pause)
{
    struct fulcrum_replicas replicas = cold_replicas_of(4.0);
    double cold_s = replicas.network.gpu.per_batch_s;
    replicas.network.training =
        (struct fulcrum_training){.env_steps_per_train_step = 1.0,
            .train_step_s = 1e-3,
            .queue_train_steps = 1.0};
    struct fulcrum_solution solution;
    ASSERT_OK(fulcrum_solve_pausing(&replicas, &fast, &solution, NULL));
    CU_ASSERT(solution.gpu_train_busy_frac > 0.8);
    CU_ASSERT(replicas.network.gpu.per_batch_s - cold_s < 0.1 * COLD_S);
}

/* The line and the table are longer by the same, and both by no more than cold_s. */
TEST(test_line_and_table_go_cold_alike)
{
    struct fulcrum_replicas replicas = cold_replicas_of(2.0);
    replicas.cooling_s = 5e-5;
    static const double times_s[] = {2.2e-5, 2.5e-5, 3.7e-5};
    for (size_t i = 0; i < 3; i++) {
        replicas.table_size[i] = (double)(1 << (2 * i));
        replicas.table_time_s[i] = times_s[i];
    }
    replicas.network.gpu.size = replicas.table_size;
    replicas.network.gpu.time_s = replicas.table_time_s;
    replicas.network.gpu.count = 3;
    struct fulcrum_solution solution;
    ASSERT_OK(fulcrum_solve_pausing(&replicas, &fast, &solution, NULL));
    double added_s = replicas.network.gpu.per_batch_s - GPU_S;
    CU_ASSERT(added_s > 0.1 * COLD_S && added_s < COLD_S);
    for (size_t i = 0; i < 3; i++) {
        assert_close("table", replicas.table_time_s[i] - times_s[i], added_s, 1e-12);
    }
}

static void assert_cold_bounds(double actors)
{
    static const double colds_s[] = {1e-6, 1e-5, 1e-4};
    struct fulcrum_replicas replicas = cold_replicas_of(actors);
    double last = lengthened_rate(replicas, 0.0);
    for (size_t k = 0; k < LENGTH(colds_s); k++) {
        replicas.cold_s = colds_s[k];
        struct fulcrum_replicas worst = replicas;
        worst.network.gpu.per_batch_s += colds_s[k];
        double rate = solve(replicas).steps_per_s;
        CU_ASSERT(rate <= last * (1.0 + 1e-9));
        CU_ASSERT(rate >= lengthened_rate(worst, 0.0) * (1.0 - 1e-9));
        last = rate;
    }
}

TEST(test_rates_fall_with_the_cold_within_their_bounds)
{
    static const double actors[] = {1.0, 3.0, 8.0, 48.0};
    for (size_t i = 0; i < LENGTH(actors); i++) {
        assert_cold_bounds(actors[i]);
    }
}

/* Rollouts of 4 rounds without chance, then training with nothing beside it. */
TEST(test_rollouts_and_training_take_turns)
{
    static const double host_s[] = {0, 1e-3};
    for (size_t i = 0; i < 4; i++) {
        struct fulcrum_network network = plain_network(16, 2, 1e-3, 0);
        network.step = (struct fulcrum_step){1e-3, 0, FULCRUM_LAW_DETERMINISTIC};
        network.host.per_batch_s = host_s[i % 2];
        network.policy = FULCRUM_BATCH_FIXED;
        network.batch_size = 16;
        network.training = (struct fulcrum_training){.env_steps_per_train_step = 64,
            .train_step_s = 1e-2,
            .queue_train_steps = 1};
        network.loop = FULCRUM_LOOP_ALTERNATING;
        double rollout_s = 4 * (8e-3 + 1e-3 + host_s[i % 2]);
        struct fulcrum_solution out =
            solved(&network, i < 2 ? FULCRUM_METHOD_FAST : FULCRUM_METHOD_SIMULATE);
        assert_close("rate", out.steps_per_s, 64 / (rollout_s + 1e-2), 4e-3);
        assert_close(
            "training", out.gpu_train_busy_frac, 1e-2 / (rollout_s + 1e-2), 4e-3);
        assert_close(
            "inference", out.gpu_inference_busy_frac, 4e-3 / (rollout_s + 1e-2), 4e-3);
        assert_close(
            "threads", out.cpu_thread_busy_frac, 32e-3 / (rollout_s + 1e-2), 4e-3);
        assert_close("cycle",
            out.residence.cpu_s + out.residence.host_s + out.residence.gpu_s +
                out.residence.delay_s,
            network.actors / out.steps_per_s, 1e-2);
        /* What overlaps is faster. */
        network.loop = FULCRUM_LOOP_CENTRAL;
        CU_ASSERT(solved(&network, FULCRUM_METHOD_SIMULATE).steps_per_s >
                  1.05 * out.steps_per_s);
    }
}
