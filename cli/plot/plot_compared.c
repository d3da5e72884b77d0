/* plot_compared.c - what was measured or published beside what is predicted of it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/plot/plot_job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/reference/validation.h"
#include "model/number.h"
#include "model/try.h"

/* How far a prediction is off in percent of `whole`, above 0. */
static void add_error(
    struct fulcrum_table *table, struct fulcrum_cell predicted, double whole)
{
    fulcrum_table_estimate(table, "error", NULL,
        (predicted.number / whole - 1.0) * 100.0, (predicted.lo / whole - 1.0) * 100.0,
        (predicted.hi / whole - 1.0) * 100.0);
}

/* --- Rates of the pipeline --- */

/*
 * Rows of one batching rule and number of environments per actor are one series. So are
 * points of one series of a reference, which become such rows with what is predicted
 * anew.
 */

/* How far points are off that are undisturbed, and that no fit has seen. */
struct errors {
    size_t count;
    double sum;
    double largest; /* with its sign: above 0, predicted too high */
    size_t at;      /* row of the largest */
    size_t known;   /* points with an error, whatever else they are */
    size_t disturbed;
};

/* Of rows that say so in a column; NULL: of all. */
static struct errors sum_errors(
    const struct fulcrum_table *table, const char *key, const char *text)
{
    struct errors errors = {.count = 0};
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        double error = fulcrum_plot_number(table, i, "error");
        bool is_disturbed = fulcrum_plot_says(table, i, "state", "disturbed");
        if (!isfinite(error) ||
            (text != NULL && !fulcrum_plot_says(table, i, key, text))) {
            continue;
        }
        errors.known++;
        errors.disturbed += is_disturbed ? 1 : 0;
        if (is_disturbed || fulcrum_plot_says(table, i, "fit", "seen") ||
            fulcrum_plot_says(table, i, "state", "fitted")) {
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
        const char *series = fulcrum_chart_words(table, i, "series");
        struct errors errors = sum_errors(table, "series", series);
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

/* The words, the text and the end, unless the text is "". */
static void say(
    struct fulcrum_string *out, const char *words, const char *text, const char *end)
{
    if (text[0] != '\0') {
        fulcrum_string_add(out, "%s%s%s", words, text, end);
    }
}

/*
 * "learner cpu, calibration c; 13 points that no fit has seen: mean |error| 5.25 %,
 * largest ..."; `x_name` is "actor" or "environment".
 */
static void add_subtitle(struct fulcrum_result *result,
    const struct fulcrum_table *table, const char *calibration, const char *x_name)
{
    struct errors errors = sum_errors(table, NULL, NULL);
    struct fulcrum_string text = {0};
    size_t rows = fulcrum_table_rows(table);
    bool is_reference = fulcrum_result_find(result, "chart_title") != NULL;
    bool is_predicted = fulcrum_result_find(result, "compared_with") != NULL;
    double x = fulcrum_plot_number(table, errors.at, "actors");
    say(&text, "learner ", fulcrum_plot_text_of(result, table, "learner"), ", ");
    say(&text, "calibration ", calibration, "; ");
    if (errors.count > 0) {
        bool is_undisturbed =
            !is_reference || count_rows(table, "state", "disturbed", rows) > 0;
        fulcrum_string_add(&text,
            "%zu %spoint%s%s: mean |error| %.3g %%, largest %+.3g %% (%s, %.6g %s%s)",
            errors.count, is_undisturbed ? "undisturbed " : "",
            errors.count == 1 ? "" : "s",
            count_rows(table, "fit", "seen", rows) > 0 ? " that no fit has seen" : "",
            errors.sum / (double)errors.count, errors.largest,
            fulcrum_chart_words(table, errors.at, "series"), x, x_name,
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

/* Errors in percent; what is not known of either has none. */
static void add_measurement(
    struct fulcrum_result *result, struct fulcrum_table *table, size_t row)
{
    const struct fulcrum_cell measured = {
        fulcrum_plot_number(table, row, "measured_steps_per_s"),
        fulcrum_plot_number(table, row, "measured_lo"),
        fulcrum_plot_number(table, row, "measured_hi"), NULL};
    const struct fulcrum_cell predicted = {
        fulcrum_plot_number(table, row, "predicted_steps_per_s"),
        fulcrum_plot_number(table, row, "predicted_lo"),
        fulcrum_plot_number(table, row, "predicted_hi"), NULL};
    const char *note = fulcrum_chart_words(table, row, "note");
    bool is_stopped = strcmp(note, "not measured") == 0;
    bool is_disturbed = strcmp(note, "disturbed") == 0;
    bool is_failed = note[0] != '\0' && !is_stopped && !is_disturbed;
    /* A point that failed later on may have been disturbed before. */
    is_disturbed =
        is_disturbed || fulcrum_plot_number(table, row, "disturbed_windows") >
                            0.5 * fulcrum_plot_number(table, row, "windows");
    is_disturbed = is_disturbed && isfinite(measured.number);
    /* "greedy K=4" becomes "greedy, 4 envs per actor". */
    const char *batching = fulcrum_chart_words(table, row, "batching");
    const char *end = strstr(batching, " K=");
    double envs = fulcrum_plot_number(table, row, "envs_per_actor");
    int length = end != NULL ? (int)(end - batching) : (int)strlen(batching);
    char with_envs[48] = "";
    if (!isnan(envs)) {
        (void)snprintf(with_envs, sizeof with_envs, ", %.6g %s per actor", envs,
            envs == 1.0 ? "env" : "envs");
    }
    fulcrum_table_return(table, row);
    fulcrum_plot_print(table, "series", "%.*s%s", length, batching, with_envs);
    fulcrum_plot_cell_add(table, "measured", measured);
    fulcrum_plot_cell_add(table, "predicted", predicted);
    add_error(
        table, predicted, measured.number > 0.0 ? measured.number : FULCRUM_UNKNOWN);
    fulcrum_table_text(table, "state", NULL, is_disturbed ? "disturbed" : "");
    fulcrum_table_text(table, "trouble", NULL, is_failed ? "failed" : note);
    if (is_failed) {
        fulcrum_plot_guide_add(result, 0, fulcrum_chart_words(table, row, "series"),
            fulcrum_plot_number(table, row, "actors"), "");
    }
}

/* What the footnote tells of points that are not in order. */
static void add_troubles(
    struct fulcrum_result *result, const struct fulcrum_table *table)
{
    static const struct {
        const char *key;
        const char *text;
        const char *words;
    } troubles[] = {
        {"state", "disturbed",
            "disturbed, by other programs or a processor that was slower than usual. "},
        {"trouble", "not measured", "not measured: the run was stopped. "},
        {"trouble", "failed", "failed; first failure: "}};
    size_t rows = fulcrum_table_rows(table);
    size_t first = 0;
    struct fulcrum_string text = {0};
    for (size_t k = 0; k < sizeof troubles / sizeof troubles[0]; k++) {
        size_t count = count_rows(table, troubles[k].key, troubles[k].text, rows);
        if (count > 0) {
            fulcrum_string_add(
                &text, "%zu of %zu points %s", count, rows, troubles[k].words);
        }
    }
    while (first < rows && !fulcrum_plot_says(table, first, "trouble", "failed")) {
        first++;
    }
    fulcrum_string_add(&text, "%s", fulcrum_chart_words(table, first, "note"));
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
    /* Disturbed points would widen the scale of the others' errors. */
    bool is_calm = sum_errors(table, NULL, NULL).count > 0;
    for (size_t i = 0; i < rows && is_calm; i++) {
        if (fulcrum_plot_says(table, i, "state", "disturbed")) {
            fulcrum_table_return(table, i);
            fulcrum_table_number(table, "error", NULL, FULCRUM_UNKNOWN);
        }
    }
    return FULCRUM_OK;
}

/* --- Validations --- */

enum { FAMILIES_MAX = 8, NAME_SIZE = 64 };

/* A family of references, and how many of them there are. */
struct family {
    char name[NAME_SIZE];
    const char *last; /* the reference that was met last: files keep them together */
    size_t references;
};

struct parity {
    struct fulcrum_table *points;
    size_t family_count;
    struct family families[FAMILIES_MAX];
};

/* Units must not be mixed on one axis, and the end of a quantity's name is its unit;
 * NULL: units of no panel. */
static const char *units_of(const char *quantity)
{
    static const struct {
        const char *end;
        const char *units;
    } ends[] = {{"steps_per_s", "rates"}, {"_w", "watts"}, {"speedup", "ratios"},
        {"_rel", "ratios"}, {"_frac", "ratios"}};
    size_t length = strlen(quantity);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        size_t end = strlen(ends[i].end);
        if (length >= end && strcmp(quantity + length - end, ends[i].end) == 0) {
            return ends[i].units;
        }
    }
    return NULL;
}

/*
 * Of units of no panel of their own: a ratio to the first point of the curve is
 * comparable with other ratios, and off by the same factor as the value itself.
 */
static double unit_at(const struct fulcrum_table *points, size_t row)
{
    static const char *const keys[] = {
        "reference", "calibration", "series", "quantity"};
    size_t first = 0;
    for (size_t k = 0; k < sizeof keys / sizeof keys[0] && first < row;) {
        const char *text = fulcrum_chart_words(points, row, keys[k]);
        bool is_same = fulcrum_plot_says(points, first, keys[k], text);
        first += is_same ? 0 : 1;
        k = is_same ? k + 1 : 0;
    }
    double unit = fulcrum_plot_number(points, first, "observed");
    return unit > 0.0 ? unit : FULCRUM_UNKNOWN;
}

/*
 * Presets of one source begin alike: "envpool-atari-laptop" is one of "envpool". More
 * families than colours share the last.
 */
static size_t family_of(struct parity *parity, const char *reference)
{
    char name[NAME_SIZE];
    size_t i = 0;
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(reference, "-"), reference);
    while (i < parity->family_count && strcmp(parity->families[i].name, name) != 0) {
        i++;
    }
    if (i == FAMILIES_MAX) {
        i = FAMILIES_MAX - 1;
        (void)snprintf(parity->families[i].name, NAME_SIZE, "others");
    } else if (i == parity->family_count) {
        memcpy(parity->families[i].name, name, sizeof name);
        parity->family_count++;
    }
    struct family *family = &parity->families[i];
    if (family->last == NULL || strcmp(family->last, reference) != 0) {
        family->last = reference;
        family->references++;
    }
    return i;
}

/* Points whose rounding reaches down to 0 keep the place of the point itself. */
static void add_comparison(struct parity *parity, size_t row)
{
    struct fulcrum_table *table = parity->points;
    struct fulcrum_cell predicted = fulcrum_table_at(table, row, "predicted");
    const char *units = units_of(fulcrum_chart_words(table, row, "quantity"));
    double unit = units == NULL ? unit_at(table, row) : 1.0;
    double measured = fulcrum_plot_number(table, row, "observed") / unit;
    double half = fulcrum_plot_number(table, row, "half_width") / unit;
    bool is_fitted = fulcrum_plot_says(table, row, "kind", "fitted");
    /* Intervals of fitted points would only hide those that count. */
    bool has_bar = !is_fitted && predicted.lo > 0.0 && predicted.hi > 0.0;
    bool is_usable = measured > 0.0 && predicted.number / unit > 0.0;
    half = isfinite(half) ? half : 0.0;
    double scale = is_usable ? 1.0 / unit : FULCRUM_UNKNOWN;
    double bar = has_bar ? scale : FULCRUM_UNKNOWN;
    predicted = (struct fulcrum_cell){
        predicted.number * scale, predicted.lo * bar, predicted.hi * bar, NULL};
    fulcrum_table_return(table, row);
    fulcrum_table_number(table, "place", NULL,
        (double)family_of(parity, fulcrum_chart_words(table, row, "reference")));
    fulcrum_table_text(table, "units", NULL, units != NULL ? units : "ratios");
    fulcrum_table_estimate(table, "measured", NULL, measured,
        half < measured ? measured - half : measured, measured + half);
    fulcrum_plot_cell_add(table, "prediction", predicted);
    add_error(table, predicted, is_usable ? measured : FULCRUM_UNKNOWN);
    fulcrum_table_text(table, "state", NULL, is_fitted ? "fitted" : "");
}

/* Points that the fit has seen are no test and do not count. */
static void add_unit_finding(struct fulcrum_result *result,
    const struct fulcrum_table *points, const char *units)
{
    struct errors errors = sum_errors(points, "units", units);
    char text[96];
    if (errors.count > 0) {
        (void)snprintf(text, sizeof text, "mean error %.2g %% over %zu predicted",
            errors.sum / (double)errors.count, errors.count);
    } else {
        (void)snprintf(text, sizeof text, "%zu fitted, none predicted", errors.known);
    }
    fulcrum_plot_guide_add(result, 0, units, FULCRUM_UNKNOWN, text);
}

/* "watts of one GPU over its activity (22 points)" */
enum fulcrum_status fulcrum_plot_coverage_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    struct fulcrum_table *table = fulcrum_chart_table(result, "coverage");
    (void)job;
    (void)err;
    for (size_t i = 0; i < fulcrum_table_rows(table); i++) {
        fulcrum_table_return(table, i);
        fulcrum_plot_print(table, "line", "%s (%.0f points)",
            fulcrum_chart_words(table, i, "predicts"),
            fulcrum_plot_number(table, i, "points"));
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_plot_parity_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    static const char *const units[] = {"rates", "watts", "ratios"};
    struct parity parity = {.points = fulcrum_chart_table(result, "points")};
    size_t rows = fulcrum_table_rows(parity.points);
    size_t references = 0;
    bool is_relative = false;
    (void)job;
    (void)err;
    for (size_t i = 0; i < rows; i++) {
        add_comparison(&parity, i);
        is_relative |=
            units_of(fulcrum_chart_words(parity.points, i, "quantity")) == NULL;
    }
    /* "envpool (6 references)", now that it is known how many there are. */
    for (size_t i = 0; i < rows; i++) {
        const struct family *family =
            &parity.families[(size_t)fulcrum_plot_number(parity.points, i, "place")];
        fulcrum_table_return(parity.points, i);
        fulcrum_plot_print(parity.points, "family", "%s (%zu reference%s)",
            family->name, family->references, family->references == 1 ? "" : "s");
    }
    for (size_t k = 0; k < parity.family_count; k++) {
        references += parity.families[k].references;
    }
    for (size_t k = 0; k < sizeof units / sizeof units[0]; k++) {
        add_unit_finding(result, parity.points, units[k]);
    }
    size_t fitted = count_rows(parity.points, "state", "fitted", rows);
    fulcrum_result_print(result, "chart_subtitle", NULL,
        "%zu references: %zu points predicted, %zu fitted", references, rows - fitted,
        fitted);
    if (is_relative) {
        fulcrum_result_note(result, "footnotes",
            "Values in other units than the panels' are shown among the ratios, "
            "relative to the first of their curve.");
    }
    return FULCRUM_OK;
}

/* --- Many GPUs --- */

static const char parts_key[] = "model_parallel_gpu_count";

/* Whether hybrid wins in a row, and in none of the same kind on fewer GPUs. */
static bool wins_first(const struct fulcrum_table *rows, size_t row)
{
    const char *scaling = fulcrum_chart_words(rows, row, "scaling");
    double parts = fulcrum_plot_number(rows, row, parts_key);
    double gpus = fulcrum_plot_number(rows, row, "gpu_count");
    bool is_first = fulcrum_plot_number(rows, row, "hybrid_gain") > 1.0;
    for (size_t i = 0; i < fulcrum_table_rows(rows) && is_first; i++) {
        is_first = !(fulcrum_plot_number(rows, i, "hybrid_gain") > 1.0 &&
                     fulcrum_plot_number(rows, i, "gpu_count") < gpus &&
                     fabs(fulcrum_plot_number(rows, i, parts_key) - parts) < 0.5 &&
                     fulcrum_plot_says(rows, i, "scaling", scaling));
    }
    return is_first;
}

/*
 * "2 to a worker win from 64 GPUs on (93 % of draws)", in the panel of times to a
 * quality where they are known: gains are by these.
 */
static void add_guide(
    struct fulcrum_result *result, const struct fulcrum_table *rows, size_t row)
{
    enum { QUALITY, WEAK, STRONG } panel = STRONG;
    double gpus = fulcrum_plot_number(rows, row, "gpu_count");
    double share = fulcrum_plot_number(rows, row, "hybrid_sooner_frac");
    char text[120];
    char draws[40] = "";
    if (!fulcrum_plot_says(rows, row, "scaling", "strong")) {
        panel =
            isnan(fulcrum_plot_number(rows, row, "quality_speedup")) ? WEAK : QUALITY;
    }
    if (!isnan(share)) {
        (void)snprintf(draws, sizeof draws, " (%.3g %% of draws)", 100.0 * share);
    }
    (void)snprintf(text, sizeof text, "%.6g to a worker win from %.6g GPUs on%s",
        fulcrum_plot_number(rows, row, parts_key), gpus, draws);
    fulcrum_plot_guide_add(result, (int)panel, NULL, gpus, text);
}

/* How each row splits the network. The quality of one GPU alone says nothing. */
enum fulcrum_status fulcrum_plot_scaling_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    struct fulcrum_table *rows = fulcrum_chart_table(result, "rows");
    bool has_quality = false;
    (void)job;
    for (size_t i = 0; i < fulcrum_table_rows(rows); i++) {
        double parts = fulcrum_plot_number(rows, i, parts_key);
        FAIL_IF(!(parts >= 1.0), err, FULCRUM_ERR_FORMAT,
            "row %zu: %s = %g: expected a number from 1", i + 1, parts_key, parts);
        has_quality |= fulcrum_plot_number(rows, i, "gpu_count") > 1.5 &&
                       !fulcrum_plot_says(rows, i, "scaling", "strong") &&
                       fulcrum_plot_number(rows, i, "quality_speedup") > 0.0;
    }
    for (size_t i = 0; i < fulcrum_table_rows(rows); i++) {
        double parts = fulcrum_plot_number(rows, i, parts_key);
        fulcrum_table_return(rows, i);
        if (parts > 1.5) {
            fulcrum_plot_print(
                rows, "parallelism", "hybrid, %.6g GPUs to a worker", parts);
        } else {
            fulcrum_table_text(rows, "parallelism", NULL, "data-parallel");
        }
        if (!has_quality) {
            fulcrum_table_estimate(rows, "quality_speedup", NULL, FULCRUM_UNKNOWN,
                FULCRUM_UNKNOWN, FULCRUM_UNKNOWN);
        }
        if (wins_first(rows, i)) {
            add_guide(result, rows, i);
        }
    }
    return FULCRUM_OK;
}

/* Speed-ups of the validation, over as many machines. */
enum fulcrum_status fulcrum_plot_efficiency_add(const struct fulcrum_plot_job *job,
    struct fulcrum_result *result, struct fulcrum_error *err)
{
    const struct fulcrum_validation *validation = &job->validation;
    const struct fulcrum_reference *reference = validation->reference;
    const struct fulcrum_comparison *comparison = &validation->comparison;
    FAIL_IF(reference->predictor != FULCRUM_PREDICTOR_NODE_SCALING, err,
        FULCRUM_ERR_UNSUPPORTED,
        "reference %s: no speedup_over_one_node: expected one like "
        "gmidrl-table5-multinode",
        reference->name);
    FAIL_IF(comparison->count == 0, err, FULCRUM_ERR_UNSUPPORTED, "reference %s: %s",
        reference->name, validation->reason);
    struct fulcrum_table *rows = fulcrum_result_table(result, "rows", NULL);
    for (size_t i = 0; i < comparison->count; i++) {
        const struct fulcrum_compared *item = &comparison->items[i];
        const struct fulcrum_reference_point *point = &reference->points[item->point];
        const char *key = fulcrum_scaling_setting(point);
        double count = fulcrum_reference_find_setting(point, key)->number;
        fulcrum_table_row(rows);
        fulcrum_plot_print(rows, "series", "%.100s, predicted", point->series);
        fulcrum_table_number(rows, key, NULL, count);
        fulcrum_table_number(rows, "predicted_frac", NULL, item->predicted / count);
        fulcrum_table_number(rows, "observed_frac", NULL, item->observed / count);
        fulcrum_table_text(rows, "held_out", NULL, item->is_fitted ? "no" : "yes");
    }
    fulcrum_result_text(result, "chart_title", NULL, reference->title);
    return FULCRUM_OK;
}
