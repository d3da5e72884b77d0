/* learner_torch.c - networks of PyTorch, run and timed in a process of Python. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The worker (frameworks/torch_learner.py) makes its own rows, repeats what it is asked
 * for and tells how long that took, so that the exchange is no part of it. PyTorch
 * takes seconds to import: a state with a sibling shares its worker and its module, and
 * has nothing but the size of a training step of its own.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/actor/actor.h"
#include "calibrate/device/learner.h"
#include "model/try.h"

struct fulcrum_learner_state {
    struct fulcrum_actor_shared *shared; /* NULL: the sibling's worker */
    struct fulcrum_actor_info told;
    struct fulcrum_env *worker;
    unsigned char *input; /* for callers to fill: the worker has rows of its own */
    size_t train_size;    /* packed */
};

static const struct fulcrum_actor *const worker_kind = &fulcrum_actor_torch_learner;

static void torch_close(struct fulcrum_learner_state *state)
{
    if (state == NULL) {
        return;
    }
    if (state->shared != NULL) {
        worker_kind->env_free(state->worker);
        worker_kind->close(state->shared);
    }
    free(state->input);
    free(state);
}

static const char *module_of(const struct fulcrum_learner_options *options)
{
    return options->make != NULL ? options->make
                                 : fulcrum_learner_network_name(options->network);
}

/* Sequences are what network r2d2 trains on, and nothing else does. */
static enum fulcrum_status check_module(
    const struct fulcrum_learner_options *options, struct fulcrum_error *err)
{
    const char *module = module_of(options);
    bool is_recurrent = strcmp(module, "r2d2") == 0;
    FAIL_IF(is_recurrent != (options->network == FULCRUM_NETWORK_R2D2), err,
        FULCRUM_ERR_RANGE, "learner torch: %.100s trains on %s: --network %s", module,
        is_recurrent ? "sequences" : "samples", is_recurrent ? "r2d2" : "mlp");
    return FULCRUM_OK;
}

static enum fulcrum_status start(struct fulcrum_learner_state *state,
    const struct fulcrum_learner_options *options, struct fulcrum_error *err)
{
    char arguments[160];
    (void)snprintf(arguments, sizeof arguments,
        "observation_count=%zu,action_count=%zu,seed=%llu", options->input_count,
        options->action_count, (unsigned long long)options->seed);
    const struct fulcrum_actor_options worker = {
        .make = module_of(options), .python = options->python, .arguments = arguments};
    TRY(worker_kind->open(&worker, &state->shared, &state->told, err));
    TRY(worker_kind->env_new(state->shared, 1, &state->worker, err));
    return worker_kind->await(state->worker, err);
}

/* "NVIDIA H200: PyTorch 2.6.0, ..." is the device and what is known besides. */
static void read_device(
    const struct fulcrum_learner_state *state, struct fulcrum_device_info *out)
{
    const char *text = state->told.detail;
    const char *colon = strstr(text, ": ");
    size_t length = colon != NULL ? (size_t)(colon - text) : 0;
    (void)snprintf(out->detail, sizeof out->detail, "%s",
        colon != NULL ? colon + strlen(": ") : text);
    if (out->is_gpu) {
        (void)snprintf(out->name, sizeof out->name, "%.*s", (int)length, text);
    }
}

static enum fulcrum_status read_facts(const struct fulcrum_learner_state *state,
    const struct fulcrum_learner_options *options, struct fulcrum_learner_info *info,
    struct fulcrum_error *err)
{
    double fact[FULCRUM_LOOP_FIGURES];
    TRY(worker_kind->time(state->worker,
        (struct fulcrum_loop_task){FULCRUM_LOOP_FACTS, 0, 0.0}, fact, err));
    size_t element =
        state->told.observation_kind == FULCRUM_OBSERVE_UINT8 ? 1 : sizeof(float);
    double clock_hz = fact[FULCRUM_LOOP_LEARNER_CLOCK_HZ];
    double sm_count = fact[FULCRUM_LOOP_LEARNER_SM_COUNT];
    *info = (struct fulcrum_learner_info){
        .input_byte = state->told.observation_count * element,
        .device = {.is_gpu = sm_count > 0.0,
            .is_wide = sm_count > 0.0,
            .sm_count = sm_count,
            .granted_sm_count =
                sm_count > 0.0 ? sm_count : fact[FULCRUM_LOOP_LEARNER_THREAD_COUNT],
            .clock_hz = clock_hz > 0.0 ? clock_hz : (double)NAN,
            .memory_byte = fact[FULCRUM_LOOP_LEARNER_DEVICE_BYTE]}};
    read_device(state, &info->device);
    /* Backward passes take twice what forward ones do; sequences are passed over by the
     * target network too, and burn-in is forward only. */
    bool is_recurrent = options->network == FULCRUM_NETWORK_R2D2;
    double passes = is_recurrent ? 4.0 * (double)(options->train_unroll + 1) +
                                       2.0 * (double)options->train_burn_in
                                 : 3.0;
    info->cost.forward_flop = fact[FULCRUM_LOOP_LEARNER_FORWARD_FLOP];
    info->cost.train_step_flop =
        passes * (double)options->train_batch * info->cost.forward_flop;
    info->cost.parameter_count = (size_t)fact[FULCRUM_LOOP_LEARNER_PARAMETER_COUNT];
    info->cost.buffer_byte = (size_t)fact[FULCRUM_LOOP_LEARNER_MEMORY_BYTE];
    return FULCRUM_OK;
}

static enum fulcrum_status begin(struct fulcrum_learner_state *state,
    const struct fulcrum_learner_options *options, struct fulcrum_learner_info *info,
    struct fulcrum_error *err)
{
    if (options->sibling != NULL) {
        state->told = options->sibling->told;
        state->worker = options->sibling->worker;
    } else {
        TRY(start(state, options, err));
    }
    TRY(read_facts(state, options, info, err));
    state->input = calloc(options->max_batch, info->input_byte);
    TRY_MEMORY(state->input, err, "%zu observations", options->max_batch);
    state->train_size = FULCRUM_LOOP_TRAIN_SIZE(
        options->train_batch, options->train_unroll, options->train_burn_in);
    return FULCRUM_OK;
}

static enum fulcrum_status torch_open(const struct fulcrum_learner_options *options,
    struct fulcrum_learner_state **out, struct fulcrum_learner_info *info,
    struct fulcrum_error *err)
{
    struct fulcrum_error why = {FULCRUM_OK, ""};
    TRY(fulcrum_learner_options_check(options, err));
    TRY(check_module(options, err));
    struct fulcrum_learner_state *state = calloc(1, sizeof *state);
    TRY_MEMORY(state, err, "a learner");
    enum fulcrum_status status = begin(state, options, info, &why);
    if (status != FULCRUM_OK) {
        torch_close(state);
        /* No PyTorch, no such module: it is not available here. */
        bool is_absent = status == FULCRUM_ERR_ENVIRONMENT && options->sibling == NULL;
        return fulcrum_fail(
            err, is_absent ? FULCRUM_ERR_UNSUPPORTED : status, "%s", why.detail);
    }
    *out = state;
    return FULCRUM_OK;
}

static void *torch_input(struct fulcrum_learner_state *state)
{
    return state->input;
}

static enum fulcrum_status torch_time(struct fulcrum_learner_state *state, size_t batch,
    size_t repeats, struct fulcrum_span *out, struct fulcrum_error *err)
{
    double found[FULCRUM_LOOP_FIGURES] = {0.0};
    enum fulcrum_loop_piece piece =
        batch > 0 ? FULCRUM_LOOP_FORWARD : FULCRUM_LOOP_TRAIN;
    if (repeats > 0) {
        /* A half more, as what is no whole number of microseconds is cut off. */
        TRY(worker_kind->time(state->worker,
            (struct fulcrum_loop_task){piece, batch > 0 ? batch : state->train_size,
                1e-6 * ((double)repeats + 0.5)},
            found, err));
    }
    *out = (struct fulcrum_span){
        found[FULCRUM_LOOP_WORK_WALL_S], found[FULCRUM_LOOP_WORK_CPU_S]};
    return FULCRUM_OK;
}

static enum fulcrum_status torch_usage(struct fulcrum_learner_state *state,
    size_t batch, double *copy_s, double *memory_byte, struct fulcrum_error *err)
{
    double found[FULCRUM_LOOP_FIGURES] = {0.0};
    TRY(worker_kind->time(state->worker,
        (struct fulcrum_loop_task){FULCRUM_LOOP_FORWARD, batch, 1.5e-6}, found, err));
    *copy_s = found[FULCRUM_LOOP_WORK_COPY_S];
    *memory_byte = found[FULCRUM_LOOP_WORK_MEMORY_BYTE];
    return FULCRUM_OK;
}

/* The worker keeps its actions to itself. */
static enum fulcrum_status torch_forward(struct fulcrum_learner_state *state,
    size_t batch, int *action, struct fulcrum_error *err)
{
    struct fulcrum_span span;
    TRY(torch_time(state, batch, 1, &span, err));
    memset(action, 0, batch * sizeof *action);
    return FULCRUM_OK;
}

static enum fulcrum_status torch_train(
    struct fulcrum_learner_state *state, double *loss, struct fulcrum_error *err)
{
    struct fulcrum_span span;
    TRY(torch_time(state, 0, 1, &span, err));
    *loss = 0.0;
    return FULCRUM_OK;
}

const struct fulcrum_learner fulcrum_learner_torch = {
    .name = "torch",
    .summary = "PyTorch on what it finds, module of one's own (--make; needs Python)",
    .open = torch_open,
    .close = torch_close,
    .input = torch_input,
    .forward = torch_forward,
    .train = torch_train,
    .time = torch_time,
    .usage = torch_usage,
    .clock = FULCRUM_CLOCK_WALL,
};
