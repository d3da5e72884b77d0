/* sweep.c - predictions over a grid of design points, in order and in bounded memory.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Points are solved in blocks of a few, in parallel within a block, and visited in
 * order after it. So a sweep of millions needs the memory of one block, the visitor
 * need not be thread-safe, and the bytes of the output do not depend on the number of
 * threads: every point has a random stream of its own (stream.c).
 */
#include "model/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/quantity.h"

/* Points between two visits: enough to keep threads busy, few enough for Ctrl-C. */
enum { BLOCK = 16 };

size_t fulcrum_sweep_count(const struct fulcrum_sweep_plan *plan)
{
    const double most = 9007199254740992.0; /* 2^53: indices stay exact as doubles */
    double count = 1.0;
    for (size_t i = 0; i < plan->axis_count; i++) {
        count *= (double)plan->axes[i].count;
    }
    return count <= most ? (size_t)count : 0;
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

/* The settings of one point, with room for the actors behind the axes. */
struct point_settings {
    struct fulcrum_setting items[FULCRUM_SWEEP_AXES_MOST + 1];
    size_t count;
};

static void set_actors(
    struct point_settings *settings, size_t axis_count, double actors)
{
    settings->items[axis_count] =
        (struct fulcrum_setting){fulcrum_field_find("run.actor_count"), actors, NULL};
    settings->count = axis_count + 1;
}

static enum fulcrum_status predict_with(const struct fulcrum_scenario *scenario,
    const struct fulcrum_sweep_plan *plan, const struct point_settings *settings,
    struct fulcrum_sweep_point *out, struct fulcrum_error *err)
{
    struct fulcrum_point point = {settings->items, settings->count, 0, 0};
    struct fulcrum_predict_options options = plan->predict;
    options.point_index = out->index;
    return fulcrum_predict(scenario, &point, &options, &out->prediction, err);
}

/*
 * Threads of the point times actors_per_thread, rounded to a multiple of the GPUs or
 * learner cores that share the actors, at least one each.
 */
static enum fulcrum_status follow_threads(const struct fulcrum_scenario *scenario,
    const struct fulcrum_sweep_plan *plan, struct point_settings *settings,
    struct fulcrum_error *err)
{
    struct fulcrum_design *design = calloc(1, sizeof *design);
    if (design == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a design point");
    }
    set_actors(settings, plan->axis_count, 1.0);
    struct fulcrum_point point = {settings->items, settings->count, 0, 0};
    enum fulcrum_status status = fulcrum_scenario_design(scenario, &point, design, err);
    if (status == FULCRUM_OK) {
        double shards = design->machine.accelerator == FULCRUM_ACCELERATOR_GPU
                            ? design->run.gpu_count
                            : design->machine.learner_core_count;
        double actors = design->machine.cpu.thread_count * plan->actors_per_thread;
        set_actors(
            settings, plan->axis_count, shards * fmax(1.0, round(actors / shards)));
    }
    free(design);
    return status;
}

/* Tries every actor count without intervals, then predicts the best one in full. */
static enum fulcrum_status choose_actors(const struct fulcrum_scenario *scenario,
    const struct fulcrum_sweep_plan *plan, struct point_settings *settings,
    struct fulcrum_sweep_point *out, struct fulcrum_error *err)
{
    struct fulcrum_sweep_plan bare = *plan;
    bare.predict.draws = 0.0;
    double best_actors = FULCRUM_UNKNOWN;
    double best_steps_per_s = 0.0;
    enum fulcrum_status status = FULCRUM_ERR_INFEASIBLE;
    for (size_t i = 0; i < plan->actor_choice_count; i++) {
        set_actors(settings, plan->axis_count, plan->actor_choices[i]);
        enum fulcrum_status tried = predict_with(scenario, &bare, settings, out, err);
        double steps_per_s = out->prediction.value[FULCRUM_OUTPUT_steps_per_s];
        if (tried == FULCRUM_OK && steps_per_s > best_steps_per_s) {
            best_steps_per_s = steps_per_s;
            best_actors = plan->actor_choices[i];
        }
        status = tried == FULCRUM_OK || status == FULCRUM_OK ? FULCRUM_OK : tried;
    }
    set_actors(settings, plan->axis_count, best_actors);
    return status;
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

static void predict_point(const struct fulcrum_scenario *scenario,
    const struct fulcrum_sweep_plan *plan, size_t index,
    struct fulcrum_sweep_point *out)
{
    struct fulcrum_error err = {FULCRUM_OK, ""};
    struct point_settings settings = {.count = plan->axis_count};
    *out = (struct fulcrum_sweep_point){0};
    fill_varied(plan, index, out);
    for (size_t i = 0; i < plan->axis_count; i++) {
        settings.items[i] =
            (struct fulcrum_setting){plan->axes[i].field, out->varied[i], NULL};
    }
    out->status = FULCRUM_OK;
    if (plan->actor_choice_count > 0) {
        out->status = choose_actors(scenario, plan, &settings, out, &err);
    } else if (plan->actors_per_thread > 0.0) {
        out->status = follow_threads(scenario, plan, &settings, &err);
    }
    if (out->status == FULCRUM_OK) {
        out->status = predict_with(scenario, plan, &settings, out, &err);
    }
    if (out->status != FULCRUM_OK) {
        join_lines(out->reason, sizeof out->reason, err.detail);
    }
}

static void predict_block(const struct fulcrum_scenario *scenario,
    const struct fulcrum_sweep_plan *plan, size_t first, size_t count,
    struct fulcrum_sweep_point *block)
{
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1)
#endif
    for (size_t i = 0; i < count; i++) {
        predict_point(scenario, plan, first + i, &block[i]);
    }
}

enum fulcrum_status fulcrum_sweep_run(const struct fulcrum_scenario *scenario,
    const struct fulcrum_sweep_plan *plan, fulcrum_sweep_visit *visit, void *context,
    struct fulcrum_error *err)
{
    size_t count =
        plan->axis_count <= FULCRUM_SWEEP_AXES_MOST ? fulcrum_sweep_count(plan) : 0;
    if (count == 0) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "a sweep takes up to %d fields and 2^53 points",
            (int)FULCRUM_SWEEP_AXES_MOST);
    }
    struct fulcrum_sweep_point *block = calloc(BLOCK, sizeof *block);
    if (block == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a block of a sweep");
    }
    int stop = 0;
    for (size_t first = 0; first < count && !stop; first += BLOCK) {
        size_t end = count - first < BLOCK ? count : first + BLOCK;
        size_t length = end - first;
        predict_block(scenario, plan, first, length, block);
        for (size_t i = 0; i < length && !stop; i++) {
            stop = visit(context, &block[i]);
        }
    }
    free(block);
    return stop ? fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED, "the sweep was stopped")
                : FULCRUM_OK;
}
