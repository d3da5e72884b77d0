/* cmd_memory.c - `fulcrum memory`: what a GPU's memory system does to a run. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two questions of one subject. Without factors: what every component costs, by
 * making it ideal. With factors for cache or bandwidth: the same work with another
 * memory system.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/options/options.h"
#include "cli/output/report.h"
#include "cli/progress.h"
#include "cli/range.h"
#include "model/design/memory_system.h"
#include "model/predict/solver.h"
#include "model/try.h"
#include "model/whatif/component_cost.h"
#include "presets/io/json.h"

/* What was asked about one machine; texts are borrowed. */
struct fulcrum_memory_subject {
    const struct fulcrum_design *design;
    const char *calibrations;
};

/* One machine whose components were made ideal. */
struct fulcrum_memory_components {
    struct fulcrum_memory_subject subject;
    const struct fulcrum_component_costs *costs;
};

/* One memory system beside the machine's own. */
struct fulcrum_memory_factors {
    double cache_rel;
    double bandwidth_rel;
};

/* One machine with other memory systems. */
struct fulcrum_memory_what_if {
    struct fulcrum_memory_subject subject;
    const struct fulcrum_memory_factors *factors; /* the first of them 1 and 1 */
    size_t count;
    struct fulcrum_variants *variants; /* one version for each of them */
};

/* Shares of GPU time and of a run, as tables, CSV and JSON. */

static const struct fulcrum_report_head memory_components_all_columns[] = {
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
static const struct fulcrum_report_head memory_components_few_columns[] = {
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

static void add_component_machine(
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
        add_component_machine(list, &machines[m]);
    }
    struct fulcrum_report *report = report_all(machines, count);
    fulcrum_report_to_json(report, document);
    fulcrum_report_free(report);
    return fulcrum_report_print_document(document, context, err);
}

/*
 * Shares of GPU time and of a run, machine by machine.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
static enum fulcrum_status report_components(
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

static const struct fulcrum_report_head all_columns[] = {
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
static const struct fulcrum_report_head few_columns[] = {
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

/*
 * The same work with other memory systems.
 *   fails     FULCRUM_ERR_NO_MEMORY
 */
static enum fulcrum_status report_what_if(const struct fulcrum_memory_what_if *answer,
    const struct fulcrum_context *context, struct fulcrum_error *err)
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

/* Draws behind the intervals: every set of ideal components has as many runs. */
#define MEMORY_DRAWS 200.0

/*
 * One standard deviation of the cache exponent, as a factor: 90 % of 0.5 x/ 1.3 are the
 * 0.3 to 0.7 (0.32 to 0.77) that Hartstein et al. 2006 find ("Cache miss behavior: is
 * it sqrt(2)?").
 */
#define EXPONENT_SPREAD_FACTOR 1.3
#define EXPONENT_PATH          "workload.network.cache_exponent"

/* Of a simulated estimate, where none is given: what is looked for are per cents. */
#define ESTIMATE_HALF_WIDTH_REL 0.002

enum { MACHINES_MOST = 16, FACTORS_MOST = 1024 };

struct settings {
    struct fulcrum_design_settings design;
    struct fulcrum_solve_settings solve;
    const char *machines;
    const char *cache;
    const char *bandwidth;
};

/* The range of factors, in the form that lists of fields are read by. */
static const struct fulcrum_field factor_field = {
    .path = "FACTORS", .kind = FULCRUM_FIELD_NUMBER, .least = 1e-3, .most = 1e6};

/* Inputs of one machine, read and prepared. */
struct subject {
    struct fulcrum_design_inputs inputs;
    struct fulcrum_scenario *scenario;
    struct fulcrum_prior *priors; /* those of the inputs and one more; may be NULL */
    struct fulcrum_design design; /* the point as it is */
    char calibrations[200];
};

/* Who is told how far the work is. */
struct watch {
    struct fulcrum_progress progress;
    const volatile sig_atomic_t *stop;
    double first_frac; /* of the whole that this part begins at */
    double part_frac;
    const char *stage;
};

static int show(void *user, double done_frac)
{
    struct watch *watch = user;
    double whole = watch->first_frac + watch->part_frac * done_frac;
    fulcrum_progress_update(&watch->progress, fmin(1.0, whole), watch->stage);
    return *watch->stop != 0;
}

static void start(struct watch *watch, const struct fulcrum_context *context)
{
    watch->stop = fulcrum_interrupt_watch();
    watch->first_frac = 0.0;
    watch->part_frac = 1.0;
    fulcrum_progress_start(&watch->progress, context);
}

/* Accepts NULL. */
static void subject_free(struct subject *subject)
{
    if (subject != NULL) {
        fulcrum_scenario_free(subject->scenario);
        fulcrum_design_inputs_free(&subject->inputs);
        free(subject->priors);
        free(subject);
    }
}

/* The exponent is nobody's measurement: unless it is set, it is drawn too. */
static void add_exponent_prior(struct subject *subject)
{
    struct fulcrum_design_inputs *inputs = &subject->inputs;
    const struct fulcrum_field *exponent = fulcrum_field_find(EXPONENT_PATH);
    for (size_t i = 0; i < inputs->setting_count; i++) {
        if (inputs->settings[i].field == exponent) {
            return;
        }
    }
    subject->priors =
        fulcrum_allocate(inputs->prior_count + 1, sizeof *subject->priors);
    for (size_t i = 0; i < inputs->prior_count; i++) {
        if (inputs->priors[i].field == exponent) {
            return;
        }
        subject->priors[i] = inputs->priors[i];
    }
    subject->priors[inputs->prior_count] =
        (struct fulcrum_prior){exponent, EXPONENT_SPREAD_FACTOR};
    inputs->scenario.priors = subject->priors;
    inputs->scenario.prior_count = inputs->prior_count + 1;
}

static enum fulcrum_status prepare_subject(const struct settings *settings,
    struct fulcrum_context *context, struct subject *subject, struct fulcrum_error *err)
{
    const struct fulcrum_point point = {NULL, 0, 0, 0};
    TRY(fulcrum_design_inputs_load(&settings->design, context, &subject->inputs, err));
    add_exponent_prior(subject);
    TRY(fulcrum_scenario_new(&subject->inputs.scenario, &subject->scenario, err));
    fulcrum_calibration_names(
        &subject->inputs, subject->calibrations, sizeof subject->calibrations);
    TRY(fulcrum_scenario_design(subject->scenario, &point, &subject->design, err));
    if (subject->design.machine.accelerator != FULCRUM_ACCELERATOR_GPU) {
        TRY(fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
            "machine %s has no GPU whose memory system could be another",
            subject->design.machine.name));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status subject_new(const struct settings *settings,
    struct fulcrum_context *context, struct subject **out, struct fulcrum_error *err)
{
    struct subject *subject = fulcrum_allocate(1, sizeof *subject);
    enum fulcrum_status status = prepare_subject(settings, context, subject, err);
    if (status != FULCRUM_OK) {
        subject_free(subject);
        return status;
    }
    *out = subject;
    return FULCRUM_OK;
}

/* How estimates and draws are solved. */
struct solution {
    struct fulcrum_predict_options predict;
    struct fulcrum_solver_options estimate;
};

/* The machine of --machine and those of --machines, each with its costs. */
struct machines {
    size_t count;
    struct subject *subjects[MACHINES_MOST];
    struct fulcrum_component_costs costs[MACHINES_MOST];
    struct fulcrum_memory_components answers[MACHINES_MOST];
};

static enum fulcrum_status add_machine(const struct settings *settings,
    const char *name, struct fulcrum_context *context, struct machines *machines,
    struct fulcrum_error *err)
{
    struct settings of_machine = *settings;
    FULCRUM_USAGE_IF(machines->count == MACHINES_MOST, context, err, FULCRUM_ERR_RANGE,
        "--machines: more than %d", (int)MACHINES_MOST - 1);
    of_machine.design.machine = name;
    TRY(subject_new(&of_machine, context, &machines->subjects[machines->count], err));
    machines->count++;
    return FULCRUM_OK;
}

/* Names between commas. */
static enum fulcrum_status add_machines(const struct settings *settings,
    struct fulcrum_context *context, struct machines *machines,
    struct fulcrum_error *err)
{
    TRY(add_machine(settings, settings->design.machine, context, machines, err));
    const char *rest = settings->machines;
    while (rest != NULL) {
        char *name = fulcrum_list_part(&rest);
        enum fulcrum_status status =
            add_machine(settings, name, context, machines, err);
        free(name);
        if (status != FULCRUM_OK) {
            return fulcrum_fail_in(err, status, "--machines");
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status find_costs(struct machines *machines,
    const struct solution *solution, const struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct watch watch;
    enum fulcrum_status status = FULCRUM_OK;
    start(&watch, context);
    for (size_t m = 0; m < machines->count && status == FULCRUM_OK; m++) {
        const struct subject *subject = machines->subjects[m];
        watch.first_frac = (double)m / (double)machines->count;
        watch.part_frac = 1.0 / (double)machines->count;
        watch.stage = subject->design.machine.name;
        const struct fulcrum_component_plan plan = {
            subject->scenario, solution->predict, &solution->estimate, show, &watch};
        status = fulcrum_component_costs_find(&plan, &machines->costs[m], err);
        machines->answers[m] = (struct fulcrum_memory_components){
            {&subject->design, subject->calibrations}, &machines->costs[m]};
    }
    fulcrum_progress_end(&watch.progress);
    return status;
}

/* What each component takes is told of batches for actors and of training steps. */
static enum fulcrum_status check_components(
    const struct fulcrum_design *design, struct fulcrum_error *err)
{
    if (!fulcrum_design_is_resident(design)) {
        return FULCRUM_OK;
    }
    return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
        "%s simulates on the GPU, whose components are not told apart: --cache and "
        "--bandwidth change its memory, 'fulcrum partition' tells its stages apart",
        design->workload.name);
}

static enum fulcrum_status answer_components(const struct settings *settings,
    const struct solution *solution, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct machines *machines = fulcrum_allocate(1, sizeof *machines);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(add_machines(settings, context, machines, err));
    TRY_OR_END(check_components(&machines->subjects[0]->design, err));
    TRY_OR_END(find_costs(machines, solution, context, err));
    for (size_t m = 0; m < machines->count; m++) {
        const struct subject *subject = machines->subjects[m];
        const struct fulcrum_component_costs *costs = &machines->costs[m];
        for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
            if (costs->costs[i].is_stuck) {
                fulcrum_message_note(context,
                    "%s: made ideal, '%s' changes nothing: its share of GPU time is 0, "
                    "or "
                    "the calibration's machine does not say what it has of it",
                    subject->design.machine.name, fulcrum_ideal_meaning(i));
            }
        }
    }
    status = report_components(machines->answers, machines->count, context, err);
end:
    for (size_t m = 0; m < machines->count; m++) {
        subject_free(machines->subjects[m]);
    }
    free(machines);
    return status;
}

/* Numbers of an option: increasing, "1,4,16" or "1:16:x2". */
struct list {
    double *values; /* owned */
    size_t count;
};

/* An option with its text, and the range of its numbers. */
struct list_option {
    const char *name;
    const struct fulcrum_field *field;
    const char *text;
};

static enum fulcrum_status read_list(const struct list_option *option,
    struct fulcrum_context *context, struct list *out, struct fulcrum_error *err)
{
    enum fulcrum_status status = fulcrum_range_parse(
        option->field, option->text, &out->values, &out->count, err);
    if (status != FULCRUM_OK) {
        context->exit_code = 2;
        return fulcrum_fail_in(err, status, option->name);
    }
    return FULCRUM_OK;
}

/* A grid of memory systems, the machine's own before all others. */
struct grid {
    struct list cache;
    struct list bandwidth;
    size_t count;
    struct fulcrum_memory_factors *factors;
    struct fulcrum_variant *versions;
};

static enum fulcrum_status make_factors(
    struct grid *grid, struct fulcrum_context *context, struct fulcrum_error *err)
{
    size_t cells = grid->cache.count * grid->bandwidth.count;
    FULCRUM_USAGE_IF(cells > FACTORS_MOST, context, err, FULCRUM_ERR_RANGE,
        "--cache and --bandwidth: %zu memory systems: expected at most %d, "
        "'fulcrum explore' takes more",
        cells, (int)FACTORS_MOST);
    grid->factors = fulcrum_allocate(cells + 1, sizeof *grid->factors);
    grid->versions = fulcrum_allocate(cells + 1, sizeof *grid->versions);
    grid->factors[grid->count++] = (struct fulcrum_memory_factors){1.0, 1.0};
    for (size_t i = 0; i < cells; i++) {
        const struct fulcrum_memory_factors factors = {
            grid->cache.values[i / grid->bandwidth.count],
            grid->bandwidth.values[i % grid->bandwidth.count]};
        if (factors.cache_rel != 1.0 || factors.bandwidth_rel != 1.0) {
            grid->factors[grid->count++] = factors;
        }
    }
    return FULCRUM_OK;
}

static enum fulcrum_status read_grid(const struct settings *settings,
    struct fulcrum_context *context, struct grid *grid, struct fulcrum_error *err)
{
    const struct list_option cache = {
        "--cache", &factor_field, settings->cache != NULL ? settings->cache : "1"};
    const struct list_option bandwidth = {"--bandwidth", &factor_field,
        settings->bandwidth != NULL ? settings->bandwidth : "1"};
    TRY(read_list(&cache, context, &grid->cache, err));
    TRY(read_list(&bandwidth, context, &grid->bandwidth, err));
    return make_factors(grid, context, err);
}

/* One field times a factor, checked against the field's range. */
static enum fulcrum_status multiply(const struct fulcrum_design *design,
    const char *path, double factor, struct fulcrum_variant *version,
    struct fulcrum_error *err)
{
    const struct fulcrum_field *field = fulcrum_field_find(path);
    struct fulcrum_setting *setting = &version->settings[version->setting_count];
    double value = fulcrum_field_number(field, design);
    if (factor == 1.0) {
        return FULCRUM_OK;
    }
    FAIL_IF(isnan(value), err, FULCRUM_ERR_MISSING,
        "machine %s does not give %s: --set %s=VALUE", design->machine.name, path,
        path);
    FAIL_IF(!(value * factor >= field->least && value * factor <= field->most), err,
        FULCRUM_ERR_RANGE, "%.6g times %s is %.6g: expected a number from %.6g to %.6g",
        factor, path, value * factor, field->least, field->most);
    *setting = (struct fulcrum_setting){field, value * factor, NULL};
    version->setting_count++;
    return FULCRUM_OK;
}

static enum fulcrum_status make_versions(
    const struct fulcrum_design *design, struct grid *grid, struct fulcrum_error *err)
{
    for (size_t i = 0; i < grid->count; i++) {
        TRY(multiply(design, "machine.gpu.llc_byte", grid->factors[i].cache_rel,
            &grid->versions[i], err));
        TRY(multiply(design, "machine.gpu.dram_byte_per_s",
            grid->factors[i].bandwidth_rel, &grid->versions[i], err));
    }
    return FULCRUM_OK;
}

static enum fulcrum_status compare(const struct subject *subject, struct grid *grid,
    const struct solution *solution, const struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct watch watch = {.stage = "memory systems"};
    struct fulcrum_variants *variants = NULL;
    start(&watch, context);
    const struct fulcrum_variant_plan plan = {.scenario = subject->scenario,
        .variants = grid->versions,
        .count = grid->count,
        .predict = solution->predict,
        .estimate = &solution->estimate,
        .watch = show,
        .user = &watch};
    enum fulcrum_status status = fulcrum_variants_new(&plan, &variants, err);
    fulcrum_progress_end(&watch.progress);
    if (status == FULCRUM_OK) {
        const struct fulcrum_memory_what_if answer = {
            {&subject->design, subject->calibrations}, grid->factors, grid->count,
            variants};
        status = report_what_if(&answer, context, err);
    }
    fulcrum_variants_free(variants);
    return status;
}

static enum fulcrum_status answer_what_if(const struct settings *settings,
    const struct solution *solution, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    struct subject *subject = NULL;
    struct grid grid = {.count = 0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(read_grid(settings, context, &grid, err));
    TRY_OR_END(subject_new(settings, context, &subject, err));
    TRY_OR_END(make_versions(&subject->design, &grid, err));
    status = compare(subject, &grid, solution, context, err);
end:
    subject_free(subject);
    free(grid.cache.values);
    free(grid.bandwidth.values);
    free(grid.factors);
    free(grid.versions);
    return status;
}

static enum fulcrum_status run(
    const void *data, struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct settings *settings = data;
    struct solution solution;
    bool has_factors = settings->cache != NULL || settings->bandwidth != NULL;
    FULCRUM_USAGE_IF(has_factors && settings->machines != NULL, context, err,
        FULCRUM_ERR_UNSUPPORTED,
        "--machines compares components, not the factors of --cache and "
        "--bandwidth");
    /*
     * Differences of some per cent want one method for all versions, and a sharp one:
     * estimates are simulated, draws solved by equations, unless a method is asked for.
     */
    TRY(fulcrum_solve_settings_read(
        &settings->solve, MEMORY_DRAWS, context, &solution.predict, err));
    solution.estimate = solution.predict.solver;
    if (solution.estimate.method == FULCRUM_METHOD_AUTO) {
        solution.predict.solver.method = FULCRUM_METHOD_FAST;
        solution.estimate.method = FULCRUM_METHOD_SIMULATE;
        if (!(solution.estimate.half_width_rel > 0.0)) {
            solution.estimate.half_width_rel = ESTIMATE_HALF_WIDTH_REL;
        }
    }
    return has_factors ? answer_what_if(settings, &solution, context, err)
                       : answer_components(settings, &solution, context, err);
}

static const struct fulcrum_option rows[] = {
    FULCRUM_OPTION(TEXT, "machines", offsetof(struct settings, machines), "A,B,C",
        .help = "further machines whose components are made ideal"),
    FULCRUM_OPTION(TEXT, "cache", offsetof(struct settings, cache), "FACTORS",
        .help = "last-level caches to compare, as multiples of the machine's own: "
                "1,4,16 or 1:16:x2"),
    FULCRUM_OPTION(TEXT, "bandwidth", offsetof(struct settings, bandwidth), "FACTORS",
        .help = "memory bandwidths, likewise"),
    {.name = NULL},
};

static const struct fulcrum_option_group groups[] = {
    {"Memory", rows, 0},
    {"Design", fulcrum_design_option_rows, offsetof(struct settings, design)},
    {"Solution", fulcrum_solver_option_rows, offsetof(struct settings, solve.solver)},
    {"Intervals", fulcrum_interval_option_rows, offsetof(struct settings, solve)},
    {.rows = NULL},
};

static const struct fulcrum_example examples[] = {
    {"fulcrum memory -m dgx-1-inci2020 -w r2d2-atari -c v100-inci2020 -a 256",
        "what each component of a V100 costs R2D2, on the GPU and end to end"},
    {"fulcrum memory -m dgx-1-inci2020 -w r2d2-atari -a 256 --cache 1,4,16 "
     "--bandwidth 1,1.6",
        "the same run with larger caches and faster memory"},
    {.line = NULL},
};

const struct fulcrum_command fulcrum_command_memory = {
    .name = "memory",
    .summary = "what a GPU's memory system does to a run: components, cache, bandwidth",
    .description =
        "Without factors: makes memory bandwidth, latencies, the filling of SMs, "
        "arithmetic, kernel launches and the host ideal, in every combination, and "
        "says "
        "what each is of GPU time and of the time of a run. GPU time is a sum, so that "
        "its shares have no order; those of a run are told in the order of the rows, "
        "with the least, the mean and the most over all orders. The shares of kernels "
        "on the calibration's own GPU are what the workload says; what follows for "
        "other "
        "GPUs, and for the run, is computed.\n\n"
        "With --cache or --bandwidth: the same work with another memory system, beside "
        "the machine as it is. The exponent by which traffic falls with the cache is "
        "drawn (x or / 1.3) unless it is set.\n\n"
        "Versions are compared draw by draw. Estimates are simulated to 0.2 %, draws "
        "solved by equations, unless --method asks for one method.",
    .examples = examples,
    .groups = groups,
    .settings_size = sizeof(struct settings),
    .output = FULCRUM_OUTPUT_REPORT,
    .run = run,
};
