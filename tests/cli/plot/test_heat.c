/* test_heat.c - heat maps: axes, colours, findings, marks; their data from files. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/spec/heat_chart.c" /* NOLINT(bugprone-suspicious-include) */

#include "plots/spec/charts.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plots/chart/canvas.h"
#include "tests/support/colour.h"
#include "tests/support/plot_file.h"
#include "tests/support/suite.h"
#include "tests/support/texts.h"

struct machine {
    const char *name;
    double x;
    double y;
};

/* A heat map of threads x SMs; what is NAN in `ratio` and `lo` is not known. */
struct grid {
    size_t x_count;
    size_t y_count;
    const double *x;
    const double *y;
    double value[12];
    double ratio[12];
    double lo[12];
    double hi[12];
    bool cannot_run[12];
    size_t machine_count;
    struct machine machines[FULCRUM_HEAT_MACHINES_MAX + 1];
    const char *metric; /* NULL: steps_per_s */
    enum fulcrum_heat_contours contours;
};

static const char *metric_of(const struct grid *grid)
{
    return grid->metric != NULL ? grid->metric : "steps_per_s";
}

static struct fulcrum_result *result_of(const struct grid *grid)
{
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-explore");
    struct fulcrum_table *table = fulcrum_result_table(result, "points", NULL);
    for (size_t i = 0; i < grid->x_count * grid->y_count; i++) {
        fulcrum_table_row(table);
        fulcrum_table_number(table, "threads", NULL, grid->x[i % grid->x_count]);
        fulcrum_table_number(table, "sms", NULL, grid->y[i / grid->x_count]);
        fulcrum_table_estimate(
            table, metric_of(grid), NULL, grid->value[i], grid->lo[i], grid->hi[i]);
        fulcrum_table_number(table, "cpu_gpu_ratio_used", NULL, grid->ratio[i]);
        fulcrum_table_text(table, "status", NULL, grid->cannot_run[i] ? "no" : "ok");
    }
    table = fulcrum_result_table(result, "landmarks", NULL);
    for (size_t i = 0; i < grid->machine_count; i++) {
        fulcrum_table_row(table);
        fulcrum_table_text(table, "name", NULL, grid->machines[i].name);
        fulcrum_table_number(table, "x", NULL, grid->machines[i].x);
        fulcrum_table_number(table, "y", NULL, grid->machines[i].y);
    }
    return result;
}

/* Draws a result, which it frees, with the options of a grid. */
static struct fulcrum_canvas *drawn_as(const struct grid *grid,
    struct fulcrum_result *result, enum fulcrum_status expected)
{
    struct fulcrum_canvas *canvas = new_canvas((struct fulcrum_extent){640.0, 480.0});
    const struct fulcrum_heat_chart_data data = {.result = result,
        .x = "threads",
        .y = "sms",
        .metric = metric_of(grid),
        .x_label = "hardware threads",
        .y_label = "SMs",
        .value_name = "throughput",
        .contours = grid->contours};
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_chart_draw(&fulcrum_chart_heat, canvas, &data, NULL), expected);
    fulcrum_result_free(result);
    return canvas;
}

static struct fulcrum_canvas *drawn(const struct grid *grid)
{
    return drawn_as(grid, result_of(grid), FULCRUM_OK);
}

static void check_said(const struct grid *grid, const struct said *said)
{
    struct fulcrum_canvas *canvas = drawn(grid);
    assert_said(canvas, said);
    fulcrum_canvas_free(canvas);
}

TEST(test_kind_of_axis_follows_the_spacing)
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
    for (size_t i = 0; i < LENGTH(cases); i++) {
        CU_ASSERT_EQUAL(cells_kind(cases[i].values, cases[i].count), cases[i].kind);
    }
}

TEST(test_cells_end_half_way)
{
    static const double steps[] = {1, 2, 4};
    static const double factors[] = {4, 16, 64};
    static const double alone[] = {50};
    static const double linear_edges[] = {0.5, 1.5, 3, 5};
    static const double log_edges[] = {2, 8, 32, 128};
    for (size_t i = 0; i < 4; i++) {
        assert_close("linear", cells_edge(steps, 3, FULCRUM_AXIS_LINEAR, i),
            linear_edges[i], 1e-12);
        assert_close("logarithmic", cells_edge(factors, 3, FULCRUM_AXIS_LOG2, i),
            log_edges[i], 1e-12);
    }
    CU_ASSERT(cells_edge(alone, 1, FULCRUM_AXIS_LINEAR, 0) < 50.0);
    CU_ASSERT(cells_edge(alone, 1, FULCRUM_AXIS_LINEAR, 1) > 50.0);
}

/* Borders that no double holds would leave the page. */
TEST(test_borders_of_extreme_values_are_finite)
{
    static const double far[][2] = {{-1e308, 1e308}, {1e-300, 2e300}, {1e-307, 1e-300}};
    for (size_t i = 0; i < LENGTH(far); i++) {
        const struct grid grid = {2, 1, far[i], far[0], .value = {1, 2}};
        enum fulcrum_axis_kind kind = cells_kind(far[i], 2);
        for (size_t k = 0; k <= 2; k++) {
            CU_ASSERT(isfinite(cells_edge(far[i], 2, kind, k)));
        }
        fulcrum_canvas_free(drawn(&grid));
    }
}

TEST(test_few_values_are_the_ticks)
{
    static const double values[] = {8, 24, 72, 108};
    struct fulcrum_axis fitted = {.tick_count = 0};
    cells_fit(&fitted, values, 4, 10.0);
    CU_ASSERT_EQUAL(fitted.tick_count, 4);
    CU_ASSERT_STRING_EQUAL(fitted.ticks[3].label, "108");
    cells_fit(&fitted, values, 4, 3.0);
    CU_ASSERT(fitted.ticks[0].value < 8.0 || fitted.ticks[0].value > 8.0 ||
              fitted.tick_count != 4);
}

/* Cube root of luminance, as CIE lightness has it: equal steps look equal. */
static double lightness(unsigned rgb)
{
    return 116.0 * cbrt(luminance(rgb)) - 16.0;
}

TEST(test_colours_grow_lighter_evenly)
{
    double first = lightness(fulcrum_palette_heat(0.0));
    double last = lightness(fulcrum_palette_heat(1.0));
    CU_ASSERT(last - first > 70.0);
    for (int i = 0; i <= 100; i++) {
        double share = i / 100.0;
        unsigned rgb = fulcrum_palette_heat(share);
        double even = first + share * (last - first);
        CU_ASSERT(fabs(lightness(rgb) - even) < 3.0);
        CU_ASSERT(contrast(fulcrum_palette_heat_ink(share), rgb) > 4.0);
    }
    CU_ASSERT_EQUAL(fulcrum_palette_heat(-3.0), 0x440154);
    CU_ASSERT_EQUAL(fulcrum_palette_heat(3.0), 0xFDE725);
}

static const double threads[] = {8, 16, 32};
static const double sms[] = {20, 40, 60, 80};

static void set_all(double values[12], double value)
{
    for (size_t i = 0; i < 12; i++) {
        values[i] = value;
    }
}

/* Rises to the far corner, with one cell that cannot run and one not known. */
static struct grid grid_of(double value_of_9, double offset)
{
    struct grid grid = {3, 4, threads, sms, .cannot_run[2] = true};
    for (size_t i = 0; i < 12; i++) {
        size_t row = i / 3;
        grid.value[i] = 100.0 * (1.0 + (double)(i % 3)) * (1.0 + (double)row) + offset;
    }
    grid.value[9] = value_of_9;
    set_all(grid.ratio, (double)NAN);
    set_all(grid.lo, (double)NAN);
    set_all(grid.hi, (double)NAN);
    return grid;
}

TEST(test_best_cell_and_contours_are_named)
{
    struct grid grid = grid_of((double)NAN, 0.0);
    check_said(
        &grid, (struct said[]){
                   {"best 1.2k at (32, 80), where the chart ends; 1 of 10 points", 1},
                   {"50 %", 1}, {"percent of the best value", 1}, {"cannot run", 1},
                   {"not known", 1}, {"existing machine", 0}, {NULL, 0}});
    /* What is good to have little of: the other corner, in percent above 100. */
    grid.metric = "runtime_s";
    check_said(
        &grid, (struct said[]){{"best 100 at (8, 20)", 1}, {"200 %", 1}, {NULL, 0}});
    grid.metric = "gpu_w";
    check_said(
        &grid, (struct said[]){{"best", 0}, {"line of equal value", 1}, {NULL, 0}});
    grid.contours = FULCRUM_HEAT_PLAIN;
    check_said(&grid, (struct said[]){{"line of equal value", 0}, {NULL, 0}});
}

/* The page as a document has it; the caller frees it. */
static char *document_of(const struct fulcrum_canvas *canvas)
{
    FILE *out = stream_new();
    ASSERT_OK(fulcrum_canvas_write_svg(canvas, "heat", out, NULL));
    return stream_text(out);
}

/* The rectangles of cells around a spot, and their colour; INFINITY: all there are. */
static size_t cells_at(const char *svg, struct fulcrum_spot at, unsigned *rgb)
{
    size_t found = 0;
    for (const char *path = strstr(svg, "<path fill=\"#"); path != NULL;
         path = strstr(path + 1, "<path fill=\"#")) {
        unsigned fill = (unsigned)strtoul(path + strlen("<path fill=\"#"), NULL, 16);
        const char *end = strchr(path, '>');
        for (const char *from = strchr(path, 'M'); from != NULL && from < end;
             from = strchr(from + 1, 'M')) {
            char *next = NULL;
            double x = strtod(from + 1, &next);
            double y = strtod(next, &next);
            double width = strtod(next + 1, &next);
            double height = strtod(next + 1, NULL);
            bool is_around =
                at.x > x && at.x < x + width && at.y > y && at.y < y + height;
            if (is_around || isinf(at.x)) {
                *rgb = fill;
                found++;
            }
        }
    }
    return found;
}

/* Cells of one colour share rectangles; what cannot run or is not known has none. */
TEST(test_cells_have_their_colour_once)
{
    struct grid grid = grid_of((double)NAN, 0.0);
    struct fulcrum_canvas *canvas = drawn(&grid);
    struct fulcrum_rect panel = {0};
    size_t count = 0;
    const struct fulcrum_box *boxes = fulcrum_canvas_boxes(canvas, &count);
    for (size_t i = 0; i < count; i++) {
        panel = boxes[i].kind == FULCRUM_BOX_PANEL ? boxes[i].rect : panel;
    }
    unsigned colours[12] = {0};
    char *svg = document_of(canvas);
    for (size_t i = 0; i < 12; i++) {
        size_t row = i / 3;
        const struct fulcrum_spot middle = {
            panel.x0 + ((double)(i % 3) + 0.5) / 3.0 * (panel.x1 - panel.x0),
            panel.y1 - ((double)row + 0.5) / 4.0 * (panel.y1 - panel.y0)};
        CU_ASSERT_EQUAL(cells_at(svg, middle, &colours[i]), i == 2 || i == 9 ? 0 : 1);
    }
    for (size_t i = 0; i < 144; i++) {
        size_t a = i / 12;
        size_t b = i % 12;
        if (colours[a] != 0 && colours[b] != 0) {
            CU_ASSERT_EQUAL(
                colours[a] == colours[b], !(fabs(grid.value[a] - grid.value[b]) > 0.0));
            CU_ASSERT(!(grid.value[a] > grid.value[b]) ||
                      luminance(colours[a]) > luminance(colours[b]));
        }
    }
    free(svg);
    fulcrum_canvas_free(canvas);
    for (size_t i = 0; i < 12; i++) {
        grid.value[i] = i % 3 == 2 ? 9.0 : 7.0;
        grid.cannot_run[i] = false;
    }
    canvas = drawn(&grid);
    svg = document_of(canvas);
    CU_ASSERT_EQUAL(
        cells_at(svg, (struct fulcrum_spot){INFINITY, INFINITY}, &colours[0]), 2);
    free(svg);
    fulcrum_canvas_free(canvas);
}

/* Negative values have no percents. */
TEST(test_values_below_zero_have_round_contours)
{
    const struct grid grid = grid_of(-500.0, -600.0);
    check_said(&grid, (struct said[]){{" %", 1} /* of the finding */,
                          {"line of equal value", 1}, {NULL, 0}});
}

TEST(test_equal_values_have_no_best_cell)
{
    struct grid grid = grid_of(7.0, 0.0);
    set_all(grid.value, 7.0);
    check_said(&grid,
        (struct said[]){{"within 1 % of 7 everywhere", 1}, {"best", 0}, {NULL, 0}});
    for (size_t i = 0; i < 12; i++) {
        grid.cannot_run[i] = true;
    }
    check_said(&grid, (struct said[]){{"no data", 1}, {NULL, 0}});
}

/* Threads over SMs at each cell: ratios 1/4 and 1 lie within, 4 does not. */
TEST(test_ratio_lines_are_named)
{
    struct grid grid = grid_of((double)NAN, 0.0);
    for (size_t i = 0; i < 12; i++) {
        size_t row = i / 3;
        grid.ratio[i] = threads[i % 3] / sms[row];
    }
    check_said(&grid, (struct said[]){{"ratio 1/4", 1}, {"ratio 1/16", 0},
                          {"ratio 4", 0}, {"constant CPU/GPU ratio", 1}, {NULL, 0}});
    /* What is drawn as colour needs no lines. */
    grid.metric = "cpu_gpu_ratio";
    check_said(&grid, (struct said[]){{"constant CPU/GPU ratio", 0}, {NULL, 0}});
}

/* A cell that cannot run has no say in how far intervals reach. */
TEST(test_intervals_are_put_into_words)
{
    struct grid grid = grid_of((double)NAN, 0.0);
    for (size_t i = 0; i < 12; i++) {
        grid.value[i] = i == 7 ? 1000.0 : 100.0;
        grid.lo[i] = i == 2 ? 1.0 : 0.9 * grid.value[i];
        grid.hi[i] = i == 5 ? 1.5 * grid.value[i] : 1.2 * grid.value[i];
    }
    check_said(&grid, (struct said[]){{"90 % interval: 900 to 1.2k at the best", 1},
                          {"at most 10 % below and 50 % above", 1}, {NULL, 0}});
    set_all(grid.lo, (double)NAN);
    check_said(&grid, (struct said[]){{"interval", 0}, {NULL, 0}});
}

TEST(test_machines_share_a_tag_or_are_noted)
{
    struct grid grid = grid_of((double)NAN, 0.0);
    grid.machine_count = 3;
    grid.machines[0] = (struct machine){"far", 900.0, 40.0};
    for (size_t i = 1; i <= FULCRUM_HEAT_MACHINES_MAX; i++) {
        grid.machines[i] = (struct machine){i == 1 ? "one" : "two", 16.0, 40.0};
    }
    check_said(&grid,
        (struct said[]){{"one, two", 1}, {"Beyond this chart: far at (900, 40)", 1},
            {"existing machine", 1}, {NULL, 0}});
    grid.machine_count = 1;
    check_said(&grid, (struct said[]){{"existing machine", 0}, {NULL, 0}});
    grid.machine_count = FULCRUM_HEAT_MACHINES_MAX + 1;
    fulcrum_canvas_free(drawn_as(&grid, result_of(&grid), FULCRUM_ERR_RANGE));
}

enum { LARGE = 200 };

/* A smooth hill with a little noise, which parts cells of one colour. */
static struct fulcrum_result *large_result(void)
{
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-explore");
    struct fulcrum_table *table = fulcrum_result_table(result, "points", NULL);
    for (size_t i = 0; i < (size_t)LARGE * LARGE; i++) {
        size_t row = i / LARGE;
        double x = (double)(i % LARGE) / LARGE;
        double y = (double)row / LARGE;
        double noise = 0.002 * sin(12.9898 * (double)i);
        fulcrum_table_row(table);
        fulcrum_table_number(table, "threads", NULL, (double)(i % LARGE));
        fulcrum_table_number(table, "sms", NULL, (double)row);
        fulcrum_table_number(
            table, "steps_per_s", NULL, 10.0 + x * (2.0 - x) + y * y + noise);
    }
    return result;
}

TEST(test_large_grids_stay_small)
{
    const struct grid grid = {.metric = NULL};
    struct fulcrum_canvas *canvas = drawn_as(&grid, large_result(), FULCRUM_OK);
    char *svg = document_of(canvas);
    /* Each number of a cell would take more. */
    size_t bytes = strlen(svg);
    free(svg);
    CU_ASSERT(bytes > 10000);
    CU_ASSERT(bytes < (size_t)LARGE * LARGE * 15);
    fulcrum_canvas_free(canvas);
}

/* Options that every drawing here has. */
#define PAGE .width_pt = 640.0, .height_pt = 480.0
#define HEAD                                                                           \
    "machine,machine.cpu.thread_count,run.sm_count,actor_count,steps_per_s,runtime_s," \
    "cpu_gpu_ratio_used,status\n"

/* Rows in no order; one pair of values is missing, one cannot run. */
static const char grid_text[] = HEAD "m,16,80,9,400,1,0.2,ok\n"
                                     "m,8,20,9,100,8,0.4,ok\n"
                                     "m,16,20,9,200,4,0.8,ok\n"
                                     "m,8,40,9,,,,too few threads\n"
                                     "m,16,40,9,300,2,0.4,ok\n";

TEST(test_files_become_heat_maps)
{
    static const struct {
        struct fulcrum_plot_job options;
        struct drawing drawing;
    } cases[] = {
        {{.machines = "none", PAGE},
            {"grid.csv", grid_text,
                {{"best 400 at (16, 80), where the chart ends; 1 of 4 points", 1},
                    {"hardware threads (machine.cpu.thread_count)", 1},
                    {"agent steps of all actors, 1/s (steps_per_s)", 2},
                    {"1 of 5 points cannot run, one as too few threads", 1},
                    {"not known", 1}}}},
        {{.metric = "runtime_s", .x = "run.sm_count", .machines = "none", PAGE},
            {"grid.csv", grid_text, {{"best 1", 1}, {"at (80, 16)", 1}}}},
        {{.machines = "none", PAGE},
            {"grid.csv",
                "machine.cpu.thread_count,run.sm_count,actor_count,steps_per_s,"
                "steps_per_s_lo,steps_per_s_hi\n8,20,9,100,90,120\n16,40,9,200,150,\n",
                {{"at most 10 % below and 20 % above", 1}, {"at the best point", 0}}}},
        /* DGX-1 has 80 threads and 80 SMs a GPU, DGX A100 has 256 and 108. */
        {{.machines = "dgx-1,dgx-a100", PAGE},
            {"grid.csv", grid_text,
                {{"dgx-1 at (80, 80)", 1}, {"dgx-a100 at (256, 108)", 1}}}}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_drawing("heat", &cases[i].drawing, &cases[i].options);
    }
}

TEST(test_what_is_no_grid_is_refused)
{
    static const struct fulcrum_plot_job plain = {.machines = "none", PAGE};
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
        {HEAD "m,8,20,1,x,1,1,ok\nm,9,30,1,1,1,1,ok\n", "steps_per_s = 'x'"},
        {"run.sm_count,run.gpu_count,run.actor_count,steps_per_s\n1,1,1,1\n2,2,2,2\n",
            "run.actor_count varies too, beside"},
        {"run.sm_count,run.gpu_count,rate\n1,1,1\n2,2,2\n", "no column 'steps_per_s'"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const struct refusal refusal = {
            cases[i].rows, FULCRUM_ERR_FORMAT, cases[i].words};
        assert_refusal("heat", "grid.csv", &refusal, &plain);
    }
}

TEST(test_columns_that_there_are_not_are_refused)
{
    static const struct {
        struct fulcrum_plot_job options;
        struct refusal refusal;
    } cases[] = {
        {{.metric = "steps_pers"},
            {grid_text, FULCRUM_ERR_FORMAT,
                "--metric: no column 'steps_pers'; did you mean 'steps_per_s'?"}},
        {{.x = "run.sm_cout"},
            {grid_text, FULCRUM_ERR_FORMAT,
                "--x: no column 'run.sm_cout'; did you mean 'run.sm_count'?"}},
        {{.y = "nothing"}, {grid_text, FULCRUM_ERR_FORMAT, "--y: no column 'nothing'"}},
        {{.x = "run.sm_count", .y = "run.sm_count"},
            {grid_text, FULCRUM_ERR_FORMAT, "on both axes"}},
        {{.machines = "no-such-machine"},
            {grid_text, FULCRUM_ERR_UNKNOWN_NAME, "--machines"}},
        {{.x = "actor_count", .y = "machine.cpu.thread_count", .machines = "dgx-1"},
            {grid_text, FULCRUM_ERR_FORMAT, "run.sm_count varies too"}},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_refusal("heat", "grid.csv", &cases[i].refusal, &cases[i].options);
    }
}

TEST(test_fields_that_vary_are_found_in_json_too)
{
    static const char json[] =
        "{\"schema\":{\"name\":\"fulcrum-explore\",\"version\":1},\"points\":["
        "{\"run.sm_count\":1,\"run.gpu_count\":4,\"workload.step.cv\":3,\"steps_per_s\""
        ":1},{\"run.sm_count\":2,\"run.gpu_count\":4,\"workload.step.cv\":5,"
        "\"steps_per_s\":9}]}";
    struct plot_file opened;
    plot_file_open(&opened, "sweep.json", json);
    const struct fulcrum_plot_fields fields = fulcrum_plot_fields_of(
        fulcrum_result_table_of(opened.job.source.result, "points"));
    CU_ASSERT_EQUAL_FATAL(fields.count, 2);
    CU_ASSERT_EQUAL(fields.columns[0], 0);
    CU_ASSERT_EQUAL(fields.columns[1], 2);
    plot_file_close(&opened);
}
