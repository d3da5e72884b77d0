/* timing.c - how long a piece of work takes, repeated until its median settles. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A clock tick or a read of the clock is a large part of a solution of a microsecond.
 * So runs are counted into samples of a millisecond, and the clock is read twice for
 * each. Interrupts and other programs can only add time: the median bears with some of
 * that, the quartiles show how much there was, and the smallest sample is what the
 * machine can do.
 */
#include "bench/speed_case.h"

#include <stdbool.h>
#include <stdlib.h>

#include "calibrate/statistics.h"
#include "calibrate/stopwatch.h"
#include "model/try.h"

enum { SAMPLES_MOST = 400 };

static const double least_sample_s = 1e-3;
static const double settled_rel = 0.02;

struct measurement {
    const struct fulcrum_timing_work *work;
    struct fulcrum_stopwatch stopwatch;
    const volatile sig_atomic_t *stop;
    double until_s;
    size_t inner_count;
    double units;
};

static enum fulcrum_status sample(
    struct measurement *measurement, double *out, struct fulcrum_error *err)
{
    const struct fulcrum_timing_work *work = measurement->work;
    struct fulcrum_span begin = fulcrum_span_begin();
    for (size_t i = 0; i < measurement->inner_count; i++) {
        TRY(work->run(work->context, &measurement->units, err));
    }
    struct fulcrum_span span = fulcrum_span_end(&measurement->stopwatch, begin);
    *out = work->clock == FULCRUM_TIMING_WALL ? span.wall_s : span.cpu_s;
    return FULCRUM_OK;
}

/* Doubles the runs of a sample until it is long enough to be timed. */
static enum fulcrum_status warm_up(
    struct measurement *measurement, struct fulcrum_error *err)
{
    double taken_s = 0.0;
    measurement->inner_count = 1;
    TRY(sample(measurement, &taken_s, err));
    while (taken_s < least_sample_s) {
        measurement->inner_count *= 2;
        TRY(sample(measurement, &taken_s, err));
    }
    return FULCRUM_OK;
}

static void conclude(const struct measurement *measurement, struct fulcrum_timing *out,
    const double *samples, const struct fulcrum_statistics *statistics)
{
    double inner = (double)measurement->inner_count;
    double least_s = samples[0];
    for (size_t i = 1; i < statistics->count; i++) {
        least_s = samples[i] < least_s ? samples[i] : least_s;
    }
    *out = (struct fulcrum_timing){
        .sample_count = statistics->count,
        .inner_count = measurement->inner_count,
        .median_s = statistics->median / inner,
        .low_quartile_s = statistics->low_quartile / inner,
        .high_quartile_s = statistics->high_quartile / inner,
        .min_s = least_s / inner,
        .units = measurement->units,
    };
}

static bool is_stopped(const struct measurement *measurement)
{
    return measurement->stop != NULL && *measurement->stop != 0;
}

static enum fulcrum_status take_samples(struct measurement *measurement,
    struct fulcrum_timing *out, double *samples, struct fulcrum_error *err)
{
    struct fulcrum_statistics statistics = {.count = 0};
    while (statistics.count < SAMPLES_MOST && !is_stopped(measurement)) {
        TRY(sample(measurement, &samples[statistics.count], err));
        TRY(fulcrum_statistics_of(&statistics, samples, statistics.count + 1, err));
        bool is_over = fulcrum_wall_s() >= measurement->until_s ||
                       fulcrum_statistics_settled(&statistics, settled_rel);
        if (is_over) {
            break;
        }
    }
    if (statistics.count == 0) {
        *out = (struct fulcrum_timing){.sample_count = 0};
        return FULCRUM_OK;
    }
    conclude(measurement, out, samples, &statistics);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_timing_measure(const struct fulcrum_timing_work *work,
    struct fulcrum_timing *out, double budget_s, const volatile sig_atomic_t *stop,
    struct fulcrum_error *err)
{
    struct measurement measurement = {.work = work,
        .stopwatch = fulcrum_stopwatch_calibrated(),
        .stop = stop,
        .until_s = fulcrum_wall_s() + budget_s,
        .units = 1.0};
    double *samples = calloc(SAMPLES_MOST, sizeof *samples);
    TRY_MEMORY(samples, err, "%d samples", SAMPLES_MOST);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(warm_up(&measurement, err));
    status = take_samples(&measurement, out, samples, err);
end:
    free(samples);
    return status;
}
