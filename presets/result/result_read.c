/* result_read.c - a result from a file that fulcrum wrote. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* stat */

#include <ctype.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/number.h"
#include "model/string.h"
#include "model/try.h"
#include "presets/io/csv.h"
#include "presets/io/json.h"
#include "presets/result/result_io.h"

/* What rows of JSON lines are called where the head, by "lines_of", says nothing. */
#define LINES "points"

static double number_of(const struct json_object *value)
{
    enum json_type type = json_object_get_type(value);
    return type == json_type_int || type == json_type_double
               ? json_object_get_double(value)
               : FULCRUM_UNKNOWN;
}

static double element_of(const struct json_object *pair, size_t i)
{
    return json_object_get_type(pair) == json_type_array
               ? number_of(json_object_array_get_idx(pair, i))
               : FULCRUM_UNKNOWN;
}

/* Whether it is "speedup_lo" beside the number of "speedup". */
static bool is_end(const struct json_object *row, const char *key)
{
    size_t length = strlen(key);
    struct fulcrum_string base = {0};
    struct json_object *value = NULL;
    if (length <= 3 || (strcmp(key + length - 3, "_lo") != 0 &&
                           strcmp(key + length - 3, "_hi") != 0)) {
        return false;
    }
    fulcrum_string_append(&base, key, length - 3);
    bool has_base = json_object_object_get_ex(row, fulcrum_string_get(&base), &value);
    fulcrum_string_clear(&base);
    return has_base && json_object_get_type(value) != json_type_string;
}

static double end_value(const struct json_object *row, const char *key, const char *end)
{
    struct fulcrum_string name = {0};
    struct json_object *value = NULL;
    fulcrum_string_add(&name, "%s%s", key, end);
    (void)json_object_object_get_ex(row, fulcrum_string_get(&name), &value);
    fulcrum_string_clear(&name);
    return value != NULL ? number_of(value) : FULCRUM_UNKNOWN;
}

static void add_cell(struct fulcrum_table *table, const struct json_object *row,
    const char *key, struct json_object *value);

/* NOLINTBEGIN(misc-no-recursion): as deep as the document */

/* In a cell a pair of numbers is an interval; of objects the first one's members become
 * "key/member"; texts are joined. */
static void add_array(
    struct fulcrum_table *table, const char *key, const struct json_object *array)
{
    struct fulcrum_string text = {0};
    struct json_object *first = json_object_array_get_idx(array, 0);
    if (json_object_get_type(first) == json_type_object) {
        struct json_object_iter at;
        json_object_object_foreachC(first, at)
        {
            fulcrum_string_clear(&text);
            fulcrum_string_add(&text, "%s/%s", key, at.key);
            add_cell(table, first, fulcrum_string_get(&text), at.val);
        }
    } else if (json_object_array_length(array) == 2 && !isnan(number_of(first))) {
        fulcrum_table_estimate(table, key, key, FULCRUM_UNKNOWN, element_of(array, 0),
            element_of(array, 1));
    } else {
        /* "first; second" */
        for (size_t i = 0; i < json_object_array_length(array); i++) {
            fulcrum_string_add(&text, "%s%s", i > 0 ? "; " : "",
                json_object_get_string(json_object_array_get_idx(array, i)));
        }
        fulcrum_table_text(table, key, key, fulcrum_string_get(&text));
    }
    fulcrum_string_clear(&text);
}

static void add_cell(struct fulcrum_table *table, const struct json_object *row,
    const char *key, struct json_object *value)
{
    struct fulcrum_string text = {0};
    struct json_object *lo = NULL;
    switch (json_object_get_type(value)) {
    case json_type_string:
        fulcrum_table_text(table, key, key, json_object_get_string(value));
        break;
    case json_type_boolean:
        fulcrum_table_flag(table, key, key, json_object_get_boolean(value) != 0);
        break;
    case json_type_array:
        add_array(table, key, value);
        break;
    case json_type_object:
        break;
    case json_type_null:
    case json_type_int:
    case json_type_double:
    default:
        fulcrum_string_add(&text, "%s_lo", key);
        if (json_object_object_get_ex(row, fulcrum_string_get(&text), &lo)) {
            fulcrum_table_estimate(table, key, key, number_of(value),
                end_value(row, key, "_lo"), end_value(row, key, "_hi"));
        } else {
            fulcrum_table_number(table, key, key, number_of(value));
        }
        break;
    }
    fulcrum_string_clear(&text);
}

/* NOLINTEND(misc-no-recursion) */

static void add_table(
    struct fulcrum_result *result, const char *key, const struct json_object *array)
{
    struct fulcrum_table *table = fulcrum_result_table(result, key, key);
    for (size_t i = 0; i < json_object_array_length(array); i++) {
        struct json_object *row = json_object_array_get_idx(array, i);
        fulcrum_table_row(table);
        if (json_object_get_type(row) != json_type_object) {
            continue;
        }
        struct json_object_iter at;
        json_object_object_foreachC(row, at)
        {
            if (!is_end(row, at.key)) {
                add_cell(table, row, at.key, at.val);
            }
        }
    }
}

/* {"gpu.sm_count": {"value": 80, ...}, ...} */
static bool is_keyed(const struct json_object *object)
{
    struct json_object_iter at;
    bool all = json_object_object_length(object) > 0;
    json_object_object_foreachC(object, at)
    {
        all = all && json_object_get_type(at.val) == json_type_object;
    }
    return all;
}

static void add_keyed(
    struct fulcrum_result *result, const char *key, const struct json_object *object)
{
    struct fulcrum_table *table = fulcrum_result_table(result, key, key);
    struct json_object_iter at;
    json_object_object_foreachC(object, at)
    {
        struct json_object_iter member;
        fulcrum_table_row(table);
        fulcrum_table_text(table, "key", "key", at.key);
        json_object_object_foreachC(at.val, member)
        {
            add_cell(table, at.val, member.key, member.val);
        }
    }
    fulcrum_table_make_keyed(table);
}

static void add_list(
    struct fulcrum_result *result, const char *key, const struct json_object *array)
{
    for (size_t i = 0; i < json_object_array_length(array); i++) {
        struct json_object *value = json_object_array_get_idx(array, i);
        double number = number_of(value);
        if (json_object_get_type(value) == json_type_string) {
            fulcrum_result_note(result, key, json_object_get_string(value));
        } else {
            fulcrum_result_numbers(result, key, &number, 1);
        }
    }
}

/* Documents are nested 32 deep at most. NOLINTNEXTLINE(misc-no-recursion) */
static void add_members(struct fulcrum_result *result, const char *prefix,
    const struct json_object *object, const struct json_object *intervals)
{
    struct json_object_iter at;
    json_object_object_foreachC(object, at)
    {
        struct fulcrum_string key = {0};
        struct json_object *pair = NULL;
        fulcrum_string_add(&key, "%s%s", prefix, at.key);
        const char *name = fulcrum_string_get(&key);
        struct json_object *rows = NULL;
        if (json_object_object_get_ex(object, "lines_of", &rows)) {
            name = strcmp(name, LINES) == 0 ? json_object_get_string(rows) : name;
        }
        bool is_intervals = at.val == intervals || strcmp(name, "schema") == 0;
        switch (json_object_get_type(at.val)) {
        case json_type_string:
            if (at.val == rows) {
                break;
            }
            fulcrum_result_text(result, name, at.key, json_object_get_string(at.val));
            break;
        case json_type_boolean:
            fulcrum_result_flag(
                result, name, at.key, json_object_get_boolean(at.val) != 0);
            break;
        case json_type_array:
            if (json_object_array_length(at.val) == 0 ||
                json_object_get_type(json_object_array_get_idx(at.val, 0)) ==
                    json_type_object) {
                add_table(result, name, at.val);
            } else {
                add_list(result, name, at.val);
            }
            break;
        case json_type_object:
            if (is_keyed(at.val)) {
                add_keyed(result, name, at.val);
            } else if (!is_intervals) {
                fulcrum_string_add(&key, "/");
                add_members(result, fulcrum_string_get(&key), at.val, NULL);
            }
            break;
        case json_type_null:
        case json_type_int:
        case json_type_double:
        default:
            if (json_object_get_type(intervals) == json_type_object &&
                json_object_object_get_ex(intervals, name, &pair)) {
                fulcrum_result_estimate(result, name, at.key, number_of(at.val),
                    element_of(pair, 0), element_of(pair, 1));
            } else {
                fulcrum_result_number(result, name, at.key, number_of(at.val));
            }
            break;
        }
        fulcrum_string_clear(&key);
    }
}

/* JSON has no NaN and no 1e400, but its parser takes them: "rows[0].steps_per_s = NaN",
 * in `where`, is the first. NOLINTNEXTLINE(misc-no-recursion) */
static bool find_no_number(struct json_object *value, struct fulcrum_string *where)
{
    struct fulcrum_string rest = {0};
    struct json_object_iter at;
    bool is_found = json_object_get_type(value) == json_type_double &&
                    !isfinite(json_object_get_double(value));
    if (is_found) {
        fulcrum_string_add(where, " = %s", json_object_get_string(value));
    } else if (json_object_get_type(value) == json_type_array) {
        for (size_t i = 0; i < json_object_array_length(value) && !is_found; i++) {
            is_found = find_no_number(json_object_array_get_idx(value, i), &rest);
            if (is_found) {
                fulcrum_string_add(where, "[%zu]%s", i, fulcrum_string_get(&rest));
            }
        }
    } else if (json_object_get_type(value) == json_type_object) {
        json_object_object_foreachC(value, at)
        {
            is_found = find_no_number(at.val, &rest);
            if (is_found) {
                fulcrum_string_add(where, ".%s%s", at.key, fulcrum_string_get(&rest));
                break;
            }
        }
    }
    fulcrum_string_clear(&rest);
    return is_found;
}

enum fulcrum_status fulcrum_result_of_document(const char *path,
    struct json_object *document, struct fulcrum_result **out,
    struct fulcrum_error *err)
{
    struct json_object *schema = NULL;
    struct json_object *name = NULL;
    struct json_object *intervals = NULL;
    struct fulcrum_string where = {0};
    if (find_no_number(document, &where)) {
        (void)fulcrum_fail(err, FULCRUM_ERR_FORMAT, "%s: %s: expected a finite number",
            path, fulcrum_string_get(&where) + 1);
        fulcrum_string_clear(&where);
        return FULCRUM_ERR_FORMAT;
    }
    if (json_object_object_get_ex(document, "schema", &schema)) {
        (void)json_object_object_get_ex(schema, "name", &name);
    }
    (void)json_object_object_get_ex(document, "intervals", &intervals);
    struct fulcrum_result *result =
        fulcrum_result_new(name != NULL ? json_object_get_string(name) : NULL);
    add_members(result, "", document, intervals);
    enum fulcrum_status status = fulcrum_result_check(result, err);
    if (status != FULCRUM_OK) {
        fulcrum_result_free(result);
        return fulcrum_fail_in(err, status, path);
    }
    *out = result;
    return FULCRUM_OK;
}

static double number_at(const struct fulcrum_csv *csv, size_t row, size_t column)
{
    double value = FULCRUM_UNKNOWN;
    bool is_number = column < fulcrum_csv_column_count(csv) &&
                     fulcrum_csv_number(csv, row, column, &value, NULL) == FULCRUM_OK;
    return is_number ? value : FULCRUM_UNKNOWN;
}

/* Whether every cell that is not empty is a number. */
static bool is_numeric(const struct fulcrum_csv *csv, size_t column)
{
    bool all = true;
    double value = 0.0;
    for (size_t i = 0; i < fulcrum_csv_row_count(csv) && all; i++) {
        all = fulcrum_csv_number(csv, i, column, &value, NULL) == FULCRUM_OK;
    }
    return all;
}

/* What is known of a column before its cells are read. */
struct csv_column {
    bool is_numeric;
    bool is_end;    /* of an interval: "speedup_lo" beside the numbers of "speedup" */
    size_t ends[2]; /* columns of its own ends; column_count: none */
};

/* Finds the base of a column that is an end, which is no place for a text. */
static enum fulcrum_status find_base(const struct fulcrum_csv *csv,
    struct csv_column *columns, size_t column, struct fulcrum_error *err)
{
    const char *name = fulcrum_csv_column_name(csv, column);
    for (size_t j = 0; j < fulcrum_csv_column_count(csv); j++) {
        const char *base = fulcrum_csv_column_name(csv, j);
        size_t length = strlen(base);
        if (!columns[j].is_numeric || strncmp(name, base, length) != 0) {
            continue;
        }
        for (size_t k = 0; k < 2; k++) {
            if (strcmp(name + length, k == 0 ? "_lo" : "_hi") == 0) {
                columns[j].ends[k] = column;
                columns[column].is_end = true;
            }
        }
    }
    double value = 0.0;
    for (size_t i = 0; i < fulcrum_csv_row_count(csv) && columns[column].is_end; i++) {
        TRY(fulcrum_csv_number(csv, i, column, &value, err));
    }
    return FULCRUM_OK;
}

static void add_csv_cell(struct fulcrum_table *table, const struct fulcrum_csv *csv,
    const struct csv_column *column, size_t row, size_t j)
{
    const char *key = fulcrum_csv_column_name(csv, j);
    if (!column->is_numeric) {
        /* One text among numbers makes texts of all: they stay numbers beside that. */
        fulcrum_table_number(table, key, key, number_at(csv, row, j));
        fulcrum_table_text(table, key, key, fulcrum_csv_text(csv, row, j));
    } else if (column->ends[0] < fulcrum_csv_column_count(csv)) {
        fulcrum_table_estimate(table, key, key, number_at(csv, row, j),
            number_at(csv, row, column->ends[0]), number_at(csv, row, column->ends[1]));
    } else {
        fulcrum_table_number(table, key, key, number_at(csv, row, j));
    }
}

enum fulcrum_status fulcrum_result_of_csv(const struct fulcrum_csv *csv,
    struct fulcrum_result **out, struct fulcrum_error *err)
{
    size_t count = fulcrum_csv_column_count(csv);
    struct csv_column *columns = calloc(count + 1, sizeof *columns);
    TRY_MEMORY(columns, err, "a table");
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    struct fulcrum_table *table = fulcrum_result_table(result, "rows", "");
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t j = 0; j < count; j++) {
        columns[j] = (struct csv_column){
            .is_numeric = is_numeric(csv, j), .ends = {count, count}};
    }
    for (size_t j = 0; j < count; j++) {
        TRY_OR_END(find_base(csv, columns, j, err));
    }
    for (size_t i = 0; i < fulcrum_csv_row_count(csv); i++) {
        fulcrum_table_row(table);
        for (size_t j = 0; j < count; j++) {
            if (!columns[j].is_end) {
                add_csv_cell(table, csv, &columns[j], i, j);
            }
        }
    }
    status = fulcrum_result_check(result, err);
end:
    free(columns);
    if (status != FULCRUM_OK) {
        fulcrum_result_free(result);
        return status;
    }
    *out = result;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_result_read(
    const char *path, struct fulcrum_result **out, struct fulcrum_error *err)
{
    enum fulcrum_status status;
    const char *end = strrchr(path, '.');
    /* The first character that counts, of a file that can be read again; EOF for
     * others. */
    struct stat there;
    FILE *file =
        stat(path, &there) == 0 && S_ISREG(there.st_mode) ? fopen(path, "r") : NULL;
    int first = file != NULL ? fgetc(file) : EOF;
    while (first != EOF && isspace(first)) {
        first = fgetc(file);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    if ((end != NULL && strcmp(end, ".csv") == 0) || (first != EOF && first != '{')) {
        struct fulcrum_csv *csv = NULL;
        TRY(fulcrum_csv_load(path, &csv, err));
        status = fulcrum_result_of_csv(csv, out, err);
        fulcrum_csv_free(csv);
        return status;
    }
    struct json_object *document = NULL;
    TRY(end != NULL && strcmp(end, ".jsonl") == 0
            ? fulcrum_json_lines_read(path, &document, err)
            : fulcrum_document_read(path, &document, err));
    status = fulcrum_result_of_document(path, document, out, err);
    json_object_put(document);
    return status;
}
