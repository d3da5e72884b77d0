/* interrupt.c - Ctrl-C and SIGTERM for commands that stop in good order. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include "cli/interrupt.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* A signal handler can reach nothing but file scope. */
/* NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables) */
static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t first_s;
/* NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables) */

/* Monotonic whole seconds: a difference above 1 is more than a second. */
static sig_atomic_t now_s(void)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (sig_atomic_t)now.tv_sec;
}

static void note_signal(int number)
{
    int error = errno;
    if (!interrupted) {
        first_s = now_s();
        interrupted = 1;
    } else if (now_s() - first_s > 1) {
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
    errno = error;
}

const volatile sig_atomic_t *fulcrum_interrupt_watch(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note_signal;
    /* A write that is cut short would lose the rest of a line; who waits for input
     * polls. */
    action.sa_flags = SA_RESTART;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaddset(&action.sa_mask, SIGINT);
    (void)sigaddset(&action.sa_mask, SIGTERM);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    return &interrupted;
}
