/* yardstick.c - clock, noise and table of the programs that time one thing alone. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "tests/yardstick/yardstick.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double thread_cpu_s(void)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare(const void *one, const void *two)
{
    double difference = *(const double *)one - *(const double *)two;
    return (difference > 0.0) - (difference < 0.0);
}

static double time_block(yardstick_step *step, void *state, size_t block_count)
{
    double start_s = thread_cpu_s();
    for (size_t i = 0; i < block_count; i++) {
        step(state);
    }
    return (thread_cpu_s() - start_s) / (double)block_count;
}

int yardstick_run(const char *name, yardstick_step *step, void *state,
    size_t sample_count, size_t block_count)
{
    double *step_s = calloc(sample_count + 1, sizeof *step_s);
    if (step_s == NULL) {
        return 1;
    }
    for (size_t i = 0; i < sample_count / 10; i++) {
        (void)time_block(step, state, block_count);
    }
    double sum_s = 0.0;
    for (size_t i = 0; i < sample_count; i++) {
        step_s[i] = time_block(step, state, block_count);
        sum_s += step_s[i];
    }
    qsort(step_s, sample_count, sizeof *step_s, compare);
    (void)printf("%-24s mean_s %.4g median_s %.4g p5_s %.4g p95_s %.4g\n", name,
        sum_s / (double)sample_count, step_s[sample_count / 2],
        step_s[sample_count / 20], step_s[sample_count - 1 - sample_count / 20]);
    free(step_s);
    return 0;
}

/* Knuth's 64-bit linear congruential generator, upper 53 bits. */
double yardstick_noise(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-52 - 1.0;
}

double yardstick_number(int argc, char **argv, int index, double standard)
{
    return index < argc ? strtod(argv[index], NULL) : standard;
}
