/* probe_sm.c - how long inference and training take on a part of a GPU's SMs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Figure 4 of Inci et al. 2020 on the GPU at hand. A learner of its own is granted one
 * number of SMs after the other; on each it infers a few batch sizes and trains. What
 * was really granted is what is recorded. The fit over all of it (fit_sm.h) gives the
 * share of GPU time that follows the SMs and the shares that launches take, which the
 * model has from elsewhere where nobody measured them.
 *
 * The training step has the nominal one's sequences, cut short in time: the same
 * matrices, fewer of them, so that it can be repeated on the fewest SMs too.
 */
#include "calibrate/probe/probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit/fit_forms.h"
#include "model/try.h"

/* A sample repeats its work until it lasts so long. */
#define BLOCK_S 0.005

/* Steps of a sequence in the training step; R2D2's nominal one has 80. */
#define UNROLL 8.0

static const double batches[] = {1, 16, 64, 256};

enum { BATCHES = sizeof batches / sizeof batches[0], ITEMS = BATCHES + 1 };

/* Inference of one batch size, or training. */
struct item {
    size_t batch; /* 0: a training step */
    struct fulcrum_recording recording;
    double rough_s[FULCRUM_SM_COUNTS_MAX]; /* last time on each, 0: none yet */
};

struct fulcrum_probe_state {
    struct fulcrum_bench *bench;
    struct fulcrum_learner_state *learner; /* NULL: not yet opened */
    struct fulcrum_learner_options options;
    struct item items[ITEMS];
    double sm_counts[FULCRUM_SM_COUNTS_MAX];
    size_t sm_count;
    char refusal[200]; /* why the sweep ended early; "": it did not */
};

static int sm_applies(const struct fulcrum_bench *bench)
{
    const struct fulcrum_learner_info *info = &bench->learner_info;
    return bench->learner->grant != NULL && info->is_gpu &&
           info->least_sm_count < info->granted_sm_count;
}

static void sm_close(struct fulcrum_probe_state *state)
{
    if (state == NULL) {
        return;
    }
    if (state->learner != NULL) {
        state->bench->learner->close(state->learner);
    }
    for (size_t i = 0; i < ITEMS; i++) {
        fulcrum_recording_free(&state->items[i].recording);
    }
    free(state);
}

static enum fulcrum_status sm_open(struct fulcrum_bench *bench,
    struct fulcrum_probe_state **out, struct fulcrum_error *err)
{
    struct fulcrum_probe_state *state = calloc(1, sizeof *state);
    TRY_MEMORY(state, err, "SM probe");
    /* Where the learner was told to run on a part, that part is the GPU. */
    const struct fulcrum_sm_steps steps = {bench->learner_info.granted_sm_count,
        bench->learner_info.least_sm_count, bench->learner_info.sm_step};
    state->bench = bench;
    /* As many sequences as nominal, and the same proportion of burn-in. */
    const struct fulcrum_nominal_training *nominal = &bench->nominal;
    struct fulcrum_learner_options options = bench->learner_options;
    double unroll = fmin(nominal->unroll, UNROLL);
    options.train_batch = (size_t)nominal->batch;
    options.train_unroll = (size_t)unroll;
    options.train_burn_in = (size_t)round(nominal->burn_in * unroll / nominal->unroll);
    state->options = options;
    state->sm_count = fulcrum_sm_counts(state->sm_counts, &steps);
    for (size_t i = 0; i < ITEMS; i++) {
        state->items[i].batch = i < BATCHES ? (size_t)batches[i] : 0;
        struct item *item = &state->items[i];
        struct fulcrum_series header = {.unit = "s", .x_name = "sms"};
        (void)snprintf(header.name, sizeof header.name, "%s",
            item->batch > 0 ? "inference_sm" : "train_sm");
        if (item->batch > 0) {
            (void)snprintf(
                header.condition, sizeof header.condition, "batch %zu", item->batch);
        } else {
            (void)snprintf(header.condition, sizeof header.condition,
                "%zu x (%zu + %zu)", state->options.train_batch,
                state->options.train_burn_in, state->options.train_unroll);
        }
        fulcrum_recording_init(&item->recording, &header, &state->bench->alone);
    }
    *out = state;
    return FULCRUM_OK;
}

static enum fulcrum_status run_once(const struct fulcrum_probe_state *state,
    const struct item *item, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    double loss = 0.0;
    return item->batch > 0 ? bench->learner->forward(
                                 state->learner, item->batch, bench->action, err)
                           : bench->learner->train(state->learner, &loss, err);
}

/* Mean time of `repeats` of them, on the learner's clock. */
static enum fulcrum_status time_item(const struct fulcrum_probe_state *state,
    const struct item *item, size_t repeats, double *out, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    enum fulcrum_status status = FULCRUM_OK;
    struct fulcrum_span begin = fulcrum_span_begin();
    for (size_t i = 0; i < repeats && status == FULCRUM_OK; i++) {
        status = run_once(state, item, err);
    }
    struct fulcrum_span span = fulcrum_span_end(&bench->stopwatch, begin);
    *out = fulcrum_span_on(span, bench->learner->clock) / (double)repeats;
    return status;
}

static enum fulcrum_status sample_item(struct fulcrum_probe_state *state,
    struct item *item, size_t which, struct fulcrum_error *err)
{
    struct fulcrum_bench *bench = state->bench;
    double *rough_s = &item->rough_s[which];
    /* The first after a grant sets up what the share needs: not kept. */
    double first_s = 0.0;
    enum fulcrum_status status = time_item(state, item, 1, &first_s, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_canary_open(&bench->alone, &bench->stopwatch, err);
    }
    if (status != FULCRUM_OK) {
        return status;
    }
    double usual_s = *rough_s > 0.0 ? *rough_s : first_s;
    struct fulcrum_sample sample = {.x = state->sm_counts[which]};
    size_t repeats = (size_t)fmax(BLOCK_S / fmax(usual_s, 1e-9), 1.0);
    status = time_item(state, item, repeats, &sample.value, err);
    *rough_s = sample.value;
    TRY(status);
    TRY(fulcrum_canary_close(&bench->alone, &sample.canary_s, bench->learner->clock,
        &bench->stopwatch, err));
    return fulcrum_recording_add(&item->recording, &sample, err);
}

/* Takes a number of SMs out of the list; the others keep their order. */
static void drop_count(struct fulcrum_probe_state *state, size_t which)
{
    state->sm_count--;
    for (size_t i = which; i < state->sm_count; i++) {
        state->sm_counts[i] = state->sm_counts[i + 1];
        for (size_t k = 0; k < ITEMS; k++) {
            state->items[k].rough_s[i] = state->items[k].rough_s[i + 1];
        }
    }
}

/*
 * Grants the number of that place; what was really given takes its place, and is taken
 * out where it is in the list already. Returns 1 where it is to be measured.
 */
static int take_share(struct fulcrum_probe_state *state, size_t which)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    double granted = state->sm_counts[which];
    if (state->bench->learner->grant(
            state->learner, state->sm_counts[which], &granted, &why) != FULCRUM_OK) {
        (void)snprintf(state->refusal, sizeof state->refusal, "%.199s", why.detail);
        return 0;
    }
    for (size_t i = 0; i < state->sm_count; i++) {
        if (i != which && fabs(state->sm_counts[i] - granted) < 0.5) {
            drop_count(state, which);
            return 0;
        }
    }
    state->sm_counts[which] = granted;
    return 1;
}

static size_t next_count(const struct fulcrum_probe_state *state)
{
    double sm_count = fulcrum_recording_neediest(
        &state->items[0].recording, state->sm_counts, state->sm_count);
    size_t i = 0;
    while (i + 1 < state->sm_count && fabs(state->sm_counts[i] - sm_count) > 0.5) {
        i++;
    }
    return i;
}

static enum fulcrum_status sample_share(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    size_t which = next_count(state);
    if (!take_share(state, which)) {
        return FULCRUM_OK;
    }
    for (size_t i = 0; i < ITEMS && fulcrum_bench_goes_on(state->bench, HUGE_VAL);
         i++) {
        TRY(sample_item(state, &state->items[i], which, err));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status sm_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    struct fulcrum_bench *bench = state->bench;
    enum fulcrum_status status = FULCRUM_OK;
    if (state->learner == NULL) {
        struct fulcrum_learner_info info;
        status = bench->learner->open(&state->options, &state->learner, &info, err);
    }
    while (status == FULCRUM_OK && state->refusal[0] == '\0') {
        status = sample_share(state, err);
        if (!fulcrum_bench_goes_on(bench, until_s)) {
            break;
        }
    }
    return status;
}

/* The medians of every item on every number of SMs that was sampled. */
struct medians {
    struct fulcrum_sm_point points[ITEMS * FULCRUM_SM_COUNTS_MAX];
    size_t count;
};

static enum fulcrum_status gather(const struct fulcrum_probe_state *state,
    struct medians *out, struct fulcrum_error *err)
{
    out->count = 0;
    for (size_t i = 0; i < ITEMS * state->sm_count; i++) {
        const struct item *item = &state->items[i / state->sm_count];
        double sm_count = state->sm_counts[i % state->sm_count];
        struct fulcrum_summary summary;
        TRY(fulcrum_recording_summary(&item->recording, sm_count, &summary, err));
        if (summary.used > 0 && summary.median > 0.0) {
            out->points[out->count++] = (struct fulcrum_sm_point){
                (double)item->batch, sm_count, summary.median};
        }
    }
    return FULCRUM_OK;
}

/*
 * A field that follows one of the fitted shares: its derivative by it. The three shares
 * beside that of math keep their proportions, and so have its error, the other way.
 */
struct follower {
    const char *path;
    const char *share; /* of the fit */
    double value;
    double slope;
};

enum { FOLLOWERS = 6 };

static size_t list_followers(
    const struct fulcrum_sm_fit *fit, struct follower out[FOLLOWERS])
{
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    struct fulcrum_workload_network shares = design.workload.network;
    double rest = shares.sm_frac + shares.dram_frac + shares.latency_frac;
    double left = 1.0 - fit->math_frac;
    const struct follower all[FOLLOWERS] = {
        {"workload.network.launch_bound_frac", "launch_bound_frac",
            fit->launch_bound_frac, 1.0},
        {"workload.network.math_frac", "math_frac", fit->math_frac, 1.0},
        {"workload.network.sm_frac", "math_frac", left * shares.sm_frac / rest,
            -shares.sm_frac / rest},
        {"workload.network.dram_frac", "math_frac", left * shares.dram_frac / rest,
            -shares.dram_frac / rest},
        {"workload.network.latency_frac", "math_frac",
            left * shares.latency_frac / rest, -shares.latency_frac / rest},
        {"workload.training.launch_bound_frac", "train_launch_bound_frac",
            fit->train_launch_bound_frac, 1.0},
    };
    memcpy(out, all, sizeof all);
    return isnan(fit->train_launch_bound_frac) ? FOLLOWERS - 1 : FOLLOWERS;
}

static size_t index_of(const struct fulcrum_fit_result *fit, const char *name)
{
    size_t i = 0;
    while (strcmp(fit->parameter[i].name, name) != 0) {
        i++;
    }
    return i;
}

static void report_follower(const struct fulcrum_sm_fit *fit,
    const struct follower *follower, struct fulcrum_findings *findings)
{
    const struct fulcrum_fit_estimate *estimate =
        fulcrum_fit_find(&fit->fit, follower->share);
    struct fulcrum_parameter parameter = {
        .value = follower->value,
        .standard_error = fabs(follower->slope) * estimate->standard_error,
        .scale = FULCRUM_SCALE_LINEAR,
        .origin = FULCRUM_ORIGIN_FITTED,
    };
    (void)snprintf(parameter.path, sizeof parameter.path, "%s", follower->path);
    (void)snprintf(parameter.source, sizeof parameter.source,
        "%s of (5)-(6) through %zu medians over batches and SMs of this GPU; %.0f %% "
        "of it is the prior%s",
        follower->share, fit->fit.residuals.count, 100.0 * estimate->prior_share,
        follower->slope < 0.0 ? "; kept in the proportions of a V100" : "");
    fulcrum_findings_parameter(findings, &parameter);
}

/* How the errors of the fields go together. */
static void report_covariances(const struct fulcrum_sm_fit *fit,
    const struct follower *followers, size_t count, struct fulcrum_findings *findings)
{
    const struct fulcrum_fit_result *result = &fit->fit;
    for (size_t k = 0; k < count * count && findings->status == FULCRUM_OK; k++) {
        const struct follower *a = &followers[k / count];
        const struct follower *b = &followers[k % count];
        size_t i = index_of(result, a->share);
        size_t j = index_of(result, b->share);
        double covariance = result->covariance[i * result->parameter_count + j];
        if (a < b && isfinite(covariance)) {
            findings->status = fulcrum_calibration_set_covariance(findings->calibration,
                a->path, b->path, a->slope * b->slope * covariance, findings->err);
        }
    }
}

static void report_fit(
    const struct fulcrum_sm_fit *fit, struct fulcrum_findings *findings)
{
    struct follower followers[FOLLOWERS];
    size_t count = list_followers(fit, followers);
    for (size_t i = 0; i < count; i++) {
        report_follower(fit, &followers[i], findings);
    }
    report_covariances(fit, followers, count, findings);
    fulcrum_findings_fit(findings, "sm_sweep",
        "(5)-(6): t0 [l + (1-l) phi(s)] + t1 b phi(s), phi = f S/s + 1-f", &fit->fit);
    fulcrum_findings_value(findings, "sm_per_batch_s", "s", fit->per_batch_s);
    fulcrum_findings_value(findings, "sm_per_item_s", "s", fit->per_item_s);
    fulcrum_findings_value(findings, "sm_train_step_s", "s", fit->train_step_s);
}

static enum fulcrum_status sm_report(struct fulcrum_probe_state *state,
    struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    struct fulcrum_findings findings = {calibration, FULCRUM_OK, err};
    struct medians medians;
    struct fulcrum_sm_fit fit;
    struct fulcrum_error why = {FULCRUM_OK, ""};
    TRY(gather(state, &medians, err));
    for (size_t i = 0; i < ITEMS; i++) {
        fulcrum_findings_series(&findings, &state->items[i].recording);
    }
    if (state->refusal[0] != '\0') {
        fulcrum_findings_note(&findings, "sm_sweep", "ended: %s", state->refusal);
    }
    enum fulcrum_status status = fulcrum_fit_sm(&fit, medians.points, medians.count,
        state->bench->learner_info.granted_sm_count, &why);
    if (status == FULCRUM_ERR_NO_FIT) {
        fulcrum_findings_note(&findings, "sm_fit", "no shares: %s", why.detail);
        return findings.status;
    }
    FAIL_IF(status != FULCRUM_OK, err, status, "%s", why.detail);
    report_fit(&fit, &findings);
    return findings.status;
}

const struct fulcrum_probe fulcrum_probe_sm = {
    .name = "sm",
    .what = "a part of the SMs",
    .share = 0.25,
    .applies = sm_applies,
    .open = sm_open,
    .close = sm_close,
    .visit = sm_visit,
    .report = sm_report,
};
