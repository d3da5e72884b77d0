/* cmd_plot.c - `fulcrum plot`: one chart from a sweep or a calibration. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* stat */

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/plot_data.h"
#include "plots/canvas.h"
#include "plots/chart.h"
#include "presets/preset.h"

struct settings {
    const char *input;
    const char *chart; /* NULL: by what the file holds */
    const char *title;
    const char *subtitle;
    const char *machines;
    double width_pt;
    double height_pt;
    double width_px; /* of PNG; NAN: twice the points */
};

/* Machines named at their ratios unless others are asked for. */
#define STANDARD_MACHINES                                                              \
    "dgx-1-inci2020,dgx-1,dgx-2,dgx-a100,dgx-h100,dgx-b200,gb200-nvl72"

/* Known machines on a ratio chart. */
struct landmarks {
    struct fulcrum_ratio_machine machines[FULCRUM_RATIO_MACHINES_MAX];
    char names[FULCRUM_RATIO_MACHINES_MAX][64];
    size_t count;
};

static enum fulcrum_status save(const struct settings *settings,
    struct fulcrum_context *context, const struct fulcrum_chart *chart,
    const void *data, struct fulcrum_error *err)
{
    struct fulcrum_canvas *canvas = NULL;
    enum fulcrum_status status =
        fulcrum_canvas_new(&canvas, settings->width_pt, settings->height_pt, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    status = chart->draw(canvas, data, err);
    if (status == FULCRUM_OK) {
        const struct fulcrum_save_options options = {
            .png_width_px = isnan(settings->width_px) ? 0.0 : settings->width_px};
        status = fulcrum_canvas_save(canvas, context->output_path, &options, err);
    }
    fulcrum_canvas_free(canvas);
    return status;
}

static struct fulcrum_plot_words words_of(const struct settings *settings)
{
    return (struct fulcrum_plot_words){settings->title, settings->subtitle};
}

static double machine_ratio(const struct fulcrum_machine *machine)
{
    if (machine->accelerator != FULCRUM_ACCELERATOR_GPU) {
        return (double)NAN;
    }
    return machine->cpu.thread_count / (machine->gpu.count * machine->gpu.sm_count);
}

/* The next name of a comma-separated list; moves *list on, to NULL after the last. */
static void take_name(const char **list, char *out, size_t size)
{
    size_t length = strcspn(*list, ",");
    (void)snprintf(out, size, "%.*s", (int)length, *list);
    *list = (*list)[length] == ',' ? *list + length + 1 : NULL;
}

static enum fulcrum_status find_landmarks(
    const char *list, struct landmarks *out, struct fulcrum_error *err)
{
    const char *rest = strcmp(list, "none") == 0 ? NULL : list;
    while (rest != NULL) {
        if (out->count == FULCRUM_RATIO_MACHINES_MAX) {
            return fulcrum_fail(err, FULCRUM_ERR_RANGE, "--machines: more than %d",
                (int)FULCRUM_RATIO_MACHINES_MAX);
        }
        char *name = out->names[out->count];
        take_name(&rest, name, sizeof out->names[0]);
        struct fulcrum_design design;
        fulcrum_design_init(&design);
        enum fulcrum_status status = fulcrum_machine_load(name, &design, NULL, err);
        if (status != FULCRUM_OK) {
            return fulcrum_fail_in(err, status, "--machines");
        }
        double ratio = machine_ratio(&design.machine);
        if (ratio > 0.0) {
            out->machines[out->count] = (struct fulcrum_ratio_machine){name, ratio};
            out->count++;
        }
    }
    return FULCRUM_OK;
}

static int has_numbers(const struct fulcrum_table *table, const char *name)
{
    size_t column = fulcrum_table_find(table, name);
    if (column == fulcrum_table_column_count(table)) {
        return 0;
    }
    for (size_t row = 0; row < fulcrum_table_row_count(table); row++) {
        if (fulcrum_table_text(table, row, column)[0] != '\0') {
            return 1;
        }
    }
    return 0;
}

/* Faults of a cell name the file already. */
static enum fulcrum_status read_sweep(const struct settings *settings,
    const struct fulcrum_table *table, const char *x, struct fulcrum_plot_sweep **out,
    struct fulcrum_error *err)
{
    enum fulcrum_status status = fulcrum_plot_sweep_new(table, x, out, err);
    int is_named = strncmp(err->detail, settings->input, strlen(settings->input)) == 0;
    return status == FULCRUM_OK || is_named
               ? status
               : fulcrum_fail_in(err, status, settings->input);
}

static enum fulcrum_status plot_ratio(const struct settings *settings,
    struct fulcrum_context *context, const struct fulcrum_table *table,
    struct fulcrum_error *err)
{
    const char *x = has_numbers(table, "actor_threads_per_learner_core") &&
                            !has_numbers(table, "cpu_gpu_ratio_used")
                        ? "actor_threads_per_learner_core"
                        : "cpu_gpu_ratio_used";
    struct fulcrum_plot_sweep *sweep = NULL;
    enum fulcrum_status status = read_sweep(settings, table, x, &sweep, err);
    struct landmarks landmarks = {.count = 0};
    if (status == FULCRUM_OK && strcmp(x, "cpu_gpu_ratio_used") == 0) {
        const char *list =
            settings->machines != NULL ? settings->machines : STANDARD_MACHINES;
        status = find_landmarks(list, &landmarks, err);
    }
    if (status == FULCRUM_OK) {
        struct fulcrum_plot_words words = words_of(settings);
        struct fulcrum_ratio_data data =
            fulcrum_plot_ratio_data(sweep, &words, landmarks.machines, landmarks.count);
        status = save(settings, context, &fulcrum_chart_ratio, &data, err);
    }
    fulcrum_plot_sweep_free(sweep);
    return status;
}

static enum fulcrum_status plot_actors(const struct settings *settings,
    struct fulcrum_context *context, const struct fulcrum_table *table,
    struct fulcrum_error *err)
{
    struct fulcrum_plot_sweep *sweep = NULL;
    enum fulcrum_status status =
        read_sweep(settings, table, "actor_count", &sweep, err);
    if (status == FULCRUM_OK) {
        struct fulcrum_plot_words words = words_of(settings);
        struct fulcrum_actors_data data = fulcrum_plot_actors_data(sweep, &words);
        status = save(settings, context, &fulcrum_chart_actors, &data, err);
    }
    fulcrum_plot_sweep_free(sweep);
    return status;
}

/* A sweep that varies the actors and not the threads is about actors. */
static enum fulcrum_status plot_table(const struct settings *settings,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_table *table = NULL;
    enum fulcrum_status status = fulcrum_table_load(settings->input, &table, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    size_t columns = fulcrum_table_column_count(table);
    int about_actors = settings->chart != NULL
                           ? strcmp(settings->chart, "actors") == 0
                           : fulcrum_table_find(table, "run.actor_count") < columns;
    status = about_actors ? plot_actors(settings, context, table, err)
                          : plot_ratio(settings, context, table, err);
    fulcrum_table_free(table);
    return status;
}

static enum fulcrum_status plot_calibration(const struct settings *settings,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_calibration *calibration = NULL;
    struct fulcrum_plot_calibration *plot = NULL;
    enum fulcrum_status status =
        fulcrum_calibration_load(settings->input, &calibration, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_plot_calibration_new(calibration, &plot, err);
    }
    if (status == FULCRUM_OK) {
        struct fulcrum_plot_words words = words_of(settings);
        struct fulcrum_calibration_data data =
            fulcrum_plot_calibration_data(plot, &words);
        status = save(settings, context, &fulcrum_chart_calibration, &data, err);
    }
    fulcrum_plot_calibration_free(plot);
    fulcrum_calibration_free(calibration);
    return status;
}

static int ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);
    size_t end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/*
 * A calibration is a preset or a JSON object. What can be read but once, such as a
 * pipe, goes by its name alone.
 */
static int is_table(const char *path)
{
    struct stat there;
    if (ends_with(path, ".csv")) {
        return 1;
    }
    FILE *file =
        stat(path, &there) == 0 && S_ISREG(there.st_mode) ? fopen(path, "r") : NULL;
    if (file == NULL) {
        return 0;
    }
    int first = fgetc(file);
    while (first != EOF && isspace(first)) {
        first = fgetc(file);
    }
    (void)fclose(file);
    return first != EOF && first != '{';
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    if (context->output_path == NULL) {
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_MISSING,
            "plot needs -o FILE, ending in .svg, .pdf or .png");
    }
    if (settings->chart != NULL && fulcrum_chart_find(settings->chart) == NULL) {
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_UNKNOWN_NAME,
            "unknown chart '%s': expected ratio, actors or calibration",
            settings->chart);
    }
    int is_calibration = settings->chart != NULL
                             ? strcmp(settings->chart, "calibration") == 0
                             : !is_table(settings->input);
    return is_calibration ? plot_calibration(settings, context, err)
                          : plot_table(settings, context, err);
}

static const char *chart_name(int index)
{
    const struct fulcrum_chart *const *charts = fulcrum_charts();
    for (int i = 0; charts[i] != NULL; i++) {
        if (i == index) {
            return charts[i]->name;
        }
    }
    return NULL;
}

static const struct fulcrum_argument arguments[] = {
    {"FILE", FULCRUM_ARGUMENT_ONE, offsetof(struct settings, input), NULL,
        "CSV of 'fulcrum explore' or a calibration (file or preset)"},
    {.name = NULL},
};

static const struct fulcrum_option rows[] = {
    {.name = "chart",
        .kind = FULCRUM_OPTION_TEXT,
        .offset = offsetof(struct settings, chart),
        .value = "NAME",
        .choice = chart_name,
        .help = "ratio, actors or calibration; by what the file holds unless given"},
    {.name = "title",
        .kind = FULCRUM_OPTION_TEXT,
        .offset = offsetof(struct settings, title),
        .value = "TEXT",
        .help = "in place of the title made from the data"},
    {.name = "subtitle",
        .kind = FULCRUM_OPTION_TEXT,
        .offset = offsetof(struct settings, subtitle),
        .value = "TEXT",
        .help = "in place of the subtitle made from the data"},
    {.name = "machines",
        .kind = FULCRUM_OPTION_TEXT,
        .offset = offsetof(struct settings, machines),
        .value = "A,B,C",
        .help = "machines to mark at their ratios on a ratio chart, or 'none'; the DGX "
                "systems unless given"},
    {.name = "width",
        .kind = FULCRUM_OPTION_NUMBER,
        .offset = offsetof(struct settings, width_pt),
        .value = "POINTS",
        .fallback = "720",
        .least = FULCRUM_CHART_LEAST_WIDTH_PT,
        .most = 4000.0,
        .help = "width of the page, 72 points to the inch"},
    {.name = "height",
        .kind = FULCRUM_OPTION_NUMBER,
        .offset = offsetof(struct settings, height_pt),
        .value = "POINTS",
        .fallback = "620",
        .least = FULCRUM_CHART_LEAST_HEIGHT_PT,
        .most = 4000.0,
        .help = "height of the page"},
    {.name = "pixels",
        .kind = FULCRUM_OPTION_COUNT,
        .offset = offsetof(struct settings, width_px),
        .value = "N",
        .least = 16.0,
        .most = 16384.0,
        .help = "width of a PNG in pixels; twice the points unless given"},
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {NULL, rows, 0},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum plot ratio.csv -o ratio.svg", "CPU/GPU ratio against performance"},
    {"fulcrum plot c.json -o calibration.png", "what was measured, with the fits"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_plot = {
    .name = "plot",
    .summary = "draw one chart from a sweep or a calibration",
    .description =
        "Draws a chart as SVG, PDF or PNG, by the ending of the output file. A sweep "
        "over "
        "actors becomes a chart of runtime, watts and performance per watt; any other "
        "sweep a chart against the CPU/GPU ratio with known machines at their ratios; "
        "a "
        "calibration a page of samples with the fitted curves and their residuals.",
    .examples = examples,
    .arguments = arguments,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_FILE,
    .run = run,
};
