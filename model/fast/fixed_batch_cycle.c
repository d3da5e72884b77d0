/* fixed_batch_cycle.c - one cycle of fixed batches, followed slice by slice. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The mean field of equation (10): numbers of actors are real, steps end by the tail of
 * their law, and work time is cut into slices in which every stepping actor gets the
 * same work done. A cycle begins with a batch. The steps that were started before it
 * are known by their age, from the starts of an earlier cycle; a queue for threads is
 * worked off first come first served; releases arrive at known times.
 *
 * Fluctuation enters where a mean field is blind to it, in the order of finishing. The
 * number ready after a time has a mean and a variance, so the next batch has not formed
 * with the probability that a binomial variable of these two moments is below B; its
 * integral is the expected time to form, the rest of a stage that is still occupied
 * included. For a full barrier of independent steps that is the exact mean of the
 * largest. What is known of those that are left is in struct fulcrum_residual_ages.
 */

#include "model/fast/fixed_batch.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "model/min_max.h"
#include "model/network/network.h"

/* So many standard deviations of the number and one more actor count as certain: beyond
 * four, a normal has a chance of 3e-5. */
#define FULCRUM_SURE_SDS 4.0

/* The work rate of a CPU, tabulated where it is asked for. */

/*
 * An equation that follows a cycle asks for c(n) some hundred times, and a saturating
 * curve takes a dozen powers for an answer. Up to S the curve is smooth but for kinks,
 * most of which lie at whole numbers of threads; from there on it is constant, except
 * in a table, which is quick by itself. A node is worked out when it is first needed.
 */

/* Cells up to S at least: with fewer threads, each is less than one thread wide. */
#define LEAST_CELLS 32.0

void fulcrum_rate_cells_init(
    struct fulcrum_rate_cells *cells, const struct fulcrum_cpu_station *cpu)
{
    double servers = fulcrum_cpu_servers(cpu);
    memset(cells, 0, sizeof *cells);
    cells->cpu = cpu;
    cells->servers = servers;
    cells->per_actor = servers < FULCRUM_RATE_CELLS
                           ? fulcrum_min(ceil(LEAST_CELLS / servers),
                                 floor(FULCRUM_RATE_CELLS / servers))
                           : FULCRUM_RATE_CELLS / servers;
}

static double node_at(struct fulcrum_rate_cells *cells, size_t i)
{
    if (i == 0) {
        return 0.0;
    }
    if (cells->node[i] <= 0.0) {
        double n = fulcrum_min(cells->servers, (double)i / cells->per_actor);
        cells->node[i] = fulcrum_cpu_capacity(cells->cpu, n);
    }
    return cells->node[i];
}

static double crowded(struct fulcrum_rate_cells *cells, double n)
{
    if (cells->cpu->curve == FULCRUM_CURVE_TABLE) {
        return fulcrum_cpu_capacity(cells->cpu, n);
    }
    if (cells->crowded <= 0.0) {
        cells->crowded = fulcrum_cpu_capacity(cells->cpu, n);
    }
    return cells->crowded;
}

double fulcrum_rate_cells_at(struct fulcrum_rate_cells *cells, double n)
{
    if (n > cells->servers) {
        return crowded(cells, n);
    }
    double place = n * cells->per_actor;
    size_t whole = (size_t)place;
    if (whole >= FULCRUM_RATE_CELLS) {
        return node_at(cells, FULCRUM_RATE_CELLS);
    }
    double below = node_at(cells, whole);
    double above = node_at(cells, whole + 1);
    return below + (place - (double)whole) * (above - below);
}

/* The chance that too few are ready for a batch. */

/*
 * Of a number that is a sum of independent events only mean and variance are known
 * here. The binomial law with these two, its count not held to be whole, is exact for
 * equal events and close to exact for others. Its sums are the incomplete beta
 * function: a finite sum for small batches, a normal approximation for others.
 */

#define FEW 10.0 /* observations in a batch, and terms of the sum; above: normal */

/* Least chance p of an event, and least number of events beyond the batch: without, a
 * variance as large as the mean, or a batch of all events, has no binomial law. */
#define LEAST_P 1e-3
#define LEAST_A 0.05

double fulcrum_normal_below(double z)
{
    return 0.5 * erfc(-z * 0.70710678118654752); /* 1 / sqrt(2) */
}

double fulcrum_normal_beyond(double mean, double deviation)
{
    double z = mean / deviation;
    double density = exp(-0.5 * z * z) * 0.39894228040143268; /* 1 / sqrt(2 pi) */
    return deviation * density + mean * fulcrum_normal_below(z);
}

/* The incomplete beta function I_x(a, size) for a small whole size, exactly. */
static double few_below(double a, double x, double size)
{
    double term = pow(x, a);
    double sum = term;
    for (size_t k = 1; k < (size_t)size; k++) {
        term *= (1.0 - x) * (a + (double)k - 1.0) / (double)k;
        sum += term;
    }
    return fulcrum_min(1.0, sum);
}

/* The same for any size, by Camp and Paulson's normal approximation. */
static double many_below(double a, double x, double size)
{
    double ratio = cbrt(a * (1.0 - x) / (size * x));
    double y = 1.0 - 1.0 / (9.0 * size) - ratio * (1.0 - 1.0 / (9.0 * a));
    /* P(Z < z) to 2e-4, by a logistic curve; Bowling et al., 2009. */
    double z = 3.0 * y / sqrt(1.0 / size + ratio * ratio / a);
    return 1.0 / (1.0 + exp(-z * (1.5976 + 0.070565992 * z * z)));
}

double fulcrum_probability_below(double mean, double variance, double size)
{
    double reach = FULCRUM_SURE_SDS * (1.0 + sqrt(variance));
    if (mean < size - reach || mean > size + reach) {
        return mean < size ? 1.0 : 0.0;
    }
    double p = fulcrum_min(
        1.0 - 1e-9, fulcrum_max(LEAST_P, 1.0 - variance / fulcrum_max(1e-9, mean)));
    double a = mean / p - size + 1.0;
    if (a < LEAST_A) {
        return 1.0;
    }
    return size <= FEW ? few_below(a, 1.0 - p, size) : many_below(a, 1.0 - p, size);
}

#define NOBODY     FULCRUM_FIXED_BATCH_NOBODY
#define EMPTY_FRAC 2e-4 /* of a batch, or of the threads: fewer are nobody */

#define NO_DOUBT       1e-3 /* chance that the next batch has not started: it has */
#define LEAST_VARIANCE 1e-3 /* actors squared: keeps quotients finite */
#define LEAST_SLICES   1e-3 /* of a cycle, while a guess is far from what can last */

/* What is known at one slice, by which integrals go on. */
struct moment {
    double time_s;
    double ready;     /* A: mean number ready, */
    double ready_var; /* its variance, */
    double old_still; /* of those at the CPU when the cycle began, who still are, */
    double doubt;     /* and P(A < B) */
};

/* What is known of all slices. */
struct track {
    double time_s[FULCRUM_FIXED_BATCH_SLICES];
    double queued[FULCRUM_FIXED_BATCH_SLICES]; /* actors that wait for a thread */
    double late[FULCRUM_FIXED_BATCH_SLICES];   /* starts, the last slice first */
};

/* Everything that changes from slice to slice. */
struct walk {
    const struct fulcrum_fixed_batch_case *problem;
    const struct fulcrum_fixed_batch_grid *grid;
    const struct fulcrum_fixed_batch_state *state;
    struct fulcrum_fixed_batch_outcome *out;
    struct fulcrum_residual_ages *old;
    double old_still[FULCRUM_RESIDUAL_BLOCK]; /* of it, in slices from now on */
    double free_s; /* when host and GPU could take the next batch */
    double latency_s;
    double cores;      /* with a thread for actors */
    double underway;   /* the next release is of the batch so many cycles ago */
    double old_at_cpu; /* stepping and waiting when the cycle began */
    double old_queue;  /* of those waiting then, who still are */
    double queue;
    double arriving[2]; /* released, to be counted in this and the next slice */
    double from_queue;  /* starts that had to wait */
    double new_stepping;
    double paced_at; /* number at the CPU for which these hold: */
    double rate;     /* c(n), */
    double pace_s;   /* and seconds that a slice takes */
    struct moment now;
    struct moment before;
    struct moment at_free;
    double doubt_s; /* integrals of P and of t P from free_s on */
    double doubt_s2;
    struct track *track;
};

double fulcrum_fixed_batch_latency_s(const struct fulcrum_fixed_batch_case *problem,
    const struct fulcrum_fixed_batch_state *state)
{
    return problem->host_s + state->gpu_wait_s + problem->gpu_s +
           problem->network->delay_s;
}

double fulcrum_fixed_batch_underway(const struct fulcrum_fixed_batch_case *problem,
    const struct fulcrum_fixed_batch_state *state)
{
    double most = floor(problem->actors / problem->batch) - 1.0;
    double latency_s = fulcrum_fixed_batch_latency_s(problem, state) * (1.0 - 1e-12);
    double last_s = state->period_s + state->jitter_s;
    if (latency_s < last_s) {
        return 0.0;
    }
    return fulcrum_min(most, 1.0 + floor((latency_s - last_s) / state->period_s));
}

/* The first start of this cycle that can still be under way at slice j. */
static size_t first_new(const struct walk *walk, size_t j)
{
    size_t first = walk->out->end.starts.first;
    size_t end = walk->grid->count - FULCRUM_FIXED_BATCH_UNBORN;
    return j > end && j - end > first ? j - end : first;
}

/*
 * The sum over the starts of this cycle of a factor by their age at slice j. Four sums,
 * as an addition takes longer than the rest.
 */
static double over_starts(const struct walk *walk, const double *by_age, size_t j)
{
    const struct fulcrum_fixed_batch_starts *starts = &walk->out->end.starts;
    size_t first = first_new(walk, j);
    if (starts->last < first) {
        return 0.0;
    }
    const double *late =
        walk->track->late + FULCRUM_FIXED_BATCH_SLICES - 1 - starts->last;
    const double *factor = by_age + FULCRUM_FIXED_BATCH_UNBORN + j - starts->last;
    size_t count = starts->last + 1 - first;
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        for (size_t k = 0; k < 4; k++) {
            sum[k] += late[i + k] * factor[i + k];
        }
    }
    for (; i < count; i++) {
        sum[0] += late[i] * factor[i];
    }
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/* The pace with so many at the CPU, looked up only where it has changed. */
static void set_pace(struct walk *walk, double at_cpu)
{
    double n = fulcrum_max(NOBODY, at_cpu);
    if (fabs(n - walk->paced_at) <= 1e-12 * n) {
        return;
    }
    walk->paced_at = n;
    double each = walk->problem->each;
    walk->rate = fulcrum_rate_cells_at(walk->problem->rates, n * each) / each;
    walk->pace_s =
        walk->grid->slice_s * fulcrum_min(n, walk->problem->servers) / walk->rate;
}

/* When the batch of so many cycles ago is released; none is left below 0. */
static double next_release_s(const struct walk *walk)
{
    const struct fulcrum_fixed_batch_state *state = walk->state;
    if (walk->underway < -0.5) {
        return (double)INFINITY;
    }
    double jitter_s = walk->underway > 0.5 ? state->jitter_s : 0.0;
    return walk->latency_s - walk->underway * state->period_s - jitter_s;
}

/* Fills free threads; what starts in a slice has already lost the tail's first part. */
static void start_steps(struct walk *walk, size_t j, double stepping)
{
    struct fulcrum_fixed_batch_starts *starts = &walk->out->end.starts;
    double first = walk->grid->tail[FULCRUM_FIXED_BATCH_UNBORN];
    double free = fulcrum_max(0.0, walk->problem->servers - stepping) / first;
    double start = fulcrum_min(walk->queue, free);
    starts->count[j] = start;
    walk->track->late[FULCRUM_FIXED_BATCH_SLICES - 1 - j] = start;
    if (start <= 0.0) {
        return;
    }
    starts->first = starts->last < starts->first ? j : starts->first;
    starts->last = j;
    walk->queue -= start;
    walk->old_queue = fulcrum_max(0.0, walk->old_queue - start);
    walk->from_queue += walk->queue > NOBODY ? start : 0.0;
    walk->new_stepping += start * first;
}

/* Actors of batches on the host, on the GPU or delayed. */
static double on_their_way(const struct walk *walk)
{
    return walk->problem->batch * (walk->underway + 1.0);
}

/*
 * Variance of A: of steps under way, and of how far the queue has got, which shows only
 * while threads are busy.
 */
static double ready_variance(const struct walk *walk, size_t j, double old_still)
{
    double stepping = old_still + walk->new_stepping;
    double cv = walk->problem->step_cv;
    double busy = stepping / walk->problem->servers;
    double done = fulcrum_max(0.0, walk->from_queue - walk->new_stepping);
    double flow = cv * cv * done * busy * busy;
    double variance =
        fulcrum_residual_ages_variance(walk->old, walk->grid, j, old_still) +
        over_starts(walk, walk->grid->doubt, j) + flow;
    return fulcrum_max(LEAST_VARIANCE, variance);
}

/* Sets what is known at slice j; chances only where they are asked for. */
static void look(struct walk *walk, size_t j, double old_still)
{
    double stepping = old_still + walk->new_stepping;
    double at_cpu = stepping + walk->queue;
    double released = walk->arriving[0] + walk->arriving[1];
    double ready = walk->problem->actors - on_their_way(walk) - released - at_cpu;
    walk->now.ready = fulcrum_max(0.0, ready);
    walk->now.old_still = old_still + walk->old_queue;
    set_pace(walk, at_cpu);
    /* Far from a batch there is no doubt whatever the variance, at most Poisson's. */
    double far = walk->now.ready + FULCRUM_SURE_SDS * (1.0 + sqrt(walk->now.ready));
    walk->now.doubt = 1.0;
    walk->now.ready_var = LEAST_VARIANCE + walk->now.ready;
    if (walk->now.time_s + walk->pace_s > walk->free_s && far > walk->problem->batch) {
        walk->now.ready_var = ready_variance(walk, j, old_still);
        walk->now.doubt = fulcrum_probability_below(
            walk->now.ready, walk->now.ready_var, walk->problem->batch);
    }
}

/* Adds the integrals of doubt from the slice before to this one. */
static void integrate_doubt(struct walk *walk)
{
    const struct moment *before = &walk->before;
    const struct moment *now = &walk->now;
    if (now->time_s <= walk->free_s) {
        return;
    }
    double from_s = fulcrum_max(walk->free_s, before->time_s);
    double part = (from_s - before->time_s) / (now->time_s - before->time_s);
    double doubt = before->doubt + part * (now->doubt - before->doubt);
    double half_s = 0.5 * (now->time_s - from_s);
    walk->doubt_s += half_s * (doubt + now->doubt);
    walk->doubt_s2 += half_s * (doubt * from_s + now->doubt * now->time_s);
    if (before->time_s <= walk->free_s) {
        struct moment *at = &walk->at_free;
        at->ready = before->ready + part * (now->ready - before->ready);
        at->ready_var = before->ready_var + part * (now->ready_var - before->ready_var);
        at->old_still = before->old_still + part * (now->old_still - before->old_still);
        at->doubt = doubt;
    }
}

static void add_means(struct walk *walk, double at_cpu)
{
    struct fulcrum_fixed_batch_outcome *out = walk->out;
    double weight = walk->pace_s;
    weight *= walk->now.time_s < walk->free_s ? 1.0 : walk->now.doubt;
    out->at_cpu += weight * at_cpu;
    out->stepping += weight * fulcrum_min(at_cpu, walk->problem->servers);
    out->on_cores += weight * fulcrum_min(at_cpu, walk->cores);
    out->work_rate += weight * walk->rate;
}

/*
 * Work time stands still while nobody is at the CPU: goes on to the next release, or to
 * where the stages are free. False where nothing is left to happen.
 */
static bool skip_idle(struct walk *walk)
{
    walk->before = walk->now;
    double next_s = next_release_s(walk);
    bool last = isinf(next_s);
    walk->now.time_s = fulcrum_max(walk->now.time_s, last ? walk->free_s : next_s);
    walk->now.ready = walk->problem->actors - on_their_way(walk);
    walk->now.ready_var = LEAST_VARIANCE;
    walk->now.old_still = 0.0;
    walk->now.doubt = fulcrum_probability_below(
        walk->now.ready, LEAST_VARIANCE, walk->problem->batch);
    walk->before.doubt = walk->now.doubt;
    if (walk->now.time_s > walk->before.time_s) {
        integrate_doubt(walk);
    }
    walk->before = walk->now;
    return !last;
}

static void begin(struct walk *walk)
{
    const struct fulcrum_fixed_batch_case *problem = walk->problem;
    const struct fulcrum_fixed_batch_state *state = walk->state;
    double turn_s = problem->host_s + state->gpu_wait_s + problem->gpu_s;
    double deep_s = turn_s - (problem->depth - 1.0) * state->period_s;
    walk->free_s = fulcrum_max(problem->host_s, deep_s);
    walk->latency_s = fulcrum_fixed_batch_latency_s(problem, state);
    const struct fulcrum_cpu_station *cpu = &problem->network->cpu;
    walk->cores = cpu->core_count * fulcrum_cpu_servers(cpu) /
                  (cpu->thread_count * problem->each);
    walk->underway = fulcrum_fixed_batch_underway(problem, state);
    double outside = fulcrum_max(0.0, problem->actors - on_their_way(walk));
    walk->old_at_cpu = outside - fulcrum_min(state->left, outside);
    fulcrum_residual_ages_set(
        walk->old, walk->grid, state, problem->servers, walk->old_at_cpu);
    walk->queue = fulcrum_max(0.0, walk->old_at_cpu - walk->old->stepping);
    walk->old_queue = walk->queue;
    walk->now.doubt = 1.0;
    walk->before = walk->now;
}

/* One slice; false when the next batch has started beyond doubt. */
static bool take_slice(struct walk *walk, size_t j)
{
    size_t place = j % FULCRUM_RESIDUAL_BLOCK;
    if (place == 0) {
        fulcrum_residual_ages_left(walk->old, walk->grid, j, walk->old_still);
    }
    double old_still = walk->old_still[place];
    walk->new_stepping = over_starts(walk, walk->grid->tail, j);
    walk->queue += walk->arriving[0];
    walk->arriving[0] = walk->arriving[1];
    walk->arriving[1] = 0.0;
    double stepping = old_still + walk->new_stepping;
    double crowd = fulcrum_min(walk->problem->batch, walk->problem->servers);
    bool empty = stepping + walk->queue < EMPTY_FRAC * crowd + NOBODY &&
                 walk->arriving[0] <= 0.0;
    if (empty && !skip_idle(walk)) {
        return false;
    }
    set_pace(walk, stepping + walk->queue);
    /*
     * Takes what is released within slice j. A start counts half a slice early, as
     * those do that fill a thread some time within the slice before; releases are put
     * that much later.
     */
    double batch = walk->problem->batch;
    while (next_release_s(walk) < walk->now.time_s + walk->pace_s) {
        double part = (next_release_s(walk) - walk->now.time_s) / walk->pace_s;
        part = fulcrum_min(1.0, fulcrum_max(0.0, part));
        if (walk->out->released_at < 0.0) {
            walk->out->released_at = (double)j + part + 0.5;
            walk->out->end.release =
                walk->out->released_at + walk->underway * walk->state->length;
        }
        part += 0.5;
        walk->queue += batch * fulcrum_max(0.0, 1.0 - part);
        walk->arriving[0] += batch * (1.0 - fabs(1.0 - part));
        walk->arriving[1] += batch * fulcrum_max(0.0, part - 1.0);
        walk->underway -= 1.0;
    }
    start_steps(walk, j, stepping);
    look(walk, j, old_still);
    if (walk->now.time_s > walk->before.time_s) {
        integrate_doubt(walk);
    }
    add_means(walk, old_still + walk->new_stepping + walk->queue);
    return walk->now.time_s <= walk->free_s || walk->now.doubt >= NO_DOUBT;
}

/* Cuts the starts to those of one cycle, which are B. */
static void cut_starts(struct fulcrum_fixed_batch_starts *starts, double batch)
{
    if (starts->last < starts->first) {
        *starts = (struct fulcrum_fixed_batch_starts){.count = {batch}};
        return;
    }
    double sum = 0.0;
    for (size_t i = starts->first; i <= starts->last; i++) {
        sum += starts->count[i];
        if (sum >= batch) {
            starts->count[i] -= sum - batch;
            starts->last = i;
        }
    }
}

static void finish(struct walk *walk, size_t count)
{
    struct fulcrum_fixed_batch_outcome *out = walk->out;
    double free_s = walk->free_s;
    double period_s =
        fulcrum_max(free_s + walk->doubt_s, LEAST_SLICES * walk->grid->slice_s);
    double square_s2 = free_s * free_s + 2.0 * walk->doubt_s2;
    out->end.period_s = period_s;
    out->spread_s = sqrt(fulcrum_max(0.0, square_s2 - period_s * period_s));
    out->at_cpu /= period_s;
    out->stepping /= period_s;
    out->on_cores /= period_s;
    out->work_rate /= period_s;
    /* Where in slices a time lies, and the queue there. */
    size_t i = 0;
    while (i + 2 < count && walk->track->time_s[i + 1] < period_s) {
        i++;
    }
    double part = 0.0;
    if (i + 1 < count && walk->track->time_s[i + 1] > walk->track->time_s[i]) {
        part = (period_s - walk->track->time_s[i]) /
               (walk->track->time_s[i + 1] - walk->track->time_s[i]);
        part = fulcrum_min(1.0, fulcrum_max(0.0, part));
        walk->track->queued[i] +=
            part * (walk->track->queued[i + 1] - walk->track->queued[i]);
    }
    walk->out->end.length = fulcrum_max(1.0, (double)i + part);
    walk->out->end.queue = walk->track->queued[i];
    /* What is ready beyond B when the stages become free, on average. */
    const struct moment *at = &walk->at_free;
    double spread = sqrt(fulcrum_max(LEAST_VARIANCE, at->ready_var));
    double mean = at->ready - walk->problem->batch;
    double beyond = fulcrum_normal_beyond(mean, spread);
    double most = walk->problem->actors -
                  walk->problem->batch *
                      (1.0 + fulcrum_fixed_batch_underway(walk->problem, walk->state));
    walk->out->end.formed_frac = at->doubt;
    walk->out->end.left = fulcrum_max(0.0, fulcrum_min(beyond, most));
    double slow_frac =
        walk->old_at_cpu > NOBODY ? at->old_still / walk->old_at_cpu : 0.0;
    walk->out->left_slope = slow_frac * fulcrum_normal_below(mean / spread);
    cut_starts(&out->end.starts, walk->problem->batch);
}

void fulcrum_fixed_batch_follow(const struct fulcrum_fixed_batch_case *problem,
    const struct fulcrum_fixed_batch_grid *grid,
    const struct fulcrum_fixed_batch_state *state,
    struct fulcrum_fixed_batch_outcome *out)
{
    struct fulcrum_residual_ages old;
    struct track track;
    struct walk walk = {.problem = problem,
        .grid = grid,
        .state = state,
        .out = out,
        .old = &old,
        .track = &track};
    out->end.starts.first = 1;
    out->end.starts.last = 0;
    out->released_at = -1.0;
    out->at_cpu = 0.0;
    out->stepping = 0.0;
    out->on_cores = 0.0;
    out->work_rate = 0.0;
    begin(&walk);
    size_t j = 0;
    bool going = true;
    while (going && j < FULCRUM_FIXED_BATCH_SLICES) {
        going = take_slice(&walk, j);
        track.time_s[j] = walk.now.time_s;
        track.queued[j] = walk.queue;
        walk.before = walk.now;
        walk.now.time_s += walk.pace_s;
        j++;
    }
    finish(&walk, j);
}
