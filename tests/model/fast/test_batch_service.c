/* test_batch_service.c - intervals and latencies of batches, worked out by hand. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fast/steps.h"

#include "tests/support/suite.h"

/* Times for a batch of 10: host 1 + 10 x 0.1 = 2 s, GPU 2 + 10 x 0.2 = 4 s alone. */
static struct fulcrum_network network(double depth)
{
    return (struct fulcrum_network){.actors = 100,
        .host = {.per_batch_s = 1.0, .per_item_s = 0.1},
        .gpu = {.per_batch_s = 2.0, .per_item_s = 0.2},
        .depth = depth,
        .delay_s = 0.5};
}

struct expected {
    double depth;
    double stretch;
    double host_factor;
    double interval_s;
    double latency_s; /* of a batch that waits for nobody */
    double crowded_s; /* of one that always has others inside */
};

static const struct expected cases[] = {
    {1, 1.0, 1.0, 6.0, 6.5, 6.5},
    {1, 2.0, 1.0, 10.0, 10.5, 10.5},
    {2, 1.0, 1.0, 4.0, 6.5, 8.5},
    {3, 1.0, 1.0, 4.0, 6.5, 12.5},
    {2, 1.5, 1.0, 6.0, 8.5, 12.5},
    /* A slow host never lets batches wait for the GPU. */
    {2, 1.0, 2.5, 5.0, 9.5, 9.5},
    {5, 1.0, 2.5, 5.0, 9.5, 9.5},
    /* Without a host there is nothing to overlap. */
    {1, 1.0, 0.0, 4.0, 4.5, 4.5},
    {4, 1.0, 0.0, 4.0, 4.5, 4.5},
    {4, 2.0, 0.0, 8.0, 8.5, 8.5},
};

enum { CASES = LENGTH(cases) };

TEST(test_times_are_those_worked_out)
{
    for (size_t i = 0; i < CASES; i++) {
        struct fulcrum_network own = network(cases[i].depth);
        own.host.per_batch_s *= cases[i].host_factor;
        own.host.per_item_s *= cases[i].host_factor;
        struct fulcrum_batch_service calm =
            fulcrum_batch_service_unhurried(&own, cases[i].stretch, 10.0);
        struct fulcrum_batch_service pace =
            fulcrum_batch_service_of(&own, cases[i].stretch, 10.0);
        assert_close("host", calm.host_s, 2.0 * cases[i].host_factor, 1e-14);
        assert_close("GPU", calm.gpu_s, 4.0 * cases[i].stretch, 1e-14);
        assert_close("interval", calm.interval_s, cases[i].interval_s, 1e-14);
        assert_close("latency", calm.latency_s, cases[i].latency_s, 1e-14);
        assert_close("interval", pace.interval_s, cases[i].interval_s, 1e-14);
        assert_close("crowded", pace.latency_s, cases[i].crowded_s, 1e-14);
    }
}

/* Means below one come out of equations; a batch below one there is not. */
TEST(test_there_is_no_batch_below_one)
{
    struct fulcrum_network own = network(1);
    struct fulcrum_batch_service one = fulcrum_batch_service_of(&own, 1.0, 1.0);
    struct fulcrum_batch_service less = fulcrum_batch_service_of(&own, 1.0, 0.3);
    assert_close("interval", one.interval_s, 1.1 + 2.2, 1e-14);
    assert_close("interval", less.interval_s, one.interval_s, 1e-14);
}

TEST(test_measured_tables_are_looked_up)
{
    static const double size[] = {1, 20};
    static const double time_s[] = {3.0, 22.0};
    struct fulcrum_network own = network(1);
    own.gpu.size = size;
    own.gpu.time_s = time_s;
    own.gpu.count = 2;
    assert_close("GPU", fulcrum_batch_service_of(&own, 2.0, 10.0).gpu_s, 24.0, 1e-14);
}
