/* test_rate_cells.c - tabulated work rates against the curves they stand for. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fast/fixed_batch.h"

#include <math.h>

#include "tests/support/suite.h"

static const double measured[] = {1.0, 1.9, 2.7, 3.4, 3.2, 3.0};

static const struct fulcrum_cpu_station stations[] = {
    {.core_count = 1, .thread_count = 1},
    {.core_count = 4, .thread_count = 8, .smt_yield_frac = 0.3, .turbo_frac = 0.4},
    {.core_count = 48,
        .thread_count = 96,
        .reserved_threads = 2.5,
        .smt_yield_frac = 0.25,
        .turbo_frac = 0.2,
        .oversubscription_frac = 0.1},
    {.core_count = 500, .thread_count = 1000, .smt_yield_frac = 0.3},
    {.core_count = 3, .thread_count = 3, .reserved_threads = 2.99},
    {.curve = FULCRUM_CURVE_SATURATING,
        .core_count = 32,
        .thread_count = 64,
        .smt_yield_frac = 0.3,
        .serial_frac = 0.01,
        .knee = 2,
        .cap_per_core = 0.9,
        .cross_socket_frac = 0.9},
    {.curve = FULCRUM_CURVE_SATURATING_SYNC,
        .core_count = 24,
        .thread_count = 48,
        .smt_yield_frac = 0.3,
        .knee = 4,
        .cap_per_core = 1,
        .cross_socket_frac = 1},
    {.curve = FULCRUM_CURVE_TABLE,
        .core_count = 6,
        .thread_count = 6,
        .capacity = measured,
        .capacity_count = LENGTH(measured)},
    {.curve = FULCRUM_CURVE_TABLE,
        .core_count = 6,
        .thread_count = 6,
        .reserved_threads = 2,
        .capacity = measured,
        .capacity_count = LENGTH(measured)},
};

/* Whole threads up to 256 are nodes; a second look finds what the first has stored. */
TEST(test_whole_threads_are_exact)
{
    for (size_t i = 0; i < LENGTH(stations); i++) {
        struct fulcrum_rate_cells cells;
        fulcrum_rate_cells_init(&cells, &stations[i]);
        double servers = fulcrum_cpu_servers(&stations[i]);
        for (size_t k = 1; (double)k <= fmin(servers, 256.0); k++) {
            double n = (double)k;
            double exact = fulcrum_cpu_capacity(&stations[i], n);
            double tolerance = servers <= 256.0 ? 1e-12 : 2e-3;
            assert_close("first", fulcrum_rate_cells_at(&cells, n), exact, tolerance);
            assert_close("again", fulcrum_rate_cells_at(&cells, n), exact, tolerance);
        }
    }
}

/* In lockstep the first shared core slows all: a jump, spread over one thread. */
static int in_jump(const struct fulcrum_cpu_station *cpu, double n)
{
    return cpu->curve == FULCRUM_CURVE_SATURATING_SYNC && n > cpu->core_count &&
           n < cpu->core_count + 1.0;
}

TEST(test_parts_of_threads_are_close)
{
    for (size_t i = 0; i < LENGTH(stations); i++) {
        struct fulcrum_rate_cells cells;
        fulcrum_rate_cells_init(&cells, &stations[i]);
        double servers = fulcrum_cpu_servers(&stations[i]);
        for (size_t k = 1; k < 77; k++) {
            double n = servers * (double)k / 77.0;
            double exact = fulcrum_cpu_capacity(&stations[i], n);
            double rate = fulcrum_rate_cells_at(&cells, n);
            double margin = in_jump(&stations[i], n) ? 0.3 : 0.015;
            assert_close("between nodes", rate, exact, margin);
        }
    }
}

TEST(test_jump_is_spread_over_one_thread)
{
    const struct fulcrum_cpu_station *cpu = &stations[6];
    struct fulcrum_rate_cells cells;
    fulcrum_rate_cells_init(&cells, cpu);
    double before = fulcrum_cpu_capacity(cpu, cpu->core_count);
    double after = fulcrum_cpu_capacity(cpu, cpu->core_count + 1.0);
    CU_ASSERT(after < 0.9 * before);
    double rate = fulcrum_rate_cells_at(&cells, cpu->core_count + 0.25);
    assert_close("jump", rate, 0.75 * before + 0.25 * after, 1e-12);
}

/* The loss to crowding begins just above S, and a table may go on falling. */
TEST(test_crowds_are_exact)
{
    for (size_t i = 0; i < LENGTH(stations); i++) {
        struct fulcrum_rate_cells cells;
        fulcrum_rate_cells_init(&cells, &stations[i]);
        double servers = fulcrum_cpu_servers(&stations[i]);
        for (int k = -10; k < 7; k++) {
            double n = servers + ldexp(1.0, k);
            assert_close("crowd", fulcrum_rate_cells_at(&cells, n),
                fulcrum_cpu_capacity(&stations[i], n), 1e-12);
        }
    }
}

TEST(test_nobody_works_at_no_rate)
{
    struct fulcrum_rate_cells cells;
    fulcrum_rate_cells_init(&cells, &stations[1]);
    CU_ASSERT_DOUBLE_EQUAL(fulcrum_rate_cells_at(&cells, 0.0), 0.0, 0.0);
    /* Linear below the first node, which lies at a quarter of a thread. */
    double quarter = fulcrum_cpu_capacity(&stations[1], 0.25);
    assert_close("few", fulcrum_rate_cells_at(&cells, 1e-6), 4e-6 * quarter, 1e-9);
}
