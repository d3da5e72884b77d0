/* cmd_speed.c - `fulcrum-bench speed`: how long solutions, simulations, sweeps take. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/commands.h"
#include "bench/speed_case.h"
#include "calibrate/stopwatch.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "model/try.h"
#include "plots/chart/chart.h"
#include "presets/io/output.h"

struct settings {
    double budget_s;
    double actors_most;
    const char *chart;
    double width_pt;
    double height_pt;
};

struct job {
    const struct settings *settings;
    struct fulcrum_speed_sweep *sweeps[2]; /* by enum fulcrum_speed_batches */
    struct fulcrum_speed_case *cases;
    size_t case_count;
    struct fulcrum_progress progress;
    const volatile sig_atomic_t *stop;
};

/* What one case leaves of its share goes to those after it. */
static enum fulcrum_status time_cases(struct job *job, struct fulcrum_error *err)
{
    double until_s = fulcrum_wall_s() + job->settings->budget_s;
    for (size_t i = 0; i < job->case_count && *job->stop == 0; i++) {
        double left = (double)(job->case_count - i);
        double share_s = fmax(0.0, until_s - fulcrum_wall_s()) / left;
        fulcrum_progress_update(
            &job->progress, 1.0 - left / (double)job->case_count, job->cases[i].name);
        enum fulcrum_status status =
            fulcrum_speed_case_time(&job->cases[i], share_s, job->stop, err);
        if (status != FULCRUM_OK) {
            return fulcrum_fail_in(err, status, job->cases[i].name);
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status run_job(
    struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    TRY(fulcrum_speed_sweep_new(&job->sweeps[0], FULCRUM_SPEED_GREEDY, context, err));
    TRY(fulcrum_speed_sweep_new(&job->sweeps[1], FULCRUM_SPEED_SHIPPED, context, err));
    job->cases = fulcrum_speed_cases_new(
        &job->case_count, job->settings->actors_most, job->sweeps);
    fulcrum_progress_start(&job->progress, context);
    enum fulcrum_status status = time_cases(job, err);
    fulcrum_progress_end(&job->progress);
    TRY(status);
    const struct fulcrum_speed speed = {job->cases, job->case_count, *job->stop != 0};
    const struct fulcrum_speed_chart chart = {
        job->settings->chart, job->settings->width_pt, job->settings->height_pt};
    if (speed.is_interrupted) {
        context->exit_code = FULCRUM_EXIT_INTERRUPTED;
    }
    TRY(fulcrum_speed_print(&speed, context, err));
    if (chart.path != NULL) {
        TRY(fulcrum_speed_draw(&speed, &chart, err));
    }
    return FULCRUM_OK;
}

/* A chart that cannot be written is told before the time is spent. */
static enum fulcrum_status check_chart(
    const char *path, struct fulcrum_context *context, struct fulcrum_error *err)
{
    if (path == NULL) {
        return FULCRUM_OK;
    }
    const char *end = strrchr(path, '.');
    bool is_picture = end != NULL && end > path &&
                      (strcmp(end, ".svg") == 0 || strcmp(end, ".pdf") == 0 ||
                          strcmp(end, ".png") == 0);
    FULCRUM_USAGE_IF(!is_picture, context, err, FULCRUM_ERR_RANGE,
        "--chart %s: expected a name ending in .svg, .pdf or .png", path);
    enum fulcrum_status status = fulcrum_output_check(path, err);
    return status == FULCRUM_OK ? status : fulcrum_fail_in(err, status, "--chart");
}

static enum fulcrum_status run_speed(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct job job = {.settings = data, .stop = fulcrum_interrupt_watch()};
    enum fulcrum_status status = check_chart(job.settings->chart, context, err);
    if (status == FULCRUM_OK) {
        status = run_job(&job, context, err);
    }
    free(job.cases);
    fulcrum_speed_sweep_free(job.sweeps[0]);
    fulcrum_speed_sweep_free(job.sweeps[1]);
    return status;
}

static const struct fulcrum_option rows[] = {
    FULCRUM_OPTION(NUMBER, "budget", offsetof(struct settings, budget_s), "SECONDS",
        .unit = "s", .fallback = "20", .least = 0.0, .most = 86400.0,
        .help = "time for all measurements; each is taken once at least"),
    FULCRUM_OPTION(COUNT, "actors", offsetof(struct settings, actors_most), "N",
        .fallback = "4096", .least = 1.0, .most = 4096.0,
        .help = "leave out networks with more actors"),
    {.name = NULL},
};

static const struct fulcrum_option chart_rows[] = {
    FULCRUM_OPTION(FILE, "chart", offsetof(struct settings, chart), "FILE",
        .help = "also draw the time of one solution against the actors, as SVG, PDF or "
                "PNG by the file's ending"),
    FULCRUM_OPTION(NUMBER, "width", offsetof(struct settings, width_pt), "POINTS",
        .fallback = "640", .least = FULCRUM_CHART_LEAST_WIDTH_PT, .most = 4000.0,
        .help = "width of the chart, 72 points to the inch"),
    FULCRUM_OPTION(NUMBER, "height", offsetof(struct settings, height_pt), "POINTS",
        .fallback = "480", .least = FULCRUM_CHART_LEAST_HEIGHT_PT, .most = 4000.0,
        .help = "height of the chart"),
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Measurement", rows, 0},
    {"Chart", chart_rows, 0},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum-bench speed", "everything, in 20 seconds or a little more"},
    {"fulcrum-bench speed --budget 120 --chart cost.svg --format json -o speed.json",
        "the same with more samples, as a file and a chart"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_bench_command_speed = {
    .program = FULCRUM_BENCH_PROGRAM,
    .name = "speed",
    .summary = "time of solutions, simulated steps and sweeps, beside yardsticks",
    .description =
        "Times the methods on networks of 1 to 4096 actors, simulations over laws of "
        "step times, and a sweep over shipped presets that is computed but not "
        "written. In the same run it times two exact solutions of a textbook network: "
        "mean value analysis as in any book, and the convolution of this program.\n\n"
        "Samples of a millisecond at least are repeated until the median is known to 2 "
        "%, or the time is over; quartiles and the smallest show the spread. Units are "
        "solutions, simulated steps or points of the sweep. Ctrl-C ends the "
        "measurement and prints what is there. docs/benchmark.md tells how to read the "
        "numbers.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .format = FULCRUM_FORMAT_TABLE,
    .run = run_speed,
};
