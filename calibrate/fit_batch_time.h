/* fit_batch_time.h - the line t(b) = t0 + t1 b, and whether it may replace a table. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_FIT_BATCH_TIME_H
#define FULCRUM_CALIBRATE_FIT_BATCH_TIME_H

#include <stddef.h>

#include "calibrate/fit.h"
#include "model/status.h"

struct fulcrum_line_fit {
    double per_batch_s; /* t0 >= 0 */
    double per_item_s;  /* t1 >= 0 */
    struct fulcrum_fit_result fit;
    enum fulcrum_fit_advice advice;
    char reason[200];
};

/*
 * Fits times over batch sizes; equally training steps over their size. A table is
 * advised where the median at some size is more than 5 % off the line.
 *   size     >= 0; a size may come more than once
 *   out      set on success only
 *   fails    as fulcrum_fit
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_batch_time(
    struct fulcrum_line_fit *out, const double *size, const double *time_s,
    size_t count, struct fulcrum_error *err);

#endif
