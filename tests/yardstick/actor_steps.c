/* actor_steps.c - our actors in the same loop as the programs *_alone. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/actor/actor.h"
#include "tests/yardstick/yardstick.h"

#define ACTION_MAX 64

struct bench {
    const struct fulcrum_actor *actor;
    struct fulcrum_actor_shared *shared;
    struct fulcrum_actor_info info;
    struct fulcrum_env *env;
    float *observation;
    uint64_t noise;
};

static void step(void *state)
{
    struct bench *bench = state;
    float action[ACTION_MAX];
    for (size_t i = 0; i < bench->info.action_count; i++) {
        action[i] = (float)yardstick_noise(&bench->noise);
    }
    if (bench->actor->step(bench->env, action, bench->observation)) {
        bench->actor->reset(bench->env, bench->observation);
    }
}

/* actor_steps name [steps of a block] [blocks] [core] [ROM] */
int main(int argc, char **argv)
{
    struct bench bench = {.noise = 1};
    bench.actor = argc > 1 ? fulcrum_actor_find(argv[1]) : NULL;
    if (bench.actor == NULL) {
        (void)fprintf(
            stderr, "usage: actor_steps name [steps] [blocks] [core] [rom]\n");
        return 2;
    }
    struct fulcrum_actor_options options = {
        .core = argc > 4 ? argv[4] : NULL, .rom = argc > 5 ? argv[5] : NULL};
    struct fulcrum_error err = {FULCRUM_OK, ""};
    if (bench.actor->open(&options, &bench.shared, &bench.info, &err) != FULCRUM_OK ||
        bench.actor->env_new(bench.shared, 1, &bench.env, &err) != FULCRUM_OK) {
        (void)fprintf(stderr, "%s\n", err.detail);
        return 1;
    }
    bench.observation = calloc(bench.info.observation_count, sizeof(float));
    int failed = bench.observation == NULL;
    if (!failed) {
        size_t block = (size_t)yardstick_number(argc, argv, 2, 1.0);
        size_t count = (size_t)yardstick_number(argc, argv, 3, 2000.0);
        bench.actor->reset(bench.env, bench.observation);
        failed = yardstick_run(bench.actor->name, step, &bench, count, block);
    }
    free(bench.observation);
    bench.actor->env_free(bench.env);
    bench.actor->close(bench.shared);
    return failed;
}
