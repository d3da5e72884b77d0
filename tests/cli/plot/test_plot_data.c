/* test_plot_data.c - files become chart data: columns, ratios, published points. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/plot/plot_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/plot_source.h"
#include "model/design/scale.h"
#include "model/try.h"
#include "presets/load/preset.h"
#include "presets/load/reference_file.h"
#include "tests/support/plot_file.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"
#include "tests/support/texts.h"

#define SWEEP_HEAD "calibration,run.actor_count,actor_count,steps_per_s,status\n"

/* Rates of 100, 500 and 1000 steps/s at 4, 40 and 256 actors. */
static const char plain_sweep[] = SWEEP_HEAD "v100-inci2020,4,4,100,ok\n"
                                             "v100-inci2020,256,256,1000,ok\n"
                                             "v100-inci2020,40,40,500,ok\n"
                                             "v100-inci2020,8,,,cannot run\n";

/* Ratios to 40 actors, with intervals. */
static const char relative_sweep[] =
    "run.actor_count,actor_count,speedup,speedup_lo,speedup_hi,status\n"
    "4,4,0.2,0.1,0.25,ok\n"
    "40,40,1,1,1,ok\n"
    "256,256,2,1.6,2.5,ok\n";

static void check_rows(const char *file, const char *text)
{
    struct plot_file opened;
    plot_file_open(&opened, file, text);
    CU_ASSERT_EQUAL(opened.source.content, FULCRUM_PLOT_SWEEP);
    const struct fulcrum_table *points = fulcrum_plot_points(opened.source.result);
    CU_ASSERT_EQUAL(fulcrum_table_rows(points), 2);
    CU_ASSERT(fulcrum_table_find(points, "value") < fulcrum_table_columns(points));
    CU_ASSERT_STRING_EQUAL(fulcrum_table_at(points, 1, "name").text, "y");
    assert_close("value", fulcrum_table_at(points, 0, "value").number, 1.5, 1e-15);
    assert_close("low", fulcrum_table_at(points, 0, "value_lo").number, 1, 1e-15);
    assert_close("high", fulcrum_table_at(points, 0, "value_hi").number, 2, 1e-15);
    static const char *const blank[] = {"value", "value_lo", "blank", "other", "_lo"};
    for (size_t i = 0; i < LENGTH(blank); i++) {
        CU_ASSERT(isnan(fulcrum_table_at(points, 1, blank[i]).number));
    }
    plot_file_close(&opened);
}

TEST(test_csv_and_json_read_alike)
{
    check_rows("a.csv", "name,value,value_lo,value_hi,blank\nx,1.5,1,2,\ny,,,,\n");
    check_rows("a.json",
        "{\"schema\":{\"name\":\"fulcrum-explore\",\"version\":1},\"points\":["
        "{\"name\":\"x\",\"value\":1.5,\"value_lo\":1,\"value_hi\":2},"
        "{\"name\":\"y\",\"value\":null,\"value_lo\":null,\"value_hi\":null}]}");
}

TEST(test_files_that_are_no_data_are_refused)
{
    static const struct {
        const char *file;
        const char *text;
        const char *part;
    } cases[] = {
        {"a.json", "{\"schema\":{\"name\":\"fulcrum-solve\"}}", "fulcrum-solve"},
        {"a.json", "{\"schema\":", "line 1"},
        {"a.csv", "a,b\n1\n", "line 2"},
        {"a.csv", "a,b\n", "a.csv"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct plot_file opened;
        ASSERT_FAILS(plot_file_try(&opened, cases[i].file, cases[i].text, &err),
            FULCRUM_ERR_FORMAT, cases[i].part);
        plot_file_close(&opened);
    }
}

/* A sweep with ratios and published points; `out` is freed by the caller. */
static enum fulcrum_status lay_over(const char *text, enum fulcrum_plot_curves kind,
    const struct fulcrum_plot_names *names, struct fulcrum_result **out,
    struct fulcrum_error *err)
{
    struct plot_file opened;
    *out = NULL;
    plot_file_open(&opened, "a.csv", text);
    *out = opened.source.result;
    opened.source.result = NULL;
    plot_file_close(&opened);
    return fulcrum_plot_published_add(*out, names, kind, err);
}

static const struct fulcrum_plot_names no_names = {NULL, 0};

/* Runtimes with points of one or two references. */
static struct fulcrum_result *with_published(
    const char *text, const char *first, const char *second)
{
    const char *const names[] = {first, second};
    const struct fulcrum_plot_names list = {names, second != NULL ? 2 : 1};
    struct fulcrum_result *result = NULL;
    ASSERT_OK(lay_over(text, FULCRUM_PLOT_RUNTIME, &list, &result, NULL));
    return result;
}

/* A cell of the sweep's points. */
static struct fulcrum_cell point_at(
    const struct fulcrum_result *result, size_t row, const char *key)
{
    return fulcrum_table_at(fulcrum_result_table_of(result, "rows"), row, key);
}

TEST(test_ratios_are_made_where_a_file_has_none)
{
    struct fulcrum_result *result = NULL;
    ASSERT_OK(lay_over(plain_sweep, FULCRUM_PLOT_RUNTIME, &no_names, &result, NULL));
    assert_close(
        "relative to", fulcrum_result_number_of(result, "relative_x"), 4.0, 1e-12);
    assert_close("runtime", point_at(result, 2, "runtime_rel").number, 0.2, 1e-12);
    assert_close("speed-up", point_at(result, 1, "speedup").number, 10.0, 1e-12);
    CU_ASSERT(isnan(point_at(result, 1, "speedup").lo));
    CU_ASSERT(isnan(point_at(result, 3, "speedup").number)); /* cannot run */
    assert_part(
        fulcrum_table_cell(fulcrum_result_table_of(result, "footnotes"), 0, 0).text,
        "without an interval");
    fulcrum_result_free(result);
}

TEST(test_ratios_of_a_file_keep_their_intervals)
{
    struct fulcrum_result *result = NULL;
    ASSERT_OK(lay_over(relative_sweep, FULCRUM_PLOT_RUNTIME, &no_names, &result, NULL));
    assert_close(
        "relative to", fulcrum_result_number_of(result, "relative_x"), 40.0, 1e-12);
    struct fulcrum_cell runtime = point_at(result, 2, "runtime_rel");
    assert_close("runtime", runtime.number, 0.5, 1e-12);
    assert_close("low", runtime.lo, 1.0 / 2.5, 1e-12);
    assert_close("high", runtime.hi, 1.0 / 1.6, 1e-12);
    CU_ASSERT_PTR_NULL(fulcrum_result_find(result, "footnotes"));
    fulcrum_result_free(result);
}

TEST(test_slowdowns_refer_to_the_most_sms)
{
    static const char text[] = "run.sm_count,cpu_gpu_ratio_used,runtime_s,status\n"
                               "80,0.5,100,ok\n20,2,180,ok\n40,1,106,ok\n";
    struct fulcrum_result *result = NULL;
    ASSERT_OK(lay_over(text, FULCRUM_PLOT_SM, &no_names, &result, NULL));
    assert_close(
        "relative to", fulcrum_result_number_of(result, "relative_x"), 80.0, 1e-12);
    assert_close("slowdown", point_at(result, 2, "runtime_rel").number, 1.06, 1e-12);
    fulcrum_result_free(result);
}

/* A published point: the `i`-th of a panel. */
struct published_point {
    const char *name;
    double x;
    struct fulcrum_cell value;
    double is_fitted;
};

/* The number of points in a panel. */
static size_t published_in(const struct fulcrum_result *result, size_t panel, size_t i,
    struct published_point *out)
{
    const struct fulcrum_table *table = fulcrum_result_table_of(result, "published");
    size_t count = 0;
    for (size_t row = 0; row < fulcrum_table_rows(table); row++) {
        if (fulcrum_table_at(table, row, "panel").number == (double)panel) {
            if (count == i) {
                *out =
                    (struct published_point){fulcrum_table_at(table, row, "name").text,
                        fulcrum_table_at(table, row, "x").number,
                        fulcrum_table_at(table, row, "value"),
                        fulcrum_table_at(table, row, "is_fitted").number};
            }
            count++;
        }
    }
    return count;
}

TEST(test_published_ratios_go_over_as_they_are)
{
    struct fulcrum_result *result =
        with_published(plain_sweep, "inci2020-fig3-text", NULL);
    struct published_point point = {.name = NULL};
    /* Not the point that is 1 by definition. */
    CU_ASSERT_EQUAL_FATAL(published_in(result, 1, 0, &point), 2);
    assert_close("x", point.x, 40.0, 1e-12);
    assert_close("speed-up", point.value.number, 5.8, 1e-12);
    assert_close("its low end", point.value.lo, 5.75, 1e-12);
    /* As the notes of the sweep's calibration have it: 11.6 is 5.8 times 2.0. */
    CU_ASSERT_EQUAL(point.is_fitted, 1.0);
    CU_ASSERT_STRING_EQUAL(point.name, "published: inci2020-fig3-text");
    CU_ASSERT_EQUAL_FATAL(published_in(result, 0, 0, &point), 2);
    assert_close("runtime", point.value.number, 1.0 / 5.8, 1e-12);
    assert_close("its high end", point.value.hi, 1.0 / 5.75, 1e-12);
    fulcrum_result_free(result);
}

TEST(test_published_ratios_are_chained)
{
    static const struct {
        const char *other;
        const char *words;
        double speedup;
    } cases[] = {
        {NULL, "chained on the predicted 5 at 40", 10.0},
        {"inci2020-fig3-text", "chained on the published 5.8 at 40", 11.6},
    };
    for (size_t i = 0; i < 2; i++) {
        struct fulcrum_result *result =
            with_published(plain_sweep, "inci2020-fig3-further-text", cases[i].other);
        struct published_point point = {.name = NULL};
        CU_ASSERT_FATAL(published_in(result, 1, 0, &point) >= 1);
        assert_part(point.name, cases[i].words);
        assert_close("speed-up", point.value.number, cases[i].speedup, 1e-12);
        fulcrum_result_free(result);
    }
}

/* Between the points of the sweep the prediction is interpolated. */
TEST(test_ratios_are_chained_between_points)
{
    struct fulcrum_result *result =
        with_published(SWEEP_HEAD "x,4,4,100,ok\nx,76,76,900,ok\n",
            "inci2020-fig3-further-text", NULL);
    struct published_point point = {.name = NULL};
    CU_ASSERT_FATAL(published_in(result, 1, 0, &point) >= 1);
    assert_part(point.name, "chained on the predicted 5 at 40");
    fulcrum_result_free(result);
}

/* Relative to 40 actors, 4 are 1 / 5.8 as fast, as the reference itself has it. */
TEST(test_ratios_are_restated_relative_to_a_point_of_their_own)
{
    struct fulcrum_result *result =
        with_published(relative_sweep, "inci2020-fig3-text", NULL);
    struct published_point point = {.name = NULL};
    CU_ASSERT_EQUAL_FATAL(published_in(result, 1, 0, &point), 2);
    assert_part(point.name, "restated relative to 40");
    assert_close("4 actors", point.value.number, 1.0 / 5.8, 1e-12);
    assert_close("low", point.value.lo, 1.0 / 5.85, 1e-12);
    (void)published_in(result, 1, 1, &point);
    assert_close("256 actors", point.value.number, 2.0, 1e-12);
    fulcrum_result_free(result);
}

TEST(test_references_that_do_not_belong_are_refused)
{
    static const char short_sweep[] = SWEEP_HEAD "x,8,8,100,ok\nx,16,16,190,ok\n";
    static const struct {
        const char *sweep;
        const char *name;
        enum fulcrum_status status;
        const char *part;
    } cases[] = {
        {plain_sweep, "inci2020-fig3-txt", FULCRUM_ERR_UNKNOWN_NAME,
            "inci2020-fig3-text"},
        {plain_sweep, "inci2020-fig3-power-text", FULCRUM_ERR_UNSUPPORTED,
            "expected speedup or runtime_rel"},
        {plain_sweep, "power-nvidia-smi-v100", FULCRUM_ERR_UNSUPPORTED,
            "does not say run.actor_count"},
        {plain_sweep, "inci2020-fig4-text", FULCRUM_ERR_UNSUPPORTED,
            "relative to one that differs in more than run.actor_count"},
        {short_sweep, "inci2020-fig3-text", FULCRUM_ERR_UNSUPPORTED,
            "run.actor_count = 4, which the sweep does not reach"},
    };
    struct fulcrum_result *result = NULL;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const struct fulcrum_plot_names list = {&cases[i].name, 1};
        ASSERT_FAILS(
            lay_over(cases[i].sweep, FULCRUM_PLOT_RUNTIME, &list, &result, &err),
            cases[i].status, cases[i].part);
        fulcrum_result_free(result);
    }
    static const char *const many[] = {"a", "b", "c", "d", "e"};
    static const struct fulcrum_plot_names list = {many, 5};
    CU_ASSERT_EQUAL(lay_over(plain_sweep, FULCRUM_PLOT_RUNTIME, &list, &result, NULL),
        FULCRUM_ERR_RANGE);
    fulcrum_result_free(result);
}

/* Slowdowns of so many actors with those that were published for 256 of them. */
static enum fulcrum_status lay_over_sms(
    double actors, struct fulcrum_result **out, struct fulcrum_error *err)
{
    static const char *const names[] = {"inci2020-fig4-text"};
    static const struct fulcrum_plot_names list = {names, 1};
    char text[200];
    (void)snprintf(text, sizeof text,
        "run.sm_count,actor_count,steps_per_s,status\n40,%g,90,ok\n80,%g,100,ok\n",
        actors, actors);
    return lay_over(text, FULCRUM_PLOT_SM, &list, out, err);
}

TEST(test_points_at_other_settings_are_left_out)
{
    struct fulcrum_result *result = NULL;
    struct published_point point = {.name = NULL};
    ASSERT_OK(lay_over_sms(256.0, &result, NULL));
    CU_ASSERT_EQUAL_FATAL(published_in(result, 0, 0, &point), 1);
    assert_close("slowdown", point.value.number, 1.06, 1e-12);
    fulcrum_result_free(result);
    ASSERT_FAILS(lay_over_sms(40.0, &result, &err), FULCRUM_ERR_UNSUPPORTED,
        "run.actor_count = 256, the sweep of 40");
    fulcrum_result_free(result);
}

/* A file of points, and the chart of lines that is drawn from it. */
struct drawn {
    struct fulcrum_result *result;
    struct fulcrum_canvas *canvas;
};

static enum fulcrum_status draw_points(struct drawn *out, const char *name,
    const char *text, const struct fulcrum_chart *chart, struct fulcrum_error *err)
{
    struct plot_file opened;
    *out = (struct drawn){NULL, NULL};
    plot_file_result(&opened, name, text, &out->result);
    plot_file_close(&opened);
    ASSERT_OK(fulcrum_canvas_new(&out->canvas, 900, 675, NULL));
    TRY(chart == &fulcrum_chart_parity ? fulcrum_plot_parity_add(out->result, err)
                                       : fulcrum_plot_measured_add(out->result, err));
    const struct fulcrum_line_chart_data data = {.chart = chart, .result = out->result};
    return fulcrum_chart_draw(chart, out->canvas, &data, err);
}

static void free_drawn(struct drawn *drawn)
{
    fulcrum_canvas_free(drawn->canvas);
    fulcrum_result_free(drawn->result);
}

/* A file, words, and how often its chart has them. */
struct words_case {
    const char *text;
    const char *words;
    size_t count;
};

static void check_words(const struct fulcrum_chart *chart, const char *name,
    const struct words_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct drawn drawn;
        struct fulcrum_error err = {FULCRUM_OK, ""};
        ASSERT_OK(draw_points(&drawn, name, cases[i].text, chart, &err));
        size_t found = count_texts(drawn.canvas, cases[i].words);
        if (found != cases[i].count) {
            (void)fprintf(stderr, "\n  '%s': %zu times", cases[i].words, found);
        }
        CU_ASSERT_EQUAL(found, cases[i].count);
        free_drawn(&drawn);
    }
}

#define VALIDATION_HEAD                                                                \
    "reference,quantity,observed,half_width,predicted,predicted_lo,predicted_hi,"      \
    "kind\n"

TEST(test_validations_sort_points_by_unit_and_family)
{
    static const char mixed[] =
        VALIDATION_HEAD "envpool-a,steps_per_s,100,,110,90,130,predicted\n"
                        "envpool-a,steps_per_s,200,,160,,,predicted\n"
                        "envpool-a,steps_per_s,200,,900,,,fitted\n"
                        "envpool-b,gpu_w,70,5,71,,,fitted\n"
                        "mine,speedup,0,,1,,,predicted\n"; /* has no place */
    static const char odd[] = "reference,series,quantity,observed,half_width,predicted,"
                              "kind\na,one,flop_per_s,50,,60,fitted\n"
                              "a,one,flop_per_s,200,5,150,predicted\n"
                              "a,two,flop_per_s,1000,,1000,fitted\n";
    static const struct words_case cases[] = {
        {mixed, "mean error 15 % over 2 predicted", 1},
        {mixed, "1 fitted, none predicted", 1},
        {mixed, "envpool (2 references)", 1},
        {mixed, "Predicted watts", 1},
        {mixed, "Predicted ratios", 0},
        {mixed, "3 references: 3 points predicted, 2 fitted", 1},
        {mixed, "90 % interval", 1},
        {mixed, "relative to the first", 0},
        {odd, "Predicted ratios", 1},
        {odd, "mean error 25 % over 1 predicted", 1},
        {odd, "relative to the first", 1},
        {VALIDATION_HEAD "a,gpu_w,1,,,,,predicted\n", "no data", 1},
    };
    check_words(&fulcrum_chart_parity, "a.csv", cases, LENGTH(cases));
    static const struct words_case none[] = {
        {"{\"schema\":{\"name\":\"fulcrum-validate\"},\"sets\":[],\"points\":[]}",
            "0 references", 1}};
    check_words(&fulcrum_chart_parity, "a.json", none, 1);
}

TEST(test_families_beyond_the_legend_share_its_last_entry)
{
    char text[2000] = "reference,quantity,observed,predicted,kind\n";
    for (int i = 0; i < 11; i++) {
        size_t used = strlen(text);
        (void)snprintf(
            text + used, sizeof text - used, "family%d-x,gpu_w,10,11,predicted\n", i);
    }
    const struct words_case cases[] = {{text, "others (4 references)", 1},
        {text, "family6 (1 reference)", 1}, {text, "family7", 0}};
    check_words(&fulcrum_chart_parity, "a.csv", cases, 3);
}

static double component_at(const struct fulcrum_result *result, size_t row)
{
    return fulcrum_table_at(
        fulcrum_result_table_of(result, "components"), row, "gpu_time_rel")
        .number;
}

/* Four rows of one GPU are a bar. */
TEST(test_gpu_time_follows_the_model)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    struct fulcrum_design a100;
    ASSERT_OK(fulcrum_reference_load("inci2020-fig2-text", &reference, NULL));
    ASSERT_OK(fulcrum_plot_gpu_time_add(reference, "dgx-1,dgx-a100", result, NULL));
    const struct fulcrum_table *rows = fulcrum_result_table_of(result, "components");
    /* The reference's own GPU is there already. */
    CU_ASSERT_EQUAL_FATAL(fulcrum_table_rows(rows), 12);
    static const double published[] = {0.57, 0.15, 0.12, 0.16};
    for (size_t k = 0; k < 4; k++) {
        assert_close("published", component_at(result, k), published[k], 1e-12);
    }
    assert_close("half of the SMs", component_at(result, 4), 2.0 * 0.57, 1e-12);
    CU_ASSERT(isnan(fulcrum_table_at(rows, 4, "whole_rel").lo));
    fulcrum_design_init(&a100);
    ASSERT_OK(fulcrum_machine_load("dgx-a100", &a100, NULL, NULL));
    struct fulcrum_gpu_scale scale =
        fulcrum_gpu_scale(&reference->design.workload.network,
            &reference->design.machine.gpu, &a100.machine.gpu);
    assert_close("math", component_at(result, 8), scale.math, 1e-12);
    assert_close("DRAM", component_at(result, 10), scale.dram, 1e-12);
    struct fulcrum_cell whole = fulcrum_table_at(rows, 8, "whole_rel");
    assert_close("interval", whole.hi * whole.lo,
        pow(fulcrum_gpu_scale_sum(&scale), 2.0), 1e-12);
    CU_ASSERT(whole.hi > 1.5 * fulcrum_gpu_scale_sum(&scale));
    fulcrum_result_free(result);
    fulcrum_reference_free(reference);
}

TEST(test_gpu_time_needs_such_a_reference_and_machines)
{
    static const struct {
        const char *reference;
        const char *machines;
        enum fulcrum_status status;
        const char *part;
    } cases[] = {
        {"inci2020-fig3-text", "none", FULCRUM_ERR_UNSUPPORTED, "no gpu_time_frac"},
        {"inci2020-fig2-text", "dgx-a100,dgx-h10", FULCRUM_ERR_UNKNOWN_NAME,
            "--machines"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_reference *reference = NULL;
        struct fulcrum_result *result = fulcrum_result_new(NULL);
        ASSERT_OK(fulcrum_reference_load(cases[i].reference, &reference, NULL));
        ASSERT_FAILS(
            fulcrum_plot_gpu_time_add(reference, cases[i].machines, result, &err),
            cases[i].status, cases[i].part);
        fulcrum_result_free(result);
        fulcrum_reference_free(reference);
    }
}

/* --- Stages ------------------------------------------------------------------------
 */

/* How often the chart of stages says something; the title is someone's own. */
static size_t stages_say(const struct fulcrum_result *result, const char *words)
{
    const struct fulcrum_bar_chart_data data = {
        .text = {.title = "mine"}, .chart = &fulcrum_bars_stages, .result = result};
    struct fulcrum_canvas *canvas = NULL;
    ASSERT_OK(fulcrum_canvas_new(&canvas, 900, 600, NULL));
    ASSERT_OK(fulcrum_chart_draw(&fulcrum_chart_stages, canvas, &data, NULL));
    size_t count = count_texts(canvas, words);
    fulcrum_canvas_free(canvas);
    return count;
}

TEST(test_published_stages_are_shares_of_points)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    ASSERT_OK(fulcrum_reference_load("rlscope-fig5-stage-shares", &reference, NULL));
    ASSERT_OK(fulcrum_plot_stages_add(reference, result, NULL));
    static const struct {
        const char *words;
        size_t count;
    } cases[] = {{"A2C", 1}, {"of 13091 s", 1}, {"67 %", 1}, {"72 %", 1},
        {"upper half", 0}, {"all wait", 0}, {"mine", 1}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        CU_ASSERT_EQUAL(stages_say(result, cases[i].words), cases[i].count);
    }
    assert_part(fulcrum_result_text_of(result, "subtitle"), "RTX 2080 Ti");
    assert_part(fulcrum_result_text_of(result, "footnote"), "1.00 to 1.01");
    fulcrum_result_free(result);
    fulcrum_reference_free(reference);
}

TEST(test_stages_need_a_reference_of_stages)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    ASSERT_OK(fulcrum_reference_load("inci2020-fig3-text", &reference, NULL));
    ASSERT_FAILS(fulcrum_plot_stages_add(reference, result, &err),
        FULCRUM_ERR_UNSUPPORTED, "no share of time by stage");
    fulcrum_result_free(result);
    fulcrum_reference_free(reference);
}

static const char measured_stages[] =
    "run,stage,share_frac,cpu_only_frac,cpu_and_gpu_frac,gpu_only_frac\n"
    "1 actor,simulation,0.46,0.46,0,0\n"
    "1 actor,wait,,,,\n"
    "1 actor,idle,0.54,,,\n"
    "8 actors,simulation,0.25,0.25,0,0\n"
    "8 actors,inference,0.75,0.21,0.35,0.19\n"
    "8 actors,outside,,,,\n";

TEST(test_measured_stages_are_a_bar_for_each_run)
{
    static const struct {
        const char *words;
        size_t count;
    } cases[] = {{"1 actor", 1}, {"8 actors", 1}, {"46 %", 1}, {"54 %", 1},
        {"no stage: all wait", 1}, {"35 %", 1}, {"21 %", 1}, {"19 %", 1}, {"25 %", 1},
        {"upper half: CPU only", 1}, {"training", 0}, {"mine", 1}};
    struct plot_file opened;
    struct fulcrum_result *result = NULL;
    plot_file_result(&opened, "stages.csv", measured_stages, &result);
    CU_ASSERT_EQUAL(opened.source.content, FULCRUM_PLOT_STAGES);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        CU_ASSERT_EQUAL(stages_say(result, cases[i].words), cases[i].count);
    }
    fulcrum_result_free(result);
    plot_file_close(&opened);
}

/* Sampled threads leave shares open, and a chart of zeros would lie. */
TEST(test_stages_without_shares_have_no_chart)
{
    static const struct {
        const char *text;
        enum fulcrum_status status;
        const char *part;
    } cases[] = {
        {"run,stage,share_frac,cpu_only_frac\nmine,simulation,,\n",
            FULCRUM_ERR_UNSUPPORTED, "run mine: share_frac of simulation is not known"},
        {"run,stage,cpu_only_frac\nmine,simulation,1\n", FULCRUM_ERR_FORMAT,
            "share_frac"},
        {"run,stage,share_frac,cpu_only_frac\nmine,simulation,1,much\n",
            FULCRUM_ERR_FORMAT, "much"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct plot_file opened;
        struct fulcrum_result *result = NULL;
        plot_file_result(&opened, "stages.csv", cases[i].text, &result);
        const struct fulcrum_bar_chart_data data = {
            .chart = &fulcrum_bars_stages, .result = result};
        ASSERT_FAILS(
            fulcrum_bar_chart_check(&data, &err), cases[i].status, cases[i].part);
        fulcrum_result_free(result);
        plot_file_close(&opened);
    }
}

/* Two SMs, one disturbed; the curve between them follows (5) and (6). */
TEST(test_sm_time_has_samples_and_the_fitted_curve)
{
    static double sms[] = {8, 132};
    static double time_s[] = {2e-3, 1e-3};
    static double rel[] = {1, 1};
    static double disturbed[] = {1, 0};
    struct fulcrum_calibration *calibration = NULL;
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    struct fulcrum_error err = {FULCRUM_OK, ""};
    ASSERT_OK(fulcrum_calibration_new(&calibration, NULL));
    CU_ASSERT_EQUAL(
        fulcrum_plot_sm_time_add(calibration, result, &err), FULCRUM_ERR_UNSUPPORTED);
    fulcrum_result_free(result);
    result = fulcrum_result_new(NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "no series inference_sm"));
    const struct fulcrum_series series = {.name = "inference_sm",
        .unit = "s",
        .x_name = "sms",
        .condition = "batch 64",
        .count = 2,
        .x = sms,
        .value = time_s,
        .canary_rel = rel,
        .disturbed = disturbed};
    const struct fulcrum_quantity quantities[] = {
        {"sm_per_batch_s", 4e-4, 4e-4, 4e-4, "s"},
        {"sm_per_item_s", 1e-5, 1e-5, 1e-5, "s"}};
    const struct fulcrum_parameter parameters[] = {
        {.path = "workload.network.launch_bound_frac", .value = 0.5},
        {.path = "workload.network.math_frac", .value = 0.8}};
    ASSERT_OK(fulcrum_calibration_add_series(calibration, &series, NULL));
    for (size_t i = 0; i < 2; i++) {
        ASSERT_OK(fulcrum_calibration_add_quantity(calibration, &quantities[i], NULL));
        ASSERT_OK(fulcrum_calibration_add_parameter(calibration, &parameters[i], NULL));
    }
    (void)snprintf(
        calibration->machine.gpu.name, sizeof calibration->machine.gpu.name, "G");
    ASSERT_OK(fulcrum_plot_sm_time_add(calibration, result, &err));
    CU_ASSERT_STRING_EQUAL(
        fulcrum_result_text_of(result, "chart_title"), "G, on a part of its SMs");
    const struct fulcrum_table *rows = fulcrum_result_table_of(result, "samples");
    /* Samples, then 64 points of the curve. */
    CU_ASSERT_EQUAL_FATAL(fulcrum_table_rows(rows), 66);
    CU_ASSERT_STRING_EQUAL(fulcrum_table_at(rows, 65, "work").text, "batch 64");
    CU_ASSERT_STRING_EQUAL(fulcrum_table_at(rows, 0, "state").text, "disturbed");
    CU_ASSERT_STRING_EQUAL(fulcrum_table_at(rows, 1, "state").text, "");
    CU_ASSERT_EQUAL(fulcrum_table_at(rows, 1, "sample_s").number, 1e-3);
    CU_ASSERT(isnan(fulcrum_table_at(rows, 1, "fit_s").number));
    CU_ASSERT(isnan(fulcrum_table_at(rows, 2, "sample_s").number));
    double phi = 0.8 * 132 / 8 + 0.2;
    assert_close("8 SMs", fulcrum_table_at(rows, 2, "fit_s").number,
        4e-4 * (0.5 + 0.5 * phi) + 64e-5 * phi, 1e-9);
    assert_close("all", fulcrum_table_at(rows, 65, "fit_s").number, 4e-4 + 64e-5, 1e-9);
    fulcrum_result_free(result);
    fulcrum_calibration_free(calibration);
}

/* Two rules over unsorted actors, a failure, a disturbed point, one not reached. */
#define MEASURED_HEAD                                                                  \
    "batching,actors,envs_per_actor,measured_steps_per_s,measured_lo,measured_hi,"     \
    "predicted_steps_per_s,predicted_lo,predicted_hi,windows,disturbed_windows,note\n"
static const char measured_points[] =
    MEASURED_HEAD "greedy K=4,8,4,2000,1900,2100,2100,2000,2200,5,1,\n"
                  "greedy K=4,2,4,1000,900,1100,900,800,1000,5,0,\n"
                  "fixed share 0.5 K=1,2,1,500,400,600,750,700,800,5,4,disturbed\n"
                  "fixed share 0.5 K=1,4,1,,,,,,,0,0,environment 3: it crashed\n"
                  "greedy K=4,16,4,,,,,,,0,0,not measured\n"
                  "greedy K=4,32,4,10,9,11,40,30,50,3,2,environment 1: late\n";

#define ALL_DISTURBED MEASURED_HEAD "greedy K=1,1,1,100,90,110,50,,,1,1,disturbed\n"
#define WITHOUT_PREDICTION                                                             \
    "batching,actors,measured_steps_per_s\ngreedy,1,100\ngreedy,2,180\n"

TEST(test_measured_points_are_told_of_around_the_chart)
{
    static const struct words_case cases[] = {
        {measured_points, "Measured against predicted", 1},
        {measured_points,
            "2 undisturbed points: mean |error| 7.5 %, largest -10 % (greedy, 4 envs "
            "per actor, 2 actors)",
            1},
        {measured_points, "2 of 6 points disturbed", 1},
        {measured_points, "1 of 6 points not measured", 1},
        {measured_points, "2 of 6 points failed, the first: environment 3: it crashed",
            1},
        {measured_points, "greedy, 4 envs per actor, steps/s", 1},
        {measured_points, "fixed share 0.5, 1 env per actor, steps/s", 1},
        {measured_points, "disturbed, not among the errors", 1},
        {measured_points, "nothing to compare", 1},
        {measured_points, "failed", 2},
        /* The disturbed point is 300 % off: the scale of the others does not show it.
         */
        {measured_points, "300", 0},
        {ALL_DISTURBED, "all disturbed", 2},
        {ALL_DISTURBED, "median of the windows", 0},
        {ALL_DISTURBED, "error of the prediction, %", 1},
        {WITHOUT_PREDICTION, "Measured end to end", 1},
        {WITHOUT_PREDICTION, "nothing was predicted: ", 1},
        {WITHOUT_PREDICTION, "error", 0},
        {WITHOUT_PREDICTION, "median of the windows", 1},
        {WITHOUT_PREDICTION, "window", 1},
    };
    check_words(&fulcrum_chart_measured, "m.csv", cases, LENGTH(cases));
}

TEST(test_measured_rates_share_a_scale_where_they_are_alike)
{
    static const struct {
        double factor;
        size_t ticks; /* near the upper end of the larger rates */
    } cases[] = {{0.5, 2}, {1e-9, 1}, {1e12, 1}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char text[400];
        (void)snprintf(text, sizeof text,
            "batching,actors,measured_steps_per_s\na,1,1500\na,2,2000\nb,1,%g\nb,2,%"
            "g\n",
            1500.0 * cases[i].factor, 2000.0 * cases[i].factor);
        const struct words_case words[] = {{text, "1.8k", cases[i].ticks}};
        check_words(&fulcrum_chart_measured, "m.csv", words, 1);
    }
}

#define MEASURED_SCHEMA "{\"schema\":{\"name\":\"fulcrum-measure\",\"version\":1},"

TEST(test_measured_documents_name_what_ran)
{
#define DOCUMENT(points)                                                               \
    MEASURED_SCHEMA "\"actor\":\"pole\",\"machine\":\"a CPU\",\"learner\":\"cpu\","    \
                    "\"calibration\":\"c\",\"points\":[" points "],\"stages\":[]}"
#define ONE_POINT(rest)                                                                \
    DOCUMENT("{\"batching\":\"greedy K=1\",\"actors\":1,\"envs_per_actor\":1,"         \
             "\"measured_steps_per_s\":100," rest "}")
    static const struct words_case cases[] = {
        {DOCUMENT(""), "pole on a CPU: measured end to end", 1},
        {DOCUMENT(""), "no data", 1},
        {ONE_POINT("\"predicted_steps_per_s\":null"),
            "learner cpu, calibration c; nothing was predicted", 1},
        {ONE_POINT("\"predicted_steps_per_s\":50,\"note\":\"disturbed\""),
            "pole on a CPU: measured against predicted", 1},
        {ONE_POINT("\"predicted_steps_per_s\":50,\"note\":\"disturbed\""),
            "learner cpu, calibration c; no point to compare: all disturbed", 1},
    };
    check_words(&fulcrum_chart_measured, "m.json", cases, LENGTH(cases));
}

TEST(test_measured_points_with_odd_cells_are_refused)
{
    static const struct {
        const char *row;
        const char *part;
    } cases[] = {
        {"greedy,many,1,1,1,1,1,1,1,1,0,\n", "actors = 'many'"},
        {"greedy,0,1,1,1,1,1,1,1,1,0,\n", "actors = 0: expected a number from 1"},
        {"greedy,,1,1,1,1,1,1,1,1,0,\n", "actors is not given"},
        {"greedy,1,some,1,1,1,1,1,1,1,0,\n", "envs_per_actor = 'some'"},
        {"greedy,1,1,fast,1,1,1,1,1,1,0,\n", "measured_steps_per_s = 'fast'"},
        {"greedy,1,1,1,1,1,1,1,1,few,0,\n", "windows = 'few'"},
        {"greedy,1,1,1,1,1,1,1,1,1,few,\n", "disturbed_windows = 'few'"},
        /* The row at fault is named, not the first one. */
        {"greedy,1,1,1,1,1,1,1,1,1,0,\ngreedy,2,1,nan,1,1,1,1,1,1,0,\n",
            "row 2: measured_steps_per_s = 'nan'"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct drawn drawn;
        char text[400];
        (void)snprintf(text, sizeof text, MEASURED_HEAD "%s", cases[i].row);
        ASSERT_FAILS(draw_points(&drawn, "m.csv", text, &fulcrum_chart_measured, &err),
            FULCRUM_ERR_FORMAT, cases[i].part);
        free_drawn(&drawn);
    }
}

static struct fulcrum_cell rate_at(
    const struct fulcrum_result *result, size_t row, const char *key)
{
    return fulcrum_table_at(fulcrum_result_table_of(result, "points"), row, key);
}

/* As `fulcrum validate` predicts it: every other point of a published curve was fitted.
 */
TEST(test_measured_references_are_predicted_anew)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_validation validation = {.reference = NULL};
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    struct fulcrum_error err = {FULCRUM_OK, ""};
    ASSERT_OK(fulcrum_reference_load("sf-fig3-10-core-atari", &reference, NULL));
    ASSERT_OK(fulcrum_reference_keep_series(reference, "DeepMind IMPALA", NULL));
    ASSERT_OK(fulcrum_validate(reference, NULL, &validation, NULL));
    ASSERT_OK(fulcrum_plot_measured_of_reference(&validation, result, &err));
    CU_ASSERT_EQUAL_FATAL(fulcrum_table_rows(fulcrum_result_table_of(result, "points")),
        validation.comparison.count);
    CU_ASSERT_STRING_EQUAL(rate_at(result, 0, "series").text, "DeepMind IMPALA");
    CU_ASSERT_STRING_EQUAL(fulcrum_result_text_of(result, "label/x"), "environments");
    for (size_t i = 0; i < validation.comparison.count; i++) {
        const struct fulcrum_compared *item = &validation.comparison.items[i];
        assert_close(
            "observed", rate_at(result, i, "measured").number, item->observed, 0.0);
        assert_close(
            "predicted", rate_at(result, i, "predicted").number, item->predicted, 0.0);
        CU_ASSERT_STRING_EQUAL(
            rate_at(result, i, "fit").text, item->is_fitted ? "seen" : "");
        CU_ASSERT_STRING_EQUAL(rate_at(result, i, "state").text, "");
    }
    assert_part(
        fulcrum_table_cell(fulcrum_result_table_of(result, "footnotes"), 0, 0).text,
        "2 of 4 points were seen by the fit");
    assert_part(fulcrum_result_text_of(result, "chart_subtitle"),
        "2 points that no fit has seen: mean |error|");
    fulcrum_result_free(result);
    fulcrum_validation_clear(&validation);
    fulcrum_reference_free(reference);
}

/* What `fulcrum measure -o` writes names its disturbed points by their series. */
TEST(test_measured_references_keep_disturbed_points_apart)
{
    static struct fulcrum_reference_setting settings[][2] = {
        {{"run.actor_count", 8.0, ""}, {"run.envs_per_actor", 4.0, ""}},
        {{"run.actor_count", 2.0, ""}, {"run.envs_per_actor", 4.0, ""}}};
    static struct fulcrum_observation rates[] = {
        {"steps_per_s", 900.0, 50.0}, {"steps_per_s", 300.0, 100.0}};
    struct fulcrum_reference_point points[] = {
        {0, "greedy K=4 disturbed", 2, settings[0], 1, &rates[0]},
        {1, "greedy K=4", 2, settings[1], 1, &rates[1]}};
    struct fulcrum_reference reference = {
        .name = "mine", .title = "Mine", .points = points, .point_count = 2};
    struct fulcrum_validation validation = {
        .reference = &reference, .reason = "no calibration is named"};
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    ASSERT_OK(fulcrum_plot_measured_of_reference(&validation, result, NULL));
    CU_ASSERT_STRING_EQUAL(
        rate_at(result, 0, "series").text, "greedy, 4 envs per actor");
    CU_ASSERT_STRING_EQUAL(
        rate_at(result, 1, "series").text, "greedy, 4 envs per actor");
    CU_ASSERT_STRING_EQUAL(fulcrum_result_text_of(result, "chart_title"), "Mine");
    CU_ASSERT_STRING_EQUAL(
        fulcrum_result_text_of(result, "chart_subtitle"), "nothing was predicted");
    assert_part(
        fulcrum_table_cell(fulcrum_result_table_of(result, "footnotes"), 0, 0).text,
        "no calibration is named");
    CU_ASSERT_STRING_EQUAL(rate_at(result, 0, "state").text, "disturbed");
    CU_ASSERT_STRING_EQUAL(rate_at(result, 1, "state").text, "");
    assert_close("least", rate_at(result, 1, "measured").lo, 200.0, 0.0);
    assert_close("most", rate_at(result, 0, "measured").hi, 950.0, 0.0);
    fulcrum_result_free(result);
    (void)snprintf(rates[0].quantity, sizeof rates[0].quantity, "gpu_w");
    (void)snprintf(rates[1].quantity, sizeof rates[1].quantity, "gpu_w");
    result = fulcrum_result_new(NULL);
    ASSERT_FAILS(fulcrum_plot_measured_of_reference(&validation, result, &err),
        FULCRUM_ERR_UNSUPPORTED, "reference mine: no point gives steps_per_s");
    fulcrum_result_free(result);
}

/* Of a document with both, stages are drawn where they are asked for. */
TEST(test_documents_of_points_and_stages_give_what_is_asked_for)
{
    static const struct {
        const char *rest;
        enum fulcrum_plot_content expected;
        enum fulcrum_plot_content content;
    } cases[] = {
        {"\"points\":[],\"stages\":[]}", FULCRUM_PLOT_CONTENTS, FULCRUM_PLOT_MEASURED},
        {"\"points\":[],\"stages\":[]}", FULCRUM_PLOT_STAGES, FULCRUM_PLOT_STAGES},
        {"\"points\":[]}", FULCRUM_PLOT_STAGES, FULCRUM_PLOT_MEASURED},
        {"\"stages\":[]}", FULCRUM_PLOT_MEASURED, FULCRUM_PLOT_STAGES},
        {"\"stages\":[]}", FULCRUM_PLOT_CONTENTS, FULCRUM_PLOT_STAGES},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct scratch scratch = scratch_new();
        struct fulcrum_plot_source source;
        char text[200];
        (void)snprintf(text, sizeof text, MEASURED_SCHEMA "%s", cases[i].rest);
        char *path = scratch_write(&scratch, "m.json", text);
        ASSERT_OK(fulcrum_plot_source_open(path, cases[i].expected, &source, NULL));
        CU_ASSERT_EQUAL(source.content, cases[i].content);
        fulcrum_plot_source_close(&source);
        free(path);
        scratch_free(&scratch);
    }
}
