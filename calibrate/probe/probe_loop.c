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
 * spread of single samples is an error that all times of the loop have in common.
 */
#include "calibrate/probe/probe.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "calibrate/fit/fit_forms.h"
#include "calibrate/statistics.h"
#include "model/design/design.h"
#include "model/predict/solver.h"
#include "model/predict/to_network.h"
#include "model/try.h"

/* A sample lasts so long, or one turn of the loop. */
#define SAMPLE_S 0.3

/* Length of the training that runtimes are told for, unless a user says otherwise. */
#define TOLD_ENV_STEPS 1e6

/* What a core's second thread adds. */
#define USUAL_SMT_YIELD_FRAC 0.25

/* Between the quartiles of a normal law, in standard deviations. */
#define QUARTILES_SD 1.349

enum { CALL, CALLER, POOL, CHILD, SPREAD, OTHER, TRAIN };

enum { SIZES_MOST = 4 };

struct own {
    struct fulcrum_env *env;
    double fact[FULCRUM_LOOP_FIGURES];
    double size[SIZES_MOST]; /* environments */
    size_t size_count;
    bool is_warm[SIZES_MOST];
};

static bool is_serial(const struct own *own)
{
    return own->fact[FULCRUM_LOOP_WAY] < 0.5;
}

static bool trains(const struct own *own)
{
    return own->fact[FULCRUM_LOOP_TRAINS] > 0.5;
}

/* Environments that one call steps. */
static double stepped(const struct own *own, double size)
{
    double batch = own->fact[FULCRUM_LOOP_BATCH_SIZE];
    return batch > 0.0 ? fmin(batch, size) : size;
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
    for (size_t i = 0; i < SIZES_MOST - (trains(own) ? 1 : 0); i++) {
        double size =
            batch > 0.0 ? batch_rel[i] * batch : fmax(rel[i] * threads, 1.0);
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
    TRY(stage->actor->time(own->env, FULCRUM_LOOP_FACTS, 0, 0.0, own->fact, err));
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
    const struct own *own = state->own;
    double found[FULCRUM_LOOP_FIGURES];
    TRY(fulcrum_sample_begin(state, CALL, err));
    TRY(state->bench->stage.actor->time(
        own->env, FULCRUM_LOOP_PIECES, (size_t)size, SAMPLE_S, found, err));
    double calls = found[FULCRUM_LOOP_CALL_COUNT];
    const struct {
        size_t which;
        double value;
    } rows[] = {{CALL, each(found[FULCRUM_LOOP_CALL_S], calls)},
        {CALLER, each(found[FULCRUM_LOOP_CALLER_CPU_S], calls)},
        {POOL, each(found[FULCRUM_LOOP_POOL_CPU_S], calls)},
        {CHILD, each(found[FULCRUM_LOOP_CHILD_CPU_S], calls * stepped(own, size))},
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
            TRY(state->bench->stage.actor->time(own->env, FULCRUM_LOOP_PIECES,
                (size_t)own->size[i], 0.0, ignored, err));
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
            sum += (found.high_quartile - found.low_quartile) / QUARTILES_SD /
                   found.median;
        }
        free(values);
    }
    return sum / (double)own->size_count;
}

/* Where parameters come from, and the errors that all of them share. */
struct report {
    struct fulcrum_findings *findings;
    double drift_rel;
    const char *path[8];
    double value[8];
    size_t count;
};

static void add(struct report *report, const char *path, double value, double error,
    const char *source)
{
    double all = hypot(error, report->drift_rel * value);
    fulcrum_findings_parameter(report->findings, path,
        &(struct fulcrum_parameter){.value = value,
            .standard_error = isfinite(all) ? all : report->drift_rel * value,
            .origin = FULCRUM_ORIGIN_FITTED},
        "%s", source);
    for (size_t i = 0; i < report->count; i++) {
        fulcrum_findings_covariance(report->findings, path, report->path[i],
            report->drift_rel * report->drift_rel * value * report->value[i]);
    }
    report->path[report->count] = path;
    report->value[report->count++] = value;
}

/* A line over environments of what was recorded; NULL paths are not reported. */
static void add_line(struct report *report, struct fulcrum_probe_state *state,
    size_t which, const char *const path[2], const char *source)
{
    const struct own *own = state->own;
    struct fulcrum_medians medians = fulcrum_findings_medians(
        report->findings, &state->recording[which], own->size, own->size_count);
    for (size_t i = 0; i < medians.count; i++) {
        medians.x[i] = stepped(own, medians.x[i]);
    }
    struct fulcrum_line_fit line;
    struct fulcrum_error why = {FULCRUM_OK, ""};
    if (medians.count == 0) {
        return;
    }
    if (fulcrum_fit_distinct(medians.x, medians.count, 2) < 2) {
        add(report, path[0], medians.value[0], 0.0, source);
        return;
    }
    enum fulcrum_status status =
        fulcrum_fit_batch_time(&line, medians.x, medians.value, medians.count, &why);
    if (fulcrum_findings_fitted(
            report->findings, status, &why, "loop", "no line: ")) {
        for (size_t i = 0; i < 2; i++) {
            add(report, path[i], line.fit.parameter[i].value,
                line.fit.parameter[i].standard_error, source);
        }
        fulcrum_findings_fit(report->findings,
            state->recording[which].header.name, "t0 + t1 n", &line.fit);
    }
}

void fulcrum_loop_workload(
    const double fact[FULCRUM_LOOP_FIGURES], struct fulcrum_workload *workload)
{
    bool does_train = fact[FULCRUM_LOOP_TRAINS] > 0.5;
    struct fulcrum_workload_training *training = &workload->training;
    workload->total_env_steps = TOLD_ENV_STEPS;
    workload->batching.policy = FULCRUM_BATCH_FIXED;
    workload->batching.size = fact[FULCRUM_LOOP_BATCH_SIZE];
    workload->batching.population_frac = workload->batching.size > 0.0 ? 0.0 : 1.0;
    workload->loop = does_train ? FULCRUM_LOOP_ALTERNATING : FULCRUM_LOOP_CENTRAL;
    workload->rollout_length =
        does_train ? fact[FULCRUM_LOOP_ROLLOUT_LENGTH] : (double)NAN;
    training->env_steps_per_train_step =
        does_train ? fact[FULCRUM_LOOP_MINIBATCH] / fact[FULCRUM_LOOP_EPOCH_COUNT] : 0.0;
    training->batch_size = does_train ? fact[FULCRUM_LOOP_MINIBATCH] : (double)NAN;
    if (fact[FULCRUM_LOOP_PARAMETER_COUNT] > 0.0) {
        workload->network.parameter_count = fact[FULCRUM_LOOP_PARAMETER_COUNT];
    }
}

enum { STEP_S, DELAY_S, UNKNOWNS };

#define LEAST_S 1e-9
#define MOST_S  1e3

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
    } rows[] = {
        {"machine.cpu.smt_yield_frac", &cpu->smt_yield_frac,
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
    design.run.actor_count = size;
    if (fulcrum_design_to_network(&design, &replicas, NULL) != FULCRUM_OK ||
        fulcrum_solve(&replicas.network, &fast, &solution, NULL) != FULCRUM_OK) {
        return (double)NAN;
    }
    return replicas.network.batch_size / solution.steps_per_s;
}

static double parameter_of(const struct fulcrum_findings *findings, const char *path)
{
    const struct fulcrum_parameter *found =
        fulcrum_calibration_parameter(findings->calibration, path);
    return found != NULL ? found->value : 0.0;
}

/* Environments side by side: their step, and what passes beside it. */
static void report_side_by_side(
    struct report *report, struct fulcrum_probe_state *state, double cv, double step_s)
{
    const struct own *own = state->own;
    struct fulcrum_findings *findings = report->findings;
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    design.machine = state->bench->machine;
    design.machine.learner_core_count = 0.0;
    report_curve(findings, &design.machine.cpu);
    design.workload.step.cv = cv;
    design.workload.host.per_batch_s =
        parameter_of(findings, "workload.host.per_batch_s");
    design.workload.host.per_item_s =
        parameter_of(findings, "workload.host.per_item_s");
    design.workload.host.reserved_threads =
        parameter_of(findings, "workload.host.reserved_threads");
    design.workload.network.per_batch_s = design.workload.network.per_item_s = 0.0;
    fulcrum_loop_workload(own->fact, &design.workload);
    design.workload.training.env_steps_per_train_step = 0.0;
    struct fulcrum_medians calls = fulcrum_findings_medians(
        findings, &state->recording[CALL], own->size, own->size_count);
    const struct fulcrum_fit_parameter unknowns[UNKNOWNS] = {
        [STEP_S] = {.name = "step_s",
            .scale = FULCRUM_SCALE_LOG,
            .low = LEAST_S,
            .high = MOST_S,
            .start = step_s},
        [DELAY_S] = {.name = "delay_s",
            .scale = FULCRUM_SCALE_LOG,
            .low = LEAST_S,
            .high = MOST_S,
            .start = 0.3 * step_s}};
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
    add(report, "workload.step.mean_s", fit.parameter[STEP_S].value,
        fit.parameter[STEP_S].standard_error,
        "fitted: the network's cycles are the calls of the vector environment");
    add(report, "workload.host.delay_s", fit.parameter[DELAY_S].value,
        fit.parameter[DELAY_S].standard_error,
        "fitted with the step: what passes in a call beside steps and the caller");
    fulcrum_findings_fit(findings, "env_call", "network with step and delay", &fit);
}

static void report_training(struct report *report, struct fulcrum_probe_state *state)
{
    const struct own *own = state->own;
    struct fulcrum_medians steps = fulcrum_findings_medians(
        report->findings, &state->recording[TRAIN], own->size, own->size_count);
    double sum = 0.0;
    for (size_t i = 0; i < steps.count; i++) {
        sum += steps.value[i];
    }
    if (steps.count > 0) {
        add(report, "workload.training.train_step_s", sum / (double)steps.count, 0.0,
            "time between rollouts over the optimiser's steps in it");
    }
    fulcrum_findings_value(report->findings, "network_parameter_count", "",
        own->fact[FULCRUM_LOOP_PARAMETER_COUNT]);
}

static void loop_report(
    struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    static const char *const serial_paths[] = {
        "workload.host.actor_s", "workload.step.mean_s"};
    static const char *const host_paths[] = {
        "workload.host.per_batch_s", "workload.host.per_item_s"};
    static const char *const other_paths[] = {
        "workload.network.per_batch_s", "workload.network.per_item_s"};
    const struct own *own = state->own;
    struct report report = {.findings = findings, .drift_rel = drift_of(state, findings)};
    double first = own->size[0];
    double largest = own->size[own->size_count - 1];
    double call = fulcrum_findings_median(findings, &state->recording[CALL], first).median;
    double spread =
        fulcrum_findings_median(findings, &state->recording[SPREAD], first).median;
    double threads = own->fact[FULCRUM_LOOP_THREAD_COUNT];
    double pool = fulcrum_findings_median(findings, &state->recording[POOL], largest).median;
    if (!(call > 0.0)) {
        return;
    }
    add_line(&report, state, OTHER, other_paths, "line through times between calls");
    if (is_serial(own)) {
        add_line(&report, state, CALL, serial_paths, "line through times of a call");
    } else {
        bool is_pool = own->fact[FULCRUM_LOOP_WAY] > 1.5;
        double child =
            fulcrum_findings_median(findings, &state->recording[CHILD], largest).median;
        double step = is_pool ? pool / stepped(own, largest) : child;
        double idle = is_pool ? fmax(state->bench->machine.cpu.thread_count - threads, 0.0)
                              : pool / fulcrum_findings_median(findings,
                                           &state->recording[CALL], largest).median;
        add_line(&report, state, CALLER, host_paths,
            "line through CPU time of the calling thread in a call");
        fulcrum_findings_parameter(findings, "workload.host.reserved_threads",
            &(struct fulcrum_parameter){.value = idle}, "%s",
            is_pool ? "threads of the machine that the pool leaves out"
                    : "CPU time of other threads of the process during a call");
        report_side_by_side(
            &report, state, fmin(spread * call / step, 3.0), fmax(step, 1e-7));
    }
    double step_s = parameter_of(findings, "workload.step.mean_s");
    if (step_s > 0.0) {
        fulcrum_findings_parameter(findings, "workload.step.cv",
            &(struct fulcrum_parameter){.value = fmin(spread * call / step_s, 3.0)}, "%s",
            "central two thirds of the calls of the fewest environments");
    }
    fulcrum_findings_parameter(findings, "machine.learner_core_count",
        &(struct fulcrum_parameter){.value = 0.0}, "%s",
        "the loop's inference and training run where its environments do");
    fulcrum_findings_value(findings, "drift_rel", "", report.drift_rel);
    report_training(&report, state);
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
