/* test_live.c - the real pipeline: every observation is answered, batches keep their
 * rule, training keeps its ratio, and what fails says so.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/pipeline/live.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/stopwatch.h"
#include "tests/support/lab.h"
#include "tests/support/suite.h"

/* Nothing here takes so long, on any machine. */
#define PATIENCE_S 30.0

static struct fulcrum_live *start(const struct fulcrum_live_plan *plan)
{
    struct fulcrum_live *live = NULL;
    ASSERT_OK(fulcrum_live_new(&live, plan, NULL));
    return live;
}

/* Waits for so many batches and train steps; the reading that had them. */
static struct fulcrum_live_reading await_counts(
    struct fulcrum_live *live, double batches, double train_steps)
{
    struct fulcrum_live_reading reading = {0};
    double until_s = fulcrum_wall_s() + PATIENCE_S;
    do {
        fulcrum_sleep_s(0.002);
        reading = (struct fulcrum_live_reading){0};
        fulcrum_live_read(live, &reading);
    } while (
        (reading.batch_count < batches || reading.train_step_count < train_steps) &&
        fulcrum_wall_s() < until_s && fulcrum_live_failure(live, NULL) == FULCRUM_OK);
    return reading;
}

static struct fulcrum_live_reading await_batches(
    struct fulcrum_live *live, double count)
{
    return await_counts(live, count, 0.0);
}

static const struct rule_case {
    size_t actors;
    size_t envs;
    enum fulcrum_batch_policy policy;
    size_t requests;
    size_t least; /* observations of a batch that the rule allows */
    size_t most;
} rules[] = {
    {1, 1, FULCRUM_BATCH_GREEDY, 0, 1, 1}, {1, 4, FULCRUM_BATCH_GREEDY, 0, 4, 4},
    {1, 1, FULCRUM_BATCH_FIXED, 1, 1, 1}, {4, 1, FULCRUM_BATCH_GREEDY, 0, 1, 4},
    {8, 1, FULCRUM_BATCH_GREEDY, 3, 1, 3}, {3, 4, FULCRUM_BATCH_GREEDY, 0, 4, 12},
    {6, 1, FULCRUM_BATCH_FIXED, 2, 2, 2}, {4, 1, FULCRUM_BATCH_FIXED, 4, 4, 4},
    {5, 3, FULCRUM_BATCH_FIXED, 2, 6, 6},
    {2, 16, FULCRUM_BATCH_GREEDY, 100, 16, 32}, /* room for four requests */
};

static void assert_rule(const struct rule_case *rule)
{
    struct lab lab = {.forward_s = 0.0};
    struct fulcrum_live_plan plan = lab_open(&lab, rule->actors, rule->envs);
    plan.policy = rule->policy;
    plan.batch_requests = rule->requests;
    struct fulcrum_live *live = start(&plan);
    struct fulcrum_live_reading reading = await_batches(live, 300.0);
    fulcrum_live_free(live);
    CU_ASSERT(reading.batch_count >= 300.0);
    CU_ASSERT((double)lab_assert_in_order(&lab) >= reading.observation_count);
    CU_ASSERT(lab.least_batch >= rule->least);
    CU_ASSERT(lab.largest_batch <= rule->most);
    CU_ASSERT_EQUAL(lab.least_batch % rule->envs, 0);
    if (rule->least == rule->most) {
        assert_close("mean batch", reading.observation_count / reading.batch_count,
            (double)rule->most, 0.0);
    }
    lab_close(&lab);
}

TEST(test_batches_keep_their_rule_and_answers_find_their_way)
{
    for (size_t i = 0; i < LENGTH(rules); i++) {
        assert_rule(&rules[i]);
    }
}

/* A slow server finds all the others waiting: greedy batches reach the bound. */
TEST(test_greedy_batches_fill_while_the_server_is_busy)
{
    struct lab lab = {.forward_s = 0.002};
    struct fulcrum_live_plan plan = lab_open(&lab, 6, 1);
    struct fulcrum_live *live = start(&plan);
    struct fulcrum_live_reading reading = await_batches(live, 40.0);
    fulcrum_live_free(live);
    (void)lab_assert_in_order(&lab);
    CU_ASSERT(lab.largest_batch >= 3 && lab.largest_batch <= 6);
    CU_ASSERT(reading.observation_count / reading.batch_count > 2.0);
    lab_close(&lab);
}

TEST(test_readings_grow_and_agree_with_themselves)
{
    struct lab lab = {.forward_s = 0.0};
    struct fulcrum_live_plan plan = lab_open(&lab, 2, 2);
    double begin_s = fulcrum_wall_s();
    struct fulcrum_live *live = start(&plan);
    struct fulcrum_live_reading first = await_batches(live, 500.0);
    struct fulcrum_live_reading next = await_batches(live, first.batch_count + 500.0);
    fulcrum_live_free(live);
    CU_ASSERT(next.batch_count > first.batch_count);
    CU_ASSERT(next.answered_s > first.answered_s && first.answered_s > begin_s);
    CU_ASSERT(first.answered_s <= first.wall_s && first.wall_s < next.wall_s);
    CU_ASSERT(first.actor_cpu_s > 0.0 && next.actor_cpu_s > first.actor_cpu_s);
    CU_ASSERT(first.server_cpu_s > 0.0 && next.server_cpu_s > first.server_cpu_s);
    assert_close("steps", next.env_step_count, next.observation_count, 0.0);
    assert_close("train CPU", next.train_cpu_s, 0.0, 0.0);
    assert_close("train steps", next.train_step_count, 0.0, 0.0);
    lab_close(&lab);
}

static const struct {
    size_t actors;
    size_t envs;
    enum fulcrum_batch_policy policy;
    size_t requests;
    size_t room; /* of the learner */
    const char *part;
} refusals[] = {
    {3, 1, FULCRUM_BATCH_FIXED, 4, 64,
        "a batch of 4 requests never fills with 3 actors"},
    {1, 1, FULCRUM_BATCH_FIXED, 2, 64,
        "a batch of 2 requests never fills with 1 actors"},
    {2, 16, FULCRUM_BATCH_FIXED, 5, 64, "the learner takes 64 observations"},
    {1, 1, FULCRUM_BATCH_FIXED, 0, 64, "a batch of 0 requests"},
    {1, 4, FULCRUM_BATCH_GREEDY, 0, 3, "of 4 observations: the learner takes 3"},
};

TEST(test_a_batch_that_never_fills_is_refused)
{
    for (size_t i = 0; i < LENGTH(refusals); i++) {
        struct lab lab = {.forward_s = 0.0};
        struct fulcrum_live_plan plan =
            lab_open(&lab, refusals[i].actors, refusals[i].envs);
        plan.policy = refusals[i].policy;
        plan.batch_requests = refusals[i].requests;
        plan.inference.max_batch = refusals[i].room;
        struct fulcrum_live *live = NULL;
        ASSERT_FAILS(fulcrum_live_new(&live, &plan, &err), FULCRUM_ERR_INFEASIBLE,
            refusals[i].part);
        CU_ASSERT_PTR_NULL(live);
        lab_close(&lab);
    }
    fulcrum_live_free(NULL);
}

/* Training that is quick keeps up: as many steps as have been earned. */
TEST(test_train_steps_follow_the_environments)
{
    struct lab lab = {.forward_s = 0.001};
    struct fulcrum_live_plan plan = lab_open(&lab, 4, 1);
    lab_plan_training(&plan, 12.0, 4.0);
    struct fulcrum_live *live = start(&plan);
    struct fulcrum_live_reading reading = await_batches(live, 200.0);
    fulcrum_live_free(live);
    (void)lab_assert_in_order(&lab);
    double earned = reading.env_step_count / 12.0;
    /* Before the first sequence four environments make up to as many steps each. */
    double idle = 4.0 * (LAB_LENGTH + 1) / 12.0;
    CU_ASSERT(reading.train_step_count <= earned - idle / 4.0);
    CU_ASSERT(reading.train_step_count > earned - idle - 4.0 - 4.0 / 12.0);
    CU_ASSERT_EQUAL(lab.odd_row_count, 0);
    CU_ASSERT_EQUAL(lab.copy_count, 0); /* nobody asked for it */
    CU_ASSERT(reading.train_step_count > 10.0);
    CU_ASSERT((double)lab.train_count >= reading.train_step_count);
    CU_ASSERT(reading.train_cpu_s > 0.0);
    lab_close(&lab);
}

/* Training that is slow sets the pace: 2 ms for every 10 steps, whatever the actors
 * could do, and never more than two train steps and a batch behind. */
TEST(test_a_backlog_holds_inference_up)
{
    struct lab lab = {.train_s = 0.002};
    struct fulcrum_live_plan plan = lab_open(&lab, 4, 1);
    lab_plan_training(&plan, 10.0, 2.0);
    struct fulcrum_live *live = start(&plan);
    struct fulcrum_live_reading before = await_batches(live, 40.0);
    struct fulcrum_live_reading reading = before;
    double worst = 0.0;
    while (reading.train_step_count < before.train_step_count + 50.0) {
        reading = await_batches(live, reading.batch_count + 1.0);
        worst = fmax(worst, reading.env_step_count / 10.0 - reading.train_step_count);
    }
    fulcrum_live_free(live);
    (void)lab_assert_in_order(&lab);
    /* Two, a batch, and what was stepped before the first sequence. */
    CU_ASSERT(worst <= 2.0 + 4.0 / 10.0 + 4.0 * (LAB_LENGTH + 1) / 10.0);
    CU_ASSERT_EQUAL(lab.odd_row_count, 0);
    CU_ASSERT(worst >= 1.0); /* it did wait */
    double rate = (reading.env_step_count - before.env_step_count) /
                  (reading.wall_s - before.wall_s);
    CU_ASSERT(rate <= 1.1 * 10.0 / 0.002);
    lab_close(&lab);
}

/* Rollouts of five rounds, then all train steps that they earned, with nothing beside.
 */
TEST(test_rollouts_and_training_take_turns)
{
    struct lab lab = {.train_s = 0.001, .watches = true};
    struct fulcrum_live_plan plan = lab_open(&lab, 4, 1);
    lab_plan_training(&plan, 6.0, 1.0);
    plan.policy = FULCRUM_BATCH_FIXED;
    plan.batch_requests = 4;
    plan.rollout_step_count = 20.0;
    struct fulcrum_live *live = start(&plan);
    struct fulcrum_live_reading reading = await_counts(live, 0.0, 60.0);
    fulcrum_live_free(live);
    (void)lab_assert_in_order(&lab);
    /* One where the pipeline was stopped. */
    CU_ASSERT(lab.beside_count <= 1);
    CU_ASSERT(lab.train_count >= 60);
    CU_ASSERT_EQUAL(lab.odd_row_count, 0);
    /* No more behind than the rollout at hand, which has earned up to 20 / 6. */
    double earned = reading.env_step_count / 6.0;
    CU_ASSERT(reading.train_step_count <= earned);
    CU_ASSERT(reading.train_step_count >
              earned - 4.0 * (LAB_LENGTH + 1) / 6.0 - 20.0 / 6.0 - 1.0);
    lab_close(&lab);
}

/* Whole weights, never older ones, and as often as was asked for. */
TEST(test_trained_weights_reach_inference)
{
    static const size_t periods[] = {1, 3};
    for (size_t i = 0; i < LENGTH(periods); i++) {
        struct lab lab = {.forward_s = 0.0005};
        struct fulcrum_live_plan plan = lab_open(&lab, 4, 1);
        lab_plan_training(&plan, 6.0, 2.0);
        plan.train_steps_per_copy = periods[i];
        struct fulcrum_live *live = start(&plan);
        struct fulcrum_live_reading reading = await_counts(live, 0.0, 60.0);
        fulcrum_live_free(live);
        CU_ASSERT_EQUAL(lab.torn_count, 0);
        CU_ASSERT_EQUAL((size_t)lab.weight % periods[i], 0);
        CU_ASSERT(lab.weight > 0.0F && (size_t)lab.weight <= lab.train_count);
        CU_ASSERT((double)lab.copy_count >= reading.weight_copy_count);
        CU_ASSERT(reading.weight_copy_count >= 5.0);
        CU_ASSERT(lab.copy_count <= lab.train_count / periods[i]);
        CU_ASSERT_EQUAL(lab.odd_row_count, 0);
        lab_close(&lab);
    }
}

static const struct failing {
    size_t steps;
    size_t batches;
    size_t train_steps;
    size_t copies;
    enum fulcrum_status status;
    const char *words;
} failings[] = {
    {20, 0, 0, 0, FULCRUM_ERR_ENVIRONMENT, "environment 1: the left wheel came off"},
    {0, 20, 0, 0, FULCRUM_ERR_UNSUPPORTED, "the device fell off"},
    {0, 0, 3, 0, FULCRUM_ERR_UNSUPPORTED, "the gradient went away"},
    {0, 0, 0, 2, FULCRUM_ERR_UNSUPPORTED, "the weights got lost"},
};

static void assert_fails(const struct failing *failing)
{
    struct lab lab = {.fail_after_steps = failing->steps,
        .fail_after_batches = failing->batches,
        .fail_after_train_steps = failing->train_steps,
        .fail_after_copies = failing->copies};
    struct fulcrum_live_plan plan = lab_open(&lab, 3, 1);
    lab_plan_training(&plan, 5.0, 2.0);
    plan.train_steps_per_copy = 1;
    struct fulcrum_live *live = start(&plan);
    (void)await_batches(live, HUGE_VAL);
    ASSERT_SAYS(fulcrum_live_failure(live, &err), failing->status, failing->words);
    /* It stands still: nobody is left to do anything. */
    struct fulcrum_live_reading first = {0};
    struct fulcrum_live_reading later = {0};
    fulcrum_sleep_s(0.02);
    fulcrum_live_read(live, &first);
    fulcrum_sleep_s(0.02);
    fulcrum_live_read(live, &later);
    assert_close("still", later.batch_count, first.batch_count, 0.0);
    fulcrum_live_free(live);
    lab_close(&lab);
}

TEST(test_what_fails_stops_the_pipeline_with_its_words)
{
    for (size_t i = 0; i < LENGTH(failings); i++) {
        assert_fails(&failings[i]);
    }
}

TEST(test_a_pipeline_can_be_ended_at_any_moment)
{
    for (int i = 0; i < 30; i++) {
        struct lab lab = {.train_s = i % 3 == 0 ? 0.001 : 0.0};
        struct fulcrum_live_plan plan = lab_open(&lab, 4, 1);
        if (i % 2 == 0) {
            lab_plan_training(&plan, 3.0, 1.0);
        }
        struct fulcrum_live *live = start(&plan);
        fulcrum_sleep_s(0.0002 * (double)i);
        fulcrum_live_free(live);
        CU_ASSERT_EQUAL(lab.out_of_turn_count, 0);
        lab_close(&lab);
    }
}

static void assert_track(const struct fulcrum_recorder *recorder, size_t track,
    const char *name, unsigned stages)
{
    struct fulcrum_recorder_track read = fulcrum_recorder_read(recorder, track);
    CU_ASSERT_STRING_EQUAL(read.name, name);
    CU_ASSERT(read.is_used);
    for (unsigned kind = 0; kind < FULCRUM_STAGE_KIND_COUNT; kind++) {
        double count = read.totals[kind].event_count;
        CU_ASSERT_EQUAL(count > 0.0, (stages >> kind & 1U) != 0U);
    }
}

TEST(test_every_thread_records_its_own_stages)
{
    enum {
        WAIT = 1 << FULCRUM_STAGE_WAIT,
        REPLAY = 1 << FULCRUM_STAGE_REPLAY,
        HANDOFF = 1 << FULCRUM_STAGE_HANDOFF
    };
    struct lab lab = {.train_s = 0.0005};
    struct fulcrum_live_plan plan = lab_open(&lab, 2, 1);
    lab_plan_training(&plan, 4.0, 4.0);
    plan.train_steps_per_copy = 2;
    ASSERT_OK(fulcrum_recorder_new(&plan.recorder, FULCRUM_LIVE_ACTORS + 2, 0, NULL));
    struct fulcrum_live *live = start(&plan);
    (void)await_batches(live, 20.0);
    fulcrum_recorder_start(plan.recorder);
    struct fulcrum_live_reading reading = await_batches(live, 20.0);
    (void)await_batches(live, reading.batch_count + 100.0);
    fulcrum_recorder_stop(plan.recorder);
    fulcrum_live_free(live);
    assert_track(plan.recorder, FULCRUM_LIVE_SERVER, "server",
        WAIT | HANDOFF | REPLAY | 1 << FULCRUM_STAGE_INFERENCE);
    assert_track(plan.recorder, FULCRUM_LIVE_TRAINER, "trainer",
        WAIT | REPLAY | HANDOFF | 1 << FULCRUM_STAGE_TRAINING);
    assert_track(plan.recorder, FULCRUM_LIVE_ACTORS, "actor 0",
        WAIT | HANDOFF | 1 << FULCRUM_STAGE_SIMULATION);
    assert_track(plan.recorder, FULCRUM_LIVE_ACTORS + 1, "actor 1",
        WAIT | HANDOFF | 1 << FULCRUM_STAGE_SIMULATION);
    fulcrum_recorder_free(plan.recorder);
    lab_close(&lab);
}

/* A real environment and a real network; both states of the learner. */
struct workshop {
    struct fulcrum_stage stage;
    struct fulcrum_stepper steppers[4];
    struct fulcrum_placement placement;
    struct fulcrum_live_learner inference;
    struct fulcrum_live_learner training;
};

/* Returns 0 where this build has no learner. */
static int open_workshop(struct workshop *shop)
{
    *shop = (struct workshop){
        .stage = {.actor = fulcrum_actor_find("cartpole"), .seed = 9}};
    const struct fulcrum_learner *learner = fulcrum_learner_find("cpu");
    const struct fulcrum_learner_options options = {.network = FULCRUM_NETWORK_MLP,
        .max_batch = 8,
        .input_count = 4,
        .action_count = 1,
        .train_batch = 16,
        .train_unroll = 1,
        .seed = 9};
    struct fulcrum_stage *stage = &shop->stage;
    ASSERT_OK(stage->actor->open(NULL, &stage->shared, &stage->info, NULL));
    ASSERT_OK(fulcrum_actions_new(&stage->actions, 9, stage->info.action_count, NULL));
    for (size_t i = 0; i < 4; i++) {
        ASSERT_OK(fulcrum_stepper_open(&shop->steppers[i], stage, i, NULL));
    }
    ASSERT_OK(fulcrum_placement_complete(&shop->placement, NULL));
    struct fulcrum_live_learner *const states[] = {&shop->inference, &shop->training};
    for (size_t i = 0; i < 2; i++) {
        states[i]->learner = learner;
        states[i]->max_batch = options.max_batch;
        if (learner->open(&options, &states[i]->state, &states[i]->info, NULL) !=
            FULCRUM_OK) {
            return 0;
        }
    }
    return 1;
}

static void close_workshop(struct workshop *shop)
{
    struct fulcrum_live_learner *const states[] = {&shop->inference, &shop->training};
    for (size_t i = 0; i < 2; i++) {
        if (states[i]->state != NULL) {
            states[i]->learner->close(states[i]->state);
        }
    }
    for (size_t i = 0; i < 4; i++) {
        fulcrum_stepper_close(&shop->steppers[i]);
    }
    fulcrum_actions_free(&shop->stage.actions);
    shop->stage.actor->close(shop->stage.shared);
}

/* Inference has weights of training, which the last train steps may have left behind;
 * and training had rows of the environment: a cart's position is within its track. */
static void assert_trained(struct workshop *shop)
{
    enum { MOST = 1 << 18 };
    static float before[MOST];
    static float after[MOST];
    const struct fulcrum_learner *learner = shop->inference.learner;
    CU_ASSERT_FATAL(shop->inference.info.cost.parameter_count <= MOST);
    ASSERT_OK(learner->read_weights(shop->inference.state, before, NULL));
    ASSERT_OK(learner->read_weights(shop->training.state, after, NULL));
    double apart = 0.0;
    for (size_t i = 0; i < shop->training.info.cost.parameter_count; i++) {
        apart = fmax(apart, fabs((double)after[i] - (double)before[i]));
    }
    /* Adam moves a weight by its rate of 3e-4 a step, or a few times that. */
    CU_ASSERT(apart < 3.0 * 3e-4 * 3.0);
    struct fulcrum_train_rows rows;
    ASSERT_OK(learner->train_rows(shop->training.state, &rows, NULL));
    const float *observation = (const float *)(const void *)rows.observation;
    for (size_t i = 0; i < rows.batch_count; i++) {
        CU_ASSERT(fabs((double)observation[4 * i]) <= 2.5); /* metres */
        CU_ASSERT(fabs((double)rows.action[i]) <= 1.0);
        assert_close("uniform", (double)rows.log_probability[i], -log(2.0), 1e-6);
    }
}

TEST(test_cartpole_and_a_real_network_run_and_train)
{
    struct workshop shop;
    if (open_workshop(&shop)) {
        const struct fulcrum_live_plan plan = {.steppers = shop.steppers,
            .actor_count = 4,
            .envs_per_actor = 1,
            .inference = shop.inference,
            .training = shop.training,
            .policy = FULCRUM_BATCH_FIXED,
            .batch_requests = 2,
            .env_steps_per_train_step = 50.0,
            .queue_train_steps = 2.0,
            .train_steps_per_copy = 1,
            .placement = &shop.placement};
        struct fulcrum_live *live = start(&plan);
        struct fulcrum_live_reading reading = await_counts(live, 100.0, 5.0);
        fulcrum_live_free(live);
        CU_ASSERT(reading.batch_count >= 100.0);
        assert_close(
            "mean batch", reading.observation_count / reading.batch_count, 2.0, 0.0);
        CU_ASSERT(reading.train_step_count >= 5.0);
        double behind = reading.env_step_count / 50.0 - reading.train_step_count;
        CU_ASSERT(behind <= 2.0 + 2.0 / 50.0 + 4.0 * 2.0 / 50.0);
        CU_ASSERT(reading.weight_copy_count >= 1.0);
        assert_trained(&shop);
        CU_ASSERT(reading.train_cpu_s > 0.0);
    } else {
        (void)printf("(no learner in this build) ");
    }
    close_workshop(&shop);
}
