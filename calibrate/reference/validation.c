/* validation.c - every reference predicted by what predicts its kind. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/validation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/pipeline/measure.h"
#include "model/number.h"
#include "model/try.h"
#include "presets/load/preset.h"

/* What predicts a kind of reference; throughput takes a calibration as well. */
static const struct {
    enum fulcrum_status (*predict)(
        struct fulcrum_comparison *out, struct fulcrum_error *err);
    const char *identity; /* what parameters are computed from, and so left out */
} kinds[FULCRUM_PREDICTOR_COUNT] = {
    [FULCRUM_PREDICTOR_CPU_CURVE] = {fulcrum_predict_curves, NULL},
    [FULCRUM_PREDICTOR_GPU_POWER] = {fulcrum_predict_curves, NULL},
    [FULCRUM_PREDICTOR_SERVER_POWER] = {fulcrum_predict_curves, NULL},
    [FULCRUM_PREDICTOR_SM_SCALING] = {fulcrum_predict_curves, NULL},
    [FULCRUM_PREDICTOR_NODE_SCALING] = {fulcrum_predict_curves, NULL},
    [FULCRUM_PREDICTOR_DECODING] = {fulcrum_predict_curves, NULL},
    [FULCRUM_PREDICTOR_SERVER_PRIOR] = {fulcrum_predict_watts, NULL},
    [FULCRUM_PREDICTOR_GPU_PARTS] = {fulcrum_predict_parts,
        "identity: serving_gpu_util_gain_mean_frac, which the SMs that simulation "
        "keeps busy are computed from"},
    [FULCRUM_PREDICTOR_MEMORY_GAIN] = {fulcrum_predict_memory,
        "identity: the first gain, which the parameters are computed from; no gains: "
        "figures that describe the GPUs"},
};

static enum fulcrum_status begin_comparison(struct fulcrum_comparison *out,
    const struct fulcrum_reference *reference, struct fulcrum_error *err)
{
    size_t most = 1;
    for (size_t i = 0; i < reference->point_count; i++) {
        most += reference->points[i].observation_count;
    }
    *out = (struct fulcrum_comparison){
        .reference = reference, .items = calloc(most, sizeof *out->items)};
    TRY_MEMORY(out->items, err, "no memory to compare %zu observations", most);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_predict_reference(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_comparison *out,
    struct fulcrum_error *err)
{
    enum fulcrum_predictor_kind kind = reference->predictor;
    struct fulcrum_comparison found;
    enum fulcrum_status status = begin_comparison(&found, reference, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    if (kind == FULCRUM_PREDICTOR_THROUGHPUT) {
        status = fulcrum_predict_throughput(&found, calibration, err);
    } else if (kinds[kind].predict != NULL) {
        status = kinds[kind].predict(&found, err);
    } else {
        status = fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED, "nothing predicts %s yet",
            kind == FULCRUM_PREDICTOR_NONE ? "points of this kind"
                                           : fulcrum_predictor_meaning(kind));
    }
    if (status == FULCRUM_OK) {
        *out = found;
    } else {
        fulcrum_comparison_clear(&found);
    }
    return status;
}

static const char *calibration_of(
    const struct fulcrum_reference *reference, size_t point)
{
    return fulcrum_reference_calibration(reference, reference->points[point].series);
}

/* Adds "a, b"; what does not fit is left out. */
static void append_text(char *list, size_t size, const char *gap, const char *text)
{
    size_t used = strlen(list);
    (void)snprintf(list + used, size - used, "%s%s", list[0] != '\0' ? gap : "", text);
}

/* Adds what an error says, on one line and once: reasons are cells of tables. */
static void add_reason(struct fulcrum_validation *out, const char *detail)
{
    while (*detail != '\0') {
        char line[sizeof out->reason];
        size_t length = strcspn(detail, "\n");
        (void)snprintf(line, sizeof line, "%.*s", (int)length, detail);
        if (strstr(out->reason, line) == NULL) {
            append_text(out->reason, sizeof out->reason, "; ", line);
        }
        detail += detail[length] == '\n' ? length + 1 : length;
    }
}

/* "cpu_w: neither the machine nor NAME says how many watts it draws" */
static void note_unknown_watts(const struct fulcrum_calibration *calibration,
    const struct fulcrum_comparison *found, struct fulcrum_validation *out)
{
    static const char *const quantities[] = {"cpu_w", "gpu_w"};
    const struct fulcrum_reference *reference = found->reference;
    for (size_t i = 0; i < sizeof quantities / sizeof quantities[0]; i++) {
        long missing = 0; /* observed, but for what ratios refer to, less predicted */
        for (size_t p = 0; p < reference->point_count; p++) {
            const struct fulcrum_reference_point *point = &reference->points[p];
            bool is_base = reference->is_relative && p == reference->relative_to;
            for (size_t k = 0; k < point->observation_count && !is_base; k++) {
                missing += strcmp(point->observations[k].quantity, quantities[i]) == 0;
            }
        }
        for (size_t k = 0; k < found->count; k++) {
            const struct fulcrum_observation *seen =
                fulcrum_compared_observation(found, &found->items[k]);
            missing -= strcmp(seen->quantity, quantities[i]) == 0;
        }
        if (missing > 0) {
            char why[200];
            (void)snprintf(why, sizeof why,
                "%s: neither the machine nor %s says how much it draws", quantities[i],
                calibration->name);
            add_reason(out, why);
        }
    }
}

static void note_calibration(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_validation *out)
{
    (void)snprintf(out->calibration, sizeof out->calibration, "%s",
        out->calibration[0] == '\0' ? calibration->name : "by series");
    if (strcmp(calibration->machine.name, reference->design.machine.name) != 0) {
        out->is_carried_over = 1;
    }
}

/* What cannot be predicted is a reason, not a failure. */
static enum fulcrum_status predict_or_note(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_comparison *out,
    struct fulcrum_validation *notes, struct fulcrum_error *err)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    enum fulcrum_status status =
        fulcrum_predict_reference(reference, calibration, out, &why);
    FAIL_IF(
        status == FULCRUM_ERR_NO_MEMORY, err, status, "%s: no memory", reference->name);
    if (status != FULCRUM_OK) {
        /* Kinds of points that nothing predicts are no fault of the reference. */
        add_reason(notes, why.detail);
        notes->has_failed = notes->has_failed || status != FULCRUM_ERR_UNSUPPORTED;
    } else if (calibration != NULL) {
        note_unknown_watts(calibration, out, notes);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status predict_from(const struct fulcrum_reference *reference,
    const char *name, struct fulcrum_validation *out, struct fulcrum_error *err)
{
    struct fulcrum_reference view = *reference; /* of these points alone */
    struct fulcrum_calibration *calibration = NULL;
    struct fulcrum_comparison found = {.count = 0};
    enum fulcrum_status status = FULCRUM_OK;
    size_t *origin = calloc(reference->point_count, sizeof *origin);
    view.points = calloc(reference->point_count, sizeof *view.points);
    view.point_count = 0;
    if (origin == NULL || view.points == NULL) {
        status = FULCRUM_ERR_NO_MEMORY;
        (void)fulcrum_fail(err, status, "no memory for a reference");
        goto end;
    }
    for (size_t i = 0; i < reference->point_count; i++) {
        /* What ratios refer to belongs to every part: it is no figure itself. */
        bool is_base = reference->is_relative && i == reference->relative_to;
        if (is_base || strcmp(calibration_of(reference, i), name) == 0) {
            view.relative_to =
                i == reference->relative_to ? view.point_count : view.relative_to;
            view.points[view.point_count] = reference->points[i];
            origin[view.point_count++] = i;
        }
    }
    TRY_OR_END(fulcrum_calibration_load(name, &calibration, err));
    TRY_OR_END(predict_or_note(&view, calibration, &found, out, err));
    if (found.reference != NULL && calibration != NULL) {
        note_calibration(reference, calibration, out);
    }
    for (size_t i = 0; i < found.count; i++) {
        struct fulcrum_compared *to = &out->comparison.items[out->comparison.count++];
        *to = found.items[i];
        to->point = origin[to->point];
    }
end:
    fulcrum_comparison_clear(&found);
    fulcrum_calibration_free(calibration);
    free(view.points);
    free(origin);
    return status;
}

static int by_point(const void *left, const void *right)
{
    const struct fulcrum_compared *a = left;
    const struct fulcrum_compared *b = right;
    if (a->point != b->point) {
        return a->point < b->point ? -1 : 1;
    }
    return a->observation < b->observation ? -1 : 1;
}

static enum fulcrum_status predict_by_series(const struct fulcrum_reference *reference,
    struct fulcrum_validation *out, struct fulcrum_error *err)
{
    TRY(begin_comparison(&out->comparison, reference, err));
    for (size_t i = 0; i < reference->point_count; i++) {
        const char *name = calibration_of(reference, i);
        size_t first = 0; /* that names it */
        while (strcmp(calibration_of(reference, first), name) != 0) {
            first++;
        }
        if (name[0] != '\0' && first == i) {
            TRY(predict_from(reference, name, out, err));
        }
    }
    /* "no calibration goes with 'A', 'B'" */
    char list[300] = "";
    for (size_t i = 0; i < reference->point_count; i++) {
        if (calibration_of(reference, i)[0] == '\0' &&
            fulcrum_reference_begins_series(reference, i)) {
            char quoted[70];
            (void)snprintf(quoted, sizeof quoted, "'%s'", reference->points[i].series);
            append_text(list, sizeof list, ", ", quoted);
        }
    }
    if (list[0] != '\0' && reference->calibration_count > 0) {
        append_text(
            out->reason, sizeof out->reason, "; ", "no calibration goes with series ");
        append_text(out->reason, sizeof out->reason, "", list);
    } else if (list[0] != '\0') {
        append_text(out->reason, sizeof out->reason, "; ",
            "no calibration goes with its workload");
    }
    out->has_failed = out->has_failed || out->comparison.count == 0;
    qsort(out->comparison.items, out->comparison.count, sizeof *out->comparison.items,
        by_point);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_validate(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_validation *out,
    struct fulcrum_error *err)
{
    bool is_throughput = reference->predictor == FULCRUM_PREDICTOR_THROUGHPUT;
    *out = (struct fulcrum_validation){.reference = reference};
    if (reference->not_predicted[0] != '\0') {
        (void)snprintf(out->reason, sizeof out->reason, "%s", reference->not_predicted);
        return FULCRUM_OK;
    }
    if (is_throughput && calibration == NULL) {
        enum fulcrum_status status = predict_by_series(reference, out, err);
        if (status != FULCRUM_OK) {
            fulcrum_validation_clear(out);
        }
        return status;
    }
    if (is_throughput) {
        note_calibration(reference, calibration, out);
    }
    TRY(predict_or_note(
        reference, is_throughput ? calibration : NULL, &out->comparison, out, err));
    if (out->comparison.reference != NULL &&
        kinds[reference->predictor].identity != NULL) {
        add_reason(out, kinds[reference->predictor].identity);
    }
    return FULCRUM_OK;
}

void fulcrum_validation_clear(struct fulcrum_validation *validation)
{
    fulcrum_comparison_clear(&validation->comparison);
}

/* The points that a set is judged by: those predicted, or the fitted ones where a fit
 * has seen them all. */
enum fulcrum_comparison_filter fulcrum_validation_filter(
    const struct fulcrum_validation *set)
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
    COVERAGE,
    POINTS,
    TABLES
};

static const char *const keys[TABLES] = {"summary", "sets", "undisturbed", "series",
    "formulas", "worst", "fitted", "baselines", "coverage", "points"};

struct sets {
    const struct fulcrum_validation *items;
    size_t count;
};

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

static const struct {
    const char *name;
    const char *title;
    const char *meaning;
} formulas[FULCRUM_BASELINE_COUNT] = {
    [FULCRUM_BASELINE_BOUNDS] = {"bounds", "bounds",
        "asymptotic bounds; of watts a line from idle to rated"},
    [FULCRUM_BASELINE_TEXTBOOK] = {"textbook", "textbook", "its product form"},
    [FULCRUM_BASELINE_CAPPED_HYPERBOLA] = {"capped_hyperbola", "capped hyperbola",
        "N / (a + b N) under a ceiling, fitted to the same points"},
    [FULCRUM_BASELINE_HYPERBOLA] = {
        "hyperbola", "hyperbola", "N / (a + b N), fitted to the same points"}};

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
    fulcrum_table_number(table, "half_covered_frac", "inside 50 %",
        rounded(errors->half_covered_frac, view));
    fulcrum_table_number(table, "interval_score",
        view->is_document ? "interval score" : NULL,
        rounded(errors->interval_score, view));
    fulcrum_table_number(
        table, "crps", view->is_document ? "CRPS" : NULL, rounded(errors->crps, view));
}

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
        fulcrum_predictor_name((int)set->reference->predictor));
    add_errors(table, "predicted_points", &new, view);
    fulcrum_table_number(
        table, "fitted_points", view->is_document ? NULL : "fitted", (double)old.count);
    fulcrum_table_number(table, "fitted_mape_frac",
        view->is_document ? NULL : "MAPE of fitted", old.mape_frac);
    fulcrum_table_text(
        table, "status", NULL, set->reason[0] == '\0' ? status : set->reason);
    fulcrum_table_flag(table, "is_carried_over", "carried over", set->is_carried_over);
}

/* The kinds of prediction, and each of what is carried over. */
enum { KINDS = 2 * FULCRUM_PREDICTOR_COUNT };

static bool is_of_kind(const struct fulcrum_validation *set, size_t kind)
{
    return (size_t)set->reference->predictor == kind / 2 &&
           set->is_carried_over == (kind % 2 != 0);
}

static void name_kind(size_t kind, char *out, size_t size)
{
    (void)snprintf(out, size, "%s%s", fulcrum_predictor_meaning(kind / 2),
        kind % 2 != 0 ? ", carried over from another machine" : "");
}

static const double nominal[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95};
enum { NOMINALS = sizeof nominal / sizeof nominal[0], FEW_POINTS = 10 };

/* Adds a set's unseen points to those within each interval; returns how many they are.
 */
static size_t count_within(
    const struct fulcrum_comparison *set, size_t within[NOMINALS])
{
    size_t count = 0;
    for (size_t k = 0; k < set->count; k++) {
        double at = fulcrum_compared_nominal(&set->items[k]);
        bool counts = !set->items[k].is_fitted && !isnan(at);
        count += counts ? 1 : 0;
        for (size_t n = 0; n < NOMINALS; n++) {
            within[n] += counts && at <= nominal[n] ? 1 : 0;
        }
    }
    return count;
}

/*
 * How many of a kind's points lie within the central interval of each probability, as
 * many as it says where intervals are right. Kinds of few points say nothing.
 */
static void add_coverage(struct fulcrum_table *table, const struct sets *sets)
{
    for (size_t kind = 0; kind < KINDS; kind++) {
        size_t within[NOMINALS] = {0};
        size_t count = 0;
        char name[200];
        for (size_t i = 0; i < sets->count; i++) {
            count += is_of_kind(&sets->items[i], kind)
                         ? count_within(&sets->items[i].comparison, within)
                         : 0;
        }
        name_kind(kind, name, sizeof name);
        for (size_t n = 0; n < NOMINALS && count >= FEW_POINTS; n++) {
            fulcrum_table_row(table);
            fulcrum_table_text(table, "predicts", NULL, name);
            fulcrum_table_number(table, "points", NULL, (double)count);
            fulcrum_table_number(table, "nominal_frac", NULL, nominal[n]);
            fulcrum_table_number(
                table, "observed_frac", NULL, (double)within[n] / (double)count);
        }
    }
}

/* A row for each kind of prediction, and one for what is carried over. */
static void add_summary(
    struct fulcrum_table *table, const struct sets *sets, const struct view *view)
{
    for (size_t row = 0; row < KINDS; row++) {
        struct fulcrum_comparison_errors errors = {.count = 0};
        for (size_t i = 0; i < sets->count; i++) {
            const struct fulcrum_validation *set = &sets->items[i];
            if (is_of_kind(set, row)) {
                fulcrum_comparison_errors_add(
                    &errors, &set->comparison, NULL, FULCRUM_COMPARE_PREDICTED, -1);
            }
        }
        fulcrum_comparison_errors_end(&errors);
        if (errors.count > 0) {
            char meaning[200];
            name_kind(row, meaning, sizeof meaning);
            fulcrum_table_row(table);
            fulcrum_table_text(table, "predicts", "predicted", meaning);
            add_errors(table, "points", &errors, view);
        }
    }
}

/* The series of a set's point, where the point is the first of a named one of which
 * anything is compared; NULL: it is not. Borrowed. */
static const char *series_from(const struct fulcrum_validation *set, size_t point)
{
    const struct fulcrum_reference_point *points = set->reference->points;
    const char *series = points[point].series;
    bool is_first =
        series[0] != '\0' && fulcrum_reference_begins_series(set->reference, point);
    for (size_t i = 0; i < set->comparison.count && is_first; i++) {
        if (strcmp(points[set->comparison.items[i].point].series, series) == 0) {
            return series;
        }
    }
    return NULL;
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
    for (size_t k = 0; k < FULCRUM_BASELINE_COUNT; k++) {
        char key[80];
        (void)snprintf(key, sizeof key, "%s_mape_frac", formulas[k].name);
        const char *title = view->is_document ? formulas[k].meaning : formulas[k].title;
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
    fulcrum_table_number(
        table, "fitted_points", view->is_document ? NULL : "fitted", (double)old.count);
}

/* Of a set that `measure` wrote, where a part of the points was disturbed. */
static void add_calm(struct fulcrum_table *table, const struct fulcrum_validation *set,
    const struct view *view)
{
    struct fulcrum_comparison_errors calm = {.count = 0};
    struct fulcrum_comparison_errors disturbed = {.count = 0};
    for (size_t i = 0; i < set->reference->point_count; i++) {
        const char *series = series_from(set, i);
        if (series == NULL) {
            continue;
        }
        size_t length = strlen(series);
        size_t end = strlen(FULCRUM_MEASURED_DISTURBED);
        bool is_disturbed = length >= end && strcmp(series + length - end,
                                                 FULCRUM_MEASURED_DISTURBED) == 0;
        fulcrum_comparison_errors_add(is_disturbed ? &disturbed : &calm,
            &set->comparison, series, FULCRUM_COMPARE_PREDICTED, -1);
    }
    if (disturbed.count > 0) {
        fulcrum_comparison_errors_end(&calm);
        struct fulcrum_comparison_errors all =
            errors_of(set, FULCRUM_COMPARE_PREDICTED);
        add_name(table, set);
        add_errors(table, "points", &calm, view);
        fulcrum_table_number(
            table, "disturbed_points", "disturbed", (double)disturbed.count);
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
    enum fulcrum_comparison_filter filter = fulcrum_validation_filter(set);
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
            fulcrum_table_text(
                baselines, "by", "by", k < 0 ? "model" : formulas[k].name);
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
        fulcrum_compared_observation(&set->comparison, item)->quantity);
    fulcrum_table_number(table, "observed", "observed", item->observed);
    fulcrum_table_number(table, "half_width", NULL, item->half_width);
    fulcrum_table_estimate(
        table, "predicted", "predicted", item->predicted, item->lo, item->hi);
    fulcrum_table_number(table, "error_frac", "error", error_of(item));
    for (size_t k = 0; k < FULCRUM_BASELINE_COUNT; k++) {
        fulcrum_table_number(table, formulas[k].name, NULL, item->baseline[k]);
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
static void add_worst(struct fulcrum_table *table, const struct sets *sets)
{
    enum { WORST_MOST = 12 };
    double last = INFINITY;
    size_t at = 0; /* where the last one was found */
    for (size_t row = 0; row < WORST_MOST; row++) {
        const struct fulcrum_validation *next = NULL;
        double most = -1.0;
        for (size_t i = 0; i < sets->count; i++) {
            const struct fulcrum_compared *item = worst_of(&sets->items[i]);
            double size = item != NULL ? fabs(error_of(item)) : -1.0;
            bool is_left = size < last || (size <= last && i > at);
            if (size > most && is_left) {
                next = &sets->items[i];
                most = size;
            }
        }
        if (next == NULL) {
            return;
        }
        add_point(table, next, worst_of(next));
        last = most;
        at = (size_t)(next - sets->items);
    }
}

static struct view view_of(enum fulcrum_validation_view which, bool has_several)
{
    struct view view = {.main = which == FULCRUM_VALIDATION_POINTS   ? POINTS
                                : which == FULCRUM_VALIDATION_SERIES ? SERIES
                                                                     : SETS};
    if (which == FULCRUM_VALIDATION_DOCUMENT) {
        return document;
    }
    if (which == FULCRUM_VALIDATION_SETS) {
        view.titles[SUMMARY] = has_several ? "points that no fit has seen" : NULL;
        view.titles[CALM] = "measured points that nothing disturbed";
        view.titles[FORMULAS] = "MAPE beside formulas";
    }
    view.titles[view.main] = view.main == SETS && has_several ? "set by set" : "";
    return view;
}

struct fulcrum_result *fulcrum_validation_result(const struct fulcrum_validation *items,
    size_t count, enum fulcrum_validation_view which)
{
    const struct view view = view_of(which, count > 1);
    const struct sets sets = {items, count};
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-validate");
    struct fulcrum_table *tables[TABLES];
    for (size_t i = 0; i < TABLES; i++) {
        tables[i] = fulcrum_result_table(result, keys[i], view.titles[i]);
    }
    fulcrum_table_make_main(tables[view.main]);
    add_summary(tables[SUMMARY], &sets, &view);
    add_coverage(tables[COVERAGE], &sets);
    add_worst(tables[WORST], &sets);
    fulcrum_table_hide(tables[WORST], "kind"); /* all are predicted */
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_validation *set = &items[i];
        struct fulcrum_comparison_errors fitted =
            errors_of(set, FULCRUM_COMPARE_FITTED);
        add_set(tables[SETS], set, &view);
        add_calm(tables[CALM], set, &view);
        for (size_t k = 0; k < set->reference->point_count; k++) {
            const char *series = series_from(set, k);
            if (series != NULL) {
                add_series(tables[SERIES], set, series, &view);
            }
        }
        add_formulas(tables[FORMULAS], tables[BASELINES], set, &view);
        if (fitted.count > 0) {
            add_name(tables[FITTED], set);
            add_errors(tables[FITTED], "points", &fitted, &view);
        }
        for (size_t k = 0; k < set->comparison.count; k++) {
            add_point(tables[POINTS], set, &set->comparison.items[k]);
        }
        /* Why a set is not predicted, or not all of it. */
        if (set->reason[0] != '\0') {
            fulcrum_result_note_print(result, "not_predicted", "%s (%s): %s",
                set->reference->name, set->reference->title, set->reason);
        }
    }
    if (fulcrum_table_constant(tables[SETS], "is_carried_over") <= 0.0) {
        fulcrum_table_hide(tables[SETS], "is_carried_over");
    }
    return result;
}
