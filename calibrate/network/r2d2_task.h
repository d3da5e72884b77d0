/* r2d2_task.h - what an R2D2 learner is to do: sizes, replay and optimiser. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_NETWORK_R2D2_TASK_H
#define FULCRUM_CALIBRATE_NETWORK_R2D2_TASK_H

#include <stddef.h>
#include <stdint.h>

#include "calibrate/network/activation.h"
#include "calibrate/network/mlp_task.h"
#include "calibrate/network/r2d2_layers.h"
#include "calibrate/random.h"

/* Kapturowski et al. (2019), table 2. */
enum { FULCRUM_R2D2_LOOK_AHEAD = 5, FULCRUM_R2D2_TARGET_PERIOD = 2500 };
#define FULCRUM_R2D2_DISCOUNT 0.997

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

/* The Atari agent: 84 x 84 x 4 images, dense, LSTM and heads of 512. */
struct fulcrum_r2d2_shape fulcrum_r2d2_atari(size_t action_count);

/* Rate and moments of the optimiser; no arrays yet. */
struct fulcrum_adam fulcrum_r2d2_adam(size_t parameter_count);

/* Bytes of one image. */
size_t fulcrum_r2d2_image_byte(const struct fulcrum_r2d2_options *options);

/* Trained steps and the one after them, whose values end the last returns. */
size_t fulcrum_r2d2_segment_steps(const struct fulcrum_r2d2_options *options);

/* Images of the replay: burn-in and segment of every sequence. */
size_t fulcrum_r2d2_replay_rows(const struct fulcrum_r2d2_options *options);

/* Random images, actions and rewards, rows in the order of the replay. */
void fulcrum_r2d2_replay_fill(const struct fulcrum_r2d2_replay *replay,
    const struct fulcrum_r2d2_options *options, struct fulcrum_random *random);

/* Work counted from the layers' sizes, beside the memory that the owner took. */
struct fulcrum_network_cost fulcrum_r2d2_cost_of(
    const struct fulcrum_r2d2_layers *layers,
    const struct fulcrum_r2d2_options *options, size_t buffer_byte);

#endif
