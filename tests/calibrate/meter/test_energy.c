/* test_energy.c - joules of windows on counters and a clock of the tests' own. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/meter/energy.h"
#include "tests/support/fake_gpus.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#define CAP "sys/class/powercap/"

/* A machine of two packages with memory, whose time passes only when told to. */
struct rig {
    struct scratch scratch;
    double now_s;
    struct fulcrum_energy_meterset *set;
    struct fulcrum_energy_reading reading;
    struct fake_nvml *fake; /* of those with GPUs */
};

static double rig_clock_s(void *user)
{
    const struct rig *rig = user;
    return rig->now_s;
}

static void write_text(
    const struct rig *rig, const char *zone, const char *name, const char *text)
{
    char file[80];
    (void)snprintf(file, sizeof file, CAP "%s/%s", zone, name);
    free(scratch_write(&rig->scratch, file, text));
}

static void write_counter(const struct rig *rig, const char *zone, double joules)
{
    char text[40];
    (void)snprintf(text, sizeof text, "%.0f\n", 1e6 * joules);
    write_text(rig, zone, "energy_uj", text);
}

static void make_zone(const struct rig *rig, const char *zone, const char *name)
{
    write_text(rig, zone, "name", name);
    /* 100 kJ: at a kilowatt it wraps after 100 s. */
    write_text(rig, zone, "max_energy_range_uj", "100000000000\n");
    write_counter(rig, zone, 50);
}

static void open_set(struct rig *rig, struct fulcrum_energy_options options)
{
    options.root = rig->scratch.folder;
    options.clock_s = rig_clock_s;
    options.user = rig;
    ASSERT_OK(fulcrum_energy_open(&rig->set, &options, NULL));
}

static struct rig *rig_new(void)
{
    struct rig *rig = calloc(1, sizeof *rig);
    if (rig == NULL) {
        exit(EXIT_FAILURE);
    }
    rig->scratch = scratch_new();
    rig->now_s = 1000;
    make_zone(rig, "intel-rapl:0", "package-0\n");
    make_zone(rig, "intel-rapl:1", "package-1\n");
    make_zone(rig, "intel-rapl:0:0", "dram\n");
    return rig;
}

static void rig_free(struct rig *rig)
{
    fulcrum_energy_close(rig->set);
    scratch_free(&rig->scratch);
    free(rig);
}

static struct rig *rig_open(struct fulcrum_energy_options options)
{
    struct rig *rig = rig_new();
    open_set(rig, options);
    return rig;
}

/* A case on that machine. */
#define RIG_TEST(function) TEST_EACH(function, with_rig, struct rig *rig)
static void with_rig(void (*run)(struct rig *rig))
{
    struct rig *rig = rig_open((struct fulcrum_energy_options){0});
    run(rig);
    rig_free(rig);
}

/* The same with two GPUs that have energy counters. */
static struct rig *rig_open_gpus(struct fulcrum_energy_options options)
{
    struct rig *rig = rig_new();
    rig->fake = fake_gpus(FAKE_NVML);
    char *path = scratch_write(&rig->scratch, "lib/libnvidia-ml.so.1", "");
    (void)remove(path);
    CU_ASSERT_EQUAL_FATAL(symlink(FAKE_NVML, path), 0);
    free(path);
    open_set(rig, options);
    return rig;
}

/* The packages draw 60 W and 30 W, memory 5 W, for so long. */
static void run(struct rig *rig, double window_s)
{
    rig->now_s += window_s;
    write_counter(rig, "intel-rapl:0", 50 + 60 * (rig->now_s - 1000));
    write_counter(rig, "intel-rapl:1", 50 + 30 * (rig->now_s - 1000));
    write_counter(rig, "intel-rapl:0:0", 50 + 5 * (rig->now_s - 1000));
}

/* One window of that. */
static void measure(struct rig *rig, double window_s, double step_count)
{
    fulcrum_energy_begin(rig->set);
    run(rig, window_s);
    fulcrum_energy_end(rig->set, step_count, &rig->reading);
}

static void assert_unknown(const char *what, double value)
{
    assert_close(what, isnan(value) ? 0 : value, 0, 0);
    CU_ASSERT(isnan(value));
}

RIG_TEST(test_windows_tell_watts_and_joules_per_step)
{
    CU_ASSERT(!fulcrum_energy_has_gpu(rig->set));
    run(rig, 3);
    measure(rig, 2, 1000);
    assert_close("window", rig->reading.window_s, 2, 1e-12);
    assert_close("packages", rig->reading.cpu_w, 90, 1e-9);
    assert_close("step", rig->reading.j_per_step, 0.19, 1e-9);
    assert_unknown("GPU", rig->reading.gpu_w);
    assert_part(rig->reading.reason, "nvml: ");
}

RIG_TEST(test_short_windows_are_refused)
{
    assert_close("shortest", fulcrum_energy_least_window_s(rig->set), 0.01, 1e-12);
    measure(rig, 0.009, 10);
    assert_unknown("watts", rig->reading.cpu_w);
    assert_unknown("joules of a step", rig->reading.j_per_step);
    assert_part(rig->reading.reason,
        "package-0: a window of 0.009 s is shorter than the 0.01 s it needs");
    measure(rig, 0.0101, 10);
    assert_close("watts", rig->reading.cpu_w, 90, 1e-3);
}

/* 100 kJ at no more than a kilowatt: 100 s. */
RIG_TEST(test_long_windows_need_refreshing)
{
    measure(rig, 101, 10);
    assert_unknown("watts", rig->reading.cpu_w);
    assert_part(rig->reading.reason, "may wrap twice");
    fulcrum_energy_begin(rig->set);
    run(rig, 99);
    write_text(rig, "intel-rapl:1", "energy_uj", "lost\n");
    fulcrum_energy_refresh(rig->set);
    run(rig, 1);
    fulcrum_energy_end(rig->set, 10, &rig->reading);
    assert_part(rig->reading.reason, "\"lost\"");
    fulcrum_energy_begin(rig->set);
    for (int i = 0; i < 4; i++) {
        run(rig, 60);
        fulcrum_energy_refresh(rig->set);
    }
    fulcrum_energy_end(rig->set, 10, &rig->reading);
    assert_close("window", rig->reading.window_s, 240, 1e-12);
    assert_close("watts", rig->reading.cpu_w, 90, 1e-9);
}

TEST(test_wraps_within_a_window_are_counted)
{
    struct rig *rig = rig_new();
    write_counter(rig, "intel-rapl:0", 99990);
    write_counter(rig, "intel-rapl:1", 100);
    write_counter(rig, "intel-rapl:0:0", 100);
    open_set(rig, (struct fulcrum_energy_options){0});
    fulcrum_energy_begin(rig->set);
    rig->now_s += 2;
    write_counter(rig, "intel-rapl:0", 90);
    write_counter(rig, "intel-rapl:1", 140);
    write_counter(rig, "intel-rapl:0:0", 110);
    fulcrum_energy_end(rig->set, 1, &rig->reading);
    assert_close("packages", rig->reading.cpu_w, (100 + 40) / 2.0, 1e-9);
    rig_free(rig);
}

/* One dead package makes the sum of packages unknown. */
RIG_TEST(test_a_counter_that_stands_still_is_no_zero)
{
    fulcrum_energy_begin(rig->set);
    run(rig, 2);
    write_counter(rig, "intel-rapl:1", 50);
    fulcrum_energy_end(rig->set, 10, &rig->reading);
    assert_unknown("packages", rig->reading.cpu_w);
    assert_unknown("step", rig->reading.j_per_step);
    assert_part(rig->reading.reason, "package-1: its counter stood still for 2 s");
}

/* A window of three readings, one of which (3: none) fails. */
static void run_with_loss(struct rig *rig, int lost)
{
    run(rig, 1);
    if (lost == 0) {
        write_text(rig, "intel-rapl:1", "energy_uj", "lost\n");
    }
    fulcrum_energy_begin(rig->set);
    run(rig, 1);
    if (lost == 1) {
        write_text(rig, "intel-rapl:1", "energy_uj", "lost\n");
    }
    fulcrum_energy_refresh(rig->set);
    run(rig, 1);
    if (lost == 2) {
        write_text(rig, "intel-rapl:1", "energy_uj", "lost\n");
    }
    fulcrum_energy_end(rig->set, 10, &rig->reading);
}

/* At the start or at the end; between them nothing is read that is not needed. */
RIG_TEST(test_counters_that_cannot_be_read_are_told)
{
    for (int lost = 0; lost < 3; lost += 2) {
        run_with_loss(rig, lost);
        assert_unknown("watts", rig->reading.cpu_w);
        assert_part(rig->reading.reason, "intel-rapl:1/energy_uj: \"lost\"");
    }
    run_with_loss(rig, 1);
    assert_close("watts", rig->reading.cpu_w, 90, 1e-9);
    run_with_loss(rig, 3);
    assert_close("watts", rig->reading.cpu_w, 90, 1e-9);
    CU_ASSERT_PTR_NULL(strstr(rig->reading.reason, "lost"));
}

TEST(test_without_meters_everything_has_a_reason)
{
    struct rig *rig = rig_new();
    scratch_free(&rig->scratch);
    open_set(rig, (struct fulcrum_energy_options){.uses_gpu = 1});
    assert_close("shortest", fulcrum_energy_least_window_s(rig->set), 0, 0);
    assert_close("settles", fulcrum_energy_settle_s(rig->set), 0, 0);
    fulcrum_energy_begin(rig->set);
    rig->now_s += 3;
    fulcrum_energy_end(rig->set, 10, &rig->reading);
    assert_close("window", rig->reading.window_s, 3, 1e-12);
    assert_unknown("packages", rig->reading.cpu_w);
    assert_unknown("GPU", rig->reading.gpu_w);
    assert_unknown("step", rig->reading.j_per_step);
    assert_part(rig->reading.reason, "powercap: ");
    assert_part(rig->reading.reason, "perf: ");
    CU_ASSERT_PTR_NULL(strchr(rig->reading.reason, '\n'));
    rig_free(rig);
    fulcrum_energy_close(NULL);
}

RIG_TEST(test_windows_have_a_beginning_and_steps)
{
    static const double no_steps[] = {0, -1, (double)NAN, HUGE_VAL};
    fulcrum_energy_end(rig->set, 10, &rig->reading);
    assert_unknown("window", rig->reading.window_s);
    assert_unknown("watts", rig->reading.cpu_w);
    CU_ASSERT_STRING_EQUAL(rig->reading.reason, "no window was begun");
    for (size_t i = 0; i < LENGTH(no_steps); i++) {
        measure(rig, 1, no_steps[i]);
        assert_close("watts", rig->reading.cpu_w, 90, 1e-9);
        assert_unknown("step", rig->reading.j_per_step);
        assert_part(rig->reading.reason, "no step within the window");
    }
    fulcrum_energy_end(rig->set, 10, &rig->reading);
    CU_ASSERT_STRING_EQUAL(rig->reading.reason, "no window was begun");
}

/* One window in which the GPUs draw 100 W and 400 W. */
static void run_gpus(struct rig *rig, double window_s)
{
    fulcrum_energy_begin(rig->set);
    run(rig, window_s);
    rig->fake->gpu[0].energy_mj += (unsigned long long)(100e3 * window_s + 0.5);
    rig->fake->gpu[1].energy_mj += (unsigned long long)(400e3 * window_s + 0.5);
    fulcrum_energy_end(rig->set, 1000, &rig->reading);
}

TEST(test_gpus_are_counted_together_or_by_name)
{
    static const struct {
        const char *gpu;
        int uses_gpu;
        double gpu_w;
        double step_j; /* beside 95 W of processors and memory */
    } rows[] = {
        {NULL, 0, 500, 0.285},
        {"", 0, 500, 0.285},
        {NULL, 1, 500, 1.785},
        {"gpu-1", 1, 400, 1.485},
        {"GPU-00a0-fake", 1, 100, 0.585},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct rig *rig = rig_open_gpus((struct fulcrum_energy_options){
            .gpu = rows[i].gpu, .uses_gpu = rows[i].uses_gpu});
        CU_ASSERT(fulcrum_energy_has_gpu(rig->set));
        run_gpus(rig, 3);
        assert_close("GPUs", rig->reading.gpu_w, rows[i].gpu_w, 1e-9);
        assert_close("packages", rig->reading.cpu_w, 90, 1e-9);
        assert_close("step", rig->reading.j_per_step, rows[i].step_j, 1e-9);
        CU_ASSERT_STRING_EQUAL(rig->reading.reason, "");
        rig_free(rig);
    }
}

TEST(test_gpu_may_be_chosen_later)
{
    struct rig *rig = rig_open_gpus((struct fulcrum_energy_options){.uses_gpu = 1});
    CU_ASSERT(!fulcrum_energy_choose_gpu(rig->set, "GPU-00a2-fake"));
    run_gpus(rig, 3);
    assert_unknown("none", rig->reading.gpu_w);
    CU_ASSERT(fulcrum_energy_choose_gpu(rig->set, "GPU-00a1-fake"));
    run_gpus(rig, 3);
    assert_close("second", rig->reading.gpu_w, 400, 1e-9);
    CU_ASSERT_STRING_EQUAL(rig->reading.reason, "");
    struct fulcrum_energy_domain domain;
    CU_ASSERT_FATAL(fulcrum_energy_gpu(rig->set, 1, &domain));
    CU_ASSERT_STRING_EQUAL(domain.meter, "nvml");
    CU_ASSERT_STRING_EQUAL(domain.domain->name, "gpu-1");
    assert_close("its joules", domain.window_j, 1200, 1e-9);
    CU_ASSERT(!fulcrum_energy_gpu(rig->set, 2, &domain));
    CU_ASSERT(fulcrum_energy_choose_gpu(rig->set, NULL));
    run_gpus(rig, 3);
    assert_close("both", rig->reading.gpu_w, 500, 1e-9);
    rig_free(rig);
    rig = rig_open((struct fulcrum_energy_options){.uses_gpu = 1});
    CU_ASSERT(!fulcrum_energy_choose_gpu(rig->set, NULL));
    measure(rig, 2, 10);
    assert_close("watts", rig->reading.cpu_w, 90, 1e-9);
    assert_unknown("not from its processors alone", rig->reading.j_per_step);
    rig_free(rig);
}

TEST(test_gpu_that_is_not_there_is_not_measured)
{
    struct rig *rig =
        rig_open_gpus((struct fulcrum_energy_options){.gpu = "gpu-2", .uses_gpu = 1});
    CU_ASSERT(!fulcrum_energy_has_gpu(rig->set));
    run_gpus(rig, 3);
    assert_unknown("GPU", rig->reading.gpu_w);
    assert_unknown("step", rig->reading.j_per_step);
    assert_part(rig->reading.reason, "meter nvml has no \"gpu-2\" among its 2 domains");
    rig_free(rig);
}

/* Long enough for the processors' counters is not long enough for those of GPUs. */
TEST(test_gpus_need_longer_windows)
{
    struct rig *rig = rig_open_gpus((struct fulcrum_energy_options){.uses_gpu = 1});
    assert_close("shortest", fulcrum_energy_least_window_s(rig->set), 2, 1e-12);
    assert_close("settles", fulcrum_energy_settle_s(rig->set), 1, 1e-12);
    run_gpus(rig, 1.9);
    assert_unknown("GPUs", rig->reading.gpu_w);
    assert_unknown("step", rig->reading.j_per_step);
    assert_close("packages", rig->reading.cpu_w, 90, 1e-9);
    assert_part(rig->reading.reason,
        "gpu-0: a window of 1.9 s is shorter than the 2 s it needs; gpu-1: ");
    run_gpus(rig, 2.1);
    assert_close("GPUs", rig->reading.gpu_w, 500, 1e-9);
    rig_free(rig);
}

TEST(test_gpus_that_fail_are_named)
{
    struct rig *rig = rig_open_gpus((struct fulcrum_energy_options){.uses_gpu = 1});
    fulcrum_energy_begin(rig->set);
    run(rig, 3);
    rig->fake->gpu[0].energy_mj += 1000;
    fulcrum_energy_end(rig->set, 1000, &rig->reading);
    assert_unknown("one stands still", rig->reading.gpu_w);
    assert_part(rig->reading.reason, "gpu-1: its counter stood still for 3 s");
    fulcrum_energy_begin(rig->set);
    run(rig, 3);
    rig->fake->gpu[0].energy_mj = 5;
    rig->fake->gpu[1].energy_mj += 1000;
    fulcrum_energy_end(rig->set, 1000, &rig->reading);
    assert_unknown("one went back", rig->reading.gpu_w);
    assert_part(rig->reading.reason, "gpu-0: its counter went back");
    rig->fake->gpu[1].energy_result = 15;
    run_gpus(rig, 3);
    assert_unknown("one is lost", rig->reading.gpu_w);
    assert_unknown("step", rig->reading.j_per_step);
    assert_part(
        rig->reading.reason, "gpu-1: nvmlDeviceGetTotalEnergyConsumption: GPU is lost");
    assert_close("packages", rig->reading.cpu_w, 90, 1e-9);
    rig->fake->gpu[1].energy_result = 0;
    run_gpus(rig, 3);
    assert_close("back again", rig->reading.gpu_w, 500, 1e-9);
    rig_free(rig);
}
