/* actor_record.h - the actors there are, and what their records share. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_ACTOR_RECORD_H
#define FULCRUM_CALIBRATE_ACTOR_RECORD_H

#include "calibrate/actor.h"

/*
 * Each actor's file completes struct fulcrum_actor_shared and struct fulcrum_env in
 * its own way: they never leave the record that made them.
 */
extern const struct fulcrum_actor fulcrum_actor_cartpole;
extern const struct fulcrum_actor fulcrum_actor_mujoco_ant;
extern const struct fulcrum_actor fulcrum_actor_mujoco_humanoid;
extern const struct fulcrum_actor fulcrum_actor_libretro;
extern const struct fulcrum_actor fulcrum_actor_plugin; /* actor_worker.c */
extern const struct fulcrum_actor fulcrum_actor_gym;

/* Printed by builds with and without MuJoCo alike. */
#define FULCRUM_MUJOCO_ANT_SUMMARY      "four-legged ant, 105 floats, 8 motors (MuJoCo)"
#define FULCRUM_MUJOCO_HUMANOID_SUMMARY "biped, 348 floats, 17 motors (MuJoCo)"

/* Most frames that one agent step may take. */
#define FULCRUM_FRAME_SKIP_MAX 1000.0

/*
 * The frame skip that `options` (may be NULL) ask for, or `standard`.
 *   fails    FULCRUM_ERR_RANGE (not a whole number in 1..FULCRUM_FRAME_SKIP_MAX)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_actor_frame_skip(double *out,
    const struct fulcrum_actor_options *options, double standard,
    struct fulcrum_error *err);

#endif
