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

static const char parts_key[] = "model_parallel_gpu_count";

/* Whether hybrid wins in a row, and in none of the same kind on fewer GPUs. */
static bool wins_first(const struct fulcrum_table *rows, size_t row)
{
    const char *scaling = fulcrum_plot_text(rows, row, "scaling");
    double parts = fulcrum_plot_number(rows, row, parts_key);
    double gpus = fulcrum_plot_number(rows, row, "gpu_count");
    bool is_first = fulcrum_plot_number(rows, row, "hybrid_gain") > 1.0;
    for (size_t i = 0; i < fulcrum_table_rows(rows) && is_first; i++) {
        is_first = !(fulcrum_plot_number(rows, i, "hybrid_gain") > 1.0 &&
                     fulcrum_plot_number(rows, i, "gpu_count") < gpus &&
                     fabs(fulcrum_plot_number(rows, i, parts_key) - parts) < 0.5 &&
                     fulcrum_plot_says(rows, i, "scaling", scaling));
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
    double gpus = fulcrum_plot_number(rows, row, "gpu_count");
    double share = fulcrum_plot_number(rows, row, "hybrid_sooner_frac");
    char text[120];
    char draws[40] = "";
    if (!fulcrum_plot_says(rows, row, "scaling", "strong")) {
        panel =
            isnan(fulcrum_plot_number(rows, row, "quality_speedup")) ? WEAK : QUALITY;
    }
    if (!isnan(share)) {
        (void)snprintf(draws, sizeof draws, " (%.3g %% of draws)", 100.0 * share);
    }
    (void)snprintf(text, sizeof text, "%.6g to a worker win from %.6g GPUs on%s",
        fulcrum_plot_number(rows, row, parts_key), gpus, draws);
    fulcrum_plot_guide_add(result, (int)panel, NULL, gpus, text);
}

/* How each row splits the network. The quality of one GPU alone says nothing. */
enum fulcrum_status fulcrum_plot_scaling_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    struct fulcrum_table *rows = fulcrum_chart_table(result, "rows");
    bool has_quality = false;
    (void)job;
    for (size_t i = 0; i < fulcrum_table_rows(rows); i++) {
        double parts = fulcrum_plot_number(rows, i, parts_key);
        FAIL_IF(!(parts >= 1.0), err, FULCRUM_ERR_FORMAT,
            "row %zu: %s = %g: expected a number from 1", i + 1, parts_key, parts);
        has_quality |= fulcrum_plot_number(rows, i, "gpu_count") > 1.5 &&
                       !fulcrum_plot_says(rows, i, "scaling", "strong") &&
                       fulcrum_plot_number(rows, i, "quality_speedup") > 0.0;
    }
    for (size_t i = 0; i < fulcrum_table_rows(rows); i++) {
        double parts = fulcrum_plot_number(rows, i, parts_key);
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
        if (wins_first(rows, i)) {
            add_guide(result, rows, i);
        }
    }
    return FULCRUM_OK;
}

/* References. */

/* Speed-ups over as many machines or GPUs. */
static void add_speedup(struct fulcrum_table *rows,
    const struct fulcrum_reference_point *point, const struct fulcrum_compared *item)
{
    const char *key = fulcrum_scaling_words_of(point)->setting;
    double count = fulcrum_reference_find_setting(point, key)->number;
    fulcrum_table_row(rows);
    fulcrum_plot_print(rows, "series", "%.100s, predicted", point->series);
    fulcrum_table_number(rows, key, NULL, count);
    fulcrum_table_number(rows, "predicted_frac", NULL, item->predicted / count);
    fulcrum_table_number(rows, "observed_frac", NULL, item->observed / count);
    fulcrum_table_text(rows, "held_out", NULL, item->is_fitted ? "no" : "yes");
}

/* Speed-ups of the validation, over as many machines. */
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
    return FULCRUM_OK;
}
