/* posterior.c - the best values of uncertain parameters, and what data fix. */
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

#include <assert.h>
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
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit/fit.h"
#include "calibrate/statistics.h"
#include "model/parallel.h"
#include "model/try.h"

static double natural_at(const struct fulcrum_belief *belief, double z)
{
    double q = fulcrum_fit_to_scale(belief->scale, belief->value);
    return fulcrum_fit_to_natural(belief->scale, q + belief->sd * z);
}

static bool is_stopped(const struct fulcrum_posterior_problem *problem)
{
    return problem->stop != NULL && problem->stop(problem->watcher);
}

static void tell_progress(
    const struct fulcrum_posterior_problem *problem, double done_frac)
{
    if (problem->progress != NULL) {
        problem->progress(problem->watcher, fmax(0.0, fmin(1.0, done_frac)));
    }
}

/* Once told to stop nothing can run, which ends every search. */
static bool run_model(const struct fulcrum_posterior_problem *problem, size_t thread,
    const double *z, double *value, double *out)
{
    if (is_stopped(problem)) {
        return 0;
    }
    for (size_t i = 0; i < problem->belief_count; i++) {
        value[i] = natural_at(&problem->beliefs[i], z[i]);
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
static double misfit_of(
    const struct fulcrum_posterior_problem *problem, const double *predicted)
{
    double sum = 0.0;
    for (size_t i = 0; i < problem->datum_count; i++) {
        double gap = (predicted[i] - problem->data[i].value) / problem->data[i].sd;
        sum += gap * gap;
    }
    return 0.5 * sum;
}

static double penalty_of(
    const struct fulcrum_posterior_problem *problem, const double *z)
{
    double sum = 0.0;
    for (size_t i = 0; i < problem->belief_count; i++) {
        sum += z[i] * z[i];
    }
    return 0.5 * sum;
}

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
/* Of the data that count after a step and before it, to estimate what is left. */
#define FIRST_RATIO 3.0
#define LEAST_RATIO 1.1

/* A particle: its z, its predictions, and its misfit, infinite where the model cannot
 * run. */
struct cloud {
    const struct fulcrum_posterior_problem *problem;
    size_t count;
    size_t width;  /* of a particle */
    double *store; /* of the next four */
    double *particles;
    double *other;  /* what resampling copies to */
    double *spread; /* lower triangle of the walk's covariance */
    double *room;   /* per thread: a particle, normal numbers, natural values */
    size_t room_count;
    size_t *accepted; /* per thread */
    double share;     /* of the data that counts, 0 to 1 */
    double step;
    double swept; /* sweeps done, and those after the data count in full */
    double last_sweeps;
    uint64_t seed;
    uint64_t sweep;
};

static double *particle(const struct cloud *cloud, size_t k)
{
    return cloud->particles + k * cloud->width;
}

static double misfit_at(const struct cloud *cloud, size_t k)
{
    assert(cloud->particles != NULL);
    return cloud->particles[(k + 1) * cloud->width - 1];
}

static double count_alive(const struct cloud *cloud)
{
    double alive = 0.0;
    for (size_t k = 0; k < cloud->count; k++) {
        alive += isfinite(misfit_at(cloud, k)) ? 1.0 : 0.0;
    }
    return alive;
}

static enum fulcrum_status fail_stopped(struct fulcrum_error *err)
{
    return fulcrum_fail(err, FULCRUM_ERR_INTERRUPTED, "stopped before any draw");
}

static gsl_rng *stream(const struct cloud *cloud, gsl_rng *rng, size_t particle_index)
{
    uint64_t seed = fulcrum_stream_seed(cloud->seed, particle_index, cloud->sweep);
    gsl_rng_set(rng, fulcrum_stream_gsl_seed(seed));
    return rng;
}

/* Fills a particle whose z is set; predictions are 0 where it cannot run. */
static void run_particle(
    const struct cloud *cloud, size_t thread, double *at, double *natural)
{
    const struct fulcrum_posterior_problem *problem = cloud->problem;
    double *predicted = at + problem->belief_count;
    double *misfit = predicted + problem->datum_count;
    if (run_model(problem, thread, at, natural, predicted)) {
        *misfit = misfit_of(problem, predicted);
    } else {
        memset(predicted, 0, problem->datum_count * sizeof *predicted);
        *misfit = HUGE_VAL;
    }
}

static bool move_particle(
    struct cloud *cloud, size_t thread, size_t k, const gsl_rng *rng)
{
    size_t n = cloud->problem->belief_count;
    double *tried = cloud->room + thread * cloud->room_count;
    double *normal = tried + cloud->width;
    double *now = particle(cloud, k);
    for (size_t i = 0; i < n; i++) {
        normal[i] = gsl_ran_ugaussian(rng);
        tried[i] = now[i];
        for (size_t j = 0; j <= i; j++) {
            tried[i] += cloud->step * cloud->spread[i * n + j] * normal[j];
        }
    }
    double lot = gsl_rng_uniform_pos(rng);
    run_particle(cloud, thread, tried, normal + n);
    double gain = cloud->share * (now[cloud->width - 1] - tried[cloud->width - 1]) +
                  penalty_of(cloud->problem, now) - penalty_of(cloud->problem, tried);
    if (!(log(lot) < gain)) {
        return 0;
    }
    memcpy(now, tried, cloud->width * sizeof *now);
    return 1;
}

/* Draws the particles of a thread from the prior, or moves each of them once. */
static void sweep_share(void *context, size_t thread)
{
    struct cloud *cloud = context;
    const struct fulcrum_posterior_problem *problem = cloud->problem;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    cloud->accepted[thread] = 0;
    for (size_t k = thread; k < cloud->count && !is_stopped(problem);
         k += problem->thread_count) {
        (void)stream(cloud, rng, k);
        if (cloud->sweep > 0) {
            cloud->accepted[thread] += move_particle(cloud, thread, k, rng) ? 1 : 0;
            continue;
        }
        double *z = particle(cloud, k);
        for (size_t i = 0; i < problem->belief_count; i++) {
            z[i] = gsl_ran_ugaussian(rng);
        }
        run_particle(cloud, thread, z, cloud->room + thread * cloud->room_count);
    }
    gsl_rng_free(rng);
}

/* Tells how far the draws are; `left` are the sweeps before the last ones. */
static void count_sweep(struct cloud *cloud, double left)
{
    cloud->swept += 1.0;
    tell_progress(
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
        double weight = exp(-more * (misfit_at(cloud, k) - least));
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
    double alive = count_alive(cloud);
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

/* Particles in proportion to their weights, by one random number (systematically). */
static void resample(struct cloud *cloud, double more, double least)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double place = gsl_rng_uniform(stream(cloud, rng, cloud->count));
    gsl_rng_free(rng);
    double sum = 0.0;
    for (size_t k = 0; k < cloud->count; k++) {
        sum += exp(-more * (misfit_at(cloud, k) - least));
    }
    double passed = 0.0;
    size_t from = 0;
    for (size_t k = 0; k < cloud->count; k++) {
        double wanted = ((double)k + place) / (double)cloud->count * sum;
        double weight = exp(-more * (misfit_at(cloud, from) - least));
        while (passed + weight < wanted && from + 1 < cloud->count) {
            passed += weight;
            from++;
            weight = exp(-more * (misfit_at(cloud, from) - least));
        }
        memcpy(cloud->other + k * cloud->width, particle(cloud, from),
            cloud->width * sizeof(double));
    }
    double *kept = cloud->particles;
    cloud->particles = cloud->other;
    cloud->other = kept;
}

static enum fulcrum_status advance(struct cloud *cloud, struct fulcrum_error *err)
{
    double least = HUGE_VAL;
    for (size_t k = 0; k < cloud->count; k++) {
        least = fmin(least, misfit_at(cloud, k));
    }
    double more = next_step(cloud, least);
    cloud->sweep++;
    resample(cloud, more, least);
    cloud->share = cloud->share + more >= 1.0 ? 1.0 : cloud->share + more;
    /* The spread of the particles, as the walk takes it. */
    size_t n = cloud->problem->belief_count;
    gsl_matrix_view covariance = gsl_matrix_view_array(cloud->spread, n, n);
    double *mean = cloud->room;
    memset(cloud->spread, 0, n * n * sizeof *cloud->spread);
    memset(mean, 0, n * sizeof *mean);
    for (size_t k = 0; k < cloud->count; k++) {
        for (size_t i = 0; i < n; i++) {
            mean[i] += particle(cloud, k)[i] / (double)cloud->count;
        }
    }
    for (size_t k = 0; k < cloud->count; k++) {
        const double *z = particle(cloud, k);
        for (size_t j = 0; j < n * n; j++) {
            cloud->spread[j] += (z[j / n] - mean[j / n]) * (z[j % n] - mean[j % n]) /
                                (double)cloud->count;
        }
    }
    for (size_t i = 0; i < n; i++) {
        cloud->spread[i * n + i] += RIDGE;
    }
    FAIL_IF(gsl_linalg_cholesky_decomp1(&covariance.matrix) != GSL_SUCCESS, err,
        FULCRUM_ERR_NO_FIT, "the draws have no spread left");

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

/* Draws the prior, and makes room for `kept` draws; the caller clears both. */
static enum fulcrum_status begin_cloud(struct cloud *cloud,
    struct fulcrum_posterior_draws *draws, size_t kept, struct fulcrum_error *err)
{
    const struct fulcrum_posterior_problem *problem = cloud->problem;
    size_t n = problem->belief_count;
    size_t width = n + problem->datum_count + 1;
    cloud->width = width;
    cloud->room_count = width + 2 * n;
    cloud->last_sweeps = LAST_SWEEPS + KEPT_SWEEPS;
    cloud->step = WALK / sqrt((double)n);
    size_t room = problem->thread_count * cloud->room_count;
    cloud->store = calloc(2 * cloud->count * width + n * n + room, sizeof(double));
    cloud->accepted = calloc(problem->thread_count, sizeof(size_t));
    *draws = (struct fulcrum_posterior_draws){.belief_count = n,
        .datum_count = problem->datum_count,
        .value = calloc(kept * n, sizeof(double)),
        .predicted = calloc(kept * problem->datum_count + 1, sizeof(double))};
    FAIL_IF(cloud->store == NULL || cloud->accepted == NULL || draws->value == NULL ||
                draws->predicted == NULL,
        err, FULCRUM_ERR_NO_MEMORY, "no memory for %zu draws", kept);
    cloud->particles = cloud->store;
    cloud->other = cloud->particles + cloud->count * width;
    cloud->spread = cloud->other + cloud->count * width;
    cloud->room = cloud->spread + n * n;
    fulcrum_parallel_each(problem->thread_count, sweep_share, cloud);
    if (is_stopped(problem)) {
        return fail_stopped(err);
    }
    double alive = count_alive(cloud);
    FAIL_IF(alive < fmax(2.0, LEAST_ALIVE * (double)cloud->count), err,
        FULCRUM_ERR_NO_FIT, "only %.0f of %zu draws of the priors can run", alive,
        cloud->count);
    return FULCRUM_OK;
}

/* Adds every particle that can run, in natural units. */
static void keep_particles(
    const struct cloud *cloud, struct fulcrum_posterior_draws *draws)
{
    size_t n = draws->belief_count;
    size_t m = draws->datum_count;
    for (size_t k = 0; k < cloud->count; k++) {
        const double *z = particle(cloud, k);
        if (!isfinite(misfit_at(cloud, k))) {
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            draws->value[draws->count * n + i] =
                natural_at(&cloud->problem->beliefs[i], z[i]);
        }
        memcpy(draws->predicted + draws->count * m, z + n, m * sizeof(double));
        draws->count++;
    }
}

/* Hands the draws over, or clears them after a failure. */
static enum fulcrum_status end_cloud(struct cloud *cloud,
    struct fulcrum_posterior_draws *draws, enum fulcrum_status status,
    struct fulcrum_posterior_draws *out)
{
    free(cloud->store);
    free(cloud->accepted);
    if (status == FULCRUM_OK) {
        *out = *draws;
    } else {
        fulcrum_posterior_draws_clear(draws);
    }
    return status;
}

enum fulcrum_status fulcrum_posterior_draw_prior(
    const struct fulcrum_posterior_problem *problem, size_t count, uint64_t seed,
    struct fulcrum_posterior_draws *out, struct fulcrum_error *err)
{
    struct cloud cloud = {.problem = problem, .count = count, .seed = seed};
    struct fulcrum_posterior_draws draws;
    enum fulcrum_status status = begin_cloud(&cloud, &draws, count, err);
    if (status == FULCRUM_OK) {
        keep_particles(&cloud, &draws);
        draws.effective_count = (double)draws.count;
    }
    return end_cloud(&cloud, &draws, status, out);
}

/*
 * What the draws of a particle have in common makes them worth fewer: the variance of
 * their sum over what it would be if they were independent. The worst parameter counts.
 */
static double effective_count(
    const struct fulcrum_posterior_draws *draws, size_t particles)
{
    size_t n = draws->belief_count;
    double least = (double)draws->count;
    for (size_t i = 0; i < n; i++) {
        double mean = 0.0;
        double square = 0.0;
        double together = 0.0;
        for (size_t k = 0; k < draws->count; k++) {
            mean += draws->value[k * n + i] / (double)draws->count;
        }
        for (size_t k = 0; k < draws->count; k++) {
            double off = draws->value[k * n + i] - mean;
            square += off * off;
        }
        for (size_t first = 0; first < particles; first++) {
            double sum = 0.0;
            for (size_t k = first; k < draws->count; k += particles) {
                sum += draws->value[k * n + i] - mean;
            }
            together += sum * sum;
        }
        if (together > 0.0) {
            least = fmin(least, (double)draws->count * square / together);
        }
    }
    return least;
}

enum fulcrum_status fulcrum_posterior_draw(
    const struct fulcrum_posterior_problem *problem, size_t count, uint64_t seed,
    struct fulcrum_posterior_draws *out, struct fulcrum_error *err)
{
    size_t particles = (count + KEPT_SWEEPS - 1) / KEPT_SWEEPS;
    struct cloud cloud = {.problem = problem, .count = particles, .seed = seed};
    struct fulcrum_posterior_draws draws;
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(begin_cloud(&cloud, &draws, particles * KEPT_SWEEPS, err));
    /* The data are let in, step by step. */
    while (cloud.share < 1.0) {
        TRY_OR_END(is_stopped(problem) ? fail_stopped(err) : advance(&cloud, err));
    }
    /* Sweeps until one is cut short; those that are whole are kept, but the first. */
    for (int i = 0; i < LAST_SWEEPS + KEPT_SWEEPS && !is_stopped(problem); i++) {
        sweep(&cloud);
        cloud.last_sweeps -= 1.0;
        count_sweep(&cloud, 0.0);
        if (i >= LAST_SWEEPS && !is_stopped(problem)) {
            keep_particles(&cloud, &draws);
        }
    }
    draws.is_partial = draws.count < cloud.count * KEPT_SWEEPS;
    draws.effective_count = effective_count(&draws, particles);
    status = draws.count > 0 ? FULCRUM_OK : fail_stopped(err);
end:
    return end_cloud(&cloud, &draws, status, out);
}

void fulcrum_posterior_draws_clear(struct fulcrum_posterior_draws *draws)
{
    free(draws->value);
    free(draws->predicted);
    *draws = (struct fulcrum_posterior_draws){.count = 0};
}

enum fulcrum_status fulcrum_posterior_summarise(
    const struct fulcrum_posterior_draws *draws, size_t column,
    struct fulcrum_posterior_summary *out, struct fulcrum_error *err)
{
    bool is_datum = column >= draws->belief_count;
    size_t stride = is_datum ? draws->datum_count : draws->belief_count;
    const double *first = is_datum ? draws->predicted + (column - draws->belief_count)
                                   : draws->value + column;
    double *sorted = calloc(draws->count, sizeof *sorted);
    TRY_MEMORY(sorted, err, "no memory to sort %zu draws", draws->count);
    for (size_t k = 0; k < draws->count; k++) {
        sorted[k] = first[k * stride];
    }
    gsl_sort(sorted, 1, draws->count);
    *out = (struct fulcrum_posterior_summary){
        .mean = gsl_stats_mean(sorted, 1, draws->count),
        .sd = gsl_stats_sd(sorted, 1, draws->count),
        .low = fulcrum_statistics_quantile(sorted, draws->count, 0.05),
        .median = fulcrum_statistics_quantile(sorted, draws->count, 0.5),
        .high = fulcrum_statistics_quantile(sorted, draws->count, 0.95)};
    free(sorted);
    return FULCRUM_OK;
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
    double *value;    /* these share one allocation */
    double *predicted;
    double *beside;
    double *moved;
};

static size_t data_that_count(const struct fulcrum_posterior_problem *problem)
{
    size_t count = 0;
    for (size_t i = 0; i < problem->datum_count; i++) {
        count += isfinite(problem->data[i].sd) ? 1 : 0;
    }
    return count;
}

/* GSL's callback: one row per datum that counts, then one per parameter. */
static int residual_rows(const gsl_vector *z, void *context, gsl_vector *rows)
{
    const struct search *search = context;
    const struct fulcrum_posterior_problem *problem = search->problem;
    if (!run_model(problem, 0, z->data, search->value, search->predicted)) {
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

/* Slopes of the data's rows by z; 0 where the model cannot run beside z. */
static int fill_slopes(const struct search *search, const double *z, gsl_matrix *out)
{
    const struct fulcrum_posterior_problem *problem = search->problem;
    for (size_t j = 0; j < problem->belief_count; j++) {
        memcpy(search->moved, z, problem->belief_count * sizeof *search->moved);
        search->moved[j] = z[j] + SLOPE_STEP;
        if (!run_model(problem, 0, search->moved, search->value, search->predicted)) {
            return 0;
        }
        search->moved[j] = z[j] - SLOPE_STEP;
        if (!run_model(problem, 0, search->moved, search->value, search->beside)) {
            return 0;
        }
        size_t row = 0;
        for (size_t i = 0; i < problem->datum_count; i++) {
            double sd = problem->data[i].sd;
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
    if (!run_model(search->problem, 0, z->data, search->value, search->predicted)) {
        return HUGE_VAL;
    }
    return misfit_of(search->problem, search->predicted) +
           penalty_of(search->problem, z->data);
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
        int status = GSL_SUCCESS;
        for (int i = 0; i < SIMPLEX_STEPS && status == GSL_SUCCESS &&
                        gsl_multimin_fminimizer_size(work) >= SIMPLEX_SIZE &&
                        !is_stopped(search->problem);
             i++) {
            status = gsl_multimin_fminimizer_iterate(work);
            /* How far the simplex has shrunk, by orders of magnitude: steady, unlike
             * its size. */
            double size = gsl_multimin_fminimizer_size(work);
            double shrunk_frac =
                log(SIMPLEX_STEP / size) / log(SIMPLEX_STEP / SIMPLEX_SIZE);
            tell_progress(
                search->problem, DESCENTS_FRAC + (1.0 - DESCENTS_FRAC) * shrunk_frac);
        }
        (void)gsl_vector_memcpy(z, gsl_multimin_fminimizer_x(work));
    }
    gsl_multimin_fminimizer_free(work);
    gsl_vector_free(step);
    return FULCRUM_OK;
}

static enum fulcrum_status find_best(
    struct search *search, uint64_t seed, gsl_vector *best, struct fulcrum_error *err)
{
    gsl_vector *z = gsl_vector_alloc(best->size);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double least = HUGE_VAL;
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t start = 0; start < STARTS && status == FULCRUM_OK; start++) {
        tell_progress(search->problem, DESCENTS_FRAC * (double)start / STARTS);
        /* The centres first, then places around them. */
        gsl_vector_set_zero(z);
        gsl_rng_set(rng, fulcrum_stream_gsl_seed(fulcrum_stream_seed(seed, start, 1)));
        for (size_t i = 0; start > 0 && i < z->size; i++) {
            gsl_vector_set(z, i, START_SPREAD * gsl_ran_ugaussian(rng));
        }
        status = descend(search, z, err);
        double found = objective(z, search);
        if (found < least) {
            least = found;
            (void)gsl_vector_memcpy(best, z);
        }
    }
    gsl_vector_free(z);
    gsl_rng_free(rng);
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

static enum fulcrum_status fill_mode(struct search *search, const gsl_vector *best,
    struct fulcrum_posterior_mode *out, struct fulcrum_error *err)
{
    const struct fulcrum_posterior_problem *problem = search->problem;
    size_t n = problem->belief_count;
    memcpy(out->z, best->data, n * sizeof *out->z);
    FAIL_IF(!run_model(problem, 0, out->z, out->value, out->predicted), err,
        FULCRUM_ERR_NO_FIT, "the best parameters cannot run");
    out->misfit = misfit_of(problem, out->predicted);
    out->penalty = penalty_of(problem, out->z);
    size_t rows = data_that_count(problem);
    gsl_matrix *slopes = gsl_matrix_calloc(rows > 0 ? rows : 1, n);
    (void)fill_slopes(search, out->z, slopes);
    /* Roots of the eigenvalues of slopes' slopes: there may be fewer than n rows. */
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
    /* With 1 added to its diagonal the square has a Cholesky factor whatever it is. */
    gsl_matrix_set_zero(square);
    square_slopes(slopes, square);
    for (size_t i = 0; i < n; i++) {
        square->data[i * n + i] += 1.0;
    }
    (void)gsl_linalg_cholesky_decomp1(square);
    (void)gsl_linalg_cholesky_invert(square);
    memcpy(out->covariance, square->data, n * n * sizeof *out->covariance);
    gsl_matrix_free(square);
    gsl_matrix_free(slopes);
    return FULCRUM_OK;
}

void fulcrum_posterior_mode_clear(struct fulcrum_posterior_mode *mode)
{
    free(mode->value);
    *mode = (struct fulcrum_posterior_mode){.misfit = 0.0};
}

enum fulcrum_status fulcrum_posterior_mode_find(
    const struct fulcrum_posterior_problem *problem, uint64_t seed,
    struct fulcrum_posterior_mode *out, struct fulcrum_error *err)
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
    size_t rows = data_that_count(problem);
    size_t n = problem->belief_count;
    size_t m = problem->datum_count;
    enum fulcrum_status status = FULCRUM_OK;
    struct fulcrum_posterior_mode found = {
        .value = calloc(n * (n + 3) + m + 1, sizeof(double)),
        .singular_count = rows < n ? rows : n};
    gsl_vector *best = gsl_vector_calloc(n);
    double *room = calloc(2 * (n + m) + 1, sizeof *room);
    if (room == NULL || best == NULL || found.value == NULL) {
        status = FULCRUM_ERR_NO_MEMORY;
        (void)fulcrum_fail(err, status, "no memory for a fit");
        goto end;
    }
    found.z = found.value + n;
    found.singular_value = found.value + 2 * n;
    found.covariance = found.value + 3 * n;
    found.predicted = found.value + n * (n + 3);
    struct search search = {.problem = problem,
        .row_count = rows + n,
        .value = room,
        .moved = room + n,
        .predicted = room + 2 * n,
        .beside = room + 2 * n + m};
    TRY_OR_END(find_best(&search, seed, best, err));
    status = fill_mode(&search, best, &found, err);
end:
    free(room);
    gsl_vector_free(best);
    if (is_stopped(problem)) {
        status = fulcrum_fail(
            err, FULCRUM_ERR_INTERRUPTED, "stopped before the best parameters");
    }
    if (status == FULCRUM_OK) {
        *out = found;
    } else {
        fulcrum_posterior_mode_clear(&found);
    }
    return status;
}
