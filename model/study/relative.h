/* relative.h - one design point beside another, draw by draw. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_STUDY_RELATIVE_H
#define FULCRUM_MODEL_STUDY_RELATIVE_H

#include "model/predict/predict.h"

/* One row a ratio: name, the output that is divided, meaning. */
/* clang-format off */
#define FULCRUM_RELATIVE_LIST(X)                                                           \
    X(speedup,     steps_per_s, "agent steps per second over those of the point of comparison") \
    X(runtime_rel, runtime_s,   "runtime over that of the point of comparison")
/* clang-format on */

enum fulcrum_relative {
#define X(name, output, meaning) FULCRUM_RELATIVE_##name,
    FULCRUM_RELATIVE_LIST(X) FULCRUM_RELATIVE_COUNT
#undef X
};

/* NULL beyond the last one. Borrowed, static. */
const char *fulcrum_relative_name(size_t relative);

struct fulcrum_ratio {
    double value;
    double lo; /* 5 % and 95 % quantiles over the draws that both points have; NAN */
    double hi; /* where there are fewer than two */
};

/* A point that others are compared with, and its draws. Opaque. */
struct fulcrum_yardstick;

/*
 * Keeps what `predictor` predicted last.
 *   prediction  the result of that
 *   out         the caller frees it with fulcrum_yardstick_free
 *   fails       FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_yardstick_new(
    const struct fulcrum_predictor *predictor,
    const struct fulcrum_prediction *prediction, struct fulcrum_yardstick **out,
    struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_yardstick_free(struct fulcrum_yardstick *yardstick);

/*
 * What `predictor` predicted last, over the yardstick. Draw k is the same sample at
 * both points, so that the interval is that of the ratio, which may be much narrower
 * than what the ends of the two intervals give. Both must come from one scenario, seed
 * and number of draws; draws that cannot run at one of the points are left out.
 *   prediction  the result of that
 *   column      room for as many numbers as there are draws; may be NULL without draws
 *   out         FULCRUM_RELATIVE_COUNT ratios
 */
void fulcrum_yardstick_compare(const struct fulcrum_yardstick *yardstick,
    const struct fulcrum_predictor *predictor,
    const struct fulcrum_prediction *prediction, double *column,
    struct fulcrum_ratio *out);

#endif
