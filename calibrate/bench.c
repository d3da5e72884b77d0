/* bench.c - opens and closes what every probe works with. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/host.h"
#include "calibrate/random.h"
#include "model/try.h"

/* Sizes beyond it are extrapolated. */
#define MAX_BATCH 256

#define THREADS_PER_PROCESSOR 4

/*
 * Beside a load of our own the least time is when that load itself was held up: the
 * median is the usual time there.
 */
#define BUSY_USUAL_FRAC 0.5

/* A rough look at a step: so long, after so much of a warm-up. */
#define LOOK_S    0.01
#define WARM_UP_S 0.03

/* The distance between the seeds of actions, environments and weights. */
#define SEED_STRIDE UINT64_C(0x9e3779b97f4a7c15)

/* Tried in this order where the user names none. */
static const char *const standard_actors[] = {
    "mujoco-humanoid", "libretro", "cartpole", NULL};

int fulcrum_bench_goes_on(const struct fulcrum_bench *bench, double until_s)
{
    if (bench->stops != NULL && bench->stops(bench->user)) {
        return 0;
    }
    return fulcrum_wall_s() < until_s;
}

static enum fulcrum_status open_actor(struct fulcrum_stage *stage, const char *name,
    const struct fulcrum_actor_options *options, struct fulcrum_error *err)
{
    stage->actor = fulcrum_actor_find(name);
    if (stage->actor == NULL) {
        return fulcrum_fail(
            err, FULCRUM_ERR_UNKNOWN_NAME, "there is no actor %s", name);
    }
    return stage->actor->open(options, &stage->shared, &stage->info, err);
}

/*
 * An actor that is not available here gives way to the next standard one; the last one
 * needs no library.
 */
static enum fulcrum_status open_any_actor(struct fulcrum_stage *stage,
    const struct fulcrum_actor_options *options, struct fulcrum_error *err)
{
    struct fulcrum_error why = {FULCRUM_ERR_UNSUPPORTED, "no standard actor"};
    for (size_t i = 0; standard_actors[i] != NULL; i++) {
        enum fulcrum_status status =
            open_actor(stage, standard_actors[i], options, &why);
        if (status == FULCRUM_OK) {
            return FULCRUM_OK;
        }
        if (status != FULCRUM_ERR_UNSUPPORTED && status != FULCRUM_ERR_FILE) {
            break;
        }
    }
    return fulcrum_fail(err, why.status, "%s", why.detail);
}

static enum fulcrum_status open_stage(struct fulcrum_stage *stage,
    const struct fulcrum_calibrate_options *options, struct fulcrum_error *err)
{
    TRY(options->actor != NULL
            ? open_actor(stage, options->actor, &options->actor_options, err)
            : open_any_actor(stage, &options->actor_options, err));
    stage->seed = options->seed + SEED_STRIDE;
    return fulcrum_actions_new(
        &stage->actions, options->seed, stage->info.action_count, err);
}

/* Any input will do: what a network computes takes as long for every picture. */
static void fill_input(struct fulcrum_bench *bench)
{
    unsigned char *input = bench->learner->input(bench->state);
    struct fulcrum_random random = fulcrum_random_seeded(bench->learner_options.seed);
    size_t count = bench->learner_options.max_batch * bench->learner_info.input_byte;
    if (bench->learner_options.network == FULCRUM_NETWORK_R2D2) {
        for (size_t i = 0; i < count; i++) {
            input[i] = (unsigned char)(fulcrum_random_bits(&random) & 255);
        }
        return;
    }
    for (size_t i = 0; i + sizeof(float) <= count; i += sizeof(float)) {
        float value = (float)fulcrum_random_between(&random, -1.0, 1.0);
        memcpy(input + i, &value, sizeof value);
    }
}

static struct fulcrum_nominal_training nominal_of(
    const struct fulcrum_calibrate_options *options)
{
    int is_r2d2 = options->network == FULCRUM_NETWORK_R2D2;
    struct fulcrum_nominal_training nominal = {
        is_r2d2 ? 64.0 : 256.0, is_r2d2 ? 80.0 : 1.0, is_r2d2 ? 40.0 : 0.0};
    if (options->nominal_train_batch > 0.0) {
        nominal.batch = options->nominal_train_batch;
    }
    if (options->nominal_unroll > 0.0 && is_r2d2) {
        nominal.unroll = options->nominal_unroll;
        nominal.burn_in = options->nominal_burn_in;
    }
    return nominal;
}

void fulcrum_bench_accelerator(
    struct fulcrum_machine *machine, const struct fulcrum_learner_info *info)
{
    if (!info->is_gpu) {
        return;
    }
    machine->accelerator = FULCRUM_ACCELERATOR_GPU;
    machine->gpu.count = 1.0;
    machine->gpu.sm_count = info->granted_sm_count;
    machine->gpu.clock_hz = info->clock_hz;
    machine->gpu.memory_byte = info->memory_byte;
    (void)snprintf(machine->gpu.name, sizeof machine->gpu.name, "%.*s",
        (int)sizeof machine->gpu.name - 1, info->device_name);
}

static enum fulcrum_status open_learner(struct fulcrum_bench *bench,
    const struct fulcrum_calibrate_options *options, struct fulcrum_error *err)
{
    const char *name = options->learner != NULL ? options->learner : "cpu";
    bench->learner = fulcrum_learner_find(name);
    if (bench->learner == NULL) {
        return fulcrum_fail(
            err, FULCRUM_ERR_UNKNOWN_NAME, "there is no learner %s", name);
    }
    bench->nominal = nominal_of(options);
    bench->learner_options = (struct fulcrum_learner_options){
        .network = options->network,
        .max_batch = MAX_BATCH,
        .input_count = bench->stage.info.observation_count,
        .action_count = bench->stage.info.action_count,
        .train_batch = 1,
        .train_unroll = 1,
        .seed = options->seed + 2 * SEED_STRIDE,
        .device_index = options->device_index,
        .sm_count = options->sm_count,
    };
    TRY(bench->learner->open(
        &bench->learner_options, &bench->state, &bench->learner_info, err));
    fulcrum_bench_accelerator(&bench->machine, &bench->learner_info);
    bench->action = calloc(MAX_BATCH, sizeof *bench->action);
    if (bench->action == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%d actions", MAX_BATCH);
    }
    fill_input(bench);
    return FULCRUM_OK;
}

/* Mean time of the steps that fit into `during_s`. */
static enum fulcrum_status look(struct fulcrum_stepper *stepper, double during_s,
    double *out, struct fulcrum_error *err)
{
    double begin_s = fulcrum_wall_s();
    double count = 0.0;
    double spent_s = 0.0;
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t burst = 1; spent_s < during_s && status == FULCRUM_OK; burst *= 2) {
        status = fulcrum_stepper_run(stepper, burst, NULL, err);
        count += (double)burst;
        spent_s = fulcrum_wall_s() - begin_s;
    }
    *out = fmax(spent_s / count, 1e-9);
    return status;
}

static enum fulcrum_status look_at_step(
    struct fulcrum_bench *bench, struct fulcrum_error *err)
{
    struct fulcrum_stepper stepper = {0};
    enum fulcrum_status status = fulcrum_stepper_open(&stepper, &bench->stage, 0, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    status = look(&stepper, WARM_UP_S, &bench->step_s, err);
    if (status == FULCRUM_OK) {
        status = look(&stepper, LOOK_S, &bench->step_s, err);
    }
    fulcrum_stepper_close(&stepper);
    return status;
}

enum fulcrum_status fulcrum_bench_open(struct fulcrum_bench *out,
    const struct fulcrum_calibrate_options *options, struct fulcrum_error *err)
{
    *out = (struct fulcrum_bench){
        .meter_root = options->meter_root != NULL ? options->meter_root : ""};
    out->busy.usual_frac = BUSY_USUAL_FRAC;
    fulcrum_host_detect(&out->machine);
    out->stopwatch = fulcrum_stopwatch_calibrated();
    size_t most = THREADS_PER_PROCESSOR * (size_t)out->machine.cpu.thread_count;
    out->max_threads = options->max_threads > 0 ? options->max_threads : most;
    TRY(open_stage(&out->stage, options, err));
    TRY(open_learner(out, options, err));
    return look_at_step(out, err);
}

void fulcrum_bench_close(struct fulcrum_bench *bench)
{
    if (bench->state != NULL) {
        bench->learner->close(bench->state);
    }
    if (bench->stage.shared != NULL) {
        bench->stage.actor->close(bench->stage.shared);
    }
    fulcrum_actions_free(&bench->stage.actions);
    fulcrum_canary_free(&bench->alone);
    fulcrum_canary_free(&bench->busy);
    free(bench->action);
    *bench = (struct fulcrum_bench){0};
}
