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

struct own {
    struct fulcrum_train_work work;
    struct fulcrum_train_plan plan; /* count 0: not yet made */
    struct fulcrum_learner_state *learner[FULCRUM_TRAIN_PLAN_MAX];
    double rough_s[FULCRUM_TRAIN_PLAN_MAX];
    double flop[FULCRUM_TRAIN_PLAN_MAX];
};

static void train_close(struct fulcrum_probe_state *state)
{
    const struct own *own = state->own;
    for (size_t i = 0; i < FULCRUM_TRAIN_PLAN_MAX; i++) {
        if (own->learner[i] != NULL) {
            state->bench->learner->close(own->learner[i]);
        }
    }
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
    *flop = info.cost.train_step_flop;
    return FULCRUM_OK;
}

/* Three tiny steps tell the operations of any: the learner itself counts them. */
static enum fulcrum_status train_open(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    static const struct fulcrum_train_size tiny[] = {
        {1.0, 1.0, 0.0}, {1.0, 2.0, 0.0}, {1.0, 1.0, 1.0}};
    const struct fulcrum_bench *bench = state->bench;
    struct own *own = state->own;
    double flop[] = {0.0, 0.0, 0.0};
    bool has_length = bench->nominal.unroll > 1.0;
    for (size_t i = 0; i < (has_length ? 3 : 1); i++) {
        struct fulcrum_learner_state *learner = NULL;
        TRY(open_size(bench, &tiny[i], &learner, &flop[i], err));
        bench->learner->close(learner);
    }
    own->work.per_unroll_flop = has_length ? flop[1] - flop[0] : 0.0;
    own->work.per_burn_in_flop = has_length ? flop[2] - flop[0] : 0.0;
    own->work.constant_flop = flop[0] - own->work.per_unroll_flop;
    return FULCRUM_OK;
}

static enum fulcrum_status sample_step(
    struct fulcrum_probe_state *state, size_t i, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    struct own *own = state->own;
    bool is_warm_up = !(own->rough_s[i] > 0.0);
    const struct fulcrum_learner_work work = {own->learner[i], 0,
        is_warm_up ? 1 : (size_t)fmax(BLOCK_S / own->rough_s[i], 1.0)};
    struct fulcrum_sample sample = {.x = own->flop[i]};
    TRY(fulcrum_sample_begin(state, 0, err));
    TRY(fulcrum_bench_time(bench, &work, &sample.value, err));
    own->rough_s[i] = fmax(sample.value, 1e-9);
    /* The first step touches its buffers for the first time: not kept. */
    return (is_warm_up ? fulcrum_sample_end : fulcrum_sample_keep)(
        state, 0, bench->learner->clock, &sample, err);
}

static enum fulcrum_status train_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    struct own *own = state->own;
    const struct fulcrum_recording *recording = &state->recording[0];
    if (own->plan.count == 0) {
        /* Makes the plan, opens a learner of each size and warms it up. */
        double slice_s = until_s - fulcrum_wall_s();
        const struct fulcrum_bench *bench = state->bench;
        double limit_s = fmin(STEP_MAX_S, slice_s / STEPS_PER_VISIT);
        /* Operations per second while inferring a large batch. */
        size_t most = bench->learner_options.max_batch;
        const struct fulcrum_learner_work work = {
            bench->state, most < RATE_BATCH ? most : RATE_BATCH, 1};
        double batch_s = 0.0;
        TRY(fulcrum_bench_time(bench, &work, &batch_s, err));
        TRY(fulcrum_bench_time(bench, &work, &batch_s, err));
        double flop_per_s = (double)work.batch * bench->learner_info.cost.forward_flop /
                            fmax(batch_s, 1e-9);
        own->plan = fulcrum_train_plan_of(
            &own->work, &bench->nominal, RATE_OF_INFERENCE * flop_per_s, limit_s);
        for (size_t k = 0;
             k < own->plan.count && fulcrum_bench_goes_on(bench, HUGE_VAL); k++) {
            TRY(open_size(
                bench, &own->plan.size[k], &own->learner[k], &own->flop[k], err));
            TRY(sample_step(state, k, err));
        }
    }
    if (!fulcrum_bench_goes_on(state->bench, HUGE_VAL)) {
        return FULCRUM_OK;
    }
    double stop_s = until_s;
    do {
        double flop = fulcrum_recording_neediest(recording, own->flop, own->plan.count);
        size_t i = 0;
        while (own->flop[i] < flop) {
            i++;
        }
        TRY(sample_step(state, i, err));
        /* Each size once, whatever it takes: fewer give no line. */
        bool is_short = recording->count < own->plan.count;
        stop_s = is_short ? HUGE_VAL : until_s - 0.5 * own->rough_s[i];
    } while (fulcrum_bench_goes_on(state->bench, stop_s));
    return FULCRUM_OK;
}

static const char step_path[] = "workload.training.train_step_s";

/* The line over 1e9 operations: for steps of other sizes than the nominal one. */
static bool fit_line(const struct fulcrum_probe_state *state,
    struct fulcrum_line_fit *line, struct fulcrum_findings *findings)
{
    const struct own *own = state->own;
    struct fulcrum_medians medians = fulcrum_findings_medians(
        findings, &state->recording[0], own->flop, own->plan.count);
    struct fulcrum_error why = {FULCRUM_OK, ""};
    if (medians.count < 2) {
        return false;
    }
    for (size_t i = 0; i < medians.count; i++) {
        medians.x[i] /= GIGA;
    }
    enum fulcrum_status status =
        fulcrum_fit_batch_time(line, medians.x, medians.value, medians.count, &why);
    if (!fulcrum_findings_fitted(findings, status, &why, "train_step", "no line: ")) {
        return false;
    }
    fulcrum_findings_fit(
        findings, "train_step", "t0 + t1 x operations / 1e9", &line->fit);
    fulcrum_findings_value(findings, "train_step_fixed_s", "s", line->per_batch_s);
    fulcrum_findings_value(
        findings, "train_step_per_flop_s", "s", line->per_item_s / GIGA);
    return true;
}

static void train_report(
    struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    const struct own *own = state->own;
    struct fulcrum_line_fit line;
    fulcrum_findings_value(findings, "train_step_flop", "",
        fulcrum_train_work_flop(&own->work, &state->bench->nominal));
    bool has_line = fit_line(state, &line, findings);
    if (own->plan.count > 0 && own->plan.is_nominal) {
        const struct fulcrum_bench *bench = state->bench;
        struct fulcrum_summary summary = fulcrum_findings_median(
            findings, &state->recording[0], own->flop[own->plan.count - 1]);
        if (summary.used > 0) {
            fulcrum_findings_parameter(findings, step_path,
                &(struct fulcrum_parameter){.value = summary.typical,
                    .standard_error = summary.standard_error,
                    .scale = FULCRUM_SCALE_LOG},
                "mean %s time of %zu training steps of %.0f samples",
                fulcrum_clock_name(bench->learner->clock), summary.used,
                bench->nominal.batch);
            fulcrum_findings_summary(findings, "train_step_s", "s", &summary);
        }
    } else if (has_line) {
        const struct fulcrum_train_size *nominal = &state->bench->nominal;
        double work = fulcrum_train_work_flop(&own->work, nominal) / GIGA;
        double value_s = line.per_batch_s + line.per_item_s * work;
        /* Error of the line at `work`, with an allowance for what lies beyond the
         * points.
         */
        const double *covariance = line.fit.covariance;
        double variance =
            covariance[0] + 2.0 * work * covariance[1] + work * work * covariance[3];
        double doublings = fmax(log2(work / line.fit.x_high), 0.0);
        double allowance_s = ERROR_PER_DOUBLING * doublings * value_s;
        double error_s = sqrt(fmax(variance, 0.0) + allowance_s * allowance_s);
        const struct fulcrum_train_size *largest = &own->plan.size[own->plan.count - 1];
        fulcrum_findings_parameter(findings, step_path,
            &(struct fulcrum_parameter){.value = value_s,
                .standard_error = error_s,
                .scale = FULCRUM_SCALE_LOG,
                .origin = FULCRUM_ORIGIN_FITTED},
            "extrapolated from %.0f sequences of %.0f+%.0f steps to %.0f of %.0f+%.0f, "
            "%.3g times the work, by a line over operations; 2 %% a doubling allowed "
            "for",
            largest->batch, largest->unroll, largest->burn_in, nominal->batch,
            nominal->unroll, nominal->burn_in, work / line.fit.x_high);
        fulcrum_findings_log(findings, "train_step_s", value_s, error_s);
    }
}

const struct fulcrum_probe fulcrum_probe_train = {
    .what = "training step",
    .share = 0.20,
    .headers = {{"train_step", "s", "train_step_flop", "alone", false, false, 0, true}},
    .own_byte = sizeof(struct own),
    .open = train_open,
    .close = train_close,
    .visit = train_visit,
    .report = train_report,
};
