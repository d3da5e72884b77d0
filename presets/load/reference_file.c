/* reference_file.c - references from files and into files. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "presets/load/reference_file.h"

#include <assert.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/design/design.h"
#include "model/try.h"
#include "presets/io/json.h"
#include "presets/io/reader.h"
#include "presets/io/record.h"
#include "presets/load/preset.h"
#include "presets/load/preset_file.h"
#include "presets/load/preset_folders.h"

/*
 * A setting is a field of the design or a condition that only the source knows, told
 * apart by the dot in its path: a mistyped field is thus never taken for a condition.
 */

#define ENV_COUNT_MOST 1e13 /* most actors times most environments of one */

/* 1, or a fault: names of conditions and quantities are words for files and columns. */
static int check_word(const struct fulcrum_node *node, const char *word, size_t size)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    size_t length = strlen(word);
    if (length == 0 || length >= size || strspn(word, letters) != length) {
        fulcrum_reader_fault(node->reader, FULCRUM_ERR_FORMAT,
            "%s: expected a name of 1 to %zu small letters, digits and underscores",
            node->path, size - 1);
        return 0;
    }
    return 1;
}

/* Whether a design would take the value is asked of a design nobody keeps. */
static void check_field(const struct fulcrum_node *node,
    const struct fulcrum_field *field, const struct fulcrum_reference_setting *setting)
{
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    struct fulcrum_error failure = {FULCRUM_OK, ""};
    bool is_text = isnan(setting->number);
    bool is_number =
        field->kind == FULCRUM_FIELD_NUMBER || field->kind == FULCRUM_FIELD_COUNT;
    enum fulcrum_status status =
        is_text && !is_number
            ? fulcrum_field_set_text(field, &design, setting->text, &failure)
            : fulcrum_field_set_number(field, &design, setting->number, &failure);
    if (status != FULCRUM_OK) {
        /* What the field's setter expected; the node says what stood there. */
        const char *expected = strstr(failure.detail, "expected");
        fulcrum_node_fault(
            node, failure.status, "%s", expected != NULL ? expected : failure.detail);
    }
}

/* "sm_count" is the end of a field, "workers" is a word of the source. */
static void check_condition(
    const struct fulcrum_node *node, const struct fulcrum_reference_setting *setting)
{
    if (!check_word(node, setting->path, sizeof setting->path)) {
        return;
    }
    const struct fulcrum_field *field = fulcrum_field_find(setting->path);
    if (field != NULL) {
        fulcrum_reader_fault(node->reader, FULCRUM_ERR_FORMAT,
            "%s: short names are for the command line; did you mean %s?", node->path,
            field->path);
    } else if (fabs(setting->number) > FULCRUM_REFERENCE_MOST) {
        fulcrum_node_fault(node, FULCRUM_ERR_RANGE, "expected a number from %g to %g",
            -FULCRUM_REFERENCE_MOST, FULCRUM_REFERENCE_MOST);
    }
}

static void check_setting(
    const struct fulcrum_node *node, const struct fulcrum_reference_setting *setting)
{
    if (strcmp(setting->path, FULCRUM_REFERENCE_ENV_COUNT) == 0) {
        double count = setting->number;
        if (!(count >= 1.0 && count <= ENV_COUNT_MOST && count == floor(count))) {
            fulcrum_node_fault(node, FULCRUM_ERR_RANGE,
                "expected a whole number from 1 to %g", ENV_COUNT_MOST);
        }
    } else if (strchr(setting->path, '.') == NULL) {
        check_condition(node, setting);
    } else if (fulcrum_field_find(setting->path) != NULL) {
        check_field(node, fulcrum_field_find(setting->path), setting);
    } else {
        const char *nearest = fulcrum_field_nearest(setting->path);
        fulcrum_reader_fault(node->reader, FULCRUM_ERR_UNKNOWN_NAME,
            "%s: no field is called so%s%s%s", node->path,
            nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
            nearest != NULL ? "?" : "");
    }
}

/* The key of a member as the name of an item; false after a fault. */
static bool take_key(const struct fulcrum_node *node, const char *key, const char *what,
    char *out, size_t size)
{
    if (strlen(key) >= size) {
        fulcrum_reader_fault(node->reader, FULCRUM_ERR_RANGE,
            "%s: expected a %s of at most %zu bytes", node->path, what, size - 1);
        return false;
    }
    memcpy(out, key, strlen(key) + 1);
    return true;
}

/* 1 and the value, which is text or a number, or a fault and 0. */
static int read_value(
    const struct fulcrum_node *node, struct fulcrum_reference_setting *setting)
{
    setting->number = (double)NAN;
    if (!json_object_is_type(node->json, json_type_string)) {
        if (node->json == NULL || json_object_is_type(node->json, json_type_boolean) ||
            json_object_is_type(node->json, json_type_array) ||
            json_object_is_type(node->json, json_type_object)) {
            fulcrum_node_fault(node, FULCRUM_ERR_FORMAT, "expected a number or text");
            return 0;
        }
        return fulcrum_node_number(node, &setting->number);
    }
    return fulcrum_node_words(node, setting->text, sizeof setting->text);
}

static void read_setting(const struct fulcrum_node *node, const char *key, void *item)
{
    struct fulcrum_reference_setting *setting = item;
    if (take_key(node, key, "path", setting->path, sizeof setting->path) &&
        read_value(node, setting)) {
        check_setting(node, setting);
    }
}

static void check_number(const struct fulcrum_node *node, const char *quantity)
{
    double value = fulcrum_node_value(node);
    size_t length = strlen(quantity);
    bool is_share = length > 5 && strcmp(quantity + length - 5, "_frac") == 0;
    double most = is_share ? 1.0 : FULCRUM_REFERENCE_MOST;
    /* What an observation can be below zero: a difference, named so. */
    bool is_difference =
        strstr(quantity, "bias") != NULL || strstr(quantity, "change") != NULL;
    double least = is_difference ? -most : 0.0;
    if (!(value >= least && value <= most)) {
        fulcrum_node_fault(
            node, FULCRUM_ERR_RANGE, "expected a number from %g to %g", least, most);
    }
}

static void read_observation(
    const struct fulcrum_node *node, const char *key, void *item)
{
    static const char *const keys[] = {"value", "half_width", NULL};
    struct fulcrum_observation *observation = item;
    if (!check_word(node, key, sizeof observation->quantity) ||
        !fulcrum_node_is_object(node)) {
        return;
    }
    memcpy(observation->quantity, key, strlen(key) + 1);
    fulcrum_node_check_keys(node, keys);
    struct fulcrum_node value = fulcrum_node_member(node, "value");
    struct fulcrum_node half_width = fulcrum_node_member(node, "half_width");
    if (fulcrum_node_number(&value, &observation->value)) {
        check_number(&value, key);
    }
    /* A half-width is below zero for no quantity. */
    double half = 0.0;
    if (fulcrum_node_measured(&half_width, &observation->half_width)) {
        half = observation->half_width;
    }
    if (half < 0.0 || half > FULCRUM_REFERENCE_MOST) {
        fulcrum_node_fault(&half_width, FULCRUM_ERR_RANGE,
            "expected a number from 0 to %g", FULCRUM_REFERENCE_MOST);
    }
}

/* Room for `count` items and one more; a fault where memory ran out. */
static void *room_for(const struct fulcrum_node *node, size_t count, size_t size)
{
    void *items = calloc(count + 1, size);
    if (items == NULL) {
        fulcrum_reader_fault(
            node->reader, FULCRUM_ERR_NO_MEMORY, "%s: no memory", node->path);
    }
    return items;
}

/* Items of `size` bytes, one for each member of an object, which `read` fills. */
static void *read_map(const struct fulcrum_node *map, size_t size,
    void (*read)(const struct fulcrum_node *node, const char *key, void *item),
    size_t *count)
{
    if (!fulcrum_node_is_object(map)) {
        return NULL;
    }
    char *items = room_for(map, (size_t)json_object_object_length(map->json), size);
    struct json_object_iter member;
    json_object_object_foreachC(map->json, member)
    {
        if (items != NULL) {
            struct fulcrum_node node = fulcrum_node_member(map, member.key);
            read(&node, member.key, items + size * (*count)++);
        }
    }
    return items;
}

static void read_point(
    const struct fulcrum_node *node, struct fulcrum_reference_point *point)
{
    static const char *const keys[] = {"series", "set", "observed", NULL};
    fulcrum_node_check_keys(node, keys);
    struct fulcrum_node series = fulcrum_node_member(node, "series");
    struct fulcrum_node set = fulcrum_node_member(node, "set");
    struct fulcrum_node observed = fulcrum_node_member(node, "observed");
    if (series.json != NULL) {
        (void)fulcrum_node_text(&series, point->series, sizeof point->series);
    }
    point->settings =
        read_map(&set, sizeof *point->settings, read_setting, &point->setting_count);
    point->observations = read_map(&observed, sizeof *point->observations,
        read_observation, &point->observation_count);
    if (point->observations != NULL && point->observation_count == 0) {
        fulcrum_node_fault(
            &observed, FULCRUM_ERR_RANGE, "expected one quantity or more");
    }
}

static bool is_equal(const struct fulcrum_reference_setting *a,
    const struct fulcrum_reference_setting *b)
{
    bool is_same = a->number == b->number || (isnan(a->number) && isnan(b->number));
    return is_same && strcmp(a->path, b->path) == 0 && strcmp(a->text, b->text) == 0;
}

/* In whatever order the settings stand; paths within one point differ. */
static bool is_repeat(const struct fulcrum_reference_point *point,
    const struct fulcrum_reference_point *earlier)
{
    assert(point != NULL && earlier != NULL);
    size_t count = point->setting_count;
    if (strcmp(point->series, earlier->series) != 0 ||
        count != earlier->setting_count) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < count && !is_equal(&point->settings[i], &earlier->settings[k])) {
            k++;
        }
        if (k == count) {
            return 0;
        }
    }
    return 1;
}

/*
 * One function per member of the file, in a table with its key. What the points need
 * from the rest (the frame skip, the point that ratios refer to) is looked at once all
 * of it was read, so that the order of members does not matter.
 */

static void read_source(const struct fulcrum_node *node, const char *key, void *item)
{
    struct fulcrum_reference_source *source = item;
    if (take_key(node, key, "key", source->part, sizeof source->part)) {
        (void)fulcrum_node_words(node, source->text, sizeof source->text);
    }
}

static void read_sources(const struct fulcrum_node *map, void *loaded)
{
    struct fulcrum_reference *reference = loaded;
    reference->sources = read_map(
        map, sizeof *reference->sources, read_source, &reference->source_count);
}

/* "machine" or "workload". */
static void read_half(const struct fulcrum_node *node, void *loaded)
{
    struct fulcrum_reference *own = loaded;
    bool is_machine = strcmp(node->path, "machine") == 0;
    fulcrum_preset_read_half(node,
        is_machine ? FULCRUM_PRESET_MACHINE : FULCRUM_PRESET_WORKLOAD,
        FULCRUM_PRESET_REFERENCE, &own->design);
    memcpy(own->machine, own->design.machine.name, sizeof own->machine);
    memcpy(own->workload, own->design.workload.name, sizeof own->workload);
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
    /* A path as it was found ends with what was asked for; a preset's file does not. */
    size_t length = strlen(path);
    size_t asked = strlen(out);
    if (length < asked || strcmp(path + length - asked, out) != 0) {
        return 1;
    }
    if (length >= FULCRUM_REFERENCE_CALIBRATION_SIZE) {
        fulcrum_node_fault(node, FULCRUM_ERR_FILE,
            "expected a path of at most %d bytes",
            FULCRUM_REFERENCE_CALIBRATION_SIZE - 1);
        return 0;
    }
    memcpy(out, path, length + 1);
    return 1;
}

static void read_calibration(const struct fulcrum_node *node, void *loaded)
{
    struct fulcrum_reference *reference = loaded;
    (void)read_calibration_name(node, reference->calibration);
}

static bool has_series(const struct fulcrum_reference *reference, const char *name)
{
    size_t i = 0;
    while (
        i < reference->point_count && strcmp(reference->points[i].series, name) != 0) {
        i++;
    }
    return i < reference->point_count;
}

/* Follows the points in the table: it names their series. */
static void read_calibrations(const struct fulcrum_node *map, void *loaded)
{
    struct fulcrum_reference *reference = loaded;
    if (!fulcrum_node_is_object(map)) {
        return;
    }
    reference->calibrations = room_for(map,
        (size_t)json_object_object_length(map->json), sizeof *reference->calibrations);
    struct json_object_iter member;
    json_object_object_foreachC(map->json, member)
    {
        struct fulcrum_node node = fulcrum_node_member(map, member.key);
        if (!has_series(reference, member.key)) {
            fulcrum_reader_fault(node.reader, FULCRUM_ERR_UNKNOWN_NAME,
                "%s: expected a series of the points", node.path);
        } else if (reference->calibrations != NULL) {
            struct fulcrum_series_calibration *own =
                &reference->calibrations[reference->calibration_count];
            if (read_calibration_name(&node, own->calibration)) {
                memcpy(own->series, member.key, strlen(member.key) + 1);
                reference->calibration_count++;
            }
        }
    }
}

static void read_predictor(const struct fulcrum_node *node, void *loaded)
{
    struct fulcrum_reference *reference = loaded;
    int index = fulcrum_record_choice(node, fulcrum_predictor_name);
    if (index >= 0) {
        reference->predictor = (enum fulcrum_predictor_kind)index;
    }
}

static void read_frame_skip(const struct fulcrum_node *node, void *loaded)
{
    struct fulcrum_reference *reference = loaded;
    double skip = fulcrum_node_value(node);
    if (skip >= 1.0 && skip <= FULCRUM_REFERENCE_FRAME_SKIP_MOST &&
        skip == floor(skip)) {
        reference->frame_skip = skip;
        return;
    }
    fulcrum_node_fault(node, FULCRUM_ERR_RANGE, "expected a whole number from 1 to %g",
        FULCRUM_REFERENCE_FRAME_SKIP_MOST);
}

static void read_drift_sd(const struct fulcrum_node *node, void *loaded)
{
    struct fulcrum_reference *reference = loaded;
    double sd = fulcrum_node_value(node);
    if (sd >= 0.0 && sd <= FULCRUM_REFERENCE_DRIFT_SD_MOST) {
        reference->drift_sd = sd;
        return;
    }
    fulcrum_node_fault(node, FULCRUM_ERR_RANGE, "expected a number from 0 to %g",
        FULCRUM_REFERENCE_DRIFT_SD_MOST);
}

/* Follows the points in the table: it counts them. */
static void read_relative_to(const struct fulcrum_node *node, void *loaded)
{
    struct fulcrum_reference *reference = loaded;
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

/* A fault for a point that has series and settings of an earlier one. */
static void check_repeats(
    const struct fulcrum_node *array, const struct fulcrum_reference *reference)
{
    for (size_t i = 1; i < reference->point_count; i++) {
        size_t j = 0;
        while (j < i && !is_repeat(&reference->points[i], &reference->points[j])) {
            j++;
        }
        if (j < i) {
            fulcrum_reader_fault(array->reader, FULCRUM_ERR_FORMAT,
                "%s[%zu] has the series and the settings of %s[%zu]: expected each "
                "point once",
                array->path, i, array->path, j);
        }
    }
}

/* As they stand there, then rates in steps. */
static void read_points(const struct fulcrum_node *array, void *loaded)
{
    struct fulcrum_reference *reference = loaded;
    size_t count = 0;
    if (!fulcrum_node_is_array(array, &count)) {
        return;
    }
    if (count == 0) {
        fulcrum_node_fault(array, FULCRUM_ERR_RANGE, "expected one point or more");
        return;
    }
    reference->points = room_for(array, count, sizeof *reference->points);
    for (size_t i = 0; reference->points != NULL && i < count; i++) {
        struct fulcrum_node element = fulcrum_node_element(array, i);
        reference->points[reference->point_count++].index = i;
        if (fulcrum_node_is_object(&element)) {
            read_point(&element, &reference->points[i]);
        }
    }
    check_repeats(array, reference);
    /* Frames become steps; a point that has both is a fault. */
    for (size_t i = 0; i < reference->point_count; i++) {
        struct fulcrum_observation *frames =
            fulcrum_reference_find_observation(&reference->points[i], "frames_per_s");
        if (frames == NULL) {
            continue;
        }
        if (fulcrum_reference_find_observation(&reference->points[i], "steps_per_s") !=
            NULL) {
            fulcrum_reader_fault(array->reader, FULCRUM_ERR_FORMAT,
                "%s[%zu].observed has frames_per_s and steps_per_s: expected one of "
                "them",
                array->path, i);
            continue;
        }
        (void)snprintf(frames->quantity, sizeof frames->quantity, "%s", "steps_per_s");
        frames->value /= reference->frame_skip;
        frames->half_width /= reference->frame_skip;
    }
}

#define OPTIONAL_TEXT(member)                                                          \
    FULCRUM_RECORD_ROW(fulcrum_reference, member, TEXT, .is_optional = true,           \
        .size = sizeof(((struct fulcrum_reference *)NULL)->member))

/* In this order: points need the frame skip; what is relative, and calibrations by
 * series, the points. */
static const struct fulcrum_file_part parts[] = {
    {{.key = "source"}, read_sources, false},
    {OPTIONAL_TEXT(note), NULL, false},
    {{.key = "machine", .is_optional = true}, read_half, false},
    {{.key = "workload", .is_optional = true}, read_half, false},
    {{.key = "calibration", .is_optional = true}, read_calibration, false},
    {{.key = "predictor"}, read_predictor, false},
    {OPTIONAL_TEXT(not_predicted), NULL, false},
    {{.key = "frame_skip", .is_optional = true}, read_frame_skip, false},
    {{.key = "drift_sd", .is_optional = true}, read_drift_sd, false},
    {{.key = "points"}, read_points, false},
    {{.key = "relative_to", .is_optional = true}, read_relative_to, false},
    {{.key = "calibrations", .is_optional = true}, read_calibrations, false},
    {{.key = NULL}, NULL, false},
};

/* A member, or a series, setting or quantity of a point. */
static bool is_part(const struct fulcrum_reference *reference, const char *key)
{
    for (size_t i = 0; parts[i].row.key != NULL; i++) {
        if (strcmp(parts[i].row.key, key) == 0) {
            return 1;
        }
    }
    for (size_t i = 0; i < reference->point_count; i++) {
        const struct fulcrum_reference_point *point = &reference->points[i];
        bool is_found = strcmp(point->series, key) == 0 ||
                        fulcrum_reference_find_observation(point, key) != NULL;
        for (size_t k = 0; k < point->setting_count && !is_found; k++) {
            is_found = strcmp(point->settings[k].path, key) == 0;
        }
        if (is_found) {
            return 1;
        }
    }
    return 0;
}

/* No number without a source; presets named here have their own. */
static void check_sources(const struct fulcrum_node *root, void *loaded)
{
    static const char *const sourced[] = {"points", "machine", "workload"};
    const struct fulcrum_reference *reference = loaded;
    struct fulcrum_node source = fulcrum_node_member(root, "source");
    if (!json_object_is_type(source.json, json_type_object)) {
        return;
    }
    for (size_t i = 0; i < sizeof sourced / sizeof sourced[0]; i++) {
        struct fulcrum_node part = fulcrum_node_member(root, sourced[i]);
        struct fulcrum_node text = fulcrum_node_member(&source, sourced[i]);
        bool is_own = i == 0 || json_object_is_type(part.json, json_type_object);
        if (is_own && text.json == NULL) {
            fulcrum_node_fault(&text, FULCRUM_ERR_MISSING,
                "expected where the values of \"%s\" were read", sourced[i]);
        }
    }
    /* A source of nothing is most likely a mistyped name: what it is for has none. */
    for (size_t i = 0; i < reference->source_count; i++) {
        const char *key = reference->sources[i].part;
        struct fulcrum_node node = fulcrum_node_member(&source, key);
        if (node.json != NULL && !is_part(reference, key)) {
            fulcrum_reader_fault(node.reader, FULCRUM_ERR_FORMAT,
                "%s: unknown key: expected a member of the file, or a series, setting "
                "or quantity of its points",
                node.path);
        }
    }
}

enum fulcrum_status fulcrum_reference_load(
    const char *name, struct fulcrum_reference **out, struct fulcrum_error *err)
{
    static const struct fulcrum_file_form form = {
        FULCRUM_PRESET_REFERENCE, parts, check_sources};
    char path[FULCRUM_PRESET_PATH_SIZE];
    TRY(fulcrum_preset_find(FULCRUM_PRESET_REFERENCE, name, NULL, path, err));
    struct fulcrum_reference *reference = calloc(1, sizeof *reference);
    TRY_MEMORY(reference, err, "%s", name);
    fulcrum_design_init(&reference->design);
    reference->frame_skip = 1.0;
    enum fulcrum_status status = fulcrum_file_load(&form, path, reference, err);
    if (status != FULCRUM_OK) {
        fulcrum_reference_free(reference);
        return status;
    }
    *out = reference;
    return FULCRUM_OK;
}

static void add_text(struct json_object *object, const char *key, const char *text)
{
    if (text[0] != '\0') {
        fulcrum_json_add_text(object, key, text);
    }
}

static void add_half(struct json_object *root,
    const struct fulcrum_reference *reference, enum fulcrum_preset_kind kind)
{
    bool is_machine = kind == FULCRUM_PRESET_MACHINE;
    const char *name = is_machine ? reference->machine : reference->workload;
    if (name[0] == '\0') {
        return;
    }
    struct json_object *object =
        fulcrum_json_add_object(root, is_machine ? "machine" : "workload");
    fulcrum_json_add_text(object, "name", name);
    add_text(object, "title",
        is_machine ? reference->design.machine.title
                   : reference->design.workload.title);
    fulcrum_preset_write_half(&reference->design, NULL, kind, object);
}

enum fulcrum_status fulcrum_reference_save(const struct fulcrum_reference *reference,
    const char *path, struct fulcrum_error *err)
{
    FAIL_IF(reference->name[0] == '\0' || reference->source_count == 0, err,
        FULCRUM_ERR_MISSING,
        "%s: a reference needs a name and a source before it is saved",
        path != NULL ? path : "-");
    /* The order of members is part of the format: same content, same bytes. */
    struct json_object *root = fulcrum_json_new_object();
    fulcrum_file_header_write(
        root, FULCRUM_PRESET_REFERENCE, reference->name, reference->title);
    struct json_object *source = fulcrum_json_add_object(root, "source");
    for (size_t i = 0; i < reference->source_count; i++) {
        fulcrum_json_add_text(
            source, reference->sources[i].part, reference->sources[i].text);
    }
    add_text(root, "note", reference->note);
    add_half(root, reference, FULCRUM_PRESET_MACHINE);
    add_half(root, reference, FULCRUM_PRESET_WORKLOAD);
    add_text(root, "calibration", reference->calibration);
    struct json_object *calibrations =
        reference->calibration_count > 0 ? fulcrum_json_add_object(root, "calibrations")
                                         : NULL;
    for (size_t i = 0; i < reference->calibration_count; i++) {
        fulcrum_json_add_text(calibrations, reference->calibrations[i].series,
            reference->calibrations[i].calibration);
    }
    fulcrum_json_add_text(
        root, "predictor", fulcrum_predictor_name((int)reference->predictor));
    add_text(root, "not_predicted", reference->not_predicted);
    fulcrum_json_add_number(root, "frame_skip", 1.0);
    if (reference->drift_sd > 0.0) {
        fulcrum_json_add_number(root, "drift_sd", reference->drift_sd);
    }
    if (reference->is_relative) {
        fulcrum_json_add_number(root, "relative_to", (double)reference->relative_to);
    }
    struct json_object *points = fulcrum_json_add_array(root, "points");
    for (size_t i = 0; i < reference->point_count; i++) {
        const struct fulcrum_reference_point *point = &reference->points[i];
        struct json_object *object = fulcrum_json_add_object(points, NULL);
        add_text(object, "series", point->series);
        struct json_object *set = fulcrum_json_add_object(object, "set");
        for (size_t j = 0; j < point->setting_count; j++) {
            const struct fulcrum_reference_setting *setting = &point->settings[j];
            if (isnan(setting->number)) {
                fulcrum_json_add_text(set, setting->path, setting->text);
            } else {
                fulcrum_json_add_number(set, setting->path, setting->number);
            }
        }
        struct json_object *observed = fulcrum_json_add_object(object, "observed");
        for (size_t j = 0; j < point->observation_count; j++) {
            const struct fulcrum_observation *observation = &point->observations[j];
            struct json_object *value =
                fulcrum_json_add_object(observed, observation->quantity);
            fulcrum_json_add_number(value, "value", observation->value);
            fulcrum_json_add_number(value, "half_width", observation->half_width);
        }
    }
    return fulcrum_json_save(root, path, err);
}
