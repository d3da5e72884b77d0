/* cmd_validate.c - `fulcrum validate`: every reference beside what is predicted of it.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Predicts each reference and says how far off that is, set by set or point by point.
 * Limits and a stored run can be given to compare with: what is out of bounds, worse or
 * moved is named, and the exit code is 1, so that a change of the model's accuracy does
 * not pass unseen.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/reference/baseline.h"
#include "cli/command/fit_job.h"
#include "cli/message.h"
#include "cli/options/options.h"
#include "cli/progress.h"
#include "cli/validate/junit.h"
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
    const char *save_discrepancy;
};

/* One run of the command, and what it has found. */
struct job {
    const struct settings *settings;
    struct fulcrum_context *context;
    size_t reference_count;
    struct fulcrum_reference **references;
    /* Presets that were fitted to references, or the one that the user named. */
    size_t calibration_count;
    struct fulcrum_calibration **calibrations;
    /*
     * What is predicted of the references, each from one calibration or without any. A
     * reference comes more than once where a calibration was fitted to it beside the
     * one that it names.
     */
    size_t count;
    struct fulcrum_validation *sets;
    struct fulcrum_result *stored; /* NULL: nothing to compare with */
    struct fulcrum_result *now;    /* the run as it is stored */
    struct fulcrum_result *checks; /* has one table: */
    struct fulcrum_table *table;
};

/* Whether presets are predicted from what they name themselves: all of them. */
static bool is_over_presets(const struct job *job)
{
    return job->settings->references.count == 0 && job->settings->calibration == NULL;
}

/* Those that the user named, or every preset. */
static enum fulcrum_status load_references(struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_reference_host *host = &job->settings->host;
    const struct fulcrum_text_list *names = &job->settings->references;
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = names->count;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_reference_check_host(names, host, job->context, err));
    if (names->count == 0) {
        TRY_OR_END(
            fulcrum_preset_list(FULCRUM_PRESET_REFERENCE, &entries, &count, err));
    }
    job->references = fulcrum_allocate(count, sizeof(struct fulcrum_reference *));
    for (size_t i = 0; i < count; i++) {
        const char *text = names->count > 0 ? names->items[i] : entries[i].name;
        TRY_OR_END(fulcrum_reference_text_load(
            text, host, job->context, &job->references[i], err));
        job->reference_count++;
        /* Results, stored ones too, are told apart by the names of their references. */
        for (size_t k = 0; k < i && names->count > 0; k++) {
            if (strcmp(job->references[k]->name, job->references[i]->name) == 0) {
                TRY_OR_END(fulcrum_fail(err, FULCRUM_ERR_RANGE,
                    "%s and %s are both named '%s': expected references of different "
                    "names",
                    names->items[k], text, job->references[i]->name));
            }
        }
    }
end:
    free(entries);
    return status;
}

/* The one that the user named, or every preset that was fitted. */
static enum fulcrum_status load_calibrations(struct job *job, struct fulcrum_error *err)
{
    const char *given = job->settings->calibration;
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

/*
 * From the calibration that the user named; else from what the reference names, and
 * from each calibration that was fitted to the reference as a whole.
 */
static enum fulcrum_status predict_reference(struct job *job,
    const struct fulcrum_reference *reference, struct fulcrum_error *err)
{
    bool is_given = job->settings->calibration != NULL;
    const struct fulcrum_validation *first = &job->sets[job->count];
    TRY(fulcrum_validate(reference, is_given ? job->calibrations[0] : NULL,
        &job->sets[job->count], err));
    job->count++;
    for (size_t i = 0; i < job->calibration_count && !is_given; i++) {
        const struct fulcrum_calibration *fitted = job->calibrations[i];
        if (strcmp(first->calibration, fitted->name) != 0 &&
            fulcrum_fitted_points_whole(fitted, reference)) {
            TRY(fulcrum_validate(reference, fitted, &job->sets[job->count], err));
            job->count++;
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status predict_references(
    struct job *job, struct fulcrum_error *err)
{
    size_t most = job->reference_count * (job->calibration_count + 1);
    job->sets = fulcrum_allocate(most, sizeof *job->sets);
    struct fulcrum_progress progress;
    enum fulcrum_status status = FULCRUM_OK;
    fulcrum_progress_start(&progress, job->context);
    for (size_t i = 0; i < job->reference_count && status == FULCRUM_OK; i++) {
        const struct fulcrum_reference *reference = job->references[i];
        double done_frac = (double)i / (double)job->reference_count;
        fulcrum_progress_update(&progress, done_frac, reference->name);
        status = predict_reference(job, reference, err);
    }
    fulcrum_progress_end(&progress);
    return status;
}

/* Failed checks that are named one by one; JUnit has all of them. */
enum { NAMED_MOST = 20 };

/* Whether a set, or what is predicted of it, is within the user's bound. */
static void check_set(const struct job *job, const struct fulcrum_validation *set)
{
    double most_mape_frac = job->settings->most_mape_frac;
    enum fulcrum_comparison_filter filter = fulcrum_validation_filter(set);
    struct fulcrum_comparison_errors errors =
        fulcrum_comparison_errors(&set->comparison, NULL, filter, -1);
    struct fulcrum_string text = {0};
    if (set->reason[0] != '\0') {
        /* Whether a set that is not predicted is as it should be: the presets say why,
         * and one that the user names is to be predicted wherever anything can. */
        bool fails = set->has_failed && job->settings->references.count > 0;
        fulcrum_string_add(&text, "%s", set->reason);
        fulcrum_check_add(job->table, set->reference->name,
            fails ? FULCRUM_CHECK_FAILED : FULCRUM_CHECK_SKIPPED, &text, "predicted%s",
            set->comparison.count > 0 ? " whole" : "");
    }
    if (errors.count == 0) {
        return;
    }
    if (errors.mape_frac > most_mape_frac) {
        fulcrum_string_add(&text,
            "MAPE of %zu point%s is %.3g %%, at most %.3g %% wanted", errors.count,
            errors.count == 1 ? "" : "s", 100.0 * errors.mape_frac,
            100.0 * most_mape_frac);
    }
    /* A name, or "by series" where there are several. Points that the calibration was
     * fitted to are not predicted "from" it. */
    bool is_fitted = filter == FULCRUM_COMPARE_FITTED;
    fulcrum_check_add(job->table, set->reference->name, FULCRUM_CHECK_FAILED, &text,
        "%s%s%s", is_fitted ? "fitted" : "predicted",
        set->calibration[0] == '\0'                          ? ""
        : is_fitted || strchr(set->calibration, ' ') != NULL ? ", "
                                                             : " from ",
        set->calibration);
}

/* Fits of calibrations, repeated and compared. */

static enum fulcrum_status refit(const struct job *job,
    const struct fulcrum_calibration *stored, struct fulcrum_error *err)
{
    const char *fitted_by = fulcrum_calibration_note(stored, "fit_arguments");
    if (fitted_by == NULL) {
        struct fulcrum_string text = {0};
        fulcrum_string_add(&text, "it has no note fit_arguments");
        fulcrum_check_add(
            job->table, stored->name, FULCRUM_CHECK_SKIPPED, &text, "fitted again");
        return FULCRUM_OK;
    }
    struct fulcrum_calibration *again = NULL;
    fulcrum_message_note(job->context, "fit %s", fitted_by);
    enum fulcrum_status status =
        fulcrum_fit_repeat(fitted_by, stored->name, job->context, &again, err);
    if (status != FULCRUM_OK) {
        return fulcrum_fail_in(err, status, stored->name);
    }
    for (size_t i = 0; i < stored->parameter_count; i++) {
        const struct fulcrum_parameter *from = &stored->parameters[i];
        const struct fulcrum_parameter *to =
            fulcrum_calibration_parameter(again, from->path);
        double most_rel = job->settings->tolerance_rel;
        struct fulcrum_string text = {0};
        if (to == NULL) {
            fulcrum_string_add(&text, "is no parameter any more");
        } else if (fulcrum_relative_change(from->value, to->value) > most_rel) {
            fulcrum_string_add(
                &text, "comes out as %.6g, %.6g stored", to->value, from->value);
        } else if (fulcrum_relative_change(from->standard_error, to->standard_error) >
                   most_rel) {
            fulcrum_string_add(&text, "has a standard error of %.6g, %.6g stored",
                to->standard_error, from->standard_error);
        }
        fulcrum_check_add(job->table, stored->name, FULCRUM_CHECK_FAILED, &text,
            "fitted again: %s", from->path);
    }
    fulcrum_calibration_free(again);
    return FULCRUM_OK;
}

/* Those that were fitted to one of the job's references, or a series of one. */
static enum fulcrum_status repeat_fits(const struct job *job, struct fulcrum_error *err)
{
    for (size_t i = 0; i < job->calibration_count; i++) {
        bool is_fitted_here = false;
        for (size_t k = 0; k < job->reference_count; k++) {
            is_fitted_here =
                is_fitted_here ||
                fulcrum_fitted_points_part(job->calibrations[i], job->references[k]);
        }
        if (is_fitted_here) {
            TRY(refit(job, job->calibrations[i], err));
        }
    }
    return FULCRUM_OK;
}

/* What a parameter or quantity of that name states one deviation above its value. */
static double stated_in(const struct fulcrum_calibration *calibration, const char *of)
{
    const struct fulcrum_parameter *parameter =
        fulcrum_calibration_parameter(calibration, of);
    const struct fulcrum_quantity *quantity =
        fulcrum_calibration_quantity(calibration, of);
    return parameter != NULL  ? parameter->value + parameter->standard_error
           : quantity != NULL ? quantity->hi
                              : FULCRUM_UNKNOWN;
}

/* Shares of unseen points within their 90 % intervals, and from how many points on they
 * must be kept: of fewer, chance leaves them. */
static const struct {
    double frac;
    double least_points;
} coverage_least = {0.80, 10.0}, coverage_most = {0.98, 50.0};

/* By kind of prediction, over all presets. */
static void check_coverage(const struct job *job)
{
    struct fulcrum_result *result =
        fulcrum_validation_result(job->sets, job->count, FULCRUM_VALIDATION_SETS);
    const struct fulcrum_table *kinds = fulcrum_result_table_of(result, "summary");
    for (size_t i = 0; i < fulcrum_table_rows(kinds); i++) {
        double frac = fulcrum_table_at(kinds, i, "covered_frac").number;
        double points = fulcrum_table_at(kinds, i, "points").number;
        bool is_low =
            frac < coverage_least.frac && points >= coverage_least.least_points;
        bool is_high =
            frac > coverage_most.frac && points >= coverage_most.least_points;
        struct fulcrum_string text = {0};
        if (is_low || is_high) {
            fulcrum_string_add(&text,
                "90 %% intervals hold %.4g %% of %.0f points, %.0f to %.0f %% expected",
                100.0 * frac, points, 100.0 * coverage_least.frac,
                100.0 * coverage_most.frac);
        }
        fulcrum_check_add(job->table, "coverage", FULCRUM_CHECK_FAILED, &text, "%s",
            fulcrum_table_at(kinds, i, "predicts").text);
    }
    fulcrum_result_free(result);
}

static void discrepancy_path(
    const struct job *job, size_t which, char out[FULCRUM_PRESET_PATH_SIZE])
{
    (void)snprintf(out, FULCRUM_PRESET_PATH_SIZE, "%s/%s.json",
        job->settings->save_discrepancy, fulcrum_discrepancy_names[which]);
}

/* What the model is off by, learnt from these sets: compared with what is stored, or
 * written in its place. */
static enum fulcrum_status learn(
    const struct job *job, size_t which, struct fulcrum_error *err)
{
    const char *name = fulcrum_discrepancy_names[which];
    struct fulcrum_calibration *learnt = NULL;
    struct fulcrum_calibration *stored = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_discrepancy_learn(job->sets, job->count, which, &learnt, err));
    if (job->settings->save_discrepancy != NULL) {
        char path[FULCRUM_PRESET_PATH_SIZE];
        discrepancy_path(job, which, path);
        TRY_OR_END(fulcrum_calibration_save(learnt, path, err));
        goto end;
    }
    TRY_OR_END(fulcrum_calibration_load(name, &stored, err));
    for (size_t i = 0; i < learnt->quantity_count + learnt->parameter_count; i++) {
        bool is_quantity = i < learnt->quantity_count;
        const char *path = is_quantity
                               ? learnt->quantities[i].name
                               : learnt->parameters[i - learnt->quantity_count].path;
        double now = stated_in(learnt, path);
        double before = stated_in(stored, path);
        struct fulcrum_string text = {0};
        if (fulcrum_relative_change(before, now) > job->settings->tolerance_rel) {
            fulcrum_string_add(&text, "comes out as %.6g, %.6g stored", now, before);
        }
        fulcrum_check_add(
            job->table, name, FULCRUM_CHECK_FAILED, &text, "learnt again: %s", path);
    }
end:
    fulcrum_calibration_free(learnt);
    fulcrum_calibration_free(stored);
    return status;
}

static enum fulcrum_status run_checks(struct job *job, struct fulcrum_error *err)
{
    job->checks = fulcrum_result_new(NULL);
    job->table = fulcrum_result_table(job->checks, "checks", NULL);
    /* What predictions are compared with; NULL: nothing. */
    char found[FULCRUM_PRESET_PATH_SIZE];
    const char *path = job->settings->baseline;
    if (path == NULL) {
        TRY(fulcrum_preset_find_file("baseline.json", found, err));
        path = found;
    }
    TRY(strcmp(path, "none") == 0 ? FULCRUM_OK
                                  : fulcrum_baseline_read(path, &job->stored, err));
    const struct fulcrum_baseline_check baseline = {.stored = job->stored,
        .now = job->now,
        .sets = job->sets,
        .set_count = job->count,
        .moved_rel = job->settings->tolerance_rel,
        .loss_frac = job->settings->loss_frac,
        .checks = job->table};
    size_t not_stored = 0;
    for (size_t i = 0; i < job->count; i++) {
        check_set(job, &job->sets[i]);
        size_t known = fulcrum_baseline_check_set(&baseline, &job->sets[i]);
        not_stored += known == 0 && job->sets[i].comparison.count > 0 ? 1 : 0;
    }
    if (not_stored > 0 && job->stored != NULL) {
        fulcrum_message_note(job->context,
            "%zu %s no stored predictions: --save-baseline stores them", not_stored,
            not_stored == 1 ? "set has" : "sets have");
    }
    if (is_over_presets(job) || job->settings->baseline != NULL) {
        fulcrum_baseline_check_missing(&baseline, is_over_presets(job));
    }
    if (is_over_presets(job)) {
        fulcrum_baseline_check_designs(&baseline);
        check_coverage(job);
    }
    if (job->settings->refit) {
        TRY(repeat_fits(job, err));
    }
    bool learns = job->settings->save_discrepancy != NULL ||
                  (job->settings->refit && is_over_presets(job));
    for (size_t i = 0; learns && i < FULCRUM_DISCREPANCIES; i++) {
        TRY(learn(job, i, err));
    }
    return fulcrum_result_check(job->checks, err);
}

/* Writers of the files beside the output. */

static enum fulcrum_status write_junit(
    const struct job *job, FILE *stream, struct fulcrum_error *err)
{
    (void)err;
    fulcrum_junit_write(job->table, "fulcrum validate", stream);
    return FULCRUM_OK;
}

/* What is predicted how well, beside small formulas, where it is most wrong, what
 * nothing predicts. */
static enum fulcrum_status write_document(
    const struct job *job, FILE *stream, struct fulcrum_error *err)
{
    struct fulcrum_result *result =
        fulcrum_validation_result(job->sets, job->count, FULCRUM_VALIDATION_DOCUMENT);
    (void)fputs("# Accuracy\n\n"
                "Published and measured points beside what is predicted of them, "
                "written by `fulcrum validate --markdown`.\n"
                "MAPE is the mean of |predicted - observed| / observed, SMAPE its "
                "symmetric form, the bias the mean with its sign; \"inside 90 %\" is "
                "the share of points within the interval that the prediction "
                "states, where it states one. Interval score (of that interval) and "
                "CRPS are of ln(value), less is better. Intervals of a set hold what "
                "the model is off by as the other sets teach it "
                "([model.md](model.md#what-an-interval-means)).\n\n"
                "![Share of points within intervals of each "
                "probability](images/coverage.png)\n\n",
        stream);
    enum fulcrum_status status =
        fulcrum_result_write(result, FULCRUM_FORMAT_MARKDOWN, NULL, stream, err);
    fulcrum_result_free(result);
    return status;
}

static enum fulcrum_status write_baseline(
    const struct job *job, FILE *stream, struct fulcrum_error *err)
{
    return fulcrum_result_write(job->now, FULCRUM_FORMAT_JSON, NULL, stream, err);
}

/* A file that the command writes. */
struct written {
    const char *option;
    const char *path; /* NULL: not asked for */
    enum fulcrum_status (*write)(
        const struct job *job, FILE *stream, struct fulcrum_error *err);
};

enum { WRITTEN = 4 };

/* The first is written by others. */
static void list_written(const struct job *job, struct written out[WRITTEN])
{
    const struct settings *settings = job->settings;
    out[0] = (struct written){"--output", job->context->output_path, NULL};
    out[1] = (struct written){"--junit", settings->junit, write_junit};
    out[2] = (struct written){"--markdown", settings->markdown, write_document};
    out[3] =
        (struct written){"--save-baseline", settings->save_baseline, write_baseline};
}

static enum fulcrum_status write_file(
    const struct job *job, const struct written *file, struct fulcrum_error *err)
{
    struct fulcrum_output *output = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_output_open(file->path, &output, err));
    TRY_OR_END(file->write(job, fulcrum_output_stream(output), err));
    status = fulcrum_output_commit(output, err);
    output = NULL;
end:
    fulcrum_output_discard(output);
    return status;
}

/* Whether a file would be lost that the command reads; the baseline may be renewed. */
static enum fulcrum_status check_inputs(
    const struct job *job, const struct written *file, struct fulcrum_error *err)
{
    const struct settings *settings = job->settings;
    for (size_t i = 0; i < settings->references.count; i++) {
        char name[FULCRUM_PRESET_PATH_SIZE];
        fulcrum_reference_text_name(settings->references.items[i], name, sizeof name);
        FULCRUM_USAGE_IF(fulcrum_output_replaces(file->path, name), job->context, err,
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
            job->context, err, FULCRUM_ERR_FILE,
            "%s %s: is read, too: expected another file", file->option, file->path);
    }
    return FULCRUM_OK;
}

/* Files that nobody can write are found before the work. */
static enum fulcrum_status check_settings(
    const struct job *job, struct fulcrum_error *err)
{
    struct written files[WRITTEN];
    list_written(job, files);
    FULCRUM_USAGE_IF(job->settings->points && job->settings->series, job->context, err,
        FULCRUM_ERR_UNSUPPORTED, "--points and --series: expected one of them");
    for (size_t i = 0; i < WRITTEN; i++) {
        const struct written *file = &files[i];
        for (size_t k = 0; k < i && file->path != NULL; k++) {
            FULCRUM_USAGE_IF(files[k].path != NULL &&
                                 fulcrum_output_is_same(file->path, files[k].path),
                job->context, err, FULCRUM_ERR_FILE,
                "%s and %s are both %s: expected different files", files[k].option,
                file->option, file->path);
        }
        if (file->path != NULL) {
            TRY(check_inputs(job, file, err));
        }
    }
    for (size_t i = 1; i < WRITTEN; i++) {
        if (files[i].path != NULL) {
            TRY(fulcrum_output_check(files[i].path, err));
        }
    }
    for (size_t i = 0;
         i < FULCRUM_DISCREPANCIES && job->settings->save_discrepancy != NULL; i++) {
        char path[FULCRUM_PRESET_PATH_SIZE];
        discrepancy_path(job, i, path);
        TRY(fulcrum_output_check(path, err));
    }
    return FULCRUM_OK;
}

/* One machine preset with one workload preset; nothing where it cannot run. */
static enum fulcrum_status add_design(struct fulcrum_table *table,
    const struct fulcrum_design_settings *settings, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    const struct fulcrum_point point = {.varied = NULL};
    const struct fulcrum_predict_options options = {
        .solver = {.method = FULCRUM_METHOD_FAST}};
    struct fulcrum_design_inputs inputs;
    struct fulcrum_scenario *scenario = NULL;
    struct fulcrum_prediction prediction;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_design_inputs_load(settings, context, &inputs, err));
    TRY_OR_END(fulcrum_scenario_new(&inputs.scenario, &scenario, err));
    if (fulcrum_predict(scenario, &point, &options, &prediction, NULL) == FULCRUM_OK) {
        fulcrum_baseline_add_design(
            table, settings->machine, settings->workload, &prediction);
    }
end:
    fulcrum_scenario_free(scenario);
    fulcrum_design_inputs_free(&inputs);
    return status;
}

/* Every machine preset with every workload preset that it can run. */
static enum fulcrum_status add_designs(struct fulcrum_table *table,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    static const double actor_counts[] = {16.0, 256.0};
    enum { ACTOR_COUNTS = sizeof actor_counts / sizeof actor_counts[0] };
    struct fulcrum_preset_entry *machines = NULL;
    struct fulcrum_preset_entry *workloads = NULL;
    size_t machine_count = 0;
    size_t workload_count = 0;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(
        fulcrum_preset_list(FULCRUM_PRESET_MACHINE, &machines, &machine_count, err));
    TRY_OR_END(
        fulcrum_preset_list(FULCRUM_PRESET_WORKLOAD, &workloads, &workload_count, err));
    for (size_t i = 0; i < machine_count * workload_count * ACTOR_COUNTS; i++) {
        size_t pair = i / ACTOR_COUNTS;
        const struct fulcrum_design_settings settings = {
            .machine = machines[pair / workload_count].name,
            .workload = workloads[pair % workload_count].name,
            .actor_count = actor_counts[i % ACTOR_COUNTS]};
        TRY_OR_END(add_design(table, &settings, context, err));
    }
end:
    free(machines);
    free(workloads);
    return status;
}

static enum fulcrum_status run_validate(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct job job = {.settings = data, .context = context};
    struct written files[WRITTEN];
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(check_settings(&job, err));
    TRY_OR_END(load_references(&job, err));
    TRY_OR_END(load_calibrations(&job, err));
    TRY_OR_END(predict_references(&job, err));
    job.now = fulcrum_baseline_new(job.sets, job.count);
    if (is_over_presets(&job)) {
        TRY_OR_END(
            add_designs(fulcrum_result_table(job.now, "designs", ""), context, err));
    }
    TRY_OR_END(fulcrum_result_check(job.now, err));
    TRY_OR_END(run_checks(&job, err));
    TRY_OR_END(fulcrum_context_show(context,
        fulcrum_validation_result(job.sets, job.count,
            job.settings->series   ? FULCRUM_VALIDATION_SERIES
            : job.settings->points ? FULCRUM_VALIDATION_POINTS
                                   : FULCRUM_VALIDATION_SETS),
        err));
    list_written(&job, files);
    for (size_t i = 1; i < WRITTEN; i++) {
        if (files[i].path != NULL) {
            TRY_OR_END(write_file(&job, &files[i], err));
        }
    }
    const struct fulcrum_table *checks = job.table;
    size_t counts[3] = {0};
    for (size_t i = 0; i < fulcrum_table_rows(checks); i++) {
        enum fulcrum_check_outcome outcome = fulcrum_check_outcome_of(checks, i);
        if (outcome == FULCRUM_CHECK_FAILED && counts[outcome] < NAMED_MOST) {
            fulcrum_message_warn("%s: %s: %s",
                fulcrum_table_at(checks, i, "suite").text,
                fulcrum_table_at(checks, i, "name").text,
                fulcrum_table_at(checks, i, "text").text);
        }
        counts[outcome]++;
    }
    size_t failed = counts[FULCRUM_CHECK_FAILED];
    if (failed > NAMED_MOST) {
        fulcrum_message_warn("... and %zu more", failed - NAMED_MOST);
    }
    if (failed > 0) {
        job.context->exit_code = FULCRUM_EXIT_FAILED;
        fulcrum_message_warn(
            "%zu of %zu checks failed", failed, failed + counts[FULCRUM_CHECK_PASSED]);
    }
end:
    for (size_t i = 0; i < job.count; i++) {
        fulcrum_validation_clear(&job.sets[i]);
    }
    for (size_t i = 0; i < job.reference_count; i++) {
        fulcrum_reference_free(job.references[i]);
    }
    for (size_t i = 0; i < job.calibration_count; i++) {
        fulcrum_calibration_free(job.calibrations[i]);
    }
    free(job.sets);
    free((void *)job.references);
    free((void *)job.calibrations);
    fulcrum_result_free(job.checks);
    fulcrum_result_free(job.now);
    fulcrum_result_free(job.stored);
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
        .help = "how much a set's MAPE may grow over its baseline; 0.005 is half a "
                "percentage point"),
    FULCRUM_OPTION(NUMBER, "max-mape", SETTING(most_mape_frac), "FRACTION",
        .least = 0.0, .most = 1000.0,
        .help = "exit code 1 where the MAPE of a set is larger"),
    FULCRUM_OPTION(FLAG, "refit", SETTING(refit), NULL,
        .help = "repeat the fits to these references, and over all of them what the "
                "model is off by; exit code 1 if parameters or their errors differ by "
                "more than --tolerance (takes minutes)"),
    FULCRUM_OPTION(FILE, "save-discrepancy", SETTING(save_discrepancy), "FOLDER",
        .help = "store what the model is off by, learnt from the points that no fit "
                "has seen, as presets in FOLDER"),
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
        "prove little.\n\nCPU curves, watts and work on part of the SMs are fitted to "
        "alternate points of each curve and predict the others; throughput is "
        "predicted from the calibration of the reference or its workload, server watts "
        "come from the priors of their parts. Points that nothing predicts are listed "
        "with the reason.",
    .examples = examples,
    .arguments = arguments,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .run = run_validate,
};
