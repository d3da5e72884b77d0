/* plot_sm_time.c - chart data from a calibration's sweep over SMs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit_sm.h"
#include "cli/plot_data.h"

enum { CURVE_POINTS = 64 };

/* One kind of work and its curve. */
struct work {
    char name[64];
    unsigned char *disturbed; /* of the samples; owned */
    size_t curve_count;
    double x[CURVE_POINTS];
    double y[CURVE_POINTS];
};

struct fulcrum_plot_sm_time {
    struct work inference[FULCRUM_SM_WORKS_MAX];
    struct work training;
    struct fulcrum_sm_time_data data;
    struct fulcrum_sm_work works[FULCRUM_SM_WORKS_MAX];
    char title[300];
    char footnote[300];
};

static double parameter(const struct fulcrum_calibration *calibration, const char *path)
{
    const struct fulcrum_parameter *found =
        fulcrum_calibration_parameter(calibration, path);
    return found != NULL ? found->value : (double)NAN;
}

static double quantity(const struct fulcrum_calibration *calibration, const char *name)
{
    const struct fulcrum_quantity *found =
        fulcrum_calibration_quantity(calibration, name);
    return found != NULL ? found->value : (double)NAN;
}

/* What the sweep's fit left in the file, for times on all of `sm_count` SMs. */
static struct fulcrum_sm_fit fit_of(
    const struct fulcrum_calibration *calibration, double sm_count)
{
    return (struct fulcrum_sm_fit){.sm_count = sm_count,
        .per_batch_s = quantity(calibration, "sm_per_batch_s"),
        .per_item_s = quantity(calibration, "sm_per_item_s"),
        .train_step_s = quantity(calibration, "sm_train_step_s"),
        .launch_bound_frac =
            parameter(calibration, "workload.network.launch_bound_frac"),
        .math_frac = parameter(calibration, "workload.network.math_frac"),
        .train_launch_bound_frac =
            parameter(calibration, "workload.training.launch_bound_frac")};
}

/* SMs that follow each other by a constant factor, as far as samples go. */
static void fill_curve(struct work *work, const struct fulcrum_series *series,
    const struct fulcrum_calibration *calibration, double batch)
{
    double low = series->x[0];
    double high = series->x[0];
    for (size_t i = 1; i < series->count; i++) {
        low = fmin(low, series->x[i]);
        high = fmax(high, series->x[i]);
    }
    struct fulcrum_sm_fit fit = fit_of(calibration, high);
    for (size_t i = 0; i < CURVE_POINTS && high > low; i++) {
        double share = (double)i / (CURVE_POINTS - 1);
        struct fulcrum_sm_point point = {batch, low * pow(high / low, share), 0.0};
        double time_s = fulcrum_sm_fit_s(&fit, &point);
        if (isfinite(time_s)) {
            work->x[work->curve_count] = point.sm_count;
            work->y[work->curve_count++] = time_s;
        }
    }
}

static enum fulcrum_status fill_work(struct work *work, struct fulcrum_sm_work *out,
    const struct fulcrum_series *series, const struct fulcrum_calibration *calibration,
    double batch)
{
    work->disturbed = calloc(series->count + 1, 1);
    if (work->disturbed == NULL || series->count == 0) {
        return work->disturbed == NULL ? FULCRUM_ERR_NO_MEMORY : FULCRUM_OK;
    }
    for (size_t i = 0; i < series->count; i++) {
        work->disturbed[i] = series->disturbed[i] > 0.0;
    }
    (void)snprintf(work->name, sizeof work->name, "%s%s",
        batch > 0.0 ? "" : "training ", series->condition);
    fill_curve(work, series, calibration, batch);
    *out = (struct fulcrum_sm_work){work->name,
        {series->x, series->value, work->disturbed, series->count},
        {work->x, work->y, work->curve_count}};
    return FULCRUM_OK;
}

/* The batch of "batch 64"; 0: the condition is another one. */
static double batch_of(const struct fulcrum_series *series)
{
    static const char start[] = "batch ";
    return strncmp(series->condition, start, sizeof start - 1) == 0
               ? strtod(series->condition + sizeof start - 1, NULL)
               : 0.0;
}

static enum fulcrum_status take_series(struct fulcrum_plot_sm_time *plot,
    const struct fulcrum_calibration *calibration, const struct fulcrum_series *series)
{
    size_t *count = &plot->data.inference_count;
    if (strcmp(series->name, "train_sm") == 0 && plot->training.disturbed == NULL) {
        return fill_work(
            &plot->training, &plot->data.training, series, calibration, 0.0);
    }
    if (strcmp(series->name, "inference_sm") != 0 || *count == FULCRUM_SM_WORKS_MAX) {
        return FULCRUM_OK;
    }
    enum fulcrum_status status = fill_work(&plot->inference[*count],
        &plot->works[*count], series, calibration, batch_of(series));
    (*count)++;
    return status;
}

static void fill_words(struct fulcrum_plot_sm_time *plot,
    const struct fulcrum_calibration *calibration,
    const struct fulcrum_plot_words *words)
{
    double math = parameter(calibration, "workload.network.math_frac");
    (void)snprintf(plot->title, sizeof plot->title, "%s, on a part of its SMs",
        calibration->machine.gpu.name[0] != '\0' ? calibration->machine.gpu.name
                                                 : calibration->title);
    if (isfinite(math)) {
        (void)snprintf(plot->footnote, sizeof plot->footnote,
            "Curves: (5) and (6) of docs/model.md with a share of math of %.2g, "
            "launches %.2g of a batch and %.2g of a training step.",
            math, parameter(calibration, "workload.network.launch_bound_frac"),
            parameter(calibration, "workload.training.launch_bound_frac"));
    }
    plot->data.text = (struct fulcrum_chart_text){
        .title = words->title != NULL ? words->title : plot->title,
        .subtitle = words->subtitle != NULL ? words->subtitle : calibration->title,
        .footnote = plot->footnote[0] != '\0' ? plot->footnote : NULL};
}

enum fulcrum_status fulcrum_plot_sm_time_new(
    const struct fulcrum_calibration *calibration,
    const struct fulcrum_plot_words *words, struct fulcrum_plot_sm_time **out,
    struct fulcrum_error *err)
{
    struct fulcrum_plot_sm_time *plot = calloc(1, sizeof *plot);
    enum fulcrum_status status = plot != NULL ? FULCRUM_OK : FULCRUM_ERR_NO_MEMORY;
    for (size_t i = 0; i < calibration->series_count && status == FULCRUM_OK; i++) {
        status = take_series(plot, calibration, &calibration->series[i]);
    }
    if (status != FULCRUM_OK) {
        fulcrum_plot_sm_time_free(plot);
        return fulcrum_fail(err, status, "the chart of a sweep over SMs");
    }
    if (plot->data.inference_count == 0 && plot->training.disturbed == NULL) {
        fulcrum_plot_sm_time_free(plot);
        return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
            "calibration %s: no series inference_sm or train_sm: expected one of a GPU "
            "that can be divided (fulcrum calibrate --learner cuda)",
            calibration->name);
    }
    plot->data.inference = plot->works;
    fill_words(plot, calibration, words);
    *out = plot;
    return FULCRUM_OK;
}

void fulcrum_plot_sm_time_free(struct fulcrum_plot_sm_time *plot)
{
    if (plot == NULL) {
        return;
    }
    for (size_t i = 0; i < FULCRUM_SM_WORKS_MAX; i++) {
        free(plot->inference[i].disturbed);
    }
    free(plot->training.disturbed);
    free(plot);
}

const struct fulcrum_sm_time_data *fulcrum_plot_sm_time_data(
    const struct fulcrum_plot_sm_time *plot)
{
    return &plot->data;
}
