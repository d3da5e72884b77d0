/* recording.c - one growing series of samples, and what its undisturbed part says. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples are never thrown away: whether one was disturbed can only be told when the
 * usual time of the canary beside it is known, and a reader of the file may think
 * otherwise. Summaries are medians with distribution-free intervals (order statistics
 * of the binomial), over the undisturbed samples if these are enough. A machine that is
 * never quiet still gets an answer, from all samples, and says so.
 */

#include "calibrate/probe/probe.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/statistics.h"
#include "calibrate/stopwatch.h"
#include "model/status.h"
#include "model/try.h"

/* A fixed piece of work whose time tells whether the machine was disturbed. */

/* Numbers that fit into the first-level cache, and how often they are gone through. */
#define NUMBER_COUNT 2048
#define PASS_COUNT   420

/* Steps of a random walk through 256 KiB, each waiting for the one before. */
#define WALK_SIZE  65536
#define WALK_COUNT 9000

/*
 * A large network leaves cold caches and a core clocked down for wide vectors behind.
 * That is no disturbance: so much of the loop runs untimed before.
 */
#define WARM_PASS_COUNT 140

#define LANE_COUNT 8
#define MIX_COUNT  4

struct fulcrum_canary_tables {
    double number[NUMBER_COUNT];
    uint32_t next[WALK_SIZE]; /* one cycle through all of them */
};

/* Readings between two looks at all of them. */
#define REVIEW_COUNT 16

#define USUAL_FRAC 0.05

/* Of work, at either end: what a run pays is a mean, but not of a single hiccup. */
#define TRIMMED_FRAC 0.1

/* A run that ended this short a time ago also tells of the moment now. */
#define FRESH_S 0.5e-3

void fulcrum_canary_free(struct fulcrum_canary *canary)
{
    free(canary->reading_s);
    free(canary->tables);
    *canary = (struct fulcrum_canary){0};
}

/* Independent chains: a core of its own runs them side by side, half of one cannot. */
static double compute(const double *number, size_t pass_count)
{
    double lane[LANE_COUNT] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0};
    uint64_t mix[MIX_COUNT] = {1, 2, 3, 4};
    double sum = 0.0;
    for (size_t i = 0; i < pass_count * NUMBER_COUNT; i += LANE_COUNT) {
        for (size_t k = 0; k < LANE_COUNT; k++) {
            lane[k] = lane[k] * 0.999 + number[i % NUMBER_COUNT + k];
        }
        for (size_t k = 0; k < MIX_COUNT; k++) {
            mix[k] = mix[k] * UINT64_C(6364136223846793005) + i;
        }
    }
    for (size_t k = 0; k < LANE_COUNT; k++) {
        sum += lane[k] + (double)(mix[k % MIX_COUNT] >> 40);
    }
    return sum;
}

static double work(const struct fulcrum_canary_tables *tables, size_t pass_count)
{
    uint32_t place = 0;
    for (size_t i = 0; i < WALK_COUNT; i++) {
        place = tables->next[place];
    }
    return compute(tables->number, pass_count) + (double)place;
}

static enum fulcrum_status grow_readings(
    struct fulcrum_canary *canary, struct fulcrum_error *err)
{
    if (canary->count < canary->capacity) {
        return FULCRUM_OK;
    }
    size_t capacity = canary->capacity == 0 ? 256 : 2 * canary->capacity;
    double *grown = realloc(canary->reading_s, capacity * sizeof *grown);
    TRY_MEMORY(grown, err, "%zu canary times", capacity);
    canary->reading_s = grown;
    canary->capacity = capacity;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_canary_add(
    struct fulcrum_canary *canary, double reading_s, struct fulcrum_error *err)
{
    TRY(grow_readings(canary, err));
    canary->reading_s[canary->count] = reading_s;
    canary->count++;
    if (canary->count <= REVIEW_COUNT || canary->count % REVIEW_COUNT == 0) {
        /* Sorting all readings each time would disturb what is measured. */
        double *sorted = calloc(canary->count, sizeof *sorted);
        TRY_MEMORY(sorted, err, "canary baseline");
        memcpy(sorted, canary->reading_s, canary->count * sizeof *sorted);
        gsl_sort(sorted, 1, canary->count);
        double frac = canary->usual_frac > 0.0 ? canary->usual_frac : USUAL_FRAC;
        canary->baseline_s = fulcrum_statistics_quantile(sorted, canary->count, frac);
        free(sorted);
    }
    return FULCRUM_OK;
}

double fulcrum_canary_rel(const struct fulcrum_canary *canary, double reading_s)
{
    return canary->baseline_s > 0.0 ? reading_s / canary->baseline_s : 1.0;
}

static bool is_above(const struct fulcrum_canary *canary, double reading_s)
{
    return fulcrum_canary_rel(canary, reading_s) > FULCRUM_CANARY_LIMIT_REL;
}

/* Whether most readings lie above the usual time. */
static bool is_restless(const struct fulcrum_canary *canary)
{
    canary = canary->judge != NULL ? canary->judge : canary;
    size_t above = 0;
    for (size_t i = 0; i < canary->count; i++) {
        above += is_above(canary, canary->reading_s[i]);
    }
    return 2 * above > canary->count;
}

enum fulcrum_status fulcrum_canary_typical_s(
    const struct fulcrum_canary *canary, double *out, struct fulcrum_error *err)
{
    double *kept = calloc(canary->count + 1, sizeof *kept);
    TRY_MEMORY(kept, err, "canary times");
    bool takes_all = is_restless(canary);
    size_t count = 0;
    for (size_t i = 0; i < canary->count; i++) {
        if (takes_all || !is_above(canary, canary->reading_s[i])) {
            kept[count++] = canary->reading_s[i];
        }
    }
    gsl_sort(kept, 1, count);
    *out = count > 0 ? gsl_stats_trmean_from_sorted_data(TRIMMED_FRAC, kept, 1, count)
                     : (double)NAN;
    free(kept);
    return FULCRUM_OK;
}

/* Runs the loop, warmed up. The first run also makes its tables. */
static enum fulcrum_status run_canary(struct fulcrum_canary *canary,
    const struct fulcrum_stopwatch *stopwatch, struct fulcrum_error *err)
{
    if (canary->tables == NULL) {
        canary->tables = calloc(1, sizeof *canary->tables);
        TRY_MEMORY(canary->tables, err, "canary tables");
        /* Sattolo's shuffle: a walk that comes back only after every place was visited.
         */
        struct fulcrum_canary_tables *tables = canary->tables;
        struct fulcrum_random random = fulcrum_random_seeded(1);
        for (uint32_t i = 0; i < WALK_SIZE; i++) {
            tables->next[i] = i;
        }
        for (uint32_t i = WALK_SIZE - 1; i > 0; i--) {
            uint32_t j = (uint32_t)(fulcrum_random_bits(&random) % i);
            uint32_t other = tables->next[j];
            tables->next[j] = tables->next[i];
            tables->next[i] = other;
        }
        for (size_t i = 0; i < NUMBER_COUNT; i++) {
            tables->number[i] = 1e-3 * (double)i;
        }
    }
    /* Volatile keeps the compiler from dropping loops whose results nobody reads. */
    volatile double warm = work(canary->tables, WARM_PASS_COUNT);
    (void)warm;
    struct fulcrum_span begin = fulcrum_span_begin();
    volatile double sink = work(canary->tables, PASS_COUNT);
    (void)sink;
    canary->last = fulcrum_span_end(stopwatch, begin);
    enum fulcrum_status status = fulcrum_canary_add(canary, canary->last.cpu_s, err);
    canary->last_end_s = fulcrum_wall_s();
    return status;
}

enum fulcrum_status fulcrum_canary_open(struct fulcrum_canary *canary,
    const struct fulcrum_stopwatch *stopwatch, struct fulcrum_error *err)
{
    if (canary->count > 0 && fulcrum_wall_s() - canary->last_end_s < FRESH_S) {
        return FULCRUM_OK;
    }
    return run_canary(canary, stopwatch, err);
}

enum fulcrum_status fulcrum_canary_close(struct fulcrum_canary *canary, double *out,
    enum fulcrum_clock clock, const struct fulcrum_stopwatch *stopwatch,
    struct fulcrum_error *err)
{
    struct fulcrum_span before = canary->last;
    TRY(run_canary(canary, stopwatch, err));
    *out = clock == FULCRUM_CLOCK_CPU ? fmax(before.cpu_s, canary->last.cpu_s)
                                      : fmax(before.wall_s, canary->last.wall_s);
    return FULCRUM_OK;
}

/* Half width of a 95 % interval of a normal law, in standard deviations. */
#define NORMAL_95 1.96

/* So many undisturbed samples tell more than any number of disturbed ones. */
#define CALM_ENOUGH 4

/* One sample says nothing of its own error: a tenth is assumed. */
#define LONE_SAMPLE_ERROR_REL 0.1

/* Of a run. */
#define RUN_S 1.0

static void copy_text(char *out, size_t size, const char *text)
{
    (void)snprintf(out, size, "%s", text != NULL ? text : "");
}

void fulcrum_recording_init(struct fulcrum_recording *out,
    const struct fulcrum_recording_header *header, struct fulcrum_canary *canary)
{
    *out = (struct fulcrum_recording){.is_work = header->is_work, .canary = canary};
    struct fulcrum_series *series = &out->header;
    copy_text(series->name, sizeof series->name, header->name);
    copy_text(series->unit, sizeof series->unit, header->unit);
    copy_text(series->x_name, sizeof series->x_name, header->x_name);
    copy_text(series->condition, sizeof series->condition, header->condition);
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
        TRY_MEMORY(grown, err, "%zu samples of %s", capacity, recording->header.name);
        recording->samples = grown;
        recording->capacity = capacity;
    }
    struct fulcrum_sample *kept = &recording->samples[recording->count++];
    *kept = *sample;
    kept->taken_s = sample->taken_s > 0.0 ? sample->taken_s : fulcrum_wall_s();
    return FULCRUM_OK;
}

bool fulcrum_recording_disturbed(const struct fulcrum_recording *recording, size_t i)
{
    const struct fulcrum_sample *sample = &recording->samples[i];
    return sample->marked ||
           (sample->canary_s > 0.0 && is_above(recording->canary, sample->canary_s));
}

/* `x` is copied, never computed, so that equality is exact. */
static bool is_at(const struct fulcrum_sample *sample, double x)
{
    return !(sample->x < x) && !(sample->x > x);
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
    const struct fulcrum_recording *recording, double x, bool all, double *values)
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
    bool is_sure = isfinite(statistics.median_low) && isfinite(spread_rel);
    out->typical = statistics.median;
    out->mean = statistics.mean;
    out->lo = is_sure ? statistics.median_low : gsl_stats_min(values, 1, count);
    out->hi = is_sure ? statistics.median_high : gsl_stats_max(values, 1, count);
    double half =
        is_sure ? spread_rel * fabs(statistics.median) : 0.5 * (out->hi - out->lo);
    out->standard_error =
        count > 1 ? half / NORMAL_95 : LONE_SAMPLE_ERROR_REL * fabs(out->typical);
    return FULCRUM_OK;
}

static double second_of(const struct fulcrum_sample *sample)
{
    return floor(sample->taken_s / RUN_S);
}

/*
 * How far runs of a second are apart: medians of all samples at `x`, second by second.
 * A median over a minute is known to far less than what a run sees of a machine that is
 * now slower, now faster. `room`: for twice as many values.
 */
static double run_sd_of(
    const struct fulcrum_recording *recording, double x, double *room)
{
    double *run = room + recording->count;
    double second = (double)NAN;
    size_t count = 0;
    size_t runs = 0;
    for (size_t i = 0; i <= recording->count; i++) {
        bool is_end = i == recording->count;
        if (!is_end && !is_at(&recording->samples[i], x)) {
            continue;
        }
        double now = is_end ? (double)NAN : second_of(&recording->samples[i]);
        if (count > 0 && !(now <= second)) {
            run[runs++] = fulcrum_statistics_median(room, count);
            count = 0;
        }
        second = now;
        if (!is_end) {
            room[count++] = recording->samples[i].value;
        }
    }
    return runs >= FULCRUM_RUNS_LEAST ? fulcrum_statistics_robust_sd(run, runs)
                                      : (double)NAN;
}

/* Whether the machine is restless, or is where this is done. */
static bool is_mostly_disturbed(const struct fulcrum_recording *recording)
{
    size_t disturbed = 0;
    for (size_t i = 0; i < recording->count; i++) {
        disturbed += fulcrum_recording_disturbed(recording, i);
    }
    return 2 * disturbed > recording->count || is_restless(recording->canary);
}

double *fulcrum_recording_values(const struct fulcrum_recording *recording, double x,
    size_t enough, struct fulcrum_summary *out)
{
    const double unknown = (double)NAN;
    double *values = calloc(2 * recording->count + 1, sizeof *values);
    *out = (struct fulcrum_summary){.typical = unknown,
        .lo = unknown,
        .hi = unknown,
        .mean = unknown,
        .standard_error = unknown,
        .run_sd = unknown};
    if (values != NULL) {
        size_t all = collect(recording, x, true, values);
        size_t calm = collect(recording, x, false, values);
        out->disturbed = all - calm;
        out->took_all =
            is_mostly_disturbed(recording) || (2 * calm < all && calm < enough);
        out->used = out->took_all ? collect(recording, x, true, values) : calm;
    }
    return values;
}

enum fulcrum_status fulcrum_recording_summary(const struct fulcrum_recording *recording,
    double x, struct fulcrum_summary *out, struct fulcrum_error *err)
{
    double *values = fulcrum_recording_values(recording, x, CALM_ENOUGH, out);
    TRY_MEMORY(values, err, "summary of %s", recording->header.name);
    enum fulcrum_status status =
        out->used > 0 ? summarise(values, out->used, out, err) : FULCRUM_OK;
    if (out->used > 0 && recording->is_work) {
        gsl_sort(values, 1, out->used);
        out->typical =
            gsl_stats_trmean_from_sorted_data(TRIMMED_FRAC, values, 1, out->used);
    }
    if (out->used > 0 && status == FULCRUM_OK) {
        out->run_sd = run_sd_of(recording, x, values);
    }
    free(values);
    return status;
}

/* What is typical at the place of each sample. */
static enum fulcrum_status find_typical(const struct fulcrum_recording *recording,
    double *typical, struct fulcrum_error *err)
{
    const struct fulcrum_sample *samples = recording->samples;
    for (size_t i = 0; i < recording->count; i++) {
        size_t first = 0;
        while (!is_at(&samples[first], samples[i].x)) {
            first++;
        }
        typical[i] = typical[first];
        if (first == i) {
            struct fulcrum_summary there;
            TRY(fulcrum_recording_summary(recording, samples[i].x, &there, err));
            typical[i] = there.typical;
        }
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_recording_slowdowns(
    const struct fulcrum_recording *recording, double *out, size_t *count,
    struct fulcrum_error *err)
{
    const struct fulcrum_sample *samples = recording->samples;
    double *typical = calloc(recording->count + 1, sizeof *typical);
    TRY_MEMORY(typical, err, "slowdowns of %s", recording->header.name);
    enum fulcrum_status status = find_typical(recording, typical, err);
    double sum = 0.0;
    size_t from = 0;
    for (size_t i = 0; i < recording->count && status == FULCRUM_OK; i++) {
        sum += typical[i] > 0.0 ? samples[i].value / typical[i] : 1.0;
        if (i + 1 == recording->count ||
            second_of(&samples[i + 1]) > second_of(&samples[i])) {
            out[(*count)++] = sum / (double)(i + 1 - from);
            sum = 0.0;
            from = i + 1;
        }
    }
    free(typical);
    return status;
}
