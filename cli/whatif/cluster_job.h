/* cluster_job.h - one training over numbers of GPUs, split in several ways. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_WHATIF_CLUSTER_JOB_H
#define FULCRUM_CLI_WHATIF_CLUSTER_JOB_H

#include <stdbool.h>

#include "model/design/cluster.h"
#include "model/interval.h"
#include "model/predict/predict.h"
#include "model/study/sweep.h"

/* What is predicted of each point. */
enum fulcrum_cluster_scope {
    FULCRUM_CLUSTER_WHOLE, /* actors, inference and training */
    FULCRUM_CLUSTER_STEPS  /* training steps alone, as if actors always kept up */
};

/* What rows have an interval of, by the members that they are in. */
/* clang-format off */
#define FULCRUM_CLUSTER_VALUE_LIST(X) \
    X(compute_s,         step.compute_s) \
    X(allreduce_s,       step.exposed_s) \
    X(train_step_s,      step.step_s) \
    X(efficiency_frac,   step.efficiency) \
    X(epochs_rel,        step.epochs_rel) \
    X(steps_per_s,       steps_per_s) \
    X(speedup,           speedup) \
    X(runtime_s,         runtime_s) \
    X(quality_runtime_s, quality_runtime_s) \
    X(quality_speedup,   quality_speedup)

/* clang-format on */

enum fulcrum_cluster_value {
#define X(name, member) FULCRUM_CLUSTER_##name,
    FULCRUM_CLUSTER_VALUE_LIST(X) FULCRUM_CLUSTER_VALUES
#undef X
};

/* Everything borrowed. Counts are whole numbers, each list rises. */
struct fulcrum_cluster_plan {
    const struct fulcrum_scenario *scenario;
    const struct fulcrum_design *design;    /* the scenario's, with one GPU */
    struct fulcrum_predict_options predict; /* draws: 0 for no intervals */
    enum fulcrum_cluster_scope scope;
    double actors_per_gpu; /* NAN: the design's actors, on each machine */
    double speedup_2;      /* SU_2; NAN: the workload's model_parallel_frac */
    const double *device_count;
    size_t device_count_count;
    const double *model_parallel_count;
    size_t model_parallel_count_count;
    const int *scaling; /* of enum fulcrum_batch_scaling */
    size_t scaling_count;
    /* Called before each point; another value than 0 ends the job. */
    int (*watch)(void *user, double done_frac);
    void *user;
};

/* One way to use so many GPUs. Rates and times are of all of them. */
struct fulcrum_cluster_row {
    int scaling;
    double device_count;
    struct fulcrum_layout layout;
    struct fulcrum_cluster_step step;
    double steps_per_s; /* agent steps, or samples */
    double speedup;     /* of steps_per_s, over one GPU */
    double runtime_s;
    double quality_runtime_s; /* NAN: not known */
    double quality_speedup;   /* the same */
    bool is_best; /* no other way to use as many GPUs is done sooner, with this scaling
                   */
    double solver_error_rel; /* of steps_per_s, as a prediction's; 0: none */
    unsigned flags;
    /* 90 % intervals over the draws; NAN without. */
    struct fulcrum_interval interval[FULCRUM_CLUSTER_VALUES];
    /* How much sooner it is done than data-parallel training on as many GPUs, as a
     * factor; NAN for that itself, and where it cannot be laid out. */
    struct fulcrum_ratio gain;
    double sooner_frac; /* draws in which it is done sooner than that; NAN likewise */
    double best_frac;   /* draws in which it is the best */
};

/* Where hybrid training begins to be done sooner than data-parallel training. */
struct fulcrum_cluster_crossover {
    int scaling;
    double model_parallel_count;
    double device_count; /* NAN: nowhere among the counts that both ran with */
    /* The same over the draws; INFINITY: nowhere among them. NAN without draws. */
    struct fulcrum_interval interval;
    double found_frac; /* draws in which it is somewhere among them */
};

struct fulcrum_cluster_rows {
    size_t count;
    struct fulcrum_cluster_row *rows; /* by scaling, devices, devices of a worker */
    size_t crossover_count;
    struct fulcrum_cluster_crossover *crossovers;
    size_t left_out_count; /* points that cannot be laid out so */
    bool is_by_quality;    /* what is best or sooner: time to quality, known everywhere;
                             else     time to the same number of steps */
    size_t draw_count;     /* behind the intervals; 0: there are none */
};

/* Rows [from, to): all ways to use as many GPUs as `row` does, with its scaling. */
struct fulcrum_cluster_rivals {
    size_t from;
    size_t to;
};

struct fulcrum_cluster_rivals fulcrum_cluster_rivals_of(
    const struct fulcrum_cluster_rows *rows, size_t row);

/* The data-parallel row among the rivals of `row`; rows->count: there is none. */
size_t fulcrum_cluster_plain_of(const struct fulcrum_cluster_rows *rows, size_t row);

/*
 *   out      the caller clears it, after a failure too
 *   fails    as fulcrum_predictor_run; FULCRUM_ERR_INTERRUPTED; FULCRUM_ERR_NO_FIT
 * (no point can be laid out); FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_cluster_rows_find(
    const struct fulcrum_cluster_plan *plan, struct fulcrum_cluster_rows *out,
    struct fulcrum_error *err);

/* Accepts a struct of zeros. */
void fulcrum_cluster_rows_clear(struct fulcrum_cluster_rows *rows);

/* What draws make of one training over numbers of GPUs. */

/* What every row came to in every draw. Opaque. */
struct fulcrum_cluster_draws;

/*
 * Room for `row_count` rows, and one GPU's beside them, all unknown.
 *   out      the caller frees it with fulcrum_cluster_draws_free
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_cluster_draws_new(size_t row_count,
    size_t draw_count, struct fulcrum_cluster_draws **out, struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_cluster_draws_free(struct fulcrum_cluster_draws *draws);

/*
 * Keeps a row as it is in one draw; speed-ups come later.
 *   slot     of the row, or row_count: one GPU
 *   draw     from 0
 */
void fulcrum_cluster_draws_put(struct fulcrum_cluster_draws *draws, size_t slot,
    size_t draw, const struct fulcrum_cluster_row *row);

/*
 * Fills intervals, gains and shares of draws of all rows and crossovers. Whatever is
 * compared is compared within a draw, which is the same sample for all rows.
 *   rows     with the estimates, in the slots' order
 */
void fulcrum_cluster_draws_judge(
    struct fulcrum_cluster_draws *draws, struct fulcrum_cluster_rows *rows);

#endif
