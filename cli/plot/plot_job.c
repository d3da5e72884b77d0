/* plot_job.c - charts of calibrations, references, validations and fits. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/plot/plot_job.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

void fulcrum_plot_job_clear(struct fulcrum_plot_job *job)
{
    fulcrum_plot_rows_free(job->rows);
    fulcrum_plot_rows_free(job->more_rows);
    fulcrum_validation_clear(&job->validation);
    fulcrum_reference_free(job->reference);
    fulcrum_calibration_free(job->calibration);
    fulcrum_plot_room_clear(&job->room);
}

static enum fulcrum_status read_rows(
    struct fulcrum_plot_job *job, const char *key, struct fulcrum_error *err)
{
    return fulcrum_plot_source_rows(&job->source, key, &job->rows, err);
}

static enum fulcrum_status read_reference(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    return fulcrum_reference_load(job->source.name, &job->reference, err);
}

/* A reference is predicted here; what fulcrum wrote has its predictions. */
static enum fulcrum_status predict_reference(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    TRY(read_reference(job, err));
    return fulcrum_validate(job->reference, NULL, &job->validation, err);
}

enum fulcrum_status fulcrum_plot_gpu_time(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_gpu_time_data data;
    TRY(read_reference(job, err));
    TRY(fulcrum_plot_gpu_time_data(job->reference,
        job->machines != NULL ? job->machines : STANDARD_GPUS, &job->room, &data, err));
    return plot_save(job, &fulcrum_chart_gpu_time, &data, err);
}

enum fulcrum_status fulcrum_plot_components(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_gpu_time_data data;
    TRY(read_rows(job, "components", err));
    TRY(fulcrum_plot_components_data(job->rows, &job->room, &data, err));
    return plot_save(job, &fulcrum_chart_gpu_time, &data, err);
}

enum fulcrum_status fulcrum_plot_memory(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_lines_data data;
    TRY(read_rows(job, "factors", err));
    TRY(fulcrum_plot_memory_data(job->rows, &job->room, &data, err));
    return plot_save(job, &fulcrum_chart_memory, &data, err);
}

enum fulcrum_status fulcrum_plot_partition(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_partition_data data;
    TRY(read_rows(job, "parts", err));
    TRY(fulcrum_plot_partition_data(job->rows, &job->room, &data, err));
    return plot_save(job, &fulcrum_chart_partition, &data, err);
}

enum fulcrum_status fulcrum_plot_stages(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_stages_data data;
    if (job->source.content == FULCRUM_PLOT_REFERENCE) {
        TRY(read_reference(job, err));
        TRY(fulcrum_plot_stages_of_reference(job->reference, &job->room, &data, err));
    } else {
        TRY(read_rows(job, "stages", err));
        TRY(fulcrum_plot_stages_data(job->rows, &job->room, &data, err));
    }
    return plot_save(job, &fulcrum_chart_stages, &data, err);
}

enum fulcrum_status fulcrum_plot_parity(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_parity_data data;
    TRY(read_rows(job, "points", err));
    TRY(fulcrum_plot_validation_data(job->rows, &job->room, &data, err));
    return plot_save(job, &fulcrum_chart_parity, &data, err);
}

enum fulcrum_status fulcrum_plot_measured(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_measured_data data;
    if (job->source.content == FULCRUM_PLOT_REFERENCE) {
        TRY(predict_reference(job, err));
        TRY(fulcrum_plot_measured_of_reference(
            &job->validation, &job->room, &data, err));
    } else {
        TRY(read_rows(job, "points", err));
        TRY(fulcrum_plot_measured_data(job->rows, &job->room, &data, err));
    }
    return plot_save(job, &fulcrum_chart_measured, &data, err);
}

/* Faults of a cell name the file already. */
static enum fulcrum_status name_file(const struct fulcrum_plot_job *job,
    enum fulcrum_status status, struct fulcrum_error *err)
{
    const char *name = job->source.name;
    bool is_named =
        status != FULCRUM_OK && strncmp(err->detail, name, strlen(name)) == 0;
    return status == FULCRUM_OK || is_named ? status
                                            : fulcrum_fail_in(err, status, name);
}

static double machine_ratio(const struct fulcrum_machine *machine)
{
    if (machine->accelerator != FULCRUM_ACCELERATOR_GPU) {
        return (double)NAN;
    }
    return machine->cpu.thread_count / (machine->gpu.count * machine->gpu.sm_count);
}

/* Machines without a GPU have another ratio on their axis, and no landmarks. */
static enum fulcrum_status add_landmarks(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    struct fulcrum_plot_landmarks known;
    if (fulcrum_result_table_of(result, "landmarks") != NULL) {
        return FULCRUM_OK; /* a result that is drawn twice */
    }
    TRY(fulcrum_plot_landmarks_load(job->machines, &known, err));
    struct fulcrum_table *table = fulcrum_result_table(result, "landmarks", NULL);
    for (size_t i = 0; i < known.count; i++) {
        double ratio = machine_ratio(&known.machines[i]);
        if (ratio > 0.0) {
            fulcrum_table_row(table);
            fulcrum_table_text(table, "name", NULL, known.names[i]);
            fulcrum_table_number(table, "x", NULL, ratio);
        }
    }
    return fulcrum_result_check(result, err);
}

/* A chart of lines, from the columns of what was read. */
static enum fulcrum_status plot_lines(struct fulcrum_plot_job *job,
    const struct fulcrum_chart *chart, struct fulcrum_error *err)
{
    struct fulcrum_result *result = job->source.result;
    const struct fulcrum_line_chart_data data = {
        .text = {job->room.words.title, job->room.words.subtitle, NULL},
        .chart = chart,
        .result = result};
    enum fulcrum_status status = FULCRUM_OK;
    if (chart->lines->landmark_name != NULL) {
        status = add_landmarks(job, result, err);
    } else if (chart == &fulcrum_chart_runtime) {
        status = fulcrum_plot_published_add(
            result, &job->references, FULCRUM_PLOT_RUNTIME, err);
    } else if (chart == &fulcrum_chart_power) {
        status = fulcrum_plot_published_add(
            result, &job->references, FULCRUM_PLOT_POWER, err);
    } else if (chart == &fulcrum_chart_sm) {
        status =
            fulcrum_plot_published_add(result, &job->references, FULCRUM_PLOT_SM, err);
    }
    return status == FULCRUM_OK ? name_file(job, plot_save(job, chart, &data, err), err)
                                : status;
}

enum fulcrum_status fulcrum_plot_node(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    return plot_lines(job, &fulcrum_chart_node, err);
}

enum fulcrum_status fulcrum_plot_scaling(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_lines_data data;
    if (job->source.content == FULCRUM_PLOT_REFERENCE) {
        TRY(predict_reference(job, err));
        TRY(fulcrum_plot_scaling_of_reference(
            &job->validation, &job->room, &data, err));
    } else {
        TRY(read_rows(job, "rows", err));
        TRY(fulcrum_plot_scaling_data(job->rows, &job->room, &data, err));
    }
    return plot_save(job, &fulcrum_chart_scaling, &data, err);
}

enum fulcrum_status fulcrum_plot_posterior(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_posterior_data data;
    TRY(read_rows(job, "parameters", err));
    TRY(fulcrum_plot_source_rows(&job->source, "figures", &job->more_rows, err));
    TRY(fulcrum_plot_fit_data(job->rows, job->more_rows, &job->room, &data, err));
    /* Ctrl-C leaves the best values without all that was to be said of them. */
    const struct fulcrum_item *complete =
        fulcrum_result_find(job->source.result, "complete");
    bool was_interrupted = complete != NULL && complete->cell.number == 0.0;
    data.text.footnote =
        was_interrupted ? "The fit was interrupted: not all was computed." : NULL;
    return plot_save(job, &fulcrum_chart_posterior, &data, err);
}

enum fulcrum_status fulcrum_plot_calibration(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    TRY(fulcrum_calibration_load(job->source.name, &job->calibration, err));
    struct fulcrum_calibration_data data =
        fulcrum_plot_calibration_data(job->calibration, &job->room);
    return plot_save(job, &fulcrum_chart_calibration, &data, err);
}

enum fulcrum_status fulcrum_plot_sm_time(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_sm_time_data data;
    TRY(fulcrum_calibration_load(job->source.name, &job->calibration, err));
    TRY(fulcrum_plot_sm_time_data(job->calibration, &job->room, &data, err));
    return plot_save(job, &fulcrum_chart_sm_time, &data, err);
}

enum fulcrum_status fulcrum_plot_tornado(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_tornado_data data;
    TRY(read_rows(job, "rows", err));
    TRY(fulcrum_plot_tornado_data(job->rows, &job->room, &data, err));
    return plot_save(job, &fulcrum_chart_tornado, &data, err);
}

/* Charts of sweeps. */

enum fulcrum_status fulcrum_plot_ratio(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    return plot_lines(job, &fulcrum_chart_ratio, err);
}

enum fulcrum_status fulcrum_plot_heat(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_heat_data data;
    struct fulcrum_plot_heat_options options = job->heat;
    options.machines = job->machines;
    TRY(read_rows(job, "points", err));
    TRY(name_file(
        job, fulcrum_plot_heat_data(job->rows, &options, &job->room, &data, err), err));
    return plot_save(job, &fulcrum_chart_heat, &data, err);
}

/* The metrics are those that JSON of `explore --pareto` names; none in other files. */
enum fulcrum_status fulcrum_plot_front(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_pareto_data data;
    TRY(read_rows(job, "points", err));
    if (fulcrum_result_table_of(job->source.result, "pareto") != NULL) {
        TRY(fulcrum_plot_source_rows(&job->source, "pareto", &job->more_rows, err));
    }
    TRY(name_file(job,
        fulcrum_plot_pareto_data(job->rows,
            &(struct fulcrum_plot_pareto_options){job->pareto, job->more_rows},
            &job->room, &data, err),
        err));
    return plot_save(job, &fulcrum_chart_pareto, &data, err);
}

/* Files of one breakdown, the source of the job first, and what was read of them. */
struct fleet {
    struct fulcrum_plot_source *sources;
    struct fulcrum_plot_rows **rows;
    struct fulcrum_plot_breakdown_file *files;
    size_t count;
};

/* The first source is the job's own, which closes it. */
static void fleet_free(struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->count; i++) {
        fulcrum_plot_rows_free(fleet->rows[i]);
        if (i > 0) {
            fulcrum_plot_source_close(&fleet->sources[i]);
        }
    }
}

static enum fulcrum_status fleet_read(const struct fulcrum_plot_job *job,
    struct fleet *fleet, size_t i, struct fulcrum_error *err)
{
    struct fulcrum_plot_source *source = &fleet->sources[i];
    enum fulcrum_status status = FULCRUM_OK;
    if (i == 0) {
        *source = job->source;
    } else {
        status = fulcrum_plot_source_open(
            job->more.items[i - 1], FULCRUM_PLOT_SWEEP, source, err);
    }
    if (status != FULCRUM_OK) {
        return status;
    }
    FAIL_IF(source->content != FULCRUM_PLOT_SWEEP &&
                source->content != FULCRUM_PLOT_PREDICTION,
        err, FULCRUM_ERR_UNSUPPORTED, "%s holds %s: a breakdown is drawn from %s or %s",
        source->name, fulcrum_plot_content_words(source->content),
        fulcrum_plot_content_words(FULCRUM_PLOT_SWEEP),
        fulcrum_plot_content_words(FULCRUM_PLOT_PREDICTION));
    status = fulcrum_plot_source_rows(source, "points", &fleet->rows[i], err);
    fleet->files[i] =
        (struct fulcrum_plot_breakdown_file){source->name, fleet->rows[i]};
    return status;
}

enum fulcrum_status fulcrum_plot_breakdown(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    size_t count = job->more.count + 1;
    struct fleet fleet = {.count = count,
        .sources = fulcrum_plot_room_take(
            &job->room, count, sizeof(struct fulcrum_plot_source)),
        .rows = fulcrum_plot_room_take(
            &job->room, count, sizeof(struct fulcrum_plot_rows *)),
        .files = fulcrum_plot_room_take(
            &job->room, count, sizeof(struct fulcrum_plot_breakdown_file))};
    struct fulcrum_breakdown_data data;
    enum fulcrum_status status;
    for (size_t i = 0; i < count; i++) {
        TRY_OR_END(fleet_read(job, &fleet, i, err));
    }
    TRY_OR_END(fulcrum_plot_breakdown_data(
        &(struct fulcrum_plot_breakdown_files){fleet.files, count}, &job->breakdown,
        &job->room, &data, err));
    status = plot_save(job, &fulcrum_chart_breakdown, &data, err);
end:
    fleet_free(&fleet);
    return status;
}

enum fulcrum_status fulcrum_plot_actors(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    return plot_lines(job, &fulcrum_chart_actors, err);
}

enum fulcrum_status fulcrum_plot_runtime(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    return plot_lines(job, &fulcrum_chart_runtime, err);
}

enum fulcrum_status fulcrum_plot_power(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    return plot_lines(job, &fulcrum_chart_power, err);
}

enum fulcrum_status fulcrum_plot_sm(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    return plot_lines(job, &fulcrum_chart_sm, err);
}
