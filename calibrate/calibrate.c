/* calibrate.c - measures this machine with one actor and one learner. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opens actor and learner, lets the schedule visit the probes in rounds and asks each
 * for its findings. What every probe needs (the actor's environments, the stopwatch,
 * the canary beside the samples) is in the bench that they share. An interrupt ends the
 * run after the sample at hand, and what was measured is still put together.
 */
#include "calibrate/calibrate.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/bench.h"
#include "calibrate/finding.h"
#include "calibrate/probe.h"
#include "calibrate/provenance.h"
#include "calibrate/schedule.h"
#include "model/try.h"

/* One run of all probes. */
struct run {
    const struct fulcrum_calibrate_options *options;
    struct fulcrum_schedule schedule;
    double start_s;
    const char *what; /* is being measured */
    int is_stopped;
    int has_begun;                /* a probe was visited */
    struct fulcrum_error failure; /* of an environment; FULCRUM_OK: none */
    struct fulcrum_bench bench;
    const struct fulcrum_probe *probe[FULCRUM_SCHEDULE_MAX_PROBES]; /* that apply */
    size_t probe_count;
    struct fulcrum_probe_state *state[FULCRUM_SCHEDULE_MAX_PROBES];
    size_t open_count;
};

const struct fulcrum_probe *const *fulcrum_probes(void)
{
    /* Memory comes first: later probes leave freed memory that would be taken again. */
    static const struct fulcrum_probe *const probes[] = {
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
        NULL,
    };
    return probes;
}

/* Tells whoever waits how far the run is, and asks whether to go on. */
static int looks_around(void *user)
{
    struct run *run = user;
    const struct fulcrum_calibrate_options *options = run->options;
    if (options->progress != NULL) {
        double elapsed_s = fulcrum_wall_s() - run->start_s;
        struct fulcrum_calibrate_progress progress = {
            .done_frac = fulcrum_schedule_done_frac(&run->schedule, elapsed_s),
            .left_s = fmax(run->schedule.budget_s - elapsed_s, 0.0),
            .what = run->what,
        };
        options->progress(options->user, &progress);
    }
    if (options->stop != NULL && options->stop(options->user)) {
        run->is_stopped = 1;
    }
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
        if (value != 0.0 && !(value >= bounds[i].least && value <= bounds[i].most)) {
            return fulcrum_fail(err, FULCRUM_ERR_RANGE, "%s = %g is outside [%g, %g]",
                bounds[i].name, value, bounds[i].least, bounds[i].most);
        }
    }
    return FULCRUM_OK;
}

/* Chooses the probes that apply to what was opened, and shares out the time. */
static void plan(struct run *run)
{
    double share[FULCRUM_SCHEDULE_MAX_PROBES];
    const struct fulcrum_probe *const *probe = fulcrum_probes();
    for (; *probe != NULL; probe++) {
        if ((*probe)->applies == NULL || (*probe)->applies(&run->bench)) {
            share[run->probe_count] = (*probe)->share;
            run->probe[run->probe_count++] = *probe;
        }
    }
    double budget_s = run->options->budget_s > 0.0 ? run->options->budget_s
                                                   : FULCRUM_CALIBRATE_BUDGET_S;
    run->schedule = fulcrum_schedule_plan(budget_s, share, run->probe_count);
}

/* Whether an open probe has nothing to do: its time then goes to the others. */
static int rests(struct run *run, size_t i)
{
    const struct fulcrum_probe *probe = run->probe[i];
    int has_nothing = probe->rests != NULL && probe->rests(run->state[i]);
    if (has_nothing) {
        run->schedule.share[i] = 0.0;
    }
    return has_nothing;
}

/* Learners on the processor leave GPUs alone, whatever they draw. */
static void look_at_idle_gpus(
    struct fulcrum_gpu_idle *out, const struct fulcrum_calibrate_options *options)
{
    const struct fulcrum_gpu_idle_options idle = {
        .root = options->meter_root != NULL ? options->meter_root : "",
        .budget_s =
            options->budget_s > 0.0 ? options->budget_s : FULCRUM_CALIBRATE_BUDGET_S,
        .stop = options->stop,
        .user = options->user};
    if (options->learner != NULL && strcmp(options->learner, "cpu") != 0 &&
        fulcrum_learner_find(options->learner) != NULL) {
        fulcrum_gpu_idle_measure(out, &idle);
    }
}

static enum fulcrum_status open_probes(struct run *run, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < run->probe_count && status == FULCRUM_OK; i++) {
        const struct fulcrum_probe *probe = run->probe[i];
        run->what = "preparing";
        if (looks_around(run)) {
            return FULCRUM_OK;
        }
        status = probe->open(&run->bench, &run->state[i], err);
        if (status != FULCRUM_OK) {
            return fulcrum_fail_in(err, status, probe->what);
        }
        run->open_count++;
        (void)rests(run, i);
    }
    return status;
}

static enum fulcrum_status visit_all(
    struct run *run, size_t round, struct fulcrum_error *err)
{
    run->has_begun = 1;
    for (size_t i = 0; i < run->open_count; i++) {
        const struct fulcrum_probe *probe = run->probe[i];
        if (rests(run, i)) {
            continue;
        }
        double elapsed_s = fulcrum_wall_s() - run->start_s;
        double until_s = run->start_s + fulcrum_schedule_visit_end(
                                            &run->schedule, elapsed_s, round, i);
        run->what = probe->what;
        /* What has been visited once may be left out where the time is up. */
        int is_over = round > 0 && !(until_s - run->start_s > elapsed_s);
        if (is_over || looks_around(run)) {
            return FULCRUM_OK;
        }
        enum fulcrum_status status = probe->visit(run->state[i], until_s, err);
        if (status != FULCRUM_OK) {
            return fulcrum_fail_in(err, status, probe->what);
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status measure(struct run *run, struct fulcrum_error *err)
{
    TRY(open_probes(run, err));
    for (size_t round = 0; round < run->schedule.round_count && !run->is_stopped;
         round++) {
        TRY(visit_all(run, round, err));
    }
    return FULCRUM_OK;
}

/* Lower case with dashes: "xeon-e5-2698-cartpole-mlp". */
static void make_name(char *name, size_t size, const char *title)
{
    size_t length = 0;
    for (; *title != '\0' && length + 1 < size; title++) {
        int keeps = isalnum((unsigned char)*title) != 0;
        if (keeps) {
            name[length++] = (char)tolower((unsigned char)*title);
        } else if (length > 0 && name[length - 1] != '-') {
            name[length++] = '-';
        }
    }
    while (length > 0 && name[length - 1] == '-') {
        length--;
    }
    name[length] = '\0';
}

static void name_calibration(
    const struct run *run, struct fulcrum_calibration *calibration)
{
    const char *actor = run->bench.stage.actor->name;
    const char *network = fulcrum_learner_network_name(run->options->network);
    (void)snprintf(calibration->title, sizeof calibration->title, "%s, %s, %s",
        run->bench.machine.cpu.name, actor, network);
    char title[sizeof calibration->title];
    /* The short name keeps what tells calibrations of one machine apart. */
    (void)snprintf(title, sizeof title, "%s %s %.30s", actor, network,
        run->bench.machine.cpu.name);
    make_name(calibration->name, sizeof calibration->name, title);
}

/* Observations that do not fit the network are as many bytes all the same. */
static void note_input(const struct run *run, struct fulcrum_findings *findings)
{
    const struct fulcrum_actor_info *actor = &run->bench.stage.info;
    size_t has_byte = fulcrum_observation_byte(actor);
    size_t wants_byte = run->bench.learner_info.input_byte;
    if (has_byte != wants_byte) {
        fulcrum_findings_note(findings, "observation",
            "%zu bytes of an observation stand in an input of %zu: equal work, not "
            "learning",
            has_byte, wants_byte);
    }
}

/* What the learner ran on: the BLAS of this machine's cores, or a device. */
static void note_backend(
    const struct fulcrum_learner_info *info, struct fulcrum_findings *findings)
{
    if (info->device_name[0] == '\0') {
        fulcrum_findings_note(findings, "blas", "%s", info->backend);
        return;
    }
    fulcrum_findings_note(findings, "device", "%s, %g of %g %s: %.120s",
        info->device_name, info->granted_sm_count, info->sm_count,
        info->is_gpu ? "SMs" : "compute units", info->backend);
    if (!info->is_gpu && info->granted_sm_count > 1.5) {
        fulcrum_findings_note(findings, "warning",
            "the learner's times are of %g cores together; the model takes each "
            "learner core for a learner of its own: leave out --sms for its times",
            info->granted_sm_count);
    }
}

static enum fulcrum_status describe(const struct run *run,
    struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = &run->bench;
    struct fulcrum_findings findings = {calibration, FULCRUM_OK, err};
    fulcrum_findings_note(&findings, "actor", "%s%s: %s", bench->stage.actor->name,
        run->options->actor == NULL ? " (chosen: the first that is available)" : "",
        bench->stage.info.detail);
    fulcrum_findings_note(&findings, "learner", "%s, network %s", bench->learner->name,
        fulcrum_learner_network_name(run->options->network));
    note_backend(&bench->learner_info, &findings);
    note_input(run, &findings);
    fulcrum_findings_note(
        &findings, "seed", "%llu", (unsigned long long)run->options->seed);
    fulcrum_findings_note(&findings, "clock_read",
        "%.3g s of CPU time, %.3g s of wall time; taken off every figure",
        bench->stopwatch.cpu_cost_s, bench->stopwatch.wall_cost_s);
    fulcrum_findings_value(&findings, "frame_skip", "", bench->stage.info.frame_skip);
    fulcrum_findings_value(
        &findings, "observation_byte", "byte", (double)bench->learner_info.input_byte);
    fulcrum_findings_value(&findings, "network_parameter_count", "",
        (double)bench->learner_info.parameter_count);
    fulcrum_findings_value(
        &findings, "forward_flop", "", bench->learner_info.forward_flop);
    if (bench->alone.count > 0) {
        fulcrum_findings_value(
            &findings, "canary_usual_s", "s", bench->alone.baseline_s);
    }
    return findings.status == FULCRUM_OK ? fulcrum_canary_calm_s(&bench->alone,
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

static enum fulcrum_status assemble(
    struct run *run, struct fulcrum_calibration **out, struct fulcrum_error *err)
{
    struct fulcrum_calibration *calibration = NULL;
    enum fulcrum_status status = fulcrum_calibration_new(&calibration, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    calibration->machine = run->bench.machine;
    calibration->complete = !run->is_stopped && run->failure.status == FULCRUM_OK;
    name_calibration(run, calibration);
    status = describe(run, calibration, err);
    for (size_t i = 0; i < run->open_count && status == FULCRUM_OK; i++) {
        const struct fulcrum_probe *probe = run->probe[i];
        status = probe->report(run->state[i], calibration, err);
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
    fulcrum_findings_value(
        &findings, "duration_s", "s", fulcrum_wall_s() - run->start_s);
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

static void close_run(struct run *run)
{
    for (size_t i = 0; i < run->open_count; i++) {
        run->probe[i]->close(run->state[i]);
    }
    fulcrum_bench_close(&run->bench);
    free(run);
}

/* How the measurement ended, as far as it was not as planned. */
static enum fulcrum_status end_of(const struct run *run, struct fulcrum_error *err)
{
    if (run->failure.status != FULCRUM_OK) {
        return fulcrum_fail(err, run->failure.status, "%s", run->failure.detail);
    }
    if (run->is_stopped) {
        return fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED,
            "the calibration was stopped after %.3g of %.3g s",
            fulcrum_wall_s() - run->start_s, run->schedule.budget_s);
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_calibrate(struct fulcrum_calibration **out,
    const struct fulcrum_calibrate_options *options, struct fulcrum_error *err)
{
    enum fulcrum_status status = check_options(options, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    struct run *run = calloc(1, sizeof *run);
    if (run == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a calibration run");
    }
    run->options = options;
    run->start_s = fulcrum_wall_s();
    run->what = "preparing";
    struct fulcrum_gpu_idle gpu_idle = {.reason = ""};
    look_at_idle_gpus(&gpu_idle, options);
    status = fulcrum_bench_open(&run->bench, options, err);
    if (status == FULCRUM_OK) {
        run->bench.gpu_idle = gpu_idle;
        plan(run);
        run->bench.stops = looks_around;
        run->bench.user = run;
        status = measure(run, &run->failure);
        /* What was measured before an environment failed is as good as ever. */
        int is_kept = status == FULCRUM_ERR_ENVIRONMENT && run->has_begun;
        status = status == FULCRUM_OK || is_kept ? assemble(run, out, err) : status;
    }
    if (status == FULCRUM_OK || status == run->failure.status) {
        status = end_of(run, err);
    }
    close_run(run);
    return status;
}
