/* measured_reference.c - what was measured end to end, to be predicted. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/pipeline/measure.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/statistics.h"
#include "model/try.h"

/* Of a normal law: the variance of a median of n over that of one, times n. */
#define MEDIAN_VARIANCE 1.571

/* Predictions also tell how long so many calls take. */
#define TOLD_ENV_STEPS 1e6

enum { SETTINGS_MOST = 9, OBSERVATIONS_MOST = 3, SOURCES = 4 };

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
    const struct fulcrum_measured *item, double train_step_s,
    const struct fulcrum_measure_window *now, struct fulcrum_error *err)
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
    const struct {
        const char *path;
        double now_s;
    } canaries[] = {{"machine.cpu.canary_s", now->canary_s},
        {"machine.cpu.step_canary_s", now->step_s},
        {"machine.cpu.batch_canary_s", now->batch_s}};
    for (size_t i = 0; i < sizeof canaries / sizeof canaries[0]; i++) {
        if (canaries[i].now_s > 0.0) {
            set_number(point, canaries[i].path, canaries[i].now_s);
        }
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

/* Of the windows that a point's medians are of, about their mean. */
struct scatter {
    double squares; /* their sum */
    double freedom;
    double windows; /* of all points that have two or more, */
    double points;  /* and how many points those are */
};

static void add_scatter(
    const struct fulcrum_measured *item, size_t offset, struct scatter *out)
{
    double sum = 0.0;
    double squares = 0.0;
    double count = 0.0;
    for (size_t i = 0; item->windows != NULL && i < item->window_count; i++) {
        double value = number_at(&item->windows[i], offset);
        bool counts = value > 0.0 && fulcrum_measured_counts(item, i);
        sum += counts ? value : 0.0;
        squares += counts ? value * value : 0.0;
        count += counts ? 1.0 : 0.0;
    }
    if (count > 1.0) {
        out->squares += fmax(0.0, squares - sum * sum / count);
        out->freedom += count - 1.0;
        out->windows += count;
        out->points += 1.0;
    }
}

/*
 * A piece's times beside the windows of each point, drawn to the median of all points
 * by as much as the scatter from window to window explains of their differences
 * (empirical Bayes; Efron and Morris 1975, doi:10.1080/01621459.1975.10479864): on a
 * calm machine all points are alike, on one that changes its speed each has its own.
 */
static void settle_speed(const struct fulcrum_measurement *found, size_t offset,
    struct fulcrum_measure_window *now, double *room)
{
    struct scatter scatter = {0.0, 0.0, 0.0, 0.0};
    size_t count = 0;
    double mean = 0.0;
    for (size_t i = 0; i < found->count; i++) {
        double value = number_at(&found->items[i].median, offset);
        if (found->items[i].window_count > 0 && value > 0.0) {
            room[count++] = value;
            mean += value;
            add_scatter(&found->items[i], offset, &scatter);
        }
    }
    if (count < 2 || !(scatter.freedom > 0.0)) {
        return;
    }
    mean /= (double)count;
    double between = 0.0;
    for (size_t i = 0; i < count; i++) {
        between += (room[i] - mean) * (room[i] - mean) / ((double)count - 1.0);
    }
    double chance =
        scatter.squares / scatter.freedom / (scatter.windows / scatter.points);
    double own = between > chance ? 1.0 - chance / between : 0.0;
    double middle = fulcrum_statistics_median(room, count);
    for (size_t i = 0; i < found->count; i++) {
        double value = number_at(&now[i], offset);
        if (value > 0.0) {
            value = middle + own * (value - middle);
            memcpy((char *)&now[i] + offset, &value, sizeof value);
        }
    }
}

/* Distances of a piece's windows from the settled speed of their point, in ln. */
static size_t distances_of(const struct fulcrum_measured *item, size_t offset,
    const struct fulcrum_measure_window *now, double *out)
{
    double usual = number_at(now, offset);
    size_t count = 0;
    for (size_t i = 0; item->windows != NULL && i < item->window_count; i++) {
        double value = number_at(&item->windows[i], offset);
        bool counts = value > 0.0 && usual > 0.0 && fulcrum_measured_counts(item, i);
        if (counts) {
            out[count++] = fabs(log(value / usual));
        }
    }
    return count;
}

/*
 * How far the medians of so many windows may be off, in ln(speed), as each window saw
 * another machine; robust, and over the kinds of pieces that were timed. `room` has
 * place for a number a window.
 */
static double drift_sd(const struct fulcrum_measurement *found,
    const struct fulcrum_measure_window *now, double *room)
{
    static const size_t pieces[] = {offsetof(struct fulcrum_measure_window, step_s),
        offsetof(struct fulcrum_measure_window, batch_s)};
    double sum = 0.0;
    double kinds = 0.0;
    for (size_t k = 0; k < sizeof pieces / sizeof pieces[0]; k++) {
        size_t count = 0;
        double points = 0.0;
        for (size_t i = 0; i < found->count; i++) {
            size_t more =
                distances_of(&found->items[i], pieces[k], &now[i], room + count);
            count += more;
            points += more > 0 ? 1.0 : 0.0;
        }
        if (count > 0) {
            double each = FULCRUM_DISTANCE_SD * fulcrum_statistics_median(room, count);
            sum += each * sqrt(MEDIAN_VARIANCE * points / (double)count);
            kinds += 1.0;
        }
    }
    return kinds > 0.0 ? sum / kinds : 0.0;
}

/* The same, told by the rates of the windows themselves. */
static double rate_sd(const struct fulcrum_measurement *found)
{
    struct scatter all = {0.0, 0.0, 0.0, 0.0};
    for (size_t i = 0; i < found->count; i++) {
        double usual = found->items[i].median.steps_per_s;
        struct scatter own = {0.0, 0.0, 0.0, 0.0};
        add_scatter(&found->items[i],
            offsetof(struct fulcrum_measure_window, steps_per_s), &own);
        if (usual > 0.0) {
            all.squares += own.squares / (usual * usual);
            all.freedom += own.freedom;
            all.windows += own.windows;
            all.points += own.points;
        }
    }
    return all.freedom > 0.0 ? sqrt(MEDIAN_VARIANCE * all.squares / all.freedom *
                                    all.points / all.windows)
                             : 0.0;
}

/* Of every item; `room` has place for as many numbers. */
static void settle_speeds(const struct fulcrum_measurement *found,
    struct fulcrum_measure_window *now, double *room)
{
    static const size_t speeds[] = {offsetof(struct fulcrum_measure_window, canary_s),
        offsetof(struct fulcrum_measure_window, step_s),
        offsetof(struct fulcrum_measure_window, batch_s)};
    for (size_t i = 0; i < found->count; i++) {
        now[i] = found->items[i].median;
    }
    for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++) {
        settle_speed(found, speeds[i], now, room);
    }
}

/* How much longer a piece takes than when it was calibrated; else what the canary does.
 */
static double slowdown(double now_s, double then_s, double canary)
{
    return now_s > 0.0 && then_s > 0.0 ? now_s / then_s : canary;
}

/* Each at the speeds that its windows had. */
static enum fulcrum_status add_points(struct fulcrum_reference *reference,
    const struct fulcrum_measured_plan *plan, double train_step_s,
    struct fulcrum_error *err)
{
    const struct fulcrum_measurement *found = plan->measurement;
    bool is_cpu = found->machine.accelerator == FULCRUM_ACCELERATOR_CPU;
    const struct fulcrum_cpu unknown = {.canary_s = (double)NAN};
    const struct fulcrum_cpu *then =
        plan->calibration != NULL ? &plan->calibration->machine.cpu : &unknown;
    enum fulcrum_status status = FULCRUM_OK;
    struct fulcrum_measure_window *speeds = calloc(found->count + 1, sizeof *speeds);
    size_t windows = found->count;
    for (size_t i = 0; i < found->count; i++) {
        windows += found->items[i].window_count;
    }
    double *room = calloc(windows + 1, sizeof *room);
    if (speeds == NULL || room == NULL) {
        free(speeds);
        free(room);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "speeds of a machine");
    }
    settle_speeds(found, speeds, room);
    double sd = plan->is_beside ? rate_sd(found) : drift_sd(found, speeds, room);
    reference->drift_sd = fmin(sd, FULCRUM_REFERENCE_DRIFT_SD_MOST);
    free(room);
    for (size_t i = 0; i < found->count && plan->is_beside; i++) {
        speeds[i].canary_s = then->canary_s;
        speeds[i].step_s = then->step_canary_s;
        speeds[i].batch_s = then->batch_canary_s;
    }
    for (size_t i = 0; i < found->count && status == FULCRUM_OK; i++) {
        if (found->items[i].window_count > 0) {
            const struct fulcrum_measure_window *now = &speeds[i];
            double any = slowdown(now->canary_s, then->canary_s, 1.0);
            double batches = slowdown(now->batch_s, then->batch_canary_s, any);
            status = add_point(reference, &found->items[i],
                train_step_s * (is_cpu ? batches : 1.0), now, err);
        }
    }
    free(speeds);
    return status;
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
