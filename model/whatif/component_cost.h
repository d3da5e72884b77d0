/* component_cost.h - what each component costs a design, in GPU time and in a run. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_WHATIF_COMPONENT_COST_H
#define FULCRUM_MODEL_WHATIF_COMPONENT_COST_H

#include <stdbool.h>

#include "model/whatif/ablation.h"
#include "model/whatif/variants.h"

struct fulcrum_component_cost {
    /* GPU work of an agent step that goes with it alone; 0 of what is not the GPU's. */
    double gpu_s;
    struct fulcrum_ideal_share run; /* of the time of a run */
    struct fulcrum_ratio in_order;  /* run.in_order_frac with its 90 % interval */
    struct fulcrum_ratio mean;      /* run.mean_frac, likewise */
    struct fulcrum_ratio speedup;   /* steps/s with it alone ideal over as it is */
    bool is_stuck; /* its fields change nothing: the calibration's machine lacks them */
};

struct fulcrum_component_costs {
    struct fulcrum_prediction prediction; /* nothing ideal; without intervals */
    struct fulcrum_ratio steps_per_s;
    double batch_size; /* observations, on average */
    double inference_s;
    double train_step_s;
    double gpu_s;                     /* GPU work of an agent step */
    struct fulcrum_ratio gpu_speedup; /* steps/s with an ideal GPU over as it is */
    struct fulcrum_ratio rest;        /* of the time of a run, where all is ideal */
    size_t draw_count;
    struct fulcrum_component_cost costs[FULCRUM_IDEAL_COUNT];
};

/* How to look, and who is told. */
struct fulcrum_component_plan {
    const struct fulcrum_scenario *scenario;
    struct fulcrum_predict_options predict;
    const struct fulcrum_solver_options *estimate; /* as in variants.h */
    int (*watch)(void *user, double done_frac);    /* as in variants.h */
    void *user;
};

/*
 * Makes every set of components ideal (docs/model.md "Memory system").
 *   fails    as fulcrum_variants_new; FULCRUM_ERR_UNSUPPORTED (a machine without a GPU)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_component_costs_find(
    const struct fulcrum_component_plan *plan, struct fulcrum_component_costs *out,
    struct fulcrum_error *err);

#endif
