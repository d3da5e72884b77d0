/* test_parallel.c - every piece of the work is done once, whatever the threads. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/parallel.h"

#include <string.h>

#include "tests/support/suite.h"

enum { MOST = 1000 };

struct tally {
    int done[MOST];
    size_t sum[MOST];
};

static void count_piece(void *context, size_t index)
{
    struct tally *tally = context;
    tally->done[index]++;
    /* Uneven work, so that threads overtake each other. */
    for (size_t i = 0; i < index * (index % 7); i++) {
        tally->sum[index] += i;
    }
}

/* Pieces whose traces are not those of `count` pieces done once. */
static size_t count_wrong(const struct tally *tally, size_t count)
{
    size_t wrong = 0;
    for (size_t j = 0; j < MOST; j++) {
        size_t turns = j < count ? j * (j % 7) : 0;
        wrong += tally->done[j] != (j < count ? 1 : 0);
        wrong += tally->sum[j] != (turns > 0 ? turns * (turns - 1) / 2 : 0);
    }
    return wrong;
}

TEST(test_every_piece_is_done_once)
{
    static const size_t counts[] = {0, 1, 2, 3, 64, MOST};
    for (size_t i = 0; i < LENGTH(counts); i++) {
        struct tally tally;
        memset(&tally, 0, sizeof tally);
        fulcrum_parallel_each(counts[i], count_piece, &tally);
        CU_ASSERT_EQUAL(count_wrong(&tally, counts[i]), 0);
    }
}

static void nest(void *context, size_t index)
{
    struct tally *tallies = context;
    fulcrum_parallel_each(MOST, count_piece, &tallies[index]);
}

TEST(test_work_may_have_pieces_of_its_own)
{
    struct tally tallies[4];
    memset(tallies, 0, sizeof tallies);
    fulcrum_parallel_each(4, nest, tallies);
    for (size_t i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(count_wrong(&tallies[i], MOST), 0);
    }
}
