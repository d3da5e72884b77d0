/* test_bench_speed.c - yardsticks, the timing of work, and the chart of costs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cmd_speed.c" /* NOLINT(bugprone-suspicious-include) */
#include "bench/commands.h"
#include "cli/command.h"
#include "plots/spec/charts.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"
#include "tests/support/texts.h"

/* Equal stations: X(n) = n / (s (n + m - 1)); one station: 1 / s. */
TEST(test_mva_against_closed_forms)
{
    const double equal[] = {0.5, 0.5, 0.5, 0.5};
    assert_close("one", mva_cycles_per_s(equal, 1, 7), 2.0, 1e-14);
    assert_close("balanced", mva_cycles_per_s(equal, 4, 5), 2.0 * 5.0 / 8.0, 1e-14);
    /* Two stations: X(n) = (r^n - 1) / (r^(n + 1) - 1) / s2 with r = s1 / s2. */
    const double two[] = {3.0, 1.0};
    assert_close(
        "two", mva_cycles_per_s(two, 2, 4), (81.0 - 1.0) / (243.0 - 1.0), 1e-14);
}

struct count {
    double runs;
    double fail_at; /* 0: never */
};

/* Something that the optimiser cannot leave out, some tens of microseconds long. */
static enum fulcrum_status spin(void *context, double *units, struct fulcrum_error *err)
{
    struct count *count = context;
    volatile double sum = 0.0;
    for (int i = 0; i < 20000; i++) {
        sum = sum + 1.0;
    }
    count->runs += 1.0;
    *units = 20000.0;
    return count->runs == count->fail_at
               ? fulcrum_fail(err, FULCRUM_ERR_NUMERIC, "as told")
               : FULCRUM_OK;
}

TEST(test_timing_counts_runs_and_units)
{
    static const enum fulcrum_timing_clock clocks[] = {
        FULCRUM_TIMING_THREAD_CPU, FULCRUM_TIMING_WALL};
    for (size_t i = 0; i < 2; i++) {
        struct count count = {0.0, 0.0};
        struct fulcrum_timing timing;
        const struct fulcrum_timing_work work = {spin, &count, clocks[i]};
        ASSERT_OK(timing_measure(&work, &timing, 0.1, NULL, NULL));
        CU_ASSERT(timing.sample_count >= 1 && timing.inner_count >= 1);
        /* Samples, and the doublings before them. */
        double runs = (double)((timing.sample_count + 2) * timing.inner_count - 1);
        CU_ASSERT_DOUBLE_EQUAL(count.runs, runs, 0.0);
        CU_ASSERT_DOUBLE_EQUAL(timing.units, 20000.0, 0.0);
        CU_ASSERT(timing.min_s > 0.0 && timing.min_s <= timing.low_quartile_s);
        CU_ASSERT(timing.low_quartile_s <= timing.median_s);
        CU_ASSERT(timing.median_s <= timing.high_quartile_s);
    }
}

TEST(test_timing_stops_and_fails_with_its_work)
{
    volatile sig_atomic_t stop = 1;
    struct count count = {0.0, 0.0};
    struct fulcrum_timing timing = {.sample_count = 99};
    struct fulcrum_error err = {FULCRUM_OK, ""};
    const struct fulcrum_timing_work work = {spin, &count, FULCRUM_TIMING_THREAD_CPU};
    ASSERT_OK(timing_measure(&work, &timing, 1.0, &stop, NULL));
    CU_ASSERT_EQUAL(timing.sample_count, 0);
    struct count failing = {0.0, 1.0};
    const struct fulcrum_timing_work fails = {
        spin, &failing, FULCRUM_TIMING_THREAD_CPU};
    CU_ASSERT_EQUAL(
        timing_measure(&fails, &timing, 1.0, NULL, &err), FULCRUM_ERR_NUMERIC);
    CU_ASSERT_STRING_EQUAL(err.detail, "as told");
}

/* Every case can be timed; the largest are left out where few actors are asked for. */
TEST(test_cases_run)
{
    struct fulcrum_context context = {.quiet = 1};
    struct fulcrum_speed_sweep *sweeps[2] = {NULL, NULL};
    size_t count = 0;
    ASSERT_OK(speed_sweep_new(&sweeps[0], FULCRUM_SPEED_GREEDY, &context, NULL));
    ASSERT_OK(speed_sweep_new(&sweeps[1], FULCRUM_SPEED_SHIPPED, &context, NULL));
    struct fulcrum_speed_case *cases = speed_cases_new(&count, 16.0, sweeps);
    CU_ASSERT(count > 20);
    for (size_t i = 0; i < count; i++) {
        bool is_sweep = cases[i].part == FULCRUM_SPEED_SWEEP;
        CU_ASSERT(is_sweep || cases[i].part == FULCRUM_SPEED_YARDSTICK ||
                  cases[i].actors <= 16.0);
        if (is_sweep && cases[i].sweep == sweeps[1]) {
            continue; /* minutes with sanitizers */
        }
        ASSERT_OK(speed_case_time(&cases[i], 0.0, NULL, NULL));
        CU_ASSERT(cases[i].timing.sample_count == 1 && cases[i].timing.median_s > 0.0);
        CU_ASSERT(!is_sweep || cases[i].timing.units >= 1000.0);
    }
    free(cases);
    speed_sweep_free(sweeps[0]);
    speed_sweep_free(sweeps[1]);
}

static const struct fulcrum_extent pages[] = {
    {300.0, 340.0}, {320.0, 340.0}, {640.0, 480.0}, {1200.0, 400.0}};

static bool is_on_page(
    const struct fulcrum_canvas *canvas, const struct fulcrum_rect *rect)
{
    struct fulcrum_extent page = fulcrum_canvas_extent(canvas);
    return rect->x0 >= 0.0 && rect->y0 >= 0.0 && rect->x1 <= page.width_pt &&
           rect->y1 <= page.height_pt;
}

/* Of texts, none may cover another or leave the page. */
static void check_boxes(const struct fulcrum_canvas *canvas)
{
    size_t count = 0;
    size_t faults = 0;
    const struct fulcrum_box *boxes = fulcrum_canvas_boxes(canvas, &count);
    CU_ASSERT(count > 0);
    for (size_t i = 0; i < count; i++) {
        faults += !is_on_page(canvas, &boxes[i].rect);
        for (size_t j = 0; j < i && boxes[i].kind == FULCRUM_BOX_TEXT; j++) {
            faults += boxes[j].kind == FULCRUM_BOX_TEXT &&
                      fulcrum_rect_overlap(boxes[i].rect, boxes[j].rect);
        }
    }
    CU_ASSERT_EQUAL(faults, 0);
}

static bool has_text(const struct fulcrum_canvas *canvas, const char *text)
{
    size_t count = 0;
    const struct fulcrum_box *boxes = fulcrum_canvas_boxes(canvas, &count);
    for (size_t i = 0; i < count; i++) {
        if (boxes[i].text != NULL && strcmp(boxes[i].text, text) == 0) {
            return 1;
        }
    }
    return 0;
}

static void draw_and_check(struct fulcrum_extent page,
    const struct fulcrum_line_chart_data *data, const char *text)
{
    struct fulcrum_canvas *canvas = new_canvas(page);
    ASSERT_OK(fulcrum_chart_draw(&fulcrum_chart_cost, canvas, data, NULL));
    check_boxes(canvas);
    CU_ASSERT(has_text(canvas, text));
    fulcrum_canvas_free(canvas);
}

TEST(test_chart_fits_any_page)
{
    enum { LINES = 8 };
    static const double actors[] = {4, 16, 64, 256, 1024, 4096};
    static const double costs[] = {1e-6, 5e-6, 6e-5, 2e-3, 0.04, 3.0};
    static const double same[] = {1e-6, 1e-6, 1e-6, 1e-6, 1e-6, NAN};
    static const char *const marks[] = {"exact MVA", "convolution"};
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    struct fulcrum_table *table = fulcrum_result_table(result, "costs", NULL);
    for (size_t i = 0; i < (size_t)LINES * 6; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "fast: half batches, training %zu", i / 6);
        fulcrum_table_row(table);
        fulcrum_table_text(table, "method", NULL, name);
        fulcrum_table_number(table, "actor_count", NULL, actors[i % 6]);
        fulcrum_table_number(
            table, "cost_s", NULL, i / 6 % 2 ? costs[i % 6] : same[i % 6]);
    }
    table = fulcrum_result_table(result, "published", NULL);
    for (size_t i = 0; i < 2; i++) {
        fulcrum_table_row(table);
        fulcrum_table_text(table, "name", NULL, marks[i]);
        fulcrum_table_number(table, "panel", NULL, 0.0);
        fulcrum_table_number(table, "x", NULL, 256.0);
        fulcrum_table_number(table, "value", NULL, i == 0 ? 3e-6 : 6e-5);
    }
    const struct fulcrum_line_chart_data data = {
        .text = {.title = "Cost of a solution"},
        .chart = &fulcrum_chart_cost,
        .result = result};
    for (size_t i = 0; i < LENGTH(pages); i++) {
        draw_and_check(pages[i], &data, "Cost of a solution");
        draw_and_check(pages[i], NULL, "no data");
    }
    draw_and_check(pages[2], &data, "exact MVA");
    fulcrum_result_free(result);
}

/* From timings to a file. */
TEST(test_timings_become_a_chart)
{
    struct fulcrum_speed_case cases[3] = {{.part = FULCRUM_SPEED_SOLVE,
                                              .actors = 4.0,
                                              .timing = {1, 1, 1e-6, 0, 0, 0, 1}},
        {.part = FULCRUM_SPEED_SOLVE,
            .actors = 16.0,
            .timing = {1, 1, 2e-6, 0, 0, 0, 1}},
        {.part = FULCRUM_SPEED_YARDSTICK,
            .name = "exact MVA",
            .actors = 256.0,
            .timing = {1, 1, 3e-6, 0, 0, 0, 1}}};
    const struct fulcrum_speed speed = {cases, 3, 0};
    struct scratch scratch = scratch_new();
    const char *path = scratch_at(&scratch, "cost.svg");
    const struct fulcrum_speed_chart chart = {path, 400.0, 400.0};
    ASSERT_OK(speed_draw(&speed, &chart, NULL));
    char *text = scratch_read(path);
    assert_part(text, "<svg");
    free(text);
    scratch_free(&scratch);
}

TEST(test_a_page_too_small_is_refused)
{
    struct fulcrum_canvas *canvas = new_canvas((struct fulcrum_extent){240.0, 240.0});
    CU_ASSERT_EQUAL(
        fulcrum_chart_draw(&fulcrum_chart_cost, canvas, NULL, NULL), FULCRUM_ERR_RANGE);
    fulcrum_canvas_free(canvas);
}

TEST(test_commands_are_found_by_name)
{
    const struct fulcrum_command *const *command = fulcrum_bench_commands();
    for (; *command != NULL; command++) {
        struct fulcrum_command_syntax syntax;
        fulcrum_command_syntax_init(*command, &syntax);
        CU_ASSERT_STRING_EQUAL((*command)->program, FULCRUM_BENCH_PROGRAM);
        CU_ASSERT_PTR_EQUAL(
            fulcrum_command_find(fulcrum_bench_commands(), (*command)->name), *command);
    }
    char hint[80];
    fulcrum_command_hint(fulcrum_bench_commands(), "spede", hint, sizeof hint);
    CU_ASSERT_STRING_EQUAL(hint, "; did you mean 'speed'?");
}
