/* test_schedule.c - the time of a calibration is shared out and ends when it should. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/probe/probe.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "tests/support/suite.h"

static const double shares[] = {0.1, 0.4, 0.5};

/* Plays a run in which visit i takes `take[i]` of its time. Returns its end. */
static double play(const struct fulcrum_schedule *schedule, const double take[3])
{
    double now_s = 0.0;
    size_t backward_count = 0;
    for (size_t visit = 0; visit < 3 * schedule->round_count; visit++) {
        double end_s =
            fulcrum_schedule_visit_end(schedule, now_s, visit / 3, visit % 3);
        backward_count += end_s < now_s;
        now_s += take[visit % 3] * (end_s - now_s);
    }
    CU_ASSERT_EQUAL(backward_count, 0);
    return now_s;
}

TEST(test_rounds_grow_with_the_budget)
{
    static const struct {
        double budget_s;
        size_t rounds;
    } rows[] = {{1.0, 3}, {10.0, 3}, {60.0, 8}, {3600.0, 12}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct fulcrum_schedule schedule =
            fulcrum_schedule_plan(rows[i].budget_s, shares, 3);
        CU_ASSERT_EQUAL(schedule.round_count, rows[i].rounds);
    }
}

TEST(test_obedient_probes_end_on_time)
{
    static const double take[] = {1.0, 1.0, 1.0};
    struct fulcrum_schedule schedule = fulcrum_schedule_plan(60.0, shares, 3);
    assert_close(
        "end", play(&schedule, take), schedule.budget_s - schedule.reserve_s, 1e-9);
}

TEST(test_visits_have_the_shares_asked_for)
{
    struct fulcrum_schedule schedule = fulcrum_schedule_plan(60.0, shares, 3);
    double first_s = fulcrum_schedule_visit_end(&schedule, 0.0, 0, 0);
    double second_s = fulcrum_schedule_visit_end(&schedule, first_s, 0, 1) - first_s;
    assert_close("ratio", second_s / first_s, 4.0, 1e-9);
}

TEST(test_late_and_idle_probes_move_the_others_not_the_end)
{
    static const double late[] = {1.0, 1.6, 1.0};
    static const double idle[] = {0.0, 1.0, 1.0};
    struct fulcrum_schedule schedule = fulcrum_schedule_plan(60.0, shares, 3);
    CU_ASSERT(play(&schedule, late) < 1.05 * 60.0);
    assert_close(
        "idle", play(&schedule, idle), schedule.budget_s - schedule.reserve_s, 1e-9);
}

TEST(test_time_that_is_up_leaves_nothing)
{
    struct fulcrum_schedule schedule = fulcrum_schedule_plan(10.0, shares, 3);
    assert_close("over", fulcrum_schedule_visit_end(&schedule, 12.0, 1, 0), 12.0, 0.0);
}

TEST(test_thread_counts_cover_the_knee)
{
    static const struct {
        size_t cores;
        size_t threads;
        size_t most;
        size_t count;
        size_t expected[FULCRUM_THREAD_COUNTS_MAX];
    } rows[] = {
        {2, 2, 100, 5, {1, 2, 3, 4, 8}},
        {1, 1, 100, 3, {1, 2, 4}},
        {8, 16, 100, 7, {1, 4, 8, 10, 12, 16, 32}},
        {64, 128, 128, 6, {1, 32, 64, 80, 96, 128}},
        {64, 128, 1, 1, {1}},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        size_t counts[FULCRUM_THREAD_COUNTS_MAX];
        size_t count =
            fulcrum_thread_counts(counts, rows[i].cores, rows[i].threads, rows[i].most);
        CU_ASSERT_EQUAL_FATAL(count, rows[i].count);
        CU_ASSERT_EQUAL(memcmp(counts, rows[i].expected, count * sizeof counts[0]), 0);
    }
}

/* Two operations a step and one for each step before: easy to add up. */
static const struct fulcrum_train_work work = {1.0, 2.0, 1.0};
static const struct fulcrum_train_size nominal = {64.0, 80.0, 40.0};

TEST(test_work_of_a_training_step_adds_up)
{
    assert_close("work", fulcrum_train_work_flop(&work, &nominal),
        64.0 * (1.0 + 160.0 + 40.0), 1e-12);
}

/* Of the sizes of a plan: the first, and by what each is larger than the one before. */
TEST(test_training_steps_are_those_that_fit)
{
    static const struct fulcrum_train_work flat = {10.0, 0.0, 0.0};
    static const struct {
        const struct fulcrum_train_work *work;
        struct fulcrum_train_size nominal;
        double flop_per_s;
        size_t count;
        bool is_nominal;
        double batch[3];
        double unroll[3];
    } cases[] = {
        {&work, {64.0, 80.0, 40.0}, 1e5, 3, true, {16, 32, 64}, {80, 80, 80}},
        {&work, {1.0, 80.0, 40.0}, 1e5, 1, true, {1}, {80}},
        /* 64 sequences of 8+4 are 64 x 21 operations, of 16+8 64 x 41: shortened. */
        {&work, {64.0, 80.0, 40.0}, 64.0 * 30.0, 3, false, {64, 64, 64}, {2, 4, 8}},
        /* 16 sequences of 4+2 are 16 x 11 operations: narrowed last. */
        {&work, {64.0, 80.0, 40.0}, 16.0 * 12.0, 3, false, {16, 16, 16}, {1, 2, 4}},
        {&work, {64.0, 80.0, 40.0}, 1e-6, 3, false, {1, 1, 1}, {1, 2, 4}},
        /* Without length a ladder of batches. */
        {&flat, {256.0, 1.0, 0.0}, 1e3, 3, false, {16, 32, 64}, {1, 1, 1}},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_train_plan plan = fulcrum_train_plan_of(
            cases[i].work, &cases[i].nominal, cases[i].flop_per_s, 1.0);
        CU_ASSERT_EQUAL_FATAL(plan.count, cases[i].count);
        CU_ASSERT_EQUAL(plan.is_nominal, cases[i].is_nominal);
        for (size_t k = 0; k < plan.count; k++) {
            const struct fulcrum_train_size *size = &plan.size[k];
            double part = cases[i].unroll[k] / cases[i].nominal.unroll;
            assert_close("batch", size->batch, cases[i].batch[k], 0.0);
            assert_close("unroll", size->unroll, cases[i].unroll[k], 0.0);
            assert_close(
                "burn-in", size->burn_in, round(cases[i].nominal.burn_in * part), 0.0);
        }
    }
}
