/* markov.c - what the exact chain needs of Markov processes. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/exact/chain.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* How many of n stepping actors are left after a while. */

/*
 * Uniformisation: jumps come at one rate, that of the fastest count, and each lowers
 * the count n with chance rate[n] / scale. The distribution is then a mean over Poisson
 * numbers of jumps. All terms are positive, so that even small chances are right
 * relative to themselves. That matters: long batches make a network forget its past
 * only through rare events, and their ratios decide between its rhythms.
 *
 * Long times are cut into pieces, as exp(-jumps) must not underflow; counts that have
 * become too unlikely to matter leave the window, and with them their high rates.
 *
 * Where rate[n] is the fastest of all up to n, one jump of that scale surely leads from
 * n to n - 1. Jumps and the passing of time may change places, so that the distribution
 * after a start at n - 1 is that after a start at n and one jump more. A table of all
 * starts at one time costs no more than a few jumps each.
 */

/* Expected jumps of a piece: exp(-450) is 4e-196. */
#define MOST_JUMPS 450.0
/* Chances below this are taken as 0; its product with the above is still normal. */
#define LEAST_CHANCE 1e-100
/* The sum over jumps ends where the rest is this share of its smallest result... */
#define REST_FRAC 1e-17
/* ...or of this: rarer results are cut short. */
#define LEAST_EXACT_CHANCE 1e-60
/* Going on from the last result pays while it is at least this old. */
#define LEAST_OLD_FRAC 0.5

bool fulcrum_pure_death_init(
    struct fulcrum_pure_death *death, const double *rate_per_s, size_t most)
{
    *death = (struct fulcrum_pure_death){.rate_per_s = rate_per_s, .most = most};
    death->fastest_per_s = calloc(most + 1, sizeof *death->fastest_per_s);
    death->leave = calloc(most + 1, sizeof *death->leave);
    death->stay = calloc(most + 1, sizeof *death->stay);
    death->count = calloc(most + 1, sizeof *death->count);
    death->left = calloc(most + 1, sizeof *death->left);
    if (death->fastest_per_s == NULL || death->leave == NULL || death->stay == NULL ||
        death->count == NULL || death->left == NULL) {
        return false;
    }
    for (size_t n = 1; n <= most; n++) {
        death->fastest_per_s[n] = fmax(death->fastest_per_s[n - 1], rate_per_s[n]);
    }
    return true;
}

void fulcrum_pure_death_clear(struct fulcrum_pure_death *death)
{
    free(death->fastest_per_s);
    free(death->leave);
    free(death->stay);
    free(death->count);
    free(death->left);
}

/* Most starts share their scale with the one before: then nothing is to be done. */
static void set_scale(struct fulcrum_pure_death *death, double scale_per_s)
{
    if (!(scale_per_s < death->scale_per_s) && !(scale_per_s > death->scale_per_s)) {
        return;
    }
    death->scale_per_s = scale_per_s;
    for (size_t n = 0; n <= death->start; n++) {
        double rate_per_s = death->rate_per_s[n];
        death->leave[n] = rate_per_s / scale_per_s;
        death->stay[n] = (scale_per_s - rate_per_s) / scale_per_s;
    }
}

static size_t trimmed(double *chance, size_t low, size_t high)
{
    while (high > low && chance[high] < LEAST_CHANCE) {
        chance[high] = 0.0;
        high--;
    }
    return high;
}

/*
 * One jump, whose result has `weight` in the mean that is formed in `left`. The inner
 * loop of the chain.
 */
static void jump(struct fulcrum_pure_death *death, size_t *high, double weight)
{
    double *restrict count = death->count;
    double *restrict sum = death->left;
    const double *restrict leave = death->leave;
    const double *restrict stay = death->stay;
    size_t low = death->low;
    if (low > 0 && count[low] * leave[low] > LEAST_CHANCE) {
        low--;
    }
    for (size_t n = low; n < *high; n++) {
        count[n] = stay[n] * count[n] + leave[n + 1] * count[n + 1];
        sum[n] += weight * count[n];
    }
    count[*high] *= stay[*high];
    sum[*high] += weight * count[*high];
    death->low = low;
    *high = trimmed(count, low, *high);
}

/* Moves the distribution in `left` on by a Poisson number of jumps of mean `jumps`. */
static void run_piece(struct fulcrum_pure_death *death, double jumps)
{
    double weight = exp(-jumps);
    for (size_t n = 0; n <= death->high; n++) {
        death->count[n] = death->left[n];
        death->left[n] *= weight;
    }
    size_t high = death->high;
    double number = 0.0;
    double rest = 1.0;
    while (rest > REST_FRAC * fmax(death->left[death->low], LEAST_EXACT_CHANCE)) {
        number += 1.0;
        weight *= jumps / number;
        jump(death, &high, weight);
        /* The weights to come fall at least like a geometric series. */
        double ratio = jumps / (number + 1.0);
        rest = ratio < 1.0 ? weight * ratio / (1.0 - ratio) : 1.0;
    }
    death->high = trimmed(death->left, death->low, death->high);
}

static void begin(struct fulcrum_pure_death *death, size_t start)
{
    for (size_t n = 0; n <= death->start; n++) {
        death->left[n] = 0.0;
    }
    death->start = start;
    death->low = start;
    death->high = start;
    death->left[start] = 1.0;
    death->time_s = 0.0;
    death->scale_per_s = 0.0;
}

/* From the start of the last result to one lower, at the same time. */
static void lower_start(struct fulcrum_pure_death *death)
{
    double *restrict left = death->left;
    const double *restrict rate_per_s = death->rate_per_s;
    double fastest_per_s = rate_per_s[death->start];
    size_t low = death->low > 0 ? death->low - 1 : 0;
    for (size_t n = low; n < death->high; n++) {
        left[n] = ((fastest_per_s - rate_per_s[n]) * left[n] +
                      rate_per_s[n + 1] * left[n + 1]) /
                  fastest_per_s;
    }
    size_t high = death->high;
    left[high] *= (fastest_per_s - rate_per_s[high]) / fastest_per_s;
    death->start--;
    if (left[low] < LEAST_CHANCE) {
        left[low] = 0.0;
        low++;
    }
    death->low = low;
    death->high = trimmed(left, death->low, high);
}

const double *fulcrum_pure_death_run(
    struct fulcrum_pure_death *death, size_t start, double time_s)
{
    assert(start <= death->most && time_s >= 0.0);
    bool leads_on =
        start > 0 && start + 1 == death->start && time_s >= death->time_s &&
        death->time_s >= LEAST_OLD_FRAC * time_s &&
        !(death->rate_per_s[death->start] < death->fastest_per_s[death->start]);
    if (leads_on) {
        lower_start(death);
    } else {
        begin(death, start);
    }
    double rest_s = time_s - death->time_s;
    while (rest_s > 0.0 && death->high > 0) {
        set_scale(death, death->fastest_per_s[death->high]);
        double jumps = death->scale_per_s * rest_s;
        bool is_last = jumps <= MOST_JUMPS;
        run_piece(death, is_last ? jumps : MOST_JUMPS);
        rest_s = is_last ? 0.0 : rest_s - MOST_JUMPS / death->scale_per_s;
    }
    death->time_s = time_s;
    double sum = 0.0;
    for (size_t n = death->low; n <= death->high; n++) {
        sum += death->left[n];
    }
    for (size_t n = death->low; n <= death->high; n++) {
        death->left[n] /= sum;
    }
    return death->left;
}

/* The stationary distribution of a Markov chain. */

/*
 * Elimination after Grassmann, Taksar and Heyman (1985): states are taken out one by
 * one from the last, and the chances of the others become those of the chain watched
 * only while it is among them. It never subtracts, so nothing cancels. Only the part of
 * a row that is not 0 is worked on: long batches leave few to wait, short ones many,
 * and so half of the chain's matrix is empty.
 */

/* Stands for the chance to leave a state that is never left for a lower one. */
#define LEAST_LEAVE 1e-250
/* Shares are scaled down beyond this. */
#define MOST_SUM 1e40

/* One past the last of the first `count` chances that is not 0. */
static size_t length_of(const double *row, size_t count)
{
    while (count > 0 && !(row[count - 1] > 0.0)) {
        count--;
    }
    return count;
}

static void add_row(
    double *restrict row, const double *restrict gone, size_t length, double visits)
{
    for (size_t to = 0; to < length; to++) {
        row[to] += visits * gone[to];
    }
}

/* Takes out state `last`: who went there goes on to where it leads. */
static void eliminate(double *chance, size_t count, size_t last)
{
    const double *gone = chance + last * count;
    size_t length = length_of(gone, last);
    double leave = 0.0;
    for (size_t to = 0; to < length; to++) {
        leave += gone[to];
    }
    leave = fmax(leave, LEAST_LEAVE);
    for (size_t from = 0; from < last; from++) {
        double *row = chance + from * count;
        if (row[last] > 0.0) {
            row[last] /= leave;
            add_row(row, gone, length, row[last]);
        }
    }
}

/* Divides `count` values by `divisor`. */
static void scale_down(double *value, size_t count, double divisor)
{
    for (size_t i = 0; i < count; i++) {
        value[i] /= divisor;
    }
}

void fulcrum_stationary(double *out, double *chance, size_t count)
{
    for (size_t last = count - 1; last > 0; last--) {
        eliminate(chance, count, last);
    }
    out[0] = 1.0;
    double sum = 1.0;
    for (size_t to = 1; to < count; to++) {
        double visits = 0.0;
        for (size_t from = 0; from < to; from++) {
            visits += out[from] * chance[from * count + to];
        }
        out[to] = visits;
        sum += visits;
        /* State 0 may be so rare that the others would overflow beside it. */
        if (sum > MOST_SUM) {
            scale_down(out, to + 1, sum);
            sum = 1.0;
        }
    }
    scale_down(out, count, sum);
}
