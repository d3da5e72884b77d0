/* test_network.c - networks are refused by field, their curves are the equations. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/network/network.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "tests/support/designs.h"
#include "tests/support/suite.h"

static struct fulcrum_network valid(void)
{
    return (struct fulcrum_network){.name = "valid",
        .actors = 64,
        .cpu = {.core_count = 20,
            .thread_count = 40,
            .reserved_threads = 3.2,
            .smt_yield_frac = 0.24,
            .turbo_frac = 0.33,
            .oversubscription_frac = 0.02,
            .serial_frac = 0.01,
            .knee = 2.0,
            .cap_per_core = 1.25,
            .cross_socket_frac = 0.85},
        .step = {2e-3, 0.5, FULCRUM_LAW_LOGNORMAL},
        .host = {.per_batch_s = 1e-3},
        .gpu = {.per_batch_s = 1e-3, .per_item_s = 1e-5},
        .policy = FULCRUM_BATCH_FIXED,
        .batch_size = 32,
        .depth = 2,
        .delay_s = 1e-4,
        .training = {3360, 0.2, 2.4}};
}

/* Named as in the lines of `fulcrum solve`. */
#define KEY(key, member) key, offsetof(struct fulcrum_network, member)
#define OFFSET(member)   KEY(#member, member)

/* The valid network with one member replaced. */
static void assert_refused(const char *name, size_t offset, double value)
{
    struct fulcrum_network network = valid();
    memcpy((char *)&network + offset, &value, sizeof value);
    ASSERT_FAILS(fulcrum_network_check(&network, &err), FULCRUM_ERR_RANGE, name);
}

TEST(test_check_names_each_field_and_value_it_refuses)
{
    static const struct {
        const char *name;
        size_t offset;
        double bad;
    } cases[] = {{OFFSET(actors), 0.0}, {OFFSET(actors), 2e7}, {OFFSET(actors), 64.5},
        {KEY("cpu.cores", cpu.core_count), 0.5},
        {KEY("cpu.threads", cpu.thread_count), 10.0},
        {OFFSET(cpu.reserved_threads), -1.0}, {OFFSET(cpu.reserved_threads), 40.0},
        {OFFSET(cpu.smt_yield_frac), 1.5}, {OFFSET(cpu.turbo_frac), -0.1},
        {OFFSET(cpu.oversubscription_frac), 11.0}, {OFFSET(cpu.slice_s), -1.0},
        {OFFSET(cpu.slice_s), 1e-13}, {OFFSET(step.mean_s), -1.0},
        {OFFSET(step.mean_s), 2e6}, {OFFSET(step.cv), 0.0},
        {OFFSET(host.per_batch_s), -1.0}, {OFFSET(host.per_item_s), 1e7},
        {OFFSET(gpu.per_batch_s), -1e-9}, {OFFSET(gpu.per_item_s), -1e-9},
        {KEY("batching.size", batch_size), 31.5},
        {KEY("batching.size", batch_size), 0.0}, {KEY("batching.depth", depth), 0.0},
        {OFFSET(delay_s), -1.0}, {OFFSET(training.env_steps_per_train_step), -1.0},
        {OFFSET(training.env_steps_per_train_step), 1e-7},
        {OFFSET(training.train_step_s), 0.0},
        {OFFSET(training.queue_train_steps), 0.9}};
    struct fulcrum_network network = valid();
    ASSERT_OK(fulcrum_network_check(&network, NULL));
    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_refused(cases[i].name, cases[i].offset, cases[i].bad);
        assert_refused(cases[i].name, cases[i].offset, (double)NAN);
        assert_refused(cases[i].name, cases[i].offset, (double)INFINITY);
    }
}

TEST(test_check_looks_at_the_fields_of_the_curve_in_use)
{
    struct fulcrum_network network = valid();
    network.cpu.knee = 0.0;
    network.cpu.cap_per_core = 0.0;
    network.cpu.cross_socket_frac = 0.0;
    ASSERT_OK(fulcrum_network_check(&network, NULL));
    struct fulcrum_error err = {FULCRUM_OK, ""};
    network.cpu.curve = FULCRUM_CURVE_SATURATING;
    CU_ASSERT_EQUAL(fulcrum_network_check(&network, &err), FULCRUM_ERR_RANGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "cpu.knee = 0 is outside [0.5, 50]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "cpu.cap_per_core = 0 is outside (0"));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "cpu.cross_socket_frac"));
    network.cpu.curve = FULCRUM_CURVE_TABLE;
    CU_ASSERT_EQUAL(fulcrum_network_check(&network, &err), FULCRUM_ERR_RANGE);
    const double capacity[] = {1.0, 0.0};
    network.cpu.capacity = capacity;
    network.cpu.capacity_count = 2;
    CU_ASSERT_EQUAL(fulcrum_network_check(&network, &err), FULCRUM_ERR_RANGE);
    network.cpu.capacity_count = 1;
    ASSERT_OK(fulcrum_network_check(&network, &err));
}

TEST(test_check_holds_each_law_to_its_cv)
{
    static const struct {
        double cv;
        enum fulcrum_step_law law;
        enum fulcrum_status status;
    } cases[] = {
        {3.0, FULCRUM_LAW_LOGNORMAL, FULCRUM_OK},
        {101.0, FULCRUM_LAW_LOGNORMAL, FULCRUM_ERR_RANGE},
        {1.0, FULCRUM_LAW_EXPONENTIAL, FULCRUM_OK},
        {0.0, FULCRUM_LAW_EXPONENTIAL, FULCRUM_OK},
        {0.9, FULCRUM_LAW_EXPONENTIAL, FULCRUM_ERR_RANGE},
        {0.0, FULCRUM_LAW_DETERMINISTIC, FULCRUM_OK},
        {0.1, FULCRUM_LAW_DETERMINISTIC, FULCRUM_ERR_RANGE},
        {1.0, FULCRUM_LAW_ERLANG, FULCRUM_OK},
        {1.1, FULCRUM_LAW_ERLANG, FULCRUM_ERR_RANGE},
        {0.0, FULCRUM_LAW_ERLANG, FULCRUM_ERR_RANGE},
        {1.0, FULCRUM_LAW_HYPEREXPONENTIAL, FULCRUM_OK},
        {0.9, FULCRUM_LAW_HYPEREXPONENTIAL, FULCRUM_ERR_RANGE},
        {-7.0, FULCRUM_LAW_PARETO, FULCRUM_OK},
        {1.0, (enum fulcrum_step_law)99, FULCRUM_ERR_RANGE},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_network network = valid();
        network.step.law = cases[i].law;
        network.step.cv = cases[i].cv;
        CU_ASSERT_EQUAL(fulcrum_network_check(&network, NULL), cases[i].status);
    }
}

TEST(test_check_refuses_networks_that_stand_still_or_never_wait)
{
    struct fulcrum_error err = {FULCRUM_OK, ""};
    struct fulcrum_network network = valid();
    network.batch_size = 65;
    CU_ASSERT_EQUAL(fulcrum_network_check(&network, &err), FULCRUM_ERR_INFEASIBLE);
    CU_ASSERT_STRING_EQUAL(
        err.detail, "batching.size = 65 would wait for ever for actors = 64");
    network.policy = FULCRUM_BATCH_GREEDY;
    ASSERT_OK(fulcrum_network_check(&network, &err));
    network.policy = (enum fulcrum_batch_policy)9;
    CU_ASSERT_EQUAL(fulcrum_network_check(&network, &err), FULCRUM_ERR_RANGE);
    network = valid();
    network.batch_size = 30.0;
    network.step.mean_s = 0.0;
    network.host = (struct fulcrum_batch_time){0};
    network.gpu = (struct fulcrum_batch_time){0};
    ASSERT_OK(fulcrum_network_check(&network, &err));
    network.delay_s = 0.0;
    CU_ASSERT_EQUAL(fulcrum_network_check(&network, &err), FULCRUM_ERR_INFEASIBLE);
    /* A table that its line takes down to 0 before the size in use. */
    static const double size = 40.0;
    static const double time_s = 1.0;
    network.gpu = (struct fulcrum_batch_time){
        .per_item_s = 0.2, .size = &size, .time_s = &time_s, .count = 1};
    CU_ASSERT_EQUAL(fulcrum_network_check(&network, &err), FULCRUM_ERR_INFEASIBLE);
    network.batch_size = 40.0;
    ASSERT_OK(fulcrum_network_check(&network, &err));
}

TEST(test_check_refuses_tables_out_of_order)
{
    static const double sizes[][2] = {{1, 2}, {2, 2}, {0.5, 2}, {1, 2}};
    static const double times[][2] = {{1e-3, 2e-3}, {1, 1}, {1, 1}, {1, 0}};
    for (size_t i = 0; i < 4; i++) {
        struct fulcrum_network network = valid();
        network.gpu.size = sizes[i];
        network.gpu.time_s = times[i];
        network.gpu.count = 2;
        struct fulcrum_error err = {FULCRUM_OK, ""};
        enum fulcrum_status status = fulcrum_network_check(&network, &err);
        CU_ASSERT_EQUAL(status, i == 0 ? FULCRUM_OK : FULCRUM_ERR_RANGE);
        CU_ASSERT(i == 0 || strncmp(err.detail, "gpu.", 4) == 0);
        network.gpu.time_s = NULL;
        CU_ASSERT_EQUAL(fulcrum_network_check(&network, NULL), FULCRUM_ERR_RANGE);
    }
}

/* Equation (2), case by case as it is written. */
static double oracle_smt_turbo(const struct fulcrum_cpu_station *cpu, double n)
{
    double pa =
        cpu->core_count - cpu->reserved_threads * cpu->core_count / cpu->thread_count;
    double s = cpu->thread_count - cpu->reserved_threads;
    double c = n;
    if (n > s) {
        c = (pa + cpu->smt_yield_frac * (s - pa)) / (1.0 + cpu->oversubscription_frac);
    } else if (n > pa) {
        c = pa + cpu->smt_yield_frac * (n - pa);
    }
    double active = (n + cpu->reserved_threads) / cpu->core_count;
    return active < 1.0 ? c * (1.0 + cpu->turbo_frac * (1.0 - active)) : c;
}

/* (20)-(21) with nu = 1, P reduced to P_a. */
static double oracle_saturating(const struct fulcrum_cpu_station *cpu, double n)
{
    double servers = cpu->thread_count - cpu->reserved_threads;
    double pa = cpu->core_count * servers / cpu->thread_count;
    double a = n;
    if (n > pa && cpu->curve == FULCRUM_CURVE_SATURATING) {
        a = pa + cpu->smt_yield_frac * (fmin(n, servers) - pa);
    } else if (n > pa) {
        a = fmin(n, 2.0 * pa) * (1.0 + cpu->smt_yield_frac) / 2.0;
    }
    double p = cpu->knee;
    return 1.0 / pow(pow(1.0 / a, p) + pow(1.0 / (cpu->cap_per_core * pa), p) +
                         pow(cpu->serial_frac, p),
                     1.0 / p);
}

TEST(test_capacity_is_the_equation)
{
    struct fulcrum_cpu_station cpu = valid().cpu;
    for (int i = 1; i < 120; i++) {
        double n = 0.5 * (double)i;
        assert_close("smt_turbo", fulcrum_cpu_capacity(&cpu, n),
            oracle_smt_turbo(&cpu, n), 1e-12);
    }
    assert_close("servers", fulcrum_cpu_servers(&cpu), 36.8, 1e-12);
    cpu.cross_socket_frac = 1.0;
    for (int sync = 0; sync < 2; sync++) {
        cpu.curve = sync ? FULCRUM_CURVE_SATURATING_SYNC : FULCRUM_CURVE_SATURATING;
        double one = oracle_saturating(&cpu, 1.0);
        for (int n = 1; n < 60; n++) {
            assert_close("saturating", fulcrum_cpu_capacity(&cpu, (double)n),
                oracle_saturating(&cpu, (double)n) / one, 1e-12);
        }
        assert_close("c(1)", fulcrum_cpu_capacity(&cpu, 1.0), 1.0, 1e-14);
        CU_ASSERT_EQUAL(fulcrum_cpu_capacity(&cpu, 0.0), 0.0);
    }
}

TEST(test_crossing_sockets_costs_nu_but_never_capacity)
{
    struct fulcrum_cpu_station whole = valid().cpu;
    whole.curve = FULCRUM_CURVE_SATURATING;
    struct fulcrum_cpu_station split = whole;
    whole.cross_socket_frac = 1.0;
    double before = 0.0;
    for (int n = 1; n <= 60; n++) {
        double c = fulcrum_cpu_capacity(&split, (double)n);
        CU_ASSERT(c >= before);
        before = c;
    }
    assert_close("one socket", fulcrum_cpu_capacity(&split, 10.0),
        fulcrum_cpu_capacity(&whole, 10.0), 1e-14);
    assert_close("both", fulcrum_cpu_capacity(&split, 36.0),
        0.85 * fulcrum_cpu_capacity(&whole, 36.0), 1e-14);
}

TEST(test_tabulated_capacity_is_interpolated_and_held)
{
    static const double capacity[] = {1.0, 1.8, 2.4};
    struct fulcrum_cpu_station cpu = {.curve = FULCRUM_CURVE_TABLE,
        .core_count = 4,
        .thread_count = 4,
        .capacity = capacity,
        .capacity_count = 3};
    static const double cases[][2] = {{0.0, 0.0}, {0.5, 0.5}, {1.0, 1.0}, {1.5, 1.4},
        {2.75, 2.25}, {3.0, 2.4}, {99.0, 2.4}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_close("c", fulcrum_cpu_capacity(&cpu, cases[i][0]), cases[i][1], 1e-14);
    }
}

/* Two of four threads are the learner's: the actors never get the work of three. */
TEST(test_a_table_gives_no_more_than_the_threads_left)
{
    static const double capacity[] = {1.0, 1.8, 2.4, 2.5, 2.25, 2.0};
    struct fulcrum_cpu_station cpu = {.curve = FULCRUM_CURVE_TABLE,
        .core_count = 4,
        .thread_count = 4,
        .reserved_threads = 2,
        .capacity = capacity,
        .capacity_count = 6};
    static const double cases[][2] = {{1.0, 1.0}, {2.0, 1.8}, {2.5, 1.8 * 2.25 / 2.5},
        {3.0, 1.8 * 2.0 / 2.5}, {50.0, 1.8 * 2.0 / 2.5}};

    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_close("c", fulcrum_cpu_capacity(&cpu, cases[i][0]), cases[i][1], 1e-14);
    }
}

/* Whoever takes turns leaves its marks in the caches, wherever it is now. */
TEST(test_all_who_take_turns_crowd_a_table)
{
    static const double capacity[] = {1.0, 1.8, 2.4, 2.5, 2.25, 2.0};
    struct fulcrum_cpu_station cpu = {.curve = FULCRUM_CURVE_TABLE,
        .core_count = 4,
        .thread_count = 4,
        .capacity = capacity,
        .capacity_count = 6,
        .crowd_count = 5.0};
    static const double cases[][2] = {{0.5, 0.5 * 0.9}, {1.0, 0.9}, {3.0, 2.4 * 0.9},
        {4.0, 2.25}, {4.5, 2.25}, {5.0, 2.25}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_close("c", fulcrum_cpu_capacity(&cpu, cases[i][0]), cases[i][1], 1e-14);
    }
    /* Three on the two threads left are as crowded as six on four. */
    cpu.reserved_threads = 2.0;
    cpu.crowd_count = 3.0;
    assert_close("one", fulcrum_cpu_capacity(&cpu, 1.0), 0.8, 1e-14);
    assert_close("three", fulcrum_cpu_capacity(&cpu, 3.0), 1.8 * 0.8, 1e-14);
    /* Nobody has to wait: nothing is crowded. */
    cpu.crowd_count = 2.0;
    assert_close("two", fulcrum_cpu_capacity(&cpu, 2.0), 1.8, 1e-14);
}

TEST(test_batch_time_continues_its_table_along_the_line)
{
    static const double size[] = {2.0, 4.0, 10.0, 12.0};
    static const double time_s[] = {5.0, 6.0, 12.0, 20.0};
    struct fulcrum_batch_time time = {.per_batch_s = 3.0, .per_item_s = 0.5};
    assert_close("line", fulcrum_batch_time(&time, 8.0), 7.0, 1e-14);
    time.size = size;
    time.time_s = time_s;
    time.count = 4;
    static const double cases[][2] = {{1.0, 4.5}, {2.0, 5.0}, {3.0, 5.5}, {4.0, 6.0},
        {7.0, 9.0}, {11.0, 16.0}, {12.0, 20.0}, {14.0, 21.0}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_close(
            "t(b)", fulcrum_batch_time(&time, cases[i][0]), cases[i][1], 1e-14);
    }
    time.per_item_s = 100.0;
    CU_ASSERT_EQUAL(fulcrum_batch_time(&time, 1.0), 0.0);
}

TEST(test_names_end_where_the_choices_end)
{
    CU_ASSERT_STRING_EQUAL(fulcrum_step_law_name(FULCRUM_LAW_PARETO), "pareto");
    CU_ASSERT_STRING_EQUAL(fulcrum_step_law_name(FULCRUM_LAW_LOGNORMAL), "lognormal");
    CU_ASSERT_PTR_NULL(fulcrum_step_law_name((enum fulcrum_step_law)6));
    CU_ASSERT_STRING_EQUAL(fulcrum_batch_policy_name(FULCRUM_BATCH_FIXED), "fixed");
    CU_ASSERT_PTR_NULL(fulcrum_batch_policy_name((enum fulcrum_batch_policy)2));
    CU_ASSERT_STRING_EQUAL(fulcrum_cpu_curve_name(FULCRUM_CURVE_TABLE), "table");
    CU_ASSERT_PTR_NULL(fulcrum_cpu_curve_name((enum fulcrum_cpu_curve)4));
}

/* Every number counts, those of tables too; names and where tables lie do not. */
TEST(test_a_hash_knows_every_number)
{
    static const double size[] = {2.0, 4.0, 10.0};
    static const double time_s[] = {5.0, 6.0, 12.0};
    static const double moved[] = {5.0, 6.0, 12.0};
    static const double longer_s[] = {5.0, 6.0, 12.5};
    struct fulcrum_network network = plain_network(100, 20, 0.4, 0.01);
    network.gpu.size = size;
    network.gpu.time_s = time_s;
    network.gpu.count = 3;
    uint64_t hash = fulcrum_network_hash(&network);
    static const size_t offsets[] = {offsetof(struct fulcrum_network, actors),
        offsetof(struct fulcrum_network, cpu.thread_count),
        offsetof(struct fulcrum_network, cpu.slice_s),
        offsetof(struct fulcrum_network, step.mean_s),
        offsetof(struct fulcrum_network, step.cv),
        offsetof(struct fulcrum_network, host.per_batch_s),
        offsetof(struct fulcrum_network, gpu.per_item_s),
        offsetof(struct fulcrum_network, batch_size),
        offsetof(struct fulcrum_network, depth),
        offsetof(struct fulcrum_network, delay_s),
        offsetof(struct fulcrum_network, server_wake_s),
        offsetof(struct fulcrum_network, poll_s),
        offsetof(struct fulcrum_network, poll_wake_s),
        offsetof(struct fulcrum_network, server_wake_mean_s),
        offsetof(struct fulcrum_network, waker_s),
        offsetof(struct fulcrum_network, training.env_steps_per_train_step),
        offsetof(struct fulcrum_network, training.sharing_frac)};
    for (size_t i = 0; i < LENGTH(offsets); i++) {
        struct fulcrum_network other = network;
        double number = 0.0;
        memcpy(&number, (const char *)&network + offsets[i], sizeof number);
        number = number * (1.0 + 1e-15) + 1e-15;
        memcpy((char *)&other + offsets[i], &number, sizeof number);
        CU_ASSERT(fulcrum_network_hash(&other) != hash);
    }
    network.gpu.time_s = moved;
    network.name[0] = 'x';
    CU_ASSERT_EQUAL(fulcrum_network_hash(&network), hash);
    network.gpu.time_s = longer_s;
    CU_ASSERT(fulcrum_network_hash(&network) != hash);
    network.gpu.time_s = time_s;
    network.step.law = FULCRUM_LAW_ERLANG;
    CU_ASSERT(fulcrum_network_hash(&network) != hash);
}
