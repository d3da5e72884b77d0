/* stopwatch.h - wall and thread CPU time without the cost of reading the clocks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_STOPWATCH_H
#define FULCRUM_CALIBRATE_STOPWATCH_H

#include <pthread.h>
#include <stdbool.h>

/* Seconds on a clock of the kernel, a clockid_t; NAN where it does not tell. */
double fulcrum_clock_s(int clock);

/* Seconds on a clock that never goes back; its origin means nothing. */
double fulcrum_wall_s(void);

/*
 * Seconds of CPU that the calling thread used. It stands still while other programs
 * have the core, but a read costs up to half a microsecond.
 */
double fulcrum_thread_cpu_s(void);

/* The same of another thread that has not been joined; 0 where it is not told. */
double fulcrum_cpu_s_of(pthread_t thread);

struct fulcrum_stopwatch {
    double wall_cost_s; /* what a pair of reads with nothing between them shows */
    double cpu_cost_s;
};

/* Medians over a few thousand pairs of reads: about 5 ms. */
struct fulcrum_stopwatch fulcrum_stopwatch_calibrated(void);

/* Two clocks read together, or the time between two such reads. */
struct fulcrum_span {
    double wall_s;
    double cpu_s;
};

/* Reads both clocks now; fulcrum_span_end takes the difference. */
struct fulcrum_span fulcrum_span_begin(void);

/* Time since `begin` on the same thread, the cost of the reads taken off; >= 0. */
struct fulcrum_span fulcrum_span_end(
    const struct fulcrum_stopwatch *stopwatch, struct fulcrum_span begin);

/* On which clock a sample is timed: a stolen slice shows on the wall clock alone. */
enum fulcrum_clock { FULCRUM_CLOCK_CPU, FULCRUM_CLOCK_WALL };

/* As in sentences: "CPU", "wall". */
const char *fulcrum_clock_name(enum fulcrum_clock clock);

/* The span's time on that clock. */
double fulcrum_span_on(struct fulcrum_span span, enum fulcrum_clock clock);

/* Whoever waits for a long measurement. {0}: nobody. */
struct fulcrum_listener {
    bool (*stop)(void *user); /* whether to end soon; NULL: never */
    /* NULL: not told. `what` is being measured ("step time"); static. */
    void (*progress)(void *user, double done_frac, const char *what);
    void *user; /* of both */
};

/* Asks whether to end; the second one first tells how far the measurement is. */
bool fulcrum_listener_stops(const struct fulcrum_listener *listener);
bool fulcrum_listener_told(
    const struct fulcrum_listener *listener, double done_frac, const char *what);

/* Sleeps; returns early where a signal arrives. Nothing for seconds <= 0. */
void fulcrum_sleep_s(double seconds);

#endif
