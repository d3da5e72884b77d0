/* rate_cells.h - the work rate of a CPU, tabulated where it is asked for. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_RATE_CELLS_H
#define FULCRUM_MODEL_RATE_CELLS_H

#include "model/network.h"

enum { FULCRUM_RATE_CELLS = 256 };

/* Nodes lie at whole numbers of threads, or at even parts or multiples of them. */
struct fulcrum_rate_cells {
    const struct fulcrum_cpu_station *cpu; /* borrowed */
    double servers;
    double per_actor;                    /* cells to an actor */
    double crowded;                      /* c(n) beyond all servers; 0: not set */
    double node[FULCRUM_RATE_CELLS + 1]; /* 0: not set */
};

/* Nothing is worked out yet. */
void fulcrum_rate_cells_init(
    struct fulcrum_rate_cells *cells, const struct fulcrum_cpu_station *cpu);

/*
 * fulcrum_cpu_capacity: exact at nodes and beyond all servers, else within 1.5 %, but
 * for a jump of the curve, which is spread over a cell.
 */
double fulcrum_rate_cells_at(struct fulcrum_rate_cells *cells, double n);

#endif
