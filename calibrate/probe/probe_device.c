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

enum {
    ALONE,  /* launches, each waited for */
    IN_ROW, /* launches, waited for together */
    COPY,   /* byte/s over bytes read and written */
};

struct own {
    struct fulcrum_compute compute; /* device NULL: not yet opened */
    struct fulcrum_device_info info;
    fulcrum_place from;
    fulcrum_place to;
    size_t copies; /* sizes that there is room for */
    size_t turn;
};

static bool device_applies(const struct fulcrum_bench *bench)
{
    return bench->learner->device != NULL && bench->learner_info.device.is_gpu;
}

static void device_close(struct fulcrum_probe_state *state)
{
    const struct own *own = state->own;
    if (own->compute.device != NULL) {
        own->compute.device->close(own->compute.state);
    }
}

static enum fulcrum_status finish(const struct own *own, struct fulcrum_error *err)
{
    return own->compute.device->finish(own->compute.state, err);
}

/* Wall time of one launch, `count` of them between two waits. */
static enum fulcrum_status time_launches(const struct fulcrum_probe_state *state,
    size_t count, double *out, struct fulcrum_error *err)
{
    const struct own *own = state->own;
    size_t launches = 0;
    TRY(finish(own, err));
    struct fulcrum_span begin = fulcrum_span_begin();
    double end_s = fulcrum_wall_s() + BLOCK_S;
    do {
        for (size_t i = 0; i < count; i++) {
            fulcrum_compute_fill(&own->compute, own->to, 1, 0.0F);
        }
        TRY(finish(own, err));
        launches += count;
    } while (fulcrum_wall_s() < end_s);
    struct fulcrum_span span = fulcrum_span_end(&state->bench->stopwatch, begin);
    *out = span.wall_s / (double)launches;
    return FULCRUM_OK;
}

/* Time of `count` copies: the device's own, or that on the wall. */
static enum fulcrum_status time_copies(const struct fulcrum_probe_state *state,
    double byte, size_t count, double *out, struct fulcrum_error *err)
{
    const struct own *own = state->own;
    const struct fulcrum_compute *compute = &own->compute;
    TRY(finish(own, err));
    struct fulcrum_span begin = fulcrum_span_begin();
    compute->device->mark(compute->state, 0);
    for (size_t i = 0; i < count; i++) {
        fulcrum_compute_copy(compute, own->to, own->from, (size_t)byte / sizeof(float));
    }
    compute->device->mark(compute->state, 1);
    TRY(finish(own, err));
    struct fulcrum_span span = fulcrum_span_end(&state->bench->stopwatch, begin);
    double own_s = compute->device->elapsed_s(compute->state);
    *out = own_s > 0.0 ? own_s : span.wall_s;
    return FULCRUM_OK;
}

/* Read and written per second, by as many copies as last a while. */
static enum fulcrum_status rate_copies(const struct fulcrum_probe_state *state,
    double byte, double *out, struct fulcrum_error *err)
{
    double one_s = 0.0;
    double all_s = 0.0;
    double begin_s = fulcrum_wall_s();
    TRY(time_copies(state, byte, 1, &one_s, err));
    /* By the wall clock: the visit's time is short. */
    double waited_s = fmax(fulcrum_wall_s() - begin_s, 1e-9);
    size_t count = (size_t)fmax(BLOCK_S / waited_s, 1.0);
    TRY(time_copies(state, byte, count, &all_s, err));
    *out = 2.0 * byte * (double)count / fmax(all_s, 1e-9);
    return FULCRUM_OK;
}

static enum fulcrum_status device_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    struct own *own = state->own;
    if (own->compute.device == NULL) {
        const struct fulcrum_learner_options *learner = &state->bench->learner_options;
        const struct fulcrum_device_options options = {
            .index = learner->device_index, .sm_count = learner->sm_count};
        const struct fulcrum_device *device = state->bench->learner->device;
        TRY(device->open(&options, &own->compute.state, &own->info, err));
        own->compute.device = device;
        own->compute.is_wide = own->info.is_wide;
        /* Both arrays, as large as the largest copy that there is room for. */
        struct fulcrum_arena arena = {0};
        double room_byte = memory_frac * own->info.memory_byte / 2.0;
        own->copies = 1;
        while (own->copies < COPIES && copy_byte[own->copies] <= room_byte) {
            own->copies++;
        }
        uint64_t floats = (uint64_t)copy_byte[own->copies - 1] / sizeof(float);
        own->from = fulcrum_arena_take(&arena, floats);
        own->to = fulcrum_arena_take(&arena, floats);
        TRY(fulcrum_arena_reserve(&arena, &own->compute, err));
    }
    /* Everything once beside the warm-up, whatever it takes. */
    while (fulcrum_bench_goes_on(
        state->bench, own->turn < 2 * (COPY + own->copies) ? HUGE_VAL : until_s)) {
        /* Launches and copies take turns, sizes of copies too. */
        size_t turn = own->turn++ % (COPY + own->copies);
        size_t which = turn < COPY ? turn : COPY;
        double byte = copy_byte[turn < COPY ? 0 : turn - COPY];
        struct fulcrum_sample sample = {.x = turn < COPY ? 0.0 : 2.0 * byte};
        TRY(fulcrum_sample_begin(state, which, err));
        TRY(turn < COPY
                ? time_launches(state, turn == ALONE ? 1 : ROW, &sample.value, err)
                : rate_copies(state, byte, &sample.value, err));
        /* The first of each compiles, maps and warms up: not kept. */
        bool is_kept = own->turn > COPY + own->copies;
        TRY((is_kept ? fulcrum_sample_keep : fulcrum_sample_end)(
            state, which, FULCRUM_CLOCK_WALL, &sample, err));
    }
    return FULCRUM_OK;
}

static void device_report(
    struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    const struct own *own = state->own;
    const struct fulcrum_recording *recording = state->recording;
    double peak = own->info.memory_byte_per_s;
    struct fulcrum_summary summary =
        fulcrum_findings_median(findings, &recording[ALONE], 0.0);
    fulcrum_findings_summary(findings, "launch_latency_s", "s", &summary);
    summary = fulcrum_findings_median(findings, &recording[IN_ROW], 0.0);
    fulcrum_findings_summary(findings, "launch_in_row_s", "s", &summary);
    /* Of the largest copy that was sampled: no cache holds it. */
    summary.used = 0;
    for (size_t i = own->copies; i > 0 && summary.used == 0; i--) {
        summary =
            fulcrum_findings_median(findings, &recording[COPY], 2.0 * copy_byte[i - 1]);
    }
    fulcrum_findings_summary(
        findings, "device_bandwidth_byte_per_s", "byte/s", &summary);
    if (summary.used > 0 && peak > 0.0) {
        fulcrum_findings_value(
            findings, "device_bandwidth_frac", "", summary.typical / peak);
    }
    /* As built, like the machine presets; what a copy reaches is a quantity. */
    if (peak > 0.0) {
        findings->calibration->machine.gpu.dram_byte_per_s = peak;
    }
}

const struct fulcrum_probe fulcrum_probe_device = {
    .what = "launches and memory of the GPU",
    .share = 0.05,
    .headers = {[ALONE] = {"launch", "s", NULL, "waited for", false, false, 0},
        [IN_ROW] = {"launch", "s", NULL, "64 in a row", false, false, 0},
        [COPY] = {"device_copy", "byte/s", "byte", "read and written", false, false,
            0}},
    .own_byte = sizeof(struct own),
    .applies = device_applies,
    .close = device_close,
    .visit = device_visit,
    .report = device_report,
};
