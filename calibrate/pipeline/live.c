/* live.c - the real pipeline: actors, central inference, training, end to end. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads of one process around a request queue (request_queue.c), as the calibration's
 * hand-off probe times it. An answer is the index that the network inferred; it picks
 * the next row of the same table of random actions that the calibration steps with, so
 * that every step depends on its inference and costs what an untrained policy's steps
 * cost.
 *
 * Inference and training have a learner state each, as they would on two streams, and a
 * thread each; what passes between them are observations with what was done before them
 * and trained weights.
 */
#include "calibrate/pipeline/live.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/actor/request_queue.h"
#include "calibrate/statistics.h"
#include "model/try.h"

struct actor {
    struct fulcrum_live *live;
    size_t seat;
    struct fulcrum_stepper *steppers; /* envs_per_actor of them */
    int *answers;                     /* likewise; written by the server */
    pthread_t thread;
    int runs; /* the thread exists */
};

/* Steps made and train steps due: what server and trainer agree on. */
struct ledger {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct fulcrum_live_reading totals; /* but for the CPU times; guarded by lock */
    /* Env steps before the first whole sequence, which earn no train step. */
    double idle_step_count;
    bool has_sequence;
    double rollout_end; /* env steps at which the next rollout ends */
    bool is_between;    /* two rollouts: the time to train where the loop alternates */
    int ends;
};

/*
 * Trained weights on their way to where actions are inferred: the trainer puts a copy
 * down, over one that nobody has picked up, and the server takes it when it has time.
 * So neither state of the learner is touched by the other's thread, and nobody waits.
 */
struct weights {
    pthread_mutex_t lock;
    float *values;       /* guarded by the lock; NULL: they stay where they are */
    atomic_int is_fresh; /* not picked up yet; changes under the lock */
};

struct fulcrum_live {
    struct fulcrum_live_plan plan;
    struct fulcrum_request_queue *request_queue;
    struct actor *actors;
    int *answers;
    size_t least_requests;
    size_t most_requests;
    size_t *seats; /* of the batch at hand; the server's, as are the next two */
    int *inferred;
    size_t copied_byte; /* of an observation: what fits the network's input */
    struct fulcrum_replay *replay; /* NULL: nothing trains */
    struct weights weights;
    struct fulcrum_train_rows rows; /* the trainer's, as the next one */
    float *drawn_notes;
    float *note;       /* of the observation at hand; the server's */
    size_t note_count; /* floats: the answer before an observation, and its action */
    struct ledger ledger;
    struct fulcrum_error failure; /* guarded by the ledger's lock */
    pthread_t server;
    pthread_t trainer;
    bool has_server;
    bool has_trainer;
};

/* Keeps the first failure and sends everybody home. */
static void give_up(struct fulcrum_live *live, const struct fulcrum_error *why)
{
    (void)pthread_mutex_lock(&live->ledger.lock);
    if (live->failure.status == FULCRUM_OK) {
        live->failure = *why;
    }
    (void)pthread_mutex_unlock(&live->ledger.lock);
    fulcrum_request_queue_close(live->request_queue);
}

static int step_all(struct actor *actor)
{
    struct fulcrum_live *live = actor->live;
    struct fulcrum_error why = {FULCRUM_OK, ""};
    for (size_t i = 0; i < live->plan.envs_per_actor; i++) {
        struct fulcrum_stepper *stepper = &actor->steppers[i];
        size_t rows = stepper->stage->actions.row_count;
        stepper->row = (stepper->row + (size_t)actor->answers[i]) % rows;
        if (fulcrum_stepper_run(stepper, 1, NULL, &why) != FULCRUM_OK) {
            give_up(live, &why);
            return 0;
        }
    }
    return 1;
}

static void *act(void *argument)
{
    struct actor *actor = argument;
    struct fulcrum_live *live = actor->live;
    struct fulcrum_recorder *recorder = live->plan.recorder;
    size_t track = FULCRUM_LIVE_ACTORS + actor->seat;
    char name[FULCRUM_RECORDER_NAME_SIZE];
    (void)snprintf(name, sizeof name, "actor %zu", actor->seat);
    (void)fulcrum_cpu_list_bind(&live->plan.placement->actors);
    fulcrum_recorder_attach(recorder, track, name, 1);
    int goes_on = 1;
    while (goes_on) {
        fulcrum_recorder_next(recorder, track, FULCRUM_STAGE_SIMULATION);
        if (!step_all(actor)) {
            break;
        }
        fulcrum_recorder_next(recorder, track, FULCRUM_STAGE_HANDOFF);
        goes_on = fulcrum_request_queue_hand_in(live->request_queue, actor->seat);
        fulcrum_recorder_next(recorder, track, FULCRUM_STAGE_WAIT);
        goes_on =
            goes_on && fulcrum_request_queue_await(live->request_queue, actor->seat);
    }
    fulcrum_recorder_end(recorder, track);
    fulcrum_recorder_detach(recorder, track);
    return NULL;
}

static void copy_in(struct fulcrum_live *live, size_t request_count)
{
    const struct fulcrum_live_learner *inference = &live->plan.inference;
    size_t envs = live->plan.envs_per_actor;
    unsigned char *input = inference->learner->input(inference->state);
    for (size_t i = 0; i < request_count; i++) {
        const struct actor *actor = &live->actors[live->seats[i]];
        for (size_t k = 0; k < envs; k++) {
            memcpy(input + (i * envs + k) * inference->info.input_byte,
                actor->steppers[k].observation, live->copied_byte);
        }
    }
}

/* Train steps that the environments' steps have earned and that are not done. */
static double backlog(const struct fulcrum_live *live)
{
    const struct ledger *ledger = &live->ledger;
    double earning = ledger->totals.env_step_count - ledger->idle_step_count;
    return ledger->has_sequence ? earning / live->plan.env_steps_per_train_step -
                                      ledger->totals.train_step_count
                                : 0.0;
}

static bool alternates(const struct fulcrum_live *live)
{
    return live->plan.rollout_step_count > 0.0 && live->has_trainer;
}

/* At the end of a rollout all train steps that it earned, before the next batch. */
static void train_between_rollouts(struct fulcrum_live *live)
{
    struct ledger *ledger = &live->ledger;
    (void)pthread_mutex_lock(&ledger->lock);
    if (ledger->totals.env_step_count >= ledger->rollout_end) {
        ledger->rollout_end += live->plan.rollout_step_count;
        ledger->is_between = true;
        (void)pthread_cond_broadcast(&ledger->changed);
        while (!ledger->ends && backlog(live) >= 1.0) {
            (void)pthread_cond_wait(&ledger->changed, &ledger->lock);
        }
        ledger->is_between = false;
    }
    (void)pthread_mutex_unlock(&ledger->lock);
}

/* Books a batch, and holds the server up where training lags behind. */
static void book_batch(struct fulcrum_live *live, size_t request_count)
{
    struct ledger *ledger = &live->ledger;
    double count = (double)(request_count * live->plan.envs_per_actor);
    (void)pthread_mutex_lock(&ledger->lock);
    ledger->totals.answered_s = fulcrum_wall_s();
    ledger->totals.batch_count += 1.0;
    ledger->totals.observation_count += count;
    ledger->totals.env_step_count += count;
    if (live->has_trainer) {
        /* Nothing is due before there is something to train on. */
        if (!ledger->has_sequence) {
            ledger->has_sequence =
                fulcrum_replay_holds(live->replay, live->rows.step_count + 1);
            ledger->idle_step_count = ledger->totals.env_step_count;
        }
        (void)pthread_cond_broadcast(&ledger->changed);
        fulcrum_recorder_begin(
            live->plan.recorder, FULCRUM_LIVE_SERVER, FULCRUM_STAGE_WAIT);
        while (!ledger->ends && !alternates(live) &&
               backlog(live) >= live->plan.queue_train_steps) {
            (void)pthread_cond_wait(&ledger->changed, &ledger->lock);
        }
        fulcrum_recorder_end(live->plan.recorder, FULCRUM_LIVE_SERVER);
    }
    (void)pthread_mutex_unlock(&ledger->lock);
}

/* New weights, if there are any, before the next batch. Returns 0 after a failure. */
static int take_weights(struct fulcrum_live *live)
{
    const struct fulcrum_live_learner *inference = &live->plan.inference;
    struct weights *weights = &live->weights;
    struct fulcrum_error why = {FULCRUM_OK, ""};
    /* A look without the lock: a batch without new weights pays next to nothing. */
    if (!atomic_load(&weights->is_fresh) ||
        pthread_mutex_trylock(&weights->lock) != 0) {
        return 1;
    }
    enum fulcrum_status status =
        inference->learner->write_weights(inference->state, weights->values, &why);
    atomic_store(&weights->is_fresh, 0);
    (void)pthread_mutex_unlock(&weights->lock);
    if (status != FULCRUM_OK) {
        give_up(live, &why);
        return 0;
    }
    (void)pthread_mutex_lock(&live->ledger.lock);
    live->ledger.totals.weight_copy_count += 1.0;
    (void)pthread_mutex_unlock(&live->ledger.lock);
    return 1;
}

/* One batch from the first request to the last answer. Returns 0 at the end. */
static int serve_batch(struct fulcrum_live *live)
{
    const struct fulcrum_live_learner *inference = &live->plan.inference;
    struct fulcrum_recorder *recorder = live->plan.recorder;
    size_t envs = live->plan.envs_per_actor;
    fulcrum_recorder_next(recorder, FULCRUM_LIVE_SERVER, FULCRUM_STAGE_WAIT);
    size_t count = fulcrum_request_queue_collect(
        live->request_queue, live->least_requests, live->most_requests, live->seats);
    if (count == 0) {
        return 0;
    }
    if (alternates(live)) {
        train_between_rollouts(live);
    }
    fulcrum_recorder_next(recorder, FULCRUM_LIVE_SERVER, FULCRUM_STAGE_HANDOFF);
    copy_in(live, count);
    if (live->replay != NULL) {
        fulcrum_recorder_next(recorder, FULCRUM_LIVE_SERVER, FULCRUM_STAGE_REPLAY);
        /* What the actors saw and did goes into the replay. */
        for (size_t i = 0; i < count; i++) {
            const struct actor *actor = &live->actors[live->seats[i]];
            for (size_t k = 0; k < envs; k++) {
                /* What was answered and done before the observation that an environment
                 * shows. */
                const struct fulcrum_stepper *stepper = &actor->steppers[k];
                const struct fulcrum_actions *actions = &stepper->stage->actions;
                size_t done =
                    (stepper->row + actions->row_count - 1) % actions->row_count;
                live->note[0] = (float)actor->answers[k];
                memcpy(live->note + 1, actions->values + done * actions->column_count,
                    actions->column_count * sizeof *live->note);
                fulcrum_replay_store(live->replay, actor->seat * envs + k,
                    actor->steppers[k].observation, live->note);
            }
        }
    }
    fulcrum_recorder_next(recorder, FULCRUM_LIVE_SERVER, FULCRUM_STAGE_INFERENCE);
    struct fulcrum_error why = {FULCRUM_OK, ""};
    if (inference->learner->forward(
            inference->state, count * envs, live->inferred, &why) != FULCRUM_OK) {
        give_up(live, &why);
        return 0;
    }
    fulcrum_recorder_next(recorder, FULCRUM_LIVE_SERVER, FULCRUM_STAGE_HANDOFF);
    for (size_t i = 0; i < count; i++) {
        memcpy(live->actors[live->seats[i]].answers, live->inferred + i * envs,
            envs * sizeof *live->inferred);
    }
    fulcrum_request_queue_answer(live->request_queue, live->seats, count);
    book_batch(live, count);
    return live->weights.values == NULL || take_weights(live);
}

static void *serve(void *argument)
{
    struct fulcrum_live *live = argument;
    (void)fulcrum_cpu_list_bind(&live->plan.placement->server);
    fulcrum_recorder_attach(live->plan.recorder, FULCRUM_LIVE_SERVER, "server", 0);
    while (serve_batch(live)) {
    }
    fulcrum_recorder_end(live->plan.recorder, FULCRUM_LIVE_SERVER);
    fulcrum_recorder_detach(live->plan.recorder, FULCRUM_LIVE_SERVER);
    return NULL;
}

/* Waits for a train step that is due. Returns 0 at the end. */
static int await_due(struct fulcrum_live *live)
{
    struct ledger *ledger = &live->ledger;
    (void)pthread_mutex_lock(&ledger->lock);
    while (!ledger->ends &&
           (backlog(live) < 1.0 || (alternates(live) && !ledger->is_between))) {
        (void)pthread_cond_wait(&ledger->changed, &ledger->lock);
    }
    int goes_on = !ledger->ends;
    (void)pthread_mutex_unlock(&ledger->lock);
    return goes_on;
}

/* One train step, and its weights where inference is to have them. */
static enum fulcrum_status train_once(
    struct fulcrum_live *live, size_t number, struct fulcrum_error *err)
{
    const struct fulcrum_live_learner *training = &live->plan.training;
    struct fulcrum_recorder *recorder = live->plan.recorder;
    double loss = 0.0;
    fulcrum_recorder_next(recorder, FULCRUM_LIVE_TRAINER, FULCRUM_STAGE_REPLAY);
    /* Draws a batch of sequences and gives it to the learner. */
    const struct fulcrum_replay_target target = {.rows = live->rows.observation,
        .row_byte = training->info.input_byte,
        .batch_count = live->rows.batch_count,
        .step_count = live->rows.step_count,
        .notes = (unsigned char *)live->drawn_notes};
    (void)fulcrum_replay_draw(live->replay, &target);
    /* What was done, from the notes to where the learner wants it. */
    const struct fulcrum_train_rows *rows = &live->rows;
    size_t pitch = live->note_count;
    size_t count = rows->step_count * rows->batch_count;
    const float *after = live->drawn_notes + rows->batch_count * pitch;
    size_t action_count =
        pitch - 1 < rows->action_count ? pitch - 1 : rows->action_count;
    for (size_t i = 0; rows->index != NULL && i < count + rows->batch_count; i++) {
        rows->index[i] = (int)live->drawn_notes[i * pitch];
    }
    for (size_t i = 0; rows->action != NULL && i < count; i++) {
        memcpy(rows->action + i * rows->action_count, after + i * pitch + 1,
            action_count * sizeof *rows->action);
    }
    TRY(training->learner->take_rows(training->state, err));
    fulcrum_recorder_next(recorder, FULCRUM_LIVE_TRAINER, FULCRUM_STAGE_TRAINING);
    TRY(training->learner->train(training->state, &loss, err));
    struct weights *weights = &live->weights;
    if (weights->values == NULL || number % live->plan.train_steps_per_copy != 0) {
        return FULCRUM_OK;
    }
    fulcrum_recorder_next(recorder, FULCRUM_LIVE_TRAINER, FULCRUM_STAGE_HANDOFF);
    (void)pthread_mutex_lock(&weights->lock);
    enum fulcrum_status status =
        training->learner->read_weights(training->state, weights->values, err);
    atomic_store(&weights->is_fresh, status == FULCRUM_OK);
    (void)pthread_mutex_unlock(&weights->lock);
    return status;
}

static void *train(void *argument)
{
    struct fulcrum_live *live = argument;
    struct fulcrum_recorder *recorder = live->plan.recorder;
    struct ledger *ledger = &live->ledger;
    struct fulcrum_error why = {FULCRUM_OK, ""};
    (void)fulcrum_cpu_list_bind(&live->plan.placement->server);
    fulcrum_recorder_attach(recorder, FULCRUM_LIVE_TRAINER, "trainer", 0);
    fulcrum_recorder_next(recorder, FULCRUM_LIVE_TRAINER, FULCRUM_STAGE_WAIT);
    for (size_t number = 1; await_due(live); number++) {
        if (train_once(live, number, &why) != FULCRUM_OK) {
            give_up(live, &why);
            break;
        }
        fulcrum_recorder_next(recorder, FULCRUM_LIVE_TRAINER, FULCRUM_STAGE_WAIT);
        (void)pthread_mutex_lock(&ledger->lock);
        ledger->totals.train_step_count += 1.0;
        (void)pthread_cond_broadcast(&ledger->changed);
        (void)pthread_mutex_unlock(&ledger->lock);
    }
    fulcrum_recorder_end(recorder, FULCRUM_LIVE_TRAINER);
    fulcrum_recorder_detach(recorder, FULCRUM_LIVE_TRAINER);
    return NULL;
}

static enum fulcrum_status make_replay(
    struct fulcrum_live *live, struct fulcrum_error *err)
{
    const struct fulcrum_live_plan *plan = &live->plan;
    const struct fulcrum_stage *stage = plan->steppers[0].stage;
    const struct fulcrum_live_learner *training = &plan->training;
    TRY(training->learner->train_rows(training->state, &live->rows, err));
    live->note_count = 1 + stage->actions.column_count;
    const struct fulcrum_replay_options options = {
        .env_count = plan->actor_count * plan->envs_per_actor,
        .length = live->rows.step_count + 1,
        .least_row_count = 2 * live->rows.batch_count * live->rows.step_count,
        .row_byte = fulcrum_observation_byte(&stage->info),
        .note_byte = live->note_count * sizeof *live->note,
        .seed = stage->seed};
    live->note = calloc(live->note_count, sizeof *live->note);
    live->drawn_notes =
        calloc(options.length * live->rows.batch_count, options.note_byte);
    FAIL_IF(live->note == NULL || live->drawn_notes == NULL, err, FULCRUM_ERR_NO_MEMORY,
        "a batch of %zu sequences", live->rows.batch_count);
    /* What nothing fills stays zero; actions come from a table of uniform ones. */
    const struct fulcrum_train_rows *rows = &live->rows;
    size_t count = rows->step_count * rows->batch_count;
    memset(rows->observation, 0, count * live->plan.training.info.input_byte);
    if (rows->action != NULL) {
        memset(rows->action, 0, count * rows->action_count * sizeof *rows->action);
    }
    for (size_t i = 0; rows->log_probability != NULL && i < count; i++) {
        rows->log_probability[i] = -(float)((double)(live->note_count - 1) * log(2.0));
    }
    if (plan->train_steps_per_copy > 0) {
        size_t weight_count = training->info.cost.parameter_count;
        live->weights.values = calloc(weight_count + 1, sizeof *live->weights.values);
        TRY_MEMORY(live->weights.values, err, "a copy of %zu weights", weight_count);
    }
    return fulcrum_replay_new(&live->replay, &options, err);
}

/* Batching, seats, the replay, then the threads. */
static enum fulcrum_status begin(struct fulcrum_live *live, struct fulcrum_error *err)
{
    const struct fulcrum_live_plan *plan = &live->plan;
    size_t envs = plan->envs_per_actor;
    bool trains = plan->training.state != NULL;
    bool is_fixed = plan->policy == FULCRUM_BATCH_FIXED;
    /* How many requests the server waits for, and takes at most. */
    size_t room = plan->inference.max_batch / envs;
    size_t most = plan->batch_requests;
    most = !is_fixed && (most == 0 || most > room) ? room : most;
    FAIL_IF(most == 0 || most > room, err, FULCRUM_ERR_INFEASIBLE,
        "a batch of %zu requests of %zu observations: the learner takes %zu "
        "observations",
        is_fixed ? most : 1, envs, plan->inference.max_batch);
    FAIL_IF(is_fixed && most > plan->actor_count, err, FULCRUM_ERR_INFEASIBLE,
        "a batch of %zu requests never fills with %zu actors", most, plan->actor_count);
    live->least_requests = is_fixed ? most : 1;
    live->most_requests = most;
    live->actors = calloc(plan->actor_count + 1, sizeof *live->actors);
    live->answers = calloc(plan->actor_count * envs + 1, sizeof *live->answers);
    live->seats = calloc(most + 1, sizeof *live->seats);
    live->inferred = calloc(most * envs + 1, sizeof *live->inferred);
    FAIL_IF(live->actors == NULL || live->answers == NULL || live->seats == NULL ||
                live->inferred == NULL,
        err, FULCRUM_ERR_NO_MEMORY, "%zu actors", plan->actor_count);
    TRY(fulcrum_request_queue_new(&live->request_queue, plan->actor_count, err));
    TRY(trains ? make_replay(live, err) : FULCRUM_OK);
    /* Before the server looks at it. */
    live->has_trainer =
        trains && pthread_create(&live->trainer, NULL, train, live) == 0;
    live->has_server = pthread_create(&live->server, NULL, serve, live) == 0;
    FAIL_IF(!live->has_server || live->has_trainer != trains, err,
        FULCRUM_ERR_UNSUPPORTED, "the server's threads cannot start");
    for (size_t i = 0; i < plan->actor_count; i++) {
        struct actor *actor = &live->actors[i];
        *actor = (struct actor){.live = live,
            .seat = i,
            .steppers = plan->steppers + i * envs,
            .answers = live->answers + i * envs};
        actor->runs = pthread_create(&actor->thread, NULL, act, actor) == 0;
        FAIL_IF(!actor->runs, err, FULCRUM_ERR_UNSUPPORTED,
            "actor thread %zu cannot start", i + 1);
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_live_new(struct fulcrum_live **out,
    const struct fulcrum_live_plan *plan, struct fulcrum_error *err)
{
    struct fulcrum_live *live = calloc(1, sizeof *live);
    TRY_MEMORY(live, err, "a pipeline");
    live->plan = *plan;
    live->ledger.rollout_end = plan->rollout_step_count;
    (void)pthread_mutex_init(&live->ledger.lock, NULL);
    (void)pthread_cond_init(&live->ledger.changed, NULL);
    (void)pthread_mutex_init(&live->weights.lock, NULL);
    size_t has_byte = fulcrum_observation_byte(&plan->steppers[0].stage->info);
    size_t wants_byte = plan->inference.info.input_byte;
    live->copied_byte = has_byte < wants_byte ? has_byte : wants_byte;
    enum fulcrum_status status = begin(live, err);
    if (status == FULCRUM_OK) {
        *out = live;
    } else {
        fulcrum_live_free(live);
    }
    return status;
}

void fulcrum_live_free(struct fulcrum_live *live)
{
    if (live == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&live->ledger.lock);
    live->ledger.ends = 1;
    (void)pthread_cond_broadcast(&live->ledger.changed);
    (void)pthread_mutex_unlock(&live->ledger.lock);
    if (live->request_queue != NULL) {
        fulcrum_request_queue_close(live->request_queue);
    }
    if (live->has_server) {
        (void)pthread_join(live->server, NULL);
    }
    if (live->has_trainer) {
        (void)pthread_join(live->trainer, NULL);
    }
    for (size_t i = 0; live->actors != NULL && i < live->plan.actor_count; i++) {
        if (live->actors[i].runs) {
            (void)pthread_join(live->actors[i].thread, NULL);
        }
    }
    fulcrum_request_queue_free(live->request_queue);
    fulcrum_replay_free(live->replay);
    (void)pthread_mutex_destroy(&live->weights.lock);
    free(live->weights.values);
    free(live->drawn_notes);
    free(live->note);
    (void)pthread_cond_destroy(&live->ledger.changed);
    (void)pthread_mutex_destroy(&live->ledger.lock);
    free(live->actors);
    free(live->answers);
    free(live->seats);
    free(live->inferred);
    free(live);
}

enum fulcrum_status fulcrum_live_failure(
    struct fulcrum_live *live, struct fulcrum_error *err)
{
    (void)pthread_mutex_lock(&live->ledger.lock);
    struct fulcrum_error failure = live->failure;
    (void)pthread_mutex_unlock(&live->ledger.lock);
    return failure.status == FULCRUM_OK
               ? FULCRUM_OK
               : fulcrum_fail(err, failure.status, "%s", failure.detail);
}

void fulcrum_live_read(struct fulcrum_live *live, struct fulcrum_live_reading *out)
{
    (void)pthread_mutex_lock(&live->ledger.lock);
    *out = live->ledger.totals;
    (void)pthread_mutex_unlock(&live->ledger.lock);
    out->wall_s = fulcrum_wall_s();
    out->server_cpu_s = fulcrum_cpu_s_of(live->server);
    out->train_cpu_s = live->has_trainer ? fulcrum_cpu_s_of(live->trainer) : 0.0;
    for (size_t i = 0; i < live->plan.actor_count; i++) {
        const struct actor *actor = &live->actors[i];
        out->actor_cpu_s += fulcrum_cpu_s_of(actor->thread);
        for (size_t k = 0; k < live->plan.envs_per_actor; k++) {
            out->actor_cpu_s += fulcrum_stepper_cpu_s(&actor->steppers[k]);
        }
    }
}

/*
 * A ring per environment, so that the steps of a sequence are neighbours, under one
 * lock: a store copies one observation, and a draw takes the lock for each sequence, so
 * that nobody who stores waits for a whole batch.
 */

/* Rings hold so many sequences, at least. */
#define SEQUENCES 2

#define MOST_BYTE ((size_t)1 << 34)

struct fulcrum_replay {
    pthread_mutex_t lock; /* guards all below but the sizes */
    unsigned char *rows;  /* env_count x capacity */
    unsigned char *notes; /* likewise */
    size_t *stored;       /* observations ever stored, by environment */
    struct fulcrum_random random;
    struct fulcrum_replay_options options;
    size_t capacity; /* rows of a ring */
};

enum fulcrum_status fulcrum_replay_new(struct fulcrum_replay **out,
    const struct fulcrum_replay_options *options, struct fulcrum_error *err)
{
    size_t envs = options->env_count > 0 ? options->env_count : 1;
    bool is_small =
        options->row_byte < MOST_BYTE && options->length < MOST_BYTE / SEQUENCES;
    size_t most_rows =
        is_small ? MOST_BYTE / (options->row_byte + options->note_byte + 1) : 0;
    size_t sequences = SEQUENCES * options->length;
    size_t share = options->least_row_count / envs + 1;
    size_t capacity = share > sequences ? share : sequences;
    FAIL_IF(options->length == 0 || most_rows / envs < capacity, err, FULCRUM_ERR_RANGE,
        "a replay of %zu environments, sequences of %zu steps of %zu bytes: "
        "expected steps, and at most 16 GiB",
        options->env_count, options->length, options->row_byte);
    struct fulcrum_replay *replay = calloc(1, sizeof *replay);
    TRY_MEMORY(replay, err, "a replay");
    (void)pthread_mutex_init(&replay->lock, NULL);
    replay->random = fulcrum_random_seeded(options->seed);
    replay->options = *options;
    replay->capacity = capacity;
    size_t rows = options->env_count * capacity;
    replay->stored = calloc(options->env_count + 1, sizeof *replay->stored);
    replay->rows = calloc(rows + 1, options->row_byte + 1);
    replay->notes = calloc(rows + 1, options->note_byte + 1);
    if (replay->stored == NULL || replay->rows == NULL || replay->notes == NULL) {
        fulcrum_replay_free(replay);
        return fulcrum_fail(
            err, FULCRUM_ERR_NO_MEMORY, "a replay of %zu observations", rows);
    }
    *out = replay;
    return FULCRUM_OK;
}

void fulcrum_replay_free(struct fulcrum_replay *replay)
{
    if (replay == NULL) {
        return;
    }
    (void)pthread_mutex_destroy(&replay->lock);
    free(replay->rows);
    free(replay->notes);
    free(replay->stored);
    free(replay);
}

/* Number of the row that an environment's step `at` has in the rings. */
static size_t row_at(const struct fulcrum_replay *replay, size_t env, size_t at)
{
    assert(replay->capacity > 0);
    return env * replay->capacity + at % replay->capacity;
}

void fulcrum_replay_store(struct fulcrum_replay *replay, size_t env,
    const void *observation, const void *note)
{
    const struct fulcrum_replay_options *options = &replay->options;
    (void)pthread_mutex_lock(&replay->lock);
    size_t row = row_at(replay, env, replay->stored[env]);
    memcpy(replay->rows + row * options->row_byte, observation, options->row_byte);
    if (options->note_byte > 0) {
        memcpy(replay->notes + row * options->note_byte, note, options->note_byte);
    }
    replay->stored[env]++;
    (void)pthread_mutex_unlock(&replay->lock);
}

/* Starts of a sequence of `length` steps that an environment's ring holds. */
static size_t start_count(
    const struct fulcrum_replay *replay, size_t env, size_t length)
{
    size_t held =
        replay->stored[env] < replay->capacity ? replay->stored[env] : replay->capacity;
    return held >= length ? held - length + 1 : 0;
}

static size_t all_starts(const struct fulcrum_replay *replay, size_t length)
{
    size_t total = 0;
    for (size_t env = 0; env < replay->options.env_count; env++) {
        total += start_count(replay, env, length);
    }
    return total;
}

int fulcrum_replay_holds(struct fulcrum_replay *replay, size_t step_count)
{
    (void)pthread_mutex_lock(&replay->lock);
    size_t total = all_starts(replay, step_count);
    (void)pthread_mutex_unlock(&replay->lock);
    return total > 0;
}

/* Draws the number of a start among all, and finds whose it is. Returns 0: none. */
static int draw_sequence(struct fulcrum_replay *replay,
    const struct fulcrum_replay_target *target, size_t sequence)
{
    size_t length = target->step_count + (target->notes != NULL ? 1 : 0);
    size_t total = all_starts(replay, length);
    if (total == 0) {
        return 0;
    }
    size_t start = (size_t)(fulcrum_random_bits(&replay->random) % total);
    size_t env = 0;
    while (start >= start_count(replay, env, length)) {
        start -= start_count(replay, env, length);
        env++;
    }
    size_t stored = replay->stored[env];
    size_t oldest = stored > replay->capacity ? stored - replay->capacity : 0;
    /* The steps of one environment from `first` on, to their rows of a sequence. */
    size_t first = oldest + start;
    size_t row_byte = replay->options.row_byte;
    size_t note_byte = replay->options.note_byte;
    size_t copied_byte = row_byte < target->row_byte ? row_byte : target->row_byte;
    size_t notes = target->notes != NULL ? target->step_count + 1 : 0;
    for (size_t t = 0; t < target->step_count; t++) {
        size_t to = t * target->batch_count + sequence;
        memcpy(target->rows + to * target->row_byte,
            replay->rows + row_at(replay, env, first + t) * row_byte, copied_byte);
    }
    for (size_t t = 0; t < notes; t++) {
        size_t to = t * target->batch_count + sequence;
        memcpy(target->notes + to * note_byte,
            replay->notes + row_at(replay, env, first + t) * note_byte, note_byte);
    }
    return 1;
}

int fulcrum_replay_draw(
    struct fulcrum_replay *replay, const struct fulcrum_replay_target *target)
{
    bool is_drawn = 1;
    for (size_t i = 0; i < target->batch_count && is_drawn; i++) {
        (void)pthread_mutex_lock(&replay->lock);
        is_drawn = draw_sequence(replay, target, i);
        (void)pthread_mutex_unlock(&replay->lock);
    }
    return is_drawn;
}
