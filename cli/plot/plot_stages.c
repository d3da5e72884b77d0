/* plot_stages.c - chart data of sensitivities and validations. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/plot/plot_data.h"
#include "model/try.h"
#include "plots/chart/axis.h"

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
