/* plot_components.c - GPU time and runs of several machines, from `fulcrum memory`. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot_data.h"
#include "model/scale.h"
#include "model/try.h"

enum { MACHINES_MOST = 16, NAME_SIZE = 128 };

/* Components by their names in the file, in the order of the bars' parts. */
static const struct part {
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
    char name[NAME_SIZE];
    char gpu[NAME_SIZE];
    double steps_per_s;
    double gpu_s; /* all GPU work of an agent step; 0: not known */
};

struct fulcrum_plot_components {
    size_t count;
    struct machine machines[MACHINES_MOST];
    struct fulcrum_gpu_time_row times[MACHINES_MOST];
    struct fulcrum_gpu_time_row runs[MACHINES_MOST];
    int is_clipped; /* shares below 0 are drawn as nothing */
    char subtitle[300];
    char footnote[400];
};

/* Less is the solver's rounding. */
#define CLIPPED_FROM 0.002

/* The machine of a row, new where it is the first of its name; NULL: too many. */
static struct machine *machine_of(
    struct fulcrum_plot_components *plot, const char *name)
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

static size_t part_of(const char *component)
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
    struct fulcrum_plot_components *plot, struct fulcrum_error *err)
{
    char name[NAME_SIZE];
    char component[32];
    struct cells cells;
    fulcrum_plot_rows_text(rows, row, "machine", name, sizeof name);
    fulcrum_plot_rows_text(rows, row, "component", component, sizeof component);
    size_t part = part_of(component);
    if (part == FULCRUM_GPU_TIME_PARTS) {
        return fulcrum_fail(err, FULCRUM_ERR_FORMAT,
            "row %zu: component = '%s': expected one of 'fulcrum memory'", row + 1,
            component);
    }
    TRY(read_cells(rows, row, &cells, err));
    struct machine *machine = machine_of(plot, name);
    if (machine == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE, "more than %d machines: too many",
            (int)MACHINES_MOST);
    }
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
static double gpu_work_s(const struct fulcrum_plot_components *plot, size_t i)
{
    double sum_s = sum_of(&plot->times[i]);
    double whole_s = plot->machines[i].gpu_s;
    return whole_s > 0.0 ? fmin(whole_s, sum_s) : sum_s;
}

/* Times become relative to the first machine's. */
static enum fulcrum_status relate(
    struct fulcrum_plot_components *plot, struct fulcrum_error *err)
{
    double first_s = gpu_work_s(plot, 0);
    double first_per_s = plot->machines[0].steps_per_s;
    if (!(first_s > 0.0)) {
        return fulcrum_fail(err, FULCRUM_ERR_FORMAT,
            "machine %s: no GPU time in its rows", plot->machines[0].name);
    }
    for (size_t i = 0; i < plot->count; i++) {
        double work_s = gpu_work_s(plot, i);
        double sum_s = sum_of(&plot->times[i]);
        multiply(&plot->times[i], sum_s > 0.0 ? work_s / sum_s / first_s : 0.0);
        multiply(&plot->runs[i], first_per_s / plot->machines[i].steps_per_s);
    }
    return FULCRUM_OK;
}

static void write_words(
    const struct fulcrum_plot_rows *rows, struct fulcrum_plot_components *plot)
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

enum fulcrum_status fulcrum_plot_components_new(const struct fulcrum_plot_rows *rows,
    struct fulcrum_plot_components **out, struct fulcrum_error *err)
{
    enum fulcrum_status status = fulcrum_plot_rows_need(rows, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    struct fulcrum_plot_components *plot = calloc(1, sizeof *plot);
    if (plot == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "the chart of components");
    }
    for (size_t i = 0; i < fulcrum_plot_rows_count(rows) && status == FULCRUM_OK; i++) {
        status = take_row(rows, i, plot, err);
    }
    if (status == FULCRUM_OK && plot->count > 0) {
        status = relate(plot, err);
        write_words(rows, plot);
    }
    if (status != FULCRUM_OK) {
        fulcrum_plot_components_free(plot);
        return status;
    }
    *out = plot;
    return FULCRUM_OK;
}

void fulcrum_plot_components_free(struct fulcrum_plot_components *plot)
{
    free(plot);
}

struct fulcrum_gpu_time_data fulcrum_plot_components_data(
    const struct fulcrum_plot_components *plot, const struct fulcrum_plot_words *words)
{
    struct fulcrum_gpu_time_data data = {
        .text = {.title = words->title != NULL ? words->title
                                               : "Where the time goes: GPU and run",
            .subtitle = words->subtitle != NULL ? words->subtitle : plot->subtitle,
            .footnote = plot->footnote},
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
        data.part_names[k] = parts[k].name;
    }
    return data;
}
