/* energy.h - joules of a piece of work, from whatever meters there are. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_METER_ENERGY_H
#define FULCRUM_CALIBRATE_METER_ENERGY_H

#include <stdbool.h>

#include "calibrate/meter/meter.h"

/*
 *     struct fulcrum_energy_meterset *set = NULL;
 *     fulcrum_energy_open(&set, &options, err);
 *     ... start the work, let it settle for fulcrum_energy_settle_s(set) ...
 *     fulcrum_energy_begin(set);
 *     ... at least fulcrum_energy_least_window_s(set) of it ...
 *     fulcrum_energy_end(set, step_count, &reading);
 *
 * What no meter reads is NAN and has a reason, never zero. One thread uses a set.
 */
struct fulcrum_energy_meterset; /* opaque */

/* {0} is a legal start. */
struct fulcrum_energy_options {
    const char *root; /* as of meters; NULL: this machine's */
    /* The GPU that works, by the name of its domain ("gpu-0") or its UUID; NULL
     * or "": the GPUs of the machine together. */
    const char *gpu;
    int uses_gpu; /* the work runs on a GPU: its joules belong to a step */
    /* Of the time that the meters ask for, to settle and of a window; 0: 1. Less is for
     * stand-ins in tests, which average over nothing. */
    double window_rel;
    double (*clock_s)(void *user); /* NULL: the wall clock; tests bring their own */
    void *user;
};

/* What the meters said between `begin` and `end`. */
struct fulcrum_energy_reading {
    double window_s;
    double cpu_w; /* all packages */
    double gpu_w;
    /*
     * Packages, memory where a meter counts it, and GPUs where the work uses one; NAN
     * where one of these was not measured. Nothing else of the machine is in it.
     */
    double j_per_step;
    char gpu_reason[600]; /* why GPUs are NAN, one line; "" if not */
    char reason[1800];    /* that, why packages or memory are, or what is per step */
};

/*
 * Opens the first meter for processors and the first for GPUs. A set without any is a
 * set all the same: its readings say why.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_energy_open(
    struct fulcrum_energy_meterset **out, const struct fulcrum_energy_options *options,
    struct fulcrum_error *err);
void fulcrum_energy_close(struct fulcrum_energy_meterset *set);

/*
 * Counts one GPU from the next window on, by name or UUID, or all of them (NULL, "").
 * Returns 0 where there is none of that name: then no GPU is counted.
 */
int fulcrum_energy_choose_gpu(struct fulcrum_energy_meterset *set, const char *gpu);

/* Whether a GPU is counted, by a meter that opened. */
bool fulcrum_energy_has_gpu(const struct fulcrum_energy_meterset *set);

/* Shortest window that every meter of the set may be read over; 0 without meters. */
double fulcrum_energy_least_window_s(const struct fulcrum_energy_meterset *set);

/* How long a load must last before `begin`; 0 without meters. */
double fulcrum_energy_settle_s(const struct fulcrum_energy_meterset *set);

/* A window starts; one that was open is forgotten. */
void fulcrum_energy_begin(struct fulcrum_energy_meterset *set);

/*
 * Reads within a long window where it is time to, so that no counter wraps twice
 * unseen; costs next to nothing where it is not.
 */
void fulcrum_energy_refresh(struct fulcrum_energy_meterset *set);

/*
 * The window ends. What it cannot tell is NAN, with its reason: no meter, a window
 * shorter than the meter needs, a counter that went back or stood still.
 *   step_count  steps done within the window; where it is not above 0, nothing is told
 *               per step
 *   out         always filled
 */
void fulcrum_energy_end(struct fulcrum_energy_meterset *set, double step_count,
    struct fulcrum_energy_reading *out);

/* One domain within the last window. */
struct fulcrum_energy_domain {
    const char *meter; /* static */
    const struct fulcrum_meter_domain *domain;
    double window_j; /* NAN: not measured */
};

/* GPU `index` of the machine, counted or not; false beyond the last one. */
bool fulcrum_energy_gpu(const struct fulcrum_energy_meterset *set, size_t index,
    struct fulcrum_energy_domain *out);

#endif
