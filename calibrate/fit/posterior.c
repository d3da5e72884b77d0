/* posterior.c - the best values of uncertain parameters, and the directions data fix.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Everything happens in z, each parameter's distance from its centre in prior standard
 * deviations: there the prior is the unit ball, no parameter is stiffer than another by
 * its unit, and a singular value of 1 is where data and prior say equally much.
 *
 * Solvers of networks have kinks, and a step on a kink is no slope. So slopes are taken
 * over a good part of a standard deviation, and where the search by slopes ends a
 * simplex goes on.
 */

#include "calibrate/fit/posterior.h"

#include <gsl/gsl_eigen.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_multimin.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_sort_vector.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit/fit.h"
#include "calibrate/statistics.h"
#include "model/design/calibration.h"
#include "model/parallel.h"
#include "model/status.h"
#include "model/stream.h"
#include "model/try.h"

static int posterior_run(const struct fulcrum_posterior_problem *problem, size_t thread,
    const double *z, double *value, double *out);

static int posterior_is_stopped(const struct fulcrum_posterior_problem *problem);

static void posterior_tell(
    const struct fulcrum_posterior_problem *problem, double done_frac);

static double posterior_natural(const struct fulcrum_belief *belief, double z);

static double posterior_misfit(
    const struct fulcrum_posterior_problem *problem, const double *predicted);

static double posterior_penalty(
    const struct fulcrum_posterior_problem *problem, const double *z);

/* Draws of a prior or a posterior, and what they say. */

/*
 * Sequential Monte Carlo (Del Moral, Doucet and Jasra 2006). Few data that fit many
 * parameters leave a posterior that is thin in some directions, long in others and
 * bent: no single bell covers it. So particles begin as draws of the prior, and the
 * data are let in by steps, each as large as leaves half of the particles' weight;
 * after each step particles are resampled and moved by a random walk of their own
 * spread. Once the data count in full, every sweep of moves is kept.
 *
 * Each particle has a random stream of its own at each sweep, so that threads change
 * nothing.
 */

/* Draws kept of each particle, and sweeps before them and after each step. */
enum { KEPT_SWEEPS = 10, STEP_SWEEPS = 4, LAST_SWEEPS = 6, BISECTIONS = 40 };

/* Weight that a step leaves, as a share of the particles. */
#define LEFT_FRAC 0.5
/* A random walk in n dimensions is best at 2.4 / sqrt(n) and a quarter accepted. */
#define WALK        2.4
#define ACCEPTED    0.25
#define LEAST_ALIVE 0.02
#define RIDGE       1e-9
/* Of the data that count after a step and before it, for an estimate of what is left.
 */
#define FIRST_RATIO 3.0
#define LEAST_RATIO 1.1

struct cloud {
    const struct fulcrum_posterior_problem *problem;
    size_t count;
    double *z;         /* count x beliefs */
    double *predicted; /* count x data */
    double *misfit;    /* infinite where the model cannot run */
    double *other_z;   /* what resampling copies to */
    double *other_predicted;
    double *other_misfit;
    double *spread; /* lower triangle of the walk's covariance */
    double *room;   /* per thread: z, normal numbers, natural values, predictions */
    size_t room_count;
    size_t *accepted; /* per thread */
    double share;     /* of the data that counts, 0 to 1 */
    double step;
    double swept; /* sweeps done, and those after the data count in full */
    double last_sweeps;
    uint64_t seed;
    uint64_t sweep;
};

static size_t beliefs(const struct cloud *cloud)
{
    return cloud->problem->belief_count;
}

static size_t data(const struct cloud *cloud)
{
    return cloud->problem->datum_count;
}

static bool is_stopped(const struct cloud *cloud)
{
    return posterior_is_stopped(cloud->problem);
}

static enum fulcrum_status fail_stopped(struct fulcrum_error *err)
{
    return fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED, "stopped before any draw");
}

static gsl_rng *stream(const struct cloud *cloud, gsl_rng *rng, size_t particle)
{
    uint64_t seed = fulcrum_stream_seed(cloud->seed, particle, cloud->sweep);
    gsl_rng_set(rng, fulcrum_stream_gsl_seed(seed));
    return rng;
}

/* The model at z; the misfit is infinite and predictions are 0 where it cannot run. */
static double run(const struct cloud *cloud, size_t thread, const double *z,
    double *natural, double *predicted)
{
    if (posterior_run(cloud->problem, thread, z, natural, predicted)) {
        return posterior_misfit(cloud->problem, predicted);
    }
    memset(predicted, 0, data(cloud) * sizeof *predicted);
    return HUGE_VAL;
}

static void begin_share(void *context, size_t thread)
{
    struct cloud *cloud = context;
    size_t n = beliefs(cloud);
    double *natural = cloud->room + thread * cloud->room_count;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t k = thread; k < cloud->count && !is_stopped(cloud);
         k += cloud->problem->thread_count) {
        double *z = cloud->z + k * n;
        (void)stream(cloud, rng, k);
        for (size_t i = 0; i < n; i++) {
            z[i] = gsl_ran_ugaussian(rng);
        }
        cloud->misfit[k] =
            run(cloud, thread, z, natural, cloud->predicted + k * data(cloud));
    }
    gsl_rng_free(rng);
}

/* One step of a particle's random walk. */
static int move(struct cloud *cloud, size_t thread, size_t k, const gsl_rng *rng)
{
    size_t n = beliefs(cloud);
    double *z = cloud->room + thread * cloud->room_count;
    double *normal = z + n;
    double *natural = normal + n;
    double *predicted = natural + n;
    double *now = cloud->z + k * n;
    for (size_t i = 0; i < n; i++) {
        normal[i] = gsl_ran_ugaussian(rng);
        z[i] = now[i];
        for (size_t j = 0; j <= i; j++) {
            z[i] += cloud->step * cloud->spread[i * n + j] * normal[j];
        }
    }
    double lot = gsl_rng_uniform_pos(rng);
    double misfit = run(cloud, thread, z, natural, predicted);
    double gain = cloud->share * (cloud->misfit[k] - misfit) +
                  posterior_penalty(cloud->problem, now) -
                  posterior_penalty(cloud->problem, z);
    if (!(log(lot) < gain)) {
        return 0;
    }
    memcpy(now, z, n * sizeof *now);
    memcpy(
        cloud->predicted + k * data(cloud), predicted, data(cloud) * sizeof *predicted);
    cloud->misfit[k] = misfit;
    return 1;
}

static void sweep_share(void *context, size_t thread)
{
    struct cloud *cloud = context;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    cloud->accepted[thread] = 0;
    for (size_t k = thread; k < cloud->count && !is_stopped(cloud);
         k += cloud->problem->thread_count) {
        (void)stream(cloud, rng, k);
        cloud->accepted[thread] += move(cloud, thread, k, rng) ? 1 : 0;
    }
    gsl_rng_free(rng);
}

/* Tells how far the draws are; `left` are the sweeps before the last ones. */
static void count_sweep(struct cloud *cloud, double left)
{
    cloud->swept += 1.0;
    posterior_tell(
        cloud->problem, cloud->swept / (cloud->swept + left + cloud->last_sweeps));
}

/* Moves every particle once; the steps become longer where most are accepted. */
static void sweep(struct cloud *cloud)
{
    cloud->sweep++;
    fulcrum_parallel_each(cloud->problem->thread_count, sweep_share, cloud);
    size_t accepted = 0;
    for (size_t i = 0; i < cloud->problem->thread_count; i++) {
        accepted += cloud->accepted[i];
    }
    cloud->step *= exp((double)accepted / (double)cloud->count - ACCEPTED);
}

/* The weight that letting in so much more of the data leaves, in particles. */
static double weight_left(const struct cloud *cloud, double more, double least)
{
    double sum = 0.0;
    double squares = 0.0;
    for (size_t k = 0; k < cloud->count; k++) {
        double weight = exp(-more * (cloud->misfit[k] - least));
        sum += weight;
        squares += weight * weight;
    }
    return sum * sum / squares;
}

/* How much more of the data may count at once. */
static double next_step(const struct cloud *cloud, double least)
{
    double low = 0.0;
    double high = 1.0 - cloud->share;
    double alive = 0.0;
    for (size_t k = 0; k < cloud->count; k++) {
        alive += isfinite(cloud->misfit[k]) ? 1.0 : 0.0;
    }
    if (weight_left(cloud, high, least) >= LEFT_FRAC * alive) {
        return high;
    }
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = 0.5 * (low + high);
        if (weight_left(cloud, middle, least) >= LEFT_FRAC * alive) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

static void swap(double **a, double **b)
{
    double *kept = *a;
    *a = *b;
    *b = kept;
}

/* Particles in proportion to their weights, by one random number (systematically). */
static void resample(struct cloud *cloud, double more, double least)
{
    size_t n = beliefs(cloud);
    size_t m = data(cloud);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double place = gsl_rng_uniform(stream(cloud, rng, cloud->count));
    gsl_rng_free(rng);
    double sum = 0.0;
    for (size_t k = 0; k < cloud->count; k++) {
        sum += exp(-more * (cloud->misfit[k] - least));
    }
    double passed = 0.0;
    size_t from = 0;
    for (size_t k = 0; k < cloud->count; k++) {
        double wanted = ((double)k + place) / (double)cloud->count * sum;
        double weight = exp(-more * (cloud->misfit[from] - least));
        while (passed + weight < wanted && from + 1 < cloud->count) {
            passed += weight;
            from++;
            weight = exp(-more * (cloud->misfit[from] - least));
        }
        memcpy(cloud->other_z + k * n, cloud->z + from * n, n * sizeof(double));
        memcpy(cloud->other_predicted + k * m, cloud->predicted + from * m,
            m * sizeof(double));
        cloud->other_misfit[k] = cloud->misfit[from];
    }
    swap(&cloud->z, &cloud->other_z);
    swap(&cloud->predicted, &cloud->other_predicted);
    swap(&cloud->misfit, &cloud->other_misfit);
}

/* The spread of the particles, as the walk takes it. */
static enum fulcrum_status fill_spread(struct cloud *cloud, struct fulcrum_error *err)
{
    size_t n = beliefs(cloud);
    gsl_matrix *covariance = gsl_matrix_calloc(n, n);
    gsl_vector *mean = gsl_vector_calloc(n);
    if (covariance == NULL || mean == NULL) {
        gsl_matrix_free(covariance);
        gsl_vector_free(mean);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for draws");
    }
    for (size_t i = 0; i < cloud->count * n; i++) {
        mean->data[i % n] += cloud->z[i] / (double)cloud->count;
    }
    for (size_t k = 0; k < cloud->count; k++) {
        const double *z = cloud->z + k * n;
        for (size_t j = 0; j < n * n; j++) {
            covariance->data[j] += (z[j / n] - mean->data[j / n]) *
                                   (z[j % n] - mean->data[j % n]) /
                                   (double)cloud->count;
        }
    }
    for (size_t i = 0; i < n; i++) {
        covariance->data[i * n + i] += RIDGE;
    }
    int failed = gsl_linalg_cholesky_decomp1(covariance) != GSL_SUCCESS;
    memcpy(cloud->spread, covariance->data, n * n * sizeof(double));
    gsl_matrix_free(covariance);
    gsl_vector_free(mean);
    return failed
               ? fulcrum_fail(err, FULCRUM_ERR_NO_FIT, "the draws have no spread left")
               : FULCRUM_OK;
}

/* Lets some more of the data in. */
static enum fulcrum_status advance(struct cloud *cloud, struct fulcrum_error *err)
{
    double least = HUGE_VAL;
    for (size_t k = 0; k < cloud->count; k++) {
        least = fmin(least, cloud->misfit[k]);
    }
    double more = next_step(cloud, least);
    cloud->sweep++;
    resample(cloud, more, least);
    cloud->share = cloud->share + more >= 1.0 ? 1.0 : cloud->share + more;
    TRY(fill_spread(cloud, err));
    for (int i = 0; i < STEP_SWEEPS; i++) {
        sweep(cloud);
        /* Steps until the data count in full, this one too: each lets in about as many
         * times more of them as this one does. */
        double before = cloud->share - more;
        double ratio = before > 0.0 ? cloud->share / before : FIRST_RATIO;
        double steps_left =
            1.0 + log(1.0 / cloud->share) / log(fmax(ratio, LEAST_RATIO));
        count_sweep(cloud, steps_left * STEP_SWEEPS - i - 1);
    }
    return FULCRUM_OK;
}

static void clear(struct cloud *cloud)
{
    free(cloud->z);
    free(cloud->predicted);
    free(cloud->misfit);
    free(cloud->other_z);
    free(cloud->other_predicted);
    free(cloud->other_misfit);
    free(cloud->spread);
    free(cloud->room);
    free(cloud->accepted);
}

/* Draws the prior. */
static enum fulcrum_status begin(struct cloud *cloud,
    const struct fulcrum_posterior_problem *problem, size_t count, uint64_t seed,
    struct fulcrum_error *err)
{
    size_t n = problem->belief_count;
    size_t m = problem->datum_count;
    *cloud = (struct cloud){.problem = problem,
        .count = count,
        .seed = seed,
        .room_count = 3 * n + m,
        .last_sweeps = LAST_SWEEPS + KEPT_SWEEPS,
        .step = WALK / sqrt((double)n)};
    cloud->z = calloc(count * n, sizeof(double));
    cloud->predicted = calloc(count * m + 1, sizeof(double));
    cloud->misfit = calloc(count, sizeof(double));
    cloud->other_z = calloc(count * n, sizeof(double));
    cloud->other_predicted = calloc(count * m + 1, sizeof(double));
    cloud->other_misfit = calloc(count, sizeof(double));
    cloud->spread = calloc(n * n, sizeof(double));
    cloud->room = calloc(problem->thread_count * cloud->room_count, sizeof(double));
    cloud->accepted = calloc(problem->thread_count, sizeof(size_t));
    bool is_allocated = cloud->z != NULL && cloud->predicted != NULL &&
                        cloud->misfit != NULL && cloud->other_z != NULL &&
                        cloud->other_predicted != NULL && cloud->other_misfit != NULL &&
                        cloud->spread != NULL && cloud->room != NULL &&
                        cloud->accepted != NULL;
    FAIL_IF(
        !is_allocated, err, FULCRUM_ERR_NO_MEMORY, "no memory for %zu draws", count);
    fulcrum_parallel_each(problem->thread_count, begin_share, cloud);
    if (is_stopped(cloud)) {
        return fail_stopped(err);
    }
    double alive = 0.0;
    for (size_t k = 0; k < count; k++) {
        alive += isfinite(cloud->misfit[k]) ? 1.0 : 0.0;
    }
    return alive >= fmax(2.0, LEAST_ALIVE * (double)count)
               ? FULCRUM_OK
               : fulcrum_fail(err, FULCRUM_ERR_NO_FIT,
                     "only %.0f of %zu draws of the priors can run", alive, count);
}

static enum fulcrum_status draws_init(struct fulcrum_posterior_draws *out,
    const struct fulcrum_posterior_problem *problem, size_t count,
    struct fulcrum_error *err)
{
    *out = (struct fulcrum_posterior_draws){
        .belief_count = problem->belief_count, .datum_count = problem->datum_count};
    out->value = calloc(count * problem->belief_count, sizeof(double));
    out->predicted = calloc(count * problem->datum_count + 1, sizeof(double));
    return out->value != NULL && out->predicted != NULL
               ? FULCRUM_OK
               : fulcrum_fail(
                     err, FULCRUM_ERR_NO_MEMORY, "no memory for %zu draws", count);
}

/* Adds every particle that can run, in natural units. */
static void keep(const struct cloud *cloud, struct fulcrum_posterior_draws *draws)
{
    size_t n = beliefs(cloud);
    size_t m = data(cloud);
    for (size_t k = 0; k < cloud->count; k++) {
        if (!isfinite(cloud->misfit[k])) {
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            draws->value[draws->count * n + i] =
                posterior_natural(&cloud->problem->beliefs[i], cloud->z[k * n + i]);
        }
        memcpy(draws->predicted + draws->count * m, cloud->predicted + k * m,
            m * sizeof(double));
        draws->count++;
    }
}

enum fulcrum_status fulcrum_posterior_draw_prior(
    const struct fulcrum_posterior_problem *problem, size_t count, uint64_t seed,
    struct fulcrum_posterior_draws *out, struct fulcrum_error *err)
{
    struct cloud cloud;
    struct fulcrum_posterior_draws draws = {.count = 0};
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(begin(&cloud, problem, count, seed, err));
    TRY_OR_END(draws_init(&draws, problem, count, err));
    keep(&cloud, &draws);
    draws.effective_count = (double)draws.count;
end:
    if (status == FULCRUM_OK) {
        *out = draws;
    } else {
        fulcrum_posterior_draws_clear(&draws);
    }
    clear(&cloud);
    return status;
}

/* The sum over a particle's kept draws, less so many means. */
static double drift(const struct fulcrum_posterior_draws *draws, size_t particle,
    size_t particles, size_t i, double mean)
{
    double sum = 0.0;
    for (size_t k = particle; k < draws->count; k += particles) {
        sum += draws->value[k * draws->belief_count + i] - mean;
    }
    return sum;
}

/*
 * What the draws of a particle have in common makes them worth fewer: the variance of
 * their sum over what it would be if they were independent. The worst parameter counts.
 */
static double effective_count(
    const struct fulcrum_posterior_draws *draws, size_t particles)
{
    double least = (double)draws->count;
    for (size_t i = 0; i < draws->belief_count; i++) {
        double mean = 0.0;
        double square = 0.0;
        double together = 0.0;
        for (size_t k = 0; k < draws->count; k++) {
            mean += draws->value[k * draws->belief_count + i] / (double)draws->count;
        }
        for (size_t k = 0; k < draws->count; k++) {
            double off = draws->value[k * draws->belief_count + i] - mean;
            square += off * off;
        }
        for (size_t k = 0; k < particles; k++) {
            double sum = drift(draws, k, particles, i, mean);
            together += sum * sum;
        }
        if (together > 0.0) {
            least = fmin(least, (double)draws->count * square / together);
        }
    }
    return least;
}

/* The data are let in, step by step. */
static enum fulcrum_status anneal(struct cloud *cloud, struct fulcrum_error *err)
{
    while (cloud->share < 1.0) {
        TRY(is_stopped(cloud) ? fail_stopped(err) : advance(cloud, err));
    }
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_posterior_draw(
    const struct fulcrum_posterior_problem *problem, size_t count, uint64_t seed,
    struct fulcrum_posterior_draws *out, struct fulcrum_error *err)
{
    struct cloud cloud;
    struct fulcrum_posterior_draws draws = {.count = 0};
    size_t particles = (count + KEPT_SWEEPS - 1) / KEPT_SWEEPS;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(begin(&cloud, problem, particles, seed, err));
    TRY_OR_END(anneal(&cloud, err));
    TRY_OR_END(draws_init(&draws, problem, particles * KEPT_SWEEPS, err));
    /* Sweeps until a sweep is cut short; those that are whole are kept, but the first.
     */
    for (int i = 0; i < LAST_SWEEPS + KEPT_SWEEPS && !is_stopped(&cloud); i++) {
        sweep(&cloud);
        cloud.last_sweeps -= 1.0;
        count_sweep(&cloud, 0.0);
        if (i >= LAST_SWEEPS && !is_stopped(&cloud)) {
            keep(&cloud, &draws);
        }
    }
    draws.is_partial = draws.count < cloud.count * KEPT_SWEEPS;
    if (!(draws.count > 0)) {
        TRY_OR_END(fail_stopped(err));
    }
end:
    if (status == FULCRUM_OK) {
        draws.effective_count = effective_count(&draws, particles);
        *out = draws;
    } else {
        fulcrum_posterior_draws_clear(&draws);
    }
    clear(&cloud);
    return status;
}

void fulcrum_posterior_draws_clear(struct fulcrum_posterior_draws *draws)
{
    free(draws->value);
    free(draws->predicted);
    *draws = (struct fulcrum_posterior_draws){.count = 0};
}

/* One column of a row-major table. */
struct column {
    const double *first;
    size_t stride;
};

static enum fulcrum_status summarise(const struct fulcrum_posterior_draws *draws,
    const struct column *column, struct fulcrum_posterior_summary *out,
    struct fulcrum_error *err)
{
    size_t count = draws->count;
    double *sorted = calloc(count, sizeof *sorted);
    TRY_MEMORY(sorted, err, "no memory to sort %zu draws", count);
    for (size_t k = 0; k < count; k++) {
        sorted[k] = column->first[k * column->stride];
    }
    gsl_sort(sorted, 1, count);
    *out = (struct fulcrum_posterior_summary){.mean = gsl_stats_mean(sorted, 1, count),
        .sd = gsl_stats_sd(sorted, 1, count),
        .low = fulcrum_statistics_quantile(sorted, count, 0.05),
        .median = fulcrum_statistics_quantile(sorted, count, 0.5),
        .high = fulcrum_statistics_quantile(sorted, count, 0.95)};
    free(sorted);
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

/* In prior standard deviations. */
#define SLOPE_STEP   0.2
#define START_SPREAD 0.7
#define SIMPLEX_STEP 0.2
#define SIMPLEX_SIZE 1e-4

enum { STARTS = 4, TRUST_STEPS = 60, SIMPLEX_STEPS = 3000 };

/* Of the work: searches by slopes before the simplex. */
#define DESCENTS_FRAC 0.4

#define STEP_TOLERANCE 1e-6

/* What one search needs beside the problem. */
struct search {
    const struct fulcrum_posterior_problem *problem;
    size_t row_count; /* data that count, then parameters */
    double *value;
    double *predicted;
    double *beside;
    double *moved;
};

/* A parameter at z, natural units. */
static double posterior_natural(const struct fulcrum_belief *belief, double z)
{
    double q = fulcrum_fit_to_scale(belief->scale, belief->value);
    return fulcrum_fit_to_natural(belief->scale, q + belief->sd * z);
}

/* Whether whoever watches wants an end. */
static int posterior_is_stopped(const struct fulcrum_posterior_problem *problem)
{
    return problem->stop != NULL && problem->stop(problem->watcher);
}

/* Tells whoever watches. */
static void posterior_tell(
    const struct fulcrum_posterior_problem *problem, double done_frac)
{
    if (problem->progress != NULL) {
        problem->progress(problem->watcher, fmax(0.0, fmin(1.0, done_frac)));
    }
}

/* Once told to stop nothing can run, which ends every search. */
static int posterior_run(const struct fulcrum_posterior_problem *problem, size_t thread,
    const double *z, double *value, double *out)
{
    if (posterior_is_stopped(problem)) {
        return 0;
    }
    for (size_t i = 0; i < problem->belief_count; i++) {
        value[i] = posterior_natural(&problem->beliefs[i], z[i]);
    }
    if (!problem->forward(problem->contexts[thread], value, out)) {
        return 0;
    }
    for (size_t i = 0; i < problem->datum_count; i++) {
        if (!isfinite(out[i])) {
            return 0;
        }
    }
    return 1;
}

/* Half the sum of squares of (predicted - datum) / sd. */
static double posterior_misfit(
    const struct fulcrum_posterior_problem *problem, const double *predicted)
{
    double sum = 0.0;
    for (size_t i = 0; i < problem->datum_count; i++) {
        double gap = (predicted[i] - problem->data[i].value) / problem->data[i].sd;
        sum += gap * gap;
    }
    return 0.5 * sum;
}

/* Half the sum of squares of z. */
static double posterior_penalty(
    const struct fulcrum_posterior_problem *problem, const double *z)
{
    double sum = 0.0;
    for (size_t i = 0; i < problem->belief_count; i++) {
        sum += z[i] * z[i];
    }
    return 0.5 * sum;
}

static size_t data_that_count(const struct fulcrum_posterior_problem *problem)
{
    size_t count = 0;
    for (size_t i = 0; i < problem->datum_count; i++) {
        count += isfinite(problem->data[i].sd) ? 1 : 0;
    }
    return count;
}

static enum fulcrum_status check(
    const struct fulcrum_posterior_problem *problem, struct fulcrum_error *err)
{
    FAIL_IF(problem->belief_count == 0 || problem->thread_count == 0, err,
        FULCRUM_ERR_RANGE, "no parameter to fit");
    for (size_t i = 0; i < problem->belief_count; i++) {
        const struct fulcrum_belief *belief = &problem->beliefs[i];
        double q = fulcrum_fit_to_scale(belief->scale, belief->value);
        FAIL_IF(!isfinite(q) || !(belief->sd > 0.0 && isfinite(belief->sd)), err,
            FULCRUM_ERR_RANGE,
            "%s: a prior of %g with a standard deviation of %g is none on a %s "
            "scale",
            belief->path, belief->value, belief->sd, fulcrum_scale_name(belief->scale));
    }
    for (size_t i = 0; i < problem->datum_count; i++) {
        FAIL_IF(!(problem->data[i].sd > 0.0) || !isfinite(problem->data[i].value), err,
            FULCRUM_ERR_RANGE,
            "observation %zu: %g with an error of %g: expected a finite number and "
            "an error above 0",
            i, problem->data[i].value, problem->data[i].sd);
    }
    return FULCRUM_OK;
}

/* GSL's callback: one row per datum that counts, then one per parameter. */
static int residual_rows(const gsl_vector *z, void *context, gsl_vector *rows)
{
    const struct search *search = context;
    const struct fulcrum_posterior_problem *problem = search->problem;
    if (!posterior_run(problem, 0, z->data, search->value, search->predicted)) {
        return GSL_EBADFUNC;
    }
    size_t row = 0;
    for (size_t i = 0; i < problem->datum_count; i++) {
        const struct fulcrum_datum *datum = &problem->data[i];
        if (isfinite(datum->sd)) {
            double gap = (search->predicted[i] - datum->value) / datum->sd;
            gsl_vector_set(rows, row++, gap);
        }
    }
    for (size_t i = 0; i < problem->belief_count; i++) {
        gsl_vector_set(rows, row++, gsl_vector_get(z, i));
    }
    return GSL_SUCCESS;
}

/* What the model says as parameter j moves up and down; 0 where it cannot run there. */
static int run_beside(const struct search *search, const double *z, size_t j)
{
    const struct fulcrum_posterior_problem *problem = search->problem;
    memcpy(search->moved, z, problem->belief_count * sizeof *search->moved);
    search->moved[j] = z[j] + SLOPE_STEP;
    if (!posterior_run(problem, 0, search->moved, search->value, search->predicted)) {
        return 0;
    }
    search->moved[j] = z[j] - SLOPE_STEP;
    return posterior_run(problem, 0, search->moved, search->value, search->beside);
}

/* Slopes of the data's rows by z; 0 where the model cannot run beside z. */
static int fill_slopes(const struct search *search, const double *z, gsl_matrix *out)
{
    for (size_t j = 0; j < search->problem->belief_count; j++) {
        if (!run_beside(search, z, j)) {
            return 0;
        }
        /* The slopes by parameter j of the data that count. */
        size_t row = 0;
        for (size_t i = 0; i < search->problem->datum_count; i++) {
            double sd = search->problem->data[i].sd;
            if (isfinite(sd)) {
                double rise = search->predicted[i] - search->beside[i];
                gsl_matrix_set(out, row++, j, rise / (2.0 * SLOPE_STEP * sd));
            }
        }
    }
    return 1;
}

static int slope_rows(const gsl_vector *z, void *context, gsl_matrix *slopes)
{
    const struct search *search = context;
    size_t n = search->problem->belief_count;
    gsl_matrix_set_zero(slopes);
    if (!fill_slopes(search, z->data, slopes)) {
        return GSL_EBADFUNC;
    }
    for (size_t j = 0; j < n; j++) {
        gsl_matrix_set(slopes, search->row_count - n + j, j, 1.0);
    }
    return GSL_SUCCESS;
}

/* GSL's callback of the simplex: the objective; what cannot run is far away. */
static double objective(const gsl_vector *z, void *context)
{
    const struct search *search = context;
    if (!posterior_run(search->problem, 0, z->data, search->value, search->predicted)) {
        return HUGE_VAL;
    }
    return posterior_misfit(search->problem, search->predicted) +
           posterior_penalty(search->problem, z->data);
}

/* Trust regions from `z`, which becomes where they end. */
static enum fulcrum_status descend(
    struct search *search, gsl_vector *z, struct fulcrum_error *err)
{
    gsl_multifit_nlinear_parameters parameters =
        gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_fdf system = {.f = residual_rows,
        .df = slope_rows,
        .n = search->row_count,
        .p = search->problem->belief_count,
        .params = search};
    gsl_multifit_nlinear_workspace *work = gsl_multifit_nlinear_alloc(
        gsl_multifit_nlinear_trust, &parameters, system.n, system.p);
    TRY_MEMORY(work, err, "no memory for a fit");
    int info = 0;
    if (gsl_multifit_nlinear_init(z, &system, work) == GSL_SUCCESS) {
        (void)gsl_multifit_nlinear_driver(
            TRUST_STEPS, STEP_TOLERANCE, 0.0, 0.0, NULL, NULL, &info, work);
        (void)gsl_vector_memcpy(z, gsl_multifit_nlinear_position(work));
    }
    gsl_multifit_nlinear_free(work);
    return FULCRUM_OK;
}

static void shrink(const struct search *search, gsl_multimin_fminimizer *work)
{
    int status = GSL_SUCCESS;
    for (int i = 0; i < SIMPLEX_STEPS && status == GSL_SUCCESS &&
                    gsl_multimin_fminimizer_size(work) >= SIMPLEX_SIZE &&
                    !posterior_is_stopped(search->problem);
         i++) {
        status = gsl_multimin_fminimizer_iterate(work);
        /* How far the simplex has shrunk, by orders of magnitude: steady, unlike its
         * size. */
        double size = gsl_multimin_fminimizer_size(work);
        double shrunk_frac =
            log(SIMPLEX_STEP / size) / log(SIMPLEX_STEP / SIMPLEX_SIZE);
        posterior_tell(
            search->problem, DESCENTS_FRAC + (1.0 - DESCENTS_FRAC) * shrunk_frac);
    }
}

/* The simplex from `z`, which becomes the best place found. */
static enum fulcrum_status polish(
    struct search *search, gsl_vector *z, struct fulcrum_error *err)
{
    size_t n = search->problem->belief_count;
    gsl_multimin_function function = {.f = objective, .n = n, .params = search};
    gsl_multimin_fminimizer *work =
        gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, n);
    gsl_vector *step = gsl_vector_alloc(n);
    if (work == NULL || step == NULL) {
        gsl_multimin_fminimizer_free(work);
        gsl_vector_free(step);
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a fit");
    }
    gsl_vector_set_all(step, SIMPLEX_STEP);
    if (gsl_multimin_fminimizer_set(work, &function, z, step) == GSL_SUCCESS) {
        shrink(search, work);
        (void)gsl_vector_memcpy(z, gsl_multimin_fminimizer_x(work));
    }
    gsl_multimin_fminimizer_free(work);
    gsl_vector_free(step);
    return FULCRUM_OK;
}

/* The centres first, then places around them. */
static void set_start(gsl_vector *z, uint64_t seed, size_t start)
{
    gsl_vector_set_zero(z);
    if (start == 0) {
        return;
    }
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, fulcrum_stream_gsl_seed(fulcrum_stream_seed(seed, start, 1)));
    for (size_t i = 0; i < z->size; i++) {
        gsl_vector_set(z, i, START_SPREAD * gsl_ran_ugaussian(rng));
    }
    gsl_rng_free(rng);
}

static enum fulcrum_status find_best(
    struct search *search, uint64_t seed, gsl_vector *best, struct fulcrum_error *err)
{
    gsl_vector *z = gsl_vector_alloc(best->size);
    double least = HUGE_VAL;
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t start = 0; start < STARTS && status == FULCRUM_OK; start++) {
        posterior_tell(search->problem, DESCENTS_FRAC * (double)start / STARTS);
        set_start(z, seed, start);
        status = descend(search, z, err);
        double found = objective(z, search);
        if (found < least) {
            least = found;
            (void)gsl_vector_memcpy(best, z);
        }
    }
    gsl_vector_free(z);
    if (status == FULCRUM_OK && !(least < HUGE_VAL)) {
        status = fulcrum_fail(
            err, FULCRUM_ERR_NO_FIT, "the model cannot run near its priors");
    }
    return status == FULCRUM_OK ? polish(search, best, err) : status;
}

/* Slopes' slopes, n x n, into a matrix of zeros. */
static void square_slopes(const gsl_matrix *slopes, gsl_matrix *square)
{
    size_t n = square->size1;
    for (size_t i = 0; i < slopes->size1; i++) {
        for (size_t j = 0; j < n * n; j++) {
            square->data[j] +=
                gsl_matrix_get(slopes, i, j / n) * gsl_matrix_get(slopes, i, j % n);
        }
    }
}

/* With 1 added to its diagonal the square has a Cholesky factor whatever it is. */
static void set_covariance(
    const gsl_matrix *slopes, size_t n, struct fulcrum_posterior_mode *out)
{
    gsl_matrix *square = gsl_matrix_calloc(n, n);
    square_slopes(slopes, square);
    for (size_t i = 0; i < n; i++) {
        square->data[i * n + i] += 1.0;
    }
    (void)gsl_linalg_cholesky_decomp1(square);
    (void)gsl_linalg_cholesky_invert(square);
    memcpy(out->covariance, square->data, n * n * sizeof *out->covariance);
    gsl_matrix_free(square);
}

static enum fulcrum_status describe(struct search *search, const gsl_vector *best,
    struct fulcrum_posterior_mode *out, struct fulcrum_error *err)
{
    const struct fulcrum_posterior_problem *problem = search->problem;
    size_t n = problem->belief_count;
    memcpy(out->z, best->data, n * sizeof *out->z);
    FAIL_IF(!posterior_run(problem, 0, out->z, out->value, out->predicted), err,
        FULCRUM_ERR_NO_FIT, "the best parameters cannot run");
    out->misfit = posterior_misfit(problem, out->predicted);
    out->penalty = posterior_penalty(problem, out->z);
    size_t rows = data_that_count(problem);
    gsl_matrix *slopes = gsl_matrix_calloc(rows > 0 ? rows : 1, n);
    (void)fill_slopes(search, out->z, slopes);
    /* Roots of the eigenvalues of slopes' slopes: the slopes may be fewer than n rows.
     */
    gsl_matrix *square = gsl_matrix_calloc(n, n);
    gsl_vector *values = gsl_vector_alloc(n);
    gsl_eigen_symm_workspace *work = gsl_eigen_symm_alloc(n);
    square_slopes(slopes, square);
    (void)gsl_eigen_symm(square, values, work);
    gsl_sort_vector(values);
    for (size_t k = 0; k < out->singular_count; k++) {
        out->singular_value[k] = sqrt(fmax(0.0, gsl_vector_get(values, n - 1 - k)));
    }
    gsl_eigen_symm_free(work);
    gsl_vector_free(values);
    gsl_matrix_free(square);
    set_covariance(slopes, n, out);
    gsl_matrix_free(slopes);
    return FULCRUM_OK;
}

static int allocate(struct search *search, struct fulcrum_posterior_mode *out)
{
    size_t n = search->problem->belief_count;
    size_t m = search->problem->datum_count;
    search->value = calloc(n + 1, sizeof(double));
    search->predicted = calloc(m + 1, sizeof(double));
    search->beside = calloc(m + 1, sizeof(double));
    search->moved = calloc(n + 1, sizeof(double));
    out->value = calloc(n + 1, sizeof(double));
    out->z = calloc(n + 1, sizeof(double));
    out->predicted = calloc(m + 1, sizeof(double));
    out->singular_value = calloc(n + 1, sizeof(double));
    out->covariance = calloc(n * n + 1, sizeof(double));
    return search->value != NULL && search->predicted != NULL &&
           search->beside != NULL && search->moved != NULL && out->value != NULL &&
           out->z != NULL && out->predicted != NULL && out->singular_value != NULL &&
           out->covariance != NULL;
}

void fulcrum_posterior_mode_clear(struct fulcrum_posterior_mode *mode)
{
    free(mode->value);
    free(mode->z);
    free(mode->predicted);
    free(mode->singular_value);
    free(mode->covariance);
    *mode = (struct fulcrum_posterior_mode){.misfit = 0.0};
}

static enum fulcrum_status find(struct search *search, uint64_t seed,
    struct fulcrum_posterior_mode *out, struct fulcrum_error *err)
{
    gsl_vector *best = gsl_vector_calloc(search->problem->belief_count);
    TRY_MEMORY(best, err, "no memory for a fit");
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(find_best(search, seed, best, err));
    status = describe(search, best, out, err);
end:
    gsl_vector_free(best);
    return status;
}

enum fulcrum_status fulcrum_posterior_mode_find(
    const struct fulcrum_posterior_problem *problem, uint64_t seed,
    struct fulcrum_posterior_mode *out, struct fulcrum_error *err)
{
    TRY(check(problem, err));
    size_t rows = data_that_count(problem);
    size_t n = problem->belief_count;
    struct search search = {.problem = problem, .row_count = rows + n};
    struct fulcrum_posterior_mode found = {.singular_count = rows < n ? rows : n};
    enum fulcrum_status status =
        allocate(&search, &found)
            ? find(&search, seed, &found, err)
            : fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "no memory for a fit");
    free(search.value);
    free(search.predicted);
    free(search.beside);
    free(search.moved);
    if (posterior_is_stopped(problem)) {
        status = fulcrum_fail(
            err, FULCRUM_ERR_INTERRUPTED, "stopped before the best parameters");
    }
    if (status != FULCRUM_OK) {
        fulcrum_posterior_mode_clear(&found);
        return status;
    }
    *out = found;
    return FULCRUM_OK;
}
