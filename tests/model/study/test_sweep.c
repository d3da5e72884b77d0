/* test_sweep.c - grids in order, in blocks, with actors that follow or are chosen. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/study/sweep.h"

#include <stdbool.h>
#include <string.h>

#include "model/quantity.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

enum { POINTS_MOST = 256 };

/* What visits collect. */
struct visited {
    size_t count;
    size_t visits;
    size_t stop_after;
    struct fulcrum_sweep_point points[POINTS_MOST];
    char reasons[POINTS_MOST][FULCRUM_REASON_BYTE];
};

static int collect(
    void *context, const struct fulcrum_sweep_point *points, size_t count)
{
    struct visited *visited = context;
    for (size_t i = 0; i < count && visited->count < POINTS_MOST; i++) {
        visited->points[visited->count] = points[i];
        memcpy(visited->reasons[visited->count++], points[i].reason,
            strlen(points[i].reason) + 1);
    }
    visited->visits++;
    return visited->count >= visited->stop_after;
}

static enum fulcrum_status sweep(const struct fulcrum_design *design,
    const struct fulcrum_sweep_plan *plan, struct visited *out)
{
    struct fulcrum_scenario_inputs inputs = {.base = design};
    struct fulcrum_scenario *scenario = NULL;
    ASSERT_OK(fulcrum_scenario_new(&inputs, &scenario, NULL));
    const struct fulcrum_sweep_visitor visitor = {.context = out, .visit = collect};
    enum fulcrum_status status = fulcrum_sweep_run(scenario, plan, &visitor, NULL);
    fulcrum_scenario_free(scenario);
    return status;
}

TEST(test_a_grid_is_visited_in_order)
{
    static const double steps[] = {1e-3, 2e-3};
    static const double actors[] = {10, 20, 41};
    const struct fulcrum_sweep_axis axes[] = {
        {fulcrum_field_find("workload.step.mean_s"), steps, 2},
        {fulcrum_field_find("run.actor_count"), actors, 3}};
    struct fulcrum_sweep_plan plan = {
        .axes = axes, .axis_count = 2, .predict = {.solver = {.seed = 1}}};
    static struct visited visited;
    struct fulcrum_design design;
    designs_gpu(&design);
    design.run.gpu_count = 2;
    visited = (struct visited){.stop_after = POINTS_MOST};
    CU_ASSERT_EQUAL(fulcrum_sweep_count(&plan), 6);
    ASSERT_OK(sweep(&design, &plan, &visited));
    CU_ASSERT_EQUAL(visited.count, 6);
    for (size_t i = 0; i < visited.count; i++) {
        CU_ASSERT_EQUAL(visited.points[i].index, i);
        CU_ASSERT_EQUAL(visited.points[i].varied[0], steps[i / 3]);
        CU_ASSERT_EQUAL(visited.points[i].varied[1], actors[i % 3]);
        /* 41 actors cannot be shared by two GPUs: the point keeps its place. */
        CU_ASSERT_EQUAL(
            visited.points[i].status, i % 3 == 2 ? FULCRUM_ERR_INFEASIBLE : FULCRUM_OK);
        CU_ASSERT((i % 3 == 2) == (visited.reasons[i][0] != '\0'));
    }
    visited = (struct visited){.stop_after = 2};
    CU_ASSERT_EQUAL(sweep(&design, &plan, &visited), FULCRUM_ERR_INTERRUPTED);
    CU_ASSERT(visited.count >= 2);
    plan.axis_count = FULCRUM_SWEEP_AXES_MOST + 1;
    CU_ASSERT_EQUAL(sweep(&design, &plan, &visited), FULCRUM_ERR_RANGE);
}

TEST(test_actors_follow_threads_or_are_the_best_of_a_list)
{
    static const double threads[] = {40, 80};
    static const double choices[] = {2, 64, 4096};
    const struct fulcrum_sweep_axis axis = {
        fulcrum_field_find("machine.cpu.thread_count"), threads, 2};
    struct fulcrum_sweep_plan plan = {.axes = &axis,
        .axis_count = 1,
        .predict = {.solver = {.seed = 1}},
        .actors_per_thread = 6.4};
    static struct visited visited;
    struct fulcrum_design design;
    designs_gpu(&design);
    visited = (struct visited){.stop_after = POINTS_MOST};
    ASSERT_OK(sweep(&design, &plan, &visited));
    CU_ASSERT_EQUAL(visited.points[0].prediction.actor_count, 256.0);
    CU_ASSERT_EQUAL(visited.points[1].prediction.actor_count, 512.0);
    plan.actors_per_thread = 0;
    plan.actor_choices = choices;
    plan.actor_choice_count = 3;
    visited = (struct visited){.stop_after = POINTS_MOST};
    ASSERT_OK(sweep(&design, &plan, &visited));
    CU_ASSERT_EQUAL(visited.points[0].prediction.actor_count, 4096.0);
}

TEST(test_a_reason_is_one_line_of_whole_faults)
{
    static const double actors[] = {4};
    const struct fulcrum_sweep_axis axis = {
        fulcrum_field_find("run.actor_count"), actors, 1};
    const struct fulcrum_sweep_plan plan = {.axes = &axis, .axis_count = 1};
    static struct visited visited;
    struct fulcrum_design design;
    designs_gpu(&design);
    design.workload.step.mean_s = FULCRUM_UNKNOWN;
    design.workload.step.cv = FULCRUM_UNKNOWN;
    design.workload.network.per_batch_s = FULCRUM_UNKNOWN;
    design.workload.network.per_item_s = FULCRUM_UNKNOWN;
    visited = (struct visited){.stop_after = POINTS_MOST};
    ASSERT_OK(sweep(&design, &plan, &visited));
    const char *reason = visited.reasons[0];
    CU_ASSERT_PTR_NULL(strchr(reason, '\n'));
    CU_ASSERT_PTR_NOT_NULL(strstr(reason, "; workload.step.cv is not given"));
    CU_ASSERT_PTR_NOT_NULL(strstr(reason, "workload.network.per_item_s is not given"));
}

/* A sweep of several blocks, or of few points: with many visits, threads often wait. */
enum { STEPS = 7, MANY_ACTORS = 6000, FEW_ACTORS = 200 };

struct watch {
    enum fulcrum_sweep_wish wish;
    size_t actor_count;                   /* values of the second axis */
    size_t next;                          /* the point that must be visited next */
    size_t faults;                        /* points out of order, or not prepared */
    size_t largest;                       /* visit */
    size_t smallest;                      /* visit but the last */
    size_t stop_after;                    /* points; 0: never */
    size_t prepared[FULCRUM_SWEEP_BLOCK]; /* index + 1 of the point last seen there */
};

static enum fulcrum_sweep_wish wish_of(void *context)
{
    const struct watch *watch = context;
    return watch->wish;
}

static void note_prepared(
    void *context, size_t slot, const struct fulcrum_sweep_point *point)
{
    struct watch *watch = context;
    watch->prepared[slot] = point->index + 1;
}

static int check_block(
    void *context, const struct fulcrum_sweep_point *points, size_t count)
{
    struct watch *watch = context;
    for (size_t i = 0; i < count; i++) {
        watch->faults += points[i].index != watch->next;
        watch->faults += watch->prepared[i] != watch->next + 1;
        watch->next++;
    }
    bool is_last = watch->next == STEPS * watch->actor_count;
    watch->largest = count > watch->largest ? count : watch->largest;
    if (!is_last && (watch->smallest == 0 || count < watch->smallest)) {
        watch->smallest = count;
    }
    return watch->stop_after > 0 && watch->next >= watch->stop_after;
}

static enum fulcrum_status run_long(struct watch *watch)
{
    static double actors[MANY_ACTORS];
    static const double steps[STEPS] = {1e-3, 2e-3, 3e-3, 4e-3, 5e-3, 6e-3, 7e-3};
    for (size_t i = 0; i < MANY_ACTORS; i++) {
        actors[i] = (double)i + 1.5; /* no whole number: refused without solving */
    }
    const struct fulcrum_sweep_axis axes[] = {
        {fulcrum_field_find("workload.step.mean_s"), steps, STEPS},
        {fulcrum_field_find("run.actor_count"), actors, watch->actor_count}};
    const struct fulcrum_sweep_plan plan = {.axes = axes, .axis_count = 2};
    const struct fulcrum_sweep_visitor visitor = {
        watch, wish_of, note_prepared, check_block};
    struct fulcrum_design design;
    designs_gpu(&design);
    struct fulcrum_scenario_inputs inputs = {.base = &design};
    struct fulcrum_scenario *scenario = NULL;
    ASSERT_OK(fulcrum_scenario_new(&inputs, &scenario, NULL));
    enum fulcrum_status status = fulcrum_sweep_run(scenario, &plan, &visitor, NULL);
    fulcrum_scenario_free(scenario);
    return status;
}

static struct watch visits_with(enum fulcrum_sweep_wish wish, size_t actor_count)
{
    struct watch watch = {.wish = wish, .actor_count = actor_count};
    ASSERT_OK(run_long(&watch));
    CU_ASSERT_EQUAL(watch.next, STEPS * actor_count);
    CU_ASSERT_EQUAL(watch.faults, 0);
    return watch;
}

TEST(test_points_are_prepared_and_then_visited_whatever_is_wished)
{
    struct watch full = visits_with(FULCRUM_SWEEP_GO_ON, MANY_ACTORS);
    CU_ASSERT_EQUAL(full.smallest, FULCRUM_SWEEP_BLOCK);
    CU_ASSERT_EQUAL(full.largest, FULCRUM_SWEEP_BLOCK);
    struct watch soon = visits_with(FULCRUM_SWEEP_VISIT_SOON, FEW_ACTORS);
    CU_ASSERT(soon.smallest >= 1);
    CU_ASSERT(soon.largest < (size_t)STEPS * FEW_ACTORS);
    struct watch now = visits_with(FULCRUM_SWEEP_VISIT_NOW, FEW_ACTORS);
    CU_ASSERT(now.smallest >= 1);
    CU_ASSERT(now.largest < (size_t)STEPS * FEW_ACTORS);
}

TEST(test_a_sweep_stops_after_the_visit_that_says_so)
{
    static struct watch watch;
    watch = (struct watch){
        .wish = FULCRUM_SWEEP_VISIT_NOW, .actor_count = FEW_ACTORS, .stop_after = 1};
    CU_ASSERT_EQUAL(run_long(&watch), FULCRUM_ERR_INTERRUPTED);
    CU_ASSERT(watch.next >= 1 && watch.next < (size_t)STEPS * FEW_ACTORS);
    CU_ASSERT_EQUAL(watch.next, watch.largest);
}
