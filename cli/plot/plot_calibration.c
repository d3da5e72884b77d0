/* plot_calibration.c - chart data from a calibration's samples and fits. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit/fit_forms.h"
#include "cli/plot/plot_data.h"
#include "model/network/network.h"
#include "model/quantity.h"
#include "model/try.h"

/* Samples of one series on the page: more would only hide each other and swell the
 * file. */
enum { CURVE_POINTS = 64, SAMPLES_MOST = 240 };

/* Evenly thinned samples. */
struct thinned {
    size_t count;
    double x[SAMPLES_MOST];
    double y[SAMPLES_MOST];
    unsigned char disturbed[SAMPLES_MOST];
};

/* A curve with room for its points. */
struct sampled_curve {
    size_t count;
    double x[CURVE_POINTS];
    double y[CURVE_POINTS];
};

struct plot_calibration {
    const struct fulcrum_calibration *calibration;
    struct thinned throughput;
    struct thinned inference;
    struct thinned training;
    struct sampled_curve throughput_fit;
    struct sampled_curve training_fit;
    char title[300];
    char subtitle[400];
    char footnote[900];
};

/* The series of that name taken while nothing else ran; NULL where there is none. */
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
    return NULL;
}

static struct fulcrum_chart_samples thin(const struct fulcrum_calibration *calibration,
    const char *name, struct thinned *out)
{
    const struct fulcrum_series *series = find_series(calibration, name);
    if (series == NULL) {
        return (struct fulcrum_chart_samples){0};
    }
    out->count = series->count < SAMPLES_MOST ? series->count : SAMPLES_MOST;
    for (size_t k = 0; k < out->count; k++) {
        size_t i = k * series->count / out->count;
        out->x[k] = series->x[i];
        out->y[k] = series->value[i];
        out->disturbed[k] = series->disturbed[i] > 0.0;
    }
    return (struct fulcrum_chart_samples){
        .x = out->x, .y = out->y, .disturbed = out->disturbed, .count = out->count};
}

static double parameter_value(
    const struct fulcrum_calibration *calibration, const char *path, double fallback)
{
    const struct fulcrum_parameter *parameter =
        fulcrum_calibration_parameter(calibration, path);
    return parameter != NULL ? parameter->value : fallback;
}

/* The calibration's own c(n): its table, or the form that its parameters fill. */
static struct fulcrum_cpu_station cpu_station(
    const struct fulcrum_calibration *calibration)
{
    const struct fulcrum_cpu *cpu = &calibration->machine.cpu;
    bool has_table = calibration->capacity_count > 0;
    return (struct fulcrum_cpu_station){
        .curve = has_table ? FULCRUM_CURVE_TABLE : (enum fulcrum_cpu_curve)cpu->curve,
        .core_count = cpu->core_count,
        .thread_count = cpu->thread_count,
        .smt_yield_frac =
            parameter_value(calibration, "machine.cpu.smt_yield_frac", 0.0),
        .turbo_frac = parameter_value(calibration, "machine.cpu.turbo_frac", 0.0),
        .oversubscription_frac =
            parameter_value(calibration, "machine.cpu.oversubscription_frac", 0.0),
        .serial_frac =
            parameter_value(calibration, "machine.cpu.serial_frac", cpu->serial_frac),
        .knee = parameter_value(calibration, "machine.cpu.knee", cpu->knee),
        .cap_per_core =
            parameter_value(calibration, "machine.cpu.cap_per_core", cpu->cap_per_core),
        .cross_socket_frac = parameter_value(
            calibration, "machine.cpu.cross_socket_frac", cpu->cross_socket_frac),
        .capacity = calibration->capacity,
        .capacity_count = calibration->capacity_count,
    };
}

/* Steps/s = c(n) / t_1 over the thread counts that were measured. */
static void sample_throughput(struct plot_calibration *plot)
{
    const struct fulcrum_series *series = find_series(plot->calibration, "throughput");
    double step_s = parameter_value(plot->calibration, "workload.step.mean_s", 0.0);
    if (series == NULL || !(step_s > 0.0) ||
        !(plot->calibration->machine.cpu.core_count >= 1.0)) {
        return;
    }
    double last = 1.0;
    for (size_t i = 0; i < series->count; i++) {
        last = fmax(last, series->x[i]);
    }
    struct fulcrum_cpu_station cpu = cpu_station(plot->calibration);
    struct sampled_curve *curve = &plot->throughput_fit;
    double previous = 0.0;
    for (size_t i = 0; i < CURVE_POINTS; i++) {
        double n = round(1.0 + (last - 1.0) * (double)i / (CURVE_POINTS - 1));
        if (n > previous) {
            curve->x[curve->count] = n;
            curve->y[curve->count++] = fulcrum_cpu_capacity(&cpu, n) / step_s;
            previous = n;
        }
    }
}

/* The line of training time, through the quantities that the fit left behind. */
static void sample_training(struct plot_calibration *plot)
{
    const struct fulcrum_series *series = find_series(plot->calibration, "train_step");
    const struct fulcrum_quantity *fixed =
        fulcrum_calibration_quantity(plot->calibration, "train_step_fixed_s");
    const struct fulcrum_quantity *per_size =
        fulcrum_calibration_quantity(plot->calibration, "train_step_per_flop_s");
    if (series == NULL || series->count == 0 || fixed == NULL || per_size == NULL) {
        return;
    }
    double low = series->x[0];
    double high = series->x[0];
    for (size_t i = 1; i < series->count; i++) {
        low = fmin(low, series->x[i]);
        high = fmax(high, series->x[i]);
    }
    struct sampled_curve *curve = &plot->training_fit;
    curve->count = high > low ? 2 : 0;
    curve->x[0] = low;
    curve->x[1] = high;
    for (size_t i = 0; i < curve->count; i++) {
        curve->y[i] = fixed->value + per_size->value * curve->x[i];
    }
}

static const char *note_text(
    const struct fulcrum_calibration *calibration, const char *key)
{
    for (size_t i = 0; i < calibration->note_count; i++) {
        if (strcmp(calibration->notes[i].key, key) == 0) {
            return calibration->notes[i].text;
        }
    }
    return "";
}

static void fill_words(struct plot_calibration *plot)
{
    const struct fulcrum_calibration *calibration = plot->calibration;
    (void)snprintf(plot->title, sizeof plot->title, "%s",
        calibration->title[0] != '\0' ? calibration->title : calibration->name);
    (void)snprintf(plot->subtitle, sizeof plot->subtitle, "%.300s%s%s",
        note_text(calibration, "date"), calibration->complete ? "" : "; ",
        calibration->complete ? "" : "interrupted, incomplete");
    size_t used = 0;
    for (size_t i = 0; i < calibration->fit_count; i++) {
        const struct fulcrum_fit_report *fit = &calibration->fits[i];
        if (fit->warning[0] != '\0' && used < sizeof plot->footnote) {
            int length = snprintf(plot->footnote + used, sizeof plot->footnote - used,
                "%s%s: %s", used > 0 ? "; " : "", fit->name, fit->warning);
            used += length > 0 ? (size_t)length : 0;
        }
    }
}

static struct fulcrum_curve curve_of(const struct sampled_curve *curve)
{
    return (struct fulcrum_curve){curve->x, curve->y, curve->count};
}

struct fulcrum_calibration_data fulcrum_plot_calibration_data(
    const struct fulcrum_calibration *calibration, struct fulcrum_plot_room *room)
{
    struct plot_calibration *plot = fulcrum_plot_room_take(room, 1, sizeof *plot);
    plot->calibration = calibration;
    fill_words(plot);
    sample_throughput(plot);
    sample_training(plot);
    const struct fulcrum_series *single = find_series(calibration, "actor_step_single");
    const struct fulcrum_series *reset = find_series(calibration, "reset");
    return (struct fulcrum_calibration_data){
        .text = fulcrum_plot_text(
            &room->words, plot->title, plot->subtitle, plot->footnote),
        .throughput = thin(calibration, "throughput", &plot->throughput),
        .throughput_fit = curve_of(&plot->throughput_fit),
        .batch = thin(calibration, "inference", &plot->inference),
        .batch_table = {calibration->batch_size, calibration->batch_time_s,
            calibration->batch_count},
        .per_batch_s =
            parameter_value(calibration, "workload.network.per_batch_s", 0.0),
        .per_item_s = parameter_value(calibration, "workload.network.per_item_s", 0.0),
        .step_s = single != NULL ? single->value : NULL,
        .step_count = single != NULL ? single->count : 0,
        .reset_s = reset != NULL ? reset->value : NULL,
        .reset_count = reset != NULL ? reset->count : 0,
        .training = thin(calibration, "train_step", &plot->training),
        .training_fit = curve_of(&plot->training_fit),
        .training_x_label = "operations in a training step",
    };
}

/* A calibration's sweep over SMs. */

static double stored_parameter(
    const struct fulcrum_calibration *calibration, const char *path)
{
    return parameter_value(calibration, path, FULCRUM_UNKNOWN);
}

static double quantity(const struct fulcrum_calibration *calibration, const char *name)
{
    const struct fulcrum_quantity *found =
        fulcrum_calibration_quantity(calibration, name);
    return found != NULL ? found->value : FULCRUM_UNKNOWN;
}

/* What the sweep's fit left in the file, for times on all of `sm_count` SMs. */
static struct fulcrum_sm_fit stored_fit(
    const struct fulcrum_calibration *calibration, double sm_count)
{
    return (struct fulcrum_sm_fit){.sm_count = sm_count,
        .per_batch_s = quantity(calibration, "sm_per_batch_s"),
        .per_item_s = quantity(calibration, "sm_per_item_s"),
        .train_step_s = quantity(calibration, "sm_train_step_s"),
        .launch_bound_frac =
            stored_parameter(calibration, "workload.network.launch_bound_frac"),
        .math_frac = stored_parameter(calibration, "workload.network.math_frac"),
        .train_launch_bound_frac =
            stored_parameter(calibration, "workload.training.launch_bound_frac")};
}

/* A sample, or a point of its curve; what is not known is left out of the chart. */
static void add_sm_row(struct fulcrum_table *table, const struct fulcrum_series *series,
    double sm_count, double sample_s, double fit_s)
{
    bool trains = strcmp(series->name, "train_sm") == 0;
    char work[80];
    (void)snprintf(
        work, sizeof work, "%s%.64s", trains ? "training " : "", series->condition);
    fulcrum_table_row(table);
    fulcrum_table_text(table, "series", NULL, series->name);
    fulcrum_table_text(table, "work", NULL, work);
    fulcrum_table_number(table, "sm_count", NULL, sm_count);
    fulcrum_table_number(table, "sample_s", NULL, sample_s);
    fulcrum_table_number(table, "fit_s", NULL, fit_s);
}

/* Samples, and the curve as far as they go, SMs by a constant factor. */
static void add_sm_series(struct fulcrum_table *table,
    const struct fulcrum_series *series, const struct fulcrum_calibration *calibration)
{
    /* The batch of "batch 64"; 0: a training step. */
    double batch = 0.0;
    double low = INFINITY;
    double high = 0.0;
    for (size_t i = 0; i < series->count; i++) {
        low = fmin(low, series->x[i]);
        high = fmax(high, series->x[i]);
        add_sm_row(table, series, series->x[i], series->value[i], FULCRUM_UNKNOWN);
        fulcrum_table_text(
            table, "state", NULL, series->disturbed[i] > 0.0 ? "disturbed" : "");
    }
    if (strncmp(series->condition, "batch ", strlen("batch ")) == 0 &&
        strcmp(series->name, "inference_sm") == 0) {
        batch = strtod(series->condition + strlen("batch "), NULL);
    }
    struct fulcrum_sm_fit fit = stored_fit(calibration, high);
    for (size_t i = 0; i < CURVE_POINTS && high > low; i++) {
        double share = (double)i / (CURVE_POINTS - 1);
        struct fulcrum_sm_point point = {batch, low * pow(high / low, share), 0.0};
        add_sm_row(table, series, point.sm_count, FULCRUM_UNKNOWN,
            fulcrum_sm_fit_s(&fit, &point));
        fulcrum_table_text(table, "state", NULL, "");
    }
}

static void add_sm_words(
    struct fulcrum_result *out, const struct fulcrum_calibration *calibration)
{
    const char *gpu = calibration->machine.gpu.name;
    double math = stored_parameter(calibration, "workload.network.math_frac");
    fulcrum_result_print(out, "chart_title", NULL, "%s, on a part of its SMs",
        gpu[0] != '\0' ? gpu : calibration->title);
    fulcrum_result_text(out, "chart_subtitle", NULL, calibration->title);
    if (isfinite(math)) {
        fulcrum_result_note_print(out, "footnotes",
            "Curves: (5) and (6) of docs/model.md with a share of math of %.2g, "
            "launches %.2g of a batch and %.2g of a training step.",
            math, stored_parameter(calibration, "workload.network.launch_bound_frac"),
            stored_parameter(calibration, "workload.training.launch_bound_frac"));
    }
}

enum fulcrum_status fulcrum_plot_sm_time_add(
    const struct fulcrum_calibration *calibration, struct fulcrum_result *out,
    struct fulcrum_error *err)
{
    struct fulcrum_table *table = fulcrum_result_table(out, "samples", NULL);
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
    add_sm_words(out, calibration);
    return fulcrum_result_check(out, err);
}
