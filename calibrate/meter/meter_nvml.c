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
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calibrate/meter/meter.h"
#include "calibrate/meter/nvml.h"
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
    char fault[240]; /* since the last read; "" none */
    char told[240];  /* of the last read, lent to the caller */
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

/* The first one since the last read stays. */
static void note_fault(struct gauge *gauge, const char *format, ...)
    FULCRUM_PRINTF(2, 3);

static void note_fault(struct gauge *gauge, const char *format, ...)
{
    if (gauge->fault[0] == '\0') {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(gauge->fault, sizeof gauge->fault, format, args);
        va_end(args);
    }
}

/* A counter starts over with the driver: what was counted before is lost. */
static void take_count(struct fulcrum_meter_state *state, size_t i)
{
    struct gauge *gauge = &state->gauge[i];
    struct fulcrum_error err = {FULCRUM_OK, ""};
    double now_j = 0;
    if (fulcrum_nvml_ask(state->nvml, i, FULCRUM_NVML_ENERGY_J, &now_j, &err) !=
        FULCRUM_OK) {
        note_fault(gauge, "%s", err.detail);
        return;
    }
    if (now_j < gauge->counter_j) {
        note_fault(gauge, "gpu-%zu: its counter went back from %.9g J to %.9g J", i,
            gauge->counter_j, now_j);
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
            note_fault(
                gauge, "gpu-%zu: its watts were not asked for over %.3g s", i, gap_s);
        } else if (gap_s > 0) {
            gauge->energy_j += 0.5 * (watts + gauge->last_w) * gap_s;
        }
        gauge->last_s = now_s;
        gauge->last_w = watts;
    } else {
        note_fault(gauge, "%s", err.detail);
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
    state->domain = calloc(count, sizeof *state->domain);
    state->gauge = calloc(count, sizeof *state->gauge);
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
