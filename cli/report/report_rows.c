/* report_rows.c - rows that a command answered, as a table of an HTML report. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/report/report_section.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/output/report.h"

/* Where a sweep is best, in words and as a table. */

static const struct metric {
    const char *output;
    const char *words;
} metrics[] = {
    {"steps_per_s", "throughput"},
    {"steps_per_j_gpu", "performance per GPU watt"},
    {"steps_per_j_system", "performance per system watt"},
};

static const char *metric_words(const char *output)
{
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        if (strcmp(metrics[i].output, output) == 0) {
            return metrics[i].words;
        }
    }
    return "";
}

/* One end of a pair such as "best_interval". */
static double report_best_end_of(
    const struct fulcrum_node *object, const char *key, size_t i)
{
    struct fulcrum_node pair = fulcrum_node_member(object, key);
    struct fulcrum_node end = fulcrum_node_element(&pair, i);
    return end.json != NULL ? fulcrum_node_value(&end) : (double)NAN;
}

int fulcrum_report_best_read(struct fulcrum_reply *sweep, size_t i,
    enum fulcrum_report_axis *axis, struct fulcrum_report_best *out)
{
    struct fulcrum_node root = fulcrum_reply_root(sweep);
    struct fulcrum_node optima = fulcrum_node_member(&root, "optima");
    struct fulcrum_node optimum = fulcrum_node_element(&optima, i);
    struct fulcrum_node axes = fulcrum_node_member(&optimum, "axes");
    struct fulcrum_node along = fulcrum_node_element(&axes, 0);
    if (along.json == NULL) {
        return 0;
    }
    char output[64];
    fulcrum_node_member_text(&optimum, "output", output, sizeof output);
    *out = (struct fulcrum_report_best){.metric = metric_words(output)};
    fulcrum_node_member_text(&along, "shape", out->shape, sizeof out->shape);
    double best = fulcrum_node_member_number(&along, "best");
    double ratio = fulcrum_node_member_number(&optimum, "cpu_gpu_ratio_used");
    /* What one unit of the field is in ratios: the field is the count of threads. */
    double per_unit = 1.0;
    if (*axis == FULCRUM_REPORT_AXIS_RATIO && isfinite(ratio) && best > 0.0) {
        per_unit = ratio / best;
    } else {
        *axis = FULCRUM_REPORT_AXIS_FIELD;
    }
    out->at = best * per_unit;
    out->at_lo = report_best_end_of(&along, "best_interval", 0) * per_unit;
    out->at_hi = report_best_end_of(&along, "best_interval", 1) * per_unit;
    out->from = report_best_end_of(&along, "plateau", 0) * per_unit;
    out->from_lo = report_best_end_of(&along, "plateau_first_interval", 0) * per_unit;
    out->from_hi = report_best_end_of(&along, "plateau_first_interval", 1) * per_unit;
    out->to = report_best_end_of(&along, "plateau", 1) * per_unit;
    return 1;
}

/* " (0.6 to 1.2)", or nothing. */
static void interval_words(double lo, double hi, char *out, size_t size)
{
    char range[2 * FULCRUM_QUANTITY_SIZE];
    fulcrum_range_words(lo, hi, (double)NAN, "", range);
    (void)snprintf(out, size, "%s%s%s", range[0] != '\0' ? " (90 %: " : "", range,
        range[0] != '\0' ? ")" : "");
}

void fulcrum_report_best_words(
    const struct fulcrum_report_best *best, const char *axis, char *out, size_t size)
{
    char at[FULCRUM_QUANTITY_SIZE];
    char from[FULCRUM_QUANTITY_SIZE];
    char to[FULCRUM_QUANTITY_SIZE];
    char at_range[160];
    char from_range[160];
    fulcrum_number_words(best->at, 3, at);
    fulcrum_number_words(best->from, 3, from);
    fulcrum_number_words(best->to, 3, to);
    interval_words(best->at_lo, best->at_hi, at_range, sizeof at_range);
    interval_words(best->from_lo, best->from_hi, from_range, sizeof from_range);
    if (strcmp(best->shape, "optimum") == 0) {
        (void)snprintf(out, size,
            "is best at %s %s%s, and within 5 %% of that from %s to %s", axis, at,
            at_range, from, to);
    } else if (strcmp(best->shape, "plateau-to-last") == 0) {
        (void)snprintf(out, size, "comes within 5 %% of its best at %s %s%s", axis,
            from, from_range);
    } else if (strcmp(best->shape, "rises") == 0) {
        (void)snprintf(
            out, size, "still rises at %s %s, where the sweep ends", axis, at);
    } else if (strcmp(best->shape, "falls") == 0) {
        (void)snprintf(out, size, "falls from %s %s, where the sweep begins", axis, at);
    } else if (strcmp(best->shape, "plateau-from-first") == 0) {
        (void)snprintf(
            out, size, "stays within 5 %% of its best up to %s %s", axis, to);
    } else {
        (void)snprintf(
            out, size, "changes by less than 5 %% from %s %s to %s", axis, from, to);
    }
}

void fulcrum_report_best_table(struct fulcrum_reply *sweep,
    enum fulcrum_report_axis wanted, const char *axis, FILE *out)
{
    static const char *const headings[] = {"best of", "#at", "#within 5 % from", "#to"};
    struct fulcrum_report_best best;
    enum fulcrum_report_axis found = wanted;
    if (!fulcrum_report_best_read(sweep, 0, &found, &best)) {
        return;
    }
    char caption[200];
    (void)snprintf(caption, sizeof caption, "Where it is best, by %s%s",
        found == wanted ? axis : "number of threads",
        isfinite(best.at_lo) ? ", with 90 % intervals" : "");
    fulcrum_html_table_begin(
        out, caption, headings, sizeof headings / sizeof headings[0]);
    for (size_t i = 0; fulcrum_report_best_read(sweep, i, &found, &best); i++) {
        char number[FULCRUM_QUANTITY_SIZE];
        char range[2 * FULCRUM_QUANTITY_SIZE];
        fulcrum_html_row_begin(out, best.metric);
        fulcrum_number_words(best.at, 3, number);
        fulcrum_range_words(best.at_lo, best.at_hi, best.at, "", range);
        fulcrum_html_cell_value(out, number, range);
        fulcrum_number_words(best.from, 3, number);
        fulcrum_range_words(best.from_lo, best.from_hi, best.from, "", range);
        fulcrum_html_cell_value(out, number, range);
        fulcrum_number_words(best.to, 3, number);
        fulcrum_html_cell_value(out, number, "");
        fulcrum_html_row_end(out);
    }
    fulcrum_html_table_end(out);
}

enum { TEXT_SIZE = 300, KEY_SIZE = 96 };

static double end_of(const struct fulcrum_node *row, const char *key, const char *end)
{
    char name[KEY_SIZE];
    (void)snprintf(name, sizeof name, "%s%s", key, end);
    return fulcrum_node_member_number(row, name);
}

static void write_number(const struct fulcrum_report_column *column,
    const struct fulcrum_node *row, FILE *out)
{
    double value = fulcrum_node_member_number(row, column->key);
    double lo = column->has_range ? end_of(row, column->key, "_lo") : (double)NAN;
    double hi = column->has_range ? end_of(row, column->key, "_hi") : (double)NAN;
    char text[FULCRUM_QUANTITY_SIZE];
    char range[2 * FULCRUM_QUANTITY_SIZE];
    if (strcmp(column->unit, "x") == 0) {
        fulcrum_factor_words(value, text);
        fulcrum_factor_range_words(lo, hi, range);
    } else {
        fulcrum_quantity_words(value, column->unit, text);
        fulcrum_range_words(lo, hi, value, column->unit, range);
    }
    /* What was not drawn has no interval, though its ends are there. */
    fulcrum_html_cell_value(out, text, hi > lo ? range : "");
}

/* The cell that names a row: a text, or a number that reads like one. */
static void begin_row(const struct fulcrum_report_column *column,
    const struct fulcrum_node *row, FILE *out)
{
    char text[TEXT_SIZE];
    if (column->unit == NULL) {
        fulcrum_node_member_text(row, column->key, text, sizeof text);
    } else {
        fulcrum_quantity_words(
            fulcrum_node_member_number(row, column->key), column->unit, text);
    }
    fulcrum_html_row_begin(out, text);
}

static void write_row(
    const struct fulcrum_report_table *table, const struct fulcrum_node *row, FILE *out)
{
    begin_row(&table->columns[0], row, out);
    for (size_t i = 1; i < table->column_count; i++) {
        const struct fulcrum_report_column *column = &table->columns[i];
        char text[TEXT_SIZE];
        if (column->unit != NULL) {
            write_number(column, row, out);
            continue;
        }
        fulcrum_node_member_text(row, column->key, text, sizeof text);
        fulcrum_html_cell(out, text);
    }
    fulcrum_html_row_end(out);
}

static bool is_wanted(
    const struct fulcrum_report_table *table, const struct fulcrum_node *row)
{
    char text[TEXT_SIZE];
    if (table->where == NULL) {
        return 1;
    }
    fulcrum_node_member_text(row, table->where, text, sizeof text);
    return strcmp(text, table->is) == 0;
}

static void begin_table(const struct fulcrum_report_table *table, FILE *out)
{
    const char *headings[FULCRUM_REPORT_COLUMNS_MOST];
    for (size_t i = 0; i < table->column_count; i++) {
        headings[i] = table->columns[i].title;
    }
    fulcrum_html_table_begin(out, table->caption, headings, table->column_count);
}

static bool is_blank(
    const struct fulcrum_report_column *column, const struct fulcrum_node *row)
{
    char text[TEXT_SIZE];
    if (column->unit != NULL) {
        return isnan(fulcrum_node_member_number(row, column->key));
    }
    fulcrum_node_member_text(row, column->key, text, sizeof text);
    return text[0] == '\0';
}

static bool is_blank_everywhere(const struct fulcrum_report_table *table,
    const struct fulcrum_report_column *column, const struct fulcrum_node *rows)
{
    size_t count = fulcrum_node_count(rows);
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_node row = fulcrum_node_element(rows, i);
        if (is_wanted(table, &row) && !is_blank(column, &row)) {
            return 0;
        }
    }
    return 1;
}

/* Without the columns that say nothing, which phones would have to scroll past. */
static struct fulcrum_report_table without_blanks(
    const struct fulcrum_report_table *table, const struct fulcrum_node *rows)
{
    struct fulcrum_report_table lean = *table;
    lean.column_count = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        if (i == 0 || !is_blank_everywhere(table, &table->columns[i], rows)) {
            lean.columns[lean.column_count++] = table->columns[i];
        }
    }
    return lean;
}

size_t fulcrum_report_rows_write(
    const struct fulcrum_report_table *whole, struct fulcrum_reply *reply, FILE *out)
{
    struct fulcrum_node root = fulcrum_reply_root(reply);
    struct fulcrum_node rows = fulcrum_node_member(&root, whole->rows);
    const struct fulcrum_report_table lean = without_blanks(whole, &rows);
    const struct fulcrum_report_table *table = &lean;
    size_t count = fulcrum_node_count(&rows);
    size_t written = 0;
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_node row = fulcrum_node_element(&rows, i);
        if (!is_wanted(table, &row) ||
            (table->rows_most > 0 && written == table->rows_most)) {
            continue;
        }
        if (written == 0) {
            begin_table(table, out);
        }
        write_row(table, &row, out);
        written++;
    }
    if (written > 0) {
        fulcrum_html_table_end(out);
    }
    return written;
}
