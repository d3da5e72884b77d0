/* calls.c - trajectories that decode, as a sleep, and call real tools, by turns. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A closed network of real processes. Each trajectory is a thread: it sleeps for as
 * long as a model would decode, then makes a call and waits for it. Sleeps are
 * exponential; their quantiles are dealt in shuffled decks, so that a few of them have
 * the mean of many and short windows tell what long ones would.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "calibrate/pipeline/measure.h"
#include "calibrate/statistics.h"
#include "calibrate/stopwatch.h"
#include "model/try.h"

/* Between two looks at the calls that have ended, and at whether to end. */
#define LOOK_S  0.005
#define SLICE_S 0.2

enum { SLEEP_DECK = 16, CALLS_LEAST = 32 };

struct trajectory {
    struct fulcrum_stepper *stepper;
    struct fulcrum_random random;
    double decode_s;
    int deck[SLEEP_DECK];
    size_t dealt;
    atomic_int *ends;
    atomic_ullong call_count;
    atomic_int has_failed;
    struct fulcrum_error failure;
    pthread_t thread;
};

/* A quantile of the exponential law, anywhere within the next stratum. */
static double draw_sleep(struct trajectory *own)
{
    if (own->dealt == 0) {
        for (int i = 0; i < SLEEP_DECK; i++) {
            int j = (int)(fulcrum_random_bits(&own->random) % (uint64_t)(i + 1));
            own->deck[i] = own->deck[j];
            own->deck[j] = i;
        }
    }
    double stratum = (double)own->deck[own->dealt];
    own->dealt = (own->dealt + 1) % SLEEP_DECK;
    double frac = fulcrum_random_between(&own->random, stratum, stratum + 1.0);
    return -own->decode_s * log1p(-frac / SLEEP_DECK);
}

/* Sleeps until then, or the end. */
static void decode(const struct trajectory *own, double until_s)
{
    double left_s = until_s - fulcrum_wall_s();
    while (left_s > 0.0 && !atomic_load(own->ends)) {
        fulcrum_sleep_s(fmin(left_s, SLICE_S));
        left_s = until_s - fulcrum_wall_s();
    }
}

static void *live(void *argument)
{
    struct trajectory *own = argument;
    enum fulcrum_status status = FULCRUM_OK;
    decode(own, fulcrum_wall_s() + draw_sleep(own));
    while (status == FULCRUM_OK && !atomic_load(own->ends)) {
        status = fulcrum_stepper_run(own->stepper, 1, NULL, &own->failure);
        atomic_fetch_add(&own->call_count, status == FULCRUM_OK ? 1 : 0);
        decode(own, fulcrum_wall_s() + draw_sleep(own));
    }
    atomic_store(&own->has_failed, status != FULCRUM_OK);
    return NULL;
}

struct tally {
    double wall_s;
    double call_count;
    double cpu_s;
};

static enum fulcrum_status count_calls(struct trajectory *all,
    const struct fulcrum_calls_plan *plan, struct tally *out, struct fulcrum_error *err)
{
    *out = (struct tally){.wall_s = fulcrum_wall_s()};
    FAIL_IF(fulcrum_listener_stops(plan->listener), err, FULCRUM_ERR_INTERRUPTED,
        "stopped");
    for (size_t i = 0; i < plan->count; i++) {
        if (atomic_load(&all[i].has_failed)) {
            return fulcrum_fail(
                err, all[i].failure.status, "%s", all[i].failure.detail);
        }
        out->call_count += (double)atomic_load(&all[i].call_count);
        out->cpu_s += fulcrum_stepper_cpu_s(all[i].stepper);
    }
    return FULCRUM_OK;
}

/* Until so much time has passed and so many calls more have ended. */
static enum fulcrum_status watch_for(struct trajectory *all,
    const struct fulcrum_calls_plan *plan, struct tally *now, struct tally least,
    struct fulcrum_error *err)
{
    const struct tally begin = *now;
    while (now->wall_s - begin.wall_s < least.wall_s ||
           now->call_count - begin.call_count < least.call_count) {
        fulcrum_sleep_s(LOOK_S);
        TRY(count_calls(all, plan, now, err));
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_calls_watch(const struct fulcrum_calls_plan *plan,
    struct fulcrum_calls_reading *out, struct fulcrum_error *err)
{
    struct trajectory *all = calloc(plan->count, sizeof *all);
    TRY_MEMORY(all, err, "%zu trajectories", plan->count);
    atomic_int ends;
    atomic_init(&ends, 0);
    size_t started = 0;
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < plan->count && started == i; i++) {
        all[i].stepper = &plan->steppers[i];
        all[i].random = fulcrum_random_seeded(plan->seed + i);
        all[i].decode_s = plan->decode_s;
        all[i].ends = &ends;
        started += pthread_create(&all[i].thread, NULL, live, &all[i]) == 0;
    }
    if (started < plan->count) {
        status = fulcrum_fail(
            err, FULCRUM_ERR_UNSUPPORTED, "trajectory %zu cannot start", started + 1);
        goto end;
    }
    struct tally begin;
    TRY_OR_END(count_calls(all, plan, &begin, err));
    /* Queues are as long as they get once everyone has had a turn. */
    const struct tally warm = {2.0 * plan->decode_s, (double)plan->count, 0.0};
    TRY_OR_END(watch_for(all, plan, &begin, warm, err));
    struct tally now = begin;
    const struct tally least = {plan->window_s, CALLS_LEAST, 0.0};
    TRY_OR_END(watch_for(all, plan, &now, least, err));
    double wall_s = now.wall_s - begin.wall_s;
    *out = (struct fulcrum_calls_reading){
        .calls_per_s = (now.call_count - begin.call_count) / wall_s,
        .busy_threads = (now.cpu_s - begin.cpu_s) / wall_s,
        .cpu_s = (now.cpu_s - begin.cpu_s) / (now.call_count - begin.call_count)};
end:
    atomic_store(&ends, 1);
    for (size_t i = 0; i < started; i++) {
        (void)pthread_join(all[i].thread, NULL);
    }
    free(all);
    return status;
}
