/* reference_save.c - references into files. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "presets/reference_save.h"

#include <math.h>
#include <string.h>

#include "presets/json.h"
#include "presets/preset.h"
#include "presets/reference_file.h"
#include "presets/sheet.h"

static void add_text(struct fulcrum_json *object, const char *key, const char *text)
{
    if (text[0] != '\0') {
        fulcrum_json_add_text(object, key, text);
    }
}

static void add_half(struct fulcrum_json *root,
    const struct fulcrum_reference *reference, enum fulcrum_preset_kind kind)
{
    int is_machine = kind == FULCRUM_PRESET_MACHINE;
    const char *name = is_machine ? reference->machine : reference->workload;
    if (name[0] == '\0') {
        return;
    }
    struct fulcrum_json *object =
        fulcrum_json_add_object(root, is_machine ? "machine" : "workload");
    fulcrum_json_add_text(object, "name", name);
    add_text(object, "title",
        is_machine ? reference->design.machine.title
                   : reference->design.workload.title);
    fulcrum_sheet_write(&reference->design, kind, object);
}

static void add_sources(
    struct fulcrum_json *root, const struct fulcrum_reference *reference)
{
    struct fulcrum_json *object = fulcrum_json_add_object(root, "source");
    for (size_t i = 0; i < reference->source_count; i++) {
        fulcrum_json_add_text(
            object, reference->sources[i].part, reference->sources[i].text);
    }
}

static void add_calibrations(
    struct fulcrum_json *root, const struct fulcrum_reference *reference)
{
    add_text(root, "calibration", reference->calibration);
    if (reference->calibration_count == 0) {
        return;
    }
    struct fulcrum_json *object = fulcrum_json_add_object(root, "calibrations");
    for (size_t i = 0; i < reference->calibration_count; i++) {
        fulcrum_json_add_text(object, reference->calibrations[i].series,
            reference->calibrations[i].calibration);
    }
}

static void add_point(
    struct fulcrum_json *array, const struct fulcrum_reference_point *point)
{
    struct fulcrum_json *object = fulcrum_json_append_object(array);
    add_text(object, "series", point->series);
    struct fulcrum_json *set = fulcrum_json_add_object(object, "set");
    for (size_t i = 0; i < point->setting_count; i++) {
        const struct fulcrum_reference_setting *setting = &point->settings[i];
        if (isnan(setting->number)) {
            fulcrum_json_add_text(set, setting->path, setting->text);
        } else {
            fulcrum_json_add_number(set, setting->path, setting->number);
        }
    }
    struct fulcrum_json *observed = fulcrum_json_add_object(object, "observed");
    for (size_t i = 0; i < point->observation_count; i++) {
        const struct fulcrum_observation *observation = &point->observations[i];
        struct fulcrum_json *value =
            fulcrum_json_add_object(observed, observation->quantity);
        fulcrum_json_add_number(value, "value", observation->value);
        fulcrum_json_add_number(value, "half_width", observation->half_width);
    }
}

/* The order of members is part of the format: same content, same bytes. */
static struct fulcrum_json *build(const struct fulcrum_reference *reference)
{
    struct fulcrum_json *root = fulcrum_json_new_object();
    struct fulcrum_json *schema = fulcrum_json_add_object(root, "schema");
    fulcrum_json_add_text(schema, "name", FULCRUM_REFERENCE_SCHEMA);
    fulcrum_json_add_number(schema, "version", FULCRUM_REFERENCE_VERSION);
    fulcrum_json_add_text(root, "kind", "reference");
    fulcrum_json_add_text(root, "name", reference->name);
    fulcrum_json_add_text(root, "title", reference->title);
    add_sources(root, reference);
    add_text(root, "note", reference->note);
    add_half(root, reference, FULCRUM_PRESET_MACHINE);
    add_half(root, reference, FULCRUM_PRESET_WORKLOAD);
    add_calibrations(root, reference);
    fulcrum_json_add_text(
        root, "predictor", fulcrum_predictor_name((size_t)reference->predictor));
    add_text(root, "not_predicted", reference->not_predicted);
    fulcrum_json_add_number(root, "frame_skip", 1.0);
    if (reference->is_relative) {
        fulcrum_json_add_number(root, "relative_to", (double)reference->relative_to);
    }
    struct fulcrum_json *points = fulcrum_json_add_array(root, "points");
    for (size_t i = 0; i < reference->point_count; i++) {
        add_point(points, &reference->points[i]);
    }
    return root;
}

enum fulcrum_status fulcrum_reference_save(const struct fulcrum_reference *reference,
    const char *path, struct fulcrum_error *err)
{
    if (reference->name[0] == '\0' || reference->source_count == 0) {
        return fulcrum_fail(err, FULCRUM_ERR_MISSING,
            "%s: a reference needs a name and a source before it is saved",
            path != NULL ? path : "-");
    }
    return fulcrum_json_save(build(reference), path, err);
}
