/* fit_sm.c - how times on a GPU grow as it is left fewer SMs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inference on s of S SMs takes A + B S/s + (C + D S/s) b: four numbers, as many as t0,
 * t1, the share of math and the share of launches, so that a sweep over b and s tells
 * them all. A training step on s SMs adds two more, with the same share of math. The
 * law itself stands in model/design/scale.c and nowhere else.
 */
#include "calibrate/fit/fit_forms.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "model/design/scale.h"
#include "model/try.h"

/* Standard deviation of a median, where the points themselves do not tell more. */
static const double noise_rel = 0.03;

/* That of any share between 0 and 1. */
static const double share_sd = 0.29;

/* Above 0, so that a relative step from it is one. */
static const double least_share = 1e-4;

enum { PER_BATCH, PER_ITEM, LAUNCH, MATH, TRAIN, TRAIN_LAUNCH, PARAMETERS };

/* Fewer numbers of SMs do not tell math from launches. */
enum { LEAST_SM_COUNTS = 3, LEAST_BATCHES = 2 };

struct context {
    const struct fulcrum_sm_point *points;
    struct fulcrum_workload_network shares; /* fallbacks */
    double sm_count;
};

/* The time of one point, read from a workload that was scaled to its SMs. */
static double time_of(const double *parameter, const struct context *context,
    const struct fulcrum_sm_point *point)
{
    struct fulcrum_workload workload = {.network = context->shares};
    workload.network.per_batch_s = parameter[PER_BATCH];
    workload.network.per_item_s = parameter[PER_ITEM];
    workload.network.launch_bound_frac = parameter[LAUNCH];
    workload.training.train_step_s = parameter[TRAIN];
    workload.training.launch_bound_frac = parameter[TRAIN_LAUNCH];
    fulcrum_set_math_frac(&workload.network, parameter[MATH]);
    const struct fulcrum_gpu_scale scale =
        fulcrum_sm_scale(&workload.network, context->sm_count, point->sm_count);
    fulcrum_scale_gpu_times(&workload, &scale, 1);
    return point->batch > 0 ? workload.network.per_batch_s +
                                  workload.network.per_item_s * point->batch
                            : workload.training.train_step_s;
}

/* x is the index of the point. */
static double point_s(const double *parameter, double x, const void *context)
{
    const struct context *sweep = context;
    return time_of(parameter, sweep, &sweep->points[(size_t)x]);
}

static struct context context_of(const struct fulcrum_sm_point *points, double sm_count)
{
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    return (struct context){points, design.workload.network, sm_count};
}

static bool is_train(const struct fulcrum_sm_point *point)
{
    return !(point->batch > 0);
}

/* The time of the point nearest to `batch` on the most SMs there are; 0: none. */
static double start_s(const struct fulcrum_sm_point *points, size_t count, double batch)
{
    const struct fulcrum_sm_point *best = NULL;
    for (size_t i = 0; i < count; i++) {
        int fits = is_train(&points[i]) == !(batch > 0);
        if (!fits) {
            continue;
        }
        double off = fabs(points[i].batch - batch);
        double best_off = best != NULL ? fabs(best->batch - batch) : 0;
        bool is_better = best == NULL || off < best_off ||
                         (!(off > best_off) && points[i].sm_count > best->sm_count);
        best = is_better ? &points[i] : best;
    }
    return best != NULL ? best->time_s : 0;
}

static struct fulcrum_fit_parameter share(const char *name, double start)
{
    return (struct fulcrum_fit_parameter){.name = name,
        .scale = FULCRUM_SCALE_LINEAR,
        .low = least_share,
        .high = 1,
        .start = fmin(fmax(start, least_share), 1 - least_share),
        .prior_sd = share_sd,
        .start_step = share_sd};
}

static struct fulcrum_fit_parameter seconds(const char *name, double start)
{
    return (struct fulcrum_fit_parameter){.name = name,
        .scale = FULCRUM_SCALE_LINEAR,
        .high = (double)INFINITY,
        .start = start,
        .start_step = start};
}

/* Given, not fitted: no point depends on it. */
static struct fulcrum_fit_parameter given(const char *name, double value)
{
    return (struct fulcrum_fit_parameter){.name = name,
        .scale = FULCRUM_SCALE_LINEAR,
        .low = value,
        .high = value,
        .start = value};
}

static void fill_parameters(struct fulcrum_fit_parameter parameter[PARAMETERS],
    const struct context *context, size_t count)
{
    const struct fulcrum_sm_point *points = context->points;
    double most = 1;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, points[i].batch);
    }
    double train_s = start_s(points, count, 0);
    double least_s = start_s(points, count, 1);
    double rise_s = start_s(points, count, most) - least_s;
    double per_item_s = fmax(rise_s, 1e-3 * least_s) / most;
    parameter[PER_BATCH] = seconds("per_batch_s", least_s);
    parameter[PER_ITEM] = seconds("per_item_s", per_item_s);
    parameter[LAUNCH] = share("launch_bound_frac", context->shares.launch_bound_frac);
    parameter[MATH] = share("math_frac", context->shares.math_frac);
    parameter[TRAIN] =
        train_s > 0 ? seconds("train_step_s", train_s) : given("train_step_s", 0);
    parameter[TRAIN_LAUNCH] = train_s > 0 ? share("train_launch_bound_frac", share_sd)
                                          : given("train_launch_bound_frac", 0);
}

/* The least is there of what inference varies. */
static enum fulcrum_status check_points(const struct context *context, size_t count,
    double *room, struct fulcrum_error *err)
{
    double *x = room;
    double *y = room + count;
    size_t inferring = 0;
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_sm_point *point = &context->points[i];
        bool is_good = point->sm_count >= 1 && point->sm_count <= context->sm_count &&
                       point->batch >= 0 && isfinite(point->batch);
        FAIL_IF(!is_good, err, FULCRUM_ERR_RANGE,
            "SM sweep: a batch of %.6g on %.6g SMs, expected at least 0 and 1 to "
            "%.6g",
            point->batch, point->sm_count, context->sm_count);
        if (point->batch > 0) {
            x[inferring] = point->sm_count;
            y[inferring++] = point->batch;
        }
    }
    size_t sms = fulcrum_fit_distinct(x, inferring, LEAST_SM_COUNTS);
    size_t sizes = fulcrum_fit_distinct(y, inferring, LEAST_BATCHES);
    FAIL_IF(sms < LEAST_SM_COUNTS || sizes < LEAST_BATCHES, err, FULCRUM_ERR_NO_FIT,
        "SM sweep: inference of %zu batch sizes on %zu numbers of SMs, at least %d "
        "and %d expected",
        sizes, sms, LEAST_BATCHES, LEAST_SM_COUNTS);
    return FULCRUM_OK;
}

static enum fulcrum_status fit_points(struct fulcrum_sm_fit *out,
    const struct context *context, size_t count, double *room,
    struct fulcrum_error *err)
{
    struct fulcrum_fit_parameter parameter[PARAMETERS];
    struct fulcrum_fit_result fit;
    double *x = room;
    double *y = room + count;
    for (size_t i = 0; i < count; i++) {
        x[i] = (double)i;
        y[i] = context->points[i].time_s;
    }
    fill_parameters(parameter, context, count);
    const struct fulcrum_fit_problem problem = {.what = "SM sweep",
        .model = point_s,
        .context = context,
        .parameter = parameter,
        .parameter_count = PARAMETERS,
        .x = x,
        .y = y,
        .count = count,
        .noise_rel = noise_rel,
        .start_count = 4};
    TRY(fulcrum_fit(&fit, &problem, err));
    bool has_train = fit.parameter[TRAIN].value > 0;
    *out = (struct fulcrum_sm_fit){.sm_count = context->sm_count,
        .per_batch_s = fit.parameter[PER_BATCH].value,
        .per_item_s = fit.parameter[PER_ITEM].value,
        .train_step_s = has_train ? fit.parameter[TRAIN].value : (double)NAN,
        .launch_bound_frac = fit.parameter[LAUNCH].value,
        .math_frac = fit.parameter[MATH].value,
        .train_launch_bound_frac =
            has_train ? fit.parameter[TRAIN_LAUNCH].value : (double)NAN,
        .fit = fit};
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_fit_sm(struct fulcrum_sm_fit *out,
    const struct fulcrum_sm_point *points, size_t count, double sm_count,
    struct fulcrum_error *err)
{
    const struct context context = context_of(points, sm_count);
    double *room = calloc(2 * count + 1, sizeof *room);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_MEMORY(room, err, "SM sweep");
    TRY_OR_END(check_points(&context, count, room, err));
    status = fit_points(out, &context, count, room, err);
end:
    free(room);
    return status;
}

double fulcrum_sm_fit_s(
    const struct fulcrum_sm_fit *fit, const struct fulcrum_sm_point *point)
{
    const struct context context = context_of(point, fit->sm_count);
    const double parameter[PARAMETERS] = {[PER_BATCH] = fit->per_batch_s,
        [PER_ITEM] = fit->per_item_s,
        [LAUNCH] = fit->launch_bound_frac,
        [MATH] = fit->math_frac,
        [TRAIN] = fit->train_step_s,
        [TRAIN_LAUNCH] = fit->train_launch_bound_frac};
    return time_of(parameter, &context, point);
}
