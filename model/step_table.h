/* step_table.h - the tail of a step's length, tabulated for the fast solvers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_STEP_TABLE_H
#define FULCRUM_MODEL_STEP_TABLE_H

#include "model/network.h"

enum { FULCRUM_STEP_NODES = 512 };

/*
 * All lengths are in units of the mean step. Between the nodes, which lie closer where
 * the law is narrow, the excess is a cubic whose slopes are the exact tails.
 */
struct fulcrum_step_table {
    double cv;     /* of the law in the table: at least that of the narrowest one */
    unsigned bits; /* nodes per factor of two, as a power of two */
    size_t count;
    double tail[FULCRUM_STEP_NODES];   /* P(length > x) */
    double excess[FULCRUM_STEP_NODES]; /* E[max(0, length - x)] */
    double
        second[FULCRUM_STEP_NODES]; /* integral of the excess from x to the last node */
    double end;
    double decay; /* beyond the end the excess falls as x^-decay; 0: it is 0 */
};

/* `step` is checked. Takes a few microseconds. */
void fulcrum_step_table_init(
    struct fulcrum_step_table *table, const struct fulcrum_step *step);

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
