/* test_plot_fit.c - what fits and sensitivities wrote becomes chart data. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/plot_file.h"
#include "tests/support/suite.h"

/* Parameters of a fit and one figure: %s are the scale of the second, and the value. */
#define FIT_TEXT                                                                       \
    "{\"schema\":{\"name\":\"fulcrum-fit\",\"version\":1},\"parameters\":["            \
    "{\"path\":\"workload.step.cv\",\"scale\":\"linear\",\"prior\":0.5,"               \
    "\"prior_sd\":0.1,\"fitted\":0.6,\"posterior_low\":0.45,\"posterior_high\":0.7,"   \
    "\"posterior_sd_frac\":0.9,\"verdict\":\"not identified\"},"                       \
    "{\"path\":\"workload.step.mean_s\",\"scale\":\"%s\",\"prior\":0.002,"             \
    "\"prior_sd\":0.5,\"fitted\":0.004,\"posterior_low\":0.002,"                       \
    "\"posterior_high\":0.008,\"posterior_sd_frac\":0.3,\"verdict\":\"identified\"}]," \
    "\"figures\":[{\"reference\":\"r\",\"point\":1,\"quantity\":\"speedup\","          \
    "\"observed\":%s,\"sd\":0.5,\"prior_low\":4,\"prior_high\":8,\"fitted\":5.5,"      \
    "\"posterior_mean\":5,\"posterior_sd\":0.2,\"held_out_mean\":null}]}"

/* A text of a fit with what its chart needs. */
static enum fulcrum_status read_fit(
    const char *text, struct plot_file *opened, struct fulcrum_error *err)
{
    plot_file_open(opened, "a.json", text);
    CU_ASSERT_EQUAL(opened->job.source.content, FULCRUM_PLOT_FIT);
    return plot_file_add(opened, "posterior", err);
}

TEST(test_fit_counts_in_prior_standard_deviations)
{
    struct plot_file opened;
    char text[2000];
    (void)snprintf(text, sizeof text, FIT_TEXT, "log", "5");
    ASSERT_OK(read_fit(text, &opened, NULL));
    struct fulcrum_cell span = plot_file_cell(&opened, "parameters", 1, "posterior_z");
    assert_close("fitted", plot_file_cell(&opened, "parameters", 1, "fitted_z").number,
        log(2.0) / 0.5, 1e-12);
    assert_close("low", span.lo + 1.0, 1.0, 1e-12);
    assert_close("high", span.hi, log(4.0) / 0.5, 1e-12);
    CU_ASSERT_STRING_EQUAL(plot_file_cell(&opened, "parameters", 1, "shown_text").text,
        "2 ms \xe2\x86\x92 4 ms (2 ms to 8 ms)");
    CU_ASSERT(isnan(plot_file_cell(&opened, "parameters", 1, "open_z").lo));
    assert_close(
        "linear", plot_file_cell(&opened, "parameters", 0, "open_z").hi, 2.0, 1e-12);
    /* What the data say most of comes first. */
    CU_ASSERT(plot_file_cell(&opened, "parameters", 1, "rank").number <
              plot_file_cell(&opened, "parameters", 0, "rank").number);
    assert_part(
        plot_file_cell(&opened, "parameters", 0, "headline").text, "1 of 2 told apart");
    assert_close(
        "prior", plot_file_cell(&opened, "figures", 0, "prior_rel").hi, 1.6, 1e-12);
    assert_close(
        "best", plot_file_cell(&opened, "figures", 0, "fitted_rel").number, 1.1, 1e-12);
    assert_close("posterior", plot_file_cell(&opened, "figures", 0, "posterior_rel").hi,
        1.0 + 1.645 * 0.04, 1e-12);
    CU_ASSERT(isnan(plot_file_cell(&opened, "figures", 0, "others_rel").lo));
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
    struct plot_file opened;
    ASSERT_OK(read_fit(text, &opened, NULL));
    assert_close("high", plot_file_cell(&opened, "parameters", 0, "posterior_z").hi,
        1.0 + 1.645 * 0.5, 1e-12);
    CU_ASSERT_STRING_EQUAL(plot_file_cell(&opened, "parameters", 0, "shown_text").text,
        "0.5 \xe2\x86\x92 0.6");
    assert_part(plot_file_text(&opened, "subtitle"), "from the slopes");
    assert_part(plot_file_text(&opened, "footnote"), "interrupted");
    plot_file_close(&opened);
}

TEST(test_fits_with_odd_cells_are_refused)
{
    static const struct {
        const char *scale;
        const char *observed;
        enum fulcrum_status status;
        const char *part;
    } cases[] = {
        {"cubic", "5", FULCRUM_ERR_FORMAT, "parameters[1].scale = 'cubic'"},
        {"log", "0", FULCRUM_ERR_RANGE, "figures[0].observed = 0"},
        {"log", "\"5\"", FULCRUM_ERR_FORMAT, "row 1: observed = '5'"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct plot_file opened;
        char text[2000];
        (void)snprintf(text, sizeof text, FIT_TEXT, cases[i].scale, cases[i].observed);
        ASSERT_FAILS(read_fit(text, &opened, &err), cases[i].status, cases[i].part);
        plot_file_close(&opened);
    }
}

/* --- Tornado -----------------------------------------------------------------------
 */

static const char tornado_head[] =
    "metric,unit,field,field_unit,field_lo,field_value,field_hi,first_frac,first_error,"
    "total_frac,total_error,swing_lo,swing_hi,metric_value,metric_lo,metric_hi,"
    "interaction_frac\n";

static enum fulcrum_status read_tornado(
    const char *lines, struct plot_file *opened, struct fulcrum_error *err)
{
    char text[2000];
    (void)snprintf(text, sizeof text, "%s%s", tornado_head, lines);
    plot_file_open(opened, "tornado.csv", text);
    CU_ASSERT_EQUAL(opened->job.source.content, FULCRUM_PLOT_SENSITIVITY);
    return plot_file_add(opened, "tornado", err);
}

TEST(test_each_metric_has_a_panel_of_its_fields)
{
    static const struct {
        size_t row;
        const char *key;
        const char *text;
    } texts[] = {{0, "panel", "delay_s, s"}, {0, "axis_unit", "s"},
        {2, "panel", "mean_batch"}, {2, "axis_unit", ""},
        {1, "headline",
            "90 % between 500 ms and 4 s with all fields at once; interactions 25 % of "
            "the variance"},
        {0, "reach", "2 W to 4 kW"}, {1, "reach", ""}, {0, "least", "1 s"},
        {1, "most", "2.5 s"}, {3, "least", ""}, {0, "shares", "0.50   0.60"},
        {2, "shares", "not told"}};
    static const struct {
        size_t row;
        const char *key;
        double lo;
        double hi;
    } spans[] = {{0, "low", 1, 2}, {0, "high", 2, 3}, {0, "low_half", NAN, NAN},
        {0, "first_share", 0, 0.5}, {0, "total_share", 0, 0.6},
        {0, "total_bar", 0.4, 0.8}, {1, "high", 2, 2.5}, {2, "total_share", NAN, NAN},
        {3, "low", NAN, NAN}, {3, "low_half", 8, 9}, {3, "high_half", 8, 10}};
    struct plot_file opened;
    ASSERT_OK(
        read_tornado("delay_s,s,a.b,W,2,3,4000,0.5,0.1,0.6,0.2,1,3,2,0.5,4,0.25\n"
                     "delay_s,s,draws of x,,,,,0.1,0.1,0.2,0.2,1.5,2.5,2,0.5,4,0.25\n"
                     "mean_batch,,a.b,W,2,3,4000,,,,,7,9,8,5,11,\n"
                     "mean_batch,,c.d,W,2,3,4000,,,,,9,10,8,5,11,\n",
            &opened, NULL));
    for (size_t i = 0; i < LENGTH(texts); i++) {
        CU_ASSERT_STRING_EQUAL(
            plot_file_cell(&opened, "rows", texts[i].row, texts[i].key).text,
            texts[i].text);
    }
    for (size_t i = 0; i < LENGTH(spans); i++) {
        struct fulcrum_cell cell =
            plot_file_cell(&opened, "rows", spans[i].row, spans[i].key);
        CU_ASSERT(
            isnan(spans[i].lo) ? isnan(cell.lo) : fabs(cell.lo - spans[i].lo) < 1e-12);
        CU_ASSERT(
            isnan(spans[i].hi) ? isnan(cell.hi) : fabs(cell.hi - spans[i].hi) < 1e-12);
    }
    CU_ASSERT(plot_file_cell(&opened, "rows", 0, "rank").number <
              plot_file_cell(&opened, "rows", 1, "rank").number);
    plot_file_close(&opened);
}

TEST(test_what_no_tornado_shows_is_refused)
{
    static const struct {
        const char *lines;
        enum fulcrum_status status;
        const char *part;
    } cases[] = {{"a,,f,,1,2,3,0,0,0,0,1,1,1,1,1,0\nb,,f,,1,2,3,0,0,0,0,1,1,1,1,1,0\n"
                  "c,,f,,1,2,3,0,0,0,0,1,1,1,1,1,0\nd,,f,,1,2,3,0,0,0,0,1,1,1,1,1,0\n"
                  "e,,f,,1,2,3,0,0,0,0,1,1,1,1,1,0\nf,,f,,1,2,3,0,0,0,0,1,1,1,1,1,0\n"
                  "g,,f,,1,2,3,0,0,0,0,1,1,1,1,1,0\n",
                     FULCRUM_ERR_RANGE, "more than 6 metrics"},
        {"a,,f,,1,2,3,x,0,0,0,1,1,1,1,1,0\n", FULCRUM_ERR_FORMAT, "first_frac"},
        {"a,,f,,1,2,3,0,0,0,0,1,1,,1,1,0\n", FULCRUM_ERR_RANGE,
            "a: its value is not known"}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct plot_file opened;
        ASSERT_FAILS(read_tornado(cases[i].lines, &opened, &err), cases[i].status,
            cases[i].part);
        plot_file_close(&opened);
    }
}
