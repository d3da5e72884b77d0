/* steps.h - the tail of a step's length, tabulated for the fast solvers. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_FAST_STEPS_H
#define FULCRUM_MODEL_FAST_STEPS_H

#include <math.h>
#include <stdbool.h>

#include "model/network/network.h"
#include "model/number.h"

/* Roots of functions that rise, one evaluation at a time. */

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
    double next; /* after the last step: nearer than x, for hints */
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
    root->next = regular ? next : x;
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

/* How often batches of a size can start and how long each takes. */

/* Host and GPU as the fast solvers see them: docs/model.md "Batching", (7). */
struct fulcrum_batch_service {
    double host_s;
    double gpu_s;      /* while a train step runs beside it: stretched */
    double interval_s; /* between the starts of two batches, at least */
    double
        latency_s; /* from a batch's start to its actors' next step, with the delay */
};

/*
 * For batches of `size` >= 1 that have to form: nothing waits between host and GPU.
 *   gpu_stretch  GPU times are multiplied by it, >= 1
 */
static inline struct fulcrum_batch_service fulcrum_batch_service_unhurried(
    const struct fulcrum_network *network, double gpu_stretch, double size)
{
    size = fulcrum_max(1.0, size);
    struct fulcrum_batch_service service = {
        .host_s = fulcrum_batch_time(&network->host, size),
        .gpu_s = gpu_stretch * fulcrum_batch_time(&network->gpu, size)};
    double served_s = service.host_s + service.gpu_s + network->server_wake_mean_s;
    double depth = service.host_s > 0.0 ? network->depth : 1.0;
    service.interval_s =
        depth > 1.0 ? fulcrum_max(service.host_s, service.gpu_s) : served_s;
    service.latency_s = served_s + network->delay_s;
    return service;
}

/*
 * The same for batches that always have actors waiting for them. With a slow GPU, all
 * `depth` batches are inside all the time: a batch starts when one leaves, and waits
 * for those ahead of it.
 */
static inline struct fulcrum_batch_service fulcrum_batch_service_of(
    const struct fulcrum_network *network, double gpu_stretch, double size)
{
    struct fulcrum_batch_service service =
        fulcrum_batch_service_unhurried(network, gpu_stretch, size);
    if (service.host_s > 0.0 && network->depth > 1.0 &&
        service.gpu_s > service.host_s) {
        service.latency_s = network->depth * service.gpu_s + network->delay_s;
    }
    return service;
}

/* What a fast method says of the mean cycle of a network. */

/*
 * Means over one stationary cycle, from the start of a batch to the start of the next,
 * nothing training: the parts of which model/fast/fast.c makes a solution.
 */
struct fulcrum_cycle {
    double batch;
    double steps_per_s;
    double at_cpu;   /* actors stepping or waiting for a thread, mean over time */
    double stepping; /* of these on a thread */
    double on_cores; /* cores with a stepping thread */
    double at_gpu;   /* observations on the GPU or waiting for it */
};

/* The random length of an environment step. */

/* A checked fulcrum_step with the parameters of its law worked out. */
struct fulcrum_step_form {
    enum fulcrum_step_law law;
    double mean_s;
    double shape; /* lognormal sigma; Erlang stages; hyperexponential p; Pareto shape */
    double scale; /* lognormal mu; Erlang mean of a stage; hyperexponential mean of its
                     first phase; Pareto least value */
    double scale2; /* hyperexponential mean of its second phase */
};

/* Works out the law's parameters from mean and coefficient of variation. */
struct fulcrum_step_form fulcrum_step_form_of(const struct fulcrum_step *step);

/* The coefficient of variation the law really has: Erlang stages are whole. */
double fulcrum_step_cv(const struct fulcrum_step *step);

/* P(length > time_s), for time_s >= 0. */
double fulcrum_step_tail(const struct fulcrum_step_form *form, double time_s);

/* E[max(0, length - time_s)], the integral of the tail beyond time_s >= 0. */
double fulcrum_step_excess(const struct fulcrum_step_form *form, double time_s);

enum { FULCRUM_STEP_CELLS = 400 };

/*
 * Between two nodes the excess E[max(0, length - x)] is c[0] + c[1] t + c[2] t^2 + c[3]
 * t^3, t going from 0 to 1.
 */
struct fulcrum_step_cell {
    double low;   /* x of the lower node */
    double per_x; /* 1 / distance of the nodes */
    double c[4];
    double area; /* integral of the excess from the lower node to the last one */
};

/*
 * All lengths are in units of the mean step, so that a table serves every step of its
 * law and cv. Nodes lie closer where the law is narrow.
 */
struct fulcrum_step_table {
    enum fulcrum_step_law law;
    double law_cv;        /* as asked for */
    double cv;            /* as tabulated: at least that of the narrowest one */
    unsigned bits;        /* nodes per factor of two, as a power of two */
    double smooth_period; /* sums over cohorts of shorter periods are integrals */
    size_t count;
    struct fulcrum_step_cell cell[FULCRUM_STEP_CELLS];
    double end; /* the last node, and what is there */
    double end_tail;
    double end_excess;
    double decay; /* beyond the end the excess falls as x^-decay; 0: it is 0 */
};

/* `step` is checked. Takes a few microseconds. */
void fulcrum_step_table_init(
    struct fulcrum_step_table *table, const struct fulcrum_step *step);

/* Nonzero if the table, all zero or set, is that of this step. */
bool fulcrum_step_table_fits(
    const struct fulcrum_step_table *table, const struct fulcrum_step *step);

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

/* Both, for less than one after the other. */
struct fulcrum_step_sums {
    double left;
    double area;
};
struct fulcrum_step_sums fulcrum_step_sums_at(
    const struct fulcrum_step_table *table, double period, double age);

#endif
