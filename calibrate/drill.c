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
    enum fulcrum_status status; /* the thread's until it has ended, as is the next */
    struct fulcrum_error err;
};

static void *infer(void *argument)
{
    struct fulcrum_drill *drill = argument;
    struct fulcrum_bench *bench = drill->bench;
    size_t most = bench->learner_options.max_batch;
    size_t batch = most < BATCH_COUNT ? most : BATCH_COUNT;
    while (drill->status == FULCRUM_OK &&
           !atomic_load_explicit(&drill->ends, memory_order_relaxed)) {
        drill->status =
            bench->learner->forward(bench->state, batch, bench->action, &drill->err);
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

enum fulcrum_status fulcrum_drill_end(
    struct fulcrum_drill *drill, struct fulcrum_error *err)
{
    if (drill == NULL) {
        return FULCRUM_OK;
    }
    atomic_store(&drill->ends, 1);
    (void)pthread_join(drill->thread, NULL);
    enum fulcrum_status status = drill->status;
    if (status != FULCRUM_OK) {
        (void)fulcrum_fail(err, status, "%s", drill->err.detail);
    }
    free(drill);
    return status;
}
