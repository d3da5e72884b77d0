/* sensitivity_inputs.h - what `fulcrum sensitivity` varies and what it asks about. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_COMMAND_SENSITIVITY_INPUTS_H
#define FULCRUM_CLI_COMMAND_SENSITIVITY_INPUTS_H

#include "cli/options/options.h"
#include "model/study/sensitivity.h"

/* As written on the command line. */
struct fulcrum_sensitivity_request {
    const struct fulcrum_text_list *vary;
    const struct fulcrum_text_list *base;
    const char *metrics; /* NULL: what the scenario has of the usual ones */
    const char *along;   /* NULL: nothing */
};

/* Words for one input. */
struct fulcrum_sensitivity_words {
    char *label;  /* a path, or what stands for several */
    char *source; /* why it varies as it does */
};

/* One of the outputs in words. */
struct fulcrum_sensitivity_metric {
    char *name;       /* "speedup", "steps_per_s", "best:steps_per_j_system" */
    const char *unit; /* of a best place that of the axis' field; borrowed */
};

/* The request understood. Owns all that the plan's members borrow from it. */
struct fulcrum_sensitivity_inputs {
    size_t uncertain_count;
    struct fulcrum_uncertain_input *uncertain; /* of the scenario, varied or not */
    size_t span_count;
    struct fulcrum_field_range *spans;
    size_t input_count;
    struct fulcrum_sensitivity_input *inputs;
    struct fulcrum_sensitivity_words *words; /* of each input */
    size_t output_count;
    struct fulcrum_sensitivity_output *outputs;
    struct fulcrum_sensitivity_metric *metrics; /* of each output */
    int outputs_asked; /* by name: one that is not known is a fault */
    size_t base_count;
    struct fulcrum_setting *base;
    struct fulcrum_sweep_axis axis; /* count 0: none */
    double *axis_values;
};

/*
 *   design   what the scenario is made of; borrowed as long as `out` is used
 *   out      given back with fulcrum_sensitivity_inputs_free, after a failure too
 *   context  gets exit code 2 where the request cannot be understood
 *   fails    FULCRUM_ERR_UNKNOWN_NAME, FULCRUM_ERR_FORMAT, FULCRUM_ERR_RANGE,
 *            FULCRUM_ERR_MISSING (nothing varies), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sensitivity_inputs_read(
    const struct fulcrum_sensitivity_request *request,
    const struct fulcrum_design_inputs *design, struct fulcrum_context *context,
    struct fulcrum_sensitivity_inputs *out, struct fulcrum_error *err);

/* Leaves it empty. */
void fulcrum_sensitivity_inputs_free(struct fulcrum_sensitivity_inputs *inputs);

/* 1 where a field varies over a range, or a setting of the point of comparison gives
 * it. */
int fulcrum_sensitivity_inputs_vary(
    const struct fulcrum_sensitivity_inputs *inputs, const struct fulcrum_field *field);

#endif
