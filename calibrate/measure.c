/* measure.c - the real pipeline measured, configuration by configuration. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rounds, as in a calibration: every configuration gets one window a round, so that a
 * machine that slowly gets warmer or busier does not favour the first of them. What was
 * disturbed is told by two things that have nothing to do with the result: a canary on
 * the cores of actors and server before and after the window, and the CPU time that
 * other programs had meanwhile.
 */
#include "calibrate/measure.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/bench.h"
#include "calibrate/measure_window.h"
#include "calibrate/statistics.h"
#include "calibrate/stopwatch.h"
#include "model/try.h"

struct session {
    const struct fulcrum_measure_options *options;
    struct fulcrum_window_room room;
    struct fulcrum_measurement *found;
    double start_s;
    int is_stopped;
};

size_t fulcrum_measure_batch_requests(const struct fulcrum_measure_config *config)
{
    double envs = (double)config->envs_per_actor;
    double requests = config->batch_size / envs;
    if (config->policy == FULCRUM_BATCH_FIXED && config->population_frac > 0.0) {
        requests =
            fmax(1.0, floor(config->population_frac * (double)config->actor_count));
    }
    return (size_t)floor(requests);
}

void fulcrum_measurement_free(struct fulcrum_measurement *measurement)
{
    if (measurement == NULL) {
        return;
    }
    for (size_t i = 0; i < measurement->count; i++) {
        free(measurement->items[i].windows);
    }
    free(measurement->items);
    free(measurement);
}

/* Windows that are still wanted of an item. */
static int is_wanted(
    const struct fulcrum_measure_options *options, const struct fulcrum_measured *item)
{
    size_t calm = 0;
    for (size_t i = 0; i < item->window_count; i++) {
        calm += !item->windows[i].is_disturbed;
    }
    return item->failure[0] == '\0' && calm < options->window_count &&
           item->window_count < options->most_windows;
}

/* Tells whoever waits how far the run is, and asks whether to go on. */
static int looks_around(void *user)
{
    struct session *session = user;
    const struct fulcrum_measure_options *options = session->options;
    double done = 0.0;
    for (size_t i = 0; i < session->found->count; i++) {
        const struct fulcrum_measured *item = &session->found->items[i];
        double share = (double)item->window_count / (double)options->window_count;
        done += is_wanted(options, item) ? fmin(share, 0.95) : 1.0;
    }
    done /= (double)session->found->count;
    double spent_s = fulcrum_wall_s() - session->start_s;
    if (options->progress != NULL) {
        const struct fulcrum_calibrate_progress progress = {.done_frac = done,
            .left_s = done > 0.0 ? spent_s * (1.0 - done) / done : (double)NAN,
            .what = "end to end"};
        options->progress(options->user, &progress);
    }
    if (options->stop != NULL && options->stop(options->user)) {
        session->is_stopped = 1;
    }
    return session->is_stopped;
}

static enum fulcrum_status check_options(
    const struct fulcrum_measure_options *options, struct fulcrum_error *err)
{
    if (options->config_count == 0) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE, "nothing to measure");
    }
    if (!(options->window_s > 0.0) || options->window_count == 0 ||
        options->most_windows < options->window_count) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "windows of %g s, %zu to %zu of them: expected at least one above 0 s",
            options->window_s, options->window_count, options->most_windows);
    }
    if (!(options->calm_wait_s >= 0.0)) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "a wait of %g s for a calm machine: expected at least 0",
            options->calm_wait_s);
    }
    for (size_t i = 0; i < options->config_count; i++) {
        const struct fulcrum_measure_config *config = &options->configs[i];
        if (config->actor_count == 0 || config->envs_per_actor == 0 ||
            config->actor_count * config->envs_per_actor > FULCRUM_MEASURE_ENVS_MOST) {
            return fulcrum_fail(err, FULCRUM_ERR_RANGE,
                "%zu actors with %zu environments: expected 1 to %d environments",
                config->actor_count, config->envs_per_actor,
                (int)FULCRUM_MEASURE_ENVS_MOST);
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status allocate(struct session *session, struct fulcrum_error *err)
{
    const struct fulcrum_measure_options *options = session->options;
    struct fulcrum_measurement *found = calloc(1, sizeof *found);
    struct fulcrum_measured *items = calloc(options->config_count, sizeof *items);
    if (found == NULL || items == NULL) {
        free(found);
        free(items);
        return fulcrum_fail(
            err, FULCRUM_ERR_NO_MEMORY, "%zu configurations", options->config_count);
    }
    found->items = items;
    found->count = options->config_count;
    session->found = found;
    for (size_t i = 0; i < found->count; i++) {
        items[i].config = options->configs[i];
        items[i].windows = calloc(options->most_windows, sizeof *items[i].windows);
        if (items[i].windows == NULL) {
            return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%zu windows of %zu",
                options->most_windows, found->count);
        }
    }
    return FULCRUM_OK;
}

/* One window of an item. Its own failure is kept; others end the run. */
static enum fulcrum_status measure_item(
    struct session *session, struct fulcrum_measured *item, struct fulcrum_error *err)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    struct fulcrum_measure_window window;
    enum fulcrum_status status =
        fulcrum_window_take(&session->room, &item->config, &window, &why);
    if (status == FULCRUM_OK) {
        item->windows[item->window_count++] = window;
        return FULCRUM_OK;
    }
    if (status == FULCRUM_ERR_INTERRUPTED) {
        session->is_stopped = 1;
        return FULCRUM_OK;
    }
    if (status != FULCRUM_ERR_ENVIRONMENT && status != FULCRUM_ERR_INFEASIBLE) {
        return fulcrum_fail(err, status, "%s", why.detail);
    }
    (void)snprintf(item->failure, sizeof item->failure, "%.*s",
        (int)sizeof item->failure - 1, why.detail);
    return status == FULCRUM_ERR_ENVIRONMENT
               ? fulcrum_window_room_renew(&session->room, err)
               : FULCRUM_OK;
}

/* One window of each item that wants one; `took_any`: whether there was such. */
static enum fulcrum_status measure_round(
    struct session *session, int *took_any, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    *took_any = 0;
    for (size_t i = 0; i < session->found->count && status == FULCRUM_OK; i++) {
        struct fulcrum_measured *item = &session->found->items[i];
        if (looks_around(session)) {
            break;
        }
        if (is_wanted(session->options, item)) {
            *took_any = 1;
            status = measure_item(session, item, err);
        }
    }
    return status;
}

static enum fulcrum_status measure_all(
    struct session *session, struct fulcrum_error *err)
{
    int took_any = 1;
    while (took_any && !session->is_stopped) {
        TRY(measure_round(session, &took_any, err));
    }
    return FULCRUM_OK;
}

/* Offsets of the numbers of a window that have a median. */
static const size_t medians[] = {
    offsetof(struct fulcrum_measure_window, steps_per_s),
    offsetof(struct fulcrum_measure_window, mean_batch),
    offsetof(struct fulcrum_measure_window, actor_busy_frac),
    offsetof(struct fulcrum_measure_window, server_busy_frac),
    offsetof(struct fulcrum_measure_window, train_busy_frac),
    offsetof(struct fulcrum_measure_window, train_step_count),
    offsetof(struct fulcrum_measure_window, actor_cpu_s),
    offsetof(struct fulcrum_measure_window, server_cpu_s),
    offsetof(struct fulcrum_measure_window, cpu_w),
    offsetof(struct fulcrum_measure_window, gpu_w),
    offsetof(struct fulcrum_measure_window, j_per_step),
    offsetof(struct fulcrum_measure_window, canary_rel),
    offsetof(struct fulcrum_measure_window, canary_s),
    offsetof(struct fulcrum_measure_window, others_frac),
};

/* The numbers at `offset` of the windows that count, sorted; returns how many. */
static size_t gather(
    const struct fulcrum_measured *item, int takes_all, size_t offset, double *values)
{
    size_t count = 0;
    for (size_t i = 0; i < item->window_count; i++) {
        if (takes_all || !item->windows[i].is_disturbed) {
            double value = 0.0;
            memcpy(&value, (const char *)&item->windows[i] + offset, sizeof value);
            values[count] = value;
            count += isnan(value) ? 0 : 1;
        }
    }
    gsl_sort(values, 1, count);
    return count;
}

static void summarise(struct fulcrum_measured *item, double *values)
{
    size_t calm = 0;
    for (size_t i = 0; i < item->window_count; i++) {
        calm += !item->windows[i].is_disturbed;
    }
    int takes_all = calm == 0;
    item->is_disturbed = calm == 0 || 2 * calm < item->window_count;
    for (size_t k = 0; k < sizeof medians / sizeof medians[0]; k++) {
        size_t count = gather(item, takes_all, medians[k], values);
        double median =
            count > 0 ? fulcrum_statistics_quantile(values, count, 0.5) : (double)NAN;
        memcpy((char *)&item->median + medians[k], &median, sizeof median);
    }
    size_t count = gather(item, takes_all, medians[0], values);
    item->lo = count > 0 ? values[0] : (double)NAN;
    item->hi = count > 0 ? values[count - 1] : (double)NAN;
}

static void describe(const struct session *session)
{
    struct fulcrum_measurement *found = session->found;
    const struct fulcrum_bench *bench = &session->room.bench;
    found->machine = session->room.machine;
    found->placement = session->room.placement;
    (void)snprintf(found->actor, sizeof found->actor, "%s", bench->stage.actor->name);
    (void)snprintf(found->actor_detail, sizeof found->actor_detail, "%s",
        bench->stage.info.detail);
    (void)snprintf(found->learner, sizeof found->learner, "%s", bench->learner->name);
    (void)snprintf(
        found->backend, sizeof found->backend, "%s", bench->learner_info.backend);
    found->frame_skip = bench->stage.info.frame_skip;
    found->observation_byte = (double)fulcrum_observation_byte(&bench->stage.info);
    found->input_byte = (double)bench->learner_info.input_byte;
    found->parameter_count = (double)bench->learner_info.parameter_count;
    found->forward_flop = bench->learner_info.forward_flop;
    found->train_step_flop = session->room.training.state != NULL
                                 ? session->room.training.info.train_step_flop
                                 : (double)NAN;
    (void)snprintf(found->energy_reason, sizeof found->energy_reason, "%s",
        session->room.energy_reason);
}

/* Which windows were disturbed is settled late: the canary's usual time is learnt. */
static enum fulcrum_status settle(struct session *session, struct fulcrum_error *err)
{
    double *values = calloc(session->options->most_windows, sizeof *values);
    if (values == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "medians");
    }
    session->found->is_complete = !session->is_stopped;
    for (size_t i = 0; i < session->found->count; i++) {
        summarise(&session->found->items[i], values);
    }
    free(values);
    describe(session);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_measure(struct fulcrum_measurement **out,
    const struct fulcrum_measure_options *options, struct fulcrum_error *err)
{
    struct session session = {.options = options, .start_s = fulcrum_wall_s()};
    enum fulcrum_status status = check_options(options, err);
    if (status == FULCRUM_OK) {
        status = allocate(&session, err);
    }
    if (status == FULCRUM_OK) {
        status = fulcrum_window_room_open(&session.room, options, err);
    }
    if (status == FULCRUM_OK) {
        session.room.stops = looks_around;
        session.room.user = &session;
        status = measure_all(&session, err);
    }
    if (status == FULCRUM_OK) {
        status = settle(&session, err);
    }
    fulcrum_window_room_close(&session.room);
    if (status != FULCRUM_OK) {
        fulcrum_measurement_free(session.found);
        return status;
    }
    *out = session.found;
    return session.is_stopped ? fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED,
                                    "the measurement was stopped after %.3g s",
                                    fulcrum_wall_s() - session.start_s)
                              : FULCRUM_OK;
}
