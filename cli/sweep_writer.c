/* sweep_writer.c - points of a sweep, written as they come. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sweep may have millions of points, so CSV and JSON are written line by line as they
 * come; only a table for people, whose widths depend on every row, is kept. The columns
 * are settled before the first point: axes, then every output with its interval, then
 * words. Points that cannot run have a row too, with the reason, so that a table has as
 * many rows as the sweep has points.
 */
#include "cli/sweep_writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/flags.h"
#include "cli/report.h"
#include "model/nearest.h"
#include "presets/json.h"

/* What a column shows. */
enum cell_kind {
    CELL_HEAD,   /* a text of the head */
    CELL_AXIS,   /* the value of axis `index` */
    CELL_ACTORS, /* actors of the run */
    CELL_OUTPUT, /* output `index` */
    CELL_LOW,    /* lower end of its interval */
    CELL_HIGH,
    CELL_METHOD,
    CELL_BOTTLENECK,
    CELL_FLAGS,
    CELL_STATUS /* "ok", or why there is no result */
};

struct column {
    char name[96];
    enum cell_kind kind;
    size_t index;
    const char *text; /* CELL_HEAD */
};

enum { COLUMNS_MOST = 16 + FULCRUM_SWEEP_AXES_MOST + 3 * FULCRUM_OUTPUT_COUNT };

struct fulcrum_sweep_writer {
    struct fulcrum_sweep_head head;
    struct fulcrum_context *context;
    struct column columns[COLUMNS_MOST];
    size_t column_count;
    size_t rows;
    enum fulcrum_status status;
    struct fulcrum_column report_columns[COLUMNS_MOST];
    struct fulcrum_report *report; /* tables only */
};

/* Columns of the table for people; files get all of them. */
static const char *const table_columns =
    "actor_count,steps_per_s,mean_batch,cpu_thread_busy_frac,gpu_busy_frac,system_w,"
    "steps_per_j_gpu,steps_per_j_system,cpu_gpu_ratio_used,bottleneck,status";

static void add_column(struct fulcrum_sweep_writer *writer, const char *name,
    enum cell_kind kind, size_t index, const char *text)
{
    struct column *column = &writer->columns[writer->column_count++];
    (void)snprintf(column->name, sizeof column->name, "%s", name);
    column->kind = kind;
    column->index = index;
    column->text = text;
}

static void add_output_columns(struct fulcrum_sweep_writer *writer)
{
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        const char *name = fulcrum_output_name(i);
        add_column(writer, name, CELL_OUTPUT, i, NULL);
        if (writer->head.plan->predict.draws > 0.0) {
            char with_end[96];
            (void)snprintf(with_end, sizeof with_end, "%s_lo", name);
            add_column(writer, with_end, CELL_LOW, i, NULL);
            (void)snprintf(with_end, sizeof with_end, "%s_hi", name);
            add_column(writer, with_end, CELL_HIGH, i, NULL);
        }
    }
}

static void add_all_columns(struct fulcrum_sweep_writer *writer)
{
    const struct fulcrum_sweep_head *head = &writer->head;
    add_column(writer, "machine", CELL_HEAD, 0, head->machine);
    add_column(writer, "workload", CELL_HEAD, 0, head->workload);
    add_column(writer, "calibration", CELL_HEAD, 0, head->calibration);
    add_column(writer, "actors_rule", CELL_HEAD, 0, head->actors_rule);
    for (size_t i = 0; i < head->plan->axis_count; i++) {
        add_column(writer, head->plan->axes[i].field->path, CELL_AXIS, i, NULL);
    }
    add_column(writer, "actor_count", CELL_ACTORS, 0, NULL);
    add_output_columns(writer);
    add_column(writer, "method", CELL_METHOD, 0, NULL);
    add_column(writer, "bottleneck", CELL_BOTTLENECK, 0, NULL);
    add_column(writer, "flags", CELL_FLAGS, 0, NULL);
    add_column(writer, "status", CELL_STATUS, 0, NULL);
}

static size_t find_column(const struct fulcrum_sweep_writer *writer, const char *name)
{
    size_t i = 0;
    while (i < writer->column_count && strcmp(writer->columns[i].name, name) != 0) {
        i++;
    }
    return i;
}

static enum fulcrum_status fail_column(
    struct fulcrum_sweep_writer *writer, const char *name, struct fulcrum_error *err)
{
    const char *names[COLUMNS_MOST];
    for (size_t i = 0; i < writer->column_count; i++) {
        names[i] = writer->columns[i].name;
    }
    size_t i = fulcrum_nearest(name, names, writer->column_count, sizeof names[0]);
    int near = i < writer->column_count;
    return fulcrum_usage_fail(writer->context, err, FULCRUM_ERR_UNKNOWN_NAME,
        "--columns: unknown column '%s'%s%s%s", name, near ? "; did you mean '" : "",
        near ? names[i] : "", near ? "'?" : "");
}

/* Keeps the columns of a comma-separated list, in its order, and with `axes` the axes.
 */
static enum fulcrum_status keep_columns(struct fulcrum_sweep_writer *writer,
    const char *list, int axes, struct fulcrum_error *err)
{
    struct column *kept = calloc(COLUMNS_MOST, sizeof *kept);
    if (kept == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a list of columns");
    }
    size_t count = 0;
    for (size_t i = 0; axes && i < writer->column_count; i++) {
        if (writer->columns[i].kind == CELL_AXIS) {
            kept[count++] = writer->columns[i];
        }
    }
    enum fulcrum_status status = FULCRUM_OK;
    while (status == FULCRUM_OK && list != NULL && count < COLUMNS_MOST) {
        char name[96];
        size_t length = strcspn(list, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)length, list);
        size_t i = find_column(writer, name);
        if (i == writer->column_count) {
            status = fail_column(writer, name, err);
        } else {
            kept[count++] = writer->columns[i];
        }
        list = list[length] == ',' ? list + length + 1 : NULL;
    }
    memcpy(writer->columns, kept, count * sizeof *kept);
    writer->column_count = count;
    free(kept);
    return status;
}

static int is_number(const struct column *column)
{
    return column->kind == CELL_AXIS || column->kind == CELL_ACTORS ||
           column->kind == CELL_OUTPUT || column->kind == CELL_LOW ||
           column->kind == CELL_HIGH;
}

static double number_of(
    const struct column *column, const struct fulcrum_sweep_point *point)
{
    const struct fulcrum_prediction *prediction = &point->prediction;
    if (column->kind == CELL_AXIS) {
        return point->varied[column->index];
    }
    if (point->status != FULCRUM_OK) {
        return (double)NAN;
    }
    switch (column->kind) {
    case CELL_ACTORS:
        return prediction->actor_count;
    case CELL_OUTPUT:
        return prediction->value[column->index];
    case CELL_LOW:
        return prediction->has_interval ? prediction->lo[column->index] : (double)NAN;
    case CELL_HIGH:
        return prediction->has_interval ? prediction->hi[column->index] : (double)NAN;
    case CELL_HEAD:
    case CELL_AXIS:
    case CELL_METHOD:
    case CELL_BOTTLENECK:
    case CELL_FLAGS:
    case CELL_STATUS:
    default:
        return (double)NAN;
    }
}

/* Borrows from the point, a table or `room`. */
static const char *text_of(const struct column *column,
    const struct fulcrum_sweep_point *point, char *room, size_t size)
{
    int ok = point->status == FULCRUM_OK;
    switch (column->kind) {
    case CELL_HEAD:
        return column->text;
    case CELL_METHOD:
        return ok ? fulcrum_method_name(point->prediction.method) : "";
    case CELL_BOTTLENECK:
        return ok ? fulcrum_bottleneck_name(point->prediction.bottleneck) : "";
    case CELL_FLAGS:
        fulcrum_flags_join(ok ? point->prediction.flags : 0U, room, size);
        return room;
    case CELL_STATUS:
        return ok ? "ok" : point->reason;
    case CELL_AXIS:
    case CELL_ACTORS:
    case CELL_OUTPUT:
    case CELL_LOW:
    case CELL_HIGH:
    default:
        return "";
    }
}

static void write_csv(
    struct fulcrum_sweep_writer *writer, const struct fulcrum_sweep_point *point)
{
    FILE *stream = writer->context->out;
    char room[800];
    for (size_t j = 0; j < writer->column_count; j++) {
        const struct column *column = &writer->columns[j];
        (void)fputs(j > 0 ? "," : "", stream);
        if (!is_number(column)) {
            fulcrum_report_print_csv_text(
                stream, text_of(column, point, room, sizeof room));
        } else if (isfinite(number_of(column, point))) {
            (void)fprintf(stream, "%.17g", number_of(column, point));
        }
    }
    (void)fputc('\n', stream);
}

static void write_json(
    struct fulcrum_sweep_writer *writer, const struct fulcrum_sweep_point *point)
{
    struct fulcrum_json *row = fulcrum_json_new_object();
    char room[800];
    for (size_t j = 0; j < writer->column_count; j++) {
        const struct column *column = &writer->columns[j];
        if (is_number(column)) {
            fulcrum_json_add_number(row, column->name, number_of(column, point));
        } else if (column->kind != CELL_HEAD) {
            fulcrum_json_add_text(
                row, column->name, text_of(column, point, room, sizeof room));
        }
    }
    char *text = NULL;
    enum fulcrum_status status = fulcrum_json_text(row, FULCRUM_JSON_LINE, &text, NULL);
    if (status == FULCRUM_OK) {
        text[strcspn(text, "\n")] = '\0';
        (void)fprintf(
            writer->context->out, "%s\n%s", writer->rows > 0 ? "," : "", text);
    }
    writer->status = writer->status == FULCRUM_OK ? status : writer->status;
    free(text);
    fulcrum_json_free(row);
}

static void add_to_report(
    struct fulcrum_sweep_writer *writer, const struct fulcrum_sweep_point *point)
{
    char room[800];
    for (size_t j = 0; j < writer->column_count; j++) {
        const struct column *column = &writer->columns[j];
        if (is_number(column)) {
            fulcrum_report_add_number(writer->report, number_of(column, point));
        } else {
            fulcrum_report_add_text(
                writer->report, text_of(column, point, room, sizeof room));
        }
    }
}

static void add_axes(
    struct fulcrum_json *document, const struct fulcrum_sweep_plan *plan)
{
    struct fulcrum_json *axes = fulcrum_json_add_array(document, "axes");
    for (size_t i = 0; i < plan->axis_count; i++) {
        struct fulcrum_json *axis = fulcrum_json_append_object(axes);
        fulcrum_json_add_text(axis, "path", plan->axes[i].field->path);
        fulcrum_json_add_text(axis, "unit", plan->axes[i].field->unit);
        fulcrum_json_add_number(axis, "count", (double)plan->axes[i].count);
    }
}

/* Everything before the points, left open for them. */
static void begin_json(struct fulcrum_sweep_writer *writer)
{
    const struct fulcrum_sweep_head *head = &writer->head;
    struct fulcrum_json *document = fulcrum_report_document("fulcrum-explore");
    fulcrum_json_add_text(document, "machine", head->machine);
    fulcrum_json_add_text(document, "workload", head->workload);
    fulcrum_json_add_text(document, "calibration", head->calibration);
    fulcrum_json_add_text(document, "actors_rule", head->actors_rule);
    fulcrum_json_add_number(document, "interval_draws", head->plan->predict.draws);
    add_axes(document, head->plan);
    char *text = NULL;
    writer->status = fulcrum_json_text(document, FULCRUM_JSON_LINE, &text, NULL);
    if (writer->status == FULCRUM_OK) {
        *strrchr(text, '}') = '\0';
        (void)fprintf(writer->context->out, "%s,\"points\":[", text);
    }
    free(text);
    fulcrum_json_free(document);
}

static void begin_csv(struct fulcrum_sweep_writer *writer)
{
    for (size_t j = 0; j < writer->column_count; j++) {
        (void)fputs(j > 0 ? "," : "", writer->context->out);
        fulcrum_report_print_csv_text(writer->context->out, writer->columns[j].name);
    }
    (void)fputc('\n', writer->context->out);
}

static void begin_table(struct fulcrum_sweep_writer *writer)
{
    for (size_t j = 0; j < writer->column_count; j++) {
        writer->report_columns[j] = (struct fulcrum_column){writer->columns[j].name,
            is_number(&writer->columns[j]) ? FULCRUM_COLUMN_NUMBER
                                           : FULCRUM_COLUMN_TEXT,
            NULL};
    }
    writer->report =
        fulcrum_report_new("points", writer->report_columns, writer->column_count);
}

enum fulcrum_status fulcrum_sweep_writer_new(const struct fulcrum_sweep_head *head,
    struct fulcrum_context *context, struct fulcrum_sweep_writer **out,
    struct fulcrum_error *err)
{
    struct fulcrum_sweep_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a sweep's output");
    }
    writer->head = *head;
    writer->context = context;
    add_all_columns(writer);
    int is_table = context->format == FULCRUM_FORMAT_TABLE;
    enum fulcrum_status status = FULCRUM_OK;
    if (head->columns != NULL) {
        status = keep_columns(writer, head->columns, 0, err);
    } else if (is_table) {
        status = keep_columns(writer, table_columns, 1, err);
    }
    if (status != FULCRUM_OK) {
        free(writer);
        return status;
    }
    if (context->format == FULCRUM_FORMAT_JSON) {
        begin_json(writer);
    } else if (is_table) {
        begin_table(writer);
    } else {
        begin_csv(writer);
    }
    *out = writer;
    return FULCRUM_OK;
}

void fulcrum_sweep_writer_free(struct fulcrum_sweep_writer *writer)
{
    if (writer != NULL) {
        fulcrum_report_free(writer->report);
        free(writer);
    }
}

void fulcrum_sweep_writer_add(
    struct fulcrum_sweep_writer *writer, const struct fulcrum_sweep_point *point)
{
    switch (writer->context->format) {
    case FULCRUM_FORMAT_JSON:
        write_json(writer, point);
        break;
    case FULCRUM_FORMAT_CSV:
        write_csv(writer, point);
        break;
    case FULCRUM_FORMAT_TABLE:
    default:
        add_to_report(writer, point);
        break;
    }
    writer->rows++;
}

static void end_json(
    struct fulcrum_sweep_writer *writer, const char *finding, int complete)
{
    struct fulcrum_json *tail = fulcrum_json_new_object();
    fulcrum_json_add_text(tail, "finding", finding != NULL ? finding : "");
    fulcrum_json_add_flag(tail, "complete", complete);
    char *text = NULL;
    enum fulcrum_status status =
        fulcrum_json_text(tail, FULCRUM_JSON_LINE, &text, NULL);
    if (status == FULCRUM_OK) {
        (void)fprintf(writer->context->out, "\n],%s", strchr(text, '{') + 1);
    }
    writer->status = writer->status == FULCRUM_OK ? status : writer->status;
    free(text);
    fulcrum_json_free(tail);
}

enum fulcrum_status fulcrum_sweep_writer_end(struct fulcrum_sweep_writer *writer,
    const char *finding, int complete, struct fulcrum_error *err)
{
    FILE *stream = writer->context->out;
    if (writer->context->format == FULCRUM_FORMAT_JSON) {
        end_json(writer, finding, complete);
    } else if (writer->context->format == FULCRUM_FORMAT_TABLE) {
        (void)fprintf(stream, "%s, %s, calibration %s, actors %s\n\n",
            writer->head.machine, writer->head.workload, writer->head.calibration,
            writer->head.actors_rule);
        fulcrum_report_print_table(writer->report, stream, 0);
    }
    return writer->status == FULCRUM_OK
               ? FULCRUM_OK
               : fulcrum_fail(err, writer->status, "a sweep's output");
}
