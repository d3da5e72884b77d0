/* measure_stages.c - the real pipeline with its stages recorded, and without. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/pipeline/stage_times.h"

#include <stdlib.h>

#include "calibrate/statistics.h"
#include "model/quantity.h"
#include "model/try.h"

/* Events of all tracks together, at 24 bytes: what a recording may take of memory. */
#define EVENTS_MOST 4000000

enum { TRACK_EVENTS_LEAST = 4096, TRACK_EVENTS_MOST = 262144 };

struct session {
    const struct fulcrum_measure_stages_options *options;
    struct fulcrum_window_room room;
    struct fulcrum_stages_measurement *found;
    double *recorded_per_s; /* of the configuration at hand, pair by pair; owned with
                               the two behind it */
    double *unrecorded_per_s;
    double *corrected_per_s;
    size_t done_count; /* windows */
};

void fulcrum_stages_measurement_free(struct fulcrum_stages_measurement *measurement)
{
    if (measurement == NULL) {
        return;
    }
    for (size_t i = 0; i < measurement->count; i++) {
        fulcrum_stage_times_free(&measurement->items[i].times);
    }
    free(measurement->items);
    free(measurement);
}

static enum fulcrum_status check_options(
    const struct fulcrum_measure_stages_options *options, struct fulcrum_error *err)
{
    const struct fulcrum_measure_options *measure = options->measure;
    FAIL_IF(measure->config_count == 0 || options->pair_count == 0 ||
                !(measure->window_s > 0.0),
        err, FULCRUM_ERR_RANGE,
        "%zu configurations, %zu pairs of windows of %g s: expected one or more of "
        "each above 0 s",
        measure->config_count, options->pair_count, measure->window_s);
    return fulcrum_measure_check_configs(measure, err);
}

/* Tells whoever waits how far the run is, and asks whether to go on. */
static bool looks_around(void *user)
{
    const struct session *session = user;
    const struct fulcrum_measure_options *measure = session->options->measure;
    double whole = 2.0 * (double)(session->options->pair_count * measure->config_count);
    double done = (double)session->done_count / whole;
    return fulcrum_listener_told(&measure->listener, done, "stages");
}

static enum fulcrum_status new_recorder(struct fulcrum_recorder **out,
    const struct fulcrum_measure_config *config, struct fulcrum_error *err)
{
    size_t tracks = FULCRUM_LIVE_ACTORS + config->actor_count;
    size_t capacity = EVENTS_MOST / tracks;
    capacity = capacity < TRACK_EVENTS_LEAST ? TRACK_EVENTS_LEAST : capacity;
    capacity = capacity > TRACK_EVENTS_MOST ? TRACK_EVENTS_MOST : capacity;
    return fulcrum_recorder_new(out, tracks, capacity, err);
}

static enum fulcrum_status take(struct session *session,
    struct fulcrum_measured_stages *item, struct fulcrum_recorder *recorder,
    double *steps_per_s, struct fulcrum_error *err)
{
    struct fulcrum_measure_window window;
    session->room.recorder = recorder;
    enum fulcrum_status status =
        fulcrum_window_take(&session->room, &item->config, &window, err);
    session->room.recorder = NULL;
    if (status == FULCRUM_OK) {
        *steps_per_s = window.steps_per_s;
        item->disturbed_count += window.is_disturbed ? 1 : 0;
        session->done_count++;
    }
    return status;
}

/* What the recorder saw, in place of what it saw before. */
static enum fulcrum_status analyse(struct session *session,
    struct fulcrum_measured_stages *item, const struct fulcrum_recorder *recorder,
    size_t pair, struct fulcrum_error *err)
{
    const struct fulcrum_measure_stages_options *options = session->options;
    struct fulcrum_stages_measurement *found = session->found;
    double rate = session->recorded_per_s[pair];
    const struct fulcrum_stage_facts facts = {
        .step_count = rate * fulcrum_recorder_window_s(recorder), .cost = found->cost};
    fulcrum_stage_times_free(&item->times);
    TRY(fulcrum_stage_times_new(&item->times, recorder, &facts, err));
    session->corrected_per_s[pair] =
        rate * item->times.window_s / item->times.corrected_window_s;
    bool is_last =
        pair + 1 == options->pair_count && item == &found->items[found->count - 1];
    if (options->trace_path == NULL || !is_last) {
        return FULCRUM_OK;
    }
    return fulcrum_recorder_save_trace(
        recorder, options->trace_path, options->span_max, NULL, err);
}

static enum fulcrum_status take_recorded(struct session *session,
    struct fulcrum_measured_stages *item, size_t pair, struct fulcrum_error *err)
{
    struct fulcrum_recorder *recorder = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(new_recorder(&recorder, &item->config, err));
    TRY_OR_END(take(session, item, recorder, &session->recorded_per_s[pair], err));
    status = analyse(session, item, recorder, pair, err);
end:
    fulcrum_recorder_free(recorder);
    return status;
}

static enum fulcrum_status take_pair(struct session *session,
    struct fulcrum_measured_stages *item, size_t pair, struct fulcrum_error *err)
{
    for (size_t half = 0; half < 2; half++) {
        TRY(pair % 2 == half
                ? take_recorded(session, item, pair, err)
                : take(session, item, NULL, &session->unrecorded_per_s[pair], err));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status summarise(struct session *session,
    struct fulcrum_measured_stages *item, struct fulcrum_error *err)
{
    size_t count = session->options->pair_count;
    enum fulcrum_status status = FULCRUM_OK;
    if (count > 1) {
        status = fulcrum_recorder_cost_of_pairs(&item->pairs, session->recorded_per_s,
            session->unrecorded_per_s, count, err);
    }
    /* Pairs are not needed any more: medians sort them. */
    item->recorded_steps_per_s =
        fulcrum_statistics_median(session->recorded_per_s, count);
    item->unrecorded_steps_per_s =
        fulcrum_statistics_median(session->unrecorded_per_s, count);
    item->corrected_steps_per_s =
        fulcrum_statistics_median(session->corrected_per_s, count);
    return status;
}

/* A configuration that cannot run, or whose environment failed, keeps its reason. */
static enum fulcrum_status measure_item(struct session *session,
    struct fulcrum_measured_stages *item, struct fulcrum_error *err)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t pair = 0; pair < session->options->pair_count && status == FULCRUM_OK;
         pair++) {
        status = take_pair(session, item, pair, &why);
    }
    if (status == FULCRUM_OK) {
        return summarise(session, item, err);
    }
    fulcrum_stage_times_free(&item->times);
    return fulcrum_window_keep_failure(&session->room, &why, item->failure, err);
}

static enum fulcrum_status new_items(struct session *session, struct fulcrum_error *err)
{
    const struct fulcrum_measure_options *measure = session->options->measure;
    size_t pairs = session->options->pair_count;
    session->recorded_per_s = calloc(pairs, 3 * sizeof *session->recorded_per_s);
    session->found = calloc(1, sizeof *session->found);
    struct fulcrum_measured_stages *items =
        calloc(measure->config_count, sizeof *items);
    if (session->found == NULL || session->recorded_per_s == NULL || items == NULL) {
        free(items);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY,
            "%zu configurations and %zu pairs", measure->config_count, pairs);
    }
    session->unrecorded_per_s = session->recorded_per_s + pairs;
    session->corrected_per_s = session->unrecorded_per_s + pairs;
    session->found->items = items;
    session->found->count = measure->config_count;
    for (size_t i = 0; i < measure->config_count; i++) {
        items[i].config = measure->configs[i];
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_measure_stages(struct fulcrum_stages_measurement **out,
    const struct fulcrum_measure_stages_options *options, struct fulcrum_error *err)
{
    struct session session = {.options = options};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(check_options(options, err));
    TRY_OR_END(new_items(&session, err));
    TRY_OR_END(fulcrum_window_room_open(&session.room, options->measure, err));
    session.room.listener =
        (struct fulcrum_listener){.stop = looks_around, .user = &session};
    TRY_OR_END(fulcrum_recorder_cost_measure(&session.found->cost, err));
    for (size_t i = 0; i < session.found->count; i++) {
        TRY_OR_END(measure_item(&session, &session.found->items[i], err));
    }
    *out = session.found;
end:
    fulcrum_window_room_close(&session.room);
    free(session.recorded_per_s);
    if (status != FULCRUM_OK) {
        fulcrum_stages_measurement_free(session.found);
    }
    return status;
}
