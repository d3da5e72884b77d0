/* test_device_opencl.c - devices of OpenCL: shares, failures and marks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/device/compute.h"
#include "tests/support/suite.h"

enum { COUNT = 5000, ROOM = 2 * COUNT };

static enum fulcrum_status open_share(double sm_count, struct fulcrum_compute *out,
    struct fulcrum_device_info *info, struct fulcrum_error *err)
{
    const struct fulcrum_device_options options = {.sm_count = sm_count};
    out->device = &fulcrum_device_opencl;
    out->state = NULL;
    enum fulcrum_status status =
        fulcrum_device_opencl.open(&options, &out->state, info, err);
    if (status == FULCRUM_OK) {
        out->is_wide = info->is_wide;
    }
    return status;
}

static struct fulcrum_compute open_whole(struct fulcrum_device_info *info)
{
    struct fulcrum_compute compute;
    ASSERT_OK(open_share(0.0, &compute, info, NULL));
    ASSERT_OK(compute.device->reserve(compute.state, ROOM, NULL));
    return compute;
}

static void expect_all(
    const struct fulcrum_compute *compute, fulcrum_place place, float expected)
{
    float values[COUNT];
    int differs = 0;
    compute->device->download(compute->state, values, place, sizeof values);
    ASSERT_OK(compute->device->finish(compute->state, NULL));
    for (size_t i = 0; i < COUNT; i++) {
        differs |= fabsf(values[i] - expected) > 0.0F;
    }
    CU_ASSERT_FALSE(differs);
}

TEST(test_device_tells_what_it_is)
{
    struct fulcrum_device_info info;
    struct fulcrum_compute compute = open_whole(&info);
    CU_ASSERT_TRUE(strlen(info.name) > 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(info.detail, "OpenCL"));
    CU_ASSERT_TRUE(info.sm_count >= 1.0);
    assert_close("granted", info.granted_sm_count, info.sm_count, 0.0);
    CU_ASSERT_TRUE(info.least_sm_count <= info.sm_count);
    CU_ASSERT_TRUE(info.memory_byte > 1e6);
    compute.device->close(compute.state);
    compute.device->close(NULL);
}

TEST(test_arena_begins_with_zeros)
{
    struct fulcrum_device_info info;
    struct fulcrum_compute compute = open_whole(&info);
    expect_all(&compute, 0, 0.0F);
    expect_all(&compute, COUNT, 0.0F);
    compute.device->close(compute.state);
}

/* Asks for a share and uses it. Returns 0 where the device cannot be divided. */
static int use_share(const struct fulcrum_compute *compute, double share,
    const struct fulcrum_device_info *info)
{
    struct fulcrum_error err = {FULCRUM_OK, ""};
    double granted = 0.0;
    enum fulcrum_status status =
        compute->device->grant(compute->state, share, &granted, &err);
    if (status == FULCRUM_ERR_UNSUPPORTED) {
        CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "sm_count = 1"));
        CU_ASSERT_TRUE(info->least_sm_count > 1.0);
        return 0;
    }
    ASSERT_OK(status);
    assert_close("granted", granted, share > 0.0 ? share : info->sm_count, 0.0);
    return 1;
}

/* Down to one compute unit and back: what the arena held is still there. */
TEST(test_arena_survives_a_grant)
{
    const double shares[] = {1.0, 0.0, 1.0};
    struct fulcrum_device_info info;
    struct fulcrum_compute compute = open_whole(&info);
    fulcrum_compute_fill(&compute, COUNT, COUNT, 3.0F);
    for (size_t i = 0; i < 3 && use_share(&compute, shares[i], &info); i++) {
        expect_all(&compute, COUNT, 3.0F);
        fulcrum_compute_fill(&compute, 0, COUNT, 4.0F);
        expect_all(&compute, 0, 4.0F);
    }
    compute.device->close(compute.state);
}

/* PoCL 3.1 frees sub-devices too early unless one waits: many, one after the other. */
TEST(test_shares_come_and_go)
{
    for (int i = 0; i < 30; i++) {
        struct fulcrum_device_info info;
        struct fulcrum_compute compute;
        if (open_share(1.0, &compute, &info, NULL) != FULCRUM_OK) {
            return;
        }
        ASSERT_OK(compute.device->reserve(compute.state, ROOM, NULL));
        fulcrum_compute_fill(&compute, 0, COUNT, 1.0F);
        expect_all(&compute, 0, 1.0F);
        assert_close("granted", info.granted_sm_count, 1.0, 0.0);
        compute.device->close(compute.state);
    }
}

TEST(test_what_is_not_there_is_refused_by_name)
{
    struct fulcrum_device_info info;
    struct fulcrum_compute compute;
    const struct fulcrum_device_options far = {.index = 99};
    ASSERT_FAILS(fulcrum_device_opencl.open(&far, &compute.state, &info, &err),
        FULCRUM_ERR_RANGE, "device_index = 99: expected 0 (");
    ASSERT_FAILS(
        open_share(1e6, &compute, &info, &err), FULCRUM_ERR_RANGE, "sm_count = 1e+06");
    compute = open_whole(&info);
    double granted = -1.0;
    CU_ASSERT_EQUAL(
        compute.device->grant(compute.state, -2.0, &granted, NULL), FULCRUM_ERR_RANGE);
    CU_ASSERT_TRUE(granted < 0.0);
    compute.device->close(compute.state);
}

TEST(test_an_arena_beyond_the_memory_is_refused)
{
    struct fulcrum_device_info info;
    struct fulcrum_compute compute;
    ASSERT_OK(open_share(0.0, &compute, &info, NULL));
    ASSERT_FAILS(compute.device->reserve(compute.state, (size_t)1 << 45, &err),
        FULCRUM_ERR_NO_MEMORY, "an arena of 1.41e+08 MB");
    compute.device->close(compute.state);
}

/* A read beyond the arena: finish tells it once, and the device goes on. */
TEST(test_first_failure_waits_for_finish)
{
    struct fulcrum_device_info info;
    struct fulcrum_compute compute = open_whole(&info);
    float value = 5.0F;
    fulcrum_compute_fill(&compute, 0, COUNT, 1.0F);
    compute.device->download(compute.state, &value, ROOM, sizeof value);
    fulcrum_compute_fill(&compute, 0, COUNT, 2.0F);
    ASSERT_FAILS(compute.device->finish(compute.state, &err), FULCRUM_ERR_UNSUPPORTED,
        "clEnqueueReadBuffer");
    expect_all(&compute, 0, 1.0F);
    fulcrum_compute_fill(&compute, 0, COUNT, 2.0F);
    expect_all(&compute, 0, 2.0F);
    compute.device->close(compute.state);
}

TEST(test_marks_enclose_the_devices_time)
{
    struct fulcrum_device_info info;
    struct fulcrum_compute compute = open_whole(&info);
    CU_ASSERT_TRUE(isnan(compute.device->elapsed_s(compute.state)));
    compute.device->mark(compute.state, 0);
    for (int i = 0; i < 50; i++) {
        fulcrum_compute_fill(&compute, 0, COUNT, (float)i);
    }
    compute.device->mark(compute.state, 1);
    ASSERT_OK(compute.device->finish(compute.state, NULL));
    double elapsed_s = compute.device->elapsed_s(compute.state);
    CU_ASSERT_TRUE(isnan(elapsed_s) || (elapsed_s > 1e-7 && elapsed_s < 60.0));
    compute.device->close(compute.state);
}

SUITE_SETUP
{
    struct fulcrum_device_info info;
    struct fulcrum_compute compute;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    if (open_share(0.0, &compute, &info, &err) != FULCRUM_OK) {
        (void)printf("skipped: %s\n", err.detail);
        return err.status == FULCRUM_ERR_UNSUPPORTED ? 77 : 1;
    }
    compute.device->close(compute.state);
    return 0;
}
