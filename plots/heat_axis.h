/* heat_axis.h - the scale of a heat map's axis, and where its cells end. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_PLOTS_HEAT_AXIS_H
#define FULCRUM_PLOTS_HEAT_AXIS_H

#include "plots/axis.h"
#include "plots/charts.h"

/*
 * Logarithmic where the values grow rather by a factor than by a step, of twos where
 * most of them are powers of two.
 */
enum fulcrum_axis_kind fulcrum_heat_axis_kind(const struct fulcrum_heat_axis *axis);

/*
 * The border below cell i, half-way to its neighbour along an axis of that kind; that
 * of i = count is the upper one of the last cell. axis     at least one value
 */
double fulcrum_heat_axis_edge(
    const struct fulcrum_heat_axis *axis, enum fulcrum_axis_kind kind, size_t i);

/* From border to border; ticks are the values themselves where those are few. */
void fulcrum_heat_axis_fit(struct fulcrum_axis *out,
    const struct fulcrum_heat_axis *axis, double ticks_wanted);

#endif
