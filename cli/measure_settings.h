/* measure_settings.h - what `fulcrum measure` is asked for: its settings and options.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_MEASURE_SETTINGS_H
#define FULCRUM_CLI_MEASURE_SETTINGS_H

#include "cli/actor_options.h"
#include "cli/learner_options.h"
#include "cli/option.h"

struct fulcrum_measure_settings {
    struct fulcrum_actor_settings actor;
    struct fulcrum_learner_settings learner;
    const char *calibration; /* NULL: nothing is predicted */
    const char *actors;
    const char *envs;
    struct fulcrum_text_list batching;
    int trains;
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

/* Offsets are of a struct fulcrum_measure_settings. */
extern const struct fulcrum_option_group fulcrum_measure_groups[];

#endif
