/* cuda_kernels.c - the kernels of the networks, compiled by the CUDA driver. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernels/network.ptx is text of a version and for a processor that every driver since
 * CUDA 9 and every GPU since Pascal accepts; kernels/make_ptx.sh makes it from
 * network.cl. The driver compiles it for the GPU at hand and keeps the result in its
 * cache on disk. No compiler of NVIDIA's is needed, here or where the program is built.
 */
#include "calibrate/cuda_kernels.h"

#include <stdlib.h>
#include <string.h>

#include "calibrate/fulcrum_network_ptx.h"

static const char *const names[FULCRUM_KERNEL_COUNT] = {
#define ENTRY_POINT(constant, name) [constant] = "fulcrum_" #name,
    FULCRUM_KERNEL_LIST(ENTRY_POINT)
#undef ENTRY_POINT
};

/* The embedded text ends without the zero that the driver looks for. */
static char *terminated_text(void)
{
    char *text = calloc(sizeof fulcrum_network_ptx + 1, 1);
    if (text != NULL) {
        memcpy(text, fulcrum_network_ptx, sizeof fulcrum_network_ptx);
    }
    return text;
}

static int load(struct fulcrum_cuda_kernels *kernels,
    const struct fulcrum_cuda_driver *driver, const char *text)
{
    int options[] = {FULCRUM_CU_JIT_ERROR_LOG, FULCRUM_CU_JIT_ERROR_LOG_BYTE};
    /* The driver takes a size in the place of a pointer. */
    /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
    void *values[] = {kernels->log, (void *)(uintptr_t)(sizeof kernels->log - 1)};
    return driver->library_load != NULL
               ? driver->library_load(
                     &kernels->library, text, options, values, 2, NULL, NULL, 0)
               : driver->module_load(&kernels->module, text, 2, options, values);
}

static int find(struct fulcrum_cuda_kernels *kernels,
    const struct fulcrum_cuda_driver *driver, size_t i)
{
    return kernels->library != NULL ? driver->library_get_kernel(&kernels->function[i],
                                          kernels->library, names[i])
                                    : driver->module_get_function(&kernels->function[i],
                                          kernels->module, names[i]);
}

/* The first line of the log, if there is one, says more than the result. */
static enum fulcrum_status refuse(const struct fulcrum_cuda_kernels *kernels,
    const struct fulcrum_cuda_driver *driver, int result, struct fulcrum_error *err)
{
    int length = (int)strcspn(kernels->log, "\n");
    return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
        "cuda: the driver does not compile the kernels: %s (%d)%s%.*s",
        fulcrum_cuda_error_name(driver, result), result, length > 0 ? ": " : "", length,
        kernels->log);
}

static enum fulcrum_status find_all(struct fulcrum_cuda_kernels *kernels,
    const struct fulcrum_cuda_driver *driver, struct fulcrum_error *err)
{
    for (size_t i = 0; i < FULCRUM_KERNEL_COUNT; i++) {
        int result = find(kernels, driver, i);
        if (result != FULCRUM_CU_SUCCESS) {
            return refuse(kernels, driver, result, err);
        }
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_cuda_kernels_open(struct fulcrum_cuda_kernels *out,
    const struct fulcrum_cuda_driver *driver, struct fulcrum_error *err)
{
    char *text = terminated_text();
    if (text == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "the text of the kernels");
    }
    int result = load(out, driver, text);
    /* The driver has its own copy. */
    free(text);
    return result == FULCRUM_CU_SUCCESS ? find_all(out, driver, err)
                                        : refuse(out, driver, result, err);
}

void fulcrum_cuda_kernels_close(
    struct fulcrum_cuda_kernels *kernels, const struct fulcrum_cuda_driver *driver)
{
    if (kernels->library != NULL) {
        (void)driver->library_unload(kernels->library);
    }
    if (kernels->module != NULL) {
        (void)driver->module_unload(kernels->module);
    }
    *kernels = (struct fulcrum_cuda_kernels){0};
}
