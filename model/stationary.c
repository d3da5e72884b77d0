/* stationary.c - the stationary distribution of a Markov chain. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Elimination after Grassmann, Taksar and Heyman (1985): states are taken out one by
 * one from the last, and the chances of the others become those of the chain watched
 * only while it is among them. It never subtracts, so nothing cancels. Only the part of
 * a row that is not 0 is worked on: long batches leave few to wait, short ones many,
 * and so half of the chain's matrix is empty.
 */
#include "model/stationary.h"

#include <math.h>

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
