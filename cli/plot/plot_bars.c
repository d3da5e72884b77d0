/* plot_bars.c - what charts of bars need beside the columns of a file. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/plot/plot_job.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit/fit.h"
#include "cli/message.h"
#include "model/design/design.h"
#include "model/design/scale.h"
#include "model/number.h"
#include "model/stage_kind.h"
#include "model/try.h"
#include "model/whatif/component_cost.h"

/* Of a normal distribution, 90 % lie within so many standard deviations. */
static const double normal_90 = 1.645;

/* --- Breakdowns of sweeps and predictions --- */

/* What files may have in common, and else are told apart by. */
enum common { WORKLOAD, MACHINE, CALIBRATION, COMMONS };
static const char *const common_keys[COMMONS] = {"workload", "machine", "calibration"};

/* Files that become one chart. */
struct breakdown {
    const struct fulcrum_bar_chart *chart;
    struct fulcrum_plot_source *files; /* the first is borrowed */
    const char *common[COMMONS];       /* "": files differ in it */
    struct fulcrum_table *table;       /* of the chart */
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

/* What files differ in comes first, then what varies in this one. */
static void name_bar(const struct breakdown *breakdown,
    const struct fulcrum_plot_source *file, const struct fulcrum_table *from,
    const struct fulcrum_plot_fields *fields, size_t row)
{
    struct fulcrum_string name = {0};
    const char *texts[COMMONS];
    for (size_t k = 0; k < COMMONS; k++) {
        texts[k] = fulcrum_plot_text_of(file->result, from, common_keys[k]);
        if (breakdown->common[k][0] == '\0' && texts[k][0] != '\0') {
            fulcrum_string_add(&name, "%s%s", name.length > 0 ? ", " : "", texts[k]);
        }
    }
    fulcrum_plot_fields_name(&name, from, fields, row);
    if (name.length == 0) {
        fulcrum_string_add(
            &name, "%s", texts[MACHINE][0] != '\0' ? texts[MACHINE] : file->name);
    }
    fulcrum_table_text(breakdown->table, "name", NULL, fulcrum_string_get(&name));
    fulcrum_string_clear(&name);
}

/* What the chart looks at, NAN where there is no such row; whether all parts are known.
 */
static bool add_cells(
    const struct breakdown *breakdown, const struct fulcrum_table *from, size_t row)
{
    enum { PARTS = FULCRUM_BAR_PARTS_MAX };
    const struct fulcrum_bar_chart *chart = breakdown->chart;
    const char *keys[PARTS + 3] = {
        [PARTS] = chart->whole, chart->panels[0].interval, chart->panels[0].rate};
    bool is_known = true;
    for (size_t k = 0; k < PARTS + 3; k++) {
        const char *key = k < PARTS ? chart->parts[k].key : keys[k];
        if (key != NULL && key[0] != '\0') {
            struct fulcrum_cell cell = fulcrum_table_at(from, row, key);
            fulcrum_plot_cell_add(breakdown->table, key, cell);
            is_known = is_known && (k > PARTS || isfinite(cell.number));
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
        fulcrum_chart_table(file->result, breakdown->chart->table);
    const struct fulcrum_plot_fields fields = fulcrum_plot_fields_of(from);
    size_t rows = fulcrum_table_rows(from);
    size_t known = 0;
    TRY(fulcrum_bar_chart_check(&data, err));
    if (has_groups && fulcrum_table_rows(breakdown->table) > 0) {
        fulcrum_table_row(breakdown->table);
        fulcrum_table_text(breakdown->table, "name", NULL, "");
        (void)add_cells(breakdown, from, rows);
    }
    for (size_t i = 0; i < rows; i++) {
        if (fulcrum_plot_ran(from, i)) {
            fulcrum_table_row(breakdown->table);
            name_bar(breakdown, file, from, &fields, i);
            known += add_cells(breakdown, from, i) ? 1U : 0U;
        }
    }
    FAIL_IF(known == 0, err, FULCRUM_ERR_UNSUPPORTED, "no point has a breakdown of %s",
        breakdown->chart->name);
    size_t failed = fulcrum_plot_flags_add(&breakdown->footnote, from);
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

static enum fulcrum_status open_file(const struct fulcrum_plot_job *job, size_t i,
    struct fulcrum_plot_source *out, struct fulcrum_error *err)
{
    if (i > 0) {
        TRY(fulcrum_plot_source_open(
            job->more.items[i - 1], FULCRUM_PLOT_SWEEP, out, err));
    }
    FAIL_IF(
        out->content != FULCRUM_PLOT_SWEEP && out->content != FULCRUM_PLOT_PREDICTION,
        err, FULCRUM_ERR_UNSUPPORTED, "%s holds %s: a breakdown is drawn from %s or %s",
        out->name, fulcrum_plot_content_words(out->content),
        fulcrum_plot_content_words(FULCRUM_PLOT_SWEEP),
        fulcrum_plot_content_words(FULCRUM_PLOT_PREDICTION));
    return FULCRUM_OK;
}

/* A row for each point that could run, named after what varies in its file and, of
 * several files, what tells them apart; one without a name between groups. */
enum fulcrum_status fulcrum_plot_breakdown_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    size_t count = job->more.count + 1;
    struct breakdown breakdown = {.chart = fulcrum_breakdowns[job->parts],
        .files = fulcrum_allocate(count, sizeof *breakdown.files)};
    enum fulcrum_status status = FULCRUM_OK;
    breakdown.table = fulcrum_result_table(result, breakdown.chart->table, NULL);
    breakdown.files[0] = job->source;
    for (size_t i = 0; i < count; i++) {
        TRY_OR_END(open_file(job, i, &breakdown.files[i], err));
    }
    /* Texts that all points of all files share, and whether a file has several. */
    bool has_groups = false;
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_result *from = breakdown.files[i].result;
        if (fulcrum_chart_table(from, breakdown.chart->table) == NULL) {
            make_row(from, breakdown.chart->table);
        }
        const struct fulcrum_table *table =
            fulcrum_chart_table(from, breakdown.chart->table);
        has_groups |= fulcrum_table_rows(table) > 1;
        for (size_t k = 0; k < COMMONS; k++) {
            const char *text = fulcrum_plot_text_of(from, table, common_keys[k]);
            bool is_same = i == 0 || strcmp(breakdown.common[k], text) == 0;
            breakdown.common[k] = is_same ? text : "";
        }
    }
    for (size_t k = 0; k < COMMONS; k++) {
        fulcrum_result_text(result, common_keys[k], NULL, breakdown.common[k]);
    }
    for (size_t i = 0; i < count; i++) {
        status = add_points_of(&breakdown, &breakdown.files[i], has_groups, err);
        TRY_OR_END(status == FULCRUM_OK
                       ? status
                       : fulcrum_fail_in(err, status, breakdown.files[i].name));
    }
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

/*
 * A faster link to the host shortens GPU work by what no component has: parts that are
 * more than the whole are drawn smaller alike.
 */
static struct machine machine_at(const struct fulcrum_table *table, size_t first)
{
    const char *name = fulcrum_chart_words(table, first, "machine");
    struct machine machine = {.end = first};
    double whole_s = 0.0;
    while (machine.end < fulcrum_table_rows(table) &&
           strcmp(fulcrum_chart_words(table, machine.end, "machine"), name) == 0) {
        double part_s = fmax(0.0, fulcrum_plot_number(table, machine.end, "gpu_s"));
        double part_frac =
            fmax(0.0, fulcrum_plot_number(table, machine.end, "gpu_frac"));
        machine.sum_s += part_s;
        whole_s = part_s > 0.0 && part_frac > 0.0 ? part_s / part_frac : whole_s;
        machine.steps_per_s = fulcrum_plot_number(table, machine.end, "steps_per_s");
        machine.end++;
    }
    machine.gpu_s = whole_s > 0.0 ? fmin(whole_s, machine.sum_s) : machine.sum_s;
    return machine;
}

enum fulcrum_status fulcrum_plot_components_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    struct fulcrum_table *table =
        fulcrum_chart_table(result, fulcrum_bars_components.table);
    const struct machine first = machine_at(table, 0);
    bool is_clipped = false;
    char others[100] = "";
    (void)job;
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        const struct fulcrum_bar_part *parts = fulcrum_bars_components.parts;
        const char *component = fulcrum_chart_words(table, i, "component");
        double rate = fulcrum_plot_number(table, i, "steps_per_s");
        bool is_known = false;
        for (size_t k = 0; k < FULCRUM_BAR_PARTS_MAX && parts[k].key != NULL; k++) {
            is_known = is_known || strcmp(parts[k].key, component) == 0;
        }
        FAIL_IF(!is_known, err, FULCRUM_ERR_FORMAT,
            "row %zu: component = '%s': expected one of 'fulcrum memory'", i + 1,
            component);
        FAIL_IF(!(rate > 0.0), err, FULCRUM_ERR_FORMAT,
            "row %zu: steps_per_s = %.6g: expected a number above 0", i + 1, rate);
    }
    FAIL_IF(!(first.gpu_s > 0.0), err, FULCRUM_ERR_FORMAT,
        "machine %s: no GPU time in its rows",
        fulcrum_chart_words(table, 0, "machine"));
    for (size_t i = 0; i < fulcrum_table_rows(table);) {
        const struct machine machine = machine_at(table, i);
        double per_s =
            machine.sum_s > 0.0 ? machine.gpu_s / machine.sum_s / first.gpu_s : 0.0;
        for (; i < machine.end; i++) {
            fulcrum_table_return(table, i);
            fulcrum_table_number(table, "gpu_time_rel", NULL,
                fmax(0.0, fulcrum_plot_number(table, i, "gpu_s")) * per_s);
            fulcrum_table_number(table, "run_time_rel", NULL,
                fmax(0.0, fulcrum_plot_number(table, i, "run_frac")) *
                    first.steps_per_s / machine.steps_per_s);
            is_clipped |= fulcrum_plot_number(table, i, "run_frac") < -CLIPPED_FROM;
        }
    }
    if (first.end < fulcrum_table_rows(table)) {
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
    return FULCRUM_OK;
}

/* --- Where the time of a reference's GPU goes, there and elsewhere --- */

/*
 * The first bar is what was published, the rest left over as it is; the next is half
 * of the SMs, then other GPUs: (6) and (24) of docs/model.md with the shares of the
 * workload, which are those of the publication or replace them.
 */

/* What is none of the model's parts is latency, the last. */
enum { GPU_PARTS = 4 };
static const struct {
    const char *component;
    enum fulcrum_ideal ideal;
    size_t offset;
} gpu_parts[GPU_PARTS] = {
    {"math", FULCRUM_IDEAL_MATH, offsetof(struct fulcrum_gpu_scale, math)},
    {"sm", FULCRUM_IDEAL_SM, offsetof(struct fulcrum_gpu_scale, sm)},
    {"dram", FULCRUM_IDEAL_DRAM, offsetof(struct fulcrum_gpu_scale, dram)},
    {"rest", FULCRUM_IDEAL_LATENCY, offsetof(struct fulcrum_gpu_scale, latency)}};

static double *part_of(struct fulcrum_gpu_scale *scale, size_t part)
{
    return (double *)(void *)((char *)scale + gpu_parts[part].offset);
}

/* A bar of a row for each part; `spread` is the factor of the whole's interval, NAN:
 * none. */
static void add_bar(struct fulcrum_table *table, const char *name,
    struct fulcrum_gpu_scale scale, double spread)
{
    double whole = fulcrum_gpu_scale_sum(&scale);
    for (size_t k = 0; k < GPU_PARTS; k++) {
        fulcrum_table_row(table);
        fulcrum_table_text(table, "gpu", NULL, name);
        fulcrum_table_text(table, "component", NULL, gpu_parts[k].component);
        fulcrum_table_number(table, "gpu_time_rel", NULL, *part_of(&scale, k));
        fulcrum_table_estimate(
            table, "whole_rel", NULL, whole, whole / spread, whole * spread);
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
        const struct fulcrum_reference_setting *component =
            fulcrum_reference_find_setting(point, "component");
        const struct fulcrum_observation *share =
            fulcrum_reference_find_observation(point, "gpu_time_frac");
        size_t ideal = fulcrum_ideal_find(component != NULL ? component->text : "");
        size_t k = 0;
        while (k < GPU_PARTS - 1 && gpu_parts[k].ideal != ideal) {
            k++;
        }
        if (share != NULL) {
            *part_of(out, k) += share->value;
            found++;
        }
    }
    out->latency += fmax(0.0, 1.0 - fulcrum_gpu_scale_sum(out));
    return found;
}

/* What GPU time is compared with unless others are asked for. */
#define STANDARD_GPUS "dgx-a100,dgx-h100,dgx-h200,dgx-b200"

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
    add_bar(table, name, scale, FULCRUM_UNKNOWN);
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
        add_bar(table, name,
            fulcrum_sm_scale(&reference->design.workload.network, gpu->sm_count, half),
            FULCRUM_UNKNOWN);
    }
    machines = strcmp(machines, "none") == 0 ? NULL : machines;
    /* Another GPU's times are scaled ones, with the spread that this has. */
    while (machines != NULL) {
        char machine[64];
        struct fulcrum_design design;
        TRY(fulcrum_plot_next_machine(&machines, machine, &design, err));
        const struct fulcrum_gpu *its_gpu = &design.machine.gpu;
        if (design.machine.accelerator == FULCRUM_ACCELERATOR_GPU &&
            strcmp(its_gpu->name, gpu->name) != 0) {
            add_bar(table, its_gpu->name,
                fulcrum_gpu_scale(&reference->design.workload.network, gpu, its_gpu),
                pow(FULCRUM_GPU_SPREAD_FACTOR, normal_90));
        }
    }
    return FULCRUM_OK;
}

/* --- Stages of a reference --- */

/*
 * One bar per point: shares named like the stages ("training_frac"). Publications that
 * read shares off a figure do not tell CPU and GPU apart, and what they leave open
 * stays open.
 */

/* Returns the sum of the point's shares; 0: it has none. */
static double add_stage_shares(
    struct fulcrum_table *table, const struct fulcrum_reference_point *point)
{
    const struct fulcrum_observation *runtime =
        fulcrum_reference_find_observation(point, "runtime_s");
    struct fulcrum_string name = {0};
    char text[32] = "";
    double sum = 0.0;
    /* "DDPG", or "algorithm DDPG, simulator Ant" where a point sets more than one
     * thing. */
    for (size_t k = 0; k < point->setting_count; k++) {
        const struct fulcrum_reference_setting *setting = &point->settings[k];
        bool is_text = setting->text[0] != '\0';
        fulcrum_string_add(&name, "%s", k > 0 ? ", " : "");
        if (point->setting_count > 1 || !is_text) {
            fulcrum_string_add(&name, "%s ", setting->path);
        }
        if (is_text) {
            fulcrum_string_add(&name, "%s", setting->text);
        } else {
            fulcrum_string_add(&name, "%.6g", setting->number);
        }
    }
    if (runtime != NULL) {
        (void)snprintf(text, sizeof text, "of %.0f s", runtime->value);
    }
    for (int i = 0; i < FULCRUM_STAGE_WORK_COUNT; i++) {
        const char *stage = fulcrum_stage_kind_name((enum fulcrum_stage_kind)i);
        char quantity[64];
        (void)snprintf(quantity, sizeof quantity, "%s_frac", stage);
        const struct fulcrum_observation *share =
            fulcrum_reference_find_observation(point, quantity);
        if (share != NULL) {
            fulcrum_table_row(table);
            fulcrum_table_text(table, "run", NULL, fulcrum_string_get(&name));
            fulcrum_table_text(table, "stage", NULL, stage);
            fulcrum_table_number(table, "share_frac", NULL, share->value);
            fulcrum_table_text(table, "text", NULL, text);
            sum += share->value;
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

/* Sorts behind all that is known. */
static const double last_rank = 1e300;

static void add_span(struct fulcrum_table *table, const char *key, double lo, double hi)
{
    fulcrum_table_estimate(table, key, NULL, (double)NAN, lo, hi);
}

/* --- Fits --- */

/* On the scale where the error of a parameter is taken to be normal. */
static double on_scale(enum fulcrum_scale scale, double value)
{
    bool is_inside = scale == FULCRUM_SCALE_LINEAR ||
                     (value > 0.0 && (scale == FULCRUM_SCALE_LOG || value < 1.0));
    return is_inside ? fulcrum_fit_to_scale(scale, value) : FULCRUM_UNKNOWN;
}

/*
 * In prior standard deviations. Without draws a fit knows the spread around its best
 * values alone. Words are what it means, or its path, and "20 us: 44 us (28 us to
 * 66 us)".
 */
static enum fulcrum_status add_parameter(
    struct fulcrum_table *table, size_t row, struct fulcrum_error *err)
{
    const char *scale_name = fulcrum_chart_words(table, row, "scale");
    const char *path = fulcrum_chart_words(table, row, "path");
    const struct fulcrum_field *field = fulcrum_field_find(path);
    const char *unit = field != NULL && field->unit[0] != '\0' ? field->unit : NULL;
    double prior = fulcrum_plot_number(table, row, "prior");
    double prior_sd = fulcrum_plot_number(table, row, "prior_sd");
    double fitted = fulcrum_plot_number(table, row, "fitted");
    double low = fulcrum_plot_number(table, row, "posterior_low");
    double high = fulcrum_plot_number(table, row, "posterior_high");
    double sd = fulcrum_plot_number(table, row, "posterior_sd_frac");
    bool is_identified = fulcrum_plot_says(table, row, "verdict", "identified");
    enum fulcrum_scale scale = FULCRUM_SCALE_LINEAR;
    while (fulcrum_scale_name(scale) != NULL &&
           strcmp(fulcrum_scale_name(scale), scale_name) != 0) {
        scale++;
    }
    FAIL_IF(fulcrum_scale_name(scale) == NULL, err, FULCRUM_ERR_FORMAT,
        "parameters[%zu].scale = '%s': expected linear, log or logit", row, scale_name);
    FAIL_IF(!(prior_sd > 0.0), err, FULCRUM_ERR_RANGE,
        "parameters[%zu].prior_sd = %g: expected a number above 0", row, prior_sd);
    double centre = on_scale(scale, prior);
    double best = (on_scale(scale, fitted) - centre) / prior_sd;
    double lo = (on_scale(scale, low) - centre) / prior_sd;
    double hi = (on_scale(scale, high) - centre) / prior_sd;
    if (isnan(low) || isnan(high)) {
        lo = best - normal_90 * sd;
        hi = best + normal_90 * sd;
    }
    fulcrum_table_return(table, row);
    fulcrum_table_text(
        table, "shown_name", NULL, field != NULL ? field->meaning : path);
    if (isfinite(low)) {
        fulcrum_plot_print(table, "shown_text", "%s \xe2\x86\x92 %s (%s to %s)",
            fulcrum_si_text(prior, 2, unit).chars,
            fulcrum_si_text(fitted, 2, unit).chars, fulcrum_si_text(low, 2, unit).chars,
            fulcrum_si_text(high, 2, unit).chars);
    } else {
        fulcrum_plot_print(table, "shown_text", "%s \xe2\x86\x92 %s",
            fulcrum_si_text(prior, 2, unit).chars,
            fulcrum_si_text(fitted, 2, unit).chars);
    }
    add_span(table, "prior_z", -normal_90, normal_90);
    add_span(table, is_identified ? "posterior_z" : "open_z", lo, hi);
    fulcrum_table_number(table, "fitted_z", NULL, best);
    /* What the data say most of is first. */
    fulcrum_table_number(table, "rank", NULL, isnan(sd) ? last_rank : sd);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_plot_fit_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    struct fulcrum_table *parameters = fulcrum_chart_table(result, "parameters");
    struct fulcrum_table *figures = fulcrum_chart_table(result, "figures");
    size_t count = fulcrum_table_rows(parameters);
    size_t identified = 0;
    bool is_by_slopes = false;
    (void)job;
    for (size_t i = 0; i < count; i++) {
        TRY(add_parameter(parameters, i, err));
        bool is_identified = fulcrum_plot_says(parameters, i, "verdict", "identified");
        const char *span = is_identified ? "posterior_z" : "open_z";
        identified += is_identified ? 1 : 0;
        is_by_slopes |= isnan(fulcrum_plot_number(parameters, i, "posterior_low")) &&
                        isfinite(fulcrum_table_at(parameters, i, span).lo);
    }
    for (size_t i = 0; i < fulcrum_table_rows(figures); i++) {
        /* Relative to what was observed; words are "5.8: fitted 5.81, from others
         * 6.1". */
        double unit = fulcrum_plot_number(figures, i, "observed");
        double sd = fulcrum_plot_number(figures, i, "sd");
        double prior_low = fulcrum_plot_number(figures, i, "prior_low");
        double prior_high = fulcrum_plot_number(figures, i, "prior_high");
        double others = fulcrum_plot_number(figures, i, "held_out_mean");
        double others_sd = fulcrum_plot_number(figures, i, "held_out_sd");
        double mean = fulcrum_plot_number(figures, i, "posterior_mean");
        double mean_sd = fulcrum_plot_number(figures, i, "posterior_sd");
        double best = fulcrum_plot_number(figures, i, "simulated");
        FAIL_IF(!(unit > 0.0), err, FULCRUM_ERR_RANGE,
            "figures[%zu].observed = %g: expected a number above 0", i, unit);
        /* What the parameters themselves give; simulations of it are closest to the
         * model.
         */
        best = isnan(best) ? fulcrum_plot_number(figures, i, "fitted") : best;
        fulcrum_table_return(figures, i);
        /* A figure without a deviation was predicted alone. */
        fulcrum_plot_print(figures, "shown_name", "%s, point %.0f: %s%s",
            fulcrum_chart_words(figures, i, "reference"),
            fulcrum_plot_number(figures, i, "point"),
            fulcrum_chart_words(figures, i, "quantity"), isnan(sd) ? ", held out" : "");
        fulcrum_plot_print(figures, "shown_text", "%s: fitted %s%s%s",
            fulcrum_si_text(unit, 3, NULL).chars, fulcrum_si_text(best, 3, NULL).chars,
            isnan(others) ? "" : ", from others ",
            isnan(others) ? "" : fulcrum_si_text(others, 3, NULL).chars);
        add_span(figures, "prior_rel", prior_low / unit, prior_high / unit);
        add_span(figures, "others_rel", (others - normal_90 * others_sd) / unit,
            (others + normal_90 * others_sd) / unit);
        add_span(figures, "posterior_rel", (mean - normal_90 * mean_sd) / unit,
            (mean + normal_90 * mean_sd) / unit);
        add_span(figures, "observed_rel", 1.0 - sd / unit, 1.0 + sd / unit);
        fulcrum_table_number(figures, "fitted_rel", NULL, best / unit);
    }
    for (size_t i = 0; i < count; i++) {
        fulcrum_table_return(parameters, i);
        fulcrum_plot_print(parameters, "headline",
            "%zu of %zu told apart from their priors", identified, count);
    }
    fulcrum_result_print(result, "subtitle", NULL,
        "%zu parameters, %zu figures; right: prior and best fit%s", count,
        fulcrum_table_rows(figures),
        is_by_slopes ? "; no draws: spread from the slopes at the best fit"
                     : ", 90 % of the posterior in brackets");
    /* Ctrl-C leaves the best values without all that was to be said of them. */
    if (fulcrum_result_number_of(result, "complete") == 0.0) {
        fulcrum_result_text(
            result, "footnote", NULL, "The fit was interrupted: not all was computed.");
    }
    return FULCRUM_OK;
}

/* --- Sensitivities --- */

/* Rows of one metric, which follow each other. */
struct metric {
    size_t end;
    double longest; /* of its bars */
    const char *name;
    const char *unit;
    const char *shown; /* the unit where it takes prefixes; else NULL */
};

/* Units that take prefixes: s, W, J, Hz, byte; NULL for rates, shares and counts. */
static const char *shown_unit(const char *unit)
{
    return unit[0] != '\0' && strpbrk(unit, "/1 ") == NULL ? unit : NULL;
}

/* From the least to the most of the value and both ends, which may not be known. */
static struct fulcrum_interval reach_of(const struct fulcrum_table *table, size_t row)
{
    double value = fulcrum_plot_number(table, row, "metric_value");
    double lo = fulcrum_plot_number(table, row, "swing_lo");
    double hi = fulcrum_plot_number(table, row, "swing_hi");
    return (struct fulcrum_interval){
        fmin(fmin(lo, hi), value), fmax(fmax(lo, hi), value), value};
}

/* What is the same for all rows of a metric, and "0.57 ms to 3.94 ms" of a field; ""
 * of several numbers. */
static void add_metric_words(
    struct fulcrum_table *table, const struct metric *metric, size_t row)
{
    double interaction = fulcrum_plot_number(table, row, "interaction_frac");
    double lo = fulcrum_plot_number(table, row, "metric_lo");
    double hi = fulcrum_plot_number(table, row, "metric_hi");
    double least = fulcrum_plot_number(table, row, "field_lo");
    double most = fulcrum_plot_number(table, row, "field_hi");
    const char *unit = shown_unit(fulcrum_chart_words(table, row, "field_unit"));
    char interactions[80] = "";
    if (isfinite(interaction)) {
        (void)snprintf(interactions, sizeof interactions,
            "; interactions %.0f %% of the variance", 100.0 * fmax(0.0, interaction));
    }
    fulcrum_plot_print(table, "panel", "%s%s%s", metric->name,
        metric->unit[0] != '\0' ? ", " : "", metric->unit);
    fulcrum_table_text(
        table, "axis_unit", NULL, metric->shown != NULL ? metric->shown : "");
    fulcrum_plot_print(table, "headline",
        "90 %% between %s and %s with all fields at once%s",
        fulcrum_si_text(lo, 3, metric->shown).chars,
        fulcrum_si_text(hi, 3, metric->shown).chars, interactions);
    if (isfinite(least) && isfinite(most)) {
        fulcrum_plot_print(table, "reach", "%s to %s",
            fulcrum_si_text(least, 3, unit).chars,
            fulcrum_si_text(most, 3, unit).chars);
    } else {
        fulcrum_table_text(table, "reach", NULL, "");
    }
}

/* What the metric is at an end of its bars, where that is not next to its value: three
 * digits for bars as long as the value, one more for each power of ten below that. */
static void add_end(struct fulcrum_table *table, const char *key,
    const struct metric *metric, double end, double value)
{
    bool is_known = fabs(value) > 0.0 && metric->longest > 0.0;
    double extra = is_known ? log10(fabs(value) / metric->longest) : 0.0;
    int digits = (int)fmin(3.0 + ceil(fmax(0.0, extra)), 6.0);
    bool is_told = fabs(end - value) > 2e-3 * metric->longest;
    fulcrum_table_text(table, key, NULL,
        is_told ? fulcrum_si_text(end, digits, metric->shown).chars : "");
}

static void add_bars(
    struct fulcrum_table *table, const struct metric *metric, size_t row)
{
    static const struct {
        const char *end;
        const char *whole;
        const char *half;
    } bars[] = {{"swing_lo", "low", "low_half"}, {"swing_hi", "high", "high_half"}};
    double value = fulcrum_plot_number(table, row, "metric_value");
    double total = fulcrum_plot_number(table, row, "total_frac");
    struct fulcrum_interval reach = reach_of(table, row);
    bool is_one_sided = (fulcrum_plot_number(table, row, "swing_lo") - value) *
                            (fulcrum_plot_number(table, row, "swing_hi") - value) >
                        0.0;
    for (size_t k = 0; k < 2; k++) {
        double end = fulcrum_plot_number(table, row, bars[k].end);
        if (isfinite(end)) {
            add_span(table, is_one_sided ? bars[k].half : bars[k].whole,
                fmin(end, value), fmax(end, value));
        }
    }
    add_end(table, "least", metric, reach.lo, value);
    add_end(table, "most", metric, reach.hi, value);
    /* Longest bars first; neither a bar nor a share that could be seen: only counted.
     */
    double effect = reach.hi - reach.lo;
    double size = metric->longest > 0.0 ? effect / metric->longest : 0.0;
    bool is_small = effect < 2e-3 * metric->longest && total < 1.5e-3;
    fulcrum_table_number(table, "rank", NULL,
        is_small ? (double)NAN : -size - 1e-9 * (isnan(total) ? 0.0 : total));
}

enum fulcrum_status fulcrum_plot_tornado_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    struct fulcrum_table *table = fulcrum_chart_table(result, "rows");
    size_t metrics = 0;
    (void)job;
    for (size_t i = 0; i < fulcrum_table_rows(table);) {
        struct metric metric;
        FAIL_IF(metrics++ == FULCRUM_BAR_GROUPS_MAX, err, FULCRUM_ERR_RANGE,
            "more than %d metrics: expected fewer, by --metric of 'fulcrum "
            "sensitivity'",
            (int)FULCRUM_BAR_GROUPS_MAX);
        metric = (struct metric){.end = i,
            .name = fulcrum_chart_words(table, i, "metric"),
            .unit = fulcrum_chart_words(table, i, "unit"),
            .shown = shown_unit(fulcrum_chart_words(table, i, "unit"))};
        do {
            FAIL_IF(!isfinite(fulcrum_plot_number(table, metric.end, "metric_value")),
                err, FULCRUM_ERR_RANGE,
                "%s: its value is not known: bars have nowhere to start", metric.name);
            struct fulcrum_interval reach = reach_of(table, metric.end);
            metric.longest = fmax(metric.longest, reach.hi - reach.lo);
            metric.end++;
        } while (metric.end < fulcrum_table_rows(table) &&
                 fulcrum_plot_says(table, metric.end, "metric", metric.name));
        for (; i < metric.end; i++) {
            fulcrum_table_return(table, i);
            add_metric_words(table, &metric, i);
            add_bars(table, &metric, i);
            double first = fulcrum_plot_number(table, i, "first_frac");
            double total = fulcrum_plot_number(table, i, "total_frac");
            double error = fulcrum_plot_number(table, i, "total_error");
            if (!isfinite(first) || !isfinite(total)) {
                fulcrum_table_text(table, "shares", NULL, "not told");
                continue;
            }
            fulcrum_plot_print(
                table, "shares", "%.2f   %.2f", fmax(0.0, first), fmax(0.0, total));
            add_span(table, "total_share", 0.0, fmax(0.0, total));
            add_span(table, "first_share", 0.0, fmax(0.0, first));
            if (error > 0.0) {
                add_span(table, "total_bar", fmax(0.0, total - error),
                    fmin(1.0, total + error));
            }
        }
    }
    return FULCRUM_OK;
}
