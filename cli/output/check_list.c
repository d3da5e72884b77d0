/* check_list.c - what was checked, with the outcome of each check, and as JUnit XML. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/output/check_list.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "model/string.h"

struct fulcrum_check *fulcrum_check_list_add(struct fulcrum_check_list *list,
    const char *suite, enum fulcrum_check_outcome outcome, const char *name, ...)
{
    if (list->count == list->room) {
        size_t room = list->room > 0 ? 2 * list->room : 64;
        struct fulcrum_check *items = fulcrum_allocate(room, sizeof *items);
        if (list->count > 0) {
            memcpy(items, list->items, list->count * sizeof *items);
        }
        free(list->items);
        list->items = items;
        list->room = room;
    }
    struct fulcrum_check *check = &list->items[list->count++];
    *check = (struct fulcrum_check){.outcome = outcome};
    (void)snprintf(check->suite, sizeof check->suite, "%s", suite);
    va_list arguments;
    va_start(arguments, name);
    (void)vsnprintf(check->name, sizeof check->name, name, arguments);
    va_end(arguments);
    return check;
}

void fulcrum_check_say(struct fulcrum_check *check, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(check->text, sizeof check->text, format, arguments);
    va_end(arguments);
}

size_t fulcrum_check_list_count(
    const struct fulcrum_check_list *list, enum fulcrum_check_outcome outcome)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        count += list->items[i].outcome == outcome ? 1 : 0;
    }
    return count;
}

static void print_attribute(FILE *stream, const char *key, const char *value)
{
    (void)fprintf(stream, " %s=\"", key);
    /* Characters that XML 1.0 cannot hold, and bytes that are no UTF-8, become '?'. */
    static const struct fulcrum_escape escapes[] = {{'&', "&amp;"}, {'<', "&lt;"},
        {'>', "&gt;"}, {'"', "&quot;"}, {'\n', "&#10;"}, {'\0', NULL}};
    while (*value != '\0') {
        const char *piece = NULL;
        size_t length = 0;
        value += fulcrum_escape_next(value, escapes, "?", &piece, &length);
        (void)fwrite(piece, 1, length, stream);
    }
    (void)fputc('"', stream);
}

static void print_counts(FILE *stream, const struct fulcrum_check_list *part)
{
    (void)fprintf(stream,
        " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\"", part->count,
        fulcrum_check_list_count(part, FULCRUM_CHECK_FAILED),
        fulcrum_check_list_count(part, FULCRUM_CHECK_SKIPPED));
}

static void print_case(FILE *stream, const struct fulcrum_check *check)
{
    (void)fputs("    <testcase", stream);
    print_attribute(stream, "classname", check->suite);
    print_attribute(stream, "name", check->name);
    if (check->outcome == FULCRUM_CHECK_PASSED) {
        (void)fputs("/>\n", stream);
        return;
    }
    (void)fprintf(stream, ">\n      <%s",
        check->outcome == FULCRUM_CHECK_FAILED ? "failure" : "skipped");
    print_attribute(stream, "message", check->text);
    (void)fputs("/>\n    </testcase>\n", stream);
}

void fulcrum_check_list_junit(
    const struct fulcrum_check_list *list, const char *name, FILE *stream)
{
    (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", stream);
    print_attribute(stream, "name", name);
    print_counts(stream, list);
    (void)fputs(">\n", stream);
    size_t next = 0;
    while (next < list->count) {
        /* The checks of the suite that begins at `first`; borrowed. */
        size_t end = next;
        while (end < list->count &&
               strcmp(list->items[end].suite, list->items[next].suite) == 0) {
            end++;
        }
        struct fulcrum_check_list suite = (struct fulcrum_check_list){
            .count = end - next, .items = list->items + next};
        (void)fputs("  <testsuite", stream);
        print_attribute(stream, "name", suite.items[0].suite);
        print_counts(stream, &suite);
        (void)fputs(">\n", stream);
        for (size_t i = 0; i < suite.count; i++) {
            print_case(stream, &suite.items[i]);
        }
        (void)fputs("  </testsuite>\n", stream);
        next += suite.count;
    }
    (void)fputs("</testsuites>\n", stream);
}

void fulcrum_check_list_clear(struct fulcrum_check_list *list)
{
    free(list->items);
    *list = (struct fulcrum_check_list){.count = 0};
}

/* How far a number is from a stored one. */

double fulcrum_relative_change_stored(double value)
{
    char text[32];
    if (isnan(value)) {
        return value;
    }
    (void)snprintf(text, sizeof text, "%.6g", value);
    return strtod(text, NULL);
}

double fulcrum_relative_change(double from, double to)
{
    if (isnan(from) || isnan(to)) {
        return isnan(from) && isnan(to) ? 0.0 : (double)INFINITY;
    }
    double by = fabs(to - from);
    if (!(by > 0.0)) {
        return 0.0;
    }
    return fabs(from) > 0.0 ? by / fabs(from) : (double)INFINITY;
}

void fulcrum_relative_change_say(
    struct fulcrum_check *check, const char *subject, double from, double to)
{
    double moved_rel = fulcrum_relative_change(from, to);
    if (isfinite(moved_rel)) {
        fulcrum_check_say(check,
            "%sis predicted as %.6g, %.6g stored: moved by %.2g %%", subject, to, from,
            100.0 * (to < from ? -moved_rel : moved_rel));
    } else {
        fulcrum_check_say(
            check, "%sis predicted as %.6g, %.6g stored", subject, to, from);
    }
}
