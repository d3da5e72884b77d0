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
#include "model/try.h"
#include "plots/chart/axis.h"
#include "presets/load/preset.h"
#include "presets/load/reference_file.h"

enum { NAME_SIZE = 200, PANELS = FULCRUM_CURVES_PANELS };

/* A value and how far rounding lets it be off. */
struct rounded {
    double value;
    double lo;
    double hi;
};

/* Room for the points of one reference in one panel. */
struct set {
    double *numbers; /* x, value, lo, hi, one after the other; owned */
    unsigned char *is_fitted;
    size_t count;
};

struct fulcrum_plot_published {
    struct fulcrum_plot_sweep *sweep; /* borrowed while it is being filled, as is */
    struct fulcrum_calibration *calibration; /* behind the sweep; owned, may be NULL */
    enum fulcrum_plot_curves kind;
    size_t reference_count;
    struct fulcrum_reference *references[FULCRUM_PUBLISHED_MAX];
    char names[FULCRUM_PUBLISHED_MAX][NAME_SIZE];
    struct set sets[FULCRUM_PUBLISHED_MAX];
    size_t count;
    struct fulcrum_published published[FULCRUM_PUBLISHED_MAX];
};

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
    const struct fulcrum_plot_published *plot,
    const struct fulcrum_reference_point *point)
{
    for (size_t i = 0; i < point->setting_count; i++) {
        const struct fulcrum_reference_setting *setting = &point->settings[i];
        if (strcmp(setting->path, x_path(plot->kind)) == 0 || isnan(setting->number)) {
            continue;
        }
        double held = fulcrum_plot_sweep_constant(plot->sweep, setting->path);
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
static int stated_at(const struct fulcrum_plot_published *plot,
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
static int published_at(const struct fulcrum_plot_published *plot,
    const struct fulcrum_reference *reference, double x, struct rounded *out)
{
    double base = x_of(&reference->points[reference->relative_to], plot->kind);
    return same(base, fulcrum_plot_sweep_relative_x(plot->sweep)) &&
           stated_at(plot, reference, x, out);
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
static int find_own_link(const struct fulcrum_plot_published *plot,
    const struct fulcrum_reference *reference, struct link *out)
{
    double base = fulcrum_plot_sweep_relative_x(plot->sweep);
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
static int find_link(const struct fulcrum_plot_published *plot,
    const struct fulcrum_reference *reference, struct link *out)
{
    double x = x_of(&reference->points[reference->relative_to], plot->kind);
    *out = (struct link){.speedup = {1.0, 1.0, 1.0}};
    if (same(x, fulcrum_plot_sweep_relative_x(plot->sweep)) ||
        find_own_link(plot, reference, out)) {
        return 1;
    }
    for (size_t i = 0; i < plot->reference_count; i++) {
        if (plot->references[i]->is_relative &&
            published_at(plot, plot->references[i], x, &out->speedup)) {
            write_link(out, "published", x);
            return 1;
        }
    }
    double predicted = fulcrum_plot_sweep_speedup(plot->sweep, x);
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
static int value_in_panel(const struct fulcrum_plot_published *plot,
    const struct item *item, size_t panel, struct rounded *out)
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

static enum fulcrum_status add_point(struct fulcrum_plot_published *plot,
    const struct item *item, size_t panel, struct fulcrum_error *err)
{
    struct rounded value;
    if (!value_in_panel(plot, item, panel, &value)) {
        return FULCRUM_OK;
    }
    size_t room = item->reference->point_count;
    struct set *set = &plot->sets[plot->count];
    if (set->numbers == NULL) {
        set->numbers = calloc(4 * room, sizeof *set->numbers);
        set->is_fitted = calloc(room, sizeof *set->is_fitted);
    }
    FAIL_IF(set->numbers == NULL || set->is_fitted == NULL, err, FULCRUM_ERR_NO_MEMORY,
        "published points");
    if (set->count == room) {
        return FULCRUM_OK; /* a quantity given twice in a point */
    }
    size_t i = set->count++;
    set->numbers[i] = x_of(&item->reference->points[item->point], plot->kind);
    set->numbers[room + i] = value.value;
    set->numbers[2 * room + i] = value.lo > 0.0 ? value.lo : (double)NAN;
    set->numbers[3 * room + i] = value.hi;
    set->is_fitted[i] =
        plot->calibration != NULL &&
        fulcrum_fitted_points_point(plot->calibration, item->reference, item->point);
    return FULCRUM_OK;
}

/* Why a point has no place on this chart; "" where it has one. */
static void find_obstacle(const struct fulcrum_plot_published *plot,
    const struct fulcrum_reference *reference, size_t i, char *out, size_t size)
{
    const struct fulcrum_reference_point *point = &reference->points[i];
    const struct fulcrum_reference_setting *conflict = find_conflict(plot, point);
    out[0] = '\0';
    if (isnan(x_of(point, plot->kind))) {
        (void)snprintf(out, size, "does not say %s", x_path(plot->kind));
    } else if (conflict != NULL) {
        (void)snprintf(out, size, "is of %s = %.6g, the sweep of %.6g", conflict->path,
            conflict->number, fulcrum_plot_sweep_constant(plot->sweep, conflict->path));
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
    size_t added;
    size_t left_out;
    char obstacle[200]; /* of the last point left out */
};

/* The point that ratios refer to says nothing: it is 1 by definition. */
static bool is_base(
    const struct fulcrum_plot_published *plot, const struct job *job, size_t i)
{
    double x = x_of(&job->reference->points[i], plot->kind);
    if (job->link != NULL && job->link->is_own) {
        return same(x, fulcrum_plot_sweep_relative_x(plot->sweep));
    }
    return job->reference->is_relative && i == job->reference->relative_to;
}

static enum fulcrum_status add_observations(struct fulcrum_plot_published *plot,
    const struct job *job, size_t i, size_t panel, struct fulcrum_error *err)
{
    const struct fulcrum_reference_point *point = &job->reference->points[i];
    for (size_t k = 0; k < point->observation_count; k++) {
        const struct item item = {
            job->reference, i, &point->observations[k], job->link};
        TRY(add_point(plot, &item, panel, err));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status add_panel(struct fulcrum_plot_published *plot,
    struct job *job, size_t panel, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < job->reference->point_count && status == FULCRUM_OK; i++) {
        char obstacle[sizeof job->obstacle];
        find_obstacle(plot, job->reference, i, obstacle, sizeof obstacle);
        if (is_base(plot, job, i)) {
            continue;
        }
        if (obstacle[0] == '\0') {
            status = add_observations(plot, job, i, panel, err);
        } else {
            job->left_out += panel == 0 ? 1 : 0;
            (void)snprintf(job->obstacle, sizeof job->obstacle, "%s", obstacle);
        }
    }
    return status;
}

/* Closes the set of points that was just filled, unless it is empty. */
static void finish_set(
    struct fulcrum_plot_published *plot, struct job *job, size_t index, size_t panel)
{
    const struct set *set = &plot->sets[plot->count];
    size_t room = job->reference->point_count;
    if (set->count == 0) {
        return;
    }
    job->added += set->count;
    plot->published[plot->count++] = (struct fulcrum_published){
        .name = plot->names[index],
        .panel = panel,
        .x = set->numbers,
        .value = set->numbers + room,
        .lo = set->numbers + 2 * room,
        .hi = set->numbers + 3 * room,
        .is_fitted = set->is_fitted,
        .count = set->count,
    };
}

/* A reference that adds nothing was named by mistake. */
static enum fulcrum_status judge(const struct fulcrum_plot_published *plot,
    const struct job *job, struct fulcrum_error *err)
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
        fulcrum_plot_sweep_add_note(plot->sweep, note);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status add_reference(
    struct fulcrum_plot_published *plot, size_t index, struct fulcrum_error *err)
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
        plot->names[index], NAME_SIZE, "published: %s%s", reference->name, link.words);
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t panel = 0; panel < PANELS && status == FULCRUM_OK; panel++) {
        status = add_panel(plot, &job, panel, err);
        finish_set(plot, &job, index, panel);
    }
    return status == FULCRUM_OK ? judge(plot, &job, err) : status;
}

/* All are read before the first is placed, as one may be chained on another. */
static enum fulcrum_status load_references(struct fulcrum_plot_published *plot,
    const struct fulcrum_plot_names *names, struct fulcrum_error *err)
{
    const size_t most = FULCRUM_PUBLISHED_MAX / PANELS;
    FAIL_IF(names->count > most, err, FULCRUM_ERR_RANGE,
        "--reference: %zu are given: expected at most %zu", names->count, most);
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < names->count && status == FULCRUM_OK; i++) {
        status = fulcrum_reference_load(names->items[i], &plot->references[i], err);
        plot->reference_count += status == FULCRUM_OK ? 1 : 0;
    }
    return status;
}

enum fulcrum_status fulcrum_plot_published_new(const struct fulcrum_plot_names *names,
    struct fulcrum_plot_sweep *sweep, enum fulcrum_plot_curves kind,
    struct fulcrum_plot_published **out, struct fulcrum_error *err)
{
    struct fulcrum_plot_published *plot = calloc(1, sizeof *plot);
    TRY_MEMORY(plot, err, "published points");
    plot->sweep = sweep;
    plot->kind = kind;
    enum fulcrum_status status = load_references(plot, names, err);
    if (status == FULCRUM_OK) {
        /* A calibration that is not at hand leaves open what its fit has seen. */
        const char *name = fulcrum_plot_sweep_calibration(plot->sweep);
        struct fulcrum_error unheard;
        if (name[0] != '\0' && fulcrum_calibration_load(
                                   name, &plot->calibration, &unheard) != FULCRUM_OK) {
            plot->calibration = NULL;
        }
    }
    for (size_t i = 0; i < names->count && status == FULCRUM_OK; i++) {
        status = add_reference(plot, i, err);
    }
    if (status != FULCRUM_OK) {
        fulcrum_plot_published_free(plot);
        return status;
    }
    *out = plot;
    return FULCRUM_OK;
}

void fulcrum_plot_published_free(struct fulcrum_plot_published *published)
{
    if (published == NULL) {
        return;
    }
    for (size_t i = 0; i < FULCRUM_PUBLISHED_MAX; i++) {
        fulcrum_reference_free(published->references[i]);
        free(published->sets[i].numbers);
        free(published->sets[i].is_fitted);
    }
    fulcrum_calibration_free(published->calibration);
    free(published);
}

const struct fulcrum_published *fulcrum_plot_published_sets(
    const struct fulcrum_plot_published *published, size_t *count)
{
    *count = published->count;
    return published->published;
}
