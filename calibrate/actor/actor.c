/* actor.c - the table of actors. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/actor/actor.h"

#include <math.h>
#include <string.h>

#include "model/try.h"

/* Most frames that one agent step may take. */
#define FULCRUM_FRAME_SKIP_MAX 1000.0

const struct fulcrum_actor *const *fulcrum_actors(void)
{
    static const struct fulcrum_actor *const actors[] = {
        &fulcrum_actor_cartpole,
        &fulcrum_actor_mujoco_ant,
        &fulcrum_actor_mujoco_humanoid,
        &fulcrum_actor_libretro,
        &fulcrum_actor_plugin,
        &fulcrum_actor_gym,
        &fulcrum_actor_sandbox,
#define ENTRY(symbol, name, summary) &fulcrum_actor_##symbol,
        FULCRUM_VECTORS(ENTRY) FULCRUM_FRAMEWORKS(ENTRY)
#undef ENTRY
            NULL,
    };
    return actors;
}

const struct fulcrum_actor *fulcrum_actor_find(const char *name)
{
    const struct fulcrum_actor *const *actor = fulcrum_actors();
    while (*actor != NULL && strcmp((*actor)->name, name) != 0) {
        actor++;
    }
    return *actor;
}

enum fulcrum_status fulcrum_actor_frame_skip(double *out,
    const struct fulcrum_actor_options *options, double standard,
    struct fulcrum_error *err)
{
    double wanted = options != NULL ? options->frame_skip : 0.0;
    if (wanted == 0.0) {
        *out = standard;
        return FULCRUM_OK;
    }
    FAIL_IF(
        !(wanted >= 1.0 && wanted <= FULCRUM_FRAME_SKIP_MAX) || wanted != floor(wanted),
        err, FULCRUM_ERR_RANGE, "frame_skip = %g is not a whole number in [1, %g]",
        wanted, FULCRUM_FRAME_SKIP_MAX);
    *out = wanted;
    return FULCRUM_OK;
}
