/* measure.c - the real pipeline measured, configuration by configuration. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rounds, as in a calibration: every configuration gets one window a round, so that a
 * machine that slowly gets warmer or busier does not favour the first of them. What was
 * disturbed is told by two things that have nothing to do with the result: a canary on
 * the cores of actors and server before and after the window, and the CPU time that
 * other programs had meanwhile.
 */
#define _POSIX_C_SOURCE 200809L /* clockid_t */

#include "calibrate/pipeline/measure.h"

#include <assert.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calibrate/host.h"
#include "calibrate/statistics.h"
#include "model/number.h"
#include "model/try.h"

/* One window of the real pipeline, and what all windows share. */

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
    const struct fulcrum_stage *stage = &room->bench.stage;
    if (stage->actor->time != NULL) {
        TRY(stage->actor->env_new(stage->shared, stage->seed, &room->loop, err));
        TRY(stage->actor->await(room->loop, err));
        return fulcrum_loop_time(stage, room->loop,
            (struct fulcrum_loop_task){FULCRUM_LOOP_FACTS, 0, 0.0}, room->loop_fact,
            err);
    }
    size_t ahead =
        FULCRUM_STEPPERS_AT_A_TIME * (size_t)room->bench.machine.cpu.thread_count;
    for (size_t i = 0; i < room->stepper_count + ahead; i++) {
        if (i < room->stepper_count) {
            TRY(fulcrum_stepper_begin(&room->steppers[i], &room->bench.stage, i, err));
        }
        if (i >= ahead && i - ahead < room->stepper_count) {
            TRY(fulcrum_stepper_await(&room->steppers[i - ahead], err));
        }
    }
    return FULCRUM_OK;
}

static void close_steppers(struct fulcrum_window_room *room)
{
    if (room->loop != NULL) {
        room->bench.stage.actor->env_free(room->loop);
        room->loop = NULL;
    }
    for (size_t i = 0; room->steppers != NULL && i < room->stepper_count; i++) {
        fulcrum_stepper_close(&room->steppers[i]);
    }
}

/* Sleeps, unless the run is to be stopped. */
static enum fulcrum_status pause_s(
    struct fulcrum_window_room *room, double time_s, struct fulcrum_error *err)
{
    FAIL_IF(fulcrum_listener_stops(&room->listener), err, FULCRUM_ERR_INTERRUPTED,
        "stopped");
    fulcrum_sleep_s(time_s);
    return FULCRUM_OK;
}

/* Median of a few runs of a canary on the calling thread's core. */
static enum fulcrum_status run_canary(struct fulcrum_window_room *room,
    struct fulcrum_canary *canary, double *out, struct fulcrum_error *err)
{
    double reading_s[CANARY_RUNS];
    /* The first runs after a thread has moved find caches cold: they are not kept. */
    for (int i = -CANARY_WARM_UPS; i < CANARY_RUNS; i++) {
        double run_s = 0.0;
        TRY(fulcrum_canary_close(
            canary, &run_s, FULCRUM_CLOCK_CPU, &room->bench.stopwatch, err));
        reading_s[i < 0 ? 0 : i] = canary->last.cpu_s;
    }
    *out = fulcrum_statistics_median(reading_s, CANARY_RUNS);
    return FULCRUM_OK;
}

/* How fast the cores are, told by canaries. */
struct pulse {
    double side_s[2]; /* actors, server */
    double worst_rel; /* of the slower side, over its usual time */
};

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

static struct fulcrum_calibrate_options calibrate_options_of(
    const struct fulcrum_measure_options *options)
{
    return (struct fulcrum_calibrate_options){.actor = options->actor,
        .actor_options = options->actor_options,
        .learner = options->learner,
        .device_index = options->device_index,
        .sm_count = options->sm_count,
        .network = options->network,
        .seed = options->seed,
        .nominal_train_batch = (double)options->training.batch,
        .nominal_unroll = (double)options->training.unroll,
        .nominal_burn_in = (double)options->training.burn_in,
        .meter_root = options->meter_root};
}

enum fulcrum_status fulcrum_window_room_open(struct fulcrum_window_room *room,
    const struct fulcrum_measure_options *options, struct fulcrum_error *err)
{
    *room = (struct fulcrum_window_room){
        .options = options, .placement = options->placement};
    const struct fulcrum_calibrate_options open = calibrate_options_of(options);
    const struct fulcrum_learner *learner =
        options->learner != NULL ? fulcrum_learner_find(options->learner) : NULL;
    FAIL_IF(learner != NULL && learner->time != NULL, err, FULCRUM_ERR_UNSUPPORTED,
        "learner %s is for calibrate alone: it takes no observations from a pipeline",
        learner->name);
    TRY(fulcrum_placement_complete(&room->placement, err));
    TRY(fulcrum_cpu_list_allowed(&room->before, err));
    TRY(fulcrum_bench_open(&room->bench, &open, err));
    /* What the model is told of this machine: the cores that the placement uses. */
    struct fulcrum_machine machine = room->bench.machine;
    const struct fulcrum_placement *placement = &room->placement;
    bool is_loop = room->bench.stage.actor->time != NULL;
    bool is_tools = room->bench.stage.actor->is_tools;
    if (is_loop || is_tools) {
        machine.learner_core_count = 0.0;
    } else if (machine.accelerator == FULCRUM_ACCELERATOR_CPU && placement->is_apart) {
        machine.learner_core_count = 1.0;
        machine.cpu.core_count = (double)placement->actor_core_count + 1.0;
        machine.cpu.thread_count =
            (double)placement->actors.count +
            (double)placement->actors.count / (double)placement->actor_core_count;
    }
    room->machine = machine;
    size_t most = 0;
    for (size_t i = 0; i < room->options->config_count; i++) {
        const struct fulcrum_measure_config *config = &room->options->configs[i];
        size_t count = config->actor_count * config->envs_per_actor;
        most = count > most && !is_loop ? count : most;
    }
    room->steppers = calloc(most + 1, sizeof *room->steppers);
    TRY_MEMORY(room->steppers, err, "%zu environments", most);
    room->stepper_count = most;
    TRY(open_steppers(room, err));
    TRY(open_training(room, err));
    /* The canaries learn what is usual before anything is judged by them. */
    for (int i = 0; i < PRIME_RUNS; i++) {
        struct pulse pulse;
        TRY(take_pulse(room, &pulse, err));
        TRY(learn(room, &pulse, err));
    }
    const struct fulcrum_energy_options energy = {.root = options->meter_root,
        .gpu = room->bench.learner_info.device.uuid,
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

/* CPU time of this process and of its environments elsewhere. */
static double own_cpu_s(const struct fulcrum_window_room *room)
{
    double cpu_s = fulcrum_clock_s(CLOCK_PROCESS_CPUTIME_ID);
    for (size_t i = 0; i < room->stepper_count; i++) {
        cpu_s += fulcrum_stepper_cpu_s(&room->steppers[i]);
    }
    return cpu_s;
}

static enum fulcrum_status look(struct fulcrum_window_room *room,
    struct fulcrum_live *live, struct fulcrum_live_reading *out,
    struct fulcrum_error *err)
{
    TRY(fulcrum_live_failure(live, err));
    TRY(pause_s(room, LOOK_S, err));
    fulcrum_live_read(live, out);
    return FULCRUM_OK;
}

static enum fulcrum_status warm_up(struct fulcrum_window_room *room,
    struct fulcrum_live *live, struct fulcrum_error *err)
{
    struct fulcrum_live_reading reading = {0};
    double until_s =
        fulcrum_wall_s() + fmax(WARM_UP_S, fulcrum_energy_settle_s(room->energy));
    bool trains = room->training.state != NULL;
    while (fulcrum_wall_s() < until_s || reading.batch_count < WARM_UP_BATCHES ||
           (trains && reading.train_step_count < 1.0)) {
        TRY(look(room, live, &reading, err));
    }
    return FULCRUM_OK;
}

struct passage {
    struct fulcrum_live_reading begin;
    struct fulcrum_live_reading end;
    double own_cpu_s;
    double host_busy_s;
    struct fulcrum_energy_reading energy;
};

/* A rate needs an answer, and a run that trains its train steps. */
static bool has_seen_enough(
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
    double window_s =
        fmax(room->options->window_s, fulcrum_energy_least_window_s(room->energy));
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
        status = look(room, live, &out->end, err);
        fulcrum_energy_refresh(room->energy);
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

/* One window of a framework's loop, whole iterations of it. */
static enum fulcrum_status watch_loop(struct fulcrum_window_room *room,
    const struct fulcrum_measure_config *config, struct fulcrum_measure_window *out,
    struct fulcrum_error *err)
{
    bool is_async = fulcrum_loop_way_of(room->loop_fact) == FULCRUM_LOOP_ASYNCHRONOUS;
    size_t envs = is_async ? config->actor_count << 32 | config->envs_per_actor
                           : config->actor_count * config->envs_per_actor;
    double batch = room->loop_fact[FULCRUM_LOOP_BATCH_SIZE];
    double found[FULCRUM_LOOP_FIGURES];
    TRY(fulcrum_loop_time(&room->bench.stage, room->loop,
        (struct fulcrum_loop_task){FULCRUM_LOOP_WHOLE, envs, room->options->window_s},
        found, err));
    *out = (struct fulcrum_measure_window){.mean_batch = is_async      ? 1.0
                                                         : batch > 0.0 ? batch
                                                                       : (double)envs,
        .train_busy_frac = found[FULCRUM_LOOP_TRAIN_S] / found[FULCRUM_LOOP_WALL_S],
        .train_step_count = found[FULCRUM_LOOP_TRAIN_STEP_COUNT],
        /* Nobody watches its processes meanwhile. */
        .actor_busy_frac = (double)NAN,
        .server_busy_frac = (double)NAN,
        .actor_cpu_s = (double)NAN,
        .server_cpu_s = (double)NAN,
        .others_frac = (double)NAN,
        .cpu_w = (double)NAN,
        .gpu_w = (double)NAN,
        .j_per_step = (double)NAN};
    out->steps_per_s =
        out->mean_batch * found[FULCRUM_LOOP_CALL_COUNT] / found[FULCRUM_LOOP_WALL_S];
    return FULCRUM_OK;
}

/* One window of trajectories that call tools. */
static enum fulcrum_status watch_calls(struct fulcrum_window_room *room,
    const struct fulcrum_measure_config *config, struct fulcrum_measure_window *out,
    struct fulcrum_error *err)
{
    const struct fulcrum_calls_plan plan = {.steppers = room->steppers,
        .count = config->actor_count,
        .decode_s = room->options->decode_s,
        .window_s = room->options->window_s,
        .seed = room->bench.stage.seed + (uint64_t)room->call_windows++,
        .listener = &room->listener};
    struct fulcrum_calls_reading found;
    double begin_s = fulcrum_wall_s();
    struct fulcrum_host_idle idle = fulcrum_host_idle("");
    TRY(fulcrum_calls_watch(&plan, &found, err));
    struct fulcrum_host_idle idle_then = fulcrum_host_idle("");
    double threads = fmax(room->bench.machine.cpu.thread_count, 1.0);
    *out = (struct fulcrum_measure_window){.steps_per_s = found.calls_per_s,
        .mean_batch = (double)NAN,
        .actor_busy_frac = found.busy_threads / threads,
        .actor_cpu_s = found.cpu_s,
        .server_busy_frac = (double)NAN,
        .server_cpu_s = (double)NAN,
        .others_frac = fulcrum_host_others_s(&idle, &idle_then) /
                       (threads * (fulcrum_wall_s() - begin_s)),
        .cpu_w = (double)NAN,
        .gpu_w = (double)NAN,
        .j_per_step = (double)NAN};
    return FULCRUM_OK;
}

static struct fulcrum_live_plan plan_of(
    const struct fulcrum_window_room *room, const struct fulcrum_measure_config *config)
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
        .rollout_step_count = training->rollout_length *
                              (double)(config->actor_count * config->envs_per_actor),
        .train_steps_per_copy = training->steps_per_copy,
        .placement = &room->placement,
        .recorder = room->recorder};
}

/* What a window of our own pipeline came to. */
static void summarise_window(struct fulcrum_window_room *room,
    const struct passage *passage, struct fulcrum_measure_window *out)
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
    (void)snprintf(room->energy_reason, sizeof room->energy_reason, "%.*s",
        (int)sizeof room->energy_reason - 1, passage->energy.reason);
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
    enum fulcrum_status status = FULCRUM_OK;
    /* A size below one request would be taken for none at all. */
    FAIL_IF(
        config->batch_size > 0.0 && config->batch_size < (double)config->envs_per_actor,
        err, FULCRUM_ERR_INFEASIBLE,
        "a batch of %g observations has no room for a request of %zu",
        config->batch_size, config->envs_per_actor);
    /*
     * Waits until the canaries are as fast as usual, for as long as is allowed. Bursts
     * of other work, on a virtual machine by its neighbours, last some seconds: a
     * window that begins in one is lost. The readings have nothing to do with what is
     * measured.
     */
    double until_s = fulcrum_wall_s() + room->options->calm_wait_s;
    *out = (struct fulcrum_measure_window){.steps_per_s = 0.0};
    TRY(take_pulse(room, &before, err));
    while (before.worst_rel > FULCRUM_CANARY_LIMIT_REL && fulcrum_wall_s() < until_s) {
        TRY(pause_s(room, CALM_PAUSE_S, err));
        TRY(take_pulse(room, &before, err));
    }
    TRY(learn(room, &before, err));
    bool is_tools = room->bench.stage.actor->is_tools;
    if (room->loop != NULL) {
        TRY(watch_loop(room, config, out, err));
    } else if (is_tools) {
        TRY(watch_calls(room, config, out, err));
    } else {
        TRY_OR_END(fulcrum_live_new(&live, &plan, err));
        TRY_OR_END(warm_up(room, live, err));
        status = watch(room, live, &passage, err);
    }
end:
    fulcrum_live_free(live);
    TRY(status);
    TRY(take_pulse(room, &after, err));
    TRY(learn(room, &after, err));
    if (room->loop == NULL && !is_tools) {
        summarise_window(room, &passage, out);
    }
    out->canary_rel = fmax(before.worst_rel, after.worst_rel);
    out->canary_s = 0.25 * ((before.side_s[0] + before.side_s[1]) +
                               (after.side_s[0] + after.side_s[1]));
    out->is_disturbed = out->canary_rel > FULCRUM_CANARY_LIMIT_REL ||
                        out->others_frac > FULCRUM_MEASURE_OTHERS_MOST_FRAC;
    return FULCRUM_OK;
}
struct session {
    const struct fulcrum_measure_options *options;
    struct fulcrum_window_room room;
    struct fulcrum_measurement *found;
    struct fulcrum_calibrate_options calibrate; /* as the pieces are timed */
    struct fulcrum_calibration_run *pieces;     /* NULL: none are timed */
    double start_s;
    bool is_stopped;
};

size_t fulcrum_measure_batch_requests(const struct fulcrum_measure_config *config)
{
    double envs = (double)config->envs_per_actor;
    double requests = config->batch_size / envs;
    if (config->policy == FULCRUM_BATCH_FIXED && config->population_frac > 0.0) {
        requests =
            fmax(1.0, floor(config->population_frac * (double)config->actor_count));
    }
    return (size_t)floor(requests);
}

void fulcrum_measurement_free(struct fulcrum_measurement *measurement)
{
    if (measurement == NULL) {
        return;
    }
    for (size_t i = 0; i < measurement->count; i++) {
        free(measurement->items[i].windows);
    }
    free(measurement->items);
    fulcrum_calibration_free(measurement->pieces);
    free(measurement);
}

static size_t count_calm(const struct fulcrum_measured *item)
{
    size_t calm = 0;
    for (size_t i = 0; i < item->window_count; i++) {
        calm += !item->windows[i].is_disturbed;
    }
    return calm;
}

static bool is_wanted(
    const struct fulcrum_measure_options *options, const struct fulcrum_measured *item)
{
    return item->failure[0] == '\0' && count_calm(item) < options->window_count &&
           item->window_count < options->most_windows;
}

/* Tells whoever waits how far the run is, and asks whether to go on. */
static bool looks_around(void *user)
{
    struct session *session = user;
    const struct fulcrum_measure_options *options = session->options;
    double done = 0.0;
    for (size_t i = 0; i < session->found->count; i++) {
        const struct fulcrum_measured *item = &session->found->items[i];
        double share = (double)item->window_count / (double)options->window_count;
        done += is_wanted(options, item) ? fmin(share, 0.95) : 1.0;
    }
    done /= (double)session->found->count;
    session->is_stopped |=
        fulcrum_listener_told(&options->listener, done, "end to end");
    return session->is_stopped;
}

/* Each has 1 to FULCRUM_MEASURE_ENVS_MOST environments. */
static enum fulcrum_status check_configs(
    const struct fulcrum_measure_options *options, struct fulcrum_error *err)
{
    for (size_t i = 0; i < options->config_count; i++) {
        const struct fulcrum_measure_config *config = &options->configs[i];
        FAIL_IF(config->actor_count == 0 || config->envs_per_actor == 0 ||
                    config->actor_count * config->envs_per_actor >
                        FULCRUM_MEASURE_ENVS_MOST,
            err, FULCRUM_ERR_RANGE,
            "%zu actors with %zu environments: expected 1 to %d environments",
            config->actor_count, config->envs_per_actor,
            (int)FULCRUM_MEASURE_ENVS_MOST);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status new_items(struct session *session, struct fulcrum_error *err)
{
    const struct fulcrum_measure_options *options = session->options;
    struct fulcrum_measurement *found = calloc(1, sizeof *found);
    TRY_MEMORY(found, err, "a measurement");
    session->found = found;
    found->items = calloc(options->config_count, sizeof *found->items);
    TRY_MEMORY(found->items, err, "%zu configurations", options->config_count);
    found->count = options->config_count;
    for (size_t i = 0; i < found->count; i++) {
        struct fulcrum_measured *item = &found->items[i];
        item->config = options->configs[i];
        item->windows = calloc(options->most_windows, sizeof *item->windows);
        TRY_MEMORY(item->windows, err, "%zu windows of %zu", options->most_windows,
            found->count);
    }
    return FULCRUM_OK;
}

/* A loop batches and places its environments in its own way. */
static void lay_out_loop(struct session *session)
{
    const double *fact = session->room.loop_fact;
    for (size_t i = 0; session->room.loop != NULL && i < session->found->count; i++) {
        struct fulcrum_measure_config *config = &session->found->items[i].config;
        size_t envs = config->actor_count * config->envs_per_actor;
        enum fulcrum_loop_way way = fulcrum_loop_way_of(fact);
        bool is_serial = way == FULCRUM_LOOP_SERIAL;
        if (way == FULCRUM_LOOP_ASYNCHRONOUS) {
            config->policy = FULCRUM_BATCH_GREEDY;
            continue;
        }
        config->actor_count = is_serial ? 1 : envs;
        config->envs_per_actor = is_serial ? envs : 1;
        config->policy = FULCRUM_BATCH_FIXED;
        config->batch_size = fact[FULCRUM_LOOP_BATCH_SIZE];
        config->population_frac = config->batch_size > 0.0 ? 0.0 : 1.0;
    }
}

/*
 * Keeps the failure of a window where it is the configuration's own, and opens the
 * environments anew where one of them failed; any other failure is returned.
 */
static enum fulcrum_status keep_failure(struct fulcrum_window_room *room,
    const struct fulcrum_error *why, char failure[FULCRUM_MEASURE_FAILURE_SIZE],
    struct fulcrum_error *err)
{
    FAIL_IF(
        why->status != FULCRUM_ERR_ENVIRONMENT && why->status != FULCRUM_ERR_INFEASIBLE,
        err, why->status, "%s", why->detail);
    (void)snprintf(failure, FULCRUM_MEASURE_FAILURE_SIZE, "%.*s",
        FULCRUM_MEASURE_FAILURE_SIZE - 1, why->detail);
    if (why->status != FULCRUM_ERR_ENVIRONMENT) {
        return FULCRUM_OK;
    }
    close_steppers(room);
    return open_steppers(room, err);
}

static enum fulcrum_status measure_item(
    struct session *session, struct fulcrum_measured *item, struct fulcrum_error *err)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    struct fulcrum_measure_window window = {.steps_per_s = 0.0};
    enum fulcrum_status status =
        fulcrum_window_take(&session->room, &item->config, &window, &why);
    if (status == FULCRUM_OK) {
        item->windows[item->window_count++] = window;
        return FULCRUM_OK;
    }
    if (status == FULCRUM_ERR_INTERRUPTED) {
        session->is_stopped = 1;
        return FULCRUM_OK;
    }
    return keep_failure(&session->room, &why, item->failure, err);
}

/* For as long as the windows of this round took, from `begin_s` on. */
static enum fulcrum_status time_pieces(
    struct session *session, double begin_s, struct fulcrum_error *err)
{
    size_t to_come = 1;
    for (size_t i = 0; i < session->found->count; i++) {
        const struct fulcrum_measured *item = &session->found->items[i];
        size_t calm = count_calm(item);
        size_t left = is_wanted(session->options, item)
                          ? session->options->window_count - calm
                          : 0;
        to_come = left + 1 > to_come ? left + 1 : to_come;
    }
    if (session->pieces == NULL || session->is_stopped) {
        return FULCRUM_OK;
    }
    enum fulcrum_status status = fulcrum_calibration_run_round(
        session->pieces, fulcrum_wall_s() - begin_s, to_come, err);
    /* The windows are as good as ever. */
    return status == FULCRUM_ERR_ENVIRONMENT ? FULCRUM_OK : status;
}

/* A window is so many numbers, of each of which there is a median. */
enum {
    NUMBERS = offsetof(struct fulcrum_measure_window, is_disturbed) / sizeof(double)
};

bool fulcrum_measured_counts(const struct fulcrum_measured *item, size_t i)
{
    double others_frac = item->windows[i].others_frac;
    if (!item->is_disturbed) {
        return !item->windows[i].is_disturbed;
    }
    size_t quieter = 0;
    double least_frac = others_frac;
    for (size_t k = 0; k < item->window_count; k++) {
        quieter += item->windows[k].others_frac < others_frac;
        least_frac = fmin(least_frac, item->windows[k].others_frac);
    }
    return others_frac <= FULCRUM_MEASURE_OTHERS_MOST_FRAC ||
           others_frac - least_frac <= FULCRUM_MEASURE_OTHERS_ALIKE_FRAC ||
           2 * quieter < item->window_count;
}

static void summarise(struct fulcrum_measured *item, double *values)
{
    size_t count = 0;
    item->is_disturbed =
        item->window_count == 0 || 2 * count_calm(item) < item->window_count;
    for (size_t k = NUMBERS; k-- > 0;) {
        count = 0;
        size_t offset = k * sizeof(double);
        for (size_t i = 0; i < item->window_count; i++) {
            if (fulcrum_measured_counts(item, i)) {
                double value = 0.0;
                memcpy(&value, (const char *)&item->windows[i] + offset, sizeof value);
                values[count] = value;
                count += isnan(value) ? 0 : 1;
            }
        }
        gsl_sort(values, 1, count);
        double median =
            count > 0 ? fulcrum_statistics_quantile(values, count, 0.5) : (double)NAN;
        memcpy((char *)&item->median + offset, &median, sizeof median);
    }
    /* The last ones are the rates. */
    item->lo = count > 0 ? values[0] : (double)NAN;
    item->hi = count > 0 ? values[count - 1] : (double)NAN;
}

/* Which windows were disturbed is settled late: the canary's usual time is learnt. */
static enum fulcrum_status settle(struct session *session, struct fulcrum_error *err)
{
    double *values = calloc(session->options->most_windows, sizeof *values);
    TRY_MEMORY(values, err, "medians");
    session->found->is_complete = !session->is_stopped;
    for (size_t i = 0; i < session->found->count; i++) {
        summarise(&session->found->items[i], values);
    }
    free(values);
    struct fulcrum_measurement *found = session->found;
    const struct fulcrum_bench *bench = &session->room.bench;
    found->machine = session->room.machine;
    found->placement = session->room.placement;
    found->actor = bench->stage.actor->name;
    found->actor_info = bench->stage.info;
    found->is_tools = bench->stage.actor->is_tools;
    found->decode_s = session->options->decode_s;
    found->learner = bench->learner != NULL ? bench->learner->name : "its own";
    found->is_loop = session->room.loop != NULL;
    memcpy(found->loop_fact, session->room.loop_fact, sizeof found->loop_fact);
    found->learner_info = bench->learner_info;
    found->train_step_flop = session->room.training.state != NULL
                                 ? session->room.training.info.cost.train_step_flop
                                 : (double)NAN;
    (void)snprintf(found->energy_reason, sizeof found->energy_reason, "%s",
        session->room.energy_reason);
    return session->pieces == NULL ? FULCRUM_OK
                                   : fulcrum_calibration_run_end(session->pieces,
                                         session->is_stopped, &found->pieces, err);
}

enum fulcrum_status fulcrum_measure(struct fulcrum_measurement **out,
    const struct fulcrum_measure_options *options, struct fulcrum_error *err)
{
    struct session session = {.options = options, .start_s = fulcrum_wall_s()};
    enum fulcrum_status status = FULCRUM_OK;
    FAIL_IF(options->config_count == 0, err, FULCRUM_ERR_RANGE, "nothing to measure");
    FAIL_IF(!(options->window_s > 0.0) || options->window_count == 0 ||
                options->most_windows < options->window_count,
        err, FULCRUM_ERR_RANGE,
        "windows of %g s, %zu to %zu of them: expected at least one above 0 s",
        options->window_s, options->window_count, options->most_windows);
    FAIL_IF(!(options->calm_wait_s >= 0.0), err, FULCRUM_ERR_RANGE,
        "a wait of %g s for a calm machine: expected at least 0", options->calm_wait_s);
    TRY(check_configs(options, err));
    TRY_OR_END(new_items(&session, err));
    TRY_OR_END(fulcrum_window_room_open(&session.room, options, err));
    lay_out_loop(&session);
    session.room.listener =
        (struct fulcrum_listener){.stop = looks_around, .user = &session};
    if (options->times_pieces) {
        session.room.bench.listener = session.room.listener;
        session.calibrate = calibrate_options_of(options);
        session.calibrate.listener = session.room.listener;
        TRY_OR_END(fulcrum_calibration_run_new(
            &session.pieces, &session.room.bench, &session.calibrate, err));
    }
    bool took_any = true;
    while (took_any && !session.is_stopped) {
        double begin_s = fulcrum_wall_s();
        took_any = false;
        for (size_t i = 0; i < session.found->count && !looks_around(&session); i++) {
            struct fulcrum_measured *item = &session.found->items[i];
            if (!is_wanted(session.options, item)) {
                continue;
            }
            took_any = true;
            TRY_OR_END(measure_item(&session, item, err));
        }
        if (took_any) {
            TRY_OR_END(time_pieces(&session, begin_s, err));
        }
    }
    status = settle(&session, err);
end:
    fulcrum_calibration_run_free(session.pieces);
    fulcrum_window_room_close(&session.room);
    if (status != FULCRUM_OK) {
        fulcrum_measurement_free(session.found);
        return status;
    }
    *out = session.found;
    return session.is_stopped ? fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED,
                                    "the measurement was stopped after %.3g s",
                                    fulcrum_wall_s() - session.start_s)
                              : FULCRUM_OK;
}

/* The same with stages recorded, and without. */

/* Events of all tracks together, at 24 bytes: what a recording may take of memory. */
#define EVENTS_MOST 4000000

enum { TRACK_EVENTS_LEAST = 4096, TRACK_EVENTS_MOST = 262144 };

struct stages_session {
    const struct fulcrum_measure_stages_options *options;
    struct fulcrum_window_room room;
    struct fulcrum_stages_measurement *found;
    double *recorded_per_s; /* of the configuration at hand, pair by pair; owned with
                               the two behind it */
    double *unrecorded_per_s;
    double *corrected_per_s;
    size_t done_count; /* windows */
};

void fulcrum_stages_measurement_free(struct fulcrum_stages_measurement *measurement)
{
    if (measurement == NULL) {
        return;
    }
    for (size_t i = 0; i < measurement->count; i++) {
        fulcrum_stage_times_free(&measurement->items[i].times);
    }
    free(measurement->items);
    free(measurement);
}

static bool looks_at_stages(void *user)
{
    const struct stages_session *session = user;
    const struct fulcrum_measure_options *measure = session->options->measure;
    double whole = 2.0 * (double)(session->options->pair_count * measure->config_count);
    double done = (double)session->done_count / whole;
    return fulcrum_listener_told(&measure->listener, done, "stages");
}

static enum fulcrum_status take(struct stages_session *session,
    struct fulcrum_measured_stages *item, struct fulcrum_recorder *recorder,
    double *steps_per_s, struct fulcrum_error *err)
{
    struct fulcrum_measure_window window = {.steps_per_s = 0.0};
    session->room.recorder = recorder;
    enum fulcrum_status status =
        fulcrum_window_take(&session->room, &item->config, &window, err);
    session->room.recorder = NULL;
    if (status == FULCRUM_OK) {
        *steps_per_s = window.steps_per_s;
        item->disturbed_count += window.is_disturbed ? 1 : 0;
        session->done_count++;
    }
    return status;
}

/* What the recorder saw, in place of what it saw before. */
static enum fulcrum_status analyse(struct stages_session *session,
    struct fulcrum_measured_stages *item, const struct fulcrum_recorder *recorder,
    size_t pair, struct fulcrum_error *err)
{
    const struct fulcrum_measure_stages_options *options = session->options;
    struct fulcrum_stages_measurement *found = session->found;
    double rate = session->recorded_per_s[pair];
    const struct fulcrum_stage_facts facts = {
        .step_count = rate * fulcrum_recorder_window_s(recorder), .cost = found->cost};
    fulcrum_stage_times_free(&item->times);
    TRY(fulcrum_stage_times_new(&item->times, recorder, &facts, err));
    assert(session->corrected_per_s != NULL);
    session->corrected_per_s[pair] =
        rate * item->times.window_s / item->times.corrected_window_s;
    bool is_last =
        pair + 1 == options->pair_count && item == &found->items[found->count - 1];
    if (options->trace_path == NULL || !is_last) {
        return FULCRUM_OK;
    }
    return fulcrum_recorder_save_trace(
        recorder, options->trace_path, options->span_max, NULL, err);
}

static enum fulcrum_status take_recorded(struct stages_session *session,
    struct fulcrum_measured_stages *item, size_t pair, struct fulcrum_error *err)
{
    size_t tracks = FULCRUM_LIVE_ACTORS + item->config.actor_count;
    size_t capacity = EVENTS_MOST / tracks;
    capacity = capacity < TRACK_EVENTS_LEAST ? TRACK_EVENTS_LEAST : capacity;
    capacity = capacity > TRACK_EVENTS_MOST ? TRACK_EVENTS_MOST : capacity;
    struct fulcrum_recorder *recorder = NULL;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(fulcrum_recorder_new(&recorder, tracks, capacity, err));
    TRY_OR_END(take(session, item, recorder, &session->recorded_per_s[pair], err));
    status = analyse(session, item, recorder, pair, err);
end:
    fulcrum_recorder_free(recorder);
    return status;
}

/* A configuration that cannot run, or whose environment failed, keeps its reason. */
static enum fulcrum_status measure_stages(struct stages_session *session,
    struct fulcrum_measured_stages *item, struct fulcrum_error *err)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < 2 * session->options->pair_count && status == FULCRUM_OK;
         i++) {
        size_t pair = i / 2;
        status = pair % 2 == i % 2 ? take_recorded(session, item, pair, &why)
                                   : take(session, item, NULL,
                                         &session->unrecorded_per_s[pair], &why);
    }
    if (status == FULCRUM_OK) {
        size_t count = session->options->pair_count;
        if (count > 1) {
            status = fulcrum_recorder_cost_of_pairs(&item->pairs,
                session->recorded_per_s, session->unrecorded_per_s, count, err);
        }
        /* Pairs are not needed any more: medians sort them. */
        item->recorded_steps_per_s =
            fulcrum_statistics_median(session->recorded_per_s, count);
        item->unrecorded_steps_per_s =
            fulcrum_statistics_median(session->unrecorded_per_s, count);
        item->corrected_steps_per_s =
            fulcrum_statistics_median(session->corrected_per_s, count);
        return status;
    }
    fulcrum_stage_times_free(&item->times);
    return keep_failure(&session->room, &why, item->failure, err);
}

static enum fulcrum_status new_stages(
    struct stages_session *session, struct fulcrum_error *err)
{
    const struct fulcrum_measure_options *measure = session->options->measure;
    size_t pairs = session->options->pair_count;
    session->recorded_per_s = calloc(pairs, 3 * sizeof *session->recorded_per_s);
    session->found = calloc(1, sizeof *session->found);
    struct fulcrum_measured_stages *items =
        calloc(measure->config_count, sizeof *items);
    if (session->found == NULL || session->recorded_per_s == NULL || items == NULL) {
        free(items);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY,
            "%zu configurations and %zu pairs", measure->config_count, pairs);
    }
    session->unrecorded_per_s = session->recorded_per_s + pairs;
    session->corrected_per_s = session->unrecorded_per_s + pairs;
    session->found->items = items;
    session->found->count = measure->config_count;
    for (size_t i = 0; i < measure->config_count; i++) {
        items[i].config = measure->configs[i];
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_measure_stages(struct fulcrum_stages_measurement **out,
    const struct fulcrum_measure_stages_options *options, struct fulcrum_error *err)
{
    struct stages_session session = {.options = options};
    enum fulcrum_status status = FULCRUM_OK;
    const struct fulcrum_measure_options *measure = options->measure;
    FAIL_IF(measure->config_count == 0 || options->pair_count == 0 ||
                !(measure->window_s > 0.0),
        err, FULCRUM_ERR_RANGE,
        "%zu configurations, %zu pairs of windows of %g s: expected one or more of "
        "each above 0 s",
        measure->config_count, options->pair_count, measure->window_s);
    TRY(check_configs(measure, err));
    TRY_OR_END(new_stages(&session, err));
    TRY_OR_END(fulcrum_window_room_open(&session.room, measure, err));
    session.room.listener =
        (struct fulcrum_listener){.stop = looks_at_stages, .user = &session};
    TRY_OR_END(fulcrum_recorder_cost_measure(&session.found->cost, err));
    for (size_t i = 0; i < session.found->count; i++) {
        TRY_OR_END(measure_stages(&session, &session.found->items[i], err));
    }
    *out = session.found;
end:
    fulcrum_window_room_close(&session.room);
    free(session.recorded_per_s);
    if (status != FULCRUM_OK) {
        fulcrum_stages_measurement_free(session.found);
    }
    return status;
}
