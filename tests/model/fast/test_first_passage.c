/* test_first_passage.c - the first finish of several and who is left, in closed form.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fast/greedy_small.h"

#include <math.h>

#include "tests/support/suite.h"

enum { NODES = FULCRUM_RESIDUAL_NODES };

struct fixture {
    struct fulcrum_residual_grid grid;
    struct fulcrum_first_passage race;
};

static void prepare(
    struct fixture *fixture, const struct fulcrum_step *step, double usual_s)
{
    struct fulcrum_step_form form = fulcrum_step_form_of(step);
    fulcrum_residual_grid_init(&fixture->grid, &form, 0.0);
    fulcrum_first_passage_init(&fixture->race, &fixture->grid, usual_s);
}

/* The integral of a row over the grid. */
static double integral(const struct fixture *fixture, const double *row)
{
    double sum = 0.0;
    for (size_t i = 0; i + 1 < NODES; i++) {
        sum += fulcrum_residual_mean(row[i], row[i + 1]) *
               (fixture->grid.time_s[i + 1] - fixture->grid.time_s[i]);
    }
    return sum;
}

static void assert_exponential(
    const struct fixture *fixture, const double *row, double weight)
{
    for (size_t i = 0; i + 1 < NODES; i++) {
        double exact = weight * exp(-fixture->grid.time_s[i]);
        CU_ASSERT_DOUBLE_EQUAL(row[i], exact, 8e-3 * weight);
    }
}

/* Steps without memory: the first of k ends after 1 / k, the others are as before. */
TEST(test_exponential_crowd)
{
    static const struct fulcrum_step step = {1.0, 1.0, FULCRUM_LAW_EXPONENTIAL};
    static const size_t sizes[][2] = {{0, 1}, {1, 0}, {0, 4}, {3, 0}, {2, 3}, {5, 11}};
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        struct fixture fixture;
        struct fulcrum_crowd crowd = {.aged = sizes[i][0], .fresh = sizes[i][1]};
        double losers = (double)(sizes[i][0] + sizes[i][1]) - 1.0;
        double row[NODES] = {0.0};
        prepare(&fixture, &step, 1.0 / (losers + 1.0));
        crowd.left = fixture.grid.fresh;
        double mean_s = fulcrum_first_passage_run(&fixture.race, &crowd, 0.25);
        fulcrum_first_passage_add_losers(&fixture.race, row);
        assert_close("time", mean_s, 1.0 / (losers + 1.0), 2e-3);
        assert_exponential(&fixture, row, 0.25 * losers);
    }
}

/*
 * Two fresh steps of two phases: the mean of the lesser is the integral of the tail
 * squared, and what is left of the greater is the mean of both less twice that.
 */
TEST(test_two_hyperexponential_steps)
{
    static const struct fulcrum_step step = {1.0, 2.0, FULCRUM_LAW_HYPEREXPONENTIAL};
    struct fulcrum_step_form form = fulcrum_step_form_of(&step);
    double p = form.shape;
    double a = form.scale;
    double b = form.scale2;
    double lesser =
        p * p * a / 2 + 2 * p * (1 - p) * a * b / (a + b) + (1 - p) * (1 - p) * b / 2;
    struct fixture fixture;
    prepare(&fixture, &step, lesser);
    struct fulcrum_crowd crowd = {.fresh = 2, .left = fixture.grid.fresh};
    double row[NODES] = {0.0};
    double mean_s = fulcrum_first_passage_run(&fixture.race, &crowd, 1.0);
    fulcrum_first_passage_add_losers(&fixture.race, row);
    assert_close("lesser", mean_s, lesser, 0.01);
    assert_close("one is left", row[0], 1.0, 1e-9);
    assert_close("of the greater", integral(&fixture, row), 2 - 2 * lesser, 0.02);
}

/* Nearly equal steps: who has aged by more than their spread wins, and has the rest. */
TEST(test_aged_beats_fresh)
{
    static const struct fulcrum_step step = {1.0, 0.1, FULCRUM_LAW_ERLANG};
    struct fixture fixture;
    struct fulcrum_residual_shift shift;
    double aged[NODES];
    double row[NODES] = {0.0};
    prepare(&fixture, &step, 0.4);
    fulcrum_residual_shift_init(&shift, &fixture.grid, 0.5);
    fulcrum_residual_shift(&shift, fixture.grid.fresh, aged);
    struct fulcrum_crowd crowd = {.aged = 1, .fresh = 1, .left = aged};
    double mean_s = fulcrum_first_passage_run(&fixture.race, &crowd, 1.0);
    fulcrum_first_passage_add_losers(&fixture.race, row);
    assert_close("time", mean_s, 0.5, 0.01);
    assert_close("left", integral(&fixture, row), 0.5, 0.02);
}

TEST(test_clear_forgets)
{
    static const struct fulcrum_step step = {1.0, 1.0, FULCRUM_LAW_EXPONENTIAL};
    struct fixture fixture;
    double row[NODES] = {0.0};
    prepare(&fixture, &step, 0.5);
    struct fulcrum_crowd crowd = {.aged = 1, .fresh = 1, .left = fixture.grid.fresh};
    CU_ASSERT_TRUE(fulcrum_first_passage_run(&fixture.race, &crowd, 1.0) > 0.0);
    fulcrum_first_passage_clear(&fixture.race);
    fulcrum_first_passage_add_losers(&fixture.race, row);
    for (size_t i = 0; i < NODES; i++) {
        CU_ASSERT_DOUBLE_EQUAL(row[i], 0.0, 0.0);
    }
}
