/* fake_cuda.h - what the stand-ins for NVIDIA's driver and cuBLAS share. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_FAKE_CUDA_H
#define FULCRUM_TESTS_FAKE_CUDA_H

#include <stddef.h>

/*
 * Two libraries for tests, with the names and promises of libcuda and libcublas as far
 * as the program uses them. Memory is that of the host, kernels are the plain C form of
 * network.cl, products are loops. What is queued runs when its stream is waited for and
 * not before, so that a missing wait shows. No speed of theirs means anything.
 *
 * Environment variables, read at each call, say how they behave:
 *   FAKE_CUDA_INIT     result of cuInit, 0 unless set
 *   FAKE_CUDA_DEVICES  number of GPUs, 1 unless set
 *   FAKE_CUDA_SMS      SMs of each, 132 unless set
 *   FAKE_CUDA_FAIL     NAME:N the N-th call of that function from now on fails, with
 *                      700; of "kernel", the N-th launch when it runs
 *   FAKE_CUDA_PTX      what the compiler of kernels says; it then refuses them
 */

/* Live things and calls so far; fake_cuda_counts() of the library tells them. */
struct fake_cuda_counts {
    size_t live;      /* allocations, contexts, streams, events, modules */
    size_t launches;  /* kernels that ran */
    size_t jit_calls; /* how often kernels were compiled */
    size_t greens;    /* green contexts made so far */
    int is_in_green;  /* 1: the current context is a green one */
};

typedef const struct fake_cuda_counts *fake_cuda_counts_function(void);

/* Forgets the calls counted for FAKE_CUDA_FAIL. */
typedef void fake_cuda_forget_function(void);

/* Of the stand-in for cuBLAS; the settings are the last ones. */
struct fake_cublas_counts {
    size_t live; /* handles */
    size_t products;
    int math_mode;
    int sm_count_target;
};

typedef const struct fake_cublas_counts *fake_cublas_counts_function(void);

/* A queue. Its clock is a made-up one, so that tests of what is computed from times
 * have exact ones: each thing queued takes FAKE_CUDA_LAUNCH_S and its work divided by
 * the SMs of the stream. */
#define FAKE_CUDA_LAUNCH_S       2e-6
#define FAKE_CUDA_ITEMS_PER_SM_S 1e9
#define FAKE_CUDA_FLOP_PER_SM_S  1e10
#define FAKE_CUDA_BYTE_PER_S     1e12 /* of copies inside the memory */

struct fake_stream;

/* Runs later: `data` is copied. work_s: how long it takes one SM. */
struct fake_work {
    void (*run)(void *data, struct fake_stream *stream);
    const void *data;
    size_t size;
    double work_s;
};

struct fake_operation;

struct fake_stream {
    void *context;
    double sm_count;
    double clock_s;
    struct fake_operation *first;
    struct fake_operation *last;
    int *failure; /* of the GPU: 0, or what every later call returns */
    /* Here, so that the stand-in for cuBLAS need not be linked with the driver's. */
    int (*queue)(struct fake_stream *stream, const struct fake_work *work);
};

#endif
