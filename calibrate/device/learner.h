/* learner.h - real networks that infer actions and train. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_DEVICE_LEARNER_H
#define FULCRUM_CALIBRATE_DEVICE_LEARNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calibrate/network/network_cost.h"
#include "calibrate/stopwatch.h"
#include "model/status.h"

/* What a compute device tells of itself. */
struct fulcrum_device_info {
    char name[96];
    char uuid[48];           /* "GPU-...", as NVML prints it; "" where it is not told */
    char detail[200];        /* driver, libraries and their versions: provenance */
    const char *warning;     /* why it is slower than it could be; static, or NULL */
    bool is_gpu;             /* 0: its kernels run on the host's own cores */
    bool is_wide;            /* 1: wants thousands of items, side by side in memory */
    double sm_count;         /* of the whole device */
    double granted_sm_count; /* in force */
    double least_sm_count;   /* smallest share that can be granted */
    double sm_step;          /* shares are multiples of it */
    double clock_hz;         /* NAN where it is not told */
    double memory_byte;
    double memory_byte_per_s; /* at most, as it is built; 0: not told */
};

enum fulcrum_learner_network {
    FULCRUM_NETWORK_R2D2, /* 84x84x4 uint8; 3 convolutions, dense 512, LSTM 512,
                             duelling heads: 12.0 million multiply-adds per observation
                           */
    FULCRUM_NETWORK_MLP   /* vector; 3 hidden layers of 256, policy and value */
};

struct fulcrum_learner_state; /* opaque: weights, buffers, optimiser */

/* A server of language models. Its key is taken from OPENAI_API_KEY. */
struct fulcrum_endpoint_options {
    const char *url;     /* http://HOST:PORT/v1; NULL: not given */
    const char *model;   /* NULL: the first that it lists */
    double stream_count; /* most at once; 0: 64 */
    double gpu_count;    /* behind it; 0: 1 */
    double stall_s;      /* without a token, after which it has failed; 0: 60 */
};

/* What an endpoint's streams told beside their times. */
struct fulcrum_token_facts {
    double median_rel; /* median time between chunks over the mean: a cross check */
    double at_once;    /* fewer than were asked for, where others waited; else 0 */
    bool is_counted;   /* tokens by the server; otherwise each chunk is one */
};

/*
 * Bounds that keep buffers near 3 GB: R2D2 at most 16384 replay steps, train_batch x
 * (train_burn_in + train_unroll + 1); MLP at most 2^27 floats of observations.
 */
struct fulcrum_learner_options {
    enum fulcrum_learner_network network;
    size_t max_batch;    /* largest inference batch, 1..4096 */
    size_t input_count;  /* MLP: length of the observation, 1..65536; R2D2: ignored */
    bool takes_bytes;    /* MLP: of bytes, which become floats in [0, 1]; else floats */
    size_t action_count; /* 1..1024 */
    size_t train_batch;  /* R2D2: sequences, 1..1024; MLP: samples, 1..65536 */
    size_t train_unroll; /* R2D2: steps of a sequence to train on, 1..1024 */
    size_t train_burn_in; /* R2D2: steps before them, forward only, 0..1024 */
    uint64_t seed;        /* weights and training data */
    size_t device_index;  /* which device, where a learner has several */
    double sm_count;      /* SMs (compute units) to run on; 0: what is usual there */
    /* Of the learner `torch` alone. */
    const char *make;   /* module: MODULE:FACTORY or a ready one; NULL: the network */
    const char *python; /* NULL: python3 */
    /* Of the learner `endpoint` alone; the first is borrowed until open returns. */
    const struct fulcrum_endpoint_options *endpoint;
    const struct fulcrum_listener *listener; /* may end streams early; NULL: nobody */
    /* A state of the same learner that outlives this one, whose process it shares. */
    struct fulcrum_learner_state *sibling;
};

struct fulcrum_learner_info {
    size_t input_byte; /* of one observation; 0: it makes its own */
    struct fulcrum_network_cost cost;
    /* Of this machine's cores, unless they are reached as a device, `detail` alone:
     * libraries and their versions, kernels, threads. */
    struct fulcrum_device_info device;
    char model[96]; /* of an endpoint; "": one of the networks here */
};

/*
 * What training steps are made on, in the host's memory. Step t of sequence i is row
 * t * batch_count + i. Rewards (R2D2), advantages and targets of values (MLP) are not
 * among it: they stay the learner's own random ones.
 */
struct fulcrum_train_rows {
    size_t batch_count; /* sequences (R2D2) or samples (MLP) */
    size_t step_count;  /* observations of one: R2D2: burn-in, unroll and one; MLP: 1 */
    unsigned char *observation; /* rows of input_byte */
    /*
     * R2D2: the action in [0, action_count) before each observation and, one step more
     * than there are observations, the one after the last; MLP: NULL.
     */
    int *index;
    /* MLP: the action after each observation, action_count floats; R2D2: NULL. */
    float *action;
    size_t action_count;
    /* MLP: of that action under the policy that chose it, a logarithm; R2D2: NULL. */
    float *log_probability;
};

struct fulcrum_device;

/*
 * Whether the networks can be of these sizes.
 *   fails    FULCRUM_ERR_RANGE
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_learner_options_check(
    const struct fulcrum_learner_options *options, struct fulcrum_error *err);

/*
 * A learner on any compute device, of which the records of `cuda` and `opencl` have the
 * other functions. A device that is no GPU runs on one compute unit unless the options
 * say more: like the learner on the CPU it is one core's server, which is what the
 * model's learner cores are.
 *   fails    as struct fulcrum_learner's open
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_learner_open_on(
    const struct fulcrum_device *device, const struct fulcrum_learner_options *options,
    struct fulcrum_learner_state **out, struct fulcrum_learner_info *info,
    struct fulcrum_error *err);

/* One way to run the networks. */
struct fulcrum_learner {
    const char *name;
    const char *summary;
    /*
     *   out      set on success only; given back with `close`
     *   fails    FULCRUM_ERR_UNSUPPORTED, FULCRUM_ERR_RANGE, FULCRUM_ERR_NO_MEMORY
     */
    enum fulcrum_status (*open)(const struct fulcrum_learner_options *options,
        struct fulcrum_learner_state **out, struct fulcrum_learner_info *info,
        struct fulcrum_error *err);
    void (*close)(struct fulcrum_learner_state *state);
    /*
     * The input buffer of the inference batch: max_batch observations of input_byte
     * bytes, one after the other. Borrowed; actors copy their observations into it.
     */
    void *(*input)(struct fulcrum_learner_state *state);
    /*
     * Infers `batch` observations (1..max_batch) on the calling thread and returns when
     * it is done.
     * `action` gets one index in [0, action_count) per observation: the best value
     * (R2D2, whose slots keep a recurrent state each) or the largest mean (MLP).
     *   fails    FULCRUM_ERR_UNSUPPORTED: the device failed; close is all that is left
     */
    enum fulcrum_status (*forward)(struct fulcrum_learner_state *state, size_t batch,
        int *action, struct fulcrum_error *err);
    /*
     * One training step: forward, backward and Adam; returns when it is done. Without
     * take_rows its rows are random and the same in each step: equal work, not
     * learning.
     *   loss     set on success only
     *   fails    as forward
     */
    enum fulcrum_status (*train)(
        struct fulcrum_learner_state *state, double *loss, struct fulcrum_error *err);
    /*
     * Where the work is done in another process and timed there: `repeats` forward
     * passes of `batch` observations, or of training steps where it is 0. One state of
     * a process at a time; states may share one, and train_rows, take_rows,
     * read_weights, write_weights and grant are NULL. NULL: the caller takes the time.
     *   fails    FULCRUM_ERR_ENVIRONMENT: close is all that is left; an endpoint's, too:
     *            FULCRUM_ERR_INFEASIBLE (not so many streams at once),
     *            FULCRUM_ERR_INTERRUPTED (the listener says so)
     */
    enum fulcrum_status (*time)(struct fulcrum_learner_state *state, size_t batch,
        size_t repeats, struct fulcrum_span *out, struct fulcrum_error *err);
    /*
     * Beside `time`: seconds of a forward pass in which rows and answers are copied
     * between host and device, and bytes that the process, or its GPU, has needed.
     *   fails    as time
     */
    enum fulcrum_status (*usage)(struct fulcrum_learner_state *state, size_t batch,
        double *copy_s, double *memory_byte, struct fulcrum_error *err);
    /* Of an endpoint, which has open, close and time alone: an observation is a stream,
     * a pass a token of each. NULL: a network that infers and trains. */
    void (*tell)(
        const struct fulcrum_learner_state *state, struct fulcrum_token_facts *out);
    /*
     * Where to write what is to be trained on: all of it, then take_rows. A learner on
     * a device takes the host's memory for it with the first call.
     *   out      borrowed, as long as the state
     */
    enum fulcrum_status (*train_rows)(struct fulcrum_learner_state *state,
        struct fulcrum_train_rows *out, struct fulcrum_error *err);
    /*
     * Training steps from now on are made on those rows as they are now, which a device
     * is sent.
     *   fails    as forward
     */
    enum fulcrum_status (*take_rows)(
        struct fulcrum_learner_state *state, struct fulcrum_error *err);
    /*
     * Copies the weights to and from parameter_count floats, which every learner lays
     * out alike: so weights that one state trained infer in another. Moments of the
     * optimiser and R2D2's target network stay.
     *   fails    as forward
     */
    enum fulcrum_status (*read_weights)(
        struct fulcrum_learner_state *state, float *out, struct fulcrum_error *err);
    enum fulcrum_status (*write_weights)(struct fulcrum_learner_state *state,
        const float *weights, struct fulcrum_error *err);
    /*
     * On which clock forward and train are to be timed: CPU where the calling thread
     * does the work, wall where a device does.
     */
    enum fulcrum_clock clock;
    /*
     * Runs what follows on about `sm_count` SMs (0: all); weights and states stay.
     * NULL where the learner has no such choice.
     *   granted  SMs really in force: what a measurement is to report
     *   fails    FULCRUM_ERR_UNSUPPORTED (this device cannot be divided),
     *            FULCRUM_ERR_RANGE; the shares in force stay as they were
     */
    enum fulcrum_status (*grant)(struct fulcrum_learner_state *state, double sm_count,
        double *granted, struct fulcrum_error *err);
    /* What it runs on, for those who measure that alone; NULL: the calling thread. */
    const struct fulcrum_device *device;
};

/* NULL-terminated, in the order of `fulcrum list learners`. Static. */
const struct fulcrum_learner *const *fulcrum_learners(void);

/* NULL if there is none of that name. */
const struct fulcrum_learner *fulcrum_learner_find(const char *name);

/* Names as on the command line ("r2d2", "mlp"); NULL beyond the last one. */
const char *fulcrum_learner_network_name(enum fulcrum_learner_network network);

/*
 * Puts all products of the process on the calling thread alone, GSL's too: with more,
 * sums are rounded otherwise. Nothing to do in a build without OpenBLAS.
 */
void fulcrum_products_use_one_thread(void);

/* Refuses to open where the build has no OpenBLAS. */
extern const struct fulcrum_learner fulcrum_learner_cpu;

/* Refuses to open where the build has no OpenCL, or the machine no driver of it. */
extern const struct fulcrum_learner fulcrum_learner_opencl;

/* Refuses to open where there is no driver of NVIDIA's or no GPU behind it. */
extern const struct fulcrum_learner fulcrum_learner_cuda;

/* Refuses to open where the interpreter has no PyTorch. */
extern const struct fulcrum_learner fulcrum_learner_torch;

/* Refuses to open where the build has no libcurl. */
extern const struct fulcrum_learner fulcrum_learner_endpoint;

#define FULCRUM_ENDPOINT_SUMMARY                                                       \
    "tokens of a server that speaks OpenAI's protocol (--url; calibrate alone)"

#endif
