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

#include "calibrate/fit/fit_forms.h"
#include "model/try.h"

/* Batches of a run with tens of actors. */
#define BATCH 8

/* Warm batches take at least so long together, and so many are timed. */
#define WARM_UP_S 0.004
#define WARM_MOST 64.0

static const double pauses_s[] = {0.5e-3, 1e-3, 2e-3, 4e-3, 8e-3, 16e-3, 32e-3};

#define PAUSE_COUNT (sizeof pauses_s / sizeof pauses_s[0])

enum {
    WARM,  /* seconds of a batch after another */
    AFTER, /* of one after a pause, over a warm one's */
};

static enum fulcrum_status sample_pause(
    struct fulcrum_probe_state *state, double pause_s, struct fulcrum_error *err)
{
    struct fulcrum_sample sample = {.x = pause_s};
    double warm_s = 0.0;
    double after_s = 0.0;
    TRY(fulcrum_sample_begin(state, AFTER, err));
    /* Warm batches, a pause, and one batch more. */
    struct fulcrum_learner_work work = {state->bench->state, BATCH, 1};
    double once_s = 0.0;
    TRY(fulcrum_bench_time(state->bench, &work, &once_s, err));
    work.repeats = (size_t)fmin(fmax(ceil(WARM_UP_S / once_s), 2.0), WARM_MOST);
    TRY(fulcrum_bench_time(state->bench, &work, &warm_s, err));
    TRY(fulcrum_bench_time(state->bench, &work, &warm_s, err));
    fulcrum_sleep_s(pause_s);
    work.repeats = 1;
    TRY(fulcrum_bench_time(state->bench, &work, &after_s, err));
    TRY(fulcrum_sample_end(state, AFTER, state->bench->learner->clock, &sample, err));
    if (!(warm_s > 0.0)) {
        return FULCRUM_OK;
    }
    sample.value = after_s / warm_s;
    TRY(fulcrum_recording_add(&state->recording[AFTER], &sample, err));
    sample.x = 0.0;
    sample.value = warm_s;
    return fulcrum_recording_add(&state->recording[WARM], &sample, err);
}

static enum fulcrum_status pause_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    do {
        TRY(sample_pause(state,
            fulcrum_recording_neediest(&state->recording[AFTER], pauses_s, PAUSE_COUNT),
            err));
    } while (fulcrum_bench_goes_on(state->bench, until_s));
    return FULCRUM_OK;
}

static void report_estimate(const struct fulcrum_fit_result *fit, const char *name,
    double factor, const char *path, struct fulcrum_findings *findings)
{
    const struct fulcrum_fit_estimate *estimate = fulcrum_fit_find(fit, name);
    fulcrum_findings_parameter(findings, path,
        &(struct fulcrum_parameter){.value = factor * estimate->value,
            .standard_error = factor * estimate->standard_error,
            .scale = estimate->scale,
            .origin = FULCRUM_ORIGIN_FITTED},
        "batches of %d after pauses of %g to %g ms, over warm ones", BATCH,
        1e3 * pauses_s[0], 1e3 * pauses_s[PAUSE_COUNT - 1]);
}

static void pause_report(
    struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    static const char name[] = "inference_after_pause";
    struct fulcrum_summary warm =
        fulcrum_findings_median(findings, &state->recording[WARM], 0.0);
    struct fulcrum_medians after = fulcrum_findings_medians(
        findings, &state->recording[AFTER], pauses_s, PAUSE_COUNT);
    if (warm.used == 0 || findings->status != FULCRUM_OK) {
        return;
    }
    struct fulcrum_fit_result fit;
    struct fulcrum_error why = {FULCRUM_OK, ""};
    enum fulcrum_status status =
        fulcrum_fit_pause(&fit, after.x, after.value, after.count, &why);
    if (fulcrum_findings_fitted(findings, status, &why, name, "")) {
        report_estimate(
            &fit, "cold", warm.typical, "workload.network.cold_s", findings);
        report_estimate(&fit, "cooling_s", 1.0, "workload.network.cooling_s", findings);
        fulcrum_findings_fit(findings, name, "1 + c p^2 / (p^2 + h^2)", &fit);
    }
}

const struct fulcrum_probe fulcrum_probe_pause = {
    .what = "inference after a pause",
    .share = 0.06,
    .headers = {[WARM] = {"inference_before_pause", "s", NULL, "batches of 8", false,
                    false, 0},
        [AFTER] = {"inference_after_pause", NULL, "pause_s",
            "batches of 8, over warm ones", false, false, 0}},
    .visit = pause_visit,
    .report = pause_report,
};
