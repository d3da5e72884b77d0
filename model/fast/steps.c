/* steps.c - lengths of steps for the fast solvers: their laws, tabulated tails, batch
 * times. */
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

#include "model/fast/steps.h"

#include <stdint.h>
#include <string.h>

#include "model/number.h"

/*
 * The random length of an environment step. A law is chosen by name and set by its mean
 * and coefficient of variation, so that a measured cv can be given to any of them
 * (docs/model.md "Step laws"). Each offers its tail and the integral of that in closed
 * form, for the equations. The simulation works the parameters out for itself
 * (simulate.c), as it is to judge these.
 */

/* A tail so heavy that the variance is barely finite; docs/model.md "Step laws". */
#define PARETO_SHAPE 2.1

static double erlang_stages(double cv)
{
    return fulcrum_max(1.0, round(1.0 / (cv * cv)));
}

struct fulcrum_step_form fulcrum_step_form_of(const struct fulcrum_step *step)
{
    struct fulcrum_step_form form = {.law = step->law, .mean_s = step->mean_s};
    double square = step->cv * step->cv;
    switch (step->law) {
    case FULCRUM_LAW_LOGNORMAL:
        form.shape = sqrt(log1p(square));
        form.scale = log(fulcrum_max(step->mean_s, 1e-300)) - 0.5 * log1p(square);
        break;
    case FULCRUM_LAW_ERLANG:
        form.shape = erlang_stages(step->cv);
        form.scale = step->mean_s / form.shape;
        break;
    case FULCRUM_LAW_HYPEREXPONENTIAL:
        /* Balanced means: each phase contributes half of the mean. */
        form.shape = 0.5 * (1.0 + sqrt((square - 1.0) / (square + 1.0)));
        form.scale = 0.5 * step->mean_s / form.shape;
        form.scale2 = 0.5 * step->mean_s / (1.0 - form.shape);
        break;
    case FULCRUM_LAW_PARETO:
        form.shape = PARETO_SHAPE;
        form.scale = step->mean_s * (PARETO_SHAPE - 1.0) / PARETO_SHAPE;
        break;
    case FULCRUM_LAW_EXPONENTIAL:
    case FULCRUM_LAW_DETERMINISTIC:
    default:
        break;
    }
    return form;
}

double fulcrum_step_cv(const struct fulcrum_step *step)
{
    switch (step->law) {
    case FULCRUM_LAW_EXPONENTIAL:
        return 1.0;
    case FULCRUM_LAW_DETERMINISTIC:
        return 0.0;
    case FULCRUM_LAW_ERLANG:
        return 1.0 / sqrt(erlang_stages(step->cv));
    case FULCRUM_LAW_PARETO:
        return 1.0 / sqrt(PARETO_SHAPE * (PARETO_SHAPE - 2.0));
    case FULCRUM_LAW_LOGNORMAL:
    case FULCRUM_LAW_HYPEREXPONENTIAL:
    default:
        return step->cv;
    }
}

/* exp(-x) sum_{i < stages} x^i / i!: P(sum of unit exponentials > x). */
static double erlang_tail(double stages, double x)
{
    double term = exp(-x);
    double sum = term;
    for (size_t i = 1; i < (size_t)stages; i++) {
        term *= x / (double)i;
        sum += term;
    }
    return fulcrum_min(1.0, sum);
}

static double normal_tail(double z)
{
    return 0.5 * erfc(z / sqrt(2.0));
}

double fulcrum_step_tail(const struct fulcrum_step_form *form, double time_s)
{
    if (time_s <= 0.0) {
        return 1.0;
    }
    switch (form->law) {
    case FULCRUM_LAW_LOGNORMAL:
        return normal_tail((log(time_s) - form->scale) / form->shape);
    case FULCRUM_LAW_EXPONENTIAL:
        return exp(-time_s / form->mean_s);
    case FULCRUM_LAW_ERLANG:
        return erlang_tail(form->shape, time_s / form->scale);
    case FULCRUM_LAW_HYPEREXPONENTIAL:
        return form->shape * exp(-time_s / form->scale) +
               (1.0 - form->shape) * exp(-time_s / form->scale2);
    case FULCRUM_LAW_PARETO:
        return time_s <= form->scale ? 1.0 : pow(time_s / form->scale, -form->shape);
    case FULCRUM_LAW_DETERMINISTIC:
    default:
        return time_s < form->mean_s ? 1.0 : 0.0;
    }
}

double fulcrum_step_excess(const struct fulcrum_step_form *form, double time_s)
{
    if (time_s <= 0.0) {
        return form->mean_s - time_s;
    }
    switch (form->law) {
    case FULCRUM_LAW_LOGNORMAL: {
        double z = (log(time_s) - form->scale) / form->shape;
        return form->mean_s * normal_tail(z - form->shape) - time_s * normal_tail(z);
    }
    case FULCRUM_LAW_EXPONENTIAL:
        return form->mean_s * exp(-time_s / form->mean_s);
    case FULCRUM_LAW_ERLANG:
        return form->mean_s * erlang_tail(form->shape + 1.0, time_s / form->scale) -
               time_s * erlang_tail(form->shape, time_s / form->scale);
    case FULCRUM_LAW_HYPEREXPONENTIAL:
        return 0.5 * form->mean_s *
               (exp(-time_s / form->scale) + exp(-time_s / form->scale2));
    case FULCRUM_LAW_PARETO:
        return time_s <= form->scale ? form->mean_s - time_s
                                     : pow(time_s / form->scale, 1.0 - form->shape) *
                                           form->scale / (form->shape - 1.0);
    case FULCRUM_LAW_DETERMINISTIC:
    default:
        return fulcrum_max(0.0, form->mean_s - time_s);
    }
}

/* The table: least cv, first and last node in mean steps (powers of two, as nodes share
 * the upper bits of their numbers), and the excess, in means, at which it ends. */
#define NARROWEST 0.05
#define FIRST     0.015625 /* 2^-6 */
#define LAST      64.0
#define NO_EXCESS 1e-10

/* Erlang laws of more stages are taken as lognormal. */
#define MOST_STAGES 64.0

/*
 * Cohorts are summed one by one up to so many terms, then by Euler and Maclaurin. Fewer
 * terms do for a period below SMOOTH_PERIOD deviations of a step (at most means;
 * Pareto: PARETO_SMOOTH_PERIOD means, as its corner is not smooth). A term below
 * NO_TAIL is the last.
 */
#define DIRECT_TERMS         12
#define SMOOTH_TERMS         2
#define SMOOTH_PERIOD        0.8
#define PARETO_SMOOTH_PERIOD 0.1
#define NO_TAIL              1e-8

#define DOUBLE_FRACTION_BITS 52 /* of IEEE 754 */

/* P(length > x) and E[max(0, length - x)]. */
struct point {
    double tail;
    double excess;
};

/* The number's upper bits: nodes lie where the lower ones are 0. */
static uint64_t upper_bits(double x, unsigned bits)
{
    uint64_t word = 0;
    memcpy(&word, &x, sizeof word);
    return word >> (DOUBLE_FRACTION_BITS - bits);
}

/* From a cell's lower node to the place `t` in it. */
static double area_up_to(const struct fulcrum_step_cell *cell, double t)
{
    const double *c = cell->c;
    double sum = c[0] + t * (c[1] / 2.0 + t * (c[2] / 3.0 + t * c[3] / 4.0));
    return t * sum / cell->per_x;
}

void fulcrum_step_table_init(
    struct fulcrum_step_table *table, const struct fulcrum_step *step)
{
    table->law = step->law;
    table->law_cv = step->cv;
    table->cv = fulcrum_max(NARROWEST, fulcrum_step_cv(step));
    /* At least two nodes within a standard deviation, and four in a factor of two. */
    unsigned bits = 2;
    while (bits < 5 && table->cv * (double)(1U << bits) < 2.0) {
        bits++;
    }
    table->bits = bits;
    table->smooth_period = step->law == FULCRUM_LAW_PARETO
                               ? PARETO_SMOOTH_PERIOD
                               : SMOOTH_PERIOD * (table->cv < 1.0 ? table->cv : 1.0);
    /* The law in units of its mean, not narrower than tabulated ones can be. */
    double cv = table->cv;
    struct fulcrum_step unit = {1.0, cv, step->law};
    bool steep = step->law == FULCRUM_LAW_ERLANG && cv * cv * MOST_STAGES < 1.0;
    if (steep || step->law == FULCRUM_LAW_DETERMINISTIC) {
        unit.law = FULCRUM_LAW_LOGNORMAL;
    }
    struct fulcrum_step_form form = fulcrum_step_form_of(&unit);
    struct point from = {1.0, 1.0};
    double low = 0.0;
    table->count = 0;
    while (from.excess > NO_EXCESS && low < LAST) {
        uint64_t word = (upper_bits(FIRST, table->bits) + table->count)
                        << (DOUBLE_FRACTION_BITS - table->bits);
        double high = 0.0;
        memcpy(&high, &word, sizeof high);
        struct point to = {
            fulcrum_step_tail(&form, high), fulcrum_step_excess(&form, high)};
        /* The cubic through both ends whose slopes there are minus the tails. */
        double width = high - low;
        double fall = to.excess - from.excess;
        double slope = -from.tail * width;
        double slope_end = -to.tail * width;
        struct fulcrum_step_cell cell_between = (struct fulcrum_step_cell){.low = low,
            .per_x = 1.0 / width,
            .c = {from.excess, slope, 3.0 * fall - 2.0 * slope - slope_end,
                slope + slope_end - 2.0 * fall}};
        table->cell[table->count++] = cell_between;
        low = high;
        from = to;
    }
    table->end = low;
    table->end_tail = from.tail;
    table->end_excess = from.excess;
    table->decay = 0.0;
    if (from.excess > NO_EXCESS) {
        table->decay = low * from.tail / from.excess;
    }
    double area = 0.0;
    for (size_t i = table->count; i-- > 0;) {
        area += area_up_to(&table->cell[i], 1.0);
        table->cell[i].area = area;
    }
}

bool fulcrum_step_table_fits(
    const struct fulcrum_step_table *table, const struct fulcrum_step *step)
{
    double cv_apart = fabs(table->law_cv - step->cv);
    return table->count > 0 && table->law == step->law && cv_apart <= 0.0;
}

static const struct fulcrum_step_cell *cell_of(
    const struct fulcrum_step_table *table, double x)
{
    if (x < FIRST) {
        return &table->cell[0];
    }
    return &table->cell[1 + (size_t)(upper_bits(x, table->bits) -
                                     upper_bits(FIRST, table->bits))];
}

/* Beyond the last node: a power law where anything is left. */
static double power_tail(const struct fulcrum_step_table *table, double x)
{
    return table->decay > 0.0
               ? table->end_tail * pow(x / table->end, -table->decay - 1.0)
               : 0.0;
}

/* Inline, and without fmax: sums over cohorts are most of a fast solution's time. */
static inline double tail_at(const struct fulcrum_step_table *table, double x)
{
    if (x >= table->end) {
        return power_tail(table, x);
    }
    const struct fulcrum_step_cell *cell = cell_of(table, x);
    double t = (x - cell->low) * cell->per_x;
    const double *c = cell->c;
    double slope = c[1] + t * (2.0 * c[2] + t * 3.0 * c[3]);
    return slope < 0.0 ? -slope * cell->per_x : 0.0;
}

static inline double excess_at(const struct fulcrum_step_table *table, double x)
{
    if (x >= table->end) {
        return table->decay > 0.0 ? power_tail(table, x) * x / table->decay : 0.0;
    }
    const struct fulcrum_step_cell *cell = cell_of(table, x);
    double t = (x - cell->low) * cell->per_x;
    const double *c = cell->c;
    return c[0] + t * (c[1] + t * (c[2] + t * c[3]));
}

/* The integral of the excess from x to the last node; negative beyond it. */
static double second_excess(const struct fulcrum_step_table *table, double x)
{
    if (x >= table->end) {
        return -0.5 * (x - table->end) * (table->end_excess + excess_at(table, x));
    }
    const struct fulcrum_step_cell *cell = cell_of(table, x);
    return cell->area - area_up_to(cell, (x - cell->low) * cell->per_x);
}

/* Few where the law is smooth on the scale of the period. */
static int direct_terms(const struct fulcrum_step_table *table, double period)
{
    return period < table->smooth_period ? SMOOTH_TERMS : DIRECT_TERMS;
}

/* Both at once: they lie in the same cell. */
static inline struct point point_at(const struct fulcrum_step_table *table, double x)
{
    if (x >= table->end) {
        return (struct point){power_tail(table, x), excess_at(table, x)};
    }
    const struct fulcrum_step_cell *cell = cell_of(table, x);
    double t = (x - cell->low) * cell->per_x;
    const double *c = cell->c;
    double slope = c[1] + t * (2.0 * c[2] + t * 3.0 * c[3]);
    return (struct point){slope < 0.0 ? -slope * cell->per_x : 0.0,
        c[0] + t * (c[1] + t * (c[2] + t * c[3]))};
}

double fulcrum_step_cohorts(
    const struct fulcrum_step_table *table, double period, double age)
{
    int terms = direct_terms(table, period);
    double sum = 0.0;
    double term = 0.0;
    for (int j = 0; j < terms; j++) {
        term = tail_at(table, age);
        sum += term;
        if (term < NO_TAIL) {
            return sum;
        }
        age += period;
    }
    struct point here = point_at(table, age);
    double next = tail_at(table, age + period);
    return sum + here.excess / period + 0.5 * here.tail + (term - next) / 24.0;
}

static double area_beyond(
    const struct fulcrum_step_table *table, double period, double age)
{
    struct point here = point_at(table, age);
    return second_excess(table, age) / period + 0.5 * here.excess +
           period / 12.0 * here.tail;
}

double fulcrum_step_cohorts_area(
    const struct fulcrum_step_table *table, double period, double age)
{
    int terms = direct_terms(table, period);
    double sum = 0.0;
    for (int j = 0; j < terms; j++) {
        double term = excess_at(table, age);
        sum += term;
        if (term < NO_TAIL) {
            return sum;
        }
        age += period;
    }
    return sum + area_beyond(table, period, age);
}

/* Each sum ends where its own terms do, so that it is the same without the other. */
struct fulcrum_step_sums fulcrum_step_sums_at(
    const struct fulcrum_step_table *table, double period, double age)
{
    int terms = direct_terms(table, period);
    struct fulcrum_step_sums sums = {0.0, 0.0};
    struct point term = {1.0, 1.0};
    for (int j = 0; j < terms; j++) {
        struct point next = point_at(table, age);
        sums.left += term.tail < NO_TAIL ? 0.0 : next.tail;
        sums.area += term.excess < NO_TAIL ? 0.0 : next.excess;
        term = next;
        if (term.tail < NO_TAIL && term.excess < NO_TAIL) {
            return sums;
        }
        age += period;
    }
    if (!(term.tail < NO_TAIL)) {
        struct point here = point_at(table, age);
        double next = tail_at(table, age + period);
        sums.left += here.excess / period + 0.5 * here.tail + (term.tail - next) / 24.0;
    }
    if (!(term.excess < NO_TAIL)) {
        sums.area += area_beyond(table, period, age);
    }
    return sums;
}
