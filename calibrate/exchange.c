/* exchange.c - actors that hand requests to a server and wait for its answers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Both sides compute for a while between their messages: without that no core would
 * ever sleep, and waking a sleeping core is most of the cost. An actor reads its CPU
 * clock around each request; the reads themselves are taken off.
 */
#include "calibrate/exchange.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/desk.h"
#include "calibrate/placement.h"
#include "calibrate/stopwatch.h"

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
    if (exchange == NULL) {
        return fulcrum_fail(
            err, FULCRUM_ERR_NO_MEMORY, "%zu waiting actors", plan->actor_count);
    }
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
