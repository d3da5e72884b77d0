/* calibration_file.c - calibrations from files and into files. */
/* SPDX-License-Identifier: GPL-3.0-or-later */

#include <json-c/json.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/design/calibration.h"
#include "model/try.h"
#include "presets/io/document.h"
#include "presets/io/json.h"
#include "presets/io/reader.h"
#include "presets/load/fields_io.h"
#include "presets/load/file_header.h"
#include "presets/load/preset.h"
#include "presets/load/preset_folders.h"

/*
 * Adds one part of a file to the calibration, or faults to the node's reader. A
 * calibration with faults is never handed out, so a part may stay incomplete.
 */
typedef void part_reader(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration);

/* A fault for a call that failed on the node's content. */
static void note_status(const struct fulcrum_node *node, enum fulcrum_status status)
{
    if (status != FULCRUM_OK) {
        fulcrum_node_fault(node, status, "%s", fulcrum_status_text(status));
    }
}

/* NULL where the column is absent: the calibration has a fallback for it. */
static double *read_optional_row(const struct fulcrum_node *node, size_t count)
{
    return node->json != NULL ? fulcrum_node_row(node, count) : NULL;
}

static void read_series(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration)
{
    static const char *const keys[] = {"name", "unit", "x_name", "condition", "x",
        "value", "canary_rel", "disturbed", NULL};
    fulcrum_node_check_keys(node, keys);
    struct fulcrum_series series;
    memset(&series, 0, sizeof series);
    (void)fulcrum_node_text_of(node, "name", series.name, sizeof series.name);
    (void)fulcrum_node_text_of(node, "unit", series.unit, sizeof series.unit);
    (void)fulcrum_node_text_of(node, "x_name", series.x_name, sizeof series.x_name);
    (void)fulcrum_node_text_of(
        node, "condition", series.condition, sizeof series.condition);
    struct fulcrum_node x = fulcrum_node_member(node, "x");
    struct fulcrum_node value = fulcrum_node_member(node, "value");
    struct fulcrum_node canary = fulcrum_node_member(node, "canary_rel");
    struct fulcrum_node disturbed = fulcrum_node_member(node, "disturbed");
    if (fulcrum_node_numbers(&value, &series.value, &series.count)) {
        series.x = fulcrum_node_row(&x, series.count);
        series.canary_rel = read_optional_row(&canary, series.count);
        series.disturbed = read_optional_row(&disturbed, series.count);
    }
    if (series.x != NULL) {
        note_status(node, fulcrum_calibration_add_series(calibration, &series, NULL));
    }
    free(series.x);
    free(series.value);
    free(series.canary_rel);
    free(series.disturbed);
}

/* A value that was not measured is null, and so are the ends of its interval. */
static void read_quantity(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration)
{
    static const char *const keys[] = {"name", "value", "interval", "unit", NULL};
    fulcrum_node_check_keys(node, keys);
    struct fulcrum_quantity quantity;
    memset(&quantity, 0, sizeof quantity);
    struct fulcrum_node value = fulcrum_node_member(node, "value");
    struct fulcrum_node interval = fulcrum_node_member(node, "interval");
    (void)fulcrum_node_text_of(node, "name", quantity.name, sizeof quantity.name);
    (void)fulcrum_node_measured(&value, &quantity.value);
    (void)fulcrum_node_text_of(node, "unit", quantity.unit, sizeof quantity.unit);
    double *bounds = fulcrum_node_row(&interval, 2);
    if (bounds != NULL) {
        quantity.lo = bounds[0];
        quantity.hi = bounds[1];
        note_status(
            node, fulcrum_calibration_add_quantity(calibration, &quantity, NULL));
    }
    free(bounds);
}

/* Errors may be null: a fit through as many points as parameters has none. */
static void read_fit(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration)
{
    static const char *const keys[] = {"name", "form", "point_count", "mape_frac",
        "smape_frac", "max_frac", "bias_frac", "warning", NULL};
    fulcrum_node_check_keys(node, keys);
    struct fulcrum_fit_report fit;
    memset(&fit, 0, sizeof fit);
    (void)fulcrum_node_text_of(node, "name", fit.name, sizeof fit.name);
    (void)fulcrum_node_text_of(node, "form", fit.form, sizeof fit.form);
    (void)fulcrum_node_text_of(node, "warning", fit.warning, sizeof fit.warning);
    double *const numbers[] = {
        &fit.mape_frac, &fit.smape_frac, &fit.max_frac, &fit.bias_frac};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct fulcrum_node number = fulcrum_node_member(node, keys[i + 3]);
        (void)fulcrum_node_measured(&number, numbers[i]);
    }
    struct fulcrum_node points = fulcrum_node_member(node, "point_count");
    double count = fulcrum_node_value(&points);
    if (!(count >= 0.0 && count <= 1e9 && count == floor(count))) {
        fulcrum_node_fault(
            &points, FULCRUM_ERR_RANGE, "expected a whole number from 0 to 1e+09");
        return;
    }
    fit.point_count = (size_t)count;
    note_status(node, fulcrum_calibration_add_fit(calibration, &fit, NULL));
}

/* Keys are free: what describes a host differs from one kernel to the next. */
static void read_note(const struct fulcrum_node *notes, const char *key,
    struct fulcrum_calibration *calibration)
{
    struct fulcrum_note note;
    struct fulcrum_node node = fulcrum_node_member(notes, key);
    if (strlen(key) >= sizeof note.key) {
        fulcrum_reader_fault(notes->reader, FULCRUM_ERR_RANGE,
            "%s: expected a key of at most %zu bytes", node.path, sizeof note.key - 1);
        return;
    }
    if (fulcrum_node_text(&node, note.text, sizeof note.text)) {
        note_status(
            &node, fulcrum_calibration_add_note(calibration, key, note.text, NULL));
    }
}

static void read_notes(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration)
{
    if (!fulcrum_node_is_object(node)) {
        return;
    }
    struct json_object_iter member;
    json_object_object_foreachC(node->json, member)
    {
        read_note(node, member.key, calibration);
    }
}

/* Calibrations from files. */

/*
 * One function per part of the file, in a table with its key: what is absent stays as a
 * new calibration has it. The loaded calibration goes through fulcrum_calibration_check
 * like a measured one, so that code behind it need not know where it came from.
 */

static void read_schema(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration)
{
    (void)calibration;
    fulcrum_file_header_check_schema(
        node, FULCRUM_CALIBRATION_SCHEMA, FULCRUM_CALIBRATION_VERSION);
}

static void read_complete(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration)
{
    (void)fulcrum_node_flag(node, &calibration->complete);
}

/* Sources are not asked for: a calibration's machine is the host that was detected. */
static void read_machine(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration)
{
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    design.machine = calibration->machine;
    fulcrum_preset_read_half(
        node, FULCRUM_PRESET_MACHINE, FULCRUM_PRESET_CALIBRATION, &design);
    calibration->machine = design.machine;
}

/* Index of the name that the node holds, or a fault and -1. */
static int read_name(const struct fulcrum_node *node, const char *const *names)
{
    char text[32];
    if (!json_object_is_type(node->json, json_type_string) ||
        !fulcrum_node_text(node, text, sizeof text)) {
        fulcrum_node_fault(node, FULCRUM_ERR_FORMAT, "expected one of %s, %s, %s",
            names[0], names[1], names[2]);
        return -1;
    }
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], text) == 0) {
            return i;
        }
    }
    fulcrum_node_fault(node, FULCRUM_ERR_RANGE, "expected one of %s, %s, %s", names[0],
        names[1], names[2]);
    return -1;
}

/* Reads on after a fault, so that one pass finds them all. */
static void read_parameter(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration)
{
    static const char *const keys[] = {
        "path", "value", "standard_error", "scale", "origin", "source", NULL};
    const char *const scales[] = {fulcrum_scale_name(FULCRUM_SCALE_LINEAR),
        fulcrum_scale_name(FULCRUM_SCALE_LOG), fulcrum_scale_name(FULCRUM_SCALE_LOGIT),
        NULL};
    const char *const origins[] = {fulcrum_origin_name(FULCRUM_ORIGIN_MEASURED),
        fulcrum_origin_name(FULCRUM_ORIGIN_FITTED),
        fulcrum_origin_name(FULCRUM_ORIGIN_PRIOR), NULL};
    fulcrum_node_check_keys(node, keys);
    struct fulcrum_parameter parameter = {.path = ""};
    struct fulcrum_node path = fulcrum_node_member(node, "path");
    struct fulcrum_node value = fulcrum_node_member(node, "value");
    struct fulcrum_node error = fulcrum_node_member(node, "standard_error");
    struct fulcrum_node scale = fulcrum_node_member(node, "scale");
    struct fulcrum_node origin = fulcrum_node_member(node, "origin");
    bool is_path = fulcrum_node_text(&path, parameter.path, sizeof parameter.path);
    (void)fulcrum_node_number(&value, &parameter.value);
    (void)fulcrum_node_number(&error, &parameter.standard_error);
    int scale_index = read_name(&scale, scales);
    int origin_index = read_name(&origin, origins);
    (void)fulcrum_node_text_of(
        node, "source", parameter.source, sizeof parameter.source);
    if (is_path && fulcrum_calibration_parameter(calibration, parameter.path) != NULL) {
        fulcrum_node_fault(&path, FULCRUM_ERR_FORMAT, "expected each path once");
    }
    if (scale_index >= 0 && origin_index >= 0) {
        parameter.scale = (enum fulcrum_scale)scale_index;
        parameter.origin = (enum fulcrum_origin)origin_index;
    }
    note_status(node, fulcrum_calibration_add_parameter(calibration, &parameter, NULL));
}

/* Needs the parameters; the model checks symmetry and diagonal. */
static void read_covariance(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration)
{
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
static void read_draws(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration)
{
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
        is_good = fulcrum_node_numbers(&row, &values, &length);
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

static void read_capacity(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration)
{
    double *values = NULL;
    size_t count = 0;
    if (fulcrum_node_numbers(node, &values, &count)) {
        note_status(
            node, fulcrum_calibration_set_capacity(calibration, values, count, NULL));
    }
    free(values);
}

static void read_batch_time(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration)
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
    if (fulcrum_node_numbers(&size, &sizes, &count)) {
        times = fulcrum_node_row(&time, count);
    }
    if (times != NULL) {
        note_status(node,
            fulcrum_calibration_set_batch_time(calibration, sizes, times, count, NULL));
    }
    free(sizes);
    free(times);
}

/* In this order: a covariance needs the parameters. */
struct part {
    const char *key;
    part_reader *read;
    bool is_required;
    bool is_list; /* of objects, each of which is read */
};

static const struct part parts[] = {
    {"schema", read_schema, 1, 0},
    {"complete", read_complete, 0, 0},
    {"machine", read_machine, 1, 0},
    {"parameters", read_parameter, 1, 1},
    {"covariance", read_covariance, 0, 0},
    {"draws", read_draws, 0, 0},
    {"capacity", read_capacity, 0, 0},
    {"batch_time", read_batch_time, 0, 0},
    {"series", read_series, 0, 1},
    {"quantities", read_quantity, 0, 1},
    {"fits", read_fit, 0, 1},
    {"notes", read_notes, 0, 0},
};

enum { PART_COUNT = sizeof parts / sizeof parts[0] };

static void read_part(const struct part *part, const struct fulcrum_node *node,
    struct fulcrum_calibration *calibration)
{
    size_t count = 0;
    if (!part->is_list) {
        part->read(node, calibration);
        return;
    }
    (void)fulcrum_node_is_array(node, &count);
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_node element = fulcrum_node_element(node, i);
        if (fulcrum_node_is_object(&element)) {
            part->read(&element, calibration);
        }
    }
}

/* Absent parts stay as a new calibration has them; null counts as absent. */
static void read_parts(
    const struct fulcrum_node *root, struct fulcrum_calibration *calibration)
{
    const char *keys[PART_COUNT + 4] = {"kind", "name", "title"};
    for (size_t i = 0; i < PART_COUNT; i++) {
        keys[i + 3] = parts[i].key;
        struct fulcrum_node node = fulcrum_node_member(root, parts[i].key);
        if (node.json != NULL || parts[i].is_required) {
            read_part(&parts[i], &node, calibration);
        }
    }
    fulcrum_node_check_keys(root, keys);
}

static enum fulcrum_status read_calibration(const char *path,
    struct json_object *document, struct fulcrum_calibration *calibration,
    struct fulcrum_error *err)
{
    struct fulcrum_reader reader = {path, {FULCRUM_OK, ""}};
    struct fulcrum_node root = fulcrum_node_root(&reader, document);
    struct fulcrum_file_header head;
    (void)fulcrum_file_header_read(&root, FULCRUM_PRESET_CALIBRATION, &head);
    if (head.is_kind) {
        memcpy(calibration->name, head.name, sizeof head.name);
        memcpy(calibration->title, head.title, sizeof head.title);
        read_parts(&root, calibration);
        /* What the model has to say, once every part could be read. */
        struct fulcrum_error failure = {FULCRUM_OK, ""};
        if (reader.faults.status == FULCRUM_OK &&
            fulcrum_calibration_check(calibration, &failure) != FULCRUM_OK) {
            fulcrum_reader_adopt(&reader, &failure);
        }
    }
    return fulcrum_reader_finish(&reader, err);
}

enum fulcrum_status fulcrum_calibration_load(
    const char *name, struct fulcrum_calibration **out, struct fulcrum_error *err)
{
    char path[FULCRUM_PRESET_PATH_SIZE];
    struct json_object *document = NULL;
    struct fulcrum_calibration *calibration = NULL;
    enum fulcrum_status status;
    TRY_OR_END(fulcrum_preset_find(FULCRUM_PRESET_CALIBRATION, name, NULL, path, err));
    TRY_OR_END(fulcrum_document_read(path, &document, err));
    TRY_OR_END(fulcrum_calibration_new(&calibration, err));
    TRY_OR_END(read_calibration(path, document, calibration, err));
    *out = calibration;
    calibration = NULL;
end:
    fulcrum_document_free(document);
    fulcrum_calibration_free(calibration);
    return status;
}

static void add_parameters(
    struct fulcrum_json *root, const struct fulcrum_calibration *calibration)
{
    struct fulcrum_json *array = fulcrum_json_add_array(root, "parameters");
    for (size_t i = 0; i < calibration->parameter_count; i++) {
        const struct fulcrum_parameter *parameter = &calibration->parameters[i];
        struct fulcrum_json *object = fulcrum_json_append_object(array);
        fulcrum_json_add_text(object, "path", parameter->path);
        fulcrum_json_add_number(object, "value", parameter->value);
        fulcrum_json_add_number(object, "standard_error", parameter->standard_error);
        fulcrum_json_add_text(object, "scale", fulcrum_scale_name(parameter->scale));
        fulcrum_json_add_text(object, "origin", fulcrum_origin_name(parameter->origin));
        fulcrum_json_add_text(object, "source", parameter->source);
    }
}

/* What a reader assumes where the file has no covariance. */
static bool is_diagonal(const struct fulcrum_calibration *calibration)
{
    size_t n = calibration->parameter_count;
    for (size_t i = 0; i < n * n; i++) {
        double error = calibration->parameters[i / n].standard_error;
        double expected = i / n == i % n ? error * error : 0.0;
        if (calibration->covariance[i] != expected) {
            return 0;
        }
    }
    return 1;
}

static void add_matrix(struct fulcrum_json *root, const char *key, const double *values,
    size_t rows, size_t columns)
{
    struct fulcrum_json *array = fulcrum_json_add_array(root, key);
    for (size_t i = 0; i < rows; i++) {
        struct fulcrum_json *row = fulcrum_json_append_array(array);
        for (size_t j = 0; j < columns; j++) {
            fulcrum_json_append_number(row, values[i * columns + j]);
        }
    }
}

static void add_tables(
    struct fulcrum_json *root, const struct fulcrum_calibration *calibration)
{
    if (calibration->capacity_count > 0) {
        fulcrum_json_add_numbers(
            root, "capacity", calibration->capacity, calibration->capacity_count);
    }
    if (calibration->batch_count > 0) {
        struct fulcrum_json *object = fulcrum_json_add_object(root, "batch_time");
        fulcrum_json_add_numbers(
            object, "size", calibration->batch_size, calibration->batch_count);
        fulcrum_json_add_numbers(
            object, "time_s", calibration->batch_time_s, calibration->batch_count);
    }
}

/* Disturbed samples too: whoever reads the file may judge anew. */
static void add_series(
    struct fulcrum_json *root, const struct fulcrum_calibration *calibration)
{
    struct fulcrum_json *array = fulcrum_json_add_array(root, "series");
    for (size_t i = 0; i < calibration->series_count; i++) {
        const struct fulcrum_series *series = &calibration->series[i];
        struct fulcrum_json *object = fulcrum_json_append_object(array);
        fulcrum_json_add_text(object, "name", series->name);
        fulcrum_json_add_text(object, "unit", series->unit);
        fulcrum_json_add_text(object, "x_name", series->x_name);
        fulcrum_json_add_text(object, "condition", series->condition);
        fulcrum_json_add_numbers(object, "x", series->x, series->count);
        fulcrum_json_add_numbers(object, "value", series->value, series->count);
        fulcrum_json_add_numbers(
            object, "canary_rel", series->canary_rel, series->count);
        fulcrum_json_add_numbers(object, "disturbed", series->disturbed, series->count);
    }
}

static void add_quantities(
    struct fulcrum_json *root, const struct fulcrum_calibration *calibration)
{
    struct fulcrum_json *array = fulcrum_json_add_array(root, "quantities");
    for (size_t i = 0; i < calibration->quantity_count; i++) {
        const struct fulcrum_quantity *quantity = &calibration->quantities[i];
        const double interval[2] = {quantity->lo, quantity->hi};
        struct fulcrum_json *object = fulcrum_json_append_object(array);
        fulcrum_json_add_text(object, "name", quantity->name);
        fulcrum_json_add_number(object, "value", quantity->value);
        fulcrum_json_add_numbers(object, "interval", interval, 2);
        fulcrum_json_add_text(object, "unit", quantity->unit);
    }
}

static void add_fits(
    struct fulcrum_json *root, const struct fulcrum_calibration *calibration)
{
    struct fulcrum_json *array = fulcrum_json_add_array(root, "fits");
    for (size_t i = 0; i < calibration->fit_count; i++) {
        const struct fulcrum_fit_report *fit = &calibration->fits[i];
        struct fulcrum_json *object = fulcrum_json_append_object(array);
        fulcrum_json_add_text(object, "name", fit->name);
        fulcrum_json_add_text(object, "form", fit->form);
        fulcrum_json_add_number(object, "point_count", (double)fit->point_count);
        fulcrum_json_add_number(object, "mape_frac", fit->mape_frac);
        fulcrum_json_add_number(object, "smape_frac", fit->smape_frac);
        fulcrum_json_add_number(object, "max_frac", fit->max_frac);
        fulcrum_json_add_number(object, "bias_frac", fit->bias_frac);
        fulcrum_json_add_text(object, "warning", fit->warning);
    }
}

/* Of two notes with one key the later holds: a file has each key once. */
static void add_notes(
    struct fulcrum_json *root, const struct fulcrum_calibration *calibration)
{
    struct fulcrum_json *object = fulcrum_json_add_object(root, "notes");
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

/* The order of members is part of the format: same content, same bytes. */
static struct fulcrum_json *build(const struct fulcrum_calibration *calibration)
{
    struct fulcrum_json *root = fulcrum_json_new_object();
    struct fulcrum_json *schema = fulcrum_json_add_object(root, "schema");
    fulcrum_json_add_text(schema, "name", FULCRUM_CALIBRATION_SCHEMA);
    fulcrum_json_add_number(schema, "version", FULCRUM_CALIBRATION_VERSION);
    fulcrum_json_add_text(root, "kind", "calibration");
    fulcrum_json_add_text(root, "name", calibration->name);
    fulcrum_json_add_text(root, "title", calibration->title);
    fulcrum_json_add_flag(root, "complete", calibration->complete);
    struct fulcrum_json *object = fulcrum_json_add_object(root, "machine");
    fulcrum_json_add_text(object, "name", calibration->machine.name);
    fulcrum_json_add_text(object, "title", calibration->machine.title);
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    design.machine = calibration->machine;
    fulcrum_fields_io_write(&design, FULCRUM_PRESET_MACHINE, object);
    add_parameters(root, calibration);
    size_t n = calibration->parameter_count;
    if (!is_diagonal(calibration)) {
        add_matrix(root, "covariance", calibration->covariance, n, n);
    }
    if (calibration->draw_count > 0) {
        add_matrix(root, "draws", calibration->draws, calibration->draw_count, n);
    }
    add_tables(root, calibration);
    add_series(root, calibration);
    add_quantities(root, calibration);
    add_fits(root, calibration);
    add_notes(root, calibration);
    return root;
}

enum fulcrum_status fulcrum_calibration_save(
    const struct fulcrum_calibration *calibration, const char *path,
    struct fulcrum_error *err)
{
    FAIL_IF(calibration->name[0] == '\0', err, FULCRUM_ERR_MISSING,
        "%s: a calibration needs a name before it is saved", path != NULL ? path : "-");
    return fulcrum_json_save(build(calibration), path, err);
}
