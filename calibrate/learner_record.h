/* learner_record.h - the records that learner.c lists. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_LEARNER_RECORD_H
#define FULCRUM_CALIBRATE_LEARNER_RECORD_H

#include "calibrate/learner.h"

#define FULCRUM_LEARNER_CPU_SUMMARY "OpenBLAS on one CPU thread, float32"

/* Only its `open` is set where the build has no OpenBLAS. */
extern const struct fulcrum_learner fulcrum_learner_cpu;

/*
 * Checks what every learner bounds alike.
 *   fails    FULCRUM_ERR_RANGE
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_learner_options_check(
    const struct fulcrum_learner_options *options, struct fulcrum_error *err);

#endif
