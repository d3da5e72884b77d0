/* device_cuda.c - NVIDIA GPUs through the driver, with cuBLAS where there is one. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory and kernels belong to the GPU, queue and products to a share of it: all SMs,
 * or a green context of some of them. A grant waits for what is under way and replaces
 * the share. What calls return that only queue is kept, and finish tells the first.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/device/compute.h"
#include "calibrate/device/cuda_api.h"
#include "calibrate/fulcrum_network_ptx.h"
#include "model/try.h"

enum { FULCRUM_CUDA_LOG_BYTE = 1024 };

/* Stays where it is while open: the driver may write to the log later. */
struct fulcrum_cuda_kernels {
    void *library; /* CUDA 12.0: kernels of no context, which any share may launch */
    void *module;  /* before: those of the primary context */
    void *function[FULCRUM_KERNEL_COUNT];
    char log[FULCRUM_CUDA_LOG_BYTE]; /* of the driver's compiler */
};

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
 * kernels/network.ptx is text of a version and for a processor that every driver since
 * CUDA 9 and every GPU since Pascal accepts; kernels/make_ptx.sh makes it from
 * network.cl. The driver compiles it for the GPU at hand and keeps the result in its
 * cache on disk. No compiler of NVIDIA's is needed, here or where the program is built.
 */

static int load(
    struct fulcrum_cuda_kernels *kernels, const struct fulcrum_cuda_driver *driver)
{
    int options[] = {FULCRUM_CU_JIT_ERROR_LOG, FULCRUM_CU_JIT_ERROR_LOG_BYTE};
    /* The driver takes a size in the place of a pointer. */
    /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
    void *values[] = {kernels->log, (void *)(uintptr_t)(sizeof kernels->log - 1)};
    return driver->library_load != NULL
               ? driver->library_load(&kernels->library, fulcrum_network_ptx, options,
                     values, 2, NULL, NULL, 0)
               : driver->module_load(
                     &kernels->module, fulcrum_network_ptx, 2, options, values);
}

/* The first line of the log, if there is one, says more than the result. */
static enum fulcrum_status refuse(const struct fulcrum_cuda_kernels *kernels,
    const struct fulcrum_cuda_driver *driver, int result, struct fulcrum_error *err)
{
    int length = (int)strcspn(kernels->log, "\n");
    return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
        "cuda: the driver does not compile the kernels: %s (%d)%s%.*s",
        fulcrum_cuda_error_name(driver, result), result, length > 0 ? ": " : "", length,
        kernels->log);
}

static enum fulcrum_status find_all(struct fulcrum_cuda_kernels *kernels,
    const struct fulcrum_cuda_driver *driver, struct fulcrum_error *err)
{
    for (size_t i = 0; i < FULCRUM_KERNEL_COUNT; i++) {
        const char *name = fulcrum_kernel_name((enum fulcrum_kernel)i);
        int result = kernels->library != NULL
                         ? driver->library_get_kernel(
                               &kernels->function[i], kernels->library, name)
                         : driver->module_get_function(
                               &kernels->function[i], kernels->module, name);
        if (result != FULCRUM_CU_SUCCESS) {
            return refuse(kernels, driver, result, err);
        }
    }
    return FULCRUM_OK;
}

/* Returns the failure of a call of `driver`, which has that name. */
#define TRY_CUDA(call, name) TRY(fulcrum_cuda_check(driver, driver->call, name, err))

/* How many SMs the driver makes of a part of at least `least`; 0: no such part. */
static enum fulcrum_status split(const struct fulcrum_cuda_gpu *gpu, unsigned least,
    struct fulcrum_cu_resource *out, struct fulcrum_error *err)
{
    const struct fulcrum_cuda_driver *driver = &gpu->driver;
    struct fulcrum_cu_resource whole = {0};
    struct fulcrum_cu_resource part = {0};
    unsigned count = 1;
    TRY_CUDA(device_get_resource(gpu->device, &whole, FULCRUM_CU_RESOURCE_SM),
        "cuDeviceGetDevResource");
    TRY_CUDA(split_by_count(&part, &count, &whole, NULL, 0, least),
        "cuDevSmResourceSplitByCount");
    FAIL_IF(count == 0 || part.part.sm.sm_count == 0, err, FULCRUM_ERR_UNSUPPORTED,
        "cuda: the driver makes no part of %u SMs", least);
    *out = part;
    return FULCRUM_OK;
}

/*
 * Finds out into which parts the GPU can be divided, by asking for the smallest and
 * for one SM more. Where it cannot, all its SMs are the one part.
 */
static void cuda_gpu_ask_parts(struct fulcrum_cuda_gpu *gpu)
{
    struct fulcrum_cu_resource least = {0};
    struct fulcrum_cu_resource next = {0};
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

static enum fulcrum_status open_green(struct fulcrum_cuda_share *share,
    const struct fulcrum_cuda_gpu *gpu, double sm_count, struct fulcrum_error *err)
{
    const struct fulcrum_cuda_driver *driver = &gpu->driver;
    struct fulcrum_cu_resource part = {0};
    void *description = NULL;
    TRY(split(gpu, (unsigned)sm_count, &part, err));
    share->sm_count = (double)part.part.sm.sm_count;
    TRY_CUDA(resource_describe(&description, &part, 1), "cuDevResourceGenerateDesc");
    TRY_CUDA(green_create(&share->green, description, gpu->device,
                 FULCRUM_CU_GREEN_DEFAULT_STREAM),
        "cuGreenCtxCreate");
    TRY_CUDA(green_context(&share->context, share->green), "cuCtxFromGreenCtx");
    TRY_CUDA(green_stream_create(
                 &share->stream, share->green, FULCRUM_CU_STREAM_NON_BLOCKING, 0),
        "cuGreenCtxStreamCreate");
    return FULCRUM_OK;
}

static enum fulcrum_status open_whole(struct fulcrum_cuda_share *share,
    const struct fulcrum_cuda_gpu *gpu, struct fulcrum_error *err)
{
    const struct fulcrum_cuda_driver *driver = &gpu->driver;
    share->context = gpu->context;
    share->sm_count = gpu->sm_count;
    TRY_CUDA(context_set_current(gpu->context), "cuCtxSetCurrent");
    TRY_CUDA(stream_create(&share->stream, FULCRUM_CU_STREAM_NON_BLOCKING),
        "cuStreamCreate");
    return FULCRUM_OK;
}

/* Events and the handle of cuBLAS belong to the context that is current. */
static enum fulcrum_status furnish(struct fulcrum_cuda_share *share,
    const struct fulcrum_cuda_gpu *gpu, struct fulcrum_error *err)
{
    const struct fulcrum_cuda_driver *driver = &gpu->driver;
    TRY_CUDA(context_set_current(share->context), "cuCtxSetCurrent");
    for (size_t i = 0; i < 2; i++) {
        TRY_CUDA(event_create(&share->mark[i], 0), "cuEventCreate");
    }
    if (gpu->blas.library != NULL) {
        double target = share->green != NULL ? share->sm_count : 0.0;
        TRY(fulcrum_cuda_blas_handle(
            &gpu->blas, &share->blas, share->stream, target, err));
    }
    return FULCRUM_OK;
}

/* Results are not looked at: what a context that failed answers says nothing new. */
static void cuda_share_close(
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

/*
 * A share of about `sm_count` SMs (0: all), rounded up as the driver does it; its
 * context is left current. A count beyond the largest part gives all SMs.
 *   out      set on success only; given back with cuda_share_close
 *   fails    FULCRUM_ERR_RANGE (more than all), FULCRUM_ERR_UNSUPPORTED (this driver
 *            cannot divide the GPU, or refuses), FULCRUM_ERR_NO_MEMORY
 */
static enum fulcrum_status cuda_share_open(struct fulcrum_cuda_share *out,
    const struct fulcrum_cuda_gpu *gpu, double sm_count, struct fulcrum_error *err)
{
    struct fulcrum_cuda_share share = {0};
    enum fulcrum_status status = FULCRUM_OK;
    FAIL_IF(!(sm_count >= 0.0 && sm_count <= gpu->sm_count), err, FULCRUM_ERR_RANGE,
        "sm_count = %g is outside [0, %g], the SMs of this GPU", sm_count,
        gpu->sm_count);
    bool is_part = sm_count > 0.0 && sm_count < gpu->sm_count;
    FAIL_IF(is_part && !fulcrum_cuda_can_divide(&gpu->driver), err,
        FULCRUM_ERR_UNSUPPORTED,
        "cuda: this driver (CUDA %d.%d) cannot divide the GPU (needs CUDA 12.4, "
        "driver 550 or newer)",
        gpu->driver.version / 1000, gpu->driver.version % 1000 / 10);
    FAIL_IF(is_part && gpu->least_sm_count >= gpu->sm_count, err,
        FULCRUM_ERR_UNSUPPORTED,
        "cuda: the driver makes no part of the %g SMs of this GPU", gpu->sm_count);
    /* All SMs where that is asked for, or where a part would be rounded up to them. */
    double steps = ceil((sm_count - gpu->least_sm_count) / gpu->sm_step);
    double rounded = gpu->least_sm_count + fmax(steps, 0.0) * gpu->sm_step;
    TRY_OR_END(!(sm_count > 0.0) || rounded >= gpu->sm_count
                   ? open_whole(&share, gpu, err)
                   : open_green(&share, gpu, ceil(sm_count), err));
    TRY_OR_END(furnish(&share, gpu, err));
    *out = share;
end:
    if (status != FULCRUM_OK) {
        cuda_share_close(gpu, &share);
    }
    return status;
}

/* Pinned memory that uploads go through: the largest inference batch and more. */
#define STAGING_BYTE ((size_t)8 << 20)

#define KILO 1e3

/* Work items of a block: what multiply_tile is written for, and usual for the rest. */
#define BLOCK_ITEMS FULCRUM_TILE_ITEMS

struct fulcrum_device_state {
    struct fulcrum_cuda_gpu gpu;
    struct fulcrum_cuda_share share;
    struct fulcrum_cuda_kernels kernels;
    fulcrum_cu_address arena;
    unsigned char *staging;
    size_t staged_byte; /* copies out of the bytes before it may be under way */
    struct fulcrum_error failure; /* the first since the last finish */
};

/* 1 where nothing has failed so far and the share's context could be made current. */
static bool is_ready(struct fulcrum_device_state *state)
{
    const struct fulcrum_cuda_driver *driver = &state->gpu.driver;
    return state->failure.status == FULCRUM_OK &&
           fulcrum_cuda_check(driver, driver->context_set_current(state->share.context),
               "cuCtxSetCurrent", &state->failure) == FULCRUM_OK;
}

/*
 * A green context may be current to one thread at a time, and the next call may come
 * from another one; the primary context may be current to all of them.
 */
static void step_out(const struct fulcrum_device_state *state)
{
    if (state->share.green != NULL) {
        (void)state->gpu.driver.context_set_current(state->gpu.context);
    }
}

static void keep(struct fulcrum_device_state *state, int result, const char *what)
{
    if (state->failure.status == FULCRUM_OK) {
        state->failure.status =
            fulcrum_cuda_check(&state->gpu.driver, result, what, &state->failure);
    }
}

static int attribute(const struct fulcrum_cuda_gpu *gpu, int which)
{
    int value = 0;
    return gpu->driver.device_get_attribute(&value, which, gpu->device) ==
                   FULCRUM_CU_SUCCESS
               ? value
               : 0;
}

/* Kernels are compiled for the GPU whose context is current. */
static enum fulcrum_status open_gpu(struct fulcrum_device_state *state,
    const struct fulcrum_device_options *options, struct fulcrum_error *err)
{
    struct fulcrum_cuda_gpu *gpu = &state->gpu;
    TRY(fulcrum_cuda_driver_open(&gpu->driver, err));
    const struct fulcrum_cuda_driver *driver = &gpu->driver;
    int count = 0;
    int sm_count = 0;
    TRY_CUDA(device_get_count(&count), "cuDeviceGetCount");
    if (options->index >= (size_t)count) {
        /* Names the GPUs that the driver shows, as "0 (NVIDIA H200), 1 (...". */
        char gpus[400] = "";
        size_t used = 0;
        for (int i = 0; i < count && used < sizeof gpus; i++) {
            char name[96] = "?";
            int device = 0;
            if (driver->device_get(&device, i) == FULCRUM_CU_SUCCESS) {
                (void)driver->device_get_name(name, (int)sizeof name, device);
            }
            int length = snprintf(gpus + used, sizeof gpus - used, "%s%d (%s)",
                i > 0 ? ", " : "", i, name);
            used += length > 0 ? (size_t)length : 0;
        }
        return fulcrum_fail(err, FULCRUM_ERR_RANGE, "device_index = %zu: expected %s",
            options->index, gpus);
    }
    TRY_CUDA(device_get(&gpu->device, (int)options->index), "cuDeviceGet");
    TRY_CUDA(device_get_attribute(&sm_count, FULCRUM_CU_SM_COUNT, gpu->device),
        "cuDeviceGetAttribute");
    gpu->sm_count = (double)sm_count;
    TRY_CUDA(primary_retain(&gpu->context, gpu->device), "cuDevicePrimaryCtxRetain");
    TRY_CUDA(context_set_current(gpu->context), "cuCtxSetCurrent");
    cuda_gpu_ask_parts(gpu);
    /* Without cuBLAS a kernel of our own multiplies: no failure. */
    (void)!fulcrum_cuda_blas_open(&gpu->blas, NULL);
    int result = load(&state->kernels, driver);
    TRY(result == FULCRUM_CU_SUCCESS ? find_all(&state->kernels, driver, err)
                                     : refuse(&state->kernels, driver, result, err));
    return cuda_share_open(&state->share, gpu, options->sm_count, err);
}

static void describe_products(
    const struct fulcrum_device_state *state, char *text, size_t size)
{
    const struct fulcrum_cuda_blas *blas = &state->gpu.blas;
    int version = 0;
    if (blas->library == NULL) {
        (void)snprintf(text, size, "products by an own kernel (no cuBLAS here)");
        return;
    }
    (void)blas->get_version(state->share.blas, &version);
    /* cuBLAS 11 and 12 count 10000 x major + 100 x minor. */
    (void)snprintf(text, size, "cuBLAS %d.%d.%d, float32 without TF32", version / 10000,
        version / 100 % 100, version % 100);
}

/* As NVML prints it: "GPU-" and groups of 8, 4, 4, 4, 12 digits. */
static void describe_uuid(
    const struct fulcrum_cuda_gpu *gpu, struct fulcrum_device_info *info)
{
    unsigned char uuid[16] = {0};
    if (gpu->driver.device_get_uuid == NULL ||
        gpu->driver.device_get_uuid(uuid, gpu->device) != FULCRUM_CU_SUCCESS) {
        return;
    }
    (void)snprintf(info->uuid, sizeof info->uuid,
        "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
        uuid[0], uuid[1], uuid[2], uuid[3], uuid[4], uuid[5], uuid[6], uuid[7], uuid[8],
        uuid[9], uuid[10], uuid[11], uuid[12], uuid[13], uuid[14], uuid[15]);
}

/* Two transfers of the bus's width in a cycle of its clock. */
static double memory_byte_per_s(const struct fulcrum_cuda_gpu *gpu)
{
    double clock_hz = KILO * (double)attribute(gpu, FULCRUM_CU_MEMORY_CLOCK_RATE);
    double width_byte = (double)attribute(gpu, FULCRUM_CU_MEMORY_BUS_WIDTH) / 8.0;
    return fmax(2.0 * clock_hz * width_byte, 0.0);
}

static void cuda_close(struct fulcrum_device_state *state)
{
    if (state == NULL) {
        return;
    }
    struct fulcrum_cuda_gpu *gpu = &state->gpu;
    const struct fulcrum_cuda_driver *driver = &gpu->driver;
    if (state->share.stream != NULL &&
        driver->context_set_current(state->share.context) == FULCRUM_CU_SUCCESS) {
        (void)driver->stream_synchronize(state->share.stream);
    }
    cuda_share_close(gpu, &state->share);
    if (state->kernels.library != NULL) {
        (void)driver->library_unload(state->kernels.library);
    }
    if (state->kernels.module != NULL) {
        (void)driver->module_unload(state->kernels.module);
    }
    if (gpu->context != NULL) {
        (void)driver->context_set_current(gpu->context);
        if (state->arena != 0) {
            (void)driver->mem_free(state->arena);
        }
        if (state->staging != NULL) {
            (void)driver->mem_host_free(state->staging);
        }
        (void)driver->context_set_current(NULL);
        (void)driver->primary_release(gpu->device);
    }
    fulcrum_cuda_blas_close(&gpu->blas);
    fulcrum_cuda_driver_close(&gpu->driver);
    free(state);
}

static enum fulcrum_status cuda_open(const struct fulcrum_device_options *options,
    struct fulcrum_device_state **out, struct fulcrum_device_info *info,
    struct fulcrum_error *err)
{
    struct fulcrum_device_state *state = calloc(1, sizeof *state);
    TRY_MEMORY(state, err, "a CUDA device");
    enum fulcrum_status status = FULCRUM_OK;
    void *staging = NULL;
    TRY_OR_END(open_gpu(state, options, err));
    TRY_OR_END(fulcrum_cuda_check(&state->gpu.driver,
        state->gpu.driver.mem_host_alloc(&staging, STAGING_BYTE, 0), "cuMemHostAlloc",
        err));
    state->staging = staging;
    const struct fulcrum_cuda_gpu *gpu = &state->gpu;
    int clock_khz = attribute(gpu, FULCRUM_CU_CLOCK_RATE);
    size_t memory_byte = 0;
    char products[80];
    *info = (struct fulcrum_device_info){
        .is_gpu = 1,
        .is_wide = 1,
        .sm_count = gpu->sm_count,
        .granted_sm_count = state->share.sm_count,
        .least_sm_count = gpu->least_sm_count,
        .sm_step = gpu->sm_step,
        .clock_hz = clock_khz > 0 ? KILO * (double)clock_khz : (double)NAN,
    };
    describe_uuid(gpu, info);
    (void)gpu->driver.device_get_name(info->name, (int)sizeof info->name, gpu->device);
    (void)gpu->driver.device_total_mem(&memory_byte, gpu->device);
    info->memory_byte = (double)memory_byte;
    info->memory_byte_per_s = memory_byte_per_s(gpu);
    describe_products(state, products, sizeof products);
    (void)snprintf(info->detail, sizeof info->detail,
        "compute capability %d.%d, driver for CUDA %d.%d, %.70s",
        attribute(gpu, FULCRUM_CU_CAPABILITY_MAJOR),
        attribute(gpu, FULCRUM_CU_CAPABILITY_MINOR), gpu->driver.version / 1000,
        gpu->driver.version % 1000 / 10, products);
    step_out(state);
    *out = state;
end:
    if (status != FULCRUM_OK) {
        cuda_close(state);
    }
    return status;
}

static enum fulcrum_status cuda_reserve(
    struct fulcrum_device_state *state, size_t float_count, struct fulcrum_error *err)
{
    const struct fulcrum_cuda_driver *driver = &state->gpu.driver;
    TRY_CUDA(context_set_current(state->share.context), "cuCtxSetCurrent");
    TRY_CUDA(mem_alloc(&state->arena, float_count * sizeof(float)),
        "cuMemAlloc of the network's memory");
    TRY_CUDA(memset_d32(state->arena, 0, float_count, state->share.stream),
        "cuMemsetD32Async");
    return FULCRUM_OK;
}

static fulcrum_cu_address address_of(
    const struct fulcrum_device_state *state, fulcrum_place place)
{
    return state->arena + (fulcrum_cu_address)place * sizeof(float);
}

/* A free piece of the staging memory, of at most `byte`. */
static unsigned char *stage(
    struct fulcrum_device_state *state, size_t byte, size_t *staged)
{
    if (state->staged_byte == STAGING_BYTE) {
        keep(state, state->gpu.driver.stream_synchronize(state->share.stream),
            "cuStreamSynchronize");
        state->staged_byte = 0;
    }
    size_t room = STAGING_BYTE - state->staged_byte;
    unsigned char *piece = state->staging + state->staged_byte;
    *staged = byte < room ? byte : room;
    state->staged_byte += *staged;
    return piece;
}

static void cuda_upload(
    struct fulcrum_device_state *state, fulcrum_place to, const void *from, size_t byte)
{
    if (!is_ready(state)) {
        return;
    }
    fulcrum_cu_address target = address_of(state, to);
    for (size_t done = 0; done < byte && state->failure.status == FULCRUM_OK;) {
        size_t staged = 0;
        unsigned char *piece = stage(state, byte - done, &staged);
        memcpy(piece, (const unsigned char *)from + done, staged);
        keep(state,
            state->gpu.driver.copy_to_device(
                target + done, piece, staged, state->share.stream),
            "cuMemcpyHtoDAsync");
        done += staged;
    }
}

static void cuda_download(
    struct fulcrum_device_state *state, void *to, fulcrum_place from, size_t byte)
{
    if (is_ready(state)) {
        keep(state,
            state->gpu.driver.copy_to_host(
                to, address_of(state, from), byte, state->share.stream),
            "cuMemcpyDtoHAsync");
    }
}

static void cuda_launch(
    struct fulcrum_device_state *state, const struct fulcrum_device_launch *launch)
{
    struct fulcrum_kernel_arguments arguments = launch->arguments;
    void *parameters[] = {&state->arena, &arguments};
    unsigned blocks =
        arguments.item_count / BLOCK_ITEMS + (arguments.item_count % BLOCK_ITEMS != 0);
    if (blocks == 0 || !is_ready(state)) {
        return;
    }
    keep(state,
        state->gpu.driver.launch_kernel(state->kernels.function[launch->kernel], blocks,
            1, 1, BLOCK_ITEMS, 1, 1, 0, state->share.stream, parameters, NULL),
        "cuLaunchKernel");
}

static void cuda_multiply(
    struct fulcrum_device_state *state, const struct fulcrum_device_product *product)
{
    bool is_empty = product->row_count == 0 || product->col_count == 0;
    if (is_empty || !is_ready(state)) {
        return;
    }
    if (state->share.blas != NULL) {
        const struct fulcrum_cuda_blas *blas = &state->gpu.blas;
        const float one = 1.0F;
        const int rows = (int)product->row_count;
        const int cols = (int)product->col_count;
        const int inner = (int)product->inner_count;
        const bool turns_a = product->is_left_transposed;
        const bool turns_b = product->is_right_transposed;
        /* An address on the device; cuBLAS has it in the clothes of a pointer. */
        /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
        float *arena = (float *)(uintptr_t)state->arena;
        /*
         * cuBLAS reads a row-major matrix as the transposed column-major one: the
         * product is c' = op(b)' op(a)', sides exchanged. Sizes are below 2^31.
         */
        int result = blas->sgemm(state->share.blas,
            turns_b ? FULCRUM_CUBLAS_TRANSPOSED : FULCRUM_CUBLAS_AS_IS,
            turns_a ? FULCRUM_CUBLAS_TRANSPOSED : FULCRUM_CUBLAS_AS_IS, cols, rows,
            inner, &one, arena + product->b, turns_b ? inner : cols, arena + product->a,
            turns_a ? rows : inner, &product->beta, arena + product->c, cols);
        if (result != FULCRUM_CUBLAS_SUCCESS) {
            (void)fulcrum_fail(&state->failure, FULCRUM_ERR_UNSUPPORTED,
                "cuda: cublasSgemm: %s (%d)",
                fulcrum_cuda_blas_status_name(blas, result), result);
        }
    } else {
        struct fulcrum_device_launch launch = fulcrum_device_product_launch(product, 1);
        cuda_launch(state, &launch);
    }
}

static enum fulcrum_status cuda_finish(
    struct fulcrum_device_state *state, struct fulcrum_error *err)
{
    if (is_ready(state)) {
        keep(state, state->gpu.driver.stream_synchronize(state->share.stream),
            "cuStreamSynchronize");
    }
    state->staged_byte = 0;
    step_out(state);
    enum fulcrum_status status = state->failure.status;
    if (status != FULCRUM_OK) {
        (void)fulcrum_fail(err, status, "%s", state->failure.detail);
        state->failure = (struct fulcrum_error){FULCRUM_OK, ""};
    }
    return status;
}

static enum fulcrum_status cuda_grant(struct fulcrum_device_state *state,
    double sm_count, double *granted, struct fulcrum_error *err)
{
    struct fulcrum_cuda_share share = {.sm_count = 0.0};
    TRY(cuda_finish(state, err));
    TRY(cuda_share_open(&share, &state->gpu, sm_count, err));
    cuda_share_close(&state->gpu, &state->share);
    state->share = share;
    step_out(state);
    *granted = share.sm_count;
    return FULCRUM_OK;
}

static void cuda_mark(struct fulcrum_device_state *state, int mark)
{
    if (is_ready(state)) {
        keep(state,
            state->gpu.driver.event_record(
                state->share.mark[mark], state->share.stream),
            "cuEventRecord");
    }
}

static double cuda_elapsed_s(struct fulcrum_device_state *state)
{
    float elapsed_ms = 0.0F;
    int result = is_ready(state) ? state->gpu.driver.event_elapsed_time(&elapsed_ms,
                                       state->share.mark[0], state->share.mark[1])
                                 : FULCRUM_CU_OUT_OF_MEMORY;
    step_out(state);
    return result == FULCRUM_CU_SUCCESS ? (double)elapsed_ms / KILO : (double)NAN;
}

const struct fulcrum_device fulcrum_device_cuda = {
    .name = "cuda",
    .open = cuda_open,
    .close = cuda_close,
    .reserve = cuda_reserve,
    .upload = cuda_upload,
    .download = cuda_download,
    .launch = cuda_launch,
    .multiply = cuda_multiply,
    .finish = cuda_finish,
    .grant = cuda_grant,
    .mark = cuda_mark,
    .elapsed_s = cuda_elapsed_s,
};
