/* fake_use.h - puts the stand-ins in the place of NVIDIA's libraries for a test. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_FAKE_USE_H
#define FULCRUM_TESTS_FAKE_USE_H

#include "tests/fake_cuda/fake_cuda.h"

/*
 * The libraries that the program is to find from now on, which then behave as usual.
 *   cublas   NULL: one that cannot be found
 */
void fake_use(const char *cuda, const char *cublas);

/* Sets an environment variable; NULL takes it away. */
void fake_set(const char *variable, const char *value);

/* What the stand-in of that path counted so far. Borrowed, changes with its use. */
const struct fake_cuda_counts *fake_counts(const char *cuda);
const struct fake_cublas_counts *fake_blas_counts(const char *cublas);

#endif
