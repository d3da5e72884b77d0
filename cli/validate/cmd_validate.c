/* cmd_validate.c - `fulcrum validate`: every reference beside what is predicted of it.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Predicts each reference and says how far off that is, set by set or point by point.
 * Limits and a stored run can be given to compare with: what is out of bounds, worse or
 * moved is named, and the exit code is 1, so that a change of the model's accuracy does
 * not pass unseen.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/pipeline/measure.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "cli/validate/validate_job.h"
#include "model/quantity.h"
#include "model/string.h"
#include "model/try.h"
#include "presets/io/output.h"
#include "presets/load/preset.h"
#include "presets/load/preset_folders.h"

struct settings {
    struct fulcrum_text_list references;
    struct fulcrum_reference_host host; /* of CSV files */
    const char *calibration;
    const char *baseline;
    const char *save_baseline;
    const char *junit;
    const char *markdown;
    double tolerance_rel;
    double loss_frac;
    double most_mape_frac;
    bool points;
    bool series;
    bool refit;
};

/* References with what is predicted of them. */

/* Results, stored ones too, are told apart by the names of their references. */
static enum fulcrum_status check_names_differ(const struct fulcrum_validate_job *job,
    const char *const *texts, struct fulcrum_error *err)
{
    size_t last = job->reference_count - 1;
    const char *name = job->references[last]->name;
    for (size_t i = 0; i < last; i++) {
        FAIL_IF(strcmp(job->references[i]->name, name) == 0, err, FULCRUM_ERR_RANGE,
            "%s and %s are both named '%s': expected references of different names",
            texts[i], texts[last], name);
    }
    return FULCRUM_OK;
}

/* Those that the user named, or every preset. */
static enum fulcrum_status load_references(struct fulcrum_validate_job *job,
    const struct settings *settings, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    const struct fulcrum_text_list *names = &settings->references;
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = names->count;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_reference_check_host(names, &settings->host, context, err));
    if (names->count == 0) {
        TRY_OR_END(
            fulcrum_preset_list(FULCRUM_PRESET_REFERENCE, &entries, &count, err));
    }
    job->references = fulcrum_allocate(count, sizeof(struct fulcrum_reference *));
    for (size_t i = 0; i < count; i++) {
        const char *text = names->count > 0 ? names->items[i] : entries[i].name;
        TRY_OR_END(fulcrum_reference_text_load(
            text, &settings->host, context, &job->references[i], err));
        job->reference_count++;
        if (names->count > 0) {
            TRY_OR_END(check_names_differ(job, (const char *const *)names->items, err));
        }
    }
end:
    free(entries);
    return status;
}

/* The one that the user named, or every preset that was fitted. */
static enum fulcrum_status load_calibrations(
    struct fulcrum_validate_job *job, const char *given, struct fulcrum_error *err)
{
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = 1;
    enum fulcrum_status status = FULCRUM_OK;
    if (given == NULL) {
        TRY_OR_END(
            fulcrum_preset_list(FULCRUM_PRESET_CALIBRATION, &entries, &count, err));
    }
    job->calibrations = fulcrum_allocate(count, sizeof(struct fulcrum_calibration *));
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_calibration *loaded = NULL;
        TRY_OR_END(fulcrum_calibration_load(
            given != NULL ? given : entries[i].name, &loaded, err));
        if (given != NULL ||
            fulcrum_calibration_note(loaded, FULCRUM_NOTE_FITTED_TO) != NULL) {
            job->calibrations[job->calibration_count++] = loaded;
        } else {
            fulcrum_calibration_free(loaded);
        }
    }
end:
    free(entries);
    return status;
}

/* The next set; `calibration` NULL: what the reference names. */
static enum fulcrum_status predict_set(struct fulcrum_validate_job *job,
    const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    enum fulcrum_status status =
        fulcrum_validate(reference, calibration, &job->sets[job->count], err);
    job->count += status == FULCRUM_OK ? 1 : 0;
    return status;
}

/* Also from each calibration that was fitted to the reference as a whole. */
static enum fulcrum_status predict_sets(struct fulcrum_validate_job *job,
    const struct fulcrum_reference *reference, struct fulcrum_error *err)
{
    size_t first = job->count;
    TRY(predict_set(job, reference, NULL, err));
    for (size_t i = 0; i < job->calibration_count; i++) {
        const struct fulcrum_calibration *fitted = job->calibrations[i];
        bool is_new = strcmp(job->sets[first].calibration, fitted->name) != 0;
        if (is_new && fulcrum_fitted_points_whole(fitted, reference)) {
            TRY(predict_set(job, reference, fitted, err));
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status predict_references(struct fulcrum_validate_job *job,
    bool is_given, const struct fulcrum_context *context, struct fulcrum_error *err)
{
    size_t most = job->reference_count * (job->calibration_count + 1);
    job->sets = fulcrum_allocate(most, sizeof *job->sets);
    struct fulcrum_progress progress;
    enum fulcrum_status status = FULCRUM_OK;
    fulcrum_progress_start(&progress, context);
    for (size_t i = 0; i < job->reference_count && status == FULCRUM_OK; i++) {
        const struct fulcrum_reference *reference = job->references[i];
        double done_frac = (double)i / (double)job->reference_count;
        fulcrum_progress_update(&progress, done_frac, reference->name);
        status = is_given ? predict_set(job, reference, job->calibrations[0], err)
                          : predict_sets(job, reference, err);
    }
    fulcrum_progress_end(&progress);
    return status;
}

static void clear_job(struct fulcrum_validate_job *job)
{
    for (size_t i = 0; i < job->count; i++) {
        fulcrum_validation_clear(&job->sets[i]);
    }
    for (size_t i = 0; i < job->reference_count; i++) {
        fulcrum_reference_free(job->references[i]);
    }
    for (size_t i = 0; i < job->calibration_count; i++) {
        fulcrum_calibration_free(job->calibrations[i]);
    }
    free(job->sets);
    free((void *)job->references);
    free((void *)job->calibrations);
}

/* The points that a set is judged by: those predicted, or the fitted ones where a fit
 * has seen them all. */
static enum fulcrum_comparison_filter filter_of(const struct fulcrum_validation *set)
{
    return fulcrum_comparison_errors(
               &set->comparison, NULL, FULCRUM_COMPARE_PREDICTED, -1)
                       .count > 0
               ? FULCRUM_COMPARE_PREDICTED
               : FULCRUM_COMPARE_FITTED;
}

/* What a run has found, as tables: the same for files, the terminal and the document
 * about accuracy, which give different ones a title. */

enum {
    SUMMARY,
    SETS,
    CALM,
    SERIES,
    FORMULAS,
    WORST,
    FITTED,
    BASELINES,
    POINTS,
    TABLES
};

static const char *const keys[TABLES] = {"summary", "sets", "undisturbed", "series",
    "formulas", "worst", "fitted", "baselines", "points"};

struct view {
    bool is_document;
    size_t main;                /* what CSV holds */
    const char *titles[TABLES]; /* NULL: in files alone */
};

static const struct view document = {.is_document = true,
    .titles = {
        [SUMMARY] = "## In short\n\nPoints that no fit has seen, by what is predicted:",
        [SETS] = "## Predicted points\n\nNo fit has seen these.",
        [CALM] =
            ("## Measured, disturbed and not\n\nPoints of `fulcrum measure` during "
             "which a canary was slow or other programs ran are told apart; the "
             "first figures are of the others."),
        [SERIES] = "## Curve by curve\n\nThe same, of sets that have several curves.",
        [FORMULAS] = ("## Beside small formulas\n\nMAPE of the same points by formulas "
                      "that anybody could use instead."),
        [WORST] = "## Where it is most wrong\n\nThe worst point of each of these sets.",
        [FITTED] = ("## Fitted points\n\nA fit has seen these: they say how well the "
                    "form bends to the data, not what a prediction is worth."),
    }};

static struct fulcrum_comparison_errors errors_of(
    const struct fulcrum_validation *set, enum fulcrum_comparison_filter filter)
{
    return fulcrum_comparison_errors(&set->comparison, NULL, filter, -1);
}

/* The document is the same on every machine: it has no more digits than agree. */
static double rounded(double frac, const struct view *view)
{
    return view->is_document ? round(1e3 * frac) / 1e3 + 0.0 : frac;
}

static void add_errors(struct fulcrum_table *table, const char *count_key,
    const struct fulcrum_comparison_errors *errors, const struct view *view)
{
    fulcrum_table_number(table, count_key, "points", (double)errors->count);
    fulcrum_table_number(table, "mape_frac", "MAPE", rounded(errors->mape_frac, view));
    fulcrum_table_number(table, "smape_frac", view->is_document ? "SMAPE" : NULL,
        rounded(errors->smape_frac, view));
    fulcrum_table_number(table, "max_frac", "largest",
        errors->count > 0 ? rounded(errors->max_frac, view) : FULCRUM_UNKNOWN);
    fulcrum_table_number(table, "bias_frac", "bias", rounded(errors->bias_frac, view));
    fulcrum_table_number(
        table, "covered_frac", "inside 90 %", rounded(errors->covered_frac, view));
}

/* The document has a table of them. */
static void add_fitted_count(struct fulcrum_table *table,
    const struct fulcrum_comparison_errors *errors, const struct view *view)
{
    fulcrum_table_number(table, "fitted_points", view->is_document ? NULL : "fitted",
        (double)errors->count);
}

/* Begins a row. */
static void add_name(struct fulcrum_table *table, const struct fulcrum_validation *set)
{
    fulcrum_table_row(table);
    fulcrum_table_text(table, "reference", "set", set->reference->name);
    fulcrum_table_text(table, "calibration", "calibration", set->calibration);
}

static void add_set(struct fulcrum_table *table, const struct fulcrum_validation *set,
    const struct view *view)
{
    struct fulcrum_comparison_errors new = errors_of(set, FULCRUM_COMPARE_PREDICTED);
    struct fulcrum_comparison_errors old = errors_of(set, FULCRUM_COMPARE_FITTED);
    const char *status = new.count == 0 && old.count > 0 ? "fitted" : "predicted";
    if (view->is_document && new.count == 0) {
        return;
    }
    add_name(table, set);
    fulcrum_table_text(table, "predictor", NULL,
        fulcrum_predictor_name((size_t)set->reference->predictor));
    add_errors(table, "predicted_points", &new, view);
    add_fitted_count(table, &old, view);
    fulcrum_table_number(table, "fitted_mape_frac",
        view->is_document ? NULL : "MAPE of fitted", old.mape_frac);
    fulcrum_table_text(
        table, "status", NULL, set->reason[0] == '\0' ? status : set->reason);
    fulcrum_table_flag(table, "is_carried_over", "carried over", set->is_carried_over);
}

/* Means over the points of several sets or curves. */
struct pool {
    struct fulcrum_comparison_errors sum; /* means while nothing is added */
    double covered_of;
};

static void pool_add(struct pool *pool, const struct fulcrum_comparison_errors *one)
{
    struct fulcrum_comparison_errors *sum = &pool->sum;
    double count = (double)one->count;
    if (one->count == 0) {
        return;
    }
    sum->count += one->count;
    sum->mape_frac += count * one->mape_frac;
    sum->smape_frac += count * one->smape_frac;
    sum->bias_frac += count * one->bias_frac;
    sum->max_frac = fmax(sum->max_frac, one->max_frac);
    if (isfinite(one->covered_frac)) {
        sum->covered_frac += count * one->covered_frac;
        pool->covered_of += count;
    }
}

static struct fulcrum_comparison_errors pool_means(const struct pool *pool)
{
    struct fulcrum_comparison_errors mean = pool->sum;
    double count = mean.count > 0 ? (double)mean.count : FULCRUM_UNKNOWN;
    mean.mape_frac /= count;
    mean.smape_frac /= count;
    mean.bias_frac /= count;
    mean.covered_frac /= pool->covered_of > 0.0 ? pool->covered_of : FULCRUM_UNKNOWN;
    return mean;
}

/* A row for each kind of prediction, and one for what is carried over. */
static void add_summary(struct fulcrum_table *table,
    const struct fulcrum_validate_job *job, const struct view *view)
{
    for (size_t row = 0; row < 2 * (size_t)FULCRUM_PREDICTOR_COUNT; row++) {
        struct pool pool = {.covered_of = 0.0};
        bool is_carried_over = row % 2 != 0;
        for (size_t i = 0; i < job->count; i++) {
            const struct fulcrum_validation *set = &job->sets[i];
            if ((size_t)set->reference->predictor == row / 2 &&
                set->is_carried_over == is_carried_over) {
                struct fulcrum_comparison_errors one =
                    errors_of(set, FULCRUM_COMPARE_PREDICTED);
                pool_add(&pool, &one);
            }
        }
        struct fulcrum_comparison_errors errors = pool_means(&pool);
        if (errors.count > 0) {
            char meaning[200];
            (void)snprintf(meaning, sizeof meaning, "%s%s",
                fulcrum_predictor_meaning(row / 2),
                is_carried_over ? ", carried over from another machine" : "");
            fulcrum_table_row(table);
            fulcrum_table_text(table, "predicts", "predicted", meaning);
            add_errors(table, "points", &errors, view);
        }
    }
}

/*
 * Walks the named series of a set's points, each once.
 *   next     0 before the first call
 *   series   borrowed from the reference
 *   returns  0 where there is none left
 */
static int validate_next_series(
    const struct fulcrum_validation *set, size_t *next, const char **series)
{
    const struct fulcrum_comparison *all = &set->comparison;
    const struct fulcrum_reference_point *points = set->reference->points;
    for (; *next < all->count; (*next)++) {
        *series = points[all->items[*next].point].series;
        size_t first = 0;
        while (strcmp(points[all->items[first].point].series, *series) != 0) {
            first++;
        }
        if (first == *next && (*series)[0] != '\0') {
            (*next)++;
            return 1;
        }
    }
    return 0;
}

/* MAPE by each small formula; returns whether any says something. */
static bool formula_errors(const struct fulcrum_validation *set, const char *series,
    enum fulcrum_comparison_filter filter, double out[FULCRUM_BASELINE_COUNT])
{
    bool is_any = false;
    for (int k = 0; k < FULCRUM_BASELINE_COUNT; k++) {
        out[k] =
            fulcrum_comparison_errors(&set->comparison, series, filter, k).mape_frac;
        is_any = is_any || isfinite(out[k]);
    }
    return is_any;
}

static void add_formula_errors(struct fulcrum_table *table,
    const double mape_frac[FULCRUM_BASELINE_COUNT], const struct view *view,
    bool is_shown)
{
    static const char *const titles[FULCRUM_BASELINE_COUNT] = {
        [FULCRUM_BASELINE_BOUNDS] = "bounds",
        [FULCRUM_BASELINE_TEXTBOOK] = "textbook",
        [FULCRUM_BASELINE_CAPPED_HYPERBOLA] = "capped hyperbola",
        [FULCRUM_BASELINE_HYPERBOLA] = "hyperbola"};
    for (size_t k = 0; k < FULCRUM_BASELINE_COUNT; k++) {
        char key[80];
        (void)snprintf(key, sizeof key, "%s_mape_frac", fulcrum_baseline_name(k));
        const char *title = view->is_document ? fulcrum_baseline_meaning(k) : titles[k];
        fulcrum_table_number(
            table, key, is_shown ? title : NULL, rounded(mape_frac[k], view));
    }
}

static void add_series(struct fulcrum_table *table,
    const struct fulcrum_validation *set, const char *series, const struct view *view)
{
    double mape_frac[FULCRUM_BASELINE_COUNT];
    struct fulcrum_comparison_errors new = fulcrum_comparison_errors(
        &set->comparison, series, FULCRUM_COMPARE_PREDICTED, -1);
    struct fulcrum_comparison_errors old =
        fulcrum_comparison_errors(&set->comparison, series, FULCRUM_COMPARE_FITTED, -1);
    (void)formula_errors(set, series, FULCRUM_COMPARE_PREDICTED, mape_frac);
    fulcrum_table_row(table);
    fulcrum_table_text(table, "reference", "set", set->reference->name);
    fulcrum_table_text(table, "series", "curve", series);
    add_errors(table, "predicted_points", &new, view);
    add_formula_errors(table, mape_frac, view, !view->is_document);
    add_fitted_count(table, &old, view);
}

/* Of a set that `measure` wrote, where a part of the points was disturbed. */
static void add_calm(struct fulcrum_table *table, const struct fulcrum_validation *set,
    const struct view *view)
{
    struct pool calm = {.covered_of = 0.0};
    struct pool disturbed = {.covered_of = 0.0};
    const char *series = NULL;
    size_t next = 0;
    while (validate_next_series(set, &next, &series)) {
        struct fulcrum_comparison_errors one = fulcrum_comparison_errors(
            &set->comparison, series, FULCRUM_COMPARE_PREDICTED, -1);
        size_t length = strlen(series);
        size_t end = strlen(FULCRUM_MEASURED_DISTURBED);
        bool is_disturbed = length >= end && strcmp(series + length - end,
                                                 FULCRUM_MEASURED_DISTURBED) == 0;
        pool_add(is_disturbed ? &disturbed : &calm, &one);
    }
    if (disturbed.sum.count > 0) {
        struct fulcrum_comparison_errors errors = pool_means(&calm);
        struct fulcrum_comparison_errors all =
            errors_of(set, FULCRUM_COMPARE_PREDICTED);
        add_name(table, set);
        add_errors(table, "points", &errors, view);
        fulcrum_table_number(
            table, "disturbed_points", "disturbed", (double)disturbed.sum.count);
        fulcrum_table_number(
            table, "all_mape_frac", "MAPE of all", rounded(all.mape_frac, view));
        fulcrum_table_number(
            table, "all_max_frac", "largest of all", rounded(all.max_frac, view));
    }
}

static const char *kind_name(bool is_fitted)
{
    return is_fitted ? "fitted" : "predicted";
}

/* What small formulas say of a set, where they say something: a row for people, and one
 * for each of them and the model in files. */
static void add_formulas(struct fulcrum_table *table, struct fulcrum_table *baselines,
    const struct fulcrum_validation *set, const struct view *view)
{
    enum fulcrum_comparison_filter filter = filter_of(set);
    const char *kind = kind_name(filter == FULCRUM_COMPARE_FITTED);
    double mape_frac[FULCRUM_BASELINE_COUNT];
    if (!formula_errors(set, NULL, filter, mape_frac)) {
        return;
    }
    struct fulcrum_comparison_errors own = errors_of(set, filter);
    add_name(table, set);
    fulcrum_table_number(table, "points", "points", (double)own.count);
    fulcrum_table_text(table, "kind", "kind", kind);
    fulcrum_table_number(table, "mape_frac", "model", rounded(own.mape_frac, view));
    add_formula_errors(table, mape_frac, view, true);
    for (int k = -1; k < FULCRUM_BASELINE_COUNT; k++) {
        struct fulcrum_comparison_errors errors =
            fulcrum_comparison_errors(&set->comparison, NULL, filter, k);
        if (errors.count > 0) {
            add_name(baselines, set);
            fulcrum_table_text(baselines, "by", "by",
                k < 0 ? "model" : fulcrum_baseline_name((size_t)k));
            fulcrum_table_number(baselines, "points", "points", (double)errors.count);
            fulcrum_table_number(baselines, "mape_frac", "MAPE", errors.mape_frac);
            fulcrum_table_number(baselines, "smape_frac", "SMAPE", errors.smape_frac);
            fulcrum_table_number(baselines, "max_frac", "largest", errors.max_frac);
            fulcrum_table_number(baselines, "bias_frac", "bias", errors.bias_frac);
            fulcrum_table_text(baselines, "kind", "kind", kind);
        }
    }
}

static double error_of(const struct fulcrum_compared *item)
{
    return item->predicted / item->observed - 1.0;
}

static void add_point(struct fulcrum_table *table, const struct fulcrum_validation *set,
    const struct fulcrum_compared *item)
{
    add_name(table, set);
    fulcrum_table_text(
        table, "series", "curve", set->reference->points[item->point].series);
    fulcrum_table_number(table, "point", "point", (double)item->point);
    fulcrum_table_text(table, "quantity", "quantity",
        fulcrum_validate_observation(&set->comparison, item)->quantity);
    fulcrum_table_number(table, "observed", "observed", item->observed);
    fulcrum_table_number(table, "half_width", NULL, item->half_width);
    fulcrum_table_estimate(
        table, "predicted", "predicted", item->predicted, item->lo, item->hi);
    fulcrum_table_number(table, "error_frac", "error", error_of(item));
    for (size_t k = 0; k < FULCRUM_BASELINE_COUNT; k++) {
        fulcrum_table_number(table, fulcrum_baseline_name(k), NULL, item->baseline[k]);
    }
    fulcrum_table_text(table, "kind", "kind", kind_name(item->is_fitted));
}

/* The predicted point that is furthest off; NULL where there is none. */
static const struct fulcrum_compared *worst_of(const struct fulcrum_validation *set)
{
    const struct fulcrum_compared *worst = NULL;
    for (size_t k = 0; k < set->comparison.count; k++) {
        const struct fulcrum_compared *item = &set->comparison.items[k];
        if (!item->is_fitted &&
            (worst == NULL || fabs(error_of(item)) > fabs(error_of(worst)))) {
            worst = item;
        }
    }
    return worst;
}

/* The worst point of the sets in which it is furthest off, the largest first. */
static void add_worst(
    struct fulcrum_table *table, const struct fulcrum_validate_job *job)
{
    enum { WORST_MOST = 12 };
    double last = INFINITY;
    size_t at = 0; /* where the last one was found */
    for (size_t row = 0; row < WORST_MOST; row++) {
        const struct fulcrum_validation *next = NULL;
        double most = -1.0;
        for (size_t i = 0; i < job->count; i++) {
            const struct fulcrum_compared *item = worst_of(&job->sets[i]);
            double size = item != NULL ? fabs(error_of(item)) : -1.0;
            bool is_left = size < last || (size <= last && i > at);
            if (size > most && is_left) {
                next = &job->sets[i];
                most = size;
            }
        }
        if (next == NULL) {
            return;
        }
        add_point(table, next, worst_of(next));
        last = most;
        at = (size_t)(next - job->sets);
    }
}

/* Why a set is not predicted, or not all of it. */
static void add_reason(
    struct fulcrum_result *result, const struct fulcrum_validation *set)
{
    struct fulcrum_string text = {0};
    fulcrum_string_add(
        &text, "%s (%s): %s", set->reference->name, set->reference->title, set->reason);
    if (set->reason[0] != '\0') {
        fulcrum_result_note(result, "not_predicted", fulcrum_string_get(&text));
    }
    fulcrum_string_clear(&text);
}

/* NULL: no memory. The caller frees it. */
static struct fulcrum_result *result_of(
    const struct fulcrum_validate_job *job, const struct view *view)
{
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-validate");
    struct fulcrum_table *tables[TABLES];
    for (size_t i = 0; i < TABLES; i++) {
        tables[i] = fulcrum_result_table(result, keys[i], view->titles[i]);
    }
    fulcrum_table_make_main(tables[view->main]);
    add_summary(tables[SUMMARY], job, view);
    add_worst(tables[WORST], job);
    fulcrum_table_hide(tables[WORST], "kind"); /* all are predicted */
    for (size_t i = 0; i < job->count; i++) {
        const struct fulcrum_validation *set = &job->sets[i];
        struct fulcrum_comparison_errors fitted =
            errors_of(set, FULCRUM_COMPARE_FITTED);
        const char *series = NULL;
        size_t next = 0;
        add_set(tables[SETS], set, view);
        add_calm(tables[CALM], set, view);
        while (validate_next_series(set, &next, &series)) {
            add_series(tables[SERIES], set, series, view);
        }
        add_formulas(tables[FORMULAS], tables[BASELINES], set, view);
        if (fitted.count > 0) {
            add_name(tables[FITTED], set);
            add_errors(tables[FITTED], "points", &fitted, view);
        }
        for (size_t k = 0; k < set->comparison.count; k++) {
            add_point(tables[POINTS], set, &set->comparison.items[k]);
        }
        add_reason(result, set);
    }
    if (fulcrum_table_constant(tables[SETS], "is_carried_over") <= 0.0) {
        fulcrum_table_hide(tables[SETS], "is_carried_over");
    }
    return result;
}

/*
 * Writes the document about accuracy: what is predicted how well, beside small
 * formulas, where it is most wrong, what nothing predicts.
 */
static enum fulcrum_status write_document(
    const char *path, const struct fulcrum_validate_job *job, struct fulcrum_error *err)
{
    struct fulcrum_output *output = NULL;
    struct fulcrum_result *result = result_of(job, &document);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_output_open(path, &output, err));
    (void)fputs("# Accuracy\n\n"
                "Published and measured points beside what is predicted of them, "
                "written by `fulcrum validate --markdown`.\n"
                "MAPE is the mean of |predicted - observed| / observed, SMAPE its "
                "symmetric form, the bias the mean with its sign; \"inside 90 %\" is "
                "the share of points within the interval that the prediction "
                "states, where it states one.\n\n",
        fulcrum_output_stream(output));
    TRY_OR_END(fulcrum_result_write(
        result, FULCRUM_FORMAT_MARKDOWN, NULL, fulcrum_output_stream(output), err));
    status = fulcrum_output_commit(output, err);
    output = NULL;
end:
    fulcrum_output_discard(output);
    fulcrum_result_free(result);
    return status;
}

/* Failed checks that are named one by one; JUnit has all of them. */
enum { NAMED_MOST = 20 };

/* What a run has found. */
struct findings {
    struct fulcrum_validate_job job;
    struct fulcrum_baseline_run now;
    struct fulcrum_check_list checks;
};

static enum fulcrum_status show_validation(const struct settings *settings,
    const struct fulcrum_validate_job *job, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct view view = {.titles = {NULL}};
    view.main = settings->points ? POINTS : SETS;
    view.main = settings->series ? SERIES : view.main;
    if (view.main == SETS) {
        view.titles[SUMMARY] = job->count > 1 ? "points that no fit has seen" : NULL;
        view.titles[CALM] = "measured points that nothing disturbed";
        view.titles[FORMULAS] = "MAPE beside formulas";
    }
    view.titles[view.main] = view.main == SETS && job->count > 1 ? "set by set" : "";
    return fulcrum_context_show(context, result_of(job, &view), err);
}

/* Before the name of a calibration, or "by series" where there are several. Points that
 * the calibration was fitted to are not predicted "from" it. */
static const char *joining_words(
    const char *calibration, enum fulcrum_comparison_filter filter)
{
    if (calibration[0] == '\0') {
        return "";
    }
    return filter == FULCRUM_COMPARE_FITTED || strchr(calibration, ' ') != NULL
               ? ", "
               : " from ";
}

/* Whether a set, or what is predicted of it, is within the user's bound. */
static void check_set(const struct settings *settings,
    const struct fulcrum_validation *set, struct fulcrum_check_list *checks)
{
    const char *name = set->reference->name;
    enum fulcrum_comparison_filter filter = filter_of(set);
    struct fulcrum_comparison_errors errors =
        fulcrum_comparison_errors(&set->comparison, NULL, filter, -1);
    if (set->reason[0] != '\0') {
        /* Whether a set that is not predicted is as it should be: the presets say why,
         * and one that the user names is to be predicted wherever anything can. */
        int fails = set->has_failed && settings->references.count > 0;
        fulcrum_check_say(
            fulcrum_check_list_add(checks, set->reference->name,
                fails ? FULCRUM_CHECK_FAILED : FULCRUM_CHECK_SKIPPED,
                set->comparison.count > 0 ? "predicted whole" : "predicted"),
            "%s", set->reason);
    }
    if (errors.count == 0) {
        return;
    }
    int passes = !(errors.mape_frac > settings->most_mape_frac);
    struct fulcrum_check *check = fulcrum_check_list_add(checks, name,
        passes ? FULCRUM_CHECK_PASSED : FULCRUM_CHECK_FAILED, "%s%s%s",
        filter == FULCRUM_COMPARE_FITTED ? "fitted" : "predicted",
        joining_words(set->calibration, filter), set->calibration);
    if (!passes) {
        fulcrum_check_say(check,
            "MAPE of %zu point%s is %.3g %%, at most %.3g %% wanted", errors.count,
            errors.count == 1 ? "" : "s", 100.0 * errors.mape_frac,
            100.0 * settings->most_mape_frac);
    }
}

/* What predictions are compared with; an empty path: nothing. */
static enum fulcrum_status find_baseline(const struct settings *settings,
    char out[FULCRUM_PRESET_PATH_SIZE], struct fulcrum_error *err)
{
    out[0] = '\0';
    if (settings->baseline == NULL) {
        return fulcrum_preset_find_file("baseline.json", out, err);
    }
    if (strcmp(settings->baseline, "none") == 0) {
        return FULCRUM_OK;
    }
    int length = snprintf(out, FULCRUM_PRESET_PATH_SIZE, "%s", settings->baseline);
    return length < FULCRUM_PRESET_PATH_SIZE
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_FILE,
                     "--baseline: expected a path of at most %d bytes",
                     FULCRUM_PRESET_PATH_SIZE - 1);
}

/* Whether presets are predicted from what they name themselves: all of them. */
static bool is_over_presets(const struct settings *settings)
{
    return settings->references.count == 0 && settings->calibration == NULL;
}

static void check_findings(const struct settings *settings,
    const struct fulcrum_baseline_run *baseline, struct findings *found,
    const struct fulcrum_context *context)
{
    size_t not_stored = 0;
    const struct fulcrum_baseline_pair runs = {baseline, &found->now};
    const struct fulcrum_baseline_limits limits = {
        .moved_rel = settings->tolerance_rel, .loss_frac = settings->loss_frac};
    for (size_t i = 0; i < found->job.count; i++) {
        const struct fulcrum_validation *set = &found->job.sets[i];
        check_set(settings, set, &found->checks);
        size_t stored = fulcrum_baseline_check(&runs, set, &limits, &found->checks);
        not_stored += stored == 0 && set->comparison.count > 0 ? 1 : 0;
    }
    if (not_stored > 0 && baseline->count > 0) {
        fulcrum_message_note(context,
            "%zu %s no stored predictions: --save-baseline stores them", not_stored,
            not_stored == 1 ? "set has" : "sets have");
    }
    if (is_over_presets(settings) || settings->baseline != NULL) {
        fulcrum_baseline_check_sets(
            baseline, &found->job, is_over_presets(settings), &found->checks);
    }
    if (is_over_presets(settings)) {
        fulcrum_baseline_check_designs(&runs, limits.moved_rel, &found->checks);
    }
}

static enum fulcrum_status run_checks(const struct settings *settings,
    struct findings *found, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_baseline_run baseline = {.count = 0};
    char path[FULCRUM_PRESET_PATH_SIZE];
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(find_baseline(settings, path, err));
    if (path[0] != '\0') {
        TRY_OR_END(fulcrum_baseline_read(path, &baseline, err));
    }
    check_findings(settings, &baseline, found, context);
    if (settings->refit) {
        TRY_OR_END(fulcrum_validate_refit(
            &found->job, settings->tolerance_rel, context, &found->checks, err));
    }
end:
    fulcrum_baseline_clear(&baseline);
    return status;
}

static void warn_of_failures(
    const struct fulcrum_check_list *checks, struct fulcrum_context *context)
{
    size_t failed = fulcrum_check_list_count(checks, FULCRUM_CHECK_FAILED);
    size_t skipped = fulcrum_check_list_count(checks, FULCRUM_CHECK_SKIPPED);
    size_t named = 0;
    for (size_t i = 0; i < checks->count && named < NAMED_MOST; i++) {
        const struct fulcrum_check *check = &checks->items[i];
        if (check->outcome == FULCRUM_CHECK_FAILED) {
            fulcrum_message_warn("%s: %s: %s", check->suite, check->name, check->text);
            named++;
        }
    }
    if (failed > named) {
        fulcrum_message_warn("... and %zu more", failed - named);
    }
    if (failed > 0) {
        context->exit_code = FULCRUM_EXIT_FAILED;
        fulcrum_message_warn(
            "%zu of %zu checks failed", failed, checks->count - skipped);
    }
}

static enum fulcrum_status write_junit(const char *path,
    const struct fulcrum_check_list *checks, struct fulcrum_error *err)
{
    struct fulcrum_output *output = NULL;
    TRY(fulcrum_output_open(path, &output, err));
    fulcrum_check_list_junit(checks, "fulcrum validate", fulcrum_output_stream(output));
    return fulcrum_output_commit(output, err);
}

/* A file that the command writes. */
struct written {
    const char *option;
    const char *path; /* NULL: not asked for */
};

/* Whether a file would be lost that the command reads; the baseline may be renewed. */
static enum fulcrum_status check_inputs(const struct settings *settings,
    const struct written *file, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    for (size_t i = 0; i < settings->references.count; i++) {
        char name[FULCRUM_PRESET_PATH_SIZE];
        fulcrum_reference_text_name(settings->references.items[i], name, sizeof name);
        FULCRUM_USAGE_IF(fulcrum_output_replaces(file->path, name), context, err,
            FULCRUM_ERR_FILE,
            "%s %s: is a reference that is read: expected another file", file->option,
            file->path);
    }
    bool may_renew = file->path == settings->save_baseline;
    const char *const inputs[] = {settings->host.machine, settings->host.workload,
        settings->calibration, may_renew ? NULL : settings->baseline};
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        FULCRUM_USAGE_IF(
            inputs[i] != NULL && fulcrum_output_replaces(file->path, inputs[i]),
            context, err, FULCRUM_ERR_FILE,
            "%s %s: is read, too: expected another file", file->option, file->path);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status check_settings(const struct settings *settings,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct written files[] = {{"--output", context->output_path},
        {"--junit", settings->junit}, {"--markdown", settings->markdown},
        {"--save-baseline", settings->save_baseline}};
    FULCRUM_USAGE_IF(settings->points && settings->series, context, err,
        FULCRUM_ERR_UNSUPPORTED, "--points and --series: expected one of them");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const struct written *file = &files[i];
        for (size_t k = 0; k < i && file->path != NULL; k++) {
            FULCRUM_USAGE_IF(files[k].path != NULL &&
                                 fulcrum_output_is_same(file->path, files[k].path),
                context, err, FULCRUM_ERR_FILE,
                "%s and %s are both %s: expected different files", files[k].option,
                file->option, file->path);
        }
        if (file->path != NULL) {
            TRY(check_inputs(settings, file, context, err));
        }
    }
    return FULCRUM_OK;
}

/* Files that nobody can write are found before the work. */
static enum fulcrum_status check_paths(
    const struct settings *settings, struct fulcrum_error *err)
{
    const char *const paths[] = {
        settings->junit, settings->markdown, settings->save_baseline};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        if (paths[i] != NULL) {
            TRY(fulcrum_output_check(paths[i], err));
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status write_files(const struct settings *settings,
    const struct findings *found, struct fulcrum_error *err)
{
    if (settings->junit != NULL) {
        TRY(write_junit(settings->junit, &found->checks, err));
    }
    if (settings->markdown != NULL) {
        TRY(write_document(settings->markdown, &found->job, err));
    }
    if (settings->save_baseline != NULL) {
        TRY(fulcrum_baseline_write(&found->now, settings->save_baseline, err));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status predict_all(const struct settings *settings,
    struct fulcrum_context *context, struct findings *out, struct fulcrum_error *err)
{
    bool is_given = settings->calibration != NULL;
    TRY(load_references(&out->job, settings, context, err));
    TRY(load_calibrations(&out->job, settings->calibration, err));
    TRY(predict_references(&out->job, is_given, context, err));
    return fulcrum_baseline_make(
        &out->job, is_over_presets(settings), context, &out->now, err);
}

static enum fulcrum_status run_validate(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    struct findings found = {.job = {.count = 0}};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(check_settings(settings, context, err));
    TRY_OR_END(check_paths(settings, err));
    TRY_OR_END(predict_all(settings, context, &found, err));
    TRY_OR_END(run_checks(settings, &found, context, err));
    TRY_OR_END(show_validation(settings, &found.job, context, err));
    TRY_OR_END(write_files(settings, &found, err));
    warn_of_failures(&found.checks, context);
end:
    fulcrum_check_list_clear(&found.checks);
    fulcrum_baseline_clear(&found.now);
    clear_job(&found.job);
    return status;
}

#define SETTING(member) offsetof(struct settings, member)

static const struct fulcrum_argument arguments[] = {
    {"REFERENCE", FULCRUM_ARGUMENT_REST, SETTING(references), NULL,
        FULCRUM_REFERENCE_NAMES "; default: every preset"},
    {.name = NULL},
};

static const struct fulcrum_option rows[] = {
    FULCRUM_OPTION(TEXT, "calibration", SETTING(calibration), "NAME", .letter = 'c',
        .help = "preset or JSON file to predict throughput from, in place of what each "
                "reference names"),
    FULCRUM_OPTION(FLAG, "points", SETTING(points), NULL, .letter = 'p',
        .help = "a row for every point rather than for every reference"),
    FULCRUM_OPTION(FLAG, "series", SETTING(series), NULL,
        .help = "a row for every curve of every reference"),
    FULCRUM_OPTION(FILE, "markdown", SETTING(markdown), "FILE",
        .help = "also write a document about accuracy; docs/accuracy.md is one"),
    {.name = NULL},
};

static const struct fulcrum_option check_rows[] = {
    FULCRUM_OPTION(FILE, "baseline", SETTING(baseline), "FILE", .letter = 'b',
        .help =
            "stored predictions to compare with, 'none' for no comparison; default: "
            "those of the presets. Names predictions that moved and sets that got "
            "worse, with exit code 1"),
    FULCRUM_OPTION(FILE, "save-baseline", SETTING(save_baseline), "FILE",
        .help = "store the predictions, to compare later runs with"),
    FULCRUM_OPTION(NUMBER, "tolerance", SETTING(tolerance_rel), "FRACTION",
        .fallback = "0.005", .least = 0.0, .most = 10.0,
        .help = "how far a prediction may move from the baseline's"),
    FULCRUM_OPTION(NUMBER, "loss", SETTING(loss_frac), "FRACTION", .fallback = "0.005",
        .least = 0.0, .most = 10.0,
        .help = "how much the MAPE of a set's predicted points may grow over the "
                "baseline's; 0.005 is half a percentage point"),
    FULCRUM_OPTION(NUMBER, "max-mape", SETTING(most_mape_frac), "FRACTION",
        .least = 0.0, .most = 1000.0,
        .help = "exit code 1 where the MAPE of a set is larger"),
    FULCRUM_OPTION(FLAG, "refit", SETTING(refit), NULL,
        .help = "repeat the fits to these references; exit code 1 if parameters or "
                "their errors differ by more than --tolerance (takes minutes)"),
    FULCRUM_OPTION(FILE, "junit", SETTING(junit), "FILE",
        .help = "also write every check as JUnit XML, for the reports of a CI server"),
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Validation", rows, 0},
    {"CSV files", fulcrum_reference_host_rows, SETTING(host)},
    {"Checks", check_rows, 0},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum validate", "every preset: has a prediction moved, or become worse?"},
    {"fulcrum validate envpool-atari-laptop --points", "point by point"},
    {"fulcrum validate mine.json -c c.json --max-mape 0.1 --save-baseline b.json",
        "a calibration against your own measurements"},
    {"fulcrum validate mine.json -c c.json --baseline b.json --junit accuracy.xml",
        "the same in CI, later"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_validate = {
    .name = "validate",
    .summary = "predict published and measured points, and say how far off that is",
    .description =
        "Predicts every reference and compares: mean absolute percentage error (MAPE), "
        "its symmetric form, the largest error, the mean with its sign, and the share "
        "of points inside the 90 % interval, beside the MAPE of asymptotic bounds and "
        "of the textbook product form. Points that a fit has seen are kept apart: they "
        "prove little.\n\n"
        "CPU curves, watts and work on a part of the SMs are fitted to every other "
        "point of a curve and predict the rest; throughput is predicted from the "
        "calibration of the reference or its workload, watts of whole servers from "
        "the priors of their parts. What nothing predicts is listed with the reason.",
    .examples = examples,
    .arguments = arguments,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .run = run_validate,
};
