/* probe_pause.c - how much longer a batch takes after the learner paused. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * In a run the learner waits between batches: until a batch has filled, or until an
 * actor asks at all. Meanwhile its weights leave the caches, and a processor or a GPU
 * falls asleep. So batches of one size are timed warm, then once after a pause, in
 * turns over a few pauses; the ratio of the two keeps a machine that is slow for a
 * while out. The form is empirical: nothing after a short pause, all of it after a long
 * one.
 */
#include "calibrate/probe/probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/fit/fit_forms.h"
#include "model/try.h"

/* Batches of a run with tens of actors. */
#define BATCH 8

/* Warm batches take at least so long together, and so many are timed. */
#define WARM_UP_S 0.004
#define WARM_MOST 64.0

static const double pauses_s[] = {0.5e-3, 1e-3, 2e-3, 4e-3, 8e-3, 16e-3, 32e-3};

#define PAUSE_COUNT (sizeof pauses_s / sizeof pauses_s[0])

struct fulcrum_probe_state {
    struct fulcrum_bench *bench;
    struct fulcrum_recording warm;  /* seconds of a batch after another */
    struct fulcrum_recording after; /* of one after a pause, over a warm one's */
};

static void pause_close(struct fulcrum_probe_state *state)
{
    if (state == NULL) {
        return;
    }
    fulcrum_recording_free(&state->warm);
    fulcrum_recording_free(&state->after);
    free(state);
}

static enum fulcrum_status pause_open(struct fulcrum_bench *bench,
    struct fulcrum_probe_state **out, struct fulcrum_error *err)
{
    struct fulcrum_probe_state *state = calloc(1, sizeof *state);
    TRY_MEMORY(state, err, "pause probe");
    state->bench = bench;
    fulcrum_recording_init(&state->warm,
        &(struct fulcrum_series){
            .name = "inference_before_pause", .unit = "s", .condition = "batches of 8"},
        &bench->alone);
    fulcrum_recording_init(&state->after,
        &(struct fulcrum_series){.name = "inference_after_pause",
            .x_name = "pause_s",
            .condition = "batches of 8, over warm ones"},
        &bench->alone);
    *out = state;
    return FULCRUM_OK;
}

/* Mean time of `count` batches in a row, on the learner's clock. */
static enum fulcrum_status time_batches(const struct fulcrum_bench *bench, size_t count,
    double *out, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    struct fulcrum_span begin = fulcrum_span_begin();
    for (size_t i = 0; i < count && status == FULCRUM_OK; i++) {
        status = bench->learner->forward(bench->state, BATCH, bench->action, err);
    }
    struct fulcrum_span span = fulcrum_span_end(&bench->stopwatch, begin);
    *out = fulcrum_span_on(span, bench->learner->clock) / (double)count;
    return status;
}

/* Warm batches, a pause, and one batch more. */
static enum fulcrum_status time_pause(const struct fulcrum_bench *bench, double pause_s,
    double *warm_s, double *after_s, struct fulcrum_error *err)
{
    double once_s = 0.0;
    enum fulcrum_status status = time_batches(bench, 1, &once_s, err);
    size_t count = (size_t)fmin(fmax(ceil(WARM_UP_S / once_s), 2.0), WARM_MOST);
    if (status == FULCRUM_OK) {
        status = time_batches(bench, count, warm_s, err);
    }
    if (status == FULCRUM_OK) {
        status = time_batches(bench, count, warm_s, err);
    }
    fulcrum_sleep_s(pause_s);
    return status == FULCRUM_OK ? time_batches(bench, 1, after_s, err) : status;
}

static enum fulcrum_status sample_pause(
    struct fulcrum_probe_state *state, double pause_s, struct fulcrum_error *err)
{
    struct fulcrum_bench *bench = state->bench;
    struct fulcrum_sample sample = {.x = pause_s};
    double warm_s = 0.0;
    double after_s = 0.0;
    enum fulcrum_status status =
        fulcrum_canary_open(&bench->alone, &bench->stopwatch, err);
    if (status == FULCRUM_OK) {
        status = time_pause(bench, pause_s, &warm_s, &after_s, err);
    }
    TRY(status);
    TRY(fulcrum_canary_close(&bench->alone, &sample.canary_s, bench->learner->clock,
        &bench->stopwatch, err));
    if (!(warm_s > 0.0)) {
        return FULCRUM_OK;
    }
    sample.value = after_s / warm_s;
    TRY(fulcrum_recording_add(&state->after, &sample, err));
    sample.x = 0.0;
    sample.value = warm_s;
    return fulcrum_recording_add(&state->warm, &sample, err);
}

static enum fulcrum_status pause_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    do {
        double pause_s =
            fulcrum_recording_neediest(&state->after, pauses_s, PAUSE_COUNT);
        status = sample_pause(state, pause_s, err);
    } while (status == FULCRUM_OK && fulcrum_bench_goes_on(state->bench, until_s));
    return status;
}

/* Medians over pauses, as far as they were sampled; y: over a warm batch. */
static enum fulcrum_status gather(const struct fulcrum_probe_state *state, double *x,
    double *y, size_t *count, struct fulcrum_error *err)
{
    *count = 0;
    for (size_t i = 0; i < PAUSE_COUNT; i++) {
        struct fulcrum_summary summary;
        TRY(fulcrum_recording_summary(&state->after, pauses_s[i], &summary, err));
        if (summary.used > 0 && summary.median > 0.0) {
            x[*count] = pauses_s[i];
            y[*count] = summary.median;
            *count += 1;
        }
    }
    return FULCRUM_OK;
}

static void report_estimate(const struct fulcrum_fit_result *fit, const char *name,
    double factor, const char *path, struct fulcrum_findings *findings)
{
    const struct fulcrum_fit_estimate *estimate = fulcrum_fit_find(fit, name);
    struct fulcrum_parameter parameter = {.value = factor * estimate->value,
        .standard_error = factor * estimate->standard_error,
        .scale = estimate->scale,
        .origin = FULCRUM_ORIGIN_FITTED};
    (void)snprintf(parameter.path, sizeof parameter.path, "%s", path);
    (void)snprintf(parameter.source, sizeof parameter.source,
        "batches of %d after pauses of %g to %g ms, over warm ones", BATCH,
        1e3 * pauses_s[0], 1e3 * pauses_s[PAUSE_COUNT - 1]);
    fulcrum_findings_parameter(findings, &parameter);
}

static enum fulcrum_status report_fit(const struct fulcrum_probe_state *state,
    double warm_s, struct fulcrum_findings *findings)
{
    double x[PAUSE_COUNT];
    double y[PAUSE_COUNT];
    size_t count = 0;
    struct fulcrum_fit_result fit;
    struct fulcrum_error why = {FULCRUM_OK, ""};
    TRY(gather(state, x, y, &count, findings->err));
    enum fulcrum_status status = fulcrum_fit_pause(&fit, x, y, count, &why);
    if (status == FULCRUM_ERR_NO_FIT) {
        fulcrum_findings_note(findings, "inference_after_pause", "%s", why.detail);
        return findings->status;
    }
    FAIL_IF(status != FULCRUM_OK, findings->err, status, "%s", why.detail);
    report_estimate(&fit, "cold", warm_s, "workload.network.cold_s", findings);
    report_estimate(&fit, "cooling_s", 1.0, "workload.network.cooling_s", findings);
    fulcrum_findings_fit(
        findings, "inference_after_pause", "1 + c p^2 / (p^2 + h^2)", &fit);
    return findings->status;
}

static enum fulcrum_status pause_report(struct fulcrum_probe_state *state,
    struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    struct fulcrum_findings findings = {calibration, FULCRUM_OK, err};
    struct fulcrum_summary warm;
    TRY(fulcrum_recording_summary(&state->warm, 0.0, &warm, err));
    if (warm.used > 0) {
        TRY(report_fit(state, warm.median, &findings));
    }
    fulcrum_findings_series(&findings, &state->warm);
    fulcrum_findings_series(&findings, &state->after);
    return findings.status;
}

const struct fulcrum_probe fulcrum_probe_pause = {
    .name = "pause",
    .what = "inference after a pause",
    .share = 0.06,
    .open = pause_open,
    .close = pause_close,
    .visit = pause_visit,
    .report = pause_report,
};
