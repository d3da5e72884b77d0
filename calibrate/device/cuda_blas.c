/* cuda_blas.c - products of matrices by cuBLAS, where it is installed. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/device/cuda_api.h"

#include "calibrate/device/device.h"
#include "calibrate/shared_library.h"
#include "model/try.h"

#define OFFSET(member) offsetof(struct fulcrum_cuda_blas, member)

static const struct fulcrum_symbol symbols[] = {
    {"cublasCreate_v2", OFFSET(create), 0},
    {"cublasDestroy_v2", OFFSET(destroy), 0},
    {"cublasGetVersion_v2", OFFSET(get_version), 0},
    {"cublasSetStream_v2", OFFSET(set_stream), 0},
    {"cublasSetMathMode", OFFSET(set_math_mode), 0},
    {"cublasSgemm_v2", OFFSET(sgemm), 0},
    {"cublasSetSmCountTarget", OFFSET(set_sm_count_target), 1},
    {"cublasGetStatusName", OFFSET(get_status_name), 1},
};

/* Toolkits do not always tell the loader where they are. */
static const char *const library_names[] = {"libcublas.so.13", "libcublas.so.12",
    "libcublas.so.11", "/usr/local/cuda/lib64/libcublas.so.13",
    "/usr/local/cuda/lib64/libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so.11",
    NULL};

enum fulcrum_status fulcrum_cuda_blas_open(
    struct fulcrum_cuda_blas *out, struct fulcrum_error *err)
{
    struct fulcrum_cuda_blas blas = {0};
    enum fulcrum_status status = fulcrum_shared_library_open(
        &blas.library, FULCRUM_CUBLAS_LIBRARY_VARIABLE, library_names, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_shared_library_bind(
            blas.library, &blas, symbols, sizeof symbols / sizeof symbols[0], err);
    }
    if (status != FULCRUM_OK) {
        fulcrum_cuda_blas_close(&blas);
        return status;
    }
    *out = blas;
    return FULCRUM_OK;
}

void fulcrum_cuda_blas_close(struct fulcrum_cuda_blas *blas)
{
    fulcrum_shared_library_close(blas->library);
    *blas = (struct fulcrum_cuda_blas){0};
}

const char *fulcrum_cuda_blas_status_name(
    const struct fulcrum_cuda_blas *blas, int status)
{
    const char *name =
        blas->get_status_name != NULL ? blas->get_status_name(status) : NULL;
    return name != NULL ? name : "cuBLAS status";
}

/* Names the call that gave `status`. */
static enum fulcrum_status check(const struct fulcrum_cuda_blas *blas, int status,
    const char *what, struct fulcrum_error *err)
{
    return status == FULCRUM_CUBLAS_SUCCESS
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED, "cuda: %s: %s (%d)", what,
                     fulcrum_cuda_blas_status_name(blas, status), status);
}

enum fulcrum_status fulcrum_cuda_blas_handle(const struct fulcrum_cuda_blas *blas,
    void **out, void *stream, double sm_count, struct fulcrum_error *err)
{
    void *handle = NULL;
    TRY(check(blas, blas->create(&handle), "cublasCreate", err));
    enum fulcrum_status status =
        check(blas, blas->set_stream(handle, stream), "cublasSetStream", err);
    if (status == FULCRUM_OK) {
        status = check(blas, blas->set_math_mode(handle, FULCRUM_CUBLAS_DEFAULT_MATH),
            "cublasSetMathMode", err);
    }
    if (status == FULCRUM_OK && blas->set_sm_count_target != NULL) {
        status = check(blas, blas->set_sm_count_target(handle, (int)sm_count),
            "cublasSetSmCountTarget", err);
    }
    if (status != FULCRUM_OK) {
        (void)blas->destroy(handle);
        return status;
    }
    *out = handle;
    return FULCRUM_OK;
}

struct fulcrum_cublas_call fulcrum_cublas_call_of(
    const struct fulcrum_device_product *product, float *arena)
{
    int rows = (int)product->row_count;
    int cols = (int)product->col_count;
    int inner = (int)product->inner_count;
    /* Stored rows of a: rows x inner, or inner x rows where it is transposed. */
    return (struct fulcrum_cublas_call){
        .left_op = product->is_right_transposed ? FULCRUM_CUBLAS_TRANSPOSED
                                                : FULCRUM_CUBLAS_AS_IS,
        .right_op = product->is_left_transposed ? FULCRUM_CUBLAS_TRANSPOSED
                                                : FULCRUM_CUBLAS_AS_IS,
        .row_count = cols,
        .col_count = rows,
        .inner_count = inner,
        .left = arena + product->b,
        .left_stride = product->is_right_transposed ? inner : cols,
        .right = arena + product->a,
        .right_stride = product->is_left_transposed ? rows : inner,
        .out = arena + product->c,
        .out_stride = cols,
    };
}
