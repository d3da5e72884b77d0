/* probe_threads.c - throughput of 1, 2, ... actor threads, and the curve through it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * On a shared machine speed drifts by more than some of the effects that are looked
 * for. So windows of many threads alternate with windows of one (1, n, 1, m, 1, ...),
 * and what counts is the ratio to the mean of the two neighbours: whatever slows the
 * whole machine down cancels. Windows in which other programs took CPU time are marked
 * and, for the ratio, credited with the time they lost.
 *
 * Environments in processes of their own are asked step by step in a run: a lone one
 * pauses between its steps, and the more of them share a core, the colder its caches
 * and the predictor of its branches are to each. Threads that are let loose do not show
 * that: the scheduler lets a thread and its process go on together for as long as it
 * may; and in strict turns each would find less of its own than in a run. So 1, 2, 4,
 * ... actors of one core are served as in a run, each as soon as it asks, and what
 * counts is the CPU time of their steps.
 *
 * The ratios are c(n) itself. A curve is fitted to them (fit_cpu_curve.c); where none
 * fits, the table stands alone.
 */
#include "calibrate/probe/probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/actor/actor_threads.h"
#include "calibrate/actor/request_queue.h"
#include "calibrate/fit/fit_forms.h"
#include "calibrate/host.h"
#include "model/try.h"

#define WINDOW_MIN_S 0.02
#define WINDOW_MAX_S 0.25

/* Calls are of several kinds: what is cut off at both ends must be few of them. */
#define WINDOW_DECKS 10.0

/* Threads that got less than this of the CPU time there is were held up... */
#define CPU_SHARE_MIN 0.95

/* ...by others, if these used more than this of the machine; else by each other. */
#define OTHERS_FRAC 0.03

/* Below this nothing can be said of a window. */
#define CPU_SHARE_FLOOR 0.05

enum {
    THROUGHPUT, /* of each window */
    /* A rate over that of one thread just before and after; where others took CPU time,
     * each at the time it should have had. */
    CAPACITY,
    CPU_SHARE, /* CPU time had over what the cores can give */
    HANDED,    /* CPU time of a lone actor's step */
};

/* Of each number of actors on a core: a process that has waited long finds nothing of
 * its own in the caches. */
#define CROWD_WARM_UP_S 0.1
#define CROWD_WINDOW_S  0.2

/* Actors on a core, at most, and entries of the capacity table. */
enum { CROWD_MOST = 64, CAPACITY_MOST = 1024 };

struct own {
    struct fulcrum_actor_threads *actor_threads;
    double count[FULCRUM_THREAD_COUNTS_MAX];
    size_t count_count;
    /* Actors of one core; NULL: environments step in the threads themselves. */
    struct fulcrum_handoff *crowd;
};

static void threads_close(struct fulcrum_probe_state *state)
{
    struct own *own = state->own;
    fulcrum_actor_threads_free(own->actor_threads);
    fulcrum_handoff_free(own->crowd);
}

/* Counts of actors that crowd the processors, and those of one of them. */
static enum fulcrum_status open_crowd(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    struct own *own = state->own;
    double threads = bench->machine.cpu.thread_count;
    double most_count = bench->is_limited ? (double)bench->max_threads : CAPACITY_MOST;
    size_t most = 1;
    while (own->count_count > 1 && own->count[own->count_count - 1] > threads) {
        own->count_count--;
    }
    for (size_t each = 2; each <= CROWD_MOST; each *= 2) {
        double count = (double)each * threads;
        if (count <= most_count && own->count_count < FULCRUM_THREAD_COUNTS_MAX) {
            own->count[own->count_count++] = count;
            most = each;
        }
    }
    const struct fulcrum_handoff_plan plan = {.actor_count = most,
        .item_count = 1,
        .item_byte = fulcrum_observation_byte(&bench->stage.info),
        .stage = &bench->stage,
        .shares_processor = true};
    return fulcrum_handoff_new(&own->crowd, &plan, err);
}

static enum fulcrum_status threads_open(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    struct own *own = state->own;
    size_t count[FULCRUM_THREAD_COUNTS_MAX];
    own->count_count =
        fulcrum_thread_counts(count, (size_t)bench->machine.cpu.core_count,
            (size_t)bench->machine.cpu.thread_count, bench->max_threads);
    for (size_t i = 0; i < own->count_count; i++) {
        own->count[i] = (double)count[i];
    }
    if (bench->stage.actor->step_many != NULL && bench->learner != NULL) {
        TRY(open_crowd(state, err));
    }
    size_t most = own->crowd != NULL ? (size_t)bench->machine.cpu.thread_count
                                     : count[own->count_count - 1];
    return fulcrum_actor_threads_new(
        &own->actor_threads, &bench->stage, most, bench->step_s, err);
}

/* A batch of all that ask, as a greedy server has it. */
static enum fulcrum_status serve_batch(const struct fulcrum_bench *bench,
    struct fulcrum_handoff *crowd, struct fulcrum_error *err)
{
    size_t taken = fulcrum_handoff_collect(crowd, 1);
    double batch_s = 0.0;
    TRY(fulcrum_handoff_copy(crowd, err));
    const struct fulcrum_learner_work work = {bench->state, taken, 1};
    TRY(fulcrum_bench_time(bench, &work, &batch_s, err));
    fulcrum_handoff_reply(crowd);
    return FULCRUM_OK;
}

/* Lets `count` actors go on, and leaves all waiting. */
static enum fulcrum_status serve(struct fulcrum_probe_state *state, size_t count,
    double window_s, struct fulcrum_error *err)
{
    struct fulcrum_handoff *crowd = ((const struct own *)state->own)->crowd;
    double until_s = fulcrum_wall_s() + window_s;
    fulcrum_handoff_answer(crowd, count, 1);
    while (fulcrum_wall_s() < until_s) {
        TRY(serve_batch(state->bench, crowd, err));
    }
    (void)fulcrum_handoff_collect(crowd, count);
    return fulcrum_handoff_copy(crowd, err);
}

/* CPU time of a step of `count` actors. */
static enum fulcrum_status time_crowd(struct fulcrum_probe_state *state, size_t count,
    double *step_s, struct fulcrum_error *err)
{
    struct fulcrum_handoff *crowd = ((const struct own *)state->own)->crowd;
    TRY(serve(state, count, CROWD_WARM_UP_S, err));
    struct fulcrum_handoff_steps before = fulcrum_handoff_steps(crowd);
    TRY(serve(state, count, CROWD_WINDOW_S, err));
    struct fulcrum_handoff_steps after = fulcrum_handoff_steps(crowd);
    *step_s = (after.cpu_s - before.cpu_s) / (after.count - before.count);
    return FULCRUM_OK;
}

/* What all processors do where each is shared by so many actors, over one alone; no
 * more than that one where `count` is 0. */
static enum fulcrum_status sample_crowd(
    struct fulcrum_probe_state *state, double count, struct fulcrum_error *err)
{
    struct fulcrum_handoff *crowd = ((const struct own *)state->own)->crowd;
    double threads = state->bench->machine.cpu.thread_count;
    struct fulcrum_sample handed = {.x = 0.0};
    double step_s = 0.0;
    TRY(fulcrum_sample_begin(state, HANDED, err));
    fulcrum_handoff_serve(crowd, true);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(time_crowd(state, 1, &handed.value, err));
    if (count > 0.0) {
        TRY_OR_END(time_crowd(state, (size_t)(count / threads), &step_s, err));
    }
end:
    fulcrum_handoff_serve(crowd, false);
    TRY(status);
    TRY(fulcrum_sample_keep(state, HANDED, FULCRUM_CLOCK_CPU, &handed, err));
    if (count > 0.0) {
        handed.x = count;
        handed.value *= threads / step_s;
        status = fulcrum_recording_add(&state->recording[CAPACITY], &handed, err);
    }
    return status;
}

static enum fulcrum_status sample_window(struct fulcrum_probe_state *state,
    double count, double window_s, struct fulcrum_sample *out,
    struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    const struct own *own = state->own;
    struct fulcrum_actor_threads_reading reading = {0.0, 0.0, 0.0};
    TRY(fulcrum_sample_begin(state, THROUGHPUT, err));
    struct fulcrum_host_idle begin = fulcrum_host_idle("");
    TRY(fulcrum_actor_threads_window(
        own->actor_threads, (size_t)count, window_s, &reading, err));
    struct fulcrum_host_idle end = fulcrum_host_idle("");
    double busy_s = fulcrum_host_busy_s(&begin, &end);
    double share =
        reading.cpu_s / (reading.wall_s * fmin(count, bench->machine.cpu.thread_count));
    /* Others may have taken CPU time that the threads could have used. */
    double threads = state->bench->machine.cpu.thread_count;
    double others_s = bench->stage.actor->is_tools ? fulcrum_host_others_s(&begin, &end)
                                                   : busy_s - reading.cpu_s;
    bool has_others =
        isnan(busy_s) || others_s > OTHERS_FRAC * threads * reading.wall_s;
    *out = (struct fulcrum_sample){.x = count,
        .value = reading.step_count / reading.wall_s,
        .marked = share < CPU_SHARE_MIN && has_others};
    TRY(fulcrum_sample_keep(state, THROUGHPUT, FULCRUM_CLOCK_WALL, out, err));
    struct fulcrum_sample cpu_share = *out;
    cpu_share.value = share;
    TRY(fulcrum_recording_add(&state->recording[CPU_SHARE], &cpu_share, err));
    /* For the ratio: what the threads would have done in the time others took. */
    out->value /= out->marked ? fmax(share, CPU_SHARE_FLOOR) : 1.0;
    return FULCRUM_OK;
}

/* One thread, many, one, many, one: at least once every count on the first visit. */
static enum fulcrum_status threads_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    const struct own *own = state->own;
    double slice_s = until_s - fulcrum_wall_s();
    double window_s = slice_s / (2.0 * (double)own->count_count);
    window_s = fmin(fmax(window_s, WINDOW_MIN_S), WINDOW_MAX_S);
    if (state->bench->stage.actor->is_tools) {
        window_s = WINDOW_DECKS * FULCRUM_CALL_DECK * state->bench->step_s;
    }
    bool is_first = state->recording[THROUGHPUT].count == 0;
    struct fulcrum_sample one[2];
    struct fulcrum_sample many;
    TRY(sample_window(state, 1.0, window_s, &one[0], err));
    size_t done = 1;
    while (fulcrum_bench_goes_on(state->bench, until_s - window_s) ||
           (is_first && done < own->count_count &&
               fulcrum_bench_goes_on(state->bench, HUGE_VAL))) {
        /* The counts above one with the fewest good samples come first. */
        double count = own->count_count > 1
                           ? fulcrum_recording_neediest(&state->recording[CAPACITY],
                                 own->count + 1, own->count_count - 1)
                           : 1.0;
        done++;
        if (own->crowd != NULL && count > state->bench->machine.cpu.thread_count) {
            TRY(sample_crowd(state, count, err));
            continue;
        }
        TRY(sample_window(state, count, window_s, &many, err));
        TRY(sample_window(state, 1.0, window_s, &one[1], err));
        /* The ratio to one thread: what slows the whole machine down cancels. */
        double alone_per_s = 0.5 * (one[0].value + one[1].value);
        if (many.x > 1.0 && alone_per_s > 0.0) {
            const struct fulcrum_sample ratio = {
                .x = many.x,
                .value = many.value / alone_per_s,
                .canary_s = fmax(many.canary_s, fmax(one[0].canary_s, one[1].canary_s)),
                .marked = many.marked || one[0].marked || one[1].marked,
            };
            TRY(fulcrum_recording_add(&state->recording[CAPACITY], &ratio, err));
        }
        one[0] = one[1];
    }
    return own->crowd != NULL && state->recording[HANDED].count == 0
               ? sample_crowd(state, 0.0, err)
               : FULCRUM_OK;
}

/* Steps per second at each count: the median ratio times the median of one thread. */
struct curve_points {
    double x[FULCRUM_THREAD_COUNTS_MAX];
    double y[FULCRUM_THREAD_COUNTS_MAX];
    size_t count;
    double alone_per_s;
};

/* Share of a lone call's time in which it uses no core. */
static double find_wait(const struct fulcrum_calibration *calibration)
{
    const struct fulcrum_parameter *step_s =
        fulcrum_calibration_parameter(calibration, "workload.step.mean_s");
    const struct fulcrum_parameter *wait_s =
        fulcrum_calibration_parameter(calibration, "workload.host.delay_s");
    return step_s != NULL && wait_s != NULL
               ? wait_s->value / (wait_s->value + step_s->value)
               : 0.0;
}

static struct curve_points find_points(
    struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    const struct own *own = state->own;
    struct curve_points points = {.count = 0};
    struct fulcrum_summary summary =
        fulcrum_findings_median(findings, &state->recording[THROUGHPUT], 1.0);
    if (summary.used == 0) {
        return points;
    }
    double threads = state->bench->machine.cpu.thread_count;
    double at_threads = threads;
    double wait =
        state->bench->stage.actor->is_tools ? find_wait(findings->calibration) : 0.0;
    points = (struct curve_points){
        {1.0}, {summary.typical}, .count = 1, .alone_per_s = summary.typical};
    fulcrum_findings_summary(findings, "throughput_1_per_s", "steps/s", &summary);
    for (size_t i = 1; i < own->count_count; i++) {
        summary = fulcrum_findings_median(
            findings, &state->recording[CAPACITY], own->count[i]);
        if (summary.used > 0) {
            char name[64];
            (void)snprintf(name, sizeof name, "capacity_%.0f", own->count[i]);
            fulcrum_findings_summary(findings, name, "", &summary);
            /* As many as are not waiting do the work; a lone one does less than one. */
            points.x[points.count] = own->count[i] - wait * summary.typical;
            points.y[points.count++] =
                (1.0 - wait) * summary.typical * points.alone_per_s;
            /* What crowds cost is over cores that do not disturb each other. */
            if (own->crowd != NULL && own->count[i] > threads) {
                points.y[points.count - 1] *= at_threads / threads;
            } else {
                at_threads = summary.typical;
            }
        }
    }
    return points;
}

/* Which member of the fit goes to which field. */
struct curve_field {
    const char *estimate;
    const char *path;
    enum fulcrum_scale scale;
};

static const struct curve_field curve_fields[] = {
    {"smt_yield_frac", "machine.cpu.smt_yield_frac", FULCRUM_SCALE_LOGIT},
    {"serial_frac", "machine.cpu.serial_frac", FULCRUM_SCALE_LOG},
    {"knee", "machine.cpu.knee", FULCRUM_SCALE_LOG},
    {"cross_socket_frac", "machine.cpu.cross_socket_frac", FULCRUM_SCALE_LOGIT},
};

static void report_curve_field(const struct curve_field *field,
    const struct fulcrum_cpu_curve_fit *fit, struct fulcrum_findings *findings)
{
    const struct fulcrum_fit_estimate *estimate =
        fulcrum_fit_find(&fit->fit, field->estimate);
    /* What this machine cannot show is no finding: another one may know better. */
    if (estimate == NULL || (estimate->marks & FULCRUM_FIT_FIXED) != 0) {
        return;
    }
    fulcrum_findings_parameter(findings, field->path,
        &(struct fulcrum_parameter){.value = estimate->value,
            .standard_error = estimate->standard_error,
            .scale = field->scale,
            .origin = FULCRUM_ORIGIN_FITTED},
        "fit of the saturating curve to throughput over threads; %.0f %% of it is the "
        "prior",
        100.0 * estimate->prior_share);
}

/* No form through these points: the table alone stands. */
static enum fulcrum_status fit_curve(const struct fulcrum_cpu *cpu,
    const struct curve_points *points, struct fulcrum_findings *findings)
{
    struct fulcrum_calibration *calibration = findings->calibration;
    struct fulcrum_cpu_curve_host host = {
        .core_count = cpu->core_count,
        .thread_count = cpu->thread_count,
        .socket_count = cpu->socket_count,
        .coupling = FULCRUM_ACTORS_ASYNC,
        .binding = FULCRUM_ACTORS_UNPINNED,
    };
    struct fulcrum_samples samples = {
        "throughput over threads", points->x, points->y, points->count};
    struct fulcrum_cpu_curve_fit fit;
    struct fulcrum_error why = {FULCRUM_OK, ""};
    enum fulcrum_status status = fulcrum_fit_cpu_curve(&fit, &samples, &host, &why);
    if (status == FULCRUM_OK) {
        struct fulcrum_cpu *found = &findings->calibration->machine.cpu;
        found->curve = fit.advice == FULCRUM_ADVISE_TABLE ? FULCRUM_CURVE_TABLE
                                                          : FULCRUM_CURVE_SATURATING;
        found->smt_yield_frac = fit.station.smt_yield_frac;
        found->serial_frac = fit.station.serial_frac;
        found->knee = fit.station.knee;
        found->cap_per_core = fit.station.cap_per_core;
        found->cross_socket_frac = fit.station.cross_socket_frac;
        for (size_t i = 0; i < sizeof curve_fields / sizeof curve_fields[0]; i++) {
            report_curve_field(&curve_fields[i], &fit, findings);
        }
        fulcrum_findings_fit(findings, "cpu_curve",
            "saturating curve (20)-(21), asynchronous", &fit.fit);
        fulcrum_findings_note(findings, "cpu_curve", "%s: %s",
            fit.advice == FULCRUM_ADVISE_TABLE ? "table" : "saturating curve",
            fit.reason);
    } else if (status == FULCRUM_ERR_NO_FIT || status == FULCRUM_ERR_RANGE) {
        calibration->machine.cpu.curve = FULCRUM_CURVE_TABLE;
        fulcrum_findings_note(findings, "cpu_curve", "table: %s", why.detail);
    } else {
        return fulcrum_fail(findings->err, status, "%s", why.detail);
    }
    TRY(findings->status);
    size_t count = (size_t)points->x[points->count - 1];
    double *capacity = calloc(count, sizeof *capacity);
    TRY_MEMORY(capacity, findings->err, "capacity table");
    status = fulcrum_cpu_curve_tabulate(
        capacity, count, &samples, 1.0 / points->alone_per_s, findings->err);
    if (status == FULCRUM_OK) {
        status = fulcrum_calibration_set_capacity(
            calibration, capacity, count, findings->err);
    }
    free(capacity);
    return status;
}

/* What a step costs in a real run, of an environment in another process. */
static void report_handed(
    const struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    struct fulcrum_summary handed =
        fulcrum_findings_median(findings, &state->recording[HANDED], 0.0);
    const struct fulcrum_parameter *mean_s =
        fulcrum_calibration_parameter(findings->calibration, "workload.step.mean_s");
    if (handed.used == 0 || mean_s == NULL) {
        return;
    }
    fulcrum_findings_summary(findings, "actor_step_handed_over_s", "s", &handed);
    double in_runs_s = mean_s->value;
    double served_s = fmax(handed.typical, in_runs_s);
    double run_sd = handed.run_sd >= 0.0 ? handed.run_sd : 0.0;
    fulcrum_findings_parameter(findings, "workload.step.mean_s",
        &(struct fulcrum_parameter){.value = served_s,
            .standard_error = hypot(handed.standard_error, run_sd),
            .scale = FULCRUM_SCALE_LOG},
        "CPU time of a step in a process of its own that a lone actor asks for once a "
        "server has answered; in runs that are handed over as a whole: %.3g s",
        in_runs_s);
    const struct fulcrum_parameter *cv =
        fulcrum_calibration_parameter(findings->calibration, "workload.step.cv");
    if (cv != NULL) {
        struct fulcrum_parameter less = *cv;
        less.value *= in_runs_s / served_s;
        less.standard_error *= in_runs_s / served_s;
        fulcrum_findings_parameter(findings, "workload.step.cv", &less,
            "single steps and resets, CPU time, over one that is asked for");
    }
}

static void threads_report(
    struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    const struct fulcrum_cpu *cpu = &state->bench->machine.cpu;
    struct curve_points points = find_points(state, findings);
    if (points.count == 0 || findings->status != FULCRUM_OK) {
        return;
    }
    findings->status = fit_curve(cpu, &points, findings);
    report_handed(state, findings);
    /* How much a core's second thread adds, straight from the two counts. */
    double at_cores = 0.0;
    double at_threads = 0.0;
    for (size_t i = 0; i < points.count; i++) {
        at_cores = points.x[i] <= cpu->core_count ? points.y[i] : at_cores;
        at_threads = points.x[i] <= cpu->thread_count ? points.y[i] : at_threads;
    }
    if (cpu->thread_count > cpu->core_count && at_cores > 0.0) {
        fulcrum_findings_value(findings, "smt_yield_measured_frac", "",
            (at_threads / at_cores - 1.0) * cpu->core_count /
                (cpu->thread_count - cpu->core_count));
    }
}

const struct fulcrum_probe fulcrum_probe_threads = {
    .what = "throughput of actor threads",
    .share = 0.26,
    .headers = {[THROUGHPUT] = {"throughput", "steps/s", "threads", "alone", false,
                    false, 0},
        [CAPACITY] = {"capacity", NULL, "threads", "alone", false, false, 0},
        [CPU_SHARE] = {"throughput_cpu_share", NULL, "threads", "alone", false, false,
            0},
        [HANDED] = {"actor_step_handed_over", "s", NULL, "served", false, false, 0,
            true}},
    .own_byte = sizeof(struct own),
    .is_of_tools = true,
    .open = threads_open,
    .close = threads_close,
    .visit = threads_visit,
    .report = threads_report,
};
