/* test_thread_queue.c - actors that wait for threads, by Poisson and by renewal. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fast/greedy_small.h"

#include <math.h>
#include <stdint.h>

#include "tests/support/suite.h"

enum { NODES = FULCRUM_RESIDUAL_NODES };

struct run {
    struct fulcrum_step step;
    size_t actors;
    size_t threads;
    double time_s;
    size_t slices;
};

struct fixture {
    struct fulcrum_residual_grid grid;
    struct fulcrum_thread_queue queue;
};

/* All actors are there, those with a thread met at random; then slices pass. */
static void play(struct fixture *fixture, const struct run *run)
{
    struct fulcrum_step_form form = fulcrum_step_form_of(&run->step);
    struct fulcrum_slice slice;
    fulcrum_residual_grid_init(&fixture->grid, &form, 0.0);
    fulcrum_slice_init(&slice, &fixture->grid, run->time_s / (double)run->slices);
    ASSERT_OK(fulcrum_thread_queue_init(
        &fixture->queue, &fixture->grid, run->actors, run->threads, NULL));
    fulcrum_thread_queue_empty(&fixture->queue);
    fulcrum_thread_queue_set(&fixture->queue, run->actors, 1.0, fixture->grid.rested);
    for (size_t i = 0; i < run->slices; i++) {
        fulcrum_thread_queue_pass(&fixture->queue, &slice);
    }
}

static double mean_gone(const struct fixture *fixture)
{
    double gone = 0.0;
    double all = 0.0;
    for (size_t n = 0; n <= fixture->queue.actors; n++) {
        gone += fixture->queue.now.chance[n] * (double)(fixture->queue.actors - n);
        all += fixture->queue.now.chance[n];
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
        struct fixture fixture;
        play(&fixture, &runs[i]);
        assert_poisson(fixture.queue.now.chance, runs[i].actors,
            runs[i].time_s * (double)runs[i].threads);
        fulcrum_thread_queue_clear(&fixture.queue);
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
        struct fixture fixture;
        play(&fixture, &runs[i]);
        assert_close("gone", mean_gone(&fixture),
            runs[i].time_s * (double)runs[i].threads, 0.03);
        fulcrum_thread_queue_clear(&fixture.queue);
    }
}

/* Nobody waits: each ends on his own, and the row tells with what chance. */
TEST(test_enough_threads_are_independent)
{
    static const struct run run = {{1.0, 0.5, FULCRUM_LAW_LOGNORMAL}, 2, 2, 0.6, 6};
    struct fulcrum_step_form form = fulcrum_step_form_of(&run.step);
    struct fixture fixture;
    play(&fixture, &run);
    double left = fulcrum_step_excess(&form, 0.6);
    const double *chance = fixture.queue.now.chance;
    const double *both = fixture.queue.now.left + (size_t)2 * NODES;
    CU_ASSERT_DOUBLE_EQUAL(chance[2], left * left, 5e-3);
    CU_ASSERT_DOUBLE_EQUAL(chance[1], 2.0 * left * (1.0 - left), 5e-3);
    CU_ASSERT_DOUBLE_EQUAL(chance[0], (1.0 - left) * (1.0 - left), 5e-3);
    for (size_t i = 0; i + 1 < NODES; i++) {
        double exact = fulcrum_step_excess(&form, fixture.grid.time_s[i] + 0.6) / left;
        CU_ASSERT_DOUBLE_EQUAL(both[i] / chance[2], exact, 0.01);
    }
    fulcrum_thread_queue_clear(&fixture.queue);
}

/* Steps of nearly one length on one thread: the next ends one length after the first.
 */
TEST(test_next_step_begins_when_a_thread_is_free)
{
    static const struct run run = {{1.0, 0.1, FULCRUM_LAW_ERLANG}, 2, 1, 1.0, 8};
    struct fixture fixture;
    play(&fixture, &run);
    /* The first ended at some moment since; the second has a whole step from there. */
    double half = 0.0;
    const double *left = fixture.queue.now.left + NODES;
    for (size_t i = 0; i + 1 < NODES; i++) {
        half += fulcrum_residual_mean(left[i], left[i + 1]) *
                (fixture.grid.time_s[i + 1] - fixture.grid.time_s[i]);
    }
    CU_ASSERT_TRUE(fixture.queue.now.chance[1] > 0.9);
    assert_close("left", half / fixture.queue.now.chance[1], 0.5, 0.08);
    fulcrum_thread_queue_clear(&fixture.queue);
}

TEST(test_too_many_actors_are_no_memory)
{
    struct fulcrum_residual_grid grid = {.mean_s = 1.0};
    struct fulcrum_thread_queue queue = {.actors = 3};
    struct fulcrum_error err = {.status = FULCRUM_OK};
    CU_ASSERT_EQUAL(fulcrum_thread_queue_init(&queue, &grid, SIZE_MAX / 4096, 1, &err),
        FULCRUM_ERR_NO_MEMORY);
    CU_ASSERT_EQUAL(err.status, FULCRUM_ERR_NO_MEMORY);
    CU_ASSERT_EQUAL(queue.actors, 3);
}
