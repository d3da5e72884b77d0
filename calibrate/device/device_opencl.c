/* device_opencl.c - devices of OpenCL 1.2: GPUs of any vendor, CPUs through PoCL. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The only file that knows OpenCL. One context, one in-order queue and one buffer, the
 * arena; kernels are compiled by the driver when the device is opened (PoCL keeps them
 * on disk). A share of the device is a sub-device with a context of its own, to which
 * the arena is copied: buffers do not move between contexts.
 *
 * A launch costs microseconds of the host, on PoCL some ten of them: small batches are
 * bound by launches, not by arithmetic, as on every device.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/device/compute.h"
#include "calibrate/fulcrum_kernels_text.h"
#include "calibrate/fulcrum_network_text.h"
#include "calibrate/stopwatch.h"
#include "model/try.h"

/* More devices than this are not listed. */
enum { MOST_DEVICES = 32, MOST_PLATFORMS = 16 };

/* Naps while a queue that is empty has other owners still: a tenth of a second. */
#define PATIENCE   1000
#define PATIENCE_S 1e-4

/* Everything that belongs to one context. */
struct engine {
    cl_device_id part; /* the device, or the share of it that is in use */
    bool is_share;     /* 1: `part` is a sub-device, given back with the engine */
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernels[FULCRUM_KERNEL_COUNT];
    cl_mem arena;
    cl_event marks[2];
};

struct fulcrum_device_state {
    cl_device_id device;
    bool is_wide;
    size_t group; /* items of a group */
    double sm_count;
    double granted_sm_count;
    size_t float_count; /* of the arena; 0: not yet reserved */
    struct engine engine;
    struct fulcrum_error first; /* failure since the last finish */
};

/* The codes that users meet; others are told by number. */
static const char *code_name(cl_int code)
{
    static const struct {
        cl_int code;
        const char *name;
    } names[] = {
        {CL_DEVICE_NOT_AVAILABLE, "device not available"},
        {CL_COMPILER_NOT_AVAILABLE, "compiler not available"},
        {CL_MEM_OBJECT_ALLOCATION_FAILURE, "no device memory"},
        {CL_OUT_OF_RESOURCES, "out of resources"},
        {CL_OUT_OF_HOST_MEMORY, "out of host memory"},
        {CL_BUILD_PROGRAM_FAILURE, "program does not build"},
        {CL_DEVICE_PARTITION_FAILED, "device cannot be divided so"},
        {CL_INVALID_DEVICE_PARTITION_COUNT, "no such share"},
        {CL_INVALID_BUFFER_SIZE, "buffer too large"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].code == code) {
            return names[i].name;
        }
    }
    return "see CL/cl.h";
}

/* FULCRUM_OK, or the failure of a call that returned `code`. */
static enum fulcrum_status check(
    cl_int code, const char *what, struct fulcrum_error *err)
{
    bool is_memory = code == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
                     code == CL_OUT_OF_HOST_MEMORY || code == CL_INVALID_BUFFER_SIZE;
    FAIL_IF(code != CL_SUCCESS, err,
        is_memory ? FULCRUM_ERR_NO_MEMORY : FULCRUM_ERR_UNSUPPORTED,
        "OpenCL: %s: error %d (%s)", what, (int)code, code_name(code));
    return FULCRUM_OK;
}

/* Keeps the first failure for `finish`. */
static void keep(struct fulcrum_device_state *state, const char *what, cl_int code)
{
    if (code != CL_SUCCESS && state->first.status == FULCRUM_OK) {
        (void)check(code, what, &state->first);
    }
}

static bool has_failed(const struct fulcrum_device_state *state)
{
    return state->first.status != FULCRUM_OK;
}

static void device_text(
    cl_device_id device, cl_device_info what, char *text, size_t size)
{
    char buffer[256] = "";
    if (clGetDeviceInfo(device, what, sizeof buffer - 1, buffer, NULL) != CL_SUCCESS) {
        buffer[0] = '\0';
    }
    (void)snprintf(text, size, "%s", buffer);
}

/* 0 where the driver does not tell. */
static cl_ulong device_number(cl_device_id device, cl_device_info what, size_t byte)
{
    union {
        cl_uint narrow;
        cl_ulong wide;
    } number = {0};
    if (clGetDeviceInfo(device, what, byte, &number, NULL) != CL_SUCCESS) {
        return 0;
    }
    return byte == sizeof number.narrow ? number.narrow : number.wide;
}

static bool is_cpu(cl_device_id device)
{
    return (device_number(device, CL_DEVICE_TYPE, sizeof(cl_device_type)) &
               CL_DEVICE_TYPE_CPU) != 0;
}

/* Devices of all platforms, CPUs last: the first is a GPU where there is one. */
struct list {
    cl_device_id devices[MOST_DEVICES];
    size_t count;
};

static enum fulcrum_status list_devices(struct list *list, struct fulcrum_error *err)
{
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint platform_count = 0;
    list->count = 0;
    /* A loader that finds no driver has an error code of its own. */
    FAIL_IF(
        clGetPlatformIDs(MOST_PLATFORMS, platforms, &platform_count) != CL_SUCCESS ||
            platform_count == 0,
        err, FULCRUM_ERR_UNSUPPORTED,
        "OpenCL: no driver (ICD) is installed: the GPU's own, or "
        "pocl-opencl-icd for this CPU");
    size_t most = platform_count < MOST_PLATFORMS ? platform_count : MOST_PLATFORMS;
    for (size_t i = 0; i < 2 * most; i++) {
        cl_device_id found[MOST_DEVICES];
        cl_uint count = 0;
        if (clGetDeviceIDs(platforms[i % most], CL_DEVICE_TYPE_ALL, MOST_DEVICES, found,
                &count) != CL_SUCCESS) {
            continue;
        }
        for (size_t k = 0; k < count && k < MOST_DEVICES; k++) {
            if (is_cpu(found[k]) == (i >= most) && list->count < MOST_DEVICES) {
                list->devices[list->count++] = found[k];
            }
        }
    }
    FAIL_IF(list->count == 0, err, FULCRUM_ERR_UNSUPPORTED,
        "OpenCL: drivers are installed, but they find no device");
    return FULCRUM_OK;
}

static bool can_divide(cl_device_id device, cl_device_partition_property how)
{
    cl_device_partition_property known[8] = {0};
    size_t byte = 0;
    if (clGetDeviceInfo(device, CL_DEVICE_PARTITION_PROPERTIES, sizeof known, known,
            &byte) != CL_SUCCESS) {
        return 0;
    }
    for (size_t i = 0; i < byte / sizeof known[0]; i++) {
        if (known[i] == how) {
            return 1;
        }
    }
    return 0;
}

static bool is_divisible(cl_device_id device)
{
    return can_divide(device, CL_DEVICE_PARTITION_BY_COUNTS) ||
           can_divide(device, CL_DEVICE_PARTITION_EQUALLY);
}

/* A sub-device of `share` compute units. */
static cl_int divide(cl_device_id device, cl_uint share, cl_device_id *out)
{
    const cl_device_partition_property by_counts[] = {CL_DEVICE_PARTITION_BY_COUNTS,
        (cl_device_partition_property)share, CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
    const cl_device_partition_property equally[] = {
        CL_DEVICE_PARTITION_EQUALLY, (cl_device_partition_property)share, 0};
    cl_device_id parts[MOST_DEVICES * MOST_DEVICES];
    cl_uint count = 0;
    bool is_counted = can_divide(device, CL_DEVICE_PARTITION_BY_COUNTS);
    cl_int code = clCreateSubDevices(device, is_counted ? by_counts : equally,
        sizeof parts / sizeof parts[0], parts, &count);
    if (code != CL_SUCCESS || count == 0) {
        return code != CL_SUCCESS ? code : CL_DEVICE_PARTITION_FAILED;
    }
    for (cl_uint i = 1; i < count; i++) {
        (void)clReleaseDevice(parts[i]);
    }
    *out = parts[0];
    return CL_SUCCESS;
}

/*
 * PoCL 3.1 ends a command before it lets go of its event, which holds the queue, but
 * not the sub-device below it: released too early, that is read after it was freed.
 */
static void wait_for_events(cl_command_queue queue)
{
    cl_uint holders = 2;
    for (int i = 0; i < PATIENCE && holders > 1; i++) {
        if (clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof holders,
                &holders, NULL) != CL_SUCCESS) {
            return;
        }
        if (holders > 1) {
            fulcrum_sleep_s(PATIENCE_S);
        }
    }
}

#define RELEASE(kind, object)                                                          \
    ((object) != NULL ? (void)clRelease##kind(object) : (void)0)

static void engine_close(struct engine *engine)
{
    if (engine->queue != NULL) {
        (void)clFinish(engine->queue);
    }
    for (size_t i = 0; i < 2; i++) {
        RELEASE(Event, engine->marks[i]);
    }
    RELEASE(MemObject, engine->arena);
    for (size_t i = 0; i < FULCRUM_KERNEL_COUNT; i++) {
        RELEASE(Kernel, engine->kernels[i]);
    }
    RELEASE(Program, engine->program);
    if (engine->queue != NULL) {
        wait_for_events(engine->queue);
        (void)clReleaseCommandQueue(engine->queue);
    }
    RELEASE(Context, engine->context);
    if (engine->is_share) {
        (void)clReleaseDevice(engine->part);
    }
    *engine = (struct engine){.part = NULL};
}

static enum fulcrum_status build(
    struct engine *engine, bool is_wide, struct fulcrum_error *err)
{
    const char *texts[] = {
        (const char *)fulcrum_kernels_text, (const char *)fulcrum_network_text};
    const size_t lengths[] = {sizeof fulcrum_kernels_text, sizeof fulcrum_network_text};
    cl_int code = CL_SUCCESS;
    engine->program =
        clCreateProgramWithSource(engine->context, 2, texts, lengths, &code);
    TRY(check(code, "clCreateProgramWithSource", err));
    code = clBuildProgram(engine->program, 1, &engine->part,
        is_wide ? "-cl-std=CL1.2" : "-cl-std=CL1.2 -DFULCRUM_ONE_LANE", NULL, NULL);
    if (code == CL_SUCCESS) {
        return FULCRUM_OK;
    }
    /* The first line of the compiler's log that says something. */
    char log[4096] = "";
    size_t length = 0;
    if (clGetProgramBuildInfo(engine->program, engine->part, CL_PROGRAM_BUILD_LOG,
            sizeof log - 1, log, &length) != CL_SUCCESS) {
        log[0] = '\0';
    }
    const char *line = log + strspn(log, " \t\r\n");
    return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
        "OpenCL: the kernels do not compile: error %d: %.*s", (int)code,
        (int)(strcspn(line, "\r\n") < 120 ? strcspn(line, "\r\n") : 120), line);
}

/* On `share` compute units of the device; on all of it where that is as many. */
static enum fulcrum_status engine_open(struct engine *engine,
    const struct fulcrum_device_state *state, cl_uint share, struct fulcrum_error *err)
{
    cl_int code = CL_SUCCESS;
    engine->part = state->device;
    if ((double)share < state->sm_count) {
        code = divide(state->device, share, &engine->part);
        engine->is_share = code == CL_SUCCESS;
    }
    TRY(check(code, "clCreateSubDevices", err));
    engine->context = clCreateContext(NULL, 1, &engine->part, NULL, NULL, &code);
    TRY(check(code, "clCreateContext", err));
    engine->queue = clCreateCommandQueue(
        engine->context, engine->part, CL_QUEUE_PROFILING_ENABLE, &code);
    TRY(check(code, "clCreateCommandQueue", err));
    TRY(build(engine, state->is_wide, err));
    for (size_t i = 0; i < FULCRUM_KERNEL_COUNT; i++) {
        const char *name = fulcrum_kernel_name((enum fulcrum_kernel)i);
        engine->kernels[i] = clCreateKernel(engine->program, name, &code);
        TRY(check(code, name, err));
    }
    return FULCRUM_OK;
}

/* Compute units for a wish; 0 is all. */
static enum fulcrum_status share_for(const struct fulcrum_device_state *state,
    double sm_count, cl_uint *out, struct fulcrum_error *err)
{
    FAIL_IF(!(sm_count >= 0.0 && sm_count <= state->sm_count), err, FULCRUM_ERR_RANGE,
        "sm_count = %g is outside [0, %g], the device's compute units", sm_count,
        state->sm_count);
    double share = sm_count > 0.0 ? fmax(round(sm_count), 1.0) : state->sm_count;
    FAIL_IF(share < state->sm_count && !is_divisible(state->device), err,
        FULCRUM_ERR_UNSUPPORTED,
        "sm_count = %g: OpenCL cannot divide this device; 0 takes all of it", sm_count);
    *out = (cl_uint)share;
    return FULCRUM_OK;
}

static struct fulcrum_device_info info_of(const struct fulcrum_device_state *state)
{
    cl_device_id device = state->device;
    double mhz =
        (double)device_number(device, CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof(cl_uint));
    int divides = is_divisible(device);
    struct fulcrum_device_info info = {.is_gpu = !is_cpu(device),
        .is_wide = state->is_wide,
        .sm_count = state->sm_count,
        .granted_sm_count = state->granted_sm_count,
        .least_sm_count = divides ? 1.0 : state->sm_count,
        .sm_step = divides ? 1.0 : state->sm_count,
        .clock_hz = mhz > 0.0 ? 1e6 * mhz : (double)NAN,
        .memory_byte =
            (double)device_number(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong))};
    char version[96];
    char driver[64];
    device_text(device, CL_DEVICE_NAME, info.name, sizeof info.name);
    device_text(device, CL_DEVICE_VERSION, version, sizeof version);
    device_text(device, CL_DRIVER_VERSION, driver, sizeof driver);
    (void)snprintf(
        info.detail, sizeof info.detail, "%.90s, driver %.60s", version, driver);
    return info;
}

static void opencl_close(struct fulcrum_device_state *state)
{
    if (state == NULL) {
        return;
    }
    engine_close(&state->engine);
    free(state);
}

static enum fulcrum_status opencl_open(const struct fulcrum_device_options *options,
    struct fulcrum_device_state **out, struct fulcrum_device_info *info,
    struct fulcrum_error *err)
{
    struct list list;
    cl_uint share = 0;
    TRY(list_devices(&list, err));
    if (options->index >= list.count) {
        /* "device_index = 7: expected 0 (name), 1 (name)" */
        size_t index = options->index;
        char names[160] = "";
        for (size_t i = 0; i < list.count; i++) {
            char name[48];
            size_t used = strlen(names);
            device_text(list.devices[i], CL_DEVICE_NAME, name, sizeof name);
            (void)snprintf(names + used, sizeof names - used, "%s%zu (%s)",
                i > 0 ? ", " : "", i, name);
        }
        return fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "device_index = %zu: expected %.150s", index, names);
    }
    struct fulcrum_device_state *state = calloc(1, sizeof *state);
    TRY_MEMORY(state, err, "no memory for a device");
    cl_device_id device = list.devices[options->index];
    size_t group =
        (size_t)device_number(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t));
    state->device = device;
    state->is_wide =
        (options->is_wide || !is_cpu(device)) && group >= FULCRUM_TILE_ITEMS;
    state->group = state->is_wide ? FULCRUM_TILE_ITEMS : 1;
    state->sm_count =
        (double)device_number(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint));
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(share_for(state, options->sm_count, &share, err));
    TRY_OR_END(engine_open(&state->engine, state, share, err));
    state->granted_sm_count = (double)share;
    *info = info_of(state);
    *out = state;
end:
    if (status != FULCRUM_OK) {
        opencl_close(state);
    }
    return status;
}

/* A zeroed arena that every kernel has as its first argument. */
static enum fulcrum_status make_arena(
    struct engine *engine, size_t float_count, struct fulcrum_error *err)
{
    const float zero = 0.0F;
    size_t byte = float_count * sizeof zero;
    cl_int code = CL_SUCCESS;
    engine->arena =
        clCreateBuffer(engine->context, CL_MEM_READ_WRITE, byte, NULL, &code);
    if (code == CL_SUCCESS) {
        code = clEnqueueFillBuffer(
            engine->queue, engine->arena, &zero, sizeof zero, 0, byte, 0, NULL, NULL);
    }
    if (code == CL_SUCCESS) {
        code = clFinish(engine->queue);
    }
    for (size_t i = 0; i < FULCRUM_KERNEL_COUNT && code == CL_SUCCESS; i++) {
        code = clSetKernelArg(engine->kernels[i], 0, sizeof(cl_mem), &engine->arena);
    }
    char what[80];
    (void)snprintf(what, sizeof what, "an arena of %.3g MB", 1e-6 * (double)byte);
    return check(code, what, err);
}

static enum fulcrum_status opencl_reserve(
    struct fulcrum_device_state *state, size_t float_count, struct fulcrum_error *err)
{
    TRY(make_arena(&state->engine, float_count, err));
    state->float_count = float_count;
    return FULCRUM_OK;
}

/* Blocking, as the caller may change what it gave. */
static void opencl_upload(
    struct fulcrum_device_state *state, fulcrum_place to, const void *from, size_t byte)
{
    if (!has_failed(state) && byte > 0) {
        keep(state, "clEnqueueWriteBuffer",
            clEnqueueWriteBuffer(state->engine.queue, state->engine.arena, CL_TRUE,
                sizeof(float) * (size_t)to, byte, from, 0, NULL, NULL));
    }
}

static void opencl_download(
    struct fulcrum_device_state *state, void *to, fulcrum_place from, size_t byte)
{
    if (!has_failed(state) && byte > 0) {
        keep(state, "clEnqueueReadBuffer",
            clEnqueueReadBuffer(state->engine.queue, state->engine.arena, CL_FALSE,
                sizeof(float) * (size_t)from, byte, to, 0, NULL, NULL));
    }
}

static void opencl_launch(
    struct fulcrum_device_state *state, const struct fulcrum_device_launch *launch)
{
    if (has_failed(state)) {
        return;
    }
    cl_kernel kernel = state->engine.kernels[launch->kernel];
    size_t items = launch->arguments.item_count;
    size_t whole = (items + state->group - 1) / state->group * state->group;
    cl_int code =
        clSetKernelArg(kernel, 1, sizeof launch->arguments, &launch->arguments);
    if (code == CL_SUCCESS) {
        code = clEnqueueNDRangeKernel(
            state->engine.queue, kernel, 1, NULL, &whole, &state->group, 0, NULL, NULL);
    }
    keep(state, fulcrum_kernel_name(launch->kernel), code);
}

static void opencl_multiply(
    struct fulcrum_device_state *state, const struct fulcrum_device_product *product)
{
    struct fulcrum_device_launch launch =
        fulcrum_device_product_launch(product, state->is_wide);
    opencl_launch(state, &launch);
}

static enum fulcrum_status opencl_finish(
    struct fulcrum_device_state *state, struct fulcrum_error *err)
{
    /* Also after a failure: what was queued before it may still write to the host. */
    keep(state, "clFinish", clFinish(state->engine.queue));
    struct fulcrum_error first = state->first;
    state->first = (struct fulcrum_error){FULCRUM_OK, ""};
    return first.status == FULCRUM_OK
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED, "%s", first.detail);
}

/* The arena of one engine into that of another, through the host. */
static enum fulcrum_status move_arena(struct engine *from, struct engine *to,
    size_t float_count, struct fulcrum_error *err)
{
    size_t byte = float_count * sizeof(float);
    float *copy = calloc(float_count, sizeof *copy);
    TRY_MEMORY(copy, err, "no memory for a copy of %.3g MB", 1e-6 * (double)byte);
    enum fulcrum_status status = make_arena(to, float_count, err);
    cl_int code = CL_SUCCESS;
    if (status == FULCRUM_OK) {
        code = clEnqueueReadBuffer(
            from->queue, from->arena, CL_TRUE, 0, byte, copy, 0, NULL, NULL);
    }
    if (status == FULCRUM_OK && code == CL_SUCCESS) {
        code = clEnqueueWriteBuffer(
            to->queue, to->arena, CL_TRUE, 0, byte, copy, 0, NULL, NULL);
    }
    free(copy);
    return code == CL_SUCCESS ? status : check(code, "a copy of the arena", err);
}

static enum fulcrum_status opencl_grant(struct fulcrum_device_state *state,
    double sm_count, double *granted, struct fulcrum_error *err)
{
    cl_uint share = 0;
    struct engine next = {.part = NULL};
    enum fulcrum_status status = FULCRUM_OK;
    TRY(share_for(state, sm_count, &share, err));
    if ((double)share == state->granted_sm_count) {
        *granted = state->granted_sm_count;
        return FULCRUM_OK;
    }
    TRY_OR_END(engine_open(&next, state, share, err));
    if (state->float_count > 0) {
        TRY_OR_END(move_arena(&state->engine, &next, state->float_count, err));
    }
    engine_close(&state->engine);
    state->engine = next;
    state->granted_sm_count = (double)share;
    *granted = state->granted_sm_count;
end:
    if (status != FULCRUM_OK) {
        engine_close(&next);
    }
    return status;
}

static void opencl_mark(struct fulcrum_device_state *state, int mark)
{
    cl_event *event = &state->engine.marks[mark];
    if (*event != NULL) {
        (void)clReleaseEvent(*event);
        *event = NULL;
    }
    if (!has_failed(state)) {
        keep(state, "clEnqueueMarkerWithWaitList",
            clEnqueueMarkerWithWaitList(state->engine.queue, 0, NULL, event));
    }
}

/* Nanoseconds on the device's clock; 0 where it does not tell. */
static cl_ulong end_of(cl_event event)
{
    cl_ulong end = 0;
    if (event == NULL || clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END,
                             sizeof end, &end, NULL) != CL_SUCCESS) {
        return 0;
    }
    return end;
}

static double opencl_elapsed_s(struct fulcrum_device_state *state)
{
    cl_ulong begin = end_of(state->engine.marks[0]);
    cl_ulong end = end_of(state->engine.marks[1]);
    return begin > 0 && end >= begin ? 1e-9 * (double)(end - begin) : (double)NAN;
}

const struct fulcrum_device fulcrum_device_opencl = {
    .name = "opencl",
    .open = opencl_open,
    .close = opencl_close,
    .reserve = opencl_reserve,
    .upload = opencl_upload,
    .download = opencl_download,
    .launch = opencl_launch,
    .multiply = opencl_multiply,
    .finish = opencl_finish,
    .grant = opencl_grant,
    .mark = opencl_mark,
    .elapsed_s = opencl_elapsed_s,
};
