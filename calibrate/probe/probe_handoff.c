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

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

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

struct fulcrum_probe_state {
    struct fulcrum_bench *bench;
    struct fulcrum_recording server; /* CPU of the server per batch */
    struct fulcrum_recording items;  /* the same, requests of several observations */
    struct fulcrum_recording ask;    /* CPU of an actor per request */
    struct fulcrum_recording
        trip; /* wall time of a batch without the spins, one actor */
    struct fulcrum_recording wake; /* from the answer until the actor runs */
    bool is_apart;                 /* server and actors on processors of their own */
};

static enum fulcrum_status handoff_open(struct fulcrum_bench *bench,
    struct fulcrum_probe_state **out, struct fulcrum_error *err)
{
    struct fulcrum_probe_state *state = calloc(1, sizeof *state);
    TRY_MEMORY(state, err, "hand-off probe");
    state->bench = bench;
    struct fulcrum_series header = {
        .name = "handoff_server", .unit = "s", .x_name = "batch", .condition = "alone"};
    fulcrum_recording_init(&state->server, &header, &bench->alone);
    (void)snprintf(header.condition, sizeof header.condition, "%g observations", ITEMS);
    fulcrum_recording_init(&state->items, &header, &bench->alone);
    header = (struct fulcrum_series){
        .name = "handoff_actor", .unit = "s", .x_name = "batch", .condition = "alone"};
    fulcrum_recording_init(&state->ask, &header, &bench->alone);
    header = (struct fulcrum_series){
        .name = "handoff_round_trip", .unit = "s", .condition = "one actor"};
    fulcrum_recording_init(&state->trip, &header, &bench->alone);
    (void)snprintf(header.name, sizeof header.name, "handoff_wake");
    fulcrum_recording_init(&state->wake, &header, &bench->alone);
    *out = state;
    return FULCRUM_OK;
}

static void handoff_close(struct fulcrum_probe_state *state)
{
    if (state == NULL) {
        return;
    }
    fulcrum_recording_free(&state->server);
    fulcrum_recording_free(&state->items);
    fulcrum_recording_free(&state->ask);
    fulcrum_recording_free(&state->trip);
    fulcrum_recording_free(&state->wake);
    free(state);
}

/* Times of the batches of one sample; on the wall clock unless said. */
struct lap_times {
    double server_s[BATCH_COUNT]; /* CPU time */
    double trip_s[BATCH_COUNT];
    double wake_s[BATCH_COUNT];
};

static double median_of(double *values)
{
    gsl_sort(values, 1, BATCH_COUNT);
    return fulcrum_statistics_quantile(values, BATCH_COUNT, 0.5);
}

/* Returns the server's CPU time for one batch. */
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

static enum fulcrum_status add_laps(struct fulcrum_probe_state *state,
    struct lap_times *laps, double canary_s, struct fulcrum_error *err)
{
    struct fulcrum_sample sample = {
        .value = median_of(laps->trip_s), .canary_s = canary_s};
    enum fulcrum_status status = fulcrum_recording_add(&state->trip, &sample, err);
    sample.value = median_of(laps->wake_s);
    return status == FULCRUM_OK ? fulcrum_recording_add(&state->wake, &sample, err)
                                : status;
}

static enum fulcrum_status sample_exchange(struct fulcrum_probe_state *state,
    double actors, double items, struct fulcrum_error *err)
{
    struct fulcrum_bench *bench = state->bench;
    struct fulcrum_handoff *handoff = NULL;
    struct lap_times laps;
    struct fulcrum_sample server = {.x = actors};
    struct fulcrum_sample ask = {.x = actors};
    const struct fulcrum_handoff_plan plan = {.actor_count = (size_t)actors,
        .item_count = (size_t)items,
        .item_byte = fulcrum_observation_byte(&bench->stage.info),
        .think_s = ACTOR_SPIN_S};
    TRY(fulcrum_handoff_new(&handoff, &plan, err));
    state->is_apart = fulcrum_handoff_is_apart(handoff);
    enum fulcrum_status status =
        fulcrum_canary_open(&bench->alone, &bench->stopwatch, err);
    if (status == FULCRUM_OK) {
        /* Median CPU time of the server for a batch; `ask_s`: mean one of an actor. */
        double *ask_s = &ask.value;
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
        *ask_s = fulcrum_handoff_ask_s(handoff);
        fulcrum_handoff_answer(handoff);
        server.value = median_of(laps.server_s);
        status = fulcrum_canary_close(&bench->alone, &server.canary_s,
            FULCRUM_CLOCK_WALL, &bench->stopwatch, err);
    }
    fulcrum_handoff_free(handoff);
    if (status != FULCRUM_OK || items > 1.0) {
        return status == FULCRUM_OK ? fulcrum_recording_add(&state->items, &server, err)
                                    : status;
    }
    ask.canary_s = server.canary_s;
    status = fulcrum_recording_add(&state->server, &server, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_recording_add(&state->ask, &ask, err);
    }
    return status == FULCRUM_OK && actors < 1.5
               ? add_laps(state, &laps, server.canary_s, err)
               : status;
}

/* One of several observations after each round of the sizes. */
static enum fulcrum_status sample_next(
    struct fulcrum_probe_state *state, struct fulcrum_error *err)
{
    if ((state->items.count + 1) * SIZE_COUNT <= state->server.count) {
        return sample_exchange(state, ITEM_ACTORS, ITEMS, err);
    }
    return sample_exchange(
        state, fulcrum_recording_neediest(&state->server, sizes, SIZE_COUNT), 1.0, err);
}

static enum fulcrum_status handoff_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    bool is_first = state->server.count == 0;
    do {
        status = sample_next(state, err);
    } while (status == FULCRUM_OK &&
             fulcrum_bench_goes_on(state->bench,
                 is_first && state->items.count == 0 ? HUGE_VAL : until_s));
    return status;
}

struct batch_medians {
    double size[SIZE_COUNT];
    double time_s[SIZE_COUNT];
    size_t count;
};

static enum fulcrum_status gather(const struct fulcrum_recording *recording,
    struct batch_medians *out, struct fulcrum_error *err)
{
    out->count = 0;
    for (size_t i = 0; i < SIZE_COUNT; i++) {
        struct fulcrum_summary summary;
        TRY(fulcrum_recording_summary(recording, sizes[i], &summary, err));
        if (summary.used > 0 && summary.median > 0.0) {
            out->size[out->count] = sizes[i];
            out->time_s[out->count] = summary.median;
            out->count++;
        }
    }
    return FULCRUM_OK;
}

/* Everything that the parameters are made of. Times in seconds. */
struct hand_off {
    struct fulcrum_line_fit line;  /* over actors, requests of one observation */
    struct fulcrum_summary items;  /* the same work, requests of several */
    struct fulcrum_summary single; /* and of one, with as many actors */
    struct fulcrum_line_fit ask;   /* of an actor's CPU over 1 / actors */
    struct fulcrum_summary trip;
    struct fulcrum_summary wake;
};

static void report(struct fulcrum_findings *findings, const char *path, double value,
    double standard_error, const char *source)
{
    struct fulcrum_parameter parameter = {.value = value,
        .standard_error = standard_error,
        .scale = FULCRUM_SCALE_LINEAR,
        .origin = FULCRUM_ORIGIN_MEASURED};
    (void)snprintf(parameter.path, sizeof parameter.path, "workload.host.%s", path);
    (void)snprintf(parameter.source, sizeof parameter.source, "%s", source);
    fulcrum_findings_parameter(findings, &parameter);
}

static void report_server(
    const struct hand_off *found, struct fulcrum_findings *findings)
{
    static const char source[] =
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
    report(findings, "per_batch_s", batch->value, batch->standard_error, source);
    report(findings, "per_request_s", item->value - copy_s,
        hypot(item->standard_error, copy_error_s), source);
    report(findings, "per_item_s", copy_s, copy_error_s,
        "the same with 4 observations in a request, over those more");
}

/* Both lines; the share of requests that wake the server is 1 / actors. */
static enum fulcrum_status fit_lines(const struct batch_medians *server,
    struct batch_medians *ask, struct hand_off *found, struct fulcrum_error *err)
{
    enum fulcrum_status status = fulcrum_fit_batch_time(
        &found->line, server->size, server->time_s, server->count, err);
    for (size_t i = 0; i < ask->count; i++) {
        ask->size[i] = 1.0 / ask->size[i];
    }
    return status == FULCRUM_OK ? fulcrum_fit_batch_time(&found->ask, ask->size,
                                      ask->time_s, ask->count, err)
                                : status;
}

static enum fulcrum_status report_lines(const struct batch_medians *server,
    struct batch_medians *ask, struct hand_off *found,
    struct fulcrum_findings *findings)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    enum fulcrum_status status = fit_lines(server, ask, found, &why);
    if (status == FULCRUM_ERR_NO_FIT) {
        fulcrum_findings_note(findings, "handoff_fit", "no line: %s", why.detail);
        return findings->status;
    }
    FAIL_IF(status != FULCRUM_OK, findings->err, status, "%s", why.detail);
    report_server(found, findings);
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
        report(findings, "actor_s", each->value, each->standard_error, source);
        report(findings, "wake_s", waking->value, waking->standard_error, source);
        report(findings, "delay_s", fmax(found->trip.median - work_s, 0.0),
            found->trip.standard_error,
            "round trip of one waiting actor less the CPU of both sides: the wake-ups "
            "of "
            "server and actor");
    }
    fulcrum_findings_fit(findings, "handoff", "h0 + h1 b", &found->line.fit);
    fulcrum_findings_fit(
        findings, "handoff_actor", "a0 + a1 / actors", &found->ask.fit);
    if (findings->status != FULCRUM_OK) {
        return findings->status;
    }
    return fulcrum_calibration_set_covariance(findings->calibration,
        "workload.host.per_batch_s", "workload.host.per_request_s",
        found->line.fit.covariance[1], findings->err);
}

static enum fulcrum_status summarise(const struct fulcrum_probe_state *state,
    struct hand_off *out, struct fulcrum_error *err)
{
    const struct {
        const struct fulcrum_recording *recording;
        double x;
        struct fulcrum_summary *summary;
    } wanted[] = {
        {&state->items, ITEM_ACTORS, &out->items},
        {&state->server, ITEM_ACTORS, &out->single},
        {&state->trip, 0.0, &out->trip},
        {&state->wake, 0.0, &out->wake},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        TRY(fulcrum_recording_summary(
            wanted[i].recording, wanted[i].x, wanted[i].summary, err));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status handoff_report(struct fulcrum_probe_state *state,
    struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    struct fulcrum_findings findings = {calibration, FULCRUM_OK, err};
    struct batch_medians server = {.count = 0};
    struct batch_medians ask = {.count = 0};
    struct hand_off found = {.line = {.per_batch_s = 0.0}};
    TRY(gather(&state->server, &server, err));
    TRY(gather(&state->ask, &ask, err));
    TRY(summarise(state, &found, err));
    if (server.count > 1 && ask.count > 1) {
        TRY(report_lines(&server, &ask, &found, &findings));
    }
    if (found.trip.used > 0) {
        fulcrum_findings_summary(&findings, "handoff_round_trip_s", "s", &found.trip);
        fulcrum_findings_summary(&findings, "handoff_wake_s", "s", &found.wake);
    }
    fulcrum_findings_note(&findings, "handoff", "server and actors on %s",
        state->is_apart ? "cores of their own (bound)" : "one core");
    fulcrum_findings_series(&findings, &state->server);
    fulcrum_findings_series(&findings, &state->items);
    fulcrum_findings_series(&findings, &state->ask);
    fulcrum_findings_series(&findings, &state->trip);
    fulcrum_findings_series(&findings, &state->wake);
    return findings.status;
}

const struct fulcrum_probe fulcrum_probe_handoff = {
    .name = "handoff",
    .what = "hand-off between threads",
    .share = 0.08,
    .open = handoff_open,
    .close = handoff_close,
    .visit = handoff_visit,
    .report = handoff_report,
};
