/* message.h - what the program says to people, on standard error. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_MESSAGE_H
#define FULCRUM_CLI_MESSAGE_H

#include <signal.h>
#include <stdarg.h>
#include <stddef.h>

#include "cli/command.h"
#include "model/result.h"

/* Memory of the front end: where it runs out, the program ends. */

/*
 * Zeroed memory for small objects, never NULL: without memory the program says so and
 * exits with code 1. Sizes that users choose are asked of calloc, and refused.
 */
void *fulcrum_allocate(size_t count, size_t size_byte);

/* The formatted text in memory of its own, which the caller frees; never NULL. */
char *fulcrum_format(const char *format, ...) FULCRUM_PRINTF(1, 2);
char *fulcrum_format_list(const char *format, va_list args) FULCRUM_PRINTF(1, 0);

/* "mine-WHAT.json", beside "mine.json" and "mine"; the caller frees it; never NULL. */
char *fulcrum_path_beside(const char *path, const char *what);

/*
 * The part of a list with commas at `*rest`, which moves behind it and becomes NULL
 * after the last; NULL where it is NULL. The caller frees the part.
 */
char *fulcrum_list_part(const char **rest);

/* Ctrl-C and SIGTERM for commands that stop in good order. */

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

/* Prints every line of a failure's detail as "PROGRAM: error: ...". */
void fulcrum_message_error(const char *program, const struct fulcrum_error *err);

/* "fulcrum: warning: ...", also with --quiet: it changes what the results mean. */
void fulcrum_message_warn(const char *format, ...) FULCRUM_PRINTF(1, 2);

/* The same, or to whoever asked for it in place of people. */
void fulcrum_message_warn_in(const struct fulcrum_context *context, const char *format,
    ...) FULCRUM_PRINTF(2, 3);

/* "PROGRAM: ...", silent with --quiet. */
void fulcrum_message_note(const struct fulcrum_context *context, const char *format,
    ...) FULCRUM_PRINTF(2, 3);

enum fulcrum_exit {
    FULCRUM_EXIT_DONE = 0,
    FULCRUM_EXIT_FAILED = 1,
    FULCRUM_EXIT_USAGE = 2,
    FULCRUM_EXIT_INTERRUPTED = 130
};

/* The exit code of a command that returned `status`. */
int fulcrum_exit_code(enum fulcrum_status status);

/* What a user must know about a solution, in words. */

/* The texts of all flags that are set, "; " between them, as far as they fit. */
void fulcrum_flags_join(unsigned flags, char *out, size_t size);

/* Adds them as notes under "flags". */
void fulcrum_flags_add(unsigned flags, struct fulcrum_result *result);

#endif
