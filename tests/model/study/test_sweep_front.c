/* test_sweep_front.c - fronts of sweeps, points and draws on their own. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/study/sweep.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "model/quantity.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

enum { THREADS = 5, ACTORS = 6, POINTS = THREADS * ACTORS, DRAWS = 8 };

/* Threads and actors: rate against watts, or threads. */
struct grid {
    struct fulcrum_design design;
    struct fulcrum_scenario *scenario;
    struct fulcrum_sweep_axis axes[2];
    struct fulcrum_sweep_plan plan;
    struct fulcrum_prior prior;
    struct fulcrum_scenario_inputs inputs;
};

static void open_grid(struct grid *grid)
{
    static const double threads[THREADS] = {8, 16, 32, 64, 128};
    static const double actors[ACTORS] = {4, 16, 41, 64, 256, 512};
    designs_gpu(&grid->design);
    /* 41 actors cannot be shared by two GPUs. */
    grid->design.machine.gpu.count = 2;
    grid->design.run.gpu_count = 2;
    grid->axes[0] = (struct fulcrum_sweep_axis){
        fulcrum_field_find("machine.cpu.thread_count"), threads, THREADS};
    grid->axes[1] = (struct fulcrum_sweep_axis){
        fulcrum_field_find("run.actor_count"), actors, ACTORS};
    grid->plan = (struct fulcrum_sweep_plan){.axes = grid->axes,
        .axis_count = 2,
        .predict = {
            .solver = {.seed = 3, .method = FULCRUM_METHOD_FAST}, .draws = DRAWS}};
    grid->prior =
        (struct fulcrum_prior){fulcrum_field_find("machine.cpu.core_dynamic_w"), 2.0};
    grid->inputs = (struct fulcrum_scenario_inputs){
        .base = &grid->design, .priors = &grid->prior, .prior_count = 1};
    grid->scenario = NULL;
    ASSERT_OK(fulcrum_scenario_new(&grid->inputs, &grid->scenario, NULL));
}

/* What one run of a sweep gave. */
struct visited {
    struct fulcrum_sweep_front *front; /* NULL: none */
    struct fulcrum_sweep_point points[POINTS];
    size_t count;
};

static int collect(
    void *context, const struct fulcrum_sweep_point *points, size_t count)
{
    struct visited *visited = context;
    memcpy(visited->points + visited->count, points, count * sizeof *points);
    visited->count += count;
    if (visited->front != NULL) {
        ASSERT_OK(fulcrum_sweep_front_add(visited->front, points, count, NULL));
    }
    return 0;
}

static void run_grid(const struct grid *grid, struct visited *out)
{
    const struct fulcrum_sweep_visitor visitor = {.context = out, .visit = collect};
    out->count = 0;
    ASSERT_OK(fulcrum_sweep_run(grid->scenario, &grid->plan, &visitor, NULL));
}

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
            (k == 0 || fulcrum_sweep_probe_draw(probe, &point, k, drawn, NULL) ==
                           FULCRUM_OK)) {
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
    run_grid(&copy, &visited);
    const size_t *front = NULL;
    size_t count = 0;
    ASSERT_OK(fulcrum_sweep_front_end(visited.front, &front, &count, NULL));
    struct pair pairs[POINTS];
    double times[POINTS] = {0};
    for (size_t k = 1; k <= DRAWS; k++) {
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
            fulcrum_sweep_front_frac(visited.front, i), times[i] / (double)DRAWS);
        at += (size_t)is_there;
    }
    CU_ASSERT(count > 1 && at == count);
    fulcrum_sweep_front_free(visited.front);
}

TEST(test_fronts_of_estimate_and_draws_are_what_all_pairs_leave)
{
    struct grid grid;
    open_grid(&grid);
    for (size_t threads = 1; threads <= 2; threads++) {
        grid.plan.thread_count = threads;
        check_front(&grid, rate_and_watts);
        check_front(&grid, rate_and_threads);
    }
    fulcrum_scenario_free(grid.scenario);
}

/* To the last digit; what is not known in one is not in the other. */
static void compare_outputs(const double *a, const double *b)
{
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        CU_ASSERT((isnan(a[i]) && isnan(b[i])) || a[i] == b[i]);
    }
}

/* What is predicted on its own is what the whole sweep has at that place. */
TEST(test_chosen_points_are_those_of_the_whole_sweep)
{
    static const size_t only[] = {0, 2, 7, 13, 28};
    static struct visited whole;
    static struct visited chosen;
    struct grid grid;
    open_grid(&grid);
    whole.front = NULL;
    chosen.front = NULL;
    run_grid(&grid, &whole);
    grid.plan.only = only;
    grid.plan.only_count = 5;
    run_grid(&grid, &chosen);
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
    fulcrum_scenario_free(grid.scenario);
}

/* Each draw of a point, asked for by itself. */
static void compare_draws(struct fulcrum_sweep_probe *probe,
    const struct fulcrum_sweep_point *point, const double *all)
{
    for (size_t k = 0; k < DRAWS; k++) {
        double values[FULCRUM_OUTPUT_COUNT];
        ASSERT_OK(fulcrum_sweep_probe_draw(probe, point, k + 1, values, NULL));
        compare_outputs(values, all + k * FULCRUM_OUTPUT_COUNT);
    }
}

/* Draw k alone is row k of all draws, with actors that follow the threads too. */
TEST(test_a_draw_alone_is_a_row_of_all)
{
    struct grid grid;
    open_grid(&grid);
    grid.plan.axis_count = 1;
    grid.plan.actors_per_thread = 6.4;
    struct fulcrum_sweep_probe *probe = NULL;
    ASSERT_OK(fulcrum_sweep_probe_new(grid.scenario, &grid.plan, &probe, NULL));
    for (size_t i = 0; i < THREADS; i++) {
        struct fulcrum_sweep_point point;
        double all[DRAWS * FULCRUM_OUTPUT_COUNT];
        ASSERT_OK(fulcrum_sweep_probe_point(probe, i, &point, NULL));
        size_t count = 0;
        const double *draws =
            fulcrum_predictor_draws(fulcrum_sweep_probe_predictor(probe), &count);
        CU_ASSERT_EQUAL_FATAL(count, DRAWS);
        memcpy(all, draws, sizeof all);
        compare_draws(probe, &point, all);
    }
    fulcrum_sweep_probe_free(probe);
    fulcrum_scenario_free(grid.scenario);
}

TEST(test_draws_that_do_not_fit_are_not_kept)
{
    struct grid grid;
    open_grid(&grid);
    struct fulcrum_sweep_front *front = NULL;
    grid.plan.predict.draws = 1e6; /* x 30 points x 2 metrics */
    ASSERT_OK(fulcrum_sweep_front_new(&grid.plan, rate_and_watts, 2, &front, NULL));
    CU_ASSERT(!fulcrum_sweep_front_has_draws(front));
    CU_ASSERT(isnan(fulcrum_sweep_front_frac(front, 0)));
    fulcrum_sweep_front_free(front);
    CU_ASSERT_EQUAL(
        fulcrum_sweep_front_new(&grid.plan, rate_and_watts, 1, &front, NULL),
        FULCRUM_ERR_RANGE);
    fulcrum_sweep_front_free(NULL);
    fulcrum_scenario_free(grid.scenario);
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
