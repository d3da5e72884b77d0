/* networks.c - the networks on a device. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Weights, optimiser, rows to train on and all that passes keep are places of one arena
 * that is taken once, so that a training step allocates nothing and its time is that of
 * its arithmetic; only observations, actions and the loss travel. They are written out
 * in C, on products and a few kernels alone, for two reasons: the work per step is
 * known exactly and can be counted, and what is measured is a learner, not a
 * framework's overhead. They are not meant to learn.
 */
#include "calibrate/device/networks.h"

#include <assert.h>
#include <stdlib.h>

#include "model/try.h"

/* An array of training rows: on the device, and in the host's memory while wanted. */
struct rows {
    fulcrum_place place;
    size_t count;
    size_t element_byte;
    bool is_index; /* an int here, a float on the device */
    void *host;
};

/* Rows that the caller may write come first, then those that stay random. */
enum { CALLERS_ROWS = 3, ALL_ROWS = 5 };

/* What one kind of network does in its own way. */
struct kind {
    /* First weights and rows, in the host's memory. */
    void (*init)(const struct fulcrum_learner_state *network, float *parameters,
        struct fulcrum_random *random);
    /* Completes the rows by what the first weights, on the device, say; may be NULL. */
    enum fulcrum_status (*judge)(const struct fulcrum_learner_state *network,
        struct fulcrum_random *random, struct fulcrum_error *err);
    /* Queues the passes from the input to `inferred`. */
    void (*infer)(struct fulcrum_learner_state *network, size_t batch);
    /* Queues the passes that leave losses of rows and the gradients. */
    void (*learn)(struct fulcrum_learner_state *network);
};

/* What both kinds have; the first member of either. */
struct fulcrum_learner_state {
    const struct kind *kind;
    struct fulcrum_compute compute;
    struct fulcrum_arena arena;
    struct fulcrum_network_cost cost;
    struct fulcrum_adam adam;
    uint64_t seed;
    size_t max_batch;
    size_t input_byte; /* of one row */
    size_t action_count;
    size_t inferred_count; /* columns of `inferred`: actions first */
    unsigned char *host_input;
    float *host_action;
    fulcrum_place input;
    fulcrum_place action;
    fulcrum_place inferred;
    fulcrum_place parameters;
    fulcrum_place target_parameters; /* or nowhere */
    fulcrum_place gradients;
    fulcrum_place sums; /* scratch of sums of rows */
    struct rows rows[ALL_ROWS];
    size_t step_count; /* observations of a sequence, or 1 */
    size_t train_batch;
    size_t loss_count;
    fulcrum_place row_loss;
    fulcrum_place loss;
};

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Takes what both kinds have, all but `inferred` and the sums. */
static void take_places(struct fulcrum_learner_state *network, size_t parameter_count)
{
    struct fulcrum_arena *arena = &network->arena;
    size_t input_byte = network->max_batch * network->input_byte;
    network->parameters = fulcrum_arena_take(arena, parameter_count);
    network->target_parameters = FULCRUM_NOWHERE;
    network->gradients = fulcrum_arena_take(arena, parameter_count);
    network->adam.parameter_count = parameter_count;
    network->adam.parameters = network->parameters;
    network->adam.gradients = network->gradients;
    network->adam.mean = fulcrum_arena_take(arena, parameter_count);
    network->adam.square = fulcrum_arena_take(arena, parameter_count);
    network->input = fulcrum_arena_take(arena, (input_byte + 3) / sizeof(float));
    network->action = fulcrum_arena_take(arena, network->max_batch);
    network->row_loss = fulcrum_arena_take(arena, network->loss_count);
    network->loss = fulcrum_arena_take(arena, 1);
    for (size_t i = 0; i < ALL_ROWS; i++) {
        size_t byte = network->rows[i].count * network->rows[i].element_byte;
        network->rows[i].place = fulcrum_arena_take(arena, (byte + 3) / sizeof(float));
    }
}

static void upload(const struct fulcrum_learner_state *network, fulcrum_place to,
    const void *from, size_t byte)
{
    network->compute.device->upload(network->compute.state, to, from, byte);
}

static enum fulcrum_status finish(
    const struct fulcrum_learner_state *network, struct fulcrum_error *err)
{
    return network->compute.device->finish(network->compute.state, err);
}

static enum fulcrum_status take_rows(
    struct fulcrum_learner_state *network, size_t count, struct fulcrum_error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct rows *rows = &network->rows[i];
        if (rows->host == NULL && rows->count > 0) {
            rows->host = calloc(rows->count, rows->element_byte);
            TRY_MEMORY(rows->host, err,
                "no memory for the %zu rows that a network is trained on",
                network->loss_count);
        }
    }
    return FULCRUM_OK;
}

static void drop_rows(struct fulcrum_learner_state *network)
{
    for (size_t i = 0; i < ALL_ROWS; i++) {
        free(network->rows[i].host);
        network->rows[i].host = NULL;
    }
}

/* Indices that are turned into floats at a time. */
enum { INDEX_BLOCK = 1024 };

static void upload_indices(
    const struct fulcrum_learner_state *network, const struct rows *rows)
{
    const int *index = rows->host;
    float block[INDEX_BLOCK];
    size_t filled = 0;
    for (size_t i = 0; i < rows->count; i++) {
        block[filled] = (float)index[i];
        filled++;
        if (filled == INDEX_BLOCK || i + 1 == rows->count) {
            upload(network, fulcrum_place_at(rows->place, i + 1 - filled), block,
                filled * sizeof *block);
            filled = 0;
        }
    }
}

static void upload_rows(const struct fulcrum_learner_state *network)
{
    for (size_t i = 0; i < ALL_ROWS; i++) {
        const struct rows *rows = &network->rows[i];
        if (rows->host != NULL && rows->is_index) {
            upload_indices(network, rows);
        } else if (rows->host != NULL) {
            upload(network, rows->place, rows->host, rows->count * rows->element_byte);
        }
    }
}

/* The same random numbers in the same order on every device. */
static enum fulcrum_status fill_network(
    struct fulcrum_learner_state *network, struct fulcrum_error *err)
{
    struct fulcrum_random random = fulcrum_random_seeded(network->seed);
    size_t byte = network->cost.parameter_count * sizeof(float);
    float *parameters = calloc(network->cost.parameter_count, sizeof *parameters);
    TRY_MEMORY(parameters, err, "no memory for the weights of a network");
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(take_rows(network, ALL_ROWS, err));
    network->kind->init(network, parameters, &random);
    upload(network, network->parameters, parameters, byte);
    if (network->target_parameters != FULCRUM_NOWHERE) {
        upload(network, network->target_parameters, parameters, byte);
    }
    upload_rows(network);
    if (network->kind->judge != NULL) {
        TRY_OR_END(network->kind->judge(network, &random, err));
    }
    TRY_OR_END(finish(network, err));
end:
    free(parameters);
    drop_rows(network);
    return status;
}

/* The last part of making either kind: its places are taken, its cost is counted. */
static enum fulcrum_status open_network(struct fulcrum_learner_state **out,
    struct fulcrum_learner_state *network, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    network->cost.buffer_byte = (size_t)network->arena.taken * sizeof(float);
    network->host_input = calloc(network->max_batch, network->input_byte);
    network->host_action = calloc(network->max_batch, sizeof *network->host_action);
    if (network->host_input == NULL || network->host_action == NULL) {
        TRY_OR_END(fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY,
            "no memory for the input of a network with max_batch = %zu and "
            "observations of %zu bytes",
            network->max_batch, network->input_byte));
    }
    TRY_OR_END(fulcrum_arena_reserve(&network->arena, &network->compute, err));
    TRY_OR_END(fill_network(network, err));
    *out = network;
end:
    if (status != FULCRUM_OK) {
        fulcrum_network_free(network);
    }
    return status;
}

void fulcrum_network_free(struct fulcrum_learner_state *network)
{
    if (network != NULL) {
        drop_rows(network);
        free(network->host_input);
        free(network->host_action);
        free(network);
    }
}

void *fulcrum_network_input(struct fulcrum_learner_state *network)
{
    return network->host_input;
}

enum fulcrum_status fulcrum_network_infer(struct fulcrum_learner_state *network,
    size_t batch, int *action, struct fulcrum_error *err)
{
    assert(batch >= 1 && batch <= network->max_batch);
    upload(network, network->input, network->host_input, batch * network->input_byte);
    network->kind->infer(network, batch);
    const struct fulcrum_compute *compute = &network->compute;
    fulcrum_compute_launch(compute, FULCRUM_KERNEL_LARGEST, batch, 1,
        &(struct fulcrum_kernel_arguments){
            .place = {network->action, network->inferred},
            .count = {fulcrum_compute_count(network->action_count),
                fulcrum_compute_count(network->inferred_count)}});
    compute->device->download(compute->state, network->host_action, network->action,
        batch * sizeof *network->host_action);
    TRY(finish(network, err));
    for (size_t i = 0; i < batch; i++) {
        action[i] = (int)network->host_action[i];
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_network_train(
    struct fulcrum_learner_state *network, double *loss, struct fulcrum_error *err)
{
    const struct fulcrum_compute *compute = &network->compute;
    const size_t count = network->cost.parameter_count;
    const struct fulcrum_compute_sum of_losses = {.row_count = network->loss_count,
        .col_count = 1,
        .value = network->row_loss,
        .sums = network->loss,
        .factor = 1.0F / (float)network->loss_count,
        .scratch = network->sums};
    float mean = 0.0F;
    fulcrum_compute_fill(compute, network->gradients, count, 0.0F);
    network->kind->learn(network);
    fulcrum_compute_sum_rows(compute, &of_losses);
    fulcrum_compute_adam(compute, &network->adam);
    bool is_renewed = network->target_parameters != FULCRUM_NOWHERE &&
                      network->adam.step_count % FULCRUM_R2D2_TARGET_PERIOD == 0;
    if (is_renewed) {
        fulcrum_compute_copy(
            compute, network->target_parameters, network->parameters, count);
    }
    compute->device->download(compute->state, &mean, network->loss, sizeof mean);
    TRY(finish(network, err));
    *loss = (double)mean;
    return FULCRUM_OK;
}

/* Row arrays of the caller: observations, actions and the perceptron's logarithms. */
enum fulcrum_status fulcrum_network_rows(struct fulcrum_learner_state *network,
    struct fulcrum_train_rows *out, struct fulcrum_error *err)
{
    const struct rows *rows = network->rows;
    TRY(take_rows(network, CALLERS_ROWS, err));
    *out = (struct fulcrum_train_rows){.batch_count = network->train_batch,
        .step_count = network->step_count,
        .observation = rows[0].host};
    if (rows[1].is_index) {
        out->index = rows[1].host;
    } else {
        out->action = rows[1].host;
        out->action_count = network->action_count;
        out->log_probability = rows[2].host;
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_network_load_rows(
    struct fulcrum_learner_state *network, struct fulcrum_error *err)
{
    upload_rows(network);
    return finish(network, err);
}

enum fulcrum_status fulcrum_network_read_weights(
    struct fulcrum_learner_state *network, float *out, struct fulcrum_error *err)
{
    network->compute.device->download(network->compute.state, out, network->parameters,
        network->cost.parameter_count * sizeof *out);
    return finish(network, err);
}

enum fulcrum_status fulcrum_network_write_weights(struct fulcrum_learner_state *network,
    const float *weights, struct fulcrum_error *err)
{
    upload(network, network->parameters, weights,
        network->cost.parameter_count * sizeof *weights);
    return finish(network, err);
}

enum fulcrum_status fulcrum_network_grant(struct fulcrum_learner_state *network,
    double sm_count, double *granted, struct fulcrum_error *err)
{
    const struct fulcrum_device *device = network->compute.device;
    FAIL_IF(device->grant == NULL, err, FULCRUM_ERR_UNSUPPORTED,
        "the %s device cannot be divided", device->name);
    return device->grant(network->compute.state, sm_count, granted, err);
}

struct fulcrum_network_places fulcrum_network_places_of(
    const struct fulcrum_learner_state *network)
{
    return (struct fulcrum_network_places){.compute = network->compute,
        .input_byte = network->input_byte,
        .cost = network->cost,
        .parameters = network->parameters,
        .target_parameters = network->target_parameters,
        .gradients = network->gradients,
        .inferred = network->inferred};
}

/*
 * Three hidden layers, a Gaussian policy and a value on one trunk, the clipped loss of
 * PPO (Schulman et al., 2017) and Adam: the size of network that continuous control is
 * trained with. The minibatch's old probabilities are made by the host from what the
 * first policy, on the device, says of its actions.
 */

enum { LAYER_COUNT = 4 };
enum { MLP_INPUT, MLP_ACTION, MLP_OLD_LOG_PROBABILITY, MLP_ADVANTAGE, MLP_TARGET };

/* Schulman et al. (2017), table 3 (MuJoCo); the value has the usual weight, 1/2. */
#define PPO_CLIP_FRAC    0.2F
#define PPO_VALUE_WEIGHT 0.5F
#define PPO_ADAM_RATE    3e-4
/* Adam's own default, which the paper leaves unsaid. */
#define PPO_ADAM_EPSILON 1e-8

/* log(2 pi) / 2 */
static const double log_normal = 0.91893853320467274;

struct mlp {
    struct fulcrum_learner_state base;
    struct fulcrum_linear dense[LAYER_COUNT];
    size_t log_std; /* behind the layers: a log standard deviation per action */
    fulcrum_place inferred[LAYER_COUNT];
    fulcrum_place trained[LAYER_COUNT];
    fulcrum_place trained_gradient[LAYER_COUNT];
    fulcrum_place log_std_gradient; /* of every sample */
    fulcrum_place floats;           /* where the input is bytes; else nowhere */
};

/* Lays out the parameters, and counts them and the work. */
static void make_layers(struct mlp *mlp, const struct fulcrum_mlp_options *options)
{
    size_t input_count = options->input_count;
    double mac_count = 0.0;
    for (size_t i = 0; i < LAYER_COUNT; i++) {
        bool is_last = i + 1 == LAYER_COUNT;
        mlp->dense[i] = fulcrum_linear_make(&mlp->log_std, input_count,
            is_last ? options->action_count + 1 : options->hidden_count,
            is_last ? FULCRUM_LINEAR : FULCRUM_RELU);
        input_count = mlp->dense[i].output_count;
        mac_count += fulcrum_linear_mac_count(&mlp->dense[i]);
    }
    /* Backward: gradients of weights and of inputs, but not of the observations. */
    double train_mac_count = 3.0 * mac_count - fulcrum_linear_mac_count(&mlp->dense[0]);
    mlp->base.cost = (struct fulcrum_network_cost){
        .parameter_count = mlp->log_std + options->action_count,
        .forward_flop = 2.0 * mac_count,
        .train_step_flop = 2.0 * (double)options->train_batch * train_mac_count};
}

static void fill_bytes(const struct rows *rows, struct fulcrum_random *random)
{
    unsigned char *bytes = rows->host;
    for (size_t i = 0; i < rows->count; i++) {
        bytes[i] = (unsigned char)(fulcrum_random_bits(random) & 255);
    }
}

/* Weights, then the minibatch; biases and log standard deviations stay zero. */
static void mlp_init(const struct fulcrum_learner_state *network, float *parameters,
    struct fulcrum_random *random)
{
    static const size_t drawn[] = {MLP_INPUT, MLP_ACTION, MLP_ADVANTAGE, MLP_TARGET};
    const struct mlp *mlp = (const struct mlp *)network;
    for (size_t i = 0; i < LAYER_COUNT; i++) {
        fulcrum_linear_init(&mlp->dense[i], parameters, random);
    }
    for (size_t k = 0; k < sizeof drawn / sizeof drawn[0]; k++) {
        const struct rows *rows = &network->rows[drawn[k]];
        float *values = rows->host;
        if (rows->element_byte == 1) {
            fill_bytes(rows, random);
            continue;
        }
        for (size_t i = 0; i < rows->count; i++) {
            values[i] = (float)fulcrum_random_between(random, -1.0, 1.0);
        }
    }
}

/* Where the floats of rows are that may be bytes. */
static fulcrum_place mlp_floats(
    const struct mlp *mlp, fulcrum_place input, size_t row_count)
{
    if (mlp->floats == FULCRUM_NOWHERE) {
        return input;
    }
    fulcrum_compute_floats(
        &mlp->base.compute, mlp->floats, input, row_count, mlp->dense[0].input_count);
    return mlp->floats;
}

static void mlp_forward(const struct mlp *mlp, fulcrum_place input, size_t row_count,
    const fulcrum_place *outputs)
{
    struct fulcrum_pass pass = {.compute = &mlp->base.compute,
        .parameters = mlp->base.parameters,
        .row_count = row_count,
        .input = mlp_floats(mlp, input, row_count)};
    for (size_t i = 0; i < LAYER_COUNT; i++) {
        pass.output = outputs[i];
        fulcrum_linear_forward(&mlp->dense[i], &pass);
        pass.input = pass.output;
    }
}

/*
 * Sets the old probabilities near those of the first policy, whose standard deviations
 * are one, so that some samples are clipped and some are not.
 */
static enum fulcrum_status mlp_judge(const struct fulcrum_learner_state *network,
    struct fulcrum_random *random, struct fulcrum_error *err)
{
    const struct mlp *mlp = (const struct mlp *)network;
    const struct fulcrum_compute *compute = &network->compute;
    const struct rows *old = &network->rows[MLP_OLD_LOG_PROBABILITY];
    const float *action = network->rows[MLP_ACTION].host;
    float *old_log_probability = old->host;
    size_t actions = network->action_count;
    size_t count = old->count * network->inferred_count;
    float *output = calloc(count, sizeof *output);
    TRY_MEMORY(output, err, "no memory for the output of a network");
    enum fulcrum_status status = FULCRUM_OK;
    mlp_forward(mlp, network->rows[MLP_INPUT].place, old->count, mlp->trained);
    compute->device->download(
        compute->state, output, mlp->trained[LAYER_COUNT - 1], count * sizeof *output);
    TRY_OR_END(finish(network, err));
    for (size_t i = 0; i < old->count; i++) {
        double log_probability = 0.0;
        for (size_t j = 0; j < actions; j++) {
            double z = (double)action[i * actions + j] -
                       (double)output[i * network->inferred_count + j];
            log_probability -= 0.5 * z * z + log_normal;
        }
        /* Ratios in exp(+-0.3): a third of them lies outside 1 +- clip_frac. */
        old_log_probability[i] =
            (float)(log_probability + fulcrum_random_between(random, -0.3, 0.3));
    }
    upload(network, old->place, old_log_probability, old->count * old->element_byte);
end:
    free(output);
    return status;
}

static void mlp_infer(struct fulcrum_learner_state *network, size_t batch)
{
    const struct mlp *mlp = (const struct mlp *)network;
    mlp_forward(mlp, network->input, batch, mlp->inferred);
}

static void mlp_learn(struct fulcrum_learner_state *network)
{
    const struct mlp *mlp = (const struct mlp *)network;
    fulcrum_place input = network->rows[MLP_INPUT].place;
    struct fulcrum_pass pass = {.compute = &network->compute,
        .parameters = network->parameters,
        .row_count = network->train_batch,
        .sums = network->sums,
        .gradients = network->gradients};
    mlp_forward(mlp, input, pass.row_count, mlp->trained);
    input = mlp->floats != FULCRUM_NOWHERE ? mlp->floats : input;
    fulcrum_place log_std = (fulcrum_place)mlp->log_std;
    fulcrum_compute_launch(pass.compute, FULCRUM_KERNEL_PPO, network->loss_count, 1,
        &(struct fulcrum_kernel_arguments){
            .place = {mlp->trained[LAYER_COUNT - 1],
                fulcrum_place_at(network->parameters, log_std),
                network->rows[MLP_ACTION].place,
                network->rows[MLP_OLD_LOG_PROBABILITY].place,
                network->rows[MLP_ADVANTAGE].place, network->rows[MLP_TARGET].place,
                mlp->trained_gradient[LAYER_COUNT - 1], mlp->log_std_gradient,
                network->row_loss},
            .count = {fulcrum_compute_count(network->action_count)},
            .number = {PPO_CLIP_FRAC, PPO_VALUE_WEIGHT}});
    const struct fulcrum_compute_sum of_log_std = {.row_count = network->loss_count,
        .col_count = network->action_count,
        .value = mlp->log_std_gradient,
        .sums = fulcrum_place_at(network->gradients, log_std),
        .is_added = 1,
        .factor = 1.0F,
        .scratch = network->sums};
    fulcrum_compute_sum_rows(pass.compute, &of_log_std);
    for (size_t i = LAYER_COUNT; i > 0; i--) {
        size_t layer = i - 1;
        pass.input = layer > 0 ? mlp->trained[layer - 1] : input;
        pass.output = mlp->trained[layer];
        pass.output_gradient = mlp->trained_gradient[layer];
        pass.input_gradient =
            layer > 0 ? mlp->trained_gradient[layer - 1] : FULCRUM_NOWHERE;
        fulcrum_linear_backward(&mlp->dense[layer], &pass);
    }
}

enum fulcrum_status fulcrum_mlp_new(struct fulcrum_learner_state **out,
    const struct fulcrum_compute *compute, const struct fulcrum_mlp_options *options,
    struct fulcrum_error *err)
{
    static const struct kind kind = {mlp_init, mlp_judge, mlp_infer, mlp_learn};
    const size_t rows = options->train_batch;
    const size_t one = sizeof(float);
    const size_t input_byte = options->takes_bytes ? 1 : one;
    struct mlp *mlp = calloc(1, sizeof *mlp);
    TRY_MEMORY(mlp, err, "no memory for a network");
    struct fulcrum_arena *arena = &mlp->base.arena;
    mlp->base = (struct fulcrum_learner_state){.kind = &kind,
        .compute = *compute,
        .adam = {.rate = PPO_ADAM_RATE, .epsilon = PPO_ADAM_EPSILON},
        .seed = options->seed,
        .max_batch = options->max_batch,
        .input_byte = options->input_count * input_byte,
        .action_count = options->action_count,
        .inferred_count = options->action_count + 1,
        .step_count = 1,
        .train_batch = rows,
        .loss_count = rows,
        .rows = {[MLP_INPUT] = {0, rows * options->input_count, input_byte, 0, NULL},
            [MLP_ACTION] = {0, rows * options->action_count, one, 0, NULL},
            [MLP_OLD_LOG_PROBABILITY] = {0, rows, one, 0, NULL},
            [MLP_ADVANTAGE] = {0, rows, one, 0, NULL},
            [MLP_TARGET] = {0, rows, one, 0, NULL}}};
    make_layers(mlp, options);
    size_t widest = options->action_count;
    take_places(&mlp->base, mlp->base.cost.parameter_count);
    for (size_t i = 0; i < LAYER_COUNT; i++) {
        size_t width = mlp->dense[i].output_count;
        widest = larger(widest, width);
        mlp->inferred[i] = fulcrum_arena_take(arena, options->max_batch * width);
        mlp->trained[i] = fulcrum_arena_take(arena, rows * width);
        mlp->trained_gradient[i] = fulcrum_arena_take(arena, rows * width);
    }
    mlp->log_std_gradient = fulcrum_arena_take(arena, rows * options->action_count);
    mlp->floats = options->takes_bytes
                      ? fulcrum_arena_take(arena,
                            larger(rows, options->max_batch) * options->input_count)
                      : FULCRUM_NOWHERE;
    mlp->base.inferred = mlp->inferred[LAYER_COUNT - 1];
    mlp->base.sums =
        fulcrum_arena_take(arena, fulcrum_compute_sum_scratch(rows, widest));
    return open_network(out, &mlp->base, err);
}

/*
 * Training is one step of R2D2 (Kapturowski et al., 2019): online and target network
 * run through burn-in and unroll, n-step double-Q targets with rescaled values,
 * backward through the unroll, Adam. Inference keeps one recurrent state per row and
 * advances it in place.
 */
/* What one forward pass leaves. The last convolution is kept for every row. */
struct trace {
    size_t conv_row_count; /* rows that the first convolutions have room for */
    fulcrum_place conv[FULCRUM_R2D2_CONV_COUNT];
    fulcrum_place dense;
    fulcrum_place core_input;
    struct fulcrum_lstm_trace core;
    fulcrum_place value_hidden;
    fulcrum_place value;
    fulcrum_place advantage_hidden;
    fulcrum_place advantage;
    fulcrum_place q;
};

/* Gradients of what a trace holds, for rows that a backward pass covers. */
struct gradients {
    fulcrum_place q; /* in */
    fulcrum_place advantage;
    fulcrum_place value;
    fulcrum_place head_hidden;
    fulcrum_place head_input;
    struct fulcrum_lstm_gradients core;
    fulcrum_place core_input;
    fulcrum_place dense;
    fulcrum_place conv; /* of the last convolution */
};

/* Row t * batch_count + i is step t of sequence i; actions are floats on a device. */
struct batch {
    size_t step_count;
    size_t batch_count;
    fulcrum_place image; /* bytes */
    size_t first_byte;   /* of the first image, from the place on */
    fulcrum_place last_action;
    fulcrum_place last_reward;
};

enum { LAST = FULCRUM_R2D2_CONV_COUNT - 1 };
enum { R2D2_IMAGE, R2D2_ACTION, R2D2_REWARD = CALLERS_ROWS };

struct r2d2 {
    struct fulcrum_learner_state base;
    struct fulcrum_r2d2_options options;
    struct fulcrum_r2d2_layers layers;
    size_t chunk; /* images that go through the convolutions together */
    fulcrum_place column;
    fulcrum_place conv_gradient[LAST];
    fulcrum_place slot_reward; /* zero */
    struct trace inference;    /* step 0 of its core is the state of every slot */
    struct trace online;
    struct trace target; /* the burn-in of both networks as well */
    struct gradients gradients;
};

/*
 * Windows of 256 images of the first layer are 105 MB: enough to fill the largest GPU.
 * On a CPU those of a few images stay in its caches; between 1 and 16 the speed is the
 * same within 10 %.
 */
enum { CHUNK_WIDE = 256, CHUNK_NARROW = 8 };

/* Room for the sums of biases: of every convolution's chunk and of all other layers. */
static size_t sum_scratch(const struct r2d2 *net, size_t row_count)
{
    const struct fulcrum_r2d2_layers *layers = &net->layers;
    const struct fulcrum_linear *dense[] = {&layers->dense, &layers->value_hidden,
        &layers->value, &layers->advantage_hidden, &layers->advantage};
    size_t count =
        fulcrum_compute_sum_scratch(row_count, layers->lstm.gates.output_count);
    for (size_t i = 0; i < sizeof dense / sizeof dense[0]; i++) {
        count = larger(
            count, fulcrum_compute_sum_scratch(row_count, dense[i]->output_count));
    }
    for (size_t i = 0; i < FULCRUM_R2D2_CONV_COUNT; i++) {
        const struct fulcrum_conv *conv = &layers->conv[i];
        size_t rows = net->chunk * fulcrum_conv_position_count(conv);
        count = larger(
            count, fulcrum_compute_sum_scratch(rows, conv->filters.output_count));
    }
    return count;
}

/* Room for at most step_count x batch_count rows. */
static struct trace trace_take(const struct r2d2 *net, struct fulcrum_arena *arena,
    size_t step_count, size_t batch_count, size_t conv_row_count)
{
    const struct fulcrum_r2d2_layers *layers = &net->layers;
    size_t rows = step_count * batch_count;
    size_t head = layers->value_hidden.output_count;
    size_t units = layers->lstm.unit_count;
    struct trace trace = {.conv_row_count = conv_row_count,
        .dense = fulcrum_arena_take(arena, rows * layers->dense.output_count),
        .core_input = fulcrum_arena_take(arena, rows * layers->lstm.gates.input_count),
        .core = {.step_count = step_count,
            .batch_count = batch_count,
            .gates = fulcrum_arena_take(arena, rows * layers->lstm.gates.output_count),
            .cell = fulcrum_arena_take(arena, (rows + batch_count) * units),
            .cell_tanh = fulcrum_arena_take(arena, rows * units),
            .hidden = fulcrum_arena_take(arena, (rows + batch_count) * units)},
        .value_hidden = fulcrum_arena_take(arena, rows * head),
        .value = fulcrum_arena_take(arena, rows),
        .advantage_hidden = fulcrum_arena_take(arena, rows * head),
        .advantage = fulcrum_arena_take(arena, rows * layers->action_count),
        .q = fulcrum_arena_take(arena, rows * layers->action_count)};
    for (size_t i = 0; i < FULCRUM_R2D2_CONV_COUNT; i++) {
        size_t kept = i < LAST ? trace.conv_row_count : rows;
        trace.conv[i] = fulcrum_arena_take(
            arena, kept * fulcrum_conv_output_count(&layers->conv[i]));
    }
    return trace;
}

/* Rows [first, first + count) of a batch; count is at most the chunk. */
struct chunk {
    size_t first;
    size_t count;
};

static struct chunk chunk_at(
    const struct r2d2 *net, const struct batch *batch, size_t first)
{
    size_t left = batch->step_count * batch->batch_count - first;
    return (struct chunk){first, left < net->chunk ? left : net->chunk};
}

/* Where a layer's output of a chunk is: the first layers may keep one chunk only. */
static fulcrum_place output_at(
    const struct r2d2 *net, const struct trace *trace, size_t layer, struct chunk chunk)
{
    size_t row = layer == LAST ? chunk.first : chunk.first % trace->conv_row_count;
    return fulcrum_place_at(
        trace->conv[layer], row * fulcrum_conv_output_count(&net->layers.conv[layer]));
}

static struct fulcrum_pass image_pass(const struct r2d2 *net, fulcrum_place parameters,
    const struct batch *batch, struct chunk chunk)
{
    return (struct fulcrum_pass){.compute = &net->base.compute,
        .parameters = parameters,
        .row_count = chunk.count,
        .input = batch->image,
        .input_is_bytes = 1,
        .input_first_byte = batch->first_byte + chunk.first * fulcrum_conv_image_count(
                                                                  &net->layers.conv[0]),
        .column = net->column,
        .sums = net->base.sums,
        .input_gradient = FULCRUM_NOWHERE};
}

static void backward_images(const struct r2d2 *net, fulcrum_place parameters,
    const struct batch *batch, const struct trace *trace,
    const struct gradients *gradients)
{
    size_t rows = batch->step_count * batch->batch_count;
    size_t size = fulcrum_conv_output_count(&net->layers.conv[LAST]);
    for (size_t first = 0; first < rows; first += net->chunk) {
        struct chunk chunk = chunk_at(net, batch, first);
        const struct fulcrum_pass images = image_pass(net, parameters, batch, chunk);
        struct fulcrum_pass pass = images;
        pass.gradients = net->base.gradients;
        pass.output_gradient = fulcrum_place_at(gradients->conv, first * size);
        pass.input_is_bytes = 0;
        for (size_t i = LAST; i > 0; i--) {
            pass.input = output_at(net, trace, i - 1, chunk);
            pass.output = output_at(net, trace, i, chunk);
            pass.input_gradient = net->conv_gradient[i - 1];
            fulcrum_conv_backward(&net->layers.conv[i], &pass);
            pass.output_gradient = pass.input_gradient;
        }
        pass.input = images.input;
        pass.input_is_bytes = 1;
        pass.output = output_at(net, trace, 0, chunk);
        pass.input_gradient = FULCRUM_NOWHERE;
        fulcrum_conv_backward(&net->layers.conv[0], &pass);
    }
}

/* From the images to the input of the LSTM; returns the pass through it. */
static struct fulcrum_pass forward_to_core(const struct r2d2 *net,
    fulcrum_place parameters, const struct batch *batch, struct trace *trace)
{
    struct fulcrum_pass pass = {.compute = &net->base.compute,
        .parameters = parameters,
        .row_count = batch->step_count * batch->batch_count,
        .input = trace->conv[LAST],
        .output = trace->dense};
    size_t row_count = batch->step_count * batch->batch_count;
    for (size_t first = 0; first < row_count; first += net->chunk) {
        struct chunk chunk = chunk_at(net, batch, first);
        struct fulcrum_pass images = image_pass(net, parameters, batch, chunk);
        for (size_t i = 0; i < FULCRUM_R2D2_CONV_COUNT; i++) {
            images.output = output_at(net, trace, i, chunk);
            fulcrum_conv_forward(&net->layers.conv[i], &images);
            images.input = images.output;
            images.input_is_bytes = 0;
        }
    }
    fulcrum_linear_forward(&net->layers.dense, &pass);
    /* dense output, last reward, one-hot last action */
    size_t width = net->layers.lstm.gates.input_count;
    fulcrum_compute_launch(&net->base.compute, FULCRUM_KERNEL_JOIN, pass.row_count,
        width,
        &(struct fulcrum_kernel_arguments){.place = {trace->core_input, trace->dense,
                                               batch->last_action, batch->last_reward},
            .count = {fulcrum_compute_count(width),
                fulcrum_compute_count(net->layers.dense.output_count)}});
    trace->core.step_count = batch->step_count;
    trace->core.batch_count = batch->batch_count;
    pass.input = trace->core_input;
    return pass;
}

/* From the images to the LSTM, whose state before is step 0 of the trace's core. */
static void forward_core(const struct r2d2 *net, fulcrum_place parameters,
    const struct batch *batch, struct trace *trace)
{
    struct fulcrum_pass pass = forward_to_core(net, parameters, batch, trace);
    fulcrum_lstm_forward(&net->layers.lstm, &pass, &trace->core);
}

static void forward_heads(const struct r2d2 *net, fulcrum_place parameters,
    const struct trace *trace, fulcrum_place core_output)
{
    const struct fulcrum_r2d2_layers *layers = &net->layers;
    size_t rows = trace->core.step_count * trace->core.batch_count;
    struct fulcrum_pass pass = {.compute = &net->base.compute,
        .parameters = parameters,
        .row_count = rows,
        .input = core_output,
        .output = trace->value_hidden};
    fulcrum_linear_forward(&layers->value_hidden, &pass);
    pass.output = trace->advantage_hidden;
    fulcrum_linear_forward(&layers->advantage_hidden, &pass);
    pass.input = trace->value_hidden;
    pass.output = trace->value;
    fulcrum_linear_forward(&layers->value, &pass);
    pass.input = trace->advantage_hidden;
    pass.output = trace->advantage;
    fulcrum_linear_forward(&layers->advantage, &pass);
    /* q = value + advantage - mean advantage: Wang et al. (2016), equation 9. */
    fulcrum_compute_launch(&net->base.compute, FULCRUM_KERNEL_DUEL, rows, 1,
        &(struct fulcrum_kernel_arguments){
            .place = {trace->q, trace->value, trace->advantage},
            .count = {fulcrum_compute_count(layers->action_count)}});
}

/* Step 0 of the LSTM's output is the state before the first row. */
static fulcrum_place core_output(const struct r2d2 *net, const struct trace *trace)
{
    return fulcrum_place_at(
        trace->core.hidden, trace->core.batch_count * net->layers.lstm.unit_count);
}

/* One head: a linear layer on a hidden one. */
struct head {
    const struct fulcrum_linear *hidden;
    const struct fulcrum_linear *last;
    fulcrum_place hidden_output;
    fulcrum_place last_gradient;
    fulcrum_place input_gradient;
};

static void backward_head(const struct head *head, const struct fulcrum_pass *pass,
    fulcrum_place hidden_gradient)
{
    struct fulcrum_pass last = *pass;
    last.input = head->hidden_output;
    last.output_gradient = head->last_gradient;
    last.input_gradient = hidden_gradient;
    fulcrum_linear_backward(head->last, &last);
    struct fulcrum_pass hidden = *pass;
    hidden.output = head->hidden_output;
    hidden.output_gradient = hidden_gradient;
    hidden.input_gradient = head->input_gradient;
    fulcrum_linear_backward(head->hidden, &hidden);
}

/*
 * Backward through the batch, which may have fewer steps than the trace: those beyond
 * have no gradient.
 */
static void backward(const struct r2d2 *net, fulcrum_place parameters,
    const struct batch *batch, const struct trace *trace,
    const struct gradients *gradients)
{
    const struct fulcrum_r2d2_layers *layers = &net->layers;
    struct fulcrum_pass pass = {.compute = &net->base.compute,
        .parameters = parameters,
        .row_count = batch->step_count * batch->batch_count,
        .input = core_output(net, trace),
        .sums = net->base.sums,
        .gradients = net->base.gradients};
    assert(batch->batch_count == trace->core.batch_count);
    /* `pass` has the LSTM's output as its input. */
    struct head value = {&layers->value_hidden, &layers->value, trace->value_hidden,
        gradients->value, gradients->core.hidden};
    struct head advantage = {&layers->advantage_hidden, &layers->advantage,
        trace->advantage_hidden, gradients->advantage, gradients->head_input};
    fulcrum_compute_launch(&net->base.compute, FULCRUM_KERNEL_DUEL_BACKWARD,
        pass.row_count, 1,
        &(struct fulcrum_kernel_arguments){
            .place = {gradients->q, gradients->value, gradients->advantage},
            .count = {fulcrum_compute_count(layers->action_count)}});
    backward_head(&value, &pass, gradients->head_hidden);
    backward_head(&advantage, &pass, gradients->head_hidden);
    fulcrum_compute_add(&net->base.compute, gradients->core.hidden,
        gradients->head_input, pass.row_count * layers->lstm.unit_count);
    pass.input = trace->core_input;
    pass.input_gradient = gradients->core_input;
    fulcrum_lstm_backward(&layers->lstm, &pass, &trace->core, &gradients->core);
    /* The dense layer's share of the joined input. */
    unsigned dense = fulcrum_compute_count(layers->dense.output_count);
    fulcrum_compute_launch(&net->base.compute, FULCRUM_KERNEL_COPY_ROWS, pass.row_count,
        dense,
        &(struct fulcrum_kernel_arguments){
            .place = {gradients->dense, gradients->core_input},
            .count = {
                dense, dense, fulcrum_compute_count(layers->lstm.gates.input_count)}});
    pass.input = trace->conv[LAST];
    pass.output = trace->dense;
    pass.output_gradient = gradients->dense;
    pass.input_gradient = gradients->conv;
    fulcrum_linear_backward(&layers->dense, &pass);
    backward_images(net, parameters, batch, trace, gradients);
}

static void take_training(struct r2d2 *r2d2)
{
    const struct fulcrum_r2d2_options *options = &r2d2->options;
    struct fulcrum_arena *arena = &r2d2->base.arena;
    size_t batch = options->train_batch;
    size_t segment = options->train_unroll + 1;
    size_t longest = larger(options->train_burn_in, segment);
    r2d2->online = trace_take(r2d2, arena, segment, batch, segment * batch);
    r2d2->target = trace_take(r2d2, arena, longest, batch, r2d2->chunk);
    const struct fulcrum_r2d2_layers *layers = &r2d2->layers;
    size_t rows = options->train_unroll * batch;
    size_t units = layers->lstm.unit_count;
    r2d2->gradients = (struct gradients){
        .q = fulcrum_arena_take(arena, rows * layers->action_count),
        .advantage = fulcrum_arena_take(arena, rows * layers->action_count),
        .value = fulcrum_arena_take(arena, rows),
        .head_hidden =
            fulcrum_arena_take(arena, rows * layers->value_hidden.output_count),
        .head_input = fulcrum_arena_take(arena, rows * units),
        .core = {.hidden = fulcrum_arena_take(arena, rows * units),
            .gates = fulcrum_arena_take(arena, rows * layers->lstm.gates.output_count),
            .cell = fulcrum_arena_take(arena, batch * units),
            .recurrent = fulcrum_arena_take(arena, batch * units)},
        .core_input = fulcrum_arena_take(arena, rows * layers->lstm.gates.input_count),
        .dense = fulcrum_arena_take(arena, rows * layers->dense.output_count),
        .conv = fulcrum_arena_take(arena, rows * layers->dense.input_count)};
}

static void r2d2_init(const struct fulcrum_learner_state *network, float *parameters,
    struct fulcrum_random *random)
{
    const struct r2d2 *r2d2 = (const struct r2d2 *)network;
    struct fulcrum_r2d2_replay replay = {.image = network->rows[R2D2_IMAGE].host,
        .action = network->rows[R2D2_ACTION].host,
        .reward = network->rows[R2D2_REWARD].host};
    fulcrum_r2d2_layers_init(&r2d2->layers, parameters, random);
    fulcrum_r2d2_replay_fill(&replay, &r2d2->options, random);
}

/*
 * One step for each row, the state in step 0 of the trace's core being replaced; then
 * the heads, whose action values are left in `q`.
 */
static void r2d2_infer(struct fulcrum_learner_state *network, size_t batch)
{
    struct r2d2 *r2d2 = (struct r2d2 *)network;
    struct trace *trace = &r2d2->inference;
    struct batch images = {.step_count = 1,
        .batch_count = batch,
        .image = network->input,
        .last_action = network->action,
        .last_reward = r2d2->slot_reward};
    struct fulcrum_pass pass =
        forward_to_core(r2d2, network->parameters, &images, trace);
    fulcrum_lstm_advance(&r2d2->layers.lstm, &pass, &trace->core);
    forward_heads(r2d2, network->parameters, trace, trace->core.hidden);
}

/* Steps [first, first + count) of the replay. */
static struct batch replay_steps(const struct r2d2 *r2d2, size_t first, size_t count)
{
    const struct rows *rows = r2d2->base.rows;
    size_t row = first * r2d2->options.train_batch;
    return (struct batch){.step_count = count,
        .batch_count = r2d2->options.train_batch,
        .image = rows[R2D2_IMAGE].place,
        .first_byte = row * r2d2->base.input_byte,
        .last_action = fulcrum_place_at(rows[R2D2_ACTION].place, row),
        .last_reward = fulcrum_place_at(rows[R2D2_REWARD].place, row)};
}

/*
 * Leaves in the trace the action values of the trained segment. The recurrent state
 * starts at zero, and the burn-in steps bring it to where the segment begins.
 */
static void forward_replay(
    struct r2d2 *r2d2, fulcrum_place parameters, struct trace *trace)
{
    const struct fulcrum_compute *compute = &r2d2->base.compute;
    struct trace *warm = &r2d2->target;
    size_t burn_in = r2d2->options.train_burn_in;
    size_t count = r2d2->options.train_batch * r2d2->layers.lstm.unit_count;
    fulcrum_compute_fill(compute, warm->core.hidden, count, 0.0F);
    fulcrum_compute_fill(compute, warm->core.cell, count, 0.0F);
    if (burn_in > 0) {
        struct batch before = replay_steps(r2d2, 0, burn_in);
        forward_core(r2d2, parameters, &before, warm);
    }
    /* The state that the burn-in left becomes the one before the segment. */
    if (burn_in > 0 || trace != warm) {
        fulcrum_compute_copy(compute, trace->core.hidden,
            fulcrum_place_at(warm->core.hidden, burn_in * count), count);
        fulcrum_compute_copy(compute, trace->core.cell,
            fulcrum_place_at(warm->core.cell, burn_in * count), count);
    }
    struct batch segment = replay_steps(r2d2, burn_in, r2d2->options.train_unroll + 1);
    forward_core(r2d2, parameters, &segment, trace);
    /* From the LSTM to the action values of every row. */
    forward_heads(r2d2, parameters, trace, core_output(r2d2, trace));
}

static void r2d2_learn(struct fulcrum_learner_state *network)
{
    struct r2d2 *r2d2 = (struct r2d2 *)network;
    const struct fulcrum_r2d2_options *options = &r2d2->options;
    /* The online network first: its burn-in passes through the target's trace. */
    forward_replay(r2d2, network->parameters, &r2d2->online);
    forward_replay(r2d2, network->target_parameters, &r2d2->target);
    size_t after = (options->train_burn_in + 1) * options->train_batch;
    fulcrum_compute_launch(&network->compute, FULCRUM_KERNEL_TD, network->loss_count, 1,
        &(struct fulcrum_kernel_arguments){
            .place = {r2d2->online.q, r2d2->target.q,
                fulcrum_place_at(network->rows[R2D2_ACTION].place, after),
                fulcrum_place_at(network->rows[R2D2_REWARD].place, after),
                r2d2->gradients.q, network->row_loss},
            .count = {fulcrum_compute_count(options->train_unroll),
                fulcrum_compute_count(options->train_batch),
                fulcrum_compute_count(network->action_count), FULCRUM_R2D2_LOOK_AHEAD},
            .number = {FULCRUM_R2D2_DISCOUNT}});
    struct batch trained =
        replay_steps(r2d2, options->train_burn_in, options->train_unroll);
    backward(r2d2, network->parameters, &trained, &r2d2->online, &r2d2->gradients);
}

enum fulcrum_status fulcrum_r2d2_new(struct fulcrum_learner_state **out,
    const struct fulcrum_compute *compute, const struct fulcrum_r2d2_options *options,
    struct fulcrum_error *err)
{
    static const struct kind kind = {r2d2_init, NULL, r2d2_infer, r2d2_learn};
    const size_t rows = fulcrum_r2d2_replay_rows(options);
    const size_t with_last = rows + options->train_batch;
    const size_t image_byte = fulcrum_r2d2_image_byte(options);
    struct r2d2 *r2d2 = calloc(1, sizeof *r2d2);
    TRY_MEMORY(r2d2, err, "no memory for a network");
    r2d2->options = *options;
    r2d2->layers = fulcrum_r2d2_layers_make(&options->shape);
    r2d2->base = (struct fulcrum_learner_state){.kind = &kind,
        .compute = *compute,
        .adam = {.rate = FULCRUM_R2D2_ADAM_RATE, .epsilon = FULCRUM_R2D2_ADAM_EPSILON},
        .seed = options->seed,
        .max_batch = options->max_batch,
        .input_byte = image_byte,
        .action_count = options->shape.action_count,
        .inferred_count = options->shape.action_count,
        .step_count = rows / options->train_batch,
        .train_batch = options->train_batch,
        .loss_count = options->train_unroll * options->train_batch,
        .rows = {[R2D2_IMAGE] = {0, rows, image_byte, 0, NULL},
            [R2D2_ACTION] = {0, with_last, sizeof(int), 1, NULL},
            [R2D2_REWARD] = {0, with_last, sizeof(float), 0, NULL}}};
    struct fulcrum_learner_state *network = &r2d2->base;
    struct fulcrum_arena *arena = &network->arena;
    size_t slots = network->max_batch;
    take_places(network, r2d2->layers.parameter_count);
    network->target_parameters =
        fulcrum_arena_take(arena, r2d2->layers.parameter_count);
    /* Chunk, and room for it and for sums of at most `row_count` rows. */
    size_t row_count = larger(rows, slots);
    size_t chunk = network->compute.is_wide ? CHUNK_WIDE : CHUNK_NARROW;
    size_t column = 0;
    r2d2->chunk = row_count < chunk ? row_count : chunk;
    for (size_t i = 0; i < FULCRUM_R2D2_CONV_COUNT; i++) {
        column = larger(column, fulcrum_conv_column_count(&r2d2->layers.conv[i]));
    }
    for (size_t i = 0; i < LAST; i++) {
        r2d2->conv_gradient[i] = fulcrum_arena_take(
            arena, r2d2->chunk * fulcrum_conv_output_count(&r2d2->layers.conv[i]));
    }
    r2d2->column = fulcrum_arena_take(arena, r2d2->chunk * column);
    network->sums = fulcrum_arena_take(arena, sum_scratch(r2d2, row_count));
    r2d2->slot_reward = fulcrum_arena_take(arena, slots);
    r2d2->inference = trace_take(r2d2, arena, 1, slots, r2d2->chunk);
    network->inferred = r2d2->inference.q;
    take_training(r2d2);
    r2d2->base.cost = fulcrum_r2d2_cost_of(&r2d2->layers, options);
    return open_network(out, &r2d2->base, err);
}
