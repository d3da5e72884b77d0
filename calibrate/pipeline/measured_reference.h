/* measured_reference.h - what was measured end to end, beside what is predicted of it.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PIPELINE_MEASURED_REFERENCE_H
#define FULCRUM_CALIBRATE_PIPELINE_MEASURED_REFERENCE_H

#include "calibrate/pipeline/measure.h"
#include "model/design/calibration.h"
#include "model/design/reference.h"

struct fulcrum_measured_plan {
    const struct fulcrum_measurement *measurement;
    const struct fulcrum_calibration *calibration; /* NULL: nothing is predicted */
    const char *calibration_name;      /* as the file names it; NULL: none */
    const struct fulcrum_design *base; /* what a calibration does not tell: priors of
                                          the machine, the workload's policy */
    const struct fulcrum_measure_training *training;
    const char *name; /* of the reference */
};

/* The end of a disturbed series' name. */
#define FULCRUM_MEASURED_DISTURBED " disturbed"

/*
 * A reference of throughput with one point for each configuration that has windows, in
 * their order. Series name batching and environments per actor; disturbed points are a
 * series of their own. Where training of another size than the calibration's is
 * measured, its time by the calibration's line over operations is set at every point;
 * so is the work of actors whose environments live in processes of their own, with the
 * calibration's hand-over of each step.
 *   out      the caller frees it with fulcrum_reference_free
 *   fails    FULCRUM_ERR_NO_MEMORY, FULCRUM_ERR_MISSING (nothing was measured; a
 *            calibration without a line for training of this size, or of other
 *            frames a step)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_measured_reference(
    const struct fulcrum_measured_plan *plan, struct fulcrum_reference **out,
    struct fulcrum_error *err);

/* "greedy K=4", "fixed share 0.5 K=1", "fixed 32 K=1". */
void fulcrum_measured_series(
    const struct fulcrum_measure_config *config, char *out, size_t size);

#endif
