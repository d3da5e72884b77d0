/* node_report.h - what `fulcrum node` prints. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_WHATIF_NODE_REPORT_H
#define FULCRUM_CLI_WHATIF_NODE_REPORT_H

#include <stdbool.h>

#include "cli/command.h"
#include "cli/whatif/node_job.h"

/* Rows, and the words that go with them. Borrowed. */
struct fulcrum_node_answer {
    const struct fulcrum_node_rows *rows;
    const char *workload;
    const char *calibration;
    const char *actors_rule;
    double plateau_frac; /* NAN: threads needed were not looked for */
    bool is_complete;    /* 0: Ctrl-C */
};

/*
 * Prints in the format of `context`.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_node_report(
    const struct fulcrum_node_answer *answer, const struct fulcrum_context *context,
    struct fulcrum_error *err);

/* A sentence for each machine: where it is fastest, and what all its GPUs make of it.
 */
void fulcrum_node_note_findings(
    const struct fulcrum_node_rows *rows, const struct fulcrum_context *context);

#endif
