/* recording.c - one growing series of samples, and what its undisturbed part says. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples are never thrown away: whether one was disturbed can only be told when the
 * usual time of the canary beside it is known, and a reader of the file may think
 * otherwise. Summaries are medians with distribution-free intervals (order statistics
 * of the binomial), over the undisturbed samples if these are enough. A machine that is
 * never quiet still gets an answer, from all samples, and says so.
 */
#include "calibrate/recording.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "calibrate/statistics.h"
#include "model/try.h"

/* Half width of a 95 % interval of a normal law, in standard deviations. */
#define NORMAL_95 1.96

/* So many undisturbed samples tell more than any number of disturbed ones. */
#define CALM_ENOUGH 4

/* One sample says nothing of its own error: a tenth is assumed. */
#define LONE_SAMPLE_ERROR_REL 0.1

void fulcrum_recording_init(struct fulcrum_recording *out,
    const struct fulcrum_series *header, const struct fulcrum_canary *canary)
{
    *out = (struct fulcrum_recording){.header = *header, .canary = canary};
}

void fulcrum_recording_free(struct fulcrum_recording *recording)
{
    free(recording->samples);
    recording->samples = NULL;
    recording->count = 0;
    recording->capacity = 0;
}

enum fulcrum_status fulcrum_recording_add(struct fulcrum_recording *recording,
    const struct fulcrum_sample *sample, struct fulcrum_error *err)
{
    if (recording->count == recording->capacity) {
        size_t capacity = recording->capacity == 0 ? 64 : 2 * recording->capacity;
        struct fulcrum_sample *grown =
            realloc(recording->samples, capacity * sizeof *grown);
        if (grown == NULL) {
            return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%zu samples of %s",
                capacity, recording->header.name);
        }
        recording->samples = grown;
        recording->capacity = capacity;
    }
    recording->samples[recording->count] = *sample;
    recording->count++;
    return FULCRUM_OK;
}

int fulcrum_recording_disturbed(const struct fulcrum_recording *recording, size_t i)
{
    const struct fulcrum_sample *sample = &recording->samples[i];
    return sample->marked ||
           (sample->canary_s > 0.0 && fulcrum_canary_rel(recording->canary,
                                          sample->canary_s) > FULCRUM_CANARY_LIMIT_REL);
}

/* `x` is copied, never computed, so that equality is exact. */
static int is_at(const struct fulcrum_sample *sample, double x)
{
    return !(sample->x < x) && !(sample->x > x);
}

size_t fulcrum_recording_calm_count(const struct fulcrum_recording *recording, double x)
{
    size_t count = 0;
    for (size_t i = 0; i < recording->count; i++) {
        count += is_at(&recording->samples[i], x) &&
                 !fulcrum_recording_disturbed(recording, i);
    }
    return count;
}

/* An undisturbed sample counts twice, so that no x in a noisy place takes all the time.
 */
static size_t worth(const struct fulcrum_recording *recording, double x)
{
    size_t sum = 0;
    for (size_t i = 0; i < recording->count; i++) {
        if (is_at(&recording->samples[i], x)) {
            sum += fulcrum_recording_disturbed(recording, i) ? 1 : 2;
        }
    }
    return sum;
}

double fulcrum_recording_neediest(
    const struct fulcrum_recording *recording, const double *x, size_t count)
{
    size_t best = 0;
    size_t least = worth(recording, x[0]);
    for (size_t i = 1; i < count; i++) {
        size_t sum = worth(recording, x[i]);
        if (sum < least) {
            least = sum;
            best = i;
        }
    }
    return x[best];
}

/* Values at `x`, the undisturbed ones or all; how many. */
static size_t collect(
    const struct fulcrum_recording *recording, double x, int all, double *values)
{
    size_t count = 0;
    for (size_t i = 0; i < recording->count; i++) {
        if (is_at(&recording->samples[i], x) &&
            (all || !fulcrum_recording_disturbed(recording, i))) {
            values[count++] = recording->samples[i].value;
        }
    }
    return count;
}

/* Below six samples no interval is sure to hold the median: least and most stand in. */
static enum fulcrum_status summarise(const double *values, size_t count,
    struct fulcrum_summary *out, struct fulcrum_error *err)
{
    struct fulcrum_statistics statistics;
    TRY(fulcrum_statistics_of(&statistics, values, count, err));
    double spread_rel = fulcrum_statistics_spread_rel(&statistics);
    int is_sure = isfinite(statistics.median_low) && isfinite(spread_rel);
    out->median = statistics.median;
    out->mean = statistics.mean;
    out->lo = is_sure ? statistics.median_low : gsl_stats_min(values, 1, count);
    out->hi = is_sure ? statistics.median_high : gsl_stats_max(values, 1, count);
    double half =
        is_sure ? spread_rel * fabs(statistics.median) : 0.5 * (out->hi - out->lo);
    out->standard_error =
        count > 1 ? half / NORMAL_95 : LONE_SAMPLE_ERROR_REL * fabs(out->median);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_recording_summary(const struct fulcrum_recording *recording,
    double x, struct fulcrum_summary *out, struct fulcrum_error *err)
{
    double *values = calloc(recording->count + 1, sizeof *values);
    if (values == NULL) {
        return fulcrum_fail(
            err, FULCRUM_ERR_NO_MEMORY, "summary of %s", recording->header.name);
    }
    double unknown = (double)NAN;
    size_t all = collect(recording, x, 1, values);
    size_t calm = collect(recording, x, 0, values);
    int took_all = calm < CALM_ENOUGH && 2 * calm < all;
    size_t used = took_all ? collect(recording, x, 1, values) : calm;
    *out = (struct fulcrum_summary){.median = unknown,
        .lo = unknown,
        .hi = unknown,
        .mean = unknown,
        .standard_error = unknown,
        .used = used,
        .disturbed = all - calm,
        .took_all = took_all};
    enum fulcrum_status status =
        used > 0 ? summarise(values, used, out, err) : FULCRUM_OK;
    free(values);
    return status;
}

enum fulcrum_status fulcrum_recording_report(const struct fulcrum_recording *recording,
    struct fulcrum_calibration *calibration, struct fulcrum_error *err)
{
    size_t count = recording->count;
    if (count == 0) {
        return FULCRUM_OK;
    }
    double *rows = calloc(4 * count, sizeof *rows);
    if (rows == NULL) {
        return fulcrum_fail(
            err, FULCRUM_ERR_NO_MEMORY, "series %s", recording->header.name);
    }
    struct fulcrum_series series = recording->header;
    series.count = count;
    series.x = rows;
    series.value = rows + count;
    series.canary_rel = rows + 2 * count;
    series.disturbed = rows + 3 * count;
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_sample *sample = &recording->samples[i];
        series.x[i] = sample->x;
        series.value[i] = sample->value;
        series.canary_rel[i] =
            sample->canary_s > 0.0
                ? fulcrum_canary_rel(recording->canary, sample->canary_s)
                : 1.0;
        series.disturbed[i] = (double)fulcrum_recording_disturbed(recording, i);
    }
    enum fulcrum_status status =
        fulcrum_calibration_add_series(calibration, &series, err);
    free(rows);
    return status;
}
