/* test_finish_heap.c - finish times leave the heap in the order of a sort. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/simulate/simulate.h"

#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <math.h>

#include "tests/support/suite.h"

enum { MOST = 257, ROUNDS = 20000 };

struct fixture {
    double room[MOST + 1];
    double sorted[MOST];
    struct fulcrum_finish_heap heap;
    gsl_rng *rng;
};

static void open_fixture(struct fixture *fixture)
{
    fulcrum_finish_heap_init(&fixture->heap, fixture->room);
    CU_ASSERT(isinf(fulcrum_finish_heap_top(&fixture->heap)));
    fixture->rng = gsl_rng_alloc(gsl_rng_taus2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(fixture->rng);
    gsl_rng_set(fixture->rng, 5);
}

/* Of a hundred different times, so that many are equal. */
static double draw(const struct fixture *fixture)
{
    return (double)gsl_rng_uniform_int(fixture->rng, 100);
}

TEST(test_times_leave_in_order)
{
    static struct fixture fixture;
    open_fixture(&fixture);
    for (size_t i = 0; i < MOST; i++) {
        fixture.sorted[i] = draw(&fixture);
        fulcrum_finish_heap_push(&fixture.heap, fixture.sorted[i]);
    }
    gsl_sort(fixture.sorted, 1, MOST);
    for (size_t i = 0; i < MOST; i++) {
        CU_ASSERT_EQUAL(fulcrum_finish_heap_top(&fixture.heap), fixture.sorted[i]);
        fulcrum_finish_heap_pop(&fixture.heap);
    }
    CU_ASSERT_EQUAL(fixture.heap.count, 0);
    CU_ASSERT(isinf(fulcrum_finish_heap_top(&fixture.heap)));
    gsl_rng_free(fixture.rng);
}

/* The oracle keeps the same times in a sorted array. */
static void replace_top(struct fixture *fixture, double finish)
{
    CU_ASSERT_EQUAL(fulcrum_finish_heap_top(&fixture->heap), fixture->sorted[0]);
    fulcrum_finish_heap_replace(&fixture->heap, finish);
    fixture->sorted[0] = finish;
    gsl_sort(fixture->sorted, 1, fixture->heap.count);
}

TEST(test_replacing_the_top_keeps_the_order)
{
    static struct fixture fixture;
    open_fixture(&fixture);
    for (size_t count = 1; count <= 9; count++) {
        fixture.sorted[count - 1] = draw(&fixture);
        fulcrum_finish_heap_push(&fixture.heap, fixture.sorted[count - 1]);
        gsl_sort(fixture.sorted, 1, count);
        for (int i = 0; i < ROUNDS / 100; i++) {
            replace_top(&fixture, draw(&fixture));
        }
    }
    gsl_rng_free(fixture.rng);
}

TEST(test_pushes_and_pops_mix)
{
    static struct fixture fixture;
    open_fixture(&fixture);
    for (int i = 0; i < ROUNDS; i++) {
        size_t count = fixture.heap.count;
        int grows = count == 0 || (count < 40 && gsl_rng_uniform(fixture.rng) < 0.5);
        if (grows) {
            fixture.sorted[count] = draw(&fixture);
            fulcrum_finish_heap_push(&fixture.heap, fixture.sorted[count]);
        } else {
            fixture.sorted[0] = fixture.sorted[count - 1];
            fulcrum_finish_heap_pop(&fixture.heap);
        }
        count = fixture.heap.count;
        gsl_sort(fixture.sorted, 1, count);
        CU_ASSERT(count == 0 ||
                  !(fulcrum_finish_heap_top(&fixture.heap) > fixture.sorted[0] ||
                      fulcrum_finish_heap_top(&fixture.heap) < fixture.sorted[0]));
    }
    gsl_rng_free(fixture.rng);
}
