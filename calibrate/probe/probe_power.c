/* probe_power.c - watts of the processor, idle and busy, where there is a meter. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Watts at several numbers of stepping cores, from none up, each over a window that is
 * long against the tick of the energy counters. A line over the share of busy cores
 * gives idle and dynamic power. One meter per package cannot tell the idle power of
 * cores from that of the rest, so all of it is the package's. Without a meter (a
 * container, a virtual machine) nothing is reported, and watts stay those of the
 * machine preset.
 */
#include "calibrate/probe/probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/actor/actor_threads.h"
#include "calibrate/fit/fit_forms.h"
#include "calibrate/meter/meter.h"
#include "model/try.h"

/* Counters tick about once a millisecond: shorter windows would read their steps. */
#define WINDOW_S 0.3

#define LEVEL_MAX 4
#define METER_MAX 8

struct fulcrum_probe_state {
    struct fulcrum_bench *bench;
    const struct fulcrum_meter *meter; /* NULL where none opens */
    struct fulcrum_meter_state *open;
    char reason[METER_MAX][200]; /* why each meter before it does not open */
    struct fulcrum_actor_threads *actor_threads;
    double level[LEVEL_MAX]; /* busy cores */
    size_t level_count;
    struct fulcrum_recording package; /* watts of all processor packages */
    struct fulcrum_recording memory;
};

static void power_close(struct fulcrum_probe_state *state)
{
    if (state == NULL) {
        return;
    }
    fulcrum_actor_threads_free(state->actor_threads);
    if (state->meter != NULL) {
        state->meter->close(state->open);
    }
    fulcrum_recording_free(&state->package);
    fulcrum_recording_free(&state->memory);
    free(state);
}

static void find_meter(struct fulcrum_probe_state *state)
{
    const struct fulcrum_meter *const *meter = fulcrum_meters();
    for (size_t i = 0; i < METER_MAX && meter[i] != NULL && state->meter == NULL; i++) {
        struct fulcrum_error why = {FULCRUM_OK, ""};
        if (meter[i]->scope != FULCRUM_METER_CPU_PACKAGE) {
            continue;
        }
        if (meter[i]->open(state->bench->meter_root, &state->open, &why) ==
            FULCRUM_OK) {
            state->meter = meter[i];
        } else {
            (void)snprintf(
                state->reason[i], sizeof state->reason[i], "%.199s", why.detail);
        }
    }
}

static enum fulcrum_status power_open(struct fulcrum_bench *bench,
    struct fulcrum_probe_state **out, struct fulcrum_error *err)
{
    struct fulcrum_probe_state *state = calloc(1, sizeof *state);
    TRY_MEMORY(state, err, "power probe");
    state->bench = bench;
    struct fulcrum_series header = {
        .name = "package_power", .unit = "W", .x_name = "busy_cores"};
    fulcrum_recording_init(&state->package, &header, &bench->alone);
    (void)snprintf(header.name, sizeof header.name, "memory_power");
    fulcrum_recording_init(&state->memory, &header, &bench->alone);
    find_meter(state);
    enum fulcrum_status status = FULCRUM_OK;
    if (state->meter != NULL) {
        double cores = state->bench->machine.cpu.core_count;
        double most = fmin(cores, (double)state->bench->max_threads);
        const double wanted[LEVEL_MAX] = {0.0, 1.0, floor(0.5 * most), most};
        for (size_t i = 0; i < LEVEL_MAX; i++) {
            if (state->level_count == 0 ||
                wanted[i] > state->level[state->level_count - 1]) {
                state->level[state->level_count] = wanted[i];
                state->level_count++;
            }
        }
        status = fulcrum_actor_threads_new(&state->actor_threads, &bench->stage,
            (size_t)state->level[state->level_count - 1], bench->step_s, err);
    }
    if (status != FULCRUM_OK) {
        power_close(state);
        return status;
    }
    *out = state;
    return FULCRUM_OK;
}

static int power_rests(const struct fulcrum_probe_state *state)
{
    return state->meter == NULL;
}

/* Joules so far of one kind of domain; NAN where the meter has none of it. */
static enum fulcrum_status read_energy(struct fulcrum_probe_state *state,
    double energy_j[FULCRUM_METER_SCOPE_COUNT], struct fulcrum_error *err)
{
    size_t count = 0;
    const struct fulcrum_meter_domain *domain =
        state->meter->domains(state->open, &count);
    double *each_j = calloc(count > 0 ? count : 1, sizeof *each_j);
    TRY_MEMORY(each_j, err, "%zu power domains", count);
    enum fulcrum_status status = state->meter->read(state->open, each_j, err);
    for (size_t i = 0; i < FULCRUM_METER_SCOPE_COUNT; i++) {
        energy_j[i] = (double)NAN;
    }
    for (size_t i = 0; i < count && status == FULCRUM_OK; i++) {
        double *sum_j = &energy_j[domain[i].scope];
        *sum_j = (isnan(*sum_j) ? 0.0 : *sum_j) + each_j[i];
    }
    free(each_j);
    return status;
}

static enum fulcrum_status add_watts(struct fulcrum_recording *recording, double level,
    double watts, struct fulcrum_error *err)
{
    struct fulcrum_sample sample = {.x = level, .value = watts};
    return watts > 0.0 ? fulcrum_recording_add(recording, &sample, err) : FULCRUM_OK;
}

static enum fulcrum_status sample_level(
    struct fulcrum_probe_state *state, double level, struct fulcrum_error *err)
{
    double begin_j[FULCRUM_METER_SCOPE_COUNT] = {0.0};
    double end_j[FULCRUM_METER_SCOPE_COUNT] = {0.0};
    if (level > 0.0) {
        fulcrum_actor_threads_start(state->actor_threads, (size_t)level);
    }
    double begin_s = fulcrum_wall_s();
    enum fulcrum_status status = read_energy(state, begin_j, err);
    double wall_s = WINDOW_S;
    if (status == FULCRUM_OK) {
        fulcrum_sleep_s(WINDOW_S);
        status = read_energy(state, end_j, err);
        wall_s = fulcrum_wall_s() - begin_s;
    }
    if (level > 0.0) {
        /* The first failure is the one to tell of. */
        enum fulcrum_status stopped = fulcrum_actor_threads_stop(
            state->actor_threads, status == FULCRUM_OK ? err : NULL);
        status = status == FULCRUM_OK ? stopped : status;
    }
    if (status == FULCRUM_OK) {
        status =
            add_watts(&state->package, level, (end_j[0] - begin_j[0]) / wall_s, err);
    }
    if (status == FULCRUM_OK) {
        status =
            add_watts(&state->memory, level, (end_j[1] - begin_j[1]) / wall_s, err);
    }
    return status;
}

static enum fulcrum_status power_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    if (state->meter == NULL) {
        return FULCRUM_OK;
    }
    do {
        double level = fulcrum_recording_neediest(
            &state->package, state->level, state->level_count);
        status = sample_level(state, level, err);
    } while (status == FULCRUM_OK &&
             fulcrum_bench_goes_on(state->bench, until_s - 0.5 * WINDOW_S));
    return status;
}

static void report_watt(struct fulcrum_findings *findings, const char *path,
    double value_w, double error_w, const char *source)
{
    struct fulcrum_parameter parameter = {
        .value = value_w,
        .standard_error = error_w,
        .scale = FULCRUM_SCALE_LINEAR,
        .origin = FULCRUM_ORIGIN_FITTED,
    };
    (void)snprintf(parameter.path, sizeof parameter.path, "%s", path);
    (void)snprintf(parameter.source, sizeof parameter.source, "%s", source);
    fulcrum_findings_parameter(findings, &parameter);
}

static enum fulcrum_status fit_package(
    struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    double busy_frac[LEVEL_MAX];
    double watts[LEVEL_MAX];
    size_t count = 0;
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < state->level_count && status == FULCRUM_OK; i++) {
        struct fulcrum_summary summary;
        status = fulcrum_recording_summary(
            &state->package, state->level[i], &summary, findings->err);
        if (status == FULCRUM_OK && summary.used > 0) {
            busy_frac[count] = state->level[i] / state->bench->machine.cpu.core_count;
            watts[count] = summary.median;
            count++;
        }
    }
    if (status != FULCRUM_OK || count < 2) {
        return status;
    }
    struct fulcrum_power_fit fit;
    struct fulcrum_error why = {FULCRUM_OK, ""};
    status = fulcrum_fit_power(&fit,
        &(struct fulcrum_samples){"package power", busy_frac, watts, count},
        FULCRUM_POWER_AFFINE, &why);
    if (status != FULCRUM_OK) {
        fulcrum_findings_note(findings, "power_fit", "%s", why.detail);
        return findings->status;
    }
    /* Idle watts cannot be told apart into those of the package and of its cores. */
    const struct fulcrum_fit_estimate *estimate = fit.fit.parameter;
    double cores = state->bench->machine.cpu.core_count;
    char source[160];
    (void)snprintf(source, sizeof source,
        "%s, packages with 0 to %.0f of %.0f cores stepping", state->meter->name,
        state->level[state->level_count - 1], cores);
    report_watt(
        findings, "machine.cpu.idle_w", fit.idle_w, estimate[0].standard_error, source);
    report_watt(findings, "machine.cpu.core_idle_w", 0.0, 0.0,
        "contained in machine.cpu.idle_w: one meter cannot tell them apart");
    report_watt(findings, "machine.cpu.core_dynamic_w", fit.dynamic_w / cores,
        estimate[1].standard_error / cores, source);
    struct fulcrum_cpu *cpu = &findings->calibration->machine.cpu;
    cpu->idle_w = fit.idle_w;
    cpu->core_idle_w = 0.0;
    cpu->core_dynamic_w = fit.dynamic_w / cores;
    fulcrum_findings_fit(findings, "package_power", "idle + dynamic x U", &fit.fit);
    return findings->status;
}

static enum fulcrum_status power_report(struct fulcrum_probe_state *state,
    struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    struct fulcrum_findings findings = {calibration, FULCRUM_OK, err};
    if (state->meter == NULL) {
        const struct fulcrum_meter *const *meter = fulcrum_meters();
        fulcrum_findings_note(&findings, "power", "not measured");
        for (size_t i = 0; i < METER_MAX && meter[i] != NULL; i++) {
            if (meter[i]->scope != FULCRUM_METER_CPU_PACKAGE) {
                continue;
            }
            char key[48];
            (void)snprintf(key, sizeof key, "power_%s", meter[i]->name);
            fulcrum_findings_note(&findings, key, "%s", state->reason[i]);
        }
        return findings.status;
    }
    fulcrum_findings_note(&findings, "power", "measured with %s: %s",
        state->meter->name, state->meter->summary);
    TRY(fit_package(state, &findings));
    fulcrum_findings_series(&findings, &state->package);
    fulcrum_findings_series(&findings, &state->memory);
    return findings.status;
}

const struct fulcrum_probe fulcrum_probe_power = {
    .name = "power",
    .what = "power of the processor",
    .share = 0.12,
    .open = power_open,
    .close = power_close,
    .rests = power_rests,
    .visit = power_visit,
    .report = power_report,
};
