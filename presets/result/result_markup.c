/* result_markup.c - a result as Markdown and as elements of HTML. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "presets/result/result_write.h"

#include <math.h>
#include <string.h>

#include "model/string.h"
#include "presets/result/quantity_text.h"

#define REPLACEMENT "\xEF\xBF\xBD"

void fulcrum_html_text(FILE *stream, const char *text)
{
    static const struct fulcrum_escape escapes[] = {{'&', "&amp;"}, {'<', "&lt;"},
        {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}, {'\n', "\n"}, {'\t', "\t"},
        {'\x7F', REPLACEMENT}, {'\0', NULL}};
    while (*text != '\0') {
        const char *piece = NULL;
        size_t length = 0;
        text += fulcrum_escape_next(text, escapes, REPLACEMENT, &piece, &length);
        (void)fwrite(piece, 1, length, stream);
    }
}

static void markdown_text(FILE *stream, const char *text)
{
    static const struct fulcrum_escape escapes[] = {{'|', "\\|"}, {'<', "&lt;"},
        {'&', "&amp;"}, {'`', "\\`"}, {'\\', "\\\\"}, {'\n', " "},
        {'\x7F', REPLACEMENT}, {'\0', NULL}};
    while (*text != '\0') {
        const char *piece = NULL;
        size_t length = 0;
        text += fulcrum_escape_next(text, escapes, REPLACEMENT, &piece, &length);
        (void)fwrite(piece, 1, length, stream);
    }
}

struct words {
    char value[2 * FULCRUM_QUANTITY_SIZE];
    char range[2 * FULCRUM_QUANTITY_SIZE];
};

/* A value and its interval as people write them; the value may be the cell's text. */
static const char *words_of(const char *key, enum fulcrum_value_kind kind,
    const struct fulcrum_cell *cell, struct words *out)
{
    const char *unit = fulcrum_unit_of(key);
    out->range[0] = '\0';
    if (cell->text != NULL) {
        return cell->text;
    }
    if (kind == FULCRUM_VALUE_FLAG && !isnan(cell->number)) {
        return cell->number != 0.0 ? "yes" : "no";
    }
    if (strcmp(unit, "x") == 0) {
        fulcrum_factor_words(cell->number, out->value);
        fulcrum_factor_range_words(cell->lo, cell->hi, out->range);
    } else {
        fulcrum_quantity_words(cell->number, unit, out->value);
        fulcrum_range_words(cell->lo, cell->hi, cell->number, unit, out->range);
    }
    return out->value;
}

static void markdown_cell(FILE *stream, const char *key, enum fulcrum_value_kind kind,
    const struct fulcrum_cell *cell)
{
    struct words words;
    markdown_text(stream, words_of(key, kind, cell, &words));
    if (words.range[0] != '\0') {
        (void)fputs(" (", stream);
        markdown_text(stream, words.range);
        (void)fputs(")", stream);
    }
}

static void markdown_table(FILE *stream, const struct fulcrum_table *table)
{
    size_t count = fulcrum_table_columns(table);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t j = 0; j < count; j++) {
            struct fulcrum_column column = fulcrum_table_column(table, j);
            if (!fulcrum_column_is_shown(table, j, false)) {
                continue;
            }
            if (pass == 0) {
                (void)fputs("| ", stream);
                markdown_text(stream, fulcrum_shown_title(column.title, column.key));
                (void)fputc(' ', stream);
            } else {
                (void)fputs(
                    column.kind == FULCRUM_VALUE_NUMBER ? "|--:" : "|---", stream);
            }
        }
        (void)fputs("|\n", stream);
    }
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        for (size_t j = 0; j < count; j++) {
            if (fulcrum_column_is_shown(table, j, false)) {
                struct fulcrum_column column = fulcrum_table_column(table, j);
                struct fulcrum_cell cell = fulcrum_table_cell(table, i, j);
                (void)fputs("| ", stream);
                markdown_cell(stream, column.key, column.kind, &cell);
                (void)fputc(' ', stream);
            }
        }
        (void)fputs("|\n", stream);
    }
}

static void html_cell(FILE *stream, const char *key, enum fulcrum_value_kind kind,
    const struct fulcrum_cell *cell, bool is_name)
{
    enum { WORDS_BYTE = 40 }; /* longer cells are sentences, not squeezed to a word */
    struct words words;
    const char *text = words_of(key, kind, cell, &words);
    const char *look =
        cell->text == NULL && kind == FULCRUM_VALUE_NUMBER ? " class=\"n\"" : "";
    look = strlen(text) > WORDS_BYTE ? " class=\"long\"" : look;
    (void)fprintf(
        stream, is_name ? "<th scope=\"row\"%s>" : "<td%s>", is_name ? "" : look);
    fulcrum_html_text(stream, text);
    if (words.range[0] != '\0') {
        (void)fputs("<small>", stream);
        fulcrum_html_text(stream, words.range);
        (void)fputs("</small>", stream);
    }
    (void)fputs(is_name ? "</th>" : "</td>", stream);
}

static void html_table(
    FILE *stream, const struct fulcrum_table *table, const char *caption)
{
    /* A box that scrolls must be reached by the keyboard, and say what it is. */
    (void)fputs(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"", stream);
    fulcrum_html_text(stream, caption);
    (void)fputs("\">\n<table>\n<caption><span>", stream);
    fulcrum_html_text(stream, caption);
    (void)fputs("</span></caption>\n<thead><tr>", stream);
    for (size_t j = 0; j < fulcrum_table_columns(table); j++) {
        struct fulcrum_column column = fulcrum_table_column(table, j);
        if (fulcrum_column_is_shown(table, j, false)) {
            (void)fputs(column.kind == FULCRUM_VALUE_NUMBER
                            ? "<th scope=\"col\" class=\"n\">"
                            : "<th scope=\"col\">",
                stream);
            fulcrum_html_text(stream, fulcrum_shown_title(column.title, column.key));
            (void)fputs("</th>", stream);
        }
    }
    (void)fputs("</tr></thead>\n<tbody>\n", stream);
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        bool is_first = true;
        (void)fputs("<tr>", stream);
        for (size_t j = 0; j < fulcrum_table_columns(table); j++) {
            if (fulcrum_column_is_shown(table, j, false)) {
                struct fulcrum_column column = fulcrum_table_column(table, j);
                struct fulcrum_cell cell = fulcrum_table_cell(table, i, j);
                html_cell(stream, column.key, column.kind, &cell, is_first);
                is_first = false;
            }
        }
        (void)fputs("</tr>\n", stream);
    }
    (void)fputs("</tbody>\n</table>\n</div>\n", stream);
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
            markdown_table(stream, item->table);
        } else if (item->table == NULL && item->title != NULL) {
            (void)fprintf(stream, "- %s: ", item->title);
            markdown_cell(stream, item->key, item->kind, &item->cell);
            (void)fputc('\n', stream);
        }
    }
}

void fulcrum_result_html(const struct fulcrum_result *result, FILE *stream)
{
    bool is_open = false; /* a list of facts */
    for (size_t i = 0; i < fulcrum_result_count(result); i++) {
        const struct fulcrum_item *item = fulcrum_result_item(result, i);
        bool is_fact = item->table == NULL && item->title != NULL;
        if (is_fact != is_open && (is_fact || item->table != NULL)) {
            (void)fputs(is_fact ? "<dl>\n" : "</dl>\n", stream);
            is_open = is_fact;
        }
        if (item->is_list) {
            write_notes(
                item->table, stream, "<p class=\"note\">", "</p>\n", fulcrum_html_text);
        } else if (is_shown_table(item)) {
            html_table(stream, item->table, item->title);
        } else if (is_fact) {
            struct words words;
            (void)fputs("<dt>", stream);
            fulcrum_html_text(stream, item->title);
            (void)fputs("</dt><dd>", stream);
            fulcrum_html_text(
                stream, words_of(item->key, item->kind, &item->cell, &words));
            if (words.range[0] != '\0') {
                (void)fputs(" <small>", stream);
                fulcrum_html_text(stream, words.range);
                (void)fputs("</small>", stream);
            }
            (void)fputs("</dd>\n", stream);
        }
    }
    (void)fputs(is_open ? "</dl>\n" : "", stream);
}
