/* node_job.h - a node with more and more GPUs: job and report. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_WHATIF_NODE_JOB_H
#define FULCRUM_CLI_WHATIF_NODE_JOB_H

#include <signal.h>
#include <stdbool.h>

#include "cli/command.h"
#include "cli/options/options.h"
#include "cli/progress.h"
#include "model/interval.h"
#include "model/study/sweep.h"

/* Machines with 1 to all of their GPUs, and the threads these need. */

/* A value with the 90 % interval of its draws; NAN: not known. */
struct fulcrum_node_estimate {
    double value;
    double lo;
    double hi;
};

/* One machine with so many GPUs. */
struct fulcrum_node_row {
    char machine[64];
    double gpu_count;
    double learner_gpu_count;
    double thread_count;
    struct fulcrum_sweep_point point; /* its `reason` is not kept */
    char reason[FULCRUM_REASON_BYTE]; /* why it cannot run; "" where it can */
    /* Steps per second over those of the machine's first row. */
    struct fulcrum_node_estimate relative;
    struct fulcrum_node_estimate need; /* threads; NAN where not looked for */
    int need_is_open; /* the plateau was not reached with the most threads tried */
};

/* What is asked for; lists are borrowed. */
struct fulcrum_node_plan {
    const double *gpu_counts; /* rising; NULL: 1 to all */
    size_t gpu_count_count;
    const double *learner_counts; /* rising */
    size_t learner_count_count;
    double actors_per_thread; /* 0: actors are set */
    const double *actor_choices;
    size_t actor_choice_count;
    double plateau_frac; /* NAN: threads needed are not looked for */
    struct fulcrum_predict_options predict;
    const volatile sig_atomic_t *stop;
    struct fulcrum_progress *progress;
};

/* Rows of all machines. Owns them; {0} is a legal start. */
struct fulcrum_node_rows {
    struct fulcrum_node_row *rows;
    size_t count;
    size_t expected; /* of all machines */
};

/*
 * How many rows a machine has: GPU counts that it has, with learners that leave a GPU
 * to infer.
 */
size_t fulcrum_node_row_count(
    const struct fulcrum_node_plan *plan, const struct fulcrum_machine *machine);

/*
 * Predicts the rows of one machine and puts them behind those in `out`. Rows that
 * cannot run say why.
 *   fails    FULCRUM_ERR_NO_MEMORY; FULCRUM_ERR_INTERRUPTED (the rows so far are there)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_node_rows_add(
    const struct fulcrum_node_plan *plan, const struct fulcrum_design_inputs *inputs,
    struct fulcrum_node_rows *out, struct fulcrum_error *err);

/* Leaves it empty. */
void fulcrum_node_rows_clear(struct fulcrum_node_rows *rows);

/* What `fulcrum node` prints. */

/* Rows, and the words that go with them. Borrowed. */
struct fulcrum_node_answer {
    const struct fulcrum_node_rows *rows;
    const char *workload;
    const char *calibration;
    const char *actors_rule;
    double plateau_frac; /* NAN: threads needed were not looked for */
    bool is_complete;    /* 0: Ctrl-C */
};

/*
 * Prints in the format of `context`.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_node_report(
    const struct fulcrum_node_answer *answer, const struct fulcrum_context *context,
    struct fulcrum_error *err);

/* A sentence for each machine: where it is fastest, and what all its GPUs make of it.
 */
void fulcrum_node_note_findings(
    const struct fulcrum_node_rows *rows, const struct fulcrum_context *context);

#endif
