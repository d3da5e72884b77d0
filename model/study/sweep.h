/* sweep.h - many designs: sweeps, what is best, fronts, and ratios to one of them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_STUDY_SWEEP_H
#define FULCRUM_MODEL_STUDY_SWEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "model/number.h"
#include "model/predict/predict.h"
#include "model/result.h"
#include "model/status.h"

/* What is better of a metric. */
enum fulcrum_sense { FULCRUM_SENSE_NONE, FULCRUM_SENSE_MORE, FULCRUM_SENSE_LESS };

enum {
    FULCRUM_PARETO_METRICS_MOST = 3,
    FULCRUM_PARETO_POINTS_MOST = 1048576 /* on the front; about 200 MB */
};

/*
 * The front of the points seen so far. A point is beaten by another that is as good in
 * every metric and better in one; points that are equal in all of them stay together.
 * Memory grows with the front and not with the points.
 */
struct fulcrum_pareto;

/* Of 2 or 3 metrics, none of them FULCRUM_SENSE_NONE. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_pareto_new(
    const enum fulcrum_sense *senses, size_t metric_count, struct fulcrum_pareto **out,
    struct fulcrum_error *err);

void fulcrum_pareto_free(struct fulcrum_pareto *pareto);

/*
 * The next point. One of which a metric is not finite is left out, and counted. A front
 * of more than FULCRUM_PARETO_POINTS_MOST is refused (RANGE), never thinned.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_pareto_add(struct fulcrum_pareto *pareto,
    size_t index, const double *values, struct fulcrum_error *err);

/* Rising indices, borrowed until the next call; fails as fulcrum_pareto_add. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_pareto_front(
    struct fulcrum_pareto *pareto, const size_t **out, size_t *count,
    struct fulcrum_error *err);

/* Points that were left out because a metric was not finite. */
size_t fulcrum_pareto_left_out(const struct fulcrum_pareto *pareto);

/* Ratios to a point of comparison. */
enum fulcrum_relative {
    FULCRUM_RELATIVE_SPEEDUP, /* agent steps per second over those there */
    FULCRUM_RELATIVE_RUNTIME,
    FULCRUM_RELATIVE_COUNT
};

/* NULL beyond the last one. Borrowed, static. */
const char *fulcrum_relative_name(size_t relative);

/* A point that others are compared with, in the same draws. */
struct fulcrum_study;

/* One field and the values it takes. Borrowed. */
struct fulcrum_sweep_axis {
    const struct fulcrum_field *field;
    const double *values;
    size_t count;
};

enum { FULCRUM_SWEEP_AXES_MOST = 8, FULCRUM_REASON_BYTE = 800 /* with its end */ };

struct fulcrum_sweep_best;
struct fulcrum_sweep_front;

struct fulcrum_sweep_plan {
    const struct fulcrum_sweep_axis *axes; /* borrowed */
    size_t axis_count;
    struct fulcrum_predict_options predict;
    /* Actors follow the threads (rounded to what GPUs can share); 0: they do not. */
    double actors_per_thread;
    /* Each point takes the one with the most steps per second; count 0: none. */
    const double *actor_choices;
    size_t actor_choice_count;
    /* Each point is compared with it, draw by draw: the interval of a ratio may be much
     * narrower than what the ends of two intervals give. Of the same scenario, seed and
     * draws; NULL: points stand alone. Borrowed. */
    const struct fulcrum_study *yardstick;
    /* Gets the best point of each draw; NULL: not wanted. Borrowed. */
    struct fulcrum_sweep_best *best;
    /* Gets the draws of each point; NULL: not wanted. Borrowed. */
    struct fulcrum_sweep_front *front;
    /* The points of the grid that are predicted, by rising index; NULL: all. */
    const size_t *only;
    size_t only_count;
    size_t thread_count; /* to work on; 0: as many as OpenMP would take */
};

struct fulcrum_sweep_point {
    size_t index;
    double varied[FULCRUM_SWEEP_AXES_MOST]; /* one per axis */
    enum fulcrum_status status; /* else `reason` says why there is nothing */
    const char *reason;         /* one line, valid during the visit; "" after success */
    struct fulcrum_prediction prediction;
    struct fulcrum_ratio relative[FULCRUM_RELATIVE_COUNT]; /* with a yardstick */
};

/* Points in memory: half of them wait for a visit while the others are worked on. */
enum { FULCRUM_SWEEP_BLOCK = 8192 };

/* When the next visit is wanted. */
enum fulcrum_sweep_wish {
    FULCRUM_SWEEP_GO_ON,
    FULCRUM_SWEEP_VISIT_SOON, /* as soon as all threads have had some points */
    FULCRUM_SWEEP_VISIT_NOW   /* after the points under way */
};

/* What is done with the points. */
struct fulcrum_sweep_visitor {
    void *context;
    /* Asked every few points, on any thread, several at once. NULL: always GO_ON. */
    enum fulcrum_sweep_wish (*wish)(void *context);
    /*
     * Of each point, before its visit and on any thread, several at once: work that can
     * be done apart. `slot`, below FULCRUM_SWEEP_BLOCK, is the point's until its visit.
     * NULL: nothing.
     */
    void (*prepare)(
        void *context, size_t slot, const struct fulcrum_sweep_point *point);
    /*
     * The next points, in order and one visit at a time, on any thread, while others
     * work on points to come. How many come at once may differ from run to run. Returns
     * 0 to go on, anything else to stop.
     *   slot     of the first; the next ones follow it
     */
    int (*visit)(void *context, size_t slot, const struct fulcrum_sweep_point *points,
        size_t count);
};

/* Product of the axes' counts; 0 where it exceeds 2^53. */
size_t fulcrum_sweep_count(const struct fulcrum_sweep_plan *plan);

/* The point `index` of the grid, for others to be compared with; the caller frees it
 * with fulcrum_study_free.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sweep_yardstick(
    const struct fulcrum_scenario *scenario, const struct fulcrum_sweep_plan *plan,
    size_t index, struct fulcrum_study **out, struct fulcrum_error *err);

/*
 * Visits every point of the grid, the last axis fastest. A point that cannot run is
 * visited with its status. The same results whatever the number of threads, in memory
 * that does not grow with the number of points.
 *   fails    FULCRUM_ERR_RANGE (too many axes or points), FULCRUM_ERR_NO_MEMORY,
 *            FULCRUM_ERR_INTERRUPTED (a visit asked to stop)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sweep_run(
    const struct fulcrum_scenario *scenario, const struct fulcrum_sweep_plan *plan,
    const struct fulcrum_sweep_visitor *visitor, struct fulcrum_error *err);

/* Predicts single points of a grid as a sweep does, in any order, on one thread. */
struct fulcrum_sweep_probe;

/* Borrows scenario and plan. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sweep_probe_new(
    const struct fulcrum_scenario *scenario, const struct fulcrum_sweep_plan *plan,
    struct fulcrum_sweep_probe **out, struct fulcrum_error *err);

void fulcrum_sweep_probe_free(struct fulcrum_sweep_probe *probe);

/* As a visit would find it, but `reason` and `relative` are left alone; index, varied
 * values and status are set after a failure, too. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sweep_probe_point(
    struct fulcrum_sweep_probe *probe, size_t index, struct fulcrum_sweep_point *out,
    struct fulcrum_error *err);

/* One draw, from 1, of a point that a probe of the plan has predicted: the values are
 * those among the draws of the whole point. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sweep_probe_draw(
    struct fulcrum_sweep_probe *probe, const struct fulcrum_sweep_point *point,
    size_t draw, double *values);

/* What predicted the last point: its draws. Borrowed. */
const struct fulcrum_predictor *fulcrum_sweep_probe_predictor(
    const struct fulcrum_sweep_probe *probe);

/*
 * As many actors for each hardware thread, rounded to a multiple of the GPUs or learner
 * cores that share them, at least one each.
 */
double fulcrum_actors_for_threads(
    const struct fulcrum_design *design, double actors_per_thread);

/*
 * What is better of an output, where nobody says otherwise: more of rates, batches and
 * of what is busy, as it has been paid for; less of times, watts, joules and of threads
 * to a SM. NONE for one that has no better side that is known here.
 */
enum fulcrum_sense fulcrum_output_sense(size_t output);

/* An output, or a field that varies, and what is better of it. */
struct fulcrum_front_metric {
    enum fulcrum_sense sense;
    bool is_axis;
    size_t at; /* among the plan's axes, else among the outputs */
};

/* Of 2 or 3 metrics. Draws are kept where the plan has some and all fit. Borrows the
 * plan. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sweep_front_new(
    const struct fulcrum_sweep_plan *plan, const struct fulcrum_front_metric *metrics,
    size_t metric_count, struct fulcrum_sweep_front **out, struct fulcrum_error *err);

void fulcrum_sweep_front_free(struct fulcrum_sweep_front *front);

/* The next points of the sweep; one that cannot run is on no front. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sweep_front_add(
    struct fulcrum_sweep_front *front, const struct fulcrum_sweep_point *points,
    size_t count, struct fulcrum_error *err);

/* What is on the front so far, as fulcrum_pareto_front, and how often in the draws. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sweep_front_end(
    struct fulcrum_sweep_front *front, const size_t **out, size_t *count,
    struct fulcrum_error *err);

/* Points that ran and have no value of a metric. */
size_t fulcrum_sweep_front_left_out(const struct fulcrum_sweep_front *front);

/* Whether shares of draws are known. */
bool fulcrum_sweep_front_has_draws(const struct fulcrum_sweep_front *front);

/* The share of draws in which a point is on the front, after its end; NAN: no draws.
 */
double fulcrum_sweep_front_frac(const struct fulcrum_sweep_front *front, size_t index);

/* The outputs of which more is better. */
enum { FULCRUM_SWEEP_METRICS = 3 };

enum fulcrum_predicted fulcrum_sweep_metric(size_t metric);

/* The best point of each draw, in memory that grows with the draws and not with the
 * points. A sweep whose plan has one fills it. Borrows the plan, whose draws are not 0.
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sweep_best_new(
    const struct fulcrum_sweep_plan *plan, struct fulcrum_sweep_best **out,
    struct fulcrum_error *err);

void fulcrum_sweep_best_free(struct fulcrum_sweep_best *best);

/* The draws of one point, as fulcrum_predictor_draws gives them, in any order. */
void fulcrum_sweep_best_add(struct fulcrum_sweep_best *best, size_t index,
    const double *draws, size_t draw_count);

/* Adds what `other`, of the same plan, has seen. */
void fulcrum_sweep_best_merge(
    struct fulcrum_sweep_best *best, const struct fulcrum_sweep_best *other);

/*
 * One metric over the draws, and where along one field. 90 % intervals of the best
 * point, whose ends are values that the sweep has, outward: at least 90 % of the draws
 * lie within. What is along the field, but `at`, is NAN where draws times values are
 * more than 32 MB hold, so that memory is bounded.
 */
struct fulcrum_best_along {
    size_t draw_count;             /* that ran at some point; below 2 all is NAN */
    struct fulcrum_interval value; /* of the metric at the best point */
    struct fulcrum_interval ratio; /* of cpu_gpu_ratio_used there */
    struct fulcrum_interval at;    /* of the field's value there */
    struct fulcrum_interval plateau_first; /* of the first value on the plateau */
    struct fulcrum_interval plateau_last;  /* of the last one */
    double first_near_frac; /* draws whose plateau has the first value that can run */
    double last_near_frac;
};

/* Nothing is known of `best` NULL. */
struct fulcrum_best_along fulcrum_sweep_best_along(
    const struct fulcrum_sweep_best *best, size_t metric, size_t axis);

/*
 * The best at each value of each axis, over all others, of one draw: the estimates,
 * which fulcrum_sweep_best_add gives it. Axes of more than FULCRUM_PROFILE_MOST values
 * are left out, so that memory is bounded.
 */
enum { FULCRUM_PROFILE_MOST = 65536 };

FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sweep_profile_new(
    const struct fulcrum_sweep_plan *plan, struct fulcrum_sweep_best **out,
    struct fulcrum_error *err);

/* A metric within this share of its best counts as its plateau. */
#define FULCRUM_PLATEAU_FRAC 0.95

/* Where a metric is on its plateau along an axis. */
struct fulcrum_plateau {
    size_t best; /* places among the axis' values */
    size_t first;
    size_t last;
    size_t first_run; /* the first and the last value at which anything can run */
    size_t last_run;
    size_t count; /* of values on it; fewer than last - first + 1 where it has gaps */
};

/* Returns 0, and leaves `out` alone, where no point has the metric or the axis is long.
 */
bool fulcrum_sweep_profile_plateau(const struct fulcrum_sweep_best *profile,
    size_t metric, size_t axis, struct fulcrum_plateau *out);

/* cpu_gpu_ratio_used of the best point at a value of an axis that has a plateau. */
double fulcrum_sweep_profile_ratio(
    const struct fulcrum_sweep_best *profile, size_t metric, size_t axis, size_t place);

/* Where each metric of a sweep is best. Opaque. */
struct fulcrum_sweep_finding;

/* Borrows the plan, whose `best` has the draws. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_sweep_finding_new(
    const struct fulcrum_sweep_plan *plan, struct fulcrum_sweep_finding **out,
    struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_sweep_finding_free(struct fulcrum_sweep_finding *finding);

/* The next points, in the order of the sweep. */
void fulcrum_sweep_finding_add(struct fulcrum_sweep_finding *finding,
    const struct fulcrum_sweep_point *points, size_t count);

/*
 * Adds a table "optima", a row for each metric along each axis of several values: the
 * best value, where it is, the 90 % interval over the draws, where its plateau begins
 * and ends, as values of the field and as CPU/GPU ratios, and whether it is an optimum
 * or a plateau.
 */
void fulcrum_sweep_finding_tell(
    const struct fulcrum_sweep_finding *finding, struct fulcrum_result *result);

#endif
