/* device_plain_narrow.c - the kernels' text compiled as C, as CPUs run it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/device_plain.h"

#define FULCRUM_PLAIN_C
#define FULCRUM_ONE_LANE
#include "calibrate/network_kernels.inc" /* network.cl */

typedef void kernel_call(float *, struct fulcrum_kernel_arguments, uint);

void device_plain_run_narrow(float *arena, const struct fulcrum_device_launch *launch)
{
#define KERNEL_ROW(constant, name) [constant] = kernel_##name,
    static kernel_call *const kernels[] = {FULCRUM_KERNEL_LIST(KERNEL_ROW)};
#undef KERNEL_ROW
    for (uint i = 0; i < launch->arguments.item_count; i++) {
        kernels[launch->kernel](arena, launch->arguments, i);
    }
}
