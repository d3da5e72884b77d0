/* cuda_blas.h - products of matrices by cuBLAS, where it is installed. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_DEVICE_CUDA_BLAS_H
#define FULCRUM_CALIBRATE_DEVICE_CUDA_BLAS_H

#include <stddef.h>

#include "model/status.h"

/* Names a library in an unusual place, such as that of a Python package. */
#define FULCRUM_CUBLAS_LIBRARY_VARIABLE "FULCRUM_CUBLAS_LIBRARY"

enum {
    FULCRUM_CUBLAS_SUCCESS = 0,
    FULCRUM_CUBLAS_DEFAULT_MATH = 0, /* float32 products in float32: no TF32 */
    FULCRUM_CUBLAS_AS_IS = 0,        /* cublasOperation_t: N */
    FULCRUM_CUBLAS_TRANSPOSED = 1    /* T */
};

/* Matrices of cublasSgemm are column-major, of `ld...` floats from column to column. */
struct fulcrum_cublas_call {
    int left_op;
    int right_op;
    int row_count;
    int col_count;
    int inner_count;
    const float *left;
    int left_stride;
    const float *right;
    int right_stride;
    float *out;
    int out_stride;
};

struct fulcrum_cuda_blas {
    void *library; /* NULL: there is none here */
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*get_version)(void *handle, int *version);
    int (*set_stream)(void *handle, void *stream);
    int (*set_math_mode)(void *handle, int mode);
    int (*sgemm)(void *handle, int left_op, int right_op, int row_count, int col_count,
        int inner_count, const float *alpha, const float *left, int left_stride,
        const float *right, int right_stride, const float *beta, float *out,
        int out_stride);
    int (*set_sm_count_target)(void *handle, int sm_count); /* CUDA 11.4; NULL before */
    const char *(*get_status_name)(int status);             /* CUDA 11.4; NULL before */
};

/*
 * Opens libcublas.so of CUDA 13, 12 or 11.
 *   out      set on success only; given back with fulcrum_cuda_blas_close
 *   fails    FULCRUM_ERR_UNSUPPORTED: it is not here, or a function is missing
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_cuda_blas_open(
    struct fulcrum_cuda_blas *out, struct fulcrum_error *err);

/* Accepts {0}. */
void fulcrum_cuda_blas_close(struct fulcrum_cuda_blas *blas);

/*
 * A handle for the context that is current, its products queued on `stream`, in
 * float32 throughout, and its choice of kernels made for `sm_count` SMs (0: for all).
 *   out      set on success only; given back with blas->destroy in the same context
 *   fails    FULCRUM_ERR_UNSUPPORTED
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_cuda_blas_handle(
    const struct fulcrum_cuda_blas *blas, void **out, void *stream, double sm_count,
    struct fulcrum_error *err);

/* What cuBLAS calls a status, or "cuBLAS status" where it cannot tell. Static. */
const char *fulcrum_cuda_blas_status_name(
    const struct fulcrum_cuda_blas *blas, int status);

struct fulcrum_device_product;

/*
 * How a product of row-major matrices is told to cuBLAS, which reads a row-major
 * matrix as the transposed column-major one: c' = op(b)' op(a)', sides exchanged.
 * Sizes are below 2^31.
 *   arena    the device's address of place 0
 */
struct fulcrum_cublas_call fulcrum_cublas_call_of(
    const struct fulcrum_device_product *product, float *arena);

#endif
