/* explore_job.c - a sweep under way: what is done with its points, and said of them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All points are written as they come. A front is known at the end only, and its points
 * are few beside those of the sweep: their numbers are found first, without intervals
 * where the sweep is large, and then they are predicted once more in full. A point's
 * random streams come from its number, so that it comes out the same.
 */
#include "cli/command/explore_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "model/try.h"

/* The error of a method beyond which the points that have it are counted. */
#define ROUGH_ERROR_REL 0.01

/* Longest time without new points, as far as points allow: progress stays lively. */
#define VISIT_INTERVAL_S 0.1

typedef enum fulcrum_sweep_wish wish_of_visitor(void *context);
typedef int visit_of_visitor(
    void *context, const struct fulcrum_sweep_point *points, size_t count);

void fulcrum_explore_job_free(struct fulcrum_explore_job *job)
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
    fulcrum_sweep_front_free(job->front);
    free(job);
}

/* The three calls of a sweep: these two on any thread, the visits on this one. */
static enum fulcrum_sweep_wish wish(void *context)
{
    const struct fulcrum_explore_job *job = context;
    if (*job->stop != 0 && !job->interrupted) {
        return FULCRUM_SWEEP_VISIT_NOW;
    }
    double waited_s = job->progress.clock_s() - job->visited_s;
    return waited_s > VISIT_INTERVAL_S ? FULCRUM_SWEEP_VISIT_SOON : FULCRUM_SWEEP_GO_ON;
}

static void prepare_point(
    void *context, size_t slot, const struct fulcrum_sweep_point *point)
{
    const struct fulcrum_explore_job *job = context;
    fulcrum_sweep_writer_prepare(job->writer, slot, point);
}

static void show_progress(
    struct fulcrum_explore_job *job, size_t done, size_t all, const char *what)
{
    char stage[96];
    (void)snprintf(stage, sizeof stage, "%zu of %zu points%s", done, all, what);
    fulcrum_progress_update(&job->progress, (double)done / (double)all, stage);
    job->visited_s = job->progress.clock_s();
}

/* What the sentences at the end are made of. */
static void note_points(struct fulcrum_explore_job *job,
    const struct fulcrum_sweep_point *points, size_t count)
{
    fulcrum_sweep_finding_add(job->finding, points, count);
    fulcrum_sweep_optima_add(job->optima, points, count);
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

static void write_points(struct fulcrum_explore_job *job,
    const struct fulcrum_sweep_point *points, size_t count)
{
    errno = 0;
    fulcrum_sweep_writer_add(job->writer, points, count);
    if (ferror(job->out) != 0) {
        job->write_error = errno != 0 ? errno : EIO;
    }
    job->written += count;
}

static int visit_all(
    void *context, const struct fulcrum_sweep_point *points, size_t count)
{
    struct fulcrum_explore_job *job = context;
    write_points(job, points, count);
    note_points(job, points, count);
    return *job->stop != 0 || job->write_error != 0;
}

static int visit_to_find(
    void *context, const struct fulcrum_sweep_point *points, size_t count)
{
    struct fulcrum_explore_job *job = context;
    job->status = fulcrum_sweep_front_add(job->front, points, count, &job->failure);
    note_points(job, points, count);
    return *job->stop != 0 || job->status != FULCRUM_OK;
}

/* What was found before Ctrl-C is written to its end. */
static int visit_front(
    void *context, const struct fulcrum_sweep_point *points, size_t count)
{
    struct fulcrum_explore_job *job = context;
    write_points(job, points, count);
    show_progress(job, job->written, job->chosen_count, " on the front");
    return (*job->stop != 0 && !job->interrupted) || job->write_error != 0;
}

/* All points failed: the sweep has no result, and the first reason is the message. */
static enum fulcrum_status judge(const struct fulcrum_explore_job *job,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    FAIL_IF(job->failed == job->done && job->done > 0, err, FULCRUM_ERR_INFEASIBLE,
        "no point can run: %s", job->reason);
    if (job->failed > 0) {
        fulcrum_message_warn_in(context, "%zu of %zu points cannot run: %s",
            job->failed, job->done, job->reason);
    }
    return FULCRUM_OK;
}

/* The sentence of the sweep, then one for each metric along each axis. */
static void note_finding(const struct fulcrum_explore_job *job, const char *finding,
    struct fulcrum_context *context)
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

/* Runs a sweep with its progress. Ctrl-C is no failure: `interrupted` tells. */
static enum fulcrum_status run_sweep(const struct fulcrum_scenario *scenario,
    struct fulcrum_explore_job *job, const struct fulcrum_sweep_visitor *visitor,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    fulcrum_progress_start(&job->progress, context);
    job->visited_s = job->progress.clock_s();
    enum fulcrum_status status = fulcrum_sweep_run(scenario, &job->plan, visitor, err);
    fulcrum_progress_end(&job->progress);
    FAIL_IF(job->write_error != 0, err, FULCRUM_ERR_FILE, "%s: cannot be written: %s",
        context->output_path != NULL ? context->output_path : "standard output",
        strerror(job->write_error));
    if (job->status != FULCRUM_OK) {
        return fulcrum_fail(err, job->status, "%s", job->failure.detail);
    }
    if (status == FULCRUM_ERR_INTERRUPTED) {
        job->interrupted = 1;
        return FULCRUM_OK;
    }
    return status;
}

/* The last lines of the output, and what is said of it. */
static enum fulcrum_status end_output(struct fulcrum_explore_job *job,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    char text[1200];
    fulcrum_sweep_finding_text(job->finding, text, sizeof text);
    enum fulcrum_status status = fulcrum_sweep_writer_end(
        job->writer, text, job->optima, !job->interrupted, err);
    if (job->interrupted) {
        fulcrum_message_warn_in(context, "interrupted: %s%zu of %zu points %s there",
            job->front != NULL ? "the front of " : "", job->done, job->point_count,
            job->front != NULL ? "is" : "are");
        context->exit_code = FULCRUM_EXIT_INTERRUPTED;
    } else if (status == FULCRUM_OK) {
        note_finding(job, text, context);
        if (job->spares_simulation && job->rough > 0) {
            fulcrum_message_note(context,
                "%zu of %zu points by equations that may be off by more than %g %% "
                "(see "
                "solver_error_rel); --half-width %g simulates those",
                job->rough, job->done, 100.0 * ROUGH_ERROR_REL, ROUGH_ERROR_REL);
        }
    }
    return status;
}

enum fulcrum_status fulcrum_explore_all(const struct fulcrum_scenario *scenario,
    struct fulcrum_explore_job *job, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    const struct fulcrum_sweep_visitor visitor = {job, wish, prepare_point, visit_all};
    TRY(run_sweep(scenario, job, &visitor, context, err));
    TRY(judge(job, context, err));
    return end_output(job, context, err);
}

enum fulcrum_status fulcrum_explore_find_front(const struct fulcrum_scenario *scenario,
    struct fulcrum_explore_job *job, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    const struct fulcrum_sweep_visitor visitor = {job, wish, NULL, visit_to_find};
    TRY(fulcrum_sweep_front_new(
        &job->plan, job->pareto.metrics, job->pareto.metric_count, &job->front, err));
    /* Draws that would not be kept are those of the second time. */
    double draws = job->plan.predict.draws;
    job->plan.predict.draws = fulcrum_sweep_front_has_draws(job->front) ? draws : 0.0;
    job->plan.front = job->front;
    enum fulcrum_status status = run_sweep(scenario, job, &visitor, context, err);
    job->plan.front = NULL;
    job->plan.predict.draws = draws;
    if (status == FULCRUM_OK) {
        status = judge(job, context, err);
    }
    if (status == FULCRUM_OK) {
        status =
            fulcrum_sweep_front_end(job->front, &job->chosen, &job->chosen_count, err);
    }
    return status == FULCRUM_OK && job->chosen_count == 0
               ? fulcrum_fail(err, FULCRUM_ERR_INFEASIBLE,
                     "--pareto: no point has a value of every metric")
               : status;
}

enum fulcrum_status fulcrum_explore_write_front(const struct fulcrum_scenario *scenario,
    struct fulcrum_explore_job *job, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    const struct fulcrum_sweep_visitor visitor = {
        job, wish, prepare_point, visit_front};
    job->plan.only = job->chosen;
    job->plan.only_count = job->chosen_count;
    TRY(run_sweep(scenario, job, &visitor, context, err));
    TRY(end_output(job, context, err));
    size_t left_out = fulcrum_sweep_front_left_out(job->front);
    char text[300];
    fulcrum_sweep_pareto_text(&job->pareto, text, sizeof text);
    fulcrum_message_note(
        context, "front: %zu of %zu points, %s", job->chosen_count, job->done, text);
    if (left_out > 0) {
        fulcrum_message_note(context,
            "%zu points have no value of some metric and are on no front", left_out);
    }
    return FULCRUM_OK;
}
