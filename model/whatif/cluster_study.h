/* cluster_study.h - one training over numbers of GPUs, split in several ways. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_WHATIF_CLUSTER_STUDY_H
#define FULCRUM_MODEL_WHATIF_CLUSTER_STUDY_H

#include <stdbool.h>

#include "model/design/cluster.h"
#include "model/study/study.h"

/* What is known of each row in each draw; rates and times are of all GPUs together. */
enum fulcrum_cluster_value {
    FULCRUM_CLUSTER_STEPS_PER_S, /* agent steps, or samples */
    FULCRUM_CLUSTER_RUNTIME,
    FULCRUM_CLUSTER_QUALITY_RUNTIME, /* NAN: not known, as is its speed-up */
    FULCRUM_CLUSTER_SPEEDUP,         /* of the rate, over one GPU */
    FULCRUM_CLUSTER_QUALITY_SPEEDUP,
    FULCRUM_CLUSTER_COMPUTE,
    FULCRUM_CLUSTER_ALLREDUCE, /* what computing does not hide */
    FULCRUM_CLUSTER_TRAIN_STEP,
    FULCRUM_CLUSTER_EFFICIENCY,
    FULCRUM_CLUSTER_EPOCHS,
    FULCRUM_CLUSTER_WORKERS,
    FULCRUM_CLUSTER_BATCH,
    FULCRUM_CLUSTER_VALUES
};

/* An increasing list of whole numbers. */
struct fulcrum_cluster_counts {
    const double *values;
    size_t count;
};

/* Everything borrowed. */
struct fulcrum_cluster_plan {
    const struct fulcrum_scenario *scenario;
    const struct fulcrum_design *design;    /* the scenario's, with one GPU */
    struct fulcrum_predict_options predict; /* draws: 0 for no intervals */
    bool steps_alone;      /* training steps, as if actors always kept up */
    double actors_per_gpu; /* NAN: the design's actors, on each machine */
    double speedup_2;      /* SU_2; NAN: the workload's model_parallel_frac */
    struct fulcrum_cluster_counts devices;
    struct fulcrum_cluster_counts parts; /* GPUs of a worker */
    int scalings[2];                     /* of enum fulcrum_batch_scaling */
    size_t scaling_count;
    int (*watch)(void *watcher, double done_frac); /* as in study.h */
    void *watcher;
};

/* One way to use a number of GPUs. */
struct fulcrum_cluster_row {
    int scaling;
    double device_count;
    struct fulcrum_layout layout;
    bool is_best; /* no other way to use as many GPUs, with this scaling, ends sooner */
    double best_frac; /* draws in which it is the best; NAN without draws */
    /* By which factor it ends sooner than data-parallel training on as many GPUs, and
     * the share of draws in which it does; NAN for that itself, and where there is
     * none. */
    struct fulcrum_ratio gain;
    double sooner_frac;
    double solver_error_rel; /* of the rate; 0: none */
    unsigned flags;
};

/* Where hybrid training begins to end sooner than data-parallel training. */
struct fulcrum_cluster_crossover {
    int scaling;
    double part_count;
    /* NAN: nowhere among the counts; an end of its interval is INFINITY there. */
    struct fulcrum_ratio device_count;
    double found_frac; /* draws in which it is among them */
};

struct fulcrum_cluster_rows {
    size_t count;
    struct fulcrum_cluster_row *rows; /* by scaling, devices, devices of a worker */
    size_t crossover_count;
    struct fulcrum_cluster_crossover *crossovers;
    size_t left_out_count; /* points that cannot be laid out */
    /* What decides which way is best: time to quality where all rows have it, else time
     * to the same number of steps. */
    bool is_by_quality;
    struct fulcrum_study *study; /* one GPU, then the rows */
};

/* Rows [from, to) use as many GPUs as `row` does, with its scaling. */
struct fulcrum_cluster_rivals {
    size_t from;
    size_t to;
};

struct fulcrum_cluster_rivals fulcrum_cluster_rivals_of(
    const struct fulcrum_cluster_rows *rows, size_t row);

/* The data-parallel row among the rivals of `row`; rows->count: there is none. */
size_t fulcrum_cluster_plain_of(const struct fulcrum_cluster_rows *rows, size_t row);

struct fulcrum_ratio fulcrum_cluster_value(const struct fulcrum_cluster_rows *rows,
    size_t row, enum fulcrum_cluster_value value);

/* The caller clears them, after a failure too. FULCRUM_ERR_NO_FIT: no point can be laid
 * out. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_cluster_rows_find(
    const struct fulcrum_cluster_plan *plan, struct fulcrum_cluster_rows *out,
    struct fulcrum_error *err);

/* From the study: who wins, by how much and how surely, and where hybrids begin to. */
void fulcrum_cluster_rows_judge(struct fulcrum_cluster_rows *rows);

void fulcrum_cluster_rows_clear(struct fulcrum_cluster_rows *rows);

#endif
