/* quiet.c - standard output kept clean of what foreign libraries print. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "calibrate/quiet.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Both ends flush, since the libraries write to the same buffer of the C library. */
struct fulcrum_quiet fulcrum_quiet_begin(void)
{
    struct fulcrum_quiet quiet = {-1};
    (void)fflush(stdout);
    int sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (sink < 0) {
        return quiet;
    }
    quiet.fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (quiet.fd >= 0) {
        (void)dup2(sink, STDOUT_FILENO);
    }
    (void)close(sink);
    return quiet;
}

void fulcrum_quiet_end(struct fulcrum_quiet quiet)
{
    if (quiet.fd >= 0) {
        (void)fflush(stdout);
        (void)dup2(quiet.fd, STDOUT_FILENO);
        (void)close(quiet.fd);
    }
}
