/* reference_load.c - published or measured points from files. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One function per member of the file, in a table with its key. What the points need
 * from the rest (the frame skip, the point that ratios refer to) is looked at once all
 * of it was read, so that the order of members does not matter.
 */
#include "presets/reference_load.h"

#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "presets/document.h"
#include "presets/folder.h"
#include "presets/head.h"
#include "presets/preset.h"
#include "presets/reference_file.h"
#include "presets/section.h"
#include "presets/sheet.h"

typedef void member_reader(
    const struct fulcrum_node *node, struct fulcrum_reference *reference);

static void read_schema(
    const struct fulcrum_node *node, struct fulcrum_reference *reference)
{
    (void)reference;
    fulcrum_head_check_schema(
        node, FULCRUM_REFERENCE_SCHEMA, FULCRUM_REFERENCE_VERSION);
}

static void read_note(
    const struct fulcrum_node *node, struct fulcrum_reference *reference)
{
    (void)fulcrum_node_text(node, reference->note, sizeof reference->note);
}

static void read_not_predicted(
    const struct fulcrum_node *node, struct fulcrum_reference *reference)
{
    (void)fulcrum_node_text(
        node, reference->not_predicted, sizeof reference->not_predicted);
}

static void read_source(const struct fulcrum_node *map, const char *key,
    struct fulcrum_reference_source *source)
{
    struct fulcrum_node node = fulcrum_node_member(map, key);
    if (strlen(key) >= sizeof source->part) {
        fulcrum_reader_fault(node.reader, FULCRUM_ERR_RANGE,
            "%s: expected a key of at most %zu bytes", node.path,
            sizeof source->part - 1);
        return;
    }
    memcpy(source->part, key, strlen(key) + 1);
    if (fulcrum_node_text(&node, source->text, sizeof source->text) &&
        source->text[0] == '\0') {
        fulcrum_node_fault(&node, FULCRUM_ERR_RANGE, "expected some text");
    }
}

/* Reads one member of a map; there is room for it. */
typedef void read_member(const struct fulcrum_node *map, const char *key,
    struct fulcrum_reference *reference);

/* Room for as many rows of `size` bytes as a map has members; NULL after a fault. */
static void *room_for(const struct fulcrum_node *map, size_t size)
{
    size_t count = (size_t)json_object_object_length(map->json);
    void *rows = calloc(count + 1, size);
    if (rows == NULL) {
        fulcrum_reader_fault(
            map->reader, FULCRUM_ERR_NO_MEMORY, "%s: no memory", map->path);
    }
    return rows;
}

static void read_each(const struct fulcrum_node *map, read_member *read,
    struct fulcrum_reference *reference)
{
    struct json_object_iterator at = json_object_iter_begin(map->json);
    struct json_object_iterator end = json_object_iter_end(map->json);
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        read(map, json_object_iter_peek_name(&at), reference);
    }
}

static void read_next_source(const struct fulcrum_node *map, const char *key,
    struct fulcrum_reference *reference)
{
    read_source(map, key, &reference->sources[reference->source_count++]);
}

static void read_sources(
    const struct fulcrum_node *map, struct fulcrum_reference *reference)
{
    if (!fulcrum_node_is_object(map)) {
        return;
    }
    reference->sources = room_for(map, sizeof *reference->sources);
    if (reference->sources != NULL) {
        read_each(map, read_next_source, reference);
    }
}

/* Path and content of the preset that a node names. */
static void load_preset(const struct fulcrum_node *node, enum fulcrum_preset_kind kind,
    struct fulcrum_design *design)
{
    char name[FULCRUM_PRESET_PATH_SIZE];
    char path[FULCRUM_PRESET_PATH_SIZE];
    if (!fulcrum_node_text(node, name, sizeof name)) {
        return;
    }
    struct fulcrum_error failure = {FULCRUM_OK, ""};
    enum fulcrum_status status =
        fulcrum_preset_find(kind, name, node->reader->file, path, &failure);
    if (status == FULCRUM_OK && kind == FULCRUM_PRESET_MACHINE) {
        status = fulcrum_machine_load(path, design, NULL, &failure);
    } else if (status == FULCRUM_OK) {
        status = fulcrum_workload_load(path, design, NULL, &failure);
    }
    if (status != FULCRUM_OK) {
        fulcrum_node_fault(node, status, "%s", failure.detail);
    }
}

/* An object without a name would count as no machine or workload at all. */
static void read_names(
    const struct fulcrum_node *object, char name[64], char title[160])
{
    struct fulcrum_node name_node = fulcrum_node_member(object, "name");
    struct fulcrum_node title_node = fulcrum_node_member(object, "title");
    if (fulcrum_node_text(&name_node, name, 64) && name[0] == '\0') {
        fulcrum_node_fault(&name_node, FULCRUM_ERR_RANGE, "expected some text");
    }
    if (title_node.json != NULL) {
        (void)fulcrum_node_text(&title_node, title, 160);
    }
}

/* Only the kind's own half of the design is taken over. */
static void read_object(const struct fulcrum_node *node, enum fulcrum_preset_kind kind,
    struct fulcrum_design *design)
{
    struct fulcrum_sheet sheet;
    if (fulcrum_sheet_init(&sheet, kind, NULL) != FULCRUM_OK) {
        fulcrum_reader_fault(
            node->reader, FULCRUM_ERR_NO_MEMORY, "%s: no memory", node->path);
        return;
    }
    fulcrum_sheet_apply_bare(&sheet, node);
    if (kind == FULCRUM_PRESET_MACHINE) {
        design->machine = sheet.design.machine;
        read_names(node, design->machine.name, design->machine.title);
    } else {
        design->workload = sheet.design.workload;
        read_names(node, design->workload.name, design->workload.title);
    }
    fulcrum_sheet_clear(&sheet);
}

static void read_half(const struct fulcrum_node *node, enum fulcrum_preset_kind kind,
    struct fulcrum_design *design)
{
    if (json_object_is_type(node->json, json_type_string)) {
        load_preset(node, kind, design);
    } else if (json_object_is_type(node->json, json_type_object)) {
        read_object(node, kind, design);
    } else {
        fulcrum_node_fault(node, FULCRUM_ERR_FORMAT,
            "expected the name of a %s preset, or an object",
            fulcrum_preset_kind_name(kind));
    }
}

static void read_machine(
    const struct fulcrum_node *node, struct fulcrum_reference *reference)
{
    read_half(node, FULCRUM_PRESET_MACHINE, &reference->design);
    memcpy(
        reference->machine, reference->design.machine.name, sizeof reference->machine);
}

static void read_workload(
    const struct fulcrum_node *node, struct fulcrum_reference *reference)
{
    read_half(node, FULCRUM_PRESET_WORKLOAD, &reference->design);
    memcpy(reference->workload, reference->design.workload.name,
        sizeof reference->workload);
}

/* A path as it was found ends with what was asked for; a preset's file does not. */
static int is_path_of(const char *path, const char *name)
{
    size_t path_length = strlen(path);
    size_t length = strlen(name);
    return path_length >= length && strcmp(path + path_length - length, name) == 0;
}

/*
 * Whether it is there is asked now, what it holds when a prediction starts from it. A
 * path is kept as seen from here, for whoever predicts.
 */
static int read_calibration_name(
    const struct fulcrum_node *node, char out[FULCRUM_REFERENCE_CALIBRATION_SIZE])
{
    char path[FULCRUM_PRESET_PATH_SIZE];
    struct fulcrum_error failure = {FULCRUM_OK, ""};
    if (!fulcrum_node_text(node, out, FULCRUM_REFERENCE_CALIBRATION_SIZE)) {
        return 0;
    }
    if (fulcrum_preset_find(FULCRUM_PRESET_CALIBRATION, out, node->reader->file, path,
            &failure) != FULCRUM_OK) {
        fulcrum_node_fault(node, failure.status, "%s", failure.detail);
        return 0;
    }
    if (!is_path_of(path, out)) {
        return 1;
    }
    if (strlen(path) >= FULCRUM_REFERENCE_CALIBRATION_SIZE) {
        fulcrum_node_fault(node, FULCRUM_ERR_FILE,
            "expected a path of at most %d bytes",
            FULCRUM_REFERENCE_CALIBRATION_SIZE - 1);
        return 0;
    }
    memcpy(out, path, strlen(path) + 1);
    return 1;
}

static void read_calibration(
    const struct fulcrum_node *node, struct fulcrum_reference *reference)
{
    (void)read_calibration_name(node, reference->calibration);
}

static int has_series(const struct fulcrum_reference *reference, const char *series)
{
    for (size_t i = 0; i < reference->point_count; i++) {
        if (strcmp(reference->points[i].series, series) == 0) {
            return 1;
        }
    }
    return 0;
}

static void read_series_calibration(const struct fulcrum_node *map, const char *key,
    struct fulcrum_reference *reference)
{
    struct fulcrum_node node = fulcrum_node_member(map, key);
    struct fulcrum_series_calibration *own =
        &reference->calibrations[reference->calibration_count];
    if (!has_series(reference, key)) {
        fulcrum_reader_fault(node.reader, FULCRUM_ERR_UNKNOWN_NAME,
            "%s: expected a series of the points", node.path);
    } else if (read_calibration_name(&node, own->calibration)) {
        memcpy(own->series, key, strlen(key) + 1);
        reference->calibration_count++;
    }
}

/* Follows the points in the table: it names their series. */
static void read_calibrations(
    const struct fulcrum_node *map, struct fulcrum_reference *reference)
{
    if (!fulcrum_node_is_object(map)) {
        return;
    }
    reference->calibrations = room_for(map, sizeof *reference->calibrations);
    if (reference->calibrations != NULL) {
        read_each(map, read_series_calibration, reference);
    }
}

static const char *predictor_name(int index)
{
    return fulcrum_predictor_name((size_t)index);
}

static void read_predictor(
    const struct fulcrum_node *node, struct fulcrum_reference *reference)
{
    int index = fulcrum_section_choice(node, predictor_name);
    if (index >= 0) {
        reference->predictor = (enum fulcrum_predictor_kind)index;
    }
}

static void read_frame_skip(
    const struct fulcrum_node *node, struct fulcrum_reference *reference)
{
    double skip = fulcrum_node_value(node);
    if (skip >= 1.0 && skip <= FULCRUM_REFERENCE_FRAME_SKIP_MOST &&
        skip == floor(skip)) {
        reference->frame_skip = skip;
        return;
    }
    fulcrum_node_fault(node, FULCRUM_ERR_RANGE, "expected a whole number from 1 to %g",
        FULCRUM_REFERENCE_FRAME_SKIP_MOST);
}

/* Follows the points in the table: it counts them. */
static void read_relative_to(
    const struct fulcrum_node *node, struct fulcrum_reference *reference)
{
    double index = fulcrum_node_value(node);
    double count = (double)reference->point_count;
    if (index >= 0.0 && index < count && index == floor(index)) {
        reference->is_relative = 1;
        reference->relative_to = (size_t)index;
    } else if (reference->point_count > 0) {
        fulcrum_node_fault(node, FULCRUM_ERR_RANGE,
            "expected the index of a point, from 0 to %g", count - 1.0);
    }
}

static void read_points(
    const struct fulcrum_node *node, struct fulcrum_reference *reference)
{
    fulcrum_reference_read_points(node, reference);
    fulcrum_reference_check_repeats(node, reference);
    fulcrum_reference_convert_frames(node, reference);
}

/* In this order: points need the frame skip; what is relative, and calibrations by
 * series, the points. */
static const struct {
    const char *key;
    member_reader *read;
    int is_required;
} members[] = {
    {"schema", read_schema, 1},
    {"source", read_sources, 1},
    {"note", read_note, 0},
    {"machine", read_machine, 0},
    {"workload", read_workload, 0},
    {"calibration", read_calibration, 0},
    {"predictor", read_predictor, 1},
    {"not_predicted", read_not_predicted, 0},
    {"frame_skip", read_frame_skip, 0},
    {"points", read_points, 1},
    {"relative_to", read_relative_to, 0},
    {"calibrations", read_calibrations, 0},
};

enum { MEMBER_COUNT = sizeof members / sizeof members[0] };

/* null counts as absent. */
static void read_members(
    const struct fulcrum_node *root, struct fulcrum_reference *reference)
{
    const char *keys[MEMBER_COUNT + 4] = {"kind", "name", "title"};
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        keys[i + 3] = members[i].key;
        struct fulcrum_node node = fulcrum_node_member(root, members[i].key);
        if (node.json != NULL || members[i].is_required) {
            members[i].read(&node, reference);
        }
    }
    fulcrum_node_check_keys(root, keys);
}

static int is_member(const char *key)
{
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        if (strcmp(members[i].key, key) == 0) {
            return 1;
        }
    }
    return 0;
}

static int is_in_point(const struct fulcrum_reference_point *point, const char *key)
{
    int found = strcmp(point->series, key) == 0;
    for (size_t i = 0; i < point->setting_count && !found; i++) {
        found = strcmp(point->settings[i].path, key) == 0;
    }
    for (size_t i = 0; i < point->observation_count && !found; i++) {
        found = strcmp(point->observations[i].quantity, key) == 0;
    }
    return found;
}

/* A member, or a series, setting or quantity of a point. */
static int is_part(const struct fulcrum_reference *reference, const char *key)
{
    int found = is_member(key);
    for (size_t i = 0; i < reference->point_count && !found; i++) {
        found = is_in_point(&reference->points[i], key);
    }
    return found;
}

/* A source of nothing is most likely a mistyped name: what it is for has none. */
static void check_source_keys(
    const struct fulcrum_node *source, const struct fulcrum_reference *reference)
{
    for (size_t i = 0; i < reference->source_count; i++) {
        struct fulcrum_node node =
            fulcrum_node_member(source, reference->sources[i].part);
        if (node.json != NULL && !is_part(reference, reference->sources[i].part)) {
            fulcrum_reader_fault(node.reader, FULCRUM_ERR_FORMAT,
                "%s: unknown key: expected a member of the file, or a series, setting "
                "or quantity of its points",
                node.path);
        }
    }
}

/* No number without a source; presets named here have their own. */
static void check_sources(
    const struct fulcrum_node *root, const struct fulcrum_reference *reference)
{
    static const char *const parts[] = {"points", "machine", "workload"};
    struct fulcrum_node source = fulcrum_node_member(root, "source");
    if (!json_object_is_type(source.json, json_type_object)) {
        return;
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        struct fulcrum_node part = fulcrum_node_member(root, parts[i]);
        struct fulcrum_node text = fulcrum_node_member(&source, parts[i]);
        int is_own = i == 0 || json_object_is_type(part.json, json_type_object);
        if (is_own && text.json == NULL) {
            fulcrum_node_fault(&text, FULCRUM_ERR_MISSING,
                "expected where the values of \"%s\" were read", parts[i]);
        }
    }
    check_source_keys(&source, reference);
}

static enum fulcrum_status read_reference(const char *path,
    struct json_object *document, struct fulcrum_reference *reference,
    struct fulcrum_error *err)
{
    struct fulcrum_reader reader = {path, {FULCRUM_OK, ""}};
    struct fulcrum_node root = fulcrum_node_root(&reader, document);
    struct fulcrum_head head;
    (void)fulcrum_head_read(&root, FULCRUM_PRESET_REFERENCE, &head);
    if (head.is_kind) {
        memcpy(reference->name, head.name, sizeof head.name);
        memcpy(reference->title, head.title, sizeof head.title);
        read_members(&root, reference);
        check_sources(&root, reference);
    }
    return fulcrum_reader_finish(&reader, err);
}

static struct fulcrum_reference *new_reference(void)
{
    struct fulcrum_reference *reference = calloc(1, sizeof *reference);
    if (reference != NULL) {
        fulcrum_design_init(&reference->design);
        reference->frame_skip = 1.0;
    }
    return reference;
}

enum fulcrum_status fulcrum_reference_load(
    const char *name, struct fulcrum_reference **out, struct fulcrum_error *err)
{
    char path[FULCRUM_PRESET_PATH_SIZE];
    struct json_object *document = NULL;
    struct fulcrum_reference *reference = NULL;
    enum fulcrum_status status =
        fulcrum_preset_find(FULCRUM_PRESET_REFERENCE, name, NULL, path, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_document_read(path, &document, err);
    }
    if (status == FULCRUM_OK) {
        reference = new_reference();
        status = reference != NULL
                     ? read_reference(path, document, reference, err)
                     : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%s", path);
    }
    fulcrum_document_free(document);
    if (status != FULCRUM_OK) {
        fulcrum_reference_free(reference);
        return status;
    }
    *out = reference;
    return FULCRUM_OK;
}
