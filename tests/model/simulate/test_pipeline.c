/* test_pipeline.c - host, GPU and delay against schedules worked out by hand. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/simulate/simulate.h"

#include <math.h>

#include "tests/support/suite.h"

/* The next event lies at `time_s` and sends `actors` to step. */
static void assert_event(
    struct fulcrum_pipeline *pipeline, double time_s, size_t actors)
{
    assert_close("event", pipeline->next_s, time_s, 1e-12);
    fulcrum_pipeline_advance(pipeline, pipeline->next_s);
    CU_ASSERT_EQUAL(fulcrum_pipeline_event(pipeline), actors);
}

TEST(test_an_empty_pipeline_waits_for_ever)
{
    const struct fulcrum_network network = {.actors = 4, .depth = 1};
    struct fulcrum_pipeline pipeline;
    ASSERT_OK(fulcrum_pipeline_init(&pipeline, &network, NULL));
    CU_ASSERT(isinf(pipeline.next_s));
    CU_ASSERT(isinf(pipeline.train_at_steps));
    CU_ASSERT_EQUAL(fulcrum_pipeline_backlog(&pipeline, 100.0), 0.0);
    CU_ASSERT(fulcrum_pipeline_takes(&pipeline, 100.0));
    fulcrum_pipeline_clear(&pipeline);
}

/* Two items: 1 + 2 x 0.5 s on the GPU, then 2 s of delay. */
TEST(test_a_batch_passes_gpu_and_delay)
{
    const struct fulcrum_network network = {.actors = 4,
        .depth = 1,
        .gpu = {.per_batch_s = 1.0, .per_item_s = 0.5},
        .delay_s = 2.0};
    struct fulcrum_pipeline pipeline;
    ASSERT_OK(fulcrum_pipeline_init(&pipeline, &network, NULL));
    fulcrum_pipeline_start(&pipeline, 2);
    CU_ASSERT(!fulcrum_pipeline_takes(&pipeline, 0.0));
    assert_event(&pipeline, 2.0, 0);
    CU_ASSERT(fulcrum_pipeline_takes(&pipeline, 0.0));
    assert_event(&pipeline, 4.0, 2);
    assert_close("GPU", pipeline.sums.inference_busy_s, 2.0, 1e-12);
    assert_close("GPU items", pipeline.sums.gpu_item_s, 4.0, 1e-12);
    assert_close("delayed items", pipeline.sums.delay_item_s, 4.0, 1e-12);
    CU_ASSERT_EQUAL(pipeline.sums.batch_count, 1.0);
    CU_ASSERT_EQUAL(pipeline.sums.item_count, 2.0);
    fulcrum_pipeline_clear(&pipeline);
}

/* 1 s of host and 3 s of GPU a batch: the second waits for the GPU from 2 s to 4 s. */
TEST(test_the_host_works_ahead_by_the_depth)
{
    const struct fulcrum_network network = {.actors = 4,
        .depth = 2,
        .host = {.per_batch_s = 1.0},
        .gpu = {.per_batch_s = 3.0}};
    struct fulcrum_pipeline pipeline;
    ASSERT_OK(fulcrum_pipeline_init(&pipeline, &network, NULL));
    fulcrum_pipeline_start(&pipeline, 1);
    CU_ASSERT(!fulcrum_pipeline_takes(&pipeline, 0.0));
    assert_event(&pipeline, 1.0, 0);
    CU_ASSERT(fulcrum_pipeline_takes(&pipeline, 0.0));
    fulcrum_pipeline_start(&pipeline, 1);
    assert_event(&pipeline, 2.0, 0);
    CU_ASSERT(!fulcrum_pipeline_takes(&pipeline, 0.0));
    assert_event(&pipeline, 4.0, 1);
    assert_event(&pipeline, 7.0, 1);
    assert_close("host", pipeline.sums.host_busy_s, 2.0, 1e-12);
    assert_close("GPU", pipeline.sums.inference_busy_s, 6.0, 1e-12);
    assert_close("GPU items", pipeline.sums.gpu_item_s, 3.0 + 5.0, 1e-12);
    fulcrum_pipeline_clear(&pipeline);
}

static const struct fulcrum_network training = {.actors = 4,
    .depth = 1,
    .gpu = {.per_batch_s = 1.0},
    .training = {.env_steps_per_train_step = 10.0,
        .train_step_s = 3.0,
        .queue_train_steps = 2.0}};

/* Half the GPU each until inference ends at 2 s; 2 s of training are left alone. */
TEST(test_inference_and_training_share_the_gpu)
{
    struct fulcrum_pipeline pipeline;
    ASSERT_OK(fulcrum_pipeline_init(&pipeline, &training, NULL));
    CU_ASSERT_EQUAL(pipeline.train_at_steps, 10.0);
    CU_ASSERT(isinf(pipeline.next_s));
    fulcrum_pipeline_train(&pipeline);
    CU_ASSERT(isinf(pipeline.train_at_steps));
    CU_ASSERT_EQUAL(pipeline.next_s, 3.0);
    fulcrum_pipeline_start(&pipeline, 3);
    assert_event(&pipeline, 2.0, 3);
    assert_event(&pipeline, 4.0, 0);
    CU_ASSERT_EQUAL(pipeline.train_at_steps, 20.0);
    assert_close("inference", pipeline.sums.inference_busy_s, 1.0, 1e-12);
    assert_close("training", pipeline.sums.train_busy_s, 3.0, 1e-12);
    fulcrum_pipeline_clear(&pipeline);
}

/* Two train steps of 10 may wait; the one under way counts by what is left of it. */
TEST(test_a_backlog_of_training_blocks_batches)
{
    struct fulcrum_pipeline pipeline;
    ASSERT_OK(fulcrum_pipeline_init(&pipeline, &training, NULL));
    CU_ASSERT(fulcrum_pipeline_takes(&pipeline, 19.0));
    CU_ASSERT(!fulcrum_pipeline_takes(&pipeline, 20.0));
    assert_close("idle", fulcrum_pipeline_backlog(&pipeline, 19.0), 19.0, 1e-12);
    fulcrum_pipeline_train(&pipeline);
    CU_ASSERT(fulcrum_pipeline_takes(&pipeline, 20.0));
    assert_close("begun", fulcrum_pipeline_backlog(&pipeline, 20.0), 20.0, 1e-12);
    fulcrum_pipeline_advance(&pipeline, 1.5);
    assert_close("half", fulcrum_pipeline_backlog(&pipeline, 20.0), 15.0, 1e-12);
    fulcrum_pipeline_clear(&pipeline);
}

/* 7.5 steps each: counts of steps are whole, and the second needs 15, not 16. */
TEST(test_the_learner_takes_steps_that_are_not_whole)
{
    struct fulcrum_network network = training;
    network.training.env_steps_per_train_step = 7.5;
    network.training.queue_train_steps = 1.5;
    struct fulcrum_pipeline pipeline;
    ASSERT_OK(fulcrum_pipeline_init(&pipeline, &network, NULL));
    CU_ASSERT_EQUAL(pipeline.train_at_steps, 8.0);
    CU_ASSERT(fulcrum_pipeline_takes(&pipeline, 11.0));
    CU_ASSERT(!fulcrum_pipeline_takes(&pipeline, 12.0));
    fulcrum_pipeline_train(&pipeline);
    assert_event(&pipeline, 3.0, 0);
    CU_ASSERT_EQUAL(pipeline.train_at_steps, 15.0);
    fulcrum_pipeline_clear(&pipeline);
}
