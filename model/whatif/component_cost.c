/* component_cost.c - what the components of a machine cost a design, by making them
 * ideal.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/whatif/component_cost.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "model/predict/to_network.h"
#include "model/quantity.h"
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

enum fulcrum_status fulcrum_memory_study(const struct fulcrum_memory_plan *plan,
    const struct fulcrum_point *versions, size_t count, struct fulcrum_study **out,
    struct fulcrum_error *err)
{
    static const enum fulcrum_predicted outputs[] = {FULCRUM_OUTPUT_steps_per_s,
        FULCRUM_OUTPUT_steps_per_j_gpu, FULCRUM_OUTPUT_steps_per_j_system,
        FULCRUM_OUTPUT_COUNT};
    struct fulcrum_replicas *replicas = calloc(1, sizeof *replicas);
    TRY_MEMORY(replicas, err, "versions of a design");
    const struct fulcrum_study_plan study = {.scenario = plan->scenario,
        .designs = versions,
        .design_count = count,
        .outputs = outputs,
        .value_count = FULCRUM_MEMORY_VALUES,
        .predict = plan->predict,
        .estimate = plan->estimate,
        .add = add_gpu_work,
        .context = replicas,
        .watch = plan->watch,
        .watcher = plan->watcher};
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
    {FULCRUM_IDEAL_HOST, "workload.host.delay_s", 0.0},
};

enum { SETTING_COUNT = sizeof settings / sizeof settings[0] };

_Static_assert((int)SETTING_COUNT <= (int)FULCRUM_IDEAL_SETTINGS_MOST,
    "room for the settings of all components");

const char *fulcrum_ideal_name(size_t component)
{
    return component < FULCRUM_IDEAL_COUNT ? rows[component].name : NULL;
}

const char *fulcrum_ideal_meaning(size_t component)
{
    return component < FULCRUM_IDEAL_COUNT ? rows[component].meaning : NULL;
}

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

static size_t size_of(unsigned set)
{
    size_t count = 0;
    for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
        count += has(set, i) ? 1 : 0;
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
        size_t before = size_of(set);
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

static void find_shares(
    struct fulcrum_study *study, struct fulcrum_component_costs *out)
{
    struct fulcrum_ideal_share shares[FULCRUM_IDEAL_COUNT];
    double times[SETS] = {0.0};
    const struct split rest = {study, 0, REST};
    (void)find_times(study, 0, times);
    fulcrum_ideal_shares(times, shares);
    for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
        const struct split in_order = {study, i, IN_ORDER};
        const struct split mean = {study, i, MEAN};
        out->costs[i].run = shares[i];
        out->costs[i].in_order = fulcrum_study_interval(study, split_run, &in_order);
        out->costs[i].mean = fulcrum_study_interval(study, split_run, &mean);
    }
    out->rest = fulcrum_study_interval(study, split_run, &rest);
}

static void find_gpu_times(
    struct fulcrum_study *study, struct fulcrum_component_costs *out)
{
    unsigned gpu = 0;
    for (size_t i = 0; i < FULCRUM_IDEAL_COUNT; i++) {
        struct fulcrum_component_cost *cost = &out->costs[i];
        size_t set = (size_t)1 << i;
        double saved = out->gpu_s - fulcrum_study_at(study, set, 0)[FULCRUM_MEMORY_GPU];
        gpu |= fulcrum_ideal_is_gpu(i) ? 1U << i : 0U;
        cost->gpu_s = fulcrum_ideal_is_gpu(i) ? saved : 0.0;
        cost->is_stuck =
            fulcrum_ideal_is_gpu(i) && !(fabs(saved) > STUCK_FRAC * out->gpu_s);
        cost->speedup = fulcrum_study_ratio(study, set, 0, FULCRUM_MEMORY_STEPS_PER_S);
    }
    out->gpu_speedup = fulcrum_study_ratio(study, gpu, 0, FULCRUM_MEMORY_STEPS_PER_S);
}

enum fulcrum_status fulcrum_component_costs_find(const struct fulcrum_memory_plan *plan,
    struct fulcrum_component_costs *out, struct fulcrum_error *err)
{
    struct fulcrum_point versions[SETS];
    struct fulcrum_setting made_ideal[SETS][FULCRUM_IDEAL_SETTINGS_MOST];
    struct fulcrum_study *study = NULL;
    for (unsigned set = 0; set < SETS; set++) {
        size_t count = fulcrum_ideal_settings(set, made_ideal[set]);
        versions[set] = (struct fulcrum_point){made_ideal[set], count, 0, 0};
    }
    TRY(fulcrum_memory_study(plan, versions, SETS, &study, err));
    const double *values = fulcrum_study_at(study, 0, 0);
    out->prediction = study->predictions[0];
    out->batch_size = out->prediction.value[FULCRUM_OUTPUT_mean_batch];
    out->draw_count = study->draw_count;
    out->steps_per_s = fulcrum_study_value(study, 0, FULCRUM_MEMORY_STEPS_PER_S);
    out->inference_s = values[FULCRUM_MEMORY_INFERENCE];
    out->train_step_s = values[FULCRUM_MEMORY_TRAIN_STEP];
    out->gpu_s = values[FULCRUM_MEMORY_GPU];
    find_gpu_times(study, out);
    find_shares(study, out);
    fulcrum_study_free(study);
    return FULCRUM_OK;
}
