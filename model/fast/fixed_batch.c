/* fixed_batch.c - the mean cycle of a network with fixed batches, by equation (10). */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A network that makes batches of just B settles into cycles. What is looked for is the
 * cycle that ends as it began: the same length, the same number of actors left over,
 * the same wait for the GPU, and the same starts of steps as in the cycles before.
 * One part tells how a given cycle ends; the last feeds the end back, damped,
 * until it agrees. A cycle that comes out longer than assumed makes the next shorter,
 * and where the error changes its sign a secant tells how much of it to feed back.
 *
 * The cycles of a real network differ, and may even alternate. The stationary cycle
 * stands for their mean.
 */
#include "model/fast/steady.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model/fast/steps.h"
#include "model/network/network.h"
#include "model/number.h"
#include "model/try.h"

/* So many standard deviations of the number and one more actor count as certain: beyond
 * four, a normal has a chance of 3e-5. */
#define SURE_SDS 4.0

/*
 * The work rate of a CPU, tabulated where it is asked for. An equation that follows a
 * cycle asks for c(n) some hundred times, and a saturating curve takes a dozen powers
 * for an answer. Up to S the curve is smooth but for kinks, most of which lie at whole
 * numbers of threads; from there on it is constant, except in a table, which is quick
 * by itself. A node is worked out when it is first needed.
 */

enum { RATE_CELLS = 256 };

/* Nodes lie at whole numbers of threads, or at even parts or multiples of them. */
struct rate_cells {
    const struct fulcrum_cpu_station *cpu; /* borrowed */
    double servers;
    double per_actor;            /* cells to an actor */
    double crowded;              /* c(n) beyond all servers; 0: not set */
    double node[RATE_CELLS + 1]; /* 0: not set */
};

/* Cells up to S at least: with fewer threads, each is less than one thread wide. */
#define LEAST_CELLS 32.0

static void rate_cells_init(
    struct rate_cells *cells, const struct fulcrum_cpu_station *cpu)
{
    double servers = fulcrum_cpu_servers(cpu);
    memset(cells, 0, sizeof *cells);
    cells->cpu = cpu;
    cells->servers = servers;
    cells->per_actor = servers < RATE_CELLS ? fulcrum_min(ceil(LEAST_CELLS / servers),
                                                  floor(RATE_CELLS / servers))
                                            : RATE_CELLS / servers;
}

static double node_at(struct rate_cells *cells, size_t i)
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

static double crowded(struct rate_cells *cells, double n)
{
    if (cells->cpu->curve == FULCRUM_CURVE_TABLE) {
        return fulcrum_cpu_capacity(cells->cpu, n);
    }
    if (cells->crowded <= 0.0) {
        cells->crowded = fulcrum_cpu_capacity(cells->cpu, n);
    }
    return cells->crowded;
}

/*
 * fulcrum_cpu_capacity: exact at nodes and beyond all servers, else within 1.5 %, but
 * for a jump of the curve, which is spread over a cell.
 */
static FULCRUM_NOT_INLINE double rate_cells_at(struct rate_cells *cells, double n)
{
    if (n > cells->servers) {
        return crowded(cells, n);
    }
    double place = n * cells->per_actor;
    size_t whole = (size_t)place;
    if (whole >= RATE_CELLS) {
        return node_at(cells, RATE_CELLS);
    }
    double below = node_at(cells, whole);
    double above = node_at(cells, whole + 1);
    return below + (place - (double)whole) * (above - below);
}

/*
 * The chance that too few are ready for a batch. Of a number that is a sum of
 * independent events only mean and variance are known here. The binomial law with these
 * two, its count not held to be whole, is exact for equal events and close to exact for
 * others. Its sums are the incomplete beta function: a finite sum for small batches, a
 * normal approximation for others.
 */

#define FEW 10.0 /* observations in a batch, and terms of the sum; above: normal */

/* Least chance p of an event, and least number of events beyond the batch: without, a
 * variance as large as the mean, or a batch of all events, has no binomial law. */
#define LEAST_P 1e-3
#define LEAST_A 0.05

/* P(Z < z) of a standard normal Z. */
static double normal_below(double z)
{
    return 0.5 * erfc(-z * 0.70710678118654752); /* 1 / sqrt(2) */
}

/* E[max(0, Y)] of a normal Y with this mean and deviation > 0. */
static double normal_beyond(double mean, double deviation)
{
    double z = mean / deviation;
    double density = exp(-0.5 * z * z) * 0.39894228040143268; /* 1 / sqrt(2 pi) */
    return deviation * density + mean * normal_below(z);
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

/*
 * P(A < size) of a number A with this mean and variance, taken as binomial: exactly for
 * sizes up to 10, else to about 0.005. `size` is a whole number >= 1.
 */
static FULCRUM_NOT_INLINE double probability_below(
    double mean, double variance, double size)
{
    double reach = SURE_SDS * (1.0 + sqrt(variance));
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

/* What a cycle is, and how it is cut into slices. */

/* Most slices of a cycle, and of the ages a step can reach: sizes of arrays. */
#define SLICES 512
#define AGES   1024

/* What stays the same while a network is solved; `network` is borrowed. */
struct problem {
    const struct fulcrum_network *network;
    double each;   /* actors that are counted as one; so are the other numbers */
    double actors; /* N */
    double batch;  /* B */
    double servers;
    double host_s;
    double gpu_s; /* stretched */
    double depth; /* 1 where no host stage can overlap the GPU */
    double step_mean_s;
    double step_cv;
    struct rate_cells *rates; /* borrowed; filled on the way */
};

/* The first entries of a table of tails are of steps that are yet to start. */
#define UNBORN 2

/* So many entries behind the end of that table are there, and 0. */
#define MARGIN 16

/* Work time is cut into slices; behind the unborn, tails are means over a slice. */
struct grid {
    double slice_s;
    size_t count; /* tail is 0 from here on */
    double tail[AGES + MARGIN];
    double doubt[AGES]; /* tail * (1 - tail) */
};

/* Starts of steps by slice, from the start of a batch on; B of them make a cycle. */
struct starts {
    size_t first;
    size_t last;
    double count[SLICES];
};

/* A stationary cycle is one that ends as it began; slices may be parts of slices. */
struct state {
    double period_s;
    double jitter_s;    /* by which the last period was longer */
    double length;      /* slices of work in a cycle */
    double left;        /* ready actors beyond B when a batch starts */
    double formed_frac; /* chance that a batch starts as its last actor gets ready */
    double queue;       /* actors that wait for a thread when it starts */
    double release;     /* slices from the start of a batch to its actors' release */
    double gpu_wait_s;  /* of a batch for the one before */
    double shift;       /* slices by which the profile of starts is late */
    struct starts starts;
};

/* What one cycle comes to, beside the state at its end. */
struct outcome {
    struct state end;
    double released_at; /* slice of the first release */
    double spread_s;    /* standard deviation of the period */
    double left_slope;  /* of `end.left` by the left of the start */
    double at_cpu;
    double stepping;
    double on_cores;
    double work_rate; /* mean of c(n) */
};

/* Actors: rounding apart, none. */
#define NOBODY 1e-9

/*
 * Steps under way when a cycle begins, by their age. A batch takes just B actors, and
 * what waits for a thread is known, so the number that goes on stepping is known as
 * well. The mean field only knows for each earlier start how likely it is to be still
 * under way. Independent events under the condition of how many of them happen are, but
 * for small corrections, independent events whose odds are all multiplied by the same
 * factor, the tilt. It makes fresh steps stay and stragglers give way, as they do when
 * a batch forms: proportional scaling would not.
 */

/* How many slices are worked out at a time. */
enum { BLOCK = 8 };

/* Arrays by place in the table of tails, of which `first` to `last` are set. */
struct ages {
    size_t first;
    size_t last;
    double stepping; /* how many are under way, */
    double spread;   /* and the variance of that, were it not known */
    double started[AGES];
    double each[AGES];   /* chance to be under way / tail at that age */
    double weight[AGES]; /* started * each: factors of later tails */
};

/* Steps of more ages than this are as good as alike, which saves a sum over them. */
#define MANY_AGES 16

/* Newton's method for the log of the tilt: steps, the relative error of the number of
 * steps under way, and the change by one step and altogether (exp(40) is all or none).
 */
#define TILT_STEPS     40
#define TILT_TOLERANCE 1e-5
#define TILT_MOST      2.0
#define TILT_END       40.0

/* A release may lie this many slices beyond the cycle's end before it counts earlier.
 */
#define LATE_SLICES 1.1

/*
 * How much of the starts at an age has really been started: those of a slice cut by the
 * beginning of the cycle in part; the release that a batch of the last cycle has just
 * had in full, though its place may be a little late.
 */
static double started_frac(double at, double age)
{
    if (at < 0.0) {
        return fulcrum_min(1.0, age);
    }
    return fulcrum_max(0.0, fulcrum_min(1.0, 1.0 + LATE_SLICES + age));
}

/* Steps of all earlier cycles, each like the one whose starts are given. */
static void gather(struct ages *old, const struct grid *grid, const struct state *state)
{
    const struct starts *starts = &state->starts;
    double oldest = (double)(grid->count - UNBORN);
    memset(old->started, 0, (grid->count + 1) * sizeof *old->started);
    old->first = AGES - 1;
    old->last = 0;
    double earlier = state->jitter_s / state->period_s * state->length;
    for (size_t i = starts->first; i <= starts->last; i++) {
        double at = (double)i + state->shift - earlier;
        double age = (at < 0.0 ? 0.0 : state->length) - at;
        while (age < -1.0 - LATE_SLICES) {
            age += state->length;
        }
        double share = started_frac(at, age);
        while (age < oldest) {
            double place = fulcrum_max(0.0, age + UNBORN);
            /* Adds `count` steps at a place of the table of tails. */
            double count = share * starts->count[i];
            size_t whole = (size_t)place;
            double part = place - (double)whole;
            old->started[whole] += count * (1.0 - part);
            old->started[whole + 1] += count * part;
            old->first = whole < old->first ? whole : old->first;
            old->last = whole + 1 > old->last ? whole + 1 : old->last;
            share = 1.0;
            age += state->length;
        }
    }
    old->first = old->first < old->last ? old->first : old->last;
}

/*
 * Chances for one tilt; returns their sum, and its derivative by log(tilt). Two loops,
 * as only the first can be done for several ages at a time.
 */
static double tilted_sum(
    struct ages *old, const double *tail, double tilt, double *slope)
{
    double sum = 0.0;
    double missed = 0.0;
    for (size_t a = old->first; a <= old->last; a++) {
        double each = tilt / (1.0 - tail[a] + tilt * tail[a] + 1e-12);
        old->each[a] = each;
        old->weight[a] = old->started[a] * each;
    }
    for (size_t a = old->first; a <= old->last; a++) {
        double still = old->weight[a] * tail[a];
        sum += still;
        missed += still * (1.0 - old->each[a] * tail[a]);
    }
    *slope = missed;
    return sum;
}

/*
 * Makes the chances sum to `stepping` of at most all starts: the odds of independent
 * events under the condition of how many of them happen.
 */
static void tilt(struct ages *old, const double *tail, double stepping)
{
    double slope = 0.0;
    double exponent = stepping > NOBODY ? 0.0 : -TILT_END;
    double sum = tilted_sum(old, tail, exp(exponent), &slope);
    for (int i = 0; i < TILT_STEPS && stepping > NOBODY; i++) {
        double missing = stepping - sum;
        if (fabs(missing) <= TILT_TOLERANCE * stepping) {
            break;
        }
        double move = missing / (slope + 1e-9 * stepping);
        exponent += fulcrum_min(TILT_MOST, fulcrum_max(-TILT_MOST, move));
        exponent = fulcrum_min(TILT_END, fulcrum_max(-TILT_END, exponent));
        sum = tilted_sum(old, tail, exp(exponent), &slope);
    }
    old->spread = slope;
    old->stepping = stepping;
}

/* How many ages of the old are within the tail after j slices. */
static size_t within_tail(const struct ages *old, const struct grid *grid, size_t j)
{
    size_t first = old->first + j;
    size_t last = old->last + j + 1;
    size_t end = grid->count;
    return first >= end ? 0 : (last < end ? last : end) - first;
}

/*
 * How many are still under way after j, j + 1, ... slices, on average: `out` has
 * BLOCK of them.
 */
static FULCRUM_NOT_INLINE void ages_left(
    const struct ages *old, const struct grid *grid, size_t j, double *out)
{
    const double *weight = old->weight + old->first;
    const double *tail = grid->tail + old->first + j;
    size_t count = within_tail(old, grid, j);
    double sum[BLOCK] = {0.0};
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < BLOCK; k++) {
            sum[k] += weight[i] * tail[i + k];
        }
    }
    memcpy(out, sum, sizeof sum);
}

/*
 * Variance of that number after j slices, their number at the start being known;
 * `still` is its mean.
 */
static double ages_variance(
    const struct ages *old, const struct grid *grid, size_t j, double still)
{
    size_t count = within_tail(old, grid, j);
    if (count > MANY_AGES) {
        double most = fulcrum_max(NOBODY, old->stepping);
        return still * (1.0 - fulcrum_min(1.0, still / most));
    }
    double alone = 0.0;
    double shared = 0.0;
    for (size_t a = old->first; a < old->first + count; a++) {
        double later = old->weight[a] * grid->tail[a + j];
        alone += later * (1.0 - old->each[a] * grid->tail[a + j]);
        shared += later * (1.0 - old->each[a] * grid->tail[a]);
    }
    double known = old->spread > NOBODY ? shared * shared / old->spread : 0.0;
    return fulcrum_max(0.0, alone - known);
}

/*
 * One cycle, followed slice by slice. The mean field of equation (10): numbers of
 * actors are real, steps end by the tail of their law, and work time is cut into slices
 * in which every stepping actor gets the same work done. A cycle begins with a batch.
 * The steps that were started before it are known by their age, from the starts of an
 * earlier cycle; a queue for threads is worked off first come first served; releases
 * arrive at known times.
 *
 * Fluctuation enters where a mean field is blind to it, in the order of finishing. The
 * number ready after a time has a mean and a variance, so the next batch has not formed
 * with the probability that a binomial variable of these two moments is below B; its
 * integral is the expected time to form, the rest of a stage that is still occupied
 * included. For a full barrier of independent steps that is the exact mean of the
 * largest. What is known of those that are left is in struct ages.
 */

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
    double time_s[SLICES];
    double queued[SLICES]; /* actors that wait for a thread */
    double late[SLICES];   /* starts, the last slice first */
};

/* Everything that changes from slice to slice. */
struct walk {
    const struct problem *problem;
    const struct grid *grid;
    const struct state *state;
    struct outcome *out;
    struct ages *old;
    double old_still[BLOCK]; /* of it, in slices from now on */
    double free_s;           /* when host and GPU could take the next batch */
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

/* From the start of a batch to the release of its actors. */
static double batch_latency_s(const struct problem *problem, const struct state *state)
{
    return problem->host_s + state->gpu_wait_s + problem->gpu_s +
           problem->network->delay_s;
}

/* How many earlier batches are still on their way when a batch starts. */
static double batches_underway(const struct problem *problem, const struct state *state)
{
    double most = floor(problem->actors / problem->batch) - 1.0;
    double latency_s = batch_latency_s(problem, state) * (1.0 - 1e-12);
    double last_s = state->period_s + state->jitter_s;
    if (latency_s < last_s) {
        return 0.0;
    }
    return fulcrum_min(most, 1.0 + floor((latency_s - last_s) / state->period_s));
}

/*
 * The sum over the starts of this cycle of a factor by their age at slice j. Four sums,
 * as an addition takes longer than the rest.
 */
static double over_starts(const struct walk *walk, const double *by_age, size_t j)
{
    const struct starts *starts = &walk->out->end.starts;
    /* The first start of this cycle that can still be under way. */
    size_t end = walk->grid->count - UNBORN;
    size_t first = j > end && j - end > starts->first ? j - end : starts->first;
    if (starts->last < first) {
        return 0.0;
    }
    const double *late = walk->track->late + SLICES - 1 - starts->last;
    const double *factor = by_age + UNBORN + j - starts->last;
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
    walk->rate = rate_cells_at(walk->problem->rates, n * each) / each;
    walk->pace_s =
        walk->grid->slice_s * fulcrum_min(n, walk->problem->servers) / walk->rate;
}

/* When the batch of so many cycles ago is released; none is left below 0. */
static double next_release_s(const struct walk *walk)
{
    if (walk->underway < -0.5) {
        return (double)INFINITY;
    }
    double jitter_s = walk->underway > 0.5 ? walk->state->jitter_s : 0.0;
    return walk->latency_s - walk->underway * walk->state->period_s - jitter_s;
}

/* Fills free threads; what starts in a slice has already lost the tail's first part. */
static void start_steps(struct walk *walk, size_t j, double stepping)
{
    struct starts *starts = &walk->out->end.starts;
    double first = walk->grid->tail[UNBORN];
    double free = fulcrum_max(0.0, walk->problem->servers - stepping) / first;
    double start = fulcrum_min(walk->queue, free);
    starts->count[j] = start;
    walk->track->late[SLICES - 1 - j] = start;
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
    double variance = ages_variance(walk->old, walk->grid, j, old_still) +
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
    double far = walk->now.ready + SURE_SDS * (1.0 + sqrt(walk->now.ready));
    walk->now.doubt = 1.0;
    walk->now.ready_var = LEAST_VARIANCE + walk->now.ready;
    if (walk->now.time_s + walk->pace_s > walk->free_s && far > walk->problem->batch) {
        walk->now.ready_var = ready_variance(walk, j, old_still);
        walk->now.doubt = probability_below(
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
    walk->now.doubt =
        probability_below(walk->now.ready, LEAST_VARIANCE, walk->problem->batch);
    walk->before.doubt = walk->now.doubt;
    if (walk->now.time_s > walk->before.time_s) {
        integrate_doubt(walk);
    }
    walk->before = walk->now;
    return !last;
}

static void begin(struct walk *walk)
{
    const struct problem *problem = walk->problem;
    const struct state *state = walk->state;
    double turn_s = problem->host_s + state->gpu_wait_s + problem->gpu_s;
    double deep_s = turn_s - (problem->depth - 1.0) * state->period_s;
    walk->free_s = fulcrum_max(problem->host_s, deep_s);
    walk->latency_s = batch_latency_s(problem, state);
    const struct fulcrum_cpu_station *cpu = &problem->network->cpu;
    walk->cores = cpu->core_count * fulcrum_cpu_servers(cpu) /
                  (cpu->thread_count * problem->each);
    walk->underway = batches_underway(problem, state);
    double outside = fulcrum_max(0.0, problem->actors - on_their_way(walk));
    walk->old_at_cpu = outside - fulcrum_min(state->left, outside);
    /*
     * Steps of all earlier cycles, each like the one whose starts `state` has, when of
     * `at_cpu` actors at the CPU its queue waits for one of `servers` threads. An actor
     * that got ready just when the cycle began has left a thread to the queue.
     */
    gather(walk->old, walk->grid, state);
    double most = 0.0;
    for (size_t a = walk->old->first; a <= walk->old->last; a++) {
        most += walk->old->started[a];
    }
    double stepping = fulcrum_max(0.0, walk->old_at_cpu - state->queue);
    stepping = fulcrum_min(fulcrum_min(stepping, problem->servers), most);
    double fresh = fulcrum_min(1.0, fulcrum_max(0.0, walk->old_at_cpu - stepping));
    stepping = fulcrum_max(0.0, stepping - state->formed_frac * fresh);
    tilt(walk->old, walk->grid->tail, stepping);
    walk->queue = fulcrum_max(0.0, walk->old_at_cpu - walk->old->stepping);
    walk->old_queue = walk->queue;
    walk->now.doubt = 1.0;
    walk->before = walk->now;
}

/* One slice; false when the next batch has started beyond doubt. */
static bool take_slice(struct walk *walk, size_t j)
{
    size_t place = j % BLOCK;
    if (place == 0) {
        ages_left(walk->old, walk->grid, j, walk->old_still);
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
    double at_cpu = old_still + walk->new_stepping + walk->queue;
    struct outcome *out = walk->out;
    double weight = walk->pace_s;
    weight *= walk->now.time_s < walk->free_s ? 1.0 : walk->now.doubt;
    out->at_cpu += weight * at_cpu;
    out->stepping += weight * fulcrum_min(at_cpu, walk->problem->servers);
    out->on_cores += weight * fulcrum_min(at_cpu, walk->cores);
    out->work_rate += weight * walk->rate;
    return walk->now.time_s <= walk->free_s || walk->now.doubt >= NO_DOUBT;
}

static void finish(struct walk *walk, size_t count)
{
    struct outcome *out = walk->out;
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
    double beyond = normal_beyond(mean, spread);
    double most =
        walk->problem->actors -
        walk->problem->batch * (1.0 + batches_underway(walk->problem, walk->state));
    walk->out->end.formed_frac = at->doubt;
    walk->out->end.left = fulcrum_max(0.0, fulcrum_min(beyond, most));
    double slow_frac =
        walk->old_at_cpu > NOBODY ? at->old_still / walk->old_at_cpu : 0.0;
    walk->out->left_slope = slow_frac * normal_below(mean / spread);
    /* Cuts the starts to those of one cycle, which are B. */
    if (out->end.starts.last < out->end.starts.first) {
        out->end.starts = (struct starts){.count = {walk->problem->batch}};
        return;
    }
    double sum = 0.0;
    for (size_t k = out->end.starts.first; k <= out->end.starts.last; k++) {
        sum += out->end.starts.count[k];
        if (sum >= walk->problem->batch) {
            out->end.starts.count[k] -= sum - walk->problem->batch;
            out->end.starts.last = k;
        }
    }
}

/*
 * Follows the network from the start of a batch until the next is certain to have
 * started. `end.gpu_wait_s`, `end.jitter_s` and `end.shift` are left alone.
 */
static void follow(const struct problem *problem, const struct grid *grid,
    const struct state *state, struct outcome *out)
{
    struct ages old;
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
    while (going && j < SLICES) {
        going = take_slice(&walk, j);
        track.time_s[j] = walk.now.time_s;
        track.queued[j] = walk.queue;
        walk.before = walk.now;
        walk.now.time_s += walk.pace_s;
        j++;
    }
    finish(&walk, j);
}

/*
 * The cycle that ends as it began. The numbers of the iteration and of its grid are set
 * by hand and trade time for accuracy; what they cost is part of the errors in
 * docs/model.md "Fixed batches".
 */

/*
 * Rounds of following a cycle, the first of those whose mean stands in for a cycle that
 * does not settle, and the change that counts as settled: the sum of relative changes
 * of the state, far below what fixed batches are off by (0.85 % on average).
 */
#define MOST_ROUNDS 20
#define LATE_ROUND  12
#define TOLERANCE   1e-3

/*
 * Share of an error that is fed back to the period: at first, at least, and by what
 * factor it grows from round to round while no secant is known. Of the length in
 * slices no more than MOST_OF_STRETCH is.
 */
#define FIRST_DAMPING   0.8
#define LEAST_DAMPING   0.3
#define LESS_DAMPING    1.5
#define MOST_OF_STRETCH 0.9
#define LEAST_MOVE      1e-9 /* log of periods: less gives no secant */
#define WAIT_ANSWER     0.7  /* seconds of period per second of wait, about */

/*
 * Cycles after a shorter and after a longer one: the weight of each; the exponent with
 * which the mean period answers to theirs; how much longer or shorter, at most and at
 * least, as a share of the mean period; and when they are followed: from that change of
 * the state on, or in that round.
 */
#define JITTER_SHARE  0.25
#define JITTER_ANSWER 0.6
#define MOST_JITTER   0.5
#define LEAST_JITTER  1e-3
#define JITTER_FROM   5e-3
#define JITTER_ROUND  9

/*
 * Slices: the least in a first cycle and in a standard deviation of a step, and the
 * most in a first cycle; lengths of a cycle, in slices, at which it is cut anew; and
 * the least cv that the spread is taken of.
 */
#define SLICES_PER_CYCLE 16.0
#define SLICES_PER_SD    3.0
#define MOST_FIRST       120.0
#define LEAST_LENGTH     8.0
#define MOST_LENGTH      300.0
#define LEAST_CV         0.03

/* More actors than this are counted several at a time: chance is small then, and slices
 * are coarse beside it. */
#define MANY_ACTORS 8192.0

/* P(a step is longer) at which the table of tails ends; so many ages are worked out,
 * and a longer table goes on as an exponential. */
#define LEAST_TAIL  1e-4
#define DIRECT_AGES 600

/*
 * Actors per thread between which threads are short for a part of the time, in which
 * actors start together (up to FULCRUM_CROWDED_TURNS); the cv below which they lock;
 * and how many threads, or actors, are few.
 */
#define SHORT_FROM      1.0
#define SHORT_LOCKED_TO 3.0
#define LOCKING_CV      0.35
#define FEW_THREADS     3.0
#define SOME_THREADS    8.0
#define FEW_ACTORS      8.0

/* Relative errors of throughput that one in twenty random networks of a kind exceeded,
 * in half a thousand each (fewer with few threads). */
#define ERROR_FRAC        0.02
#define FEW_ACTORS_FRAC   0.035
#define SOME_THREADS_FRAC 0.05
#define LOCKED_FRAC       0.07
#define FEW_THREADS_FRAC  0.11

/* Everything of one solution, in one allocation. */
struct renewal {
    struct problem problem;
    struct grid grid;
    struct rate_cells rates;
    struct fulcrum_step_form form;
    struct state state;
    struct outcome outcome;
    struct outcome aside; /* of cycles after an unusual one */
    double damping;
    double error;         /* log of period found over period assumed, */
    double before_s;      /* which was this */
    double jitter_factor; /* what the variation of periods makes of their mean, */
    double spread_s;      /* and their deviation */
};

/* Means of the tail over slices, which keeps the mean step whatever the slice. */
static void set_tail(struct renewal *renewal)
{
    struct grid *grid = &renewal->grid;
    double slice_s = grid->slice_s;
    double excess_s = renewal->form.mean_s;
    size_t i = 0;
    for (; i < UNBORN; i++) {
        grid->tail[i] = 1.0;
    }
    for (; i < DIRECT_AGES; i++) {
        double end_s = slice_s * (double)(i + 1 - UNBORN);
        double beyond_s = fulcrum_step_excess(&renewal->form, end_s);
        grid->tail[i] = (excess_s - beyond_s) / slice_s;
        excess_s = beyond_s;
        if (grid->tail[i] < LEAST_TAIL) {
            break;
        }
    }
    double ratio = excess_s / (excess_s + slice_s * grid->tail[i - 1]);
    for (; i >= DIRECT_AGES && i < AGES - 1; i++) {
        grid->tail[i] = grid->tail[i - 1] * ratio;
    }
    grid->count = i;
    memset(grid->tail + i, 0, MARGIN * sizeof grid->tail[0]);
    for (size_t k = 0; k <= i; k++) {
        grid->doubt[k] = grid->tail[k] * (1.0 - grid->tail[k]);
    }
}

/* Cuts a cycle of `work_s` into slices and begins with all starts in one of them. */
static void set_grid(struct renewal *renewal, double work_s)
{
    const struct problem *problem = &renewal->problem;
    struct state *state = &renewal->state;
    double cv = fulcrum_min(1.0, fulcrum_max(LEAST_CV, problem->step_cv));
    double spread_s = cv * renewal->form.mean_s;
    double slice_s = fulcrum_min(spread_s / SLICES_PER_SD, work_s / SLICES_PER_CYCLE);
    renewal->grid.slice_s = fulcrum_max(slice_s, work_s / MOST_FIRST);
    set_tail(renewal);
    state->length = work_s / renewal->grid.slice_s;
    double cycles = batch_latency_s(problem, state) / state->period_s;
    state->release = 0.0;
    size_t at = (size_t)((cycles - floor(cycles)) * state->length);
    state->shift = 0.0;
    state->starts.first = at;
    state->starts.last = at;
    state->starts.count[at] = problem->batch;
}

/* The shortest period that the stages allow and that leaves anyone to form a batch. */
static double least_period_s(const struct problem *problem, const struct state *state)
{
    double batches = floor(problem->actors / problem->batch);
    double alone_s = batch_latency_s(problem, state) / batches * (1.0 + 1e-6);
    double stages_s = problem->depth > 1.5
                          ? fulcrum_max(problem->host_s, problem->gpu_s)
                          : problem->host_s + problem->gpu_s;
    return fulcrum_max(stages_s, alone_s);
}

/* A first guess: the slowest of CPU, stages and round trip. */
static void guess(struct renewal *renewal)
{
    const struct problem *problem = &renewal->problem;
    const struct fulcrum_network *network = problem->network;
    struct state *state = &renewal->state;
    double actors = network->actors;
    double full = fulcrum_min(actors, problem->servers * problem->each);
    double pace = fulcrum_cpu_capacity(&network->cpu, full) / full;
    double step_s = renewal->form.mean_s / pace;
    double cpu_s = network->batch_size * renewal->form.mean_s /
                   fulcrum_cpu_capacity(&network->cpu, actors);
    double turn_s = batch_latency_s(problem, state) + step_s;
    state->period_s = fulcrum_max(cpu_s, 1.1 * turn_s * network->batch_size / actors);
    state->period_s =
        fulcrum_max(state->period_s, 1.05 * least_period_s(problem, state));
    set_grid(renewal, fulcrum_min(state->period_s * pace, 4.0 * renewal->form.mean_s));
}

/*
 * The wait of a batch for the one before on the GPU. A mean period is the GPU's time
 * and its mean idle time, which a longer wait shortens: one step towards that balance.
 */
static double next_gpu_wait_s(const struct renewal *renewal)
{
    const struct problem *problem = &renewal->problem;
    const struct outcome *outcome = &renewal->outcome;
    double wait_s = renewal->state.gpu_wait_s;
    double period_s = outcome->end.period_s;
    double most_s = (problem->depth - 1.0) * fulcrum_max(period_s, problem->gpu_s) -
                    problem->host_s;
    if (problem->depth < 1.5 || most_s <= 0.0) {
        return 0.0;
    }
    double spread_s = renewal->spread_s > 0.0 ? renewal->spread_s : outcome->spread_s;
    spread_s = fulcrum_max(spread_s, 1e-6 * period_s);
    double slack_s = period_s - problem->gpu_s - wait_s;
    double idle_s = normal_beyond(slack_s, spread_s);
    double missing_s = problem->gpu_s + idle_s - period_s;
    wait_s += missing_s / (normal_below(slack_s / spread_s) + WAIT_ANSWER);
    return fulcrum_min(most_s, fulcrum_max(0.0, wait_s));
}

/*
 * A longer period makes the error fall, by how much is known where its sign has
 * changed. Elsewhere the error tells more of the rest of the state, which still moves.
 */
static void adapt_damping(struct renewal *renewal, double error)
{
    double move = log(renewal->state.period_s / renewal->before_s);
    double damping = renewal->damping * LESS_DAMPING;
    if (error * renewal->error < 0.0 && fabs(move) > LEAST_MOVE) {
        damping = move / (renewal->error - error);
    }
    renewal->damping = fulcrum_min(1.0, fulcrum_max(LEAST_DAMPING, damping));
    renewal->before_s = renewal->state.period_s;
    renewal->error = error;
}

/* Moves the state towards its end; returns by how much they differed. */
static double feed_back(struct renewal *renewal)
{
    struct state *state = &renewal->state;
    const struct outcome *outcome = &renewal->outcome;
    const struct state *end = &outcome->end;
    double error = log(end->period_s / state->period_s);
    double stretch = log(end->length / state->length);
    double left = end->left - state->left;
    double wait_s = next_gpu_wait_s(renewal) - state->gpu_wait_s;
    double differed = fabs(error) + 0.3 * fabs(stretch) +
                      fabs(left) / renewal->problem.batch +
                      fabs(wait_s) / state->period_s;
    adapt_damping(renewal, error);
    double damping = renewal->damping;
    state->period_s *= exp(damping * error);
    state->length *= exp(fulcrum_min(MOST_OF_STRETCH, damping) * stretch);
    left = state->left + damping * left / fulcrum_max(0.1, 1.0 - outcome->left_slope);
    state->left = fulcrum_max(0.0, left);
    state->gpu_wait_s += wait_s;
    state->queue = end->queue;
    state->formed_frac = end->formed_frac;
    state->period_s =
        fulcrum_max(state->period_s, least_period_s(&renewal->problem, state));
    return differed;
}

/* The profile of starts is taken as it is, but moved with the damped release. */
static void take_starts(struct renewal *renewal)
{
    struct state *state = &renewal->state;
    const struct outcome *outcome = &renewal->outcome;
    const struct starts *starts = &outcome->end.starts;
    state->starts.first = starts->first;
    state->starts.last = starts->last;
    memcpy(state->starts.count + starts->first, starts->count + starts->first,
        (starts->last + 1 - starts->first) * sizeof *starts->count);
    state->shift = 0.0;
    if (outcome->released_at >= 0.0) {
        state->release = state->release > 0.0 ? state->release : outcome->end.release;
        state->release += renewal->damping * (outcome->end.release - state->release);
        state->shift = state->release - outcome->released_at -
                       batches_underway(&renewal->problem, state) * state->length;
    }
}

/* The period that follows on one that was `jitter_s` longer than the mean. */
static double period_after_s(struct renewal *renewal, double jitter_s)
{
    struct state *state = &renewal->state;
    state->jitter_s = jitter_s;
    follow(&renewal->problem, &renewal->grid, state, &renewal->aside);
    state->jitter_s = 0.0;
    return renewal->aside.end.period_s;
}

/*
 * A long cycle is followed by a short one, but not by as much as a short one by a long:
 * the mean period is taken over a shorter, an equal and a longer last one. None is
 * shorter than the stages allow. What a cycle hands on to the next also adds to the
 * variance, which the answer to a deviation tells.
 */
static void allow_for_jitter(struct renewal *renewal)
{
    const struct problem *problem = &renewal->problem;
    double mean_s = renewal->state.period_s;
    double free_s = problem->host_s + (problem->depth > 1.5 ? 0.0 : problem->gpu_s);
    double alone_s = renewal->outcome.end.period_s;
    double alone_sd_s = renewal->outcome.spread_s;
    double more_s =
        fulcrum_min(MOST_JITTER * mean_s, fulcrum_max(renewal->spread_s, alone_sd_s));
    double less_s = fulcrum_min(more_s, mean_s - free_s);
    if (less_s <= LEAST_JITTER * mean_s) {
        return;
    }
    double short_s = period_after_s(renewal, -less_s);
    double long_s = period_after_s(renewal, more_s);
    double answer = fulcrum_min(1.0, fabs(short_s - long_s) / (less_s + more_s));
    double growth = 1.0 / (1.0 - 2.0 * JITTER_SHARE * answer * answer);
    double mixed_s = alone_s + JITTER_SHARE * (short_s - alone_s) +
                     JITTER_SHARE * (less_s / more_s) * (long_s - alone_s);
    renewal->spread_s = alone_sd_s * sqrt(growth);
    double factor = mixed_s / alone_s;
    renewal->state.period_s *= pow(factor, JITTER_ANSWER);
    renewal->jitter_factor = factor;
    renewal->error = 0.0;
}

/*
 * Where the release of a batch falls on the start of the next there may be no cycle
 * that ends as it began; then the mean over the last rounds stands for one.
 */
static void settle(struct renewal *renewal)
{
    struct state *state = &renewal->state;
    struct outcome *outcome = &renewal->outcome;
    double differed = 1.0;
    double late_log = 0.0;
    bool allowed = false;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        follow(&renewal->problem, &renewal->grid, state, outcome);
        if (!allowed && (differed < JITTER_FROM || round == JITTER_ROUND)) {
            allow_for_jitter(renewal);
            allowed = true;
        }
        outcome->end.period_s *= renewal->jitter_factor;
        outcome->end.length *= renewal->jitter_factor;
        differed = feed_back(renewal);
        if (differed < TOLERANCE && allowed) {
            return;
        }
        late_log += round < LATE_ROUND ? 0.0 : log(state->period_s);
        take_starts(renewal);
        if (state->length < LEAST_LENGTH || state->length > MOST_LENGTH) {
            set_grid(renewal, state->length * renewal->grid.slice_s);
        }
    }
    state->period_s = exp(late_log / (MOST_ROUNDS - LATE_ROUND));
}

/*
 * The means over the cycle miss what doubt about its end does to them. But the CPU must
 * do the work of B steps in a cycle, and so they are scaled.
 */
static void report(const struct renewal *renewal, struct fulcrum_cycle *out)
{
    const struct problem *problem = &renewal->problem;
    const struct outcome *outcome = &renewal->outcome;
    const struct fulcrum_network *network = problem->network;
    double steps_per_s = network->batch_size / renewal->state.period_s;
    double due = steps_per_s * network->step.mean_s;
    double scale = outcome->work_rate > 0.0 ? due / outcome->work_rate : 1.0;
    double servers = problem->servers * problem->each;
    double stage_s = renewal->state.gpu_wait_s + problem->gpu_s;
    *out = (struct fulcrum_cycle){
        .batch = network->batch_size,
        .steps_per_s = steps_per_s,
        .at_cpu = fulcrum_min(network->actors, scale * outcome->at_cpu),
        .stepping = fulcrum_min(servers, scale * outcome->stepping),
        .on_cores = fulcrum_min(servers, scale * outcome->on_cores),
        .at_gpu = stage_s * steps_per_s,
    };
}

enum fulcrum_status fulcrum_fixed_batch_solve(const struct fulcrum_network *network,
    double gpu_stretch, struct fulcrum_cycle *out, struct fulcrum_error *err)
{
    /* Its arrays are written before they are read, and clearing them costs 4 %. */
    struct renewal *renewal = malloc(sizeof *renewal);
    TRY_MEMORY(renewal, err, "no memory to solve a cycle");
    memset(&renewal->state, 0, offsetof(struct state, starts));
    rate_cells_init(&renewal->rates, &network->cpu);
    double batch = network->batch_size;
    double each = fulcrum_max(1.0, network->actors / MANY_ACTORS);
    bool host = fulcrum_batch_takes_time(&network->host);
    renewal->problem = (struct problem){
        .network = network,
        .each = each,
        .actors = network->actors / each,
        .batch = batch / each,
        .servers = fulcrum_cpu_whole_servers(&network->cpu) / each,
        .host_s = network->server_wake_mean_s +
                  (host ? fulcrum_batch_time(&network->host, batch) : 0.0),
        .gpu_s = gpu_stretch * fulcrum_batch_time(&network->gpu, batch),
        .depth = host ? floor(network->depth) : 1.0,
        .step_cv = fulcrum_step_cv(&network->step),
        .rates = &renewal->rates,
    };
    struct problem *problem = &renewal->problem;
    double latency_s = problem->host_s + problem->gpu_s + network->delay_s;
    struct fulcrum_step step = network->step;
    step.mean_s = fulcrum_max(step.mean_s, FULCRUM_NO_TIME_FRAC * latency_s);
    problem->step_mean_s = step.mean_s;
    renewal->form = fulcrum_step_form_of(&step);
    renewal->damping = FIRST_DAMPING;
    renewal->error = 0.0;
    renewal->jitter_factor = 1.0;
    renewal->spread_s = 0.0;
    guess(renewal);
    renewal->before_s = renewal->state.period_s;
    settle(renewal);
    report(renewal, out);
    free(renewal);
    return FULCRUM_OK;
}

double fulcrum_fixed_batch_error_frac(const struct fulcrum_network *network)
{
    double servers = fulcrum_cpu_whole_servers(&network->cpu);
    double crowd = network->actors / servers;
    if (crowd <= SHORT_FROM) {
        return network->actors <= FEW_ACTORS ? FEW_ACTORS_FRAC : ERROR_FRAC;
    }
    if (crowd < FULCRUM_CROWDED_TURNS && servers <= FEW_THREADS) {
        return FEW_THREADS_FRAC;
    }
    if (crowd < SHORT_LOCKED_TO && fulcrum_step_cv(&network->step) < LOCKING_CV) {
        return LOCKED_FRAC;
    }
    return crowd < FULCRUM_CROWDED_TURNS && servers <= SOME_THREADS ? SOME_THREADS_FRAC
                                                                    : ERROR_FRAC;
}
