/* gemm.h - products of row-major float32 matrices, through the BLAS. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_NETWORK_GEMM_H
#define FULCRUM_CALIBRATE_NETWORK_GEMM_H

#include <stddef.h>

/* The product is row_count x col_count; each element sums inner_count terms. */
struct fulcrum_gemm {
    size_t row_count;
    size_t col_count;
    size_t inner_count;
};

/* c = a b + beta c, with a stored row x inner and b stored inner x col. */
void fulcrum_gemm(
    struct fulcrum_gemm shape, const float *a, const float *b, float beta, float *c);

/* c = a' b + beta c, with a stored inner x row and b stored inner x col. */
void fulcrum_gemm_left_transposed(
    struct fulcrum_gemm shape, const float *a, const float *b, float beta, float *c);

/* c = a b' + beta c, with a stored row x inner and b stored col x inner. */
void fulcrum_gemm_right_transposed(
    struct fulcrum_gemm shape, const float *a, const float *b, float beta, float *c);

/*
 * Puts all products of the process on the calling thread alone, GSL's too: with more,
 * sums are rounded otherwise. Nothing to do in a build without OpenBLAS.
 */
void fulcrum_gemm_use_one_thread(void);

/*
 * Writes the library's version, the kernels it chose for this core, its threads, and
 * the environment variables in force that may have changed that choice.
 */
void fulcrum_gemm_describe(char *text, size_t size);

#endif
