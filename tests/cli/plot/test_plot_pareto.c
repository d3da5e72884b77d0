/* test_plot_pareto.c - a chart of the front from files, and its staircase. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/plot/plot_data.h"

#include "tests/support/expect.h"
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

/* An open file with its rows. */
struct opened {
    struct plot_file file;
    struct fulcrum_plot_rows *said;
};

static void open_text(struct opened *out, const char *name, const char *text)
{
    *out = (struct opened){.said = NULL};
    plot_file_open(&out->file, name, text, "points");
    CU_ASSERT_EQUAL(out->file.source.content, FULCRUM_PLOT_SWEEP);
    if (fulcrum_result_table_of(out->file.source.result, "pareto") != NULL) {
        CU_ASSERT_EQUAL_FATAL(
            fulcrum_plot_source_rows(&out->file.source, "pareto", &out->said, NULL),
            FULCRUM_OK);
    }
}

static void close_text(struct opened *opened)
{
    fulcrum_plot_rows_free(opened->said);
    plot_file_close(&opened->file);
}

static void test_a_whole_sweep_shows_its_front(void)
{
    struct opened opened;
    struct fulcrum_pareto_data data;
    open_text(&opened, "sweep.csv", points_csv);
    CU_ASSERT_EQUAL_FATAL(fulcrum_plot_pareto_data(opened.file.rows,
                              &(struct fulcrum_plot_pareto_options){NULL, opened.said},
                              plot_file_room(), &data, NULL),
        FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(data.count, 4);
    CU_ASSERT(data.on_front[0] && data.on_front[1] && data.on_front[3]);
    CU_ASSERT(!data.on_front[2]); /* 16 threads do more for less */
    CU_ASSERT_STRING_EQUAL(data.labels[0], "8 threads, 1 GPU");
    CU_ASSERT_STRING_EQUAL(data.labels[3], "16 threads, 2 GPUs");
    CU_ASSERT(data.y.more_is_better && !data.x.more_is_better);
    CU_ASSERT_EQUAL(data.y.estimate.hi[3], 500.0);
    CU_ASSERT_PTR_NULL(data.x.estimate.lo);
    CU_ASSERT_PTR_NULL(data.third);
    fulcrum_plot_room_clear(plot_file_room());
    close_text(&opened);
}

static void test_metrics_are_those_of_the_option_then_of_the_file(void)
{
    struct opened opened;
    struct fulcrum_pareto_data data;
    open_text(&opened, "front.json", front_json);
    CU_ASSERT_EQUAL_FATAL(fulcrum_plot_pareto_data(opened.file.rows,
                              &(struct fulcrum_plot_pareto_options){NULL, opened.said},
                              plot_file_room(), &data, NULL),
        FULCRUM_OK);
    CU_ASSERT(data.y.more_is_better && !data.x.more_is_better);
    CU_ASSERT_EQUAL(data.y.estimate.value[0], 300.0);
    CU_ASSERT(data.on_front[0] && !data.on_front[1]);
    fulcrum_plot_room_clear(plot_file_room());
    CU_ASSERT_EQUAL_FATAL(fulcrum_plot_pareto_data(opened.file.rows,
                              &(struct fulcrum_plot_pareto_options){
                                  "steps_per_s,system_w:max,point", opened.said},
                              plot_file_room(), &data, NULL),
        FULCRUM_OK);
    CU_ASSERT(data.on_front[0] && data.on_front[1]);
    CU_ASSERT_EQUAL(data.third[1], 1.0);
    CU_ASSERT_STRING_EQUAL(data.third_label, "point");
    fulcrum_plot_room_clear(plot_file_room());
    close_text(&opened);
}

static void test_what_is_no_list_of_columns_is_refused(void)
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
    struct opened opened;
    open_text(&opened, "sweep.csv", points_csv);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fulcrum_pareto_data data;
        struct fulcrum_error err = {FULCRUM_OK, ""};
        CU_ASSERT_EQUAL(fulcrum_plot_pareto_data(opened.file.rows,
                            &(struct fulcrum_plot_pareto_options){cases[i].list, NULL},
                            plot_file_room(), &data, &err),
            cases[i].status);
        expect_part(err.detail, cases[i].part);
    }
    close_text(&opened);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_a_whole_sweep_shows_its_front),
        SUITE_CASE(test_metrics_are_those_of_the_option_then_of_the_file),
        SUITE_CASE(test_what_is_no_list_of_columns_is_refused),
    };
    return suite_run("plot_pareto", cases, sizeof cases / sizeof cases[0], argc, argv);
}
