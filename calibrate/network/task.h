/* task.h - the training tasks of the networks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_NETWORK_TASK_H
#define FULCRUM_CALIBRATE_NETWORK_TASK_H

#include <stddef.h>
#include <stdint.h>

#include "calibrate/network/layer.h"
#include "calibrate/network/network_cost.h"
#include "calibrate/random.h"

/* What a PPO learner is to do: layers and minibatch. */

enum { FULCRUM_MLP_LAYER_COUNT = 4 };

/* Schulman et al. (2017), table 3 (MuJoCo); the weight of the value is the usual 1/2.
 */
#define FULCRUM_PPO_CLIP_FRAC    0.2F
#define FULCRUM_PPO_VALUE_WEIGHT 0.5F
#define FULCRUM_PPO_ADAM_RATE    3e-4
/* Adam's own default, which the paper leaves unsaid. */
#define FULCRUM_PPO_ADAM_EPSILON 1e-8

struct fulcrum_mlp_options {
    size_t input_count;
    size_t hidden_count; /* of each of the three hidden layers, ReLU */
    size_t action_count;
    size_t max_batch;
    size_t train_batch;
    uint64_t seed;
};

/* Three hidden layers, the output layer, then a log standard deviation per action. */
struct fulcrum_mlp_layers {
    struct fulcrum_linear dense[FULCRUM_MLP_LAYER_COUNT];
    size_t log_std_offset;
    size_t parameter_count;
};

/* What the environments and the policy that acted left behind: train_batch rows. */
struct fulcrum_mlp_minibatch {
    float *input;
    float *action;
    float *old_log_probability;
    float *advantage;
    float *value_target;
};

struct fulcrum_mlp_layers fulcrum_mlp_layers_make(
    const struct fulcrum_mlp_options *options);

/* Random weights; biases and log standard deviations stay as they are: zero. */
void fulcrum_mlp_layers_init(const struct fulcrum_mlp_layers *layers, float *parameters,
    struct fulcrum_random *random);

/* Random observations, actions, advantages and targets, in this order. */
void fulcrum_mlp_minibatch_fill(const struct fulcrum_mlp_minibatch *minibatch,
    const struct fulcrum_mlp_options *options, struct fulcrum_random *random);

/*
 * After fulcrum_mlp_minibatch_fill: sets the old probabilities near those of the policy
 * whose last layer's output is given, so that some samples are clipped and some are
 * not.
 */
void fulcrum_mlp_minibatch_judge(const struct fulcrum_mlp_minibatch *minibatch,
    const struct fulcrum_mlp_options *options, const float *output,
    struct fulcrum_random *random);

/* Work counted from the layers' sizes; the owner adds the memory that it takes. */
struct fulcrum_network_cost fulcrum_mlp_cost_of(
    const struct fulcrum_mlp_layers *layers, const struct fulcrum_mlp_options *options);

/* What an R2D2 learner is to do: layers and replay. */

enum { FULCRUM_R2D2_CONV_COUNT = 3 };

struct fulcrum_r2d2_filters {
    size_t filter_count;
    size_t kernel;
    size_t stride;
};

/* Every size of the network; tests use small ones. */
struct fulcrum_r2d2_shape {
    size_t height;
    size_t width;
    size_t channel_count;
    struct fulcrum_r2d2_filters filters[FULCRUM_R2D2_CONV_COUNT];
    size_t dense_count;
    size_t lstm_count;
    size_t head_count;
    size_t action_count;
};

/*
 * image / 255 -> convolutions -> dense -> (joined with last reward and one-hot last
 * action) -> LSTM -> duelling heads: the Atari agent of SEED RL (Espeholt et al.,
 * 2020).
 */
struct fulcrum_r2d2_layers {
    struct fulcrum_conv conv[FULCRUM_R2D2_CONV_COUNT];
    struct fulcrum_linear dense;
    struct fulcrum_lstm lstm;
    struct fulcrum_linear value_hidden;
    struct fulcrum_linear value;
    struct fulcrum_linear advantage_hidden;
    struct fulcrum_linear advantage;
    size_t action_count;
    size_t parameter_count;
};

/* Kapturowski et al. (2019), table 2. */
enum { FULCRUM_R2D2_LOOK_AHEAD = 5, FULCRUM_R2D2_TARGET_PERIOD = 2500 };
#define FULCRUM_R2D2_DISCOUNT     0.997F
#define FULCRUM_R2D2_ADAM_RATE    1e-4
#define FULCRUM_R2D2_ADAM_EPSILON 1e-3

struct fulcrum_r2d2_options {
    struct fulcrum_r2d2_shape shape;
    size_t max_batch;
    size_t train_batch;
    size_t train_unroll;
    size_t train_burn_in;
    uint64_t seed;
};

/* Step t of sequence i is row t * train_batch + i. */
struct fulcrum_r2d2_replay {
    uint8_t *image; /* train_burn_in + train_unroll + 1 steps */
    /* One step more: what came before an image is at its row, what follows one on. */
    int *action;
    float *reward;
};

/* Asserts that every window fits its image. */
struct fulcrum_r2d2_layers fulcrum_r2d2_layers_make(
    const struct fulcrum_r2d2_shape *shape);

/* Random weights. */
void fulcrum_r2d2_layers_init(const struct fulcrum_r2d2_layers *layers,
    float *parameters, struct fulcrum_random *random);

/* The Atari agent: 84 x 84 x 4 images, dense, LSTM and heads of 512. */
struct fulcrum_r2d2_shape fulcrum_r2d2_atari(size_t action_count);

/* Bytes of one image. */
size_t fulcrum_r2d2_image_byte(const struct fulcrum_r2d2_options *options);

/* Trained steps and the one after them, whose values end the last returns. */
size_t fulcrum_r2d2_segment_steps(const struct fulcrum_r2d2_options *options);

/* Images of the replay: burn-in and segment of every sequence. */
size_t fulcrum_r2d2_replay_rows(const struct fulcrum_r2d2_options *options);

/* Random images, actions and rewards, rows in the order of the replay. */
void fulcrum_r2d2_replay_fill(const struct fulcrum_r2d2_replay *replay,
    const struct fulcrum_r2d2_options *options, struct fulcrum_random *random);

/* Work counted from the layers' sizes; the owner adds the memory that it takes. */
struct fulcrum_network_cost fulcrum_r2d2_cost_of(
    const struct fulcrum_r2d2_layers *layers,
    const struct fulcrum_r2d2_options *options);

#endif
