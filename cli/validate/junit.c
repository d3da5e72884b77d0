/* junit.c - checks as JUnit XML. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/validate/junit.h"

#include <string.h>

#include "calibrate/reference/baseline.h"
#include "presets/io/output.h"

static void print_attribute(FILE *stream, const char *key, const char *value)
{
    (void)fprintf(stream, " %s=\"", key);
    /* Characters that XML 1.0 cannot hold, and bytes that are no UTF-8, become '?'. */
    static const struct fulcrum_escape escapes[] = {{'&', "&amp;"}, {'<', "&lt;"},
        {'>', "&gt;"}, {'"', "&quot;"}, {'\n', "&#10;"}, {'\0', NULL}};
    fulcrum_print_escaped(stream, value, escapes, "?");
    (void)fputc('"', stream);
}

/* Of the rows from `first` to before `end`. */
static void print_counts(
    FILE *stream, const struct fulcrum_table *checks, size_t first, size_t end)
{
    size_t counts[3] = {0};
    for (size_t i = first; i < end; i++) {
        counts[fulcrum_check_outcome_of(checks, i)]++;
    }
    (void)fprintf(stream,
        " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\"", end - first,
        counts[FULCRUM_CHECK_FAILED], counts[FULCRUM_CHECK_SKIPPED]);
}

static const char *text_of(
    const struct fulcrum_table *checks, size_t row, const char *key)
{
    return fulcrum_table_at(checks, row, key).text;
}

void fulcrum_junit_write(
    const struct fulcrum_table *checks, const char *name, FILE *stream)
{
    size_t count = fulcrum_table_rows(checks);
    (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", stream);
    print_attribute(stream, "name", name);
    print_counts(stream, checks, 0, count);
    (void)fputs(">\n", stream);
    for (size_t first = 0, end = 0; first < count; first = end) {
        const char *suite = text_of(checks, first, "suite");
        while (end < count && strcmp(text_of(checks, end, "suite"), suite) == 0) {
            end++;
        }
        (void)fputs("  <testsuite", stream);
        print_attribute(stream, "name", suite);
        print_counts(stream, checks, first, end);
        (void)fputs(">\n", stream);
        for (size_t i = first; i < end; i++) {
            enum fulcrum_check_outcome outcome = fulcrum_check_outcome_of(checks, i);
            (void)fputs("    <testcase", stream);
            print_attribute(stream, "classname", suite);
            print_attribute(stream, "name", text_of(checks, i, "name"));
            if (outcome == FULCRUM_CHECK_PASSED) {
                (void)fputs("/>\n", stream);
                continue;
            }
            (void)fprintf(stream, ">\n      <%s",
                outcome == FULCRUM_CHECK_FAILED ? "failure" : "skipped");
            print_attribute(stream, "message", text_of(checks, i, "text"));
            (void)fputs("/>\n    </testcase>\n", stream);
        }
        (void)fputs("  </testsuite>\n", stream);
    }
    (void)fputs("</testsuites>\n", stream);
}
