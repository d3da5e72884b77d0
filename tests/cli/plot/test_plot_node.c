/* test_plot_node.c - what `fulcrum node` wrote, as chart data. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "cli/plot/plot_data.h"
#include "tests/support/expect.h"
#include "tests/support/plot_file.h"
#include "tests/support/suite.h"

/* A file, its rows and what is made of them. */
struct opened {
    struct plot_file file;
    struct fulcrum_node_data data;
    enum fulcrum_status status;
    struct fulcrum_error err;
};

static void open_text(struct opened *out, const char *name, const char *text)
{
    *out = (struct opened){.status = FULCRUM_OK};
    plot_file_open(&out->file, name, text, "rows");
    CU_ASSERT_EQUAL(out->file.source.content, FULCRUM_PLOT_NODE);
    out->status =
        fulcrum_plot_node_data(out->file.rows, plot_file_room(), &out->data, &out->err);
}

static void close_text(struct opened *opened)
{
    fulcrum_plot_room_clear(plot_file_room());
    plot_file_close(&opened->file);
}

static struct fulcrum_node_data data_of(struct opened *opened)
{
    CU_ASSERT_EQUAL_FATAL(opened->status, FULCRUM_OK);
    return opened->data;
}

#define HEAD                                                                           \
    "machine,workload,gpu_count,learner_gpu_count,steps_per_s,steps_per_s_lo,"         \
    "steps_per_s_hi,steps_per_j_gpu,steps_per_j_system,bottleneck,threads_needed\n"

static void test_a_line_is_a_machine(void)
{
    struct opened opened;
    open_text(&opened, "n.csv",
        HEAD "a,w,1,0,10,9,11,5,1,gpu,8\na,w,2,0,20,,,4,2,cpu,16\n"
             "a,w,3,0,,,,,,,24\nb,w,1,0,12,,,6,,latency,8\n");
    struct fulcrum_node_data data = data_of(&opened);
    CU_ASSERT_EQUAL_FATAL(data.line_count, 2);
    CU_ASSERT_STRING_EQUAL(data.lines[0].name, "a");
    CU_ASSERT_EQUAL_FATAL(data.lines[0].count, 3);
    CU_ASSERT_EQUAL(data.lines[0].panels[0].value[1], 20.0);
    CU_ASSERT_EQUAL(data.lines[0].panels[1].value[0], 5.0);
    CU_ASSERT_EQUAL(data.lines[0].panels[2].value[1], 2.0);
    /* What cannot run is a gap; hollow are the points that threads hold back. */
    CU_ASSERT(isnan(data.lines[0].panels[0].value[2]));
    CU_ASSERT_EQUAL(data.lines[0].hollow[0], 0);
    CU_ASSERT_EQUAL(data.lines[0].hollow[1], 1);
    CU_ASSERT(isnan(data.lines[1].panels[2].value[0]));
    CU_ASSERT_PTR_NOT_NULL(data.hollow_name);
    /* Bands of several machines would cover each other. */
    CU_ASSERT_PTR_NULL(data.interval_name);
    CU_ASSERT_PTR_NULL(data.findings[0]);
    CU_ASSERT_EQUAL(data.x_kind, FULCRUM_AXIS_LOG2);
    expect_part(data.text.subtitle, "workload w");
    close_text(&opened);
}

static void test_one_machine_has_its_interval_and_its_best(void)
{
    struct opened opened;
    open_text(&opened, "n.csv",
        HEAD "a,w,1,0,10,9,11,5,1,gpu,8\na,w,2,0,20,15,25,4,2,gpu,16\n"
             "a,w,3,0,19,15,25,4,2,gpu,16\n");
    struct fulcrum_node_data data = data_of(&opened);
    CU_ASSERT_PTR_NOT_NULL(data.interval_name);
    CU_ASSERT_PTR_NULL(data.hollow_name);
    CU_ASSERT_STRING_EQUAL(data.findings[0], "most with 2 GPUs");
    close_text(&opened);
}

/* In JSON, of eight GPUs with 0, 1 and 2 learners. */
static void test_learners_of_the_same_gpus_go_along_the_axis(void)
{
    struct opened opened;
    open_text(&opened, "n.json",
        "{\"schema\":{\"name\":\"fulcrum-node\",\"version\":1},\"rows\":["
        "{\"machine\":\"a\",\"gpu_count\":8,\"learner_gpu_count\":0,\"steps_per_s\":3},"
        "{\"machine\":\"a\",\"gpu_count\":8,\"learner_gpu_count\":1,\"steps_per_s\":5},"
        "{\"machine\":\"a\",\"gpu_count\":8,\"learner_gpu_count\":2,"
        "\"steps_per_s\":null}]}");
    struct fulcrum_node_data data = data_of(&opened);
    CU_ASSERT_EQUAL_FATAL(data.line_count, 1);
    CU_ASSERT_EQUAL(data.lines[0].x[2], 2.0);
    CU_ASSERT_EQUAL(data.x_kind, FULCRUM_AXIS_LINEAR);
    expect_part(data.x_label, "of 8");
    CU_ASSERT_STRING_EQUAL(data.findings[0], "most with 1 learning");
    close_text(&opened);
}

static void test_splits_have_lines_of_their_own(void)
{
    struct opened opened;
    open_text(&opened, "n.csv",
        HEAD "a,w,2,0,10,,,5,1,gpu,8\na,w,2,1,9,,,5,1,gpu,8\n"
             "a,w,3,0,20,,,4,2,gpu,16\na,w,3,2,11,,,4,2,learner,16\n");
    struct fulcrum_node_data data = data_of(&opened);
    CU_ASSERT_EQUAL_FATAL(data.line_count, 3);
    CU_ASSERT_STRING_EQUAL(data.lines[0].name, "a, each does both");
    CU_ASSERT_STRING_EQUAL(data.lines[1].name, "a, 1 learner");
    CU_ASSERT_STRING_EQUAL(data.lines[2].name, "a, 2 learners");
    CU_ASSERT_EQUAL(data.lines[0].count, 2);
    close_text(&opened);
}

static void test_files_that_say_no_such_thing_are_refused(void)
{
    static const struct {
        const char *text;
        enum fulcrum_status status;
        const char *part;
    } rows[] = {
        {HEAD "a,w,one,0,10,,,5,1,gpu,8\n", FULCRUM_ERR_FORMAT, "one"},
        {HEAD "a,w,,0,10,,,5,1,gpu,8\n", FULCRUM_ERR_FORMAT, "gpu_count"},
        {HEAD "a,w,2,0,10,,,5,1,gpu,8\na,w,1,0,9,,,5,1,gpu,8\n", FULCRUM_ERR_FORMAT,
            "rising"},
        {HEAD "a,w,1,0,1,,,,,,\nb,w,1,0,1,,,,,,\nc,w,1,0,1,,,,,,\nd,w,1,0,1,,,,,,\n"
              "e,w,1,0,1,,,,,,\nf,w,1,0,1,,,,,,\ng,w,1,0,1,,,,,,\nh,w,1,0,1,,,,,,\n"
              "i,w,1,0,1,,,,,,\nj,w,1,0,1,,,,,,\n",
            FULCRUM_ERR_RANGE, "more lines"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct opened opened;
        open_text(&opened, "n.csv", rows[i].text);
        CU_ASSERT_EQUAL(opened.status, rows[i].status);
        expect_part(opened.err.detail, rows[i].part);
        close_text(&opened);
    }
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_a_line_is_a_machine),
        SUITE_CASE(test_one_machine_has_its_interval_and_its_best),
        SUITE_CASE(test_learners_of_the_same_gpus_go_along_the_axis),
        SUITE_CASE(test_splits_have_lines_of_their_own),
        SUITE_CASE(test_files_that_say_no_such_thing_are_refused),
    };
    return suite_run("plot_node", cases, sizeof cases / sizeof cases[0], argc, argv);
}
