/* apply_calibration.h - one calibration laid over a design, scaled to the design's
 * machine. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_PREDICT_APPLY_CALIBRATION_H
#define FULCRUM_MODEL_PREDICT_APPLY_CALIBRATION_H

#include <gsl/gsl_rng.h>
#include <stdbool.h>

#include "model/design/calibration.h"
#include "model/design/design.h"
#include "model/design/sampler.h"

/* What of a design a parameter belongs to: it decides how it is carried over. */
enum fulcrum_applied_calibration_side {
    FULCRUM_SIDE_ACTOR,   /* step times: follow the speed of a thread */
    FULCRUM_SIDE_LEARNER, /* host, network, training: only between like accelerators */
    FULCRUM_SIDE_CPU_WATTS, /* only for the model of CPU they were measured on */
    FULCRUM_SIDE_GPU_WATTS, /* the same for the GPU */
    FULCRUM_SIDE_MACHINE    /* shape of the CPU curve: taken as it is */
};

/* A calibration prepared for use by several threads at once. */
struct fulcrum_applied_calibration {
    const struct fulcrum_calibration *calibration; /* borrowed */
    struct fulcrum_sampler *sampler;
    enum fulcrum_applied_calibration_side *sides; /* of its parameters */
    size_t first_slot; /* of its z in those of a sample; set by the owner */
};

/*
 * Random factors of one draw; rng NULL and factors 1 for the point estimate. Scores
 * stand in for the generator where a sample is given.
 */
struct fulcrum_luck {
    gsl_rng *rng;
    const double *z;   /* NULL: none */
    double cpu_spread; /* of what (23) leaves open */
    double gpu_spread; /* of what (24) leaves open */
};

/*
 *   calibration  one that fulcrum_calibration_check accepts
 *   out          zeroed; fulcrum_applied_calibration_clear gives it back, also after a failure
 *   fails        FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_applied_calibration_init(
    struct fulcrum_applied_calibration *out,
    const struct fulcrum_calibration *calibration, struct fulcrum_error *err);
/* Accepts a zeroed one. */
void fulcrum_applied_calibration_clear(struct fulcrum_applied_calibration *applied);

/*
 * Lays the calibration over `design`: its values or, with luck, one draw of them; the
 * design's flags tell what had to be scaled or left out.
 *   shares   the workload with the shares of GPU time on the calibration's machine
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_calibration_apply(
    const struct fulcrum_applied_calibration *applied,
    const struct fulcrum_workload *shares, const struct fulcrum_luck *luck,
    struct fulcrum_design *design);

/*
 * May what the applied does depend on this field of the design? Where it does not, the
 * field can be set after the applied as well as before it.
 */
bool fulcrum_applied_calibration_depends_on(
    const struct fulcrum_applied_calibration *applied,
    const struct fulcrum_field *field);

/* Does the calibration's parameter `path` hold for `machine` at all? */
bool fulcrum_applied_calibration_holds(const struct fulcrum_calibration *calibration,
    const struct fulcrum_machine *machine, const char *path);

/* Did the calibration measure this parameter, and does it hold for `machine`? */
bool fulcrum_applied_calibration_measures_watts(
    const struct fulcrum_applied_calibration *applied,
    const struct fulcrum_machine *machine, const char *path);

#endif
