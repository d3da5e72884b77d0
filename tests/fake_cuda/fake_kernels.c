/* fake_kernels.c - the kernels of network.cl as functions of plain C, by name. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fake_cuda/fake_kernels.h"

#include <stddef.h>
#include <string.h>

#define FULCRUM_PLAIN_C
#include "plain/network.inc"

struct row {
    const char *name;
    fake_kernel *kernel;
};

static const struct row rows[] = {
#define KERNEL_ROW(constant, name) {"fulcrum_" #name, kernel_##name},
    FULCRUM_KERNEL_LIST(KERNEL_ROW)
#undef KERNEL_ROW
};

fake_kernel *fake_kernel_find(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return rows[i].kernel;
        }
    }
    return NULL;
}

int fake_kernel_run(const char *name, float *arena,
    const struct fulcrum_kernel_arguments *arguments, unsigned item_count)
{
    fake_kernel *kernel = fake_kernel_find(name);
    for (unsigned i = 0; kernel != NULL && i < item_count; i++) {
        kernel(arena, *arguments, i);
    }
    return kernel != NULL;
}
