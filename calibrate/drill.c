/* drill.c - a learner kept busy on a thread of its own. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include "calibrate/drill.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Large enough to be busy with arithmetic, short enough to end soon. */
#define BATCH_COUNT 32

struct fulcrum_drill {
    struct fulcrum_bench *bench;
    pthread_t thread;
    atomic_int ends;
};

static void *infer(void *argument)
{
    struct fulcrum_drill *drill = argument;
    struct fulcrum_bench *bench = drill->bench;
    size_t most = bench->learner_options.max_batch;
    size_t batch = most < BATCH_COUNT ? most : BATCH_COUNT;
    while (!atomic_load_explicit(&drill->ends, memory_order_relaxed)) {
        bench->learner->forward(bench->state, batch, bench->action);
    }
    return NULL;
}

enum fulcrum_status fulcrum_drill_start(
    struct fulcrum_drill **out, struct fulcrum_bench *bench, struct fulcrum_error *err)
{
    struct fulcrum_drill *drill = calloc(1, sizeof *drill);
    if (drill == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a busy learner");
    }
    drill->bench = bench;
    atomic_init(&drill->ends, 0);
    if (pthread_create(&drill->thread, NULL, infer, drill) != 0) {
        free(drill);
        return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED, "no thread for the learner");
    }
    *out = drill;
    return FULCRUM_OK;
}

void fulcrum_drill_end(struct fulcrum_drill *drill)
{
    if (drill == NULL) {
        return;
    }
    atomic_store(&drill->ends, 1);
    (void)pthread_join(drill->thread, NULL);
    free(drill);
}
