/* cmd_explore.c - `fulcrum explore`: predictions over a grid of designs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the axes, asks the model for the sweep and hands each point to the stream of
 * rows and to the finding, which keeps the best points for the
 * sentences at the end. How the number of actors follows along a sweep is a rule of its
 * own, told in the head of every output, because a ratio sweep with a fixed number of
 * actors answers another question than one in which it grows with the threads.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/output/sweep_columns.h"
#include "cli/whatif/whatif.h"
#include "model/study/study.h"
#include "model/try.h"

/*
 * All points are written as they come. A front is known at the end only, and its points
 * are few beside those of the sweep: their numbers are found first, without intervals
 * where the sweep is large, and then they are predicted once more in full. A point's
 * random streams come from its number, so that it comes out the same.
 */

struct settings {
    struct fulcrum_design_settings design;
    struct fulcrum_solve_settings solve;
    struct fulcrum_text_list vary;
    struct fulcrum_actors_rule actors;
    const char *columns;
    const char *pareto;
    double relative_to; /* NAN: not given */
};

/* Each visits points of the sweep. */
enum pass { PASS_ALL, PASS_FIND, PASS_FRONT };

struct explore_job {
    const struct settings *settings;
    struct fulcrum_context *context;
    struct fulcrum_subject subject;
    struct fulcrum_sweep_plan plan;
    struct fulcrum_sweep_axis axes[FULCRUM_SWEEP_AXES_MOST];
    double *values[FULCRUM_SWEEP_AXES_MOST];
    double *actor_choices;
    size_t point_count;
    size_t done;
    size_t failed;
    size_t rough; /* points whose method may err by more than a per cent */
    char reason[FULCRUM_REASON_BYTE]; /* of the first point that cannot run */
    struct fulcrum_study *yardstick;
    int spares_simulation;         /* as nobody asked for an accuracy */
    struct fulcrum_result *result; /* what the sweep is of; for people, what it found */
    struct fulcrum_sweep_columns columns;
    struct fulcrum_stream *stream;
    struct fulcrum_sweep_finding *finding;
    struct fulcrum_sweep_best *best;
    enum pass pass;
    struct fulcrum_sweep_pareto pareto; /* metric_count 0: all points are written */
    struct fulcrum_sweep_front *front;
    const size_t *chosen; /* the points on it, borrowed from it */
    size_t chosen_count;
    size_t written; /* of them */
    int interrupted;
    struct fulcrum_progress progress;
    _Atomic double visited_s; /* on the clock of the progress */
    const volatile sig_atomic_t *stop;
    enum fulcrum_status status; /* of what a visit could not do */
    struct fulcrum_error failure;
    int write_error; /* errno once writing has failed */
};

/* The error of a method beyond which the points that have it are counted. */
#define ROUGH_ERROR_REL 0.01

/* Longest time without new points, as far as points allow: progress stays lively. */
#define VISIT_INTERVAL_S 0.1

/* The three calls of a sweep: on any thread, visits one at a time. */
static enum fulcrum_sweep_wish wish(void *context)
{
    const struct explore_job *job = context;
    if (*job->stop != 0 && !job->interrupted) {
        return FULCRUM_SWEEP_VISIT_NOW;
    }
    double waited_s = job->progress.clock_s() - job->visited_s;
    return waited_s > VISIT_INTERVAL_S ? FULCRUM_SWEEP_VISIT_SOON : FULCRUM_SWEEP_GO_ON;
}

static void prepare_point(
    void *context, size_t slot, const struct fulcrum_sweep_point *point)
{
    const struct explore_job *job = context;
    struct fulcrum_cell cells[FULCRUM_SWEEP_COLUMNS_MOST];
    char room[FULCRUM_REASON_BYTE];
    fulcrum_sweep_columns_cells(&job->columns, point, cells, room);
    fulcrum_stream_row(job->stream, slot, cells);
}

static void show_progress(
    struct explore_job *job, size_t done, size_t all, const char *what)
{
    char stage[96];
    (void)snprintf(stage, sizeof stage, "%zu of %zu points%s", done, all, what);
    fulcrum_progress_update(&job->progress, (double)done / (double)all, stage);
    job->visited_s = job->progress.clock_s();
}

/* What the sentences at the end are made of. */
static void note_points(
    struct explore_job *job, const struct fulcrum_sweep_point *points, size_t count)
{
    if (job->finding != NULL) {
        fulcrum_sweep_finding_add(job->finding, points, count);
    }
    for (size_t i = 0; i < count; i++) {
        int ok = points[i].status == FULCRUM_OK;
        if (!ok && job->failed++ == 0) {
            (void)snprintf(job->reason, sizeof job->reason, "%s", points[i].reason);
        }
        job->rough +=
            ok && points[i].prediction.solver_error_rel > ROUGH_ERROR_REL ? 1 : 0;
    }
    job->done += count;
    show_progress(job, job->done, job->point_count, "");
}

/* Points are written as they come, looked at for a front, or written as those on it.
 * What was found before Ctrl-C is written to its end. */
static int visit(
    void *context, size_t slot, const struct fulcrum_sweep_point *points, size_t count)
{
    struct explore_job *job = context;
    if (job->pass == PASS_FIND) {
        job->status = fulcrum_sweep_front_add(job->front, points, count, &job->failure);
    } else {
        errno = 0;
        fulcrum_stream_write(job->stream, slot, count);
        if (ferror(job->context->out) != 0) {
            job->write_error = errno != 0 ? errno : EIO;
        }
        job->written += count;
    }
    if (job->pass == PASS_FRONT) {
        show_progress(job, job->written, job->chosen_count, " on the front");
    } else {
        note_points(job, points, count);
    }
    return (*job->stop != 0 && !job->interrupted) || job->status != FULCRUM_OK ||
           job->write_error != 0;
}

/* All points failed: the sweep has no result, and the first reason is the message. */
static enum fulcrum_status check_any_ran(
    const struct explore_job *job, struct fulcrum_error *err)
{
    FAIL_IF(job->failed == job->done && job->done > 0, err, FULCRUM_ERR_INFEASIBLE,
        "no point can run: %s", job->reason);
    if (job->failed > 0) {
        fulcrum_message_warn_in(job->context, "%zu of %zu points cannot run: %s",
            job->failed, job->done, job->reason);
    }
    return FULCRUM_OK;
}

/* Runs a sweep with its progress. Ctrl-C is no failure: `interrupted` tells. */
static enum fulcrum_status run_sweep(
    struct explore_job *job, enum pass pass, struct fulcrum_error *err)
{
    const char *path = job->context->output_path;
    const struct fulcrum_sweep_visitor visitor = {
        job, wish, pass != PASS_FIND ? prepare_point : NULL, visit};
    job->pass = pass;
    fulcrum_progress_start(&job->progress, job->context);
    job->visited_s = job->progress.clock_s();
    enum fulcrum_status status =
        fulcrum_sweep_run(job->subject.scenario, &job->plan, &visitor, err);
    fulcrum_progress_end(&job->progress);
    FAIL_IF(job->write_error != 0, err, FULCRUM_ERR_FILE, "%s: cannot be written: %s",
        path != NULL ? path : "standard output", strerror(job->write_error));
    FAIL_IF(job->status != FULCRUM_OK, err, job->status, "%s", job->failure.detail);
    job->interrupted = job->interrupted || status == FULCRUM_ERR_INTERRUPTED;
    return status == FULCRUM_ERR_INTERRUPTED ? FULCRUM_OK : status;
}

static void add_front(struct explore_job *job, struct fulcrum_result *found)
{
    char metrics[300];
    size_t left_out = fulcrum_sweep_front_left_out(job->front);
    fulcrum_sweep_pareto_text(&job->pareto, metrics, sizeof metrics);
    fulcrum_result_print(found, "front", "front", "%zu of %zu points, %s",
        job->chosen_count, job->done, metrics);
    if (left_out > 0) {
        fulcrum_result_note_print(found, "notes",
            "%zu points have no value of some metric and are on no front", left_out);
    }
}

/* What was found stands in the output that people read, and else beside it, too. */
static enum fulcrum_status end_output(
    struct explore_job *job, struct fulcrum_error *err)
{
    bool is_kept = fulcrum_stream_is_kept(job->stream);
    struct fulcrum_result *found = is_kept ? job->result : fulcrum_result_new(NULL);
    if (job->front != NULL) {
        add_front(job, found);
    } else {
        fulcrum_sweep_finding_tell(job->finding, found);
    }
    if (job->interrupted) {
        fulcrum_message_warn_in(job->context,
            "interrupted: %s%zu of %zu points %s there",
            job->front != NULL ? "the front of " : "", job->done, job->point_count,
            job->front != NULL ? "is" : "are");
        job->context->exit_code = FULCRUM_EXIT_INTERRUPTED;
    } else if (job->spares_simulation && job->rough > 0) {
        fulcrum_result_note_print(found, "notes",
            "%zu of %zu points by equations that may be off by more than %g %% (see "
            "solver_error_rel); --half-width %g simulates those",
            job->rough, job->done, 100.0 * ROUGH_ERROR_REL, ROUGH_ERROR_REL);
    }
    fulcrum_result_flag(found, "complete", NULL, !job->interrupted);
    enum fulcrum_status status = fulcrum_result_check(found, err);
    if (status == FULCRUM_OK) {
        status = fulcrum_stream_end(job->stream, found, &job->context->layout, err);
    }
    if (status == FULCRUM_OK && !is_kept && !job->context->quiet) {
        status = fulcrum_result_write(
            found, FULCRUM_FORMAT_TABLE, &job->context->layout, stderr, err);
    }
    if (!is_kept) {
        fulcrum_result_free(found);
    }
    return status;
}

/* Larger sweeps have neither intervals nor simulated points, unless asked for. */
#define THOROUGH_POINTS_MOST 256

static bool is_varied(const struct explore_job *job, const char *path)
{
    size_t i = 0;
    while (i < job->plan.axis_count && strcmp(job->axes[i].field->path, path) != 0) {
        i++;
    }
    return i < job->plan.axis_count;
}

static enum fulcrum_status start_output(
    struct explore_job *job, struct fulcrum_error *err)
{
    const char *columns = job->settings->columns;
    job->result = fulcrum_result_new("fulcrum-explore");
    /* What the points have in common; a detected machine says little by its name. */
    const struct fulcrum_actors_rule *rule = &job->settings->actors;
    const struct fulcrum_design *base = &job->subject.inputs.base;
    struct fulcrum_result *head = job->result;
    char text[200];
    bool is_here = strcmp(base->machine.name, "this") == 0;
    fulcrum_result_print(head, "machine", "machine", "%s%s%s%s", base->machine.name,
        is_here ? " (" : "", is_here ? base->machine.cpu.name : "", is_here ? ")" : "");
    fulcrum_result_text(head, "workload", "workload", base->workload.name);
    fulcrum_result_text(head, "calibration", "calibration", job->subject.calibrations);
    (void)snprintf(text, sizeof text, "%s",
        is_varied(job, "run.actor_count") ? "varied" : "fixed");
    if (rule->best_of != NULL || !isnan(rule->per_thread)) {
        fulcrum_actors_rule_text(rule, text, sizeof text);
    }
    fulcrum_result_text(head, "actors_rule", "actors", text);
    fulcrum_result_number(head, "interval_draws", NULL, job->plan.predict.draws);
    if (job->plan.yardstick != NULL) {
        fulcrum_result_number(
            head, "relative_to", "relative to point", job->settings->relative_to);
    }
    if (job->front != NULL) {
        fulcrum_sweep_pareto_add(&job->pareto, head);
        fulcrum_result_number(head, "front_count", NULL, (double)job->chosen_count);
        fulcrum_result_number(head, "point_count", NULL, (double)job->done);
    }
    struct fulcrum_table *axes = fulcrum_result_table(head, "axes", NULL);
    for (size_t i = 0; i < job->plan.axis_count; i++) {
        fulcrum_table_row(axes);
        fulcrum_table_text(axes, "path", NULL, job->axes[i].field->path);
        fulcrum_table_text(axes, "unit", NULL, job->axes[i].field->unit);
        fulcrum_table_number(axes, "count", NULL, (double)job->axes[i].count);
    }
    TRY(fulcrum_result_check(job->result, err));
    fulcrum_sweep_columns_init(&job->columns, job->result, &job->plan, job->front);
    if (columns != NULL) {
        TRY(fulcrum_sweep_columns_keep(&job->columns, columns, job->context, err));
    }
    const struct fulcrum_stream_table table = {
        "points", job->columns.items, job->columns.count, FULCRUM_SWEEP_BLOCK};
    job->stream = fulcrum_stream_new(
        job->result, &table, job->context->format, job->context->out);
    TRY_MEMORY(job->stream, err, "a sweep's output");
    return FULCRUM_OK;
}

static double standard_draws(size_t point_count)
{
    return point_count <= THOROUGH_POINTS_MOST ? FULCRUM_DRAWS : 0.0;
}

/* Everything that can be refused before the work starts. */
static enum fulcrum_status read_job(struct explore_job *job, struct fulcrum_error *err)
{
    const struct settings *settings = job->settings;
    struct fulcrum_context *context = job->context;
    struct fulcrum_sweep_plan *plan = &job->plan;
    FULCRUM_USAGE_IF(
        settings->vary.count == 0 || settings->vary.count > FULCRUM_SWEEP_AXES_MOST,
        context, err, FULCRUM_ERR_RANGE,
        "explore takes 1 to %d times --vary PATH=RANGE", (int)FULCRUM_SWEEP_AXES_MOST);
    plan->axes = job->axes;
    for (size_t i = 0; i < settings->vary.count; i++) {
        /* "PATH=RANGE" */
        const char *text = settings->vary.items[i];
        size_t length = strcspn(text, "=");
        FULCRUM_USAGE_IF(text[length] != '=' || length == 0, job->context, err,
            FULCRUM_ERR_FORMAT,
            "--vary %s: expected PATH=RANGE, such as "
            "machine.cpu.thread_count=8:1024:x2",
            text);
        char *path = fulcrum_format("%.*s", (int)length, text);
        struct fulcrum_numbers numbers = {
            .option = "--vary", .field = fulcrum_field_parse(path, job->context, err)};
        free(path);
        if (numbers.field == NULL) {
            return fulcrum_fail_in(err, FULCRUM_ERR_UNKNOWN_NAME, "--vary");
        }
        FULCRUM_USAGE_IF(is_varied(job, numbers.field->path), job->context, err,
            FULCRUM_ERR_RANGE, "--vary %s is given twice", numbers.field->path);
        TRY(fulcrum_numbers_read(&numbers, text + length + 1, job->context, err));
        job->values[job->plan.axis_count] = numbers.values;
        job->axes[job->plan.axis_count++] =
            (struct fulcrum_sweep_axis){numbers.field, numbers.values, numbers.count};
    }
    /* The number of actors is set, varied, follows the threads or is the best of a
     * list. */
    const struct fulcrum_actors_rule *rule = &job->settings->actors;
    TRY(fulcrum_actors_rule_check(rule,
        is_varied(job, "run.actor_count") + !isnan(job->settings->design.actor_count),
        "give the number of actors in one way: --actors, --actors-per-thread, "
        "--best-actors or --vary actors",
        job->context, err));
    TRY(fulcrum_actors_rule_choices(
        rule, &job->actor_choices, &job->plan.actor_choice_count, job->context, err));
    job->plan.actors_per_thread = isnan(rule->per_thread) ? 0.0 : rule->per_thread;
    job->plan.actor_choices = job->actor_choices;
    if (settings->pareto != NULL) {
        TRY(fulcrum_sweep_pareto_parse(
            settings->pareto, plan, context, &job->pareto, err));
    }
    job->point_count = fulcrum_sweep_count(plan);
    TRY(fulcrum_solve_settings_read(&settings->solve, standard_draws(job->point_count),
        context, &plan->predict, err));
    /* What a large sweep takes to simulate, nobody wants to find out unasked. */
    if (job->point_count > THOROUGH_POINTS_MOST &&
        plan->predict.solver.method == FULCRUM_METHOD_AUTO &&
        isnan(settings->solve.solver.half_width_rel)) {
        plan->predict.solver.method = FULCRUM_METHOD_FAST;
        job->spares_simulation = 1;
    }
    FULCRUM_USAGE_IF(job->point_count == 0, context, err, FULCRUM_ERR_RANGE,
        "--vary: more than 2^53 points");
    FULCRUM_USAGE_IF(settings->relative_to >= (double)job->point_count, context, err,
        FULCRUM_ERR_RANGE,
        "--relative-to %.0f: expected a point of the sweep, 0 to %zu",
        settings->relative_to, job->point_count - 1);
    return FULCRUM_OK;
}

/* Before the output begins, so that nothing is written where it cannot run. */
static enum fulcrum_status predict_yardstick(
    struct explore_job *job, struct fulcrum_error *err)
{
    double index = job->settings->relative_to;
    if (isnan(index)) {
        return FULCRUM_OK;
    }
    enum fulcrum_status status = fulcrum_sweep_yardstick(
        job->subject.scenario, &job->plan, (size_t)index, &job->yardstick, err);
    job->plan.yardstick = job->yardstick;
    if (status != FULCRUM_OK) {
        char option[64];
        (void)snprintf(option, sizeof option, "--relative-to %.0f: cannot run", index);
        return fulcrum_fail_in(err, status, option);
    }
    return FULCRUM_OK;
}

/* Predicts all points and writes each as it comes, then the notes. */
static enum fulcrum_status explore_all(
    struct explore_job *job, struct fulcrum_error *err)
{
    TRY(start_output(job, err));
    if (job->plan.predict.draws > 0.0) {
        TRY(fulcrum_sweep_best_new(&job->plan, &job->best, err));
        job->plan.best = job->best;
    }
    TRY(run_sweep(job, PASS_ALL, err));
    TRY(check_any_ran(job, err));
    return end_output(job, err);
}

/* A front of few points has intervals, however many points the sweep has: they are
 * predicted once more, in full. */
static enum fulcrum_status explore_front(
    struct explore_job *job, struct fulcrum_error *err)
{
    /* Predicts all points and keeps those that are on the front of the job's
     * metrics, after Ctrl-C of the points so far. */
    TRY(fulcrum_sweep_front_new(
        &job->plan, job->pareto.metrics, job->pareto.metric_count, &job->front, err));
    /* Draws that would not be kept are those of the second time. */
    double draws = job->plan.predict.draws;
    job->plan.predict.draws = fulcrum_sweep_front_has_draws(job->front) ? draws : 0.0;
    job->plan.front = job->front;
    enum fulcrum_status status = run_sweep(job, PASS_FIND, err);
    job->plan.front = NULL;
    job->plan.predict.draws = draws;
    TRY(status);
    TRY(check_any_ran(job, err));
    TRY(fulcrum_sweep_front_end(job->front, &job->chosen, &job->chosen_count, err));
    FAIL_IF(job->chosen_count == 0, err, FULCRUM_ERR_INFEASIBLE,
        "--pareto: no point has a value of every metric");
    if (job->settings->solve.intervals == NULL) {
        job->plan.predict.draws = standard_draws(job->chosen_count);
        fulcrum_study_free(job->yardstick);
        job->yardstick = NULL;
        TRY(predict_yardstick(job, err));
    }
    TRY(start_output(job, err));
    job->plan.only = job->chosen;
    job->plan.only_count = job->chosen_count;
    TRY(run_sweep(job, PASS_FRONT, err));
    return end_output(job, err);
}

static enum fulcrum_status run_explore(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct explore_job *job = fulcrum_allocate(1, sizeof *job);
    job->settings = data;
    job->context = context;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(read_job(job, err));
    TRY_OR_END(
        fulcrum_subject_read(&job->settings->design, context, &job->subject, err));
    TRY_OR_END(fulcrum_scenario_new(
        &job->subject.inputs.scenario, &job->subject.scenario, err));
    TRY_OR_END(predict_yardstick(job, err));
    if (job->settings->pareto == NULL) {
        TRY_OR_END(fulcrum_sweep_finding_new(&job->plan, &job->finding, err));
    }
    job->stop = fulcrum_interrupt_watch();
    status =
        job->settings->pareto != NULL ? explore_front(job, err) : explore_all(job, err);
end:
    fulcrum_subject_clear(&job->subject);
    for (size_t i = 0; i < FULCRUM_SWEEP_AXES_MOST; i++) {
        free(job->values[i]);
    }
    free(job->actor_choices);
    fulcrum_study_free(job->yardstick);
    fulcrum_stream_free(job->stream);
    fulcrum_result_free(job->result);
    fulcrum_sweep_finding_free(job->finding);
    fulcrum_sweep_best_free(job->best);
    fulcrum_sweep_front_free(job->front);
    free(job);
    return status;
}

#define SETTING(member) offsetof(struct settings, member)

static const struct fulcrum_option rows[] = {
    FULCRUM_OPTION(LIST, "vary", SETTING(vary), "PATH=RANGE", .letter = 'v',
        .help = "field and its values: FROM:TO:xFACTOR, FROM:TO:STEP or A,B,C; one per "
                "axis, the last varies fastest"),
    FULCRUM_OPTION(TEXT, "pareto", SETTING(pareto), "METRIC,METRIC[,METRIC]",
        .help = "writes only the Pareto front of two or three outputs or varied "
                "fields; :max or :min after a name says which way is better"),
    FULCRUM_OPTION(TEXT, "columns", SETTING(columns), "A,B,C",
        .help = "columns to write, in this order; default: all"),
    FULCRUM_OPTION(COUNT, "relative-to", SETTING(relative_to), "INDEX", .least = 0.0,
        .most = 9007199254740991.0,
        .help = "adds speedup and runtime_rel with their 90 % intervals: rate and "
                "runtime over those of this point, 0 being the first row"),
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Sweep", rows, 0},
    {"Actors", fulcrum_actors_rule_rows, SETTING(actors)},
    {"Design", fulcrum_design_option_rows, SETTING(design)},
    {"Solution", fulcrum_solver_option_rows, SETTING(solve.solver)},
    {"Intervals", fulcrum_interval_option_rows, SETTING(solve)},
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
        "best. For each axis it gives the best value with its 90 % interval over the "
        "draws, and the range within 5 % of the best: a range that reaches an end of "
        "the sweep is a plateau, not an optimum. Where points are simulated, their "
        "noise may pick the best of close ones: --method fast has none. Varying the "
        "thread count keeps the threads per core "
        "constant. Points that cannot run keep their row, with the reason in "
        "`status`.\n\nWith --relative-to each point is compared with one of them, draw "
        "by draw: the interval is that of the ratio, so uncertainty common to both "
        "points does not widen it.\n\nWith --pareto only the Pareto front is written: "
        "the points that no other point matches in every metric and betters in one. "
        "More is better for rates, batches and busy shares; less for times, watts, "
        "joules, ratios and fields. `point` is the number of the point in the sweep; "
        "with intervals over all points, `front_frac` is the share of draws in which "
        "it is on that draw's front. Large sweeps compute intervals only on the front. "
        "A front of more than 1048576 points is an error.\n\nEach point is the "
        "median of 200 draws, with their 90 % interval; in sweeps of more than 256 "
        "points it is the best fit alone unless --intervals asks for draws. Sweeps of "
        "more than 256 points are not simulated "
        "either, unless --method or --half-width asks for it: the column "
        "solver_error_rel says what the error of each point may be.\n\nThe same inputs "
        "and seed give the same bytes, whatever the number of threads. Ctrl-C ends the "
        "output after the last whole point. CSV and JSON are written as points come, "
        "in memory that does not grow with their number; JSON lines are a head with "
        "the schema, an object for each point and a tail with the finding. A table for "
        "people ends after 10000 rows.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .run = run_explore,
};
