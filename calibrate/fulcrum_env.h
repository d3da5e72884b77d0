/* fulcrum_env.h - what a shared object offers that brings an environment of its own. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A plug-in needs this header alone, and C99 or C++:
 *
 *     cc -O2 -fPIC -shared -I"$(pkg-config --variable=includedir fulcrum)" \
 *         -o libmine.so mine.c
 *     fulcrum calibrate --actor plugin --plugin ./libmine.so
 *
 * It exports one function, fulcrum_env_plugin(), which returns a table. Each
 * environment lives in a process of its own, so that nothing that goes wrong in it
 * reaches the measurement; docs/environments.md has an example and says what is
 * measured.
 *
 * What a plug-in promises:
 *   - step, reset and destroy of one environment are called one after the other, by the
 *     thread that called create; work that it hands to threads of its own is over when
 *     the call returns (their CPU time counts as the step's);
 *   - it writes observation_count elements into the observation, no more, finite ones;
 *   - every call returns within the limit (8 s unless told otherwise);
 *   - it neither prints nor ends the process, and leaves signal handlers, file
 *     descriptors 0 to 3 and the working folder alone;
 *   - the same seed and actions give the same observations.
 * A plug-in that breaks one is reported by name with what it did, and not used further.
 */
#ifndef FULCRUM_CALIBRATE_FULCRUM_ENV_H
#define FULCRUM_CALIBRATE_FULCRUM_ENV_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Raised where a plug-in that was compiled before could no longer be used. Additions go
 * to the ends of the structs, whose size_byte says what the other side knows of: what
 * lies beyond it is neither read nor written.
 */
#define FULCRUM_ENV_ABI_VERSION 1

/* Elements of an observation. */
#define FULCRUM_ENV_FLOAT32 1
#define FULCRUM_ENV_UINT8   2

/* What step returns. Any other value counts as a failure. */
#define FULCRUM_ENV_ON  0 /* the episode goes on */
#define FULCRUM_ENV_END 1 /* it ended with this step; reset comes next */

/* Most bytes of an observation, and most actions. */
#define FULCRUM_ENV_OBSERVATION_BYTE_MAX 67108864
#define FULCRUM_ENV_ACTION_MAX           65536

/* Filled by `describe`; the program has set it to zeros and size_byte. */
struct fulcrum_env_description {
    uint32_t size_byte;        /* of this struct as the program knows it */
    uint32_t observation_kind; /* FULCRUM_ENV_FLOAT32 or FULCRUM_ENV_UINT8 */
    uint64_t observation_count;
    uint64_t action_count; /* floats in [-1, 1) that step reads; at least 1 */
    double frame_skip;     /* physics or video frames in a step; whole, 1 to 1000 */
    char name[64];         /* of the environment, with its version; UTF-8, ends in 0 */
};

struct fulcrum_env_api {
    uint32_t abi_version; /* FULCRUM_ENV_ABI_VERSION */
    uint32_t size_byte;   /* sizeof(struct fulcrum_env_api) */
    /*
     *   frame_skip   what the user asks for, 0: the plug-in's own. One that cannot be
     *                had is answered with another one in the description.
     * Returns 0; any other value means that there can be no environment.
     */
    int (*describe)(double frame_skip, struct fulcrum_env_description *out);
    /*
     * A new environment with a random stream of its own. Called once in a process,
     * after `describe`, with the frame skip that was described.
     *   why      room for `why_byte` bytes of text where there can be none
     * Returns what the calls below are given; NULL where there can be none.
     */
    void *(*create)(uint64_t seed, double frame_skip, char *why, size_t why_byte);
    /*
     * Begins an episode and writes its first observation, which is aligned to 64 bytes.
     * Comes before the first step, and after each step that returns FULCRUM_ENV_END.
     */
    void (*reset)(void *env, void *observation);
    /*
     * One step: reads action_count floats, writes one observation. What the floats mean
     * is the environment's to say: a force, or for n choices
     * (int)((action + 1) * 0.5 * n).
     */
    int (*step)(void *env, const float *action, void *observation);
    void (*destroy)(void *env);
};

/* The one function that a plug-in exports. The table is static. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const struct fulcrum_env_api *
fulcrum_env_plugin(void);

#ifdef __cplusplus
}
#endif

#endif
