/* fit_cpu_curve.h - throughput over actors: docs/model.md "CPU curve", (20)-(21). */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_FIT_FIT_CPU_CURVE_H
#define FULCRUM_CALIBRATE_FIT_FIT_CPU_CURVE_H

#include <stdbool.h>
#include <stddef.h>

#include "calibrate/fit/fit.h"
#include "calibrate/fit/fit_forms.h"
#include "model/network/network.h"
#include "model/status.h"

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
 *   out      set on success only
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

#endif
