/* calibration_samples.c - the samples and figures of a calibration file. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "presets/calibration_file.h"

void fulcrum_calibration_note_status(
    const struct fulcrum_node *node, enum fulcrum_status status)
{
    if (status != FULCRUM_OK) {
        fulcrum_node_fault(node, status, "%s", fulcrum_status_text(status));
    }
}

void fulcrum_calibration_read_elements(const struct fulcrum_node *array,
    struct fulcrum_calibration *calibration, fulcrum_calibration_part *read)
{
    size_t count = 0;
    if (!fulcrum_node_is_array(array, &count)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_node element = fulcrum_node_element(array, i);
        if (fulcrum_node_is_object(&element)) {
            read(&element, calibration);
        }
    }
}

static void read_series_text(
    const struct fulcrum_node *node, struct fulcrum_series *series)
{
    struct fulcrum_node name = fulcrum_node_member(node, "name");
    struct fulcrum_node unit = fulcrum_node_member(node, "unit");
    struct fulcrum_node x_name = fulcrum_node_member(node, "x_name");
    struct fulcrum_node condition = fulcrum_node_member(node, "condition");
    (void)fulcrum_node_text(&name, series->name, sizeof series->name);
    (void)fulcrum_node_text(&unit, series->unit, sizeof series->unit);
    (void)fulcrum_node_text(&x_name, series->x_name, sizeof series->x_name);
    (void)fulcrum_node_text(&condition, series->condition, sizeof series->condition);
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
    read_series_text(node, &series);
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
        fulcrum_calibration_note_status(
            node, fulcrum_calibration_add_series(calibration, &series, NULL));
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
    struct fulcrum_node name = fulcrum_node_member(node, "name");
    struct fulcrum_node value = fulcrum_node_member(node, "value");
    struct fulcrum_node unit = fulcrum_node_member(node, "unit");
    struct fulcrum_node interval = fulcrum_node_member(node, "interval");
    (void)fulcrum_node_text(&name, quantity.name, sizeof quantity.name);
    (void)fulcrum_node_measured(&value, &quantity.value);
    (void)fulcrum_node_text(&unit, quantity.unit, sizeof quantity.unit);
    double *bounds = fulcrum_node_row(&interval, 2);
    if (bounds != NULL) {
        quantity.lo = bounds[0];
        quantity.hi = bounds[1];
        fulcrum_calibration_note_status(
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
    const struct {
        const char *key;
        char *out;
        size_t size;
    } texts[] = {{"name", fit.name, sizeof fit.name},
        {"form", fit.form, sizeof fit.form},
        {"warning", fit.warning, sizeof fit.warning}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct fulcrum_node text = fulcrum_node_member(node, texts[i].key);
        (void)fulcrum_node_text(&text, texts[i].out, texts[i].size);
    }
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
    fulcrum_calibration_note_status(
        node, fulcrum_calibration_add_fit(calibration, &fit, NULL));
}

void fulcrum_calibration_read_series(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration)
{
    fulcrum_calibration_read_elements(node, calibration, read_series);
}

void fulcrum_calibration_read_quantities(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration)
{
    fulcrum_calibration_read_elements(node, calibration, read_quantity);
}

void fulcrum_calibration_read_fits(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration)
{
    fulcrum_calibration_read_elements(node, calibration, read_fit);
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
        fulcrum_calibration_note_status(
            &node, fulcrum_calibration_add_note(calibration, key, note.text, NULL));
    }
}

void fulcrum_calibration_read_notes(
    const struct fulcrum_node *node, struct fulcrum_calibration *calibration)
{
    if (!fulcrum_node_is_object(node)) {
        return;
    }
    struct json_object_iterator at = json_object_iter_begin(node->json);
    struct json_object_iterator end = json_object_iter_end(node->json);
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        read_note(node, json_object_iter_peek_name(&at), calibration);
    }
}
