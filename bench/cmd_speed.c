/* cmd_speed.c - `fulcrum-bench speed`: how long solutions, simulations, sweeps take. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/commands.h"
#include "calibrate/host.h"
#include "calibrate/statistics.h"
#include "calibrate/stopwatch.h"
#include "cli/message.h"
#include "cli/options/options.h"
#include "cli/plot/plot_job.h"
#include "cli/progress.h"
#include "model/exact/exact.h"
#include "model/fast/steady.h"
#include "model/network/network.h"
#include "model/predict/solver.h"
#include "model/result.h"
#include "model/study/sweep.h"
#include "model/try.h"
#include "plots/spec/charts.h"
#include "presets/io/output.h"

/* How long a piece of work takes, repeated until its median settles. */

enum fulcrum_timing_clock {
    FULCRUM_TIMING_THREAD_CPU, /* of the calling thread: other programs do not count */
    FULCRUM_TIMING_WALL        /* for work on several threads */
};

/* What is timed. */
struct fulcrum_timing_work {
    /* Does the work once. *units: how many pieces it did (steps, points), else 1. */
    enum fulcrum_status (*run)(void *context, double *units, struct fulcrum_error *err);
    void *context;
    enum fulcrum_timing_clock clock;
};

/* Seconds of one run of the work. */
struct fulcrum_timing {
    size_t sample_count; /* 0: stopped before there was one */
    size_t inner_count;  /* runs in each sample */
    double median_s;
    double low_quartile_s;
    double high_quartile_s;
    double min_s;
    double units; /* pieces in a run */
};

/* How the workload makes its batches. */
enum fulcrum_speed_batches {
    FULCRUM_SPEED_GREEDY,
    FULCRUM_SPEED_SHIPPED /* half of the actors in each */
};

/* A grid of predictions that is timed, without writing it: r2d2-atari on one GPU of a
 * dgx-1 over threads and actors; presets are read once. */
struct fulcrum_speed_sweep;

enum fulcrum_speed_part {
    FULCRUM_SPEED_SOLVE,      /* one network by one method */
    FULCRUM_SPEED_SIMULATION, /* so many steps; units are steps */
    FULCRUM_SPEED_SWEEP,      /* a grid of design points; units are points */
    FULCRUM_SPEED_YARDSTICK,  /* what others would call a solution */
    FULCRUM_SPEED_NEIGHBOURS  /* networks of ever more actors; units are solutions */
};

/* Series of FULCRUM_SPEED_SOLVE over the actors, in the order of the table. */
enum { FULCRUM_SPEED_SERIES_COUNT = 9 };

struct fulcrum_speed_case {
    enum fulcrum_speed_part part;
    size_t series;    /* of FULCRUM_SPEED_SOLVE */
    const char *name; /* static */
    const char *law;  /* of steps; "" where there are none */
    double actors;    /* NAN where it varies */
    double threads;   /* that they step on, likewise */
    struct fulcrum_network network;
    struct fulcrum_solver_options options;
    struct fulcrum_speed_sweep *sweep; /* borrowed */
    size_t sweep_threads;
    struct fulcrum_timing timing; /* no samples: not timed yet */
};

struct fulcrum_speed {
    const struct fulcrum_speed_case *cases; /* those without samples are left out */
    size_t case_count;
    bool is_interrupted;
};

/* Where a chart goes, and how large. */
struct fulcrum_speed_chart {
    const char *path; /* ends in .svg, .pdf or .png */
    double width_pt;
    double height_pt;
};

/*
 * A clock tick or a read of the clock is a large part of a solution of a microsecond.
 * So runs are counted into samples of a millisecond, and the clock is read twice for
 * each. Interrupts and other programs can only add time: the median bears with some of
 * that, the quartiles show how much there was, and the smallest sample is what the
 * machine can do.
 */

enum { SAMPLES_MOST = 400 };

static const double least_sample_s = 1e-3;
static const double settled_rel = 0.02;

struct measurement {
    const struct fulcrum_timing_work *work;
    struct fulcrum_stopwatch stopwatch;
    size_t inner_count;
    double units;
};

static enum fulcrum_status sample(
    struct measurement *measurement, double *out, struct fulcrum_error *err)
{
    const struct fulcrum_timing_work *work = measurement->work;
    struct fulcrum_span begin = fulcrum_span_begin();
    for (size_t i = 0; i < measurement->inner_count; i++) {
        TRY(work->run(work->context, &measurement->units, err));
    }
    struct fulcrum_span span = fulcrum_span_end(&measurement->stopwatch, begin);
    *out = work->clock == FULCRUM_TIMING_WALL ? span.wall_s : span.cpu_s;
    return FULCRUM_OK;
}

/*
 * Runs the work until a sample lasts a millisecond at least, which warms it up, then
 * takes samples until the interval of their median is within 2 %, or `budget_s` seconds
 * are over, but one at least.
 *   stop     set from outside to take no more samples; NULL: never
 *   fails    as the work; FULCRUM_ERR_NO_MEMORY
 */
static enum fulcrum_status timing_measure(const struct fulcrum_timing_work *work,
    struct fulcrum_timing *out, double budget_s, const volatile sig_atomic_t *stop,
    struct fulcrum_error *err)
{
    struct measurement measurement = {
        .work = work, .stopwatch = fulcrum_stopwatch_calibrated(), .units = 1.0};
    struct fulcrum_statistics statistics = {.count = 0};
    double until_s = fulcrum_wall_s() + budget_s;
    double least_s = INFINITY;
    bool is_over = false;
    double *samples = calloc(SAMPLES_MOST, sizeof *samples);
    TRY_MEMORY(samples, err, "%d samples", SAMPLES_MOST);
    enum fulcrum_status status = FULCRUM_OK;
    /* The runs of a sample are doubled until it is long enough to be timed. */
    double warm_s = 0.0;
    measurement.inner_count = 1;
    TRY_OR_END(sample(&measurement, &warm_s, err));
    while (warm_s < least_sample_s) {
        measurement.inner_count *= 2;
        TRY_OR_END(sample(&measurement, &warm_s, err));
    }
    while (
        statistics.count < SAMPLES_MOST && !is_over && (stop == NULL || *stop == 0)) {
        double *taken_s = &samples[statistics.count];
        TRY_OR_END(sample(&measurement, taken_s, err));
        least_s = fmin(least_s, *taken_s);
        TRY_OR_END(
            fulcrum_statistics_of(&statistics, samples, statistics.count + 1, err));
        is_over = fulcrum_wall_s() >= until_s ||
                  fulcrum_statistics_settled(&statistics, settled_rel);
    }
    *out = (struct fulcrum_timing){.sample_count = statistics.count};
    if (statistics.count > 0) {
        double inner = (double)measurement.inner_count;
        out->inner_count = measurement.inner_count;
        out->median_s = statistics.median / inner;
        out->low_quartile_s = statistics.low_quartile / inner;
        out->high_quartile_s = statistics.high_quartile / inner;
        out->min_s = least_s / inner;
        out->units = measurement.units;
    }
end:
    free(samples);
    return status;
}

/*
 * Networks resemble the workloads of docs/presets.md in what costs time: batches that
 * take about as long as steps, so that some of the actors are in the batch and others
 * on the CPU. Where a cost depends on how many threads there are for an actor, a series
 * keeps that ratio while the actors become more.
 */

enum { FULCRUM_MVA_STATIONS_MOST = 16 };

/*
 * A customer who arrives at a station finds what is there on average with one customer
 * less: R_i(n) = s_i (1 + Q_i(n - 1)). Little's law over the whole cycle gives
 * X(n) = n / sum R_i(n), and at each station Q_i(n) = X(n) R_i(n). Nothing is spared
 * and nothing is added, so that its time is what anybody's exact solution takes.
 */

/*
 * A yardstick for the cost of a solution: cycles per second of a closed network of
 * single servers that each customer visits once, by the exact recursion over the
 * customers (Reiser and Lavenberg 1980).
 *   service_s  `station_count` <= FULCRUM_MVA_STATIONS_MOST means, > 0
 */
static double mva_cycles_per_s(
    const double *service_s, size_t station_count, size_t customers)
{
    double queue[FULCRUM_MVA_STATIONS_MOST] = {0.0};
    double residence_s[FULCRUM_MVA_STATIONS_MOST] = {0.0};
    double rate = 0.0;
    assert(station_count > 0 && station_count <= FULCRUM_MVA_STATIONS_MOST);
    for (size_t n = 1; n <= customers; n++) {
        double cycle_s = 0.0;
        for (size_t i = 0; i < station_count; i++) {
            residence_s[i] = service_s[i] * (1.0 + queue[i]);
            cycle_s += residence_s[i];
        }
        rate = (double)n / cycle_s;
        for (size_t i = 0; i < station_count; i++) {
            queue[i] = rate * residence_s[i];
        }
    }
    return rate;
}

enum { THREADS = 16, ACTORS = 64 };

/* The shipped workload whose every number is given by presets. */
#define MACHINE  "dgx-1"
#define WORKLOAD "r2d2-atari"
#define GREEDY   "workload.batching.policy=greedy"

struct fulcrum_speed_sweep {
    struct fulcrum_design_settings settings;
    const char *sets[1];
    struct fulcrum_design_inputs inputs;
    struct fulcrum_scenario *scenario;
    struct fulcrum_sweep_axis axes[2];
    double threads[THREADS];
    double actors[ACTORS];
};

static void speed_sweep_free(struct fulcrum_speed_sweep *sweep)
{
    if (sweep == NULL) {
        return;
    }
    fulcrum_scenario_free(sweep->scenario);
    fulcrum_design_inputs_free(&sweep->inputs);
    free(sweep);
}

/* Fails as the loaders of presets/load/preset.h. */
static enum fulcrum_status speed_sweep_new(struct fulcrum_speed_sweep **out,
    enum fulcrum_speed_batches batches, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct fulcrum_speed_sweep *sweep = fulcrum_allocate(1, sizeof *sweep);
    sweep->settings.machine = MACHINE;
    sweep->settings.workload = WORKLOAD;
    sweep->settings.actor_count = (double)NAN;
    sweep->sets[0] = GREEDY;
    if (batches == FULCRUM_SPEED_GREEDY) {
        sweep->settings.sets = (struct fulcrum_text_list){1, sweep->sets};
    }
    for (size_t i = 0; i < THREADS; i++) {
        sweep->threads[i] = 16.0 * (double)(i + 1);
    }
    for (size_t i = 0; i < ACTORS; i++) {
        sweep->actors[i] = 8.0 * (double)(i + 1);
    }
    sweep->axes[0] = (struct fulcrum_sweep_axis){
        fulcrum_field_find("machine.cpu.thread_count"), sweep->threads, THREADS};
    sweep->axes[1] = (struct fulcrum_sweep_axis){
        fulcrum_field_find("run.actor_count"), sweep->actors, ACTORS};
    enum fulcrum_status status;
    TRY_OR_END(
        fulcrum_design_inputs_load(&sweep->settings, context, &sweep->inputs, err));
    TRY_OR_END(fulcrum_scenario_new(&sweep->inputs.scenario, &sweep->scenario, err));
    *out = sweep;
    return FULCRUM_OK;
end:
    speed_sweep_free(sweep);
    return status;
}

/* Stops at a point without a prediction: a sweep of failures would be fast. */
static int count_points(
    void *context, size_t slot, const struct fulcrum_sweep_point *points, size_t count)
{
    (void)slot;
    double *done = context;
    for (size_t i = 0; i < count; i++) {
        if (points[i].status != FULCRUM_OK) {
            return 1;
        }
    }
    *done += (double)count;
    return 0;
}

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static const double sizes[] = {4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0};

/* Each simulation of FULCRUM_SPEED_SIMULATION, at least; never narrow enough. */
static const double timed_steps = 3e5;
static const double no_half_width_rel = 1e-9;

/* c(n) = min(n, threads), batches of 0.3 mean steps and 1 % more for each item. */
static struct fulcrum_network greedy(
    double actors, double threads, const struct fulcrum_step *step)
{
    return (struct fulcrum_network){.actors = actors,
        .cpu = {.core_count = threads, .thread_count = threads},
        .step = *step,
        .gpu = {.per_batch_s = 0.3, .per_item_s = 0.003},
        .depth = 1};
}

static const struct fulcrum_step exponential = {1.0, 0.0, FULCRUM_LAW_EXPONENTIAL};
static const struct fulcrum_step lognormal = {1.0, 0.5, FULCRUM_LAW_LOGNORMAL};

static struct fulcrum_network build_exponential(double actors)
{
    return greedy(actors, actors, &exponential);
}

static struct fulcrum_network build_lognormal(double actors)
{
    return greedy(actors, actors, &lognormal);
}

static struct fulcrum_network build_crowded(double actors)
{
    return greedy(actors, fmax(1.0, actors / 4.0), &lognormal);
}

/* One GPU of docs/presets.md "r2d2-atari", the threads growing with the actors. */
static struct fulcrum_network build_fixed(double actors)
{
    double cores = fmax(2.0, actors / 8.0);
    return (struct fulcrum_network){.actors = actors,
        .cpu = {.core_count = cores,
            .thread_count = 2.0 * cores,
            .smt_yield_frac = 0.25,
            .turbo_frac = 0.3},
        .step = {2.2e-3, 0.5, FULCRUM_LAW_LOGNORMAL},
        .host = {.per_batch_s = 9e-4, .per_item_s = 4.4e-5},
        .gpu = {.per_batch_s = 9.4e-4, .per_item_s = 7.4e-6},
        .policy = FULCRUM_BATCH_FIXED,
        .batch_size = actors / 2.0,
        .depth = 2,
        .delay_s = 3.6e-4};
}

static struct fulcrum_network build_fixed_training(double actors)
{
    struct fulcrum_network network = build_fixed(actors);
    network.training = (struct fulcrum_training){3360.0, 0.19, 2.4, 1.0};
    return network;
}

struct series {
    const char *name;
    const char *label; /* in a chart; NULL: not there */
    struct fulcrum_network (*build)(double actors);
    enum fulcrum_method method;
    double actors_most;
};

/* Chains of thousands of actors take minutes, and hundreds of megabytes. */
static const struct series all_series[FULCRUM_SPEED_SERIES_COUNT] = {
    {"fast, exponential", "fast: greedy, exponential, N = C", build_exponential,
        FULCRUM_METHOD_FAST, 4096.0},
    {"fast, lognormal", "fast: greedy, lognormal, N = C", build_lognormal,
        FULCRUM_METHOD_FAST, 4096.0},
    {"fast, crowded", "fast: greedy, lognormal, N = 4 C", build_crowded,
        FULCRUM_METHOD_FAST, 4096.0},
    {"fast, half batches", "fast: half batches", build_fixed, FULCRUM_METHOD_FAST,
        4096.0},
    {"fast, half batches, training", "fast: half batches, training",
        build_fixed_training, FULCRUM_METHOD_FAST, 4096.0},
    {"chain", "exact chain", build_exponential, FULCRUM_METHOD_CHAIN, 1024.0},
    {"product-form", "product form", build_exponential, FULCRUM_METHOD_PRODUCT_FORM,
        4096.0},
    {"simulate to 1 %", "simulation to 1 %", build_lognormal, FULCRUM_METHOD_SIMULATE,
        4096.0},
    {"simulate to 1 %, half batches", NULL, build_fixed, FULCRUM_METHOD_SIMULATE,
        4096.0},
};

/* The first of them are solved along their actors as well. */
enum { WALKED_SERIES = 3 };

/* Laws by what it costs to draw them. */
static const struct fulcrum_step simulated_steps[] = {
    {1.0, 0.0, FULCRUM_LAW_DETERMINISTIC},
    {1.0, 0.0, FULCRUM_LAW_EXPONENTIAL},
    {1.0, 0.5, FULCRUM_LAW_LOGNORMAL},
    {1.0, 0.5, FULCRUM_LAW_ERLANG},
    {1.0, 2.0, FULCRUM_LAW_HYPEREXPONENTIAL},
    {1.0, 0.0, FULCRUM_LAW_PARETO},
};

static const double simulated_actors[] = {16.0, 256.0, 4096.0};

/* Few actors are followed one by one, and few threads make long queues. */
static const struct {
    double actors;
    double threads;
} more_shapes[] = {
    {1.0, 4.0}, {2.0, 4.0}, {3.0, 4.0}, {8.0, 4.0}, {256.0, 16.0}, {256.0, 1024.0}};

/* Stations of both yardsticks: one is the bottleneck, but not by far. */
enum { YARDSTICK_CUSTOMERS = 256 };
static const double yardstick_s[] = {1.0, 0.7, 0.4};

static enum fulcrum_status run_solve(
    void *context, double *units, struct fulcrum_error *err)
{
    const struct fulcrum_speed_case *speed_case = context;
    struct fulcrum_solution solution;
    TRY(fulcrum_solve(&speed_case->network, &speed_case->options, &solution, err));
    if (speed_case->part == FULCRUM_SPEED_SIMULATION) {
        *units = solution.simulated_steps;
    }
    return FULCRUM_OK;
}

/* As a sweep does: each begins where the last one ended. */
static enum fulcrum_status run_neighbours(
    void *context, double *units, struct fulcrum_error *err)
{
    enum { NEIGHBOURS = 64 };
    const struct fulcrum_speed_case *speed_case = context;
    struct fulcrum_fast_room room;
    room.table.count = 0;
    room.kept = NULL;
    room.recalled_count = 0;
    fulcrum_fast_forget(&room);
    struct fulcrum_network network = speed_case->network;
    struct fulcrum_solver_options options = speed_case->options;
    options.room = &room;
    for (size_t i = 0; i < NEIGHBOURS; i++) {
        struct fulcrum_solution solution;
        network.actors = speed_case->network.actors + (double)i;
        TRY(fulcrum_solve(&network, &options, &solution, err));
    }
    *units = NEIGHBOURS;
    return FULCRUM_OK;
}

static enum fulcrum_status run_sweep(
    void *context, double *units, struct fulcrum_error *err)
{
    const struct fulcrum_speed_case *speed_case = context;
    const struct fulcrum_speed_sweep *sweep = speed_case->sweep;
    const struct fulcrum_sweep_plan plan = {.axes = sweep->axes,
        .axis_count = 2,
        .predict.solver.method = FULCRUM_METHOD_FAST,
        .thread_count = speed_case->sweep_threads};
    double done = 0.0;
    const struct fulcrum_sweep_visitor visitor = {
        .context = &done, .visit = count_points};
    enum fulcrum_status status =
        fulcrum_sweep_run(sweep->scenario, &plan, &visitor, err);
    FAIL_IF(status == FULCRUM_ERR_INTERRUPTED, err, FULCRUM_ERR_INFEASIBLE,
        "a point of the sweep has no prediction");
    *units = done;
    return status;
}

static enum fulcrum_status run_product_form(
    void *context, double *units, struct fulcrum_error *err)
{
    double *rate = context;
    *units = 1.0;
    struct fulcrum_product_form_station stations[COUNT_OF(yardstick_s)];
    struct fulcrum_product_form_load loads[COUNT_OF(yardstick_s)];
    for (size_t i = 0; i < COUNT_OF(yardstick_s); i++) {
        stations[i] = (struct fulcrum_product_form_station){
            .type = FULCRUM_STATION_QUEUE, .service_s = yardstick_s[i], .visits = 1.0};
        loads[i] = (struct fulcrum_product_form_load){.chance = NULL};
    }
    const struct fulcrum_product_form_network network = {
        .customers = (double)YARDSTICK_CUSTOMERS,
        .stations = stations,
        .station_count = COUNT_OF(yardstick_s)};
    return fulcrum_product_form_solve(&network, rate, loads, err);
}

static enum fulcrum_status run_mva(
    void *context, double *units, struct fulcrum_error *err)
{
    (void)err;
    double *rate = context;
    *units = 1.0;
    *rate = mva_cycles_per_s(
        yardstick_s, COUNT_OF(yardstick_s), (size_t)YARDSTICK_CUSTOMERS);
    return FULCRUM_OK;
}

typedef enum fulcrum_status yardstick_run(
    void *context, double *units, struct fulcrum_error *err);

static const struct {
    const char *name;
    yardstick_run *run;
} yardsticks[] = {{"exact MVA", run_mva}, {"convolution", run_product_form}};

/*
 * Times one case into its `timing`.
 *   fails    as timing_measure and what is timed; FULCRUM_ERR_NUMERIC (the two
 *            yardsticks are exact, but differ)
 */
static enum fulcrum_status speed_case_time(struct fulcrum_speed_case *speed_case,
    double budget_s, const volatile sig_atomic_t *stop, struct fulcrum_error *err)
{
    if (speed_case->part == FULCRUM_SPEED_YARDSTICK) {
        /* Both are exact, so that either proves that the other was not timed in
         * vain. */
        double rate = 0.0;
        double other = 0.0;
        double units = 1.0;
        const struct fulcrum_timing_work work = {
            .run = yardsticks[speed_case->series].run, .context = &rate};
        TRY(timing_measure(&work, &speed_case->timing, budget_s, stop, err));
        TRY(yardsticks[1 - speed_case->series].run(&other, &units, err));
        FAIL_IF(!(fabs(rate / other - 1.0) < 1e-9), err, FULCRUM_ERR_NUMERIC,
            "yardsticks differ: %.17g and %.17g cycles per second", rate, other);
        return FULCRUM_OK;
    }
    bool is_sweep = speed_case->part == FULCRUM_SPEED_SWEEP;
    bool is_walk = speed_case->part == FULCRUM_SPEED_NEIGHBOURS;
    const struct fulcrum_timing_work work = {.run = is_sweep  ? run_sweep
                                                    : is_walk ? run_neighbours
                                                              : run_solve,
        .context = speed_case,
        .clock = is_sweep ? FULCRUM_TIMING_WALL : FULCRUM_TIMING_THREAD_CPU};
    return timing_measure(&work, &speed_case->timing, budget_s, stop, err);
}

struct case_list {
    struct fulcrum_speed_case *items;
    size_t count;
    double actors_most;
};

/* Adds the case with a network, unless that has too many actors. */
static void add_network(struct case_list *list, const struct fulcrum_network *network,
    const struct fulcrum_speed_case *speed_case)
{
    struct fulcrum_speed_case *out = &list->items[list->count];
    if (network->actors <= list->actors_most) {
        *out = *speed_case;
        out->law = fulcrum_step_law_name(network->step.law);
        out->actors = network->actors;
        out->threads = fulcrum_cpu_servers(&network->cpu);
        out->network = *network;
        list->count++;
    }
}

static void add_series(
    struct case_list *list, size_t series, enum fulcrum_speed_part part)
{
    const struct series *from = &all_series[series];
    const struct fulcrum_speed_case speed_case = {.part = part,
        .series = series,
        .name = from->name,
        .options = {.method = from->method, .seed = 1}};
    for (size_t i = 0; i < COUNT_OF(sizes) && sizes[i] <= from->actors_most; i++) {
        const struct fulcrum_network network = from->build(sizes[i]);
        add_network(list, &network, &speed_case);
    }
}

/*
 * Every case with at most `actors_most` actors, none timed yet.
 *   returns  never NULL; the caller frees it with free()
 *   sweeps   one for each enum fulcrum_speed_batches, borrowed as long as the cases are
 *            used
 */
static struct fulcrum_speed_case *speed_cases_new(
    size_t *count, double actors_most, struct fulcrum_speed_sweep *const *sweeps)
{
    static const char *const sweep_names[] = {"greedy, all threads",
        "greedy, one thread", "half batches, all threads", "half batches, one thread"};
    static const struct fulcrum_speed_case shape = {.part = FULCRUM_SPEED_SOLVE,
        .series = FULCRUM_SPEED_SERIES_COUNT,
        .name = "fast, other shapes",
        .options = {.method = FULCRUM_METHOD_FAST, .seed = 1}};
    const struct fulcrum_speed_case simulation = {.part = FULCRUM_SPEED_SIMULATION,
        .name = "simulated steps",
        .options = {.method = FULCRUM_METHOD_SIMULATE,
            .seed = 1,
            .half_width_rel = no_half_width_rel,
            .max_steps = timed_steps}};
    enum {
        MOST = (COUNT_OF(all_series) + WALKED_SERIES) * COUNT_OF(sizes) +
               COUNT_OF(more_shapes) +
               COUNT_OF(simulated_steps) * COUNT_OF(simulated_actors) +
               COUNT_OF(yardsticks) + COUNT_OF(sweep_names)
    };
    struct case_list list = {
        fulcrum_allocate(MOST, sizeof *list.items), 0, actors_most};
    for (size_t i = 0; i < COUNT_OF(yardsticks); i++) {
        list.items[list.count++] =
            (struct fulcrum_speed_case){.part = FULCRUM_SPEED_YARDSTICK,
                .series = i,
                .name = yardsticks[i].name,
                .law = fulcrum_step_law_name(FULCRUM_LAW_EXPONENTIAL),
                .actors = (double)YARDSTICK_CUSTOMERS,
                .threads = (double)NAN};
    }
    for (size_t i = 0; i < COUNT_OF(all_series); i++) {
        add_series(&list, i, FULCRUM_SPEED_SOLVE);
    }
    for (size_t i = 0; i < WALKED_SERIES; i++) {
        add_series(&list, i, FULCRUM_SPEED_NEIGHBOURS);
    }
    for (size_t i = 0; i < COUNT_OF(more_shapes); i++) {
        const struct fulcrum_network network =
            greedy(more_shapes[i].actors, more_shapes[i].threads, &lognormal);
        add_network(&list, &network, &shape);
    }
    size_t laws = COUNT_OF(simulated_steps);
    for (size_t i = 0; i < laws * COUNT_OF(simulated_actors); i++) {
        double actors = simulated_actors[i / laws];
        const struct fulcrum_network network =
            greedy(actors, actors / 2.0, &simulated_steps[i % laws]);
        add_network(&list, &network, &simulation);
    }
    for (size_t i = 0; i < COUNT_OF(sweep_names); i++) {
        list.items[list.count++] =
            (struct fulcrum_speed_case){.part = FULCRUM_SPEED_SWEEP,
                .name = sweep_names[i],
                .law = "",
                .actors = (double)NAN,
                .threads = (double)NAN,
                .sweep = sweeps[i / 2],
                .sweep_threads = i % 2};
    }
    *count = list.count;
    return list.items;
}

/* On what machine; for files. */
static enum fulcrum_status add_host(
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    struct fulcrum_calibration *holder = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_calibration_new(&holder, err));
    TRY_OR_END(fulcrum_provenance_add(holder, err));
    for (size_t i = 0; i < holder->note_count; i++) {
        char key[160];
        (void)snprintf(key, sizeof key, "host/%s", holder->notes[i].key);
        fulcrum_result_text(result, key, NULL, holder->notes[i].text);
    }
end:
    fulcrum_calibration_free(holder);
    return status;
}

/* Every case; files say on what machine. */
static enum fulcrum_status print(const struct fulcrum_speed *speed,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-bench-speed");
    fulcrum_result_text(result, "clock", "time",
        "on the wall for sweeps (r2d2-atari on dgx-1), CPU time of one thread for all "
        "else");
    fulcrum_result_flag(result, "interrupted",
        speed->is_interrupted ? "interrupted" : NULL, speed->is_interrupted);
    struct fulcrum_table *table = fulcrum_result_table(result, "timings", "");
    for (size_t i = 0; i < speed->case_count; i++) {
        if (speed->cases[i].timing.sample_count > 0) {
            const struct fulcrum_speed_case *speed_case = &speed->cases[i];
            static const char *const parts[] = {
                "solve", "simulation", "sweep", "yardstick", "neighbours"};
            const struct fulcrum_timing *timing = &speed_case->timing;
            fulcrum_table_row(table);
            fulcrum_table_text(table, "part", "part", parts[speed_case->part]);
            fulcrum_table_text(table, "name", "name", speed_case->name);
            fulcrum_table_text(table, "law", "law", speed_case->law);
            fulcrum_table_number(table, "actors", "actors", speed_case->actors);
            fulcrum_table_number(table, "threads", "threads", speed_case->threads);
            fulcrum_table_number(table, "median_s", "median", timing->median_s);
            fulcrum_table_number(
                table, "low_quartile_s", "lower quartile", timing->low_quartile_s);
            fulcrum_table_number(
                table, "high_quartile_s", "upper quartile", timing->high_quartile_s);
            fulcrum_table_number(table, "min_s", NULL, timing->min_s);
            fulcrum_table_number(table, "samples", NULL, (double)timing->sample_count);
            fulcrum_table_number(
                table, "runs_per_sample", NULL, (double)timing->inner_count);
            fulcrum_table_number(table, "units", NULL, timing->units);
            fulcrum_table_number(
                table, "units_per_s", "units", timing->units / timing->median_s);
        }
    }
    enum fulcrum_status status = add_host(result, err);
    if (status != FULCRUM_OK) {
        fulcrum_result_free(result);
        return status;
    }
    return fulcrum_context_show(context, result, err);
}

/*
 * Draws the time of one solution against the number of actors.
 *   fails    as fulcrum_chart_draw and fulcrum_plot_write
 */
static enum fulcrum_status speed_draw(const struct fulcrum_speed *speed,
    const struct fulcrum_speed_chart *chart, struct fulcrum_error *err)
{
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    const struct fulcrum_line_chart_data data = {
        .text = {.title = "Cost of a solution",
            .subtitle = "medians; CPU time of one thread",
            .footnote = "N actors on C threads; half batches: C = N / 4 with two "
                        "threads a core. Stars: a textbook network of three queues and "
                        "256 customers, by exact mean value analysis (MVA) and by "
                        "convolution."},
        .chart = &fulcrum_chart_cost,
        .result = result};
    struct fulcrum_canvas *canvas = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    /* Solutions are lines over the actors, yardsticks are points beside them. */
    struct fulcrum_table *costs = fulcrum_result_table(result, "costs", NULL);
    struct fulcrum_table *marks = fulcrum_result_table(result, "published", NULL);
    for (size_t i = 0; i < speed->case_count; i++) {
        const struct fulcrum_speed_case *speed_case = &speed->cases[i];
        size_t series = speed_case->series;
        const char *label =
            series < FULCRUM_SPEED_SERIES_COUNT ? all_series[series].label : NULL;
        if (speed_case->timing.sample_count == 0) {
            continue;
        }
        if (speed_case->part == FULCRUM_SPEED_SOLVE && label != NULL) {
            fulcrum_table_row(costs);
            fulcrum_table_text(costs, "method", NULL, label);
            fulcrum_table_number(costs, "actor_count", NULL, speed_case->actors);
            fulcrum_table_number(costs, "cost_s", NULL, speed_case->timing.median_s);
        } else if (speed_case->part == FULCRUM_SPEED_YARDSTICK) {
            fulcrum_table_row(marks);
            fulcrum_table_text(marks, "name", NULL, speed_case->name);
            fulcrum_table_number(marks, "panel", NULL, 0.0);
            fulcrum_table_number(marks, "x", NULL, speed_case->actors);
            fulcrum_table_number(marks, "value", NULL, speed_case->timing.median_s);
        }
    }
    TRY_OR_END(fulcrum_result_check(result, err));
    TRY_OR_END(fulcrum_canvas_new(&canvas, chart->width_pt, chart->height_pt, err));
    TRY_OR_END(fulcrum_chart_draw(&fulcrum_chart_cost, canvas, &data, err));
    status = fulcrum_plot_write(canvas, chart->path, 0.0, err);
end:
    fulcrum_canvas_free(canvas);
    fulcrum_result_free(result);
    return status;
}

struct settings {
    double budget_s;
    double actors_most;
    const char *chart;
    double width_pt;
    double height_pt;
};

struct job {
    const struct settings *settings;
    struct fulcrum_speed_sweep *sweeps[2]; /* by enum fulcrum_speed_batches */
    struct fulcrum_speed_case *cases;
    size_t case_count;
    const volatile sig_atomic_t *stop;
};

/* What one case leaves of its share goes to those after it. */
static enum fulcrum_status time_cases(
    struct job *job, const struct fulcrum_context *context, struct fulcrum_error *err)
{
    double until_s = fulcrum_wall_s() + job->settings->budget_s;
    enum fulcrum_status status = FULCRUM_OK;
    struct fulcrum_progress progress;
    fulcrum_progress_start(&progress, context);
    for (size_t i = 0; i < job->case_count && *job->stop == 0; i++) {
        double left = (double)(job->case_count - i);
        double share_s = fmax(0.0, until_s - fulcrum_wall_s()) / left;
        fulcrum_progress_update(
            &progress, 1.0 - left / (double)job->case_count, job->cases[i].name);
        status = speed_case_time(&job->cases[i], share_s, job->stop, err);
        if (status != FULCRUM_OK) {
            status = fulcrum_fail_in(err, status, job->cases[i].name);
            break;
        }
    }
    fulcrum_progress_end(&progress);
    return status;
}

/* A chart that cannot be written is told before the time is spent. */
static enum fulcrum_status check_chart(
    const char *path, struct fulcrum_context *context, struct fulcrum_error *err)
{
    if (path == NULL) {
        return FULCRUM_OK;
    }
    const char *end = strrchr(path, '.');
    bool is_picture = end != NULL && end > path &&
                      (strcmp(end, ".svg") == 0 || strcmp(end, ".pdf") == 0 ||
                          strcmp(end, ".png") == 0);
    FULCRUM_USAGE_IF(!is_picture, context, err, FULCRUM_ERR_RANGE,
        "--chart %s: expected a name ending in .svg, .pdf or .png", path);
    enum fulcrum_status status = fulcrum_output_check(path, err);
    return status == FULCRUM_OK ? status : fulcrum_fail_in(err, status, "--chart");
}

static enum fulcrum_status run_speed(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    struct job job = {.settings = settings, .stop = fulcrum_interrupt_watch()};
    enum fulcrum_status status = FULCRUM_OK;
    TRY(check_chart(settings->chart, context, err));
    for (int i = 0; i < 2; i++) {
        TRY_OR_END(speed_sweep_new(
            &job.sweeps[i], (enum fulcrum_speed_batches)i, context, err));
    }
    job.cases = speed_cases_new(&job.case_count, settings->actors_most, job.sweeps);
    TRY_OR_END(time_cases(&job, context, err));
    const struct fulcrum_speed speed = {job.cases, job.case_count, *job.stop != 0};
    const struct fulcrum_speed_chart chart = {
        settings->chart, settings->width_pt, settings->height_pt};
    if (speed.is_interrupted) {
        context->exit_code = FULCRUM_EXIT_INTERRUPTED;
    }
    TRY_OR_END(print(&speed, context, err));
    status = chart.path != NULL ? speed_draw(&speed, &chart, err) : FULCRUM_OK;
end:
    free(job.cases);
    speed_sweep_free(job.sweeps[0]);
    speed_sweep_free(job.sweeps[1]);
    return status;
}

static const struct fulcrum_option rows[] = {
    FULCRUM_OPTION(NUMBER, "budget", offsetof(struct settings, budget_s), "SECONDS",
        .unit = "s", .fallback = "20", .least = 0.0, .most = 86400.0,
        .help = "time for all measurements; each is taken once at least"),
    FULCRUM_OPTION(COUNT, "actors", offsetof(struct settings, actors_most), "N",
        .fallback = "4096", .least = 1.0, .most = 4096.0,
        .help = "leave out networks with more actors"),
    {.name = NULL},
};

static const struct fulcrum_option chart_rows[] = {
    FULCRUM_OPTION(FILE, "chart", offsetof(struct settings, chart), "FILE",
        .help = "also draw the time of one solution against the actors, as SVG, PDF or "
                "PNG by the file's ending"),
    FULCRUM_OPTION(NUMBER, "width", offsetof(struct settings, width_pt), "POINTS",
        .fallback = "640", .least = FULCRUM_CHART_LEAST_WIDTH_PT, .most = 4000.0,
        .help = "width of the chart, 72 points to the inch"),
    FULCRUM_OPTION(NUMBER, "height", offsetof(struct settings, height_pt), "POINTS",
        .fallback = "480", .least = FULCRUM_CHART_LEAST_HEIGHT_PT, .most = 4000.0,
        .help = "height of the chart"),
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Measurement", rows, 0},
    {"Chart", chart_rows, 0},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum-bench speed", "everything, in 20 seconds or a little more"},
    {"fulcrum-bench speed --budget 120 --chart cost.svg --format json -o speed.json",
        "the same with more samples, as a file and a chart"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_bench_command_speed = {
    .program = FULCRUM_BENCH_PROGRAM,
    .name = "speed",
    .summary = "time of solutions, simulated steps and sweeps, beside yardsticks",
    .description =
        "Times the methods on networks of 1 to 4096 actors, simulations over laws of "
        "step times, and a sweep over shipped presets that is computed but not "
        "written. In the same run it times two exact solutions of a textbook network: "
        "mean value analysis as in any book, and the convolution of this program.\n\n"
        "Samples of a millisecond at least are repeated until the median is known to 2 "
        "%, or the time is over; quartiles and the smallest show the spread. Units are "
        "solutions, simulated steps or points of the sweep. Ctrl-C ends the "
        "measurement and prints what is there. docs/benchmark.md tells how to read the "
        "numbers.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .format = FULCRUM_FORMAT_TABLE,
    .run = run_speed,
};

const struct fulcrum_command *const *fulcrum_bench_commands(void)
{
    static const struct fulcrum_command *const commands[] = {
        &fulcrum_bench_command_speed, &fulcrum_bench_command_accuracy, NULL};
    return commands;
}
