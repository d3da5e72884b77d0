/* test_sweep.c - grids in order, in blocks, beside a point; fronts of them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/study/sweep.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "model/number.h"
#include "model/study/study.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

enum { POINTS_MOST = 256 };

/* What visits collect. */
struct visited {
    size_t count;
    size_t stop_after;                 /* 0: never */
    struct fulcrum_sweep_front *front; /* gets the points; NULL: none */
    struct fulcrum_sweep_point points[POINTS_MOST];
    char reasons[POINTS_MOST][FULCRUM_REASON_BYTE];
};

static int collect(
    void *context, size_t slot, const struct fulcrum_sweep_point *points, size_t count)
{
    (void)slot;
    struct visited *visited = context;
    for (size_t i = 0; i < count && visited->count < POINTS_MOST; i++) {
        visited->points[visited->count] = points[i];
        memcpy(visited->reasons[visited->count++], points[i].reason,
            strlen(points[i].reason) + 1);
    }
    if (visited->front != NULL) {
        ASSERT_OK(fulcrum_sweep_front_add(visited->front, points, count, NULL));
    }
    return visited->stop_after > 0 && visited->count >= visited->stop_after;
}

static enum fulcrum_status visit(const struct fulcrum_scenario *scenario,
    const struct fulcrum_sweep_plan *plan, struct visited *out)
{
    const struct fulcrum_sweep_visitor visitor = {.context = out, .visit = collect};
    out->count = 0;
    return fulcrum_sweep_run(scenario, plan, &visitor, NULL);
}

static struct fulcrum_scenario *scenario_of(const struct fulcrum_design *design)
{
    const struct fulcrum_scenario_inputs inputs = {.base = design};
    struct fulcrum_scenario *scenario = NULL;
    ASSERT_OK(fulcrum_scenario_new(&inputs, &scenario, NULL));
    return scenario;
}

/* A design with a GPU, swept along one field by equations. */
struct line {
    struct fulcrum_design design;
    struct fulcrum_sweep_axis axis;
    struct fulcrum_sweep_plan plan;
};

static void draw_line(
    struct line *line, const char *path, const double *values, size_t count)
{
    line->design = gpu_design();
    line->axis = (struct fulcrum_sweep_axis){fulcrum_field_find(path), values, count};
    line->plan = (struct fulcrum_sweep_plan){.axes = &line->axis,
        .axis_count = 1,
        .predict = {.solver = {.seed = 1, .method = FULCRUM_METHOD_FAST}}};
}

static enum fulcrum_status sweep(const struct fulcrum_design *design,
    const struct fulcrum_sweep_plan *plan, struct visited *out)
{
    struct fulcrum_scenario *scenario = scenario_of(design);
    enum fulcrum_status status = visit(scenario, plan, out);
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
    struct fulcrum_design design = gpu_design();
    design.run.gpu_count = 2;
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
    visited.stop_after = 2;
    CU_ASSERT_EQUAL(sweep(&design, &plan, &visited), FULCRUM_ERR_INTERRUPTED);
    CU_ASSERT(visited.count >= 2);
    plan.axis_count = FULCRUM_SWEEP_AXES_MOST + 1;
    CU_ASSERT_EQUAL(sweep(&design, &plan, &visited), FULCRUM_ERR_RANGE);
}

TEST(test_actors_follow_threads_or_are_the_best_of_a_list)
{
    static const double threads[] = {40, 80};
    static const double choices[] = {2, 64, 4096};
    static struct visited visited;
    struct line line;
    draw_line(&line, "machine.cpu.thread_count", threads, 2);
    line.plan.actors_per_thread = 6.4;
    ASSERT_OK(sweep(&line.design, &line.plan, &visited));
    CU_ASSERT_EQUAL(visited.points[0].prediction.actor_count, 256.0);
    CU_ASSERT_EQUAL(visited.points[1].prediction.actor_count, 512.0);
    line.plan.actors_per_thread = 0;
    line.plan.actor_choices = choices;
    line.plan.actor_choice_count = 3;
    ASSERT_OK(sweep(&line.design, &line.plan, &visited));
    CU_ASSERT_EQUAL(visited.points[0].prediction.actor_count, 4096.0);
}

TEST(test_a_reason_is_one_line_of_whole_faults)
{
    static const double actors[] = {4};
    static struct visited visited;
    struct line line;
    draw_line(&line, "run.actor_count", actors, 1);
    line.design.workload.step.mean_s = FULCRUM_UNKNOWN;
    line.design.workload.step.cv = FULCRUM_UNKNOWN;
    line.design.workload.network.per_batch_s = FULCRUM_UNKNOWN;
    line.design.workload.network.per_item_s = FULCRUM_UNKNOWN;
    ASSERT_OK(sweep(&line.design, &line.plan, &visited));
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
    void *context, size_t slot, const struct fulcrum_sweep_point *points, size_t count)
{
    struct watch *watch = context;
    for (size_t i = 0; i < count; i++) {
        watch->faults += points[i].index != watch->next;
        watch->faults += watch->prepared[slot + i] != watch->next + 1;
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
    struct fulcrum_design design = gpu_design();
    struct fulcrum_scenario *scenario = scenario_of(&design);
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
    CU_ASSERT_EQUAL(full.smallest, FULCRUM_SWEEP_BLOCK / 2);
    CU_ASSERT_EQUAL(full.largest, FULCRUM_SWEEP_BLOCK / 2);
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

/* Ratios of two points, draw by draw. */
enum { RELATIVE_DRAWS = 61 };

/* The sweep of `plan` beside its point `index`; steps of 2 ms are known to 20 %. */
static void sweep_beside(const struct fulcrum_design *design,
    struct fulcrum_sweep_plan *plan, size_t index, struct visited *out)
{
    struct fulcrum_calibration *calibration =
        designs_calibration(design, "workload.step.mean_s", 2e-3, 4e-4);
    const struct fulcrum_calibration *calibrations[] = {calibration};
    struct fulcrum_scenario_inputs inputs = {
        .base = design, .calibrations = calibrations, .calibration_count = 1};
    struct fulcrum_scenario *scenario = NULL;
    struct fulcrum_study *yardstick = NULL;
    ASSERT_OK(fulcrum_scenario_new(&inputs, &scenario, NULL));
    ASSERT_OK(fulcrum_sweep_yardstick(scenario, plan, index, &yardstick, NULL));
    plan->yardstick = yardstick;
    ASSERT_OK(visit(scenario, plan, out));
    fulcrum_study_free(yardstick);
    fulcrum_scenario_free(scenario);
    fulcrum_calibration_free(calibration);
}

/* What dividing the ends of the two intervals would give. */
static double width_of_ends(
    const struct fulcrum_prediction *a, const struct fulcrum_prediction *b)
{
    const size_t rate = FULCRUM_OUTPUT_steps_per_s;
    return a->hi[rate] / b->lo[rate] - a->lo[rate] / b->hi[rate];
}

/* Two GPUs with 80 threads and twice the actors are two of one GPU with 40, whatever a
 * step takes: the ratio is 2 in every draw, though neither rate is known to 20 %. */
TEST(test_twice_the_machine_is_twice_as_fast_in_every_draw)
{
    static const double gpus[] = {1, 2};
    static const double threads[] = {40, 80};
    const struct fulcrum_sweep_axis axes[] = {
        {fulcrum_field_find("run.gpu_count"), gpus, 2},
        {fulcrum_field_find("machine.cpu.thread_count"), threads, 2}};
    struct fulcrum_sweep_plan plan = {.axes = axes,
        .axis_count = 2,
        .predict = {.solver = {.seed = 1, .method = FULCRUM_METHOD_FAST},
            .draws = RELATIVE_DRAWS},
        .actors_per_thread = 2};
    struct fulcrum_design design = gpu_design();
    static struct visited visited;
    sweep_beside(&design, &plan, 0, &visited);
    CU_ASSERT_EQUAL_FATAL(visited.count, 4);
    const struct fulcrum_sweep_point *one = &visited.points[0];
    const struct fulcrum_sweep_point *two = &visited.points[3];
    assert_close("itself", one->relative[FULCRUM_RELATIVE_SPEEDUP].lo, 1.0, 0.0);
    assert_close("itself", one->relative[FULCRUM_RELATIVE_RUNTIME].hi, 1.0, 0.0);
    const struct fulcrum_ratio *speedup = &two->relative[FULCRUM_RELATIVE_SPEEDUP];
    const struct fulcrum_ratio *runtime = &two->relative[FULCRUM_RELATIVE_RUNTIME];
    assert_close("speedup", speedup->value, 2.0, 1e-12);
    assert_close("lo", speedup->lo, 2.0, 1e-12);
    assert_close("hi", speedup->hi, 2.0, 1e-12);
    assert_close("runtime lo", runtime->lo, 0.5, 1e-12);
    assert_close("runtime hi", runtime->hi, 0.5, 1e-12);
    CU_ASSERT(width_of_ends(&two->prediction, &one->prediction) > 0.5);
}

/* Few actors wait for steps, many for the GPU: the ratio varies, but less than ends. */
TEST(test_a_ratio_is_narrower_than_the_ratio_of_ends)
{
    static const double actors[] = {4, 8, 64};
    static struct visited visited;
    struct line line;
    draw_line(&line, "run.actor_count", actors, 3);
    line.plan.predict.draws = RELATIVE_DRAWS;
    sweep_beside(&line.design, &line.plan, 1, &visited);
    CU_ASSERT_EQUAL_FATAL(visited.count, 3);
    const struct fulcrum_prediction *middle = &visited.points[1].prediction;
    for (size_t i = 0; i < visited.count; i += 2) {
        const struct fulcrum_sweep_point *point = &visited.points[i];
        const struct fulcrum_ratio *speedup =
            &point->relative[FULCRUM_RELATIVE_SPEEDUP];
        const struct fulcrum_ratio *runtime =
            &point->relative[FULCRUM_RELATIVE_RUNTIME];
        /* Medians of an odd number of draws: both are of the same draw. */
        assert_close("inverse", speedup->value * runtime->value, 1.0, 1e-12);
        CU_ASSERT(speedup->lo < speedup->value && speedup->value < speedup->hi);
        CU_ASSERT(runtime->lo < runtime->value && runtime->value < runtime->hi);
        double ends = width_of_ends(&point->prediction, middle);
        CU_ASSERT(speedup->hi - speedup->lo < 0.3 * ends);
    }
}

TEST(test_without_draws_there_is_a_ratio_and_no_interval)
{
    static const double actors[] = {4, 8};
    static struct visited visited;
    struct line line;
    draw_line(&line, "run.actor_count", actors, 2);
    sweep_beside(&line.design, &line.plan, 0, &visited);
    CU_ASSERT_EQUAL_FATAL(visited.count, 2);
    for (size_t i = 0; i < FULCRUM_RELATIVE_COUNT; i++) {
        CU_ASSERT(visited.points[1].relative[i].value > 0.0);
        CU_ASSERT(isnan(visited.points[1].relative[i].lo));
        CU_ASSERT(isnan(visited.points[1].relative[i].hi));
    }
}

TEST(test_a_point_that_cannot_run_is_no_yardstick)
{
    static const double sms[] = {40, 81};
    struct line line;
    draw_line(&line, "run.sm_count", sms, 2);
    struct fulcrum_scenario *scenario = scenario_of(&line.design);
    struct fulcrum_study *yardstick = NULL;
    ASSERT_FAILS(fulcrum_sweep_yardstick(scenario, &line.plan, 1, &yardstick, &err),
        FULCRUM_ERR_RANGE, "run.sm_count = 81");
    CU_ASSERT_PTR_NULL(yardstick);
    fulcrum_scenario_free(scenario);
}

/* Ranks 0.05 (n - 1) and 0.95 (n - 1), between neighbours in proportion. */
TEST(test_an_interval_is_that_of_the_sorted_draws)
{
    double draws[] = {
        20, 0, 1, 19, 2, 18, 3, 17, 4, 16, 5, 15, 6, 14, 7, 13, 8, 12, 9, 11, 10};
    struct fulcrum_interval interval = fulcrum_interval_of(draws, 21);
    assert_close("5 %", interval.lo, 1.0, 1e-12);
    assert_close("95 %", interval.hi, 19.0, 1e-12);
    CU_ASSERT(isnan(fulcrum_interval_of(draws, 1).lo));
    CU_ASSERT(isnan(fulcrum_interval_of(NULL, 0).hi));
    draws[7] = (double)NAN;
    CU_ASSERT(isnan(fulcrum_interval_of(draws, 21).hi));
}

/* Fronts, points and draws on their own. */
enum { THREADS = 5, ACTORS = 6, POINTS = THREADS * ACTORS, FRONT_DRAWS = 8 };

/* Threads and actors: rate against watts, or threads. */
struct grid {
    struct fulcrum_design design;
    struct fulcrum_scenario *scenario;
    struct fulcrum_sweep_axis axes[2];
    struct fulcrum_sweep_plan plan;
    struct fulcrum_prior prior;
    struct fulcrum_scenario_inputs inputs;
};

static void with_grid(void (*check)(struct grid *grid))
{
    static struct grid opened;
    struct grid *grid = &opened;
    static const double threads[THREADS] = {8, 16, 32, 64, 128};
    static const double actors[ACTORS] = {4, 16, 41, 64, 256, 512};
    grid->design = gpu_design();
    /* 41 actors cannot be shared by two GPUs. */
    grid->design.machine.gpu.count = 2;
    grid->design.run.gpu_count = 2;
    grid->axes[0] = (struct fulcrum_sweep_axis){
        fulcrum_field_find("machine.cpu.thread_count"), threads, THREADS};
    grid->axes[1] = (struct fulcrum_sweep_axis){
        fulcrum_field_find("run.actor_count"), actors, ACTORS};
    grid->plan = (struct fulcrum_sweep_plan){.axes = grid->axes,
        .axis_count = 2,
        .predict = {.solver = {.seed = 3, .method = FULCRUM_METHOD_FAST},
            .draws = FRONT_DRAWS}};
    grid->prior =
        (struct fulcrum_prior){fulcrum_field_find("machine.cpu.core_dynamic_w"), 2.0};
    grid->inputs = (struct fulcrum_scenario_inputs){
        .base = &grid->design, .priors = &grid->prior, .prior_count = 1};
    grid->scenario = NULL;
    ASSERT_OK(fulcrum_scenario_new(&grid->inputs, &grid->scenario, NULL));
    check(grid);
    fulcrum_scenario_free(grid->scenario);
}

#define GRID_TEST(function) TEST_EACH(function, with_grid, struct grid *grid)

static const struct fulcrum_front_metric rate_and_watts[] = {
    {FULCRUM_SENSE_MORE, 0, FULCRUM_OUTPUT_steps_per_s},
    {FULCRUM_SENSE_LESS, 0, FULCRUM_OUTPUT_system_w}};
static const struct fulcrum_front_metric rate_and_threads[] = {
    {FULCRUM_SENSE_MORE, 0, FULCRUM_OUTPUT_steps_per_s}, {FULCRUM_SENSE_LESS, 1, 0}};

static double metric_of(const struct fulcrum_front_metric *metric, const double *varied,
    const double *outputs)
{
    double value = metric->is_axis ? varied[metric->at] : outputs[metric->at];
    return metric->sense == FULCRUM_SENSE_MORE ? value : -value;
}

/* Two metrics, signed so that more is better. */
struct pair {
    double a;
    double b;
};

static bool is_on_front(const struct pair *pairs, size_t i)
{
    for (size_t k = 0; k < POINTS; k++) {
        int reaches = pairs[k].a >= pairs[i].a && pairs[k].b >= pairs[i].b;
        if (reaches && (pairs[k].a > pairs[i].a || pairs[k].b > pairs[i].b)) {
            return 0;
        }
    }
    return !isnan(pairs[i].a) && !isnan(pairs[i].b);
}

/* Every point's metrics in draw k, 0 being the estimate, by a prediction of its own. */
static void fill_pairs(const struct grid *grid,
    const struct fulcrum_front_metric *metrics, size_t k, struct pair *out)
{
    for (size_t i = 0; i < POINTS; i++) {
        struct fulcrum_sweep_probe *probe = NULL;
        struct fulcrum_sweep_point point = {.index = i};
        double drawn[FULCRUM_OUTPUT_COUNT];
        const double *outputs = k == 0 ? point.prediction.value : drawn;
        ASSERT_OK(fulcrum_sweep_probe_new(grid->scenario, &grid->plan, &probe, NULL));
        out[i] = (struct pair){FULCRUM_UNKNOWN, FULCRUM_UNKNOWN};
        if (fulcrum_sweep_probe_point(probe, i, &point, NULL) == FULCRUM_OK &&
            (k == 0 ||
                fulcrum_sweep_probe_draw(probe, &point, k, drawn) == FULCRUM_OK)) {
            out[i].a = metric_of(&metrics[0], point.varied, outputs);
            out[i].b = metric_of(&metrics[1], point.varied, outputs);
        }
        fulcrum_sweep_probe_free(probe);
    }
}

static void check_front(
    const struct grid *grid, const struct fulcrum_front_metric *metrics)
{
    static struct visited visited;
    struct grid copy = *grid;
    ASSERT_OK(fulcrum_sweep_front_new(&copy.plan, metrics, 2, &visited.front, NULL));
    copy.plan.front = visited.front;
    ASSERT_OK(visit(copy.scenario, &copy.plan, &visited));
    const size_t *front = NULL;
    size_t count = 0;
    ASSERT_OK(fulcrum_sweep_front_end(visited.front, &front, &count, NULL));
    struct pair pairs[POINTS];
    double times[POINTS] = {0};
    for (size_t k = 1; k <= FRONT_DRAWS; k++) {
        fill_pairs(grid, metrics, k, pairs);
        for (size_t i = 0; i < POINTS; i++) {
            times[i] += is_on_front(pairs, i);
        }
    }
    fill_pairs(grid, metrics, 0, pairs);
    size_t at = 0;
    for (size_t i = 0; i < POINTS; i++) {
        bool is_there = at < count && front[at] == i;
        CU_ASSERT_EQUAL(is_there, is_on_front(pairs, i));
        CU_ASSERT_EQUAL(
            fulcrum_sweep_front_frac(visited.front, i), times[i] / (double)FRONT_DRAWS);
        at += (size_t)is_there;
    }
    CU_ASSERT(count > 1 && at == count);
    fulcrum_sweep_front_free(visited.front);
}

GRID_TEST(test_fronts_of_estimate_and_draws_are_what_all_pairs_leave)
{
    for (size_t threads = 1; threads <= 2; threads++) {
        grid->plan.thread_count = threads;
        check_front(grid, rate_and_watts);
        check_front(grid, rate_and_threads);
    }
}

/* To the last digit; what is not known in one is not in the other. */
static void compare_outputs(const double *a, const double *b)
{
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        CU_ASSERT((isnan(a[i]) && isnan(b[i])) || a[i] == b[i]);
    }
}

/* What is predicted on its own is what the whole sweep has at that place. */
GRID_TEST(test_chosen_points_are_those_of_the_whole_sweep)
{
    static const size_t only[] = {0, 2, 7, 13, 28};
    static struct visited whole;
    static struct visited chosen;
    ASSERT_OK(visit(grid->scenario, &grid->plan, &whole));
    grid->plan.only = only;
    grid->plan.only_count = 5;
    ASSERT_OK(visit(grid->scenario, &grid->plan, &chosen));
    CU_ASSERT_EQUAL(whole.count, POINTS);
    CU_ASSERT_EQUAL_FATAL(chosen.count, 5);
    for (size_t i = 0; i < 5; i++) {
        const struct fulcrum_sweep_point *wanted = &whole.points[only[i]];
        CU_ASSERT_EQUAL(chosen.points[i].index, only[i]);
        CU_ASSERT_EQUAL(chosen.points[i].status, wanted->status);
        CU_ASSERT_EQUAL(chosen.points[i].varied[0], wanted->varied[0]);
        CU_ASSERT_EQUAL(chosen.points[i].varied[1], wanted->varied[1]);
        compare_outputs(chosen.points[i].prediction.value, wanted->prediction.value);
        compare_outputs(chosen.points[i].prediction.hi, wanted->prediction.hi);
    }
}

/* Each draw of a point, asked for by itself. */
static void compare_draws(struct fulcrum_sweep_probe *probe,
    const struct fulcrum_sweep_point *point, const double *all)
{
    for (size_t k = 0; k < FRONT_DRAWS; k++) {
        double values[FULCRUM_OUTPUT_COUNT];
        ASSERT_OK(fulcrum_sweep_probe_draw(probe, point, k + 1, values));
        compare_outputs(values, all + k * FULCRUM_OUTPUT_COUNT);
    }
}

/* Draw k alone is row k of all draws, with actors that follow the threads too. */
GRID_TEST(test_a_draw_alone_is_a_row_of_all)
{
    grid->plan.axis_count = 1;
    grid->plan.actors_per_thread = 6.4;
    struct fulcrum_sweep_probe *probe = NULL;
    ASSERT_OK(fulcrum_sweep_probe_new(grid->scenario, &grid->plan, &probe, NULL));
    for (size_t i = 0; i < THREADS; i++) {
        struct fulcrum_sweep_point point;
        double all[FRONT_DRAWS * FULCRUM_OUTPUT_COUNT];
        ASSERT_OK(fulcrum_sweep_probe_point(probe, i, &point, NULL));
        size_t count = 0;
        const double *draws =
            fulcrum_predictor_draws(fulcrum_sweep_probe_predictor(probe), &count);
        CU_ASSERT_EQUAL_FATAL(count, FRONT_DRAWS);
        memcpy(all, draws, sizeof all);
        compare_draws(probe, &point, all);
    }
    fulcrum_sweep_probe_free(probe);
}

GRID_TEST(test_draws_that_do_not_fit_are_not_kept)
{
    struct fulcrum_sweep_front *front = NULL;
    grid->plan.predict.draws = 1e6; /* x 30 points x 2 metrics */
    ASSERT_OK(fulcrum_sweep_front_new(&grid->plan, rate_and_watts, 2, &front, NULL));
    CU_ASSERT(!fulcrum_sweep_front_has_draws(front));
    CU_ASSERT(isnan(fulcrum_sweep_front_frac(front, 0)));
    fulcrum_sweep_front_free(front);
    CU_ASSERT_EQUAL(
        fulcrum_sweep_front_new(&grid->plan, rate_and_watts, 1, &front, NULL),
        FULCRUM_ERR_RANGE);
    fulcrum_sweep_front_free(NULL);
}

TEST(test_outputs_have_the_sense_that_their_names_tell)
{
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        const char *name = fulcrum_output_name(i);
        enum fulcrum_sense sense = fulcrum_output_sense(i);
        bool is_rate = strstr(name, "_per_s") != NULL || strstr(name, "_per_j") != NULL;
        size_t length = strlen(name);
        bool is_cost = !is_rate && (strcmp(name + length - 2, "_s") == 0 ||
                                       strcmp(name + length - 2, "_w") == 0 ||
                                       strcmp(name + length - 2, "_j") == 0);
        CU_ASSERT(!is_rate || sense == FULCRUM_SENSE_MORE);
        CU_ASSERT(!is_cost || sense == FULCRUM_SENSE_LESS);
    }
    CU_ASSERT_EQUAL(fulcrum_output_sense(FULCRUM_OUTPUT_COUNT), FULCRUM_SENSE_NONE);
}

/* Chains of neighbours end where they do whatever the threads; a point alone, without
 * neighbours, is the same but for what hints may change. */
TEST(test_neighbours_are_the_same_for_any_threads)
{
    enum { COUNT = 200 };
    double actors[COUNT];
    struct line line;
    static struct visited visited[3];
    for (size_t i = 0; i < COUNT; i++) {
        actors[i] = 8.0 + 3.0 * (double)i;
    }
    draw_line(&line, "run.actor_count", actors, COUNT);
    for (size_t threads = 1; threads <= 3; threads++) {
        line.plan.thread_count = threads;
        ASSERT_OK(sweep(&line.design, &line.plan, &visited[threads - 1]));
        CU_ASSERT_EQUAL_FATAL(visited[threads - 1].count, COUNT);
    }
    struct fulcrum_scenario *scenario = scenario_of(&line.design);
    for (size_t i = 0; i < COUNT; i++) {
        struct fulcrum_sweep_probe *probe = NULL;
        struct fulcrum_sweep_point alone = {.index = i};
        const double *value = visited[0].points[i].prediction.value;
        compare_outputs(value, visited[1].points[i].prediction.value);
        compare_outputs(value, visited[2].points[i].prediction.value);
        ASSERT_OK(fulcrum_sweep_probe_new(scenario, &line.plan, &probe, NULL));
        ASSERT_OK(fulcrum_sweep_probe_point(probe, i, &alone, NULL));
        assert_close("X", value[FULCRUM_OUTPUT_steps_per_s],
            alone.prediction.value[FULCRUM_OUTPUT_steps_per_s], 1e-9);
        fulcrum_sweep_probe_free(probe);
    }
    fulcrum_scenario_free(scenario);
}
