/* validate_baseline.c - an earlier run of `validate`, to compare a new one with. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run is kept as a result with the tables "points" and "designs". One that has just
 * been made and one that was read have the same form, so that a comparison is of two
 * equals, digits included.
 */
#include "cli/validate/validate_job.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/options/options.h"
#include "model/try.h"
#include "presets/io/document.h"
#include "presets/io/output.h"
#include "presets/io/reader.h"

#define SCHEMA "fulcrum-baseline"

/* Of both schemas: fulcrum_result_write writes no other. */
#define SCHEMA_VERSION 1

/* Actors of each machine with each workload. */
static const double actor_counts[] = {16.0, 256.0};
enum { ACTOR_COUNTS = sizeof actor_counts / sizeof actor_counts[0] };

/* What is kept of a prediction: the rest follows from these and the presets. */
static const enum fulcrum_predicted kept[] = {FULCRUM_OUTPUT_steps_per_s,
    FULCRUM_OUTPUT_cpu_thread_busy_frac, FULCRUM_OUTPUT_gpu_busy_frac,
    FULCRUM_OUTPUT_cpu_w, FULCRUM_OUTPUT_gpu_w, FULCRUM_OUTPUT_system_w};
enum { KEPT = sizeof kept / sizeof kept[0] };

const struct fulcrum_observation *fulcrum_validate_observation(
    const struct fulcrum_comparison *comparison, const struct fulcrum_compared *item)
{
    return &comparison->reference->points[item->point].observations[item->observation];
}

/* A row; none where the design cannot run. */
static enum fulcrum_status add_design(struct fulcrum_context *context,
    const struct fulcrum_design_settings *settings, struct fulcrum_table *table,
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
        fulcrum_table_row(table);
        fulcrum_table_text(table, "machine", "", settings->machine);
        fulcrum_table_text(table, "workload", "", settings->workload);
        fulcrum_table_number(table, "actor_count", "", settings->actor_count);
        for (size_t k = 0; k < KEPT; k++) {
            fulcrum_table_number(table, fulcrum_output_name(kept[k]), "",
                fulcrum_relative_change_stored(prediction.value[kept[k]]));
        }
    }
end:
    fulcrum_scenario_free(scenario);
    fulcrum_design_inputs_free(&inputs);
    return status;
}

static enum fulcrum_status add_designs(struct fulcrum_context *context,
    struct fulcrum_table *table, struct fulcrum_error *err)
{
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
        TRY_OR_END(add_design(context, &settings, table, err));
    }
end:
    free(machines);
    free(workloads);
    return status;
}

static void add_points(
    struct fulcrum_table *table, const struct fulcrum_validation *set)
{
    for (size_t k = 0; k < set->comparison.count; k++) {
        const struct fulcrum_compared *item = &set->comparison.items[k];
        fulcrum_table_row(table);
        fulcrum_table_text(table, "reference", "", set->reference->name);
        fulcrum_table_text(table, "calibration", "", set->calibration);
        fulcrum_table_number(table, "point", "", (double)item->point);
        fulcrum_table_text(table, "quantity", "",
            fulcrum_validate_observation(&set->comparison, item)->quantity);
        fulcrum_table_number(
            table, "observed", "", fulcrum_relative_change_stored(item->observed));
        fulcrum_table_number(
            table, "predicted", "", fulcrum_relative_change_stored(item->predicted));
        fulcrum_table_text(table, "kind", "", item->is_fitted ? "fitted" : "predicted");
    }
}

/* The JSON of `validate` has more digits than a stored run. */
static double stored_at(const struct fulcrum_table *table, size_t row, const char *key)
{
    return fulcrum_relative_change_stored(fulcrum_table_at(table, row, key).number);
}

/* The rows as structs. Returns how many of the points lack something. */
static size_t read_rows(struct fulcrum_baseline_run *run)
{
    const struct fulcrum_table *points = fulcrum_result_table_of(run->result, "points");
    const struct fulcrum_table *designs =
        fulcrum_result_table_of(run->result, "designs");
    size_t wrong = 0;
    run->count = points != NULL ? fulcrum_table_rows(points) : 0;
    run->points = fulcrum_allocate(run->count, sizeof *run->points);
    for (size_t i = 0; i < run->count; i++) {
        const char *kind = fulcrum_table_at(points, i, "kind").text;
        struct fulcrum_stored_point *point = &run->points[i];
        *point = (struct fulcrum_stored_point){
            .reference = fulcrum_table_at(points, i, "reference").text,
            .calibration = fulcrum_table_at(points, i, "calibration").text,
            .quantity = fulcrum_table_at(points, i, "quantity").text,
            .point = fulcrum_table_at(points, i, "point").number,
            .observed = stored_at(points, i, "observed"),
            .predicted = stored_at(points, i, "predicted"),
            .is_fitted = kind != NULL && strcmp(kind, "fitted") == 0};
        bool is_whole =
            point->reference != NULL && point->calibration != NULL &&
            point->quantity != NULL && isfinite(point->point) &&
            isfinite(point->observed) && isfinite(point->predicted) &&
            (point->is_fitted || (kind != NULL && strcmp(kind, "predicted") == 0));
        wrong += is_whole ? 0 : 1;
    }
    run->design_count = designs != NULL ? fulcrum_table_rows(designs) : 0;
    run->designs = fulcrum_allocate(run->design_count, sizeof *run->designs);
    for (size_t i = 0; i < run->design_count; i++) {
        struct fulcrum_stored_design *design = &run->designs[i];
        design->machine = fulcrum_table_at(designs, i, "machine").text;
        design->workload = fulcrum_table_at(designs, i, "workload").text;
        design->actor_count = fulcrum_table_at(designs, i, "actor_count").number;
        for (size_t k = 0; k < KEPT; k++) {
            design->value[kept[k]] =
                stored_at(designs, i, fulcrum_output_name(kept[k]));
        }
        wrong += design->machine != NULL && design->workload != NULL ? 0 : 1;
    }
    return wrong;
}

enum fulcrum_status fulcrum_baseline_make(const struct fulcrum_validate_job *job,
    bool has_designs, struct fulcrum_context *context, struct fulcrum_baseline_run *out,
    struct fulcrum_error *err)
{
    *out = (struct fulcrum_baseline_run){.result = fulcrum_result_new(SCHEMA)};
    struct fulcrum_table *points = fulcrum_result_table(out->result, "points", "");
    for (size_t i = 0; i < job->count; i++) {
        add_points(points, &job->sets[i]);
    }
    if (has_designs) {
        TRY(add_designs(
            context, fulcrum_result_table(out->result, "designs", ""), err));
    }
    TRY(fulcrum_result_check(out->result, err));
    (void)read_rows(out);
    return FULCRUM_OK;
}

static void check_schema(const struct fulcrum_node *root)
{
    struct fulcrum_node schema = fulcrum_node_member(root, "schema");
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
}

enum fulcrum_status fulcrum_baseline_read(
    const char *path, struct fulcrum_baseline_run *out, struct fulcrum_error *err)
{
    struct json_object *document = NULL;
    *out = (struct fulcrum_baseline_run){.count = 0};
    TRY(fulcrum_document_read(path, &document, err));
    struct fulcrum_reader reader = {.file = path};
    struct fulcrum_node root = fulcrum_node_root(&reader, document);
    check_schema(&root);
    struct fulcrum_node points = fulcrum_node_member(&root, "points");
    size_t count = 0;
    enum fulcrum_status status = FULCRUM_OK;
    if (fulcrum_node_is_array(&points, &count) && count == 0) {
        fulcrum_node_fault(
            &points, FULCRUM_ERR_MISSING, "expected one stored prediction or more");
    }
    TRY_OR_END(fulcrum_reader_finish(&reader, err));
    TRY_OR_END(fulcrum_result_of_document(path, document, &out->result, err));
    if (read_rows(out) > 0) {
        status = fulcrum_fail(err, FULCRUM_ERR_FORMAT,
            "%s: expected points and designs as 'fulcrum validate --save-baseline' "
            "writes them",
            path);
    }
end:
    fulcrum_document_free(document);
    return status;
}

enum fulcrum_status fulcrum_baseline_write(
    const struct fulcrum_baseline_run *run, const char *path, struct fulcrum_error *err)
{
    struct fulcrum_output *output = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_output_open(path, &output, err));
    TRY_OR_END(fulcrum_result_write(
        run->result, FULCRUM_FORMAT_JSON, NULL, fulcrum_output_stream(output), err));
    status = fulcrum_output_commit(output, err);
    output = NULL;
end:
    fulcrum_output_discard(output);
    return status;
}

void fulcrum_baseline_clear(struct fulcrum_baseline_run *baseline)
{
    free(baseline->points);
    free(baseline->designs);
    fulcrum_result_free(baseline->result);
    *baseline = (struct fulcrum_baseline_run){.count = 0};
}

static const struct fulcrum_stored_design *find_design(
    const struct fulcrum_baseline_run *in, const struct fulcrum_stored_design *like)
{
    for (size_t i = 0; i < in->design_count; i++) {
        const struct fulcrum_stored_design *item = &in->designs[i];
        if (strcmp(item->machine, like->machine) == 0 &&
            strcmp(item->workload, like->workload) == 0 &&
            fabs(item->actor_count - like->actor_count) < 0.5) {
            return item;
        }
    }
    return NULL;
}

/* The output that has moved furthest beyond the limit; COUNT where none has. */
static enum fulcrum_predicted furthest(const struct fulcrum_stored_design *from,
    const struct fulcrum_stored_design *to, double most_rel)
{
    enum fulcrum_predicted found = FULCRUM_OUTPUT_COUNT;
    double most = most_rel;
    for (size_t k = 0; k < KEPT; k++) {
        double moved_rel =
            fulcrum_relative_change(from->value[kept[k]], to->value[kept[k]]);
        if (moved_rel > most) {
            most = moved_rel;
            found = kept[k];
        }
    }
    return found;
}

static void check_design(const struct fulcrum_stored_design *stored,
    const struct fulcrum_stored_design *now, double moved_rel,
    struct fulcrum_check_list *checks)
{
    enum fulcrum_predicted moved =
        now != NULL ? furthest(stored, now, moved_rel) : FULCRUM_OUTPUT_COUNT;
    int passes = now != NULL && moved == FULCRUM_OUTPUT_COUNT;
    struct fulcrum_check *check = fulcrum_check_list_add(checks, stored->machine,
        passes ? FULCRUM_CHECK_PASSED : FULCRUM_CHECK_FAILED, "%s, %.0f actors",
        stored->workload, stored->actor_count);
    if (now == NULL) {
        fulcrum_check_say(check, "is not predicted any more");
    } else if (!passes) {
        char subject[64];
        (void)snprintf(subject, sizeof subject, "%s ", fulcrum_output_name(moved));
        fulcrum_relative_change_say(
            check, subject, stored->value[moved], now->value[moved]);
    }
}

void fulcrum_baseline_check_designs(const struct fulcrum_baseline_pair *runs,
    double moved_rel, struct fulcrum_check_list *checks)
{
    for (size_t i = 0; i < runs->stored->design_count; i++) {
        const struct fulcrum_stored_design *one = &runs->stored->designs[i];
        check_design(one, find_design(runs->now, one), moved_rel, checks);
    }
}

/* Fits of calibrations, repeated and compared. */

static void compare_parameter(const struct fulcrum_calibration *stored,
    const struct fulcrum_parameter *from, const struct fulcrum_parameter *to,
    double most_rel, struct fulcrum_check_list *checks)
{
    int value_moved =
        to == NULL || fulcrum_relative_change(from->value, to->value) > most_rel;
    int error_moved = to == NULL || fulcrum_relative_change(from->standard_error,
                                        to->standard_error) > most_rel;
    struct fulcrum_check *check = fulcrum_check_list_add(checks, stored->name,
        value_moved || error_moved ? FULCRUM_CHECK_FAILED : FULCRUM_CHECK_PASSED,
        "fitted again: %s", from->path);
    if (to == NULL) {
        fulcrum_check_say(check, "is no parameter any more");
    } else if (value_moved) {
        fulcrum_check_say(
            check, "comes out as %.6g, %.6g stored", to->value, from->value);
    } else if (error_moved) {
        fulcrum_check_say(check, "has a standard error of %.6g, %.6g stored",
            to->standard_error, from->standard_error);
    }
}

static enum fulcrum_status refit(const struct fulcrum_calibration *stored,
    double most_rel, const struct fulcrum_context *context,
    struct fulcrum_check_list *checks, struct fulcrum_error *err)
{
    const char *arguments = fulcrum_calibration_note(stored, "fit_arguments");
    if (arguments == NULL) {
        fulcrum_check_say(fulcrum_check_list_add(checks, stored->name,
                              FULCRUM_CHECK_SKIPPED, "fitted again"),
            "it has no note fit_arguments");
        return FULCRUM_OK;
    }
    struct fulcrum_calibration *again = NULL;
    fulcrum_message_note(context, "fit %s", arguments);
    enum fulcrum_status status =
        fulcrum_fit_repeat(arguments, stored->name, context, &again, err);
    if (status != FULCRUM_OK) {
        return fulcrum_fail_in(err, status, stored->name);
    }
    for (size_t i = 0; i < stored->parameter_count; i++) {
        const struct fulcrum_parameter *from = &stored->parameters[i];
        compare_parameter(stored, from,
            fulcrum_calibration_parameter(again, from->path), most_rel, checks);
    }
    fulcrum_calibration_free(again);
    return FULCRUM_OK;
}

/* Whether a calibration was fitted to a reference of the job, or a series of one. */
static bool is_fitted_here(const struct fulcrum_validate_job *job,
    const struct fulcrum_calibration *calibration)
{
    for (size_t i = 0; i < job->reference_count; i++) {
        if (fulcrum_fitted_points_part(calibration, job->references[i])) {
            return 1;
        }
    }
    return 0;
}

enum fulcrum_status fulcrum_validate_refit(const struct fulcrum_validate_job *job,
    double most_rel, const struct fulcrum_context *context,
    struct fulcrum_check_list *checks, struct fulcrum_error *err)
{
    for (size_t i = 0; i < job->calibration_count; i++) {
        if (is_fitted_here(job, job->calibrations[i])) {
            TRY(refit(job->calibrations[i], most_rel, context, checks, err));
        }
    }
    return FULCRUM_OK;
}

static bool is_same_set(
    const struct fulcrum_stored_point *a, const struct fulcrum_stored_point *b)
{
    return strcmp(a->reference, b->reference) == 0 &&
           strcmp(a->calibration, b->calibration) == 0;
}

static bool is_of(
    const struct fulcrum_stored_point *stored, const struct fulcrum_validation *set)
{
    return strcmp(stored->reference, set->reference->name) == 0 &&
           strcmp(stored->calibration, set->calibration) == 0;
}

/* The same point of the new run; NULL where there is none any more. */
static const struct fulcrum_stored_point *find_point(
    const struct fulcrum_baseline_run *now, const struct fulcrum_stored_point *stored)
{
    for (size_t i = 0; i < now->count; i++) {
        const struct fulcrum_stored_point *item = &now->points[i];
        if (fabs(item->point - stored->point) < 0.5 && is_same_set(item, stored) &&
            strcmp(item->quantity, stored->quantity) == 0) {
            return item;
        }
    }
    return NULL;
}

static void check_point(const struct fulcrum_stored_point *stored,
    const struct fulcrum_stored_point *item,
    const struct fulcrum_baseline_limits *limits, struct fulcrum_check_list *checks)
{
    bool has_moved = item != NULL && fulcrum_relative_change(stored->predicted,
                                         item->predicted) > limits->moved_rel;
    bool is_other = item != NULL && fulcrum_relative_change(stored->observed,
                                        item->observed) > limits->moved_rel;
    int passes =
        item != NULL && item->is_fitted == stored->is_fitted && !has_moved && !is_other;
    struct fulcrum_check *check = fulcrum_check_list_add(checks, stored->reference,
        passes ? FULCRUM_CHECK_PASSED : FULCRUM_CHECK_FAILED, "%s, point %.0f%s%s",
        stored->quantity, stored->point, stored->calibration[0] != '\0' ? ", " : "",
        stored->calibration);
    if (item == NULL) {
        fulcrum_check_say(check, "is not predicted any more");
    } else if (is_other) {
        fulcrum_check_say(check, "was observed as %.6g, %.6g stored", item->observed,
            stored->observed);
    } else if (item->is_fitted != stored->is_fitted) {
        fulcrum_check_say(check, "is %s, %s stored",
            item->is_fitted ? "fitted" : "predicted",
            stored->is_fitted ? "fitted" : "predicted");
    } else if (!passes) {
        fulcrum_relative_change_say(check, "", stored->predicted, item->predicted);
    }
}

/* The mean error of the predicted points of a set that both runs have. */
static void check_error(const struct fulcrum_baseline_pair *runs,
    const struct fulcrum_validation *set, double most_loss_frac,
    struct fulcrum_check_list *checks)
{
    double count = 0.0;
    double then_frac = 0.0;
    double now_frac = 0.0;
    for (size_t i = 0; i < runs->stored->count; i++) {
        const struct fulcrum_stored_point *stored = &runs->stored->points[i];
        const struct fulcrum_stored_point *item =
            is_of(stored, set) ? find_point(runs->now, stored) : NULL;
        if (item != NULL && !stored->is_fitted && stored->observed > 0.0) {
            count += 1.0;
            then_frac += fulcrum_relative_change(stored->observed, stored->predicted);
            now_frac += fulcrum_relative_change(item->observed, item->predicted);
        }
    }
    if (!(count > 0.0)) {
        return;
    }
    then_frac /= count;
    now_frac /= count;
    int passes = now_frac <= then_frac + most_loss_frac;
    struct fulcrum_check *check = fulcrum_check_list_add(checks, set->reference->name,
        passes ? FULCRUM_CHECK_PASSED : FULCRUM_CHECK_FAILED, "mean error%s%s",
        set->calibration[0] != '\0' ? ", " : "", set->calibration);
    if (!passes) {
        fulcrum_check_say(check,
            "of %.0f predicted points is %.3g %%, %.3g %% stored: worse by more than "
            "%.3g points",
            count, 100.0 * now_frac, 100.0 * then_frac, 100.0 * most_loss_frac);
    }
}

size_t fulcrum_baseline_check(const struct fulcrum_baseline_pair *runs,
    const struct fulcrum_validation *set, const struct fulcrum_baseline_limits *limits,
    struct fulcrum_check_list *checks)
{
    size_t count = 0;
    check_error(runs, set, limits->loss_frac, checks);
    for (size_t i = 0; i < runs->stored->count; i++) {
        const struct fulcrum_stored_point *stored = &runs->stored->points[i];
        if (is_of(stored, set)) {
            check_point(stored, find_point(runs->now, stored), limits, checks);
            count++;
        }
    }
    return count;
}

static bool has_set(
    const struct fulcrum_validate_job *job, const struct fulcrum_stored_point *stored)
{
    for (size_t i = 0; i < job->count; i++) {
        if (is_of(stored, &job->sets[i])) {
            return 1;
        }
    }
    return 0;
}

/* Whether a set of the run is of the stored point's reference. */
static bool has_reference(
    const struct fulcrum_validate_job *job, const struct fulcrum_stored_point *stored)
{
    for (size_t i = 0; i < job->count; i++) {
        if (strcmp(job->sets[i].reference->name, stored->reference) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Whether any stored point of a reference is of a set of the run. */
static bool is_known(const struct fulcrum_baseline_run *baseline,
    const struct fulcrum_validate_job *job, const char *reference)
{
    for (size_t i = 0; i < baseline->count; i++) {
        const struct fulcrum_stored_point *stored = &baseline->points[i];
        if (strcmp(stored->reference, reference) == 0 && has_set(job, stored)) {
            return 1;
        }
    }
    return 0;
}

void fulcrum_baseline_check_sets(const struct fulcrum_baseline_run *baseline,
    const struct fulcrum_validate_job *job, bool is_all,
    struct fulcrum_check_list *checks)
{
    size_t last = baseline->count; /* the set that was missed before; count: none */
    for (size_t i = 0; i < baseline->count; i++) {
        const struct fulcrum_stored_point *stored = &baseline->points[i];
        if ((last < i && is_same_set(&baseline->points[last], stored)) ||
            has_set(job, stored)) {
            continue;
        }
        last = i;
        if (!is_all && (!has_reference(job, stored) ||
                           is_known(baseline, job, stored->reference))) {
            continue;
        }
        fulcrum_check_say(
            fulcrum_check_list_add(checks, stored->reference, FULCRUM_CHECK_FAILED,
                "predictions%s%s", stored->calibration[0] != '\0' ? ", " : "",
                stored->calibration),
            "are stored and not made any more");
    }
}
