/* cuda_share.c - a GPU, and what runs on all of its SMs or on a part of them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/cuda_share.h"

#include <math.h>

#include "model/try.h"

/* How many SMs the driver makes of a part of at least `least`; 0: no such part. */
static enum fulcrum_status split(const struct fulcrum_cuda_gpu *gpu, unsigned least,
    struct fulcrum_cu_resource *out, struct fulcrum_error *err)
{
    const struct fulcrum_cuda_driver *driver = &gpu->driver;
    struct fulcrum_cu_resource whole = {0};
    struct fulcrum_cu_resource part = {0};
    unsigned count = 1;
    int result =
        driver->device_get_resource(gpu->device, &whole, FULCRUM_CU_RESOURCE_SM);
    TRY(fulcrum_cuda_check(driver, result, "cuDeviceGetDevResource", err));
    result = driver->split_by_count(&part, &count, &whole, NULL, 0, least);
    TRY(fulcrum_cuda_check(driver, result, "cuDevSmResourceSplitByCount", err));
    if ((count == 0 || part.part.sm.sm_count == 0)) {
        TRY(fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
            "cuda: the driver makes no part of %u SMs", least));
    }
    *out = part;
    return FULCRUM_OK;
}

void fulcrum_cuda_gpu_ask_parts(struct fulcrum_cuda_gpu *gpu)
{
    struct fulcrum_cu_resource least;
    struct fulcrum_cu_resource next;
    gpu->least_sm_count = gpu->sm_count;
    gpu->sm_step = gpu->sm_count;
    if (!fulcrum_cuda_can_divide(&gpu->driver) ||
        split(gpu, 1, &least, NULL) != FULCRUM_OK) {
        return;
    }
    gpu->least_sm_count = (double)least.part.sm.sm_count;
    if (split(gpu, least.part.sm.sm_count + 1, &next, NULL) == FULCRUM_OK &&
        next.part.sm.sm_count > least.part.sm.sm_count) {
        gpu->sm_step = (double)(next.part.sm.sm_count - least.part.sm.sm_count);
    }
}

/* A green context of about `sm_count` SMs with a stream of its own. */
static enum fulcrum_status open_green(struct fulcrum_cuda_share *share,
    const struct fulcrum_cuda_gpu *gpu, double sm_count, struct fulcrum_error *err)
{
    const struct fulcrum_cuda_driver *driver = &gpu->driver;
    struct fulcrum_cu_resource part;
    void *description = NULL;
    TRY(split(gpu, (unsigned)sm_count, &part, err));
    share->sm_count = (double)part.part.sm.sm_count;
    TRY(fulcrum_cuda_check(driver, driver->resource_describe(&description, &part, 1),
        "cuDevResourceGenerateDesc", err));
    TRY(fulcrum_cuda_check(driver,
        driver->green_create(
            &share->green, description, gpu->device, FULCRUM_CU_GREEN_DEFAULT_STREAM),
        "cuGreenCtxCreate", err));
    TRY(fulcrum_cuda_check(driver, driver->green_context(&share->context, share->green),
        "cuCtxFromGreenCtx", err));
    return fulcrum_cuda_check(driver,
        driver->green_stream_create(
            &share->stream, share->green, FULCRUM_CU_STREAM_NON_BLOCKING, 0),
        "cuGreenCtxStreamCreate", err);
}

static enum fulcrum_status open_whole(struct fulcrum_cuda_share *share,
    const struct fulcrum_cuda_gpu *gpu, struct fulcrum_error *err)
{
    const struct fulcrum_cuda_driver *driver = &gpu->driver;
    share->context = gpu->context;
    share->sm_count = gpu->sm_count;
    TRY(fulcrum_cuda_check(
        driver, driver->context_set_current(gpu->context), "cuCtxSetCurrent", err));
    return fulcrum_cuda_check(driver,
        driver->stream_create(&share->stream, FULCRUM_CU_STREAM_NON_BLOCKING),
        "cuStreamCreate", err);
}

/* Events and the handle of cuBLAS belong to the context that is current. */
static enum fulcrum_status furnish(struct fulcrum_cuda_share *share,
    const struct fulcrum_cuda_gpu *gpu, struct fulcrum_error *err)
{
    const struct fulcrum_cuda_driver *driver = &gpu->driver;
    TRY(fulcrum_cuda_check(
        driver, driver->context_set_current(share->context), "cuCtxSetCurrent", err));
    for (size_t i = 0; i < 2; i++) {
        TRY(fulcrum_cuda_check(
            driver, driver->event_create(&share->mark[i], 0), "cuEventCreate", err));
    }
    if (gpu->blas.library != NULL) {
        double target = share->green != NULL ? share->sm_count : 0.0;
        TRY(fulcrum_cuda_blas_handle(
            &gpu->blas, &share->blas, share->stream, target, err));
    }
    return FULCRUM_OK;
}

/* All SMs where that is asked for, or where a part would be rounded up beyond them. */
static int takes_all(const struct fulcrum_cuda_gpu *gpu, double sm_count)
{
    double steps = ceil((sm_count - gpu->least_sm_count) / gpu->sm_step);
    double rounded = gpu->least_sm_count + fmax(steps, 0.0) * gpu->sm_step;
    return !(sm_count > 0.0) || rounded >= gpu->sm_count;
}

static enum fulcrum_status check_count(
    const struct fulcrum_cuda_gpu *gpu, double sm_count, struct fulcrum_error *err)
{
    if (!(sm_count >= 0.0 && sm_count <= gpu->sm_count)) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "sm_count = %g is outside [0, %g], the SMs of this GPU", sm_count,
            gpu->sm_count);
    }
    int is_part = sm_count > 0.0 && sm_count < gpu->sm_count;
    if (is_part && !fulcrum_cuda_can_divide(&gpu->driver)) {
        return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
            "cuda: this driver (CUDA %d.%d) cannot divide the GPU (needs CUDA 12.4, "
            "driver 550 or newer)",
            gpu->driver.version / 1000, gpu->driver.version % 1000 / 10);
    }
    return is_part && gpu->least_sm_count >= gpu->sm_count
               ? fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
                     "cuda: the driver makes no part of the %g SMs of this GPU",
                     gpu->sm_count)
               : FULCRUM_OK;
}

enum fulcrum_status fulcrum_cuda_share_open(struct fulcrum_cuda_share *out,
    const struct fulcrum_cuda_gpu *gpu, double sm_count, struct fulcrum_error *err)
{
    struct fulcrum_cuda_share share = {0};
    enum fulcrum_status status = check_count(gpu, sm_count, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    status = takes_all(gpu, sm_count) ? open_whole(&share, gpu, err)
                                      : open_green(&share, gpu, ceil(sm_count), err);
    if (status == FULCRUM_OK) {
        status = furnish(&share, gpu, err);
    }
    if (status != FULCRUM_OK) {
        fulcrum_cuda_share_close(gpu, &share);
        return status;
    }
    *out = share;
    return FULCRUM_OK;
}

/* Results are not looked at: what a context that failed answers says nothing new. */
void fulcrum_cuda_share_close(
    const struct fulcrum_cuda_gpu *gpu, struct fulcrum_cuda_share *share)
{
    const struct fulcrum_cuda_driver *driver = &gpu->driver;
    if (share->context != NULL) {
        (void)driver->context_set_current(share->context);
    }
    if (share->blas != NULL) {
        (void)gpu->blas.destroy(share->blas);
    }
    for (size_t i = 0; i < 2; i++) {
        if (share->mark[i] != NULL) {
            (void)driver->event_destroy(share->mark[i]);
        }
    }
    if (share->stream != NULL) {
        (void)driver->stream_destroy(share->stream);
    }
    if (share->green != NULL) {
        /* A context is not destroyed while it is the current one. */
        (void)driver->context_set_current(gpu->context);
        (void)driver->green_destroy(share->green);
    }
    *share = (struct fulcrum_cuda_share){0};
}
