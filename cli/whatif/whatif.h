/* whatif.h - what the commands share that compare designs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_WHATIF_WHATIF_H
#define FULCRUM_CLI_WHATIF_WHATIF_H

#include <stdbool.h>

#include "cli/options/options.h"
#include "cli/progress.h"

/* A design as named on the command line. Large: kept on the heap. {0} is a legal start.
 */
struct fulcrum_subject {
    struct fulcrum_design_inputs inputs;
    char calibrations[200]; /* "a, b": their names; "none" without any */
    struct fulcrum_scenario *scenario;
    struct fulcrum_design design; /* with every value in force */
};

/* The inputs alone. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_subject_read(
    const struct fulcrum_design_settings *settings, struct fulcrum_context *context,
    struct fulcrum_subject *out, struct fulcrum_error *err);

/* Then the scenario, and the design that has these settings, too. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_subject_prepare(
    struct fulcrum_subject *subject, const struct fulcrum_setting *settings,
    size_t count, struct fulcrum_error *err);

void fulcrum_subject_clear(struct fulcrum_subject *subject);

/* The number that a setting gives, else the preset's; NAN: neither. */
double fulcrum_inputs_number(
    const struct fulcrum_design_inputs *inputs, const char *path);

/* Whether the user set that field. */
bool fulcrum_inputs_set(const struct fulcrum_design_inputs *inputs, const char *path);

/* One more setting, the last of all. */
void fulcrum_inputs_add(
    struct fulcrum_design_inputs *inputs, const char *path, double number);

/* Priors in place of those that were read; `priors` is owned from now on. */
void fulcrum_inputs_give_priors(
    struct fulcrum_design_inputs *inputs, struct fulcrum_prior *priors, size_t count);

/* Increasing numbers of an option; the caller frees the values. */
struct fulcrum_numbers {
    const char *option;                /* "--gpus" */
    const struct fulcrum_field *field; /* of whose kind and in whose range they are */
    double *values;
    size_t count;
};

/* Reads "1,4,16" or "1:16:x2" for the option and field that are there. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_numbers_read(struct fulcrum_numbers *out,
    const char *text, struct fulcrum_context *context, struct fulcrum_error *err);

/* How the number of actors comes about. */
struct fulcrum_actors {
    double per_thread; /* 0: they do not follow the threads */
    double *choices;   /* the fastest of them; owned */
    size_t choice_count;
    char text[96]; /* in words */
};

/* One way, or the usual one where none is given: with the hardware threads, where
 * environments are not simulated on GPUs. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_actors_settle(
    const struct fulcrum_actors_rule *rule, const struct fulcrum_design_inputs *inputs,
    struct fulcrum_context *context, struct fulcrum_actors *out,
    struct fulcrum_error *err);

#endif
