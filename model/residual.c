/* residual.c - how long actors still have to step, on a grid of times. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The nodes are even where steps usually end and grow geometrically along the tail of
 * the law, so that a few dozen hold an Erlang as well as a Pareto law. As time passes,
 * a row of chances moves along the grid; in between the nodes it is interpolated by the
 * cubic through four of them. Linear interpolation would smear the law out at each of
 * the many short moves; the cubic can overshoot at a corner of the law, so that the
 * result is held to what a chance can be.
 */
#include "model/residual.h"

#include <math.h>

/* So many nodes are even, up to this many means. */
#define EVEN_NODES 18
#define EVEN_MEANS 2.0
/*
 * The law is cut off where the mean of what lies beyond is this share of its mean: the
 * lower share, or that number of means if it is less, but not above the higher share.
 */
#define LEAST_CUT_FRAC 1e-4
#define MOST_CUT_FRAC  3e-3
#define CUT_MEANS      12.0
/* A law that ends before this many times the even part has even nodes throughout. */
#define SHORT_RATIO  1.5
#define SEARCH_STEPS 50
#define MOST_TAIL    1e6
#define MOST_RATIO   50.0
/* Below this ratio a straight line would overrate the mean of a falling chance. */
#define STRAIGHT_FROM 0.9

/* A chance as low as this is none. */
#define NO_CHANCE 1e-9

enum { NODES = FULCRUM_RESIDUAL_NODES };

static double spread_end(double first, double ratio, size_t gaps)
{
    double end = 0.0;
    for (size_t i = 0; i < gaps; i++) {
        end += first;
        first *= ratio;
    }
    return end;
}

void fulcrum_residual_spread(double *out, size_t count, double first, double last)
{
    double gap = fmin(first, last / (double)(count - 1));
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
    return fmin(usual_s, excess_end_s(form, LEAST_CUT_FRAC));
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
        fulcrum_residual_spread(grid->time_s, NODES, last_s, last_s);
        return;
    }
    fulcrum_residual_spread(grid->time_s, EVEN_NODES + 1, gap, even_s);
    double *tail = grid->time_s + EVEN_NODES;
    fulcrum_residual_spread(tail, NODES - EVEN_NODES, gap, last_s - even_s);
    for (size_t i = EVEN_NODES; i < NODES; i++) {
        grid->time_s[i] += even_s;
    }
}

void fulcrum_residual_grid_init(struct fulcrum_residual_grid *grid,
    const struct fulcrum_step_form *form, double delay_s)
{
    double even_s = delay_s + EVEN_MEANS * form->mean_s;
    place_nodes(grid, even_s, delay_s + law_end_s(form));
    for (size_t i = 0; i < NODES; i++) {
        double step_s = grid->time_s[i] - delay_s;
        grid->fresh[i] = step_s < 0.0 ? 1.0 : fulcrum_step_tail(form, step_s);
        grid->rested[i] = fulcrum_step_excess(form, fmax(0.0, step_s)) / form->mean_s;
    }
    grid->fresh[NODES - 1] = 0.0;
    grid->rested[NODES - 1] = 0.0;
    grid->mean_s = 0.0;
    for (size_t i = 0; i + 1 < NODES; i++) {
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

void fulcrum_residual_shift_init(struct fulcrum_residual_shift *shift,
    const struct fulcrum_residual_grid *grid, double time_s)
{
    const double *node = grid->time_s;
    size_t below = 0;
    for (size_t i = 0; i < NODES; i++) {
        /* The cubic gives the last node, where nothing is left, to all beyond it. */
        double at = fmin(node[i] + time_s, node[NODES - 1]);
        while (below + 2 < NODES && node[below + 1] <= at) {
            below++;
        }
        size_t first = below > 0 ? below - 1 : 0;
        shift->from[i] = first < NODES - 4 ? first : NODES - 4;
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

void fulcrum_residual_shift(
    const struct fulcrum_residual_shift *shift, const double *row, double *out)
{
    double most = row[0];
    for (size_t i = 0; i < NODES; i++) {
        double value = interpolate(shift, i, row);
        value = value < 0.0 ? 0.0 : value;
        most = value < most ? value : most;
        out[i] = most;
    }
}

double fulcrum_residual_left(
    const struct fulcrum_residual_shift *shift, const double *row)
{
    double left = interpolate(shift, 0, row);
    return fmin(row[0], fmax(0.0, left));
}

double fulcrum_residual_move_on(
    const struct fulcrum_residual_shift *shift, const double *row, double *out)
{
    fulcrum_residual_shift(shift, row, out);
    double left = out[0];
    if (left <= NO_CHANCE * row[0]) {
        out[0] = 1.0;
        return 1.0;
    }
    fulcrum_residual_set(out, 1.0 / left, out);
    return fmax(0.0, 1.0 - left / row[0]);
}

void fulcrum_residual_add(double *row, double weight, const double *other)
{
    for (size_t i = 0; i < NODES; i++) {
        row[i] += weight * other[i];
    }
}

void fulcrum_residual_set(double *row, double weight, const double *other)
{
    for (size_t i = 0; i < NODES; i++) {
        row[i] = weight * other[i];
    }
}
