/* lab.c - environments and a learner that check each other. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/lab.h"

#include <stdlib.h>
#include <string.h>

#include "calibrate/stopwatch.h"
#include "tests/suite.h"

/* What an environment shows: whose step it was, and which. */
struct sight {
    float env;
    float number;
};

/* The learner's rows are longer than an observation, as those of padded networks. */
#define ROW_BYTE (sizeof(struct sight) + sizeof(float))

struct fulcrum_actor_shared {
    struct lab *lab;
    size_t env_count;
};

struct fulcrum_env {
    struct lab *lab;
    size_t number;
    size_t last_row; /* of the table of actions */
};

/* Every environment and every step has an answer of its own, more or less. */
static size_t answer_to(size_t env, size_t number)
{
    return (5 * env + 3 * number) % 11;
}

static enum fulcrum_status env_new(struct fulcrum_actor_shared *shared, uint64_t seed,
    struct fulcrum_env **out, struct fulcrum_error *err)
{
    (void)seed;
    struct fulcrum_env *env = calloc(1, sizeof *env);
    if (env == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "an environment");
    }
    *env = (struct fulcrum_env){.lab = shared->lab, .number = shared->env_count++};
    *out = env;
    return FULCRUM_OK;
}

static void env_free(struct fulcrum_env *env)
{
    free(env);
}

static enum fulcrum_step_result step(
    struct fulcrum_env *env, const float *action, void *observation)
{
    struct lab *lab = env->lab;
    size_t row = (size_t)action[0];
    size_t stepped = lab->stepped[env->number];
    size_t due = env->last_row + 1 + answer_to(env->number, stepped);
    if (stepped > 0 && row != due % lab->stage.actions.row_count) {
        lab->wrong_count[env->number]++;
    }
    if (env->number == 1 && lab->fail_after_steps > 0 &&
        stepped >= lab->fail_after_steps) {
        return FULCRUM_STEP_FAILED;
    }
    env->last_row = row;
    lab->stepped[env->number]++;
    const struct sight sight = {(float)env->number, (float)lab->stepped[env->number]};
    memcpy(observation, &sight, sizeof sight);
    return FULCRUM_STEP_ON;
}

static enum fulcrum_step_result reset(struct fulcrum_env *env, void *observation)
{
    (void)env;
    (void)observation;
    return FULCRUM_STEP_ON;
}

static const char *failure(const struct fulcrum_env *env)
{
    (void)env;
    return "environment 1: the left wheel came off";
}

static const struct fulcrum_actor laboratory = {
    .name = "laboratory",
    .summary = "environments that know what they are to be told",
    .env_new = env_new,
    .env_free = env_free,
    .step = step,
    .reset = reset,
    .failure = failure,
};

struct fulcrum_learner_state {
    struct lab *lab;
    unsigned char input[LAB_ROOM * ROW_BYTE];
};

static void *input(struct fulcrum_learner_state *state)
{
    return state->input;
}

static void look_at(struct lab *lab, const unsigned char *row, int *action)
{
    struct sight sight;
    memcpy(&sight, row, sizeof sight);
    size_t env = (size_t)sight.env;
    size_t number = (size_t)sight.number;
    if (env >= LAB_ENVS_MOST || number != lab->seen[env] + 1) {
        lab->out_of_turn_count++;
        *action = 0;
        return;
    }
    lab->seen[env] = number;
    *action = (int)answer_to(env, number);
}

static enum fulcrum_status forward(struct fulcrum_learner_state *state, size_t batch,
    int *action, struct fulcrum_error *err)
{
    struct lab *lab = state->lab;
    if (lab->fail_after_batches > 0 && lab->batch_count >= lab->fail_after_batches) {
        return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED, "the device fell off");
    }
    for (size_t i = 0; i < batch; i++) {
        look_at(lab, state->input + i * ROW_BYTE, &action[i]);
    }
    int is_first = lab->batch_count++ == 0;
    lab->least_batch = is_first || batch < lab->least_batch ? batch : lab->least_batch;
    lab->largest_batch = batch > lab->largest_batch ? batch : lab->largest_batch;
    if (lab->forward_s > 0.0) {
        fulcrum_sleep_s(lab->forward_s);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status train(
    struct fulcrum_learner_state *state, double *loss, struct fulcrum_error *err)
{
    struct lab *lab = state->lab;
    if (lab->fail_after_train_steps > 0 &&
        lab->train_count >= lab->fail_after_train_steps) {
        return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED, "the gradient went away");
    }
    lab->train_count++;
    if (lab->train_s > 0.0) {
        fulcrum_sleep_s(lab->train_s);
    }
    *loss = 0.0;
    return FULCRUM_OK;
}

static const struct fulcrum_learner examiner = {
    .name = "examiner",
    .summary = "knows which observation is next",
    .input = input,
    .forward = forward,
    .train = train,
};

/* Each row of actions is its own number. */
static void number_actions(struct fulcrum_stage *stage)
{
    CU_ASSERT_EQUAL_FATAL(fulcrum_actions_new(&stage->actions, 1, 1, NULL), FULCRUM_OK);
    for (size_t i = 0; i < stage->actions.row_count; i++) {
        stage->actions.values[i] = (float)i;
    }
}

void lab_open(struct lab *lab, size_t env_count)
{
    CU_ASSERT_FATAL(env_count <= LAB_ENVS_MOST);
    lab->stage = (struct fulcrum_stage){.actor = &laboratory,
        .shared = calloc(1, sizeof(struct fulcrum_actor_shared)),
        .info = {.observation_kind = FULCRUM_OBSERVE_FLOAT32,
            .observation_count = 2,
            .action_count = 1,
            .frame_skip = 1.0}};
    struct fulcrum_learner_state *state = calloc(1, sizeof *state);
    if (lab->stage.shared == NULL || state == NULL) {
        abort();
    }
    lab->stage.shared->lab = lab;
    state->lab = lab;
    number_actions(&lab->stage);
    lab->env_count = env_count;
    for (size_t i = 0; i < env_count; i++) {
        CU_ASSERT_EQUAL_FATAL(
            fulcrum_stepper_open(&lab->steppers[i], &lab->stage, i, NULL), FULCRUM_OK);
    }
    lab->learner = (struct fulcrum_live_learner){.learner = &examiner,
        .state = state,
        .info = {.input_byte = ROW_BYTE},
        .max_batch = LAB_ROOM};
    lab->placement = (struct fulcrum_placement){.is_apart = 0};
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_placement_complete(&lab->placement, NULL), FULCRUM_OK);
}

void lab_close(struct lab *lab)
{
    for (size_t i = 0; i < lab->env_count; i++) {
        fulcrum_stepper_close(&lab->steppers[i]);
    }
    fulcrum_actions_free(&lab->stage.actions);
    free(lab->stage.shared);
    free(lab->learner.state);
}

struct fulcrum_live_plan lab_plan(
    struct lab *lab, size_t actor_count, size_t envs_per_actor)
{
    return (struct fulcrum_live_plan){.steppers = lab->steppers,
        .actor_count = actor_count,
        .envs_per_actor = envs_per_actor,
        .inference = lab->learner,
        .policy = FULCRUM_BATCH_GREEDY,
        .placement = &lab->placement};
}

void lab_plan_training(
    struct fulcrum_live_plan *plan, double env_steps, double queue_train_steps)
{
    plan->training = plan->inference;
    plan->env_steps_per_train_step = env_steps;
    plan->queue_train_steps = queue_train_steps;
    plan->train_length = 3;
    plan->train_batch = 2;
}

size_t lab_assert_in_order(const struct lab *lab)
{
    size_t total = 0;
    CU_ASSERT_EQUAL(lab->out_of_turn_count, 0);
    for (size_t i = 0; i < lab->env_count; i++) {
        CU_ASSERT_EQUAL(lab->wrong_count[i], 0);
        /* The last step of an environment may not have been taken any more. */
        size_t left = lab->stepped[i] - lab->seen[i];
        CU_ASSERT(left <= 1);
        total += lab->seen[i];
    }
    return total;
}
