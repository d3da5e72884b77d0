/* test_device_cuda.c - the CUDA device on a stand-in for NVIDIA's driver. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/device/compute.h"
#include "tests/fake_cuda/fake_use.h"
#include "tests/support/suite.h"

static const struct fulcrum_device *const cuda = &fulcrum_device_cuda;

/* `info` may be NULL. */
static struct fulcrum_device_state *open_on(
    const char *driver, const char *cublas, struct fulcrum_device_info *info)
{
    struct fulcrum_device_info ignored;
    struct fulcrum_device_state *state = NULL;
    const struct fulcrum_device_options options = {0};
    fake_use(driver, cublas);
    ASSERT_OK(cuda->open(&options, &state, info != NULL ? info : &ignored, NULL));
    return state;
}

/* The driver is the one in use; nothing is left behind. */
static void refuse(const struct fulcrum_device_options *options,
    enum fulcrum_status expected, const char *detail, const char *driver)
{
    struct fulcrum_device_state *state = NULL;
    struct fulcrum_device_info info;
    ASSERT_SAYS(cuda->open(options, &state, &info, &err), expected, detail);
    CU_ASSERT_EQUAL(fake_counts(driver)->live, 0);
}

static void close_clean(struct fulcrum_device_state *state, const char *driver)
{
    cuda->close(state);
    CU_ASSERT_EQUAL(fake_counts(driver)->live, 0);
    CU_ASSERT_EQUAL(fake_blas_counts(FAKE_CUBLAS)->live, 0);
}

/* to[0..count) = value */
static struct fulcrum_device_launch fill_with(
    fulcrum_place to, unsigned count, float value)
{
    return (struct fulcrum_device_launch){
        .kernel = FULCRUM_KERNEL_FILL,
        .arguments = {.item_count = (count + FULCRUM_FLAT_ROW - 1) / FULCRUM_FLAT_ROW,
            .lane_count = 1,
            .place = {to},
            .count = {count},
            .number = {value}},
    };
}

TEST(test_device_tells_what_it_is)
{
    struct fulcrum_device_info info;
    struct fulcrum_device_state *state = open_on(FAKE_CUDA, FAKE_CUBLAS, &info);
    CU_ASSERT_STRING_EQUAL(info.name, "Stand-in GPU 0");
    CU_ASSERT_STRING_EQUAL(info.detail, "compute capability 9.0, driver for CUDA 13.1, "
                                        "cuBLAS 13.1.2, float32 without TF32");
    CU_ASSERT_STRING_EQUAL(info.uuid, "GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf");
    CU_ASSERT_TRUE(info.is_gpu && info.is_wide);
    CU_ASSERT_EQUAL(info.sm_count, 132.0);
    CU_ASSERT_EQUAL(info.granted_sm_count, 132.0);
    CU_ASSERT_EQUAL(info.least_sm_count, 8.0);
    CU_ASSERT_EQUAL(info.sm_step, 8.0);
    CU_ASSERT_EQUAL(info.clock_hz, 1.98e9);
    CU_ASSERT_EQUAL(info.memory_byte, 1073741824.0);
    CU_ASSERT_EQUAL(info.memory_byte_per_s, 4.9152e12);
    close_clean(state, FAKE_CUDA);
    state = open_on(FAKE_CUDA_OLD, NULL, &info);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(info.detail, "CUDA 11.4, products by an own kernel (no cuBLAS here)"));
    CU_ASSERT_EQUAL(info.least_sm_count, 132.0);
    CU_ASSERT_STRING_EQUAL(info.uuid, "");
    close_clean(state, FAKE_CUDA_OLD);
}

/* Longer than the memory that uploads are staged in, which is used over and over. */
TEST(test_uploads_may_be_overwritten_at_once)
{
    const size_t count = ((size_t)20 << 20) / sizeof(float) + 3;
    struct fulcrum_device_state *state = open_on(FAKE_CUDA, FAKE_CUBLAS, NULL);
    float *values = calloc(count, sizeof *values);
    CU_ASSERT_PTR_NOT_NULL_FATAL(values);
    if (values == NULL) {
        return;
    }
    ASSERT_OK(cuda->reserve(state, count + 8, NULL));
    for (size_t i = 0; i < count; i++) {
        values[i] = (float)(i % 1000003);
    }
    cuda->upload(state, 8, values, count * sizeof *values);
    memset(values, 0, count * sizeof *values);
    float before[8];
    cuda->download(state, before, 0, sizeof before);
    cuda->download(state, values, 8, count * sizeof *values);
    ASSERT_OK(cuda->finish(state, NULL));
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        wrong += values[i] != (float)(i % 1000003);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    /* The arena began as zeros. */
    CU_ASSERT_EQUAL(before[7], 0.0F);
    free(values);
    close_clean(state, FAKE_CUDA);
}

TEST(test_kernels_run_on_every_item_in_order)
{
    static const char *const drivers[] = {FAKE_CUDA, FAKE_CUDA_OLD};
    for (size_t i = 0; i < 2; i++) {
        struct fulcrum_device_state *state = open_on(drivers[i], FAKE_CUBLAS, NULL);
        size_t launches = fake_counts(drivers[i])->launches;
        float out[3];
        ASSERT_OK(cuda->reserve(state, (size_t)3 * FULCRUM_FLAT_ROW, NULL));
        struct fulcrum_device_launch launch =
            fill_with(0, 2 * FULCRUM_FLAT_ROW + 1, 2.5F);
        cuda->launch(state, &launch);
        launch = fill_with(1, 1, 4.0F);
        cuda->launch(state, &launch);
        launch.arguments.item_count = 0;
        cuda->launch(state, &launch);
        cuda->download(state, out, 0, 2 * sizeof *out);
        cuda->download(state, out + 2, 2U * FULCRUM_FLAT_ROW, sizeof *out);
        CU_ASSERT_EQUAL(fake_counts(drivers[i])->launches, launches);
        ASSERT_OK(cuda->finish(state, NULL));
        CU_ASSERT_EQUAL(fake_counts(drivers[i])->launches, launches + 2);
        CU_ASSERT_EQUAL(out[0], 2.5F);
        CU_ASSERT_EQUAL(out[1], 4.0F);
        CU_ASSERT_EQUAL(out[2], 2.5F);
        close_clean(state, drivers[i]);
    }
}

/* By cuBLAS where it is; test_device_kernels has products of every form. */
TEST(test_products_go_to_cublas_where_it_is)
{
    static const char *const blas[] = {FAKE_CUBLAS, NULL};
    for (size_t i = 0; i < 2; i++) {
        struct fulcrum_device_state *state = open_on(FAKE_CUDA, blas[i], NULL);
        const float arena[2] = {2.0F, 3.0F};
        const struct fulcrum_device_product product = {
            .row_count = 1, .col_count = 1, .inner_count = 1, .a = 0, .b = 1, .c = 2};
        struct fulcrum_device_product empty = product;
        size_t products = fake_blas_counts(FAKE_CUBLAS)->products;
        float out = 0.0F;
        empty.row_count = 0;
        ASSERT_OK(cuda->reserve(state, 3, NULL));
        cuda->upload(state, 0, arena, sizeof arena);
        cuda->multiply(state, &product);
        cuda->multiply(state, &empty);
        cuda->download(state, &out, 2, sizeof out);
        ASSERT_OK(cuda->finish(state, NULL));
        CU_ASSERT_EQUAL(out, 6.0F);
        CU_ASSERT_EQUAL(fake_blas_counts(FAKE_CUBLAS)->products - products, 1 - i);
        close_clean(state, FAKE_CUDA);
    }
}

/* Rounded up to multiples of 8; beyond the largest of them below 132, all. */
static double granted_of(double requested)
{
    double rounded = 8.0 * ceil(requested / 8.0);
    return requested > 0.0 && rounded < 132.0 ? fmax(rounded, 8.0) : 132.0;
}

TEST(test_grants_tell_what_was_really_given)
{
    struct fulcrum_device_state *state = open_on(FAKE_CUDA, FAKE_CUBLAS, NULL);
    float value = 7.0F;
    ASSERT_OK(cuda->reserve(state, 64, NULL));
    cuda->upload(state, 3, &value, sizeof value);
    for (int asked = 0; asked <= 132; asked++) {
        double requested = (double)asked;
        double granted = 0.0;
        float seen = 0.0F;
        ASSERT_OK(cuda->grant(state, requested, &granted, NULL));
        CU_ASSERT_EQUAL(granted, granted_of(requested));
        CU_ASSERT_EQUAL(fake_blas_counts(FAKE_CUBLAS)->sm_count_target,
            granted < 132.0 ? (int)granted : 0);
        /* Memory and kernels are those of the whole GPU. */
        struct fulcrum_device_launch launch = fill_with(4, 1, (float)requested);
        cuda->launch(state, &launch);
        cuda->download(state, &seen, 3, sizeof seen);
        cuda->download(state, &value, 4, sizeof value);
        ASSERT_OK(cuda->finish(state, NULL));
        CU_ASSERT_EQUAL(seen, 7.0F);
        CU_ASSERT_EQUAL(value, (float)requested);
        /* The next call may come from another thread. */
        CU_ASSERT_FALSE(fake_counts(FAKE_CUDA)->is_in_green);
    }
    close_clean(state, FAKE_CUDA);
}

TEST(test_device_may_be_opened_on_a_part)
{
    struct fulcrum_device_state *state = NULL;
    struct fulcrum_device_info info;
    struct fulcrum_device_options options = {.sm_count = 20.0};
    fake_use(FAKE_CUDA, FAKE_CUBLAS);
    ASSERT_OK(cuda->open(&options, &state, &info, NULL));
    CU_ASSERT_EQUAL(info.granted_sm_count, 24.0);
    CU_ASSERT_EQUAL(info.sm_count, 132.0);
    close_clean(state, FAKE_CUDA);
    options.sm_count = 133.0;
    refuse(&options, FULCRUM_ERR_RANGE,
        "sm_count = 133 is outside [0, 132], the SMs of this GPU", FAKE_CUDA);
    options = (struct fulcrum_device_options){.index = 3};
    fake_set("FAKE_CUDA_DEVICES", "2");
    refuse(&options, FULCRUM_ERR_RANGE,
        "device_index = 3: expected 0 (Stand-in GPU 0), 1 (Stand-in GPU 1)", FAKE_CUDA);
}

TEST(test_grant_that_cannot_be_leaves_things_as_they_are)
{
    double granted = -1.0;
    struct fulcrum_device_state *state = open_on(FAKE_CUDA_OLD, FAKE_CUBLAS, NULL);
    ASSERT_SAYS(cuda->grant(state, 40.0, &granted, &err), FULCRUM_ERR_UNSUPPORTED,
        "cuda: this driver (CUDA 11.4) cannot divide the GPU (needs CUDA 12.4, driver "
        "550 or newer)");
    CU_ASSERT_EQUAL(granted, -1.0);
    ASSERT_OK(cuda->grant(state, 132.0, &granted, NULL));
    CU_ASSERT_EQUAL(granted, 132.0);
    CU_ASSERT_EQUAL(cuda->grant(state, NAN, &granted, NULL), FULCRUM_ERR_RANGE);
    close_clean(state, FAKE_CUDA_OLD);
    state = open_on(FAKE_CUDA, FAKE_CUBLAS, NULL);
    ASSERT_OK(cuda->reserve(state, 4, NULL));
    fake_set("FAKE_CUDA_FAIL", "cuGreenCtxCreate:1");
    ASSERT_SAYS(cuda->grant(state, 40.0, &granted, &err), FULCRUM_ERR_UNSUPPORTED,
        "cuda: cuGreenCtxCreate: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    struct fulcrum_device_launch launch = fill_with(0, 4, 1.0F);
    cuda->launch(state, &launch);
    ASSERT_OK(cuda->finish(state, NULL));
    close_clean(state, FAKE_CUDA);
    fake_use(FAKE_CUDA, FAKE_CUBLAS);
    fake_set("FAKE_CUDA_SMS", "6");
    const struct fulcrum_device_options options = {.sm_count = 4.0};
    refuse(&options, FULCRUM_ERR_UNSUPPORTED,
        "cuda: the driver makes no part of the 6 SMs of this GPU", FAKE_CUDA);
}

/* The stand-in's clock: a launch, and its items over the SMs. */
TEST(test_marks_give_the_time_of_the_device)
{
    struct fulcrum_device_state *state = open_on(FAKE_CUDA, FAKE_CUBLAS, NULL);
    static const double sm_counts[] = {132.0, 8.0};
    ASSERT_OK(cuda->reserve(state, 64, NULL));
    CU_ASSERT_TRUE(isnan(cuda->elapsed_s(state)));
    for (size_t i = 0; i < 2; i++) {
        double granted = 0.0;
        struct fulcrum_device_launch launch = fill_with(0, 64, 1.0F);
        ASSERT_OK(cuda->grant(state, sm_counts[i], &granted, NULL));
        cuda->mark(state, 0);
        cuda->launch(state, &launch);
        cuda->mark(state, 1);
        CU_ASSERT_TRUE(isnan(cuda->elapsed_s(state)));
        ASSERT_OK(cuda->finish(state, NULL));
        assert_close("elapsed", cuda->elapsed_s(state),
            FAKE_CUDA_LAUNCH_S + 256.0 / FAKE_CUDA_ITEMS_PER_SM_S / granted, 1e-4);
    }
    close_clean(state, FAKE_CUDA);
}

TEST(test_first_failure_is_kept_until_finish)
{
    struct fulcrum_device_state *state = open_on(FAKE_CUDA, FAKE_CUBLAS, NULL);
    struct fulcrum_device_launch launch = fill_with(0, 4, 1.0F);
    size_t launches = fake_counts(FAKE_CUDA)->launches;
    ASSERT_OK(cuda->reserve(state, 4, NULL));
    fake_set("FAKE_CUDA_FAIL", "cuLaunchKernel:1");
    cuda->launch(state, &launch);
    cuda->launch(state, &launch);
    cuda->mark(state, 0);
    ASSERT_SAYS(cuda->finish(state, &err), FULCRUM_ERR_UNSUPPORTED,
        "cuda: cuLaunchKernel: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    CU_ASSERT_EQUAL(fake_counts(FAKE_CUDA)->launches, launches);
    /* Told once, and what was refused only is no lasting damage. */
    cuda->launch(state, &launch);
    ASSERT_OK(cuda->finish(state, NULL));
    CU_ASSERT_EQUAL(fake_counts(FAKE_CUDA)->launches, launches + 1);
    close_clean(state, FAKE_CUDA);
}

TEST(test_kernel_that_fails_is_told_by_finish_and_grant)
{
    struct fulcrum_device_state *state = open_on(FAKE_CUDA, FAKE_CUBLAS, NULL);
    struct fulcrum_device_launch launch = fill_with(0, 4, 1.0F);
    double granted = 0.0;
    ASSERT_OK(cuda->reserve(state, 4, NULL));
    ASSERT_OK(cuda->finish(state, NULL));
    fake_set("FAKE_CUDA_FAIL", "kernel:1");
    cuda->launch(state, &launch);
    ASSERT_SAYS(cuda->finish(state, &err), FULCRUM_ERR_UNSUPPORTED,
        "cuda: cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    /* A GPU that failed stays so. */
    CU_ASSERT_EQUAL(cuda->grant(state, 8.0, &granted, NULL), FULCRUM_ERR_UNSUPPORTED);
    CU_ASSERT_EQUAL(granted, 0.0);
    close_clean(state, FAKE_CUDA);
}

TEST(test_what_the_compiler_says_is_told)
{
    static const char *const drivers[] = {FAKE_CUDA, FAKE_CUDA_OLD};
    for (size_t i = 0; i < 2; i++) {
        fake_use(drivers[i], FAKE_CUBLAS);
        fake_set("FAKE_CUDA_PTX", "ptxas fatal : no such thing");
        refuse(&(struct fulcrum_device_options){0}, FULCRUM_ERR_UNSUPPORTED,
            "cuda: the driver does not compile the kernels: CUDA_ERROR_INVALID_PTX "
            "(218): ptxas fatal : no such thing",
            drivers[i]);
    }
}

/* Whatever call fails first: it is named or not needed, and nothing is left behind. */
TEST(test_every_call_may_fail_without_a_leak)
{
    static const char *const calls[] = {"cuInit", "cuDriverGetVersion",
        "cuDeviceGetCount", "cuDeviceGet", "cuDevicePrimaryCtxRetain",
        "cuCtxSetCurrent", "cuMemAlloc_v2", "cuMemHostAlloc", "cuMemsetD32Async",
        "cuStreamCreate", "cuStreamSynchronize", "cuEventCreate", "cuLibraryLoadData",
        "cuLibraryGetKernel", "cuDeviceGetDevResource", "cuDevSmResourceSplitByCount",
        "cuDevResourceGenerateDesc", "cuGreenCtxCreate", "cuCtxFromGreenCtx",
        "cuGreenCtxStreamCreate", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
        "cuLaunchKernel", "cuEventRecord"};
    size_t told = 0;
    for (size_t i = 0; i < 3 * LENGTH(calls); i++) {
        struct fulcrum_device_state *state = NULL;
        struct fulcrum_device_info info;
        struct fulcrum_error err = {FULCRUM_OK, ""};
        const struct fulcrum_device_options options = {0};
        char which[80];
        float value = 1.0F;
        double granted = 0.0;
        fake_use(FAKE_CUDA, FAKE_CUBLAS);
        (void)snprintf(which, sizeof which, "%s:%zu", calls[i / 3], i % 3 + 1);
        fake_set("FAKE_CUDA_FAIL", which);
        enum fulcrum_status status = cuda->open(&options, &state, &info, &err);
        if (status == FULCRUM_OK) {
            status = cuda->reserve(state, 4, &err);
        }
        if (status == FULCRUM_OK) {
            struct fulcrum_device_launch launch = fill_with(0, 4, 1.0F);
            cuda->mark(state, 0);
            cuda->upload(state, 0, &value, sizeof value);
            cuda->launch(state, &launch);
            cuda->download(state, &value, 0, sizeof value);
            status = cuda->grant(state, 8.0, &granted, &err);
        }
        CU_ASSERT_TRUE(status == FULCRUM_OK || strncmp(err.detail, "cuda: ", 6) == 0);
        told += status != FULCRUM_OK;
        cuda->close(state);
        CU_ASSERT_EQUAL(fake_counts(FAKE_CUDA)->live, 0);
        CU_ASSERT_EQUAL(fake_blas_counts(FAKE_CUBLAS)->live, 0);
    }
    /* Each of them at least once, but those that only ask what parts there are. */
    CU_ASSERT_TRUE(told >= LENGTH(calls));
}

TEST(test_cublas_that_does_not_start_is_told)
{
    fake_use(FAKE_CUDA, FAKE_CUBLAS);
    fake_set("FAKE_CUBLAS_FAIL", "1");
    refuse(&(struct fulcrum_device_options){0}, FULCRUM_ERR_UNSUPPORTED,
        "cuda: cublasCreate: CUBLAS_STATUS_INVALID_VALUE (7)", FAKE_CUDA);
}

TEST(test_kernels_are_compiled_once_for_all_shares)
{
    size_t compiled = fake_counts(FAKE_CUDA)->jit_calls;
    size_t greens = fake_counts(FAKE_CUDA)->greens;
    struct fulcrum_device_state *state = open_on(FAKE_CUDA, FAKE_CUBLAS, NULL);
    for (int i = 1; i <= 16; i++) {
        double granted = 0.0;
        ASSERT_OK(cuda->grant(state, 8.0 * i, &granted, NULL));
    }
    CU_ASSERT_EQUAL(fake_counts(FAKE_CUDA)->jit_calls, compiled + 1);
    CU_ASSERT_EQUAL(fake_counts(FAKE_CUDA)->greens, greens + 16);
    close_clean(state, FAKE_CUDA);
}
