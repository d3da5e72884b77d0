/* watch.h - a long measurement: its progress on the screen, and Ctrl-C. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_WATCH_H
#define FULCRUM_CLI_WATCH_H

#include <signal.h>

#include "calibrate/calibrate.h"
#include "cli/progress.h"

/* Handed as `user` to what measures, with the two functions below. */
struct fulcrum_watch {
    struct fulcrum_progress progress;
    const volatile sig_atomic_t *interrupted;
};

/* Ctrl-C is noted from now on, and progress shown as the context wants it. */
void fulcrum_watch_start(
    struct fulcrum_watch *watch, const struct fulcrum_context *context);

/* Takes the progress off the screen. */
void fulcrum_watch_end(struct fulcrum_watch *watch);

/*
 * What was measured before Ctrl-C is kept: its status becomes FULCRUM_OK, the exit code
 * and a note tell. Others are returned as they are.
 *   err      of the measurement; may be NULL
 */
enum fulcrum_status fulcrum_watch_settle(enum fulcrum_status status,
    struct fulcrum_context *context, const struct fulcrum_error *err);

/* For `stop`: 1 after Ctrl-C. */
int fulcrum_watch_stops(void *watch);

/* For `progress`. */
void fulcrum_watch_show(void *watch, const struct fulcrum_calibrate_progress *progress);

#endif
