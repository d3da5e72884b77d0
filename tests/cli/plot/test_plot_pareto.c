/* test_plot_pareto.c - a chart of the front from files, and its staircase. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "tests/support/plot_file.h"
#include "tests/support/suite.h"

static const char points_csv[] =
    "machine,workload,machine.cpu.thread_count,run.gpu_count,steps_per_s,"
    "steps_per_s_lo,steps_per_s_hi,system_w,status\n"
    "m,w,8,1,100,90,120,300,ok\n"
    "m,w,16,1,200,180,220,400,ok\n"
    "m,w,8,2,150,130,160,450,ok\n"
    "m,w,16,2,400,300,500,600,ok\n"
    "m,w,4,2,,,,,no room\n";

static const char front_json[] =
    "{\"schema\":{\"name\":\"fulcrum-explore\",\"version\":1},\"machine\":\"m\","
    "\"workload\":\"w\",\"pareto\":[{\"metric\":\"system_w\",\"better\":\"more\"},"
    "{\"metric\":\"steps_per_s\",\"better\":\"less\"}],\"points\":["
    "{\"point\":0,\"steps_per_s\":100,\"system_w\":300,\"status\":\"ok\"},"
    "{\"point\":1,\"steps_per_s\":200,\"system_w\":250,\"status\":\"ok\"}]}";

/* The points with their front, by metrics as --pareto has them. */
static enum fulcrum_status find_front(struct plot_file *out, const char *name,
    const char *text, const char *metrics, struct fulcrum_error *err)
{
    plot_file_open(out, name, text);
    CU_ASSERT_EQUAL(out->job.source.content, FULCRUM_PLOT_SWEEP);
    out->job.pareto = metrics;
    return plot_file_add(out, "pareto", err);
}

static struct fulcrum_cell point_at(
    const struct plot_file *file, size_t row, const char *key)
{
    return plot_file_cell(file, "points", row, key);
}

TEST(test_a_whole_sweep_shows_its_front)
{
    struct plot_file file;
    ASSERT_OK(find_front(&file, "sweep.csv", points_csv, NULL, NULL));
    static const double front[] = {100, 200, NAN, 400, NAN};
    static const double beaten[] = {NAN, NAN, 150, NAN, NAN}; /* 16 threads do more */
    for (size_t i = 0; i < 5; i++) {
        double on_front = point_at(&file, i, "front").number;
        double behind = point_at(&file, i, "beaten").number;
        CU_ASSERT(on_front == front[i] || (isnan(on_front) && isnan(front[i])));
        CU_ASSERT(behind == beaten[i] || (isnan(behind) && isnan(beaten[i])));
    }
    CU_ASSERT_STRING_EQUAL(point_at(&file, 0, "note").text, "8 threads, 1 GPU");
    CU_ASSERT_STRING_EQUAL(point_at(&file, 3, "note").text, "16 threads, 2 GPUs");
    CU_ASSERT_STRING_EQUAL(point_at(&file, 3, "colour").text, "on the front");
    CU_ASSERT_EQUAL(point_at(&file, 3, "holds_after").number, 400.0);
    CU_ASSERT(isnan(point_at(&file, 3, "holds_before").number));
    CU_ASSERT_EQUAL(point_at(&file, 3, "front").hi, 500.0);
    CU_ASSERT(isnan(point_at(&file, 3, "along").hi));
    assert_part(plot_file_text(&file, "label/y"), "more is better");
    assert_part(plot_file_text(&file, "label/x"), "less is better");
    plot_file_close(&file);
    static const struct said said[] = {{"w on m", 1},
        {"3 of 4 points are on the front", 1}, {"beaten by one of them", 1},
        {"90 % interval", 1}, {"16 threads, 2 GPUs", 1}, {NULL, 0}};
    ASSERT_OK(plot_file_show(&file, "sweep.csv", points_csv, "pareto", NULL));
    assert_said(file.canvas, said);
    plot_file_close(&file);
}

TEST(test_metrics_are_those_of_the_option_then_of_the_file)
{
    struct plot_file file;
    ASSERT_OK(find_front(&file, "front.json", front_json, NULL, NULL));
    assert_part(plot_file_text(&file, "label/y"), "more is better");
    assert_part(plot_file_text(&file, "label/x"), "less is better");
    CU_ASSERT_EQUAL(point_at(&file, 0, "front").number, 300.0);
    CU_ASSERT_EQUAL(point_at(&file, 1, "beaten").number, 250.0);
    plot_file_close(&file);
    ASSERT_OK(find_front(
        &file, "front.json", front_json, "steps_per_s,system_w:max,point", NULL));
    CU_ASSERT_EQUAL(point_at(&file, 0, "front").number, 100.0);
    CU_ASSERT_EQUAL(point_at(&file, 1, "front").number, 200.0);
    CU_ASSERT_STRING_EQUAL(point_at(&file, 1, "colour").text, "point: 1");
    CU_ASSERT(isnan(point_at(&file, 1, "holds_before").number));
    plot_file_close(&file);
}

TEST(test_what_is_no_list_of_columns_is_refused)
{
    static const struct {
        const char *list;
        enum fulcrum_status status;
        const char *part;
    } cases[] = {
        {"steps_per_s", FULCRUM_ERR_RANGE, "expected two or three metrics"},
        {"steps_per_s,system_w,point,machine.cpu.thread_count", FULCRUM_ERR_RANGE,
            "expected two or three metrics"},
        {"", FULCRUM_ERR_RANGE, "expected two or three metrics"},
        {"steps_per_s,steps_per_s", FULCRUM_ERR_RANGE, "steps_per_s is given twice"},
        {"steps_per_s,system_w,steps_per_s:min", FULCRUM_ERR_RANGE,
            "steps_per_s is given twice"},
        {"steps_per_s,system_w:least", FULCRUM_ERR_FORMAT, "expected :max or :min"},
        {"steps_per_s,zzzzzz", FULCRUM_ERR_FORMAT,
            "--pareto: no column 'zzzzzz': expected machine, workload, "},
        {"steps_per_s,status", FULCRUM_ERR_FORMAT, "status"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct plot_file file;
        ASSERT_FAILS(find_front(&file, "sweep.csv", points_csv, cases[i].list, &err),
            cases[i].status, cases[i].part);
        plot_file_close(&file);
    }
}
