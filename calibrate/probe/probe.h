/* probe.h - the measurements that make up a calibration. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PROBE_PROBE_H
#define FULCRUM_CALIBRATE_PROBE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calibrate/actor/stepper.h"
#include "calibrate/device/learner.h"
#include "calibrate/probe/gpu_idle.h"
#include "calibrate/probe/recording.h"
#include "calibrate/stopwatch.h"
#include "model/design/calibration.h"
#include "model/design/machine.h"
#include "model/status.h"

/* The training step of a real run; what is measured here is smaller. */
struct fulcrum_nominal_training {
    double batch;   /* sequences or samples */
    double unroll;  /* trained steps of a sequence; 1 for networks without memory */
    double burn_in; /* steps before them */
};

/* What every probe works with. Owned by fulcrum_calibrate. */
struct fulcrum_bench {
    struct fulcrum_stage stage;
    double step_s; /* rough mean step */
    const struct fulcrum_learner *learner;
    struct fulcrum_learner_options learner_options; /* of `state` */
    struct fulcrum_learner_state *state;
    struct fulcrum_learner_info learner_info;
    int *action; /* max_batch of them, for forward */
    struct fulcrum_nominal_training nominal;
    struct fulcrum_stopwatch stopwatch;
    struct fulcrum_canary alone; /* runs while nothing of ours is busy elsewhere */
    struct fulcrum_canary busy;  /* runs while other cores are loaded on purpose */
    struct fulcrum_machine machine;
    struct fulcrum_gpu_idle gpu_idle; /* before the learner was opened */
    size_t max_threads;               /* most actor threads */
    const char *meter_root;           /* where meters look for the kernel's files */
    double meter_window_rel;          /* as fulcrum_energy_options has it; 0: 1 */
    double budget_s;
    /* Also tells whoever waits how far the run is. NULL: never stops. */
    bool (*stops)(void *user);
    void *user;
};

/* 1 until `until_s` on the wall clock, 0 at once where the run is to end. */
int fulcrum_bench_goes_on(const struct fulcrum_bench *bench, double until_s);

struct fulcrum_probe_state; /* each probe's file completes it in its own way */

struct fulcrum_probe {
    const char *name;
    const char *what; /* for whoever waits: "step time" */
    double share;     /* of the time, relative to the others' */
    /* 0 where there is nothing for it to measure: it is not opened. NULL: always 1. */
    int (*applies)(const struct fulcrum_bench *bench);
    /*
     *   out      set on success only; given back with `close`
     *   fails    FULCRUM_ERR_NO_MEMORY, or as the actor or learner
     */
    enum fulcrum_status (*open)(struct fulcrum_bench *bench,
        struct fulcrum_probe_state **out, struct fulcrum_error *err);
    void (*close)(struct fulcrum_probe_state *state);
    /* 1 where an open one has nothing to do (more): others get its time. NULL: 0. */
    int (*rests)(const struct fulcrum_probe_state *state);
    /*
     * Samples until `until_s` on the wall clock, at least once if this is the first
     * visit, and ends within one sample where the run is to end. A probe that has
     * nothing more to do returns at once.
     */
    enum fulcrum_status (*visit)(
        struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err);
    /*
     * Adds parameters, quantities, series, fits and notes. What has no sample yet is
     * left out.
     */
    enum fulcrum_status (*report)(struct fulcrum_probe_state *state,
        struct fulcrum_calibration *calibration, struct fulcrum_error *err);
};

/* NULL-terminated, in the order of a round. Static. */
const struct fulcrum_probe *const *fulcrum_probes(void);

/* One file each: calibrate/probe/probe_<name>.c. Listed in calibrate.c. */
extern const struct fulcrum_probe fulcrum_probe_memory;
extern const struct fulcrum_probe fulcrum_probe_step;
extern const struct fulcrum_probe fulcrum_probe_threads;
extern const struct fulcrum_probe fulcrum_probe_inference;
extern const struct fulcrum_probe fulcrum_probe_train;
extern const struct fulcrum_probe fulcrum_probe_share;
extern const struct fulcrum_probe fulcrum_probe_pause;
extern const struct fulcrum_probe fulcrum_probe_handoff;
extern const struct fulcrum_probe fulcrum_probe_power;
extern const struct fulcrum_probe fulcrum_probe_sm;
extern const struct fulcrum_probe fulcrum_probe_gpu_power;
extern const struct fulcrum_probe fulcrum_probe_device;

#endif
