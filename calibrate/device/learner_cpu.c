/* learner_cpu.c - the learner that runs on the calling CPU thread. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "calibrate/device/learners.h"
#include "calibrate/network/layer.h"
#include "calibrate/network/networks.h"
#include "model/try.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

static void denormal_restore(unsigned before);

/* Numbers too small for their exponent are taken for zero. */

/* Results, and operands: bits 15 and 6 of the control register of SSE and AVX. */
#define FLUSH_TO_ZERO      0x8000U
#define DENORMALS_ARE_ZERO 0x0040U

/*
 * From now on the calling thread takes them for zero, where the processor can. Returns
 * what denormal_restore is to be given.
 */
static unsigned denormal_flush(void)
{
#if defined(__SSE2__)
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO);
    return before;
#else
    return 0;
#endif
}

/* The thread computes as it did before that flush. */
static void denormal_restore(unsigned before)
{
#if defined(__SSE2__)
    _mm_setcsr(before);
#else
    (void)before;
#endif
}

/* One of the two networks; the other is NULL. */
struct fulcrum_learner_state {
    struct fulcrum_learner_options options;
    struct fulcrum_r2d2 *r2d2;
    struct fulcrum_mlp *mlp;
};

static enum fulcrum_status open_network(const struct fulcrum_learner_options *options,
    struct fulcrum_learner_state *state, struct fulcrum_error *err)
{
    if (options->network == FULCRUM_NETWORK_R2D2) {
        struct fulcrum_r2d2_options r2d2 = fulcrum_learner_r2d2_options(options);
        return fulcrum_r2d2_new(&state->r2d2, &r2d2, err);
    }
    struct fulcrum_mlp_options mlp = fulcrum_learner_mlp_options(options);
    return fulcrum_mlp_new(&state->mlp, &mlp, err);
}

static struct fulcrum_learner_info describe(const struct fulcrum_learner_state *state,
    const struct fulcrum_learner_options *options)
{
    struct fulcrum_network_cost cost = state->r2d2 != NULL
                                           ? fulcrum_r2d2_cost(state->r2d2)
                                           : fulcrum_mlp_cost(state->mlp);
    struct fulcrum_learner_info info = {
        .input_byte = fulcrum_learner_input_byte(options),
        .parameter_count = cost.parameter_count,
        .forward_flop = cost.forward_flop,
        .train_step_flop = cost.train_step_flop,
        .buffer_byte = cost.buffer_byte};
    fulcrum_gemm_describe(info.backend, sizeof info.backend);
    return info;
}

static void cpu_close(struct fulcrum_learner_state *state)
{
    if (state != NULL) {
        fulcrum_r2d2_free(state->r2d2);
        fulcrum_mlp_free(state->mlp);
        free(state);
    }
}

static enum fulcrum_status cpu_open(const struct fulcrum_learner_options *options,
    struct fulcrum_learner_state **out, struct fulcrum_learner_info *info,
    struct fulcrum_error *err)
{
    TRY(fulcrum_learner_options_check(options, err));
    struct fulcrum_learner_state *state = calloc(1, sizeof *state);
    TRY_MEMORY(state, err, "no memory for a learner");
    state->options = *options;
    fulcrum_gemm_use_one_thread();
    enum fulcrum_status status = open_network(options, state, err);
    if (status != FULCRUM_OK) {
        cpu_close(state);
        return status;
    }
    *info = describe(state, options);
    *out = state;
    return FULCRUM_OK;
}

static void *cpu_input(struct fulcrum_learner_state *state)
{
    return state->r2d2 != NULL ? (void *)fulcrum_r2d2_input(state->r2d2)
                               : (void *)fulcrum_mlp_input(state->mlp);
}

static enum fulcrum_status cpu_forward(struct fulcrum_learner_state *state,
    size_t batch, int *action, struct fulcrum_error *err)
{
    (void)err;
    if (state->r2d2 != NULL) {
        fulcrum_r2d2_infer(state->r2d2, batch, action);
    } else {
        fulcrum_mlp_infer(state->mlp, batch, action);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status cpu_train(
    struct fulcrum_learner_state *state, double *loss, struct fulcrum_error *err)
{
    (void)err;
    unsigned before = denormal_flush();
    *loss = state->r2d2 != NULL ? fulcrum_r2d2_train(state->r2d2)
                                : fulcrum_mlp_train(state->mlp);
    denormal_restore(before);
    return FULCRUM_OK;
}

/* The network's own arrays: what is written to them is there. */
static enum fulcrum_status cpu_train_rows(struct fulcrum_learner_state *state,
    struct fulcrum_train_rows *out, struct fulcrum_error *err)
{
    (void)err;
    if (state->r2d2 != NULL) {
        struct fulcrum_r2d2_replay replay = fulcrum_r2d2_replay_data(state->r2d2);
        *out = fulcrum_learner_r2d2_rows(&state->options, &replay);
    } else {
        struct fulcrum_mlp_minibatch minibatch = fulcrum_mlp_minibatch_data(state->mlp);
        *out = fulcrum_learner_mlp_rows(&state->options, &minibatch);
    }
    return FULCRUM_OK;
}

static enum fulcrum_status cpu_take_rows(
    struct fulcrum_learner_state *state, struct fulcrum_error *err)
{
    (void)state;
    (void)err;
    return FULCRUM_OK;
}

static float *weights_of(const struct fulcrum_learner_state *state)
{
    return state->r2d2 != NULL ? fulcrum_r2d2_parameters(state->r2d2)
                               : fulcrum_mlp_parameters(state->mlp);
}

static size_t weight_byte(const struct fulcrum_learner_state *state)
{
    struct fulcrum_network_cost cost = state->r2d2 != NULL
                                           ? fulcrum_r2d2_cost(state->r2d2)
                                           : fulcrum_mlp_cost(state->mlp);
    return cost.parameter_count * sizeof(float);
}

static enum fulcrum_status cpu_read_weights(
    struct fulcrum_learner_state *state, float *out, struct fulcrum_error *err)
{
    (void)err;
    memcpy(out, weights_of(state), weight_byte(state));
    return FULCRUM_OK;
}

static enum fulcrum_status cpu_write_weights(struct fulcrum_learner_state *state,
    const float *weights, struct fulcrum_error *err)
{
    (void)err;
    memcpy(weights_of(state), weights, weight_byte(state));
    return FULCRUM_OK;
}

const struct fulcrum_learner fulcrum_learner_cpu = {
    .name = "cpu",
    .summary = FULCRUM_LEARNER_CPU_SUMMARY,
    .open = cpu_open,
    .close = cpu_close,
    .input = cpu_input,
    .forward = cpu_forward,
    .train = cpu_train,
    .train_rows = cpu_train_rows,
    .take_rows = cpu_take_rows,
    .read_weights = cpu_read_weights,
    .write_weights = cpu_write_weights,
    .clock = FULCRUM_CLOCK_CPU,
};
