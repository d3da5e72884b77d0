/* request_queue.c - actors that hand requests to a server and wait for its answers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Both sides compute for a while between their messages: without that no core would
 * ever sleep, and waking a sleeping core is most of the cost. An actor reads its CPU
 * clock around each request; the reads themselves are taken off.
 */

#include "calibrate/actor/request_queue.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/actor/placement.h"
#include "calibrate/stopwatch.h"
#include "model/status.h"
#include "model/try.h"

/* Requests of many threads to one server, and its answers. */

/*
 * The server is woken once, by the request that completes what it waits for, and an
 * answer is a semaphore that no other thread looks at: nobody wakes up only to wait
 * again for a lock.
 */

struct fulcrum_desk {
    pthread_mutex_t lock;
    pthread_cond_t is_enough;
    size_t *queue; /* ring of seats; guarded by lock, as are the next three */
    size_t first;
    size_t waiting_count;
    size_t wanted_count; /* 0: the server is not waiting */
    atomic_int is_closed;
    size_t seat_count;
    sem_t *answers; /* one a seat */
};

enum fulcrum_status fulcrum_desk_new(
    struct fulcrum_desk **out, size_t seat_count, struct fulcrum_error *err)
{
    struct fulcrum_desk *desk = calloc(1, sizeof *desk);
    size_t *queue = calloc(seat_count + 1, sizeof *queue);
    sem_t *answers = calloc(seat_count + 1, sizeof *answers);
    if (desk == NULL || queue == NULL || answers == NULL) {
        free(desk);
        free(queue);
        free(answers);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%zu seats", seat_count);
    }
    desk->queue = queue;
    desk->answers = answers;
    desk->seat_count = seat_count;
    atomic_init(&desk->is_closed, 0);
    (void)pthread_mutex_init(&desk->lock, NULL);
    (void)pthread_cond_init(&desk->is_enough, NULL);
    for (size_t i = 0; i < seat_count; i++) {
        (void)sem_init(&answers[i], 0, 0);
    }
    *out = desk;
    return FULCRUM_OK;
}

void fulcrum_desk_free(struct fulcrum_desk *desk)
{
    if (desk == NULL) {
        return;
    }
    for (size_t i = 0; i < desk->seat_count; i++) {
        (void)sem_destroy(&desk->answers[i]);
    }
    (void)pthread_cond_destroy(&desk->is_enough);
    (void)pthread_mutex_destroy(&desk->lock);
    free(desk->answers);
    free(desk->queue);
    free(desk);
}

int fulcrum_desk_hand_in(struct fulcrum_desk *desk, size_t seat)
{
    if (atomic_load(&desk->is_closed)) {
        return 0;
    }
    (void)pthread_mutex_lock(&desk->lock);
    desk->queue[(desk->first + desk->waiting_count) % desk->seat_count] = seat;
    desk->waiting_count++;
    int completes = desk->wanted_count > 0 && desk->waiting_count >= desk->wanted_count;
    if (completes) {
        desk->wanted_count = 0;
    }
    (void)pthread_mutex_unlock(&desk->lock);
    if (completes) {
        (void)pthread_cond_signal(&desk->is_enough);
    }
    return 1;
}

int fulcrum_desk_await(struct fulcrum_desk *desk, size_t seat)
{
    while (sem_wait(&desk->answers[seat]) != 0 && errno == EINTR) {
    }
    int is_open = !atomic_load(&desk->is_closed);
    if (!is_open) {
        /* Whoever waits here again is sent home too. */
        (void)sem_post(&desk->answers[seat]);
    }
    return is_open;
}

/* With the lock held. */
static void await(struct fulcrum_desk *desk, size_t least)
{
    while (desk->waiting_count < least && !atomic_load(&desk->is_closed)) {
        desk->wanted_count = least;
        (void)pthread_cond_wait(&desk->is_enough, &desk->lock);
    }
    desk->wanted_count = 0;
}

size_t fulcrum_desk_collect(
    struct fulcrum_desk *desk, size_t least, size_t most, size_t *seats)
{
    (void)pthread_mutex_lock(&desk->lock);
    await(desk, least);
    int is_closed = atomic_load(&desk->is_closed);
    size_t count = desk->waiting_count < most ? desk->waiting_count : most;
    for (size_t i = 0; i < count; i++) {
        seats[i] = desk->queue[desk->first];
        desk->first = (desk->first + 1) % desk->seat_count;
    }
    desk->waiting_count -= count;
    (void)pthread_mutex_unlock(&desk->lock);
    return is_closed ? 0 : count;
}

void fulcrum_desk_answer(struct fulcrum_desk *desk, const size_t *seats, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)sem_post(&desk->answers[seats[i]]);
    }
}

size_t fulcrum_desk_waiting(struct fulcrum_desk *desk)
{
    (void)pthread_mutex_lock(&desk->lock);
    size_t count = desk->waiting_count;
    (void)pthread_mutex_unlock(&desk->lock);
    return count;
}

void fulcrum_desk_close(struct fulcrum_desk *desk)
{
    (void)pthread_mutex_lock(&desk->lock);
    int was_closed = atomic_exchange(&desk->is_closed, 1);
    (void)pthread_cond_signal(&desk->is_enough);
    (void)pthread_mutex_unlock(&desk->lock);
    for (size_t i = 0; i < desk->seat_count && !was_closed; i++) {
        (void)sem_post(&desk->answers[i]);
    }
}

struct seat {
    struct fulcrum_exchange *exchange;
    size_t number;
    unsigned char *items;
    pthread_t thread;
    int runs; /* the thread exists */
    /* Written while its thread runs, read by the server while that waits. */
    double woken_s;
    double ask_s;
    size_t ask_count;
};

struct fulcrum_exchange {
    struct fulcrum_exchange_plan plan;
    struct fulcrum_desk *desk;
    struct fulcrum_placement placement;
    struct fulcrum_cpu_list before; /* where the server might run */
    int is_apart;
    size_t *numbers;      /* of the seats of a batch */
    unsigned char *input; /* the observations of a batch */
    double answered_s;
    double wake_s;
    double clock_cost_s;
    size_t seated_count; /* seats that are set up */
    struct seat *seats;
};

void fulcrum_spin_s(double seconds)
{
    double end_s = fulcrum_thread_cpu_s() + seconds;
    while (fulcrum_thread_cpu_s() < end_s) {
    }
}

static void *act(void *argument)
{
    struct seat *seat = argument;
    struct fulcrum_exchange *exchange = seat->exchange;
    int goes_on = 1;
    if (exchange->is_apart) {
        (void)fulcrum_cpu_list_bind(&exchange->placement.actors);
    }
    while (goes_on) {
        fulcrum_spin_s(exchange->plan.think_s);
        size_t byte = exchange->plan.item_count * exchange->plan.item_byte;
        memset(seat->items, (int)(seat->ask_count & 127), byte);
        double begin_s = fulcrum_thread_cpu_s();
        goes_on = fulcrum_desk_hand_in(exchange->desk, seat->number) &&
                  fulcrum_desk_await(exchange->desk, seat->number);
        seat->woken_s = fulcrum_wall_s();
        seat->ask_s += fulcrum_thread_cpu_s() - begin_s - exchange->clock_cost_s;
        seat->ask_count++;
    }
    return NULL;
}

static enum fulcrum_status seat_actor(
    struct fulcrum_exchange *exchange, struct fulcrum_error *err)
{
    struct seat *seat = &exchange->seats[exchange->seated_count];
    seat->exchange = exchange;
    seat->number = exchange->seated_count;
    seat->items = calloc(exchange->plan.item_count, exchange->plan.item_byte + 1);
    exchange->seated_count++;
    seat->runs =
        seat->items != NULL && pthread_create(&seat->thread, NULL, act, seat) == 0;
    return seat->runs ? FULCRUM_OK
                      : fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
                            "waiting actor %zu cannot start", exchange->seated_count);
}

/* The calling thread onto the server's processors, where there are two cores. */
static void keep_apart(struct fulcrum_exchange *exchange)
{
    exchange->is_apart =
        fulcrum_cpu_list_allowed(&exchange->before, NULL) == FULCRUM_OK &&
        fulcrum_placement_complete(&exchange->placement, NULL) == FULCRUM_OK &&
        exchange->placement.is_apart &&
        fulcrum_cpu_list_bind(&exchange->placement.server);
}

static enum fulcrum_status allocate(
    struct fulcrum_exchange *exchange, struct fulcrum_error *err)
{
    const struct fulcrum_exchange_plan *plan = &exchange->plan;
    exchange->seats = calloc(plan->actor_count + 1, sizeof *exchange->seats);
    exchange->numbers = calloc(plan->actor_count + 1, sizeof *exchange->numbers);
    exchange->input =
        calloc(plan->actor_count * plan->item_count + 1, plan->item_byte + 1);
    if (exchange->seats == NULL || exchange->numbers == NULL ||
        exchange->input == NULL) {
        return fulcrum_fail(
            err, FULCRUM_ERR_NO_MEMORY, "%zu waiting actors", plan->actor_count);
    }
    return fulcrum_desk_new(&exchange->desk, plan->actor_count, err);
}

enum fulcrum_status fulcrum_exchange_new(struct fulcrum_exchange **out,
    const struct fulcrum_exchange_plan *plan, struct fulcrum_error *err)
{
    struct fulcrum_exchange *exchange = calloc(1, sizeof *exchange);
    TRY_MEMORY(exchange, err, "%zu waiting actors", plan->actor_count);
    exchange->plan = *plan;
    exchange->clock_cost_s = fulcrum_stopwatch_calibrated().cpu_cost_s;
    enum fulcrum_status status = allocate(exchange, err);
    keep_apart(exchange);
    for (size_t i = 0; i < plan->actor_count && status == FULCRUM_OK; i++) {
        status = seat_actor(exchange, err);
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
    if (exchange->desk != NULL) {
        fulcrum_desk_close(exchange->desk);
    }
    for (size_t i = 0; i < exchange->seated_count; i++) {
        if (exchange->seats[i].runs) {
            (void)pthread_join(exchange->seats[i].thread, NULL);
        }
        free(exchange->seats[i].items);
    }
    if (exchange->is_apart) {
        (void)fulcrum_cpu_list_bind(&exchange->before);
    }
    fulcrum_desk_free(exchange->desk);
    free(exchange->seats);
    free(exchange->numbers);
    free(exchange->input);
    free(exchange);
}

void fulcrum_exchange_collect(struct fulcrum_exchange *exchange)
{
    size_t count = exchange->plan.actor_count;
    size_t byte = exchange->plan.item_count * exchange->plan.item_byte;
    (void)fulcrum_desk_collect(exchange->desk, count, count, exchange->numbers);
    for (size_t i = 0; i < count; i++) {
        memcpy(exchange->input + i * byte, exchange->seats[exchange->numbers[i]].items,
            byte);
    }
    double woken_s = exchange->seats[0].woken_s;
    exchange->wake_s =
        exchange->answered_s > 0.0 ? woken_s - exchange->answered_s : 0.0;
}

void fulcrum_exchange_answer(struct fulcrum_exchange *exchange)
{
    exchange->answered_s = fulcrum_wall_s();
    fulcrum_desk_answer(exchange->desk, exchange->numbers, exchange->plan.actor_count);
}

double fulcrum_exchange_wake_s(const struct fulcrum_exchange *exchange)
{
    return exchange->wake_s;
}

double fulcrum_exchange_ask_s(struct fulcrum_exchange *exchange)
{
    double sum_s = 0.0;
    size_t count = 0;
    for (size_t i = 0; i < exchange->plan.actor_count; i++) {
        struct seat *seat = &exchange->seats[i];
        sum_s += seat->ask_s;
        count += seat->ask_count;
        seat->ask_s = 0.0;
        seat->ask_count = 0;
    }
    return count > 0 && sum_s > 0.0 ? sum_s / (double)count : 0.0;
}

int fulcrum_exchange_is_apart(const struct fulcrum_exchange *exchange)
{
    return exchange->is_apart;
}
