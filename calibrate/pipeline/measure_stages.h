/* measure_stages.h - the real pipeline with its stages recorded, and without. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PIPELINE_MEASURE_STAGES_H
#define FULCRUM_CALIBRATE_PIPELINE_MEASURE_STAGES_H

#include "calibrate/pipeline/measure.h"
#include "calibrate/pipeline/recorder_cost.h"
#include "calibrate/pipeline/stage_times.h"
#include "model/status.h"

struct fulcrum_measure_stages_options {
    /* Configurations, actor, learner, window_s...; its window counts are not used. */
    const struct fulcrum_measure_options *measure;
    size_t pair_count;      /* windows with and without recording, by turns; >= 1 */
    const char *trace_path; /* of the last configuration's last window; NULL: none */
    size_t span_max;        /* of the trace; 0: FULCRUM_TRACE_SPAN_MAX */
};

/* One configuration. */
struct fulcrum_measured_stages {
    struct fulcrum_measure_config config;
    struct fulcrum_stage_times times; /* of the last recorded window */
    /* Steps per second, medians. */
    double recorded_steps_per_s;
    double unrecorded_steps_per_s;
    /* As recorded, with the recording's own time taken off. */
    double corrected_steps_per_s;
    /* Of the time per step; pair_count 0 where there were fewer than two pairs. */
    struct fulcrum_recorder_pairs pairs;
    size_t disturbed_count; /* windows beside which the machine was busy */
    char failure[240];      /* why there is nothing; "" */
};

/* Owned results. */
struct fulcrum_stages_measurement {
    size_t count;
    struct fulcrum_measured_stages *items;
    struct fulcrum_recorder_cost cost; /* of tight loops: what is taken off */
    size_t trace_left_out_count;       /* spans that the trace has no room for */
};

/*
 * Runs each configuration in pairs of windows, the recorded one first and last by
 * turns, so that a machine that gets busier or warmer favours neither.
 *   out      set on success only; given back with fulcrum_stages_measurement_free
 *   fails    as fulcrum_measure; FULCRUM_ERR_FILE (the trace)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_measure_stages(
    struct fulcrum_stages_measurement **out,
    const struct fulcrum_measure_stages_options *options, struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_stages_measurement_free(struct fulcrum_stages_measurement *measurement);

#endif
