/* actor_options.c - the options that choose what the actors step. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options/options.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "calibrate/device/learner.h"
#include "model/try.h"

/* Names are asked for from the first on, to the NULL behind the last. */
static const char *actor_name(int index)
{
    const struct fulcrum_actor *actor = fulcrum_actors()[index];
    return actor != NULL ? actor->name : NULL;
}

/* Their names, each after a space. */
#define WORD(symbol, name, summary) " " name
#define FRAMEWORKS                  FULCRUM_FRAMEWORKS(WORD)
#define LOOPS                       FULCRUM_VECTORS(WORD) FRAMEWORKS

/* Whether `name` is one of the words in `names`. */
static bool is_among(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(names, name); at != NULL; at = strstr(at + 1, name)) {
        if ((at == names || at[-1] == ' ') &&
            (at[length] == '\0' || at[length] == ' ')) {
            return 1;
        }
    }
    return 0;
}

const char *fulcrum_actor_settings_name(const struct fulcrum_actor_settings *settings)
{
    return settings->framework != NULL ? settings->framework : settings->actor;
}

enum fulcrum_status fulcrum_actor_settings_check(
    const struct fulcrum_actor_settings *settings, const char *learner,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    const struct fulcrum_actor_options *given = &settings->options;
    /* Options that some actors and learners alone take, and actors that need them. */
    const struct {
        const char *option;
        const char *value;
        const char *actors;
        const char *needed_by;
        const char *learner;
    } belongings[] = {
        {"core", given->core, " libretro", "", NULL},
        {"rom", given->rom, " libretro", "", NULL},
        {"plugin", given->plugin, " plugin", "plugin", NULL},
        {"make", given->make, " vecenv" FRAMEWORKS, "vecenv cleanrl-ppo envpool-ppo",
            "torch"},
        {"env", given->env_id, " gym" LOOPS, given->make != NULL ? "gym" : "gym" LOOPS,
            NULL},
        {"python", given->python, " gym" LOOPS, "", "torch"},
        {"vector", given->vector, LOOPS, "", NULL},
        {"net", given->net, " sb3-ppo", "", NULL},
        {"args", given->arguments, LOOPS, "", NULL},
    };
    const char *actor = fulcrum_actor_settings_name(settings);
    TRY(fulcrum_name_check(settings->actor, "actor", actor_name, context, err));
    FULCRUM_USAGE_IF(settings->framework != NULL && settings->actor != NULL, context,
        err, FULCRUM_ERR_RANGE,
        "--framework %s and --actor %s: expected one of the two", settings->framework,
        settings->actor);
    FULCRUM_USAGE_IF(
        settings->framework != NULL && !is_among(FRAMEWORKS, settings->framework),
        context, err, FULCRUM_ERR_UNKNOWN_NAME,
        "there is no framework %s, expected one of" FRAMEWORKS, settings->framework);
    for (size_t i = 0; i < sizeof belongings / sizeof belongings[0]; i++) {
        const char *option = belongings[i].option;
        bool is_given = belongings[i].value != NULL;
        const char *by = belongings[i].learner;
        bool is_its = (actor != NULL && is_among(belongings[i].actors, actor)) ||
                      (by != NULL && strcmp(learner, by) == 0);
        FULCRUM_USAGE_IF(is_given && !is_its, context, err, FULCRUM_ERR_UNSUPPORTED,
            "--%s is for --actor%s%s%s", option, belongings[i].actors,
            by != NULL ? " or --learner " : "", by != NULL ? by : "");
        FULCRUM_USAGE_IF(
            !is_given && actor != NULL && is_among(belongings[i].needed_by, actor),
            context, err, FULCRUM_ERR_MISSING, "--actor %s needs --%s", actor, option);
    }
    return FULCRUM_OK;
}

struct fulcrum_actor_options fulcrum_actor_settings_options(
    const struct fulcrum_actor_settings *settings)
{
    struct fulcrum_actor_options options = settings->options;
    options.frame_skip = isnan(options.frame_skip) ? 0.0 : options.frame_skip;
    options.limit_s = isnan(options.limit_s) ? 0.0 : options.limit_s;
    return options;
}

#define SETTING(member) offsetof(struct fulcrum_actor_settings, member)

const struct fulcrum_option fulcrum_actor_option_rows[] = {
    FULCRUM_OPTION(TEXT, "actor", SETTING(actor), "NAME", .choice = actor_name,
        .help = "environment that the actors step; without it the first that is "
                "available of mujoco-humanoid, libretro and cartpole"),
    FULCRUM_OPTION(FILE, "core", SETTING(options.core), "CORE",
        .help = "libretro: name or path of an emulator core (gambatte)"),
    FULCRUM_OPTION(FILE, "rom", SETTING(options.rom), "FILE",
        .help = "libretro: game; without it a small one that is built in"),
    FULCRUM_OPTION(FILE, "plugin", SETTING(options.plugin), "FILE",
        .help = "plugin: shared object with your own environment"),
    FULCRUM_OPTION(TEXT, "framework", SETTING(framework), "NAME",
        .help = "training framework whose own loop runs:" FRAMEWORKS),
    FULCRUM_OPTION(TEXT, "env", SETTING(options.env_id), "ID",
        .help =
            "gym, vector environments, frameworks: environment, such as ALE/Pong-v5"),
    FULCRUM_OPTION(TEXT, "vector", SETTING(options.vector), "KIND",
        .help =
            "how environments are stepped: sync or async; sb3-ppo: dummy or subproc"),
    FULCRUM_OPTION(TEXT, "net", SETTING(options.net), "NAME",
        .help = "sb3-ppo: policy (MlpPolicy)"),
    FULCRUM_OPTION(TEXT, "make", SETTING(options.make), "MODULE:FUNCTION",
        .help = "your own function of the number of environments that returns a vector "
                "environment; FILE.py:FUNCTION too; learner torch: of the numbers of "
                "observations and actions, returns a module; mlp, cnn, r2d2"),
    FULCRUM_OPTION(TEXT, "args", SETTING(options.arguments), "KEY=VALUE,...",
        .help = "what the constructor of the framework, or of EnvPool, is given"),
    FULCRUM_OPTION(FILE, "python", SETTING(options.python), "PROGRAM",
        .help = "interpreter that has Gymnasium, the framework or PyTorch (python3)"),
    FULCRUM_OPTION(NUMBER, "env-limit", SETTING(options.limit_s), "SECONDS",
        .unit = "s", .least = FULCRUM_ACTOR_LIMIT_MIN_S,
        .most = FULCRUM_ACTOR_LIMIT_MAX_S,
        .help = "plugin, gym: longest start, step or reset (8; frameworks 60); "
                "sandbox: longest "
                "call (60)"),
    FULCRUM_OPTION(COUNT, "frame-skip", SETTING(options.frame_skip), "N",
        .unit = "frames", .least = 1.0, .most = 1000.0,
        .help = "frames per step; default: the actor's own"),
    {.name = NULL},
};

/* The options that choose a network and what runs it. */

static const char *learner_name(int index)
{
    const struct fulcrum_learner *learner = fulcrum_learners()[index];
    return learner != NULL ? learner->name : NULL;
}

static const char *network_name(int index)
{
    return fulcrum_learner_network_name((enum fulcrum_learner_network)index);
}

#define LEARNER_OPTIONS_SETTING(member)                                                \
    offsetof(struct fulcrum_learner_settings, member)

const struct fulcrum_option fulcrum_learner_option_rows[] = {
    FULCRUM_OPTION(TEXT, "learner", LEARNER_OPTIONS_SETTING(learner), "NAME",
        .fallback = "cpu", .choice = learner_name, .help = "what runs the network"),
    FULCRUM_OPTION(COUNT, "device", LEARNER_OPTIONS_SETTING(device), "INDEX",
        .fallback = "0", .least = 0.0, .most = 1024.0,
        .help = "index of the device; an invalid one, such as 99, lists the devices"),
    FULCRUM_OPTION(COUNT, "sms", LEARNER_OPTIONS_SETTING(sms), "COUNT", .least = 1.0,
        .most = 65536.0,
        .help = "SMs or compute units that it runs on; without it a whole GPU, or one "
                "core of a CPU"),
    FULCRUM_OPTION(CHOICE, "network", LEARNER_OPTIONS_SETTING(network), "NAME",
        .fallback = "r2d2", .choice = network_name,
        .help = "network that infers actions and trains"),
    FULCRUM_OPTION(FILE, "workload", LEARNER_OPTIONS_SETTING(workload), "NAME",
        .letter = 'w',
        .help = "workload to train as: batch size, sequence length, burn-in, "
                "environment steps per training step"),
    FULCRUM_OPTION(TEXT, "url", LEARNER_OPTIONS_SETTING(endpoint.url), "URL",
        .help = "endpoint: server of OpenAI's protocol, such as "
                "http://localhost:8000/v1; its key is read from OPENAI_API_KEY"),
    FULCRUM_OPTION(TEXT, "model", LEARNER_OPTIONS_SETTING(endpoint.model), "NAME",
        .help = "endpoint: model that decodes; default: the server's own choice"),
    FULCRUM_OPTION(COUNT, "streams", LEARNER_OPTIONS_SETTING(endpoint.stream_count),
        "MAX", .fallback = "64", .least = 1.0, .most = 256.0,
        .help = "endpoint: most streams at once; 1, 2, 4 and so on are timed"),
    FULCRUM_OPTION(COUNT, "gpus", LEARNER_OPTIONS_SETTING(endpoint.gpu_count), "COUNT",
        .fallback = "1", .least = 1.0, .most = 1e5,
        .help = "endpoint: GPUs of the server, which hold one copy of the model"),
    {.name = NULL},
};

enum fulcrum_status fulcrum_learner_settings_read(
    const struct fulcrum_learner_settings *settings, struct fulcrum_context *context,
    struct fulcrum_design *out, struct fulcrum_error *err)
{
    fulcrum_design_init(out);
    TRY(fulcrum_name_check(settings->learner, "learner", learner_name, context, err));
    bool is_endpoint = strcmp(settings->learner, "endpoint") == 0;
    bool has_its = settings->endpoint.url != NULL || settings->endpoint.model != NULL;
    FULCRUM_USAGE_IF(has_its && !is_endpoint, context, err, FULCRUM_ERR_UNSUPPORTED,
        "--url and --model are for --learner endpoint");
    FULCRUM_USAGE_IF(is_endpoint && settings->endpoint.url == NULL, context, err,
        FULCRUM_ERR_MISSING, "--learner endpoint needs --url");
    /* A learner on the calling thread has no device to choose, nor a part of one. */
    bool has_sms = !isnan(settings->sms);
    const struct fulcrum_learner *learner = fulcrum_learner_find(settings->learner);
    FULCRUM_USAGE_IF(learner != NULL && learner->device == NULL &&
                         (has_sms || settings->device > 0.0),
        context, err, FULCRUM_ERR_UNSUPPORTED, "%s %.6g: learner %s runs on %s",
        has_sms ? "--sms" : "--device", has_sms ? settings->sms : settings->device,
        settings->learner,
        is_endpoint             ? "a server"
        : learner->time != NULL ? "all that PyTorch finds"
                                : "one thread of the processor and has no devices");
    return settings->workload != NULL
               ? fulcrum_workload_load(settings->workload, out, NULL, err)
               : FULCRUM_OK;
}
