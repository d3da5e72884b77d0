/* plot_published.c - points of references, as they go over a sweep. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Published ratios refer to one of their own points. Where the sweep's ratios refer to
 * the same, they go over as they are; where not, they are restated relative to it, or
 * chained: on what another of the references says of their own point, or else on what
 * the sweep predicts there. The legend says which. Points that differ from the sweep,
 * or from the point they refer to, in more than x do not belong on the chart.
 */
#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/reference/comparison.h"
#include "cli/plot/plot_data.h"
#include "cli/plot/plot_source.h"
#include "model/quantity.h"
#include "model/try.h"
#include "plots/chart/axis.h"
#include "presets/load/preset.h"
#include "presets/load/reference_file.h"

enum { NAME_SIZE = 200, PANELS = 2, REFERENCES_MAX = 4 };

/* A value and how far rounding lets it be off. */
struct rounded {
    double value;
    double lo;
    double hi;
};

/* References on their way over a sweep. */
struct publication {
    struct fulcrum_result *result;           /* of the sweep; borrowed, as is */
    struct fulcrum_table *points;            /* its rows */
    struct fulcrum_table *out;               /* "published" */
    const char *x;                           /* the column that the chart goes over */
    double relative_x;                       /* that its ratios refer to */
    struct fulcrum_calibration *calibration; /* behind the sweep; owned, may be NULL */
    enum fulcrum_plot_curves kind;
    size_t reference_count;
    struct fulcrum_reference *references[REFERENCES_MAX];
};

/* Ratios of a sweep. */

static bool has_numbers(const struct fulcrum_table *table, const char *key)
{
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        if (isfinite(fulcrum_plot_number(table, i, key))) {
            return true;
        }
    }
    return false;
}

/* 1 / value, with its interval the other way round. */
static struct fulcrum_cell inverted(struct fulcrum_cell cell)
{
    return (struct fulcrum_cell){
        cell.number > 0.0 ? 1.0 / cell.number : FULCRUM_UNKNOWN,
        cell.hi > 0.0 ? 1.0 / cell.hi : FULCRUM_UNKNOWN,
        cell.lo > 0.0 ? 1.0 / cell.lo : FULCRUM_UNKNOWN, NULL};
}

/* The row with a rate that has the least x, or the most; the number of rows: none. */
static size_t base_row(
    const struct fulcrum_table *points, const char *x, const char *key, bool most)
{
    size_t rows = fulcrum_table_rows(points);
    size_t base = rows;
    for (size_t i = 0; i < rows; i++) {
        double here = fulcrum_plot_number(points, i, x);
        double best =
            base < rows ? fulcrum_plot_number(points, base, x) : FULCRUM_UNKNOWN;
        if (isfinite(fulcrum_plot_number(points, i, key)) &&
            (base == rows || (most ? here > best : here < best))) {
            base = i;
        }
    }
    return base;
}

/* Which ratios a sweep has, and the row that others are made to. */
struct ratios {
    bool has_speedup;
    bool has_rel;
    bool has_rate;
    size_t base; /* the number of rows: none */
};

static const char *rate_key(const struct ratios *ratios)
{
    return ratios->has_rate ? "steps_per_s" : "runtime_s";
}

static struct fulcrum_cell speedup_in(
    const struct fulcrum_table *points, size_t row, const struct ratios *ratios)
{
    struct fulcrum_cell speedup = fulcrum_table_at(points, row, "speedup");
    if (!ratios->has_speedup && ratios->has_rel) {
        return inverted(fulcrum_table_at(points, row, "runtime_rel"));
    }
    if (ratios->base < fulcrum_table_rows(points)) {
        double ratio = fulcrum_plot_number(points, row, rate_key(ratios)) /
                       fulcrum_plot_number(points, ratios->base, rate_key(ratios));
        speedup.number = ratios->has_rate ? ratio : 1.0 / ratio;
    }
    return speedup;
}

/*
 * Speed-ups and relative runtimes, which charts of both need: as the file has them, or
 * those of its predictions to one of them: the one with the fewest actors, or with the
 * most SMs. The point whose ratio to itself is 1 exactly becomes "relative_x".
 */
static void add_ratios(struct fulcrum_result *result, const char *x, bool from_most)
{
    struct fulcrum_table *points = fulcrum_plot_points(result);
    struct ratios ratios = {.has_speedup = has_numbers(points, "speedup"),
        .has_rel = has_numbers(points, "runtime_rel"),
        .has_rate = has_numbers(points, "steps_per_s")};
    size_t rows = fulcrum_table_rows(points);
    double relative_x = FULCRUM_UNKNOWN;
    ratios.base = rows;
    if (!ratios.has_speedup && !ratios.has_rel) {
        ratios.base = base_row(points, x, rate_key(&ratios), from_most);
    }
    for (size_t i = 0; i < rows; i++) {
        struct fulcrum_cell speedup = speedup_in(points, i, &ratios);
        struct fulcrum_cell rel = ratios.has_rel
                                      ? fulcrum_table_at(points, i, "runtime_rel")
                                      : inverted(speedup);
        bool is_one = fabs(speedup.number - 1.0) < 1e-12 && !(speedup.hi > speedup.lo);
        relative_x = is_one && isnan(relative_x) ? fulcrum_plot_number(points, i, x)
                                                 : relative_x;
        fulcrum_table_return(points, i);
        fulcrum_table_estimate(
            points, "speedup", NULL, speedup.number, speedup.lo, speedup.hi);
        fulcrum_table_estimate(points, "runtime_rel", NULL, rel.number, rel.lo, rel.hi);
    }
    fulcrum_result_number(result, "relative_x", NULL, relative_x);
    if (ratios.base < rows) {
        fulcrum_result_note(result, "footnotes",
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

/* A number that all points have in common, such as "run.sm_count"; NAN: not known. */
static double held_by_all(const struct publication *plot, const char *path)
{
    const char *column = strcmp(path, "run.actor_count") == 0 ? "actor_count" : path;
    return fulcrum_table_constant(plot->points, column);
}

/* Published points. */

static const char *x_path(enum fulcrum_plot_curves kind)
{
    return kind == FULCRUM_PLOT_SM ? "run.sm_count" : "run.actor_count";
}

/* NAN where a point says nothing of x. */
static double x_of(
    const struct fulcrum_reference_point *point, enum fulcrum_plot_curves kind)
{
    const struct fulcrum_reference_setting *setting =
        fulcrum_reference_find_setting(point, x_path(kind));
    return setting != NULL ? setting->number : (double)NAN;
}

static int same(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static int same_setting(const struct fulcrum_reference_setting *a,
    const struct fulcrum_reference_setting *b)
{
    return isnan(a->number) ? strcmp(a->text, b->text) == 0
                            : same(a->number, b->number);
}

/* Do two points of a reference differ in nothing but x? */
static int differ_in_x_alone(const struct fulcrum_reference_point *a,
    const struct fulcrum_reference_point *b, const char *path)
{
    for (size_t i = 0; i < a->setting_count; i++) {
        const struct fulcrum_reference_setting *here = &a->settings[i];
        const struct fulcrum_reference_setting *there =
            fulcrum_reference_find_setting(b, here->path);
        if (strcmp(here->path, path) != 0 &&
            (there == NULL || !same_setting(here, there))) {
            return 0;
        }
    }
    return a->setting_count == b->setting_count;
}

/* The setting that the sweep holds at another value; NULL: none that is known. */
static const struct fulcrum_reference_setting *find_conflict(
    const struct publication *plot, const struct fulcrum_reference_point *point)
{
    for (size_t i = 0; i < point->setting_count; i++) {
        const struct fulcrum_reference_setting *setting = &point->settings[i];
        if (strcmp(setting->path, x_path(plot->kind)) == 0 || isnan(setting->number)) {
            continue;
        }
        double held = held_by_all(plot, setting->path);
        if (!isnan(held) && !same(held, setting->number)) {
            return setting;
        }
    }
    return NULL;
}

static struct rounded inverse(struct rounded ratio)
{
    return (struct rounded){1.0 / ratio.value,
        ratio.hi > 0.0 ? 1.0 / ratio.hi : (double)NAN,
        ratio.lo > 0.0 ? 1.0 / ratio.lo : (double)NAN};
}

static struct rounded rounded_of(const struct fulcrum_observation *observation)
{
    double half = isnan(observation->half_width) ? 0.0 : observation->half_width;
    return (struct rounded){
        observation->value, observation->value - half, observation->value + half};
}

/* The speed-up that a relative observation states. Returns 0 where it states none. */
static int speedup_of(
    const struct fulcrum_observation *observation, struct rounded *out)
{
    *out = rounded_of(observation);
    if (strcmp(observation->quantity, "runtime_rel") == 0) {
        *out = inverse(*out);
        return 1;
    }
    return strcmp(observation->quantity, "speedup") == 0;
}

/* What the point that a reference's ratios refer to is itself worth on the chart. */
struct link {
    struct rounded speedup;
    bool is_own;     /* the reference has the sweep's own point too */
    char words[120]; /* for the legend; "" where nothing had to be chained */
};

/* The speed-up that a point states; 0 where it states none. */
static int point_speedup(
    const struct fulcrum_reference_point *point, struct rounded *out)
{
    for (size_t k = 0; k < point->observation_count; k++) {
        if (speedup_of(&point->observations[k], out)) {
            return 1;
        }
    }
    return 0;
}

/* The speed-up that a reference states of x, relative to its own point. */
static int stated_at(const struct publication *plot,
    const struct fulcrum_reference *reference, double x, struct rounded *out)
{
    for (size_t i = 0; i < reference->point_count; i++) {
        const struct fulcrum_reference_point *point = &reference->points[i];
        if (same(x_of(point, plot->kind), x) && point_speedup(point, out)) {
            return 1;
        }
    }
    return 0;
}

/* The same for one whose ratios refer to the sweep's own point. */
static int published_at(const struct publication *plot,
    const struct fulcrum_reference *reference, double x, struct rounded *out)
{
    double base = x_of(&reference->points[reference->relative_to], plot->kind);
    return same(base, plot->relative_x) && stated_at(plot, reference, x, out);
}

static void write_link(struct link *link, const char *what, double x)
{
    char value[24];
    char at[24];
    fulcrum_si_text(value, sizeof value, link->speedup.value, 3, NULL);
    fulcrum_si_text(at, sizeof at, x, 4, NULL);
    (void)snprintf(link->words, sizeof link->words, ", chained on the %s %s at %s",
        what, value, at);
}

/* A reference that has the sweep's point among its own needs nobody else. */
static int find_own_link(const struct publication *plot,
    const struct fulcrum_reference *reference, struct link *out)
{
    double base = plot->relative_x;
    struct rounded stated;
    if (!stated_at(plot, reference, base, &stated)) {
        return 0;
    }
    char at[24];
    fulcrum_si_text(at, sizeof at, base, 4, NULL);
    out->speedup = inverse(stated);
    out->is_own = 1;
    (void)snprintf(out->words, sizeof out->words, ", restated relative to %s", at);
    return 1;
}

/* Returns 0 where nothing is known of the point that a reference's ratios refer to. */
static int find_link(const struct publication *plot,
    const struct fulcrum_reference *reference, struct link *out)
{
    double x = x_of(&reference->points[reference->relative_to], plot->kind);
    *out = (struct link){.speedup = {1.0, 1.0, 1.0}};
    if (same(x, plot->relative_x) || find_own_link(plot, reference, out)) {
        return 1;
    }
    for (size_t i = 0; i < plot->reference_count; i++) {
        if (plot->references[i]->is_relative &&
            published_at(plot, plot->references[i], x, &out->speedup)) {
            write_link(out, "published", x);
            return 1;
        }
    }
    double predicted = speedup_at(plot, x);
    out->speedup = (struct rounded){predicted, predicted, predicted};
    write_link(out, "predicted", x);
    return !isnan(predicted);
}

/* One observation on its way to a panel. */
struct item {
    const struct fulcrum_reference *reference;
    size_t point;
    const struct fulcrum_observation *observation;
    const struct link *link; /* NULL: the reference is not relative */
};

/* A value in the unit of a panel. Returns 0 where the observation is none of it. */
static int value_in_panel(const struct publication *plot, const struct item *item,
    size_t panel, struct rounded *out)
{
    static const char *const power[PANELS] = {"gpu_w", "steps_per_j_gpu"};
    if (plot->kind == FULCRUM_PLOT_POWER) {
        *out = rounded_of(item->observation);
        return item->link == NULL &&
               strcmp(item->observation->quantity, power[panel]) == 0;
    }
    if (item->link == NULL || !speedup_of(item->observation, out) ||
        (plot->kind == FULCRUM_PLOT_SM && panel > 0)) {
        return 0;
    }
    struct rounded a = *out;
    struct rounded b = item->link->speedup;
    *out = (struct rounded){a.value * b.value, a.lo * b.lo, a.hi * b.hi};
    if (panel == 0) {
        *out = inverse(*out);
    }
    return 1;
}

/* Returns whether the observation has a place in the panel. */
static bool add_point(
    struct publication *plot, const struct item *item, size_t panel, const char *name)
{
    struct rounded value;
    if (!value_in_panel(plot, item, panel, &value)) {
        return false;
    }
    bool is_fitted =
        plot->calibration != NULL &&
        fulcrum_fitted_points_point(plot->calibration, item->reference, item->point);
    fulcrum_table_row(plot->out);
    fulcrum_table_text(plot->out, "name", NULL, name);
    fulcrum_table_number(plot->out, "panel", NULL, (double)panel);
    fulcrum_table_number(
        plot->out, "x", NULL, x_of(&item->reference->points[item->point], plot->kind));
    fulcrum_table_estimate(plot->out, "value", NULL, value.value,
        value.lo > 0.0 ? value.lo : FULCRUM_UNKNOWN, value.hi);
    fulcrum_table_flag(plot->out, "is_fitted", NULL, is_fitted);
    return true;
}

/* Why a point has no place on this chart; "" where it has one. */
static void find_obstacle(const struct publication *plot,
    const struct fulcrum_reference *reference, size_t i, char *out, size_t size)
{
    const struct fulcrum_reference_point *point = &reference->points[i];
    const struct fulcrum_reference_setting *conflict = find_conflict(plot, point);
    out[0] = '\0';
    if (isnan(x_of(point, plot->kind))) {
        (void)snprintf(out, size, "does not say %s", x_path(plot->kind));
    } else if (conflict != NULL) {
        (void)snprintf(out, size, "is of %s = %.6g, the sweep of %.6g", conflict->path,
            conflict->number, held_by_all(plot, conflict->path));
    } else if (reference->is_relative &&
               !differ_in_x_alone(point, &reference->points[reference->relative_to],
                   x_path(plot->kind))) {
        (void)snprintf(out, size, "is relative to one that differs in more than %s",
            x_path(plot->kind));
    }
}

/* One reference on its way to the chart. */
struct job {
    const struct fulcrum_reference *reference;
    const struct link *link; /* NULL: not relative */
    char name[NAME_SIZE];    /* in the legend */
    size_t added;
    size_t left_out;
    char obstacle[200]; /* of the last point left out */
};

/* The point that ratios refer to says nothing: it is 1 by definition. */
static bool is_base(const struct publication *plot, const struct job *job, size_t i)
{
    double x = x_of(&job->reference->points[i], plot->kind);
    if (job->link != NULL && job->link->is_own) {
        return same(x, plot->relative_x);
    }
    return job->reference->is_relative && i == job->reference->relative_to;
}

static void add_panel(struct publication *plot, struct job *job, size_t panel)
{
    for (size_t i = 0; i < job->reference->point_count; i++) {
        const struct fulcrum_reference_point *point = &job->reference->points[i];
        char obstacle[sizeof job->obstacle];
        find_obstacle(plot, job->reference, i, obstacle, sizeof obstacle);
        if (is_base(plot, job, i)) {
            continue;
        }
        for (size_t k = 0; k < point->observation_count && obstacle[0] == '\0'; k++) {
            const struct item item = {
                job->reference, i, &point->observations[k], job->link};
            job->added += add_point(plot, &item, panel, job->name) ? 1 : 0;
        }
        if (obstacle[0] != '\0') {
            job->left_out += panel == 0 ? 1 : 0;
            (void)snprintf(job->obstacle, sizeof job->obstacle, "%s", obstacle);
        }
    }
}

/* A reference that adds nothing was named by mistake. */
static enum fulcrum_status judge(
    const struct publication *plot, const struct job *job, struct fulcrum_error *err)
{
    static const char *const wanted[] = {
        [FULCRUM_PLOT_RUNTIME] = "speedup or runtime_rel of a relative reference",
        [FULCRUM_PLOT_POWER] = "gpu_w or steps_per_j_gpu",
        [FULCRUM_PLOT_SM] = "speedup or runtime_rel of a relative reference"};
    FAIL_IF(job->added == 0 && job->left_out > 0, err, FULCRUM_ERR_UNSUPPORTED,
        "reference %s: no point belongs on this chart: a point %s",
        job->reference->name, job->obstacle);
    FAIL_IF(job->added == 0, err, FULCRUM_ERR_UNSUPPORTED,
        "reference %s: no point belongs on this chart: expected %s",
        job->reference->name, wanted[plot->kind]);
    if (job->left_out > 0) {
        char note[400];
        (void)snprintf(note, sizeof note, "%s: %zu left out: a point %s",
            job->reference->name, job->left_out, job->obstacle);
        fulcrum_result_note(plot->result, "footnotes", note);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status add_reference(
    struct publication *plot, size_t index, struct fulcrum_error *err)
{
    const struct fulcrum_reference *reference = plot->references[index];
    assert(reference != NULL);
    struct link link = {.words = ""};
    struct job job = {.reference = reference};
    if (reference->is_relative) {
        FAIL_IF(plot->kind != FULCRUM_PLOT_POWER && !find_link(plot, reference, &link),
            err, FULCRUM_ERR_UNSUPPORTED,
            "reference %s: its ratios refer to %s = %.6g, which the sweep does not "
            "reach",
            reference->name, x_path(plot->kind),
            x_of(&reference->points[reference->relative_to], plot->kind));
        job.link = &link;
    }
    (void)snprintf(
        job.name, sizeof job.name, "published: %s%s", reference->name, link.words);
    for (size_t panel = 0; panel < PANELS; panel++) {
        add_panel(plot, &job, panel);
    }
    return judge(plot, &job, err);
}

/* All are read before the first is placed, as one may be chained on another. */
static enum fulcrum_status load_references(struct publication *plot,
    const struct fulcrum_plot_names *names, struct fulcrum_error *err)
{
    const size_t most = REFERENCES_MAX;
    FAIL_IF(names->count > most, err, FULCRUM_ERR_RANGE,
        "--reference: %zu are given: expected at most %zu", names->count, most);
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < names->count && status == FULCRUM_OK; i++) {
        status = fulcrum_reference_load(names->items[i], &plot->references[i], err);
        plot->reference_count += status == FULCRUM_OK ? 1 : 0;
    }
    return status;
}

enum fulcrum_status fulcrum_plot_published_add(struct fulcrum_result *result,
    const struct fulcrum_plot_names *names, enum fulcrum_plot_curves kind,
    struct fulcrum_error *err)
{
    struct publication plot = {.result = result, .kind = kind};
    enum fulcrum_status status = FULCRUM_OK;
    plot.points = fulcrum_plot_points(result);
    plot.x = kind == FULCRUM_PLOT_SM ? "run.sm_count" : "actor_count";
    if (kind != FULCRUM_PLOT_POWER) {
        add_ratios(result, plot.x, kind == FULCRUM_PLOT_SM);
    }
    plot.relative_x = fulcrum_result_number_of(result, "relative_x");
    TRY_OR_END(load_references(&plot, names, err));
    plot.out =
        names->count > 0 ? fulcrum_result_table(result, "published", NULL) : NULL;
    /* A calibration that is not at hand leaves open what its fit has seen. */
    const char *name = fulcrum_result_text_of(result, "calibration");
    const char *cell = fulcrum_table_at(plot.points, 0, "calibration").text;
    name = name[0] == '\0' && cell != NULL ? cell : name;
    struct fulcrum_error unheard;
    if (names->count > 0 && name[0] != '\0' &&
        fulcrum_calibration_load(name, &plot.calibration, &unheard) != FULCRUM_OK) {
        plot.calibration = NULL;
    }
    for (size_t i = 0; i < names->count; i++) {
        TRY_OR_END(add_reference(&plot, i, err));
    }
    status = fulcrum_result_check(result, err);
end:
    for (size_t i = 0; i < plot.reference_count; i++) {
        fulcrum_reference_free(plot.references[i]);
    }
    fulcrum_calibration_free(plot.calibration);
    return status;
}
