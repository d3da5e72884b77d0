/* live.h - the real pipeline and its replay. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PIPELINE_LIVE_H
#define FULCRUM_CALIBRATE_PIPELINE_LIVE_H

#include "calibrate/actor/placement.h"
#include "calibrate/actor/stepper.h"
#include "calibrate/device/learner.h"
#include "calibrate/pipeline/recorder.h"
#include "model/network/network.h"

/* A replay buffer: the latest observations of every environment. */

struct fulcrum_replay_options {
    size_t env_count;
    size_t length;          /* steps of a sequence that is drawn, >= 1 */
    size_t least_row_count; /* that all environments together have room for */
    size_t row_byte;        /* of one observation */
    size_t note_byte;       /* of what is kept beside each: 0: nothing */
    uint64_t seed;
};

/*
 * Holds two sequences' length of each environment, or more where so many rows are
 * wanted. Any thread may store and draw.
 */
struct fulcrum_replay; /* opaque */

/* fails: FULCRUM_ERR_RANGE (more than 16 GiB), FULCRUM_ERR_NO_MEMORY */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_replay_new(struct fulcrum_replay **out,
    const struct fulcrum_replay_options *options, struct fulcrum_error *err);
void fulcrum_replay_free(struct fulcrum_replay *replay);

/* Stores the next observation of an environment and its note, over its oldest ones. */
void fulcrum_replay_store(struct fulcrum_replay *replay, size_t env,
    const void *observation, const void *note);

/* Where a drawn sequence goes: step t of sequence i to row t x batch_count + i. */
struct fulcrum_replay_target {
    unsigned char *rows;
    size_t row_byte; /* distance of two rows; of longer observations only so much */
    size_t batch_count;
    size_t step_count; /* observations of a sequence */
    /*
     * Notes, laid out as the rows are, with those of one step more; NULL: none, and
     * that step is not needed. Steps needed are at most the buffer's length.
     */
    unsigned char *notes;
};

/* Whether some environment has so many steps. */
int fulcrum_replay_holds(struct fulcrum_replay *replay, size_t step_count);

/*
 * Copies batch_count sequences of neighbouring steps, environments and starts drawn
 * with the same chance among what is stored then; stores may come between two
 * sequences. Returns 0, and leaves the rows alone, while no environment has so many.
 */
int fulcrum_replay_draw(
    struct fulcrum_replay *replay, const struct fulcrum_replay_target *target);

/* The real pipeline: actors, central inference, training, end to end. */

/* A learner in use. The pipeline's threads are the only ones that touch it. */
struct fulcrum_live_learner {
    const struct fulcrum_learner *learner;
    struct fulcrum_learner_state *state;
    struct fulcrum_learner_info info;
    size_t max_batch;
};

/*
 * One configuration. Actors step their environments one after the other, hand all
 * observations in together and wait for the actions. The server takes requests by the
 * batching rule, copies their observations into the network's input, infers, and
 * answers. A train step is due whenever the environments have made so many steps after
 * the first whole sequence; a thread beside the server draws its rows from what the
 * actors saw and did, and runs it, on the server's processors. A backlog holds
 * inference up. Now and then the server takes the trained weights over, between two
 * batches. In a loop that alternates train steps wait for the end of a rollout, and the
 * next batch for them.
 */
struct fulcrum_live_plan {
    struct fulcrum_stepper *steppers; /* actor_count x envs_per_actor, open; borrowed */
    size_t actor_count;
    size_t envs_per_actor;
    struct fulcrum_live_learner inference;
    /* Another state than `inference` has; its state is NULL where nothing trains. */
    struct fulcrum_live_learner training;
    enum fulcrum_batch_policy policy;
    size_t batch_requests; /* fixed: exactly; greedy: at most, 0: whatever fits */
    double env_steps_per_train_step; /* > 0 where something trains */
    double queue_train_steps;        /* backlog that holds inference up, >= 1 */
    double rollout_step_count; /* of all environments, between trainings; 0: overlap */
    /* Trained weights go to inference after so many train steps; 0: never. */
    size_t train_steps_per_copy;
    const struct fulcrum_placement *placement;
    /* Tracks as fulcrum_live_track numbers them; NULL: nothing is recorded. */
    struct fulcrum_recorder *recorder;
};

/* Tracks of a recorder: the server, the trainer, then the actors. */
enum { FULCRUM_LIVE_SERVER, FULCRUM_LIVE_TRAINER, FULCRUM_LIVE_ACTORS };

struct fulcrum_live; /* opaque: the threads and what they share */

/*
 * Starts the threads, which run at once.
 *   out      given back with fulcrum_live_free; until then the steppers and learners
 *            are its own
 *   fails    FULCRUM_ERR_INFEASIBLE (a batch that never fills, or that the learner has
 *            no room for), FULCRUM_ERR_NO_MEMORY, FULCRUM_ERR_UNSUPPORTED (a thread
 *            cannot start)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_live_new(struct fulcrum_live **out,
    const struct fulcrum_live_plan *plan, struct fulcrum_error *err);
void fulcrum_live_free(struct fulcrum_live *live);

/* Totals since the start; what happened in a window is the difference of two. */
struct fulcrum_live_reading {
    double answered_s; /* when the last batch was answered, wall clock */
    double env_step_count;
    double batch_count;
    double observation_count; /* inferred */
    double train_step_count;
    double weight_copy_count; /* times that inference got new weights */
    double wall_s;            /* when the CPU times below were read */
    double actor_cpu_s;
    double server_cpu_s;
    double train_cpu_s;
};

/* The first failure of an environment, after which the pipeline stands still. */
enum fulcrum_status fulcrum_live_failure(
    struct fulcrum_live *live, struct fulcrum_error *err);

/* While it runs. */
void fulcrum_live_read(struct fulcrum_live *live, struct fulcrum_live_reading *out);

#endif
