/* plot_scaling.c - what charts of many GPUs need beside the rows that were read. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/reference/predictors.h"
#include "cli/plot/plot_job.h"
#include "model/quantity.h"
#include "model/try.h"

/* What `fulcrum cluster` wrote. */

static bool is_strong(const struct fulcrum_table *rows, size_t row)
{
    return fulcrum_plot_says(rows, row, "scaling", "strong");
}

/* Whether hybrid wins in a row, and in none of the same kind on fewer GPUs. */
static bool wins_first(const struct fulcrum_table *rows, size_t row)
{
    bool is_first = fulcrum_plot_number(rows, row, "hybrid_gain") > 1.0;
    double parts = fulcrum_plot_number(rows, row, "model_parallel_gpu_count");
    double gpus = fulcrum_plot_number(rows, row, "gpu_count");
    for (size_t i = 0; i < fulcrum_table_rows(rows) && is_first; i++) {
        is_first = !(fulcrum_plot_number(rows, i, "hybrid_gain") > 1.0 &&
                     fulcrum_plot_number(rows, i, "gpu_count") < gpus &&
                     fabs(fulcrum_plot_number(rows, i, "model_parallel_gpu_count") -
                          parts) < 0.5 &&
                     is_strong(rows, i) == is_strong(rows, row));
    }
    return is_first;
}

/*
 * "2 to a worker win from 64 GPUs on (93 % of draws)", in the panel of times to a
 * quality where they are known: gains are by these.
 */
static void add_guide(
    struct fulcrum_result *result, const struct fulcrum_table *rows, size_t row)
{
    enum { QUALITY, WEAK, STRONG } panel = STRONG;
    char text[120];
    char draws[40] = "";
    double share = fulcrum_plot_number(rows, row, "hybrid_sooner_frac");
    if (!is_strong(rows, row)) {
        panel =
            isnan(fulcrum_plot_number(rows, row, "quality_speedup")) ? WEAK : QUALITY;
    }
    if (!isnan(share)) {
        (void)snprintf(draws, sizeof draws, " (%.3g %% of draws)", 100.0 * share);
    }
    (void)snprintf(text, sizeof text, "%.6g to a worker win from %.6g GPUs on%s",
        fulcrum_plot_number(rows, row, "model_parallel_gpu_count"),
        fulcrum_plot_number(rows, row, "gpu_count"), draws);
    fulcrum_plot_guide_add(
        result, (int)panel, NULL, fulcrum_plot_number(rows, row, "gpu_count"), text);
}

static enum fulcrum_status check_counts(
    const struct fulcrum_table *rows, struct fulcrum_error *err)
{
    static const char *const counts[] = {"gpu_count", "model_parallel_gpu_count"};
    for (size_t i = 0; i < fulcrum_table_rows(rows); i++) {
        for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
            struct fulcrum_cell cell = fulcrum_table_at(rows, i, counts[k]);
            FAIL_IF(!(cell.number >= 1.0), err, FULCRUM_ERR_FORMAT,
                "row %zu: %s%s%.40s: expected a number from 1", i + 1, counts[k],
                cell.text != NULL ? " = " : "", cell.text != NULL ? cell.text : "");
        }
    }
    return FULCRUM_OK;
}

/* How each row splits the network. The quality of one GPU alone says nothing. */
static void name_parallelism(struct fulcrum_table *rows)
{
    bool has_quality = false;
    for (size_t i = 0; i < fulcrum_table_rows(rows); i++) {
        has_quality =
            has_quality ||
            (fulcrum_plot_number(rows, i, "gpu_count") > 1.5 && !is_strong(rows, i) &&
                fulcrum_plot_number(rows, i, "quality_speedup") > 0.0);
    }
    for (size_t i = 0; i < fulcrum_table_rows(rows); i++) {
        double parts = fulcrum_plot_number(rows, i, "model_parallel_gpu_count");
        fulcrum_table_return(rows, i);
        if (parts > 1.5) {
            fulcrum_plot_print(
                rows, "parallelism", "hybrid, %.6g GPUs to a worker", parts);
        } else {
            fulcrum_table_text(rows, "parallelism", NULL, "data-parallel");
        }
        if (!has_quality) {
            fulcrum_table_estimate(rows, "quality_speedup", NULL, FULCRUM_UNKNOWN,
                FULCRUM_UNKNOWN, FULCRUM_UNKNOWN);
        }
    }
}

enum fulcrum_status fulcrum_plot_scaling_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    struct fulcrum_table *rows = fulcrum_chart_table(result, "rows");
    (void)job;
    TRY(check_counts(rows, err));
    name_parallelism(rows);
    for (size_t i = 0; i < fulcrum_table_rows(rows); i++) {
        if (wins_first(rows, i)) {
            add_guide(result, rows, i);
        }
    }
    const char *workload = fulcrum_result_text_of(result, "workload");
    const char *machine = fulcrum_result_text_of(result, "machine_title");
    const char *scope = fulcrum_result_text_of(result, "scope");
    fulcrum_result_print(result, "chart_title", NULL, "Training %s on many GPUs",
        workload[0] != '\0' ? workload : "one workload");
    fulcrum_result_print(result, "chart_subtitle", NULL, "%s%s%s", machine,
        machine[0] != '\0' && scope[0] != '\0' ? "; " : "", scope);
    return FULCRUM_OK;
}

/* References. */

/* Speed-ups over as many machines or GPUs. */
static void add_speedup(struct fulcrum_table *rows,
    const struct fulcrum_reference_point *point, const struct fulcrum_compared *item)
{
    const char *key = fulcrum_scaling_setting(point);
    double count = fulcrum_reference_find_setting(point, key)->number;
    fulcrum_table_row(rows);
    fulcrum_plot_print(rows, "series", "%.100s, predicted", point->series);
    fulcrum_table_number(rows, key, NULL, count);
    fulcrum_table_number(rows, "predicted_frac", NULL, item->predicted / count);
    fulcrum_table_number(rows, "observed_frac", NULL, item->observed / count);
    fulcrum_table_text(rows, "held_out", NULL, item->is_fitted ? "no" : "yes");
}

enum fulcrum_status fulcrum_plot_efficiency_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    const struct fulcrum_validation *validation = &job->validation;
    const struct fulcrum_reference *reference = validation->reference;
    const struct fulcrum_comparison *comparison = &validation->comparison;
    FAIL_IF(reference->predictor != FULCRUM_PREDICTOR_NODE_SCALING, err,
        FULCRUM_ERR_UNSUPPORTED,
        "reference %s: no speedup_over_one_node: expected one like "
        "gmidrl-table5-multinode",
        reference->name);
    FAIL_IF(comparison->count == 0, err, FULCRUM_ERR_UNSUPPORTED, "reference %s: %s",
        reference->name, validation->reason);
    struct fulcrum_table *rows = fulcrum_result_table(result, "rows", NULL);
    for (size_t i = 0; i < comparison->count; i++) {
        const struct fulcrum_compared *item = &comparison->items[i];
        add_speedup(rows, &reference->points[item->point], item);
    }
    fulcrum_result_text(result, "chart_title", NULL, reference->title);
    fulcrum_result_text(result, "chart_subtitle", NULL,
        "lines: a ring all-reduce fitted to the hollow points");
    return FULCRUM_OK;
}
