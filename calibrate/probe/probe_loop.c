/* probe_loop.c - what the loop of a training framework spends its time on. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The framework's own loop runs with a clock around each call of its vector environment
 * (fulcrum_loop.py), at a few numbers of environments. A call is a line over them where
 * they are stepped one after the other. Where they are stepped side by side it is a
 * cycle of the network itself: the calling thread's CPU time is the host's, and what a
 * step takes and what passes beside are found so that the network's cycles, with its
 * threads, its barrier or its batch, are the calls that were seen. What lies between
 * calls is inference, or training.
 *
 * The speed of shared machines drifts by more than a median of many samples shows: the
 * spread of single samples is that of the whole loop's rate, run.drift.
 */
#include "calibrate/probe/probe.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit/fit_forms.h"
#include "calibrate/statistics.h"
#include "model/design/design.h"
#include "model/predict/solver.h"
#include "model/predict/to_network.h"
#include "model/try.h"

/* A sample lasts so long, or one turn of the loop; threads and processes that step side
 * by side change places within a second. */
#define SAMPLE_S        0.3
#define SAMPLE_BESIDE_S 1.0

/* Length of the training that runtimes are told for, unless a user says otherwise. */
#define TOLD_ENV_STEPS 1e6

/* Of a turn, this is nothing. */
#define NOTHING_S 2e-9

/* What a core's second thread adds. */
#define USUAL_SMT_YIELD_FRAC 0.25

enum { CALL, CALLER, POOL, CHILD, SPREAD, OTHER, TRAIN };
enum { SIZES_MOST = 4 };

struct own {
    struct fulcrum_env *env;
    double fact[FULCRUM_LOOP_FIGURES];
    double size[SIZES_MOST];      /* environments */
    double minibatch[SIZES_MOST]; /* samples that its training steps were of */
    size_t size_count;
    bool is_warm[SIZES_MOST];
};

enum fulcrum_loop_way fulcrum_loop_way_of(const double fact[FULCRUM_LOOP_FIGURES])
{
    return (enum fulcrum_loop_way)fact[FULCRUM_LOOP_WAY];
}

/* Figures that others are divided by, or that choose what is done. */
static enum fulcrum_status check_figures(const char *actor,
    enum fulcrum_loop_piece piece, const double *figure, struct fulcrum_error *err)
{
    bool does_train = piece == FULCRUM_LOOP_FACTS && figure[FULCRUM_LOOP_TRAINS] > 0.0;
    bool is_async = figure[FULCRUM_LOOP_WAY] == (double)FULCRUM_LOOP_ASYNCHRONOUS;
    double needed = does_train ? 1.0 : 0.0;
    const struct {
        const char *what;
        size_t at;
        double least;
        double most;
        bool is_fact;
    } rows[] = {{"way", FULCRUM_LOOP_WAY, 0.0, FULCRUM_LOOP_ASYNCHRONOUS, 1},
        {"threads", FULCRUM_LOOP_THREAD_COUNT, is_async ? 1.0 : 0.0, 1e6, 1},
        {"batch", FULCRUM_LOOP_BATCH_SIZE, 0.0, 1e6, 1},
        {"trains", FULCRUM_LOOP_TRAINS, 0.0, 1.0, 1},
        {"rollout length", FULCRUM_LOOP_ROLLOUT_LENGTH, is_async ? 0.0 : needed, 1e9,
            1},
        {"minibatch", FULCRUM_LOOP_MINIBATCH, needed, 1e9, 1},
        {"epochs", FULCRUM_LOOP_EPOCH_COUNT, needed, 1e9, 1},
        {"wall seconds", FULCRUM_LOOP_WALL_S, 1e-9, 1e9, 0},
        {"calls", FULCRUM_LOOP_CALL_COUNT, 1.0, 1e12, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double value = figure[rows[i].at];
        bool is_whole = !rows[i].is_fact || value == floor(value);
        FAIL_IF(rows[i].is_fact == (piece == FULCRUM_LOOP_FACTS) &&
                    !(is_whole && value >= rows[i].least && value <= rows[i].most),
            err, FULCRUM_ERR_ENVIRONMENT, "%s: %s = %g, expected a %s from %g to %g",
            actor, rows[i].what, value, rows[i].is_fact ? "whole number" : "number",
            rows[i].least, rows[i].most);
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_loop_time(const struct fulcrum_stage *stage,
    struct fulcrum_env *env, struct fulcrum_loop_task task,
    double out[FULCRUM_LOOP_FIGURES], struct fulcrum_error *err)
{
    TRY(stage->actor->time(env, task, out, err));
    return check_figures(stage->actor->name, task.piece, out, err);
}

static bool is_serial(const struct own *own)
{
    return fulcrum_loop_way_of(own->fact) == FULCRUM_LOOP_SERIAL;
}

static bool is_asynchronous(const double *fact)
{
    return fulcrum_loop_way_of(fact) == FULCRUM_LOOP_ASYNCHRONOUS;
}

static bool trains(const struct own *own)
{
    return own->fact[FULCRUM_LOOP_TRAINS] > 0.5;
}

/* Groups' worth of environments of one asynchronous worker, and of each of several. */
#define MOST_OF_ONE  4.0
#define EACH_OF_MANY 2.0

static double workers_of(double size, double groups)
{
    return size > MOST_OF_ONE * groups ? size / (EACH_OF_MANY * groups) : 1.0;
}

/* Environments that one call steps, or one request asks for. */
static double stepped(const struct own *own, double size)
{
    if (is_asynchronous(own->fact)) {
        double groups = own->fact[FULCRUM_LOOP_THREAD_COUNT];
        return size / workers_of(size, groups) / groups;
    }
    double batch = own->fact[FULCRUM_LOOP_BATCH_SIZE];
    return batch > 0.0 ? fmin(batch, size) : size;
}

/* Pieces, timed for `time_s`. */
static struct fulcrum_loop_task ask(const struct own *own, double size, double time_s)
{
    struct fulcrum_loop_task task = {FULCRUM_LOOP_PIECES, (size_t)size, time_s};
    if (is_asynchronous(own->fact)) {
        double workers = workers_of(size, own->fact[FULCRUM_LOOP_THREAD_COUNT]);
        task.env_count = (size_t)workers << 32U | (size_t)(size / workers);
    }
    return task;
}

/*
 * One environment, then more than there are threads. Frameworks that train, and take
 * long, do without the largest.
 */
static void choose_sizes(struct own *own, const struct fulcrum_bench *bench)
{
    double threads = is_serial(own) ? 2.0 : bench->machine.cpu.thread_count;
    double batch = own->fact[FULCRUM_LOOP_BATCH_SIZE];
    static const double rel[] = {0.0, 1.5, 3.0, 6.0};
    static const double batch_rel[] = {1.0, 1.5, 2.0, 3.0};
    if (is_asynchronous(own->fact)) {
        double groups = own->fact[FULCRUM_LOOP_THREAD_COUNT];
        double workers = ceil(rel[1] * fmin(threads, (double)bench->max_threads));
        own->size[own->size_count++] = groups;
        own->size[own->size_count++] = MOST_OF_ONE * groups;
        own->size[own->size_count++] = EACH_OF_MANY * groups * fmax(workers, 3.0);
        return;
    }
    for (size_t i = 0; i < SIZES_MOST - (trains(own) ? 1 : 0); i++) {
        double size = batch > 0.0 ? batch_rel[i] * batch : fmax(rel[i] * threads, 1.0);
        if (size <= 1.5 * fmax((double)bench->max_threads, batch)) {
            own->size[own->size_count++] = ceil(size);
        }
    }
}

static void loop_close(struct fulcrum_probe_state *state)
{
    const struct own *own = state->own;
    state->bench->stage.actor->env_free(own->env);
}

static enum fulcrum_status loop_open(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    struct own *own = state->own;
    const struct fulcrum_stage *stage = &state->bench->stage;
    TRY(stage->actor->env_new(stage->shared, stage->seed, &own->env, err));
    TRY(stage->actor->await(own->env, err));
    TRY(fulcrum_loop_time(stage, own->env,
        (struct fulcrum_loop_task){FULCRUM_LOOP_FACTS, 0, 0.0}, own->fact, err));
    choose_sizes(own, state->bench);
    if (state->bench->loop_workload != NULL) {
        fulcrum_loop_workload(own->fact, state->bench->loop_workload);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status keep(struct fulcrum_probe_state *state, size_t which,
    double size, double value, struct fulcrum_error *err)
{
    struct fulcrum_sample sample = {.x = size, .value = value};
    return isfinite(value)
               ? fulcrum_sample_keep(state, which, FULCRUM_CLOCK_CPU, &sample, err)
               : FULCRUM_OK;
}

/* NAN where nothing was counted. */
static double each(double all, double count)
{
    return count > 0.0 ? all / count : (double)NAN;
}

static enum fulcrum_status sample_size(
    struct fulcrum_probe_state *state, double size, struct fulcrum_error *err)
{
    struct own *own = state->own;
    double found[FULCRUM_LOOP_FIGURES];
    double time_s = is_serial(own) || trains(own) ? SAMPLE_S : SAMPLE_BESIDE_S;
    TRY(fulcrum_sample_begin(state, CALL, err));
    TRY(fulcrum_loop_time(
        &state->bench->stage, own->env, ask(own, size, time_s), found, err));
    bool is_async = is_asynchronous(own->fact);
    double calls = found[FULCRUM_LOOP_CALL_COUNT];
    for (size_t i = 0; i < own->size_count; i++) {
        if (own->size[i] == size) {
            double samples = is_async ? calls : calls * stepped(own, size);
            own->minibatch[i] =
                round(each(samples * own->fact[FULCRUM_LOOP_EPOCH_COUNT],
                    found[FULCRUM_LOOP_TRAIN_STEP_COUNT]));
        }
    }
    if (is_async) {
        /* Requests instead of steps, and no call of which the rest is a part. */
        calls /= stepped(own, size);
        found[FULCRUM_LOOP_CALL_S] = found[FULCRUM_LOOP_WALL_S];
        found[FULCRUM_LOOP_OTHER_COUNT] = calls;
        found[FULCRUM_LOOP_TRAIN_S] += found[FULCRUM_LOOP_CALLER_CPU_S];
    }
    const struct {
        size_t which;
        double value;
    } rows[] = {{CALL, each(found[FULCRUM_LOOP_CALL_S], calls)},
        {CALLER, each(found[FULCRUM_LOOP_CALLER_CPU_S], calls)},
        {POOL, each(found[FULCRUM_LOOP_POOL_CPU_S], calls)},
        {CHILD, each(found[FULCRUM_LOOP_CHILD_CPU_S],
                    calls * (is_async ? 1.0 : stepped(own, size)))},
        {SPREAD, found[FULCRUM_LOOP_SPREAD_REL]},
        {OTHER, each(found[FULCRUM_LOOP_OTHER_S], found[FULCRUM_LOOP_OTHER_COUNT])},
        {TRAIN,
            each(found[FULCRUM_LOOP_TRAIN_S], found[FULCRUM_LOOP_TRAIN_STEP_COUNT])}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        TRY(keep(state, rows[i].which, size, rows[i].value, err));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status loop_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    struct own *own = state->own;
    const struct fulcrum_recording *calls = &state->recording[CALL];
    double ignored[FULCRUM_LOOP_FIGURES];
    for (size_t i = 0; i < own->size_count; i++) {
        if (!own->is_warm[i] && fulcrum_bench_goes_on(state->bench, HUGE_VAL)) {
            TRY(fulcrum_loop_time(&state->bench->stage, own->env,
                ask(own, own->size[i], 0.0), ignored, err));
            own->is_warm[i] = 1;
        }
    }
    do {
        TRY(sample_size(
            state, fulcrum_recording_neediest(calls, own->size, own->size_count), err));
    } while (fulcrum_bench_goes_on(
        state->bench, calls->count < own->size_count ? HUGE_VAL : until_s));
    return FULCRUM_OK;
}

/* Robust relative deviation of one sample of a call from its median. */
static double drift_of(
    struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    const struct own *own = state->own;
    double sum = 0.0;
    for (size_t i = 0; i < own->size_count; i++) {
        struct fulcrum_summary all;
        double *values =
            fulcrum_recording_values(&state->recording[CALL], own->size[i], 4, &all);
        if (values == NULL) {
            findings->status =
                fulcrum_fail(findings->err, FULCRUM_ERR_NO_MEMORY, "samples");
            return 0.0;
        }
        struct fulcrum_statistics found;
        if (fulcrum_statistics_of(&found, values, all.used, NULL) == FULCRUM_OK) {
            sum += (found.high_quartile - found.low_quartile) / FULCRUM_QUARTILES_SD /
                   found.median;
        }
        free(values);
    }
    return sum / (double)own->size_count;
}

static void add(struct fulcrum_findings *findings, const char *path, double value,
    double error, const char *source)
{
    /* Nothing, and times that are found to be nothing, have no error of their own. */
    value = value > NOTHING_S ? value : 0.0;
    error = value > 0.0 && isfinite(error) ? error : 0.0;
    fulcrum_findings_parameter(findings, path,
        &(struct fulcrum_parameter){.value = value,
            .standard_error = error,
            .scale = value > 0.0 ? FULCRUM_SCALE_LOG : FULCRUM_SCALE_LINEAR,
            .origin = FULCRUM_ORIGIN_FITTED},
        "%s", source);
}

/* A line over environments of what was recorded, of one worker where there are more. */
static void add_line(struct fulcrum_findings *findings,
    struct fulcrum_probe_state *state, size_t which, const char *const path[2],
    const char *source)
{
    const struct own *own = state->own;
    struct fulcrum_medians medians =
        fulcrum_findings_medians(findings, &state->recording[which], own->size,
            own->size_count - (is_asynchronous(own->fact) ? 1 : 0));
    for (size_t i = 0; i < medians.count; i++) {
        medians.x[i] = stepped(own, medians.x[i]);
    }
    struct fulcrum_line_fit line;
    struct fulcrum_error why = {FULCRUM_OK, ""};
    if (medians.count == 0) {
        return;
    }
    if (fulcrum_fit_distinct(medians.x, medians.count, 2) < 2) {
        add(findings, path[0], medians.value[0], 0.0, source);
        add(findings, path[1], 0.0, 0.0, source);
        return;
    }
    enum fulcrum_status status =
        fulcrum_fit_batch_time(&line, medians.x, medians.value, medians.count, &why);
    if (fulcrum_findings_fitted(findings, status, &why, "loop", "no line: ")) {
        for (size_t i = 0; i < 2; i++) {
            add(findings, path[i], line.fit.parameter[i].value,
                line.fit.parameter[i].standard_error, source);
        }
        /* One is known the better the other is: without this both would be loose. */
        if (line.fit.parameter[0].value > NOTHING_S &&
            line.fit.parameter[1].value > NOTHING_S &&
            isfinite(line.fit.covariance[1])) {
            fulcrum_findings_covariance(
                findings, path[0], path[1], line.fit.covariance[1]);
        }
        fulcrum_findings_fit(
            findings, state->recording[which].header.name, "t0 + t1 n", &line.fit);
    }
}

void fulcrum_loop_workload(
    const double fact[FULCRUM_LOOP_FIGURES], struct fulcrum_workload *workload)
{
    bool does_train = fact[FULCRUM_LOOP_TRAINS] > 0.5;
    bool is_async = is_asynchronous(fact);
    struct fulcrum_workload_training *training = &workload->training;
    workload->total_env_steps = TOLD_ENV_STEPS;
    workload->batching.policy = is_async ? FULCRUM_BATCH_GREEDY : FULCRUM_BATCH_FIXED;
    workload->batching.size = fact[FULCRUM_LOOP_BATCH_SIZE];
    workload->batching.population_frac =
        is_async || workload->batching.size > 0.0 ? 0.0 : 1.0;
    workload->group_count = is_async ? fact[FULCRUM_LOOP_THREAD_COUNT] : 1.0;
    workload->loop =
        does_train && !is_async ? FULCRUM_LOOP_ALTERNATING : FULCRUM_LOOP_CENTRAL;
    /* Inference and training are processes of their own. */
    training->sharing_frac = is_async ? 2.0 : 1.0;
    workload->rollout_length =
        does_train && !is_async ? fact[FULCRUM_LOOP_ROLLOUT_LENGTH] : (double)NAN;
    training->env_steps_per_train_step =
        does_train ? fact[FULCRUM_LOOP_MINIBATCH] / fact[FULCRUM_LOOP_EPOCH_COUNT]
                   : 0.0;
    training->batch_size = does_train ? fact[FULCRUM_LOOP_MINIBATCH] : (double)NAN;
    if (fact[FULCRUM_LOOP_PARAMETER_COUNT] > 0.0) {
        workload->network.parameter_count = fact[FULCRUM_LOOP_PARAMETER_COUNT];
    }
}

enum { STEP_S, DELAY_S, SLICE_S, UNKNOWNS };

#define LEAST_S 1e-9
#define MOST_S  1e3

/* Beyond it a spread is of the machine, not of steps. */
#define CV_MOST 3.0

/* Of steps that nobody timed one by one. */
#define USUAL_CV 0.3

/*
 * A pool of threads tells a second thread's yield from the step's time only where it
 * leaves cores idle: the usual one is taken, and no turbo, whatever the machine is.
 */
static void report_curve(struct fulcrum_findings *findings, struct fulcrum_cpu *cpu)
{
    const struct {
        const char *path;
        double *at;
        double value;
    } rows[] = {{"machine.cpu.smt_yield_frac", &cpu->smt_yield_frac,
                    cpu->thread_count > cpu->core_count ? USUAL_SMT_YIELD_FRAC : 0.0},
        {"machine.cpu.turbo_frac", &cpu->turbo_frac, 0.0},
        {"machine.cpu.oversubscription_frac", &cpu->oversubscription_frac, 0.0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        *rows[i].at = rows[i].value;
        fulcrum_findings_parameter(findings, rows[i].path,
            &(struct fulcrum_parameter){
                .value = rows[i].value, .origin = FULCRUM_ORIGIN_PRIOR},
            "assumed; what it leaves out is in the fitted step");
    }
}

/* Seconds of a call of the network with these unknowns. */
static double call_s(const double *unknown, double size, const void *context)
{
    struct fulcrum_design design = *(const struct fulcrum_design *)context;
    struct fulcrum_replicas replicas;
    struct fulcrum_solution solution;
    const struct fulcrum_solver_options fast = {.method = FULCRUM_METHOD_FAST};
    /* The search may look far away. */
    design.workload.step.mean_s = fmin(fmax(unknown[STEP_S], LEAST_S), MOST_S);
    design.workload.host.delay_s = fmin(fmax(unknown[DELAY_S], LEAST_S), MOST_S);
    bool is_async = design.workload.batching.policy == (int)FULCRUM_BATCH_GREEDY;
    double workers = workers_of(size, design.workload.group_count);
    design.machine.cpu.slice_s = fmin(fmax(unknown[SLICE_S], LEAST_S), 1.0);
    design.run.actor_count = is_async ? workers : size;
    design.run.envs_per_actor = is_async ? size / workers : 1.0;
    if (fulcrum_design_to_network(&design, &replicas, NULL) != FULCRUM_OK ||
        fulcrum_solve_pausing(&replicas, &fast, &solution, NULL) != FULCRUM_OK) {
        return (double)NAN;
    }
    return (is_async ? 1.0 : replicas.network.batch_size) / solution.steps_per_s;
}

/* What the parameters that were found so far make of this machine. */
static void design_of(struct fulcrum_design *out,
    const struct fulcrum_probe_state *state, const struct fulcrum_findings *findings)
{
    const struct own *own = state->own;
    const struct fulcrum_calibration *calibration = findings->calibration;
    fulcrum_design_init(out);
    out->machine = state->bench->machine;
    out->workload.step.mean_s = 0.0;
    out->workload.step.cv = 0.0;
    fulcrum_loop_workload(own->fact, &out->workload);
    for (size_t i = 0; i < calibration->parameter_count; i++) {
        const struct fulcrum_parameter *parameter = &calibration->parameters[i];
        memcpy((char *)out + parameter->field->offset, &parameter->value,
            sizeof parameter->value);
    }
}

/*
 * What passes beside all that was timed, such that the network's turns are those that
 * were seen: its cycles without inference, or, of a loop that waits for nobody, its
 * requests. The step is found with it, unless CPU time has told it.
 */
static void report_turns(struct fulcrum_findings *findings,
    struct fulcrum_probe_state *state, double rough_step_s)
{
    const struct own *own = state->own;
    bool is_async = is_asynchronous(own->fact);
    struct fulcrum_design design;
    design_of(&design, state, findings);
    if (!is_async) {
        design.workload.network.per_batch_s = design.workload.network.per_item_s = 0.0;
        design.workload.training.env_steps_per_train_step = 0.0;
    }
    double step_s = is_async ? design.workload.step.mean_s : rough_step_s;
    double slice_s = fmax(design.machine.cpu.slice_s, LEAST_S);
    struct fulcrum_medians calls = fulcrum_findings_medians(
        findings, &state->recording[CALL], own->size, own->size_count);
    const struct fulcrum_fit_parameter unknowns[UNKNOWNS] = {
        [STEP_S] = {.name = "step_s",
            .scale = FULCRUM_SCALE_LOG,
            .low = is_async ? step_s : LEAST_S,
            .high = is_async ? step_s : MOST_S,
            .start = step_s},
        [DELAY_S] = {.name = "delay_s",
            .scale = FULCRUM_SCALE_LOG,
            .low = LEAST_S,
            .high = MOST_S,
            .start = 0.3 * step_s},
        [SLICE_S] = {.name = "slice_s",
            .scale = FULCRUM_SCALE_LOG,
            .low = is_async ? LEAST_S : slice_s,
            .high = is_async ? 1.0 : slice_s,
            .start = slice_s}};
    const struct fulcrum_fit_problem problem = {
        .points = {"calls", calls.x, calls.value, calls.count},
        .model = call_s,
        .context = &design,
        .parameter = unknowns,
        .parameter_count = UNKNOWNS,
        .start_count = 5,
        .loss = FULCRUM_FIT_SQUARES};
    struct fulcrum_fit_result fit;
    struct fulcrum_error why = {FULCRUM_OK, ""};
    enum fulcrum_status status = fulcrum_fit(&fit, &problem, &why);
    if (!fulcrum_findings_fitted(findings, status, &why, "loop", "no steps: ")) {
        return;
    }
    if (!is_async) {
        add(findings, "workload.step.mean_s", fit.parameter[STEP_S].value,
            fit.parameter[STEP_S].standard_error,
            "fitted: the network's cycles are the calls of the vector environment");
    } else {
        add(findings, "machine.cpu.slice_s", fit.parameter[SLICE_S].value,
            fit.parameter[SLICE_S].standard_error,
            "fitted: what more processes than threads wait for a thread");
    }
    add(findings, "workload.host.delay_s", fit.parameter[DELAY_S].value,
        fit.parameter[DELAY_S].standard_error,
        "fitted: what passes in a turn beside all that was timed");
    fulcrum_findings_fit(findings, "env_call", "network with step and delay", &fit);
}

/* Short rollouts make minibatches smaller: what was seen is carried to the whole one.
 */
static void report_training(
    struct fulcrum_findings *findings, struct fulcrum_probe_state *state)
{
    const struct own *own = state->own;
    double whole = own->fact[FULCRUM_LOOP_MINIBATCH];
    struct fulcrum_medians steps = {.count = 0};
    double sum_s = 0.0;
    for (size_t i = 0; i < own->size_count; i++) {
        double median =
            fulcrum_findings_median(findings, &state->recording[TRAIN], own->size[i])
                .typical;
        if (median > 0.0) {
            steps.x[steps.count] = own->minibatch[i];
            steps.value[steps.count++] = median;
            sum_s += median;
        }
    }
    struct fulcrum_line_fit line;
    double step_s = each(sum_s, (double)steps.count);
    if (fulcrum_fit_distinct(steps.x, steps.count, 2) > 1 &&
        fulcrum_fit_batch_time(&line, steps.x, steps.value, steps.count, NULL) ==
            FULCRUM_OK) {
        step_s = line.per_batch_s + line.per_item_s * whole;
        fulcrum_findings_fit(findings, "train_step", "t0 + t1 samples", &line.fit);
    }
    if (steps.count > 0) {
        add(findings, "workload.training.train_step_s", step_s, 0.0,
            is_asynchronous(own->fact)
                ? "CPU time of the learner and the main process over training steps"
                : "time between rollouts over the optimiser's steps in it");
    }
    if (own->fact[FULCRUM_LOOP_PARAMETER_COUNT] > 0.0) {
        fulcrum_findings_value(findings, "network_parameter_count", "",
            own->fact[FULCRUM_LOOP_PARAMETER_COUNT]);
    }
}

static void add_given(struct fulcrum_findings *findings, const char *path, double value,
    const char *source)
{
    fulcrum_findings_parameter(
        findings, path, &(struct fulcrum_parameter){.value = value}, "%s", source);
}

/* Steps side by side: the caller's part of a call, and what it leaves. */
static void report_side_by_side(struct fulcrum_findings *findings,
    struct fulcrum_probe_state *state, double largest, double spread_s)
{
    static const char *const paths[] = {
        "workload.host.per_batch_s", "workload.host.per_item_s"};
    const struct own *own = state->own;
    bool is_pool = fulcrum_loop_way_of(own->fact) == FULCRUM_LOOP_THREADS;
    const size_t needed[] = {CALL, POOL, CHILD};
    double at[TRAIN + 1] = {0.0};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        at[needed[i]] =
            fulcrum_findings_median(findings, &state->recording[needed[i]], largest)
                .typical;
    }
    double step_s =
        fmax(is_pool ? at[POOL] / stepped(own, largest) : at[CHILD], LEAST_S);
    double threads = own->fact[FULCRUM_LOOP_THREAD_COUNT];
    double idle =
        threads > 0.0 ? state->bench->machine.cpu.thread_count - threads : 0.0;
    add_line(findings, state, CALLER, paths,
        "line through CPU time of the calling thread in a call");
    add_given(findings, "workload.host.reserved_threads",
        is_pool ? fmax(idle, 0.0) : each(at[POOL], at[CALL]),
        is_pool ? "threads of the machine that the pool leaves out"
                : "CPU time of other threads of the process during a call");
    add_given(findings, "workload.step.cv", fmin(spread_s / step_s, CV_MOST),
        "central two thirds of the calls of the fewest environments");
    report_turns(findings, state, step_s);
}

static void loop_report(
    struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    static const char *const step_paths[] = {
        "workload.host.actor_s", "workload.step.mean_s"};
    static const char *const other_paths[] = {
        "workload.network.per_batch_s", "workload.network.per_item_s"};
    const struct own *own = state->own;
    bool is_async = is_asynchronous(own->fact);
    double seen_s =
        fulcrum_findings_median(findings, &state->recording[CALL], own->size[0])
            .typical;
    double spread_rel =
        fulcrum_findings_median(findings, &state->recording[SPREAD], own->size[0])
            .typical;
    if (!(seen_s > 0.0)) {
        return;
    }
    add_given(findings, "machine.learner_core_count", 0.0,
        "the loop's inference and training run where its environments do");
    report_curve(findings, &state->bench->machine.cpu);
    fulcrum_findings_parameter(findings, "run.drift",
        &(struct fulcrum_parameter){.value = 1.0,
            .standard_error = drift_of(state, findings),
            .scale = FULCRUM_SCALE_LOG,
            .origin = FULCRUM_ORIGIN_MEASURED},
        "central half of the samples of a call");
    report_training(findings, state);
    add_line(findings, state, OTHER, other_paths,
        is_async ? "line through CPU time of inference for a request"
                 : "line through times between calls");
    if (is_serial(own) || is_async) {
        add_line(findings, state, is_async ? CHILD : CALL, step_paths,
            is_async ? "line through CPU time of a worker for a request"
                     : "line through times of a call");
        add_given(findings, "workload.step.cv", is_async ? USUAL_CV : spread_rel,
            is_async ? "assumed"
                     : "central two thirds of the calls of one environment");
    }
    if (is_async) {
        report_turns(findings, state, 0.0);
    } else if (!is_serial(own)) {
        report_side_by_side(
            findings, state, own->size[own->size_count - 1], spread_rel * seen_s);
    }
}

static bool loop_applies(const struct fulcrum_bench *bench)
{
    return bench->stage.actor->time != NULL;
}

const struct fulcrum_probe fulcrum_probe_loop = {
    .what = "training loop",
    .share = 1.0,
    .headers = {[CALL] = {"env_call", "s", "environments", "in the loop"},
        [CALLER] = {"env_call_caller_cpu", "s", "environments", "in the loop"},
        [POOL] = {"env_call_pool_cpu", "s", "environments", "in the loop"},
        [CHILD] = {"env_child_cpu", "s", "environments", "in the loop"},
        [SPREAD] = {"env_call_spread", "", "environments", "in the loop"},
        [OTHER] = {"between_calls", "s", "environments", "in the loop"},
        [TRAIN] = {"train_step", "s", "environments", "in the loop"}},
    .own_byte = sizeof(struct own),
    .applies = loop_applies,
    .open = loop_open,
    .close = loop_close,
    .visit = loop_visit,
    .report = loop_report,
};
