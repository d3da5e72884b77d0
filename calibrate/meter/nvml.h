/* nvml.h - what NVIDIA's management library tells of the GPUs of this machine. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_METER_NVML_H
#define FULCRUM_CALIBRATE_METER_NVML_H

#include <stdbool.h>

#include "model/status.h"

/* The part of NVIDIA's management library that is called, as its ABI. */

/*
 * Own declarations, so that a build needs no NVIDIA header. Names, numbers and layouts
 * are those of the public nvml.h (held against that of CUDA 12.9).
 */
typedef struct nvmlDevice_st *fulcrum_nvml_device; /* opaque */

enum fulcrum_nvml_result {
    FULCRUM_NVML_SUCCESS = 0,
    FULCRUM_NVML_NOT_SUPPORTED = 3,
    FULCRUM_NVML_NO_PERMISSION = 4,
    FULCRUM_NVML_DRIVER_NOT_LOADED = 9,
    FULCRUM_NVML_FUNCTION_NOT_FOUND = 13,
    FULCRUM_NVML_GPU_IS_LOST = 15
};

enum { FULCRUM_NVML_CLOCK_SM = 1, FULCRUM_NVML_MIG_ENABLED = 1 };

/* Field of nvmlDeviceGetFieldValues: milliwatts as they are now. */
enum { FULCRUM_NVML_FIELD_POWER_INSTANT = 186 };

/* How a field's value is stored. */
enum fulcrum_nvml_value_type {
    FULCRUM_NVML_VALUE_UINT = 1,
    FULCRUM_NVML_VALUE_ULONG = 2,
    FULCRUM_NVML_VALUE_ULONGLONG = 3
};

struct fulcrum_nvml_utilization {
    unsigned gpu; /* percent */
    unsigned memory;
};

union fulcrum_nvml_value {
    double real;
    unsigned uint;
    unsigned long ulong;
    unsigned long long ulonglong;
};

struct fulcrum_nvml_field {
    unsigned field_id;
    unsigned scope_id; /* 0: the GPU, memory included */
    long long timestamp;
    long long latency_us;
    int value_type;
    int result; /* of this field; the value means nothing unless 0 */
    union fulcrum_nvml_value value;
};

/*
 * libnvidia-ml.so.1 comes with the driver and is opened at run time. An installation
 * that keeps it elsewhere names it in the environment variable FULCRUM_NVML_LIBRARY.
 */
struct fulcrum_nvml; /* opaque: the open library */

#define FULCRUM_NVML_TEXT_SIZE 96

struct fulcrum_nvml_info {
    char name[FULCRUM_NVML_TEXT_SIZE]; /* "NVIDIA H200"; "" where it is not told */
    char uuid[FULCRUM_NVML_TEXT_SIZE]; /* "GPU-...", as the driver's programs have it */
    double power_average_s; /* of the past that FULCRUM_NVML_USAGE_W is the mean of */
    bool is_mig; /* cut into instances: readings are of the whole GPU all the same */
};

/*
 *   root     "": this machine; tests give a folder, with the library in lib/
 *   fails    FULCRUM_ERR_UNSUPPORTED: one line says what is missing; no GPU either
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_nvml_open(
    struct fulcrum_nvml **out, const char *root, struct fulcrum_error *err);
void fulcrum_nvml_close(struct fulcrum_nvml *nvml);

/* GPUs of the machine, those that do not answer included; at least one. */
size_t fulcrum_nvml_count(const struct fulcrum_nvml *nvml);

/* NULL where the driver refuses that GPU. */
const struct fulcrum_nvml_info *fulcrum_nvml_info(
    const struct fulcrum_nvml *nvml, size_t index);

enum fulcrum_nvml_figure {
    FULCRUM_NVML_ENERGY_J,  /* since the driver was loaded: a counter, from Volta on */
    FULCRUM_NVML_INSTANT_W, /* the board now, memory included; newer drivers */
    /* Averaged over the last second from Ampere on, but for GA100; before that, as they
     * are now. Any driver. */
    FULCRUM_NVML_USAGE_W,
    FULCRUM_NVML_LIMIT_W,  /* in force: what the board may draw, heat considered */
    FULCRUM_NVML_CLOCK_HZ, /* of the SMs now: it falls when nothing runs */
    /* Of the last 1/6 s to 1 s, in which any kernel ran: not the share of SMs that were
     * active. Not told of a GPU cut into instances. */
    FULCRUM_NVML_BUSY_FRAC,
    FULCRUM_NVML_FIGURE_COUNT
};

/*
 * Any thread may ask. The detail of a failure begins with the GPU's name, "gpu-0".
 *   fails    FULCRUM_ERR_UNSUPPORTED (this GPU, driver or user's rights do not allow
 *            it), FULCRUM_ERR_FILE (the GPU has stopped answering), FULCRUM_ERR_FORMAT
 *            (no reading), FULCRUM_ERR_RANGE (no such GPU); `out` stays as it is
 */
enum fulcrum_status fulcrum_nvml_ask(const struct fulcrum_nvml *nvml, size_t index,
    enum fulcrum_nvml_figure figure, double *out, struct fulcrum_error *err);

#endif
