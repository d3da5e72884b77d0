/* reference.h - published or measured end-to-end points that predictions are held
 * against. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_DESIGN_REFERENCE_H
#define FULCRUM_MODEL_DESIGN_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "model/design/design.h"

/* One row a predictor: name, what of the model is compared with the points. */
/* clang-format off */
#define FULCRUM_PREDICTOR_LIST(X)                                                          \
    X(NONE,         "none",         "nothing predicts these points yet")                     \
    X(THROUGHPUT,   "throughput",   "steps per second of the whole network")                 \
    X(CPU_CURVE,    "cpu_curve",    "c(n), environments alone on the CPU's threads")         \
    X(GPU_POWER,    "gpu_power",    "watts of one GPU over its activity")                    \
    X(SERVER_POWER, "server_power", "watts of processors or servers over their load")        \
    X(SERVER_PRIOR, "server_prior", "watts of servers from assumed watts of their parts")    \
    X(SM_SCALING,   "sm_scaling",   "GPU work on a part of its SMs")                         \
    X(NODE_SCALING, "node_scaling", "training on several machines or GPUs, over one of them") \
    X(MEMORY_GAIN,  "memory_gain",  "gains of a larger cache and faster memory")              \
    X(GPU_PARTS,    "gpu_parts",    "gains of several processes on parts of one GPU")         \
    X(DECODING,     "decoding",     "tokens per second and watts of a model over what is in flight") \
    X(STAGE_SHARES, "stage_shares", "shares of time in simulation, inference and training")
/* clang-format on */

enum fulcrum_predictor_kind {
#define X(kind, name, meaning) FULCRUM_PREDICTOR_##kind,
    FULCRUM_PREDICTOR_LIST(X) FULCRUM_PREDICTOR_COUNT
#undef X
};

/* One field or condition of a point: "run.actor_count", or a word of its source. */
struct fulcrum_reference_setting {
    char path[64];
    double number; /* NAN where `text` is given */
    char text[64]; /* "" where it is a number */
};

struct fulcrum_observation {
    char quantity[48]; /* with its unit: "steps_per_s", "gpu_w", "speedup" */
    double value;
    double half_width; /* rounding or measurement, in its unit; NAN: not known */
};

struct fulcrum_reference_point {
    size_t index;    /* in its file, from 0: stays when other points are left out */
    char series[64]; /* points of one curve share it; "" where there is one curve */
    size_t setting_count;
    struct fulcrum_reference_setting *settings;
    size_t observation_count;
    struct fulcrum_observation *observations;
};

/* Where one part was read: "points", "machine", the name of a series... */
struct fulcrum_reference_source {
    char part[64];
    char text[400];
};

enum { FULCRUM_REFERENCE_CALIBRATION_SIZE = 256 };

/* What predictions of one series start from. */
struct fulcrum_series_calibration {
    char series[64];
    char calibration[FULCRUM_REFERENCE_CALIBRATION_SIZE]; /* preset's name, or a path */
};

#define FULCRUM_REFERENCE_DRIFT_SD_MOST 2.0

struct fulcrum_reference {
    char name[64];
    char title[160];
    char note[600];          /* what to know before a comparison; "": nothing */
    char not_predicted[300]; /* why nothing predicts these points; "": it is tried */
    char machine[64];        /* preset's name, or the name within an object; "": none */
    char workload[64];       /* the same */
    /* Preset that predictions start from, or a path; "": the workload's. */
    char calibration[FULCRUM_REFERENCE_CALIBRATION_SIZE];
    struct fulcrum_design design; /* both, fields at their fallback where not given */
    enum fulcrum_predictor_kind predictor;
    double frame_skip; /* of what was published; frames are steps by now */
    double drift_sd;   /* of ln(speed), from window to window; 0: not known */
    bool is_relative;  /* observed ratios refer to point `relative_to` */
    size_t relative_to;
    size_t point_count;
    struct fulcrum_reference_point *points;
    size_t source_count;
    struct fulcrum_reference_source *sources;
    size_t calibration_count; /* series that have one of their own */
    struct fulcrum_series_calibration *calibrations;
};

/* Accepts NULL. */
void fulcrum_reference_free(struct fulcrum_reference *reference);

/*
 * Keeps the points of one series; what the others refer to must be among them.
 *   fails    FULCRUM_ERR_UNKNOWN_NAME (the detail lists the series there are)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reference_keep_series(
    struct fulcrum_reference *reference, const char *series, struct fulcrum_error *err);

/*
 * The preset that predictions of a series start from: its own, the reference's or that
 * of the workload; "": none. Borrowed.
 */
const char *fulcrum_reference_calibration(
    const struct fulcrum_reference *reference, const char *series);

/* What a point sets of a path; NULL: nothing. Borrowed. */
const struct fulcrum_reference_setting *fulcrum_reference_find_setting(
    const struct fulcrum_reference_point *point, const char *path);

/* What was observed of a quantity at a point; NULL: nothing. Borrowed. */
struct fulcrum_observation *fulcrum_reference_find_observation(
    const struct fulcrum_reference_point *point, const char *quantity);

/* Whether no earlier point is of the same series. */
bool fulcrum_reference_begins_series(
    const struct fulcrum_reference *reference, size_t point);

/* NULL beyond the last one. Borrowed, static. */
const char *fulcrum_predictor_name(int predictor);
/* As fulcrum_predictor_name. */
const char *fulcrum_predictor_meaning(size_t predictor);

#endif
