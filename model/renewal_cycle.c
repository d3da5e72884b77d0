/* renewal_cycle.c - one cycle of fixed batches, followed slice by slice. */
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
 * largest. And as a batch takes just B, exactly N - B others are left, of which the
 * mean field knows only how likely each is to be still stepping: the likelihoods are
 * tilted to sum to what must be left.
 */
#include "model/renewal_cycle.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Ends of the search where nearly nobody is, or no doubt is left. */
#define NOBODY       1e-9
#define EMPTY_FRAC   2e-4
#define NO_DOUBT     2e-4
#define SURE_SDS     6.0
#define LEAST_SPREAD 1e-3
#define FEW          10.0

#define TILT_STEPS     40
#define TILT_TOLERANCE 1e-7
#define TILT_MOST      2.0

/* A release may lie this many slices beyond the cycle's end before it counts earlier.
 */
#define LATE_SLICES 1.1

/* Steps under way when the cycle begins, by age in slices. */
struct old_steps {
    size_t first;
    size_t last;
    double started[FULCRUM_RENEWAL_AGES];
    double chance[FULCRUM_RENEWAL_AGES]; /* still under way, tilted */
    /* Factors of the tail, or of its square, in sums over the ages. */
    double weight[FULCRUM_RENEWAL_AGES];   /* started * chance / tail at that age */
    double square[FULCRUM_RENEWAL_AGES];   /* weight * chance / tail */
    double doubtful[FULCRUM_RENEWAL_AGES]; /* weight * (1 - chance) */
    double spread; /* variance of their number, were it not known */
};

/* What is known at one slice, by which integrals go on. */
struct moment {
    double time_s;
    double ready;     /* A: mean number ready, */
    double ready_var; /* its variance, */
    double old_frac;  /* share of the old that is not, */
    double doubt;     /* and P(A < B) */
};

/* What is known of all slices. */
struct track {
    double time_s[FULCRUM_RENEWAL_SLICES];
    double queued[FULCRUM_RENEWAL_SLICES]; /* actors that wait for a thread */
};

/* Everything that changes from slice to slice. */
struct walk {
    const struct fulcrum_renewal_case *problem;
    const struct fulcrum_renewal_grid *grid;
    const struct fulcrum_renewal_state *state;
    struct fulcrum_renewal_outcome *out;
    struct old_steps *old;
    double free_s; /* when host and GPU could take the next batch */
    double latency_s;
    double underway;   /* the next release is of the batch so many cycles ago */
    double old_at_cpu; /* stepping and waiting when the cycle began */
    double old_queue;  /* of those waiting then, who still are */
    double queue;
    double arriving[2]; /* released, to be counted in this and the next slice */
    double from_queue;  /* starts that had to wait */
    double new_stepping;
    double new_var;
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

static double normal_density(double z)
{
    return exp(-0.5 * z * z) * 0.3989422804014327;
}

static double normal_below(double z)
{
    return 0.5 * erfc(-z * 0.7071067811865476);
}

/* The incomplete beta function I_x(a, size) for a small whole size, exactly. */
static double few_below(double a, double x, double size)
{
    double term = pow(x, a);
    double sum = term;
    for (double k = 1.0; k < size; k += 1.0) {
        term *= (1.0 - x) * (a + k - 1.0) / k;
        sum += term;
    }
    return fmin(1.0, sum);
}

/* The same for any size, by Camp and Paulson's normal approximation. */
static double many_below(double a, double x, double size)
{
    double w1 = cbrt(size * x);
    double w2 = cbrt(a * (1.0 - x));
    double y = w1 * (1.0 - 1.0 / (9.0 * size)) - w2 * (1.0 - 1.0 / (9.0 * a));
    return normal_below(3.0 * y / sqrt(w1 * w1 / size + w2 * w2 / a));
}

/* P(A < size) of a binomial A with this mean and variance. */
static double chance_below(double mean, double variance, double size)
{
    double reach = SURE_SDS * (1.0 + sqrt(variance));
    if (mean < size - reach || mean > size + reach) {
        return mean < size ? 1.0 : 0.0;
    }
    double p = fmin(1.0 - 1e-9, fmax(1e-3, 1.0 - variance / fmax(NOBODY, mean)));
    double a = mean / p - size + 1.0;
    if (a < 0.05) {
        return 1.0;
    }
    return size <= FEW ? few_below(a, 1.0 - p, size) : many_below(a, 1.0 - p, size);
}

double fulcrum_renewal_latency_s(const struct fulcrum_renewal_case *problem,
    const struct fulcrum_renewal_state *state)
{
    return problem->host_s + state->gpu_wait_s + problem->gpu_s +
           problem->network->delay_s;
}

double fulcrum_renewal_underway(const struct fulcrum_renewal_case *problem,
    const struct fulcrum_renewal_state *state)
{
    double most = floor(problem->network->actors / problem->batch) - 1.0;
    double latency_s = fulcrum_renewal_latency_s(problem, state) * (1.0 - 1e-12);
    double last_s = state->period_s + state->jitter_s;
    if (latency_s < last_s) {
        return 0.0;
    }
    return fmin(most, 1.0 + floor((latency_s - last_s) / state->period_s));
}

/* Adds `count` steps at a place of the table of tails. */
static void add_old(struct old_steps *old, double place, double count)
{
    size_t whole = (size_t)place;
    double part = place - (double)whole;
    old->started[whole] += count * (1.0 - part);
    old->started[whole + 1] += count * part;
    old->first = whole < old->first ? whole : old->first;
    old->last = whole + 1 > old->last ? whole + 1 : old->last;
}

/*
 * How much of the starts at an age has really been started: those of a slice cut by the
 * beginning of the cycle in part; the release that a batch of the last cycle has just
 * had in full, though its place may be a little late.
 */
static double started_frac(double at, double age)
{
    if (at < 0.0) {
        return fmin(1.0, age);
    }
    return fmax(0.0, fmin(1.0, 1.0 + LATE_SLICES + age));
}

/* Steps of all earlier cycles, each like the one whose starts are given. */
static void gather_old(struct walk *walk)
{
    const struct fulcrum_renewal_state *state = walk->state;
    const struct fulcrum_renewal_starts *starts = &state->starts;
    struct old_steps *old = walk->old;
    double oldest = (double)(walk->grid->count - FULCRUM_RENEWAL_UNBORN);
    memset(old->started, 0, (walk->grid->count + 1) * sizeof *old->started);
    old->first = FULCRUM_RENEWAL_AGES - 1;
    old->last = 0;
    double earlier = state->jitter_s / state->period_s * state->length;
    for (size_t i = starts->first; i <= starts->last; i++) {
        double at = (double)i + state->shift - earlier;
        double age = (at < 0.0 ? 0.0 : state->length) - at;
        while (age < -1.0 - LATE_SLICES) {
            age += state->length;
        }
        double share = started_frac(at, age);
        for (; age < oldest; age += state->length) {
            add_old(
                old, fmax(0.0, age + FULCRUM_RENEWAL_UNBORN), share * starts->count[i]);
            share = 1.0;
        }
    }
    old->first = old->first < old->last ? old->first : old->last;
}

/* Chances for one tilt; returns their sum, and its derivative by log(tilt). */
static double tilted_sum(
    struct old_steps *old, const double *tail, double tilt, double *slope)
{
    double sum = 0.0;
    *slope = 0.0;
    for (size_t a = old->first; a <= old->last; a++) {
        double odds = tilt * tail[a];
        double chance = odds / (1.0 - tail[a] + odds + 1e-12);
        old->chance[a] = chance;
        sum += old->started[a] * chance;
        *slope += old->started[a] * chance * (1.0 - chance);
    }
    return sum;
}

/*
 * Makes the chances sum to `stepping` of at most all starts: the odds of independent
 * events under the condition of how many of them happen.
 */
static void tilt_old(struct walk *walk, double stepping)
{
    struct old_steps *old = walk->old;
    const double *tail = walk->grid->tail;
    double slope = 0.0;
    double exponent = stepping > NOBODY ? 0.0 : -40.0;
    double sum = tilted_sum(old, tail, exp(exponent), &slope);
    for (int i = 0; i < TILT_STEPS && stepping > NOBODY; i++) {
        double missing = stepping - sum;
        if (fabs(missing) <= TILT_TOLERANCE * stepping) {
            break;
        }
        double move = missing / (slope + 1e-9 * stepping);
        exponent += fmin(TILT_MOST, fmax(-TILT_MOST, move));
        exponent = fmin(40.0, fmax(-40.0, exponent));
        sum = tilted_sum(old, tail, exp(exponent), &slope);
    }
    old->spread = slope;
    for (size_t a = old->first; a <= old->last; a++) {
        double each = tail[a] > 0.0 ? old->chance[a] / tail[a] : 0.0;
        old->weight[a] = old->started[a] * each;
        old->square[a] = old->weight[a] * each;
        old->doubtful[a] = old->weight[a] * (1.0 - old->chance[a]);
    }
}

/* sum of a[i] b[i]; four partial sums hide the latency of an addition. */
static double dot(const double *a, const double *b, size_t count)
{
    double s0 = 0.0;
    double s1 = 0.0;
    double s2 = 0.0;
    double s3 = 0.0;
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        s0 += a[i] * b[i];
        s1 += a[i + 1] * b[i + 1];
        s2 += a[i + 2] * b[i + 2];
        s3 += a[i + 3] * b[i + 3];
    }
    for (; i < count; i++) {
        s0 += a[i] * b[i];
    }
    return (s0 + s1) + (s2 + s3);
}

/* How many ages of the old are within the tail after j slices. */
static size_t old_count(const struct walk *walk, size_t j)
{
    size_t first = walk->old->first + j;
    size_t last = walk->old->last + j + 1;
    size_t end = walk->grid->count;
    return first >= end ? 0 : (last < end ? last : end) - first;
}

static double old_stepping(const struct walk *walk, size_t j)
{
    size_t first = walk->old->first;
    return dot(
        walk->old->weight + first, walk->grid->tail + first + j, old_count(walk, j));
}

/* Variance of that number, the number at the start being known. */
static double old_variance(const struct walk *walk, size_t j)
{
    const struct old_steps *old = walk->old;
    size_t first = old->first;
    size_t count = old_count(walk, j);
    const double *tail = walk->grid->tail + first + j;
    double alone = 0.0;
    double shared = 0.0;
    for (size_t i = 0; i < count; i++) {
        alone += (old->weight[first + i] - old->square[first + i] * tail[i]) * tail[i];
        shared += old->doubtful[first + i] * tail[i];
    }
    double known = old->spread > NOBODY ? shared * shared / old->spread : 0.0;
    return fmax(0.0, alone - known);
}

/* Steps started in this cycle that go on at slice j, and the variance of that. */
static void count_new(struct walk *walk, size_t j)
{
    const struct fulcrum_renewal_starts *starts = &walk->out->end.starts;
    const double *tail = walk->grid->tail;
    size_t end = walk->grid->count - FULCRUM_RENEWAL_UNBORN;
    walk->new_stepping = 0.0;
    walk->new_var = 0.0;
    size_t first = starts->first;
    first = j > end && j - end > first ? j - end : first;
    for (size_t i = first; i <= starts->last && i < j; i++) {
        double still = starts->count[i] * tail[j - i + FULCRUM_RENEWAL_UNBORN];
        walk->new_stepping += still;
        walk->new_var += still * (1.0 - tail[j - i + FULCRUM_RENEWAL_UNBORN]);
    }
}

/* The pace with so many at the CPU, looked up only where it has changed. */
static void set_pace(struct walk *walk, double at_cpu)
{
    double n = fmax(NOBODY, at_cpu);
    if (fabs(n - walk->paced_at) <= 1e-12 * n) {
        return;
    }
    walk->paced_at = n;
    walk->rate = fulcrum_cpu_capacity(&walk->problem->network->cpu, n);
    walk->pace_s = walk->grid->slice_s * fmin(n, walk->problem->servers) / walk->rate;
}

/* When the batch of so many cycles ago is released; none is left below 0. */
static double next_release_s(const struct walk *walk)
{
    const struct fulcrum_renewal_state *state = walk->state;
    if (walk->underway < -0.5) {
        return (double)INFINITY;
    }
    double jitter_s = walk->underway > 0.5 ? state->jitter_s : 0.0;
    return walk->latency_s - walk->underway * state->period_s - jitter_s;
}

/*
 * Takes what is released within slice j. A start counts half a slice early, as those do
 * that fill a thread some time within the slice before; releases are put that much
 * later.
 */
static void take_releases(struct walk *walk, size_t j)
{
    double batch = walk->problem->batch;
    while (next_release_s(walk) < walk->now.time_s + walk->pace_s) {
        double part = (next_release_s(walk) - walk->now.time_s) / walk->pace_s;
        part = fmin(1.0, fmax(0.0, part));
        if (walk->out->released_at < 0.0) {
            walk->out->released_at = (double)j + part + 0.5;
            walk->out->end.release =
                walk->out->released_at + walk->underway * walk->state->length;
        }
        part += 0.5;
        walk->queue += batch * fmax(0.0, 1.0 - part);
        walk->arriving[0] += batch * (1.0 - fabs(1.0 - part));
        walk->arriving[1] += batch * fmax(0.0, part - 1.0);
        walk->underway -= 1.0;
    }
}

/* Fills free threads; what starts in a slice has already lost the tail's first part. */
static void start_steps(struct walk *walk, size_t j, double stepping)
{
    struct fulcrum_renewal_starts *starts = &walk->out->end.starts;
    double first = walk->grid->tail[FULCRUM_RENEWAL_UNBORN];
    double free = fmax(0.0, walk->problem->servers - stepping) / first;
    double start = fmin(walk->queue, free);
    starts->count[j] = start;
    if (start <= 0.0) {
        return;
    }
    starts->first = starts->last < starts->first ? j : starts->first;
    starts->last = j;
    walk->queue -= start;
    walk->old_queue = fmax(0.0, walk->old_queue - start);
    walk->from_queue += walk->queue > NOBODY ? start : 0.0;
    walk->new_stepping += start * first;
    walk->new_var += start * first * (1.0 - first);
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
static double ready_variance(const struct walk *walk, size_t j, double stepping)
{
    double cv = walk->problem->step_cv;
    double busy = stepping / walk->problem->servers;
    double flow = cv * cv * walk->from_queue * busy * busy;
    double variance = old_variance(walk, j) + walk->new_var + flow;
    return fmax(LEAST_SPREAD, variance);
}

/* Sets what is known at slice j; chances only where they are asked for. */
static void look(struct walk *walk, size_t j, double old_still)
{
    double stepping = old_still + walk->new_stepping;
    double at_cpu = stepping + walk->queue;
    double released = walk->arriving[0] + walk->arriving[1];
    double ready =
        walk->problem->network->actors - on_their_way(walk) - released - at_cpu;
    walk->now.ready = fmax(0.0, ready);
    walk->now.old_frac = walk->old_at_cpu > NOBODY
                             ? (old_still + walk->old_queue) / walk->old_at_cpu
                             : 0.0;
    set_pace(walk, at_cpu);
    /* Far from a batch there is no doubt whatever the variance, at most Poisson's. */
    double far = walk->now.ready + SURE_SDS * (1.0 + sqrt(walk->now.ready));
    walk->now.doubt = 1.0;
    walk->now.ready_var = LEAST_SPREAD + walk->now.ready;
    if (walk->now.time_s + walk->pace_s > walk->free_s && far > walk->problem->batch) {
        walk->now.ready_var = ready_variance(walk, j, stepping);
        walk->now.doubt =
            chance_below(walk->now.ready, walk->now.ready_var, walk->problem->batch);
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
    double from_s = fmax(walk->free_s, before->time_s);
    double part = (from_s - before->time_s) / (now->time_s - before->time_s);
    double doubt = before->doubt + part * (now->doubt - before->doubt);
    double half_s = 0.5 * (now->time_s - from_s);
    walk->doubt_s += half_s * (doubt + now->doubt);
    walk->doubt_s2 += half_s * (doubt * from_s + now->doubt * now->time_s);
    if (before->time_s <= walk->free_s) {
        struct moment *at = &walk->at_free;
        at->ready = before->ready + part * (now->ready - before->ready);
        at->ready_var = before->ready_var + part * (now->ready_var - before->ready_var);
        at->old_frac = before->old_frac + part * (now->old_frac - before->old_frac);
        at->doubt = doubt;
    }
}

static void add_means(struct walk *walk, double at_cpu)
{
    const struct fulcrum_cpu_station *cpu = &walk->problem->network->cpu;
    struct fulcrum_renewal_outcome *out = walk->out;
    double servers = fulcrum_cpu_servers(cpu);
    double cores = cpu->core_count * servers / cpu->thread_count;
    double weight = walk->pace_s;
    weight *= walk->now.time_s < walk->free_s ? 1.0 : walk->now.doubt;
    out->at_cpu += weight * at_cpu;
    out->stepping += weight * fmin(at_cpu, walk->problem->servers);
    out->on_cores += weight * fmin(at_cpu, cores);
    out->work_rate += weight * walk->rate;
}

/*
 * Work time stands still while nobody is at the CPU: goes on to the next release, or to
 * where the stages are free. False where nothing is left to happen.
 */
static int skip_idle(struct walk *walk)
{
    walk->before = walk->now;
    double next_s = next_release_s(walk);
    int last = isinf(next_s);
    walk->now.time_s = fmax(walk->now.time_s, last ? walk->free_s : next_s);
    walk->now.ready = walk->problem->network->actors - on_their_way(walk);
    walk->now.ready_var = LEAST_SPREAD;
    walk->now.old_frac = 0.0;
    walk->now.doubt = chance_below(walk->now.ready, LEAST_SPREAD, walk->problem->batch);
    walk->before.doubt = walk->now.doubt;
    if (walk->now.time_s > walk->before.time_s) {
        integrate_doubt(walk);
    }
    walk->before = walk->now;
    return !last;
}

static void begin(struct walk *walk)
{
    const struct fulcrum_renewal_case *problem = walk->problem;
    const struct fulcrum_renewal_state *state = walk->state;
    double turn_s = problem->host_s + state->gpu_wait_s + problem->gpu_s;
    double deep_s = turn_s - (problem->depth - 1.0) * state->period_s;
    walk->free_s = fmax(problem->host_s, deep_s);
    walk->latency_s = fulcrum_renewal_latency_s(problem, state);
    walk->underway = fulcrum_renewal_underway(problem, state);
    double outside = fmax(0.0, problem->network->actors - on_their_way(walk));
    walk->old_at_cpu = outside - fmin(state->left, outside);
    gather_old(walk);
    double most = 0.0;
    for (size_t a = walk->old->first; a <= walk->old->last; a++) {
        most += walk->old->started[a];
    }
    double stepping = fmax(0.0, walk->old_at_cpu - state->queue);
    stepping = fmin(fmin(stepping, walk->problem->servers), most);
    double fresh = fmin(1.0, fmax(0.0, walk->old_at_cpu - stepping));
    stepping = fmax(0.0, stepping - state->formed_frac * fresh);
    tilt_old(walk, stepping);
    walk->queue = fmax(0.0, walk->old_at_cpu - stepping);
    walk->old_queue = walk->queue;
    walk->now.doubt = 1.0;
    walk->before = walk->now;
}

/* One slice; false when the next batch has started beyond doubt. */
static int take_slice(struct walk *walk, size_t j)
{
    double old_still = old_stepping(walk, j);
    count_new(walk, j);
    walk->queue += walk->arriving[0];
    walk->arriving[0] = walk->arriving[1];
    walk->arriving[1] = 0.0;
    double stepping = old_still + walk->new_stepping;
    double crowd = fmin(walk->problem->batch, walk->problem->servers);
    int empty = stepping + walk->queue < EMPTY_FRAC * crowd + NOBODY &&
                walk->arriving[0] <= 0.0;
    if (empty && !skip_idle(walk)) {
        return 0;
    }
    set_pace(walk, stepping + walk->queue);
    take_releases(walk, j);
    start_steps(walk, j, stepping);
    look(walk, j, old_still);
    if (walk->now.time_s > walk->before.time_s) {
        integrate_doubt(walk);
    }
    add_means(walk, old_still + walk->new_stepping + walk->queue);
    return walk->now.time_s <= walk->free_s || walk->now.doubt >= NO_DOUBT;
}

/* Where in slices a time lies, and the queue there. */
static void locate_end(struct walk *walk, size_t count, double time_s)
{
    size_t i = 0;
    while (i + 2 < count && walk->track->time_s[i + 1] < time_s) {
        i++;
    }
    double part = 0.0;
    if (i + 1 < count && walk->track->time_s[i + 1] > walk->track->time_s[i]) {
        part = (time_s - walk->track->time_s[i]) /
               (walk->track->time_s[i + 1] - walk->track->time_s[i]);
        part = fmin(1.0, fmax(0.0, part));
        walk->track->queued[i] +=
            part * (walk->track->queued[i + 1] - walk->track->queued[i]);
    }
    walk->out->end.length = fmax(1.0, (double)i + part);
    walk->out->end.queue = walk->track->queued[i];
}

/* Cuts the starts to those of one cycle, which are B. */
static void cut_starts(struct fulcrum_renewal_starts *starts, double batch)
{
    if (starts->last < starts->first) {
        *starts = (struct fulcrum_renewal_starts){.count = {batch}};
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

/* What is ready beyond B when the stages become free, on average. */
static void leave_ready(struct walk *walk)
{
    const struct moment *at = &walk->at_free;
    double spread = sqrt(fmax(LEAST_SPREAD, at->ready_var));
    double z = (at->ready - walk->problem->batch) / spread;
    double beyond = spread * (normal_density(z) + z * normal_below(z));
    double most = walk->problem->network->actors -
                  walk->problem->batch *
                      (1.0 + fulcrum_renewal_underway(walk->problem, walk->state));
    walk->out->end.formed_frac = at->doubt;
    walk->out->end.left = fmax(0.0, fmin(beyond, most));
    walk->out->left_slope = at->old_frac * normal_below(z);
}

static void finish(struct walk *walk, size_t count)
{
    struct fulcrum_renewal_outcome *out = walk->out;
    double free_s = walk->free_s;
    /* Never nothing, however far the guess is from what can last. */
    double period_s = fmax(free_s + walk->doubt_s, 1e-3 * walk->grid->slice_s);
    double square_s2 = free_s * free_s + 2.0 * walk->doubt_s2;
    out->end.period_s = period_s;
    out->spread_s = sqrt(fmax(0.0, square_s2 - period_s * period_s));
    out->at_cpu /= period_s;
    out->stepping /= period_s;
    out->on_cores /= period_s;
    out->work_rate /= period_s;
    locate_end(walk, count, period_s);
    leave_ready(walk);
    cut_starts(&out->end.starts, walk->problem->batch);
}

void fulcrum_renewal_follow(const struct fulcrum_renewal_case *problem,
    const struct fulcrum_renewal_grid *grid, const struct fulcrum_renewal_state *state,
    struct fulcrum_renewal_outcome *out)
{
    struct old_steps old;
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
    int going = 1;
    while (going && j < FULCRUM_RENEWAL_SLICES) {
        going = take_slice(&walk, j);
        track.time_s[j] = walk.now.time_s;
        track.queued[j] = walk.queue;
        walk.before = walk.now;
        walk.now.time_s += walk.pace_s;
        j++;
    }
    finish(&walk, j);
}
