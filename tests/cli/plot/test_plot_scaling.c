/* test_plot_scaling.c - what `fulcrum cluster` wrote, and speed-ups, as chart data. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/plot_file.h"
#include "tests/support/suite.h"

#define HEAD                                                                           \
    "scaling,gpu_count,model_parallel_gpu_count,speedup,quality_speedup,hybrid_gain\n"

TEST(test_panels_are_quality_weak_and_strong)
{
    static const char text[] = HEAD "weak,1,1,1,1,\nweak,2,1,2,1.9,\nweak,4,1,4,2.5,\n"
                                    "weak,8,2,6,5,1.2\n"
                                    "weak,2,2,1.6,1.6,0.84\nweak,4,2,3.2,2.9,1.16\n"
                                    "strong,4,1,3,3,\nstrong,4,2,2,2,0.7\n";
    /* The ideal line first, then a line for each way to split the network. Hybrid wins
     * from 4 GPUs on by quality, never where the batch stays. */
    static const struct said said[] = {{"time to the same quality", 1},
        {"Weak scaling: steps", 1}, {"Strong scaling: steps", 1},
        {"as many times one GPU", 1}, {"data-parallel", 1},
        {"hybrid, 2 GPUs to a worker", 1}, {"2 to a worker win from 4 GPUs on", 1},
        {"hybrid begins to win", 1}, {"interval", 0}, {NULL, 0}};
    struct plot_file file;
    ASSERT_OK(plot_file_show(&file, "c.csv", text, "scaling", NULL));
    CU_ASSERT_EQUAL(file.job.source.content, FULCRUM_PLOT_SCALING);
    assert_said(file.canvas, said);
    const struct fulcrum_table *guides =
        fulcrum_result_table_of(file.job.source.result, "guides");
    CU_ASSERT_EQUAL_FATAL(fulcrum_table_rows(guides), 1);
    CU_ASSERT_EQUAL(fulcrum_table_at(guides, 0, "panel").number, 0.0);
    CU_ASSERT_EQUAL(fulcrum_table_at(guides, 0, "x").number, 4.0);
    plot_file_close(&file);
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
    static const struct drawing drawing = {"c.csv", text,
        {{"from 4 GPUs on (83 % of draws)", 1}, {"from 4 GPUs on (60 % of draws)", 1},
            {"90 % interval", 1}}};
    assert_drawings("scaling", &drawing, 1);
}

TEST(test_unknown_quality_has_no_panel)
{
    static const struct drawing drawing = {"c.csv",
        HEAD "weak,1,1,1,1,\nweak,2,1,2,,\n",
        {{"quality", 0}, {"Weak scaling: steps", 1}, {"Strong", 0},
            {"begins to win", 0}, {"interval", 0}}};
    assert_drawings("scaling", &drawing, 1);
}

TEST(test_odd_files_are_refused)
{
    static const char name[] = "c.csv: ";
    static const struct refusal cases[] = {
        {HEAD "weak,x,1,1,1,\n", FULCRUM_ERR_FORMAT, name},
        {HEAD "weak,0,1,1,1,\n", FULCRUM_ERR_FORMAT, name},
        {HEAD "weak,1,,1,1,\n", FULCRUM_ERR_FORMAT, name},
        {HEAD "weak,2,1,1,1,\nweak,2,1,2,1,\nstrong,2,1,2,1,\n", FULCRUM_ERR_FORMAT,
            name},
        {HEAD "weak,64,1,1,1,\nweak,64,2,1,1,\nweak,64,3,1,1,\nweak,64,4,1,1,\n"
              "weak,64,5,1,1,\nweak,64,6,1,1,\nweak,64,7,1,1,\nweak,64,8,1,1,\n"
              "weak,64,9,1,1,\nweak,64,10,1,1,\nweak,64,11,1,1,\nweak,64,12,1,1,\n",
            FULCRUM_ERR_RANGE, name}};
    assert_refusals("scaling", "c.csv", cases, LENGTH(cases));
}

TEST(test_published_speedups_stand_beside_their_predictions)
{
    struct plot_file file;
    plot_file_open(&file, "gmidrl-table5-multinode", NULL);
    ASSERT_OK(plot_file_add(&file, "scaling", NULL));
    /* Four curves of four machines. */
    CU_ASSERT_EQUAL_FATAL(plot_file_rows(&file, "rows"), 16);
    size_t checked = 0;
    for (size_t i = 0; i < 4; i++) {
        double nodes = plot_file_cell(&file, "rows", i, "node_count").number;
        double observed = plot_file_cell(&file, "rows", i, "observed_frac").number;
        const char *held_out = plot_file_cell(&file, "rows", i, "held_out").text;
        /* 3.28 on four machines, held out; 1.84 on two, fitted. */
        if (nodes == 4.0) {
            assert_close("four", observed, 0.82, 1e-12);
            CU_ASSERT_STRING_EQUAL(held_out, "yes");
            checked++;
        } else if (nodes == 2.0) {
            CU_ASSERT_STRING_EQUAL(held_out, "no");
            checked++;
        }
    }
    CU_ASSERT_EQUAL(checked, 2);
    static const struct said said[] = {{"machines", 2}, /* title and axis */
        {", predicted", 4}, {"published, held out", 1},
        {"published, seen by the fit", 1}, {NULL, 0}};
    ASSERT_OK(plot_file_draw(&file, "scaling", NULL));
    assert_said(file.canvas, said);
    plot_file_close(&file);
}

TEST(test_references_of_other_kinds_are_refused)
{
    static const struct refusal refusal = {
        NULL, FULCRUM_ERR_UNSUPPORTED, "no speedup_over_one_node"};
    assert_refusals("scaling", "pal2019-abstract", &refusal, 1);
}
