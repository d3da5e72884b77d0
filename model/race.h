/* race.h - who is left when the first of several steps ends. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_RACE_H
#define FULCRUM_MODEL_RACE_H

#include "model/residual.h"

enum { FULCRUM_RACE_NODES = 12 };

/* Stepping actors: some that have stepped for a while, some that start. */
struct fulcrum_crowd {
    size_t aged;
    size_t fresh;
    const double *left; /* the row of the aged ones, 1 at its start */
};

/* Who did not win, of any number of races, kept by how long those took. */
struct fulcrum_race {
    const struct fulcrum_residual_grid *grid; /* borrowed */
    double time_s[FULCRUM_RACE_NODES];
    struct fulcrum_residual_shift shift[FULCRUM_RACE_NODES];
    double fresh_left[FULCRUM_RACE_NODES][FULCRUM_RESIDUAL_NODES];
    double aged[FULCRUM_RACE_NODES][FULCRUM_RESIDUAL_NODES]; /* by weight */
    double fresh[FULCRUM_RACE_NODES];
};

/* For races that take usual_s on the mean, the order of magnitude counts. */
void fulcrum_race_init(struct fulcrum_race *race,
    const struct fulcrum_residual_grid *grid, double usual_s);

/* Forgets all races. */
void fulcrum_race_clear(struct fulcrum_race *race);

/*
 * The crowd, of one at least, races with this chance. Returns the mean time to the
 * first finish, as the grid holds time.
 */
double fulcrum_race_run(
    struct fulcrum_race *race, const struct fulcrum_crowd *crowd, double chance);

/* Adds all losers' rows, at the end of their races, to a row: chance times losers. */
void fulcrum_race_add_losers(const struct fulcrum_race *race, double *row);

#endif
