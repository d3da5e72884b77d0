/* greedy_small.c - the mean cycle of a greedy batch server with a handful of actors. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Equations for means fail for a few actors, and where a limit of the batch size acts
 * for a part of the time: what happens then hangs on how many actors wait, not on their
 * mean number. Here that number is followed: the state, when a batch starts, is q, the
 * observations that wait, with a chance of each. All other actors are at the CPU, and
 * GIVEN q what is left of their steps is taken as independent, alike, and spread as a
 * row of chances on a grid tells (below). Each q has a row of its own, which
 * keeps what makes steps of little variation lock: that few wait where many are about
 * to end.
 *
 * While the batch is served, the number that finish is then binomial and the rest of a
 * row moves on. If nobody waits at the end, the GPU idles until the first of all steps
 * ends. Released actors start fresh steps. The rows of all states mix into rows of the
 * next state, a map whose fixed point is the stationary cycle. That is exact for one or
 * two actors, for exponential steps, and for many actors of any law.
 *
 * With more actors than threads, those that wait for a thread start a fresh step when
 * another ends. The time of a batch is then cut into slices, and the number at the CPU
 * is followed, with a row each (below).
 *
 * The grid is in the work time of a stepping actor, which runs at c(n) / n of real time
 * for the n that is usual in each state. A delay is a part of the step.
 */

#include "model/fast/steady.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model/fast/steps.h"
#include "model/network/network.h"
#include "model/number.h"
#include "model/status.h"
#include "model/try.h"

/* How many of several alike come to pass. */

/* `base` to a whole power. */
static double power(double base, size_t exponent)
{
    double out = 1.0;
    for (; exponent > 0; exponent >>= 1) {
        out *= exponent % 2 == 1 ? base : 1.0;
        base *= base;
    }
    return out;
}

/*
 * The chances that 0..count of `count` come to pass, each with this chance of its own.
 *   out    count + 1 numbers
 */
static void binomial(double *out, size_t count, double chance)
{
    /* From the likelier end, where the first term is not lost to rounding. */
    double rarer = fulcrum_min(chance, 1.0 - chance);
    double odds = rarer / (1.0 - rarer);
    double term = power(1.0 - rarer, count);
    for (size_t i = 0; i <= count; i++) {
        out[chance > 0.5 ? count - i : i] = term;
        term *= odds * (double)(count - i) / (double)(i + 1);
    }
}

/*
 * How long actors still have to step, on a grid of times. The nodes are even where
 * steps usually end and grow geometrically along the tail of the law, so that a few
 * dozen hold an Erlang as well as a Pareto law. As time passes, a row of chances moves
 * along the grid; in between the nodes it is interpolated by the cubic through four of
 * them. Linear interpolation would smear the law out at each of the many short moves;
 * the cubic can overshoot at a corner of the law, so that the result is held to what a
 * chance can be.
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

enum { NODES = 32 };

/*
 * Nodes at which P(what is left of a step > time) is kept. The last node stands for
 * the end of the law: nothing is left there.
 */
struct grid {
    double time_s[NODES];
    double fresh[NODES];  /* of a step that begins, after a delay */
    double rested[NODES]; /* of one met at a random moment */
    double mean_s; /* of a fresh step, as the grid holds it: a little is cut off */
};

/* What happens to any such row of chances while time passes: four weights a node. */
struct shift {
    size_t from[NODES];
    double weight[NODES][4];
};

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
        double end = 0.0;
        double next = gap;
        for (size_t j = 1; j < count; j++) {
            end += next;
            next *= middle;
        }
        if (end < last) {
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

/* The mean, between 0 and 1, of a chance that falls from `before` to `after`. */
static double mean_between(double before, double after)
{
    if (after <= 0.0 || after > STRAIGHT_FROM * before) {
        return 0.5 * (before + after);
    }
    return (before - after) / log(before / after);
}

static void place_nodes(struct grid *grid, double even_s, double last_s)
{
    double gap = even_s / EVEN_NODES;
    if (last_s <= SHORT_RATIO * even_s) {
        spread(grid->time_s, NODES, last_s, last_s);
        return;
    }
    spread(grid->time_s, EVEN_NODES + 1, gap, even_s);
    double *tail = grid->time_s + EVEN_NODES;
    spread(tail, NODES - EVEN_NODES, gap, last_s - even_s);
    for (size_t i = EVEN_NODES; i < NODES; i++) {
        grid->time_s[i] += even_s;
    }
}

/* Spreads the nodes over the lengths of `form`, delay_s before its start included. */
static void grid_init(
    struct grid *grid, const struct fulcrum_step_form *form, double delay_s)
{
    double even_s = delay_s + EVEN_MEANS * form->mean_s;
    place_nodes(grid, even_s, delay_s + law_end_s(form));
    for (size_t i = 0; i < NODES; i++) {
        double step_s = grid->time_s[i] - delay_s;
        grid->fresh[i] = step_s < 0.0 ? 1.0 : fulcrum_step_tail(form, step_s);
        grid->rested[i] =
            fulcrum_step_excess(form, fulcrum_max(0.0, step_s)) / form->mean_s;
    }
    grid->fresh[NODES - 1] = 0.0;
    grid->rested[NODES - 1] = 0.0;
    grid->mean_s = 0.0;
    for (size_t i = 0; i + 1 < NODES; i++) {
        grid->mean_s += mean_between(grid->fresh[i], grid->fresh[i + 1]) *
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

static void shift_init(struct shift *shift, const struct grid *grid, double time_s)
{
    const double *node = grid->time_s;
    size_t below = 0;
    for (size_t i = 0; i < NODES; i++) {
        /* The cubic gives the last node, where nothing is left, to all beyond it. */
        double at = fulcrum_min(node[i] + time_s, node[NODES - 1]);
        while (below + 2 < NODES && node[below + 1] <= at) {
            below++;
        }
        size_t first = below > 0 ? below - 1 : 0;
        shift->from[i] = first < NODES - 4 ? first : NODES - 4;
        cubic(node + shift->from[i], at, shift->weight[i]);
    }
}

static double interpolate(const struct shift *shift, size_t i, const double *row)
{
    const double *weight = shift->weight[i];
    const double *value = row + shift->from[i];
    return weight[0] * value[0] + weight[1] * value[1] + weight[2] * value[2] +
           weight[3] * value[3];
}

/* out[i] = P(left > time of node i + the shift's time); kept falling and >= 0. */
static void shift_row(const struct shift *shift, const double *row, double *out)
{
    double most = row[0];
    for (size_t i = 0; i < NODES; i++) {
        double value = interpolate(shift, i, row);
        value = value < 0.0 ? 0.0 : value;
        most = value < most ? value : most;
        out[i] = most;
    }
}

/* The first entry of shift alone. */
static double shift_first(const struct shift *shift, const double *row)
{
    double left = interpolate(shift, 0, row);
    return fulcrum_min(row[0], fulcrum_max(0.0, left));
}

/* row[i] += weight * other[i] */
static void row_add(double *row, double weight, const double *other)
{
    for (size_t i = 0; i < NODES; i++) {
        row[i] += weight * other[i];
    }
}

/* row[i] = weight * other[i]; they may be the same. */
static void row_set(double *row, double weight, const double *other)
{
    for (size_t i = 0; i < NODES; i++) {
        row[i] = weight * other[i];
    }
}

/*
 * Moves a row on, given that there is something left, so that it starts with 1 again.
 * Returns the chance that there is not; `out` is of no meaning where that is 1.
 */
static double move_on(const struct shift *shift, const double *row, double *out)
{
    shift_row(shift, row, out);
    double left = out[0];
    if (left <= NO_CHANCE * row[0]) {
        out[0] = 1.0;
        return 1.0;
    }
    row_set(out, 1.0 / left, out);
    return fulcrum_max(0.0, 1.0 - left / row[0]);
}

/*
 * Who is left when the first of several steps ends. The chance that nobody of a crowd
 * has finished falls along the grid; in each of its cells the winner is one of the aged
 * or one of the fresh in proportion to how fast either end there. The others have
 * stepped on for as long as it took. A crowd per moment of the finish would be many:
 * losers are shared between the two nearest of a few moments, so that the mean time is
 * kept, and moved on once for all races.
 */

enum { RACE_NODES = 12 };

/* Stepping actors: some that have stepped for a while, some that start. */
struct crowd {
    size_t aged;
    size_t fresh;
    const double *left; /* the row of the aged ones, 1 at its start */
};

/* Who did not win, of any number of races, kept by how long those took. */
struct race {
    const struct grid *grid; /* borrowed */
    double time_s[RACE_NODES];
    struct shift shift[RACE_NODES];
    double fresh_left[RACE_NODES][NODES];
    double aged[RACE_NODES][NODES]; /* by weight */
    double fresh[RACE_NODES];
};

/* The first gap between the moments kept, in usual times of a race: mean step / crowd.
 */
#define FIRST_GAP 0.3

/* Forgets all races. */
static void race_clear(struct race *race)
{
    memset(race->aged, 0, sizeof race->aged);
    memset(race->fresh, 0, sizeof race->fresh);
}

/* For races that take usual_s on the mean, the order of magnitude counts. */
static void race_init(struct race *race, const struct grid *grid, double usual_s)
{
    race->grid = grid;
    spread(race->time_s, RACE_NODES, FIRST_GAP * usual_s, grid->time_s[NODES - 2]);
    for (size_t i = 0; i < RACE_NODES; i++) {
        shift_init(&race->shift[i], grid, race->time_s[i]);
        shift_row(&race->shift[i], grid->fresh, race->fresh_left[i]);
    }
    race_clear(race);
}

/* How one cell of the grid decides the race. */
struct finish {
    double after;     /* the chance that nobody has won at its end */
    double wait_s;    /* what the cell adds to the mean time of the race */
    double time_s;    /* when somebody wins in it, on the mean */
    double chance;    /* that somebody does */
    double aged_wins; /* the chance that the winner then is one of the aged */
};

static double aged_wins(const struct grid *grid, const struct crowd *crowd, size_t cell)
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

static struct finish finish_in(
    const struct grid *grid, const struct crowd *crowd, size_t cell, double before)
{
    double start_s = grid->time_s[cell];
    double gap_s = grid->time_s[cell + 1] - start_s;
    struct finish finish = {.aged_wins = aged_wins(grid, crowd, cell)};
    if (cell + 2 < NODES) {
        finish.after = power(crowd->left[cell + 1], crowd->aged) *
                       power(grid->fresh[cell + 1], crowd->fresh);
    }
    double mean = mean_between(before, finish.after);
    finish.wait_s = mean * gap_s;
    finish.chance = before - finish.after;
    double part = finish.chance > 0.0 ? (mean - finish.after) / finish.chance : 0.5;
    finish.time_s = start_s + part * gap_s;
    return finish;
}

/*
 * The crowd, of one at least, races with this chance. Returns the mean time to the
 * first finish, as the grid holds time.
 */
static double race_run(struct race *race, const struct crowd *crowd, double chance)
{
    /* How many of each kind did not win, by when the winner finished. */
    double aged_lost[RACE_NODES] = {0.0};
    double fresh_lost[RACE_NODES] = {0.0};
    double before = 1.0;
    double mean_s = 0.0;
    for (size_t i = 0; i + 1 < NODES && before > NO_CHANCE; i++) {
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
        aged_lost[node] += (1.0 - part) * aged;
        aged_lost[node + 1] += part * aged;
        fresh_lost[node] += (1.0 - part) * fresh;
        fresh_lost[node + 1] += part * fresh;
        before = finish.after;
    }
    for (size_t i = 0; i < RACE_NODES; i++) {
        double aged_left = shift_first(&race->shift[i], crowd->left);
        double fresh_left = race->fresh_left[i][0];
        if (aged_lost[i] > 0.0 && aged_left > NO_CHANCE) {
            double weight = chance * aged_lost[i] / aged_left;
            row_add(race->aged[i], weight, crowd->left);
        }
        if (fresh_lost[i] > 0.0 && fresh_left > NO_CHANCE) {
            race->fresh[i] += chance * fresh_lost[i] / fresh_left;
        }
    }
    return mean_s;
}

/* Adds all losers' rows, at the end of their races, to a row: chance times losers. */
static void add_losers(const struct race *race, double *row)
{
    for (size_t i = 0; i < RACE_NODES; i++) {
        row_add(row, race->fresh[i], race->fresh_left[i]);
        if (race->aged[i][0] > 0.0) {
            double moved[NODES];
            shift_row(&race->shift[i], race->aged[i], moved);
            row_add(row, 1.0, moved);
        }
    }
}

/*
 * Actors that wait for threads while nobody comes to the CPU. Followed are the chance
 * of each number at the CPU and, given that number, one row of what is left of a step
 * for all who have a thread. In a slice of time each of them ends with the same chance;
 * a thread that is free is taken over at some moment of the slice, and may be free
 * again before its end. How often is set so that threads met at random end as many
 * steps in the slice as they must: its length over the mean step.
 */

/* Chances of a way from state to state below this are dropped. */
#define LEAST_CHANCE 1e-8

/* A piece of time in which few threads end more than one step. */
struct slice {
    struct shift shift;
    double early[NODES]; /* of a step that began at any moment of it */
    double again;        /* the chance that such a step also ended there */
};

/* By the number n at the CPU, 0..actors. */
struct thread_row {
    double *chance;
    double *left;   /* NODES each: the row of a stepping actor, times the chance */
    double *early;  /* weights of rows that are added at the end of a slice: who */
    double *newest; /* began within it, who began at its end */
};

struct thread_queue {
    const struct grid *grid; /* borrowed */
    size_t actors;
    size_t threads;
    struct thread_row now;
    struct thread_row next;
    double *binomial;
    double *aged; /* weights, for each n at the end of a slice, of a row at its start */
    double *memory; /* owned: all of the above */
};

/* Gauss's two points of an interval. */
#define GAUSS_LOW  0.2113248654051871
#define GAUSS_HIGH 0.7886751345948129

static void slice_init(struct slice *slice, const struct grid *grid, double time_s)
{
    double later[NODES];
    double sooner[NODES];
    shift_init(&slice->shift, grid, GAUSS_LOW * time_s);
    move_on(&slice->shift, grid->fresh, later);
    shift_init(&slice->shift, grid, GAUSS_HIGH * time_s);
    move_on(&slice->shift, grid->fresh, sooner);
    row_set(slice->early, 0.5, later);
    row_add(slice->early, 0.5, sooner);
    shift_init(&slice->shift, grid, time_s);
    double ended = 1.0 - shift_first(&slice->shift, grid->rested);
    slice->again = fulcrum_max(0.0, 1.0 - ended * grid->mean_s / time_s);
}

static struct thread_row take_row(double **block, size_t states)
{
    double *chance = *block;
    double *left = chance + states;
    double *early = left + states * NODES;
    *block = early + 2 * states;
    return (struct thread_row){chance, left, early, early + states};
}

/*
 *   out      set on success only; the caller clears it
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
static enum fulcrum_status queue_init(struct thread_queue *out, const struct grid *grid,
    size_t actors, size_t threads, struct fulcrum_error *err)
{
    size_t states = actors + 1;
    double *block = calloc(states * (2 * (size_t)NODES + 8), sizeof *block);
    TRY_MEMORY(block, err, "no memory for a queue of %zu actors", actors);
    *out = (struct thread_queue){
        .grid = grid, .actors = actors, .threads = threads, .memory = block};
    out->now = take_row(&block, states);
    out->next = take_row(&block, states);
    out->binomial = block;
    out->aged = block + states;
    return FULCRUM_OK;
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

static void put(struct thread_queue *queue, const struct slice_end *end, double chance)
{
    const struct thread_row *next = &queue->next;
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
static void put_all(struct thread_queue *queue, const struct slice *slice,
    const struct slice_end *end, double chance)
{
    size_t taken = end->taken;
    size_t most = taken > 0 ? end->n - end->aged : 0;
    double way = chance * power(1.0 - slice->again, taken);
    double rest = chance;
    for (size_t i = 0; i <= most && rest > LEAST_CHANCE; i++) {
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

static void pass_from(struct thread_queue *queue, const struct slice *slice, size_t n)
{
    double chance = queue->now.chance[n];
    size_t steps = least(n, queue->threads);
    double left[NODES] = {1.0};
    double done = 1.0;
    if (steps > 0) {
        done = move_on(&slice->shift, queue->now.left + n * NODES, left);
    }
    binomial(queue->binomial, steps, done);
    for (size_t i = 0; i <= steps; i++) {
        double way = chance * queue->binomial[i];
        struct slice_end end = {
            .n = n - i, .aged = steps - i, .taken = least(i, n - steps)};
        if (way > LEAST_CHANCE) {
            put_all(queue, slice, &end, way);
        }
    }
    for (size_t i = 1; i <= n; i++) {
        if (queue->aged[i] > 0.0) {
            row_add(queue->next.left + i * NODES, queue->aged[i], left);
            queue->aged[i] = 0.0;
        }
    }
}

/* Who has a thread steps for the time of the slice; who ends hands it on and leaves. */
static void queue_pass(struct thread_queue *queue, const struct slice *slice)
{
    size_t numbers = (queue->actors + 1) * (NODES + 3);
    memset(queue->next.chance, 0, numbers * sizeof *queue->next.chance);
    for (size_t n = 0; n <= queue->actors; n++) {
        if (queue->now.chance[n] > LEAST_CHANCE) {
            pass_from(queue, slice, n);
        }
    }
    for (size_t n = 1; n <= queue->actors; n++) {
        double *left = queue->next.left + n * NODES;
        if (queue->next.chance[n] > 0.0) {
            row_add(left, queue->next.early[n], slice->early);
            row_add(left, queue->next.newest[n], queue->grid->fresh);
        }
    }
    struct thread_row done = queue->now;
    queue->now = queue->next;
    queue->next = done;
}

/*
 * Anderson's acceleration of a fixed-point iteration. Anderson (1965): of the last few
 * iterations, the combination is taken whose change (image less point) is least in the
 * sense of least squares, and its image is the next point. On a linear iteration that
 * is GMRES, which removes the few modes that die out slowly. The least squares have a
 * handful of unknowns, so the normal equations do; the products they are made of are
 * kept from turn to turn.
 */

/* Added to the diagonal, relative to it: above rounding, it keeps nearly dependent
 * steps apart. */
#define RIDGE_REL 1e-12

enum { DEPTH = 4 };

/* What the last iterations did. */
struct anderson {
    size_t length;
    size_t turns;
    double *memory; /* owned: all rows below */
    double *point;
    double *change;
    double *point_step[DEPTH];
    double *change_step[DEPTH];
    double gram[DEPTH][DEPTH];
};

/* Iterations of vectors of `length`; `out` is set on success only. */
static enum fulcrum_status anderson_init(
    struct anderson *out, size_t length, struct fulcrum_error *err)
{
    assert(length > 0);
    double *memory = calloc((2 + 2 * (size_t)DEPTH) * length, sizeof *memory);
    TRY_MEMORY(memory, err, "no memory to iterate %zu numbers", length);
    *out = (struct anderson){
        .length = length, .memory = memory, .point = memory, .change = memory + length};
    for (size_t i = 0; i < DEPTH; i++) {
        out->point_step[i] = memory + (2 + 2 * i) * length;
        out->change_step[i] = memory + (3 + 2 * i) * length;
    }
    return FULCRUM_OK;
}

static double product(const double *a, const double *b, size_t length)
{
    double sum = 0.0;
    for (size_t i = 0; i < length; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* Cholesky's method in place; false where the matrix is singular. */
static bool solve(double matrix[DEPTH][DEPTH], double right[DEPTH], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j <= i; j++) {
            double left = matrix[i][j] - product(matrix[i], matrix[j], j);
            matrix[i][j] = i == j ? sqrt(fulcrum_max(0.0, left)) : left / matrix[j][j];
        }
        if (!(matrix[i][i] > 0.0)) {
            return false;
        }
        right[i] = (right[i] - product(matrix[i], right, i)) / matrix[i][i];
    }
    for (size_t i = count; i-- > 0;) {
        for (size_t j = i + 1; j < count; j++) {
            right[i] -= matrix[j][i] * right[j];
        }
        right[i] /= matrix[i][i];
    }
    return true;
}

/* How many steps there are after that many turns. */
static size_t steps_known(size_t turns)
{
    return turns < DEPTH ? turns : DEPTH;
}

/*
 * Replaces `point`, whose image under the iterated function is `image`, by a better
 * guess of the fixed point. The first guess is the image itself. Bounds on the vector
 * are not known here and may be overshot.
 */
static void anderson_step(struct anderson *anderson, double *point, const double *image)
{
    size_t length = anderson->length;
    size_t known = steps_known(anderson->turns);
    size_t newest = (anderson->turns + DEPTH - 1) % DEPTH; /* in place of the oldest */
    for (size_t i = 0; i < length && known > 0; i++) {
        anderson->point_step[newest][i] = point[i] - anderson->point[i];
        anderson->change_step[newest][i] = image[i] - point[i] - anderson->change[i];
    }
    for (size_t i = 0; i < known; i++) {
        double value =
            product(anderson->change_step[i], anderson->change_step[newest], length);
        anderson->gram[i][newest] = value;
        anderson->gram[newest][i] = value;
    }
    for (size_t i = 0; i < length; i++) {
        anderson->point[i] = point[i];
        anderson->change[i] = image[i] - point[i];
        point[i] = image[i];
    }
    anderson->turns++;
    /* How much of each step is to be taken back. */
    double weight[DEPTH] = {0.0};
    double matrix[DEPTH][DEPTH];
    memcpy(matrix, anderson->gram, sizeof matrix);
    for (size_t i = 0; i < known; i++) {
        matrix[i][i] *= 1.0 + RIDGE_REL;
        weight[i] = product(anderson->change_step[i], anderson->change, length);
    }
    if (!solve(matrix, weight, known)) {
        return;
    }
    for (size_t j = 0; j < known; j++) {
        const double *point_step = anderson->point_step[j];
        const double *change_step = anderson->change_step[j];
        for (size_t i = 0; i < length; i++) {
            point[i] -= weight[j] * (point_step[i] + change_step[i]);
        }
    }
}

/*
 * Most actors of each kind of network: a turn costs some N^2 rows, several times that
 * where actors share threads, and with more the equations for means are as good
 * (docs/model.md "A handful of actors").
 */
#define MOST_ACTORS                  64.0
#define MOST_PLAIN_ACTORS            6.0
#define MOST_QUEUEING_ACTORS         20.0
#define MOST_LIMITED_QUEUEING_ACTORS 24.0

/* Steps whose deviation is a smaller share of mean step and delay lock into a rhythm
 * that rows do not tell. */
#define LEAST_CV 0.1

/*
 * A slice, in mean steps: few threads end more than one step in it. After MOST_SLICES
 * most have drained: longer slices do where a batch takes long. One slice or two makes
 * a difference that throughput shows, two or three does not.
 */
#define SLICE_MEANS  0.25
#define MOST_SLICES  8.0
#define LEAST_SLICES 2.0

/* The chance of a state below which it is dropped; of ways: LEAST_CHANCE. */
#define LEAST_SHARE 1e-6

/*
 * Settled: throughput and, summed over all rows, chances change by a smaller share in a
 * turn, after LEAST_TURNS at least. After PATIENT_TURNS, IMPATIENCE times larger
 * changes will do, still below the error of the method; after MOST_TURNS there is no
 * solution.
 */
#define RATE_TOLERANCE 1e-6
#define ROW_TOLERANCE  1e-4
#define LEAST_TURNS    3
#define PATIENT_TURNS  60
#define IMPATIENCE     100.0
#define MOST_TURNS     160

/*
 * In cycles: around which age the tail of the rows is taken as it is, and from which on
 * it is tied to that, fully so a width later, (36).
 */
#define TIED_FROM  5.0
#define TIED_WIDTH 3.0

#define NEVER_IDLE 1e-9 /* share of time, least that is divided by */
/* E[rest of a step] over its mean: less, and tails have no form. */
#define NO_REST 1e-9

/* What a batch of a given size, or a state that starts one, does to the CPU. */
struct stage {
    double busy_s;
    double work_s; /* that each stepping actor gets done meanwhile */
    size_t slices;
    struct slice slice;
};

/* Sums over the time of a cycle; those who step include those in the delay before. */
struct usage {
    double at_cpu;
    double stepping;
    double on_cores;
    double work; /* of all who step */
    double busy; /* of host and GPU */
    double at_gpu;
};

/*
 * The work time of a cycle on the grid: of batches, and of the idle spells after them.
 * Sums over the same chances as `batches`.
 */
struct cycle_work {
    double all_s;
    double idle_s;
    double square_s2; /* of both together */
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
    size_t stages;
    struct grid grid;
    struct race race; /* the idle spells of a turn */
    struct thread_queue queue;
    struct stage *stage; /* by state, or by batch where there are too few threads */
    /* By state q, NODES each: chance of q times stepping actors times row; of the last
       state, where nobody steps, the chance. */
    double *now;
    double *next;
    double *fresh; /* fresh actors in the next state */
    double *binomial;
    double length_s; /* of a cycle */
    double items;
    double batches; /* all but those of chances that were dropped */
    struct cycle_work cycle;
    struct usage usage; /* filled where it is wanted */
    enum { RATE_ONLY, WITH_USAGE } wanted;
};

/* Of those who step or are in the delay before, how many step: one at least. */
static double present(const struct chain *chain, double at_cpu)
{
    return fulcrum_max(fulcrum_min(at_cpu, 1.0), at_cpu * chain->present);
}

/* Work per second of each stepping actor, with that many there. */
static double pace(const struct chain *chain, double at_cpu)
{
    const struct fulcrum_cpu_station *cpu = &chain->network->cpu;
    double threads = (double)chain->threads;
    double seen =
        at_cpu <= threads ? fulcrum_min(at_cpu, fulcrum_cpu_servers(cpu)) : at_cpu;
    return fulcrum_cpu_capacity(cpu, seen) / fulcrum_min(at_cpu, threads);
}

static double service_s(
    const struct fulcrum_network *network, double gpu_stretch, double batch)
{
    return fulcrum_batch_time(&network->host, batch) + network->server_wake_mean_s +
           gpu_stretch * fulcrum_batch_time(&network->gpu, batch);
}

/* The chance of state q in a set of rows. */
static double share_of(const struct chain *chain, const double *rows, size_t q)
{
    size_t steps = least(chain->threads, chain->actors - q);
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
    double steps = fulcrum_min(at_cpu, threads);
    usage->at_cpu += time_s * at_cpu;
    usage->stepping += time_s * steps;
    usage->on_cores += time_s * fulcrum_min(at_cpu * chain->present, cores);
    usage->work += time_s * steps * pace(chain, present(chain, at_cpu));
}

/* A batch ends with `left` at the CPU: it is released, and another starts. */
static void end_batch(struct chain *chain, size_t batch, size_t left_at_cpu,
    double chance, const double *left)
{
    size_t q = chain->actors - batch - left_at_cpu;
    size_t aged = least(chain->threads, left_at_cpu);
    if (q == 0) {
        struct crowd crowd = {.aged = aged,
            .fresh = least(chain->threads, chain->actors) - aged,
            .left = left};
        /* Nobody waits: the GPU idles until the first of the crowd finishes, in
         * state 1. */
        double served_s = chain->stage[batch].work_s;
        double all = (double)chain->actors;
        double mean_s = race_run(&chain->race, &crowd, chance);
        double idle_s =
            chance * mean_s / chain->grid_scale / pace(chain, present(chain, all));
        chain->cycle.all_s += chance * mean_s;
        chain->cycle.idle_s += chance * mean_s;
        chain->cycle.square_s2 += 2.0 * chance * mean_s * (mean_s + served_s);
        chain->length_s += idle_s;
        add_time(chain, all, idle_s);
        if (chain->actors > chain->threads) {
            chain->fresh[1] += chance;
        } else if (chain->actors == 1) {
            chain->next[NODES] += chance;
        }
        return;
    }
    if (q == chain->actors) {
        chain->next[q * NODES] += chance;
        return;
    }
    size_t fresh = least(chain->threads, left_at_cpu + batch) - aged;
    chain->fresh[q] += chance * (double)fresh;
    if (aged > 0) {
        row_add(chain->next + q * NODES, chance * (double)aged, left);
    }
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
        double part =
            (fulcrum_min(node_s[i + 1], stage->work_s) - node_s[i]) / stage->work_s;
        double left = mean_between(row[i], row[i + 1]) / row[0];
        add_time(chain, others * left, chance * part * stage->busy_s);
    }
}

static void add_batch(
    struct chain *chain, size_t batch, const struct stage *stage, double chance)
{
    double size = (double)batch;
    chain->length_s += chance * stage->busy_s;
    chain->items += chance * size;
    chain->cycle.all_s += chance * stage->work_s;
    chain->cycle.square_s2 += chance * stage->work_s * stage->work_s;
    chain->batches += chance;
    if (chain->wanted == WITH_USAGE) {
        double gpu_s = fulcrum_batch_time(&chain->network->gpu, size);
        chain->usage.busy += chance * stage->busy_s;
        chain->usage.at_gpu += chance * size * chain->gpu_stretch * gpu_s;
    }
}

/* Counts time_s with as many at the CPU as the queue tells. */
static void add_queue_time(struct chain *chain, double time_s)
{
    for (size_t n = 1; n <= chain->actors; n++) {
        add_time(chain, (double)n, chain->queue.now.chance[n] * time_s);
    }
}

/* All batches of one size, where actors wait for threads. */
static void serve_queueing(struct chain *chain, size_t batch)
{
    const struct stage *stage = &chain->stage[batch];
    const struct thread_queue *queue = &chain->queue;
    /* The states that start a batch of this size. */
    size_t last = batch < chain->limit ? batch : chain->actors;
    double all = 0.0;
    size_t numbers = (chain->actors + 1) * (NODES + 3);
    memset(chain->queue.now.chance, 0, numbers * sizeof *chain->queue.now.chance);
    for (size_t q = batch; q <= last; q++) {
        double chance = share_of(chain, chain->now, q);
        if (chance >= LEAST_SHARE) {
            all += chance;
            /* What is over its first entry is the row of all who are at the CPU. */
            const double *row = chain->now + q * NODES;
            size_t n = chain->actors - q;
            chain->queue.now.chance[n] = chance;
            if (n > 0) {
                row_set(chain->queue.now.left + n * NODES, chance / row[0], row);
            }
        }
    }
    if (all <= 0.0) {
        return;
    }
    add_batch(chain, batch, stage, all);
    double half_s = 0.5 * stage->busy_s / (double)stage->slices;
    for (size_t i = 0; i < stage->slices; i++) {
        add_queue_time(chain, half_s);
        queue_pass(&chain->queue, &stage->slice);
        add_queue_time(chain, half_s);
    }
    for (size_t n = 0; n + batch <= chain->actors; n++) {
        double chance = queue->now.chance[n];
        if (chance > LEAST_CHANCE) {
            double left[NODES] = {1.0};
            row_set(left, n > 0 ? 1.0 / chance : 0.0, queue->now.left + n * NODES);
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
        double most = fulcrum_max(0.0, row[0]);
        for (size_t i = 0; i < NODES; i++) {
            double value = row[i] < 0.0 ? 0.0 : row[i];
            most = value < most ? value : most;
            row[i] = most;
        }
        all += share_of(chain, rows, q);
    }
    for (size_t i = 0; i < (chain->actors + 1) * NODES; i++) {
        rows[i] /= all;
    }
}

/*
 * What is left of steps long after they began, as renewal theory has it: R(w) is
 * E[R(w + W)] and b P(length > w) more, less what ends while the GPU idles. For w far
 * above the work W of a cycle, up to a factor,
 *   R(w) ~ E[max(0, length - w)] / E[W] + a P(length > w)
 *   a = E[W^2] / (2 E[W]^2) - E[idle] / E[W], or 0 where that is less
 */
static double tail_form(const struct chain *chain, size_t i)
{
    const struct grid *grid = &chain->grid;
    const struct cycle_work *cycle = &chain->cycle;
    double at_once =
        0.5 * cycle->square_s2 * chain->batches / cycle->all_s - cycle->idle_s;
    double work_s = cycle->all_s / chain->batches;
    at_once = fulcrum_max(0.0, at_once / cycle->all_s);
    return grid->rested[i] * grid->mean_s / work_s + at_once * grid->fresh[i];
}

/*
 * The tail of the rows comes about as slowly as the longest steps end: in thousands of
 * turns where they vary much. But its form is known, so that what lies beyond a few
 * cycles is tied to what is there, which a few turns suffice for.
 */
static void tie_tails(const struct chain *chain, double *rows)
{
    const struct grid *grid = &chain->grid;
    double unit_s = chain->cycle.all_s / chain->batches + grid->time_s[1];
    double ratio[NODES] = {0.0};
    double sum = 0.0;
    double weights = 0.0;
    size_t end = 1;
    for (; end + 1 < NODES && grid->rested[end] > NO_REST; end++) {
        double off = fabs(grid->time_s[end] / unit_s - TIED_FROM) / TIED_WIDTH;
        double weight = fulcrum_max(0.0, 1.0 - off);
        double stepping = 0.0; /* of all states, still at this node */
        for (size_t q = 1; q < chain->actors; q++) {
            stepping += rows[q * NODES + end];
        }
        ratio[end] = stepping / tail_form(chain, end);
        sum += weight * ratio[end];
        weights += weight;
    }
    for (size_t i = 1; i < end; i++) {
        double tie = (grid->time_s[i] / unit_s - TIED_FROM) / TIED_WIDTH;
        if (tie > 0.0 && ratio[i] > 0.0 && weights > 0.0) {
            double factor = sum / weights / ratio[i];
            factor = 1.0 + fulcrum_min(1.0, tie) * (factor - 1.0);
            for (size_t q = 1; q < chain->actors; q++) {
                rows[q * NODES + i] *= factor;
            }
        }
    }
}

/* A batch from state q, which has this chance, where every actor has a thread. */
static void serve_stepping(struct chain *chain, size_t q, double chance)
{
    const struct stage *stage = &chain->stage[q];
    const double *row = chain->now + q * NODES;
    size_t batch = least(q, chain->limit);
    size_t others = chain->actors - q;
    double left[NODES] = {1.0};
    double done = 1.0;
    add_batch(chain, batch, stage, chance);
    if (others > 0) {
        done = move_on(&stage->slice.shift, row, left);
        add_batch_time(chain, stage, (double)others, row, chance);
    }
    binomial(chain->binomial, others, done);
    for (size_t i = 0; i <= others; i++) {
        double way = chance * chain->binomial[i];
        if (way > LEAST_CHANCE) {
            end_batch(chain, batch, others - i, way, left);
        }
    }
}

/* From the rows `now` to `next`, a cycle later. */
static void turn(struct chain *chain)
{
    size_t actors = chain->actors;
    memset(chain->next, 0, (actors + 1) * NODES * sizeof *chain->next);
    memset(chain->fresh, 0, (actors + 1) * sizeof *chain->fresh);
    race_clear(&chain->race);
    chain->length_s = 0.0;
    chain->items = 0.0;
    chain->batches = 0.0;
    chain->cycle = (struct cycle_work){.all_s = 0.0};
    for (size_t q = 1; q <= actors; q++) {
        double chance = share_of(chain, chain->now, q);
        if (actors > chain->threads && q <= chain->limit) {
            serve_queueing(chain, q);
        } else if (actors <= chain->threads && chance > LEAST_SHARE) {
            serve_stepping(chain, q, chance);
        }
    }
    for (size_t q = 1; q < actors; q++) {
        row_add(chain->next + q * NODES, chain->fresh[q], chain->grid.fresh);
    }
    if (actors > 1) {
        add_losers(&chain->race, chain->next + NODES);
    }
    normalise(chain, chain->next);
    tie_tails(chain, chain->next);
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
    struct anderson anderson;
    TRY(anderson_init(&anderson, length, err));
    double rate = 0.0;
    bool settled = false;
    for (int i = 0; i < MOST_TURNS && !settled; i++) {
        turn(chain);
        double last = rate;
        rate = chain->items / chain->length_s;
        double slack = i < PATIENT_TURNS ? 1.0 : IMPATIENCE;
        settled = i >= LEAST_TURNS &&
                  fabs(rate - last) <= slack * RATE_TOLERANCE * rate &&
                  change_of(chain) <= slack * ROW_TOLERANCE;
        anderson_step(&anderson, chain->now + NODES, chain->next + NODES);
        normalise(chain, chain->now);
    }
    free(anderson.memory);
    return settled ? FULCRUM_OK
                   : fulcrum_fail(err, FULCRUM_ERR_NO_FIT,
                         "the cycle of %zu actors does not settle", chain->actors);
}

/* How many of `at_cpu` finish while each thread gets this much work done, roughly. */
static double done_beside(const struct chain *chain, double at_cpu, double work_s)
{
    struct fulcrum_step_form form = fulcrum_step_form_of(&chain->network->step);
    double threads = (double)chain->threads;
    return at_cpu <= threads
               ? at_cpu * (1.0 - fulcrum_step_excess(&form, work_s) / form.mean_s)
               : fulcrum_min(at_cpu, threads * work_s / form.mean_s);
}

/*
 * The mean pace during a batch that begins with `at_cpu` there: by Simpson's rule, as
 * they get fewer.
 */
static double mean_pace(const struct chain *chain, double at_cpu, double busy_s)
{
    double begin = fulcrum_max(1.0, at_cpu);
    double work_s = busy_s * pace(chain, present(chain, begin));
    double end = fulcrum_max(1.0, begin - done_beside(chain, begin, work_s));
    return (pace(chain, present(chain, begin)) + pace(chain, present(chain, end)) +
               4.0 * pace(chain, present(chain, 0.5 * (begin + end)))) /
           6.0;
}

/* The state that keeps itself up: as many finish during its batch as that takes. */
static size_t usual_state(const struct chain *chain)
{
    size_t low = 1;
    size_t high = chain->actors;
    while (low < high) {
        size_t middle = (low + high) / 2;
        /* How many finish beside a batch that state q starts, less those in that batch.
         */
        double batch = (double)least(middle, chain->limit);
        double others = (double)(chain->actors - middle);
        double busy_s = service_s(chain->network, chain->gpu_stretch, batch);
        double work_s = busy_s * mean_pace(chain, others, busy_s);
        double surplus = done_beside(chain, others, work_s) - batch;
        if (surplus > 0.0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* All numbers of the chain are one block. */
static enum fulcrum_status allocate(struct chain *chain, struct fulcrum_error *err)
{
    size_t states = chain->actors + 1;
    chain->now = calloc(states * 2 * (NODES + 1), sizeof *chain->now);
    chain->stage = calloc(states, sizeof *chain->stage);
    FAIL_IF(chain->now == NULL || chain->stage == NULL, err, FULCRUM_ERR_NO_MEMORY,
        "no memory to follow %zu actors", chain->actors);
    chain->next = chain->now + states * NODES;
    chain->fresh = chain->next + states * NODES;
    chain->binomial = chain->fresh + states;
    if (chain->actors <= chain->threads) {
        return FULCRUM_OK;
    }
    return queue_init(&chain->queue, &chain->grid, chain->actors, chain->threads, err);
}

static void init(struct chain *chain, const struct fulcrum_network *network)
{
    struct fulcrum_step_form form = fulcrum_step_form_of(&network->step);
    chain->stages = chain->actors > chain->threads ? chain->limit : chain->actors;
    chain->present = 1.0;
    double usual_pace = pace(chain, 0.5 * (double)(chain->actors + 1));
    chain->delay_work_s = network->delay_s * usual_pace;
    chain->present =
        network->step.mean_s / (network->step.mean_s + chain->delay_work_s);
    grid_init(&chain->grid, &form, chain->delay_work_s);
    chain->grid_scale =
        chain->grid.mean_s / (network->step.mean_s + chain->delay_work_s);
    double racers = (double)least(chain->threads, chain->actors);
    race_init(&chain->race, &chain->grid, network->step.mean_s / racers);
    for (size_t q = 1; q <= chain->stages; q++) {
        struct stage *stage = &chain->stage[q];
        double others = (double)(chain->actors - q);
        double mean_s = chain->network->step.mean_s;
        stage->busy_s = service_s(
            chain->network, chain->gpu_stretch, (double)least(q, chain->limit));
        stage->work_s = stage->busy_s * mean_pace(chain, others, stage->busy_s);
        stage->work_s *= chain->grid_scale;
        stage->slices = 1;
        if (chain->actors > chain->threads) {
            double slices = ceil(stage->work_s / (SLICE_MEANS * mean_s));
            stage->slices =
                (size_t)fulcrum_min(fulcrum_max(slices, LEAST_SLICES), MOST_SLICES);
        }
        slice_init(&stage->slice, &chain->grid, stage->work_s / (double)stage->slices);
    }
    /* Around the usual state; all others are met at random. */
    size_t actors = chain->actors;
    size_t middle = usual_state(chain);
    for (size_t q = 1; q <= actors; q++) {
        double share = exp(-fabs((double)q - (double)middle));
        size_t steps = least(chain->threads, actors - q);
        double *row = chain->now + q * NODES;
        row_set(row, share * (double)steps, chain->grid.rested);
        row[0] = steps > 0 ? row[0] : share;
    }
    normalise(chain, chain->now);
}

/* How good a measure is that is exact where this share of time is not idle. */
static double trust(double busy_frac)
{
    return 1.0 / fulcrum_max(NEVER_IDLE, 1.0 - busy_frac);
}

bool fulcrum_greedy_small_accepts(const struct fulcrum_network *network)
{
    const struct fulcrum_step *step = &network->step;
    double time_s = fulcrum_batch_time(&network->host, 1.0);
    bool serial = network->depth <= 1.0 || time_s <= 0.0;
    time_s += fulcrum_batch_time(&network->gpu, 1.0);
    if (network->policy != FULCRUM_BATCH_GREEDY || !serial || time_s <= 0.0 ||
        step->mean_s <= 0.0 || network->actors > MOST_ACTORS) {
        return false;
    }
    double spread_s = fulcrum_step_cv(step) * step->mean_s;
    return spread_s >= LEAST_CV * (step->mean_s + network->delay_s) &&
           (network->delay_s <= 0.0 ||
               network->actors <= fulcrum_cpu_whole_servers(&network->cpu));
}

static struct chain chain_of(const struct fulcrum_network *network, double gpu_stretch)
{
    size_t actors = (size_t)network->actors;
    size_t size = (size_t)network->batch_size;
    return (struct chain){.network = network,
        .gpu_stretch = gpu_stretch,
        .present = 1.0,
        .actors = actors,
        .threads = (size_t)fulcrum_cpu_whole_servers(&network->cpu),
        .limit = size > 0 ? least(size, actors) : actors};
}

/* Whether a limit acts for a part of the time only: neither never nor always. */
static bool limit_acts(const struct fulcrum_network *network)
{
    struct chain chain = chain_of(network, 1.0);
    double limit = (double)chain.limit;
    double full = (double)usual_state(&chain);
    chain.limit = chain.actors;
    double free = (double)usual_state(&chain);
    double away = network->actors - full;
    return free + FULCRUM_LIMIT_MARGIN * sqrt(free) > limit &&
           full - FULCRUM_LIMIT_MARGIN * sqrt(fulcrum_min(full, away)) <= limit;
}

bool fulcrum_greedy_small_suits(const struct fulcrum_network *network)
{
    double actors = network->actors;
    bool queueing = actors > fulcrum_cpu_whole_servers(&network->cpu);
    bool limited = network->batch_size > 0.0 && network->batch_size < actors &&
                   limit_acts(network);
    if (queueing) {
        return actors <=
               (limited ? MOST_LIMITED_QUEUEING_ACTORS : MOST_QUEUEING_ACTORS);
    }
    return actors <= (limited ? MOST_ACTORS : MOST_PLAIN_ACTORS);
}

enum fulcrum_status fulcrum_greedy_small_solve(const struct fulcrum_network *network,
    double gpu_stretch, struct fulcrum_cycle *out, struct fulcrum_error *err)
{
    struct chain chain = chain_of(network, gpu_stretch);
    enum fulcrum_status status = FULCRUM_OK;
    TRY_OR_END(allocate(&chain, err));
    init(&chain, network);
    TRY_OR_END(settle(&chain, err));
    /* The means of a cycle. CPU time is what the throughput takes. */
    const struct usage *usage = &chain.usage;
    double step_s = chain.network->step.mean_s + chain.delay_work_s;
    chain.wanted = WITH_USAGE;
    turn(&chain);
    /*
     * Throughput has two measures that would agree but for the grid: items over time,
     * which is exact while the GPU is busy, and work done on the CPU over that of a
     * step, which is exact while everybody is there or, if they are short, while all
     * threads are busy. Each counts for as much as it is good.
     */
    double items_per_s = chain.items / chain.length_s;
    double steps_per_s = usage->work / chain.length_s / step_s;
    double busy = usage->busy / chain.length_s;
    double by_items = busy;
    double by_steps = 1.0 - busy;
    if (chain.actors > chain.threads) {
        by_items = trust(busy);
        by_steps = trust(usage->stepping / chain.length_s / (double)chain.threads);
    }
    double rate =
        (by_items * items_per_s + by_steps * steps_per_s) / (by_items + by_steps);
    double delayed = rate * chain.network->delay_s;
    double share = rate * step_s / usage->work;
    double at_cpu = fulcrum_min(share * usage->at_cpu, (double)chain.actors);
    double steps = fulcrum_min(share * usage->stepping, (double)chain.threads);
    double gpu_s = usage->at_gpu / chain.items;
    *out = (struct fulcrum_cycle){.batch = chain.items / chain.batches,
        .steps_per_s = rate,
        .at_cpu = fulcrum_max(0.0, at_cpu - delayed),
        .stepping = fulcrum_max(0.0, steps - delayed),
        .on_cores = share * usage->on_cores,
        .at_gpu = rate * gpu_s};
end:
    free(chain.queue.memory);
    free(chain.stage);
    free(chain.now);
    return status;
}
