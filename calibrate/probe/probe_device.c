/* probe_device.c - a GPU's memory bandwidth and what a launch on it costs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two figures that say why a small network gains nothing from a large GPU: how long it
 * takes to have a kernel of next to no work run, alone and in a row of such; and how
 * fast memory is read and written by copies of growing size, where the second-level
 * cache is left behind. Copies are timed by the device's own clock where it has one,
 * launches by the wall clock, as the learner pays for them.
 */
#include "calibrate/probe/probe.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/device/compute.h"
#include "model/try.h"

/* A sample repeats its work until it lasts so long. */
#define BLOCK_S 0.003

/* Launches in a row: enough that the one wait at their end does not count. */
#define ROW 64

/* Bytes of one of the two arrays of a copy. */
static const double copy_byte[] = {1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20};

enum { COPIES = sizeof copy_byte / sizeof copy_byte[0] };

/* Of the memory, for both arrays: others may need the rest. */
static const double memory_frac = 0.25;

struct fulcrum_probe_state {
    struct fulcrum_bench *bench;
    struct fulcrum_compute compute; /* device NULL: not yet opened */
    struct fulcrum_device_info info;
    fulcrum_place from;
    fulcrum_place to;
    size_t copies; /* sizes that there is room for */
    size_t turn;
    struct fulcrum_recording alone;  /* launches, each waited for */
    struct fulcrum_recording in_row; /* launches, waited for together */
    struct fulcrum_recording copy;   /* byte/s over bytes read and written */
};

static int device_applies(const struct fulcrum_bench *bench)
{
    return bench->learner->device != NULL && bench->learner_info.is_gpu;
}

static void device_close(struct fulcrum_probe_state *state)
{
    if (state == NULL) {
        return;
    }
    if (state->compute.device != NULL) {
        state->compute.device->close(state->compute.state);
    }
    fulcrum_recording_free(&state->alone);
    fulcrum_recording_free(&state->in_row);
    fulcrum_recording_free(&state->copy);
    free(state);
}

static enum fulcrum_status device_open(struct fulcrum_bench *bench,
    struct fulcrum_probe_state **out, struct fulcrum_error *err)
{
    struct fulcrum_probe_state *state = calloc(1, sizeof *state);
    TRY_MEMORY(state, err, "device probe");
    struct fulcrum_series launch = {
        .name = "launch", .unit = "s", .condition = "waited for"};
    struct fulcrum_series copy = {.name = "device_copy",
        .unit = "byte/s",
        .x_name = "byte",
        .condition = "read and written"};
    state->bench = bench;
    fulcrum_recording_init(&state->alone, &launch, &bench->alone);
    (void)snprintf(launch.condition, sizeof launch.condition, "%d in a row", ROW);
    fulcrum_recording_init(&state->in_row, &launch, &bench->alone);
    fulcrum_recording_init(&state->copy, &copy, &bench->alone);
    *out = state;
    return FULCRUM_OK;
}

static enum fulcrum_status prepare(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    const struct fulcrum_learner_options *learner = &state->bench->learner_options;
    const struct fulcrum_device_options options = {
        .index = learner->device_index, .sm_count = learner->sm_count};
    const struct fulcrum_device *device = state->bench->learner->device;
    TRY(device->open(&options, &state->compute.state, &state->info, err));
    state->compute.device = device;
    state->compute.is_wide = state->info.is_wide;
    /* Both arrays, as large as the largest copy that there is room for. */
    struct fulcrum_arena arena = {0};
    double room_byte = memory_frac * state->info.memory_byte / 2.0;
    state->copies = 1;
    while (state->copies < COPIES && copy_byte[state->copies] <= room_byte) {
        state->copies++;
    }
    uint64_t floats = (uint64_t)copy_byte[state->copies - 1] / sizeof(float);
    state->from = fulcrum_arena_take(&arena, floats);
    state->to = fulcrum_arena_take(&arena, floats);
    return fulcrum_arena_reserve(&arena, &state->compute, err);
}

static enum fulcrum_status finish(
    const struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    return state->compute.device->finish(state->compute.state, err);
}

/* Wall time of one launch, `count` of them between two waits. */
static enum fulcrum_status time_launches(const struct fulcrum_probe_state *state,
    size_t count, double *out, struct fulcrum_error *err)
{
    size_t launches = 0;
    enum fulcrum_status status = finish(state, err);
    struct fulcrum_span begin = fulcrum_span_begin();
    double end_s = fulcrum_wall_s() + BLOCK_S;
    do {
        for (size_t i = 0; i < count; i++) {
            fulcrum_compute_fill(&state->compute, state->to, 1, 0.0F);
        }
        status = status == FULCRUM_OK ? finish(state, err) : status;
        launches += count;
    } while (status == FULCRUM_OK && fulcrum_wall_s() < end_s);
    struct fulcrum_span span = fulcrum_span_end(&state->bench->stopwatch, begin);
    *out = span.wall_s / (double)launches;
    return status;
}

/* Time of `count` copies: the device's own, or that on the wall. */
static enum fulcrum_status time_copies(const struct fulcrum_probe_state *state,
    double byte, size_t count, double *out, struct fulcrum_error *err)
{
    const struct fulcrum_compute *compute = &state->compute;
    enum fulcrum_status status = finish(state, err);
    struct fulcrum_span begin = fulcrum_span_begin();
    compute->device->mark(compute->state, 0);
    for (size_t i = 0; i < count; i++) {
        fulcrum_compute_copy(
            compute, state->to, state->from, (size_t)byte / sizeof(float));
    }
    compute->device->mark(compute->state, 1);
    status = status == FULCRUM_OK ? finish(state, err) : status;
    struct fulcrum_span span = fulcrum_span_end(&state->bench->stopwatch, begin);
    double own_s =
        status == FULCRUM_OK ? compute->device->elapsed_s(compute->state) : (double)NAN;
    *out = own_s > 0.0 ? own_s : span.wall_s;
    return status;
}

/* Read and written per second, by as many copies as last a while. */
static enum fulcrum_status rate_copies(const struct fulcrum_probe_state *state,
    double byte, double *out, struct fulcrum_error *err)
{
    double one_s = 0.0;
    double all_s = 0.0;
    double begin_s = fulcrum_wall_s();
    enum fulcrum_status status = time_copies(state, byte, 1, &one_s, err);
    /* By the wall clock: the visit's time is short. */
    double waited_s = fmax(fulcrum_wall_s() - begin_s, 1e-9);
    size_t count = (size_t)fmax(BLOCK_S / waited_s, 1.0);
    if (status == FULCRUM_OK) {
        status = time_copies(state, byte, count, &all_s, err);
    }
    *out = 2.0 * byte * (double)count / fmax(all_s, 1e-9);
    return status;
}

/* Launches and copies take turns, sizes of copies too. */
static enum fulcrum_status sample(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    struct fulcrum_bench *bench = state->bench;
    size_t turn = state->turn++ % (2 + state->copies);
    struct fulcrum_recording *recording = turn == 0   ? &state->alone
                                          : turn == 1 ? &state->in_row
                                                      : &state->copy;
    struct fulcrum_sample sample = {.x = turn < 2 ? 0.0 : 2.0 * copy_byte[turn - 2]};
    TRY(fulcrum_canary_open(&bench->alone, &bench->stopwatch, err));
    TRY(turn < 2 ? time_launches(state, turn == 0 ? 1 : ROW, &sample.value, err)
                 : rate_copies(state, copy_byte[turn - 2], &sample.value, err));
    TRY(fulcrum_canary_close(
        &bench->alone, &sample.canary_s, FULCRUM_CLOCK_WALL, &bench->stopwatch, err));
    /* The first of each compiles, maps and warms up: not kept. */
    bool is_warm = state->turn > 2 + state->copies;
    return is_warm ? fulcrum_recording_add(recording, &sample, err) : FULCRUM_OK;
}

static enum fulcrum_status device_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    if (state->compute.device == NULL) {
        TRY(prepare(state, err));
    }
    for (;;) {
        /* Everything once beside the warm-up, whatever it takes. */
        bool is_short = state->turn < 2 * (2 + state->copies);
        if (!fulcrum_bench_goes_on(state->bench, is_short ? HUGE_VAL : until_s)) {
            return FULCRUM_OK;
        }
        TRY(sample(state, err));
    }
}

static void report_launch(struct fulcrum_findings *findings, const char *name,
    const struct fulcrum_recording *recording)
{
    struct fulcrum_summary summary;
    if (findings->status == FULCRUM_OK) {
        findings->status =
            fulcrum_recording_summary(recording, 0.0, &summary, findings->err);
    }
    if (findings->status == FULCRUM_OK && summary.used > 0) {
        fulcrum_findings_summary(findings, name, "s", &summary);
    }
}

/* Of the largest copy that was sampled: no cache holds it. */
static enum fulcrum_status summarise_copies(const struct fulcrum_probe_state *state,
    struct fulcrum_summary *out, struct fulcrum_error *err)
{
    *out = (struct fulcrum_summary){0};
    for (size_t i = state->copies; i > 0 && out->used == 0; i--) {
        TRY(fulcrum_recording_summary(&state->copy, 2.0 * copy_byte[i - 1], out, err));
    }
    return FULCRUM_OK;
}

static void report_bandwidth(
    const struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    struct fulcrum_summary summary = {0};
    if (findings->status == FULCRUM_OK) {
        findings->status = summarise_copies(state, &summary, findings->err);
    }
    if (findings->status != FULCRUM_OK || summary.used == 0) {
        return;
    }
    fulcrum_findings_summary(
        findings, "device_bandwidth_byte_per_s", "byte/s", &summary);
    if (state->info.memory_byte_per_s > 0.0) {
        fulcrum_findings_value(findings, "device_bandwidth_frac", "",
            summary.median / state->info.memory_byte_per_s);
    }
}

static enum fulcrum_status device_report(struct fulcrum_probe_state *state,
    struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    struct fulcrum_findings findings = {calibration, FULCRUM_OK, err};
    report_launch(&findings, "launch_latency_s", &state->alone);
    report_launch(&findings, "launch_in_row_s", &state->in_row);
    report_bandwidth(state, &findings);
    /* As built, like the machine presets; what a copy reaches is a quantity. */
    if (state->info.memory_byte_per_s > 0.0) {
        calibration->machine.gpu.dram_byte_per_s = state->info.memory_byte_per_s;
    }
    fulcrum_findings_series(&findings, &state->alone);
    fulcrum_findings_series(&findings, &state->in_row);
    fulcrum_findings_series(&findings, &state->copy);
    return findings.status;
}

const struct fulcrum_probe fulcrum_probe_device = {
    .name = "device",
    .what = "launches and memory of the GPU",
    .share = 0.05,
    .applies = device_applies,
    .open = device_open,
    .close = device_close,
    .visit = device_visit,
    .report = device_report,
};
