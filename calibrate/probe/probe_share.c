/* probe_share.c - what inference and training lose while they share the learner. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Training beside inference takes its share of the learner, and more: each finds caches
 * and branch predictors full of the other's work, at every switch between the two (on a
 * GPU kernels of both may also run side by side, and gain). Both are timed alone, then
 * together on the same core, in the same visit; work done over work alone is one number
 * of the model (workload.training.sharing_frac).
 */
#include "calibrate/probe/probe.h"

#include <math.h>

#include "calibrate/actor/placement.h"
#include "model/try.h"

/* Batches of a run with tens of actors. */
#define BATCH 8

/* Training steps are of a size that several of them fit into a visit. */
#define SEQUENCES_MOST 4.0
#define UNROLL_MOST    8.0
#define BURN_IN_MOST   4.0

/* Each side is timed for so long, alone and together. */
#define SAMPLE_S 0.15

struct own {
    struct fulcrum_learner_state *training;
};

/* A learner elsewhere does one thing at a time. */
static bool share_applies(const struct fulcrum_bench *bench)
{
    return bench->learner->time == NULL;
}

static void share_close(struct fulcrum_probe_state *state)
{
    const struct own *own = state->own;
    if (own->training != NULL) {
        state->bench->learner->close(own->training);
    }
}

static enum fulcrum_status share_open(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    struct own *own = state->own;
    struct fulcrum_learner_options options = bench->learner_options;
    struct fulcrum_learner_info info;
    bool has_length = bench->nominal.unroll > 1.0;
    options.max_batch = 1;
    options.train_batch =
        (size_t)(has_length ? fmin(bench->nominal.batch, SEQUENCES_MOST)
                            : bench->nominal.batch);
    options.train_unroll = (size_t)fmin(bench->nominal.unroll, UNROLL_MOST);
    options.train_burn_in = (size_t)fmin(bench->nominal.burn_in, BURN_IN_MOST);
    return bench->learner->open(&options, &own->training, &info, err);
}

/* Batches on the calling thread until the training is done, or for SAMPLE_S without. */
static enum fulcrum_status infer(const struct fulcrum_bench *bench,
    const struct fulcrum_background_load *training, size_t *count,
    struct fulcrum_span *span, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    double until_s = fulcrum_wall_s() + SAMPLE_S;
    struct fulcrum_span begin = fulcrum_span_begin();
    int goes_on = 1;
    for (*count = 0; goes_on && status == FULCRUM_OK; (*count)++) {
        status = bench->learner->forward(bench->state, BATCH, bench->action, err);
        goes_on = training != NULL ? !fulcrum_background_load_is_done(training)
                                   : fulcrum_wall_s() < until_s;
    }
    *span = fulcrum_span_end(&bench->stopwatch, begin);
    return status;
}

/* Both at once. `out`: work of both over the time it took. */
static enum fulcrum_status share(const struct fulcrum_probe_state *state,
    double train_s, double batch_s, double *out, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    const struct own *own = state->own;
    bool is_cpu = bench->learner->clock == FULCRUM_CLOCK_CPU;
    struct fulcrum_placement placement = {.is_apart = 0};
    struct fulcrum_cpu_list before = {.count = 0};
    bool is_bound = is_cpu &&
                    fulcrum_placement_complete(&placement, NULL) == FULCRUM_OK &&
                    fulcrum_cpu_list_allowed(&before, NULL) == FULCRUM_OK &&
                    fulcrum_cpu_list_bind(&placement.server);
    const struct fulcrum_learner_work work = {
        own->training, 0, (size_t)fmax(ceil(SAMPLE_S / fmax(train_s, 1e-6)), 2.0)};
    struct fulcrum_background_load *training = NULL;
    struct fulcrum_span trained = {.wall_s = 0.0};
    struct fulcrum_span inference = {.wall_s = 0.0};
    size_t batches = 0;
    enum fulcrum_status status = fulcrum_background_load_start(
        &training, bench, &work, is_bound ? &placement.server : NULL, err);
    if (status == FULCRUM_OK) {
        status = infer(bench, training, &batches, &inference, err);
        enum fulcrum_status ended = fulcrum_background_load_end(
            training, &trained, status == FULCRUM_OK ? err : NULL);
        status = status == FULCRUM_OK ? ended : status;
    }
    if (is_bound) {
        (void)fulcrum_cpu_list_bind(&before);
    }
    TRY(status);
    double spent_s = is_cpu ? inference.cpu_s + trained.cpu_s : trained.wall_s;
    *out = ((double)work.repeats * train_s + (double)batches * batch_s) / spent_s;
    return FULCRUM_OK;
}

static enum fulcrum_status share_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    const struct own *own = state->own;
    enum fulcrum_clock clock = state->bench->learner->clock;
    do {
        struct fulcrum_sample out = {.value = 0.0};
        struct fulcrum_span span;
        size_t batches = 0;
        double train_s = 0.0;
        TRY(fulcrum_sample_begin(state, 0, err));
        /* One training step alone, on the learner's clock, after one to warm up. */
        struct fulcrum_learner_work work = {own->training, 0, 1};
        TRY(fulcrum_bench_time(state->bench, &work, &train_s, err));
        work.repeats = (size_t)fmax(ceil(SAMPLE_S / fmax(train_s, 1e-6)), 1.0);
        TRY(fulcrum_bench_time(state->bench, &work, &train_s, err));
        TRY(infer(state->bench, NULL, &batches, &span, err));
        double batch_s = fulcrum_span_on(span, clock) / (double)batches;
        TRY(share(state, train_s, batch_s, &out.value, err));
        TRY(fulcrum_sample_keep(state, 0, clock, &out, err));
    } while (fulcrum_bench_goes_on(state->bench, until_s));
    return FULCRUM_OK;
}

static void share_report(
    struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    struct fulcrum_summary summary =
        fulcrum_findings_median(findings, &state->recording[0], 0.0);
    if (summary.used > 0) {
        fulcrum_findings_parameter(findings, "workload.training.sharing_frac",
            &(struct fulcrum_parameter){.value = fmin(fmax(summary.typical, 0.05), 2.0),
                .standard_error = summary.standard_error},
            "batches of 8 and small training steps, together on one core or device, "
            "over the same work alone");
    }
}

const struct fulcrum_probe fulcrum_probe_share = {
    .what = "inference beside training",
    .share = 0.06,
    .headers = {{.name = "learner_sharing", .condition = "inference and training"}},
    .own_byte = sizeof(struct own),
    .applies = share_applies,
    .open = share_open,
    .close = share_close,
    .visit = share_visit,
    .report = share_report,
};
