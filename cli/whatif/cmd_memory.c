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
#include "cli/progress.h"
#include "cli/range.h"
#include "model/design/memory_system.h"
#include "model/predict/solver.h"
#include "model/quantity.h"
#include "model/result.h"
#include "model/string.h"
#include "model/try.h"
#include "model/whatif/component_cost.h"

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

static void add_ratio(struct fulcrum_table *table, const char *key, const char *title,
    struct fulcrum_ratio ratio)
{
    fulcrum_table_estimate(table, key, title, ratio.value, ratio.lo, ratio.hi);
}

static void add_machine_row(struct fulcrum_table *table, const struct subject *subject,
    const struct fulcrum_component_costs *costs)
{
    const struct fulcrum_design *design = &subject->design;
    const struct fulcrum_prediction *prediction = &costs->prediction;
    fulcrum_table_row(table);
    fulcrum_table_text(table, "machine", "machine", design->machine.name);
    fulcrum_table_text(table, "gpu", NULL, design->machine.gpu.name);
    fulcrum_table_text(table, "workload", NULL, design->workload.name);
    fulcrum_table_text(table, "calibration", NULL, subject->calibrations);
    fulcrum_table_number(table, "actor_count", "actors", design->run.actor_count);
    fulcrum_table_number(table, "gpu_count", NULL, design->run.gpu_count);
    add_ratio(table, "steps_per_s", "steps", costs->steps_per_s);
    add_ratio(table, "ideal_gpu_speedup", "with ideal GPU", costs->gpu_speedup);
    fulcrum_table_number(table, "gpu_s", "GPU time of a step", costs->gpu_s);
    fulcrum_table_number(table, "batch_size", "batch", costs->batch_size);
    fulcrum_table_number(table, "inference_s", "batch time", costs->inference_s);
    fulcrum_table_number(table, "train_step_s", "training step", costs->train_step_s);
    fulcrum_table_text(table, "method", NULL, fulcrum_method_name(prediction->method));
    fulcrum_table_number(table, "solver_error_rel", NULL, prediction->solver_error_rel);
    fulcrum_table_number(table, "draws", NULL, (double)costs->draw_count);
}

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

static double share(bool has, double part, double whole)
{
    return has && whole > 0.0 ? part / whole : FULCRUM_UNKNOWN;
}

/* One component of a machine, or what no component is: environments and whatever else
 * actors wait for. */
struct component {
    const char *name;
    const char *meaning;
    struct fulcrum_component_cost cost;
    double gpu_frac;
    double kernel_frac;
};

static void add_component(struct fulcrum_table *table, const struct subject *subject,
    const struct fulcrum_component_costs *costs, const struct component *component)
{
    const struct fulcrum_component_cost *cost = &component->cost;
    fulcrum_table_row(table);
    fulcrum_table_text(table, "machine", "machine", subject->design.machine.name);
    fulcrum_table_text(table, "gpu", NULL, subject->design.machine.gpu.name);
    fulcrum_table_text(table, "component", NULL, component->name);
    fulcrum_table_text(table, "meaning", "made ideal", component->meaning);
    fulcrum_table_number(table, "gpu_s", NULL, cost->gpu_s);
    fulcrum_table_number(table, "gpu_frac", "GPU time", component->gpu_frac);
    fulcrum_table_number(table, "kernel_frac", NULL, component->kernel_frac);
    add_ratio(table, "run_frac", "of a run", cost->in_order);
    fulcrum_table_number(table, "least_frac", "least", cost->run.least_frac);
    add_ratio(table, "mean_frac", "mean", cost->mean);
    fulcrum_table_number(table, "most_frac", "most", cost->run.most_frac);
    fulcrum_table_number(table, "first_frac", NULL, cost->run.first_frac);
    fulcrum_table_number(table, "last_frac", NULL, cost->run.last_frac);
    add_ratio(table, "speedup", "speed-up", cost->speedup);
    fulcrum_table_number(table, "steps_per_s", NULL, costs->steps_per_s.value);
}

static void add_components(struct fulcrum_table *table, const struct subject *subject,
    const struct fulcrum_component_costs *costs)
{
    for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
        bool is_gpu = fulcrum_ideal_is_gpu(i);
        double gpu_s = costs->costs[i].gpu_s;
        struct component component = {fulcrum_ideal_name(i), fulcrum_ideal_meaning(i),
            costs->costs[i], share(is_gpu, gpu_s, costs->gpu_s),
            share(is_kernel(i), gpu_s, kernel_s(costs))};
        component.cost.gpu_s = is_gpu ? gpu_s : FULCRUM_UNKNOWN;
        add_component(table, subject, costs, &component);
    }
    const struct fulcrum_ratio none = {
        FULCRUM_UNKNOWN, FULCRUM_UNKNOWN, FULCRUM_UNKNOWN};
    const double rest = costs->rest.value;
    const struct component all_else = {"rest", "the rest: environments on the CPU",
        {FULCRUM_UNKNOWN, {rest, rest, rest, rest, rest, rest}, costs->rest,
            costs->rest, none, false},
        FULCRUM_UNKNOWN, FULCRUM_UNKNOWN};
    add_component(table, subject, costs, &all_else);
}

static void note_stuck(struct fulcrum_result *result, const struct subject *subject,
    const struct fulcrum_component_costs *costs)
{
    for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
        if (costs->costs[i].is_stuck) {
            struct fulcrum_string text = {0};
            fulcrum_string_add(&text,
                "%s: made ideal, '%s' changes nothing: its share of GPU time is 0, or "
                "the calibration's machine does not say what it has of it",
                subject->design.machine.name, fulcrum_ideal_meaning(i));
            fulcrum_result_note(result, "notes", fulcrum_string_get(&text));
            fulcrum_string_clear(&text);
        }
    }
}

/* Shares of GPU time and of a run, machine by machine. */
static enum fulcrum_status report_components(const struct machines *machines,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-memory");
    const struct subject *first = machines->subjects[0];
    unsigned flags = 0;
    fulcrum_result_text(result, "workload", "workload", first->design.workload.name);
    fulcrum_result_text(result, "calibration", "calibration", first->calibrations);
    struct fulcrum_table *table = fulcrum_result_table(result, "machines", "");
    for (size_t m = 0; m < machines->count; m++) {
        add_machine_row(table, machines->subjects[m], &machines->costs[m]);
        flags |= machines->costs[m].prediction.flags;
    }
    table = fulcrum_result_table(result, "components",
        "shares of GPU time, and of a run as made ideal in this order (least, mean, "
        "most: of all orders); speed-up of each alone");
    fulcrum_table_make_main(table);
    for (size_t m = 0; m < machines->count; m++) {
        add_components(table, machines->subjects[m], &machines->costs[m]);
        note_stuck(result, machines->subjects[m], &machines->costs[m]);
    }
    if (machines->count == 1) {
        fulcrum_table_hide(table, "machine");
    }
    /* No watts are told here: where they come from does not matter. */
    fulcrum_flags_add(flags & ~(unsigned)FULCRUM_FLAG_WATTS_ASSUMED, result);
    return fulcrum_context_show(context, result, err);
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
    status = report_components(machines, context, err);
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

static enum fulcrum_status read_factors(const char *option, const char *text,
    struct fulcrum_context *context, struct list *out, struct fulcrum_error *err)
{
    enum fulcrum_status status = fulcrum_range_parse(
        &factor_field, text != NULL ? text : "1", &out->values, &out->count, err);
    if (status != FULCRUM_OK) {
        context->exit_code = 2;
        return fulcrum_fail_in(err, status, option);
    }
    return FULCRUM_OK;
}

/* One memory system beside the machine's own. */
struct factors {
    double cache_rel;
    double bandwidth_rel;
};

/* A grid of memory systems, the machine's own before all others. */
struct grid {
    struct list cache;
    struct list bandwidth;
    size_t count;
    struct factors *factors;
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
    grid->factors[grid->count++] = (struct factors){1.0, 1.0};
    for (size_t i = 0; i < cells; i++) {
        const struct factors factors = {grid->cache.values[i / grid->bandwidth.count],
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
    TRY(read_factors("--cache", settings->cache, context, &grid->cache, err));
    TRY(read_factors(
        "--bandwidth", settings->bandwidth, context, &grid->bandwidth, err));
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

static void add_system(struct fulcrum_table *table, const struct fulcrum_gpu *gpu,
    const struct factors *factors, struct fulcrum_variants *variants, size_t i)
{
    fulcrum_table_row(table);
    fulcrum_table_number(table, "cache_rel", "cache", factors->cache_rel);
    fulcrum_table_number(table, "bandwidth_rel", "bandwidth", factors->bandwidth_rel);
    fulcrum_table_number(table, "llc_byte", NULL, gpu->llc_byte * factors->cache_rel);
    fulcrum_table_number(
        table, "dram_byte_per_s", NULL, gpu->dram_byte_per_s * factors->bandwidth_rel);
    fulcrum_table_number(table, "inference_s", "batch time",
        fulcrum_variants_value(variants, i, 0, FULCRUM_VARIANT_inference_s));
    fulcrum_table_number(table, "train_step_s", "training step",
        fulcrum_variants_value(variants, i, 0, FULCRUM_VARIANT_train_step_s));
    add_ratio(table, "gpu_time_rel", "GPU time",
        fulcrum_variants_ratio(variants, i, FULCRUM_VARIANT_gpu_s));
    add_ratio(table, "steps_per_s", "steps",
        fulcrum_variants_estimate(variants, i, FULCRUM_VARIANT_steps_per_s));
    add_ratio(table, "speedup", "speed-up",
        fulcrum_variants_ratio(variants, i, FULCRUM_VARIANT_steps_per_s));
    add_ratio(table, "steps_per_j_gpu_rel", "per GPU joule",
        fulcrum_variants_ratio(variants, i, FULCRUM_VARIANT_steps_per_j_gpu));
    add_ratio(table, "steps_per_j_system_rel", "per system joule",
        fulcrum_variants_ratio(variants, i, FULCRUM_VARIANT_steps_per_j_system));
}

/* The same work with other memory systems, over the machine's own. */
static enum fulcrum_status report_systems(const struct subject *subject,
    const struct grid *grid, struct fulcrum_variants *variants,
    const struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_design *design = &subject->design;
    const struct fulcrum_workload_network *network = &design->workload.network;
    const struct fulcrum_prediction *prediction = fulcrum_variants_prediction(variants);
    struct fulcrum_result *result = fulcrum_result_new("fulcrum-memory");
    fulcrum_result_text(result, "machine", "machine", design->machine.name);
    fulcrum_result_text(result, "gpu", "GPU", design->machine.gpu.name);
    fulcrum_result_text(result, "workload", "workload", design->workload.name);
    fulcrum_result_text(result, "calibration", "calibration", subject->calibrations);
    fulcrum_result_number(result, "actor_count", "actors", design->run.actor_count);
    fulcrum_result_number(result, "gpu_count", NULL, design->run.gpu_count);
    fulcrum_result_number(result, "batch_size", "mean batch",
        prediction->value[FULCRUM_OUTPUT_mean_batch]);
    fulcrum_result_text(
        result, "method", "method", fulcrum_method_name(prediction->method));
    fulcrum_result_number(
        result, "solver_error_rel", NULL, prediction->solver_error_rel);
    fulcrum_result_number(
        result, "dram_frac", "GPU time bound by DRAM", network->dram_frac);
    fulcrum_result_number(
        result, "cache_exponent", "exponent of the cache", network->cache_exponent);
    fulcrum_result_number(
        result, "draws", NULL, (double)fulcrum_variants_draw_count(variants));
    struct fulcrum_table *table =
        fulcrum_result_table(result, "factors", "over the memory system as it is");
    for (size_t i = 0; i < grid->count; i++) {
        add_system(table, &design->machine.gpu, &grid->factors[i], variants, i);
    }
    fulcrum_flags_add(prediction->flags, result);
    return fulcrum_context_show(context, result, err);
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
        status = report_systems(subject, grid, variants, context, err);
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
