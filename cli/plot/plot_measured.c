/* plot_measured.c - what was measured end to end, beside what was predicted of it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows of one batching rule and number of environments per actor are one series. So are
 * points of one series of a reference, which become such rows with what is predicted
 * anew.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/plot/plot_job.h"
#include "model/quantity.h"
#include "model/string.h"
#include "model/try.h"

/* How far points are off that are undisturbed, and that no fit has seen. */
struct errors {
    size_t count;
    double sum;
    double largest; /* with its sign: above 0, predicted too high */
    size_t at;      /* row of the largest */
    size_t known;   /* points with an error, whatever else they are */
    size_t disturbed;
};

/* Of one series; NULL: of all. */
static struct errors sum_errors(const struct fulcrum_table *table, const char *series)
{
    struct errors errors = {.count = 0};
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        double error = fulcrum_plot_number(table, i, "error");
        bool is_disturbed = fulcrum_plot_says(table, i, "state", "disturbed");
        if (!isfinite(error) ||
            (series != NULL && !fulcrum_plot_says(table, i, "series", series))) {
            continue;
        }
        errors.known++;
        errors.disturbed += is_disturbed ? 1 : 0;
        if (is_disturbed || fulcrum_plot_says(table, i, "fit", "seen")) {
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

/* Among the first `end` rows. */
static size_t count_rows(
    const struct fulcrum_table *table, const char *key, const char *text, size_t end)
{
    size_t count = 0;
    for (size_t i = 0; i < end; i++) {
        count += fulcrum_plot_says(table, i, key, text) ? 1 : 0;
    }
    return count;
}

/* A sentence on each series beside its title. */
static void add_findings(
    struct fulcrum_result *result, const struct fulcrum_table *table)
{
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        const char *series = fulcrum_plot_text(table, i, "series");
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
        if (count_rows(table, "series", series, i) == 0) {
            fulcrum_plot_guide_add(result, 0, series, FULCRUM_UNKNOWN, text);
        }
    }
}

/* Disturbed points would widen the scale of the others' errors. */
static void hide_disturbed(struct fulcrum_table *table)
{
    bool is_calm = sum_errors(table, NULL).count > 0;
    for (size_t i = 0; i < fulcrum_table_rows(table) && is_calm; i++) {
        if (fulcrum_plot_says(table, i, "state", "disturbed")) {
            fulcrum_table_return(table, i);
            fulcrum_table_number(table, "error", NULL, FULCRUM_UNKNOWN);
        }
    }
}

/*
 * "learner cpu, calibration c; 13 points that no fit has seen: mean |error| 5.25 %,
 * largest ..."; `x_name` is "actor" or "environment".
 */
static void add_subtitle(struct fulcrum_result *result,
    const struct fulcrum_table *table, const char *calibration, const char *x_name)
{
    struct errors errors = sum_errors(table, NULL);
    struct fulcrum_string text = {0};
    const char *learner = fulcrum_plot_text_of(result, table, "learner");
    size_t rows = fulcrum_table_rows(table);
    bool is_reference = fulcrum_result_find(result, "chart_title") != NULL;
    bool is_predicted = fulcrum_result_find(result, "compared_with") != NULL;
    double x = fulcrum_plot_number(table, errors.at, "actors");
    fulcrum_string_add(&text, "%s%s%s", learner[0] != '\0' ? "learner " : "", learner,
        learner[0] != '\0' ? ", " : "");
    fulcrum_string_add(&text, "%s%s%s", calibration[0] != '\0' ? "calibration " : "",
        calibration, calibration[0] != '\0' ? "; " : "");
    if (errors.count > 0) {
        bool is_undisturbed =
            !is_reference || count_rows(table, "state", "disturbed", rows) > 0;
        fulcrum_string_add(&text,
            "%zu %spoint%s%s: mean |error| %.3g %%, largest %+.3g %% (%s, %.6g %s%s)",
            errors.count, is_undisturbed ? "undisturbed " : "",
            errors.count == 1 ? "" : "s",
            count_rows(table, "fit", "seen", rows) > 0 ? " that no fit has seen" : "",
            errors.sum / (double)errors.count, errors.largest,
            fulcrum_plot_text(table, errors.at, "series"), x, x_name,
            x == 1.0 ? "" : "s");
    } else if (is_predicted) {
        fulcrum_string_add(
            &text, "no point to compare: all disturbed or seen by a fit");
    } else {
        fulcrum_string_add(&text, "nothing was predicted%s",
            is_reference ? "" : ": `fulcrum measure --calibration FILE` does");
    }
    fulcrum_result_text(result, "chart_subtitle", NULL, fulcrum_string_get(&text));
    fulcrum_result_print(result, "label/x", NULL, "%ss", x_name);
    if (errors.count == 0) {
        fulcrum_result_text(result, "label/disturbed", NULL, "disturbed");
    }
    fulcrum_string_clear(&text);
}

/* "greedy K=4" becomes "greedy, 4 envs per actor". */
static void name_series(struct fulcrum_table *table, size_t row)
{
    const char *batching = fulcrum_plot_text(table, row, "batching");
    const char *end = strstr(batching, " K=");
    double envs = fulcrum_plot_number(table, row, "envs_per_actor");
    int length = end != NULL ? (int)(end - batching) : (int)strlen(batching);
    if (isnan(envs)) {
        fulcrum_plot_print(table, "series", "%.*s", length, batching);
    } else {
        fulcrum_plot_print(table, "series", "%.*s, %.6g %s per actor", length, batching,
            envs, envs == 1.0 ? "env" : "envs");
    }
}

static struct fulcrum_cell rate_of(
    const struct fulcrum_table *table, size_t row, const char *const keys[3])
{
    return (struct fulcrum_cell){fulcrum_plot_number(table, row, keys[0]),
        fulcrum_plot_number(table, row, keys[1]),
        fulcrum_plot_number(table, row, keys[2]), NULL};
}

/* Errors in percent; what is not known of either has none. */
static void add_measurement(
    struct fulcrum_result *result, struct fulcrum_table *table, size_t row)
{
    static const char *const measured_keys[] = {
        "measured_steps_per_s", "measured_lo", "measured_hi"};
    static const char *const predicted_keys[] = {
        "predicted_steps_per_s", "predicted_lo", "predicted_hi"};
    struct fulcrum_cell measured = rate_of(table, row, measured_keys);
    struct fulcrum_cell predicted = rate_of(table, row, predicted_keys);
    const char *note = fulcrum_plot_text(table, row, "note");
    bool is_stopped = strcmp(note, "not measured") == 0;
    bool is_disturbed = strcmp(note, "disturbed") == 0;
    bool is_failed = note[0] != '\0' && !is_stopped && !is_disturbed;
    /* A point that failed later on may have been disturbed before. */
    is_disturbed =
        is_disturbed || fulcrum_plot_number(table, row, "disturbed_windows") >
                            0.5 * fulcrum_plot_number(table, row, "windows");
    is_disturbed = is_disturbed && isfinite(measured.number);
    fulcrum_table_return(table, row);
    name_series(table, row);
    fulcrum_plot_cell_add(table, "measured", measured);
    fulcrum_plot_cell_add(table, "predicted", predicted);
    fulcrum_plot_error_add(
        table, predicted, measured.number > 0.0 ? measured.number : FULCRUM_UNKNOWN);
    fulcrum_table_text(table, "state", NULL, is_disturbed ? "disturbed" : "");
    fulcrum_table_text(table, "trouble", NULL, is_failed ? "failed" : note);
    if (is_failed) {
        fulcrum_plot_guide_add(result, 0, fulcrum_plot_text(table, row, "series"),
            fulcrum_plot_number(table, row, "actors"), "");
    }
}

/* What the footnote tells of points that are not in order. */
static void add_troubles(
    struct fulcrum_result *result, const struct fulcrum_table *table)
{
    size_t rows = fulcrum_table_rows(table);
    size_t disturbed = count_rows(table, "state", "disturbed", rows);
    size_t unmeasured = count_rows(table, "trouble", "not measured", rows);
    size_t failed = count_rows(table, "trouble", "failed", rows);
    size_t first = 0;
    struct fulcrum_string text = {0};
    if (disturbed > 0) {
        fulcrum_string_add(&text,
            "%zu of %zu points disturbed, by other programs or a processor that was "
            "slower than usual. ",
            disturbed, rows);
    }
    if (unmeasured > 0) {
        fulcrum_string_add(
            &text, "Stopped early: %zu of %zu points not measured. ", unmeasured, rows);
    }
    while (failed > 0 && !fulcrum_plot_says(table, first, "trouble", "failed")) {
        first++;
    }
    if (failed > 0) {
        fulcrum_string_add(&text, "%zu of %zu points failed%s%s", failed, rows,
            failed > 1 ? ", the first: " : ": ",
            fulcrum_plot_text(table, first, "note"));
    }
    fulcrum_result_note(result, "footnotes", fulcrum_string_get(&text));
    fulcrum_string_clear(&text);
}

/* The rate that was observed at a point, beside its number of actors or environments.
 */
static const struct fulcrum_observation *find_rate(
    const struct fulcrum_reference_point *point, const char *path)
{
    return fulcrum_reference_find_setting(point, path) != NULL
               ? fulcrum_reference_find_observation(point, "steps_per_s")
               : NULL;
}

/* A row as `fulcrum measure` has it: "greedy K=4 disturbed" is one of "greedy K=4". */
static void add_observed(struct fulcrum_table *table,
    const struct fulcrum_validation *validation, size_t i, const char *path)
{
    static const char mark[] = " disturbed";
    const struct fulcrum_reference_point *point = &validation->reference->points[i];
    const struct fulcrum_observation *rate = find_rate(point, path);
    const struct fulcrum_reference_setting *envs =
        fulcrum_reference_find_setting(point, "run.envs_per_actor");
    const char *series = point->series[0] != '\0' ? point->series : "observed";
    size_t length = strlen(series);
    size_t kept = length - (length >= sizeof mark ? sizeof mark - 1 : 0);
    bool is_disturbed = strcmp(series + kept, mark) == 0;
    bool is_ours = strstr(series, " K=") != NULL && envs != NULL;
    fulcrum_table_row(table);
    fulcrum_plot_print(
        table, "batching", "%.*s", (int)(is_disturbed ? kept : length), series);
    fulcrum_table_number(
        table, "actors", NULL, fulcrum_reference_find_setting(point, path)->number);
    fulcrum_table_number(
        table, "envs_per_actor", NULL, is_ours ? envs->number : FULCRUM_UNKNOWN);
    fulcrum_table_number(table, "measured_steps_per_s", NULL, rate->value);
    fulcrum_table_number(table, "measured_lo", NULL, rate->value - rate->half_width);
    fulcrum_table_number(table, "measured_hi", NULL, rate->value + rate->half_width);
    fulcrum_table_text(table, "note", NULL, is_disturbed ? "disturbed" : "");
    for (size_t k = 0; k < validation->comparison.count; k++) {
        const struct fulcrum_compared *item = &validation->comparison.items[k];
        if (item->point == i && &point->observations[item->observation] == rate) {
            fulcrum_table_number(table, "predicted_steps_per_s", NULL, item->predicted);
            fulcrum_table_number(table, "predicted_lo", NULL, item->lo);
            fulcrum_table_number(table, "predicted_hi", NULL, item->hi);
            fulcrum_table_text(table, "fit", NULL, item->is_fitted ? "seen" : "");
        }
    }
}

/* Counts of actors, unless no point has one; returns "actor" or "environment". */
static const char *add_predicted_points(
    const struct fulcrum_validation *validation, struct fulcrum_result *result)
{
    const struct fulcrum_reference *reference = validation->reference;
    struct fulcrum_table *table = fulcrum_result_table(result, "points", NULL);
    bool has_actors = false;
    for (size_t i = 0; i < reference->point_count; i++) {
        has_actors |= find_rate(&reference->points[i], "run.actor_count") != NULL;
    }
    const char *path = has_actors ? "run.actor_count" : "run.env_count";
    for (size_t i = 0; i < reference->point_count; i++) {
        if (find_rate(&reference->points[i], path) != NULL) {
            add_observed(table, validation, i, path);
        }
    }
    size_t rows = fulcrum_table_rows(table);
    fulcrum_result_text(result, "label/measured", NULL, "observed");
    fulcrum_result_text(result, "label/bars", NULL, "its half-width");
    fulcrum_result_text(result, "chart_title", NULL, reference->title);
    fulcrum_result_note_print(result, "footnotes",
        "%zu of %zu points were seen by the fit behind their predictions. %s",
        count_rows(table, "fit", "seen", rows), rows, validation->reason);
    return has_actors ? "actor" : "environment";
}

enum fulcrum_status fulcrum_plot_measured_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    const struct fulcrum_reference *reference = job->validation.reference;
    const char *x_name =
        reference != NULL ? add_predicted_points(&job->validation, result) : "actor";
    struct fulcrum_table *table = fulcrum_chart_table(result, "points");
    size_t rows = fulcrum_table_rows(table);
    FAIL_IF(reference != NULL && rows == 0, err, FULCRUM_ERR_UNSUPPORTED,
        "reference %s: no point gives steps_per_s at a number of actors or "
        "environments",
        reference->name);
    bool is_predicted = false;
    for (size_t i = 0; i < rows; i++) {
        add_measurement(result, table, i);
        is_predicted |= isfinite(fulcrum_plot_number(table, i, "predicted"));
    }
    if (is_predicted) {
        fulcrum_result_text(result, "compared_with", NULL, "predicted");
    }
    const char *slash = strrchr(job->validation.calibration, '/');
    const char *calibration = slash != NULL ? slash + 1 : job->validation.calibration;
    if (reference == NULL) {
        calibration = fulcrum_plot_text_of(result, table, "calibration");
        add_troubles(result, table);
    }
    add_subtitle(result, table, calibration, x_name);
    add_findings(result, table);
    hide_disturbed(table);
    return FULCRUM_OK;
}
