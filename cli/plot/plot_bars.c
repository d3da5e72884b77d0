/* plot_bars.c - what charts of stacked bars need beside the columns of a file. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/plot/plot_job.h"
#include "model/design/scale.h"
#include "model/stage_kind.h"
#include "model/string.h"
#include "model/try.h"
#include "model/whatif/component_cost.h"

/* --- Breakdowns of sweeps and predictions --- */

/* What files may have in common, and else are told apart by. */
enum common { WORKLOAD, MACHINE, CALIBRATION, COMMONS, FIELDS_MOST = 8 };
static const char *const common_keys[COMMONS] = {"workload", "machine", "calibration"};

/* Files that become one chart. */
struct breakdown {
    const struct fulcrum_bar_chart *chart;
    struct fulcrum_plot_source *files; /* the first is borrowed */
    size_t count;
    const char *common[COMMONS]; /* "": files differ in it */
    size_t field_count;          /* columns that vary in the file at hand */
    size_t fields[FIELDS_MOST];
    struct fulcrum_table *table; /* of the chart */
    struct fulcrum_string footnote;
};

/* A prediction has its facts beside no table: they are one row. */
static void make_row(struct fulcrum_result *result, const char *key)
{
    size_t count = fulcrum_result_count(result);
    struct fulcrum_table *table = fulcrum_result_table(result, key, NULL);
    fulcrum_table_row(table);
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_item item = *fulcrum_result_item(result, i);
        if (item.table == NULL && item.cell.text == NULL) {
            fulcrum_plot_cell_add(table, item.key, item.cell);
        }
    }
}

static void find_fields(struct breakdown *breakdown, const struct fulcrum_table *table)
{
    breakdown->field_count = 0;
    for (size_t j = 0; j < fulcrum_table_columns(table); j++) {
        if (breakdown->field_count < FIELDS_MOST && fulcrum_plot_varies(table, j)) {
            breakdown->fields[breakdown->field_count++] = j;
        }
    }
}

/* "64 actors", "sm_count 40". */
static void write_value(struct fulcrum_string *out, const char *path, double value)
{
    static const struct {
        const char *path;
        const char *one;
    } words[] = {{"run.actor_count", "actor"}, {"run.gpu_count", "GPU"},
        {"run.sm_count", "SM"}, {"machine.gpu.sm_count", "SM"},
        {"machine.gpu.count", "GPU"}, {"machine.cpu.thread_count", "thread"},
        {"run.node_count", "node"}};
    const char *dot = strrchr(path, '.');
    const char *between = out->length > 0 ? ", " : "";
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i].path, path) == 0) {
            fulcrum_string_add(out, "%s%.6g %s%s", between, value, words[i].one,
                value == 1.0 ? "" : "s");
            return;
        }
    }
    fulcrum_string_add(out, "%s%s %.6g", between, dot != NULL ? dot + 1 : path, value);
}

/* What files differ in comes first, then what varies in this one. */
static void name_bar(const struct breakdown *breakdown,
    const struct fulcrum_plot_source *file, const struct fulcrum_table *from,
    size_t row)
{
    struct fulcrum_string name = {0};
    for (size_t k = 0; k < COMMONS; k++) {
        const char *text = fulcrum_plot_text_of(file->result, from, common_keys[k]);
        if (breakdown->common[k][0] == '\0' && text[0] != '\0') {
            fulcrum_string_add(&name, "%s%s", name.length > 0 ? ", " : "", text);
        }
    }
    for (size_t k = 0; k < breakdown->field_count; k++) {
        size_t j = breakdown->fields[k];
        write_value(&name, fulcrum_table_column(from, j).key,
            fulcrum_table_cell(from, row, j).number);
    }
    const char *machine =
        fulcrum_plot_text_of(file->result, from, common_keys[MACHINE]);
    const char *whole = machine[0] != '\0' ? machine : file->name;
    fulcrum_table_text(breakdown->table, "name", NULL,
        name.length > 0 ? fulcrum_string_get(&name) : whole);
    fulcrum_string_clear(&name);
}

/* What the chart looks at, NAN where there is no such row; whether all of it is known.
 */
static bool add_cells(
    const struct breakdown *breakdown, const struct fulcrum_table *from, size_t row)
{
    const struct fulcrum_bar_chart *chart = breakdown->chart;
    const char *const others[] = {
        chart->whole, chart->panels[0].interval, chart->panels[0].rate};
    bool is_known = true;
    for (size_t k = 0; k < FULCRUM_BAR_PARTS_MAX + sizeof others / sizeof others[0];
         k++) {
        const char *key = k < FULCRUM_BAR_PARTS_MAX ? chart->parts[k].key
                                                    : others[k - FULCRUM_BAR_PARTS_MAX];
        if (key != NULL && key[0] != '\0') {
            struct fulcrum_cell cell = fulcrum_table_at(from, row, key);
            fulcrum_plot_cell_add(breakdown->table, key, cell);
            is_known = is_known && (k > FULCRUM_BAR_PARTS_MAX || isfinite(cell.number));
        }
    }
    return is_known;
}

/* Points of one file; groups of several bars are set apart by an empty row. */
static enum fulcrum_status add_points_of(struct breakdown *breakdown,
    const struct fulcrum_plot_source *file, bool has_groups, struct fulcrum_error *err)
{
    const struct fulcrum_bar_chart_data data = {
        .chart = breakdown->chart, .result = file->result};
    const struct fulcrum_table *from =
        fulcrum_bar_chart_table(breakdown->chart, file->result);
    size_t rows = fulcrum_table_rows(from);
    size_t failed = 0;
    size_t known = 0;
    TRY(fulcrum_bar_chart_check(&data, err));
    find_fields(breakdown, from);
    if (has_groups && fulcrum_table_rows(breakdown->table) > 0) {
        fulcrum_table_row(breakdown->table);
        fulcrum_table_text(breakdown->table, "name", NULL, "");
        (void)add_cells(breakdown, from, rows);
    }
    for (size_t i = 0; i < rows; i++) {
        if (!fulcrum_plot_ran(from, i)) {
            failed++;
            continue;
        }
        fulcrum_table_row(breakdown->table);
        name_bar(breakdown, file, from, i);
        known += add_cells(breakdown, from, i) ? 1U : 0U;
        fulcrum_string_add_parts(
            &breakdown->footnote, fulcrum_plot_text(from, i, "flags"));
    }
    FAIL_IF(known == 0, err, FULCRUM_ERR_UNSUPPORTED, "no point has a breakdown of %s",
        breakdown->chart->name);
    /* A prediction has its flags in a list. */
    const struct fulcrum_table *flags = fulcrum_result_table_of(file->result, "flags");
    for (size_t i = 0; i < fulcrum_table_rows(flags); i++) {
        fulcrum_string_add_parts(
            &breakdown->footnote, fulcrum_table_cell(flags, i, 0).text);
    }
    if (failed > 0) {
        fulcrum_string_add(&breakdown->footnote, "%s%s: %zu of %zu points cannot run",
            breakdown->footnote.length > 0 ? "; " : "", file->name, failed, rows);
    }
    return FULCRUM_OK;
}

/* Texts that all points of all files share. */
static void find_common(struct breakdown *breakdown)
{
    for (size_t k = 0; k < COMMONS; k++) {
        breakdown->common[k] = "";
    }
    for (size_t i = 0; i < breakdown->count; i++) {
        const struct fulcrum_result *result = breakdown->files[i].result;
        const struct fulcrum_table *table =
            fulcrum_bar_chart_table(breakdown->chart, result);
        for (size_t k = 0; k < COMMONS; k++) {
            const char *text = fulcrum_plot_text_of(result, table, common_keys[k]);
            bool is_same = i == 0 || strcmp(breakdown->common[k], text) == 0;
            breakdown->common[k] = is_same ? text : "";
        }
    }
}

static void add_calibration(struct fulcrum_result *result, const char *name)
{
    fulcrum_result_print(
        result, "subtitle", NULL, "%s%s", name[0] != '\0' ? "calibration " : "", name);
}

static enum fulcrum_status open_files(struct breakdown *breakdown,
    const struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    breakdown->files[0] = job->source;
    for (size_t i = 0; i < breakdown->count; i++) {
        struct fulcrum_plot_source *file = &breakdown->files[i];
        if (i > 0) {
            TRY(fulcrum_plot_source_open(
                job->more.items[i - 1], FULCRUM_PLOT_SWEEP, file, err));
        }
        FAIL_IF(file->content != FULCRUM_PLOT_SWEEP &&
                    file->content != FULCRUM_PLOT_PREDICTION,
            err, FULCRUM_ERR_UNSUPPORTED,
            "%s holds %s: a breakdown is drawn from %s or %s", file->name,
            fulcrum_plot_content_words(file->content),
            fulcrum_plot_content_words(FULCRUM_PLOT_SWEEP),
            fulcrum_plot_content_words(FULCRUM_PLOT_PREDICTION));
        if (fulcrum_bar_chart_table(breakdown->chart, file->result) == NULL) {
            make_row(file->result, breakdown->chart->table);
        }
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_plot_breakdown_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    const struct fulcrum_bar_chart *chart = fulcrum_breakdowns[job->parts];
    size_t count = job->more.count + 1;
    struct breakdown breakdown = {.chart = chart,
        .files = fulcrum_allocate(count, sizeof *breakdown.files),
        .count = count,
        .table = fulcrum_result_table(result, chart->table, NULL)};
    bool has_groups = false;
    enum fulcrum_status status;
    TRY_OR_END(open_files(&breakdown, job, err));
    for (size_t i = 0; i < count; i++) {
        has_groups = has_groups || fulcrum_table_rows(fulcrum_bar_chart_table(
                                       chart, breakdown.files[i].result)) > 1;
    }
    find_common(&breakdown);
    for (size_t i = 0; i < count; i++) {
        status = add_points_of(&breakdown, &breakdown.files[i], has_groups, err);
        TRY_OR_END(status == FULCRUM_OK
                       ? status
                       : fulcrum_fail_in(err, status, breakdown.files[i].name));
    }
    fulcrum_plot_title_add(
        result, "title", breakdown.common[WORKLOAD], breakdown.common[MACHINE]);
    add_calibration(result, breakdown.common[CALIBRATION]);
    fulcrum_result_text(
        result, "footnote", NULL, fulcrum_string_get(&breakdown.footnote));
end:
    for (size_t i = 1; i < count; i++) {
        fulcrum_plot_source_close(&breakdown.files[i]);
    }
    free(breakdown.files);
    fulcrum_string_clear(&breakdown.footnote);
    return status;
}

/* --- GPU time and runs of several machines, from `fulcrum memory` --- */

/* Less is the solver's rounding. */
#define CLIPPED_FROM 0.002

/* Rows of one machine, which follow each other. */
struct machine {
    size_t end;
    double steps_per_s;
    double gpu_s; /* all GPU work of an agent step, as its parts or as a whole */
    double sum_s; /* of its parts */
};

/* What is not known, or less than nothing by rounding, is nothing. */
static double at_least_0(const struct fulcrum_table *table, size_t row, const char *key)
{
    double value = fulcrum_plot_number(table, row, key);
    return value > 0.0 ? value : 0.0;
}

/*
 * A faster link to the host shortens GPU work by what no component has: parts that are
 * more than the whole are drawn smaller alike.
 */
static struct machine machine_at(const struct fulcrum_table *table, size_t first)
{
    const char *name = fulcrum_plot_text(table, first, "machine");
    struct machine machine = {.end = first};
    double whole_s = 0.0;
    while (machine.end < fulcrum_table_rows(table) &&
           strcmp(fulcrum_plot_text(table, machine.end, "machine"), name) == 0) {
        double part_s = at_least_0(table, machine.end, "gpu_s");
        double part_frac = at_least_0(table, machine.end, "gpu_frac");
        machine.sum_s += part_s;
        whole_s = part_s > 0.0 && part_frac > 0.0 ? part_s / part_frac : whole_s;
        machine.steps_per_s = fulcrum_plot_number(table, machine.end, "steps_per_s");
        machine.end++;
    }
    machine.gpu_s = whole_s > 0.0 ? fmin(whole_s, machine.sum_s) : machine.sum_s;
    return machine;
}

static enum fulcrum_status check_component(
    const struct fulcrum_table *table, size_t row, struct fulcrum_error *err)
{
    const struct fulcrum_bar_part *parts = fulcrum_bars_components.parts;
    const char *component = fulcrum_plot_text(table, row, "component");
    double rate = fulcrum_plot_number(table, row, "steps_per_s");
    bool is_known = false;
    for (size_t k = 0; k < FULCRUM_BAR_PARTS_MAX && parts[k].key != NULL; k++) {
        is_known = is_known || strcmp(parts[k].key, component) == 0;
    }
    FAIL_IF(!is_known, err, FULCRUM_ERR_FORMAT,
        "row %zu: component = '%s': expected one of 'fulcrum memory'", row + 1,
        component);
    FAIL_IF(!(rate > 0.0), err, FULCRUM_ERR_FORMAT,
        "row %zu: steps_per_s = %.6g: expected a number above 0", row + 1, rate);
    return FULCRUM_OK;
}

static void add_component_words(struct fulcrum_result *result,
    const struct fulcrum_table *table, bool is_clipped, bool has_others)
{
    struct fulcrum_string subtitle = {0};
    char others[100] = "";
    fulcrum_plot_say(
        &subtitle, "workload ", fulcrum_plot_text_of(result, table, "workload"), "; ");
    fulcrum_plot_say(&subtitle, "calibration ",
        fulcrum_plot_text_of(result, table, "calibration"), "; ");
    fulcrum_result_print(result, "subtitle", NULL,
        "%seach component made ideal in turn: what is gone is its part",
        fulcrum_string_get(&subtitle));
    fulcrum_string_clear(&subtitle);
    if (has_others) {
        (void)snprintf(others, sizeof others,
            " GPUs other than the calibration's: scaled, x or / %g for one standard "
            "deviation.",
            FULCRUM_GPU_SPREAD_FACTOR);
    }
    fulcrum_result_print(result, "footnote", NULL,
        "GPU time is a sum: its parts have no order. Parts of a run are what is gained "
        "in the order DRAM bandwidth, latencies, SMs, arithmetic, launches, host; in "
        "another order they differ.%s%s",
        is_clipped ? " Parts below 0 are drawn as 0." : "", others);
}

enum fulcrum_status fulcrum_plot_components_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    static const char *const numbers[] = {"gpu_s", "gpu_frac", "run_frac", NULL};
    struct fulcrum_table *table =
        fulcrum_bar_chart_table(&fulcrum_bars_components, result);
    const struct machine first = machine_at(table, 0);
    bool is_clipped = false;
    (void)job;
    TRY(fulcrum_plot_check_numbers(table, numbers, err));
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        TRY(check_component(table, i, err));
    }
    FAIL_IF(!(first.gpu_s > 0.0), err, FULCRUM_ERR_FORMAT,
        "machine %s: no GPU time in its rows", fulcrum_plot_text(table, 0, "machine"));
    for (size_t i = 0; i < fulcrum_table_rows(table);) {
        const struct machine machine = machine_at(table, i);
        double per_s =
            machine.sum_s > 0.0 ? machine.gpu_s / machine.sum_s / first.gpu_s : 0.0;
        for (; i < machine.end; i++) {
            fulcrum_table_return(table, i);
            fulcrum_table_number(
                table, "gpu_time_rel", NULL, at_least_0(table, i, "gpu_s") * per_s);
            fulcrum_table_number(table, "run_time_rel", NULL,
                at_least_0(table, i, "run_frac") * first.steps_per_s /
                    machine.steps_per_s);
            is_clipped =
                is_clipped || fulcrum_plot_number(table, i, "run_frac") < -CLIPPED_FROM;
        }
    }
    add_component_words(
        result, table, is_clipped, first.end < fulcrum_table_rows(table));
    return FULCRUM_OK;
}

/* --- Where the time of a reference's GPU goes, there and elsewhere --- */

/*
 * The first bar is what was published, the rest left over as it is; the next is half
 * of the SMs, then other GPUs: (6) and (24) of docs/model.md with the shares of the
 * workload, which are those of the publication or replace them.
 */

/* Of a normal distribution, 90 % lie within so many standard deviations. */
static const double normal_90 = 1.645;

/* A bar of four rows; `spread` is the factor of the whole's interval, NAN: none. */
static void add_bar(struct fulcrum_table *table, const char *name,
    const struct fulcrum_gpu_scale *scale, double spread)
{
    const struct {
        const char *component;
        double value;
    } parts[] = {{"math", scale->math}, {"sm", scale->sm}, {"dram", scale->dram},
        {"rest", scale->latency}};
    double whole = fulcrum_gpu_scale_sum(scale);
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        fulcrum_table_row(table);
        fulcrum_table_text(table, "gpu", NULL, name);
        fulcrum_table_text(table, "component", NULL, parts[k].component);
        fulcrum_table_number(table, "gpu_time_rel", NULL, parts[k].value);
        fulcrum_table_estimate(
            table, "whole_rel", NULL, whole, whole / spread, whole * spread);
    }
}

/* What is none of the model's parts is latency. */
static double *part_of(
    struct fulcrum_gpu_scale *scale, const struct fulcrum_reference_point *point)
{
    const struct fulcrum_reference_setting *component =
        fulcrum_reference_find_setting(point, "component");
    switch (fulcrum_ideal_find(component != NULL ? component->text : "")) {
    case FULCRUM_IDEAL_MATH:
        return &scale->math;
    case FULCRUM_IDEAL_SM:
        return &scale->sm;
    case FULCRUM_IDEAL_DRAM:
        return &scale->dram;
    default:
        return &scale->latency;
    }
}

/* Returns how many shares there were. */
static size_t take_published(
    const struct fulcrum_reference *reference, struct fulcrum_gpu_scale *out)
{
    size_t found = 0;
    *out = (struct fulcrum_gpu_scale){0};
    for (size_t i = 0; i < reference->point_count; i++) {
        const struct fulcrum_reference_point *point = &reference->points[i];
        for (size_t k = 0; k < point->observation_count; k++) {
            if (strcmp(point->observations[k].quantity, "gpu_time_frac") == 0) {
                *part_of(out, point) += point->observations[k].value;
                found++;
                break;
            }
        }
    }
    out->latency += fmax(0.0, 1.0 - fulcrum_gpu_scale_sum(out));
    return found;
}

/* What GPU time is compared with unless others are asked for. */
#define STANDARD_GPUS "dgx-a100,dgx-h100,dgx-h200,dgx-b200"

/* Another GPU's times are scaled ones, with the spread that this has. */
static enum fulcrum_status add_machines(struct fulcrum_table *table,
    const struct fulcrum_reference *reference, const char *list,
    struct fulcrum_error *err)
{
    const struct fulcrum_gpu *from = &reference->design.machine.gpu;
    while (list != NULL) {
        char name[64];
        struct fulcrum_design design;
        TRY(fulcrum_plot_next_machine(&list, name, &design, err));
        const struct fulcrum_gpu *gpu = &design.machine.gpu;
        if (design.machine.accelerator == FULCRUM_ACCELERATOR_GPU &&
            strcmp(gpu->name, from->name) != 0) {
            struct fulcrum_gpu_scale scale =
                fulcrum_gpu_scale(&reference->design.workload.network, from, gpu);
            add_bar(
                table, gpu->name, &scale, pow(FULCRUM_GPU_SPREAD_FACTOR, normal_90));
        }
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_plot_gpu_time_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    const struct fulcrum_reference *reference = job->source.reference;
    const char *machines = job->machines != NULL ? job->machines : STANDARD_GPUS;
    struct fulcrum_table *table = fulcrum_result_table(result, "components", NULL);
    const struct fulcrum_gpu *gpu = &reference->design.machine.gpu;
    struct fulcrum_gpu_scale scale;
    char name[120];
    FAIL_IF(reference->design.machine.accelerator != FULCRUM_ACCELERATOR_GPU ||
                take_published(reference, &scale) == 0,
        err, FULCRUM_ERR_UNSUPPORTED,
        "reference %s: no gpu_time_frac of a GPU: expected one like "
        "inci2020-fig2-text",
        reference->name);
    (void)snprintf(name, sizeof name, "%s, published", gpu->name);
    add_bar(table, name, &scale, (double)NAN);
    fulcrum_result_text(result, "title", NULL, reference->title);
    fulcrum_result_print(result, "subtitle", NULL,
        "reference %s; workload %s; below the first bar: predicted from the shares of "
        "the workload, with clocks, SMs, bandwidth and cache of each GPU",
        reference->name, reference->workload);
    fulcrum_result_print(result, "footnote", NULL,
        "What is left of the published shares (%.0f %%) is taken to be latency that no "
        "GPU shortens. Other GPUs: a factor of %g either way for one standard "
        "deviation.",
        100.0 * scale.latency, FULCRUM_GPU_SPREAD_FACTOR);
    if (gpu->sm_count >= 2.0) {
        double half = floor(gpu->sm_count / 2.0);
        (void)snprintf(
            name, sizeof name, "the same on %.0f of %.0f SMs", half, gpu->sm_count);
        scale =
            fulcrum_sm_scale(&reference->design.workload.network, gpu->sm_count, half);
        add_bar(table, name, &scale, (double)NAN);
    }
    machines = strcmp(machines, "none") == 0 ? NULL : machines;
    return add_machines(table, reference, machines, err);
}

/* --- Stages of a reference --- */

/*
 * One bar per point: shares named like the stages ("training_frac"). Publications that
 * read shares off a figure do not tell CPU and GPU apart, and what they leave open
 * stays open.
 */

/* Whether the quantity is the share of that stage. */
static bool is_share_of(const char *quantity, const char *stage)
{
    size_t length = strlen(stage);
    return strncmp(quantity, stage, length) == 0 &&
           strcmp(quantity + length, "_frac") == 0;
}

/* "DDPG", or "algorithm DDPG, simulator Ant" where a point sets more than one thing. */
static void write_settings(
    struct fulcrum_string *out, const struct fulcrum_reference_point *point)
{
    for (size_t k = 0; k < point->setting_count; k++) {
        const struct fulcrum_reference_setting *setting = &point->settings[k];
        bool is_text = setting->text[0] != '\0';
        fulcrum_string_add(out, "%s", k > 0 ? ", " : "");
        if (point->setting_count > 1 || !is_text) {
            fulcrum_string_add(out, "%s ", setting->path);
        }
        if (is_text) {
            fulcrum_string_add(out, "%s", setting->text);
        } else {
            fulcrum_string_add(out, "%.6g", setting->number);
        }
    }
}

/* Returns the sum of the point's shares; 0: it has none. */
static double add_stage_shares(
    struct fulcrum_table *table, const struct fulcrum_reference_point *point)
{
    struct fulcrum_string name = {0};
    char text[32] = "";
    double sum = 0.0;
    write_settings(&name, point);
    for (size_t k = 0; k < point->observation_count; k++) {
        if (strcmp(point->observations[k].quantity, "runtime_s") == 0) {
            (void)snprintf(
                text, sizeof text, "of %.0f s", point->observations[k].value);
        }
    }
    for (size_t i = 0; i < point->observation_count * FULCRUM_STAGE_WORK_COUNT; i++) {
        const struct fulcrum_observation *observation =
            &point->observations[i / FULCRUM_STAGE_WORK_COUNT];
        const char *stage = fulcrum_stage_kind_name(
            (enum fulcrum_stage_kind)(i % FULCRUM_STAGE_WORK_COUNT));
        if (is_share_of(observation->quantity, stage)) {
            fulcrum_table_row(table);
            fulcrum_table_text(table, "run", NULL, fulcrum_string_get(&name));
            fulcrum_table_text(table, "stage", NULL, stage);
            fulcrum_table_number(table, "share_frac", NULL, observation->value);
            fulcrum_table_text(table, "text", NULL, text);
            sum += observation->value;
        }
    }
    fulcrum_string_clear(&name);
    return sum;
}

/* The footnote says how far the shares of rows are from 1 in all. */
enum fulcrum_status fulcrum_plot_stages_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    const struct fulcrum_reference *reference = job->source.reference;
    struct fulcrum_table *table = fulcrum_result_table(result, "stages", NULL);
    double least = INFINITY;
    double most = 0.0;
    for (size_t i = 0; i < reference->point_count; i++) {
        double sum = add_stage_shares(table, &reference->points[i]);
        least = sum > 0.0 ? fmin(least, sum) : least;
        most = fmax(most, sum);
    }
    fulcrum_result_text(result, "title", NULL, reference->title);
    fulcrum_result_print(result, "subtitle", NULL, "reference %s; machine %s, %s",
        reference->name, reference->machine, reference->design.machine.gpu.name);
    fulcrum_result_print(result, "footnote", NULL,
        "Published shares, read one by one: they add up to %.2f to %.2f. The "
        "publication's stages on CPU and GPU are not told apart here.",
        least, most);
    FAIL_IF(fulcrum_table_rows(table) == 0, err, FULCRUM_ERR_UNSUPPORTED,
        "reference %s: no share of time by stage, such as simulation_frac: "
        "expected one like rlscope-fig5-stage-shares",
        reference->name);
    return FULCRUM_OK;
}

/* --- Partitions of a GPU --- */

enum fulcrum_status fulcrum_plot_partition_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    (void)job;
    const struct fulcrum_table *table =
        fulcrum_bar_chart_table(&fulcrum_bars_partition, result);
    const char *gpu = fulcrum_plot_text_of(result, table, "gpu");
    const char *workload = fulcrum_plot_text_of(result, table, "workload");
    (void)err;
    fulcrum_result_print(result, "title", NULL, "%s on parts of %s%s",
        workload[0] != '\0' ? workload : "Training", gpu[0] != '\0' ? "one " : "a GPU",
        gpu);
    add_calibration(result, fulcrum_plot_text_of(result, table, "calibration"));
    return FULCRUM_OK;
}
