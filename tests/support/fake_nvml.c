/* fake_nvml.c - a management library whose GPUs do what a test says. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exports the calls of libnvidia-ml.so.1 that the meter makes. Built twice: as a
 * library of today, and with FAKE_NVML_OLD as one from before energy counters and
 * fields. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/fake_nvml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calibrate/meter/nvml.h"

/* What a GPU is to callers: a place in the table. */
struct nvmlDevice_st {
    struct fake_gpu *gpu;
    unsigned index;
};

static double clock_s(void)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static unsigned setting(const char *name, unsigned standard)
{
    const char *text = getenv(name);
    return text == NULL ? standard : (unsigned)strtoul(text, NULL, 10);
}

static void reset(struct fake_nvml *fake)
{
    atomic_store(&fake->init_result, (int)setting("FAKE_NVML_INIT", 0));
    atomic_store(&fake->count_result, 0);
    atomic_store(&fake->gpu_count, setting("FAKE_NVML_GPUS", 2));
    fake->start_s = clock_s();
    for (unsigned i = 0; i < FAKE_GPU_COUNT; i++) {
        struct fake_gpu *gpu = &fake->gpu[i];
        memset(gpu, 0, sizeof *gpu);
        gpu->compute_major = 9;
        gpu->energy_mj = 1000000;
        gpu->power_mw = 1000 * setting("FAKE_NVML_WATTS", 100);
        gpu->counts_power = getenv("FAKE_NVML_WATTS") != NULL;
        gpu->instant_type = FULCRUM_NVML_VALUE_UINT;
        gpu->limit_mw = 700000;
        gpu->clock_mhz = 1980;
        gpu->busy_percent = 42;
    }
}

struct fake_nvml *fake_nvml(void)
{
    static struct fake_nvml fake;
    static atomic_flag is_made = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&is_made)) {
        reset(&fake);
    }
    return &fake;
}

void fake_nvml_reset(void)
{
    reset(fake_nvml());
}

/* Named as in the real library. */
/* NOLINTBEGIN(readability-identifier-naming) */

int nvmlInit_v2(void)
{
    struct fake_nvml *fake = fake_nvml();
    if (fake->init_result == 0) {
        atomic_fetch_add(&fake->init_count, 1);
    }
    return fake->init_result;
}

int nvmlShutdown(void)
{
    atomic_fetch_sub(&fake_nvml()->init_count, 1);
    return 0;
}

const char *nvmlErrorString(int result)
{
    static const struct {
        int result;
        const char *text;
    } known[] = {{FULCRUM_NVML_NOT_SUPPORTED, "Not Supported"},
        {FULCRUM_NVML_NO_PERMISSION, "Insufficient Permissions"},
        {FULCRUM_NVML_DRIVER_NOT_LOADED, "Driver Not Loaded"},
        {FULCRUM_NVML_FUNCTION_NOT_FOUND, "Function Not Found"},
        {FULCRUM_NVML_GPU_IS_LOST, "GPU is lost"}};
    const char *text = "Unknown Error";
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        text = known[i].result == result ? known[i].text : text;
    }
    return text;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = fake_nvml()->gpu_count;
    return fake_nvml()->count_result;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, fulcrum_nvml_device *device)
{
    static struct nvmlDevice_st devices[FAKE_GPU_COUNT];
    struct fake_gpu *gpu = &fake_nvml()->gpu[index];
    devices[index] = (struct nvmlDevice_st){gpu, index};
    *device = &devices[index];
    return gpu->handle_result;
}

int nvmlDeviceGetName(fulcrum_nvml_device device, char *name, unsigned length)
{
    (void)snprintf(name, length, "Fake H%u00", device->index + 2);
    return device->gpu->info_result;
}

int nvmlDeviceGetUUID(fulcrum_nvml_device device, char *uuid, unsigned length)
{
    const char *named = getenv("FAKE_NVML_UUID");
    if (named != NULL && device->index == 0) {
        (void)snprintf(uuid, length, "%s", named);
    } else {
        (void)snprintf(uuid, length, "GPU-%04x-fake", 0xa0 + device->index);
    }
    return device->gpu->info_result;
}

int nvmlDeviceGetCudaComputeCapability(
    fulcrum_nvml_device device, int *major, int *minor)
{
    *major = device->gpu->compute_major;
    *minor = device->gpu->compute_minor;
    return device->gpu->info_result;
}

static unsigned power_mw(struct fake_gpu *gpu)
{
    unsigned delay_ms = gpu->power_delay_ms;
    struct timespec delay = {
        .tv_sec = delay_ms / 1000, .tv_nsec = 1000000L * (delay_ms % 1000)};
    (void)nanosleep(&delay, NULL);
    atomic_fetch_add(&gpu->power_reads, 1);
    double age_s = clock_s() - fake_nvml()->start_s;
    return gpu->power_mw + (unsigned)(age_s * (double)gpu->ramp_mw_per_s);
}

int nvmlDeviceGetPowerUsage(fulcrum_nvml_device device, unsigned *usage_mw)
{
    *usage_mw = power_mw(device->gpu);
    return device->gpu->usage_result;
}

int nvmlDeviceGetEnforcedPowerLimit(fulcrum_nvml_device device, unsigned *limit_mw)
{
    *limit_mw = device->gpu->limit_mw;
    return device->gpu->limit_result;
}

int nvmlDeviceGetClockInfo(fulcrum_nvml_device device, int kind, unsigned *clock_mhz)
{
    *clock_mhz = kind == FULCRUM_NVML_CLOCK_SM ? device->gpu->clock_mhz : 1;
    return device->gpu->clock_result;
}

int nvmlDeviceGetUtilizationRates(
    fulcrum_nvml_device device, struct fulcrum_nvml_utilization *rates)
{
    rates->gpu = device->gpu->busy_percent;
    return device->gpu->busy_result;
}

#ifndef FAKE_NVML_OLD
int nvmlDeviceGetMigMode(fulcrum_nvml_device device, unsigned *mode, unsigned *pending)
{
    *mode = device->gpu->mig_mode;
    *pending = 0;
    return device->gpu->mig_result;
}

int nvmlDeviceGetTotalEnergyConsumption(
    fulcrum_nvml_device device, unsigned long long *energy_mj)
{
    double age_s = clock_s() - fake_nvml()->start_s;
    double counted_mj = age_s * (double)device->gpu->power_mw;
    *energy_mj = device->gpu->energy_mj +
                 (device->gpu->counts_power ? (unsigned long long)counted_mj : 0);
    return device->gpu->energy_result;
}

int nvmlDeviceGetFieldValues(
    fulcrum_nvml_device device, int count, struct fulcrum_nvml_field *fields)
{
    for (int i = 0; i < count; i++) {
        bool is_known = fields[i].field_id == FULCRUM_NVML_FIELD_POWER_INSTANT &&
                        fields[i].scope_id == 0;
        fields[i].result =
            is_known ? device->gpu->instant_field_result : FULCRUM_NVML_NOT_SUPPORTED;
        fields[i].value_type = device->gpu->instant_type;
        fields[i].value.ulonglong = power_mw(device->gpu);
    }
    return device->gpu->instant_result;
}
#endif
/* NOLINTEND(readability-identifier-naming) */
