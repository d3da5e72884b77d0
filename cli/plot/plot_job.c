/* plot_job.c - the charts there are, what each is drawn from, and the page. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/plot/plot_job.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "model/try.h"
#include "plots/chart/canvas.h"
#include "presets/io/output.h"

/* In place of a column: more than one field of the sweep varies. */
static const char two_fields[] = "two fields";

#define PLOT(NAME, CONTENT, ROWS, ...)                                                 \
    {                                                                                  \
        .chart = &fulcrum_chart_##NAME, .content = FULCRUM_PLOT_##CONTENT,             \
        .rows = FULCRUM_PLOT_##ROWS, .add = __VA_ARGS__                                \
    }

/* Of rows that would do, the first is taken. */
static const struct fulcrum_plot plots[] = {
    PLOT(pareto, SWEEP, READ, fulcrum_plot_pareto_add, .column = "point"),
    PLOT(heat, SWEEP, READ, fulcrum_plot_heat_add, .column = two_fields),
    PLOT(actors, SWEEP, READ, NULL, .column = "run.actor_count"),
    PLOT(sm, SWEEP, LAID, fulcrum_plot_published_add, .column = "run.sm_count"),
    PLOT(ratio, SWEEP, LAID, fulcrum_plot_ratio_add),
    PLOT(busy, SWEEP, READ, NULL),
    PLOT(runtime, SWEEP, LAID, fulcrum_plot_published_add),
    PLOT(power, SWEEP, LAID, fulcrum_plot_published_add),
    PLOT(breakdown, SWEEP, MADE, fulcrum_plot_breakdown_add,
        .bars = &fulcrum_bars_cycle),
    PLOT(breakdown, PREDICTION, MADE, fulcrum_plot_breakdown_add,
        .bars = &fulcrum_bars_cycle),
    PLOT(measured, MEASURED, READ, fulcrum_plot_measured_add),
    PLOT(measured, REFERENCE, PREDICTED, fulcrum_plot_measured_add,
        .column = "steps_per_s"),
    PLOT(stages, STAGES, READ, NULL, .bars = &fulcrum_bars_stages),
    PLOT(stages, REFERENCE, MADE, fulcrum_plot_stages_add, .bars = &fulcrum_bars_stages,
        .column = "simulation_frac"),
    PLOT(scaling, SCALING, READ, fulcrum_plot_scaling_add),
    PLOT(efficiency, REFERENCE, PREDICTED, fulcrum_plot_efficiency_add,
        .column = "speedup_over_one_node"),
    PLOT(efficiency, REFERENCE, PREDICTED, fulcrum_plot_efficiency_add,
        .column = "speedup_over_one_gpu"),
    PLOT(gpu_time, REFERENCE, MADE, fulcrum_plot_gpu_time_add,
        .bars = &fulcrum_bars_published),
    PLOT(gpu_time, COMPONENTS, READ, fulcrum_plot_components_add,
        .bars = &fulcrum_bars_components),
    PLOT(memory, MEMORY, READ, NULL),
    PLOT(partition, PLACEMENTS, READ, fulcrum_plot_partition_add,
        .bars = &fulcrum_bars_partition),
    PLOT(upgrade, UPGRADES, READ, NULL, .bars = &fulcrum_bars_upgrade),
    PLOT(node, NODE, READ, NULL),
    PLOT(parity, VALIDATION, READ, fulcrum_plot_parity_add),
    PLOT(posterior, FIT, READ, fulcrum_plot_fit_add, .bars = &fulcrum_bars_posterior),
    PLOT(tornado, SENSITIVITY, READ, fulcrum_plot_tornado_add,
        .bars = &fulcrum_bars_tornado),
    PLOT(calibration, CALIBRATION, MADE, fulcrum_plot_calibration_add),
    PLOT(sm_time, CALIBRATION, MADE, fulcrum_plot_sm_time_add),
};

enum { PLOT_COUNT = sizeof plots / sizeof plots[0] };

const struct fulcrum_plot *fulcrum_plot_find(
    const char *chart, enum fulcrum_plot_content content)
{
    const struct fulcrum_plot *found = NULL;
    for (size_t i = 0; i < PLOT_COUNT; i++) {
        bool is_better =
            found == NULL || (plots[i].content == content && found->content != content);
        if (is_better && strcmp(plots[i].chart->name, chart) == 0) {
            found = &plots[i];
        }
    }
    return found;
}

static bool is_observed(const struct fulcrum_reference *reference, const char *quantity)
{
    bool found = false;
    for (size_t i = 0; i < reference->point_count; i++) {
        const struct fulcrum_reference_point *point = &reference->points[i];
        for (size_t k = 0; k < point->observation_count; k++) {
            found = found || strcmp(point->observations[k].quantity, quantity) == 0;
        }
    }
    return found;
}

static bool has_column(const struct fulcrum_table *points, const char *column)
{
    size_t count = fulcrum_table_columns(points);
    size_t varying = 0;
    for (size_t j = 0; j < count && column == two_fields; j++) {
        varying += fulcrum_plot_varies(points, j) ? 1U : 0U;
    }
    return column == two_fields ? varying > 1
                                : fulcrum_table_find(points, column) < count;
}

enum fulcrum_status fulcrum_plot_choose(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    const struct fulcrum_plot_source *source = &job->source;
    const struct fulcrum_table *points = fulcrum_chart_table(source->result, "points");
    if (job->chart != NULL) {
        job->plot = fulcrum_plot_find(job->chart, source->content);
        return FULCRUM_OK;
    }
    FAIL_IF(source->content == FULCRUM_PLOT_SWEEP && points == NULL, err,
        FULCRUM_ERR_FORMAT, "%s: points is not given: expected an array of objects",
        source->name);
    for (size_t i = PLOT_COUNT; i > 0; i--) {
        const char *column = plots[i - 1].column;
        if (plots[i - 1].content == source->content &&
            (column == NULL ||
                (source->reference != NULL ? is_observed(source->reference, column)
                                           : has_column(points, column)))) {
            job->plot = &plots[i - 1];
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status draw_result(const struct fulcrum_plot_job *job,
    const struct fulcrum_result *result, struct fulcrum_canvas *canvas,
    struct fulcrum_error *err)
{
    const struct fulcrum_plot *plot = job->plot;
    const struct fulcrum_chart_text text = {job->title, job->subtitle, NULL};
    if (plot->bars != NULL) {
        bool is_breakdown = plot->chart == &fulcrum_chart_breakdown;
        const struct fulcrum_bar_chart_data data = {.text = text,
            .chart = is_breakdown ? fulcrum_breakdowns[job->parts] : plot->bars,
            .result = result,
            .as_shares = job->scale == FULCRUM_ROW_SHARE};
        return fulcrum_chart_draw(plot->chart, canvas, &data, err);
    }
    if (plot->chart == &fulcrum_chart_heat) {
        const struct fulcrum_heat_chart_data data = fulcrum_plot_heat_data(job, result);
        return fulcrum_chart_draw(plot->chart, canvas, &data, err);
    }
    const struct fulcrum_line_chart_data data = {
        .text = text, .chart = plot->chart, .result = result};
    return fulcrum_chart_draw(plot->chart, canvas, &data, err);
}

/* Faults of a cell name the file already, those of other files these. */
static enum fulcrum_status name_file(const struct fulcrum_plot_job *job,
    enum fulcrum_status status, struct fulcrum_error *err)
{
    const char *name = job->source.name;
    bool is_named = status == FULCRUM_OK || status == FULCRUM_ERR_FILE ||
                    strncmp(err->detail, name, strlen(name)) == 0;
    return is_named ? status : fulcrum_fail_in(err, status, name);
}

/* A CSV file has one table, whatever its key would be. */
static enum fulcrum_status check_rows(
    const struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    const struct fulcrum_result *result = job->source.result;
    const struct fulcrum_chart *chart = job->plot->chart;
    const char *name = job->source.name;
    const char *key = chart->lines != NULL ? chart->lines->table : "points";
    key = job->plot->bars != NULL ? job->plot->bars->table : key;
    bool is_csv = fulcrum_result_schema(result)[0] == '\0' &&
                  fulcrum_result_table_of(result, "rows") != NULL;
    const struct fulcrum_item *item =
        fulcrum_result_find(result, is_csv ? "rows" : key);
    FAIL_IF(item == NULL || item->table == NULL, err, FULCRUM_ERR_FORMAT,
        "%s: %s is not given: expected an array of objects", name, key);
    FAIL_IF(item->is_list, err, FULCRUM_ERR_FORMAT, "%s: %s[0]: expected an object",
        name, key);
    /* Charts that compare have a page that says so. */
    bool may_be_empty =
        chart == &fulcrum_chart_parity || chart == &fulcrum_chart_measured;
    FAIL_IF(!may_be_empty && fulcrum_table_rows(item->table) == 0, err,
        FULCRUM_ERR_FORMAT, "%s: there is no row in it: nothing to draw", name);
    return FULCRUM_OK;
}

/* A report draws a result twice, and what is added is added once. */
static enum fulcrum_status add_once(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    char key[64];
    (void)snprintf(key, sizeof key, "drawn as %s", job->plot->chart->name);
    if (job->plot->add == NULL || fulcrum_result_find(result, key) != NULL) {
        return FULCRUM_OK;
    }
    TRY(job->plot->add(job, result, err));
    fulcrum_result_flag(result, key, NULL, true);
    return fulcrum_result_check(result, err);
}

enum fulcrum_status fulcrum_plot_draw(struct fulcrum_plot_job *job,
    struct fulcrum_canvas *canvas, struct fulcrum_error *err)
{
    bool is_read = job->plot->rows <= FULCRUM_PLOT_LAID;
    struct fulcrum_result *result =
        is_read ? job->source.result : fulcrum_result_new(NULL);
    enum fulcrum_status status = FULCRUM_OK;
    if (is_read) {
        TRY(check_rows(job, err));
    } else if (job->plot->rows == FULCRUM_PLOT_PREDICTED) {
        TRY_OR_END(
            fulcrum_validate(job->source.reference, NULL, &job->validation, err));
    }
    status = add_once(job, result, err);
    if (job->plot->rows == FULCRUM_PLOT_READ) {
        status = name_file(job, status, err);
    }
    TRY_OR_END(status);
    status = draw_result(job, result, canvas, err);
    if (is_read || job->plot->bars == NULL) {
        status = name_file(job, status, err);
    }
end:
    if (!is_read) {
        fulcrum_result_free(result);
    }
    fulcrum_validation_clear(&job->validation);
    return status;
}

enum fulcrum_status fulcrum_plot_write(const struct fulcrum_canvas *canvas,
    const char *path, const struct fulcrum_save_options *options,
    struct fulcrum_error *err)
{
    struct fulcrum_output *output = NULL;
    TRY(fulcrum_output_open(path, &output, err));
    enum fulcrum_status status =
        fulcrum_canvas_write(canvas, path, options, fulcrum_output_stream(output), err);
    if (status != FULCRUM_OK) {
        fulcrum_output_discard(output);
        return status;
    }
    return fulcrum_output_commit(output, err);
}
