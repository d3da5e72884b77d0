/* fake_kernels.h - the kernels of network.cl as functions of plain C, by name. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_FAKE_KERNELS_H
#define FULCRUM_TESTS_FAKE_KERNELS_H

#include "calibrate/device_kernels.h"

typedef void fake_kernel(
    float *arena, struct fulcrum_kernel_arguments arguments, unsigned item);

/* NULL where there is none of that name ("fulcrum_fill"). */
fake_kernel *fake_kernel_find(const char *name);

#endif
