/* validate_designs.c - predictions of the presets themselves, to see them move. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/validate_designs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/design_options.h"
#include "cli/moved.h"
#include "model/try.h"
#include "presets/json.h"
#include "presets/reader.h"

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
static int fill(
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

static enum fulcrum_status add(struct fulcrum_context *context,
    const struct fulcrum_design_settings *settings,
    struct fulcrum_design_predictions *out, struct fulcrum_error *err)
{
    struct fulcrum_design_inputs inputs;
    struct fulcrum_scenario *scenario = NULL;
    struct fulcrum_design_prediction *next = &out->items[out->count];
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_design_inputs_load(settings, context, &inputs, err));
    TRY_OR_END(fulcrum_scenario_new(&inputs.scenario, &scenario, err));
    if (fill(scenario, next)) {
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
    if (out->items == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "predictions of presets");
    }
    for (size_t i = 0; i < pairs * ACTOR_COUNTS; i++) {
        size_t pair = i / ACTOR_COUNTS;
        const struct fulcrum_design_settings settings = {
            .machine = presets->machines[pair / presets->workload_count].name,
            .workload = presets->workloads[pair % presets->workload_count].name,
            .actor_count = actor_counts[i % ACTOR_COUNTS]};
        TRY(add(context, &settings, out, err));
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

void fulcrum_design_predictions_write(
    const struct fulcrum_design_predictions *predictions, struct fulcrum_json *document)
{
    struct fulcrum_json *array = fulcrum_json_add_array(document, "designs");
    for (size_t i = 0; i < predictions->count; i++) {
        const struct fulcrum_design_prediction *from = &predictions->items[i];
        struct fulcrum_json *object = fulcrum_json_append_object(array);
        fulcrum_json_add_text(object, "machine", from->machine);
        fulcrum_json_add_text(object, "workload", from->workload);
        fulcrum_json_add_number(object, "actor_count", from->actor_count);
        for (size_t k = 0; k < KEPT; k++) {
            fulcrum_json_add_number(object, fulcrum_output_name(kept[k]),
                fulcrum_moved_stored(from->value[kept[k]]));
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

enum fulcrum_status fulcrum_design_predictions_read(const struct fulcrum_node *document,
    struct fulcrum_design_predictions *out, struct fulcrum_error *err)
{
    struct fulcrum_node array = fulcrum_node_member(document, "designs");
    size_t count = 0;
    *out = (struct fulcrum_design_predictions){.count = 0};
    if (array.json == NULL || !fulcrum_node_is_array(&array, &count)) {
        return FULCRUM_OK;
    }
    out->items = calloc(count + 1, sizeof *out->items);
    if (out->items == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "predictions of presets");
    }
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
        double moved_rel = fulcrum_moved_rel(
            from->value[kept[k]], fulcrum_moved_stored(to->value[kept[k]]));
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
        fulcrum_moved_say(check, subject, stored->value[moved], now->value[moved]);
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
