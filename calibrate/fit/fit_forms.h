/* fit_forms.h - the forms that are fitted to measurements. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_FIT_FIT_FORMS_H
#define FULCRUM_CALIBRATE_FIT_FIT_FORMS_H

#include "calibrate/fit/fit.h"
#include "model/design/design.h"
#include "model/network/network.h"

/* The line t(b) = t0 + t1 b, and whether it may replace a table. */

struct fulcrum_line_fit {
    double per_batch_s; /* t0 >= 0 */
    double per_item_s;  /* t1 >= 0 */
    struct fulcrum_fit_result fit;
    enum fulcrum_fit_advice advice;
    char reason[200];
};

/*
 * Fits times over batch sizes; equally training steps over their size. A table is
 * advised where the median at some size is more than 5 % off the line.
 *   size     >= 0; a size may come more than once
 *   fails    as fulcrum_fit
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_batch_time(
    struct fulcrum_line_fit *out, const double *size, const double *time_s,
    size_t count, struct fulcrum_error *err);

/*
 * Tokens per second of one instance over what is in flight, docs/model.md "Agents",
 * (A1): per_batch_s, per_item_s, and item_exponent, which has a prior.
 */
enum { FULCRUM_DECODE_PARAMETERS = 3 };
double fulcrum_decode_rate(
    const double *parameter, double in_flight, const void *context);

/* Where the three start, from the first and the last time of a token. */
void fulcrum_decode_parameters(
    struct fulcrum_fit_parameter out[FULCRUM_DECODE_PARAMETERS], double token_s,
    double item_s);

/*
 * Fits them to one or more times of a token.
 *   fails    as fulcrum_fit
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_token_time(
    struct fulcrum_fit_result *out, const double *in_flight, const double *token_s,
    size_t count, struct fulcrum_error *err);

/* How much longer a batch takes after the learner paused. */

/*
 * Fits 1 + fulcrum_cold_s(cold, cooling_s, pause): parameters `cold`, over a warm
 * batch, and `cooling_s`. A learner that hardly goes cold leaves cooling_s to its
 * prior, 5 ms give or take a factor of e.
 *   time_rel   of a batch after that pause, over one after another; > 0
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_pause(struct fulcrum_fit_result *out,
    const double *pause_s, const double *time_rel, size_t count,
    struct fulcrum_error *err);

enum fulcrum_power_form {
    FULCRUM_POWER_AUTO,   /* free alpha from five levels of utilisation on */
    FULCRUM_POWER_AFFINE, /* alpha = 1 */
    FULCRUM_POWER_LAW     /* alpha in [0.3, 3]; needs three levels */
};

struct fulcrum_power_fit {
    double idle_w;    /* >= 0 */
    double dynamic_w; /* >= 0: added at full utilisation */
    double alpha;
    struct fulcrum_fit_result fit; /* parameters in this order */
};

/* What is known beside the samples; zero: nothing. */
struct fulcrum_power_options {
    enum fulcrum_power_form form;
    double least_idle_w; /* >= 0: idle_w is held there at least, as where a known idle
                            draw has a floor of unknown watts on top */
    double alpha;        /* median of a prior, in [0.3, 3]; then alpha is free and
                            FULCRUM_POWER_AUTO needs two levels */
    double alpha_factor; /* > 1: x or / this is one standard deviation */
    double noise_rel;    /* least standard deviation of a sample; > 0 with a prior */
};

/*
 *   samples    x: utilisation in [0, 1], y: watts
 *   fails      as fulcrum_fit; FULCRUM_ERR_RANGE also for a utilisation above 1 and for
 *              options outside their range
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_power(struct fulcrum_power_fit *out,
    const struct fulcrum_samples *samples, const struct fulcrum_power_options *options,
    struct fulcrum_error *err);

/* Watts at a utilisation in [0, 1]. */
double fulcrum_power_fit_w(const struct fulcrum_power_fit *fit, double busy_frac);

/*
 * Standard error of those watts that follows from the covariance of the parameters;
 * NaN where the fit has none.
 */
double fulcrum_power_fit_error_w(const struct fulcrum_power_fit *fit, double busy_frac);

/* Throughput over actors: docs/model.md "CPU curve", (20)-(21). */

/* How actors wait for each other: it sets the form and the priors. */
enum fulcrum_actor_coupling {
    FULCRUM_ACTORS_ASYNC, /* each steps on as soon as it can */
    FULCRUM_ACTORS_SYNC,  /* all start the next step together */
    FULCRUM_ACTORS_PIPE   /* processes stepped through pipes by one parent */
};

enum fulcrum_actor_binding { FULCRUM_ACTORS_PINNED, FULCRUM_ACTORS_UNPINNED };

struct fulcrum_cpu_curve_host {
    double core_count;   /* >= 1 */
    double thread_count; /* >= core_count; equal: no SMT, whose yield is then 0 */
    double socket_count; /* >= 1 */
    enum fulcrum_actor_coupling coupling;
    enum fulcrum_actor_binding binding;
    double noise_rel; /* standard deviation of one point, form error included; 0: 3 %,
                         what the form leaves on published curves */
    bool is_noise_known; /* noise_rel, then above 0, is that of every point: none is an
                           outlier, and it does not grow with what the form leaves */
};

struct fulcrum_cpu_curve_fit {
    struct fulcrum_cpu_station station; /* saturating curve, nothing reserved */
    double step_s;                      /* of one actor alone; X(n) = c(n) / step_s */
    /* step_s, smt_yield_frac, serial_frac, knee, cross_socket_frac */
    struct fulcrum_fit_result fit;
    enum fulcrum_fit_advice advice;
    double median_rms_rel; /* of the medians per count around the form */
    char reason[200];      /* for the advice */
};

/*
 *   samples  x: runnable actors >= 1, y: steps per second
 *   fails    as fulcrum_fit; FULCRUM_ERR_RANGE also for fewer than one actor and for
 *            a host outside the ranges above
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_cpu_curve(
    struct fulcrum_cpu_curve_fit *out, const struct fulcrum_samples *samples,
    const struct fulcrum_cpu_curve_host *host, struct fulcrum_error *err);

/*
 * Relative standard error of X(n) that follows from the covariance of the parameters;
 * neither the noise of a point nor a form that does not hold is in it.
 */
double fulcrum_cpu_curve_fit_error_rel(
    const struct fulcrum_cpu_curve_fit *fit, double n);

/*
 * Fills capacity[i] with c(i + 1): medians of the samples in units of one actor that
 * needs `step_s`, linear between counts, through zero below the first one.
 *   fails    FULCRUM_ERR_RANGE, FULCRUM_ERR_NO_FIT (no samples), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_cpu_curve_tabulate(double *capacity,
    size_t capacity_count, const struct fulcrum_samples *samples, double step_s,
    struct fulcrum_error *err);

/* How times on a GPU grow as it is left fewer SMs. */

/* A median time on `sm_count` SMs: of inferring `batch`, or of a training step. */
struct fulcrum_sm_point {
    double batch; /* 0: a training step */
    double sm_count;
    double time_s;
};

struct fulcrum_sm_fit {
    double sm_count;     /* of the whole GPU, where the times below hold */
    double per_batch_s;  /* inference: t0 */
    double per_item_s;   /* t1 */
    double train_step_s; /* NAN where no step was given */
    /* Shares as in the workload; of the four shares of GPU time only that of math shows
     * when SMs are taken away, the others keep their proportions. */
    double launch_bound_frac;
    double math_frac;
    double train_launch_bound_frac; /* NAN where no step was given */
    struct fulcrum_fit_result fit;
};

/*
 * Fits (5) and (6) of docs/model.md "Work on a part of the SMs" to points over batch
 * sizes and SMs, as model/design/scale.c carries times to other numbers of SMs. Shares
 * have weak priors: the fields' fallbacks, with the spread of any number between 0
 * and 1. points    inference at two batch sizes and three numbers of SMs at least
 *   sm_count  all SMs; no point has more
 *   fails     FULCRUM_ERR_RANGE, FULCRUM_ERR_NO_FIT (too few), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_sm(struct fulcrum_sm_fit *out,
    const struct fulcrum_sm_point *points, size_t count, double sm_count,
    struct fulcrum_error *err);

/* The time that the fit gives to a point's batch and SMs; its time_s is not read. */
double fulcrum_sm_fit_s(
    const struct fulcrum_sm_fit *fit, const struct fulcrum_sm_point *point);

/* Watts of a GPU over what it does: (12) of docs/model.md "Power". */

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
 *   fails    FULCRUM_ERR_RANGE (a load outside its range, too many levels),
 *            FULCRUM_ERR_NO_FIT (no level with a program that holds the GPU, or no two
 *            that differ), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_gpu_power(
    struct fulcrum_gpu_power_fit *out, const struct fulcrum_gpu_load *loads,
    size_t count, struct fulcrum_error *err);

#define FULCRUM_GPU_LOAD_MAX 64

#endif
