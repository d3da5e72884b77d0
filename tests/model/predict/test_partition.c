/* test_partition.c - stages on parts of a GPU, and which parts there are. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/predict/partition.c" /* NOLINT(bugprone-suspicious-include) */

#include "model/parallel.h"
#include "model/predict/partition.h"
#include "tests/support/suite.h"

static const struct fulcrum_gpu_sharing no_cost = {.byte_per_s = (double)INFINITY};

/* Stages of one second, of which `stays` no part of the GPU shortens. */
static struct fulcrum_gpu_loop equal_stages(size_t count, double stays)
{
    struct fulcrum_gpu_loop loop = {.count = count, .steps = 100, .memory_byte = 40e9};
    for (size_t i = 0; i < count; i++) {
        loop.stages[i].per_round =
            (struct fulcrum_gpu_time){.latency_s = stays, .sm_s = 1 - stays};
    }
    return loop;
}

static struct fulcrum_grouping all_apart(size_t count)
{
    struct fulcrum_grouping grouping = {.count = count};
    for (size_t i = 0; i < count; i++) {
        grouping.groups[i] = (struct fulcrum_stage_group){1U << i, 1, 0};
    }
    return grouping;
}

/* Uniform in [0, 1): the same numbers at every run. */
static double next_uniform(uint64_t *state)
{
    *state = fulcrum_stream_seed(*state, 1, 2);
    return (double)(*state >> 11U) / 9007199254740992.0;
}

static struct fulcrum_gpu_time random_time(uint64_t *state)
{
    return (struct fulcrum_gpu_time){.host_s = next_uniform(state),
        .latency_s = next_uniform(state),
        .sm_s = 0.01 + next_uniform(state),
        .dram_s = 0.3 * next_uniform(state)};
}

static struct fulcrum_gpu_loop random_loop(uint64_t *state)
{
    struct fulcrum_gpu_loop loop = {.count = 3, .steps = 1000, .memory_byte = 40e9};
    for (size_t i = 0; i < loop.count; i++) {
        loop.stages[i].per_step = random_time(state);
        loop.stages[i].per_round = random_time(state);
        loop.stages[i].alternates = i < 2;
        loop.stages[i].memory_byte = 1e9;
        loop.stages[i].env_memory_byte = i == 0 ? 2e9 : 0;
        loop.stages[i].hand_byte = 1e6;
        loop.stages[i].reduce_byte = i == 2 ? 1e6 : 0;
        loop.stages[i].sm_active_frac = 0.5;
    }
    return loop;
}

/* The loop in given groups. */
static struct fulcrum_placed shares(const struct fulcrum_gpu_loop *loop,
    const struct fulcrum_gpu_sharing *sharing, const struct fulcrum_grouping *grouping)
{
    struct fulcrum_placed placed = {.part_count = 0};
    ASSERT_OK(fulcrum_place_shares(loop, sharing, grouping, &placed, NULL));
    return placed;
}

static struct fulcrum_placed sliced(const struct fulcrum_gpu_loop *loop,
    const struct fulcrum_gpu_sharing *sharing, double instances)
{
    struct fulcrum_placed placed = {.part_count = 0};
    ASSERT_OK(fulcrum_place_time_sliced(loop, sharing, instances, &placed, NULL));
    return placed;
}

static struct fulcrum_placed exclusive(const struct fulcrum_gpu_loop *loop)
{
    struct fulcrum_placed placed;
    fulcrum_place_exclusive(loop, &placed);
    return placed;
}

/* To the last bit. */
static void assert_same(const struct fulcrum_placed *a, const struct fulcrum_placed *b)
{
    CU_ASSERT_EQUAL(a->placement, b->placement);
    CU_ASSERT_EQUAL_FATAL(a->part_count, b->part_count);
    CU_ASSERT_EQUAL(a->instances, b->instances);
    CU_ASSERT_EQUAL(a->rounds_per_s, b->rounds_per_s);
    CU_ASSERT_EQUAL(a->steps_per_s, b->steps_per_s);
    CU_ASSERT_EQUAL(a->sm_held_frac, b->sm_held_frac);
    CU_ASSERT_EQUAL(a->sm_work_frac, b->sm_work_frac);
    CU_ASSERT_EQUAL(a->sm_active_frac, b->sm_active_frac);
    CU_ASSERT_EQUAL(a->memory_byte, b->memory_byte);
    CU_ASSERT_EQUAL(a->parts[0].stages, b->parts[0].stages);
    CU_ASSERT_EQUAL(a->parts[0].sm_frac, b->parts[0].sm_frac);
    CU_ASSERT_EQUAL(a->parts[0].dram_frac, b->parts[0].dram_frac);
    CU_ASSERT_EQUAL(a->parts[0].round_s, b->parts[0].round_s);
    CU_ASSERT_EQUAL(a->parts[0].busy_frac, b->parts[0].busy_frac);
}

/* As docs/model.md has it: 3 / (s + 3 (1 - s)) for a serial share s. Work that fills
 * the GPU gains nothing, work that ignores it gains in full. */
TEST(test_three_equal_stages_gain_what_their_serial_share_leaves)
{
    static const double rows[][2] = {
        {0, 1}, {0.7, 1.875}, {0.9, 2.5}, {0.967, 2.815}, {1, 3}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct fulcrum_gpu_loop loop = equal_stages(3, rows[i][0]);
        struct fulcrum_grouping grouping = all_apart(3);
        struct fulcrum_placed alone = exclusive(&loop);
        struct fulcrum_placed apart = shares(&loop, &no_cost, &grouping);
        assert_close("gain", apart.rounds_per_s / alone.rounds_per_s, rows[i][1], 1e-3);
        assert_close("gain", apart.rounds_per_s / alone.rounds_per_s,
            3 / (rows[i][0] + 3 * (1 - rows[i][0])), 1e-9);
        assert_close("alone", alone.rounds_per_s, 1.0 / 3, 1e-9);
        double share = rows[i][0] < 1 ? 1.0 / 3 : 0.0; /* of no use to it */
        for (size_t g = 0; g < 3; g++) {
            assert_close("share", apart.parts[g].sm_frac, share, 1e-9);
        }
    }
}

TEST(test_one_instance_is_exclusive_to_the_last_bit)
{
    uint64_t state = 7;
    for (int k = 0; k < 50; k++) {
        struct fulcrum_gpu_loop loop = random_loop(&state);
        struct fulcrum_gpu_sharing sharing = {.byte_per_s = 1e9,
            .overhead_frac = 0.045,
            .switch_frac = 0.1,
            .cache_byte = 40e6,
            .cache_law = {.exponent = 0.5, .working_set_byte = (double)NAN}};
        const struct fulcrum_grouping whole = {1, {{7, 1, 0}}};
        struct fulcrum_placed alone = exclusive(&loop);
        struct fulcrum_placed one = shares(&loop, &sharing, &whole);
        assert_same(&alone, &one);
        one = sliced(&loop, &sharing, 1);
        assert_same(&alone, &one);
    }
}

/* Shares by trying: every 1/400 of two groups whose round is a + w / x. */
TEST(test_shares_agree_with_a_grid)
{
    uint64_t state = 3;
    for (int k = 0; k < 40; k++) {
        struct fulcrum_gpu_loop loop = {.count = 2, .steps = 1, .memory_byte = 1};
        double a[2];
        double w[2];
        for (size_t i = 0; i < 2; i++) {
            a[i] = next_uniform(&state);
            w[i] = 0.05 + next_uniform(&state);
            loop.stages[i].per_round =
                (struct fulcrum_gpu_time){.latency_s = a[i], .sm_s = w[i]};
        }
        double best = 0;
        for (int n = 1; n < 400; n++) {
            double x = n / 400.0;
            best = fmax(best, 1 / fmax(a[0] + w[0] / x, a[1] + w[1] / (1 - x)));
        }
        struct fulcrum_grouping grouping = all_apart(2);
        struct fulcrum_placed placed = shares(&loop, &no_cost, &grouping);
        CU_ASSERT(placed.rounds_per_s >= best);
        assert_close("rate", placed.rounds_per_s, best, 0.01);
        assert_close("sum", placed.parts[0].sm_frac + placed.parts[1].sm_frac, 1, 1e-9);
    }
}

/* All that two stages do is arithmetic: with a whole GPU each they would do twice as
 * much as there is. */
TEST(test_given_shares_are_of_one_gpu)
{
    struct fulcrum_gpu_loop loop = equal_stages(2, 0);
    struct fulcrum_grouping grouping = {2, {{1, 1, 1.0}, {2, 1, 1.0}}};
    struct fulcrum_placed placed;
    ASSERT_FAILS(fulcrum_place_shares(&loop, &no_cost, &grouping, &placed, &err),
        FULCRUM_ERR_RANGE, "sum to 2: expected at most 1");
    grouping.groups[0].sm_frac = 0.5;
    grouping.groups[1].sm_frac = 0.5;
    placed = shares(&loop, &no_cost, &grouping);
    assert_close("half", placed.rounds_per_s, 0.5, 1e-9);
}

/* A share below one SM is slow; it is not refused, nor taken for no rate at all. */
TEST(test_a_given_share_may_be_less_than_one_sm)
{
    struct fulcrum_gpu_loop loop = equal_stages(2, 0);
    const struct fulcrum_gpu_sharing sharing = {
        .byte_per_s = (double)INFINITY, .least_sm_frac = 0.01};
    const struct fulcrum_grouping grouping = {2, {{1, 1, 0.9}, {2, 1, 0.005}}};
    struct fulcrum_placed placed = shares(&loop, &sharing, &grouping);
    assert_close("rate", placed.rounds_per_s, 0.005, 1e-9);
}

/* The same rate where the optimum's own shares are asked for. */
TEST(test_given_shares_give_what_the_optimum_gave)
{
    uint64_t state = 11;
    for (int k = 0; k < 40; k++) {
        struct fulcrum_gpu_loop loop = random_loop(&state);
        struct fulcrum_grouping grouping = all_apart(3);
        grouping.groups[1].instances = 2;
        struct fulcrum_placed given;
        struct fulcrum_placed best = shares(&loop, &no_cost, &grouping);
        for (size_t g = 0; g < 3; g++) {
            grouping.groups[g].sm_frac = best.parts[g].sm_frac * (1 + 1e-9);
        }
        given = shares(&loop, &no_cost, &grouping);
        assert_close("rate", given.rounds_per_s, best.rounds_per_s, 1e-6);
        grouping.groups[0].sm_frac *= 0.5;
        given = shares(&loop, &no_cost, &grouping);
        CU_ASSERT(given.rounds_per_s < best.rounds_per_s * (1 + 1e-6));
    }
}

/* n processes that read memory all the time get 1/n of it each, and no more. */
TEST(test_memory_that_is_full_is_shared_evenly)
{
    struct fulcrum_gpu_loop loop = {.count = 1, .steps = 1, .memory_byte = 1};
    loop.stages[0].per_round = (struct fulcrum_gpu_time){.dram_s = 1};
    for (int n = 2; n <= 8; n++) {
        const struct fulcrum_grouping grouping = {1, {{1, n, 0}}};
        struct fulcrum_placed placed = shares(&loop, &no_cost, &grouping);
        assert_close("rate", placed.rounds_per_s, 1, 1e-6);
    }
    loop.stages[0].per_round.latency_s = 1e6;
    const struct fulcrum_grouping four = {1, {{1, 4, 0}}};
    struct fulcrum_placed placed = shares(&loop, &no_cost, &four);
    assert_close("nearly alone", placed.parts[0].round_s, 1e6 + 1, 1e-9);
}

/* Equal instances that deal the environments out are one process with all of them: a
 * part of the SMs for a part of the work, and what a step costs as often. */
TEST(test_dealing_out_environments_gains_nothing)
{
    struct fulcrum_gpu_loop loop = {.count = 2, .steps = 10, .memory_byte = 1};
    loop.stages[0].per_step = (struct fulcrum_gpu_time){.latency_s = 0.4};
    loop.stages[0].per_round = (struct fulcrum_gpu_time){.sm_s = 0.6};
    loop.stages[0].alternates = 1;
    loop.stages[1] = loop.stages[0];
    struct fulcrum_placed alone = exclusive(&loop);
    for (int n = 2; n <= 7; n++) {
        const struct fulcrum_grouping grouping = {1, {{3, n, 0}}};
        struct fulcrum_placed placed = shares(&loop, &no_cost, &grouping);
        assert_close("dealt out", placed.steps_per_s, alone.steps_per_s, 1e-9);
        /* Each with as many: the gain of one process with n times as many. */
        struct fulcrum_gpu_sharing each = no_cost;
        each.envs_each = 1;
        placed = shares(&loop, &each, &grouping);
        assert_close(
            "each", placed.steps_per_s, n * loop.steps / (2 * 0.4 + 2 * 0.6 * n), 1e-9);
    }
}

/* Simulation and agent wait for each other: apart, each step is taken in halves. */
TEST(test_stages_that_alternate_pay_steps_twice_where_apart)
{
    struct fulcrum_gpu_loop loop = equal_stages(2, 0);
    for (size_t i = 0; i < 2; i++) {
        loop.stages[i].per_step = (struct fulcrum_gpu_time){.latency_s = 0.5};
        loop.stages[i].alternates = 1;
    }
    struct fulcrum_grouping grouping = all_apart(2);
    struct fulcrum_placed placed = shares(&loop, &no_cost, &grouping);
    assert_close("halves", placed.rounds_per_s, 1 / (2 * 0.5 + 1 / 0.5), 1e-9);
    loop.stages[0].alternates = 0;
    loop.stages[1].alternates = 0;
    placed = shares(&loop, &no_cost, &grouping);
    assert_close("free", placed.rounds_per_s, 1 / (0.5 + 1 / 0.5), 1e-9);
}

TEST(test_time_slices_overlap_what_the_host_does)
{
    struct fulcrum_gpu_loop loop = {.count = 1, .steps = 1, .memory_byte = 1};
    struct fulcrum_gpu_sharing sharing = no_cost;
    struct fulcrum_placed placed;
    loop.stages[0].per_round = (struct fulcrum_gpu_time){.host_s = 3, .sm_s = 1};
    sharing.envs_each = 1;
    placed = sliced(&loop, &sharing, 2);
    assert_close("two", placed.rounds_per_s, 2.0 / 4, 1e-12);
    placed = sliced(&loop, &sharing, 8);
    assert_close("full", placed.rounds_per_s, 1, 1e-12);
    assert_close("busy", placed.sm_held_frac, 1, 1e-12);
    sharing.switch_frac = 0.25;
    placed = sliced(&loop, &sharing, 8);
    assert_close("switches", placed.rounds_per_s, 1 / 1.25, 1e-12);
}

/* No process has less than an SM, and what that takes from others costs rate. */
TEST(test_a_share_is_no_less_than_one_sm)
{
    uint64_t state = 5;
    for (int k = 0; k < 20; k++) {
        struct fulcrum_gpu_loop loop = random_loop(&state);
        loop.stages[2].per_round.sm_s = 1e-3;
        loop.stages[2].per_step.sm_s = 1e-3;
        const struct fulcrum_grouping apart = {2, {{3, 1, 0}, {4, 8, 0}}};
        struct fulcrum_gpu_sharing sharing = no_cost;
        struct fulcrum_placed bound;
        struct fulcrum_placed loose = shares(&loop, &sharing, &apart);
        CU_ASSERT(loose.parts[1].sm_frac < 0.01);
        sharing.least_sm_frac = 0.01;
        bound = shares(&loop, &sharing, &apart);
        CU_ASSERT_EQUAL(bound.parts[1].sm_frac, 0.01);
        CU_ASSERT(bound.parts[0].sm_frac + 8 * 0.01 <= 1 + 1e-12);
        CU_ASSERT(bound.rounds_per_s <= loose.rounds_per_s);
        /* More of them than SMs: even shares. */
        sharing.least_sm_frac = 0.5;
        bound = shares(&loop, &sharing, &apart);
        assert_close("even", bound.parts[1].sm_frac, 1.0 / 9, 1e-9);
        CU_ASSERT(bound.rounds_per_s > 0);
    }
}

/* Launches keep no SM active: paying them n times, or hiding them, adds none. */
TEST(test_turns_are_as_active_as_the_gpu_is_held)
{
    uint64_t state = 11;
    struct fulcrum_gpu_sharing sharing = no_cost;
    for (int k = 0; k < 20; k++) {
        struct fulcrum_gpu_loop loop = random_loop(&state);
        for (size_t i = 0; i < loop.count; i++) {
            loop.stages[i].sm_active_frac = 0.1;
            loop.stages[i].per_step.host_s = 0.2;
            loop.stages[i].per_round.host_s = 0;
        }
        struct fulcrum_placed alone = exclusive(&loop);
        assert_close("alone", alone.sm_active_frac, 0.1, 1e-12);
        double density = alone.sm_active_frac / alone.sm_held_frac;
        sharing.envs_each = 1;
        struct fulcrum_placed turns = sliced(&loop, &sharing, 4);
        assert_close("each", turns.sm_active_frac / turns.sm_held_frac, density, 1e-12);
        /* The same launches, and no other work than that of one step. */
        loop.stages[0].per_step.host_s = 50;
        loop.count = 1;
        alone = exclusive(&loop);
        density = alone.sm_active_frac / alone.sm_held_frac;
        sharing.envs_each = 0;
        loop.memory_byte = 1e12;
        turns = sliced(&loop, &sharing, 4);
        CU_ASSERT(
            turns.sm_active_frac <= fmin(1, density * turns.sm_held_frac) + 1e-12);
    }
}

/* What no placement of this many instances of the whole loop can exceed: rounds/s. */
static double ceiling_of(const struct fulcrum_gpu_loop *loop,
    const struct fulcrum_gpu_sharing *sharing, double instances)
{
    double work_s = 0.0;
    double dram_s = 0.0;
    double slowest = (double)INFINITY;
    for (size_t i = 0; i < loop->count; i++) {
        const struct fulcrum_stage_group alone = {
            .stages = 1U << i, .instances = instances};
        struct fulcrum_gpu_sharing free_of_cost = *sharing;
        free_of_cost.byte_per_s = (double)INFINITY;
        free_of_cost.envs_each = 1;
        struct fulcrum_gpu_loop apart = *loop;
        for (size_t k = 0; k < loop->count; k++) {
            apart.stages[k].alternates = 0;
        }
        struct group_load load = load_of(&apart, &free_of_cost, &alone);
        work_s += load.time.sm_s;
        dram_s += load.time.dram_s;
        slowest = fmin(slowest, instances / fmax(whole_s(&load.time), 1e-300));
    }
    return fmin(slowest, fmin(1.0 / fmax(work_s, 1e-300), 1.0 / fmax(dram_s, 1e-300)));
}

TEST(test_no_placement_beats_the_sum_of_its_parts)
{
    uint64_t state = 5;
    for (int k = 0; k < 60; k++) {
        struct fulcrum_gpu_loop loop = random_loop(&state);
        struct fulcrum_gpu_sharing sharing = {
            .byte_per_s = 1e9, .overhead_frac = 0.02, .envs_each = k % 2};
        struct fulcrum_placed placed;
        double ceiling = ceiling_of(&loop, &sharing, 6);
        ASSERT_OK(fulcrum_place_best_shares(&loop, &sharing, 6, &placed, NULL));
        CU_ASSERT(placed.rounds_per_s <= ceiling * (1 + 1e-9));
        CU_ASSERT(placed.sm_work_frac <= 1 + 1e-9);
        CU_ASSERT(placed.sm_held_frac <= 1 + 1e-9);
        placed = sliced(&loop, &sharing, 6);
        CU_ASSERT(placed.rounds_per_s <= ceiling * (1 + 1e-9));
    }
}

/* A link that costs nothing is no worse than any, and never matters to one process. */
TEST(test_communication_costs)
{
    uint64_t state = 9;
    struct fulcrum_gpu_loop loop = random_loop(&state);
    struct fulcrum_gpu_sharing sharing = no_cost;
    struct fulcrum_grouping grouping = all_apart(3);
    struct fulcrum_placed free_placed = shares(&loop, &sharing, &grouping);
    double before = free_placed.rounds_per_s;
    for (int power = 12; power >= 5; power--) {
        sharing.byte_per_s = pow(10, power);
        struct fulcrum_placed placed = shares(&loop, &sharing, &grouping);
        CU_ASSERT(placed.rounds_per_s <= before);
        before = placed.rounds_per_s;
    }
    CU_ASSERT(before < 0.9 * free_placed.rounds_per_s);
}

/* Every stage is in one group. */
static void assert_whole(const struct fulcrum_grouping *grouping, size_t stage_count)
{
    unsigned all = 0;
    for (size_t g = 0; g < grouping->count; g++) {
        CU_ASSERT_EQUAL(all & grouping->groups[g].stages, 0);
        all |= grouping->groups[g].stages;
    }
    CU_ASSERT_EQUAL(all, (1U << stage_count) - 1U);
}

TEST(test_set_partitions_are_bells_numbers)
{
    static const size_t bell[] = {1, 2, 5, 15};
    for (size_t n = 1; n <= 4; n++) {
        struct fulcrum_grouping grouping;
        size_t count = 0;
        while (grouping_at(n, count, &grouping)) {
            assert_whole(&grouping, n);
            count++;
        }
        CU_ASSERT_EQUAL(count, bell[n - 1]);
    }
}

struct slices {
    const char *name;
    double compute;
    double memory;
    double most;
    size_t start_count;
    double starts[7];
};

/* Profiles of slices that have so many SMs and bytes each. */
static void set_profiles(struct fulcrum_mig *mig, const struct slices *slices,
    double sm_count, double memory_byte)
{
    for (size_t i = 0; i < mig->profile_count; i++) {
        struct fulcrum_mig_profile *profile = &mig->profiles[i];
        *profile =
            (struct fulcrum_mig_profile){.compute_slice_count = slices[i].compute,
                .memory_slice_count = slices[i].memory,
                .cache_slice_count = slices[i].memory,
                .sm_count = sm_count * slices[i].compute,
                .memory_byte = memory_byte * slices[i].memory,
                .most_count = slices[i].most,
                .start_count = slices[i].start_count};
        memcpy(profile->name, slices[i].name, strlen(slices[i].name) + 1);
        memcpy(profile->starts, slices[i].starts, sizeof slices[i].starts);
    }
}

/* Two kinds of slices, so few that every assignment can be written down. */
static struct fulcrum_mig small_gpu(void)
{
    static const struct slices slices[] = {
        {"1g", 1, 1, 3, 3, {0, 1, 2}}, {"2g", 2, 2, 1, 1, {0}}};
    struct fulcrum_mig mig = {.name = "small",
        .compute_slice_count = 3,
        .memory_slice_count = 4,
        .sm_count = 30,
        .memory_byte = 40e9,
        .profile_count = LENGTH(slices)};
    set_profiles(&mig, slices, 10, 10e9);
    return mig;
}

static double on_slice(const struct fulcrum_gpu_stage *stage, bool is_large)
{
    return fulcrum_gpu_stage_s(
        stage, is_large ? 2.0 / 3 : 1.0 / 3, is_large ? 0.5 : 0.25);
}

/* Stages 0 and 1, both per round only, so that dealing out does not matter. */
static double best_by_hand(const struct fulcrum_gpu_loop *loop)
{
    double best = 0;
    const struct fulcrum_gpu_stage *a = &loop->stages[0];
    const struct fulcrum_gpu_stage *b = &loop->stages[1];
    double small_a = on_slice(a, 0);
    double small_b = on_slice(b, 0);
    double both_small = small_a + small_b;
    double both_large = on_slice(a, 1) + on_slice(b, 1);
    best = fmax(best, 3 / both_small);
    best = fmax(best, 1 / both_large);
    best = fmax(best, 2 / fmax(both_small, both_large));
    best = fmax(best, fmin(1 / small_a, 2 / small_b));
    best = fmax(best, fmin(2 / small_a, 1 / small_b));
    best = fmax(best, fmin(1 / on_slice(a, 1), 1 / small_b));
    best = fmax(best, fmin(1 / small_a, 1 / on_slice(b, 1)));
    return best;
}

TEST(test_slices_agree_with_every_assignment_by_hand)
{
    uint64_t state = 13;
    struct fulcrum_mig mig = small_gpu();
    struct fulcrum_gpu_sharing sharing = no_cost;
    sharing.mig = &mig;
    for (int k = 0; k < 200; k++) {
        struct fulcrum_gpu_loop loop = {.count = 2, .steps = 1, .memory_byte = 40e9};
        for (size_t i = 0; i < 2; i++) {
            loop.stages[i].per_round = random_time(&state);
        }
        struct fulcrum_placed placed;
        struct fulcrum_mig_layout layout;
        ASSERT_OK(fulcrum_place_best_layout(&loop, &sharing, &placed, &layout, NULL));
        assert_close("rate", placed.rounds_per_s, best_by_hand(&loop), 1e-12);
        CU_ASSERT(placed.sm_held_frac <= 1 + 1e-9);
    }
}

/* A smaller cache makes more traffic, by the power. */
TEST(test_a_slice_has_its_part_of_the_cache)
{
    static const struct {
        const char *what;
        struct fulcrum_cache_law law;
        double round_s;
    } cases[] = {
        {"a quarter", {0.5, 0.0, NAN}, 4 * 2},
        /* A quarter of the traffic no cache saves: the rest is twice as much. */
        {"compulsory", {0.5, 0.25, NAN}, 4 * (0.25 + 0.75 * 2)},
        /* It fits into 10 MB, a slice: bandwidth is all that this has less of. */
        {"fits", {0.5, 0.25, 10e6}, 4},
        {"fits the whole", {0.5, 0.25, 40e6}, 4 * 2},
    };
    struct fulcrum_mig mig = small_gpu();
    struct fulcrum_gpu_loop loop = {.count = 1, .steps = 1, .memory_byte = 40e9};
    struct fulcrum_gpu_sharing sharing = no_cost;
    struct fulcrum_mig_layout layout;
    struct fulcrum_placed placed;
    loop.stages[0].per_round = (struct fulcrum_gpu_time){.dram_s = 1};
    sharing.cache_byte = 40e6;
    sharing.mig = &mig;
    ASSERT_OK(fulcrum_mig_layout_parse(&mig, "1g", &layout, NULL));
    for (size_t i = 0; i < LENGTH(cases); i++) {
        sharing.cache_law = cases[i].law;
        ASSERT_OK(fulcrum_place_layout(&loop, &sharing, &layout, &placed, NULL));
        assert_close(cases[i].what, placed.parts[0].round_s, cases[i].round_s, 1e-12);
    }
}

TEST(test_memory_limits_are_kept)
{
    struct fulcrum_mig mig = small_gpu();
    struct fulcrum_gpu_loop loop = equal_stages(1, 0.5);
    struct fulcrum_mig_layout layout;
    struct fulcrum_placed placed;
    struct fulcrum_gpu_sharing sharing = no_cost;
    sharing.mig = &mig;
    loop.stages[0].memory_byte = 15e9;
    ASSERT_OK(fulcrum_place_best_layout(&loop, &sharing, &placed, &layout, NULL));
    CU_ASSERT_EQUAL(placed.parts[0].profile, 1);
    loop.stages[0].memory_byte = 25e9;
    CU_ASSERT_EQUAL(fulcrum_place_best_layout(&loop, &sharing, &placed, &layout, NULL),
        FULCRUM_ERR_INFEASIBLE);
    CU_ASSERT_EQUAL(fulcrum_place_layout(&loop, &sharing,
                        &(struct fulcrum_mig_layout){{0, 1}, 1, 0}, &placed, NULL),
        FULCRUM_ERR_INFEASIBLE);
    ASSERT_FAILS(fulcrum_place_time_sliced(&loop, &no_cost, 2, &placed, &err),
        FULCRUM_ERR_INFEASIBLE, "50 GB of memory in all");
    CU_ASSERT_EQUAL(fulcrum_place_best_shares(&loop, &no_cost, 4, &placed, NULL),
        FULCRUM_ERR_INFEASIBLE);
}

/* The A100's profiles as its driver lists them, without those of twice the memory. */
static struct fulcrum_mig a100(void)
{
    static const struct slices slices[] = {
        {"1g", 1, 1, 7, 7, {0, 1, 2, 3, 4, 5, 6}},
        {"2g", 2, 2, 3, 3, {0, 2, 4}},
        {"3g", 3, 4, 2, 2, {0, 4}},
        {"4g", 4, 4, 1, 1, {0}},
        {"7g", 7, 8, 1, 1, {0}},
    };
    struct fulcrum_mig mig = {.name = "made",
        .compute_slice_count = 7,
        .memory_slice_count = 8,
        .sm_count = 108,
        .memory_byte = 40e9,
        .profile_count = LENGTH(slices)};
    set_profiles(&mig, slices, 14, 5e9);
    return mig;
}

static const struct fulcrum_mig_layout *find(
    const struct fulcrum_mig_layout *layouts, size_t count, const char *counts)
{
    for (size_t i = 0; i < count; i++) {
        int same = 1;
        for (size_t k = 0; k < 5; k++) {
            same = same && layouts[i].counts[k] == counts[k] - '0';
        }
        if (same) {
            return &layouts[i];
        }
    }
    return NULL;
}

/* The caller frees them. */
static struct fulcrum_mig_layout *layouts_of(
    const struct fulcrum_mig *mig, size_t *count)
{
    struct fulcrum_mig_layout *layouts = NULL;
    ASSERT_OK(fulcrum_mig_layouts(mig, &layouts, count, NULL));
    return layouts;
}

/* Known sets of instances: those that nos keeps for the A100-SXM4-40GB
 * (github.com/nebuly-ai/nos, pkg/gpu/mig/known_configs.go), and 4g beside 3g, which the
 * MIG User Guide's diagram has; as numbers of 1g, 2g, 3g, 4g and 7g. Of those that do
 * not fit, 4g beside 4g has the memory slices but eight compute slices; 3g beside 3g
 * and 1g has the compute slices, and every memory slice taken. */
TEST(test_known_layouts_of_an_a100_are_found_and_no_wrong_ones)
{
    static const char *const known[] = {"00001", "11010", "30010", "00200", "11100",
        "30100", "02100", "21100", "13000", "32000", "51000", "70000", "00110"};
    static const char *const wrong[] = {
        "00020", "10200", "00101", "80000", "04000", "40010", "03100", "12010"};
    struct fulcrum_mig mig = a100();
    size_t count = 0;
    struct fulcrum_mig_layout *layouts = layouts_of(&mig, &count);
    for (size_t i = 0; i < LENGTH(known); i++) {
        CU_ASSERT_PTR_NOT_NULL(find(layouts, count, known[i]));
    }
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        CU_ASSERT_PTR_NULL(find(layouts, count, wrong[i]));
    }
    free(layouts);
}

/* By another way: each of the eight places holds nothing or begins a profile, all 6^8
 * combinations, by hand. */
struct tally {
    size_t sets; /* different sets of instances */
    unsigned char seen[8][4][3][2][2];
};

static int place_all(
    const struct fulcrum_mig *mig, unsigned long code, unsigned char counts[5])
{
    unsigned taken = 0;
    double compute = 0;
    memset(counts, 0, 5);
    for (unsigned start = 0; start < 8; start++, code /= 6) {
        unsigned long i = code % 6;
        if (i == 5) {
            continue;
        }
        const struct fulcrum_mig_profile *profile = &mig->profiles[i];
        bool may_start = 0;
        for (size_t k = 0; k < profile->start_count; k++) {
            may_start = may_start || profile->starts[k] == (double)start;
        }
        unsigned slices = ((1U << (unsigned)profile->memory_slice_count) - 1U) << start;
        if (!may_start || (taken & slices) != 0U) {
            return 0;
        }
        taken |= slices;
        compute += profile->compute_slice_count;
        counts[i]++;
    }
    for (size_t i = 0; i < 5; i++) {
        compute = counts[i] > mig->profiles[i].most_count ? 99 : compute;
    }
    return compute <= 7;
}

TEST(test_layouts_agree_with_every_combination)
{
    struct fulcrum_mig mig = a100();
    static struct tally tally;
    unsigned char counts[5];
    for (unsigned long code = 0; code < 1679616UL; code++) {
        if (place_all(&mig, code, counts)) {
            unsigned char *seen =
                &tally.seen[counts[0]][counts[1]][counts[2]][counts[3]][counts[4]];
            tally.sets += *seen == 0;
            *seen = 1;
        }
    }
    size_t count = 0;
    struct fulcrum_mig_layout *layouts = layouts_of(&mig, &count);
    CU_ASSERT_EQUAL(count + 1, tally.sets); /* the empty one */
    for (size_t i = 0; i < count; i++) {
        const unsigned char *c = layouts[i].counts;
        CU_ASSERT_EQUAL(tally.seen[c[0]][c[1]][c[2]][c[3]][c[4]], 1);
    }
    free(layouts);
}

TEST(test_a_media_extension_adds_no_layout)
{
    struct fulcrum_mig mig = a100();
    size_t plain = 0;
    size_t extended = 0;
    free(layouts_of(&mig, &plain));
    mig.profiles[5] = mig.profiles[0];
    mig.profiles[5].is_media_extension = 1;
    mig.profile_count = 6;
    free(layouts_of(&mig, &extended));
    CU_ASSERT_EQUAL(extended, plain);
}

TEST(test_a_layout_is_read_and_written)
{
    struct fulcrum_mig mig = a100();
    struct fulcrum_mig_layout layout;
    char text[80];
    ASSERT_OK(fulcrum_mig_layout_parse(&mig, "1g,3g,2g,1g", &layout, NULL));
    CU_ASSERT_EQUAL(layout.instance_count, 4);
    fulcrum_mig_layout_text(&mig, &layout, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "3g + 2g + 2 x 1g");
    fulcrum_mig_layout_text(&mig, &layout, text, 6);
    CU_ASSERT_STRING_EQUAL(text, "3g + ");
}

TEST(test_each_fault_of_a_layout_is_named)
{
    static const struct {
        const char *text;
        enum fulcrum_status status;
        const char *part;
    } rows[] = {
        {"4g,4g", FULCRUM_ERR_INFEASIBLE, "2 instances of 4g: expected at most 1"},
        {"3g,3g,1g", FULCRUM_ERR_INFEASIBLE, "7 of 7 compute slices, 9 of 8"},
        {"4g,2g,2g", FULCRUM_ERR_INFEASIBLE, "8 of 7 compute slices"},
        {"5g", FULCRUM_ERR_UNKNOWN_NAME, "no profile \"5g\": expected one of 1g, 2g"},
        {"", FULCRUM_ERR_UNKNOWN_NAME, "no profile \"\""},
        {"1g,,1g", FULCRUM_ERR_UNKNOWN_NAME, "no profile \"\""},
        {"1g,1g,1g,1g,1g,1g,1g,1g,1g,1g,1g,1g,1g,1g,1g,1g,1g", FULCRUM_ERR_INFEASIBLE,
            "more than 16"},
    };
    struct fulcrum_mig mig = a100();
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct fulcrum_mig_layout layout;
        ASSERT_FAILS(fulcrum_mig_layout_parse(&mig, rows[i].text, &layout, &err),
            rows[i].status, rows[i].part);
    }
}

/* 3g and 3g and nothing else: a first choice may have to be taken back. */
TEST(test_places_are_tried_until_all_have_one)
{
    struct fulcrum_mig mig = a100();
    struct fulcrum_mig_layout layout;
    static const char *const good[] = {
        "3g,2g,1g,1g", "3g,1g,1g,1g,1g", "2g,2g,2g,1g", "3g,2g,2g", "4g,3g", "7g"};
    for (size_t i = 0; i < LENGTH(good); i++) {
        ASSERT_OK(fulcrum_mig_layout_parse(&mig, good[i], &layout, NULL));
    }
}

TEST(test_each_fault_of_a_gpu_is_named)
{
    struct fulcrum_mig good = a100();
    struct fulcrum_error err = {FULCRUM_OK, ""};
    ASSERT_OK(fulcrum_mig_check(&good, NULL));
    struct fulcrum_mig mig = good;
    mig.profiles[2].starts[1] = 5;
    mig.profiles[1].sm_count = 200;
    memcpy(mig.profiles[4].name, "1g", 3);
    CU_ASSERT_EQUAL(fulcrum_mig_check(&mig, &err), FULCRUM_ERR_RANGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "profiles[2].starts[1] = 5"));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "profiles[1].sm_count = 200"));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "profiles[4].name = \"1g\""));
    mig = good;
    mig.profile_count = 0;
    CU_ASSERT_EQUAL(fulcrum_mig_check(&mig, &err), FULCRUM_ERR_MISSING);
    mig = good;
    mig.profiles[0].start_count = 0;
    CU_ASSERT_EQUAL(fulcrum_mig_check(&mig, &err), FULCRUM_ERR_MISSING);
    mig = good;
    mig.compute_slice_count = 17;
    CU_ASSERT_EQUAL(fulcrum_mig_check(&mig, &err), FULCRUM_ERR_RANGE);
}
