/* validate_baseline.c - an earlier run of `validate`, to compare a new one with. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/validate/validate_job.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/command/fit_job.h"
#include "cli/message.h"
#include "cli/options/options.h"
#include "cli/output/check_list.h"
#include "model/predict/predict.h"
#include "model/result.h"
#include "model/try.h"
#include "presets/io/document.h"
#include "presets/io/output.h"
#include "presets/io/reader.h"
#include "presets/result/result_io.h"

/* Predictions of the presets themselves, to see them move. */

/* Actors of each machine with each workload. */
static const double actor_counts[] = {16.0, 256.0};
enum { ACTOR_COUNTS = sizeof actor_counts / sizeof actor_counts[0] };

/* What is kept of a prediction: the rest follows from these and the presets. */
static const enum fulcrum_predicted kept[] = {FULCRUM_OUTPUT_steps_per_s,
    FULCRUM_OUTPUT_cpu_thread_busy_frac, FULCRUM_OUTPUT_gpu_busy_frac,
    FULCRUM_OUTPUT_cpu_w, FULCRUM_OUTPUT_gpu_w, FULCRUM_OUTPUT_system_w};
enum { KEPT = sizeof kept / sizeof kept[0] };

static void forget_values(struct fulcrum_design_prediction *out)
{
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        out->value[i] = (double)NAN;
    }
}

/* Returns 0 where the design cannot run. */
static int predict_kept_outputs(
    const struct fulcrum_scenario *scenario, struct fulcrum_design_prediction *out)
{
    const struct fulcrum_point point = {.varied = NULL};
    const struct fulcrum_predict_options options = {
        .solver = {.method = FULCRUM_METHOD_FAST}};
    struct fulcrum_prediction prediction;
    if (fulcrum_predict(scenario, &point, &options, &prediction, NULL) != FULCRUM_OK) {
        return 0;
    }
    forget_values(out);
    for (size_t i = 0; i < KEPT; i++) {
        out->value[kept[i]] = prediction.value[kept[i]];
    }
    return 1;
}

static enum fulcrum_status add_design_prediction(struct fulcrum_context *context,
    const struct fulcrum_design_settings *settings,
    struct fulcrum_design_predictions *out, struct fulcrum_error *err)
{
    struct fulcrum_design_inputs inputs;
    struct fulcrum_scenario *scenario = NULL;
    struct fulcrum_design_prediction *next = &out->items[out->count];
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_design_inputs_load(settings, context, &inputs, err));
    TRY_OR_END(fulcrum_scenario_new(&inputs.scenario, &scenario, err));
    if (predict_kept_outputs(scenario, next)) {
        (void)snprintf(next->machine, sizeof next->machine, "%s", settings->machine);
        (void)snprintf(next->workload, sizeof next->workload, "%s", settings->workload);
        next->actor_count = settings->actor_count;
        out->count++;
    }
end:
    fulcrum_scenario_free(scenario);
    fulcrum_design_inputs_free(&inputs);
    return status;
}

/* The presets of two kinds. */
struct presets {
    struct fulcrum_preset_entry *machines;
    size_t machine_count;
    struct fulcrum_preset_entry *workloads;
    size_t workload_count;
};

static enum fulcrum_status add_all(struct fulcrum_context *context,
    const struct presets *presets, struct fulcrum_design_predictions *out,
    struct fulcrum_error *err)
{
    size_t pairs = presets->machine_count * presets->workload_count;
    out->items = calloc(pairs * ACTOR_COUNTS + 1, sizeof *out->items);
    TRY_MEMORY(out->items, err, "predictions of presets");
    for (size_t i = 0; i < pairs * ACTOR_COUNTS; i++) {
        size_t pair = i / ACTOR_COUNTS;
        const struct fulcrum_design_settings settings = {
            .machine = presets->machines[pair / presets->workload_count].name,
            .workload = presets->workloads[pair % presets->workload_count].name,
            .actor_count = actor_counts[i % ACTOR_COUNTS]};
        TRY(add_design_prediction(context, &settings, out, err));
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_design_predictions_make(struct fulcrum_context *context,
    struct fulcrum_design_predictions *out, struct fulcrum_error *err)
{
    struct presets presets = {NULL, 0, NULL, 0};
    *out = (struct fulcrum_design_predictions){.count = 0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_preset_list(
        FULCRUM_PRESET_MACHINE, &presets.machines, &presets.machine_count, err));
    TRY_OR_END(fulcrum_preset_list(
        FULCRUM_PRESET_WORKLOAD, &presets.workloads, &presets.workload_count, err));
    status = add_all(context, &presets, out, err);
end:
    free(presets.machines);
    free(presets.workloads);
    return status;
}

void fulcrum_design_predictions_clear(struct fulcrum_design_predictions *predictions)
{
    free(predictions->items);
    *predictions = (struct fulcrum_design_predictions){.count = 0};
}

static void add_designs(
    struct fulcrum_table *table, const struct fulcrum_design_predictions *predictions)
{
    for (size_t i = 0; i < predictions->count; i++) {
        const struct fulcrum_design_prediction *from = &predictions->items[i];
        fulcrum_table_row(table);
        fulcrum_table_text(table, "machine", "", from->machine);
        fulcrum_table_text(table, "workload", "", from->workload);
        fulcrum_table_number(table, "actor_count", "", from->actor_count);
        for (size_t k = 0; k < KEPT; k++) {
            fulcrum_table_number(table, fulcrum_output_name(kept[k]), "",
                fulcrum_relative_change_stored(from->value[kept[k]]));
        }
    }
}

static void read_design(
    const struct fulcrum_node *node, struct fulcrum_design_prediction *out)
{
    forget_values(out);
    if (!fulcrum_node_is_object(node)) {
        return;
    }
    struct fulcrum_node machine = fulcrum_node_member(node, "machine");
    struct fulcrum_node workload = fulcrum_node_member(node, "workload");
    struct fulcrum_node actor_count = fulcrum_node_member(node, "actor_count");
    (void)fulcrum_node_text(&machine, out->machine, sizeof out->machine);
    (void)fulcrum_node_text(&workload, out->workload, sizeof out->workload);
    (void)fulcrum_node_number(&actor_count, &out->actor_count);
    for (size_t k = 0; k < KEPT; k++) {
        struct fulcrum_node value =
            fulcrum_node_member(node, fulcrum_output_name(kept[k]));
        (void)fulcrum_node_measured(&value, &out->value[kept[k]]);
    }
}

/*
 * Reads that array; faults go to the node's reader. No array: none are stored.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
static enum fulcrum_status design_predictions_read(const struct fulcrum_node *document,
    struct fulcrum_design_predictions *out, struct fulcrum_error *err)
{
    struct fulcrum_node array = fulcrum_node_member(document, "designs");
    size_t count = 0;
    *out = (struct fulcrum_design_predictions){.count = 0};
    if (array.json == NULL || !fulcrum_node_is_array(&array, &count)) {
        return FULCRUM_OK;
    }
    out->items = calloc(count + 1, sizeof *out->items);
    TRY_MEMORY(out->items, err, "predictions of presets");
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_node element = fulcrum_node_element(&array, i);
        read_design(&element, &out->items[i]);
    }
    out->count = count;
    return FULCRUM_OK;
}

static const struct fulcrum_design_prediction *find(
    const struct fulcrum_design_predictions *in,
    const struct fulcrum_design_prediction *like)
{
    for (size_t i = 0; i < in->count; i++) {
        const struct fulcrum_design_prediction *item = &in->items[i];
        if (strcmp(item->machine, like->machine) == 0 &&
            strcmp(item->workload, like->workload) == 0 &&
            fabs(item->actor_count - like->actor_count) < 0.5) {
            return item;
        }
    }
    return NULL;
}

/* The output that has moved furthest beyond the limit; COUNT where none has. */
static enum fulcrum_predicted furthest(const struct fulcrum_design_prediction *from,
    const struct fulcrum_design_prediction *to, double most_rel)
{
    enum fulcrum_predicted found = FULCRUM_OUTPUT_COUNT;
    double most = most_rel;
    for (size_t k = 0; k < KEPT; k++) {
        double moved_rel = fulcrum_relative_change(
            from->value[kept[k]], fulcrum_relative_change_stored(to->value[kept[k]]));
        if (moved_rel > most) {
            most = moved_rel;
            found = kept[k];
        }
    }
    return found;
}

static void check_design(const struct fulcrum_design_prediction *stored,
    const struct fulcrum_design_prediction *now, double moved_rel,
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

void fulcrum_design_predictions_check(const struct fulcrum_design_predictions *stored,
    const struct fulcrum_design_predictions *now, double moved_rel,
    struct fulcrum_check_list *checks)
{
    for (size_t i = 0; i < stored->count; i++) {
        const struct fulcrum_design_prediction *one = &stored->items[i];
        check_design(one, find(now, one), moved_rel, checks);
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

enum fulcrum_status fulcrum_validate_refit(const struct fulcrum_validate_job *job,
    double most_rel, const struct fulcrum_context *context,
    struct fulcrum_check_list *checks, struct fulcrum_error *err)
{
    for (size_t i = 0; i < job->calibration_count; i++) {
        if (fulcrum_validate_is_fitted(job, job->calibrations[i])) {
            TRY(refit(job->calibrations[i], most_rel, context, checks, err));
        }
    }
    return FULCRUM_OK;
}

#define SCHEMA "fulcrum-baseline"

/* Of both schemas: fulcrum_result_write writes no other. */
#define SCHEMA_VERSION 1

static void read_kind(const struct fulcrum_node *node, struct fulcrum_stored_point *out)
{
    char kind[32];
    if (!fulcrum_node_text(node, kind, sizeof kind)) {
        return;
    }
    out->is_fitted = strcmp(kind, "fitted") == 0;
    if (!out->is_fitted && strcmp(kind, "predicted") != 0) {
        fulcrum_node_fault(
            node, FULCRUM_ERR_FORMAT, "expected \"fitted\" or \"predicted\"");
    }
}

/* The JSON of `validate` has more digits than a stored run. */
static void read_value(const struct fulcrum_node *node, double *out)
{
    if (fulcrum_node_number(node, out)) {
        *out = fulcrum_relative_change_stored(*out);
    }
}

static void read_point(
    const struct fulcrum_node *node, struct fulcrum_stored_point *out)
{
    static const char *const keys[] = {"reference", "calibration", "quantity", "point",
        "observed", "predicted", "kind"};
    enum { REFERENCE, CALIBRATION, QUANTITY, POINT, OBSERVED, PREDICTED, KIND, KEYS };
    struct fulcrum_node members[KEYS];
    if (!fulcrum_node_is_object(node)) {
        return;
    }
    for (size_t i = 0; i < KEYS; i++) {
        members[i] = fulcrum_node_member(node, keys[i]);
    }
    (void)fulcrum_node_text(&members[REFERENCE], out->reference, sizeof out->reference);
    (void)fulcrum_node_text(
        &members[CALIBRATION], out->calibration, sizeof out->calibration);
    (void)fulcrum_node_text(&members[QUANTITY], out->quantity, sizeof out->quantity);
    (void)fulcrum_node_number(&members[POINT], &out->point);
    read_value(&members[OBSERVED], &out->observed);
    read_value(&members[PREDICTED], &out->predicted);
    read_kind(&members[KIND], out);
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

static enum fulcrum_status read_points(const struct fulcrum_node *root,
    struct fulcrum_baseline_run *out, struct fulcrum_error *err)
{
    struct fulcrum_node points = fulcrum_node_member(root, "points");
    size_t count = 0;
    if (!fulcrum_node_is_array(&points, &count)) {
        return FULCRUM_OK;
    }
    if (count == 0) {
        fulcrum_node_fault(
            &points, FULCRUM_ERR_MISSING, "expected one stored prediction or more");
    }
    out->points = calloc(count + 1, sizeof *out->points);
    TRY_MEMORY(out->points, err, "a baseline");
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_node point = fulcrum_node_element(&points, i);
        read_point(&point, &out->points[i]);
    }
    out->count = count;
    return FULCRUM_OK;
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
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(read_points(&root, out, err));
    TRY_OR_END(design_predictions_read(&root, &out->designs, err));
    status = fulcrum_reader_finish(&reader, err);
end:
    fulcrum_document_free(document);
    return status;
}

/* NULL: no memory. The caller frees it. */
static struct fulcrum_result *result_of(const struct fulcrum_validate_job *job,
    const struct fulcrum_design_predictions *designs)
{
    struct fulcrum_result *result = fulcrum_result_new(SCHEMA);
    struct fulcrum_table *table = fulcrum_result_table(result, "points", "");
    for (size_t i = 0; i < job->count; i++) {
        const struct fulcrum_validation *set = &job->sets[i];
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
            fulcrum_table_number(table, "predicted", "",
                fulcrum_relative_change_stored(item->predicted));
            fulcrum_table_text(
                table, "kind", "", item->is_fitted ? "fitted" : "predicted");
        }
    }
    if (designs->count > 0) {
        add_designs(fulcrum_result_table(result, "designs", ""), designs);
    }
    return result;
}

enum fulcrum_status fulcrum_baseline_write(const struct fulcrum_validate_job *job,
    const struct fulcrum_design_predictions *designs, const char *path,
    struct fulcrum_error *err)
{
    struct fulcrum_output *output = NULL;
    struct fulcrum_result *result = result_of(job, designs);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_output_open(path, &output, err));
    TRY_OR_END(fulcrum_result_write(
        result, FULCRUM_FORMAT_JSON, NULL, fulcrum_output_stream(output), err));
    status = fulcrum_output_commit(output, err);
    output = NULL;
end:
    fulcrum_output_discard(output);
    fulcrum_result_free(result);
    return status;
}

void fulcrum_baseline_clear(struct fulcrum_baseline_run *baseline)
{
    free(baseline->points);
    fulcrum_design_predictions_clear(&baseline->designs);
    *baseline = (struct fulcrum_baseline_run){.count = 0};
}

static bool is_of(
    const struct fulcrum_stored_point *stored, const struct fulcrum_validation *set)
{
    return strcmp(stored->reference, set->reference->name) == 0 &&
           strcmp(stored->calibration, set->calibration) == 0;
}

/* The item that a stored point stands for; NULL where there is none any more. */
static const struct fulcrum_compared *find_item(
    const struct fulcrum_validation *set, const struct fulcrum_stored_point *stored)
{
    const struct fulcrum_comparison *all = &set->comparison;
    for (size_t k = 0; k < all->count; k++) {
        const struct fulcrum_compared *item = &all->items[k];
        const char *quantity = fulcrum_validate_observation(all, item)->quantity;
        if (fabs((double)item->point - stored->point) < 0.5 &&
            strcmp(quantity, stored->quantity) == 0) {
            return item;
        }
    }
    return NULL;
}

/* Compared as it would be stored, so that a tolerance of 0 means the same digits. */
static bool has_moved(double stored, double now, double most_rel)
{
    return fulcrum_relative_change(stored, fulcrum_relative_change_stored(now)) >
           most_rel;
}

static void check_point(const struct fulcrum_validation *set,
    const struct fulcrum_stored_point *stored,
    const struct fulcrum_baseline_limits *limits, struct fulcrum_check_list *checks)
{
    const struct fulcrum_compared *item = find_item(set, stored);
    int passes = item != NULL && item->is_fitted == stored->is_fitted &&
                 !has_moved(stored->predicted, item->predicted, limits->moved_rel) &&
                 !has_moved(stored->observed, item->observed, limits->moved_rel);
    struct fulcrum_check *check = fulcrum_check_list_add(checks, stored->reference,
        passes ? FULCRUM_CHECK_PASSED : FULCRUM_CHECK_FAILED, "%s, point %.0f%s%s",
        stored->quantity, stored->point, stored->calibration[0] != '\0' ? ", " : "",
        stored->calibration);
    if (item == NULL) {
        fulcrum_check_say(check, "is not predicted any more");
    } else if (has_moved(stored->observed, item->observed, limits->moved_rel)) {
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

/* Of the predicted points of a set that both runs have. */
struct mean_error {
    double count;
    double then_frac;
    double now_frac;
};

static struct mean_error mean_error(
    const struct fulcrum_baseline_run *baseline, const struct fulcrum_validation *set)
{
    struct mean_error mean = {0.0, 0.0, 0.0};
    for (size_t i = 0; i < baseline->count; i++) {
        const struct fulcrum_stored_point *stored = &baseline->points[i];
        const struct fulcrum_compared *item =
            is_of(stored, set) ? find_item(set, stored) : NULL;
        if (item == NULL || stored->is_fitted || !(stored->observed > 0.0)) {
            continue;
        }
        mean.count += 1.0;
        mean.then_frac += fulcrum_relative_change(stored->observed, stored->predicted);
        mean.now_frac +=
            fulcrum_relative_change(fulcrum_relative_change_stored(item->observed),
                fulcrum_relative_change_stored(item->predicted));
    }
    mean.then_frac /= fmax(mean.count, 1.0);
    mean.now_frac /= fmax(mean.count, 1.0);
    return mean;
}

static void check_error(const struct fulcrum_baseline_run *baseline,
    const struct fulcrum_validation *set, double most_loss_frac,
    struct fulcrum_check_list *checks)
{
    struct mean_error mean = mean_error(baseline, set);
    if (!(mean.count > 0.0)) {
        return;
    }
    int passes = mean.now_frac <= mean.then_frac + most_loss_frac;
    struct fulcrum_check *check = fulcrum_check_list_add(checks, set->reference->name,
        passes ? FULCRUM_CHECK_PASSED : FULCRUM_CHECK_FAILED, "mean error%s%s",
        set->calibration[0] != '\0' ? ", " : "", set->calibration);
    if (!passes) {
        fulcrum_check_say(check,
            "of %.0f predicted points is %.3g %%, %.3g %% stored: worse by more than "
            "%.3g points",
            mean.count, 100.0 * mean.now_frac, 100.0 * mean.then_frac,
            100.0 * most_loss_frac);
    }
}

size_t fulcrum_baseline_check(const struct fulcrum_baseline_run *baseline,
    const struct fulcrum_validation *set, const struct fulcrum_baseline_limits *limits,
    struct fulcrum_check_list *checks)
{
    size_t count = 0;
    check_error(baseline, set, limits->loss_frac, checks);
    for (size_t i = 0; i < baseline->count; i++) {
        if (is_of(&baseline->points[i], set)) {
            check_point(set, &baseline->points[i], limits, checks);
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

static bool is_same_set(
    const struct fulcrum_stored_point *a, const struct fulcrum_stored_point *b)
{
    return strcmp(a->reference, b->reference) == 0 &&
           strcmp(a->calibration, b->calibration) == 0;
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
