/* sweep_finding.h - what a sweep found, in one sentence. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_RESULT_SWEEP_FINDING_H
#define FULCRUM_CLI_RESULT_SWEEP_FINDING_H

#include <stddef.h>

#include "model/study/sweep.h"

/* Keeps the points seen so far that are best, or nearly, in each metric. */
struct fulcrum_sweep_finding;

/* NULL where memory ran out; the calls below accept NULL. */
struct fulcrum_sweep_finding *fulcrum_sweep_finding_new(
    const struct fulcrum_sweep_plan *plan);
void fulcrum_sweep_finding_free(struct fulcrum_sweep_finding *finding);

/* The next points, in the order of the sweep. */
void fulcrum_sweep_finding_add(struct fulcrum_sweep_finding *finding,
    const struct fulcrum_sweep_point *points, size_t count);

/*
 * One sentence: where throughput and performance per GPU watt first come within 5 % of
 * their best, and where performance per system watt is best. "no point of the sweep can
 * run" where that is so.
 */
void fulcrum_sweep_finding_text(
    const struct fulcrum_sweep_finding *finding, char *out, size_t size);

#endif
