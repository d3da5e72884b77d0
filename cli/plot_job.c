/* plot_job.c - charts of calibrations, references, validations and fits. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/plot_job.h"

#include <math.h>

#include "model/try.h"
#include "plots/canvas.h"
#include "presets/output.h"
#include "presets/preset.h"
#include "presets/reference_load.h"

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

enum fulcrum_status fulcrum_plot_save(const struct fulcrum_plot_job *job,
    const struct fulcrum_chart *chart, const void *data, struct fulcrum_error *err)
{
    struct fulcrum_canvas *canvas = NULL;
    enum fulcrum_status status =
        fulcrum_canvas_new(&canvas, job->width_pt, job->height_pt, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    if (job->taker != NULL) {
        fulcrum_canvas_keep_captions(canvas);
    }
    status = fulcrum_chart_draw(chart, canvas, data, err);
    if (status == FULCRUM_OK) {
        status = hand_on(job, canvas, err);
    }
    fulcrum_canvas_free(canvas);
    return status;
}

enum fulcrum_status fulcrum_plot_gpu_time(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_plot_gpu_time *plot = NULL;
    const char *machines = job->machines != NULL ? job->machines : STANDARD_GPUS;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_reference_load(job->source.name, &reference, err));
    TRY_OR_END(fulcrum_plot_gpu_time_new(reference, machines, &plot, err));
    struct fulcrum_gpu_time_data data = fulcrum_plot_gpu_time_data(plot, &job->words);
    status = fulcrum_plot_save(job, &fulcrum_chart_gpu_time, &data, err);
end:
    fulcrum_plot_gpu_time_free(plot);
    fulcrum_reference_free(reference);
    return status;
}

enum fulcrum_status fulcrum_plot_components(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_plot_rows *rows = NULL;
    struct fulcrum_plot_components *plot = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_plot_source_rows(&job->source, "components", &rows, err));
    TRY_OR_END(fulcrum_plot_components_new(rows, &plot, err));
    struct fulcrum_gpu_time_data data = fulcrum_plot_components_data(plot, &job->words);
    status = fulcrum_plot_save(job, &fulcrum_chart_gpu_time, &data, err);
end:
    fulcrum_plot_components_free(plot);
    fulcrum_plot_rows_free(rows);
    return status;
}

enum fulcrum_status fulcrum_plot_memory(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_plot_rows *rows = NULL;
    struct fulcrum_plot_memory *plot = NULL;
    const char *key =
        fulcrum_plot_source_has(&job->source, "factors") ? "factors" : "family";
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_plot_source_rows(&job->source, key, &rows, err));
    TRY_OR_END(fulcrum_plot_memory_new(rows, &plot, err));
    struct fulcrum_lines_data data = fulcrum_plot_memory_data(plot, &job->words);
    status = fulcrum_plot_save(job, &fulcrum_chart_memory, &data, err);
end:
    fulcrum_plot_memory_free(plot);
    fulcrum_plot_rows_free(rows);
    return status;
}

enum fulcrum_status fulcrum_plot_partition(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_plot_rows *rows = NULL;
    struct fulcrum_plot_partition *plot = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_plot_source_rows(&job->source, "parts", &rows, err));
    TRY_OR_END(fulcrum_plot_partition_new(rows, &plot, err));
    struct fulcrum_partition_data data = fulcrum_plot_partition_data(plot, &job->words);
    status = fulcrum_plot_save(job, &fulcrum_chart_partition, &data, err);
end:
    fulcrum_plot_partition_free(plot);
    fulcrum_plot_rows_free(rows);
    return status;
}

static enum fulcrum_status read_stages(struct fulcrum_plot_job *job,
    struct fulcrum_plot_stages **out, struct fulcrum_error *err)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_plot_rows *rows = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    if (job->source.content == FULCRUM_PLOT_REFERENCE) {
        status = fulcrum_reference_load(job->source.name, &reference, err);
        if (status == FULCRUM_OK) {
            status = fulcrum_plot_stages_of_reference(reference, out, err);
        }
    } else {
        status = fulcrum_plot_source_rows(&job->source, "stages", &rows, err);
        if (status == FULCRUM_OK) {
            status = fulcrum_plot_stages_of_rows(rows, out, err);
        }
    }
    fulcrum_plot_rows_free(rows);
    fulcrum_reference_free(reference);
    return status;
}

enum fulcrum_status fulcrum_plot_stages(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_plot_stages *plot = NULL;
    enum fulcrum_status status = read_stages(job, &plot, err);
    if (status == FULCRUM_OK) {
        struct fulcrum_stages_data data = fulcrum_plot_stages_data(plot, &job->words);
        status = fulcrum_plot_save(job, &fulcrum_chart_stages, &data, err);
    }
    fulcrum_plot_stages_free(plot);
    return status;
}

enum fulcrum_status fulcrum_plot_parity(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_plot_rows *points = NULL;
    struct fulcrum_plot_validation *plot = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_plot_source_rows(&job->source, "points", &points, err));
    TRY_OR_END(fulcrum_plot_validation_new(points, &plot, err));
    struct fulcrum_parity_data data = fulcrum_plot_validation_data(plot, &job->words);
    status = fulcrum_plot_save(job, &fulcrum_chart_parity, &data, err);
end:
    fulcrum_plot_validation_free(plot);
    fulcrum_plot_rows_free(points);
    return status;
}

/* A reference is predicted here; what `fulcrum measure` wrote has its predictions. */
static enum fulcrum_status predict_reference(struct fulcrum_plot_job *job,
    struct fulcrum_plot_measured **out, struct fulcrum_error *err)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_validation validation = {.reference = NULL};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_reference_load(job->source.name, &reference, err));
    TRY_OR_END(fulcrum_validate(reference, NULL, &validation, err));
    status = fulcrum_plot_measured_of_reference(&validation, out, err);
end:
    fulcrum_validation_clear(&validation);
    fulcrum_reference_free(reference);
    return status;
}

static enum fulcrum_status read_measured(struct fulcrum_plot_job *job,
    struct fulcrum_plot_measured **out, struct fulcrum_error *err)
{
    struct fulcrum_plot_rows *points = NULL;
    if (job->source.content == FULCRUM_PLOT_REFERENCE) {
        return predict_reference(job, out, err);
    }
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_plot_source_rows(&job->source, "points", &points, err));
    status = fulcrum_plot_measured_new(points, out, err);
end:
    fulcrum_plot_rows_free(points);
    return status;
}

enum fulcrum_status fulcrum_plot_measured(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_plot_measured *plot = NULL;
    enum fulcrum_status status = read_measured(job, &plot, err);
    if (status == FULCRUM_OK) {
        struct fulcrum_measured_data data =
            fulcrum_plot_measured_data(plot, &job->words);
        status = fulcrum_plot_save(job, &fulcrum_chart_measured, &data, err);
    }
    fulcrum_plot_measured_free(plot);
    return status;
}

enum fulcrum_status fulcrum_plot_node(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_plot_rows *rows = NULL;
    struct fulcrum_plot_node *plot = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_plot_source_rows(&job->source, "rows", &rows, err));
    TRY_OR_END(fulcrum_plot_node_new(rows, &plot, err));
    struct fulcrum_node_data data = fulcrum_plot_node_data(plot, &job->words);
    status = fulcrum_plot_save(job, &fulcrum_chart_node, &data, err);
end:
    fulcrum_plot_node_free(plot);
    fulcrum_plot_rows_free(rows);
    return status;
}

static enum fulcrum_status read_scaling(struct fulcrum_plot_job *job,
    struct fulcrum_plot_scaling **out, struct fulcrum_error *err)
{
    struct fulcrum_plot_rows *rows = NULL;
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_validation validation = {.reference = NULL};
    enum fulcrum_status status = FULCRUM_OK;
    if (job->source.content == FULCRUM_PLOT_REFERENCE) {
        status = fulcrum_reference_load(job->source.name, &reference, err);
        if (status == FULCRUM_OK) {
            status = fulcrum_validate(reference, NULL, &validation, err);
        }
        if (status == FULCRUM_OK) {
            status = fulcrum_plot_scaling_of_reference(&validation, out, err);
        }
    } else {
        const char *key =
            fulcrum_plot_source_has(&job->source, "family") ? "family" : "rows";
        status = fulcrum_plot_source_rows(&job->source, key, &rows, err);
        if (status == FULCRUM_OK) {
            status = fulcrum_plot_scaling_new(rows, out, err);
        }
    }
    fulcrum_plot_rows_free(rows);
    fulcrum_validation_clear(&validation);
    fulcrum_reference_free(reference);
    return status;
}

enum fulcrum_status fulcrum_plot_scaling(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_plot_scaling *plot = NULL;
    enum fulcrum_status status = read_scaling(job, &plot, err);
    if (status == FULCRUM_OK) {
        struct fulcrum_lines_data data = fulcrum_plot_scaling_data(plot, &job->words);
        status = fulcrum_plot_save(job, &fulcrum_chart_scaling, &data, err);
    }
    fulcrum_plot_scaling_free(plot);
    return status;
}

static enum fulcrum_status read_fit(struct fulcrum_plot_job *job,
    struct fulcrum_plot_rows **parameters, struct fulcrum_plot_rows **figures,
    struct fulcrum_error *err)
{
    TRY(fulcrum_plot_source_rows(&job->source, "parameters", parameters, err));
    return fulcrum_plot_source_rows(&job->source, "figures", figures, err);
}

/* Ctrl-C leaves the best values without all that was to be said of them. */
static int was_interrupted(struct fulcrum_plot_job *job)
{
    struct fulcrum_reader unheard = {.file = job->source.name};
    struct fulcrum_node root = fulcrum_node_root(&unheard, job->source.document);
    struct fulcrum_node complete = fulcrum_node_member(&root, "complete");
    int is_complete = 1;
    return complete.json != NULL && fulcrum_node_flag(&complete, &is_complete) &&
           !is_complete;
}

enum fulcrum_status fulcrum_plot_posterior(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_plot_rows *parameters = NULL;
    struct fulcrum_plot_rows *figures = NULL;
    struct fulcrum_plot_fit *plot = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(read_fit(job, &parameters, &figures, err));
    TRY_OR_END(fulcrum_plot_fit_new(parameters, figures, &plot, err));
    struct fulcrum_posterior_data data = fulcrum_plot_fit_data(plot, &job->words);
    data.text.footnote =
        was_interrupted(job) ? "The fit was interrupted: not all was computed." : NULL;
    status = fulcrum_plot_save(job, &fulcrum_chart_posterior, &data, err);
end:
    fulcrum_plot_fit_free(plot);
    fulcrum_plot_rows_free(figures);
    fulcrum_plot_rows_free(parameters);
    return status;
}

enum fulcrum_status fulcrum_plot_calibration(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_calibration *calibration = NULL;
    struct fulcrum_plot_calibration *plot = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_calibration_load(job->source.name, &calibration, err));
    TRY_OR_END(fulcrum_plot_calibration_new(calibration, &plot, err));
    struct fulcrum_calibration_data data =
        fulcrum_plot_calibration_data(plot, &job->words);
    status = fulcrum_plot_save(job, &fulcrum_chart_calibration, &data, err);
end:
    fulcrum_plot_calibration_free(plot);
    fulcrum_calibration_free(calibration);
    return status;
}

enum fulcrum_status fulcrum_plot_sm_time(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_calibration *calibration = NULL;
    struct fulcrum_plot_sm_time *plot = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_calibration_load(job->source.name, &calibration, err));
    TRY_OR_END(fulcrum_plot_sm_time_new(calibration, &job->words, &plot, err));
    status = fulcrum_plot_save(
        job, &fulcrum_chart_sm_time, fulcrum_plot_sm_time_data(plot), err);
end:
    fulcrum_plot_sm_time_free(plot);
    fulcrum_calibration_free(calibration);
    return status;
}

enum fulcrum_status fulcrum_plot_tornado(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_plot_rows *rows = NULL;
    struct fulcrum_plot_tornado *plot = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_plot_source_rows(&job->source, "rows", &rows, err));
    TRY_OR_END(fulcrum_plot_tornado_new(rows, &plot, err));
    struct fulcrum_tornado_data data = fulcrum_plot_tornado_data(plot, &job->words);
    status = fulcrum_plot_save(job, &fulcrum_chart_tornado, &data, err);
end:
    fulcrum_plot_tornado_free(plot);
    fulcrum_plot_rows_free(rows);
    return status;
}
