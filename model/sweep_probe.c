/* sweep_probe.c - single points of a sweep, in any order. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/sweep_probe.h"

#include <math.h>
#include <stdlib.h>

#include "model/lower.h"
#include "model/quantity.h"
#include "model/try.h"

struct fulcrum_sweep_probe {
    const struct fulcrum_sweep_plan *plan;
    const struct fulcrum_field *actors;
    struct fulcrum_predictor *predictor;
    struct fulcrum_setting settings[FULCRUM_SWEEP_AXES_MOST + 1]; /* of the point */
    size_t setting_count;
};

enum fulcrum_status fulcrum_sweep_probe_new(const struct fulcrum_scenario *scenario,
    const struct fulcrum_sweep_plan *plan, struct fulcrum_sweep_probe **out,
    struct fulcrum_error *err)
{
    struct fulcrum_sweep_probe *probe = calloc(1, sizeof *probe);
    if (probe == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "points of a sweep");
    }
    probe->plan = plan;
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

static void fill_varied(const struct fulcrum_sweep_plan *plan, size_t index,
    struct fulcrum_sweep_point *point)
{
    point->index = index;
    for (size_t i = plan->axis_count; i-- > 0;) {
        const struct fulcrum_sweep_axis *axis = &plan->axes[i];
        point->varied[i] = axis->values[index % axis->count];
        index /= axis->count;
    }
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

static int has_actors_rule(const struct fulcrum_sweep_plan *plan)
{
    return plan->actor_choice_count > 0 || plan->actors_per_thread > 0.0;
}

static enum fulcrum_status predict_with_draws(struct fulcrum_sweep_probe *probe,
    double draws, struct fulcrum_sweep_point *out, struct fulcrum_error *err)
{
    struct fulcrum_point point = {probe->settings, probe->setting_count, 0, 0};
    struct fulcrum_predict_options options = probe->plan->predict;
    options.point_index = out->index;
    options.draws = draws;
    return fulcrum_predictor_run(
        probe->predictor, &point, &options, &out->prediction, err);
}

double fulcrum_actors_for_threads(
    const struct fulcrum_design *design, double actors_per_thread)
{
    double shards = fulcrum_shard_count(design);
    double actors = design->machine.cpu.thread_count * actors_per_thread;
    return shards * fmax(1.0, round(actors / shards));
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

/* Tries every actor count without intervals; the best one is then predicted in full. */
static enum fulcrum_status choose_actors(struct fulcrum_sweep_probe *probe,
    struct fulcrum_sweep_point *out, struct fulcrum_error *err)
{
    const struct fulcrum_sweep_plan *plan = probe->plan;
    double best_actors = FULCRUM_UNKNOWN;
    double best_steps_per_s = 0.0;
    enum fulcrum_status status = FULCRUM_ERR_INFEASIBLE;
    for (size_t i = 0; i < plan->actor_choice_count; i++) {
        set_actors(probe, plan->actor_choices[i]);
        enum fulcrum_status tried = predict_with_draws(probe, 0.0, out, err);
        double steps_per_s = out->prediction.value[FULCRUM_OUTPUT_steps_per_s];
        if (tried == FULCRUM_OK && steps_per_s > best_steps_per_s) {
            best_steps_per_s = steps_per_s;
            best_actors = plan->actor_choices[i];
        }
        status = tried == FULCRUM_OK || status == FULCRUM_OK ? FULCRUM_OK : tried;
    }
    set_actors(probe, best_actors);
    return status;
}

enum fulcrum_status fulcrum_sweep_probe_point(struct fulcrum_sweep_probe *probe,
    size_t index, struct fulcrum_sweep_point *out, struct fulcrum_error *err)
{
    const struct fulcrum_sweep_plan *plan = probe->plan;
    enum fulcrum_status status = FULCRUM_OK;
    fill_varied(plan, index, out);
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
    const struct fulcrum_sweep_point *point, size_t draw, double *values,
    struct fulcrum_error *err)
{
    set_axes(probe, point);
    if (has_actors_rule(probe->plan)) {
        set_actors(probe, point->prediction.actor_count);
    }
    struct fulcrum_point drawn = {
        probe->settings, probe->setting_count, (uint64_t)draw, 0};
    struct fulcrum_predict_options options = probe->plan->predict;
    options.point_index = point->index;
    /* Draws are simulated where the point was. */
    if (point->prediction.method == FULCRUM_METHOD_SIMULATE) {
        options.solver.method = FULCRUM_METHOD_SIMULATE;
    }
    return fulcrum_predictor_draw(probe->predictor, &drawn, &options, values, err);
}
