/* absent.c - what stands for the parts that a build was made without. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records of which nothing can be opened: `open` says what to install, and the other
 * members are never called.
 */
#include "calibrate/actor/actor.h"
#include "calibrate/device/compute.h"
#include "calibrate/device/learner.h"

#if !FULCRUM_HAVE_MUJOCO
static enum fulcrum_status open_mujoco(const struct fulcrum_actor_options *options,
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
    .open = open_mujoco,
};

const struct fulcrum_actor fulcrum_actor_mujoco_humanoid = {
    .name = "mujoco-humanoid",
    .summary = FULCRUM_MUJOCO_HUMANOID_SUMMARY,
    .open = open_mujoco,
};
#endif

#if !FULCRUM_HAVE_OPENCL
static enum fulcrum_status open_opencl(const struct fulcrum_device_options *options,
    struct fulcrum_device_state **out, struct fulcrum_device_info *info,
    struct fulcrum_error *err)
{
    (void)options;
    (void)out;
    (void)info;
    return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
        "this build has no OpenCL: install ocl-icd-opencl-dev and configure with "
        "-DFULCRUM_OPENCL=ON");
}

const struct fulcrum_device fulcrum_device_opencl = {
    .name = "opencl",
    .open = open_opencl,
};
#endif

#if !FULCRUM_HAVE_CURL
static enum fulcrum_status open_endpoint(const struct fulcrum_learner_options *options,
    struct fulcrum_learner_state **out, struct fulcrum_learner_info *info,
    struct fulcrum_error *err)
{
    (void)options;
    (void)out;
    (void)info;
    return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
        "this build has no libcurl: install libcurl4-openssl-dev and configure with "
        "-DFULCRUM_CURL=ON");
}

const struct fulcrum_learner fulcrum_learner_endpoint = {
    .name = "endpoint",
    .summary = FULCRUM_ENDPOINT_SUMMARY,
    .open = open_endpoint,
};
#endif
