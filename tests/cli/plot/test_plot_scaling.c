/* test_plot_scaling.c - what `fulcrum cluster` wrote, and speed-ups, as chart data. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "cli/plot/plot_data.h"
#include "presets/load/reference_file.h"
#include "tests/support/expect.h"
#include "tests/support/plot_file.h"
#include "tests/support/suite.h"

static void open_text(struct plot_file *out, const char *text)
{
    plot_file_open(out, text[0] == '{' ? "c.json" : "c.csv", text, "rows");
    CU_ASSERT_EQUAL(out->source.content, FULCRUM_PLOT_SCALING);
}

/* A file, and what is made of it. */
struct drawn {
    struct plot_file file;
    struct fulcrum_lines_data data;
};

static void draw_text(struct drawn *out, const char *text)
{
    *out = (struct drawn){.data = {.text = {.title = NULL}}};
    open_text(&out->file, text);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_plot_scaling_data(out->file.rows, plot_file_room(), &out->data, NULL),
        FULCRUM_OK);
}

static void close_drawn(struct drawn *drawn)
{
    fulcrum_plot_room_clear(plot_file_room());
    plot_file_close(&drawn->file);
}

#define HEAD "scaling,gpu_count,model_parallel_gpu_count,speedup,quality_speedup\n"

static void test_panels_are_quality_weak_and_strong(void)
{
    static const char text[] = HEAD "weak,1,1,1,1\nweak,2,1,2,1.9\nweak,4,1,4,2.5\n"
                                    "weak,2,2,1.6,1.6\nweak,4,2,3.2,2.9\n"
                                    "strong,4,1,3,3\n";
    struct drawn drawn;
    draw_text(&drawn, text);
    CU_ASSERT_EQUAL_FATAL(drawn.data.panel_count, 3);
    expect_part(drawn.data.panels[0].title, "same quality");
    expect_part(drawn.data.panels[1].title, "Weak scaling: steps");
    expect_part(drawn.data.panels[2].title, "Strong");
    /* The ideal line first, then a line for each way to split the network. */
    CU_ASSERT_EQUAL_FATAL(drawn.data.panels[0].line_count, 3);
    CU_ASSERT_EQUAL(drawn.data.panels[0].lines[0].look, FULCRUM_LINE_SMOOTH);
    CU_ASSERT_EQUAL(drawn.data.panels[0].lines[0].y[1], 4.0);
    expect_part(drawn.data.panels[0].lines[1].name, "data-parallel");
    expect_part(drawn.data.panels[0].lines[2].name, "2 GPUs to a worker");
    CU_ASSERT_EQUAL(drawn.data.panels[0].lines[2].y[1], 2.9);
    /* Hybrid wins at 4 GPUs by quality, never by steps. */
    CU_ASSERT_EQUAL_FATAL(drawn.data.panels[0].guide_count, 1);
    CU_ASSERT_EQUAL(drawn.data.panels[0].guides[0], 4.0);
    expect_part(drawn.data.panels[0].finding, "2 to a worker win from 4 GPUs on");
    CU_ASSERT_EQUAL(drawn.data.panels[1].guide_count, 0);
    CU_ASSERT_PTR_NULL(drawn.data.panels[1].finding);
    CU_ASSERT_PTR_NOT_NULL(drawn.data.guide_name);
    close_drawn(&drawn);
}

#define DRAWN_HEAD                                                                     \
    "scaling,gpu_count,model_parallel_gpu_count,speedup,speedup_lo,speedup_hi,"        \
    "quality_speedup,quality_speedup_lo,quality_speedup_hi,hybrid_sooner_frac\n"

/* Bands where rows have them, and how sure it is that hybrid wins where it begins to.
 */
static void test_intervals_are_bands(void)
{
    static const char text[] = DRAWN_HEAD "weak,1,1,1,1,1,1,1,1,\n"
                                          "weak,4,1,4,3.5,4,2.5,2,3,\n"
                                          "weak,4,2,3.2,3,3.3,2.9,2.2,3.4,0.83\n"
                                          "strong,4,1,3,2.9,3.1,3,2.9,3.1,\n"
                                          "strong,4,2,3.1,2,4,3.1,2,4,0.6\n";
    struct drawn drawn;
    draw_text(&drawn, text);
    CU_ASSERT_EQUAL_FATAL(drawn.data.panel_count, 3);
    CU_ASSERT_EQUAL(drawn.data.panels[0].lines[1].lo[1], 2.0);
    CU_ASSERT_EQUAL(drawn.data.panels[0].lines[2].hi[0], 3.4);
    CU_ASSERT_EQUAL(drawn.data.panels[1].lines[1].lo[1], 3.5);
    CU_ASSERT_PTR_NULL(drawn.data.panels[1].lines[0].lo);
    expect_part(drawn.data.panels[0].finding, "from 4 GPUs on (83 % of draws)");
    expect_part(drawn.data.panels[2].finding, "from 4 GPUs on (60 % of draws)");
    CU_ASSERT_PTR_NOT_NULL(drawn.data.interval_name);
    close_drawn(&drawn);
}

static void test_unknown_quality_has_no_panel(void)
{
    static const char text[] = HEAD "weak,1,1,1,1\nweak,2,1,2,\n";
    struct drawn drawn;
    draw_text(&drawn, text);
    CU_ASSERT_EQUAL(drawn.data.panel_count, 1);
    CU_ASSERT_PTR_NULL(drawn.data.guide_name);
    CU_ASSERT_PTR_NULL(drawn.data.interval_name);
    close_drawn(&drawn);
}

static void expect_refusal(const char *text, enum fulcrum_status status)
{
    struct plot_file opened;
    struct fulcrum_lines_data data;
    open_text(&opened, text);
    CU_ASSERT_EQUAL(
        fulcrum_plot_scaling_data(opened.rows, plot_file_room(), &data, NULL), status);
    plot_file_close(&opened);
}

static void test_odd_files_are_refused(void)
{
    expect_refusal(
        "{\"schema\": {\"name\": \"fulcrum-cluster\", \"version\": 1}, \"rows\": []}",
        FULCRUM_ERR_FORMAT);
    expect_refusal(HEAD "weak,x,1,1,1\n", FULCRUM_ERR_FORMAT);
    expect_refusal(HEAD "weak,0,1,1,1\n", FULCRUM_ERR_FORMAT);
    expect_refusal(HEAD "weak,1,,1,1\n", FULCRUM_ERR_FORMAT);
    expect_refusal(HEAD "weak,64,1,1,1\nweak,64,2,1,1\nweak,64,4,1,1\n"
                        "weak,64,8,1,1\nweak,64,16,1,1\nweak,64,32,1,1\n"
                        "weak,64,64,1,1\n",
        FULCRUM_ERR_RANGE);
}

static void test_published_speedups_stand_beside_their_predictions(void)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_validation validation = {.reference = NULL};
    struct fulcrum_lines_data data;
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_reference_load("gmidrl-table5-multinode", &reference, NULL),
        FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_validate(reference, NULL, &validation, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_plot_scaling_of_reference(&validation, plot_file_room(), &data, NULL),
        FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(data.panel_count, 1);
    CU_ASSERT_EQUAL_FATAL(data.panels[0].line_count, 8);
    const struct fulcrum_lines_line *points = &data.panels[0].lines[4];
    CU_ASSERT_EQUAL_FATAL(points->count, 4);
    CU_ASSERT_EQUAL(points->look, FULCRUM_LINE_POINTS);
    /* 3.28 on four machines, held out; 1.84 on two, fitted. */
    suite_assert_close("four", points->y[2], 0.82, 1e-12);
    CU_ASSERT_EQUAL(points->hollow[2], 0);
    CU_ASSERT_EQUAL(points->hollow[1], 1);
    fulcrum_plot_room_clear(plot_file_room());
    fulcrum_validation_clear(&validation);
    fulcrum_reference_free(reference);
}

static void test_references_of_other_kinds_are_refused(void)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_validation validation = {.reference = NULL};
    struct fulcrum_lines_data data;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_reference_load("pal2019-abstract", &reference, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_validate(reference, NULL, &validation, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(
        fulcrum_plot_scaling_of_reference(&validation, plot_file_room(), &data, &err),
        FULCRUM_ERR_UNSUPPORTED);
    expect_part(err.detail, "no speedup_over_one_node");
    fulcrum_validation_clear(&validation);
    fulcrum_reference_free(reference);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_panels_are_quality_weak_and_strong),
        SUITE_CASE(test_intervals_are_bands),
        SUITE_CASE(test_unknown_quality_has_no_panel),
        SUITE_CASE(test_odd_files_are_refused),
        SUITE_CASE(test_published_speedups_stand_beside_their_predictions),
        SUITE_CASE(test_references_of_other_kinds_are_refused),
    };
    return suite_run("plot_scaling", cases, sizeof cases / sizeof cases[0], argc, argv);
}
