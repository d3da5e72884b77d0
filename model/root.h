/* root.h - roots of functions that rise, one evaluation at a time. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_ROOT_H
#define FULCRUM_MODEL_ROOT_H

#include <math.h>

/*
 * Secant steps inside a bracket that closes with them. The function is negative at
 * `low` and positive at `high`, neither of which is looked at; `high` may be INFINITY.
 * The caller evaluates at `x` and calls fulcrum_root_next until it returns 0.
 */
struct fulcrum_root {
    double low;
    double high;
    double x;
    double slope; /* a guess to begin with, > 0 */
    double tolerance_rel;
    double before; /* the last place and the value there */
    double f_before;
    int steps;
};

enum {
    FULCRUM_ROOT_STEPS_MOST = 60,
    FULCRUM_ROOT_BISECT_EVERY = 6,
    FULCRUM_ROOT_REACH = 8
};

/* Takes f(root->x); returns 1 with the next place in root->x, 0 when it is good. */
static inline int fulcrum_root_next(struct fulcrum_root *root, double f)
{
    double x = root->x;
    root->low = f < 0.0 ? x : root->low;
    root->high = f < 0.0 ? root->high : x;
    if (root->steps > 0 && fabs(x - root->before) > 0.0) {
        root->slope = (f - root->f_before) / (x - root->before);
    }
    /* Within the tolerance already; the next place may then round to an end. */
    int good = fabs(f) <= root->slope * root->tolerance_rel * fabs(x);
    /* Flat places tell no direction: the middle of the bracket does. */
    double next = root->slope > 0.0 ? x - f / root->slope : root->low;
    int regular = next > root->low && next < root->high;
    if (!(root->high < (double)INFINITY)) {
        /* A place that is nearly flat says little about what is far away. */
        regular = regular && next < FULCRUM_ROOT_REACH * x;
    }
    if (!regular ||
        root->steps % FULCRUM_ROOT_BISECT_EVERY == FULCRUM_ROOT_BISECT_EVERY - 1) {
        next = root->high < (double)INFINITY ? 0.5 * (root->low + root->high) : 2.0 * x;
    }
    root->before = x;
    root->f_before = f;
    root->steps++;
    if (good || fabs(next - x) <= root->tolerance_rel * fabs(x) ||
        root->steps >= FULCRUM_ROOT_STEPS_MOST) {
        return 0;
    }
    root->x = next;
    return 1;
}

#endif
