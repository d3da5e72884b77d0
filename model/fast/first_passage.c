/* first_passage.c - actors that wait for threads while nobody comes to the CPU. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Followed are the chance of each number at the CPU and, given that number, one row of
 * what is left of a step for all who have a thread. In a slice of time each of them
 * ends with the same chance; a thread that is free is taken over at some moment of the
 * slice, and may be free again before its end. How often is set so that threads met at
 * random end as many steps in the slice as they must: its length over the mean step.
 */

#include "model/fast/greedy_small.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model/fast/steps.h"
#include "model/min_max.h"
#include "model/status.h"
#include "model/try.h"

/* How many of several alike come to pass. */

double fulcrum_power(double base, size_t exponent)
{
    double out = 1.0;
    for (; exponent > 0; exponent >>= 1) {
        out *= exponent % 2 == 1 ? base : 1.0;
        base *= base;
    }
    return out;
}

void fulcrum_binomial(double *out, size_t count, double chance)
{
    /* From the likelier end, where the first term is not lost to rounding. */
    double rarer = fulcrum_min(chance, 1.0 - chance);
    double odds = rarer / (1.0 - rarer);
    double term = fulcrum_power(1.0 - rarer, count);
    for (size_t i = 0; i <= count; i++) {
        out[chance > 0.5 ? count - i : i] = term;
        term *= odds * (double)(count - i) / (double)(i + 1);
    }
}

/* How long actors still have to step, on a grid of times. */

/*
 * The nodes are even where steps usually end and grow geometrically along the tail of
 * the law, so that a few dozen hold an Erlang as well as a Pareto law. As time passes,
 * a row of chances moves along the grid; in between the nodes it is interpolated by the
 * cubic through four of them. Linear interpolation would smear the law out at each of
 * the many short moves; the cubic can overshoot at a corner of the law, so that the
 * result is held to what a chance can be.
 */

/* Gaps that are even, and up to where, in mean steps; the others grow geometrically. */
#define EVEN_NODES 18
#define EVEN_MEANS 2.0
/*
 * The law is cut off where the mean of what lies beyond is this share of its mean: the
 * lower share, or CUT_MEANS mean steps if that is less, but not above the higher share.
 */
#define LEAST_CUT_FRAC 1e-4
#define MOST_CUT_FRAC  3e-3
#define CUT_MEANS      12.0
/* A law that ends before this many times the even part has even nodes throughout. */
#define SHORT_RATIO 1.5
/* Bisection: its steps (the range over 2^50 is rounding), the farthest end of a law, in
 * mean steps, and the largest ratio of a gap to the one before. */
#define SEARCH_STEPS 50
#define MOST_TAIL    1e6
#define MOST_RATIO   50.0
/* Below this ratio a straight line would overrate the mean of a falling chance. */
#define STRAIGHT_FROM 0.9

/* A chance, or a share of one, as low as this is none. */
#define NO_CHANCE 1e-9

enum { RESIDUAL_NODES = FULCRUM_RESIDUAL_NODES };

static double spread_end(double first, double ratio, size_t gaps)
{
    double end = 0.0;
    for (size_t i = 0; i < gaps; i++) {
        end += first;
        first *= ratio;
    }
    return end;
}

/*
 * `count` times from 0 to `last`, the first two `first` apart, each gap a constant
 * factor of the one before; evenly spaced where `first` would be too large.
 */
static void spread(double *out, size_t count, double first, double last)
{
    double gap = fulcrum_min(first, last / (double)(count - 1));
    double low = 1.0;
    double high = MOST_RATIO;
    for (int i = 0; i < SEARCH_STEPS; i++) {
        double middle = 0.5 * (low + high);
        if (spread_end(gap, middle, count - 1) < last) {
            low = middle;
        } else {
            high = middle;
        }
    }
    out[0] = 0.0;
    for (size_t i = 1; i < count; i++) {
        out[i] = out[i - 1] + gap;
        gap *= low;
    }
}

/* From where on the mean of what lies beyond is less than this share of the mean. */
static double excess_end_s(const struct fulcrum_step_form *form, double share)
{
    double low = log(form->mean_s);
    double high = low + log(MOST_TAIL);
    for (int i = 0; i < SEARCH_STEPS; i++) {
        double middle = 0.5 * (low + high);
        if (fulcrum_step_excess(form, exp(middle)) > share * form->mean_s) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return exp(high);
}

/* Where the law is cut off. */
static double law_end_s(const struct fulcrum_step_form *form)
{
    double usual_s = CUT_MEANS * form->mean_s;
    if (fulcrum_step_excess(form, usual_s) > MOST_CUT_FRAC * form->mean_s) {
        return excess_end_s(form, MOST_CUT_FRAC);
    }
    return fulcrum_min(usual_s, excess_end_s(form, LEAST_CUT_FRAC));
}

double fulcrum_residual_mean(double before, double after)
{
    if (after <= 0.0 || after > STRAIGHT_FROM * before) {
        return 0.5 * (before + after);
    }
    return (before - after) / log(before / after);
}

static void place_nodes(
    struct fulcrum_residual_grid *grid, double even_s, double last_s)
{
    double gap = even_s / EVEN_NODES;
    if (last_s <= SHORT_RATIO * even_s) {
        spread(grid->time_s, RESIDUAL_NODES, last_s, last_s);
        return;
    }
    spread(grid->time_s, EVEN_NODES + 1, gap, even_s);
    double *tail = grid->time_s + EVEN_NODES;
    spread(tail, RESIDUAL_NODES - EVEN_NODES, gap, last_s - even_s);
    for (size_t i = EVEN_NODES; i < RESIDUAL_NODES; i++) {
        grid->time_s[i] += even_s;
    }
}

void fulcrum_residual_grid_init(struct fulcrum_residual_grid *grid,
    const struct fulcrum_step_form *form, double delay_s)
{
    double even_s = delay_s + EVEN_MEANS * form->mean_s;
    place_nodes(grid, even_s, delay_s + law_end_s(form));
    for (size_t i = 0; i < RESIDUAL_NODES; i++) {
        double step_s = grid->time_s[i] - delay_s;
        grid->fresh[i] = step_s < 0.0 ? 1.0 : fulcrum_step_tail(form, step_s);
        grid->rested[i] =
            fulcrum_step_excess(form, fulcrum_max(0.0, step_s)) / form->mean_s;
    }
    grid->fresh[RESIDUAL_NODES - 1] = 0.0;
    grid->rested[RESIDUAL_NODES - 1] = 0.0;
    grid->mean_s = 0.0;
    for (size_t i = 0; i + 1 < RESIDUAL_NODES; i++) {
        grid->mean_s += fulcrum_residual_mean(grid->fresh[i], grid->fresh[i + 1]) *
                        (grid->time_s[i + 1] - grid->time_s[i]);
    }
}

/* Lagrange's weights of the cubic through four nodes. */
static void cubic(const double *node, double at, double *out)
{
    for (size_t i = 0; i < 4; i++) {
        double top = 1.0;
        double bottom = 1.0;
        for (size_t j = 0; j < 4; j++) {
            top *= j == i ? 1.0 : at - node[j];
            bottom *= j == i ? 1.0 : node[i] - node[j];
        }
        out[i] = top / bottom;
    }
}

static void shift_init(struct fulcrum_residual_shift *shift,
    const struct fulcrum_residual_grid *grid, double time_s)
{
    const double *node = grid->time_s;
    size_t below = 0;
    for (size_t i = 0; i < RESIDUAL_NODES; i++) {
        /* The cubic gives the last node, where nothing is left, to all beyond it. */
        double at = fulcrum_min(node[i] + time_s, node[RESIDUAL_NODES - 1]);
        while (below + 2 < RESIDUAL_NODES && node[below + 1] <= at) {
            below++;
        }
        size_t first = below > 0 ? below - 1 : 0;
        shift->from[i] = first < RESIDUAL_NODES - 4 ? first : RESIDUAL_NODES - 4;
        cubic(node + shift->from[i], at, shift->weight[i]);
    }
}

static double interpolate(
    const struct fulcrum_residual_shift *shift, size_t i, const double *row)
{
    const double *weight = shift->weight[i];
    const double *value = row + shift->from[i];
    return weight[0] * value[0] + weight[1] * value[1] + weight[2] * value[2] +
           weight[3] * value[3];
}

/* out[i] = P(left > time of node i + the shift's time); kept falling and >= 0. */
static void shift_row(
    const struct fulcrum_residual_shift *shift, const double *row, double *out)
{
    double most = row[0];
    for (size_t i = 0; i < RESIDUAL_NODES; i++) {
        double value = interpolate(shift, i, row);
        value = value < 0.0 ? 0.0 : value;
        most = value < most ? value : most;
        out[i] = most;
    }
}

/* The first entry of fulcrum_residual_shift alone. */
static double shift_first(const struct fulcrum_residual_shift *shift, const double *row)
{
    double left = interpolate(shift, 0, row);
    return fulcrum_min(row[0], fulcrum_max(0.0, left));
}

double fulcrum_residual_move_on(
    const struct fulcrum_residual_shift *shift, const double *row, double *out)
{
    shift_row(shift, row, out);
    double left = out[0];
    if (left <= NO_CHANCE * row[0]) {
        out[0] = 1.0;
        return 1.0;
    }
    fulcrum_residual_set(out, 1.0 / left, out);
    return fulcrum_max(0.0, 1.0 - left / row[0]);
}

void fulcrum_residual_add(double *row, double weight, const double *other)
{
    for (size_t i = 0; i < RESIDUAL_NODES; i++) {
        row[i] += weight * other[i];
    }
}

void fulcrum_residual_set(double *row, double weight, const double *other)
{
    for (size_t i = 0; i < RESIDUAL_NODES; i++) {
        row[i] = weight * other[i];
    }
}

/* Who is left when the first of several steps ends. */

/*
 * The chance that nobody of a crowd has finished falls along the grid; in each of its
 * cells the winner is one of the aged or one of the fresh in proportion to how fast
 * either end there. The others have stepped on for as long as it took. A crowd per
 * moment of the finish would be many: losers are shared between the two nearest of a
 * few moments, so that the mean time is kept, and moved on once for all races.
 */

/* The first gap between the moments kept, in usual times of a race: mean step / crowd.
 */
#define FIRST_GAP 0.3

enum { FIRST_PASSAGE_NODES = FULCRUM_RESIDUAL_NODES, RACE_NODES = FULCRUM_RACE_NODES };

void fulcrum_first_passage_init(struct fulcrum_first_passage *race,
    const struct fulcrum_residual_grid *grid, double usual_s)
{
    race->grid = grid;
    spread(race->time_s, RACE_NODES, FIRST_GAP * usual_s,
        grid->time_s[FIRST_PASSAGE_NODES - 2]);
    for (size_t i = 0; i < RACE_NODES; i++) {
        shift_init(&race->shift[i], grid, race->time_s[i]);
        shift_row(&race->shift[i], grid->fresh, race->fresh_left[i]);
    }
    fulcrum_first_passage_clear(race);
}

void fulcrum_first_passage_clear(struct fulcrum_first_passage *race)
{
    memset(race->aged, 0, sizeof race->aged);
    memset(race->fresh, 0, sizeof race->fresh);
}

/* How one cell of the grid decides the race. */
struct finish {
    double after;     /* the chance that nobody has won at its end */
    double wait_s;    /* what the cell adds to the mean time of the race */
    double time_s;    /* when somebody wins in it, on the mean */
    double chance;    /* that somebody does */
    double aged_wins; /* the chance that the winner then is one of the aged */
};

static double aged_wins(const struct fulcrum_residual_grid *grid,
    const struct fulcrum_crowd *crowd, size_t cell)
{
    const double *left = crowd->left + cell;
    const double *new_left = grid->fresh + cell;
    double aged = (double)crowd->aged;
    double fresh = (double)crowd->fresh;
    double aged_ends =
        aged * (left[0] - left[1]) / fulcrum_max(left[0] + left[1], NO_CHANCE);
    double fresh_ends = fresh * (new_left[0] - new_left[1]) /
                        fulcrum_max(new_left[0] + new_left[1], NO_CHANCE);
    double ends = aged_ends + fresh_ends;
    return ends > 0.0 ? aged_ends / ends : aged / (aged + fresh);
}

static struct finish finish_in(const struct fulcrum_residual_grid *grid,
    const struct fulcrum_crowd *crowd, size_t cell, double before)
{
    double start_s = grid->time_s[cell];
    double gap_s = grid->time_s[cell + 1] - start_s;
    struct finish finish = {.aged_wins = aged_wins(grid, crowd, cell)};
    if (cell + 2 < FIRST_PASSAGE_NODES) {
        finish.after = fulcrum_power(crowd->left[cell + 1], crowd->aged) *
                       fulcrum_power(grid->fresh[cell + 1], crowd->fresh);
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
    double aged[RACE_NODES];
    double fresh[RACE_NODES];
};

double fulcrum_first_passage_run(struct fulcrum_first_passage *race,
    const struct fulcrum_crowd *crowd, double chance)
{
    struct losers losers = {.aged = {0.0}};
    double before = 1.0;
    double mean_s = 0.0;
    for (size_t i = 0; i + 1 < FIRST_PASSAGE_NODES && before > NO_CHANCE; i++) {
        struct finish finish = finish_in(race->grid, crowd, i, before);
        mean_s += finish.wait_s;
        /* Shares them between the two times that are kept next to the finish. */
        size_t node = 0;
        while (node + 2 < RACE_NODES && race->time_s[node + 1] < finish.time_s) {
            node++;
        }
        double gap_s = race->time_s[node + 1] - race->time_s[node];
        double part = fulcrum_min(1.0, (finish.time_s - race->time_s[node]) / gap_s);
        double aged = finish.chance * ((double)crowd->aged - finish.aged_wins);
        double fresh = finish.chance * ((double)crowd->fresh - 1.0 + finish.aged_wins);
        losers.aged[node] += (1.0 - part) * aged;
        losers.aged[node + 1] += part * aged;
        losers.fresh[node] += (1.0 - part) * fresh;
        losers.fresh[node + 1] += part * fresh;
        before = finish.after;
    }
    for (size_t i = 0; i < RACE_NODES; i++) {
        double aged_left = shift_first(&race->shift[i], crowd->left);
        double fresh_left = race->fresh_left[i][0];
        if (losers.aged[i] > 0.0 && aged_left > NO_CHANCE) {
            double weight = chance * losers.aged[i] / aged_left;
            fulcrum_residual_add(race->aged[i], weight, crowd->left);
        }
        if (losers.fresh[i] > 0.0 && fresh_left > NO_CHANCE) {
            race->fresh[i] += chance * losers.fresh[i] / fresh_left;
        }
    }
    return mean_s;
}

void fulcrum_first_passage_add_losers(
    const struct fulcrum_first_passage *race, double *row)
{
    for (size_t i = 0; i < RACE_NODES; i++) {
        fulcrum_residual_add(row, race->fresh[i], race->fresh_left[i]);
        if (race->aged[i][0] > 0.0) {
            double moved[FIRST_PASSAGE_NODES];
            shift_row(&race->shift[i], race->aged[i], moved);
            fulcrum_residual_add(row, 1.0, moved);
        }
    }
}

/* Gauss's two points of an interval. */
#define GAUSS_LOW  0.2113248654051871
#define GAUSS_HIGH 0.7886751345948129

enum { NODES = FULCRUM_RESIDUAL_NODES };

void fulcrum_slice_init(struct fulcrum_slice *slice,
    const struct fulcrum_residual_grid *grid, double time_s)
{
    double later[NODES];
    double sooner[NODES];
    shift_init(&slice->shift, grid, GAUSS_LOW * time_s);
    fulcrum_residual_move_on(&slice->shift, grid->fresh, later);
    shift_init(&slice->shift, grid, GAUSS_HIGH * time_s);
    fulcrum_residual_move_on(&slice->shift, grid->fresh, sooner);
    fulcrum_residual_set(slice->early, 0.5, later);
    fulcrum_residual_add(slice->early, 0.5, sooner);
    shift_init(&slice->shift, grid, time_s);
    double ended = 1.0 - shift_first(&slice->shift, grid->rested);
    slice->again = fulcrum_max(0.0, 1.0 - ended * grid->mean_s / time_s);
}

/* Hands out `count` numbers of a block. */
static double *take(double **block, size_t count)
{
    double *out = *block;
    *block += count;
    return out;
}

static struct fulcrum_thread_row take_row(double **block, size_t states)
{
    return (struct fulcrum_thread_row){.chance = take(block, states),
        .left = take(block, states * NODES),
        .early = take(block, states),
        .newest = take(block, states)};
}

enum fulcrum_status fulcrum_thread_queue_init(struct fulcrum_thread_queue *out,
    const struct fulcrum_residual_grid *grid, size_t actors, size_t threads,
    struct fulcrum_error *err)
{
    size_t states = actors + 1;
    double *block = calloc(states * (2 * (size_t)NODES + 8), sizeof *block);
    TRY_MEMORY(block, err, "no memory for a queue of %zu actors", actors);
    *out = (struct fulcrum_thread_queue){
        .grid = grid, .actors = actors, .threads = threads, .memory = block};
    out->now = take_row(&block, states);
    out->next = take_row(&block, states);
    out->binomial = take(&block, states);
    out->aged = take(&block, states);
    return FULCRUM_OK;
}

void fulcrum_thread_queue_clear(struct fulcrum_thread_queue *queue)
{
    free(queue->memory);
    *queue = (struct fulcrum_thread_queue){.actors = 0};
}

static void empty(const struct fulcrum_thread_row *row, size_t states)
{
    memset(row->chance, 0, states * sizeof *row->chance);
    memset(row->left, 0, states * NODES * sizeof *row->left);
    memset(row->early, 0, states * sizeof *row->early);
    memset(row->newest, 0, states * sizeof *row->newest);
}

void fulcrum_thread_queue_empty(struct fulcrum_thread_queue *queue)
{
    empty(&queue->now, queue->actors + 1);
}

void fulcrum_thread_queue_set(
    struct fulcrum_thread_queue *queue, size_t n, double chance, const double *row)
{
    queue->now.chance[n] = chance;
    if (n > 0) {
        fulcrum_residual_set(queue->now.left + n * NODES, chance / row[0], row);
    }
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How a slice ends, for those who had `n` at its start. */
struct slice_end {
    size_t n;
    size_t aged;   /* who stepped all the time */
    size_t taken;  /* threads taken over; later, who began within the slice */
    size_t newest; /* and who began at its end */
};

static void put(
    struct fulcrum_thread_queue *queue, const struct slice_end *end, double chance)
{
    const struct fulcrum_thread_row *next = &queue->next;
    size_t steps = least(end->n, queue->threads);
    next->chance[end->n] += chance;
    if (steps > 0) {
        double weight = chance / (double)steps;
        next->early[end->n] += weight * (double)end->taken;
        next->newest[end->n] += weight * (double)end->newest;
        queue->aged[end->n] += weight * (double)end->aged;
    }
}

/*
 * Threads taken over may be through again, a geometric number of times each; in the end
 * everybody is.
 */
static void put_all(struct fulcrum_thread_queue *queue,
    const struct fulcrum_slice *slice, const struct slice_end *end, double chance)
{
    size_t taken = end->taken;
    size_t most = taken > 0 ? end->n - end->aged : 0;
    double way = chance * fulcrum_power(1.0 - slice->again, taken);
    double rest = chance;
    for (size_t i = 0; i <= most && rest > FULCRUM_LEAST_CHANCE; i++) {
        struct slice_end repeat = *end;
        repeat.n -= i;
        size_t others = least(repeat.n, queue->threads) - end->aged;
        repeat.taken = least(others, taken > i ? taken - i : 0);
        repeat.newest = others - repeat.taken;
        put(queue, &repeat, i < most ? way : rest);
        rest -= way;
        way *= slice->again * (double)(taken + i) / (double)(i + 1);
    }
}

static void pass_from(
    struct fulcrum_thread_queue *queue, const struct fulcrum_slice *slice, size_t n)
{
    double chance = queue->now.chance[n];
    size_t steps = least(n, queue->threads);
    double left[NODES] = {1.0};
    double done = 1.0;
    if (steps > 0) {
        done =
            fulcrum_residual_move_on(&slice->shift, queue->now.left + n * NODES, left);
    }
    fulcrum_binomial(queue->binomial, steps, done);
    for (size_t i = 0; i <= steps; i++) {
        double way = chance * queue->binomial[i];
        struct slice_end end = {
            .n = n - i, .aged = steps - i, .taken = least(i, n - steps)};
        if (way > FULCRUM_LEAST_CHANCE) {
            put_all(queue, slice, &end, way);
        }
    }
    for (size_t i = 1; i <= n; i++) {
        if (queue->aged[i] > 0.0) {
            fulcrum_residual_add(queue->next.left + i * NODES, queue->aged[i], left);
            queue->aged[i] = 0.0;
        }
    }
}

void fulcrum_thread_queue_pass(
    struct fulcrum_thread_queue *queue, const struct fulcrum_slice *slice)
{
    empty(&queue->next, queue->actors + 1);
    for (size_t n = 0; n <= queue->actors; n++) {
        if (queue->now.chance[n] > FULCRUM_LEAST_CHANCE) {
            pass_from(queue, slice, n);
        }
    }
    for (size_t n = 1; n <= queue->actors; n++) {
        double *left = queue->next.left + n * NODES;
        if (queue->next.chance[n] > 0.0) {
            fulcrum_residual_add(left, queue->next.early[n], slice->early);
            fulcrum_residual_add(left, queue->next.newest[n], queue->grid->fresh);
        }
    }
    struct fulcrum_thread_row done = queue->now;
    queue->now = queue->next;
    queue->next = done;
}
