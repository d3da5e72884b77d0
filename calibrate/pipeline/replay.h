/* replay.h - a replay buffer: the latest observations of every environment. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PIPELINE_REPLAY_H
#define FULCRUM_CALIBRATE_PIPELINE_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calibrate/device/learner.h"
#include "model/status.h"

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

/*
 *   out      given back with fulcrum_replay_free
 *   fails    FULCRUM_ERR_RANGE (more than 16 GiB), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_replay_new(struct fulcrum_replay **out,
    const struct fulcrum_replay_options *options, struct fulcrum_error *err);

/* Accepts NULL. */
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

/* Trained weights on their way to where actions are inferred. */

/*
 * A copy between two states of a learner that have a thread each: the one that trains
 * puts its weights down here, the one that infers picks them up when it has time. So
 * neither state is ever touched by the other's thread, and neither waits for the other.
 */
struct fulcrum_weights; /* opaque */

/*
 *   out      given back with fulcrum_weights_free
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_weights_new(
    struct fulcrum_weights **out, size_t parameter_count, struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_weights_free(struct fulcrum_weights *weights);

/*
 * Puts down the weights of a state, over those that nobody has picked up.
 *   fails    as the learner's read_weights
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_weights_publish(
    struct fulcrum_weights *weights, const struct fulcrum_learner *learner,
    struct fulcrum_learner_state *from, struct fulcrum_error *err);

/*
 * Picks them up where there are new ones that are whole.
 *   taken    set to 1 where `to` has new weights now, else to 0
 *   fails    as the learner's write_weights
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_weights_take(
    struct fulcrum_weights *weights, const struct fulcrum_learner *learner,
    struct fulcrum_learner_state *to, bool *taken, struct fulcrum_error *err);

#endif
