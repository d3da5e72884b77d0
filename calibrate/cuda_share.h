/* cuda_share.h - a GPU, and what runs on all of its SMs or on a part of them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_CUDA_SHARE_H
#define FULCRUM_CALIBRATE_CUDA_SHARE_H

#include "calibrate/cuda_blas.h"
#include "calibrate/cuda_driver.h"
#include "model/status.h"

/* One GPU with its primary context, which every part of it shares memory with. */
struct fulcrum_cuda_gpu {
    struct fulcrum_cuda_driver driver;
    struct fulcrum_cuda_blas blas; /* library NULL: products by a kernel of our own */
    int device;
    void *context;         /* primary; NULL: not retained */
    double sm_count;       /* of all */
    double least_sm_count; /* smallest part; all of them where there are no parts */
    double sm_step;        /* parts are the least and multiples of it more */
};

/*
 * A context, a queue in it, and what is tied to them. A context of a part is a green
 * one: it sees the memory of the primary context and has kernels run on its SMs only.
 */
struct fulcrum_cuda_share {
    void *green; /* NULL: all SMs, in the primary context */
    void *context;
    void *stream;
    void *mark[2];   /* events */
    void *blas;      /* handle; NULL without cuBLAS */
    double sm_count; /* really granted */
};

/*
 * Finds out into which parts the GPU can be divided, by asking for the smallest and
 * for one SM more. Where it cannot, all its SMs are the one part.
 */
void fulcrum_cuda_gpu_ask_parts(struct fulcrum_cuda_gpu *gpu);

/*
 * A share of about `sm_count` SMs (0: all), rounded up as the driver does it; its
 * context is left current. A count beyond the largest part gives all SMs.
 *   out      set on success only; given back with fulcrum_cuda_share_close
 *   fails    FULCRUM_ERR_RANGE (more than all), FULCRUM_ERR_UNSUPPORTED (this driver
 *            cannot divide the GPU, or refuses), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_cuda_share_open(
    struct fulcrum_cuda_share *out, const struct fulcrum_cuda_gpu *gpu, double sm_count,
    struct fulcrum_error *err);

/* Nothing of it may still be under way. Accepts {0}. */
void fulcrum_cuda_share_close(
    const struct fulcrum_cuda_gpu *gpu, struct fulcrum_cuda_share *share);

#endif
