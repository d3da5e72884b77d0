/* test_heat.c - heat maps: axes, colours, findings, marks; their data from files. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* open_memstream */

#include "plots/spec/charts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/plot_data.h"
#include "cli/plot/plot_source.h"
#include "plots/chart/canvas.h"
#include "plots/chart/inline_svg.h"
#include "plots/spec/heat_frame.h"
#include "tests/support/plot_file.h"
#include "tests/support/suite.h"
#include "tests/support/texts.h"

static struct fulcrum_canvas *drawn(const struct fulcrum_heat_data *data)
{
    struct fulcrum_canvas *canvas = NULL;
    CU_ASSERT_EQUAL_FATAL(fulcrum_canvas_new(&canvas, 640.0, 480.0, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(
        fulcrum_chart_draw(&fulcrum_chart_heat, canvas, data, NULL), FULCRUM_OK);
    return canvas;
}

static void test_kind_of_axis_follows_the_spacing(void)
{
    static const struct {
        double values[5];
        size_t count;
        enum fulcrum_axis_kind kind;
    } cases[] = {
        {{10, 20, 30, 40, 50}, 5, FULCRUM_AXIS_LINEAR},
        {{8, 16, 32, 64, 128}, 5, FULCRUM_AXIS_LOG2},
        {{1, 10, 100, 1000, 1e4}, 5, FULCRUM_AXIS_LOG},
        {{0, 1, 2, 4, 8}, 5, FULCRUM_AXIS_LINEAR}, /* 0 has no logarithm */
        {{-8, -4, -2, 2, 16}, 5, FULCRUM_AXIS_LINEAR},
        {{100, 101, 102, 103, 104}, 5, FULCRUM_AXIS_LINEAR},
        {{5}, 1, FULCRUM_AXIS_LINEAR},
        {{1, 2}, 2, FULCRUM_AXIS_LINEAR},
        {{1, 9}, 2, FULCRUM_AXIS_LOG},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct fulcrum_heat_axis axis = {"x", cases[i].values, cases[i].count};
        CU_ASSERT_EQUAL(fulcrum_heat_axis_kind(&axis), cases[i].kind);
    }
}

static void test_cells_end_half_way(void)
{
    static const double steps[] = {1, 2, 4};
    static const double factors[] = {4, 16, 64};
    static const double alone[] = {50};
    const struct fulcrum_heat_axis linear = {"x", steps, 3};
    const struct fulcrum_heat_axis log = {"x", factors, 3};
    const struct fulcrum_heat_axis one = {"x", alone, 1};
    static const double linear_edges[] = {0.5, 1.5, 3, 5};
    static const double log_edges[] = {2, 8, 32, 128};
    for (size_t i = 0; i < 4; i++) {
        suite_assert_close("linear",
            fulcrum_heat_axis_edge(&linear, FULCRUM_AXIS_LINEAR, i), linear_edges[i],
            1e-12);
        suite_assert_close("logarithmic",
            fulcrum_heat_axis_edge(&log, FULCRUM_AXIS_LOG2, i), log_edges[i], 1e-12);
    }
    CU_ASSERT(fulcrum_heat_axis_edge(&one, FULCRUM_AXIS_LINEAR, 0) < 50.0);
    CU_ASSERT(fulcrum_heat_axis_edge(&one, FULCRUM_AXIS_LINEAR, 1) > 50.0);
}

static void check_borders(const struct fulcrum_heat_axis *axis)
{
    enum fulcrum_axis_kind kind = fulcrum_heat_axis_kind(axis);
    for (size_t k = 0; k <= axis->count; k++) {
        CU_ASSERT(isfinite(fulcrum_heat_axis_edge(axis, kind, k)));
    }
}

/* Borders that no double holds would leave the page. */
static void test_borders_of_extreme_values_are_finite(void)
{
    static const double far[][2] = {{-1e308, 1e308}, {1e-300, 2e300}, {1e-307, 1e-300}};
    static const double value[] = {1, 2};
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++) {
        const struct fulcrum_heat_data data = {.x = {"x", far[i], 2},
            .y = {"y", far[0], 1},
            .value = value,
            .value_name = "v"};
        struct fulcrum_canvas *canvas = drawn(&data);
        check_borders(&data.x);
        fulcrum_canvas_free(canvas);
    }
}

static void test_few_values_are_the_ticks(void)
{
    static const double values[] = {8, 24, 72, 108};
    const struct fulcrum_heat_axis axis = {"x", values, 4};
    struct fulcrum_axis fitted = {.tick_count = 0};
    fulcrum_heat_axis_fit(&fitted, &axis, 10.0);
    CU_ASSERT_EQUAL(fitted.tick_count, 4);
    CU_ASSERT_STRING_EQUAL(fitted.ticks[3].label, "108");
    fulcrum_heat_axis_fit(&fitted, &axis, 3.0);
    CU_ASSERT(fitted.ticks[0].value < 8.0 || fitted.ticks[0].value > 8.0 ||
              fitted.tick_count != 4);
}

static double channel(unsigned rgb, unsigned shift)
{
    double share = (double)(rgb >> shift & 0xFFU) / 255.0;
    return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4);
}

/* Relative luminance, WCAG 2.1. */
static double luminance(unsigned rgb)
{
    return 0.2126 * channel(rgb, 16) + 0.7152 * channel(rgb, 8) +
           0.0722 * channel(rgb, 0);
}

/* Cube root of luminance, as CIE lightness has it: equal steps look equal. */
static double lightness(unsigned rgb)
{
    return 116.0 * cbrt(luminance(rgb)) - 16.0;
}

static void test_colours_grow_lighter_evenly(void)
{
    double first = lightness(fulcrum_palette_heat(0.0));
    double last = lightness(fulcrum_palette_heat(1.0));
    CU_ASSERT(last - first > 70.0);
    for (int i = 0; i <= 100; i++) {
        double share = i / 100.0;
        unsigned rgb = fulcrum_palette_heat(share);
        double even = first + share * (last - first);
        CU_ASSERT(fabs(lightness(rgb) - even) < 3.0);
        double ink = luminance(fulcrum_palette_heat_ink(share));
        double here = luminance(rgb);
        double contrast = (fmax(ink, here) + 0.05) / (fmin(ink, here) + 0.05);
        CU_ASSERT(contrast > 4.0);
    }
    CU_ASSERT_EQUAL(fulcrum_palette_heat(-3.0), 0x440154);
    CU_ASSERT_EQUAL(fulcrum_palette_heat(3.0), 0xFDE725);
}

static const double threads[] = {8, 16, 32};
static const double sms[] = {20, 40, 60, 80};

/* Rises to the far corner, with one cell that cannot run and one not known. */
static void fill_data(
    struct fulcrum_heat_data *out, double value[12], unsigned char cannot_run[12])
{
    for (size_t i = 0; i < 12; i++) {
        size_t row = i / 3;
        value[i] = 100.0 * (1.0 + (double)(i % 3)) * (1.0 + (double)row);
        cannot_run[i] = i == 2;
    }
    value[9] = (double)NAN;
    *out = (struct fulcrum_heat_data){.x = {"hardware threads", threads, 3},
        .y = {"SMs", sms, 4},
        .value = value,
        .cannot_run = cannot_run,
        .value_name = "throughput"};
}

static void test_best_cell_and_contours_are_named(void)
{
    double value[12];
    unsigned char cannot_run[12];
    struct fulcrum_heat_data data;
    fill_data(&data, value, cannot_run);
    struct fulcrum_canvas *canvas = drawn(&data);
    CU_ASSERT_EQUAL(count_texts(canvas,
                        "best 1.2k at (32, 80), where the chart ends; 1 of 10 points"),
        1);
    CU_ASSERT_EQUAL(count_texts(canvas, "50 %"), 1);
    CU_ASSERT_EQUAL(count_texts(canvas, "percent of the best value"), 1);
    CU_ASSERT_EQUAL(count_texts(canvas, "cannot run"), 1);
    CU_ASSERT_EQUAL(count_texts(canvas, "not known"), 1);
    CU_ASSERT_EQUAL(count_texts(canvas, "existing machine"), 0);
    fulcrum_canvas_free(canvas);
    /* What is good to have little of: the other corner, in percent above 100. */
    data.goal = FULCRUM_GOAL_LEAST;
    canvas = drawn(&data);
    CU_ASSERT_EQUAL(count_texts(canvas, "best 100 at (8, 20)"), 1);
    CU_ASSERT_EQUAL(count_texts(canvas, "200 %"), 1);
    fulcrum_canvas_free(canvas);
    data.unjudged = 1;
    canvas = drawn(&data);
    CU_ASSERT_EQUAL(count_texts(canvas, "best"), 0);
    CU_ASSERT_EQUAL(count_texts(canvas, "line of equal value"), 1);
    fulcrum_canvas_free(canvas);
    data.contours = FULCRUM_HEAT_PLAIN;
    canvas = drawn(&data);
    CU_ASSERT_EQUAL(count_texts(canvas, "line of equal value"), 0);
    fulcrum_canvas_free(canvas);
}

/* Negative values have no percents. */
static void test_values_below_zero_have_round_contours(void)
{
    double value[12];
    unsigned char cannot_run[12];
    struct fulcrum_heat_data data;
    fill_data(&data, value, cannot_run);
    for (size_t i = 0; i < 12; i++) {
        value[i] -= 600.0; /* cppcheck-suppress unreadVariable; data point to it */
    }
    struct fulcrum_canvas *canvas = drawn(&data);
    CU_ASSERT_EQUAL(count_texts(canvas, " %"), 1); /* of the finding */
    CU_ASSERT_EQUAL(count_texts(canvas, "line of equal value"), 1);
    fulcrum_canvas_free(canvas);
}

static void test_equal_values_have_no_best_cell(void)
{
    double value[12];
    unsigned char cannot_run[12];
    struct fulcrum_heat_data data;
    fill_data(&data, value, cannot_run);
    for (size_t i = 0; i < 12; i++) {
        value[i] = 7.0; /* cppcheck-suppress unreadVariable; data point to it */
    }
    struct fulcrum_canvas *canvas = drawn(&data);
    CU_ASSERT_EQUAL(count_texts(canvas, "within 1 % of 7 everywhere"), 1);
    CU_ASSERT_EQUAL(count_texts(canvas, "best"), 0);
    fulcrum_canvas_free(canvas);
    for (size_t i = 0; i < 12; i++) {
        cannot_run[i] = 1; /* cppcheck-suppress unreadVariable; data point to it */
    }
    canvas = drawn(&data);
    CU_ASSERT_EQUAL(count_texts(canvas, "no data"), 1);
    fulcrum_canvas_free(canvas);
}

/* Threads over SMs at each cell: ratios 1/4 and 1 lie within, 4 does not. */
static void test_ratio_lines_are_named(void)
{
    double value[12];
    double ratio[12];
    unsigned char cannot_run[12];
    struct fulcrum_heat_data data;
    fill_data(&data, value, cannot_run);
    for (size_t i = 0; i < 12; i++) {
        ratio[i] = threads[i % 3] / sms[i / 3];
    }
    data.cpu_gpu_ratio = ratio;
    struct fulcrum_canvas *canvas = drawn(&data);
    CU_ASSERT_EQUAL(count_texts(canvas, "ratio 1/4"), 1);
    CU_ASSERT_EQUAL(count_texts(canvas, "ratio 1/16"), 0);
    CU_ASSERT_EQUAL(count_texts(canvas, "ratio 4"), 0);
    CU_ASSERT_EQUAL(count_texts(canvas, "constant CPU/GPU ratio"), 1);
    fulcrum_canvas_free(canvas);
}

/* A cell that cannot run has no say in how far intervals reach. */
static void test_intervals_are_put_into_words(void)
{
    double value[12];
    unsigned char cannot_run[12];
    double lo[12];
    double hi[12];
    double unknown[12];
    struct fulcrum_heat_data data;
    fill_data(&data, value, cannot_run);
    for (size_t i = 0; i < 12; i++) {
        unknown[i] = (double)NAN;
        value[i] = i == 7 ? 1000.0 : 100.0;
        lo[i] = i == 2 ? 1.0 : 0.9 * value[i];
        hi[i] = i == 5 ? 1.5 * value[i] : 1.2 * value[i];
    }
    data.lo = lo;
    data.hi = hi;
    data.interval_name = "90 % interval";
    struct fulcrum_canvas *canvas = drawn(&data);
    CU_ASSERT_EQUAL(count_texts(canvas, "90 % interval: 900 to 1.2k at the best"), 1);
    CU_ASSERT_EQUAL(count_texts(canvas, "at most 10 % below and 50 % above"), 1);
    fulcrum_canvas_free(canvas);
    data.lo = unknown;
    canvas = drawn(&data);
    CU_ASSERT_EQUAL(count_texts(canvas, "interval"), 0);
    fulcrum_canvas_free(canvas);
    data.lo = NULL;
    canvas = drawn(&data);
    CU_ASSERT_EQUAL(count_texts(canvas, "interval"), 0);
    fulcrum_canvas_free(canvas);
}

static void test_machines_share_a_tag_or_are_noted(void)
{
    double value[12];
    unsigned char cannot_run[12];
    struct fulcrum_heat_data data;
    const struct fulcrum_heat_machine machines[] = {
        {"one", 16.0, 40.0}, {"two", 16.0, 40.0}, {"far", 900.0, 40.0}};
    fill_data(&data, value, cannot_run);
    data.machines = machines;
    data.machine_count = 3;
    struct fulcrum_canvas *canvas = drawn(&data);
    CU_ASSERT_EQUAL(count_texts(canvas, "one, two"), 1);
    CU_ASSERT_EQUAL(count_texts(canvas, "Beyond this chart: far at (900, 40)"), 1);
    CU_ASSERT_EQUAL(count_texts(canvas, "existing machine"), 1);
    fulcrum_canvas_free(canvas);
    data.machines = machines + 2;
    data.machine_count = 1;
    canvas = drawn(&data);
    CU_ASSERT_EQUAL(count_texts(canvas, "existing machine"), 0);
    fulcrum_canvas_free(canvas);
}

static void test_odd_axes_are_refused(void)
{
    static const double odd[][2] = {{2, 1}, {1, 1}, {1, NAN}, {-INFINITY, 1}};
    static const double value[] = {1, 2};
    struct fulcrum_canvas *canvas = NULL;
    CU_ASSERT_EQUAL_FATAL(fulcrum_canvas_new(&canvas, 640.0, 480.0, NULL), FULCRUM_OK);
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        const struct fulcrum_heat_data data = {
            .x = {"odd x", odd[i], 2}, .y = {"y", sms, 1}, .value = value};
        struct fulcrum_error err = {FULCRUM_OK, ""};
        CU_ASSERT_EQUAL(fulcrum_chart_draw(&fulcrum_chart_heat, canvas, &data, &err),
            FULCRUM_ERR_RANGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "odd x"));
    }
    const struct fulcrum_heat_data many = {
        .machine_count = FULCRUM_HEAT_MACHINES_MAX + 1};
    CU_ASSERT_EQUAL(fulcrum_chart_draw(&fulcrum_chart_heat, canvas, &many, NULL),
        FULCRUM_ERR_RANGE);
    fulcrum_canvas_free(canvas);
}

enum { LARGE = 200 };

/* A smooth hill with a little noise, which parts cells of one colour. */
static void fill_large(double at[LARGE], double *value)
{
    for (size_t i = 0; i < LARGE; i++) {
        at[i] = (double)i;
    }
    for (size_t i = 0; i < (size_t)LARGE * LARGE; i++) {
        size_t row = i / LARGE;
        double x = at[i % LARGE] / LARGE;
        double y = at[row] / LARGE;
        double noise = 0.002 * sin(12.9898 * (double)i);
        value[i] = 10.0 + x * (2.0 - x) + y * y + noise;
    }
}

/* Bytes of the page as a document has it; each number of a cell would take more. */
static size_t document_bytes(const struct fulcrum_canvas *canvas)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT_EQUAL(fulcrum_canvas_write_svg(canvas, "heat", out, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(fclose(out), 0);
    free(text);
    return size;
}

static void test_large_grids_stay_small(void)
{
    static double at[LARGE];
    double *value = calloc((size_t)LARGE * LARGE, sizeof *value);
    CU_ASSERT_PTR_NOT_NULL_FATAL(value);
    if (value == NULL) {
        return;
    }
    fill_large(at, value);
    const struct fulcrum_heat_data data = {.x = {"x", at, LARGE},
        .y = {"y", at, LARGE},
        .value = value,
        .value_name = "value"};
    struct fulcrum_canvas *canvas = drawn(&data);
    size_t bytes = document_bytes(canvas);
    CU_ASSERT(bytes > 10000);
    CU_ASSERT(bytes < (size_t)LARGE * LARGE * 15);
    fulcrum_canvas_free(canvas);
    free(value);
}

#define HEAD                                                                           \
    "machine,machine.cpu.thread_count,run.sm_count,actor_count,steps_per_s,runtime_s," \
    "cpu_gpu_ratio_used,status\n"

/* Rows in no order; one pair of values is missing, one cannot run. */
static const char grid[] = HEAD "m,16,80,9,400,1,0.2,ok\n"
                                "m,8,20,9,100,8,0.4,ok\n"
                                "m,16,20,9,200,4,0.8,ok\n"
                                "m,8,40,9,,,,too few threads\n"
                                "m,16,40,9,300,2,0.4,ok\n";

static void test_cells_come_from_rows_in_any_order(void)
{
    struct plot_file opened;
    struct fulcrum_heat_data data;
    const struct fulcrum_plot_heat_options options = {.machines = "none"};
    plot_file_open(&opened, "grid.csv", grid, "points");
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_plot_heat_data(opened.rows, &options, plot_file_room(), &data, NULL),
        FULCRUM_OK);
    static const double expected[] = {100, 200, NAN, 300, NAN, 400};
    CU_ASSERT_EQUAL(data.x.count, 2);
    CU_ASSERT_EQUAL(data.y.count, 3);
    CU_ASSERT_EQUAL(data.y.values[2], 80.0);
    for (size_t i = 0; i < 6; i++) {
        CU_ASSERT(isnan(expected[i]) ? isnan(data.value[i])
                                     : !(fabs(data.value[i] - expected[i]) > 0.0));
        CU_ASSERT_EQUAL(data.cannot_run[i], i == 2);
    }
    CU_ASSERT_STRING_EQUAL(data.x.label, "hardware threads (machine.cpu.thread_count)");
    CU_ASSERT_STRING_EQUAL(data.value_name, "steps_per_s, agent steps of all actors, "
                                            "1/s");
    CU_ASSERT_EQUAL(data.goal, FULCRUM_GOAL_MOST);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(data.text.footnote, "1 of 5 points cannot run, one as too few threads"));
    fulcrum_plot_room_clear(plot_file_room());
    plot_file_close(&opened);
}

static void test_intervals_come_with_their_metric(void)
{
    struct plot_file opened;
    struct fulcrum_heat_data data;
    const struct fulcrum_plot_heat_options options = {.machines = "none"};
    plot_file_open(&opened, "ends.csv",
        "machine.cpu.thread_count,run.sm_count,actor_count,steps_per_s,steps_per_s_lo,"
        "steps_per_s_hi\n8,20,9,100,90,120\n16,40,9,200,150,\n",
        "points");
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_plot_heat_data(opened.rows, &options, plot_file_room(), &data, NULL),
        FULCRUM_OK);
    CU_ASSERT_EQUAL(data.lo[0], 90.0);
    CU_ASSERT_EQUAL(data.hi[0], 120.0);
    CU_ASSERT_EQUAL(data.lo[3], 150.0);
    CU_ASSERT(isnan(data.hi[3]));
    fulcrum_plot_room_clear(plot_file_room());
    plot_file_close(&opened);
}

static void test_axes_and_metric_can_be_chosen(void)
{
    struct plot_file opened;
    struct fulcrum_heat_data data;
    const struct fulcrum_plot_heat_options options = {
        .metric = "runtime_s", .x = "run.sm_count", .machines = "none"};
    plot_file_open(&opened, "grid.csv", grid, "points");
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_plot_heat_data(opened.rows, &options, plot_file_room(), &data, NULL),
        FULCRUM_OK);
    CU_ASSERT_EQUAL(data.x.count, 3);
    CU_ASSERT_EQUAL(data.value[0], 8.0);
    CU_ASSERT_EQUAL(data.value[3], 4.0);
    CU_ASSERT_EQUAL(data.goal, FULCRUM_GOAL_LEAST);
    CU_ASSERT(!data.unjudged);
    fulcrum_plot_room_clear(plot_file_room());
    plot_file_close(&opened);
}

/* DGX-1 has 80 threads and 80 SMs a GPU, DGX A100 has 256 and 108. */
static void test_machines_stand_at_their_own_values(void)
{
    struct plot_file opened;
    struct fulcrum_heat_data data;
    struct fulcrum_plot_heat_options options = {.machines = "dgx-1,dgx-a100"};
    plot_file_open(&opened, "grid.csv", grid, "points");
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_plot_heat_data(opened.rows, &options, plot_file_room(), &data, NULL),
        FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(data.machine_count, 2);
    CU_ASSERT_EQUAL(data.machines[0].x, 80.0);
    CU_ASSERT_EQUAL(data.machines[0].y, 80.0);
    CU_ASSERT_EQUAL(data.machines[1].x, 256.0);
    CU_ASSERT_EQUAL(data.machines[1].y, 108.0);
    fulcrum_plot_room_clear(plot_file_room());
    options.x = "actor_count";
    options.y = "machine.cpu.thread_count";
    struct fulcrum_error err = {FULCRUM_OK, ""};
    CU_ASSERT_NOT_EQUAL(
        fulcrum_plot_heat_data(opened.rows, &options, plot_file_room(), &data, &err),
        FULCRUM_OK);
    plot_file_close(&opened);
}

static void check_refused(const char *text,
    const struct fulcrum_plot_heat_options *options, const char *words)
{
    struct plot_file opened;
    struct fulcrum_heat_data data;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    plot_file_open(&opened, "odd.csv", text, "points");
    CU_ASSERT_NOT_EQUAL(
        fulcrum_plot_heat_data(opened.rows, options, plot_file_room(), &data, &err),
        FULCRUM_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, words));
    if (strstr(err.detail, words) == NULL) {
        (void)fprintf(stderr, "\n  '%s' lacks '%s'\n", err.detail, words);
    }
    plot_file_close(&opened);
}

static void test_what_is_no_grid_is_refused(void)
{
    const struct fulcrum_plot_heat_options plain = {.machines = "none"};
    static const struct {
        const char *rows;
        const char *words;
    } cases[] = {
        {HEAD "m,8,20,1,1,1,1,ok\n", "no field varies"},
        {HEAD "m,8,20,1,1,1,1,ok\nm,9,20,1,1,1,1,ok\n", "only one field varies"},
        {HEAD "m,8,20,1,1,1,1,ok\nm,9,30,1,1,1,1,ok\nm,9,30,1,1,1,1,ok\n",
            "two points at machine.cpu.thread_count = 9, run.sm_count = 30"},
        {HEAD "m,8,20,1,1,1,1,ok\nn,9,30,1,1,1,1,ok\n", "the machine varies too"},
        {HEAD "m,8,20,1,1,1,1,ok\nm,9,30,1,1,1,1,ok\nm,,30,1,1,1,1,ok\n",
            "point 3 has no value of machine.cpu.thread_count"},
        {HEAD "m,1,1,1,1,1,1,ok\nm,2,2,1,1,1,1,ok\nm,3,3,1,1,1,1,ok\n"
              "m,4,4,1,1,1,1,ok\nm,5,5,1,1,1,1,ok\n",
            "are no grid"},
        {HEAD "m,8,20,1,x,1,1,ok\nm,9,30,1,1,1,1,ok\n", "steps_per_s = x"},
        {"run.sm_count,run.gpu_count,run.actor_count,steps_per_s\n1,1,1,1\n2,2,2,2\n",
            "run.actor_count varies too, with 2 values"},
        {"run.sm_count,run.gpu_count,rate\n1,1,1\n2,2,2\n", "no column 'steps_per_s'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_refused(cases[i].rows, &plain, cases[i].words);
    }
}

static void test_columns_that_there_are_not_are_refused(void)
{
    static const struct {
        struct fulcrum_plot_heat_options options;
        const char *words;
    } cases[] = {
        {{.metric = "steps_pers"}, "--metric: no column 'steps_pers'; did you mean "
                                   "'steps_per_s'?"},
        {{.x = "run.sm_cout"}, "--x: no column 'run.sm_cout'; did you mean "
                               "'run.sm_count'?"},
        {{.y = "nothing"}, "--y: no column 'nothing'"},
        {{.x = "run.sm_count", .y = "run.sm_count"}, "on both axes"},
        {{.machines = "no-such-machine"}, "--machines"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_refused(grid, &cases[i].options, cases[i].words);
    }
}

static void test_fields_that_vary_are_found_in_json_too(void)
{
    static const char json[] =
        "{\"schema\":{\"name\":\"fulcrum-explore\",\"version\":1},\"points\":["
        "{\"run.sm_count\":1,\"run.gpu_count\":4,\"workload.step.cv\":3,\"steps_per_s\""
        ":1},{\"run.sm_count\":2,\"run.gpu_count\":4,\"workload.step.cv\":5,"
        "\"steps_per_s\":9}]}";
    struct plot_file opened;
    struct fulcrum_plot_fields fields;
    plot_file_open(&opened, "sweep.json", json, "points");
    CU_ASSERT_EQUAL(fulcrum_plot_fields_find(opened.rows, &fields, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(fields.count, 2);
    CU_ASSERT_STRING_EQUAL(fields.paths[0], "run.sm_count");
    CU_ASSERT_STRING_EQUAL(fields.paths[1], "workload.step.cv");
    CU_ASSERT_EQUAL(fields.value_counts[1], 2);
    CU_ASSERT_PTR_NULL(fulcrum_plot_rows_column(opened.rows, 4));
    plot_file_close(&opened);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_kind_of_axis_follows_the_spacing),
        SUITE_CASE(test_cells_end_half_way),
        SUITE_CASE(test_borders_of_extreme_values_are_finite),
        SUITE_CASE(test_few_values_are_the_ticks),
        SUITE_CASE(test_colours_grow_lighter_evenly),
        SUITE_CASE(test_best_cell_and_contours_are_named),
        SUITE_CASE(test_values_below_zero_have_round_contours),
        SUITE_CASE(test_equal_values_have_no_best_cell),
        SUITE_CASE(test_ratio_lines_are_named),
        SUITE_CASE(test_intervals_are_put_into_words),
        SUITE_CASE(test_machines_share_a_tag_or_are_noted),
        SUITE_CASE(test_odd_axes_are_refused),
        SUITE_CASE(test_large_grids_stay_small),
        SUITE_CASE(test_cells_come_from_rows_in_any_order),
        SUITE_CASE(test_intervals_come_with_their_metric),
        SUITE_CASE(test_axes_and_metric_can_be_chosen),
        SUITE_CASE(test_machines_stand_at_their_own_values),
        SUITE_CASE(test_what_is_no_grid_is_refused),
        SUITE_CASE(test_columns_that_there_are_not_are_refused),
        SUITE_CASE(test_fields_that_vary_are_found_in_json_too),
    };
    return suite_run("heat", cases, sizeof cases / sizeof cases[0], argc, argv);
}
