/* cuda_api.h - the parts of CUDA and cuBLAS that are used, loaded at run time. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_DEVICE_CUDA_API_H
#define FULCRUM_CALIBRATE_DEVICE_CUDA_API_H

#include <stdbool.h>
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

/* X(member, name in the library, 1: NULL where the driver is too old, parameters) */
/* clang-format off */
#define FULCRUM_CUDA_CALLS(X) \
    X(get_error_name, "cuGetErrorName", 0, (int result, const char **name)) \
    X(init, "cuInit", 0, (unsigned flags)) \
    X(driver_get_version, "cuDriverGetVersion", 0, (int *version)) \
    X(device_get_count, "cuDeviceGetCount", 0, (int *count)) \
    X(device_get, "cuDeviceGet", 0, (int *device, int ordinal)) \
    X(device_get_name, "cuDeviceGetName", 0, (char *name, int size, int device)) \
    X(device_get_uuid, "cuDeviceGetUuid", 1, (unsigned char uuid[16], int device)) \
    X(device_total_mem, "cuDeviceTotalMem_v2", 0, (size_t *byte, int device)) \
    X(device_get_attribute, "cuDeviceGetAttribute", 0, (int *value, int attribute, int device)) \
    X(primary_retain, "cuDevicePrimaryCtxRetain", 0, (void **context, int device)) \
    X(primary_release, "cuDevicePrimaryCtxRelease_v2", 0, (int device)) \
    X(context_set_current, "cuCtxSetCurrent", 0, (void *context)) \
    X(mem_alloc, "cuMemAlloc_v2", 0, (fulcrum_cu_address *address, size_t byte)) \
    X(mem_free, "cuMemFree_v2", 0, (fulcrum_cu_address address)) \
    X(mem_host_alloc, "cuMemHostAlloc", 0, (void **memory, size_t byte, unsigned flags)) \
    X(mem_host_free, "cuMemFreeHost", 0, (void *memory)) \
    X(memset_d32, "cuMemsetD32Async", 0, \
        (fulcrum_cu_address to, unsigned value, size_t count, void *stream)) \
    X(copy_to_device, "cuMemcpyHtoDAsync_v2", 0, \
        (fulcrum_cu_address to, const void *from, size_t byte, void *stream)) \
    X(copy_to_host, "cuMemcpyDtoHAsync_v2", 0, \
        (void *to, fulcrum_cu_address from, size_t byte, void *stream)) \
    X(stream_create, "cuStreamCreate", 0, (void **stream, unsigned flags)) \
    X(stream_synchronize, "cuStreamSynchronize", 0, (void *stream)) \
    X(stream_destroy, "cuStreamDestroy_v2", 0, (void *stream)) \
    X(event_create, "cuEventCreate", 0, (void **event, unsigned flags)) \
    X(event_record, "cuEventRecord", 0, (void *event, void *stream)) \
    X(event_elapsed_time, "cuEventElapsedTime", 0, (float *elapsed_ms, void *begin, void *end)) \
    X(event_destroy, "cuEventDestroy_v2", 0, (void *event)) \
    X(module_load, "cuModuleLoadDataEx", 0, \
        (void **module, const void *image, unsigned option_count, int *options, void **values)) \
    X(module_get_function, "cuModuleGetFunction", 0, \
        (void **function, void *module, const char *name)) \
    X(module_unload, "cuModuleUnload", 0, (void *module)) \
    X(launch_kernel, "cuLaunchKernel", 0, \
        (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
         unsigned block_y, unsigned block_z, unsigned shared_byte, void *stream, \
         void **parameters, void **extra)) \
    /* Kernels that belong to no context: CUDA 12.0. */ \
    X(library_load, "cuLibraryLoadData", 1, \
        (void **library, const void *code, int *jit_options, void **jit_values, \
         unsigned jit_count, int *options, void **values, unsigned count)) \
    X(library_get_kernel, "cuLibraryGetKernel", 1, \
        (void **kernel, void *library, const char *name)) \
    X(library_unload, "cuLibraryUnload", 1, (void *library)) \
    /* Parts of a GPU: CUDA 12.4. */ \
    X(device_get_resource, "cuDeviceGetDevResource", 1, \
        (int device, struct fulcrum_cu_resource *resource, int kind)) \
    X(split_by_count, "cuDevSmResourceSplitByCount", 1, \
        (struct fulcrum_cu_resource *parts, unsigned *part_count, \
         const struct fulcrum_cu_resource *whole, struct fulcrum_cu_resource *rest, \
         unsigned flags, unsigned least_sm_count)) \
    X(resource_describe, "cuDevResourceGenerateDesc", 1, \
        (void **description, struct fulcrum_cu_resource *parts, unsigned part_count)) \
    X(green_create, "cuGreenCtxCreate", 1, \
        (void **green, void *description, int device, unsigned flags)) \
    X(green_destroy, "cuGreenCtxDestroy", 1, (void *green)) \
    X(green_context, "cuCtxFromGreenCtx", 1, (void **context, void *green)) \
    X(green_stream_create, "cuGreenCtxStreamCreate", 1, \
        (void **stream, void *green, unsigned flags, int priority))
/* clang-format on */

struct fulcrum_cuda_driver {
    void *library;
    int version; /* of CUDA: 1000 x major + 10 x minor */
/* NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define X(member, symbol, is_optional, parameters) int(*member) parameters;
    FULCRUM_CUDA_CALLS(X)
#undef X
};

/*
 * Finds the driver and starts it.
 *   out      given back with fulcrum_cuda_driver_close; set on success only
 *   fails    FULCRUM_ERR_UNSUPPORTED: no driver, one too old or without a GPU, in one
 *            line that says which
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_cuda_driver_open(
    struct fulcrum_cuda_driver *out, struct fulcrum_error *err);

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

/* clang-format off */
#define FULCRUM_CUBLAS_CALLS(X) \
    X(int, create, "cublasCreate_v2", 0, (void **handle)) \
    X(int, destroy, "cublasDestroy_v2", 0, (void *handle)) \
    X(int, get_version, "cublasGetVersion_v2", 0, (void *handle, int *version)) \
    X(int, set_stream, "cublasSetStream_v2", 0, (void *handle, void *stream)) \
    X(int, set_math_mode, "cublasSetMathMode", 0, (void *handle, int mode)) \
    X(int, sgemm, "cublasSgemm_v2", 0, \
        (void *handle, int left_op, int right_op, int row_count, int col_count, \
         int inner_count, const float *alpha, const float *left, int left_stride, \
         const float *right, int right_stride, const float *beta, float *out, int out_stride)) \
    /* CUDA 11.4. */ \
    X(int, set_sm_count_target, "cublasSetSmCountTarget", 1, (void *handle, int sm_count)) \
    X(const char *, get_status_name, "cublasGetStatusName", 1, (int status))
/* clang-format on */

struct fulcrum_cuda_blas {
    void *library; /* NULL: there is none here */
/* NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define X(result, member, symbol, is_optional, parameters) result(*member) parameters;
    FULCRUM_CUBLAS_CALLS(X)
#undef X
};

/*
 * Opens libcublas.so of CUDA 13, 12 or 11.
 *   out      set on success only; given back with fulcrum_cuda_blas_close
 *   fails    FULCRUM_ERR_UNSUPPORTED: it is not here, or a function is missing
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_cuda_blas_open(
    struct fulcrum_cuda_blas *out, struct fulcrum_error *err);

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
