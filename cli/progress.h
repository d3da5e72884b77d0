/* progress.h - how far a long command is, and how long it still takes. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_PROGRESS_H
#define FULCRUM_CLI_PROGRESS_H

#include <signal.h>
#include <stdio.h>

#include "cli/command.h"

enum fulcrum_progress_style {
    FULCRUM_PROGRESS_SILENT,
    FULCRUM_PROGRESS_LINES, /* a plain line now and then, none at first: logs */
    FULCRUM_PROGRESS_BAR    /* one line drawn over itself: terminals */
};

struct fulcrum_progress {
    FILE *stream;
    const char *program; /* begins each line of a log */
    enum fulcrum_progress_style style;
    double (*clock_s)(void); /* monotonic */
    double start_s;
    double due_s;                             /* before this nothing more is shown */
    int width;                                /* characters of the line on the screen */
    const volatile sig_atomic_t *interrupted; /* where Ctrl-C is noted */
    const char *stage;                        /* of a part of a whole */
    double first_frac;                        /* where this part begins */
    double part_frac;
};

/* On standard error: a bar on a terminal, lines elsewhere, silent with --quiet. */
void fulcrum_progress_start(
    struct fulcrum_progress *out, const struct fulcrum_context *context);

/* The same with everything given; starts the clock. */
void fulcrum_progress_init(struct fulcrum_progress *out, FILE *stream,
    enum fulcrum_progress_style style, double (*clock_s)(void));

/*
 * Shows the state, unless it was shown a moment ago. In a log the first line comes
 * after 10 s, the next ones 10 s to a minute apart, and the time left when there is
 * something to tell it from.
 *   done_frac  0..1
 *   stage      what is being done
 */
void fulcrum_progress_update(
    struct fulcrum_progress *progress, double done_frac, const char *stage);

/* Takes the bar off the screen. */
void fulcrum_progress_end(struct fulcrum_progress *progress);

/* A long measurement, which gets its progress as `user`. */

/*
 * What was measured before Ctrl-C is kept: its status becomes FULCRUM_OK, the exit code
 * and a note tell. Others are returned as they are.
 *   err      of the measurement; may be NULL
 */
enum fulcrum_status fulcrum_progress_settle(enum fulcrum_status status,
    struct fulcrum_context *context, const struct fulcrum_error *err);

/* For `stop`: true after Ctrl-C. */
bool fulcrum_progress_stops(void *progress);

/* For `progress`. */
void fulcrum_progress_show(void *progress, double done_frac, const char *what);

/* A model's plan, which gets its progress as `watcher`, part after part. */

/*
 * The same as fulcrum_progress_start; Ctrl-C is noted from now on. The first part is
 * the whole.
 *   stage    NULL: whoever shows progress says what is being done
 */
void fulcrum_watch_start(struct fulcrum_progress *out,
    const struct fulcrum_context *context, const char *stage);

/* For `watch`: 1 after Ctrl-C. */
int fulcrum_watch_show(void *progress, double done_frac);

/* The same without showing, for any thread. */
int fulcrum_watch_stopped(void *progress);

#endif
