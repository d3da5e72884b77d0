/* fake_nvml.h - a management library whose GPUs do what a test says. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_FAKE_NVML_H
#define FULCRUM_TESTS_FAKE_NVML_H

#include <stdatomic.h>

enum { FAKE_GPU_COUNT = 4 };

/* Results are the library's numbers: 0 success, 3 not supported, 4 no permission, 15
 * GPU is lost. Atomic, since a meter asks from a thread of its own. */
struct fake_gpu {
    atomic_int handle_result;
    atomic_int info_result; /* of name, UUID, compute capability */
    atomic_int compute_major;
    atomic_int compute_minor;
    atomic_int mig_result;
    atomic_uint mig_mode;
    atomic_int energy_result;
    atomic_ullong energy_mj; /* and, with counts_power, power_mw since `start_s` */
    atomic_int counts_power;
    /* Watts: power_mw + ramp_mw_per_s x (seconds since `start_s` of the library). */
    atomic_uint power_mw;
    atomic_uint ramp_mw_per_s;
    atomic_int instant_result; /* of the call */
    atomic_int instant_field_result;
    atomic_int instant_type; /* of the value: 1 unsigned int */
    atomic_int usage_result;
    atomic_uint power_delay_ms; /* how long a question for watts takes */
    atomic_uint power_reads;
    atomic_int limit_result;
    atomic_uint limit_mw;
    atomic_int clock_result;
    atomic_uint clock_mhz;
    atomic_int busy_result;
    atomic_uint busy_percent;
};

struct fake_nvml {
    atomic_int init_result;
    atomic_int count_result;
    atomic_uint gpu_count;
    atomic_int init_count; /* calls of init less calls of shutdown */
    double start_s;        /* on the monotonic clock */
    struct fake_gpu gpu[FAKE_GPU_COUNT];
};

/* Exported as "fake_nvml". All is well at first: two GPUs of compute capability 9.0
 * that answer every question. The environment changes that before the first call, for
 * programs: FAKE_NVML_GPUS, FAKE_NVML_INIT (result), FAKE_NVML_WATTS (the energy
 * counter counts them then), FAKE_NVML_UUID (of the first GPU). */
struct fake_nvml *fake_nvml(void);

/* Back to what it is at first. Exported as "fake_nvml_reset". */
void fake_nvml_reset(void);

#endif
