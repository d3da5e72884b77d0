/* trace_save.c - spans of threads and devices as a trace that viewers of traces open.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One event per line, each made and written by itself, so that memory does not grow
 * with the trace. The format: "Trace Event Format", Google, 2016 (docs.google.com/
 * document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU).
 */
#include "presets/load/trace_save.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "model/string.h"
#include "model/try.h"
#include "presets/io/json.h"
#include "presets/io/output.h"

/* Halvings of the time that is kept: down to a millionth of it. */
enum { HALVINGS = 20 };

struct writer {
    FILE *stream;
    size_t event_count;
    struct fulcrum_string event;
};

/* Viewers count from 1; lane 0 of the first process is that of the gap. */
static void begin_event(struct writer *writer, const char *name, const char *phase,
    size_t process, size_t thread)
{
    writer->event.length = 0;
    fulcrum_string_add(
        &writer->event, "%s{\"name\":", writer->event_count++ > 0 ? ",\n" : "");
    fulcrum_json_quote(&writer->event, name);
    fulcrum_string_add(&writer->event, ",\"ph\":\"%s\",\"pid\":%zu,\"tid\":%zu", phase,
        process + 1, thread);
}

static void put_name(struct writer *writer, const char *what, size_t process,
    size_t thread, const char *name)
{
    begin_event(writer, what, "M", process, thread);
    fulcrum_string_add(&writer->event, ",\"args\":{\"name\":");
    fulcrum_json_quote(&writer->event, name);
    (void)fprintf(writer->stream, "%s}}", fulcrum_string_get(&writer->event));
}

/* Whole nanoseconds: rounding both ends keeps spans inside those around them. */
static void put_span(struct writer *writer, const struct fulcrum_trace_span *span,
    size_t process, size_t thread)
{
    double begin_ns = round(1e9 * span->begin_s);
    double end_ns = round(1e9 * span->end_s);
    begin_event(writer, span->name, "X", process, thread);
    fulcrum_string_add(&writer->event, ",\"ts\":");
    fulcrum_json_number(&writer->event, begin_ns / 1e3);
    fulcrum_string_add(&writer->event, ",\"dur\":");
    fulcrum_json_number(&writer->event, (end_ns - begin_ns) / 1e3);
    (void)fprintf(writer->stream, "%s}", fulcrum_string_get(&writer->event));
}

/* From `begin_s` to `end_s` nothing is written. */
struct gap {
    double begin_s;
    double end_s;
};

static bool is_kept(const struct fulcrum_trace_span *span, const struct gap *gap)
{
    return span->begin_s < gap->begin_s || span->end_s > gap->end_s;
}

static size_t count_kept(const struct fulcrum_trace *trace, const struct gap *gap)
{
    size_t count = 0;
    for (size_t i = 0; i < trace->lane_count; i++) {
        for (size_t j = 0; j < trace->lanes[i].count; j++) {
            count += is_kept(&trace->lanes[i].spans[j], gap) ? 1 : 0;
        }
    }
    return count;
}

static size_t span_count(const struct fulcrum_trace *trace)
{
    const struct gap none = {INFINITY, INFINITY};
    return count_kept(trace, &none);
}

/* The shortest gap in the middle that leaves at most `most` spans; an empty one where
 * all have room. */
static struct gap find_gap(const struct fulcrum_trace *trace, size_t most)
{
    double whole_s = 0.0;
    for (size_t i = 0; i < trace->lane_count; i++) {
        for (size_t j = 0; j < trace->lanes[i].count; j++) {
            whole_s = fmax(whole_s, trace->lanes[i].spans[j].end_s);
        }
    }
    struct gap gap = {whole_s, whole_s};
    double fits_s = 0.0; /* kept at either end */
    double too_many_s = 0.5 * whole_s;
    if (span_count(trace) <= most) {
        return gap;
    }
    for (int i = 0; i < HALVINGS; i++) {
        double middle_s = 0.5 * (fits_s + too_many_s);
        gap = (struct gap){middle_s, whole_s - middle_s};
        if (count_kept(trace, &gap) <= most) {
            fits_s = middle_s;
        } else {
            too_many_s = middle_s;
        }
    }
    return (struct gap){fits_s, whole_s - fits_s};
}

enum fulcrum_status fulcrum_trace_save(const char *path,
    const struct fulcrum_trace *trace, struct fulcrum_trace_saved *saved,
    struct fulcrum_error *err)
{
    struct fulcrum_output *output = NULL;
    TRY(fulcrum_output_open(path, &output, err));
    struct gap gap =
        find_gap(trace, trace->span_max > 0 ? trace->span_max : FULCRUM_TRACE_SPAN_MAX);
    struct fulcrum_trace_saved counts = {.span_count = count_kept(trace, &gap)};
    struct writer writer = {.stream = fulcrum_output_stream(output)};
    counts.left_out_count = span_count(trace) - counts.span_count;
    (void)fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n", writer.stream);
    for (size_t i = 0; i < trace->process_count; i++) {
        put_name(&writer, "process_name", i, 0, trace->processes[i]);
    }
    if (counts.left_out_count > 0) {
        counts.left_out_begin_s = gap.begin_s;
        counts.left_out_end_s = gap.end_s;
        char name[64];
        struct fulcrum_trace_span span = {gap.begin_s, gap.end_s, name};
        (void)snprintf(name, sizeof name, "%zu spans left out", counts.left_out_count);
        put_name(&writer, "thread_name", 0, 0, "left out");
        put_span(&writer, &span, 0, 0);
    }
    for (size_t i = 0; i < trace->lane_count; i++) {
        const struct fulcrum_trace_lane *lane = &trace->lanes[i];
        size_t thread = i + 1;
        put_name(&writer, "thread_name", lane->process, thread, lane->name);
        /* Lanes in their order, not in that of their names. */
        begin_event(&writer, "thread_sort_index", "M", lane->process, thread);
        (void)fprintf(writer.stream, "%s,\"args\":{\"sort_index\":%zu}}",
            fulcrum_string_get(&writer.event), thread);
        for (size_t j = 0; j < lane->count; j++) {
            if (is_kept(&lane->spans[j], &gap)) {
                put_span(&writer, &lane->spans[j], lane->process, thread);
            }
        }
    }
    (void)fputs("\n]}\n", writer.stream);
    bool is_lost = writer.event.is_lost;
    fulcrum_string_clear(&writer.event);
    if (is_lost) {
        fulcrum_output_discard(output);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%s", path);
    }
    TRY(fulcrum_output_commit(output, err));
    if (saved != NULL) {
        *saved = counts;
    }
    return FULCRUM_OK;
}
