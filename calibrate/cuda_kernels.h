/* cuda_kernels.h - the kernels of the networks, compiled by the CUDA driver. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_CUDA_KERNELS_H
#define FULCRUM_CALIBRATE_CUDA_KERNELS_H

#include "calibrate/cuda_driver.h"
#include "calibrate/device_kernels.h"
#include "model/status.h"

enum { FULCRUM_CUDA_LOG_BYTE = 1024 };

/* Stays where it is while open: the driver may write to the log later. */
struct fulcrum_cuda_kernels {
    void *library; /* CUDA 12.0: kernels of no context, which any share may launch */
    void *module;  /* before: those of the primary context */
    void *function[FULCRUM_KERNEL_COUNT];
    char log[FULCRUM_CUDA_LOG_BYTE]; /* of the driver's compiler */
};

/*
 * Has the driver compile the embedded PTX for the GPU of the current context.
 *   out      zeroed; given back with fulcrum_cuda_kernels_close, after a failure too
 *   fails    FULCRUM_ERR_UNSUPPORTED with the first line that the compiler said,
 *            FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_cuda_kernels_open(
    struct fulcrum_cuda_kernels *out, const struct fulcrum_cuda_driver *driver,
    struct fulcrum_error *err);

/* Accepts {0}. */
void fulcrum_cuda_kernels_close(
    struct fulcrum_cuda_kernels *kernels, const struct fulcrum_cuda_driver *driver);

#endif
