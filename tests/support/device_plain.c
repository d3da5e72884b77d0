/* device_plain.c - the kernels of devices as C, run on the calling thread. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/device_plain.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/device/compute.h"

#define FULCRUM_PLAIN_C
#include "plain/network.inc" /* network.cl */

struct fulcrum_device_state {
    bool is_wide;
    bool has_failed;
    float *arena;
};

/* Which call is to fail, and how many there were. */
struct fate {
    size_t fails_at;
    size_t count;
};

static struct fate *fate_of_all(void)
{
    static struct fate fate;
    return &fate;
}

void device_plain_fail_at(size_t call)
{
    *fate_of_all() = (struct fate){.fails_at = call};
}

size_t device_plain_call_count(void)
{
    return fate_of_all()->count;
}

/* 1: the caller goes on; 0: this call, or one before it, has failed. */
static int goes_on(struct fulcrum_device_state *state)
{
    struct fate *fate = fate_of_all();
    fate->count++;
    if (fate->count == fate->fails_at) {
        state->has_failed = 1;
    }
    return !state->has_failed;
}

static enum fulcrum_status open_as(const struct fulcrum_device_options *options,
    bool is_wide, struct fulcrum_device_state **out, struct fulcrum_device_info *info,
    struct fulcrum_error *err)
{
    if (options->index > 0 || options->sm_count > 4.0) {
        return fulcrum_fail(err, FULCRUM_ERR_RANGE,
            "device_index = %zu or sm_count = %g: one device of 4", options->index,
            options->sm_count);
    }
    struct fulcrum_device_state *state = calloc(1, sizeof *state);
    if (state == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "a plain device");
    }
    state->is_wide = is_wide;
    *info = (struct fulcrum_device_info){.name = "plain C",
        .detail = "kernels compiled as C",
        .is_gpu = is_wide,
        .is_wide = is_wide,
        .sm_count = 4.0,
        .granted_sm_count = options->sm_count > 0.0 ? options->sm_count : 4.0,
        .least_sm_count = 1.0,
        .sm_step = 1.0,
        .clock_hz = (double)NAN,
        .memory_byte = 1e9};
    *out = state;
    return FULCRUM_OK;
}

static enum fulcrum_status open_narrow(const struct fulcrum_device_options *options,
    struct fulcrum_device_state **out, struct fulcrum_device_info *info,
    struct fulcrum_error *err)
{
    return open_as(options, 0, out, info, err);
}

static enum fulcrum_status open_wide(const struct fulcrum_device_options *options,
    struct fulcrum_device_state **out, struct fulcrum_device_info *info,
    struct fulcrum_error *err)
{
    return open_as(options, 1, out, info, err);
}

static void plain_close(struct fulcrum_device_state *state)
{
    if (state != NULL) {
        free(state->arena);
        free(state);
    }
}

static enum fulcrum_status plain_reserve(
    struct fulcrum_device_state *state, size_t float_count, struct fulcrum_error *err)
{
    if (goes_on(state)) {
        state->arena = calloc(float_count, sizeof *state->arena);
    }
    return state->arena != NULL
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%zu floats", float_count);
}

static void plain_upload(
    struct fulcrum_device_state *state, fulcrum_place to, const void *from, size_t byte)
{
    if (goes_on(state)) {
        memcpy(state->arena + to, from, byte);
    }
}

static void plain_download(
    struct fulcrum_device_state *state, void *to, fulcrum_place from, size_t byte)
{
    if (goes_on(state)) {
        memcpy(to, state->arena + from, byte);
    }
}

void device_plain_run(float *arena, const struct fulcrum_device_launch *launch)
{
    typedef void kernel(float *, struct fulcrum_kernel_arguments, uint);
#define KERNEL_ROW(constant, name) [constant] = kernel_##name,
    static kernel *const kernels[] = {FULCRUM_KERNEL_LIST(KERNEL_ROW)};
#undef KERNEL_ROW
    for (uint i = 0; i < launch->arguments.item_count; i++) {
        kernels[launch->kernel](arena, launch->arguments, i);
    }
}

static void plain_launch(
    struct fulcrum_device_state *state, const struct fulcrum_device_launch *launch)
{
    if (goes_on(state)) {
        device_plain_run(state->arena, launch);
    }
}

static void plain_multiply(
    struct fulcrum_device_state *state, const struct fulcrum_device_product *product)
{
    if (goes_on(state)) {
        struct fulcrum_device_launch launch =
            fulcrum_device_product_launch(product, state->is_wide);
        device_plain_run(state->arena, &launch);
    }
}

static enum fulcrum_status plain_finish(
    struct fulcrum_device_state *state, struct fulcrum_error *err)
{
    bool has_failed = state->has_failed;
    state->has_failed = 0;
    return has_failed ? fulcrum_fail(
                            err, FULCRUM_ERR_UNSUPPORTED, "the device fell off the bus")
                      : FULCRUM_OK;
}

static enum fulcrum_status plain_grant(struct fulcrum_device_state *state,
    double sm_count, double *granted, struct fulcrum_error *err)
{
    (void)state;
    if (!(sm_count >= 0.0 && sm_count <= 4.0)) {
        return fulcrum_fail(
            err, FULCRUM_ERR_RANGE, "sm_count = %g is outside [0, 4]", sm_count);
    }
    *granted = sm_count > 0.0 ? sm_count : 4.0;
    return FULCRUM_OK;
}

static void plain_mark(struct fulcrum_device_state *state, int mark)
{
    (void)state;
    (void)mark;
}

static double plain_elapsed_s(struct fulcrum_device_state *state)
{
    (void)state;
    return (double)NAN;
}

const struct fulcrum_device device_plain = {
    .name = "plain",
    .open = open_narrow,
    .close = plain_close,
    .reserve = plain_reserve,
    .upload = plain_upload,
    .download = plain_download,
    .launch = plain_launch,
    .multiply = plain_multiply,
    .finish = plain_finish,
    .grant = plain_grant,
    .mark = plain_mark,
    .elapsed_s = plain_elapsed_s,
};

const struct fulcrum_device device_plain_wide = {
    .name = "plain wide",
    .open = open_wide,
    .close = plain_close,
    .reserve = plain_reserve,
    .upload = plain_upload,
    .download = plain_download,
    .launch = plain_launch,
    .multiply = plain_multiply,
    .finish = plain_finish,
    .mark = plain_mark,
    .elapsed_s = plain_elapsed_s,
};
