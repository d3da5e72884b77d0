/* test_trace.c - traces read back: in order, nested, whole. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <json-c/json.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/actor/request_queue.h"
#include "calibrate/pipeline/recorder.h"
#include "presets/load/trace_save.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

/* A case that writes a trace to that path, and nothing beside it. */
#define TRACE_TEST(function) TEST_EACH(function, with_path, const char *path)
static void with_path(void (*run)(const char *path))
{
    struct scratch scratch = scratch_new();
    char *path = scratch_path(&scratch, "trace.json");
    run(path);
    CU_ASSERT_EQUAL(scratch_count(&scratch), 1);
    free(path);
    scratch_free(&scratch);
}

static struct json_object *load(const char *path)
{
    char *text = scratch_read(path);
    struct json_object *document = json_tokener_parse(text);
    free(text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(document);
    return document;
}

static struct json_object *events_of(struct json_object *document)
{
    return json_object_object_get(document, "traceEvents");
}

static const char *text_of(struct json_object *event, const char *key)
{
    return json_object_get_string(json_object_object_get(event, key));
}

static double number_of(struct json_object *event, const char *key)
{
    return json_object_get_double(json_object_object_get(event, key));
}

static bool is_phase(struct json_object *event, const char *phase)
{
    return strcmp(text_of(event, "ph"), phase) == 0;
}

/* The name that metadata give a process (thread 0) or a thread; "" for none. */
static const char *name_of(
    struct json_object *events, const char *what, double process, double thread)
{
    for (size_t i = 0; i < json_object_array_length(events); i++) {
        struct json_object *event = json_object_array_get_idx(events, i);
        if (is_phase(event, "M") && strcmp(text_of(event, "name"), what) == 0 &&
            number_of(event, "pid") == process && number_of(event, "tid") == thread) {
            return text_of(json_object_object_get(event, "args"), "name");
        }
    }
    return "";
}

static size_t span_count(struct json_object *events)
{
    size_t count = 0;
    for (size_t i = 0; i < json_object_array_length(events); i++) {
        count += is_phase(json_object_array_get_idx(events, i), "X") ? 1 : 0;
    }
    return count;
}

static enum fulcrum_status save(const char *path,
    const struct fulcrum_trace_lane *lanes, size_t count, size_t span_max,
    struct fulcrum_trace_saved *saved)
{
    static const char *const processes[] = {"threads", "device"};
    const struct fulcrum_trace trace = {.processes = processes,
        .process_count = 2,
        .lanes = lanes,
        .lane_count = count,
        .span_max = span_max};
    return fulcrum_trace_save(path, &trace, saved, NULL);
}

TRACE_TEST(test_names_times_and_lanes_are_written)
{
    const struct fulcrum_trace_span spans[] = {
        {0.0, 3e-3, "outer \"one\""}, {1e-3, 2.0000005e-3, "inner"}};
    const struct fulcrum_trace_span device[] = {{1.25e-6, 2.5e-6, "kernel"}};
    const struct fulcrum_trace_lane lanes[] = {
        {"actor 0", 0, spans, 2}, {"server", 1, device, 1}};
    struct fulcrum_trace_saved saved;
    ASSERT_OK(save(path, lanes, 2, 0, &saved));
    CU_ASSERT_EQUAL(saved.span_count, 3);
    CU_ASSERT_EQUAL(saved.left_out_count, 0);
    struct json_object *document = load(path);
    struct json_object *events = events_of(document);
    CU_ASSERT_EQUAL(span_count(events), 3);
    CU_ASSERT_STRING_EQUAL(name_of(events, "process_name", 1, 0), "threads");
    CU_ASSERT_STRING_EQUAL(name_of(events, "process_name", 2, 0), "device");
    CU_ASSERT_STRING_EQUAL(name_of(events, "thread_name", 1, 1), "actor 0");
    CU_ASSERT_STRING_EQUAL(name_of(events, "thread_name", 2, 2), "server");
    struct json_object *last =
        json_object_array_get_idx(events, json_object_array_length(events) - 1);
    CU_ASSERT_STRING_EQUAL(text_of(last, "name"), "kernel");
    assert_close("ts in us", number_of(last, "ts"), 1.25, 1e-12);
    assert_close("dur in us", number_of(last, "dur"), 1.25, 1e-12);
    json_object_put(document);
}

/* A thousand spans of 1 ms, room for a hundred: the first and the last ones stay. */
TRACE_TEST(test_spans_in_the_middle_are_left_out_and_said_so)
{
    enum { COUNT = 1000, ROOM = 100 };
    static struct fulcrum_trace_span spans[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        spans[i] = (struct fulcrum_trace_span){
            1e-3 * (double)i, 1e-3 * (double)(i + 1), "step"};
    }
    const struct fulcrum_trace_lane lanes[] = {
        {"even", 0, spans, COUNT / 2}, {"odd", 0, spans + COUNT / 2, COUNT / 2}};
    struct fulcrum_trace_saved saved;
    ASSERT_OK(save(path, lanes, 2, ROOM, &saved));
    CU_ASSERT(saved.span_count <= ROOM && saved.span_count >= ROOM - 2);
    CU_ASSERT_EQUAL(saved.left_out_count, COUNT - saved.span_count);
    assert_close("from", saved.left_out_begin_s, 0.05, 0.05);
    assert_close("to", saved.left_out_end_s, 0.95, 0.05);
    struct json_object *document = load(path);
    struct json_object *events = events_of(document);
    CU_ASSERT_EQUAL(span_count(events), saved.span_count + 1);
    CU_ASSERT_STRING_EQUAL(name_of(events, "thread_name", 1, 0), "left out");
    /* After the names of the processes and of its own lane. */
    struct json_object *gap = json_object_array_get_idx(events, 3);
    assert_part(text_of(gap, "name"), "spans left out");
    assert_close("gap", number_of(gap, "ts"), 1e6 * saved.left_out_begin_s, 1e-6);
    json_object_put(document);
}

TRACE_TEST(test_empty_traces_are_valid_too)
{
    ASSERT_OK(save(path, NULL, 0, 1, NULL));
    struct json_object *document = load(path);
    CU_ASSERT_EQUAL(span_count(events_of(document)), 0);
    json_object_put(document);
}

TEST(test_folders_that_are_not_there_are_told)
{
    struct scratch scratch = scratch_new();
    char *path = scratch_path(&scratch, "nowhere/trace.json");
    CU_ASSERT_EQUAL(save(path, NULL, 0, 1, NULL), FULCRUM_ERR_FILE);
    CU_ASSERT_EQUAL(scratch_count(&scratch), 0);
    free(path);
    scratch_free(&scratch);
}

/* --- A recording -------------------------------------------------------------------
 */

static struct fulcrum_recorder *record(size_t cycles)
{
    struct fulcrum_recorder *recorder = NULL;
    ASSERT_OK(fulcrum_recorder_new(&recorder, 2, 0, NULL));
    fulcrum_recorder_attach(recorder, 0, "actor 7", 0);
    fulcrum_recorder_start(recorder);
    for (size_t i = 0; i < cycles; i++) {
        fulcrum_recorder_next(recorder, 0, FULCRUM_STAGE_SIMULATION);
        fulcrum_spin_s(1e-6);
        fulcrum_recorder_next(recorder, 0, FULCRUM_STAGE_HANDOFF);
        fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_WAIT);
        fulcrum_recorder_end(recorder, 0);
    }
    fulcrum_recorder_end(recorder, 0);
    fulcrum_recorder_stop(recorder);
    return recorder;
}

enum { DEPTH_MAX = 8, TRACE_THREADS = 4 };

/* What lies on one thread of a trace, as read back. */
struct thread_check {
    double begin_us;
    double ends_us[DEPTH_MAX];
    size_t depth;
    double sums_us[FULCRUM_STAGE_KIND_COUNT]; /* exclusive */
    size_t kinds[DEPTH_MAX];
};

static size_t kind_named(const char *name)
{
    size_t k = 0;
    while (k < FULCRUM_STAGE_KIND_COUNT &&
           strcmp(fulcrum_stage_kind_name((enum fulcrum_stage_kind)k), name) != 0) {
        k++;
    }
    CU_ASSERT_FATAL(k < FULCRUM_STAGE_KIND_COUNT);
    return k;
}

/* Begins never go back; a span ends within the one that it begins in. */
static void check_span(struct thread_check *check, struct json_object *event)
{
    const double rounding_us = 1e-6;
    double begin_us = number_of(event, "ts");
    double end_us = begin_us + number_of(event, "dur");
    size_t kind = kind_named(text_of(event, "name"));
    CU_ASSERT(begin_us >= check->begin_us - rounding_us);
    CU_ASSERT(number_of(event, "dur") >= 0.0);
    while (check->depth > 0 &&
           check->ends_us[check->depth - 1] <= begin_us + rounding_us) {
        check->depth--;
    }
    if (check->depth > 0) {
        CU_ASSERT(end_us <= check->ends_us[check->depth - 1] + rounding_us);
        check->sums_us[check->kinds[check->depth - 1]] -= end_us - begin_us;
    }
    CU_ASSERT_FATAL(check->depth < DEPTH_MAX);
    check->sums_us[kind] += end_us - begin_us;
    check->kinds[check->depth] = kind;
    check->ends_us[check->depth++] = end_us;
    check->begin_us = begin_us;
}

static void check_threads(struct json_object *events, struct thread_check *threads)
{
    for (size_t i = 0; i < json_object_array_length(events); i++) {
        struct json_object *event = json_object_array_get_idx(events, i);
        size_t thread = (size_t)number_of(event, "tid");
        if (is_phase(event, "X") && thread < TRACE_THREADS) {
            check_span(&threads[thread], event);
        }
    }
}

TRACE_TEST(test_recordings_read_back_monotone_nested_and_whole)
{
    enum { CYCLES = 200 };
    struct fulcrum_recorder *recorder = record(CYCLES);
    struct fulcrum_trace_saved saved;
    ASSERT_OK(fulcrum_recorder_save_trace(recorder, path, 0, &saved, NULL));
    struct fulcrum_recorder_track track = fulcrum_recorder_read(recorder, 0);
    CU_ASSERT_EQUAL(track.event_count, (size_t)3 * CYCLES);
    struct json_object *document = load(path);
    struct json_object *events = events_of(document);
    struct thread_check threads[TRACE_THREADS];
    memset(threads, 0, sizeof threads);
    check_threads(events, threads);
    for (size_t k = 0; k < FULCRUM_STAGE_KIND_COUNT; k++) {
        /* Each end is rounded to a nanosecond. */
        CU_ASSERT(fabs(1e-6 * threads[1].sums_us[k] - track.totals[k].exclusive_s) <
                  2e-9 * 3.0 * CYCLES);
    }
    CU_ASSERT_STRING_EQUAL(name_of(events, "thread_name", 1, 1), "actor 7");
    /* Track 1 had no thread. */
    CU_ASSERT_STRING_EQUAL(name_of(events, "thread_name", 1, 2), "");
    CU_ASSERT_STRING_EQUAL(name_of(events, "process_name", 2, 0), "");
    CU_ASSERT_EQUAL(span_count(events), saved.span_count);
    json_object_put(document);
    fulcrum_recorder_free(recorder);
}
