/* designs.h - designs and calibrations that several tests start from. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_DESIGNS_H
#define FULCRUM_TESTS_DESIGNS_H

#include "model/design/calibration.h"
#include "model/design/cluster.h"
#include "model/design/design.h"
#include "model/network/network.h"

/* Exponential steps of 1 s on plain threads, batches of `gpu_s` and `item_s` an item.
 */
struct fulcrum_network plain_network(
    double actors, double threads, double gpu_s, double item_s);

/* Of a network that is accepted. */
struct fulcrum_solution simulated(
    const struct fulcrum_network *network, uint64_t seed, double half_width_rel);
/* Of no more than so many steps. */
struct fulcrum_solution simulated_within(const struct fulcrum_network *network,
    uint64_t seed, double half_width_rel, double max_steps);

/* One V100 beside 20 cores with 40 threads; R2D2-like times, greedy, no training. */
struct fulcrum_design gpu_design(void);

/* 8 cores without SMT, one of them the learner's; MLP-like times, greedy. */
struct fulcrum_design cpu_design(void);

/* Sets fields as --set does: "run.gpu_count=2 workload.step.cv=0.5". */
void designs_set(struct fulcrum_design *design, const char *settings);

/* The design with these settings fails with that status and a message that has `part`:
 * in its check or, where that passes, as a network. */
void designs_assert_refused(const struct fulcrum_design *design, const char *settings,
    enum fulcrum_status status, const char *part);

/* A parameter at the end; asserts that it can be added. */
void designs_add_parameter(struct fulcrum_calibration *calibration, const char *path,
    double value, double standard_error, enum fulcrum_scale scale);
/* The same on the logarithmic scale. */
void designs_add_log(struct fulcrum_calibration *calibration, const char *path,
    double value, double standard_error);

/* Of the design's machine, with that one parameter; the caller frees it. */
struct fulcrum_calibration *designs_calibration(const struct fulcrum_design *design,
    const char *path, double value, double standard_error);

/* The first of `device_count` (rising) at which hybrid training with workers of
 * `model_parallel_count` devices is done sooner than data-parallel training; counts
 * that cannot be laid out so are passed over. NAN: none. */
double designs_crossover(const struct fulcrum_cluster *cluster, double most_per_node,
    double model_parallel_count, const double *device_count, size_t count);

#endif
