/* test_simulate_parts.c - queues, draws and means that a simulation is made of. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdbool.h>

#include "model/simulate/simulate.c" /* NOLINT(bugprone-suspicious-include) */
#include "tests/support/suite.h"

enum { MOST = 257, ROUNDS = 20000 };

struct fixture {
    double room[MOST + 1];
    double sorted[MOST];
    struct heap heap;
    gsl_rng *rng;
};

static void with_heap(void (*check)(struct fixture *f))
{
    static struct fixture f;
    heap_init(&f.heap, f.room);
    CU_ASSERT(isinf(f.heap.value[0]));
    f.rng = gsl_rng_alloc(gsl_rng_taus2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f.rng);
    gsl_rng_set(f.rng, 5);
    check(&f);
    gsl_rng_free(f.rng);
}

#define HEAP_TEST(function) TEST_EACH(function, with_heap, struct fixture *f)

/* Of a hundred different times, so that many are equal. */
static double draw_time(const struct fixture *fixture)
{
    return (double)gsl_rng_uniform_int(fixture->rng, 100);
}

HEAP_TEST(test_times_leave_in_order)
{
    for (size_t i = 0; i < MOST; i++) {
        f->sorted[i] = draw_time(f);
        heap_push(&f->heap, f->sorted[i]);
    }
    gsl_sort(f->sorted, 1, MOST);
    for (size_t i = 0; i < MOST; i++) {
        CU_ASSERT_EQUAL(f->heap.value[0], f->sorted[i]);
        heap_pop(&f->heap);
    }
    CU_ASSERT_EQUAL(f->heap.count, 0);
    CU_ASSERT(isinf(f->heap.value[0]));
}

/* The oracle keeps the same times in a sorted array. */
static void replace_top(struct fixture *fixture, double finish)
{
    CU_ASSERT_EQUAL(fixture->heap.value[0], fixture->sorted[0]);
    heap_replace(&fixture->heap, finish);
    fixture->sorted[0] = finish;
    gsl_sort(fixture->sorted, 1, fixture->heap.count);
}

HEAP_TEST(test_replacing_the_top_keeps_the_order)
{
    for (size_t count = 1; count <= 9; count++) {
        f->sorted[count - 1] = draw_time(f);
        heap_push(&f->heap, f->sorted[count - 1]);
        gsl_sort(f->sorted, 1, count);
        for (int i = 0; i < ROUNDS / 100; i++) {
            replace_top(f, draw_time(f));
        }
    }
}

HEAP_TEST(test_pushes_and_pops_mix)
{
    for (int i = 0; i < ROUNDS; i++) {
        size_t count = f->heap.count;
        int grows = count == 0 || (count < 40 && gsl_rng_uniform(f->rng) < 0.5);
        if (grows) {
            f->sorted[count] = draw_time(f);
            heap_push(&f->heap, f->sorted[count]);
        } else {
            f->sorted[0] = f->sorted[count - 1];
            heap_pop(&f->heap);
        }
        count = f->heap.count;
        gsl_sort(f->sorted, 1, count);
        CU_ASSERT(count == 0 || !(f->heap.value[0] > f->sorted[0] ||
                                    f->heap.value[0] < f->sorted[0]));
    }
}

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

TEST(test_half_width_is_students)
{
    struct batch_means means = {.count = 0};
    CU_ASSERT(isinf(half_width_rel_of(&means)));
    static const double window_s[] = {4.0, 5.0, 6.0, 5.0};
    for (size_t i = 0; i < 4; i++) {
        batch_means_add(&means, window_s[i]);
    }
    /* Mean 5, standard deviation sqrt(2/3), t(.975, 3) = 3.18244630528371. */
    assert_close("half-width", half_width_rel_of(&means),
        3.18244630528371 * sqrt(2.0 / 3.0) / 2.0 / 5.0, 1e-9);
    /* Offsets -1, 0, 1, 0: no two neighbours differ from the mean. */
    CU_ASSERT_DOUBLE_EQUAL(correlation_of(&means), 0.0, 1e-12);
}

TEST(test_equal_windows_have_no_width_and_no_correlation)
{
    struct batch_means means = {.count = 0};
    for (int i = 0; i < 7; i++) {
        batch_means_add(&means, 0.5);
    }
    CU_ASSERT_EQUAL(half_width_rel_of(&means), 0.0);
    CU_ASSERT_EQUAL(correlation_of(&means), 0.0);
}

TEST(test_full_room_merges_neighbours)
{
    struct batch_means means = {.count = 0};
    double sum = 0.0;
    for (int i = 1; i <= 4 * WINDOWS_MOST; i++) {
        batch_means_add(&means, (double)i);
        sum += (double)i;
        CU_ASSERT(means.count <= WINDOWS_MOST);
    }
    CU_ASSERT_EQUAL(means.merged, 4);
    CU_ASSERT_EQUAL(means.count, WINDOWS_MOST);
    CU_ASSERT_EQUAL(means.window_s[0], 1.0 + 2.0 + 3.0 + 4.0);
    double kept = 0.0;
    for (size_t i = 0; i < means.count; i++) {
        kept += means.window_s[i];
    }
    assert_close("sum", kept, sum, 1e-15);
    CU_ASSERT(correlation_of(&means) > 0.9);
}

enum { DRAWS = 200000 };

/* Distribution functions written down from the literature for a mean of 2, apart from
 * how the code works its parameters out. */
static double lognormal(double sigma, double time_s)
{
    return gsl_cdf_lognormal_P(time_s, log(2.0) - 0.5 * sigma * sigma, sigma);
}

static double lognormal_half(double time_s)
{
    return lognormal(sqrt(log(1.25)), time_s); /* cv 0.5 */
}

static double lognormal_five(double time_s)
{
    return lognormal(sqrt(log(26.0)), time_s); /* cv 5 */
}

static double exponential(double time_s)
{
    return -expm1(-time_s / 2.0);
}

static double erlang_eleven(double time_s)
{
    return gsl_sf_gamma_inc_P(11.0, 5.5 * time_s); /* cv 0.3: round(11.1) stages */
}

/* cv 2: p = (1 + sqrt(3 / 5)) / 2, and phase means 1 / p and 1 / (1 - p). */
static double hyperexponential(double time_s)
{
    double p = 0.5 * (1.0 + sqrt(0.6));
    return -p * expm1(-p * time_s) - (1.0 - p) * expm1(-(1.0 - p) * time_s);
}

static double pareto(double time_s)
{
    double least = 2.2 / 2.1;
    return time_s > least ? 1.0 - pow(time_s / least, -2.1) : 0.0;
}

static const struct {
    struct fulcrum_step step;
    double (*below)(double time_s);
    double cv;
} laws[] = {
    {{2.0, 0.5, FULCRUM_LAW_LOGNORMAL}, lognormal_half, 0.5},
    {{2.0, 5.0, FULCRUM_LAW_LOGNORMAL}, lognormal_five, 5.0},
    {{2.0, 0.0, FULCRUM_LAW_EXPONENTIAL}, exponential, 1.0},
    {{2.0, 0.3, FULCRUM_LAW_ERLANG}, erlang_eleven, 0.30151134457776363},
    {{2.0, 2.0, FULCRUM_LAW_HYPEREXPONENTIAL}, hyperexponential, 2.0},
    {{2.0, 9.0, FULCRUM_LAW_PARETO}, pareto, 2.1821789023599236},
};

#define LAW_COUNT (LENGTH(laws))

/* The Kolmogorov-Smirnov distance, which sorts the draws. */
static double distance(double *draw, double (*below)(double time_s))
{
    gsl_sort(draw, 1, DRAWS);
    double most = 0.0;
    for (size_t i = 0; i < DRAWS; i++) {
        double expected = below(draw[i]);
        most = fmax(most, fabs(expected - (double)i / DRAWS));
        most = fmax(most, fabs(expected - (double)(i + 1) / DRAWS));
    }
    return most;
}

static void draw_all(const struct fulcrum_step *step, uint64_t seed, double *draw)
{
    struct source source;
    source_init(&source, step, seed);
    for (size_t i = 0; i < DRAWS; i++) {
        draw[i] = source_next(&source);
    }
}

/* 2 / sqrt(n) is exceeded by chance once in 1500 times; the seed is fixed. */
TEST(test_draws_follow_their_law)
{
    static double draw[DRAWS];
    for (size_t i = 0; i < LAW_COUNT; i++) {
        draw_all(&laws[i].step, 7, draw);
        double found = distance(draw, laws[i].below);
        if (found * sqrt(DRAWS) > 2.0) {
            assert_close("distance", found, 0.0, 0.0);
        }
        CU_ASSERT(draw[0] > 0.0 && isfinite(draw[DRAWS - 1]));
    }
}

/* Of the ranks of draws that far apart. */
static double correlation(
    const double *draw, size_t apart, double (*below)(double time_s))
{
    double product = 0.0;
    for (size_t k = apart; k < DRAWS; k++) {
        product += (below(draw[k]) - 0.5) * (below(draw[k - apart]) - 0.5);
    }
    return 12.0 * product / DRAWS;
}

/* Neighbours and draws a block apart: five standard errors of a correlation of 0. */
TEST(test_draws_do_not_depend_on_each_other)
{
    static const size_t lags[] = {1, 2, 3, DRAWS_AHEAD};
    static double draw[DRAWS];
    for (size_t i = 0; i < LAW_COUNT; i++) {
        draw_all(&laws[i].step, 3, draw);
        double most = 0.0;
        for (size_t j = 0; j < LENGTH(lags); j++) {
            most = fmax(most, fabs(correlation(draw, lags[j], laws[i].below)));
        }
        CU_ASSERT(most < 5.0 / sqrt(DRAWS));
    }
}

TEST(test_equal_steps_are_equal)
{
    static const struct fulcrum_step step = {0.125, 0.0, FULCRUM_LAW_DETERMINISTIC};
    struct source source;
    source_init(&source, &step, 1);
    for (int i = 0; i < 2 * DRAWS_AHEAD; i++) {
        CU_ASSERT_EQUAL(source_next(&source), 0.125);
    }
    CU_ASSERT_EQUAL(source_cv(&step), 0.0);
}

/* A step that takes no time is legal whatever its law. */
TEST(test_no_mean_gives_no_length)
{
    for (size_t i = 0; i < LAW_COUNT; i++) {
        struct fulcrum_step step = laws[i].step;
        step.mean_s = 0.0;
        struct source source;
        source_init(&source, &step, 1);
        CU_ASSERT_EQUAL(source_next(&source), 0.0);
        CU_ASSERT_EQUAL(source.length_s[DRAWS_AHEAD - 1], 0.0);
    }
}

TEST(test_cv_is_the_one_that_is_drawn)
{
    for (size_t i = 0; i < LAW_COUNT; i++) {
        assert_close("cv", source_cv(&laws[i].step), laws[i].cv, 1e-12);
    }
}

TEST(test_seeds_give_streams_of_their_own)
{
    struct source first;
    struct source same;
    struct source other;
    source_init(&first, &laws[0].step, 5);
    source_init(&same, &laws[0].step, 5);
    source_init(&other, &laws[0].step, 6);
    for (int i = 0; i < 2 * DRAWS_AHEAD; i++) {
        double length_s = source_next(&first);
        CU_ASSERT_EQUAL(length_s, source_next(&same));
        CU_ASSERT_NOT_EQUAL(length_s, source_next(&other));
    }
}

TEST(test_uniform_numbers_are_uniform)
{
    struct source source;
    source_init(&source, &laws[0].step, 5);
    double sum = 0.0;
    double square = 0.0;
    for (int i = 0; i < DRAWS; i++) {
        double value = source_uniform(&source);
        CU_ASSERT(value > 0.0 && value < 1.0);
        sum += value;
        square += value * value;
    }
    /* Five standard errors. */
    assert_close("mean", sum / DRAWS, 0.5, 5.0 * sqrt(1.0 / 3.0 / DRAWS));
    assert_close("square", square / DRAWS, 1.0 / 3.0, 5.0 * sqrt(0.8 / DRAWS));
}
