/* test_plot_scaling.c - what `fulcrum cluster` wrote, and speed-ups, as chart data. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "cli/plot/plot_data.h"
#include "presets/load/reference_file.h"
#include "tests/support/plot_file.h"
#include "tests/support/suite.h"
#include "tests/support/texts.h"

/* A file, and what is made of it. */
struct drawn {
    struct fulcrum_result *result;
    struct fulcrum_canvas *canvas;
};

static enum fulcrum_status try_text(
    struct drawn *out, const char *text, struct fulcrum_error *err)
{
    struct plot_file file;
    *out = (struct drawn){.result = NULL};
    plot_file_result(&file, "c.csv", text, &out->result);
    CU_ASSERT_EQUAL(file.source.content, FULCRUM_PLOT_SCALING);
    plot_file_close(&file);
    ASSERT_OK(fulcrum_canvas_new(&out->canvas, 900, 700, NULL));
    const struct fulcrum_line_chart_data data = {
        .chart = &fulcrum_chart_scaling, .result = out->result};
    enum fulcrum_status status = fulcrum_plot_scaling_add(out->result, err);
    return status == FULCRUM_OK
               ? fulcrum_chart_draw(&fulcrum_chart_scaling, out->canvas, &data, err)
               : status;
}

static void close_drawn(struct drawn *drawn)
{
    fulcrum_canvas_free(drawn->canvas);
    fulcrum_result_free(drawn->result);
}

/* How often the picture says it. */
static size_t says(const struct drawn *drawn, const char *text)
{
    return count_texts(drawn->canvas, text);
}

#define HEAD                                                                           \
    "scaling,gpu_count,model_parallel_gpu_count,speedup,quality_speedup,hybrid_gain\n"

TEST(test_panels_are_quality_weak_and_strong)
{
    static const char text[] = HEAD "weak,1,1,1,1,\nweak,2,1,2,1.9,\nweak,4,1,4,2.5,\n"
                                    "weak,8,2,6,5,1.2\n"
                                    "weak,2,2,1.6,1.6,0.84\nweak,4,2,3.2,2.9,1.16\n"
                                    "strong,4,1,3,3,\nstrong,4,2,2,2,0.7\n";
    struct drawn drawn;
    ASSERT_OK(try_text(&drawn, text, NULL));
    CU_ASSERT_EQUAL(says(&drawn, "time to the same quality"), 1);
    CU_ASSERT_EQUAL(says(&drawn, "Weak scaling: steps"), 1);
    CU_ASSERT_EQUAL(says(&drawn, "Strong scaling: steps"), 1);
    /* The ideal line first, then a line for each way to split the network. */
    CU_ASSERT_EQUAL(says(&drawn, "as many times one GPU"), 1);
    CU_ASSERT_EQUAL(says(&drawn, "data-parallel"), 1);
    CU_ASSERT_EQUAL(says(&drawn, "hybrid, 2 GPUs to a worker"), 1);
    /* Hybrid wins from 4 GPUs on by quality, never where the batch stays. */
    const struct fulcrum_table *guides =
        fulcrum_result_table_of(drawn.result, "guides");
    CU_ASSERT_EQUAL_FATAL(fulcrum_table_rows(guides), 1);
    CU_ASSERT_EQUAL(fulcrum_table_at(guides, 0, "panel").number, 0.0);
    CU_ASSERT_EQUAL(fulcrum_table_at(guides, 0, "x").number, 4.0);
    CU_ASSERT_EQUAL(says(&drawn, "2 to a worker win from 4 GPUs on"), 1);
    CU_ASSERT_EQUAL(says(&drawn, "hybrid begins to win"), 1);
    CU_ASSERT_EQUAL(says(&drawn, "interval"), 0);
    close_drawn(&drawn);
}

#define DRAWN_HEAD                                                                     \
    "scaling,gpu_count,model_parallel_gpu_count,speedup,speedup_lo,speedup_hi,"        \
    "quality_speedup,quality_speedup_lo,quality_speedup_hi,hybrid_gain,"               \
    "hybrid_sooner_frac\n"

/* Bands where rows have them, and how sure it is that hybrid wins where it begins to.
 */
TEST(test_intervals_are_bands)
{
    static const char text[] = DRAWN_HEAD "weak,1,1,1,1,1,1,1,1,,\n"
                                          "weak,4,1,4,3.5,4,2.5,2,3,,\n"
                                          "weak,4,2,3.2,3,3.3,2.9,2.2,3.4,1.16,0.83\n"
                                          "strong,4,1,3,2.9,3.1,3,2.9,3.1,,\n"
                                          "strong,4,2,3.1,2,4,3.1,2,4,1.03,0.6\n";
    struct drawn drawn;
    ASSERT_OK(try_text(&drawn, text, NULL));
    CU_ASSERT_EQUAL(says(&drawn, "from 4 GPUs on (83 % of draws)"), 1);
    CU_ASSERT_EQUAL(says(&drawn, "from 4 GPUs on (60 % of draws)"), 1);
    CU_ASSERT_EQUAL(says(&drawn, "90 % interval"), 1);
    close_drawn(&drawn);
}

TEST(test_unknown_quality_has_no_panel)
{
    static const char text[] = HEAD "weak,1,1,1,1,\nweak,2,1,2,,\n";
    struct drawn drawn;
    ASSERT_OK(try_text(&drawn, text, NULL));
    CU_ASSERT_EQUAL(says(&drawn, "quality"), 0);
    CU_ASSERT_EQUAL(says(&drawn, "Weak scaling: steps"), 1);
    CU_ASSERT_EQUAL(says(&drawn, "Strong"), 0);
    CU_ASSERT_EQUAL(says(&drawn, "begins to win"), 0);
    CU_ASSERT_EQUAL(says(&drawn, "interval"), 0);
    close_drawn(&drawn);
}

static void expect_refusal(const char *text, enum fulcrum_status status)
{
    struct drawn drawn;
    CU_ASSERT_EQUAL(try_text(&drawn, text, NULL), status);
    close_drawn(&drawn);
}

TEST(test_odd_files_are_refused)
{
    expect_refusal(HEAD "weak,x,1,1,1,\n", FULCRUM_ERR_FORMAT);
    expect_refusal(HEAD "weak,0,1,1,1,\n", FULCRUM_ERR_FORMAT);
    expect_refusal(HEAD "weak,1,,1,1,\n", FULCRUM_ERR_FORMAT);
    expect_refusal(
        HEAD "weak,2,1,1,1,\nweak,2,1,2,1,\nstrong,2,1,2,1,\n", FULCRUM_ERR_FORMAT);
    expect_refusal(HEAD "weak,64,1,1,1,\nweak,64,2,1,1,\nweak,64,3,1,1,\n"
                        "weak,64,4,1,1,\nweak,64,5,1,1,\nweak,64,6,1,1,\n"
                        "weak,64,7,1,1,\nweak,64,8,1,1,\nweak,64,9,1,1,\n"
                        "weak,64,10,1,1,\nweak,64,11,1,1,\nweak,64,12,1,1,\n",
        FULCRUM_ERR_RANGE);
}

/* Predicts a reference and takes its speed-ups; `out` is freed by the caller. */
static enum fulcrum_status take_reference(
    const char *name, struct fulcrum_result **out, struct fulcrum_error *err)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_validation validation = {.reference = NULL};
    *out = fulcrum_result_new(NULL);
    ASSERT_OK(fulcrum_reference_load(name, &reference, NULL));
    ASSERT_OK(fulcrum_validate(reference, NULL, &validation, NULL));
    enum fulcrum_status status =
        fulcrum_plot_scaling_of_reference(&validation, *out, err);
    fulcrum_validation_clear(&validation);
    fulcrum_reference_free(reference);
    return status;
}

TEST(test_published_speedups_stand_beside_their_predictions)
{
    struct drawn drawn = {.result = NULL};
    ASSERT_OK(take_reference("gmidrl-table5-multinode", &drawn.result, NULL));
    const struct fulcrum_table *rows = fulcrum_result_table_of(drawn.result, "rows");
    /* Four curves of four machines. */
    CU_ASSERT_EQUAL_FATAL(fulcrum_table_rows(rows), 16);
    size_t checked = 0;
    for (size_t i = 0; i < 4; i++) {
        double nodes = fulcrum_table_at(rows, i, "node_count").number;
        const char *held_out = fulcrum_table_at(rows, i, "held_out").text;
        /* 3.28 on four machines, held out; 1.84 on two, fitted. */
        if (nodes == 4.0) {
            assert_close(
                "four", fulcrum_table_at(rows, i, "observed_frac").number, 0.82, 1e-12);
            CU_ASSERT_STRING_EQUAL(held_out, "yes");
            checked++;
        } else if (nodes == 2.0) {
            CU_ASSERT_STRING_EQUAL(held_out, "no");
            checked++;
        }
    }
    CU_ASSERT_EQUAL(checked, 2);
    const struct fulcrum_line_chart_data data = {
        .chart = &fulcrum_chart_efficiency, .result = drawn.result};
    ASSERT_OK(fulcrum_canvas_new(&drawn.canvas, 900, 700, NULL));
    ASSERT_OK(fulcrum_chart_draw(&fulcrum_chart_efficiency, drawn.canvas, &data, NULL));
    CU_ASSERT_EQUAL(says(&drawn, "machines"), 2); /* title and axis */
    CU_ASSERT_EQUAL(says(&drawn, ", predicted"), 4);
    CU_ASSERT_EQUAL(says(&drawn, "published, held out"), 1);
    CU_ASSERT_EQUAL(says(&drawn, "published, seen by the fit"), 1);
    close_drawn(&drawn);
}

TEST(test_references_of_other_kinds_are_refused)
{
    struct fulcrum_result *result = NULL;
    ASSERT_FAILS(take_reference("pal2019-abstract", &result, &err),
        FULCRUM_ERR_UNSUPPORTED, "no speedup_over_one_node");
    fulcrum_result_free(result);
}
