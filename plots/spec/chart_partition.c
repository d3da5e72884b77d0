/* chart_partition.c - what runs on which share of a GPU, and what that gains. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/spec/charts.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/try.h"
#include "plots/chart/canvas.h"
#include "plots/chart/page.h"
#include "plots/chart/rows.h"

enum { TEXT_SIZE = 64, INTERVAL_STYLE = 5 };

/* Between instances, of the axis: equal neighbours must be told apart. */
static const double gap_frac = 0.004;

/* Of what only waits; busy parts are drawn in full. */
static const double pale_opacity = 0.35;

static const double panel_gap_pt = 14.0;

/* Of a kind of stages: whole loops first. */
static const size_t kind_styles[FULCRUM_PARTITION_KINDS_MAX] = {0, 1, 2, 3, 4, 6, 7, 5};

static bool runs(const struct fulcrum_partition_bar *bar)
{
    return isfinite(bar->steps_per_s);
}

/* "217.7 thousand steps/s". */
static void write_rate(double steps_per_s, char text[TEXT_SIZE])
{
    bool is_million = steps_per_s >= 1e6;
    bool is_thousand = !is_million && steps_per_s >= 1e4;
    double value = steps_per_s / (is_million ? 1e6 : is_thousand ? 1e3 : 1.0);
    const char *word = is_million ? " million" : is_thousand ? " thousand" : "";
    (void)snprintf(text, TEXT_SIZE, "%.4g%s steps/s", value, word);
}

static void fill_shares(struct fulcrum_row *row, char text[TEXT_SIZE],
    const struct fulcrum_partition_bar *from)
{
    double at = 0.0;
    *row = (struct fulcrum_row){.name = from->name, .text = text};
    if (!runs(from)) {
        (void)snprintf(text, TEXT_SIZE, "cannot run");
        return;
    }
    write_rate(from->steps_per_s, text);
    for (size_t k = 0; k < from->part_count; k++) {
        const struct fulcrum_partition_part *part = &from->parts[k];
        double width = from->takes_turns ? 1.0 / part->instances : part->sm_frac;
        size_t instances = (size_t)part->instances;
        for (size_t n = 0; n < instances && row->bar_count < FULCRUM_ROW_BARS_MAX;
             n++) {
            /* One instance from `lo` on; returns where the next one begins. */
            bool is_whole_share = fabs(width - part->sm_frac) < 1e-6;
            struct fulcrum_row_bar *bar = &row->bars[row->bar_count++];
            *bar = (struct fulcrum_row_bar){.lo = at,
                .hi = at + fmax(width - gap_frac, 0.3 * width),
                .top_frac = 0.18,
                .bottom_frac = 0.82,
                .rgb = fulcrum_palette_pen(kind_styles[part->kind]).rgb,
                .opacity = pale_opacity + (1.0 - pale_opacity) * part->busy_frac};
            if (is_whole_share && width >= 0.1) {
                (void)snprintf(
                    bar->text, sizeof bar->text, "%.0f %%", 100.0 * part->sm_frac);
            }
            at = at + width;
        }
    }
}

static void fill_gain(struct fulcrum_row *row, char text[TEXT_SIZE],
    const struct fulcrum_partition_bar *from)
{
    *row = (struct fulcrum_row){.name = from->name, .text = text};
    if (!runs(from)) {
        (void)snprintf(text, TEXT_SIZE, "cannot run");
        return;
    }
    int length = snprintf(text, TEXT_SIZE, "%.2f", from->speedup);
    if (isfinite(from->speedup_lo) && isfinite(from->speedup_hi)) {
        (void)snprintf(text + length, TEXT_SIZE - (size_t)length, " (%.2f to %.2f)",
            from->speedup_lo, from->speedup_hi);
    }
    row->bars[row->bar_count++] = (struct fulcrum_row_bar){.lo = 0.0,
        .hi = from->speedup,
        .top_frac = 0.25,
        .bottom_frac = 0.7,
        .rgb = FULCRUM_TONE_MUTED};
    row->bars[row->bar_count++] = (struct fulcrum_row_bar){.lo = from->speedup_lo,
        .hi = from->speedup_hi,
        .top_frac = 0.76,
        .bottom_frac = 0.82,
        .rgb = fulcrum_palette_pen(INTERVAL_STYLE).rgb};
}

static void draw(struct fulcrum_canvas *canvas, struct fulcrum_page *page, void *room,
    const void *given)
{
    (void)room;
    const struct fulcrum_partition_data *data = given;
    struct fulcrum_row *rows = fulcrum_rows_begin(canvas, page, 2 * data->count);
    char(*texts)[TEXT_SIZE] =
        fulcrum_canvas_room(canvas, 2 * data->count, sizeof *texts);
    if (rows == NULL || texts == NULL) {
        return;
    }
    struct fulcrum_row *gain_rows = rows + data->count;
    bool has_interval = 0;
    for (size_t i = 0; i < data->count; i++) {
        fill_shares(&rows[i], texts[i], &data->bars[i]);
        fill_gain(&gain_rows[i], texts[data->count + i], &data->bars[i]);
        has_interval |= isfinite(data->bars[i].speedup_lo);
    }
    for (size_t k = 0; k < FULCRUM_PARTITION_KINDS_MAX; k++) {
        fulcrum_page_explain(
            page, FULCRUM_SWATCH_STACK, kind_styles[k], data->kinds[k]);
    }
    fulcrum_page_explain(page, FULCRUM_SWATCH_LINE, INTERVAL_STYLE,
        has_interval ? "90 % interval of the gain" : NULL);
    fulcrum_page_draw(canvas, page);
    struct fulcrum_rect upper = fulcrum_page_body(canvas, page);
    struct fulcrum_rect lower = upper;
    upper.y1 = 0.5 * (upper.y0 + upper.y1 - panel_gap_pt);
    lower.y0 = upper.y1 + panel_gap_pt;
    const struct fulcrum_axis_options axis = {
        .kind = FULCRUM_AXIS_LINEAR, .pad_frac = 0.03, .from_zero = 1};
    const struct fulcrum_rows shares = {.title = "What runs on which share of the SMs",
        .x_label = "share of the GPU's SMs, or of its time where processes take turns; "
                   "pale: waiting for others",
        .rows = rows,
        .count = data->count,
        .options = axis,
        .centre = (double)NAN};
    const struct fulcrum_rows gains = {.title = "Steps per second over one process",
        .x_label = "gain",
        .rows = gain_rows,
        .count = data->count,
        .options = axis,
        .centre = 1.0};
    fulcrum_rows_draw(canvas, &shares, upper);
    fulcrum_rows_draw(canvas, &gains, lower);
}

static bool is_share(double value)
{
    return value >= 0.0 && value <= 1.0 + 1e-9;
}

static enum fulcrum_status check_bar(
    const struct fulcrum_partition_bar *bar, struct fulcrum_error *err)
{
    FAIL_IF(bar->part_count > FULCRUM_PARTITION_PARTS_MAX, err, FULCRUM_ERR_RANGE,
        "%s: %zu parts: expected at most %d", bar->name, bar->part_count,
        (int)FULCRUM_PARTITION_PARTS_MAX);
    for (size_t k = 0; runs(bar) && k < bar->part_count; k++) {
        const struct fulcrum_partition_part *part = &bar->parts[k];
        FAIL_IF(part->kind >= FULCRUM_PARTITION_KINDS_MAX || !is_share(part->sm_frac) ||
                    !is_share(part->busy_frac) || !(part->instances >= 1.0),
            err, FULCRUM_ERR_RANGE,
            "%s: part %zu has %g instances of a share %g, busy %g: expected 1 or "
            "more, and shares from 0 to 1",
            bar->name, k, part->instances, part->sm_frac, part->busy_frac);
    }
    FAIL_IF(runs(bar) && !(isfinite(bar->speedup) && bar->speedup >= 0.0), err,
        FULCRUM_ERR_RANGE, "%s: a gain of %g: expected 0 or more", bar->name,
        bar->speedup);
    return FULCRUM_OK;
}

static enum fulcrum_status check(const void *given, struct fulcrum_error *err)
{
    const struct fulcrum_partition_data *data = given;
    for (size_t i = 0; i < data->count; i++) {
        TRY(check_bar(&data->bars[i], err));
    }
    return FULCRUM_OK;
}

const struct fulcrum_chart fulcrum_chart_partition = {.name = "partition",
    .summary =
        "stages of training on shares of one GPU, and the gain of each placement",
    .check = check,
    .draw = draw};
