/* exchange.c - actors that hand requests to a server and wait for its answers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One mutex, one condition variable for the server and one for each actor: what a plain
 * implementation of a central inference server does. Both sides compute for a while
 * between their messages: without that no core would ever sleep, and waking a sleeping
 * core is most of the cost.
 */
#define _GNU_SOURCE /* pthread_setaffinity_np */

#include "calibrate/exchange.h"

#include <pthread.h>
#include <sched.h>
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
    size_t waiting_count; /* requests handed in; guarded by lock, as is the next */
    int ends;
    double answered_s; /* when the first desk got its last answer; the server's */
    double wake_s;     /* likewise: how long that took */
    double think_s;
    cpu_set_t before; /* where the server might run */
    int is_apart;
    size_t count;
    size_t seated_count; /* desks that are set up */
    struct desk *desks;
};

void fulcrum_spin_s(double seconds)
{
    double end_s = fulcrum_wall_s() + seconds;
    while (fulcrum_wall_s() < end_s) {
    }
}

/* The server onto the first processor it may use; `rest` gets the others. */
static int keep_apart(struct fulcrum_exchange *exchange, cpu_set_t *rest)
{
    cpu_set_t own;
    size_t size = sizeof exchange->before;
    if (pthread_getaffinity_np(pthread_self(), size, &exchange->before) != 0 ||
        CPU_COUNT(&exchange->before) < 2) {
        return 0;
    }
    size_t first = 0;
    while (!CPU_ISSET(first, &exchange->before)) {
        first++;
    }
    CPU_ZERO(&own);
    CPU_SET(first, &own);
    *rest = exchange->before;
    CPU_CLR(first, rest);
    return pthread_setaffinity_np(pthread_self(), size, &own) == 0;
}

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
        fulcrum_spin_s(desk->exchange->think_s);
    }
    return NULL;
}

static enum fulcrum_status seat(struct fulcrum_exchange *exchange, struct desk *desk,
    const cpu_set_t *rest, struct fulcrum_error *err)
{
    desk->exchange = exchange;
    (void)pthread_cond_init(&desk->answered, NULL);
    exchange->seated_count++;
    desk->runs = pthread_create(&desk->thread, NULL, act, desk) == 0;
    if (!desk->runs) {
        return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
            "waiting actor %zu cannot start", exchange->seated_count);
    }
    if (exchange->is_apart) {
        (void)pthread_setaffinity_np(desk->thread, sizeof *rest, rest);
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_exchange_new(struct fulcrum_exchange **out, size_t count,
    double think_s, struct fulcrum_error *err)
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
    exchange->think_s = think_s;
    (void)pthread_mutex_init(&exchange->lock, NULL);
    (void)pthread_cond_init(&exchange->all_in, NULL);
    cpu_set_t rest;
    exchange->is_apart = keep_apart(exchange, &rest);
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < count && status == FULCRUM_OK; i++) {
        status = seat(exchange, &desks[i], &rest, err);
    }
    if (status != FULCRUM_OK) {
        fulcrum_exchange_free(exchange);
        return status;
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
    for (size_t i = 0; i < exchange->seated_count; i++) {
        (void)pthread_cond_signal(&exchange->desks[i].answered);
    }
    (void)pthread_mutex_unlock(&exchange->lock);
    for (size_t i = 0; i < exchange->seated_count; i++) {
        if (exchange->desks[i].runs) {
            (void)pthread_join(exchange->desks[i].thread, NULL);
        }
        (void)pthread_cond_destroy(&exchange->desks[i].answered);
    }
    (void)pthread_cond_destroy(&exchange->all_in);
    (void)pthread_mutex_destroy(&exchange->lock);
    if (exchange->is_apart) {
        (void)pthread_setaffinity_np(
            pthread_self(), sizeof exchange->before, &exchange->before);
    }
    free(exchange->desks);
    free(exchange);
}

void fulcrum_exchange_collect(struct fulcrum_exchange *exchange)
{
    (void)pthread_mutex_lock(&exchange->lock);
    while (exchange->waiting_count < exchange->count) {
        (void)pthread_cond_wait(&exchange->all_in, &exchange->lock);
    }
    exchange->waiting_count = 0;
    double woken_s = exchange->desks[0].woken_s;
    (void)pthread_mutex_unlock(&exchange->lock);
    exchange->wake_s =
        exchange->answered_s > 0.0 ? woken_s - exchange->answered_s : 0.0;
}

void fulcrum_exchange_answer(struct fulcrum_exchange *exchange)
{
    (void)pthread_mutex_lock(&exchange->lock);
    exchange->answered_s = fulcrum_wall_s();
    for (size_t i = 0; i < exchange->count; i++) {
        exchange->desks[i].has_answer = 1;
        (void)pthread_cond_signal(&exchange->desks[i].answered);
    }
    (void)pthread_mutex_unlock(&exchange->lock);
}

double fulcrum_exchange_wake_s(const struct fulcrum_exchange *exchange)
{
    return exchange->wake_s;
}

int fulcrum_exchange_is_apart(const struct fulcrum_exchange *exchange)
{
    return exchange->is_apart;
}
