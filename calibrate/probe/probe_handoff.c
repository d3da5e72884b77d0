/* probe_handoff.c - what passing requests between threads costs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The model's host stage is what a central server spends on taking requests, copying
 * observations together and waking actors. It cannot be read off a function call: most
 * of it is the kernel waking a core that fell idle. So real threads pass requests and
 * observations through the request queue of the real pipeline (request_queue.c) and
 * compute for a while in between, as in a run. The server's CPU time per batch, over
 * the number of actors, is a line; requests of four observations tell the part that is
 * copying. What an actor's thread spends on a request is its own part; a lone actor's
 * round trip beyond both is the delay of the model, two wake-ups.
 *
 * This is a lower bound for servers that speak over sockets.
 */
#include "calibrate/probe/probe.h"

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

/* Batches in a sample, some ten milliseconds. Those before it are not counted. */
#define BATCH_COUNT   60
#define WARM_UP_COUNT 5

/*
 * The server computes so long before it answers, an actor before it asks again: the
 * other side's core falls idle meanwhile, and waking it is what costs most.
 */
#define SERVER_SPIN_S 200e-6
#define ACTOR_SPIN_S  60e-6

enum {
    SERVER, /* CPU of the server per batch */
    MANY,   /* the same, requests of several observations */
    ASK,    /* CPU of an actor per request */
    TRIP,   /* wall time of a batch without the spins, one actor */
    WAKE,   /* from the answer until the actor runs */
};

struct own {
    bool is_apart; /* server and actors on processors of their own */
};

/* Times of the batches of one sample; on the wall clock unless said. */
struct lap_times {
    double server_s[BATCH_COUNT]; /* CPU time */
    double trip_s[BATCH_COUNT];
    double wake_s[BATCH_COUNT];
};

static double serve(struct fulcrum_handoff *handoff, double clock_cost_s)
{
    double begin_s = fulcrum_thread_cpu_s();
    fulcrum_handoff_collect(handoff);
    double collected_s = fulcrum_thread_cpu_s();
    fulcrum_spin_s(SERVER_SPIN_S);
    double spun_s = fulcrum_thread_cpu_s();
    fulcrum_handoff_answer(handoff);
    double end_s = fulcrum_thread_cpu_s();
    return collected_s - begin_s + end_s - spun_s - 2.0 * clock_cost_s;
}

static enum fulcrum_status sample_exchange(struct fulcrum_probe_state *state,
    double actors, double items, struct fulcrum_error *err)
{
    const struct fulcrum_bench *bench = state->bench;
    struct own *own = state->own;
    struct fulcrum_recording *recording = state->recording;
    struct fulcrum_handoff *handoff = NULL;
    struct lap_times laps;
    struct fulcrum_sample sample = {.x = actors};
    double ask_s = 0.0;
    enum fulcrum_status status = FULCRUM_OK;
    const struct fulcrum_handoff_plan plan = {.actor_count = (size_t)actors,
        .item_count = (size_t)items,
        .item_byte = fulcrum_observation_byte(&bench->stage.info),
        .think_s = ACTOR_SPIN_S};
    TRY(fulcrum_handoff_new(&handoff, &plan, err));
    own->is_apart = fulcrum_handoff_is_apart(handoff);
    TRY_OR_END(fulcrum_sample_begin(state, SERVER, err));
    double clock_cost_s = bench->stopwatch.cpu_cost_s;
    for (int i = 0; i < WARM_UP_COUNT; i++) {
        (void)serve(handoff, clock_cost_s);
    }
    fulcrum_handoff_collect(handoff);
    (void)fulcrum_handoff_ask_s(handoff);
    fulcrum_handoff_answer(handoff);
    double before_s = fulcrum_wall_s();
    for (int i = 0; i < BATCH_COUNT; i++) {
        laps.server_s[i] = serve(handoff, clock_cost_s);
        double after_s = fulcrum_wall_s();
        laps.trip_s[i] =
            after_s - before_s - SERVER_SPIN_S - ACTOR_SPIN_S - 4.0 * clock_cost_s;
        laps.wake_s[i] = fulcrum_handoff_wake_s(handoff);
        before_s = after_s;
    }
    fulcrum_handoff_collect(handoff);
    ask_s = fulcrum_handoff_ask_s(handoff); /* mean of an actor */
    fulcrum_handoff_answer(handoff);
    sample.value = fulcrum_statistics_median(laps.server_s, BATCH_COUNT);
    status = fulcrum_sample_end(state, SERVER, FULCRUM_CLOCK_WALL, &sample, err);
end:
    fulcrum_handoff_free(handoff);
    TRY(status);
    if (items > 1.0) {
        return fulcrum_recording_add(&recording[MANY], &sample, err);
    }
    TRY(fulcrum_recording_add(&recording[SERVER], &sample, err));
    sample.value = ask_s;
    TRY(fulcrum_recording_add(&recording[ASK], &sample, err));
    if (actors > 1.5) {
        return FULCRUM_OK;
    }
    sample.x = 0.0;
    sample.value = fulcrum_statistics_median(laps.trip_s, BATCH_COUNT);
    TRY(fulcrum_recording_add(&recording[TRIP], &sample, err));
    sample.value = fulcrum_statistics_median(laps.wake_s, BATCH_COUNT);
    return fulcrum_recording_add(&recording[WAKE], &sample, err);
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
    struct fulcrum_summary trip;
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

/* Both lines; the share of requests that wake the server is 1 / actors. */
static void report_lines(const struct fulcrum_medians *server,
    struct fulcrum_medians *ask, struct hand_off *found,
    struct fulcrum_findings *findings)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    enum fulcrum_status status = fulcrum_fit_batch_time(
        &found->line, server->x, server->value, server->count, &why);
    for (size_t i = 0; i < ask->count; i++) {
        ask->x[i] = 1.0 / ask->x[i];
    }
    if (status == FULCRUM_OK) {
        status =
            fulcrum_fit_batch_time(&found->ask, ask->x, ask->value, ask->count, &why);
    }
    if (!fulcrum_findings_fitted(findings, status, &why, "handoff_fit", "no line: ")) {
        return;
    }
    static const char server_source[] =
        "CPU of a server thread that takes requests of 1 to 16 actors, copies their "
        "observations and wakes them: line over actors";
    const struct fulcrum_fit_estimate *batch =
        fulcrum_fit_find(&found->line.fit, "per_batch_s");
    const struct fulcrum_fit_estimate *item =
        fulcrum_fit_find(&found->line.fit, "per_item_s");
    /* Copying one observation more; 0 where it does not show. */
    double more_s = found->items.median - found->single.median;
    double item_cost = found->items.used > 0 && found->single.used > 0
                           ? fmax(more_s / (ITEM_ACTORS * (ITEMS - 1.0)), 0.0)
                           : 0.0;
    double copy_s = fmin(item_cost, item->value);
    /* 0 where so few samples tell nothing of it. */
    double error_s = hypot(found->items.standard_error, found->single.standard_error);
    double copy_error_s =
        isfinite(error_s) ? error_s / (ITEM_ACTORS * (ITEMS - 1.0)) : 0.0;
    report_host(
        findings, batch_path, batch->value, batch->standard_error, server_source);
    report_host(findings, request_path, item->value - copy_s,
        hypot(item->standard_error, copy_error_s), server_source);
    report_host(findings, "workload.host.per_item_s", copy_s, copy_error_s,
        "the same with 4 observations in a request, over those more");
    if (found->trip.used > 0) {
        /*
         * Of n requests that the server waits for one wakes it: the CPU time of an
         * actor over 1 / n is a line. What a lone actor's round trip takes beyond CPU
         * time is the delay.
         */
        static const char source[] = "CPU of an actor's thread from handing a request "
                                     "in until it runs again: line "
                                     "over the share of requests that wake the server";
        const struct fulcrum_fit_estimate *each =
            fulcrum_fit_find(&found->ask.fit, "per_batch_s");
        const struct fulcrum_fit_estimate *waking =
            fulcrum_fit_find(&found->ask.fit, "per_item_s");
        double work_s = found->line.per_batch_s + found->line.per_item_s +
                        found->ask.per_batch_s + found->ask.per_item_s;
        report_host(findings, "workload.host.actor_s", each->value,
            each->standard_error, source);
        report_host(findings, "workload.host.wake_s", waking->value,
            waking->standard_error, source);
        report_host(findings, "workload.host.delay_s",
            fmax(found->trip.median - work_s, 0.0), found->trip.standard_error,
            "round trip of one waiting actor less the CPU of both sides: the wake-ups "
            "of "
            "server and actor");
    }
    fulcrum_findings_fit(findings, "handoff", "h0 + h1 b", &found->line.fit);
    fulcrum_findings_fit(
        findings, "handoff_actor", "a0 + a1 / actors", &found->ask.fit);
    fulcrum_findings_covariance(
        findings, batch_path, request_path, found->line.fit.covariance[1]);
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
        .trip = fulcrum_findings_median(findings, &recording[TRIP], 0.0)};
    struct fulcrum_summary wake =
        fulcrum_findings_median(findings, &recording[WAKE], 0.0);
    if (server.count > 1 && ask.count > 1) {
        report_lines(&server, &ask, &found, findings);
    }
    fulcrum_findings_summary(findings, "handoff_round_trip_s", "s", &found.trip);
    fulcrum_findings_summary(findings, "handoff_wake_s", "s", &wake);
    fulcrum_findings_note(findings, "handoff", "server and actors on %s",
        own->is_apart ? "cores of their own (bound)" : "one core");
}

const struct fulcrum_probe fulcrum_probe_handoff = {
    .what = "hand-off between threads",
    .share = 0.08,
    .headers = {[SERVER] = {"handoff_server", "s", "batch", "alone", false, false, 0},
        [MANY] = {"handoff_server", "s", "batch", "4 observations", false, false, 0},
        [ASK] = {"handoff_actor", "s", "batch", "alone", false, false, 0},
        [TRIP] = {"handoff_round_trip", "s", NULL, "one actor", false, false, 0},
        [WAKE] = {"handoff_wake", "s", NULL, "one actor", false, false, 0}},
    .own_byte = sizeof(struct own),
    .visit = handoff_visit,
    .report = handoff_report,
};
