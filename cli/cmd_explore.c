/* cmd_explore.c - `fulcrum explore`: predictions over a grid of designs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the axes, asks the model for the sweep and hands each point to the writer and
 * to the finding (sweep_finding.c), which keeps the best points for the sentences at
 * the end. How the number of actors follows along a sweep is a rule of its own, told in
 * the head of every output, because a ratio sweep with a fixed number of actors answers
 * another question than one in which it grows with the threads.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/design_options.h"
#include "cli/interrupt.h"
#include "cli/message.h"
#include "cli/origin.h"
#include "cli/progress.h"
#include "cli/range.h"
#include "cli/solve_options.h"
#include "cli/sweep_finding.h"
#include "cli/sweep_optima.h"
#include "cli/sweep_writer.h"

/* Draws behind the interval of each point. */
#define EXPLORE_DRAWS       24.0
#define EXPLORE_FEWER_DRAWS 16.0
#define ALL_DRAWS_POINTS    64
/* Larger sweeps have neither intervals nor simulated points, unless asked for. */
#define THOROUGH_POINTS_MOST 256

/* The error of a method beyond which the points that have it are counted. */
#define ROUGH_ERROR_REL 0.01

/* Longest time without new points, as far as points allow: progress stays lively. */
#define VISIT_INTERVAL_S 0.1

struct settings {
    struct fulcrum_design_settings design;
    struct fulcrum_solve_settings solve;
    struct fulcrum_text_list vary;
    double actors_per_thread; /* NAN: not given */
    const char *best_actors;
    const char *columns;
    double relative_to; /* NAN: not given */
    int format;         /* enum fulcrum_sweep_format */
};

/* A sweep under way. */
struct job {
    struct fulcrum_sweep_plan plan;
    struct fulcrum_sweep_axis axes[FULCRUM_SWEEP_AXES_MOST];
    double *values[FULCRUM_SWEEP_AXES_MOST];
    double *actor_choices;
    size_t point_count;
    size_t done;
    size_t failed;
    size_t rough; /* points whose method may err by more than ROUGH_ERROR_REL */
    char reason[FULCRUM_REASON_BYTE]; /* of the first point that cannot run */
    char calibrations[200];
    char actors_rule[200];
    char machine[180];
    struct fulcrum_yardstick *yardstick;
    int spares_simulation; /* as nobody asked for an accuracy */
    struct fulcrum_sweep_writer *writer;
    struct fulcrum_sweep_finding *finding;
    struct fulcrum_sweep_optima *optima;
    struct fulcrum_sweep_best *best;
    struct fulcrum_progress progress;
    double visited_s; /* on the clock of the progress */
    const volatile sig_atomic_t *stop;
    FILE *out;
    int write_error; /* errno once writing has failed */
};

static int varies(const struct job *job, const char *path)
{
    for (size_t i = 0; i < job->plan.axis_count; i++) {
        if (strcmp(job->axes[i].field->path, path) == 0) {
            return 1;
        }
    }
    return 0;
}

/* "PATH=RANGE" */
static enum fulcrum_status parse_axis(const char *text, struct fulcrum_context *context,
    struct job *job, struct fulcrum_error *err)
{
    char path[96];
    size_t length = strcspn(text, "=");
    if (text[length] != '=' || length == 0 || length >= sizeof path) {
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_FORMAT,
            "--vary %s: expected PATH=RANGE, such as "
            "machine.cpu.thread_count=8:1024:x2",
            text);
    }
    memcpy(path, text, length);
    path[length] = '\0';
    const struct fulcrum_field *field = fulcrum_field_parse(path, context, err);
    if (field == NULL) {
        return fulcrum_fail_in(err, FULCRUM_ERR_UNKNOWN_NAME, "--vary");
    }
    if (varies(job, field->path)) {
        return fulcrum_usage_fail(
            context, err, FULCRUM_ERR_RANGE, "--vary %s is given twice", field->path);
    }
    size_t i = job->plan.axis_count;
    size_t count = 0;
    enum fulcrum_status status =
        fulcrum_range_parse(field, text + length + 1, &job->values[i], &count, err);
    if (status != FULCRUM_OK) {
        context->exit_code = 2;
        return fulcrum_fail_in(err, status, "--vary");
    }
    job->axes[i] = (struct fulcrum_sweep_axis){field, job->values[i], count};
    job->plan.axis_count++;
    return FULCRUM_OK;
}

static enum fulcrum_status parse_axes(const struct settings *settings,
    struct fulcrum_context *context, struct job *job, struct fulcrum_error *err)
{
    if (settings->vary.count == 0 || settings->vary.count > FULCRUM_SWEEP_AXES_MOST) {
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_RANGE,
            "explore takes 1 to %d times --vary PATH=RANGE",
            (int)FULCRUM_SWEEP_AXES_MOST);
    }
    job->plan.axes = job->axes;
    for (size_t i = 0; i < settings->vary.count; i++) {
        enum fulcrum_status status =
            parse_axis(settings->vary.items[i], context, job, err);
        if (status != FULCRUM_OK) {
            return status;
        }
    }
    return FULCRUM_OK;
}

/* The number of actors is set, varied, follows the threads or is the best of a list. */
static enum fulcrum_status read_actors_rule(const struct settings *settings,
    struct fulcrum_context *context, struct job *job, struct fulcrum_error *err)
{
    int ways = (settings->best_actors != NULL) + !isnan(settings->actors_per_thread) +
               varies(job, "run.actor_count") + !isnan(settings->design.actor_count);
    if (ways > 1) {
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_RANGE,
            "give the number of actors in one way: --actors, --actors-per-thread, "
            "--best-actors or --vary actors");
    }
    if (!isnan(settings->actors_per_thread)) {
        job->plan.actors_per_thread = settings->actors_per_thread;
    }
    if (settings->best_actors == NULL) {
        return FULCRUM_OK;
    }
    enum fulcrum_status status = fulcrum_range_parse(
        fulcrum_field_find("run.actor_count"), settings->best_actors,
        &job->actor_choices, &job->plan.actor_choice_count, err);
    job->plan.actor_choices = job->actor_choices;
    if (status != FULCRUM_OK) {
        context->exit_code = 2;
        return fulcrum_fail_in(err, status, "--best-actors");
    }
    return FULCRUM_OK;
}

static void describe_actors(
    const struct settings *settings, const struct job *job, char *out, size_t size)
{
    if (settings->best_actors != NULL) {
        (void)snprintf(out, size, "fastest of %s", settings->best_actors);
    } else if (!isnan(settings->actors_per_thread)) {
        (void)snprintf(
            out, size, "%.6g per hardware thread", settings->actors_per_thread);
    } else if (varies(job, "run.actor_count")) {
        (void)snprintf(out, size, "varied");
    } else {
        (void)snprintf(out, size, "fixed");
    }
}

/* The three calls of the sweep: these two on any thread, visit() on this one. */
static enum fulcrum_sweep_wish wish(void *context)
{
    const struct job *job = context;
    if (*job->stop != 0) {
        return FULCRUM_SWEEP_VISIT_NOW;
    }
    double waited_s = job->progress.clock_s() - job->visited_s;
    return waited_s > VISIT_INTERVAL_S ? FULCRUM_SWEEP_VISIT_SOON : FULCRUM_SWEEP_GO_ON;
}

static void prepare_point(
    void *context, size_t slot, const struct fulcrum_sweep_point *point)
{
    const struct job *job = context;
    fulcrum_sweep_writer_prepare(job->writer, slot, point);
}

static void count_points(
    struct job *job, const struct fulcrum_sweep_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int ok = points[i].status == FULCRUM_OK;
        if (!ok && job->failed++ == 0) {
            (void)snprintf(job->reason, sizeof job->reason, "%s", points[i].reason);
        }
        job->rough +=
            ok && points[i].prediction.solver_error_rel > ROUGH_ERROR_REL ? 1 : 0;
    }
    job->done += count;
}

static int visit(void *context, const struct fulcrum_sweep_point *points, size_t count)
{
    struct job *job = context;
    errno = 0;
    fulcrum_sweep_writer_add(job->writer, points, count);
    if (ferror(job->out) != 0) {
        job->write_error = errno != 0 ? errno : EIO;
    }
    fulcrum_sweep_finding_add(job->finding, points, count);
    fulcrum_sweep_optima_add(job->optima, points, count);
    count_points(job, points, count);
    char stage[64];
    (void)snprintf(
        stage, sizeof stage, "%zu of %zu points", job->done, job->point_count);
    fulcrum_progress_update(
        &job->progress, (double)job->done / (double)job->point_count, stage);
    job->visited_s = job->progress.clock_s();
    return *job->stop != 0 || job->write_error != 0;
}

/* All points failed: the sweep has no result, and the first reason is the message. */
static enum fulcrum_status judge(const struct job *job, struct fulcrum_error *err)
{
    if (job->failed == job->done && job->done > 0) {
        return fulcrum_fail(
            err, FULCRUM_ERR_INFEASIBLE, "no point can run: %s", job->reason);
    }
    if (job->failed > 0) {
        fulcrum_message_warn(
            "%zu of %zu points cannot run: %s", job->failed, job->done, job->reason);
    }
    return FULCRUM_OK;
}

static void note_rough(const struct job *job, struct fulcrum_context *context)
{
    if (job->spares_simulation && job->rough > 0) {
        fulcrum_message_note(context,
            "%zu of %zu points by equations that may be off by more than %g %% (see "
            "solver_error_rel); --half-width %g simulates those",
            job->rough, job->done, 100.0 * ROUGH_ERROR_REL, ROUGH_ERROR_REL);
    }
}

/* The sentence of the sweep, then one for each metric along each axis. */
static void note_finding(
    const struct job *job, const char *finding, struct fulcrum_context *context)
{
    fulcrum_message_note(context, "found: %s", finding);
    for (size_t i = 0; i < FULCRUM_SWEEP_METRICS * job->plan.axis_count; i++) {
        char text[900];
        if (fulcrum_sweep_optima_text(job->optima, i / job->plan.axis_count,
                i % job->plan.axis_count, text, sizeof text)) {
            fulcrum_message_note(context, "%s", text);
        }
    }
}

static enum fulcrum_status run_sweep(const struct fulcrum_scenario *scenario,
    struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_sweep_visitor visitor = {job, wish, prepare_point, visit};
    fulcrum_progress_start(&job->progress, context);
    job->visited_s = job->progress.clock_s();
    enum fulcrum_status status = fulcrum_sweep_run(scenario, &job->plan, &visitor, err);
    fulcrum_progress_end(&job->progress);
    if (job->write_error != 0) {
        return fulcrum_fail(err, FULCRUM_ERR_FILE, "%s: cannot be written: %s",
            context->output_path != NULL ? context->output_path : "standard output",
            strerror(job->write_error));
    }
    int interrupted = status == FULCRUM_ERR_INTERRUPTED;
    if (status != FULCRUM_OK && !interrupted) {
        return status;
    }
    status = judge(job, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    char text[1200];
    fulcrum_sweep_finding_text(job->finding, text, sizeof text);
    status =
        fulcrum_sweep_writer_end(job->writer, text, job->optima, !interrupted, err);
    if (interrupted) {
        fulcrum_message_warn(
            "interrupted: %zu of %zu points are there", job->done, job->point_count);
        context->exit_code = FULCRUM_EXIT_INTERRUPTED;
    } else if (status == FULCRUM_OK) {
        note_finding(job, text, context);
        note_rough(job, context);
    }
    return status;
}

/* A detected machine says little by its name: its processor comes with it. */
static void describe_machine(
    const struct fulcrum_machine *machine, char *out, size_t size)
{
    if (strcmp(machine->name, "this") == 0) {
        (void)snprintf(out, size, "this (%s)", machine->cpu.name);
    } else {
        (void)snprintf(out, size, "%s", machine->name);
    }
}

static enum fulcrum_status start_writer(const struct settings *settings,
    const struct fulcrum_design_inputs *inputs, struct fulcrum_context *context,
    struct job *job, struct fulcrum_error *err)
{
    fulcrum_calibration_names(inputs, job->calibrations, sizeof job->calibrations);
    describe_actors(settings, job, job->actors_rule, sizeof job->actors_rule);
    describe_machine(&inputs->base.machine, job->machine, sizeof job->machine);
    const struct fulcrum_sweep_head head = {
        .machine = job->machine,
        .workload = inputs->base.workload.name,
        .calibration = job->calibrations,
        .actors_rule = job->actors_rule,
        .plan = &job->plan,
        .relative_to = isnan(settings->relative_to) ? 0 : (size_t)settings->relative_to,
        .columns = settings->columns,
    };
    return fulcrum_sweep_writer_new(
        &head, (enum fulcrum_sweep_format)settings->format, context, &job->writer, err);
}

static double standard_draws(size_t point_count)
{
    if (point_count > THOROUGH_POINTS_MOST) {
        return 0.0;
    }
    return point_count <= ALL_DRAWS_POINTS ? EXPLORE_DRAWS : EXPLORE_FEWER_DRAWS;
}

/* What a large sweep takes to simulate, nobody wants to find out unasked. */
static void choose_method(
    const struct fulcrum_solver_settings *settings, struct job *job)
{
    struct fulcrum_solver_options *solver = &job->plan.predict.solver;
    if (job->point_count > THOROUGH_POINTS_MOST &&
        solver->method == FULCRUM_METHOD_AUTO && isnan(settings->half_width_rel)) {
        solver->method = FULCRUM_METHOD_FAST;
        job->spares_simulation = 1;
    }
}

/* Everything that can be refused before the work starts. */
static enum fulcrum_status prepare(const struct settings *settings,
    struct fulcrum_context *context, struct job *job, struct fulcrum_error *err)
{
    enum fulcrum_status status = parse_axes(settings, context, job, err);
    if (status == FULCRUM_OK) {
        status = read_actors_rule(settings, context, job, err);
    }
    job->point_count = fulcrum_sweep_count(&job->plan);
    if (status == FULCRUM_OK) {
        status = fulcrum_solve_settings_read(&settings->solve,
            standard_draws(job->point_count), context, &job->plan.predict, err);
        choose_method(&settings->solve.solver, job);
    }
    if (status == FULCRUM_OK && job->point_count == 0) {
        status = fulcrum_usage_fail(
            context, err, FULCRUM_ERR_RANGE, "--vary: more than 2^53 points");
    }
    if (status == FULCRUM_OK && settings->relative_to >= (double)job->point_count) {
        status = fulcrum_usage_fail(context, err, FULCRUM_ERR_RANGE,
            "--relative-to %.0f: expected a point of the sweep, 0 to %zu",
            settings->relative_to, job->point_count - 1);
    }
    return status;
}

/* Before the output begins, so that nothing is written where it cannot run. */
static enum fulcrum_status predict_yardstick(const struct settings *settings,
    const struct fulcrum_scenario *scenario, struct job *job, struct fulcrum_error *err)
{
    if (isnan(settings->relative_to)) {
        return FULCRUM_OK;
    }
    enum fulcrum_status status = fulcrum_sweep_yardstick(
        scenario, &job->plan, (size_t)settings->relative_to, &job->yardstick, err);
    job->plan.yardstick = job->yardstick;
    if (status != FULCRUM_OK) {
        char option[64];
        (void)snprintf(option, sizeof option, "--relative-to %.0f: cannot run",
            settings->relative_to);
        return fulcrum_fail_in(err, status, option);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status explore(const struct settings *settings,
    const struct fulcrum_design_inputs *inputs, struct fulcrum_context *context,
    struct job *job, struct fulcrum_error *err)
{
    struct fulcrum_scenario *scenario = NULL;
    enum fulcrum_status status =
        fulcrum_scenario_new(&inputs->scenario, &scenario, err);
    if (status == FULCRUM_OK) {
        status = predict_yardstick(settings, scenario, job, err);
    }
    if (status == FULCRUM_OK) {
        status = start_writer(settings, inputs, context, job, err);
    }
    if (status == FULCRUM_OK && job->plan.predict.draws > 0.0) {
        status = fulcrum_sweep_best_new(&job->plan, &job->best, err);
        job->plan.best = job->best;
    }
    if (status == FULCRUM_OK) {
        job->finding = fulcrum_sweep_finding_new(&job->plan);
        job->optima = fulcrum_sweep_optima_new(&job->plan);
        job->stop = fulcrum_interrupt_watch();
        job->out = context->out;
        status = run_sweep(scenario, job, context, err);
    }
    fulcrum_scenario_free(scenario);
    return status;
}

static void job_free(struct job *job)
{
    for (size_t i = 0; i < FULCRUM_SWEEP_AXES_MOST; i++) {
        free(job->values[i]);
    }
    free(job->actor_choices);
    fulcrum_yardstick_free(job->yardstick);
    fulcrum_sweep_writer_free(job->writer);
    fulcrum_sweep_finding_free(job->finding);
    fulcrum_sweep_optima_free(job->optima);
    fulcrum_sweep_best_free(job->best);
    free(job);
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    struct job *job = calloc(1, sizeof *job);
    struct fulcrum_design_inputs *inputs = calloc(1, sizeof *inputs);
    if (job == NULL || inputs == NULL) {
        free(job);
        free(inputs);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a sweep");
    }
    enum fulcrum_status status = prepare(settings, context, job, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_design_inputs_load(&settings->design, context, inputs, err);
        if (status == FULCRUM_OK) {
            status = explore(settings, inputs, context, job, err);
        }
        fulcrum_design_inputs_free(inputs);
    }
    free(inputs);
    job_free(job);
    return status;
}

static const struct fulcrum_option rows[] = {
    {.name = "vary",
        .letter = 'v',
        .kind = FULCRUM_OPTION_LIST,
        .offset = offsetof(struct settings, vary),
        .value = "PATH=RANGE",
        .help =
            "field and its values: FROM:TO:xFACTOR, FROM:TO:STEP or A,B,C; once per "
            "axis of the grid, the last one fastest"},
    {.name = "actors-per-thread",
        .kind = FULCRUM_OPTION_NUMBER,
        .offset = offsetof(struct settings, actors_per_thread),
        .value = "X",
        .least = 1e-3,
        .most = 1e4,
        .help = "actors follow the hardware threads (6.4 is the paper's 256 on 40)"},
    {.name = "best-actors",
        .kind = FULCRUM_OPTION_TEXT,
        .offset = offsetof(struct settings, best_actors),
        .value = "RANGE",
        .help =
            "each point takes the actor count of RANGE with the most steps per second"},
    {.name = "columns",
        .kind = FULCRUM_OPTION_TEXT,
        .offset = offsetof(struct settings, columns),
        .value = "A,B,C",
        .help = "columns to write, in this order; all unless given"},
    {.name = "relative-to",
        .kind = FULCRUM_OPTION_COUNT,
        .offset = offsetof(struct settings, relative_to),
        .value = "INDEX",
        .least = 0.0,
        .most = 9007199254740991.0,
        .help = "adds speedup and runtime_rel with their 90 % intervals: rate and "
                "runtime over those of this point, 0 being the first row"},
    {.name = "format",
        .kind = FULCRUM_OPTION_CHOICE,
        .offset = offsetof(struct settings, format),
        .value = "FORMAT",
        .fallback = "table",
        .choice = fulcrum_sweep_format_name,
        .help = "form of the results; jsonl is JSON lines: a head with the schema, one "
                "object per point, a tail with the finding"},
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Sweep", rows, 0},
    {"Design", fulcrum_design_option_rows, offsetof(struct settings, design)},
    {"Solution", fulcrum_solver_option_rows, offsetof(struct settings, solve.solver)},
    {"Intervals", fulcrum_interval_option_rows, offsetof(struct settings, solve)},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum explore -m dgx-1 -w r2d2-atari -s run.gpu_count=8 "
     "-v machine.cpu.thread_count=40:2560:x2 --actors-per-thread 6.4 --format csv "
     "-o ratio.csv",
        "the DGX-1's CPU/GPU ratio from 1/16 to 4"},
    {"fulcrum explore -m this -w ppo-mujoco-ant -c c.json -v actors=1:64:x2",
        "how many actors this machine wants"},
    {"fulcrum explore -m dgx-1-inci2020 -w r2d2-atari -c v100-inci2020 "
     "-v actors=4,40,256 --relative-to 0 --format csv",
        "speed-ups over 4 actors, with intervals"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_explore = {
    .name = "explore",
    .summary = "predict a sweep or a grid of designs, and find the best",
    .description =
        "Predicts every point of a grid over one or more fields and says where "
        "throughput, performance per GPU watt and performance per system watt are "
        "best. Along each axis it tells the 90 % interval of the best place, from the "
        "best point of each draw, and where the metric is within 5 % of its best: what "
        "reaches an end of the sweep is a plateau and no optimum. Simulated draws are "
        "noisy, which shows where points are near each other: --method fast is smooth, "
        "and takes --intervals 1000 easily. "
        "A varied thread count keeps the threads per core. Points that cannot run keep "
        "their row, with the reason in `status`.\n\n"
        "With --relative-to each point is compared with one of them, draw by draw: the "
        "interval is that of the ratio itself, which what is uncertain of both leaves "
        "alone.\n\n"
        "Each point gets a 90 % interval from 24 draws of the calibration and the "
        "priors, "
        "from 16 in sweeps of more than 64 points, and none in sweeps of more than 256 "
        "unless --intervals asks for it. Sweeps of more than 256 points are not "
        "simulated either, unless --method or --half-width asks for it: the column "
        "solver_error_rel says what the error of each point may be.\n\n"
        "The same inputs and seed give the same bytes, whatever the number of threads. "
        "Ctrl-C ends the output after the last whole point. CSV and JSON are written "
        "as "
        "points come, in memory that does not grow with their number; a table for "
        "people "
        "ends after 10000 rows.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_TEXT, /* --format is its own */
    .run = run,
};
