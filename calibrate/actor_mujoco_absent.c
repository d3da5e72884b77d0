/* actor_mujoco_absent.c - the MuJoCo actors of a build that has no MuJoCo. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/actor_record.h"

/* Nothing can be opened, so the other members of the records are never called. */
static enum fulcrum_status absent_open(const struct fulcrum_actor_options *options,
    struct fulcrum_actor_shared **out, struct fulcrum_actor_info *info,
    struct fulcrum_error *err)
{
    (void)options;
    (void)out;
    (void)info;
    return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
        "this build has no MuJoCo: install libmujoco-dev and configure with "
        "-DFULCRUM_MUJOCO=ON");
}

const struct fulcrum_actor fulcrum_actor_mujoco_ant = {
    .name = "mujoco-ant",
    .summary = FULCRUM_MUJOCO_ANT_SUMMARY,
    .open = absent_open,
};

const struct fulcrum_actor fulcrum_actor_mujoco_humanoid = {
    .name = "mujoco-humanoid",
    .summary = FULCRUM_MUJOCO_HUMANOID_SUMMARY,
    .open = absent_open,
};
