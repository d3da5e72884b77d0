/* power.h - watts of a machine that runs a design. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_PREDICT_POWER_H
#define FULCRUM_MODEL_PREDICT_POWER_H

#include "model/design/design.h"
#include "model/network/network.h"
#include "model/predict/to_network.h"

/* Watts are those of all machines together. */
struct fulcrum_power {
    double sm_active_frac; /* U_eff of (12); NAN without a GPU */
    double gpu_w;          /* of the GPUs used, together; NAN without one */
    double cpu_w;
    double system_w; /* behind the plug, everything installed; NAN where a part is
                        unknown */
};

/* (12): watts of one GPU of which `used_frac` of the SMs are used, `sm_active_frac` of
 * them active. */
double fulcrum_gpu_power(
    const struct fulcrum_gpu *gpu, double sm_active_frac, double used_frac);

/* Docs/model.md "Power", (12)-(13). `replicas` and `solution` are the design's own. */
struct fulcrum_power fulcrum_power_of(const struct fulcrum_design *design,
    const struct fulcrum_replicas *replicas, const struct fulcrum_solution *solution);

#endif
