/* metric.c - panels of one estimate each, with band, optimum and a sentence. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/chart/metric.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* From this factor between values of the first series; others share its unit. */
static const double log_from_factor = 20.0;

bool fulcrum_estimate_is_known(const struct fulcrum_estimate *estimate, size_t count)
{
    for (size_t i = 0; estimate->value != NULL && i < count; i++) {
        if (isfinite(estimate->value[i])) {
            return 1;
        }
    }
    return 0;
}

bool fulcrum_estimate_has_interval(
    const struct fulcrum_estimate *estimate, size_t count)
{
    if (estimate->value == NULL || estimate->lo == NULL || estimate->hi == NULL) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (isfinite(estimate->value[i]) && isfinite(estimate->lo[i]) &&
            isfinite(estimate->hi[i])) {
            return 1;
        }
    }
    return 0;
}

/* A best value at an end of the chart is put into words, but gets no star. */
static void find_best(struct fulcrum_panel *panel, struct fulcrum_metric_panel *room,
    const struct fulcrum_metric *metric, const struct fulcrum_metric_axis *axis)
{
    struct fulcrum_best best =
        fulcrum_best_find(axis->x, room->series[0].y, axis->count, metric->goal);
    if (best.shape == FULCRUM_BEST_NONE) {
        return;
    }
    const char *subject = metric->subjects[room->series[0].style];
    char sentence[128];
    fulcrum_best_sentence(sentence, sizeof sentence, &best, axis->x_name, metric->unit);
    (void)snprintf(room->finding, sizeof room->finding, "%s%s%s",
        subject != NULL ? subject : "", subject != NULL ? ": " : "", sentence);
    panel->finding = room->finding;
    if (best.shape == FULCRUM_BEST_PEAK || best.shape == FULCRUM_BEST_PLATEAU) {
        room->best = (struct fulcrum_spot){best.x, best.y};
        fulcrum_si_text(
            room->best_text, sizeof room->best_text, best.y, 3, metric->unit);
        panel->best = &room->best;
        panel->best_text = room->best_text;
    }
}

/* Rooms are taken in the order of the panels that borrow from them. */
static void add_metric(struct fulcrum_stack *stack, struct fulcrum_metric_panel *room,
    const struct fulcrum_metric *metric, const struct fulcrum_metric_axis *axis)
{
    memset(room, 0, sizeof *room);
    for (size_t i = 0; i < FULCRUM_METRIC_SERIES_MAX; i++) {
        const struct fulcrum_estimate *estimate = &metric->estimates[i];
        if (!fulcrum_estimate_is_known(estimate, axis->count)) {
            continue;
        }
        room->series[room->style_count++] = fulcrum_series_estimated(
            axis->x, estimate, axis->count, i, FULCRUM_LOOK_LINE);
    }
    if (room->style_count == 0) {
        return;
    }
    struct fulcrum_panel panel = {.title = metric->title,
        .series = room->series,
        .series_count = room->style_count,
        .x_options = {.kind = axis->kind, .pad_frac = 0.03},
        .y_options = {.kind = FULCRUM_AXIS_AUTO,
            .pad_frac = 0.12,
            .from_zero = 1,
            .unit = metric->unit},
        .weight = 1.0};
    /* Runtimes fall like 1/x: on a linear axis all but the first would look alike. */
    if (metric->goal == FULCRUM_GOAL_LEAST &&
        fulcrum_values_span(room->series[0].y, axis->count, log_from_factor)) {
        panel.y_options.kind = FULCRUM_AXIS_LOG;
    }
    if (!metric->unjudged) {
        find_best(&panel, room, metric, axis);
    }
    fulcrum_stack_add(stack, &panel);
}

void fulcrum_metrics_fill(struct fulcrum_stack *stack,
    struct fulcrum_metric_panel *rooms, const struct fulcrum_metric *metrics,
    size_t count, const struct fulcrum_metric_axis *axis)
{
    for (size_t i = 0; i < count; i++) {
        add_metric(stack, &rooms[stack->count], &metrics[i], axis);
    }
}

void fulcrum_metrics_explain(
    struct fulcrum_page *page, const struct fulcrum_stack *stack, const char *what)
{
    for (size_t i = 0; i < stack->count; i++) {
        if (stack->panels[i].best != NULL) {
            fulcrum_page_explain(page, FULCRUM_SWATCH_STAR, 0, what);
            return;
        }
    }
}

void fulcrum_intervals_explain(struct fulcrum_page *page,
    const struct fulcrum_estimate *const *estimates, size_t count, const char *label)
{
    while (*estimates != NULL && !fulcrum_estimate_has_interval(*estimates, count)) {
        estimates++;
    }
    fulcrum_page_explain(
        page, FULCRUM_SWATCH_BAND, 0, *estimates != NULL ? label : NULL);
}
