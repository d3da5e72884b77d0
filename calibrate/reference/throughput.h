/* throughput.h - what the network model says of references of throughput. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_REFERENCE_THROUGHPUT_H
#define FULCRUM_CALIBRATE_REFERENCE_THROUGHPUT_H

#include "model/design/calibration.h"
#include "model/design/reference.h"
#include "model/network/network.h"
#include "model/predict/scenario.h"

/* One observed figure and the design points that it is made of. */
struct fulcrum_figure {
    size_t reference; /* of those that the model was made of */
    size_t point;
    size_t observation;
    double value;
    double half_width;  /* NAN: not known */
    int measure;        /* for throughput.c: which output, */
    size_t place;       /* the design point that has it, */
    size_t relative_to; /* and the one that ratios refer to */
};

/* The design points of some references, each solved once. Opaque. */
struct fulcrum_throughput;

/* Which parameters move; the others stay at the calibrations' values. */
struct fulcrum_throughput_plan {
    const struct fulcrum_reference *const *references;
    size_t reference_count;
    const struct fulcrum_calibration *const *calibrations; /* later ones win */
    size_t calibration_count;
    const struct fulcrum_setting *settings; /* over presets and calibrations */
    size_t setting_count;
    const char *const *paths; /* number fields of a design */
    size_t path_count;
    size_t thread_count; /* how many contexts are wanted, >= 1 */
    /* Non-zero: end simulations soon. NULL: never. */
    bool (*stop)(void *watcher);
    void *watcher;
};

/*
 * Understood are steps_per_s (of agent steps), speedup and runtime_rel (rate and time
 * over those of the point that the reference is relative to), cpu_w and gpu_w. All of
 * the plan is borrowed.
 *
 *   fails    FULCRUM_ERR_UNSUPPORTED (a quantity that is none of these),
 *            FULCRUM_ERR_UNKNOWN_NAME (a path), FULCRUM_ERR_RANGE (a value),
 *            FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_throughput_new(
    const struct fulcrum_throughput_plan *plan, struct fulcrum_throughput **out,
    struct fulcrum_error *err);

void fulcrum_throughput_free(struct fulcrum_throughput *model);

/*
 * Every observation of every reference, in order, but those of a point that the others
 * refer to, which are 1 whatever the model, and watts of processors or GPUs that
 * neither the reference's machine nor a calibration gives. Borrowed.
 */
const struct fulcrum_figure *fulcrum_throughput_figures(
    const struct fulcrum_throughput *model, size_t *count);

/* One per thread, as struct fulcrum_posterior_problem takes them. Borrowed. */
void *const *fulcrum_throughput_contexts(const struct fulcrum_throughput *model);

/*
 * A fulcrum_forward: solves every design point by the fast method.
 *   parameter  of the plan's paths; beyond a field's range it is moved to its end
 *   out        one value per figure
 *   returns    0 where a point cannot run
 */
int fulcrum_throughput_forward(void *context, const double *parameter, double *out);

/*
 * From now on the forward model is multiplied, point by point, by what simulations of
 * it give at these parameters over what the fast method gives: near them it is then as
 * good as the simulation, and as fast as before.
 *   solver   method SIMULATE, with its seed and half width
 *   fails    FULCRUM_ERR_INFEASIBLE (a point cannot run), FULCRUM_ERR_INTERRUPTED (some
 *            corrections are new, others as before), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_throughput_correct(
    struct fulcrum_throughput *model, const double *parameter,
    const struct fulcrum_solver_options *solver, struct fulcrum_error *err);

#endif
