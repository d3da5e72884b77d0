/* cmd_plot.c - `fulcrum plot`: one chart from what fulcrum wrote. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "cli/command.h"
#include "cli/output/sweep_columns.h"
#include "cli/plot/plot_job.h"
#include "model/try.h"

static const char *chart_name(int index)
{
    const struct fulcrum_chart *chart = fulcrum_charts()[index];
    return chart != NULL ? chart->name : NULL;
}

static const char *parts_name(int index)
{
    const struct fulcrum_bar_chart *parts = fulcrum_breakdowns[index];
    return parts != NULL ? parts->name : NULL;
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

#define AT(member) offsetof(struct fulcrum_plot_job, member)

static const struct fulcrum_option rows[] = {
    FULCRUM_OPTION(TEXT, "chart", AT(chart), "NAME", .choice = chart_name,
        .help = "one of 'fulcrum list charts'; by what the file holds unless given"),
    FULCRUM_OPTION(TEXT, "title", AT(title), "TEXT",
        .help = "in place of the title made from the data"),
    FULCRUM_OPTION(TEXT, "subtitle", AT(subtitle), "TEXT",
        .help = "in place of the subtitle made from the data"),
    FULCRUM_OPTION(TEXT, "machines", AT(machines), "A,B,C",
        .help =
            "machines to mark at their ratios on a ratio chart, at their own values "
            "on a heat map, or whose GPUs a gpu-time chart compares, or 'none'; the "
            "DGX systems unless given"),
    FULCRUM_OPTION(TEXT, "metric", AT(metric), "COLUMN",
        .help = "what a heat map shows; steps_per_s unless given"),
    FULCRUM_OPTION(TEXT, "pareto", AT(pareto), "METRIC,METRIC[,METRIC]",
        .help =
            "columns of a chart of the front, as 'explore --pareto' takes them: up, "
            "along, and by colour; those that JSON names, or steps_per_s,system_w, "
            "unless given"),
    FULCRUM_OPTION(TEXT, "x", AT(x), "COLUMN",
        .help = "along a heat map; the field that varies first unless given"),
    FULCRUM_OPTION(TEXT, "y", AT(y), "COLUMN",
        .help = "up a heat map; the other field that varies unless given"),
    FULCRUM_OPTION(CHOICE, "parts", AT(parts), "OF", .choice = parts_name,
        .fallback = "cycle",
        .help = "what a breakdown shows: where an actor's cycle goes, the watts, or a "
                "GPU's time"),
    FULCRUM_OPTION(CHOICE, "scale", AT(scale), "SCALE", .choice = scale_name,
        .fallback = "amount",
        .help = "bars of a breakdown as long as they are, or all of one length"),
    FULCRUM_OPTION(CHOICE, "contours", AT(contours), "WHERE", .choice = contours_name,
        .fallback = "share",
        .help = "lines of a heat map: at shares of the best value, at round values, or "
                "none"),
    FULCRUM_OPTION(LIST, "reference", AT(references), "NAME", .letter = 'r',
        .help = "published points to lay over a runtime, power or sm chart: preset or "
                "file"),
    FULCRUM_OPTION(NUMBER, "width", AT(width_pt), "POINTS", .fallback = "720",
        .least = FULCRUM_CHART_LEAST_WIDTH_PT, .most = 4000.0,
        .help = "width of the page, 72 points to the inch"),
    FULCRUM_OPTION(NUMBER, "height", AT(height_pt), "POINTS", .fallback = "620",
        .least = FULCRUM_CHART_LEAST_HEIGHT_PT, .most = 4000.0,
        .help = "height of the page"),
    FULCRUM_OPTION(COUNT, "pixels", AT(width_px), "N", .least = 16.0, .most = 16384.0,
        .help = "width of a PNG in pixels; twice the points unless given"),
    {.name = NULL},
};

/* What a chart does not look at is not what its reader asked for. */
static enum fulcrum_status refuse_stray(const struct fulcrum_plot_job *job,
    const char *chart, struct fulcrum_context *context, struct fulcrum_error *err)
{
    static const struct {
        const char *option;
        const char *charts;
    } uses[] = {{"machines", "ratio, heat or gpu-time"}, {"metric", "heat"},
        {"pareto", "pareto"}, {"x", "heat"}, {"y", "heat"}, {"parts", "breakdown"},
        {"scale", "breakdown"}, {"contours", "heat"},
        {"reference", "runtime, power or sm"}};
    for (size_t k = 0; k < sizeof uses / sizeof uses[0]; k++) {
        const struct fulcrum_option *row = rows;
        while (strcmp(row->name, uses[k].option) != 0) {
            row++;
        }
        FULCRUM_USAGE_IF(
            fulcrum_option_is_set(row, job) && strstr(uses[k].charts, chart) == NULL,
            context, err, FULCRUM_ERR_UNSUPPORTED,
            "--%s goes with --chart %s, not with %s", uses[k].option, uses[k].charts,
            chart);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status check_content(const struct fulcrum_plot_job *job,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_chart *chart = job->plot->chart;
    FAIL_IF(job->plot->content != job->source.content, err, FULCRUM_ERR_UNSUPPORTED,
        "%s holds %s: the chart %s is drawn from %s", job->input,
        fulcrum_plot_content_words(job->source.content), chart->name,
        fulcrum_plot_content_words(job->plot->content));
    FULCRUM_USAGE_IF(job->more.count > 0 && chart != &fulcrum_chart_breakdown, context,
        err, FULCRUM_ERR_UNSUPPORTED,
        "'%s': the chart %s is drawn from one file; several go with --chart "
        "breakdown",
        job->more.items[0], chart->name);
    return refuse_stray(job, chart->name, context, err);
}

static bool ends_with_png(const char *path)
{
    const char *ending = strrchr(path, '.');
    return ending != NULL && strcasecmp(ending, ".png") == 0;
}

/* What is wrong with the list itself, before any file is read. */
static enum fulcrum_status check_pareto(
    const char *metrics, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_front_list list;
    enum fulcrum_status status =
        metrics != NULL ? fulcrum_front_list_parse(metrics, &list, err) : FULCRUM_OK;
    context->exit_code = status == FULCRUM_OK ? context->exit_code : 2;
    return status;
}

static enum fulcrum_status save(
    struct fulcrum_plot_job *job, const char *path, struct fulcrum_error *err)
{
    const struct fulcrum_save_options options = {
        .png_width_px = isnan(job->width_px) ? 0.0 : job->width_px};
    struct fulcrum_canvas *canvas = NULL;
    TRY(fulcrum_canvas_new(&canvas, job->width_pt, job->height_pt, err));
    enum fulcrum_status status = fulcrum_plot_draw(job, canvas, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_plot_write(canvas, path, &options, err);
    }
    fulcrum_canvas_free(canvas);
    return status;
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_plot_job job = *(const struct fulcrum_plot_job *)data;
    const char *path = context->output_path;
    enum fulcrum_status status = FULCRUM_OK;
    FULCRUM_USAGE_IF(path == NULL, context, err, FULCRUM_ERR_MISSING,
        "plot needs -o FILE, ending in .svg, .pdf or .png");
    FULCRUM_USAGE_IF(!isnan(job.width_px) && !ends_with_png(path), context, err,
        FULCRUM_ERR_UNSUPPORTED, "--pixels goes with a .png file, not with %s", path);
    TRY(fulcrum_name_check(job.chart, "chart", chart_name, context, err));
    TRY(check_pareto(job.pareto, context, err));
    const struct fulcrum_plot *asked =
        job.chart != NULL ? fulcrum_plot_find(job.chart, FULCRUM_PLOT_CONTENTS) : NULL;
    TRY(fulcrum_plot_source_open(job.input,
        asked != NULL ? asked->content : FULCRUM_PLOT_CONTENTS, &job.source, err));
    TRY_OR_END(fulcrum_plot_choose(&job, err));
    TRY_OR_END(check_content(&job, context, err));
    status = save(&job, path, err);
end:
    fulcrum_plot_source_close(&job.source);
    return status;
}

static const struct fulcrum_argument arguments[] = {
    {"FILE", FULCRUM_ARGUMENT_ONE, AT(input), NULL,
        "CSV or JSON of 'fulcrum explore' (JSON lines too), 'fulcrum validate' or "
        "'fulcrum measure', "
        "JSON of 'fulcrum fit' or 'fulcrum predict', or a calibration or reference "
        "(file or preset)"},
    {"FILE", FULCRUM_ARGUMENT_REST, AT(more), NULL,
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
    .settings_size = sizeof(struct fulcrum_plot_job),
    .output = FULCRUM_OUTPUT_FILE,
    .run = run,
};
