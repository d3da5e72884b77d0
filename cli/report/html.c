/* html.c - pieces of an HTML document: escaped text, tables, whiskers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/report/report_section.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "presets/result/result_io.h"

/* Longer cells are sentences, longer names of rows would be squeezed to a word's width.
 */
enum { PRINTED_MOST = 4000, WORDS_BYTE = 40, SHORT_BYTE = 8 };

void fulcrum_html_print(FILE *out, const char *format, ...)
{
    char text[PRINTED_MOST];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fulcrum_html_text(out, text);
}

static void begin_table(FILE *out, const char *tag, const char *caption)
{
    /* A box that scrolls must be reached by the keyboard, and say what it is. */
    (void)fputs(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"", out);
    fulcrum_html_text(out, caption);
    (void)fprintf(out, "\">\n%s\n<caption><span>", tag);
    fulcrum_html_text(out, caption);
    (void)fputs("</span></caption>\n", out);
}

static void write_headings(FILE *out, const char *const *headings, size_t count)
{
    (void)fputs("<thead><tr>", out);
    for (size_t i = 0; i < count; i++) {
        bool is_number = headings[i][0] == '#';
        (void)fprintf(out, "<th scope=\"col\"%s>", is_number ? " class=\"n\"" : "");
        fulcrum_html_text(out, headings[i] + is_number);
        (void)fputs("</th>", out);
    }
    (void)fputs("</tr></thead>\n<tbody>\n", out);
}

void fulcrum_html_table_begin(
    FILE *out, const char *caption, const char *const *headings, size_t count)
{
    begin_table(out, "<table>", caption);
    write_headings(out, headings, count);
}

void fulcrum_html_stack_begin(
    FILE *out, const char *caption, const char *const *headings, size_t count)
{
    begin_table(out, "<table class=\"stack\">", caption);
    write_headings(out, headings, count);
}

void fulcrum_html_table_end(FILE *out)
{
    (void)fputs("</tbody>\n</table>\n</div>\n", out);
}

void fulcrum_html_row_begin(FILE *out, const char *name)
{
    (void)fputs(strlen(name) > SHORT_BYTE ? "<tr><th scope=\"row\" class=\"name\">"
                                          : "<tr><th scope=\"row\">",
        out);
    fulcrum_html_text(out, name);
    (void)fputs("</th>", out);
}

void fulcrum_html_row_end(FILE *out)
{
    (void)fputs("</tr>\n", out);
}

void fulcrum_html_cell(FILE *out, const char *text)
{
    /* Sentences are not squeezed into a column of a word's width. */
    (void)fputs(strlen(text) > WORDS_BYTE ? "<td class=\"long\">" : "<td>", out);
    fulcrum_html_text(out, text);
    (void)fputs("</td>", out);
}

void fulcrum_html_cell_number(FILE *out, const char *text)
{
    (void)fputs("<td class=\"n\">", out);
    fulcrum_html_text(out, text);
    (void)fputs("</td>", out);
}

void fulcrum_html_cell_value(FILE *out, const char *value, const char *range)
{
    (void)fputs("<td class=\"n\">", out);
    fulcrum_html_text(out, value);
    if (range[0] != '\0') {
        (void)fputs("<small>", out);
        fulcrum_html_text(out, range);
        (void)fputs("</small>", out);
    }
    (void)fputs("</td>", out);
}

/* In units of a drawing 200 wide with room for a dot at both ends. */
static double place(const struct fulcrum_whisker *whisker, double value)
{
    double span = whisker->most - whisker->least;
    double share = span > 0.0 ? (value - whisker->least) / span : 0.5;
    return 6.0 + 188.0 * fmin(fmax(share, 0.0), 1.0);
}

void fulcrum_html_cell_whisker(
    FILE *out, const struct fulcrum_whisker *whisker, const char *label)
{
    (void)fputs("<td><svg class=\"whisker\" viewBox=\"0 0 200 16\" role=\"img\" "
                "aria-label=\"",
        out);
    fulcrum_html_text(out, label);
    (void)fputs("\">", out);
    (void)fputs("<path class=\"track\" d=\"M0 8H200\"/>", out);
    if (isfinite(whisker->mark)) {
        double x = place(whisker, whisker->mark);
        (void)fprintf(out, "<path class=\"mark\" d=\"M%.1f 0V16\"/>", x);
    }
    if (isfinite(whisker->lo) && isfinite(whisker->hi)) {
        double from = place(whisker, whisker->lo);
        double to = place(whisker, whisker->hi);
        (void)fprintf(out, "<path class=\"range\" d=\"M%.1f 8H%.1f\"/>", from, to);
    }
    if (isfinite(whisker->value)) {
        double x = place(whisker, whisker->value);
        (void)fprintf(out, "<circle cx=\"%.1f\" cy=\"8\" r=\"5\"/>", x);
    }
    (void)fputs("</svg></td>", out);
}
