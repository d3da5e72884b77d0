/* finding.c - what every probe does alike: its samples, and putting findings into a
 * calibration.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/probe/probe.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/try.h"

#define NORMAL_95 1.96

/* Left out where the value is not finite. */
static void add_quantity(
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
    add_quantity(findings, &quantity);
}

struct fulcrum_summary fulcrum_findings_median(struct fulcrum_findings *findings,
    const struct fulcrum_recording *recording, double x)
{
    struct fulcrum_summary summary = {.used = 0};
    if (findings->status == FULCRUM_OK) {
        findings->status =
            fulcrum_recording_summary(recording, x, &summary, findings->err);
    }
    return findings->status == FULCRUM_OK ? summary
                                          : (struct fulcrum_summary){.used = 0};
}

struct fulcrum_medians fulcrum_findings_medians(struct fulcrum_findings *findings,
    const struct fulcrum_recording *recording, const double *x, size_t count)
{
    struct fulcrum_medians out = {.count = 0};
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_summary summary =
            fulcrum_findings_median(findings, recording, x[i]);
        if (summary.used > 0 && summary.typical > 0.0) {
            out.x[out.count] = x[i];
            out.value[out.count++] = summary.typical;
        }
    }
    return out;
}

void fulcrum_findings_summary(struct fulcrum_findings *findings, const char *name,
    const char *unit, const struct fulcrum_summary *summary)
{
    struct fulcrum_quantity quantity = quantity_of(name, unit, summary->typical);
    quantity.lo = summary->lo;
    quantity.hi = summary->hi;
    if (summary->used > 0) {
        add_quantity(findings, &quantity);
    }
}

void fulcrum_findings_log(struct fulcrum_findings *findings, const char *name,
    double value_s, double standard_error)
{
    struct fulcrum_quantity quantity = quantity_of(name, "s", value_s);
    if (value_s > 0.0 && isfinite(standard_error)) {
        double factor = exp(NORMAL_95 * standard_error / value_s);
        quantity.lo = value_s / factor;
        quantity.hi = value_s * factor;
    }
    add_quantity(findings, &quantity);
}

void fulcrum_findings_parameter(struct fulcrum_findings *findings, const char *path,
    const struct fulcrum_parameter *parameter, const char *format, ...)
{
    if (findings->status != FULCRUM_OK || !isfinite(parameter->value)) {
        return;
    }
    struct fulcrum_parameter row = *parameter;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(row.source, sizeof row.source, format, args);
    va_end(args);
    (void)snprintf(row.path, sizeof row.path, "%s", path);
    row.standard_error = isfinite(row.standard_error) ? row.standard_error : 0.0;
    if (row.scale == FULCRUM_SCALE_LOG && row.standard_error > row.value) {
        row.scale = FULCRUM_SCALE_LINEAR;
    }
    findings->status =
        fulcrum_calibration_add_parameter(findings->calibration, &row, findings->err);
}

void fulcrum_findings_covariance(struct fulcrum_findings *findings, const char *path,
    const char *other, double covariance)
{
    const struct fulcrum_calibration *calibration = findings->calibration;
    if (findings->status == FULCRUM_OK &&
        fulcrum_calibration_parameter(calibration, path) != NULL &&
        fulcrum_calibration_parameter(calibration, other) != NULL) {
        findings->status = fulcrum_calibration_set_covariance(
            findings->calibration, path, other, covariance, findings->err);
    }
}

bool fulcrum_findings_fitted(struct fulcrum_findings *findings,
    enum fulcrum_status status, const struct fulcrum_error *why, const char *key,
    const char *prefix)
{
    if (status == FULCRUM_ERR_NO_FIT) {
        fulcrum_findings_note(findings, key, "%s%s", prefix, why->detail);
    } else if (status != FULCRUM_OK && findings->status == FULCRUM_OK) {
        findings->status = fulcrum_fail(findings->err, status, "%s", why->detail);
    }
    return status == FULCRUM_OK && findings->status == FULCRUM_OK;
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
    /* Every warning of the fit, with "; " between two. */
    size_t size = sizeof report.warning;
    report.warning[0] = '\0';
    for (unsigned flag = 1; flag < FULCRUM_FIT_WARNING_END; flag *= 2) {
        const char *words = fulcrum_fit_warning_text(fit->warnings & flag);
        size_t used = strlen(report.warning);
        if (words != NULL && used + 1 < size) {
            (void)snprintf(report.warning + used, size - used, "%s%s",
                used > 0 ? "; " : "", words);
        }
    }
    if (findings->status == FULCRUM_OK) {
        findings->status =
            fulcrum_calibration_add_fit(findings->calibration, &report, findings->err);
    }
}

/* Every sample, the disturbed ones too, or every k-th; nothing where there is none. */
static enum fulcrum_status add_series(const struct fulcrum_recording *recording,
    size_t most, struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    size_t stride = most > 0 ? recording->count / most + 1 : 1;
    size_t count = (recording->count + stride - 1) / stride;
    if (count == 0) {
        return FULCRUM_OK;
    }
    double *rows = calloc(4 * count, sizeof *rows);
    TRY_MEMORY(rows, err, "series %s", recording->header.name);
    struct fulcrum_series series = recording->header;
    series.count = count;
    series.x = rows;
    series.value = rows + count;
    series.canary_rel = rows + 2 * count;
    series.disturbed = rows + 3 * count;
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_sample *sample = &recording->samples[i * stride];
        series.x[i] = sample->x;
        series.value[i] = sample->value;
        series.canary_rel[i] =
            sample->canary_s > 0.0
                ? fulcrum_canary_rel(recording->canary, sample->canary_s)
                : 1.0;
        series.disturbed[i] = fulcrum_recording_disturbed(recording, i * stride);
    }
    enum fulcrum_status status =
        fulcrum_calibration_add_series(calibration, &series, err);
    free(rows);
    return status;
}

static size_t count_headers(const struct fulcrum_probe *probe)
{
    size_t count = 0;
    while (count < FULCRUM_PROBE_RECORDINGS && probe->headers[count].name != NULL) {
        count++;
    }
    return count;
}

enum fulcrum_status fulcrum_probe_open(const struct fulcrum_probe *probe,
    struct fulcrum_probe_state *out, struct fulcrum_bench *bench,
    struct fulcrum_error *err)
{
    *out = (struct fulcrum_probe_state){
        .bench = bench, .own = calloc(1, probe->own_byte + 1)};
    TRY_MEMORY(out->own, err, "a probe");
    for (size_t i = 0; i < count_headers(probe); i++) {
        const struct fulcrum_recording_header *header = &probe->headers[i];
        fulcrum_recording_init(
            &out->recording[i], header, header->is_busy ? &bench->busy : &bench->alone);
    }
    return probe->open != NULL ? probe->open(out, err) : FULCRUM_OK;
}

void fulcrum_probe_close(
    const struct fulcrum_probe *probe, struct fulcrum_probe_state *state)
{
    if (probe->close != NULL && state->own != NULL) {
        probe->close(state);
    }
    for (size_t i = 0; i < FULCRUM_PROBE_RECORDINGS; i++) {
        fulcrum_recording_free(&state->recording[i]);
    }
    free(state->own);
    *state = (struct fulcrum_probe_state){.own = NULL};
}

enum fulcrum_status fulcrum_probe_report(const struct fulcrum_probe *probe,
    struct fulcrum_probe_state *state, struct fulcrum_calibration *calibration,
    struct fulcrum_error *err)
{
    struct fulcrum_findings findings = {calibration, FULCRUM_OK, err};
    probe->report(state, &findings);
    TRY(findings.status);
    for (size_t i = 0; i < count_headers(probe); i++) {
        const struct fulcrum_recording_header *header = &probe->headers[i];
        if (!header->is_inside) {
            TRY(add_series(
                &state->recording[i], header->most_in_file, calibration, err));
        }
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_sample_begin(
    struct fulcrum_probe_state *state, size_t which, struct fulcrum_error *err)
{
    return fulcrum_canary_open(
        state->recording[which].canary, &state->bench->stopwatch, err);
}

enum fulcrum_status fulcrum_sample_end(struct fulcrum_probe_state *state, size_t which,
    enum fulcrum_clock clock, struct fulcrum_sample *sample, struct fulcrum_error *err)
{
    return fulcrum_canary_close(state->recording[which].canary, &sample->canary_s,
        clock, &state->bench->stopwatch, err);
}

enum fulcrum_status fulcrum_sample_keep(struct fulcrum_probe_state *state, size_t which,
    enum fulcrum_clock clock, struct fulcrum_sample *sample, struct fulcrum_error *err)
{
    TRY(fulcrum_sample_end(state, which, clock, sample, err));
    return fulcrum_recording_add(&state->recording[which], sample, err);
}
