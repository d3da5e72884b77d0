/* device_host.c - the calling thread as a device: the kernels as C, OpenBLAS. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The only file that knows the BLAS. What is queued is done at once. The library is
 * kept on the calling thread: how work spreads over cores is what fulcrum measures, and
 * a library that takes all of them by itself would measure something else. Which
 * kernels it chose depends on the processor and on environment variables, so both are
 * put on record. A build without it multiplies by own kernels, which are slower.
 */
#define _POSIX_C_SOURCE 200809L
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/device/compute.h"
#include "calibrate/device/learner.h"
#include "model/try.h"

#define FULCRUM_PLAIN_C
#define FULCRUM_ONE_LANE
#include <network.inc> /* network.cl */

#if FULCRUM_HAVE_OPENBLAS
#include <cblas.h>
#include <limits.h>
#endif

/* Pixels of one image of R2D2, and more. */
enum { PIXEL_ROOM = 1 << 16 };

/* What vector loads and cache lines like. */
enum { ALIGN_BYTE = 64, ALIGN_FLOATS = ALIGN_BYTE / sizeof(float) };

struct fulcrum_device_state {
    float *memory; /* what the arena is the aligned part of */
    float *arena;
    float pixels[PIXEL_ROOM];
};

static void add_run(float *pixels, const float *column, size_t count)
{
    EACH_ALONE
    for (size_t i = 0; i < count; i++) {
        pixels[i] += column[i];
    }
}

/*
 * Lays out the windows of an image, or adds them to it. The kernels' items would each
 * divide to find where they are, which takes longer than their few pixels.
 */
static void each_run(
    const struct fulcrum_device_launch *launch, float *image, float *column)
{
    const unsigned *count = launch->arguments.count;
    const size_t channels = count[2];
    const size_t length = count[3] * channels;
    const size_t pitch = count[1] * channels;
    for (size_t i = 0; i < count[6]; i++) {
        size_t y = i / count[5] * count[4];
        size_t x = i % count[5] * count[4];
        for (size_t j = 0; j < count[3]; j++) {
            float *pixels = image + (y + j) * pitch + x * channels;
            if (launch->kernel == FULCRUM_KERNEL_ADD_WINDOWS) {
                add_run(pixels, column, length);
            } else {
                memcpy(column, pixels, length * sizeof *column);
            }
            column += length;
        }
    }
}

static void launch_windows(
    struct fulcrum_device_state *state, const struct fulcrum_device_launch *launch)
{
    const struct fulcrum_kernel_arguments *arguments = &launch->arguments;
    const unsigned *count = arguments->count;
    const size_t pixels = (size_t)count[0] * count[1] * count[2];
    const size_t column_count = (size_t)count[6] * count[3] * count[3] * count[2];
    const bool is_added = launch->kernel == FULCRUM_KERNEL_ADD_WINDOWS;
    const size_t items =
        is_added ? (size_t)count[0] * count[1] : (size_t)count[6] * count[3];
    float *image = state->arena + arguments->place[is_added ? 0 : 1];
    float *column = state->arena + arguments->place[is_added ? 1 : 0];
    const uchar *bytes = (const uchar *)image + count[7];
    for (size_t i = 0; i < arguments->item_count / items; i++) {
        float *at = image + i * pixels;
        if (launch->kernel == FULCRUM_KERNEL_WINDOWS_OF_BYTES) {
            /* A pixel is in several windows: bytes become floats beforehand. */
            assert(pixels <= PIXEL_ROOM);
            for (size_t k = 0; k < pixels; k++) {
                state->pixels[k] = (float)bytes[i * pixels + k] * (1.0F / 255.0F);
            }
            at = state->pixels;
        } else if (is_added) {
            memset(at, 0, pixels * sizeof *at);
        }
        each_run(launch, at, column);
        column += column_count;
    }
}

/* Each kernel over all of its items: a loop that the kernel is part of. */
#define LOOP(constant, name)                                                           \
    static void launch_each_##name(                                                    \
        float *arena, const struct fulcrum_kernel_arguments *arguments)                \
    {                                                                                  \
        const struct fulcrum_kernel_arguments copy = *arguments;                       \
        for (uint i = 0; i < copy.item_count; i++) {                                   \
            kernel_##name(arena, copy, i);                                             \
        }                                                                              \
    }
FULCRUM_KERNEL_LIST(LOOP)
#undef LOOP

static void host_launch(
    struct fulcrum_device_state *state, const struct fulcrum_device_launch *launch)
{
    typedef void launcher(float *, const struct fulcrum_kernel_arguments *);
#define LAUNCHER(constant, name) [constant] = launch_each_##name,
    static launcher *const launchers[] = {FULCRUM_KERNEL_LIST(LAUNCHER)};
#undef LAUNCHER
    bool is_windows = launch->kernel == FULCRUM_KERNEL_WINDOWS ||
                      launch->kernel == FULCRUM_KERNEL_WINDOWS_OF_BYTES ||
                      launch->kernel == FULCRUM_KERNEL_ADD_WINDOWS;
    if (is_windows) {
        launch_windows(state, launch);
    } else {
        launchers[launch->kernel](state->arena, &launch->arguments);
    }
}

#if FULCRUM_HAVE_OPENBLAS

/* Sizes are bounded where the networks are made; a BLAS counts in int. */
static blasint blas_int(size_t count)
{
    assert(count <= INT_MAX);
    return (blasint)count;
}

/*
 * sgemm first copies all of b into a layout of its own, which costs more than a few
 * rows of a have work for. Within these bounds OpenBLAS multiplies without a copy where
 * it uses kernels for AVX-512 (0.3.21,
 * kernel/x86_64/sgemm_small_kernel_permit_skylakex.c), so that products with few rows
 * take half the time in blocks of columns that keep to them. With other kernels each
 * block is copied, which took up to five times as long as no blocks; there the fewest
 * rows are multiplied one by one, unless both are slow.
 */
enum { FEW_ROWS = 12, SMALL_TERM_COUNT = 1000000, SMALL_RESULT_COUNT = 1200 };
enum { FEWEST_ROWS = 4 };

/* What OpenBLAS falls back on where it does not know an x86-64 processor. */
static bool has_oldest_kernels(void)
{
    return strcmp(openblas_get_corename(), "Prescott") == 0;
}

static bool has_small_kernels(void)
{
    static const char *const names[] = {"SkylakeX", "Cooperlake", "SapphireRapids"};
    const char *core = openblas_get_corename();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(core, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Columns of c that are computed at a time. */
static size_t block_of(const struct fulcrum_device_product *product)
{
    if (!product->is_right_transposed || product->row_count > FEW_ROWS ||
        !has_small_kernels()) {
        return product->col_count;
    }
    size_t by_terms = SMALL_TERM_COUNT / (product->row_count * product->inner_count);
    size_t by_result = SMALL_RESULT_COUNT / product->row_count;
    size_t block = by_terms < by_result ? by_terms : by_result;
    return block > 0 ? block : 1;
}

static bool goes_by_row(const struct fulcrum_device_product *product)
{
    size_t most = has_small_kernels() || has_oldest_kernels() ? 1 : FEWEST_ROWS;
    return product->row_count <= most && product->is_right_transposed &&
           !product->is_left_transposed;
}

static void multiply_rows(
    struct fulcrum_device_state *state, const struct fulcrum_device_product *product)
{
    const float *b = state->arena + product->b;
    blasint n = blas_int(product->col_count);
    blasint k = blas_int(product->inner_count);
    for (size_t i = 0; i < product->row_count; i++) {
        const float *a = state->arena + product->a + i * product->inner_count;
        float *c = state->arena + product->c + i * product->col_count;
        cblas_sgemv(
            CblasRowMajor, CblasNoTrans, n, k, 1.0F, b, k, a, 1, product->beta, c, 1);
    }
}

static void host_multiply(
    struct fulcrum_device_state *state, const struct fulcrum_device_product *product)
{
    const float *a = state->arena + product->a;
    const float *b = state->arena + product->b;
    float *c = state->arena + product->c;
    blasint m = blas_int(product->row_count);
    blasint n = blas_int(product->col_count);
    blasint k = blas_int(product->inner_count);
    if (goes_by_row(product)) {
        multiply_rows(state, product);
        return;
    }
    size_t block = block_of(product);
    for (size_t first = 0; first < product->col_count; first += block) {
        size_t left = product->col_count - first;
        size_t b_first =
            product->is_right_transposed ? first * product->inner_count : 0;
        cblas_sgemm(CblasRowMajor,
            product->is_left_transposed ? CblasTrans : CblasNoTrans,
            product->is_right_transposed ? CblasTrans : CblasNoTrans, m,
            blas_int(left < block ? left : block), k, 1.0F, a,
            product->is_left_transposed ? m : k, b + b_first,
            product->is_right_transposed ? k : n, product->beta, c + first, n);
    }
}

void fulcrum_products_use_one_thread(void)
{
    openblas_set_num_threads(1);
}

#define SLOW_KERNELS                                                                   \
    "OpenBLAS does not know this processor and uses its oldest kernels, which take "   \
    "several times as long: set OPENBLAS_CORETYPE="

static const char *products_warning(void)
{
#if defined(__x86_64__)
    if (has_oldest_kernels() && __builtin_cpu_supports("avx512f")) {
        return SLOW_KERNELS "SkylakeX";
    }
    if (has_oldest_kernels() && __builtin_cpu_supports("avx2")) {
        return SLOW_KERNELS "Haswell";
    }
#endif
    return NULL;
}

/*
 * The library's version, the kernels it chose for this core, its threads, and the
 * environment variables in force that may have changed that choice.
 */
static void tell_products(char *text, size_t size)
{
    /* The ones that choose kernels or threads, in the library's documentation. */
    static const char *const names[] = {"OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS",
        "OPENBLAS_DEFAULT_NUM_THREADS", "OPENBLAS_MAIN_FREE", "OMP_NUM_THREADS"};
    /* "OpenBLAS 0.3.21 DYNAMIC_ARCH ... MAX_THREADS=64": two words of it. */
    const char *config = openblas_get_config();
    const char *end = strchr(config, ' ');
    end = end != NULL ? strchr(end + 1, ' ') : NULL;
    size_t length = end != NULL ? (size_t)(end - config) : strlen(config);
    int threads = openblas_get_num_threads();
    (void)snprintf(text, size, "%.*s, kernels %s, %d thread%s",
        (int)(length < 63 ? length : 63), config, openblas_get_corename(), threads,
        threads == 1 ? "" : "s");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        size_t used = strlen(text);
        if (value != NULL) {
            (void)snprintf(text + used, size - used, ", %s=%.40s", names[i], value);
        }
    }
}

#else

static void host_multiply(
    struct fulcrum_device_state *state, const struct fulcrum_device_product *product)
{
    struct fulcrum_device_launch launch = fulcrum_device_product_launch(product, 0);
    host_launch(state, &launch);
}

void fulcrum_products_use_one_thread(void)
{
}

static void tell_products(char *text, size_t size)
{
    (void)snprintf(text, size, "own kernels");
}

static const char *products_warning(void)
{
    return NULL;
}

#endif

static enum fulcrum_status host_open(const struct fulcrum_device_options *options,
    struct fulcrum_device_state **out, struct fulcrum_device_info *info,
    struct fulcrum_error *err)
{
    (void)options;
    struct fulcrum_device_state *state = calloc(1, sizeof *state);
    TRY_MEMORY(state, err, "no memory for a device");
    fulcrum_products_use_one_thread();
    *info = (struct fulcrum_device_info){.name = "", .warning = products_warning()};
    tell_products(info->detail, sizeof info->detail);
    *out = state;
    return FULCRUM_OK;
}

static void host_close(struct fulcrum_device_state *state)
{
    if (state != NULL) {
        free(state->memory);
        free(state);
    }
}

static enum fulcrum_status host_reserve(
    struct fulcrum_device_state *state, size_t float_count, struct fulcrum_error *err)
{
    state->memory = calloc(float_count + ALIGN_FLOATS, sizeof *state->memory);
    TRY_MEMORY(state->memory, err, "no memory for a network of %.3g MB",
        4e-6 * (double)float_count);
    size_t beyond = (uintptr_t)state->memory % ALIGN_BYTE / sizeof *state->memory;
    state->arena = state->memory + (ALIGN_FLOATS - beyond) % ALIGN_FLOATS;
    return FULCRUM_OK;
}

static void host_upload(
    struct fulcrum_device_state *state, fulcrum_place to, const void *from, size_t byte)
{
    memcpy(state->arena + to, from, byte);
}

static void host_download(
    struct fulcrum_device_state *state, void *to, fulcrum_place from, size_t byte)
{
    memcpy(to, state->arena + from, byte);
}

static enum fulcrum_status host_finish(
    struct fulcrum_device_state *state, struct fulcrum_error *err)
{
    (void)state;
    (void)err;
    return FULCRUM_OK;
}

const struct fulcrum_device fulcrum_device_host = {
    .name = "host",
    .open = host_open,
    .close = host_close,
    .reserve = host_reserve,
    .upload = host_upload,
    .download = host_download,
    .launch = host_launch,
    .multiply = host_multiply,
    .finish = host_finish,
};
