/* step_table.h - the tail of a step's length, tabulated for the fast solvers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_STEP_TABLE_H
#define FULCRUM_MODEL_STEP_TABLE_H

#include "model/network.h"

enum { FULCRUM_STEP_CELLS = 400 };

/*
 * Between two nodes the excess E[max(0, length - x)] is c[0] + c[1] t + c[2] t^2 + c[3]
 * t^3, t going from 0 to 1.
 */
struct fulcrum_step_cell {
    double low;   /* x of the lower node */
    double per_x; /* 1 / distance of the nodes */
    double c[4];
    double area; /* integral of the excess from the lower node to the last one */
};

/*
 * All lengths are in units of the mean step, so that a table serves every step of its
 * law and cv. Nodes lie closer where the law is narrow.
 */
struct fulcrum_step_table {
    enum fulcrum_step_law law;
    double law_cv;        /* as asked for */
    double cv;            /* as tabulated: at least that of the narrowest one */
    unsigned bits;        /* nodes per factor of two, as a power of two */
    double smooth_period; /* sums over cohorts of shorter periods are integrals */
    size_t count;
    struct fulcrum_step_cell cell[FULCRUM_STEP_CELLS];
    double end; /* the last node, and what is there */
    double end_tail;
    double end_excess;
    double decay; /* beyond the end the excess falls as x^-decay; 0: it is 0 */
};

/* `step` is checked. Takes a few microseconds. */
void fulcrum_step_table_init(
    struct fulcrum_step_table *table, const struct fulcrum_step *step);

/* Nonzero if the table, all zero or set, is that of this step. */
int fulcrum_step_table_fits(
    const struct fulcrum_step_table *table, const struct fulcrum_step *step);

/* P(length > x), x >= 0. */
double fulcrum_step_table_tail(const struct fulcrum_step_table *table, double x);

/* E[max(0, length - x)], x >= 0. */
double fulcrum_step_table_excess(const struct fulcrum_step_table *table, double x);

/*
 * sum_{j >= 0} P(length > age + j period): how much is left of cohorts of one actor
 * that began `age` ago and every `period` > 0 before.
 */
double fulcrum_step_cohorts(
    const struct fulcrum_step_table *table, double period, double age);

/*
 * The integral of fulcrum_step_cohorts over ages beyond `age`, but for a constant that
 * is the same for all ages: differences are areas.
 */
double fulcrum_step_cohorts_area(
    const struct fulcrum_step_table *table, double period, double age);

#endif
