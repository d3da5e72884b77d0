/* test_breakdown.c - stacked bars: parts and wholes, names of points, groups of files.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/spec/charts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/plot_file.h"
#include "tests/support/suite.h"
#include "tests/support/texts.h"

static const struct fulcrum_extent page = {640.0, 480.0};

TEST(test_stack_is_as_long_as_its_parts)
{
    const struct fulcrum_row_part parts[] = {
        {.size = 2.0, .rgb = 1}, {.size = 0.0, .rgb = 2}, {.size = 6.0, .rgb = 3}};
    struct fulcrum_row row = {.name = "a"};
    assert_close(
        "whole", fulcrum_row_stack(&row, parts, 3, FULCRUM_ROW_AMOUNT), 8.0, 1e-12);
    CU_ASSERT_EQUAL(row.bar_count, 3);
    assert_close("end", row.bars[2].hi, 8.0, 1e-12);
    CU_ASSERT_STRING_EQUAL(row.bars[0].text, "25 %");
    CU_ASSERT_STRING_EQUAL(row.bars[1].text, ""); /* nothing to label */
    CU_ASSERT_STRING_EQUAL(row.bars[2].text, "75 %");
    struct fulcrum_row share = {.name = "a"};
    (void)fulcrum_row_stack(&share, parts, 3, FULCRUM_ROW_SHARE);
    assert_close("begin", share.bars[2].lo, 0.25, 1e-12);
    assert_close("end", share.bars[2].hi, 1.0, 1e-12);
    const struct fulcrum_row_part none[] = {{.size = 0.0, .rgb = 1}};
    struct fulcrum_row empty = {.name = "a"};
    (void)fulcrum_row_stack(&empty, none, 1, FULCRUM_ROW_SHARE);
    CU_ASSERT_EQUAL(empty.bars[0].hi, 0.0);
}

/* Shares of 1 are labelled as they are; where they take turns they are not. */
TEST(test_shares_of_one_may_take_turns)
{
    const struct fulcrum_row_part parts[] = {
        {.size = 0.5, .half = FULCRUM_ROW_UPPER}, {.size = 0.2, .is_apart = true}};
    const struct fulcrum_row_part turns[] = {{.size = 1.0}, {.size = 1.0}};
    struct fulcrum_row row = {.name = "a"};
    struct fulcrum_row taken = {.name = "b"};
    (void)fulcrum_row_stack(&row, parts, 2, FULCRUM_ROW_OF_ONE);
    CU_ASSERT_STRING_EQUAL(row.bars[0].text, "50 %");
    CU_ASSERT_STRING_EQUAL(row.bars[1].text, "20 %");
    CU_ASSERT(row.bars[0].bottom_frac < row.bars[1].bottom_frac);
    CU_ASSERT(row.bars[1].hi < 0.7 && row.bars[1].hi > 0.69);
    (void)fulcrum_row_stack(&taken, turns, 2, FULCRUM_ROW_OF_ONE);
    assert_close("end", taken.bars[1].hi, 1.0, 1e-12);
    CU_ASSERT_STRING_EQUAL(taken.bars[0].text, "");
}

/* A chart of three parts. */
static const struct fulcrum_bar_chart three_parts = {.table = "points",
    .parts = {{"a", "first", 0}, {"b", "second", 1}, {"c", "third", 2}},
    .interval_name = "the interval",
    .is_sweep = true,
    .panels = {{.title = "a cycle",
        .x_label = "time",
        .names = {"name"},
        .text = "text",
        .unit = "s",
        .interval = "whole"}}};

/* One bar: its first and third part, the ends of the whole. */
static void add_bar(
    struct fulcrum_table *table, const char *name, double a, double c, double lo)
{
    fulcrum_table_row(table);
    fulcrum_table_text(table, "name", NULL, name);
    fulcrum_table_text(table, "text", NULL, "5 apples");
    fulcrum_table_number(table, "a", NULL, a);
    fulcrum_table_number(table, "b", NULL, 0.0);
    fulcrum_table_number(table, "c", NULL, c);
    fulcrum_table_estimate(table, "whole", NULL, a + c, lo, 3.0 * (a + c));
}

/* The chart of a table, which it frees. */
static enum fulcrum_status draw_on(struct fulcrum_canvas *canvas,
    struct fulcrum_result *result, bool as_shares, struct fulcrum_error *err)
{
    const struct fulcrum_bar_chart_data data = {
        .chart = &three_parts, .result = result, .as_shares = as_shares};
    enum fulcrum_status status =
        fulcrum_chart_draw(&fulcrum_chart_breakdown, canvas, &data, err);
    fulcrum_result_free(result);
    return status;
}

/* The chart of two bars: the first and third part of each; the interval is that of the
 * first. */
static struct fulcrum_canvas *drawn(
    const double parts[4], double lo, bool as_shares, struct fulcrum_error *err)
{
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    struct fulcrum_table *table = fulcrum_result_table(result, "points", NULL);
    struct fulcrum_canvas *canvas = new_canvas(page);
    add_bar(table, "one", parts[0], parts[1], lo);
    add_bar(table, "two", parts[2], parts[3], NAN);
    err->status = draw_on(canvas, result, as_shares, err);
    return canvas;
}

TEST(test_only_parts_that_there_are_are_explained)
{
    static const struct said said[] = {{"first", 1}, {"third", 1}, {"one", 1},
        {"two", 1}, {"4 s, 5 apples", 1}, {"8 s, 5 apples", 1}, {"a cycle", 1},
        {"time", 1}, {"second", 0}, {"75 %", 2}, {"points", 0}, {NULL, 0}};
    struct fulcrum_error err = {FULCRUM_OK, ""};
    struct fulcrum_canvas *canvas =
        drawn((const double[]){3.0, 1.0, 2.0, 6.0}, NAN, false, &err);
    ASSERT_OK(err.status);
    assert_said(canvas, said);
    fulcrum_canvas_free(canvas);
}

/* Drawn and explained where bars are as long as their wholes, and only there. */
TEST(test_intervals_are_shown_where_lengths_are_amounts)
{
    static const struct {
        bool as_shares;
        double lo;
        size_t explained;
    } cases[] = {{false, 2.0, 1}, {false, NAN, 0}, {true, 2.0, 0}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_error err = {FULCRUM_OK, ""};
        struct fulcrum_canvas *canvas = drawn((const double[]){3.0, 0.0, 4.0, 0.0},
            cases[i].lo, cases[i].as_shares, &err);
        ASSERT_OK(err.status);
        CU_ASSERT_EQUAL(count_texts(canvas, "the interval"), cases[i].explained);
        /* The axis reaches as far as the interval does. */
        CU_ASSERT_EQUAL(count_texts(canvas, "8 s") > 0, cases[i].explained == 1);
        fulcrum_canvas_free(canvas);
    }
}

/* Of more rows than there is room for, the first and the last are among those shown. */
TEST(test_many_rows_are_thinned_evenly)
{
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    struct fulcrum_table *table = fulcrum_result_table(result, "points", NULL);
    for (size_t i = 0; i < 500; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "row %zu.", i);
        add_bar(table, name, 1.0, 0.0, NAN);
    }
    struct fulcrum_canvas *canvas = new_canvas(page);
    ASSERT_OK(draw_on(canvas, result, false, NULL));
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

/* What is not known leaves a row without a bar; what cannot be is refused. */
TEST(test_odd_parts_are_refused)
{
    static const struct {
        double part;
        enum fulcrum_status status;
        size_t shown;
    } cases[] = {{-0.1, FULCRUM_ERR_RANGE, 0}, {INFINITY, FULCRUM_ERR_RANGE, 0},
        {NAN, FULCRUM_OK, 0}, {0.1, FULCRUM_OK, 1}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_error err = {FULCRUM_OK, ""};
        struct fulcrum_canvas *canvas =
            drawn((const double[]){1.0, 1.0, 1.0, cases[i].part}, NAN, false, &err);
        CU_ASSERT_EQUAL(err.status, cases[i].status);
        CU_ASSERT_EQUAL(
            strstr(err.detail, "row 2: c is ") != NULL, cases[i].status != FULCRUM_OK);
        CU_ASSERT_EQUAL(count_texts(canvas, "two"), cases[i].shown);
        fulcrum_canvas_free(canvas);
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

enum { CYCLE, WATTS, GPU };

/* The rows of the chart of those parts, which takes them. */
static const struct fulcrum_table *broken_down(struct plot_file *file, int parts)
{
    file->job.parts = parts;
    ASSERT_OK(plot_file_add(file, "breakdown", NULL));
    const struct fulcrum_bar_chart *chart = fulcrum_breakdowns[parts];
    const struct fulcrum_bar_chart_data data = {
        .chart = chart, .result = file->job.made};
    ASSERT_OK(fulcrum_bar_chart_check(&data, NULL));
    return fulcrum_chart_table(file->job.made, chart->table);
}

/* How often the chart of the same parts says something. */
static size_t says(
    struct plot_file *file, enum fulcrum_row_scale scale, const char *words)
{
    file->job.scale = scale;
    file->job.width_pt = page.width_pt;
    file->job.height_pt = page.height_pt;
    ASSERT_OK(plot_file_draw(file, "breakdown", NULL));
    return count_texts(file->canvas, words);
}

TEST(test_points_of_a_sweep_are_bars)
{
    struct plot_file file;
    plot_file_open(&file, "two.csv", two_points);
    file.job.source.name = "two.csv";
    const struct fulcrum_table *rows = broken_down(&file, CYCLE);
    CU_ASSERT_EQUAL_FATAL(fulcrum_table_rows(rows), 2);
    CU_ASSERT_STRING_EQUAL(fulcrum_table_at(rows, 0, "name").text, "1 actor");
    CU_ASSERT_STRING_EQUAL(fulcrum_table_at(rows, 1, "name").text, "64 actors");
    assert_close(
        "GPU", fulcrum_table_at(rows, 0, "gpu_residence_s").number, 0.003, 1e-12);
    CU_ASSERT_EQUAL(says(&file, FULCRUM_ROW_AMOUNT, "10 ms, 100 steps/s"), 1);
    CU_ASSERT_EQUAL(says(&file, FULCRUM_ROW_AMOUNT, "30 %"), 1);
    CU_ASSERT_EQUAL(says(&file, FULCRUM_ROW_AMOUNT, "w on small"), 1);
    CU_ASSERT_STRING_EQUAL(plot_file_text(&file, "footnote"),
        "guessed; two.csv: 1 of 3 points cannot run");
    plot_file_close(&file);
}

TEST(test_the_rest_is_what_is_left)
{
    struct plot_file file;
    plot_file_open(&file, "two.csv", two_points);
    (void)broken_down(&file, WATTS);
    /* 50 W of 200 W, 40 W of 300 W. */
    CU_ASSERT_EQUAL(says(&file, FULCRUM_ROW_SHARE, "300 W, 5k steps/s"), 1);
    CU_ASSERT_EQUAL(says(&file, FULCRUM_ROW_SHARE, "25 %"), 2);
    CU_ASSERT_EQUAL(says(&file, FULCRUM_ROW_SHARE, "13 %"), 1);
    CU_ASSERT_EQUAL(says(&file, FULCRUM_ROW_SHARE, "share of the whole"), 1);
    CU_ASSERT_EQUAL(says(&file, FULCRUM_ROW_AMOUNT, "share of the whole"), 0);
    /* Rounding leaves no time below 0. */
    (void)broken_down(&file, GPU);
    CU_ASSERT_EQUAL(says(&file, FULCRUM_ROW_AMOUNT, "50 %"), 1);
    CU_ASSERT_EQUAL(says(&file, FULCRUM_ROW_AMOUNT, "60 %"), 1);
    plot_file_close(&file);
}

/* Named after what tells them apart, with a gap between the groups. */
TEST(test_files_are_groups)
{
    struct plot_file file;
    plot_file_open(&file, "two.csv", two_points);
    const char *other = scratch_put(&file.scratch, "one.csv", one_point);
    const char *more[] = {other};
    file.job.more = (struct fulcrum_text_list){1, more};
    const struct fulcrum_table *rows = broken_down(&file, CYCLE);
    static const char *const names[] = {
        "small, 1 actor", "small, 64 actors", "", "large"};
    CU_ASSERT_EQUAL_FATAL(fulcrum_table_rows(rows), 4);
    for (size_t i = 0; i < 4; i++) {
        CU_ASSERT_STRING_EQUAL(fulcrum_table_at(rows, i, "name").text, names[i]);
    }
    CU_ASSERT_STRING_EQUAL(plot_file_text(&file, "workload"), "w");
    CU_ASSERT_STRING_EQUAL(plot_file_text(&file, "machine"), "");
    assert_part(plot_file_text(&file, "footnote"), "guessed");
    assert_part(plot_file_text(&file, "footnote"), "far");
    plot_file_close(&file);
}

#define WITH_ENDS                                                                      \
    "run.actor_count,steps_per_s,steps_per_s_lo,steps_per_s_hi,cpu_residence_s,"       \
    "host_residence_s,gpu_residence_s,delay_s,cpu_w,gpu_w,system_w,system_w_lo,"       \
    "system_w_hi,gpu_inference_busy_frac,gpu_train_busy_frac\n"                        \
    "2,100,80,125,0.01,0.005,0.004,0.001,50,100,200,180,300,0.2,0.3\n"                 \
    "4,100,,,0.02,0.01,0.008,0.002,50,100,200,,,0.2,0.3\n"

/* Little's law: two actors at 100 steps/s have cycles of 20 ms, at 80 of 25 ms; all of
 * a GPU's time is all of it. Axes reach as far as intervals do. */
TEST(test_the_interval_is_that_of_the_whole)
{
    static const char slow[] = "30 ms";
    static const struct {
        int parts;
        const char *tick; /* beyond all wholes: 40 ms, 200 W */
        size_t reaches;
    } cases[] = {{CYCLE, "50 ms", 0}, {CYCLE, slow, 1}, {WATTS, "300 W", 1},
        {GPU, "interval", 0}};
    struct plot_file file;
    plot_file_open(&file, "ends.csv", WITH_ENDS);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        (void)broken_down(&file, cases[i].parts);
        CU_ASSERT_EQUAL(
            says(&file, FULCRUM_ROW_AMOUNT, cases[i].tick), cases[i].reaches);
    }
    plot_file_close(&file);
}

/* What 'fulcrum predict' writes is one point. */
TEST(test_a_prediction_is_a_bar)
{
    static const char text[] =
        "{\"schema\":{\"name\":\"fulcrum-predict\",\"version\":1},\"machine\":\"dgx\","
        "\"workload\":\"w\",\"steps_per_s\":7,\"gpu_inference_busy_frac\":0.5,"
        "\"gpu_train_busy_frac\":0.25,\"cpu_w\":1,\"gpu_w\":2,\"system_w\":4,"
        "\"intervals\":{\"system_w\":[3,6]},\"flags\":[\"guessed\",\"far\"]}";
    struct plot_file file;
    plot_file_open(&file, "p.json", text);
    const struct fulcrum_table *rows = broken_down(&file, GPU);
    CU_ASSERT_EQUAL_FATAL(fulcrum_table_rows(rows), 1);
    CU_ASSERT_STRING_EQUAL(fulcrum_table_at(rows, 0, "name").text, "dgx");
    CU_ASSERT_EQUAL(says(&file, FULCRUM_ROW_AMOUNT, "7 steps/s"), 1);
    CU_ASSERT_EQUAL(says(&file, FULCRUM_ROW_AMOUNT, "25 %"), 2); /* idle too */
    CU_ASSERT_STRING_EQUAL(plot_file_text(&file, "footnote"), "guessed; far");
    rows = broken_down(&file, WATTS);
    CU_ASSERT_EQUAL(fulcrum_table_at(rows, 0, "system_w").lo, 3.0);
    CU_ASSERT_EQUAL(says(&file, FULCRUM_ROW_AMOUNT, "6 W"), 1);
    plot_file_close(&file);
}

TEST(test_files_without_the_parts_are_refused)
{
    static const struct {
        int parts;
        struct refusal refusal;
    } cases[] = {
        {CYCLE, {"run.actor_count,steps_per_s\n1,2\n", FULCRUM_ERR_FORMAT,
                    "odd.csv: no column 'cpu_residence_s'"}},
        {WATTS, {"cpu_w,gpu_w\n1,2\n", FULCRUM_ERR_FORMAT, "no column 'system_w'"}},
        {WATTS, {"cpu_w,gpu_w,system_w\n1,2,\n", FULCRUM_ERR_UNSUPPORTED,
                    "no point has a breakdown of watts"}},
        {WATTS, {"cpu_w,gpu_w,system_w\n1,2,2.5\n", FULCRUM_ERR_RANGE,
                    "row 1: what is left of system_w is -0.5"}},
        {WATTS, {"cpu_w,gpu_w,system_w\n-1,2,2.5\n", FULCRUM_ERR_RANGE,
                    "row 1: cpu_w is -1"}},
        {WATTS, {"cpu_w,gpu_w,system_w\nx,2,2.5\n", FULCRUM_ERR_FORMAT, "cpu_w = 'x'"}},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_refusal("breakdown", "odd.csv", &cases[i].refusal,
            &(struct fulcrum_plot_job){.parts = cases[i].parts});
    }
}
