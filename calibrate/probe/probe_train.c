/* probe_train.c - how long a training step takes, from steps short enough to repeat. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A training step of a real learner may take minutes on one core. Its work is a known
 * function of batch, unroll and burn-in, so steps with the same matrices and fewer
 * repetitions are timed, small enough for several samples in a visit, and time is
 * extrapolated over the number of operations by a straight line. The more a step lies
 * beyond the longest one measured, the wider its error is made. What is short enough is
 * measured as it is.
 */
#include "calibrate/probe/probe.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/fit/fit_forms.h"
#include "model/try.h"

/* The longest step measured: Ctrl-C waits for its end. */
#define STEP_MAX_S 0.4

/* A visit has room for so many of the longest step. */
#define STEPS_PER_VISIT 4.0

/* Training reaches about this part of the rate of inferring a batch of this size. */
#define RATE_OF_INFERENCE 0.7
#define RATE_BATCH        64

/* A sample repeats a step until it lasts so long. */
#define BLOCK_S 0.005

/* The fit runs over 1e9 operations, so that both its parameters are of like size. */
#define GIGA 1e9

/* Doubling the work beyond what was measured may err by so much more. */
#define ERROR_PER_DOUBLING 0.02

struct fulcrum_probe_state {
    struct fulcrum_bench *bench;
    struct fulcrum_train_work work;
    struct fulcrum_train_size nominal;
    struct fulcrum_train_plan plan; /* count 0: not yet made */
    struct fulcrum_learner_state *learner[FULCRUM_TRAIN_PLAN_MAX];
    double rough_s[FULCRUM_TRAIN_PLAN_MAX];
    double flop[FULCRUM_TRAIN_PLAN_MAX];
    struct fulcrum_recording recording;
};

static void train_close(struct fulcrum_probe_state *state)
{
    if (state == NULL) {
        return;
    }
    for (size_t i = 0; i < FULCRUM_TRAIN_PLAN_MAX; i++) {
        if (state->learner[i] != NULL) {
            state->bench->learner->close(state->learner[i]);
        }
    }
    fulcrum_recording_free(&state->recording);
    free(state);
}

static enum fulcrum_status open_size(const struct fulcrum_bench *bench,
    const struct fulcrum_train_size *size, struct fulcrum_learner_state **out,
    double *flop, struct fulcrum_error *err)
{
    struct fulcrum_learner_options options = bench->learner_options;
    struct fulcrum_learner_info info;
    options.max_batch = 1;
    options.train_batch = (size_t)size->batch;
    options.train_unroll = (size_t)size->unroll;
    options.train_burn_in = (size_t)size->burn_in;
    TRY(bench->learner->open(&options, out, &info, err));
    *flop = info.train_step_flop;
    return FULCRUM_OK;
}

static enum fulcrum_status flop_of(const struct fulcrum_bench *bench,
    struct fulcrum_train_size size, double *out, struct fulcrum_error *err)
{
    struct fulcrum_learner_state *learner = NULL;
    TRY(open_size(bench, &size, &learner, out, err));
    bench->learner->close(learner);
    return FULCRUM_OK;
}

/* Three tiny steps tell the operations of any: the learner itself counts them. */
static enum fulcrum_status find_work(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    double base = 0.0;
    double longer = 0.0;
    double warmer = 0.0;
    const struct fulcrum_bench *bench = state->bench;
    enum fulcrum_status status =
        flop_of(bench, (struct fulcrum_train_size){1.0, 1.0, 0.0}, &base, err);
    bool has_length = state->nominal.unroll > 1.0;
    if (status == FULCRUM_OK && has_length) {
        status =
            flop_of(bench, (struct fulcrum_train_size){1.0, 2.0, 0.0}, &longer, err);
    }
    if (status == FULCRUM_OK && has_length) {
        status =
            flop_of(bench, (struct fulcrum_train_size){1.0, 1.0, 1.0}, &warmer, err);
    }
    if (status == FULCRUM_OK) {
        state->work.per_unroll_flop = has_length ? longer - base : 0.0;
        state->work.per_burn_in_flop = has_length ? warmer - base : 0.0;
        state->work.constant_flop = base - state->work.per_unroll_flop;
    }
    return status;
}

static enum fulcrum_status train_open(struct fulcrum_bench *bench,
    struct fulcrum_probe_state **out, struct fulcrum_error *err)
{
    struct fulcrum_probe_state *state = calloc(1, sizeof *state);
    TRY_MEMORY(state, err, "training probe");
    state->bench = bench;
    state->nominal = (struct fulcrum_train_size){
        bench->nominal.batch, bench->nominal.unroll, bench->nominal.burn_in};
    fulcrum_recording_init(&state->recording,
        &(struct fulcrum_series){.name = "train_step",
            .unit = "s",
            .x_name = "train_step_flop",
            .condition = "alone"},
        &bench->alone);
    enum fulcrum_status status = find_work(state, err);
    if (status != FULCRUM_OK) {
        train_close(state);
        return status;
    }
    *out = state;
    return FULCRUM_OK;
}

/* Operations per second while inferring a large batch. */
static enum fulcrum_status inference_flop_per_s(
    const struct fulcrum_bench *bench, double *out, struct fulcrum_error *err)
{
    const struct fulcrum_learner *learner = bench->learner;
    size_t most = bench->learner_options.max_batch;
    size_t batch = most < RATE_BATCH ? most : RATE_BATCH;
    enum fulcrum_status status =
        learner->forward(bench->state, batch, bench->action, err);
    struct fulcrum_span begin = fulcrum_span_begin();
    if (status == FULCRUM_OK) {
        status = learner->forward(bench->state, batch, bench->action, err);
    }
    struct fulcrum_span span = fulcrum_span_end(&bench->stopwatch, begin);
    *out = (double)batch * bench->learner_info.forward_flop /
           fmax(fulcrum_span_on(span, learner->clock), 1e-9);
    return status;
}

/* Mean time of `repeats` steps, on the learner's clock. */
static enum fulcrum_status time_steps(const struct fulcrum_bench *bench,
    struct fulcrum_learner_state *learner, size_t repeats, double *out,
    struct fulcrum_error *err)
{
    double loss = 0.0;
    enum fulcrum_status status = FULCRUM_OK;
    struct fulcrum_span begin = fulcrum_span_begin();
    for (size_t k = 0; k < repeats && status == FULCRUM_OK; k++) {
        status = bench->learner->train(learner, &loss, err);
    }
    struct fulcrum_span span = fulcrum_span_end(&bench->stopwatch, begin);
    *out = fulcrum_span_on(span, bench->learner->clock) / (double)repeats;
    return status;
}

static enum fulcrum_status sample_step(
    struct fulcrum_probe_state *state, size_t i, struct fulcrum_error *err)
{
    struct fulcrum_bench *bench = state->bench;
    bool is_warm_up = !(state->rough_s[i] > 0.0);
    size_t repeats = is_warm_up ? 1 : (size_t)fmax(BLOCK_S / state->rough_s[i], 1.0);
    TRY(fulcrum_canary_open(&bench->alone, &bench->stopwatch, err));
    double step_s = 0.0;
    TRY(time_steps(bench, state->learner[i], repeats, &step_s, err));
    state->rough_s[i] = fmax(step_s, 1e-9);
    struct fulcrum_sample sample = {.x = state->flop[i], .value = step_s};
    TRY(fulcrum_canary_close(&bench->alone, &sample.canary_s, bench->learner->clock,
        &bench->stopwatch, err));
    /* The first step touches its buffers for the first time: not kept. */
    return is_warm_up ? FULCRUM_OK
                      : fulcrum_recording_add(&state->recording, &sample, err);
}

/* Makes the plan, opens a learner of each size and warms it up. */
static enum fulcrum_status prepare(
    struct fulcrum_probe_state *state, double slice_s, struct fulcrum_error *err)
{
    double limit_s = fmin(STEP_MAX_S, slice_s / STEPS_PER_VISIT);
    double flop_per_s = 0.0;
    TRY(inference_flop_per_s(state->bench, &flop_per_s, err));
    state->plan = fulcrum_train_plan_of(
        &state->work, &state->nominal, RATE_OF_INFERENCE * flop_per_s, limit_s);
    for (size_t i = 0;
         i < state->plan.count && fulcrum_bench_goes_on(state->bench, HUGE_VAL); i++) {
        TRY(open_size(state->bench, &state->plan.size[i], &state->learner[i],
            &state->flop[i], err));
        TRY(sample_step(state, i, err));
    }
    return FULCRUM_OK;
}

static size_t next_size(const struct fulcrum_probe_state *state)
{
    double flop =
        fulcrum_recording_neediest(&state->recording, state->flop, state->plan.count);
    size_t i = 0;
    while (state->flop[i] < flop) {
        i++;
    }
    return i;
}

static enum fulcrum_status train_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    if (state->plan.count == 0) {
        status = prepare(state, until_s - fulcrum_wall_s(), err);
    }
    if (status != FULCRUM_OK || !fulcrum_bench_goes_on(state->bench, HUGE_VAL)) {
        return status;
    }
    double stop_s = until_s;
    do {
        size_t i = next_size(state);
        status = sample_step(state, i, err);
        /* Each size once, whatever it takes: fewer give no line. */
        bool is_short = state->recording.count < state->plan.count;
        stop_s = is_short ? HUGE_VAL : until_s - 0.5 * state->rough_s[i];
    } while (status == FULCRUM_OK && fulcrum_bench_goes_on(state->bench, stop_s));
    return status;
}

/* The nominal step, as far as it was told: value, error and where they come from. */
static struct fulcrum_parameter parameter_of(
    enum fulcrum_origin origin, double value_s, double standard_error_s)
{
    return (struct fulcrum_parameter){
        .path = "workload.training.train_step_s",
        .value = value_s,
        .standard_error = standard_error_s,
        .scale = FULCRUM_SCALE_LOG,
        .origin = origin,
    };
}

static enum fulcrum_status report_measured(
    const struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    struct fulcrum_summary summary;
    enum fulcrum_status status = fulcrum_recording_summary(
        &state->recording, state->flop[state->plan.count - 1], &summary, findings->err);
    if (status != FULCRUM_OK || summary.used == 0) {
        return status;
    }
    struct fulcrum_parameter parameter =
        parameter_of(FULCRUM_ORIGIN_MEASURED, summary.median, summary.standard_error);
    (void)snprintf(parameter.source, sizeof parameter.source,
        "median %s time of %zu training steps of %.0f samples",
        fulcrum_clock_name(state->bench->learner->clock), summary.used,
        state->nominal.batch);
    fulcrum_findings_parameter(findings, &parameter);
    fulcrum_findings_summary(findings, "train_step_s", "s", &summary);
    return findings->status;
}

/* Medians over 1e9 operations. */
struct train_medians {
    double work[FULCRUM_TRAIN_PLAN_MAX];
    double time_s[FULCRUM_TRAIN_PLAN_MAX];
    size_t count;
};

static enum fulcrum_status gather(const struct fulcrum_probe_state *state,
    struct train_medians *out, struct fulcrum_error *err)
{
    out->count = 0;
    for (size_t i = 0; i < state->plan.count; i++) {
        struct fulcrum_summary summary;
        TRY(fulcrum_recording_summary(
            &state->recording, state->flop[i], &summary, err));
        if (summary.used > 0 && summary.median > 0.0) {
            out->work[out->count] = state->flop[i] / GIGA;
            out->time_s[out->count] = summary.median;
            out->count++;
        }
    }
    return FULCRUM_OK;
}

/* The line over operations: for steps of other sizes than the nominal one. */
static enum fulcrum_status fit_line(const struct fulcrum_probe_state *state,
    struct fulcrum_line_fit *line, bool *is_there, struct fulcrum_findings *findings)
{
    struct train_medians medians;
    enum fulcrum_status status = gather(state, &medians, findings->err);
    *is_there = 0;
    if (status != FULCRUM_OK || medians.count < 2) {
        return status;
    }
    struct fulcrum_error why = {FULCRUM_OK, ""};
    status =
        fulcrum_fit_batch_time(line, medians.work, medians.time_s, medians.count, &why);
    if (status == FULCRUM_ERR_NO_FIT) {
        fulcrum_findings_note(findings, "train_step", "no line: %s", why.detail);
        return findings->status;
    }
    FAIL_IF(status != FULCRUM_OK, findings->err, status, "%s", why.detail);
    *is_there = 1;
    fulcrum_findings_fit(
        findings, "train_step", "t0 + t1 x operations / 1e9", &line->fit);
    fulcrum_findings_value(findings, "train_step_fixed_s", "s", line->per_batch_s);
    fulcrum_findings_value(
        findings, "train_step_per_flop_s", "s", line->per_item_s / GIGA);
    return findings->status;
}

static void report_extrapolated(const struct fulcrum_probe_state *state,
    const struct fulcrum_line_fit *line, struct fulcrum_findings *findings)
{
    double work = fulcrum_train_work_flop(&state->work, &state->nominal) / GIGA;
    double value_s = line->per_batch_s + line->per_item_s * work;
    /* Error of the line at `work`, with an allowance for what lies beyond the points.
     */
    const double *covariance = line->fit.covariance;
    double variance =
        covariance[0] + 2.0 * work * covariance[1] + work * work * covariance[3];
    double doublings = fmax(log2(work / line->fit.x_high), 0.0);
    double allowance_s = ERROR_PER_DOUBLING * doublings * value_s;
    double error_s = sqrt(fmax(variance, 0.0) + allowance_s * allowance_s);
    struct fulcrum_parameter parameter =
        parameter_of(FULCRUM_ORIGIN_FITTED, value_s, error_s);
    const struct fulcrum_train_size *largest = &state->plan.size[state->plan.count - 1];
    (void)snprintf(parameter.source, sizeof parameter.source,
        "extrapolated from %.0f sequences of %.0f+%.0f steps to %.0f of %.0f+%.0f, "
        "%.3g "
        "times the work, by a line over operations; 2 %% a doubling allowed for",
        largest->batch, largest->unroll, largest->burn_in, state->nominal.batch,
        state->nominal.unroll, state->nominal.burn_in, work / line->fit.x_high);
    fulcrum_findings_parameter(findings, &parameter);
    struct fulcrum_quantity quantity =
        fulcrum_quantity_log("train_step_s", "s", value_s, error_s);
    fulcrum_findings_quantity(findings, &quantity);
}

static enum fulcrum_status train_report(struct fulcrum_probe_state *state,
    struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    struct fulcrum_findings findings = {calibration, FULCRUM_OK, err};
    fulcrum_findings_value(&findings, "train_step_flop", "",
        fulcrum_train_work_flop(&state->work, &state->nominal));
    struct fulcrum_line_fit line;
    bool has_line = 0;
    enum fulcrum_status status = fit_line(state, &line, &has_line, &findings);
    if (status == FULCRUM_OK && state->plan.count > 0 && state->plan.is_nominal) {
        status = report_measured(state, &findings);
    } else if (status == FULCRUM_OK && has_line) {
        report_extrapolated(state, &line, &findings);
    }
    if (status == FULCRUM_OK) {
        fulcrum_findings_series(&findings, &state->recording);
        status = findings.status;
    }
    return status;
}

const struct fulcrum_probe fulcrum_probe_train = {
    .name = "train",
    .what = "training step",
    .share = 0.20,
    .open = train_open,
    .close = train_close,
    .visit = train_visit,
    .report = train_report,
};
