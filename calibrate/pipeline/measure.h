/* measure.h - the real pipeline measured, configuration by configuration. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PIPELINE_MEASURE_H
#define FULCRUM_CALIBRATE_PIPELINE_MEASURE_H

#include "calibrate/actor/actor.h"
#include "calibrate/actor/placement.h"
#include "calibrate/device/learner.h"
#include "calibrate/meter/energy.h"
#include "calibrate/pipeline/live.h"
#include "calibrate/pipeline/stage_times.h"
#include "calibrate/probe/calibrate.h"
#include "model/design/calibration.h"
#include "model/design/machine.h"
#include "model/design/reference.h"
#include "model/network/network.h"

/*
 * Windows in which other programs had more than this share of the machine, or beside
 * which a canary on one of the cores took FULCRUM_CANARY_LIMIT_REL of its usual time,
 * are disturbed. Both limits were fixed beforehand; how the canary is run and what is
 * usual of it (docs/measure.md) were settled after first runs.
 */
#define FULCRUM_MEASURE_OTHERS_MOST_FRAC 0.03

/* Shares that differ by less are alike: the kernel counts them in ticks of 4 or 10 ms,
 * and a short window has few. */
#define FULCRUM_MEASURE_OTHERS_ALIKE_FRAC 0.1

/* One run of the pipeline. */
struct fulcrum_measure_config {
    size_t actor_count;
    size_t envs_per_actor;
    enum fulcrum_batch_policy policy;
    double batch_size;      /* observations: fixed: exactly; greedy: at most, 0: any */
    double population_frac; /* fixed: this share of all environments; 0: batch_size */
};

struct fulcrum_measure_training {
    double env_steps_per_train_step; /* 0: nothing trains */
    double queue_train_steps;        /* >= 1 */
    double rollout_length;           /* steps of each environment; 0: overlap */
    size_t batch;
    size_t unroll; /* networks with memory */
    size_t burn_in;
    size_t steps_per_copy; /* train steps after which inference gets the weights; 0:
                              never */
};

struct fulcrum_measure_options {
    const char *actor; /* NULL: as fulcrum_calibrate */
    struct fulcrum_actor_options actor_options;
    const char *learner; /* NULL: cpu */
    size_t device_index;
    double sm_count; /* 0: as many as the learner takes */
    enum fulcrum_learner_network network;
    uint64_t seed;
    const struct fulcrum_measure_config *configs;
    size_t config_count;
    struct fulcrum_measure_training training;
    struct fulcrum_placement placement; /* empty lists: the standard one */
    double window_s;                    /* of one measurement, > 0 */
    size_t window_count;      /* undisturbed ones that are wanted of each, >= 1 */
    size_t most_windows;      /* of each, disturbed ones included */
    double calm_wait_s;       /* longest wait for calm canaries before a window, >= 0 */
    double decode_s;          /* tools: mean sleep of a trajectory before a call */
    double train_steps_least; /* a window goes on until so many are done */
    bool times_pieces;        /* in the rounds of its windows */
    const char *meter_root;   /* NULL: this machine's files */
    struct fulcrum_listener listener;
};

/* What one window showed: numbers, of which a point's medians are taken, and a mark. */
struct fulcrum_measure_window {
    double steps_per_s;      /* stays the first */
    double mean_batch;       /* observations */
    double actor_busy_frac;  /* CPU time over that of the actors' processors */
    double server_busy_frac; /* CPU time of the server's thread over wall time */
    double train_busy_frac;
    double train_step_count;
    double actor_cpu_s;  /* per step */
    double server_cpu_s; /* per batch */
    double cpu_w;        /* NAN: not measured, as the next */
    double gpu_w;
    double j_per_step;
    double canary_rel;  /* the slower of the cores, before or after */
    double canary_s;    /* mean of both cores, before and after */
    double others_frac; /* of the machine, used by other programs or stolen */
    bool is_disturbed;
};

enum { FULCRUM_MEASURE_FAILURE_SIZE = 240 };

struct fulcrum_measured {
    struct fulcrum_measure_config config;
    size_t window_count;
    struct fulcrum_measure_window *windows;
    /* Medians over the undisturbed windows, or over all of a disturbed point. */
    struct fulcrum_measure_window median;
    double lo; /* of steps_per_s: least and largest of the same windows */
    double hi;
    bool is_disturbed; /* fewer than half of the windows were undisturbed */
    /* Why there is nothing: an environment's own words; "" */
    char failure[FULCRUM_MEASURE_FAILURE_SIZE];
};

/* Results; owned. */
struct fulcrum_measurement {
    struct fulcrum_machine machine; /* as detected, as far as the placement uses it */
    struct fulcrum_placement placement;
    const char *actor; /* its name, as of the learner */
    struct fulcrum_actor_info actor_info;
    const char *learner;
    struct fulcrum_learner_info learner_info; /* that infers */
    bool is_tools;                            /* trajectories with calls of tools... */
    double decode_s; /* ...and so much, on average, before each */
    bool is_loop;    /* of a framework, with its facts */
    double loop_fact[FULCRUM_LOOP_FIGURES];
    double train_step_flop;   /* NAN: nothing trains */
    char energy_reason[1200]; /* why watts are missing; "" */
    bool is_complete; /* 0: stopped before every configuration had its windows */
    struct fulcrum_calibration *pieces; /* timed between windows; NULL: none */
    size_t count;
    struct fulcrum_measured *items;
};

/*
 * Runs every configuration in rounds, one window each, until each has the windows that
 * are wanted. A configuration that fails (an environment that crashes, a batch that
 * never fills) keeps its reason; the others go on. Pieces, where they are timed, get
 * as much of each round as its windows: both see the same machine.
 *   out      set on success and with FULCRUM_ERR_INTERRUPTED; given back with
 *            fulcrum_measurement_free
 *   fails    FULCRUM_ERR_RANGE (an option), FULCRUM_ERR_UNKNOWN_NAME (actor, learner),
 *            FULCRUM_ERR_INTERRUPTED, FULCRUM_ERR_INFEASIBLE (placement),
 *            FULCRUM_ERR_NO_MEMORY, or as the actor and the learner
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_measure(struct fulcrum_measurement **out,
    const struct fulcrum_measure_options *options, struct fulcrum_error *err);
void fulcrum_measurement_free(struct fulcrum_measurement *measurement);

/*
 * Whether the point's medians are of window `i`, too: of a disturbed point, of those
 * that others disturbed least, hardly, or not much more than the least.
 */
bool fulcrum_measured_counts(const struct fulcrum_measured *item, size_t i);

/* Of a fixed batch, or 0, as the model has it: a whole number of requests. */
size_t fulcrum_measure_batch_requests(const struct fulcrum_measure_config *config);

/* One window of the real pipeline, and what all windows share. */

/* Environments are opened once, for the largest configuration. */
enum { FULCRUM_MEASURE_ENVS_MOST = 65536 };

/* Owned by fulcrum_measure; {0} is a legal start. */
struct fulcrum_window_room {
    const struct fulcrum_measure_options *options;
    struct fulcrum_bench bench;
    struct fulcrum_live_learner training; /* state NULL: nothing trains */
    struct fulcrum_placement placement;
    struct fulcrum_cpu_list before; /* of the calling thread */
    struct fulcrum_machine machine; /* what the placement uses of this one */
    struct fulcrum_stepper *steppers;
    size_t stepper_count;
    /* Instead of steppers, where the actor is a loop: it, and its facts. */
    struct fulcrum_env *loop;
    double loop_fact[FULCRUM_LOOP_FIGURES];
    size_t call_windows; /* of tools, so far */
    struct fulcrum_canary
        canaries[2];                /* on a core of the actors, on one of the server */
    struct fulcrum_canary usual[2]; /* what is usual of them, by windows */
    struct fulcrum_recorder *recorder; /* of the next window; NULL: none; borrowed */
    struct fulcrum_energy_meterset *energy;
    char energy_reason[1200];
    struct fulcrum_listener
        listener; /* whoever asks between two looks; progress is theirs */
};

/* Given back with fulcrum_window_room_close, after a failure too. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_window_room_open(
    struct fulcrum_window_room *room, const struct fulcrum_measure_options *options,
    struct fulcrum_error *err);
void fulcrum_window_room_close(struct fulcrum_window_room *room);

/*
 * Starts the pipeline, lets it warm up and watches it for a window.
 *   fails    FULCRUM_ERR_INTERRUPTED, or as fulcrum_live_new and fulcrum_live_failure
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_window_take(
    struct fulcrum_window_room *room, const struct fulcrum_measure_config *config,
    struct fulcrum_measure_window *out, struct fulcrum_error *err);

/* Trajectories of agents: real calls between sleeps that stand for decoding. */
struct fulcrum_calls_plan {
    struct fulcrum_stepper *steppers; /* one for each; borrowed */
    size_t count;
    double decode_s; /* mean of the sleeps, >= 0 */
    double window_s; /* at least, and some tens of calls */
    uint64_t seed;
    const struct fulcrum_listener *listener;
};

struct fulcrum_calls_reading {
    double calls_per_s;
    double busy_threads; /* CPU time of the calls, over wall time */
    double cpu_s;        /* of a call */
};

/*
 * Starts them, lets each make a call, watches them for a window and ends them.
 *   fails    FULCRUM_ERR_INTERRUPTED, FULCRUM_ERR_ENVIRONMENT, FULCRUM_ERR_UNSUPPORTED
 *            (no thread), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_calls_watch(
    const struct fulcrum_calls_plan *plan, struct fulcrum_calls_reading *out,
    struct fulcrum_error *err);

/* The real pipeline with its stages recorded, and without. */

struct fulcrum_measure_stages_options {
    /* Configurations, actor, learner, window_s...; its window counts are not used. */
    const struct fulcrum_measure_options *measure;
    size_t pair_count;      /* windows with and without recording, by turns; >= 1 */
    const char *trace_path; /* of the last configuration's last window; NULL: none */
    size_t span_max;        /* of the trace; 0: FULCRUM_TRACE_SPAN_MAX */
};

/* One configuration. */
struct fulcrum_measured_stages {
    struct fulcrum_measure_config config;
    struct fulcrum_stage_times times; /* of the last recorded window */
    /* Steps per second, medians. */
    double recorded_steps_per_s;
    double unrecorded_steps_per_s;
    /* As recorded, with the recording's own time taken off. */
    double corrected_steps_per_s;
    /* Of the time per step; pair_count 0 where there were fewer than two pairs. */
    struct fulcrum_recorder_pairs pairs;
    size_t disturbed_count; /* windows beside which the machine was busy */
    char failure[FULCRUM_MEASURE_FAILURE_SIZE]; /* why there is nothing; "" */
};

/* Owned results. */
struct fulcrum_stages_measurement {
    size_t count;
    struct fulcrum_measured_stages *items;
    struct fulcrum_recorder_cost cost; /* of tight loops: what is taken off */
};

/*
 * Runs each configuration in pairs of windows, the recorded one first and last by
 * turns, so that a machine that gets busier or warmer favours neither.
 *   fails    as fulcrum_measure; FULCRUM_ERR_FILE (the trace)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_measure_stages(
    struct fulcrum_stages_measurement **out,
    const struct fulcrum_measure_stages_options *options, struct fulcrum_error *err);
void fulcrum_stages_measurement_free(struct fulcrum_stages_measurement *measurement);

/* What was measured end to end, beside what is predicted of it. */

struct fulcrum_measured_plan {
    const struct fulcrum_measurement *measurement;
    const struct fulcrum_calibration *calibration; /* NULL: nothing is predicted */
    bool is_beside; /* it was taken between the windows: the machine was the same */
    const char *calibration_name;      /* as the file names it; NULL: none */
    const struct fulcrum_design *base; /* what a calibration does not tell: priors of
                                          the machine, the workload's policy */
    const struct fulcrum_measure_training *training;
    const char *name; /* of the reference */
};

/* The end of a disturbed series' name. */
#define FULCRUM_MEASURED_DISTURBED " disturbed"

/*
 * A reference of throughput with one point for each configuration that has windows, in
 * their order. Series name batching and environments per actor; disturbed points are a
 * series of their own. Where training of another size than the calibration's is
 * measured, its time by the calibration's line over operations is set at every point;
 * so is the work of actors whose environments live in processes of their own, with the
 * calibration's hand-over of each step.
 *   out      the caller frees it with fulcrum_reference_free
 *   fails    FULCRUM_ERR_NO_MEMORY, FULCRUM_ERR_MISSING (nothing was measured; a
 *            calibration without a line for training of this size, or of other
 *            frames a step)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_measured_reference(
    const struct fulcrum_measured_plan *plan, struct fulcrum_reference **out,
    struct fulcrum_error *err);

/* "greedy K=4", "fixed share 0.5 K=1", "fixed 32 K=1". */
void fulcrum_measured_series(
    const struct fulcrum_measure_config *config, char *out, size_t size);

#endif
