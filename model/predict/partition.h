/* partition.h - slices of a GPU, and stages on parts of one. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_PREDICT_PARTITION_H
#define FULCRUM_MODEL_PREDICT_PARTITION_H

#include <stdbool.h>
#include <stddef.h>

#include "model/design/memory_system.h"
#include "model/network/network.h"
#include "model/predict/to_network.h"
#include "model/status.h"

/* Slices of a GPU (MIG). */

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

/* Stages of a training loop on parts of one GPU. */

enum { FULCRUM_STAGES_MOST = 4, FULCRUM_GPU_PARTS_MOST = FULCRUM_MIG_INSTANCES_MOST };

/* Time on a whole GPU, by what shortens it; docs/model.md "Parts of a GPU". */
struct fulcrum_gpu_time {
    double host_s;    /* launches: the GPU idles and is free for others */
    double latency_s; /* the GPU is held, and no part of it is faster */
    double sm_s;      /* goes with 1 / share of the SMs */
    double dram_s;    /* goes with 1 / share of the bandwidth */
};

/* What one stage does in a round, and what it needs. All 0 or more. */
struct fulcrum_gpu_stage {
    char name[24];
    struct fulcrum_gpu_time per_step;  /* once a step, for however few environments */
    struct fulcrum_gpu_time per_round; /* the rest of a round */
    bool alternates;        /* waits for the other such stages at every step */
    double memory_byte;     /* of every instance */
    double env_memory_byte; /* of all environments together */
    double hand_byte;       /* a round's results, for the next stage */
    double reduce_byte;     /* summed up with all instances of the stage, a round */
    double sm_active_frac;  /* of the SMs, over all its time alone, for watts */
};

/* Stages in the order of the data; the last one hands to the first. */
struct fulcrum_gpu_loop {
    size_t count;
    struct fulcrum_gpu_stage stages[FULCRUM_STAGES_MOST];
    double steps;       /* agent steps of a round of one instance */
    double memory_byte; /* of the GPU */
};

/* What it takes to be several. */
struct fulcrum_gpu_sharing {
    double byte_per_s;    /* between instances; above 0, INFINITY allowed */
    double overhead_frac; /* more time of whatever runs beside others on a part */
    double switch_frac;   /* more GPU time where processes take turns */
    double least_sm_frac; /* of an instance, where shares are to be found: one SM */
    double cache_byte;    /* of the whole GPU: slices have parts of it */
    struct fulcrum_cache_law cache_law; /* what a part of it costs in traffic */
    bool envs_each; /* every instance has as many environments as one alone
                      would; 0: they are dealt out */
    const struct fulcrum_mig *mig; /* what layouts are of; NULL elsewhere; borrowed */
};

/* Which stages share a process; a round goes through all of them in turn. */
struct fulcrum_stage_group {
    unsigned stages; /* a bit each */
    double instances;
    double sm_frac; /* of each instance, in (0, 1]; 0 in every group: to be found */
};

struct fulcrum_grouping {
    size_t count;
    struct fulcrum_stage_group groups[FULCRUM_STAGES_MOST];
};

enum fulcrum_gpu_placement {
    FULCRUM_PLACEMENT_EXCLUSIVE,   /* one process, the whole GPU */
    FULCRUM_PLACEMENT_TIME_SLICED, /* whole processes, by turns */
    FULCRUM_PLACEMENT_SHARES,      /* parts of the SMs, one memory system: MPS */
    FULCRUM_PLACEMENT_SLICES       /* parts of SMs, bandwidth and cache: MIG */
};

/* Equal instances of one group. */
struct fulcrum_gpu_part {
    unsigned stages;
    double instances;
    double sm_frac;   /* of each instance */
    double dram_frac; /* not divided */
    size_t profile;   /* of the layout; profile_count elsewhere */
    double round_s;   /* what one instance takes for a round */
    double busy_frac; /* of its time, with work */
};

struct fulcrum_placed {
    enum fulcrum_gpu_placement placement;
    size_t part_count;
    struct fulcrum_gpu_part parts[FULCRUM_GPU_PARTS_MOST];
    double instances;
    double rounds_per_s;
    double steps_per_s;
    double sm_held_frac;   /* of the SMs, over time: an instance holds them, whether or
                              not they work, and does not wait for host or launches */
    double sm_work_frac;   /* of what the SMs could do: no placement exceeds 1 */
    double sm_active_frac; /* that drives watts: the same work, the same energy */
    double memory_byte;    /* all instances together */
    size_t slowest;        /* part that the others wait for */
};

/* Seconds of a stage's round on `sm_frac` of the SMs and `dram_frac` of the bandwidth,
 * both in (0, 1]. */
double fulcrum_gpu_stage_s(
    const struct fulcrum_gpu_stage *stage, double sm_frac, double dram_frac);

/* One process on the whole GPU, stage after stage. */
void fulcrum_place_exclusive(
    const struct fulcrum_gpu_loop *loop, struct fulcrum_placed *out);

/*
 * Whole processes that take turns: while one waits for its host, another has the GPU.
 * The lesser of two bounds, so no less than is possible. 1 instance is exclusive.
 *   fails    FULCRUM_ERR_INFEASIBLE (memory)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_place_time_sliced(
    const struct fulcrum_gpu_loop *loop, const struct fulcrum_gpu_sharing *sharing,
    double instances, struct fulcrum_placed *out, struct fulcrum_error *err);

/*
 * The shares of the SMs, in all 1 at most, that make the slowest group fastest; the
 * memory system is shared. One group of one instance is exclusive. Shares that a
 * grouping has are taken as they are.
 *   grouping  every stage in exactly one group
 *   fails     FULCRUM_ERR_INFEASIBLE (memory), FULCRUM_ERR_RANGE (given shares, times
 * instances, sum to more than 1)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_place_shares(
    const struct fulcrum_gpu_loop *loop, const struct fulcrum_gpu_sharing *sharing,
    const struct fulcrum_grouping *grouping, struct fulcrum_placed *out,
    struct fulcrum_error *err);

/*
 * The best over every grouping and 1, 2, ... instances of each group, at most
 * `instances_most` (2 to FULCRUM_GPU_PARTS_MOST) in all and two at least. A tie goes to
 * fewer instances.
 *   fails    FULCRUM_ERR_INFEASIBLE (nothing fits into the memory)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_place_best_shares(
    const struct fulcrum_gpu_loop *loop, const struct fulcrum_gpu_sharing *sharing,
    double instances_most, struct fulcrum_placed *out, struct fulcrum_error *err);

/*
 * Which instance of a layout of sharing->mig does what: every grouping, every
 * assignment, instances may stay idle. A round of a group ends when its slowest
 * instance has done its part.
 *   fails    FULCRUM_ERR_INFEASIBLE (no assignment fits into the slices' memory)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_place_layout(
    const struct fulcrum_gpu_loop *loop, const struct fulcrum_gpu_sharing *sharing,
    const struct fulcrum_mig_layout *layout, struct fulcrum_placed *out,
    struct fulcrum_error *err);

/*
 * The best over every layout that fills the GPU.
 *   layout   set with `out`
 *   fails    FULCRUM_ERR_INFEASIBLE, FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_place_best_layout(
    const struct fulcrum_gpu_loop *loop, const struct fulcrum_gpu_sharing *sharing,
    struct fulcrum_placed *out, struct fulcrum_mig_layout *layout,
    struct fulcrum_error *err);

/* Workloads whose environments are simulated on the GPU: closed form. */

/*
 * Rate and utilisations of one process on its GPU or instance: step after step of all
 * environments, then a training step, nothing side by side.
 *   replicas   its stations and counts, for watts and ratios; no solver can take its
 *            network
 *   fails    FULCRUM_ERR_INFEASIBLE (memory)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_resident_solve(
    const struct fulcrum_design *design, struct fulcrum_replicas *replicas,
    struct fulcrum_solution *solution, struct fulcrum_error *err);

/*
 * The stages of one process on a whole GPU, for fulcrum_place_...: simulation,
 * inference and, where there is one, training. A round is one training step's worth of
 * agent steps, or one step of all environments without training. Host work counts as
 * inference's. The design's instances are not looked at.
 */
void fulcrum_resident_loop(
    const struct fulcrum_design *design, struct fulcrum_gpu_loop *out);

#endif
