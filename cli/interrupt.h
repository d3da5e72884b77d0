/* interrupt.h - Ctrl-C and SIGTERM for commands that stop in good order. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_INTERRUPT_H
#define FULCRUM_CLI_INTERRUPT_H

#include <signal.h>

/*
 * From now on the first SIGINT or SIGTERM sets the flag, and one that comes at least
 * a second later ends the program at once: what stops a group of processes often sends
 * the same signal twice. For commands that look at the flag; others die by the first
 * signal. Returns the flag: 0 until a signal came. Static.
 */
const volatile sig_atomic_t *fulcrum_interrupt_watch(void);

/*
 * A file to be removed where SIGINT or SIGTERM ends the program from now on; NULL or
 * "": none. Signals that are ignored stay so. A path of more than 4095 bytes is not
 * removed.
 */
void fulcrum_interrupt_remove(const char *path);

#endif
