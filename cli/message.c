/* message.c - what the program says to people, on standard error. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* vasprintf */

#include "cli/message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "model/network/network.h"

static void *or_exit(void *memory)
{
    if (memory == NULL) {
        (void)fputs("fulcrum: error: out of memory\n", stderr);
        exit(EXIT_FAILURE);
    }
    return memory;
}

void *fulcrum_allocate(size_t count, size_t size_byte)
{
    return or_exit(calloc(count > 0 ? count : 1, size_byte));
}

char *fulcrum_format_list(const char *format, va_list args)
{
    char *text = NULL;
    return or_exit(vasprintf(&text, format, args) >= 0 ? text : NULL);
}

char *fulcrum_format(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = fulcrum_format_list(format, args);
    va_end(args);
    return text;
}

char *fulcrum_path_beside(const char *path, const char *what)
{
    size_t length = strlen(path);
    bool has_end = length > 5 && strcmp(path + length - 5, ".json") == 0;
    return fulcrum_format(
        "%.*s-%s.json", (int)(length - (has_end ? 5 : 0)), path, what);
}

char *fulcrum_list_part(const char **rest)
{
    if (*rest == NULL) {
        return NULL;
    }
    size_t length = strcspn(*rest, ",");
    char *part = fulcrum_format("%.*s", (int)length, *rest);
    *rest = (*rest)[length] == ',' ? *rest + length + 1 : NULL;
    return part;
}

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

/* One prefix per line, so that a log can be searched for it. */
static void print_lines(const char *prefix, const char *text)
{
    while (*text != '\0') {
        int length = (int)strcspn(text, "\n");
        (void)fprintf(stderr, "%s%.*s\n", prefix, length, text);
        text += length;
        text += *text == '\n';
    }
}

void fulcrum_message_error(const char *program, const struct fulcrum_error *err)
{
    char prefix[80];
    const char *text = err->detail;
    (void)snprintf(prefix, sizeof prefix, "%s: error: ", program);
    print_lines(prefix, text[0] != '\0' ? text : fulcrum_status_text(err->status));
}

/* To people on standard error, or a line to another command. */
static void say(FILE *asked, const char *prefix, const char *format, va_list args)
{
    char text[1024];
    (void)vsnprintf(text, sizeof text, format, args);
    if (asked != NULL) {
        (void)fprintf(asked, "%s\n", text);
    } else {
        print_lines(prefix, text);
    }
}

void fulcrum_message_warn(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(NULL, FULCRUM_PROGRAM ": warning: ", format, args);
    va_end(args);
}

void fulcrum_message_warn_in(
    const struct fulcrum_context *context, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(context->warnings, FULCRUM_PROGRAM ": warning: ", format, args);
    va_end(args);
}

void fulcrum_message_note(
    const struct fulcrum_context *context, const char *format, ...)
{
    if (context->quiet) {
        return;
    }
    char prefix[80];
    (void)snprintf(prefix, sizeof prefix,
        "%s: ", context->program != NULL ? context->program : FULCRUM_PROGRAM);
    va_list args;
    va_start(args, format);
    say(NULL, prefix, format, args);
    va_end(args);
}

int fulcrum_exit_code(enum fulcrum_status status)
{
    if (status == FULCRUM_OK) {
        return FULCRUM_EXIT_DONE;
    }
    return status == FULCRUM_ERR_INTERRUPTED ? FULCRUM_EXIT_INTERRUPTED
                                             : FULCRUM_EXIT_FAILED;
}

/* Without printf, as sweeps write millions of them. */
void fulcrum_flags_join(unsigned flags, char *out, size_t size)
{
    size_t used = 0;
    for (unsigned i = 0; i < (unsigned)FULCRUM_FLAG_COUNT; i++) {
        const char *const parts[] = {
            used > 0 ? "; " : "", fulcrum_flag_text((enum fulcrum_flag_index)i)};
        for (size_t k = 0; k < 2 && (flags & (1U << i)) != 0U; k++) {
            size_t length = strlen(parts[k]);
            length = length < size - 1 - used ? length : size - 1 - used;
            memcpy(out + used, parts[k], length);
            used += length;
        }
    }
    out[used] = '\0';
}

void fulcrum_flags_add(unsigned flags, struct fulcrum_result *result)
{
    fulcrum_result_note(result, "flags", NULL);
    for (unsigned i = 0; i < (unsigned)FULCRUM_FLAG_COUNT; i++) {
        if ((flags & (1U << i)) != 0U) {
            fulcrum_result_note(
                result, "flags", fulcrum_flag_text((enum fulcrum_flag_index)i));
        }
    }
}
