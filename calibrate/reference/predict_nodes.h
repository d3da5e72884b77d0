/* predict_nodes.h - references of kind node_scaling: every other number of machines
 * predicted. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_REFERENCE_PREDICT_NODES_H
#define FULCRUM_CALIBRATE_REFERENCE_PREDICT_NODES_H

#include "calibrate/reference/comparison.h"
#include "model/design/reference.h"
#include "model/status.h"

/* What training on one machine becomes on many: both in units of its step there. */
struct fulcrum_node_scaling {
    double byte_rel;    /* V / (BW t_1): the gradients' time out of a machine */
    double latency_rel; /* alpha / t_1: one message */
};

/* Speed-up of `node_count` machines over one by the ring of (15), weak scaling. */
double fulcrum_node_speedup(
    const struct fulcrum_node_scaling *scaling, double node_count);

/* What a curve counts: machines, or the GPUs of one. */
struct fulcrum_scaling_words {
    const char *setting;  /* "node_count" */
    const char *quantity; /* "speedup_over_one_node" */
    const char *plural;   /* "machines" */
};

/* By what the point sets: machines unless it sets "gpu_count". Static. */
const struct fulcrum_scaling_words *fulcrum_scaling_words_of(
    const struct fulcrum_reference_point *point);

/*
 * Per series, both are fitted, none below 0, to the speed-ups on the first, third, ...
 * number of machines or GPUs above one, and predict all; docs/model.md "Training on
 * many devices". The baseline "bounds" is as many times one machine.
 *
 *   reference  points set "node_count" and observe "speedup_over_one_node", or
 *              "gpu_count" and "speedup_over_one_gpu"
 *   out        set on success only; the caller clears it
 *   fails      FULCRUM_ERR_MISSING, FULCRUM_ERR_RANGE, FULCRUM_ERR_NO_FIT (a series of
 *              fewer than three numbers of machines above one, or no convergence),
 *              FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_nodes(
    const struct fulcrum_reference *reference, struct fulcrum_comparison *out,
    struct fulcrum_error *err);

#endif
