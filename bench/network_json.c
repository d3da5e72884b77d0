/* network_json.c - a network as a line for `fulcrum solve`. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/compare.h"

#include <assert.h>
#include <stdlib.h>

static void add_cpu(struct fulcrum_json *object, const struct fulcrum_cpu_station *cpu)
{
    assert(cpu->curve == FULCRUM_CURVE_SMT_TURBO);
    struct fulcrum_json *out = fulcrum_json_add_object(object, "cpu");
    fulcrum_json_add_number(out, "cores", cpu->core_count);
    fulcrum_json_add_number(out, "threads", cpu->thread_count);
    fulcrum_json_add_number(out, "reserved_threads", cpu->reserved_threads);
    fulcrum_json_add_number(out, "slice_s", cpu->slice_s);
    fulcrum_json_add_number(out, "smt_yield_frac", cpu->smt_yield_frac);
    fulcrum_json_add_number(out, "turbo_frac", cpu->turbo_frac);
    fulcrum_json_add_number(out, "oversubscription_frac", cpu->oversubscription_frac);
}

static void add_times(
    struct fulcrum_json *object, const char *key, const struct fulcrum_batch_time *time)
{
    assert(time->count == 0);
    struct fulcrum_json *out = fulcrum_json_add_object(object, key);
    fulcrum_json_add_number(out, "per_batch_s", time->per_batch_s);
    fulcrum_json_add_number(out, "per_item_s", time->per_item_s);
}

static void add_batching(
    struct fulcrum_json *object, const struct fulcrum_network *network)
{
    struct fulcrum_json *out = fulcrum_json_add_object(object, "batching");
    fulcrum_json_add_text(out, "policy", fulcrum_batch_policy_name(network->policy));
    if (network->batch_size > 0.0) {
        fulcrum_json_add_number(out, "size", network->batch_size);
    } else {
        fulcrum_json_add_null(out, "size");
    }
    fulcrum_json_add_number(out, "depth", network->depth);
}

static void add_training(
    struct fulcrum_json *object, const struct fulcrum_training *training)
{
    struct fulcrum_json *out = fulcrum_json_add_object(object, "training");
    fulcrum_json_add_number(
        out, "env_steps_per_train_step", training->env_steps_per_train_step);
    fulcrum_json_add_number(out, "train_step_s", training->train_step_s);
    fulcrum_json_add_number(out, "queue_train_steps", training->queue_train_steps);
    fulcrum_json_add_number(out, "sharing_frac", training->sharing_frac);
}

void fulcrum_network_to_json(
    const struct fulcrum_network *network, struct fulcrum_json *object)
{
    fulcrum_json_add_text(object, "kind", "network");
    fulcrum_json_add_text(object, "name", network->name);
    fulcrum_json_add_number(object, "actors", network->actors);
    add_cpu(object, &network->cpu);
    struct fulcrum_json *out = fulcrum_json_add_object(object, "step");
    fulcrum_json_add_number(out, "mean_s", network->step.mean_s);
    fulcrum_json_add_number(out, "cv", network->step.cv);
    fulcrum_json_add_text(out, "law", fulcrum_step_law_name(network->step.law));
    add_times(object, "host", &network->host);
    add_times(object, "gpu", &network->gpu);
    add_batching(object, network);
    fulcrum_json_add_number(object, "delay_s", network->delay_s);
    if (network->training.env_steps_per_train_step > 0.0) {
        add_training(object, &network->training);
    }
}

enum fulcrum_status fulcrum_network_print(
    FILE *stream, const struct fulcrum_network *network, struct fulcrum_error *err)
{
    char *text = NULL;
    struct fulcrum_json *object = fulcrum_json_new_object();
    fulcrum_network_to_json(network, object);
    enum fulcrum_status status =
        fulcrum_json_text(object, FULCRUM_JSON_LINE, &text, err);
    if (status == FULCRUM_OK) {
        (void)fputs(text, stream);
    }
    free(text);
    fulcrum_json_free(object);
    return status;
}
