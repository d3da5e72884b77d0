/* memory_system.c - what a last-level cache and memory bandwidth do to GPU time. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Misses fall as a power of the cache's size, with exponents from 0.3 to 0.7 (Hartstein
 * et al. 2006, "Cache miss behavior: is it sqrt(2)?"), down to what has to be fetched
 * once whatever the cache. A cache that holds all that is used again is the end of the
 * law: what was still a power there vanishes at once, as it does where work goes
 * through its data in a circle.
 */
#include "model/design/memory_system.h"

#include <math.h>
#include <stdbool.h>

#include "model/try.h"

struct fulcrum_cache_law fulcrum_cache_law_of(
    const struct fulcrum_workload_network *network)
{
    return (struct fulcrum_cache_law){.exponent = network->cache_exponent,
        .compulsory_frac = network->compulsory_frac,
        .working_set_byte = network->working_set_byte};
}

/* Comparisons with NAN are false: no cache holds a working set that is not known. */
static bool holds(const struct fulcrum_cache_law *law, double cache_byte)
{
    return cache_byte >= law->working_set_byte;
}

/* Traffic along the power law; `cache_rel` is the new cache over the old. */
static double power_traffic(double compulsory_frac, double exponent, double cache_rel)
{
    return compulsory_frac + (1.0 - compulsory_frac) * pow(cache_rel, -exponent);
}

double fulcrum_dram_traffic_rel(
    const struct fulcrum_cache_law *law, double reference_byte, double target_byte)
{
    if (isnan(reference_byte) || isnan(target_byte)) {
        return 1.0;
    }
    if (holds(law, reference_byte)) {
        /* All of the reference's traffic is compulsory: the law begins where the
         * working set does not fit any more. */
        return holds(law, target_byte)
                   ? 1.0
                   : pow(target_byte / law->working_set_byte, -law->exponent);
    }
    if (holds(law, target_byte)) {
        return law->compulsory_frac;
    }
    return power_traffic(
        law->compulsory_frac, law->exponent, target_byte / reference_byte);
}

double fulcrum_dram_compulsory_frac(
    const struct fulcrum_cache_law *law, double reference_byte, double target_byte)
{
    double traffic = fulcrum_dram_traffic_rel(law, reference_byte, target_byte);
    double compulsory = holds(law, reference_byte) ? 1.0 : law->compulsory_frac;
    return traffic > compulsory ? compulsory / traffic : 1.0;
}

double fulcrum_memory_time_rel(
    double dram_frac, double traffic_rel, double bandwidth_rel)
{
    return 1.0 - dram_frac + dram_frac * traffic_rel / bandwidth_rel;
}

/* Time that the change saves, as a share of all. */
static double saved_frac(const struct fulcrum_memory_change *change)
{
    return change->gain_frac / (1.0 + change->gain_frac);
}

/* Of DRAM's own time, what is saved with a given traffic. */
static double saved_of_dram(const struct fulcrum_memory_change *change, double traffic)
{
    return 1.0 - traffic / change->bandwidth_rel;
}

static enum fulcrum_status check_ranges(
    const struct fulcrum_memory_change *change, struct fulcrum_error *err)
{
    FAIL_IF(!(change->gain_frac > 0.0) || isinf(change->gain_frac), err,
        FULCRUM_ERR_RANGE, "a gain of %.6g: expected a number above 0",
        change->gain_frac);
    FAIL_IF(!(change->cache_rel > 1.0) || isinf(change->cache_rel), err,
        FULCRUM_ERR_RANGE,
        "%.6g times the cache: expected a number above 1, or nothing tells shares and "
        "exponents apart",
        change->cache_rel);
    FAIL_IF(!(change->bandwidth_rel > 0.0) || isinf(change->bandwidth_rel), err,
        FULCRUM_ERR_RANGE, "%.6g times the bandwidth: expected a number above 0",
        change->bandwidth_rel);
    FAIL_IF(!(change->compulsory_frac >= 0.0 && change->compulsory_frac <= 1.0), err,
        FULCRUM_ERR_RANGE, "a compulsory share of %.6g: expected a number from 0 to 1",
        change->compulsory_frac);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_memory_change_check(
    const struct fulcrum_memory_change *change, struct fulcrum_error *err)
{
    TRY(check_ranges(change, err));
    double most = saved_of_dram(change, change->compulsory_frac);
    FAIL_IF(saved_frac(change) > most, err, FULCRUM_ERR_INFEASIBLE,
        "a gain of %.6g is out of reach: %.6g times the cache and %.6g times the "
        "bandwidth save at most %.3g of the time even where all of it is bound by "
        "DRAM, and %.3g would have to be saved",
        change->gain_frac, change->cache_rel, change->bandwidth_rel, fmax(0.0, most),
        saved_frac(change));
    return FULCRUM_OK;
}

double fulcrum_memory_dram_frac(
    const struct fulcrum_memory_change *change, double exponent)
{
    double saved = saved_of_dram(
        change, power_traffic(change->compulsory_frac, exponent, change->cache_rel));
    return saved >= saved_frac(change) ? saved_frac(change) / saved : (double)NAN;
}

double fulcrum_memory_gain_frac(
    const struct fulcrum_memory_change *change, double dram_frac, double exponent)
{
    double traffic =
        power_traffic(change->compulsory_frac, exponent, change->cache_rel);
    double time = fulcrum_memory_time_rel(dram_frac, traffic, change->bandwidth_rel);
    return 1.0 / time - 1.0;
}
