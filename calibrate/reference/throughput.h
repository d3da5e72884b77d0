/* throughput.h - what the network model says of references of throughput. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_REFERENCE_THROUGHPUT_H
#define FULCRUM_CALIBRATE_REFERENCE_THROUGHPUT_H

#include "model/design/calibration.h"
#include "model/design/reference.h"
#include "model/network/network.h"
#include "model/predict/predict.h"
#include "model/predict/scenario.h"
#include "model/stage_kind.h"

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

enum {
    FULCRUM_POINT_SETTINGS_MOST = 12, /* of one point */
    FULCRUM_POINT_DRAWS = 400         /* of the calibration's errors */
};

/*
 * What a point sets, as fields of a design. "run.env_count", which is no field, counts
 * the environments of all actors.
 *   out      room for FULCRUM_POINT_SETTINGS_MOST; texts are the point's
 *   fails    FULCRUM_ERR_RANGE (too many), FULCRUM_ERR_UNKNOWN_NAME
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_point_settings(
    const struct fulcrum_reference *reference, size_t point,
    struct fulcrum_setting *out, size_t *count, struct fulcrum_error *err);

/* Which stages the model has a run's threads in, at one point. */
struct fulcrum_stage_prediction {
    double steps_per_s;
    double requests_per_s; /* of all actors: a cycle of one is a request */
    /*
     * Mean number of threads in each stage; NAN: the model knows no such stage. What
     * waits is whatever of the actors, the server and the trainer does nothing else.
     */
    double thread_count[FULCRUM_STAGE_KIND_COUNT];
    /* Of a cycle, seconds: at the CPU, in hand-off or waiting for a batch, ... */
    struct fulcrum_residence residence;
};

/* Room for what is predicted of each point of a reference. */
struct fulcrum_reference_prediction {
    struct fulcrum_prediction *points;
    /*
     * NULL, or FULCRUM_POINT_DRAWS for each point: steps_per_s of each draw, moved as
     * the interval is; draw k of two points is of the same errors. NAN: cannot run.
     */
    double *drawn_per_s;
    /* NULL, or the same without what the model is off by; and with it, of each point,
     * how often the environments that a fit has seen would be doubled. */
    double *bare_per_s;
    double *doublings;
    /*
     * NULL, or the stages that a recorder sees. Steps and an actor's own hand-off share
     * the CPU station as their times do; the host station is the server's hand-off.
     * Inference is the time that batches spend on the learner: longer than its work
     * where training runs beside it, as a thread's time is. For batches of which one is
     * under way at a time (depth 1).
     */
    struct fulcrum_stage_prediction *stages;
};

/*
 * Predicts every point: by simulation, with medians and 90 % intervals of draws of the
 * calibration's errors and of the model's discrepancy, as it is without this reference
 * among those that it was learnt from. `measure` and `validate` both say this.
 *   fails        as fulcrum_point_settings, fulcrum_predict and fulcrum_discrepancy_load
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reference_predict(
    const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration,
    const struct fulcrum_reference_prediction *out, struct fulcrum_error *err);

/*
 * The name of the quantity of a discrepancy's preset that is a parameter without a
 * reference: "discrepancy without pipeline-ant-mlp", its ends one standard deviation of
 * the logarithm away.
 *   out      FULCRUM_DISCREPANCY_NAME_SIZE bytes
 */
enum { FULCRUM_DISCREPANCY_NAME_SIZE = 64 };
void fulcrum_discrepancy_without(const char *path, const char *reference, char *out);

#endif
