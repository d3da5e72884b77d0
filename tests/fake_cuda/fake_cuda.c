/* fake_cuda.c - a stand-in for NVIDIA's driver, as far as the program uses it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fake_cuda.h says what it does. It is strict where the documentation of the driver is:
 * handles belong to their context, what is not allocated is not copied, a part of the
 * GPU cannot be split again, a failed GPU answers nothing but its failure.
 * FAKE_CUDA_OLD leaves out what drivers before CUDA 12 did not have. */
#include "tests/fake_cuda/fake_cuda.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake_cuda/fake_kernels.h"

/* Names and parameters are the driver's, and its addresses are numbers. */
/* NOLINTBEGIN(readability-identifier-naming,readability-function-size,
 * readability-non-const-parameter,performance-no-int-to-ptr) */

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    INVALID_PTX = 218,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    INVALID_RESOURCE_TYPE = 914,
    INVALID_RESOURCE_CONFIGURATION = 915
};

enum { ALLOCATIONS_MOST = 64, CALLS_MOST = 64, CALL_NAME_SIZE = 48 };

struct allocation {
    unsigned char *memory;
    size_t byte;
};

/* Queues: what they hold runs when waited for. */
struct fake_operation {
    struct fake_operation *next;
    void (*run)(void *data, struct fake_stream *stream);
    double work_s;
    unsigned char data[]; /* of what is to be run */
};

static int queue_work(struct fake_stream *stream, const struct fake_work *work)
{
    struct fake_operation *operation = calloc(1, sizeof *operation + work->size);
    if (operation == NULL) {
        return OUT_OF_MEMORY;
    }
    operation->run = work->run;
    operation->work_s = work->work_s;
    memcpy(operation->data, work->data, work->size);
    if (stream->last == NULL) {
        stream->first = operation;
    } else {
        stream->last->next = operation;
    }
    stream->last = operation;
    return 0;
}

static struct fake_operation *take_operation(struct fake_stream *stream)
{
    struct fake_operation *operation = stream->first;
    if (operation != NULL) {
        stream->first = operation->next;
        stream->last = stream->first != NULL ? stream->last : NULL;
    }
    return operation;
}

/* Runs what is queued; returns the failure of the GPU, 0 for none. */
static int stream_run(struct fake_stream *stream)
{
    for (struct fake_operation *operation = take_operation(stream); operation != NULL;
         operation = take_operation(stream)) {
        if (*stream->failure == 0) {
            stream->clock_s += operation->work_s > 0.0 ? FAKE_CUDA_LAUNCH_S : 0.0;
            stream->clock_s += operation->work_s / stream->sm_count;
            operation->run(operation->data, stream);
        }
        free(operation);
    }
    return *stream->failure;
}

/* The primary context, or a green one: then with its SMs. */
struct context {
    double sm_count;
    /* cppcheck-suppress unusedStructMember; an old driver has no green ones */
    int is_green;
};

struct event {
    struct context *context;
    double time_s;
    int is_recorded;
    int is_done;
};

struct image {
    struct context *context; /* NULL: a library, of no context */
};

struct function {
    fake_kernel *kernel;
    struct context *context; /* NULL: a kernel of a library */
};

struct call_count {
    char name[CALL_NAME_SIZE];
    unsigned long count;
};

/* A driver is one per process: its state is the library's. */
struct driver {
    struct fake_cuda_counts counts;
    struct call_count calls[CALLS_MOST];
    struct allocation allocations[ALLOCATIONS_MOST];
    struct function functions[2 * FULCRUM_KERNEL_COUNT]; /* of contexts, of none */
    struct context primary;
    struct context *current;
    int retained;
    int is_initialised;
    int failure; /* once a kernel failed: all that later calls return */
};

static struct driver *driver(void)
{
    static struct driver shared;
    return &shared;
}

static unsigned long number_of(const char *variable, unsigned long fallback)
{
    const char *text = getenv(variable);
    return text != NULL ? strtoul(text, NULL, 10) : fallback;
}

static unsigned sm_count(void)
{
    return (unsigned)number_of("FAKE_CUDA_SMS", 132);
}

static unsigned long count_call(const char *name)
{
    struct call_count *call = driver()->calls;
    while (call->count > 0 && strcmp(call->name, name) != 0) {
        call++;
    }
    (void)snprintf(call->name, sizeof call->name, "%s", name);
    return ++call->count;
}

/* Whether FAKE_CUDA_FAIL names this call of `name`. */
static int is_to_fail(const char *name)
{
    unsigned long count = count_call(name);
    const char *text = getenv("FAKE_CUDA_FAIL");
    size_t length = strlen(name);
    return text != NULL && strncmp(text, name, length) == 0 && text[length] == ':' &&
           strtoul(text + length + 1, NULL, 10) == count;
}

/* What a call returns before it does anything. */
static int before(const char *name)
{
    if (is_to_fail(name)) {
        return ILLEGAL_ADDRESS;
    }
    return driver()->is_initialised ? driver()->failure : NOT_INITIALIZED;
}

/* As before, for calls that need a context. */
static int before_in_context(const char *name)
{
    int result = before(name);
    return result == SUCCESS && driver()->current == NULL ? INVALID_CONTEXT : result;
}

/* Ends a call that `before` refuses, or whose arguments are wrong. */
#define REFUSE_IF(before, is_wrong, code)                                              \
    do {                                                                               \
        int result_ = (before);                                                        \
        if (result_ != SUCCESS || (is_wrong)) {                                        \
            return result_ != SUCCESS ? result_ : (code);                              \
        }                                                                              \
    } while (0)

static int given(const void *thing)
{
    driver()->counts.live += thing != NULL;
    return thing != NULL ? SUCCESS : OUT_OF_MEMORY;
}

/* A copy of what `size` bytes hold, as the caller's handle. */
static int give(void *handle, const void *value, size_t size)
{
    void *thing = calloc(1, size);
    if (thing != NULL) {
        memcpy(thing, value, size);
    }
    memcpy(handle, &thing, sizeof thing);
    return given(thing);
}

static int take_back(void *thing)
{
    free(thing);
    driver()->counts.live--;
    return SUCCESS;
}

const struct fake_cuda_counts *fake_cuda_counts(void)
{
    return &driver()->counts;
}

void fake_cuda_forget(void)
{
    memset(driver()->calls, 0, sizeof driver()->calls);
    driver()->failure = 0;
}

int cuGetErrorName(int result, const char **name)
{
    static const struct {
        int result;
        const char *name;
    } names[] = {
        {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
        {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
        {NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
        {INVALID_PTX, "CUDA_ERROR_INVALID_PTX"},
        {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        {INVALID_RESOURCE_CONFIGURATION, "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].result == result) {
            *name = names[i].name;
            return SUCCESS;
        }
    }
    return INVALID_VALUE;
}

int cuInit(unsigned flags)
{
    int result = (int)number_of("FAKE_CUDA_INIT", SUCCESS);
    driver()->is_initialised = result == SUCCESS && flags == 0;
    return is_to_fail("cuInit") ? ILLEGAL_ADDRESS : result;
}

int cuDriverGetVersion(int *version)
{
#ifdef FAKE_CUDA_OLD
    *version = 11040;
#else
    *version = 13010;
#endif
    return before("cuDriverGetVersion");
}

int cuDeviceGetCount(int *count)
{
    *count = (int)number_of("FAKE_CUDA_DEVICES", 1);
    return before("cuDeviceGetCount");
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return before("cuDeviceGet");
}

#ifndef FAKE_CUDA_OLD
int cuDeviceGetUuid(unsigned char *uuid, int device)
{
    for (int i = 0; i < 16; i++) {
        uuid[i] = (unsigned char)(16 * device + i + 0xa0);
    }
    return before("cuDeviceGetUuid");
}
#endif

int cuDeviceGetName(char *name, int size, int device)
{
    (void)snprintf(name, (size_t)size, "Stand-in GPU %d", device);
    return before("cuDeviceGetName");
}

int cuDeviceTotalMem_v2(size_t *byte, int device)
{
    *byte = (size_t)1 << 30;
    return device >= 0 ? before("cuDeviceTotalMem_v2") : INVALID_DEVICE;
}

int cuDeviceGetAttribute(int *value, int which, int device)
{
    const int known[][2] = {{13, 1980000}, {16, (int)sm_count()}, {36, 3200000},
        {37, 6144}, {38, 60 << 20}, {75, 9}, {76, 0}};
    int before_it = before("cuDeviceGetAttribute");
    int result = INVALID_VALUE;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i][0] == which) {
            *value = known[i][1];
            result = before_it;
        }
    }
    return device >= 0 ? result : INVALID_DEVICE;
}

int cuDevicePrimaryCtxRetain(struct context **context, int device)
{
    REFUSE_IF(before("cuDevicePrimaryCtxRetain"), device != 0, INVALID_DEVICE);
    driver()->primary.sm_count = (double)sm_count();
    driver()->retained++;
    *context = &driver()->primary;
    return given(*context);
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    if (driver()->retained == 0 || device != 0) {
        return INVALID_CONTEXT;
    }
    driver()->retained--;
    driver()->counts.live--;
    return SUCCESS;
}

int cuCtxSetCurrent(struct context *context)
{
    int result = is_to_fail("cuCtxSetCurrent") ? ILLEGAL_ADDRESS : SUCCESS;
    driver()->current = result == SUCCESS ? context : driver()->current;
    driver()->counts.is_in_green =
        driver()->current != NULL && driver()->current->is_green;
    return result;
}

int cuMemAlloc_v2(uint64_t *address, size_t byte)
{
    REFUSE_IF(before_in_context("cuMemAlloc_v2"), byte == 0, INVALID_VALUE);
    if (byte > (size_t)1 << 30) {
        return OUT_OF_MEMORY;
    }
    struct allocation *free_one = driver()->allocations;
    while (free_one->memory != NULL) {
        free_one++;
    }
    /* Memory of a GPU holds what was in it before: not zeros. */
    free_one->memory = malloc(byte);
    if (free_one->memory != NULL) {
        memset(free_one->memory, 0x7f, byte);
    }
    free_one->byte = byte;
    *address = (uint64_t)(uintptr_t)free_one->memory;
    return given(free_one->memory);
}

/* The allocation that holds all of `byte` bytes from `address`; NULL: none. */
static struct allocation *holder(uint64_t address, size_t byte)
{
    for (size_t i = 0; i < ALLOCATIONS_MOST; i++) {
        struct allocation *allocation = &driver()->allocations[i];
        uint64_t first = (uint64_t)(uintptr_t)allocation->memory;
        if (allocation->memory != NULL && address >= first &&
            address + byte <= first + allocation->byte) {
            return allocation;
        }
    }
    return NULL;
}

int cuMemFree_v2(uint64_t address)
{
    struct allocation *allocation = holder(address, 0);
    if (allocation == NULL) {
        return INVALID_VALUE;
    }
    void *memory = allocation->memory;
    allocation->memory = NULL;
    return take_back(memory);
}

int cuMemHostAlloc(void **memory, size_t byte, unsigned flags)
{
    REFUSE_IF(before_in_context("cuMemHostAlloc"), flags != 0, INVALID_VALUE);
    *memory = calloc(byte, 1);
    return given(*memory);
}

int cuMemFreeHost(void *memory)
{
    return take_back(memory);
}

static int queue(struct fake_stream *stream, const struct fake_work *work)
{
    return stream == NULL || stream->context != driver()->current
               ? INVALID_HANDLE
               : stream->queue(stream, work);
}

struct fill {
    uint64_t to;
    unsigned value;
    size_t count;
};

static void run_fill(void *data, struct fake_stream *stream)
{
    const struct fill *fill = data;
    (void)stream;
    for (size_t i = 0; i < fill->count; i++) {
        memcpy((unsigned char *)(uintptr_t)fill->to + i * sizeof fill->value,
            &fill->value, sizeof fill->value);
    }
}

int cuMemsetD32Async(
    uint64_t to, unsigned value, size_t count, struct fake_stream *stream)
{
    REFUSE_IF(before_in_context("cuMemsetD32Async"), holder(to, 4 * count) == NULL,
        INVALID_VALUE);
    const struct fill fill = {to, value, count};
    const struct fake_work work = {run_fill, &fill, sizeof fill, 0.0};
    return queue(stream, &work);
}

struct copy {
    void *to;
    const void *from;
    size_t byte;
};

static void run_copy(void *data, struct fake_stream *stream)
{
    const struct copy *copy = data;
    (void)stream;
    memcpy(copy->to, copy->from, copy->byte);
}

static int queue_copy(struct fake_stream *stream, const struct copy *copy)
{
    const struct fake_work work = {run_copy, copy, sizeof *copy, 0.0};
    return queue(stream, &work);
}

int cuMemcpyHtoDAsync_v2(
    uint64_t to, const void *from, size_t byte, struct fake_stream *stream)
{
    REFUSE_IF(before_in_context("cuMemcpyHtoDAsync_v2"), holder(to, byte) == NULL,
        INVALID_VALUE);
    const struct copy copy = {(void *)(uintptr_t)to, from, byte};
    return queue_copy(stream, &copy);
}

int cuMemcpyDtoHAsync_v2(
    void *to, uint64_t from, size_t byte, struct fake_stream *stream)
{
    REFUSE_IF(before_in_context("cuMemcpyDtoHAsync_v2"), holder(from, byte) == NULL,
        INVALID_VALUE);
    const struct copy copy = {to, (const void *)(uintptr_t)from, byte};
    return queue_copy(stream, &copy);
}

static int give_stream(struct fake_stream **stream, struct context *context)
{
    const struct fake_stream value = {.context = context,
        .sm_count = context->sm_count,
        .failure = &driver()->failure,
        .queue = queue_work};
    return give(stream, &value, sizeof value);
}

int cuStreamCreate(struct fake_stream **stream, unsigned flags)
{
    REFUSE_IF(before_in_context("cuStreamCreate"), flags > 1, INVALID_VALUE);
    return give_stream(stream, driver()->current);
}

int cuStreamSynchronize(struct fake_stream *stream)
{
    int result = before_in_context("cuStreamSynchronize");
    return result == SUCCESS ? stream_run(stream) : result;
}

/* What is still queued is dropped. */
int cuStreamDestroy_v2(struct fake_stream *stream)
{
    for (struct fake_operation *operation = take_operation(stream); operation != NULL;
         operation = take_operation(stream)) {
        free(operation);
    }
    return take_back(stream);
}

int cuEventCreate(struct event **event, unsigned flags)
{
    REFUSE_IF(before_in_context("cuEventCreate"), flags != 0, INVALID_VALUE);
    const struct event value = {.context = driver()->current};
    return give(event, &value, sizeof value);
}

static void run_record(void *data, struct fake_stream *stream)
{
    struct event *event = *(struct event **)data;
    event->time_s = stream->clock_s;
    event->is_done = 1;
}

int cuEventRecord(struct event *event, struct fake_stream *stream)
{
    REFUSE_IF(before_in_context("cuEventRecord"), event->context != stream->context,
        INVALID_HANDLE);
    const struct fake_work work = {run_record, &event, sizeof(struct event *), 0.0};
    event->is_recorded = 1;
    event->is_done = 0;
    return queue(stream, &work);
}

int cuEventElapsedTime(
    float *elapsed_ms, const struct event *begin, const struct event *end)
{
    REFUSE_IF(before("cuEventElapsedTime"), !begin->is_recorded || !end->is_recorded,
        INVALID_HANDLE);
    *elapsed_ms = (float)(1e3 * (end->time_s - begin->time_s));
    return begin->is_done && end->is_done ? SUCCESS : NOT_READY;
}

int cuEventDestroy_v2(struct event *event)
{
    return take_back(event);
}

/* The text of the kernels, looked at as far as a test can tell it from another. */
static int compile(const char *text, unsigned count, const int *options, void **values)
{
    const char *complaint = getenv("FAKE_CUDA_PTX");
    int is_text = strstr(text, ".version 6.0") != NULL &&
                  strstr(text, ".entry fulcrum_adam(") != NULL;
    driver()->counts.jit_calls++;
    for (unsigned i = 0; complaint != NULL && i + 1 < count; i++) {
        if (options[i] == 5 && options[i + 1] == 6) {
            (void)snprintf(
                values[i], (size_t)(uintptr_t)values[i + 1], "%s\nmore", complaint);
        }
    }
    return is_text && complaint == NULL ? SUCCESS : INVALID_PTX;
}

static int find_function(
    struct function **function, const struct image *image, const char *name)
{
    fake_kernel *kernel = fake_kernel_find(name);
    struct function *free_one = driver()->functions;
    if (kernel == NULL) {
        return NOT_FOUND;
    }
    while (free_one->kernel != NULL &&
           (free_one->kernel != kernel || free_one->context != image->context)) {
        free_one++;
    }
    *free_one = (struct function){kernel, image->context};
    *function = free_one;
    return SUCCESS;
}

int cuModuleLoadDataEx(struct image **module, const char *text, unsigned count,
    const int *options, void **values)
{
    int result = before_in_context("cuModuleLoadDataEx");
    result = result == SUCCESS ? compile(text, count, options, values) : result;
    const struct image value = {driver()->current};
    return result == SUCCESS ? give(module, &value, sizeof value) : result;
}

int cuModuleGetFunction(
    struct function **function, const struct image *module, const char *name)
{
    int result = before_in_context("cuModuleGetFunction");
    return result == SUCCESS ? find_function(function, module, name) : result;
}

int cuModuleUnload(struct image *module)
{
    return take_back(module);
}

struct launch {
    fake_kernel *kernel;
    float *arena;
    struct fulcrum_kernel_arguments arguments;
    unsigned item_count;
};

static void run_kernel(void *data, struct fake_stream *stream)
{
    const struct launch *launch = data;
    if (is_to_fail("kernel")) {
        *stream->failure = ILLEGAL_ADDRESS;
        return;
    }
    driver()->counts.launches++;
    for (unsigned i = 0; i < launch->item_count; i++) {
        launch->kernel(launch->arena, launch->arguments, i);
    }
}

int cuLaunchKernel(const struct function *function, unsigned grid_x, unsigned grid_y,
    unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
    unsigned shared_byte, struct fake_stream *stream, void **parameters, void **extra)
{
    struct launch launch = {.kernel = function->kernel};
    uint64_t arena = 0;
    int is_flat = grid_y == 1 && grid_z == 1 && block_y == 1 && block_z == 1 &&
                  shared_byte == 0 && extra == NULL;
    REFUSE_IF(before_in_context("cuLaunchKernel"),
        !is_flat || grid_x == 0 || block_x != 256, INVALID_VALUE);
    if (function->context != NULL && function->context != stream->context) {
        return INVALID_HANDLE;
    }
    memcpy(&arena, parameters[0], sizeof arena);
    memcpy(&launch.arguments, parameters[1], sizeof launch.arguments);
    launch.arena = (float *)(uintptr_t)arena;
    launch.item_count = grid_x * block_x;
    const struct fake_work work = {run_kernel, &launch, sizeof launch,
        (double)launch.item_count / FAKE_CUDA_ITEMS_PER_SM_S};
    return queue(stream, &work);
}

#ifndef FAKE_CUDA_OLD

int cuLibraryLoadData(struct image **library, const char *text, const int *jit_options,
    void **jit_values, unsigned jit_count, const int *options, void **values,
    unsigned count)
{
    REFUSE_IF(before("cuLibraryLoadData"),
        options != NULL || values != NULL || count != 0, INVALID_VALUE);
    const struct image value = {NULL};
    int result = compile(text, jit_count, jit_options, jit_values);
    return result == SUCCESS ? give(library, &value, sizeof value) : result;
}

int cuLibraryGetKernel(
    struct function **kernel, const struct image *library, const char *name)
{
    int result = before("cuLibraryGetKernel");
    return result == SUCCESS ? find_function(kernel, library, name) : result;
}

int cuLibraryUnload(struct image *library)
{
    return take_back(library);
}

/* CUdevResource of cuda.h: 144 bytes, the number of SMs at byte 96. */
struct resource {
    int kind;
    unsigned char internal[92];
    unsigned sm_count;
    unsigned is_split; /* here: results cannot be split again */
    unsigned char rest[40];
};

_Static_assert(sizeof(struct resource) == 144, "as in cuda.h");

int cuDeviceGetDevResource(int device, struct resource *resource, int kind)
{
    REFUSE_IF(before("cuDeviceGetDevResource"), kind != 1 || device != 0,
        INVALID_RESOURCE_TYPE);
    *resource = (struct resource){.kind = kind, .sm_count = sm_count()};
    return SUCCESS;
}

/* Compute capability 9.0: at least 8 SMs, multiples of 8. */
int cuDevSmResourceSplitByCount(struct resource *parts, const unsigned *part_count,
    const struct resource *whole, const struct resource *rest, unsigned flags,
    unsigned least)
{
    unsigned rounded = (least + 7) / 8 * 8;
    REFUSE_IF(before("cuDevSmResourceSplitByCount"),
        whole->kind != 1 || whole->is_split || flags != 0, INVALID_VALUE);
    if (rounded > whole->sm_count || rest != NULL || *part_count != 1) {
        return INVALID_RESOURCE_CONFIGURATION;
    }
    *parts = (struct resource){
        .kind = 1, .sm_count = rounded > 8 ? rounded : 8, .is_split = 1};
    return SUCCESS;
}

/* A description is the number of SMs and stays for good, as in the driver. */
int cuDevResourceGenerateDesc(
    uintptr_t *description, const struct resource *parts, unsigned part_count)
{
    *description = parts->sm_count;
    return part_count == 1 && parts->is_split ? before("cuDevResourceGenerateDesc")
                                              : INVALID_RESOURCE_CONFIGURATION;
}

int cuGreenCtxCreate(
    struct context **green, uintptr_t description, int device, unsigned flags)
{
    REFUSE_IF(before("cuGreenCtxCreate"), flags != 1 || device != 0, INVALID_VALUE);
    const struct context value = {(double)description, 1};
    driver()->counts.greens++;
    return give(green, &value, sizeof value);
}

int cuGreenCtxDestroy(struct context *green)
{
    return green == driver()->current ? INVALID_CONTEXT : take_back(green);
}

int cuCtxFromGreenCtx(struct context **context, struct context *green)
{
    *context = green;
    return before("cuCtxFromGreenCtx");
}

int cuGreenCtxStreamCreate(
    struct fake_stream **stream, struct context *green, unsigned flags, int priority)
{
    REFUSE_IF(before("cuGreenCtxStreamCreate"),
        flags != 1 || priority != 0 || !green->is_green, INVALID_VALUE);
    return give_stream(stream, green);
}

#endif
/* NOLINTEND(readability-identifier-naming,readability-function-size,
 * readability-non-const-parameter,performance-no-int-to-ptr) */
