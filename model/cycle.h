/* cycle.h - the mean cycle of a greedy batch server, by equations (8) and (9). */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_CYCLE_H
#define FULCRUM_MODEL_CYCLE_H

#include "model/cycle_mean.h"
#include "model/fluid_drain.h"
#include "model/step_law.h"

/* One network, prepared once for any number of solutions. */
struct fulcrum_cycle_problem {
    const struct fulcrum_network *network;
    struct fulcrum_step_form form;
    struct fulcrum_fluid_drain drain;
    double gpu_stretch; /* GPU times are multiplied by it; 1 where it is not shared */
    double delay_work;  /* set while (8) is solved: work that the delay stands for */
};

/* `network` is checked, greedy and borrowed; its training is not looked at. */
void fulcrum_cycle_problem_init(
    struct fulcrum_cycle_problem *problem, const struct fulcrum_network *network);

/*
 * Solves docs/model.md "Greedy solver". Returns NULL and sets `out`, or says why the
 * equations would be wrong for this problem. The text is borrowed, static.
 */
const char *fulcrum_cycle_solve(
    const struct fulcrum_cycle_problem *problem, struct fulcrum_cycle *out);

#endif
