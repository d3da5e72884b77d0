/* plot_memory.c - where GPU time goes: from `fulcrum memory`, and from references. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/plot/plot_data.h"
#include "model/design/scale.h"
#include "model/try.h"
#include "model/whatif/component_cost.h"
#include "presets/load/preset.h"

/* GPU time and runs of several machines, from `fulcrum memory`. */

enum { MACHINES_MOST = 16, PLOT_COMPONENTS_NAME_SIZE = 128 };

/* Components by their names in the file, in the order of the bars' parts. */
static const struct plot_components_part {
    const char *component;
    const char *name; /* in the legend */
} parts[FULCRUM_GPU_TIME_PARTS] = {
    {"math", "arithmetic"},
    {"sm", "SMs not filled"},
    {"dram", "DRAM bandwidth"},
    {"latency", "latencies"},
    {"launch", "kernel launches"},
    {"host", "host: batches, requests, delivery"},
    {"rest", "environments on the CPU"},
};

/* One machine, as far as its rows were read. */
struct machine {
    char name[PLOT_COMPONENTS_NAME_SIZE];
    char gpu[PLOT_COMPONENTS_NAME_SIZE];
    double steps_per_s;
    double gpu_s; /* all GPU work of an agent step; 0: not known */
};

struct plot_components {
    size_t count;
    struct machine machines[MACHINES_MOST];
    struct fulcrum_gpu_time_row times[MACHINES_MOST];
    struct fulcrum_gpu_time_row runs[MACHINES_MOST];
    bool is_clipped; /* shares below 0 are drawn as nothing */
    char subtitle[300];
    char footnote[400];
};

/* Less is the solver's rounding. */
#define CLIPPED_FROM 0.002

/* The machine of a row, new where it is the first of its name; NULL: too many. */
static struct machine *machine_of(struct plot_components *plot, const char *name)
{
    for (size_t i = 0; i < plot->count; i++) {
        if (strcmp(plot->machines[i].name, name) == 0) {
            return &plot->machines[i];
        }
    }
    if (plot->count == MACHINES_MOST) {
        return NULL;
    }
    struct machine *machine = &plot->machines[plot->count];
    (void)snprintf(machine->name, sizeof machine->name, "%s", name);
    plot->times[plot->count] = (struct fulcrum_gpu_time_row){
        .name = machine->gpu, .lo = (double)NAN, .hi = (double)NAN};
    plot->runs[plot->count] = (struct fulcrum_gpu_time_row){
        .name = machine->name, .lo = (double)NAN, .hi = (double)NAN};
    plot->count++;
    return machine;
}

static size_t plot_components_part_of(const char *component)
{
    size_t i = 0;
    while (i < FULCRUM_GPU_TIME_PARTS && strcmp(parts[i].component, component) != 0) {
        i++;
    }
    return i;
}

struct cells {
    double gpu_s;
    double gpu_frac; /* of all GPU work */
    double run_frac;
    double steps_per_s;
};

static enum fulcrum_status read_cells(const struct fulcrum_plot_rows *rows, size_t row,
    struct cells *out, struct fulcrum_error *err)
{
    const struct fulcrum_plot_cell cells[] = {{"gpu_s", &out->gpu_s},
        {"gpu_frac", &out->gpu_frac}, {"run_frac", &out->run_frac},
        {"steps_per_s", &out->steps_per_s}, {.column = NULL}};
    TRY(fulcrum_plot_rows_cells(rows, row, cells, err));
    if (!(out->steps_per_s > 0.0)) {
        TRY(fulcrum_fail(err, FULCRUM_ERR_FORMAT,
            "row %zu: steps_per_s = %.6g: expected a number above 0", row + 1,
            out->steps_per_s));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status take_row(const struct fulcrum_plot_rows *rows, size_t row,
    struct plot_components *plot, struct fulcrum_error *err)
{
    char name[PLOT_COMPONENTS_NAME_SIZE];
    char component[32];
    struct cells cells;
    fulcrum_plot_rows_text(rows, row, "machine", name, sizeof name);
    fulcrum_plot_rows_text(rows, row, "component", component, sizeof component);
    size_t part = plot_components_part_of(component);
    FAIL_IF(part == FULCRUM_GPU_TIME_PARTS, err, FULCRUM_ERR_FORMAT,
        "row %zu: component = '%s': expected one of 'fulcrum memory'", row + 1,
        component);
    TRY(read_cells(rows, row, &cells, err));
    struct machine *machine = machine_of(plot, name);
    FAIL_IF(machine == NULL, err, FULCRUM_ERR_RANGE, "more than %d machines: too many",
        (int)MACHINES_MOST);
    size_t i = (size_t)(machine - plot->machines);
    fulcrum_plot_rows_text(rows, row, "gpu", machine->gpu, sizeof machine->gpu);
    machine->steps_per_s = cells.steps_per_s;
    if (cells.gpu_frac > 0.0 && cells.gpu_s > 0.0) {
        machine->gpu_s = cells.gpu_s / cells.gpu_frac;
    }
    plot->times[i].parts[part] = isnan(cells.gpu_s) ? 0.0 : fmax(0.0, cells.gpu_s);
    plot->runs[i].parts[part] = isnan(cells.run_frac) ? 0.0 : fmax(0.0, cells.run_frac);
    plot->is_clipped |= cells.run_frac < -CLIPPED_FROM;
    return FULCRUM_OK;
}

static double sum_of(const struct fulcrum_gpu_time_row *row)
{
    double sum = 0.0;
    for (size_t k = 0; k < FULCRUM_GPU_TIME_PARTS; k++) {
        sum += row->parts[k];
    }
    return sum;
}

static void multiply(struct fulcrum_gpu_time_row *row, double factor)
{
    for (size_t k = 0; k < FULCRUM_GPU_TIME_PARTS; k++) {
        row->parts[k] *= factor;
    }
}

/*
 * A faster link to the host shortens GPU work by what no component has: parts that are
 * more than the whole are drawn smaller alike.
 */
static double gpu_work_s(const struct plot_components *plot, size_t i)
{
    double sum_s = sum_of(&plot->times[i]);
    double whole_s = plot->machines[i].gpu_s;
    return whole_s > 0.0 ? fmin(whole_s, sum_s) : sum_s;
}

/* Times become relative to the first machine's. */
static enum fulcrum_status relate(
    struct plot_components *plot, struct fulcrum_error *err)
{
    double first_s = gpu_work_s(plot, 0);
    double first_per_s = plot->machines[0].steps_per_s;
    FAIL_IF(!(first_s > 0.0), err, FULCRUM_ERR_FORMAT,
        "machine %s: no GPU time in its rows", plot->machines[0].name);
    for (size_t i = 0; i < plot->count; i++) {
        double work_s = gpu_work_s(plot, i);
        double sum_s = sum_of(&plot->times[i]);
        multiply(&plot->times[i], sum_s > 0.0 ? work_s / sum_s / first_s : 0.0);
        multiply(&plot->runs[i], first_per_s / plot->machines[i].steps_per_s);
    }
    return FULCRUM_OK;
}

static void write_words(
    const struct fulcrum_plot_rows *rows, struct plot_components *plot)
{
    char workload[64];
    char calibration[128];
    fulcrum_plot_rows_text(rows, 0, "workload", workload, sizeof workload);
    fulcrum_plot_rows_text(rows, 0, "calibration", calibration, sizeof calibration);
    (void)snprintf(plot->subtitle, sizeof plot->subtitle,
        "%s%s%s%s%s%seach component made ideal in turn: what is gone is its part",
        workload[0] != '\0' ? "workload " : "", workload,
        workload[0] != '\0' ? "; " : "", calibration[0] != '\0' ? "calibration " : "",
        calibration, calibration[0] != '\0' ? "; " : "");
    (void)snprintf(plot->footnote, sizeof plot->footnote,
        "GPU time is a sum: its parts have no order. Parts of a run are what is gained "
        "in the order DRAM bandwidth, latencies, SMs, arithmetic, launches, host; in "
        "another order they differ.%s",
        plot->is_clipped ? " Parts below 0 are drawn as 0." : "");
    if (plot->count > 1) {
        size_t used = strlen(plot->footnote);
        (void)snprintf(plot->footnote + used, sizeof plot->footnote - used,
            " GPUs other than the calibration's: scaled, x or / %g for one standard "
            "deviation.",
            FULCRUM_GPU_SPREAD_FACTOR);
    }
}

enum fulcrum_status fulcrum_plot_components_data(const struct fulcrum_plot_rows *rows,
    struct fulcrum_plot_room *room, struct fulcrum_gpu_time_data *out,
    struct fulcrum_error *err)
{
    TRY(fulcrum_plot_rows_need(rows, err));
    struct plot_components *plot = fulcrum_plot_room_take(room, 1, sizeof *plot);
    for (size_t i = 0; i < fulcrum_plot_rows_count(rows); i++) {
        TRY(take_row(rows, i, plot, err));
    }
    if (plot->count > 0) {
        TRY(relate(plot, err));
        write_words(rows, plot);
    }
    *out = (struct fulcrum_gpu_time_data){
        .text = fulcrum_plot_text(&room->words, "Where the time goes: GPU and run",
            plot->subtitle, plot->footnote),
        .x_label = "time of the same GPU work, relative to the first; labels: shares "
                   "of each bar",
        .rows = plot->times,
        .count = plot->count,
        .run_title = "Time of a run, with the CPU and the host",
        .run_x_label = "time of the same number of steps, relative to the first",
        .runs = plot->runs,
        .run_count = plot->count,
    };
    for (size_t k = 0; k < FULCRUM_GPU_TIME_PARTS; k++) {
        out->part_names[k] = parts[k].name;
    }
    return FULCRUM_OK;
}

/* Where the time of a reference's GPU goes, there and elsewhere. */

/*
 * The first bar is what was published, the rest left over as it is; the next is half
 * of the SMs, then other GPUs: (6) and (24) of docs/model.md with the shares of the
 * workload, which are those of the publication or replace them.
 */

enum { ROWS_MOST = 16, PLOT_GPU_TIME_NAME_SIZE = 120 };
enum plot_gpu_time_part { MATH, SM, DRAM, REST };

/* Of a normal distribution, 90 % lie within so many standard deviations. */
static const double normal_90 = 1.645;

struct plot_gpu_time {
    size_t count;
    struct fulcrum_gpu_time_row rows[ROWS_MOST];
    char names[ROWS_MOST][PLOT_GPU_TIME_NAME_SIZE];
    char title[160];
    char subtitle[300];
    char footnote[400];
};

/* What a published share is of; "" where the point does not say. */
static const char *component_of(const struct fulcrum_reference_point *point)
{
    const struct fulcrum_reference_setting *component =
        fulcrum_reference_find_setting(point, "component");
    return component != NULL ? component->text : "";
}

/* The part that a published component stands for; REST where it is none of the model's.
 */
static enum plot_gpu_time_part plot_gpu_time_part_of(
    const struct fulcrum_reference_point *point)
{
    switch (fulcrum_ideal_find(component_of(point))) {
    case FULCRUM_IDEAL_MATH:
        return MATH;
    case FULCRUM_IDEAL_SM:
        return SM;
    case FULCRUM_IDEAL_DRAM:
        return DRAM;
    default:
        return REST;
    }
}

/* The next row; NULL where there are too many. */
static struct fulcrum_gpu_time_row *add_row(
    struct plot_gpu_time *plot, const char *subject, const char *what)
{
    if (plot->count == ROWS_MOST) {
        return NULL;
    }
    char *name = plot->names[plot->count];
    struct fulcrum_gpu_time_row *row = &plot->rows[plot->count++];
    (void)snprintf(name, PLOT_GPU_TIME_NAME_SIZE, "%s%s", subject, what);
    *row = (struct fulcrum_gpu_time_row){
        .name = name, .lo = (double)NAN, .hi = (double)NAN};
    return row;
}

static void put_scale(
    struct fulcrum_gpu_time_row *row, const struct fulcrum_gpu_scale *scale)
{
    row->parts[MATH] = scale->math;
    row->parts[SM] = scale->sm;
    row->parts[DRAM] = scale->dram;
    row->parts[REST] = scale->latency;
}

/* The share that a point states; NAN: none. */
static double share_of(const struct fulcrum_reference_point *point)
{
    for (size_t k = 0; k < point->observation_count; k++) {
        if (strcmp(point->observations[k].quantity, "gpu_time_frac") == 0) {
            return point->observations[k].value;
        }
    }
    return (double)NAN;
}

/* Returns how many shares there were. */
static size_t add_published(
    struct plot_gpu_time *plot, const struct fulcrum_reference *reference)
{
    struct fulcrum_gpu_time_row *row =
        add_row(plot, reference->design.machine.gpu.name, ", published");
    double sum = 0.0;
    size_t found = 0;
    for (size_t i = 0; i < reference->point_count; i++) {
        const struct fulcrum_reference_point *point = &reference->points[i];
        double share = share_of(point);
        if (!isnan(share)) {
            row->parts[plot_gpu_time_part_of(point)] += share;
            sum += share;
            found++;
        }
    }
    row->parts[REST] += fmax(0.0, 1.0 - sum);
    return found;
}

/* Another GPU's times are scaled ones, with the spread that this has. */
static enum fulcrum_status add_machine(struct plot_gpu_time *plot,
    const struct fulcrum_reference *reference, const char *name,
    struct fulcrum_error *err)
{
    struct fulcrum_design design;
    const struct fulcrum_gpu *from = &reference->design.machine.gpu;
    fulcrum_design_init(&design);
    enum fulcrum_status status = fulcrum_machine_load(name, &design, NULL, err);
    if (status != FULCRUM_OK) {
        return fulcrum_fail_in(err, status, "--machines");
    }
    bool is_same = strcmp(design.machine.gpu.name, from->name) == 0;
    if (design.machine.accelerator != FULCRUM_ACCELERATOR_GPU || is_same) {
        return FULCRUM_OK;
    }
    struct fulcrum_gpu_time_row *row = add_row(plot, design.machine.gpu.name, "");
    FAIL_IF(row == NULL, err, FULCRUM_ERR_RANGE, "--machines: more than %d",
        (int)ROWS_MOST - 2);
    struct fulcrum_gpu_scale scale = fulcrum_gpu_scale(
        &reference->design.workload.network, from, &design.machine.gpu);
    double factor = pow(FULCRUM_GPU_SPREAD_FACTOR, normal_90);
    put_scale(row, &scale);
    row->lo = fulcrum_gpu_scale_sum(&scale) / factor;
    row->hi = fulcrum_gpu_scale_sum(&scale) * factor;
    return FULCRUM_OK;
}

static enum fulcrum_status add_machines(struct plot_gpu_time *plot,
    const struct fulcrum_reference *reference, const char *list,
    struct fulcrum_error *err)
{
    const char *rest = strcmp(list, "none") == 0 ? NULL : list;
    enum fulcrum_status status = FULCRUM_OK;
    while (rest != NULL && status == FULCRUM_OK) {
        char *name = fulcrum_list_part(&rest);
        status = add_machine(plot, reference, name, err);
        free(name);
    }
    return status;
}

static enum fulcrum_status fill(struct plot_gpu_time *plot,
    const struct fulcrum_reference *reference, const char *machines,
    struct fulcrum_error *err)
{
    FAIL_IF(reference->design.machine.accelerator != FULCRUM_ACCELERATOR_GPU ||
                add_published(plot, reference) == 0,
        err, FULCRUM_ERR_UNSUPPORTED,
        "reference %s: no gpu_time_frac of a GPU: expected one like "
        "inci2020-fig2-text",
        reference->name);
    if (reference->design.machine.gpu.sm_count >= 2.0) {
        double sms = reference->design.machine.gpu.sm_count;
        char what[48];
        (void)snprintf(what, sizeof what, "%.0f of %.0f SMs", floor(sms / 2.0), sms);
        struct fulcrum_gpu_time_row *row = add_row(plot, "the same on ", what);
        if (row != NULL) {
            struct fulcrum_gpu_scale scale = fulcrum_sm_scale(
                &reference->design.workload.network, sms, floor(sms / 2.0));
            put_scale(row, &scale);
        }
    }
    (void)snprintf(plot->title, sizeof plot->title, "%s", reference->title);
    (void)snprintf(plot->subtitle, sizeof plot->subtitle,
        "reference %s; workload %s; below the first bar: predicted from the shares of "
        "the workload, with clocks, SMs, bandwidth and cache of each GPU",
        reference->name, reference->workload);
    (void)snprintf(plot->footnote, sizeof plot->footnote,
        "What is left of the published shares (%.0f %%) is taken to be latency that no "
        "GPU shortens. Other GPUs: a factor of %g either way for one standard "
        "deviation.",
        100.0 * plot->rows[0].parts[REST], FULCRUM_GPU_SPREAD_FACTOR);
    return add_machines(plot, reference, machines, err);
}

enum fulcrum_status fulcrum_plot_gpu_time_data(
    const struct fulcrum_reference *reference, const char *machines,
    struct fulcrum_plot_room *room, struct fulcrum_gpu_time_data *out,
    struct fulcrum_error *err)
{
    struct plot_gpu_time *plot = fulcrum_plot_room_take(room, 1, sizeof *plot);
    TRY(fill(plot, reference, machines, err));
    *out = (struct fulcrum_gpu_time_data){
        .text = fulcrum_plot_text(
            &room->words, plot->title, plot->subtitle, plot->footnote),
        .part_names = {"math", "SM utilisation", "DRAM bandwidth",
            "the rest: latency, taken as constant"},
        .x_label = "time relative to the published GPU; labels: shares of each bar",
        .interval_name = "90 % interval of the whole",
        .rows = plot->rows,
        .count = plot->count,
    };
    return FULCRUM_OK;
}
