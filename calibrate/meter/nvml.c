/* nvml.c - what NVIDIA's management library tells of the GPUs of this machine. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The library is opened when it is asked for and needed by nothing else. A call that an
 * older one does not have is like a GPU that does not support it. The driver may refuse
 * one GPU (rights, a fault) and give the others: each keeps its own reason.
 */

#include "calibrate/meter/nvml.h"

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
static const double most_w = 1e4;

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

/* What is not told stays empty. */
static void describe(const struct fulcrum_nvml_calls *call, struct gpu *gpu)
{
    struct fulcrum_nvml_info *info = &gpu->info;
    unsigned mode = 0;
    unsigned pending = 0;
    if (call->name == NULL ||
        call->name(gpu->device, info->name, sizeof info->name) != 0) {
        info->name[0] = '\0';
    }
    if (call->uuid == NULL ||
        call->uuid(gpu->device, info->uuid, sizeof info->uuid) != 0) {
        info->uuid[0] = '\0';
    }
    if (call->compute == NULL ||
        call->compute(gpu->device, &info->compute_major, &info->compute_minor) != 0) {
        info->compute_major = 0;
        info->compute_minor = 0;
    }
    if (call->mig_mode != NULL && call->mig_mode(gpu->device, &mode, &pending) == 0) {
        info->is_mig = mode == FULCRUM_NVML_MIG_ENABLED;
    }
    info->name[sizeof info->name - 1] = '\0';
    info->uuid[sizeof info->uuid - 1] = '\0';
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
            describe(&nvml->call, &nvml->gpu[i]);
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

/* One call about one GPU. */
struct query {
    const struct fulcrum_nvml *nvml;
    size_t index;
    const char *what; /* the call's name */
};

/* What the library's number means to whoever asked. */
static enum fulcrum_status conclude(
    const struct query *query, int result, struct fulcrum_error *err)
{
    if (result == FULCRUM_NVML_SUCCESS) {
        return FULCRUM_OK;
    }
    bool is_refused = result == FULCRUM_NVML_NOT_SUPPORTED ||
                      result == FULCRUM_NVML_NO_PERMISSION ||
                      result == FULCRUM_NVML_FUNCTION_NOT_FOUND;
    return fulcrum_fail(err, is_refused ? FULCRUM_ERR_UNSUPPORTED : FULCRUM_ERR_FILE,
        "gpu-%zu: %s: %.100s", query->index, query->what,
        query->nvml->call.error_string(result));
}

/* What a call that is not there amounts to. */
enum { ABSENT = FULCRUM_NVML_FUNCTION_NOT_FOUND };

/* Whether the driver gives the GPU at all. */
static enum fulcrum_status prepare(const struct query *query, struct fulcrum_error *err)
{
    const struct fulcrum_nvml *nvml = query->nvml;
    FAIL_IF(query->index >= nvml->count, err, FULCRUM_ERR_RANGE,
        "gpu-%zu: this machine has %zu, counted from 0", query->index, nvml->count);
    const struct query handle = {nvml, query->index, "nvmlDeviceGetHandleByIndex_v2"};
    return conclude(&handle, nvml->gpu[query->index].result, err);
}

/* One unsigned number, which is what most calls give. */
static enum fulcrum_status ask(const struct query *query,
    int (*call)(fulcrum_nvml_device, unsigned *), double *out,
    struct fulcrum_error *err)
{
    unsigned value = 0;
    TRY(prepare(query, err));
    fulcrum_nvml_device device = query->nvml->gpu[query->index].device;
    TRY(conclude(query, call == NULL ? ABSENT : call(device, &value), err));
    *out = (double)value;
    return FULCRUM_OK;
}

static enum fulcrum_status take_watts(const struct query *query, double milliwatts,
    double *out, struct fulcrum_error *err)
{
    double watts = 1e-3 * milliwatts;
    FAIL_IF(!(watts >= 0 && watts <= most_w), err, FULCRUM_ERR_FORMAT,
        "gpu-%zu: %s: %.6g W is outside [0, %.6g]", query->index, query->what, watts,
        most_w);
    *out = watts;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_nvml_info(const struct fulcrum_nvml *nvml, size_t index,
    struct fulcrum_nvml_info *out, struct fulcrum_error *err)
{
    const struct query query = {nvml, index, "name"};
    TRY(prepare(&query, err));
    *out = nvml->gpu[index].info;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_nvml_energy_j(const struct fulcrum_nvml *nvml, size_t index,
    double *out, struct fulcrum_error *err)
{
    const struct query query = {nvml, index, "nvmlDeviceGetTotalEnergyConsumption"};
    unsigned long long energy_mj = 0;
    TRY(prepare(&query, err));
    int result = nvml->call.energy == NULL
                     ? ABSENT
                     : nvml->call.energy(nvml->gpu[index].device, &energy_mj);
    TRY(conclude(&query, result, err));
    *out = 1e-3 * (double)energy_mj;
    return FULCRUM_OK;
}

static enum fulcrum_status instant_power_w(const struct fulcrum_nvml *nvml,
    size_t index, double *out, struct fulcrum_error *err)
{
    const struct query query = {
        nvml, index, "nvmlDeviceGetFieldValues of NVML_FI_DEV_POWER_INSTANT"};
    struct fulcrum_nvml_field field = {.field_id = FULCRUM_NVML_FIELD_POWER_INSTANT};
    TRY(prepare(&query, err));
    int result = nvml->call.field_values == NULL
                     ? ABSENT
                     : nvml->call.field_values(nvml->gpu[index].device, 1, &field);
    TRY(conclude(&query, result, err));
    TRY(conclude(&query, field.result, err));
    /* Drivers have stored the same field in several widths. */
    switch (field.value_type) {
    case FULCRUM_NVML_VALUE_UINT:
        return take_watts(&query, field.value.uint, out, err);
    case FULCRUM_NVML_VALUE_ULONG:
        return take_watts(&query, (double)field.value.ulong, out, err);
    case FULCRUM_NVML_VALUE_ULONGLONG:
        return take_watts(&query, (double)field.value.ulonglong, out, err);
    default:
        return fulcrum_fail(err, FULCRUM_ERR_FORMAT,
            "gpu-%zu: %s: a value of type %d, an unsigned number expected", query.index,
            query.what, field.value_type);
    }
}

enum fulcrum_status fulcrum_nvml_power_w(const struct fulcrum_nvml *nvml, size_t index,
    enum fulcrum_nvml_power kind, double *out, struct fulcrum_error *err)
{
    if (kind == FULCRUM_NVML_POWER_INSTANT) {
        return instant_power_w(nvml, index, out, err);
    }
    const struct query query = {nvml, index, "nvmlDeviceGetPowerUsage"};
    double milliwatts = 0;
    TRY(ask(&query, nvml->call.power_usage, &milliwatts, err));
    return take_watts(&query, milliwatts, out, err);
}

double fulcrum_nvml_power_average_s(
    const struct fulcrum_nvml *nvml, size_t index, enum fulcrum_nvml_power kind)
{
    /* nvml.h on nvmlDeviceGetPowerUsage: Ampere (except GA100) or newer. GA100 is
     * compute capability 8.0, the other chips of Ampere are 8.6 and 8.7. */
    const double window_s = 1.0;
    if (kind == FULCRUM_NVML_POWER_INSTANT || index >= nvml->count) {
        return 0;
    }
    const struct fulcrum_nvml_info *info = &nvml->gpu[index].info;
    bool is_told = info->compute_major > 0;
    bool is_old = info->compute_major < 8 ||
                  (info->compute_major == 8 && info->compute_minor == 0);
    return is_told && is_old ? 0 : window_s;
}

enum fulcrum_status fulcrum_nvml_power_limit_w(const struct fulcrum_nvml *nvml,
    size_t index, double *out, struct fulcrum_error *err)
{
    const struct query query = {nvml, index, "nvmlDeviceGetEnforcedPowerLimit"};
    double milliwatts = 0;
    TRY(ask(&query, nvml->call.power_limit, &milliwatts, err));
    return take_watts(&query, milliwatts, out, err);
}

enum fulcrum_status fulcrum_nvml_clock_hz(const struct fulcrum_nvml *nvml, size_t index,
    double *out, struct fulcrum_error *err)
{
    const struct query query = {nvml, index, "nvmlDeviceGetClockInfo"};
    unsigned megahertz = 0;
    TRY(prepare(&query, err));
    int result = nvml->call.clock_info == NULL
                     ? ABSENT
                     : nvml->call.clock_info(
                           nvml->gpu[index].device, FULCRUM_NVML_CLOCK_SM, &megahertz);
    TRY(conclude(&query, result, err));
    *out = 1e6 * (double)megahertz;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_nvml_utilisation(const struct fulcrum_nvml *nvml,
    size_t index, double *busy_frac, struct fulcrum_error *err)
{
    const struct query query = {nvml, index, "nvmlDeviceGetUtilizationRates"};
    struct fulcrum_nvml_utilization rates = {0, 0};
    TRY(prepare(&query, err));
    int result = nvml->call.utilization == NULL
                     ? ABSENT
                     : nvml->call.utilization(nvml->gpu[index].device, &rates);
    TRY(conclude(&query, result, err));
    if (rates.gpu > 100) {
        TRY(fulcrum_fail(err, FULCRUM_ERR_FORMAT, "gpu-%zu: %s: %u %% is above 100",
            index, query.what, rates.gpu));
    }
    *busy_frac = 0.01 * (double)rates.gpu;
    return FULCRUM_OK;
}
