/* batch_means.c - confidence interval of a simulated rate. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Neighbouring steps of a simulation depend on each other, so their variance says
 * little about the error of a mean. Means of long windows hardly do. As nobody knows
 * beforehand how long is long enough, windows are merged in pairs whenever there are
 * too many: memory stays bounded and windows grow with the run. Student's t then gives
 * the interval; the correlation of neighbours tells whether it may be believed. See
 * Law, "Simulation Modeling and Analysis", on batch means.
 */
#include "model/batch_means.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

static void merge_neighbours(struct fulcrum_batch_means *means)
{
    for (size_t i = 0; i < FULCRUM_WINDOWS_LEAST; i++) {
        means->window_s[i] = means->window_s[2 * i] + means->window_s[2 * i + 1];
    }
    means->count = FULCRUM_WINDOWS_LEAST;
    means->merged *= 2;
}

void fulcrum_batch_means_add(struct fulcrum_batch_means *means, double window_s)
{
    if (means->merged == 0) {
        means->merged = 1;
    }
    if (means->pending == 0) {
        if (means->count == FULCRUM_WINDOWS_MOST) {
            merge_neighbours(means);
        }
        means->window_s[means->count] = 0.0;
    }
    means->window_s[means->count] += window_s;
    means->pending++;
    if (means->pending == means->merged) {
        means->pending = 0;
        means->count++;
    }
}

double fulcrum_batch_means_half_width_rel(const struct fulcrum_batch_means *means)
{
    if (means->count < 2) {
        return (double)INFINITY;
    }
    double count = (double)means->count;
    double mean = gsl_stats_mean(means->window_s, 1, means->count);
    if (mean <= 0.0) {
        return (double)INFINITY;
    }
    double spread = gsl_stats_sd_m(means->window_s, 1, means->count, mean);
    return gsl_cdf_tdist_Pinv(0.975, count - 1.0) * spread / (sqrt(count) * mean);
}

double fulcrum_batch_means_correlation(const struct fulcrum_batch_means *means)
{
    double mean = gsl_stats_mean(means->window_s, 1, means->count);
    double square = 0.0;
    double product = 0.0;
    for (size_t i = 0; i < means->count; i++) {
        double off = means->window_s[i] - mean;
        square += off * off;
        if (i > 0) {
            product += off * (means->window_s[i - 1] - mean);
        }
    }
    return square > 0.0 ? product / square : 0.0;
}
