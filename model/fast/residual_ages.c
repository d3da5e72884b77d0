/* residual_ages.c - steps under way when a cycle of fixed batches begins, by age. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A batch takes just B actors, and what waits for a thread is known, so the number that
 * goes on stepping is known as well. The mean field only knows for each earlier start
 * how likely it is to be still under way. Independent events under the condition of how
 * many of them happen are, but for small corrections, independent events whose odds are
 * all multiplied by the same factor, the tilt. It makes fresh steps stay and stragglers
 * give way, as they do when a batch forms: proportional scaling would not.
 */

#include "model/fast/fixed_batch.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "model/min_max.h"

#define NOBODY FULCRUM_FIXED_BATCH_NOBODY

/* Steps of more ages than this are as good as alike, which saves a sum over them. */
#define MANY_AGES 16

/* Newton's method for the log of the tilt: steps, the relative error of the number of
 * steps under way, and the change by one step and altogether (exp(40) is all or none).
 */
#define TILT_STEPS     40
#define TILT_TOLERANCE 1e-5
#define TILT_MOST      2.0
#define TILT_END       40.0

/* A release may lie this many slices beyond the cycle's end before it counts earlier.
 */
#define LATE_SLICES 1.1

/*
 * How much of the starts at an age has really been started: those of a slice cut by the
 * beginning of the cycle in part; the release that a batch of the last cycle has just
 * had in full, though its place may be a little late.
 */
static double started_frac(double at, double age)
{
    if (at < 0.0) {
        return fulcrum_min(1.0, age);
    }
    return fulcrum_max(0.0, fulcrum_min(1.0, 1.0 + LATE_SLICES + age));
}

/* Steps of all earlier cycles, each like the one whose starts are given. */
static void gather(struct fulcrum_residual_ages *old,
    const struct fulcrum_fixed_batch_grid *grid,
    const struct fulcrum_fixed_batch_state *state)
{
    const struct fulcrum_fixed_batch_starts *starts = &state->starts;
    double oldest = (double)(grid->count - FULCRUM_FIXED_BATCH_UNBORN);
    memset(old->started, 0, (grid->count + 1) * sizeof *old->started);
    old->first = FULCRUM_FIXED_BATCH_AGES - 1;
    old->last = 0;
    double earlier = state->jitter_s / state->period_s * state->length;
    for (size_t i = starts->first; i <= starts->last; i++) {
        double at = (double)i + state->shift - earlier;
        double age = (at < 0.0 ? 0.0 : state->length) - at;
        while (age < -1.0 - LATE_SLICES) {
            age += state->length;
        }
        double share = started_frac(at, age);
        while (age < oldest) {
            double place = fulcrum_max(0.0, age + FULCRUM_FIXED_BATCH_UNBORN);
            /* Adds `count` steps at a place of the table of tails. */
            double count = share * starts->count[i];
            size_t whole = (size_t)place;
            double part = place - (double)whole;
            old->started[whole] += count * (1.0 - part);
            old->started[whole + 1] += count * part;
            old->first = whole < old->first ? whole : old->first;
            old->last = whole + 1 > old->last ? whole + 1 : old->last;
            share = 1.0;
            age += state->length;
        }
    }
    old->first = old->first < old->last ? old->first : old->last;
}

/*
 * Chances for one tilt; returns their sum, and its derivative by log(tilt). Two loops,
 * as only the first can be done for several ages at a time.
 */
static double tilted_sum(
    struct fulcrum_residual_ages *old, const double *tail, double tilt, double *slope)
{
    double sum = 0.0;
    double missed = 0.0;
    for (size_t a = old->first; a <= old->last; a++) {
        double each = tilt / (1.0 - tail[a] + tilt * tail[a] + 1e-12);
        old->each[a] = each;
        old->weight[a] = old->started[a] * each;
    }
    for (size_t a = old->first; a <= old->last; a++) {
        double still = old->weight[a] * tail[a];
        sum += still;
        missed += still * (1.0 - old->each[a] * tail[a]);
    }
    *slope = missed;
    return sum;
}

/*
 * Makes the chances sum to `stepping` of at most all starts: the odds of independent
 * events under the condition of how many of them happen.
 */
static void tilt(struct fulcrum_residual_ages *old, const double *tail, double stepping)
{
    double slope = 0.0;
    double exponent = stepping > NOBODY ? 0.0 : -TILT_END;
    double sum = tilted_sum(old, tail, exp(exponent), &slope);
    for (int i = 0; i < TILT_STEPS && stepping > NOBODY; i++) {
        double missing = stepping - sum;
        if (fabs(missing) <= TILT_TOLERANCE * stepping) {
            break;
        }
        double move = missing / (slope + 1e-9 * stepping);
        exponent += fulcrum_min(TILT_MOST, fulcrum_max(-TILT_MOST, move));
        exponent = fulcrum_min(TILT_END, fulcrum_max(-TILT_END, exponent));
        sum = tilted_sum(old, tail, exp(exponent), &slope);
    }
    old->spread = slope;
    old->stepping = stepping;
}

/* How many ages of the old are within the tail after j slices. */
static size_t within_tail(const struct fulcrum_residual_ages *old,
    const struct fulcrum_fixed_batch_grid *grid, size_t j)
{
    size_t first = old->first + j;
    size_t last = old->last + j + 1;
    size_t end = grid->count;
    return first >= end ? 0 : (last < end ? last : end) - first;
}

/* Tails are 0 for a block beyond their end, so that no slice needs its own bound. */
void fulcrum_residual_ages_left(const struct fulcrum_residual_ages *old,
    const struct fulcrum_fixed_batch_grid *grid, size_t j, double *out)
{
    const double *weight = old->weight + old->first;
    const double *tail = grid->tail + old->first + j;
    size_t count = within_tail(old, grid, j);
    double sum[FULCRUM_RESIDUAL_BLOCK] = {0.0};
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < FULCRUM_RESIDUAL_BLOCK; k++) {
            sum[k] += weight[i] * tail[i + k];
        }
    }
    memcpy(out, sum, sizeof sum);
}

double fulcrum_residual_ages_variance(const struct fulcrum_residual_ages *old,
    const struct fulcrum_fixed_batch_grid *grid, size_t j, double still)
{
    size_t count = within_tail(old, grid, j);
    if (count > MANY_AGES) {
        double most = fulcrum_max(NOBODY, old->stepping);
        return still * (1.0 - fulcrum_min(1.0, still / most));
    }
    double alone = 0.0;
    double shared = 0.0;
    for (size_t a = old->first; a < old->first + count; a++) {
        double later = old->weight[a] * grid->tail[a + j];
        alone += later * (1.0 - old->each[a] * grid->tail[a + j]);
        shared += later * (1.0 - old->each[a] * grid->tail[a]);
    }
    double known = old->spread > NOBODY ? shared * shared / old->spread : 0.0;
    return fulcrum_max(0.0, alone - known);
}

void fulcrum_residual_ages_set(struct fulcrum_residual_ages *old,
    const struct fulcrum_fixed_batch_grid *grid,
    const struct fulcrum_fixed_batch_state *state, double servers, double at_cpu)
{
    gather(old, grid, state);
    double most = 0.0;
    for (size_t a = old->first; a <= old->last; a++) {
        most += old->started[a];
    }
    double stepping = fulcrum_max(0.0, at_cpu - state->queue);
    stepping = fulcrum_min(fulcrum_min(stepping, servers), most);
    double fresh = fulcrum_min(1.0, fulcrum_max(0.0, at_cpu - stepping));
    stepping = fulcrum_max(0.0, stepping - state->formed_frac * fresh);
    tilt(old, grid->tail, stepping);
}
