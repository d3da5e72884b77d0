/* probe_handoff.c - what passing requests between threads costs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a central server spends on taking requests, copying observations together and
 * waking actors cannot be read off a function call: most of it is the kernel waking a
 * core that fell idle, and what follows on such a core is slower for a while. So actor
 * threads step real environments and pass requests through the request queue of the
 * real pipeline (request_queue.c), and the server infers real batches, in lockstep. The
 * server's CPU time per batch, over the number of actors, is a line; requests of four
 * observations tell the part that is copying. What an actor's turn costs its thread
 * beyond its step is its own part.
 *
 * What waking costs depends on how long the server has waited: at first its core only
 * polls; later it is halted, and on a virtual machine the host has to resume it. So a
 * lone actor that stays awake also asks after gaps of 1 to 64 us: what its thread pays
 * beyond asking a server that is awake, and how long the server then takes. What a turn
 * takes beyond all of these is the delay.
 *
 * Environments in processes of their own would take too long to start, and long steps
 * and batches too long altogether: spinning stands in for them. All this is a lower
 * bound for servers that speak over sockets.
 */
#include "calibrate/probe/probe.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "calibrate/actor/request_queue.h"
#include "calibrate/fit/fit_forms.h"
#include "calibrate/statistics.h"
#include "model/try.h"

static const double sizes[] = {1, 2, 4, 8, 16};

#define SIZE_COUNT (sizeof sizes / sizeof sizes[0])

/* That the server has waited for; 0: it is awake. */
static const double gaps_s[] = {0.0, 1e-6, 2e-6, 4e-6, 8e-6, 16e-6, 32e-6, 64e-6};

#define GAP_COUNT (sizeof gaps_s / sizeof gaps_s[0])

/* What keeps it awake until the actor has asked. */
#define AWAKE_S 20e-6

/* Half width of a 95 % interval of a normal law, in standard deviations. */
#define NORMAL_95 1.96

/* Times that differ by less are of one kind. */
#define LEAST_POLL_GAIN 1.25

/* Requests of so many observations, beside those of one; enough actors to tell. */
#define ITEMS       4.0
#define ITEM_ACTORS 16.0

/* Batches in a sample, after those that are not counted. */
#define SAMPLE_S      0.04
#define LEAST_COUNT   8
#define MOST_COUNT    60
#define WARM_UP_COUNT 3

/* Batches of the sample's size, one after the other, beside those between hand-offs. */
#define WARM_UP_S 0.006

/*
 * In place of steps and batches that are too long to wait for, and beside which
 * hand-offs are nothing: long enough for the other side's core to fall idle.
 */
#define LONG_STEP_S   1e-3
#define LONG_BATCH_S  20e-3
#define ACTOR_SPIN_S  60e-6
#define SERVER_SPIN_S 200e-6

enum {
    SERVER, /* CPU of the server per batch, its sleep and the batch apart */
    MANY,   /* the same, requests of several observations */
    ASK,    /* CPU of an actor's turn beyond its step */
    STEP,   /* CPU of that step */
    IDLE,   /* share of the turn in which the actors' threads are idle */
    SLEEP,  /* wall time of a lone actor's turn beyond all of these */
    WAKE,   /* from the request of an actor that stays awake until the server has it */
    WAKER,  /* CPU of handing that in */
};

struct own {
    struct fulcrum_handoff *handoff;
    double step_s; /* that an actor spins for; 0: steps are real */
};

/* Of the turns of one sample. Times are of the wall clock unless said. */
struct laps {
    double actors;
    double items;
    size_t count;
    bool spins;                      /* in place of batches */
    bool is_awake;                   /* the server, until it is asked */
    double server_s[MOST_COUNT + 1]; /* CPU time */
    double batch_s[MOST_COUNT + 1];  /* the learner's clock */
    double wake_s[MOST_COUNT + 1];   /* from the request until the server has it */
    double waker_s[MOST_COUNT + 1];  /* CPU time */
    double whole_s[MOST_COUNT + 1];
    double actor_s[MOST_COUNT + 1]; /* CPU time of the actors, each */
    double step_s[MOST_COUNT + 1];  /* CPU time */
};

static void handoff_close(struct fulcrum_probe_state *state)
{
    fulcrum_handoff_free(((struct own *)state->own)->handoff);
}

static enum fulcrum_status handoff_open(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    const struct fulcrum_stage *stage = &state->bench->stage;
    struct own *own = state->own;
    bool spins = stage->actor->step_many != NULL || state->bench->step_s > LONG_STEP_S;
    own->step_s = spins ? ACTOR_SPIN_S : 0.0;
    const struct fulcrum_handoff_plan plan = {.actor_count = (size_t)ITEM_ACTORS,
        .item_count = (size_t)ITEMS,
        .item_byte = fulcrum_observation_byte(&stage->info),
        .stage = own->step_s > 0.0 ? NULL : stage,
        .think_s = own->step_s};
    return fulcrum_handoff_new(&own->handoff, &plan, err);
}

static enum fulcrum_status infer(const struct fulcrum_bench *bench,
    const struct laps *laps, size_t repeats, double *out, struct fulcrum_error *err)
{
    const struct fulcrum_learner_work work = {
        bench->state, (size_t)(laps->actors * laps->items), repeats};
    return fulcrum_bench_time(bench, &work, out, err);
}

/*
 * Number `i`, from one answer to the next. An actor tells of its turn when it has the
 * answer that ends it: after the next collect.
 */
static enum fulcrum_status run_lap(const struct fulcrum_probe_state *state,
    struct laps *laps, size_t i, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    struct fulcrum_handoff *handoff = ((const struct own *)state->own)->handoff;
    double answered_s = fulcrum_wall_s();
    (void)fulcrum_handoff_collect(handoff, (size_t)laps->actors);
    double begin_s = fulcrum_thread_cpu_s();
    TRY(fulcrum_handoff_copy(handoff, err));
    double copied_s = fulcrum_thread_cpu_s();
    struct fulcrum_handoff_turn turn = fulcrum_handoff_turn(handoff);
    laps->batch_s[i] = SERVER_SPIN_S;
    if (laps->spins) {
        fulcrum_spin_s(SERVER_SPIN_S);
    } else {
        TRY(infer(bench, laps, 1, &laps->batch_s[i], err));
    }
    double served_s = fulcrum_thread_cpu_s();
    fulcrum_handoff_answer(handoff, (size_t)laps->actors, (size_t)laps->items);
    double clock_s = bench->stopwatch.cpu_cost_s;
    laps->server_s[i] = fmax(
        copied_s - begin_s + fulcrum_thread_cpu_s() - served_s - 2.0 * clock_s, 0.0);
    laps->whole_s[i] = fulcrum_wall_s() - answered_s - 6.0 * clock_s;
    if (i > 0) {
        laps->actor_s[i - 1] = turn.cpu_s;
        laps->step_s[i - 1] = turn.step_s;
    }
    return FULCRUM_OK;
}

/* One of those whose actor stays awake. */
static void run_gap(struct fulcrum_handoff *handoff, struct laps *laps, size_t i)
{
    fulcrum_handoff_answer(handoff, 1, 1);
    if (laps->is_awake) {
        fulcrum_spin_s(AWAKE_S);
    }
    (void)fulcrum_handoff_collect(handoff, 1);
    laps->wake_s[i] = fulcrum_wall_s();
    struct fulcrum_handoff_turn turn = fulcrum_handoff_turn(handoff);
    if (i > 0) {
        laps->wake_s[i - 1] -= turn.asked_s;
        laps->waker_s[i - 1] = turn.ask_s;
    }
}

/* Leaves the actor asleep, as it was. */
static enum fulcrum_status sample_gap(
    struct fulcrum_probe_state *state, double gap_s, struct fulcrum_error *err)
{
    struct fulcrum_handoff *handoff = ((const struct own *)state->own)->handoff;
    struct fulcrum_recording *recording = state->recording;
    struct laps laps = {.is_awake = !(gap_s > 0.0), .count = MOST_COUNT};
    struct fulcrum_sample sample = {.x = gap_s};
    TRY(fulcrum_sample_begin(state, WAKE, err));
    fulcrum_handoff_serve(handoff, true);
    fulcrum_handoff_stay_awake(handoff, gap_s);
    for (int i = 0; i < WARM_UP_COUNT; i++) {
        run_gap(handoff, &laps, 0);
    }
    for (size_t i = 0; i <= laps.count; i++) {
        run_gap(handoff, &laps, i);
    }
    fulcrum_handoff_stay_awake(handoff, -1.0);
    fulcrum_handoff_answer(handoff, 1, 1);
    (void)fulcrum_handoff_collect(handoff, 1);
    fulcrum_handoff_serve(handoff, false);
    TRY(fulcrum_sample_end(state, WAKE, FULCRUM_CLOCK_WALL, &sample, err));
    /* Who asks may lose its core before it looks at the clock. */
    sample.value = fmax(0.0, fulcrum_statistics_median(laps.wake_s, laps.count));
    TRY(fulcrum_recording_add(&recording[WAKE], &sample, err));
    sample.value = fulcrum_statistics_median(laps.waker_s, laps.count);
    return fulcrum_recording_add(&recording[WAKER], &sample, err);
}

/* Leaves all actors waiting. `warm_s`: a batch after another. */
static enum fulcrum_status run_laps(const struct fulcrum_probe_state *state,
    struct laps *laps, double *warm_s, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    const struct own *own = state->own;
    TRY(infer(bench, laps, 1, warm_s, err));
    laps->spins = *warm_s > LONG_BATCH_S;
    for (int i = 0; i < 2 && !laps->spins; i++) {
        double repeats = fmin(fmax(WARM_UP_S / fmax(*warm_s, 1e-9), 1.0), 1e4);
        TRY(infer(bench, laps, (size_t)repeats, warm_s, err));
    }
    *warm_s = laps->spins ? SERVER_SPIN_S : *warm_s;
    double step_s = own->step_s > 0.0 ? own->step_s : bench->step_s;
    double lap_s = laps->actors * laps->items * step_s + *warm_s;
    laps->count =
        (size_t)fmin(fmax(SAMPLE_S / lap_s, (double)LEAST_COUNT), (double)MOST_COUNT);
    fulcrum_handoff_answer(own->handoff, (size_t)laps->actors, (size_t)laps->items);
    for (int i = 0; i < WARM_UP_COUNT; i++) {
        TRY(run_lap(state, laps, 0, err));
    }
    for (size_t i = 0; i <= laps->count; i++) {
        TRY(run_lap(state, laps, i, err));
    }
    (void)fulcrum_handoff_collect(own->handoff, (size_t)laps->actors);
    return FULCRUM_OK;
}

static enum fulcrum_status sample_exchange(struct fulcrum_probe_state *state,
    double actors, double items, struct fulcrum_error *err)
{
    const struct own *own = state->own;
    struct fulcrum_recording *recording = state->recording;
    struct laps laps = {.actors = actors, .items = items};
    struct fulcrum_sample sample = {.x = actors};
    double warm_s = 0.0;
    TRY(fulcrum_sample_begin(state, SERVER, err));
    fulcrum_handoff_serve(own->handoff, true);
    enum fulcrum_status status = run_laps(state, &laps, &warm_s, err);
    fulcrum_handoff_serve(own->handoff, false);
    TRY(status);
    double rest_s[MOST_COUNT];
    for (size_t i = 0; i < laps.count; i++) {
        rest_s[i] = laps.whole_s[i] - laps.server_s[i] - laps.batch_s[i] -
                    laps.actor_s[i] - laps.step_s[i];
    }
    TRY(fulcrum_sample_end(state, SERVER, FULCRUM_CLOCK_WALL, &sample, err));
    sample.value = fulcrum_statistics_median(laps.server_s, laps.count);
    if (items > 1.0) {
        return fulcrum_recording_add(&recording[MANY], &sample, err);
    }
    TRY(fulcrum_recording_add(&recording[SERVER], &sample, err));
    sample.value = fulcrum_statistics_median(laps.actor_s, laps.count);
    TRY(fulcrum_recording_add(&recording[ASK], &sample, err));
    /* A mean: some steps end an episode. */
    sample.value = gsl_stats_mean(laps.step_s, 1, laps.count);
    TRY(fulcrum_recording_add(&recording[STEP], &sample, err));
    double whole_s = gsl_stats_mean(laps.whole_s, 1, laps.count);
    double busy_s =
        actors * (sample.value + gsl_stats_mean(laps.actor_s, 1, laps.count));
    double threads = (double)fulcrum_handoff_thread_count(own->handoff);
    sample.value = 1.0 - fmin(1.0, busy_s / (fmin(actors, threads) * whole_s));
    TRY(fulcrum_recording_add(&recording[IDLE], &sample, err));
    if (actors > 1.5) {
        return FULCRUM_OK;
    }
    sample.x = 0.0;
    /* Batches after a pause are slower: that comes with the delay. */
    sample.value =
        fmax(fulcrum_statistics_median(rest_s, laps.count) +
                 fulcrum_statistics_median(laps.batch_s, laps.count) - warm_s,
            0.0);
    return fulcrum_recording_add(&recording[SLEEP], &sample, err);
}

/* One of several observations after each round of the sizes, a gap after each of them.
 */
static enum fulcrum_status handoff_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    const struct fulcrum_recording *server = &state->recording[SERVER];
    const struct fulcrum_recording *many = &state->recording[MANY];
    struct fulcrum_handoff *handoff = ((const struct own *)state->own)->handoff;
    bool is_first = server->count == 0;
    do {
        bool has_many = (many->count + 1) * SIZE_COUNT <= server->count;
        double actors = has_many
                            ? ITEM_ACTORS
                            : fulcrum_recording_neediest(server, sizes, SIZE_COUNT);
        TRY(sample_exchange(state, actors, has_many ? ITEMS : 1.0, err));
        for (int i = 0; i < 2 && fulcrum_handoff_is_apart(handoff); i++) {
            TRY(sample_gap(state,
                fulcrum_recording_neediest(&state->recording[WAKE], gaps_s, GAP_COUNT),
                err));
        }
    } while (fulcrum_bench_goes_on(
        state->bench, is_first && many->count == 0 ? HUGE_VAL : until_s));
    return FULCRUM_OK;
}

/* Everything that the parameters are made of. Times in seconds. */
struct hand_off {
    struct fulcrum_line_fit line;  /* over actors, requests of one observation */
    struct fulcrum_summary items;  /* the same work, requests of several */
    struct fulcrum_summary single; /* and of one, with as many actors */
    struct fulcrum_line_fit ask;   /* of an actor's CPU over 1 / actors */
    struct fulcrum_summary lone;   /* the CPU of an actor that waits for nobody */
    struct fulcrum_summary sleep; /* what its turn takes beside all CPU and its batch */
    double cold_s; /* a step beyond one among others, over the idle share; NAN: none */
    double cold_error_s;
};

static void report_host(struct fulcrum_findings *findings, const char *path,
    double value, double standard_error, const char *source)
{
    fulcrum_findings_parameter(findings, path,
        &(struct fulcrum_parameter){.value = value, .standard_error = standard_error},
        "%s", source);
}

static const char batch_path[] = "workload.host.per_batch_s";
static const char request_path[] = "workload.host.per_request_s";

/* What a run may well see instead: how long the kernel takes to wake a thread is
 * another thing every second. */
static double run_error(double standard_error, const struct fulcrum_summary *seen)
{
    return hypot(standard_error, seen->run_sd >= 0.0 ? seen->run_sd : 0.0);
}

/* Of all at `x` from `from` on, before `to`: the mean. */
static struct fulcrum_summary level_of(struct fulcrum_findings *findings,
    const struct fulcrum_recording *recording, size_t from, size_t to)
{
    struct fulcrum_summary level = {.used = 0};
    for (size_t i = from; i < to; i++) {
        struct fulcrum_summary there =
            fulcrum_findings_median(findings, recording, gaps_s[i]);
        if (there.used > 0) {
            level.used++;
            level.typical += there.typical;
            level.standard_error += run_error(there.standard_error, &there);
        }
    }
    double count = fmax((double)level.used, 1.0);
    level.typical /= count;
    level.standard_error /= count;
    return level;
}

/*
 * The first of the gaps after which the server is asleep: where two levels of what both
 * sides' part of waking it takes, in ln, leave least squares. 1 where they are of one
 * kind.
 */
static size_t first_asleep(
    struct fulcrum_findings *findings, const struct fulcrum_recording *recording)
{
    double log_s[GAP_COUNT] = {0.0};
    size_t best = 1;
    double least = (double)INFINITY;
    for (size_t i = 1; i < GAP_COUNT; i++) {
        double whole_s =
            fulcrum_findings_median(findings, &recording[WAKE], gaps_s[i]).typical +
            fulcrum_findings_median(findings, &recording[WAKER], gaps_s[i]).typical;
        if (!(whole_s > 0.0)) {
            return 1;
        }
        log_s[i] = log(whole_s);
    }
    for (size_t k = 2; k < GAP_COUNT; k++) {
        double polls = gsl_stats_mean(log_s + 1, 1, k - 1);
        double sleeps = gsl_stats_mean(log_s + k, 1, GAP_COUNT - k);
        double squares = gsl_stats_tss_m(log_s + 1, 1, k - 1, polls) +
                         gsl_stats_tss_m(log_s + k, 1, GAP_COUNT - k, sleeps);
        if (squares < least && sleeps - polls > log(LEAST_POLL_GAIN)) {
            least = squares;
            best = k;
        }
    }
    return best;
}

/* What a lone actor's turn takes is its parts' sum. */
static void report_wake(const struct fulcrum_probe_state *state,
    const struct hand_off *found, struct fulcrum_findings *findings)
{
    const struct fulcrum_recording *wake = &state->recording[WAKE];
    const struct fulcrum_recording *waker = &state->recording[WAKER];
    const struct fulcrum_fit_estimate *slope =
        fulcrum_fit_find(&found->ask.fit, "per_item_s");
    double work_s = slope->value;
    double error_s = run_error(slope->standard_error, &found->lone);
    double server_s = 0.0;
    if (wake->count >= GAP_COUNT) {
        size_t asleep = first_asleep(findings, state->recording);
        struct fulcrum_summary server = level_of(findings, wake, asleep, GAP_COUNT);
        struct fulcrum_summary sleeping = level_of(findings, waker, asleep, GAP_COUNT);
        struct fulcrum_summary awake = level_of(findings, waker, 0, 1);
        server_s = fmax(server.typical, 0.0);
        work_s = fmax(sleeping.typical - awake.typical, 0.0);
        error_s = hypot(sleeping.standard_error, awake.standard_error);
        report_host(findings, "workload.host.server_wake_s", server_s,
            server.standard_error,
            "from the request of an actor that stays awake until the server that slept "
            "has it");
        if (asleep > 1) {
            struct fulcrum_summary polling = level_of(findings, wake, 1, asleep);
            double last_s = gaps_s[asleep - 1];
            report_host(findings, "workload.host.poll_s", sqrt(last_s * gaps_s[asleep]),
                0.5 * (gaps_s[asleep] - last_s) / NORMAL_95,
                "between the gaps after which waking the server is short and long");
            report_host(findings, "workload.host.poll_wake_s",
                fmax(polling.typical, 0.0), polling.standard_error,
                "the same as server_wake_s, after shorter gaps");
        }
    }
    report_host(findings, "workload.host.wake_s", work_s, error_s,
        "CPU of handing in a request to a server that sleeps, beyond that to one "
        "awake");
    report_host(findings, "workload.host.delay_s",
        fmax(found->sleep.typical + slope->value - work_s - server_s, 0.0),
        run_error(found->sleep.standard_error, &found->sleep),
        "turn of a lone actor less both sides' work, a warm batch and the server's "
        "wake-up: the actor's wake-up, and batches slower after a pause");
}

/* Of n requests that the server waits for one wakes it. */
static void report_actor(
    const struct hand_off *found, struct fulcrum_findings *findings)
{
    static const char source[] = "CPU of an actor's thread from one answer to the "
                                 "next, beyond that of a step among steps: line over "
                                 "the share of requests that wake the server";
    const struct fulcrum_fit_estimate *each =
        fulcrum_fit_find(&found->ask.fit, "per_batch_s");
    report_host(
        findings, "workload.host.actor_s", each->value, each->standard_error, source);
    report_host(findings, "workload.host.cold_step_s", found->cold_s,
        found->cold_error_s,
        "CPU of a step between hand-offs beyond that of a step among steps, over the "
        "idle share of the actors' threads");
}

static void report_server(const struct fulcrum_medians *server,
    const struct hand_off *found, struct fulcrum_findings *findings)
{
    static const char source[] =
        "CPU of a server thread that copies the observations of 1 to 16 actors and "
        "wakes them: line over actors";
    const struct fulcrum_fit_estimate *batch =
        fulcrum_fit_find(&found->line.fit, "per_batch_s");
    const struct fulcrum_fit_estimate *item =
        fulcrum_fit_find(&found->line.fit, "per_item_s");
    /* Copying one observation more; 0 where it does not show. */
    double more_s = found->items.typical - found->single.typical;
    double item_cost = found->items.used > 0 && found->single.used > 0
                           ? fmax(more_s / (ITEM_ACTORS * (ITEMS - 1.0)), 0.0)
                           : 0.0;
    double copy_s = fmin(item_cost, item->value);
    /* 0 where so few samples tell nothing of it. */
    double error_s = hypot(found->items.standard_error, found->single.standard_error);
    double copy_error_s =
        isfinite(error_s) ? error_s / (ITEM_ACTORS * (ITEMS - 1.0)) : 0.0;
    if (findings->status == FULCRUM_OK) {
        findings->status = fulcrum_time_table_set(&findings->calibration->handoff_time,
            server->x, server->value, server->count, findings->err);
    }
    report_host(findings, batch_path, batch->value, batch->standard_error, source);
    report_host(findings, request_path, item->value - copy_s,
        hypot(item->standard_error, copy_error_s), source);
    report_host(findings, "workload.host.per_item_s", copy_s, copy_error_s,
        "the same with 4 observations in a request, over those more");
    fulcrum_findings_fit(findings, "handoff", "h0 + h1 b", &found->line.fit);
    fulcrum_findings_covariance(
        findings, batch_path, request_path, found->line.fit.covariance[1]);
}

static void report_lines(const struct fulcrum_probe_state *state,
    struct fulcrum_medians *server, struct fulcrum_medians *ask, struct hand_off *found,
    struct fulcrum_findings *findings)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    for (size_t i = 0; i < ask->count; i++) {
        ask->x[i] = 1.0 / ask->x[i];
    }
    enum fulcrum_status status = fulcrum_fit_batch_time(
        &found->line, server->x, server->value, server->count, &why);
    if (status == FULCRUM_OK) {
        status =
            fulcrum_fit_batch_time(&found->ask, ask->x, ask->value, ask->count, &why);
    }
    if (fulcrum_findings_fitted(findings, status, &why, "handoff_fit", "no line: ")) {
        report_server(server, found, findings);
        report_actor(found, findings);
        report_wake(state, found, findings);
        fulcrum_findings_fit(
            findings, "handoff_actor", "a0 + a1 / actors", &found->ask.fit);
    }
}

/*
 * A step on a core that was idle finds colder caches, and on a virtual machine a core
 * that the host has to give back, perhaps another one: what it takes beyond the mean of
 * steps among steps, in proportion to the idle share of the actors' threads, by least
 * squares over the sizes.
 */
static void compare_steps(const struct fulcrum_probe_state *state,
    struct fulcrum_findings *findings, struct hand_off *found)
{
    const struct fulcrum_parameter *among =
        fulcrum_calibration_parameter(findings->calibration, "workload.step.mean_s");
    double product_s = 0.0;
    double square = 0.0;
    double error = 0.0;
    double idle = 0.0;
    found->cold_s = (double)NAN;
    if (among == NULL || ((const struct own *)state->own)->step_s > 0.0) {
        return;
    }
    for (size_t i = 0; i < SIZE_COUNT; i++) {
        struct fulcrum_summary there =
            fulcrum_findings_median(findings, &state->recording[STEP], sizes[i]);
        double idle_frac =
            fulcrum_findings_median(findings, &state->recording[IDLE], sizes[i])
                .typical;
        if (there.used > 0) {
            product_s += idle_frac * (there.typical - among->value);
            square += idle_frac * idle_frac;
            error +=
                idle_frac * there.standard_error * idle_frac * there.standard_error;
            idle += idle_frac;
        }
    }
    if (square > 0.0) {
        found->cold_s = fmax(product_s / square, 0.0);
        found->cold_error_s =
            hypot(sqrt(error) / square, among->standard_error * idle / square);
    }
}

static void handoff_report(
    struct fulcrum_probe_state *state, struct fulcrum_findings *findings)
{
    const struct fulcrum_recording *recording = state->recording;
    const struct own *own = state->own;
    struct fulcrum_medians server =
        fulcrum_findings_medians(findings, &recording[SERVER], sizes, SIZE_COUNT);
    struct fulcrum_medians ask =
        fulcrum_findings_medians(findings, &recording[ASK], sizes, SIZE_COUNT);
    struct hand_off found = {
        .items = fulcrum_findings_median(findings, &recording[MANY], ITEM_ACTORS),
        .single = fulcrum_findings_median(findings, &recording[SERVER], ITEM_ACTORS),
        .lone = fulcrum_findings_median(findings, &recording[ASK], 1.0),
        .sleep = fulcrum_findings_median(findings, &recording[SLEEP], 0.0)};
    compare_steps(state, findings, &found);
    if (server.count > 1 && ask.count > 1) {
        report_lines(state, &server, &ask, &found, findings);
    }
    fulcrum_findings_note(findings, "handoff", "server and actors on %s",
        fulcrum_handoff_is_apart(own->handoff) ? "cores of their own (bound)"
                                               : "one core");
}

const struct fulcrum_probe fulcrum_probe_handoff = {
    .what = "hand-off between threads",
    .share = 0.08,
    .headers = {[SERVER] = {"handoff_server", "s", "batch", "alone", false, false, 0},
        [MANY] = {"handoff_server", "s", "batch", "4 observations", false, false, 0},
        [ASK] = {"handoff_actor", "s", "batch", "alone", false, false, 0},
        [STEP] = {"handoff_step", "s", "batch", "alone", false, false, 0, true},
        [IDLE] = {"handoff_idle", "", "batch", "alone", false, false, 0},
        [SLEEP] = {"handoff_sleep", "s", NULL, "one actor", false, false, 0},
        [WAKE] = {"handoff_wake", "s", "gap_s", "one actor", false, false, 0},
        [WAKER] = {"handoff_waker", "s", "gap_s", "one actor", false, false, 0}},
    .own_byte = sizeof(struct own),
    .open = handoff_open,
    .close = handoff_close,
    .visit = handoff_visit,
    .report = handoff_report,
};
