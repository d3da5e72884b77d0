/* probe_handoff.c - what passing requests between threads costs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The model's host stage is what a central server spends on taking requests and waking
 * actors. It cannot be read off a function call: most of it is the kernel waking a core
 * that fell idle. So real threads exchange nothing but a mutex and condition variables
 * (exchange.c) and compute for a while in between, as in a run. The server's CPU time
 * per batch, over the number of actors, is a line; a lone actor's round trip beyond
 * that line is the delay of the model, two wake-ups.
 *
 * This is a lower bound for servers that also copy observations or speak over sockets.
 */
#include "calibrate/probe.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/exchange.h"
#include "calibrate/finding.h"
#include "calibrate/fit_batch_time.h"
#include "calibrate/statistics.h"

static const double sizes[] = {1, 2, 4, 8, 16};

#define SIZE_COUNT (sizeof sizes / sizeof sizes[0])

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
    struct fulcrum_recording
        trip; /* wall time of a batch without the spins, one actor */
    struct fulcrum_recording wake; /* from the answer until the actor runs */
    int is_apart;                  /* server and actors on processors of their own */
};

static enum fulcrum_status handoff_open(struct fulcrum_bench *bench,
    struct fulcrum_probe_state **out, struct fulcrum_error *err)
{
    struct fulcrum_probe_state *state = calloc(1, sizeof *state);
    if (state == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "hand-off probe");
    }
    state->bench = bench;
    struct fulcrum_series header = {
        .name = "handoff_server", .unit = "s", .x_name = "batch", .condition = "alone"};
    fulcrum_recording_init(&state->server, &header, &bench->alone);
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
static double serve(struct fulcrum_exchange *exchange, double clock_cost_s)
{
    double begin_s = fulcrum_thread_cpu_s();
    fulcrum_exchange_collect(exchange);
    double collected_s = fulcrum_thread_cpu_s();
    fulcrum_spin_s(SERVER_SPIN_S);
    double spun_s = fulcrum_thread_cpu_s();
    fulcrum_exchange_answer(exchange);
    double end_s = fulcrum_thread_cpu_s();
    return collected_s - begin_s + end_s - spun_s - 2.0 * clock_cost_s;
}

/* Median CPU time of the server for a batch. */
static double serve_batches(const struct fulcrum_bench *bench,
    struct fulcrum_exchange *exchange, struct lap_times *laps)
{
    double clock_cost_s = bench->stopwatch.cpu_cost_s;
    for (int i = 0; i < WARM_UP_COUNT; i++) {
        (void)serve(exchange, clock_cost_s);
    }
    double before_s = fulcrum_wall_s();
    for (int i = 0; i < BATCH_COUNT; i++) {
        laps->server_s[i] = serve(exchange, clock_cost_s);
        double after_s = fulcrum_wall_s();
        laps->trip_s[i] =
            after_s - before_s - SERVER_SPIN_S - ACTOR_SPIN_S - 4.0 * clock_cost_s;
        laps->wake_s[i] = fulcrum_exchange_wake_s(exchange);
        before_s = after_s;
    }
    return median_of(laps->server_s);
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

static enum fulcrum_status sample_size(
    struct fulcrum_probe_state *state, double size, struct fulcrum_error *err)
{
    struct fulcrum_bench *bench = state->bench;
    struct fulcrum_exchange *exchange = NULL;
    struct lap_times laps;
    enum fulcrum_status status =
        fulcrum_exchange_new(&exchange, (size_t)size, ACTOR_SPIN_S, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    state->is_apart = fulcrum_exchange_is_apart(exchange);
    status = fulcrum_canary_open(&bench->alone, &bench->stopwatch, err);
    struct fulcrum_sample sample = {.x = size};
    if (status == FULCRUM_OK) {
        sample.value = serve_batches(bench, exchange, &laps);
        status = fulcrum_canary_close(&bench->alone, &sample.canary_s,
            FULCRUM_CLOCK_WALL, &bench->stopwatch, err);
    }
    fulcrum_exchange_free(exchange);
    if (status == FULCRUM_OK) {
        status = fulcrum_recording_add(&state->server, &sample, err);
    }
    return status == FULCRUM_OK && size < 1.5
               ? add_laps(state, &laps, sample.canary_s, err)
               : status;
}

static enum fulcrum_status handoff_visit(
    struct fulcrum_probe_state *state, double until_s, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    int is_first = state->server.count == 0;
    do {
        double size = fulcrum_recording_neediest(&state->server, sizes, SIZE_COUNT);
        status = sample_size(state, size, err);
    } while (status == FULCRUM_OK &&
             fulcrum_bench_goes_on(state->bench,
                 is_first && state->server.count < SIZE_COUNT ? HUGE_VAL : until_s));
    return status;
}

struct batch_medians {
    double size[SIZE_COUNT];
    double time_s[SIZE_COUNT];
    size_t count;
};

static enum fulcrum_status gather(const struct fulcrum_probe_state *state,
    struct batch_medians *out, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    out->count = 0;
    for (size_t i = 0; i < SIZE_COUNT && status == FULCRUM_OK; i++) {
        struct fulcrum_summary summary;
        status = fulcrum_recording_summary(&state->server, sizes[i], &summary, err);
        if (status == FULCRUM_OK && summary.used > 0 && summary.median > 0.0) {
            out->size[out->count] = sizes[i];
            out->time_s[out->count] = summary.median;
            out->count++;
        }
    }
    return status;
}

static void report_cost(const struct fulcrum_line_fit *line, const char *name,
    struct fulcrum_findings *findings)
{
    const struct fulcrum_fit_estimate *estimate = fulcrum_fit_find(&line->fit, name);
    struct fulcrum_parameter parameter = {
        .value = estimate->value,
        .standard_error = estimate->standard_error,
        .scale = FULCRUM_SCALE_LINEAR,
        .origin = FULCRUM_ORIGIN_FITTED,
        .source = "CPU of a server thread that wakes 1 to 16 waiting actors, mutex and "
                  "condition variables, line over actors",
    };
    (void)snprintf(parameter.path, sizeof parameter.path, "workload.host.%s", name);
    fulcrum_findings_parameter(findings, &parameter);
}

/* What a lone actor's round trip takes beyond the server's CPU: two wake-ups. */
static void report_delay(const struct fulcrum_line_fit *line,
    const struct fulcrum_summary *trip, struct fulcrum_findings *findings)
{
    double server_s = line->per_batch_s + line->per_item_s;
    struct fulcrum_parameter parameter = {
        .path = "workload.host.delay_s",
        .value = fmax(trip->median - server_s, 0.0),
        .standard_error = trip->standard_error,
        .scale = FULCRUM_SCALE_LINEAR,
        .origin = FULCRUM_ORIGIN_MEASURED,
        .source = "round trip of one waiting actor less the server's CPU: the wake-ups "
                  "of server and actor",
    };
    fulcrum_findings_parameter(findings, &parameter);
}

static enum fulcrum_status report_line(const struct batch_medians *medians,
    const struct fulcrum_summary *trip, struct fulcrum_findings *findings)
{
    struct fulcrum_line_fit line;
    struct fulcrum_error why = {FULCRUM_OK, ""};
    enum fulcrum_status status = fulcrum_fit_batch_time(
        &line, medians->size, medians->time_s, medians->count, &why);
    if (status == FULCRUM_ERR_NO_FIT) {
        fulcrum_findings_note(findings, "handoff_fit", "no line: %s", why.detail);
        return findings->status;
    }
    if (status != FULCRUM_OK) {
        return fulcrum_fail(findings->err, status, "%s", why.detail);
    }
    report_cost(&line, "per_batch_s", findings);
    report_cost(&line, "per_item_s", findings);
    if (trip->used > 0) {
        report_delay(&line, trip, findings);
    }
    fulcrum_findings_fit(findings, "handoff", "h0 + h1 b", &line.fit);
    if (findings->status != FULCRUM_OK) {
        return findings->status;
    }
    return fulcrum_calibration_set_covariance(findings->calibration,
        "workload.host.per_batch_s", "workload.host.per_item_s", line.fit.covariance[1],
        findings->err);
}

static enum fulcrum_status handoff_report(struct fulcrum_probe_state *state,
    struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    struct fulcrum_findings findings = {calibration, FULCRUM_OK, err};
    struct batch_medians medians;
    struct fulcrum_summary trip;
    struct fulcrum_summary wake;
    enum fulcrum_status status = gather(state, &medians, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_recording_summary(&state->trip, 0.0, &trip, err);
    }
    if (status == FULCRUM_OK) {
        status = fulcrum_recording_summary(&state->wake, 0.0, &wake, err);
    }
    if (status == FULCRUM_OK && medians.count > 1) {
        status = report_line(&medians, &trip, &findings);
    }
    if (status != FULCRUM_OK) {
        return status;
    }
    if (trip.used > 0) {
        fulcrum_findings_summary(&findings, "handoff_round_trip_s", "s", &trip);
        fulcrum_findings_summary(&findings, "handoff_wake_s", "s", &wake);
    }
    fulcrum_findings_note(&findings, "handoff", "server and actors on %s",
        state->is_apart ? "processors of their own (bound)" : "one processor");
    fulcrum_findings_series(&findings, &state->server);
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
