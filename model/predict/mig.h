/* mig.h - a GPU cut into instances by hardware: profiles, and which fit together. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_PREDICT_MIG_H
#define FULCRUM_MODEL_PREDICT_MIG_H

#include <stdbool.h>
#include <stddef.h>

#include "model/status.h"

enum {
    FULCRUM_MIG_PROFILES_MOST = 16,
    FULCRUM_MIG_SLICES_MOST = 16,   /* memory slices of a GPU */
    FULCRUM_MIG_INSTANCES_MOST = 16 /* of a layout */
};

/* One kind of instance. Counts are doubles, as all quantities of the model. */
struct fulcrum_mig_profile {
    char name[24]; /* "3g.20gb" */
    double compute_slice_count;
    double memory_slice_count; /* of memory and its bandwidth, and of the place */
    double cache_slice_count;  /* of the last-level cache, in memory slices */
    double sm_count;
    double memory_byte; /* usable */
    double most_count;  /* instances of it on one GPU */
    double copy_engine_count;
    double decoder_count;
    double jpeg_count;
    double ofa_count;          /* optical flow accelerators */
    double is_media_extension; /* 1: as another profile, with more engines */
    size_t start_count;        /* first memory slices that it may begin at */
    double starts[FULCRUM_MIG_SLICES_MOST];
};

/* One model of GPU. */
struct fulcrum_mig {
    char name[64];
    char title[160];
    char gpu[96];               /* as in machine.gpu.name */
    double compute_slice_count; /* 7 */
    double memory_slice_count;  /* 8 */
    double sm_count;            /* of the GPU without instances */
    double memory_byte;
    size_t profile_count;
    struct fulcrum_mig_profile profiles[FULCRUM_MIG_PROFILES_MOST];
};

/* Instances that stand side by side on one GPU, by profile; places are left out. */
struct fulcrum_mig_layout {
    unsigned char counts[FULCRUM_MIG_PROFILES_MOST]; /* beyond the last profile: 0 */
    size_t instance_count;
    bool is_full; /* no further instance of any profile has room, wherever these are */
};

/*
 * Names, counts, starts and sizes make sense together: every profile has a name of its
 * own, lies on the GPU from each of its starts, and has no more SMs or memory than the
 * GPU.
 *   fails    FULCRUM_ERR_RANGE, FULCRUM_ERR_MISSING: all faults, a line each
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_mig_check(
    const struct fulcrum_mig *mig, struct fulcrum_error *err);

/* Index of the profile of that name; profile_count where there is none. */
size_t fulcrum_mig_find(const struct fulcrum_mig *mig, const char *name);

/*
 * Every set of instances for which the places of the profiles allow a placement without
 * overlap, within the compute slices; media extensions are left out, being like others
 * in all that the model knows. In a fixed order; the empty one is not among them.
 *   mig      one that fulcrum_mig_check accepts
 *   out      the caller frees it with free()
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_mig_layouts(
    const struct fulcrum_mig *mig, struct fulcrum_mig_layout **out, size_t *count,
    struct fulcrum_error *err);

/*
 * Reads "3g.20gb,4g.20gb"; a profile may stand there several times, media extensions
 * too. Sets instance_count and counts; is_full is 0.
 *   fails    FULCRUM_ERR_UNKNOWN_NAME (lists the profiles), FULCRUM_ERR_INFEASIBLE
 * (they do not fit together: says why)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_mig_layout_parse(
    const struct fulcrum_mig *mig, const char *text, struct fulcrum_mig_layout *out,
    struct fulcrum_error *err);

/* "3 x 2g.10gb + 1g.5gb", cut off where it does not fit. */
void fulcrum_mig_layout_text(const struct fulcrum_mig *mig,
    const struct fulcrum_mig_layout *layout, char *out, size_t size);

#endif
