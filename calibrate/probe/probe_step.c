/* probe_step.c - how long one environment step takes, and how that varies. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two views of the same thing. Blocks of steps are timed as a whole, so that the clock
 * costs nothing: they give the mean. Steps timed one by one give the distribution:
 * quantiles, and the coefficient of variation that the model's step law needs. Where a
 * step is so short that reading the clock would be a good part of it there are only
 * blocks, and the variation is estimated from how much blocks differ, as an upper
 * bound.
 *
 * Resets are kept apart from steps, as they may take a hundred times as long: a step of
 * the model is a step and its share of a reset.
 *
 * Steps are wanted as a run has them: a thread steps one environment after the other,
 * each of which finds caches full of the others, while the learner works on another
 * core. So several environments take turns, and half of the time the learner is busy;
 * from that half comes the mean. The other half shows how much the two get in each
 * other's way.
 */
#define _POSIX_C_SOURCE 200809L

#include "calibrate/probe/probe.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/actor/placement.h"
#include "calibrate/host.h"
#include "calibrate/statistics.h"
#include "model/try.h"

/* Large enough to be busy with arithmetic, short enough to end soon. */
#define BATCH_COUNT 32

struct fulcrum_background_load {
    const struct fulcrum_bench *bench;
    struct fulcrum_learner_work work;
    const struct fulcrum_cpu_list *cpus;
    pthread_t thread;
    atomic_int ends;
    atomic_int is_done;
    struct fulcrum_span span; /* the thread's until it has ended, as is the next */
    struct fulcrum_error err;
};

static void *keep_busy(void *argument)
{
    struct fulcrum_background_load *load = argument;
    bool is_endless = load->work.repeats == 0;
    load->work.repeats += is_endless ? 1 : 0;
    if (load->cpus != NULL) {
        (void)fulcrum_cpu_list_bind(load->cpus);
    }
    do {
        load->err.status =
            fulcrum_bench_work(load->bench, &load->work, &load->span, &load->err);
    } while (is_endless && load->err.status == FULCRUM_OK &&
             !atomic_load_explicit(&load->ends, memory_order_relaxed));
    atomic_store(&load->is_done, 1);
    return NULL;
}

enum fulcrum_status fulcrum_background_load_start(struct fulcrum_background_load **out,
    const struct fulcrum_bench *bench, const struct fulcrum_learner_work *work,
    const struct fulcrum_cpu_list *cpus, struct fulcrum_error *err)
{
    struct fulcrum_background_load *load = calloc(1, sizeof *load);
    TRY_MEMORY(load, err, "a busy learner");
    load->bench = bench;
    load->work = *work;
    load->cpus = cpus;
    atomic_init(&load->ends, 0);
    atomic_init(&load->is_done, 0);
    if (pthread_create(&load->thread, NULL, keep_busy, load) != 0) {
        free(load);
        return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED, "no thread for the learner");
    }
    *out = load;
    return FULCRUM_OK;
}

bool fulcrum_background_load_is_done(const struct fulcrum_background_load *load)
{
    return atomic_load(&load->is_done);
}

enum fulcrum_status fulcrum_background_load_end(struct fulcrum_background_load *load,
    struct fulcrum_span *out, struct fulcrum_error *err)
{
    if (load == NULL) {
        return FULCRUM_OK;
    }
    atomic_store(&load->ends, 1);
    (void)pthread_join(load->thread, NULL);
    enum fulcrum_status status = load->err.status;
    if (status != FULCRUM_OK) {
        (void)fulcrum_fail(err, status, "%s", load->err.detail);
    }
    if (out != NULL) {
        *out = load->span;
    }
    free(load);
    return status;
}

/* Blocks of steps last about this long: far above a clock read. */
#define BLOCK_S 0.005

/*
 * Of long steps a block has so many, unless it would last too long: the mean of
 * blocks of a few, less the longest tenth, is too low where some steps are much longer.
 */
#define BLOCK_STEPS  16.0
#define BLOCK_MOST_S 0.05

/* Of calls of tools, which hold every kind of them. */
enum { BLOCK_DECKS = 2 };

/* The same where each block is an exchange with another process, whose caches are cold
 * at first. */
#define BLOCK_ELSEWHERE_S 0.02

/* Steps are timed one by one only where reading the clock costs below a tenth. */
#define SINGLE_OVER_CLOCK 10.0

/* Single steps kept, and those of them that go to the file, evenly thinned. */
#define SINGLE_MAX        100000
#define SINGLE_REPORT_MAX 2048

/* Single steps in a row. */
#define SINGLE_BLOCK_MAX ((size_t)4096)

/*
 * The variance takes single steps up to this quantile at their time and longer ones at
 * the quantile: one interrupt of 5 ms among 20000 steps of 60 us would treble it.
 */
#define WINSOR_QUANTILE 0.999

/* Part of a visit with the learner busy on another core. */
#define BUSY_FRAC 0.5

/*
 * Environments that take turns. Those with a process of their own do so where they are
 * asked for steps one by one, and are no more than the threads that are measured; two,
 * where the capacity tells what it costs that more of them share a core.
 */
#define ENV_COUNT 16

/* Calls wait for cores where others used more than this of one. */
#define OTHERS_FRAC 0.05

/* Resets in a block where one of them is too short to time. */
#define RESET_BLOCK_COUNT 256

/*
 * Steps too short to time one by one are timed in blocks so many clock reads long. From
 * one such block to the next the machine's own speed hardly moves, so that the
 * differences of neighbours show the steps' spread; longer blocks show the machine's.
 */
#define SHORT_OVER_CLOCK  100.0
#define SHORT_BLOCK_COUNT 128

/* Median |difference| of two draws of a normal law, in its standard deviations. */
#define MEDIAN_DIFFERENCE_PER_SD 0.9539

/* As for medians: so many undisturbed samples need no help from disturbed ones. */
#define CALM_ENOUGH 8

/* Of the cv: how far it wanders between runs in a noisy place. */
#define CV_ERROR_REL 0.1

enum {
    BLOCK,       /* mean step of a block, resets included */
    BUSY,        /* the same beside a busy learner */
    RESET,       /* one reset, or the mean of a block of them */
    SINGLE,      /* one step without its reset, or short blocks */
    RESETS,      /* resets per step in each block of BLOCK */
    BUSY_RESETS, /* likewise of BUSY */
    WAITS,       /* tools: wall less CPU time of a step in a block without resets */
    START,       /* tools: wall time of a reset */
};

struct own {
    struct fulcrum_stepper stepper; /* the one whose steps are timed one by one */
    struct fulcrum_stepper others[ENV_COUNT - 1];
    size_t other_count; /* that take turns with it in blocks */
    size_t turn;
    double step_count; /* all steps so far, and the resets in them */
    double reset_count;
};

static bool is_elsewhere(const struct fulcrum_probe_state *state)
{
    const struct own *own = state->own;
    return fulcrum_stepper_has_log(&own->stepper);
}

static bool times_singles(const struct fulcrum_bench *bench)
{
    return bench->step_s >= SINGLE_OVER_CLOCK * bench->stopwatch.cpu_cost_s;
}

static void step_close(struct fulcrum_probe_state *state)
{
    struct own *own = state->own;
    fulcrum_stepper_close(&own->stepper);
    for (size_t i = 0; i < own->other_count; i++) {
        fulcrum_stepper_close(&own->others[i]);
    }
}

static enum fulcrum_status step_open(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    struct own *own = state->own;
    struct fulcrum_series *single = &state->recording[SINGLE].header;
    (void)snprintf(single->name, sizeof single->name, "actor_step_%s",
        times_singles(bench) ? "single" : "short_block");
    TRY(fulcrum_stepper_open(&own->stepper, &bench->stage, 0, err));
    /* Those in processes of their own crowd a core elsewhere (probe_threads.c). */
    size_t most = is_elsewhere(state) ? 0 : ENV_COUNT - 1;
    while (own->other_count < most) {
        TRY(fulcrum_stepper_open(
            &own->others[own->other_count], &bench->stage, own->other_count + 1, err));
        own->other_count++;
    }
    return FULCRUM_OK;
}

static size_t block_steps(const struct fulcrum_probe_state *state)
{
    const struct fulcrum_bench *bench = state->bench;
    double steps_s = fmin(BLOCK_STEPS * bench->step_s, BLOCK_MOST_S);
    double block_s = is_elsewhere(state) ? BLOCK_ELSEWHERE_S : fmax(BLOCK_S, steps_s);
    return bench->stage.actor->is_tools
               ? BLOCK_DECKS * (size_t)FULCRUM_CALL_DECK
               : (size_t)fmax(ceil(block_s / bench->step_s), 1.0);
}

/* Steps of one environment after the other, as an actor's thread makes them. */
static enum fulcrum_status run_in_turn(
    struct own *own, size_t count, size_t *resets, struct fulcrum_error *err)
{
    *resets = 0;
    for (size_t i = 0; i < count; i++) {
        size_t ended = 0;
        /* The environment whose turn it is. */
        own->turn = own->turn < own->other_count ? own->turn + 1 : 0;
        TRY(fulcrum_stepper_run(
            own->turn == 0 ? &own->stepper : &own->others[own->turn - 1], 1, &ended,
            err));
        *resets += ended;
    }
    return FULCRUM_OK;
}

/* The mean of a block of steps, clock read at its ends; `which`: BLOCK, BUSY. */
static enum fulcrum_status sample_block(
    struct fulcrum_probe_state *state, size_t which, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    struct own *own = state->own;
    double count = (double)block_steps(state);
    size_t resets = 0;
    TRY(fulcrum_sample_begin(state, which, err));
    double elsewhere_s = fulcrum_stepper_cpu_s(&own->stepper);
    struct fulcrum_host_idle idle = fulcrum_host_idle("");
    struct fulcrum_span begin = fulcrum_span_begin();
    /* What steps in a process of its own is asked for all of the block at once. */
    TRY(is_elsewhere(state)
            ? fulcrum_stepper_run(&own->stepper, (size_t)count, &resets, err)
            : run_in_turn(own, (size_t)count, &resets, err));
    struct fulcrum_span span = fulcrum_span_end(&bench->stopwatch, begin);
    elsewhere_s = fulcrum_stepper_cpu_s(&own->stepper) - elsewhere_s;
    struct fulcrum_sample sample = {.value = (span.cpu_s + elsewhere_s) / count};
    TRY(fulcrum_sample_keep(state, which, FULCRUM_CLOCK_CPU, &sample, err));
    own->step_count += count;
    own->reset_count += (double)resets;
    if (bench->stage.actor->is_tools && resets == 0) {
        struct fulcrum_host_idle then = fulcrum_host_idle("");
        struct fulcrum_sample wait = sample;
        wait.value = fmax(span.wall_s / count - sample.value, 0.0);
        wait.marked = fulcrum_host_others_s(&idle, &then) > OTHERS_FRAC * span.wall_s;
        TRY(fulcrum_recording_add(&state->recording[WAITS], &wait, err));
    }
    sample.value = (double)resets / count;
    return fulcrum_recording_add(
        &state->recording[which == BUSY ? BUSY_RESETS : RESETS], &sample, err);
}

struct single_times {
    double *step_s;
    double *reset_s;
    size_t step_count;
    size_t reset_count;
};

static double since(double begin_s, const struct fulcrum_stopwatch *stopwatch)
{
    return fmax(fulcrum_thread_cpu_s() - begin_s - stopwatch->cpu_cost_s, 0.0);
}

/* Step after step with the clock read at each, and the resets apart. */
static enum fulcrum_status time_here(struct fulcrum_stepper *stepper,
    const struct fulcrum_stopwatch *stopwatch, struct single_times *times,
    struct fulcrum_error *err)
{
    enum fulcrum_step_result result = FULCRUM_STEP_ON;
    for (size_t i = 0; i < times->step_count && result != FULCRUM_STEP_FAILED; i++) {
        double begin_s = fulcrum_thread_cpu_s();
        result = fulcrum_stepper_step(stepper);
        times->step_s[i] = since(begin_s, stopwatch);
        if (result == FULCRUM_STEP_END) {
            begin_s = fulcrum_thread_cpu_s();
            result = fulcrum_stepper_reset(stepper);
            times->reset_s[times->reset_count++] = since(begin_s, stopwatch);
        }
    }
    return result == FULCRUM_STEP_FAILED ? fulcrum_stepper_failure(stepper, err)
                                         : FULCRUM_OK;
}

/* What steps in another process is timed there: hand-offs are no part of a step. */
static enum fulcrum_status time_there(struct fulcrum_stepper *stepper,
    struct single_times *times, struct fulcrum_error *err)
{
    struct fulcrum_step_log log = {
        .stride = 1, .step_s = times->step_s, .reset_s = times->reset_s};
    enum fulcrum_status status =
        fulcrum_stepper_log(stepper, times->step_count, &log, err);
    times->reset_count = log.reset_count;
    return status;
}

static enum fulcrum_status add_all(struct fulcrum_recording *recording,
    const double *value_s, size_t count, double canary_s, struct fulcrum_error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_sample sample = {.value = value_s[i], .canary_s = canary_s};
        TRY(fulcrum_recording_add(recording, &sample, err));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status sample_singles(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    struct own *own = state->own;
    size_t count = block_steps(state);
    count = count < SINGLE_BLOCK_MAX ? count : SINGLE_BLOCK_MAX;
    double *room = calloc(2 * count, sizeof *room);
    TRY_MEMORY(room, err, "%zu single steps", count);
    struct single_times times = {room, room + count, count, 0};
    struct fulcrum_sample all = {.x = 0.0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_sample_begin(state, SINGLE, err));
    TRY_OR_END(is_elsewhere(state)
                   ? time_there(&own->stepper, &times, err)
                   : time_here(&own->stepper, &bench->stopwatch, &times, err));
    TRY_OR_END(fulcrum_sample_end(state, SINGLE, FULCRUM_CLOCK_CPU, &all, err));
    own->step_count += (double)times.step_count;
    own->reset_count += (double)times.reset_count;
    if (times_singles(bench)) {
        TRY_OR_END(add_all(&state->recording[SINGLE], times.step_s, times.step_count,
            all.canary_s, err));
    }
    status = add_all(
        &state->recording[RESET], times.reset_s, times.reset_count, all.canary_s, err);
end:
    free(room);
    return status;
}

static double short_block_size(const struct fulcrum_bench *bench)
{
    return ceil(SHORT_OVER_CLOCK * bench->stopwatch.cpu_cost_s / bench->step_s);
}

static enum fulcrum_status time_blocks(struct fulcrum_probe_state *state, size_t size,
    double *value_s, struct fulcrum_error *err)
{
    struct own *own = state->own;
    if (is_elsewhere(state)) {
        struct fulcrum_step_log log = {.stride = size, .step_s = value_s};
        return fulcrum_stepper_log(&own->stepper, SHORT_BLOCK_COUNT * size, &log, err);
    }
    double before_s = fulcrum_thread_cpu_s();
    for (size_t i = 0; i < SHORT_BLOCK_COUNT; i++) {
        TRY(fulcrum_stepper_run(&own->stepper, size, NULL, err));
        double after_s = fulcrum_thread_cpu_s();
        value_s[i] = fmax(after_s - before_s - state->bench->stopwatch.cpu_cost_s, 0.0);
        before_s = after_s;
    }
    return FULCRUM_OK;
}

/* Means of short blocks in a row, with their resets. */
static enum fulcrum_status sample_short_blocks(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    double size = short_block_size(state->bench);
    double value_s[SHORT_BLOCK_COUNT] = {0.0};
    struct fulcrum_sample all = {.x = 0.0};
    TRY(fulcrum_sample_begin(state, SINGLE, err));
    TRY(time_blocks(state, (size_t)size, value_s, err));
    TRY(fulcrum_sample_end(state, SINGLE, FULCRUM_CLOCK_CPU, &all, err));
    for (size_t i = 0; i < SHORT_BLOCK_COUNT; i++) {
        value_s[i] /= size;
    }
    return add_all(
        &state->recording[SINGLE], value_s, SHORT_BLOCK_COUNT, all.canary_s, err);
}

static enum fulcrum_status sample_reset_block(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    struct own *own = state->own;
    TRY(fulcrum_sample_begin(state, RESET, err));
    struct fulcrum_span begin = fulcrum_span_begin();
    enum fulcrum_step_result result = FULCRUM_STEP_ON;
    for (int i = 0; i < RESET_BLOCK_COUNT && result == FULCRUM_STEP_ON; i++) {
        result = fulcrum_stepper_reset(&own->stepper);
    }
    if (result == FULCRUM_STEP_FAILED) {
        return fulcrum_stepper_failure(&own->stepper, err);
    }
    struct fulcrum_span span = fulcrum_span_end(&state->bench->stopwatch, begin);
    struct fulcrum_sample sample = {.value = span.cpu_s / RESET_BLOCK_COUNT};
    return fulcrum_sample_keep(state, RESET, FULCRUM_CLOCK_CPU, &sample, err);
}

/* A new sandbox, as whoever waits for it sees it. */
static enum fulcrum_status sample_start(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    struct own *own = state->own;
    TRY(fulcrum_sample_begin(state, START, err));
    struct fulcrum_span begin = fulcrum_span_begin();
    if (fulcrum_stepper_reset(&own->stepper) == FULCRUM_STEP_FAILED) {
        return fulcrum_stepper_failure(&own->stepper, err);
    }
    struct fulcrum_span span = fulcrum_span_end(&state->bench->stopwatch, begin);
    struct fulcrum_sample sample = {.value = span.wall_s};
    return fulcrum_sample_keep(state, START, FULCRUM_CLOCK_WALL, &sample, err);
}

static enum fulcrum_status sample_parts(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    bool is_full = state->recording[SINGLE].count >= SINGLE_MAX;
    if (times_singles(state->bench)) {
        return is_full ? FULCRUM_OK : sample_singles(state, err);
    }
    /* Elsewhere resets are timed where they happen, as single steps are. */
    TRY(is_elsewhere(state) ? sample_singles(state, err)
                            : sample_reset_block(state, err));
    return is_full ? FULCRUM_OK : sample_short_blocks(state, err);
}

static enum fulcrum_status visit_busy(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    size_t most = bench->learner_options.max_batch;
    const struct fulcrum_learner_work work = {
        bench->state, most < BATCH_COUNT ? most : BATCH_COUNT, 0};
    struct fulcrum_background_load *load = NULL;
    enum fulcrum_status status;
    TRY(fulcrum_background_load_start(&load, bench, &work, NULL, err));
    do {
        status = sample_block(state, BUSY, err);
    } while (status == FULCRUM_OK && fulcrum_bench_goes_on(bench, until_s));
    enum fulcrum_status ended =
        fulcrum_background_load_end(load, NULL, status == FULCRUM_OK ? err : NULL);
    return status != FULCRUM_OK ? status : ended;
}

static enum fulcrum_status step_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    struct fulcrum_bench *bench = state->bench;
    bool has_other_side =
        bench->machine.cpu.thread_count >= 2.0 && !bench->stage.actor->is_tools;
    double now_s = fulcrum_wall_s();
    double alone_s = until_s - (has_other_side ? BUSY_FRAC * (until_s - now_s) : 0.0);
    do {
        TRY(sample_block(state, BLOCK, err));
        TRY(bench->stage.actor->is_tools ? sample_start(state, err) : FULCRUM_OK);
        TRY(sample_parts(state, err));
    } while (fulcrum_bench_goes_on(bench, alone_s));
    return has_other_side && fulcrum_bench_goes_on(bench, HUGE_VAL)
               ? visit_busy(state, until_s, err)
               : FULCRUM_OK;
}

/* What the samples add up to. Times in seconds per step or per reset. */
struct step_figures {
    struct fulcrum_summary alone; /* of blocks, without resets, as the next */
    struct fulcrum_summary busy;
    const struct fulcrum_summary *used; /* the one of them that the mean is from */
    struct fulcrum_summary reset;
    double reset_per_step;
    double mean_s; /* with its share of the resets */
    double cv;
};

/* Mean block without its resets, so that blocks with many of them are no outliers. */
static struct fulcrum_summary summarise_blocks(struct fulcrum_findings *findings,
    const struct fulcrum_recording *block, const struct fulcrum_recording *resets,
    double reset_s)
{
    struct fulcrum_summary out = {.used = 0};
    struct fulcrum_recording bare = *block;
    bare.samples = calloc(bare.count + 1, sizeof *bare.samples);
    if (bare.samples == NULL) {
        findings->status =
            fulcrum_fail(findings->err, FULCRUM_ERR_NO_MEMORY, "blocks of steps");
        return out;
    }
    for (size_t i = 0; i < bare.count; i++) {
        bare.samples[i] = block->samples[i];
        bare.samples[i].value =
            fmax(bare.samples[i].value - reset_s * resets->samples[i].value, 0.0);
    }
    out = fulcrum_findings_median(findings, &bare, 0.0);
    free(bare.samples);
    return out;
}

/* The undisturbed values, or all where these are too few; sorted. */
static double *sorted_values(const struct fulcrum_recording *recording, size_t *count)
{
    struct fulcrum_summary which = {.used = 0};
    double *values = fulcrum_recording_values(recording, 0.0, CALM_ENOUGH, &which);
    *count = which.used;
    if (values != NULL) {
        gsl_sort(values, 1, *count);
    }
    return values;
}

static void report_median(
    const struct fulcrum_recording *recording, struct fulcrum_findings *findings)
{
    size_t count = 0;
    double *sorted = sorted_values(recording, &count);
    if (sorted != NULL && count > 0) {
        fulcrum_findings_value(findings, "actor_step_median_s", "s",
            fulcrum_statistics_quantile(sorted, count, 0.5));
    }
    free(sorted);
}

static double second_moment(const struct fulcrum_recording *recording)
{
    size_t count = 0;
    double sum = 0.0;
    double *values = sorted_values(recording, &count);
    for (size_t i = 0; values != NULL && i < count; i++) {
        sum += values[i] * values[i];
    }
    free(values);
    return count > 0 ? sum / (double)count : 0.0;
}

static void report_singles(struct fulcrum_probe_state *state,
    struct step_figures *figures, struct fulcrum_findings *findings)
{
    static const struct {
        const char *name;
        double frac;
    } quantiles[] = {
        {"actor_step_p05_s", 0.05},
        {"actor_step_p50_s", 0.50},
        {"actor_step_p95_s", 0.95},
        {"actor_step_p99_s", 0.99},
        {"actor_step_median_s", 0.50},
    };
    size_t count = 0;
    double *sorted = sorted_values(&state->recording[SINGLE], &count);
    if (sorted == NULL || count == 0) {
        free(sorted);
        return;
    }
    for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++) {
        fulcrum_findings_value(findings, quantiles[i].name, "s",
            fulcrum_statistics_quantile(sorted, count, quantiles[i].frac));
    }
    /*
     * Variance of a step with the reset that may follow it: both are independent, and a
     * reset follows with the same chance after every step.
     */
    double ceiling = fulcrum_statistics_quantile(sorted, count, WINSOR_QUANTILE);
    for (size_t i = count; i > 0 && sorted[i - 1] > ceiling; i--) {
        sorted[i - 1] = ceiling;
    }
    double often = figures->reset_per_step;
    double reset_s = figures->reset.used > 0 ? figures->reset.mean : 0.0;
    double variance = count > 1 ? gsl_stats_variance(sorted, 1, count) : 0.0;
    variance += often * second_moment(&state->recording[RESET]) -
                often * reset_s * often * reset_s;
    double mean_s = gsl_stats_mean(sorted, 1, count) + often * reset_s;
    figures->cv = mean_s > 0.0 ? sqrt(fmax(variance, 0.0)) / mean_s : 0.0;
    fulcrum_findings_note(findings, "actor_step_distribution",
        "from %zu single steps without their resets; %d of them are kept, evenly "
        "thinned; the cv takes the longest 0.1 %% at their quantile",
        count, count < SINGLE_REPORT_MAX ? (int)count : SINGLE_REPORT_MAX);
    free(sorted);
}

/*
 * Blocks of k independent steps vary by 1 / sqrt(k) of what a step does. Neighbours
 * come from one sample of SHORT_BLOCK_COUNT blocks.
 */
static double short_block_cv(const struct fulcrum_probe_state *state, double mean_s)
{
    const struct fulcrum_recording *single = &state->recording[SINGLE];
    struct fulcrum_summary which = {.used = 0};
    double *difference_s =
        fulcrum_recording_values(single, 0.0, CALM_ENOUGH, &which); /* room, too */
    size_t count = 0;
    for (size_t i = 1; difference_s != NULL && i < single->count; i++) {
        bool counts = which.took_all || !fulcrum_recording_disturbed(single, i);
        if (i % SHORT_BLOCK_COUNT != 0 && counts) {
            difference_s[count++] =
                fabs(single->samples[i].value - single->samples[i - 1].value);
        }
    }
    double cv = 0.0;
    if (count > 1 && mean_s > 0.0) {
        double median_s = fulcrum_statistics_median(difference_s, count);
        cv = sqrt(short_block_size(state->bench)) * median_s /
             (MEDIAN_DIFFERENCE_PER_SD * mean_s);
    }
    free(difference_s);
    return cv;
}

static void report_busy(
    const struct step_figures *figures, struct fulcrum_findings *findings)
{
    if (figures->busy.used == 0 || !(figures->alone.typical > 0.0)) {
        return;
    }
    fulcrum_findings_summary(findings, "actor_step_alone_s", "s", &figures->alone);
    fulcrum_findings_summary(findings, "actor_step_busy_s", "s", &figures->busy);
    fulcrum_findings_value(findings, "actor_step_busy_rel", "",
        figures->busy.typical / figures->alone.typical);
}

static void report_means(const struct fulcrum_probe_state *state,
    const struct step_figures *figures, struct fulcrum_findings *findings)
{
    const struct own *own = state->own;
    fulcrum_findings_log(
        findings, "actor_step_mean_s", figures->mean_s, figures->used->standard_error);
    fulcrum_findings_summary(
        findings, "actor_step_without_reset_s", "s", figures->used);
    if (figures->reset.used > 0) {
        fulcrum_findings_value(findings, "reset_mean_s", "s", figures->reset.mean);
    }
    if (own->reset_count > 0.0) {
        fulcrum_findings_value(
            findings, "steps_per_episode", "", 1.0 / figures->reset_per_step);
    }
}

/* What a call waits for, and what comes before the first of them. */
static void report_calls(struct fulcrum_probe_state *state,
    const struct step_figures *figures, struct fulcrum_findings *findings)
{
    const struct {
        const char *path;
        size_t which;
        const char *source;
    } rows[] = {
        {"workload.host.delay_s", WAITS, "wall time of a call alone less its CPU time"},
        {"workload.agent.start_s", START, "wall time of a new sandbox, alone"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fulcrum_summary found =
            fulcrum_findings_median(findings, &state->recording[rows[i].which], 0.0);
        if (found.used > 0) {
            fulcrum_findings_parameter(findings, rows[i].path,
                &(struct fulcrum_parameter){
                    .value = found.typical, .standard_error = found.standard_error},
                "%s", rows[i].source);
        }
    }
    if (figures->reset_per_step > 0.0) {
        fulcrum_findings_parameter(findings, "workload.agent.turn_count",
            &(struct fulcrum_parameter){.value = 1.0 / figures->reset_per_step},
            "calls between resets");
    }
}

static void step_report(
    struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    const struct fulcrum_recording *recording = state->recording;
    const struct own *own = state->own;
    struct step_figures figures = {
        .reset = fulcrum_findings_median(findings, &recording[RESET], 0.0)};
    double reset_s = figures.reset.used > 0 ? figures.reset.mean : 0.0;
    figures.alone =
        summarise_blocks(findings, &recording[BLOCK], &recording[RESETS], reset_s);
    figures.busy =
        summarise_blocks(findings, &recording[BUSY], &recording[BUSY_RESETS], reset_s);
    /* Beside a busy learner where there are as many blocks as are worth it. */
    figures.used = figures.busy.used >= CALM_ENOUGH ? &figures.busy : &figures.alone;
    if (figures.alone.used == 0 || findings->status != FULCRUM_OK) {
        return;
    }
    /* Resets were timed alone; beside a busy learner they suffer as steps do. */
    double slowdown = figures.alone.typical > 0.0
                          ? figures.used->typical / figures.alone.typical
                          : 1.0;
    figures.reset_per_step = own->reset_count / own->step_count;
    figures.mean_s =
        figures.used->typical + slowdown * figures.reset_per_step * reset_s;
    findings->calibration->machine.cpu.step_canary_s = figures.mean_s / slowdown;
    report_means(state, &figures, findings);
    if (times_singles(state->bench)) {
        report_singles(state, &figures, findings);
    } else {
        figures.cv = short_block_cv(state, figures.mean_s);
        report_median(&recording[BLOCK], findings);
        fulcrum_findings_note(findings, "actor_step_distribution",
            "steps too short to time one by one (a clock read costs %.2g s): the cv is "
            "from differences of neighbouring blocks of %.0f steps times the root of "
            "that, an upper bound; the median is that of blocks; no quantiles",
            state->bench->stopwatch.cpu_cost_s, short_block_size(state->bench));
    }
    const struct fulcrum_summary *used = figures.used;
    fulcrum_findings_parameter(findings, "workload.step.mean_s",
        &(struct fulcrum_parameter){.value = figures.mean_s,
            .standard_error = used->standard_error,
            .scale = FULCRUM_SCALE_LOG},
        "mean of %zu blocks on one thread%s, environments in turn: %zu, CPU time, "
        "plus %.3g resets per step; %zu disturbed blocks set aside%s",
        used->used, used == &figures.busy ? " beside a busy learner" : "",
        own->other_count + 1, figures.reset_per_step,
        used->took_all ? 0 : used->disturbed,
        used->took_all ? "; too few were undisturbed, so all count" : "");
    if (figures.cv > 0.0) {
        fulcrum_findings_parameter(findings, "workload.step.cv",
            &(struct fulcrum_parameter){.value = figures.cv,
                .standard_error = CV_ERROR_REL * figures.cv,
                .scale = FULCRUM_SCALE_LOG},
            "%s; standard error assumed",
            times_singles(state->bench)
                ? "single steps and resets, CPU time"
                : "neighbouring blocks of steps, scaled by the root of their size");
    }
    report_busy(&figures, findings);
    if (state->bench->stage.actor->is_tools) {
        report_calls(state, &figures, findings);
    }
}

const struct fulcrum_probe fulcrum_probe_step = {
    .what = "step time",
    .share = 0.16,
    .headers = {[BLOCK] = {"actor_step", "s", NULL, "alone", false, false, 0, true},
        [BUSY] = {"actor_step", "s", NULL, "other side busy", true, false, 0, true},
        [RESET] = {"reset", "s", NULL, "alone", false, false, 0},
        [SINGLE] = {"actor_step_single", "s", NULL, "alone", false, false,
            SINGLE_REPORT_MAX},
        [RESETS] = {"resets_per_step", NULL, NULL, NULL, false, true, 0},
        [BUSY_RESETS] = {"resets_per_step", NULL, NULL, NULL, true, true, 0},
        [WAITS] = {"call_wait", "s", NULL, "alone", false, false, 0, true},
        [START] = {"sandbox_start", "s", NULL, "alone", false, false, 0, true}},
    .own_byte = sizeof(struct own),
    .is_of_tools = true,
    .open = step_open,
    .close = step_close,
    .visit = step_visit,
    .report = step_report,
};
