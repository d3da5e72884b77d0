/* test_greedy_small.c - networks of a few actors, against closed forms, a chain,
 * simulation; and what their solver is made of. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdint.h>

#include "model/exact/chain.h"
#include "model/fast/greedy_small.c" /* NOLINT(bugprone-suspicious-include) */
#include "tests/support/designs.h"
#include "tests/support/suite.h"

TEST(test_power_of_whole_exponents)
{
    CU_ASSERT_DOUBLE_EQUAL(power(0.0, 0), 1.0, 0.0);
    CU_ASSERT_DOUBLE_EQUAL(power(0.0, 3), 0.0, 0.0);
    CU_ASSERT_DOUBLE_EQUAL(power(3.0, 5), 243.0, 0.0);
    CU_ASSERT_DOUBLE_EQUAL(power(-2.0, 10), 1024.0, 0.0);
}

static void assert_same(const double *actual, const double *expected, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT_DOUBLE_EQUAL(actual[i], expected[i], 1e-15);
    }
}

TEST(test_chances_by_hand)
{
    static const struct {
        double chance;
        double out[4];
    } cases[] = {
        {0.0, {1.0, 0.0, 0.0, 0.0}},
        {1.0, {0.0, 0.0, 0.0, 1.0}},
        {0.5, {0.125, 0.375, 0.375, 0.125}},
        {0.1, {0.729, 0.243, 0.027, 0.001}},
        {0.9, {0.001, 0.027, 0.243, 0.729}},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        double out[4];
        binomial(out, 3, cases[i].chance);
        assert_same(out, cases[i].out, 4);
    }
    double alone = 0.0;
    binomial(&alone, 0, 0.3);
    CU_ASSERT_DOUBLE_EQUAL(alone, 1.0, 0.0);
}

/* Mean n p, second moment n p (1 - p) + (n p)^2, from either end. */
TEST(test_moments_of_many)
{
    static const double chances[] = {1e-6, 0.2, 0.5, 0.7, 0.999};
    for (size_t i = 0; i < LENGTH(chances); i++) {
        double out[257];
        double moment[3] = {0.0};
        binomial(out, 256, chances[i]);
        for (size_t j = 0; j <= 256; j++) {
            double count = (double)j;
            moment[0] += out[j];
            moment[1] += out[j] * count;
            moment[2] += out[j] * count * count;
        }
        double mean = 256.0 * chances[i];
        assert_close("sum", moment[0], 1.0, 1e-12);
        assert_close("mean", moment[1], mean, 1e-12);
        assert_close(
            "second", moment[2], mean * (1.0 - chances[i]) + mean * mean, 1e-12);
    }
}

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
    spread(out, 6, 1.0, 31.0);
    static const double doubling[] = {0.0, 1.0, 3.0, 7.0, 15.0, 31.0};
    for (size_t i = 0; i < 6; i++) {
        CU_ASSERT_DOUBLE_EQUAL(out[i], doubling[i], 1e-9);
    }
    spread(out, 6, 9.0, 10.0);
    for (size_t i = 0; i < 6; i++) {
        CU_ASSERT_DOUBLE_EQUAL(out[i], 2.0 * (double)i, 1e-9);
    }
}

/* exp falls from 1 to e^-2 over two units: its mean is (1 - e^-2) / 2. */
TEST(test_mean_of_a_falling_chance)
{
    double end = exp(-2.0);
    assert_close("exponential", mean_between(1.0, end), 0.5 * (1.0 - end), 1e-12);
    assert_close("nearly even", mean_between(1.0, 0.99), 0.995, 1e-12);
    assert_close("to nothing", mean_between(0.8, 0.0), 0.4, 1e-12);
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
        struct grid grid;
        grid_init(&grid, &form, 0.0);
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
    struct grid grid;
    grid_init(&grid, &form, 1.5);
    for (size_t i = 0; i + 1 < NODES; i++) {
        double step_s = fmax(0.0, grid.time_s[i] - 1.5);
        CU_ASSERT_DOUBLE_EQUAL(grid.fresh[i], exp(-step_s / 2.0), 1e-12);
    }
    assert_close("mean", grid.mean_s, 3.5, 0.012);
}

/* Any law, moved by any time: the tail of the law further on. */
static void assert_shifted(
    const struct grid *grid, const struct fulcrum_step_form *form, double time_s)
{
    struct shift shift;
    double row[NODES];
    shift_init(&shift, grid, time_s);
    shift_row(&shift, grid->rested, row);
    CU_ASSERT_DOUBLE_EQUAL(row[0], shift_first(&shift, grid->rested), 0.0);
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
        struct grid grid;
        grid_init(&grid, &form, 0.0);
        for (size_t j = 0; j < LENGTH(times_s); j++) {
            assert_shifted(&grid, &form, times_s[j]);
        }
    }
}

/* The cubic would overshoot at the corner of a row that drops at once. */
TEST(test_shift_stays_a_chance)
{
    struct fulcrum_step_form form = fulcrum_step_form_of(&laws[1]);
    struct grid grid;
    struct shift shift;
    double row[NODES] = {1.0, 1.0, 1.0, 1.0, 1.0};
    double out[NODES];
    grid_init(&grid, &form, 0.0);
    shift_init(&shift, &grid, 0.4 * grid.time_s[1]);
    shift_row(&shift, row, out);
    CU_ASSERT_DOUBLE_EQUAL(out[0], 1.0, 1e-12);
    assert_falls(out);
}

struct fixture {
    struct grid grid;
    struct race race;
};

static void prepare(
    struct fixture *fixture, const struct fulcrum_step *step, double usual_s)
{
    struct fulcrum_step_form form = fulcrum_step_form_of(step);
    grid_init(&fixture->grid, &form, 0.0);
    race_init(&fixture->race, &fixture->grid, usual_s);
}

/* The integral of a row over the grid. */
static double integral(const struct fixture *fixture, const double *row)
{
    double sum = 0.0;
    for (size_t i = 0; i + 1 < NODES; i++) {
        sum += mean_between(row[i], row[i + 1]) *
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
        struct crowd crowd = {.aged = sizes[i][0], .fresh = sizes[i][1]};
        double losers = (double)(sizes[i][0] + sizes[i][1]) - 1.0;
        double row[NODES] = {0.0};
        prepare(&fixture, &step, 1.0 / (losers + 1.0));
        crowd.left = fixture.grid.fresh;
        double mean_s = race_run(&fixture.race, &crowd, 0.25);
        add_losers(&fixture.race, row);
        assert_close("time", mean_s, 1.0 / (losers + 1.0), 2e-3);
        assert_exponential(&fixture, row, 0.25 * losers);
    }
}

/* Two fresh steps of two phases: the mean of the lesser is the integral of the tail
 * squared, and what is left of the greater is the mean of both less twice that. */
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
    struct crowd crowd = {.fresh = 2, .left = fixture.grid.fresh};
    double row[NODES] = {0.0};
    double mean_s = race_run(&fixture.race, &crowd, 1.0);
    add_losers(&fixture.race, row);
    assert_close("lesser", mean_s, lesser, 0.01);
    assert_close("one is left", row[0], 1.0, 1e-9);
    assert_close("of the greater", integral(&fixture, row), 2 - 2 * lesser, 0.02);
}

/* Nearly equal steps: who has aged by more than their spread wins, and has the rest. */
TEST(test_aged_beats_fresh)
{
    static const struct fulcrum_step step = {1.0, 0.1, FULCRUM_LAW_ERLANG};
    struct fixture fixture;
    struct shift shift;
    double aged[NODES];
    double row[NODES] = {0.0};
    prepare(&fixture, &step, 0.4);
    shift_init(&shift, &fixture.grid, 0.5);
    shift_row(&shift, fixture.grid.fresh, aged);
    struct crowd crowd = {.aged = 1, .fresh = 1, .left = aged};
    double mean_s = race_run(&fixture.race, &crowd, 1.0);
    add_losers(&fixture.race, row);
    assert_close("time", mean_s, 0.5, 0.01);
    assert_close("left", integral(&fixture, row), 0.5, 0.02);
}

TEST(test_clear_forgets)
{
    static const struct fulcrum_step step = {1.0, 1.0, FULCRUM_LAW_EXPONENTIAL};
    struct fixture fixture;
    double row[NODES] = {0.0};
    prepare(&fixture, &step, 0.5);
    struct crowd crowd = {.aged = 1, .fresh = 1, .left = fixture.grid.fresh};
    CU_ASSERT_TRUE(race_run(&fixture.race, &crowd, 1.0) > 0.0);
    race_clear(&fixture.race);
    add_losers(&fixture.race, row);
    for (size_t i = 0; i < NODES; i++) {
        CU_ASSERT_DOUBLE_EQUAL(row[i], 0.0, 0.0);
    }
}

struct run {
    struct fulcrum_step step;
    size_t actors;
    size_t threads;
    double time_s;
    size_t slices;
};

struct played {
    struct grid grid;
    struct thread_queue queue;
};

/* All actors are there, those with a thread met at random; then slices pass. */
static void play(struct played *played, const struct run *run)
{
    struct fulcrum_step_form form = fulcrum_step_form_of(&run->step);
    struct slice slice;
    grid_init(&played->grid, &form, 0.0);
    slice_init(&slice, &played->grid, run->time_s / (double)run->slices);
    ASSERT_OK(
        queue_init(&played->queue, &played->grid, run->actors, run->threads, NULL));
    /* Everybody is there: a queue that was just made has nobody with any chance. */
    played->queue.now.chance[run->actors] = 1.0;
    row_set(played->queue.now.left + run->actors * NODES, 1.0 / played->grid.rested[0],
        played->grid.rested);
    for (size_t i = 0; i < run->slices; i++) {
        queue_pass(&played->queue, &slice);
    }
}

static double mean_gone(const struct played *played)
{
    double gone = 0.0;
    double all = 0.0;
    for (size_t n = 0; n <= played->queue.actors; n++) {
        gone += played->queue.now.chance[n] * (double)(played->queue.actors - n);
        all += played->queue.now.chance[n];
    }
    assert_close("all", all, 1.0, 2e-3);
    return gone / all;
}

/* That k of `actors` are gone, for the first few k. */
static void assert_poisson(const double *chance, size_t actors, double mean)
{
    double exact = exp(-mean);
    for (size_t k = 0; k <= 8; k++) {
        CU_ASSERT_DOUBLE_EQUAL(chance[actors - k], exact, 0.01);
        exact *= mean / (double)(k + 1);
    }
}

/* While somebody waits, exponential steps end as a Poisson process. */
TEST(test_exponential_steps_are_poisson)
{
    static const struct run runs[] = {
        {{1.0, 1.0, FULCRUM_LAW_EXPONENTIAL}, 16, 1, 2.0, 8},
        {{1.0, 1.0, FULCRUM_LAW_EXPONENTIAL}, 16, 4, 0.5, 2},
        {{1.0, 1.0, FULCRUM_LAW_EXPONENTIAL}, 24, 8, 0.5, 4},
    };
    for (size_t i = 0; i < LENGTH(runs); i++) {
        struct played played;
        play(&played, &runs[i]);
        assert_poisson(played.queue.now.chance, runs[i].actors,
            runs[i].time_s * (double)runs[i].threads);
        free(played.queue.memory);
    }
}

/* Threads met at random end time / mean steps each, whatever the law. */
TEST(test_threads_end_as_many_steps_as_they_must)
{
    static const struct run runs[] = {
        {{1.0, 0.2, FULCRUM_LAW_LOGNORMAL}, 24, 2, 3.0, 12},
        {{1.0, 0.5, FULCRUM_LAW_ERLANG}, 24, 4, 2.0, 8},
        {{1.0, 2.0, FULCRUM_LAW_LOGNORMAL}, 24, 3, 1.0, 4},
        {{1.0, 0.0, FULCRUM_LAW_PARETO}, 24, 2, 2.0, 8},
    };
    for (size_t i = 0; i < LENGTH(runs); i++) {
        struct played played;
        play(&played, &runs[i]);
        assert_close(
            "gone", mean_gone(&played), runs[i].time_s * (double)runs[i].threads, 0.03);
        free(played.queue.memory);
    }
}

/* Nobody waits: each ends on his own, and the row tells with what chance. */
TEST(test_enough_threads_are_independent)
{
    static const struct run run = {{1.0, 0.5, FULCRUM_LAW_LOGNORMAL}, 2, 2, 0.6, 6};
    struct fulcrum_step_form form = fulcrum_step_form_of(&run.step);
    struct played played;
    play(&played, &run);
    double left = fulcrum_step_excess(&form, 0.6);
    const double *chance = played.queue.now.chance;
    const double *both = played.queue.now.left + (size_t)2 * NODES;
    CU_ASSERT_DOUBLE_EQUAL(chance[2], left * left, 5e-3);
    CU_ASSERT_DOUBLE_EQUAL(chance[1], 2.0 * left * (1.0 - left), 5e-3);
    CU_ASSERT_DOUBLE_EQUAL(chance[0], (1.0 - left) * (1.0 - left), 5e-3);
    for (size_t i = 0; i + 1 < NODES; i++) {
        double exact = fulcrum_step_excess(&form, played.grid.time_s[i] + 0.6) / left;
        CU_ASSERT_DOUBLE_EQUAL(both[i] / chance[2], exact, 0.01);
    }
    free(played.queue.memory);
}

/* Steps of nearly one length on one thread: the next ends a length after the first. */
TEST(test_next_step_begins_when_a_thread_is_free)
{
    static const struct run run = {{1.0, 0.1, FULCRUM_LAW_ERLANG}, 2, 1, 1.0, 8};
    struct played played;
    play(&played, &run);
    /* The first ended at some moment since; the second has a whole step from there. */
    double half = 0.0;
    const double *left = played.queue.now.left + NODES;
    for (size_t i = 0; i + 1 < NODES; i++) {
        half += mean_between(left[i], left[i + 1]) *
                (played.grid.time_s[i + 1] - played.grid.time_s[i]);
    }
    CU_ASSERT_TRUE(played.queue.now.chance[1] > 0.9);
    assert_close("left", half / played.queue.now.chance[1], 0.5, 0.08);
    free(played.queue.memory);
}

TEST(test_too_many_actors_are_no_memory)
{
    struct grid grid = {.mean_s = 1.0};
    struct thread_queue queue = {.actors = 3};
    struct fulcrum_error err = {.status = FULCRUM_OK};
    CU_ASSERT_EQUAL(
        queue_init(&queue, &grid, SIZE_MAX / 4096, 1, &err), FULCRUM_ERR_NO_MEMORY);
    CU_ASSERT_EQUAL(err.status, FULCRUM_ERR_NO_MEMORY);
    CU_ASSERT_EQUAL(queue.actors, 3);
}

/* Anderson's acceleration. */

/* x -> factor x + (1 - factor) i in each component: the fixed point is 0, 1, 2... */
static void apply(const double *factor, size_t length, const double *point, double *out)
{
    for (size_t i = 0; i < length; i++) {
        out[i] = factor[i] * point[i] + (1.0 - factor[i]) * (double)i;
    }
}

static double error_after(const double *factor, size_t length, int turns)
{
    struct anderson anderson = {.length = 0};
    double point[8] = {5.0, -3.0, 7.0, 1.0, 2.0, 4.0, -1.0, 6.0};
    double image[8] = {0.0};
    ASSERT_OK(anderson_init(&anderson, length, NULL));
    for (int i = 0; i < turns; i++) {
        apply(factor, length, point, image);
        anderson_step(&anderson, point, image);
    }
    double error = 0.0;
    for (size_t i = 0; i < length; i++) {
        error = fmax(error, fabs(point[i] - (double)i));
    }
    free(anderson.memory);
    return error;
}

TEST(test_first_step_is_the_image)
{
    static const double factor[] = {0.5, 0.5};
    CU_ASSERT_DOUBLE_EQUAL(error_after(factor, 2, 1), 2.5, 1e-12);
}

/* As many steps as there are factors span all there is to correct. */
TEST(test_linear_map_with_few_modes_ends_at_once)
{
    static const double slow[] = {0.999, 0.9, 0.999, 0.9, 0.5, 0.5, 0.9, 0.999};
    CU_ASSERT_TRUE(error_after(slow, 8, 4) > 1.0);
    CU_ASSERT_TRUE(error_after(slow, 8, 5) < 1e-9);
    static const double alternating[] = {-0.99, 0.99, -0.99, 0.99};
    CU_ASSERT_TRUE(error_after(alternating, 4, 4) < 1e-9);
}

/* Plain iteration would leave 0.99^25 of the first error of 5: 3.9. */
TEST(test_many_modes_shrink_faster_than_plainly)
{
    static const double mixed[] = {0.99, 0.95, 0.9, 0.8, 0.6, 0.4, -0.5, -0.9};
    CU_ASSERT_TRUE(error_after(mixed, 8, 25) < 0.5);
}

TEST(test_fixed_point_is_kept)
{
    struct anderson anderson = {.length = 0};
    double point[2] = {1.0, 2.0};
    const double image[2] = {1.0, 2.0};
    ASSERT_OK(anderson_init(&anderson, 2, NULL));
    for (int i = 0; i < 8; i++) {
        anderson_step(&anderson, point, image);
    }
    CU_ASSERT_DOUBLE_EQUAL(point[0], 1.0, 0.0);
    CU_ASSERT_DOUBLE_EQUAL(point[1], 2.0, 0.0);
    free(anderson.memory);
}

TEST(test_too_long_a_vector_is_no_memory)
{
    struct anderson anderson = {.length = 7};
    struct fulcrum_error err = {.status = FULCRUM_OK};
    CU_ASSERT_EQUAL(
        anderson_init(&anderson, SIZE_MAX / 1024, &err), FULCRUM_ERR_NO_MEMORY);
    CU_ASSERT_EQUAL(err.status, FULCRUM_ERR_NO_MEMORY);
    CU_ASSERT_EQUAL(anderson.length, 7);
}

/* The solver as a whole. */

static struct fulcrum_network plain(double actors, double threads, double per_batch_s)
{
    return plain_network(actors, threads, per_batch_s, 0.05 * per_batch_s);
}

struct few_case {
    double actors;
    double threads;
    double per_batch_s;
    double limit;
    int suits;
};

static struct fulcrum_network network_of(const struct few_case *of)
{
    struct fulcrum_network network = plain(of->actors, of->threads, of->per_batch_s);
    network.batch_size = of->limit;
    return network;
}

static struct fulcrum_cycle few(const struct fulcrum_network *network)
{
    struct fulcrum_cycle out = {.batch = 0.0};
    ASSERT_OK(fulcrum_network_check(network, NULL));
    CU_ASSERT_TRUE_FATAL(fulcrum_greedy_small_accepts(network));
    ASSERT_OK(fulcrum_greedy_small_solve(network, 1.0, &out, NULL));
    return out;
}

static const struct fulcrum_step unit_laws[] = {
    {1.0, 1.0, FULCRUM_LAW_EXPONENTIAL},
    {1.0, 0.3, FULCRUM_LAW_ERLANG},
    {1.0, 0.2, FULCRUM_LAW_LOGNORMAL},
    {1.0, 2.0, FULCRUM_LAW_LOGNORMAL},
    {1.0, 3.0, FULCRUM_LAW_HYPEREXPONENTIAL},
    {1.0, 0.0, FULCRUM_LAW_PARETO},
};
enum { UNIT_LAWS = LENGTH(unit_laws) };

/* One actor: its times add up, whatever their law. */
TEST(test_one_actor_adds_its_times_up)
{
    for (size_t i = 0; i < UNIT_LAWS; i++) {
        struct fulcrum_network network = plain(1.0, 2.0, 0.5);
        network.step = unit_laws[i];
        network.cpu.turbo_frac = 0.5; /* c(1) = 1.25 */
        network.host.per_batch_s = 0.1;
        network.delay_s = 0.3;
        struct fulcrum_cycle cycle = few(&network);
        double turn_s = 1.0 / 1.25 + 0.525 + 0.1 + 0.3;
        assert_close("rate", cycle.steps_per_s, 1.0 / turn_s, 2e-4);
        assert_close("batch", cycle.batch, 1.0, 1e-12);
        assert_close("at CPU", cycle.at_cpu, 0.8 / turn_s, 1e-3);
        assert_close("at GPU", cycle.at_gpu, 0.525 / turn_s, 1e-3);
    }
}

/* Two actors, exponential steps, a thread each: with p = 1 - exp(-t(1)) a batch of one
 * leads to state 1, after a wait of 1 / 2 with chance 1 - p. Nobody steps beside a
 * batch of two, and the wait for the first of both is 1 / 2 again; so a batch of two
 * never starts, and the state is always 1. */
TEST(test_two_actors_by_hand)
{
    struct fulcrum_network network = plain(2.0, 2.0, 0.8);
    double busy_s = 0.8 * 1.05;
    double turn_s = busy_s + 0.5 * exp(-busy_s);
    struct fulcrum_cycle cycle = few(&network);
    assert_close("rate", cycle.steps_per_s, 1.0 / turn_s, 1e-3);
    assert_close("batch", cycle.batch, 1.0, 1e-3);
}

/* Exponential steps have no memory, so that rows of chances lose nothing: what differs
 * is the grid and, where actors queue, the slices. */
TEST(test_exponential_steps_agree_with_the_chain)
{
    static const struct few_case cases[] = {{3, 3, 0.3, 0, 0}, {5, 8, 0.05, 0, 0},
        {5, 8, 1.0, 2, 0}, {12, 12, 0.2, 3, 0}, {12, 12, 2.0, 0, 0}, {2, 1, 0.4, 0, 0},
        {3, 1, 0.7, 0, 0}, {6, 2, 0.5, 2, 0}, {9, 4, 0.1, 0, 0}, {12, 3, 2.0, 5, 0}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_network network = network_of(&cases[i]);
        struct fulcrum_solution exact = {.steps_per_s = 0.0};
        ASSERT_OK(fulcrum_chain_solve(&network, &exact, NULL));
        assert_close("chain", few(&network).steps_per_s, exact.steps_per_s, 6e-3);
    }
}

/* Simulated to 0.8 per cent; the rest is what rows of chances leave out. Where steps
 * lock, that is more of the batch than of the rate. */
TEST(test_other_laws_agree_with_simulation)
{
    static const struct few_case cases[] = {{2, 2, 0.6, 0, 0}, {2, 1, 0.6, 0, 0},
        {4, 6, 0.4, 2, 0}, {5, 2, 0.3, 0, 0}, {10, 12, 0.3, 3, 0}, {10, 4, 0.5, 4, 0}};
    for (size_t i = 0; i < UNIT_LAWS * LENGTH(cases); i += 2) {
        size_t j = i / UNIT_LAWS;
        struct fulcrum_network network = network_of(&cases[j]);
        network.step = unit_laws[(i + j) % UNIT_LAWS];
        struct fulcrum_solution truth = simulated(&network, 1, 0.008);
        struct fulcrum_cycle cycle = few(&network);
        assert_close("rate", cycle.steps_per_s, truth.steps_per_s, 0.03);
        assert_close("batch", cycle.batch, truth.mean_batch, 0.06);
        assert_close("threads", cycle.stepping / cases[j].threads,
            truth.cpu_thread_busy_frac, 0.03);
    }
}

/* A GPU that always works on full batches sets the pace alone. */
TEST(test_full_batches_follow_the_gpu)
{
    struct fulcrum_network network = plain(12.0, 12.0, 2.0);
    network.batch_size = 1.0;
    assert_close("rate", few(&network).steps_per_s, 1.0 / 2.1, 1e-9);
}

/* c(n) = n in both: two cores of two full threads are four cores. */
TEST(test_cores_and_stepping_of_a_machine)
{
    struct fulcrum_network network = plain(4.0, 4.0, 0.5);
    struct fulcrum_cycle four = few(&network);
    assert_close("on cores", four.on_cores, four.stepping, 1e-12);
    assert_close("work", four.stepping, four.steps_per_s, 1e-12);
    network.cpu.core_count = 2.0;
    network.cpu.smt_yield_frac = 1.0;
    struct fulcrum_cycle two = few(&network);
    assert_close("rate", two.steps_per_s, four.steps_per_s, 1e-12);
    CU_ASSERT_TRUE(two.on_cores < two.stepping && two.on_cores > 0.5 * two.stepping);
    network.cpu.smt_yield_frac = 0.0;
    CU_ASSERT_TRUE(few(&network).steps_per_s < two.steps_per_s);
}

/* c(n) bends in the middle of what one batch sees, and all is said of its mean pace. */
TEST(test_machine_agrees_with_simulation)
{
    struct fulcrum_network network = plain(6.0, 8.0, 0.5);
    network.cpu.core_count = 4.0;
    network.cpu.smt_yield_frac = 0.3;
    network.cpu.turbo_frac = 0.4;
    network.cpu.reserved_threads = 2.0;
    network.step = (struct fulcrum_step){1.0, 0.5, FULCRUM_LAW_LOGNORMAL};
    network.delay_s = 0.2;
    network.batch_size = 3.0;
    struct fulcrum_solution truth = simulated(&network, 1, 0.003);
    struct fulcrum_cycle cycle = few(&network);
    assert_close("rate", cycle.steps_per_s, truth.steps_per_s, 0.04);
    assert_close("threads", cycle.stepping / 6.0, truth.cpu_thread_busy_frac, 0.03);
    assert_close("cores", cycle.on_cores / 4.0, truth.cpu_core_busy_frac, 0.07);
    assert_close("CPU", cycle.at_cpu / cycle.steps_per_s, truth.residence.cpu_s, 0.06);
}

TEST(test_gpu_stretch_lengthens_the_gpu_alone)
{
    struct fulcrum_network network = plain(5.0, 4.0, 0.3);
    network.host.per_batch_s = 0.1;
    struct fulcrum_cycle stretched;
    ASSERT_OK(fulcrum_greedy_small_solve(&network, 2.0, &stretched, NULL));
    network.gpu.per_batch_s *= 2.0;
    network.gpu.per_item_s *= 2.0;
    struct fulcrum_cycle longer = few(&network);
    assert_close("rate", stretched.steps_per_s, longer.steps_per_s, 1e-12);
    assert_close("at GPU", stretched.at_gpu, longer.at_gpu, 1e-12);
}

/* Throughput as the time of an item falls by little, six times. */
static void assert_rises_smoothly(struct fulcrum_network *network)
{
    double before = few(network).steps_per_s;
    for (int k = 0; k < 6; k++) {
        network->gpu.per_item_s -= 1e-4;
        double after = few(network).steps_per_s;
        CU_ASSERT(after >= before * (1.0 - 1e-5));
        CU_ASSERT(after <= before * (1.0 + 2e-3));
        before = after;
    }
}

/* Long steps make a cycle settle slowly: one that stopped early, or that dropped a
 * state in one network and not in the next, would not get faster as a time falls. */
TEST(test_close_networks_get_close_answers)
{
    static const struct fulcrum_step steps[] = {
        {1.0, 2.5, FULCRUM_LAW_LOGNORMAL},
        {1.0, 0.0, FULCRUM_LAW_PARETO},
        {1.0, 2.9, FULCRUM_LAW_HYPEREXPONENTIAL},
    };
    static const double threads[] = {148.0, 5.0};
    for (size_t i = 0; i < 2 * LENGTH(steps); i++) {
        struct fulcrum_network network = plain(13.0, threads[i % 2], 0.2);
        network.step = steps[i / 2];
        network.gpu.per_item_s = 1e-3;
        network.batch_size = 4.0;
        assert_rises_smoothly(&network);
    }
}

/* A delay a thousand steps long makes actors alternate for ever. */
TEST(test_rhythm_does_not_settle)
{
    struct fulcrum_network network = plain(9.0, 9.0, 25.0);
    struct fulcrum_error err = {.status = FULCRUM_OK};
    struct fulcrum_cycle out = {.batch = -1.0};
    network.delay_s = 1500.0;
    CU_ASSERT_FALSE(fulcrum_greedy_small_accepts(&network));
    CU_ASSERT_EQUAL(
        fulcrum_greedy_small_solve(&network, 1.0, &out, &err), FULCRUM_ERR_NO_FIT);
    CU_ASSERT_EQUAL(err.status, FULCRUM_ERR_NO_FIT);
    CU_ASSERT_DOUBLE_EQUAL(out.batch, -1.0, 0.0);
}

TEST(test_what_is_accepted)
{
    struct fulcrum_network network = plain(4.0, 2.0, 0.5);
    CU_ASSERT_TRUE(fulcrum_greedy_small_accepts(&network));
    network.depth = 2.0;
    CU_ASSERT_TRUE(fulcrum_greedy_small_accepts(&network));
    network.host.per_batch_s = 0.1;
    CU_ASSERT_FALSE(fulcrum_greedy_small_accepts(&network));
    network.depth = 1.0;
    network.delay_s = 0.1;
    CU_ASSERT_FALSE(fulcrum_greedy_small_accepts(&network));
    network.cpu.thread_count = 4.0;
    CU_ASSERT_TRUE(fulcrum_greedy_small_accepts(&network));
    network.delay_s = 11.0;
    CU_ASSERT_FALSE(fulcrum_greedy_small_accepts(&network));
    network.delay_s = 0.0;
    network.step = (struct fulcrum_step){1.0, 0.05, FULCRUM_LAW_LOGNORMAL};
    CU_ASSERT_FALSE(fulcrum_greedy_small_accepts(&network));
    network.step.cv = 0.5;
    network.actors = 65.0;
    network.cpu.thread_count = 512.0;
    CU_ASSERT_FALSE(fulcrum_greedy_small_accepts(&network));
    network.actors = 4.0;
    CU_ASSERT_TRUE(fulcrum_greedy_small_accepts(&network));
    network.policy = FULCRUM_BATCH_FIXED;
    network.batch_size = 2.0;
    CU_ASSERT_FALSE(fulcrum_greedy_small_accepts(&network));
}

TEST(test_what_it_suits)
{
    static const struct few_case cases[] = {
        {6, 6, 0.5, 0, 1},
        {7, 8, 0.5, 0, 0},
        {7, 8, 0.5, 7, 0},
        {7, 8, 0.5, 3, 1},
        {64, 64, 0.1, 8, 1},
        {64, 64, 0.1, 40, 0}, /* batches stay below it */
        {64, 64, 1.0, 4, 0},  /* all are full */
        {65, 65, 0.1, 8, 0},
        {12, 4, 0.5, 0, 1},
        {21, 16, 0.5, 0, 0},
        {24, 16, 0.2, 5, 1},
        {25, 16, 0.2, 5, 0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_network network = network_of(&cases[i]);
        CU_ASSERT_EQUAL(fulcrum_greedy_small_suits(&network), cases[i].suits);
    }
}
