/* learner_options.c - the options that choose a network and what runs it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/learner_options.h"

#include <math.h>
#include <stddef.h>

#include "calibrate/learner.h"
#include "cli/actor_options.h"
#include "presets/preset.h"

static const char *learner_name(int index)
{
    const struct fulcrum_learner *const *learners = fulcrum_learners();
    for (int i = 0; i < index && *learners != NULL; i++) {
        learners++;
    }
    return *learners != NULL ? (*learners)->name : NULL;
}

static const char *network_name(int index)
{
    return fulcrum_learner_network_name((enum fulcrum_learner_network)index);
}

#define SETTING(member) offsetof(struct fulcrum_learner_settings, member)

const struct fulcrum_option fulcrum_learner_option_rows[] = {
    {.name = "learner",
        .kind = FULCRUM_OPTION_TEXT,
        .offset = SETTING(learner),
        .value = "NAME",
        .fallback = "cpu",
        .choice = learner_name,
        .help = "what runs the network"},
    {.name = "device",
        .kind = FULCRUM_OPTION_COUNT,
        .offset = SETTING(device),
        .value = "INDEX",
        .fallback = "0",
        .least = 0.0,
        .most = 1024.0,
        .help = "which of the learner's devices; one too many lists them"},
    {.name = "sms",
        .kind = FULCRUM_OPTION_COUNT,
        .offset = SETTING(sms),
        .value = "COUNT",
        .least = 1.0,
        .most = 65536.0,
        .help = "SMs or compute units that it runs on; without it a whole GPU, or one "
                "core of a CPU"},
    {.name = "network",
        .kind = FULCRUM_OPTION_CHOICE,
        .offset = SETTING(network),
        .value = "NAME",
        .fallback = "r2d2",
        .choice = network_name,
        .help = "network that infers actions and trains"},
    {.name = "workload",
        .letter = 'w',
        .kind = FULCRUM_OPTION_FILE,
        .offset = SETTING(workload),
        .value = "NAME",
        .help = "workload whose training is meant: sequences or samples of a step, "
                "their length and burn-in, steps between two of them"},
    {.name = NULL},
};

/* A learner on the calling thread has no device to choose, nor a part of one. */
static enum fulcrum_status check_device(const struct fulcrum_learner_settings *settings,
    struct fulcrum_context *context, struct fulcrum_error *err)
{
    int chooses_sms = !isnan(settings->sms);
    const struct fulcrum_learner *learner = fulcrum_learner_find(settings->learner);
    if (learner == NULL || learner->device != NULL ||
        (!chooses_sms && !(settings->device > 0.0))) {
        return FULCRUM_OK;
    }
    return fulcrum_usage_fail(context, err, FULCRUM_ERR_UNSUPPORTED,
        "%s %.6g: learner %s runs on one thread of the processor and has no devices",
        chooses_sms ? "--sms" : "--device",
        chooses_sms ? settings->sms : settings->device, settings->learner);
}

enum fulcrum_status fulcrum_learner_settings_read(
    const struct fulcrum_learner_settings *settings, struct fulcrum_context *context,
    struct fulcrum_design *out, struct fulcrum_error *err)
{
    fulcrum_design_init(out);
    enum fulcrum_status status =
        fulcrum_name_check(settings->learner, "learner", learner_name, context, err);
    if (status == FULCRUM_OK) {
        status = check_device(settings, context, err);
    }
    return status == FULCRUM_OK && settings->workload != NULL
               ? fulcrum_workload_load(settings->workload, out, NULL, err)
               : status;
}
