/* measure_window.c - one window of the real pipeline, and what all windows share. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include "calibrate/measure_window.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calibrate/host.h"
#include "calibrate/statistics.h"
#include "model/try.h"

/* Threads start, caches fill and the queues find their usual lengths. */
#define WARM_UP_S       0.2
#define WARM_UP_BATCHES 8.0

/* Runs of a canary at each end of a window, and before them. */
#define CANARY_RUNS     5
#define CANARY_WARM_UPS 3

/* So many times both before the first window. */
#define PRIME_RUNS 6

/* How often a window looks whether it is to end. */
#define LOOK_S 0.02

/* Between two looks at a machine that is not calm. */
#define CALM_PAUSE_S 0.1

/* After so many times its length a window without an answer, or without its train
 * steps, ends all the same. */
#define WINDOWS_MOST 60.0

static enum fulcrum_status open_steppers(
    struct fulcrum_window_room *room, struct fulcrum_error *err)
{
    for (size_t i = 0; i < room->stepper_count; i++) {
        TRY(fulcrum_stepper_begin(&room->steppers[i], &room->bench.stage, i, err));
    }
    for (size_t i = 0; i < room->stepper_count; i++) {
        TRY(fulcrum_stepper_await(&room->steppers[i], err));
    }
    return FULCRUM_OK;
}

static void close_steppers(struct fulcrum_window_room *room)
{
    for (size_t i = 0; room->steppers != NULL && i < room->stepper_count; i++) {
        fulcrum_stepper_close(&room->steppers[i]);
    }
}

enum fulcrum_status fulcrum_window_room_renew(
    struct fulcrum_window_room *room, struct fulcrum_error *err)
{
    close_steppers(room);
    return open_steppers(room, err);
}

static enum fulcrum_status make_steppers(
    struct fulcrum_window_room *room, struct fulcrum_error *err)
{
    size_t most = 0;
    for (size_t i = 0; i < room->options->config_count; i++) {
        const struct fulcrum_measure_config *config = &room->options->configs[i];
        size_t count = config->actor_count * config->envs_per_actor;
        most = count > most ? count : most;
    }
    room->steppers = calloc(most + 1, sizeof *room->steppers);
    if (room->steppers == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%zu environments", most);
    }
    room->stepper_count = most;
    return open_steppers(room, err);
}

/* Sleeps, unless the run is to be stopped. */
static enum fulcrum_status pause_s(
    struct fulcrum_window_room *room, double time_s, struct fulcrum_error *err)
{
    if (room->stops != NULL && room->stops(room->user)) {
        return fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED, "stopped");
    }
    fulcrum_sleep_s(time_s);
    return FULCRUM_OK;
}

/* Median of a few runs of a canary on the calling thread's core. */
static enum fulcrum_status run_canary(struct fulcrum_window_room *room,
    struct fulcrum_canary *canary, double *out, struct fulcrum_error *err)
{
    double reading_s[CANARY_RUNS];
    enum fulcrum_status status = FULCRUM_OK;
    /* The first runs after a thread has moved find caches cold: they are not kept. */
    for (int i = -CANARY_WARM_UPS; i < CANARY_RUNS && status == FULCRUM_OK; i++) {
        double run_s = 0.0;
        status = fulcrum_canary_close(
            canary, &run_s, FULCRUM_CLOCK_CPU, &room->bench.stopwatch, err);
        reading_s[i < 0 ? 0 : i] = canary->last.cpu_s;
    }
    if (status != FULCRUM_OK) {
        return status;
    }
    gsl_sort(reading_s, 1, CANARY_RUNS);
    *out = fulcrum_statistics_quantile(reading_s, CANARY_RUNS, 0.5);
    return FULCRUM_OK;
}

/* How fast the cores are, told by canaries. */
struct pulse {
    double side_s[2]; /* actors, server */
    double worst_rel; /* of the slower side, over its usual time */
};

static double mean_s(const struct pulse *pulse)
{
    return 0.5 * (pulse->side_s[0] + pulse->side_s[1]);
}

/* Both sides, each on its first core. */
static enum fulcrum_status take_pulse(
    struct fulcrum_window_room *room, struct pulse *out, struct fulcrum_error *err)
{
    const struct fulcrum_cpu_list *sides[2] = {
        &room->placement.actors, &room->placement.server};
    enum fulcrum_status status = FULCRUM_OK;
    *out = (struct pulse){.worst_rel = 0.0};
    for (int i = 0; i < 2 && status == FULCRUM_OK; i++) {
        struct fulcrum_cpu_list first = {.count = 1, .cpu = {sides[i]->cpu[0]}};
        (void)fulcrum_cpu_list_bind(&first);
        status = run_canary(room, &room->canaries[i], &out->side_s[i], err);
        out->worst_rel =
            fmax(out->worst_rel, fulcrum_canary_rel(&room->usual[i], out->side_s[i]));
    }
    (void)fulcrum_cpu_list_bind(&room->before);
    return status;
}

/*
 * What is usual is the median over windows. Looks at a machine that is not calm do not
 * count: there are many of them.
 */
static enum fulcrum_status learn(struct fulcrum_window_room *room,
    const struct pulse *pulse, struct fulcrum_error *err)
{
    for (int i = 0; i < 2; i++) {
        room->usual[i].usual_frac = 0.5;
        TRY(fulcrum_canary_add(&room->usual[i], pulse->side_s[i], err));
    }
    return FULCRUM_OK;
}

/*
 * Waits until the canaries are as fast as usual, for as long as is allowed. Bursts of
 * other work, on a virtual machine by its neighbours, last some seconds: a window that
 * begins in one is lost. The readings have nothing to do with what is measured.
 */
static enum fulcrum_status await_calm(
    struct fulcrum_window_room *room, struct pulse *out, struct fulcrum_error *err)
{
    double until_s = fulcrum_wall_s() + room->options->calm_wait_s;
    enum fulcrum_status status = FULCRUM_OK;
    int waits = 1;
    while (waits && status == FULCRUM_OK) {
        status = take_pulse(room, out, err);
        waits = out->worst_rel > FULCRUM_CANARY_LIMIT_REL && fulcrum_wall_s() < until_s;
        if (waits && status == FULCRUM_OK) {
            status = pause_s(room, CALM_PAUSE_S, err);
        }
    }
    return status == FULCRUM_OK ? learn(room, out, err) : status;
}

/* The canaries learn what is usual before anything is judged by them. */
static enum fulcrum_status prime_canaries(
    struct fulcrum_window_room *room, struct fulcrum_error *err)
{
    for (int i = 0; i < PRIME_RUNS; i++) {
        struct pulse pulse;
        TRY(take_pulse(room, &pulse, err));
        TRY(learn(room, &pulse, err));
    }
    return FULCRUM_OK;
}

/* A second state of the learner: inference and training never share one. */
static enum fulcrum_status open_training(
    struct fulcrum_window_room *room, struct fulcrum_error *err)
{
    const struct fulcrum_measure_training *training = &room->options->training;
    if (!(training->env_steps_per_train_step > 0.0)) {
        return FULCRUM_OK;
    }
    struct fulcrum_learner_options options = room->bench.learner_options;
    options.max_batch = 1;
    options.train_batch = training->batch;
    options.train_unroll = training->unroll > 0 ? training->unroll : 1;
    options.train_burn_in = training->burn_in;
    room->training.learner = room->bench.learner;
    room->training.max_batch = 1;
    return room->bench.learner->open(
        &options, &room->training.state, &room->training.info, err);
}

/* What the model is told of this machine: the cores that the placement uses. */
static void cut_machine(struct fulcrum_window_room *room)
{
    struct fulcrum_machine machine = room->bench.machine;
    const struct fulcrum_placement *placement = &room->placement;
    if (machine.accelerator == FULCRUM_ACCELERATOR_CPU && placement->is_apart) {
        machine.learner_core_count = 1.0;
        machine.cpu.core_count = (double)placement->actor_core_count + 1.0;
        machine.cpu.thread_count =
            (double)placement->actors.count +
            (double)placement->actors.count / (double)placement->actor_core_count;
    }
    room->machine = machine;
}

enum fulcrum_status fulcrum_window_room_open(struct fulcrum_window_room *room,
    const struct fulcrum_measure_options *options, struct fulcrum_error *err)
{
    *room = (struct fulcrum_window_room){
        .options = options, .placement = options->placement};
    const struct fulcrum_calibrate_options open = {.actor = options->actor,
        .actor_options = options->actor_options,
        .learner = options->learner,
        .device_index = options->device_index,
        .sm_count = options->sm_count,
        .network = options->network,
        .seed = options->seed};
    TRY(fulcrum_placement_complete(&room->placement, err));
    TRY(fulcrum_cpu_list_allowed(&room->before, err));
    TRY(fulcrum_bench_open(&room->bench, &open, err));
    cut_machine(room);
    TRY(make_steppers(room, err));
    TRY(open_training(room, err));
    TRY(prime_canaries(room, err));
    const struct fulcrum_energy_options energy = {.root = options->meter_root,
        .gpu = room->bench.learner_info.device_uuid,
        .uses_gpu = room->bench.machine.accelerator == FULCRUM_ACCELERATOR_GPU};
    return fulcrum_energy_open(&room->energy, &energy, err);
}

void fulcrum_window_room_close(struct fulcrum_window_room *room)
{
    close_steppers(room);
    free(room->steppers);
    if (room->training.state != NULL) {
        room->training.learner->close(room->training.state);
    }
    fulcrum_energy_close(room->energy);
    for (int i = 0; i < 2; i++) {
        fulcrum_canary_free(&room->canaries[i]);
        fulcrum_canary_free(&room->usual[i]);
    }
    fulcrum_bench_close(&room->bench);
    *room = (struct fulcrum_window_room){0};
}

static double process_cpu_s(void)
{
    struct timespec used = {0, 0};
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/* CPU time of this process and of its environments elsewhere. */
static double own_cpu_s(const struct fulcrum_window_room *room)
{
    double cpu_s = process_cpu_s();
    for (size_t i = 0; i < room->stepper_count; i++) {
        cpu_s += fulcrum_stepper_cpu_s(&room->steppers[i]);
    }
    return cpu_s;
}

static enum fulcrum_status look(struct fulcrum_window_room *room,
    struct fulcrum_live *live, struct fulcrum_error *err)
{
    TRY(fulcrum_live_failure(live, err));
    return pause_s(room, LOOK_S, err);
}

/* Until the pipeline has found its stride. */
static enum fulcrum_status warm_up(struct fulcrum_window_room *room,
    struct fulcrum_live *live, struct fulcrum_error *err)
{
    struct fulcrum_live_reading reading = {0};
    double until_s =
        fulcrum_wall_s() + fmax(WARM_UP_S, fulcrum_energy_settle_s(room->energy));
    int trains = room->training.state != NULL;
    enum fulcrum_status status = FULCRUM_OK;
    while (status == FULCRUM_OK &&
           (fulcrum_wall_s() < until_s || reading.batch_count < WARM_UP_BATCHES ||
               (trains && reading.train_step_count < 1.0))) {
        status = look(room, live, err);
        fulcrum_live_read(live, &reading);
    }
    return status;
}

/* Both ends of a window, and what the machine did meanwhile. */
struct passage {
    struct fulcrum_live_reading begin;
    struct fulcrum_live_reading end;
    double own_cpu_s;
    double host_busy_s;
    struct fulcrum_energy_reading energy;
};

/* A rate needs an answer, and a run that trains its train steps. */
static int has_seen_enough(
    const struct fulcrum_window_room *room, const struct passage *passage)
{
    double answered = passage->end.batch_count - passage->begin.batch_count;
    double trained = passage->end.train_step_count - passage->begin.train_step_count;
    int trains = room->training.state != NULL;
    return answered >= 1.0 && (!trains || trained >= room->options->train_steps_least);
}

static enum fulcrum_status watch(struct fulcrum_window_room *room,
    struct fulcrum_live *live, struct passage *out, struct fulcrum_error *err)
{
    const struct fulcrum_measure_options *options = room->options;
    double window_s =
        fmax(options->window_s, fulcrum_energy_least_window_s(room->energy));
    double own_s = own_cpu_s(room);
    struct fulcrum_host_idle idle = fulcrum_host_idle("");
    fulcrum_energy_begin(room->energy);
    fulcrum_recorder_start(room->recorder);
    fulcrum_live_read(live, &out->begin);
    out->end = out->begin;
    enum fulcrum_status status = FULCRUM_OK;
    double spent_s = 0.0;
    while (status == FULCRUM_OK &&
           (spent_s < window_s ||
               (!has_seen_enough(room, out) && spent_s < WINDOWS_MOST * window_s))) {
        status = look(room, live, err);
        fulcrum_energy_refresh(room->energy);
        fulcrum_live_read(live, &out->end);
        spent_s = out->end.wall_s - out->begin.wall_s;
    }
    fulcrum_recorder_stop(room->recorder);
    fulcrum_energy_end(room->energy,
        out->end.env_step_count - out->begin.env_step_count, &out->energy);
    out->own_cpu_s = own_cpu_s(room) - own_s;
    struct fulcrum_host_idle idle_then = fulcrum_host_idle("");
    out->host_busy_s = fulcrum_host_busy_s(&idle, &idle_then);
    return status;
}

static void fill(const struct fulcrum_window_room *room, const struct passage *passage,
    struct fulcrum_measure_window *out)
{
    const struct fulcrum_live_reading *begin = &passage->begin;
    const struct fulcrum_live_reading *end = &passage->end;
    double wall_s = end->wall_s - begin->wall_s;
    double steps = end->env_step_count - begin->env_step_count;
    double batches = end->batch_count - begin->batch_count;
    double actor_s = end->actor_cpu_s - begin->actor_cpu_s;
    double server_s = end->server_cpu_s - begin->server_cpu_s;
    *out = (struct fulcrum_measure_window){
        .steps_per_s = steps / (end->answered_s - begin->answered_s),
        .mean_batch = steps / batches,
        .actor_busy_frac = actor_s / wall_s / (double)room->placement.actors.count,
        .server_busy_frac = server_s / wall_s,
        .train_busy_frac = (end->train_cpu_s - begin->train_cpu_s) / wall_s,
        .train_step_count = end->train_step_count - begin->train_step_count,
        .actor_cpu_s = actor_s / steps,
        .server_cpu_s = server_s / batches,
        .cpu_w = passage->energy.cpu_w,
        .gpu_w = passage->energy.gpu_w,
        .j_per_step = passage->energy.j_per_step,
        .others_frac = (passage->host_busy_s - passage->own_cpu_s) /
                       (wall_s * fmax(room->bench.machine.cpu.thread_count, 1.0)),
    };
}

static struct fulcrum_live_plan plan_of(
    struct fulcrum_window_room *room, const struct fulcrum_measure_config *config)
{
    const struct fulcrum_measure_training *training = &room->options->training;
    return (struct fulcrum_live_plan){.steppers = room->steppers,
        .actor_count = config->actor_count,
        .envs_per_actor = config->envs_per_actor,
        .inference = {room->bench.learner, room->bench.state, room->bench.learner_info,
            room->bench.learner_options.max_batch},
        .training = room->training,
        .policy = config->policy,
        .batch_requests = fulcrum_measure_batch_requests(config),
        .env_steps_per_train_step = training->env_steps_per_train_step,
        .queue_train_steps = training->queue_train_steps,
        .train_steps_per_copy = training->steps_per_copy,
        .placement = &room->placement,
        .recorder = room->recorder};
}

/* A size below one request would be taken for none at all. */
static enum fulcrum_status check_size(
    const struct fulcrum_measure_config *config, struct fulcrum_error *err)
{
    int has_room = !(config->batch_size > 0.0) ||
                   config->batch_size >= (double)config->envs_per_actor;
    return has_room ? FULCRUM_OK
                    : fulcrum_fail(err, FULCRUM_ERR_INFEASIBLE,
                          "a batch of %g observations has no room for a request of %zu",
                          config->batch_size, config->envs_per_actor);
}

enum fulcrum_status fulcrum_window_take(struct fulcrum_window_room *room,
    const struct fulcrum_measure_config *config, struct fulcrum_measure_window *out,
    struct fulcrum_error *err)
{
    const struct fulcrum_live_plan plan = plan_of(room, config);
    struct fulcrum_live *live = NULL;
    struct passage passage = {.own_cpu_s = 0.0};
    struct pulse before = {.worst_rel = 0.0};
    struct pulse after = {.worst_rel = 0.0};
    enum fulcrum_status status = check_size(config, err);
    if (status == FULCRUM_OK) {
        status = await_calm(room, &before, err);
    }
    if (status == FULCRUM_OK) {
        status = fulcrum_live_new(&live, &plan, err);
    }
    if (status == FULCRUM_OK) {
        status = warm_up(room, live, err);
    }
    if (status == FULCRUM_OK) {
        status = watch(room, live, &passage, err);
    }
    fulcrum_live_free(live);
    if (status == FULCRUM_OK) {
        status = take_pulse(room, &after, err);
    }
    if (status == FULCRUM_OK) {
        status = learn(room, &after, err);
    }
    if (status != FULCRUM_OK) {
        return status;
    }
    fill(room, &passage, out);
    out->canary_rel = fmax(before.worst_rel, after.worst_rel);
    out->canary_s = 0.5 * (mean_s(&before) + mean_s(&after));
    out->is_disturbed = out->canary_rel > FULCRUM_CANARY_LIMIT_REL ||
                        out->others_frac > FULCRUM_MEASURE_OTHERS_MOST_FRAC;
    (void)snprintf(room->energy_reason, sizeof room->energy_reason, "%.*s",
        (int)sizeof room->energy_reason - 1, passage.energy.reason);
    return FULCRUM_OK;
}
