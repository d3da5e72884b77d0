/* rate_cells.c - the work rate of a CPU, tabulated where it is asked for. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An equation that follows a cycle asks for c(n) some hundred times, and a saturating
 * curve takes a dozen powers for an answer. Up to S the curve is smooth but for kinks,
 * most of which lie at whole numbers of threads; from there on it is constant, except
 * in a table, which is quick by itself. A node is worked out when it is first needed.
 */
#include "model/rate_cells.h"

#include <math.h>
#include <string.h>

#include "model/lesser.h"

/* Fewer threads have cells of less than one each. */
#define LEAST_CELLS 32.0

void fulcrum_rate_cells_init(
    struct fulcrum_rate_cells *cells, const struct fulcrum_cpu_station *cpu)
{
    double servers = fulcrum_cpu_servers(cpu);
    memset(cells, 0, sizeof *cells);
    cells->cpu = cpu;
    cells->servers = servers;
    cells->per_actor = servers < FULCRUM_RATE_CELLS
                           ? fulcrum_lesser(ceil(LEAST_CELLS / servers),
                                 floor(FULCRUM_RATE_CELLS / servers))
                           : FULCRUM_RATE_CELLS / servers;
}

static double node_at(struct fulcrum_rate_cells *cells, size_t i)
{
    if (i == 0) {
        return 0.0;
    }
    if (cells->node[i] <= 0.0) {
        double n = fulcrum_lesser(cells->servers, (double)i / cells->per_actor);
        cells->node[i] = fulcrum_cpu_capacity(cells->cpu, n);
    }
    return cells->node[i];
}

static double crowded(struct fulcrum_rate_cells *cells, double n)
{
    if (cells->cpu->curve == FULCRUM_CURVE_TABLE) {
        return fulcrum_cpu_capacity(cells->cpu, n);
    }
    if (cells->crowded <= 0.0) {
        cells->crowded = fulcrum_cpu_capacity(cells->cpu, n);
    }
    return cells->crowded;
}

double fulcrum_rate_cells_at(struct fulcrum_rate_cells *cells, double n)
{
    if (n > cells->servers) {
        return crowded(cells, n);
    }
    double place = n * cells->per_actor;
    size_t whole = (size_t)place;
    if (whole >= FULCRUM_RATE_CELLS) {
        return node_at(cells, FULCRUM_RATE_CELLS);
    }
    double below = node_at(cells, whole);
    double above = node_at(cells, whole + 1);
    return below + (place - (double)whole) * (above - below);
}
