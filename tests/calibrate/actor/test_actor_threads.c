/* test_actor_threads.c - environments step alike for one seed, alone, in threads and at
 * hand-off.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/actor/actor_threads.h"

#include <string.h>

#include "calibrate/actor/request_queue.h"
#include "calibrate/actor/stepper.h"
#include "calibrate/stopwatch.h"
#include "tests/support/suite.h"

static struct fulcrum_stage cartpole_stage(uint64_t seed)
{
    struct fulcrum_stage stage = {
        .actor = fulcrum_actor_find("cartpole"), .seed = seed};
    ASSERT_OK(stage.actor->open(NULL, &stage.shared, &stage.info, NULL));
    ASSERT_OK(fulcrum_actions_new(&stage.actions, seed, stage.info.action_count, NULL));
    return stage;
}

static void close_stage(struct fulcrum_stage *stage)
{
    fulcrum_actions_free(&stage->actions);
    stage->actor->close(stage->shared);
}

TEST(test_same_seed_gives_the_same_actions)
{
    struct fulcrum_actions first;
    struct fulcrum_actions again;
    struct fulcrum_actions other;
    ASSERT_OK(fulcrum_actions_new(&first, 3, 5, NULL));
    ASSERT_OK(fulcrum_actions_new(&again, 3, 5, NULL));
    ASSERT_OK(fulcrum_actions_new(&other, 4, 5, NULL));
    size_t byte = first.row_count * first.column_count * sizeof *first.values;
    CU_ASSERT_EQUAL(memcmp(first.values, again.values, byte), 0);
    CU_ASSERT_NOT_EQUAL(memcmp(first.values, other.values, byte), 0);
    for (size_t i = 0; i < first.row_count * first.column_count; i++) {
        CU_ASSERT(first.values[i] >= -1.0F && first.values[i] <= 1.0F);
    }
    fulcrum_actions_free(&first);
    fulcrum_actions_free(&again);
    fulcrum_actions_free(&other);
}

TEST(test_steppers_of_one_number_agree_and_others_differ)
{
    struct fulcrum_stage stage = cartpole_stage(11);
    struct fulcrum_stepper steppers[3];
    static const size_t number[] = {0, 0, 1};
    size_t resets[3];
    for (size_t i = 0; i < 3; i++) {
        ASSERT_OK(fulcrum_stepper_open(&steppers[i], &stage, number[i], NULL));
        ASSERT_OK(fulcrum_stepper_run(&steppers[i], 500, &resets[i], NULL));
        assert_close("elsewhere", fulcrum_stepper_cpu_s(&steppers[i]), 0.0, 0.0);
    }
    size_t byte = fulcrum_observation_byte(&stage.info);
    CU_ASSERT_EQUAL(byte, 4 * sizeof(float));
    CU_ASSERT(resets[0] > 0);
    CU_ASSERT_EQUAL(resets[0], resets[1]);
    CU_ASSERT_EQUAL(memcmp(steppers[0].observation, steppers[1].observation, byte), 0);
    CU_ASSERT_NOT_EQUAL(
        memcmp(steppers[0].observation, steppers[2].observation, byte), 0);
    for (size_t i = 0; i < 3; i++) {
        fulcrum_stepper_close(&steppers[i]);
        fulcrum_stepper_close(&steppers[i]);
    }
    close_stage(&stage);
}

TEST(test_crew_steps_in_windows_and_rests_between)
{
    struct fulcrum_stage stage = cartpole_stage(12);
    struct fulcrum_actor_threads *actor_threads = NULL;
    ASSERT_OK(fulcrum_actor_threads_new(&actor_threads, &stage, 3, 50e-9, NULL));
    CU_ASSERT_EQUAL(fulcrum_actor_threads_count(actor_threads), 3);
    for (size_t count = 1; count <= 3; count++) {
        struct fulcrum_actor_threads_reading window;
        ASSERT_OK(
            fulcrum_actor_threads_window(actor_threads, count, 0.02, &window, NULL));
        CU_ASSERT(window.step_count > 0.0);
        CU_ASSERT(window.wall_s >= 0.02 && window.cpu_s > 0.0);
        CU_ASSERT(window.cpu_s <= 1.1 * (double)count * window.wall_s);
    }
    struct fulcrum_actor_threads_reading before =
        fulcrum_actor_threads_read(actor_threads);
    fulcrum_sleep_s(0.01);
    struct fulcrum_actor_threads_reading after =
        fulcrum_actor_threads_read(actor_threads);
    assert_close("at rest", after.step_count, before.step_count, 0.0);
    fulcrum_actor_threads_start(actor_threads, 2);
    ASSERT_OK(fulcrum_actor_threads_stop(actor_threads, NULL));
    fulcrum_actor_threads_free(actor_threads);
    fulcrum_actor_threads_free(NULL);
    close_stage(&stage);
}

TEST(test_crew_can_be_freed_while_it_steps)
{
    struct fulcrum_stage stage = cartpole_stage(13);
    struct fulcrum_actor_threads *actor_threads = NULL;
    ASSERT_OK(fulcrum_actor_threads_new(&actor_threads, &stage, 2, 50e-9, NULL));
    fulcrum_actor_threads_start(actor_threads, 2);
    fulcrum_actor_threads_free(actor_threads);
    close_stage(&stage);
}

static void assert_exchange_answers(
    const struct fulcrum_stage *stage, size_t actor_count)
{
    struct fulcrum_handoff *exchange = NULL;
    const struct fulcrum_handoff_plan plan = {.actor_count = 8,
        .item_count = 2,
        .item_byte = 100,
        .stage = stage,
        .think_s = 1e-6};
    ASSERT_OK(fulcrum_handoff_new(&exchange, &plan, NULL));
    fulcrum_handoff_answer(exchange, actor_count, 2);
    size_t told_count = 0;
    double asked_s = 0.0;
    for (int batch = 0; batch < 50; batch++) {
        CU_ASSERT_EQUAL(fulcrum_handoff_collect(exchange, actor_count), actor_count);
        ASSERT_OK(fulcrum_handoff_copy(exchange, NULL));
        struct fulcrum_handoff_turn turn = fulcrum_handoff_turn(exchange);
        told_count += turn.cpu_s > 0.0 && turn.asked_s > asked_s;
        asked_s = turn.asked_s;
        fulcrum_handoff_answer(exchange, actor_count, 2);
    }
    /* Of the first turn nothing is known before it ends. */
    CU_ASSERT_EQUAL(told_count, 49);
    CU_ASSERT_EQUAL(fulcrum_handoff_collect(exchange, actor_count), actor_count);
    fulcrum_handoff_free(exchange);
}

TEST(test_exchange_answers_every_actor_once_a_batch)
{
    static const size_t sizes[] = {1, 3, 8};
    struct fulcrum_stage stage = cartpole_stage(17);
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        assert_exchange_answers(NULL, sizes[i]);
        assert_exchange_answers(&stage, sizes[i]);
    }
    close_stage(&stage);
    fulcrum_handoff_free(NULL);
}

/* Every answer is a step, and in the end all wait. */
TEST(test_whoever_asks_is_answered)
{
    enum { ACTORS = 8 };
    struct fulcrum_stage stage = cartpole_stage(19);
    struct fulcrum_handoff *exchange = NULL;
    const struct fulcrum_handoff_plan plan = {.actor_count = ACTORS,
        .item_count = 1,
        .item_byte = 16,
        .stage = &stage,
        .shares_processor = true};
    ASSERT_OK(fulcrum_handoff_new(&exchange, &plan, NULL));
    size_t answered = ACTORS;
    fulcrum_handoff_answer(exchange, ACTORS, 1);
    for (int batch = 0; batch < 50; batch++) {
        size_t taken = fulcrum_handoff_collect(exchange, 1);
        CU_ASSERT(taken >= 1 && taken <= ACTORS);
        ASSERT_OK(fulcrum_handoff_copy(exchange, NULL));
        fulcrum_handoff_reply(exchange);
        answered += taken;
    }
    CU_ASSERT_EQUAL(fulcrum_handoff_collect(exchange, ACTORS), ACTORS);
    struct fulcrum_handoff_steps steps = fulcrum_handoff_steps(exchange);
    CU_ASSERT_EQUAL(steps.count, (double)answered);
    CU_ASSERT(steps.cpu_s > 0.0);
    fulcrum_handoff_free(exchange);
    close_stage(&stage);
}

TEST(test_spin_computes_for_as_long_as_asked)
{
    double begin_s = fulcrum_wall_s();
    fulcrum_spin_s(2e-3);
    CU_ASSERT(fulcrum_wall_s() - begin_s >= 2e-3);
}
