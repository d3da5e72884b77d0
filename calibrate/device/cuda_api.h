/* cuda_api.h - the parts of CUDA and cuBLAS that are used, loaded at run time. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_DEVICE_CUDA_API_H
#define FULCRUM_CALIBRATE_DEVICE_CUDA_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/status.h"

/* The CUDA driver's functions, found at run time. */

/*
 * Names a driver library in an unusual place, such as a container's. Which GPUs it
 * shows is the driver's own affair (CUDA_VISIBLE_DEVICES).
 */
#define FULCRUM_CUDA_LIBRARY_VARIABLE "FULCRUM_CUDA_LIBRARY"

/*
 * What the driver's interface (cuda.h, 11 to 13) lays down and is used here. Handles
 * are pointers to things that only the driver knows, results are numbers of an
 * enumeration of which 0 is success.
 */
enum {
    FULCRUM_CU_SUCCESS = 0,
    FULCRUM_CU_OUT_OF_MEMORY = 2,
    FULCRUM_CU_CLOCK_RATE = 13,        /* device attributes: kHz */
    FULCRUM_CU_SM_COUNT = 16,          /* streaming multiprocessors */
    FULCRUM_CU_MEMORY_CLOCK_RATE = 36, /* kHz; two transfers a cycle */
    FULCRUM_CU_MEMORY_BUS_WIDTH = 37,  /* bits */
    FULCRUM_CU_CAPABILITY_MAJOR = 75,  /* compute capability */
    FULCRUM_CU_CAPABILITY_MINOR = 76,
    FULCRUM_CU_STREAM_NON_BLOCKING = 1, /* no waiting for the default stream */
    FULCRUM_CU_JIT_ERROR_LOG = 5,       /* what the compiler of kernels says */
    FULCRUM_CU_JIT_ERROR_LOG_BYTE = 6,
    FULCRUM_CU_GREEN_DEFAULT_STREAM = 1, /* demanded by drivers before CUDA 13 */
    FULCRUM_CU_RESOURCE_SM = 1
};

/*
 * One part of a GPU. Output of the driver only, and handed back to it as it is; its
 * size and places have been the same since green contexts came (CUDA 12.4).
 */
struct fulcrum_cu_resource {
    int kind; /* FULCRUM_CU_RESOURCE_SM */
    unsigned char internal[92];
    union {
        struct {
            unsigned sm_count;
            unsigned least_sm_count; /* of a part; 0 before CUDA 13 */
            unsigned sm_step;        /* parts are multiples of it; 0 before CUDA 13 */
        } sm;
        unsigned char room[40];
    } part;
    void *next;
};

/* Memory on the device: an address there, whatever the pointers of this program are. */
typedef uint64_t fulcrum_cu_address;

struct fulcrum_cuda_driver {
    void *library;
    int version; /* of CUDA: 1000 x major + 10 x minor */
    int (*get_error_name)(int result, const char **name);
    int (*init)(unsigned flags);
    int (*driver_get_version)(int *version);
    int (*device_get_count)(int *count);
    int (*device_get)(int *device, int ordinal);
    int (*device_get_name)(char *name, int size, int device);
    int (*device_get_uuid)(unsigned char uuid[16], int device); /* NULL: too old */
    int (*device_total_mem)(size_t *byte, int device);
    int (*device_get_attribute)(int *value, int attribute, int device);
    int (*primary_retain)(void **context, int device);
    int (*primary_release)(int device);
    int (*context_set_current)(void *context);
    int (*mem_alloc)(fulcrum_cu_address *address, size_t byte);
    int (*mem_free)(fulcrum_cu_address address);
    int (*mem_host_alloc)(void **memory, size_t byte, unsigned flags);
    int (*mem_host_free)(void *memory);
    int (*memset_d32)(
        fulcrum_cu_address to, unsigned value, size_t count, void *stream);
    int (*copy_to_device)(
        fulcrum_cu_address to, const void *from, size_t byte, void *stream);
    int (*copy_to_host)(void *to, fulcrum_cu_address from, size_t byte, void *stream);
    int (*stream_create)(void **stream, unsigned flags);
    int (*stream_synchronize)(void *stream);
    int (*stream_destroy)(void *stream);
    int (*event_create)(void **event, unsigned flags);
    int (*event_record)(void *event, void *stream);
    int (*event_elapsed_time)(float *elapsed_ms, void *begin, void *end);
    int (*event_destroy)(void *event);
    int (*module_load)(void **module, const void *image, unsigned option_count,
        int *options, void **values);
    int (*module_get_function)(void **function, void *module, const char *name);
    int (*module_unload)(void *module);
    int (*launch_kernel)(void *function, unsigned grid_x, unsigned grid_y,
        unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
        unsigned shared_byte, void *stream, void **parameters, void **extra);
    /* Kernels that belong to no context: CUDA 12.0; NULL before. */
    int (*library_load)(void **library, const void *code, int *jit_options,
        void **jit_values, unsigned jit_count, int *options, void **values,
        unsigned count);
    int (*library_get_kernel)(void **kernel, void *library, const char *name);
    int (*library_unload)(void *library);
    /* Parts of a GPU: CUDA 12.4; NULL before. */
    int (*device_get_resource)(
        int device, struct fulcrum_cu_resource *resource, int kind);
    int (*split_by_count)(struct fulcrum_cu_resource *parts, unsigned *part_count,
        const struct fulcrum_cu_resource *whole, struct fulcrum_cu_resource *rest,
        unsigned flags, unsigned least_sm_count);
    int (*resource_describe)(
        void **description, struct fulcrum_cu_resource *parts, unsigned part_count);
    int (*green_create)(void **green, void *description, int device, unsigned flags);
    int (*green_destroy)(void *green);
    int (*green_context)(void **context, void *green);
    int (*green_stream_create)(
        void **stream, void *green, unsigned flags, int priority);
};

/*
 * Finds the driver and starts it.
 *   out      given back with fulcrum_cuda_driver_close; set on success only
 *   fails    FULCRUM_ERR_UNSUPPORTED: no driver, one too old or without a GPU, in one
 *            line that says which
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_cuda_driver_open(
    struct fulcrum_cuda_driver *out, struct fulcrum_error *err);

/* Accepts {0}. */
void fulcrum_cuda_driver_close(struct fulcrum_cuda_driver *driver);

/* The driver's name of a result, such as "CUDA_ERROR_NO_DEVICE". Static. */
const char *fulcrum_cuda_error_name(
    const struct fulcrum_cuda_driver *driver, int result);

/*
 * FULCRUM_OK where `result` is success. `what` is the call that gave it.
 *   fails    FULCRUM_ERR_NO_MEMORY where the device has no memory left, else
 *            FULCRUM_ERR_UNSUPPORTED
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_cuda_check(
    const struct fulcrum_cuda_driver *driver, int result, const char *what,
    struct fulcrum_error *err);

/* 1 where the driver can run kernels on a part of the SMs. */
bool fulcrum_cuda_can_divide(const struct fulcrum_cuda_driver *driver);

/* Products of matrices by cuBLAS, where it is installed. */

/* Names a library in an unusual place, such as that of a Python package. */
#define FULCRUM_CUBLAS_LIBRARY_VARIABLE "FULCRUM_CUBLAS_LIBRARY"

enum {
    FULCRUM_CUBLAS_SUCCESS = 0,
    FULCRUM_CUBLAS_DEFAULT_MATH = 0, /* float32 products in float32: no TF32 */
    FULCRUM_CUBLAS_AS_IS = 0,        /* cublasOperation_t: N */
    FULCRUM_CUBLAS_TRANSPOSED = 1    /* T */
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

#endif
