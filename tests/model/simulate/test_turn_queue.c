/* test_turn_queue.c - turns are taken in the order of the line, slice by slice. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/simulate/simulate.h"

#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdbool.h>

#include "tests/support/suite.h"

enum { ACTORS = 37, THREADS = 5, EVENTS = 20000 };

TEST(test_nobody_there_never_ends)
{
    struct fulcrum_turn_queue queue;
    CU_ASSERT_FATAL(fulcrum_turn_queue_init(&queue, 3, 1));
    CU_ASSERT(isinf(fulcrum_turn_queue_next(&queue)));
    fulcrum_turn_queue_join(&queue, 1.0);
    CU_ASSERT(isinf(fulcrum_turn_queue_next(&queue)));
    CU_ASSERT_EQUAL(queue.waiting_count, 1);
    fulcrum_turn_queue_start(&queue, 10.0, 5.0);
    CU_ASSERT_EQUAL(queue.waiting_count, 0);
    CU_ASSERT_EQUAL(queue.running_count, 1);
    CU_ASSERT_EQUAL(fulcrum_turn_queue_next(&queue), 11.0);
    CU_ASSERT_EQUAL(fulcrum_turn_queue_end(&queue), 1);
    CU_ASSERT(isinf(fulcrum_turn_queue_next(&queue)));
    fulcrum_turn_queue_clear(&queue);
    fulcrum_turn_queue_clear(&queue);
    CU_ASSERT_PTR_NULL(queue.running);
}

/* Steps of 3, 1 and 5 on one thread, slices of 2: A A | B | C C | A | C C | C. */
TEST(test_one_thread_goes_round_the_line)
{
    static const struct {
        double end_s;
        bool is_over;
    } expected[] = {{2, 0}, {3, 1}, {5, 0}, {6, 1}, {8, 0}, {9, 1}};
    static const double steps_s[] = {3, 1, 5};
    struct fulcrum_turn_queue queue;
    CU_ASSERT_FATAL(fulcrum_turn_queue_init(&queue, 3, 1));
    for (size_t i = 0; i < 3; i++) {
        fulcrum_turn_queue_join(&queue, steps_s[i]);
    }
    double now_s = 0.0;
    for (size_t i = 0; i < LENGTH(expected); i++) {
        fulcrum_turn_queue_start(&queue, now_s, 2.0);
        now_s = fulcrum_turn_queue_next(&queue);
        CU_ASSERT_EQUAL(now_s, expected[i].end_s);
        CU_ASSERT_EQUAL(fulcrum_turn_queue_end(&queue), expected[i].is_over);
    }
    CU_ASSERT_EQUAL(queue.waiting_count + queue.running_count, 0);
    fulcrum_turn_queue_clear(&queue);
}

TEST(test_a_step_as_long_as_a_slice_ends_with_it)
{
    struct fulcrum_turn_queue queue;
    CU_ASSERT_FATAL(fulcrum_turn_queue_init(&queue, 2, 2));
    fulcrum_turn_queue_join(&queue, 2.0);
    fulcrum_turn_queue_join(&queue, 0.0);
    fulcrum_turn_queue_start(&queue, 1.0, 2.0);
    fulcrum_turn_queue_start(&queue, 1.0, 2.0);
    CU_ASSERT_EQUAL(fulcrum_turn_queue_next(&queue), 1.0);
    CU_ASSERT_EQUAL(fulcrum_turn_queue_end(&queue), 1);
    CU_ASSERT_EQUAL(fulcrum_turn_queue_next(&queue), 3.0);
    CU_ASSERT_EQUAL(fulcrum_turn_queue_end(&queue), 1);
    fulcrum_turn_queue_clear(&queue);
}

/* The same queue as plain arrays: the least is looked for, the line is moved up. */
struct plain_queue {
    struct fulcrum_turn running[THREADS];
    double waiting[ACTORS];
    size_t running_count;
    size_t waiting_count;
};

static void plain_start(struct plain_queue *plain, double now_s, double slice_s)
{
    double work_s = plain->waiting[0];
    plain->waiting_count--;
    for (size_t i = 0; i < plain->waiting_count; i++) {
        plain->waiting[i] = plain->waiting[i + 1];
    }
    double spent_s = fmin(work_s, slice_s);
    plain->running[plain->running_count++] =
        (struct fulcrum_turn){now_s + spent_s, work_s - spent_s};
}

static size_t plain_next(const struct plain_queue *plain)
{
    size_t next = 0;
    for (size_t i = 1; i < plain->running_count; i++) {
        next =
            plain->running[i].end_work_s < plain->running[next].end_work_s ? i : next;
    }
    return next;
}

static int plain_end(struct plain_queue *plain)
{
    size_t next = plain_next(plain);
    double left_s = plain->running[next].left_work_s;
    plain->running[next] = plain->running[--plain->running_count];
    if (left_s > 0.0) {
        plain->waiting[plain->waiting_count++] = left_s;
    }
    return !(left_s > 0.0);
}

/* Everybody's step is replaced by a new one when it ends; the ring goes round often. */
TEST(test_many_threads_agree_with_plain_arrays)
{
    static struct plain_queue plain;
    struct fulcrum_turn_queue queue;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rng);
    CU_ASSERT_FATAL(fulcrum_turn_queue_init(&queue, ACTORS, THREADS));
    for (size_t i = 0; i < ACTORS; i++) {
        plain.waiting[plain.waiting_count++] = gsl_rng_uniform(rng);
        fulcrum_turn_queue_join(&queue, plain.waiting[i]);
    }
    double now_s = 0.0;
    int differ = 0;
    for (int event = 0; event < EVENTS; event++) {
        while (queue.running_count < THREADS) {
            double slice_s = 0.05 + 0.4 * gsl_rng_uniform(rng);
            fulcrum_turn_queue_start(&queue, now_s, slice_s);
            plain_start(&plain, now_s, slice_s);
        }
        now_s = fulcrum_turn_queue_next(&queue);
        differ += now_s != plain.running[plain_next(&plain)].end_work_s;
        bool is_over = fulcrum_turn_queue_end(&queue);
        differ += is_over != plain_end(&plain);
        if (is_over) {
            double work_s = 3.0 * gsl_rng_uniform(rng);
            fulcrum_turn_queue_join(&queue, work_s);
            plain.waiting[plain.waiting_count++] = work_s;
        }
        differ += queue.waiting_count != plain.waiting_count;
    }
    CU_ASSERT_EQUAL(differ, 0);
    fulcrum_turn_queue_clear(&queue);
    gsl_rng_free(rng);
}
