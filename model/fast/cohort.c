/* cohort.c - the stationary cycle of cohorts that batches send to step, (8) and (10).
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each batch sends a cohort of b actors to the CPU, one every period. In a stationary
 * cycle the cohorts are alike, so what is at the CPU now is the sum over earlier
 * cohorts of what is left of each: no history has to be followed until it settles, the
 * whole orbit is found at once.
 *
 * The CPU runs in work time: all stepping actors have got the same amount of work since
 * their cohort arrived. If all fit the threads, a cohort begins to step at one moment.
 * If not, the first of it take the threads that are free, and the others start one by
 * one as threads become free, during the first part of the period; how fast follows
 * from the condition that all threads are busy until the last one has started. That is
 * a linear integral equation, solved with the rate of starts constant on SLICES slices.
 *
 * Two unknowns are left, the period and the part of it in which threads are short. They
 * follow from the number of actors and from the time that a batch takes (greedy) or the
 * size it has (fixed): by Newton's method for both, or two nested bracketed roots.
 */
#include "model/fast/steady.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "model/fast/steps.h"
#include "model/number.h"

enum { SLICES = 3, UNKNOWNS = SLICES + 1, NODES = 4, LAST_NODE = NODES - 1 };

/*
 * Relative errors of roots: of the period (solved jointly: of both gaps together), and
 * of what is solved anew for each period tried, fine enough not to show in the former.
 * Greedy batches begin with hints, which must not show.
 */
#define TOLERANCE       1e-6
#define HINT_TOLERANCE  5e-10
#define INNER_TOLERANCE 0.01 /* of the other */

/*
 * Where threads are short, as a share of the period: the ends of the search, its first
 * guess without a better one, and the range of rough starts. Ends and range keep
 * Newton's steps off places where the equations degenerate.
 */
#define LEAST_SHARE       1e-8
#define FULL_SHARE        (1.0 - 1e-6)
#define FIRST_SHARE       0.5
#define LEAST_ROUGH_SHARE 0.01
#define MOST_ROUGH_SHARE  0.95

/*
 * Newton's and Broyden's steps: how many before nested searches take over, or of a
 * rough start; the first difference, relative to the place; the share of the room to a
 * bound that one step may use up; how much a period may grow in a step; and the least
 * slope that is divided by.
 */
enum { JOINT_STEPS = 14, ROUGH_STEPS = 2 };
#define SMALL_STEP   1e-3
#define MOST_OF_ROOM 0.7
#define MOST_GROWTH  0.3
#define LEAST_RISE   0.05

/* Of the least period, with fixed batches: where the search begins at least. */
#define CROWDED 1.1

#define SINGULAR  1e-30 /* pivot of a singular matrix: starts without bound */
#define NOW       1e-9  /* share of a period: rounding apart, the same moment */
#define RATE_PART 0.05  /* share of a period over which a rate is taken */

/*
 * A fixed batch starts when its last observation comes in, which for the last of many
 * actors is on average when the fluid still lacks exp(-gamma) actors, gamma being
 * Euler's constant. The period may be off by LAST_PART of what that actor adds.
 */
#define LAST_OF_MANY 0.5615
#define LAST_PART    0.02
#define NOBODY       1e-9 /* of those looked for */

struct problem {
    const struct fulcrum_network *network;
    const struct fulcrum_step_table *table;
    double gpu_stretch;
    double servers;
    double linear_pace_s; /* a unit of work, however many threads step; 0: it depends */
};

/* One stationary cycle; work time in units of the mean step, 0 when a cohort arrives.
 */
struct orbit {
    double period;
    double short_until; /* all threads are busy until then */
    double batch;
    double burst;          /* of the cohort that start at once */
    double starts[SLICES]; /* of the others, per slice of `short_until` */
    double
        stays[NODES]; /* where nobody waits: actors at the nodes per actor of a batch */
    double left[NODES];   /* at the CPU from there to the period's end */
    double node_s[NODES]; /* seconds since the cohort arrived */
    double time_s;        /* the whole period */
};

static bool is_fixed(const struct problem *problem)
{
    return problem->network->policy == FULCRUM_BATCH_FIXED;
}

/* Of the gaps: the last actor of a fixed batch counts, however many they are. */
static double tolerance(const struct problem *problem)
{
    double last = LAST_PART * LAST_OF_MANY / problem->network->actors;
    return is_fixed(problem) ? fulcrum_min(TOLERANCE, last) : HINT_TOLERANCE;
}

static double inner_tolerance(const struct problem *problem)
{
    return INNER_TOLERANCE * (is_fixed(problem) ? TOLERANCE : HINT_TOLERANCE);
}

/* At equal distances in short periods; in long ones where most steps end. */
static double node(const struct orbit *orbit, int k)
{
    static const double farthest[NODES] = {0.0, 0.6, 1.8, (double)INFINITY};
    double rest = orbit->period - orbit->short_until;
    return orbit->short_until + fulcrum_min(rest * (double)k / LAST_NODE, farthest[k]);
}

/* Everything that starts in one cycle and still steps `age` after the cohort arrived.
 */
static double survivors(
    const struct problem *problem, const struct orbit *orbit, double age)
{
    double slice = orbit->short_until / SLICES;
    if (slice <= 0.0) {
        return orbit->burst * fulcrum_step_cohorts(problem->table, orbit->period, age);
    }
    struct fulcrum_step_sums sums =
        fulcrum_step_sums_at(problem->table, orbit->period, age);
    double sum = orbit->burst * sums.left;
    double per_slice = 1.0 / slice;
    double older = sums.area;
    for (int j = 0; j < SLICES; j++) {
        double youngest = fulcrum_max(0.0, age - (double)(j + 1) * slice);
        double area =
            fulcrum_step_cohorts_area(problem->table, orbit->period, youngest);
        sum += orbit->starts[j] * (area - older) * per_slice;
        older = area;
    }
    return sum;
}

/* Takes row i off those below it, so that nothing is left in their column i. */
static void eliminate(double matrix[UNKNOWNS][UNKNOWNS + 1], int i, double per_pivot)
{
    const double *row = matrix[i];
#pragma GCC unroll 4
    for (int k = i + 1; k < UNKNOWNS; k++) {
        double factor = matrix[k][i] * per_pivot;
#pragma GCC unroll 5
        for (int j = i; j <= UNKNOWNS; j++) {
            matrix[k][j] -= factor * row[j];
        }
    }
}

/* Brings the row with the largest entry in column i to place i. */
static void pivot(double matrix[UNKNOWNS][UNKNOWNS + 1], int i)
{
    int best = i;
    for (int k = i + 1; k < UNKNOWNS; k++) {
        best = fabs(matrix[k][i]) > fabs(matrix[best][i]) ? k : best;
    }
    if (best == i) {
        return;
    }
    double row[UNKNOWNS + 1];
    memcpy(row, matrix[best], sizeof row);
    memmove(matrix[best], matrix[i], sizeof row);
    memcpy(matrix[i], row, sizeof row);
}

/*
 * Gaussian elimination with partial pivoting; the matrix is destroyed. A singular one,
 * of a period in which nothing ends, makes starts so many that the search turns back.
 */
static void solve_starts(double matrix[UNKNOWNS][UNKNOWNS + 1], double starts[UNKNOWNS])
{
    double per_pivot[UNKNOWNS];
#pragma GCC unroll 4
    for (int i = 0; i < UNKNOWNS; i++) {
        pivot(matrix, i);
        bool is_singular = !(fabs(matrix[i][i]) > 0.0);
        per_pivot[i] = 1.0 / (is_singular ? SINGULAR : matrix[i][i]);
        if (!is_singular) {
            eliminate(matrix, i, per_pivot[i]);
        }
    }
#pragma GCC unroll 4
    for (int i = UNKNOWNS - 1; i >= 0; i--) {
        double sum = matrix[i][UNKNOWNS];
        for (int j = i + 1; j < UNKNOWNS; j++) {
            sum -= matrix[i][j] * starts[j];
        }
        starts[i] = sum * per_pivot[i];
    }
}

/* How much of a slice's starts is left: a whole number of slices later, by its end. */
struct slice_tails {
    double burst[SLICES + 1]; /* of an actor that started at once, at the ends */
    double after[SLICES];     /* at the end of the slice k slices on */
    double before[SLICES];    /* at the end of the period, if the slice was the k-th */
};

static struct slice_tails slice_tails(
    const struct problem *problem, double period, double slice)
{
    struct slice_tails out;
    double per_slice = 1.0 / slice;
    struct fulcrum_step_sums young = fulcrum_step_sums_at(problem->table, period, 0.0);
    double old = fulcrum_step_cohorts_area(problem->table, period, period);
    out.burst[0] = young.left;
    for (int k = 0; k < SLICES; k++) {
        double later = (double)(k + 1) * slice;
        struct fulcrum_step_sums sums =
            fulcrum_step_sums_at(problem->table, period, later);
        out.burst[k + 1] = sums.left;
        out.after[k] = (young.area - sums.area) * per_slice;
        young = sums;
        double next = fulcrum_step_cohorts_area(problem->table, period, period - later);
        out.before[k] = (next - old) * per_slice;
        old = next;
    }
    return out;
}

/* Seconds per unit of work while n actors are at the CPU. */
static double pace_s(const struct problem *problem, double n)
{
    n = fulcrum_max(n, 1e-9);
    return problem->network->step.mean_s * fulcrum_min(n, problem->servers) /
           fulcrum_cpu_capacity(&problem->network->cpu, n);
}

/* Work time into seconds: while threads are short, then from node to node. */
static void add_times(const struct problem *problem, struct orbit *orbit)
{
    double waiting = 0.5 * (orbit->batch - orbit->burst);
    double pace = problem->linear_pace_s;
    orbit->node_s[0] = 0.0;
    if (orbit->short_until > 0.0) {
        orbit->node_s[0] =
            orbit->short_until * pace_s(problem, problem->servers + waiting);
    }
    double before = pace > 0.0 ? pace : pace_s(problem, orbit->left[0]);
    for (int k = 1; k < NODES; k++) {
        double here = pace > 0.0 ? pace : pace_s(problem, orbit->left[k]);
        double step = node(orbit, k) - node(orbit, k - 1);
        orbit->node_s[k] = orbit->node_s[k - 1] + 0.5 * step * (before + here);
        before = here;
    }
    orbit->time_s = orbit->node_s[LAST_NODE];
}

static void set_free_batch(
    const struct problem *problem, double batch, struct orbit *orbit)
{
    orbit->batch = batch;
    orbit->burst = batch;
    for (int k = 0; k < NODES; k++) {
        orbit->left[k] = batch * orbit->stays[k];
    }
    add_times(problem, orbit);
}

static void add_inner_nodes(const struct problem *problem, struct orbit *orbit)
{
    for (int k = 1; k < LAST_NODE; k++) {
        orbit->left[k] = survivors(problem, orbit, node(orbit, k));
    }
}

/* Threads are short for a part of the period, whatever number of actors that takes. */
static void set_short(const struct problem *problem, double period, double short_until,
    struct orbit *orbit)
{
    orbit->period = period;
    orbit->short_until = short_until;
    /* The starts that keep all threads busy at the ends of the slices. */
    double slice = orbit->short_until / SLICES;
    struct slice_tails tails = slice_tails(problem, orbit->period, slice);
    double matrix[UNKNOWNS][UNKNOWNS + 1];
    double starts[UNKNOWNS] = {0.0};
    for (int i = 0; i < UNKNOWNS; i++) {
        matrix[i][0] = tails.burst[i];
        for (int j = 0; j < SLICES; j++) {
            matrix[i][j + 1] = j < i ? tails.after[i - 1 - j] : tails.before[j - i];
        }
        matrix[i][UNKNOWNS] = problem->servers;
    }
    double whole = matrix[0][0];
    solve_starts(matrix, starts);
    orbit->burst = starts[0];
    orbit->batch = starts[0];
    orbit->left[LAST_NODE] = starts[0] * (whole - 1.0);
    for (int j = 0; j < SLICES; j++) {
        orbit->starts[j] = starts[j + 1];
        orbit->batch += starts[j + 1];
        orbit->left[LAST_NODE] += starts[j + 1] * tails.before[j];
    }
    orbit->left[0] = problem->servers;
    if (problem->linear_pace_s <= 0.0) {
        add_inner_nodes(problem, orbit);
    }
    add_times(problem, orbit);
}

/* Actors at the CPU `time_s` after a cohort arrived, 0 <= time_s < period. */
static double at_cpu(
    const struct problem *problem, const struct orbit *orbit, double time_s)
{
    if (time_s < orbit->node_s[0]) {
        double place = time_s / orbit->node_s[0] * SLICES;
        double waiting = orbit->batch - orbit->burst;
        for (int j = 0; j < SLICES; j++) {
            waiting -= orbit->starts[j] *
                       fulcrum_min(1.0, fulcrum_max(0.0, place - (double)j));
        }
        return problem->servers + waiting;
    }
    int k = 0;
    while (k < LAST_NODE - 1 && time_s > orbit->node_s[k + 1]) {
        k++;
    }
    double width_s = orbit->node_s[k + 1] - orbit->node_s[k];
    double part = width_s > 0.0 ? (time_s - orbit->node_s[k]) / width_s : 0.0;
    return survivors(
        problem, orbit, node(orbit, k) + part * (node(orbit, k + 1) - node(orbit, k)));
}

/*
 * Actors in all: those of batches that are inside when one has just started, and those
 * at the CPU at that moment.
 */
static double population(const struct problem *problem, const struct orbit *orbit,
    double interval_s, double latency_s)
{
    double inside = ceil(latency_s / interval_s - NOW);
    double since = fulcrum_max(0.0, inside - latency_s / interval_s);
    double n = since > NOW ? at_cpu(problem, orbit, since * orbit->time_s)
                           : orbit->left[LAST_NODE] + orbit->batch;
    return orbit->batch * inside + n;
}

/* Actors or, with fixed batches, observations in a batch that the orbit has too many.
 */
static double surplus(const struct problem *problem, const struct orbit *orbit)
{
    const struct fulcrum_network *network = problem->network;
    if (is_fixed(problem)) {
        return orbit->batch / network->batch_size - 1.0;
    }
    struct fulcrum_batch_service pace =
        fulcrum_batch_service_of(network, problem->gpu_stretch, orbit->batch);
    return population(problem, orbit, pace.interval_s, pace.latency_s) /
               network->actors -
           1.0;
}

/* Where to look first, from the orbit of another period. */
struct guess {
    bool is_short; /* threads are, for a part of the period */
    double share;
    double share_slope;
    double batch;
    double batch_slope;
};

/* A period in which all actors of a cohort start at once, whatever the batch. */
static void set_free_period(
    const struct problem *problem, double period, struct orbit *orbit)
{
    *orbit = (struct orbit){.period = period};
    for (int k = 0; k < LAST_NODE; k++) {
        orbit->stays[k] = fulcrum_step_cohorts(problem->table, period, node(orbit, k));
    }
    orbit->stays[LAST_NODE] = orbit->stays[0] - 1.0;
}

/* The batch of a period if every actor starts at once. */
static void set_free(const struct problem *problem, double period, struct guess *guess,
    struct orbit *orbit)
{
    const struct fulcrum_network *network = problem->network;
    set_free_period(problem, period, orbit);
    if (is_fixed(problem)) {
        set_free_batch(problem, network->batch_size, orbit);
        return;
    }
    double per_batch = 1.0 + orbit->stays[0];
    struct fulcrum_root root = {.high = network->actors,
        .x = guess->batch > 0.0 ? guess->batch : network->actors / per_batch,
        .slope = guess->batch > 0.0 ? guess->batch_slope : per_batch / network->actors,
        .tolerance_rel = inner_tolerance(problem)};
    do {
        set_free_batch(problem, root.x, orbit);
    } while (fulcrum_root_next(&root, surplus(problem, orbit)));
    guess->batch = root.x;
    guess->batch_slope = root.slope;
}

/* How long threads are short in a period; 0 if they are not. */
static bool find_short(const struct problem *problem, double period,
    struct guess *guess, struct orbit *orbit)
{
    struct fulcrum_root root = {.low = LEAST_SHARE,
        .high = FULL_SHARE,
        .x = fulcrum_min(FULL_SHARE, fulcrum_max(LEAST_SHARE, guess->share)),
        .slope = guess->share_slope,
        .tolerance_rel = inner_tolerance(problem)};
    do {
        set_short(problem, period, root.x * period, orbit);
    } while (fulcrum_root_next(&root, surplus(problem, orbit)));
    guess->share = root.x;
    guess->share_slope = root.slope;
    guess->is_short = root.x > 2.0 * LEAST_SHARE;
    return guess->is_short;
}

/*
 * The orbit of a given period that has the right number of actors or batch size; it is
 * mostly of the kind of the last one.
 */
static void set_orbit(const struct problem *problem, double period, struct guess *guess,
    struct orbit *orbit)
{
    if (guess->is_short && find_short(problem, period, guess, orbit)) {
        return;
    }
    set_free(problem, period, guess, orbit);
    if (orbit->left[0] > problem->servers) {
        guess->share = FIRST_SHARE;
        (void)find_short(problem, period, guess, orbit);
    }
}

/*
 * With fixed batches: how much sooner than the next batch starts the last actor that it
 * needs has come in, as a share of the period. That is nearly a line where the number
 * of those missing is first steep, then flat. Where nobody can be the last, it says
 * how many are too many or too few.
 */
static double last_gap(const struct problem *problem, const struct orbit *orbit)
{
    const struct fulcrum_network *network = problem->network;
    struct fulcrum_batch_service pace = fulcrum_batch_service_unhurried(
        network, problem->gpu_stretch, network->batch_size);
    double turns = pace.latency_s / orbit->time_s;
    double inside = ceil(turns - NOW);
    double since = fulcrum_max(0.0, inside - turns);
    double last = network->actors + LAST_OF_MANY - orbit->batch * inside;
    double most = at_cpu(problem, orbit, 0.0);
    double least = orbit->left[LAST_NODE];
    if (last >= most) {
        return since + (last - most) / network->actors;
    }
    if (last <= least) {
        return since - 1.0 + (last - least) / network->actors;
    }
    struct fulcrum_root root = {.high = 1.0,
        .x = fulcrum_min(0.999, fulcrum_max(0.001, since)),
        .slope = 1.0,
        .tolerance_rel = inner_tolerance(problem)};
    while (fulcrum_root_next(
        &root, -log(fulcrum_max(
                   NOBODY, at_cpu(problem, orbit, root.x * orbit->time_s) / last)))) {
    }
    return since - root.x;
}

/* Rises with the period: time that passes over time there is, or for the last actor. */
static double period_gap(const struct problem *problem, const struct orbit *orbit)
{
    const struct fulcrum_network *network = problem->network;
    if (is_fixed(problem)) {
        return last_gap(problem, orbit);
    }
    struct fulcrum_batch_service pace =
        fulcrum_batch_service_of(network, problem->gpu_stretch, orbit->batch);
    return orbit->time_s / pace.interval_s - 1.0;
}

/* Period and short part that the search begins with. */
struct start {
    double period;
    double short_until;
};

/*
 * How long threads are short, roughly: they work all that time, and then on what is
 * left of steps that have begun, r, or on as much of it as the period allows.
 *   b / S = u + r (1 - exp(-(period - u) / r)),  r = (1 + cv^2) / 2
 * by Newton's method from the left.
 */
static double rough_short(const struct problem *problem, double batch, double period)
{
    double full = batch / problem->servers;
    if (full * fulcrum_step_cohorts(problem->table, period, 0.0) < 1.0) {
        return 0.0;
    }
    double rest = 0.5 * (1.0 + problem->table->cv * problem->table->cv);
    double u = full - rest;
    for (int i = 0; i < ROUGH_STEPS; i++) {
        double gone = exp(-fulcrum_max(0.0, period - u) / rest);
        u += (full - u - rest * (1.0 - gone)) / fulcrum_max(LEAST_RISE, 1.0 - gone);
    }
    double share =
        fulcrum_min(MOST_ROUGH_SHARE, fulcrum_max(LEAST_ROUGH_SHARE, u / period));
    return share * period;
}

/* Threads cannot finish a fixed batch in less. */
static double least_period(const struct problem *problem)
{
    return is_fixed(problem) ? problem->network->batch_size / problem->servers : 0.0;
}

/* Where the search begins. */
static struct start first_guess(const struct problem *problem, double batch)
{
    const struct fulcrum_network *network = problem->network;
    if (!is_fixed(problem)) {
        batch = batch > 0.0 ? batch : network->actors / 3.0;
        struct fulcrum_batch_service pace =
            fulcrum_batch_service_of(network, problem->gpu_stretch, batch);
        /* The period of a batch that takes `time_s`, and how long threads are short in
         * it. */
        double short_s = pace_s(problem, problem->servers);
        double mid_s = pace_s(problem, 0.5 * fulcrum_min(batch, problem->servers));
        struct start start = {.period = pace.interval_s / short_s};
        for (int i = 0; i < 2; i++) {
            start.short_until = rough_short(problem, batch, start.period);
            double rest_s =
                fulcrum_max(0.0, pace.interval_s - start.short_until * short_s);
            start.period = start.short_until + rest_s / mid_s;
        }
        return start;
    }
    double mean_s = network->step.mean_s;
    struct fulcrum_batch_service pace = fulcrum_batch_service_unhurried(
        network, problem->gpu_stretch, network->batch_size);
    double turn_s = pace.latency_s + 1.5 * mean_s;
    double period = fulcrum_max(CROWDED * least_period(problem),
        network->batch_size / network->actors * turn_s / mean_s);
    return (struct start){period, rough_short(problem, network->batch_size, period)};
}

/* Both equations at a period and the part of it in which threads are short or, where
 * they never are, the batch. */
struct trial {
    bool is_short;
    double place[2]; /* period, and short_until or batch */
    double gap[2];
};

static void try_place(
    const struct problem *problem, struct trial *trial, struct orbit *orbit)
{
    if (trial->is_short) {
        set_short(problem, trial->place[0], trial->place[1], orbit);
    } else {
        set_free_period(problem, trial->place[0], orbit);
        set_free_batch(problem, trial->place[1], orbit);
    }
    trial->gap[0] = surplus(problem, orbit);
    trial->gap[1] = period_gap(problem, orbit);
}

/* Slopes of both gaps by both places, from two small steps. */
static void find_slopes(
    const struct problem *problem, const struct trial *trial, double slope[2][2])
{
    struct orbit orbit;
    for (int j = 0; j < 2; j++) {
        struct trial beside = *trial;
        double step = SMALL_STEP * trial->place[j];
        beside.place[j] -= step;
        try_place(problem, &beside, &orbit);
        for (int i = 0; i < 2; i++) {
            slope[i][j] = (trial->gap[i] - beside.gap[i]) / step;
        }
    }
}

/* The share of a step that takes off no more than MOST_OF_ROOM of what there is. */
static double within(double room, double change)
{
    return change < 0.0 ? fulcrum_min(1.0, MOST_OF_ROOM * room / -change) : 1.0;
}

/* Newton's step, cut short where threads were never or always short; false: impossible.
 */
static bool take_step(const struct trial *trial, double slope[2][2], double step[2])
{
    double det = slope[0][0] * slope[1][1] - slope[0][1] * slope[1][0];
    if (!(fabs(det) > 0.0)) {
        return false;
    }
    step[0] = (slope[0][1] * trial->gap[1] - slope[1][1] * trial->gap[0]) / det;
    step[1] = (slope[1][0] * trial->gap[0] - slope[0][0] * trial->gap[1]) / det;
    double shorter = trial->is_short ? 1.0 : 0.0;
    double part = fulcrum_min(within(trial->place[1], step[1]),
        within(
            trial->place[0] - shorter * trial->place[1], step[0] - shorter * step[1]));
    part =
        fulcrum_min(part, MOST_GROWTH * trial->place[0] / fulcrum_max(step[0], 1e-300));
    step[0] *= part;
    step[1] *= part;
    return isfinite(step[0]) && isfinite(step[1]) &&
           (fabs(step[0]) > 0.0 || fabs(step[1]) > 0.0);
}

/*
 * Period and its short part at once, by Newton's method with Broyden's updates: a third
 * of the work of nested searches where it succeeds, which it does nearly always.
 * False where it does not.
 *   trial, slope  where it begins; at the end where it is
 */
static bool solve_jointly(const struct problem *problem, struct trial *trial,
    double slope[2][2], struct orbit *orbit)
{
    double enough = tolerance(problem);
    double step[2];
    for (int i = 0; !(fabs(trial->gap[0]) + fabs(trial->gap[1]) < enough); i++) {
        if (i == JOINT_STEPS || !take_step(trial, slope, step)) {
            return false;
        }
        struct trial next = {.is_short = trial->is_short,
            .place = {trial->place[0] + step[0], trial->place[1] + step[1]}};
        try_place(problem, &next, orbit);
        /* Broyden's update: the slopes along the step become those that were seen. */
        double length = step[0] * step[0] + step[1] * step[1];
        for (int k = 0; k < 2; k++) {
            double seen = next.gap[k] - trial->gap[k];
            double miss = seen - slope[k][0] * step[0] - slope[k][1] * step[1];
            slope[k][0] += miss * step[0] / length;
            slope[k][1] += miss * step[1] / length;
        }
        *trial = next;
    }
    /* The equations have other roots, of no meaning. */
    return orbit->batch > 0.0 && orbit->batch <= problem->network->actors &&
           (trial->is_short || orbit->left[0] <= problem->servers);
}

/* What hints are factors of: a batch after the other, and threads that work it off. */
struct estimate {
    double period;
    double short_until;
    double batch;
};

static struct estimate estimate(const struct problem *problem, double batch)
{
    const struct fulcrum_network *network = problem->network;
    batch = batch > 0.0 ? batch : network->actors / 3.0;
    struct fulcrum_batch_service pace =
        fulcrum_batch_service_of(network, problem->gpu_stretch, batch);
    return (struct estimate){
        pace.interval_s / network->step.mean_s, batch / problem->servers, batch};
}

static void set_hints(struct fulcrum_hints *hints, const struct estimate *first,
    const struct trial *trial, double slope[2][2])
{
    if (hints->is_short != trial->is_short) {
        hints->period.count = 0;
        hints->other.count = 0;
        hints->is_short = trial->is_short;
    }
    double other = trial->is_short ? first->short_until : first->batch;
    /* One step more than was needed: hints are led on, and their errors grow. */
    double step[2];
    if (!take_step(trial, slope, step)) {
        step[0] = 0.0;
        step[1] = 0.0;
    }
    fulcrum_hint_set(&hints->period, (trial->place[0] + step[0]) / first->period, 0.0);
    fulcrum_hint_set(&hints->other, (trial->place[1] + step[1]) / other, 0.0);
    for (int k = 0; k < 4; k++) {
        hints->slope[k / 2][k % 2] = slope[k / 2][k % 2] * trial->place[k % 2];
    }
}

/* Begins where a network much like this one ended. */
static bool solve_like_the_last(const struct problem *problem,
    const struct estimate *first, struct fulcrum_hints *hints, struct orbit *orbit)
{
    double slope[2][2];
    struct trial trial = {.is_short = hints->is_short};
    trial.place[0] = fulcrum_max(fulcrum_hint_next(&hints->period) * first->period,
        CROWDED * least_period(problem));
    trial.place[1] = fulcrum_hint_next(&hints->other) *
                     (trial.is_short ? first->short_until : first->batch);
    trial.place[1] = fulcrum_min(trial.place[1],
        trial.is_short ? MOST_ROUGH_SHARE * trial.place[0] : problem->network->actors);
    for (int k = 0; k < 4; k++) {
        slope[k / 2][k % 2] = hints->slope[k / 2][k % 2] / trial.place[k % 2];
    }
    try_place(problem, &trial, orbit);
    bool is_solved = solve_jointly(problem, &trial, slope, orbit);
    if (is_solved) {
        set_hints(hints, first, &trial, slope);
    }
    return is_solved;
}

/* Both unknowns one inside the other, the period from `period` on. */
static void solve_nested(const struct problem *problem, double period,
    const struct estimate *first, struct fulcrum_hints *hints, struct orbit *orbit)
{
    struct guess guess = {.share = FIRST_SHARE, .share_slope = 1.0};
    struct fulcrum_root root = {.low = least_period(problem),
        .high = (double)INFINITY,
        .x = period,
        .slope = 1.0 / period,
        .tolerance_rel = tolerance(problem)};
    do {
        set_orbit(problem, root.x, &guess, orbit);
    } while (fulcrum_root_next(&root, period_gap(problem, orbit)));
    if (!is_fixed(problem) && !guess.is_short) {
        double slope[2][2];
        struct trial trial = {.place = {root.x, guess.batch}};
        struct orbit beside;
        try_place(problem, &trial, &beside);
        find_slopes(problem, &trial, slope);
        set_hints(hints, first, &trial, slope);
    }
}

/*
 * Whether actors come in sooner than threads can work them off, so that the period is
 * the least there is, and its orbit: beyond that the search would only halve its way.
 */
static bool is_saturated(const struct problem *problem, struct orbit *orbit)
{
    double period = least_period(problem) * (1.0 + TOLERANCE);
    set_short(problem, period, period * FULL_SHARE, orbit);
    return period_gap(problem, orbit) > 0.0;
}

static void solve(const struct problem *problem, double batch,
    struct fulcrum_hints *hints, struct orbit *orbit)
{
    struct estimate reference = estimate(problem, batch);
    if (is_fixed(problem) && problem->network->actors > problem->servers &&
        is_saturated(problem, orbit)) {
        return;
    }
    if (hints->period.count > 0 &&
        solve_like_the_last(problem, &reference, hints, orbit)) {
        return;
    }
    struct start first = first_guess(problem, batch);
    hints->period.count = 0;
    hints->other.count = 0;
    if (problem->network->actors > problem->servers && first.short_until > 0.0) {
        double slope[2][2];
        struct trial trial = {
            .is_short = true, .place = {first.period, first.short_until}};
        try_place(problem, &trial, orbit);
        find_slopes(problem, &trial, slope);
        if (solve_jointly(problem, &trial, slope, orbit)) {
            set_hints(hints, &reference, &trial, slope);
            return;
        }
    }
    solve_nested(problem, first.period, &reference, hints, orbit);
}

/* Means over time by the trapezoidal rule, node by node. */
static void add_means(
    const struct problem *problem, struct orbit *orbit, struct fulcrum_cycle *cycle)
{
    const struct fulcrum_cpu_station *cpu = &problem->network->cpu;
    double cores = cpu->core_count * problem->servers / cpu->thread_count;
    if (orbit->short_until > 0.0 && problem->linear_pace_s > 0.0) {
        add_inner_nodes(problem, orbit); /* else the times needed them */
    }
    double waiting = 0.0;
    for (int j = 0; j < SLICES; j++) {
        waiting += orbit->starts[j] * ((double)j + 0.5) / SLICES;
    }
    double share = orbit->node_s[0] / orbit->time_s;
    cycle->at_cpu = share * (problem->servers + waiting);
    cycle->stepping = share * problem->servers;
    cycle->on_cores = share * fulcrum_min(cores, problem->servers);
    /* A cohort gets a mean step each of work done in a period: over what trapezoids
     * say. */
    double rough = 0.0;
    for (int k = 1; k < NODES; k++) {
        double width = node(orbit, k) - node(orbit, k - 1);
        rough += 0.5 * width * (orbit->left[k - 1] + orbit->left[k]);
    }
    double work = orbit->batch - problem->servers * orbit->short_until;
    double fit = (work > 0.0 && rough > 0.0 ? work / rough : 1.0) / orbit->time_s;
    for (int k = 1; k < NODES; k++) {
        double half = 0.5 * fit * (orbit->node_s[k] - orbit->node_s[k - 1]);
        for (int i = k - 1; i <= k; i++) {
            cycle->at_cpu += half * orbit->left[i];
            cycle->stepping += half * fulcrum_min(orbit->left[i], problem->servers);
            cycle->on_cores += half * fulcrum_min(orbit->left[i], cores);
        }
    }
}

/*
 * The standard deviation of a single batch's forming time: that of the number that has
 * arrived, each actor for itself, over the rate at which they arrive.
 */
static double forming_sd_s(const struct problem *problem, const struct orbit *orbit)
{
    struct fulcrum_batch_service pace = fulcrum_batch_service_unhurried(
        problem->network, problem->gpu_stretch, problem->network->batch_size);
    double turns = pace.latency_s / orbit->time_s;
    double since = (ceil(turns - NOW) - turns) * orbit->time_s;
    since = since > NOW * orbit->time_s ? since : orbit->time_s;
    double early_s = fulcrum_max(0.0, since - RATE_PART * orbit->time_s);
    double before = at_cpu(problem, orbit, early_s);
    double still = fulcrum_max(
        0.0, at_cpu(problem, orbit, fulcrum_min(since, orbit->time_s * FULL_SHARE)));
    double rate = fulcrum_max(0.0, before - still) / (since - early_s);
    double count = orbit->batch * still / (orbit->batch + still);
    return sqrt(count) / fulcrum_max(rate, 1e-9 * orbit->batch / orbit->time_s);
}

struct fulcrum_cohort fulcrum_cohort_solve(const struct fulcrum_network *network,
    const struct fulcrum_step_table *table, double gpu_stretch, double batch,
    struct fulcrum_hints *hints)
{
    const struct fulcrum_cpu_station *cpu = &network->cpu;
    /* A unit of work takes the same time whatever the number of threads that step. */
    bool linear = cpu->curve == FULCRUM_CURVE_SMT_TURBO && cpu->turbo_frac <= 0.0 &&
                  (cpu->thread_count <= cpu->core_count || cpu->smt_yield_frac >= 1.0);
    struct problem problem = {network, table, gpu_stretch,
        fulcrum_cpu_whole_servers(&network->cpu), linear ? network->step.mean_s : 0.0};
    struct orbit orbit;
    solve(&problem, batch, hints, &orbit);
    struct fulcrum_cohort out = {
        .interval_s = orbit.time_s, .stays_frac = orbit.left[LAST_NODE] / orbit.batch};
    struct fulcrum_batch_service pace =
        fulcrum_batch_service_of(network, gpu_stretch, orbit.batch);
    if (is_fixed(&problem)) {
        pace = fulcrum_batch_service_unhurried(network, gpu_stretch, orbit.batch);
        out.interval_sd_s = forming_sd_s(&problem, &orbit);
    }
    out.cycle.batch = is_fixed(&problem) ? network->batch_size : orbit.batch;
    out.cycle.steps_per_s = out.cycle.batch / orbit.time_s;
    out.cycle.at_gpu =
        out.cycle.steps_per_s *
        fulcrum_max(0.0, pace.latency_s - network->delay_s - pace.host_s);
    add_means(&problem, &orbit, &out.cycle);
    return out;
}
