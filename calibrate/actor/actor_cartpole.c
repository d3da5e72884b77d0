/* actor_cartpole.c - the cart-pole task, the cheapest environment there is. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/actor/actor.h"
#include "calibrate/statistics.h"
#include "model/try.h"

/*
 * Barto, Sutton and Anderson: Neuronlike adaptive elements that can solve difficult
 * learning control problems (1983), with the limits and the episode length that
 * reinforcement-learning suites use today.
 */
#define GRAVITY_M_PER_S2   9.8
#define CART_KG            1.0
#define POLE_KG            0.1
#define POLE_HALF_LENGTH_M 0.5
#define FORCE_N            10.0
#define FRAME_S            0.02
#define CART_LIMIT_M       2.4
#define POLE_LIMIT_RAD     (12.0 * 3.14159265358979323846 / 180.0)
#define EPISODE_STEP_COUNT 500
#define START_LIMIT        0.05

struct fulcrum_actor_shared {
    int frame_skip;
};

struct fulcrum_env {
    double cart_m;
    double cart_m_per_s;
    double pole_rad;
    double pole_rad_per_s;
    int frame_skip;
    int step_count;
    struct fulcrum_random random;
};

static enum fulcrum_status cartpole_open(const struct fulcrum_actor_options *options,
    struct fulcrum_actor_shared **out, struct fulcrum_actor_info *info,
    struct fulcrum_error *err)
{
    double frame_skip = 0.0;
    TRY(fulcrum_actor_frame_skip(&frame_skip, options, 1.0, err));
    struct fulcrum_actor_shared *shared = calloc(1, sizeof *shared);
    TRY_MEMORY(shared, err, "cartpole");
    shared->frame_skip = (int)frame_skip;
    *info = (struct fulcrum_actor_info){
        .observation_kind = FULCRUM_OBSERVE_FLOAT32,
        .observation_count = 4,
        .action_count = 1,
        .frame_skip = frame_skip,
    };
    (void)snprintf(
        info->detail, sizeof info->detail, "built in; Euler steps of %g s", FRAME_S);
    *out = shared;
    return FULCRUM_OK;
}

static void cartpole_close(struct fulcrum_actor_shared *shared)
{
    free(shared);
}

static void observe(const struct fulcrum_env *env, void *observation)
{
    float *out = observation;
    out[0] = (float)env->cart_m;
    out[1] = (float)env->cart_m_per_s;
    out[2] = (float)env->pole_rad;
    out[3] = (float)env->pole_rad_per_s;
}

static enum fulcrum_step_result cartpole_reset(
    struct fulcrum_env *env, void *observation)
{
    env->cart_m = fulcrum_random_between(&env->random, -START_LIMIT, START_LIMIT);
    env->cart_m_per_s = fulcrum_random_between(&env->random, -START_LIMIT, START_LIMIT);
    env->pole_rad = fulcrum_random_between(&env->random, -START_LIMIT, START_LIMIT);
    env->pole_rad_per_s =
        fulcrum_random_between(&env->random, -START_LIMIT, START_LIMIT);
    env->step_count = 0;
    observe(env, observation);
    return FULCRUM_STEP_ON;
}

static enum fulcrum_status cartpole_env_new(struct fulcrum_actor_shared *shared,
    uint64_t seed, struct fulcrum_env **out, struct fulcrum_error *err)
{
    struct fulcrum_env *env = calloc(1, sizeof *env);
    TRY_MEMORY(env, err, "cartpole environment");
    env->frame_skip = shared->frame_skip;
    env->random = fulcrum_random_seeded(seed);
    float ignored[4];
    (void)cartpole_reset(env, ignored);
    *out = env;
    return FULCRUM_OK;
}

static void cartpole_env_free(struct fulcrum_env *env)
{
    free(env);
}

/* One action: its sign is the direction in which the cart is pushed. */
static enum fulcrum_step_result cartpole_step(
    struct fulcrum_env *env, const float *action, void *observation)
{
    /* No branch: on untrained actions half of the guesses would be wrong. */
    double force_n = copysign(FORCE_N, (double)action[0]);
    for (int i = 0; i < env->frame_skip; i++) {
        /* Equations of motion without friction, one explicit Euler step. */
        double total_kg = CART_KG + POLE_KG;
        double pole_kg_m = POLE_KG * POLE_HALF_LENGTH_M;
        double cosine = cos(env->pole_rad);
        double sine = sin(env->pole_rad);
        double rate = env->pole_rad_per_s;
        double pushed = (force_n + pole_kg_m * rate * rate * sine) / total_kg;
        double pole_rad_per_s2 =
            (GRAVITY_M_PER_S2 * sine - cosine * pushed) /
            (POLE_HALF_LENGTH_M * (4.0 / 3.0 - POLE_KG * cosine * cosine / total_kg));
        double cart_m_per_s2 = pushed - pole_kg_m * pole_rad_per_s2 * cosine / total_kg;
        env->cart_m += FRAME_S * env->cart_m_per_s;
        env->cart_m_per_s += FRAME_S * cart_m_per_s2;
        env->pole_rad += FRAME_S * rate;
        env->pole_rad_per_s += FRAME_S * pole_rad_per_s2;
    }
    env->step_count++;
    observe(env, observation);
    int ended = fabs(env->cart_m) > CART_LIMIT_M ||
                fabs(env->pole_rad) > POLE_LIMIT_RAD ||
                env->step_count >= EPISODE_STEP_COUNT;
    return ended ? FULCRUM_STEP_END : FULCRUM_STEP_ON;
}

const struct fulcrum_actor fulcrum_actor_cartpole = {
    .name = "cartpole",
    .summary = "pole on a cart, 4 floats; no library needed",
    .open = cartpole_open,
    .close = cartpole_close,
    .env_new = cartpole_env_new,
    .env_free = cartpole_env_free,
    .step = cartpole_step,
    .reset = cartpole_reset,
};
