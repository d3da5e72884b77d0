/* greedy_small.h - greedy batches of a handful of actors. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_FAST_GREEDY_SMALL_H
#define FULCRUM_MODEL_FAST_GREEDY_SMALL_H

#include <stdbool.h>
#include <stddef.h>

#include "model/fast/steps.h"
#include "model/network/network.h"
#include "model/status.h"

/* Actors that wait for threads while nobody comes to the CPU. */

/* Chances of a way from state to state below this are dropped. */
#define FULCRUM_LEAST_CHANCE 1e-8

/* How many of several alike come to pass. */

/* `base` to a whole power. */
double fulcrum_power(double base, size_t exponent);

/*
 * The chances that 0..count of `count` come to pass, each with this chance of its own.
 *   out    count + 1 numbers
 */
void fulcrum_binomial(double *out, size_t count, double chance);

/* How long actors still have to step, on a grid of times. */

enum { FULCRUM_RESIDUAL_NODES = 32 };

/*
 * Nodes at which P(what is left of a step > time) is kept. The last node stands for
 * the end of the law: nothing is left there.
 */
struct fulcrum_residual_grid {
    double time_s[FULCRUM_RESIDUAL_NODES];
    double fresh[FULCRUM_RESIDUAL_NODES];  /* of a step that begins, after a delay */
    double rested[FULCRUM_RESIDUAL_NODES]; /* of one met at a random moment */
    double mean_s; /* of a fresh step, as the grid holds it: a little is cut off */
};

/* What happens to any such row of chances while time passes: four weights a node. */
struct fulcrum_residual_shift {
    size_t from[FULCRUM_RESIDUAL_NODES];
    double weight[FULCRUM_RESIDUAL_NODES][4];
};

/* Spreads the nodes over the lengths of `form`, delay_s before its start included. */
void fulcrum_residual_grid_init(struct fulcrum_residual_grid *grid,
    const struct fulcrum_step_form *form, double delay_s);

/*
 * Moves a row on, given that there is something left, so that it starts with 1 again.
 * Returns the chance that there is not; `out` is of no meaning where that is 1.
 */
double fulcrum_residual_move_on(
    const struct fulcrum_residual_shift *shift, const double *row, double *out);

/* row[i] += weight * other[i] */
void fulcrum_residual_add(double *row, double weight, const double *other);

/* row[i] = weight * other[i]; they may be the same. */
void fulcrum_residual_set(double *row, double weight, const double *other);

/* The mean, between 0 and 1, of a chance that falls from `before` to `after`. */
double fulcrum_residual_mean(double before, double after);

/* Who is left when the first of several steps ends. */

enum { FULCRUM_RACE_NODES = 12 };

/* Stepping actors: some that have stepped for a while, some that start. */
struct fulcrum_crowd {
    size_t aged;
    size_t fresh;
    const double *left; /* the row of the aged ones, 1 at its start */
};

/* Who did not win, of any number of races, kept by how long those took. */
struct fulcrum_first_passage {
    const struct fulcrum_residual_grid *grid; /* borrowed */
    double time_s[FULCRUM_RACE_NODES];
    struct fulcrum_residual_shift shift[FULCRUM_RACE_NODES];
    double fresh_left[FULCRUM_RACE_NODES][FULCRUM_RESIDUAL_NODES];
    double aged[FULCRUM_RACE_NODES][FULCRUM_RESIDUAL_NODES]; /* by weight */
    double fresh[FULCRUM_RACE_NODES];
};

/* For races that take usual_s on the mean, the order of magnitude counts. */
void fulcrum_first_passage_init(struct fulcrum_first_passage *race,
    const struct fulcrum_residual_grid *grid, double usual_s);

/* Forgets all races. */
void fulcrum_first_passage_clear(struct fulcrum_first_passage *race);

/*
 * The crowd, of one at least, races with this chance. Returns the mean time to the
 * first finish, as the grid holds time.
 */
double fulcrum_first_passage_run(struct fulcrum_first_passage *race,
    const struct fulcrum_crowd *crowd, double chance);

/* Adds all losers' rows, at the end of their races, to a row: chance times losers. */
void fulcrum_first_passage_add_losers(
    const struct fulcrum_first_passage *race, double *row);

/* A piece of time in which few threads end more than one step. */
struct fulcrum_slice {
    struct fulcrum_residual_shift shift;
    double early[FULCRUM_RESIDUAL_NODES]; /* of a step that began at any moment of it */
    double again; /* the chance that such a step also ended there */
};

void fulcrum_slice_init(struct fulcrum_slice *slice,
    const struct fulcrum_residual_grid *grid, double time_s);

/* By the number n at the CPU, 0..actors. */
struct fulcrum_thread_row {
    double *chance;
    double *left;   /* NODES each: the row of a stepping actor, times the chance */
    double *early;  /* weights of rows that are added at the end of a slice: who */
    double *newest; /* began within it, who began at its end */
};

struct fulcrum_thread_queue {
    const struct fulcrum_residual_grid *grid; /* borrowed */
    size_t actors;
    size_t threads;
    struct fulcrum_thread_row now;
    struct fulcrum_thread_row next;
    double *binomial;
    double *aged; /* weights, for each n at the end of a slice, of a row at its start */
    double *memory; /* owned: all of the above */
};

/*
 *   out      set on success only; the caller clears it
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_thread_queue_init(
    struct fulcrum_thread_queue *out, const struct fulcrum_residual_grid *grid,
    size_t actors, size_t threads, struct fulcrum_error *err);

/* Accepts a struct of zeros. */
void fulcrum_thread_queue_clear(struct fulcrum_thread_queue *queue);

/* Nobody is there with any chance. */
void fulcrum_thread_queue_empty(struct fulcrum_thread_queue *queue);

/* With this chance n actors are there; `row` over its first entry is theirs. */
void fulcrum_thread_queue_set(
    struct fulcrum_thread_queue *queue, size_t n, double chance, const double *row);

/* Who has a thread steps for the time of the slice; who ends hands it on and leaves. */
void fulcrum_thread_queue_pass(
    struct fulcrum_thread_queue *queue, const struct fulcrum_slice *slice);

/* The mean cycle of a greedy batch server with a handful of actors. */

/* A limit of batches acts where its distance to the usual batch is no more than this
 * many square roots of it: beyond four deviations, chance does not get there. */
#define FULCRUM_LIMIT_MARGIN 4.0

/*
 * Whether fulcrum_greedy_small_solve can take a checked network: greedy, host and GPU
 * one after the other, at most 64 actors, steps that vary next to their mean and the
 * delay, and no delay where there are more actors than threads.
 */
bool fulcrum_greedy_small_accepts(const struct fulcrum_network *network);

/*
 * Whether a network that it can take is one to take it for: so few actors, or a limit
 * of batches that acts for a part of the time with so few, that equations for means are
 * off by more than a few per cent; a solution then costs a millisecond or so at most.
 */
bool fulcrum_greedy_small_suits(const struct fulcrum_network *network);

/*
 * Solves docs/model.md "A handful of actors" for a network that
 * fulcrum_greedy_small_accepts, nothing training. GPU times are multiplied by
 * `gpu_stretch` > 0.
 *   out      set on success only
 *   fails    FULCRUM_ERR_NO_MEMORY, FULCRUM_ERR_NO_FIT (did not settle)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_greedy_small_solve(
    const struct fulcrum_network *network, double gpu_stretch,
    struct fulcrum_cycle *out, struct fulcrum_error *err);

#endif
