/* sweep.c - predictions over a grid of design points, in order and in bounded memory.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Points are predicted in blocks, in parallel within a block, and visited in order
 * after it: a full block while the next one is worked on. So a sweep of millions needs
 * the memory of two blocks, visits need not be
 * thread-safe, and the bytes of the output do not depend on the number of threads:
 * every point has a random stream of its own (stream.c).
 *
 * A point takes microseconds by equations and up to seconds by simulation, and nobody
 * knows which before it is tried. So threads take runs of points from a queue, short
 * ones where points have been slow, and a block ends early when the visitor, who has a
 * clock, wishes to see points. What has been taken from the queue is always the
 * beginning of the block, so that points are visited in order however a block ends.
 */

#include "model/study/sweep.h"

#include <assert.h>
#include <gsl/gsl_math.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/number.h"
#include "model/parallel.h"
#include "model/predict/to_network.h"
#include "model/study/study.h"
#include "model/try.h"

/* Numbers that the draws of a front may take: 32 MB. */
enum { FULCRUM_FRONT_NUMBERS_MOST = 4194304 };

/* Single points of a sweep, in any order. */

struct fulcrum_sweep_probe {
    const struct fulcrum_sweep_plan *plan;
    const struct fulcrum_field *actors;
    struct fulcrum_predictor *predictor;
    struct fulcrum_setting settings[FULCRUM_SWEEP_AXES_MOST + 1]; /* of the point */
    size_t setting_count;
    enum fulcrum_method method; /* mostly that of the plan */
    bool chooses;               /* among numbers of actors */
    bool follows;
    size_t chain_next; /* the point that would go on with the chain of the last one */
};

enum fulcrum_status fulcrum_sweep_probe_new(const struct fulcrum_scenario *scenario,
    const struct fulcrum_sweep_plan *plan, struct fulcrum_sweep_probe **out,
    struct fulcrum_error *err)
{
    struct fulcrum_sweep_probe *probe = calloc(1, sizeof *probe);
    TRY_MEMORY(probe, err, "points of a sweep");
    probe->plan = plan;
    probe->method = plan->predict.solver.method;
    probe->actors = fulcrum_field_find("run.actor_count");
    enum fulcrum_status status =
        fulcrum_predictor_new(scenario, &probe->predictor, err);
    if (status != FULCRUM_OK) {
        free(probe);
        return status;
    }
    *out = probe;
    return FULCRUM_OK;
}

void fulcrum_sweep_probe_free(struct fulcrum_sweep_probe *probe)
{
    if (probe != NULL) {
        fulcrum_predictor_free(probe->predictor);
        free(probe);
    }
}

const struct fulcrum_predictor *fulcrum_sweep_probe_predictor(
    const struct fulcrum_sweep_probe *probe)
{
    return probe->predictor;
}

/*
 * Neighbours are solved one after the other, each beginning where the last one ended:
 * chains of so many points, whose ends do not depend on the number of threads. Sweeps
 * with draws have none: draws of a point differ more than its neighbours do.
 */
enum { CHAIN = 128 };

static bool has_chains(const struct fulcrum_sweep_plan *plan)
{
    return plan->predict.solver.method == FULCRUM_METHOD_FAST &&
           plan->predict.draws < 1.0 && plan->only == NULL;
}

/* Whether a point goes on with a chain; those of a chain come in their order. */
static bool follow_chain(struct fulcrum_sweep_probe *probe, size_t index)
{
    bool follows = index % CHAIN != 0 && index == probe->chain_next;
    bool is_chained = has_chains(probe->plan) && (follows || index % CHAIN == 0);
    probe->chain_next = is_chained ? index + 1 : SIZE_MAX;
    return follows && is_chained;
}

/* The values of the axes, and no actors yet. */
static void set_axes(
    struct fulcrum_sweep_probe *probe, const struct fulcrum_sweep_point *point)
{
    for (size_t i = 0; i < probe->plan->axis_count; i++) {
        probe->settings[i] = (struct fulcrum_setting){
            probe->plan->axes[i].field, point->varied[i], NULL};
    }
    probe->setting_count = probe->plan->axis_count;
}

/* The actors behind the axes. */
static void set_actors(struct fulcrum_sweep_probe *probe, double actors)
{
    size_t axis_count = probe->plan->axis_count;
    probe->settings[axis_count] = (struct fulcrum_setting){probe->actors, actors, NULL};
    probe->setting_count = axis_count + 1;
}

/* Rates that differ by less are equally good: the one chosen is then predicted in full.
 */
#define CHOICE_HALF_WIDTH_REL 0.03

static enum fulcrum_status predict_with_draws(struct fulcrum_sweep_probe *probe,
    double draws, struct fulcrum_sweep_point *out, struct fulcrum_error *err)
{
    struct fulcrum_point point = {probe->settings, probe->setting_count, 0, 0};
    struct fulcrum_predict_options options = probe->plan->predict;
    options.point_index = out->index;
    options.follows = probe->follows;
    options.solver.method = probe->method;
    options.draws = draws;
    if (probe->chooses && !(options.solver.half_width_rel > 0.0)) {
        options.solver.half_width_rel = CHOICE_HALF_WIDTH_REL;
    }
    return fulcrum_predictor_run(
        probe->predictor, &point, &options, &out->prediction, err);
}

double fulcrum_actors_for_threads(
    const struct fulcrum_design *design, double actors_per_thread)
{
    double replicas = fulcrum_shard_count(design);
    double actors = design->machine.cpu.thread_count * actors_per_thread;
    return replicas * fmax(1.0, round(actors / replicas));
}

static enum fulcrum_status follow_threads(
    struct fulcrum_sweep_probe *probe, struct fulcrum_error *err)
{
    set_actors(probe, 1.0);
    struct fulcrum_point point = {probe->settings, probe->setting_count, 0, 0};
    const struct fulcrum_design *design = NULL;
    TRY(fulcrum_predictor_design(probe->predictor, &point, &design, err));
    set_actors(
        probe, fulcrum_actors_for_threads(design, probe->plan->actors_per_thread));
    return FULCRUM_OK;
}

/*
 * Marks with -1 the actor counts that equations, with the error they tell of, rule out.
 * Returns how many are left.
 */
static size_t rule_out(struct fulcrum_sweep_probe *probe,
    struct fulcrum_sweep_point *out, double *most_per_s)
{
    size_t count = probe->plan->actor_choice_count;
    double surely_per_s = 0.0;
    size_t left = 0;
    probe->method = FULCRUM_METHOD_FAST;
    for (size_t i = 0; i < count; i++) {
        set_actors(probe, probe->plan->actor_choices[i]);
        if (predict_with_draws(probe, 0.0, out, NULL) == FULCRUM_OK) {
            double per_s = out->prediction.value[FULCRUM_OUTPUT_steps_per_s];
            double error_per_s = per_s * out->prediction.solver_error_rel;
            most_per_s[i] = per_s + error_per_s;
            surely_per_s = fmax(surely_per_s, per_s - error_per_s);
        }
    }
    probe->method = probe->plan->predict.solver.method;
    for (size_t i = 0; i < count; i++) {
        most_per_s[i] = most_per_s[i] < surely_per_s ? -1.0 : most_per_s[i];
        left += most_per_s[i] >= 0.0;
    }
    return left;
}

/*
 * Tries every actor count without intervals; the best one is then predicted in full.
 * Where simulations may be needed, only counts are simulated that equations do not rule
 * out, and none where only one is left.
 */
static enum fulcrum_status choose_actors(struct fulcrum_sweep_probe *probe,
    struct fulcrum_sweep_point *out, struct fulcrum_error *err)
{
    const struct fulcrum_sweep_plan *plan = probe->plan;
    double *most_per_s = calloc(plan->actor_choice_count, sizeof *most_per_s);
    TRY_MEMORY(most_per_s, err, "%zu actor counts", plan->actor_choice_count);
    bool may_simulate = plan->predict.solver.method == FULCRUM_METHOD_AUTO;
    bool is_sure = may_simulate && rule_out(probe, out, most_per_s) == 1;
    double best_actors = FULCRUM_UNKNOWN;
    double best_per_s = -1.0;
    enum fulcrum_status status = FULCRUM_ERR_INFEASIBLE;
    probe->chooses = true;
    for (size_t i = 0; i < plan->actor_choice_count; i++) {
        if (most_per_s[i] < 0.0) {
            continue;
        }
        set_actors(probe, plan->actor_choices[i]);
        enum fulcrum_status tried =
            is_sure ? FULCRUM_OK : predict_with_draws(probe, 0.0, out, err);
        double per_s =
            is_sure ? most_per_s[i] : out->prediction.value[FULCRUM_OUTPUT_steps_per_s];
        if (tried == FULCRUM_OK && per_s > best_per_s) {
            best_per_s = per_s;
            best_actors = plan->actor_choices[i];
        }
        status = tried == FULCRUM_OK || status == FULCRUM_OK ? FULCRUM_OK : tried;
    }
    free(most_per_s);
    probe->chooses = false;
    set_actors(probe, best_actors);
    return status;
}

enum fulcrum_status fulcrum_sweep_probe_point(struct fulcrum_sweep_probe *probe,
    size_t index, struct fulcrum_sweep_point *out, struct fulcrum_error *err)
{
    assert(probe != NULL);
    const struct fulcrum_sweep_plan *plan = probe->plan;
    enum fulcrum_status status = FULCRUM_OK;
    out->index = index;
    probe->follows = follow_chain(probe, index);
    for (size_t i = plan->axis_count; i-- > 0;) {
        const struct fulcrum_sweep_axis *axis = &plan->axes[i];
        out->varied[i] = axis->values[index % axis->count];
        index /= axis->count;
    }
    set_axes(probe, out);
    if (plan->actor_choice_count > 0) {
        status = choose_actors(probe, out, err);
    } else if (plan->actors_per_thread > 0.0) {
        status = follow_threads(probe, err);
    }
    if (status == FULCRUM_OK) {
        status = predict_with_draws(probe, plan->predict.draws, out, err);
    }
    out->status = status;
    return status;
}

enum fulcrum_status fulcrum_sweep_probe_draw(struct fulcrum_sweep_probe *probe,
    const struct fulcrum_sweep_point *point, size_t draw, double *values)
{
    set_axes(probe, point);
    if (probe->plan->actor_choice_count > 0 || probe->plan->actors_per_thread > 0.0) {
        set_actors(probe, point->prediction.actor_count);
    }
    struct fulcrum_point drawn = {
        probe->settings, probe->setting_count, (uint64_t)draw, 0};
    struct fulcrum_predict_options options = probe->plan->predict;
    options.point_index = point->index;
    return fulcrum_predictor_draw(
        probe->predictor, &drawn, &options, &point->prediction, values);
}

/*
 * The points of a sweep that no other beats in every metric. Points are added in their
 * order, on one thread, so that what is refused does not depend on how many threads
 * there are. Draws come as points are solved, on any thread: their metrics are kept in
 * a place of each point, and the front of each draw is found at the end. That is the
 * chance that a point is on the front, not that of the whole front: of two points that
 * beat each other by turns one is there in every draw.
 */

#define MORE(name) [FULCRUM_OUTPUT_##name] = FULCRUM_SENSE_MORE
#define LESS(name) [FULCRUM_OUTPUT_##name] = FULCRUM_SENSE_LESS

static const enum fulcrum_sense senses[FULCRUM_OUTPUT_COUNT] = {
    MORE(steps_per_s),
    MORE(frames_per_s),
    LESS(runtime_s),
    LESS(quality_runtime_s),
    MORE(sample_efficiency_frac),
    LESS(allreduce_s), /* train_batch: it depends */
    MORE(mean_batch),
    MORE(cpu_thread_busy_frac),
    MORE(cpu_core_busy_frac),
    MORE(host_busy_frac),
    MORE(gpu_busy_frac),
    MORE(gpu_inference_busy_frac),
    MORE(gpu_train_busy_frac),
    MORE(sm_active_frac),
    LESS(cpu_residence_s),
    LESS(host_residence_s),
    LESS(gpu_residence_s),
    LESS(delay_s),
    LESS(cpu_w),
    LESS(gpu_w),
    LESS(system_w),
    LESS(gpu_j),
    LESS(system_j),
    MORE(steps_per_j_gpu),
    MORE(steps_per_j_system),
    LESS(cpu_gpu_ratio_machine),
    LESS(cpu_gpu_ratio_used),
    LESS(actor_threads_per_learner_core),
    MORE(trajectories_per_s),
    MORE(tokens_per_s),
    LESS(train_period_s),
    LESS(staleness),
    LESS(sandbox_count),
    LESS(cores_per_gpu),
    LESS(trajectory_system_j),
    LESS(token_system_j),
};

enum fulcrum_sense fulcrum_output_sense(size_t output)
{
    return output < FULCRUM_OUTPUT_COUNT ? senses[output] : FULCRUM_SENSE_NONE;
}

struct fulcrum_sweep_front {
    const struct fulcrum_sweep_plan *plan;
    struct fulcrum_front_metric metrics[FULCRUM_PARETO_METRICS_MOST];
    enum fulcrum_sense senses[FULCRUM_PARETO_METRICS_MOST];
    size_t metric_count;
    struct fulcrum_pareto *pareto;
    size_t point_count; /* of the grid */
    size_t draw_count;  /* 0: none are kept */
    double *drawn;      /* point_count x draw_count x metric_count, NAN: cannot run */
    size_t *times;      /* draws in which each point is on the front */
};

static double metric_of(const struct fulcrum_front_metric *metric, const double *varied,
    const double *outputs)
{
    return metric->is_axis ? varied[metric->at] : outputs[metric->at];
}

enum fulcrum_status fulcrum_sweep_front_new(const struct fulcrum_sweep_plan *plan,
    const struct fulcrum_front_metric *metrics, size_t metric_count,
    struct fulcrum_sweep_front **out, struct fulcrum_error *err)
{
    struct fulcrum_sweep_front *front = calloc(1, sizeof *front);
    TRY_MEMORY(front, err, "a front");
    front->plan = plan;
    front->metric_count = metric_count;
    for (size_t i = 0; i < metric_count && i < FULCRUM_PARETO_METRICS_MOST; i++) {
        front->metrics[i] = metrics[i];
        front->senses[i] = metrics[i].sense;
    }
    front->point_count = fulcrum_sweep_count(plan);
    /* All of the draws, or none of them. */
    size_t points = front->point_count;
    double numbers = plan->predict.draws * (double)points * (double)metric_count;
    front->draw_count =
        numbers <= (double)FULCRUM_FRONT_NUMBERS_MOST ? (size_t)plan->predict.draws : 0;
    size_t count = points * front->draw_count * metric_count;
    front->drawn = calloc(count + 1, sizeof *front->drawn);
    front->times = calloc(front->draw_count > 0 ? points : 1, sizeof *front->times);
    for (size_t i = 0; front->drawn != NULL && i < count; i++) {
        front->drawn[i] = FULCRUM_UNKNOWN;
    }
    enum fulcrum_status status =
        front->drawn != NULL && front->times != NULL
            ? fulcrum_pareto_new(front->senses, metric_count, &front->pareto, err)
            : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "draws of a front");
    if (status != FULCRUM_OK) {
        fulcrum_sweep_front_free(front);
        return status;
    }
    *out = front;
    return FULCRUM_OK;
}

void fulcrum_sweep_front_free(struct fulcrum_sweep_front *front)
{
    if (front != NULL) {
        fulcrum_pareto_free(front->pareto);
        free(front->drawn);
        free(front->times);
        free(front);
    }
}

bool fulcrum_sweep_front_has_draws(const struct fulcrum_sweep_front *front)
{
    return front->draw_count > 0;
}

size_t fulcrum_sweep_front_left_out(const struct fulcrum_sweep_front *front)
{
    return fulcrum_pareto_left_out(front->pareto);
}

/* The metrics of a point in draw k. */
static double *drawn_at(const struct fulcrum_sweep_front *front, size_t index, size_t k)
{
    return front->drawn + (index * front->draw_count + k) * front->metric_count;
}

enum fulcrum_status fulcrum_sweep_front_add(struct fulcrum_sweep_front *front,
    const struct fulcrum_sweep_point *points, size_t count, struct fulcrum_error *err)
{
    for (size_t i = 0; i < count; i++) {
        double values[FULCRUM_PARETO_METRICS_MOST];
        for (size_t j = 0; j < front->metric_count; j++) {
            values[j] = metric_of(
                &front->metrics[j], points[i].varied, points[i].prediction.value);
        }
        if (points[i].status == FULCRUM_OK) {
            TRY(fulcrum_pareto_add(front->pareto, points[i].index, values, err));
        }
    }
    return FULCRUM_OK;
}

/* Counts the points on the front of draw k. */
static enum fulcrum_status count_draw(const struct fulcrum_sweep_front *front,
    struct fulcrum_pareto *pareto, size_t k, struct fulcrum_error *err)
{
    for (size_t i = 0; i < front->point_count; i++) {
        TRY(fulcrum_pareto_add(pareto, i, drawn_at(front, i, k), err));
    }
    const size_t *indices = NULL;
    size_t count = 0;
    TRY(fulcrum_pareto_front(pareto, &indices, &count, err));
    for (size_t i = 0; i < count; i++) {
        front->times[indices[i]]++;
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_sweep_front_end(struct fulcrum_sweep_front *front,
    const size_t **out, size_t *count, struct fulcrum_error *err)
{
    for (size_t i = 0; front->draw_count > 0 && i < front->point_count; i++) {
        front->times[i] = 0;
    }
    for (size_t k = 0; k < front->draw_count; k++) {
        struct fulcrum_pareto *pareto = NULL;
        TRY(fulcrum_pareto_new(front->senses, front->metric_count, &pareto, err));
        enum fulcrum_status status = count_draw(front, pareto, k, err);
        fulcrum_pareto_free(pareto);
        TRY(status);
    }
    return fulcrum_pareto_front(front->pareto, out, count, err);
}

double fulcrum_sweep_front_frac(const struct fulcrum_sweep_front *front, size_t index)
{
    return front->draw_count > 0
               ? (double)front->times[index] / (double)front->draw_count
               : FULCRUM_UNKNOWN;
}

/*
 * The best point of each draw. A draw is one sample at every point of the sweep, so the
 * point that is best in it is a draw of the best point, and the interval of the best is
 * that of these points. To take the interval of every point for itself would answer
 * another question: samples in which everything is fast would be compared with samples
 * in which everything is slow.
 *
 * Each thread keeps the best of what it has seen. They are joined by value, then by the
 * lower index, so that neither their number nor their order shows.
 */

static const enum fulcrum_predicted metrics[FULCRUM_SWEEP_METRICS] = {
    FULCRUM_OUTPUT_steps_per_s, FULCRUM_OUTPUT_steps_per_j_gpu,
    FULCRUM_OUTPUT_steps_per_j_system};

enum fulcrum_predicted fulcrum_sweep_metric(size_t metric)
{
    return metrics[metric];
}

/* The best point of one metric in one draw. */
struct champion {
    double value; /* 0: none yet */
    double ratio; /* cpu_gpu_ratio_used */
    size_t index;
};

struct fulcrum_sweep_best {
    const struct fulcrum_sweep_plan *plan;
    size_t draw_count;
    struct champion *champions; /* draw_count x FULCRUM_SWEEP_METRICS */
    /* The same x values of an axis, 0: none yet; NULL where that is too much. */
    double *peaks[FULCRUM_SWEEP_AXES_MOST];
    double *ratios[FULCRUM_SWEEP_AXES_MOST]; /* of a profile, at its peaks */
    double *column;                          /* draw_count, to be sorted */
};

/* Most numbers that are kept along one axis: 32 MB. */
enum { PEAKS_MOST = 4194304 };

/* Of all draws along an axis. */
static size_t peak_count(const struct fulcrum_sweep_best *best, size_t axis)
{
    return best->draw_count * best->plan->axes[axis].count * FULCRUM_SWEEP_METRICS;
}

static enum fulcrum_status new_best(const struct fulcrum_sweep_plan *plan,
    size_t draw_count, size_t peaks_most, struct fulcrum_sweep_best **out,
    struct fulcrum_error *err)
{
    struct fulcrum_sweep_best *best = calloc(1, sizeof *best);
    TRY_MEMORY(best, err, "the best points of a sweep");
    *best = (struct fulcrum_sweep_best){.plan = plan,
        .draw_count = draw_count,
        .champions =
            calloc(draw_count * FULCRUM_SWEEP_METRICS, sizeof *best->champions),
        .column = calloc(draw_count, sizeof *best->column)};
    bool is_there = best->champions != NULL && best->column != NULL;
    for (size_t i = 0; is_there && i < plan->axis_count; i++) {
        size_t count = peak_count(best, i);
        if (count <= peaks_most) {
            best->peaks[i] = calloc(count, sizeof *best->peaks[i]);
            is_there = best->peaks[i] != NULL;
        }
    }
    if (!is_there) {
        fulcrum_sweep_best_free(best);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "the best points of a sweep");
    }
    *out = best;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_sweep_best_new(const struct fulcrum_sweep_plan *plan,
    struct fulcrum_sweep_best **out, struct fulcrum_error *err)
{
    return new_best(plan, (size_t)plan->predict.draws, PEAKS_MOST, out, err);
}

enum fulcrum_status fulcrum_sweep_profile_new(const struct fulcrum_sweep_plan *plan,
    struct fulcrum_sweep_best **out, struct fulcrum_error *err)
{
    struct fulcrum_sweep_best *profile = NULL;
    TRY(new_best(
        plan, 1, (size_t)FULCRUM_PROFILE_MOST * FULCRUM_SWEEP_METRICS, &profile, err));
    for (size_t i = 0; i < plan->axis_count; i++) {
        if (profile->peaks[i] != NULL) {
            profile->ratios[i] =
                calloc(peak_count(profile, i), sizeof *profile->ratios[i]);
            if (profile->ratios[i] == NULL) {
                fulcrum_sweep_best_free(profile);
                return fulcrum_fail(
                    err, FULCRUM_ERR_NO_MEMORY, "the best along each axis");
            }
        }
    }
    *out = profile;
    return FULCRUM_OK;
}

void fulcrum_sweep_best_free(struct fulcrum_sweep_best *best)
{
    for (size_t i = 0; best != NULL && i < FULCRUM_SWEEP_AXES_MOST; i++) {
        free(best->peaks[i]);
        free(best->ratios[i]);
    }
    if (best != NULL) {
        free(best->champions);
        free(best->column);
    }
    free(best);
}

static void challenge(struct champion *champion, const struct champion *other)
{
    bool is_tie =
        !(other->value < champion->value) && !(other->value > champion->value);
    if (other->value > champion->value || (is_tie && other->index < champion->index)) {
        *champion = *other;
    }
}

/* Where the numbers along an axis begin, of one metric in one draw. */
static size_t row_of(
    const struct fulcrum_sweep_best *best, size_t axis, size_t draw, size_t metric)
{
    return (draw * FULCRUM_SWEEP_METRICS + metric) * best->plan->axes[axis].count;
}

/* One metric of a point may be the best so far at its place on an axis. */
static void raise_peak(struct fulcrum_sweep_best *best, size_t axis, size_t at,
    const struct champion *point)
{
    if (point->value > best->peaks[axis][at]) {
        best->peaks[axis][at] = point->value;
        if (best->ratios[axis] != NULL) {
            best->ratios[axis][at] = point->ratio;
        }
    }
}

/* Draw k of a point, which may be the best so far of each metric. */
static void add_draw(struct fulcrum_sweep_best *best, size_t k, size_t index,
    const double values[FULCRUM_OUTPUT_COUNT])
{
    const struct fulcrum_sweep_plan *plan = best->plan;
    for (size_t j = 0; j < FULCRUM_SWEEP_METRICS; j++) {
        const struct champion point = {
            values[metrics[j]], values[FULCRUM_OUTPUT_cpu_gpu_ratio_used], index};
        size_t rest = index;
        if (point.value > 0.0) {
            challenge(&best->champions[k * FULCRUM_SWEEP_METRICS + j], &point);
        }
        for (size_t i = plan->axis_count; i-- > 0; rest /= plan->axes[i].count) {
            if (best->peaks[i] != NULL) {
                raise_peak(best, i, row_of(best, i, k, j) + rest % plan->axes[i].count,
                    &point);
            }
        }
    }
}

void fulcrum_sweep_best_add(struct fulcrum_sweep_best *best, size_t index,
    const double *draws, size_t draw_count)
{
    for (size_t k = 0; k < draw_count && k < best->draw_count; k++) {
        add_draw(best, k, index, draws + k * FULCRUM_OUTPUT_COUNT);
    }
}

void fulcrum_sweep_best_merge(
    struct fulcrum_sweep_best *best, const struct fulcrum_sweep_best *other)
{
    for (size_t i = 0; i < best->draw_count * FULCRUM_SWEEP_METRICS; i++) {
        if (other->champions[i].value > 0.0) {
            challenge(&best->champions[i], &other->champions[i]);
        }
    }
    for (size_t i = 0; i < best->plan->axis_count; i++) {
        size_t count = best->peaks[i] != NULL ? peak_count(best, i) : 0;
        for (size_t j = 0; j < count; j++) {
            best->peaks[i][j] = fmax(best->peaks[i][j], other->peaks[i][j]);
        }
    }
}

/* The most of the values along an axis, and between which places anything can run. */
static double find_most(const double *peaks, size_t count, struct fulcrum_plateau *out)
{
    double most = 0.0;
    for (size_t i = 0; i < count; i++) {
        if (peaks[i] > 0.0) {
            out->first_run = most > 0.0 ? out->first_run : i;
            out->last_run = i;
        }
        if (peaks[i] > most) {
            most = peaks[i];
            out->best = i;
        }
    }
    return most;
}

/* Where one metric of one draw is on its plateau; false: it has no best there. */
static bool find_plateau(const struct fulcrum_sweep_best *best, size_t axis,
    size_t draw, size_t metric, struct fulcrum_plateau *out)
{
    if (best->peaks[axis] == NULL) {
        return false;
    }
    const double *peaks = best->peaks[axis] + row_of(best, axis, draw, metric);
    struct fulcrum_plateau found = {.count = 0};
    double most = find_most(peaks, best->plan->axes[axis].count, &found);
    if (!(most > 0.0)) {
        return false;
    }
    for (size_t i = found.first_run; i <= found.last_run; i++) {
        if (peaks[i] >= FULCRUM_PLATEAU_FRAC * most) {
            found.first = found.count > 0 ? found.first : i;
            found.last = i;
            found.count++;
        }
    }
    *out = found;
    return true;
}

bool fulcrum_sweep_profile_plateau(const struct fulcrum_sweep_best *profile,
    size_t metric, size_t axis, struct fulcrum_plateau *out)
{
    return find_plateau(profile, axis, 0, metric, out);
}

double fulcrum_sweep_profile_ratio(
    const struct fulcrum_sweep_best *profile, size_t metric, size_t axis, size_t place)
{
    return profile->ratios[axis][row_of(profile, axis, 0, metric) + place];
}

/* What an interval is taken of. */
enum member { VALUE, RATIO, AXIS };

/* Into the column, of the draws that ran; returns how many those are. */
static size_t collect(
    const struct fulcrum_sweep_best *best, size_t metric, enum member what, size_t axis)
{
    const struct fulcrum_sweep_plan *plan = best->plan;
    size_t count = 0;
    for (size_t k = 0; k < best->draw_count; k++) {
        const struct champion *champion =
            &best->champions[k * FULCRUM_SWEEP_METRICS + metric];
        if (!(champion->value > 0.0)) {
            continue;
        }
        size_t index = champion->index;
        for (size_t i = plan->axis_count - 1; i > axis; i--) {
            index /= plan->axes[i].count;
        }
        best->column[count++] =
            what == VALUE   ? champion->value
            : what == RATIO ? champion->ratio
                            : plan->axes[axis].values[index % plan->axes[axis].count];
    }
    return count;
}

struct fulcrum_best_along fulcrum_sweep_best_along(
    const struct fulcrum_sweep_best *best, size_t metric, size_t axis)
{
    const struct fulcrum_interval unknown = {
        FULCRUM_UNKNOWN, FULCRUM_UNKNOWN, FULCRUM_UNKNOWN};
    struct fulcrum_best_along along = {0, unknown, unknown, unknown, unknown, unknown,
        FULCRUM_UNKNOWN, FULCRUM_UNKNOWN};
    if (best == NULL) {
        return along;
    }
    double *last =
        best->peaks[axis] != NULL ? calloc(best->draw_count, sizeof *last) : NULL;
    if (last != NULL) {
        /* The plateaus of the draws; their last values go to `last`, as many as draws
         * ran. */
        const double *values = best->plan->axes[axis].values;
        struct fulcrum_plateau plateau = {.count = 0};
        size_t count = 0;
        size_t at_first = 0;
        size_t at_last = 0;
        for (size_t k = 0; k < best->draw_count; k++) {
            if (find_plateau(best, axis, k, metric, &plateau)) {
                at_first += plateau.first == plateau.first_run;
                at_last += plateau.last == plateau.last_run;
                best->column[count] = values[plateau.first];
                last[count++] = values[plateau.last];
            }
        }
        if (count > 1) {
            along.first_near_frac = (double)at_first / (double)count;
            along.last_near_frac = (double)at_last / (double)count;
        }
        along.plateau_first = fulcrum_interval_among(best->column, count);
        along.plateau_last = fulcrum_interval_among(last, count);
    }
    free(last);
    along.draw_count = collect(best, metric, VALUE, axis);
    along.value = fulcrum_interval_of(best->column, along.draw_count);
    along.ratio =
        fulcrum_interval_among(best->column, collect(best, metric, RATIO, axis));
    along.at = fulcrum_interval_among(best->column, collect(best, metric, AXIS, axis));
    return along;
}

/* One design point beside another. */

static const enum fulcrum_predicted relative_outputs[] = {
    FULCRUM_OUTPUT_steps_per_s, FULCRUM_OUTPUT_runtime_s, FULCRUM_OUTPUT_COUNT};

const char *fulcrum_relative_name(size_t relative)
{
    static const char *const names[FULCRUM_RELATIVE_COUNT] = {"speedup", "runtime_rel"};
    return relative < FULCRUM_RELATIVE_COUNT ? names[relative] : NULL;
}

/* Most points that a thread takes at once, and into how many runs a block is to be
 * parted for each thread, so that threads end at about the same time. */
enum { HALF = FULCRUM_SWEEP_BLOCK / 2, RUN_MOST = CHAIN, RUNS_PER_THREAD = 8 };

/* Points of a block that a wish to see some soon does not cut off. The first block has
 * one per thread, so that progress shows early. */
enum { FEW_POINTS = 16, FEW_POINTS_PER_THREAD = 4 };

/* What a thread has for itself. */
struct worker {
    struct fulcrum_sweep_probe *probe;
    struct fulcrum_study *beside;    /* the yardstick and a point; NULL: not wanted */
    struct fulcrum_sweep_best *best; /* of its points; likewise */
};

struct sweep {
    const struct fulcrum_scenario *scenario;
    const struct fulcrum_sweep_plan *plan;
    const struct fulcrum_sweep_visitor *visitor;
    size_t count;
    struct fulcrum_sweep_point *block;
    char (*reasons)[FULCRUM_REASON_BYTE]; /* beside the block: seldom touched */
    size_t thread_count;
    struct worker *workers; /* one per thread */
};

/* Points that wait for their visit. */
struct full {
    size_t slot; /* of the first */
    size_t count;
};

/* A block: points from `start`, of which those before `next` are taken. */
struct queue {
    const struct sweep *sweep;
    size_t slot;        /* of the first */
    struct full before; /* the block before, to be visited meanwhile */
    bool stop;          /* what that visit says */
    size_t start;
    size_t next;
    size_t end;
    size_t few; /* points before a wish for a visit soon is granted */
    size_t run; /* points taken at once */
};

size_t fulcrum_sweep_count(const struct fulcrum_sweep_plan *plan)
{
    const double most = 9007199254740992.0; /* 2^53: indices stay exact as doubles */
    double count = 1.0;
    for (size_t i = 0; i < plan->axis_count; i++) {
        count *= (double)plan->axes[i].count;
    }
    return count <= most ? (size_t)count : 0;
}

/* Several faults in one line, for a table's cell; what does not fit is left out. */
static void join_lines(char *out, size_t size, const char *detail)
{
    size_t used = 0;
    while (*detail != '\0') {
        size_t length = strcspn(detail, "\n");
        const char *between = used > 0 ? "; " : "";
        if (used + strlen(between) + length >= size) {
            return;
        }
        used += (size_t)snprintf(
            out + used, size - used, "%s%.*s", between, (int)length, detail);
        detail += length + (detail[length] == '\n' ? 1 : 0);
    }
}

/* What is made of a point's draws while they are at hand. */
static void use_draws(const struct fulcrum_sweep_plan *plan,
    const struct worker *worker, struct fulcrum_sweep_point *point)
{
    const struct fulcrum_predictor *predictor =
        fulcrum_sweep_probe_predictor(worker->probe);
    size_t count = 0;
    const double *draws = fulcrum_predictor_draws(predictor, &count);
    if (worker->beside != NULL) {
        fulcrum_study_keep(
            worker->beside, 1, &point->prediction, predictor, relative_outputs);
        for (size_t i = 0; i < FULCRUM_RELATIVE_COUNT; i++) {
            point->relative[i] = fulcrum_study_ratio(worker->beside, 1, 0, i);
        }
    }
    if (worker->best != NULL) {
        fulcrum_sweep_best_add(worker->best, point->index, draws, count);
    }
    if (plan->front != NULL) {
        /* The draws of a point, as fulcrum_predictor_draws gives them; from any thread.
         */
        struct fulcrum_sweep_front *front = plan->front;
        for (size_t k = 0; k < count && k < front->draw_count; k++) {
            const double *outputs = draws + k * FULCRUM_OUTPUT_COUNT;
            double *drawn = drawn_at(front, point->index, k);
            /* A draw that cannot run has no outputs, and is on no front. */
            bool ran = outputs[FULCRUM_OUTPUT_steps_per_s] > 0.0;
            for (size_t i = 0; ran && i < front->metric_count; i++) {
                drawn[i] = metric_of(&front->metrics[i], point->varied, outputs);
            }
        }
    }
}

/* Without a point there would be nothing to visit. */
static bool is_over(const struct queue *queue, enum fulcrum_sweep_wish wish)
{
    size_t taken = queue->next - queue->start;
    return queue->next == queue->end ||
           (wish == FULCRUM_SWEEP_VISIT_NOW && taken > 0) ||
           (wish == FULCRUM_SWEEP_VISIT_SOON && taken >= queue->few);
}

/* The next points for a thread; 0: the block is over, for every thread. */
static size_t take_run(struct queue *queue, size_t *first)
{
    const struct fulcrum_sweep_visitor *visitor = queue->sweep->visitor;
    enum fulcrum_sweep_wish wish =
        visitor->wish != NULL ? visitor->wish(visitor->context) : FULCRUM_SWEEP_GO_ON;
    size_t taken = 0;
#ifdef _OPENMP
#pragma omp critical(fulcrum_sweep_queue)
#endif
    if (is_over(queue, wish)) {
        queue->end = queue->next;
    } else {
        size_t left = queue->end - queue->next;
        taken = left < queue->run ? left : queue->run;
        *first = queue->next;
        queue->next += taken;
    }
    return taken;
}

/* Whether to stop. */
static bool visit(const struct sweep *sweep, struct full full)
{
    return full.count > 0 && sweep->visitor->visit(sweep->visitor->context, full.slot,
                                 &sweep->block[full.slot], full.count) != 0;
}

/* Predicts points of the block until the queue has none. */
static void work_off(void *context, size_t thread)
{
    struct queue *queue = context;
    const struct sweep *sweep = queue->sweep;
    size_t first = 0;
    if (thread == 0) {
        queue->stop = visit(sweep, queue->before);
    }
    for (size_t count = take_run(queue, &first); count > 0;
         count = take_run(queue, &first)) {
        for (size_t i = first; i < first + count; i++) {
            size_t slot = queue->slot + i - queue->start;
            const size_t *only = sweep->plan->only;
            size_t index = only != NULL ? only[i] : i;
            struct fulcrum_sweep_point *out = &sweep->block[slot];
            struct fulcrum_error err;
            fulcrum_error_clear(&err);
            out->reason = "";
            if (fulcrum_sweep_probe_point(
                    sweep->workers[thread].probe, index, out, &err) == FULCRUM_OK) {
                use_draws(sweep->plan, &sweep->workers[thread], out);
            } else {
                out->prediction = (struct fulcrum_prediction){0};
                join_lines(sweep->reasons[slot], FULCRUM_REASON_BYTE, err.detail);
                out->reason = sweep->reasons[slot];
            }
            if (sweep->visitor->prepare != NULL) {
                sweep->visitor->prepare(sweep->visitor->context, slot, out);
            }
        }
    }
}

/* Returns what the last visit said. */
static bool visit_all(const struct sweep *sweep)
{
    size_t few_most = GSL_MAX(FEW_POINTS, FEW_POINTS_PER_THREAD * sweep->thread_count);
    size_t few = sweep->thread_count;
    size_t run_least = has_chains(sweep->plan) ? CHAIN : 1;
    size_t run = run_least;
    bool stop = false;
    struct full full = {0, 0};
    for (size_t start = 0; start < sweep->count && !stop;) {
        size_t most = GSL_MIN(HALF, sweep->count - start);
        struct queue queue = {.sweep = sweep,
            .slot = full.count > 0 && full.slot == 0 ? HALF : 0,
            .before = full,
            .start = start,
            .next = start,
            .end = start + most,
            .few = few,
            .run = run};
        fulcrum_parallel_each(sweep->thread_count, work_off, &queue);
        size_t count = queue.next - start;
        stop = queue.stop;
        full = (struct full){queue.slot, count};
        start = queue.next;
        /* Points that take their time are shown before others are begun. */
        if (!stop && (count < most || start == sweep->count)) {
            stop = visit(sweep, full);
            full.count = 0;
        }
        few = GSL_MIN(2 * few, few_most);
        run = GSL_MAX(run_least,
            GSL_MIN(RUN_MOST, count / (RUNS_PER_THREAD * sweep->thread_count)));
    }
    return stop;
}

static void free_sweep(struct sweep *sweep)
{
    for (size_t i = 0; sweep->workers != NULL && i < sweep->thread_count; i++) {
        fulcrum_sweep_probe_free(sweep->workers[i].probe);
        fulcrum_sweep_best_free(sweep->workers[i].best);
        fulcrum_study_free(sweep->workers[i].beside);
    }
    free(sweep->workers);
    free(sweep->reasons);
    free(sweep->block);
}

static enum fulcrum_status fill_sweep(struct sweep *sweep, struct fulcrum_error *err)
{
    sweep->thread_count = sweep->plan->thread_count > 0 ? sweep->plan->thread_count
                                                        : fulcrum_parallel_threads();
    size_t slots = GSL_MIN(FULCRUM_SWEEP_BLOCK, sweep->count);
    sweep->block = calloc(slots, sizeof *sweep->block);
    sweep->reasons = calloc(slots, sizeof *sweep->reasons);
    sweep->workers = calloc(sweep->thread_count, sizeof *sweep->workers);
    FAIL_IF(sweep->block == NULL || sweep->reasons == NULL || sweep->workers == NULL,
        err, FULCRUM_ERR_NO_MEMORY, "a block of a sweep");
    for (size_t i = 0; i < sweep->thread_count; i++) {
        const struct fulcrum_sweep_plan *plan = sweep->plan;
        TRY(fulcrum_sweep_probe_new(
            sweep->scenario, plan, &sweep->workers[i].probe, err));
        if (plan->best != NULL) {
            TRY(fulcrum_sweep_best_new(plan, &sweep->workers[i].best, err));
        }
        if (plan->yardstick != NULL) {
            size_t draws = plan->yardstick->draw_count;
            TRY(fulcrum_study_new(
                2, FULCRUM_RELATIVE_COUNT, draws, &sweep->workers[i].beside, err));
            memcpy(sweep->workers[i].beside->values, plan->yardstick->values,
                (1 + draws) * FULCRUM_RELATIVE_COUNT *
                    sizeof *sweep->workers[i].beside->values);
        }
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_sweep_yardstick(const struct fulcrum_scenario *scenario,
    const struct fulcrum_sweep_plan *plan, size_t index, struct fulcrum_study **out,
    struct fulcrum_error *err)
{
    assert(index < fulcrum_sweep_count(plan));
    struct fulcrum_sweep_point point = {.index = index};
    struct fulcrum_sweep_probe *probe = NULL;
    struct fulcrum_study *study = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY(fulcrum_study_new(
        1, FULCRUM_RELATIVE_COUNT, (size_t)plan->predict.draws, &study, err));
    TRY_OR_END(fulcrum_sweep_probe_new(scenario, plan, &probe, err));
    TRY_OR_END(fulcrum_sweep_probe_point(probe, index, &point, err));
    fulcrum_study_keep(study, 0, &point.prediction,
        fulcrum_sweep_probe_predictor(probe), relative_outputs);
    *out = study;
    study = NULL;
end:
    fulcrum_sweep_probe_free(probe);
    fulcrum_study_free(study);
    return status;
}

enum fulcrum_status fulcrum_sweep_run(const struct fulcrum_scenario *scenario,
    const struct fulcrum_sweep_plan *plan, const struct fulcrum_sweep_visitor *visitor,
    struct fulcrum_error *err)
{
    size_t count =
        plan->axis_count <= FULCRUM_SWEEP_AXES_MOST ? fulcrum_sweep_count(plan) : 0;
    FAIL_IF(count == 0, err, FULCRUM_ERR_RANGE,
        "a sweep takes up to %d fields and 2^53 points", (int)FULCRUM_SWEEP_AXES_MOST);
    if (plan->only != NULL) {
        count = plan->only_count;
    }
    struct sweep sweep = {
        .scenario = scenario, .plan = plan, .visitor = visitor, .count = count};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fill_sweep(&sweep, err));
    if (visit_all(&sweep)) {
        status = fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED, "the sweep was stopped");
    }
    for (size_t i = 0; plan->best != NULL && i < sweep.thread_count; i++) {
        fulcrum_sweep_best_merge(plan->best, sweep.workers[i].best);
    }
end:
    free_sweep(&sweep);
    return status;
}
