/* mountain_car.c - a car that is too weak for its hill, as a plug-in. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moore: Efficient memory-based learning for robot control (1990), continuous thrust.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/fulcrum_env.h"

#define EPISODE_STEP_COUNT 200
#define GOAL               0.45f

struct car {
    float place;
    float speed;
    int step_count;
    int frame_skip;
    uint64_t random;
};

/* xorshift: a stream of its own for each seed. */
static float random_between(struct car *car, float low, float high)
{
    car->random ^= car->random << 13;
    car->random ^= car->random >> 7;
    car->random ^= car->random << 17;
    return low + (high - low) * (float)(car->random >> 40) / 16777216.0f;
}

static void observe(const struct car *car, void *observation)
{
    float *out = observation;
    out[0] = car->place;
    out[1] = car->speed;
}

static int car_describe(double frame_skip, struct fulcrum_env_description *out)
{
    out->observation_kind = FULCRUM_ENV_FLOAT32;
    out->observation_count = 2;
    out->action_count = 1;
    out->frame_skip = frame_skip > 0.0 ? frame_skip : 1.0;
    (void)snprintf(out->name, sizeof out->name, "mountain car 1.0");
    return 0;
}

static void *car_create(uint64_t seed, double frame_skip, char *why, size_t why_byte)
{
    struct car *car = calloc(1, sizeof *car);
    if (car == NULL) {
        (void)snprintf(why, why_byte, "out of memory");
        return NULL;
    }
    car->random = seed * 2 + 1;
    car->frame_skip = (int)frame_skip;
    return car;
}

static void car_reset(void *env, void *observation)
{
    struct car *car = env;
    car->place = random_between(car, -0.6f, -0.4f);
    car->speed = 0.0f;
    car->step_count = 0;
    observe(car, observation);
}

static void advance(struct car *car, float thrust)
{
    car->speed += 0.0015f * thrust - 0.0025f * cosf(3.0f * car->place);
    car->speed = fmaxf(-0.07f, fminf(0.07f, car->speed));
    car->place = fmaxf(-1.2f, fminf(0.6f, car->place + car->speed));
    if (car->place <= -1.2f && car->speed < 0.0f) {
        car->speed = 0.0f;
    }
}

static int car_step(void *env, const float *action, void *observation)
{
    struct car *car = env;
    for (int i = 0; i < car->frame_skip; i++) {
        advance(car, action[0]);
    }
    car->step_count++;
    observe(car, observation);
    return car->place >= GOAL || car->step_count >= EPISODE_STEP_COUNT ? FULCRUM_ENV_END
                                                                       : FULCRUM_ENV_ON;
}

static void car_destroy(void *env)
{
    free(env);
}

const struct fulcrum_env_api *fulcrum_env_plugin(void)
{
    static const struct fulcrum_env_api api = {
        .abi_version = FULCRUM_ENV_ABI_VERSION,
        .size_byte = sizeof(struct fulcrum_env_api),
        .describe = car_describe,
        .create = car_create,
        .reset = car_reset,
        .step = car_step,
        .destroy = car_destroy,
    };
    return &api;
}
