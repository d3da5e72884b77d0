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
static void find_front(
    struct plot_file *out, const char *name, const char *text, const char *metrics)
{
    plot_file_open(out, name, text);
    CU_ASSERT_EQUAL(out->job.source.content, FULCRUM_PLOT_SWEEP);
    out->job.pareto = metrics;
    ASSERT_OK(plot_file_add(out, "pareto", NULL));
}

TEST(test_a_whole_sweep_shows_its_front)
{
    static const struct wanted wanted[] = {{0, "front", 100}, {1, "front", 200},
        {2, "front", NAN}, {3, "front", 400}, {4, "front", NAN}, {0, "beaten", NAN},
        {1, "beaten", NAN}, {2, "beaten", 150} /* 16 threads do more */,
        {3, "beaten", NAN}, {4, "beaten", NAN}, {3, "holds_after", 400},
        {3, "holds_before", NAN}, {3, "front_hi", 500}, {3, "along_hi", NAN}};
    static const struct wanted_text texts[] = {{0, "note", "8 threads, 1 GPU"},
        {3, "note", "16 threads, 2 GPUs"}, {3, "colour", "on the front"}};
    static const struct drawing drawing = {"sweep.csv", points_csv,
        {{"w on m", 1}, {"3 of 4 points are on the front", 1},
            {"beaten by one of them", 1}, {"90 % interval", 1},
            {"16 threads, 2 GPUs", 1}}};
    struct plot_file file;
    find_front(&file, "sweep.csv", points_csv, NULL);
    assert_cells(&file, "points", wanted, LENGTH(wanted));
    assert_cell_texts(&file, "points", texts, LENGTH(texts));
    assert_part(plot_file_text(&file, "label/y"), "more is better");
    assert_part(plot_file_text(&file, "label/x"), "less is better");
    plot_file_close(&file);
    assert_drawings("pareto", &drawing, 1);
}

TEST(test_metrics_are_those_of_the_option_then_of_the_file)
{
    static const struct wanted by_file[] = {{0, "front", 300}, {1, "beaten", 250}};
    static const struct wanted by_option[] = {
        {0, "front", 100}, {1, "front", 200}, {1, "holds_before", NAN}};
    static const struct wanted_text colour = {1, "colour", "point: 1"};
    struct plot_file file;
    find_front(&file, "front.json", front_json, NULL);
    assert_part(plot_file_text(&file, "label/y"), "more is better");
    assert_part(plot_file_text(&file, "label/x"), "less is better");
    assert_cells(&file, "points", by_file, LENGTH(by_file));
    plot_file_close(&file);
    find_front(&file, "front.json", front_json, "steps_per_s,system_w:max,point");
    assert_cells(&file, "points", by_option, LENGTH(by_option));
    assert_cell_texts(&file, "points", &colour, 1);
    plot_file_close(&file);
}

TEST(test_what_is_no_list_of_columns_is_refused)
{
    static const struct {
        struct refusal refusal;
        struct fulcrum_plot_job options;
    } cases[] = {
#define LIST(status, part, list)                                                       \
    {                                                                                  \
        {points_csv, (status), (part)},                                                \
        {                                                                              \
            .pareto = (list)                                                           \
        }                                                                              \
    }
        LIST(FULCRUM_ERR_RANGE, "expected two or three metrics", "steps_per_s"),
        LIST(FULCRUM_ERR_RANGE, "expected two or three metrics",
            "steps_per_s,system_w,point,machine.cpu.thread_count"),
        LIST(FULCRUM_ERR_RANGE, "expected two or three metrics", ""),
        LIST(
            FULCRUM_ERR_RANGE, "steps_per_s is given twice", "steps_per_s,steps_per_s"),
        LIST(FULCRUM_ERR_RANGE, "steps_per_s is given twice",
            "steps_per_s,system_w,steps_per_s:min"),
        LIST(FULCRUM_ERR_FORMAT, "expected :max or :min", "steps_per_s,system_w:least"),
        LIST(FULCRUM_ERR_FORMAT,
            "--pareto: no column 'zzzzzz': expected machine, workload, ",
            "steps_per_s,zzzzzz"),
        LIST(FULCRUM_ERR_FORMAT, "status", "steps_per_s,status"),
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_refusal("pareto", "sweep.csv", &cases[i].refusal, &cases[i].options);
    }
}
