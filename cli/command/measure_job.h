/* measure_job.h - what fulcrum measure is asked. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_COMMAND_MEASURE_JOB_H
#define FULCRUM_CLI_COMMAND_MEASURE_JOB_H

#include <stdbool.h>

#include "calibrate/pipeline/measure.h"
#include "cli/options/options.h"
#include "model/design/calibration.h"
#include "model/design/design.h"

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
    double decode_s;         /* NAN: not given */
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

#endif
