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
#include "model/try.h"

/* Counters tick about once a millisecond: shorter windows would read their steps. */
#define WINDOW_S 0.3

#define LEVEL_MAX 4
#define METER_MAX 8

enum { PACKAGE, MEMORY }; /* watts of all processor packages, and of their memory */

struct own {
    const struct fulcrum_meter *meter; /* NULL where none opens */
    struct fulcrum_meter_state *open;
    char reason[METER_MAX][200]; /* why each meter before it does not open */
    struct fulcrum_actor_threads *actor_threads;
    double level[LEVEL_MAX]; /* busy cores */
    size_t level_count;
};

static void power_close(struct fulcrum_probe_state *state)
{
    const struct own *own = state->own;
    fulcrum_actor_threads_free(own->actor_threads);
    if (own->meter != NULL) {
        own->meter->close(own->open);
    }
}

static enum fulcrum_status power_open(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    struct own *own = state->own;
    const struct fulcrum_meter *const *meter = fulcrum_meters();
    for (size_t i = 0; i < METER_MAX && meter[i] != NULL && own->meter == NULL; i++) {
        struct fulcrum_error why = {FULCRUM_OK, ""};
        if (meter[i]->scope != FULCRUM_METER_CPU_PACKAGE) {
            continue;
        }
        if (meter[i]->open(bench->meter_root, &own->open, &why) == FULCRUM_OK) {
            own->meter = meter[i];
        } else {
            (void)snprintf(own->reason[i], sizeof own->reason[i], "%.199s", why.detail);
        }
    }
    if (own->meter == NULL) {
        return FULCRUM_OK;
    }
    double most = fmin(bench->machine.cpu.core_count, (double)bench->max_threads);
    const double wanted[LEVEL_MAX] = {0.0, 1.0, floor(0.5 * most), most};
    for (size_t i = 0; i < LEVEL_MAX; i++) {
        if (own->level_count == 0 || wanted[i] > own->level[own->level_count - 1]) {
            own->level[own->level_count++] = wanted[i];
        }
    }
    return fulcrum_actor_threads_new(&own->actor_threads, &bench->stage,
        (size_t)own->level[own->level_count - 1], bench->step_s, err);
}

static bool power_rests(const struct fulcrum_probe_state *state)
{
    const struct own *own = state->own;
    return own->meter == NULL;
}

/* Joules so far of one kind of domain; NAN where the meter has none of it. */
static enum fulcrum_status read_energy(const struct own *own,
    double energy_j[FULCRUM_METER_SCOPE_COUNT], struct fulcrum_error *err)
{
    size_t count = 0;
    const struct fulcrum_meter_domain *domain = own->meter->domains(own->open, &count);
    double *each_j = calloc(count > 0 ? count : 1, sizeof *each_j);
    TRY_MEMORY(each_j, err, "%zu power domains", count);
    enum fulcrum_status status = own->meter->read(own->open, each_j, err);
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

/* Joules of both ends of a window, which is `wall_s` long. */
static enum fulcrum_status watch(const struct own *own, double *begin_j, double *end_j,
    double *wall_s, struct fulcrum_error *err)
{
    double begin_s = fulcrum_wall_s();
    TRY(read_energy(own, begin_j, err));
    fulcrum_sleep_s(WINDOW_S);
    TRY(read_energy(own, end_j, err));
    *wall_s = fulcrum_wall_s() - begin_s;
    return FULCRUM_OK;
}

static enum fulcrum_status power_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    const struct own *own = state->own;
    if (own->meter == NULL) {
        return FULCRUM_OK;
    }
    do {
        double level = fulcrum_recording_neediest(
            &state->recording[PACKAGE], own->level, own->level_count);
        double begin_j[FULCRUM_METER_SCOPE_COUNT] = {0.0};
        double end_j[FULCRUM_METER_SCOPE_COUNT] = {0.0};
        double wall_s = WINDOW_S;
        if (level > 0.0) {
            fulcrum_actor_threads_start(own->actor_threads, (size_t)level);
        }
        enum fulcrum_status status = watch(own, begin_j, end_j, &wall_s, err);
        if (level > 0.0) {
            /* The first failure is the one to tell of. */
            enum fulcrum_status stopped = fulcrum_actor_threads_stop(
                own->actor_threads, status == FULCRUM_OK ? err : NULL);
            status = status == FULCRUM_OK ? stopped : status;
        }
        TRY(status);
        TRY(add_watts(
            &state->recording[PACKAGE], level, (end_j[0] - begin_j[0]) / wall_s, err));
        TRY(add_watts(
            &state->recording[MEMORY], level, (end_j[1] - begin_j[1]) / wall_s, err));
    } while (fulcrum_bench_goes_on(state->bench, until_s - 0.5 * WINDOW_S));
    return FULCRUM_OK;
}

static void report_watt(struct fulcrum_findings *findings, const char *path,
    double value_w, double error_w, const char *source)
{
    fulcrum_findings_parameter(findings, path,
        &(struct fulcrum_parameter){.value = value_w,
            .standard_error = error_w,
            .origin = FULCRUM_ORIGIN_FITTED},
        "%s", source);
}

static void report_package(
    struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    const struct own *own = state->own;
    double cores = state->bench->machine.cpu.core_count;
    struct fulcrum_medians medians = fulcrum_findings_medians(
        findings, &state->recording[PACKAGE], own->level, own->level_count);
    struct fulcrum_power_fit fit;
    struct fulcrum_error why = {FULCRUM_OK, ""};
    if (medians.count < 2) {
        return;
    }
    for (size_t i = 0; i < medians.count; i++) {
        medians.x[i] /= cores;
    }
    if (fulcrum_fit_power(&fit,
            &(struct fulcrum_samples){
                "package power", medians.x, medians.value, medians.count},
            &(struct fulcrum_power_options){.form = FULCRUM_POWER_AFFINE},
            &why) != FULCRUM_OK) {
        fulcrum_findings_note(findings, "power_fit", "%s", why.detail);
        return;
    }
    /* Idle watts cannot be told apart into those of the package and of its cores. */
    const struct fulcrum_fit_estimate *estimate = fit.fit.parameter;
    char source[160];
    (void)snprintf(source, sizeof source,
        "%s, packages with 0 to %.0f of %.0f cores stepping", own->meter->name,
        own->level[own->level_count - 1], cores);
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
}

static void power_report(
    struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    const struct own *own = state->own;
    if (own->meter != NULL) {
        fulcrum_findings_note(findings, "power", "measured with %s: %s",
            own->meter->name, own->meter->summary);
        report_package(state, findings);
        return;
    }
    const struct fulcrum_meter *const *meter = fulcrum_meters();
    fulcrum_findings_note(findings, "power", "not measured");
    for (size_t i = 0; i < METER_MAX && meter[i] != NULL; i++) {
        if (meter[i]->scope == FULCRUM_METER_CPU_PACKAGE) {
            char key[48];
            (void)snprintf(key, sizeof key, "power_%s", meter[i]->name);
            fulcrum_findings_note(findings, key, "%s", own->reason[i]);
        }
    }
}

const struct fulcrum_probe fulcrum_probe_power = {
    .what = "power of the processor",
    .share = 0.12,
    .headers = {[PACKAGE] = {"package_power", "W", "busy_cores", NULL, false, false, 0},
        [MEMORY] = {"memory_power", "W", "busy_cores", NULL, false, false, 0}},
    .own_byte = sizeof(struct own),
    .open = power_open,
    .close = power_close,
    .rests = power_rests,
    .visit = power_visit,
    .report = power_report,
};
