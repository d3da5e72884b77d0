/* plot_job.c - charts of calibrations, references, validations and fits. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/plot/plot_job.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/plot_breakdown.h"
#include "cli/plot/plot_data.h"
#include "cli/plot/plot_headline.h"
#include "cli/plot/plot_heat.h"
#include "cli/plot/plot_pareto.h"
#include "cli/plot/plot_source.h"
#include "model/try.h"
#include "plots/chart/canvas.h"
#include "presets/io/output.h"
#include "presets/kind/preset.h"
#include "presets/kind/reference_file.h"

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
    status = plot_save(job, &fulcrum_chart_gpu_time, &data, err);
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
    status = plot_save(job, &fulcrum_chart_gpu_time, &data, err);
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
    status = plot_save(job, &fulcrum_chart_memory, &data, err);
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
    status = plot_save(job, &fulcrum_chart_partition, &data, err);
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
        status = plot_save(job, &fulcrum_chart_stages, &data, err);
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
    status = plot_save(job, &fulcrum_chart_parity, &data, err);
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
        status = plot_save(job, &fulcrum_chart_measured, &data, err);
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
    status = plot_save(job, &fulcrum_chart_node, &data, err);
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
        status = plot_save(job, &fulcrum_chart_scaling, &data, err);
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
    /* Ctrl-C leaves the best values without all that was to be said of them. */
    struct fulcrum_reader unheard = {.file = job->source.name};
    struct fulcrum_node root = fulcrum_node_root(&unheard, job->source.document);
    struct fulcrum_node complete = fulcrum_node_member(&root, "complete");
    bool is_complete = 1;
    bool was_interrupted = complete.json != NULL &&
                           fulcrum_node_flag(&complete, &is_complete) && !is_complete;
    data.text.footnote =
        was_interrupted ? "The fit was interrupted: not all was computed." : NULL;
    status = plot_save(job, &fulcrum_chart_posterior, &data, err);
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
    status = plot_save(job, &fulcrum_chart_calibration, &data, err);
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
    status =
        plot_save(job, &fulcrum_chart_sm_time, fulcrum_plot_sm_time_data(plot), err);
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
    status = plot_save(job, &fulcrum_chart_tornado, &data, err);
end:
    fulcrum_plot_tornado_free(plot);
    fulcrum_plot_rows_free(rows);
    return status;
}

/* Charts of sweeps. */

/* Known machines on a ratio chart. */
struct landmarks {
    struct fulcrum_plot_landmarks known;
    struct fulcrum_ratio_machine machines[FULCRUM_RATIO_MACHINES_MAX];
    size_t count;
};

static double machine_ratio(const struct fulcrum_machine *machine)
{
    if (machine->accelerator != FULCRUM_ACCELERATOR_GPU) {
        return (double)NAN;
    }
    return machine->cpu.thread_count / (machine->gpu.count * machine->gpu.sm_count);
}

/* The rows of a sweep, and what was made of them. */
struct reading {
    struct fulcrum_plot_rows *rows;
    struct fulcrum_plot_sweep *sweep;
};

static void reading_clear(struct reading *reading)
{
    fulcrum_plot_sweep_free(reading->sweep);
    fulcrum_plot_rows_free(reading->rows);
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

static enum fulcrum_status read_sweep(const struct fulcrum_plot_job *job, const char *x,
    struct reading *out, struct fulcrum_error *err)
{
    return name_file(job, fulcrum_plot_sweep_new(out->rows, x, &out->sweep, err), err);
}

static bool has_numbers(const struct fulcrum_plot_rows *rows, const char *column)
{
    for (size_t row = 0; row < fulcrum_plot_rows_count(rows); row++) {
        double value = (double)NAN;
        if (fulcrum_plot_rows_number(rows, row, column, &value, NULL) != FULCRUM_OK ||
            !isnan(value)) {
            return 1;
        }
    }
    return 0;
}

/* A machine without a GPU has another ratio on its axis, and no landmarks. */
static enum fulcrum_status draw_ratio(
    struct fulcrum_plot_job *job, struct reading *reading, struct fulcrum_error *err)
{
    struct landmarks landmarks = {.count = 0};
    bool has_gpu = !has_numbers(reading->rows, "actor_threads_per_learner_core") ||
                   has_numbers(reading->rows, "cpu_gpu_ratio_used");
    TRY(read_sweep(job,
        has_gpu ? "cpu_gpu_ratio_used" : "actor_threads_per_learner_core", reading,
        err));
    if (has_gpu) {
        const char *list = job->machines;
        TRY(fulcrum_plot_landmarks_load(list, &landmarks.known, err));
        for (size_t i = 0; i < landmarks.known.count; i++) {
            double ratio = machine_ratio(&landmarks.known.machines[i]);
            if (ratio > 0.0) {
                landmarks.machines[landmarks.count++] =
                    (struct fulcrum_ratio_machine){landmarks.known.names[i], ratio};
            }
        }
    }
    struct fulcrum_ratio_data data = fulcrum_plot_ratio_data(
        reading->sweep, &job->words, landmarks.machines, landmarks.count);
    return plot_save(job, &fulcrum_chart_ratio, &data, err);
}

enum fulcrum_status fulcrum_plot_ratio(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct reading reading = {.rows = NULL};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_plot_source_rows(&job->source, "points", &reading.rows, err));
    status = draw_ratio(job, &reading, err);
end:
    reading_clear(&reading);
    return status;
}

enum fulcrum_status fulcrum_plot_heat(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_plot_rows *rows = NULL;
    struct fulcrum_plot_heat *plot = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_plot_source_rows(&job->source, "points", &rows, err));
    struct fulcrum_plot_heat_options options = job->heat;
    options.machines = job->machines;
    TRY_OR_END(name_file(job, fulcrum_plot_heat_new(rows, &options, &plot, err), err));
    struct fulcrum_heat_data data = fulcrum_plot_heat_data(plot, &job->words);
    status = plot_save(job, &fulcrum_chart_heat, &data, err);
end:
    fulcrum_plot_heat_free(plot);
    fulcrum_plot_rows_free(rows);
    return status;
}

/* The metrics that JSON of `explore --pareto` names; none in other files. */
static enum fulcrum_status read_metrics(struct fulcrum_plot_job *job,
    struct fulcrum_plot_rows **out, struct fulcrum_error *err)
{
    return fulcrum_plot_source_has(&job->source, "pareto")
               ? fulcrum_plot_source_rows(&job->source, "pareto", out, err)
               : FULCRUM_OK;
}

enum fulcrum_status fulcrum_plot_front(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct fulcrum_plot_rows *rows = NULL;
    struct fulcrum_plot_rows *said = NULL;
    struct fulcrum_plot_pareto *plot = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_plot_source_rows(&job->source, "points", &rows, err));
    TRY_OR_END(read_metrics(job, &said, err));
    TRY_OR_END(name_file(
        job, fulcrum_plot_pareto_new(rows, job->pareto, said, &plot, err), err));
    struct fulcrum_pareto_data data = fulcrum_plot_pareto_data(plot, &job->words);
    status = plot_save(job, &fulcrum_chart_pareto, &data, err);
end:
    fulcrum_plot_pareto_free(plot);
    fulcrum_plot_rows_free(said);
    fulcrum_plot_rows_free(rows);
    return status;
}

/* Files of one breakdown, the source of the job first, and what was read of them. */
struct fleet {
    struct fulcrum_plot_source *sources;
    struct fulcrum_plot_rows **rows;
    struct fulcrum_plot_breakdown_file *files;
    size_t count;
};

static enum fulcrum_status fleet_new(
    const struct fulcrum_plot_job *job, struct fleet *out, struct fulcrum_error *err)
{
    size_t count = job->more.count + 1;
    *out = (struct fleet){.sources = calloc(count, sizeof *out->sources),
        .rows = calloc(count, sizeof(struct fulcrum_plot_rows *)),
        .files = calloc(count, sizeof *out->files),
        .count = count};
    return out->sources != NULL && out->rows != NULL && out->files != NULL
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%zu files", count);
}

/* The first source is the job's own, which closes it. */
static void fleet_free(struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->count; i++) {
        if (fleet->rows != NULL) {
            fulcrum_plot_rows_free(fleet->rows[i]);
        }
        if (i > 0 && fleet->sources != NULL) {
            fulcrum_plot_source_close(&fleet->sources[i]);
        }
    }
    free(fleet->sources);
    free(fleet->rows);
    free(fleet->files);
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
    struct fleet fleet;
    struct fulcrum_plot_breakdown *plot = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fleet_new(job, &fleet, err));
    for (size_t i = 0; i < fleet.count; i++) {
        TRY_OR_END(fleet_read(job, &fleet, i, err));
    }
    TRY_OR_END(fulcrum_plot_breakdown_new(
        fleet.files, fleet.count, &job->breakdown, &plot, err));
    struct fulcrum_breakdown_data data = fulcrum_plot_breakdown_data(plot, &job->words);
    status = plot_save(job, &fulcrum_chart_breakdown, &data, err);
end:
    fulcrum_plot_breakdown_free(plot);
    fleet_free(&fleet);
    return status;
}

enum fulcrum_status fulcrum_plot_actors(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    struct reading reading = {.rows = NULL};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_plot_source_rows(&job->source, "points", &reading.rows, err));
    TRY_OR_END(read_sweep(job, "actor_count", &reading, err));
    struct fulcrum_actors_data data =
        fulcrum_plot_actors_data(reading.sweep, &job->words);
    status = plot_save(job, &fulcrum_chart_actors, &data, err);
end:
    reading_clear(&reading);
    return status;
}

/* Published points last, as their notes go to the footnote of the sweep. */
static enum fulcrum_status draw_curves(const struct fulcrum_plot_job *job,
    struct fulcrum_plot_sweep *sweep, enum fulcrum_plot_curves kind,
    struct fulcrum_error *err)
{
    static const struct fulcrum_chart *const charts[] = {
        [FULCRUM_PLOT_RUNTIME] = &fulcrum_chart_runtime,
        [FULCRUM_PLOT_POWER] = &fulcrum_chart_power,
        [FULCRUM_PLOT_SM] = &fulcrum_chart_sm};
    struct fulcrum_plot_published *published = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(
        fulcrum_plot_published_new(&job->references, sweep, kind, &published, err));
    struct fulcrum_curves_data data =
        fulcrum_plot_curves_data(sweep, &job->words, kind);
    data.published = fulcrum_plot_published_sets(published, &data.published_count);
    status = plot_save(job, charts[kind], &data, err);
end:
    fulcrum_plot_published_free(published);
    return status;
}

static enum fulcrum_status plot_curves(struct fulcrum_plot_job *job,
    enum fulcrum_plot_curves kind, const char *x, struct fulcrum_error *err)
{
    struct reading reading = {.rows = NULL};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_plot_source_rows(&job->source, "points", &reading.rows, err));
    TRY_OR_END(read_sweep(job, x, &reading, err));
    if (kind != FULCRUM_PLOT_POWER) {
        TRY_OR_END(fulcrum_plot_sweep_add_ratios(reading.sweep, err));
    }
    status = draw_curves(job, reading.sweep, kind, err);
end:
    reading_clear(&reading);
    return status;
}

enum fulcrum_status fulcrum_plot_runtime(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    return plot_curves(job, FULCRUM_PLOT_RUNTIME, "actor_count", err);
}

enum fulcrum_status fulcrum_plot_power(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    return plot_curves(job, FULCRUM_PLOT_POWER, "actor_count", err);
}

enum fulcrum_status fulcrum_plot_sm(
    struct fulcrum_plot_job *job, struct fulcrum_error *err)
{
    return plot_curves(job, FULCRUM_PLOT_SM, "run.sm_count", err);
}
