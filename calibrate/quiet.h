/* quiet.h - standard output kept clean of what foreign libraries print. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_QUIET_H
#define FULCRUM_CALIBRATE_QUIET_H

/* Where standard output went before; `fd` is -1 where nothing was changed. */
struct fulcrum_quiet {
    int fd;
};

/*
 * Sends standard output to /dev/null until fulcrum_quiet_end. The whole process is
 * affected: pairs must not overlap on different threads, and what other threads print
 * in between is lost. Where it is not possible, output stays as it is.
 */
struct fulcrum_quiet fulcrum_quiet_begin(void);

/* Ends what fulcrum_quiet_begin began. */
void fulcrum_quiet_end(struct fulcrum_quiet quiet);

#endif
