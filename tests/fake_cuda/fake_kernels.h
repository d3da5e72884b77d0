/* fake_kernels.h - the kernels of network.cl as functions of plain C, by name. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_FAKE_KERNELS_H
#define FULCRUM_TESTS_FAKE_KERNELS_H

#include <stddef.h>

#include "calibrate/kernels/device_kernels.h"

typedef void fake_kernel(
    float *arena, struct fulcrum_kernel_arguments arguments, size_t item);

/* Runs `item_count` items of a kernel, one after the other; 0 where there is none. */
int fake_kernel_run(const char *name, float *arena,
    const struct fulcrum_kernel_arguments *arguments, unsigned item_count);

/* NULL where there is none of that name ("fulcrum_fill"). */
fake_kernel *fake_kernel_find(const char *name);

#endif
