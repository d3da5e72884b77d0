/* test_residual.c - rows of chances on a grid, against laws in closed form. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fast/greedy_small.h"

#include <math.h>

#include "tests/support/suite.h"

enum { NODES = FULCRUM_RESIDUAL_NODES };

static const struct fulcrum_step laws[] = {
    {2.0, 1.0, FULCRUM_LAW_EXPONENTIAL},
    {2.0, 0.25, FULCRUM_LAW_ERLANG},
    {2.0, 0.2, FULCRUM_LAW_LOGNORMAL},
    {2.0, 3.0, FULCRUM_LAW_LOGNORMAL},
    {2.0, 3.0, FULCRUM_LAW_HYPEREXPONENTIAL},
    {2.0, 0.0, FULCRUM_LAW_PARETO},
};
enum { LAWS = LENGTH(laws) };

TEST(test_spread_reaches_its_end_with_growing_gaps)
{
    double out[6];
    fulcrum_residual_spread(out, 6, 1.0, 31.0);
    static const double doubling[] = {0.0, 1.0, 3.0, 7.0, 15.0, 31.0};
    for (size_t i = 0; i < 6; i++) {
        CU_ASSERT_DOUBLE_EQUAL(out[i], doubling[i], 1e-9);
    }
    fulcrum_residual_spread(out, 6, 9.0, 10.0);
    for (size_t i = 0; i < 6; i++) {
        CU_ASSERT_DOUBLE_EQUAL(out[i], 2.0 * (double)i, 1e-9);
    }
}

/* exp falls from 1 to e^-2 over two units: its mean is (1 - e^-2) / 2. */
TEST(test_mean_of_a_falling_chance)
{
    double end = exp(-2.0);
    assert_close(
        "exponential", fulcrum_residual_mean(1.0, end), 0.5 * (1.0 - end), 1e-12);
    assert_close("nearly even", fulcrum_residual_mean(1.0, 0.99), 0.995, 1e-12);
    assert_close("to nothing", fulcrum_residual_mean(0.8, 0.0), 0.4, 1e-12);
}

static void assert_falls(const double *row)
{
    for (size_t i = 1; i < NODES; i++) {
        CU_ASSERT_TRUE(row[i] >= 0.0 && row[i] <= row[i - 1]);
    }
}

/* What is cut off the tail is at most 3e-3; the rest is how a cell is integrated. */
TEST(test_grid_holds_the_law)
{
    for (size_t i = 0; i < LAWS; i++) {
        struct fulcrum_step_form form = fulcrum_step_form_of(&laws[i]);
        struct fulcrum_residual_grid grid;
        fulcrum_residual_grid_init(&grid, &form, 0.0);
        assert_close("mean", grid.mean_s, 2.0, 0.012);
        CU_ASSERT_DOUBLE_EQUAL(grid.fresh[0], 1.0, 0.0);
        CU_ASSERT_DOUBLE_EQUAL(grid.rested[0], 1.0, 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(grid.fresh[NODES - 1], 0.0, 0.0);
        assert_falls(grid.fresh);
        assert_falls(grid.rested);
    }
}

TEST(test_delay_comes_before_the_step)
{
    struct fulcrum_step_form form = fulcrum_step_form_of(&laws[0]);
    struct fulcrum_residual_grid grid;
    fulcrum_residual_grid_init(&grid, &form, 1.5);
    for (size_t i = 0; i + 1 < NODES; i++) {
        double step_s = fmax(0.0, grid.time_s[i] - 1.5);
        CU_ASSERT_DOUBLE_EQUAL(grid.fresh[i], exp(-step_s / 2.0), 1e-12);
    }
    assert_close("mean", grid.mean_s, 3.5, 0.012);
}

/* Any law, moved by any time: the tail of the law further on. */
static void assert_shifted(const struct fulcrum_residual_grid *grid,
    const struct fulcrum_step_form *form, double time_s)
{
    struct fulcrum_residual_shift shift;
    double row[NODES];
    fulcrum_residual_shift_init(&shift, grid, time_s);
    fulcrum_residual_shift(&shift, grid->rested, row);
    CU_ASSERT_DOUBLE_EQUAL(row[0], fulcrum_residual_left(&shift, grid->rested), 0.0);
    for (size_t i = 0; i < NODES; i++) {
        double exact = fulcrum_step_excess(form, grid->time_s[i] + time_s) / 2.0;
        CU_ASSERT_DOUBLE_EQUAL(row[i], exact, 5e-3);
    }
}

TEST(test_shift_moves_along_the_law)
{
    static const double times_s[] = {0.0, 0.05, 0.7, 3.0, 30.0};
    for (size_t i = 0; i < LAWS; i++) {
        struct fulcrum_step_form form = fulcrum_step_form_of(&laws[i]);
        struct fulcrum_residual_grid grid;
        fulcrum_residual_grid_init(&grid, &form, 0.0);
        for (size_t j = 0; j < LENGTH(times_s); j++) {
            assert_shifted(&grid, &form, times_s[j]);
        }
    }
}

/* The cubic would overshoot at the corner of a row that drops at once. */
TEST(test_shift_stays_a_chance)
{
    struct fulcrum_step_form form = fulcrum_step_form_of(&laws[1]);
    struct fulcrum_residual_grid grid;
    struct fulcrum_residual_shift shift;
    double row[NODES] = {1.0, 1.0, 1.0, 1.0, 1.0};
    double out[NODES];
    fulcrum_residual_grid_init(&grid, &form, 0.0);
    fulcrum_residual_shift_init(&shift, &grid, 0.4 * grid.time_s[1]);
    fulcrum_residual_shift(&shift, row, out);
    CU_ASSERT_DOUBLE_EQUAL(out[0], 1.0, 1e-12);
    assert_falls(out);
}
