/* plot_parity.c - what a chart of a validation needs beside its points. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/plot/plot_job.h"
#include "model/quantity.h"
#include "model/try.h"

enum { FAMILIES_MAX = 8, NAME_SIZE = 64 };

/* A family of references, and how many of them there are. */
struct family {
    char name[NAME_SIZE];
    const char *last; /* the reference that was met last: files keep them together */
    size_t references;
};

struct parity {
    struct fulcrum_table *points;
    size_t family_count;
    struct family families[FAMILIES_MAX];
};

/* Units must not be mixed on one axis, and the end of a quantity's name is its unit;
 * NULL: units of no panel. */
static const char *units_of(const char *quantity)
{
    static const struct {
        const char *end;
        const char *units;
    } ends[] = {{"steps_per_s", "rates"}, {"_w", "watts"}, {"speedup", "ratios"},
        {"_rel", "ratios"}, {"_frac", "ratios"}};
    size_t length = strlen(quantity);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        size_t end = strlen(ends[i].end);
        if (length >= end && strcmp(quantity + length - end, ends[i].end) == 0) {
            return ends[i].units;
        }
    }
    return NULL;
}

/*
 * Of units of no panel of their own: a ratio to the first point of the curve is
 * comparable with other ratios, and off by the same factor as the value itself.
 */
static double unit_at(const struct fulcrum_table *points, size_t row)
{
    static const char *const keys[] = {
        "reference", "calibration", "series", "quantity"};
    size_t first = 0;
    for (size_t k = 0; k < sizeof keys / sizeof keys[0] && first < row;) {
        const char *text = fulcrum_plot_text(points, row, keys[k]);
        bool is_same = fulcrum_plot_says(points, first, keys[k], text);
        first += is_same ? 0 : 1;
        k = is_same ? k + 1 : 0;
    }
    double unit = fulcrum_plot_number(points, first, "observed");
    return unit > 0.0 ? unit : FULCRUM_UNKNOWN;
}

/*
 * Presets of one source begin alike: "envpool-atari-laptop" is one of "envpool". More
 * families than colours share the last.
 */
static size_t family_of(struct parity *parity, const char *reference)
{
    char name[NAME_SIZE];
    size_t i = 0;
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(reference, "-"), reference);
    while (i < parity->family_count && strcmp(parity->families[i].name, name) != 0) {
        i++;
    }
    if (i == FAMILIES_MAX) {
        i = FAMILIES_MAX - 1;
        (void)snprintf(parity->families[i].name, NAME_SIZE, "others");
    } else if (i == parity->family_count) {
        memcpy(parity->families[i].name, name, sizeof name);
        parity->family_count++;
    }
    struct family *family = &parity->families[i];
    if (family->last == NULL || strcmp(family->last, reference) != 0) {
        family->last = reference;
        family->references++;
    }
    return i;
}

/* Points whose rounding reaches down to 0 keep the place of the point itself. */
static void add_comparison(struct parity *parity, size_t row)
{
    struct fulcrum_table *table = parity->points;
    struct fulcrum_cell predicted = fulcrum_table_at(table, row, "predicted");
    const char *units = units_of(fulcrum_plot_text(table, row, "quantity"));
    double unit = units == NULL ? unit_at(table, row) : 1.0;
    double measured = fulcrum_plot_number(table, row, "observed") / unit;
    double half = fulcrum_plot_number(table, row, "half_width") / unit;
    bool is_fitted = fulcrum_plot_says(table, row, "kind", "fitted");
    /* Intervals of fitted points would only hide those that count. */
    bool has_bar = !is_fitted && predicted.lo > 0.0 && predicted.hi > 0.0;
    bool is_usable = measured > 0.0 && predicted.number / unit > 0.0;
    half = isfinite(half) ? half : 0.0;
    double scale = is_usable ? 1.0 / unit : FULCRUM_UNKNOWN;
    double bar = has_bar ? scale : FULCRUM_UNKNOWN;
    predicted = (struct fulcrum_cell){
        predicted.number * scale, predicted.lo * bar, predicted.hi * bar, NULL};
    fulcrum_table_return(table, row);
    fulcrum_table_number(table, "place", NULL,
        (double)family_of(parity, fulcrum_plot_text(table, row, "reference")));
    fulcrum_table_text(table, "units", NULL, units != NULL ? units : "ratios");
    fulcrum_table_estimate(table, "measured", NULL, measured,
        half < measured ? measured - half : measured, measured + half);
    fulcrum_plot_cell_add(table, "prediction", predicted);
    fulcrum_plot_error_add(table, predicted, is_usable ? measured : FULCRUM_UNKNOWN);
    fulcrum_table_text(table, "state", NULL, is_fitted ? "fitted" : "");
}

/* Points that the fit has seen are no test and do not count. */
static void add_finding(struct fulcrum_result *result,
    const struct fulcrum_table *points, const char *units)
{
    size_t predicted = 0;
    size_t fitted = 0;
    double sum = 0.0;
    char text[96];
    for (size_t i = 0; i < fulcrum_table_rows(points); i++) {
        double error = fulcrum_plot_number(points, i, "error");
        if (!fulcrum_plot_says(points, i, "units", units) || !isfinite(error)) {
            continue;
        }
        if (fulcrum_plot_says(points, i, "state", "fitted")) {
            fitted++;
        } else {
            predicted++;
            sum += fabs(error);
        }
    }
    if (predicted > 0) {
        (void)snprintf(text, sizeof text, "mean error %.2g %% over %zu predicted",
            sum / (double)predicted, predicted);
    } else {
        (void)snprintf(text, sizeof text, "%zu fitted, none predicted", fitted);
    }
    fulcrum_plot_guide_add(result, 0, units, FULCRUM_UNKNOWN, text);
}

enum fulcrum_status fulcrum_plot_parity_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    static const char *const units[] = {"rates", "watts", "ratios"};
    struct parity parity = {.points = fulcrum_chart_table(result, "points")};
    size_t rows = fulcrum_table_rows(parity.points);
    size_t references = 0;
    size_t fitted = 0;
    bool is_relative = false;
    (void)job;
    (void)err;
    for (size_t i = 0; i < rows; i++) {
        add_comparison(&parity, i);
        fitted += fulcrum_plot_says(parity.points, i, "state", "fitted") ? 1 : 0;
        is_relative |=
            units_of(fulcrum_plot_text(parity.points, i, "quantity")) == NULL;
    }
    /* "envpool (6 references)", now that it is known how many there are. */
    for (size_t i = 0; i < rows; i++) {
        const struct family *family =
            &parity.families[(size_t)fulcrum_plot_number(parity.points, i, "place")];
        fulcrum_table_return(parity.points, i);
        fulcrum_plot_print(parity.points, "family", "%s (%zu reference%s)",
            family->name, family->references, family->references == 1 ? "" : "s");
    }
    for (size_t k = 0; k < parity.family_count; k++) {
        references += parity.families[k].references;
    }
    for (size_t k = 0; k < sizeof units / sizeof units[0]; k++) {
        add_finding(result, parity.points, units[k]);
    }
    fulcrum_result_print(result, "chart_subtitle", NULL,
        "%zu references: %zu points predicted, %zu fitted", references, rows - fitted,
        fitted);
    if (is_relative) {
        fulcrum_result_note(result, "footnotes",
            "Values in other units than the panels' are shown among the ratios, "
            "relative to the first of their curve.");
    }
    return FULCRUM_OK;
}
