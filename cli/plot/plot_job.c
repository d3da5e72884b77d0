/* plot_job.c - each chart: its data, and the page. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/plot/plot_job.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/plot/plot_data.h"
#include "cli/plot/plot_source.h"
#include "model/try.h"
#include "plots/chart/canvas.h"
#include "presets/io/output.h"
#include "presets/load/preset.h"
#include "presets/load/reference_file.h"

/* What GPU time is compared with unless others are asked for. */
#define STANDARD_GPUS "dgx-a100,dgx-h100,dgx-h200,dgx-b200"

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

static enum fulcrum_status hand_on(const struct fulcrum_plot_job *job,
    const struct fulcrum_canvas *canvas, struct fulcrum_error *err)
{
    if (job->taker != NULL) {
        return job->taker->take(job->taker->user, canvas, err);
    }
    const struct fulcrum_save_options options = {
        .png_width_px = isnan(job->width_px) ? 0.0 : job->width_px};
    return fulcrum_plot_write(canvas, job->output_path, &options, err);
}

/* Draws data of the chart's kind and writes the file, or hands the page on. */
static enum fulcrum_status plot_save(const struct fulcrum_plot_job *job,
    const struct fulcrum_chart *chart, const void *data, struct fulcrum_error *err)
{
    struct fulcrum_canvas *canvas = NULL;
    TRY(fulcrum_canvas_new(&canvas, job->width_pt, job->height_pt, err));
    if (job->taker != NULL) {
        fulcrum_canvas_keep_captions(canvas);
    }
    enum fulcrum_status status = fulcrum_chart_draw(chart, canvas, data, err);
    if (status == FULCRUM_OK) {
        status = hand_on(job, canvas, err);
    }
    fulcrum_canvas_free(canvas);
    return status;
}

/* Faults of a cell name the file already, those of the output another. */
static enum fulcrum_status name_file(const struct fulcrum_plot_job *job,
    enum fulcrum_status status, struct fulcrum_error *err)
{
    const char *name = job->source.name;
    bool is_named = status == FULCRUM_OK || status == FULCRUM_ERR_FILE ||
                    strncmp(err->detail, name, strlen(name)) == 0;
    return is_named ? status : fulcrum_fail_in(err, status, name);
}

static enum fulcrum_status plot_bars(const struct fulcrum_plot_job *job,
    const struct fulcrum_chart *chart, const struct fulcrum_bar_chart *bars,
    const struct fulcrum_result *result, struct fulcrum_error *err)
{
    const struct fulcrum_bar_chart_data data = {
        .text = {job->title, job->subtitle, NULL},
        .chart = bars,
        .result = result,
        .as_shares = job->breakdown.scale == FULCRUM_ROW_SHARE};
    return plot_save(job, chart, &data, err);
}

static enum fulcrum_status plot_lines(const struct fulcrum_plot_job *job,
    const struct fulcrum_chart *chart, const struct fulcrum_result *result,
    struct fulcrum_error *err)
{
    const struct fulcrum_line_chart_data data = {
        .text = {job->title, job->subtitle, NULL}, .chart = chart, .result = result};
    return name_file(job, plot_save(job, chart, &data, err), err);
}

/* Whether what a chart adds to a result is still to be added: a report draws it twice.
 */
static bool is_first(struct fulcrum_result *result, const struct fulcrum_chart *chart)
{
    char key[64];
    (void)snprintf(key, sizeof key, "drawn as %s", chart->name);
    bool is_new = fulcrum_result_find(result, key) == NULL;
    if (is_new) {
        fulcrum_result_flag(result, key, NULL, true);
    }
    return is_new;
}

/* What was read; borrowed. A CSV file has one table, whatever its key would be. */
static enum fulcrum_status read_result(const struct fulcrum_plot_job *job,
    const char *key, struct fulcrum_result **out, struct fulcrum_error *err)
{
    struct fulcrum_result *result = job->source.result;
    const char *name = job->source.name;
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
        job->chart == &fulcrum_chart_parity || job->chart == &fulcrum_chart_measured;
    FAIL_IF(!may_be_empty && fulcrum_table_rows(item->table) == 0, err,
        FULCRUM_ERR_FORMAT, "%s: there is no row in it: nothing to draw", name);
    *out = result;
    return FULCRUM_OK;
}

/* Bars of what was read; `add` may be NULL. */
static enum fulcrum_status plot_read_bars(const struct fulcrum_plot_job *job,
    const struct fulcrum_chart *chart, const struct fulcrum_bar_chart *bars,
    fulcrum_plot_add *add, struct fulcrum_error *err)
{
    struct fulcrum_result *result = NULL;
    TRY(read_result(job, bars->table, &result, err));
    if (add != NULL && is_first(result, chart)) {
        TRY(name_file(job, add(result, err), err));
    }
    return name_file(job, plot_bars(job, chart, bars, result, err), err);
}

enum fulcrum_status fulcrum_plot_components(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    return plot_read_bars(job, &fulcrum_chart_gpu_time, &fulcrum_bars_components,
        fulcrum_plot_components_add, err);
}

enum fulcrum_status fulcrum_plot_partition(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    return plot_read_bars(job, &fulcrum_chart_partition, &fulcrum_bars_partition,
        fulcrum_plot_partition_add, err);
}

enum fulcrum_status fulcrum_plot_posterior(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    return plot_read_bars(job, &fulcrum_chart_posterior, &fulcrum_bars_posterior,
        fulcrum_plot_fit_add, err);
}

enum fulcrum_status fulcrum_plot_tornado(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    return plot_read_bars(job, &fulcrum_chart_tornado, &fulcrum_bars_tornado,
        fulcrum_plot_tornado_add, err);
}

enum fulcrum_status fulcrum_plot_gpu_time(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_reference *reference = NULL;
    TRY(fulcrum_reference_load(job->source.name, &reference, err));
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    enum fulcrum_status status;
    TRY_OR_END(fulcrum_plot_gpu_time_add(
        reference, job->machines != NULL ? job->machines : STANDARD_GPUS, result, err));
    status =
        plot_bars(job, &fulcrum_chart_gpu_time, &fulcrum_bars_published, result, err);
end:
    fulcrum_result_free(result);
    fulcrum_reference_free(reference);
    return status;
}

enum fulcrum_status fulcrum_plot_upgrade(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    return plot_read_bars(
        job, &fulcrum_chart_upgrade, &fulcrum_bars_upgrade, NULL, err);
}

enum fulcrum_status fulcrum_plot_stages(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    if (job->source.content != FULCRUM_PLOT_REFERENCE) {
        return plot_read_bars(
            job, &fulcrum_chart_stages, &fulcrum_bars_stages, NULL, err);
    }
    struct fulcrum_reference *reference = NULL;
    TRY(fulcrum_reference_load(job->source.name, &reference, err));
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    enum fulcrum_status status;
    TRY_OR_END(fulcrum_plot_stages_add(reference, result, err));
    status = plot_bars(job, &fulcrum_chart_stages, &fulcrum_bars_stages, result, err);
end:
    fulcrum_result_free(result);
    fulcrum_reference_free(reference);
    return status;
}

/* What charts need beside the columns of what was read. */
static enum fulcrum_status supply(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    const struct fulcrum_chart *chart = job->chart;
    static const struct {
        const struct fulcrum_chart *chart;
        enum fulcrum_plot_curves kind;
    } published[] = {{&fulcrum_chart_runtime, FULCRUM_PLOT_RUNTIME},
        {&fulcrum_chart_power, FULCRUM_PLOT_POWER},
        {&fulcrum_chart_sm, FULCRUM_PLOT_SM}};
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        if (chart == published[i].chart) {
            return fulcrum_plot_published_add(
                result, &job->references, published[i].kind, err);
        }
    }
    static const struct {
        const struct fulcrum_chart *chart;
        fulcrum_plot_add *add;
    } files[] = {{&fulcrum_chart_scaling, fulcrum_plot_scaling_add},
        {&fulcrum_chart_parity, fulcrum_plot_parity_add},
        {&fulcrum_chart_measured, fulcrum_plot_measured_add}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (chart == files[i].chart) {
            return name_file(job, files[i].add(result, err), err);
        }
    }
    if (chart == &fulcrum_chart_pareto) {
        return name_file(job, fulcrum_plot_pareto_add(result, job->pareto, err), err);
    }
    return chart->lines->landmark_name != NULL
               ? fulcrum_plot_landmarks_add(result, job->machines, "", NULL, err)
               : FULCRUM_OK;
}

enum fulcrum_status fulcrum_plot_lines(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_result *result = NULL;
    TRY(read_result(job, job->chart->lines->table, &result, err));
    if (is_first(result, job->chart)) {
        TRY(supply(job, result, err));
    }
    return plot_lines(job, job->chart, result, err);
}

/* A reference is predicted here; what fulcrum wrote has its predictions. */
static enum fulcrum_status plot_validation(const struct fulcrum_plot_job *job,
    const struct fulcrum_chart *chart, fulcrum_plot_validation_add *add,
    struct fulcrum_error *err)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_validation validation = {.reference = NULL};
    TRY(fulcrum_reference_load(job->source.name, &reference, err));
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    enum fulcrum_status status;
    TRY_OR_END(fulcrum_validate(reference, NULL, &validation, err));
    TRY_OR_END(add(&validation, result, err));
    status = plot_lines(job, chart, result, err);
end:
    fulcrum_result_free(result);
    fulcrum_validation_clear(&validation);
    fulcrum_reference_free(reference);
    return status;
}

enum fulcrum_status fulcrum_plot_efficiency(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    return plot_validation(
        job, &fulcrum_chart_efficiency, fulcrum_plot_scaling_of_reference, err);
}

enum fulcrum_status fulcrum_plot_measured(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    return job->source.content != FULCRUM_PLOT_REFERENCE
               ? fulcrum_plot_lines(job, err)
               : plot_validation(job, &fulcrum_chart_measured,
                     fulcrum_plot_measured_of_reference, err);
}

static enum fulcrum_status plot_own(const struct fulcrum_plot_job *job,
    const struct fulcrum_chart *chart, fulcrum_plot_own_add *add,
    struct fulcrum_error *err)
{
    struct fulcrum_calibration *calibration = NULL;
    TRY(fulcrum_calibration_load(job->source.name, &calibration, err));
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    enum fulcrum_status status = add(calibration, result, err);
    if (status == FULCRUM_OK) {
        status = plot_lines(job, chart, result, err);
    }
    fulcrum_result_free(result);
    fulcrum_calibration_free(calibration);
    return status;
}

enum fulcrum_status fulcrum_plot_calibration(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    return plot_own(job, &fulcrum_chart_calibration, fulcrum_plot_calibration_add, err);
}

enum fulcrum_status fulcrum_plot_sm_time(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    return plot_own(job, &fulcrum_chart_sm_time, fulcrum_plot_sm_time_add, err);
}

/* Charts of sweeps. */

enum fulcrum_status fulcrum_plot_heat(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_heat_chart_data data;
    struct fulcrum_result *result = NULL;
    struct fulcrum_plot_heat_options options = job->heat;
    options.machines = job->machines;
    TRY(read_result(job, "points", &result, err));
    TRY(name_file(job, fulcrum_plot_heat_data(result, &options, &data, err), err));
    data.text.title = job->title != NULL ? job->title : data.text.title;
    data.text.subtitle = job->subtitle != NULL ? job->subtitle : data.text.subtitle;
    return name_file(job, plot_save(job, &fulcrum_chart_heat, &data, err), err);
}

static enum fulcrum_status read_points(const struct fulcrum_plot_source *source,
    struct fulcrum_plot_file *out, struct fulcrum_error *err)
{
    FAIL_IF(source->content != FULCRUM_PLOT_SWEEP &&
                source->content != FULCRUM_PLOT_PREDICTION,
        err, FULCRUM_ERR_UNSUPPORTED, "%s holds %s: a breakdown is drawn from %s or %s",
        source->name, fulcrum_plot_content_words(source->content),
        fulcrum_plot_content_words(FULCRUM_PLOT_SWEEP),
        fulcrum_plot_content_words(FULCRUM_PLOT_PREDICTION));
    out->name = source->name;
    out->result = source->result;
    return FULCRUM_OK;
}

/* Of the source of the job and of the other files. */
enum fulcrum_status fulcrum_plot_breakdown(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    const struct fulcrum_bar_chart *bars = job->breakdown.parts;
    size_t count = job->more.count + 1;
    struct fulcrum_plot_file *files = fulcrum_allocate(count, sizeof *files);
    struct fulcrum_plot_source *sources = fulcrum_allocate(count, sizeof *sources);
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    enum fulcrum_status status;
    TRY_OR_END(read_points(&job->source, &files[0], err));
    for (size_t i = 1; i < count; i++) {
        TRY_OR_END(fulcrum_plot_source_open(
            job->more.items[i - 1], FULCRUM_PLOT_SWEEP, &sources[i], err));
        TRY_OR_END(read_points(&sources[i], &files[i], err));
    }
    TRY_OR_END(fulcrum_plot_breakdown_add(bars, files, count, result, err));
    status = plot_bars(job, &fulcrum_chart_breakdown, bars, result, err);
end:
    for (size_t i = 1; i < count; i++) {
        fulcrum_plot_source_close(&sources[i]);
    }
    fulcrum_result_free(result);
    free(files);
    free(sources);
    return status;
}
