/* calibrate.h - measures this machine with one actor and one learner. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PROBE_CALIBRATE_H
#define FULCRUM_CALIBRATE_PROBE_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calibrate/actor/actor.h"
#include "calibrate/device/learner.h"
#include "calibrate/probe/probe.h"
#include "model/design/calibration.h"
#include "model/status.h"

#define FULCRUM_CALIBRATE_BUDGET_MAX_S 3600.0

/* {0} is a legal start: zero means what the comments say. */
struct fulcrum_calibrate_options {
    const char *actor; /* NULL: mujoco-humanoid, libretro or cartpole, what opens first;
                          none beside an endpoint */
    struct fulcrum_actor_options actor_options;
    const char *learner;                      /* NULL: cpu */
    struct fulcrum_endpoint_options endpoint; /* of that learner */
    size_t device_index; /* of a learner that has several devices */
    double sm_count;     /* SMs or compute units it runs on; 0: a whole GPU, one core */
    enum fulcrum_learner_network network;
    double budget_s;    /* wall time of the whole run; 0: FULCRUM_CALIBRATE_BUDGET_S */
    size_t max_threads; /* most actor threads; 0: four for each hardware thread */
    uint64_t seed;      /* of actions, environments and weights */
    /* The training step of a real run: 0 means 64 sequences of 40 + 80 steps for r2d2,
     * 256 samples for mlp. burn_in counts only where unroll is given. */
    double nominal_train_batch;
    double nominal_unroll;
    double nominal_burn_in;
    const char *meter_root; /* NULL: this machine's files; tests give a folder */
    /* NULL: not wanted; gets how a loop batches and trains, where one was measured. */
    struct fulcrum_workload *loop_workload;
    struct fulcrum_listener listener;
};

/*
 * Runs every probe in rounds for `budget_s` and puts together what they found: notes
 * say which actor and learner ran, on what and how many samples were disturbed.
 *   out      set on success; with FULCRUM_ERR_INTERRUPTED and, where the measurement
 *            had begun, FULCRUM_ERR_ENVIRONMENT too: then it holds what was measured
 *            until the listener said so or an environment failed, its `complete` is 0,
 * and a note "incomplete" says why; the caller frees it with fulcrum_calibration_free
 *   fails    FULCRUM_ERR_RANGE (an option), FULCRUM_ERR_UNKNOWN_NAME (actor, learner),
 *            FULCRUM_ERR_INTERRUPTED, FULCRUM_ERR_ENVIRONMENT,
 *            FULCRUM_ERR_UNSUPPORTED, FULCRUM_ERR_NO_MEMORY, or as the actor and the
 *            learner
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_calibrate(
    struct fulcrum_calibration **out, const struct fulcrum_calibrate_options *options,
    struct fulcrum_error *err);

/* A calibration taken in rounds, by whoever has other work in between. */
struct fulcrum_calibration_run;

/*
 * Borrows all but `out`; probes are opened with the first round.
 *   bench    open; its listener is the caller's
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_calibration_run_new(
    struct fulcrum_calibration_run **out, struct fulcrum_bench *bench,
    const struct fulcrum_calibrate_options *options, struct fulcrum_error *err);

/*
 * Visits every probe, for `time_s` in all: the first of `to_come` rounds, which may be
 * more or fewer than last time. After an environment failed, or the listener said stop,
 * it does nothing.
 *   fails    as fulcrum_calibrate; what was measured before an environment failed stays
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_calibration_run_round(
    struct fulcrum_calibration_run *run, double time_s, size_t to_come,
    struct fulcrum_error *err);

/*
 * What the samples come to; incomplete where an environment failed or it was stopped.
 *   out      the caller frees it with fulcrum_calibration_free
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_calibration_run_end(
    struct fulcrum_calibration_run *run, bool is_stopped,
    struct fulcrum_calibration **out, struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_calibration_run_free(struct fulcrum_calibration_run *run);

/*
 * Finds and opens actor and learner, detects the host, times the clocks and takes a
 * first rough look at a step. Given back with fulcrum_bench_close, after a failure too.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_bench_open(struct fulcrum_bench *out,
    const struct fulcrum_calibrate_options *options, struct fulcrum_error *err);
void fulcrum_bench_close(struct fulcrum_bench *bench);

/*
 * What the learner's device makes of the machine: a GPU is its accelerator, with as
 * many SMs as were granted, since the times are theirs. One learner on cores is one
 * learner core, however it reaches them.
 */
void fulcrum_bench_accelerator(
    struct fulcrum_machine *machine, const struct fulcrum_device_info *info);

#endif
