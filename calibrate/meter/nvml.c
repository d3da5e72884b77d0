/* nvml.c - what NVIDIA's management library tells of the GPUs of this machine. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The library is opened when it is asked for and needed by nothing else. A call that an
 * older one does not have is like a GPU that does not support it. The driver may refuse
 * one GPU (rights, a fault) and give the others: each keeps its own reason.
 */

#include "calibrate/meter/nvml.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/meter/meter.h"
#include "calibrate/shared_library.h"
#include "model/status.h"
#include "model/try.h"

/* Calls by the name that the library exports; results are enum fulcrum_nvml_result. */
struct fulcrum_nvml_calls {
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error_string)(int result);
    int (*count)(unsigned *count);
    int (*handle)(unsigned index, fulcrum_nvml_device *device);
    /* NULL where the library is too old for it. */
    int (*name)(fulcrum_nvml_device device, char *name, unsigned length);
    int (*uuid)(fulcrum_nvml_device device, char *uuid, unsigned length);
    int (*compute)(fulcrum_nvml_device device, int *major, int *minor);
    int (*mig_mode)(fulcrum_nvml_device device, unsigned *mode, unsigned *pending);
    int (*energy)(fulcrum_nvml_device device, unsigned long long *energy_mj);
    int (*power_usage)(fulcrum_nvml_device device, unsigned *power_mw);
    int (*field_values)(
        fulcrum_nvml_device device, int count, struct fulcrum_nvml_field *fields);
    int (*power_limit)(fulcrum_nvml_device device, unsigned *limit_mw);
    int (*clock_info)(fulcrum_nvml_device device, int kind, unsigned *clock_mhz);
    int (*utilization)(
        fulcrum_nvml_device device, struct fulcrum_nvml_utilization *utilization);
};

#define DEFAULT_LIBRARY "libnvidia-ml.so.1"

/* No board draws so much; what is above is no reading (all bits set, for instance). */
#define MOST_W 1e4

struct gpu {
    fulcrum_nvml_device device;
    int result; /* of getting the device */
    struct fulcrum_nvml_info info;
};

struct fulcrum_nvml {
    void *library;
    struct fulcrum_nvml_calls call;
    bool is_initialised;
    struct gpu *gpu;
    size_t count;
};

void fulcrum_nvml_close(struct fulcrum_nvml *nvml)
{
    if (nvml == NULL) {
        return;
    }
    if (nvml->is_initialised) {
        (void)nvml->call.shutdown();
    }
    fulcrum_shared_library_close(nvml->library);
    free(nvml->gpu);
    free(nvml);
}

/* Whether every call that is needed is there. */
static enum fulcrum_status find_calls(
    struct fulcrum_nvml *nvml, struct fulcrum_error *err)
{
#define ROW(member, symbol, is_optional)                                               \
    {                                                                                  \
        (symbol), offsetof(struct fulcrum_nvml_calls, member), (is_optional)           \
    }
    static const struct fulcrum_symbol symbols[] = {
        ROW(init, "nvmlInit_v2", 0),
        ROW(shutdown, "nvmlShutdown", 0),
        ROW(error_string, "nvmlErrorString", 0),
        ROW(count, "nvmlDeviceGetCount_v2", 0),
        ROW(handle, "nvmlDeviceGetHandleByIndex_v2", 0),
        ROW(name, "nvmlDeviceGetName", 1),
        ROW(uuid, "nvmlDeviceGetUUID", 1),
        ROW(compute, "nvmlDeviceGetCudaComputeCapability", 1),
        ROW(mig_mode, "nvmlDeviceGetMigMode", 1),
        ROW(energy, "nvmlDeviceGetTotalEnergyConsumption", 1),
        ROW(power_usage, "nvmlDeviceGetPowerUsage", 1),
        ROW(field_values, "nvmlDeviceGetFieldValues", 1),
        ROW(power_limit, "nvmlDeviceGetEnforcedPowerLimit", 1),
        ROW(clock_info, "nvmlDeviceGetClockInfo", 1),
        ROW(utilization, "nvmlDeviceGetUtilizationRates", 1),
    };
#undef ROW
    return fulcrum_shared_library_bind(
        nvml->library, &nvml->call, symbols, sizeof symbols / sizeof symbols[0], err);
}

/* A given root stands for another machine: nothing of this one is looked at. */
static enum fulcrum_status open_library(
    struct fulcrum_nvml *nvml, const char *root, struct fulcrum_error *err)
{
    static const char *const standard[] = {DEFAULT_LIBRARY, NULL};
    if (root[0] == '\0') {
        return fulcrum_shared_library_open(
            &nvml->library, "FULCRUM_NVML_LIBRARY", standard, err);
    }
    char path[FULCRUM_METER_PATH_SIZE];
    enum fulcrum_status status =
        fulcrum_meter_path(path, err, "%s/lib/%s", root, DEFAULT_LIBRARY);
    const char *const names[] = {path, NULL};
    return status == FULCRUM_OK
               ? fulcrum_shared_library_open(&nvml->library, "", names, err)
               : status;
}

/* 0, with the reason in `err`, where the library cannot be used. */
static int load(struct fulcrum_nvml *nvml, const char *root, struct fulcrum_error *err)
{
    if (open_library(nvml, root, err) != FULCRUM_OK) {
        (void)fulcrum_fail_in(err, FULCRUM_ERR_UNSUPPORTED, "NVIDIA's driver");
        return 0;
    }
    if (find_calls(nvml, err) != FULCRUM_OK) {
        (void)fulcrum_fail_in(
            err, FULCRUM_ERR_UNSUPPORTED, "not NVIDIA's management library");
        return 0;
    }
    int result = nvml->call.init();
    if (result != FULCRUM_NVML_SUCCESS) {
        (void)fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED, "nvmlInit_v2: %.100s",
            nvml->call.error_string(result));
        return 0;
    }
    nvml->is_initialised = 1;
    return 1;
}

/* Of a GPU that does not tell what it is: the longer settling is the safe one. */
#define POWER_AVERAGE_S 1.0

/* What is not told stays empty. */
static void describe_gpu(const struct fulcrum_nvml_calls *call, struct gpu *gpu)
{
    struct fulcrum_nvml_info *info = &gpu->info;
    unsigned mode = 0;
    unsigned pending = 0;
    int major = 0;
    int minor = 0;
    if (call->name == NULL ||
        call->name(gpu->device, info->name, sizeof info->name) != 0) {
        info->name[0] = '\0';
    }
    if (call->uuid == NULL ||
        call->uuid(gpu->device, info->uuid, sizeof info->uuid) != 0) {
        info->uuid[0] = '\0';
    }
    info->name[sizeof info->name - 1] = '\0';
    info->uuid[sizeof info->uuid - 1] = '\0';
    /* nvml.h on nvmlDeviceGetPowerUsage: Ampere (except GA100) or newer. GA100 is
     * compute capability 8.0, the other chips of Ampere are 8.6 and 8.7. */
    bool is_told =
        call->compute != NULL && call->compute(gpu->device, &major, &minor) == 0;
    bool is_old = is_told && major > 0 && (major < 8 || (major == 8 && minor == 0));
    info->power_average_s = is_old ? 0 : POWER_AVERAGE_S;
    if (call->mig_mode != NULL && call->mig_mode(gpu->device, &mode, &pending) == 0) {
        info->is_mig = mode == FULCRUM_NVML_MIG_ENABLED;
    }
}

static enum fulcrum_status find_gpus(
    struct fulcrum_nvml *nvml, struct fulcrum_error *err)
{
    unsigned count = 0;
    int result = nvml->call.count(&count);
    FAIL_IF(result != FULCRUM_NVML_SUCCESS, err, FULCRUM_ERR_UNSUPPORTED,
        "nvmlDeviceGetCount_v2: %.100s", nvml->call.error_string(result));
    FAIL_IF(count == 0, err, FULCRUM_ERR_UNSUPPORTED,
        "NVIDIA's driver is loaded and has no GPU (or hides it from this "
        "container)");
    nvml->gpu = calloc(count, sizeof *nvml->gpu);
    TRY_MEMORY(nvml->gpu, err, "%u GPUs", count);
    nvml->count = count;
    for (unsigned i = 0; i < count; i++) {
        nvml->gpu[i].result = nvml->call.handle(i, &nvml->gpu[i].device);
        if (nvml->gpu[i].result == FULCRUM_NVML_SUCCESS) {
            describe_gpu(&nvml->call, &nvml->gpu[i]);
        }
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_nvml_open(
    struct fulcrum_nvml **out, const char *root, struct fulcrum_error *err)
{
    struct fulcrum_nvml *nvml = calloc(1, sizeof *nvml);
    TRY_MEMORY(nvml, err, "NVML");
    enum fulcrum_status status =
        load(nvml, root, err) ? find_gpus(nvml, err) : FULCRUM_ERR_UNSUPPORTED;
    if (status != FULCRUM_OK) {
        fulcrum_nvml_close(nvml);
        return status;
    }
    *out = nvml;
    return FULCRUM_OK;
}

size_t fulcrum_nvml_count(const struct fulcrum_nvml *nvml)
{
    return nvml->count;
}

/* What a call that is not there amounts to. */
enum { ABSENT = FULCRUM_NVML_FUNCTION_NOT_FOUND };

/* The library's unit in ours, and what is above `most` is no reading. */
static const struct figure {
    const char *call;
    double unit;
    double most;
} figures[] = {
    [FULCRUM_NVML_ENERGY_J] = {"nvmlDeviceGetTotalEnergyConsumption", 1e-3, HUGE_VAL},
    [FULCRUM_NVML_INSTANT_W] = {"nvmlDeviceGetFieldValues of NVML_FI_DEV_POWER_INSTANT",
        1e-3, MOST_W},
    [FULCRUM_NVML_USAGE_W] = {"nvmlDeviceGetPowerUsage", 1e-3, MOST_W},
    [FULCRUM_NVML_LIMIT_W] = {"nvmlDeviceGetEnforcedPowerLimit", 1e-3, MOST_W},
    [FULCRUM_NVML_CLOCK_HZ] = {"nvmlDeviceGetClockInfo", 1e6, HUGE_VAL},
    [FULCRUM_NVML_BUSY_FRAC] = {"nvmlDeviceGetUtilizationRates", 0.01, 1},
};

/* Drivers have stored the same field in several widths; NAN: in none that we know. */
static int read_instant(
    const struct fulcrum_nvml_calls *call, fulcrum_nvml_device device, double *out)
{
    struct fulcrum_nvml_field field = {.field_id = FULCRUM_NVML_FIELD_POWER_INSTANT};
    int result =
        call->field_values == NULL ? ABSENT : call->field_values(device, 1, &field);
    *out = field.value_type == FULCRUM_NVML_VALUE_UINT    ? (double)field.value.uint
           : field.value_type == FULCRUM_NVML_VALUE_ULONG ? (double)field.value.ulong
           : field.value_type == FULCRUM_NVML_VALUE_ULONGLONG
               ? (double)field.value.ulonglong
               : (double)NAN;
    return result == FULCRUM_NVML_SUCCESS ? field.result : result;
}

static int read_energy(
    const struct fulcrum_nvml_calls *call, fulcrum_nvml_device device, double *out)
{
    unsigned long long energy_mj = 0;
    int result = call->energy == NULL ? ABSENT : call->energy(device, &energy_mj);
    *out = (double)energy_mj;
    return result;
}

/* One unsigned number, which is what the other calls give. */
static int read_number(const struct fulcrum_nvml_calls *call,
    fulcrum_nvml_device device, enum fulcrum_nvml_figure figure, double *out)
{
    struct fulcrum_nvml_utilization rates = {0, 0};
    unsigned value = 0;
    int result = ABSENT;
    if (figure == FULCRUM_NVML_USAGE_W && call->power_usage != NULL) {
        result = call->power_usage(device, &value);
    } else if (figure == FULCRUM_NVML_LIMIT_W && call->power_limit != NULL) {
        result = call->power_limit(device, &value);
    } else if (figure == FULCRUM_NVML_CLOCK_HZ && call->clock_info != NULL) {
        result = call->clock_info(device, FULCRUM_NVML_CLOCK_SM, &value);
    } else if (figure == FULCRUM_NVML_BUSY_FRAC && call->utilization != NULL) {
        result = call->utilization(device, &rates);
        value = rates.gpu;
    }
    *out = (double)value;
    return result;
}

/* What the library's number means to whoever asked. */
static enum fulcrum_status fail_call(const struct fulcrum_nvml *nvml, size_t index,
    const char *call, int result, struct fulcrum_error *err)
{
    bool is_refused = result == FULCRUM_NVML_NOT_SUPPORTED ||
                      result == FULCRUM_NVML_NO_PERMISSION || result == ABSENT;
    return fulcrum_fail(err, is_refused ? FULCRUM_ERR_UNSUPPORTED : FULCRUM_ERR_FILE,
        "gpu-%zu: %s: %.100s", index, call, nvml->call.error_string(result));
}

const struct fulcrum_nvml_info *fulcrum_nvml_info(
    const struct fulcrum_nvml *nvml, size_t index)
{
    bool is_given = nvml->gpu[index].result == FULCRUM_NVML_SUCCESS;
    return is_given ? &nvml->gpu[index].info : NULL;
}

enum fulcrum_status fulcrum_nvml_ask(const struct fulcrum_nvml *nvml, size_t index,
    enum fulcrum_nvml_figure figure, double *out, struct fulcrum_error *err)
{
    FAIL_IF(index >= nvml->count, err, FULCRUM_ERR_RANGE,
        "gpu-%zu: this machine has %zu, counted from 0", index, nvml->count);
    const struct gpu *gpu = &nvml->gpu[index];
    if (gpu->result != FULCRUM_NVML_SUCCESS) {
        return fail_call(
            nvml, index, "nvmlDeviceGetHandleByIndex_v2", gpu->result, err);
    }
    double value = 0;
    int result = figure == FULCRUM_NVML_ENERGY_J
                     ? read_energy(&nvml->call, gpu->device, &value)
                 : figure == FULCRUM_NVML_INSTANT_W
                     ? read_instant(&nvml->call, gpu->device, &value)
                     : read_number(&nvml->call, gpu->device, figure, &value);
    if (result != FULCRUM_NVML_SUCCESS) {
        return fail_call(nvml, index, figures[figure].call, result, err);
    }
    value *= figures[figure].unit;
    FAIL_IF(!(value >= 0 && value <= figures[figure].most), err, FULCRUM_ERR_FORMAT,
        "gpu-%zu: %s: %.6g is outside [0, %.6g]", index, figures[figure].call, value,
        figures[figure].most);
    *out = value;
    return FULCRUM_OK;
}
