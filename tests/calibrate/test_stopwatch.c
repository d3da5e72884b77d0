/* test_stopwatch.c - clocks go forward and their cost is taken off. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/stopwatch.h"

#include "tests/support/suite.h"

TEST(test_clocks_never_go_back)
{
    double wall_s = fulcrum_wall_s();
    double cpu_s = fulcrum_thread_cpu_s();
    for (int i = 0; i < 1000; i++) {
        double next_wall_s = fulcrum_wall_s();
        double next_cpu_s = fulcrum_thread_cpu_s();
        CU_ASSERT(next_wall_s >= wall_s && next_cpu_s >= cpu_s);
        wall_s = next_wall_s;
        cpu_s = next_cpu_s;
    }
}

TEST(test_reading_a_clock_costs_something_small)
{
    struct fulcrum_stopwatch stopwatch = fulcrum_stopwatch_calibrated();
    CU_ASSERT(stopwatch.wall_cost_s >= 0.0 && stopwatch.wall_cost_s < 1e-3);
    CU_ASSERT(stopwatch.cpu_cost_s >= 0.0 && stopwatch.cpu_cost_s < 1e-3);
}

TEST(test_sleep_takes_wall_time_and_hardly_any_cpu_time)
{
    struct fulcrum_stopwatch stopwatch = {0.0, 0.0};
    struct fulcrum_span begin = fulcrum_span_begin();
    fulcrum_sleep_s(0.05);
    struct fulcrum_span span = fulcrum_span_end(&stopwatch, begin);
    CU_ASSERT(span.wall_s >= 0.05);
    CU_ASSERT(span.cpu_s < 0.5 * span.wall_s);
    fulcrum_sleep_s(0.0);
    fulcrum_sleep_s(-1.0);
}

TEST(test_span_takes_the_cost_off_but_stays_above_zero)
{
    struct fulcrum_stopwatch free_of_charge = {0.0, 0.0};
    struct fulcrum_stopwatch costly = {1e6, 1e6};
    struct fulcrum_span begin = fulcrum_span_begin();
    struct fulcrum_span full = fulcrum_span_end(&free_of_charge, begin);
    struct fulcrum_span none = fulcrum_span_end(&costly, begin);
    CU_ASSERT(full.wall_s > 0.0);
    assert_close("wall", none.wall_s, 0.0, 0.0);
    assert_close("cpu", none.cpu_s, 0.0, 0.0);
}

TEST(test_a_span_is_read_on_the_clock_that_is_asked_for)
{
    struct fulcrum_span span = {.wall_s = 2.0, .cpu_s = 1.0};
    CU_ASSERT_TRUE(fulcrum_span_on(span, FULCRUM_CLOCK_WALL) > 1.5);
    CU_ASSERT_TRUE(fulcrum_span_on(span, FULCRUM_CLOCK_CPU) < 1.5);
    CU_ASSERT_STRING_EQUAL(fulcrum_clock_name(FULCRUM_CLOCK_WALL), "wall");
    CU_ASSERT_STRING_EQUAL(fulcrum_clock_name(FULCRUM_CLOCK_CPU), "CPU");
}
