/* test_stationary.c - shares of visits by hand, down to chances of 1e-40. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/exact/chain.h"

#include "tests/support/suite.h"

enum { MOST = 4, LONG = 300 };

TEST(test_small_chains_by_hand)
{
    static const struct {
        const char *name;
        size_t count;
        double chance[MOST * MOST];
        double share[MOST];
    } cases[] = {
        {"alone", 1, {1.0}, {1.0}},
        {"two", 2, {0.7, 0.3, 0.1, 0.9}, {0.25, 0.75}},
        /* Never stays, never forgets: 0 -> 1 -> 2 -> 0. */
        {"round", 3, {0, 1, 0, 0, 0, 1, 1, 0, 0}, {1.0 / 3, 1.0 / 3, 1.0 / 3}},
        /* Two pairs, each in itself; the bridges are 3e-40 to and 1e-40 back. */
        {"bridge", 4,
            {0.5, 0.5, 0, 0, 0.5, 0.5, 3e-40, 0, 0, 1e-40, 0.5, 0.5, 0, 0, 0.5, 0.5},
            {0.125, 0.125, 0.375, 0.375}},
        /* Only where state 0 leads to: 3 is left alone, 0 itself is left behind. */
        {"ways", 4, {0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1},
            {0.0, 0.5, 0.5, 0.0}},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        double chance[MOST * MOST];
        double share[MOST];
        for (size_t j = 0; j < LENGTH(chance); j++) {
            chance[j] = cases[i].chance[j];
        }
        fulcrum_stationary(share, chance, cases[i].count);
        for (size_t j = 0; j < cases[i].count; j++) {
            assert_close(cases[i].name, share[j] + 1.0, cases[i].share[j] + 1.0, 1e-15);
        }
    }
}

/* Up with chance 2/3, down with 1/3: shares double 299 times, from about 1e-90. */
TEST(test_shares_span_ninety_decades)
{
    static double chance[LONG * LONG];
    static double share[LONG];
    for (size_t i = 0; i + 1 < LONG; i++) {
        chance[i * LONG + i + 1] = 2.0 / 3.0;
        chance[(i + 1) * LONG + i] = 1.0 / 3.0;
    }
    fulcrum_stationary(share, chance, LONG);
    assert_close("last", share[LONG - 1], 0.5, 1e-13);
    for (size_t i = 0; i + 1 < LONG; i++) {
        assert_close("ratio", share[i + 1] / share[i], 2.0, 1e-14);
    }
}
