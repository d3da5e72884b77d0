/* measured_reference.c - what was measured end to end, to be predicted. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/pipeline/measure.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/try.h"

/* Of a normal law: the variance of a median of n over that of one, times n. */
#define MEDIAN_VARIANCE 1.571

/* Predictions also tell how long so many calls take. */
#define TOLD_ENV_STEPS 1e6

enum { SETTINGS_MOST = 8, OBSERVATIONS_MOST = 3, SOURCES = 4 };

void fulcrum_measured_series(
    const struct fulcrum_measure_config *config, char *out, size_t size)
{
    char rule[40] = "greedy";
    if (config->policy == FULCRUM_BATCH_FIXED && config->population_frac > 0.0) {
        (void)snprintf(rule, sizeof rule, "fixed share %g", config->population_frac);
    } else if (config->policy == FULCRUM_BATCH_FIXED) {
        (void)snprintf(rule, sizeof rule, "fixed %g", config->batch_size);
    } else if (config->batch_size > 0.0) {
        (void)snprintf(rule, sizeof rule, "greedy to %g", config->batch_size);
    }
    (void)snprintf(out, size, "%s K=%zu", rule, config->envs_per_actor);
}

static void set_number(
    struct fulcrum_reference_point *point, const char *path, double number)
{
    struct fulcrum_reference_setting *setting =
        &point->settings[point->setting_count++];
    (void)snprintf(setting->path, sizeof setting->path, "%s", path);
    setting->number = number;
}

static void observe(struct fulcrum_reference_point *point, const char *quantity,
    double value, double half_width)
{
    struct fulcrum_observation *observation =
        &point->observations[point->observation_count++];
    (void)snprintf(observation->quantity, sizeof observation->quantity, "%s", quantity);
    observation->value = value;
    observation->half_width = half_width;
}

static double number_at(const struct fulcrum_measure_window *window, size_t offset)
{
    double value = 0.0;
    memcpy(&value, (const char *)window + offset, sizeof value);
    return value;
}

/* Half of the range over the windows that a point's medians are of. */
static double half_range(const struct fulcrum_measured *item, size_t offset)
{
    double lo = (double)NAN;
    double hi = (double)NAN;
    for (size_t i = 0; i < item->window_count; i++) {
        double value = number_at(&item->windows[i], offset);
        if (fulcrum_measured_counts(item, i)) {
            lo = fmin(lo, value); /* of two, the one that is a number */
            hi = fmax(hi, value);
        }
    }
    return 0.5 * (hi - lo);
}

/* Watts that no meter read are no observation. */
static void observe_watts(struct fulcrum_reference_point *point,
    const struct fulcrum_measured *item, const char *quantity, size_t offset)
{
    double watts = number_at(&item->median, offset);
    if (watts > 0.0) {
        observe(point, quantity, watts, half_range(item, offset));
    }
}

static enum fulcrum_status add_point(struct fulcrum_reference *reference,
    const struct fulcrum_measured *item, double train_step_s, double canary_s,
    struct fulcrum_error *err)
{
    struct fulcrum_reference_point *point = &reference->points[reference->point_count];
    point->settings = calloc(SETTINGS_MOST, sizeof *point->settings);
    point->observations = calloc(OBSERVATIONS_MOST, sizeof *point->observations);
    point->index = reference->point_count++;
    FAIL_IF(point->settings == NULL || point->observations == NULL, err,
        FULCRUM_ERR_NO_MEMORY, "a measured point");
    const struct fulcrum_measure_config *config = &item->config;
    char series[48];
    fulcrum_measured_series(config, series, sizeof series);
    (void)snprintf(point->series, sizeof point->series, "%s%s", series,
        item->is_disturbed ? FULCRUM_MEASURED_DISTURBED : "");
    set_number(point, "run.actor_count", (double)config->actor_count);
    set_number(point, "run.envs_per_actor", (double)config->envs_per_actor);
    set_number(point, "workload.batching.policy", (double)NAN);
    struct fulcrum_reference_setting *policy =
        &point->settings[point->setting_count - 1];
    (void)snprintf(policy->text, sizeof policy->text, "%s",
        fulcrum_batch_policy_name(config->policy));
    bool is_share =
        config->policy == FULCRUM_BATCH_FIXED && config->population_frac > 0.0;
    set_number(point, "workload.batching.population_frac",
        is_share ? config->population_frac : 0.0);
    set_number(point, "workload.batching.size", is_share ? 0.0 : config->batch_size);
    if (!isnan(train_step_s)) {
        set_number(point, "workload.training.train_step_s", train_step_s);
    }
    if (canary_s > 0.0) {
        set_number(point, "machine.cpu.canary_s", canary_s);
    }
    observe(
        point, "steps_per_s", item->median.steps_per_s, 0.5 * (item->hi - item->lo));
    observe_watts(point, item, "cpu_w", offsetof(struct fulcrum_measure_window, cpu_w));
    observe_watts(point, item, "gpu_w", offsetof(struct fulcrum_measure_window, gpu_w));
    return FULCRUM_OK;
}

static double quantity_of(
    const struct fulcrum_calibration *calibration, const char *name)
{
    const struct fulcrum_quantity *quantity =
        fulcrum_calibration_quantity(calibration, name);
    return quantity != NULL ? quantity->value : (double)NAN;
}

/*
 * Time of the train step that was measured, by the calibration's line; NAN where the
 * calibration's own step is of the same work, or nothing trains.
 */
static enum fulcrum_status find_train_step(
    const struct fulcrum_measured_plan *plan, double *out, struct fulcrum_error *err)
{
    double flop = plan->measurement->train_step_flop;
    *out = (double)NAN;
    if (plan->calibration == NULL || isnan(flop) ||
        fabs(quantity_of(plan->calibration, "train_step_flop") / flop - 1.0) < 1e-6) {
        return FULCRUM_OK;
    }
    *out = quantity_of(plan->calibration, "train_step_fixed_s") +
           quantity_of(plan->calibration, "train_step_per_flop_s") * flop;
    return *out > 0.0 ? FULCRUM_OK
                      : fulcrum_fail(err, FULCRUM_ERR_MISSING,
                            "%s: no line over training steps to predict one of %.4g "
                            "operations: calibrate with --train-batch",
                            plan->calibration->name, flop);
}

static void add_source(
    struct fulcrum_reference *reference, const char *part, const char *text)
{
    struct fulcrum_reference_source *source =
        &reference->sources[reference->source_count++];
    (void)snprintf(source->part, sizeof source->part, "%s", part);
    (void)snprintf(source->text, sizeof source->text, "%s", text);
}

static void fill_design(
    struct fulcrum_design *design, const struct fulcrum_measured_plan *plan)
{
    const struct fulcrum_measure_training *training = plan->training;
    fulcrum_design_init(design);
    /* Priors where nothing was detected; counts as the placement uses them. */
    const struct fulcrum_machine *found = &plan->measurement->machine;
    struct fulcrum_machine machine = plan->base->machine;
    memcpy(machine.name, found->name, sizeof machine.name);
    memcpy(machine.cpu.name, found->cpu.name, sizeof machine.cpu.name);
    machine.accelerator = found->accelerator;
    machine.learner_core_count = found->learner_core_count;
    machine.cpu.socket_count = found->cpu.socket_count;
    machine.cpu.core_count = found->cpu.core_count;
    machine.cpu.thread_count = found->cpu.thread_count;
    machine.cpu.slice_s = found->cpu.slice_s;
    if (found->accelerator == FULCRUM_ACCELERATOR_GPU) {
        machine.gpu = found->gpu;
    }
    /* What was measured is to be held against watts that were measured, not assumed. */
    machine.cpu.idle_w = (double)NAN;
    machine.cpu.core_idle_w = (double)NAN;
    machine.cpu.core_dynamic_w = (double)NAN;
    machine.gpu.idle_w = (double)NAN;
    machine.gpu.floor_w = (double)NAN;
    machine.gpu.dynamic_w = (double)NAN;
    design->machine = machine;
    design->workload = plan->base->workload;
    struct fulcrum_workload *workload = &design->workload;
    (void)snprintf(
        workload->name, sizeof workload->name, "%s", plan->measurement->actor);
    const char *network = plan->base->workload.name; /* a loop has its own: "" */
    (void)snprintf(workload->title, sizeof workload->title, "%s%s%.60s, end to end",
        plan->measurement->actor, network[0] != '\0' ? " and the network of " : "",
        network);
    workload->calibration[0] = '\0';
    workload->frame_skip = plan->measurement->actor_info.frame_skip;
    if (plan->measurement->is_tools) {
        workload->family = FULCRUM_FAMILY_AGENTS;
        workload->total_env_steps = TOLD_ENV_STEPS;
        workload->agent.output_tokens = 0.0;
        workload->agent.turn_count = 1.0; /* unless the calibration knows better */
    } else if (!plan->measurement->is_loop) {
        const struct fulcrum_network_cost *cost = &plan->measurement->learner_info.cost;
        workload->network.parameter_count = (double)cost->parameter_count;
        workload->network.forward_flop = cost->forward_flop;
    }
    workload->network.observation_byte =
        (double)fulcrum_observation_byte(&plan->measurement->actor_info);
    workload->batching.depth = 1.0;
    workload->batching.size = 0.0;
    workload->batching.population_frac = 0.0;
    workload->training.env_steps_per_train_step = training->env_steps_per_train_step;
    workload->training.train_step_flop = plan->measurement->train_step_flop;
    if (plan->measurement->is_loop) {
        fulcrum_loop_workload(plan->measurement->loop_fact, workload);
    } else if (training->env_steps_per_train_step > 0.0) {
        workload->training.queue_train_steps = training->queue_train_steps;
        workload->training.batch_size = (double)training->batch;
        workload->training.unroll_length =
            training->unroll > 0 ? (double)training->unroll : 1.0;
        workload->training.burn_in_length = (double)training->burn_in;
    }
}

/* Squared distances of a point's rates from their mean, and how many rates count. */
static double rate_squares(const struct fulcrum_measured *item, double *count)
{
    double sum = 0.0;
    double squares = 0.0;
    *count = 0.0;
    for (size_t k = 0; item->windows != NULL && k < item->window_count; k++) {
        double rate = item->windows[k].steps_per_s;
        if (rate > 0.0 && fulcrum_measured_counts(item, k)) {
            sum += rate;
            squares += rate * rate;
            *count += 1.0;
        }
    }
    return fmax(0.0, squares - sum * sum / fmax(*count, 1.0));
}

/* How far medians of so many windows may be off, in ln(rate), by their scatter. */
static double rate_sd(const struct fulcrum_measurement *found)
{
    double squares = 0.0;
    double freedom = 0.0;
    double windows = 0.0; /* of all points that have two or more, */
    double points = 0.0;  /* and how many points those are */
    for (size_t i = 0; i < found->count; i++) {
        double usual = found->items[i].median.steps_per_s;
        double count = 0.0;
        double own = rate_squares(&found->items[i], &count);
        if (count > 1.0 && usual > 0.0) {
            squares += own / (usual * usual);
            freedom += count - 1.0;
            windows += count;
            points += 1.0;
        }
    }
    return freedom > 0.0 ? sqrt(MEDIAN_VARIANCE * squares / freedom * points / windows)
                         : 0.0;
}

/* Each at the speed that the cores had beside its windows. */
static enum fulcrum_status add_points(struct fulcrum_reference *reference,
    const struct fulcrum_measured_plan *plan, double train_step_s,
    struct fulcrum_error *err)
{
    const struct fulcrum_measurement *found = plan->measurement;
    bool is_cpu = found->machine.accelerator == FULCRUM_ACCELERATOR_CPU;
    double then_s = plan->calibration != NULL ? plan->calibration->machine.cpu.canary_s
                                              : (double)NAN;
    reference->drift_sd = fmin(rate_sd(found), FULCRUM_REFERENCE_DRIFT_SD_MOST);
    for (size_t i = 0; i < found->count; i++) {
        const struct fulcrum_measured *item = &found->items[i];
        double now_s = plan->is_beside ? then_s : item->median.canary_s;
        bool is_slower = is_cpu && now_s > 0.0 && then_s > 0.0;
        if (item->window_count > 0) {
            TRY(add_point(reference, item,
                train_step_s * (is_slower ? now_s / then_s : 1.0), now_s, err));
        }
    }
    return FULCRUM_OK;
}

/* Before each call: decoding, and what the call itself waits for. */
static void add_delays(
    struct fulcrum_reference *reference, const struct fulcrum_measured_plan *plan)
{
    const struct fulcrum_parameter *wait =
        plan->calibration != NULL
            ? fulcrum_calibration_parameter(plan->calibration, "workload.host.delay_s")
            : NULL;
    double wait_s = wait != NULL ? wait->value : 0.0;
    for (size_t i = 0; i < reference->point_count && plan->measurement->is_tools; i++) {
        set_number(&reference->points[i], "workload.host.delay_s",
            plan->measurement->decode_s + wait_s);
    }
}

static enum fulcrum_status fill_reference(struct fulcrum_reference *reference,
    const struct fulcrum_measured_plan *plan, struct fulcrum_error *err)
{
    const struct fulcrum_measurement *found = plan->measurement;
    double train_step_s = (double)NAN;
    /* Steps of another length say nothing of these. */
    double has = plan->calibration != NULL
                     ? quantity_of(plan->calibration, "frame_skip")
                     : (double)NAN;
    double runs = plan->measurement->actor_info.frame_skip;
    FAIL_IF(!isnan(has) && has != runs, err, FULCRUM_ERR_MISSING,
        "%s was taken with %g frames a step, and this run has %g",
        plan->calibration->name, has, runs);
    TRY(find_train_step(plan, &train_step_s, err));
    fill_design(&reference->design, plan);
    (void)snprintf(reference->name, sizeof reference->name, "%s", plan->name);
    (void)snprintf(reference->title, sizeof reference->title,
        "%.60s, %.40s, end to end", found->machine.cpu.name, found->actor);
    (void)snprintf(
        reference->machine, sizeof reference->machine, "%s", found->machine.name);
    memcpy(reference->workload, reference->design.workload.name,
        sizeof reference->workload);
    (void)snprintf(reference->calibration, sizeof reference->calibration, "%s",
        plan->calibration_name != NULL ? plan->calibration_name : "");
    reference->predictor = FULCRUM_PREDICTOR_THROUGHPUT;
    reference->frame_skip = 1.0;
    char text[400];
    char actors[128];
    char server[128];
    fulcrum_cpu_list_write(&found->placement.actors, actors, sizeof actors);
    fulcrum_cpu_list_write(&found->placement.server, server, sizeof server);
    (void)snprintf(text, sizeof text,
        "measured by `fulcrum measure`: actors on processors %s, server%s on %s; "
        "medians of undisturbed windows, half-widths half of their range",
        actors, isnan(found->train_step_flop) ? "" : " and training", server);
    if (found->is_loop) {
        (void)snprintf(text, sizeof text,
            "measured by `fulcrum measure`: whole iterations of the loop; medians of "
            "undisturbed windows, half-widths half of their range");
    } else if (found->is_tools) {
        (void)snprintf(text, sizeof text,
            "measured by `fulcrum measure`: trajectories that sleep for %g s on "
            "average "
            "and call a tool, by turns; medians of undisturbed windows, half-widths "
            "half of their range",
            found->decode_s);
    }
    add_source(reference, "points", text);
    add_source(reference, "machine", "detected; as far as the placement uses it");
    (void)snprintf(text, sizeof text, "%.60s: %.120s; learner %.20s: %.120s",
        found->actor, found->actor_info.detail, found->learner,
        found->learner_info.device.detail);
    add_source(reference, "workload", text);
    TRY(add_points(reference, plan, train_step_s, err));
    add_delays(reference, plan);
    FAIL_IF(
        reference->point_count == 0, err, FULCRUM_ERR_MISSING, "nothing was measured");
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_measured_reference(const struct fulcrum_measured_plan *plan,
    struct fulcrum_reference **out, struct fulcrum_error *err)
{
    struct fulcrum_reference *reference = calloc(1, sizeof *reference);
    TRY_MEMORY(reference, err, "a reference");
    reference->points = calloc(plan->measurement->count + 1, sizeof *reference->points);
    reference->sources = calloc(SOURCES, sizeof *reference->sources);
    enum fulcrum_status status =
        reference->points != NULL && reference->sources != NULL
            ? fill_reference(reference, plan, err)
            : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a reference");
    if (status != FULCRUM_OK) {
        fulcrum_reference_free(reference);
        return status;
    }
    *out = reference;
    return FULCRUM_OK;
}
