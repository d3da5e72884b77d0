/* lab.c - environments and a learner that check each other. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/lab.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/stopwatch.h"
#include "tests/support/suite.h"

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
    float weights[LAB_WEIGHTS]; /* train steps so far, each of them */
    /* What is trained on, with room for what the pipeline is not to touch. */
    unsigned char rows[(size_t)LAB_LENGTH * LAB_BATCH * ROW_BYTE];
    int index[(LAB_LENGTH + 1) * LAB_BATCH];
    float action[LAB_LENGTH * LAB_BATCH];
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

static void look_at_weights(struct fulcrum_learner_state *state)
{
    struct lab *lab = state->lab;
    bool is_torn = state->weights[0] < lab->weight; /* older than before */
    for (size_t i = 1; i < LAB_WEIGHTS; i++) {
        is_torn = is_torn || state->weights[i] > state->weights[0] ||
                  state->weights[i] < state->weights[0];
    }
    lab->torn_count += is_torn ? 1 : 0;
    lab->weight = state->weights[0];
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
    look_at_weights(state);
    bool is_first = lab->batch_count++ == 0;
    lab->least_batch = is_first || batch < lab->least_batch ? batch : lab->least_batch;
    lab->largest_batch = batch > lab->largest_batch ? batch : lab->largest_batch;
    if (lab->forward_s > 0.0) {
        fulcrum_sleep_s(lab->forward_s);
    }
    return FULCRUM_OK;
}

static struct sight sight_at(const struct fulcrum_learner_state *state, size_t row)
{
    struct sight sight;
    memcpy(&sight, state->rows + row * ROW_BYTE, sizeof sight);
    return sight;
}

/* The answer before an environment's observation `number`; before the first: none. */
static int answer_before(const struct sight *sight, size_t number)
{
    return number > 1 ? (int)answer_to((size_t)sight->env, number - 1) : 0;
}

/* Whether a sequence is what one environment showed, was answered and did. */
static bool is_odd(const struct fulcrum_learner_state *state, size_t sequence)
{
    const size_t rows = state->lab->stage.actions.row_count;
    const struct sight first = sight_at(state, sequence);
    int odd = 0;
    for (size_t t = 0; t < LAB_LENGTH; t++) {
        size_t row = t * LAB_BATCH + sequence;
        size_t number = (size_t)first.number + t;
        struct sight sight = sight_at(state, row);
        odd = odd || (size_t)sight.env != (size_t)first.env ||
              (size_t)sight.number != number ||
              state->index[row] != answer_before(&first, number);
        if (t + 1 < LAB_LENGTH) {
            size_t due = (size_t)state->action[row] + 1 +
                         answer_to((size_t)first.env, number + 1);
            odd = odd || (size_t)state->action[row + LAB_BATCH] != due % rows;
        }
    }
    size_t after = (size_t)LAB_LENGTH * LAB_BATCH + sequence;
    return odd || state->index[after] !=
                      answer_before(&first, (size_t)first.number + LAB_LENGTH);
}

static enum fulcrum_status train_rows(struct fulcrum_learner_state *state,
    struct fulcrum_train_rows *out, struct fulcrum_error *err)
{
    (void)err;
    *out = (struct fulcrum_train_rows){.batch_count = LAB_BATCH,
        .step_count = LAB_LENGTH,
        .observation = state->rows,
        .index = state->index,
        .action = state->action,
        .action_count = 1};
    return FULCRUM_OK;
}

static enum fulcrum_status take_rows(
    struct fulcrum_learner_state *state, struct fulcrum_error *err)
{
    (void)err;
    for (size_t i = 0; i < LAB_BATCH; i++) {
        state->lab->odd_row_count += is_odd(state, i) ? 1 : 0;
    }
    return FULCRUM_OK;
}

static enum fulcrum_status read_weights(
    struct fulcrum_learner_state *state, float *out, struct fulcrum_error *err)
{
    (void)err;
    memcpy(out, state->weights, sizeof state->weights);
    return FULCRUM_OK;
}

static enum fulcrum_status write_weights(struct fulcrum_learner_state *state,
    const float *weights, struct fulcrum_error *err)
{
    struct lab *lab = state->lab;
    if (lab->fail_after_copies > 0 && lab->copy_count >= lab->fail_after_copies) {
        return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED, "the weights got lost");
    }
    lab->copy_count++;
    memcpy(state->weights, weights, sizeof state->weights);
    return FULCRUM_OK;
}

/* Steps and batches so far. */
static size_t work_of(const struct lab *lab)
{
    size_t work = lab->batch_count;
    for (size_t i = 0; i < lab->env_count; i++) {
        work += lab->stepped[i];
    }
    return work;
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
    for (size_t i = 0; i < LAB_WEIGHTS; i++) {
        state->weights[i] += 1.0F;
    }
    if (lab->train_s > 0.0) {
        size_t before = lab->watches ? work_of(lab) : 0;
        fulcrum_sleep_s(lab->train_s);
        lab->beside_count += lab->watches && work_of(lab) != before;
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
    .train_rows = train_rows,
    .take_rows = take_rows,
    .read_weights = read_weights,
    .write_weights = write_weights,
};

/* Each row of actions is its own number. */
static void number_actions(struct fulcrum_stage *stage)
{
    ASSERT_OK(fulcrum_actions_new(&stage->actions, 1, 1, NULL));
    for (size_t i = 0; i < stage->actions.row_count; i++) {
        stage->actions.values[i] = (float)i;
    }
}

static struct fulcrum_live_learner new_learner(struct lab *lab)
{
    struct fulcrum_learner_state *state = calloc(1, sizeof *state);
    if (state == NULL) {
        abort();
    }
    state->lab = lab;
    return (struct fulcrum_live_learner){.learner = &examiner,
        .state = state,
        .info = {.input_byte = ROW_BYTE, .cost = {.parameter_count = LAB_WEIGHTS}},
        .max_batch = LAB_ROOM};
}

struct fulcrum_live_plan lab_open(
    struct lab *lab, size_t actor_count, size_t envs_per_actor)
{
    lab->env_count = actor_count * envs_per_actor;
    CU_ASSERT_FATAL(lab->env_count <= LAB_ENVS_MOST);
    lab->stage = (struct fulcrum_stage){.actor = &laboratory,
        .shared = calloc(1, sizeof(struct fulcrum_actor_shared)),
        .info = {.observation_kind = FULCRUM_OBSERVE_FLOAT32,
            .observation_count = 2,
            .action_count = 1,
            .frame_skip = 1.0}};
    if (lab->stage.shared == NULL) {
        abort();
    }
    lab->stage.shared->lab = lab;
    number_actions(&lab->stage);
    for (size_t i = 0; i < lab->env_count; i++) {
        ASSERT_OK(fulcrum_stepper_open(&lab->steppers[i], &lab->stage, i, NULL));
    }
    lab->learner = new_learner(lab);
    lab->trainer = new_learner(lab);
    lab->placement = (struct fulcrum_placement){.is_apart = 0};
    ASSERT_OK(fulcrum_placement_complete(&lab->placement, NULL));
    return (struct fulcrum_live_plan){.steppers = lab->steppers,
        .actor_count = actor_count,
        .envs_per_actor = envs_per_actor,
        .inference = lab->learner,
        .policy = FULCRUM_BATCH_GREEDY,
        .placement = &lab->placement};
}

void lab_close(struct lab *lab)
{
    for (size_t i = 0; i < lab->env_count; i++) {
        fulcrum_stepper_close(&lab->steppers[i]);
    }
    fulcrum_actions_free(&lab->stage.actions);
    free(lab->stage.shared);
    free(lab->learner.state);
    free(lab->trainer.state);
}

void lab_plan_training(
    struct fulcrum_live_plan *plan, double env_steps, double queue_train_steps)
{
    plan->training = plan->inference.state->lab->trainer;
    plan->env_steps_per_train_step = env_steps;
    plan->queue_train_steps = queue_train_steps;
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
