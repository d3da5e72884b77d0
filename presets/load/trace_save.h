/* trace_save.h - spans of threads and devices as a trace that viewers of traces open.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PRESETS_LOAD_TRACE_SAVE_H
#define FULCRUM_PRESETS_LOAD_TRACE_SAVE_H

#include <stddef.h>

#include "model/status.h"

struct fulcrum_trace_span {
    double begin_s; /* >= 0, finite, as is the end */
    double end_s;   /* >= begin_s */
    const char *name;
};

/* One line of the picture: by begin; of spans that begin together the outer one first.
 */
struct fulcrum_trace_lane {
    const char *name;
    size_t process; /* index of the trace's processes */
    const struct fulcrum_trace_span *spans;
    size_t count;
};

/* Borrows everything. */
struct fulcrum_trace {
    const char *const *processes;
    size_t process_count;
    const struct fulcrum_trace_lane *lanes;
    size_t lane_count;
    size_t span_max; /* 0: FULCRUM_TRACE_SPAN_MAX */
};

/* A file of about 50 MB: more opens slowly. */
#define FULCRUM_TRACE_SPAN_MAX 500000

/* What became of the spans. */
struct fulcrum_trace_saved {
    size_t span_count;
    size_t left_out_count;
    double left_out_begin_s; /* where the gap begins and ends; 0 where nothing was */
    double left_out_end_s;   /* left out */
};

/*
 * Writes the Trace Event Format of Chrome, which https://ui.perfetto.dev opens:
 * complete events in microseconds, names of processes and threads as metadata. Where
 * there are more spans than span_max, those that begin before or end after a gap in the
 * middle, as short as it takes, are written; a span of its own lane says what was left
 * out. The file appears whole or not at all. saved    may be NULL fails
 * FULCRUM_ERR_FILE, FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_trace_save(const char *path,
    const struct fulcrum_trace *trace, struct fulcrum_trace_saved *saved,
    struct fulcrum_error *err);

#endif
