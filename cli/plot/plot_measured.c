/* plot_measured.c - what was measured end to end, beside what was predicted of it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows of one batching rule and number of environments per actor are one series. So are
 * points of one series of a reference, which are predicted anew.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/plot/plot_data.h"
#include "cli/plot/plot_source.h"
#include "model/quantity.h"
#include "model/string.h"
#include "model/try.h"

/* One point of the chart. */
struct point {
    struct fulcrum_string series;
    double x; /* actors, or environments */
    struct fulcrum_cell measured;
    struct fulcrum_cell predicted;
    bool is_disturbed;
    bool is_seen; /* by the fit behind the prediction */
};

static void add_estimate(
    struct fulcrum_table *table, const char *key, const struct fulcrum_cell *cell)
{
    fulcrum_table_estimate(table, key, NULL, cell->number, cell->lo, cell->hi);
}

/* Errors in percent; what is not known of either has none. */
static void add_shown(struct fulcrum_table *table, const struct point *point)
{
    double whole = point->measured.number > 0.0 ? point->measured.number : (double)NAN;
    const struct fulcrum_cell error = {100.0 * (point->predicted.number / whole - 1.0),
        100.0 * (point->predicted.lo / whole - 1.0),
        100.0 * (point->predicted.hi / whole - 1.0), NULL};
    fulcrum_table_text(table, "series", NULL, fulcrum_string_get(&point->series));
    add_estimate(table, "measured", &point->measured);
    add_estimate(table, "predicted", &point->predicted);
    add_estimate(table, "error", &error);
    fulcrum_table_text(table, "state", NULL, point->is_disturbed ? "disturbed" : "");
    fulcrum_table_text(table, "fit", NULL, point->is_seen ? "seen" : "");
}

static bool says(
    const struct fulcrum_table *table, size_t row, const char *key, const char *text)
{
    return strcmp(fulcrum_plot_text(table, row, key), text) == 0;
}

/* How far points are off that are undisturbed, and that no fit has seen. */
struct errors {
    size_t count;
    double sum;
    double largest; /* with its sign: above 0, predicted too high */
    size_t at;      /* row of the largest */
    size_t known;   /* points with an error, whatever else they are */
    size_t disturbed;
    bool is_predicted; /* some point, measured or not */
};

/* Of one series; NULL: of all. */
static struct errors sum_errors(const struct fulcrum_table *table, const char *series)
{
    struct errors errors = {.count = 0};
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        double error = fulcrum_plot_number(table, i, "error");
        bool is_disturbed = says(table, i, "state", "disturbed");
        errors.is_predicted =
            errors.is_predicted || isfinite(fulcrum_plot_number(table, i, "predicted"));
        if (!isfinite(error) || (series != NULL && !says(table, i, "series", series))) {
            continue;
        }
        errors.known++;
        errors.disturbed += is_disturbed ? 1 : 0;
        if (is_disturbed || says(table, i, "fit", "seen")) {
            continue;
        }
        if (errors.count == 0 || fabs(error) > fabs(errors.largest)) {
            errors.largest = error;
            errors.at = i;
        }
        errors.count++;
        errors.sum += fabs(error);
    }
    return errors;
}

/* A sentence on each series beside its title. */
static void add_findings(
    struct fulcrum_result *result, const struct fulcrum_table *table)
{
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        const char *series = fulcrum_plot_text(table, i, "series");
        bool is_first = true;
        for (size_t k = 0; k < i && is_first; k++) {
            is_first = !says(table, k, "series", series);
        }
        if (!is_first) {
            continue;
        }
        struct errors errors = sum_errors(table, series);
        char text[96] = "";
        if (errors.count > 0) {
            (void)snprintf(text, sizeof text, "mean |error| %.3g %%, largest %+.3g %%",
                errors.sum / (double)errors.count, errors.largest);
        } else if (errors.known > 0) {
            (void)snprintf(text, sizeof text, "%s",
                errors.disturbed == errors.known ? "all disturbed"
                                                 : "all seen by the fit");
        }
        fulcrum_plot_guide_add(result, series, FULCRUM_UNKNOWN, text);
    }
}

/* Disturbed points would widen the scale of the others' errors. */
static void hide_disturbed(struct fulcrum_table *table)
{
    bool is_calm = sum_errors(table, NULL).count > 0;
    for (size_t i = 0; i < fulcrum_table_rows(table) && is_calm; i++) {
        if (says(table, i, "state", "disturbed")) {
            fulcrum_table_return(table, i);
            fulcrum_table_number(table, "error", NULL, FULCRUM_UNKNOWN);
        }
    }
}

static bool any_says(
    const struct fulcrum_table *table, const char *key, const char *text)
{
    bool any = false;
    for (size_t i = 0; i < fulcrum_table_rows(table) && !any; i++) {
        any = says(table, i, key, text);
    }
    return any;
}

/* "13 points that no fit has seen: mean |error| 5.25 %, largest ..." */
static void add_errors(struct fulcrum_string *text, const struct fulcrum_table *table,
    const struct errors *errors, const char *x_name, bool is_measured)
{
    bool is_undisturbed = is_measured || any_says(table, "state", "disturbed");
    double x = fulcrum_plot_number(table, errors->at, "actors");
    fulcrum_string_add(text,
        "%zu %spoint%s%s: mean |error| %.3g %%, largest %+.3g %% (%s, %.6g %s%s)",
        errors->count, is_undisturbed ? "undisturbed " : "",
        errors->count == 1 ? "" : "s",
        any_says(table, "fit", "seen") ? " that no fit has seen" : "",
        errors->sum / (double)errors->count, errors->largest,
        fulcrum_table_at(table, errors->at, "series").text, x, x_name,
        x == 1.0 ? "" : "s");
}

/* What is said of all points; `x_name` is "actor" or "environment". */
static void add_subtitle(struct fulcrum_result *result,
    const struct fulcrum_table *table, const char *x_name, const char *before)
{
    bool is_measured = fulcrum_result_text_of(result, "label/measured")[0] == '\0';
    struct errors errors = sum_errors(table, NULL);
    struct fulcrum_string text = {0};
    fulcrum_string_add(&text, "%s", before);
    if (errors.count > 0) {
        add_errors(&text, table, &errors, x_name, is_measured);
    } else if (errors.is_predicted) {
        fulcrum_string_add(
            &text, "no point to compare: all disturbed or seen by a fit");
    } else {
        fulcrum_string_add(&text, "nothing was predicted%s",
            is_measured ? ": `fulcrum measure --calibration FILE` does" : "");
    }
    fulcrum_result_text(result, "chart_subtitle", NULL, fulcrum_string_get(&text));
    fulcrum_result_print(result, "label/x", NULL, "%ss", x_name);
    if (errors.count == 0) {
        fulcrum_result_text(result, "label/disturbed", NULL, "disturbed");
    }
    fulcrum_string_clear(&text);
}

/* "greedy K=4" becomes "greedy, 4 envs per actor". */
static void name_series(struct fulcrum_string *out, const char *batching, double envs)
{
    const char *end = strstr(batching, " K=");
    fulcrum_string_clear(out);
    fulcrum_string_add(out, "%.*s",
        end != NULL ? (int)(end - batching) : (int)strlen(batching), batching);
    if (!isnan(envs)) {
        fulcrum_string_add(
            out, ", %.6g %s", envs, envs == 1.0 ? "env per actor" : "envs per actor");
    }
}

/* --- Files of `fulcrum measure` --- */

/* What the footnote tells of points that are not in order. */
struct troubles {
    size_t disturbed;
    size_t unmeasured;
    size_t failed;
    const char *failure; /* the first one; NULL: none */
};

static void add_measured(struct fulcrum_result *result, struct fulcrum_table *table,
    size_t row, struct troubles *troubles)
{
    struct point point = {
        .measured = {fulcrum_plot_number(table, row, "measured_steps_per_s"),
            fulcrum_plot_number(table, row, "measured_lo"),
            fulcrum_plot_number(table, row, "measured_hi"), NULL},
        .predicted = {fulcrum_plot_number(table, row, "predicted_steps_per_s"),
            fulcrum_plot_number(table, row, "predicted_lo"),
            fulcrum_plot_number(table, row, "predicted_hi"), NULL}};
    const char *note = fulcrum_plot_text(table, row, "note");
    double windows = fulcrum_plot_number(table, row, "windows");
    bool is_stopped = strcmp(note, "not measured") == 0;
    bool is_disturbed = strcmp(note, "disturbed") == 0;
    bool is_failed = note[0] != '\0' && !is_stopped && !is_disturbed;
    name_series(&point.series, fulcrum_plot_text(table, row, "batching"),
        fulcrum_plot_number(table, row, "envs_per_actor"));
    /* A point that failed later on may have been disturbed before. */
    point.is_disturbed = is_disturbed || fulcrum_plot_number(table, row,
                                             "disturbed_windows") > 0.5 * windows;
    troubles->unmeasured += is_stopped ? 1 : 0;
    troubles->failed += is_failed ? 1 : 0;
    troubles->failure =
        is_failed && troubles->failure == NULL ? note : troubles->failure;
    troubles->disturbed +=
        point.is_disturbed && isfinite(point.measured.number) ? 1 : 0;
    if (is_failed) {
        fulcrum_plot_guide_add(result, fulcrum_string_get(&point.series),
            fulcrum_plot_number(table, row, "actors"), "");
    }
    fulcrum_table_return(table, row);
    add_shown(table, &point);
    fulcrum_string_clear(&point.series);
}

static void add_troubles(
    struct fulcrum_result *result, const struct troubles *troubles, size_t count)
{
    struct fulcrum_string text = {0};
    if (troubles->disturbed > 0) {
        fulcrum_string_add(&text,
            "%zu of %zu points disturbed, by other programs or a processor that was "
            "slower than usual. ",
            troubles->disturbed, count);
    }
    if (troubles->unmeasured > 0) {
        fulcrum_string_add(&text, "Stopped early: %zu of %zu points not measured. ",
            troubles->unmeasured, count);
    }
    if (troubles->failed > 0) {
        fulcrum_string_add(&text, "%zu of %zu points failed%s%s", troubles->failed,
            count, troubles->failed > 1 ? ", the first: " : ": ", troubles->failure);
    }
    fulcrum_result_note(result, "footnotes", fulcrum_string_get(&text));
    fulcrum_string_clear(&text);
}

/* "mujoco-humanoid on CPU: measured against predicted" */
static void add_title(struct fulcrum_result *result, const struct fulcrum_table *table)
{
    const char *what = sum_errors(table, NULL).is_predicted
                           ? "easured against predicted"
                           : "easured end to end";
    const char *actor = fulcrum_plot_text_of(result, table, "actor");
    const char *machine = fulcrum_plot_text_of(result, table, "machine");
    if (actor[0] != '\0' && machine[0] != '\0') {
        fulcrum_result_print(
            result, "chart_title", NULL, "%s on %s: m%s", actor, machine, what);
    } else {
        fulcrum_result_print(result, "chart_title", NULL, "M%s", what);
    }
}

enum fulcrum_status fulcrum_plot_measured_add(
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    static const char *const numbers[] = {"actors", "envs_per_actor",
        "measured_steps_per_s", "measured_lo", "measured_hi", "predicted_steps_per_s",
        "predicted_lo", "predicted_hi", "windows", "disturbed_windows"};
    struct fulcrum_table *table = fulcrum_plot_points(result);
    struct troubles troubles = {.failure = NULL};
    size_t count = fulcrum_table_rows(table);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        TRY(fulcrum_table_check_numbers(table, numbers[i], err));
    }
    for (size_t i = 0; i < count; i++) {
        add_measured(result, table, i, &troubles);
    }
    struct fulcrum_string before = {0};
    fulcrum_plot_say(
        &before, "learner ", fulcrum_plot_text_of(result, table, "learner"), ", ");
    fulcrum_plot_say(&before, "calibration ",
        fulcrum_plot_text_of(result, table, "calibration"), "; ");
    add_title(result, table);
    add_subtitle(result, table, "actor", fulcrum_string_get(&before));
    fulcrum_string_clear(&before);
    add_troubles(result, &troubles, count);
    add_findings(result, table);
    hide_disturbed(table);
    return fulcrum_result_check(result, err);
}

/* --- References --- */

/* The rate that was observed at a point, beside its number of actors or environments.
 */
static const struct fulcrum_observation *find_rate(
    const struct fulcrum_reference_point *point, const char *path)
{
    bool has_x = fulcrum_reference_find_setting(point, path) != NULL;
    for (size_t k = 0; k < point->observation_count && has_x; k++) {
        if (strcmp(point->observations[k].quantity, "steps_per_s") == 0) {
            return &point->observations[k];
        }
    }
    return NULL;
}

/* "greedy K=4 disturbed" is a point of the series "greedy, 4 envs per actor". */
static void name_point(struct point *out, const struct fulcrum_reference_point *point)
{
    static const char end[] = " disturbed";
    const size_t end_length = sizeof end - 1;
    const struct fulcrum_reference_setting *envs =
        fulcrum_reference_find_setting(point, "run.envs_per_actor");
    bool is_ours = strstr(point->series, " K=") != NULL && envs != NULL;
    size_t length = strlen(point->series);
    struct fulcrum_string series = {0};
    out->is_disturbed =
        length > end_length && strcmp(point->series + length - end_length, end) == 0;
    fulcrum_string_add(&series, "%.*s",
        (int)(out->is_disturbed ? length - end_length : length), point->series);
    name_series(&out->series, length > 0 ? fulcrum_string_get(&series) : "observed",
        is_ours ? envs->number : (double)NAN);
    fulcrum_string_clear(&series);
}

static void add_point(struct fulcrum_table *table,
    const struct fulcrum_validation *validation, size_t i, const char *path)
{
    const struct fulcrum_reference_point *from = &validation->reference->points[i];
    const struct fulcrum_observation *rate = find_rate(from, path);
    struct point point = {.x = fulcrum_reference_find_setting(from, path)->number,
        .measured = {rate->value, rate->value - rate->half_width,
            rate->value + rate->half_width, NULL},
        .predicted = {FULCRUM_UNKNOWN, FULCRUM_UNKNOWN, FULCRUM_UNKNOWN, NULL}};
    for (size_t k = 0; k < validation->comparison.count; k++) {
        const struct fulcrum_compared *item = &validation->comparison.items[k];
        if (item->point == i &&
            item->observation == (size_t)(rate - from->observations)) {
            point.predicted =
                (struct fulcrum_cell){item->predicted, item->lo, item->hi, NULL};
            point.is_seen = item->is_fitted;
        }
    }
    name_point(&point, from);
    fulcrum_table_row(table);
    fulcrum_table_number(table, "actors", NULL, point.x);
    add_shown(table, &point);
    fulcrum_string_clear(&point.series);
}

enum fulcrum_status fulcrum_plot_measured_of_reference(
    const struct fulcrum_validation *validation, struct fulcrum_result *out,
    struct fulcrum_error *err)
{
    const struct fulcrum_reference *reference = validation->reference;
    const char *path = "run.env_count";
    struct fulcrum_table *table = fulcrum_result_table(out, "points", NULL);
    /* Counts of actors, unless no point has one. */
    for (size_t i = 0; i < reference->point_count; i++) {
        bool has_actors = find_rate(&reference->points[i], "run.actor_count") != NULL;
        path = has_actors ? "run.actor_count" : path;
    }
    size_t seen = 0;
    for (size_t i = 0; i < reference->point_count; i++) {
        if (find_rate(&reference->points[i], path) != NULL) {
            add_point(table, validation, i, path);
            seen += says(table, fulcrum_table_rows(table) - 1, "fit", "seen") ? 1 : 0;
        }
    }
    FAIL_IF(fulcrum_table_rows(table) == 0, err, FULCRUM_ERR_UNSUPPORTED,
        "reference %s: no point gives steps_per_s at a number of actors or "
        "environments",
        reference->name);
    const char *slash = strrchr(validation->calibration, '/');
    const char *name = slash != NULL ? slash + 1 : validation->calibration;
    struct fulcrum_string before = {0};
    fulcrum_plot_say(&before, "calibration ", name, "; ");
    fulcrum_result_text(out, "label/measured", NULL, "observed");
    fulcrum_result_text(out, "label/bars", NULL, "its half-width");
    fulcrum_result_text(out, "chart_title", NULL, reference->title);
    add_subtitle(out, table,
        strcmp(path, "run.actor_count") == 0 ? "actor" : "environment",
        fulcrum_string_get(&before));
    fulcrum_string_clear(&before);
    fulcrum_result_note_print(out, "footnotes",
        "%zu of %zu points were seen by the fit behind their predictions. %s", seen,
        fulcrum_table_rows(table), validation->reason);
    add_findings(out, table);
    hide_disturbed(table);
    return fulcrum_result_check(out, err);
}
