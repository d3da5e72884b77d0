/* desk.c - requests of many threads to one server, and its answers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The server is woken once, by the request that completes what it waits for, and an
 * answer is a semaphore that no other thread looks at: nobody wakes up only to wait
 * again for a lock.
 */
#include "calibrate/desk.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

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
