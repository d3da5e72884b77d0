/* fake_cublas.c - a stand-in for cuBLAS: column-major products by loops. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "tests/fake_cuda/fake_cuda.h"

/* Names, parameters and their kinds are those of cuBLAS. */
/* NOLINTBEGIN(readability-identifier-naming,readability-function-size,
 * readability-non-const-parameter) */

enum { SUCCESS = 0, NOT_INITIALIZED = 1, ALLOC_FAILED = 3, INVALID_VALUE = 7 };

struct handle {
    struct fake_stream *stream;
};

struct product {
    const float *left;
    const float *right;
    float *out;
    float alpha;
    float beta;
    int left_op;
    int right_op;
    int row_count;
    int col_count;
    int inner_count;
    int left_stride;
    int right_stride;
    int out_stride;
};

/* A library's state, as the real one has it. */
static struct fake_cublas_counts *counts(void)
{
    static struct fake_cublas_counts shared;
    return &shared;
}

const struct fake_cublas_counts *fake_cublas_counts(void)
{
    return counts();
}

const char *cublasGetStatusName(int status)
{
    return status == INVALID_VALUE ? "CUBLAS_STATUS_INVALID_VALUE" : NULL;
}

int cublasCreate_v2(struct handle **handle)
{
    if (getenv("FAKE_CUBLAS_FAIL") != NULL) {
        return INVALID_VALUE;
    }
    *handle = calloc(1, sizeof **handle);
    counts()->live += *handle != NULL;
    return *handle != NULL ? SUCCESS : ALLOC_FAILED;
}

int cublasDestroy_v2(struct handle *handle)
{
    free(handle);
    counts()->live--;
    return SUCCESS;
}

int cublasGetVersion_v2(const struct handle *handle, int *version)
{
    *version = 130102;
    return handle != NULL ? SUCCESS : NOT_INITIALIZED;
}

int cublasSetStream_v2(struct handle *handle, void *stream)
{
    handle->stream = stream;
    return SUCCESS;
}

int cublasSetMathMode(const struct handle *handle, int mode)
{
    counts()->math_mode = mode;
    return handle != NULL ? SUCCESS : NOT_INITIALIZED;
}

int cublasSetSmCountTarget(const struct handle *handle, int sm_count)
{
    counts()->sm_count_target = sm_count;
    return handle != NULL && sm_count >= 0 ? SUCCESS : INVALID_VALUE;
}

/* Element (i, j) of the product; all matrices are column-major. */
static float sum_of(const struct product *p, size_t i, size_t j)
{
    size_t left_stride = (size_t)p->left_stride;
    size_t right_stride = (size_t)p->right_stride;
    const float *left = p->left + (p->left_op == 0 ? i : i * left_stride);
    const float *right = p->right + (p->right_op == 0 ? j * right_stride : j);
    size_t left_step = p->left_op == 0 ? left_stride : 1;
    size_t right_step = p->right_op == 0 ? 1 : right_stride;
    float sum = 0.0F;
    for (size_t k = 0; k < (size_t)p->inner_count; k++) {
        sum += left[k * left_step] * right[k * right_step];
    }
    return sum;
}

static void multiply(void *data, struct fake_stream *stream)
{
    const struct product *p = data;
    (void)stream;
    for (size_t j = 0; j < (size_t)p->col_count; j++) {
        for (size_t i = 0; i < (size_t)p->row_count; i++) {
            float *out = &p->out[j * (size_t)p->out_stride + i];
            float sum = p->alpha * sum_of(p, i, j);
            /* As cuBLAS: what C holds is not read where beta is 0. */
            *out = p->beta != 0.0F ? sum + p->beta * *out : sum;
        }
    }
}

/* The rules of BLAS for the distance between columns. */
static int has_strides(const struct product *p)
{
    int left_rows = p->left_op == 0 ? p->row_count : p->inner_count;
    int right_rows = p->right_op == 0 ? p->inner_count : p->col_count;
    return p->left_stride >= left_rows && p->right_stride >= right_rows &&
           p->out_stride >= p->row_count && p->row_count >= 0 && p->col_count >= 0 &&
           p->inner_count >= 0;
}

int cublasSgemm_v2(struct handle *handle, int left_op, int right_op, int row_count,
    int col_count, int inner_count, const float *alpha, const float *left,
    int left_stride, const float *right, int right_stride, const float *beta,
    float *out, int out_stride)
{
    struct product product = {left, right, out, *alpha, *beta, left_op, right_op,
        row_count, col_count, inner_count, left_stride, right_stride, out_stride};
    if (!has_strides(&product) || handle->stream == NULL) {
        return INVALID_VALUE;
    }
    counts()->products++;
    double flop = 2.0 * row_count * col_count * inner_count;
    struct fake_work work = {
        multiply, &product, sizeof product, flop / FAKE_CUDA_FLOP_PER_SM_S};
    return handle->stream->queue(handle->stream, &work);
}
/* NOLINTEND(readability-identifier-naming,readability-function-size,
 * readability-non-const-parameter) */
