/* posterior_draws.c - weighted draws of a posterior, and what they say. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Importance sampling. Near its mode a posterior is about normal, with the spread that
 * the slopes there tell; further out it has heavier tails, where ranges end and other
 * stations bind. So draws come from a multivariate t distribution of that spread, and
 * each is weighted by how much likelier it is under the posterior. Each draw has a
 * random stream of its own, so that threads change nothing.
 */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/posterior.h"
#include "calibrate/posterior_state.h"
#include "model/parallel.h"
#include "model/stream.h"

#define FREEDOM 5.0

/* The draws under way; each piece of work is one thread's share of them. */
struct job {
    const struct fulcrum_posterior_problem *problem;
    const struct fulcrum_posterior_mode *mode;
    struct fulcrum_posterior_draws *out;
    uint64_t seed;
    double *room; /* per thread: normal numbers, z */
};

/* Draws z; returns the logarithm of its density, up to a constant. */
static double draw_z(const struct job *job, gsl_rng *rng, double *normal, double *z)
{
    size_t n = job->problem->belief_count;
    double square = 0.0;
    for (size_t i = 0; i < n; i++) {
        normal[i] = gsl_ran_ugaussian(rng);
        square += normal[i] * normal[i];
        z[i] = normal[i];
    }
    if (job->mode == NULL) {
        return -0.5 * square;
    }
    double stretch = FREEDOM / gsl_ran_chisq(rng, FREEDOM);
    for (size_t i = 0; i < n; i++) {
        z[i] = job->mode->z[i];
        for (size_t j = 0; j < n; j++) {
            z[i] += sqrt(stretch) * job->mode->root[i * n + j] * normal[j];
        }
    }
    return -0.5 * (FREEDOM + (double)n) * log1p(square * stretch / FREEDOM);
}

/* Sets draw k; its weight is a logarithm until all are there. */
static void draw_one(const struct job *job, size_t thread, size_t k, gsl_rng *rng)
{
    const struct fulcrum_posterior_problem *problem = job->problem;
    size_t n = problem->belief_count;
    double *normal = job->room + thread * 2 * n;
    double *z = normal + n;
    double *predicted = job->out->predicted + k * problem->datum_count;
    gsl_rng_set(rng, fulcrum_stream_gsl_seed(fulcrum_stream_seed(job->seed, k, 0)));
    double log_density = draw_z(job, rng, normal, z);
    job->out->weight[k] = -HUGE_VAL;
    if (fulcrum_posterior_run(problem, thread, z, job->out->value + k * n, predicted)) {
        double log_target = -fulcrum_posterior_penalty(problem, z);
        if (job->mode != NULL) {
            log_target -= fulcrum_posterior_misfit(problem, predicted);
        }
        job->out->weight[k] = log_target - log_density;
        return;
    }
    /* Without weight, but sums go over all draws. */
    memset(predicted, 0, problem->datum_count * sizeof *predicted);
}

static void draw_share(void *context, size_t thread)
{
    const struct job *job = context;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t k = thread; k < job->out->count; k += job->problem->thread_count) {
        draw_one(job, thread, k, rng);
    }
    gsl_rng_free(rng);
}

/* From logarithms to weights that sum to 1. */
static enum fulcrum_status normalise(
    struct fulcrum_posterior_draws *draws, struct fulcrum_error *err)
{
    double most = -HUGE_VAL;
    for (size_t k = 0; k < draws->count; k++) {
        most = fmax(most, draws->weight[k]);
    }
    if (!(most > -HUGE_VAL)) {
        return fulcrum_fail(
            err, FULCRUM_ERR_NO_FIT, "none of %zu draws can run", draws->count);
    }
    double sum = 0.0;
    for (size_t k = 0; k < draws->count; k++) {
        draws->weight[k] = exp(draws->weight[k] - most);
        sum += draws->weight[k];
    }
    double squares = 0.0;
    for (size_t k = 0; k < draws->count; k++) {
        draws->weight[k] /= sum;
        squares += draws->weight[k] * draws->weight[k];
    }
    draws->effective_count = 1.0 / squares;
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_posterior_draw(
    const struct fulcrum_posterior_problem *problem,
    const struct fulcrum_posterior_mode *mode, size_t count, uint64_t seed,
    struct fulcrum_posterior_draws *out, struct fulcrum_error *err)
{
    size_t n = problem->belief_count;
    struct fulcrum_posterior_draws draws = {.count = count,
        .belief_count = n,
        .datum_count = problem->datum_count,
        .value = calloc(count * n, sizeof(double)),
        .predicted = calloc(count * problem->datum_count + 1, sizeof(double)),
        .weight = calloc(count, sizeof(double))};
    struct job job = {.problem = problem,
        .mode = mode,
        .out = &draws,
        .seed = seed,
        .room = calloc(problem->thread_count * 2 * n, sizeof(double))};
    enum fulcrum_status status = FULCRUM_OK;
    if (draws.value == NULL || draws.predicted == NULL || draws.weight == NULL ||
        job.room == NULL) {
        status =
            fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for %zu draws", count);
    } else {
        fulcrum_parallel_each(problem->thread_count, draw_share, &job);
        status = normalise(&draws, err);
    }
    free(job.room);
    if (status != FULCRUM_OK) {
        fulcrum_posterior_draws_clear(&draws);
        return status;
    }
    *out = draws;
    return FULCRUM_OK;
}

void fulcrum_posterior_draws_clear(struct fulcrum_posterior_draws *draws)
{
    free(draws->value);
    free(draws->predicted);
    free(draws->weight);
    *draws = (struct fulcrum_posterior_draws){.count = 0};
}

/* One column of a row-major table. */
struct column {
    const double *first;
    size_t stride;
};

/* The value below which `share` of the weight lies; `order` sorts the column. */
static double quantile(const struct fulcrum_posterior_draws *draws,
    const struct column *column, const size_t *order, double share)
{
    double sum = 0.0;
    size_t k = 0;
    for (; k + 1 < draws->count; k++) {
        sum += draws->weight[order[k]];
        if (sum >= share) {
            break;
        }
    }
    return column->first[order[k] * column->stride];
}

static enum fulcrum_status summarise(const struct fulcrum_posterior_draws *draws,
    const struct column *column, struct fulcrum_posterior_summary *out,
    struct fulcrum_error *err)
{
    size_t *order = calloc(draws->count, sizeof *order);
    if (order == NULL) {
        return fulcrum_fail(
            err, FULCRUM_ERR_NO_MEMORY, "no memory to sort %zu draws", draws->count);
    }
    gsl_sort_index(order, column->first, column->stride, draws->count);
    double mean = 0.0;
    double square = 0.0;
    for (size_t k = 0; k < draws->count; k++) {
        mean += draws->weight[k] * column->first[k * column->stride];
    }
    for (size_t k = 0; k < draws->count; k++) {
        double off = column->first[k * column->stride] - mean;
        square += draws->weight[k] * off * off;
    }
    *out = (struct fulcrum_posterior_summary){.mean = mean,
        .sd = sqrt(square),
        .low = quantile(draws, column, order, 0.05),
        .median = quantile(draws, column, order, 0.5),
        .high = quantile(draws, column, order, 0.95)};
    free(order);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_posterior_parameter(
    const struct fulcrum_posterior_draws *draws, size_t index,
    struct fulcrum_posterior_summary *out, struct fulcrum_error *err)
{
    struct column column = {draws->value + index, draws->belief_count};
    return summarise(draws, &column, out, err);
}

enum fulcrum_status fulcrum_posterior_datum(const struct fulcrum_posterior_draws *draws,
    size_t index, struct fulcrum_posterior_summary *out, struct fulcrum_error *err)
{
    struct column column = {draws->predicted + index, draws->datum_count};
    return summarise(draws, &column, out, err);
}
