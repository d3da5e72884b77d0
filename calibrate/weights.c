/* weights.c - trained weights on their way to where actions are inferred. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/weights.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct fulcrum_weights {
    pthread_mutex_t lock;
    float *values;       /* guarded by the lock */
    atomic_int is_fresh; /* not picked up yet; changes under the lock */
};

enum fulcrum_status fulcrum_weights_new(
    struct fulcrum_weights **out, size_t parameter_count, struct fulcrum_error *err)
{
    struct fulcrum_weights *weights = calloc(1, sizeof *weights);
    float *values = calloc(parameter_count + 1, sizeof *values);
    if (weights == NULL || values == NULL) {
        free(weights);
        free(values);
        return fulcrum_fail(
            err, FULCRUM_ERR_NO_MEMORY, "a copy of %zu weights", parameter_count);
    }
    (void)pthread_mutex_init(&weights->lock, NULL);
    weights->values = values;
    *out = weights;
    return FULCRUM_OK;
}

void fulcrum_weights_free(struct fulcrum_weights *weights)
{
    if (weights == NULL) {
        return;
    }
    (void)pthread_mutex_destroy(&weights->lock);
    free(weights->values);
    free(weights);
}

enum fulcrum_status fulcrum_weights_publish(struct fulcrum_weights *weights,
    const struct fulcrum_learner *learner, struct fulcrum_learner_state *from,
    struct fulcrum_error *err)
{
    (void)pthread_mutex_lock(&weights->lock);
    enum fulcrum_status status = learner->read_weights(from, weights->values, err);
    atomic_store(&weights->is_fresh, status == FULCRUM_OK);
    (void)pthread_mutex_unlock(&weights->lock);
    return status;
}

/* A look without the lock, so that a batch without new weights pays next to nothing. */
enum fulcrum_status fulcrum_weights_take(struct fulcrum_weights *weights,
    const struct fulcrum_learner *learner, struct fulcrum_learner_state *to, int *taken,
    struct fulcrum_error *err)
{
    *taken = 0;
    if (!atomic_load(&weights->is_fresh) ||
        pthread_mutex_trylock(&weights->lock) != 0) {
        return FULCRUM_OK;
    }
    enum fulcrum_status status = learner->write_weights(to, weights->values, err);
    atomic_store(&weights->is_fresh, 0);
    (void)pthread_mutex_unlock(&weights->lock);
    *taken = status == FULCRUM_OK;
    return status;
}
