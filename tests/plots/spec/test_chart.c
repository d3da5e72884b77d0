/* test_chart.c - charts of any data on any page: nothing overlaps or leaves the page.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/chart/chart.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/number.h"
#include "plots/spec/charts.h"
#include "tests/support/plot_file.h"
#include "tests/support/suite.h"
#include "tests/support/texts.h"

enum { POINTS_MAX = 1000, MACHINES = 12 };

/* What the values of a case look like. */
enum shape { SHAPE_SATURATING, SHAPE_EQUAL, SHAPE_DECADES, SHAPE_GAPS };

struct data_case {
    const char *name;
    size_t count;
    enum shape shape;
    double crowding; /* 0: machines far apart, 1: all at one ratio */
};

static const struct data_case data_cases[] = {
    {"none", 0, SHAPE_SATURATING, 0.0},
    {"one point", 1, SHAPE_SATURATING, 0.0},
    {"two points", 2, SHAPE_SATURATING, 0.0},
    {"usual", 21, SHAPE_SATURATING, 0.0},
    {"gaps", 33, SHAPE_GAPS, 0.5},
    {"all equal", 12, SHAPE_EQUAL, 0.98},
    {"nine decades", 28, SHAPE_DECADES, 1.0},
    {"a thousand points", POINTS_MAX, SHAPE_SATURATING, 0.9},
};

static const struct fulcrum_extent pages[] = {
    {480.0, 360.0}, {900.0, 675.0}, {315.0, 420.0}, {300.0, 340.0}, {2000.0, 1400.0}};

static const char long_text[] =
    "A title that goes on about the machine, its threads, its multiprocessors, the "
    "workload, the calibration and the weather until no page is wide enough for it, "
    "whatever its width, and then goes on a little longer to make the point clear";

/* Arrays that one case's data borrow. */
struct store {
    size_t count;
    double x[POINTS_MAX];
    double lo[3][POINTS_MAX];
    double mid[3][POINTS_MAX];
    double hi[3][POINTS_MAX];
    unsigned char disturbed[POINTS_MAX];
    double parts[POINTS_MAX]; /* of bars */
    const char *machine_names[MACHINES];
    double machine_ratios[MACHINES];
};

static double shaped(enum shape shape, double share, size_t i)
{
    switch (shape) {
    case SHAPE_EQUAL:
        return 5000.0;
    case SHAPE_DECADES:
        return pow(10.0, 9.0 * share - 3.0);
    case SHAPE_GAPS:
        return i % 5 == 4 ? FULCRUM_UNKNOWN : 800.0 * (1.0 - exp(-4.0 * share));
    case SHAPE_SATURATING:
        break;
    }
    return 17200.0 * (1.0 - exp(-6.0 * share)) + 50.0;
}

static void fill_store(struct store *store, const struct data_case *data_case)
{
    store->count = data_case->count;
    for (size_t i = 0; i < data_case->count; i++) {
        double share =
            data_case->count > 1 ? (double)i / (double)(data_case->count - 1) : 0.5;
        double value = shaped(data_case->shape, share, i);
        store->x[i] = pow(2.0, 10.0 * share - 6.0);
        store->disturbed[i] = i % 7 == 3;
        for (size_t j = 0; j < 3; j++) {
            double watts = j == 0 ? 1.0 : 120.0 + 900.0 * pow(share, 1.0 + (double)j);
            store->mid[j][i] = value / watts;
            store->lo[j][i] = store->mid[j][i] * 0.9;
            store->hi[j][i] = store->mid[j][i] * 1.08;
        }
        double size = store->mid[1][i] / (store->mid[1][i] + 40.0);
        store->parts[i] = isnan(size) ? 0.0 : size;
    }
    static const char *const names[] = {"DGX-1 per GPU", "DGX-1", "DGX A100",
        "DGX H100", "DGX-2", "HGX B200", "Workstation RTX 4090", "Cloud g5.48xlarge",
        "Cloud p4d.24xlarge", "Jetson AGX Orin", "Desktop", "A node with a long name"};
    for (size_t i = 0; i < MACHINES; i++) {
        double spread = pow(2.0, 9.0 * (double)(i * 5 % 12) / 11.0 - 5.5);
        store->machine_names[i] = names[i];
        store->machine_ratios[i] =
            0.3 * pow(spread / 0.3, 1.0 - data_case->crowding) + 1e-4 * (double)i;
    }
}

static const struct fulcrum_chart_text short_text = {
    .title = "How many CPU threads does one V100 want?",
    .subtitle = "R2D2 on Breakout, 6.4 actors per thread, greedy batches; calibrated "
                "on dgx-1 (43 samples); bands from the fit's covariance, 200 draws",
    .footnote = "Times scaled from another machine (extrapolated). Watts assumed from "
                "the machine preset, not measured."};

static struct fulcrum_chart_text text_of(const struct data_case *data_case)
{
    if (data_case->shape == SHAPE_SATURATING && data_case->count != 2) {
        return short_text;
    }
    return (struct fulcrum_chart_text){long_text, long_text, long_text};
}

/* Draws a result with a chart of lines or, if one is given, of bars, and frees it. */
static enum fulcrum_status draw_result(struct fulcrum_canvas *canvas,
    const struct fulcrum_chart *chart, const struct fulcrum_bar_chart *bars,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    const struct fulcrum_line_chart_data line_data = {.chart = chart, .result = result};
    const struct fulcrum_bar_chart_data bar_data = {.chart = bars, .result = result};
    enum fulcrum_status status =
        bars == NULL
            ? fulcrum_chart_draw(chart, canvas, &line_data, err)
            : fulcrum_chart_draw(&fulcrum_chart_breakdown, canvas, &bar_data, err);
    fulcrum_result_free(result);
    return status;
}

static void add_number(struct fulcrum_table *table, const char *key, double value)
{
    fulcrum_table_number(table, key, NULL, value);
}

static void add_text(struct fulcrum_table *table, const char *key, const char *text)
{
    fulcrum_table_text(table, key, NULL, text);
}

static void add_ends(
    struct fulcrum_table *table, const char *key, double value, double lo, double hi)
{
    fulcrum_table_estimate(table, key, NULL, value, lo, hi);
}

static void add_estimate(struct fulcrum_table *table, const char *key,
    const struct store *store, size_t line, size_t k)
{
    add_ends(table, key, store->mid[line][k], store->lo[line][k], store->hi[line][k]);
}

static double only_if(bool condition, double value)
{
    return condition ? value : FULCRUM_UNKNOWN;
}

/* A sweep over all that charts of lines go over. */
static void add_sweep(struct fulcrum_result *result, const struct store *store)
{
    struct fulcrum_table *table = fulcrum_result_table(result, "points", NULL);
    for (size_t i = 0; i < store->count; i++) {
        fulcrum_table_row(table);
        add_number(table, "cpu_gpu_ratio_used", store->x[i]);
        add_number(table, "actor_count", store->x[i]);
        add_estimate(table, "steps_per_s", store, 0, i);
        add_estimate(table, "system_w", store, 0, i);
        add_number(table, "gpu_w", store->mid[1][i]);
        add_number(table, "cpu_thread_busy_frac", store->mid[1][i]);
        add_number(table, "gpu_busy_frac", store->mid[2][i]);
        add_estimate(table, "steps_per_j_gpu", store, 1, i);
        add_estimate(table, "steps_per_j_system", store, 2, i);
    }
}

static void add_agents(struct fulcrum_result *result, const struct store *store)
{
    struct fulcrum_table *table = fulcrum_result_table(result, "points", NULL);
    for (size_t i = 0; i < store->count; i++) {
        fulcrum_table_row(table);
        add_number(table, "run.learner_gpu_count", store->x[i]);
        add_estimate(table, "trajectories_per_s", store, 0, i);
        add_estimate(table, "trajectory_system_j", store, 1, i);
    }
}

static void add_ratio(struct fulcrum_result *result, const struct store *store)
{
    add_sweep(result, store);
    struct fulcrum_table *table = fulcrum_result_table(result, "landmarks", NULL);
    for (size_t i = 0; i < MACHINES; i++) {
        fulcrum_table_row(table);
        add_text(table, "name", store->machine_names[i]);
        add_number(table, "x", store->machine_ratios[i]);
    }
}

/* A point of a part of the pipeline: sample and fit alternate, as rows of both do. */
static void add_calibration(struct fulcrum_result *result, const struct store *store)
{
    static const char *const parts[] = {"actors", "inference", "steps", "training"};
    struct fulcrum_table *table = fulcrum_result_table(result, "samples", NULL);
    for (size_t i = 0; i < 4 * store->count; i++) {
        size_t k = i / 4;
        bool is_odd = k % 2 == 1;
        double share = (double)k / (double)store->count;
        fulcrum_table_row(table);
        add_text(table, "part", parts[i % 4]);
        add_number(table, "x", store->x[k]);
        add_number(table, "fit", only_if(is_odd, store->hi[0][k]));
        add_number(table, "table", only_if(is_odd, store->hi[1][k]));
        add_number(table, "sample", only_if(!is_odd, store->mid[0][k]));
        add_number(table, "steps", share);
        add_number(table, "resets", only_if(is_odd, share));
        add_number(table, "deviation", only_if(!is_odd, -8.0 + store->mid[2][k]));
        add_text(table, "state", store->disturbed[k] ? "disturbed" : "");
    }
}

/* Seconds of a sample and of the point of its curve. */
static void add_sm_sample(struct fulcrum_table *table, const char *work, double x,
    const double seconds[2], bool is_disturbed)
{
    bool trains = strcmp(work, "training") == 0;
    fulcrum_table_row(table);
    add_text(table, "part", trains ? "train_sm" : "inference_sm");
    add_text(table, "line", work);
    add_number(table, "x", x);
    add_number(table, "sample_s", seconds[0]);
    add_number(table, "fit_s", seconds[1]);
    add_text(table, "state", is_disturbed ? "disturbed" : "");
}

static void add_sm_time(struct fulcrum_result *result, const struct store *store)
{
    struct fulcrum_table *table = fulcrum_result_table(result, "samples", NULL);
    for (size_t i = 0; i < store->count; i++) {
        const double first[] = {store->mid[0][i], store->hi[0][i]};
        const double second[] = {store->mid[1][i], FULCRUM_UNKNOWN};
        const double training[] = {
            store->mid[2][i], only_if(i < store->count / 2, store->lo[0][i])};
        add_sm_sample(table, "batch 1", store->x[i], first, store->disturbed[i]);
        add_sm_sample(table, long_text, store->x[i], second, false);
        add_sm_sample(table, "training", store->x[i], training, false);
    }
}

/* Published points of three references, two of them with bars. */
static void add_published(struct fulcrum_result *result, const struct store *store,
    size_t count, double panels)
{
    static const char *const names[] = {
        "published: mine", long_text, "published: other"};
    struct fulcrum_table *table = fulcrum_result_table(result, "published", NULL);
    for (size_t i = 0; i < 3 * count && i < 60; i++) {
        fulcrum_table_row(table);
        add_text(table, "name", names[i % 3]);
        add_number(table, "panel", panels > 1.0 ? (double)(i % 2) : 0.0);
        add_number(table, "x", store->x[i % count]);
        add_ends(table, "value", store->mid[1][i % count],
            only_if(i % 3 > 0, store->lo[1][i % count]),
            only_if(i % 3 > 0, store->hi[1][i % count]));
        fulcrum_table_flag(table, "is_fitted", NULL, i % 4 == 0);
    }
}

static void add_curves_of(
    struct fulcrum_result *result, const struct store *store, double panels)
{
    struct fulcrum_table *table = fulcrum_result_table(result, "points", NULL);
    for (size_t i = 0; i < store->count; i++) {
        fulcrum_table_row(table);
        add_number(table, "actor_count", store->x[i]);
        add_number(table, "run.sm_count", store->x[i]);
        add_number(table, "cpu_gpu_ratio_used", store->hi[2][i]);
        add_estimate(table, "runtime_rel", store, 1, i);
        add_number(table, "speedup", store->mid[2][i]);
        add_number(table, "gpu_w", store->mid[0][i]);
        add_estimate(table, "steps_per_j_gpu", store, 1, i);
    }
    fulcrum_result_number(
        result, "relative_x", NULL, store->count > 0 ? store->x[0] : FULCRUM_UNKNOWN);
    add_published(result, store, store->count, panels);
}

static void add_curves(struct fulcrum_result *result, const struct store *store)
{
    add_curves_of(result, store, 2.0);
}

static void add_sm(struct fulcrum_result *result, const struct store *store)
{
    add_curves_of(result, store, 1.0);
}

/* As many bars as there are points, which are told apart by their names. */
static void name_bar(struct fulcrum_table *table, const char *key, size_t i)
{
    char name[300];
    (void)snprintf(
        name, sizeof name, "%zu: %s", i, i % 5 == 4 ? long_text : "a design");
    fulcrum_table_text(table, key, NULL, name);
}

/* All parts of GPU time of two panels, some with an interval of the whole. */
static void add_components(struct fulcrum_result *result, const struct store *store)
{
    static const char *const names[] = {
        "math", "sm", "dram", "latency", "launch", "host", "rest"};
    struct fulcrum_table *table = fulcrum_result_table(result, "components", NULL);
    for (size_t i = 0; i < 7 * store->count; i++) {
        const double parts[] = {store->parts[i / 7], 0.15, 0.001, 0.02, 0.0, 0.1, 0.02};
        double lo = i / 7 % 2 == 0 ? FULCRUM_UNKNOWN : 0.3;
        fulcrum_table_row(table);
        name_bar(table, "machine", i / 7);
        name_bar(table, "gpu", i / 7);
        add_text(table, "component", names[i % 7]);
        add_number(table, "gpu_time_rel", parts[i % 7]);
        add_number(table, "run_time_rel", parts[i % 7]);
        add_ends(table, "whole_rel", 0.5, lo, 1.2);
    }
}

/* A part of a placement. */
struct placed {
    const char *stages;
    double instances;
    double sm_frac;
    double busy_frac;
};

static void add_placed(struct fulcrum_table *table, size_t i, const struct placed *part)
{
    bool runs = i % 6 != 5;
    double lo = only_if(i % 2 == 0, 0.9);
    fulcrum_table_row(table);
    name_bar(table, "placement", i);
    add_text(table, "layout", i % 3 == 1 ? "4g + 3g" : "");
    add_number(table, "steps_per_s", only_if(runs, 1e3 * (double)(i + 1)));
    add_ends(table, "speedup", only_if(runs, 1.0 + 0.1 * (double)i), lo, lo + 1.1);
    add_text(table, "stages", part->stages);
    add_number(table, "part_instances", part->instances);
    add_number(table, "sm_frac", part->sm_frac);
    add_number(table, "busy_frac", part->busy_frac);
}

/* As many placements as there are points, of every kind and of none. */
static void add_partition(struct fulcrum_result *result, const struct store *store)
{
    static const char *const kinds[] = {"simulation + agent + training", "simulation",
        "agent", "training", "simulation + agent"};
    struct fulcrum_table *table = fulcrum_result_table(result, "parts", NULL);
    for (size_t i = 0; i < store->count; i++) {
        double size = i % 4 == 3 ? 1.0 : 0.05;
        const struct placed first = {kinds[i % 5], 1.0 + (double)(i % 7), size, 1.0};
        const struct placed second = {long_text, 1.0, 0.4, 0.2};
        add_placed(table, i, &first);
        add_placed(table, i, &second);
    }
}

static void add_upgrade(struct fulcrum_result *result, const struct store *store)
{
    struct fulcrum_table *table = fulcrum_result_table(result, "upgrades", NULL);
    for (size_t i = 0; i < store->count && i < 9; i++) {
        fulcrum_table_row(table);
        add_text(table, "upgrade", i == 3 ? long_text : "GPUs");
        add_estimate(table, "speedup", store, 0, i);
        add_estimate(table, "steps_per_j_system_rel", store, 1, i);
    }
}

/* Points of a chart of several lines. */
static size_t few_of(const struct store *store)
{
    return store->count < 256 ? store->count : 256;
}

/* A line with everything, one of long words and gaps, one of a single point. */
static void add_node(struct fulcrum_result *result, const struct store *store)
{
    static const char *const names[] = {"dgx-1", long_text, "one point"};
    struct fulcrum_table *table = fulcrum_result_table(result, "rows", NULL);
    size_t count = few_of(store);
    for (size_t i = 0; count > 0 && i <= 2 * count; i++) {
        size_t line = i / count;
        size_t k = line < 2 ? i % count : 0;
        fulcrum_table_row(table);
        add_text(table, "machine", names[line]);
        add_number(table, "gpu_count", 64.0 * store->x[k]);
        add_estimate(table, "steps_per_s", store, line, k);
        add_number(table, "steps_per_j_gpu", only_if(line != 1, store->mid[1][k]));
        add_number(table, "steps_per_j_system", store->mid[2][k]);
        add_text(table, "bottleneck", i % 3 == 0 ? "cpu" : "gpu");
    }
}

/* Bands, gaps and a guide; a line of long words, one of a single point. */
static void add_scaling(struct fulcrum_result *result, const struct store *store)
{
    static const char *const names[] = {"data-parallel", long_text, "one point"};
    static const char *const groups[] = {"weak", "strong"};
    struct fulcrum_table *table = fulcrum_result_table(result, "rows", NULL);
    struct fulcrum_table *guides = fulcrum_result_table(result, "guides", NULL);
    size_t count = few_of(store);
    for (size_t i = 0; count > 0 && i <= 4 * count; i++) {
        size_t line = i / count / 2;
        size_t k = line < 2 ? i % count : 0;
        fulcrum_table_row(table);
        add_text(table, "parallelism", names[line]);
        add_text(table, "scaling", groups[i / count % 2]);
        add_number(table, "gpu_count", 64.0 * store->x[k]);
        add_estimate(table, "speedup", store, line, k);
        add_number(table, "quality_speedup", only_if(line != 1, store->mid[1][k]));
    }
    for (size_t i = 0; i < 3 && count > 0; i++) {
        fulcrum_table_row(guides);
        add_number(guides, "panel", (double)i);
        add_number(guides, "x", 64.0 * store->x[count / 2]);
        add_text(guides, "text", long_text);
    }
}

/* What was published beside its curves, some of it seen by the fit. */
static void add_efficiency(struct fulcrum_result *result, const struct store *store)
{
    static const char *const names[] = {"a curve", long_text};
    struct fulcrum_table *table = fulcrum_result_table(result, "rows", NULL);
    for (size_t i = 0; i < 2 * store->count; i++) {
        fulcrum_table_row(table);
        add_text(table, "series", names[i % 2]);
        add_number(table, "node_count", store->x[i / 2]);
        add_number(table, "predicted_frac", store->mid[i % 2][i / 2]);
        add_number(
            table, "observed_frac", only_if(i % 7 == 0, store->hi[i % 2][i / 2]));
        add_text(table, "held_out", i % 3 == 0 ? "no" : "yes");
    }
}

/* Three bandwidths, one without intervals, one of a single point. */
static void add_memory(struct fulcrum_result *result, const struct store *store)
{
    struct fulcrum_table *table = fulcrum_result_table(result, "factors", NULL);
    size_t count = store->count;
    for (size_t i = 0; i < 2 * count + (count > 0 ? 1 : 0); i++) {
        size_t line = i / count;
        size_t k = line < 2 ? i % count : 0;
        fulcrum_table_row(table);
        add_number(table, "cache_rel", store->x[k]);
        add_number(table, "bandwidth_rel", 1.0 + 0.6 * (double)line);
        add_ends(table, "speedup", store->mid[line][k],
            only_if(line == 1, store->lo[1][k]), only_if(line == 1, store->hi[1][k]));
        add_number(table, "gpu_time_rel", only_if(line < 2, store->mid[line][k]));
    }
}

static void add_breakdown(struct fulcrum_result *result, const struct store *store)
{
    struct fulcrum_table *table = fulcrum_result_table(result, "points", NULL);
    for (size_t i = 0; i < store->count; i++) {
        double part = 0.9 * store->parts[i];
        fulcrum_table_row(table);
        name_bar(table, "name", i);
        add_text(table, "text", i % 3 == 0 ? long_text : "12 ms");
        add_number(table, "cpu_residence_s", part);
        add_number(table, "host_residence_s", 3.0 * part);
        add_number(table, "gpu_residence_s", 1e-3);
        add_number(table, "delay_s", 0.1 * part);
        add_ends(table, "steps_per_s", 9.0, 8.0, 9.5);
    }
}

/* As many columns as rows, the middle ones cannot run; machines on the diagonal. */
static void add_heat(struct fulcrum_result *result, const struct store *store)
{
    size_t side = (size_t)sqrt((double)store->count);
    struct fulcrum_table *points = fulcrum_result_table(result, "points", NULL);
    struct fulcrum_table *machines = fulcrum_result_table(result, "landmarks", NULL);
    for (size_t i = 0; i < side * side; i++) {
        fulcrum_table_row(points);
        add_number(points, "x", store->x[i % side]);
        add_number(points, "y", store->x[i / side]);
        add_estimate(points, "steps_per_s", store, 0, i);
        add_number(points, "cpu_gpu_ratio_used", store->hi[2][i]);
        add_text(points, "status", store->disturbed[i] ? "no" : "ok");
    }
    for (size_t i = 0; i < MACHINES; i++) {
        fulcrum_table_row(machines);
        add_text(machines, "name", store->machine_names[i]);
        add_number(machines, "x", store->machine_ratios[i]);
        add_number(machines, "y", store->machine_ratios[11 - i]);
    }
}

/* Every third point is beaten; a third metric where points are odd in number. */
static void add_pareto(struct fulcrum_result *result, const struct store *store)
{
    bool has_third = store->count % 2 == 1;
    struct fulcrum_table *table = fulcrum_result_table(result, "points", NULL);
    for (size_t i = 0; i < store->count; i++) {
        bool is_front = i % 3 != 2;
        double y = only_if(is_front, store->mid[0][i]);
        fulcrum_table_row(table);
        add_estimate(table, "along", store, 1, i);
        add_ends(table, "front", y, store->lo[0][i], store->hi[0][i]);
        add_number(table, "holds_after", only_if(!has_third, y));
        add_number(table, "beaten", only_if(!is_front, store->mid[0][i]));
        add_text(table, "state", is_front ? "" : "beaten");
        fulcrum_table_text(table, "colour", NULL,
            has_third && i % 2 == 1 ? "price: 3 to 4" : long_text);
        fulcrum_table_text(table, "note", NULL,
            i % 4 == 0 ? long_text : (i % 8 == 1 ? "16 threads, 2 GPUs" : ""));
    }
    fulcrum_result_text(result, "label/x", NULL, "watts: less is better");
    fulcrum_result_text(result, "label/y", NULL, long_text);
}

/* A bar between two ends; no bar where `is_known` is not. */
static void add_span(
    struct fulcrum_table *table, const char *key, bool is_known, const double ends[2])
{
    add_ends(table, key, FULCRUM_UNKNOWN, only_if(is_known, ends[0]),
        only_if(is_known, ends[1]));
}

/* As many fields as there are points: one-sided, without bars, without shares. */
static void add_field(struct fulcrum_table *table, const char *panel, size_t i)
{
    double effect = 1.0 / (double)(i + 1);
    bool is_one_sided = i % 5 == 4;
    bool has_shares = i % 6 != 5;
    const double low[] = {10.0 - effect, 10.0};
    const double high[] = {10.0, 10.0 + effect};
    const double lower[] = {10.0 - 2.0 * effect, 10.0};
    fulcrum_table_row(table);
    add_text(table, "panel", panel);
    add_text(table, "headline", long_text);
    add_text(table, "axis_unit", panel != long_text ? "" : "s");
    add_number(table, "metric_value", 10.0);
    add_text(table, "field", i % 4 == 1 ? long_text : "workload.step.mean_s");
    add_text(table, "reach", i % 3 == 2 ? "" : "570 \302\265s to 3.9 ms");
    add_span(table, "low", i % 7 != 6 && !is_one_sided, low);
    add_span(table, "high", !is_one_sided, high);
    add_span(table, "low_half", i % 7 != 6 && is_one_sided, low);
    add_span(table, "high_half", is_one_sided, lower);
    add_text(table, "least", i % 7 != 6 ? "9.5 s" : "");
    add_text(table, "most", is_one_sided ? "" : "10.12 s");
    add_number(table, "rank", only_if(i % 9 != 8, -effect));
    add_text(table, "shares", has_shares ? "0.40   0.50" : "not told");
    add_span(table, "total_share", has_shares, (double[]){0.0, 0.5 * effect});
    add_span(table, "first_share", has_shares, (double[]){0.0, 0.4 * effect});
    add_span(table, "total_bar", has_shares,
        (double[]){0.48 * effect, 0.48 * effect + 0.04});
}

static void add_tornado(struct fulcrum_result *result, const struct store *store)
{
    struct fulcrum_table *table = fulcrum_result_table(result, "rows", NULL);
    for (size_t i = 0; i < store->count; i++) {
        add_field(table, "steps_per_s, 1/s", i);
    }
    for (size_t i = 0; store->count % 2 == 1 && i < store->count / 2; i++) {
        add_field(table, long_text, i);
    }
}

/* One stage of a run on the CPU alone, on both and on the GPU alone. */
static void add_stage(
    struct fulcrum_table *table, size_t run, const char *stage, const double shares[3])
{
    fulcrum_table_row(table);
    name_bar(table, "run", run);
    add_text(table, "stage", stage);
    add_text(table, "text", run % 3 == 0 ? long_text : "12 k steps/s");
    add_number(table, "share_frac", shares[0] + shares[1] + shares[2]);
    add_number(table, "cpu_only_frac", only_if(run % 3 != 1, shares[0]));
    add_number(table, "gpu_only_frac", shares[2]);
}

static void add_stages(struct fulcrum_result *result, const struct store *store)
{
    struct fulcrum_table *table = fulcrum_result_table(result, "stages", NULL);
    for (size_t i = 0; i < store->count; i++) {
        double part = 0.9 * store->parts[i];
        add_stage(table, i, "simulation", (double[]){0.3 * part, 0.01, 0.0});
        add_stage(
            table, i, "inference", (double[]){0.1 * part, 0.2 * part, 0.2 * part});
        add_stage(table, i, "training", (double[]){0.004, 0.1 * part, 0.0});
        add_stage(table, i, "handoff", (double[]){0.03, 0.0, 0.0});
        add_stage(table, i, "replay", (double[]){0.0, 0.02, 0.02});
        add_stage(table, i, "wait", (double[]){0.5, 0.0, 0.0});
        add_stage(table, i, "idle", (double[]){i % 4 == 0 ? 0.0 : 0.05, 0.0, 0.0});
    }
}

/* A point of the real pipeline, and how far its prediction is off. */
static void add_measured(struct fulcrum_table *table, const char *series, double actors,
    const double values[3])
{
    fulcrum_table_row(table);
    add_text(table, "series", series);
    add_number(table, "actors", actors);
    add_ends(table, "measured", values[0], 0.9 * values[0], 1.1 * values[0]);
    add_ends(table, "predicted", values[1], 0.9 * values[1], 1.1 * values[1]);
    add_ends(table, "error", values[2], values[2] - 5.0, values[2] + 5.0);
}

/* Predicted far off, and exactly. */
static void add_measured_rows(struct fulcrum_result *result, const struct store *store)
{
    static const char *const names[] = {"greedy, 4 environments per actor", long_text};
    struct fulcrum_table *table = fulcrum_result_table(result, "points", NULL);
    struct fulcrum_table *guides = fulcrum_result_table(result, "guides", NULL);
    for (size_t i = 0; i < 2 * store->count; i++) {
        size_t k = i / 2;
        double rate = store->mid[i % 2][k];
        const double values[] = {rate, store->mid[1][k],
            rate > 0.0 ? 100.0 * (store->mid[1][k] / rate - 1.0) : FULCRUM_UNKNOWN};
        add_measured(table, names[i % 2], 64.0 * store->x[k], values);
        add_text(table, "state", store->disturbed[k] ? "disturbed" : "");
        add_text(table, "fit", k % 5 == 1 ? "seen" : "");
        fulcrum_table_row(guides);
        add_number(guides, "panel", 0.0);
        add_text(guides, "group", names[i % 2]);
        add_number(guides, "x", only_if(k % 11 == 5, 64.0 * store->x[k]));
        add_text(guides, "text", i < 2 ? "mean |error| 15 %" : "");
    }
}

static void add_coverage(struct fulcrum_result *result, const struct store *store)
{
    static const char *const kinds[] = {"one kind (22 points)", "another", long_text};
    struct fulcrum_table *table = fulcrum_result_table(result, "coverage", NULL);
    for (size_t i = 0; i < store->count; i++) {
        fulcrum_table_row(table);
        add_text(table, "line", kinds[i % 3]);
        add_number(table, "nominal_frac", (double)(i + 1) / (double)store->count);
        add_number(table, "observed_frac", only_if(i % 7 != 6, 0.1 * (double)(i % 11)));
    }
}

static void add_parity(struct fulcrum_result *result, const struct store *store)
{
    static const char *const units[] = {"rates", "watts", "ratios"};
    static const char *const families[] = {"one family", "another", long_text};
    struct fulcrum_table *table = fulcrum_result_table(result, "points", NULL);
    for (size_t i = 0; i < store->count; i++) {
        double value = store->mid[1][i];
        double measured = value * (0.8 + 0.05 * (double)(i % 9));
        double half = i % 4 == 0 ? 0.0 : 0.1 * value;
        fulcrum_table_row(table);
        add_text(table, "units", units[i % 3]);
        add_text(table, "family", families[i % 5 % 3]);
        add_ends(table, "measured", measured, measured - half, measured + half);
        add_estimate(table, "prediction", store, 1, i);
        add_number(table, "error",
            measured > 0.0 ? (value / measured - 1.0) * 100.0 : FULCRUM_UNKNOWN);
        add_text(table, "state", i % 2 == 1 ? "fitted" : "");
    }
}

static void add_posterior(struct fulcrum_result *result, const struct store *store)
{
    struct fulcrum_table *table = fulcrum_result_table(result, "parameters", NULL);
    for (size_t i = 0; i < store->count; i++) {
        double share = store->parts[i];
        const double posterior[] = {share - 1.0, share + 1.5};
        fulcrum_table_row(table);
        add_text(table, "shown_name", i % 3 == 0 ? long_text : "a parameter");
        add_text(table, "shown_text", i % 4 == 0 ? long_text : "1 to 2");
        add_text(table, "headline", "1 of 2 told apart");
        add_number(table, "rank", (double)i);
        add_span(table, "prior_z", true, (double[]){-1.645, 1.645});
        add_span(table, "posterior_z", i % 2 == 0, posterior);
        add_span(table, "open_z", i % 6 != 5 && i % 2 == 1, posterior);
        add_number(table, "fitted_z", share);
    }
    table = fulcrum_result_table(result, "figures", NULL);
    for (size_t i = 0; i < store->count / 3; i++) {
        fulcrum_table_row(table);
        add_text(table, "shown_name", "a figure");
        add_text(table, "shown_text", long_text);
        add_span(table, "prior_rel", true, (double[]){0.5, 1.0 + store->parts[i]});
        add_span(table, "others_rel", i % 3 != 0, (double[]){0.8, 1.1});
        add_span(table, "posterior_rel", true, (double[]){0.97, 1.02});
        add_span(table, "observed_rel", true, (double[]){0.99, 1.01});
        add_number(table, "fitted_rel", 1.0);
    }
}

static const struct chart_case {
    const char *name;
    const struct fulcrum_chart *chart;
    const struct fulcrum_bar_chart *bars; /* NULL: it has lines, or cells */
    void (*add)(struct fulcrum_result *result, const struct store *store);
} chart_cases[] = {
    {"ratio", &fulcrum_chart_ratio, NULL, add_ratio},
    {"actors", &fulcrum_chart_actors, NULL, add_sweep},
    {"busy", &fulcrum_chart_busy, NULL, add_sweep},
    {"agents", &fulcrum_chart_agents, NULL, add_agents},
    {"calibration", &fulcrum_chart_calibration, NULL, add_calibration},
    {"runtime", &fulcrum_chart_runtime, NULL, add_curves},
    {"power", &fulcrum_chart_power, NULL, add_curves},
    {"sm", &fulcrum_chart_sm, NULL, add_sm},
    {"gpu-time", &fulcrum_chart_gpu_time, &fulcrum_bars_published, add_components},
    {"gpu-time and runs", &fulcrum_chart_gpu_time, &fulcrum_bars_components,
        add_components},
    {"memory", &fulcrum_chart_memory, NULL, add_memory},
    {"scaling", &fulcrum_chart_scaling, NULL, add_scaling},
    {"efficiency", &fulcrum_chart_efficiency, NULL, add_efficiency},
    {"node", &fulcrum_chart_node, NULL, add_node},
    {"partition", &fulcrum_chart_partition, &fulcrum_bars_partition, add_partition},
    {"upgrade", &fulcrum_chart_upgrade, &fulcrum_bars_upgrade, add_upgrade},
    {"parity", &fulcrum_chart_parity, NULL, add_parity},
    {"coverage", &fulcrum_chart_coverage, NULL, add_coverage},
    {"posterior", &fulcrum_chart_posterior, &fulcrum_bars_posterior, add_posterior},
    {"sm-time", &fulcrum_chart_sm_time, NULL, add_sm_time},
    {"stages", &fulcrum_chart_stages, &fulcrum_bars_stages, add_stages},
    {"measured", &fulcrum_chart_measured, NULL, add_measured_rows},
    {"heat", &fulcrum_chart_heat, NULL, add_heat},
    {"pareto", &fulcrum_chart_pareto, NULL, add_pareto},
    {"tornado", &fulcrum_chart_tornado, &fulcrum_bars_tornado, add_tornado},
    {"breakdown", &fulcrum_chart_breakdown, &fulcrum_bars_cycle, add_breakdown},
};

/* Some words are long where there is an even number of points. */
static enum fulcrum_status draw_case(struct fulcrum_canvas *canvas,
    const struct chart_case *row, const struct store *store,
    const struct data_case *data_case)
{
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-explore");
    const struct fulcrum_chart_text text = text_of(data_case);
    bool is_even = data_case->count % 2 == 0;
    row->add(result, store);
    const struct fulcrum_line_chart_data line_data = {text, row->chart, result};
    const struct fulcrum_heat_chart_data heat_data = {.text = text,
        .result = result,
        .x = "x",
        .y = "y",
        .metric = "steps_per_s",
        .x_label = "hardware threads",
        .y_label = long_text,
        .value_name = is_even ? long_text : "throughput, steps/s"};
    struct fulcrum_bar_chart bars = fulcrum_bars_cycle;
    bars.panels[0].title = is_even ? long_text : "a cycle";
    bars.panels[0].text = "text";
    bars.parts[3].name = long_text;
    bars.scale =
        data_case->shape == SHAPE_GAPS ? FULCRUM_ROW_SHARE : FULCRUM_ROW_AMOUNT;
    const struct fulcrum_bar_chart_data bar_data = {.text = text,
        .chart = row->bars == &fulcrum_bars_cycle ? &bars : row->bars,
        .result = result};
    const void *data =
        row->chart->lines != NULL ? (const void *)&line_data : &heat_data;
    enum fulcrum_status status = fulcrum_chart_draw(
        row->chart, canvas, row->bars != NULL ? &bar_data : data, NULL);
    fulcrum_result_free(result);
    return status;
}

/* Rounding aside: texts may touch, not meet. */
static struct fulcrum_rect shrunk(struct fulcrum_rect rect)
{
    const double slack_pt = 0.05;
    return (struct fulcrum_rect){
        rect.x0 + slack_pt, rect.y0 + slack_pt, rect.x1 - slack_pt, rect.y1 - slack_pt};
}

static int leaves(struct fulcrum_rect rect, struct fulcrum_extent page)
{
    return rect.x0 < 0.0 || rect.y0 < 0.0 || rect.x1 > page.width_pt ||
           rect.y1 > page.height_pt;
}

/* May these two kinds never share a place? */
static int exclude_each_other(const struct fulcrum_box *a, const struct fulcrum_box *b)
{
    if (a->kind == FULCRUM_BOX_TEXT) {
        return b->kind == FULCRUM_BOX_TEXT || b->kind == FULCRUM_BOX_DATA;
    }
    if (a->kind == FULCRUM_BOX_LEGEND) {
        return b->kind == FULCRUM_BOX_DATA || b->kind == FULCRUM_BOX_PANEL;
    }
    return a->kind == FULCRUM_BOX_PANEL && b->kind == FULCRUM_BOX_PANEL;
}

static size_t count_conflicts(const struct fulcrum_box *boxes, size_t count, size_t i)
{
    size_t conflicts = 0;
    for (size_t j = 0; j < count; j++) {
        if (j != i && exclude_each_other(&boxes[i], &boxes[j]) &&
            fulcrum_rect_overlap(shrunk(boxes[i].rect), shrunk(boxes[j].rect))) {
            (void)fprintf(stderr, "\n  '%s' meets '%s' (kind %d)",
                boxes[i].text != NULL ? boxes[i].text : "-",
                boxes[j].text != NULL ? boxes[j].text : "-", (int)boxes[j].kind);
            conflicts++;
        }
    }
    return conflicts;
}

static size_t count_faults(const struct fulcrum_canvas *canvas)
{
    size_t count = 0;
    const struct fulcrum_box *boxes = fulcrum_canvas_boxes(canvas, &count);
    struct fulcrum_extent page = fulcrum_canvas_extent(canvas);
    size_t faults = 0;
    for (size_t i = 0; i < count; i++) {
        if (boxes[i].kind == FULCRUM_BOX_DATA) {
            faults += leaves(boxes[i].rect, page) ? 1U : 0U;
            continue;
        }
        faults += leaves(boxes[i].rect, page) ? 1U : 0U;
        faults += count_conflicts(boxes, count, i);
    }
    return faults;
}

/* Room for one case's data; the caller frees it. */
static struct store *new_store(const struct data_case *data_case)
{
    struct store *store = calloc(1, sizeof *store);
    if (store == NULL) {
        abort(); /* nothing can be tested, and there is nothing to clean up */
    }
    fill_store(store, data_case);
    return store;
}

/* A page on which the result, which it frees, could be drawn. */
static struct fulcrum_canvas *drawn(struct fulcrum_extent page,
    const struct fulcrum_chart *chart, const struct fulcrum_bar_chart *bars,
    struct fulcrum_result *result)
{
    struct fulcrum_canvas *canvas = new_canvas(page);
    ASSERT_OK(draw_result(canvas, chart, bars, result, NULL));
    return canvas;
}

static void check_one(const struct chart_case *chart, const struct data_case *data_case,
    struct fulcrum_extent page)
{
    struct store *store = new_store(data_case);
    struct fulcrum_canvas *canvas = new_canvas(page);
    ASSERT_OK(draw_case(canvas, chart, store, data_case));
    size_t faults = count_faults(canvas);
    CU_ASSERT_EQUAL(faults, 0);
    if (faults > 0) {
        (void)fprintf(stderr, "\n  %s, %s, %g x %g: %zu faults\n", chart->name,
            data_case->name, page.width_pt, page.height_pt, faults);
    }
    fulcrum_canvas_free(canvas);
    free(store);
}

TEST(test_nothing_overlaps_or_leaves_the_page)
{
    const size_t page_count = LENGTH(pages);
    const size_t data_count = LENGTH(data_cases);
    const size_t chart_count = LENGTH(chart_cases);
    for (size_t i = 0; i < chart_count * data_count * page_count; i++) {
        check_one(&chart_cases[i / page_count / data_count],
            &data_cases[i / page_count % data_count], pages[i % page_count]);
    }
    /* All charts that there are, and those that stand in for one of them. */
    for (const struct fulcrum_chart *const *chart = fulcrum_charts(); *chart != NULL;
         chart++) {
        size_t k = 0;
        while (k < chart_count && strcmp(chart_cases[k].name, (*chart)->name) != 0) {
            k++;
        }
        CU_ASSERT(k < chart_count);
    }
}

static size_t count_kind(
    const struct fulcrum_canvas *canvas, enum fulcrum_box_kind kind)
{
    size_t count = 0;
    size_t found = 0;
    const struct fulcrum_box *boxes = fulcrum_canvas_boxes(canvas, &count);
    for (size_t i = 0; i < count; i++) {
        found += boxes[i].kind == kind ? 1U : 0U;
    }
    return found;
}

/* Asserts what a page says and how many panels it has, and frees it. */
static void assert_page(
    struct fulcrum_canvas *canvas, size_t panel_count, const struct said *said)
{
    assert_said(canvas, said);
    CU_ASSERT_EQUAL(count_kind(canvas, FULCRUM_BOX_PANEL), panel_count);
    fulcrum_canvas_free(canvas);
}

static void expect_no_data(const struct fulcrum_chart *chart, const void *data)
{
    struct fulcrum_canvas *canvas = new_canvas(pages[0]);
    ASSERT_OK(fulcrum_chart_draw(chart, canvas, data, NULL));
    CU_ASSERT_EQUAL(count_texts(canvas, "no data"), 1);
    CU_ASSERT_EQUAL(count_kind(canvas, FULCRUM_BOX_LEGEND), 0);
    fulcrum_canvas_free(canvas);
}

/* Any chart's data, all zeros, have nothing to draw, as no data at all. */
TEST(test_every_chart_says_so_where_there_is_no_data)
{
    void *zeros = calloc(1, 4096);
    CU_ASSERT_PTR_NOT_NULL_FATAL(zeros);
    for (const struct fulcrum_chart *const *chart = fulcrum_charts(); *chart != NULL;
         chart++) {
        expect_no_data(*chart, NULL);
        const struct fulcrum_line_chart_data lines = {.chart = *chart};
        expect_no_data(*chart, (*chart)->lines != NULL ? &lines : zeros);
        CU_ASSERT(strlen((*chart)->summary) > 10);
    }
    free(zeros);
}

TEST(test_pages_too_small_are_refused)
{
    const struct fulcrum_extent small = {299.0, 400.0};
    for (const struct fulcrum_chart *const *chart = fulcrum_charts(); *chart != NULL;
         chart++) {
        struct fulcrum_canvas *canvas = new_canvas(small);
        ASSERT_FAILS(
            fulcrum_chart_draw(*chart, canvas, NULL, &err), FULCRUM_ERR_RANGE, "299");
        fulcrum_canvas_free(canvas);
    }
}

static void check_machines_are_named(const struct data_case *data_case)
{
    struct store *store = new_store(data_case);
    struct fulcrum_canvas *canvas = new_canvas(pages[2]);
    ASSERT_OK(draw_case(canvas, &chart_cases[0], store, data_case));
    for (size_t i = 0; i < MACHINES; i++) {
        CU_ASSERT(count_texts(canvas, store->machine_names[i]) >= 1);
    }
    fulcrum_canvas_free(canvas);
    free(store);
}

TEST(test_every_machine_is_named_somewhere)
{
    for (size_t i = 1; i < LENGTH(data_cases); i++) {
        struct data_case data_case = data_cases[i];
        data_case.shape = SHAPE_SATURATING;
        check_machines_are_named(&data_case);
    }
}

/* Up to four rows of x and columns over it; fewer end with NAN in x. */
static struct fulcrum_result *points_of(const char *x_key, const double *x,
    const char *const *keys, const double (*values)[4])
{
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-explore");
    struct fulcrum_table *table = fulcrum_result_table(result, "points", NULL);
    for (size_t i = 0; i < 4 && !isnan(x[i]); i++) {
        fulcrum_table_row(table);
        add_number(table, x_key, x[i]);
        for (size_t k = 0; keys[k] != NULL; k++) {
            add_number(table, keys[k], values[k][i]);
        }
    }
    return result;
}

TEST(test_ratio_names_the_optimum_of_each_metric)
{
    static const double x[] = {0.1, 0.2, 0.4, 0.8};
    static const char *const keys[] = {
        "steps_per_s", "steps_per_j_gpu", "steps_per_j_system", NULL};
    static const double values[][4] = {
        {100, 200, 399, 400}, {NAN, NAN, NAN, NAN}, {1, 3, 2, 1}};
    struct fulcrum_canvas *canvas = drawn(pages[0], &fulcrum_chart_ratio, NULL,
        points_of("cpu_gpu_ratio_used", x, keys, values));
    /* A metric that nobody knows takes no room, and no interval is explained. */
    assert_page(canvas, 2,
        (struct said[]){{"within 1 % of the best (400) at 0.4", 1},
            {"best 3 at 0.2", 1}, {"interval", 0}, {NULL, 0}});
}

/* A machine that learns on cores has another ratio. */
TEST(test_lines_go_over_the_column_that_varies)
{
    static const double x[] = {0.1, 0.2, 0.4, 0.8};
    static const char *const keys[] = {"steps_per_s", NULL};
    static const double values[][4] = {{1, 2, 3, 4}};
    struct fulcrum_canvas *canvas = drawn(pages[0], &fulcrum_chart_ratio, NULL,
        points_of("actor_threads_per_learner_core", x, keys, values));
    assert_page(
        canvas, 1, (struct said[]){{"actor threads / learner cores", 1}, {NULL, 0}});
}

TEST(test_actors_prefers_runtime_in_a_readable_unit)
{
    static const double actors[] = {1, 2, 4, 8};
    static const char *const keys[] = {"runtime_s", "steps_per_s", NULL};
    static const double values[][4] = {{28800, 14400, 10800, 18000}, {1, 2, 3, 2}};
    struct fulcrum_canvas *canvas = drawn(pages[0], &fulcrum_chart_actors, NULL,
        points_of("actor_count", actors, keys, values));
    assert_page(canvas, 1,
        (struct said[]){{"Runtime, minutes", 1}, {"best 180 at 4 actors", 1},
            {"Throughput", 0}, {NULL, 0}});
}

/* Rows "machine, GPUs, learners, steps per second, bottleneck". */
struct node_row {
    const char *machine;
    double gpus;
    double learners;
    double rate;
    const char *bottleneck;
};

static enum fulcrum_status draw_node_rows(struct fulcrum_canvas *canvas,
    const struct node_row *rows, size_t count, struct fulcrum_error *err)
{
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-node");
    fulcrum_result_text(result, "workload", NULL, "w");
    struct fulcrum_table *table = fulcrum_result_table(result, "rows", NULL);
    for (size_t i = 0; i < count; i++) {
        fulcrum_table_row(table);
        add_text(table, "machine", rows[i].machine);
        add_number(table, "gpu_count", rows[i].gpus);
        add_number(table, "learner_gpu_count", rows[i].learners);
        add_ends(
            table, "steps_per_s", rows[i].rate, 0.5 * rows[i].rate, 2.0 * rows[i].rate);
        add_text(table, "bottleneck", rows[i].bottleneck);
    }
    return draw_result(canvas, &fulcrum_chart_node, NULL, result, err);
}

/* A line through many points shows none of them but those that are hollow. */
TEST(test_long_lines_show_hollow_points)
{
    struct node_row rows[60];
    size_t boxes[2];
    for (size_t is_hollow = 0; is_hollow < 2; is_hollow++) {
        for (size_t i = 0; i < LENGTH(rows); i++) {
            rows[i] = (struct node_row){"a", (double)i + 1.0, 0, 10.0 + (double)i,
                i == 30 && is_hollow ? "cpu" : "gpu"};
        }
        struct fulcrum_canvas *canvas = new_canvas(pages[1]);
        ASSERT_OK(draw_node_rows(canvas, rows, LENGTH(rows), NULL));
        boxes[is_hollow] = count_kind(canvas, FULCRUM_BOX_DATA);
        fulcrum_canvas_free(canvas);
    }
    CU_ASSERT_EQUAL(boxes[1], boxes[0] + 1);
}

TEST(test_a_line_is_what_differs_but_x)
{
    static const struct node_row rows[] = {{"b", 2, 0, 20, "gpu"},
        {"b", 1, 0, 10, "gpu"}, {"b", 2, 1, 9, "cpu"}, {"b", 3, 1, NAN, ""},
        {"a", 1, 0, 12, "gpu"}};
    struct fulcrum_canvas *canvas = new_canvas(pages[1]);
    ASSERT_OK(draw_node_rows(canvas, rows, 5, NULL));
    /* Bands of several lines would cover each other; panels without a value are left
     * out. */
    assert_page(canvas, 1,
        (struct said[]){{"b, 0 learners", 1}, {"b, 1 learners", 1},
            {"a, 0 learners", 1}, {"hollow: too few CPU threads", 1}, {"workload w", 1},
            {"90 % interval", 0}, {NULL, 0}});
    /* Of the same GPUs lines go over learners, with interval and best. */
    static const struct node_row learners[] = {
        {"a", 8, 0, 3, "gpu"}, {"a", 8, 1, 5, "gpu"}, {"a", 8, 2, 4, "gpu"}};
    canvas = new_canvas(pages[1]);
    ASSERT_OK(draw_node_rows(canvas, learners, 3, NULL));
    assert_page(canvas, 1,
        (struct said[]){{"GPUs that train and do nothing else", 1},
            {"best 5 at 1 GPUs", 1}, {"90 % interval", 1}, {NULL, 0}});
}

TEST(test_what_lines_cannot_show_is_refused)
{
    static const struct node_row twice[] = {{"a", 1, 0, 3, ""}, {"a", 1, 0, 5, ""}};
    struct node_row many[12];
    char names[12][2] = {"a"};
    struct fulcrum_canvas *canvas = new_canvas(pages[1]);
    ASSERT_FAILS(draw_node_rows(canvas, twice, 2, &err), FULCRUM_ERR_FORMAT,
        "two points at gpu_count = 1");
    for (size_t i = 0; i < 2; i++) {
        const struct node_row none = {"a", i == 0 ? 0.0 : FULCRUM_UNKNOWN, 0, 3, ""};
        ASSERT_FAILS(draw_node_rows(canvas, &none, 1, &err), FULCRUM_ERR_FORMAT,
            i == 0 ? "row 1: gpu_count = 0: expected a number from 1"
                   : "row 1: gpu_count is not given: expected a number from 1");
    }
    for (size_t i = 0; i < 12; i++) {
        names[i][0] = (char)('a' + (int)i);
        many[i] = (struct node_row){names[i], 1.0, 0.0, 1.0, ""};
    }
    ASSERT_FAILS(draw_node_rows(canvas, many, 12, &err), FULCRUM_ERR_RANGE, "lines");
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    struct fulcrum_table *table = fulcrum_result_table(result, "rows", NULL);
    fulcrum_table_row(table);
    add_text(table, "gpu_count", "one");
    ASSERT_FAILS(draw_result(canvas, &fulcrum_chart_node, NULL, result, &err),
        FULCRUM_ERR_FORMAT, "gpu_count = 'one'");
    result = fulcrum_result_new(NULL);
    table = fulcrum_result_table(result, "rows", NULL);
    fulcrum_table_row(table);
    add_number(table, "x", 1.0);
    ASSERT_FAILS(draw_result(canvas, &fulcrum_chart_actors, NULL, result, &err),
        FULCRUM_ERR_FORMAT, "no column 'actor_count'");
    fulcrum_canvas_free(canvas);
}

TEST(test_calibration_says_what_was_not_measured)
{
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    struct fulcrum_table *table = fulcrum_result_table(result, "samples", NULL);
    for (size_t i = 0; i < 3; i++) {
        double threads = (double)(1U << i);
        double deviation = i == 0 ? 0.0 : -5.0;
        fulcrum_table_row(table);
        add_text(table, "part", "actors");
        add_number(table, "x", threads);
        add_number(table, "fit", 100.0 * threads);
        add_number(table, "sample", (100.0 + deviation) * threads);
        add_number(table, "deviation", deviation);
    }
    struct fulcrum_canvas *canvas =
        drawn(pages[1], &fulcrum_chart_calibration, NULL, result);
    /* Deviations are 0, -5 and -5 %: the strip's axis has to reach them. */
    CU_ASSERT(count_texts(canvas, "-4") + count_texts(canvas, "-5") >= 1);
    assert_page(canvas, 5,
        (struct said[]){{"not measured", 3}, {"deviation from the fit", 1}, {NULL, 0}});
}

TEST(test_sm_time_has_a_panel_for_what_was_measured)
{
    static const double sms[] = {8, 40, 132};
    for (size_t trains = 0; trains < 2; trains++) {
        struct fulcrum_result *result = fulcrum_result_new(NULL);
        struct fulcrum_table *table = fulcrum_result_table(result, "samples", NULL);
        for (size_t i = 0; i < 3; i++) {
            const double fitted[] = {8e-2 / sms[i], 8e-2 / sms[i]};
            const double plain[] = {9e-2 / sms[i], FULCRUM_UNKNOWN};
            const double training[] = {trains ? 1.0 : FULCRUM_UNKNOWN, FULCRUM_UNKNOWN};
            add_sm_sample(table, "batch 1", sms[i], fitted, i == 1);
            /* Samples may repeat. */
            add_sm_sample(table, "batch 1", sms[i], plain, false);
            add_sm_sample(table, "batch 64", sms[i], plain, false);
            add_sm_sample(table, "training", sms[i], training, false);
        }
        struct fulcrum_canvas *canvas =
            drawn(pages[1], &fulcrum_chart_sm_time, NULL, result);
        CU_ASSERT(count_texts(canvas, " ms") > 0);
        assert_page(canvas, 1 + trains,
            (struct said[]){{"Inference: time of a batch", 1},
                {"Training: time of a step", trains}, {"batch 64", 1},
                {"training", trains}, {"disturbed sample", 1}, {NULL, 0}});
    }
}

static const char *const slowdown_keys[] = {"runtime_rel", "cpu_gpu_ratio_used", NULL};

TEST(test_curves_name_their_point_and_published_values)
{
    static const double sms[] = {2, 20, 40, 80};
    static const double values[][4] = {{15, 1.8, 1.06, 1}, {20, 2, 1, 0.5}};
    struct fulcrum_result *result =
        points_of("run.sm_count", sms, slowdown_keys, values);
    struct fulcrum_table *table = fulcrum_result_table(result, "published", NULL);
    fulcrum_result_number(result, "relative_x", NULL, 80.0);
    /* What two references say of a point is said once. */
    for (size_t i = 0; i < 2; i++) {
        fulcrum_table_row(table);
        add_text(table, "name", i == 0 ? "published: mine" : "published: yours");
        add_number(table, "panel", 0.0);
        add_number(table, "x", 40.0);
        add_number(table, "value", 1.07);
        fulcrum_table_flag(table, "is_fitted", NULL, true);
    }
    struct fulcrum_canvas *canvas = drawn(pages[0], &fulcrum_chart_sm, NULL, result);
    assert_page(canvas, 1,
        (struct said[]){{"Runtime relative to 80 SMs", 1}, {"1.07", 1},
            {"CPU/GPU ratio", 1}, {"0.5", 1}, /* a tick of the second scale */
            {"published: mine", 1}, {"the fit has seen it", 1}, {"interval", 0},
            {NULL, 0}});
}

/* A ratio that falls and rises again has no one place along the axis. */
TEST(test_a_second_scale_needs_ratios_in_order)
{
    static const double sms[] = {2, 20, 80, NAN};
    static const double cases[][2][4] = {{{15, 1.8, 1}, {20, 2, 4}},
        {{15, 1.8, 1}, {20, NAN, 0.5}}, {{15, 1.8, 1}, {2, 2, 2}}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_canvas *canvas = drawn(pages[0], &fulcrum_chart_sm, NULL,
            points_of("run.sm_count", sms, slowdown_keys, cases[i]));
        assert_page(canvas, 1, (struct said[]){{"CPU/GPU ratio", 0}, {NULL, 0}});
    }
}

TEST(test_rows_without_a_place_are_counted)
{
    enum { ROWS = 200 };
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    struct fulcrum_table *table = fulcrum_result_table(result, "parameters", NULL);
    for (size_t i = 0; i < ROWS; i++) {
        fulcrum_table_row(table);
        add_text(table, "shown_name", "parameter");
        add_number(table, "rank", 1.0);
        add_span(table, "open_z", true, (double[]){-1.0, 1.0});
    }
    struct fulcrum_canvas *canvas =
        drawn(pages[0], NULL, &fulcrum_bars_posterior, result);
    size_t named = count_texts(canvas, "parameter") - 1; /* the legend */
    char rest[32];
    (void)snprintf(rest, sizeof rest, "and %zu more", ROWS - named);
    CU_ASSERT(named > 5);
    CU_ASSERT_EQUAL(count_texts(canvas, rest), 1);
    fulcrum_canvas_free(canvas);
}

/* Rows rise in rank, those without are but counted; more panels than a page bears. */
TEST(test_panels_of_a_group_have_their_rows_in_order)
{
    static const double ranks[] = {-1.0, -3.0, FULCRUM_UNKNOWN, -2.0};
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    struct fulcrum_table *table = fulcrum_result_table(result, "rows", NULL);
    for (size_t i = 0; i < 4; i++) {
        char name[] = {(char)('a' + (int)i), '\0'};
        add_field(table, "one metric", i);
        fulcrum_table_return(table, i);
        add_text(table, "field", name);
        add_number(table, "rank", ranks[i]);
    }
    add_field(table, "another metric", 0);
    struct fulcrum_canvas *canvas =
        drawn(pages[1], NULL, &fulcrum_bars_tornado, result);
    double y[3] = {0.0, 0.0, 0.0}; /* of b, d and a */
    size_t count = 0;
    const struct fulcrum_box *boxes = fulcrum_canvas_boxes(canvas, &count);
    for (size_t i = 0; i < count; i++) {
        const char *text = boxes[i].text != NULL ? boxes[i].text : "";
        const char *at =
            text[0] != '\0' && text[1] == '\0' ? strchr("bda", text[0]) : NULL;
        if (at != NULL) {
            y[at - strchr("bda", 'b')] = boxes[i].rect.y0;
        }
    }
    CU_ASSERT(0.0 < y[0] && y[0] < y[1] && y[1] < y[2]);
    assert_page(canvas, 4,
        (struct said[]){
            {"and 1 more", 1}, {"first  total", 2}, {"9.5 s", 4}, {NULL, 0}});
    result = fulcrum_result_new(NULL);
    table = fulcrum_result_table(result, "rows", NULL);
    canvas = new_canvas(pages[3]);
    for (size_t i = 0; i < 6; i++) {
        char name[] = {(char)('a' + (int)i), '\0'};
        add_field(table, name, 0);
    }
    ASSERT_FAILS(draw_result(canvas, NULL, &fulcrum_bars_tornado, result, &err),
        FULCRUM_ERR_RANGE, "6 panels on a page of 300 x 340");
    fulcrum_canvas_free(canvas);
}

/* A bar of GPU time: its parts, with the interval of the whole. */
static void add_gpu(struct fulcrum_table *table, const char *name,
    const double parts[4], double lo, double hi)
{
    static const char *const names[] = {"math", "sm", "dram", "rest"};
    double whole = parts[0] + parts[1] + parts[2] + parts[3];
    for (size_t k = 0; k < 4; k++) {
        fulcrum_table_row(table);
        add_text(table, "machine", name);
        add_text(table, "gpu", name);
        add_text(table, "component", names[k]);
        add_number(table, "gpu_time_rel", parts[k]);
        add_number(table, "run_time_rel", 0.5 * parts[k]);
        add_ends(table, "whole_rel", whole, lo, hi);
    }
}

TEST(test_gpu_time_labels_every_share)
{
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    struct fulcrum_table *table = fulcrum_result_table(result, "components", NULL);
    add_gpu(table, "V100", (double[]){0.57, 0.15, 0.12, 0.16}, NAN, NAN);
    add_gpu(table, "H100", (double[]){0.13, 0.15, 0.01, 0.16}, 0.3, 0.7);
    struct fulcrum_canvas *canvas =
        drawn(pages[1], NULL, &fulcrum_bars_published, result);
    static const char *const shares[] = {"57 %", "15 %", "12 %", "16 %", "29 %", "33 %",
        "2 %", "36 %", "0.45 (0.30 to 0.70)", "interval"};
    for (size_t i = 0; i < LENGTH(shares); i++) {
        CU_ASSERT(count_texts(canvas, shares[i]) >= 1);
    }
    fulcrum_canvas_free(canvas);
    static const double odd[] = {-0.1, INFINITY};
    for (size_t i = 0; i < LENGTH(odd); i++) {
        result = fulcrum_result_new(NULL);
        table = fulcrum_result_table(result, "components", NULL);
        add_gpu(table, "odd", (double[]){0.5, odd[i], 0.0, 0.0}, NAN, NAN);
        canvas = new_canvas(pages[0]);
        ASSERT_FAILS(draw_result(canvas, NULL, &fulcrum_bars_published, result, &err),
            FULCRUM_ERR_RANGE, "row 2: gpu_time_rel is");
        fulcrum_canvas_free(canvas);
    }
}

/* Both panels, and shares that would read 0 % without a label. */
TEST(test_gpu_time_has_runs_below)
{
    static const struct said said[] = {{"57 %", 2}, {"28 %", 2}, {"15 %", 2},
        {"machine A", 1}, {"Time of a run", 1}, {"0.50", 1}, {"1.00", 1},
        {"GPU time for the same work", 1}, {"0 %", 0}, {"GPU A", 1}, {NULL, 0}};
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    struct fulcrum_table *table = fulcrum_result_table(result, "components", NULL);
    add_gpu(table, "machine A", (double[]){0.57, 0.15, 0.276, 0.004}, NAN, NAN);
    fulcrum_table_return(table, 0);
    add_text(table, "gpu", "GPU A");
    struct fulcrum_canvas *canvas =
        drawn(pages[1], NULL, &fulcrum_bars_components, result);
    assert_page(canvas, 2, said);
}

TEST(test_there_is_room_for_so_many_lines)
{
    enum { LINES = 11 };
    for (size_t count = LINES; count <= LINES + 1; count++) {
        struct fulcrum_result *result = fulcrum_result_new("fulcrum-memory");
        struct fulcrum_table *table = fulcrum_result_table(result, "factors", NULL);
        struct fulcrum_canvas *canvas = new_canvas(pages[1]);
        for (size_t i = 0; i < 2 * count; i++) {
            size_t step = i / count + 1;
            fulcrum_table_row(table);
            add_number(table, "cache_rel", (double)step);
            add_number(table, "bandwidth_rel", (double)(i % count + 1));
            add_number(table, "speedup", (double)i);
        }
        CU_ASSERT_EQUAL(draw_result(canvas, &fulcrum_chart_memory, NULL, result, NULL),
            count == LINES ? FULCRUM_OK : FULCRUM_ERR_RANGE);
        CU_ASSERT_EQUAL(count_texts(canvas, "times the bandwidth"),
            count == LINES ? (size_t)LINES : 0);
        fulcrum_canvas_free(canvas);
    }
}

static void add_share(struct fulcrum_table *table, const char *run, const char *stage,
    const double shares[3])
{
    fulcrum_table_row(table);
    add_text(table, "run", run);
    add_text(table, "stage", stage);
    add_number(table, "share_frac", shares[0]);
    add_number(table, "cpu_only_frac", shares[1]);
    add_number(table, "gpu_only_frac", shares[2]);
    add_text(table, "text", "900 steps/s");
}

TEST(test_stages_show_halves_only_where_they_are_known)
{
    static const char *const words[] = {"40 %", "22 %", "41 %", "training", "25 %",
        "10 %", "31 %", "17 %", "14 %", "all wait", "lower half"};
    for (size_t runs = 1; runs <= 2; runs++) {
        struct fulcrum_result *result = fulcrum_result_new(NULL);
        struct fulcrum_table *table = fulcrum_result_table(result, "stages", NULL);
        fulcrum_result_text(result, "title", NULL, "Shares");
        add_share(table, "published", "simulation", (double[]){0.4, NAN, NAN});
        add_share(table, "published", "inference", (double[]){0.22, NAN, NAN});
        add_share(table, "published", "training", (double[]){0.41, NAN, NAN});
        if (runs == 2) {
            add_share(table, "measured", "simulation", (double[]){0.25, 0.25, 0.0});
            add_share(table, "measured", "inference", (double[]){0.58, 0.1, 0.31});
            add_share(table, "measured", "idle", (double[]){0.14, NAN, NAN});
        }
        struct fulcrum_canvas *canvas =
            drawn(pages[1], NULL, &fulcrum_bars_stages, result);
        for (size_t i = 0; i < LENGTH(words); i++) {
            size_t expected = i < 4 || runs == 2 ? 1 : 0;
            CU_ASSERT_EQUAL(count_texts(canvas, words[i]), expected);
        }
        assert_page(canvas, 1,
            (struct said[]){{"900 steps/s", runs}, {"replay", 0}, {NULL, 0}});
    }
}

TEST(test_stages_that_are_no_shares_are_refused)
{
    static const struct {
        double share;
        enum fulcrum_status status;
        const char *words;
    } cases[] = {{-0.1, FULCRUM_ERR_RANGE, "share_frac is -0.1"},
        {0.9, FULCRUM_ERR_RANGE, "shares of odd add up to 1.2"},
        {NAN, FULCRUM_ERR_UNSUPPORTED, "run odd: share_frac of inference is not known"},
        {INFINITY, FULCRUM_ERR_RANGE, "share_frac is inf"}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_result *result = fulcrum_result_new(NULL);
        struct fulcrum_table *table = fulcrum_result_table(result, "stages", NULL);
        struct fulcrum_canvas *canvas = new_canvas(pages[0]);
        add_share(table, "odd", "simulation", (double[]){0.3, NAN, NAN});
        add_share(table, "odd", "inference", (double[]){cases[i].share, NAN, NAN});
        ASSERT_FAILS(draw_result(canvas, NULL, &fulcrum_bars_stages, result, &err),
            cases[i].status, cases[i].words);
        fulcrum_canvas_free(canvas);
    }
}

/* As many cells as a page has room for, in columns and rows; no more. */
TEST(test_measured_panels_fit_or_are_refused)
{
    static const struct {
        size_t cells;
        size_t page;
        const char *fault; /* NULL: none */
    } cases[] = {{1, 1, NULL}, {2, 1, NULL}, {5, 1, NULL}, {12, 1, NULL},
        {13, 1,
            "13 pairs of batching rule and environments per actor: a chart holds "
            "at most 12"},
        {12, 3, "12 panels on a page of 300 x 340 points: each would have"}};
    static const double values[] = {1000.0, 1100.0, 10.0};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_result *result = fulcrum_result_new(NULL);
        struct fulcrum_table *table = fulcrum_result_table(result, "points", NULL);
        for (size_t k = 0; k < 2 * cases[i].cells; k++) {
            char name[32];
            (void)snprintf(name, sizeof name, "rule %zu", k / 2);
            add_measured(table, name, k % 2 == 0 ? 1.0 : 4.0, values);
        }
        struct fulcrum_error err = {FULCRUM_OK, ""};
        struct fulcrum_canvas *canvas = new_canvas(pages[cases[i].page]);
        CU_ASSERT_EQUAL(
            draw_result(canvas, &fulcrum_chart_measured, NULL, result, &err),
            cases[i].fault == NULL ? FULCRUM_OK : FULCRUM_ERR_RANGE);
        if (cases[i].fault == NULL) {
            CU_ASSERT_EQUAL(count_kind(canvas, FULCRUM_BOX_PANEL), 2 * cases[i].cells);
            CU_ASSERT_EQUAL(count_faults(canvas), 0);
        } else {
            assert_part(err.detail, cases[i].fault);
        }
        fulcrum_canvas_free(canvas);
    }
}

/* Draws a case into an SVG. The caller frees it. */
static char *svg_of(const struct chart_case *chart, struct scratch *scratch)
{
    struct store *store = new_store(&data_cases[3]);
    struct fulcrum_canvas *canvas = new_canvas(pages[1]);
    const char *path = scratch_at(scratch, "chart.svg");
    ASSERT_OK(draw_case(canvas, chart, store, &data_cases[3]));
    FILE *file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    ASSERT_OK(fulcrum_canvas_write(canvas, path, 0.0, file, NULL));
    CU_ASSERT_EQUAL(fclose(file), 0);
    char *text = scratch_read(path);
    fulcrum_canvas_free(canvas);
    free(store);
    return text;
}

static void check_bytes(const struct chart_case *chart, struct scratch *scratch)
{
    char *first = svg_of(chart, scratch);
    char *second = svg_of(chart, scratch);
    if (first != NULL && second != NULL) {
        CU_ASSERT(strlen(first) > 1000);
        CU_ASSERT_STRING_EQUAL(first, second);
    }
    free(first);
    free(second);
}

TEST(test_the_same_data_give_the_same_bytes)
{
    struct scratch scratch = scratch_new();
    for (size_t i = 0; i < LENGTH(chart_cases); i++) {
        check_bytes(&chart_cases[i], &scratch);
    }
    scratch_free(&scratch);
}
