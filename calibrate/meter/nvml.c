/* nvml.c - what NVIDIA's management library tells of the GPUs of this machine. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The library is opened when it is asked for and needed by nothing else. A call that an
 * older one does not have is like a GPU that does not support it. The driver may refuse
 * one GPU (rights, a fault) and give the others: each keeps its own reason.
 */

#include "calibrate/meter/nvml.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/meter/meter.h"
#include "calibrate/shared_library.h"
#include "model/try.h"

/* X(result, member, name in the library, 1: NULL where it is too old, parameters);
 * results that are int are enum fulcrum_nvml_result. */
/* clang-format off */
#define NVML_CALLS(X) \
    X(int, init, "nvmlInit_v2", 0, (void)) \
    X(int, shutdown, "nvmlShutdown", 0, (void)) \
    X(const char *, error_string, "nvmlErrorString", 0, (int result)) \
    X(int, count, "nvmlDeviceGetCount_v2", 0, (unsigned *count)) \
    X(int, handle, "nvmlDeviceGetHandleByIndex_v2", 0, (unsigned index, fulcrum_nvml_device *device)) \
    X(int, name, "nvmlDeviceGetName", 1, (fulcrum_nvml_device device, char *name, unsigned length)) \
    X(int, uuid, "nvmlDeviceGetUUID", 1, (fulcrum_nvml_device device, char *uuid, unsigned length)) \
    X(int, compute, "nvmlDeviceGetCudaComputeCapability", 1, \
        (fulcrum_nvml_device device, int *major, int *minor)) \
    X(int, mig_mode, "nvmlDeviceGetMigMode", 1, \
        (fulcrum_nvml_device device, unsigned *mode, unsigned *pending)) \
    X(int, energy, "nvmlDeviceGetTotalEnergyConsumption", 1, \
        (fulcrum_nvml_device device, unsigned long long *energy_mj)) \
    X(int, power_usage, "nvmlDeviceGetPowerUsage", 1, (fulcrum_nvml_device device, unsigned *power_mw)) \
    X(int, field_values, "nvmlDeviceGetFieldValues", 1, \
        (fulcrum_nvml_device device, int count, struct fulcrum_nvml_field *fields)) \
    X(int, power_limit, "nvmlDeviceGetEnforcedPowerLimit", 1, \
        (fulcrum_nvml_device device, unsigned *limit_mw)) \
    X(int, clock_info, "nvmlDeviceGetClockInfo", 1, \
        (fulcrum_nvml_device device, int kind, unsigned *clock_mhz)) \
    X(int, utilization, "nvmlDeviceGetUtilizationRates", 1, \
        (fulcrum_nvml_device device, struct fulcrum_nvml_utilization *utilization))
/* clang-format on */

struct fulcrum_nvml_calls {
/* NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define X(result, member, symbol, is_optional, parameters) result(*member) parameters;
    NVML_CALLS(X)
#undef X
};

static const struct fulcrum_symbol symbols[] = {
#define X(result, member, symbol, is_optional, parameters)                             \
    {symbol, offsetof(struct fulcrum_nvml_calls, member), is_optional},
    NVML_CALLS(X)
#undef X
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

/* Of a GPU that does not tell what it is: the longer settling is the safe one. */
#define POWER_AVERAGE_S 1.0

/* What is not told is empty. */
static void tell(fulcrum_nvml_device device,
    int (*call)(fulcrum_nvml_device device, char *text, unsigned length),
    char text[FULCRUM_NVML_TEXT_SIZE])
{
    if (call == NULL || call(device, text, FULCRUM_NVML_TEXT_SIZE) != 0) {
        text[0] = '\0';
    }
    text[FULCRUM_NVML_TEXT_SIZE - 1] = '\0';
}

static void describe_gpu(const struct fulcrum_nvml_calls *call, struct gpu *gpu)
{
    struct fulcrum_nvml_info *info = &gpu->info;
    unsigned mode = 0;
    unsigned pending = 0;
    int major = 0;
    int minor = 0;
    tell(gpu->device, call->name, info->name);
    tell(gpu->device, call->uuid, info->uuid);
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

/* A given root stands for another machine: nothing of this one is looked at. */
static enum fulcrum_status open_library(
    struct fulcrum_nvml *nvml, const char *root, struct fulcrum_error *err)
{
    char path[FULCRUM_METER_PATH_SIZE] = DEFAULT_LIBRARY;
    const char *const names[] = {path, NULL};
    if (root[0] != '\0') {
        TRY(fulcrum_meter_path(path, err, "%s/lib/%s", root, DEFAULT_LIBRARY));
    }
    return fulcrum_shared_library_open(
        &nvml->library, root[0] == '\0' ? "FULCRUM_NVML_LIBRARY" : "", names, err);
}

static enum fulcrum_status load(
    struct fulcrum_nvml *nvml, const char *root, struct fulcrum_error *err)
{
    if (open_library(nvml, root, err) != FULCRUM_OK) {
        return fulcrum_fail_in(err, FULCRUM_ERR_UNSUPPORTED, "NVIDIA's driver");
    }
    if (fulcrum_shared_library_bind(nvml->library, &nvml->call, symbols,
            sizeof symbols / sizeof symbols[0], err) != FULCRUM_OK) {
        return fulcrum_fail_in(
            err, FULCRUM_ERR_UNSUPPORTED, "not NVIDIA's management library");
    }
    int result = nvml->call.init();
    FAIL_IF(result != FULCRUM_NVML_SUCCESS, err, FULCRUM_ERR_UNSUPPORTED,
        "nvmlInit_v2: %.100s", nvml->call.error_string(result));
    nvml->is_initialised = 1;
    return find_gpus(nvml, err);
}

enum fulcrum_status fulcrum_nvml_open(
    struct fulcrum_nvml **out, const char *root, struct fulcrum_error *err)
{
    struct fulcrum_nvml *nvml = calloc(1, sizeof *nvml);
    TRY_MEMORY(nvml, err, "NVML");
    enum fulcrum_status status = load(nvml, root, err);
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
static const struct {
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
static double field_value(const struct fulcrum_nvml_field *field)
{
    return field->value_type == FULCRUM_NVML_VALUE_UINT    ? (double)field->value.uint
           : field->value_type == FULCRUM_NVML_VALUE_ULONG ? (double)field->value.ulong
           : field->value_type == FULCRUM_NVML_VALUE_ULONGLONG
               ? (double)field->value.ulonglong
               : (double)NAN;
}

/* Each figure by its call, one that is not there being absent. */
static int read_figure(const struct fulcrum_nvml_calls *call,
    fulcrum_nvml_device device, enum fulcrum_nvml_figure figure, double *out)
{
    struct fulcrum_nvml_field field = {.field_id = FULCRUM_NVML_FIELD_POWER_INSTANT};
    struct fulcrum_nvml_utilization rates = {0, 0};
    unsigned long long energy_mj = 0;
    unsigned value = 0;
    int result = ABSENT;
    if (figure == FULCRUM_NVML_ENERGY_J && call->energy != NULL) {
        result = call->energy(device, &energy_mj);
    } else if (figure == FULCRUM_NVML_INSTANT_W && call->field_values != NULL) {
        result = call->field_values(device, 1, &field);
        result = result == FULCRUM_NVML_SUCCESS ? field.result : result;
    } else if (figure == FULCRUM_NVML_USAGE_W && call->power_usage != NULL) {
        result = call->power_usage(device, &value);
    } else if (figure == FULCRUM_NVML_LIMIT_W && call->power_limit != NULL) {
        result = call->power_limit(device, &value);
    } else if (figure == FULCRUM_NVML_CLOCK_HZ && call->clock_info != NULL) {
        result = call->clock_info(device, FULCRUM_NVML_CLOCK_SM, &value);
    } else if (figure == FULCRUM_NVML_BUSY_FRAC && call->utilization != NULL) {
        result = call->utilization(device, &rates);
    }
    *out = figure == FULCRUM_NVML_INSTANT_W ? field_value(&field)
                                            : (double)energy_mj + value + rates.gpu;
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
    int result = read_figure(&nvml->call, gpu->device, figure, &value);
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
