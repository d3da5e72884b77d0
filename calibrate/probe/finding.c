/* finding.c - short ways to put what a probe found into a calibration. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/probe/probe.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NORMAL_95 1.96

void fulcrum_findings_quantity(
    struct fulcrum_findings *findings, const struct fulcrum_quantity *quantity)
{
    if (findings->status != FULCRUM_OK || !isfinite(quantity->value)) {
        return;
    }
    findings->status = fulcrum_calibration_add_quantity(
        findings->calibration, quantity, findings->err);
}

static struct fulcrum_quantity quantity_of(
    const char *name, const char *unit, double value)
{
    struct fulcrum_quantity quantity = {.value = value, .lo = value, .hi = value};
    (void)snprintf(quantity.name, sizeof quantity.name, "%s", name);
    (void)snprintf(quantity.unit, sizeof quantity.unit, "%s", unit);
    return quantity;
}

void fulcrum_findings_value(
    struct fulcrum_findings *findings, const char *name, const char *unit, double value)
{
    struct fulcrum_quantity quantity = quantity_of(name, unit, value);
    fulcrum_findings_quantity(findings, &quantity);
}

void fulcrum_findings_summary(struct fulcrum_findings *findings, const char *name,
    const char *unit, const struct fulcrum_summary *summary)
{
    struct fulcrum_quantity quantity = quantity_of(name, unit, summary->median);
    quantity.lo = summary->lo;
    quantity.hi = summary->hi;
    fulcrum_findings_quantity(findings, &quantity);
}

struct fulcrum_quantity fulcrum_quantity_log(
    const char *name, const char *unit, double value, double standard_error)
{
    struct fulcrum_quantity quantity = quantity_of(name, unit, value);
    if (value > 0.0 && isfinite(standard_error)) {
        double factor = exp(NORMAL_95 * standard_error / value);
        quantity.lo = value / factor;
        quantity.hi = value * factor;
    }
    return quantity;
}

void fulcrum_findings_parameter(
    struct fulcrum_findings *findings, const struct fulcrum_parameter *parameter)
{
    if (findings->status != FULCRUM_OK || !isfinite(parameter->value)) {
        return;
    }
    struct fulcrum_parameter row = *parameter;
    if (!isfinite(row.standard_error)) {
        row.standard_error = 0.0;
    }
    findings->status =
        fulcrum_calibration_add_parameter(findings->calibration, &row, findings->err);
}

void fulcrum_findings_series(
    struct fulcrum_findings *findings, const struct fulcrum_recording *recording)
{
    if (findings->status == FULCRUM_OK) {
        findings->status =
            fulcrum_recording_report(recording, findings->calibration, findings->err);
    }
}

void fulcrum_findings_note(
    struct fulcrum_findings *findings, const char *key, const char *format, ...)
{
    char text[sizeof((struct fulcrum_note *)NULL)->text];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (findings->status == FULCRUM_OK) {
        findings->status = fulcrum_calibration_add_note(
            findings->calibration, key, text, findings->err);
    }
}

/* Every warning of the fit, with "; " between two. */
static void join_warnings(unsigned warnings, char *text, size_t size)
{
    text[0] = '\0';
    for (unsigned flag = 1; flag < FULCRUM_FIT_WARNING_END; flag *= 2) {
        const char *words = fulcrum_fit_warning_text(warnings & flag);
        size_t used = strlen(text);
        if (words != NULL && used + 1 < size) {
            (void)snprintf(
                text + used, size - used, "%s%s", used > 0 ? "; " : "", words);
        }
    }
}

void fulcrum_findings_fit(struct fulcrum_findings *findings, const char *name,
    const char *form, const struct fulcrum_fit_result *fit)
{
    const struct fulcrum_fit_residuals *residuals = &fit->residuals;
    struct fulcrum_fit_report report = {
        .point_count = residuals->count,
        .mape_frac = residuals->mape,
        .smape_frac = residuals->smape,
        .max_frac = residuals->max_abs_rel,
        .bias_frac = residuals->bias_rel,
    };
    (void)snprintf(report.name, sizeof report.name, "%s", name);
    (void)snprintf(report.form, sizeof report.form, "%s", form);
    join_warnings(fit->warnings, report.warning, sizeof report.warning);
    if (findings->status == FULCRUM_OK) {
        findings->status =
            fulcrum_calibration_add_fit(findings->calibration, &report, findings->err);
    }
}
