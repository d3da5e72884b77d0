/* fixed_batch.c - the mean cycle of a network with fixed batches, by equation (10). */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A network that makes batches of just B settles into cycles. What is looked for is the
 * cycle that ends as it began: the same length, the same number of actors left over,
 * the same wait for the GPU, and the same starts of steps as in the cycles before.
 * fixed_batch_cycle.c tells how a given cycle ends; here the end is fed back, damped,
 * until it agrees. A cycle that comes out longer than assumed makes the next shorter,
 * and where the error changes its sign a secant tells how much of it to feed back.
 *
 * The cycles of a real network differ, and may even alternate. The stationary cycle
 * stands for their mean.
 */
#include "model/fast/fixed_batch.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model/fast/steps.h"
#include "model/min_max.h"
#include "model/try.h"

/*
 * The numbers of the iteration and of its grid are set by hand and trade time for
 * accuracy; what they cost is part of the errors in docs/model.md "Fixed batches".
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
    struct fulcrum_fixed_batch_case problem;
    struct fulcrum_fixed_batch_grid grid;
    struct fulcrum_rate_cells rates;
    struct fulcrum_step_form form;
    struct fulcrum_fixed_batch_state state;
    struct fulcrum_fixed_batch_outcome outcome;
    struct fulcrum_fixed_batch_outcome aside; /* of cycles after an unusual one */
    double damping;
    double error;         /* log of period found over period assumed, */
    double before_s;      /* which was this */
    double jitter_factor; /* what the variation of periods makes of their mean, */
    double spread_s;      /* and their deviation */
};

static double whole_servers(const struct fulcrum_network *network)
{
    return fulcrum_max(1.0, round(fulcrum_cpu_servers(&network->cpu)));
}

static bool has_host(const struct fulcrum_network *network)
{
    const struct fulcrum_batch_time *host = &network->host;
    return host->per_batch_s > 0.0 || host->per_item_s > 0.0 || host->count > 0;
}

static void set_case(
    struct renewal *renewal, const struct fulcrum_network *network, double gpu_stretch)
{
    double batch = network->batch_size;
    double each = fulcrum_max(1.0, network->actors / MANY_ACTORS);
    bool host = has_host(network);
    renewal->problem = (struct fulcrum_fixed_batch_case){
        .network = network,
        .each = each,
        .actors = network->actors / each,
        .batch = batch / each,
        .servers = whole_servers(network) / each,
        .host_s = host ? fulcrum_batch_time(&network->host, batch) : 0.0,
        .gpu_s = gpu_stretch * fulcrum_batch_time(&network->gpu, batch),
        .depth = host ? floor(network->depth) : 1.0,
        .step_cv = fulcrum_step_cv(&network->step),
        .rates = &renewal->rates,
    };
    struct fulcrum_fixed_batch_case *problem = &renewal->problem;
    double latency_s = problem->host_s + problem->gpu_s + network->delay_s;
    struct fulcrum_step step = network->step;
    step.mean_s = fulcrum_max(step.mean_s, FULCRUM_NO_TIME_FRAC * latency_s);
    problem->step_mean_s = step.mean_s;
    renewal->form = fulcrum_step_form_of(&step);
}

/* Means of the tail over slices, which keeps the mean step whatever the slice. */
static void set_tail(struct renewal *renewal)
{
    struct fulcrum_fixed_batch_grid *grid = &renewal->grid;
    double slice_s = grid->slice_s;
    double excess_s = renewal->form.mean_s;
    size_t i = 0;
    for (; i < FULCRUM_FIXED_BATCH_UNBORN; i++) {
        grid->tail[i] = 1.0;
    }
    for (; i < DIRECT_AGES; i++) {
        double end_s = slice_s * (double)(i + 1 - FULCRUM_FIXED_BATCH_UNBORN);
        double beyond_s = fulcrum_step_excess(&renewal->form, end_s);
        grid->tail[i] = (excess_s - beyond_s) / slice_s;
        excess_s = beyond_s;
        if (grid->tail[i] < LEAST_TAIL) {
            break;
        }
    }
    double ratio = excess_s / (excess_s + slice_s * grid->tail[i - 1]);
    for (; i >= DIRECT_AGES && i < FULCRUM_FIXED_BATCH_AGES - 1; i++) {
        grid->tail[i] = grid->tail[i - 1] * ratio;
    }
    grid->count = i;
    memset(grid->tail + i, 0, FULCRUM_FIXED_BATCH_MARGIN * sizeof grid->tail[0]);
    for (size_t k = 0; k <= i; k++) {
        grid->doubt[k] = grid->tail[k] * (1.0 - grid->tail[k]);
    }
}

/* Cuts a cycle of `work_s` into slices and begins with all starts in one of them. */
static void set_grid(struct renewal *renewal, double work_s)
{
    const struct fulcrum_fixed_batch_case *problem = &renewal->problem;
    struct fulcrum_fixed_batch_state *state = &renewal->state;
    double cv = fulcrum_min(1.0, fulcrum_max(LEAST_CV, problem->step_cv));
    double spread_s = cv * renewal->form.mean_s;
    double slice_s = fulcrum_min(spread_s / SLICES_PER_SD, work_s / SLICES_PER_CYCLE);
    renewal->grid.slice_s = fulcrum_max(slice_s, work_s / MOST_FIRST);
    set_tail(renewal);
    state->length = work_s / renewal->grid.slice_s;
    double cycles = fulcrum_fixed_batch_latency_s(problem, state) / state->period_s;
    state->release = 0.0;
    size_t at = (size_t)((cycles - floor(cycles)) * state->length);
    state->shift = 0.0;
    state->starts.first = at;
    state->starts.last = at;
    state->starts.count[at] = problem->batch;
}

/* The shortest period that the stages allow and that leaves anyone to form a batch. */
static double least_period_s(const struct fulcrum_fixed_batch_case *problem,
    const struct fulcrum_fixed_batch_state *state)
{
    double batches = floor(problem->actors / problem->batch);
    double alone_s =
        fulcrum_fixed_batch_latency_s(problem, state) / batches * (1.0 + 1e-6);
    double stages_s = problem->depth > 1.5
                          ? fulcrum_max(problem->host_s, problem->gpu_s)
                          : problem->host_s + problem->gpu_s;
    return fulcrum_max(stages_s, alone_s);
}

/* A first guess: the slowest of CPU, stages and round trip. */
static void guess(struct renewal *renewal)
{
    const struct fulcrum_fixed_batch_case *problem = &renewal->problem;
    const struct fulcrum_network *network = problem->network;
    struct fulcrum_fixed_batch_state *state = &renewal->state;
    double actors = network->actors;
    double full = fulcrum_min(actors, problem->servers * problem->each);
    double pace = fulcrum_cpu_capacity(&network->cpu, full) / full;
    double step_s = renewal->form.mean_s / pace;
    double cpu_s = network->batch_size * renewal->form.mean_s /
                   fulcrum_cpu_capacity(&network->cpu, actors);
    double turn_s = fulcrum_fixed_batch_latency_s(problem, state) + step_s;
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
    const struct fulcrum_fixed_batch_case *problem = &renewal->problem;
    const struct fulcrum_fixed_batch_outcome *outcome = &renewal->outcome;
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
    double idle_s = fulcrum_normal_beyond(slack_s, spread_s);
    double missing_s = problem->gpu_s + idle_s - period_s;
    wait_s += missing_s / (fulcrum_normal_below(slack_s / spread_s) + WAIT_ANSWER);
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
    struct fulcrum_fixed_batch_state *state = &renewal->state;
    const struct fulcrum_fixed_batch_outcome *outcome = &renewal->outcome;
    const struct fulcrum_fixed_batch_state *end = &outcome->end;
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
    struct fulcrum_fixed_batch_state *state = &renewal->state;
    const struct fulcrum_fixed_batch_outcome *outcome = &renewal->outcome;
    const struct fulcrum_fixed_batch_starts *starts = &outcome->end.starts;
    state->starts.first = starts->first;
    state->starts.last = starts->last;
    memcpy(state->starts.count + starts->first, starts->count + starts->first,
        (starts->last + 1 - starts->first) * sizeof *starts->count);
    state->shift = 0.0;
    if (outcome->released_at >= 0.0) {
        state->release = state->release > 0.0 ? state->release : outcome->end.release;
        state->release += renewal->damping * (outcome->end.release - state->release);
        state->shift =
            state->release - outcome->released_at -
            fulcrum_fixed_batch_underway(&renewal->problem, state) * state->length;
    }
}

/* The period that follows on one that was `jitter_s` longer than the mean. */
static double period_after_s(struct renewal *renewal, double jitter_s)
{
    struct fulcrum_fixed_batch_state *state = &renewal->state;
    state->jitter_s = jitter_s;
    fulcrum_fixed_batch_follow(
        &renewal->problem, &renewal->grid, state, &renewal->aside);
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
    const struct fulcrum_fixed_batch_case *problem = &renewal->problem;
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
    struct fulcrum_fixed_batch_state *state = &renewal->state;
    struct fulcrum_fixed_batch_outcome *outcome = &renewal->outcome;
    double differed = 1.0;
    double late_log = 0.0;
    bool allowed = false;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        fulcrum_fixed_batch_follow(&renewal->problem, &renewal->grid, state, outcome);
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
    const struct fulcrum_fixed_batch_case *problem = &renewal->problem;
    const struct fulcrum_fixed_batch_outcome *outcome = &renewal->outcome;
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
    memset(&renewal->state, 0, offsetof(struct fulcrum_fixed_batch_state, starts));
    fulcrum_rate_cells_init(&renewal->rates, &network->cpu);
    set_case(renewal, network, gpu_stretch);
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
    double servers = whole_servers(network);
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
