/* sweep_columns.c - the columns of a sweep's output, and what each shows of a point. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The columns are settled before the first point: the head, axes, every output with its
 * interval, ratios to a point of comparison, then words. Every row has all of them,
 * also that of a point that cannot run, so that an output has as many rows as the sweep
 * has points.
 */

#include "cli/output/sweep_columns.h"
#include "cli/message.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/number.h"
#include "model/predict/solver.h"
#include "model/string.h"
#include "model/try.h"

#define OFFSET(member) offsetof(struct fulcrum_sweep_point, member)

/* Of item `i` of an array of doubles. */
static size_t offset_in(size_t array, size_t i)
{
    return array + i * sizeof(double);
}

static struct fulcrum_stream_column *add_column(struct fulcrum_sweep_columns *columns,
    const char *key, const char *title, enum fulcrum_sweep_cell kind, size_t offset)
{
    struct fulcrum_stream_column *column = &columns->items[columns->count];
    *column = (struct fulcrum_stream_column){.title = title};
    (void)snprintf(column->key, sizeof column->key, "%s", key);
    bool is_text = kind == FULCRUM_CELL_SAME || kind >= FULCRUM_CELL_METHOD;
    column->kind = is_text ? FULCRUM_VALUE_TEXT : FULCRUM_VALUE_NUMBER;
    column->is_exact =
        kind == FULCRUM_CELL_AXIS; /* what the user asked for is found again */
    columns->sources[columns->count].kind = kind;
    columns->sources[columns->count++].offset = offset;
    return column;
}

/* Lower and upper end stand beside the value, the last column so far. */
static void add_ends(struct fulcrum_sweep_columns *columns,
    enum fulcrum_sweep_cell kind, size_t lo, size_t hi)
{
    const struct fulcrum_stream_column value = columns->items[columns->count - 1];
    char key[sizeof value.key];
    (void)snprintf(key, sizeof key, "%.90s_lo", value.key);
    (void)add_column(columns, key, NULL, kind, lo);
    (void)snprintf(key, sizeof key, "%.90s_hi", value.key);
    (void)add_column(columns, key, NULL, kind, hi);
}

/* What decides between designs comes first; comparisons leave room for little else. */
static const char *title_of_output(const struct fulcrum_sweep_plan *plan, size_t output)
{
    enum { COUNT = 6, COMPARED_COUNT = 2 };
    static const enum fulcrum_predicted few[COUNT] = {FULCRUM_OUTPUT_steps_per_s,
        FULCRUM_OUTPUT_system_w, FULCRUM_OUTPUT_gpu_busy_frac,
        FULCRUM_OUTPUT_steps_per_j_gpu, FULCRUM_OUTPUT_steps_per_j_system,
        FULCRUM_OUTPUT_cpu_gpu_ratio_used};
    size_t count = plan->yardstick != NULL ? COMPARED_COUNT : COUNT;
    for (size_t i = 0; i < count; i++) {
        if (few[i] == output) {
            return fulcrum_output_title(output);
        }
    }
    return NULL;
}

void fulcrum_sweep_columns_init(struct fulcrum_sweep_columns *out,
    const struct fulcrum_result *head, const struct fulcrum_sweep_plan *plan,
    const struct fulcrum_sweep_front *front)
{
    static const char *const heads[] = {
        "machine", "workload", "calibration", "actors_rule"};
    const char *actors = "actors";
    out->count = 0;
    out->front = front;
    /* A fact of the head in every row: whole files are joined by them. */
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        add_column(out, heads[i], NULL, FULCRUM_CELL_SAME, 0)->same =
            fulcrum_result_text_of(head, heads[i]);
    }
    if (front != NULL) {
        (void)add_column(out, "point", "point", FULCRUM_CELL_POINT, 0);
    }
    for (size_t i = 0; i < plan->axis_count; i++) {
        const char *path = plan->axes[i].field->path;
        (void)add_column(
            out, path, path, FULCRUM_CELL_AXIS, offset_in(OFFSET(varied), i));
        actors = strcmp(path, "run.actor_count") == 0 ? NULL : actors;
    }
    (void)add_column(out, "actor_count", actors, FULCRUM_CELL_NUMBER,
        OFFSET(prediction.actor_count));
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        (void)add_column(out, fulcrum_output_name(i), title_of_output(plan, i),
            FULCRUM_CELL_NUMBER, offset_in(OFFSET(prediction.value), i));
        if (plan->predict.draws > 0.0) {
            add_ends(out, FULCRUM_CELL_END, offset_in(OFFSET(prediction.lo), i),
                offset_in(OFFSET(prediction.hi), i));
        }
    }
    /* The ends are there, blank, without draws too: charts find the columns they know.
     */
    for (size_t i = 0; i < FULCRUM_RELATIVE_COUNT && plan->yardstick != NULL; i++) {
        size_t at = OFFSET(relative) + i * sizeof(struct fulcrum_ratio);
        const char *name = fulcrum_relative_name(i);
        (void)add_column(out, name, i == FULCRUM_RELATIVE_SPEEDUP ? name : NULL,
            FULCRUM_CELL_NUMBER, at + offsetof(struct fulcrum_ratio, value));
        add_ends(out, FULCRUM_CELL_NUMBER, at + offsetof(struct fulcrum_ratio, lo),
            at + offsetof(struct fulcrum_ratio, hi));
    }
    if (front != NULL && fulcrum_sweep_front_has_draws(front)) {
        (void)add_column(out, "front_frac", "draws with it", FULCRUM_CELL_FRONT, 0);
    }
    (void)add_column(out, "method", NULL, FULCRUM_CELL_METHOD, 0);
    (void)add_column(out, "solver_error_rel", NULL, FULCRUM_CELL_NUMBER,
        OFFSET(prediction.solver_error_rel));
    (void)add_column(out, "steps_per_s_at_fit", NULL, FULCRUM_CELL_NUMBER,
        offset_in(OFFSET(prediction.at_fit), FULCRUM_OUTPUT_steps_per_s));
    (void)add_column(out, "bottleneck", "bottleneck", FULCRUM_CELL_BOTTLENECK, 0);
    (void)add_column(out, "flags", NULL, FULCRUM_CELL_FLAGS, 0);
    (void)add_column(out, "status", "status", FULCRUM_CELL_STATUS, 0);
}

static enum fulcrum_status fail_column(const struct fulcrum_sweep_columns *columns,
    const char *name, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const char *names[FULCRUM_SWEEP_COLUMNS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < columns->count; i++) {
        const char *end = strrchr(columns->items[i].key, '_');
        if (end == NULL || (strcmp(end, "_lo") != 0 && strcmp(end, "_hi") != 0)) {
            names[count++] = columns->items[i].key;
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
    columns->count = 0;
    while (list != NULL && columns->count < FULCRUM_SWEEP_COLUMNS_MOST) {
        char *name = fulcrum_list_part(&list);
        size_t i = 0;
        while (i < all.count && strcmp(all.items[i].key, name) != 0) {
            i++;
        }
        enum fulcrum_status status =
            i < all.count ? FULCRUM_OK : fail_column(&all, name, context, err);
        free(name);
        TRY(status);
        struct fulcrum_stream_column *column = &columns->items[columns->count];
        const char *title = fulcrum_output_title(fulcrum_output_find(all.items[i].key));
        *column = all.items[i];
        column->title = column->title != NULL ? column->title
                        : title != NULL       ? title
                                              : column->key;
        columns->sources[columns->count++] = all.sources[i];
    }
    return FULCRUM_OK;
}

/* A point that cannot run has the values of its axes and no other number. */
static double number_of(const struct fulcrum_sweep_columns *columns, size_t j,
    const struct fulcrum_sweep_point *point)
{
    enum fulcrum_sweep_cell kind = columns->sources[j].kind;
    bool ok = point->status == FULCRUM_OK;
    if (kind == FULCRUM_CELL_POINT) {
        return (double)point->index;
    }
    if (kind == FULCRUM_CELL_FRONT && ok) {
        return fulcrum_sweep_front_frac(columns->front, point->index);
    }
    bool has_number =
        kind == FULCRUM_CELL_AXIS || (kind == FULCRUM_CELL_NUMBER && ok) ||
        (kind == FULCRUM_CELL_END && ok && point->prediction.has_interval);
    double value = FULCRUM_UNKNOWN;
    if (has_number) {
        memcpy(&value, (const char *)point + columns->sources[j].offset, sizeof value);
    }
    return value;
}

static const char *text_of(enum fulcrum_sweep_cell kind,
    const struct fulcrum_sweep_point *point, char room[FULCRUM_REASON_BYTE])
{
    bool ok = point->status == FULCRUM_OK;
    if (kind == FULCRUM_CELL_STATUS) {
        return ok ? "ok" : point->reason;
    }
    if (!ok || kind == FULCRUM_CELL_SAME) {
        return "";
    }
    if (kind == FULCRUM_CELL_FLAGS) {
        fulcrum_flags_join(point->prediction.flags, room, FULCRUM_REASON_BYTE);
        return room;
    }
    return kind == FULCRUM_CELL_METHOD
               ? fulcrum_method_name(point->prediction.method)
               : fulcrum_bottleneck_name(point->prediction.bottleneck);
}

void fulcrum_sweep_columns_cells(const struct fulcrum_sweep_columns *columns,
    const struct fulcrum_sweep_point *point, struct fulcrum_cell *cells,
    char room[FULCRUM_REASON_BYTE])
{
    for (size_t j = 0; j < columns->count; j++) {
        if (columns->items[j].kind == FULCRUM_VALUE_TEXT) {
            cells[j].text = text_of(columns->sources[j].kind, point, room);
        } else {
            cells[j].number = number_of(columns, j, point);
        }
    }
}

/* Names that a metric may have: outputs, then the fields that vary. */
enum { NAMES_MOST = FULCRUM_OUTPUT_COUNT + FULCRUM_SWEEP_AXES_MOST };

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
        /* ":max" or ":min" is cut off a name; "actors" stands for its field here as
         * elsewhere. */
        char *colon = strchr(item->name, ':');
        FAIL_IF(
            colon != NULL && strcmp(colon, ":max") != 0 && strcmp(colon, ":min") != 0,
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
        for (size_t k = 0; k + 1 < list.count; k++) {
            FAIL_IF(strcmp(list.items[k].name, item->name) == 0, err, FULCRUM_ERR_RANGE,
                "--pareto: %s is given twice", item->name);
        }
    }
    FAIL_IF(list.count < 2, err, FULCRUM_ERR_RANGE,
        "--pareto %s: expected two or three metrics", text);
    *out = list;
    return FULCRUM_OK;
}

/* The output or varied field that an item names. */
static enum fulcrum_status find_metric(const struct fulcrum_sweep_plan *plan,
    const struct fulcrum_front_item *item, struct fulcrum_sweep_pareto *out,
    struct fulcrum_error *err)
{
    const char *names[NAMES_MOST];
    size_t count = 0;
    size_t at = 0;
    for (; count < FULCRUM_OUTPUT_COUNT; count++) {
        names[count] = fulcrum_output_name(count);
    }
    for (size_t i = 0; i < plan->axis_count; i++) {
        names[count++] = plan->axes[i].field->path;
    }
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

void fulcrum_sweep_pareto_add(
    const struct fulcrum_sweep_pareto *pareto, struct fulcrum_result *result)
{
    struct fulcrum_table *table = fulcrum_result_table(result, "pareto", NULL);
    for (size_t i = 0; i < pareto->metric_count; i++) {
        fulcrum_table_row(table);
        fulcrum_table_text(table, "metric", NULL, pareto->names[i]);
        fulcrum_table_text(table, "better", NULL, sense_word(pareto->metrics[i].sense));
    }
}
