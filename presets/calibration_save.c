/* calibration_save.c - calibrations into files. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "presets/calibration_file.h"
#include "presets/json.h"
#include "presets/preset.h"
#include "presets/sheet.h"

static void add_machine(
    struct fulcrum_json *root, const struct fulcrum_machine *machine)
{
    struct fulcrum_json *object = fulcrum_json_add_object(root, "machine");
    fulcrum_json_add_text(object, "name", machine->name);
    fulcrum_json_add_text(object, "title", machine->title);
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    design.machine = *machine;
    fulcrum_sheet_write(&design, FULCRUM_PRESET_MACHINE, object);
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
static int is_diagonal(const struct fulcrum_calibration *calibration)
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

static void add_covariance(
    struct fulcrum_json *root, const struct fulcrum_calibration *calibration)
{
    size_t n = calibration->parameter_count;
    if (is_diagonal(calibration)) {
        return;
    }
    struct fulcrum_json *array = fulcrum_json_add_array(root, "covariance");
    for (size_t i = 0; i < n; i++) {
        struct fulcrum_json *row = fulcrum_json_append_array(array);
        for (size_t j = 0; j < n; j++) {
            fulcrum_json_append_number(row, calibration->covariance[i * n + j]);
        }
    }
}

static void add_draws(
    struct fulcrum_json *root, const struct fulcrum_calibration *calibration)
{
    size_t n = calibration->parameter_count;
    if (calibration->draw_count == 0) {
        return;
    }
    struct fulcrum_json *array = fulcrum_json_add_array(root, "draws");
    for (size_t k = 0; k < calibration->draw_count; k++) {
        struct fulcrum_json *row = fulcrum_json_append_array(array);
        for (size_t i = 0; i < n; i++) {
            fulcrum_json_append_number(row, calibration->draws[k * n + i]);
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
static int is_repeated(const struct fulcrum_calibration *calibration, size_t i)
{
    for (size_t j = i + 1; j < calibration->note_count; j++) {
        if (strcmp(calibration->notes[i].key, calibration->notes[j].key) == 0) {
            return 1;
        }
    }
    return 0;
}

static void add_notes(
    struct fulcrum_json *root, const struct fulcrum_calibration *calibration)
{
    struct fulcrum_json *object = fulcrum_json_add_object(root, "notes");
    for (size_t i = 0; i < calibration->note_count; i++) {
        if (!is_repeated(calibration, i)) {
            fulcrum_json_add_text(
                object, calibration->notes[i].key, calibration->notes[i].text);
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
    add_machine(root, &calibration->machine);
    add_parameters(root, calibration);
    add_covariance(root, calibration);
    add_draws(root, calibration);
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
    if (calibration->name[0] == '\0') {
        return fulcrum_fail(err, FULCRUM_ERR_MISSING,
            "%s: a calibration needs a name before it is saved",
            path != NULL ? path : "-");
    }
    return fulcrum_json_save(build(calibration), path, err);
}
