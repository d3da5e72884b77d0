/* baseline.c - a run of `validate`, stored, and what has moved since. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/baseline.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/try.h"
#include "presets/io/json.h"
#include "presets/io/reader.h"
#include "presets/result/result_io.h"

#define SCHEMA "fulcrum-baseline"

/* Of both schemas: fulcrum_result_write writes no other. */
#define SCHEMA_VERSION 1

/* What is kept of a design: the rest follows from these and the presets. */
static const enum fulcrum_predicted kept[] = {FULCRUM_OUTPUT_steps_per_s,
    FULCRUM_OUTPUT_cpu_thread_busy_frac, FULCRUM_OUTPUT_gpu_busy_frac,
    FULCRUM_OUTPUT_cpu_w, FULCRUM_OUTPUT_gpu_w, FULCRUM_OUTPUT_system_w};
enum { KEPT = sizeof kept / sizeof kept[0] };

static const char *const outcomes[] = {"passed", "failed", "skipped"};

void fulcrum_check_add(struct fulcrum_table *checks, const char *suite,
    enum fulcrum_check_outcome outcome, struct fulcrum_string *text, const char *name,
    ...)
{
    char words[512]; /* names of quantities and calibrations */
    va_list arguments;
    va_start(arguments, name);
    (void)vsnprintf(words, sizeof words, name, arguments);
    va_end(arguments);
    fulcrum_table_row(checks);
    fulcrum_table_text(checks, "suite", NULL, suite);
    fulcrum_table_text(checks, "name", NULL, words);
    fulcrum_table_text(checks, "outcome", NULL,
        outcomes[text->length > 0 ? outcome : FULCRUM_CHECK_PASSED]);
    fulcrum_table_text(checks, "text", NULL, fulcrum_string_get(text));
    fulcrum_string_clear(text);
}

enum fulcrum_check_outcome fulcrum_check_outcome_of(
    const struct fulcrum_table *checks, size_t row)
{
    const char *text = fulcrum_table_at(checks, row, "outcome").text;
    return strcmp(text, outcomes[FULCRUM_CHECK_FAILED]) == 0   ? FULCRUM_CHECK_FAILED
           : strcmp(text, outcomes[FULCRUM_CHECK_PASSED]) == 0 ? FULCRUM_CHECK_PASSED
                                                               : FULCRUM_CHECK_SKIPPED;
}

double fulcrum_relative_change(double from, double to)
{
    if (isnan(from) || isnan(to)) {
        return isnan(from) && isnan(to) ? 0.0 : (double)INFINITY;
    }
    double by = fabs(to - from);
    if (!(by > 0.0)) {
        return 0.0;
    }
    return fabs(from) > 0.0 ? by / fabs(from) : (double)INFINITY;
}

/* "steps_per_s is predicted as 190, 200 stored: moved by -5 %" */
static void say_moved(struct fulcrum_string *fault, double from, double to)
{
    double moved_rel = fulcrum_relative_change(from, to);
    fulcrum_string_add(fault, "is predicted as %.6g, %.6g stored", to, from);
    if (isfinite(moved_rel)) {
        fulcrum_string_add(
            fault, ": moved by %.2g %%", 100.0 * (to < from ? -moved_rel : moved_rel));
    }
}

/* As a stored run keeps it: with six digits; NAN stays NAN. */
static double six_digits(double value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%.6g", value);
    return isnan(value) ? value : strtod(text, NULL);
}

struct fulcrum_result *fulcrum_baseline_new(
    const struct fulcrum_validation *sets, size_t count)
{
    struct fulcrum_result *run = fulcrum_result_new(SCHEMA);
    struct fulcrum_table *table = fulcrum_result_table(run, "points", "");
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < sets[i].comparison.count; k++) {
            const struct fulcrum_compared *item = &sets[i].comparison.items[k];
            fulcrum_table_row(table);
            fulcrum_table_text(table, "reference", "", sets[i].reference->name);
            fulcrum_table_text(table, "calibration", "", sets[i].calibration);
            fulcrum_table_number(table, "point", "", (double)item->point);
            fulcrum_table_text(table, "quantity", "",
                fulcrum_compared_observation(&sets[i].comparison, item)->quantity);
            fulcrum_table_number(table, "observed", "", six_digits(item->observed));
            fulcrum_table_number(table, "predicted", "", six_digits(item->predicted));
            fulcrum_table_text(
                table, "kind", "", item->is_fitted ? "fitted" : "predicted");
        }
    }
    return run;
}

void fulcrum_baseline_add_design(struct fulcrum_table *designs, const char *machine,
    const char *workload, const struct fulcrum_prediction *prediction)
{
    fulcrum_table_row(designs);
    fulcrum_table_text(designs, "machine", "", machine);
    fulcrum_table_text(designs, "workload", "", workload);
    fulcrum_table_number(designs, "actor_count", "", prediction->actor_count);
    for (size_t k = 0; k < KEPT; k++) {
        fulcrum_table_number(designs, fulcrum_output_name(kept[k]), "",
            six_digits(prediction->value[kept[k]]));
    }
}

/* Whether each row has all of some columns, of texts or of numbers. */
static bool has_cells(
    const struct fulcrum_table *table, bool are_texts, const char *const *keys)
{
    for (size_t i = 0; table != NULL && i < fulcrum_table_rows(table); i++) {
        for (size_t k = 0; keys[k] != NULL; k++) {
            const struct fulcrum_cell cell = fulcrum_table_at(table, i, keys[k]);
            if (are_texts ? cell.text == NULL : !isfinite(cell.number)) {
                return false;
            }
        }
    }
    return true;
}

static bool is_whole(const struct fulcrum_result *run)
{
    const struct fulcrum_table *points = fulcrum_result_table_of(run, "points");
    const struct fulcrum_table *designs = fulcrum_result_table_of(run, "designs");
    static const char *const texts[] = {
        "reference", "calibration", "quantity", "kind", NULL};
    static const char *const numbers[] = {"point", "observed", "predicted", NULL};
    bool is_known = has_cells(points, true, texts) && has_cells(points, false, numbers);
    for (size_t i = 0; is_known && i < fulcrum_table_rows(points); i++) {
        const char *kind = fulcrum_table_at(points, i, "kind").text;
        is_known = strcmp(kind, "fitted") == 0 || strcmp(kind, "predicted") == 0;
    }
    return is_known &&
           has_cells(designs, true, (const char *[]){"machine", "workload", NULL});
}

enum fulcrum_status fulcrum_baseline_read(
    const char *path, struct fulcrum_result **out, struct fulcrum_error *err)
{
    struct json_object *document = NULL;
    struct fulcrum_result *run = NULL;
    TRY(fulcrum_document_read(path, &document, err));
    struct fulcrum_reader reader = {.file = path};
    struct fulcrum_node root = fulcrum_node_root(&reader, document);
    struct fulcrum_node schema = fulcrum_node_member(&root, "schema");
    struct fulcrum_node name = fulcrum_node_member(&schema, "name");
    struct fulcrum_node version = fulcrum_node_member(&schema, "version");
    char text[64];
    double number = 0.0;
    if (fulcrum_node_text(&name, text, sizeof text) && strcmp(text, SCHEMA) != 0 &&
        strcmp(text, "fulcrum-validate") != 0) {
        fulcrum_node_fault(&name, FULCRUM_ERR_FORMAT,
            "expected \"%s\" or \"fulcrum-validate\", as 'fulcrum validate' writes",
            SCHEMA);
    }
    if (fulcrum_node_number(&version, &number) && number != (double)SCHEMA_VERSION) {
        fulcrum_node_fault(&version, FULCRUM_ERR_FORMAT,
            "expected %d, the version that this program reads", SCHEMA_VERSION);
    }
    struct fulcrum_node points = fulcrum_node_member(&root, "points");
    size_t count = 0;
    enum fulcrum_status status = FULCRUM_OK;
    if (fulcrum_node_is_array(&points, &count) && count == 0) {
        fulcrum_node_fault(
            &points, FULCRUM_ERR_MISSING, "expected one stored prediction or more");
    }
    TRY_OR_END(fulcrum_reader_finish(&reader, err));
    TRY_OR_END(fulcrum_result_of_document(path, document, &run, err));
    if (is_whole(run)) {
        *out = run;
        run = NULL;
    } else {
        status = fulcrum_fail(err, FULCRUM_ERR_FORMAT,
            "%s: expected points and designs as 'fulcrum validate --save-baseline' "
            "writes them",
            path);
    }
end:
    fulcrum_result_free(run);
    fulcrum_document_free(document);
    return status;
}

/* A row of a table of points or designs. The JSON of `validate` has more digits than a
 * stored run. */
struct row {
    const struct fulcrum_table *table; /* NULL: there is none */
    size_t at;
};

static double number_of(const struct row *row, const char *key)
{
    return six_digits(fulcrum_table_at(row->table, row->at, key).number);
}

static const char *text_of(const struct row *row, const char *key)
{
    return fulcrum_table_at(row->table, row->at, key).text;
}

static size_t count_rows(const struct fulcrum_result *run, const char *key)
{
    const struct fulcrum_table *table =
        run != NULL ? fulcrum_result_table_of(run, key) : NULL;
    return table != NULL ? fulcrum_table_rows(table) : 0;
}

static bool agrees(const struct row *a, const struct row *b, const char *const *texts,
    const char *number)
{
    for (size_t k = 0; texts[k] != NULL; k++) {
        if (strcmp(text_of(a, texts[k]), text_of(b, texts[k])) != 0) {
            return false;
        }
    }
    return number == NULL || fabs(number_of(a, number) - number_of(b, number)) < 0.5;
}

/* The same row of the run of now: most stand at the same place. */
static struct row find_row(const struct fulcrum_baseline_check *baseline,
    const struct row *stored, const char *key, const char *const *texts,
    const char *number)
{
    size_t count = count_rows(baseline->now, key);
    struct row row = {fulcrum_result_table_of(baseline->now, key), 0};
    for (size_t i = 0; i < count; i++) {
        row.at = (stored->at + i) % count;
        if (agrees(stored, &row, texts, number)) {
            return row;
        }
    }
    return (struct row){.table = NULL};
}

static struct row find_point(
    const struct fulcrum_baseline_check *baseline, const struct row *stored)
{
    static const char *const texts[] = {"reference", "calibration", "quantity", NULL};
    return find_row(baseline, stored, "points", texts, "point");
}

static bool is_of(const struct row *stored, const struct fulcrum_validation *set)
{
    return strcmp(text_of(stored, "reference"), set->reference->name) == 0 &&
           strcmp(text_of(stored, "calibration"), set->calibration) == 0;
}

/* Before the name of a calibration, where there is one. */
static const char *gap_before(const char *calibration)
{
    return calibration[0] != '\0' ? ", " : "";
}

static void check_point(
    const struct fulcrum_baseline_check *baseline, const struct row *stored)
{
    const struct row now = find_point(baseline, stored);
    const char *calibration = text_of(stored, "calibration");
    struct fulcrum_string fault = {0};
    double most_rel = baseline->moved_rel;
    double observed = number_of(stored, "observed");
    double predicted = number_of(stored, "predicted");
    if (now.table == NULL) {
        fulcrum_string_add(&fault, "is not predicted any more");
    } else if (fulcrum_relative_change(observed, number_of(&now, "observed")) >
               most_rel) {
        fulcrum_string_add(&fault, "was observed as %.6g, %.6g stored",
            number_of(&now, "observed"), observed);
    } else if (strcmp(text_of(&now, "kind"), text_of(stored, "kind")) != 0) {
        fulcrum_string_add(
            &fault, "is %s, %s stored", text_of(&now, "kind"), text_of(stored, "kind"));
    } else if (fulcrum_relative_change(predicted, number_of(&now, "predicted")) >
               most_rel) {
        say_moved(&fault, predicted, number_of(&now, "predicted"));
    }
    fulcrum_check_add(baseline->checks, text_of(stored, "reference"),
        FULCRUM_CHECK_FAILED, &fault, "%s, point %.0f%s%s", text_of(stored, "quantity"),
        number_of(stored, "point"), gap_before(calibration), calibration);
}

/* The mean error of the predicted points of a set that both runs have. */
static void check_error(
    const struct fulcrum_baseline_check *baseline, const struct fulcrum_validation *set)
{
    double count = 0.0;
    double then_frac = 0.0;
    double now_frac = 0.0;
    struct row stored = {fulcrum_result_table_of(baseline->stored, "points"), 0};
    for (; stored.at < fulcrum_table_rows(stored.table); stored.at++) {
        double observed = number_of(&stored, "observed");
        if (!is_of(&stored, set) || !(observed > 0.0) ||
            strcmp(text_of(&stored, "kind"), "fitted") == 0) {
            continue;
        }
        const struct row now = find_point(baseline, &stored);
        if (now.table != NULL) {
            count += 1.0;
            then_frac +=
                fulcrum_relative_change(observed, number_of(&stored, "predicted"));
            now_frac += fulcrum_relative_change(
                number_of(&now, "observed"), number_of(&now, "predicted"));
        }
    }
    if (!(count > 0.0)) {
        return;
    }
    then_frac /= count;
    now_frac /= count;
    struct fulcrum_string fault = {0};
    if (now_frac > then_frac + baseline->loss_frac) {
        fulcrum_string_add(&fault,
            "of %.0f predicted points is %.3g %%, %.3g %% stored: worse by more than "
            "%.3g points",
            count, 100.0 * now_frac, 100.0 * then_frac, 100.0 * baseline->loss_frac);
    }
    fulcrum_check_add(baseline->checks, set->reference->name, FULCRUM_CHECK_FAILED,
        &fault, "mean error%s%s", gap_before(set->calibration), set->calibration);
}

size_t fulcrum_baseline_check_set(
    const struct fulcrum_baseline_check *baseline, const struct fulcrum_validation *set)
{
    size_t count = 0;
    if (count_rows(baseline->stored, "points") == 0) {
        return 0;
    }
    check_error(baseline, set);
    struct row stored = {fulcrum_result_table_of(baseline->stored, "points"), 0};
    for (; stored.at < fulcrum_table_rows(stored.table); stored.at++) {
        if (is_of(&stored, set)) {
            check_point(baseline, &stored);
            count++;
        }
    }
    return count;
}

void fulcrum_baseline_check_designs(const struct fulcrum_baseline_check *baseline)
{
    size_t count = count_rows(baseline->stored, "designs");
    for (size_t i = 0; i < count; i++) {
        const struct row stored = {
            fulcrum_result_table_of(baseline->stored, "designs"), i};
        /* Names the output that has moved furthest beyond the limit. */
        static const char *const texts[] = {"machine", "workload", NULL};
        const struct row now =
            find_row(baseline, &stored, "designs", texts, "actor_count");
        struct fulcrum_string fault = {0};
        const char *furthest = NULL;
        double most_rel = baseline->moved_rel;
        for (size_t k = 0; now.table != NULL && k < KEPT; k++) {
            const char *key = fulcrum_output_name(kept[k]);
            double moved_rel =
                fulcrum_relative_change(number_of(&stored, key), number_of(&now, key));
            furthest = moved_rel > most_rel ? key : furthest;
            most_rel = fmax(most_rel, moved_rel);
        }
        if (now.table == NULL) {
            fulcrum_string_add(&fault, "is not predicted any more");
        } else if (furthest != NULL) {
            fulcrum_string_add(&fault, "%s ", furthest);
            say_moved(&fault, number_of(&stored, furthest), number_of(&now, furthest));
        }
        fulcrum_check_add(baseline->checks, text_of(&stored, "machine"),
            FULCRUM_CHECK_FAILED, &fault, "%s, %.0f actors",
            text_of(&stored, "workload"), number_of(&stored, "actor_count"));
    }
}

static bool has_set(
    const struct fulcrum_baseline_check *baseline, const struct row *stored)
{
    for (size_t i = 0; i < baseline->set_count; i++) {
        if (is_of(stored, &baseline->sets[i])) {
            return true;
        }
    }
    return false;
}

/* The run has sets of a stored point's reference, and none of them is stored. */
static bool is_new_under_another_name(
    const struct fulcrum_baseline_check *baseline, const struct row *point)
{
    bool has_reference = false;
    for (size_t i = 0; i < baseline->set_count; i++) {
        has_reference = has_reference || strcmp(baseline->sets[i].reference->name,
                                             text_of(point, "reference")) == 0;
    }
    struct row stored = {point->table, 0};
    for (; has_reference && stored.at < fulcrum_table_rows(stored.table); stored.at++) {
        static const char *const texts[] = {"reference", NULL};
        if (agrees(&stored, point, texts, NULL) && has_set(baseline, &stored)) {
            return false;
        }
    }
    return has_reference;
}

void fulcrum_baseline_check_missing(
    const struct fulcrum_baseline_check *baseline, bool is_all)
{
    static const char *const texts[] = {"reference", "calibration", NULL};
    struct row last = {.table = NULL}; /* of the set that was missed before */
    for (size_t i = 0; i < count_rows(baseline->stored, "points"); i++) {
        const struct row stored = {
            fulcrum_result_table_of(baseline->stored, "points"), i};
        if ((last.table != NULL && agrees(&last, &stored, texts, NULL)) ||
            has_set(baseline, &stored)) {
            continue;
        }
        last = stored;
        if (is_all || is_new_under_another_name(baseline, &stored)) {
            const char *calibration = text_of(&stored, "calibration");
            struct fulcrum_string fault = {0};
            fulcrum_string_add(&fault, "are stored and not made any more");
            fulcrum_check_add(baseline->checks, text_of(&stored, "reference"),
                FULCRUM_CHECK_FAILED, &fault, "predictions%s%s",
                gap_before(calibration), calibration);
        }
    }
}
