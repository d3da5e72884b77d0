/* test_textbook.c - the product-form baseline where it is right, and where it is not.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/exact/chain.h"
#include "model/exact/textbook.h"

#include <string.h>

#include "tests/support/designs.h"
#include "tests/support/suite.h"

static struct fulcrum_solution solved(const struct fulcrum_network *network)
{
    struct fulcrum_solution out = {.steps_per_s = 0.0};
    ASSERT_OK(fulcrum_network_check(network, NULL));
    ASSERT_OK(fulcrum_textbook_solve(network, &out, NULL));
    CU_ASSERT_EQUAL(out.method, FULCRUM_METHOD_PRODUCT_FORM);
    CU_ASSERT_EQUAL(out.flags, FULCRUM_FLAG_TEXTBOOK);
    double cycle_s = out.residence.cpu_s + out.residence.host_s + out.residence.gpu_s +
                     out.residence.delay_s;
    assert_close("Little", out.steps_per_s * cycle_s, network->actors, 1e-9);
    return out;
}

TEST(test_two_actors_by_hand)
{
    /* Steps of 1 s on two threads, one exponential server of 1/2 s that takes one at a
       time: weights 1/2, 1/2, 1/4 of 0, 1, 2 there. */
    struct fulcrum_network network = plain_network(2, 2, 0.5, 0.0);
    network.batch_size = 1;
    struct fulcrum_solution out = solved(&network);
    assert_close("X", out.steps_per_s, 1.2, 1e-14);
    assert_close("cpu", out.residence.cpu_s, 1.0, 1e-13);
    assert_close("gpu", out.residence.gpu_s, 0.5, 1e-13);
    assert_close("wait", out.residence.host_s, 1.0 / 6.0, 1e-12);
    assert_close("threads", out.cpu_thread_busy_frac, 0.6, 1e-13);
    assert_close("cores", out.cpu_core_busy_frac, 0.6, 1e-13);
    assert_close("gpu busy", out.gpu_busy_frac, 0.6, 1e-13);
    assert_close("batch", out.mean_batch, 1.0, 1e-13);
    /* Batches of both take no longer: weights 1/2, 1/2, 1/8, and X = E[n / t(n)]. */
    network.batch_size = 2;
    out = solved(&network);
    assert_close("X", out.steps_per_s, (0.5 * 2.0 + 0.125 * 4.0) / 1.125, 1e-14);
    assert_close("batch", out.mean_batch, 0.75 / 0.625, 1e-13);
    assert_close("gpu busy", out.gpu_busy_frac, 0.625 / 1.125, 1e-13);
}

TEST(test_stages_add_up)
{
    /* Equal time per observation makes plain queues; the GPU limits. */
    struct fulcrum_network network = plain_network(60, 64, 0.0, 0.1);
    network.host.per_item_s = 0.05;
    network.delay_s = 0.3;
    struct fulcrum_solution out = solved(&network);
    assert_close("in turns", out.steps_per_s, 1.0 / 0.15, 1e-9);
    assert_close("host", out.host_busy_frac, 1.0 / 3.0, 1e-9);
    assert_close("delay", out.residence.delay_s, 0.3, 0.0);
    network.depth = 2;
    out = solved(&network);
    assert_close("overlap", out.steps_per_s, 1.0 / 0.1, 1e-9);
    assert_close("host", out.host_busy_frac, 0.5, 1e-9);
    CU_ASSERT(out.residence.gpu_s > 4.0 && out.residence.host_s < 0.2);
    network.training = (struct fulcrum_training){10, 1.5, 2, 1.0};
    out = solved(&network);
    assert_close("training", out.steps_per_s, 1.0 / 0.25, 1e-9);
    assert_close("train", out.gpu_train_busy_frac, 0.6, 1e-9);
    assert_close("inference", out.gpu_inference_busy_frac, 0.4, 1e-9);
}

TEST(test_fixed_batches_count_as_whole_ones)
{
    /* Everybody waits at the GPU: n / t(B) up to B, and then B / t(B). */
    struct fulcrum_network network = plain_network(40, 64, 50.0, 0.0);
    network.policy = FULCRUM_BATCH_FIXED;
    network.batch_size = 20;
    struct fulcrum_solution out = solved(&network);
    assert_close("batch", out.mean_batch, 20.0, 1e-12);
    assert_close("X", out.steps_per_s, 20.0 / 50.0, 1e-3);
    assert_close("gpu", out.gpu_busy_frac, out.steps_per_s * 50.0 / 20.0, 1e-12);
}

TEST(test_stations_that_take_no_time)
{
    struct fulcrum_network network = plain_network(5, 2, 0.0, 0.0);
    struct fulcrum_solution out = solved(&network);
    assert_close("no GPU", out.steps_per_s, 2.0, 1e-12);
    assert_close("batch", out.mean_batch, 1.0, 1e-12);
    network = plain_network(5, 2, 0.5, 0.0);
    network.step = (struct fulcrum_step){0.0, 0.0, FULCRUM_LAW_DETERMINISTIC};
    out = solved(&network);
    assert_close("no CPU", out.steps_per_s, 10.0, 1e-12);
    assert_close("batch", out.mean_batch, 5.0, 1e-12);
}

/* What the flag says: even with exponential steps the promise is far too high. */
TEST(test_batches_are_not_product_form)
{
    static const struct {
        double servers;
        double g0;
        double least_error;
    } cases[] = {{64, 0.5, 0.1}, {64, 1.0, 0.2}, {64, 3.0, 0.4}, {64, 100.0, 0.9}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_network network =
            plain_network(40, cases[i].servers, cases[i].g0, 0.001);
        struct fulcrum_solution exact = {.steps_per_s = 0.0};
        ASSERT_OK(fulcrum_chain_solve(&network, &exact, NULL));
        double error = solved(&network).steps_per_s / exact.steps_per_s - 1.0;
        CU_ASSERT(error > cases[i].least_error && error < 1.0);
    }
}

TEST(test_more_than_the_product_form_takes)
{
    struct fulcrum_network network = plain_network(2e5, 64, 0.5, 0.001);
    struct fulcrum_solution out = {.steps_per_s = -1.0};
    ASSERT_FAILS(fulcrum_textbook_solve(&network, &out, &err), FULCRUM_ERR_UNSUPPORTED,
        "customers = 200000");
    CU_ASSERT_EQUAL(out.steps_per_s, -1.0);
}
