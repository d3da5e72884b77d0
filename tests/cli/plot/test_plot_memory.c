/* test_plot_memory.c - what `fulcrum memory` wrote becomes chart data. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/plot_file.h"
#include "tests/support/suite.h"
#include "tests/support/texts.h"

#define COMPONENTS_HEAD "machine,gpu,component,gpu_s,run_frac,steps_per_s\n"

TEST(test_components_are_bars_beside_the_first_machine)
{
    static const char text[] = COMPONENTS_HEAD "one,V100,dram,1e-5,0.05,1000\n"
                                               "one,V100,math,3e-5,0.15,1000\n"
                                               "one,V100,host,,-0.1,1000\n"
                                               "one,V100,rest,,0.9,1000\n"
                                               "two,H100,dram,1e-6,0.01,2000\n"
                                               "two,H100,math,9e-6,0.03,2000\n"
                                               "two,H100,rest,,0.96,2000\n";
    /* Of all of the first GPU's 4e-5 s; twice the rate is half the time. */
    static const struct wanted wanted[] = {{1, "gpu_time_rel", 0.75},
        {0, "gpu_time_rel", 0.25}, {5, "gpu_time_rel", 0.225}, {3, "run_time_rel", 0.9},
        {6, "run_time_rel", 0.48}, {2, "run_time_rel", 0.0}};
    static const char *const words[] = {"V100", "H100", "one", "two", "0.25", "0.50"};
    struct plot_file file;
    ASSERT_OK(plot_file_show(&file, "c.csv", text, "gpu-time", NULL));
    CU_ASSERT_EQUAL(file.job.source.content, FULCRUM_PLOT_COMPONENTS);
    assert_cells(&file, "components", wanted, LENGTH(wanted));
    assert_part(plot_file_text(&file, "footnote"), "Parts below 0 are drawn as 0.");
    assert_part(plot_file_text(&file, "footnote"), "1.3");
    for (size_t i = 0; i < LENGTH(words); i++) {
        CU_ASSERT(count_texts(file.canvas, words[i]) >= 1);
    }
    CU_ASSERT_EQUAL(count_texts(file.canvas, "kernel launches"), 0);
    plot_file_close(&file);
}

/* Parts of 5 s in a whole of 4 s: they are drawn smaller alike. */
TEST(test_parts_are_no_more_than_the_whole)
{
    static const char text[] =
        "machine,gpu,component,gpu_s,gpu_frac,run_frac,steps_per_s\n"
        "one,V100,dram,2,0.5,0.5,10\none,V100,math,3,0.75,0.5,10\n"
        "two,H100,dram,1,0.5,0.5,10\ntwo,H100,math,0.5,0.25,0.5,10\n";
    /* Less than the whole stays as it is: 1.5 s of 4 s. */
    static const struct wanted wanted[] = {{0, "gpu_time_rel", 0.4},
        {1, "gpu_time_rel", 0.6}, {2, "gpu_time_rel", 0.25},
        {3, "gpu_time_rel", 0.125}};
    struct plot_file file;
    plot_file_open(&file, "c.csv", text);
    ASSERT_OK(plot_file_add(&file, "gpu-time", NULL));
    assert_cells(&file, "components", wanted, LENGTH(wanted));
    plot_file_close(&file);
}

TEST(test_components_that_are_none_are_refused)
{
    static const struct refusal cases[] = {
        {COMPONENTS_HEAD "one,V100,fans,1,0.5,10\n", FULCRUM_ERR_FORMAT, "'fans'"},
        {COMPONENTS_HEAD "one,V100,dram,x,0.5,10\n", FULCRUM_ERR_FORMAT, "gpu_s = 'x'"},
        {COMPONENTS_HEAD "one,V100,dram,1,0.5,0\n", FULCRUM_ERR_FORMAT, "steps_per_s"},
        {COMPONENTS_HEAD "one,V100,dram,0,0.5,9\n", FULCRUM_ERR_FORMAT, "no GPU time"},
    };
    assert_refusals("gpu-time", "c.csv", cases, LENGTH(cases));
}

#define FACTORS_HEAD                                                                   \
    "cache_rel,bandwidth_rel,gpu_time_rel,gpu_time_rel_lo,gpu_time_rel_hi,speedup,"    \
    "speedup_lo,speedup_hi\n"

/* The machine's own is the first row, whatever its place along the curve; bandwidths
 * alone are one curve over them, and nothing is said of intervals. */
TEST(test_factors_are_a_curve_for_each_bandwidth)
{
    static const struct drawing cases[] = {
        {"f.csv",
            FACTORS_HEAD "1,1,1,1,1,1,1,1\n"
                         "0.5,1,1.1,1.05,1.2,0.9,0.8,0.95\n"
                         "0.5,2,1,0.9,1.1,1,0.9,1.1\n"
                         "1,2,0.94,0.9,0.95,1.02,1,1.05\n"
                         "4,1,0.92,0.9,0.95,1.04,1,1.05\n",
            {{"Throughput, times as it is", 1}, {"GPU time, times as it is", 1},
                {"1 times the bandwidth", 1}, {"2 times the bandwidth", 1},
                {"last-level cache", 1}, {"90 % interval", 1}, {"draw by draw", 1}}},
        {"f.csv", FACTORS_HEAD "1,1,1,,,1,,\n1,2,0.9,,,1.1,,\n1,4,0.8,,,1.2,,\n",
            {{"memory bandwidth, times as it is", 1}, {"last-level cache", 0},
                {"interval", 0}}}};
    assert_drawings("memory", cases, LENGTH(cases));
}

TEST(test_odd_factors_are_refused)
{
    static const struct refusal cases[] = {
        {FACTORS_HEAD "1,1,1,,,1,,\n2,1,1,,,1,,\n1,2,1,,,1,,\n1,3,1,,,1,,\n"
                      "1,4,1,,,1,,\n1,5,1,,,1,,\n1,6,1,,,1,,\n1,7,1,,,1,,\n"
                      "1,8,1,,,1,,\n1,9,1,,,1,,\n1,10,1,,,1,,\n1,11,1,,,1,,\n"
                      "1,12,1,,,1,,\n",
            FULCRUM_ERR_RANGE, "more than 11 lines"},
        {FACTORS_HEAD "1,1,1,,,many,,\n", FULCRUM_ERR_FORMAT, "speedup = 'many'"},
        {FACTORS_HEAD "1,1,1,,,1,,\n2,1,1,,,1,,\n2,1,1,,,1,,\n", FULCRUM_ERR_FORMAT,
            "two points at cache_rel = 2"},
    };
    assert_refusals("memory", "f.csv", cases, LENGTH(cases));
}
