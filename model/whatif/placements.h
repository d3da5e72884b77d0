/* placements.h - ways to place one workload's stages on one GPU. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_WHATIF_PLACEMENTS_H
#define FULCRUM_MODEL_WHATIF_PLACEMENTS_H

#include <stdbool.h>

#include "model/predict/partition.h"
#include "model/predict/predict.h"
#include "model/study/sweep.h"

enum { FULCRUM_PLACEMENTS_MOST = 24 };

/* What one row asks. */
enum fulcrum_placement_question {
    FULCRUM_PLACE_EXCLUSIVE,
    FULCRUM_PLACE_TIME_SLICED,
    FULCRUM_PLACE_EQUAL_SHARES, /* whole loops on equal shares */
    FULCRUM_PLACE_APART,        /* a process for every stage */
    FULCRUM_PLACE_BEST_SHARES,
    FULCRUM_PLACE_GIVEN_SHARES,
    FULCRUM_PLACE_BEST_SLICES,
    FULCRUM_PLACE_GIVEN_SLICES
};

struct fulcrum_placement {
    enum fulcrum_placement_question question;
    double instances;             /* TIME_SLICED, EQUAL_SHARES; at most, BEST_SHARES */
    char name[64];                /* "shares, best" */
    char layout[120];             /* slices of it; "" elsewhere */
    struct fulcrum_placed placed; /* part_count 0: cannot run, or parts are not known */
    char reason[200];             /* why it cannot run; "" where it does */
    double steps_per_s;           /* of one GPU */
    struct fulcrum_ratio speedup; /* over exclusive */
    double gpu_busy_frac; /* of predict; unknown where stages are placed, which has
                             placed.sm_held_frac */
    double gpu_w;
    double steps_per_j_gpu;
};

/* How instances share, whatever they run. */
struct fulcrum_sharing_terms {
    double share_byte_per_s; /* between processes that share memory; NAN: half of the
                                GPU's bandwidth */
    double slice_byte_per_s; /* between slices */
    double overhead_frac;
    double switch_frac;
    bool envs_each;
    double instances;                              /* most on one GPU */
    double given_shares[FULCRUM_STAGES_MOST];      /* of each stage */
    size_t given_count;                            /* 0: none */
    const struct fulcrum_mig_layout *given_layout; /* NULL: none; borrowed */
    const struct fulcrum_mig *mig;                 /* NULL: no slices; borrowed */
};

struct fulcrum_placements {
    struct fulcrum_design design; /* the point, with every value in force */
    struct fulcrum_gpu_loop loop; /* stages; none where actors step on the CPU */
    size_t count;
    struct fulcrum_placement rows[FULCRUM_PLACEMENTS_MOST];
    double draws; /* behind the intervals */
};

/* All borrowed. */
struct fulcrum_placement_plan {
    const struct fulcrum_scenario *scenario;
    const struct fulcrum_sharing_terms *terms;
    struct fulcrum_predict_options predict; /* draws and seed of the intervals; the
                                               solver of workloads with actors */
    int (*watch)(void *watcher, double done_frac); /* before each placement and draw;
                                                      not 0 ends the work */
    void *watcher;
};

/* Answers every question; what cannot run has a reason. `out` is large: keep it on the
 * heap. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_placements_find(
    const struct fulcrum_placement_plan *plan, struct fulcrum_placements *out,
    struct fulcrum_error *err);

#endif
