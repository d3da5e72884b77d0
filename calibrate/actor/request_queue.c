/* request_queue.c - actors that hand requests to a server and wait for its answers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Both sides work between their messages: without that no core would ever sleep, and
 * waking a sleeping core is most of the cost. An actor reads its CPU clock as it gets
 * its answer and after its steps; the reads themselves are taken off.
 */

#include "calibrate/actor/request_queue.h"

#include <errno.h>
#include <math.h>
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

/* Asleep, or `awake` all the time. */
static bool await_answer(
    struct fulcrum_request_queue *requests, size_t seat, bool awake)
{
    sem_t *answer = &requests->answers[seat];
    while ((awake ? sem_trywait(answer) : sem_wait(answer)) != 0 &&
           (errno == EINTR || errno == EAGAIN)) {
    }
    bool is_open = !atomic_load(&requests->is_closed);
    if (!is_open) {
        /* Whoever waits here again is sent home too. */
        (void)sem_post(&requests->answers[seat]);
    }
    return is_open;
}

int fulcrum_request_queue_await(struct fulcrum_request_queue *requests, size_t seat)
{
    return await_answer(requests, seat, false);
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
    struct fulcrum_stepper stepper;
    void *observation; /* the stepper's own */
    pthread_t thread;
    int runs; /* the thread exists */
    /* Written while its thread runs, read by the server while that waits. */
    struct fulcrum_handoff_turn turn;
    struct fulcrum_handoff_steps steps; /* its thread's part of them */
    struct fulcrum_error failure;
};

struct fulcrum_handoff {
    struct fulcrum_handoff_plan plan;
    struct fulcrum_request_queue *requests;
    struct fulcrum_placement placement;
    struct fulcrum_cpu_list before; /* where the server might run */
    bool is_apart;
    size_t *numbers;      /* of the seats of a batch */
    size_t taken_count;   /* of them */
    unsigned char *input; /* the observations of a batch */
    size_t asked_count;   /* actors, and observations of each, that were let go on */
    size_t item_count;
    double gap_s;        /* in place of steps; below 0: none */
    double clock_cost_s; /* may exceed a short piece once the machine has sped up */
    size_t seated_count; /* seats that are set up */
    struct seat *seats;
};

void fulcrum_spin_s(double seconds)
{
    double end_s = fulcrum_thread_cpu_s() + seconds;
    while (fulcrum_thread_cpu_s() < end_s) {
    }
}

/* Observations come to lie where the server copies them from. */
static void step_or_spin(struct seat *seat)
{
    const struct fulcrum_handoff_plan *plan = &seat->handoff->plan;
    if (seat->handoff->gap_s >= 0.0) {
        double end_s = fulcrum_wall_s() + seat->handoff->gap_s;
        while (fulcrum_wall_s() < end_s) {
        }
        return;
    }
    if (plan->stage == NULL) {
        fulcrum_spin_s(plan->think_s);
        memset(seat->items, 1, seat->handoff->item_count * plan->item_byte);
        return;
    }
    enum fulcrum_status *status = &seat->failure.status;
    for (size_t i = 0; i < seat->handoff->item_count && *status == FULCRUM_OK; i++) {
        seat->stepper.observation = seat->items + i * plan->item_byte;
        *status = fulcrum_stepper_run(&seat->stepper, 1, NULL, &seat->failure);
    }
    seat->stepper.observation = seat->observation;
}

static void *act(void *argument)
{
    struct seat *seat = argument;
    struct fulcrum_handoff *handoff = seat->handoff;
    if (handoff->is_apart) {
        (void)fulcrum_cpu_list_bind(&handoff->placement.actors);
    }
    double asked_s = 0.0;
    double step_s = 0.0;
    double answered_cpu_s = 0.0;
    double ask_s = 0.0;
    bool awake = false;
    while (await_answer(handoff->requests, seat->number, awake)) {
        double cpu_s = fulcrum_thread_cpu_s();
        double cost_s = handoff->clock_cost_s;
        seat->turn = (struct fulcrum_handoff_turn){asked_s, step_s,
            fmax(cpu_s - answered_cpu_s - step_s - 3.0 * cost_s, 0.0), ask_s};
        awake = handoff->gap_s >= 0.0;
        answered_cpu_s = cpu_s;
        step_or_spin(seat);
        double stepped_s = fulcrum_thread_cpu_s();
        step_s = fmax(stepped_s - cpu_s - cost_s, 0.0);
        seat->steps.count += (double)handoff->item_count;
        seat->steps.cpu_s += step_s;
        (void)fulcrum_request_queue_hand_in(handoff->requests, seat->number);
        asked_s = fulcrum_wall_s();
        ask_s = fmax(fulcrum_thread_cpu_s() - stepped_s - cost_s, 0.0);
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

static enum fulcrum_status seat_actor(
    struct fulcrum_handoff *handoff, struct fulcrum_error *err)
{
    const struct fulcrum_handoff_plan *plan = &handoff->plan;
    struct seat *seat = &handoff->seats[handoff->seated_count];
    seat->handoff = handoff;
    seat->number = handoff->seated_count;
    handoff->seated_count++;
    seat->items = calloc(plan->item_count, plan->item_byte + 1);
    TRY_MEMORY(seat->items, err, "waiting actor %zu", handoff->seated_count);
    if (plan->stage != NULL) {
        TRY(fulcrum_stepper_begin(&seat->stepper, plan->stage, seat->number, err));
        seat->observation = seat->stepper.observation;
    }
    return FULCRUM_OK;
}

/* It waits for its first answer. */
static enum fulcrum_status start_actor(struct seat *seat, struct fulcrum_error *err)
{
    if (seat->observation != NULL) {
        TRY(fulcrum_stepper_await(&seat->stepper, err));
    }
    seat->runs = pthread_create(&seat->thread, NULL, act, seat) == 0;
    return seat->runs ? FULCRUM_OK
                      : fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
                            "waiting actor %zu cannot start", seat->number + 1);
}

/* Environments in processes of their own start side by side. */
static enum fulcrum_status start_actors(
    struct fulcrum_handoff *handoff, struct fulcrum_error *err)
{
    enum fulcrum_status status = FULCRUM_OK;
    size_t ahead = FULCRUM_STEPPERS_AT_A_TIME * (handoff->before.count + 1);
    size_t started = 0;
    while (started < handoff->plan.actor_count && status == FULCRUM_OK) {
        bool is_more = handoff->seated_count < handoff->plan.actor_count &&
                       handoff->seated_count < started + ahead;
        status = is_more ? seat_actor(handoff, err)
                         : start_actor(&handoff->seats[started++], err);
    }
    return status;
}

enum fulcrum_status fulcrum_handoff_new(struct fulcrum_handoff **out,
    const struct fulcrum_handoff_plan *plan, struct fulcrum_error *err)
{
    struct fulcrum_handoff *handoff = calloc(1, sizeof *handoff);
    TRY_MEMORY(handoff, err, "%zu waiting actors", plan->actor_count);
    handoff->plan = *plan;
    handoff->gap_s = -1.0;
    handoff->clock_cost_s = fulcrum_stopwatch_calibrated().cpu_cost_s;
    enum fulcrum_status status = make_seats(handoff, err);
    handoff->is_apart =
        fulcrum_cpu_list_allowed(&handoff->before, NULL) == FULCRUM_OK &&
        fulcrum_placement_complete(&handoff->placement, NULL) == FULCRUM_OK &&
        handoff->placement.is_apart;
    if (plan->shares_processor && handoff->is_apart) {
        handoff->placement.actors.count = 1;
    }
    if (status == FULCRUM_OK) {
        status = start_actors(handoff, err);
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
        if (handoff->seats[i].observation != NULL) {
            fulcrum_stepper_close(&handoff->seats[i].stepper);
        }
        free(handoff->seats[i].items);
    }
    fulcrum_request_queue_free(handoff->requests);
    free(handoff->seats);
    free(handoff->numbers);
    free(handoff->input);
    free(handoff);
}

void fulcrum_handoff_serve(struct fulcrum_handoff *handoff, bool serves)
{
    if (handoff->is_apart) {
        (void)fulcrum_cpu_list_bind(
            serves ? &handoff->placement.server : &handoff->before);
    }
}

void fulcrum_handoff_answer(
    struct fulcrum_handoff *handoff, size_t actor_count, size_t item_count)
{
    handoff->asked_count = actor_count;
    handoff->item_count = item_count;
    for (size_t i = 0; i < actor_count; i++) {
        handoff->numbers[i] = i;
    }
    fulcrum_request_queue_answer(handoff->requests, handoff->numbers, actor_count);
}

void fulcrum_handoff_stay_awake(struct fulcrum_handoff *handoff, double gap_s)
{
    handoff->gap_s = gap_s;
}

size_t fulcrum_handoff_collect(struct fulcrum_handoff *handoff, size_t least)
{
    handoff->taken_count = fulcrum_request_queue_collect(
        handoff->requests, least, handoff->asked_count, handoff->numbers);
    return handoff->taken_count;
}

void fulcrum_handoff_reply(struct fulcrum_handoff *handoff)
{
    fulcrum_request_queue_answer(
        handoff->requests, handoff->numbers, handoff->taken_count);
}

enum fulcrum_status fulcrum_handoff_copy(
    struct fulcrum_handoff *handoff, struct fulcrum_error *err)
{
    size_t byte = handoff->item_count * handoff->plan.item_byte;
    for (size_t i = 0; i < handoff->taken_count; i++) {
        const struct seat *seat = &handoff->seats[handoff->numbers[i]];
        memcpy(handoff->input + i * byte, seat->items, byte);
        FAIL_IF(seat->failure.status != FULCRUM_OK, err, seat->failure.status, "%s",
            seat->failure.detail);
    }
    return FULCRUM_OK;
}

struct fulcrum_handoff_turn fulcrum_handoff_turn(const struct fulcrum_handoff *handoff)
{
    struct fulcrum_handoff_turn turn = handoff->seats[0].turn;
    double sum_s = 0.0;
    for (size_t i = 0; i < handoff->asked_count; i++) {
        sum_s += handoff->seats[i].turn.cpu_s;
    }
    turn.cpu_s = sum_s / fmax((double)handoff->asked_count, 1.0);
    return turn;
}

struct fulcrum_handoff_steps fulcrum_handoff_steps(
    const struct fulcrum_handoff *handoff)
{
    struct fulcrum_handoff_steps all = {0.0, 0.0};
    for (size_t i = 0; i < handoff->seated_count; i++) {
        const struct seat *seat = &handoff->seats[i];
        all.count += seat->steps.count;
        all.cpu_s += seat->steps.cpu_s;
        if (seat->observation != NULL) {
            all.cpu_s += fulcrum_stepper_cpu_s(&seat->stepper);
        }
    }
    return all;
}

size_t fulcrum_handoff_thread_count(const struct fulcrum_handoff *handoff)
{
    const struct fulcrum_cpu_list *list =
        handoff->is_apart ? &handoff->placement.actors : &handoff->before;
    return list->count > 0 ? list->count : 1;
}

bool fulcrum_handoff_is_apart(const struct fulcrum_handoff *handoff)
{
    return handoff->is_apart;
}
