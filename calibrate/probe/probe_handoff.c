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
 * beyond its step is its own part. From a lone actor's request until the server has it
 * is the server's wake-up, and what its turn takes beyond all of these the delay.
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
    WAKE,   /* from a lone actor's request until the server has it */
    DELAY,  /* wall time of a lone actor's turn beyond all of these */
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
    double server_s[MOST_COUNT + 1]; /* CPU time */
    double batch_s[MOST_COUNT + 1];  /* the learner's clock */
    double wake_s[MOST_COUNT + 1];
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
    double collected_s = fulcrum_wall_s();
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
    laps->server_s[i] =
        copied_s - begin_s + fulcrum_thread_cpu_s() - served_s - 2.0 * clock_s;
    laps->whole_s[i] = fulcrum_wall_s() - answered_s - 6.0 * clock_s;
    laps->wake_s[i] = collected_s;
    if (i > 0) {
        laps->actor_s[i - 1] = turn.cpu_s;
        laps->step_s[i - 1] = turn.step_s;
        laps->wake_s[i - 1] -= turn.asked_s;
    }
    return FULCRUM_OK;
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
                    laps.wake_s[i] - laps.actor_s[i] - laps.step_s[i];
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
    if (actors > 1.5) {
        return FULCRUM_OK;
    }
    sample.x = 0.0;
    sample.value = fulcrum_statistics_median(laps.wake_s, laps.count);
    TRY(fulcrum_recording_add(&recording[WAKE], &sample, err));
    /* Batches after a pause are slower: that comes with the delay. */
    sample.value =
        fmax(fulcrum_statistics_median(rest_s, laps.count) +
                 fulcrum_statistics_median(laps.batch_s, laps.count) - warm_s,
            0.0);
    return fulcrum_recording_add(&recording[DELAY], &sample, err);
}

/* One of several observations after each round of the sizes. */
static enum fulcrum_status handoff_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    const struct fulcrum_recording *server = &state->recording[SERVER];
    const struct fulcrum_recording *many = &state->recording[MANY];
    bool is_first = server->count == 0;
    do {
        bool has_many = (many->count + 1) * SIZE_COUNT <= server->count;
        double actors = has_many
                            ? ITEM_ACTORS
                            : fulcrum_recording_neediest(server, sizes, SIZE_COUNT);
        TRY(sample_exchange(state, actors, has_many ? ITEMS : 1.0, err));
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
    double slower_s; /* a step of a thread that was woken for it, over one of many */
    double slower_error_s;
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

/* Of n requests that the server waits for one wakes it. */
static void report_actor(
    const struct hand_off *found, struct fulcrum_findings *findings)
{
    static const char source[] = "CPU of an actor's thread from one answer to the "
                                 "next, beyond that of a step among steps: line over "
                                 "the share of requests that wake the server";
    const struct fulcrum_fit_estimate *each =
        fulcrum_fit_find(&found->ask.fit, "per_batch_s");
    const struct fulcrum_fit_estimate *waking =
        fulcrum_fit_find(&found->ask.fit, "per_item_s");
    report_host(findings, "workload.host.actor_s",
        fmax(each->value + found->slower_s, 0.0),
        hypot(each->standard_error, found->slower_error_s), source);
    report_host(findings, "workload.host.wake_s", waking->value,
        run_error(waking->standard_error, &found->lone), source);
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

static void report_lines(struct fulcrum_medians *server, struct fulcrum_medians *ask,
    struct hand_off *found, struct fulcrum_findings *findings)
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
        fulcrum_findings_fit(
            findings, "handoff_actor", "a0 + a1 / actors", &found->ask.fit);
    }
}

/*
 * A step of a thread that was woken for it finds colder caches, and on a virtual
 * machine perhaps another core, than one step behind the other does: what it takes
 * beyond the mean of those.
 */
static void compare_steps(const struct fulcrum_probe_state *state,
    struct fulcrum_findings *findings, struct hand_off *found)
{
    const struct fulcrum_parameter *among =
        fulcrum_calibration_parameter(findings->calibration, "workload.step.mean_s");
    double count = 0.0;
    double sum_s = 0.0;
    double square = 0.0;
    if (among == NULL || ((const struct own *)state->own)->step_s > 0.0) {
        return;
    }
    for (size_t i = 0; i < SIZE_COUNT; i++) {
        struct fulcrum_summary there =
            fulcrum_findings_median(findings, &state->recording[STEP], sizes[i]);
        if (there.used > 0) {
            sum_s += there.typical;
            square += there.standard_error * there.standard_error;
            count += 1.0;
        }
    }
    if (count > 0.0) {
        found->slower_s = sum_s / count - among->value;
        found->slower_error_s = hypot(sqrt(square) / count, among->standard_error);
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
        .lone = fulcrum_findings_median(findings, &recording[ASK], 1.0)};
    struct fulcrum_summary wake =
        fulcrum_findings_median(findings, &recording[WAKE], 0.0);
    struct fulcrum_summary delay =
        fulcrum_findings_median(findings, &recording[DELAY], 0.0);
    compare_steps(state, findings, &found);
    if (server.count > 1 && ask.count > 1) {
        report_lines(&server, &ask, &found, findings);
        report_host(findings, "workload.host.server_wake_s", fmax(wake.typical, 0.0),
            run_error(wake.standard_error, &wake),
            "from a lone actor's request until the server that waited has it");
        report_host(findings, "workload.host.delay_s", delay.typical,
            run_error(delay.standard_error, &delay),
            "turn of a lone actor less both sides' CPU, a warm batch and the server's "
            "wake-up: the actor's wake-up, and batches slower after a pause");
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
        [WAKE] = {"handoff_wake", "s", NULL, "one actor", false, false, 0},
        [DELAY] = {"handoff_delay", "s", NULL, "one actor", false, false, 0}},
    .own_byte = sizeof(struct own),
    .open = handoff_open,
    .close = handoff_close,
    .visit = handoff_visit,
    .report = handoff_report,
};
