/* cmd_explore.c - `fulcrum explore`: predictions over a grid of designs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the axes, asks the model for the sweep and hands each point to the writer and
 * to the finding (sweep_finding.c), which keeps the best points for the sentences at
 * the end. How the number of actors follows along a sweep is a rule of its own, told in
 * the head of every output, because a ratio sweep with a fixed number of actors answers
 * another question than one in which it grows with the threads.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/command/explore_job.h"
#include "cli/message.h"
#include "cli/options/actors_rule.h"
#include "cli/options/design_options.h"
#include "cli/options/solve_options.h"
#include "cli/range.h"
#include "model/try.h"

/* Draws behind the interval of each point. */
#define EXPLORE_DRAWS       24.0
#define EXPLORE_FEWER_DRAWS 16.0
#define ALL_DRAWS_POINTS    64
/* Larger sweeps have neither intervals nor simulated points, unless asked for. */
#define THOROUGH_POINTS_MOST 256

struct settings {
    struct fulcrum_design_settings design;
    struct fulcrum_solve_settings solve;
    struct fulcrum_text_list vary;
    struct fulcrum_actors_rule actors;
    const char *columns;
    const char *pareto;
    double relative_to; /* NAN: not given */
    int format;         /* enum fulcrum_sweep_format */
};

static int varies(const struct fulcrum_explore_job *job, const char *path)
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
    struct fulcrum_explore_job *job, struct fulcrum_error *err)
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
    struct fulcrum_context *context, struct fulcrum_explore_job *job,
    struct fulcrum_error *err)
{
    if (settings->vary.count == 0 || settings->vary.count > FULCRUM_SWEEP_AXES_MOST) {
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_RANGE,
            "explore takes 1 to %d times --vary PATH=RANGE",
            (int)FULCRUM_SWEEP_AXES_MOST);
    }
    job->plan.axes = job->axes;
    for (size_t i = 0; i < settings->vary.count; i++) {
        TRY(parse_axis(settings->vary.items[i], context, job, err));
    }
    return FULCRUM_OK;
}

/* The number of actors is set, varied, follows the threads or is the best of a list. */
static enum fulcrum_status read_actors_rule(const struct settings *settings,
    struct fulcrum_context *context, struct fulcrum_explore_job *job,
    struct fulcrum_error *err)
{
    int other_ways =
        varies(job, "run.actor_count") + !isnan(settings->design.actor_count);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_actors_rule_check(&settings->actors, other_ways,
        "give the number of actors in one way: --actors, --actors-per-thread, "
        "--best-actors or --vary actors",
        context, err));
    status = fulcrum_actors_rule_choices(&settings->actors, &job->actor_choices,
        &job->plan.actor_choice_count, context, err);
end:
    if (!isnan(settings->actors.per_thread)) {
        job->plan.actors_per_thread = settings->actors.per_thread;
    }
    job->plan.actor_choices = job->actor_choices;
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
    struct fulcrum_explore_job *job, struct fulcrum_error *err)
{
    fulcrum_calibration_names(inputs, job->calibrations, sizeof job->calibrations);
    char *out = job->actors_rule;
    size_t size = sizeof job->actors_rule;
    if (settings->actors.best_of != NULL || !isnan(settings->actors.per_thread)) {
        fulcrum_actors_rule_text(&settings->actors, out, size);
    } else if (varies(job, "run.actor_count")) {
        (void)snprintf(out, size, "varied");
    } else {
        (void)snprintf(out, size, "fixed");
    }
    describe_machine(&inputs->base.machine, job->machine, sizeof job->machine);
    const struct fulcrum_sweep_head head = {
        .machine = job->machine,
        .workload = inputs->base.workload.name,
        .calibration = job->calibrations,
        .actors_rule = job->actors_rule,
        .plan = &job->plan,
        .relative_to = isnan(settings->relative_to) ? 0 : (size_t)settings->relative_to,
        .columns = settings->columns,
        .pareto = settings->pareto != NULL ? &job->pareto : NULL,
        .front = job->front,
        .front_count = job->chosen_count,
        .point_count = job->done,
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
    const struct fulcrum_solver_settings *settings, struct fulcrum_explore_job *job)
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
    struct fulcrum_context *context, struct fulcrum_explore_job *job,
    struct fulcrum_error *err)
{
    enum fulcrum_status status = parse_axes(settings, context, job, err);
    if (status == FULCRUM_OK) {
        status = read_actors_rule(settings, context, job, err);
    }
    if (status == FULCRUM_OK && settings->pareto != NULL) {
        status = fulcrum_sweep_pareto_parse(
            settings->pareto, &job->plan, context, &job->pareto, err);
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
    const struct fulcrum_scenario *scenario, struct fulcrum_explore_job *job,
    struct fulcrum_error *err)
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

/* What is to be explored. */
struct question {
    const struct settings *settings;
    const struct fulcrum_design_inputs *inputs;
    const struct fulcrum_scenario *scenario;
};

static enum fulcrum_status explore_all(const struct question *question,
    struct fulcrum_context *context, struct fulcrum_explore_job *job,
    struct fulcrum_error *err)
{
    enum fulcrum_status status =
        start_writer(question->settings, question->inputs, context, job, err);
    if (status == FULCRUM_OK && job->plan.predict.draws > 0.0) {
        status = fulcrum_sweep_best_new(&job->plan, &job->best, err);
        job->plan.best = job->best;
    }
    if (status == FULCRUM_OK) {
        job->optima = fulcrum_sweep_optima_new(&job->plan);
        status = fulcrum_explore_all(question->scenario, job, context, err);
    }
    return status;
}

/* A front of few points has intervals, however many points the sweep has. */
static enum fulcrum_status explore_front(const struct question *question,
    struct fulcrum_context *context, struct fulcrum_explore_job *job,
    struct fulcrum_error *err)
{
    const struct settings *settings = question->settings;
    TRY(fulcrum_explore_find_front(question->scenario, job, context, err));
    if (settings->solve.intervals == NULL) {
        job->plan.predict.draws = standard_draws(job->chosen_count);
        fulcrum_yardstick_free(job->yardstick);
        job->yardstick = NULL;
        TRY(predict_yardstick(settings, question->scenario, job, err));
    }
    TRY(start_writer(settings, question->inputs, context, job, err));
    return fulcrum_explore_write_front(question->scenario, job, context, err);
}

static enum fulcrum_status explore(const struct settings *settings,
    const struct fulcrum_design_inputs *inputs, struct fulcrum_context *context,
    struct fulcrum_explore_job *job, struct fulcrum_error *err)
{
    struct fulcrum_scenario *scenario = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_scenario_new(&inputs->scenario, &scenario, err));
    TRY_OR_END(predict_yardstick(settings, scenario, job, err));
    const struct question question = {settings, inputs, scenario};
    job->finding = fulcrum_sweep_finding_new(&job->plan);
    job->stop = fulcrum_interrupt_watch();
    job->out = context->out;
    status = settings->pareto != NULL ? explore_front(&question, context, job, err)
                                      : explore_all(&question, context, job, err);
end:
    fulcrum_scenario_free(scenario);
    return status;
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    struct fulcrum_explore_job *job = calloc(1, sizeof *job);
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
    fulcrum_explore_job_free(job);
    return status;
}

static const struct fulcrum_option rows[] = {
    FULCRUM_OPTION(LIST, "vary", offsetof(struct settings, vary), "PATH=RANGE",
        .letter = 'v',
        .help =
            "field and its values: FROM:TO:xFACTOR, FROM:TO:STEP or A,B,C; once per "
            "axis of the grid, the last one fastest"),
    FULCRUM_OPTION(TEXT, "pareto", offsetof(struct settings, pareto),
        "METRIC,METRIC[,METRIC]",
        .help = "writes only the points that no other beats in all of two or three "
                "outputs or fields that vary; :max or :min behind one says what is "
                "better of it"),
    FULCRUM_OPTION(TEXT, "columns", offsetof(struct settings, columns), "A,B,C",
        .help = "columns to write, in this order; all unless given"),
    FULCRUM_OPTION(COUNT, "relative-to", offsetof(struct settings, relative_to),
        "INDEX", .least = 0.0, .most = 9007199254740991.0,
        .help = "adds speedup and runtime_rel with their 90 % intervals: rate and "
                "runtime over those of this point, 0 being the first row"),
    FULCRUM_OPTION(CHOICE, "format", offsetof(struct settings, format), "FORMAT",
        .fallback = "table", .choice = fulcrum_sweep_format_name,
        .help = "form of the results; jsonl is JSON lines: a head with the schema, one "
                "object per point, a tail with the finding"),
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Sweep", rows, 0},
    {"Actors", fulcrum_actors_rule_rows, offsetof(struct settings, actors)},
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
    {"fulcrum explore -m dgx-a100 -w r2d2-atari -v machine.cpu.thread_count=8:512:8 "
     "-v run.gpu_count=1,2,4,8 --actors-per-thread 4 --pareto steps_per_s,system_w",
        "designs that no other beats in both rate and watts"},
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
        "With --pareto only the front is written: the points that no other beats in "
        "every metric, where to beat is to be as good in all and better in one. More "
        "is better of rates, batches and busy shares, less of times, watts, joules, "
        "ratios and fields. `point` is the number of the point in the sweep; with "
        "intervals over all points, `front_frac` is the share of draws in which it is "
        "on that draw's front. Large sweeps draw for the points of the front alone. A "
        "front of more than 1048576 points is refused and never thinned.\n\n"
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
