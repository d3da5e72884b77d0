/* test_plot_fit.c - what fits and sensitivities wrote becomes chart data. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "tests/support/plot_file.h"
#include "tests/support/suite.h"

/* Parameters of a fit and one figure: the scale of the second, and the value. */
#define FIT_TEXT(scale, observed)                                                      \
    "{\"schema\":{\"name\":\"fulcrum-fit\",\"version\":1},\"parameters\":["            \
    "{\"path\":\"workload.step.cv\",\"scale\":\"linear\",\"prior\":0.5,"               \
    "\"prior_sd\":0.1,\"fitted\":0.6,\"posterior_low\":0.45,\"posterior_high\":0.7,"   \
    "\"posterior_sd_frac\":0.9,\"verdict\":\"not identified\"},"                       \
    "{\"path\":\"workload.step.mean_s\",\"scale\":\"" scale "\",\"prior\":0.002,"      \
    "\"prior_sd\":0.5,\"fitted\":0.004,\"posterior_low\":0.002,"                       \
    "\"posterior_high\":0.008,\"posterior_sd_frac\":0.3,\"verdict\":\"identified\"}]," \
    "\"figures\":[{\"reference\":\"r\",\"point\":1,\"quantity\":\"speedup\","          \
    "\"observed\":" observed ",\"sd\":0.5,\"prior_low\":4,\"prior_high\":8,"           \
    "\"fitted\":5.5,\"posterior_mean\":5,\"posterior_sd\":0.2,"                        \
    "\"held_out_mean\":null}]}"

/* A text of a fit with what its chart needs. */
static void read_fit(const char *text, struct plot_file *opened)
{
    plot_file_open(opened, "a.json", text);
    CU_ASSERT_EQUAL(opened->job.source.content, FULCRUM_PLOT_FIT);
    ASSERT_OK(plot_file_add(opened, "posterior", NULL));
}

TEST(test_fit_counts_in_prior_standard_deviations)
{
    const struct wanted parameters[] = {{1, "fitted_z", log(2.0) / 0.5},
        {1, "posterior_z_lo", 0.0}, {1, "posterior_z_hi", log(4.0) / 0.5},
        {1, "open_z_lo", NAN}, {0, "open_z_hi", 2.0}};
    const struct wanted figures[] = {{0, "prior_rel_hi", 1.6}, {0, "fitted_rel", 1.1},
        {0, "posterior_rel_hi", 1.0 + 1.645 * 0.04}, {0, "others_rel_lo", NAN}};
    static const struct wanted_text text = {
        1, "shown_text", "2 ms \xe2\x86\x92 4 ms (2 ms to 8 ms)"};
    struct plot_file opened;
    read_fit(FIT_TEXT("log", "5"), &opened);
    assert_cell_texts(&opened, "parameters", &text, 1);
    assert_cells(&opened, "parameters", parameters, LENGTH(parameters));
    assert_cells(&opened, "figures", figures, LENGTH(figures));
    /* What the data say most of comes first. */
    CU_ASSERT(plot_file_cell(&opened, "parameters", 1, "rank").number <
              plot_file_cell(&opened, "parameters", 0, "rank").number);
    assert_part(
        plot_file_cell(&opened, "parameters", 0, "headline").text, "1 of 2 told apart");
    plot_file_close(&opened);
}

TEST(test_fits_without_draws_have_a_spread_by_slopes)
{
    static const char text[] =
        "{\"schema\":{\"name\":\"fulcrum-fit\"},\"complete\":false,"
        "\"parameters\":[{\"path\":"
        "\"workload.step.cv\",\"scale\":\"linear\",\"prior\":0.5,\"prior_sd\":0.1,"
        "\"fitted\":0.6,\"posterior_low\":null,\"posterior_high\":null,"
        "\"posterior_sd_frac\":0.5,\"verdict\":\"identified\"}],\"figures\":[]}";
    static const struct wanted high = {0, "posterior_z_hi", 1.0 + 1.645 * 0.5};
    static const struct wanted_text shown = {0, "shown_text", "0.5 \xe2\x86\x92 0.6"};
    struct plot_file opened;
    read_fit(text, &opened);
    assert_cells(&opened, "parameters", &high, 1);
    assert_cell_texts(&opened, "parameters", &shown, 1);
    assert_part(plot_file_text(&opened, "subtitle"), "from the slopes");
    assert_part(plot_file_text(&opened, "footnote"), "interrupted");
    plot_file_close(&opened);
}

TEST(test_fits_with_odd_cells_are_refused)
{
    static const struct refusal cases[] = {
        {FIT_TEXT("cubic", "5"), FULCRUM_ERR_FORMAT, "parameters[1].scale = 'cubic'"},
        {FIT_TEXT("log", "0"), FULCRUM_ERR_RANGE, "figures[0].observed = 0"},
        {FIT_TEXT("log", "\"5\""), FULCRUM_ERR_FORMAT, "row 1: observed = '5'"},
    };
    assert_refusals("posterior", "a.json", cases, LENGTH(cases));
}

/* --- Tornado -----------------------------------------------------------------------
 */

#define TORNADO                                                                        \
    "metric,unit,field,field_unit,field_lo,field_value,field_hi,first_frac,"           \
    "first_error,total_frac,total_error,swing_lo,swing_hi,metric_value,metric_lo,"     \
    "metric_hi,interaction_frac\n"

TEST(test_each_metric_has_a_panel_of_its_fields)
{
    static const struct wanted_text texts[] = {{0, "panel", "delay_s, s"},
        {0, "axis_unit", "s"}, {2, "panel", "mean_batch"}, {2, "axis_unit", ""},
        {1, "headline",
            "90 % between 500 ms and 4 s with all fields at once; interactions 25 % of "
            "the variance"},
        {0, "reach", "2 W to 4 kW"}, {1, "reach", ""}, {0, "least", "1 s"},
        {1, "most", "2.5 s"}, {3, "least", ""}, {0, "shares", "0.50   0.60"},
        {2, "shares", "not told"}};
    static const struct wanted spans[] = {{0, "low_lo", 1}, {0, "low_hi", 2},
        {0, "high_lo", 2}, {0, "high_hi", 3}, {0, "low_half_lo", NAN},
        {0, "low_half_hi", NAN}, {0, "first_share_lo", 0}, {0, "first_share_hi", 0.5},
        {0, "total_share_lo", 0}, {0, "total_share_hi", 0.6}, {0, "total_bar_lo", 0.4},
        {0, "total_bar_hi", 0.8}, {1, "high_lo", 2}, {1, "high_hi", 2.5},
        {2, "total_share_lo", NAN}, {2, "total_share_hi", NAN}, {3, "low_lo", NAN},
        {3, "low_hi", NAN}, {3, "low_half_lo", 8}, {3, "low_half_hi", 9},
        {3, "high_half_lo", 8}, {3, "high_half_hi", 10}};
    struct plot_file opened;
    plot_file_open(&opened, "tornado.csv",
        TORNADO "delay_s,s,a.b,W,2,3,4000,0.5,0.1,0.6,0.2,1,3,2,0.5,4,0.25\n"
                "delay_s,s,draws of x,,,,,0.1,0.1,0.2,0.2,1.5,2.5,2,0.5,4,0.25\n"
                "mean_batch,,a.b,W,2,3,4000,,,,,7,9,8,5,11,\n"
                "mean_batch,,c.d,W,2,3,4000,,,,,9,10,8,5,11,\n");
    CU_ASSERT_EQUAL(opened.job.source.content, FULCRUM_PLOT_SENSITIVITY);
    ASSERT_OK(plot_file_add(&opened, "tornado", NULL));
    assert_cell_texts(&opened, "rows", texts, LENGTH(texts));
    assert_cells(&opened, "rows", spans, LENGTH(spans));
    CU_ASSERT(plot_file_cell(&opened, "rows", 0, "rank").number <
              plot_file_cell(&opened, "rows", 1, "rank").number);
    plot_file_close(&opened);
}

TEST(test_what_no_tornado_shows_is_refused)
{
    static const struct refusal cases[] = {
        {TORNADO "a,,f,,1,2,3,0,0,0,0,1,1,1,1,1,0\nb,,f,,1,2,3,0,0,0,0,1,1,1,1,1,0\n"
                 "c,,f,,1,2,3,0,0,0,0,1,1,1,1,1,0\nd,,f,,1,2,3,0,0,0,0,1,1,1,1,1,0\n"
                 "e,,f,,1,2,3,0,0,0,0,1,1,1,1,1,0\nf,,f,,1,2,3,0,0,0,0,1,1,1,1,1,0\n"
                 "g,,f,,1,2,3,0,0,0,0,1,1,1,1,1,0\n",
            FULCRUM_ERR_RANGE, "more than 6 metrics"},
        {TORNADO "a,,f,,1,2,3,x,0,0,0,1,1,1,1,1,0\n", FULCRUM_ERR_FORMAT, "first_frac"},
        {TORNADO "a,,f,,1,2,3,0,0,0,0,1,1,,1,1,0\n", FULCRUM_ERR_RANGE,
            "a: its value is not known"}};
    assert_refusals("tornado", "tornado.csv", cases, LENGTH(cases));
}
