/* device_opencl_absent.c - the OpenCL devices of a build that has no OpenCL. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/device_record.h"

/* Nothing can be opened, so the other members of the record are never called. */
static enum fulcrum_status absent_open(const struct fulcrum_device_options *options,
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
    .open = absent_open,
};
