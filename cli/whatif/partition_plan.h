/* partition_plan.h - placements of one workload on one GPU, asked about and answered.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_WHATIF_PARTITION_PLAN_H
#define FULCRUM_CLI_WHATIF_PARTITION_PLAN_H

#include <signal.h>

#include "cli/progress.h"
#include "model/predict/partition.h"
#include "model/predict/predict.h"
#include "presets/load/partition_file.h"

enum { FULCRUM_PLAN_ROWS_MOST = 24 };

/* What one row asks. */
enum fulcrum_plan_question {
    FULCRUM_PLAN_EXCLUSIVE,
    FULCRUM_PLAN_TIME_SLICED,
    FULCRUM_PLAN_EQUAL_SHARES, /* whole loops on equal shares */
    FULCRUM_PLAN_APART,        /* a process for every stage */
    FULCRUM_PLAN_BEST_SHARES,
    FULCRUM_PLAN_GIVEN_SHARES,
    FULCRUM_PLAN_BEST_SLICES,
    FULCRUM_PLAN_GIVEN_SLICES
};

struct fulcrum_plan_row {
    enum fulcrum_plan_question question;
    double instances;             /* TIME_SLICED, EQUAL_SHARES; at most, BEST_SHARES */
    char name[64];                /* "shares, best" */
    char layout[120];             /* slices of it; "" elsewhere */
    struct fulcrum_placed placed; /* part_count 0: cannot run, or parts are not known */
    char reason[200];             /* why it cannot run; "" where it does */
    double steps_per_s;           /* of one GPU */
    double speedup;               /* over exclusive, with 90 % interval */
    double speedup_lo;
    double speedup_hi;
    double gpu_busy_frac; /* of predict; unknown where stages are placed, which has
                             placed.sm_held_frac */
    double gpu_w;
    double steps_per_j_gpu;
};

/* How instances share, whatever they run. */
struct fulcrum_plan_terms {
    double share_byte_per_s; /* between processes that share memory; NAN: half of the
                                GPU's bandwidth */
    double slice_byte_per_s; /* between slices */
    double overhead_frac;
    double switch_frac;
    int envs_each;
    double instances;                              /* most on one GPU */
    double given_shares[FULCRUM_STAGES_MOST];      /* of each stage */
    size_t given_count;                            /* 0: none */
    const struct fulcrum_mig_layout *given_layout; /* NULL: none; borrowed */
    const struct fulcrum_partition *partition;     /* NULL: no slices; borrowed */
};

struct fulcrum_plan {
    struct fulcrum_design design; /* the point, with every value in force */
    struct fulcrum_gpu_loop loop; /* stages; none where actors step on the CPU */
    size_t count;
    struct fulcrum_plan_row rows[FULCRUM_PLAN_ROWS_MOST];
    double draws; /* that gave intervals */
};

/* What is asked, and who is told how far the work is. All borrowed. */
struct fulcrum_plan_ask {
    const struct fulcrum_scenario *scenario;
    const struct fulcrum_plan_terms *terms;
    const struct fulcrum_predict_options *options; /* draws and seed of the intervals;
                                                      the solver of what has actors */
    struct fulcrum_progress *progress;
    const volatile sig_atomic_t *stop; /* not 0: no further */
};

/*
 * Fills every row; what cannot run has a reason.
 *   out      large: keep it on the heap
 *   fails    as fulcrum_predict; FULCRUM_ERR_UNSUPPORTED (a machine without a GPU),
 *            FULCRUM_ERR_INTERRUPTED
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_plan_make(
    const struct fulcrum_plan_ask *ask, struct fulcrum_plan *out,
    struct fulcrum_error *err);

#endif
