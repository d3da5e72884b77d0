/* stage_times.h - where the time of a run goes. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PIPELINE_STAGE_TIMES_H
#define FULCRUM_CALIBRATE_PIPELINE_STAGE_TIMES_H

#include "calibrate/pipeline/recorder.h"
#include "model/stage_kind.h"

/* One thread's time, cut so that it is in one stage at once; RL-Scope's breakdown. */
struct fulcrum_stage_segment {
    double begin_s;
    double end_s; /* > begin_s */
    enum fulcrum_stage_kind kind;
};

/* In the order of time, without overlap. */
struct fulcrum_stage_lane {
    struct fulcrum_stage_segment *segments; /* owned */
    size_t count;
};

/* The events of a track: the innermost stage has the time. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_stage_lane_new(
    struct fulcrum_stage_lane *out, const struct fulcrum_recorder_track *track,
    struct fulcrum_error *err);
void fulcrum_stage_lane_free(struct fulcrum_stage_lane *lane);

/*
 * Wall time by stage. A moment at which several stages are active, on whatever threads,
 * counts for each of them in active_s, and is divided equally among them in wall_s, so
 * that wall_s and idle_s add up to the time swept. Waiting is no stage here: a moment
 * at which all wait is idle.
 */
struct fulcrum_stage_overlap {
    double wall_s[FULCRUM_STAGE_WORK_COUNT];
    double active_s[FULCRUM_STAGE_WORK_COUNT];
    double idle_s;
};

/* Sweeps over the edges of all lanes from 0 to `end_s`. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_stage_sweep(
    struct fulcrum_stage_overlap *out, const struct fulcrum_stage_lane *lanes,
    size_t count, double end_s, struct fulcrum_error *err);

/* What the recorder cannot know. */
struct fulcrum_stage_facts {
    double step_count; /* environment steps in the window; NAN: not counted */
    struct fulcrum_recorder_cost cost; /* {0}: nothing is taken off */
};

/*
 * One kind of stage. Seconds without what recording cost. NAN: not known, as of the CPU
 * of a thread that was not attached.
 */
struct fulcrum_stage_time {
    double wall_s;   /* each moment divided among the stages active in it */
    double active_s; /* wall time in which any thread was in the stage */
    double thread_s; /* summed over threads, preempted or not */
    /*
     * CPU time of threads, divided as their thread_s that is work, and at most that;
     * what is left went into blocking and waking up, and is that of waiting.
     */
    double cpu_s;
    double event_count;
    double recording_s; /* what was taken off thread_s */
};

/* One thread; all zero but its name where the run had none for this track. */
struct fulcrum_stage_track {
    char name[FULCRUM_RECORDER_NAME_SIZE];
    double stage_s[FULCRUM_STAGE_KIND_COUNT]; /* exclusive */
    double outside_s;                         /* in no stage */
    double cpu_s;
    double recording_s;
};

struct fulcrum_stage_times {
    struct fulcrum_stage_facts facts;
    double window_s;
    double corrected_window_s; /* less what recording cost the busiest processor */
    /* Before window_s where tracks ran full: overlap is known up to the first one. */
    double swept_s;
    struct fulcrum_stage_time kinds[FULCRUM_STAGE_KIND_COUNT];
    double idle_s;      /* no work anywhere; with wall_s it makes the swept time */
    double outside_s;   /* thread time in no stage */
    double recording_s; /* summed over threads */
    size_t event_count;
    size_t dropped_count;
    size_t used_track_count;
    struct fulcrum_stage_track *tracks; /* owned */
    size_t track_count;
};

/*
 * Of a recorder that was stopped and whose threads have ended.
 *   out      given back with fulcrum_stage_times_free; needs the recorder no more
 *   fails    FULCRUM_ERR_RANGE (no window; a fact outside its range),
 *            FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_stage_times_new(
    struct fulcrum_stage_times *out, const struct fulcrum_recorder *recorder,
    const struct fulcrum_stage_facts *facts, struct fulcrum_error *err);
void fulcrum_stage_times_free(struct fulcrum_stage_times *times);

/* Shares of a kind, and of idleness, in the swept wall time. */
double fulcrum_stage_times_share(
    const struct fulcrum_stage_times *times, enum fulcrum_stage_kind kind);
double fulcrum_stage_times_idle_frac(const struct fulcrum_stage_times *times);

#endif
