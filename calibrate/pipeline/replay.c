/* replay.c - a replay buffer: the latest observations of every environment. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A ring per environment, so that the steps of a sequence are neighbours, under one
 * lock: a store copies one observation, and a draw takes the lock for each sequence, so
 * that nobody who stores waits for a whole batch.
 */

#include "calibrate/pipeline/live.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/random.h"
#include "model/try.h"

/* Rings hold so many sequences, at least. */
#define SEQUENCES 2

#define MOST_BYTE ((size_t)1 << 34)

struct fulcrum_replay {
    pthread_mutex_t lock; /* guards all below but the sizes */
    unsigned char *rows;  /* env_count x capacity */
    unsigned char *notes; /* likewise */
    size_t *stored;       /* observations ever stored, by environment */
    struct fulcrum_random random;
    struct fulcrum_replay_options options;
    size_t capacity; /* rows of a ring */
};

/* Rows of a ring; 0 where all of them would be too large. */
static size_t capacity_of(const struct fulcrum_replay_options *options)
{
    size_t envs = options->env_count > 0 ? options->env_count : 1;
    bool is_small =
        options->row_byte < MOST_BYTE && options->length < MOST_BYTE / SEQUENCES;
    size_t most_rows =
        is_small ? MOST_BYTE / (options->row_byte + options->note_byte + 1) : 0;
    size_t sequences = SEQUENCES * options->length;
    size_t share = options->least_row_count / envs + 1;
    size_t capacity = share > sequences ? share : sequences;
    return most_rows / envs >= capacity ? capacity : 0;
}

static enum fulcrum_status make_rings(
    struct fulcrum_replay *replay, struct fulcrum_error *err)
{
    const struct fulcrum_replay_options *options = &replay->options;
    size_t rows = options->env_count * replay->capacity;
    replay->stored = calloc(options->env_count + 1, sizeof *replay->stored);
    replay->rows = calloc(rows + 1, options->row_byte + 1);
    replay->notes = calloc(rows + 1, options->note_byte + 1);
    return replay->stored != NULL && replay->rows != NULL && replay->notes != NULL
               ? FULCRUM_OK
               : fulcrum_fail(
                     err, FULCRUM_ERR_NO_MEMORY, "a replay of %zu observations", rows);
}

enum fulcrum_status fulcrum_replay_new(struct fulcrum_replay **out,
    const struct fulcrum_replay_options *options, struct fulcrum_error *err)
{
    size_t capacity = capacity_of(options);
    FAIL_IF(options->length == 0 || capacity == 0, err, FULCRUM_ERR_RANGE,
        "a replay of %zu environments, sequences of %zu steps of %zu bytes: "
        "expected steps, and at most 16 GiB",
        options->env_count, options->length, options->row_byte);
    struct fulcrum_replay *replay = calloc(1, sizeof *replay);
    TRY_MEMORY(replay, err, "a replay");
    (void)pthread_mutex_init(&replay->lock, NULL);
    replay->random = fulcrum_random_seeded(options->seed);
    replay->options = *options;
    replay->capacity = capacity;
    enum fulcrum_status status = make_rings(replay, err);
    if (status != FULCRUM_OK) {
        fulcrum_replay_free(replay);
        return status;
    }
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
    free(replay->notes);
    free(replay->stored);
    free(replay);
}

/* Number of the row that an environment's step `at` has in the rings. */
static size_t row_at(const struct fulcrum_replay *replay, size_t env, size_t at)
{
    assert(replay->capacity > 0);
    return env * replay->capacity + at % replay->capacity;
}

void fulcrum_replay_store(struct fulcrum_replay *replay, size_t env,
    const void *observation, const void *note)
{
    const struct fulcrum_replay_options *options = &replay->options;
    (void)pthread_mutex_lock(&replay->lock);
    size_t row = row_at(replay, env, replay->stored[env]);
    memcpy(replay->rows + row * options->row_byte, observation, options->row_byte);
    if (options->note_byte > 0) {
        memcpy(replay->notes + row * options->note_byte, note, options->note_byte);
    }
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

static size_t all_starts(const struct fulcrum_replay *replay, size_t length)
{
    size_t total = 0;
    for (size_t env = 0; env < replay->options.env_count; env++) {
        total += start_count(replay, env, length);
    }
    return total;
}

int fulcrum_replay_holds(struct fulcrum_replay *replay, size_t step_count)
{
    (void)pthread_mutex_lock(&replay->lock);
    size_t total = all_starts(replay, step_count);
    (void)pthread_mutex_unlock(&replay->lock);
    return total > 0;
}

/* Draws the number of a start among all, and finds whose it is. Returns 0: none. */
static int draw_sequence(struct fulcrum_replay *replay,
    const struct fulcrum_replay_target *target, size_t sequence)
{
    size_t length = target->step_count + (target->notes != NULL ? 1 : 0);
    size_t total = all_starts(replay, length);
    if (total == 0) {
        return 0;
    }
    size_t start = (size_t)(fulcrum_random_bits(&replay->random) % total);
    size_t env = 0;
    while (start >= start_count(replay, env, length)) {
        start -= start_count(replay, env, length);
        env++;
    }
    size_t stored = replay->stored[env];
    size_t oldest = stored > replay->capacity ? stored - replay->capacity : 0;
    /* The steps of one environment from `first` on, to their rows of a sequence. */
    size_t first = oldest + start;
    size_t row_byte = replay->options.row_byte;
    size_t note_byte = replay->options.note_byte;
    size_t copied_byte = row_byte < target->row_byte ? row_byte : target->row_byte;
    size_t notes = target->notes != NULL ? target->step_count + 1 : 0;
    for (size_t t = 0; t < target->step_count; t++) {
        size_t to = t * target->batch_count + sequence;
        memcpy(target->rows + to * target->row_byte,
            replay->rows + row_at(replay, env, first + t) * row_byte, copied_byte);
    }
    for (size_t t = 0; t < notes; t++) {
        size_t to = t * target->batch_count + sequence;
        memcpy(target->notes + to * note_byte,
            replay->notes + row_at(replay, env, first + t) * note_byte, note_byte);
    }
    return 1;
}

int fulcrum_replay_draw(
    struct fulcrum_replay *replay, const struct fulcrum_replay_target *target)
{
    bool is_drawn = 1;
    for (size_t i = 0; i < target->batch_count && is_drawn; i++) {
        (void)pthread_mutex_lock(&replay->lock);
        is_drawn = draw_sequence(replay, target, i);
        (void)pthread_mutex_unlock(&replay->lock);
    }
    return is_drawn;
}
