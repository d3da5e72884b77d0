/* meter_nvml.c - energy of GPUs, counted by the board or watts added up over time. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Boards from Volta on count millijoules themselves. Others tell watts only: a thread
 * asks for them every 50 ms and adds trapezoids. Which watts these are depends on chip
 * and driver: those of the moment where there are any, otherwise the mean of the last
 * second (nvml.h), which shows a change of load a second late. The counter ticks every
 * 20 to 100 ms, and what is behind its ticks is not told, so that it gets a generous
 * window too. Readings are of the whole board, also where it is cut into instances.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calibrate/meter/meter.h"
#include "calibrate/meter/nvml.h"
#include "calibrate/shared_library.h"
#include "calibrate/stopwatch.h"
#include "model/try.h"

#define SAMPLE_S 0.05

/* Watts so far apart in time say little of what lay between. */
#define GAP_S 1.0

/* Twenty slow ticks, and twice the longest mean of the past. */
#define COUNTER_WINDOW_S 2.0

/* The counter may be fed from means of up to a second. */
#define COUNTER_SETTLE_S 1.0

/* Watts of the moment are refreshed some ten times a second: ten refreshes, and two
 * until a new load shows. */
#define INSTANT_WINDOW_S 1.0
#define INSTANT_SETTLE_S 0.2

struct gauge {
    enum fulcrum_nvml_figure way; /* the counter, or one of two kinds of watts */
    double energy_j;              /* since `open`; goes on after a fault */
    double counter_j;
    double last_s; /* of the last sample; NAN: none to go on from */
    double last_w;
    char fault[FULCRUM_METER_DOUBT_SIZE]; /* the first since the last read; "" none */
    char told[FULCRUM_METER_DOUBT_SIZE];  /* of the last read, lent to the caller */
};

struct fulcrum_meter_state {
    struct fulcrum_nvml *nvml;
    struct fulcrum_meter_domain *domain;
    struct gauge *gauge;
    size_t count;
    pthread_mutex_t lock; /* of the gauges */
    pthread_cond_t wake;
    pthread_t sampler;
    bool has_sampler;
    int ends;
};

/* A counter starts over with the driver: what was counted before is lost. */
static void take_count(struct fulcrum_meter_state *state, size_t i)
{
    struct gauge *gauge = &state->gauge[i];
    struct fulcrum_error err = {FULCRUM_OK, ""};
    double now_j = 0;
    if (fulcrum_nvml_ask(state->nvml, i, FULCRUM_NVML_ENERGY_J, &now_j, &err) !=
        FULCRUM_OK) {
        fulcrum_meter_doubt(gauge->fault, "%s", err.detail);
        return;
    }
    if (now_j < gauge->counter_j) {
        fulcrum_meter_doubt(gauge->fault,
            "gpu-%zu: its counter went back from %.9g J to %.9g J", i, gauge->counter_j,
            now_j);
    } else {
        gauge->energy_j += now_j - gauge->counter_j;
    }
    gauge->counter_j = now_j;
}

static void take_watts(struct fulcrum_meter_state *state, size_t i)
{
    struct gauge *gauge = &state->gauge[i];
    struct fulcrum_error err = {FULCRUM_OK, ""};
    double watts = 0;
    double before_s = fulcrum_wall_s();
    enum fulcrum_status status =
        fulcrum_nvml_ask(state->nvml, i, gauge->way, &watts, &err);
    double now_s = 0.5 * (before_s + fulcrum_wall_s());
    if (status == FULCRUM_OK) {
        /* The trapezoid from the last sample to this one. */
        double gap_s = now_s - gauge->last_s;
        if (gap_s > GAP_S) {
            fulcrum_meter_doubt(gauge->fault,
                "gpu-%zu: its watts were not asked for over %.3g s", i, gap_s);
        } else if (gap_s > 0) {
            gauge->energy_j += 0.5 * (watts + gauge->last_w) * gap_s;
        }
        gauge->last_s = now_s;
        gauge->last_w = watts;
    } else {
        fulcrum_meter_doubt(gauge->fault, "%s", err.detail);
        gauge->last_s = (double)NAN;
    }
}

static void take_all_watts(struct fulcrum_meter_state *state)
{
    for (size_t i = 0; i < state->count; i++) {
        if (state->gauge[i].way != FULCRUM_NVML_ENERGY_J) {
            take_watts(state, i);
        }
    }
}

static void *sample(void *argument)
{
    struct fulcrum_meter_state *state = argument;
    double next_s = fulcrum_wall_s();
    (void)pthread_mutex_lock(&state->lock);
    while (!state->ends) {
        take_all_watts(state);
        next_s = fmax(next_s + SAMPLE_S, fulcrum_wall_s());
        double whole_s = floor(next_s);
        struct timespec at = {(time_t)whole_s, (long)(1e9 * (next_s - whole_s))};
        (void)pthread_cond_timedwait(&state->wake, &state->lock, &at);
    }
    (void)pthread_mutex_unlock(&state->lock);
    return NULL;
}

static void nvml_close(struct fulcrum_meter_state *state)
{
    if (state == NULL) {
        return;
    }
    if (state->has_sampler) {
        (void)pthread_mutex_lock(&state->lock);
        state->ends = 1;
        (void)pthread_cond_signal(&state->wake);
        (void)pthread_mutex_unlock(&state->lock);
        (void)pthread_join(state->sampler, NULL);
    }
    (void)pthread_cond_destroy(&state->wake);
    (void)pthread_mutex_destroy(&state->lock);
    fulcrum_nvml_close(state->nvml);
    free(state->domain);
    free(state->gauge);
    free(state);
}

/* The best way to read a GPU; `why` gets a line for each that does not work. */
static int choose_way(
    struct fulcrum_meter_state *state, size_t i, struct fulcrum_error *why)
{
    static const enum fulcrum_nvml_figure ways[] = {
        FULCRUM_NVML_ENERGY_J, FULCRUM_NVML_INSTANT_W, FULCRUM_NVML_USAGE_W};
    struct gauge *gauge = &state->gauge[i];
    gauge->last_s = (double)NAN;
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        struct fulcrum_error one = {FULCRUM_OK, ""};
        double value = 0;
        gauge->way = ways[k];
        if (fulcrum_nvml_ask(state->nvml, i, ways[k], &value, &one) == FULCRUM_OK) {
            gauge->counter_j = value; /* used of the counter only */
            return 1;
        }
        if (ways[k] != FULCRUM_NVML_INSTANT_W) {
            (void)fulcrum_fail_more(why, FULCRUM_ERR_UNSUPPORTED, "%s", one.detail);
        }
    }
    return 0;
}

static void describe_domain(struct fulcrum_meter_state *state, size_t i, int works)
{
    static const char *const ways[] = {[FULCRUM_NVML_ENERGY_J] = "energy counter",
        [FULCRUM_NVML_INSTANT_W] = "watts of the moment, added up",
        [FULCRUM_NVML_USAGE_W] = "watts, added up"};
    static const struct fulcrum_nvml_info refused = {
        .name = "a GPU that the driver refuses", .power_average_s = 1};
    struct fulcrum_meter_domain *domain = &state->domain[i];
    enum fulcrum_nvml_figure way = state->gauge[i].way;
    const struct fulcrum_nvml_info *told = fulcrum_nvml_info(state->nvml, i);
    const struct fulcrum_nvml_info *info = told != NULL ? told : &refused;
    bool is_average = way == FULCRUM_NVML_USAGE_W && info->power_average_s > 0;
    domain->scope = FULCRUM_METER_GPU;
    domain->least_window_s = is_average                     ? 2 * info->power_average_s
                             : way == FULCRUM_NVML_ENERGY_J ? COUNTER_WINDOW_S
                                                            : INSTANT_WINDOW_S;
    domain->settle_s = is_average                     ? info->power_average_s
                       : way == FULCRUM_NVML_ENERGY_J ? COUNTER_SETTLE_S
                                                      : INSTANT_SETTLE_S;
    (void)snprintf(domain->name, sizeof domain->name, "gpu-%zu", i);
    (void)snprintf(domain->detail, sizeof domain->detail, "%.95s%s%.95s; %s%s",
        info->name, info->uuid[0] != '\0' ? " " : "", info->uuid,
        works ? ways[way] : "no reading",
        info->is_mig ? " (MIG: of the whole GPU)" : "");
}

/* Fails where no GPU can be read; one that cannot beside one that can is kept. */
static enum fulcrum_status choose_ways(
    struct fulcrum_meter_state *state, struct fulcrum_error *err)
{
    struct fulcrum_error all = {FULCRUM_OK, ""};
    size_t works_count = 0;
    for (size_t i = 0; i < state->count; i++) {
        int works = choose_way(state, i, &all);
        works_count += (size_t)works;
        describe_domain(state, i, works);
    }
    return works_count > 0
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED, "%s", all.detail);
}

static enum fulcrum_status open_gpus(
    struct fulcrum_meter_state *state, struct fulcrum_error *err)
{
    size_t count = fulcrum_nvml_count(state->nvml);
    state->domain = calloc(count + 1, sizeof *state->domain);
    state->gauge = calloc(count + 1, sizeof *state->gauge);
    FAIL_IF(state->domain == NULL || state->gauge == NULL, err, FULCRUM_ERR_NO_MEMORY,
        "%zu GPUs", count);
    state->count = count;
    TRY(choose_ways(state, err));
    /* The first samples, so that joules count from here. */
    take_all_watts(state);
    bool needs_sampler = 0;
    for (size_t i = 0; i < state->count; i++) {
        needs_sampler |= state->gauge[i].way != FULCRUM_NVML_ENERGY_J;
    }
    if (!needs_sampler) {
        return FULCRUM_OK;
    }
    FAIL_IF(pthread_create(&state->sampler, NULL, sample, state) != 0, err,
        FULCRUM_ERR_UNSUPPORTED, "the thread that asks for watts cannot be started");
    state->has_sampler = 1;
    return FULCRUM_OK;
}

static enum fulcrum_status nvml_open(
    const char *root, struct fulcrum_meter_state **out, struct fulcrum_error *err)
{
    struct fulcrum_meter_state *state = calloc(1, sizeof *state);
    TRY_MEMORY(state, err, "GPU meter");
    pthread_condattr_t steady;
    (void)pthread_mutex_init(&state->lock, NULL);
    (void)pthread_condattr_init(&steady);
    (void)pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&state->wake, &steady);
    (void)pthread_condattr_destroy(&steady);
    enum fulcrum_status status = fulcrum_nvml_open(&state->nvml, root, err);
    if (status == FULCRUM_OK) {
        status = open_gpus(state, err);
    }
    if (status != FULCRUM_OK) {
        nvml_close(state);
        return status;
    }
    *out = state;
    return FULCRUM_OK;
}

static const struct fulcrum_meter_domain *nvml_domains(
    const struct fulcrum_meter_state *state, size_t *count)
{
    *count = state->count;
    return state->domain;
}

static enum fulcrum_status nvml_read(
    struct fulcrum_meter_state *state, double *energy_j, struct fulcrum_error *err)
{
    struct fulcrum_error all = {FULCRUM_OK, ""};
    size_t good_count = 0;
    (void)pthread_mutex_lock(&state->lock);
    /* Once more, so that the joules reach up to now; faults are told and forgotten. */
    take_all_watts(state);
    for (size_t i = 0; i < state->count; i++) {
        struct gauge *gauge = &state->gauge[i];
        if (gauge->way == FULCRUM_NVML_ENERGY_J) {
            take_count(state, i);
        }
        memcpy(gauge->told, gauge->fault, sizeof gauge->told);
        gauge->fault[0] = '\0';
        good_count += gauge->told[0] == '\0';
        if (gauge->told[0] != '\0') {
            (void)fulcrum_fail_more(&all, FULCRUM_ERR_FILE, "%s", gauge->told);
        }
    }
    for (size_t i = 0; good_count > 0 && i < state->count; i++) {
        const struct gauge *gauge = &state->gauge[i];
        energy_j[i] = gauge->told[0] == '\0' ? gauge->energy_j : (double)NAN;
    }
    (void)pthread_mutex_unlock(&state->lock);
    return good_count > 0 ? FULCRUM_OK
                          : fulcrum_fail(err, FULCRUM_ERR_FILE, "%s", all.detail);
}

/* Written by `read` alone, and so not under the lock. */
static const char *nvml_why(const struct fulcrum_meter_state *state, size_t index)
{
    return state->gauge[index].told;
}

const struct fulcrum_meter fulcrum_meter_nvml = {
    .name = "nvml",
    .summary = "NVIDIA GPUs, energy counters or watts of the driver's library",
    .scope = FULCRUM_METER_GPU,
    .open = nvml_open,
    .close = nvml_close,
    .domains = nvml_domains,
    .read = nvml_read,
    .why = nvml_why,
};

/*
 * The library is opened when it is asked for and needed by nothing else. A call that an
 * older one does not have is like a GPU that does not support it. The driver may refuse
 * one GPU (rights, a fault) and give the others: each keeps its own reason.
 */

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
