/* exchange.c - actors that hand requests to a server and wait for its answers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include "calibrate/exchange.h"

#include <pthread.h>
#include <stdlib.h>

#include "calibrate/stopwatch.h"

struct desk {
    struct fulcrum_exchange *exchange;
    pthread_t thread;
    pthread_cond_t answered;
    int has_answer; /* guarded by the exchange's lock, as is the next one */
    double woken_s; /* when its actor last ran again */
    int runs;       /* the thread exists */
};

struct fulcrum_exchange {
    pthread_mutex_t lock;
    pthread_cond_t all_in;
    size_t waiting_count; /* requests handed in; guarded by lock, as are the next two */
    double answered_s;    /* when the first desk got its last answer */
    int ends;
    size_t count;
    struct desk *desks;
};

/* Hands a request in and waits for its answer. Returns 0 where the exchange ends. */
static int request(struct desk *desk)
{
    struct fulcrum_exchange *exchange = desk->exchange;
    (void)pthread_mutex_lock(&exchange->lock);
    desk->has_answer = 0;
    exchange->waiting_count++;
    if (exchange->waiting_count == exchange->count) {
        (void)pthread_cond_signal(&exchange->all_in);
    }
    while (!desk->has_answer && !exchange->ends) {
        (void)pthread_cond_wait(&desk->answered, &exchange->lock);
    }
    desk->woken_s = fulcrum_wall_s();
    int goes_on = !exchange->ends;
    (void)pthread_mutex_unlock(&exchange->lock);
    return goes_on;
}

static void *act(void *argument)
{
    struct desk *desk = argument;
    while (request(desk)) {
    }
    return NULL;
}

enum fulcrum_status fulcrum_exchange_new(
    struct fulcrum_exchange **out, size_t count, struct fulcrum_error *err)
{
    struct fulcrum_exchange *exchange = calloc(1, sizeof *exchange);
    struct desk *desks = calloc(count, sizeof *desks);
    if (exchange == NULL || desks == NULL) {
        free(exchange);
        free(desks);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%zu waiting actors", count);
    }
    exchange->desks = desks;
    exchange->count = count;
    (void)pthread_mutex_init(&exchange->lock, NULL);
    (void)pthread_cond_init(&exchange->all_in, NULL);
    for (size_t i = 0; i < count; i++) {
        desks[i].exchange = exchange;
        (void)pthread_cond_init(&desks[i].answered, NULL);
        desks[i].runs = pthread_create(&desks[i].thread, NULL, act, &desks[i]) == 0;
        if (!desks[i].runs) {
            /* Desks without a thread are freed like the others. */
            exchange->count = i + 1;
            fulcrum_exchange_free(exchange);
            return fulcrum_fail(
                err, FULCRUM_ERR_UNSUPPORTED, "waiting actor %zu cannot start", i + 1);
        }
    }
    *out = exchange;
    return FULCRUM_OK;
}

void fulcrum_exchange_free(struct fulcrum_exchange *exchange)
{
    if (exchange == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&exchange->lock);
    exchange->ends = 1;
    for (size_t i = 0; i < exchange->count; i++) {
        (void)pthread_cond_signal(&exchange->desks[i].answered);
    }
    (void)pthread_mutex_unlock(&exchange->lock);
    for (size_t i = 0; i < exchange->count; i++) {
        if (exchange->desks[i].runs) {
            (void)pthread_join(exchange->desks[i].thread, NULL);
        }
        (void)pthread_cond_destroy(&exchange->desks[i].answered);
    }
    (void)pthread_cond_destroy(&exchange->all_in);
    (void)pthread_mutex_destroy(&exchange->lock);
    free(exchange->desks);
    free(exchange);
}

double fulcrum_exchange_serve(struct fulcrum_exchange *exchange)
{
    struct desk *first = &exchange->desks[0];
    (void)pthread_mutex_lock(&exchange->lock);
    while (exchange->waiting_count < exchange->count) {
        (void)pthread_cond_wait(&exchange->all_in, &exchange->lock);
    }
    double wake_s =
        exchange->answered_s > 0.0 ? first->woken_s - exchange->answered_s : 0.0;
    /* Inference would take place here, with the lock open: actors are not held up. */
    (void)pthread_mutex_unlock(&exchange->lock);
    (void)pthread_mutex_lock(&exchange->lock);
    exchange->waiting_count = 0;
    exchange->answered_s = fulcrum_wall_s();
    for (size_t i = 0; i < exchange->count; i++) {
        exchange->desks[i].has_answer = 1;
        (void)pthread_cond_signal(&exchange->desks[i].answered);
    }
    (void)pthread_mutex_unlock(&exchange->lock);
    return wake_s;
}
