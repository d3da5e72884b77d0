/* result_write.c - a result as CSV, JSON and JSON lines. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "presets/result/result_write.h"

#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/number.h"
#include "model/try.h"

const char *fulcrum_format_name(int format)
{
    static const char *const names[] = {
        "table", "csv", "json", "jsonl", "markdown", "html"};
    return format >= 0 && (size_t)format < sizeof names / sizeof names[0]
               ? names[format]
               : NULL;
}

/* That of the table that is made main, else of the first; NULL: there is none. */
static const struct fulcrum_item *main_item(const struct fulcrum_result *result)
{
    const struct fulcrum_item *first = NULL;
    for (size_t i = 0; i < fulcrum_result_count(result); i++) {
        const struct fulcrum_item *item = fulcrum_result_item(result, i);
        if (item->table != NULL && !item->is_list && !item->is_keyed &&
            (first == NULL || item->is_main)) {
            first = item;
        }
    }
    return first;
}

void fulcrum_csv_add(struct fulcrum_string *row, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fulcrum_string_append(row, text, strlen(text));
        return;
    }
    /* Piece by piece, each with its quotation mark, as sweeps write millions of texts.
     */
    fulcrum_string_append(row, "\"", 1);
    for (const char *mark = NULL; (mark = strchr(text, '"')) != NULL; text = mark + 1) {
        fulcrum_string_append(row, text, (size_t)(mark - text) + 1);
        fulcrum_string_append(row, "\"", 1);
    }
    fulcrum_string_append(row, text, strlen(text));
    fulcrum_string_append(row, "\"", 1);
}

void fulcrum_csv_print(FILE *stream, const char *text)
{
    struct fulcrum_string cell = {0};
    fulcrum_csv_add(&cell, text);
    (void)fputs(fulcrum_string_get(&cell), stream);
    fulcrum_string_clear(&cell);
}

static void csv_number(FILE *stream, double value)
{
    if (isfinite(value)) {
        (void)fprintf(stream, "%.17g", value);
    }
}

static void csv_cell(
    FILE *stream, const struct fulcrum_column *column, const struct fulcrum_cell *cell)
{
    if (cell->text != NULL) {
        fulcrum_csv_print(stream, cell->text);
    } else {
        csv_number(stream, cell->number);
    }
    if (column->has_ends) {
        (void)fputc(',', stream);
        csv_number(stream, cell->lo);
        (void)fputc(',', stream);
        csv_number(stream, cell->hi);
    }
}

void fulcrum_csv_heading(FILE *stream, const struct fulcrum_table *table)
{
    for (size_t j = 0; j < fulcrum_table_columns(table); j++) {
        struct fulcrum_column column = fulcrum_table_column(table, j);
        (void)fputs(j > 0 ? "," : "", stream);
        fulcrum_csv_print(stream, column.key);
        if (column.has_ends) {
            (void)fprintf(stream, ",%s_lo,%s_hi", column.key, column.key);
        }
    }
    (void)fputc('\n', stream);
}

void fulcrum_csv_rows(FILE *stream, const struct fulcrum_table *table)
{
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        for (size_t j = 0; j < fulcrum_table_columns(table); j++) {
            struct fulcrum_column column = fulcrum_table_column(table, j);
            struct fulcrum_cell cell = fulcrum_table_cell(table, i, j);
            (void)fputs(j > 0 ? "," : "", stream);
            csv_cell(stream, &column, &cell);
        }
        (void)fputc('\n', stream);
    }
}

/* Every fact with an interval, or every one where none has. */
static void csv_facts(FILE *stream, const struct fulcrum_result *result)
{
    static const struct fulcrum_column ends = {.has_ends = true};
    bool has_ends = false;
    for (size_t i = 0; i < fulcrum_result_count(result); i++) {
        has_ends = has_ends || fulcrum_result_item(result, i)->has_ends;
    }
    (void)fputs("name,value,lo,hi,unit,meaning\n", stream);
    for (size_t i = 0; i < fulcrum_result_count(result); i++) {
        const struct fulcrum_item *item = fulcrum_result_item(result, i);
        if (item->table != NULL || item->key[0] == '\0' ||
            (has_ends && !item->has_ends)) {
            continue;
        }
        const char *unit = fulcrum_unit_of(item->key);
        fulcrum_csv_print(stream, item->key);
        (void)fputc(',', stream);
        csv_cell(stream, &ends, &item->cell);
        (void)fprintf(stream, ",%s,",
            strcmp(unit, "%") == 0 || strcmp(unit, "x") == 0 ? "" : unit);
        const char *meaning = item->meaning != NULL ? item->meaning : item->title;
        fulcrum_csv_print(stream, meaning != NULL ? meaning : "");
        (void)fputc('\n', stream);
    }
}

static void json_cell(struct json_object *object, const char *key,
    enum fulcrum_value_kind kind, const struct fulcrum_cell *cell)
{
    if (cell->text != NULL) {
        fulcrum_json_add_text(object, key, cell->text);
    } else if (kind == FULCRUM_VALUE_FLAG && !isnan(cell->number)) {
        fulcrum_json_add_flag(object, key, cell->number != 0.0);
    } else {
        fulcrum_json_add_number(object, key, cell->number);
    }
}

static void json_end(
    struct json_object *object, const char *key, const char *end, double value)
{
    struct fulcrum_string name = {0};
    fulcrum_string_add(&name, "%s%s", key, end);
    fulcrum_json_add_number(object, fulcrum_string_get(&name), value);
    fulcrum_string_clear(&name);
}

static void json_row(struct json_object *object, const struct fulcrum_table *table,
    size_t row, size_t from)
{
    for (size_t j = from; j < fulcrum_table_columns(table); j++) {
        struct fulcrum_column column = fulcrum_table_column(table, j);
        struct fulcrum_cell cell = fulcrum_table_cell(table, row, j);
        json_cell(object, column.key, column.kind, &cell);
        if (column.has_ends) {
            json_end(object, column.key, "_lo", cell.lo);
            json_end(object, column.key, "_hi", cell.hi);
        }
    }
}

static void json_table(
    struct json_object *parent, const char *key, const struct fulcrum_item *item)
{
    bool is_keyed = item->is_keyed;
    struct json_object *array = is_keyed ? fulcrum_json_add_object(parent, key)
                                         : fulcrum_json_add_array(parent, key);
    for (size_t i = 0; i < fulcrum_table_rows(item->table); i++) {
        struct fulcrum_cell cell = fulcrum_table_cell(item->table, i, 0);
        if (is_keyed) {
            json_row(fulcrum_json_add_object(array, cell.text != NULL ? cell.text : ""),
                item->table, i, 1);
        } else if (!item->is_list) {
            json_row(fulcrum_json_add_object(array, NULL), item->table, i, 0);
        } else if (cell.text != NULL) {
            fulcrum_json_add_text(array, NULL, cell.text);
        } else {
            fulcrum_json_add_number(array, NULL, cell.number);
        }
    }
}

/* The object that a key belongs to, by its part before the '/', and the rest of it. */
static struct json_object *group_of(struct json_object *root, const char **key)
{
    const char *slash = strchr(*key, '/');
    struct json_object *group = root;
    struct fulcrum_string name = {0};
    if (slash != NULL) {
        fulcrum_string_append(&name, *key, (size_t)(slash - *key));
        *key = slash + 1;
        if (!json_object_object_get_ex(root, fulcrum_string_get(&name), &group)) {
            group = fulcrum_json_add_object(root, fulcrum_string_get(&name));
        }
    }
    fulcrum_string_clear(&name);
    return group;
}

struct json_object *fulcrum_result_json(
    const struct fulcrum_result *result, const struct fulcrum_table *skipped)
{
    struct json_object *root = fulcrum_json_new_object();
    if (fulcrum_result_schema(result)[0] != '\0') {
        struct json_object *schema = fulcrum_json_add_object(root, "schema");
        fulcrum_json_add_text(schema, "name", fulcrum_result_schema(result));
        fulcrum_json_add_number(schema, "version", 1.0);
    }
    for (size_t i = 0; i < fulcrum_result_count(result); i++) {
        const struct fulcrum_item *item = fulcrum_result_item(result, i);
        const char *key = item->key;
        if (key[0] == '\0') {
            continue;
        }
        struct json_object *object = group_of(root, &key);
        if (item->table == NULL) {
            json_cell(object, key, item->kind, &item->cell);
        } else if (item->table != skipped) {
            json_table(object, key, item);
        }
    }
    /* The ends of all facts that have any: {"gpu_w": [200, 300]}. */
    for (size_t i = 0; i < fulcrum_result_count(result); i++) {
        const struct fulcrum_item *item = fulcrum_result_item(result, i);
        const char *key = "intervals/";
        if (item->has_ends && isfinite(item->cell.lo)) {
            const double ends[] = {item->cell.lo, item->cell.hi};
            fulcrum_json_add_numbers(group_of(root, &key), item->key, ends, 2);
        }
    }
    return root;
}

static enum fulcrum_status write_json(struct json_object *json,
    enum fulcrum_json_layout layout, FILE *stream, struct fulcrum_error *err)
{
    char *text = NULL;
    enum fulcrum_status status = fulcrum_json_text(json, layout, &text, err);
    if (status == FULCRUM_OK) {
        (void)fputs(text, stream);
    }
    free(text);
    json_object_put(json);
    return status;
}

enum fulcrum_status fulcrum_result_line(
    const struct fulcrum_result *result, char **out, struct fulcrum_error *err)
{
    TRY(fulcrum_result_check(result, err));
    struct json_object *json = fulcrum_result_json(result, NULL);
    enum fulcrum_status status = fulcrum_json_text(json, FULCRUM_JSON_LINE, out, err);
    json_object_put(json);
    return status;
}

static enum fulcrum_status print_lines(
    const struct fulcrum_result *result, FILE *stream, struct fulcrum_error *err)
{
    const struct fulcrum_item *item = main_item(result);
    const struct fulcrum_table *table = item != NULL ? item->table : NULL;
    struct json_object *head = fulcrum_result_json(result, table);
    if (item != NULL) {
        fulcrum_json_add_text(head, "lines_of", item->key);
    }
    TRY(write_json(head, FULCRUM_JSON_LINE, stream, err));
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        struct json_object *row = fulcrum_json_new_object();
        json_row(row, table, i, 0);
        TRY(write_json(row, FULCRUM_JSON_LINE, stream, err));
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_result_write(const struct fulcrum_result *result,
    enum fulcrum_format format, const struct fulcrum_text_layout *layout, FILE *stream,
    struct fulcrum_error *err)
{
    static const struct fulcrum_text_layout any = {0, false};
    const struct fulcrum_item *item = main_item(result);
    TRY(fulcrum_result_check(result, err));
    switch (format) {
    case FULCRUM_FORMAT_CSV:
        if (item != NULL) {
            fulcrum_csv_heading(stream, item->table);
            fulcrum_csv_rows(stream, item->table);
        } else {
            csv_facts(stream, result);
        }
        return FULCRUM_OK;
    case FULCRUM_FORMAT_JSON:
        return write_json(
            fulcrum_result_json(result, NULL), FULCRUM_JSON_PRETTY, stream, err);
    case FULCRUM_FORMAT_JSON_LINES:
        return print_lines(result, stream, err);
    case FULCRUM_FORMAT_MARKDOWN:
        fulcrum_result_markdown(result, stream);
        return FULCRUM_OK;
    case FULCRUM_FORMAT_HTML:
        fulcrum_result_html(result, stream);
        return FULCRUM_OK;
    case FULCRUM_FORMAT_TABLE:
    default:
        fulcrum_result_text_write(result, layout != NULL ? layout : &any, stream);
        return FULCRUM_OK;
    }
}
