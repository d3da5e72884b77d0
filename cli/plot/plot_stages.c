/* plot_stages.c - chart data of stages, sensitivities and validations. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A reference gives one bar per point: shares named like the stages ("training_frac").
 * Publications that read shares off a figure do not tell CPU and GPU apart, and what
 * they leave open stays open. The rows of `fulcrum measure` give one bar per run.
 */

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/plot/plot_data.h"
#include "model/stage_kind.h"
#include "model/try.h"
#include "plots/chart/axis.h"

enum { ROWS_MOST = 64, NAME_SIZE = 96, TEXT_SIZE = 32 };

struct plot_stages {
    size_t count;
    struct fulcrum_stages_row rows[ROWS_MOST];
    char names[ROWS_MOST][NAME_SIZE];
    char texts[ROWS_MOST][TEXT_SIZE];
    char title[160];
    char subtitle[300];
    char footnote[400];
};

/* The stage whose name `text` begins with, followed by `end`; the count: none. */
static size_t kind_named(const char *text, const char *end)
{
    size_t k = 0;
    while (k < FULCRUM_STAGE_WORK_COUNT) {
        const char *name = fulcrum_stage_kind_name((enum fulcrum_stage_kind)k);
        size_t length = strlen(name);
        if (strncmp(text, name, length) == 0 && strcmp(text + length, end) == 0) {
            break;
        }
        k++;
    }
    return k;
}

/* The next row, without shares; NULL where there are too many. */
static struct fulcrum_stages_row *add_row(struct plot_stages *plot)
{
    if (plot->count == ROWS_MOST) {
        return NULL;
    }
    size_t i = plot->count++;
    plot->rows[i] =
        (struct fulcrum_stages_row){.name = plot->names[i], .text = plot->texts[i]};
    return &plot->rows[i];
}

/* "DDPG", or "algorithm DDPG, simulator Ant" where a point sets more than one thing. */
static void write_name(char out[NAME_SIZE], const struct fulcrum_reference_point *point)
{
    int length = 0;
    out[0] = '\0';
    for (size_t k = 0; k < point->setting_count && length < NAME_SIZE; k++) {
        const struct fulcrum_reference_setting *setting = &point->settings[k];
        char value[80];
        if (setting->text[0] != '\0') {
            (void)snprintf(value, sizeof value, "%s", setting->text);
        } else {
            (void)snprintf(value, sizeof value, "%.6g", setting->number);
        }
        bool is_alone = point->setting_count == 1 && setting->text[0] != '\0';
        length += snprintf(out + length, (size_t)(NAME_SIZE - length), "%s%s%s%s",
            k > 0 ? ", " : "", is_alone ? "" : setting->path, is_alone ? "" : " ",
            value);
    }
}

/* Returns how many stages the point has a share of. */
static size_t add_point(
    struct plot_stages *plot, const struct fulcrum_reference_point *point)
{
    struct fulcrum_stages_row row = {.idle_frac = 0.0};
    char text[TEXT_SIZE] = "";
    size_t found = 0;
    for (size_t k = 0; k < point->observation_count; k++) {
        const struct fulcrum_observation *observation = &point->observations[k];
        size_t kind = kind_named(observation->quantity, "_frac");
        if (kind < FULCRUM_STAGE_WORK_COUNT) {
            row.share_frac[kind][FULCRUM_STAGE_CPU_ONLY] = observation->value;
            found++;
        } else if (strcmp(observation->quantity, "runtime_s") == 0) {
            (void)snprintf(text, sizeof text, "of %.0f s", observation->value);
        }
    }
    struct fulcrum_stages_row *out = found > 0 ? add_row(plot) : NULL;
    if (out != NULL) {
        memcpy(out->share_frac, row.share_frac, sizeof row.share_frac);
        write_name(plot->names[plot->count - 1], point);
        memcpy(plot->texts[plot->count - 1], text, sizeof text);
    }
    return found;
}

/* The footnote says how far the shares of rows are from 1 in all. */
static void write_published(
    struct plot_stages *plot, const struct fulcrum_reference *reference)
{
    double least = INFINITY;
    double most = 0.0;
    for (size_t i = 0; i < plot->count; i++) {
        double sum = 0.0;
        for (size_t k = 0; k < FULCRUM_STAGE_WORK_COUNT; k++) {
            sum += plot->rows[i].share_frac[k][FULCRUM_STAGE_CPU_ONLY];
        }
        least = fmin(least, sum);
        most = fmax(most, sum);
    }
    (void)snprintf(plot->title, sizeof plot->title, "%s", reference->title);
    (void)snprintf(plot->subtitle, sizeof plot->subtitle,
        "reference %s; machine %s, %s", reference->name, reference->machine,
        reference->design.machine.gpu.name);
    (void)snprintf(plot->footnote, sizeof plot->footnote,
        "Published shares, read one by one: they add up to %.2f to %.2f. The "
        "publication's stages on CPU and GPU are not told apart here.",
        least, most);
}

static struct fulcrum_stages_data data_of(
    const struct plot_stages *plot, const struct fulcrum_plot_words *words)
{
    return (struct fulcrum_stages_data){
        .text = fulcrum_plot_text(words, plot->title, plot->subtitle, plot->footnote),
        .rows = plot->rows,
        .count = plot->count,
    };
}

enum fulcrum_status fulcrum_plot_stages_of_reference(
    const struct fulcrum_reference *reference, struct fulcrum_plot_room *room,
    struct fulcrum_stages_data *out, struct fulcrum_error *err)
{
    struct plot_stages *plot = fulcrum_plot_room_take(room, 1, sizeof *plot);
    for (size_t i = 0; i < reference->point_count; i++) {
        (void)add_point(plot, &reference->points[i]);
    }
    FAIL_IF(plot->count == 0, err, FULCRUM_ERR_UNSUPPORTED,
        "reference %s: no share of time by stage, such as simulation_frac: "
        "expected one like rlscope-fig5-stage-shares",
        reference->name);
    write_published(plot, reference);
    *out = data_of(plot, &room->words);
    return FULCRUM_OK;
}

/* One cell of a row of `fulcrum measure`; what is not known there has no chart. */
static enum fulcrum_status read_share(const struct fulcrum_plot_rows *rows, size_t i,
    const char *column, double *out, struct fulcrum_error *err)
{
    TRY(fulcrum_plot_rows_number(rows, i, column, out, err));
    if (isnan(*out)) {
        char run[NAME_SIZE];
        fulcrum_plot_rows_text(rows, i, "run", run, sizeof run);
        return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
            "run %s: %s is not known: shares of wall time need runs whose threads "
            "recorded all their cycles",
            run, column);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status add_stage(struct fulcrum_stages_row *row,
    const struct fulcrum_plot_rows *rows, size_t i, size_t kind,
    struct fulcrum_error *err)
{
    static const char *const columns[FULCRUM_STAGE_WHERE_COUNT] = {
        "cpu_only_frac", "gpu_only_frac", "cpu_and_gpu_frac"};
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t w = 0; w < FULCRUM_STAGE_WHERE_COUNT && status == FULCRUM_OK; w++) {
        double *share = &row->share_frac[kind][w];
        status = read_share(rows, i, columns[w], share, err);
        row->is_split |= w != FULCRUM_STAGE_CPU_ONLY && *share > 0.0;
    }
    return status;
}

/* Rows of one run follow each other. */
static enum fulcrum_status add_measured(struct plot_stages *plot,
    const struct fulcrum_plot_rows *rows, size_t i, struct fulcrum_error *err)
{
    char run[NAME_SIZE];
    char stage[TEXT_SIZE];
    fulcrum_plot_rows_text(rows, i, "run", run, sizeof run);
    fulcrum_plot_rows_text(rows, i, "stage", stage, sizeof stage);
    if (plot->count == 0 || strcmp(plot->names[plot->count - 1], run) != 0) {
        FAIL_IF(add_row(plot) == NULL, err, FULCRUM_ERR_RANGE,
            "more than %d runs: expected fewer", (int)ROWS_MOST);
        memcpy(plot->names[plot->count - 1], run, sizeof run);
    }
    struct fulcrum_stages_row *row = &plot->rows[plot->count - 1];
    size_t kind = kind_named(stage, "");
    if (kind < FULCRUM_STAGE_WORK_COUNT) {
        return add_stage(row, rows, i, kind, err);
    }
    return strcmp(stage, "idle") == 0
               ? read_share(rows, i, "share_frac", &row->idle_frac, err)
               : FULCRUM_OK;
}

enum fulcrum_status fulcrum_plot_stages_data(const struct fulcrum_plot_rows *rows,
    struct fulcrum_plot_room *room, struct fulcrum_stages_data *out,
    struct fulcrum_error *err)
{
    struct plot_stages *plot = fulcrum_plot_room_take(room, 1, sizeof *plot);
    for (size_t i = 0; i < fulcrum_plot_rows_count(rows); i++) {
        TRY(add_measured(plot, rows, i, err));
    }
    (void)snprintf(plot->title, sizeof plot->title, "Where the time of training goes");
    (void)snprintf(plot->subtitle, sizeof plot->subtitle,
        "measured; each moment is divided among the stages that were active in it, on "
        "any thread or device; what recording cost is taken off");
    *out = data_of(plot, &room->words);
    return FULCRUM_OK;
}

/* What `fulcrum sensitivity` found, as chart data. */

enum {
    PLOT_TORNADO_NAME_SIZE = 128,
    PLOT_TORNADO_TEXT_SIZE = 72,
    FINDING_SIZE = 240,
    DIGITS = 3
};

/* Texts of one row. */
struct words {
    char name[PLOT_TORNADO_NAME_SIZE];
    char reach[PLOT_TORNADO_TEXT_SIZE];
};

struct plot_tornado {
    size_t row_count; /* of all panels together */
    struct fulcrum_tornado_row *rows;
    struct words *words;
    size_t panel_count;
    struct fulcrum_tornado_panel panels[FULCRUM_TORNADO_PANELS_MAX];
    char metrics[FULCRUM_TORNADO_PANELS_MAX][PLOT_TORNADO_NAME_SIZE];
    char titles[FULCRUM_TORNADO_PANELS_MAX]
               [PLOT_TORNADO_NAME_SIZE + PLOT_TORNADO_TEXT_SIZE + 4];
    char units[FULCRUM_TORNADO_PANELS_MAX][PLOT_TORNADO_TEXT_SIZE];
    char findings[FULCRUM_TORNADO_PANELS_MAX][FINDING_SIZE];
    char title[160];
    char subtitle[600];
    char footnote[300];
};

/* Numbers of a row of the file, in this order. */
enum cell {
    FIELD_LO,
    FIELD_HI,
    FIRST,
    FIRST_ERROR,
    TOTAL,
    TOTAL_ERROR,
    SWING_LO,
    SWING_HI,
    VALUE,
    METRIC_LO,
    METRIC_HI,
    INTERACTION,
    CELLS
};

static const char *const cell_columns[CELLS + 1] = {"field_lo", "field_hi",
    "first_frac", "first_error", "total_frac", "total_error", "swing_lo", "swing_hi",
    "metric_value", "metric_lo", "metric_hi", "interaction_frac"};

/* Units that take prefixes: s, W, J, Hz, byte; NULL for rates, shares and counts. */
static const char *shown_unit(const char *unit)
{
    return unit[0] != '\0' && strpbrk(unit, "/1 ") == NULL ? unit : NULL;
}

/* "0.57 ms to 3.94 ms"; "" of several numbers. */
static void write_reach(const struct fulcrum_plot_rows *rows, size_t row,
    const double *cells, char out[PLOT_TORNADO_TEXT_SIZE])
{
    out[0] = '\0';
    if (isfinite(cells[FIELD_LO]) && isfinite(cells[FIELD_HI])) {
        char unit[PLOT_TORNADO_TEXT_SIZE];
        char lo[32];
        char hi[32];
        fulcrum_plot_rows_text(rows, row, "field_unit", unit, sizeof unit);
        fulcrum_si_text(lo, sizeof lo, cells[FIELD_LO], DIGITS, shown_unit(unit));
        fulcrum_si_text(hi, sizeof hi, cells[FIELD_HI], DIGITS, shown_unit(unit));
        (void)snprintf(out, PLOT_TORNADO_TEXT_SIZE, "%s to %s", lo, hi);
    }
}

/* The next panel, with its words. */
static enum fulcrum_status start_panel(struct plot_tornado *plot,
    const struct fulcrum_plot_rows *rows, size_t row, const double *cells,
    struct fulcrum_error *err)
{
    size_t i = plot->panel_count;
    char unit[PLOT_TORNADO_TEXT_SIZE];
    char lo[32];
    char hi[32];
    FAIL_IF(i == FULCRUM_TORNADO_PANELS_MAX, err, FULCRUM_ERR_RANGE,
        "more than %d metrics: expected fewer, by --metric of 'fulcrum "
        "sensitivity'",
        (int)FULCRUM_TORNADO_PANELS_MAX);
    char metric[PLOT_TORNADO_NAME_SIZE];
    fulcrum_plot_rows_text(rows, row, "metric", metric, sizeof metric);
    fulcrum_plot_rows_text(rows, row, "unit", unit, sizeof unit);
    memcpy(plot->metrics[i], metric, sizeof metric);
    (void)snprintf(plot->titles[i], sizeof plot->titles[i], "%s%s%s", metric,
        unit[0] != '\0' ? ", " : "", unit);
    memcpy(plot->units[i], unit, sizeof unit);
    const char *shown = shown_unit(plot->units[i]);
    fulcrum_si_text(lo, sizeof lo, cells[METRIC_LO], DIGITS, shown);
    fulcrum_si_text(hi, sizeof hi, cells[METRIC_HI], DIGITS, shown);
    int used = snprintf(plot->findings[i], FINDING_SIZE,
        "90 %% between %s and %s with all fields at once", lo, hi);
    if (isfinite(cells[INTERACTION])) {
        (void)snprintf(plot->findings[i] + used, FINDING_SIZE - (size_t)used,
            "; interactions %.0f %% of the variance",
            100.0 * fmax(0.0, cells[INTERACTION]));
    }
    plot->panels[i] = (struct fulcrum_tornado_panel){.title = plot->titles[i],
        .unit = shown,
        .finding = plot->findings[i],
        .value = cells[VALUE],
        .rows = &plot->rows[row]};
    plot->panel_count++;
    return FULCRUM_OK;
}

/* Rows of one metric follow each other. */
static enum fulcrum_status take_row(struct plot_tornado *plot,
    const struct fulcrum_plot_rows *rows, size_t row, struct fulcrum_error *err)
{
    char metric[PLOT_TORNADO_NAME_SIZE];
    double cells[CELLS];
    struct words *words = &plot->words[row];
    enum fulcrum_status status =
        fulcrum_plot_rows_numbers(rows, row, cell_columns, cells, err);
    fulcrum_plot_rows_text(rows, row, "metric", metric, sizeof metric);
    if (status == FULCRUM_OK &&
        (plot->panel_count == 0 ||
            strcmp(metric, plot->metrics[plot->panel_count - 1]) != 0)) {
        status = start_panel(plot, rows, row, cells, err);
    }
    if (status != FULCRUM_OK) {
        return status;
    }
    fulcrum_plot_rows_text(rows, row, "field", words->name, sizeof words->name);
    write_reach(rows, row, cells, words->reach);
    plot->rows[row] = (struct fulcrum_tornado_row){.name = words->name,
        .reach = words->reach[0] != '\0' ? words->reach : NULL,
        .lo = cells[SWING_LO],
        .hi = cells[SWING_HI],
        .first = cells[FIRST],
        .first_error = cells[FIRST_ERROR],
        .total = cells[TOTAL],
        .total_error = cells[TOTAL_ERROR]};
    plot->panels[plot->panel_count - 1].count++;
    return FULCRUM_OK;
}

static void write_words(struct plot_tornado *plot, const struct fulcrum_plot_rows *rows)
{
    char machine[64];
    char workload[64];
    char calibration[128];
    char actors[80];
    char base[160];
    fulcrum_plot_rows_text(rows, 0, "machine", machine, sizeof machine);
    fulcrum_plot_rows_text(rows, 0, "workload", workload, sizeof workload);
    fulcrum_plot_rows_text(rows, 0, "calibration", calibration, sizeof calibration);
    fulcrum_plot_rows_text(rows, 0, "actors_rule", actors, sizeof actors);
    fulcrum_plot_rows_text(rows, 0, "compared_to", base, sizeof base);
    (void)snprintf(plot->title, sizeof plot->title, "Which number matters");
    if (machine[0] != '\0') {
        (void)snprintf(plot->subtitle, sizeof plot->subtitle,
            "%s on %s; calibration %s; actors %s%s%s", workload, machine, calibration,
            actors, base[0] != '\0' ? "; compared to " : "", base);
    }
    (void)snprintf(plot->footnote, sizeof plot->footnote,
        "Bars move one field, the others at their values; shares of variance move all. "
        "Black lines: standard errors. Of numbers that depend on each other bars are "
        "the 5 %% and 95 %% quantiles of the metric.");
}

enum fulcrum_status fulcrum_plot_tornado_data(const struct fulcrum_plot_rows *rows,
    struct fulcrum_plot_room *room, struct fulcrum_tornado_data *out,
    struct fulcrum_error *err)
{
    TRY(fulcrum_plot_rows_need(rows, err));
    size_t count = fulcrum_plot_rows_count(rows);
    struct plot_tornado *plot = fulcrum_plot_room_take(room, 1, sizeof *plot);
    plot->row_count = count;
    plot->rows = fulcrum_plot_room_take(room, count + 1, sizeof *plot->rows);
    plot->words = fulcrum_plot_room_take(room, count + 1, sizeof *plot->words);
    for (size_t i = 0; i < count; i++) {
        TRY(take_row(plot, rows, i, err));
    }
    write_words(plot, rows);
    *out = (struct fulcrum_tornado_data){
        .text = fulcrum_plot_text(
            &room->words, plot->title, plot->subtitle, plot->footnote),
        .panels = plot->panels,
        .count = plot->panel_count,
    };
    return FULCRUM_OK;
}

/* Chart data from the points of a validation. */

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
