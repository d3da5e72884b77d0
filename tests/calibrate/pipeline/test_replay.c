/* test_replay.c - what is drawn are neighbouring steps of one environment, and the
 * latest ones.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/pipeline/live.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

enum { ENVS = 5, LENGTH = 4, CAPACITY = 2 * LENGTH, BATCH = 64 };

/* An observation that says whose it is, and which. */
struct step {
    unsigned env;
    unsigned number;
};

static struct fulcrum_replay *new_replay(size_t env_count, uint64_t seed)
{
    const struct fulcrum_replay_options options = {.env_count = env_count,
        .length = LENGTH,
        .row_byte = sizeof(struct step),
        .seed = seed};
    struct fulcrum_replay *replay = NULL;
    ASSERT_OK(fulcrum_replay_new(&replay, &options, NULL));
    return replay;
}

/* Steps `first`.. of an environment. */
static void store(
    struct fulcrum_replay *replay, unsigned env, unsigned first, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const struct step step = {env, first + i};
        fulcrum_replay_store(replay, env, &step, NULL);
    }
}

/* Rows of a draw, some apart from the next, as a network's input may have them. */
struct rows {
    struct step steps[LENGTH * BATCH][2];
};

static struct fulcrum_replay_target target_of(struct rows *rows, size_t step_count)
{
    memset(rows, 0xee, sizeof *rows);
    return (struct fulcrum_replay_target){.rows = (unsigned char *)rows,
        .row_byte = sizeof rows->steps[0],
        .batch_count = BATCH,
        .step_count = step_count};
}

static const struct step *drawn(const struct rows *rows, size_t t, size_t sequence)
{
    return &rows->steps[t * BATCH + sequence][0];
}

TEST(test_nothing_is_drawn_before_a_sequence_is_there)
{
    struct fulcrum_replay *replay = new_replay(2, 1);
    struct rows rows;
    struct fulcrum_replay_target target = target_of(&rows, LENGTH);
    struct rows untouched = rows;
    CU_ASSERT_FALSE(fulcrum_replay_draw(replay, &target));
    store(replay, 0, 0, LENGTH - 1);
    store(replay, 1, 0, LENGTH - 1);
    CU_ASSERT_FALSE(fulcrum_replay_draw(replay, &target));
    CU_ASSERT_EQUAL(memcmp(&rows, &untouched, sizeof rows), 0);
    target.step_count = LENGTH - 1; /* shorter ones are there */
    CU_ASSERT(fulcrum_replay_draw(replay, &target));
    store(replay, 1, LENGTH - 1, 1);
    target.step_count = LENGTH;
    CU_ASSERT(fulcrum_replay_draw(replay, &target));
    for (size_t i = 0; i < BATCH; i++) {
        CU_ASSERT_EQUAL(drawn(&rows, 0, i)->env, 1); /* the only one with so many */
        CU_ASSERT_EQUAL(drawn(&rows, 0, i)->number, 0);
    }
    fulcrum_replay_free(replay);
}

/* Steps of a sequence that are not the ones after its first. */
static size_t count_strangers(const struct rows *rows, size_t sequence)
{
    const struct step *first = drawn(rows, 0, sequence);
    size_t strangers = 0;
    for (size_t t = 1; t < LENGTH; t++) {
        const struct step *step = drawn(rows, t, sequence);
        strangers += step->env != first->env || step->number != first->number + t;
    }
    return strangers;
}

/* Whatever a ring has been through: steps in a row, of one environment, and held. */
static void assert_neighbours(const struct rows *rows, const unsigned *stored)
{
    for (size_t i = 0; i < BATCH; i++) {
        const struct step first = *drawn(rows, 0, i);
        CU_ASSERT_FATAL(first.env < ENVS);
        unsigned held = stored[first.env] < CAPACITY ? stored[first.env] : CAPACITY;
        CU_ASSERT(first.number >= stored[first.env] - held);
        CU_ASSERT(first.number + LENGTH <= stored[first.env]);
        CU_ASSERT_EQUAL(count_strangers(rows, i), 0);
    }
}

TEST(test_sequences_are_neighbours_of_one_environment)
{
    struct fulcrum_replay *replay = new_replay(ENVS, 2);
    unsigned stored[ENVS] = {0};
    for (unsigned turn = 0; turn < 60; turn++) {
        unsigned env = turn * 7 % ENVS;
        unsigned count = 1 + turn % 3;
        store(replay, env, stored[env], count);
        stored[env] += count;
        struct rows rows;
        struct fulcrum_replay_target target = target_of(&rows, LENGTH);
        if (fulcrum_replay_draw(replay, &target)) {
            assert_neighbours(&rows, stored);
        }
    }
    fulcrum_replay_free(replay);
}

/* Bytes between two rows belong to somebody else. */
TEST(test_a_draw_writes_its_rows_and_nothing_between)
{
    struct fulcrum_replay *replay = new_replay(1, 3);
    store(replay, 0, 0, CAPACITY);
    struct rows rows;
    struct fulcrum_replay_target target = target_of(&rows, LENGTH);
    struct step gap = rows.steps[0][1];
    CU_ASSERT(fulcrum_replay_draw(replay, &target));
    for (size_t i = 0; i < (size_t)LENGTH * BATCH; i++) {
        CU_ASSERT_EQUAL(memcmp(&rows.steps[i][1], &gap, sizeof gap), 0);
    }
    fulcrum_replay_free(replay);
}

TEST(test_a_full_ring_forgets_its_oldest)
{
    struct fulcrum_replay *replay = new_replay(1, 4);
    struct rows rows;
    struct fulcrum_replay_target target = target_of(&rows, LENGTH);
    store(replay, 0, 0, CAPACITY + 3);
    int seen[2 * CAPACITY] = {0};
    for (int turn = 0; turn < 8; turn++) {
        CU_ASSERT(fulcrum_replay_draw(replay, &target));
        for (size_t i = 0; i < BATCH; i++) {
            seen[drawn(&rows, 0, i)->number]++;
        }
    }
    /* 0 to 2 are gone; a sequence starts at 3 to 7, each of them drawn in 512. */
    for (unsigned start = 0; start < 2 * CAPACITY; start++) {
        bool is_held = start >= 3 && start + LENGTH <= CAPACITY + 3;
        CU_ASSERT_EQUAL(seen[start] > 0, is_held);
    }
    fulcrum_replay_free(replay);
}

static unsigned note_of(unsigned number)
{
    return 100 * number + number % 2;
}

static size_t count_wrong_notes(
    const struct rows *rows, const unsigned *notes, size_t sequence)
{
    unsigned first = drawn(rows, 0, sequence)->number;
    size_t wrong = 0;
    for (unsigned t = 0; t < LENGTH; t++) {
        wrong += notes[(size_t)t * BATCH + sequence] != note_of(first + t);
    }
    return wrong;
}

/* Notes come with their rows, and one more follows each sequence. */
TEST(test_notes_follow_their_observations)
{
    const struct fulcrum_replay_options options = {.env_count = 2,
        .length = LENGTH,
        .row_byte = sizeof(struct step),
        .note_byte = sizeof(unsigned),
        .seed = 8};
    struct fulcrum_replay *replay = NULL;
    ASSERT_OK(fulcrum_replay_new(&replay, &options, NULL));
    struct rows rows;
    unsigned notes[LENGTH * BATCH] = {0};
    struct fulcrum_replay_target target = target_of(&rows, LENGTH - 1);
    target.notes = (unsigned char *)notes;
    for (unsigned i = 0; i < CAPACITY + 5; i++) {
        /* A sequence and the step after it: LENGTH of them. */
        CU_ASSERT_EQUAL(fulcrum_replay_holds(replay, LENGTH), i >= LENGTH);
        CU_ASSERT_EQUAL(fulcrum_replay_draw(replay, &target), i >= LENGTH);
        const struct step step = {0, i};
        const unsigned note = note_of(i);
        fulcrum_replay_store(replay, 0, &step, &note);
    }
    CU_ASSERT(fulcrum_replay_draw(replay, &target));
    for (size_t i = 0; i < BATCH; i++) {
        CU_ASSERT_EQUAL(count_wrong_notes(&rows, notes, i), 0);
    }
    fulcrum_replay_free(replay);
}

/* Rows shorter than an observation take its beginning, and nothing else is written. */
TEST(test_what_does_not_fit_a_row_is_left_out)
{
    enum { ROWS = LENGTH * BATCH };
    struct fulcrum_replay *replay = new_replay(1, 3);
    unsigned rows[ROWS + 1];
    rows[ROWS] = 12345;
    for (unsigned i = 0; i < LENGTH; i++) {
        const struct step step = {70 + i, 1000};
        fulcrum_replay_store(replay, 0, &step, NULL);
    }
    const struct fulcrum_replay_target target = {.rows = (unsigned char *)rows,
        .row_byte = sizeof rows[0],
        .batch_count = BATCH,
        .step_count = LENGTH};
    CU_ASSERT(fulcrum_replay_draw(replay, &target));
    for (size_t i = 0; i < ROWS; i++) {
        CU_ASSERT_EQUAL(rows[i], 70 + i / BATCH);
    }
    CU_ASSERT_EQUAL(rows[ROWS], 12345);
    fulcrum_replay_free(replay);
}

/* Few environments keep more of each: so many rows in all are there to draw from. */
TEST(test_rings_are_as_long_as_is_wanted)
{
    const struct fulcrum_replay_options options = {.env_count = 2,
        .length = 1,
        .least_row_count = 40,
        .row_byte = sizeof(struct step)};
    struct fulcrum_replay *replay = NULL;
    ASSERT_OK(fulcrum_replay_new(&replay, &options, NULL));
    CU_ASSERT_FALSE(fulcrum_replay_holds(replay, 1));
    store(replay, 1, 0, 19);
    CU_ASSERT_FALSE(fulcrum_replay_holds(replay, 20));
    store(replay, 1, 19, 1000);
    CU_ASSERT(fulcrum_replay_holds(replay, 20));
    CU_ASSERT_FALSE(fulcrum_replay_holds(replay, 25));
    fulcrum_replay_free(replay);
}

/* Starts have the same chance: an environment with five of them, one with one. */
TEST(test_starts_are_drawn_with_the_same_chance)
{
    struct fulcrum_replay *replay = new_replay(2, 5);
    struct rows rows;
    struct fulcrum_replay_target target = target_of(&rows, LENGTH);
    store(replay, 0, 0, CAPACITY);
    store(replay, 1, 0, LENGTH);
    double few = 0.0;
    for (int turn = 0; turn < 100; turn++) {
        CU_ASSERT(fulcrum_replay_draw(replay, &target));
        for (size_t i = 0; i < BATCH; i++) {
            few += drawn(&rows, 0, i)->env == 1;
        }
    }
    /* A sixth of 6400, which scatter by 0.0047. */
    CU_ASSERT_DOUBLE_EQUAL(few / (100.0 * BATCH), 1.0 / 6.0, 0.02);
    fulcrum_replay_free(replay);
}

static void draw_twenty(uint64_t seed, struct rows *out)
{
    struct fulcrum_replay *replay = new_replay(ENVS, seed);
    for (unsigned env = 0; env < ENVS; env++) {
        store(replay, env, 0, CAPACITY);
    }
    struct fulcrum_replay_target target = target_of(out, LENGTH);
    for (int i = 0; i < 20; i++) {
        CU_ASSERT(fulcrum_replay_draw(replay, &target));
    }
    fulcrum_replay_free(replay);
}

TEST(test_the_same_seed_draws_the_same)
{
    struct rows first;
    struct rows again;
    struct rows other;
    draw_twenty(11, &first);
    draw_twenty(11, &again);
    draw_twenty(12, &other);
    CU_ASSERT_EQUAL(memcmp(&first, &again, sizeof first), 0);
    CU_ASSERT_NOT_EQUAL(memcmp(&first, &other, sizeof first), 0);
}

TEST(test_what_takes_too_much_memory_is_refused)
{
    static const struct fulcrum_replay_options huge[] = {
        {.env_count = 65536, .length = 120, .row_byte = 28224},
        {.env_count = 1, .length = (size_t)-1, .row_byte = 4},
        {.env_count = (size_t)-1, .length = 1, .row_byte = 4},
        {.env_count = 1, .length = 1, .row_byte = (size_t)1 << 40},
    };
    for (size_t i = 0; i < LENGTH(huge); i++) {
        struct fulcrum_replay *replay = NULL;
        ASSERT_FAILS(fulcrum_replay_new(&replay, &huge[i], &err), FULCRUM_ERR_RANGE,
            "at most 16 GiB");
        CU_ASSERT_PTR_NULL(replay);
    }
    fulcrum_replay_free(NULL);
}

static void *store_many(void *argument)
{
    store(argument, 0, 0, 20000);
    return NULL;
}

/* One thread stores, another one draws: no sequence is torn. */
TEST(test_draws_beside_stores_are_whole)
{
    struct fulcrum_replay *replay = new_replay(1, 6);
    pthread_t writer;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&writer, NULL, store_many, replay), 0);
    size_t torn = 0;
    for (int turn = 0; turn < 300; turn++) {
        struct rows rows;
        struct fulcrum_replay_target target = target_of(&rows, LENGTH);
        if (!fulcrum_replay_draw(replay, &target)) {
            continue;
        }
        for (size_t i = 0; i < (size_t)(LENGTH - 1) * BATCH; i++) {
            torn += rows.steps[i + BATCH][0].number != rows.steps[i][0].number + 1;
        }
    }
    (void)pthread_join(writer, NULL);
    CU_ASSERT_EQUAL(torn, 0);
    fulcrum_replay_free(replay);
}
