/* few.c - the mean cycle of a greedy batch server with a handful of actors. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Equations for means fail for a few actors, and where a limit of the batch size acts
 * for a part of the time: what happens then hangs on how many actors wait, not on their
 * mean number. Here that number is followed: the state, when a batch starts, is q, the
 * observations that wait, with a chance of each. All other actors are at the CPU, and
 * GIVEN q what is left of their steps is taken as independent, alike, and spread as a
 * row of chances on a grid tells (residual.h). Each q has a row of its own, which keeps
 * what makes steps of little variation lock: that few wait where many are about to end.
 *
 * While the batch is served, the number that finish is then binomial and the rest of a
 * row moves on. If nobody waits at the end, the GPU idles until the first of all steps
 * ends. Released actors start fresh steps. The rows of all states mix into rows of the
 * next state, a map whose fixed point is the stationary cycle. That is exact for one or
 * two actors, for exponential steps, and for many actors of any law.
 *
 * With more actors than threads, those that wait for a thread start a fresh step when
 * another ends. The time of a batch is then cut into slices in which a thread ends at
 * most two steps, and the number at the CPU is followed, with a row each.
 *
 * The grid is in the work time of a stepping actor, which runs at c(n) / n of real time
 * for the n that is usual in each state. A delay is a part of the step.
 */
#include "model/few.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/anderson.h"
#include "model/residual.h"

/* Limits that keep the cost of a solution, roughly N^2 rows a turn, within reason. */
#define MOST_ACTORS         256.0
#define FEW_ACTORS          6.0
#define FEW_QUEUEING_ACTORS 16.0
#define FEW_LIMITED_ACTORS  64.0
/* Steps that vary less lock into a rhythm that rows of chances do not tell. */
#define LEAST_CV 0.1

/* A slice, in mean steps; shorter than a thread needs for three steps, mostly. */
#define SLICE_MEANS 0.25

/* Chances below these are dropped: of a state, of a way to another. */
#define LEAST_SHARE  1e-4
#define LEAST_CHANCE 1e-6
/* A race is over once nobody has won with this chance. */
#define NO_CHANCE 1e-9

#define MOST_TURNS  200
#define LEAST_TURNS 3
/* Settled: throughput and, summed over all rows, chances change by less. */
#define RATE_TOLERANCE 3e-5
#define ROW_TOLERANCE  1e-2

/* The first gap between times at which an idle spell may end, in mean spells. */
#define IDLE_GAP 0.3

enum { NODES = FULCRUM_RESIDUAL_NODES, IDLE_NODES = 16 };

/* What a batch of a given size, or a state that starts one, does to the CPU. */
struct stage {
    double busy_s;
    double work_s; /* that each stepping actor gets done meanwhile */
    size_t slices;
    struct fulcrum_residual_shift shift; /* of a slice */
    double early[NODES]; /* of a step that began somewhere within the slice */
    double early_done;   /* the chance that it also ended there */
};

/* Stepping actors: some that have stepped for a while, some that start. */
struct crowd {
    size_t aged;
    size_t fresh;
    const double *left; /* the row of the aged ones, 1 at its start */
};

/* Idle spells of all states, by how long they last. */
struct idling {
    double time_s[IDLE_NODES];
    struct fulcrum_residual_shift shift[IDLE_NODES];
    double fresh_left[IDLE_NODES][NODES];
    double aged[IDLE_NODES][NODES]; /* rows of who did not win, by weight */
    double fresh[IDLE_NODES];
};

/* Chances and rows by the number at the CPU, during a batch. */
struct draining {
    double *chance;
    double *row;
};

/* Sums over the time of a cycle. */
struct usage {
    double at_cpu;
    double stepping;
    double on_cores;
    double work; /* of all who step */
    double at_gpu;
};

struct chain {
    const struct fulcrum_network *network;
    double gpu_stretch;
    double delay_work_s; /* what a delay is in work time */
    double present;      /* share of those who step that is not in the delay yet */
    double grid_scale;   /* of the mean of a step, as the grid cuts a little off it */
    size_t actors;
    size_t threads;
    size_t limit; /* largest batch */
    struct fulcrum_residual_grid grid;
    struct idling idling;
    struct stage *stage; /* by state, or by batch where there are too few threads */
    /* By state q, NODES each: chance of q times stepping actors times row; of the last
       state, where nobody steps, the chance. */
    double *now;
    double *next;
    double *fresh; /* fresh actors in the next state */
    double *binomial;
    struct draining draining[2];
    double length_s; /* of a cycle */
    double items;
    double batches;     /* all but those of chances that were dropped */
    struct usage usage; /* filled where it is wanted */
    enum { RATE_ONLY, WITH_USAGE } wanted;
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static double power(double base, size_t exponent)
{
    double out = 1.0;
    for (; exponent > 0; exponent >>= 1) {
        out *= exponent % 2 == 1 ? base : 1.0;
        base *= base;
    }
    return out;
}

static void add_row(double *row, double weight, const double *other)
{
    for (size_t i = 0; i < NODES; i++) {
        row[i] += weight * other[i];
    }
}

static void set_row(double *row, double weight, const double *other)
{
    for (size_t i = 0; i < NODES; i++) {
        row[i] = weight * other[i];
    }
}

/* How many of those at the CPU have a thread. */
static size_t stepping(const struct chain *chain, size_t at_cpu)
{
    return least(at_cpu, chain->threads);
}

/* Of those who step or are in the delay before, how many step: one at least. */
static double present(const struct chain *chain, double at_cpu)
{
    return fmax(fmin(at_cpu, 1.0), at_cpu * chain->present);
}

/* Work per second of each stepping actor, with that many there. */
static double pace(const struct chain *chain, double at_cpu)
{
    const struct fulcrum_cpu_station *cpu = &chain->network->cpu;
    double threads = (double)chain->threads;
    double seen = at_cpu <= threads ? fmin(at_cpu, fulcrum_cpu_servers(cpu)) : at_cpu;
    return fulcrum_cpu_capacity(cpu, seen) / fmin(at_cpu, threads);
}

static double service_s(
    const struct fulcrum_network *network, double gpu_stretch, double batch)
{
    return fulcrum_batch_time(&network->host, batch) +
           gpu_stretch * fulcrum_batch_time(&network->gpu, batch);
}

/* The chance of state q in a set of rows. */
static double share_of(const struct chain *chain, const double *rows, size_t q)
{
    size_t steps = stepping(chain, chain->actors - q);
    return rows[q * NODES] / (steps > 0 ? (double)steps : 1.0);
}

/* Counts time_s with that many at the CPU. */
static void add_time(struct chain *chain, double at_cpu, double time_s)
{
    const struct fulcrum_cpu_station *cpu = &chain->network->cpu;
    struct usage *usage = &chain->usage;
    if (chain->wanted == RATE_ONLY || at_cpu <= 0.0) {
        return;
    }
    double threads = (double)chain->threads;
    double cores = cpu->core_count * threads / cpu->thread_count;
    double here = present(chain, at_cpu);
    double steps = fmin(here, threads);
    usage->at_cpu += time_s * here;
    usage->stepping += time_s * steps;
    usage->on_cores += time_s * fmin(here, cores);
    usage->work += time_s * steps * pace(chain, here);
}

/* How one cell of the grid decides the race. */
struct finish {
    double after;     /* the chance that nobody has won at its end */
    double wait_s;    /* what the cell adds to the mean time of the race */
    double time_s;    /* when somebody wins in it, on the mean */
    double chance;    /* that somebody does */
    double aged_wins; /* the chance that the winner then is one of the aged */
};

static double aged_wins(
    const struct chain *chain, const struct crowd *crowd, size_t cell)
{
    const double *left = crowd->left + cell;
    const double *new_left = chain->grid.fresh + cell;
    double aged = (double)crowd->aged;
    double fresh = (double)crowd->fresh;
    double aged_ends = aged * (left[0] - left[1]) / fmax(left[0] + left[1], NO_CHANCE);
    double fresh_ends = fresh * (new_left[0] - new_left[1]) /
                        fmax(new_left[0] + new_left[1], NO_CHANCE);
    double ends = aged_ends + fresh_ends;
    return ends > 0.0 ? aged_ends / ends : aged / (aged + fresh);
}

static struct finish finish_in(
    const struct chain *chain, const struct crowd *crowd, size_t cell, double before)
{
    double start_s = chain->grid.time_s[cell];
    double gap_s = chain->grid.time_s[cell + 1] - start_s;
    struct finish finish = {.aged_wins = aged_wins(chain, crowd, cell)};
    if (cell + 2 < NODES) {
        finish.after = power(crowd->left[cell + 1], crowd->aged) *
                       power(chain->grid.fresh[cell + 1], crowd->fresh);
    }
    double mean = fulcrum_residual_mean(before, finish.after);
    finish.wait_s = mean * gap_s;
    finish.chance = before - finish.after;
    double part = finish.chance > 0.0 ? (mean - finish.after) / finish.chance : 0.5;
    finish.time_s = start_s + part * gap_s;
    return finish;
}

/* How many of each kind did not win, by when the winner finished. */
struct losers {
    double aged[IDLE_NODES];
    double fresh[IDLE_NODES];
};

/* Shares them between the two times that are kept next to the finish. */
static void add_losers(const struct idling *idling, struct losers *losers,
    const struct crowd *crowd, const struct finish *finish)
{
    size_t node = 0;
    while (node + 2 < IDLE_NODES && idling->time_s[node + 1] < finish->time_s) {
        node++;
    }
    double gap_s = idling->time_s[node + 1] - idling->time_s[node];
    double part = fmin(1.0, (finish->time_s - idling->time_s[node]) / gap_s);
    double aged = finish->chance * ((double)crowd->aged - finish->aged_wins);
    double fresh = finish->chance * ((double)crowd->fresh - 1.0 + finish->aged_wins);
    losers->aged[node] += (1.0 - part) * aged;
    losers->aged[node + 1] += part * aged;
    losers->fresh[node] += (1.0 - part) * fresh;
    losers->fresh[node + 1] += part * fresh;
}

/*
 * Nobody waits: the crowd races for the first finish, which leads to state 1. The
 * losers are kept by how long it took, and put into that state by end_idling.
 */
static void idle(struct chain *chain, const struct crowd *crowd, double chance)
{
    struct idling *idling = &chain->idling;
    struct losers losers = {.aged = {0.0}};
    double before = 1.0;
    double mean_s = 0.0;
    for (size_t i = 0; i + 1 < NODES && before > NO_CHANCE; i++) {
        struct finish finish = finish_in(chain, crowd, i, before);
        mean_s += finish.wait_s;
        add_losers(idling, &losers, crowd, &finish);
        before = finish.after;
    }
    for (size_t i = 0; i < IDLE_NODES; i++) {
        double aged_left = fulcrum_residual_left(&idling->shift[i], crowd->left);
        if (losers.aged[i] > 0.0 && aged_left > NO_CHANCE) {
            add_row(idling->aged[i], chance * losers.aged[i] / aged_left, crowd->left);
        }
        if (losers.fresh[i] > 0.0 && idling->fresh_left[i][0] > NO_CHANCE) {
            idling->fresh[i] += chance * losers.fresh[i] / idling->fresh_left[i][0];
        }
    }
    double all = present(chain, (double)chain->actors);
    double idle_s = chance * mean_s / (chain->grid_scale * pace(chain, all));
    chain->length_s += idle_s;
    add_time(chain, (double)chain->actors, idle_s);
    if (chain->actors > chain->threads) {
        chain->fresh[1] += chance;
    } else if (chain->actors == 1) {
        chain->next[NODES] += chance;
    }
}

static void end_idling(struct chain *chain)
{
    struct idling *idling = &chain->idling;
    double *row = chain->next + NODES;
    for (size_t i = 0; i < IDLE_NODES; i++) {
        add_row(row, idling->fresh[i], idling->fresh_left[i]);
        if (idling->aged[i][0] > 0.0) {
            double moved[NODES];
            fulcrum_residual_shift(&idling->shift[i], idling->aged[i], moved);
            add_row(row, 1.0, moved);
        }
    }
}

/* A batch ends with `left` at the CPU: it is released, and another starts. */
static void end_batch(struct chain *chain, size_t batch, size_t left_at_cpu,
    double chance, const double *left)
{
    size_t q = chain->actors - batch - left_at_cpu;
    size_t aged = stepping(chain, left_at_cpu);
    if (q == 0) {
        struct crowd crowd = {
            .aged = aged, .fresh = stepping(chain, chain->actors) - aged, .left = left};
        idle(chain, &crowd, chance);
        return;
    }
    if (q == chain->actors) {
        chain->next[q * NODES] += chance;
        return;
    }
    size_t fresh = stepping(chain, left_at_cpu + batch) - aged;
    chain->fresh[q] += chance * (double)fresh;
    if (aged > 0) {
        add_row(chain->next + q * NODES, chance * (double)aged, left);
    }
}

/* The chances that 0..count of `count` finish, each with the same chance. */
static void fill_binomial(double *out, size_t count, double chance)
{
    /* From the likelier end, where the first term is not lost to rounding. */
    double rarer = fmin(chance, 1.0 - chance);
    double odds = rarer / (1.0 - rarer);
    double term = power(1.0 - rarer, count);
    for (size_t i = 0; i <= count; i++) {
        out[chance > 0.5 ? count - i : i] = term;
        term *= odds * (double)(count - i) / (double)(i + 1);
    }
}

/*
 * Moves a row on and makes its start 1 again. Returns the chance to have finished; then
 * every row will do if that is 1.
 */
static double move_on(
    const struct fulcrum_residual_shift *shift, const double *row, double *out)
{
    fulcrum_residual_shift(shift, row, out);
    double left = out[0];
    if (left <= NO_CHANCE * row[0]) {
        out[0] = 1.0;
        return 1.0;
    }
    set_row(out, 1.0 / left, out);
    return fmax(0.0, 1.0 - left / row[0]);
}

/* Counts the time of a batch beside which `others` step on threads of their own. */
static void add_batch_time(struct chain *chain, const struct stage *stage,
    double others, const double *row, double chance)
{
    const double *node_s = chain->grid.time_s;
    if (chain->wanted == RATE_ONLY) {
        return;
    }
    for (size_t i = 0; i + 1 < NODES && node_s[i] < stage->work_s; i++) {
        double part = (fmin(node_s[i + 1], stage->work_s) - node_s[i]) / stage->work_s;
        double left = fulcrum_residual_mean(row[i], row[i + 1]) / row[0];
        add_time(chain, others * left, chance * part * stage->busy_s);
    }
}

static void add_batch(
    struct chain *chain, size_t batch, const struct stage *stage, double chance)
{
    double size = (double)batch;
    chain->length_s += chance * stage->busy_s;
    chain->items += chance * size;
    chain->batches += chance;
    if (chain->wanted == WITH_USAGE) {
        double gpu_s = fulcrum_batch_time(&chain->network->gpu, size);
        chain->usage.at_gpu += chance * size * chain->gpu_stretch * gpu_s;
    }
}

/* A batch from state q, where every actor has a thread. */
static void serve(struct chain *chain, size_t q, double chance)
{
    const struct stage *stage = &chain->stage[q];
    const double *row = chain->now + q * NODES;
    size_t batch = least(q, chain->limit);
    size_t others = chain->actors - q;
    double left[NODES] = {1.0};
    double done = 1.0;
    add_batch(chain, batch, stage, chance);
    if (others > 0) {
        done = move_on(&stage->shift, row, left);
        add_batch_time(chain, stage, (double)others, row, chance);
    }
    fill_binomial(chain->binomial, others, done);
    for (size_t i = 0; i <= others; i++) {
        double way = chance * chain->binomial[i];
        if (way > LEAST_CHANCE) {
            end_batch(chain, batch, others - i, way, left);
        }
    }
}

static void clear_draining(const struct chain *chain, const struct draining *draining)
{
    memset(draining->chance, 0, (chain->actors + 1) * sizeof *draining->chance);
    memset(draining->row, 0, (chain->actors + 1) * NODES * sizeof *draining->row);
}

/* How a slice ends: who stepped all the time, and who took over a thread in it. */
struct slice_end {
    const struct stage *stage;
    struct crowd crowd;
    size_t at_cpu;
    size_t newest; /* of the fresh ones, who began at the end of the slice */
};

static void put(struct chain *chain, const struct draining *draining,
    const struct slice_end *end, double chance)
{
    size_t steps = stepping(chain, end->at_cpu);
    draining->chance[end->at_cpu] += chance;
    if (steps == 0) {
        return;
    }
    double weight = chance / (double)steps;
    double *row = draining->row + end->at_cpu * NODES;
    add_row(row, weight * (double)end->crowd.aged, end->crowd.left);
    if (end->crowd.fresh > 0) {
        add_row(row, weight * (double)end->crowd.fresh, end->stage->early);
    }
    if (end->newest > 0) {
        add_row(row, weight * (double)end->newest, chain->grid.fresh);
    }
}

/* As put, with the chance that one of the fresh ones is through in the same slice. */
static void put_or_repeat(struct chain *chain, const struct draining *draining,
    const struct slice_end *end, double chance)
{
    double again = 1.0 - power(1.0 - end->stage->early_done, end->crowd.fresh);
    put(chain, draining, end, chance * (1.0 - again));
    if (chance * again > LEAST_CHANCE) {
        struct slice_end repeat = *end;
        repeat.crowd.fresh--;
        repeat.newest = end->at_cpu > chain->threads ? 1 : 0;
        repeat.at_cpu--;
        put(chain, draining, &repeat, chance * again);
    }
}

/* One slice of a batch, begun with `at_cpu` there. */
static void drain_from(struct chain *chain, const struct stage *stage,
    const struct draining pair[2], size_t at_cpu)
{
    double chance = pair[0].chance[at_cpu];
    size_t steps = stepping(chain, at_cpu);
    double left[NODES] = {1.0};
    double done = 1.0;
    add_time(chain, (double)at_cpu, chance * stage->busy_s / (double)stage->slices);
    if (steps > 0) {
        done = move_on(&stage->shift, pair[0].row + at_cpu * NODES, left);
    }
    fill_binomial(chain->binomial, steps, done);
    for (size_t i = 0; i <= steps; i++) {
        double way = chance * chain->binomial[i];
        struct slice_end end = {.stage = stage,
            .crowd = {steps - i, least(i, at_cpu - steps), left},
            .at_cpu = at_cpu - i};
        if (way > LEAST_CHANCE) {
            put_or_repeat(chain, &pair[1], &end, way);
        }
    }
}

/* The states that start a batch of this size; returns whether there are any. */
static int begin_draining(struct chain *chain, size_t batch)
{
    const struct draining *begin = &chain->draining[0];
    size_t last = batch < chain->limit ? batch : chain->actors;
    double all = 0.0;
    clear_draining(chain, begin);
    for (size_t q = batch; q <= last; q++) {
        double chance = share_of(chain, chain->now, q);
        size_t at_cpu = chain->actors - q;
        if (chance < LEAST_SHARE) {
            continue;
        }
        all += chance;
        begin->chance[at_cpu] = chance;
        if (at_cpu > 0) {
            set_row(begin->row + at_cpu * NODES, 1.0 / (double)stepping(chain, at_cpu),
                chain->now + q * NODES);
        }
    }
    add_batch(chain, batch, &chain->stage[batch], all);
    return all > 0.0;
}

/* Empties the second of a pair, drains the first into it, and swaps them. */
static void drain_slice(
    struct chain *chain, const struct stage *stage, struct draining pair[2])
{
    struct draining done = pair[0];
    clear_draining(chain, &pair[1]);
    for (size_t n = 0; n <= chain->actors; n++) {
        if (done.chance[n] > LEAST_CHANCE) {
            drain_from(chain, stage, pair, n);
        }
    }
    pair[0] = pair[1];
    pair[1] = done;
}

/* All batches of one size, where actors wait for threads. */
static void serve_queueing(struct chain *chain, size_t batch)
{
    const struct stage *stage = &chain->stage[batch];
    struct draining pair[2] = {chain->draining[0], chain->draining[1]};
    if (!begin_draining(chain, batch)) {
        return;
    }
    for (size_t i = 0; i < stage->slices; i++) {
        drain_slice(chain, stage, pair);
    }
    for (size_t n = 0; n + batch <= chain->actors; n++) {
        double chance = pair[0].chance[n];
        if (chance > LEAST_CHANCE) {
            double left[NODES] = {1.0};
            set_row(left, n > 0 ? 1.0 / chance : 0.0, pair[0].row + n * NODES);
            end_batch(chain, batch, n, chance, left);
        }
    }
}

/* Holds rows to what chances can be, and makes those of all states sum to 1. */
static void normalise(const struct chain *chain, double *rows)
{
    double all = 0.0;
    for (size_t q = 1; q <= chain->actors; q++) {
        double *row = rows + q * NODES;
        double most = fmax(0.0, row[0]);
        for (size_t i = 0; i < NODES; i++) {
            most = row[i] > most ? most : row[i];
            most = most < 0.0 ? 0.0 : most;
            row[i] = most;
        }
        all += share_of(chain, rows, q);
    }
    for (size_t i = 0; i < (chain->actors + 1) * NODES; i++) {
        rows[i] /= all;
    }
}

/* From the rows `now` to `next`, a cycle later. */
static void turn(struct chain *chain)
{
    size_t actors = chain->actors;
    memset(chain->next, 0, (actors + 1) * NODES * sizeof *chain->next);
    memset(chain->fresh, 0, (actors + 1) * sizeof *chain->fresh);
    memset(chain->idling.aged, 0, sizeof chain->idling.aged);
    memset(chain->idling.fresh, 0, sizeof chain->idling.fresh);
    chain->length_s = 0.0;
    chain->items = 0.0;
    chain->batches = 0.0;
    for (size_t q = 1; q <= actors; q++) {
        double chance = share_of(chain, chain->now, q);
        if (actors > chain->threads && q <= chain->limit) {
            serve_queueing(chain, q);
        } else if (actors <= chain->threads && chance > LEAST_SHARE) {
            serve(chain, q, chance);
        }
    }
    for (size_t q = 1; q < actors; q++) {
        add_row(chain->next + q * NODES, chain->fresh[q], chain->grid.fresh);
    }
    if (actors > 1) {
        end_idling(chain);
    }
    normalise(chain, chain->next);
}

/* The sum of all differences between `now` and `next`, relative to that of `now`. */
static double change_of(const struct chain *chain)
{
    double change = 0.0;
    double all = 0.0;
    for (size_t i = NODES; i < (chain->actors + 1) * NODES; i++) {
        change += fabs(chain->next[i] - chain->now[i]);
        all += chain->now[i];
    }
    return change / all;
}

static enum fulcrum_status settle(struct chain *chain, struct fulcrum_error *err)
{
    size_t length = chain->actors * NODES;
    struct fulcrum_anderson anderson;
    enum fulcrum_status status = fulcrum_anderson_init(&anderson, length, err);
    if (status != FULCRUM_OK) {
        return status;
    }
    double rate = 0.0;
    int settled = 0;
    for (int i = 0; i < MOST_TURNS && !settled; i++) {
        turn(chain);
        double last = rate;
        rate = chain->items / chain->length_s;
        settled = i >= LEAST_TURNS && fabs(rate - last) <= RATE_TOLERANCE * rate &&
                  change_of(chain) <= ROW_TOLERANCE;
        fulcrum_anderson_step(&anderson, chain->now + NODES, chain->next + NODES);
        normalise(chain, chain->now);
    }
    fulcrum_anderson_clear(&anderson);
    return settled ? FULCRUM_OK
                   : fulcrum_fail(err, FULCRUM_ERR_NO_FIT,
                         "the cycle of %zu actors does not settle", chain->actors);
}

/* Around the middle: half of the actors wait, all others are met at random. */
static void first_guess(struct chain *chain)
{
    size_t actors = chain->actors;
    double middle = 0.5 * (double)(actors + 1);
    for (size_t q = 1; q <= actors; q++) {
        double share = exp(-fabs((double)q - middle));
        size_t steps = stepping(chain, actors - q);
        double *row = chain->now + q * NODES;
        set_row(row, share * (double)steps, chain->grid.rested);
        row[0] = steps > 0 ? row[0] : share;
    }
    normalise(chain, chain->now);
}

/* The share of steps that end within this much work, if met at random. */
static double ended(const struct chain *chain, double work_s)
{
    struct fulcrum_step_form form = fulcrum_step_form_of(&chain->network->step);
    return 1.0 - fulcrum_step_excess(&form, work_s) / form.mean_s;
}

/*
 * The mean pace during a batch that begins with `at_cpu` there: by Simpson's rule, as
 * they get fewer.
 */
static double mean_pace(const struct chain *chain, double at_cpu, double busy_s)
{
    double threads = (double)chain->threads;
    double begin = fmax(1.0, at_cpu);
    double work_s = busy_s * pace(chain, present(chain, begin));
    double end = at_cpu <= threads
                     ? at_cpu * (1.0 - ended(chain, work_s))
                     : at_cpu - threads * work_s / chain->network->step.mean_s;
    end = fmax(1.0, end);
    return (pace(chain, present(chain, begin)) + pace(chain, present(chain, end)) +
               4.0 * pace(chain, present(chain, 0.5 * (begin + end)))) /
           6.0;
}

static void init_stage(struct chain *chain, size_t q)
{
    struct stage *stage = &chain->stage[q];
    double others = (double)(chain->actors - q);
    const struct fulcrum_residual_grid *grid = &chain->grid;
    double mean_s = chain->network->step.mean_s;
    stage->busy_s =
        service_s(chain->network, chain->gpu_stretch, (double)least(q, chain->limit));
    stage->work_s = stage->busy_s * mean_pace(chain, others, stage->busy_s);
    stage->work_s *= chain->grid_scale;
    stage->slices = 1;
    if (chain->actors > chain->threads) {
        stage->slices = (size_t)ceil(stage->work_s / (SLICE_MEANS * mean_s));
    }
    double slice_s = stage->work_s / (double)stage->slices;
    fulcrum_residual_shift_init(&stage->shift, grid, 0.5 * slice_s);
    stage->early_done = move_on(&stage->shift, grid->fresh, stage->early);
    fulcrum_residual_shift_init(&stage->shift, grid, slice_s);
}

static void init_idling(struct chain *chain)
{
    struct idling *idling = &chain->idling;
    double racers = (double)stepping(chain, chain->actors);
    fulcrum_residual_spread(idling->time_s, IDLE_NODES,
        IDLE_GAP * chain->network->step.mean_s / racers, chain->grid.time_s[NODES - 2]);
    for (size_t i = 0; i < IDLE_NODES; i++) {
        fulcrum_residual_shift_init(&idling->shift[i], &chain->grid, idling->time_s[i]);
        fulcrum_residual_shift(
            &idling->shift[i], chain->grid.fresh, idling->fresh_left[i]);
    }
}

static size_t whole_threads(const struct fulcrum_network *network)
{
    return (size_t)fmax(1.0, round(fulcrum_cpu_servers(&network->cpu)));
}

static void clear(struct chain *chain)
{
    free(chain->stage);
    free(chain->now);
}

/* All rows of numbers are one block. */
static enum fulcrum_status allocate(struct chain *chain, struct fulcrum_error *err)
{
    size_t states = chain->actors + 1;
    double **const rows[] = {
        &chain->now, &chain->next, &chain->draining[0].row, &chain->draining[1].row};
    double **const numbers[] = {&chain->fresh, &chain->binomial,
        &chain->draining[0].chance, &chain->draining[1].chance};
    double *block = calloc(states * 4 * (NODES + 1), sizeof *block);
    chain->stage = calloc(states, sizeof *chain->stage);
    chain->now = block;
    if (block == NULL || chain->stage == NULL) {
        return fulcrum_fail(err, FULCRUM_ERR_NO_MEMORY,
            "no memory to follow %zu actors", chain->actors);
    }
    for (size_t i = 0; i < 4; i++) {
        *rows[i] = block + i * states * NODES;
        *numbers[i] = block + (4 * (size_t)NODES + i) * states;
    }
    return FULCRUM_OK;
}

static void init(struct chain *chain, const struct fulcrum_network *network)
{
    struct fulcrum_step_form form = fulcrum_step_form_of(&network->step);
    size_t batches = chain->actors > chain->threads ? chain->limit : chain->actors;
    chain->present = 1.0;
    double usual_pace = pace(chain, 0.5 * (double)(chain->actors + 1));
    chain->delay_work_s = network->delay_s * usual_pace;
    chain->present =
        network->step.mean_s / (network->step.mean_s + chain->delay_work_s);
    fulcrum_residual_grid_init(&chain->grid, &form, chain->delay_work_s);
    chain->grid_scale =
        chain->grid.mean_s / (network->step.mean_s + chain->delay_work_s);
    init_idling(chain);
    for (size_t q = 1; q <= batches; q++) {
        init_stage(chain, q);
    }
    first_guess(chain);
}

/*
 * The means of a cycle. The steps of all items are the work that was done, which sets
 * right what the grid and the pieces of time got wrong.
 */
static void describe(struct chain *chain, struct fulcrum_cycle *out)
{
    const struct fulcrum_network *network = chain->network;
    const struct usage *usage = &chain->usage;
    chain->wanted = WITH_USAGE;
    turn(chain);
    double rate = chain->items / chain->length_s;
    double share = rate * network->step.mean_s / usage->work;
    *out = (struct fulcrum_cycle){.batch = chain->items / chain->batches,
        .steps_per_s = rate,
        .at_cpu = share * usage->at_cpu,
        .stepping = share * usage->stepping,
        .on_cores = share * usage->on_cores,
        .at_gpu = usage->at_gpu / chain->length_s};
}

int fulcrum_few_accepts(const struct fulcrum_network *network)
{
    double gpu_s = fulcrum_batch_time(&network->gpu, 1.0);
    double host_s = fulcrum_batch_time(&network->host, 1.0);
    int serial = network->depth <= 1.0 || host_s <= 0.0;
    int threads_enough = network->actors <= (double)whole_threads(network);
    return network->policy == FULCRUM_BATCH_GREEDY && serial && host_s + gpu_s > 0.0 &&
           network->step.mean_s > 0.0 && fulcrum_step_cv(&network->step) >= LEAST_CV &&
           network->actors <= MOST_ACTORS &&
           (threads_enough || network->delay_s <= 0.0);
}

int fulcrum_few_suits(const struct fulcrum_network *network)
{
    double actors = network->actors;
    int queueing = actors > (double)whole_threads(network);
    int limited = network->batch_size > 0.0 && network->batch_size < actors;
    double most = limited ? FEW_LIMITED_ACTORS : FEW_ACTORS;
    return actors <= (queueing ? FEW_QUEUEING_ACTORS : most);
}

enum fulcrum_status fulcrum_few_solve(const struct fulcrum_network *network,
    double gpu_stretch, struct fulcrum_cycle *out, struct fulcrum_error *err)
{
    size_t actors = (size_t)network->actors;
    size_t size = (size_t)network->batch_size;
    struct chain chain = {.network = network,
        .gpu_stretch = gpu_stretch,
        .actors = actors,
        .threads = whole_threads(network),
        .limit = size > 0 ? least(size, actors) : actors};
    enum fulcrum_status status = allocate(&chain, err);
    if (status == FULCRUM_OK) {
        init(&chain, network);
        status = settle(&chain, err);
    }
    if (status == FULCRUM_OK) {
        describe(&chain, out);
    }
    clear(&chain);
    return status;
}
