/* probing.h - probes visited by themselves, and what calibrations say. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_PROBING_H
#define FULCRUM_TESTS_PROBING_H

#include <stdbool.h>

#include "calibrate/probe/probe.h"

/* Builds without a learner on the CPU measure nothing. */
bool probing_has_learner(void);

/* Of a listener: ends what runs at once. */
bool probing_stop(void *user);

/* What a probe reports after so many visits; the caller frees the calibration. */
struct fulcrum_calibration *probing_run(const struct fulcrum_probe *probe,
    struct fulcrum_bench *bench, int visits, double visit_s);

/* Adds what an open probe found to a new calibration, which is whole. */
struct fulcrum_calibration *probing_report(
    const struct fulcrum_probe *probe, struct fulcrum_probe_state *state);

/* Of a parameter by its path, or a quantity by its name; NAN: there is none. */
double probing_value(const struct fulcrum_calibration *calibration, const char *name);

/* "" where there is none. */
const char *probing_note(
    const struct fulcrum_calibration *calibration, const char *key);

/* NULL where there is none; `condition` NULL: any. */
const struct fulcrum_series *probing_series(
    const struct fulcrum_calibration *calibration, const char *name,
    const char *condition);

#endif
