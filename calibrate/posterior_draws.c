/* posterior_draws.c - draws of a prior or a posterior, and what they say. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
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
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/posterior.h"
#include "calibrate/posterior_state.h"
#include "calibrate/statistics.h"
#include "model/parallel.h"
#include "model/stream.h"
#include "model/try.h"

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

static int is_stopped(const struct cloud *cloud)
{
    return fulcrum_posterior_is_stopped(cloud->problem);
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
    if (fulcrum_posterior_run(cloud->problem, thread, z, natural, predicted)) {
        return fulcrum_posterior_misfit(cloud->problem, predicted);
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
                  fulcrum_posterior_penalty(cloud->problem, now) -
                  fulcrum_posterior_penalty(cloud->problem, z);
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
    fulcrum_posterior_tell(
        cloud->problem, cloud->swept / (cloud->swept + left + cloud->last_sweeps));
}

/* Steps until the data count in full, this one too: each lets in about as many times
 * more of them as this one does. */
static double steps_left(const struct cloud *cloud, double more)
{
    double before = cloud->share - more;
    double ratio = before > 0.0 ? cloud->share / before : FIRST_RATIO;
    return 1.0 + log(1.0 / cloud->share) / log(fmax(ratio, LEAST_RATIO));
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
        count_sweep(cloud, steps_left(cloud, more) * STEP_SWEEPS - i - 1);
    }
    return FULCRUM_OK;
}

static int is_allocated(const struct cloud *cloud)
{
    return cloud->z != NULL && cloud->predicted != NULL && cloud->misfit != NULL &&
           cloud->other_z != NULL && cloud->other_predicted != NULL &&
           cloud->other_misfit != NULL && cloud->spread != NULL &&
           cloud->room != NULL && cloud->accepted != NULL;
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
    if (!is_allocated(cloud)) {
        return fulcrum_fail(
            err, FULCRUM_ERR_NO_MEMORY, "no memory for %zu draws", count);
    }
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
            draws->value[draws->count * n + i] = fulcrum_posterior_natural(
                &cloud->problem->beliefs[i], cloud->z[k * n + i]);
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

/* Sweeps until a sweep is cut short; those that are whole are kept, but the first. */
static void collect(struct cloud *cloud, struct fulcrum_posterior_draws *draws)
{
    for (int i = 0; i < LAST_SWEEPS + KEPT_SWEEPS && !is_stopped(cloud); i++) {
        sweep(cloud);
        cloud->last_sweeps -= 1.0;
        count_sweep(cloud, 0.0);
        if (i >= LAST_SWEEPS && !is_stopped(cloud)) {
            keep(cloud, draws);
        }
    }
    draws->is_partial = draws->count < cloud->count * KEPT_SWEEPS;
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
    collect(&cloud, &draws);
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
    if (sorted == NULL) {
        return fulcrum_fail(
            err, FULCRUM_ERR_NO_MEMORY, "no memory to sort %zu draws", count);
    }
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
