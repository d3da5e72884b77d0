/* predict_memory.h - references of kind memory_gain: caches and bandwidth. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_REFERENCE_PREDICT_MEMORY_H
#define FULCRUM_CALIBRATE_REFERENCE_PREDICT_MEMORY_H

#include "calibrate/reference/comparison.h"
#include "model/design/reference.h"
#include "model/status.h"

/* References of kind sm_scaling: every other number of SMs predicted. */

/*
 * Per series, GPU time over SMs by (6) is fitted to the first, third, ... number of SMs
 * and predicts the work per second at all; docs/model.md "Work on a part of the SMs".
 * The baseline "bounds" is in proportion to SMs from the first fitted point.
 *
 *   reference  points set "run.sm_count" and observe a rate: a quantity with "_per_" in
 *              its name; the machine gives gpu.sm_count. The workload's shares of GPU
 *              time, or their fallbacks, are where the fit starts.
 *   out        set on success only: every rate, in the unit of the reference; the
 *              caller clears it
 *   fails      FULCRUM_ERR_MISSING (SMs, a rate, gpu.sm_count), FULCRUM_ERR_RANGE,
 *              FULCRUM_ERR_NO_FIT (a series of fewer than three numbers of SMs, which
 *              holds nothing out, or no convergence), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_sm(
    const struct fulcrum_reference *reference, struct fulcrum_comparison *out,
    struct fulcrum_error *err);

/* References of kind hybrid_gain: parameters that meet a gain. */

/*
 * One number per network fixes one product of three unknown ratios (16c): nothing is
 * left to predict. Each gain is met with the SU_2 midway between the least that can
 * meet it, the gain itself, and the most there is, 2, and with the batch that (16d)
 * gives for it; every point is marked as fitted. The baseline "bounds" is the most that
 * any parameters give while links do not help: SU_2 = 2 beyond every critical batch.
 *
 *   reference  points observe "least_gain_frac" of hybrid training with workers of two
 *              devices over data-parallel training on as many
 *   out        set on success only; the caller clears it
 *   fails      FULCRUM_ERR_MISSING, FULCRUM_ERR_RANGE (a gain that no parameters meet),
 *              FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_hybrid(
    const struct fulcrum_reference *reference, struct fulcrum_comparison *out,
    struct fulcrum_error *err);

/* References of kind gpu_time: shares from ideal components. */

/*
 * What is gone of the kernels' time on the reference's GPU where one component is
 * ideal, the workload's shares being those of that GPU (docs/model.md "Memory system").
 * The shares go in and come out again, by way of designs: a check of the way, and
 * marked as fitted, never a prediction.
 *
 *   reference  points set "component", a text with one of the names of
 * model/whatif/ablation.h as a word, and observe gpu_time_frac; the machine is a GPU
 * that gives sm_count, flop_per_sm_cycle and dram_byte_per_s
 *   out        set on success only; the caller clears it
 *   fails      FULCRUM_ERR_MISSING (a component, a share, a figure of the GPU),
 *              FULCRUM_ERR_RANGE, FULCRUM_ERR_UNSUPPORTED (no component of a GPU's
 *              kernels), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_gpu_time(
    const struct fulcrum_reference *reference, struct fulcrum_comparison *out,
    struct fulcrum_error *err);

/*
 * The first gain of a series fixes the family of DRAM-bound shares and exponents
 * (docs/model.md "Memory system", (18)) and is marked as fitted: that it is met is an
 * identity. Every member of the family gives the same for further points of the series
 * at the same change: other gains as the first one, and fewer GPUs for the same work
 * where rates add up. At another change members differ; predicted is the one with an
 * exponent of 0.5, and the interval is that of exponents from 0.3 to 0.7.
 *
 *   reference  points that set cache_rel and bandwidth_rel and observe a quantity that
 *              ends in _gain_frac, or fewer_gpus_frac; others describe the GPUs and are
 *              left out
 *   out        set on success only; the caller clears it
 *   fails      FULCRUM_ERR_MISSING (no gain at all), FULCRUM_ERR_RANGE,
 *              FULCRUM_ERR_INFEASIBLE (a gain that nothing meets),
 *              FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_memory(
    const struct fulcrum_reference *reference, struct fulcrum_comparison *out,
    struct fulcrum_error *err);

#endif
