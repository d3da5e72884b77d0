/* fake_use.c - puts the stand-ins in the place of NVIDIA's libraries for a test. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "tests/fake_cuda/fake_use.h"

#include <CUnit/CUnit.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/device/cuda_api.h"

void fake_set(const char *variable, const char *value)
{
    int result = value != NULL ? setenv(variable, value, 1) : unsetenv(variable);
    CU_ASSERT_EQUAL_FATAL(result, 0);
}

/* A function of a library that the loader has, or has from now on and keeps. */
static void find(const char *path, const char *name, void *function, size_t size)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(library);
    if (library == NULL) {
        return;
    }
    void *address = dlsym(library, name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(address);
    memcpy(function, &address, size);
    CU_ASSERT_EQUAL(dlclose(library), 0);
}

const struct fake_cuda_counts *fake_counts(const char *cuda)
{
    fake_cuda_counts_function *counts = NULL;
    find(cuda, "fake_cuda_counts", &counts, sizeof(fake_cuda_counts_function *));
    return counts != NULL ? counts() : NULL;
}

const struct fake_cublas_counts *fake_blas_counts(const char *cublas)
{
    fake_cublas_counts_function *counts = NULL;
    find(cublas, "fake_cublas_counts", &counts, sizeof(fake_cublas_counts_function *));
    return counts != NULL ? counts() : NULL;
}

void fake_use(const char *cuda, const char *cublas)
{
    static const char *const variables[] = {"FAKE_CUDA_INIT", "FAKE_CUDA_DEVICES",
        "FAKE_CUDA_SMS", "FAKE_CUDA_FAIL", "FAKE_CUDA_PTX", "FAKE_CUBLAS_FAIL"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        fake_set(variables[i], NULL);
    }
    fake_set(FULCRUM_CUDA_LIBRARY_VARIABLE, cuda);
    fake_set(
        FULCRUM_CUBLAS_LIBRARY_VARIABLE, cublas != NULL ? cublas : "/no/cublas.so");
    fake_cuda_forget_function *forget = NULL;
    find(cuda, "fake_cuda_forget", &forget, sizeof(fake_cuda_forget_function *));
    forget();
}
