/* reference_points.c - the points of a reference file: settings and observations. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A setting is a field of the design or a condition that only the source knows, told
 * apart by the dot in its path: a mistyped field is thus never taken for a condition.
 */
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/design.h"
#include "presets/reference_file.h"

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

/* What the field's setter expected; the node says what stood there. */
static void fault_from_setter(
    const struct fulcrum_node *node, const struct fulcrum_error *failure)
{
    const char *expected = strstr(failure->detail, "expected");
    fulcrum_node_fault(
        node, failure->status, "%s", expected != NULL ? expected : failure->detail);
}

/* Whether a design would take the value is asked of a design nobody keeps. */
static void check_field(const struct fulcrum_node *node,
    const struct fulcrum_field *field, const struct fulcrum_reference_setting *setting)
{
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    struct fulcrum_error failure = {FULCRUM_OK, ""};
    int is_text = isnan(setting->number);
    int is_number =
        field->kind == FULCRUM_FIELD_NUMBER || field->kind == FULCRUM_FIELD_COUNT;
    enum fulcrum_status status =
        is_text && !is_number
            ? fulcrum_field_set_text(field, &design, setting->text, &failure)
            : fulcrum_field_set_number(field, &design, setting->number, &failure);
    if (status != FULCRUM_OK) {
        fault_from_setter(node, &failure);
    }
}

static void check_env_count(
    const struct fulcrum_node *node, const struct fulcrum_reference_setting *setting)
{
    double count = setting->number;
    if (!(count >= 1.0 && count <= ENV_COUNT_MOST && count == floor(count))) {
        fulcrum_node_fault(node, FULCRUM_ERR_RANGE,
            "expected a whole number from 1 to %g", ENV_COUNT_MOST);
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

static void fault_unknown_path(const struct fulcrum_node *node, const char *path)
{
    const char *nearest = fulcrum_field_nearest(path);
    fulcrum_reader_fault(node->reader, FULCRUM_ERR_UNKNOWN_NAME,
        "%s: no field is called so%s%s%s", node->path,
        nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
        nearest != NULL ? "?" : "");
}

static void check_setting(
    const struct fulcrum_node *node, const struct fulcrum_reference_setting *setting)
{
    if (strcmp(setting->path, FULCRUM_REFERENCE_ENV_COUNT) == 0) {
        check_env_count(node, setting);
    } else if (strchr(setting->path, '.') == NULL) {
        check_condition(node, setting);
    } else if (fulcrum_field_find(setting->path) != NULL) {
        check_field(node, fulcrum_field_find(setting->path), setting);
    } else {
        fault_unknown_path(node, setting->path);
    }
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
    if (!fulcrum_node_text(node, setting->text, sizeof setting->text)) {
        return 0;
    }
    if (setting->text[0] == '\0') {
        fulcrum_node_fault(node, FULCRUM_ERR_RANGE, "expected some text");
        return 0;
    }
    return 1;
}

static void read_setting(const struct fulcrum_node *set, const char *key,
    struct fulcrum_reference_setting *setting)
{
    struct fulcrum_node node = fulcrum_node_member(set, key);
    if (strlen(key) >= sizeof setting->path) {
        fulcrum_reader_fault(node.reader, FULCRUM_ERR_RANGE,
            "%s: expected a path of at most %zu bytes", node.path,
            sizeof setting->path - 1);
        return;
    }
    memcpy(setting->path, key, strlen(key) + 1);
    if (read_value(&node, setting)) {
        check_setting(&node, setting);
    }
}

/* What an observation can be below zero: a difference, named so. */
static int may_be_negative(const char *quantity)
{
    return strstr(quantity, "bias") != NULL || strstr(quantity, "change") != NULL;
}

static int is_share(const char *quantity)
{
    size_t length = strlen(quantity);
    return length > 5 && strcmp(quantity + length - 5, "_frac") == 0;
}

static void check_number(const struct fulcrum_node *node, const char *quantity)
{
    double value = fulcrum_node_value(node);
    double most = is_share(quantity) ? 1.0 : FULCRUM_REFERENCE_MOST;
    double least = may_be_negative(quantity) ? -most : 0.0;
    if (!(value >= least && value <= most)) {
        fulcrum_node_fault(
            node, FULCRUM_ERR_RANGE, "expected a number from %g to %g", least, most);
    }
}

/* A half-width is below zero for no quantity. */
static void check_half_width(const struct fulcrum_node *node, double half_width)
{
    if (!isnan(half_width) &&
        !(half_width >= 0.0 && half_width <= FULCRUM_REFERENCE_MOST)) {
        fulcrum_node_fault(node, FULCRUM_ERR_RANGE, "expected a number from 0 to %g",
            FULCRUM_REFERENCE_MOST);
    }
}

static void read_observation(const struct fulcrum_node *observed, const char *key,
    struct fulcrum_observation *observation)
{
    static const char *const keys[] = {"value", "half_width", NULL};
    struct fulcrum_node node = fulcrum_node_member(observed, key);
    if (!check_word(&node, key, sizeof observation->quantity) ||
        !fulcrum_node_is_object(&node)) {
        return;
    }
    memcpy(observation->quantity, key, strlen(key) + 1);
    fulcrum_node_check_keys(&node, keys);
    struct fulcrum_node value = fulcrum_node_member(&node, "value");
    struct fulcrum_node half_width = fulcrum_node_member(&node, "half_width");
    if (fulcrum_node_number(&value, &observation->value)) {
        check_number(&value, key);
    }
    if (fulcrum_node_measured(&half_width, &observation->half_width)) {
        check_half_width(&half_width, observation->half_width);
    }
}

/* Room for one item a member; NULL where the object has none or memory ran out. */
static void *room_for_members(const struct fulcrum_node *object, size_t size)
{
    size_t count = (size_t)json_object_object_length(object->json);
    void *items = count > 0 ? calloc(count, size) : NULL;
    if (count > 0 && items == NULL) {
        fulcrum_reader_fault(
            object->reader, FULCRUM_ERR_NO_MEMORY, "%s: no memory", object->path);
    }
    return items;
}

static void read_settings(
    const struct fulcrum_node *set, struct fulcrum_reference_point *point)
{
    if (!fulcrum_node_is_object(set)) {
        return;
    }
    point->settings = room_for_members(set, sizeof *point->settings);
    struct json_object_iterator at = json_object_iter_begin(set->json);
    struct json_object_iterator end = json_object_iter_end(set->json);
    for (; point->settings != NULL && !json_object_iter_equal(&at, &end);
         json_object_iter_next(&at)) {
        read_setting(set, json_object_iter_peek_name(&at),
            &point->settings[point->setting_count++]);
    }
}

static void read_observations(
    const struct fulcrum_node *observed, struct fulcrum_reference_point *point)
{
    if (!fulcrum_node_is_object(observed)) {
        return;
    }
    if (json_object_object_length(observed->json) == 0) {
        fulcrum_node_fault(
            observed, FULCRUM_ERR_RANGE, "expected one quantity or more");
    }
    point->observations = room_for_members(observed, sizeof *point->observations);
    struct json_object_iterator at = json_object_iter_begin(observed->json);
    struct json_object_iterator end = json_object_iter_end(observed->json);
    for (; point->observations != NULL && !json_object_iter_equal(&at, &end);
         json_object_iter_next(&at)) {
        read_observation(observed, json_object_iter_peek_name(&at),
            &point->observations[point->observation_count++]);
    }
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
    read_settings(&set, point);
    read_observations(&observed, point);
}

void fulcrum_reference_read_points(
    const struct fulcrum_node *array, struct fulcrum_reference *reference)
{
    size_t count = 0;
    if (!fulcrum_node_is_array(array, &count)) {
        return;
    }
    if (count == 0) {
        fulcrum_node_fault(array, FULCRUM_ERR_RANGE, "expected one point or more");
        return;
    }
    reference->points = calloc(count, sizeof *reference->points);
    if (reference->points == NULL) {
        fulcrum_reader_fault(
            array->reader, FULCRUM_ERR_NO_MEMORY, "%s: no memory", array->path);
        return;
    }
    reference->point_count = count;
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_node element = fulcrum_node_element(array, i);
        reference->points[i].index = i;
        if (fulcrum_node_is_object(&element)) {
            read_point(&element, &reference->points[i]);
        }
    }
}

static int has_setting(const struct fulcrum_reference_point *point,
    const struct fulcrum_reference_setting *wanted)
{
    for (size_t i = 0; i < point->setting_count; i++) {
        const struct fulcrum_reference_setting *setting = &point->settings[i];
        int is_equal = isnan(wanted->number) ? isnan(setting->number)
                                             : setting->number == wanted->number;
        if (is_equal && strcmp(setting->path, wanted->path) == 0 &&
            strcmp(setting->text, wanted->text) == 0) {
            return 1;
        }
    }
    return 0;
}

/* In whatever order the settings stand; paths within one point differ. */
static int is_repeat(const struct fulcrum_reference_point *point,
    const struct fulcrum_reference_point *earlier)
{
    if (strcmp(point->series, earlier->series) != 0 ||
        point->setting_count != earlier->setting_count) {
        return 0;
    }
    for (size_t i = 0; i < point->setting_count; i++) {
        if (!has_setting(earlier, &point->settings[i])) {
            return 0;
        }
    }
    return 1;
}

void fulcrum_reference_check_repeats(
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

static struct fulcrum_observation *find_observation(
    const struct fulcrum_reference_point *point, const char *quantity)
{
    for (size_t i = 0; i < point->observation_count; i++) {
        if (strcmp(point->observations[i].quantity, quantity) == 0) {
            return &point->observations[i];
        }
    }
    return NULL;
}

void fulcrum_reference_convert_frames(
    const struct fulcrum_node *array, struct fulcrum_reference *reference)
{
    for (size_t i = 0; i < reference->point_count; i++) {
        struct fulcrum_observation *frames =
            find_observation(&reference->points[i], "frames_per_s");
        if (frames == NULL) {
            continue;
        }
        if (find_observation(&reference->points[i], "steps_per_s") != NULL) {
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
