/* fit_pause.h - how much longer a batch takes after the learner paused. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_FIT_PAUSE_H
#define FULCRUM_CALIBRATE_FIT_PAUSE_H

#include <stddef.h>

#include "calibrate/fit.h"
#include "model/status.h"

/*
 * Fits 1 + fulcrum_cold_s(cold, cooling_s, pause): parameters `cold`, over a warm
 * batch, and `cooling_s`. A learner that hardly goes cold leaves cooling_s to its
 * prior, 5 ms give or take a factor of e. pause_s     >= 0 time_rel    of a batch after
 * that pause, over one after another; > 0
 *   out      set on success only
 *   fails    as fulcrum_fit
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_pause(struct fulcrum_fit_result *out,
    const double *pause_s, const double *time_rel, size_t count,
    struct fulcrum_error *err);

#endif
