/* cmd_plot.c - `fulcrum plot`: one chart from what fulcrum wrote. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
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
    static const char *const names[] = {"share", "round", "none", NULL};
    return names[index];
}

static const char *scale_name(int index)
{
    static const char *const names[] = {"amount", "share", NULL};
    return names[index];
}

#define AT(member) offsetof(struct fulcrum_plot_job, member)

static const struct fulcrum_option rows[] = {
    FULCRUM_OPTION(TEXT, "chart", AT(chart), "NAME", .choice = chart_name,
        .help =
            "one of 'fulcrum list charts'; default: selected by the file's contents"),
    FULCRUM_OPTION(TEXT, "title", AT(title), "TEXT",
        .help = "in place of the title made from the data"),
    FULCRUM_OPTION(TEXT, "subtitle", AT(subtitle), "TEXT",
        .help = "in place of the subtitle made from the data"),
    FULCRUM_OPTION(TEXT, "machines", AT(machines), "A,B,C",
        .help = "machines to mark on a ratio chart or heat map, or whose GPUs a "
                "gpu-time chart compares; 'none' for none; default: the DGX systems"),
    FULCRUM_OPTION(TEXT, "metric", AT(metric), "COLUMN",
        .help = "what a heat map shows; default: steps_per_s"),
    FULCRUM_OPTION(TEXT, "pareto", AT(pareto), "METRIC,METRIC[,METRIC]",
        .help = "metrics of a Pareto chart, as for 'explore --pareto': y axis, x axis, "
                "colour; default: those the JSON names, else steps_per_s,system_w"),
    FULCRUM_OPTION(TEXT, "x", AT(x), "COLUMN",
        .help = "x axis of a heat map; default: the first field that varies"),
    FULCRUM_OPTION(TEXT, "y", AT(y), "COLUMN",
        .help = "y axis of a heat map; default: the other field that varies"),
    FULCRUM_OPTION(CHOICE, "parts", AT(parts), "OF", .choice = parts_name,
        .fallback = "cycle",
        .help = "what a breakdown shows: where an actor's cycle goes, the watts, or a "
                "GPU's time"),
    FULCRUM_OPTION(CHOICE, "scale", AT(scale), "SCALE", .choice = scale_name,
        .fallback = "amount",
        .help = "bars of a breakdown by amount, or all of one length"),
    FULCRUM_OPTION(CHOICE, "contours", AT(contours), "WHERE", .choice = contours_name,
        .fallback = "share",
        .help = "contours of a heat map: at shares of the best value, at round values, "
                "or none"),
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
        .help = "width of a PNG in pixels; default: twice the points"),
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

static enum fulcrum_status save(
    struct fulcrum_plot_job *job, const char *path, struct fulcrum_error *err)
{
    double png_width_px = isnan(job->width_px) ? 0.0 : job->width_px;
    struct fulcrum_canvas *canvas = NULL;
    TRY(fulcrum_canvas_new(&canvas, job->width_pt, job->height_pt, err));
    enum fulcrum_status status = fulcrum_plot_draw(job, canvas, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_plot_write(canvas, path, png_width_px, err);
    }
    fulcrum_canvas_free(canvas);
    return status;
}

static enum fulcrum_status run_plot(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_plot_job job = *(const struct fulcrum_plot_job *)data;
    const char *path = context->output_path;
    enum fulcrum_status status = FULCRUM_OK;
    FULCRUM_USAGE_IF(path == NULL, context, err, FULCRUM_ERR_MISSING,
        "plot needs -o FILE, ending in .svg, .pdf or .png");
    const char *ending = strrchr(path, '.');
    bool is_png = ending != NULL && strcasecmp(ending, ".png") == 0;
    FULCRUM_USAGE_IF(!isnan(job.width_px) && !is_png, context, err,
        FULCRUM_ERR_UNSUPPORTED, "--pixels goes with a .png file, not with %s", path);
    TRY(fulcrum_name_check(job.chart, "chart", chart_name, context, err));
    if (job.pareto != NULL) {
        /* What is wrong with the list itself, before any file is read. */
        struct fulcrum_front_list list;
        status = fulcrum_front_list_parse(job.pareto, &list, err);
        context->exit_code = status == FULCRUM_OK ? context->exit_code : 2;
        TRY(status);
    }
    const struct fulcrum_plot *asked =
        job.chart != NULL ? fulcrum_plot_find(job.chart, FULCRUM_PLOT_CONTENTS) : NULL;
    TRY(fulcrum_plot_source_open(job.input,
        asked != NULL ? asked->content : FULCRUM_PLOT_CONTENTS, &job.source, err));
    TRY_OR_END(fulcrum_plot_choose(&job, err));
    TRY_OR_END(check_content(&job, context, err));
    status = save(&job, path, err);
end:
    fulcrum_plot_clear(&job);
    return status;
}

static const struct fulcrum_argument arguments[] = {
    {"FILE", FULCRUM_ARGUMENT_ONE, AT(input), NULL,
        "what a fulcrum command wrote as JSON or CSV (JSON lines of 'fulcrum explore' "
        "too), or a calibration or reference (file or preset)"},
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
        "Draws one chart as SVG, PDF or PNG, by the ending of the output file. The "
        "file's contents select the chart; --chart selects another. A sweep over "
        "actors shows runtime, watts and performance per watt (--chart runtime and "
        "--chart power match the paper's figures, with published points); over SMs in "
        "use, the slowdown; over two fields, a heat map of --metric; any other sweep, "
        "the CPU/GPU ratio with known machines marked. Predictions, and sweeps with "
        "--chart breakdown, become stacked bars of --parts, several files together. A "
        "validation shows predicted against measured, a fit its priors and posteriors, "
        "a calibration its samples, fits and residuals. What 'fulcrum measure' wrote "
        "shows throughput beside its prediction, or the recorded stages of each run; "
        "'fulcrum memory', GPU time and runs by component, or curves of memory "
        "systems; 'fulcrum cluster', curves over GPUs. A reference shows its "
        "throughput or speed-ups beside fresh predictions, its stages, or its GPU time "
        "beside that predicted for other GPUs.\n\n"
        "Published ratios are converted to the point that the sweep's own ratios refer "
        "to (--relative-to of 'fulcrum explore'). If they refer to another point, they "
        "are restated, or chained on what is published or predicted there, and the "
        "legend says so.",
    .examples = examples,
    .arguments = arguments,
    .groups = groups,
    .settings_size = sizeof(struct fulcrum_plot_job),
    .output = FULCRUM_OUTPUT_FILE,
    .run = run_plot,
};
