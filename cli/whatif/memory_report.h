/* memory_report.h - what `fulcrum memory` answers, as tables, CSV and JSON. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_WHATIF_MEMORY_REPORT_H
#define FULCRUM_CLI_WHATIF_MEMORY_REPORT_H

#include "cli/command.h"
#include "model/design/memory_system.h"
#include "model/whatif/component_cost.h"

/* What was asked about one machine; texts are borrowed. */
struct fulcrum_memory_subject {
    const struct fulcrum_design *design;
    const char *calibrations;
};

struct fulcrum_json;

/* One machine whose components were made ideal. */
struct fulcrum_memory_components {
    struct fulcrum_memory_subject subject;
    const struct fulcrum_component_costs *costs;
};

/*
 * Shares of GPU time and of a run, machine by machine.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_memory_report_components(
    const struct fulcrum_memory_components *machines, size_t count,
    const struct fulcrum_context *context, struct fulcrum_error *err);

/* One memory system beside the machine's own. */
struct fulcrum_memory_factors {
    double cache_rel;
    double bandwidth_rel;
};

/* One machine with other memory systems. */
struct fulcrum_memory_what_if {
    struct fulcrum_memory_subject subject;
    const struct fulcrum_memory_factors *factors; /* the first of them 1 and 1 */
    size_t count;
    struct fulcrum_variants *variants; /* one version for each of them */
};

/*
 * The same work with other memory systems.
 *   fails     FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_memory_report_what_if(
    const struct fulcrum_memory_what_if *answer, const struct fulcrum_context *context,
    struct fulcrum_error *err);

/* Gains at one change, and a workload to mark beside them. */
struct fulcrum_memory_families {
    const struct fulcrum_memory_change *changes; /* alike but for their gains */
    size_t count;
    const struct fulcrum_workload *workload; /* NULL: none */
};

/*
 * All pairs of share and exponent that meet each gain.
 *   fails     FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_memory_report_families(
    const struct fulcrum_memory_families *families,
    const struct fulcrum_context *context, struct fulcrum_error *err);

#endif
