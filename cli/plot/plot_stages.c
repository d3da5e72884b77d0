/* plot_stages.c - chart data from the points of a validation. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/plot/plot_data.h"
#include "model/try.h"

enum {
    PLOT_VALIDATION_NAME_SIZE = 64,
    CURVE_SIZE = 4 * PLOT_VALIDATION_NAME_SIZE + 8,
    FAMILIES = FULCRUM_PARITY_FAMILIES_MAX
};

/* A family of references, and how many of them there are. */
struct family {
    char name[PLOT_VALIDATION_NAME_SIZE];
    char label[PLOT_VALIDATION_NAME_SIZE + 32];
    char last[PLOT_VALIDATION_NAME_SIZE]; /* the reference that was met last: files keep
                                             them together */
    size_t references;
};

struct plot_validation {
    size_t count;
    struct fulcrum_parity_point *points;
    size_t reference_count;
    size_t family_count;
    struct family families[FAMILIES];
    const char *labels[FAMILIES];
    bool is_relative;       /* some point is */
    char curve[CURVE_SIZE]; /* of the last such point, and what is 1 there */
    double first;
    char title[80];
    char subtitle[160];
};

static int ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);
    size_t end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* The end of a quantity's name is its unit. Returns 0 for units of no panel. */
static int find_kind(const char *quantity, enum fulcrum_parity_kind *out)
{
    static const struct {
        const char *end;
        enum fulcrum_parity_kind kind;
    } ends[] = {{"steps_per_s", FULCRUM_PARITY_RATE}, {"_w", FULCRUM_PARITY_WATTS},
        {"speedup", FULCRUM_PARITY_RATIO}, {"_rel", FULCRUM_PARITY_RATIO},
        {"_frac", FULCRUM_PARITY_RATIO}};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (ends_with(quantity, ends[i].end)) {
            *out = ends[i].kind;
            return 1;
        }
    }
    *out = FULCRUM_PARITY_RATIO;
    return 0;
}

/* Presets of one source begin alike: "envpool-atari-laptop" is one of "envpool". */
static void family_name(const char *reference, char out[PLOT_VALIDATION_NAME_SIZE])
{
    (void)snprintf(out, PLOT_VALIDATION_NAME_SIZE, "%.*s", (int)strcspn(reference, "-"),
        reference);
}

/* What a point has in common with the others of its curve. */
static void write_curve(
    const struct fulcrum_plot_rows *rows, size_t row, char out[CURVE_SIZE])
{
    static const char *const columns[] = {
        "reference", "calibration", "series", "quantity"};
    out[0] = '\0';
    for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++) {
        char text[PLOT_VALIDATION_NAME_SIZE];
        size_t used = strlen(out);
        fulcrum_plot_rows_text(rows, row, columns[k], text, sizeof text);
        (void)snprintf(out + used, CURVE_SIZE - used, "%s;", text);
    }
}

static enum fulcrum_status read_point(struct plot_validation *plot,
    const struct fulcrum_plot_rows *rows, size_t row, struct fulcrum_error *err)
{
    struct fulcrum_parity_point *point = &plot->points[plot->count];
    char text[PLOT_VALIDATION_NAME_SIZE];
    const struct fulcrum_plot_cell cells[] = {{"observed", &point->measured},
        {"half_width", &point->half_width}, {"predicted", &point->predicted},
        {"predicted_lo", &point->lo}, {"predicted_hi", &point->hi}, {.column = NULL}};
    TRY(fulcrum_plot_rows_cells(rows, row, cells, err));
    fulcrum_plot_rows_text(rows, row, "quantity", text, sizeof text);
    if (!find_kind(text, &point->kind)) {
        /*
         * Units of no panel of their own: a ratio to the first point of the curve is
         * comparable with other ratios, and off by the same factor as the value itself.
         */
        char curve[CURVE_SIZE];
        write_curve(rows, row, curve);
        if (strcmp(curve, plot->curve) != 0) {
            (void)snprintf(plot->curve, CURVE_SIZE, "%s", curve);
            plot->first = point->measured;
        }
        double unit = plot->first > 0.0 ? plot->first : (double)NAN;
        point->measured /= unit;
        point->half_width /= unit;
        point->predicted /= unit;
        point->lo /= unit;
        point->hi /= unit;
        plot->is_relative = 1;
    }
    fulcrum_plot_rows_text(rows, row, "kind", text, sizeof text);
    point->is_fitted = strcmp(text, "fitted") == 0;
    fulcrum_plot_rows_text(rows, row, "reference", text, sizeof text);
    /* More families than colours share the last. */
    const char *reference = text;
    char name[PLOT_VALIDATION_NAME_SIZE];
    family_name(reference, name);
    size_t i = 0;
    while (i < plot->family_count && strcmp(plot->families[i].name, name) != 0) {
        i++;
    }
    if (i == FAMILIES) {
        i = FAMILIES - 1;
        (void)snprintf(plot->families[i].name, PLOT_VALIDATION_NAME_SIZE, "others");
    } else if (i == plot->family_count) {
        (void)snprintf(plot->families[i].name, PLOT_VALIDATION_NAME_SIZE, "%s", name);
        plot->family_count++;
    }
    struct family *family = &plot->families[i];
    if (strcmp(family->last, reference) != 0) {
        (void)snprintf(family->last, PLOT_VALIDATION_NAME_SIZE, "%s", reference);
        family->references++;
        plot->reference_count++;
    }
    point->family = i;
    plot->count++;
    return FULCRUM_OK;
}

static void fill_words(struct plot_validation *plot)
{
    size_t fitted = 0;
    for (size_t i = 0; i < plot->count; i++) {
        fitted += plot->points[i].is_fitted ? 1U : 0U;
    }
    for (size_t i = 0; i < plot->family_count; i++) {
        struct family *family = &plot->families[i];
        /* A copy: some compilers take members of one struct to overlap. */
        char name[PLOT_VALIDATION_NAME_SIZE];
        memcpy(name, family->name, sizeof name);
        (void)snprintf(family->label, sizeof family->label, "%s (%zu reference%s)",
            name, family->references, family->references == 1 ? "" : "s");
        plot->labels[i] = family->label;
    }
    (void)snprintf(plot->title, sizeof plot->title, "Predicted against measured");
    (void)snprintf(plot->subtitle, sizeof plot->subtitle,
        "%zu references: %zu points predicted, %zu fitted", plot->reference_count,
        plot->count - fitted, fitted);
}

enum fulcrum_status fulcrum_plot_validation_data(const struct fulcrum_plot_rows *points,
    struct fulcrum_plot_room *room, struct fulcrum_parity_data *out,
    struct fulcrum_error *err)
{
    size_t count = fulcrum_plot_rows_count(points);
    struct plot_validation *plot = fulcrum_plot_room_take(room, 1, sizeof *plot);
    plot->points = fulcrum_plot_room_take(room, count + 1, sizeof *plot->points);
    for (size_t i = 0; i < count; i++) {
        TRY(read_point(plot, points, i, err));
    }
    fill_words(plot);
    *out = (struct fulcrum_parity_data){
        .text = fulcrum_plot_text(&room->words, plot->title, plot->subtitle,
            plot->is_relative ? "Values in other units than the panels' are shown "
                                "among the ratios, relative to the first of their "
                                "curve."
                              : NULL),
        .points = plot->points,
        .count = plot->count,
        .families = plot->labels,
        .family_count = plot->family_count,
        .interval_name = "90 % interval",
    };
    return FULCRUM_OK;
}
