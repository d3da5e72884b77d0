/* plot_calibration.c - charts of a calibration's samples and fits. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit/fit_forms.h"
#include "cli/message.h"
#include "cli/plot/plot_job.h"
#include "model/number.h"
#include "model/predict/to_network.h"
#include "model/try.h"

enum {
    CURVE_POINTS = 64,
    SAMPLES_MOST = 240, /* of a series on the page: more would hide each other */
    QUANTILES = 257
};

/* The series of that name taken while nothing else ran; an empty one: there is none. */
static const struct fulcrum_series *find_series(
    const struct fulcrum_calibration *calibration, const char *name)
{
    for (size_t i = 0; i < calibration->series_count; i++) {
        const struct fulcrum_series *series = &calibration->series[i];
        if (strcmp(series->name, name) == 0 &&
            strcmp(series->condition, "alone") == 0) {
            return series;
        }
    }
    static const struct fulcrum_series none = {.count = 0};
    return &none;
}

/* A parameter, or what a fit left behind; NAN: there is none. */
static double stored(const struct fulcrum_calibration *calibration, const char *name)
{
    const struct fulcrum_quantity *quantity =
        fulcrum_calibration_quantity(calibration, name);
    const struct fulcrum_parameter *parameter =
        fulcrum_calibration_parameter(calibration, name);
    double value = parameter != NULL ? parameter->value : FULCRUM_UNKNOWN;
    return quantity != NULL ? quantity->value : value;
}

static struct fulcrum_limits x_span(const struct fulcrum_series *series)
{
    struct fulcrum_limits span = fulcrum_limits_none();
    fulcrum_limits_add_all(&span, series->x, series->count);
    return span;
}

/* What one cell shows: samples, and what was fitted to them. */
struct part {
    struct fulcrum_table *table; /* "samples" */
    const char *name;
    const char *sample; /* columns of values */
    const char *fit;
    const char *line; /* that its rows are of; NULL: there is but one */
    double fixed;     /* of a line; both 0: there is none */
    double slope;
    double exponent;
    const struct fulcrum_cpu_station *cpu; /* in place of the line; or NULL */
    double step_s;
    const struct fulcrum_sm_fit *sm; /* likewise */
    double batch;
};

/* NAN where nothing was fitted. */
static double fit_at(const struct part *part, double x)
{
    if (part->sm != NULL) {
        const struct fulcrum_sm_point point = {part->batch, x, 0.0};
        return fulcrum_sm_fit_s(part->sm, &point);
    }
    if (part->cpu != NULL) {
        return fulcrum_cpu_capacity(part->cpu, x) / part->step_s;
    }
    return part->fixed + part->slope > 0.0
               ? part->fixed + part->slope * pow(x, part->exponent)
               : FULCRUM_UNKNOWN;
}

/* A row of the chart with one value; what else a row could have is not known. */
static void add_value(const struct part *part, double x, const char *key, double value)
{
    fulcrum_table_row(part->table);
    fulcrum_table_text(part->table, "part", NULL, part->name);
    fulcrum_table_text(part->table, "line", NULL, part->line);
    fulcrum_table_number(part->table, "x", NULL, x);
    fulcrum_table_number(part->table, key, NULL, value);
}

/* In percent of the fit. */
static void add_deviation(
    const struct part *part, double x, const char *key, double value)
{
    double expected = fit_at(part, x);
    fulcrum_table_number(part->table, key, NULL,
        expected > 0.0 ? (value / expected - 1.0) * 100.0 : expected);
}

/* Evenly thinned samples. */
static void add_samples(const struct part *part, const struct fulcrum_series *series)
{
    size_t count = series->count;
    for (size_t k = 0; k < count && k < SAMPLES_MOST; k++) {
        size_t i = count > SAMPLES_MOST ? k * count / SAMPLES_MOST : k;
        add_value(part, series->x[i], part->sample, series->value[i]);
        add_deviation(part, series->x[i], "deviation", series->value[i]);
        fulcrum_table_text(
            part->table, "state", NULL, series->disturbed[i] > 0.0 ? "disturbed" : "");
    }
}

/* Sizes that follow each other by a constant factor, its ends exactly; threads are
 * whole numbers from 1 on. */
static void add_fit(const struct part *part, struct fulcrum_limits span)
{
    double previous = 0.0;
    for (size_t i = 0; i < CURVE_POINTS && span.lo > 0.0 && span.lo <= span.hi; i++) {
        double share = (double)i / (CURVE_POINTS - 1);
        double x = part->cpu != NULL ? round(1.0 + (span.hi - 1.0) * share)
                                     : span.lo * pow(span.hi / span.lo, share);
        x = i == CURVE_POINTS - 1 ? span.hi : x;
        if (x > previous && isfinite(fit_at(part, x))) {
            add_value(part, x, part->fit, fit_at(part, x));
        }
        previous = x;
    }
}

/* A cumulative share needs no bins, which would hide or invent detail. */
static void add_cumulative(
    struct fulcrum_table *table, const struct fulcrum_series *series, const char *key)
{
    const struct part steps = {.table = table, .name = "steps"};
    double *sorted = fulcrum_allocate(series->count + 1, sizeof *sorted);
    size_t kept = 0;
    for (size_t i = 0; i < series->count; i++) {
        if (isfinite(series->value[i])) {
            sorted[kept++] = series->value[i];
        }
    }
    qsort(sorted, kept, sizeof *sorted, fulcrum_compare_numbers);
    for (size_t i = 0; i < QUANTILES && kept > 0; i++) {
        double share = (double)i / (QUANTILES - 1);
        add_value(
            &steps, sorted[(size_t)lround(share * (double)(kept - 1))], key, share);
    }
    free(sorted);
}

enum fulcrum_status fulcrum_plot_calibration_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    const struct fulcrum_calibration *calibration = job->source.calibration;
    struct fulcrum_table *table = fulcrum_result_table(result, "samples", NULL);
    const char *date = fulcrum_calibration_note(calibration, "date");
    const struct fulcrum_series *throughput = find_series(calibration, "throughput");
    const struct fulcrum_series *inference = find_series(calibration, "inference");
    const struct fulcrum_series *training = find_series(calibration, "train_step");
    double exponent = stored(calibration, "workload.agent.item_exponent");
    struct part part = {
        .table = table, .sample = "sample", .fit = "fit", .exponent = 1.0};
    struct fulcrum_cpu_station cpu;
    /* How the CPU scales: c(n) / t_1 over the threads that were measured. */
    part.name = "actors";
    part.step_s = stored(calibration, "workload.step.mean_s");
    if (part.step_s > 0.0 && calibration->machine.cpu.core_count >= 1.0) {
        /* The calibration's own c(n) of a whole machine: its table, or the form that
         * its parameters fill. */
        struct fulcrum_design design;
        double reserved = 0.0;
        fulcrum_design_init(&design);
        design.machine = calibration->machine;
        for (size_t i = 0; i < calibration->parameter_count; i++) {
            const struct fulcrum_parameter *parameter = &calibration->parameters[i];
            TRY(fulcrum_field_set_number(
                fulcrum_field_find(parameter->path), &design, parameter->value, err));
        }
        cpu = fulcrum_shard_station(&design, 1.0, &reserved);
        cpu.reserved_threads = 0.0;
        if (calibration->capacity_count > 0) {
            cpu.curve = FULCRUM_CURVE_TABLE;
            cpu.capacity = calibration->capacity;
            cpu.capacity_count = calibration->capacity_count;
        }
        part.cpu = &cpu;
        add_fit(&part, x_span(throughput));
    }
    add_samples(&part, throughput);
    part.name = "inference";
    part.cpu = NULL;
    part.fixed = fmax(0.0, stored(calibration, "workload.network.per_batch_s"));
    part.slope = fmax(0.0, stored(calibration, "workload.network.per_item_s"));
    part.exponent = isnan(exponent) ? 1.0 : exponent;
    struct fulcrum_limits span = x_span(inference);
    fulcrum_limits_add_all(
        &span, calibration->batch_time.size, calibration->batch_time.count);
    add_fit(&part, span);
    for (size_t i = 0; i < calibration->batch_time.count; i++) {
        double size = calibration->batch_time.size[i];
        add_value(&part, size, "table", calibration->batch_time.time_s[i]);
        add_deviation(
            &part, size, "table_deviation", calibration->batch_time.time_s[i]);
    }
    add_samples(&part, inference);
    add_cumulative(table, find_series(calibration, "actor_step_single"), "steps");
    add_cumulative(table, find_series(calibration, "reset"), "resets");
    /* The line of training time, through the quantities that the fit left behind. */
    part.name = "training";
    part.exponent = 1.0;
    part.fixed = stored(calibration, "train_step_fixed_s");
    part.slope = stored(calibration, "train_step_per_flop_s");
    add_fit(&part, x_span(training));
    add_samples(&part, training);
    fulcrum_result_text(result, "chart_title", NULL,
        calibration->title[0] != '\0' ? calibration->title : calibration->name);
    fulcrum_result_print(result, "chart_subtitle", NULL, "%s%s",
        date != NULL ? date : "",
        calibration->complete ? "" : "; interrupted, incomplete");
    for (size_t i = 0; i < calibration->fit_count; i++) {
        const struct fulcrum_fit_report *fit = &calibration->fits[i];
        if (fit->warning[0] != '\0') {
            fulcrum_result_note_print(
                result, "footnotes", "%s: %s", fit->name, fit->warning);
        }
    }
    return FULCRUM_OK;
}

/* A calibration's sweep over SMs: samples, and the curve as far as they go: what the
 * sweep's fit left in the file, for times on all of them. */
static void add_sm_series(struct fulcrum_table *table,
    const struct fulcrum_series *series, const struct fulcrum_calibration *calibration)
{
    static const char batch[] = "batch ";
    struct fulcrum_limits span = x_span(series);
    const struct fulcrum_sm_fit fit = {.sm_count = span.hi,
        .per_batch_s = stored(calibration, "sm_per_batch_s"),
        .per_item_s = stored(calibration, "sm_per_item_s"),
        .train_step_s = stored(calibration, "sm_train_step_s"),
        .launch_bound_frac = stored(calibration, "workload.network.launch_bound_frac"),
        .math_frac = stored(calibration, "workload.network.math_frac"),
        .train_launch_bound_frac =
            stored(calibration, "workload.training.launch_bound_frac")};
    char line[80];
    struct part part = {.table = table,
        .name = series->name,
        .sample = "sample_s",
        .fit = "fit_s",
        .line = line,
        .sm = &fit};
    bool trains = strcmp(series->name, "train_sm") == 0;
    (void)snprintf(
        line, sizeof line, "%s%s", trains ? "training " : "", series->condition);
    /* The batch of "batch 64"; 0: a training step. */
    if (!trains && strncmp(series->condition, batch, strlen(batch)) == 0) {
        part.batch = strtod(series->condition + strlen(batch), NULL);
    }
    add_samples(&part, series);
    if (span.hi > span.lo) {
        add_fit(&part, span);
    }
}

enum fulcrum_status fulcrum_plot_sm_time_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    const struct fulcrum_calibration *calibration = job->source.calibration;
    const char *gpu = calibration->machine.gpu.name;
    double math = stored(calibration, "workload.network.math_frac");
    struct fulcrum_table *table = fulcrum_result_table(result, "samples", NULL);
    bool has_training = false;
    for (size_t i = 0; i < calibration->series_count; i++) {
        const struct fulcrum_series *series = &calibration->series[i];
        bool trains = strcmp(series->name, "train_sm") == 0 && !has_training;
        if (trains || strcmp(series->name, "inference_sm") == 0) {
            add_sm_series(table, series, calibration);
        }
        has_training = has_training || trains;
    }
    FAIL_IF(fulcrum_table_rows(table) == 0, err, FULCRUM_ERR_UNSUPPORTED,
        "calibration %s: no series inference_sm or train_sm: expected one of a GPU "
        "that can be divided (fulcrum calibrate --learner cuda)",
        calibration->name);
    fulcrum_result_print(result, "chart_title", NULL, "%s, on a part of its SMs",
        gpu[0] != '\0' ? gpu : calibration->title);
    fulcrum_result_text(result, "chart_subtitle", NULL, calibration->title);
    if (isfinite(math)) {
        fulcrum_result_note_print(result, "footnotes",
            "Curves: (5) and (6) of docs/model.md with a share of math of %.2g, "
            "launches %.2g of a batch and %.2g of a training step.",
            math, stored(calibration, "workload.network.launch_bound_frac"),
            stored(calibration, "workload.training.launch_bound_frac"));
    }
    return FULCRUM_OK;
}
