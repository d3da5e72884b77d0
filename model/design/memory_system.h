/* memory_system.h - a GPU's memory: what fits, and what another system would do. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_DESIGN_MEMORY_SYSTEM_H
#define FULCRUM_MODEL_DESIGN_MEMORY_SYSTEM_H

#include "model/design/design.h"

/* What has to lie in a GPU's memory at once, and whether it fits. */

/*
 * A memory of unknown size holds anything, and a CPU learner has none of its own.
 *   fails    FULCRUM_ERR_INFEASIBLE: the detail names every part
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_gpu_memory_check(
    const struct fulcrum_design *design, double batch_size, struct fulcrum_error *err);

/* What a last-level cache and memory bandwidth do to GPU time. */

/* How much of its data a workload fetches from DRAM, by the size of the cache. */
struct fulcrum_cache_law {
    double exponent;         /* a >= 0: what a cache can save falls as its size^-a */
    double compulsory_frac;  /* of the traffic at the reference cache: none saves it */
    double working_set_byte; /* all that is used again; NAN: larger than any cache */
};

/* The one of a workload's network. */
struct fulcrum_cache_law fulcrum_cache_law_of(
    const struct fulcrum_workload_network *network);

/*
 * DRAM traffic behind a cache of `target_byte` over that behind the reference's
 * (docs/model.md "Memory system", (18)). 1 where either size is not known (NAN). A
 * cache that holds the working set leaves the compulsory part alone.
 */
double fulcrum_dram_traffic_rel(
    const struct fulcrum_cache_law *law, double reference_byte, double target_byte);

/* The compulsory share of what traffic there is behind the target's cache. */
double fulcrum_dram_compulsory_frac(
    const struct fulcrum_cache_law *law, double reference_byte, double target_byte);

/*
 * A change of the memory system whose gain is known. It fixes one combination of share
 * and exponent: every pair on a curve meets it.
 */
struct fulcrum_memory_change {
    double gain_frac;       /* 0.31: 1.31 times as fast */
    double cache_rel;       /* new cache over old */
    double bandwidth_rel;   /* new bandwidth over old */
    double compulsory_frac; /* as in struct fulcrum_cache_law */
};

/*
 * Whether some share and exponent meet the change.
 *   fails    FULCRUM_ERR_RANGE (gain, bandwidth not above 0, a cache not above 1 times
 *            the old one, a compulsory share outside [0, 1]), FULCRUM_ERR_INFEASIBLE (a
 *            gain that even work bound by DRAM alone does not reach)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_memory_change_check(
    const struct fulcrum_memory_change *change, struct fulcrum_error *err);

/* The share that goes with an exponent; NAN where none up to 1 does. */
double fulcrum_memory_dram_frac(
    const struct fulcrum_memory_change *change, double exponent);

/* The gain of a change at a share and an exponent; its own gain_frac is not read. */
double fulcrum_memory_gain_frac(
    const struct fulcrum_memory_change *change, double dram_frac, double exponent);

#endif
