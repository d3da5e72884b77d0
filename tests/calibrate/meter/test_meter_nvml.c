/* test_meter_nvml.c - energy of GPUs that do what a test says. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "calibrate/meter/meter.h"
#include "calibrate/stopwatch.h"
#include "tests/support/fake_gpus.h"
#include "tests/support/suite.h"

enum { NOT_SUPPORTED = 3, LOST = 15 };

static struct fulcrum_meter_state *open_meter(void)
{
    struct fulcrum_meter_state *state = NULL;
    ASSERT_OK(fulcrum_meter_nvml.open("", &state, NULL));
    return state;
}

/* Only watts, and of the older kind unless `instant`. */
static void leave_watts_only(struct fake_gpu *gpu, int instant)
{
    gpu->energy_result = NOT_SUPPORTED;
    gpu->instant_field_result = instant ? 0 : NOT_SUPPORTED;
}

TEST(test_counters_are_read_since_open)
{
    struct fake_nvml *fake = fake_gpus(FAKE_NVML);
    double energy_j[2] = {-1, -1};
    fake->gpu[1].energy_mj = 5000000000000ULL;
    struct fulcrum_meter_state *state = open_meter();
    ASSERT_OK(fulcrum_meter_nvml.read(state, energy_j, NULL));
    assert_close("at open", energy_j[0], 0, 0);
    assert_close("at open", energy_j[1], 0, 0);
    fake->gpu[0].energy_mj += 2500;
    fake->gpu[1].energy_mj += 7;
    ASSERT_OK(fulcrum_meter_nvml.read(state, energy_j, NULL));
    assert_close("first", energy_j[0], 2.5, 1e-9);
    assert_close("second", energy_j[1], 0.007, 1e-3);
    CU_ASSERT_EQUAL(fake->gpu[0].power_reads, 0);
    fulcrum_meter_nvml.close(state);
    CU_ASSERT_EQUAL(fake->init_count, 0);
}

/* Each way to read a GPU has windows of its own; nobody is asked in vain. */
TEST(test_domains_say_how_they_are_read_and_over_what)
{
    static const struct {
        int energy_result;
        int instant_result;
        int compute_minor; /* of 8.x: 0 tells watts as they are, 6 means of a second */
        double least_window_s;
        double settle_s;
        const char *detail;
    } rows[] = {
        {0, 0, 0, 2, 1, "Fake H200 GPU-00a0-fake; energy counter"},
        {NOT_SUPPORTED, 0, 6, 1, 0.2, "; watts of the moment, added up"},
        {NOT_SUPPORTED, NOT_SUPPORTED, 6, 2, 1, "; watts, added up"},
        {4, NOT_SUPPORTED, 0, 1, 0.2, "; watts, added up"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct fake_nvml *fake = fake_gpus(FAKE_NVML);
        struct fake_gpu *gpu = &fake->gpu[0];
        gpu->energy_result = rows[i].energy_result;
        gpu->instant_field_result = rows[i].instant_result;
        gpu->compute_major = 8;
        gpu->compute_minor = rows[i].compute_minor;
        struct fulcrum_meter_state *state = open_meter();
        size_t count = 0;
        const struct fulcrum_meter_domain *domain =
            fulcrum_meter_nvml.domains(state, &count);
        CU_ASSERT_EQUAL(count, 2);
        CU_ASSERT_STRING_EQUAL(domain->name, "gpu-0");
        CU_ASSERT_STRING_EQUAL(domain[1].name, "gpu-1");
        CU_ASSERT_EQUAL(domain->scope, FULCRUM_METER_GPU);
        assert_close("window", domain->least_window_s, rows[i].least_window_s, 1e-12);
        assert_close("settles", domain->settle_s, rows[i].settle_s, 1e-12);
        assert_part(domain->detail, rows[i].detail);
        fulcrum_meter_nvml.close(state);
    }
}

TEST(test_instances_are_told_to_share_their_gpu)
{
    fake_gpus(FAKE_NVML)->gpu[1].mig_mode = 1;
    struct fulcrum_meter_state *state = open_meter();
    size_t count = 0;
    const struct fulcrum_meter_domain *domain =
        fulcrum_meter_nvml.domains(state, &count);
    CU_ASSERT_PTR_NULL(strstr(domain[0].detail, "MIG"));
    assert_part(domain[1].detail, "(MIG: of the whole GPU)");
    fulcrum_meter_nvml.close(state);
}

/* Reads with the clock beside it; again where the machine was elsewhere meanwhile. */
static double read_at(struct fulcrum_meter_state *state, double energy_j[2])
{
    for (;;) {
        double before_s = fulcrum_wall_s();
        ASSERT_OK(fulcrum_meter_nvml.read(state, energy_j, NULL));
        double after_s = fulcrum_wall_s();
        if (after_s - before_s < 1e-3) {
            return 0.5 * (before_s + after_s);
        }
    }
}

/* 50 W and 200 W more each second: trapezoids meet it but for the time of a read. */
TEST(test_watts_of_a_ramp_are_added_up)
{
    for (int instant = 0; instant < 2; instant++) {
        struct fake_nvml *fake = fake_gpus(FAKE_NVML);
        double begin_j[2];
        double end_j[2];
        leave_watts_only(&fake->gpu[0], instant);
        leave_watts_only(&fake->gpu[1], instant);
        fake->gpu[0].power_mw = 50000;
        fake->gpu[0].ramp_mw_per_s = 200000;
        fake->gpu[1].power_mw = 300000;
        struct fulcrum_meter_state *state = open_meter();
        double begin_s = read_at(state, begin_j) - fake->start_s;
        fulcrum_sleep_s(0.7);
        double end_s = read_at(state, end_j) - fake->start_s;
        double ramp_j =
            50 * (end_s - begin_s) + 100 * (end_s * end_s - begin_s * begin_s);
        assert_close("ramp", end_j[0] - begin_j[0], ramp_j, 0.01);
        assert_close("steady", end_j[1] - begin_j[1], 300 * (end_s - begin_s), 0.01);
        /* A thread asked meanwhile, not only the two reads. */
        CU_ASSERT(fake->gpu[0].power_reads >= 6);
        fulcrum_meter_nvml.close(state);
    }
}

/* A driver that was loaded again: nobody knows what the counter missed. */
TEST(test_counter_that_goes_back_is_no_reading)
{
    struct fake_nvml *fake = fake_gpus(FAKE_NVML);
    double energy_j[2] = {0, 0};
    struct fulcrum_meter_state *state = open_meter();
    fake->gpu[0].energy_mj += 3000;
    ASSERT_OK(fulcrum_meter_nvml.read(state, energy_j, NULL));
    assert_close("before", energy_j[0], 3, 1e-9);
    CU_ASSERT_STRING_EQUAL(fulcrum_meter_nvml.why(state, 0), "");
    fake->gpu[0].energy_mj = 10;
    fake->gpu[1].energy_mj += 1000;
    ASSERT_OK(fulcrum_meter_nvml.read(state, energy_j, NULL));
    CU_ASSERT(isnan(energy_j[0]));
    assert_part(fulcrum_meter_nvml.why(state, 0),
        "gpu-0: its counter went back from 1003 J to 0.01 J");
    assert_close("the other", energy_j[1], 1, 1e-9);
    CU_ASSERT_STRING_EQUAL(fulcrum_meter_nvml.why(state, 1), "");
    fake->gpu[0].energy_mj = 2010;
    ASSERT_OK(fulcrum_meter_nvml.read(state, energy_j, NULL));
    assert_close("goes on", energy_j[0], 3 + 2, 1e-9);
    fulcrum_meter_nvml.close(state);
}

TEST(test_gpu_lost_in_the_middle_is_named)
{
    struct fake_nvml *fake = fake_gpus(FAKE_NVML);
    double energy_j[2] = {0, 0};
    struct fulcrum_error err = {FULCRUM_OK, ""};
    struct fulcrum_meter_state *state = open_meter();
    fake->gpu[1].energy_result = LOST;
    fake->gpu[0].energy_mj += 4000;
    ASSERT_OK(fulcrum_meter_nvml.read(state, energy_j, &err));
    assert_close("the other", energy_j[0], 4, 1e-9);
    CU_ASSERT(isnan(energy_j[1]));
    assert_part(fulcrum_meter_nvml.why(state, 1),
        "gpu-1: nvmlDeviceGetTotalEnergyConsumption: GPU is lost");
    fake->gpu[0].energy_result = LOST;
    energy_j[0] = 7;
    CU_ASSERT_EQUAL(fulcrum_meter_nvml.read(state, energy_j, &err), FULCRUM_ERR_FILE);
    assert_close("unchanged", energy_j[0], 7, 0);
    assert_part(err.detail, "gpu-0: ");
    assert_part(err.detail, "\ngpu-1: ");
    fulcrum_meter_nvml.close(state);
}

/* Between two reads nobody looked, and the thread remembers what it saw. */
TEST(test_watts_lost_between_two_reads_are_told)
{
    struct fake_nvml *fake = fake_gpus(FAKE_NVML);
    double energy_j[2] = {0, 0};
    leave_watts_only(&fake->gpu[0], 1);
    struct fulcrum_meter_state *state = open_meter();
    ASSERT_OK(fulcrum_meter_nvml.read(state, energy_j, NULL));
    CU_ASSERT(!isnan(energy_j[0]));
    fake->gpu[0].instant_field_result = LOST;
    unsigned reads = fake->gpu[0].power_reads;
    while (fake->gpu[0].power_reads < reads + 2) {
        fulcrum_sleep_s(0.01);
    }
    fake->gpu[0].instant_field_result = 0;
    ASSERT_OK(fulcrum_meter_nvml.read(state, energy_j, NULL));
    CU_ASSERT(isnan(energy_j[0]));
    assert_part(fulcrum_meter_nvml.why(state, 0), "GPU is lost");
    ASSERT_OK(fulcrum_meter_nvml.read(state, energy_j, NULL));
    CU_ASSERT(!isnan(energy_j[0]));
    fulcrum_meter_nvml.close(state);
}

/* The first question takes 2.2 s: between it and the one before lies over a second. */
TEST(test_watts_that_nobody_asked_for_are_a_gap)
{
    struct fake_nvml *fake = fake_gpus(FAKE_NVML);
    double energy_j[2] = {0, 0};
    leave_watts_only(&fake->gpu[0], 1);
    struct fulcrum_meter_state *state = open_meter();
    fake->gpu[0].power_delay_ms = 2400;
    fulcrum_sleep_s(0.2);
    fake->gpu[0].power_delay_ms = 0;
    ASSERT_OK(fulcrum_meter_nvml.read(state, energy_j, NULL));
    CU_ASSERT(isnan(energy_j[0]));
    assert_part(
        fulcrum_meter_nvml.why(state, 0), "gpu-0: its watts were not asked for");
    fulcrum_meter_nvml.close(state);
}

TEST(test_gpu_that_cannot_be_read_is_no_zero)
{
    struct fake_nvml *fake = fake_gpus(FAKE_NVML);
    double energy_j[2] = {0, 0};
    leave_watts_only(&fake->gpu[0], 0);
    fake->gpu[0].usage_result = NOT_SUPPORTED;
    struct fulcrum_meter_state *state = open_meter();
    size_t count = 0;
    const struct fulcrum_meter_domain *domain =
        fulcrum_meter_nvml.domains(state, &count);
    assert_part(domain->detail, "; no reading");
    ASSERT_OK(fulcrum_meter_nvml.read(state, energy_j, NULL));
    CU_ASSERT(isnan(energy_j[0]));
    assert_part(
        fulcrum_meter_nvml.why(state, 0), "gpu-0: nvmlDeviceGetPowerUsage: Not");
    assert_close("the other", energy_j[1], 0, 0);
    fulcrum_meter_nvml.close(state);
}

TEST(test_machine_without_readings_has_no_meter)
{
    struct fake_nvml *fake = fake_gpus(FAKE_NVML);
    struct fulcrum_meter_state *state = NULL;
    const struct fulcrum_meter *meter = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    for (size_t i = 0; i < 2; i++) {
        leave_watts_only(&fake->gpu[i], 0);
        fake->gpu[i].usage_result = 4;
    }
    CU_ASSERT_EQUAL(fulcrum_meter_nvml.open("", &state, &err), FULCRUM_ERR_UNSUPPORTED);
    CU_ASSERT_PTR_NULL(state);
    assert_part(
        err.detail, "gpu-0: nvmlDeviceGetTotalEnergyConsumption: Not Supported");
    assert_part(err.detail, "gpu-1: nvmlDeviceGetPowerUsage: Insufficient Permissions");
    CU_ASSERT_EQUAL(fake->init_count, 0);
    CU_ASSERT_EQUAL(
        fulcrum_meter_open_first(&meter, &state, FULCRUM_METER_GPU, "", &err),
        FULCRUM_ERR_UNSUPPORTED);
    assert_part(err.detail, "nvml: gpu-0: ");
    fulcrum_meter_nvml.close(NULL);
}

TEST(test_open_first_finds_gpus_by_scope)
{
    const struct fulcrum_meter *meter = NULL;
    struct fulcrum_meter_state *state = NULL;
    (void)fake_gpus(FAKE_NVML);
    ASSERT_OK(fulcrum_meter_open_first(&meter, &state, FULCRUM_METER_GPU, "", NULL));
    CU_ASSERT_STRING_EQUAL(meter->name, "nvml");
    meter->close(state);
}
