/* result.c - what a command found: facts, notes and tables. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Columns are arrays of their own: charts read a column, and a table of a million rows
 * keeps 8 bytes a number. Texts and ends of intervals have arrays where there are any.
 * Strings lie in blocks that are freed with the result.
 */
#include "model/result.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/number.h"
#include "model/try.h"

enum { BLOCK_BYTE = 8192, FIRST_ROWS = 16 };

struct block {
    struct block *next;
    size_t used;
    size_t room;
    char bytes[];
};

struct column {
    struct fulcrum_column shown;
    double *numbers;
    double *lo; /* NULL: no intervals, likewise hi */
    double *hi;
    const char **texts; /* NULL: none */
};

struct fulcrum_table {
    struct fulcrum_result *result;
    struct column *columns;
    size_t column_count;
    size_t column_room;
    size_t row_count;
    size_t row_room;
    size_t at;   /* row of the next cell */
    size_t next; /* column of it */
    size_t item; /* of the result */
};

struct fulcrum_result {
    const char *schema;
    struct fulcrum_item *items;
    size_t count;
    size_t room;
    struct block *blocks;
    bool is_lost; /* memory ran out */
};

static const struct fulcrum_cell nothing = {NAN, NAN, NAN, NULL};

const char *fulcrum_unit_of(const char *key)
{
    static const struct {
        const char *end;
        const char *unit;
    } ends[] = {{"_byte_per_s", "byte/s"}, {"_per_s", "1/s"}, {"_per_j", "1/J"},
        {"_per_j_gpu", "1/J"}, {"_per_j_system", "1/J"}, {"_frac", "%"}, {"_rel", "x"},
        {"_s_per_step", "s"}, {"j_per_step", "J"}, {"speedup", "x"}, {"relative", "x"},
        {"_factor", "x"}, {"_s", "s"}, {"_w", "W"}, {"_j", "J"}, {"_byte", "byte"},
        {"_hz", "Hz"}};
    size_t length = strlen(key);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        size_t end = strlen(ends[i].end);
        if (length >= end && strcmp(key + length - end, ends[i].end) == 0) {
            return ends[i].unit;
        }
    }
    return "";
}

/* `size` bytes at a place for any object; NULL where memory ran out. */
static void *take(struct fulcrum_result *result, size_t size)
{
    const size_t align = sizeof(max_align_t);
    size_t wanted = (size + align - 1) / align * align;
    struct block *block = result->blocks;
    if (block == NULL || block->room - block->used < wanted) {
        size_t room = wanted > BLOCK_BYTE ? wanted : BLOCK_BYTE;
        block = result->is_lost ? NULL : calloc(1, sizeof *block + align + room);
        if (block == NULL) {
            result->is_lost = true;
            return NULL;
        }
        block->used = (align - sizeof *block % align) % align;
        block->room = room + align;
        block->next = result->blocks;
        result->blocks = block;
    }
    void *out = block->bytes + block->used;
    block->used += wanted;
    return out;
}

/* A copy; NULL stays NULL. */
static const char *keep(struct fulcrum_result *result, const char *text)
{
    size_t size = text != NULL ? strlen(text) + 1 : 0;
    char *copy = text != NULL && result != NULL ? take(result, size) : NULL;
    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

/* Twice the room; false where memory ran out. */
static bool grow(struct fulcrum_result *result, void **items, size_t *room, size_t size)
{
    size_t wanted = *room > 0 ? 2 * *room : FIRST_ROWS;
    void *grown = result->is_lost ? NULL : realloc(*items, wanted * size);
    if (grown == NULL) {
        result->is_lost = true;
        return false;
    }
    *items = grown;
    *room = wanted;
    return true;
}

struct fulcrum_result *fulcrum_result_new(const char *schema)
{
    struct fulcrum_result *result = calloc(1, sizeof *result);
    if (result != NULL) {
        result->schema = keep(result, schema != NULL ? schema : "");
    }
    return result;
}

static void table_free(struct fulcrum_table *table)
{
    if (table == NULL) {
        return;
    }
    for (size_t j = 0; j < table->column_count; j++) {
        free(table->columns[j].numbers);
        free(table->columns[j].lo);
        free(table->columns[j].hi);
        free((void *)table->columns[j].texts);
    }
    free(table->columns);
}

void fulcrum_result_free(struct fulcrum_result *result)
{
    if (result == NULL) {
        return;
    }
    for (size_t i = 0; i < result->count; i++) {
        table_free(result->items[i].table);
    }
    free(result->items);
    while (result->blocks != NULL) {
        struct block *block = result->blocks;
        result->blocks = block->next;
        free(block);
    }
    free(result);
}

const char *fulcrum_result_schema(const struct fulcrum_result *result)
{
    return result != NULL && result->schema != NULL ? result->schema : "";
}

enum fulcrum_status fulcrum_result_check(
    const struct fulcrum_result *result, struct fulcrum_error *err)
{
    FAIL_IF(result == NULL || result->is_lost, err, FULCRUM_ERR_NO_MEMORY,
        "out of memory for what was found");
    return FULCRUM_OK;
}

/* NULL where there is no memory for it. */
static struct fulcrum_item *add_item(
    struct fulcrum_result *result, const char *key, const char *title)
{
    if (result == NULL ||
        (result->count == result->room && !grow(result, (void **)&result->items,
                                              &result->room, sizeof *result->items))) {
        return NULL;
    }
    struct fulcrum_item *item = &result->items[result->count++];
    *item = (struct fulcrum_item){
        .key = keep(result, key), .title = keep(result, title), .cell = nothing};
    item->key = item->key != NULL ? item->key : "";
    return item;
}

static struct fulcrum_item *add_fact(struct fulcrum_result *result, const char *key,
    const char *title, enum fulcrum_value_kind kind, struct fulcrum_cell cell)
{
    struct fulcrum_item *item = add_item(result, key, title);
    if (item != NULL) {
        item->kind = kind;
        item->cell = cell;
    }
    return item;
}

/* A value and its ends belong together. NOLINTNEXTLINE(readability-function-size) */
void fulcrum_result_estimate(struct fulcrum_result *result, const char *key,
    const char *title, double value, double lo, double hi)
{
    struct fulcrum_item *item = add_fact(result, key, title, FULCRUM_VALUE_NUMBER,
        (struct fulcrum_cell){value, lo, hi, NULL});
    if (item != NULL) {
        item->has_ends = true;
    }
}

void fulcrum_result_number(
    struct fulcrum_result *result, const char *key, const char *title, double value)
{
    (void)add_fact(result, key, title, FULCRUM_VALUE_NUMBER,
        (struct fulcrum_cell){value, NAN, NAN, NULL});
}

void fulcrum_result_flag(
    struct fulcrum_result *result, const char *key, const char *title, bool value)
{
    const struct fulcrum_item *found = fulcrum_result_find(result, key);
    if (found != NULL) {
        result->items[found - result->items].cell.number = value ? 1.0 : 0.0;
    } else {
        (void)add_fact(result, key, title, FULCRUM_VALUE_FLAG,
            (struct fulcrum_cell){value ? 1.0 : 0.0, NAN, NAN, NULL});
    }
}

void fulcrum_result_text(
    struct fulcrum_result *result, const char *key, const char *title, const char *text)
{
    (void)add_fact(result, key, title, FULCRUM_VALUE_TEXT,
        (struct fulcrum_cell){NAN, NAN, NAN, keep(result, text)});
}

void fulcrum_result_explain(struct fulcrum_result *result, const char *meaning)
{
    if (result != NULL && result->count > 0) {
        result->items[result->count - 1].meaning = keep(result, meaning);
    }
}

void fulcrum_result_gap(struct fulcrum_result *result)
{
    fulcrum_result_text(result, "", NULL, NULL);
}

/* NULL: no memory. */
static const char *print(
    struct fulcrum_result *result, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text =
        result != NULL && length >= 0 ? take(result, (size_t)length + 1) : NULL;
    if (text != NULL) {
        (void)vsnprintf(text, (size_t)length + 1, format, args);
    }
    return text;
}

void fulcrum_result_print(struct fulcrum_result *result, const char *key,
    const char *title, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fulcrum_result_text(result, key, title, print(result, format, args));
    va_end(args);
}

struct fulcrum_table *fulcrum_result_table(
    struct fulcrum_result *result, const char *key, const char *title)
{
    struct fulcrum_item *item = add_item(result, key, title);
    struct fulcrum_table *table = item != NULL ? take(result, sizeof *table) : NULL;
    if (item == NULL) {
        return NULL;
    }
    if (table == NULL) {
        result->count--;
        return NULL;
    }
    *table = (struct fulcrum_table){.result = result, .item = result->count - 1};
    item->table = table;
    return table;
}

/* The list of that key, new where there is none. */
static struct fulcrum_table *list_of(struct fulcrum_result *result, const char *key)
{
    const struct fulcrum_item *found = fulcrum_result_find(result, key);
    if (found != NULL) {
        return found->table;
    }
    struct fulcrum_table *table = fulcrum_result_table(result, key, NULL);
    if (table != NULL) {
        result->items[result->count - 1].is_list = true;
    }
    return table;
}

void fulcrum_result_note(
    struct fulcrum_result *result, const char *key, const char *text)
{
    struct fulcrum_table *table = list_of(result, key);
    if (text != NULL) {
        fulcrum_table_row(table);
        fulcrum_table_text(table, "", NULL, text);
    }
}

void fulcrum_result_note_print(
    struct fulcrum_result *result, const char *key, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fulcrum_result_note(result, key, print(result, format, args));
    va_end(args);
}

void fulcrum_result_numbers(
    struct fulcrum_result *result, const char *key, const double *values, size_t count)
{
    struct fulcrum_table *table = list_of(result, key);
    for (size_t i = 0; i < count; i++) {
        fulcrum_table_row(table);
        fulcrum_table_number(table, "", NULL, values[i]);
    }
}

/* Room for all rows; nothing is known from the row `used` on. */
static void widen(struct fulcrum_table *table, double **numbers, size_t used)
{
    double *wider = realloc(*numbers, table->row_room * sizeof *wider);
    if (wider == NULL) {
        table->result->is_lost = true;
        return;
    }
    for (size_t i = used; i < table->row_room; i++) {
        wider[i] = FULCRUM_UNKNOWN;
    }
    *numbers = wider;
}

static void widen_texts(struct fulcrum_table *table, const char ***texts, size_t used)
{
    const char **wider = realloc((void *)*texts, table->row_room * sizeof *wider);
    if (wider == NULL) {
        table->result->is_lost = true;
        return;
    }
    memset((void *)(wider + used), 0, (table->row_room - used) * sizeof *wider);
    *texts = wider;
}

void fulcrum_table_row(struct fulcrum_table *table)
{
    if (table == NULL || table->result->is_lost) {
        return;
    }
    if (table->row_count == table->row_room) {
        size_t used = table->row_room;
        table->row_room = used > 0 ? 2 * used : FIRST_ROWS;
        for (size_t j = 0; j < table->column_count; j++) {
            struct column *column = &table->columns[j];
            widen(table, &column->numbers, used);
            if (column->shown.has_ends) {
                widen(table, &column->lo, used);
                widen(table, &column->hi, used);
            }
            if (column->texts != NULL) {
                widen_texts(table, &column->texts, used);
            }
        }
    }
    table->at = table->row_count++;
    table->next = 0;
}

void fulcrum_table_return(struct fulcrum_table *table, size_t row)
{
    if (table != NULL && row < table->row_count) {
        table->at = row;
        table->next = 0;
    }
}

static struct column *new_column(
    struct fulcrum_table *table, const char *key, const char *title)
{
    struct fulcrum_result *result = table->result;
    if (table->column_count == table->column_room &&
        !grow(result, (void **)&table->columns, &table->column_room,
            sizeof *table->columns)) {
        return NULL;
    }
    struct column *column = &table->columns[table->column_count++];
    const char *own_key = keep(result, key);
    *column = (struct column){
        .shown = {.key = own_key != NULL ? own_key : "", .title = keep(result, title)}};
    widen(table, &column->numbers, 0);
    return column;
}

/* The column of the next cell, mostly the one behind the last; NULL: no memory. */
static struct column *next_column(
    struct fulcrum_table *table, const char *key, const char *title)
{
    if (table == NULL || table->result->is_lost || table->row_count == 0) {
        return NULL;
    }
    size_t j = table->next;
    if (j >= table->column_count || strcmp(table->columns[j].shown.key, key) != 0) {
        j = fulcrum_table_find(table, key);
    }
    table->next = j + 1;
    return j < table->column_count ? &table->columns[j] : new_column(table, key, title);
}

static struct column *put(
    struct fulcrum_table *table, const char *key, const char *title, double value)
{
    struct column *column = next_column(table, key, title);
    if (column != NULL && !table->result->is_lost) {
        column->numbers[table->at] = value;
    }
    return column;
}

void fulcrum_table_number(
    struct fulcrum_table *table, const char *key, const char *title, double value)
{
    (void)put(table, key, title, value);
}

/* NOLINTNEXTLINE(readability-function-size) */
void fulcrum_table_estimate(struct fulcrum_table *table, const char *key,
    const char *title, double value, double lo, double hi)
{
    struct column *column = put(table, key, title, value);
    if (column != NULL && !column->shown.has_ends) {
        column->shown.has_ends = true;
        widen(table, &column->lo, 0);
        widen(table, &column->hi, 0);
    }
    if (column != NULL && !table->result->is_lost) {
        column->lo[table->at] = lo;
        column->hi[table->at] = hi;
    }
}

void fulcrum_table_flag(
    struct fulcrum_table *table, const char *key, const char *title, bool value)
{
    struct column *column = put(table, key, title, value ? 1.0 : 0.0);
    if (column != NULL) {
        column->shown.kind = FULCRUM_VALUE_FLAG;
    }
}

void fulcrum_table_ratio(struct fulcrum_table *table, const char *key,
    const char *title, struct fulcrum_ratio ratio)
{
    fulcrum_table_estimate(table, key, title, ratio.value, ratio.lo, ratio.hi);
}

void fulcrum_table_text(
    struct fulcrum_table *table, const char *key, const char *title, const char *text)
{
    struct column *column = next_column(table, key, title);
    if (column != NULL && column->texts == NULL) {
        widen_texts(table, &column->texts, 0);
        column->shown.kind = FULCRUM_VALUE_TEXT;
    }
    if (column != NULL && column->texts != NULL) {
        column->texts[table->at] = keep(table->result, text);
    }
}

void fulcrum_table_make_main(struct fulcrum_table *table)
{
    if (table != NULL) {
        table->result->items[table->item].is_main = true;
    }
}

void fulcrum_table_make_keyed(struct fulcrum_table *table)
{
    if (table != NULL) {
        table->result->items[table->item].is_keyed = true;
    }
}

void fulcrum_table_hide(struct fulcrum_table *table, const char *key)
{
    size_t j = table != NULL ? fulcrum_table_find(table, key) : 0;
    if (table != NULL && j < table->column_count) {
        table->columns[j].shown.is_hidden = true;
    }
}

/* Reading. */

size_t fulcrum_result_count(const struct fulcrum_result *result)
{
    return result != NULL ? result->count : 0;
}

const struct fulcrum_item *fulcrum_result_item(
    const struct fulcrum_result *result, size_t i)
{
    return &result->items[i];
}

const struct fulcrum_item *fulcrum_result_find(
    const struct fulcrum_result *result, const char *key)
{
    for (size_t i = 0; i < fulcrum_result_count(result); i++) {
        if (strcmp(result->items[i].key, key) == 0) {
            return &result->items[i];
        }
    }
    return NULL;
}

double fulcrum_result_number_of(const struct fulcrum_result *result, const char *key)
{
    const struct fulcrum_item *item = fulcrum_result_find(result, key);
    return item != NULL ? item->cell.number : FULCRUM_UNKNOWN;
}

const char *fulcrum_result_text_of(const struct fulcrum_result *result, const char *key)
{
    const struct fulcrum_item *item = fulcrum_result_find(result, key);
    return item != NULL && item->cell.text != NULL ? item->cell.text : "";
}

const struct fulcrum_table *fulcrum_result_table_of(
    const struct fulcrum_result *result, const char *key)
{
    const struct fulcrum_item *item = fulcrum_result_find(result, key);
    return item != NULL ? item->table : NULL;
}

size_t fulcrum_table_rows(const struct fulcrum_table *table)
{
    return table != NULL ? table->row_count : 0;
}

size_t fulcrum_table_columns(const struct fulcrum_table *table)
{
    return table != NULL ? table->column_count : 0;
}

struct fulcrum_column fulcrum_table_column(const struct fulcrum_table *table, size_t j)
{
    return table->columns[j].shown;
}

size_t fulcrum_table_find(const struct fulcrum_table *table, const char *key)
{
    size_t j = 0;
    while (j < fulcrum_table_columns(table) &&
           strcmp(table->columns[j].shown.key, key) != 0) {
        j++;
    }
    return j;
}

struct fulcrum_cell fulcrum_table_cell(
    const struct fulcrum_table *table, size_t row, size_t column)
{
    const struct column *from = &table->columns[column];
    return (struct fulcrum_cell){from->numbers[row],
        from->lo != NULL ? from->lo[row] : FULCRUM_UNKNOWN,
        from->hi != NULL ? from->hi[row] : FULCRUM_UNKNOWN,
        from->texts != NULL ? from->texts[row] : NULL};
}

const char *fulcrum_table_unit(
    const struct fulcrum_table *table, size_t row, size_t column)
{
    const char *unit = fulcrum_unit_of(table->columns[column].shown.key);
    const char *of_row = fulcrum_table_at(table, row, "unit").text;
    return unit[0] != '\0' || of_row == NULL ? unit : of_row;
}

struct fulcrum_cell fulcrum_table_at(
    const struct fulcrum_table *table, size_t row, const char *key)
{
    size_t j = fulcrum_table_find(table, key);
    if (row >= fulcrum_table_rows(table)) {
        return nothing;
    }
    if (j < table->column_count) {
        return fulcrum_table_cell(table, row, j);
    }
    /* "KEY_lo" and "KEY_hi" where KEY has ends. */
    size_t length = strlen(key) > 3 ? strlen(key) - 3 : 0;
    bool is_lo = strcmp(key + length, "_lo") == 0;
    struct fulcrum_cell cell = nothing;
    for (j = 0; (is_lo || strcmp(key + length, "_hi") == 0) && j < table->column_count;
         j++) {
        const struct column *of = &table->columns[j];
        if (of->shown.has_ends && strlen(of->shown.key) == length &&
            strncmp(of->shown.key, key, length) == 0) {
            cell.number = is_lo ? of->lo[row] : of->hi[row];
        }
    }
    return cell;
}

double fulcrum_table_constant(const struct fulcrum_table *table, const char *key)
{
    double value = fulcrum_table_at(table, 0, key).number;
    for (size_t i = 1; i < fulcrum_table_rows(table); i++) {
        value =
            fulcrum_table_at(table, i, key).number == value ? value : FULCRUM_UNKNOWN;
    }
    return value;
}

enum fulcrum_status fulcrum_table_check_numbers(
    const struct fulcrum_table *table, const char *key, struct fulcrum_error *err)
{
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        struct fulcrum_cell cell = fulcrum_table_at(table, i, key);
        FAIL_IF(cell.text != NULL && cell.text[0] != '\0' && isnan(cell.number), err,
            FULCRUM_ERR_FORMAT, "row %zu: %s = '%.40s': expected a number", i + 1, key,
            cell.text);
    }
    return FULCRUM_OK;
}
