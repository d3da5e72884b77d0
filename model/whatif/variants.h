/* variants.h - several versions of one design point, held beside each other by draws.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_WHATIF_VARIANTS_H
#define FULCRUM_MODEL_WHATIF_VARIANTS_H

#include "model/predict/predict.h"
#include "model/study/relative.h"

/* What is kept of every version and draw: name, unit, meaning. */
/* clang-format off */
#define FULCRUM_VARIANT_LIST(X)                                                            \
    X(steps_per_s,        "1/s", "agent steps of all actors")                              \
    X(steps_per_j_gpu,    "1/J", "performance per GPU watt")                               \
    X(steps_per_j_system, "1/J", "performance per system watt")                            \
    X(inference_s,        "s",   "an inference batch alone on the GPU")                    \
    X(train_step_s,       "s",   "a training step alone on the GPU; 0: no training")       \
    X(gpu_s,              "s",   "GPU work of one agent step, inference and training")
/* clang-format on */

enum fulcrum_variant_quantity {
#define X(name, unit, meaning) FULCRUM_VARIANT_##name,
    FULCRUM_VARIANT_LIST(X) FULCRUM_VARIANT_COUNT
#undef X
};

enum { FULCRUM_VARIANT_SETTINGS_MOST = 16 };

/* One version: what it sets on top of the scenario. None: the design as it is. */
struct fulcrum_variant {
    size_t setting_count;
    struct fulcrum_setting settings[FULCRUM_VARIANT_SETTINGS_MOST];
};

struct fulcrum_variant_plan {
    const struct fulcrum_scenario *scenario;
    const struct fulcrum_variant *variants; /* the first one is the yardstick */
    size_t count;                           /* at least 1 */
    struct fulcrum_predict_options predict; /* draws: 0 for no intervals */
    /* How the estimates are solved; NULL: as the draws, by `predict`. */
    const struct fulcrum_solver_options *estimate;
    /* Called after each version; not 0 ends the work. NULL: nobody watches. */
    int (*watch)(void *user, double done_frac);
    void *user;
};

/* Owns all numbers. Opaque. */
struct fulcrum_variants;

/*
 * Predicts every version with the same draws and the same seeds, so that what they have
 * in common cancels. GPU times are those of the batch that the first version has on
 * average.
 *   out      the caller frees it with fulcrum_variants_free
 *   fails    as fulcrum_predict, of any version; FULCRUM_ERR_INTERRUPTED (the watch),
 *            FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_variants_new(
    const struct fulcrum_variant_plan *plan, struct fulcrum_variants **out,
    struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_variants_free(struct fulcrum_variants *variants);

/* Draws that were asked for; one that a version cannot run has NAN there. */
size_t fulcrum_variants_draw_count(const struct fulcrum_variants *variants);

/* Of one draw, from 1; 0 is the estimate itself. */
double fulcrum_variants_value(const struct fulcrum_variants *variants, size_t variant,
    size_t draw, enum fulcrum_variant_quantity quantity);

/* The value with its own 90 % interval, NAN without draws. */
struct fulcrum_ratio fulcrum_variants_estimate(struct fulcrum_variants *variants,
    size_t variant, enum fulcrum_variant_quantity quantity);

/* The same over the first version's, draw by draw. */
struct fulcrum_ratio fulcrum_variants_ratio(struct fulcrum_variants *variants,
    size_t variant, enum fulcrum_variant_quantity quantity);

/* The prediction of the first version, without intervals. Borrowed. */
const struct fulcrum_prediction *fulcrum_variants_prediction(
    const struct fulcrum_variants *variants);

#endif
