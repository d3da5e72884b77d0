/* speed_report.c - how long solutions take, printed and drawn. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/speed_case.h"

#include <stdlib.h>

#include "calibrate/provenance.h"
#include "cli/message.h"
#include "cli/plot/plot_job.h"
#include "cli/result/report.h"
#include "model/try.h"
#include "plots/spec/charts.h"
#include "presets/io/json.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

#define TEXT   FULCRUM_COLUMN_TEXT
#define NUMBER FULCRUM_COLUMN_NUMBER

/* Files get seconds, people microseconds. */
static const struct fulcrum_column columns[] = {
    {"part", TEXT, NULL},
    {"name", TEXT, NULL},
    {"law", TEXT, NULL},
    {"actors", NUMBER, NULL},
    {"threads", NUMBER, NULL},
    {"median_s", NUMBER, "median us"},
    {"low_quartile_s", NUMBER, "quartile us"},
    {"high_quartile_s", NUMBER, "quartile us"},
    {"min_s", NUMBER, "min us"},
    {"samples", NUMBER, NULL},
    {"runs_per_sample", NUMBER, "runs each"},
    {"units", NUMBER, "units"},
    {"units_per_s", NUMBER, "units/s"},
};

static struct fulcrum_report *report_of(const struct fulcrum_speed *speed, double scale)
{
    struct fulcrum_report *report =
        fulcrum_report_new("timings", columns, COUNT_OF(columns));
    for (size_t i = 0; i < speed->case_count; i++) {
        if (speed->cases[i].timing.sample_count > 0) {
            const struct fulcrum_speed_case *speed_case = &speed->cases[i];
            const struct fulcrum_timing *timing = &speed_case->timing;
            fulcrum_report_add_text(report, fulcrum_speed_part_name(speed_case->part));
            fulcrum_report_add_text(report, speed_case->name);
            fulcrum_report_add_text(report, speed_case->law);
            fulcrum_report_add_number(report, speed_case->actors);
            fulcrum_report_add_number(report, speed_case->threads);
            fulcrum_report_add_number(report, scale * timing->median_s);
            fulcrum_report_add_number(report, scale * timing->low_quartile_s);
            fulcrum_report_add_number(report, scale * timing->high_quartile_s);
            fulcrum_report_add_number(report, scale * timing->min_s);
            fulcrum_report_add_number(report, (double)timing->sample_count);
            fulcrum_report_add_number(report, (double)timing->inner_count);
            fulcrum_report_add_number(report, timing->units);
            fulcrum_report_add_number(report, timing->units / timing->median_s);
        }
    }
    return report;
}

static enum fulcrum_status add_host(
    struct fulcrum_json *document, struct fulcrum_error *err)
{
    struct fulcrum_calibration *holder = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_calibration_new(&holder, err));
    TRY_OR_END(fulcrum_provenance_add(holder, err));
    struct fulcrum_json *host = fulcrum_json_add_object(document, "host");
    for (size_t i = 0; i < holder->note_count; i++) {
        fulcrum_json_add_text(host, holder->notes[i].key, holder->notes[i].text);
    }
end:
    fulcrum_calibration_free(holder);
    return status;
}

static enum fulcrum_status print_json(const struct fulcrum_speed *speed,
    const struct fulcrum_report *report, const struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct fulcrum_json *document = fulcrum_report_document("fulcrum-bench-speed");
    fulcrum_json_add_flag(document, "interrupted", speed->is_interrupted);
    enum fulcrum_status status = add_host(document, err);
    if (status != FULCRUM_OK) {
        fulcrum_json_free(document);
        return status;
    }
    fulcrum_report_to_json(report, document);
    return fulcrum_report_print_document(document, context, err);
}

enum fulcrum_status fulcrum_speed_print(const struct fulcrum_speed *speed,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    double scale = context->format == FULCRUM_FORMAT_TABLE ? 1e6 : 1.0;
    struct fulcrum_report *report = report_of(speed, scale);
    enum fulcrum_status status;
    if (context->format == FULCRUM_FORMAT_JSON) {
        status = print_json(speed, report, context, err);
    } else {
        status = fulcrum_report_print(report, "fulcrum-bench-speed", context, err);
    }
    if (status == FULCRUM_OK && context->format == FULCRUM_FORMAT_TABLE) {
        (void)fprintf(context->out,
            "\nsweeps: r2d2-atari on dgx-1, time on the wall; all else: CPU time of "
            "one "
            "thread%s\n",
            speed->is_interrupted ? "; interrupted, so some are missing" : "");
    }
    fulcrum_report_free(report);
    return status;
}

enum { POINTS_MOST = 8 };

/* What the chart borrows. */
struct drawing {
    double actors[FULCRUM_SPEED_SERIES_COUNT][POINTS_MOST];
    double cost_s[FULCRUM_SPEED_SERIES_COUNT][POINTS_MOST];
    struct fulcrum_cost_line lines[FULCRUM_COST_LINES_MAX];
    size_t line_count;
    struct fulcrum_cost_mark marks[FULCRUM_COST_MARKS_MAX];
    size_t mark_count;
};

/* One series, as far as it was timed. */
static void add_line(
    struct drawing *drawing, const struct fulcrum_speed *speed, size_t series)
{
    size_t count = 0;
    for (size_t i = 0; i < speed->case_count && count < POINTS_MOST; i++) {
        const struct fulcrum_speed_case *speed_case = &speed->cases[i];
        if (speed_case->part == FULCRUM_SPEED_SOLVE && speed_case->series == series &&
            speed_case->timing.sample_count > 0) {
            drawing->actors[series][count] = speed_case->actors;
            drawing->cost_s[series][count++] = speed_case->timing.median_s;
        }
    }
    const char *label = fulcrum_speed_series_label(series);
    if (label != NULL && count > 0 && drawing->line_count < FULCRUM_COST_LINES_MAX) {
        drawing->lines[drawing->line_count++] = (struct fulcrum_cost_line){
            label, drawing->actors[series], drawing->cost_s[series], count};
    }
}

static void add_marks(struct drawing *drawing, const struct fulcrum_speed *speed)
{
    for (size_t i = 0; i < speed->case_count; i++) {
        const struct fulcrum_speed_case *speed_case = &speed->cases[i];
        if (speed_case->part == FULCRUM_SPEED_YARDSTICK &&
            speed_case->timing.sample_count > 0 &&
            drawing->mark_count < FULCRUM_COST_MARKS_MAX) {
            drawing->marks[drawing->mark_count++] = (struct fulcrum_cost_mark){
                speed_case->name, speed_case->actors, speed_case->timing.median_s};
        }
    }
}

static enum fulcrum_status save(const struct drawing *drawing,
    const struct fulcrum_speed_chart *chart, struct fulcrum_error *err)
{
    const struct fulcrum_cost_data data = {
        .text = {.title = "Cost of a solution",
            .subtitle = "medians; CPU time of one thread",
            .footnote = "N actors on C threads; half batches: C = N / 4 with two "
                        "threads a core. Stars: a textbook network of three queues and "
                        "256 customers, by exact mean value analysis (MVA) and by "
                        "convolution."},
        .lines = drawing->lines,
        .line_count = drawing->line_count,
        .marks = drawing->marks,
        .mark_count = drawing->mark_count};
    struct fulcrum_canvas *canvas = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_canvas_new(&canvas, chart->width_pt, chart->height_pt, err));
    TRY_OR_END(fulcrum_chart_draw(&fulcrum_chart_cost, canvas, &data, err));
    status = fulcrum_plot_write(canvas, chart->path, NULL, err);
end:
    fulcrum_canvas_free(canvas);
    return status;
}

enum fulcrum_status fulcrum_speed_draw(const struct fulcrum_speed *speed,
    const struct fulcrum_speed_chart *chart, struct fulcrum_error *err)
{
    struct drawing *drawing = fulcrum_allocate(1, sizeof *drawing);
    for (size_t i = 0; i < FULCRUM_SPEED_SERIES_COUNT; i++) {
        add_line(drawing, speed, i);
    }
    add_marks(drawing, speed);
    enum fulcrum_status status = save(drawing, chart, err);
    free(drawing);
    return status;
}
