/* test_plot_memory.c - what `fulcrum memory` wrote becomes chart data. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "cli/plot/plot_data.h"
#include "tests/support/plot_file.h"
#include "tests/support/suite.h"
#include "tests/support/texts.h"

#define COMPONENTS_HEAD "machine,gpu,component,gpu_s,run_frac,steps_per_s\n"

/* What the file says, with what the chart adds to it. */
static enum fulcrum_status read_components(struct plot_file *opened, const char *text,
    struct fulcrum_result **out, struct fulcrum_error *err)
{
    plot_file_result(opened, "c.csv", text, out);
    CU_ASSERT_EQUAL(opened->source.content, FULCRUM_PLOT_COMPONENTS);
    return fulcrum_plot_components_add(*out, err);
}

static double rel_at(const struct fulcrum_result *result, size_t row, const char *key)
{
    return fulcrum_table_at(fulcrum_result_table_of(result, "rows"), row, key).number;
}

TEST(test_components_are_bars_beside_the_first_machine)
{
    static const char text[] = COMPONENTS_HEAD "one,V100,dram,1e-5,0.05,1000\n"
                                               "one,V100,math,3e-5,0.15,1000\n"
                                               "one,V100,host,,-0.1,1000\n"
                                               "one,V100,rest,,0.9,1000\n"
                                               "two,H100,dram,1e-6,0.01,2000\n"
                                               "two,H100,math,9e-6,0.03,2000\n"
                                               "two,H100,rest,,0.96,2000\n";
    struct plot_file opened;
    struct fulcrum_result *result = NULL;
    struct fulcrum_canvas *canvas = NULL;
    ASSERT_OK(read_components(&opened, text, &result, NULL));
    /* Arithmetic, DRAM: of all of the first GPU's 4e-5 s. */
    assert_close("math", rel_at(result, 1, "gpu_time_rel"), 0.75, 1e-12);
    assert_close("DRAM", rel_at(result, 0, "gpu_time_rel"), 0.25, 1e-12);
    assert_close("math there", rel_at(result, 5, "gpu_time_rel"), 0.225, 1e-12);
    /* Twice the rate: half the time for the same steps. */
    assert_close("rest", rel_at(result, 3, "run_time_rel"), 0.9, 1e-12);
    assert_close("rest there", rel_at(result, 6, "run_time_rel"), 0.48, 1e-12);
    CU_ASSERT_EQUAL(rel_at(result, 2, "run_time_rel"), 0.0);
    const char *footnote = fulcrum_result_text_of(result, "footnote");
    assert_part(footnote, "Parts below 0 are drawn as 0.");
    assert_part(footnote, "1.3");
    const struct fulcrum_bar_chart_data data = {
        .chart = &fulcrum_bars_components, .result = result};
    ASSERT_OK(fulcrum_canvas_new(&canvas, 640, 480, NULL));
    ASSERT_OK(fulcrum_chart_draw(&fulcrum_chart_gpu_time, canvas, &data, NULL));
    static const char *const words[] = {"V100", "H100", "one", "two", "0.25", "0.50"};
    for (size_t i = 0; i < LENGTH(words); i++) {
        CU_ASSERT(count_texts(canvas, words[i]) >= 1);
    }
    CU_ASSERT_EQUAL(count_texts(canvas, "kernel launches"), 0);
    fulcrum_canvas_free(canvas);
    fulcrum_result_free(result);
    plot_file_close(&opened);
}

/* Parts of 5 s in a whole of 4 s: they are drawn smaller alike. */
TEST(test_parts_are_no_more_than_the_whole)
{
    static const char text[] =
        "machine,gpu,component,gpu_s,gpu_frac,run_frac,steps_per_s\n"
        "one,V100,dram,2,0.5,0.5,10\none,V100,math,3,0.75,0.5,10\n"
        "two,H100,dram,1,0.5,0.5,10\ntwo,H100,math,0.5,0.25,0.5,10\n";
    struct plot_file opened;
    struct fulcrum_result *result = NULL;
    ASSERT_OK(read_components(&opened, text, &result, NULL));
    assert_close("DRAM", rel_at(result, 0, "gpu_time_rel"), 0.4, 1e-12);
    assert_close("math", rel_at(result, 1, "gpu_time_rel"), 0.6, 1e-12);
    /* Less than the whole stays as it is: 1.5 s of 4 s. */
    assert_close("DRAM there", rel_at(result, 2, "gpu_time_rel"), 0.25, 1e-12);
    assert_close("math there", rel_at(result, 3, "gpu_time_rel"), 0.125, 1e-12);
    fulcrum_result_free(result);
    plot_file_close(&opened);
}

TEST(test_components_that_are_none_are_refused)
{
    static const struct {
        const char *text;
        enum fulcrum_status status;
        const char *part;
    } cases[] = {
        {COMPONENTS_HEAD "one,V100,fans,1,0.5,10\n", FULCRUM_ERR_FORMAT, "'fans'"},
        {COMPONENTS_HEAD "one,V100,dram,x,0.5,10\n", FULCRUM_ERR_FORMAT, "gpu_s = 'x'"},
        {COMPONENTS_HEAD "one,V100,dram,1,0.5,0\n", FULCRUM_ERR_FORMAT, "steps_per_s"},
        {COMPONENTS_HEAD "one,V100,dram,0,0.5,9\n", FULCRUM_ERR_FORMAT, "no GPU time"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct plot_file opened;
        struct fulcrum_result *result = NULL;
        ASSERT_FAILS(read_components(&opened, cases[i].text, &result, &err),
            cases[i].status, cases[i].part);
        fulcrum_result_free(result);
        plot_file_close(&opened);
    }
}

#define FACTORS_HEAD                                                                   \
    "cache_rel,bandwidth_rel,gpu_time_rel,gpu_time_rel_lo,gpu_time_rel_hi,speedup,"    \
    "speedup_lo,speedup_hi\n"

/* Draws factors; the caller frees the canvas. */
static struct fulcrum_canvas *draw_factors(
    const char *text, enum fulcrum_status status, struct fulcrum_error *err)
{
    struct plot_file opened;
    struct fulcrum_canvas *canvas = NULL;
    struct fulcrum_result *result = NULL;
    plot_file_result(&opened, "f.csv", text, &result);
    CU_ASSERT_EQUAL(opened.source.content, FULCRUM_PLOT_MEMORY);
    const struct fulcrum_line_chart_data data = {
        .chart = &fulcrum_chart_memory, .result = result};
    ASSERT_OK(fulcrum_canvas_new(&canvas, 900, 700, NULL));
    CU_ASSERT_EQUAL(
        fulcrum_chart_draw(&fulcrum_chart_memory, canvas, &data, err), status);
    fulcrum_result_free(result);
    plot_file_close(&opened);
    return canvas;
}

/* The machine's own is the first row, whatever its place along the curve. */
TEST(test_factors_are_a_curve_for_each_bandwidth)
{
    static const char text[] = FACTORS_HEAD "1,1,1,1,1,1,1,1\n"
                                            "0.5,1,1.1,1.05,1.2,0.9,0.8,0.95\n"
                                            "0.5,2,1,0.9,1.1,1,0.9,1.1\n"
                                            "1,2,0.94,0.9,0.95,1.02,1,1.05\n"
                                            "4,1,0.92,0.9,0.95,1.04,1,1.05\n";
    struct fulcrum_canvas *canvas = draw_factors(text, FULCRUM_OK, NULL);
    CU_ASSERT_EQUAL(count_texts(canvas, "Throughput, times as it is"), 1);
    CU_ASSERT_EQUAL(count_texts(canvas, "GPU time, times as it is"), 1);
    CU_ASSERT_EQUAL(count_texts(canvas, "1 times the bandwidth"), 1);
    CU_ASSERT_EQUAL(count_texts(canvas, "2 times the bandwidth"), 1);
    CU_ASSERT_EQUAL(count_texts(canvas, "last-level cache"), 1);
    CU_ASSERT_EQUAL(count_texts(canvas, "90 % interval"), 1);
    CU_ASSERT_EQUAL(count_texts(canvas, "draw by draw"), 1);
    fulcrum_canvas_free(canvas);
}

/* Bandwidths alone are one curve over them; nothing is said of intervals. */
TEST(test_bandwidths_alone_are_one_curve)
{
    static const char text[] =
        FACTORS_HEAD "1,1,1,,,1,,\n1,2,0.9,,,1.1,,\n1,4,0.8,,,1.2,,\n";
    struct fulcrum_canvas *canvas = draw_factors(text, FULCRUM_OK, NULL);
    CU_ASSERT_EQUAL(count_texts(canvas, "memory bandwidth, times as it is"), 1);
    CU_ASSERT_EQUAL(count_texts(canvas, "last-level cache"), 0);
    CU_ASSERT_EQUAL(count_texts(canvas, "interval"), 0);
    fulcrum_canvas_free(canvas);
}

TEST(test_odd_factors_are_refused)
{
    static const struct {
        const char *text;
        enum fulcrum_status status;
        const char *part;
    } cases[] = {
        {FACTORS_HEAD "1,1,1,,,1,,\n2,1,1,,,1,,\n1,2,1,,,1,,\n1,3,1,,,1,,\n"
                      "1,4,1,,,1,,\n1,5,1,,,1,,\n1,6,1,,,1,,\n1,7,1,,,1,,\n"
                      "1,8,1,,,1,,\n1,9,1,,,1,,\n1,10,1,,,1,,\n1,11,1,,,1,,\n"
                      "1,12,1,,,1,,\n",
            FULCRUM_ERR_RANGE, "more than 11 lines"},
        {FACTORS_HEAD "1,1,1,,,many,,\n", FULCRUM_ERR_FORMAT, "speedup = 'many'"},
        {FACTORS_HEAD "1,1,1,,,1,,\n2,1,1,,,1,,\n2,1,1,,,1,,\n", FULCRUM_ERR_FORMAT,
            "two points at cache_rel = 2"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_error err = {FULCRUM_OK, ""};
        fulcrum_canvas_free(draw_factors(cases[i].text, cases[i].status, &err));
        assert_part(err.detail, cases[i].part);
    }
}
