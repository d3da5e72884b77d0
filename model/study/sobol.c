/* sobol.c - which inputs the variance of an output comes from: Sobol' indices. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Saltelli's design (Saltelli et al. 2010, Computer Physics Communications 181,
 * 259-270): each row has two independent points A and B of the cube and, for each
 * input, the points A with that input of B (AB) and B with that input of A (BA). With
 * values a, b, ab and ba, summed over rows (Azzini, Mara and Rosati 2021, Environmental
 * Modelling & Software 144, 105167):
 *
 *   first = 2 sum (ba - b)(a - ab) / sum [(a - b)^2 + (ba - ab)^2]
 *   total = sum [(b - ba)^2 + (a - ab)^2] / the same sum
 *
 * The numerator of the total index is Jansen's (1999). Differences alone enter: a large
 * mean costs no digits, an input without effect has 0 for both, an only input 1, and
 * the first index never exceeds the total one, for any number of rows.
 *
 * Rows are points of Sobol's sequence, scrambled anew in each replicate.
 * Indices come from the sums over all replicates, standard errors from leaving out one
 * replicate after the other (the jackknife), which holds for ratios of sums.
 *
 * Evaluations write to places of their own, and sums run in the order of rows: the
 * number of workers changes nothing.
 */

#include "model/study/sensitivity.h"

#include <assert.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_qrng.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "model/number.h"
#include "model/parallel.h"
#include "model/status.h"
#include "model/try.h"

/* More rows than the 30 bits of GSL's Sobol' sequence tell apart are refused. */
enum { FULCRUM_QUASI_ROWS_MOST = 1 << 24 };

enum { FULCRUM_SOBOL_REPLICATES_MOST = 64 };

/*
 * Randomised low-discrepancy points in the unit cube. Sobol's points as GSL has them
 * (Bratley and Fox 1988, up to 40 coordinates), and what GSL leaves out:
 *
 * - The sequence begins at zero, which GSL skips. Without it the first 2^m points are
 * no digital net, and averages over them converge no faster than random ones (Owen
 * 2020, "On dropping the first Sobol' point").
 * - Nested uniform scrambling (Owen 1995, "Randomly permuted (t,m,s)-nets"): each
 * binary digit is flipped or not by a coin that all points share whose higher digits
 * agree. The points stay a net, each becomes uniform, and several scramblings tell the
 * error of an average. Coins are a mix of seed, coordinate and higher digits.
 * - Which column has which coordinate of the sequence is drawn as well. Some pairs and
 * triples of coordinates are balanced much later than others; a column that always had
 * the same ones would owe its error to its place.
 * - More coordinates than 40: Latin supercube sampling (Owen 1998, ACM TOMACS 8,
 * 71-102). Sets of points of fewer coordinates are put side by side, the rows of each
 * in a random order.
 */

enum {
    SOBOL_DIMENSIONS_MOST = 40, /* of gsl_qrng_sobol */
    SOBOL_BITS = 30,            /* of its numbers */
    DIGITS = 32 /* after scrambling: those below Sobol's are coins too */
};

/* The columns of one set of points. */
struct block {
    const size_t *columns; /* of all sets, in the order of their coordinates */
    size_t first;          /* among them */
    size_t width;
    size_t row_count;
    size_t stride; /* coordinates of a whole row */
    uint64_t seed;
};

/* The digits of one coordinate, from the highest on; the result is never 0 or 1. */
static double scramble(double unit, uint64_t seed)
{
    uint64_t digits = (uint64_t)ldexp(unit, SOBOL_BITS) << (DIGITS - SOBOL_BITS);
    uint64_t scrambled = 0;
    for (unsigned level = 0; level < DIGITS; level++) {
        uint64_t higher = digits >> (DIGITS - level);
        uint64_t coin = fulcrum_stream_seed(seed, level, higher) & 1U;
        uint64_t digit = digits >> (DIGITS - 1 - level) & 1U;
        scrambled = scrambled << 1U | (digit ^ coin);
    }
    return ldexp((double)scrambled + 0.5, -DIGITS);
}

/* 0 to count - 1 in random order. */
static void shuffle(gsl_rng *rng, uint64_t seed, size_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        order[i] = i;
    }
    gsl_rng_set(rng, fulcrum_stream_gsl_seed(seed));
    gsl_ran_shuffle(rng, order, count, sizeof *order);
}

static enum fulcrum_status make_block(const struct block *block, gsl_rng *rng,
    size_t *order, double *out, struct fulcrum_error *err)
{
    gsl_qrng *sobol = gsl_qrng_alloc(gsl_qrng_sobol, (unsigned)block->width);
    TRY_MEMORY(sobol, err, "quasi-random points");
    shuffle(rng, fulcrum_stream_seed(block->seed, block->first, 2), order,
        block->row_count);
    double unit[SOBOL_DIMENSIONS_MOST] = {0.0};
    for (size_t i = 0; i < block->row_count; i++) {
        if (i > 0) {
            (void)gsl_qrng_get(sobol, unit);
        }
        double *row = out + order[i] * block->stride;
        assert(block->columns != NULL);
        for (size_t j = 0; j < block->width; j++) {
            size_t column = block->columns[block->first + j];
            row[column] =
                scramble(unit[j], fulcrum_stream_seed(block->seed, column, 1));
        }
    }
    gsl_qrng_free(sobol);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_quasi_fill(double *out, size_t row_count,
    size_t dimension_count, uint64_t seed, struct fulcrum_error *err)
{
    bool is_power_of_two = row_count > 0 && (row_count & (row_count - 1)) == 0;
    FAIL_IF(
        !is_power_of_two || row_count > FULCRUM_QUASI_ROWS_MOST || dimension_count == 0,
        err, FULCRUM_ERR_RANGE,
        "%zu quasi-random points of %zu coordinates: expected a power of two of "
        "points, up to %d, and 1 coordinate or more",
        row_count, dimension_count, (int)FULCRUM_QUASI_ROWS_MOST);
    size_t block_count =
        (dimension_count + SOBOL_DIMENSIONS_MOST - 1) / SOBOL_DIMENSIONS_MOST;
    /* The columns of all sets, and of each set the rows, in random order. */
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    size_t *columns = calloc(dimension_count, sizeof *columns);
    size_t *rows = calloc(row_count, sizeof *rows);
    enum fulcrum_status status = FULCRUM_OK;
    if (rng == NULL || columns == NULL || rows == NULL) {
        (void)fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY, "quasi-random points");
        status = FULCRUM_ERR_NO_MEMORY;
        goto end;
    }
    shuffle(
        rng, fulcrum_stream_seed(seed, dimension_count, 3), columns, dimension_count);
    for (size_t b = 0; b < block_count; b++) {
        size_t first = b * dimension_count / block_count;
        size_t next = (b + 1) * dimension_count / block_count;
        const struct block block = {
            columns, first, next - first, row_count, dimension_count, seed};
        TRY_OR_END(make_block(&block, rng, rows, out, err));
    }
end:
    if (rng != NULL) {
        gsl_rng_free(rng);
    }
    free(columns);
    free(rows);
    return status;
}

/* Rows that a worker evaluates between two looks at go_on. */
enum { ROWS_PER_LOOK = 32 };

/* Differences below this share of the largest value are taken for rounding. */
#define ROUNDING_REL 1e-10

/* Of one output and one input, over the rows of one replicate. */
struct sums {
    double both;  /* 2 (ba - b)(a - ab) */
    double alone; /* (b - ba)^2 + (a - ab)^2 */
    double all;   /* (a - b)^2 + (ba - ab)^2 */
};

struct fulcrum_sobol {
    size_t input_count;
    size_t output_count;
    size_t replicate_count;
    size_t row_count;  /* of a replicate */
    struct sums *sums; /* replicate, output, input */
    double *values;    /* output, replicate, row, A and B */
    struct output {
        size_t dropped_count;
        double largest; /* absolute value */
        struct fulcrum_sobol_spread spread;
    } * outputs;
};

/* A run under way. */
struct job {
    const struct fulcrum_sobol_problem *problem;
    const struct fulcrum_sobol_options *options;
    struct fulcrum_sobol *sobol;
    size_t column_count; /* evaluations of a row: A, B, then AB and BA of each input */
    double *units;       /* of the replicate at hand: row, A's coordinates, B's */
    double *outputs;     /* of the replicate at hand: row, column, output */
    double *mixed;       /* of each worker: coordinates of one evaluation */
    size_t replicate;
    size_t first_row; /* of those that are being evaluated */
    size_t next_row;
};

size_t fulcrum_sobol_evaluations(const struct fulcrum_sobol_problem *problem,
    const struct fulcrum_sobol_options *options)
{
    return options->replicate_count * options->row_count *
           (2 * problem->input_count + 2);
}

/* The coordinates of column `column`: A or B, and one input of the other. */
static void mix(const struct job *job, const double *row, size_t column, double *out)
{
    size_t count = job->problem->coordinate_count;
    const double *own = row + (column % 2) * count;
    const double *other = row + (1 - column % 2) * count;
    size_t changed = column / 2 - 1; /* beyond every input for A and B themselves */
    for (size_t j = 0; j < count; j++) {
        out[j] = job->problem->input_of[j] == changed ? other[j] : own[j];
    }
}

/* A worker's share of the rows: every so many-th one. */
static void work(void *context, size_t worker)
{
    const struct job *job = context;
    for (size_t row = job->first_row + worker; row < job->next_row;
         row += job->options->worker_count) {
        const struct fulcrum_sobol_problem *problem = job->problem;
        size_t count = problem->coordinate_count;
        double *mixed = job->mixed + worker * count;
        size_t row_number = job->replicate * job->options->row_count + row;
        for (size_t column = 0; column < job->column_count; column++) {
            const struct fulcrum_sobol_site site = {
                mixed, worker, row_number * job->column_count + column};
            mix(job, job->units + row * 2 * count, column, mixed);
            problem->evaluate(problem->context, &site,
                job->outputs +
                    (row * job->column_count + column) * problem->output_count);
        }
    }
}

/* False where go_on has stopped it. */
static bool evaluate_replicate(struct job *job)
{
    const struct fulcrum_sobol_problem *problem = job->problem;
    const struct fulcrum_sobol_options *options = job->options;
    size_t stride = ROWS_PER_LOOK * options->worker_count;
    for (size_t row = 0; row < options->row_count; row += stride) {
        size_t left = options->row_count - row;
        job->first_row = row;
        job->next_row = row + (left < stride ? left : stride);
        fulcrum_parallel_each(options->worker_count, work, job);
        size_t done = job->replicate * options->row_count + job->next_row;
        if (problem->go_on != NULL &&
            !problem->go_on(problem->context, done * job->column_count,
                fulcrum_sobol_evaluations(problem, options))) {
            return false;
        }
    }
    return true;
}

static bool is_whole(const struct job *job, const double *row, size_t output)
{
    for (size_t column = 0; column < job->column_count; column++) {
        if (!isfinite(row[column * job->problem->output_count + output])) {
            return false;
        }
    }
    return true;
}

/* One row of one output; `row` is the output in the row's first column. */
static void add_to_sums(const struct job *job, const double *row, struct sums *sums)
{
    size_t stride = job->problem->output_count;
    double a = row[0];
    double b = row[stride];
    for (size_t i = 0; i < job->problem->input_count; i++) {
        double ab = row[(2 + 2 * i) * stride];
        double ba = row[(3 + 2 * i) * stride];
        sums[i].both += 2.0 * (ba - b) * (a - ab);
        sums[i].alone += gsl_pow_2(b - ba) + gsl_pow_2(a - ab);
        sums[i].all += gsl_pow_2(a - b) + gsl_pow_2(ba - ab);
    }
}

/* The largest of the values that are there. */
static double largest_of(const struct job *job, const double *row, double largest)
{
    for (size_t column = 0; column < job->column_count; column++) {
        double value = fabs(row[column * job->problem->output_count]);
        largest = isfinite(value) ? fmax(largest, value) : largest;
    }
    return largest;
}

static void add_output(const struct job *job, size_t output)
{
    struct fulcrum_sobol *sobol = job->sobol;
    struct output *own = &sobol->outputs[output];
    size_t width = job->column_count * sobol->output_count;
    size_t at = job->replicate * sobol->output_count + output;
    double *values =
        sobol->values + (output * job->options->replicate_count + job->replicate) * 2 *
                            sobol->row_count;
    for (size_t row = 0; row < sobol->row_count; row++) {
        const double *outputs = job->outputs + row * width;
        values[2 * row] = outputs[output];
        values[2 * row + 1] = outputs[sobol->output_count + output];
        own->largest = largest_of(job, outputs + output, own->largest);
        if (is_whole(job, outputs, output)) {
            add_to_sums(job, outputs + output, sobol->sums + at * sobol->input_count);
        } else {
            own->dropped_count++;
        }
    }
}

/* Replicate by replicate, as many as go well. */
static enum fulcrum_status run_replicates(struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_sobol_options *options = job->options;
    size_t width = 2 * job->problem->coordinate_count;
    for (size_t r = 0; r < options->replicate_count; r++) {
        job->replicate = r;
        TRY(fulcrum_quasi_fill(job->units, options->row_count, width,
            fulcrum_stream_seed(options->seed, r, 0), err));
        FAIL_IF(!evaluate_replicate(job), err, FULCRUM_ERR_INTERRUPTED,
            "stopped in replicate %zu of %zu", r + 1, options->replicate_count);
        for (size_t o = 0; o < job->sobol->output_count; o++) {
            add_output(job, o);
        }
        job->sobol->replicate_count++;
    }
    return FULCRUM_OK;
}

/* A ratio of sums over replicates, without the one numbered `left_out`. */
struct shares {
    double first;
    double total;
};

static struct shares shares_without(
    const struct fulcrum_sobol *sobol, size_t output, size_t input, size_t left_out)
{
    struct sums sum = {0.0, 0.0, 0.0};
    for (size_t r = 0; r < sobol->replicate_count; r++) {
        const struct sums *sums =
            &sobol->sums[(r * sobol->output_count + output) * sobol->input_count +
                         input];
        sum.both += r == left_out ? 0.0 : sums->both;
        sum.alone += r == left_out ? 0.0 : sums->alone;
        sum.all += r == left_out ? 0.0 : sums->all;
    }
    struct shares shares = {FULCRUM_UNKNOWN, FULCRUM_UNKNOWN};
    if (sum.all > 0.0) {
        /* No larger in any row, but for what sums are rounded by. */
        shares.first = fmin(sum.both, sum.alone) / sum.all;
        shares.total = sum.alone / sum.all;
    }
    return shares;
}

/* The jackknife's standard error, from `count` estimates that each leave one out. */
static double jackknife_error(const double *without, size_t count)
{
    return sqrt((double)(count - 1)) *
           gsl_stats_sd_m(without, 1, count, gsl_stats_mean(without, 1, count)) *
           sqrt((double)(count - 1) / (double)count);
}

/* Too many rows are missing, or nothing varies. */
static bool is_untold(const struct fulcrum_sobol_spread *spread)
{
    double dropped_frac = (double)spread->dropped_count / (double)spread->row_count;
    return spread->is_constant || dropped_frac > FULCRUM_SOBOL_DROPPED_MOST_FRAC;
}

struct fulcrum_sobol_index fulcrum_sobol_index(
    const struct fulcrum_sobol *sobol, size_t output, size_t input)
{
    double first[FULCRUM_SOBOL_REPLICATES_MOST];
    double total[FULCRUM_SOBOL_REPLICATES_MOST];
    size_t count = sobol->replicate_count;
    if (is_untold(&sobol->outputs[output].spread)) {
        return (struct fulcrum_sobol_index){
            FULCRUM_UNKNOWN, FULCRUM_UNKNOWN, FULCRUM_UNKNOWN, FULCRUM_UNKNOWN};
    }
    for (size_t r = 0; r < count; r++) {
        struct shares shares = shares_without(sobol, output, input, r);
        first[r] = shares.first;
        total[r] = shares.total;
    }
    struct shares shares = shares_without(sobol, output, input, count);
    return (struct fulcrum_sobol_index){shares.first, jackknife_error(first, count),
        shares.total, jackknife_error(total, count)};
}

struct fulcrum_sobol_spread fulcrum_sobol_spread(
    const struct fulcrum_sobol *sobol, size_t output)
{
    return sobol->outputs[output].spread;
}

static double interaction_without(
    const struct fulcrum_sobol *sobol, size_t output, size_t left_out)
{
    double left = 1.0;
    for (size_t i = 0; i < sobol->input_count; i++) {
        left -= shares_without(sobol, output, i, left_out).first;
    }
    return left;
}

static void fill_interaction(
    const struct fulcrum_sobol *sobol, size_t output, struct fulcrum_sobol_spread *out)
{
    double without[FULCRUM_SOBOL_REPLICATES_MOST];
    size_t count = sobol->replicate_count;
    for (size_t r = 0; r < count; r++) {
        without[r] = interaction_without(sobol, output, r);
    }
    out->interaction_frac = interaction_without(sobol, output, count);
    out->interaction_error = jackknife_error(without, count);
}

static struct fulcrum_sobol_spread spread_of(
    const struct fulcrum_sobol *sobol, size_t output, size_t replicates_wanted)
{
    double *values = sobol->values + output * replicates_wanted * 2 * sobol->row_count;
    size_t row_count = sobol->replicate_count * sobol->row_count;
    /* Moves what is finite to the front. */
    size_t kept = 0;
    for (size_t i = 0; i < (2 * row_count); i++) {
        if (isfinite(values[i])) {
            values[kept++] = values[i];
        }
    }
    size_t count = kept;
    struct fulcrum_sobol_spread spread = {.mean = FULCRUM_UNKNOWN,
        .sd = FULCRUM_UNKNOWN,
        .interaction_frac = FULCRUM_UNKNOWN,
        .interaction_error = FULCRUM_UNKNOWN,
        .row_count = row_count,
        .dropped_count = sobol->outputs[output].dropped_count};
    struct fulcrum_interval interval = fulcrum_interval_of(values, count);
    spread.lo = interval.lo;
    spread.hi = interval.hi;
    if (count > 1) {
        spread.mean = gsl_stats_mean(values, 1, count);
        spread.sd = gsl_stats_sd_m(values, 1, count, spread.mean);
        spread.is_constant = spread.sd <= ROUNDING_REL * sobol->outputs[output].largest;
    }
    if (!is_untold(&spread)) {
        fill_interaction(sobol, output, &spread);
    }
    return spread;
}

void fulcrum_sobol_free(struct fulcrum_sobol *sobol)
{
    if (sobol != NULL) {
        free(sobol->sums);
        free(sobol->values);
        free(sobol->outputs);
        free(sobol);
    }
}

size_t fulcrum_sobol_replicates(const struct fulcrum_sobol *sobol)
{
    return sobol->replicate_count;
}

static enum fulcrum_status make_room_for(struct job *job, struct fulcrum_error *err)
{
    const struct fulcrum_sobol_problem *problem = job->problem;
    size_t row_count = job->options->row_count;
    size_t count = problem->output_count;
    size_t cells = job->options->replicate_count * count;
    struct fulcrum_sobol *sobol = calloc(1, sizeof *sobol);
    TRY_MEMORY(sobol, err, "a sensitivity analysis");
    job->sobol = sobol;
    *sobol = (struct fulcrum_sobol){.input_count = problem->input_count,
        .output_count = count,
        .row_count = row_count,
        .sums = calloc(cells * problem->input_count, sizeof *sobol->sums),
        .values = calloc(cells * 2 * row_count, sizeof *sobol->values),
        .outputs = calloc(count, sizeof *sobol->outputs)};
    job->column_count = 2 * problem->input_count + 2;
    job->units = calloc(row_count * 2 * problem->coordinate_count, sizeof *job->units);
    job->outputs = calloc(row_count * job->column_count * count, sizeof *job->outputs);
    job->mixed = calloc(
        job->options->worker_count * problem->coordinate_count, sizeof *job->mixed);
    FAIL_IF(sobol->sums == NULL || sobol->values == NULL || sobol->outputs == NULL ||
                job->units == NULL || job->outputs == NULL || job->mixed == NULL,
        err, FULCRUM_ERR_NO_MEMORY, "%zu rows of a sensitivity analysis", row_count);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_sobol_run(const struct fulcrum_sobol_problem *problem,
    const struct fulcrum_sobol_options *options, struct fulcrum_sobol **out,
    struct fulcrum_error *err)
{
    struct job job = {.problem = problem, .options = options};
    *out = NULL;
    FAIL_IF(problem->input_count == 0 || problem->output_count == 0 ||
                problem->coordinate_count < problem->input_count ||
                options->worker_count == 0,
        err, FULCRUM_ERR_RANGE,
        "a sensitivity analysis of %zu inputs, %zu coordinates and %zu outputs by "
        "%zu workers: expected 1 or more of each, and a coordinate for each input",
        problem->input_count, problem->coordinate_count, problem->output_count,
        options->worker_count);
    FAIL_IF(options->replicate_count < 2 ||
                options->replicate_count > FULCRUM_SOBOL_REPLICATES_MOST,
        err, FULCRUM_ERR_RANGE, "%zu replicates: expected 2 to %d",
        options->replicate_count, (int)FULCRUM_SOBOL_REPLICATES_MOST);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(make_room_for(&job, err));
    status = run_replicates(&job, err);
    if (job.sobol->replicate_count > 1 &&
        (status == FULCRUM_OK || status == FULCRUM_ERR_INTERRUPTED)) {
        for (size_t i = 0; i < problem->output_count; i++) {
            job.sobol->outputs[i].spread =
                spread_of(job.sobol, i, options->replicate_count);
        }
        *out = job.sobol;
        job.sobol = NULL;
    }
end:
    fulcrum_sobol_free(job.sobol);
    free(job.units);
    free(job.outputs);
    free(job.mixed);
    return status;
}
