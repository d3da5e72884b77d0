/* test_ablation.c - what each component costs, in any order. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/whatif/component_cost.h"

#include <math.h>
#include <string.h>

#include "tests/support/suite.h"

enum { N = FULCRUM_IDEAL_COUNT, SETS = FULCRUM_IDEAL_SETS };

static int has(unsigned set, size_t i)
{
    return (set >> i & 1U) != 0U;
}

/* Where time is a sum, every order gives the same shares. */
TEST(test_shares_of_a_sum_do_not_depend_on_the_order)
{
    static const double part[N] = {12, 16, 15, 57, 30, 7};
    const double rest = 20;
    double time[SETS];
    double whole = rest;
    for (size_t i = 0; i < N; i++) {
        whole += part[i];
    }
    for (unsigned set = 0; set < SETS; set++) {
        time[set] = whole;
        for (size_t i = 0; i < N; i++) {
            time[set] -= has(set, i) ? part[i] : 0;
        }
    }
    struct fulcrum_ideal_share shares[N];
    fulcrum_ideal_shares(time, shares);
    for (size_t i = 0; i < N; i++) {
        double expected = part[i] / whole;
        assert_close("in order", shares[i].in_order_frac, expected, 1e-12);
        assert_close("first", shares[i].first_frac, expected, 1e-12);
        assert_close("last", shares[i].last_frac, expected, 1e-12);
        assert_close("least", shares[i].least_frac, expected, 1e-12);
        assert_close("most", shares[i].most_frac, expected, 1e-12);
        assert_close("mean", shares[i].mean_frac, expected, 1e-12);
    }
}

/* A time that is no sum: the longest of two queues, and something that varies. */
static void fill_times(double *time)
{
    for (unsigned set = 0; set < SETS; set++) {
        double gpu = 1 + 3 * !has(set, 0) + 2 * !has(set, 1) + 1.5 * !has(set, 3);
        double host = 2 + 4 * !has(set, 5) + !has(set, 2) * !has(set, 4);
        time[set] = fmax(gpu, host) + 0.1 * gpu * host;
    }
}

struct walk {
    const double *time;
    double sum[N];
    double least[N];
    double most[N];
    double count;
};

static void take_order(struct walk *walk, const double *saved)
{
    for (size_t i = 0; i < N; i++) {
        walk->sum[i] += saved[i];
        walk->least[i] = fmin(walk->least[i], saved[i]);
        walk->most[i] = fmax(walk->most[i], saved[i]);
    }
    walk->count += 1;
}

/* Every order, one after the other: six deep, and nothing in common with sums over
 * sets. NOLINTNEXTLINE(misc-no-recursion) */
static void walk_orders(struct walk *walk, unsigned set, const double *saved)
{
    if (set == SETS - 1) {
        take_order(walk, saved);
        return;
    }
    for (size_t i = 0; i < N; i++) {
        if (!has(set, i)) {
            double next[N];
            memcpy(next, saved, sizeof next);
            next[i] = (walk->time[set] - walk->time[set | 1U << i]) / walk->time[0];
            walk_orders(walk, set | 1U << i, next);
        }
    }
}

TEST(test_shares_agree_with_all_720_orders)
{
    double time[SETS];
    struct fulcrum_ideal_share shares[N];
    const double nothing[N] = {0};
    struct walk walk = {.time = time};
    for (size_t i = 0; i < N; i++) {
        walk.least[i] = INFINITY;
        walk.most[i] = -INFINITY;
    }
    fill_times(time);
    fulcrum_ideal_shares(time, shares);
    walk_orders(&walk, 0, nothing);
    CU_ASSERT_EQUAL(walk.count, 720.0);
    int differs = 0;
    for (size_t i = 0; i < N; i++) {
        assert_close(
            "mean", 1 + shares[i].mean_frac, 1 + walk.sum[i] / walk.count, 1e-12);
        assert_close("least", 1 + shares[i].least_frac, 1 + walk.least[i], 1e-14);
        assert_close("most", 1 + shares[i].most_frac, 1 + walk.most[i], 1e-14);
        differs = differs || shares[i].most_frac > shares[i].least_frac + 0.05;
    }
    CU_ASSERT(differs);
}

TEST(test_shares_sum_to_what_is_saved)
{
    double time[SETS];
    struct fulcrum_ideal_share shares[N];
    fill_times(time);
    fulcrum_ideal_shares(time, shares);
    double in_order = 0;
    double mean = 0;
    for (size_t i = 0; i < N; i++) {
        in_order += shares[i].in_order_frac;
        mean += shares[i].mean_frac;
        CU_ASSERT(shares[i].least_frac <= shares[i].first_frac);
        CU_ASSERT(shares[i].last_frac <= shares[i].most_frac);
        CU_ASSERT(shares[i].least_frac <= shares[i].mean_frac);
    }
    double saved = (time[0] - time[SETS - 1]) / time[0];
    assert_close("in order", in_order, saved, 1e-12);
    assert_close("mean", mean, saved, 1e-12);
    assert_close(
        "first of the list", shares[0].in_order_frac, shares[0].first_frac, 1e-14);
    assert_close("last of the list", 1 + shares[N - 1].in_order_frac,
        1 + shares[N - 1].last_frac, 1e-14);
}

static void assert_in_range(const struct fulcrum_setting *settings, size_t count)
{
    static struct fulcrum_design design;
    for (size_t k = 0; k < count; k++) {
        enum fulcrum_status status = fulcrum_field_set_number(
            settings[k].field, &design, settings[k].number, NULL);
        ASSERT_OK(status);
    }
}

/* Every component changes fields that there are, by values that they take. */
TEST(test_ideal_settings_are_in_range)
{
    struct fulcrum_setting settings[FULCRUM_IDEAL_SETTINGS_MOST];
    size_t sum = 0;
    for (size_t i = 0; i < N; i++) {
        size_t count = fulcrum_ideal_settings(1U << i, settings);
        CU_ASSERT(count > 0);
        CU_ASSERT_PTR_NOT_NULL(fulcrum_ideal_meaning(i));
        assert_in_range(settings, count);
        sum += count;
    }
    CU_ASSERT_EQUAL(fulcrum_ideal_settings(SETS - 1, settings), sum);
    CU_ASSERT_EQUAL(fulcrum_ideal_settings(0, settings), 0);
}

TEST(test_components_are_known_by_name)
{
    CU_ASSERT_EQUAL(fulcrum_ideal_find("SM utilization"), FULCRUM_IDEAL_SM);
    CU_ASSERT_EQUAL(fulcrum_ideal_find("of DRAM bandwidth"), FULCRUM_IDEAL_DRAM);
    CU_ASSERT_EQUAL(fulcrum_ideal_find("small mathematics"), N);
    CU_ASSERT_PTR_NULL(fulcrum_ideal_name(N));
    CU_ASSERT_PTR_NULL(fulcrum_ideal_meaning(N));
    CU_ASSERT(fulcrum_ideal_is_gpu(FULCRUM_IDEAL_DRAM));
    CU_ASSERT(!fulcrum_ideal_is_gpu(FULCRUM_IDEAL_HOST));
}
