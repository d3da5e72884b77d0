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

#include "calibrate/fit/fit_forms.h"
#include "model/try.h"

/* A sample repeats its work until it lasts so long. */
#define BLOCK_S 0.005

/* Steps of a sequence in the training step; R2D2's nominal one has 80. */
#define UNROLL 8.0

static const double batches[] = {1, 16, 64, 256};

/* Inference of each batch size, then training. */
enum { TRAINING = sizeof batches / sizeof batches[0], ITEMS = TRAINING + 1 };

struct own {
    struct fulcrum_learner_state *learner; /* NULL: not yet opened */
    struct fulcrum_learner_options options;
    /* Last time of each item on each number of SMs, 0: none yet. */
    double rough_s[ITEMS][FULCRUM_SM_COUNTS_MAX];
    double sm_counts[FULCRUM_SM_COUNTS_MAX];
    size_t sm_count;
    char refusal[200]; /* why the sweep ended early; "": it did not */
};

static bool sm_applies(const struct fulcrum_bench *bench)
{
    const struct fulcrum_learner_info *info = &bench->learner_info;
    return bench->learner->grant != NULL && info->device.is_gpu &&
           info->device.least_sm_count < info->device.granted_sm_count;
}

static void sm_close(struct fulcrum_probe_state *state)
{
    const struct own *own = state->own;
    if (own->learner != NULL) {
        state->bench->learner->close(own->learner);
    }
}

static enum fulcrum_status sm_open(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    (void)err;
    const struct fulcrum_bench *bench = state->bench;
    struct own *own = state->own;
    /* Where the learner was told to run on a part, that part is the GPU. */
    const struct fulcrum_sm_steps steps = {bench->learner_info.device.granted_sm_count,
        bench->learner_info.device.least_sm_count, bench->learner_info.device.sm_step};
    /* As many sequences as nominal, and the same proportion of burn-in. */
    const struct fulcrum_train_size *nominal = &bench->nominal;
    struct fulcrum_learner_options *options = &own->options;
    double unroll = fmin(nominal->unroll, UNROLL);
    *options = bench->learner_options;
    options->train_batch = (size_t)nominal->batch;
    options->train_unroll = (size_t)unroll;
    options->train_burn_in = (size_t)round(nominal->burn_in * unroll / nominal->unroll);
    own->sm_count = fulcrum_sm_counts(own->sm_counts, &steps);
    struct fulcrum_series *training = &state->recording[TRAINING].header;
    (void)snprintf(training->condition, sizeof training->condition, "%zu x (%zu + %zu)",
        options->train_batch, options->train_burn_in, options->train_unroll);
    return FULCRUM_OK;
}

/* Takes a number of SMs out of the list; the others keep their order. */
static void drop_count(struct own *own, size_t which)
{
    own->sm_count--;
    for (size_t i = which; i < own->sm_count; i++) {
        own->sm_counts[i] = own->sm_counts[i + 1];
        for (size_t k = 0; k < ITEMS; k++) {
            own->rough_s[k][i] = own->rough_s[k][i + 1];
        }
    }
}

/*
 * Grants the number of that place; what was really given takes its place, and is taken
 * out where it is in the list already. Returns whether it is to be measured.
 */
static bool take_share(
    const struct fulcrum_learner *learner, struct own *own, size_t which)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    double granted = own->sm_counts[which];
    if (learner->grant(own->learner, own->sm_counts[which], &granted, &why) !=
        FULCRUM_OK) {
        (void)snprintf(own->refusal, sizeof own->refusal, "%.199s", why.detail);
        return false;
    }
    for (size_t i = 0; i < own->sm_count; i++) {
        if (i != which && fabs(own->sm_counts[i] - granted) < 0.5) {
            drop_count(own, which);
            return false;
        }
    }
    own->sm_counts[which] = granted;
    return true;
}

static enum fulcrum_status sample_share(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    struct own *own = state->own;
    double sm_count =
        fulcrum_recording_neediest(&state->recording[0], own->sm_counts, own->sm_count);
    size_t which = 0;
    while (which + 1 < own->sm_count && fabs(own->sm_counts[which] - sm_count) > 0.5) {
        which++;
    }
    if (!take_share(state->bench->learner, own, which)) {
        return FULCRUM_OK;
    }
    for (size_t i = 0; i < ITEMS && fulcrum_bench_goes_on(state->bench, HUGE_VAL);
         i++) {
        double *rough_s = &own->rough_s[i][which];
        struct fulcrum_learner_work work = {
            own->learner, i < TRAINING ? (size_t)batches[i] : 0, 1};
        struct fulcrum_sample sample = {.x = own->sm_counts[which]};
        /* The first after a grant sets up what the share needs: not kept. */
        double first_s = 0.0;
        TRY(fulcrum_bench_time(bench, &work, &first_s, err));
        TRY(fulcrum_sample_begin(state, i, err));
        double usual_s = *rough_s > 0.0 ? *rough_s : first_s;
        work.repeats = (size_t)fmax(BLOCK_S / fmax(usual_s, 1e-9), 1.0);
        TRY(fulcrum_bench_time(bench, &work, &sample.value, err));
        *rough_s = sample.value;
        TRY(fulcrum_sample_keep(state, i, bench->learner->clock, &sample, err));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status sm_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    struct own *own = state->own;
    if (own->learner == NULL) {
        struct fulcrum_learner_info info;
        TRY(bench->learner->open(&own->options, &own->learner, &info, err));
    }
    bool goes_on = true;
    while (goes_on && own->refusal[0] == '\0') {
        TRY(sample_share(state, err));
        goes_on = fulcrum_bench_goes_on(bench, until_s);
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

static void report_fit(
    const struct fulcrum_sm_fit *fit, struct fulcrum_findings *findings)
{
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    struct fulcrum_workload_network shares = design.workload.network;
    double rest = shares.sm_frac + shares.dram_frac + shares.latency_frac;
    double left = 1.0 - fit->math_frac;
    const struct follower followers[] = {
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
    size_t count = sizeof followers / sizeof followers[0];
    count -= isnan(fit->train_launch_bound_frac) ? 1 : 0;
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_fit_estimate *estimate =
            fulcrum_fit_find(&fit->fit, followers[i].share);
        fulcrum_findings_parameter(findings, followers[i].path,
            &(struct fulcrum_parameter){.value = followers[i].value,
                .standard_error = fabs(followers[i].slope) * estimate->standard_error,
                .origin = FULCRUM_ORIGIN_FITTED},
            "%s of (5)-(6) through %zu medians over batches and SMs of this GPU; %.0f "
            "%% "
            "of it is the prior%s",
            followers[i].share, fit->fit.residuals.count, 100.0 * estimate->prior_share,
            followers[i].slope < 0.0 ? "; kept in the proportions of a V100" : "");
    }
    /* How the errors of the fields go together. */
    const struct fulcrum_fit_result *result = &fit->fit;
    for (size_t k = 0; k < count * count; k++) {
        const struct follower *a = &followers[k / count];
        const struct follower *b = &followers[k % count];
        ptrdiff_t row = fulcrum_fit_find(result, a->share) - result->parameter;
        ptrdiff_t column = fulcrum_fit_find(result, b->share) - result->parameter;
        double covariance =
            result->covariance[row * (ptrdiff_t)result->parameter_count + column];
        if (a < b && isfinite(covariance)) {
            fulcrum_findings_covariance(
                findings, a->path, b->path, a->slope * b->slope * covariance);
        }
    }
    fulcrum_findings_fit(findings, "sm_sweep",
        "(5)-(6): t0 [l + (1-l) phi(s)] + t1 b phi(s), phi = f S/s + 1-f", &fit->fit);
    fulcrum_findings_value(findings, "sm_per_batch_s", "s", fit->per_batch_s);
    fulcrum_findings_value(findings, "sm_per_item_s", "s", fit->per_item_s);
    fulcrum_findings_value(findings, "sm_train_step_s", "s", fit->train_step_s);
}

static void sm_report(
    struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    const struct own *own = state->own;
    struct fulcrum_sm_point points[ITEMS * FULCRUM_SM_COUNTS_MAX];
    size_t count = 0;
    struct fulcrum_sm_fit fit;
    struct fulcrum_error why = {FULCRUM_OK, ""};
    for (size_t i = 0; i < ITEMS; i++) {
        struct fulcrum_medians medians = fulcrum_findings_medians(
            findings, &state->recording[i], own->sm_counts, own->sm_count);
        for (size_t k = 0; k < medians.count; k++) {
            points[count++] = (struct fulcrum_sm_point){
                i < TRAINING ? batches[i] : 0.0, medians.x[k], medians.value[k]};
        }
    }
    if (own->refusal[0] != '\0') {
        fulcrum_findings_note(findings, "sm_sweep", "ended: %s", own->refusal);
    }
    enum fulcrum_status status = fulcrum_fit_sm(
        &fit, points, count, state->bench->learner_info.device.granted_sm_count, &why);
    if (fulcrum_findings_fitted(findings, status, &why, "sm_fit", "no shares: ")) {
        report_fit(&fit, findings);
    }
}

const struct fulcrum_probe fulcrum_probe_sm = {
    .what = "a part of the SMs",
    .share = 0.25,
    .headers = {{"inference_sm", "s", "sms", "batch 1", false, false, 0},
        {"inference_sm", "s", "sms", "batch 16", false, false, 0},
        {"inference_sm", "s", "sms", "batch 64", false, false, 0},
        {"inference_sm", "s", "sms", "batch 256", false, false, 0},
        [TRAINING] = {.name = "train_sm", .unit = "s", .x_name = "sms"}},
    .own_byte = sizeof(struct own),
    .applies = sm_applies,
    .open = sm_open,
    .close = sm_close,
    .visit = sm_visit,
    .report = sm_report,
};
