/* canary.c - a fixed piece of work whose time tells whether the machine was disturbed.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/canary.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/statistics.h"

/* About 1 ms at 3 GHz: long against a clock read, short against a time slice. */
#define LOOP_COUNT 300000

/* Readings between two looks at all of them. */
#define REVIEW_COUNT 16

#define BASELINE_QUANTILE 0.10

/* A run that ended this short a time ago also tells of the moment now. */
#define FRESH_S 0.5e-3

void fulcrum_canary_free(struct fulcrum_canary *canary)
{
    free(canary->reading_s);
    *canary = (struct fulcrum_canary){0};
}

/*
 * One integer and two floating-point chains, so that a thread on the same core, a lower
 * clock or a stolen slice each show.
 */
static double work(void)
{
    uint64_t bits = UINT64_C(0x2545f4914f6cdd1d);
    double first = 0.5;
    double second = 0.25;
    for (int i = 0; i < LOOP_COUNT; i++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        first = first * 0.999 + 0.001;
        second = second * 0.998 + (double)(bits & 1);
    }
    return first + second;
}

static enum fulcrum_status make_room(
    struct fulcrum_canary *canary, struct fulcrum_error *err)
{
    if (canary->count < canary->capacity) {
        return FULCRUM_OK;
    }
    size_t capacity = canary->capacity == 0 ? 256 : 2 * canary->capacity;
    double *grown = realloc(canary->reading_s, capacity * sizeof *grown);
    if (grown == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%zu canary times", capacity);
    }
    canary->reading_s = grown;
    canary->capacity = capacity;
    return FULCRUM_OK;
}

/* Sorting all readings each time would disturb what is measured. */
static enum fulcrum_status review(
    struct fulcrum_canary *canary, struct fulcrum_error *err)
{
    double *sorted = calloc(canary->count, sizeof *sorted);
    if (sorted == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "canary baseline");
    }
    memcpy(sorted, canary->reading_s, canary->count * sizeof *sorted);
    gsl_sort(sorted, 1, canary->count);
    canary->baseline_s =
        fulcrum_statistics_quantile(sorted, canary->count, BASELINE_QUANTILE);
    free(sorted);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_canary_add(
    struct fulcrum_canary *canary, double reading_s, struct fulcrum_error *err)
{
    enum fulcrum_status status = make_room(canary, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    canary->reading_s[canary->count] = reading_s;
    canary->count++;
    if (canary->count <= REVIEW_COUNT || canary->count % REVIEW_COUNT == 0) {
        return review(canary, err);
    }
    return FULCRUM_OK;
}

double fulcrum_canary_rel(const struct fulcrum_canary *canary, double reading_s)
{
    return canary->baseline_s > 0.0 ? reading_s / canary->baseline_s : 1.0;
}

/* About 1 ms of integer and floating-point work in registers. */
static enum fulcrum_status run(struct fulcrum_canary *canary,
    const struct fulcrum_stopwatch *stopwatch, struct fulcrum_error *err)
{
    struct fulcrum_span begin = fulcrum_span_begin();
    /* Keeps the compiler from dropping a loop whose result nobody reads. */
    volatile double sink = work();
    (void)sink;
    canary->last = fulcrum_span_end(stopwatch, begin);
    enum fulcrum_status status = fulcrum_canary_add(canary, canary->last.cpu_s, err);
    canary->last_end_s = fulcrum_wall_s();
    return status;
}

enum fulcrum_status fulcrum_canary_open(struct fulcrum_canary *canary,
    const struct fulcrum_stopwatch *stopwatch, struct fulcrum_error *err)
{
    if (canary->count > 0 && fulcrum_wall_s() - canary->last_end_s < FRESH_S) {
        return FULCRUM_OK;
    }
    return run(canary, stopwatch, err);
}

enum fulcrum_status fulcrum_canary_close(struct fulcrum_canary *canary, double *out,
    enum fulcrum_clock clock, const struct fulcrum_stopwatch *stopwatch,
    struct fulcrum_error *err)
{
    struct fulcrum_span before = canary->last;
    enum fulcrum_status status = run(canary, stopwatch, err);
    if (status == FULCRUM_OK) {
        *out = clock == FULCRUM_CLOCK_CPU ? fmax(before.cpu_s, canary->last.cpu_s)
                                          : fmax(before.wall_s, canary->last.wall_s);
    }
    return status;
}
