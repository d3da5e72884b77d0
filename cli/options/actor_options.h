/* actor_options.h - the options that choose what the actors step. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_OPTIONS_ACTOR_OPTIONS_H
#define FULCRUM_CLI_OPTIONS_ACTOR_OPTIONS_H

#include "calibrate/actor/actor.h"
#include "cli/command.h"
#include "cli/option.h"
#include "model/design/design.h"

struct fulcrum_actor_settings {
    const char *actor; /* NULL: the command's own choice */
    const char *core;
    const char *rom;
    const char *plugin;
    const char *env_id;
    const char *python;
    double frame_skip; /* NAN: the actor's own */
    double limit_s;
};

/* Place them in a command's groups, at the offset of a struct fulcrum_actor_settings.
 */
extern const struct fulcrum_option fulcrum_actor_option_rows[];

/*
 * Whether there is such an actor, and all that is given belongs to it and nothing is
 * missing; opens nothing.
 *   context  gets exit code 2
 *   fails    FULCRUM_ERR_UNKNOWN_NAME, FULCRUM_ERR_UNSUPPORTED, FULCRUM_ERR_MISSING
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_actor_settings_check(
    const struct fulcrum_actor_settings *settings, struct fulcrum_context *context,
    struct fulcrum_error *err);

/* What the actor's open takes; texts are borrowed from `settings`. */
struct fulcrum_actor_options fulcrum_actor_settings_options(
    const struct fulcrum_actor_settings *settings);

/* The options that choose a network and what runs it. */

struct fulcrum_learner_settings {
    const char *learner;
    double device;        /* index */
    double sms;           /* NAN: as many as the learner takes */
    int network;          /* enum fulcrum_learner_network */
    const char *workload; /* NULL: the command's own choice */
};

/* Place them in a command's groups, at the offset of a struct fulcrum_learner_settings.
 */
extern const struct fulcrum_option fulcrum_learner_option_rows[];

/*
 * Whether there is such a learner with such devices, and the workload that is named,
 * read.
 *   out      its workload is filled; as fulcrum_design_init leaves it where none is
 *            named
 *   context  gets exit code 2 where the learner is unknown or has no devices
 *
 *   fails    FULCRUM_ERR_UNKNOWN_NAME, FULCRUM_ERR_UNSUPPORTED, or as
 *            fulcrum_workload_load
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_learner_settings_read(
    const struct fulcrum_learner_settings *settings, struct fulcrum_context *context,
    struct fulcrum_design *out, struct fulcrum_error *err);

#endif
