/* measure_job.h - what fulcrum measure is asked, keeps and says. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_COMMAND_MEASURE_JOB_H
#define FULCRUM_CLI_COMMAND_MEASURE_JOB_H

#include <stdbool.h>

#include "calibrate/pipeline/measure.h"
#include "calibrate/pipeline/stage_times.h"
#include "calibrate/reference/reference_prediction.h"
#include "cli/options/options.h"
#include "model/design/calibration.h"
#include "model/design/design.h"
#include "model/predict/predict.h"
#include "model/result.h"

struct fulcrum_measure_settings {
    struct fulcrum_actor_settings actor;
    struct fulcrum_learner_settings learner;
    const char *calibration; /* NULL: nothing is predicted */
    const char *actors;
    const char *envs;
    struct fulcrum_text_list batching;
    bool trains;
    const char *actor_cpus;  /* NULL: the standard placement */
    const char *server_cpus; /* the same */
    double window_s;
    double windows;
    double most_windows;
    double wait_s;
    double train_steps;
    double steps_per_copy;
    double seed;
    const char *name; /* NULL: the usual one */
    double record_pairs;
    const char *trace; /* NULL: none */
};

/* Owned; {0} is nothing. */
struct fulcrum_measure_inputs {
    struct fulcrum_design base; /* machine and workload before anything is measured */
    struct fulcrum_calibration *calibration; /* NULL: none */
    struct fulcrum_measure_config *configs;  /* of every rule, envs and actors */
    struct fulcrum_measure_options options;  /* by nobody watched */
};

/*
 * Reads what the settings name, and checks what they say; opens nothing.
 *   out       stays where it is while it is used; cleared by the caller, after a
 *             failure too
 *   settings  borrowed as long as `out` is used
 *   context   gets exit code 2 where the settings cannot be understood
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_measure_inputs_load(
    const struct fulcrum_measure_settings *settings, struct fulcrum_context *context,
    struct fulcrum_measure_inputs *out, struct fulcrum_error *err);

/* Accepts {0}. */
void fulcrum_measure_inputs_clear(struct fulcrum_measure_inputs *inputs);

/* One recorded run of several, such as one number of actors. Borrowed. */
struct fulcrum_stage_run {
    const char *name; /* "64 actors" */
    const struct fulcrum_stage_times *times;
    /* Windows with and without recording; NULL: were not measured by turns. */
    const struct fulcrum_measured_stages *measured;
    const struct fulcrum_stage_prediction *predicted; /* NULL: nothing was */
};

/*
 * Adds what was recorded: the tables "stages", a row per run and stage, which `fulcrum
 * plot` draws the chart `stages` from, "cycles", a row per run that was predicted, and
 * "recordings", a row per run; and notes on what recording cost, by its own count and
 * by windows with and without it, on what was dropped or sampled, and on the GPU's busy
 * time beside its SMs' activity.
 */
void fulcrum_measure_add_stages(
    struct fulcrum_result *result, const struct fulcrum_stage_run *runs, size_t count);

/* What was recorded, as results take it. Owned; {0} is nothing. */
struct fulcrum_measure_record {
    struct fulcrum_stages_measurement *found;
    struct fulcrum_stage_run *runs; /* of the configurations that ran */
    size_t run_count;
    char (*names)[96];
    struct fulcrum_stage_prediction *predicted; /* NULL: none */
};

/* Given back with fulcrum_measure_record_clear; {0} on failure. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_measure_record_take(
    struct fulcrum_measure_record *out,
    const struct fulcrum_measure_stages_options *options, struct fulcrum_error *err);

/* What was measured, as points, and what is predicted of them. Borrowed. */
struct fulcrum_measured_points {
    const struct fulcrum_measurement *measurement;
    const struct fulcrum_reference *reference;     /* made of it */
    const struct fulcrum_calibration *calibration; /* NULL: none */
    /* Of the items with windows, in their order; NULL: nothing was predicted. */
    const struct fulcrum_prediction *predictions;
};

/*
 * Puts beside each run what the calibration predicts of its stages, where the same
 * configuration is a point of the reference.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_measure_record_predict(
    struct fulcrum_measure_record *record, const struct fulcrum_measured_points *points,
    struct fulcrum_error *err);

/* Accepts {0}. */
void fulcrum_measure_record_clear(struct fulcrum_measure_record *record);

/*
 * Adds what ran, the errors of the predictions over undisturbed and over all points,
 * the tables "points", a row per configuration, and "windows", and notes on what was
 * disturbed or not measured.
 */
void fulcrum_measure_add_points(
    struct fulcrum_result *result, const struct fulcrum_measured_points *points);

#endif
