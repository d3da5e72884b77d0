/* calibration_file.c - calibrations from files and into files. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each part of the file is a row of a table, the lists are records. The loaded
 * calibration goes through fulcrum_calibration_check like a measured one, so that code
 * behind it need not know where it came from. One with faults is never handed out, so
 * that a part may stay incomplete.
 */
#include <json-c/json.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/design/calibration.h"
#include "model/try.h"
#include "presets/io/json.h"
#include "presets/io/reader.h"
#include "presets/io/record.h"
#include "presets/load/preset.h"
#include "presets/load/preset_file.h"
#include "presets/load/preset_folders.h"

#define PARAMETER(member, kind, ...)                                                   \
    FULCRUM_RECORD_ROW(fulcrum_parameter, member, kind, __VA_ARGS__)
#define SERIES_NUMBERS(member, ...)                                                    \
    FULCRUM_RECORD_ROW(fulcrum_series, member, NUMBERS,                                \
        .size = offsetof(struct fulcrum_series, count), __VA_ARGS__)
#define FIT_ERROR(member)                                                              \
    FULCRUM_RECORD_ROW(fulcrum_fit_report, member, MEASURED, .is_optional = true)

static const struct fulcrum_record_row parameter_rows[] = {
    FULCRUM_RECORD_ROW_TEXT(fulcrum_parameter, path),
    PARAMETER(value, NUMBER, .least = -INFINITY),
    PARAMETER(standard_error, NUMBER, .least = 0.0),
    PARAMETER(scale, CHOICE, .names = fulcrum_scale_name),
    PARAMETER(origin, CHOICE, .names = fulcrum_origin_name),
    FULCRUM_RECORD_ROW_TEXT(fulcrum_parameter, source),
};
const struct fulcrum_record fulcrum_parameter_record =
    FULCRUM_RECORD(fulcrum_parameter, parameter_rows, NULL);

/* Disturbed samples too: whoever reads the file may judge anew. */
static const struct fulcrum_record_row series_rows[] = {
    FULCRUM_RECORD_ROW_TEXT(fulcrum_series, name),
    FULCRUM_RECORD_ROW_TEXT(fulcrum_series, unit),
    FULCRUM_RECORD_ROW_TEXT(fulcrum_series, x_name),
    FULCRUM_RECORD_ROW_TEXT(fulcrum_series, condition),
    SERIES_NUMBERS(x, .is_optional = false),
    SERIES_NUMBERS(value, .is_optional = false),
    SERIES_NUMBERS(canary_rel, .is_optional = true),
    SERIES_NUMBERS(disturbed, .is_optional = true),
};
const struct fulcrum_record fulcrum_series_record =
    FULCRUM_RECORD(fulcrum_series, series_rows, NULL);

/* A value that was not measured is null, and so are the ends of its interval. */
static const struct fulcrum_record_row quantity_rows[] = {
    FULCRUM_RECORD_ROW_TEXT(fulcrum_quantity, name),
    FULCRUM_RECORD_ROW(fulcrum_quantity, value, MEASURED, .is_optional = true),
    {.key = "interval",
        .kind = FULCRUM_RECORD_PAIR,
        .offset = offsetof(struct fulcrum_quantity, lo)},
    FULCRUM_RECORD_ROW_TEXT(fulcrum_quantity, unit),
};
const struct fulcrum_record fulcrum_quantity_record =
    FULCRUM_RECORD(fulcrum_quantity, quantity_rows, NULL);

/* Errors may be null: a fit through as many points as parameters has none. */
static const struct fulcrum_record_row fit_rows[] = {
    FULCRUM_RECORD_ROW_TEXT(fulcrum_fit_report, name),
    FULCRUM_RECORD_ROW_TEXT(fulcrum_fit_report, form),
    FULCRUM_RECORD_ROW(fulcrum_fit_report, point_count, COUNT, .is_optional = false),
    FIT_ERROR(mape_frac),
    FIT_ERROR(smape_frac),
    FIT_ERROR(max_frac),
    FIT_ERROR(bias_frac),
    FULCRUM_RECORD_ROW_TEXT(fulcrum_fit_report, warning),
};
const struct fulcrum_record fulcrum_fit_record =
    FULCRUM_RECORD(fulcrum_fit_report, fit_rows, NULL);

/* A fault for a call that failed on the node's content. */
static void note_status(const struct fulcrum_node *node, enum fulcrum_status status)
{
    if (status != FULCRUM_OK) {
        fulcrum_node_fault(node, status, "%s", fulcrum_status_text(status));
    }
}

/* NULL where an optional column is absent: the calibration has a fallback for it. */
static double *read_column(
    const struct fulcrum_node *series, const char *key, size_t count, bool is_optional)
{
    struct fulcrum_node node = fulcrum_node_member(series, key);
    return node.json != NULL || !is_optional ? fulcrum_node_row(&node, count) : NULL;
}

static void read_series(const struct fulcrum_node *node, void *loaded)
{
    struct fulcrum_series series = {.count = 0};
    (void)fulcrum_record_read(node, &fulcrum_series_record, &series);
    struct fulcrum_node value = fulcrum_node_member(node, "value");
    if (fulcrum_node_numbers(&value, NULL, &series.value, &series.count)) {
        series.x = read_column(node, "x", series.count, false);
        series.canary_rel = read_column(node, "canary_rel", series.count, true);
        series.disturbed = read_column(node, "disturbed", series.count, true);
    }
    if (series.x != NULL) {
        note_status(node, fulcrum_calibration_add_series(loaded, &series, NULL));
    }
    free(series.x);
    free(series.value);
    free(series.canary_rel);
    free(series.disturbed);
}

static void read_quantity(const struct fulcrum_node *node, void *loaded)
{
    struct fulcrum_quantity quantity = {.value = (double)NAN};
    (void)fulcrum_record_read(node, &fulcrum_quantity_record, &quantity);
    note_status(node, fulcrum_calibration_add_quantity(loaded, &quantity, NULL));
}

static void read_fit(const struct fulcrum_node *node, void *loaded)
{
    struct fulcrum_fit_report fit = {.mape_frac = (double)NAN,
        .smape_frac = (double)NAN,
        .max_frac = (double)NAN,
        .bias_frac = (double)NAN};
    (void)fulcrum_record_read(node, &fulcrum_fit_record, &fit);
    note_status(node, fulcrum_calibration_add_fit(loaded, &fit, NULL));
}

static void read_notes(const struct fulcrum_node *node, void *loaded)
{
    if (!fulcrum_node_is_object(node)) {
        return;
    }
    struct json_object_iter member;
    json_object_object_foreachC(node->json, member)
    {
        /* Keys are free: what describes a host differs from one kernel to the next. */
        struct fulcrum_note note;
        struct fulcrum_node text = fulcrum_node_member(node, member.key);
        if (strlen(member.key) >= sizeof note.key) {
            fulcrum_reader_fault(node->reader, FULCRUM_ERR_RANGE,
                "%s: expected a key of at most %zu bytes", text.path,
                sizeof note.key - 1);
        } else if (fulcrum_node_text(&text, note.text, sizeof note.text)) {
            note_status(&text,
                fulcrum_calibration_add_note(loaded, member.key, note.text, NULL));
        }
    }
}

/* Sources are not asked for: a calibration's machine is the host that was detected. */
static void read_machine(const struct fulcrum_node *node, void *loaded)
{
    struct fulcrum_calibration *calibration = loaded;
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    design.machine = calibration->machine;
    fulcrum_preset_read_half(
        node, FULCRUM_PRESET_MACHINE, FULCRUM_PRESET_CALIBRATION, &design);
    calibration->machine = design.machine;
}

/* Reads on after a fault, so that one pass finds them all. */
static void read_parameter(const struct fulcrum_node *node, void *loaded)
{
    struct fulcrum_parameter parameter = {.path = ""};
    (void)fulcrum_record_read(node, &fulcrum_parameter_record, &parameter);
    if (parameter.path[0] != '\0' &&
        fulcrum_calibration_parameter(loaded, parameter.path) != NULL) {
        struct fulcrum_node path = fulcrum_node_member(node, "path");
        fulcrum_node_fault(&path, FULCRUM_ERR_FORMAT, "expected each path once");
    }
    note_status(node, fulcrum_calibration_add_parameter(loaded, &parameter, NULL));
}

/* Needs the parameters; the model checks symmetry and diagonal. */
static void read_covariance(const struct fulcrum_node *node, void *loaded)
{
    struct fulcrum_calibration *calibration = loaded;
    size_t count = calibration->parameter_count;
    size_t length = 0;
    if (!fulcrum_node_is_array(node, &length)) {
        return;
    }
    if (length != count) {
        fulcrum_reader_fault(node->reader, FULCRUM_ERR_FORMAT,
            "%s has %zu rows: expected %zu, one for each parameter", node->path, length,
            count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_node row = fulcrum_node_element(node, i);
        double *values = fulcrum_node_row(&row, count);
        if (values != NULL) {
            memcpy(calibration->covariance + i * count, values, count * sizeof *values);
        }
        free(values);
    }
}

/* Needs the parameters: a row has one number for each, null where it has none. */
static void read_draws(const struct fulcrum_node *node, void *loaded)
{
    struct fulcrum_calibration *calibration = loaded;
    size_t n = calibration->parameter_count;
    size_t count = 0;
    if (!fulcrum_node_is_array(node, &count)) {
        return;
    }
    double *draws = calloc(count * n + 1, sizeof *draws);
    bool is_good = draws != NULL;
    for (size_t k = 0; k < count && is_good; k++) {
        struct fulcrum_node row = fulcrum_node_element(node, k);
        double *values = NULL;
        size_t length = 0;
        is_good = fulcrum_node_numbers(&row, NULL, &values, &length);
        if (is_good && length != n) {
            fulcrum_reader_fault(node->reader, FULCRUM_ERR_FORMAT,
                "%s has %zu numbers: expected %zu, one for each parameter", row.path,
                length, n);
            is_good = 0;
        }
        if (is_good) {
            memcpy(draws + k * n, values, n * sizeof *draws);
        }
        free(values);
    }
    if (is_good || draws == NULL) {
        note_status(node, draws != NULL ? fulcrum_calibration_set_draws(
                                              calibration, draws, count, NULL)
                                        : FULCRUM_ERR_NO_MEMORY);
    }
    free(draws);
}

static void read_capacity(const struct fulcrum_node *node, void *loaded)
{
    double *values = NULL;
    size_t count = 0;
    if (fulcrum_node_numbers(node, NULL, &values, &count)) {
        note_status(
            node, fulcrum_calibration_set_capacity(loaded, values, count, NULL));
    }
    free(values);
}

static void read_table(const struct fulcrum_node *node, struct fulcrum_time_table *out)
{
    static const char *const keys[] = {"size", "time_s", NULL};
    if (!fulcrum_node_is_object(node)) {
        return;
    }
    fulcrum_node_check_keys(node, keys);
    struct fulcrum_node size = fulcrum_node_member(node, "size");
    struct fulcrum_node time = fulcrum_node_member(node, "time_s");
    double *sizes = NULL;
    double *times = NULL;
    size_t count = 0;
    if (fulcrum_node_numbers(&size, NULL, &sizes, &count)) {
        times = fulcrum_node_row(&time, count);
    }
    if (times != NULL) {
        note_status(node, fulcrum_time_table_set(out, sizes, times, count, NULL));
    }
    free(sizes);
    free(times);
}

static void read_batch_time(const struct fulcrum_node *node, void *loaded)
{
    read_table(node, &((struct fulcrum_calibration *)loaded)->batch_time);
}

static void read_handoff_time(const struct fulcrum_node *node, void *loaded)
{
    read_table(node, &((struct fulcrum_calibration *)loaded)->handoff_time);
}

/* Parameters come before what has a number for each. */
static const struct fulcrum_file_part parts[] = {
    {FULCRUM_RECORD_ROW(fulcrum_calibration, complete, FLAG, .is_optional = true), NULL,
        false},
    {{.key = "machine"}, read_machine, false},
    {{.key = "parameters"}, read_parameter, true},
    {{.key = "covariance", .is_optional = true}, read_covariance, false},
    {{.key = "draws", .is_optional = true}, read_draws, false},
    {{.key = "capacity", .is_optional = true}, read_capacity, false},
    {{.key = "batch_time", .is_optional = true}, read_batch_time, false},
    {{.key = "handoff_time", .is_optional = true}, read_handoff_time, false},
    {{.key = "series", .is_optional = true}, read_series, true},
    {{.key = "quantities", .is_optional = true}, read_quantity, true},
    {{.key = "fits", .is_optional = true}, read_fit, true},
    {{.key = "notes", .is_optional = true}, read_notes, false},
    {{.key = NULL}, NULL, false},
};

/* What the model has to say, once every part could be read. */
static void check_loaded(const struct fulcrum_node *root, void *loaded)
{
    struct fulcrum_error failure = {FULCRUM_OK, ""};
    if (root->reader->faults.status == FULCRUM_OK &&
        fulcrum_calibration_check(loaded, &failure) != FULCRUM_OK) {
        fulcrum_reader_adopt(root->reader, &failure);
    }
}

enum fulcrum_status fulcrum_calibration_load(
    const char *name, struct fulcrum_calibration **out, struct fulcrum_error *err)
{
    static const struct fulcrum_file_form form = {
        FULCRUM_PRESET_CALIBRATION, parts, check_loaded};
    char path[FULCRUM_PRESET_PATH_SIZE];
    TRY(fulcrum_preset_find(FULCRUM_PRESET_CALIBRATION, name, NULL, path, err));
    struct fulcrum_calibration *calibration = NULL;
    TRY(fulcrum_calibration_new(&calibration, err));
    enum fulcrum_status status = fulcrum_file_load(&form, path, calibration, err);
    if (status != FULCRUM_OK) {
        fulcrum_calibration_free(calibration);
        return status;
    }
    *out = calibration;
    return FULCRUM_OK;
}

const char *const fulcrum_discrepancy_names[FULCRUM_DISCREPANCIES] = {
    "discrepancy-pieces", "discrepancy-fits"};

enum fulcrum_status fulcrum_discrepancy_load(
    const struct fulcrum_calibration *const *calibrations, size_t count,
    struct fulcrum_calibration **out, struct fulcrum_error *err)
{
    bool is_fit = false;
    *out = NULL;
    for (size_t i = 0; i < count; i++) {
        if (fulcrum_calibration_parameter(calibrations[i], "run.discrepancy") != NULL) {
            return FULCRUM_OK;
        }
        is_fit = is_fit || fulcrum_calibration_note(
                               calibrations[i], FULCRUM_NOTE_FITTED_TO) != NULL;
    }
    return fulcrum_calibration_load(fulcrum_discrepancy_names[is_fit], out, err);
}

static void add_matrix(struct json_object *root, const char *key, const double *values,
    size_t rows, size_t columns)
{
    struct json_object *array = fulcrum_json_add_array(root, key);
    for (size_t i = 0; i < rows; i++) {
        struct json_object *row = fulcrum_json_add_array(array, NULL);
        for (size_t j = 0; j < columns; j++) {
            fulcrum_json_add_number(row, NULL, values[i * columns + j]);
        }
    }
}

/* `count` structs, each an object of its members. */
static void add_list(struct json_object *root, const char *key,
    const struct fulcrum_record *record, const void *items, size_t count)
{
    struct json_object *array = fulcrum_json_add_array(root, key);
    for (size_t i = 0; i < count; i++) {
        fulcrum_record_write(fulcrum_json_add_object(array, NULL), record,
            (const char *)items + i * record->size_byte);
    }
}

/* Of two notes with one key the later holds: a file has each key once. */
static void add_notes(
    struct json_object *root, const struct fulcrum_calibration *calibration)
{
    struct json_object *object = fulcrum_json_add_object(root, "notes");
    const struct fulcrum_note *notes = calibration->notes;
    for (size_t i = 0; i < calibration->note_count; i++) {
        size_t j = i + 1;
        while (j < calibration->note_count && strcmp(notes[i].key, notes[j].key) != 0) {
            j++;
        }
        if (j == calibration->note_count) {
            fulcrum_json_add_text(object, notes[i].key, notes[i].text);
        }
    }
}

static void add_table(
    struct json_object *root, const char *key, const struct fulcrum_time_table *table)
{
    if (table->count > 0) {
        struct json_object *object = fulcrum_json_add_object(root, key);
        fulcrum_json_add_numbers(object, "size", table->size, table->count);
        fulcrum_json_add_numbers(object, "time_s", table->time_s, table->count);
    }
}

enum fulcrum_status fulcrum_calibration_save(
    const struct fulcrum_calibration *calibration, const char *path,
    struct fulcrum_error *err)
{
    FAIL_IF(calibration->name[0] == '\0', err, FULCRUM_ERR_MISSING,
        "%s: a calibration needs a name before it is saved", path != NULL ? path : "-");
    /* The order of members is part of the format: same content, same bytes. */
    struct json_object *root = fulcrum_json_new_object();
    fulcrum_file_header_write(
        root, FULCRUM_PRESET_CALIBRATION, calibration->name, calibration->title);
    fulcrum_json_add_flag(root, "complete", calibration->complete);
    struct json_object *object = fulcrum_json_add_object(root, "machine");
    fulcrum_json_add_text(object, "name", calibration->machine.name);
    fulcrum_json_add_text(object, "title", calibration->machine.title);
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    design.machine = calibration->machine;
    fulcrum_preset_write_half(&design, NULL, FULCRUM_PRESET_MACHINE, object);
    size_t n = calibration->parameter_count;
    add_list(root, "parameters", &fulcrum_parameter_record, calibration->parameters, n);
    /* A diagonal is what a reader assumes where the file has no covariance. */
    bool is_diagonal = true;
    for (size_t i = 0; i < n * n; i++) {
        double error = calibration->parameters[i / n].standard_error;
        double expected = i / n == i % n ? error * error : 0.0;
        is_diagonal = is_diagonal && calibration->covariance[i] == expected;
    }
    if (!is_diagonal) {
        add_matrix(root, "covariance", calibration->covariance, n, n);
    }
    if (calibration->draw_count > 0) {
        add_matrix(root, "draws", calibration->draws, calibration->draw_count, n);
    }
    if (calibration->capacity_count > 0) {
        fulcrum_json_add_numbers(
            root, "capacity", calibration->capacity, calibration->capacity_count);
    }
    add_table(root, "batch_time", &calibration->batch_time);
    add_table(root, "handoff_time", &calibration->handoff_time);
    add_list(root, "series", &fulcrum_series_record, calibration->series,
        calibration->series_count);
    add_list(root, "quantities", &fulcrum_quantity_record, calibration->quantities,
        calibration->quantity_count);
    add_list(
        root, "fits", &fulcrum_fit_record, calibration->fits, calibration->fit_count);
    add_notes(root, calibration);
    return fulcrum_json_save(root, path, err);
}
