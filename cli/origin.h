/* origin.h - where the value of each field of a design came from. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_ORIGIN_H
#define FULCRUM_CLI_ORIGIN_H

#include "cli/design_options.h"

struct fulcrum_origin_note {
    const char *kind; /* set | measured | fitted | prior | source | default */
    const char *from; /* name of a calibration or preset, or "" */
    const char *text; /* the source, or "" */
};

/*
 * Borrows from `inputs`. A calibration counts only where it gave the value: its
 * learner-side times do not on a machine with another kind of accelerator.
 */
struct fulcrum_origin_note fulcrum_origin_of(
    const struct fulcrum_design_inputs *inputs, const struct fulcrum_field *field);

/* "a, b": the names of the calibrations in use; "none" without any. */
void fulcrum_calibration_names(
    const struct fulcrum_design_inputs *inputs, char *out, size_t size);

#endif
