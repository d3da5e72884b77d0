/* probe_inference.c - how long the learner takes to infer a batch. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Batches from one observation up, doubling, each repeated until a sample is long
 * against the clock. Sizes that have the fewest undisturbed samples come first, so that
 * all of them end with a like error. A line through the means gives the cost per
 * batch and per item; where the line does not hold, the table of means goes into the
 * calibration beside it. Part of the time actors step on the other cores, which gives
 * the slowdown of the learner in a run. Of an endpoint, a batch is a token of as many
 * streams.
 */
#include "calibrate/probe/probe.h"

#include <math.h>

#include "calibrate/actor/actor_threads.h"
#include "calibrate/fit/fit_forms.h"
#include "model/try.h"

/* A sample repeats a batch until it lasts so long. */
#define BLOCK_S 0.01

/*
 * In a run one batch follows another. The canary and batches of other sizes leave
 * caches and branch predictors in another state, which takes so long to pass: batches
 * of one observation were up to twice as slow at first as the tenth, and where weights
 * exceed the second-level cache the fourth is the first to be within 5 %.
 */
#define WARM_UP_S 0.015

/*
 * One sample in so many is of the batch that tells later runs how fast the machine is:
 * its error is in all of them.
 */
#define CANARY_EVERY 4

/* Of the tokens of a stream, whose first ones are warm-up enough. */
#define TOKENS_S 1.5

/* Part of a visit with actors stepping on the other cores. */
#define BUSY_FRAC 0.35

/* Times that a visit could take every main size, from where on it takes all sizes. */
#define PASSES_FOR_ALL 6.0

/*
 * Sizes everybody measures, then those that fill in where time allows. Matrix kernels
 * work in tiles of several rows: most sizes that come up in a run fill none of them
 * evenly, and so do some of these.
 */
static const double main_sizes[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};
static const double all_sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 18, 21,
    24, 27, 32, 39, 48, 53, 64, 77, 96, 128, 192, 256};

#define MAIN_COUNT (sizeof main_sizes / sizeof main_sizes[0])
#define ALL_COUNT  (sizeof all_sizes / sizeof all_sizes[0])

enum { ALONE, BUSY };

struct own {
    struct fulcrum_actor_threads *actor_threads; /* NULL where there is no other core */
    const double *sizes;
    size_t size_count;
    double rough_s[ALL_COUNT]; /* last time of each size, 0: none yet */
    double block_s;
    double warm_up_s;
};

static void inference_close(struct fulcrum_probe_state *state)
{
    const struct own *own = state->own;
    fulcrum_actor_threads_free(own->actor_threads);
}

static enum fulcrum_status inference_open(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    struct own *own = state->own;
    own->sizes = main_sizes;
    own->size_count = MAIN_COUNT;
    own->block_s = BLOCK_S;
    own->warm_up_s = WARM_UP_S;
    if (bench->learner->tell != NULL) {
        while (own->sizes[own->size_count - 1] >
               (double)bench->learner_options.max_batch) {
            own->size_count--;
        }
        own->block_s = TOKENS_S;
        own->warm_up_s = 0.0;
        return FULCRUM_OK;
    }
    size_t others = (size_t)bench->machine.cpu.core_count - 1;
    others = others > bench->max_threads ? bench->max_threads : others;
    return others > 0 ? fulcrum_actor_threads_new(&own->actor_threads, &bench->stage,
                            others, bench->step_s, err)
                      : FULCRUM_OK;
}

static enum fulcrum_status time_size(struct fulcrum_probe_state *state, size_t which,
    double size, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    struct own *own = state->own;
    double *rough_s = own->rough_s;
    for (size_t i = 0; own->sizes[i] < size; i++) {
        rough_s++;
    }
    bool is_warm_up = !(*rough_s > 0.0);
    struct fulcrum_learner_work work = {bench->state, (size_t)size,
        is_warm_up ? 0 : (size_t)fmax(own->warm_up_s / *rough_s, own->warm_up_s > 0.0)};
    struct fulcrum_sample sample = {.x = size};
    TRY(fulcrum_sample_begin(state, which, err));
    TRY(fulcrum_bench_time(bench, &work, &sample.value, err));
    work.repeats = is_warm_up ? 1 : (size_t)fmax(own->block_s / *rough_s, 1.0);
    TRY(fulcrum_bench_time(bench, &work, &sample.value, err));
    *rough_s = fmax(sample.value, 1e-9);
    /* The first batch of a size touches memory and picks kernels: not kept. */
    return (is_warm_up ? fulcrum_sample_end : fulcrum_sample_keep)(
        state, which, bench->learner->clock, &sample, err);
}

/* Larger ones are left out once a server has let some of its streams wait. */
static enum fulcrum_status sample_size(struct fulcrum_probe_state *state, size_t which,
    double size, struct fulcrum_error *err)
{
    struct own *own = state->own;
    struct fulcrum_error why = {FULCRUM_OK, ""};
    enum fulcrum_status status = time_size(state, which, size, &why);
    while (
        status == FULCRUM_ERR_INFEASIBLE && own->sizes[own->size_count - 1] >= size) {
        own->size_count--;
    }
    return status == FULCRUM_OK || status == FULCRUM_ERR_INFEASIBLE
               ? FULCRUM_OK
               : fulcrum_fail(err, status, "%s", why.detail);
}

static enum fulcrum_status sample_until(struct fulcrum_probe_state *state, size_t which,
    double until_s, struct fulcrum_error *err)
{
    const struct own *own = state->own;
    const struct fulcrum_recording *recording = &state->recording[which];
    size_t once = own->size_count + own->size_count / CANARY_EVERY;
    do {
        bool is_canary = recording->count % CANARY_EVERY == CANARY_EVERY - 1 &&
                         state->bench->learner->tell == NULL;
        double size = is_canary ? FULCRUM_CANARY_BATCH
                                : fulcrum_recording_neediest(
                                      recording, own->sizes, own->size_count);
        TRY(sample_size(state, which, size, err));
        /* Each size once, whatever it takes; then as long as there is time. */
    } while (fulcrum_bench_goes_on(
        state->bench, recording->count < once ? HUGE_VAL : until_s));
    return FULCRUM_OK;
}

static enum fulcrum_status warm_up(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    const struct own *own = state->own;
    for (size_t i = 0;
         i < own->size_count && fulcrum_bench_goes_on(state->bench, HUGE_VAL); i++) {
        if (!(own->rough_s[i] > 0.0)) {
            TRY(sample_size(state, ALONE, own->sizes[i], err));
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status inference_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    struct own *own = state->own;
    double slice_s = until_s - fulcrum_wall_s();
    TRY(warm_up(state, err));
    /* The sizes between, once a visit has time for several samples of each main one. */
    double pass_s = 0.0;
    for (size_t i = 0; i < own->size_count; i++) {
        pass_s += fmax(own->rough_s[i], WARM_UP_S) + fmax(own->rough_s[i], BLOCK_S);
    }
    if (own->sizes == main_sizes && bench->learner->tell == NULL &&
        PASSES_FOR_ALL * pass_s < slice_s) {
        own->sizes = all_sizes;
        own->size_count = ALL_COUNT;
        for (size_t i = 0; i < ALL_COUNT; i++) {
            own->rough_s[i] = 0.0;
        }
    }
    TRY(warm_up(state, err));
    slice_s = until_s - fulcrum_wall_s();
    double alone_s = until_s - (own->actor_threads != NULL ? BUSY_FRAC * slice_s : 0.0);
    if (fulcrum_bench_goes_on(bench, HUGE_VAL)) {
        TRY(sample_until(state, ALONE, alone_s, err));
    }
    if (own->actor_threads == NULL || !fulcrum_bench_goes_on(bench, HUGE_VAL)) {
        return FULCRUM_OK;
    }
    fulcrum_actor_threads_start(
        own->actor_threads, fulcrum_actor_threads_count(own->actor_threads));
    enum fulcrum_status status = sample_until(state, BUSY, until_s, err);
    enum fulcrum_status stopped = fulcrum_actor_threads_stop(
        own->actor_threads, status == FULCRUM_OK ? err : NULL);
    return status == FULCRUM_OK ? stopped : status;
}

/* A line, or of tokens the curve of a server. */
static void report_fit(const struct fulcrum_bench *bench,
    const struct fulcrum_medians *alone, struct fulcrum_findings *findings)
{
    static const char *const paths[] = {"workload.network.per_batch_s",
        "workload.network.per_item_s", "workload.agent.item_exponent"};
    bool is_tokens = bench->learner->tell != NULL;
    struct fulcrum_line_fit line = {.reason = "streams of a server"};
    struct fulcrum_error why = {FULCRUM_OK, ""};
    const struct fulcrum_fit_result *fit = &line.fit;
    enum fulcrum_status status = is_tokens ? fulcrum_fit_token_time(&line.fit, alone->x,
                                                 alone->value, alone->count, &why)
                                           : fulcrum_fit_batch_time(&line, alone->x,
                                                 alone->value, alone->count, &why);
    if (!fulcrum_findings_fitted(
            findings, status, &why, "inference_time", "no line: ")) {
        return;
    }
    for (size_t i = 0; i < fit->parameter_count; i++) {
        fulcrum_findings_parameter(findings, paths[i],
            &(struct fulcrum_parameter){.value = fit->parameter[i].value,
                .standard_error = fit->parameter[i].standard_error,
                .origin = FULCRUM_ORIGIN_FITTED},
            "%s through mean %s times of %zu batch sizes; %.160s",
            is_tokens ? "curve" : "line", fulcrum_clock_name(bench->learner->clock),
            fit->residuals.count, line.reason);
        for (size_t j = 0; j < i; j++) {
            fulcrum_findings_covariance(findings, paths[j], paths[i],
                fit->covariance[j * fit->parameter_count + i]);
        }
    }
    fulcrum_findings_fit(
        findings, "inference_time", is_tokens ? "t0 + t1 b^e" : "t0 + t1 b", fit);
}

/* What a server told beside the times of its tokens. */
static void report_server(const struct fulcrum_bench *bench,
    const struct fulcrum_medians *alone, struct fulcrum_findings *findings)
{
    struct fulcrum_token_facts facts;
    bench->learner->tell(bench->state, &facts);
    fulcrum_findings_parameter(findings, "workload.agent.instance_gpu_count",
        &(struct fulcrum_parameter){.value = bench->machine.gpu.count},
        "--gpus: GPUs of the server");
    if (facts.at_once > 0.0) {
        fulcrum_findings_parameter(findings, "workload.agent.most_items",
            &(struct fulcrum_parameter){.value = facts.at_once},
            "streams that the server decodes at once; others waited");
    }
    if (alone->count == 1) { /* which no curve goes through */
        fulcrum_findings_parameter(findings, "workload.network.per_batch_s",
            &(struct fulcrum_parameter){.value = alone->value[0]}, "one stream");
        fulcrum_findings_parameter(findings, "workload.network.per_item_s",
            &(struct fulcrum_parameter){.value = 0.0}, "one stream");
    }
    fulcrum_findings_value(findings, "inter_token_median_rel", "", facts.median_rel);
    fulcrum_findings_note(findings, "tokens", "%s",
        facts.is_counted ? "counted by the server (usage)"
                         : "one for each chunk with text: the server tells no usage");
}

static void inference_report(
    struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    static const struct {
        const char *name;
        double size;
    } told_sizes[] = {{"inference_time_b1_s", 1}, {"inference_time_b32_s", 32},
        {"inference_time_b256_s", 256}};
    const struct own *own = state->own;
    struct fulcrum_medians alone = fulcrum_findings_medians(
        findings, &state->recording[ALONE], own->sizes, own->size_count);
    struct fulcrum_medians busy = fulcrum_findings_medians(
        findings, &state->recording[BUSY], own->sizes, own->size_count);
    for (size_t i = 0; i < sizeof told_sizes / sizeof told_sizes[0]; i++) {
        struct fulcrum_summary summary = fulcrum_findings_median(
            findings, &state->recording[ALONE], told_sizes[i].size);
        fulcrum_findings_summary(findings, told_sizes[i].name, "s", &summary);
    }
    if (alone.count > 0 && findings->status == FULCRUM_OK) {
        findings->status = fulcrum_time_table_set(&findings->calibration->batch_time,
            alone.x, alone.value, alone.count, findings->err);
    }
    struct fulcrum_summary canary = fulcrum_findings_median(
        findings, &state->recording[ALONE], FULCRUM_CANARY_BATCH);
    if (canary.used > 0 && !state->bench->learner_info.device.is_gpu) {
        findings->calibration->machine.cpu.batch_canary_s = canary.typical;
    }
    if (alone.count >= 2) {
        report_fit(state->bench, &alone, findings);
    }
    if (alone.count > 0 && state->bench->learner->tell != NULL) {
        report_server(state->bench, &alone, findings);
    }
    /* Geometric mean over the sizes that both conditions have. */
    double sum = 0.0;
    size_t count = 0;
    for (size_t i = 0; i < alone.count; i++) {
        for (size_t j = 0; j < busy.count; j++) {
            if (fabs(busy.x[j] - alone.x[i]) < 0.5) {
                sum += log(busy.value[j] / alone.value[i]);
                count++;
            }
        }
    }
    if (count > 0) {
        fulcrum_findings_value(
            findings, "inference_busy_rel", "", exp(sum / (double)count));
    }
}

const struct fulcrum_probe fulcrum_probe_inference = {
    .what = "inference of a batch",
    .share = 0.22,
    .headers = {[ALONE] = {"inference", "s", "batch", "alone", false, false, 0, true},
        [BUSY] = {"inference", "s", "batch", "other side busy", true, false, 0, true}},
    .own_byte = sizeof(struct own),
    .is_of_endpoint = true,
    .open = inference_open,
    .close = inference_close,
    .visit = inference_visit,
    .report = inference_report,
};
