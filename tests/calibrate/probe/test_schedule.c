/* test_schedule.c - the time of a calibration is shared out and ends when it should. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/probe/probe.h"

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

static void test_rounds_grow_with_the_budget(void)
{
    static const struct {
        double budget_s;
        size_t rounds;
    } rows[] = {{1.0, 3}, {10.0, 3}, {60.0, 8}, {3600.0, 12}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fulcrum_schedule schedule =
            fulcrum_schedule_plan(rows[i].budget_s, shares, 3);
        CU_ASSERT_EQUAL(schedule.round_count, rows[i].rounds);
    }
}

static void test_obedient_probes_end_on_time(void)
{
    static const double take[] = {1.0, 1.0, 1.0};
    struct fulcrum_schedule schedule = fulcrum_schedule_plan(60.0, shares, 3);
    suite_assert_close(
        "end", play(&schedule, take), schedule.budget_s - schedule.reserve_s, 1e-9);
}

static void test_visits_have_the_shares_asked_for(void)
{
    struct fulcrum_schedule schedule = fulcrum_schedule_plan(60.0, shares, 3);
    double first_s = fulcrum_schedule_visit_end(&schedule, 0.0, 0, 0);
    double second_s = fulcrum_schedule_visit_end(&schedule, first_s, 0, 1) - first_s;
    suite_assert_close("ratio", second_s / first_s, 4.0, 1e-9);
}

static void test_late_and_idle_probes_move_the_others_not_the_end(void)
{
    static const double late[] = {1.0, 1.6, 1.0};
    static const double idle[] = {0.0, 1.0, 1.0};
    struct fulcrum_schedule schedule = fulcrum_schedule_plan(60.0, shares, 3);
    CU_ASSERT(play(&schedule, late) < 1.05 * 60.0);
    suite_assert_close(
        "idle", play(&schedule, idle), schedule.budget_s - schedule.reserve_s, 1e-9);
}

static void test_time_that_is_up_leaves_nothing(void)
{
    struct fulcrum_schedule schedule = fulcrum_schedule_plan(10.0, shares, 3);
    suite_assert_close(
        "over", fulcrum_schedule_visit_end(&schedule, 12.0, 1, 0), 12.0, 0.0);
    suite_assert_close("half", fulcrum_schedule_done_frac(&schedule, 5.0), 0.5, 1e-12);
    suite_assert_close("all", fulcrum_schedule_done_frac(&schedule, 12.0), 1.0, 0.0);
}

static void test_thread_counts_cover_the_knee(void)
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
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
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

static void test_work_of_a_training_step_adds_up(void)
{
    suite_assert_close("work", fulcrum_train_work_flop(&work, &nominal),
        64.0 * (1.0 + 160.0 + 40.0), 1e-12);
}

static void test_nominal_training_step_is_measured_where_it_fits(void)
{
    struct fulcrum_train_plan plan = fulcrum_train_plan_of(&work, &nominal, 1e5, 1.0);
    CU_ASSERT_EQUAL_FATAL(plan.count, 3);
    CU_ASSERT_EQUAL(plan.is_nominal, 1);
    for (size_t i = 0; i < 3; i++) {
        suite_assert_close("unroll", plan.size[i].unroll, 80.0, 0.0);
        suite_assert_close("burn-in", plan.size[i].burn_in, nominal.burn_in, 0.0);
        suite_assert_close(
            "batch", plan.size[i].batch, nominal.batch / (double)(4 >> i), 0.0);
    }
    static const struct fulcrum_train_size single = {1.0, 80.0, 40.0};
    plan = fulcrum_train_plan_of(&work, &single, 1e5, 1.0);
    CU_ASSERT_EQUAL(plan.count, 1);
    CU_ASSERT_EQUAL(plan.is_nominal, 1);
}

static void test_long_training_step_is_shortened_before_it_is_narrowed(void)
{
    /* 64 sequences of 8+4 are 64 x 21 operations, of 16+8 64 x 41. */
    struct fulcrum_train_plan plan =
        fulcrum_train_plan_of(&work, &nominal, 64.0 * 30.0, 1.0);
    CU_ASSERT_EQUAL_FATAL(plan.count, 3);
    CU_ASSERT_EQUAL(plan.is_nominal, 0);
    static const double unrolls[] = {2.0, 4.0, 8.0};
    for (size_t i = 0; i < 3; i++) {
        suite_assert_close("unroll", plan.size[i].unroll, unrolls[i], 0.0);
        suite_assert_close("burn-in", plan.size[i].burn_in, unrolls[i] / 2.0, 0.0);
        suite_assert_close("batch", plan.size[i].batch, 64.0, 0.0);
    }
}

static void test_narrow_training_step_is_the_last_resort(void)
{
    /* 16 sequences of 4+2 are 16 x 11 operations. */
    struct fulcrum_train_plan plan =
        fulcrum_train_plan_of(&work, &nominal, 16.0 * 12.0, 1.0);
    suite_assert_close("batch", plan.size[2].batch, 16.0, 0.0);
    suite_assert_close("unroll", plan.size[2].unroll, 4.0, 0.0);
    plan = fulcrum_train_plan_of(&work, &nominal, 1e-6, 1.0);
    suite_assert_close("least batch", plan.size[2].batch, 1.0, 0.0);
}

static void test_samples_without_length_make_a_ladder_of_batches(void)
{
    static const struct fulcrum_train_work flat = {10.0, 0.0, 0.0};
    static const struct fulcrum_train_size samples = {256.0, 1.0, 0.0};
    struct fulcrum_train_plan plan = fulcrum_train_plan_of(&flat, &samples, 1e3, 1.0);
    CU_ASSERT_EQUAL_FATAL(plan.count, 3);
    suite_assert_close("least", plan.size[0].batch, 16.0, 0.0);
    suite_assert_close("most", plan.size[2].batch, 64.0, 0.0);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_rounds_grow_with_the_budget),
        SUITE_CASE(test_obedient_probes_end_on_time),
        SUITE_CASE(test_visits_have_the_shares_asked_for),
        SUITE_CASE(test_late_and_idle_probes_move_the_others_not_the_end),
        SUITE_CASE(test_time_that_is_up_leaves_nothing),
        SUITE_CASE(test_thread_counts_cover_the_knee),
        SUITE_CASE(test_work_of_a_training_step_adds_up),
        SUITE_CASE(test_nominal_training_step_is_measured_where_it_fits),
        SUITE_CASE(test_long_training_step_is_shortened_before_it_is_narrowed),
        SUITE_CASE(test_narrow_training_step_is_the_last_resort),
        SUITE_CASE(test_samples_without_length_make_a_ladder_of_batches),
    };
    return suite_run("schedule", cases, sizeof cases / sizeof cases[0], argc, argv);
}
