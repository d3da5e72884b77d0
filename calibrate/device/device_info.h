/* device_info.h - what a compute device tells of itself. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_DEVICE_DEVICE_INFO_H
#define FULCRUM_CALIBRATE_DEVICE_DEVICE_INFO_H

#include <stdbool.h>

struct fulcrum_device_info {
    char name[96];
    char uuid[48];           /* "GPU-...", as NVML prints it; "" where it is not told */
    char detail[200];        /* driver, libraries and their versions: provenance */
    bool is_gpu;             /* 0: its kernels run on the host's own cores */
    bool is_wide;            /* 1: wants thousands of items, side by side in memory */
    double sm_count;         /* of the whole device */
    double granted_sm_count; /* in force */
    double least_sm_count;   /* smallest share that can be granted */
    double sm_step;          /* shares are multiples of it */
    double clock_hz;         /* NAN where it is not told */
    double memory_byte;
    double memory_byte_per_s; /* at most, as it is built; 0: not told */
};

#endif
