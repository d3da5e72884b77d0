/* duty.c - keeps a learner's device busy for a given share of the time. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/duty.h"

#include <assert.h>
#include <math.h>

#include "calibrate/stopwatch.h"

/* Long against a launch, short against the windows of meters. */
#define BURST_S 0.02

/* Rests are cut up so that an interrupt does not wait for their end. */
#define REST_SLICE_S 0.1

static int goes_on(const struct fulcrum_duty *duty)
{
    return duty->goes_on == NULL || duty->goes_on(duty->user);
}

static enum fulcrum_status step(
    const struct fulcrum_duty *duty, struct fulcrum_error *err)
{
    double loss = 0;
    return duty->work == FULCRUM_DUTY_INFERENCE
               ? duty->learner->forward(duty->state, duty->batch, duty->action, err)
               : duty->learner->train(duty->state, &loss, err);
}

/* Steps for `burst_s`, at least one. */
static enum fulcrum_status work(const struct fulcrum_duty *duty, double burst_s,
    struct fulcrum_duty_reading *reading, struct fulcrum_error *err)
{
    double begin_s = fulcrum_wall_s();
    double spent_s = 0;
    enum fulcrum_status status = FULCRUM_OK;
    do {
        status = step(duty, err);
        reading->step_count += 1;
        spent_s = fulcrum_wall_s() - begin_s;
    } while (status == FULCRUM_OK && spent_s < burst_s);
    reading->busy_s += spent_s;
    return status;
}

/* Until `until_s` on the wall clock. */
static void rest(const struct fulcrum_duty *duty, double until_s)
{
    double left_s = until_s - fulcrum_wall_s();
    while (left_s > 0 && goes_on(duty)) {
        fulcrum_sleep_s(fmin(left_s, REST_SLICE_S));
        left_s = until_s - fulcrum_wall_s();
    }
}

enum fulcrum_status fulcrum_duty_run(struct fulcrum_duty_reading *out,
    const struct fulcrum_duty *duty, double window_s, struct fulcrum_random *random,
    struct fulcrum_error *err)
{
    int works = duty->work != FULCRUM_DUTY_NOTHING;
    assert(!works || (duty->busy_frac > 0 && duty->busy_frac <= 1));
    struct fulcrum_duty_reading reading = {0};
    double begin_s = fulcrum_wall_s();
    enum fulcrum_status status = FULCRUM_OK;
    while (status == FULCRUM_OK && fulcrum_wall_s() - begin_s < window_s &&
           goes_on(duty)) {
        double end_s = begin_s + window_s;
        if (works) {
            double burst_s = BURST_S * fulcrum_random_between(random, 0.5, 1.5);
            status = work(duty, burst_s, &reading, err);
            /* From the beginning on, so that a rest too long is made up for. */
            end_s = begin_s + reading.busy_s / duty->busy_frac;
        }
        rest(duty, end_s);
    }
    reading.wall_s = fulcrum_wall_s() - begin_s;
    reading.is_ended = !goes_on(duty);
    if (status == FULCRUM_OK) {
        *out = reading;
    }
    return status;
}
