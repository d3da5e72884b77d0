/* plot_job_sweep.c - charts of sweeps. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot_heat.h"
#include "cli/plot_job.h"
#include "cli/plot_landmarks.h"
#include "model/try.h"

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

static enum fulcrum_status find_landmarks(
    const char *list, struct landmarks *out, struct fulcrum_error *err)
{
    TRY(fulcrum_plot_landmarks_load(list, &out->known, err));
    for (size_t i = 0; i < out->known.count; i++) {
        double ratio = machine_ratio(&out->known.machines[i]);
        if (ratio > 0.0) {
            out->machines[out->count++] =
                (struct fulcrum_ratio_machine){out->known.names[i], ratio};
        }
    }
    return FULCRUM_OK;
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
    int is_named =
        status != FULCRUM_OK && strncmp(err->detail, name, strlen(name)) == 0;
    return status == FULCRUM_OK || is_named ? status
                                            : fulcrum_fail_in(err, status, name);
}

static enum fulcrum_status read_sweep(const struct fulcrum_plot_job *job, const char *x,
    struct reading *out, struct fulcrum_error *err)
{
    return name_file(job, fulcrum_plot_sweep_new(out->rows, x, &out->sweep, err), err);
}

static int has_numbers(const struct fulcrum_plot_rows *rows, const char *column)
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
    int has_gpu = !has_numbers(reading->rows, "actor_threads_per_learner_core") ||
                  has_numbers(reading->rows, "cpu_gpu_ratio_used");
    TRY(read_sweep(job,
        has_gpu ? "cpu_gpu_ratio_used" : "actor_threads_per_learner_core", reading,
        err));
    if (has_gpu) {
        TRY(find_landmarks(job->machines, &landmarks, err));
    }
    struct fulcrum_ratio_data data = fulcrum_plot_ratio_data(
        reading->sweep, &job->words, landmarks.machines, landmarks.count);
    return fulcrum_plot_save(job, &fulcrum_chart_ratio, &data, err);
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
    status = fulcrum_plot_save(job, &fulcrum_chart_heat, &data, err);
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
    status = fulcrum_plot_save(job, &fulcrum_chart_pareto, &data, err);
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
    if (source->content != FULCRUM_PLOT_SWEEP &&
        source->content != FULCRUM_PLOT_PREDICTION) {
        return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
            "%s holds %s: a breakdown is drawn from %s or %s", source->name,
            fulcrum_plot_content_words(source->content),
            fulcrum_plot_content_words(FULCRUM_PLOT_SWEEP),
            fulcrum_plot_content_words(FULCRUM_PLOT_PREDICTION));
    }
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
    status = fulcrum_plot_save(job, &fulcrum_chart_breakdown, &data, err);
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
    status = fulcrum_plot_save(job, &fulcrum_chart_actors, &data, err);
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
    status = fulcrum_plot_save(job, charts[kind], &data, err);
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
