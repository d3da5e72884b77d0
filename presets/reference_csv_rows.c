/* reference_csv_rows.c - rows of a CSV file of measurements become points. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/reference_csv_state.h"
#include "presets/utf8.h"

void fulcrum_csv_fault_cell(struct fulcrum_csv_reader *reader, size_t row,
    size_t column, enum fulcrum_status status, const char *expected)
{
    (void)fulcrum_fail_more(&reader->faults, status,
        "%s: line %zu: %s = %.60s: expected %s", reader->path,
        fulcrum_table_line(reader->table, row),
        fulcrum_table_column_name(reader->table, column),
        fulcrum_table_text(reader->table, row, column), expected);
}

double fulcrum_csv_read_number(
    struct fulcrum_csv_reader *reader, size_t row, size_t column)
{
    double value = (double)NAN;
    struct fulcrum_error failure = {FULCRUM_OK, ""};
    if (fulcrum_table_number(reader->table, row, column, &value, &failure) !=
        FULCRUM_OK) {
        (void)fulcrum_fail_more(&reader->faults, failure.status, "%s", failure.detail);
        value = (double)NAN;
    }
    return value;
}

static int is_blank(const struct fulcrum_csv_reader *reader, size_t row, size_t column)
{
    const char *text = fulcrum_table_text(reader->table, row, column);
    return text[strspn(text, " \t")] == '\0';
}

/* The words with which a field refuses a value say what it expects. */
static void fault_setting(struct fulcrum_csv_reader *reader, size_t row, size_t column,
    const struct fulcrum_error *failure)
{
    static const char expected[] = "expected ";
    const char *at = strstr(failure->detail, expected);
    fulcrum_csv_fault_cell(reader, row, column, failure->status,
        at != NULL ? at + sizeof expected - 1 : "another value");
}

/* Whether a design would take the value is asked of one that nobody keeps. */
static void read_field(struct fulcrum_csv_reader *reader, size_t row, size_t which,
    struct fulcrum_reference_setting *out)
{
    const struct fulcrum_field *field = reader->fields[which];
    size_t column = reader->field_column[which];
    const char *text = fulcrum_table_text(reader->table, row, column);
    struct fulcrum_design design = *reader->design;
    struct fulcrum_error failure = {FULCRUM_OK, ""};
    enum fulcrum_status status = FULCRUM_OK;
    (void)snprintf(out->path, sizeof out->path, "%s", field->path);
    out->number = (double)NAN;
    if (is_blank(reader, row, column)) {
        fulcrum_csv_fault_cell(
            reader, row, column, FULCRUM_ERR_MISSING, "a value in every row");
        return;
    }
    if (field->kind == FULCRUM_FIELD_CHOICE) {
        (void)snprintf(out->text, sizeof out->text, "%s", text);
        status = fulcrum_field_set_text(field, &design, text, &failure);
    } else {
        out->number = fulcrum_csv_read_number(reader, row, column);
        status = isnan(out->number)
                     ? FULCRUM_OK
                     : fulcrum_field_set_number(field, &design, out->number, &failure);
    }
    if (status != FULCRUM_OK) {
        fault_setting(reader, row, column, &failure);
    }
}

static void read_env_count(struct fulcrum_csv_reader *reader, size_t row,
    struct fulcrum_reference_setting *out)
{
    size_t column = reader->column[FULCRUM_CSV_WORD_ENV_COUNT];
    double count = fulcrum_csv_read_number(reader, row, column);
    (void)snprintf(out->path, sizeof out->path, "%s", FULCRUM_REFERENCE_ENV_COUNT);
    out->number = count;
    if (!(count >= 1.0 && count <= FULCRUM_REFERENCE_MOST && count == floor(count))) {
        fulcrum_csv_fault_cell(
            reader, row, column, FULCRUM_ERR_RANGE, "a whole number above 0");
    }
}

static void read_settings(struct fulcrum_csv_reader *reader, size_t row,
    struct fulcrum_reference_point *point)
{
    point->settings = calloc(reader->field_count + 1, sizeof *point->settings);
    if (point->settings == NULL) {
        (void)fulcrum_fail_more(
            &reader->faults, FULCRUM_ERR_NO_MEMORY, "%s", reader->path);
        return;
    }
    for (size_t i = 0; i < reader->field_count; i++) {
        read_field(reader, row, i, &point->settings[point->setting_count++]);
    }
    if (fulcrum_csv_has(reader, FULCRUM_CSV_WORD_ENV_COUNT)) {
        read_env_count(reader, row, &point->settings[point->setting_count++]);
    }
}

static void read_half_width(struct fulcrum_csv_reader *reader, size_t row,
    size_t quantity, struct fulcrum_observation *out)
{
    size_t column = reader->column[FULCRUM_CSV_QUANTITIES + quantity];
    out->half_width = (double)NAN;
    if (column == FULCRUM_CSV_COLUMN_NONE) {
        return;
    }
    out->half_width = fulcrum_csv_read_number(reader, row, column);
    if (out->half_width < 0.0 || out->half_width > FULCRUM_REFERENCE_MOST) {
        fulcrum_csv_fault_cell(
            reader, row, column, FULCRUM_ERR_RANGE, "a number not below 0");
    } else if (is_blank(reader, row, reader->column[quantity]) &&
               !isnan(out->half_width)) {
        fulcrum_csv_fault_cell(reader, row, column, FULCRUM_ERR_MISSING,
            "nothing where the value itself is not given");
    }
}

/* 1 where the row has this quantity; frames become steps. */
static int read_observation(struct fulcrum_csv_reader *reader, size_t row,
    size_t quantity, struct fulcrum_observation *out)
{
    size_t column = reader->column[quantity];
    if (column == FULCRUM_CSV_COLUMN_NONE) {
        return 0;
    }
    double value = fulcrum_csv_read_number(reader, row, column);
    double per_step = quantity == FULCRUM_CSV_FRAMES_PER_S
                          ? reader->design->workload.frame_skip
                          : 1.0;
    *out = (struct fulcrum_observation){.value = value};
    if (value <= 0.0 || value > FULCRUM_REFERENCE_MOST) {
        fulcrum_csv_fault_cell(
            reader, row, column, FULCRUM_ERR_RANGE, "a number above 0");
    }
    read_half_width(reader, row, quantity, out);
    (void)snprintf(out->quantity, sizeof out->quantity, "%s",
        fulcrum_csv_words[quantity == FULCRUM_CSV_FRAMES_PER_S ? FULCRUM_CSV_STEPS_PER_S
                                                               : quantity]);
    out->value /= per_step;
    out->half_width /= per_step;
    return !isnan(value);
}

static int is_observed(const struct fulcrum_csv_reader *reader, size_t row)
{
    for (size_t i = 0; i < FULCRUM_CSV_QUANTITIES; i++) {
        if (fulcrum_csv_has(reader, i) && !is_blank(reader, row, reader->column[i])) {
            return 1;
        }
    }
    return 0;
}

/* Speed and time of one run, said twice, would count twice. */
static void read_observations(struct fulcrum_csv_reader *reader, size_t row,
    struct fulcrum_reference_point *point)
{
    size_t rates = 0;
    point->observations = calloc(FULCRUM_CSV_QUANTITIES, sizeof *point->observations);
    if (point->observations == NULL) {
        (void)fulcrum_fail_more(
            &reader->faults, FULCRUM_ERR_NO_MEMORY, "%s", reader->path);
        return;
    }
    for (size_t i = 0; i < FULCRUM_CSV_QUANTITIES; i++) {
        if (read_observation(
                reader, row, i, &point->observations[point->observation_count])) {
            point->observation_count++;
            rates += i < FULCRUM_CSV_RATES ? 1 : 0;
        }
    }
    if (rates > 1) {
        (void)fulcrum_fail_more(&reader->faults, FULCRUM_ERR_FORMAT,
            "%s: line %zu: %zu of steps_per_s, frames_per_s, speedup and runtime_rel: "
            "expected one of them in a row",
            reader->path, fulcrum_table_line(reader->table, row), rates);
    }
    if (!is_observed(reader, row)) {
        (void)fulcrum_fail_more(&reader->faults, FULCRUM_ERR_MISSING,
            "%s: line %zu: nothing was observed in this row", reader->path,
            fulcrum_table_line(reader->table, row));
    }
}

static void read_series(struct fulcrum_csv_reader *reader, size_t row,
    struct fulcrum_reference_point *point)
{
    size_t column = reader->column[FULCRUM_CSV_WORD_SERIES];
    if (column == FULCRUM_CSV_COLUMN_NONE) {
        return;
    }
    const char *text = fulcrum_table_text(reader->table, row, column);
    size_t length = 0;
    while (text[length] != '\0' && fulcrum_utf8_length(text + length) > 0) {
        length += fulcrum_utf8_length(text + length);
    }
    if (text[length] != '\0' || length >= sizeof point->series) {
        fulcrum_csv_fault_cell(
            reader, row, column, FULCRUM_ERR_RANGE, "at most 63 bytes of UTF-8 text");
        return;
    }
    memcpy(point->series, text, length + 1);
}

void fulcrum_csv_read_row(struct fulcrum_csv_reader *reader, size_t row)
{
    struct fulcrum_reference *reference = reader->reference;
    struct fulcrum_reference_point *point =
        &reference->points[reference->point_count++];
    point->index = row;
    read_series(reader, row, point);
    read_settings(reader, row, point);
    read_observations(reader, row, point);
}
