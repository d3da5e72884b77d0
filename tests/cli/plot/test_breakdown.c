/* test_breakdown.c - stacked bars: parts and wholes, names of points, groups of files.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/spec/charts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/plot/plot_data.h"
#include "tests/support/plot_file.h"
#include "tests/support/suite.h"
#include "tests/support/texts.h"

enum { FILES_MOST = 3 };

static struct fulcrum_canvas *new_canvas(double height_pt)
{
    struct fulcrum_canvas *canvas = NULL;
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_canvas_new(&canvas, 640.0, height_pt, NULL), FULCRUM_OK);
    return canvas;
}

static void test_stack_is_as_long_as_its_parts(void)
{
    const struct fulcrum_row_part parts[] = {{2.0, 1}, {0.0, 2}, {6.0, 3}};
    struct fulcrum_row row = {.name = "a"};
    suite_assert_close(
        "whole", fulcrum_row_stack(&row, parts, 3, FULCRUM_ROW_AMOUNT), 8.0, 1e-12);
    CU_ASSERT_EQUAL(row.bar_count, 3);
    suite_assert_close("end", row.bars[2].hi, 8.0, 1e-12);
    CU_ASSERT_STRING_EQUAL(row.bars[0].text, "25 %");
    CU_ASSERT_STRING_EQUAL(row.bars[1].text, ""); /* nothing to label */
    CU_ASSERT_STRING_EQUAL(row.bars[2].text, "75 %");
    struct fulcrum_row share = {.name = "a"};
    (void)fulcrum_row_stack(&share, parts, 3, FULCRUM_ROW_SHARE);
    suite_assert_close("begin", share.bars[2].lo, 0.25, 1e-12);
    suite_assert_close("end", share.bars[2].hi, 1.0, 1e-12);
    const struct fulcrum_row_part none[] = {{0.0, 1}};
    struct fulcrum_row empty = {.name = "a"};
    (void)fulcrum_row_stack(&empty, none, 1, FULCRUM_ROW_SHARE);
    CU_ASSERT_EQUAL(empty.bars[0].hi, 0.0);
}

static void test_only_parts_that_there_are_are_explained(void)
{
    const struct fulcrum_breakdown_row rows[] = {
        {.name = "one", .text = "5 ms", .parts = {3.0, 0.0, 1.0}},
        {.name = "two", .text = "6 ms", .parts = {2.0, 0.0, 6.0}}};
    const struct fulcrum_breakdown_data data = {.title = "a cycle",
        .x_label = "time",
        .part_names = {"first", "second", "third"},
        .part_styles = {0, 1, 2},
        .part_count = 3,
        .rows = rows,
        .count = 2};
    struct fulcrum_canvas *canvas = new_canvas(480.0);
    CU_ASSERT_EQUAL(
        fulcrum_chart_draw(&fulcrum_chart_breakdown, canvas, &data, NULL), FULCRUM_OK);
    static const char *const words[] = {
        "first", "third", "one", "two", "5 ms", "a cycle", "time"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        CU_ASSERT_EQUAL(count_texts(canvas, words[i]), 1);
    }
    CU_ASSERT_EQUAL(count_texts(canvas, "second"), 0);
    CU_ASSERT_EQUAL(count_texts(canvas, "75 %"), 2);
    CU_ASSERT_EQUAL(count_texts(canvas, "points"), 0);
    fulcrum_canvas_free(canvas);
}

/* Drawn and explained where bars are as long as their wholes, and only there. */
static void test_intervals_are_shown_where_lengths_are_amounts(void)
{
    const struct fulcrum_breakdown_row rows[] = {
        {.name = "one", .parts = {3.0}, .lo = 2.0, .hi = 9.0},
        {.name = "two", .parts = {4.0}, .lo = NAN, .hi = NAN}};
    struct fulcrum_breakdown_data data = {.title = "t",
        .unit = "s",
        .interval_name = "the interval",
        .part_names = {"p"},
        .part_count = 1,
        .rows = rows,
        .count = 2};
    static const struct {
        enum fulcrum_row_scale scale;
        size_t first;
        size_t explained;
    } cases[] = {{FULCRUM_ROW_AMOUNT, 0, 1}, {FULCRUM_ROW_AMOUNT, 1, 0},
        {FULCRUM_ROW_SHARE, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fulcrum_canvas *canvas = new_canvas(480.0);
        data.scale = cases[i].scale;
        data.rows = rows + cases[i].first;
        data.count = 2 - cases[i].first;
        CU_ASSERT_EQUAL(
            fulcrum_chart_draw(&fulcrum_chart_breakdown, canvas, &data, NULL),
            FULCRUM_OK);
        CU_ASSERT_EQUAL(count_texts(canvas, "the interval"), cases[i].explained);
        /* The axis reaches as far as the interval does. */
        CU_ASSERT_EQUAL(count_texts(canvas, "8 s") > 0, cases[i].explained == 1);
        fulcrum_canvas_free(canvas);
    }
}

/* Of more rows than there is room for, the first and the last are among those shown. */
static void test_many_rows_are_thinned_evenly(void)
{
    enum { ROWS = 500 };
    static struct fulcrum_breakdown_row rows[ROWS];
    static char names[ROWS][16];
    for (size_t i = 0; i < ROWS; i++) {
        (void)snprintf(names[i], sizeof names[i], "row %zu.", i);
        rows[i] = (struct fulcrum_breakdown_row){.name = names[i], .parts = {1.0}};
    }
    const struct fulcrum_breakdown_data data = {.title = "t",
        .part_names = {"p"},
        .part_count = 1,
        .rows = rows,
        .count = ROWS};
    struct fulcrum_canvas *canvas = new_canvas(480.0);
    CU_ASSERT_EQUAL(
        fulcrum_chart_draw(&fulcrum_chart_breakdown, canvas, &data, NULL), FULCRUM_OK);
    size_t shown = count_texts(canvas, "row ");
    char finding[40];
    (void)snprintf(finding, sizeof finding, "%zu of 500 points", shown);
    CU_ASSERT(shown > 10 && shown < 100);
    CU_ASSERT_EQUAL(count_texts(canvas, finding), 1);
    CU_ASSERT_EQUAL(count_texts(canvas, "row 0."), 1);
    CU_ASSERT_EQUAL(count_texts(canvas, "row 499."), 1);
    CU_ASSERT_EQUAL(count_texts(canvas, "and "), 0);
    fulcrum_canvas_free(canvas);
}

static void test_odd_parts_are_refused(void)
{
    static const double odd[] = {-0.1, NAN, INFINITY};
    struct fulcrum_canvas *canvas = new_canvas(480.0);
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        const struct fulcrum_breakdown_row row = {
            .name = "odd", .parts = {1.0, odd[i]}};
        const struct fulcrum_breakdown_data data = {
            .part_names = {"fine", "bad"}, .part_count = 2, .rows = &row, .count = 1};
        struct fulcrum_error err = {FULCRUM_OK, ""};
        CU_ASSERT_EQUAL(
            fulcrum_chart_draw(&fulcrum_chart_breakdown, canvas, &data, &err),
            FULCRUM_ERR_RANGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "bad of odd"));
    }
    const struct fulcrum_breakdown_data many = {
        .part_count = FULCRUM_BREAKDOWN_PARTS_MAX + 1};
    CU_ASSERT_EQUAL(fulcrum_chart_draw(&fulcrum_chart_breakdown, canvas, &many, NULL),
        FULCRUM_ERR_RANGE);
    fulcrum_canvas_free(canvas);
}

/* Files with their sources open. */
struct opened {
    struct plot_file sources[FILES_MOST];
    struct fulcrum_plot_breakdown_file files[FILES_MOST];
    size_t count;
};

static void open_one(struct opened *opened, const char *file, const char *text)
{
    size_t i = opened->count++;
    plot_file_open(&opened->sources[i], file, text, "points");
    opened->files[i] =
        (struct fulcrum_plot_breakdown_file){file, opened->sources[i].rows};
}

static void close_all(struct opened *opened)
{
    for (size_t i = 0; i < opened->count; i++) {
        plot_file_close(&opened->sources[i]);
    }
}

#define HEAD                                                                           \
    "machine,workload,run.actor_count,steps_per_s,cpu_residence_s,host_residence_s,"   \
    "gpu_residence_s,delay_s,cpu_w,gpu_w,system_w,gpu_inference_busy_frac,"            \
    "gpu_train_busy_frac,flags,status\n"

static const char two_points[] =
    HEAD "small,w,1,100,0.001,0.002,0.003,0.004,50,100,200,0.2,0.3,guessed,ok\n"
         "small,w,64,5000,0.002,0.002,0.002,0,60,200,300,0.4,0.6,,ok\n"
         "small,w,128,,,,,,,,,,,,too many\n";

static const char one_point[] =
    HEAD "large,w,64,9000,0.001,0.001,0.002,0,70,300,,0.1,0.2,guessed; far,ok\n";

static struct fulcrum_breakdown_data broken_down(const struct opened *opened,
    enum fulcrum_plot_parts parts, enum fulcrum_row_scale scale)
{
    struct fulcrum_breakdown_data data;
    const struct fulcrum_plot_breakdown_options options = {parts, scale};
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_plot_breakdown_data(
            &(struct fulcrum_plot_breakdown_files){opened->files, opened->count},
            &options, plot_file_room(), &data, NULL),
        FULCRUM_OK);
    return data;
}

static void test_points_of_a_sweep_are_bars(void)
{
    struct opened opened = {.count = 0};
    open_one(&opened, "two.csv", two_points);
    struct fulcrum_breakdown_data data =
        broken_down(&opened, FULCRUM_PLOT_CYCLE, FULCRUM_ROW_AMOUNT);
    CU_ASSERT_EQUAL_FATAL(data.count, 2);
    CU_ASSERT_EQUAL(data.part_count, 4);
    CU_ASSERT_STRING_EQUAL(data.rows[0].name, "1 actor");
    CU_ASSERT_STRING_EQUAL(data.rows[1].name, "64 actors");
    CU_ASSERT_STRING_EQUAL(data.rows[0].text, "10 ms, 100 steps/s");
    suite_assert_close("GPU", data.rows[0].parts[2], 0.003, 1e-12);
    CU_ASSERT_STRING_EQUAL(data.text.title, "w on small");
    CU_ASSERT_STRING_EQUAL(
        data.text.footnote, "guessed; two.csv: 1 of 3 points cannot run");
    fulcrum_plot_room_clear(plot_file_room());
    close_all(&opened);
}

static void test_the_rest_is_what_is_left(void)
{
    struct opened opened = {.count = 0};
    open_one(&opened, "two.csv", two_points);
    struct fulcrum_breakdown_data data =
        broken_down(&opened, FULCRUM_PLOT_WATTS, FULCRUM_ROW_SHARE);
    CU_ASSERT_EQUAL(data.part_count, 3);
    suite_assert_close("rest", data.rows[0].parts[2], 50.0, 1e-12);
    suite_assert_close("rest", data.rows[1].parts[2], 40.0, 1e-12);
    CU_ASSERT_STRING_EQUAL(data.rows[1].text, "300 W, 5k steps/s");
    CU_ASSERT_EQUAL(data.scale, FULCRUM_ROW_SHARE);
    fulcrum_plot_room_clear(plot_file_room());
    /* Rounding leaves no time below 0. */
    data = broken_down(&opened, FULCRUM_PLOT_GPU, FULCRUM_ROW_AMOUNT);
    suite_assert_close("idle", data.rows[0].parts[2], 0.5, 1e-12);
    CU_ASSERT(data.rows[1].parts[2] >= 0.0 && data.rows[1].parts[2] < 1e-9);
    fulcrum_plot_room_clear(plot_file_room());
    close_all(&opened);
}

/* Named after what tells them apart, with a gap between the groups. */
static void test_files_are_groups(void)
{
    struct opened opened = {.count = 0};
    open_one(&opened, "two.csv", two_points);
    open_one(&opened, "one.csv", one_point);
    struct fulcrum_breakdown_data data =
        broken_down(&opened, FULCRUM_PLOT_CYCLE, FULCRUM_ROW_AMOUNT);
    static const char *const names[] = {
        "small, 1 actor", "small, 64 actors", "", "large"};
    CU_ASSERT_EQUAL_FATAL(data.count, 4);
    for (size_t i = 0; i < 4; i++) {
        CU_ASSERT_STRING_EQUAL(data.rows[i].name, names[i]);
    }
    CU_ASSERT_STRING_EQUAL(data.text.title, "w");
    CU_ASSERT_PTR_NOT_NULL(strstr(data.text.footnote, "guessed"));
    CU_ASSERT_PTR_NOT_NULL(strstr(data.text.footnote, "far"));
    fulcrum_plot_room_clear(plot_file_room());
    close_all(&opened);
}

#define WITH_ENDS                                                                      \
    "run.actor_count,steps_per_s,steps_per_s_lo,steps_per_s_hi,cpu_residence_s,"       \
    "host_residence_s,gpu_residence_s,delay_s,cpu_w,gpu_w,system_w,system_w_lo,"       \
    "system_w_hi,gpu_inference_busy_frac,gpu_train_busy_frac\n"                        \
    "2,100,80,125,0.01,0.005,0.004,0.001,50,100,200,180,300,0.2,0.3\n"                 \
    "4,100,,,0.02,0.01,0.008,0.002,50,100,200,,,0.2,0.3\n"

/* Little's law: two actors at 100 steps/s have cycles of 20 ms, at 125 of 16 ms. */
static void test_the_interval_is_that_of_the_whole(void)
{
    struct opened opened = {.count = 0};
    open_one(&opened, "ends.csv", WITH_ENDS);
    struct fulcrum_breakdown_data data =
        broken_down(&opened, FULCRUM_PLOT_CYCLE, FULCRUM_ROW_AMOUNT);
    suite_assert_close("fast", data.rows[0].lo, 2.0 / 125.0, 1e-12);
    suite_assert_close("slow", data.rows[0].hi, 2.0 / 80.0, 1e-12);
    CU_ASSERT(isnan(data.rows[1].lo) && isnan(data.rows[1].hi));
    fulcrum_plot_room_clear(plot_file_room());
    data = broken_down(&opened, FULCRUM_PLOT_WATTS, FULCRUM_ROW_AMOUNT);
    suite_assert_close("least watts", data.rows[0].lo, 180.0, 1e-12);
    suite_assert_close("most watts", data.rows[0].hi, 300.0, 1e-12);
    fulcrum_plot_room_clear(plot_file_room());
    /* All of a GPU's time is all of it. */
    data = broken_down(&opened, FULCRUM_PLOT_GPU, FULCRUM_ROW_AMOUNT);
    CU_ASSERT(isnan(data.rows[0].lo));
    fulcrum_plot_room_clear(plot_file_room());
    close_all(&opened);
}

/* What 'fulcrum predict' writes is one point. */
static void test_a_prediction_is_a_bar(void)
{
    static const char text[] =
        "{\"schema\":{\"name\":\"fulcrum-predict\",\"version\":1},\"machine\":\"dgx\","
        "\"workload\":\"w\",\"steps_per_s\":7,\"gpu_inference_busy_frac\":0.5,"
        "\"gpu_train_busy_frac\":0.25,\"cpu_w\":1,\"gpu_w\":2,\"system_w\":4,"
        "\"intervals\":{\"system_w\":[3,6]},\"flags\":[\"guessed\",\"far\"]}";
    struct opened opened = {.count = 0};
    open_one(&opened, "p.json", text);
    struct fulcrum_breakdown_data data =
        broken_down(&opened, FULCRUM_PLOT_GPU, FULCRUM_ROW_AMOUNT);
    CU_ASSERT_EQUAL_FATAL(data.count, 1);
    CU_ASSERT_STRING_EQUAL(data.rows[0].name, "dgx");
    CU_ASSERT_STRING_EQUAL(data.rows[0].text, "7 steps/s");
    suite_assert_close("idle", data.rows[0].parts[2], 0.25, 1e-12);
    CU_ASSERT_STRING_EQUAL(data.text.footnote, "guessed; far");
    fulcrum_plot_room_clear(plot_file_room());
    data = broken_down(&opened, FULCRUM_PLOT_WATTS, FULCRUM_ROW_AMOUNT);
    suite_assert_close("least watts", data.rows[0].lo, 3.0, 1e-12);
    suite_assert_close("most watts", data.rows[0].hi, 6.0, 1e-12);
    fulcrum_plot_room_clear(plot_file_room());
    close_all(&opened);
}

static void test_files_without_the_parts_are_refused(void)
{
    static const struct {
        const char *text;
        enum fulcrum_plot_parts parts;
        const char *words;
    } cases[] = {
        {"run.actor_count,steps_per_s\n1,2\n", FULCRUM_PLOT_CYCLE,
            "odd.csv: no column 'cpu_residence_s'"},
        {"cpu_w,gpu_w\n1,2\n", FULCRUM_PLOT_WATTS, "no column 'system_w'"},
        {"cpu_w,gpu_w,system_w\n1,2,\n", FULCRUM_PLOT_WATTS,
            "no point has a breakdown of watts"},
        {"cpu_w,gpu_w,system_w\n1,2,2.5\n", FULCRUM_PLOT_WATTS,
            "point 1: what is left of the whole is -0.5"},
        {"cpu_w,gpu_w,system_w\n-1,2,2.5\n", FULCRUM_PLOT_WATTS,
            "point 1: cpu_w is -1"},
        {"cpu_w,gpu_w,system_w\nx,2,2.5\n", FULCRUM_PLOT_WATTS, "cpu_w = x"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct opened opened = {.count = 0};
        struct fulcrum_breakdown_data data;
        struct fulcrum_error err = {FULCRUM_OK, ""};
        const struct fulcrum_plot_breakdown_options options = {
            cases[i].parts, FULCRUM_ROW_AMOUNT};
        open_one(&opened, "odd.csv", cases[i].text);
        CU_ASSERT_NOT_EQUAL(fulcrum_plot_breakdown_data(
                                &(struct fulcrum_plot_breakdown_files){opened.files, 1},
                                &options, plot_file_room(), &data, &err),
            FULCRUM_OK);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, cases[i].words));
        close_all(&opened);
    }
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_stack_is_as_long_as_its_parts),
        SUITE_CASE(test_only_parts_that_there_are_are_explained),
        SUITE_CASE(test_intervals_are_shown_where_lengths_are_amounts),
        SUITE_CASE(test_many_rows_are_thinned_evenly),
        SUITE_CASE(test_odd_parts_are_refused),
        SUITE_CASE(test_points_of_a_sweep_are_bars),
        SUITE_CASE(test_the_rest_is_what_is_left),
        SUITE_CASE(test_files_are_groups),
        SUITE_CASE(test_the_interval_is_that_of_the_whole),
        SUITE_CASE(test_a_prediction_is_a_bar),
        SUITE_CASE(test_files_without_the_parts_are_refused),
    };
    return suite_run("breakdown", cases, sizeof cases / sizeof cases[0], argc, argv);
}
