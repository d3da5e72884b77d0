/* gemm.c - products of row-major float32 matrices, through the BLAS. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "calibrate/gemm.h"

#include <assert.h>
#include <cblas.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sizes are bounded where the networks are made; a BLAS counts in int. */
static blasint blas_int(size_t count)
{
    assert(count <= INT_MAX);
    return (blasint)count;
}

void fulcrum_gemm(
    struct fulcrum_gemm shape, const float *a, const float *b, float beta, float *c)
{
    blasint n = blas_int(shape.col_count);
    blasint k = blas_int(shape.inner_count);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, blas_int(shape.row_count), n,
        k, 1.0F, a, k, b, n, beta, c, n);
}

void fulcrum_gemm_left_transposed(
    struct fulcrum_gemm shape, const float *a, const float *b, float beta, float *c)
{
    blasint m = blas_int(shape.row_count);
    blasint n = blas_int(shape.col_count);
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, n,
        blas_int(shape.inner_count), 1.0F, a, m, b, n, beta, c, n);
}

/*
 * sgemm copies all of b into a layout of its own, which costs more than a few rows of a
 * have work for: measured up to 6 rows. Products below a million terms are not copied
 * (SMALL_MATRIX_OPT of OpenBLAS) and stay with sgemm, but for a single row.
 */
static int is_cheaper_by_rows(struct fulcrum_gemm shape)
{
    const size_t few_rows = 6;
    const size_t copied_above = 1000000;
    size_t terms = shape.row_count * shape.col_count * shape.inner_count;
    return shape.row_count == 1 ||
           (shape.row_count <= few_rows && terms > copied_above);
}

/* A block of b goes through the cache once, and all rows of a use it there. */
static void multiply_by_rows(
    struct fulcrum_gemm shape, const float *a, const float *b, float beta, float *c)
{
    const size_t block_float_count = 65536;
    size_t block = block_float_count / shape.inner_count + 1;
    blasint k = blas_int(shape.inner_count);
    for (size_t first = 0; first < shape.col_count; first += block) {
        size_t left = shape.col_count - first;
        blasint count = blas_int(left < block ? left : block);
        const float *part = b + first * shape.inner_count;
        for (size_t i = 0; i < shape.row_count; i++) {
            cblas_sgemv(CblasRowMajor, CblasNoTrans, count, k, 1.0F, part, k,
                a + i * shape.inner_count, 1, beta, c + i * shape.col_count + first, 1);
        }
    }
}

void fulcrum_gemm_right_transposed(
    struct fulcrum_gemm shape, const float *a, const float *b, float beta, float *c)
{
    if (is_cheaper_by_rows(shape)) {
        multiply_by_rows(shape, a, b, beta, c);
        return;
    }
    blasint n = blas_int(shape.col_count);
    blasint k = blas_int(shape.inner_count);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, blas_int(shape.row_count), n,
        k, 1.0F, a, k, b, k, beta, c, n);
}

void fulcrum_gemm_use_one_thread(void)
{
    openblas_set_num_threads(1);
}

/* openblas_get_config: "OpenBLAS 0.3.21 DYNAMIC_ARCH ... MAX_THREADS=64". */
static void describe_version(char *text, size_t size)
{
    const char *config = openblas_get_config();
    const char *name_end = strchr(config, ' ');
    const char *end = name_end != NULL ? strchr(name_end + 1, ' ') : NULL;
    size_t length = end != NULL ? (size_t)(end - config) : strlen(config);
    (void)snprintf(text, size, "%.*s", (int)length, config);
}

void fulcrum_gemm_describe(char *text, size_t size)
{
    /* The ones that choose kernels or threads, in the library's documentation. */
    static const char *const names[] = {"OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS",
        "OPENBLAS_DEFAULT_NUM_THREADS", "OPENBLAS_MAIN_FREE", "OMP_NUM_THREADS"};
    char version[64];
    describe_version(version, sizeof version);
    int threads = openblas_get_num_threads();
    (void)snprintf(text, size, "%s, kernels %s, %d thread%s", version,
        openblas_get_corename(), threads, threads == 1 ? "" : "s");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        size_t used = strlen(text);
        if (value != NULL) {
            (void)snprintf(text + used, size - used, ", %s=%.40s", names[i], value);
        }
    }
}
