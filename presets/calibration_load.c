/* calibration_load.c - calibrations from files. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One function per part of the file, in a table with its key: what is absent stays as a
 * new calibration has it. The loaded calibration goes through fulcrum_calibration_check
 * like a measured one, so that code behind it need not know where it came from.
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "presets/calibration_file.h"
#include "presets/document.h"
#include "presets/folder.h"
#include "presets/head.h"
#include "presets/preset.h"
#include "presets/sheet.h"

static void read_schema(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration)
{
    (void)calibration;
    fulcrum_head_check_schema(
        node, FULCRUM_CALIBRATION_SCHEMA, FULCRUM_CALIBRATION_VERSION);
}

static void read_complete(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration)
{
    (void)fulcrum_node_flag(node, &calibration->complete);
}

/*
 * A named machine is read as it stands today; a saved calibration holds a copy, so
 * that a later change of the preset does not change what was measured.
 */
static void load_machine_preset(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration)
{
    char name[FULCRUM_PRESET_PATH_SIZE];
    char path[FULCRUM_PRESET_PATH_SIZE];
    if (!fulcrum_node_text(node, name, sizeof name)) {
        return;
    }
    struct fulcrum_error failure = {FULCRUM_OK, ""};
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    enum fulcrum_status status = fulcrum_preset_find(
        FULCRUM_PRESET_MACHINE, name, node->reader->file, path, &failure);
    if (status == FULCRUM_OK) {
        status = fulcrum_machine_load(path, &design, NULL, &failure);
    }
    if (status != FULCRUM_OK) {
        fulcrum_node_fault(node, status, "%s", failure.detail);
        return;
    }
    calibration->machine = design.machine;
}

/*
 * No sources here: a calibration's machine is the host that was detected, and its
 * notes say how.
 */
static void read_machine_object(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration)
{
    struct fulcrum_sheet sheet;
    enum fulcrum_status status =
        fulcrum_sheet_init(&sheet, FULCRUM_PRESET_MACHINE, NULL);
    if (status != FULCRUM_OK) {
        fulcrum_calibration_note_status(node, status);
        return;
    }
    fulcrum_sheet_apply_bare(&sheet, node);
    calibration->machine = sheet.design.machine;
    fulcrum_sheet_clear(&sheet);
    struct fulcrum_machine *machine = &calibration->machine;
    struct fulcrum_node name = fulcrum_node_member(node, "name");
    struct fulcrum_node title = fulcrum_node_member(node, "title");
    if (name.json != NULL) {
        (void)fulcrum_node_text(&name, machine->name, sizeof machine->name);
    }
    if (title.json != NULL) {
        (void)fulcrum_node_text(&title, machine->title, sizeof machine->title);
    }
}

static void read_machine(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration)
{
    if (json_object_is_type(node->json, json_type_string)) {
        load_machine_preset(node, calibration);
    } else if (json_object_is_type(node->json, json_type_object)) {
        read_machine_object(node, calibration);
    } else {
        fulcrum_node_fault(node, FULCRUM_ERR_FORMAT,
            "expected the name of a machine preset, or an object");
    }
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
    struct fulcrum_parameter parameter = {
        "", 0.0, 0.0, FULCRUM_SCALE_LINEAR, FULCRUM_ORIGIN_MEASURED, ""};
    struct fulcrum_node path = fulcrum_node_member(node, "path");
    struct fulcrum_node value = fulcrum_node_member(node, "value");
    struct fulcrum_node error = fulcrum_node_member(node, "standard_error");
    struct fulcrum_node scale = fulcrum_node_member(node, "scale");
    struct fulcrum_node origin = fulcrum_node_member(node, "origin");
    struct fulcrum_node source = fulcrum_node_member(node, "source");
    int is_path = fulcrum_node_text(&path, parameter.path, sizeof parameter.path);
    (void)fulcrum_node_number(&value, &parameter.value);
    (void)fulcrum_node_number(&error, &parameter.standard_error);
    int scale_index = read_name(&scale, scales);
    int origin_index = read_name(&origin, origins);
    (void)fulcrum_node_text(&source, parameter.source, sizeof parameter.source);
    if (is_path && fulcrum_calibration_parameter(calibration, parameter.path) != NULL) {
        fulcrum_node_fault(&path, FULCRUM_ERR_FORMAT, "expected each path once");
    }
    if (scale_index >= 0 && origin_index >= 0) {
        parameter.scale = (enum fulcrum_scale)scale_index;
        parameter.origin = (enum fulcrum_origin)origin_index;
    }
    fulcrum_calibration_note_status(
        node, fulcrum_calibration_add_parameter(calibration, &parameter, NULL));
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
    int is_good = draws != NULL;
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
        fulcrum_calibration_note_status(
            node, draws != NULL
                      ? fulcrum_calibration_set_draws(calibration, draws, count, NULL)
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
        fulcrum_calibration_note_status(
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
        fulcrum_calibration_note_status(node,
            fulcrum_calibration_set_batch_time(calibration, sizes, times, count, NULL));
    }
    free(sizes);
    free(times);
}

static void read_parameters(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration)
{
    fulcrum_calibration_read_elements(node, calibration, read_parameter);
}

/* In this order: a covariance needs the parameters. */
struct part {
    const char *key;
    fulcrum_calibration_part *read;
    int is_required;
};

static const struct part parts[] = {
    {"schema", read_schema, 1},
    {"complete", read_complete, 0},
    {"machine", read_machine, 1},
    {"parameters", read_parameters, 1},
    {"covariance", read_covariance, 0},
    {"draws", read_draws, 0},
    {"capacity", read_capacity, 0},
    {"batch_time", read_batch_time, 0},
    {"series", fulcrum_calibration_read_series, 0},
    {"quantities", fulcrum_calibration_read_quantities, 0},
    {"fits", fulcrum_calibration_read_fits, 0},
    {"notes", fulcrum_calibration_read_notes, 0},
};

enum { PART_COUNT = sizeof parts / sizeof parts[0] };

/* Absent parts stay as a new calibration has them; null counts as absent. */
static void read_parts(
    const struct fulcrum_node *root, struct fulcrum_calibration *calibration)
{
    const char *keys[PART_COUNT + 4] = {"kind", "name", "title"};
    for (size_t i = 0; i < PART_COUNT; i++) {
        keys[i + 3] = parts[i].key;
        struct fulcrum_node node = fulcrum_node_member(root, parts[i].key);
        if (node.json != NULL || parts[i].is_required) {
            parts[i].read(&node, calibration);
        }
    }
    fulcrum_node_check_keys(root, keys);
}

/* What the model has to say, once every part could be read. */
static void check_content(
    struct fulcrum_reader *reader, const struct fulcrum_calibration *calibration)
{
    struct fulcrum_error failure = {FULCRUM_OK, ""};
    if (reader->faults.status == FULCRUM_OK &&
        fulcrum_calibration_check(calibration, &failure) != FULCRUM_OK) {
        fulcrum_reader_adopt(reader, &failure);
    }
}

static enum fulcrum_status read_calibration(const char *path,
    struct json_object *document, struct fulcrum_calibration *calibration,
    struct fulcrum_error *err)
{
    struct fulcrum_reader reader = {path, {FULCRUM_OK, ""}};
    struct fulcrum_node root = fulcrum_node_root(&reader, document);
    struct fulcrum_head head;
    (void)fulcrum_head_read(&root, FULCRUM_PRESET_CALIBRATION, &head);
    if (head.is_kind) {
        memcpy(calibration->name, head.name, sizeof head.name);
        memcpy(calibration->title, head.title, sizeof head.title);
        read_parts(&root, calibration);
        check_content(&reader, calibration);
    }
    return fulcrum_reader_finish(&reader, err);
}

enum fulcrum_status fulcrum_calibration_load(
    const char *name, struct fulcrum_calibration **out, struct fulcrum_error *err)
{
    char path[FULCRUM_PRESET_PATH_SIZE];
    struct json_object *document = NULL;
    struct fulcrum_calibration *calibration = NULL;
    enum fulcrum_status status =
        fulcrum_preset_find(FULCRUM_PRESET_CALIBRATION, name, NULL, path, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_document_read(path, &document, err);
    }
    if (status == FULCRUM_OK) {
        status = fulcrum_calibration_new(&calibration, err);
    }
    if (status == FULCRUM_OK) {
        status = read_calibration(path, document, calibration, err);
    }
    fulcrum_document_free(document);
    if (status != FULCRUM_OK) {
        fulcrum_calibration_free(calibration);
        return status;
    }
    *out = calibration;
    return FULCRUM_OK;
}
