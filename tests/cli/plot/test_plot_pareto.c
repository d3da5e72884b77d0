/* test_plot_pareto.c - a chart of the front from files, and its staircase. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/plot/plot_data.h"

#include <math.h>

#include "cli/plot/plot_source.h"
#include "tests/support/plot_file.h"
#include "tests/support/suite.h"
#include "tests/support/texts.h"

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

/* The points with their front; the caller frees `out`. */
static enum fulcrum_status find_front(const char *name, const char *text,
    const char *metrics, struct fulcrum_result **out, struct fulcrum_error *err)
{
    struct plot_file opened;
    plot_file_result(&opened, name, text, out);
    CU_ASSERT_EQUAL(opened.source.content, FULCRUM_PLOT_SWEEP);
    plot_file_close(&opened);
    return fulcrum_plot_pareto_add(*out, metrics, err);
}

static struct fulcrum_cell point_at(
    const struct fulcrum_result *result, size_t row, const char *key)
{
    return fulcrum_table_at(fulcrum_plot_points(result), row, key);
}

TEST(test_a_whole_sweep_shows_its_front)
{
    struct fulcrum_result *result = NULL;
    ASSERT_OK(find_front("sweep.csv", points_csv, NULL, &result, NULL));
    static const double front[] = {100, 200, NAN, 400, NAN};
    static const double beaten[] = {NAN, NAN, 150, NAN, NAN}; /* 16 threads do more */
    for (size_t i = 0; i < 5; i++) {
        double on_front = point_at(result, i, "front").number;
        double behind = point_at(result, i, "beaten").number;
        CU_ASSERT(on_front == front[i] || (isnan(on_front) && isnan(front[i])));
        CU_ASSERT(behind == beaten[i] || (isnan(behind) && isnan(beaten[i])));
    }
    CU_ASSERT_STRING_EQUAL(point_at(result, 0, "note").text, "8 threads, 1 GPU");
    CU_ASSERT_STRING_EQUAL(point_at(result, 3, "note").text, "16 threads, 2 GPUs");
    CU_ASSERT_STRING_EQUAL(point_at(result, 3, "colour").text, "on the front");
    CU_ASSERT_EQUAL(point_at(result, 3, "holds_after").number, 400.0);
    CU_ASSERT(isnan(point_at(result, 3, "holds_before").number));
    CU_ASSERT_EQUAL(point_at(result, 3, "front").hi, 500.0);
    CU_ASSERT(isnan(point_at(result, 3, "along").hi));
    assert_part(fulcrum_result_text_of(result, "label/y"), "more is better");
    assert_part(fulcrum_result_text_of(result, "label/x"), "less is better");
    struct fulcrum_canvas *canvas = NULL;
    const struct fulcrum_line_chart_data data = {
        .chart = &fulcrum_chart_pareto, .result = result};
    ASSERT_OK(fulcrum_canvas_new(&canvas, 900, 600, NULL));
    ASSERT_OK(fulcrum_chart_draw(&fulcrum_chart_pareto, canvas, &data, NULL));
    static const char *const words[] = {"w on m", "3 of 4 points are on the front",
        "beaten by one of them", "90 % interval", "16 threads, 2 GPUs"};
    for (size_t i = 0; i < LENGTH(words); i++) {
        CU_ASSERT_EQUAL(count_texts(canvas, words[i]), 1);
    }
    fulcrum_canvas_free(canvas);
    fulcrum_result_free(result);
}

TEST(test_metrics_are_those_of_the_option_then_of_the_file)
{
    struct fulcrum_result *result = NULL;
    ASSERT_OK(find_front("front.json", front_json, NULL, &result, NULL));
    assert_part(fulcrum_result_text_of(result, "label/y"), "more is better");
    assert_part(fulcrum_result_text_of(result, "label/x"), "less is better");
    CU_ASSERT_EQUAL(point_at(result, 0, "front").number, 300.0);
    CU_ASSERT_EQUAL(point_at(result, 1, "beaten").number, 250.0);
    fulcrum_result_free(result);
    ASSERT_OK(find_front(
        "front.json", front_json, "steps_per_s,system_w:max,point", &result, NULL));
    CU_ASSERT_EQUAL(point_at(result, 0, "front").number, 100.0);
    CU_ASSERT_EQUAL(point_at(result, 1, "front").number, 200.0);
    CU_ASSERT_STRING_EQUAL(point_at(result, 1, "colour").text, "point: 1");
    CU_ASSERT(isnan(point_at(result, 1, "holds_before").number));
    fulcrum_result_free(result);
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
        struct fulcrum_result *result = NULL;
        ASSERT_FAILS(find_front("sweep.csv", points_csv, cases[i].list, &result, &err),
            cases[i].status, cases[i].part);
        fulcrum_result_free(result);
    }
}
