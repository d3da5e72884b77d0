/* explore_job.h - a sweep under way: what is done with its points, and said of them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_COMMAND_EXPLORE_JOB_H
#define FULCRUM_CLI_COMMAND_EXPLORE_JOB_H

#include <signal.h>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/result/sweep_columns.h"
#include "cli/result/sweep_finding.h"
#include "cli/result/sweep_writer.h"
#include "model/study/sweep.h"

struct fulcrum_explore_job {
    struct fulcrum_sweep_plan plan;
    struct fulcrum_sweep_axis axes[FULCRUM_SWEEP_AXES_MOST];
    double *values[FULCRUM_SWEEP_AXES_MOST];
    double *actor_choices;
    size_t point_count;
    size_t done;
    size_t failed;
    size_t rough; /* points whose method may err by more than a per cent */
    char reason[FULCRUM_REASON_BYTE]; /* of the first point that cannot run */
    char calibrations[200];
    char actors_rule[200];
    char machine[180];
    struct fulcrum_yardstick *yardstick;
    int spares_simulation; /* as nobody asked for an accuracy */
    struct fulcrum_sweep_writer *writer;
    struct fulcrum_sweep_finding *finding;
    struct fulcrum_sweep_optima *optima;
    struct fulcrum_sweep_best *best;
    struct fulcrum_sweep_pareto pareto; /* metric_count 0: all points are written */
    struct fulcrum_sweep_front *front;
    const size_t *chosen; /* the points on it, borrowed from it */
    size_t chosen_count;
    size_t written; /* of them */
    int interrupted;
    struct fulcrum_progress progress;
    double visited_s; /* on the clock of the progress */
    const volatile sig_atomic_t *stop;
    FILE *out;
    enum fulcrum_status status; /* of what a visit could not do */
    struct fulcrum_error failure;
    int write_error; /* errno once writing has failed */
};

/* Frees what the job owns, and the job. */
void fulcrum_explore_job_free(struct fulcrum_explore_job *job);

/*
 * Predicts all points and writes each as it comes, then the notes.
 *   job      its writer has begun
 *   context  gets exit code 130 after Ctrl-C
 *   fails    FULCRUM_ERR_FILE (the output cannot be written), FULCRUM_ERR_INFEASIBLE
 *            (no point can run), as fulcrum_sweep_run
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_explore_all(
    const struct fulcrum_scenario *scenario, struct fulcrum_explore_job *job,
    struct fulcrum_context *context, struct fulcrum_error *err);

/*
 * Predicts all points and keeps those that are on the front of the job's metrics, after
 * Ctrl-C of the points so far.
 *   fails    as above; FULCRUM_ERR_RANGE (the front is too large)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_explore_find_front(
    const struct fulcrum_scenario *scenario, struct fulcrum_explore_job *job,
    struct fulcrum_context *context, struct fulcrum_error *err);

/*
 * Predicts the points of the front once more, in full, and writes them, then the notes.
 *   fails    as fulcrum_explore_all
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_explore_write_front(
    const struct fulcrum_scenario *scenario, struct fulcrum_explore_job *job,
    struct fulcrum_context *context, struct fulcrum_error *err);

#endif
