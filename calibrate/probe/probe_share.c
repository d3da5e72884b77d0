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
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

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

struct fulcrum_probe_state {
    struct fulcrum_bench *bench;
    struct fulcrum_learner_state *training;
    struct fulcrum_recording recording;
};

/* The side that trains, on a thread of its own. */
struct trainer {
    const struct fulcrum_probe_state *state;
    const struct fulcrum_cpu_list *cpus; /* NULL: wherever */
    size_t step_count;
    struct fulcrum_span span;
    enum fulcrum_status status;
    struct fulcrum_error err;
    atomic_int is_done;
};

static void share_close(struct fulcrum_probe_state *state)
{
    if (state == NULL) {
        return;
    }
    if (state->training != NULL) {
        state->bench->learner->close(state->training);
    }
    fulcrum_recording_free(&state->recording);
    free(state);
}

static enum fulcrum_status share_open(struct fulcrum_bench *bench,
    struct fulcrum_probe_state **out, struct fulcrum_error *err)
{
    struct fulcrum_probe_state *state = calloc(1, sizeof *state);
    TRY_MEMORY(state, err, "sharing probe");
    state->bench = bench;
    fulcrum_recording_init(&state->recording,
        &(struct fulcrum_series){
            .name = "learner_sharing", .condition = "inference and training"},
        &bench->alone);
    struct fulcrum_learner_options options = bench->learner_options;
    struct fulcrum_learner_info info;
    bool has_length = bench->nominal.unroll > 1.0;
    options.max_batch = 1;
    options.train_batch =
        (size_t)(has_length ? fmin(bench->nominal.batch, SEQUENCES_MOST)
                            : bench->nominal.batch);
    options.train_unroll = (size_t)fmin(bench->nominal.unroll, UNROLL_MOST);
    options.train_burn_in = (size_t)fmin(bench->nominal.burn_in, BURN_IN_MOST);
    enum fulcrum_status status =
        bench->learner->open(&options, &state->training, &info, err);
    if (status != FULCRUM_OK) {
        share_close(state);
        return status;
    }
    *out = state;
    return FULCRUM_OK;
}

static void *train(void *argument)
{
    struct trainer *trainer = argument;
    const struct fulcrum_probe_state *state = trainer->state;
    double loss = 0.0;
    if (trainer->cpus != NULL) {
        (void)fulcrum_cpu_list_bind(trainer->cpus);
    }
    struct fulcrum_span begin = fulcrum_span_begin();
    for (size_t i = 0; i < trainer->step_count && trainer->status == FULCRUM_OK; i++) {
        trainer->status =
            state->bench->learner->train(state->training, &loss, &trainer->err);
    }
    trainer->span = fulcrum_span_end(&state->bench->stopwatch, begin);
    atomic_store(&trainer->is_done, 1);
    return NULL;
}

/* One training step alone, on the learner's clock, after one to warm up. */
static enum fulcrum_status time_training(
    const struct fulcrum_probe_state *state, double *out, struct fulcrum_error *err)
{
    struct trainer trainer = {.state = state, .step_count = 1};
    atomic_init(&trainer.is_done, 0);
    (void)train(&trainer);
    double once_s = fulcrum_span_on(trainer.span, state->bench->learner->clock);
    trainer.step_count = (size_t)fmax(ceil(SAMPLE_S / fmax(once_s, 1e-6)), 1.0);
    (void)train(&trainer);
    *out = fulcrum_span_on(trainer.span, state->bench->learner->clock) /
           (double)trainer.step_count;
    return trainer.status == FULCRUM_OK
               ? FULCRUM_OK
               : fulcrum_fail(err, trainer.status, "%s", trainer.err.detail);
}

/* Batches on the calling thread until the trainer is done, or for SAMPLE_S without. */
static enum fulcrum_status infer(const struct fulcrum_probe_state *state,
    struct trainer *trainer, size_t *count, struct fulcrum_span *span,
    struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    enum fulcrum_status status = FULCRUM_OK;
    double until_s = fulcrum_wall_s() + SAMPLE_S;
    struct fulcrum_span begin = fulcrum_span_begin();
    int goes_on = 1;
    for (*count = 0; goes_on && status == FULCRUM_OK; (*count)++) {
        status = bench->learner->forward(bench->state, BATCH, bench->action, err);
        goes_on = trainer != NULL ? !atomic_load(&trainer->is_done)
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
    bool is_cpu = bench->learner->clock == FULCRUM_CLOCK_CPU;
    struct fulcrum_placement placement = {.is_apart = 0};
    struct fulcrum_cpu_list before = {.count = 0};
    bool is_bound = is_cpu &&
                    fulcrum_placement_complete(&placement, NULL) == FULCRUM_OK &&
                    fulcrum_cpu_list_allowed(&before, NULL) == FULCRUM_OK &&
                    fulcrum_cpu_list_bind(&placement.server);
    struct trainer trainer = {.state = state,
        .cpus = is_bound ? &placement.server : NULL,
        .step_count = (size_t)fmax(ceil(SAMPLE_S / fmax(train_s, 1e-6)), 2.0)};
    struct fulcrum_span inference = {.wall_s = 0.0};
    size_t batches = 0;
    pthread_t thread;
    atomic_init(&trainer.is_done, 0);
    enum fulcrum_status status = FULCRUM_OK;
    if (pthread_create(&thread, NULL, train, &trainer) == 0) {
        status = infer(state, &trainer, &batches, &inference, err);
        (void)pthread_join(thread, NULL);
    } else {
        status = fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED, "no thread for training");
    }
    if (is_bound) {
        (void)fulcrum_cpu_list_bind(&before);
    }
    TRY(status);
    FAIL_IF(
        trainer.status != FULCRUM_OK, err, trainer.status, "%s", trainer.err.detail);
    double spent_s =
        is_cpu ? inference.cpu_s + trainer.span.cpu_s : trainer.span.wall_s;
    *out = ((double)trainer.step_count * train_s + (double)batches * batch_s) / spent_s;
    return FULCRUM_OK;
}

static enum fulcrum_status sample(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    struct fulcrum_bench *bench = state->bench;
    struct fulcrum_sample out = {.value = 0.0};
    struct fulcrum_span span;
    size_t batches = 0;
    double train_s = 0.0;
    TRY(fulcrum_canary_open(&bench->alone, &bench->stopwatch, err));
    TRY(time_training(state, &train_s, err));
    TRY(infer(state, NULL, &batches, &span, err));
    double batch_s = fulcrum_span_on(span, bench->learner->clock) / (double)batches;
    TRY(share(state, train_s, batch_s, &out.value, err));
    TRY(fulcrum_canary_close(
        &bench->alone, &out.canary_s, bench->learner->clock, &bench->stopwatch, err));
    return fulcrum_recording_add(&state->recording, &out, err);
}

static enum fulcrum_status share_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    do {
        status = sample(state, err);
    } while (status == FULCRUM_OK && fulcrum_bench_goes_on(state->bench, until_s));
    return status;
}

static enum fulcrum_status share_report(struct fulcrum_probe_state *state,
    struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    struct fulcrum_findings findings = {calibration, FULCRUM_OK, err};
    struct fulcrum_summary summary;
    enum fulcrum_status status =
        fulcrum_recording_summary(&state->recording, 0.0, &summary, err);
    if (status != FULCRUM_OK || summary.used == 0) {
        return status;
    }
    struct fulcrum_parameter parameter = {.path = "workload.training.sharing_frac",
        .value = fmin(fmax(summary.median, 0.05), 2.0),
        .standard_error = summary.standard_error,
        .scale = FULCRUM_SCALE_LINEAR,
        .origin = FULCRUM_ORIGIN_MEASURED,
        .source = "batches of 8 and small training steps, together on one core or "
                  "device, over the same work alone"};
    fulcrum_findings_parameter(&findings, &parameter);
    fulcrum_findings_series(&findings, &state->recording);
    return findings.status;
}

const struct fulcrum_probe fulcrum_probe_share = {
    .name = "share",
    .what = "inference beside training",
    .share = 0.06,
    .open = share_open,
    .close = share_close,
    .visit = share_visit,
    .report = share_report,
};
