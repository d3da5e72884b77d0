/* gemm.c - products of row-major float32 matrices, through the BLAS. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The only file that knows the BLAS. Products are row-major and in float32, as learners
 * use. The library is kept on the calling thread: how work spreads over cores is what
 * fulcrum measures, and a library that takes all of them by itself would measure
 * something else. Which kernels it chose depends on the processor and on environment
 * variables, so both are put on record.
 */
#define _POSIX_C_SOURCE 200809L
#include "calibrate/network/layer.h"

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
 * sgemm first copies all of b into a layout of its own, which costs more than a few
 * rows of a have work for. Within these bounds OpenBLAS multiplies without a copy on
 * cores with AVX-512 (0.3.21, kernel/x86_64/sgemm_small_kernel_permit_skylakex.c), so
 * that products with few rows take half the time in blocks of columns that keep to
 * them. Other cores have no such kernels; there a block costs a copy of the block.
 */
enum { FEW_ROWS = 12, SMALL_TERM_COUNT = 1000000, SMALL_RESULT_COUNT = 1200 };

static size_t small_block(struct fulcrum_gemm shape)
{
    size_t by_terms = SMALL_TERM_COUNT / (shape.row_count * shape.inner_count);
    size_t by_result = SMALL_RESULT_COUNT / shape.row_count;
    size_t block = by_terms < by_result ? by_terms : by_result;
    return block > 0 ? block : 1;
}

static void multiply_in_blocks(
    struct fulcrum_gemm shape, const float *a, const float *b, float beta, float *c)
{
    size_t block = small_block(shape);
    blasint n = blas_int(shape.col_count);
    blasint k = blas_int(shape.inner_count);
    for (size_t first = 0; first < shape.col_count; first += block) {
        size_t left = shape.col_count - first;
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, blas_int(shape.row_count),
            blas_int(left < block ? left : block), k, 1.0F, a, k,
            b + first * shape.inner_count, k, beta, c + first, n);
    }
}

void fulcrum_gemm_right_transposed(
    struct fulcrum_gemm shape, const float *a, const float *b, float beta, float *c)
{
    blasint n = blas_int(shape.col_count);
    blasint k = blas_int(shape.inner_count);
    if (shape.row_count == 1) {
        cblas_sgemv(CblasRowMajor, CblasNoTrans, n, k, 1.0F, b, k, a, 1, beta, c, 1);
    } else if (shape.row_count <= FEW_ROWS) {
        multiply_in_blocks(shape, a, b, beta, c);
    } else {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, blas_int(shape.row_count),
            n, k, 1.0F, a, k, b, k, beta, c, n);
    }
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
