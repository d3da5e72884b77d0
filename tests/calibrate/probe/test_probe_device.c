/* test_probe_device.c - launches and copies, on a stand-in with a clock of its own. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>

#include "calibrate/device/compute.h"
#include "calibrate/device/learner.h"
#include "calibrate/probe/probe.h"
#include "tests/fake_cuda/fake_use.h"
#include "tests/support/probing.h"
#include "tests/support/suite.h"

static void make_bench(struct fulcrum_bench *bench)
{
    fake_use(FAKE_CUDA, FAKE_CUBLAS);
    *bench = (struct fulcrum_bench){.learner = &fulcrum_learner_cuda,
        .learner_info = {.device = {.is_gpu = 1}},
        .stopwatch = fulcrum_stopwatch_calibrated()};
}

/* Samples of one size that differ: none where the stand-in's own clock is read. */
static size_t count_odd(const struct fulcrum_series *series)
{
    size_t odd = 0;
    for (size_t i = 0; i < series->count * series->count; i++) {
        size_t a = i / series->count;
        size_t b = i % series->count;
        bool is_pair = fabs(series->x[a] - series->x[b]) < 1.0;
        double off = fabs(series->value[a] / series->value[b] - 1.0);
        odd += is_pair && off > 0.01;
    }
    return odd;
}

TEST(test_copies_are_timed_by_the_device)
{
    struct fulcrum_bench bench;
    make_bench(&bench);
    struct fulcrum_calibration *calibration =
        probing_run(&fulcrum_probe_device, &bench, 1, 0.1);
    CU_ASSERT_EQUAL(fake_counts(FAKE_CUDA)->live, 0);
    CU_ASSERT_EQUAL(calibration->series_count, 3);
    const struct fulcrum_series *copies = &calibration->series[2];
    CU_ASSERT_STRING_EQUAL(copies->name, "device_copy");
    /* An eighth of a GiB for each array: 64 MiB are the largest, and all come. */
    double most = 0.0;
    for (size_t i = 0; i < copies->count; i++) {
        most = fmax(most, copies->x[i]);
    }
    CU_ASSERT_EQUAL(most, 2.0 * 67108864.0);
    CU_ASSERT_TRUE(copies->count >= 4);
    CU_ASSERT_EQUAL(count_odd(copies), 0);
    double rate = probing_value(calibration, "device_bandwidth_byte_per_s");
    CU_ASSERT_TRUE(rate > copies->value[0]);
    assert_close("share", probing_value(calibration, "device_bandwidth_frac"),
        rate / 4.9152e12, 1e-12);
    assert_close(
        "as built", calibration->machine.gpu.dram_byte_per_s, 4.9152e12, 1e-12);
    CU_ASSERT_TRUE(probing_value(calibration, "launch_latency_s") > 0.0);
    CU_ASSERT_TRUE(probing_value(calibration, "launch_in_row_s") > 0.0);
    fulcrum_calibration_free(calibration);
    fulcrum_canary_free(&bench.alone);
}

TEST(test_failures_end_the_probe)
{
    static const char *const failures[] = {
        "cuMemAlloc_v2:1", "kernel:1", "kernel:40", "cuEventRecord:1"};
    for (size_t i = 0; i < LENGTH(failures); i++) {
        struct fulcrum_bench bench;
        struct fulcrum_probe_state state;
        make_bench(&bench);
        ASSERT_OK(fulcrum_probe_open(&fulcrum_probe_device, &state, &bench, NULL));
        fake_set("FAKE_CUDA_FAIL", failures[i]);
        CU_ASSERT_EQUAL(
            fulcrum_probe_device.visit(&state, fulcrum_wall_s() + 0.1, NULL),
            FULCRUM_ERR_UNSUPPORTED);
        fulcrum_probe_close(&fulcrum_probe_device, &state);
        fulcrum_canary_free(&bench.alone);
        CU_ASSERT_EQUAL(fake_counts(FAKE_CUDA)->live, 0);
    }
}

TEST(test_probe_is_for_gpus)
{
    struct fulcrum_bench bench;
    make_bench(&bench);
    CU_ASSERT_TRUE(fulcrum_probe_device.applies(&bench));
    bench.learner_info.device.is_gpu = 0;
    CU_ASSERT_FALSE(fulcrum_probe_device.applies(&bench));
    make_bench(&bench);
    bench.learner = &fulcrum_learner_cpu;
    CU_ASSERT_FALSE(fulcrum_probe_device.applies(&bench));
}
