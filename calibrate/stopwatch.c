/* stopwatch.c - wall and thread CPU time without the cost of reading the clocks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include "calibrate/stopwatch.h"

#include <math.h>
#include <stddef.h>
#include <time.h>

#include "calibrate/statistics.h"

#define PAIR_COUNT 2001

double fulcrum_clock_s(int clock)
{
    struct timespec now = {0, 0};
    return clock_gettime(clock, &now) == 0
               ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec
               : (double)NAN;
}

double fulcrum_wall_s(void)
{
    return fulcrum_clock_s(CLOCK_MONOTONIC);
}

double fulcrum_thread_cpu_s(void)
{
    return fulcrum_clock_s(CLOCK_THREAD_CPUTIME_ID);
}

double fulcrum_cpu_s_of(pthread_t thread)
{
    clockid_t clock = 0;
    return pthread_getcpuclockid(thread, &clock) == 0 ? fulcrum_clock_s(clock) : 0.0;
}

static double pair_cost_s(clockid_t clock)
{
    double cost_s[PAIR_COUNT];
    for (size_t i = 0; i < PAIR_COUNT; i++) {
        double begin_s = fulcrum_clock_s(clock);
        cost_s[i] = fulcrum_clock_s(clock) - begin_s;
    }
    return fulcrum_statistics_median(cost_s, PAIR_COUNT);
}

struct fulcrum_stopwatch fulcrum_stopwatch_calibrated(void)
{
    return (struct fulcrum_stopwatch){
        .wall_cost_s = pair_cost_s(CLOCK_MONOTONIC),
        .cpu_cost_s = pair_cost_s(CLOCK_THREAD_CPUTIME_ID),
    };
}

struct fulcrum_span fulcrum_span_begin(void)
{
    struct fulcrum_span begin = {.wall_s = fulcrum_wall_s()};
    begin.cpu_s = fulcrum_thread_cpu_s();
    return begin;
}

struct fulcrum_span fulcrum_span_end(
    const struct fulcrum_stopwatch *stopwatch, struct fulcrum_span begin)
{
    /* The CPU clock is read innermost: the wall clock's span holds both its reads. */
    double cpu_s = fulcrum_thread_cpu_s() - begin.cpu_s - stopwatch->cpu_cost_s;
    double wall_s = fulcrum_wall_s() - begin.wall_s - stopwatch->wall_cost_s -
                    2.0 * stopwatch->cpu_cost_s;
    return (struct fulcrum_span){fmax(wall_s, 0.0), fmax(cpu_s, 0.0)};
}

const char *fulcrum_clock_name(enum fulcrum_clock clock)
{
    return clock == FULCRUM_CLOCK_WALL ? "wall" : "CPU";
}

double fulcrum_span_on(struct fulcrum_span span, enum fulcrum_clock clock)
{
    return clock == FULCRUM_CLOCK_WALL ? span.wall_s : span.cpu_s;
}

bool fulcrum_listener_stops(const struct fulcrum_listener *listener)
{
    return listener->stop != NULL && listener->stop(listener->user);
}

bool fulcrum_listener_told(
    const struct fulcrum_listener *listener, double done_frac, const char *what)
{
    if (listener->progress != NULL) {
        listener->progress(listener->user, done_frac, what);
    }
    return fulcrum_listener_stops(listener);
}

void fulcrum_sleep_s(double seconds)
{
    if (seconds <= 0.0) {
        return;
    }
    double whole_s = floor(seconds);
    struct timespec pause = {(time_t)whole_s, (long)((seconds - whole_s) * 1e9)};
    (void)nanosleep(&pause, NULL);
}
