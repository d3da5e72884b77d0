/* yardstick.h - clock, noise and table of the programs that time one thing alone. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_BENCH_YARDSTICK_H
#define FULCRUM_TESTS_BENCH_YARDSTICK_H

#include <stddef.h>
#include <stdint.h>

/* One step of what is timed; `state` is the program's own. */
typedef void yardstick_step(void *state);

/*
 * Times `sample_count` blocks of `block_count` steps by the CPU time of this thread,
 * after a tenth as many blocks to warm up, and prints mean, median and 5th and 95th
 * percentile in seconds per step.
 * Returns the exit status of main: 1 where memory is short.
 */
int yardstick_run(const char *name, yardstick_step *step, void *state,
    size_t sample_count, size_t block_count);

/* Uniform in [-1, 1). */
double yardstick_noise(uint64_t *state);

/* The number at argv[index], or `standard` where there is none. */
double yardstick_number(int argc, char **argv, int index, double standard);

#endif
