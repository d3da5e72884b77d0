/* finding.h - short ways to put what a probe found into a calibration. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_PROBE_FINDING_H
#define FULCRUM_CALIBRATE_PROBE_FINDING_H

#include "calibrate/fit/fit.h"
#include "calibrate/probe/recording.h"
#include "model/design/calibration.h"
#include "model/status.h"

/*
 * Rows are added to `calibration` until one fails; then `status` and `err` keep that
 * failure and later calls do nothing, so that a report needs one check at its end.
 */
struct fulcrum_findings {
    struct fulcrum_calibration *calibration;
    enum fulcrum_status status;
    struct fulcrum_error *err;
};

/* Left out where the value is not finite. lo and hi: its 95 % interval. */
void fulcrum_findings_quantity(
    struct fulcrum_findings *findings, const struct fulcrum_quantity *quantity);

/* A value without an interval. */
void fulcrum_findings_value(struct fulcrum_findings *findings, const char *name,
    const char *unit, double value);

/* A median with its interval. */
void fulcrum_findings_summary(struct fulcrum_findings *findings, const char *name,
    const char *unit, const struct fulcrum_summary *summary);

/* Left out where the value is not finite; an unknown standard error becomes 0. */
void fulcrum_findings_parameter(
    struct fulcrum_findings *findings, const struct fulcrum_parameter *parameter);

/* Every sample of a recording, the disturbed ones too; nothing where there is none. */
void fulcrum_findings_series(
    struct fulcrum_findings *findings, const struct fulcrum_recording *recording);

/* `format` as printf. */
void fulcrum_findings_note(struct fulcrum_findings *findings, const char *key,
    const char *format, ...) FULCRUM_PRINTF(3, 4);

/* Errors and warnings of a fit. */
void fulcrum_findings_fit(struct fulcrum_findings *findings, const char *name,
    const char *form, const struct fulcrum_fit_result *fit);

/* 95 % interval over the logarithm: both ends stay above 0. */
struct fulcrum_quantity fulcrum_quantity_log(
    const char *name, const char *unit, double value, double standard_error);

#endif
