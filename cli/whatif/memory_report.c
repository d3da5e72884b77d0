/* memory_report.c - the same work with other memory systems: tables, CSV and JSON. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/whatif/memory_report.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/result/report.h"
#include "model/design/memory_system.h"
#include "model/predict/solver.h"
#include "model/whatif/component_cost.h"
#include "presets/io/json.h"

/* Shares of GPU time and of a run, as tables, CSV and JSON. */

static const struct fulcrum_column memory_components_all_columns[] = {
    {"machine", FULCRUM_COLUMN_TEXT, NULL},
    {"gpu", FULCRUM_COLUMN_TEXT, NULL},
    {"component", FULCRUM_COLUMN_TEXT, NULL},
    {"meaning", FULCRUM_COLUMN_TEXT, NULL},
    {"gpu_s", FULCRUM_COLUMN_NUMBER, NULL},
    {"gpu_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"kernel_frac", FULCRUM_COLUMN_NUMBER, NULL},
    FULCRUM_COLUMN_ENDS("run_frac", NULL),
    {"least_frac", FULCRUM_COLUMN_NUMBER, NULL},
    FULCRUM_COLUMN_ENDS("mean_frac", NULL),
    {"most_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"first_frac", FULCRUM_COLUMN_NUMBER, NULL},
    {"last_frac", FULCRUM_COLUMN_NUMBER, NULL},
    FULCRUM_COLUMN_ENDS("speedup", NULL),
    {"steps_per_s", FULCRUM_COLUMN_NUMBER, NULL},
};

/* For people: the rest is in the other formats. */
static const struct fulcrum_column memory_components_few_columns[] = {
    {"meaning", FULCRUM_COLUMN_TEXT, "made ideal"},
    {"gpu_frac", FULCRUM_COLUMN_NUMBER, "GPU time"},
    {"kernel_frac", FULCRUM_COLUMN_NUMBER, "kernels"},
    FULCRUM_COLUMN_ENDS("run_frac", "of a run"),
    {"least_frac", FULCRUM_COLUMN_NUMBER, "least"},
    {"mean_frac", FULCRUM_COLUMN_NUMBER, "mean"},
    {"most_frac", FULCRUM_COLUMN_NUMBER, "most"},
    FULCRUM_COLUMN_ENDS("speedup", "alone"),
};

/* What no component is: environments and whatever else actors wait for. */
#define REST_NAME    "rest"
#define REST_MEANING "the rest: environments on the CPU"

static bool is_kernel(size_t i)
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

static void add_all(struct fulcrum_report *report,
    const struct fulcrum_memory_components *machine, size_t i)
{
    const struct fulcrum_component_costs *costs = machine->costs;
    const struct fulcrum_component_cost *cost = &costs->costs[i];
    FULCRUM_REPORT_TEXTS(report, machine->subject.design->machine.name,
        machine->subject.design->machine.gpu.name, fulcrum_ideal_name(i),
        fulcrum_ideal_meaning(i));
    FULCRUM_REPORT_NUMBERS(report, fulcrum_ideal_is_gpu(i) ? cost->gpu_s : (double)NAN,
        gpu_frac(costs, i), kernel_frac(costs, i), cost->in_order.value,
        cost->in_order.lo, cost->in_order.hi, cost->run.least_frac, cost->mean.value,
        cost->mean.lo, cost->mean.hi, cost->run.most_frac, cost->run.first_frac,
        cost->run.last_frac, cost->speedup.value, cost->speedup.lo, cost->speedup.hi,
        costs->steps_per_s.value);
}

static struct fulcrum_report *report_all(
    const struct fulcrum_memory_components *machines, size_t count)
{
    struct fulcrum_report *report =
        FULCRUM_REPORT_NEW("components", memory_components_all_columns);
    for (size_t m = 0; m < count; m++) {
        for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
            add_all(report, &machines[m], i);
        }
        const struct fulcrum_memory_components *machine = &machines[m];
        const struct fulcrum_component_costs *costs = machine->costs;
        const struct fulcrum_ratio *rest = &costs->rest;
        const double none = (double)NAN;
        FULCRUM_REPORT_TEXTS(report, machine->subject.design->machine.name,
            machine->subject.design->machine.gpu.name, REST_NAME, REST_MEANING);
        FULCRUM_REPORT_NUMBERS(report, none, none, none, rest->value, rest->lo,
            rest->hi, rest->value, rest->value, rest->lo, rest->hi, rest->value,
            rest->value, rest->value, none, none, none, costs->steps_per_s.value);
    }
    return report;
}

static struct fulcrum_report *report_few(const struct fulcrum_component_costs *costs)
{
    struct fulcrum_report *report =
        FULCRUM_REPORT_NEW("components", memory_components_few_columns);
    for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
        const struct fulcrum_component_cost *cost = &costs->costs[i];
        fulcrum_report_add_text(report, fulcrum_ideal_meaning(i));
        FULCRUM_REPORT_NUMBERS(report, gpu_frac(costs, i), kernel_frac(costs, i),
            cost->in_order.value, cost->in_order.lo, cost->in_order.hi,
            cost->run.least_frac, cost->mean.value, cost->run.most_frac,
            cost->speedup.value, cost->speedup.lo, cost->speedup.hi);
    }
    const double none = (double)NAN;
    const struct fulcrum_ratio *rest = &costs->rest;
    fulcrum_report_add_text(report, REST_MEANING);
    FULCRUM_REPORT_NUMBERS(report, none, none, rest->value, rest->lo, rest->hi,
        rest->value, rest->value, rest->value, none, none, none);
    return report;
}

/* "method  simulate (+-0.2 % at 95 %), intervals from 200 draws", after a newline. */
static void memory_print_method(
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

/* The same as members "method" and "solver_error_rel". */
static void memory_method_to_json(
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
    memory_print_method(&costs->prediction, costs->draw_count, stream);
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

static void memory_components_add_ratio(struct fulcrum_json *object, const char *key,
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
    memory_components_add_ratio(
        object, "steps_per_s", "steps_per_s_interval", &costs->steps_per_s);
    memory_method_to_json(&costs->prediction, object);
    fulcrum_json_add_number(object, "batch_size", costs->batch_size);
    fulcrum_json_add_number(object, "inference_s", costs->inference_s);
    fulcrum_json_add_number(object, "train_step_s", costs->train_step_s);
    fulcrum_json_add_number(object, "gpu_s", costs->gpu_s);
    memory_components_add_ratio(
        object, "ideal_gpu_speedup", "ideal_gpu_speedup_interval", &costs->gpu_speedup);
    fulcrum_flags_to_json(costs->prediction.flags, object);
}

static enum fulcrum_status memory_components_print_json(
    const struct fulcrum_memory_components *machines, size_t count,
    const struct fulcrum_context *context, struct fulcrum_error *err)
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
        return memory_components_print_json(machines, count, context, err);
    }
    struct fulcrum_report *report = report_all(machines, count);
    enum fulcrum_status status =
        fulcrum_report_print(report, "fulcrum-memory", context, err);
    fulcrum_report_free(report);
    return status;
}

/* Shares and exponents that meet a gain: tables, CSV and JSON. */

static const struct fulcrum_column columns[] = {
    {"kind", FULCRUM_COLUMN_TEXT, NULL},
    {"gain_frac", FULCRUM_COLUMN_NUMBER, "gain"},
    {"cache_rel", FULCRUM_COLUMN_NUMBER, "cache x"},
    {"bandwidth_rel", FULCRUM_COLUMN_NUMBER, "bandwidth x"},
    {"compulsory_frac", FULCRUM_COLUMN_NUMBER, "compulsory"},
    {"dram_frac", FULCRUM_COLUMN_NUMBER, "DRAM share"},
    {"cache_exponent", FULCRUM_COLUMN_NUMBER, "exponent"},
};

/* Kinds of rows: what a chart tells apart. */
#define KIND_FAMILY   "family"
#define KIND_BOUND    "bound"
#define KIND_WORKLOAD "workload"

/* Exponents as the field takes them; tables show every tenth. */
enum { EXPONENTS = 81, TABLE_STRIDE = 4 };
static const double exponent_step = 0.025;

/* The square root that misses are usually taken to fall by. */
static const double usual_exponent = 0.5;

static void memory_families_add_row(struct fulcrum_report *report, const char *kind,
    const struct fulcrum_memory_change *change, double dram_frac, double exponent)
{
    fulcrum_report_add_text(report, kind);
    FULCRUM_REPORT_NUMBERS(report, change->gain_frac, change->cache_rel,
        change->bandwidth_rel, change->compulsory_frac, dram_frac, exponent);
}

/* The curve from a cache that saves nothing to its bound, which no exponent reaches. */
static void add_family(struct fulcrum_report *report,
    const struct fulcrum_memory_change *change, size_t stride)
{
    for (size_t i = 0; i < EXPONENTS; i += stride) {
        double exponent = exponent_step * (double)i;
        double dram_frac = fulcrum_memory_dram_frac(change, exponent);
        if (!isnan(dram_frac)) {
            memory_families_add_row(report, KIND_FAMILY, change, dram_frac, exponent);
        }
    }
    memory_families_add_row(report, KIND_BOUND, change,
        fulcrum_memory_least_dram_frac(change), (double)NAN);
}

static struct fulcrum_report *memory_families_report_of(
    const struct fulcrum_memory_families *families, size_t stride)
{
    struct fulcrum_report *report = FULCRUM_REPORT_NEW("family", columns);
    for (size_t i = 0; i < families->count; i++) {
        add_family(report, &families->changes[i], stride);
    }
    /* What the same change does for a workload of known share and exponent. */
    if (families->workload != NULL) {
        const struct fulcrum_workload_network *network = &families->workload->network;
        struct fulcrum_memory_change change = families->changes[0];
        change.gain_frac = fulcrum_memory_gain_frac(
            &change, network->dram_frac, network->cache_exponent);
        memory_families_add_row(report, KIND_WORKLOAD, &change, network->dram_frac,
            network->cache_exponent);
    }
    return report;
}

static void print_finding(const struct fulcrum_memory_change *change, FILE *stream)
{
    double usual = fulcrum_memory_dram_frac(change, usual_exponent);
    (void)fprintf(stream,
        "a gain of %.3g at %.4g times the cache and %.4g times the bandwidth: a share "
        "of %.3g to %.3g of GPU time bound by DRAM",
        change->gain_frac, change->cache_rel, change->bandwidth_rel,
        fulcrum_memory_least_dram_frac(change), fulcrum_memory_most_dram_frac(change));
    if (isnan(usual)) {
        (void)fprintf(stream, "; none at an exponent of %.2g\n", usual_exponent);
    } else {
        (void)fprintf(stream, "; %.3g at an exponent of %.2g\n", usual, usual_exponent);
    }
}

static void memory_families_print_table(
    const struct fulcrum_memory_families *families, FILE *stream)
{
    struct fulcrum_report *report = memory_families_report_of(families, TABLE_STRIDE);
    fulcrum_report_print_table(report, stream, 0);
    fulcrum_report_free(report);
    (void)fputc('\n', stream);
    for (size_t i = 0; i < families->count; i++) {
        print_finding(&families->changes[i], stream);
    }
    (void)fputs("The gain is what was put in: that a pair meets it is no prediction.\n",
        stream);
}

static enum fulcrum_status memory_families_print_json(
    const struct fulcrum_memory_families *families,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_json *document = fulcrum_report_document("fulcrum-memory");
    struct fulcrum_json *list = fulcrum_json_add_array(document, "gains");
    for (size_t i = 0; i < families->count; i++) {
        const struct fulcrum_memory_change *change = &families->changes[i];
        struct fulcrum_json *object = fulcrum_json_append_object(list);
        fulcrum_json_add_number(object, "gain_frac", change->gain_frac);
        fulcrum_json_add_number(object, "cache_rel", change->cache_rel);
        fulcrum_json_add_number(object, "bandwidth_rel", change->bandwidth_rel);
        fulcrum_json_add_number(object, "compulsory_frac", change->compulsory_frac);
        fulcrum_json_add_number(
            object, "least_dram_frac", fulcrum_memory_least_dram_frac(change));
        fulcrum_json_add_number(
            object, "most_dram_frac", fulcrum_memory_most_dram_frac(change));
    }
    if (families->workload != NULL) {
        fulcrum_json_add_text(document, "workload", families->workload->name);
    }
    struct fulcrum_report *report = memory_families_report_of(families, 1);
    fulcrum_report_to_json(report, document);
    fulcrum_report_free(report);
    return fulcrum_report_print_document(document, context, err);
}

enum fulcrum_status fulcrum_memory_report_families(
    const struct fulcrum_memory_families *families,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    if (context->format == FULCRUM_FORMAT_TABLE) {
        memory_families_print_table(families, context->out);
        return FULCRUM_OK;
    }
    if (context->format == FULCRUM_FORMAT_JSON) {
        return memory_families_print_json(families, context, err);
    }
    struct fulcrum_report *report = memory_families_report_of(families, 1);
    enum fulcrum_status status =
        fulcrum_report_print(report, "fulcrum-memory", context, err);
    fulcrum_report_free(report);
    return status;
}

static const struct fulcrum_column all_columns[] = {
    {"cache_rel", FULCRUM_COLUMN_NUMBER, NULL},
    {"bandwidth_rel", FULCRUM_COLUMN_NUMBER, NULL},
    {"llc_byte", FULCRUM_COLUMN_NUMBER, NULL},
    {"dram_byte_per_s", FULCRUM_COLUMN_NUMBER, NULL},
    {"inference_s", FULCRUM_COLUMN_NUMBER, NULL},
    {"train_step_s", FULCRUM_COLUMN_NUMBER, NULL},
    FULCRUM_COLUMN_ENDS("gpu_time_rel", NULL),
    FULCRUM_COLUMN_ENDS("steps_per_s", NULL),
    FULCRUM_COLUMN_ENDS("speedup", NULL),
    FULCRUM_COLUMN_ENDS("steps_per_j_gpu_rel", NULL),
    FULCRUM_COLUMN_ENDS("steps_per_j_system_rel", NULL),
};

/* For people. */
static const struct fulcrum_column few_columns[] = {
    {"cache_rel", FULCRUM_COLUMN_NUMBER, "cache x"},
    {"bandwidth_rel", FULCRUM_COLUMN_NUMBER, "DRAM x"},
    {"inference_s", FULCRUM_COLUMN_NUMBER, "batch s"},
    {"train_step_s", FULCRUM_COLUMN_NUMBER, "train s"},
    FULCRUM_COLUMN_ENDS("gpu_time_rel", "GPU time"),
    {"steps_per_s", FULCRUM_COLUMN_NUMBER, "steps/s"},
    FULCRUM_COLUMN_ENDS("speedup", "times"),
    {"steps_per_j_gpu_rel", FULCRUM_COLUMN_NUMBER, "/J GPU"},
    {"steps_per_j_system_rel", FULCRUM_COLUMN_NUMBER, "/J all"},
};

enum detail { ALL, FEW };

static void add_ratio(struct fulcrum_report *report, struct fulcrum_ratio ratio)
{
    FULCRUM_REPORT_NUMBERS(report, ratio.value, ratio.lo, ratio.hi);
}

static void add_times(
    struct fulcrum_report *report, struct fulcrum_variants *variants, size_t i)
{
    FULCRUM_REPORT_NUMBERS(report,
        fulcrum_variants_value(variants, i, 0, FULCRUM_VARIANT_inference_s),
        fulcrum_variants_value(variants, i, 0, FULCRUM_VARIANT_train_step_s));
    add_ratio(report, fulcrum_variants_ratio(variants, i, FULCRUM_VARIANT_gpu_s));
}

static void add_row(struct fulcrum_report *report, enum detail detail,
    const struct fulcrum_memory_what_if *answer, size_t i)
{
    const struct fulcrum_gpu *gpu = &answer->subject.design->machine.gpu;
    const struct fulcrum_memory_factors *factors = &answer->factors[i];
    struct fulcrum_ratio rate =
        fulcrum_variants_estimate(answer->variants, i, FULCRUM_VARIANT_steps_per_s);
    struct fulcrum_ratio speedup =
        fulcrum_variants_ratio(answer->variants, i, FULCRUM_VARIANT_steps_per_s);
    struct fulcrum_ratio per_gpu =
        fulcrum_variants_ratio(answer->variants, i, FULCRUM_VARIANT_steps_per_j_gpu);
    struct fulcrum_ratio per_system =
        fulcrum_variants_ratio(answer->variants, i, FULCRUM_VARIANT_steps_per_j_system);
    FULCRUM_REPORT_NUMBERS(report, factors->cache_rel, factors->bandwidth_rel);
    if (detail == FEW) {
        add_times(report, answer->variants, i);
        fulcrum_report_add_number(report, rate.value);
        add_ratio(report, speedup);
        FULCRUM_REPORT_NUMBERS(report, per_gpu.value, per_system.value);
        return;
    }
    FULCRUM_REPORT_NUMBERS(report, gpu->llc_byte * factors->cache_rel,
        gpu->dram_byte_per_s * factors->bandwidth_rel);
    add_times(report, answer->variants, i);
    add_ratio(report, rate);
    add_ratio(report, speedup);
    add_ratio(report, per_gpu);
    add_ratio(report, per_system);
}

static struct fulcrum_report *report_of(
    const struct fulcrum_memory_what_if *answer, enum detail detail)
{
    struct fulcrum_report *report = detail == FEW
                                        ? FULCRUM_REPORT_NEW("factors", few_columns)
                                        : FULCRUM_REPORT_NEW("factors", all_columns);
    for (size_t i = 0; i < answer->count; i++) {
        add_row(report, detail, answer, i);
    }
    return report;
}

static void print_table(const struct fulcrum_memory_what_if *answer, FILE *stream)
{
    const struct fulcrum_design *design = answer->subject.design;
    const struct fulcrum_prediction *prediction =
        fulcrum_variants_prediction(answer->variants);
    struct fulcrum_report *report = report_of(answer, FEW);
    (void)fprintf(stream,
        "machine      %s (%s)\nworkload     %s\ncalibration  %s\n"
        "run          %.6g actors, batches of %.4g",
        design->machine.name, design->machine.gpu.name, design->workload.name,
        answer->subject.calibrations, design->run.actor_count,
        prediction->value[FULCRUM_OUTPUT_mean_batch]);
    memory_print_method(
        prediction, fulcrum_variants_draw_count(answer->variants), stream);
    (void)fprintf(stream,
        "of GPU time  %.3g bound by DRAM bandwidth; traffic as cache^-%.3g\n"
        "relative     GPU time, times as fast, steps per joule of the GPU and of "
        "all\n\n",
        design->workload.network.dram_frac, design->workload.network.cache_exponent);
    fulcrum_report_print_table(report, stream, 0);
    fulcrum_report_free(report);
}

static enum fulcrum_status print_json(const struct fulcrum_memory_what_if *answer,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_design *design = answer->subject.design;
    const struct fulcrum_prediction *prediction =
        fulcrum_variants_prediction(answer->variants);
    struct fulcrum_json *document = fulcrum_report_document("fulcrum-memory");
    fulcrum_json_add_text(document, "machine", design->machine.name);
    fulcrum_json_add_text(document, "gpu", design->machine.gpu.name);
    fulcrum_json_add_text(document, "workload", design->workload.name);
    fulcrum_json_add_text(document, "calibration", answer->subject.calibrations);
    fulcrum_json_add_number(document, "actor_count", design->run.actor_count);
    fulcrum_json_add_number(document, "gpu_count", design->run.gpu_count);
    memory_method_to_json(prediction, document);
    fulcrum_json_add_number(
        document, "batch_size", prediction->value[FULCRUM_OUTPUT_mean_batch]);
    fulcrum_json_add_number(document, "dram_frac", design->workload.network.dram_frac);
    fulcrum_json_add_number(
        document, "cache_exponent", design->workload.network.cache_exponent);
    fulcrum_json_add_number(
        document, "draws", (double)fulcrum_variants_draw_count(answer->variants));
    fulcrum_flags_to_json(prediction->flags, document);
    struct fulcrum_report *report = report_of(answer, ALL);
    fulcrum_report_to_json(report, document);
    fulcrum_report_free(report);
    return fulcrum_report_print_document(document, context, err);
}

enum fulcrum_status fulcrum_memory_report_what_if(
    const struct fulcrum_memory_what_if *answer, const struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    if (context->format == FULCRUM_FORMAT_TABLE) {
        print_table(answer, context->out);
        return FULCRUM_OK;
    }
    if (context->format == FULCRUM_FORMAT_JSON) {
        return print_json(answer, context, err);
    }
    struct fulcrum_report *report = report_of(answer, ALL);
    enum fulcrum_status status =
        fulcrum_report_print(report, "fulcrum-memory", context, err);
    fulcrum_report_free(report);
    return status;
}
