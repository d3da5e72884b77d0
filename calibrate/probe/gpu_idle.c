/* gpu_idle.c - what GPUs draw before a program takes one. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/probe/probe.h"

#include <math.h>
#include <stdio.h>

#include "calibrate/meter/energy.h"
#include "calibrate/meter/nvml.h"
#include "calibrate/stopwatch.h"

#define BUDGET_FRAC (1.0 / 12.0)

/* Windows are a little longer than the least, since clocks of two programs differ. */
#define LONGER 1.05

/* A display or a monitoring program shows a percent or two. */
#define TAKEN_FRAC 0.05

#define SLICE_S 0.1

/* 0 where the run is to end. */
static int wait(const struct fulcrum_gpu_idle_options *options, double seconds)
{
    double until_s = fulcrum_wall_s() + seconds;
    double left_s = seconds;
    while (left_s > 0) {
        if (options->stop != NULL && options->stop(options->user)) {
            return 0;
        }
        fulcrum_sleep_s(fmin(left_s, SLICE_S));
        left_s = until_s - fulcrum_wall_s();
    }
    return 1;
}

/* Joules of each GPU within the window at hand. */
static void take_window(struct fulcrum_gpu_idle *out,
    const struct fulcrum_energy_meterset *set, double window_s)
{
    struct fulcrum_energy_domain domain;
    out->gpu_count = 0;
    while (out->gpu_count < FULCRUM_GPU_IDLE_GPUS &&
           fulcrum_energy_gpu(set, out->gpu_count, &domain)) {
        out->watts[out->gpu_count++][out->sample_count] = domain.window_j / window_s;
    }
    out->sample_count++;
}

/* What does not tell its utilisation is given the benefit of the doubt. */
static void look_for_others(struct fulcrum_gpu_idle *out, const char *root)
{
    struct fulcrum_nvml *nvml = NULL;
    if (fulcrum_nvml_open(&nvml, root, NULL) != FULCRUM_OK) {
        return;
    }
    for (size_t i = 0; i < out->gpu_count; i++) {
        double busy_frac = 0;
        out->is_taken[i] = fulcrum_nvml_ask(nvml, i, FULCRUM_NVML_BUSY_FRAC, &busy_frac,
                               NULL) == FULCRUM_OK &&
                           busy_frac > TAKEN_FRAC;
    }
    fulcrum_nvml_close(nvml);
}

static void measure(struct fulcrum_gpu_idle *out, struct fulcrum_energy_meterset *set,
    const struct fulcrum_gpu_idle_options *options)
{
    double window_s = LONGER * fulcrum_energy_least_window_s(set);
    double count = fmin(fmax(floor(BUDGET_FRAC * options->budget_s / window_s), 1),
        FULCRUM_GPU_IDLE_SAMPLES);
    int goes_on = wait(options, fulcrum_energy_settle_s(set));
    for (size_t i = 0; goes_on && i < (size_t)count; i++) {
        struct fulcrum_energy_reading reading;
        fulcrum_energy_begin(set);
        goes_on = wait(options, window_s);
        fulcrum_energy_end(set, 1, &reading);
        if (goes_on) {
            take_window(out, set, reading.window_s);
        }
        if (isnan(reading.gpu_w)) {
            (void)snprintf(
                out->reason, sizeof out->reason, "%.399s", reading.gpu_reason);
        }
    }
}

void fulcrum_gpu_idle_measure(
    struct fulcrum_gpu_idle *out, const struct fulcrum_gpu_idle_options *options)
{
    struct fulcrum_energy_meterset *set = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    *out = (struct fulcrum_gpu_idle){0};
    const struct fulcrum_energy_options energy = {
        .root = options->root, .uses_gpu = 1, .window_rel = options->window_rel};
    if (fulcrum_energy_open(&set, &energy, &err) != FULCRUM_OK) {
        (void)snprintf(out->reason, sizeof out->reason, "%.399s", err.detail);
        return;
    }
    if (fulcrum_energy_has_gpu(set)) {
        measure(out, set, options);
        look_for_others(out, options->root);
    } else {
        (void)snprintf(out->reason, sizeof out->reason, "no meter of GPUs");
    }
    fulcrum_energy_close(set);
}
