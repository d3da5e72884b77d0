/* train_plan.c - training steps small enough to measure, and the step they stand for.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shorter sequences before fewer sequences: matrices keep their width, hence their
 * speed, and what changes is how often they are multiplied. Three sizes are enough for
 * a line and a look at whether it is one.
 */
#include "calibrate/train_plan.h"

#include <math.h>

/* Shortest sequence worth a ladder: below it the fixed part of a step rules. */
#define UNROLL_MIN 4.0

double fulcrum_train_work_flop(
    const struct fulcrum_train_work *work, const struct fulcrum_train_size *size)
{
    return size->batch * (work->constant_flop + work->per_unroll_flop * size->unroll +
                             work->per_burn_in_flop * size->burn_in);
}

/* The nominal size with fewer sequences and shorter ones, burn-in in proportion. */
static struct fulcrum_train_size shrink(
    const struct fulcrum_train_size *nominal, double batch, double unroll)
{
    return (struct fulcrum_train_size){
        .batch = batch,
        .unroll = unroll,
        .burn_in = round(nominal->burn_in * unroll / nominal->unroll),
    };
}

/* The nominal size, and half and a quarter of its sequences, as far as they are whole.
 */
static struct fulcrum_train_plan around_nominal(
    const struct fulcrum_train_size *nominal)
{
    struct fulcrum_train_plan plan = {.is_nominal = 1};
    for (int part = 4; part >= 1; part /= 2) {
        double batch = floor(nominal->batch / part);
        if (batch >= 1.0 &&
            (plan.count == 0 || batch > plan.size[plan.count - 1].batch)) {
            plan.size[plan.count] = *nominal;
            plan.size[plan.count++].batch = batch;
        }
    }
    return plan;
}

struct fulcrum_train_plan fulcrum_train_plan_of(const struct fulcrum_train_work *work,
    const struct fulcrum_train_size *nominal, double flop_per_s, double limit_s)
{
    double most_flop = limit_s * flop_per_s;
    struct fulcrum_train_plan plan = around_nominal(nominal);
    if (fulcrum_train_work_flop(work, nominal) <= most_flop) {
        return plan;
    }
    struct fulcrum_train_size top =
        shrink(nominal, nominal->batch, fmin(UNROLL_MIN, nominal->unroll));
    while (fulcrum_train_work_flop(work, &top) > most_flop && top.batch > 1.0) {
        top.batch = floor(0.5 * top.batch);
    }
    struct fulcrum_train_size longer = shrink(nominal, top.batch, 2.0 * top.unroll);
    while (longer.unroll <= nominal->unroll &&
           fulcrum_train_work_flop(work, &longer) <= most_flop) {
        top = longer;
        longer = shrink(nominal, top.batch, 2.0 * top.unroll);
    }
    /* Without memory a step has no length: then the number of samples is the ladder. */
    int by_length = top.unroll >= UNROLL_MIN;
    plan.is_nominal = 0;
    plan.count = 0;
    for (int part = 4; part >= 1; part /= 2) {
        double batch = by_length ? top.batch : fmax(floor(top.batch / part), 1.0);
        double unroll = by_length ? floor(top.unroll / part) : top.unroll;
        plan.size[plan.count] = shrink(nominal, batch, unroll);
        plan.count++;
    }
    return plan;
}
