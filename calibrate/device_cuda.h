/* device_cuda.h - NVIDIA GPUs as devices. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_DEVICE_CUDA_H
#define FULCRUM_CALIBRATE_DEVICE_CUDA_H

#include "calibrate/device.h"

/* Needs NVIDIA's driver at run time, for which `open` looks; nothing when built. */
extern const struct fulcrum_device fulcrum_device_cuda;

#endif
