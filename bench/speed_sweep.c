/* speed_sweep.c - a grid of predictions that is timed, without writing it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/speed_sweep.h"

#include <math.h>
#include <stdlib.h>

#include "cli/allocate.h"
#include "cli/design_options.h"
#include "model/sweep.h"
#include "model/try.h"

enum { THREADS = 16, ACTORS = 64 };

/* The shipped workload whose every number is given by presets. */
#define MACHINE  "dgx-1"
#define WORKLOAD "r2d2-atari"
#define GREEDY   "workload.batching.policy=greedy"

struct fulcrum_speed_sweep {
    struct fulcrum_design_settings settings;
    const char *sets[1];
    struct fulcrum_design_inputs inputs;
    struct fulcrum_scenario *scenario;
    struct fulcrum_sweep_axis axes[2];
    double threads[THREADS];
    double actors[ACTORS];
};

static void fill_axes(struct fulcrum_speed_sweep *sweep)
{
    for (size_t i = 0; i < THREADS; i++) {
        sweep->threads[i] = 16.0 * (double)(i + 1);
    }
    for (size_t i = 0; i < ACTORS; i++) {
        sweep->actors[i] = 8.0 * (double)(i + 1);
    }
    sweep->axes[0] = (struct fulcrum_sweep_axis){
        fulcrum_field_find("machine.cpu.thread_count"), sweep->threads, THREADS};
    sweep->axes[1] = (struct fulcrum_sweep_axis){
        fulcrum_field_find("run.actor_count"), sweep->actors, ACTORS};
}

enum fulcrum_status fulcrum_speed_sweep_new(struct fulcrum_speed_sweep **out,
    enum fulcrum_speed_batches batches, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct fulcrum_speed_sweep *sweep = fulcrum_allocate(1, sizeof *sweep);
    sweep->settings.machine = MACHINE;
    sweep->settings.workload = WORKLOAD;
    sweep->settings.actor_count = (double)NAN;
    sweep->sets[0] = GREEDY;
    if (batches == FULCRUM_SPEED_GREEDY) {
        sweep->settings.sets = (struct fulcrum_text_list){1, sweep->sets};
    }
    fill_axes(sweep);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(
        fulcrum_design_inputs_load(&sweep->settings, context, &sweep->inputs, err));
    TRY_OR_END(fulcrum_scenario_new(&sweep->inputs.scenario, &sweep->scenario, err));
    *out = sweep;
    return FULCRUM_OK;
end:
    fulcrum_speed_sweep_free(sweep);
    return status;
}

void fulcrum_speed_sweep_free(struct fulcrum_speed_sweep *sweep)
{
    if (sweep == NULL) {
        return;
    }
    fulcrum_scenario_free(sweep->scenario);
    fulcrum_design_inputs_free(&sweep->inputs);
    free(sweep);
}

/* Stops at a point without a prediction: a sweep of failures would be fast. */
static int count_points(
    void *context, const struct fulcrum_sweep_point *points, size_t count)
{
    double *done = context;
    for (size_t i = 0; i < count; i++) {
        if (points[i].status != FULCRUM_OK) {
            return 1;
        }
    }
    *done += (double)count;
    return 0;
}

enum fulcrum_status fulcrum_speed_sweep_run(const struct fulcrum_speed_sweep *sweep,
    size_t threads, double *points, struct fulcrum_error *err)
{
    const struct fulcrum_sweep_plan plan = {.axes = sweep->axes,
        .axis_count = 2,
        .predict.solver.method = FULCRUM_METHOD_FAST,
        .thread_count = threads};
    double done = 0.0;
    const struct fulcrum_sweep_visitor visitor = {
        .context = &done, .visit = count_points};
    enum fulcrum_status status =
        fulcrum_sweep_run(sweep->scenario, &plan, &visitor, err);
    if (status == FULCRUM_ERR_INTERRUPTED) {
        return fulcrum_fail(
            err, FULCRUM_ERR_INFEASIBLE, "a point of the sweep has no prediction");
    }
    *points = done;
    return status;
}
