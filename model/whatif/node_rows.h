/* node_rows.h - a machine with more and more of its GPUs, and the threads these need.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_WHATIF_NODE_ROWS_H
#define FULCRUM_MODEL_WHATIF_NODE_ROWS_H

#include "model/predict/scenario.h"
#include "model/study/sweep.h"

enum fulcrum_node_axis { FULCRUM_NODE_GPUS, FULCRUM_NODE_LEARNERS, FULCRUM_NODE_AXES };

/* What is asked; all borrowed. */
struct fulcrum_node_plan {
    /* How points are predicted, with which actors. Its axes are run.gpu_count, as far
     * as the machine has them, and run.learner_gpu_count. */
    struct fulcrum_sweep_plan sweep;
    double plateau_frac;     /* NAN: threads needed are not looked for */
    const char *calibration; /* in words, as the next one */
    const char *actors_rule;
    int (*is_stopped)(void *watcher);              /* asked on any thread */
    int (*watch)(void *watcher, double done_frac); /* on the calling one; not 0 stops */
    void *watcher;
};

/* How many rows a machine has: GPU counts with learners that leave a GPU to infer. */
size_t fulcrum_node_row_count(
    const struct fulcrum_node_plan *plan, const struct fulcrum_machine *machine);

/*
 * Predicts one machine with its numbers of GPUs and adds a row for each of them to
 * `table`; the machine's others are compared with its first row. In a row that cannot
 * run nothing is known, and "status" is the reason in place of "ok". After
 * FULCRUM_ERR_INTERRUPTED the rows so far are there.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_node_rows_find(
    const struct fulcrum_node_plan *plan, const struct fulcrum_scenario_inputs *inputs,
    struct fulcrum_table *table, struct fulcrum_error *err);

#endif
