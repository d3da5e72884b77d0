/* recorder.h - when which stage ran, what recording it costs, and its traces. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PIPELINE_RECORDER_H
#define FULCRUM_CALIBRATE_PIPELINE_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/stage_kind.h"
#include "presets/load/trace_save.h"

/*
 * Which stage each thread of a run is in, moment by moment. One track per thread,
 * written by that thread alone: no lock, no allocation and, where the kernel maps its
 * clock into programs, no system call. Where `recorder` is NULL nothing is recorded, at
 * the cost of a branch, so that a pipeline is the same program with and without.
 *
 *     thread:      attach, then begin/end or next/end; detach
 *     controller:  new, start threads, start, ..., stop, join threads, read, free
 */
struct fulcrum_recorder; /* opaque */

enum {
    FULCRUM_RECORDER_DEPTH_MAX = 4, /* of stages within stages */
    FULCRUM_RECORDER_NAME_SIZE = 32
};

/*
 * Memory is touched now, so that no page fault falls into the run.
 *   event_capacity  of each track; 0: 65536, at 24 bytes
 *   fails           FULCRUM_ERR_RANGE (no track), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_recorder_new(
    struct fulcrum_recorder **out, size_t track_count, size_t event_capacity,
    struct fulcrum_error *err);
void fulcrum_recorder_free(struct fulcrum_recorder *recorder);

/*
 * Opens the window that is recorded, once per recorder: what a stage does before it or
 * after fulcrum_recorder_stop does not count. Accepts NULL, as all below.
 */
void fulcrum_recorder_start(struct fulcrum_recorder *recorder);

/* Closes the window; threads may go on, to their ends. */
void fulcrum_recorder_stop(struct fulcrum_recorder *recorder);

/* --- Called by a track's own thread -------------------------------------------- */

/*
 * Names track `number`, below the track_count, and lets start and stop read the calling
 * thread's CPU time. A track that nobody attaches works too; its CPU time is not known.
 *   name             copied, cut where too long
 *   processor_group  of tracks that share a processor: what recording costs them adds
 *                    up
 */
void fulcrum_recorder_attach(struct fulcrum_recorder *recorder, size_t number,
    const char *name, size_t processor_group);

/* The thread of this track ends. */
void fulcrum_recorder_detach(struct fulcrum_recorder *recorder, size_t number);

/* The calls behind the inline ones: only for recorders that are not NULL. */
void fulcrum_recorder_begin_on(
    struct fulcrum_recorder *recorder, size_t number, enum fulcrum_stage_kind kind);
void fulcrum_recorder_next_on(
    struct fulcrum_recorder *recorder, size_t number, enum fulcrum_stage_kind kind);
void fulcrum_recorder_end_on(struct fulcrum_recorder *recorder, size_t number);

/*
 * Enters a stage; the one around it, if any, stands still until this one's end. Deeper
 * than FULCRUM_RECORDER_DEPTH_MAX the time stays with the stage around.
 */
static inline void fulcrum_recorder_begin(
    struct fulcrum_recorder *recorder, size_t number, enum fulcrum_stage_kind kind)
{
    if (recorder != NULL) {
        fulcrum_recorder_begin_on(recorder, number, kind);
    }
}

/*
 * Ends the stage of the last begin and enters another one on a single read of the
 * clock: half the price of end and begin. Outside any stage it is a begin.
 */
static inline void fulcrum_recorder_next(
    struct fulcrum_recorder *recorder, size_t number, enum fulcrum_stage_kind kind)
{
    if (recorder != NULL) {
        fulcrum_recorder_next_on(recorder, number, kind);
    }
}

/* Leaves the stage of the last begin. Nothing outside any. */
static inline void fulcrum_recorder_end(
    struct fulcrum_recorder *recorder, size_t number)
{
    if (recorder != NULL) {
        fulcrum_recorder_end_on(recorder, number);
    }
}

/* --- Read when the threads have ended ------------------------------------------ */

/* One stage from begin to end, the stages inside it included. */
struct fulcrum_recorder_event {
    double begin_s; /* since the start of the recording; within the window */
    double end_s;
    uint8_t kind;  /* enum fulcrum_stage_kind */
    uint8_t depth; /* 0: outermost */
};

/*
 * For qsort of events, or of what else begins with the times of begin and end: by
 * begin; of two that begin together the longer one, which is the outer one, comes
 * first.
 */
int fulcrum_recorder_by_begin(const void *left, const void *right);

/* Of one kind of stage on one track: whole, even where events found no room. */
struct fulcrum_recorder_total {
    double exclusive_s; /* without the stages inside it */
    double event_count;
    double child_count; /* stages directly inside it */
    /* How many of the events' two ends came from begin or end, and from next. */
    double paired_end_count;
    double chained_end_count;
};

struct fulcrum_recorder_track {
    const char *name;
    const struct fulcrum_recorder_event *events; /* in the order of their ends */
    size_t event_count;
    size_t dropped_count; /* events that found no room: in totals, not in `events` */
    double dropped_s;     /* outermost ones of these */
    size_t processor_group;
    double cpu_s; /* of the thread within the window; NAN: not known */
    bool is_used; /* a thread attached, or was in a stage */
    struct fulcrum_recorder_total totals[FULCRUM_STAGE_KIND_COUNT];
};

size_t fulcrum_recorder_track_count(const struct fulcrum_recorder *recorder);

/* Seconds from start to stop; 0 where one of them is missing. */
double fulcrum_recorder_window_s(const struct fulcrum_recorder *recorder);

/* Borrowed arrays, until the recorder is freed. */
struct fulcrum_recorder_track fulcrum_recorder_read(
    const struct fulcrum_recorder *recorder, size_t number);

/*
 * Where the cost of one stage's record arises. A stage that is entered by begin and
 * left by end takes some of it inside its own span and leaves the rest to what is
 * around it; in a chain of next all of it lies inside stages.
 */
struct fulcrum_recorder_cost {
    double pair_inside_s;
    double pair_outside_s;
    double chained_s;
};

/*
 * Medians over tight loops, about 10 ms. Caches are warm there: a pipeline may pay
 * more.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_recorder_cost_measure(
    struct fulcrum_recorder_cost *out, struct fulcrum_error *err);

/* T - sum_k n_k o_k of one track: docs/where-the-time-goes.md. */
struct fulcrum_recorder_correction {
    double exclusive_s[FULCRUM_STAGE_KIND_COUNT]; /* corrected; >= 0 */
    double recording_s[FULCRUM_STAGE_KIND_COUNT]; /* taken off each */
    double outside_s;                             /* arose outside any stage */
    double total_s;                               /* of the track */
};

/*
 * Takes the cost off where it arises: its inside part off the stage itself, its outside
 * part off the stage around, or off no stage.
 */
struct fulcrum_recorder_correction fulcrum_recorder_correct(
    const struct fulcrum_recorder_track *track,
    const struct fulcrum_recorder_cost *cost);

/* Relative cost over interleaved pairs of runs with and without recording. */
struct fulcrum_recorder_pairs {
    size_t pair_count;
    double mean_frac;  /* more time for the same work; below 0 where noise rules */
    double sd_frac;    /* from pair to pair */
    double upper_frac; /* one-sided upper 95 % limit of the mean, Student's t */
};

/*
 *   with_per_s, without_per_s   rates of work, > 0, in the order of measurement
 *   fails    FULCRUM_ERR_RANGE (fewer than two pairs, a rate that is not above 0)
 *            FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_recorder_cost_of_pairs(
    struct fulcrum_recorder_pairs *out, const double *with_per_s,
    const double *without_per_s, size_t count, struct fulcrum_error *err);

/*
 * Writes the recording as a trace, one lane per thread, named as it attached. Of a
 * recorder whose threads have ended; events that found no room are not in it.
 *   span_max  0: FULCRUM_TRACE_SPAN_MAX
 *   saved     may be NULL
 *   fails     as fulcrum_trace_save
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_recorder_save_trace(
    const struct fulcrum_recorder *recorder, const char *path, size_t span_max,
    struct fulcrum_trace_saved *saved, struct fulcrum_error *err);

#endif
