/* contenders.h - designs beside each other, in the same worlds. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_CONTENDERS_H
#define FULCRUM_CLI_CONTENDERS_H

#include "cli/actors_rule.h"
#include "cli/design_options.h"
#include "model/sweep_probe.h"

/* One design, and what came of it. Owns what its members point to. */
struct fulcrum_contender {
    char name[160];
    struct fulcrum_design_inputs inputs;
    struct fulcrum_scenario *scenario;
    double *actor_choices;
    size_t actor_choice_count;
    struct fulcrum_design design; /* presets and settings, without calibrations */
    struct fulcrum_sweep_point point;
    double *draws; /* draw_count x FULCRUM_OUTPUT_COUNT, NAN: the draw cannot run */
    size_t draw_count;
    char reason[FULCRUM_REASON_BYTE]; /* why the point cannot run; "" where it can */
};

/*
 * Reads a design.
 *   out      zeroed but for its name; to be cleared with fulcrum_contender_clear, after
 *            a failure too
 *   fails    as fulcrum_design_inputs_load
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_contender_load(
    const struct fulcrum_design_settings *settings, struct fulcrum_context *context,
    struct fulcrum_contender *out, struct fulcrum_error *err);

/* Whether the user set that field. */
int fulcrum_contender_sets(const struct fulcrum_contender *contender, const char *path);

/*
 * Sets one number as --set does.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_contender_set(
    struct fulcrum_contender *contender, const char *path, double value,
    struct fulcrum_error *err);

/*
 * Gives all the same list of priors, with no spread where a field is none, so that draw
 * k takes the same random numbers for the same parameters in each of them: a prior of
 * one name is drawn once for all.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_contenders_align(
    struct fulcrum_contender *contenders, size_t count, struct fulcrum_error *err);

/*
 * Predicts a contender with its draws. That it cannot run is no failure: `reason` says
 * so, and outputs and draws are NAN.
 *   rule     where it is empty and no actors are set: the fastest of half to sixteen
 *            actors per hardware thread; none where environments are simulated on GPUs
 *   fails    FULCRUM_ERR_FORMAT, FULCRUM_ERR_RANGE (the rule's range, or actors given
 *            in two ways; the exit code of `context` is 2 then), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_contender_predict(
    struct fulcrum_contender *contender, const struct fulcrum_actors_rule *rule,
    const struct fulcrum_predict_options *options, struct fulcrum_context *context,
    struct fulcrum_error *err);

/* One output in every draw, into `column`. */
void fulcrum_contender_column(
    const struct fulcrum_contender *contender, size_t output, double *column);

/* Leaves it empty. */
void fulcrum_contender_clear(struct fulcrum_contender *contender);

#endif
