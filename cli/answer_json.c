/* answer_json.c - an answer as one line of JSON. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/answer.h"

#include <stdlib.h>

#include "cli/flags.h"
#include "model/solver.h"
#include "presets/json.h"

static void add_interval(
    struct fulcrum_json *object, const struct fulcrum_solution *solution)
{
    if (!solution->has_interval) {
        fulcrum_json_add_null(object, "interval");
        return;
    }
    const double ends[] = {solution->steps_per_s_lo, solution->steps_per_s_hi};
    fulcrum_json_add_numbers(object, "interval", ends, 2);
}

static void add_residence(
    struct fulcrum_json *object, const struct fulcrum_residence *residence)
{
    struct fulcrum_json *stages = fulcrum_json_add_object(object, "residence_s");
    fulcrum_json_add_number(stages, "cpu", residence->cpu_s);
    fulcrum_json_add_number(stages, "host", residence->host_s);
    fulcrum_json_add_number(stages, "gpu", residence->gpu_s);
    fulcrum_json_add_number(stages, "delay", residence->delay_s);
}

static void add_solution(
    struct fulcrum_json *object, const struct fulcrum_solution *solution)
{
    fulcrum_json_add_text(object, "method", fulcrum_method_name(solution->method));
    fulcrum_json_add_number(object, "steps_per_s", solution->steps_per_s);
    add_interval(object, solution);
    fulcrum_json_add_number(object, "mean_batch", solution->mean_batch);
    fulcrum_json_add_number(
        object, "cpu_thread_busy_frac", solution->cpu_thread_busy_frac);
    fulcrum_json_add_number(object, "cpu_core_busy_frac", solution->cpu_core_busy_frac);
    fulcrum_json_add_number(object, "host_busy_frac", solution->host_busy_frac);
    fulcrum_json_add_number(object, "gpu_busy_frac", solution->gpu_busy_frac);
    fulcrum_json_add_number(
        object, "gpu_inference_busy_frac", solution->gpu_inference_busy_frac);
    fulcrum_json_add_number(
        object, "gpu_train_busy_frac", solution->gpu_train_busy_frac);
    add_residence(object, &solution->residence);
    fulcrum_json_add_text(
        object, "bottleneck", fulcrum_bottleneck_name(solution->bottleneck));
    fulcrum_flags_to_json(solution->flags, object);
}

static void add_loads(struct fulcrum_json *object, const struct fulcrum_answer *answer)
{
    const struct fulcrum_product_form_network *network =
        &answer->network.product_form.network;
    fulcrum_json_add_text(
        object, "method", fulcrum_method_name(FULCRUM_METHOD_PRODUCT_FORM));
    fulcrum_json_add_number(object, "throughput_per_s", answer->cycles_per_s);
    struct fulcrum_json *stations = fulcrum_json_add_array(object, "stations");
    for (size_t i = 0; i < network->station_count; i++) {
        struct fulcrum_json *station = fulcrum_json_append_object(stations);
        const struct fulcrum_product_form_load *load = &answer->loads[i];
        fulcrum_json_add_text(station, "name", network->stations[i].name);
        fulcrum_json_add_number(station, "mean_customers", load->mean_customers);
        fulcrum_json_add_number(station, "residence_s", load->residence_s);
        fulcrum_json_add_number(station, "utilisation", load->busy_frac);
    }
}

enum fulcrum_status fulcrum_answer_make_json(
    struct fulcrum_answer *answer, struct fulcrum_error *err)
{
    struct fulcrum_json *object = fulcrum_json_new_object();
    if (answer->network.has_name) {
        fulcrum_json_add_text(object, "name", answer->network.name);
    } else {
        fulcrum_json_add_null(object, "name");
    }
    if (answer->status != FULCRUM_OK) {
        fulcrum_json_add_text(object, "error", answer->failure.detail);
    } else if (answer->network.kind == FULCRUM_KIND_NETWORK) {
        add_solution(object, &answer->solution);
    } else {
        add_loads(object, answer);
    }
    char *text = NULL;
    enum fulcrum_status status =
        fulcrum_json_text(object, FULCRUM_JSON_LINE, &text, err);
    if (status == FULCRUM_OK) {
        free(answer->json);
        answer->json = text;
    }
    fulcrum_json_free(object);
    return status;
}
