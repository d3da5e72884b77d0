/* options.h - options that several commands share. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_OPTIONS_OPTIONS_H
#define FULCRUM_CLI_OPTIONS_OPTIONS_H

#include <stdbool.h>

#include "calibrate/actor/actor.h"
#include "calibrate/device/learner.h"
#include "cli/command.h"
#include "model/design/design.h"
#include "model/predict/predict.h"
#include "model/predict/scenario.h"
#include "presets/load/preset.h"

/*
 * Each table of rows is placed in a command's groups, at the offset of the struct that
 * stands before it.
 */

/* The options that choose what the actors step. */

struct fulcrum_actor_settings {
    const char *actor;                    /* NULL: the command's own choice */
    const char *framework;                /* NULL: `actor` says */
    struct fulcrum_actor_options options; /* numbers that are not given are NAN */
};

extern const struct fulcrum_option fulcrum_actor_option_rows[];

/*
 * Whether there is such an actor, and all that is given belongs to it or to the learner
 * and nothing is missing; opens nothing.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_actor_settings_check(
    const struct fulcrum_actor_settings *settings, const char *learner,
    struct fulcrum_context *context, struct fulcrum_error *err);

/* The actor, or the framework that is one; NULL: the command's own choice. */
const char *fulcrum_actor_settings_name(const struct fulcrum_actor_settings *settings);

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
    struct fulcrum_endpoint_options endpoint;
};

extern const struct fulcrum_option fulcrum_learner_option_rows[];

/*
 * Whether there is such a learner with such devices, and the workload that is named,
 * read.
 *   out      its workload is filled; as fulcrum_design_init leaves it where none is
 *            named
 *   context  gets exit code 2 where the learner is unknown or has no devices
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_learner_settings_read(
    const struct fulcrum_learner_settings *settings, struct fulcrum_context *context,
    struct fulcrum_design *out, struct fulcrum_error *err);

/* The options that say how the number of actors comes about. */

/* Beside --actors, which is among the options of a design. */
struct fulcrum_actors_rule {
    double per_thread;   /* --actors-per-thread; NAN: not given */
    const char *best_of; /* --best-actors, a range; NULL: not given */
};

extern const struct fulcrum_option fulcrum_actors_rule_rows[];

/* The same without --best-actors, which then is to be NULL. */
#define FULCRUM_ACTORS_RULE_ROWS_BUT_BEST (fulcrum_actors_rule_rows + 1)

/* Where environments are simulated on GPUs, for the "actors_rule" of results. */
extern const char fulcrum_actors_rule_none[];

/*
 * Refuses a rule beside another way to give the number, or two.
 *   other_ways  how many were taken besides the rule's own
 *   refusal     the message
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_actors_rule_check(
    const struct fulcrum_actors_rule *rule, int other_ways, const char *refusal,
    struct fulcrum_context *context, struct fulcrum_error *err);

/*
 * The numbers of --best-actors, rising.
 *   out      the caller frees it with free(); left as it is where there is no range
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_actors_rule_choices(
    const struct fulcrum_actors_rule *rule, double **out, size_t *count,
    struct fulcrum_context *context, struct fulcrum_error *err);

/* What is given, or the paper's 256 actors on 40 threads. */
double fulcrum_actors_rule_per_thread(const struct fulcrum_actors_rule *rule);

/* "fastest of 4:64:x2", "4 per hardware thread", or the paper's "as none were given" */
void fulcrum_actors_rule_text(
    const struct fulcrum_actors_rule *rule, char *out, size_t size);

/* The options that choose a machine, a workload and calibrations. */

struct fulcrum_design_settings {
    const char *machine;
    const char *workload;
    struct fulcrum_text_list calibrations;
    double actor_count; /* NAN: not given */
    struct fulcrum_text_list sets;
};

extern const struct fulcrum_option fulcrum_design_option_rows[];

/* --machine of commands that take several: at the offset of a fulcrum_text_list. */
extern const struct fulcrum_option fulcrum_machines_option_rows[];

/* The rows of a design without --machine, for commands that take several. */
#define FULCRUM_DESIGN_OPTION_ROWS_BUT_MACHINE (fulcrum_design_option_rows + 1)

/* What the options name, read. Owns all that `scenario` borrows. */
struct fulcrum_design_inputs {
    struct fulcrum_design base; /* machine and workload as read, and the tool's knobs */
    struct fulcrum_sources sources;
    size_t calibration_count;
    struct fulcrum_calibration **calibrations; /* the model's discrepancy last */
    size_t named_count;                        /* without it */
    size_t setting_count;
    struct fulcrum_setting *settings;
    size_t prior_count;
    struct fulcrum_prior *priors;
    struct fulcrum_scenario_inputs scenario;
};

/*
 * Reads what `settings` name: presets, then calibrations (the workload's own unless one
 * is named whose learner ran on the machine's kind of device), then --set and --actors;
 * later ones win in a scenario. The machine "this"
 * is the one the program runs on.
 *   out       stays where it is while its scenario is used; given back with
 *             fulcrum_design_inputs_free, after a failure too
 *   settings  borrowed as long as `out` is used
 *   context   gets exit code 2 where a --set cannot be understood
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_design_inputs_load(
    const struct fulcrum_design_settings *settings, struct fulcrum_context *context,
    struct fulcrum_design_inputs *out, struct fulcrum_error *err);

/* Leaves it empty. */
void fulcrum_design_inputs_free(struct fulcrum_design_inputs *inputs);

/* "a,b": 1; the path of a file may have commas. */
bool fulcrum_machine_is_list(const char *name);

/*
 * Whether --machine, which is given once for each of several machines, was: at least
 * once, none twice, and no list with commas.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_machine_names_check(
    const struct fulcrum_text_list *machines, struct fulcrum_context *context,
    struct fulcrum_error *err);

/* The machine `name` into design->machine; "this" is found out, not read. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_machine_find(const char *name,
    struct fulcrum_design *design, struct fulcrum_sources *sources,
    struct fulcrum_error *err);

/*
 * Reads one "PATH=VALUE".
 *   out       text borrowed from `text`
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_setting_parse(const char *text,
    struct fulcrum_context *context, struct fulcrum_setting *out,
    struct fulcrum_error *err);

/*
 * The same of every text of an option.
 *   option   "--set", for messages
 *   out      room for all of them
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_settings_parse(const char *option,
    const struct fulcrum_text_list *texts, struct fulcrum_context *context,
    struct fulcrum_setting *out, struct fulcrum_error *err);

/*
 * The field of a path as the user wrote it. NULL where there is none: the error
 * suggests the nearest path, and the exit code becomes 2.
 */
const struct fulcrum_field *fulcrum_field_parse(
    const char *path, struct fulcrum_context *context, struct fulcrum_error *err);

/* The options that say how networks and design points are solved. */

/* How one network is solved. */
struct fulcrum_solver_settings {
    int method;            /* enum fulcrum_method */
    double half_width_rel; /* NAN: not given */
    double seed;
    double max_steps;
};

extern const struct fulcrum_option fulcrum_solver_option_rows[];

/* The same as a solver takes it. */
void fulcrum_solver_settings_read(
    const struct fulcrum_solver_settings *settings, struct fulcrum_solver_options *out);

/* How one design point is solved, with what is uncertain in it. */
struct fulcrum_solve_settings {
    struct fulcrum_solver_settings solver;
    const char *intervals; /* "none", or the number of draws, 0 is none; NULL: the
                              command's own */
};

extern const struct fulcrum_option fulcrum_interval_option_rows[];

/* Draws behind every interval, unless --intervals asks for others. */
#define FULCRUM_DRAWS 200.0

/* `draws` are taken where --intervals is not given: FULCRUM_DRAWS, or 0 of very many
 * points. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_solve_settings_read(
    const struct fulcrum_solve_settings *settings, double draws,
    struct fulcrum_context *context, struct fulcrum_predict_options *out,
    struct fulcrum_error *err);

#endif
