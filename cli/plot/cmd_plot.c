/* cmd_plot.c - `fulcrum plot`: one chart from what fulcrum wrote. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "cli/command.h"
#include "cli/output/sweep_columns.h"
#include "cli/plot/plot_job.h"
#include "cli/plot/plot_source.h"
#include "model/nearest.h"
#include "model/try.h"
#include "presets/load/reference_file.h"

struct settings {
    const char *input;
    const char *chart; /* NULL: by what the file holds */
    const char *title;
    const char *subtitle;
    const char *machines;
    const char *metric;
    const char *x;
    const char *y;
    const char *pareto;
    int contours; /* of enum fulcrum_heat_contours */
    int parts;    /* index of fulcrum_breakdowns */
    int scale;    /* of enum fulcrum_row_scale */
    struct fulcrum_text_list more;
    struct fulcrum_text_list references;
    double width_pt;
    double height_pt;
    double width_px; /* of PNG; NAN: twice the points */
};

/* In place of a column: more than one field of the sweep varies. */
static const char two_fields[] = "two fields";

/*
 * One row a chart and what it is drawn from, and the column of a sweep or the quantity
 * of a reference that asks for it unless the user does. Of rows that would do, the
 * first is taken.
 */
static const struct plotter {
    const struct fulcrum_chart *chart;
    enum fulcrum_plot_content content;
    const char *column; /* NULL: any */
    fulcrum_plot_draw *draw;
} plotters[] = {
    {&fulcrum_chart_pareto, FULCRUM_PLOT_SWEEP, "point", fulcrum_plot_lines},
    {&fulcrum_chart_heat, FULCRUM_PLOT_SWEEP, two_fields, fulcrum_plot_heat},
    {&fulcrum_chart_actors, FULCRUM_PLOT_SWEEP, "run.actor_count", fulcrum_plot_lines},
    {&fulcrum_chart_sm, FULCRUM_PLOT_SWEEP, "run.sm_count", fulcrum_plot_lines},
    {&fulcrum_chart_ratio, FULCRUM_PLOT_SWEEP, NULL, fulcrum_plot_lines},
    {&fulcrum_chart_busy, FULCRUM_PLOT_SWEEP, NULL, fulcrum_plot_lines},
    {&fulcrum_chart_runtime, FULCRUM_PLOT_SWEEP, NULL, fulcrum_plot_lines},
    {&fulcrum_chart_power, FULCRUM_PLOT_SWEEP, NULL, fulcrum_plot_lines},
    {&fulcrum_chart_breakdown, FULCRUM_PLOT_SWEEP, NULL, fulcrum_plot_breakdown},
    {&fulcrum_chart_breakdown, FULCRUM_PLOT_PREDICTION, NULL, fulcrum_plot_breakdown},
    {&fulcrum_chart_measured, FULCRUM_PLOT_MEASURED, NULL, fulcrum_plot_measured},
    {&fulcrum_chart_measured, FULCRUM_PLOT_REFERENCE, "steps_per_s",
        fulcrum_plot_measured},
    {&fulcrum_chart_stages, FULCRUM_PLOT_STAGES, NULL, fulcrum_plot_stages},
    {&fulcrum_chart_stages, FULCRUM_PLOT_REFERENCE, "simulation_frac",
        fulcrum_plot_stages},
    {&fulcrum_chart_scaling, FULCRUM_PLOT_SCALING, NULL, fulcrum_plot_lines},
    {&fulcrum_chart_scaling, FULCRUM_PLOT_REFERENCE, "speedup_over_one_node",
        fulcrum_plot_efficiency},
    {&fulcrum_chart_scaling, FULCRUM_PLOT_REFERENCE, "speedup_over_one_gpu",
        fulcrum_plot_efficiency},
    {&fulcrum_chart_gpu_time, FULCRUM_PLOT_REFERENCE, NULL, fulcrum_plot_gpu_time},
    {&fulcrum_chart_gpu_time, FULCRUM_PLOT_COMPONENTS, NULL, fulcrum_plot_components},
    {&fulcrum_chart_memory, FULCRUM_PLOT_MEMORY, NULL, fulcrum_plot_lines},
    {&fulcrum_chart_partition, FULCRUM_PLOT_PLACEMENTS, NULL, fulcrum_plot_partition},
    {&fulcrum_chart_upgrade, FULCRUM_PLOT_UPGRADES, NULL, fulcrum_plot_upgrade},
    {&fulcrum_chart_node, FULCRUM_PLOT_NODE, NULL, fulcrum_plot_lines},
    {&fulcrum_chart_parity, FULCRUM_PLOT_VALIDATION, NULL, fulcrum_plot_lines},
    {&fulcrum_chart_posterior, FULCRUM_PLOT_FIT, NULL, fulcrum_plot_posterior},
    {&fulcrum_chart_tornado, FULCRUM_PLOT_SENSITIVITY, NULL, fulcrum_plot_tornado},
    {&fulcrum_chart_calibration, FULCRUM_PLOT_CALIBRATION, NULL,
        fulcrum_plot_calibration},
    {&fulcrum_chart_sm_time, FULCRUM_PLOT_CALIBRATION, NULL, fulcrum_plot_sm_time},
};

enum { PLOTTER_COUNT = sizeof plotters / sizeof plotters[0] };

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

static const char *parts_name(int index)
{
    int i = 0;
    while (i < index && fulcrum_breakdowns[i] != NULL) {
        i++;
    }
    return fulcrum_breakdowns[i] != NULL ? fulcrum_breakdowns[i]->name : NULL;
}

static const char *contours_name(int index)
{
    static const char *const names[] = {[FULCRUM_HEAT_SHARES] = "share",
        [FULCRUM_HEAT_ROUND] = "round",
        [FULCRUM_HEAT_PLAIN] = "none"};
    return index <= FULCRUM_HEAT_PLAIN ? names[index] : NULL;
}

static const char *scale_name(int index)
{
    static const char *const names[] = {
        [FULCRUM_ROW_AMOUNT] = "amount", [FULCRUM_ROW_SHARE] = "share"};
    return index <= FULCRUM_ROW_SHARE ? names[index] : NULL;
}

static const struct fulcrum_option rows[] = {
    FULCRUM_OPTION(TEXT, "chart", offsetof(struct settings, chart), "NAME",
        .choice = chart_name,
        .help = "one of 'fulcrum list charts'; by what the file holds unless given"),
    FULCRUM_OPTION(TEXT, "title", offsetof(struct settings, title), "TEXT",
        .help = "in place of the title made from the data"),
    FULCRUM_OPTION(TEXT, "subtitle", offsetof(struct settings, subtitle), "TEXT",
        .help = "in place of the subtitle made from the data"),
    FULCRUM_OPTION(TEXT, "machines", offsetof(struct settings, machines), "A,B,C",
        .help =
            "machines to mark at their ratios on a ratio chart, at their own values "
            "on a heat map, or whose GPUs a gpu-time chart compares, or 'none'; the "
            "DGX systems unless given"),
    FULCRUM_OPTION(TEXT, "metric", offsetof(struct settings, metric), "COLUMN",
        .help = "what a heat map shows; steps_per_s unless given"),
    FULCRUM_OPTION(TEXT, "pareto", offsetof(struct settings, pareto),
        "METRIC,METRIC[,METRIC]",
        .help =
            "columns of a chart of the front, as 'explore --pareto' takes them: up, "
            "along, and by colour; those that JSON names, or steps_per_s,system_w, "
            "unless given"),
    FULCRUM_OPTION(TEXT, "x", offsetof(struct settings, x), "COLUMN",
        .help = "along a heat map; the field that varies first unless given"),
    FULCRUM_OPTION(TEXT, "y", offsetof(struct settings, y), "COLUMN",
        .help = "up a heat map; the other field that varies unless given"),
    FULCRUM_OPTION(CHOICE, "parts", offsetof(struct settings, parts), "OF",
        .choice = parts_name, .fallback = "cycle",
        .help = "what a breakdown shows: where an actor's cycle goes, the watts, or a "
                "GPU's time"),
    FULCRUM_OPTION(CHOICE, "scale", offsetof(struct settings, scale), "SCALE",
        .choice = scale_name, .fallback = "amount",
        .help = "bars of a breakdown as long as they are, or all of one length"),
    FULCRUM_OPTION(CHOICE, "contours", offsetof(struct settings, contours), "WHERE",
        .choice = contours_name, .fallback = "share",
        .help = "lines of a heat map: at shares of the best value, at round values, or "
                "none"),
    FULCRUM_OPTION(LIST, "reference", offsetof(struct settings, references), "NAME",
        .letter = 'r',
        .help = "published points to lay over a runtime, power or sm chart: preset or "
                "file"),
    FULCRUM_OPTION(NUMBER, "width", offsetof(struct settings, width_pt), "POINTS",
        .fallback = "720", .least = FULCRUM_CHART_LEAST_WIDTH_PT, .most = 4000.0,
        .help = "width of the page, 72 points to the inch"),
    FULCRUM_OPTION(NUMBER, "height", offsetof(struct settings, height_pt), "POINTS",
        .fallback = "620", .least = FULCRUM_CHART_LEAST_HEIGHT_PT, .most = 4000.0,
        .help = "height of the page"),
    FULCRUM_OPTION(COUNT, "pixels", offsetof(struct settings, width_px), "N",
        .least = 16.0, .most = 16384.0,
        .help = "width of a PNG in pixels; twice the points unless given"),
    {.name = NULL},
};

/* Options that a few charts look at. */
static const struct use {
    const char *option;
    const char *charts[4];
} uses[] = {
    {"machines", {"ratio", "heat", "gpu-time"}},
    {"metric", {"heat"}},
    {"pareto", {"pareto"}},
    {"x", {"heat"}},
    {"y", {"heat"}},
    {"parts", {"breakdown"}},
    {"scale", {"breakdown"}},
    {"contours", {"heat"}},
    {"reference", {"runtime", "power", "sm"}},
};

enum { USE_COUNT = sizeof uses / sizeof uses[0] };

/* The same chart may be drawn from other contents: its row of that content, else the
 * first it has. */
static const struct plotter *find_plotter(
    const char *chart, enum fulcrum_plot_content content)
{
    const struct plotter *found = NULL;
    for (size_t i = 0; i < PLOTTER_COUNT; i++) {
        bool is_better = found == NULL ||
                         (plotters[i].content == content && found->content != content);
        if (is_better && strcmp(plotters[i].chart->name, chart) == 0) {
            found = &plotters[i];
        }
    }
    return found;
}

static bool is_observed(const struct fulcrum_reference *reference, const char *quantity)
{
    int found = 0;
    for (size_t i = 0; i < reference->point_count; i++) {
        const struct fulcrum_reference_point *point = &reference->points[i];
        for (size_t k = 0; k < point->observation_count; k++) {
            found |= strcmp(point->observations[k].quantity, quantity) == 0;
        }
    }
    return found;
}

static bool has_column(const struct fulcrum_table *points, const char *column)
{
    size_t count = fulcrum_table_columns(points);
    size_t varying = 0;
    for (size_t j = 0; j < count && column == two_fields; j++) {
        varying += fulcrum_plot_varies(points, j) ? 1U : 0U;
    }
    return column == two_fields ? varying > 1
                                : fulcrum_table_find(points, column) < count;
}

/* By what the file holds: columns of a sweep, quantities of a reference. */
static enum fulcrum_status choose_plotter(
    struct fulcrum_plot_job *job, const struct plotter **out, struct fulcrum_error *err)
{
    const struct fulcrum_table *points = fulcrum_plot_points(job->source.result);
    struct fulcrum_reference *reference = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    if (job->source.content == FULCRUM_PLOT_SWEEP) {
        status = points != NULL
                     ? FULCRUM_OK
                     : fulcrum_fail(err, FULCRUM_ERR_FORMAT,
                           "%s: points is not given: expected an array of objects",
                           job->source.name);
    } else if (job->source.content == FULCRUM_PLOT_REFERENCE) {
        status = fulcrum_reference_load(job->source.name, &reference, err);
    }
    for (size_t i = 0; status == FULCRUM_OK && i < PLOTTER_COUNT; i++) {
        const struct plotter *plotter = &plotters[i];
        if (plotter->content == job->source.content &&
            (plotter->column == NULL ||
                (reference != NULL ? is_observed(reference, plotter->column)
                                   : has_column(points, plotter->column)))) {
            *out = plotter;
            break;
        }
    }
    fulcrum_reference_free(reference);
    return status;
}

static bool is_given(const char *option, const struct settings *settings)
{
    size_t i = 0;
    while (strcmp(rows[i].name, option) != 0) {
        i++;
    }
    return fulcrum_option_is_set(&rows[i], settings);
}

/* What a chart does not look at is not what its reader asked for. */
static enum fulcrum_status refuse_stray(const struct use *use, const char *chart,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_names names = {use->charts, 0, sizeof use->charts[0]};
    while (names.count < sizeof use->charts / sizeof use->charts[0] &&
           use->charts[names.count] != NULL) {
        if (strcmp(use->charts[names.count++], chart) == 0) {
            return FULCRUM_OK;
        }
    }
    char users[80];
    (void)fulcrum_names_join(&names, users, sizeof users);
    return fulcrum_usage_fail(context, err, FULCRUM_ERR_UNSUPPORTED,
        "--%s goes with --chart %s, not with %s", use->option, users, chart);
}

static enum fulcrum_status check_content(const struct settings *settings,
    const struct fulcrum_plot_job *job, const struct plotter *plotter,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    FAIL_IF(plotter->content != job->source.content, err, FULCRUM_ERR_UNSUPPORTED,
        "%s holds %s: the chart %s is drawn from %s", settings->input,
        fulcrum_plot_content_words(job->source.content), plotter->chart->name,
        fulcrum_plot_content_words(plotter->content));
    FULCRUM_USAGE_IF(
        settings->more.count > 0 && plotter->chart != &fulcrum_chart_breakdown, context,
        err, FULCRUM_ERR_UNSUPPORTED,
        "'%s': the chart %s is drawn from one file; several go with --chart "
        "breakdown",
        settings->more.items[0], plotter->chart->name);
    const struct fulcrum_chart *chart = plotter->chart;
    for (size_t k = 0; k < USE_COUNT; k++) {
        if (is_given(uses[k].option, settings)) {
            TRY(refuse_stray(&uses[k], chart->name, context, err));
        }
    }
    return FULCRUM_OK;
}

static int ends_with_png(const char *path)
{
    const char *ending = strrchr(path, '.');
    return ending != NULL && strcasecmp(ending, ".png") == 0;
}

/* What is wrong with the list itself, before any file is read. */
static enum fulcrum_status check_pareto(const struct settings *settings,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_front_list list;
    enum fulcrum_status status =
        settings->pareto != NULL
            ? fulcrum_front_list_parse(settings->pareto, &list, err)
            : FULCRUM_OK;
    context->exit_code = status == FULCRUM_OK ? context->exit_code : 2;
    return status;
}

static struct fulcrum_plot_job job_of(
    const struct settings *settings, const struct fulcrum_context *context)
{
    return (struct fulcrum_plot_job){
        .title = settings->title,
        .subtitle = settings->subtitle,
        .references = {settings->references.items, settings->references.count},
        .machines = settings->machines,
        .more = {settings->more.items, settings->more.count},
        .breakdown = {.parts = fulcrum_breakdowns[settings->parts],
            .scale = (enum fulcrum_row_scale)settings->scale},
        .pareto = settings->pareto,
        .heat = {.metric = settings->metric,
            .x = settings->x,
            .y = settings->y,
            .contours = (enum fulcrum_heat_contours)settings->contours},
        .output_path = context->output_path,
        .width_pt = settings->width_pt,
        .height_pt = settings->height_pt,
        .width_px = settings->width_px,
    };
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    const struct plotter *plotter = NULL;
    FULCRUM_USAGE_IF(context->output_path == NULL, context, err, FULCRUM_ERR_MISSING,
        "plot needs -o FILE, ending in .svg, .pdf or .png");
    FULCRUM_USAGE_IF(!isnan(settings->width_px) && !ends_with_png(context->output_path),
        context, err, FULCRUM_ERR_UNSUPPORTED,
        "--pixels goes with a .png file, not with %s", context->output_path);
    if (settings->chart != NULL) {
        TRY(fulcrum_name_check(settings->chart, "chart", chart_name, context, err));
        plotter = find_plotter(settings->chart, FULCRUM_PLOT_CONTENTS);
    }
    TRY(check_pareto(settings, context, err));
    struct fulcrum_plot_job job = job_of(settings, context);
    enum fulcrum_status status;
    TRY_OR_END(fulcrum_plot_source_open(settings->input,
        plotter != NULL ? plotter->content : FULCRUM_PLOT_CONTENTS, &job.source, err));
    if (plotter != NULL) {
        plotter = find_plotter(settings->chart, job.source.content);
    } else {
        TRY_OR_END(choose_plotter(&job, &plotter, err));
    }
    TRY_OR_END(check_content(settings, &job, plotter, context, err));
    job.chart = plotter->chart;
    status = plotter->draw(&job, err);
end:
    fulcrum_plot_source_close(&job.source);
    return status;
}

static const struct fulcrum_argument arguments[] = {
    {"FILE", FULCRUM_ARGUMENT_ONE, offsetof(struct settings, input), NULL,
        "CSV or JSON of 'fulcrum explore' (JSON lines too), 'fulcrum validate' or "
        "'fulcrum measure', "
        "JSON of 'fulcrum fit' or 'fulcrum predict', or a calibration or reference "
        "(file or preset)"},
    {"FILE", FULCRUM_ARGUMENT_REST, offsetof(struct settings, more), NULL,
        "more sweeps or predictions, for a breakdown"},
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {NULL, rows, 0},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum plot ratio.csv -o ratio.svg", "CPU/GPU ratio against performance"},
    {"fulcrum plot grid.csv --metric steps_per_j_system -o heat.svg",
        "a sweep over two fields as colours, with contours and machines"},
    {"fulcrum plot dgx-1.json dgx-a100.json --parts watts -o watts.svg",
        "where the watts of predictions go, a bar each"},
    {"fulcrum plot c.json -o calibration.png", "what was measured, with the fits"},
    {"fulcrum plot actors.csv --chart runtime --reference inci2020-fig3-text -o f.svg",
        "predicted runtime over actors with published points"},
    {"fulcrum plot validation.json -o parity.svg", "predicted against measured"},
    {"fulcrum plot m.json -o measured.svg",
        "throughput of the real pipeline, measured against predicted"},
    {"fulcrum plot inci2020-fig2-text -o gpu-time.svg", "where a GPU's time goes"},
    {"fulcrum plot memory.json -o memory.svg",
        "what 'fulcrum memory' wrote: components or memory systems"},
    {"fulcrum plot cluster.json -o scaling.svg",
        "what 'fulcrum cluster' wrote: numbers of GPUs"},
    {"fulcrum plot sensitivity.json -o tornado.svg",
        "what each number does to a prediction, from 'fulcrum sensitivity'"},
    {"fulcrum plot rlscope-fig5-stage-shares -o stages.svg",
        "where the time of training goes"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_plot = {
    .name = "plot",
    .summary = "draw one chart from what fulcrum wrote",
    .description =
        "Draws a chart as SVG, PDF or PNG, by the ending of the output file. A sweep "
        "over "
        "actors becomes a chart of runtime, watts and performance per watt (--chart "
        "runtime and --chart power are those of the paper, with published points); one "
        "over the SMs in use a chart of the slowdown; one over two fields a heat map "
        "of "
        "--metric; any other sweep a chart against "
        "the CPU/GPU ratio with known machines at their ratios. Predictions, and with "
        "--chart breakdown sweeps, several files of them too, become stacked bars of "
        "--parts. A validation becomes a "
        "chart of predicted against measured, a fit one of priors and posteriors, what "
        "'fulcrum measure' wrote one of the throughput over the actors beside its "
        "prediction, as does a reference of throughput, which is predicted for it. A "
        "reference of GPU time becomes one of its parts and what other GPUs would make "
        "of them, as do the components of 'fulcrum memory', with runs below; its "
        "memory "
        "systems are curves, as are the numbers of GPUs of "
        "'fulcrum cluster', and a reference of speed-ups over machines. A reference of "
        "shares by stage, or stages that "
        "'fulcrum measure' recorded, become a bar of stages for each run; a "
        "calibration "
        "a page of samples with the fitted "
        "curves and their "
        "residuals.\n\n"
        "Published ratios are carried over to the point that the sweep's own refer to "
        "(--relative-to of 'fulcrum explore'); where they refer to another, they are "
        "restated, or chained on what is published or predicted there, and the legend "
        "says so.",
    .examples = examples,
    .arguments = arguments,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_FILE,
    .run = run,
};
