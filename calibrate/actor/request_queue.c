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
#include <stdlib.h>
#include <string.h>

#include "calibrate/actor/placement.h"
#include "calibrate/stopwatch.h"
#include "model/try.h"

/*
 * The server is woken once, by the request that completes what it waits for, and an
 * answer is a semaphore that no other thread looks at: nobody wakes up only to wait
 * again for a lock.
 */

struct fulcrum_request_queue {
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

enum fulcrum_status fulcrum_request_queue_new(
    struct fulcrum_request_queue **out, size_t seat_count, struct fulcrum_error *err)
{
    struct fulcrum_request_queue *requests = calloc(1, sizeof *requests);
    TRY_MEMORY(requests, err, "%zu seats", seat_count);
    requests->queue = calloc(seat_count + 1, sizeof *requests->queue);
    requests->answers = calloc(seat_count + 1, sizeof *requests->answers);
    if (requests->queue == NULL || requests->answers == NULL) {
        free(requests->queue);
        free(requests->answers);
        free(requests);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%zu seats", seat_count);
    }
    requests->seat_count = seat_count;
    atomic_init(&requests->is_closed, 0);
    (void)pthread_mutex_init(&requests->lock, NULL);
    (void)pthread_cond_init(&requests->is_enough, NULL);
    for (size_t i = 0; i < seat_count; i++) {
        (void)sem_init(&requests->answers[i], 0, 0);
    }
    *out = requests;
    return FULCRUM_OK;
}

void fulcrum_request_queue_free(struct fulcrum_request_queue *requests)
{
    if (requests == NULL) {
        return;
    }
    for (size_t i = 0; i < requests->seat_count; i++) {
        (void)sem_destroy(&requests->answers[i]);
    }
    (void)pthread_cond_destroy(&requests->is_enough);
    (void)pthread_mutex_destroy(&requests->lock);
    free(requests->answers);
    free(requests->queue);
    free(requests);
}

int fulcrum_request_queue_hand_in(struct fulcrum_request_queue *requests, size_t seat)
{
    if (atomic_load(&requests->is_closed)) {
        return 0;
    }
    (void)pthread_mutex_lock(&requests->lock);
    size_t last = requests->first + requests->waiting_count++;
    requests->queue[last % requests->seat_count] = seat;
    int completes =
        requests->wanted_count > 0 && requests->waiting_count >= requests->wanted_count;
    if (completes) {
        requests->wanted_count = 0;
    }
    (void)pthread_mutex_unlock(&requests->lock);
    if (completes) {
        (void)pthread_cond_signal(&requests->is_enough);
    }
    return 1;
}

int fulcrum_request_queue_await(struct fulcrum_request_queue *requests, size_t seat)
{
    while (sem_wait(&requests->answers[seat]) != 0 && errno == EINTR) {
    }
    bool is_open = !atomic_load(&requests->is_closed);
    if (!is_open) {
        /* Whoever waits here again is sent home too. */
        (void)sem_post(&requests->answers[seat]);
    }
    return is_open;
}

size_t fulcrum_request_queue_collect(
    struct fulcrum_request_queue *requests, size_t least, size_t most, size_t *seats)
{
    (void)pthread_mutex_lock(&requests->lock);
    /* With the lock held. */
    while (requests->waiting_count < least && !atomic_load(&requests->is_closed)) {
        requests->wanted_count = least;
        (void)pthread_cond_wait(&requests->is_enough, &requests->lock);
    }
    requests->wanted_count = 0;
    bool is_closed = atomic_load(&requests->is_closed);
    size_t count = requests->waiting_count < most ? requests->waiting_count : most;
    for (size_t i = 0; i < count; i++) {
        seats[i] = requests->queue[requests->first];
        requests->first = (requests->first + 1) % requests->seat_count;
    }
    requests->waiting_count -= count;
    (void)pthread_mutex_unlock(&requests->lock);
    return is_closed ? 0 : count;
}

void fulcrum_request_queue_answer(
    struct fulcrum_request_queue *requests, const size_t *seats, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)sem_post(&requests->answers[seats[i]]);
    }
}

void fulcrum_request_queue_close(struct fulcrum_request_queue *requests)
{
    (void)pthread_mutex_lock(&requests->lock);
    bool was_closed = atomic_exchange(&requests->is_closed, 1);
    (void)pthread_cond_signal(&requests->is_enough);
    (void)pthread_mutex_unlock(&requests->lock);
    for (size_t i = 0; i < requests->seat_count && !was_closed; i++) {
        (void)sem_post(&requests->answers[i]);
    }
}

struct seat {
    struct fulcrum_handoff *handoff;
    size_t number;
    unsigned char *items;
    pthread_t thread;
    int runs; /* the thread exists */
    /* Written while its thread runs, read by the server while that waits. */
    double woken_s;
    double ask_s;
    size_t ask_count;
};

struct fulcrum_handoff {
    struct fulcrum_handoff_plan plan;
    struct fulcrum_request_queue *requests;
    struct fulcrum_placement placement;
    struct fulcrum_cpu_list before; /* where the server might run */
    bool is_apart;
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
    struct fulcrum_handoff *handoff = seat->handoff;
    int goes_on = 1;
    if (handoff->is_apart) {
        (void)fulcrum_cpu_list_bind(&handoff->placement.actors);
    }
    while (goes_on) {
        fulcrum_spin_s(handoff->plan.think_s);
        size_t byte = handoff->plan.item_count * handoff->plan.item_byte;
        memset(seat->items, (int)(seat->ask_count & 127), byte);
        double begin_s = fulcrum_thread_cpu_s();
        goes_on = fulcrum_request_queue_hand_in(handoff->requests, seat->number) &&
                  fulcrum_request_queue_await(handoff->requests, seat->number);
        seat->woken_s = fulcrum_wall_s();
        seat->ask_s += fulcrum_thread_cpu_s() - begin_s - handoff->clock_cost_s;
        seat->ask_count++;
    }
    return NULL;
}

static enum fulcrum_status make_seats(
    struct fulcrum_handoff *handoff, struct fulcrum_error *err)
{
    const struct fulcrum_handoff_plan *plan = &handoff->plan;
    handoff->seats = calloc(plan->actor_count + 1, sizeof *handoff->seats);
    handoff->numbers = calloc(plan->actor_count + 1, sizeof *handoff->numbers);
    handoff->input =
        calloc(plan->actor_count * plan->item_count + 1, plan->item_byte + 1);
    FAIL_IF(
        handoff->seats == NULL || handoff->numbers == NULL || handoff->input == NULL,
        err, FULCRUM_ERR_NO_MEMORY, "%zu waiting actors", plan->actor_count);
    return fulcrum_request_queue_new(&handoff->requests, plan->actor_count, err);
}

enum fulcrum_status fulcrum_handoff_new(struct fulcrum_handoff **out,
    const struct fulcrum_handoff_plan *plan, struct fulcrum_error *err)
{
    struct fulcrum_handoff *handoff = calloc(1, sizeof *handoff);
    TRY_MEMORY(handoff, err, "%zu waiting actors", plan->actor_count);
    handoff->plan = *plan;
    handoff->clock_cost_s = fulcrum_stopwatch_calibrated().cpu_cost_s;
    enum fulcrum_status status = make_seats(handoff, err);
    /* The calling thread onto the server's processors, where there are two cores. */
    handoff->is_apart =
        fulcrum_cpu_list_allowed(&handoff->before, NULL) == FULCRUM_OK &&
        fulcrum_placement_complete(&handoff->placement, NULL) == FULCRUM_OK &&
        handoff->placement.is_apart &&
        fulcrum_cpu_list_bind(&handoff->placement.server);
    for (size_t i = 0; i < plan->actor_count && status == FULCRUM_OK; i++) {
        struct seat *seat = &handoff->seats[handoff->seated_count];
        seat->handoff = handoff;
        seat->number = handoff->seated_count;
        seat->items = calloc(handoff->plan.item_count, handoff->plan.item_byte + 1);
        handoff->seated_count++;
        seat->runs =
            seat->items != NULL && pthread_create(&seat->thread, NULL, act, seat) == 0;
        status = seat->runs
                     ? FULCRUM_OK
                     : fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
                           "waiting actor %zu cannot start", handoff->seated_count);
    }
    if (status != FULCRUM_OK) {
        fulcrum_handoff_free(handoff);
        return status;
    }
    *out = handoff;
    return FULCRUM_OK;
}

void fulcrum_handoff_free(struct fulcrum_handoff *handoff)
{
    if (handoff == NULL) {
        return;
    }
    if (handoff->requests != NULL) {
        fulcrum_request_queue_close(handoff->requests);
    }
    for (size_t i = 0; i < handoff->seated_count; i++) {
        if (handoff->seats[i].runs) {
            (void)pthread_join(handoff->seats[i].thread, NULL);
        }
        free(handoff->seats[i].items);
    }
    if (handoff->is_apart) {
        (void)fulcrum_cpu_list_bind(&handoff->before);
    }
    fulcrum_request_queue_free(handoff->requests);
    free(handoff->seats);
    free(handoff->numbers);
    free(handoff->input);
    free(handoff);
}

void fulcrum_handoff_collect(struct fulcrum_handoff *handoff)
{
    size_t count = handoff->plan.actor_count;
    size_t byte = handoff->plan.item_count * handoff->plan.item_byte;
    (void)fulcrum_request_queue_collect(
        handoff->requests, count, count, handoff->numbers);
    for (size_t i = 0; i < count; i++) {
        memcpy(
            handoff->input + i * byte, handoff->seats[handoff->numbers[i]].items, byte);
    }
    double woken_s = handoff->seats[0].woken_s;
    handoff->wake_s = handoff->answered_s > 0.0 ? woken_s - handoff->answered_s : 0.0;
}

void fulcrum_handoff_answer(struct fulcrum_handoff *handoff)
{
    handoff->answered_s = fulcrum_wall_s();
    fulcrum_request_queue_answer(
        handoff->requests, handoff->numbers, handoff->plan.actor_count);
}

double fulcrum_handoff_wake_s(const struct fulcrum_handoff *handoff)
{
    return handoff->wake_s;
}

double fulcrum_handoff_ask_s(struct fulcrum_handoff *handoff)
{
    double sum_s = 0.0;
    size_t count = 0;
    for (size_t i = 0; i < handoff->plan.actor_count; i++) {
        struct seat *seat = &handoff->seats[i];
        sum_s += seat->ask_s;
        count += seat->ask_count;
        seat->ask_s = 0.0;
        seat->ask_count = 0;
    }
    return count > 0 && sum_s > 0.0 ? sum_s / (double)count : 0.0;
}

bool fulcrum_handoff_is_apart(const struct fulcrum_handoff *handoff)
{
    return handoff->is_apart;
}
