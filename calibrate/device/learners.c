/* learners.c - the table of learners: the networks on one device each. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/device/learner.h"

#include <string.h>

#include "calibrate/device/compute.h"
#include "calibrate/device/networks.h"
#include "model/try.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

const char *fulcrum_learner_network_name(enum fulcrum_learner_network network)
{
    static const char *const names[] = {
        [FULCRUM_NETWORK_R2D2] = "r2d2", [FULCRUM_NETWORK_MLP] = "mlp"};
    return FULCRUM_NAMED(names, network);
}

/* Units of each of the three hidden layers: learner.h, FULCRUM_NETWORK_MLP. */
enum { MLP_HIDDEN_COUNT = 256 };

/*
 * A replay of 16384 steps keeps the training buffers near 3 GB; 2^27 floats of
 * observations are 0.5 GiB. Products come after their factors, which have bounds.
 */
enum fulcrum_status fulcrum_learner_options_check(
    const struct fulcrum_learner_options *options, struct fulcrum_error *err)
{
    enum { EITHER = -1, R2D2 = FULCRUM_NETWORK_R2D2, MLP = FULCRUM_NETWORK_MLP };
    const size_t floats = (size_t)1 << 27;
    const size_t steps = options->train_burn_in + options->train_unroll + 1;
    const struct {
        const char *name;
        size_t value;
        size_t min;
        size_t max;
        int network; /* that it is a bound of */
    } bounds[] = {
        {"max_batch", options->max_batch, 1, 4096, EITHER},
        {"action_count", options->action_count, 1, 1024, EITHER},
        {"train_unroll", options->train_unroll, 1, 1024, R2D2},
        {"train_burn_in", options->train_burn_in, 0, 1024, R2D2},
        {"train_batch", options->train_batch, 1, 1024, R2D2},
        {"train_batch x (train_burn_in + train_unroll + 1)",
            options->train_batch * steps, 1, 16384, R2D2},
        {"input_count", options->input_count, 1, 65536, MLP},
        {"train_batch", options->train_batch, 1, 65536, MLP},
        {"input_count x train_batch", options->input_count * options->train_batch, 1,
            floats, MLP},
        {"input_count x max_batch", options->input_count * options->max_batch, 1,
            floats, MLP},
    };
    FAIL_IF(fulcrum_learner_network_name(options->network) == NULL, err,
        FULCRUM_ERR_RANGE, "network = %d is not one of the networks",
        (int)options->network);
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        bool is_bound =
            bounds[i].network == EITHER || bounds[i].network == (int)options->network;
        FAIL_IF(is_bound && (bounds[i].value < bounds[i].min ||
                                bounds[i].value > bounds[i].max),
            err, FULCRUM_ERR_RANGE, "network %s: %s = %zu is outside [%zu, %zu]%s",
            fulcrum_learner_network_name(options->network), bounds[i].name,
            bounds[i].value, bounds[i].min, bounds[i].max,
            strcmp(bounds[i].name, "input_count") == 0
                ? ", the numbers of an observation; network r2d2 takes images of 84 x "
                  "84 x 4 bytes"
                : "");
    }
    return FULCRUM_OK;
}

/* The device goes with its network. */
static void learner_close(struct fulcrum_learner_state *state)
{
    if (state != NULL) {
        struct fulcrum_compute compute = fulcrum_network_places_of(state).compute;
        fulcrum_network_free(state);
        compute.device->close(compute.state);
    }
}

enum fulcrum_status fulcrum_learner_open_on(const struct fulcrum_device *device,
    const struct fulcrum_learner_options *options, struct fulcrum_learner_state **out,
    struct fulcrum_learner_info *info, struct fulcrum_error *err)
{
    const struct fulcrum_device_options device_options = {
        .index = options->device_index, .sm_count = options->sm_count};
    struct fulcrum_compute compute = {.device = device};
    struct fulcrum_device_info told;
    TRY(fulcrum_learner_options_check(options, err));
    TRY(device->open(&device_options, &compute.state, &told, err));
    compute.is_wide = told.is_wide;
    bool takes_one = !told.is_gpu && !(options->sm_count > 0.0) &&
                     told.granted_sm_count > 1.0 && device->grant != NULL;
    /* Where it cannot be divided, it runs whole, and the info says so. */
    if (takes_one) {
        (void)device->grant(compute.state, 1.0, &told.granted_sm_count, NULL);
    }
    const struct fulcrum_r2d2_options r2d2 = {
        .shape = fulcrum_r2d2_atari(options->action_count),
        .max_batch = options->max_batch,
        .train_batch = options->train_batch,
        .train_unroll = options->train_unroll,
        .train_burn_in = options->train_burn_in,
        .seed = options->seed};
    const struct fulcrum_mlp_options mlp = {.input_count = options->input_count,
        .takes_bytes = options->takes_bytes,
        .hidden_count = MLP_HIDDEN_COUNT,
        .action_count = options->action_count,
        .max_batch = options->max_batch,
        .train_batch = options->train_batch,
        .seed = options->seed};
    enum fulcrum_status status = options->network == FULCRUM_NETWORK_R2D2
                                     ? fulcrum_r2d2_new(out, &compute, &r2d2, err)
                                     : fulcrum_mlp_new(out, &compute, &mlp, err);
    if (status != FULCRUM_OK) {
        device->close(compute.state);
        return status;
    }
    const struct fulcrum_network_places places = fulcrum_network_places_of(*out);
    *info = (struct fulcrum_learner_info){
        .input_byte = places.input_byte, .cost = places.cost, .device = told};
    return FULCRUM_OK;
}

static enum fulcrum_status cpu_open(const struct fulcrum_learner_options *options,
    struct fulcrum_learner_state **out, struct fulcrum_learner_info *info,
    struct fulcrum_error *err)
{
    FAIL_IF(!FULCRUM_HAVE_OPENBLAS, err, FULCRUM_ERR_UNSUPPORTED,
        "this build has no OpenBLAS: install libopenblas-dev and configure with "
        "-DFULCRUM_OPENBLAS=ON");
    return fulcrum_learner_open_on(&fulcrum_device_host, options, out, info, err);
}

/*
 * Results and operands too small for their exponent are taken for zero, where the
 * processor can (bits 15 and 6 of the control register of SSE and AVX): they would be
 * many times slower than others.
 */
static enum fulcrum_status cpu_train(
    struct fulcrum_learner_state *state, double *loss, struct fulcrum_error *err)
{
#if defined(__SSE2__)
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040U);
#endif
    enum fulcrum_status status = fulcrum_network_train(state, loss, err);
#if defined(__SSE2__)
    _mm_setcsr(before);
#endif
    return status;
}

/* What all learners have alike. */
#define ALIKE                                                                          \
    .close = learner_close, .input = fulcrum_network_input,                            \
    .forward = fulcrum_network_infer, .train_rows = fulcrum_network_rows,              \
    .take_rows = fulcrum_network_load_rows,                                            \
    .read_weights = fulcrum_network_read_weights,                                      \
    .write_weights = fulcrum_network_write_weights

const struct fulcrum_learner fulcrum_learner_cpu = {
    .name = "cpu",
    .summary = "OpenBLAS on one CPU thread, float32",
    .open = cpu_open,
    .train = cpu_train,
    .clock = FULCRUM_CLOCK_CPU,
    ALIKE,
};

#define ON_DEVICE(symbol, told_summary)                                                \
    static enum fulcrum_status symbol##_open(                                          \
        const struct fulcrum_learner_options *options,                                 \
        struct fulcrum_learner_state **out, struct fulcrum_learner_info *info,         \
        struct fulcrum_error *err)                                                     \
    {                                                                                  \
        return fulcrum_learner_open_on(                                                \
            &fulcrum_device_##symbol, options, out, info, err);                        \
    }                                                                                  \
    const struct fulcrum_learner fulcrum_learner_##symbol = {                          \
        .name = #symbol,                                                               \
        .summary = (told_summary),                                                     \
        .open = symbol##_open,                                                         \
        .train = fulcrum_network_train,                                                \
        .clock = FULCRUM_CLOCK_WALL,                                                   \
        .grant = fulcrum_network_grant,                                                \
        .device = &fulcrum_device_##symbol,                                            \
        ALIKE,                                                                         \
    };

ON_DEVICE(cuda, "an NVIDIA GPU, cuBLAS where it is, float32")
ON_DEVICE(opencl, "an OpenCL 1.2 device, own kernels, float32")

const struct fulcrum_learner *const *fulcrum_learners(void)
{
    static const struct fulcrum_learner *const learners[] = {
        &fulcrum_learner_cpu,
        &fulcrum_learner_cuda,
        &fulcrum_learner_opencl,
        &fulcrum_learner_torch,
        &fulcrum_learner_endpoint,
        NULL,
    };
    return learners;
}

const struct fulcrum_learner *fulcrum_learner_find(const char *name)
{
    const struct fulcrum_learner *const *learner = fulcrum_learners();
    while (*learner != NULL && strcmp((*learner)->name, name) != 0) {
        learner++;
    }
    return *learner;
}
