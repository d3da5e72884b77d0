/* fake_gpus.c - makes the meter find GPUs of the test's own. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/fake_gpus.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_nvml *fake_gpus(const char *library)
{
    struct fake_nvml *(*get)(void) = NULL;
    void (*reset)(void) = NULL;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        (void)fprintf(stderr, "%s\n", dlerror());
        exit(EXIT_FAILURE);
    }
    void *symbol = dlsym(handle, "fake_nvml");
    memcpy(&get, &symbol, sizeof symbol);
    symbol = dlsym(handle, "fake_nvml_reset");
    memcpy(&reset, &symbol, sizeof symbol);
    if (get == NULL || reset == NULL ||
        setenv("FULCRUM_NVML_LIBRARY", library, 1) != 0) {
        exit(EXIT_FAILURE);
    }
    reset();
    return get();
}
