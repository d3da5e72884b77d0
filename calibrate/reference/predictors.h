/* predictors.h - what predicts the points of each kind of reference. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_REFERENCE_PREDICTORS_H
#define FULCRUM_CALIBRATE_REFERENCE_PREDICTORS_H

#include <stdbool.h>
#include <stddef.h>

#include "calibrate/fit/fit.h"
#include "calibrate/fit/fit_forms.h"
#include "calibrate/reference/comparison.h"
#include "model/design/calibration.h"
#include "model/design/reference.h"
#include "model/predict/partition.h"
#include "model/status.h"

/* References of kind cpu_curve: every other worker count predicted. */

/*
 * Per series, the CPU curve is fitted to the first, third, ... worker count and
 * predicts all; docs/model.md "CPU curve". How workers are coupled follows from the
 * first of these words that the series' name contains:
 *   numa                    asynchronous, bound to their sockets
 *   async, Sample-Factory   asynchronous
 *   sync                    synchronous
 *   Subprocess, pipe        processes stepped through pipes
 *   For-loop                one thread without workers: left out
 *
 * The baselines "bounds" and "textbook" are both min(workers, threads) times the rate
 * of a worker in the first point.
 *
 *   reference  points set "workers" and have "steps_per_s" or "frames_per_s"; a
 *              machine whose sockets are not known has one
 *   out        set on success only: every observation but those left out, in the
 *              unit of the reference; the caller clears it
 *   fails      FULCRUM_ERR_MISSING (workers, a rate, cores, threads),
 *              FULCRUM_ERR_RANGE, FULCRUM_ERR_UNKNOWN_NAME (none of these words),
 *              FULCRUM_ERR_NO_FIT (fewer than three worker counts, or no
 *              convergence), FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_curve(
    const struct fulcrum_reference *reference, struct fulcrum_comparison *out,
    struct fulcrum_error *err);

/* What became of one series. */
struct fulcrum_curve_verdict {
    char series[64];
    bool is_left_out; /* then only `reason` says more */
    enum fulcrum_actor_coupling coupling;
    enum fulcrum_fit_advice advice; /* by the fitted points alone; table: no form is to
                                       be trusted with this curve */
    char reason[200];
    struct fulcrum_comparison_errors held_out; /* of the counts that were not fitted */
};

struct fulcrum_curve_verdicts {
    size_t count;
    struct fulcrum_curve_verdict *items; /* in the order of the reference */
};

/* As fulcrum_predict_curve, for the verdicts; the caller clears them. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_curve_verdicts_of(
    const struct fulcrum_reference *reference, struct fulcrum_curve_verdicts *out,
    struct fulcrum_error *err);

/* Accepts a struct of zeros. */
void fulcrum_curve_verdicts_clear(struct fulcrum_curve_verdicts *verdicts);

/* References of kind gpu_power and server_power: every other load predicted. */

/* References of kind server_prior: watts from a machine's priors. */

/*
 * Every point by (13), at the values of the reference's machine, nothing fitted:
 * docs/model.md "Power". The 90 % interval is that of the spreads of the machine
 * preset's priors; a machine that is no preset has none.
 *
 *   reference  its machine has no GPU and says what its parts draw (generic-server);
 *              points set "load_frac", the share of all threads that are busy, and
 *              have "server_w"; they may set fields of the machine, such as the
 *              counts of cores and threads
 *   out        set on success only; the caller clears it
 *   fails      FULCRUM_ERR_MISSING (a load, server_w, counts, watts of a part),
 *              FULCRUM_ERR_UNSUPPORTED (a machine with GPUs), FULCRUM_ERR_RANGE,
 *              FULCRUM_ERR_NO_MEMORY; as fulcrum_machine_load
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_watts(
    const struct fulcrum_reference *reference, struct fulcrum_comparison *out,
    struct fulcrum_error *err);

/*
 * Per curve, watts = idle + dynamic U^alpha are fitted to the first, third, ... load
 * and predict all; docs/model.md "Power". Points of one series whose settings in words
 * agree are one curve. Activity U is the setting "load_frac" or "gpu_util_frac" where
 * the points have one. Otherwise it is the observed "tokens_per_s" or "steps_per_s"
 * over the largest of the fitted points, at most 1; loads then are ordered by the first
 * number that is set, and the constant term is idle + floor, no less than the
 * machine's gpu.idle_w where that is known.
 * The baseline "bounds" of a GPU is the straight line from gpu.idle_w to gpu.tdp_w of
 * the machine, where both are known.
 *
 *   reference  observes "gpu_w" (gpu_power), or a quantity that ends in "_w"
 *   out        set on success only: every observation of watts; the caller clears it
 *   fails      FULCRUM_ERR_MISSING (a load, an activity, the watts),
 *              FULCRUM_ERR_RANGE, FULCRUM_ERR_NO_FIT (a curve of fewer than three
 *              loads, which holds nothing out, or no convergence),
 *              FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_power(
    const struct fulcrum_reference *reference, struct fulcrum_comparison *out,
    struct fulcrum_error *err);

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

/* References of kind memory_gain: caches and bandwidth. */

/*
 * The first gain of a series fixes the family of DRAM-bound shares and exponents
 * (docs/model.md "Memory system", (18)) and is left out: that it is met is an identity.
 * Every member of the family gives the same for further points of the series
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

/* References of kind node_scaling: every other number of machines predicted. */

/* What training on one machine becomes on many: both in units of its step there. */
struct fulcrum_node_scaling {
    double byte_rel;    /* V / (BW t_1): the gradients' time out of a machine */
    double latency_rel; /* alpha / t_1: one message */
};

/* What a curve counts: machines, or the GPUs of one. */
struct fulcrum_scaling_words {
    const char *setting;  /* "node_count" */
    const char *quantity; /* "speedup_over_one_node" */
    const char *plural;   /* "machines" */
};

/* By what the point sets: machines unless it sets "gpu_count". Static. */
const struct fulcrum_scaling_words *fulcrum_scaling_words_of(
    const struct fulcrum_reference_point *point);

/*
 * Per series, both are fitted, none below 0, to the speed-ups on the first, third, ...
 * number of machines or GPUs above one, and predict all; docs/model.md "Training on
 * many devices". The baseline "bounds" is as many times one machine.
 *
 *   reference  points set "node_count" and observe "speedup_over_one_node", or
 *              "gpu_count" and "speedup_over_one_gpu"
 *   out        set on success only; the caller clears it
 *   fails      FULCRUM_ERR_MISSING, FULCRUM_ERR_RANGE, FULCRUM_ERR_NO_FIT (a series of
 *              fewer than three numbers of machines above one, or no convergence),
 *              FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_nodes(
    const struct fulcrum_reference *reference, struct fulcrum_comparison *out,
    struct fulcrum_error *err);

/* References of kind gpu_parts: gains of processes on parts of a GPU. */

/* What a publication states of its stages: simulation s, agent a, training t. */
struct fulcrum_parts_inputs {
    double t_s_over_t_a; /* times alone on a GPU */
    double t_s_over_t_t;
    double r_s_over_r_a; /* SMs that they keep busy meanwhile */
    double r_s_over_r_t;
    double launch_overhead_frac;        /* of not being alone */
    double communication_overhead_frac; /* of training in several processes */
};

/*
 * One round of serving (simulation and agent) or of training, with simulation taking 1
 * second and `busy_frac` (0 to 1) of the SMs: docs/whatifs.md "Parts of a GPU".
 */
void fulcrum_parts_loop(const struct fulcrum_parts_inputs *inputs, double busy_frac,
    int trains, struct fulcrum_gpu_loop *out);

/*
 * The gain of `instances` whole loops with environments of their own on equal shares of
 * the SMs over one loop alone.
 */
double fulcrum_parts_gain(const struct fulcrum_parts_inputs *inputs, double busy_frac,
    int trains, double instances);

/* The share of the SMs that a loop alone keeps busy. */
double fulcrum_parts_utilisation(
    const struct fulcrum_parts_inputs *inputs, double busy_frac, int trains);

/*
 * One number is not published, the SMs that simulation keeps busy. It follows from the
 * mean gain of serving and the mean gain of its utilisation, which are met by identity
 * and left out; every largest gain is predicted, with as many instances as a GPU can be
 * cut into (7). The baseline "bounds" is the gain without overhead of any number of
 * instances.
 *
 *   reference  one point with the ratios, overheads and gains of gmidrl-scalars
 *   out        set on success only; the caller clears it
 *   fails      FULCRUM_ERR_MISSING (an input; that pair),
 *              FULCRUM_ERR_RANGE (they ask for more than all SMs),
 * FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_parts(
    const struct fulcrum_reference *reference, struct fulcrum_comparison *out,
    struct fulcrum_error *err);

/* References of throughput, predicted from calibrations. */

/*
 * Every figure by simulation at the calibration's values, with 90 % intervals from
 * draws of its errors and the baselines. Figures that the calibration was fitted to are
 * marked, as its notes say: `fitted_to` lists "REFERENCE" or "REFERENCE:SERIES",
 * `held_out` points that the fit did not see as "REFERENCE:INDEX" (in the file, from
 * 0), all separated by ", ".
 *   out      the caller clears it
 *   fails    FULCRUM_ERR_MISSING or FULCRUM_ERR_INFEASIBLE (a point cannot run: nothing
 *            gives a value that it needs), as fulcrum_throughput_new
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_predict_throughput(
    const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration, struct fulcrum_comparison *out,
    struct fulcrum_error *err);

#endif
