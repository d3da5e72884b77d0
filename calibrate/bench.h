/* bench.h - opens and closes what every probe works with. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_BENCH_H
#define FULCRUM_CALIBRATE_BENCH_H

#include "calibrate/calibrate.h"
#include "calibrate/probe.h"
#include "model/status.h"

/*
 * Finds and opens actor and learner, detects the host, times the clocks and takes a
 * first rough look at a step.
 *   out      given back with fulcrum_bench_close, after a failure too
 *   fails    as fulcrum_calibrate, but for FULCRUM_ERR_INTERRUPTED
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_bench_open(struct fulcrum_bench *out,
    const struct fulcrum_calibrate_options *options, struct fulcrum_error *err);

/*
 * What the learner's device makes of the machine: a GPU is its accelerator, with as
 * many SMs as were granted, since the times are theirs. One learner on cores is one
 * learner core, however it reaches them.
 */
void fulcrum_bench_accelerator(
    struct fulcrum_machine *machine, const struct fulcrum_learner_info *info);

/* Accepts {0} and what an open that failed left. */
void fulcrum_bench_close(struct fulcrum_bench *bench);

#endif
