/* learner.c - the table of learners. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/device/learner.h"

#include <stddef.h>
#include <string.h>

const struct fulcrum_learner *const *fulcrum_learners(void)
{
    static const struct fulcrum_learner *const learners[] = {
        &fulcrum_learner_cpu,
        &fulcrum_learner_cuda,
        &fulcrum_learner_opencl,
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

const char *fulcrum_learner_network_name(enum fulcrum_learner_network network)
{
    static const char *const names[] = {
        [FULCRUM_NETWORK_R2D2] = "r2d2", [FULCRUM_NETWORK_MLP] = "mlp"};
    size_t i = (size_t)network;
    return i < sizeof names / sizeof names[0] ? names[i] : NULL;
}
