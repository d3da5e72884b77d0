/* node_rows.h - a machine with more and more of its GPUs, and the threads these need.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_WHATIF_NODE_ROWS_H
#define FULCRUM_MODEL_WHATIF_NODE_ROWS_H

#include <stdbool.h>

#include "model/predict/scenario.h"
#include "model/study/sweep.h"

/* A machine with a number of GPUs. */
struct fulcrum_node_row {
    double gpu_count;
    double learner_gpu_count;
    double thread_count;
    struct fulcrum_sweep_point
        point; /* NAN where it cannot run; its `reason` is not kept */
    char reason[FULCRUM_REASON_BYTE]; /* why it cannot run; "" where it can */
    struct fulcrum_ratio need;        /* threads; NAN where not looked for */
    bool need_is_open; /* the plateau was not reached with the most threads tried */
};

/* What is asked; lists are borrowed and rise. */
struct fulcrum_node_plan {
    const double *gpu_counts; /* as far as the machine has them; NULL: 1 to all */
    size_t gpu_count_count;
    const double *learner_counts;
    size_t learner_count_count;
    struct fulcrum_sweep_plan sweep;  /* how points are predicted, with which actors */
    double plateau_frac;              /* NAN: threads needed are not looked for */
    int (*is_stopped)(void *watcher); /* asked on any thread */
    int (*watch)(void *watcher, double done_frac); /* on the calling one; not 0 stops */
    void *watcher;
};

/* Owns them; {0} is a legal start. */
struct fulcrum_node_rows {
    struct fulcrum_node_row *rows;
    size_t count;
};

/* How many rows a machine has: GPU counts with learners that leave a GPU to infer. */
size_t fulcrum_node_row_count(
    const struct fulcrum_node_plan *plan, const struct fulcrum_machine *machine);

/* Predicts the rows of one machine, the first of which the others are compared with.
 * The caller clears them; after FULCRUM_ERR_INTERRUPTED the rows so far are there. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_node_rows_find(
    const struct fulcrum_node_plan *plan, const struct fulcrum_scenario_inputs *inputs,
    struct fulcrum_node_rows *out, struct fulcrum_error *err);

void fulcrum_node_rows_clear(struct fulcrum_node_rows *rows);

#endif
