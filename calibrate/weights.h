/* weights.h - trained weights on their way to where actions are inferred. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_WEIGHTS_H
#define FULCRUM_CALIBRATE_WEIGHTS_H

#include <stddef.h>

#include "calibrate/learner.h"
#include "model/status.h"

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
    struct fulcrum_learner_state *to, int *taken, struct fulcrum_error *err);

#endif
