/* fake_powercap.c - a powercap folder whose counter goes up by so many watts. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* pwrite */
#include "tests/support/fake_powercap.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/stopwatch.h"
#include "tests/support/scratch.h"

#define ZONE "sys/class/powercap/intel-rapl:0/"

struct fake_powercap {
    struct scratch scratch;
    pthread_t thread;
    atomic_int ends;
    int file;
};

static void *count_energy(void *argument)
{
    struct fake_powercap *fake = argument;
    double begin_s = fulcrum_wall_s();
    while (!atomic_load(&fake->ends)) {
        char text[32];
        /* One width: a reader never sees half a number. */
        (void)snprintf(text, sizeof text, "%015.0f\n",
            1e6 * FAKE_POWERCAP_W * (fulcrum_wall_s() - begin_s));
        if (pwrite(fake->file, text, strlen(text), 0) <= 0) {
            abort();
        }
        fulcrum_sleep_s(1e-3);
    }
    return NULL;
}

struct fake_powercap *fake_powercap_new(void)
{
    struct fake_powercap *fake = calloc(1, sizeof *fake);
    if (fake == NULL) {
        abort();
    }
    fake->scratch = scratch_new();
    (void)scratch_put(&fake->scratch, ZONE "name", "package-0\n");
    (void)scratch_put(&fake->scratch, ZONE "max_energy_range_uj", "262143328850\n");
    fake->file = open(
        scratch_put(&fake->scratch, ZONE "energy_uj", "000000000000000\n"), O_WRONLY);
    atomic_init(&fake->ends, 0);
    if (fake->file < 0 ||
        pthread_create(&fake->thread, NULL, count_energy, fake) != 0) {
        abort();
    }
    return fake;
}

const char *fake_powercap_root(const struct fake_powercap *fake)
{
    return fake->scratch.folder;
}

void fake_powercap_free(struct fake_powercap *fake)
{
    atomic_store(&fake->ends, 1);
    (void)pthread_join(fake->thread, NULL);
    (void)close(fake->file);
    scratch_free(&fake->scratch);
    free(fake);
}
