/* recorder.c - which stage each thread of a run is in, moment by moment. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A track keeps the stages it is in on a small stack. The stage that ends goes to an
 * array made beforehand and to totals that need no room; its time is taken off the
 * stage around it. Both ends are cut to the window, of which threads learn through two
 * atomic times: a stage is counted when it ends, so that one which the window's begin
 * or end divides counts with the part inside.
 */
#define _POSIX_C_SOURCE 200809L

#include "calibrate/pipeline/recorder.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calibrate/stopwatch.h"
#include "model/quantity.h"
#include "model/try.h"

enum { CAPACITY_DEFAULT = 65536, LINE_BYTE = 128 };

/* Times before and after all others. */
#define NEVER ((double)INFINITY)

/*
 * The window opens or closes at this moment: the controller has announced it and is
 * about to read its clock. Whoever ends a stage now waits for that time, so that no
 * stage that ended later is taken for one within the window, however long the
 * controller is kept from its core in between.
 */
#define ABOUT_TO ((double)NAN)

/* What the controller may read of a thread's CPU clock. */
enum attachment { UNATTACHED, ATTACHED, DETACHED };

struct frame {
    double begin_s;
    double inside_s; /* of stages within */
    uint8_t kind;
    uint8_t is_recorded;
    uint8_t is_chained; /* entered by next */
};

struct track {
    /* Apart from its neighbours', or each event would move a cache line. */
    alignas(LINE_BYTE) struct frame frames[FULCRUM_RECORDER_DEPTH_MAX];
    size_t depth; /* may exceed the frames there are */
    int records;  /* this cycle */
    size_t sample_every;
    size_t skip_count; /* cycles until the next one that is recorded */
    uint32_t random;
    struct fulcrum_recorder_event *events; /* owned */
    struct fulcrum_recorder_track result;
    char name[FULCRUM_RECORDER_NAME_SIZE];
    clockid_t cpu_clock;
    atomic_int attachment;
    _Atomic double cpu_begin_s;
    _Atomic double cpu_end_s;
};

struct fulcrum_recorder {
    _Atomic double begin_s; /* of the window; NEVER until it opens */
    _Atomic double end_s;   /* NEVER until it closes */
    double injected_s[FULCRUM_STAGE_KIND_COUNT];
    size_t capacity;
    size_t track_count;
    struct track *tracks; /* owned */
};

static double cpu_time_s(clockid_t clock)
{
    struct timespec now = {0, 0};
    if (clock_gettime(clock, &now) != 0) {
        return FULCRUM_UNKNOWN;
    }
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int track_init(struct track *track, size_t number, size_t capacity)
{
    track->events = calloc(capacity, sizeof *track->events);
    if (track->events == NULL) {
        return 0;
    }
    /* Writes every page; the values are never read. */
    for (size_t i = 0; i < capacity; i++) {
        track->events[i].begin_s = FULCRUM_UNKNOWN;
    }
    track->records = 1;
    track->random = (uint32_t)number + 1U;
    track->result.events = track->events;
    track->result.name = track->name;
    track->result.processor_group = number;
    (void)snprintf(track->name, sizeof track->name, "thread %zu", number);
    atomic_init(&track->attachment, UNATTACHED);
    atomic_init(&track->cpu_begin_s, FULCRUM_UNKNOWN);
    atomic_init(&track->cpu_end_s, FULCRUM_UNKNOWN);
    return 1;
}

/* Zeros at addresses that cache lines begin at; calloc does not promise these. */
static struct track *new_tracks(size_t count)
{
    if (count > SIZE_MAX / sizeof(struct track)) {
        return NULL;
    }
    struct track *tracks = aligned_alloc(LINE_BYTE, count * sizeof *tracks);
    if (tracks != NULL) {
        memset(tracks, 0, count * sizeof *tracks);
    }
    return tracks;
}

enum fulcrum_status fulcrum_recorder_new(struct fulcrum_recorder **out,
    const struct fulcrum_recorder_options *options, struct fulcrum_error *err)
{
    FAIL_IF(options->track_count == 0, err, FULCRUM_ERR_RANGE,
        "track_count = 0: expected 1 or more");
    for (size_t k = 0; k < FULCRUM_STAGE_KIND_COUNT; k++) {
        FAIL_IF(!(options->injected_s[k] >= 0.0 && options->injected_s[k] <= 1.0), err,
            FULCRUM_ERR_RANGE, "injected_s of %s = %g is outside [0, 1]",
            fulcrum_stage_kind_name((enum fulcrum_stage_kind)k),
            options->injected_s[k]);
    }
    struct fulcrum_recorder *recorder = calloc(1, sizeof *recorder);
    struct track *tracks = new_tracks(options->track_count);
    if (recorder == NULL || tracks == NULL) {
        free(recorder);
        free(tracks);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%zu tracks of a recording",
            options->track_count);
    }
    atomic_init(&recorder->begin_s, NEVER);
    atomic_init(&recorder->end_s, NEVER);
    memcpy(recorder->injected_s, options->injected_s, sizeof recorder->injected_s);
    recorder->capacity =
        options->event_capacity > 0 ? options->event_capacity : CAPACITY_DEFAULT;
    recorder->track_count = options->track_count;
    recorder->tracks = tracks;
    for (size_t i = 0; i < recorder->track_count; i++) {
        if (!track_init(&tracks[i], i, recorder->capacity)) {
            size_t capacity = recorder->capacity;
            fulcrum_recorder_free(recorder);
            return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY,
                "%zu events on each of %zu tracks", capacity, options->track_count);
        }
    }
    *out = recorder;
    return FULCRUM_OK;
}

void fulcrum_recorder_free(struct fulcrum_recorder *recorder)
{
    if (recorder == NULL) {
        return;
    }
    for (size_t i = 0; i < recorder->track_count; i++) {
        free(recorder->tracks[i].events);
    }
    free(recorder->tracks);
    free(recorder);
}

/* A thread that has ended keeps the time that it left when it detached. */
static void read_cpu_clock(struct track *track, _Atomic double *out_s)
{
    if (atomic_load(&track->attachment) == ATTACHED) {
        double now_s = cpu_time_s(track->cpu_clock);
        if (!isnan(now_s)) {
            atomic_store(out_s, now_s);
        }
    }
}

void fulcrum_recorder_start(struct fulcrum_recorder *recorder)
{
    if (recorder == NULL) {
        return;
    }
    for (size_t i = 0; i < recorder->track_count; i++) {
        read_cpu_clock(&recorder->tracks[i], &recorder->tracks[i].cpu_begin_s);
    }
    atomic_store(&recorder->begin_s, ABOUT_TO);
    atomic_store(&recorder->begin_s, fulcrum_wall_s());
}

void fulcrum_recorder_stop(struct fulcrum_recorder *recorder)
{
    if (recorder == NULL) {
        return;
    }
    atomic_store(&recorder->end_s, ABOUT_TO);
    atomic_store(&recorder->end_s, fulcrum_wall_s());
    for (size_t i = 0; i < recorder->track_count; i++) {
        read_cpu_clock(&recorder->tracks[i], &recorder->tracks[i].cpu_end_s);
    }
}

void fulcrum_recorder_attach(struct fulcrum_recorder *recorder, size_t number,
    const struct fulcrum_recorder_role *role)
{
    if (recorder == NULL) {
        return;
    }
    assert(number < recorder->track_count);
    struct track *track = &recorder->tracks[number];
    (void)snprintf(track->name, sizeof track->name, "%s", role->name);
    track->sample_every = role->sample_every;
    track->result.processor_group = role->processor_group;
    if (pthread_getcpuclockid(pthread_self(), &track->cpu_clock) == 0) {
        /* Of use to a thread that attaches when the window is open already. */
        atomic_store(&track->cpu_begin_s, cpu_time_s(track->cpu_clock));
        atomic_store(&track->attachment, ATTACHED);
    }
}

void fulcrum_recorder_detach(struct fulcrum_recorder *recorder, size_t number)
{
    if (recorder == NULL) {
        return;
    }
    assert(number < recorder->track_count);
    struct track *track = &recorder->tracks[number];
    if (isinf(atomic_load(&recorder->end_s))) {
        read_cpu_clock(track, &track->cpu_end_s);
    }
    atomic_store(&track->attachment, DETACHED);
}

static struct track *track_of(struct fulcrum_recorder *recorder, size_t number)
{
    assert(number < recorder->track_count);
    return &recorder->tracks[number];
}

/* An edge of the window, after the clock was read. */
static double edge_s(const _Atomic double *time_s)
{
    double edge = atomic_load_explicit(time_s, memory_order_acquire);
    while (isnan(edge)) {
        (void)sched_yield();
        edge = atomic_load_explicit(time_s, memory_order_acquire);
    }
    return edge;
}

void fulcrum_recorder_cycle_on(struct fulcrum_recorder *recorder, size_t number)
{
    struct track *track = track_of(recorder, number);
    if (track->sample_every > 1) {
        if (track->skip_count == 0) {
            /* Gaps of 1 to 2 n - 1 cycles, n on average. */
            /* Numerical Recipes' generator; its high bits are good enough to break
             * rhythms. */
            track->random = 1664525U * track->random + 1013904223U;
            track->skip_count =
                1 + (track->random >> 8) % (2 * track->sample_every - 1);
        }
        track->skip_count--;
        track->records = track->skip_count == 0;
    }
    /* Counts may miss a cycle at an edge: they need no waiting. */
    bool is_open =
        !isinf(atomic_load_explicit(&recorder->begin_s, memory_order_relaxed)) &&
        isinf(atomic_load_explicit(&recorder->end_s, memory_order_relaxed));
    if (is_open) {
        track->result.cycle_count += 1.0;
        track->result.recorded_cycle_count += track->records ? 1.0 : 0.0;
    }
}

static void store(const struct fulcrum_recorder *recorder, struct track *track,
    const struct fulcrum_recorder_event *event)
{
    struct fulcrum_recorder_track *result = &track->result;
    if (result->event_count < recorder->capacity) {
        track->events[result->event_count++] = *event;
    } else {
        result->dropped_count++;
        result->dropped_s += event->depth == 0 ? event->end_s - event->begin_s : 0.0;
    }
}

/* Cuts an event to the window. Returns 0 where nothing is left. */
static int cut(
    const struct fulcrum_recorder *recorder, struct fulcrum_recorder_event *event)
{
    double from_s = edge_s(&recorder->begin_s);
    double to_s = edge_s(&recorder->end_s);
    double begin_s = event->begin_s > from_s ? event->begin_s : from_s;
    double end_s = event->end_s < to_s ? event->end_s : to_s;
    if (end_s <= begin_s) {
        return 0;
    }
    event->begin_s = begin_s - from_s;
    event->end_s = end_s - from_s;
    return 1;
}

/* Enters the stage whose frame is at `depth`; `now_s` is not used where not recorded.
 */
static void enter(
    struct track *track, enum fulcrum_stage_kind kind, double now_s, bool is_chained)
{
    track->frames[track->depth - 1] = (struct frame){.begin_s = now_s,
        .kind = (uint8_t)kind,
        .is_recorded = (uint8_t)track->records,
        .is_chained = (uint8_t)is_chained};
}

/* Counts the innermost stage, which ends now. */
static void leave(const struct fulcrum_recorder *recorder, struct track *track,
    double now_s, bool is_chained)
{
    size_t depth = track->depth - 1;
    const struct frame *frame = &track->frames[depth];
    struct fulcrum_recorder_event event = {.begin_s = frame->begin_s,
        .end_s = now_s,
        .kind = frame->kind,
        .resource = FULCRUM_STAGE_CPU,
        .depth = (uint8_t)depth};
    if (!cut(recorder, &event)) {
        return;
    }
    double span_s = event.end_s - event.begin_s;
    struct fulcrum_recorder_total *totals = track->result.totals[FULCRUM_STAGE_CPU];
    struct fulcrum_recorder_total *total = &totals[frame->kind];
    double chained = (double)(frame->is_chained + is_chained);
    total->exclusive_s += span_s - frame->inside_s;
    total->event_count += 1.0;
    total->chained_end_count += chained;
    total->paired_end_count += 2.0 - chained;
    if (depth > 0 && track->frames[depth - 1].is_recorded) {
        track->frames[depth - 1].inside_s += span_s;
        totals[track->frames[depth - 1].kind].child_count += 1.0;
    }
    store(recorder, track, &event);
}

/* A busy wait counts towards the stage it is injected into. */
static void inject(
    const struct fulcrum_recorder *recorder, enum fulcrum_stage_kind kind, double now_s)
{
    double until_s = now_s + recorder->injected_s[kind];
    while (now_s < until_s) {
        now_s = fulcrum_wall_s();
    }
}

void fulcrum_recorder_begin_on(
    struct fulcrum_recorder *recorder, size_t number, enum fulcrum_stage_kind kind)
{
    struct track *track = track_of(recorder, number);
    if (++track->depth > FULCRUM_RECORDER_DEPTH_MAX) {
        return;
    }
    double now_s = track->records ? fulcrum_wall_s() : 0.0;
    enter(track, kind, now_s, 0);
    if (track->records && recorder->injected_s[kind] > 0.0) {
        inject(recorder, kind, now_s);
    }
}

void fulcrum_recorder_end_on(struct fulcrum_recorder *recorder, size_t number)
{
    struct track *track = track_of(recorder, number);
    if (track->depth == 0) {
        return;
    }
    if (track->depth <= FULCRUM_RECORDER_DEPTH_MAX &&
        track->frames[track->depth - 1].is_recorded) {
        leave(recorder, track, fulcrum_wall_s(), 0);
    }
    track->depth--;
}

void fulcrum_recorder_next_on(
    struct fulcrum_recorder *recorder, size_t number, enum fulcrum_stage_kind kind)
{
    struct track *track = track_of(recorder, number);
    if (track->depth == 0) {
        fulcrum_recorder_begin_on(recorder, number, kind);
        return;
    }
    if (track->depth > FULCRUM_RECORDER_DEPTH_MAX) {
        return;
    }
    bool was_recorded = track->frames[track->depth - 1].is_recorded;
    double now_s = was_recorded || track->records ? fulcrum_wall_s() : 0.0;
    if (was_recorded) {
        leave(recorder, track, now_s, 1);
    }
    enter(track, kind, now_s, 1);
    if (track->records && recorder->injected_s[kind] > 0.0) {
        inject(recorder, kind, now_s);
    }
}

void fulcrum_recorder_add(struct fulcrum_recorder *recorder, size_t number,
    const struct fulcrum_recorder_span *span)
{
    if (recorder == NULL) {
        return;
    }
    assert(span->begin_s <= span->end_s);
    struct track *track = track_of(recorder, number);
    struct fulcrum_recorder_event event = {.begin_s = span->begin_s,
        .end_s = span->end_s,
        .kind = (uint8_t)span->kind,
        .resource = (uint8_t)span->resource};
    if (cut(recorder, &event)) {
        struct fulcrum_recorder_total *total =
            &track->result.totals[span->resource][span->kind];
        total->exclusive_s += event.end_s - event.begin_s;
        total->event_count += 1.0;
        store(recorder, track, &event);
    }
}

size_t fulcrum_recorder_track_count(const struct fulcrum_recorder *recorder)
{
    return recorder != NULL ? recorder->track_count : 0;
}

double fulcrum_recorder_window_s(const struct fulcrum_recorder *recorder)
{
    if (recorder == NULL || isinf(atomic_load(&recorder->end_s)) ||
        isinf(atomic_load(&recorder->begin_s))) {
        return 0.0;
    }
    return atomic_load(&recorder->end_s) - atomic_load(&recorder->begin_s);
}

struct fulcrum_recorder_track fulcrum_recorder_read(
    const struct fulcrum_recorder *recorder, size_t number)
{
    assert(recorder != NULL && number < recorder->track_count);
    const struct track *track = &recorder->tracks[number];
    struct fulcrum_recorder_track result = track->result;
    result.cpu_s = atomic_load(&track->cpu_end_s) - atomic_load(&track->cpu_begin_s);
    result.is_used = atomic_load(&track->attachment) != UNATTACHED ||
                     result.event_count > 0 || result.dropped_count > 0;
    return result;
}
