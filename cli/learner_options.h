/* learner_options.h - the options that choose a network and what runs it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_LEARNER_OPTIONS_H
#define FULCRUM_CLI_LEARNER_OPTIONS_H

#include "cli/command.h"
#include "cli/option.h"
#include "model/design.h"

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
