/* step_table.c - the tail of a step's length, tabulated for the fast solvers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fast solvers ask for the tail of the step some hundred times per network, and
 * erfc or a sum over Erlang stages would be most of their time. A node lies at every
 * 2^-bits-th part of a factor of two, so that its index is the upper bits of the number
 * itself and no search is needed. The excess is interpolated, its derivative is the
 * tail: both are exact at the nodes and agree with each other between them, which keeps
 * the solvers' balances of actors exact.
 *
 * Laws with a cv below NARROWEST are tabulated as if they had it: the mean-field
 * equations are not smooth in narrower ones, and not right for them either
 * (docs/model.md "Where the fast solver is weak").
 */
#include "model/step_table.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "model/step_law.h"

#define NARROWEST 0.05
#define FIRST     0.015625 /* 2^-6 */
#define LAST      64.0
#define NO_EXCESS 1e-10

/* Erlang laws of more stages are taken as lognormal. */
#define MOST_STAGES 64.0

/* Cohorts are summed one by one up to here, then by Euler and Maclaurin. */
#define DIRECT_TERMS  12
#define SMOOTH_TERMS  2
#define SMOOTH_PERIOD 0.15
#define NO_TAIL       1e-8

#define DOUBLE_FRACTION_BITS 52

struct point {
    double tail;
    double excess;
};

/* The law in units of its mean, not narrower than tabulated ones can be. */
static struct fulcrum_step_form form_of(const struct fulcrum_step *step, double cv)
{
    struct fulcrum_step unit = {1.0, cv, step->law};
    int steep = step->law == FULCRUM_LAW_ERLANG && cv * cv * MOST_STAGES < 1.0;
    if (steep || step->law == FULCRUM_LAW_DETERMINISTIC) {
        unit.law = FULCRUM_LAW_LOGNORMAL;
    }
    return fulcrum_step_form_of(&unit);
}

/* The number's upper bits: nodes lie where the lower ones are 0. */
static uint64_t upper_bits(double x, unsigned bits)
{
    uint64_t word = 0;
    memcpy(&word, &x, sizeof word);
    return word >> (DOUBLE_FRACTION_BITS - bits);
}

static double node_at(const struct fulcrum_step_table *table, size_t i)
{
    uint64_t word = (upper_bits(FIRST, table->bits) + i)
                    << (DOUBLE_FRACTION_BITS - table->bits);
    double x = 0.0;
    memcpy(&x, &word, sizeof x);
    return x;
}

/* Integral over a cell of the cubic with these ends; the slopes are minus the tails. */
static double cell_area(double width, struct point low, struct point high)
{
    return 0.5 * width * (low.excess + high.excess) +
           width * width / 12.0 * (high.tail - low.tail);
}

static void sum_areas(struct fulcrum_step_table *table)
{
    size_t last = table->count - 1;
    table->second[last] = 0.0;
    for (size_t i = last; i-- > 0;) {
        double width = node_at(table, i + 1) - node_at(table, i);
        struct point low = {table->tail[i], table->excess[i]};
        struct point high = {table->tail[i + 1], table->excess[i + 1]};
        table->second[i] = table->second[i + 1] + cell_area(width, low, high);
    }
}

/* At least two nodes within a standard deviation, and four in a factor of two. */
static unsigned bits_for(double cv)
{
    unsigned bits = 2;
    while (bits < 5 && cv * (double)(1U << bits) < 2.0) {
        bits++;
    }
    return bits;
}

void fulcrum_step_table_init(
    struct fulcrum_step_table *table, const struct fulcrum_step *step)
{
    table->cv = fmax(NARROWEST, fulcrum_step_cv(step));
    table->bits = bits_for(table->cv);
    struct fulcrum_step_form form = form_of(step, table->cv);
    size_t i = 0;
    double excess = 1.0;
    do {
        double x = node_at(table, i);
        excess = fulcrum_step_excess(&form, x);
        table->tail[i] = fulcrum_step_tail(&form, x);
        table->excess[i] = excess;
        table->end = x;
        i++;
    } while (excess > NO_EXCESS && table->end < LAST);
    table->count = i;
    table->decay = 0.0;
    if (excess > NO_EXCESS) {
        table->decay = table->end * table->tail[i - 1] / excess;
    }
    sum_areas(table);
}

/* A place within a cell of the table, with the cubic's ends. */
struct place {
    double part;
    double width;
    struct point low;
    struct point high;
    double second; /* at the cell's upper end */
};

static struct place place_of(const struct fulcrum_step_table *table, double x)
{
    struct place place;
    if (x < FIRST) {
        place.part = x / FIRST;
        place.width = FIRST;
        place.low = (struct point){1.0, 1.0};
        place.high = (struct point){table->tail[0], table->excess[0]};
        place.second = table->second[0];
        return place;
    }
    size_t i = (size_t)(upper_bits(x, table->bits) - upper_bits(FIRST, table->bits));
    double low = node_at(table, i);
    place.width = node_at(table, i + 1) - low;
    place.part = (x - low) / place.width;
    place.low = (struct point){table->tail[i], table->excess[i]};
    place.high = (struct point){table->tail[i + 1], table->excess[i + 1]};
    place.second = table->second[i + 1];
    return place;
}

/* Beyond the last node: a power law where anything is left. */
static double power_tail(const struct fulcrum_step_table *table, double x)
{
    size_t last = table->count - 1;
    return table->decay > 0.0
               ? table->tail[last] * pow(x / table->end, -table->decay - 1.0)
               : 0.0;
}

double fulcrum_step_table_tail(const struct fulcrum_step_table *table, double x)
{
    if (x >= table->end) {
        return power_tail(table, x);
    }
    struct place at = place_of(table, x);
    double t = at.part;
    double rise = (at.high.excess - at.low.excess) / at.width;
    double slope = 6.0 * t * (1.0 - t) * rise -
                   (1.0 - t) * (1.0 - 3.0 * t) * at.low.tail +
                   t * (2.0 - 3.0 * t) * at.high.tail;
    return fmax(0.0, -slope);
}

double fulcrum_step_table_excess(const struct fulcrum_step_table *table, double x)
{
    if (x >= table->end) {
        return table->decay > 0.0 ? power_tail(table, x) * x / table->decay : 0.0;
    }
    struct place at = place_of(table, x);
    double t = at.part;
    double u = 1.0 - t;
    return u * u * ((1.0 + 2.0 * t) * at.low.excess - t * at.width * at.low.tail) +
           t * t * ((1.0 + 2.0 * u) * at.high.excess + u * at.width * at.high.tail);
}

/* The integral of the excess from x to the last node; negative beyond it. */
static double second_excess(const struct fulcrum_step_table *table, double x)
{
    if (x >= table->end) {
        return -0.5 * (x - table->end) *
               (table->excess[table->count - 1] + fulcrum_step_table_excess(table, x));
    }
    struct place at = place_of(table, x);
    struct point here = {
        fulcrum_step_table_tail(table, x), fulcrum_step_table_excess(table, x)};
    return at.second + cell_area((1.0 - at.part) * at.width, here, at.high);
}

/* Few where the law is smooth on the scale of the period. */
static int direct_terms(const struct fulcrum_step_table *table, double period)
{
    return period < SMOOTH_PERIOD * fmin(1.0, table->cv) ? SMOOTH_TERMS : DIRECT_TERMS;
}

double fulcrum_step_cohorts(
    const struct fulcrum_step_table *table, double period, double age)
{
    int terms = direct_terms(table, period);
    double sum = 0.0;
    double term = 0.0;
    for (int j = 0; j < terms; j++) {
        term = fulcrum_step_table_tail(table, age);
        sum += term;
        if (term < NO_TAIL) {
            return sum;
        }
        age += period;
    }
    double here = fulcrum_step_table_tail(table, age);
    double next = fulcrum_step_table_tail(table, age + period);
    return sum + fulcrum_step_table_excess(table, age) / period + 0.5 * here +
           (term - next) / 24.0;
}

double fulcrum_step_cohorts_area(
    const struct fulcrum_step_table *table, double period, double age)
{
    int terms = direct_terms(table, period);
    double sum = 0.0;
    for (int j = 0; j < terms; j++) {
        double term = fulcrum_step_table_excess(table, age);
        sum += term;
        if (term < NO_TAIL) {
            return sum;
        }
        age += period;
    }
    return sum + second_excess(table, age) / period +
           0.5 * fulcrum_step_table_excess(table, age) +
           period / 12.0 * fulcrum_step_table_tail(table, age);
}
