/* cmd_validate.c - `fulcrum validate`: every reference beside what is predicted of it.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Predicts each reference and says how far off that is, set by set or point by point. A
 * stored run can be given to compare with: a prediction that has moved is named, and
 * the exit code is 1, so that a change of the model's accuracy does not pass unseen.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/validation.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "presets/document.h"
#include "presets/json.h"
#include "presets/preset.h"
#include "presets/reader.h"
#include "presets/reference_load.h"

struct settings {
    struct fulcrum_text_list references;
    const char *baseline;
    double tolerance_rel;
    int points;
};

struct job {
    const struct settings *settings;
    size_t count;
    struct fulcrum_reference **references;
    struct fulcrum_validation *validations;
};

static void job_free(struct job *job)
{
    for (size_t i = 0; i < job->count; i++) {
        fulcrum_validation_clear(&job->validations[i]);
        fulcrum_reference_free(job->references[i]);
    }
    free((void *)job->references);
    free(job->validations);
}

static enum fulcrum_status allocate(
    struct job *job, size_t count, struct fulcrum_error *err)
{
    job->references = calloc(count + 1, sizeof(struct fulcrum_reference *));
    job->validations = calloc(count + 1, sizeof *job->validations);
    return job->references != NULL && job->validations != NULL
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a validation");
}

static enum fulcrum_status add_reference(
    struct job *job, const char *name, struct fulcrum_error *err)
{
    enum fulcrum_status status =
        fulcrum_reference_load(name, &job->references[job->count], err);
    job->count += status == FULCRUM_OK ? 1 : 0;
    return status;
}

/* Those that the user named, or every preset. */
static enum fulcrum_status load(struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_text_list *names = &job->settings->references;
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = names->count;
    enum fulcrum_status status = FULCRUM_OK;
    if (names->count == 0) {
        status = fulcrum_preset_list(FULCRUM_PRESET_REFERENCE, &entries, &count, err);
    }
    if (status == FULCRUM_OK) {
        status = allocate(job, count, err);
    }
    for (size_t i = 0; i < count && status == FULCRUM_OK; i++) {
        const char *name = names->count > 0 ? names->items[i] : entries[i].name;
        status = add_reference(job, name, err);
    }
    free(entries);
    return status;
}

static enum fulcrum_status validate(
    struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_progress progress;
    enum fulcrum_status status = FULCRUM_OK;
    fulcrum_progress_start(&progress, context);
    for (size_t i = 0; i < job->count && status == FULCRUM_OK; i++) {
        fulcrum_progress_update(
            &progress, (double)i / (double)job->count, job->references[i]->name);
        status = fulcrum_validate(job->references[i], NULL, &job->validations[i], err);
    }
    fulcrum_progress_end(&progress);
    return status;
}

static const struct fulcrum_column set_columns[] = {
    {"reference", FULCRUM_COLUMN_TEXT, NULL},
    {"predictor", FULCRUM_COLUMN_TEXT, NULL},
    {"predicted_points", FULCRUM_COLUMN_NUMBER, "points"},
    {"mape_frac", FULCRUM_COLUMN_NUMBER, "MAPE"},
    {"smape_frac", FULCRUM_COLUMN_NUMBER, "SMAPE"},
    {"max_frac", FULCRUM_COLUMN_NUMBER, "max"},
    {"bias_frac", FULCRUM_COLUMN_NUMBER, "bias"},
    {"covered_frac", FULCRUM_COLUMN_NUMBER, "in 90 %"},
    {"bounds_mape_frac", FULCRUM_COLUMN_NUMBER, "bounds"},
    {"textbook_mape_frac", FULCRUM_COLUMN_NUMBER, "textbook"},
    {"fitted_points", FULCRUM_COLUMN_NUMBER, "fitted"},
    {"fitted_mape_frac", FULCRUM_COLUMN_NUMBER, "MAPE"},
    {"status", FULCRUM_COLUMN_TEXT, NULL},
};

static struct fulcrum_report *report_sets(const struct job *job)
{
    struct fulcrum_report *report = fulcrum_report_new(
        "sets", set_columns, sizeof set_columns / sizeof set_columns[0]);
    for (size_t i = 0; i < job->count; i++) {
        const struct fulcrum_validation *set = &job->validations[i];
        const struct fulcrum_comparison *all = &set->comparison;
        struct fulcrum_comparison_errors new =
            fulcrum_comparison_errors(all, NULL, FULCRUM_COMPARE_PREDICTED, -1);
        struct fulcrum_comparison_errors old =
            fulcrum_comparison_errors(all, NULL, FULCRUM_COMPARE_FITTED, -1);
        double baseline[FULCRUM_BASELINE_COUNT];
        for (int k = 0; k < FULCRUM_BASELINE_COUNT; k++) {
            baseline[k] =
                fulcrum_comparison_errors(all, NULL, FULCRUM_COMPARE_ALL, k).mape_frac;
        }
        fulcrum_report_add_text(report, set->reference->name);
        fulcrum_report_add_text(
            report, fulcrum_predictor_name((size_t)set->reference->predictor));
        const double numbers[] = {(double)new.count, new.mape_frac, new.smape_frac,
            new.count > 0 ? new.max_frac : (double)NAN, new.bias_frac, new.covered_frac,
            baseline[FULCRUM_BASELINE_BOUNDS], baseline[FULCRUM_BASELINE_TEXTBOOK],
            (double)old.count, old.mape_frac};
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            fulcrum_report_add_number(report, numbers[k]);
        }
        fulcrum_report_add_text(
            report, set->reason[0] == '\0' ? "predicted" : set->reason);
    }
    return report;
}

static const struct fulcrum_column point_columns[] = {
    {"reference", FULCRUM_COLUMN_TEXT, NULL},
    {"series", FULCRUM_COLUMN_TEXT, NULL},
    {"point", FULCRUM_COLUMN_NUMBER, NULL},
    {"quantity", FULCRUM_COLUMN_TEXT, NULL},
    {"observed", FULCRUM_COLUMN_NUMBER, NULL},
    {"half_width", FULCRUM_COLUMN_NUMBER, "+-"},
    {"predicted", FULCRUM_COLUMN_NUMBER, NULL},
    {"predicted_lo", FULCRUM_COLUMN_NUMBER, "5 %"},
    {"predicted_hi", FULCRUM_COLUMN_NUMBER, "95 %"},
    {"error_frac", FULCRUM_COLUMN_NUMBER, "error"},
    {"bounds", FULCRUM_COLUMN_NUMBER, NULL},
    {"textbook", FULCRUM_COLUMN_NUMBER, NULL},
    {"kind", FULCRUM_COLUMN_TEXT, NULL},
};

static const struct fulcrum_observation *observation_of(
    const struct fulcrum_comparison *comparison, const struct fulcrum_compared *item)
{
    return &comparison->reference->points[item->point].observations[item->observation];
}

static void add_point(struct fulcrum_report *report,
    const struct fulcrum_comparison *comparison, const struct fulcrum_compared *item)
{
    const struct fulcrum_reference *reference = comparison->reference;
    fulcrum_report_add_text(report, reference->name);
    fulcrum_report_add_text(report, reference->points[item->point].series);
    fulcrum_report_add_number(report, (double)item->point);
    fulcrum_report_add_text(report, observation_of(comparison, item)->quantity);
    const double numbers[] = {item->observed, item->half_width, item->predicted,
        item->lo, item->hi, item->predicted / item->observed - 1.0,
        item->baseline[FULCRUM_BASELINE_BOUNDS],
        item->baseline[FULCRUM_BASELINE_TEXTBOOK]};
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        fulcrum_report_add_number(report, numbers[k]);
    }
    fulcrum_report_add_text(report, item->is_fitted ? "fitted" : "predicted");
}

static struct fulcrum_report *report_points(const struct job *job)
{
    struct fulcrum_report *report = fulcrum_report_new(
        "points", point_columns, sizeof point_columns / sizeof point_columns[0]);
    for (size_t i = 0; i < job->count; i++) {
        const struct fulcrum_comparison *all = &job->validations[i].comparison;
        for (size_t k = 0; k < all->count; k++) {
            add_point(report, all, &all->items[k]);
        }
    }
    return report;
}

static enum fulcrum_status print(
    const struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_report *sets = report_sets(job);
    struct fulcrum_report *points = report_points(job);
    enum fulcrum_status status = FULCRUM_OK;
    if (context->format == FULCRUM_FORMAT_JSON) {
        struct fulcrum_json *document = fulcrum_report_document("fulcrum-validate");
        fulcrum_report_to_json(sets, document);
        fulcrum_report_to_json(points, document);
        status = fulcrum_report_print_document(document, context, err);
    } else {
        status = fulcrum_report_print(
            job->settings->points ? points : sets, "fulcrum-validate", context, err);
    }
    fulcrum_report_free(sets);
    fulcrum_report_free(points);
    return status;
}

static const struct fulcrum_compared *find_in(
    const struct fulcrum_comparison *all, double point, const char *quantity)
{
    for (size_t k = 0; k < all->count; k++) {
        const struct fulcrum_compared *item = &all->items[k];
        if (fabs((double)item->point - point) < 0.5 &&
            strcmp(observation_of(all, item)->quantity, quantity) == 0) {
            return item;
        }
    }
    return NULL;
}

/* The item that a stored point stands for; NULL where there is none any more. */
static const struct fulcrum_compared *find_item(
    const struct job *job, const char *reference, double point, const char *quantity)
{
    for (size_t i = 0; i < job->count; i++) {
        if (strcmp(job->references[i]->name, reference) == 0) {
            return find_in(&job->validations[i].comparison, point, quantity);
        }
    }
    return NULL;
}

static int is_wanted(const struct job *job, const char *reference)
{
    for (size_t i = 0; i < job->count; i++) {
        if (strcmp(job->references[i]->name, reference) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Returns whether the stored point is as it was, or not asked about. */
static int is_unmoved(const struct job *job, const struct fulcrum_node *node)
{
    struct fulcrum_node members[4];
    static const char *const keys[] = {"reference", "quantity", "point", "predicted"};
    char reference[64];
    char quantity[64];
    double point = 0.0;
    double stored = 0.0;
    for (size_t i = 0; i < 4; i++) {
        members[i] = fulcrum_node_member(node, keys[i]);
    }
    if (!fulcrum_node_text(&members[0], reference, sizeof reference) ||
        !fulcrum_node_text(&members[1], quantity, sizeof quantity) ||
        !fulcrum_node_number(&members[2], &point) ||
        !fulcrum_node_number(&members[3], &stored) || !is_wanted(job, reference)) {
        return 1;
    }
    const struct fulcrum_compared *item = find_item(job, reference, point, quantity);
    if (item == NULL) {
        fulcrum_message_warn(
            "%s, point %.0f, %s is not predicted any more", reference, point, quantity);
        return 0;
    }
    double moved = item->predicted / stored - 1.0;
    if (fabs(moved) <= job->settings->tolerance_rel) {
        return 1;
    }
    fulcrum_message_warn(
        "%s, point %.0f: %s is predicted as %.6g, %.6g stored: moved by "
        "%.2g %%",
        reference, point, quantity, item->predicted, stored, 100.0 * moved);
    return 0;
}

/* Every stored prediction must still be what it was. */
static enum fulcrum_status compare(
    const struct job *job, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const char *path = job->settings->baseline;
    struct json_object *document = NULL;
    enum fulcrum_status status = fulcrum_document_read(path, &document, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    struct fulcrum_reader reader = {.file = path};
    struct fulcrum_node root = fulcrum_node_root(&reader, document);
    struct fulcrum_node points = fulcrum_node_member(&root, "points");
    size_t count = 0;
    size_t moved = 0;
    if (fulcrum_node_is_array(&points, &count)) {
        for (size_t i = 0; i < count; i++) {
            struct fulcrum_node point = fulcrum_node_element(&points, i);
            moved += is_unmoved(job, &point) ? 0 : 1;
        }
    }
    status = fulcrum_reader_finish(&reader, err);
    fulcrum_document_free(document);
    if (status == FULCRUM_OK && moved > 0) {
        context->exit_code = 1;
        fulcrum_message_warn(
            "%zu of %zu stored predictions have moved by more than %g %%", moved, count,
            100.0 * job->settings->tolerance_rel);
    }
    return status;
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct job job = {.settings = data};
    enum fulcrum_status status = load(&job, err);
    if (status == FULCRUM_OK) {
        status = validate(&job, context, err);
    }
    if (status == FULCRUM_OK) {
        status = print(&job, context, err);
    }
    if (status == FULCRUM_OK && job.settings->baseline != NULL) {
        status = compare(&job, context, err);
    }
    job_free(&job);
    return status;
}

static const struct fulcrum_argument arguments[] = {
    {"REFERENCE", FULCRUM_ARGUMENT_REST, offsetof(struct settings, references), NULL,
        "presets ('fulcrum list references') or files; every preset unless given"},
    {.name = NULL},
};

static const struct fulcrum_option rows[] = {
    {.name = "points",
        .letter = 'p',
        .kind = FULCRUM_OPTION_FLAG,
        .offset = offsetof(struct settings, points),
        .help = "a row for every point rather than for every reference"},
    {.name = "baseline",
        .letter = 'b',
        .kind = FULCRUM_OPTION_FILE,
        .offset = offsetof(struct settings, baseline),
        .value = "FILE",
        .help = "what an earlier run wrote as JSON: predictions that have moved are "
                "named, and the exit code is 1"},
    {.name = "tolerance",
        .kind = FULCRUM_OPTION_NUMBER,
        .offset = offsetof(struct settings, tolerance_rel),
        .value = "FRACTION",
        .fallback = "0.005",
        .least = 0.0,
        .most = 10.0,
        .help = "how far a prediction may move from the baseline's"},
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Validation", rows, 0},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum validate --format json -o baseline.json",
        "every reference, to compare with"},
    {"fulcrum validate --baseline baseline.json", "has a prediction moved?"},
    {"fulcrum validate envpool-atari-laptop --points", "point by point"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_validate = {
    .name = "validate",
    .summary = "predict published and measured points, and say how far off that is",
    .description =
        "Predicts every reference and compares: mean absolute percentage error (MAPE), "
        "its symmetric form, the largest error, the mean with its sign, and the share "
        "of "
        "points inside the 90 % interval, beside the MAPE of asymptotic bounds and of "
        "the textbook product form. Points that a fit has seen are told apart: they "
        "prove little.\n\n"
        "CPU curves and watts are fitted to every other point of a curve and predict "
        "the "
        "rest; throughput is predicted from the calibration of the reference or its "
        "workload. What nothing predicts is listed with the reason.",
    .examples = examples,
    .arguments = arguments,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .run = run,
};
