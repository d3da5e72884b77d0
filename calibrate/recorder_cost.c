/* recorder_cost.c - what recording costs, and totals without it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/recorder_cost.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "calibrate/statistics.h"
#include "calibrate/stopwatch.h"
#include "model/try.h"

/* Blocks short enough that most of them run undisturbed. */
enum { BLOCKS = 61, BLOCK_EVENTS = 500 };

/* Of each block, per event. */
struct blocks {
    double pair_s[BLOCKS];
    double pair_inside_s[BLOCKS];
    double chained_s[BLOCKS];
};

static double exclusive_s(
    const struct fulcrum_recorder *recorder, enum fulcrum_stage_kind kind)
{
    return fulcrum_recorder_read(recorder, 0)
        .totals[FULCRUM_STAGE_CPU][kind]
        .exclusive_s;
}

static void run_block(
    struct fulcrum_recorder *recorder, struct blocks *blocks, size_t i)
{
    double before_s = exclusive_s(recorder, FULCRUM_STAGE_SIMULATION);
    double begin_s = fulcrum_wall_s();
    for (size_t k = 0; k < BLOCK_EVENTS; k++) {
        fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_SIMULATION);
        fulcrum_recorder_end(recorder, 0);
    }
    blocks->pair_s[i] = (fulcrum_wall_s() - begin_s) / BLOCK_EVENTS;
    double inside_s = exclusive_s(recorder, FULCRUM_STAGE_SIMULATION) - before_s;
    blocks->pair_inside_s[i] = inside_s / BLOCK_EVENTS;
    fulcrum_recorder_begin(recorder, 0, FULCRUM_STAGE_HANDOFF);
    begin_s = fulcrum_wall_s();
    for (size_t k = 0; k < BLOCK_EVENTS; k++) {
        fulcrum_recorder_next(recorder, 0, FULCRUM_STAGE_HANDOFF);
    }
    blocks->chained_s[i] = (fulcrum_wall_s() - begin_s) / BLOCK_EVENTS;
    fulcrum_recorder_end(recorder, 0);
}

static double median(double *values, size_t count)
{
    gsl_sort(values, 1, count);
    return fulcrum_statistics_quantile(values, count, 0.5);
}

enum fulcrum_status fulcrum_recorder_cost_measure(
    struct fulcrum_recorder_cost *out, struct fulcrum_error *err)
{
    /* Every event finds room: the way of those that find none is shorter. */
    const struct fulcrum_recorder_options options = {
        .track_count = 1, .event_capacity = (size_t)BLOCKS * (2 * BLOCK_EVENTS + 1)};
    struct fulcrum_recorder *recorder = NULL;
    TRY(fulcrum_recorder_new(&recorder, &options, err));
    struct blocks blocks;
    fulcrum_recorder_start(recorder);
    for (size_t i = 0; i < BLOCKS; i++) {
        run_block(recorder, &blocks, i);
    }
    fulcrum_recorder_free(recorder);
    out->pair_inside_s = median(blocks.pair_inside_s, BLOCKS);
    out->pair_outside_s = fmax(0.0, median(blocks.pair_s, BLOCKS) - out->pair_inside_s);
    out->chained_s = median(blocks.chained_s, BLOCKS);
    return FULCRUM_OK;
}

struct fulcrum_recorder_cost fulcrum_recorder_cost_scaled(
    const struct fulcrum_recorder_cost *cost, double factor)
{
    return (struct fulcrum_recorder_cost){factor * cost->pair_inside_s,
        factor * cost->pair_outside_s, factor * cost->chained_s};
}

struct fulcrum_recorder_correction fulcrum_recorder_correct(
    const struct fulcrum_recorder_track *track,
    const struct fulcrum_recorder_cost *cost)
{
    struct fulcrum_recorder_correction correction = {.total_s = 0.0};
    for (size_t k = 0; k < FULCRUM_STAGE_KIND_COUNT; k++) {
        const struct fulcrum_recorder_total *total =
            &track->totals[FULCRUM_STAGE_CPU][k];
        double inside_s = 0.5 * (total->paired_end_count * cost->pair_inside_s +
                                    total->chained_end_count * cost->chained_s);
        double recording_s = inside_s + total->child_count * cost->pair_outside_s;
        correction.recording_s[k] = fmin(recording_s, total->exclusive_s);
        correction.exclusive_s[k] = total->exclusive_s - correction.recording_s[k];
        correction.outside_s += 0.5 * total->paired_end_count * cost->pair_outside_s;
        correction.outside_s -= total->child_count * cost->pair_outside_s;
        correction.total_s += correction.recording_s[k];
    }
    correction.outside_s = fmax(0.0, correction.outside_s);
    correction.total_s += correction.outside_s;
    return correction;
}

enum fulcrum_status fulcrum_recorder_cost_of_pairs(struct fulcrum_recorder_pairs *out,
    const double *with_per_s, const double *without_per_s, size_t count,
    struct fulcrum_error *err)
{
    if (count < 2) {
        return fulcrum_fail(
            err, FULCRUM_ERR_RANGE, "%zu pairs of runs: expected 2 or more", count);
    }
    double *cost_frac = calloc(count, sizeof *cost_frac);
    if (cost_frac == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "%zu pairs of runs", count);
    }
    for (size_t i = 0; i < count; i++) {
        if (!(with_per_s[i] > 0.0 && without_per_s[i] > 0.0)) {
            free(cost_frac);
            return fulcrum_fail(err, FULCRUM_ERR_RANGE,
                "pair %zu has rates %g and %g: expected more than 0", i + 1,
                with_per_s[i], without_per_s[i]);
        }
        cost_frac[i] = without_per_s[i] / with_per_s[i] - 1.0;
    }
    double root = sqrt((double)count);
    out->pair_count = count;
    out->mean_frac = gsl_stats_mean(cost_frac, 1, count);
    out->sd_frac = gsl_stats_sd_m(cost_frac, 1, count, out->mean_frac);
    out->upper_frac = out->mean_frac + gsl_cdf_tdist_Pinv(0.95, (double)(count - 1)) *
                                           out->sd_frac / root;
    out->median_frac = median(cost_frac, count);
    free(cost_frac);
    return FULCRUM_OK;
}
