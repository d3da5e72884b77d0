/* probe_inference.c - how long the learner takes to infer a batch. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Batches from one observation up, doubling, each repeated until a sample is long
 * against the clock. Sizes that have the fewest undisturbed samples come first, so that
 * all of them end with a like error. A line through the medians gives the cost per
 * batch and per item; where the line does not hold, the table of medians goes into the
 * calibration beside it. Part of the time actors step on the other cores, which gives
 * the slowdown of the learner in a run.
 */
#include "calibrate/probe/probe.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/actor/actor_threads.h"
#include "calibrate/fit/fit_forms.h"
#include "model/try.h"

/* A sample repeats a batch until it lasts so long. */
#define BLOCK_S 0.005

/*
 * In a run one batch follows another. The canary and batches of other sizes leave
 * caches and branch predictors in another state, which takes so long to pass: the first
 * batches of one observation were twice as slow as the tenth.
 */
#define WARM_UP_S 0.006

/* Part of a visit with actors stepping on the other cores. */
#define BUSY_FRAC 0.35

/* Sizes everybody measures, then those that fill in where time allows. */
static const double main_sizes[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};
static const double all_sizes[] = {
    1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};

#define MAIN_COUNT (sizeof main_sizes / sizeof main_sizes[0])
#define ALL_COUNT  (sizeof all_sizes / sizeof all_sizes[0])

struct fulcrum_probe_state {
    struct fulcrum_bench *bench;
    struct fulcrum_actor_threads *actor_threads; /* NULL where there is no other core */
    const double *sizes;
    size_t size_count;
    double rough_s[ALL_COUNT]; /* last time of each size, 0: none yet */
    struct fulcrum_recording alone;
    struct fulcrum_recording busy;
};

static void inference_close(struct fulcrum_probe_state *state)
{
    if (state == NULL) {
        return;
    }
    fulcrum_actor_threads_free(state->actor_threads);
    fulcrum_recording_free(&state->alone);
    fulcrum_recording_free(&state->busy);
    free(state);
}

static enum fulcrum_status inference_open(struct fulcrum_bench *bench,
    struct fulcrum_probe_state **out, struct fulcrum_error *err)
{
    struct fulcrum_probe_state *state = calloc(1, sizeof *state);
    TRY_MEMORY(state, err, "inference probe");
    state->bench = bench;
    state->sizes = main_sizes;
    state->size_count = MAIN_COUNT;
    struct fulcrum_series header = {
        .name = "inference", .unit = "s", .x_name = "batch", .condition = "alone"};
    fulcrum_recording_init(&state->alone, &header, &bench->alone);
    (void)snprintf(header.condition, sizeof header.condition, "other side busy");
    fulcrum_recording_init(&state->busy, &header, &bench->busy);
    size_t others = (size_t)bench->machine.cpu.core_count - 1;
    if (others > bench->max_threads) {
        others = bench->max_threads;
    }
    enum fulcrum_status status = others > 0
                                     ? fulcrum_actor_threads_new(&state->actor_threads,
                                           &bench->stage, others, bench->step_s, err)
                                     : FULCRUM_OK;
    if (status != FULCRUM_OK) {
        inference_close(state);
        return status;
    }
    *out = state;
    return FULCRUM_OK;
}

static size_t index_of(const struct fulcrum_probe_state *state, double size)
{
    size_t i = 0;
    while (state->sizes[i] < size) {
        i++;
    }
    return i;
}

/* Mean time of `repeats` batches, on the learner's clock. */
static enum fulcrum_status time_batches(const struct fulcrum_bench *bench, size_t batch,
    size_t repeats, double *out, struct fulcrum_error *err)
{
    const struct fulcrum_learner *learner = bench->learner;
    enum fulcrum_status status = FULCRUM_OK;
    struct fulcrum_span begin = fulcrum_span_begin();
    for (size_t i = 0; i < repeats && status == FULCRUM_OK; i++) {
        status = learner->forward(bench->state, batch, bench->action, err);
    }
    struct fulcrum_span span = fulcrum_span_end(&bench->stopwatch, begin);
    *out = fulcrum_span_on(span, learner->clock) / fmax((double)repeats, 1.0);
    return status;
}

static enum fulcrum_status sample_size(struct fulcrum_probe_state *state,
    struct fulcrum_recording *recording, struct fulcrum_canary *canary, double size,
    struct fulcrum_error *err)
{
    struct fulcrum_bench *bench = state->bench;
    double *rough_s = &state->rough_s[index_of(state, size)];
    bool is_warm_up = !(*rough_s > 0.0);
    size_t repeats = is_warm_up ? 1 : (size_t)fmax(BLOCK_S / *rough_s, 1.0);
    size_t warm_count = is_warm_up ? 0 : (size_t)fmax(WARM_UP_S / *rough_s, 1.0);
    TRY(fulcrum_canary_open(canary, &bench->stopwatch, err));
    struct fulcrum_sample sample = {.x = size};
    enum fulcrum_status status =
        time_batches(bench, (size_t)size, warm_count, &sample.value, err);
    if (status == FULCRUM_OK) {
        status = time_batches(bench, (size_t)size, repeats, &sample.value, err);
    }
    TRY(status);
    *rough_s = fmax(sample.value, 1e-9);
    TRY(fulcrum_canary_close(
        canary, &sample.canary_s, bench->learner->clock, &bench->stopwatch, err));
    /* The first batch of a size touches memory and picks kernels: not kept. */
    return is_warm_up ? FULCRUM_OK : fulcrum_recording_add(recording, &sample, err);
}

static enum fulcrum_status sample_until(struct fulcrum_probe_state *state,
    struct fulcrum_recording *recording, struct fulcrum_canary *canary, double until_s,
    struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    do {
        double size =
            fulcrum_recording_neediest(recording, state->sizes, state->size_count);
        status = sample_size(state, recording, canary, size, err);
        /* Each size once, whatever it takes; then as long as there is time. */
    } while (status == FULCRUM_OK &&
             fulcrum_bench_goes_on(state->bench,
                 recording->count < state->size_count ? HUGE_VAL : until_s));
    return status;
}

/* Every size once without keeping it. */
static enum fulcrum_status warm_up(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    for (size_t i = 0;
         i < state->size_count && fulcrum_bench_goes_on(state->bench, HUGE_VAL); i++) {
        if (!(state->rough_s[i] > 0.0)) {
            TRY(sample_size(
                state, &state->alone, &state->bench->alone, state->sizes[i], err));
        }
    }
    return FULCRUM_OK;
}

/* The sizes between once each main one would be sampled several times in a visit. */
static void widen(struct fulcrum_probe_state *state, double slice_s)
{
    double pass_s = 0.0;
    for (size_t i = 0; i < state->size_count; i++) {
        pass_s += fmax(state->rough_s[i], BLOCK_S) + 0.001;
    }
    if (state->sizes == main_sizes && 6.0 * pass_s < slice_s) {
        state->sizes = all_sizes;
        state->size_count = ALL_COUNT;
        for (size_t i = 0; i < ALL_COUNT; i++) {
            state->rough_s[i] = 0.0;
        }
    }
}

static enum fulcrum_status inference_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    struct fulcrum_bench *bench = state->bench;
    double slice_s = until_s - fulcrum_wall_s();
    TRY(warm_up(state, err));
    widen(state, slice_s);
    TRY(warm_up(state, err));
    slice_s = until_s - fulcrum_wall_s();
    double alone_s =
        until_s - (state->actor_threads != NULL ? BUSY_FRAC * slice_s : 0.0);
    if (fulcrum_bench_goes_on(bench, HUGE_VAL)) {
        TRY(sample_until(state, &state->alone, &bench->alone, alone_s, err));
    }
    if (state->actor_threads == NULL || !fulcrum_bench_goes_on(bench, HUGE_VAL)) {
        return FULCRUM_OK;
    }
    fulcrum_actor_threads_start(
        state->actor_threads, fulcrum_actor_threads_count(state->actor_threads));
    enum fulcrum_status status =
        sample_until(state, &state->busy, &bench->busy, until_s, err);
    enum fulcrum_status stopped = fulcrum_actor_threads_stop(
        state->actor_threads, status == FULCRUM_OK ? err : NULL);
    return status == FULCRUM_OK ? stopped : status;
}

/* Medians of every size that was sampled. */
struct size_medians {
    double size[ALL_COUNT];
    double time_s[ALL_COUNT];
    size_t count;
};

static enum fulcrum_status gather(const struct fulcrum_probe_state *state,
    const struct fulcrum_recording *recording, struct size_medians *out,
    struct fulcrum_error *err)
{
    out->count = 0;
    for (size_t i = 0; i < state->size_count; i++) {
        struct fulcrum_summary summary;
        TRY(fulcrum_recording_summary(recording, state->sizes[i], &summary, err));
        if (summary.used > 0 && summary.median > 0.0) {
            out->size[out->count] = state->sizes[i];
            out->time_s[out->count] = summary.median;
            out->count++;
        }
    }
    return FULCRUM_OK;
}

struct told_size {
    const char *name;
    double size;
};

static const struct told_size told_sizes[] = {
    {"inference_time_b1_s", 1},
    {"inference_time_b32_s", 32},
    {"inference_time_b256_s", 256},
};

static enum fulcrum_status report_told_sizes(
    const struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    for (size_t i = 0; i < sizeof told_sizes / sizeof told_sizes[0]; i++) {
        struct fulcrum_summary summary;
        TRY(fulcrum_recording_summary(
            &state->alone, told_sizes[i].size, &summary, findings->err));
        if (summary.used > 0) {
            fulcrum_findings_summary(findings, told_sizes[i].name, "s", &summary);
        }
    }
    return FULCRUM_OK;
}

/* The time at `size`; 0 where it was not sampled. */
static double time_at(const struct size_medians *medians, double size)
{
    for (size_t i = 0; i < medians->count; i++) {
        if (fabs(medians->size[i] - size) < 0.5) {
            return medians->time_s[i];
        }
    }
    return 0.0;
}

static void report_estimate(const struct fulcrum_line_fit *line, const char *name,
    const char *path, const char *clock, struct fulcrum_findings *findings)
{
    const struct fulcrum_fit_estimate *estimate = fulcrum_fit_find(&line->fit, name);
    struct fulcrum_parameter parameter = {
        .value = estimate->value,
        .standard_error = estimate->standard_error,
        .scale = FULCRUM_SCALE_LINEAR,
        .origin = FULCRUM_ORIGIN_FITTED,
    };
    (void)snprintf(parameter.path, sizeof parameter.path, "%s", path);
    (void)snprintf(parameter.source, sizeof parameter.source,
        "line through median %s times of %zu batch sizes; %.160s", clock,
        line->fit.residuals.count, line->reason);
    fulcrum_findings_parameter(findings, &parameter);
}

static enum fulcrum_status report_line(const struct size_medians *alone,
    const char *clock, struct fulcrum_findings *findings)
{
    static const char batch_path[] = "workload.network.per_batch_s";
    static const char item_path[] = "workload.network.per_item_s";
    struct fulcrum_line_fit line;
    struct fulcrum_error why = {FULCRUM_OK, ""};
    enum fulcrum_status status =
        fulcrum_fit_batch_time(&line, alone->size, alone->time_s, alone->count, &why);
    if (status == FULCRUM_ERR_NO_FIT) {
        fulcrum_findings_note(findings, "inference_time", "no line: %s", why.detail);
        return FULCRUM_OK;
    }
    FAIL_IF(status != FULCRUM_OK, findings->err, status, "%s", why.detail);
    report_estimate(&line, "per_batch_s", batch_path, clock, findings);
    report_estimate(&line, "per_item_s", item_path, clock, findings);
    fulcrum_findings_fit(findings, "inference_time", "t0 + t1 b", &line.fit);
    if (findings->status != FULCRUM_OK) {
        return findings->status;
    }
    return fulcrum_calibration_set_covariance(findings->calibration, batch_path,
        item_path, line.fit.covariance[1], findings->err);
}

static enum fulcrum_status inference_report(struct fulcrum_probe_state *state,
    struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    struct fulcrum_findings findings = {calibration, FULCRUM_OK, err};
    struct size_medians alone;
    struct size_medians busy;
    TRY(gather(state, &state->alone, &alone, err));
    TRY(gather(state, &state->busy, &busy, err));
    TRY(report_told_sizes(state, &findings));
    if (alone.count > 0) {
        TRY(fulcrum_calibration_set_batch_time(
            calibration, alone.size, alone.time_s, alone.count, err));
    }
    if (alone.count >= 2) {
        TRY(report_line(
            &alone, fulcrum_clock_name(state->bench->learner->clock), &findings));
    }
    /* Geometric mean over the sizes that both conditions have. */
    double sum = 0.0;
    size_t count = 0;
    for (size_t i = 0; i < alone.count; i++) {
        double busy_s = time_at(&busy, alone.size[i]);
        if (busy_s > 0.0) {
            sum += log(busy_s / alone.time_s[i]);
            count++;
        }
    }
    if (count > 0) {
        fulcrum_findings_value(
            &findings, "inference_busy_rel", "", exp(sum / (double)count));
    }
    fulcrum_findings_series(&findings, &state->alone);
    fulcrum_findings_series(&findings, &state->busy);
    return findings.status;
}

const struct fulcrum_probe fulcrum_probe_inference = {
    .name = "inference",
    .what = "inference of a batch",
    .share = 0.22,
    .open = inference_open,
    .close = inference_close,
    .visit = inference_visit,
    .report = inference_report,
};
