/* test_plot_data.c - files become chart data: columns, ratios, published points. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/design/scale.h"
#include "model/try.h"
#include "presets/load/preset.h"
#include "tests/support/plot_file.h"
#include "tests/support/suite.h"

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

/* A cell of the points of a file. */
static struct fulcrum_cell point_at(
    const struct plot_file *file, size_t row, const char *key)
{
    return plot_file_cell(file, "points", row, key);
}

static void check_rows(const char *name, const char *text)
{
    struct plot_file file;
    plot_file_open(&file, name, text);
    CU_ASSERT_EQUAL(file.job.source.content, FULCRUM_PLOT_SWEEP);
    CU_ASSERT_EQUAL(plot_file_rows(&file, "points"), 2);
    CU_ASSERT_STRING_EQUAL(point_at(&file, 1, "name").text, "y");
    assert_close("value", point_at(&file, 0, "value").number, 1.5, 1e-15);
    assert_close("low", point_at(&file, 0, "value_lo").number, 1, 1e-15);
    assert_close("high", point_at(&file, 0, "value_hi").number, 2, 1e-15);
    static const char *const blank[] = {"value", "value_lo", "blank", "other", "_lo"};
    for (size_t i = 0; i < LENGTH(blank); i++) {
        CU_ASSERT(isnan(point_at(&file, 1, blank[i]).number));
    }
    plot_file_close(&file);
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

/* A sweep with ratios and the points of up to two references, which end with NULL. */
static enum fulcrum_status lay_over(struct plot_file *out, const char *text,
    const char *chart, const char **names, struct fulcrum_error *err)
{
    plot_file_open(out, "a.csv", text);
    out->job.references.items = names;
    while (names[out->job.references.count] != NULL) {
        out->job.references.count++;
    }
    return plot_file_add(out, chart, err);
}

/* Runtimes with points of one or two references, or none. */
static void with_published(
    struct plot_file *out, const char *text, const char *first, const char *second)
{
    const char *names[] = {first, second, NULL};
    ASSERT_OK(lay_over(out, text, "runtime", names, NULL));
}

static double relative_to(const struct plot_file *file)
{
    return fulcrum_result_number_of(file->job.source.result, "relative_x");
}

TEST(test_ratios_are_made_where_a_file_has_none)
{
    struct plot_file file;
    with_published(&file, plain_sweep, NULL, NULL);
    assert_close("relative to", relative_to(&file), 4.0, 1e-12);
    assert_close("runtime", point_at(&file, 2, "runtime_rel").number, 0.2, 1e-12);
    assert_close("speed-up", point_at(&file, 1, "speedup").number, 10.0, 1e-12);
    CU_ASSERT(isnan(point_at(&file, 1, "speedup").lo));
    CU_ASSERT(isnan(point_at(&file, 3, "speedup").number)); /* cannot run */
    assert_part(plot_file_text(&file, "footnotes"), "without an interval");
    plot_file_close(&file);
}

TEST(test_ratios_of_a_file_keep_their_intervals)
{
    struct plot_file file;
    with_published(&file, relative_sweep, NULL, NULL);
    assert_close("relative to", relative_to(&file), 40.0, 1e-12);
    struct fulcrum_cell runtime = point_at(&file, 2, "runtime_rel");
    assert_close("runtime", runtime.number, 0.5, 1e-12);
    assert_close("low", runtime.lo, 1.0 / 2.5, 1e-12);
    assert_close("high", runtime.hi, 1.0 / 1.6, 1e-12);
    CU_ASSERT_STRING_EQUAL(plot_file_text(&file, "footnotes"), "");
    plot_file_close(&file);
}

TEST(test_slowdowns_refer_to_the_most_sms)
{
    static const char text[] = "run.sm_count,cpu_gpu_ratio_used,runtime_s,status\n"
                               "80,0.5,100,ok\n20,2,180,ok\n40,1,106,ok\n";
    struct plot_file file;
    plot_file_open(&file, "a.csv", text);
    ASSERT_OK(plot_file_add(&file, "sm", NULL));
    assert_close("relative to", relative_to(&file), 80.0, 1e-12);
    assert_close("slowdown", point_at(&file, 2, "runtime_rel").number, 1.06, 1e-12);
    plot_file_close(&file);
}

/* The row of the `place`-th published point in a panel; how many there are. */
static size_t find_published(
    const struct plot_file *file, size_t panel, size_t place, size_t *row)
{
    const struct fulcrum_table *table =
        fulcrum_result_table_of(file->job.source.result, "published");
    size_t count = 0;
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        if (fulcrum_table_at(table, i, "panel").number == (double)panel) {
            *row = count++ == place ? i : *row;
        }
    }
    return count;
}

static struct fulcrum_cell published_at(
    const struct plot_file *file, size_t row, const char *key)
{
    return plot_file_cell(file, "published", row, key);
}

static void check_known(const char *what, double actual, double expected)
{
    if (expected > 0.0) {
        assert_close(what, actual, expected, 1e-12);
    }
}

/* Ratios go over as they are, are chained on what is known of 40 actors (between points
 * of the sweep too), or restated where the reference has the sweep's own point:
 * relative to 40 actors, 4 are 1 / 5.8 as fast. The point that is 1 by definition says
 * nothing. */
TEST(test_published_ratios_refer_to_the_point_of_the_sweep)
{
    static const char two_points[] = SWEEP_HEAD "x,4,4,100,ok\nx,76,76,900,ok\n";
    static const char text[] = "inci2020-fig3-text";
    static const char further[] = "inci2020-fig3-further-text";
    static const struct {
        const char *sweep;
        const char *names[2];
        size_t panel;
        size_t place;
        const char *words;
        double x;
        double value[3]; /* with its ends; 0: any */
    } cases[] = {
        {plain_sweep, {text}, 1, 0, "published: inci2020-fig3-text", 40.0, {5.8, 5.75}},
        {plain_sweep, {text}, 0, 0, "", 40.0, {1.0 / 5.8, 0.0, 1.0 / 5.75}},
        {plain_sweep, {further}, 1, 0, "chained on the predicted 5 at 40", 0.0, {10.0}},
        {plain_sweep, {further, text}, 1, 0, "chained on the published 5.8 at 40", 0.0,
            {11.6}},
        {two_points, {further}, 1, 0, "chained on the predicted 5 at 40", 0.0, {0.0}},
        {relative_sweep, {text}, 1, 0, "restated relative to 40", 4.0,
            {1.0 / 5.8, 1.0 / 5.85}},
        {relative_sweep, {text}, 1, 1, "", 256.0, {2.0}},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct plot_file file;
        size_t row = 0;
        with_published(&file, cases[i].sweep, cases[i].names[0], cases[i].names[1]);
        size_t count = find_published(&file, cases[i].panel, cases[i].place, &row);
        CU_ASSERT_FATAL(cases[i].x > 0.0 ? count == 2 : count >= 1);
        struct fulcrum_cell value = published_at(&file, row, "value");
        const char *name = published_at(&file, row, "name").text;
        assert_part(name, cases[i].words);
        check_known("x", published_at(&file, row, "x").number, cases[i].x);
        check_known("value", value.number, cases[i].value[0]);
        check_known("low", value.lo, cases[i].value[1]);
        check_known("high", value.hi, cases[i].value[2]);
        /* As the notes of the sweep's calibration have it: 11.6 is 5.8 times 2.0. */
        CU_ASSERT(i > 0 || published_at(&file, row, "is_fitted").number == 1.0);
        CU_ASSERT(i > 0 || strcmp(name, cases[i].words) == 0);
        plot_file_close(&file);
    }
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
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct plot_file file;
        const char *names[] = {cases[i].name, NULL};
        ASSERT_FAILS(lay_over(&file, cases[i].sweep, "runtime", names, &err),
            cases[i].status, cases[i].part);
        plot_file_close(&file);
    }
    const char *many[] = {"a", "b", "c", "d", "e", NULL};
    struct plot_file file;
    CU_ASSERT_EQUAL(
        lay_over(&file, plain_sweep, "runtime", many, NULL), FULCRUM_ERR_RANGE);
    plot_file_close(&file);
}

/* Slowdowns of so many actors with those that were published for 256 of them. */
static enum fulcrum_status lay_over_sms(
    struct plot_file *out, double actors, struct fulcrum_error *err)
{
    const char *names[] = {"inci2020-fig4-text", NULL};
    char text[200];
    (void)snprintf(text, sizeof text,
        "run.sm_count,actor_count,steps_per_s,status\n40,%g,90,ok\n80,%g,100,ok\n",
        actors, actors);
    return lay_over(out, text, "sm", names, err);
}

TEST(test_points_at_other_settings_are_left_out)
{
    struct plot_file file;
    size_t row = 0;
    ASSERT_OK(lay_over_sms(&file, 256.0, NULL));
    CU_ASSERT_EQUAL_FATAL(find_published(&file, 0, 0, &row), 1);
    assert_close("slowdown", published_at(&file, row, "value").number, 1.06, 1e-12);
    plot_file_close(&file);
    ASSERT_FAILS(lay_over_sms(&file, 40.0, &err), FULCRUM_ERR_UNSUPPORTED,
        "run.actor_count = 256, the sweep of 40");
    plot_file_close(&file);
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
    static const struct drawing cases[] = {
        {"a.csv", mixed,
            {{"mean error 15 % over 2 predicted", 1}, {"1 fitted, none predicted", 1},
                {"envpool (2 references)", 1}, {"Predicted watts", 1},
                {"Predicted ratios", 0},
                {"3 references: 3 points predicted, 2 fitted", 1}, {"90 % interval", 1},
                {"relative to the first", 0}}},
        {"a.csv", odd,
            {{"Predicted ratios", 1}, {"mean error 25 % over 1 predicted", 1},
                {"relative to the first", 1}}},
        {"a.csv", VALIDATION_HEAD "a,gpu_w,1,,,,,predicted\n", {{"no data", 1}}},
        {"a.json",
            "{\"schema\":{\"name\":\"fulcrum-validate\"},\"sets\":[],\"points\":[]}",
            {{"0 references", 1}}},
    };
    assert_drawings("parity", cases, LENGTH(cases));
}

TEST(test_families_beyond_the_legend_share_its_last_entry)
{
    char text[2000] = "reference,quantity,observed,predicted,kind\n";
    for (int i = 0; i < 11; i++) {
        size_t used = strlen(text);
        (void)snprintf(
            text + used, sizeof text - used, "family%d-x,gpu_w,10,11,predicted\n", i);
    }
    const struct drawing drawing = {"a.csv", text,
        {{"others (4 references)", 1}, {"family6 (1 reference)", 1}, {"family7", 0}}};
    assert_drawings("parity", &drawing, 1);
}

static double component_at(const struct plot_file *file, size_t row)
{
    return plot_file_cell(file, "components", row, "gpu_time_rel").number;
}

/* Four rows of one GPU are a bar. */
TEST(test_gpu_time_follows_the_model)
{
    struct plot_file file;
    struct fulcrum_design a100;
    plot_file_open(&file, "inci2020-fig2-text", NULL);
    file.job.machines = "dgx-1,dgx-a100";
    ASSERT_OK(plot_file_add(&file, "gpu-time", NULL));
    /* The reference's own GPU is there already. */
    CU_ASSERT_EQUAL_FATAL(plot_file_rows(&file, "components"), 12);
    static const double published[] = {0.57, 0.15, 0.12, 0.16};
    for (size_t k = 0; k < 4; k++) {
        assert_close("published", component_at(&file, k), published[k], 1e-12);
    }
    assert_close("half of the SMs", component_at(&file, 4), 2.0 * 0.57, 1e-12);
    CU_ASSERT(isnan(plot_file_cell(&file, "components", 4, "whole_rel").lo));
    fulcrum_design_init(&a100);
    ASSERT_OK(fulcrum_machine_load("dgx-a100", &a100, NULL, NULL));
    const struct fulcrum_design *own = &file.job.source.reference->design;
    struct fulcrum_gpu_scale scale =
        fulcrum_gpu_scale(&own->workload.network, &own->machine.gpu, &a100.machine.gpu);
    assert_close("math", component_at(&file, 8), scale.math, 1e-12);
    assert_close("DRAM", component_at(&file, 10), scale.dram, 1e-12);
    struct fulcrum_cell whole = plot_file_cell(&file, "components", 8, "whole_rel");
    assert_close("interval", whole.hi * whole.lo,
        pow(fulcrum_gpu_scale_sum(&scale), 2.0), 1e-12);
    CU_ASSERT(whole.hi > 1.5 * fulcrum_gpu_scale_sum(&scale));
    plot_file_close(&file);
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
        struct plot_file file;
        plot_file_open(&file, cases[i].reference, NULL);
        file.job.machines = cases[i].machines;
        ASSERT_FAILS(
            plot_file_add(&file, "gpu-time", &err), cases[i].status, cases[i].part);
        plot_file_close(&file);
    }
}

/* --- Stages ------------------------------------------------------------------------
 */

TEST(test_published_stages_are_shares_of_points)
{
    static const struct said said[] = {{"A2C", 1}, {"of 13091 s", 1}, {"67 %", 1},
        {"72 %", 1}, {"upper half", 0}, {"all wait", 0}, {"mine", 1}, {NULL, 0}};
    struct plot_file file;
    plot_file_open(&file, "rlscope-fig5-stage-shares", NULL);
    file.job.title = "mine";
    ASSERT_OK(plot_file_draw(&file, "stages", NULL));
    assert_said(file.canvas, said);
    ASSERT_OK(plot_file_add(&file, "stages", NULL));
    assert_part(plot_file_text(&file, "subtitle"), "RTX 2080 Ti");
    assert_part(plot_file_text(&file, "footnote"), "1.00 to 1.01");
    plot_file_close(&file);
}

TEST(test_stages_need_a_reference_of_stages)
{
    static const struct refusal refusal = {
        NULL, FULCRUM_ERR_UNSUPPORTED, "no share of time by stage"};
    assert_refusals("stages", "inci2020-fig3-text", &refusal, 1);
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
    static const struct said said[] = {{"1 actor", 1}, {"8 actors", 1}, {"46 %", 1},
        {"54 %", 1}, {"no stage: all wait", 1}, {"35 %", 1}, {"21 %", 1}, {"19 %", 1},
        {"25 %", 1}, {"upper half: CPU only", 1}, {"training", 0}, {"mine", 1},
        {NULL, 0}};
    struct plot_file file;
    plot_file_open(&file, "stages.csv", measured_stages);
    CU_ASSERT_EQUAL(file.job.source.content, FULCRUM_PLOT_STAGES);
    file.job.title = "mine";
    ASSERT_OK(plot_file_draw(&file, "stages", NULL));
    assert_said(file.canvas, said);
    plot_file_close(&file);
}

/* Sampled threads leave shares open, and a chart of zeros would lie. */
TEST(test_stages_without_shares_have_no_chart)
{
    static const struct refusal cases[] = {
        {"run,stage,share_frac,cpu_only_frac\nmine,simulation,,\n",
            FULCRUM_ERR_UNSUPPORTED, "run mine: share_frac of simulation is not known"},
        {"run,stage,cpu_only_frac\nmine,simulation,1\n", FULCRUM_ERR_FORMAT,
            "share_frac"},
        {"run,stage,share_frac,cpu_only_frac\nmine,simulation,1,much\n",
            FULCRUM_ERR_FORMAT, "much"}};
    assert_refusals("stages", "stages.csv", cases, LENGTH(cases));
}

/* Two SMs, one disturbed; the curve between them follows (5) and (6). */
TEST(test_sm_time_has_samples_and_the_fitted_curve)
{
    static double sms[] = {8, 132};
    static double time_s[] = {2e-3, 1e-3};
    static double rel[] = {1, 1};
    static double disturbed[] = {1, 0};
    struct plot_file file = {
        .job.source.content = FULCRUM_PLOT_CALIBRATION, .scratch = scratch_new()};
    ASSERT_OK(fulcrum_calibration_new(&file.job.source.calibration, NULL));
    struct fulcrum_calibration *calibration = file.job.source.calibration;
    ASSERT_FAILS(plot_file_add(&file, "sm-time", &err), FULCRUM_ERR_UNSUPPORTED,
        "no series inference_sm");
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
    ASSERT_OK(plot_file_add(&file, "sm-time", NULL));
    CU_ASSERT_STRING_EQUAL(
        plot_file_text(&file, "chart_title"), "G, on a part of its SMs");
    const struct fulcrum_table *rows =
        fulcrum_result_table_of(file.job.made, "samples");
    /* Samples, then 64 points of the curve. */
    CU_ASSERT_EQUAL_FATAL(fulcrum_table_rows(rows), 66);
    CU_ASSERT_STRING_EQUAL(fulcrum_table_at(rows, 65, "line").text, "batch 64");
    CU_ASSERT_STRING_EQUAL(fulcrum_table_at(rows, 0, "state").text, "disturbed");
    CU_ASSERT_STRING_EQUAL(fulcrum_table_at(rows, 1, "state").text, "");
    CU_ASSERT_EQUAL(fulcrum_table_at(rows, 1, "sample_s").number, 1e-3);
    CU_ASSERT(isnan(fulcrum_table_at(rows, 1, "fit_s").number));
    CU_ASSERT(isnan(fulcrum_table_at(rows, 2, "sample_s").number));
    double phi = 0.8 * 132 / 8 + 0.2;
    assert_close("8 SMs", fulcrum_table_at(rows, 2, "fit_s").number,
        4e-4 * (0.5 + 0.5 * phi) + 64e-5 * phi, 1e-9);
    assert_close("all", fulcrum_table_at(rows, 65, "fit_s").number, 4e-4 + 64e-5, 1e-9);
    plot_file_close(&file);
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
    static const struct drawing cases[] = {
        {"m.csv", measured_points,
            {{"Measured against predicted", 1},
                {"2 undisturbed points: mean |error| 7.5 %, largest -10 % (greedy, 4 "
                 "envs per actor, 2 actors)",
                    1},
                {"2 of 6 points disturbed", 1}, {"1 of 6 points not measured", 1},
                {"2 of 6 points failed; first failure: environment 3: it crashed", 1},
                {"greedy, 4 envs per actor, steps/s", 1},
                {"fixed share 0.5, 1 env per actor, steps/s", 1},
                {"disturbed, not among the errors", 1}, {"nothing to compare", 1},
                {"failed", 2},
                /* The disturbed point is 300 % off: the scale of the others does not
                 * show it. */
                {"300", 0}}},
        {"m.csv", ALL_DISTURBED,
            {{"all disturbed", 2}, {"median of the windows", 0},
                {"error of the prediction, %", 1}}},
        {"m.csv", WITHOUT_PREDICTION,
            {{"Measured end to end", 1}, {"nothing was predicted: ", 1}, {"error", 0},
                {"median of the windows", 1}, {"window", 1}}},
    };
    assert_drawings("measured", cases, LENGTH(cases));
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
        const struct drawing drawing = {"m.csv", text, {{"1.8k", cases[i].ticks}}};
        assert_drawings("measured", &drawing, 1);
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
    static const struct drawing cases[] = {
        {"m.json", DOCUMENT(""),
            {{"pole on a CPU: measured end to end", 1}, {"no data", 1}}},
        {"m.json", ONE_POINT("\"predicted_steps_per_s\":null"),
            {{"learner cpu, calibration c; nothing was predicted", 1}}},
        {"m.json", ONE_POINT("\"predicted_steps_per_s\":50,\"note\":\"disturbed\""),
            {{"pole on a CPU: measured against predicted", 1},
                {"learner cpu, calibration c; no point to compare: all disturbed", 1}}},
    };
    assert_drawings("measured", cases, LENGTH(cases));
}

TEST(test_measured_points_with_odd_cells_are_refused)
{
    static const struct refusal cases[] = {
        {MEASURED_HEAD "greedy,many,1,1,1,1,1,1,1,1,0,\n", FULCRUM_ERR_FORMAT,
            "actors = 'many'"},
        {MEASURED_HEAD "greedy,0,1,1,1,1,1,1,1,1,0,\n", FULCRUM_ERR_FORMAT,
            "actors = 0: expected a number from 1"},
        {MEASURED_HEAD "greedy,,1,1,1,1,1,1,1,1,0,\n", FULCRUM_ERR_FORMAT,
            "actors is not given"},
        {MEASURED_HEAD "greedy,1,some,1,1,1,1,1,1,1,0,\n", FULCRUM_ERR_FORMAT,
            "envs_per_actor = 'some'"},
        {MEASURED_HEAD "greedy,1,1,fast,1,1,1,1,1,1,0,\n", FULCRUM_ERR_FORMAT,
            "measured_steps_per_s = 'fast'"},
        {MEASURED_HEAD "greedy,1,1,1,1,1,1,1,1,few,0,\n", FULCRUM_ERR_FORMAT,
            "windows = 'few'"},
        {MEASURED_HEAD "greedy,1,1,1,1,1,1,1,1,1,few,\n", FULCRUM_ERR_FORMAT,
            "disturbed_windows = 'few'"},
        /* The row at fault is named, not the first one. */
        {MEASURED_HEAD "greedy,1,1,1,1,1,1,1,1,1,0,\ngreedy,2,1,nan,1,1,1,1,1,1,0,\n",
            FULCRUM_ERR_FORMAT, "row 2: measured_steps_per_s = 'nan'"},
    };
    assert_refusals("measured", "m.csv", cases, LENGTH(cases));
}

/* As `fulcrum validate` predicts it: every other point of a published curve was fitted.
 */
TEST(test_measured_references_are_predicted_anew)
{
    struct plot_file file;
    plot_file_open(&file, "sf-fig3-10-core-atari", NULL);
    ASSERT_OK(fulcrum_reference_keep_series(
        file.job.source.reference, "DeepMind IMPALA", NULL));
    ASSERT_OK(plot_file_add(&file, "measured", NULL));
    const struct fulcrum_comparison *comparison = &file.job.validation.comparison;
    CU_ASSERT_EQUAL_FATAL(plot_file_rows(&file, "points"), comparison->count);
    CU_ASSERT_STRING_EQUAL(point_at(&file, 0, "series").text, "DeepMind IMPALA");
    CU_ASSERT_STRING_EQUAL(plot_file_text(&file, "label/x"), "environments");
    for (size_t i = 0; i < comparison->count; i++) {
        const struct fulcrum_compared *item = &comparison->items[i];
        assert_close(
            "observed", point_at(&file, i, "measured").number, item->observed, 0.0);
        assert_close(
            "predicted", point_at(&file, i, "predicted").number, item->predicted, 0.0);
        CU_ASSERT_STRING_EQUAL(
            point_at(&file, i, "fit").text, item->is_fitted ? "seen" : "");
        CU_ASSERT_STRING_EQUAL(point_at(&file, i, "state").text, "");
    }
    assert_part(
        plot_file_text(&file, "footnotes"), "2 of 4 points were seen by the fit");
    assert_part(plot_file_text(&file, "chart_subtitle"),
        "2 points that no fit has seen: mean |error|");
    plot_file_close(&file);
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
    struct plot_file file = {.scratch = scratch_new(),
        .job = {.source.content = FULCRUM_PLOT_REFERENCE,
            .validation = {
                .reference = &reference, .reason = "no calibration is named"}}};
    ASSERT_OK(plot_file_add(&file, "measured", NULL));
    static const struct wanted_text texts[] = {
        {0, "series", "greedy, 4 envs per actor"},
        {1, "series", "greedy, 4 envs per actor"}, {0, "state", "disturbed"},
        {1, "state", ""}};
    assert_cell_texts(&file, "points", texts, LENGTH(texts));
    CU_ASSERT_STRING_EQUAL(plot_file_text(&file, "chart_title"), "Mine");
    CU_ASSERT_STRING_EQUAL(
        plot_file_text(&file, "chart_subtitle"), "nothing was predicted");
    assert_part(plot_file_text(&file, "footnotes"), "no calibration is named");
    assert_close("least", point_at(&file, 1, "measured").lo, 200.0, 0.0);
    assert_close("most", point_at(&file, 0, "measured").hi, 950.0, 0.0);
    (void)snprintf(rates[0].quantity, sizeof rates[0].quantity, "gpu_w");
    (void)snprintf(rates[1].quantity, sizeof rates[1].quantity, "gpu_w");
    ASSERT_FAILS(plot_file_add(&file, "measured", &err), FULCRUM_ERR_UNSUPPORTED,
        "reference mine: no point gives steps_per_s");
    plot_file_close(&file);
}

/* Of a document with both, stages are drawn where they are asked for. */
TEST(test_documents_of_points_and_stages_give_what_is_asked_for)
{
    static const struct {
        const char *text;
        enum fulcrum_plot_content expected;
        enum fulcrum_plot_content content;
    } cases[] = {
        {MEASURED_SCHEMA "\"points\":[],\"stages\":[]}", FULCRUM_PLOT_CONTENTS,
            FULCRUM_PLOT_MEASURED},
        {MEASURED_SCHEMA "\"points\":[],\"stages\":[]}", FULCRUM_PLOT_STAGES,
            FULCRUM_PLOT_STAGES},
        {MEASURED_SCHEMA "\"points\":[]}", FULCRUM_PLOT_STAGES, FULCRUM_PLOT_MEASURED},
        {MEASURED_SCHEMA "\"stages\":[]}", FULCRUM_PLOT_MEASURED, FULCRUM_PLOT_STAGES},
        {MEASURED_SCHEMA "\"stages\":[]}", FULCRUM_PLOT_CONTENTS, FULCRUM_PLOT_STAGES},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct scratch scratch = scratch_new();
        struct fulcrum_plot_source source;
        const char *path = scratch_put(&scratch, "m.json", cases[i].text);
        ASSERT_OK(fulcrum_plot_source_open(path, cases[i].expected, &source, NULL));
        CU_ASSERT_EQUAL(source.content, cases[i].content);
        fulcrum_plot_source_close(&source);
        scratch_free(&scratch);
    }
}
