/* nvml_abi.h - the part of NVIDIA's management library that is called, as its ABI. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_NVML_ABI_H
#define FULCRUM_CALIBRATE_NVML_ABI_H

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

/* Calls by the name that the library exports; results are enum fulcrum_nvml_result. */
struct fulcrum_nvml_calls {
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error_string)(int result);
    int (*count)(unsigned *count);
    int (*handle)(unsigned index, fulcrum_nvml_device *device);
    /* NULL where the library is too old for it. */
    int (*name)(fulcrum_nvml_device device, char *name, unsigned length);
    int (*uuid)(fulcrum_nvml_device device, char *uuid, unsigned length);
    int (*compute)(fulcrum_nvml_device device, int *major, int *minor);
    int (*mig_mode)(fulcrum_nvml_device device, unsigned *mode, unsigned *pending);
    int (*energy)(fulcrum_nvml_device device, unsigned long long *energy_mj);
    int (*power_usage)(fulcrum_nvml_device device, unsigned *power_mw);
    int (*field_values)(
        fulcrum_nvml_device device, int count, struct fulcrum_nvml_field *fields);
    int (*power_limit)(fulcrum_nvml_device device, unsigned *limit_mw);
    int (*clock_info)(fulcrum_nvml_device device, int kind, unsigned *clock_mhz);
    int (*utilization)(
        fulcrum_nvml_device device, struct fulcrum_nvml_utilization *utilization);
};

#endif
