/* test_cluster.c - training on many devices, and the sum of their gradients. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "model/design/cluster.c" /* NOLINT(bugprone-suspicious-include) */
#include "tests/support/designs.h"
#include "tests/support/suite.h"

static const double counts[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
enum { COUNTS = LENGTH(counts) };

/* A step of 0.2 s on 64 samples; 100 MB of gradients; eight devices to a machine. */
static struct fulcrum_cluster network(void)
{
    return (struct fulcrum_cluster){
        .step_s = 0.2,
        .batch_size = 64,
        .gradient_byte = 100e6,
        .update_count = 1,
        .critical_batch_size = 4096,
        .model_parallel_frac = fulcrum_model_parallel_frac(1.6, 2),
        .link = {.peer_byte_per_s = 150e9,
            .peer_latency_s = 3.4e-6,
            .network_byte_per_s = 12.5e9,
            .network_latency_s = 14e-6},
    };
}

static struct fulcrum_layout spread(double devices, double per_node, double parts)
{
    struct fulcrum_layout layout = {0};
    ASSERT_OK(fulcrum_layout_spread(devices, per_node, parts, &layout, NULL));
    return layout;
}

static struct fulcrum_cluster_step at(
    const struct fulcrum_cluster *cluster, double devices, double parts)
{
    const struct fulcrum_layout layout = spread(devices, 8, parts);
    return fulcrum_cluster_step_of(cluster, &layout);
}

/* How much sooner workers of `parts` devices are done than workers of one (16c). */
static double gain_of(
    const struct fulcrum_cluster *cluster, double devices, double parts)
{
    return at(cluster, devices, parts).quality_speedup /
           at(cluster, devices, 1).quality_speedup;
}

TEST(test_one_device_does_not_communicate)
{
    const struct fulcrum_cluster cluster = network();
    struct fulcrum_cluster_step step = at(&cluster, 1, 1);
    CU_ASSERT_EQUAL(step.allreduce_s, 0.0);
    CU_ASSERT_EQUAL(step.step_s, 0.2);
    CU_ASSERT_EQUAL(step.efficiency, 1.0);
    CU_ASSERT_EQUAL(step.speedup, 1.0);
    CU_ASSERT_EQUAL(step.epochs_rel, 1.0);
    assert_close("rate", step.samples_per_s, 64 / 0.2, 1e-15);
}

/* Refused with the network that it is for, and no reason to divide by zero before. */
TEST(test_a_step_of_no_length_has_finite_rates)
{
    struct fulcrum_cluster cluster = network();
    cluster.step_s = 0.0;
    struct fulcrum_cluster_step step = at(&cluster, 1, 1);
    CU_ASSERT_EQUAL(step.step_s, 0.0);
    CU_ASSERT(isfinite(step.efficiency) && isfinite(step.samples_per_s));
    CU_ASSERT(isfinite(step.speedup));
}

TEST(test_free_links_scale_in_proportion)
{
    struct fulcrum_cluster cluster = network();
    cluster.link = (struct fulcrum_link){
        .peer_byte_per_s = (double)INFINITY, .network_byte_per_s = (double)INFINITY};
    for (size_t i = 0; i < COUNTS; i++) {
        struct fulcrum_cluster_step step = at(&cluster, counts[i], 1);
        CU_ASSERT_EQUAL(step.step_s, 0.2);
        assert_close("speed-up", step.speedup, counts[i], 1e-14);
    }
}

/* Epochs without end of the batch: quality comes with samples. */
TEST(test_an_infinite_critical_batch_keeps_the_epochs)
{
    struct fulcrum_cluster cluster = network();
    cluster.critical_batch_size = (double)INFINITY;
    for (size_t i = 0; i < COUNTS; i++) {
        struct fulcrum_cluster_step step = at(&cluster, counts[i], 1);
        CU_ASSERT_EQUAL(step.epochs_rel, 1.0);
        CU_ASSERT_EQUAL(step.quality_speedup, step.speedup);
    }
}

TEST(test_epochs_double_at_the_critical_batch)
{
    assert_close("at B_c", epochs_rel_of(4096, 0, 4096), 2.0, 1e-15);
    assert_close("far beyond, in proportion",
        epochs_rel_of(2e12, 64, 4096) / epochs_rel_of(1e12, 64, 4096), 2.0, 1e-6);
    CU_ASSERT_EQUAL(epochs_rel_of(64, 64, (double)NAN), 1.0);
    CU_ASSERT_TRUE(isnan(epochs_rel_of(128, 64, (double)NAN)));
}

/* Twice the devices are never half as good nor worse in steps, with any links. */
TEST(test_samples_per_second_rise_and_efficiency_falls_with_machines)
{
    const struct fulcrum_cluster cluster = network();
    struct fulcrum_cluster_step before = at(&cluster, 8, 1);
    for (size_t i = 4; i < COUNTS; i++) {
        struct fulcrum_cluster_step step = at(&cluster, counts[i], 1);
        CU_ASSERT_TRUE(step.samples_per_s > before.samples_per_s);
        CU_ASSERT_TRUE(step.efficiency <= before.efficiency);
        CU_ASSERT_TRUE(step.epochs_rel > before.epochs_rel);
        before = step;
    }
}

TEST(test_overlap_hides_at_most_what_there_is)
{
    struct fulcrum_cluster cluster = network();
    double whole = at(&cluster, 64, 1).exposed_s;
    CU_ASSERT_EQUAL(whole, at(&cluster, 64, 1).allreduce_s);
    cluster.overlap_frac = 0.01;
    assert_close("part", at(&cluster, 64, 1).exposed_s, whole - 0.002, 1e-12);
    cluster.overlap_frac = 1;
    CU_ASSERT_EQUAL(at(&cluster, 64, 1).exposed_s, 0.0);
}

TEST(test_strong_scaling_divides_one_batch)
{
    struct fulcrum_cluster cluster = network();
    cluster.scaling = FULCRUM_BATCH_STRONG;
    cluster.launch_bound_frac = 0.25;
    for (size_t i = 0; i < COUNTS; i++) {
        struct fulcrum_cluster_step step = at(&cluster, counts[i], 1);
        CU_ASSERT_EQUAL(step.global_batch_size, 64.0);
        CU_ASSERT_EQUAL(step.epochs_rel, 1.0);
        assert_close("work", step.compute_s, 0.2 * (0.25 + 0.75 / counts[i]), 1e-14);
        /* Amdahl's law bounds it by the launch-bound quarter. */
        CU_ASSERT_TRUE(step.speedup <= 4.0);
    }
}

TEST(test_model_parallelism_is_amdahls_law)
{
    CU_ASSERT_EQUAL(fulcrum_model_parallel_speedup(0.7, 1), 1.0);
    CU_ASSERT_EQUAL(fulcrum_model_parallel_speedup(1, 4), 4.0);
    CU_ASSERT_EQUAL(fulcrum_model_parallel_speedup(0, 4), 1.0);
    static const double speedups[] = {1, 1.15, 1.32, 1.9, 2};
    for (size_t i = 0; i < LENGTH(speedups); i++) {
        double frac = fulcrum_model_parallel_frac(speedups[i], 2);
        assert_close(
            "inverse", fulcrum_model_parallel_speedup(frac, 2), speedups[i], 1e-14);
    }
}

static void assert_product(
    const struct fulcrum_cluster *cluster, double device_count, double parts)
{
    struct fulcrum_cluster_step hybrid = at(cluster, device_count, parts);
    struct fulcrum_cluster_step data = at(cluster, device_count, 1);
    double product =
        fulcrum_model_parallel_speedup(cluster->model_parallel_frac, parts) / parts *
        data.epochs_rel / hybrid.epochs_rel * hybrid.efficiency / data.efficiency;
    double gain = gain_of(cluster, device_count, parts);
    assert_close("gain", gain, product, 1e-13);
    /* By hand from (16): epochs x steps per epoch x seconds per step. */
    double time_hybrid = (1 + hybrid.global_batch_size / 4096) /
                         hybrid.global_batch_size * hybrid.step_s;
    double time_data =
        (1 + data.global_batch_size / 4096) / data.global_batch_size * data.step_s;
    assert_close("time", gain, time_data / time_hybrid, 1e-13);
}

/* (16c): hybrid wins where SU_M / M x E_N / E_{N/M} x SE_{N/M} / SE_N is above 1. */
TEST(test_the_gain_is_the_product_of_three_ratios)
{
    const struct fulcrum_cluster cluster = network();
    for (size_t i = 3; i < COUNTS; i++) {
        assert_product(&cluster, counts[i], 2);
        assert_product(&cluster, counts[i], 4);
        assert_product(&cluster, counts[i], 8);
    }
}

/* Workers of several devices lose where nothing is lost to batch and links. */
TEST(test_hybrid_never_wins_where_data_parallel_is_ideal)
{
    struct fulcrum_cluster cluster = network();
    cluster.gradient_byte = 0;
    cluster.critical_batch_size = (double)INFINITY;
    CU_ASSERT_TRUE(isnan(designs_crossover(&cluster, 8, 2, counts, COUNTS)));
}

/* With free links it wins once epochs grow faster than 2 / SU_2: (16d), solved. */
TEST(test_the_crossover_is_where_epochs_outweigh_the_speed)
{
    struct fulcrum_cluster cluster = network();
    cluster.gradient_byte = 0;
    double crossover = designs_crossover(&cluster, 8, 2, counts, COUNTS);
    /* R = 2 / 1.6 = 1.25: (R - 1) / (1 - R / 2) of the critical batch. */
    double least = 0.25 / (1 - 0.625) * 4096 / 64;
    CU_ASSERT_TRUE(crossover > least);
    CU_ASSERT_TRUE(crossover / 2 <= least);
    /* Dearer links put it off: a faster step waits as long for them. */
    struct fulcrum_cluster dear = network();
    dear.link.network_byte_per_s = 1e9;
    CU_ASSERT_TRUE(designs_crossover(&dear, 8, 2, counts, COUNTS) >= crossover);
}

/* Workers of several devices send as much out of each machine as as many workers, and
 * have less to do meanwhile: the network alone is no reason for them. */
TEST(test_the_network_alone_makes_no_gain)
{
    struct fulcrum_cluster cluster = network();
    cluster.critical_batch_size = (double)INFINITY;
    cluster.link.peer_byte_per_s = (double)INFINITY;
    cluster.link.peer_latency_s = 0;
    for (int i = 0; i < 36; i++) {
        cluster.link.network_byte_per_s = pow(10, 8.0 + i % 6);
        cluster.link.network_latency_s = i < 6 ? 0 : pow(10, -1.0 - i % 5);
        CU_ASSERT_TRUE(gain_of(&cluster, 256, 2) <= 1.6 / 2 * (1 + 1e-12));
    }
}

TEST(test_devices_are_spread_evenly)
{
    static const struct {
        double devices, per_node, parts, nodes, each;
    } cases[] = {{1, 8, 1, 1, 1}, {8, 8, 2, 1, 8}, {64, 8, 2, 8, 8}, {12, 8, 1, 2, 6},
        {128, 72, 1, 2, 64}, {1024, 72, 4, 16, 64}, {26, 8, 2, 13, 2}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_layout layout =
            spread(cases[i].devices, cases[i].per_node, cases[i].parts);
        CU_ASSERT_EQUAL(layout.node_count, cases[i].nodes);
        CU_ASSERT_EQUAL(layout.node_device_count, cases[i].each);
    }
    struct fulcrum_layout layout;
    CU_ASSERT_EQUAL(
        fulcrum_layout_spread(3, 8, 2, &layout, NULL), FULCRUM_ERR_INFEASIBLE);
    CU_ASSERT_EQUAL(
        fulcrum_layout_spread(16, 8, 16, &layout, NULL), FULCRUM_ERR_INFEASIBLE);
    CU_ASSERT_EQUAL(fulcrum_layout_spread(1.5, 8, 1, &layout, NULL), FULCRUM_ERR_RANGE);
    CU_ASSERT_EQUAL(
        fulcrum_layout_spread((double)NAN, 8, 1, &layout, NULL), FULCRUM_ERR_RANGE);
}

/* A network split in two sends half as much twice: no more over a machine's way out. */
TEST(test_parts_share_the_machines_network)
{
    struct fulcrum_cluster cluster = network();
    cluster.allreduce = FULCRUM_ALLREDUCE_HIERARCHICAL;
    cluster.link.peer_byte_per_s = (double)INFINITY;
    cluster.link.peer_latency_s = 0;
    assert_close("across machines", at(&cluster, 64, 2).allreduce_s,
        at(&cluster, 64, 1).allreduce_s, 1e-12);
}

/* Processes on one device are workers like others: their batches add up, their sum
 * costs no link. */
TEST(test_parts_of_a_device_are_workers)
{
    struct fulcrum_cluster cluster = network();
    const struct fulcrum_layout parts = {1, 1, 1, 4};
    const struct fulcrum_layout many = {4, 8, 1, 4};
    struct fulcrum_cluster_step step = fulcrum_cluster_step_of(&cluster, &parts);
    CU_ASSERT_EQUAL(step.worker_count, 4.0);
    CU_ASSERT_EQUAL(step.global_batch_size, 256.0);
    CU_ASSERT_EQUAL(step.allreduce_s, 0.0);
    assert_close("epochs", step.epochs_rel, (4096 + 256.0) / (4096 + 64.0), 1e-14);
    assert_close("links as for devices alone",
        fulcrum_cluster_step_of(&cluster, &many).allreduce_s,
        at(&cluster, 32, 1).allreduce_s, 1e-14);
    cluster.scaling = FULCRUM_BATCH_STRONG;
    step = fulcrum_cluster_step_of(&cluster, &parts);
    CU_ASSERT_EQUAL(step.global_batch_size, 64.0);
    assert_close("a quarter", step.compute_s, 0.05, 1e-14);
}

/* A training step of several updates sends the gradients of each. */
TEST(test_every_update_sums_its_gradients)
{
    struct fulcrum_cluster cluster = network();
    double once = at(&cluster, 64, 1).allreduce_s;
    cluster.update_count = 20;
    assert_close("all", at(&cluster, 64, 1).allreduce_s, 20 * once, 1e-14);
    CU_ASSERT_EQUAL(at(&cluster, 1, 1).allreduce_s, 0.0);
}

TEST(test_a_design_says_what_trains_where)
{
    struct fulcrum_design design = gpu_design();
    designs_set(&design,
        "workload.network.parameter_count=1e6 workload.training.batch_size=32 "
        "run.gpu_count=4 run.node_count=3 run.model_parallel_gpu_count=2");
    const struct fulcrum_cluster cluster = fulcrum_cluster_of(&design, 0.1);
    const struct fulcrum_layout layout = fulcrum_layout_of(&design);
    CU_ASSERT_EQUAL(cluster.gradient_byte, 4e6);
    CU_ASSERT_EQUAL(cluster.step_s, 0.1);
    struct fulcrum_cluster_step step = fulcrum_cluster_step_of(&cluster, &layout);
    CU_ASSERT_EQUAL(step.worker_count, 6.0);
    CU_ASSERT_EQUAL(step.global_batch_size, 192.0);
    CU_ASSERT_EQUAL(step.allreduce_s, 0.0); /* links unknown: free */
    CU_ASSERT_EQUAL(cluster.update_count, 1.0);
    CU_ASSERT_EQUAL(layout.instance_count, 1.0);
    design.run.instances_per_gpu = 3;
    CU_ASSERT_EQUAL(fulcrum_layout_of(&design).instance_count, 3.0);
    design = cpu_design();
    CU_ASSERT_EQUAL(fulcrum_layout_of(&design).model_parallel_count, 1.0);
    CU_ASSERT_STRING_EQUAL(fulcrum_batch_scaling_name(FULCRUM_BATCH_WEAK), "weak");
    CU_ASSERT_PTR_NULL(fulcrum_batch_scaling_name(2));
}

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
    static const double sizes[] = {2, 3, 8, 100};
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        double n = sizes[i];
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

/* Chunks pushed around a ring, link by link: a device sends a chunk when it has it and
 * its link is free. The time at which the last chunk has gone round twice. */
static double followed_ring_s(size_t peers, size_t nodes, double chunk_byte)
{
    size_t devices = peers * nodes;
    double has[DEVICES_MOST] = {0}; /* by chunk: since when its holder has it */
    double last = 0.0;
    size_t steps = 2 * (devices - 1);
    for (size_t step = 0; step < steps; step++) {
        double next[DEVICES_MOST] = {0};
        for (size_t chunk = 0; chunk < devices; chunk++) {
            size_t holder = (chunk + step) % devices;
            bool is_net = nodes > 1 && (holder + 1) % peers == 0;
            double rate = nodes > 1 ? 25e9 : 300e9; /* the ring's slowest link */
            next[chunk] = has[chunk] + (is_net ? 14e-6 : 3e-6) + chunk_byte / rate;
            last = fmax(last, next[chunk]);
        }
        memcpy(has, next, sizeof has[0] * devices);
    }
    return last;
}

/* The formula sizes a ring's hops over the network as NCCL does, 2 (n - 1): a chunk
 * that starts at the right place meets up to 2 n of them. */
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

/* Patarasuk and Yuan 2009: every device sends at least 2 (G - 1) / G of the bytes. */
TEST(test_nothing_beats_the_least_bytes)
{
    static const double sizes[] = {1, 2, 4, 8};
    for (size_t i = 0; i < (size_t)16 * KINDS; i++) {
        double peers = sizes[i % 4];
        double nodes = sizes[i / 4 % 4];
        double within = 2 * (peers - 1) / peers * 1e8 / 300e9;
        double across = 2 * (nodes - 1) / nodes * 1e8 / 25e9;
        double time_s = of(all[i / 16], peers, nodes, 1e8);
        CU_ASSERT_TRUE(time_s >= fmax(within, across));
        CU_ASSERT_TRUE(time_s >= of(FULCRUM_ALLREDUCE_BEST, peers, nodes, 1e8));
    }
}

/* Few bytes over many machines go by tree, many over few by ring or by levels. */
TEST(test_the_best_changes_with_bytes_and_devices)
{
    const struct fulcrum_link_level many[LEVELS] = {
        {1, 300e9, 3e-6}, {64, 25e9, 14e-6}};
    const struct fulcrum_link_level nodes[LEVELS] = {
        {8, 300e9, 3e-6}, {2, 25e9, 14e-6}};
    CU_ASSERT_EQUAL(allreduce_chosen(FULCRUM_ALLREDUCE_BEST, many, LEVELS, 1e3),
        FULCRUM_ALLREDUCE_TREE);
    CU_ASSERT_EQUAL(allreduce_chosen(FULCRUM_ALLREDUCE_BEST, many, LEVELS, 1e10),
        FULCRUM_ALLREDUCE_RING);
    CU_ASSERT_EQUAL(allreduce_chosen(FULCRUM_ALLREDUCE_BEST, nodes, LEVELS, 1e9),
        FULCRUM_ALLREDUCE_HIERARCHICAL);
    CU_ASSERT_EQUAL(allreduce_chosen(FULCRUM_ALLREDUCE_TREE, nodes, LEVELS, 1e9),
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
