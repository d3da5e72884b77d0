/* replay.c - a replay buffer: the latest observations of every environment. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A ring per environment, so that the steps of a sequence are neighbours, under one
 * lock: a store copies one observation, a draw some tens to thousands of them, which is
 * short against the training step that follows.
 */
#include "calibrate/replay.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/random.h"

/* Rings hold so many sequences. */
#define SEQUENCES 2

#define MOST_BYTE ((size_t)1 << 34)

struct fulcrum_replay {
    pthread_mutex_t lock; /* guards all below but the sizes */
    unsigned char *rows;  /* env_count x capacity */
    size_t *stored;       /* observations ever stored, by environment */
    struct fulcrum_random random;
    struct fulcrum_replay_options options;
    size_t capacity; /* rows of a ring */
};

enum fulcrum_status fulcrum_replay_new(struct fulcrum_replay **out,
    const struct fulcrum_replay_options *options, struct fulcrum_error *err)
{
    size_t capacity = SEQUENCES * options->length;
    size_t most_rows = MOST_BYTE / (options->row_byte + 1);
    if (options->length == 0 || options->length > most_rows / SEQUENCES ||
        options->env_count > most_rows / capacity) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "a replay of %zu environments, %zu steps of %zu bytes: expected steps, and "
            "at most 16 GiB",
            options->env_count, capacity, options->row_byte);
    }
    struct fulcrum_replay *replay = calloc(1, sizeof *replay);
    size_t *stored = calloc(options->env_count + 1, sizeof *stored);
    unsigned char *rows =
        calloc(options->env_count * capacity + 1, options->row_byte + 1);
    if (replay == NULL || stored == NULL || rows == NULL) {
        free(replay);
        free(stored);
        free(rows);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a replay of %zu observations",
            options->env_count * capacity);
    }
    (void)pthread_mutex_init(&replay->lock, NULL);
    replay->rows = rows;
    replay->stored = stored;
    replay->random = fulcrum_random_seeded(options->seed);
    replay->options = *options;
    replay->capacity = capacity;
    *out = replay;
    return FULCRUM_OK;
}

void fulcrum_replay_free(struct fulcrum_replay *replay)
{
    if (replay == NULL) {
        return;
    }
    (void)pthread_mutex_destroy(&replay->lock);
    free(replay->rows);
    free(replay->stored);
    free(replay);
}

static unsigned char *row_of(const struct fulcrum_replay *replay, size_t env, size_t at)
{
    assert(replay->capacity > 0);
    size_t row = env * replay->capacity + at % replay->capacity;
    return replay->rows + row * replay->options.row_byte;
}

void fulcrum_replay_store(
    struct fulcrum_replay *replay, size_t env, const void *observation)
{
    (void)pthread_mutex_lock(&replay->lock);
    memcpy(row_of(replay, env, replay->stored[env]), observation,
        replay->options.row_byte);
    replay->stored[env]++;
    (void)pthread_mutex_unlock(&replay->lock);
}

/* Starts of a sequence of `length` steps that an environment's ring holds. */
static size_t start_count(
    const struct fulcrum_replay *replay, size_t env, size_t length)
{
    size_t held =
        replay->stored[env] < replay->capacity ? replay->stored[env] : replay->capacity;
    return held >= length ? held - length + 1 : 0;
}

/* Draws the number of a start among `total`, and finds whose it is. */
static void copy_sequence(struct fulcrum_replay *replay,
    const struct fulcrum_replay_target *target, size_t sequence, size_t total)
{
    size_t start = (size_t)(fulcrum_random_bits(&replay->random) % total);
    size_t env = 0;
    while (start >= start_count(replay, env, target->step_count)) {
        start -= start_count(replay, env, target->step_count);
        env++;
    }
    size_t stored = replay->stored[env];
    size_t oldest = stored > replay->capacity ? stored - replay->capacity : 0;
    for (size_t t = 0; t < target->step_count; t++) {
        memcpy(target->rows + (t * target->batch_count + sequence) * target->row_byte,
            row_of(replay, env, oldest + start + t), replay->options.row_byte);
    }
}

int fulcrum_replay_draw(
    struct fulcrum_replay *replay, const struct fulcrum_replay_target *target)
{
    size_t total = 0;
    (void)pthread_mutex_lock(&replay->lock);
    for (size_t env = 0; env < replay->options.env_count; env++) {
        total += start_count(replay, env, target->step_count);
    }
    for (size_t i = 0; total > 0 && i < target->batch_count; i++) {
        copy_sequence(replay, target, i, total);
    }
    (void)pthread_mutex_unlock(&replay->lock);
    return total > 0;
}
