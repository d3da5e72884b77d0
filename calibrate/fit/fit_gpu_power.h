/* fit_gpu_power.h - watts of a GPU over what it does: (12) of docs/model.md "Power". */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_FIT_FIT_GPU_POWER_H
#define FULCRUM_CALIBRATE_FIT_FIT_GPU_POWER_H

#include <stdbool.h>
#include <stddef.h>

#include "calibrate/fit/fit.h"
#include "model/status.h"

/* One level of load, and what the GPU drew. */
struct fulcrum_gpu_load {
    bool is_active;        /* a program holds the GPU, working or not */
    double train_frac;     /* share of the time that training takes, 0..1 */
    double inference_frac; /* the same of inference; together at most 1 */
    double sm_frac;        /* SMs granted over all, 0..1 */
    double watts;          /* > 0 */
};

/* What the levels could tell apart, or-ed. */
enum fulcrum_gpu_power_told {
    FULCRUM_GPU_POWER_IDLE = 1,      /* idle_w apart from floor_w */
    FULCRUM_GPU_POWER_DYNAMIC = 2,   /* dynamic_w */
    FULCRUM_GPU_POWER_EXPONENT = 4,  /* exponent; otherwise it was taken as 1 */
    FULCRUM_GPU_POWER_INFERENCE = 8, /* inference_rel */
    FULCRUM_GPU_POWER_SHARE = 16     /* that watts follow the share of SMs was seen */
};

/*
 * P = idle_w + floor_w [held] + dynamic_w (train + inference_rel inference)^exponent
 * sm_frac. Watts tell the product of dynamic_w and the SMs that training keeps active,
 * not each: that activity is taken as 1, inference is told relative to it.
 */
struct fulcrum_gpu_power_fit {
    double idle_w;    /* with floor_w where the two were not told apart */
    double floor_w;   /* 0 where not told apart */
    double dynamic_w; /* training all the time on all SMs */
    double exponent;
    double inference_rel;
    unsigned told;                 /* fulcrum_gpu_power_told */
    struct fulcrum_fit_result fit; /* parameters in this order; those not told fixed */
};

/*
 * A level is one point: give medians, not every sample.
 *   count    at most FULCRUM_GPU_LOAD_MAX
 *   out      set on success only
 *   fails    FULCRUM_ERR_RANGE (a load outside its range, too many levels),
 *            FULCRUM_ERR_NO_FIT (no level with a program that holds the GPU, or no two
 *            that differ), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_gpu_power(
    struct fulcrum_gpu_power_fit *out, const struct fulcrum_gpu_load *loads,
    size_t count, struct fulcrum_error *err);

#define FULCRUM_GPU_LOAD_MAX 64

/* Watts at a load; its own watts are not looked at. */
double fulcrum_gpu_power_fit_w(
    const struct fulcrum_gpu_power_fit *fit, const struct fulcrum_gpu_load *load);

#endif
