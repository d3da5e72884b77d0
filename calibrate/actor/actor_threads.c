/* actor_threads.c - actor threads, each stepping an environment of its own. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads wait on a condition variable between windows and step without any lock inside
 * one. Each looks at the stop flag only every few steps, and writes its counts on a
 * cache line of its own: on an environment of 20 ns a shared counter would be what is
 * measured. A window opens after a start-up in which threads wake and spread over the
 * cores.
 */
#include "calibrate/actor/actor_threads.h"

#include <math.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "calibrate/stopwatch.h"
#include "model/try.h"

/* Steps between two looks at the stop flag last about this long... */
#define LOOK_S 20e-6

/* ...or this long where each burst is an exchange with another process. */
#define LOOK_ELSEWHERE_S 1e-3

/* Threads wake, spread over the cores and fill their caches before a window opens. */
#define START_UP_S 0.004

struct worker {
    /* Apart from its neighbours', or each step would move a cache line. */
    alignas(128) atomic_ullong step_count;
    struct fulcrum_actor_threads *threads;
    struct fulcrum_stepper stepper;
    size_t number;
    pthread_t thread;
    int runs;                     /* the thread exists */
    struct fulcrum_error failure; /* written by the thread, read when it waits */
};

struct fulcrum_actor_threads {
    pthread_mutex_t lock;
    pthread_cond_t go;
    pthread_cond_t parked;
    size_t turn; /* raised at each start; guarded by lock, as are the next four */
    size_t active_count;
    size_t running_count;
    int ends;
    size_t burst;  /* steps between two looks at `stops` */
    double call_s; /* of a tool; else 0: nothing to wait for */
    atomic_int stops;
    size_t count;
    struct worker *workers;
};

/* Waits for a start that includes this worker. Returns 0 where they end.
 */
static int await_turn(struct worker *worker, size_t *seen)
{
    struct fulcrum_actor_threads *threads = worker->threads;
    (void)pthread_mutex_lock(&threads->lock);
    while (!threads->ends &&
           (threads->turn == *seen || worker->number >= threads->active_count)) {
        *seen = threads->turn;
        (void)pthread_cond_wait(&threads->go, &threads->lock);
    }
    *seen = threads->turn;
    int goes_on = !threads->ends;
    (void)pthread_mutex_unlock(&threads->lock);
    return goes_on;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct fulcrum_actor_threads *threads = worker->threads;
    size_t seen = 0;
    while (await_turn(worker, &seen)) {
        enum fulcrum_status status = FULCRUM_OK;
        while (status == FULCRUM_OK &&
               !atomic_load_explicit(&threads->stops, memory_order_relaxed)) {
            status = fulcrum_stepper_run(
                &worker->stepper, threads->burst, NULL, &worker->failure);
            size_t done = status == FULCRUM_OK ? threads->burst : 0;
            atomic_fetch_add_explicit(&worker->step_count, done, memory_order_relaxed);
        }
        (void)pthread_mutex_lock(&threads->lock);
        threads->running_count--;
        if (threads->running_count == 0) {
            (void)pthread_cond_signal(&threads->parked);
        }
        (void)pthread_mutex_unlock(&threads->lock);
    }
    return NULL;
}

/* All environments start side by side; then each gets its thread. */
static enum fulcrum_status hire_all(struct fulcrum_actor_threads *threads,
    const struct fulcrum_stage *stage, struct fulcrum_error *err)
{
    for (size_t i = 0; i < threads->count; i++) {
        TRY(fulcrum_stepper_begin(&threads->workers[i].stepper, stage, i, err));
    }
    for (size_t i = 0; i < threads->count; i++) {
        struct worker *worker = &threads->workers[i];
        TRY(fulcrum_stepper_await(&worker->stepper, err));
        worker->runs = pthread_create(&worker->thread, NULL, work, worker) == 0;
        FAIL_IF(!worker->runs, err, FULCRUM_ERR_UNSUPPORTED,
            "actor thread %zu cannot start", i + 1);
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_actor_threads_new(struct fulcrum_actor_threads **out,
    const struct fulcrum_stage *stage, size_t count, double step_s,
    struct fulcrum_error *err)
{
    struct fulcrum_actor_threads *threads = calloc(1, sizeof *threads);
    struct worker *workers = aligned_alloc(
        alignof(struct worker), (count > 0 ? count : 1) * sizeof *workers);
    if (threads == NULL || workers == NULL) {
        free(threads);
        free(workers);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%zu actor threads", count);
    }
    threads->workers = workers;
    threads->count = count;
    double look_s = stage->actor->step_many != NULL ? LOOK_ELSEWHERE_S : LOOK_S;
    threads->call_s = stage->actor->is_tools ? step_s : 0.0;
    threads->burst = (size_t)fmin(fmax(look_s / fmax(step_s, 1e-9), 1.0), 1e4);
    (void)pthread_mutex_init(&threads->lock, NULL);
    (void)pthread_cond_init(&threads->go, NULL);
    (void)pthread_cond_init(&threads->parked, NULL);
    atomic_init(&threads->stops, 0);
    for (size_t i = 0; i < count; i++) {
        workers[i] = (struct worker){.threads = threads, .number = i};
        atomic_init(&workers[i].step_count, 0);
    }
    enum fulcrum_status status = hire_all(threads, stage, err);
    if (status != FULCRUM_OK) {
        fulcrum_actor_threads_free(threads);
        return status;
    }
    *out = threads;
    return FULCRUM_OK;
}

void fulcrum_actor_threads_free(struct fulcrum_actor_threads *threads)
{
    if (threads == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&threads->lock);
    threads->ends = 1;
    atomic_store(&threads->stops, 1);
    (void)pthread_cond_broadcast(&threads->go);
    (void)pthread_mutex_unlock(&threads->lock);
    for (size_t i = 0; i < threads->count; i++) {
        if (threads->workers[i].runs) {
            (void)pthread_join(threads->workers[i].thread, NULL);
        }
        fulcrum_stepper_close(&threads->workers[i].stepper);
    }
    (void)pthread_cond_destroy(&threads->parked);
    (void)pthread_cond_destroy(&threads->go);
    (void)pthread_mutex_destroy(&threads->lock);
    free(threads->workers);
    free(threads);
}

size_t fulcrum_actor_threads_count(const struct fulcrum_actor_threads *threads)
{
    return threads->count;
}

void fulcrum_actor_threads_start(struct fulcrum_actor_threads *threads, size_t count)
{
    (void)pthread_mutex_lock(&threads->lock);
    threads->active_count = count;
    threads->running_count = count;
    threads->turn++;
    atomic_store(&threads->stops, 0);
    (void)pthread_cond_broadcast(&threads->go);
    (void)pthread_mutex_unlock(&threads->lock);
}

enum fulcrum_status fulcrum_actor_threads_stop(
    struct fulcrum_actor_threads *threads, struct fulcrum_error *err)
{
    atomic_store(&threads->stops, 1);
    (void)pthread_mutex_lock(&threads->lock);
    while (threads->running_count > 0) {
        (void)pthread_cond_wait(&threads->parked, &threads->lock);
    }
    (void)pthread_mutex_unlock(&threads->lock);
    /* The first thread's whose environment failed. */
    for (size_t i = 0; i < threads->active_count; i++) {
        const struct fulcrum_error *failure = &threads->workers[i].failure;
        if (failure->status != FULCRUM_OK) {
            return fulcrum_fail(err, failure->status, "%s", failure->detail);
        }
    }
    return FULCRUM_OK;
}

struct fulcrum_actor_threads_reading fulcrum_actor_threads_read(
    struct fulcrum_actor_threads *threads)
{
    struct fulcrum_actor_threads_reading reading = {.wall_s = fulcrum_wall_s()};
    for (size_t i = 0; i < threads->active_count; i++) {
        reading.step_count += (double)atomic_load_explicit(
            &threads->workers[i].step_count, memory_order_relaxed);
    }
    /* Apart, so that the slow clock reads do not spread the counts over time. */
    for (size_t i = 0; i < threads->active_count; i++) {
        reading.cpu_s += fulcrum_cpu_s_of(threads->workers[i].thread) +
                         fulcrum_stepper_cpu_s(&threads->workers[i].stepper);
    }
    return reading;
}

enum fulcrum_status fulcrum_actor_threads_window(struct fulcrum_actor_threads *threads,
    size_t count, double window_s, struct fulcrum_actor_threads_reading *out,
    struct fulcrum_error *err)
{
    fulcrum_actor_threads_start(threads, count);
    /* Calls must no longer be in step when the window opens. */
    double each = (double)count / (double)sysconf(_SC_NPROCESSORS_ONLN);
    fulcrum_sleep_s(START_UP_S + 2.0 * threads->call_s * fmax(each, 1.0));
    struct fulcrum_actor_threads_reading begin = fulcrum_actor_threads_read(threads);
    fulcrum_sleep_s(window_s);
    struct fulcrum_actor_threads_reading end = fulcrum_actor_threads_read(threads);
    TRY(fulcrum_actor_threads_stop(threads, err));
    *out = (struct fulcrum_actor_threads_reading){
        .wall_s = end.wall_s - begin.wall_s,
        .step_count = end.step_count - begin.step_count,
        .cpu_s = end.cpu_s - begin.cpu_s,
    };
    return FULCRUM_OK;
}
