/* fit_forms.h - fits of a few points: batch times, pauses, watts over utilisation. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_FIT_FIT_FORMS_H
#define FULCRUM_CALIBRATE_FIT_FIT_FORMS_H

#include <stddef.h>

#include "calibrate/fit/fit.h"
#include "model/status.h"

/* Samples sorted and reduced to one median per x. */

struct fulcrum_samples {
    const char *what; /* for error details */
    const double *x;
    const double *y;
    size_t count;
};

/* x increasing, y the median of the samples at that x. */
struct fulcrum_point_set {
    double *x;
    double *y;
    size_t count;
};

/*
 *   out      the caller gives its arrays back with fulcrum_point_set_free
 *   fails    FULCRUM_ERR_RANGE (x not finite and >= 0, y not finite and > 0),
 *            FULCRUM_ERR_NO_FIT (no samples), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_point_set_new(
    struct fulcrum_point_set *out, const struct fulcrum_samples *samples,
    struct fulcrum_error *err);

/* Leaves an empty set. */
void fulcrum_point_set_free(struct fulcrum_point_set *set);

/* Linear between points, constant before the first and beyond the last. */
double fulcrum_point_set_at(const struct fulcrum_point_set *set, double x);

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
 *   out      set on success only
 *   fails    as fulcrum_fit
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_batch_time(
    struct fulcrum_line_fit *out, const double *size, const double *time_s,
    size_t count, struct fulcrum_error *err);

/* How much longer a batch takes after the learner paused. */

/*
 * Fits 1 + fulcrum_cold_s(cold, cooling_s, pause): parameters `cold`, over a warm
 * batch, and `cooling_s`. A learner that hardly goes cold leaves cooling_s to its
 * prior, 5 ms give or take a factor of e. pause_s     >= 0 time_rel    of a batch after
 * that pause, over one after another; > 0
 *   out      set on success only
 *   fails    as fulcrum_fit
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

/*
 *   samples    x: utilisation in [0, 1], y: watts
 *   out        set on success only
 *   fails      as fulcrum_fit; FULCRUM_ERR_RANGE also for a utilisation above 1
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_power(struct fulcrum_power_fit *out,
    const struct fulcrum_samples *samples, enum fulcrum_power_form form,
    struct fulcrum_error *err);

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

/* As fulcrum_fit_power; FULCRUM_ERR_RANGE also for options outside their range. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fit_power_with(
    struct fulcrum_power_fit *out, const struct fulcrum_samples *samples,
    const struct fulcrum_power_options *options, struct fulcrum_error *err);

/* Watts at a utilisation in [0, 1]. */
double fulcrum_power_fit_w(const struct fulcrum_power_fit *fit, double busy_frac);

/*
 * Standard error of those watts that follows from the covariance of the parameters;
 * NaN where the fit has none.
 */
double fulcrum_power_fit_error_w(const struct fulcrum_power_fit *fit, double busy_frac);

#endif
