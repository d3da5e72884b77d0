/* component_cost.c - what the components of a machine cost a design, by making them
 * ideal.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/whatif/component_cost.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "model/number.h"
#include "model/predict/to_network.h"
#include "model/try.h"

/*
 * Of study.h: both kinds of GPU work for one agent step. They are read from the network
 * of the design, which has them as they are in force: scaled, drawn, on fewer SMs.
 */
static void add_gpu_work(void *context, struct fulcrum_study *study, size_t index,
    size_t draw, const struct fulcrum_design *design)
{
    struct fulcrum_replicas *replicas = context;
    double *values = fulcrum_study_at(study, index, draw);
    double batch_size = study->predictions[0].value[FULCRUM_OUTPUT_mean_batch];
    if (fulcrum_design_to_network(design, replicas, NULL) != FULCRUM_OK) {
        return;
    }
    const struct fulcrum_network *network = &replicas->network;
    double requests = fmax(1.0, batch_size / replicas->steps_per_request);
    double observations = requests * replicas->steps_per_request;
    double steps =
        network->training.env_steps_per_train_step * replicas->steps_per_request;
    double inference_s = fulcrum_batch_time(&network->gpu, requests);
    double train_step_s = network->training.train_step_s;
    values[FULCRUM_MEMORY_INFERENCE] = inference_s;
    values[FULCRUM_MEMORY_TRAIN_STEP] = train_step_s;
    values[FULCRUM_MEMORY_GPU] =
        inference_s / observations + (steps > 0.0 ? train_step_s / steps : 0.0);
}

enum fulcrum_status fulcrum_memory_study(const struct fulcrum_study_plan *how,
    const struct fulcrum_point *versions, size_t count, struct fulcrum_study **out,
    struct fulcrum_error *err)
{
    static const enum fulcrum_predicted outputs[] = {FULCRUM_OUTPUT_steps_per_s,
        FULCRUM_OUTPUT_steps_per_j_gpu, FULCRUM_OUTPUT_steps_per_j_system,
        FULCRUM_OUTPUT_COUNT};
    struct fulcrum_replicas *replicas = calloc(1, sizeof *replicas);
    TRY_MEMORY(replicas, err, "versions of a design");
    struct fulcrum_study_plan study = *how;
    study.designs = versions;
    study.design_count = count;
    study.outputs = outputs;
    study.value_count = FULCRUM_MEMORY_VALUES;
    study.add = add_gpu_work;
    study.context = replicas;
    enum fulcrum_status status = fulcrum_study_run(&study, out, err);
    free(replicas);
    return status;
}

/*
 * Removing one component after another splits a time into shares that depend on the
 * order, unless the time is a sum over components. GPU time is one here, a run is not:
 * what a component costs there depends on whether something else is in the way. A share
 * at a place in an order depends on the set of those before it alone, so that all
 * orders of n components need no more than 2^n times, and Shapley's value, the mean
 * over all orders, is a sum over sets.
 */

struct row {
    const char *name;
    const char *meaning;
    bool is_gpu;
};

static const struct row rows[] = {
#define X(kind, name, meaning, gpu) {name, meaning, gpu},
    FULCRUM_IDEAL_LIST(X)
#undef X
};

/* One field of one component. */
struct ideal_setting {
    enum fulcrum_ideal component;
    const char *path;
    double value;
};

/* Ends of the fields' ranges: a V100 keeps 9e-4 of its DRAM time. */
static const struct ideal_setting settings[] = {
    {FULCRUM_IDEAL_DRAM, "machine.gpu.dram_byte_per_s", 1e15},
    {FULCRUM_IDEAL_LATENCY, "machine.gpu.latency_rel", 1e-6},
    {FULCRUM_IDEAL_SM, "machine.gpu.sm_loss_rel", 1e-6},
    {FULCRUM_IDEAL_MATH, "machine.gpu.flop_per_sm_cycle", 1e6},
    {FULCRUM_IDEAL_LAUNCH, "machine.gpu.launch_rel", 1e-6},
    {FULCRUM_IDEAL_HOST, "workload.host.per_batch_s", 0.0},
    {FULCRUM_IDEAL_HOST, "workload.host.per_item_s", 0.0},
    {FULCRUM_IDEAL_HOST, "workload.host.per_request_s", 0.0},
    {FULCRUM_IDEAL_HOST, "workload.host.wake_s", 0.0},
    {FULCRUM_IDEAL_HOST, "workload.host.server_wake_s", 0.0},
    {FULCRUM_IDEAL_HOST, "workload.host.delay_s", 0.0},
};

enum { SETTING_COUNT = sizeof settings / sizeof settings[0] };

_Static_assert((int)SETTING_COUNT <= (int)FULCRUM_IDEAL_SETTINGS_MOST,
    "room for the settings of all components");

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) != 0;
}

static char lower(char c)
{
    return (char)tolower((unsigned char)c);
}

/* Whether one of the words of a text is `word`, whatever its case. */
static bool has_word(const char *text, const char *word)
{
    for (size_t i = 0; text[i] != '\0'; i++) {
        size_t k = 0;
        while (word[k] != '\0' && lower(text[i + k]) == word[k]) {
            k++;
        }
        bool starts = i == 0 || !is_of_word(text[i - 1]);
        if (starts && word[k] == '\0' && !is_of_word(text[i + k])) {
            return true;
        }
    }
    return false;
}

size_t fulcrum_ideal_find(const char *text)
{
    size_t i = 0;
    while (i < FULCRUM_IDEAL_COUNT && !has_word(text, rows[i].name)) {
        i++;
    }
    return i;
}

bool fulcrum_ideal_is_gpu(size_t component)
{
    return component < FULCRUM_IDEAL_COUNT && rows[component].is_gpu;
}

static bool has(unsigned set, size_t component)
{
    return (set >> component & 1U) != 0U;
}

size_t fulcrum_ideal_settings(unsigned set, struct fulcrum_setting *out)
{
    size_t count = 0;
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (!has(set, (size_t)settings[i].component)) {
            continue;
        }
        out[count].field = fulcrum_field_find(settings[i].path);
        out[count].number = settings[i].value;
        out[count].text = NULL;
        assert(out[count].field != NULL);
        count++;
    }
    return count;
}

static struct fulcrum_ideal_share share_of(const double *time, size_t component)
{
    const unsigned all = FULCRUM_IDEAL_SETS - 1;
    const unsigned own = 1U << component;
    struct fulcrum_ideal_share share = {.least_frac = INFINITY, .most_frac = -INFINITY};
    for (unsigned set = 0; set <= all; set++) {
        if (has(set, component)) {
            continue;
        }
        double saved = (time[set] - time[set | own]) / time[0];
        share.least_frac = fmin(share.least_frac, saved);
        share.most_frac = fmax(share.most_frac, saved);
        /*
         * The share of all orders in which exactly `before` of the others come before
         * one component, and these in particular: 1 / (n C(n - 1, before)).
         */
        size_t before = 0;
        for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
            before += has(set, i) ? 1 : 0;
        }
        double orders = FULCRUM_IDEAL_COUNT;
        for (size_t i = 0; i < before; i++) {
            orders *= (double)(FULCRUM_IDEAL_COUNT - 1 - i) / (double)(i + 1);
        }
        double weight = 1.0 / orders;
        share.mean_frac += saved * weight;
    }
    share.first_frac = (time[0] - time[own]) / time[0];
    share.last_frac = (time[all & ~own] - time[all]) / time[0];
    share.in_order_frac = (time[own - 1U] - time[own - 1U + own]) / time[0];
    return share;
}

void fulcrum_ideal_shares(const double *time, struct fulcrum_ideal_share *out)
{
    assert(time[0] > 0.0);
    for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
        out[i] = share_of(time, i);
    }
}

/*
 * Every set of components is a version of the design, and each draw splits its own run.
 * GPU times come from the same designs: what is gone from them is what the component
 * took.
 */

enum { SETS = FULCRUM_IDEAL_SETS, ALL = FULCRUM_IDEAL_SETS - 1 };

/* Less than this of a time is gone: the component cannot be made ideal. */
#define STUCK_FRAC 1e-9

/* A share of a run's time in each draw. */
struct split {
    const struct fulcrum_study *study;
    size_t component;
    enum { IN_ORDER, MEAN, REST } what;
};

/* Seconds per agent step under every set; false where the draw cannot run one. */
static bool find_times(
    const struct fulcrum_study *study, size_t draw, double times[SETS])
{
    for (size_t set = 0; set < SETS; set++) {
        double rate = fulcrum_study_at(study, set, draw)[FULCRUM_MEMORY_STEPS_PER_S];
        if (!(rate > 0.0)) {
            return false;
        }
        times[set] = 1.0 / rate;
    }
    return true;
}

static double split_run(const void *context, size_t draw)
{
    const struct split *split = context;
    double times[SETS] = {0.0};
    if (!find_times(split->study, draw, times)) {
        return FULCRUM_UNKNOWN;
    }
    if (split->what == REST) {
        return times[ALL] / times[0];
    }
    const struct fulcrum_ideal_share share = share_of(times, split->component);
    return split->what == MEAN ? share.mean_frac : share.in_order_frac;
}

/* One row of a machine: a component, or what no component is. */
struct component {
    const char *name;
    const char *meaning;
    double gpu_s; /* GPU work of an agent step that goes with it alone */
    double kernels_s;
    struct fulcrum_ideal_share run;
    struct fulcrum_ratio in_order;
    struct fulcrum_ratio mean;
    struct fulcrum_ratio speedup;
};

static void add_component(struct fulcrum_table *table,
    const struct fulcrum_study *study, const struct fulcrum_machine *machine,
    const struct component *component)
{
    const double *own = fulcrum_study_at(study, 0, 0);
    double gpu_s = own[FULCRUM_MEMORY_GPU];
    double kernels_s = component->kernels_s;
    fulcrum_table_row(table);
    fulcrum_table_text(table, "machine", "machine", machine->name);
    fulcrum_table_text(table, "gpu", NULL, machine->gpu.name);
    fulcrum_table_text(table, "component", NULL, component->name);
    fulcrum_table_text(table, "meaning", "made ideal", component->meaning);
    fulcrum_table_number(table, "gpu_s", NULL, component->gpu_s);
    fulcrum_table_number(table, "gpu_frac", "GPU time",
        gpu_s > 0.0 ? component->gpu_s / gpu_s : FULCRUM_UNKNOWN);
    fulcrum_table_number(table, "kernel_frac", NULL,
        kernels_s > 0.0 ? component->gpu_s / kernels_s : FULCRUM_UNKNOWN);
    fulcrum_table_ratio(table, "run_frac", "of a run", component->in_order);
    fulcrum_table_number(table, "least_frac", "least", component->run.least_frac);
    fulcrum_table_ratio(table, "mean_frac", "mean", component->mean);
    fulcrum_table_number(table, "most_frac", "most", component->run.most_frac);
    fulcrum_table_number(table, "first_frac", NULL, component->run.first_frac);
    fulcrum_table_number(table, "last_frac", NULL, component->run.last_frac);
    fulcrum_table_ratio(table, "speedup", "speed-up", component->speedup);
    fulcrum_table_number(table, "steps_per_s", NULL, own[FULCRUM_MEMORY_STEPS_PER_S]);
}

/* GPU work of an agent step that goes with a component alone. */
static double saved_s(const struct fulcrum_study *study, size_t component)
{
    return fulcrum_study_at(study, 0, 0)[FULCRUM_MEMORY_GPU] -
           fulcrum_study_at(study, (size_t)1 << component, 0)[FULCRUM_MEMORY_GPU];
}

/* Kernels are as the published shares have it: without launches, and without what
 * several GPUs wait for each other. */
static bool is_kernel(size_t i)
{
    return fulcrum_ideal_is_gpu(i) && i != FULCRUM_IDEAL_LAUNCH;
}

static void add_components(struct fulcrum_study *study,
    const struct fulcrum_machine *machine, struct fulcrum_cost_tables *out)
{
    double gpu_s = fulcrum_study_at(study, 0, 0)[FULCRUM_MEMORY_GPU];
    double kernels_s = 0.0;
    double times[SETS] = {0.0};
    struct fulcrum_ideal_share shares[FULCRUM_IDEAL_COUNT];
    (void)find_times(study, 0, times);
    fulcrum_ideal_shares(times, shares);
    for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
        kernels_s += is_kernel(i) ? saved_s(study, i) : 0.0;
    }
    for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
        const struct split in_order = {study, i, IN_ORDER};
        const struct split mean = {study, i, MEAN};
        bool is_gpu = fulcrum_ideal_is_gpu(i);
        struct component component = {rows[i].name, rows[i].meaning,
            is_gpu ? saved_s(study, i) : FULCRUM_UNKNOWN,
            is_kernel(i) ? kernels_s : 0.0, shares[i],
            fulcrum_study_interval(study, split_run, &in_order),
            fulcrum_study_interval(study, split_run, &mean),
            fulcrum_study_ratio(study, (size_t)1 << i, 0, FULCRUM_MEMORY_STEPS_PER_S)};
        /* Medians of shares do not add up; shares of the medians do. */
        component.in_order.value = split_run(&in_order, 0);
        component.mean.value = split_run(&mean, 0);
        add_component(out->components, study, machine, &component);
        if (is_gpu && !(fabs(component.gpu_s) > STUCK_FRAC * gpu_s)) {
            fulcrum_result_note_print(out->result, "notes",
                "%s: idealising '%s' changes nothing: its share of GPU time is 0, or "
                "the "
                "calibration's machine does not give the value",
                machine->name, rows[i].meaning);
        }
    }
    const struct split what_is_left = {study, 0, REST};
    struct fulcrum_ratio rest = fulcrum_study_interval(study, split_run, &what_is_left);
    rest.value = split_run(&what_is_left, 0);
    const struct component all_else = {"rest", "the rest: environments on the CPU",
        FULCRUM_UNKNOWN, 0.0,
        {rest.value, rest.value, rest.value, rest.value, rest.value, rest.value}, rest,
        rest, {FULCRUM_UNKNOWN, FULCRUM_UNKNOWN, FULCRUM_UNKNOWN}};
    add_component(out->components, study, machine, &all_else);
}

enum fulcrum_status fulcrum_component_costs_add(const struct fulcrum_study_plan *how,
    struct fulcrum_cost_tables *out, struct fulcrum_error *err)
{
    struct fulcrum_point versions[SETS];
    struct fulcrum_setting made_ideal[SETS][FULCRUM_IDEAL_SETTINGS_MOST];
    struct fulcrum_design design;
    struct fulcrum_study *study = NULL;
    for (unsigned set = 0; set < SETS; set++) {
        size_t count = fulcrum_ideal_settings(set, made_ideal[set]);
        versions[set] = (struct fulcrum_point){made_ideal[set], count, 0, 0};
    }
    TRY(fulcrum_scenario_design(how->scenario, &versions[0], &design, err));
    TRY(fulcrum_memory_study(how, versions, SETS, &study, err));
    struct fulcrum_table *table = out->machines;
    const struct fulcrum_prediction *prediction = &study->predictions[0];
    const double *values = fulcrum_study_at(study, 0, 0);
    size_t gpu = 0; /* the set of all components of a GPU */
    for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
        gpu |= fulcrum_ideal_is_gpu(i) ? (size_t)1 << i : 0;
    }
    fulcrum_table_row(table);
    fulcrum_table_text(table, "machine", "machine", design.machine.name);
    fulcrum_table_text(table, "gpu", NULL, design.machine.gpu.name);
    fulcrum_table_text(table, "workload", NULL, design.workload.name);
    fulcrum_table_text(table, "calibration", NULL, out->calibration);
    fulcrum_table_number(table, "actor_count", "actors", design.run.actor_count);
    fulcrum_table_number(table, "gpu_count", NULL, design.run.gpu_count);
    fulcrum_table_ratio(table, "steps_per_s", "steps",
        fulcrum_study_value(study, 0, FULCRUM_MEMORY_STEPS_PER_S));
    fulcrum_table_ratio(table, "ideal_gpu_speedup", "with ideal GPU",
        fulcrum_study_ratio(study, gpu, 0, FULCRUM_MEMORY_STEPS_PER_S));
    fulcrum_table_number(
        table, "gpu_s", "GPU time of a step", values[FULCRUM_MEMORY_GPU]);
    fulcrum_table_number(
        table, "batch_size", "batch", prediction->value[FULCRUM_OUTPUT_mean_batch]);
    fulcrum_table_number(
        table, "inference_s", "batch time", values[FULCRUM_MEMORY_INFERENCE]);
    fulcrum_table_number(
        table, "train_step_s", "training step", values[FULCRUM_MEMORY_TRAIN_STEP]);
    fulcrum_table_text(table, "method", NULL, fulcrum_method_name(prediction->method));
    fulcrum_table_number(table, "solver_error_rel", NULL, prediction->solver_error_rel);
    fulcrum_table_number(table, "draws", NULL, (double)study->draw_count);
    add_components(study, &design.machine, out);
    out->flags |= study->predictions[0].flags;
    fulcrum_study_free(study);
    return FULCRUM_OK;
}
