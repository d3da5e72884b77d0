/* race.c - who is left when the first of several steps ends. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The chance that nobody of a crowd has finished falls along the grid; in each of its
 * cells the winner is one of the aged or one of the fresh in proportion to how fast
 * either end there. The others have stepped on for as long as it took. A crowd per
 * moment of the finish would be many: losers are shared between the two nearest of a
 * few moments, so that the mean time is kept, and moved on once for all races.
 */
#include "model/race.h"

#include <math.h>
#include <string.h>

#include "model/binomial.h"

/* A race is over once nobody has won with this chance. */
#define NO_CHANCE 1e-9

/* The first gap between the moments kept, in usual times of a race. */
#define FIRST_GAP 0.3

enum { NODES = FULCRUM_RESIDUAL_NODES, RACE_NODES = FULCRUM_RACE_NODES };

void fulcrum_race_init(
    struct fulcrum_race *race, const struct fulcrum_residual_grid *grid, double usual_s)
{
    race->grid = grid;
    fulcrum_residual_spread(
        race->time_s, RACE_NODES, FIRST_GAP * usual_s, grid->time_s[NODES - 2]);
    for (size_t i = 0; i < RACE_NODES; i++) {
        fulcrum_residual_shift_init(&race->shift[i], grid, race->time_s[i]);
        fulcrum_residual_shift(&race->shift[i], grid->fresh, race->fresh_left[i]);
    }
    fulcrum_race_clear(race);
}

void fulcrum_race_clear(struct fulcrum_race *race)
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
    double aged_ends = aged * (left[0] - left[1]) / fmax(left[0] + left[1], NO_CHANCE);
    double fresh_ends = fresh * (new_left[0] - new_left[1]) /
                        fmax(new_left[0] + new_left[1], NO_CHANCE);
    double ends = aged_ends + fresh_ends;
    return ends > 0.0 ? aged_ends / ends : aged / (aged + fresh);
}

static struct finish finish_in(const struct fulcrum_residual_grid *grid,
    const struct fulcrum_crowd *crowd, size_t cell, double before)
{
    double start_s = grid->time_s[cell];
    double gap_s = grid->time_s[cell + 1] - start_s;
    struct finish finish = {.aged_wins = aged_wins(grid, crowd, cell)};
    if (cell + 2 < NODES) {
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

/* Shares them between the two times that are kept next to the finish. */
static void add_losers(const struct fulcrum_race *race, struct losers *losers,
    const struct fulcrum_crowd *crowd, const struct finish *finish)
{
    size_t node = 0;
    while (node + 2 < RACE_NODES && race->time_s[node + 1] < finish->time_s) {
        node++;
    }
    double gap_s = race->time_s[node + 1] - race->time_s[node];
    double part = fmin(1.0, (finish->time_s - race->time_s[node]) / gap_s);
    double aged = finish->chance * ((double)crowd->aged - finish->aged_wins);
    double fresh = finish->chance * ((double)crowd->fresh - 1.0 + finish->aged_wins);
    losers->aged[node] += (1.0 - part) * aged;
    losers->aged[node + 1] += part * aged;
    losers->fresh[node] += (1.0 - part) * fresh;
    losers->fresh[node + 1] += part * fresh;
}

double fulcrum_race_run(
    struct fulcrum_race *race, const struct fulcrum_crowd *crowd, double chance)
{
    struct losers losers = {.aged = {0.0}};
    double before = 1.0;
    double mean_s = 0.0;
    for (size_t i = 0; i + 1 < NODES && before > NO_CHANCE; i++) {
        struct finish finish = finish_in(race->grid, crowd, i, before);
        mean_s += finish.wait_s;
        add_losers(race, &losers, crowd, &finish);
        before = finish.after;
    }
    for (size_t i = 0; i < RACE_NODES; i++) {
        double aged_left = fulcrum_residual_left(&race->shift[i], crowd->left);
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

void fulcrum_race_add_losers(const struct fulcrum_race *race, double *row)
{
    for (size_t i = 0; i < RACE_NODES; i++) {
        fulcrum_residual_add(row, race->fresh[i], race->fresh_left[i]);
        if (race->aged[i][0] > 0.0) {
            double moved[NODES];
            fulcrum_residual_shift(&race->shift[i], race->aged[i], moved);
            fulcrum_residual_add(row, 1.0, moved);
        }
    }
}
