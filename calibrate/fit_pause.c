/* fit_pause.c - how much longer a batch takes after the learner paused. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/fit_pause.h"

#include "model/pauses.h"

/* Of a median, where few samples lie behind it. */
#define NOISE_REL 0.02

/* Of the order of a scheduler's slice, as nothing better is known. */
#define COOLING_S 5e-3

static double form(const double *parameter, double pause_s, const void *context)
{
    (void)context;
    return 1.0 + fulcrum_cold_s(parameter[0], parameter[1], pause_s);
}

enum fulcrum_status fulcrum_fit_pause(struct fulcrum_fit_result *out,
    const double *pause_s, const double *time_rel, size_t count,
    struct fulcrum_error *err)
{
    static const struct fulcrum_fit_parameter parameters[] = {
        {.name = "cold",
            .scale = FULCRUM_SCALE_LINEAR,
            .low = 0.0,
            .high = 1e3,
            .start = 0.5,
            .start_step = 0.4},
        {.name = "cooling_s",
            .scale = FULCRUM_SCALE_LOG,
            .low = 1e-5,
            .high = 1.0,
            .start = COOLING_S,
            .prior_sd = 1.0,
            .start_step = 1.0},
    };
    const struct fulcrum_fit_problem problem = {.what = "inference after a pause",
        .model = form,
        .parameter = parameters,
        .parameter_count = sizeof parameters / sizeof parameters[0],
        .x = pause_s,
        .y = time_rel,
        .count = count,
        .noise_rel = NOISE_REL,
        .start_count = 4,
        .loss = FULCRUM_FIT_HUBER};
    return fulcrum_fit(out, &problem, err);
}
