/* result_markup.c - a result as Markdown and as elements of HTML. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "presets/result/result_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/io/output.h"

#define REPLACEMENT "\xEF\xBF\xBD"

void fulcrum_html_text(FILE *stream, const char *text)
{
    static const struct fulcrum_escape escapes[] = {{'&', "&amp;"}, {'<', "&lt;"},
        {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}, {'\n', "\n"}, {'\t', "\t"},
        {'\x7F', REPLACEMENT}, {'\0', NULL}};
    fulcrum_print_escaped(stream, text, escapes, REPLACEMENT);
}

static void markdown_text(FILE *stream, const char *text)
{
    static const struct fulcrum_escape escapes[] = {{'|', "\\|"}, {'<', "&lt;"},
        {'&', "&amp;"}, {'`', "\\`"}, {'\\', "\\\\"}, {'\n', " "},
        {'\x7F', REPLACEMENT}, {'\0', NULL}};
    fulcrum_print_escaped(stream, text, escapes, REPLACEMENT);
}

static void markdown_cell(FILE *stream, const char *unit, enum fulcrum_value_kind kind,
    const struct fulcrum_cell *cell)
{
    struct fulcrum_shown_cell words;
    fulcrum_cell_show(cell, kind, unit, FULCRUM_STYLE_WORDS, &words);
    markdown_text(stream, words.value);
    if (words.range[0] != '\0') {
        (void)fputs(" (", stream);
        markdown_text(stream, words.range);
        (void)fputs(")", stream);
    }
}

/* A line of a table: a row, the titles, or the rule below them. */
enum markdown_line { MARKDOWN_TITLES, MARKDOWN_RULE, MARKDOWN_ROW };

static void markdown_line(FILE *stream, const struct fulcrum_table *table,
    enum markdown_line line, size_t row)
{
    for (size_t j = 0; j < fulcrum_table_columns(table); j++) {
        struct fulcrum_column column = fulcrum_table_column(table, j);
        if (!fulcrum_column_is_shown(table, j, false)) {
            continue;
        }
        if (line == MARKDOWN_RULE) {
            bool is_number = column.kind == FULCRUM_VALUE_NUMBER;
            (void)fputs(is_number ? "|--:" : "|---", stream);
            continue;
        }
        (void)fputs("| ", stream);
        if (line == MARKDOWN_TITLES) {
            markdown_text(stream, fulcrum_shown_title(column.title, column.key));
        } else {
            struct fulcrum_cell cell = fulcrum_table_cell(table, row, j);
            markdown_cell(
                stream, fulcrum_table_unit(table, row, j), column.kind, &cell);
        }
        (void)fputc(' ', stream);
    }
    (void)fputs("|\n", stream);
}

/* A column of a table of HTML, as its view asks for it. */
struct html_column {
    size_t index;
    struct fulcrum_column column;
    char title[80];
    bool has_range;
    bool is_code;
    bool is_class; /* the first word of the text is a class */
    bool is_named; /* the first column's text is the key that tells the unit */
    bool is_dot;
    double least; /* of a dot's line */
    double most;
};

/* Wider ones are no tables that people read. */
enum { HTML_COLUMNS_MOST = 40, WORDS_BYTE = 40, SHORT_BYTE = 8 };

static bool is_row_wanted(
    const struct fulcrum_table *table, const struct fulcrum_html_view *view, size_t row)
{
    const char *text =
        view->where != NULL ? fulcrum_table_at(table, row, view->where).text : NULL;
    return view->where == NULL || (text != NULL && strcmp(text, view->is) == 0);
}

/* Columns that say nothing in these rows would only have to be scrolled past. */
static bool says(const struct fulcrum_table *table,
    const struct fulcrum_html_view *view, size_t column)
{
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        struct fulcrum_cell cell = fulcrum_table_cell(table, i, column);
        if (fulcrum_cell_is_known(&cell) && is_row_wanted(table, view, i)) {
            return true;
        }
    }
    return false;
}

/* ":LEAST:MOST=" */
static bool read_scale(const char *how, double *least, double *most)
{
    char *middle = NULL;
    char *end = NULL;
    *least = how[0] == ':' ? strtod(how + 1, &middle) : 0.0;
    if (middle == NULL || middle == how + 1 || *middle != ':') {
        return false;
    }
    *most = strtod(middle + 1, &end);
    return *end == '=';
}

/* "KEY:HOW=TITLE"; `text` ends at `end`. */
static struct html_column read_column(
    const struct fulcrum_table *table, const char *text, const char *end)
{
    struct html_column out = {.index = fulcrum_table_columns(table), .has_range = true};
    char key[80];
    size_t length = strcspn(text, ":=");
    (void)snprintf(key, sizeof key, "%.*s", (int)length, text);
    out.index = fulcrum_table_find(table, key);
    if (out.index < fulcrum_table_columns(table)) {
        out.column = fulcrum_table_column(table, out.index);
    }
    const char *how = text + length;
    text = strchr(how, '=') + 1;
    (void)snprintf(out.title, sizeof out.title, "%.*s", (int)(end - text), text);
    out.is_code = strncmp(how, ":code=", 6) == 0;
    out.is_class = strncmp(how, ":class=", 7) == 0;
    out.has_range = strncmp(how, ":value=", 7) != 0;
    out.is_named = strncmp(how, ":named=", 7) == 0;
    out.is_dot = read_scale(how, &out.least, &out.most);
    return out;
}

static size_t find_columns(const struct fulcrum_table *table,
    const struct fulcrum_html_view *view, struct html_column *out)
{
    size_t count = 0;
    const char *at = view->columns;
    for (size_t j = 0; at == NULL && j < fulcrum_table_columns(table); j++) {
        struct fulcrum_column column = fulcrum_table_column(table, j);
        if (count < HTML_COLUMNS_MOST && fulcrum_column_is_shown(table, j, false)) {
            out[count] = (struct html_column){j, column, .has_range = true};
            (void)snprintf(out[count++].title, sizeof out[0].title, "%s", column.title);
        }
    }
    while (at != NULL && *at != '\0' && count < HTML_COLUMNS_MOST) {
        size_t length = strcspn(at, ";");
        out[count] = read_column(table, at, at + length);
        bool is_there = out[count].index < fulcrum_table_columns(table);
        count += is_there && (count == 0 || says(table, view, out[count].index));
        at += length + (at[length] == ';');
    }
    return count;
}

/* Place on a drawing 200 wide with room for a dot at both ends. */
static double place(const struct html_column *column, double value)
{
    bool is_log = column->least > 0.0;
    double least = is_log ? log(column->least) : column->least;
    double span = (is_log ? log(column->most) : column->most) - least;
    double at = is_log ? log(fmax(value, 1e-300)) : value;
    double share = span > 0.0 ? (at - least) / span : 0.5;
    return 6.0 + 188.0 * fmin(fmax(share, 0.0), 1.0);
}

static void html_value(
    FILE *stream, const char *text, const char *between, const char *range)
{
    fulcrum_html_text(stream, text);
    if (range[0] != '\0') {
        (void)fprintf(stream, "%s<small>", between);
        fulcrum_html_text(stream, range);
        (void)fputs("</small>", stream);
    }
}

/* Nor are sentences. */
static void html_cell(FILE *stream, const struct html_column *column,
    const struct fulcrum_cell *cell, const char *unit)
{
    struct fulcrum_shown_cell words;
    enum fulcrum_value_kind kind = column->column.kind;
    fulcrum_cell_show(cell, kind, unit, FULCRUM_STYLE_WORDS, &words);
    const char *text = words.value;
    bool is_number = cell->text == NULL && kind == FULCRUM_VALUE_NUMBER;
    if (column->is_dot) {
        /* A dot on a line, and a line of its interval; where the scale is of
         * factors, a mark in the middle: no change. The label says the same in
         * words. */
        (void)fputs("<td><svg class=\"whisker\" viewBox=\"0 0 200 16\" role=\"img\" "
                    "aria-label=\"",
            stream);
        fulcrum_html_text(stream, words.number);
        (void)fputs(words.range[0] != '\0' ? ", " : "", stream);
        fulcrum_html_text(stream, words.range);
        (void)fputs("\"><path class=\"track\" d=\"M0 8H200\"/>", stream);
        if (column->least > 0.0) {
            (void)fputs("<path class=\"mark\" d=\"M100.0 0V16\"/>", stream);
        }
        if (words.range[0] != '\0') {
            (void)fprintf(stream, "<path class=\"range\" d=\"M%.1f 8H%.1f\"/>",
                place(column, cell->lo), place(column, cell->hi));
        }
        if (isfinite(cell->number)) {
            (void)fprintf(stream, "<circle cx=\"%.1f\" cy=\"8\" r=\"5\"/>",
                place(column, cell->number));
        }
        (void)fputs("</svg></td>", stream);
        return;
    }
    if (column->is_class) {
        (void)fprintf(stream, "<td class=\"%s-%.*s\">", column->column.key,
            (int)strcspn(text, " "), text);
    } else if (strlen(text) > WORDS_BYTE) {
        (void)fputs("<td class=\"long\">", stream);
    } else {
        (void)fputs(is_number ? "<td class=\"n\">" : "<td>", stream);
    }
    html_value(stream, text, "", column->has_range ? words.range : "");
    (void)fputs("</td>", stream);
}

static void html_row(FILE *stream, const struct fulcrum_table *table,
    const struct html_column *columns, size_t count, size_t row)
{
    struct fulcrum_cell name = fulcrum_table_cell(table, row, columns[0].index);
    (void)fputs("<tr>", stream);
    /* Names of rows are not squeezed to a word's width. */
    const struct html_column *column = &columns[0];
    struct fulcrum_shown_cell words;
    const char *name_unit = fulcrum_unit_of(column->column.key);
    /* A factor that names a row reads like any number. */
    name_unit = strcmp(name_unit, "x") == 0 ? "" : name_unit;
    fulcrum_cell_show(
        &name, column->column.kind, name_unit, FULCRUM_STYLE_WORDS, &words);
    const char *text = words.value;
    bool is_long = strlen(text) > SHORT_BYTE && !column->is_code;
    (void)fprintf(stream, "<th scope=\"row\"%s>%s", is_long ? " class=\"name\"" : "",
        column->is_code ? "<code>" : "");
    fulcrum_html_text(stream, text);
    (void)fputs(column->is_code ? "</code></th>" : "</th>", stream);
    for (size_t k = 1; k < count; k++) {
        struct fulcrum_cell cell = fulcrum_table_cell(table, row, columns[k].index);
        const char *unit = columns[k].is_named && name.text != NULL
                               ? fulcrum_unit_of(name.text)
                               : fulcrum_table_unit(table, row, columns[k].index);
        html_cell(stream, &columns[k], &cell, unit);
    }
    (void)fputs("</tr>\n", stream);
}

static void html_head(FILE *stream, const struct fulcrum_html_view *view,
    const struct html_column *columns, size_t count)
{
    /* A box that scrolls must be reached by the keyboard, and say what it is. */
    (void)fputs(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"", stream);
    fulcrum_html_text(stream, view->caption);
    (void)fprintf(stream,
        view->look != NULL ? "\">\n<table class=\"%s\">" : "\">\n<table>", view->look);
    (void)fputs("\n<caption><span>", stream);
    fulcrum_html_text(stream, view->caption);
    (void)fputs("</span></caption>\n<thead><tr>", stream);
    for (size_t k = 0; k < count; k++) {
        bool is_number = columns[k].column.kind == FULCRUM_VALUE_NUMBER && k > 0;
        (void)fputs(is_number && !columns[k].is_dot ? "<th scope=\"col\" class=\"n\">"
                                                    : "<th scope=\"col\">",
            stream);
        fulcrum_html_text(stream, columns[k].title);
        (void)fputs("</th>", stream);
    }
    (void)fputs("</tr></thead>\n<tbody>\n", stream);
}

size_t fulcrum_html_table(FILE *stream, const struct fulcrum_table *table,
    const struct fulcrum_html_view *view)
{
    struct html_column columns[HTML_COLUMNS_MOST];
    size_t written = 0;
    size_t rows = table != NULL ? fulcrum_table_rows(table) : 0;
    size_t count = rows > 0 ? find_columns(table, view, columns) : 0;
    size_t most = view->rows_most > 0 ? view->rows_most : rows;
    for (size_t i = 0; count > 0 && i < rows && written < most; i++) {
        if (is_row_wanted(table, view, i)) {
            if (written++ == 0) {
                html_head(stream, view, columns, count);
            }
            html_row(stream, table, columns, count, i);
        }
    }
    (void)fputs(written > 0 ? "</tbody>\n</table>\n</div>\n" : "", stream);
    return written;
}

static void write_notes(const struct fulcrum_table *table, FILE *stream,
    const char *before, const char *after, void (*text)(FILE *, const char *))
{
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        struct fulcrum_cell cell = fulcrum_table_cell(table, i, 0);
        if (cell.text != NULL) {
            (void)fputs(before, stream);
            text(stream, cell.text);
            (void)fputs(after, stream);
        }
    }
}

/* A title without a value would tell people nothing. */
static bool is_shown_fact(const struct fulcrum_item *item)
{
    return item->table == NULL && item->title != NULL &&
           fulcrum_cell_is_known(&item->cell);
}

static bool is_shown_table(const struct fulcrum_item *item)
{
    return item->table != NULL && item->title != NULL &&
           fulcrum_table_rows(item->table) > 0;
}

void fulcrum_result_markdown(const struct fulcrum_result *result, FILE *stream)
{
    for (size_t i = 0; i < fulcrum_result_count(result); i++) {
        const struct fulcrum_item *item = fulcrum_result_item(result, i);
        if (item->is_list) {
            write_notes(item->table, stream, "\nNote: ", "\n", markdown_text);
        } else if (is_shown_table(item)) {
            (void)fprintf(stream, "%s%s\n\n", i > 0 ? "\n" : "", item->title);
            const struct fulcrum_table *table = item->table;
            markdown_line(stream, table, MARKDOWN_TITLES, 0);
            markdown_line(stream, table, MARKDOWN_RULE, 0);
            for (size_t j = 0; j < fulcrum_table_rows(table); j++) {
                markdown_line(stream, table, MARKDOWN_ROW, j);
            }
        } else if (is_shown_fact(item)) {
            (void)fprintf(stream, "- %s: ", item->title);
            markdown_cell(stream, fulcrum_unit_of(item->key), item->kind, &item->cell);
            (void)fputc('\n', stream);
        }
    }
}

void fulcrum_result_html(const struct fulcrum_result *result, FILE *stream)
{
    bool is_open = false; /* a list of facts */
    for (size_t i = 0; i < fulcrum_result_count(result); i++) {
        const struct fulcrum_item *item = fulcrum_result_item(result, i);
        bool is_fact = is_shown_fact(item);
        if (is_fact != is_open && (is_fact || item->table != NULL)) {
            (void)fputs(is_fact ? "<dl>\n" : "</dl>\n", stream);
            is_open = is_fact;
        }
        if (item->is_list) {
            write_notes(
                item->table, stream, "<p class=\"note\">", "</p>\n", fulcrum_html_text);
        } else if (is_shown_table(item)) {
            (void)fulcrum_html_table(stream, item->table,
                &(struct fulcrum_html_view){.caption = item->title});
        } else if (is_fact) {
            struct fulcrum_shown_cell words;
            fulcrum_cell_show(&item->cell, item->kind, fulcrum_unit_of(item->key),
                FULCRUM_STYLE_WORDS, &words);
            (void)fputs("<dt>", stream);
            fulcrum_html_text(stream, item->title);
            (void)fputs("</dt><dd>", stream);
            html_value(stream, words.value, " ", words.range);
            (void)fputs("</dd>\n", stream);
        }
    }
    (void)fputs(is_open ? "</dl>\n" : "", stream);
}
