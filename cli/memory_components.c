/* memory_components.c - shares of GPU time and of a run, as tables, CSV and JSON. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>

#include "cli/flags.h"
#include "cli/memory_report.h"
#include "cli/report.h"
#include "model/solver.h"
#include "presets/json.h"

static const struct fulcrum_column all_columns[] = {
    {"machine", FULCRUM_COLUMN_TEXT, NULL},
    {"gpu", FULCRUM_COLUMN_TEXT, NULL},
    {"component", FULCRUM_COLUMN_TEXT, NULL},
    {"meaning", FULCRUM_COLUMN_TEXT, NULL},
    {"gpu_s", FULCRUM_COLUMN_NUMBER, NULL},
    {"gpu_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"kernel_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"run_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"run_frac_lo", FULCRUM_COLUMN_NUMBER, NULL},
    {"run_frac_hi", FULCRUM_COLUMN_NUMBER, NULL},
    {"least_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"mean_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"mean_frac_lo", FULCRUM_COLUMN_NUMBER, NULL},
    {"mean_frac_hi", FULCRUM_COLUMN_NUMBER, NULL},
    {"most_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"first_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"last_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"speedup", FULCRUM_COLUMN_NUMBER, NULL},
    {"speedup_lo", FULCRUM_COLUMN_NUMBER, NULL},
    {"speedup_hi", FULCRUM_COLUMN_NUMBER, NULL},
    {"steps_per_s", FULCRUM_COLUMN_NUMBER, NULL},
};

/* For people: the rest is in the other formats. */
static const struct fulcrum_column few_columns[] = {
    {"meaning", FULCRUM_COLUMN_TEXT, "made ideal"},
    {"gpu_frac", FULCRUM_COLUMN_NUMBER, "GPU time"},
    {"kernel_frac", FULCRUM_COLUMN_NUMBER, "kernels"},
    {"run_frac", FULCRUM_COLUMN_NUMBER, "of a run"},
    {"run_frac_lo", FULCRUM_COLUMN_NUMBER, "5 %"},
    {"run_frac_hi", FULCRUM_COLUMN_NUMBER, "95 %"},
    {"least_frac", FULCRUM_COLUMN_NUMBER, "least"},
    {"mean_frac", FULCRUM_COLUMN_NUMBER, "mean"},
    {"most_frac", FULCRUM_COLUMN_NUMBER, "most"},
    {"speedup", FULCRUM_COLUMN_NUMBER, "alone"},
    {"speedup_lo", FULCRUM_COLUMN_NUMBER, "5 %"},
    {"speedup_hi", FULCRUM_COLUMN_NUMBER, "95 %"},
};

/* What no component is: environments and whatever else actors wait for. */
#define REST_NAME    "rest"
#define REST_MEANING "the rest: environments on the CPU"

static int is_kernel(size_t i)
{
    return fulcrum_ideal_is_gpu(i) && i != FULCRUM_IDEAL_LAUNCH;
}

/* GPU time in kernels, as the published shares have it: without launches, and without
 * what several GPUs wait for each other. */
static double kernel_s(const struct fulcrum_component_costs *costs)
{
    double sum_s = 0.0;
    for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
        sum_s += is_kernel(i) ? costs->costs[i].gpu_s : 0.0;
    }
    return sum_s;
}

static double kernel_frac(const struct fulcrum_component_costs *costs, size_t i)
{
    return is_kernel(i) && kernel_s(costs) > 0.0
               ? costs->costs[i].gpu_s / kernel_s(costs)
               : (double)NAN;
}

static double gpu_frac(const struct fulcrum_component_costs *costs, size_t i)
{
    return fulcrum_ideal_is_gpu(i) && costs->gpu_s > 0.0
               ? costs->costs[i].gpu_s / costs->gpu_s
               : (double)NAN;
}

static void add_numbers(
    struct fulcrum_report *report, const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fulcrum_report_add_number(report, numbers[i]);
    }
}

static void add_all(struct fulcrum_report *report,
    const struct fulcrum_memory_components *machine, size_t i)
{
    const struct fulcrum_component_costs *costs = machine->costs;
    const struct fulcrum_component_cost *cost = &costs->costs[i];
    const double numbers[] = {fulcrum_ideal_is_gpu(i) ? cost->gpu_s : (double)NAN,
        gpu_frac(costs, i), kernel_frac(costs, i), cost->in_order.value,
        cost->in_order.lo, cost->in_order.hi, cost->run.least_frac, cost->mean.value,
        cost->mean.lo, cost->mean.hi, cost->run.most_frac, cost->run.first_frac,
        cost->run.last_frac, cost->speedup.value, cost->speedup.lo, cost->speedup.hi,
        costs->steps_per_s.value};
    fulcrum_report_add_text(report, machine->subject.design->machine.name);
    fulcrum_report_add_text(report, machine->subject.design->machine.gpu.name);
    fulcrum_report_add_text(report, fulcrum_ideal_name(i));
    fulcrum_report_add_text(report, fulcrum_ideal_meaning(i));
    add_numbers(report, numbers, sizeof numbers / sizeof numbers[0]);
}

static void add_rest_to_all(
    struct fulcrum_report *report, const struct fulcrum_memory_components *machine)
{
    const struct fulcrum_component_costs *costs = machine->costs;
    const struct fulcrum_ratio *rest = &costs->rest;
    const double none = (double)NAN;
    const double numbers[] = {none, none, none, rest->value, rest->lo, rest->hi,
        rest->value, rest->value, rest->lo, rest->hi, rest->value, rest->value,
        rest->value, none, none, none, costs->steps_per_s.value};
    fulcrum_report_add_text(report, machine->subject.design->machine.name);
    fulcrum_report_add_text(report, machine->subject.design->machine.gpu.name);
    fulcrum_report_add_text(report, REST_NAME);
    fulcrum_report_add_text(report, REST_MEANING);
    add_numbers(report, numbers, sizeof numbers / sizeof numbers[0]);
}

static struct fulcrum_report *report_all(
    const struct fulcrum_memory_components *machines, size_t count)
{
    struct fulcrum_report *report = fulcrum_report_new(
        "components", all_columns, sizeof all_columns / sizeof all_columns[0]);
    for (size_t m = 0; m < count; m++) {
        for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
            add_all(report, &machines[m], i);
        }
        add_rest_to_all(report, &machines[m]);
    }
    return report;
}

static struct fulcrum_report *report_few(const struct fulcrum_component_costs *costs)
{
    struct fulcrum_report *report = fulcrum_report_new(
        "components", few_columns, sizeof few_columns / sizeof few_columns[0]);
    for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
        const struct fulcrum_component_cost *cost = &costs->costs[i];
        const double numbers[] = {gpu_frac(costs, i), kernel_frac(costs, i),
            cost->in_order.value, cost->in_order.lo, cost->in_order.hi,
            cost->run.least_frac, cost->mean.value, cost->run.most_frac,
            cost->speedup.value, cost->speedup.lo, cost->speedup.hi};
        fulcrum_report_add_text(report, fulcrum_ideal_meaning(i));
        add_numbers(report, numbers, sizeof numbers / sizeof numbers[0]);
    }
    const double none = (double)NAN;
    const struct fulcrum_ratio *rest = &costs->rest;
    const double numbers[] = {none, none, rest->value, rest->lo, rest->hi, rest->value,
        rest->value, rest->value, none, none, none};
    fulcrum_report_add_text(report, REST_MEANING);
    add_numbers(report, numbers, sizeof numbers / sizeof numbers[0]);
    return report;
}

void fulcrum_memory_print_method(
    const struct fulcrum_prediction *prediction, size_t draw_count, FILE *stream)
{
    (void)fprintf(stream, "\nmethod       %s", fulcrum_method_name(prediction->method));
    if (prediction->solver_error_rel > 0.0) {
        (void)fprintf(
            stream, " (+-%.2g %% at 95 %%)", 100.0 * prediction->solver_error_rel);
    }
    if (draw_count > 0) {
        (void)fprintf(stream, ", intervals from %zu draws", draw_count);
    }
    (void)fputc('\n', stream);
}

void fulcrum_memory_method_to_json(
    const struct fulcrum_prediction *prediction, struct fulcrum_json *object)
{
    fulcrum_json_add_text(object, "method", fulcrum_method_name(prediction->method));
    fulcrum_json_add_number(object, "solver_error_rel", prediction->solver_error_rel);
}

static void print_head(const struct fulcrum_memory_components *machine, FILE *stream)
{
    const struct fulcrum_design *design = machine->subject.design;
    const struct fulcrum_component_costs *costs = machine->costs;
    (void)fprintf(stream,
        "machine      %s (%s)\nworkload     %s\ncalibration  %s\n"
        "run          %.6g actors, %.4g steps/s",
        design->machine.name, design->machine.gpu.name, design->workload.name,
        machine->subject.calibrations, design->run.actor_count,
        costs->steps_per_s.value);
    if (costs->draw_count > 0) {
        (void)fprintf(stream, " (90 %%: %.4g to %.4g)", costs->steps_per_s.lo,
            costs->steps_per_s.hi);
    }
    fulcrum_memory_print_method(&costs->prediction, costs->draw_count, stream);
    (void)fprintf(stream,
        "GPU work     %.4g us a step: batches of %.4g take %.4g ms, a training step "
        "%.4g ms\nideal GPU    %.4g times as fast",
        1e6 * costs->gpu_s, costs->batch_size, 1e3 * costs->inference_s,
        1e3 * costs->train_step_s, costs->gpu_speedup.value);
    if (costs->draw_count > 0) {
        (void)fprintf(stream, " (90 %%: %.4g to %.4g)", costs->gpu_speedup.lo,
            costs->gpu_speedup.hi);
    }
    (void)fputs(
        "\nof a run     shares: made ideal in this order; least, mean, most: of all "
        "orders\nalone        times as fast with that part alone made ideal\n\n",
        stream);
}

static void print_tables(
    const struct fulcrum_memory_components *machines, size_t count, FILE *stream)
{
    for (size_t m = 0; m < count; m++) {
        struct fulcrum_report *report = report_few(machines[m].costs);
        (void)fputs(m > 0 ? "\n" : "", stream);
        print_head(&machines[m], stream);
        fulcrum_report_hide_empty(report);
        fulcrum_report_print_table(report, stream, 0);
        fulcrum_report_free(report);
    }
}

static void add_ratio(struct fulcrum_json *object, const char *key,
    const char *interval_key, const struct fulcrum_ratio *ratio)
{
    const double ends[] = {ratio->lo, ratio->hi};
    fulcrum_json_add_number(object, key, ratio->value);
    if (isnan(ratio->lo)) {
        fulcrum_json_add_null(object, interval_key);
    } else {
        fulcrum_json_add_numbers(object, interval_key, ends, 2);
    }
}

static void add_machine(
    struct fulcrum_json *list, const struct fulcrum_memory_components *machine)
{
    const struct fulcrum_design *design = machine->subject.design;
    const struct fulcrum_component_costs *costs = machine->costs;
    struct fulcrum_json *object = fulcrum_json_append_object(list);
    fulcrum_json_add_text(object, "machine", design->machine.name);
    fulcrum_json_add_text(object, "gpu", design->machine.gpu.name);
    fulcrum_json_add_text(object, "workload", design->workload.name);
    fulcrum_json_add_text(object, "calibration", machine->subject.calibrations);
    fulcrum_json_add_number(object, "actor_count", design->run.actor_count);
    fulcrum_json_add_number(object, "gpu_count", design->run.gpu_count);
    fulcrum_json_add_number(object, "draws", (double)costs->draw_count);
    add_ratio(object, "steps_per_s", "steps_per_s_interval", &costs->steps_per_s);
    fulcrum_memory_method_to_json(&costs->prediction, object);
    fulcrum_json_add_number(object, "batch_size", costs->batch_size);
    fulcrum_json_add_number(object, "inference_s", costs->inference_s);
    fulcrum_json_add_number(object, "train_step_s", costs->train_step_s);
    fulcrum_json_add_number(object, "gpu_s", costs->gpu_s);
    add_ratio(
        object, "ideal_gpu_speedup", "ideal_gpu_speedup_interval", &costs->gpu_speedup);
    fulcrum_flags_to_json(costs->prediction.flags, object);
}

static enum fulcrum_status print_json(const struct fulcrum_memory_components *machines,
    size_t count, const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_json *document = fulcrum_report_document("fulcrum-memory");
    const struct fulcrum_memory_subject *first = &machines[0].subject;
    fulcrum_json_add_text(document, "workload", first->design->workload.name);
    fulcrum_json_add_text(document, "calibration", first->calibrations);
    struct fulcrum_json *list = fulcrum_json_add_array(document, "machines");
    for (size_t m = 0; m < count; m++) {
        add_machine(list, &machines[m]);
    }
    struct fulcrum_report *report = report_all(machines, count);
    fulcrum_report_to_json(report, document);
    fulcrum_report_free(report);
    return fulcrum_report_print_document(document, context, err);
}

enum fulcrum_status fulcrum_memory_report_components(
    const struct fulcrum_memory_components *machines, size_t count,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    if (context->format == FULCRUM_FORMAT_TABLE) {
        print_tables(machines, count, context->out);
        return FULCRUM_OK;
    }
    if (context->format == FULCRUM_FORMAT_JSON) {
        return print_json(machines, count, context, err);
    }
    struct fulcrum_report *report = report_all(machines, count);
    enum fulcrum_status status =
        fulcrum_report_print(report, "fulcrum-memory", context, err);
    fulcrum_report_free(report);
    return status;
}
