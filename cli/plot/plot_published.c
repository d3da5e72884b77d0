/* plot_published.c - points of references, as they go over a sweep. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Published ratios refer to one of their own points. Where the sweep's ratios refer to
 * the same, they go over as they are; where not, they are restated relative to it, or
 * chained: on what another of the references says of their own point, or else on what
 * the sweep predicts there. The legend says which. Points that differ from the sweep,
 * or from the point they refer to, in more than x do not belong on the chart.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/reference/comparison.h"
#include "cli/plot/plot_job.h"
#include "model/number.h"
#include "model/try.h"
#include "presets/load/preset.h"
#include "presets/load/reference_file.h"

enum { PANELS = 2, REFERENCES_MAX = 4 };

/* References on their way over a sweep. */
struct publication {
    struct fulcrum_result *result;           /* of the sweep; borrowed, as is */
    struct fulcrum_table *points;            /* its rows */
    const char *x;                           /* the column that the chart goes over */
    const char *path;                        /* the setting that it is in references */
    double relative_x;                       /* that its ratios refer to */
    struct fulcrum_calibration *calibration; /* behind the sweep; owned, may be NULL */
    const struct fulcrum_chart *chart;
    size_t reference_count;
    struct fulcrum_reference *references[REFERENCES_MAX];
};

static const struct fulcrum_cell unknown = {
    FULCRUM_UNKNOWN, FULCRUM_UNKNOWN, FULCRUM_UNKNOWN, NULL};

static double inverse(double value)
{
    return value > 0.0 ? 1.0 / value : FULCRUM_UNKNOWN;
}

/* 1 / value, with its interval the other way round. */
static struct fulcrum_cell inverted(struct fulcrum_cell cell)
{
    return (struct fulcrum_cell){
        inverse(cell.number), inverse(cell.hi), inverse(cell.lo), NULL};
}

/* What is known of the row with the least x, or the most; NAN: of none. */
static double base_of_sweep(const struct publication *plot, const char *key, bool most)
{
    double best = most ? -INFINITY : INFINITY;
    double base = FULCRUM_UNKNOWN;
    for (size_t i = 0; i < fulcrum_table_rows(plot->points); i++) {
        double here = fulcrum_plot_number(plot->points, i, plot->x);
        double value = fulcrum_plot_number(plot->points, i, key);
        if (isfinite(value) && (most ? here > best : here < best)) {
            best = here;
            base = value;
        }
    }
    return base;
}

/* Of a row without one: from its relative runtime, else from its rate or runtime beside
 * the base. */
static struct fulcrum_cell speedup_made(
    const struct fulcrum_table *points, size_t row, const char *column, double base)
{
    struct fulcrum_cell rel = fulcrum_table_at(points, row, "runtime_rel");
    double here = fulcrum_plot_number(points, row, column);
    bool is_rate = strcmp(column, "steps_per_s") == 0;
    struct fulcrum_cell speedup = fulcrum_table_at(points, row, "speedup");
    speedup.number = is_rate ? here / base : base / here;
    return isnan(base) ? inverted(rel) : speedup;
}

/*
 * Speed-ups and relative runtimes, which charts of both need: as the file has them, or
 * those of its predictions to one of them: the one with the fewest actors, or with the
 * most SMs. The point whose ratio to itself is 1 exactly becomes "relative_x".
 */
static void add_ratios(const struct publication *plot, bool from_most)
{
    struct fulcrum_table *points = plot->points;
    bool has_speedup = isfinite(base_of_sweep(plot, "speedup", from_most));
    bool has_rel = isfinite(base_of_sweep(plot, "runtime_rel", from_most));
    bool has_rate = isfinite(base_of_sweep(plot, "steps_per_s", from_most));
    const char *rate = has_rate ? "steps_per_s" : "runtime_s";
    double base =
        has_speedup || has_rel ? FULCRUM_UNKNOWN : base_of_sweep(plot, rate, from_most);
    double relative_x = FULCRUM_UNKNOWN;
    for (size_t i = fulcrum_table_rows(points); i-- > 0;) {
        struct fulcrum_cell rel = fulcrum_table_at(points, i, "runtime_rel");
        struct fulcrum_cell speedup = has_speedup
                                          ? fulcrum_table_at(points, i, "speedup")
                                          : speedup_made(points, i, rate, base);
        if (fabs(speedup.number - 1.0) < 1e-12 && !(speedup.hi > speedup.lo)) {
            relative_x = fulcrum_plot_number(points, i, plot->x);
        }
        fulcrum_table_return(points, i);
        fulcrum_plot_cell_add(points, "speedup", speedup);
        fulcrum_plot_cell_add(points, "runtime_rel", has_rel ? rel : inverted(speedup));
    }
    fulcrum_result_number(plot->result, "relative_x", NULL, relative_x);
    if (isfinite(base)) {
        fulcrum_result_note(plot->result, "footnotes",
            "ratios of the predictions themselves, without an interval: 'fulcrum "
            "explore --relative-to' gives one");
    }
}

/* The predicted speed-up at x, between points too; NAN beyond the ends. */
static double speedup_at(const struct publication *plot, double x)
{
    double below = -INFINITY;
    double above = INFINITY;
    double from = FULCRUM_UNKNOWN;
    double to = FULCRUM_UNKNOWN;
    for (size_t i = 0; i < fulcrum_table_rows(plot->points); i++) {
        double here = fulcrum_plot_number(plot->points, i, plot->x);
        double value = fulcrum_plot_number(plot->points, i, "speedup");
        if (here <= x * (1.0 + 1e-9) && here > below) {
            below = here;
            from = value;
        }
        if (here >= x * (1.0 - 1e-9) && here < above) {
            above = here;
            to = value;
        }
    }
    double share = above > below ? (x - below) / (above - below) : 0.0;
    return from + share * (to - from);
}

/* NAN where a point says nothing of x. */
static double x_of(
    const struct publication *plot, const struct fulcrum_reference_point *point)
{
    const struct fulcrum_reference_setting *setting =
        fulcrum_reference_find_setting(point, plot->path);
    return setting != NULL ? setting->number : FULCRUM_UNKNOWN;
}

static bool same(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

/* Whether a point that sets as much as another one differs from it in x alone. */
static bool differ_in_x_alone(const struct fulcrum_reference_point *a,
    const struct fulcrum_reference_point *b, const char *path)
{
    bool alone = a->setting_count == b->setting_count;
    for (size_t i = 0; i < a->setting_count && alone; i++) {
        const struct fulcrum_reference_setting *here = &a->settings[i];
        const struct fulcrum_reference_setting *there =
            fulcrum_reference_find_setting(b, here->path);
        alone = strcmp(here->path, path) == 0 ||
                (there != NULL && strcmp(here->text, there->text) == 0 &&
                    (isnan(here->number) || same(here->number, there->number)));
    }
    return alone;
}

/* What was observed, with how far rounding lets it be off; NAN: nothing. */
static struct fulcrum_cell observed(
    const struct fulcrum_reference_point *point, const char *quantity)
{
    const struct fulcrum_observation *found =
        fulcrum_reference_find_observation(point, quantity);
    if (found == NULL) {
        return unknown;
    }
    double half = isnan(found->half_width) ? 0.0 : found->half_width;
    return (struct fulcrum_cell){
        found->value, found->value - half, found->value + half, NULL};
}

/* The speed-up that a point states; NAN where it states none. */
static struct fulcrum_cell speedup_of(const struct fulcrum_reference_point *point)
{
    struct fulcrum_cell speedup = observed(point, "speedup");
    return isnan(speedup.number) ? inverted(observed(point, "runtime_rel")) : speedup;
}

/* The speed-up that a reference states of x, relative to its own point; NAN: none. */
static struct fulcrum_cell stated_at(
    const struct publication *plot, const struct fulcrum_reference *reference, double x)
{
    struct fulcrum_cell stated = unknown;
    for (size_t i = 0; i < reference->point_count && isnan(stated.number); i++) {
        if (same(x_of(plot, &reference->points[i]), x)) {
            stated = speedup_of(&reference->points[i]);
        }
    }
    return stated;
}

/* One reference on its way to the chart. */
struct carried {
    const struct fulcrum_reference *reference;
    struct fulcrum_cell link; /* the speed-up of the point that its ratios refer to */
    bool is_own;              /* the reference has the sweep's own point too */
    char name[200];           /* in the legend */
    size_t added;
    size_t left_out;
    char obstacle[200]; /* of the last point left out */
};

/* Returns whether something is known of the point that the ratios refer to. A reference
 * that has the sweep's point among its own needs nobody else. */
static bool find_link(const struct publication *plot, struct carried *from)
{
    const char *name = from->reference->name;
    const char *what = "predicted";
    double x = x_of(plot, &from->reference->points[from->reference->relative_to]);
    if (same(x, plot->relative_x)) {
        from->link = (struct fulcrum_cell){1.0, 1.0, 1.0, NULL};
        return true;
    }
    struct fulcrum_cell stated = stated_at(plot, from->reference, plot->relative_x);
    if (!isnan(stated.number)) {
        (void)snprintf(from->name, sizeof from->name,
            "published: %s, restated relative to %s", name,
            fulcrum_si_text(plot->relative_x, 4, NULL).chars);
        from->link = inverted(stated);
        from->is_own = true;
        return true;
    }
    for (size_t i = 0; i < plot->reference_count && isnan(stated.number); i++) {
        const struct fulcrum_reference *other = plot->references[i];
        if (other->is_relative &&
            same(x_of(plot, &other->points[other->relative_to]), plot->relative_x)) {
            stated = stated_at(plot, other, x);
            what = isnan(stated.number) ? what : "published";
        }
    }
    if (isnan(stated.number)) {
        double predicted = speedup_at(plot, x);
        stated = (struct fulcrum_cell){predicted, predicted, predicted, NULL};
    }
    from->link = stated;
    (void)snprintf(from->name, sizeof from->name,
        "published: %s, chained on the %s %s at %s", name, what,
        fulcrum_si_text(stated.number, 3, NULL).chars,
        fulcrum_si_text(x, 4, NULL).chars);
    return !isnan(stated.number);
}

/* A value in the unit of a panel; NAN where the point has none. */
static struct fulcrum_cell value_in_panel(const struct publication *plot,
    const struct carried *from, const struct fulcrum_reference_point *point,
    size_t panel)
{
    static const char *const power[PANELS] = {"gpu_w", "steps_per_j_gpu"};
    bool is_relative = from->reference->is_relative;
    bool is_power = plot->chart == &fulcrum_chart_power;
    if (is_relative == is_power || (plot->chart == &fulcrum_chart_sm && panel > 0)) {
        return unknown;
    }
    if (is_power) {
        return observed(point, power[panel]);
    }
    struct fulcrum_cell a = speedup_of(point);
    struct fulcrum_cell b = from->link;
    struct fulcrum_cell value = {a.number * b.number, a.lo * b.lo, a.hi * b.hi, NULL};
    return panel == 0 ? inverted(value) : value;
}

static void place_point(const struct publication *plot, struct carried *from, size_t i)
{
    const struct fulcrum_reference_point *point = &from->reference->points[i];
    const struct fulcrum_item *item = fulcrum_result_find(plot->result, "published");
    bool is_fitted = plot->calibration != NULL &&
                     fulcrum_fitted_points_point(plot->calibration, from->reference, i);
    for (size_t panel = 0; panel < PANELS; panel++) {
        struct fulcrum_cell value = value_in_panel(plot, from, point, panel);
        if (!isnan(value.number)) {
            fulcrum_table_row(item->table);
            fulcrum_table_text(item->table, "name", NULL, from->name);
            fulcrum_table_number(item->table, "panel", NULL, (double)panel);
            fulcrum_table_number(item->table, "x", NULL, x_of(plot, point));
            fulcrum_table_estimate(item->table, "value", NULL, value.number,
                value.lo > 0.0 ? value.lo : FULCRUM_UNKNOWN, value.hi);
            fulcrum_table_flag(item->table, "is_fitted", NULL, is_fitted);
            from->added++;
        }
    }
}

/* Whether a point has no place on this chart; says why. The sweep may hold a setting at
 * another value. */
static bool is_obstructed(
    const struct publication *plot, struct carried *from, size_t i)
{
    const struct fulcrum_reference *reference = from->reference;
    const struct fulcrum_reference_point *point = &reference->points[i];
    const size_t size = sizeof from->obstacle;
    if (isnan(x_of(plot, point))) {
        (void)snprintf(from->obstacle, size, "does not say %s", plot->path);
        return true;
    }
    for (size_t k = 0; k < point->setting_count; k++) {
        const struct fulcrum_reference_setting *setting = &point->settings[k];
        /* A number that all points of the sweep have in common; NAN: not known. */
        const char *path = setting->path;
        const char *column =
            strcmp(path, "run.actor_count") == 0 ? "actor_count" : path;
        double held = fulcrum_table_constant(plot->points, column);
        if (strcmp(setting->path, plot->path) != 0 && !isnan(setting->number) &&
            !isnan(held) && !same(held, setting->number)) {
            (void)snprintf(from->obstacle, size, "is of %s = %.6g, the sweep of %.6g",
                setting->path, setting->number, held);
            return true;
        }
    }
    if (!reference->is_relative ||
        differ_in_x_alone(
            point, &reference->points[reference->relative_to], plot->path)) {
        return false;
    }
    (void)snprintf(from->obstacle, size,
        "is relative to one that differs in more than %s", plot->path);
    return true;
}

/* The point that ratios refer to says nothing: it is 1 by definition. */
static bool is_base(
    const struct publication *plot, const struct carried *from, size_t i)
{
    const struct fulcrum_reference *reference = from->reference;
    return from->is_own ? same(x_of(plot, &reference->points[i]), plot->relative_x)
                        : reference->is_relative && i == reference->relative_to;
}

/* A reference that adds nothing was named by mistake. */
static enum fulcrum_status lay_over(const struct publication *plot,
    const struct fulcrum_reference *reference, struct fulcrum_error *err)
{
    const char *name = reference->name;
    bool is_power = plot->chart == &fulcrum_chart_power;
    struct carried from = {.reference = reference};
    (void)snprintf(from.name, sizeof from.name, "published: %s", name);
    FAIL_IF(reference->is_relative && !is_power && !find_link(plot, &from), err,
        FULCRUM_ERR_UNSUPPORTED,
        "reference %s: its ratios refer to %s = %.6g, which the sweep does not reach",
        name, plot->path, x_of(plot, &reference->points[reference->relative_to]));
    for (size_t i = 0; i < reference->point_count; i++) {
        if (is_base(plot, &from, i)) {
            continue;
        }
        if (is_obstructed(plot, &from, i)) {
            from.left_out++;
        } else {
            place_point(plot, &from, i);
        }
    }
    FAIL_IF(from.added == 0 && from.left_out > 0, err, FULCRUM_ERR_UNSUPPORTED,
        "reference %s: no point belongs on this chart: a point %s", name,
        from.obstacle);
    FAIL_IF(from.added == 0, err, FULCRUM_ERR_UNSUPPORTED,
        "reference %s: no point belongs on this chart: expected %s", name,
        is_power ? "gpu_w or steps_per_j_gpu"
                 : "speedup or runtime_rel of a relative reference");
    if (from.left_out > 0) {
        fulcrum_result_note_print(plot->result, "footnotes",
            "%s: %zu left out: a point %s", name, from.left_out, from.obstacle);
    }
    return FULCRUM_OK;
}

/* Speed-ups and relative runtimes where a sweep has none, and points of the references,
 * carried over to the sweep's own scale: figures of Inci et al. 2020. */
enum fulcrum_status fulcrum_plot_published_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    const struct fulcrum_text_list *names = &job->references;
    bool is_sm = job->plot->chart == &fulcrum_chart_sm;
    struct publication plot = {.result = result,
        .points = fulcrum_chart_table(result, "points"),
        .x = is_sm ? "run.sm_count" : "actor_count",
        .path = is_sm ? "run.sm_count" : "run.actor_count",
        .chart = job->plot->chart};
    enum fulcrum_status status = FULCRUM_OK;
    if (plot.chart != &fulcrum_chart_power) {
        add_ratios(&plot, is_sm);
    }
    plot.relative_x = fulcrum_result_number_of(result, "relative_x");
    FAIL_IF(names->count > REFERENCES_MAX, err, FULCRUM_ERR_RANGE,
        "--reference: %zu are given: expected at most %d", names->count,
        (int)REFERENCES_MAX);
    /* All are read before the first is placed, as one may be chained on another. */
    for (; plot.reference_count < names->count; plot.reference_count++) {
        TRY_OR_END(fulcrum_reference_load(names->items[plot.reference_count],
            &plot.references[plot.reference_count], err));
    }
    /* A calibration that is not at hand leaves open what its fit has seen. */
    const char *name = fulcrum_plot_text_of(result, plot.points, "calibration");
    struct fulcrum_error unheard;
    if (names->count > 0) {
        (void)fulcrum_result_table(result, "published", NULL);
        if (name[0] != '\0' &&
            fulcrum_calibration_load(name, &plot.calibration, &unheard) != FULCRUM_OK) {
            plot.calibration = NULL;
        }
    }
    for (size_t i = 0; i < names->count; i++) {
        TRY_OR_END(lay_over(&plot, plot.references[i], err));
    }
end:
    for (size_t i = 0; i < plot.reference_count; i++) {
        fulcrum_reference_free(plot.references[i]);
    }
    fulcrum_calibration_free(plot.calibration);
    return status;
}
