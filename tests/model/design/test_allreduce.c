/* test_allreduce.c - all-reduce: limits, bounds, and messages followed one by one. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/design/cluster.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "tests/support/suite.h"

enum { DEVICES_MOST = 64, LEVELS = 2 };

static const enum fulcrum_allreduce all[] = {FULCRUM_ALLREDUCE_BEST,
    FULCRUM_ALLREDUCE_RING, FULCRUM_ALLREDUCE_TREE, FULCRUM_ALLREDUCE_HIERARCHICAL};

enum { KINDS = LENGTH(all) };

static double of(enum fulcrum_allreduce how, double peers, double nodes, double byte)
{
    const struct fulcrum_link_level levels[LEVELS] = {
        {peers, 300e9, 3e-6}, {nodes, 25e9, 14e-6}};
    return fulcrum_allreduce_s(how, levels, LEVELS, byte);
}

TEST(test_one_device_and_nothing_to_sum_take_no_time)
{
    for (size_t i = 0; i < KINDS; i++) {
        CU_ASSERT_EQUAL(of(all[i], 1, 1, 1e9), 0.0);
        CU_ASSERT_EQUAL(of(all[i], 8, 4, 0), 0.0);
        CU_ASSERT_TRUE(of(all[i], 2, 1, 1) > 0.0);
        CU_ASSERT_TRUE(of(all[i], 1, 2, 1) > 0.0);
    }
}

TEST(test_links_without_end_take_no_time)
{
    const struct fulcrum_link_level levels[LEVELS] = {
        {8, (double)INFINITY, 0}, {16, (double)INFINITY, 0}};
    for (size_t i = 0; i < KINDS; i++) {
        CU_ASSERT_EQUAL(fulcrum_allreduce_s(all[i], levels, LEVELS, 1e12), 0.0);
    }
}

TEST(test_a_ring_on_one_level_is_the_textbook_formula)
{
    const double byte = 17.6e6;
    static const double counts[] = {2, 3, 8, 100};
    for (size_t i = 0; i < LENGTH(counts); i++) {
        double n = counts[i];
        assert_close("nodes", of(FULCRUM_ALLREDUCE_RING, 1, n, byte),
            2 * (n - 1) / n * byte / 25e9 + 2 * (n - 1) * 14e-6, 1e-14);
        assert_close("peers", of(FULCRUM_ALLREDUCE_RING, n, 1, byte),
            2 * (n - 1) / n * byte / 300e9 + 2 * (n - 1) * 3e-6, 1e-14);
    }
}

/* Links of one level that joins a single group do not slow the other down. */
TEST(test_a_level_of_one_does_not_count)
{
    const struct fulcrum_link_level levels[] = {
        {8, 300e9, 3e-6}, {1, 1e3, 10}, {1, 1e3, 10}};
    for (size_t i = 0; i < KINDS; i++) {
        assert_close("alone", fulcrum_allreduce_s(all[i], levels, 3, 1e8),
            fulcrum_allreduce_s(all[i], levels, 1, 1e8), 1e-15);
    }
}

/* Is the link out of device i one of the network? */
static int crosses(size_t i, size_t peers)
{
    return (i + 1) % peers == 0;
}

/*
 * Chunks pushed around a ring, link by link: a device sends a chunk when it has it and
 * its link is free. The time at which the last chunk has gone round twice.
 */
static double followed_ring_s(size_t peers, size_t nodes, double chunk_byte)
{
    size_t devices = peers * nodes;
    double has[DEVICES_MOST] = {
        0}; /* chunk that started at i: when its holder has it */
    double last = 0.0;
    size_t steps = 2 * (devices - 1);
    for (size_t step = 0; step < steps; step++) {
        double next[DEVICES_MOST] = {0};
        for (size_t chunk = 0; chunk < devices; chunk++) {
            size_t holder = (chunk + step) % devices;
            bool is_net = nodes > 1 && crosses(holder, peers);
            double rate = nodes > 1 ? 25e9 : 300e9; /* the ring's slowest link */
            next[chunk] = has[chunk] + (is_net ? 14e-6 : 3e-6) + chunk_byte / rate;
            last = fmax(last, next[chunk]);
        }
        memcpy(has, next, sizeof has[0] * devices);
    }
    return last;
}

/*
 * The formula counts a ring's hops over the network as NCCL does, 2 (n - 1): a chunk
 * that starts at the right place meets up to 2 n of them.
 */
TEST(test_a_ring_is_what_chunks_take_that_are_followed)
{
    static const size_t shapes[][2] = {{1, 2}, {1, 7}, {8, 1}, {2, 4}, {8, 8}};
    for (size_t i = 0; i < LENGTH(shapes); i++) {
        size_t peers = shapes[i][0];
        size_t nodes = shapes[i][1];
        double byte = 64e6;
        double followed = followed_ring_s(peers, nodes, byte / (double)(peers * nodes));
        double formula = of(FULCRUM_ALLREDUCE_RING, (double)peers, (double)nodes, byte);
        CU_ASSERT_TRUE(formula <= followed * (1 + 1e-12));
        CU_ASSERT_TRUE(followed - formula <= 2 * (14e-6 - 3e-6) + 1e-12);
    }
}

/* Whoever has a message passes it on, one at a time: rounds until all have it. */
TEST(test_a_tree_is_as_deep_as_doubling_takes)
{
    for (int i = 2; i <= 33; i++) {
        double n = i;
        double reached = 1;
        double rounds = 0;
        while (reached < n) {
            reached *= 2;
            rounds += 1;
        }
        assert_close("latency", of(FULCRUM_ALLREDUCE_TREE, 1, n, 1e-9),
            2 * rounds * 14e-6, 1e-9);
    }
}

static void assert_bounds(double peers, double nodes)
{
    double within = 2 * (peers - 1) / peers * 1e8 / 300e9;
    double across = 2 * (nodes - 1) / nodes * 1e8 / 25e9;
    for (size_t k = 0; k < KINDS; k++) {
        double time_s = of(all[k], peers, nodes, 1e8);
        CU_ASSERT_TRUE(time_s >= fmax(within, across));
        CU_ASSERT_TRUE(time_s >= of(FULCRUM_ALLREDUCE_BEST, peers, nodes, 1e8));
    }
}

/* Patarasuk and Yuan 2009: every device sends at least 2 (G - 1) / G of the bytes. */
TEST(test_nothing_beats_the_least_bytes)
{
    static const double counts[] = {1, 2, 4, 8};
    for (size_t i = 0; i < 16; i++) {
        assert_bounds(counts[i % 4], counts[i / 4]);
    }
}

/* Few bytes over many machines go by tree, many over few by ring or by levels. */
TEST(test_the_best_changes_with_bytes_and_devices)
{
    const struct fulcrum_link_level many[LEVELS] = {
        {1, 300e9, 3e-6}, {64, 25e9, 14e-6}};
    const struct fulcrum_link_level nodes[LEVELS] = {
        {8, 300e9, 3e-6}, {2, 25e9, 14e-6}};
    CU_ASSERT_EQUAL(fulcrum_allreduce_chosen(FULCRUM_ALLREDUCE_BEST, many, LEVELS, 1e3),
        FULCRUM_ALLREDUCE_TREE);
    CU_ASSERT_EQUAL(
        fulcrum_allreduce_chosen(FULCRUM_ALLREDUCE_BEST, many, LEVELS, 1e10),
        FULCRUM_ALLREDUCE_RING);
    CU_ASSERT_EQUAL(
        fulcrum_allreduce_chosen(FULCRUM_ALLREDUCE_BEST, nodes, LEVELS, 1e9),
        FULCRUM_ALLREDUCE_HIERARCHICAL);
    CU_ASSERT_EQUAL(
        fulcrum_allreduce_chosen(FULCRUM_ALLREDUCE_TREE, nodes, LEVELS, 1e9),
        FULCRUM_ALLREDUCE_TREE);
}

TEST(test_every_choice_has_a_name)
{
    CU_ASSERT_STRING_EQUAL(fulcrum_allreduce_name(FULCRUM_ALLREDUCE_BEST), "best");
    CU_ASSERT_STRING_EQUAL(
        fulcrum_allreduce_name(FULCRUM_ALLREDUCE_HIERARCHICAL), "hierarchical");
    CU_ASSERT_PTR_NULL(fulcrum_allreduce_name(KINDS));
    CU_ASSERT_PTR_NULL(fulcrum_allreduce_name(-1));
}
