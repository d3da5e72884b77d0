/* recorder_trace.h - a recording as a trace file. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PIPELINE_RECORDER_TRACE_H
#define FULCRUM_CALIBRATE_PIPELINE_RECORDER_TRACE_H

#include "calibrate/pipeline/recorder.h"
#include "model/status.h"
#include "presets/kind/trace_save.h"

/*
 * One lane per thread, named as it attached, and one per thread that added spans of a
 * GPU. Of a recorder whose threads have ended. Events that found no room in the
 * recorder are not in it: fulcrum_recorder_track says how many.
 *   span_max  0: FULCRUM_TRACE_SPAN_MAX
 *   saved     may be NULL
 *   fails     as fulcrum_trace_save
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_recorder_save_trace(
    const struct fulcrum_recorder *recorder, const char *path, size_t span_max,
    struct fulcrum_trace_saved *saved, struct fulcrum_error *err);

#endif
