/* measure_window.h - one window of the real pipeline, and what all windows share. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_MEASURE_WINDOW_H
#define FULCRUM_CALIBRATE_MEASURE_WINDOW_H

#include "calibrate/bench.h"
#include "calibrate/energy.h"
#include "calibrate/live.h"
#include "calibrate/measure.h"

/* Environments are opened once, for the largest configuration. */
enum { FULCRUM_MEASURE_ENVS_MOST = 65536 };

/* Owned by fulcrum_measure; {0} is a legal start. */
struct fulcrum_window_room {
    const struct fulcrum_measure_options *options;
    struct fulcrum_bench bench;
    struct fulcrum_live_learner training; /* state NULL: nothing trains */
    struct fulcrum_placement placement;
    struct fulcrum_cpu_list before; /* of the calling thread */
    struct fulcrum_machine machine; /* what the placement uses of this one */
    struct fulcrum_stepper *steppers;
    size_t stepper_count;
    struct fulcrum_canary
        canaries[2];                /* on a core of the actors, on one of the server */
    struct fulcrum_canary usual[2]; /* what is usual of them, by windows */
    struct fulcrum_recorder *recorder; /* of the next window; NULL: none; borrowed */
    struct fulcrum_energy_meterset *energy;
    char energy_reason[1200];
    int (*stops)(void *user); /* NULL: never */
    void *user;
};

/*
 *   room     given back with fulcrum_window_room_close, after a failure too
 *   fails    as fulcrum_measure
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_window_room_open(
    struct fulcrum_window_room *room, const struct fulcrum_measure_options *options,
    struct fulcrum_error *err);

/* Accepts {0}. */
void fulcrum_window_room_close(struct fulcrum_window_room *room);

/* Opens all environments anew, after one has failed. fails: as their env_new */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_window_room_renew(
    struct fulcrum_window_room *room, struct fulcrum_error *err);

/*
 * Starts the pipeline, lets it warm up and watches it for a window.
 *   fails    FULCRUM_ERR_INTERRUPTED, or as fulcrum_live_new and fulcrum_live_failure
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_window_take(
    struct fulcrum_window_room *room, const struct fulcrum_measure_config *config,
    struct fulcrum_measure_window *out, struct fulcrum_error *err);

#endif
