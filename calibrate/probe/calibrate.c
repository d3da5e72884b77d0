/* calibrate.c - measures this machine with one actor and one learner. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opens actor and learner, lets the schedule visit the probes in rounds and asks each
 * for its findings. What every probe needs (the actor's environments, the stopwatch,
 * the canary beside the samples) is in the bench that they share. An interrupt ends the
 * run after the sample at hand, and what was measured is still put together.
 */

#include "calibrate/probe/calibrate.h"

#include <ctype.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/actor/actor.h"
#include "calibrate/device/learner.h"
#include "calibrate/host.h"
#include "calibrate/probe/probe.h"
#include "calibrate/statistics.h"
#include "model/design/calibration.h"
#include "model/number.h"
#include "model/status.h"
#include "model/try.h"

#define FULCRUM_CALIBRATE_BUDGET_S 90.0

#define FULCRUM_CALIBRATE_BUDGET_MIN_S 0.5

/* Opens and closes what every probe works with. */

/* Sizes beyond it are extrapolated. */
#define MAX_BATCH 256

#define THREADS_PER_PROCESSOR 4

/*
 * Beside a load of our own the least time is when that load itself was held up: the
 * median is the usual time there.
 */
#define BUSY_USUAL_FRAC 0.5

/* A rough look at a step: so long, after so much of a warm-up. */
#define LOOK_S    0.01
#define WARM_UP_S 0.03

/* At calls of several kinds. */
#define LOOK_CALLS_S 0.5

/* The distance between the seeds of actions, environments and weights. */
#define SEED_STRIDE UINT64_C(0x9e3779b97f4a7c15)

/* Tried in this order where the user names none. */
static const char *const standard_actors[] = {
    "mujoco-humanoid", "libretro", "cartpole", NULL};

bool fulcrum_bench_goes_on(const struct fulcrum_bench *bench, double until_s)
{
    return !fulcrum_listener_stops(&bench->listener) && fulcrum_wall_s() < until_s;
}

enum fulcrum_status fulcrum_bench_work(const struct fulcrum_bench *bench,
    const struct fulcrum_learner_work *work, struct fulcrum_span *out,
    struct fulcrum_error *err)
{
    const struct fulcrum_learner *learner = bench->learner;
    double loss = 0.0;
    if (learner->time != NULL) {
        return learner->time(work->state, work->batch, work->repeats, out, err);
    }
    struct fulcrum_span begin = fulcrum_span_begin();
    for (size_t i = 0; i < work->repeats; i++) {
        TRY(work->batch > 0
                ? learner->forward(work->state, work->batch, bench->action, err)
                : learner->train(work->state, &loss, err));
    }
    *out = fulcrum_span_end(&bench->stopwatch, begin);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_bench_time(const struct fulcrum_bench *bench,
    const struct fulcrum_learner_work *work, double *out, struct fulcrum_error *err)
{
    struct fulcrum_span span;
    TRY(fulcrum_bench_work(bench, work, &span, err));
    *out =
        fulcrum_span_on(span, bench->learner->clock) / fmax((double)work->repeats, 1.0);
    return FULCRUM_OK;
}

static enum fulcrum_status open_actor(struct fulcrum_stage *stage, const char *name,
    const struct fulcrum_actor_options *options, struct fulcrum_error *err)
{
    stage->actor = fulcrum_actor_find(name);
    FAIL_IF(stage->actor == NULL, err, FULCRUM_ERR_UNKNOWN_NAME, "there is no actor %s",
        name);
    return stage->actor->open(options, &stage->shared, &stage->info, err);
}

/*
 * An actor that is not available here gives way to the next standard one; the last one
 * needs no library.
 */
static enum fulcrum_status open_any_actor(struct fulcrum_stage *stage,
    const struct fulcrum_actor_options *options, struct fulcrum_error *err)
{
    struct fulcrum_error why = {FULCRUM_ERR_UNSUPPORTED, "no standard actor"};
    for (size_t i = 0; standard_actors[i] != NULL; i++) {
        enum fulcrum_status status =
            open_actor(stage, standard_actors[i], options, &why);
        if (status == FULCRUM_OK) {
            return FULCRUM_OK;
        }
        if (status != FULCRUM_ERR_UNSUPPORTED && status != FULCRUM_ERR_FILE) {
            break;
        }
    }
    return fulcrum_fail(err, why.status, "%s", why.detail);
}

/* Any input will do: what a network computes takes as long for every picture. */
static void fill_input(struct fulcrum_bench *bench)
{
    unsigned char *input = bench->learner->input(bench->state);
    struct fulcrum_random random = fulcrum_random_seeded(bench->learner_options.seed);
    size_t count = bench->learner_options.max_batch * bench->learner_info.input_byte;
    if (bench->learner_options.network == FULCRUM_NETWORK_R2D2 ||
        bench->learner_options.takes_bytes) {
        for (size_t i = 0; i < count; i++) {
            input[i] = (unsigned char)(fulcrum_random_bits(&random) & 255);
        }
        return;
    }
    for (size_t i = 0; i + sizeof(float) <= count; i += sizeof(float)) {
        float value = (float)fulcrum_random_between(&random, -1.0, 1.0);
        memcpy(input + i, &value, sizeof value);
    }
}

void fulcrum_bench_accelerator(
    struct fulcrum_machine *machine, const struct fulcrum_device_info *info)
{
    if (!info->is_gpu) {
        return;
    }
    machine->accelerator = FULCRUM_ACCELERATOR_GPU;
    machine->gpu.count = 1.0;
    machine->gpu.sm_count = info->granted_sm_count;
    machine->gpu.clock_hz = info->clock_hz;
    machine->gpu.memory_byte = info->memory_byte;
    (void)snprintf(machine->gpu.name, sizeof machine->gpu.name, "%.*s",
        (int)sizeof machine->gpu.name - 1, info->name);
}

static enum fulcrum_status open_learner(struct fulcrum_bench *bench,
    const struct fulcrum_calibrate_options *options, struct fulcrum_error *err)
{
    const struct fulcrum_endpoint_options *endpoint = &options->endpoint;
    bool is_r2d2 = options->network == FULCRUM_NETWORK_R2D2;
    struct fulcrum_train_size nominal = {
        is_r2d2 ? 64.0 : 256.0, is_r2d2 ? 80.0 : 1.0, is_r2d2 ? 40.0 : 0.0};
    if (options->nominal_train_batch > 0.0) {
        nominal.batch = options->nominal_train_batch;
    }
    if (options->nominal_unroll > 0.0 && is_r2d2) {
        nominal.unroll = options->nominal_unroll;
        nominal.burn_in = options->nominal_burn_in;
    }
    bench->nominal = nominal;
    bench->learner_options = (struct fulcrum_learner_options){
        .network = options->network,
        .max_batch =
            endpoint->stream_count > 0.0 ? (size_t)endpoint->stream_count : MAX_BATCH,
        .input_count = bench->stage.info.observation_count,
        .takes_bytes =
            bench->stage.info.observation_kind == FULCRUM_OBSERVE_UINT8 && !is_r2d2,
        .action_count = bench->stage.info.action_count,
        .train_batch = 1,
        .train_unroll = 1,
        .seed = options->seed + 2 * SEED_STRIDE,
        .device_index = options->device_index,
        .sm_count = options->sm_count,
        .make = options->actor_options.make,
        .python = options->actor_options.python,
        .endpoint = endpoint,
        .listener = &bench->listener,
    };
    TRY(bench->learner->open(
        &bench->learner_options, &bench->state, &bench->learner_info, err));
    bench->learner_options.sibling = bench->state;
    fulcrum_bench_accelerator(&bench->machine, &bench->learner_info.device);
    if (bench->learner->tell != NULL) {
        bench->machine.gpu.count = fmax(endpoint->gpu_count, 1.0);
        return FULCRUM_OK;
    }
    bench->action = calloc(MAX_BATCH, sizeof *bench->action);
    TRY_MEMORY(bench->action, err, "%d actions", MAX_BATCH);
    fill_input(bench);
    return FULCRUM_OK;
}

/* Mean time of the steps that fit into `during_s`. */
static enum fulcrum_status look(struct fulcrum_stepper *stepper, double during_s,
    double *out, struct fulcrum_error *err)
{
    double begin_s = fulcrum_wall_s();
    double count = 0.0;
    double spent_s = 0.0;
    for (size_t burst = 1; spent_s < during_s; burst *= 2) {
        TRY(fulcrum_stepper_run(stepper, burst, NULL, err));
        count += (double)burst;
        spent_s = fulcrum_wall_s() - begin_s;
    }
    *out = fmax(spent_s / count, 1e-9);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_bench_open(struct fulcrum_bench *out,
    const struct fulcrum_calibrate_options *options, struct fulcrum_error *err)
{
    *out = (struct fulcrum_bench){
        .meter_root = options->meter_root != NULL ? options->meter_root : "",
        .loop_workload = options->loop_workload};
    out->busy.usual_frac = BUSY_USUAL_FRAC;
    out->busy.judge = &out->alone;
    fulcrum_host_detect(&out->machine);
    out->stopwatch = fulcrum_stopwatch_calibrated();
    size_t most = THREADS_PER_PROCESSOR * (size_t)out->machine.cpu.thread_count;
    out->is_limited = options->max_threads > 0;
    out->max_threads = out->is_limited ? options->max_threads : most;
    const char *name = options->learner != NULL ? options->learner : "cpu";
    const struct fulcrum_learner *learner = fulcrum_learner_find(name);
    bool is_endpoint = learner == &fulcrum_learner_endpoint;
    FAIL_IF(
        learner == NULL, err, FULCRUM_ERR_UNKNOWN_NAME, "there is no learner %s", name);
    if (options->actor != NULL) {
        TRY(open_actor(&out->stage, options->actor, &options->actor_options, err));
        FAIL_IF(is_endpoint && !out->stage.actor->is_tools, err,
            FULCRUM_ERR_UNSUPPORTED,
            "learner endpoint decodes for agents: expected --actor sandbox or none, "
            "not %s",
            options->actor);
    } else if (!is_endpoint) {
        TRY(open_any_actor(&out->stage, &options->actor_options, err));
    }
    if (is_endpoint) {
        out->learner = learner;
        out->listener = options->listener;
        TRY(open_learner(out, options, err));
    }
    if (out->stage.actor == NULL) {
        return FULCRUM_OK;
    }
    out->stage.seed = options->seed + SEED_STRIDE;
    TRY(fulcrum_actions_new(
        &out->stage.actions, options->seed, out->stage.info.action_count, err));
    if (out->stage.actor->time != NULL) {
        return FULCRUM_OK; /* its learner and its environments are the loop's own */
    }
    if (!out->stage.actor->is_tools) {
        out->learner = learner;
        TRY(open_learner(out, options, err));
    }
    struct fulcrum_stepper stepper = {0};
    TRY(fulcrum_stepper_open(&stepper, &out->stage, 0, err));
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(look(&stepper, WARM_UP_S, &out->step_s, err));
    status = look(&stepper, out->stage.actor->is_tools ? LOOK_CALLS_S : LOOK_S,
        &out->step_s, err);
end:
    fulcrum_stepper_close(&stepper);
    return status;
}

void fulcrum_bench_close(struct fulcrum_bench *bench)
{
    if (bench->state != NULL) {
        bench->learner->close(bench->state);
    }
    if (bench->stage.shared != NULL) {
        bench->stage.actor->close(bench->stage.shared);
    }
    fulcrum_actions_free(&bench->stage.actions);
    fulcrum_canary_free(&bench->alone);
    fulcrum_canary_free(&bench->busy);
    free(bench->action);
    *bench = (struct fulcrum_bench){0};
}

/* One run of all probes. */
struct fulcrum_calibration_run {
    const struct fulcrum_calibrate_options *options;
    struct fulcrum_schedule schedule;
    size_t round_count; /* done */
    double spent_s;     /* in rounds that are done */
    double start_s;     /* of the one at hand */
    const char *what;   /* is being measured */
    bool is_stopped;
    struct fulcrum_error failure; /* of an environment; FULCRUM_OK: none */
    struct fulcrum_bench *bench;  /* borrowed */
    const struct fulcrum_probe *probe[FULCRUM_SCHEDULE_MAX_PROBES]; /* that apply */
    size_t probe_count;
    struct fulcrum_probe_state state[FULCRUM_SCHEDULE_MAX_PROBES];
    size_t open_count;
};

/* In the order of a round. Memory comes first: later probes leave freed memory that
 * would be taken again. */
static const struct fulcrum_probe *const probes[] = {
    &fulcrum_probe_loop,
    &fulcrum_probe_memory,
    &fulcrum_probe_step,
    &fulcrum_probe_threads,
    &fulcrum_probe_inference,
    &fulcrum_probe_pause,
    &fulcrum_probe_train,
    &fulcrum_probe_share,
    &fulcrum_probe_handoff,
    &fulcrum_probe_power,
    &fulcrum_probe_sm,
    &fulcrum_probe_gpu_power,
    &fulcrum_probe_device,
};

static double elapsed_s(const struct fulcrum_calibration_run *run)
{
    return run->spent_s + fulcrum_wall_s() - run->start_s;
}

/* Tells whoever waits how far the run is, and asks whether to go on. */
static bool looks_around(void *user)
{
    struct fulcrum_calibration_run *run = user;
    double budget_s = fmax(run->schedule.budget_s, FULCRUM_CALIBRATE_BUDGET_MIN_S);
    double done_frac = fmin(fmax(elapsed_s(run) / budget_s, 0.0), 1.0);
    run->is_stopped |=
        fulcrum_listener_told(&run->options->listener, done_frac, run->what);
    return run->is_stopped;
}

static enum fulcrum_status check_options(
    const struct fulcrum_calibrate_options *options, struct fulcrum_error *err)
{
    const struct {
        const char *name;
        double value;
        double least; /* 0 is always accepted: the default */
        double most;
    } bounds[] = {
        {"budget_s", options->budget_s, FULCRUM_CALIBRATE_BUDGET_MIN_S,
            FULCRUM_CALIBRATE_BUDGET_MAX_S},
        {"nominal_train_batch", options->nominal_train_batch, 1.0, 1e6},
        {"nominal_unroll", options->nominal_unroll, 1.0, 1e6},
        {"nominal_burn_in", options->nominal_burn_in, 0.0, 1e6},
        {"max_threads", (double)options->max_threads, 1.0, 65536.0},
    };
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        double value = bounds[i].value;
        FAIL_IF(value != 0.0 && !(value >= bounds[i].least && value <= bounds[i].most),
            err, FULCRUM_ERR_RANGE, "%s = %g is outside [%g, %g]", bounds[i].name,
            value, bounds[i].least, bounds[i].most);
    }
    return FULCRUM_OK;
}

/* Whether an open probe has nothing to do: its time then goes to the others. */
static bool rests(struct fulcrum_calibration_run *run, size_t i)
{
    const struct fulcrum_probe *probe = run->probe[i];
    bool has_nothing = probe->rests != NULL && probe->rests(&run->state[i]);
    if (has_nothing) {
        run->schedule.share[i] = 0.0;
    }
    return has_nothing;
}

static enum fulcrum_status open_probes(
    struct fulcrum_calibration_run *run, struct fulcrum_error *err)
{
    for (size_t i = 0; i < run->probe_count; i++) {
        const struct fulcrum_probe *probe = run->probe[i];
        run->what = "preparing";
        if (looks_around(run)) {
            return FULCRUM_OK;
        }
        enum fulcrum_status status =
            fulcrum_probe_open(probe, &run->state[i], run->bench, err);
        if (status != FULCRUM_OK) {
            fulcrum_probe_close(probe, &run->state[i]);
            return fulcrum_fail_in(err, status, probe->what);
        }
        run->open_count++;
        (void)rests(run, i);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status visit_all(
    struct fulcrum_calibration_run *run, struct fulcrum_error *err)
{
    for (size_t i = 0; i < run->open_count; i++) {
        const struct fulcrum_probe *probe = run->probe[i];
        if (rests(run, i)) {
            continue;
        }
        double now_s = elapsed_s(run);
        double visit_s =
            fulcrum_schedule_visit_end(&run->schedule, now_s, run->round_count, i) -
            now_s;
        run->what = probe->what;
        /* What has been visited once may be left out where the time is up. */
        bool is_over = run->round_count > 0 && !(visit_s > 0.0);
        if (is_over || looks_around(run)) {
            return FULCRUM_OK;
        }
        enum fulcrum_status status =
            probe->visit(&run->state[i], fulcrum_wall_s() + visit_s, err);
        if (status == FULCRUM_ERR_INTERRUPTED) {
            fulcrum_error_clear(err); /* `looks_around` knows */
            return FULCRUM_OK;
        }
        if (status != FULCRUM_OK) {
            return fulcrum_fail_in(err, status, probe->what);
        }
    }
    return FULCRUM_OK;
}

static bool has_samples(const struct fulcrum_calibration_run *run)
{
    size_t count = 0;
    for (size_t i = 0; i < run->open_count; i++) {
        for (size_t j = 0; j < FULCRUM_PROBE_RECORDINGS; j++) {
            count += run->state[i].recording[j].count;
        }
    }
    return count > 0;
}

/* Lower case with dashes: "xeon-e5-2698-cartpole-mlp". */
static void make_name(char *name, size_t size, const char *title)
{
    size_t length = 0;
    for (; *title != '\0' && length + 1 < size; title++) {
        int keeps = isalnum((unsigned char)*title) != 0;
        if (keeps) {
            name[length++] = (char)(tolower)((unsigned char)*title);
        } else if (length > 0 && name[length - 1] != '-') {
            name[length++] = '-';
        }
    }
    while (length > 0 && name[length - 1] == '-') {
        length--;
    }
    name[length] = '\0';
}

/* What the learner ran on: a library on this machine's cores, or a device. */
static void note_backend(
    const struct fulcrum_bench *bench, struct fulcrum_findings *findings)
{
    const struct fulcrum_device_info *info = &bench->learner_info.device;
    bool is_elsewhere = bench->learner->time != NULL;
    if (info->name[0] == '\0') {
        fulcrum_findings_note(
            findings, is_elsewhere ? "library" : "blas", "%s", info->detail);
    } else {
        fulcrum_findings_note(findings, "device", "%s, %g of %g %s: %.120s", info->name,
            info->granted_sm_count, info->sm_count,
            info->is_gpu ? "SMs" : "compute units", info->detail);
    }
    if (info->warning != NULL) {
        fulcrum_findings_note(findings, "warning", "%s", info->warning);
    }
    if (!info->is_gpu && info->granted_sm_count > 1.5) {
        fulcrum_findings_note(findings, "warning",
            "the learner's times are of %g cores together; the model takes each "
            "learner core for a learner of its own: %s for its times",
            info->granted_sm_count,
            is_elsewhere ? "set OMP_NUM_THREADS=1" : "leave out --sms");
    }
}

/* What infers: a network of ours, a server's model, or a word for what was stepped
 * without one. */
static const char *network_of(const struct fulcrum_calibration_run *run)
{
    const struct fulcrum_actor_options *options = &run->options->actor_options;
    const char *model = run->bench->learner_info.model;
    if (run->bench->learner != NULL) {
        return *model != '\0' ? model
                              : fulcrum_learner_network_name(run->options->network);
    }
    const struct fulcrum_actor *actor = run->bench->stage.actor;
    if (actor == NULL || actor->is_tools) {
        return "tools";
    }
    return options->env_id != NULL ? options->env_id : options->make;
}

static enum fulcrum_status describe_run(const struct fulcrum_calibration_run *run,
    struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = run->bench;
    struct fulcrum_findings findings = {calibration, FULCRUM_OK, err};
    if (bench->stage.actor != NULL) {
        fulcrum_findings_note(&findings, "actor", "%s%s: %s", bench->stage.actor->name,
            run->options->actor == NULL ? " (chosen: the first that is available)" : "",
            bench->stage.info.detail);
    }
    size_t has_byte = fulcrum_observation_byte(&bench->stage.info);
    size_t wants_byte =
        bench->learner_info.input_byte > 0 ? bench->learner_info.input_byte : has_byte;
    if (bench->learner != NULL) {
        fulcrum_findings_note(&findings, "learner", "%s, network %s",
            bench->learner->name, network_of(run));
        note_backend(bench, &findings);
    }
    /* Observations that do not fit the network are as many bytes all the same. */
    if (has_byte != wants_byte) {
        fulcrum_findings_note(&findings, "observation",
            "%zu bytes of an observation stand in an input of %zu: equal work, not "
            "learning",
            has_byte, wants_byte);
    }
    fulcrum_findings_note(
        &findings, "seed", "%llu", (unsigned long long)run->options->seed);
    fulcrum_findings_note(&findings, "clock_read",
        "%.3g s of CPU time, %.3g s of wall time; taken off every figure",
        bench->stopwatch.cpu_cost_s, bench->stopwatch.wall_cost_s);
    if (bench->stage.actor != NULL) {
        fulcrum_findings_value(
            &findings, "frame_skip", "", bench->stage.info.frame_skip);
        fulcrum_findings_value(
            &findings, "observation_byte", "byte", (double)wants_byte);
    }
    if (bench->learner_info.cost.parameter_count > 0) {
        fulcrum_findings_value(&findings, "network_parameter_count", "",
            (double)bench->learner_info.cost.parameter_count);
        fulcrum_findings_value(
            &findings, "forward_flop", "", bench->learner_info.cost.forward_flop);
    }
    double copy_s = 0.0;
    double memory_byte = 0.0;
    if (bench->learner != NULL && bench->learner->usage != NULL &&
        bench->learner->usage(bench->state, bench->learner_options.max_batch, &copy_s,
            &memory_byte, NULL) == FULCRUM_OK) {
        fulcrum_findings_value(&findings, "forward_copy_s", "s", copy_s);
        fulcrum_findings_value(&findings, "learner_memory_byte", "byte", memory_byte);
    }
    if (bench->alone.count > 0) {
        fulcrum_findings_value(
            &findings, "canary_usual_s", "s", bench->alone.baseline_s);
    }
    return findings.status == FULCRUM_OK ? fulcrum_canary_typical_s(&bench->alone,
                                               &calibration->machine.cpu.canary_s, err)
                                         : findings.status;
}

/* How quiet the machine was, over all series with a canary. */
static void note_disturbance(
    const struct fulcrum_calibration *calibration, struct fulcrum_findings *findings)
{
    double count = 0.0;
    double disturbed = 0.0;
    for (size_t i = 0; i < calibration->series_count; i++) {
        const struct fulcrum_series *series = &calibration->series[i];
        for (size_t j = 0; j < series->count; j++) {
            disturbed += series->disturbed[j];
        }
        count += (double)series->count;
    }
    if (count < 1.0) {
        return;
    }
    double frac = disturbed / count;
    fulcrum_findings_value(findings, "disturbed_frac", "", frac);
    if (frac > 0.5) {
        fulcrum_findings_note(findings, "warning",
            "%.0f %% of the samples were disturbed by other work on this machine: "
            "repeat "
            "the calibration when it is idle",
            100.0 * frac);
    }
}

/* Of the seconds, at either end. */
#define HICCUP_FRAC 0.05

/*
 * How fast the machine was second by second, beside what is taken for typical: a run
 * lands wherever it is then. Over everything that timed the same work.
 */
static enum fulcrum_status find_drift(
    const struct fulcrum_calibration_run *run, struct fulcrum_findings *findings)
{
    size_t most = 0;
    for (size_t i = 0; i < run->open_count; i++) {
        for (size_t j = 0; j < FULCRUM_PROBE_RECORDINGS; j++) {
            most += run->state[i].recording[j].count;
        }
    }
    double *seconds = calloc(most + 1, sizeof *seconds);
    TRY_MEMORY(seconds, findings->err, "seconds of a calibration");
    size_t count = 0;
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < run->open_count && status == FULCRUM_OK; i++) {
        const struct fulcrum_recording *recording = run->state[i].recording;
        for (size_t j = 0; j < FULCRUM_PROBE_RECORDINGS && status == FULCRUM_OK; j++) {
            if (recording[j].is_work) {
                status = fulcrum_recording_slowdowns(
                    &recording[j], seconds, &count, findings->err);
            }
        }
    }
    if (status == FULCRUM_OK && count >= FULCRUM_RUNS_LEAST) {
        double slowdown = fulcrum_statistics_median(seconds, count);
        /* A machine that is slow for a third of the time is so in a run; single hiccups
         * apart. */
        gsl_sort(seconds, 1, count);
        size_t cut = (size_t)(HICCUP_FRAC * (double)count);
        double sd = gsl_stats_sd(seconds + cut, 1, count - 2 * cut);
        fulcrum_findings_parameter(findings, "run.drift",
            &(struct fulcrum_parameter){.value = 1.0 / slowdown,
                .standard_error = sd / (slowdown * slowdown),
                .scale = FULCRUM_SCALE_LOG,
                .origin = FULCRUM_ORIGIN_MEASURED},
            "work of %zu seconds over what is typical of it", count);
    }
    free(seconds);
    return status;
}

static enum fulcrum_status assemble(struct fulcrum_calibration_run *run,
    struct fulcrum_calibration **out, struct fulcrum_error *err)
{
    struct fulcrum_calibration *calibration = NULL;
    TRY(fulcrum_calibration_new(&calibration, err));
    calibration->machine = run->bench->machine;
    calibration->complete = !run->is_stopped && run->failure.status == FULCRUM_OK;
    const struct fulcrum_actor *stepped = run->bench->stage.actor;
    const char *actor = stepped != NULL ? stepped->name : "endpoint";
    const char *network = network_of(run);
    (void)snprintf(calibration->title, sizeof calibration->title, "%s, %s, %.50s",
        run->bench->machine.cpu.name, actor, network);
    char title[sizeof calibration->title];
    /* The short name keeps what tells calibrations of one machine apart. */
    (void)snprintf(title, sizeof title, "%s %s %.30s", actor, network,
        run->bench->machine.cpu.name);
    make_name(calibration->name, sizeof calibration->name, title);
    enum fulcrum_status status = describe_run(run, calibration, err);
    for (size_t i = 0; i < run->open_count && status == FULCRUM_OK; i++) {
        const struct fulcrum_probe *probe = run->probe[i];
        status = fulcrum_probe_report(probe, &run->state[i], calibration, err);
        if (status != FULCRUM_OK) {
            status = fulcrum_fail_in(err, status, probe->what);
        }
    }
    struct fulcrum_findings findings = {calibration, status, err};
    if (!calibration->complete) {
        fulcrum_findings_note(&findings, "incomplete", "%s",
            run->is_stopped ? "stopped before the end" : run->failure.detail);
    }
    note_disturbance(calibration, &findings);
    if (run->probe[0] != &fulcrum_probe_loop && findings.status == FULCRUM_OK) {
        findings.status = find_drift(run, &findings);
    }
    fulcrum_findings_value(&findings, "duration_s", "s", elapsed_s(run));
    status = findings.status;
    if (status == FULCRUM_OK) {
        status = fulcrum_provenance_add(calibration, err);
    }
    if (status != FULCRUM_OK) {
        fulcrum_calibration_free(calibration);
        return status;
    }
    *out = calibration;
    return FULCRUM_OK;
}

/* How the measurement ended, as far as it was not as planned. */
static enum fulcrum_status end_of(
    const struct fulcrum_calibration_run *run, struct fulcrum_error *err)
{
    if (run->failure.status != FULCRUM_OK) {
        return fulcrum_fail(err, run->failure.status, "%s", run->failure.detail);
    }
    FAIL_IF(run->is_stopped, err, FULCRUM_ERR_INTERRUPTED,
        "the calibration was stopped after %.3g of %.3g s", elapsed_s(run),
        run->schedule.budget_s);
    return FULCRUM_OK;
}

/* Chooses the probes that apply to what was opened. */
static void choose_probes(struct fulcrum_calibration_run *run)
{
    const struct fulcrum_actor *actor = run->bench->stage.actor;
    const struct fulcrum_learner *learner = run->bench->learner;
    bool has_tokens = learner != NULL && learner->tell != NULL;
    for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++) {
        bool is_alone = probes[i] == &fulcrum_probe_loop;
        bool is_its = actor != NULL && is_alone == (actor->time != NULL) &&
                      (!actor->is_tools || probes[i]->is_of_tools);
        if ((is_its || (has_tokens && probes[i]->is_of_endpoint)) &&
            (probes[i]->applies == NULL || probes[i]->applies(run->bench))) {
            run->schedule.share[run->probe_count] = probes[i]->share;
            run->probe[run->probe_count++] = probes[i];
        }
    }
    run->schedule.probe_count = run->probe_count;
}

enum fulcrum_status fulcrum_calibration_run_new(struct fulcrum_calibration_run **out,
    struct fulcrum_bench *bench, const struct fulcrum_calibrate_options *options,
    struct fulcrum_error *err)
{
    struct fulcrum_calibration_run *run = calloc(1, sizeof *run);
    TRY_MEMORY(run, err, "a calibration run");
    run->options = options;
    run->bench = bench;
    run->start_s = fulcrum_wall_s();
    choose_probes(run);
    *out = run;
    return FULCRUM_OK;
}

void fulcrum_calibration_run_free(struct fulcrum_calibration_run *run)
{
    for (size_t i = 0; run != NULL && i < run->open_count; i++) {
        fulcrum_probe_close(run->probe[i], &run->state[i]);
    }
    free(run);
}

enum fulcrum_status fulcrum_calibration_run_round(struct fulcrum_calibration_run *run,
    double time_s, size_t to_come, struct fulcrum_error *err)
{
    if (run->failure.status != FULCRUM_OK || run->is_stopped) {
        return FULCRUM_OK;
    }
    run->start_s = fulcrum_wall_s();
    run->schedule.budget_s = run->spent_s + time_s * (double)to_come;
    run->schedule.round_count = run->round_count + to_come;
    enum fulcrum_status status = FULCRUM_OK;
    if (run->open_count == 0) {
        status = open_probes(run, &run->failure);
    }
    if (status == FULCRUM_OK) {
        status = visit_all(run, &run->failure);
    }
    run->spent_s = elapsed_s(run);
    run->start_s = fulcrum_wall_s();
    run->round_count++;
    return status == FULCRUM_OK ? status
                                : fulcrum_fail(err, status, "%s", run->failure.detail);
}

enum fulcrum_status fulcrum_calibration_run_end(struct fulcrum_calibration_run *run,
    bool is_stopped, struct fulcrum_calibration **out, struct fulcrum_error *err)
{
    run->is_stopped |= is_stopped;
    return assemble(run, out, err);
}

/* Rounds until the time is up. */
static enum fulcrum_status run_rounds(struct fulcrum_calibration_run *run,
    double begin_s, double budget_s, struct fulcrum_error *err)
{
    const struct fulcrum_schedule plan =
        fulcrum_schedule_plan(budget_s, run->schedule.share, run->probe_count);
    double end_s = begin_s + budget_s - plan.reserve_s;
    for (size_t left = plan.round_count; left > 0 && !run->is_stopped; left--) {
        double time_s = fmax(end_s - fulcrum_wall_s(), 0.0) / (double)left;
        enum fulcrum_status status =
            fulcrum_calibration_run_round(run, time_s, left, err);
        /* What was measured before an environment failed is as good as ever. */
        if (status == FULCRUM_ERR_ENVIRONMENT && has_samples(run)) {
            break;
        }
        TRY(status);
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_calibrate(struct fulcrum_calibration **out,
    const struct fulcrum_calibrate_options *options, struct fulcrum_error *err)
{
    TRY(check_options(options, err));
    double begin_s = fulcrum_wall_s();
    double budget_s =
        options->budget_s > 0.0 ? options->budget_s : FULCRUM_CALIBRATE_BUDGET_S;
    struct fulcrum_gpu_idle gpu_idle = {.reason = ""};
    /* Learners on the processor, and elsewhere, leave GPUs alone, whatever they draw.
     */
    if (options->learner != NULL && strcmp(options->learner, "cpu") != 0 &&
        options->endpoint.url == NULL &&
        fulcrum_learner_find(options->learner) != NULL) {
        const struct fulcrum_energy_options meters = {
            .root = options->meter_root != NULL ? options->meter_root : ""};
        fulcrum_gpu_idle_measure(&gpu_idle, &meters, budget_s, &options->listener);
    }
    struct fulcrum_calibration_run *run = NULL;
    struct fulcrum_bench bench;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_bench_open(&bench, options, err));
    bench.gpu_idle = gpu_idle;
    TRY_OR_END(fulcrum_calibration_run_new(&run, &bench, options, err));
    bench.listener = (struct fulcrum_listener){.stop = looks_around, .user = run};
    TRY_OR_END(run_rounds(run, begin_s, budget_s, err));
    TRY_OR_END(assemble(run, out, err));
    status = end_of(run, err);
end:
    fulcrum_calibration_run_free(run);
    fulcrum_bench_close(&bench);
    return status;
}
