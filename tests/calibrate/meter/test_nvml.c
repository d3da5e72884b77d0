/* test_nvml.c - what is asked of NVIDIA's library, on libraries of the tests' own. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/meter/nvml.h"
#include "tests/support/fake_gpus.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static struct fulcrum_nvml *open_fake(void)
{
    struct fulcrum_nvml *nvml = NULL;
    ASSERT_OK(fulcrum_nvml_open(&nvml, "", NULL));
    return nvml;
}

static enum fulcrum_status ask(const struct fulcrum_nvml *nvml, int figure,
    size_t index, double *out, struct fulcrum_error *err)
{
    return fulcrum_nvml_ask(nvml, index, (enum fulcrum_nvml_figure)figure, out, err);
}

/* One line that says what is missing. */
static void assert_refused(const char *root, const char *detail)
{
    struct fulcrum_nvml *nvml = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    CU_ASSERT_EQUAL(fulcrum_nvml_open(&nvml, root, &err), FULCRUM_ERR_UNSUPPORTED);
    CU_ASSERT_EQUAL(err.status, FULCRUM_ERR_UNSUPPORTED);
    CU_ASSERT_PTR_NULL(nvml);
    CU_ASSERT_PTR_NULL(strchr(err.detail, '\n'));
    assert_part(err.detail, detail);
}

TEST(test_library_that_is_missing_is_told)
{
    char far[2000];
    memset(far, 'x', sizeof far);
    far[sizeof far - 1] = '\0';
    (void)setenv("FULCRUM_NVML_LIBRARY", "/nowhere/libnvidia-ml.so.1", 1);
    assert_refused("", "FULCRUM_NVML_LIBRARY = /nowhere/libnvidia-ml.so.1: ");
    (void)setenv("FULCRUM_NVML_LIBRARY", PLAIN_LIBRARY, 1);
    assert_refused("", "management library: the library has no function nvmlInit_v2");
    assert_refused("/nowhere", "driver: /nowhere/lib/libnvidia-ml.so.1 not found");
    assert_refused(far, "path");
}

TEST(test_driver_that_is_missing_is_told)
{
    struct fake_nvml *fake = fake_gpus(FAKE_NVML);
    fake->init_result = 9;
    assert_refused("", "nvmlInit_v2: Driver Not Loaded");
    fake->init_result = 0;
    fake->count_result = 999;
    assert_refused("", "nvmlDeviceGetCount_v2: Unknown Error");
    fake->count_result = 0;
    fake->gpu_count = 0;
    assert_refused("", "has no GPU");
    /* What was initialised is shut down again. */
    CU_ASSERT_EQUAL(fake->init_count, 0);
}

TEST(test_root_stands_for_another_machine)
{
    struct scratch scratch = scratch_new();
    struct fulcrum_nvml *nvml = NULL;
    (void)fake_gpus(FAKE_NVML);
    (void)setenv("FULCRUM_NVML_LIBRARY", "/nowhere", 1);
    char *path = scratch_write(&scratch, "lib/libnvidia-ml.so.1", "");
    (void)remove(path);
    CU_ASSERT_EQUAL_FATAL(symlink(FAKE_NVML, path), 0);
    ASSERT_OK(fulcrum_nvml_open(&nvml, scratch.folder, NULL));
    fulcrum_nvml_close(nvml);
    free(path);
    scratch_free(&scratch);
}

TEST(test_gpus_are_described)
{
    struct fake_nvml *fake = fake_gpus(FAKE_NVML);
    fake->gpu[1].mig_mode = 1;
    struct fulcrum_nvml *nvml = open_fake();
    CU_ASSERT_EQUAL(fake->init_count, 1);
    CU_ASSERT_EQUAL(fulcrum_nvml_count(nvml), 2);
    const struct fulcrum_nvml_info *info = fulcrum_nvml_info(nvml, 0);
    CU_ASSERT_STRING_EQUAL(info->name, "Fake H200");
    CU_ASSERT_STRING_EQUAL(info->uuid, "GPU-00a0-fake");
    CU_ASSERT_EQUAL(info->is_mig, 0);
    info = fulcrum_nvml_info(nvml, 1);
    CU_ASSERT_STRING_EQUAL(info->name, "Fake H300");
    CU_ASSERT_EQUAL(info->is_mig, 1);
    fulcrum_nvml_close(nvml);
    CU_ASSERT_EQUAL(fake->init_count, 0);
    fulcrum_nvml_close(NULL);
}

/* Every figure, in SI units. */
TEST(test_figures_are_told_in_base_units)
{
    static const double expected[FULCRUM_NVML_FIGURE_COUNT] = {
        [FULCRUM_NVML_ENERGY_J] = 12345.678,
        [FULCRUM_NVML_INSTANT_W] = 345.678,
        [FULCRUM_NVML_USAGE_W] = 345.678,
        [FULCRUM_NVML_LIMIT_W] = 700,
        [FULCRUM_NVML_CLOCK_HZ] = 1.98e9,
        [FULCRUM_NVML_BUSY_FRAC] = 0.42};
    struct fake_nvml *fake = fake_gpus(FAKE_NVML);
    fake->gpu[1].energy_mj = 12345678;
    fake->gpu[1].power_mw = 345678;
    struct fulcrum_nvml *nvml = open_fake();
    for (int figure = 0; figure < FULCRUM_NVML_FIGURE_COUNT; figure++) {
        double value = 0;
        ASSERT_OK(ask(nvml, figure, 1, &value, NULL));
        assert_close("figure", value, expected[figure], 1e-12);
    }
    fulcrum_nvml_close(nvml);
}

static void fail_all(struct fake_gpu *gpu, int result)
{
    gpu->energy_result = result;
    gpu->instant_field_result = result;
    gpu->usage_result = result;
    gpu->limit_result = result;
    gpu->clock_result = result;
    gpu->busy_result = result;
}

static void assert_fails(const struct fulcrum_nvml *nvml, size_t index,
    enum fulcrum_status expected, const char *detail)
{
    for (int figure = 0; figure < FULCRUM_NVML_FIGURE_COUNT; figure++) {
        struct fulcrum_error err = {FULCRUM_OK, ""};
        double value = 7;
        CU_ASSERT_EQUAL(ask(nvml, figure, index, &value, &err), expected);
        assert_close("unchanged", value, 7, 0);
        assert_part(err.detail, detail);
        CU_ASSERT_PTR_EQUAL(strstr(err.detail, "gpu-"), err.detail);
    }
}

TEST(test_what_is_not_told_has_a_status)
{
    static const struct {
        int result;
        enum fulcrum_status expected;
        const char *detail;
    } rows[] = {
        {3, FULCRUM_ERR_UNSUPPORTED, "Not Supported"},
        {4, FULCRUM_ERR_UNSUPPORTED, "Insufficient Permissions"},
        {13, FULCRUM_ERR_UNSUPPORTED, "Function Not Found"},
        {15, FULCRUM_ERR_FILE, "GPU is lost"},
        {999, FULCRUM_ERR_FILE, "Unknown Error"},
    };
    struct fake_nvml *fake = fake_gpus(FAKE_NVML);
    struct fulcrum_nvml *nvml = open_fake();
    for (size_t i = 0; i < LENGTH(rows); i++) {
        fail_all(&fake->gpu[0], rows[i].result);
        assert_fails(nvml, 0, rows[i].expected, rows[i].detail);
    }
    assert_fails(nvml, 2, FULCRUM_ERR_RANGE, "gpu-2: this machine has 2");
    fail_all(&fake->gpu[0], 0);
    fake->gpu[0].instant_result = 15;
    double watts = 7;
    CU_ASSERT_EQUAL(
        ask(nvml, FULCRUM_NVML_INSTANT_W, 0, &watts, NULL), FULCRUM_ERR_FILE);
    fulcrum_nvml_close(nvml);
}

TEST(test_answers_that_are_no_reading_are_refused)
{
    struct fake_nvml *fake = fake_gpus(FAKE_NVML);
    struct fulcrum_nvml *nvml = open_fake();
    struct fake_gpu *gpu = &fake->gpu[0];
    gpu->power_mw = 0xffffffffU;
    gpu->limit_mw = 10000001;
    gpu->busy_percent = 101;
    for (int figure = 1; figure < FULCRUM_NVML_FIGURE_COUNT; figure++) {
        double value = 7;
        enum fulcrum_status status = ask(nvml, figure, 0, &value, NULL);
        CU_ASSERT_EQUAL(
            status, figure == FULCRUM_NVML_CLOCK_HZ ? FULCRUM_OK : FULCRUM_ERR_FORMAT);
    }
    gpu->power_mw = 5000;
    for (int type = 0; type < 8; type++) {
        bool is_unsigned = type >= 1 && type <= 3;
        double value = 7;
        gpu->instant_type = type;
        CU_ASSERT_EQUAL(ask(nvml, 1, 0, &value, NULL),
            is_unsigned ? FULCRUM_OK : FULCRUM_ERR_FORMAT);
        assert_close("watts", value, is_unsigned ? 5 : 7, 1e-12);
    }
    fulcrum_nvml_close(nvml);
}

TEST(test_old_libraries_lack_what_they_lack)
{
    (void)fake_gpus(FAKE_NVML_OLD);
    struct fulcrum_nvml *nvml = open_fake();
    for (int figure = 0; figure < FULCRUM_NVML_FIGURE_COUNT; figure++) {
        double value = 7;
        CU_ASSERT_EQUAL(ask(nvml, figure, 0, &value, NULL),
            figure < 2 ? FULCRUM_ERR_UNSUPPORTED : FULCRUM_OK);
    }
    CU_ASSERT_EQUAL(fulcrum_nvml_info(nvml, 0)->is_mig, 0);
    fulcrum_nvml_close(nvml);
}

/* Rights or a fault take one GPU away, not the others. */
TEST(test_gpu_that_the_driver_refuses_is_refused_alone)
{
    double value = 0;
    fake_gpus(FAKE_NVML)->gpu[0].handle_result = 4;
    struct fulcrum_nvml *nvml = open_fake();
    CU_ASSERT_EQUAL(fulcrum_nvml_count(nvml), 2);
    assert_fails(nvml, 0, FULCRUM_ERR_UNSUPPORTED,
        "gpu-0: nvmlDeviceGetHandleByIndex_v2: Insufficient Permissions");
    CU_ASSERT_PTR_NULL(fulcrum_nvml_info(nvml, 0));
    ASSERT_OK(ask(nvml, FULCRUM_NVML_ENERGY_J, 1, &value, NULL));
    fulcrum_nvml_close(nvml);
}

TEST(test_names_that_are_not_told_stay_empty)
{
    struct fake_nvml *fake = fake_gpus(FAKE_NVML);
    fake->gpu[0].info_result = 999;
    fake->gpu[0].mig_result = 3;
    fake->gpu[0].mig_mode = 1;
    struct fulcrum_nvml *nvml = open_fake();
    const struct fulcrum_nvml_info *info = fulcrum_nvml_info(nvml, 0);
    CU_ASSERT_STRING_EQUAL(info->name, "");
    CU_ASSERT_STRING_EQUAL(info->uuid, "");
    assert_close("taken to average", info->power_average_s, 1, 0);
    CU_ASSERT_EQUAL(info->is_mig, 0);
    fulcrum_nvml_close(nvml);
}

/* The documentation of nvmlDeviceGetPowerUsage: Ampere but for GA100, and newer. */
TEST(test_watts_of_newer_chips_are_means_of_a_second)
{
    static const struct {
        int major;
        int minor;
        double average_s;
    } rows[] = {{7, 0, 0}, {7, 5, 0}, {8, 0, 0}, {8, 6, 1}, {8, 7, 1}, {8, 9, 1},
        {9, 0, 1}, {10, 0, 1}, {0, 0, 1}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct fake_nvml *fake = fake_gpus(FAKE_NVML);
        fake->gpu[0].compute_major = rows[i].major;
        fake->gpu[0].compute_minor = rows[i].minor;
        struct fulcrum_nvml *nvml = open_fake();
        assert_close(
            "usage", fulcrum_nvml_info(nvml, 0)->power_average_s, rows[i].average_s, 0);
        fulcrum_nvml_close(nvml);
    }
}
