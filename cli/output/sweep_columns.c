/* sweep_columns.c - the columns of a sweep's output, and what each shows of a point. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The columns are settled before the first point: the head, axes, every output with its
 * interval, ratios to a point of comparison, then words. Every row has all of them,
 * also that of a point that cannot run, so that an output has as many rows as the sweep
 * has points.
 */

#include "cli/message.h"
#include "cli/output/sweep_writer.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/output/report.h"
#include "model/nearest.h"
#include "model/predict/solver.h"
#include "model/quantity.h"
#include "model/study/sweep.h"
#include "model/try.h"
#include "presets/io/json.h"

static void add_column(struct fulcrum_sweep_columns *columns, const char *name,
    enum fulcrum_sweep_cell cell, size_t index)
{
    struct fulcrum_sweep_column *column = &columns->items[columns->count++];
    (void)snprintf(column->name, sizeof column->name, "%s", name);
    column->cell = cell;
    column->index = index;
    column->text = NULL;
    column->front = NULL;
}

/* A column with the same words in every row: whole files are joined by them. */
static void add_text(
    struct fulcrum_sweep_columns *columns, const char *name, const char *text)
{
    add_column(columns, name, FULCRUM_CELL_HEAD, 0);
    columns->items[columns->count - 1].text = text;
}

/* Lower and upper end stand beside the value, the last column so far. */
static void add_interval(struct fulcrum_sweep_columns *columns,
    enum fulcrum_sweep_cell low, enum fulcrum_sweep_cell high)
{
    const struct fulcrum_sweep_column value = columns->items[columns->count - 1];
    char with_end[sizeof value.name];
    (void)snprintf(with_end, sizeof with_end, "%.90s_lo", value.name);
    add_column(columns, with_end, low, value.index);
    (void)snprintf(with_end, sizeof with_end, "%.90s_hi", value.name);
    add_column(columns, with_end, high, value.index);
}

/* The ends are there, blank, without draws too: charts find the columns they know. */
static void add_ratios(struct fulcrum_sweep_columns *columns)
{
    for (size_t i = 0; i < FULCRUM_RELATIVE_COUNT; i++) {
        add_column(columns, fulcrum_relative_name(i), FULCRUM_CELL_RATIO, i);
        add_interval(columns, FULCRUM_CELL_RATIO_LOW, FULCRUM_CELL_RATIO_HIGH);
    }
}

void fulcrum_sweep_columns_init(
    struct fulcrum_sweep_columns *out, const struct fulcrum_sweep_head *head)
{
    out->count = 0;
    add_text(out, "machine", head->machine);
    add_text(out, "workload", head->workload);
    add_text(out, "calibration", head->calibration);
    add_text(out, "actors_rule", head->actors_rule);
    if (head->pareto != NULL) {
        add_column(out, "point", FULCRUM_CELL_POINT, 0);
    }
    for (size_t i = 0; i < head->plan->axis_count; i++) {
        add_column(out, head->plan->axes[i].field->path, FULCRUM_CELL_AXIS, i);
    }
    add_column(out, "actor_count", FULCRUM_CELL_ACTORS, 0);
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        add_column(out, fulcrum_output_name(i), FULCRUM_CELL_OUTPUT, i);
        if (head->plan->predict.draws > 0.0) {
            add_interval(out, FULCRUM_CELL_LOW, FULCRUM_CELL_HIGH);
        }
    }
    if (head->plan->yardstick != NULL) {
        add_ratios(out);
    }
    if (head->front != NULL && fulcrum_sweep_front_has_draws(head->front)) {
        add_column(out, "front_frac", FULCRUM_CELL_FRONT, 0);
        out->items[out->count - 1].front = head->front;
    }
    add_column(out, "method", FULCRUM_CELL_METHOD, 0);
    add_column(out, "solver_error_rel", FULCRUM_CELL_ERROR, 0);
    add_column(out, "bottleneck", FULCRUM_CELL_BOTTLENECK, 0);
    add_column(out, "flags", FULCRUM_CELL_FLAGS, 0);
    add_column(out, "status", FULCRUM_CELL_STATUS, 0);
}

/* The number of columns where there is none of that name. */
static size_t find_column(const struct fulcrum_sweep_columns *columns, const char *name)
{
    size_t i = 0;
    while (i < columns->count && strcmp(columns->items[i].name, name) != 0) {
        i++;
    }
    return i;
}

bool fulcrum_column_is_end(const char *name)
{
    size_t length = strlen(name);
    return length > 3 && (strcmp(name + length - 3, "_lo") == 0 ||
                             strcmp(name + length - 3, "_hi") == 0);
}

static enum fulcrum_status fail_column(const struct fulcrum_sweep_columns *columns,
    const char *name, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const char *names[FULCRUM_SWEEP_COLUMNS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < columns->count; i++) {
        if (!fulcrum_column_is_end(columns->items[i].name)) {
            names[count++] = columns->items[i].name;
        }
    }
    char hint[1600];
    const struct fulcrum_names known = {names, count, sizeof names[0]};
    fulcrum_names_hint(&known, name, hint, sizeof hint);
    return fulcrum_usage_fail(context, err, FULCRUM_ERR_UNKNOWN_NAME,
        "--columns: unknown column '%s'%s", name, hint);
}

enum fulcrum_status fulcrum_sweep_columns_keep(struct fulcrum_sweep_columns *columns,
    const char *list, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_sweep_columns all = *columns;
    size_t kept = 0;
    while (list != NULL && kept < FULCRUM_SWEEP_COLUMNS_MOST) {
        char *name = fulcrum_list_part(&list);
        size_t i = find_column(&all, name);
        if (i == all.count) {
            enum fulcrum_status status = fail_column(&all, name, context, err);
            free(name);
            return status;
        }
        free(name);
        columns->items[kept++] = all.items[i];
    }
    columns->count = kept;
    return FULCRUM_OK;
}

/*
 * What decides between designs, as far as it fits on a screen beside the axes: rates,
 * what is busy, watts and both metrics of performance per watt.
 */
static bool is_for_people(const struct fulcrum_sweep_column *column)
{
    static const char *const names[] = {"actor_count", "steps_per_s", "mean_batch",
        "cpu_thread_busy_frac", "gpu_busy_frac", "system_w", "steps_per_j_gpu",
        "steps_per_j_system", "cpu_gpu_ratio_used", "speedup", "speedup_lo",
        "speedup_hi", "point", "front_frac", "bottleneck", "status"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(column->name, names[i]) == 0) {
            return 1;
        }
    }
    return column->cell == FULCRUM_CELL_AXIS;
}

void fulcrum_sweep_columns_keep_few(struct fulcrum_sweep_columns *columns)
{
    size_t kept = 0;
    for (size_t i = 0; i < columns->count; i++) {
        if (is_for_people(&columns->items[i])) {
            columns->items[kept++] = columns->items[i];
        }
    }
    columns->count = kept;
}

bool fulcrum_sweep_column_is_number(const struct fulcrum_sweep_column *column)
{
    return column->cell != FULCRUM_CELL_HEAD && column->cell != FULCRUM_CELL_METHOD &&
           column->cell != FULCRUM_CELL_BOTTLENECK &&
           column->cell != FULCRUM_CELL_FLAGS && column->cell != FULCRUM_CELL_STATUS;
}

/* A point that cannot run has the values of its axes and no other number. */
double fulcrum_sweep_column_number(
    const struct fulcrum_sweep_column *column, const struct fulcrum_sweep_point *point)
{
    const struct fulcrum_prediction *prediction = &point->prediction;
    if (column->cell == FULCRUM_CELL_AXIS) {
        return point->varied[column->index];
    }
    if (column->cell == FULCRUM_CELL_POINT) {
        return (double)point->index;
    }
    if (point->status != FULCRUM_OK) {
        return FULCRUM_UNKNOWN;
    }
    switch (column->cell) {
    case FULCRUM_CELL_FRONT:
        return fulcrum_sweep_front_frac(column->front, point->index);
    case FULCRUM_CELL_ACTORS:
        return prediction->actor_count;
    case FULCRUM_CELL_OUTPUT:
        return prediction->value[column->index];
    case FULCRUM_CELL_LOW:
        return prediction->has_interval ? prediction->lo[column->index]
                                        : FULCRUM_UNKNOWN;
    case FULCRUM_CELL_HIGH:
        return prediction->has_interval ? prediction->hi[column->index]
                                        : FULCRUM_UNKNOWN;
    case FULCRUM_CELL_RATIO:
        return point->relative[column->index].value;
    case FULCRUM_CELL_RATIO_LOW:
        return point->relative[column->index].lo;
    case FULCRUM_CELL_RATIO_HIGH:
        return point->relative[column->index].hi;
    case FULCRUM_CELL_ERROR:
        return prediction->solver_error_rel;
    case FULCRUM_CELL_HEAD:
    case FULCRUM_CELL_POINT:
    case FULCRUM_CELL_AXIS:
    case FULCRUM_CELL_METHOD:
    case FULCRUM_CELL_BOTTLENECK:
    case FULCRUM_CELL_FLAGS:
    case FULCRUM_CELL_STATUS:
    default:
        return FULCRUM_UNKNOWN;
    }
}

const char *fulcrum_sweep_column_text(const struct fulcrum_sweep_column *column,
    const struct fulcrum_sweep_point *point, char room[FULCRUM_CELL_SIZE])
{
    int ok = point->status == FULCRUM_OK;
    switch (column->cell) {
    case FULCRUM_CELL_HEAD:
        return column->text;
    case FULCRUM_CELL_METHOD:
        return ok ? fulcrum_method_name(point->prediction.method) : "";
    case FULCRUM_CELL_BOTTLENECK:
        return ok ? fulcrum_bottleneck_name(point->prediction.bottleneck) : "";
    case FULCRUM_CELL_FLAGS:
        fulcrum_flags_join(ok ? point->prediction.flags : 0U, room, FULCRUM_CELL_SIZE);
        return room;
    case FULCRUM_CELL_STATUS:
        return ok ? "ok" : point->reason;
    case FULCRUM_CELL_POINT:
    case FULCRUM_CELL_FRONT:
    case FULCRUM_CELL_AXIS:
    case FULCRUM_CELL_ACTORS:
    case FULCRUM_CELL_OUTPUT:
    case FULCRUM_CELL_LOW:
    case FULCRUM_CELL_HIGH:
    case FULCRUM_CELL_RATIO:
    case FULCRUM_CELL_RATIO_LOW:
    case FULCRUM_CELL_RATIO_HIGH:
    case FULCRUM_CELL_ERROR:
    default:
        return "";
    }
}

/* The metrics of a front, as written on the command line. */

/* Names that a metric may have: outputs, then the fields that vary. */
enum { NAMES_MOST = FULCRUM_OUTPUT_COUNT + FULCRUM_SWEEP_AXES_MOST };

/* Cuts ":max" or ":min" off a name; "actors" stands for its field here as elsewhere. */
static enum fulcrum_status read_item(
    struct fulcrum_front_item *item, struct fulcrum_error *err)
{
    char *colon = strchr(item->name, ':');
    FAIL_IF(colon != NULL && strcmp(colon, ":max") != 0 && strcmp(colon, ":min") != 0,
        err, FULCRUM_ERR_FORMAT,
        "--pareto: '%s': expected :max or :min behind a metric, or nothing",
        item->name);
    item->sense = FULCRUM_SENSE_NONE;
    if (colon != NULL) {
        item->sense =
            strcmp(colon, ":max") == 0 ? FULCRUM_SENSE_MORE : FULCRUM_SENSE_LESS;
        *colon = '\0';
    }
    const struct fulcrum_field *field = fulcrum_field_find(item->name);
    if (field != NULL) {
        (void)snprintf(item->name, sizeof item->name, "%s", field->path);
    }
    return FULCRUM_OK;
}

static bool is_given_before(const struct fulcrum_front_list *list, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (strcmp(list->items[k].name, list->items[i].name) == 0) {
            return 1;
        }
    }
    return 0;
}

enum fulcrum_status fulcrum_front_list_parse(
    const char *text, struct fulcrum_front_list *out, struct fulcrum_error *err)
{
    struct fulcrum_front_list list = {.count = 0};
    for (const char *at = text; at != NULL;) {
        if (list.count == FULCRUM_PARETO_METRICS_MOST) {
            list.count = 0; /* as wrong as too few */
            break;
        }
        struct fulcrum_front_item *item = &list.items[list.count++];
        char *name = fulcrum_list_part(&at);
        (void)snprintf(item->name, sizeof item->name, "%s", name);
        free(name);
        TRY(read_item(item, err));
        FAIL_IF(is_given_before(&list, list.count - 1), err, FULCRUM_ERR_RANGE,
            "--pareto: %s is given twice", item->name);
    }
    FAIL_IF(list.count < 2, err, FULCRUM_ERR_RANGE,
        "--pareto %s: expected two or three metrics", text);
    *out = list;
    return FULCRUM_OK;
}

static size_t list_names(
    const struct fulcrum_sweep_plan *plan, const char *names[NAMES_MOST])
{
    size_t count = 0;
    for (; count < FULCRUM_OUTPUT_COUNT; count++) {
        names[count] = fulcrum_output_name(count);
    }
    for (size_t i = 0; i < plan->axis_count; i++) {
        names[count++] = plan->axes[i].field->path;
    }
    return count;
}

/* The output or varied field that an item names. */
static enum fulcrum_status find_metric(const struct fulcrum_sweep_plan *plan,
    const struct fulcrum_front_item *item, struct fulcrum_sweep_pareto *out,
    struct fulcrum_error *err)
{
    const char *names[NAMES_MOST];
    size_t count = list_names(plan, names);
    size_t at = 0;
    while (at < count && strcmp(names[at], item->name) != 0) {
        at++;
    }
    if (at == count) {
        char hint[FULCRUM_OUTPUT_HINT_BYTE];
        const struct fulcrum_names known = {names, count, sizeof names[0]};
        fulcrum_names_hint(&known, item->name, hint, sizeof hint);
        return fulcrum_fail(err, FULCRUM_ERR_UNKNOWN_NAME,
            "--pareto: unknown metric '%s'%s", item->name, hint);
    }
    struct fulcrum_front_metric metric = {item->sense, at >= FULCRUM_OUTPUT_COUNT,
        at >= FULCRUM_OUTPUT_COUNT ? at - FULCRUM_OUTPUT_COUNT : at};
    if (metric.sense == FULCRUM_SENSE_NONE) {
        metric.sense = metric.is_axis ? FULCRUM_SENSE_LESS : fulcrum_output_sense(at);
    }
    FAIL_IF(metric.sense == FULCRUM_SENSE_NONE, err, FULCRUM_ERR_FORMAT,
        "--pareto: %s may be better either way: expected %s:max or %s:min", item->name,
        item->name, item->name);
    out->names[out->metric_count] = names[at];
    out->metrics[out->metric_count++] = metric;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_sweep_pareto_parse(const char *text,
    const struct fulcrum_sweep_plan *plan, struct fulcrum_context *context,
    struct fulcrum_sweep_pareto *out, struct fulcrum_error *err)
{
    struct fulcrum_sweep_pareto pareto = {.metric_count = 0};
    struct fulcrum_front_list list = {.count = 0};
    enum fulcrum_status status = fulcrum_front_list_parse(text, &list, err);
    for (size_t i = 0; status == FULCRUM_OK && i < list.count; i++) {
        status = find_metric(plan, &list.items[i], &pareto, err);
    }
    if (status == FULCRUM_OK) {
        *out = pareto;
    } else {
        context->exit_code = 2;
    }
    return status;
}

static const char *sense_word(enum fulcrum_sense sense)
{
    return sense == FULCRUM_SENSE_MORE ? "more" : "less";
}

void fulcrum_sweep_pareto_text(
    const struct fulcrum_sweep_pareto *pareto, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t i = 0; i < pareto->metric_count; i++) {
        size_t used = strlen(out);
        (void)snprintf(out + used, size - used, "%s%s %s", i > 0 ? " against " : "",
            sense_word(pareto->metrics[i].sense), pareto->names[i]);
    }
}

void fulcrum_sweep_pareto_json(
    const struct fulcrum_sweep_pareto *pareto, struct fulcrum_json *parent)
{
    struct fulcrum_json *list = fulcrum_json_add_array(parent, "pareto");
    for (size_t i = 0; i < pareto->metric_count; i++) {
        struct fulcrum_json *metric = fulcrum_json_append_object(list);
        fulcrum_json_add_text(metric, "metric", pareto->names[i]);
        fulcrum_json_add_text(metric, "better", sense_word(pareto->metrics[i].sense));
    }
}
