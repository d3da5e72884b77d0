/* device_record.h - the devices that learners run on. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_DEVICE_RECORD_H
#define FULCRUM_CALIBRATE_DEVICE_RECORD_H

#include "calibrate/device.h"

/* Only its `open` is set where the build has no OpenCL. */
extern const struct fulcrum_device fulcrum_device_opencl;

/* NVIDIA GPUs: needs their driver at run time, for which `open` looks. */
extern const struct fulcrum_device fulcrum_device_cuda;

#endif
