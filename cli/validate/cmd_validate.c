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
#include <string.h>

#include "cli/command.h"
#include "cli/command/fit_inputs.h"
#include "cli/message.h"
#include "cli/result/check_list.h"
#include "cli/validate/validate_baseline.h"
#include "cli/validate/validate_job.h"
#include "cli/validate/validate_report.h"
#include "model/try.h"
#include "presets/io/output.h"
#include "presets/kind/preset_folders.h"

/* Failed checks that are named one by one; JUnit has all of them. */
enum { NAMED_MOST = 20 };

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
    int points;
    int series;
    int refit;
};

/* What a run has found. */
struct findings {
    struct fulcrum_validate_job job;
    struct fulcrum_design_predictions designs; /* of presets; none: not wanted */
    struct fulcrum_check_list checks;
};

static enum fulcrum_status print_sets(const struct fulcrum_validate_job *job,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_report *sets = fulcrum_validate_report_sets(job);
    struct fulcrum_report *baselines = fulcrum_validate_report_baselines(job);
    enum fulcrum_status status =
        fulcrum_report_print(sets, "fulcrum-validate", context, err);
    if (status == FULCRUM_OK && context->format == FULCRUM_FORMAT_TABLE &&
        !fulcrum_report_is_empty(baselines)) {
        (void)fputc('\n', context->out);
        status = fulcrum_report_print(baselines, "fulcrum-validate", context, err);
    }
    fulcrum_report_free(sets);
    fulcrum_report_free(baselines);
    return status;
}

/* Prints a report and frees it. */
static enum fulcrum_status print_report(struct fulcrum_report *report,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    enum fulcrum_status status =
        fulcrum_report_print(report, "fulcrum-validate", context, err);
    fulcrum_report_free(report);
    return status;
}

static enum fulcrum_status print(const struct settings *settings,
    const struct fulcrum_validate_job *job, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    if (context->format == FULCRUM_FORMAT_JSON) {
        struct fulcrum_report *reports[] = {fulcrum_validate_report_sets(job),
            fulcrum_validate_report_series(job), fulcrum_validate_report_baselines(job),
            fulcrum_validate_report_points(job)};
        struct fulcrum_json *document = fulcrum_report_document("fulcrum-validate");
        for (size_t i = 0; i < sizeof reports / sizeof reports[0]; i++) {
            fulcrum_report_to_json(reports[i], document);
            fulcrum_report_free(reports[i]);
        }
        return fulcrum_report_print_document(document, context, err);
    }
    if (settings->points) {
        return print_report(fulcrum_validate_report_points(job), context, err);
    }
    return settings->series
               ? print_report(fulcrum_validate_report_series(job), context, err)
               : print_sets(job, context, err);
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
    enum fulcrum_comparison_filter filter = fulcrum_validate_filter(set);
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
    const struct fulcrum_baseline_limits limits = {
        .moved_rel = settings->tolerance_rel, .loss_frac = settings->loss_frac};
    for (size_t i = 0; i < found->job.count; i++) {
        const struct fulcrum_validation *set = &found->job.sets[i];
        check_set(settings, set, &found->checks);
        size_t stored = fulcrum_baseline_check(baseline, set, &limits, &found->checks);
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
        fulcrum_design_predictions_check(
            &baseline->designs, &found->designs, limits.moved_rel, &found->checks);
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

static void tell(
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

static enum fulcrum_status write_markdown(
    const char *path, const struct fulcrum_validate_job *job, struct fulcrum_error *err)
{
    struct fulcrum_output *output = NULL;
    TRY(fulcrum_output_open(path, &output, err));
    enum fulcrum_status status =
        fulcrum_validate_markdown(job, fulcrum_output_stream(output), err);
    if (status != FULCRUM_OK) {
        fulcrum_output_discard(output);
        return status;
    }
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
        if (fulcrum_output_replaces(file->path, name)) {
            return fulcrum_usage_fail(context, err, FULCRUM_ERR_FILE,
                "%s %s: is a reference that is read: expected another file",
                file->option, file->path);
        }
    }
    bool may_renew = file->path == settings->save_baseline;
    const char *const inputs[] = {settings->host.machine, settings->host.workload,
        settings->calibration, may_renew ? NULL : settings->baseline};
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        if (inputs[i] != NULL && fulcrum_output_replaces(file->path, inputs[i])) {
            return fulcrum_usage_fail(context, err, FULCRUM_ERR_FILE,
                "%s %s: is read, too: expected another file", file->option, file->path);
        }
    }
    return FULCRUM_OK;
}

/* Files must be told apart from those before them. */
static enum fulcrum_status check_different(const struct written *files, size_t last,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    for (size_t i = 0; i < last; i++) {
        if (files[i].path != NULL &&
            fulcrum_output_is_same(files[last].path, files[i].path)) {
            return fulcrum_usage_fail(context, err, FULCRUM_ERR_FILE,
                "%s and %s are both %s: expected different files", files[i].option,
                files[last].option, files[last].path);
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status check_collisions(const struct settings *settings,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct written files[] = {{"--output", context->output_path},
        {"--junit", settings->junit}, {"--markdown", settings->markdown},
        {"--save-baseline", settings->save_baseline}};
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < sizeof files / sizeof files[0] && status == FULCRUM_OK;
         i++) {
        if (files[i].path == NULL) {
            continue;
        }
        status = check_different(files, i, context, err);
        if (status == FULCRUM_OK) {
            status = check_inputs(settings, &files[i], context, err);
        }
    }
    return status;
}

static enum fulcrum_status check_settings(const struct settings *settings,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    return settings->points && settings->series
               ? fulcrum_usage_fail(context, err, FULCRUM_ERR_UNSUPPORTED,
                     "--points and --series: expected one of them")
               : check_collisions(settings, context, err);
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
        TRY(write_markdown(settings->markdown, &found->job, err));
    }
    if (settings->save_baseline != NULL) {
        TRY(fulcrum_baseline_write(
            &found->job, &found->designs, settings->save_baseline, err));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status predict(const struct settings *settings,
    struct fulcrum_context *context, struct findings *out, struct fulcrum_error *err)
{
    const struct fulcrum_validate_plan plan = {.references = &settings->references,
        .host = settings->host,
        .calibration = settings->calibration};
    enum fulcrum_status status =
        fulcrum_validate_job_run(&plan, context, &out->job, err);
    return status == FULCRUM_OK && is_over_presets(settings)
               ? fulcrum_design_predictions_make(context, &out->designs, err)
               : status;
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    struct findings found = {.job = {.count = 0}};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(check_settings(settings, context, err));
    TRY_OR_END(check_paths(settings, err));
    TRY_OR_END(predict(settings, context, &found, err));
    TRY_OR_END(run_checks(settings, &found, context, err));
    TRY_OR_END(print(settings, &found.job, context, err));
    TRY_OR_END(write_files(settings, &found, err));
    tell(&found.checks, context);
end:
    fulcrum_check_list_clear(&found.checks);
    fulcrum_design_predictions_clear(&found.designs);
    fulcrum_validate_job_clear(&found.job);
    return status;
}

static const struct fulcrum_argument arguments[] = {
    {"REFERENCE", FULCRUM_ARGUMENT_REST, offsetof(struct settings, references), NULL,
        FULCRUM_REFERENCE_NAMES "; every preset unless given"},
    {.name = NULL},
};

static const struct fulcrum_option rows[] = {
    FULCRUM_OPTION(TEXT, "calibration", offsetof(struct settings, calibration), "NAME",
        .letter = 'c',
        .help = "preset or JSON file to predict throughput from, in place of what each "
                "reference names"),
    FULCRUM_OPTION(FLAG, "points", offsetof(struct settings, points), NULL,
        .letter = 'p', .help = "a row for every point rather than for every reference"),
    FULCRUM_OPTION(FLAG, "series", offsetof(struct settings, series), NULL,
        .help = "a row for every curve of every reference"),
    FULCRUM_OPTION(FILE, "markdown", offsetof(struct settings, markdown), "FILE",
        .help = "also write a document about accuracy; docs/accuracy.md is one"),
    {.name = NULL},
};

static const struct fulcrum_option check_rows[] = {
    FULCRUM_OPTION(FILE, "baseline", offsetof(struct settings, baseline), "FILE",
        .letter = 'b',
        .help = "stored predictions: those that have moved and sets that have become "
                "worse are named, and the exit code is 1; those of the presets unless "
                "given, 'none' for no comparison"),
    FULCRUM_OPTION(FILE, "save-baseline", offsetof(struct settings, save_baseline),
        "FILE", .help = "store the predictions, to compare later runs with"),
    FULCRUM_OPTION(NUMBER, "tolerance", offsetof(struct settings, tolerance_rel),
        "FRACTION", .fallback = "0.005", .least = 0.0, .most = 10.0,
        .help = "how far a prediction may move from the baseline's"),
    FULCRUM_OPTION(NUMBER, "loss", offsetof(struct settings, loss_frac), "FRACTION",
        .fallback = "0.005", .least = 0.0, .most = 10.0,
        .help = "how much the MAPE of a set's predicted points may grow over the "
                "baseline's; 0.005 is half a percentage point"),
    FULCRUM_OPTION(NUMBER, "max-mape", offsetof(struct settings, most_mape_frac),
        "FRACTION", .least = 0.0, .most = 1000.0,
        .help = "exit code 1 where the MAPE of a set is larger"),
    FULCRUM_OPTION(FLAG, "refit", offsetof(struct settings, refit), NULL,
        .help = "repeat the fits of the calibrations that were fitted to these "
                "references; exit code 1 where values or errors do not come out "
                "again within --tolerance (takes minutes)"),
    FULCRUM_OPTION(FILE, "junit", offsetof(struct settings, junit), "FILE",
        .help = "also write every check as JUnit XML, for the reports of a CI server"),
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Validation", rows, 0},
    {"CSV files", fulcrum_reference_host_rows, offsetof(struct settings, host)},
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
        "of "
        "points inside the 90 % interval, beside the MAPE of asymptotic bounds and of "
        "the textbook product form. Points that a fit has seen are told apart: they "
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
    .run = run,
};
