/* actor_options.c - the options that choose what the actors step. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/actor_options.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "model/try.h"

static const char *actor_name(int index)
{
    /* One step at a time: the end of the table is not known beforehand. */
    const struct fulcrum_actor *const *actors = fulcrum_actors();
    for (int i = 0; i < index && *actors != NULL; i++) {
        actors++;
    }
    return *actors != NULL ? (*actors)->name : NULL;
}

/* An option that one actor alone takes. */
struct belonging {
    const char *option;
    const char *value;
    const char *actor;
    int is_needed;
};

static enum fulcrum_status check_belonging(const struct belonging *belonging,
    const char *actor, struct fulcrum_context *context, struct fulcrum_error *err)
{
    int is_its = actor != NULL && strcmp(actor, belonging->actor) == 0;
    if (belonging->value != NULL && !is_its) {
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_UNSUPPORTED,
            "--%s is for --actor %s", belonging->option, belonging->actor);
    }
    if (belonging->value == NULL && is_its && belonging->is_needed) {
        return fulcrum_usage_fail(context, err, FULCRUM_ERR_MISSING,
            "--actor %s needs --%s", actor, belonging->option);
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_actor_settings_check(
    const struct fulcrum_actor_settings *settings, struct fulcrum_context *context,
    struct fulcrum_error *err)
{
    const struct belonging belongings[] = {
        {"core", settings->core, "libretro", 0},
        {"rom", settings->rom, "libretro", 0},
        {"plugin", settings->plugin, "plugin", 1},
        {"env", settings->env_id, "gym", 1},
        {"python", settings->python, "gym", 0},
    };
    TRY(fulcrum_name_check(settings->actor, "actor", actor_name, context, err));
    for (size_t i = 0; i < sizeof belongings / sizeof belongings[0]; i++) {
        TRY(check_belonging(&belongings[i], settings->actor, context, err));
    }
    return FULCRUM_OK;
}

struct fulcrum_actor_options fulcrum_actor_settings_options(
    const struct fulcrum_actor_settings *settings)
{
    return (struct fulcrum_actor_options){
        .frame_skip = isnan(settings->frame_skip) ? 0.0 : settings->frame_skip,
        .core = settings->core,
        .rom = settings->rom,
        .plugin = settings->plugin,
        .env_id = settings->env_id,
        .python = settings->python,
        .limit_s = isnan(settings->limit_s) ? 0.0 : settings->limit_s,
    };
}

#define SETTING(member) offsetof(struct fulcrum_actor_settings, member)

const struct fulcrum_option fulcrum_actor_option_rows[] = {
    {.name = "actor",
        .kind = FULCRUM_OPTION_TEXT,
        .offset = SETTING(actor),
        .value = "NAME",
        .choice = actor_name,
        .help = "environment that the actors step; without it the first that is "
                "available of mujoco-humanoid, libretro and cartpole"},
    {.name = "core",
        .kind = FULCRUM_OPTION_FILE,
        .offset = SETTING(core),
        .value = "CORE",
        .help = "libretro: name or path of an emulator core (gambatte)"},
    {.name = "rom",
        .kind = FULCRUM_OPTION_FILE,
        .offset = SETTING(rom),
        .value = "FILE",
        .help = "libretro: game; without it a small one that is built in"},
    {.name = "plugin",
        .kind = FULCRUM_OPTION_FILE,
        .offset = SETTING(plugin),
        .value = "FILE",
        .help = "plugin: shared object with an environment of one's own"},
    {.name = "env",
        .kind = FULCRUM_OPTION_TEXT,
        .offset = SETTING(env_id),
        .value = "ID",
        .help = "gym: environment of Gymnasium, as ALE/Pong-v5"},
    {.name = "python",
        .kind = FULCRUM_OPTION_FILE,
        .offset = SETTING(python),
        .value = "PROGRAM",
        .help = "gym: interpreter that has Gymnasium (python3)"},
    {.name = "env-limit",
        .kind = FULCRUM_OPTION_NUMBER,
        .offset = SETTING(limit_s),
        .value = "SECONDS",
        .unit = "s",
        .least = FULCRUM_ACTOR_LIMIT_MIN_S,
        .most = FULCRUM_ACTOR_LIMIT_MAX_S,
        .help = "plugin, gym: longest start, step or reset (8)"},
    {.name = "frame-skip",
        .kind = FULCRUM_OPTION_COUNT,
        .offset = SETTING(frame_skip),
        .value = "N",
        .unit = "frames",
        .least = 1.0,
        .most = 1000.0,
        .help = "frames in a step; without it the actor's own"},
    {.name = NULL},
};
