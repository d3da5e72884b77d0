/* cuda_api.c - the parts of CUDA and cuBLAS that are used, loaded at run time. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/device/cuda_api.h"

#include "calibrate/shared_library.h"
#include "model/try.h"

/*
 * One program runs with and without a GPU, and is built without NVIDIA's headers: the
 * functions used are listed in cuda_api.h and looked up by name. A name with a
 * version (_v2) is the one that cuda.h gives a call since CUDA 4; those that got a
 * later version still (cuEventElapsedTime) are used in the one that every driver has.
 */

static const struct fulcrum_symbol symbols[] = {
#define X(member, symbol, is_optional, parameters)                                     \
    {symbol, offsetof(struct fulcrum_cuda_driver, member), is_optional},
    FULCRUM_CUDA_CALLS(X)
#undef X
};

static const char *const library_names[] = {"libcuda.so.1", "libcuda.so", NULL};

const char *fulcrum_cuda_error_name(
    const struct fulcrum_cuda_driver *driver, int result)
{
    const char *name = NULL;
    int told = driver->get_error_name(result, &name);
    return told == FULCRUM_CU_SUCCESS && name != NULL ? name
                                                      : "a result without a name";
}

enum fulcrum_status fulcrum_cuda_check(const struct fulcrum_cuda_driver *driver,
    int result, const char *what, struct fulcrum_error *err)
{
    if (result == FULCRUM_CU_SUCCESS) {
        return FULCRUM_OK;
    }
    return fulcrum_fail(err,
        result == FULCRUM_CU_OUT_OF_MEMORY ? FULCRUM_ERR_NO_MEMORY
                                           : FULCRUM_ERR_UNSUPPORTED,
        "cuda: %s: %s (%d)", what, fulcrum_cuda_error_name(driver, result), result);
}

bool fulcrum_cuda_can_divide(const struct fulcrum_cuda_driver *driver)
{
    return driver->device_get_resource != NULL && driver->split_by_count != NULL &&
           driver->resource_describe != NULL && driver->green_create != NULL &&
           driver->green_destroy != NULL && driver->green_context != NULL &&
           driver->green_stream_create != NULL;
}

/* Stubs that come with toolkits load like a driver; they fail here. */
static enum fulcrum_status start(
    struct fulcrum_cuda_driver *driver, struct fulcrum_error *err)
{
    int result = driver->init(0);
    FAIL_IF(result != FULCRUM_CU_SUCCESS, err, FULCRUM_ERR_UNSUPPORTED,
        "cuda: the driver does not start: %s (%d); --learner cpu runs on the CPU",
        fulcrum_cuda_error_name(driver, result), result);
    int count = 0;
    result = driver->device_get_count(&count);
    FAIL_IF(result == FULCRUM_CU_SUCCESS && count == 0, err, FULCRUM_ERR_UNSUPPORTED,
        "cuda: the driver shows no GPU (CUDA_VISIBLE_DEVICES?); --learner cpu runs "
        "on the CPU");
    TRY(fulcrum_cuda_check(driver, result, "cuDeviceGetCount", err));
    return fulcrum_cuda_check(driver, driver->driver_get_version(&driver->version),
        "cuDriverGetVersion", err);
}

enum fulcrum_status fulcrum_cuda_driver_open(
    struct fulcrum_cuda_driver *out, struct fulcrum_error *err)
{
    struct fulcrum_cuda_driver driver = {0};
    struct fulcrum_error why = {FULCRUM_OK, ""};
    enum fulcrum_status status = fulcrum_shared_library_open(
        &driver.library, FULCRUM_CUDA_LIBRARY_VARIABLE, library_names, &why);
    FAIL_IF(status != FULCRUM_OK, err, status,
        "cuda: %s: no NVIDIA driver here; --learner cpu runs on the CPU", why.detail);
    status = fulcrum_shared_library_bind(
        driver.library, &driver, symbols, sizeof symbols / sizeof symbols[0], &why);
    status = status == FULCRUM_OK
                 ? start(&driver, err)
                 : fulcrum_fail(err, status,
                       "cuda: the NVIDIA driver here is too old or none: %s; "
                       "--learner cpu runs on the CPU",
                       why.detail);
    if (status != FULCRUM_OK) {
        fulcrum_cuda_driver_close(&driver);
        return status;
    }
    *out = driver;
    return FULCRUM_OK;
}

void fulcrum_cuda_driver_close(struct fulcrum_cuda_driver *driver)
{
    fulcrum_shared_library_close(driver->library);
    *driver = (struct fulcrum_cuda_driver){0};
}

/* Products of matrices by cuBLAS, where it is installed. */

static const struct fulcrum_symbol blas_symbols[] = {
#define X(result, member, symbol, is_optional, parameters)                             \
    {symbol, offsetof(struct fulcrum_cuda_blas, member), is_optional},
    FULCRUM_CUBLAS_CALLS(X)
#undef X
};

/* Toolkits do not always tell the loader where they are. */
static const char *const blas_names[] = {"libcublas.so.13", "libcublas.so.12",
    "libcublas.so.11", "/usr/local/cuda/lib64/libcublas.so.13",
    "/usr/local/cuda/lib64/libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so.11",
    NULL};

enum fulcrum_status fulcrum_cuda_blas_open(
    struct fulcrum_cuda_blas *out, struct fulcrum_error *err)
{
    struct fulcrum_cuda_blas blas = {0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_shared_library_open(
        &blas.library, FULCRUM_CUBLAS_LIBRARY_VARIABLE, blas_names, err));
    TRY_OR_END(fulcrum_shared_library_bind(blas.library, &blas, blas_symbols,
        sizeof blas_symbols / sizeof blas_symbols[0], err));
    *out = blas;
end:
    if (status != FULCRUM_OK) {
        fulcrum_cuda_blas_close(&blas);
    }
    return status;
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
static enum fulcrum_status check_blas(const struct fulcrum_cuda_blas *blas, int status,
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
    enum fulcrum_status status = FULCRUM_OK;
    TRY(check_blas(blas, blas->create(&handle), "cublasCreate", err));
    TRY_OR_END(
        check_blas(blas, blas->set_stream(handle, stream), "cublasSetStream", err));
    TRY_OR_END(
        check_blas(blas, blas->set_math_mode(handle, FULCRUM_CUBLAS_DEFAULT_MATH),
            "cublasSetMathMode", err));
    if (blas->set_sm_count_target != NULL) {
        TRY_OR_END(check_blas(blas, blas->set_sm_count_target(handle, (int)sm_count),
            "cublasSetSmCountTarget", err));
    }
    *out = handle;
end:
    if (status != FULCRUM_OK) {
        (void)blas->destroy(handle);
    }
    return status;
}
