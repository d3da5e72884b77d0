/* design.h - one design point: machine, workload and the knobs of a run. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_DESIGN_DESIGN_H
#define FULCRUM_MODEL_DESIGN_DESIGN_H

#include <stdbool.h>
#include <stddef.h>

#include "model/design/machine.h"
#include "model/design/workload.h"
#include "model/network/network.h"
#include "model/status.h"

struct fulcrum_design {
    struct fulcrum_machine machine;
    struct fulcrum_workload workload;
    struct fulcrum_run run;
    /* Measured tables, borrowed from a calibration; count 0 where there is none. */
    const double *capacity; /* c(1), c(2), ...: used where cpu.curve is a table */
    size_t capacity_count;
    /*
     * Inference over observations, the host's work over requests of one observation,
     * each with the calibration's line; count 0: no table. Where the workload's line in
     * force is another one, scaled to a machine, drawn or set, the times are moved by
     * as much.
     */
    struct fulcrum_batch_time batch_time;
    struct fulcrum_batch_time handoff_time;
    /* Times carried over from another CPU or GPU are off by these factors in a draw. */
    double cpu_scale_off;
    double gpu_scale_off;
    unsigned flags; /* of enum fulcrum_flag: how its values came about */
};

/*
 * Watts of processors and of the rest that are not given, from the rated power: docs/
 * model.md "Watts from rated power". What that does not give either stays NAN.
 */
void fulcrum_machine_fill_watts(struct fulcrum_machine *machine);

/* How often the environments per thread that a fit has seen would be doubled; 0 where
 * there are no more than those, or no fit. */
double fulcrum_design_doublings_unseen(const struct fulcrum_design *design);

/* What rates are multiplied by for what the model is off by: run.discrepancy, and
 * run.extrapolation as often as its doublings say; 1 where environments live on the
 * GPU.
 */
double fulcrum_design_discrepancy(const struct fulcrum_design *design);

enum fulcrum_field_kind {
    FULCRUM_FIELD_NUMBER, /* double */
    FULCRUM_FIELD_COUNT,  /* double that holds a whole number */
    FULCRUM_FIELD_CHOICE, /* int, one of `choice` */
    FULCRUM_FIELD_TEXT    /* char array of `size` bytes */
};

/* One row of FULCRUM_MACHINE_FIELDS, FULCRUM_WORKLOAD_FIELDS or FULCRUM_RUN_FIELDS. */
struct fulcrum_field {
    const char *path; /* "machine.cpu.thread_count" */
    enum fulcrum_field_kind kind;
    const char *(*choice)(int index); /* NULL beyond the last; choices only */
    size_t offset;                    /* in struct fulcrum_design */
    size_t size;                      /* of the member */
    double least;
    double most;
    double fallback; /* value when not given; NAN: none */
    const char *unit;
    const char *meaning;
};

/* Every field: machine, workload, run; within each in the order of its table. Static.
 */
const struct fulcrum_field *fulcrum_fields(size_t *count);

/* NULL if there is none of that path. "actors" is short for run.actor_count. */
const struct fulcrum_field *fulcrum_field_find(const char *path);

/* The known path nearest to `path`, for messages; NULL where none is near. Static. */
const char *fulcrum_field_nearest(const char *path);

/*
 * Sets one number or count.
 *   fails    FULCRUM_ERR_RANGE: the detail names path, value and what was expected
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_field_set_number(
    const struct fulcrum_field *field, struct fulcrum_design *design, double value,
    struct fulcrum_error *err);

/*
 * Sets one field from text: a number, a choice's name or plain text.
 *   fails    FULCRUM_ERR_FORMAT (not a number, or trailing characters),
 * FULCRUM_ERR_RANGE
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_field_set_text(
    const struct fulcrum_field *field, struct fulcrum_design *design, const char *value,
    struct fulcrum_error *err);

/* The number of a NUMBER or COUNT field (NAN: not given), the index of a CHOICE. */
double fulcrum_field_number(
    const struct fulcrum_field *field, const struct fulcrum_design *design);

/* The text of a TEXT field or the name of a CHOICE; "" for numbers. Borrowed. */
const char *fulcrum_field_text(
    const struct fulcrum_field *field, const struct fulcrum_design *design);

/* A design with every field at its fallback (NAN where there is none). */
void fulcrum_design_init(struct fulcrum_design *out);

/*
 * Everything a prediction needs is given, in range and consistent (threads >= cores,
 * SMs used <= SMs there, a fixed batch no larger than the environments...).
 *   fails    FULCRUM_ERR_MISSING, FULCRUM_ERR_RANGE, FULCRUM_ERR_INFEASIBLE
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_design_check(
    const struct fulcrum_design *design, struct fulcrum_error *err);

/* "gpu", "cpu"; NULL beyond the last one. Borrowed, static. */
const char *fulcrum_accelerator_name(int accelerator);

/* "cpu", "gpu"; NULL beyond the last one. Borrowed, static. */
const char *fulcrum_simulation_device_name(int device);
const char *fulcrum_workload_family_name(int family);

/* Environments are simulated on the GPU: there are no actors on the CPU. */
bool fulcrum_design_is_resident(const struct fulcrum_design *design);

/* Trajectories of agents take the place of actors. */
bool fulcrum_design_has_agents(const struct fulcrum_design *design);

/* What run.actor_count counts: "actor", "actors", "processes", "trajectories", ...
 * Borrowed, static. */
const char *fulcrum_design_actor_noun(
    const struct fulcrum_design *design, double count);

/* Something is trained on what the run gives. */
bool fulcrum_design_trains(const struct fulcrum_design *design);

#endif
