/* interrupt.c - Ctrl-C and SIGTERM for commands that stop in good order. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include "cli/interrupt.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

/* A signal handler can reach nothing but file scope. */
/* NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables) */
static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t first_s;
static volatile sig_atomic_t has_doomed;
static char doomed[PATH_SIZE]; /* written while has_doomed is 0 */
/* NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables) */

/* Monotonic whole seconds: a difference above 1 is more than a second. */
static sig_atomic_t now_s(void)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (sig_atomic_t)now.tv_sec;
}

/* With nothing but calls that a signal handler may make. */
static void die_of(int number)
{
    if (has_doomed) {
        (void)unlink(doomed);
    }
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void note_signal(int number)
{
    int error = errno;
    if (!interrupted) {
        first_s = now_s();
        interrupted = 1;
    } else if (now_s() - first_s > 1) {
        die_of(number);
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

static void die_unless_ignored(int number)
{
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_DFL) {
        action.sa_handler = die_of;
        (void)sigaction(number, &action, NULL);
    }
}

void fulcrum_interrupt_remove(const char *path)
{
    has_doomed = 0;
    if (path == NULL || path[0] == '\0' || strlen(path) >= sizeof doomed) {
        return;
    }
    memcpy(doomed, path, strlen(path) + 1);
    has_doomed = 1;
    die_unless_ignored(SIGINT);
    die_unless_ignored(SIGTERM);
}
