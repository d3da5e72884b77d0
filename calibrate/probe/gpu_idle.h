/* gpu_idle.h - what GPUs draw before a program takes one. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PROBE_GPU_IDLE_H
#define FULCRUM_CALIBRATE_PROBE_GPU_IDLE_H

#include <stdbool.h>
#include <stddef.h>

enum { FULCRUM_GPU_IDLE_GPUS = 16, FULCRUM_GPU_IDLE_SAMPLES = 3 };

/*
 * A driver keeps a GPU awake for whoever holds it, so its idle draw is seen only before
 * a learner opens it, and once it is open it is too late.
 */
struct fulcrum_gpu_idle {
    size_t gpu_count;    /* in the order of the meter */
    size_t sample_count; /* windows; 0: not measured */
    double watts[FULCRUM_GPU_IDLE_GPUS][FULCRUM_GPU_IDLE_SAMPLES]; /* NAN: no reading */
    bool is_taken[FULCRUM_GPU_IDLE_GPUS]; /* others were using it: not its idle draw */
    char reason[400]; /* why there is no sample, or none of some GPU; "" otherwise */
};

struct fulcrum_gpu_idle_options {
    const char *root;  /* of meters */
    double window_rel; /* as fulcrum_energy_options has it; 0: 1 */
    double budget_s;   /* of the whole run: about a twelfth of it is spent here */
    bool (*stop)(void *user); /* NULL: never */
    void *user;
};

/* Takes a window of the GPU meter at least, 3 s, where there is one. */
void fulcrum_gpu_idle_measure(
    struct fulcrum_gpu_idle *out, const struct fulcrum_gpu_idle_options *options);

#endif
