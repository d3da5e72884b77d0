/* recommend.h - which machine, for what it costs, and how sure that is. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_WHATIF_RECOMMEND_H
#define FULCRUM_MODEL_WHATIF_RECOMMEND_H

#include <stdbool.h>
#include <stddef.h>

#include "model/study/pareto.h"

enum fulcrum_objective {
    FULCRUM_OBJECTIVE_FASTEST,   /* most steps per second */
    FULCRUM_OBJECTIVE_CHEAPEST,  /* least money per step */
    FULCRUM_OBJECTIVE_EFFICIENT, /* most steps per joule behind the plug */
    FULCRUM_OBJECTIVE_COUNT
};

/* "fastest", "cheapest", "efficient"; NULL beyond the last one. Borrowed, static. */
const char *fulcrum_objective_name(int goal);

/* One machine, at work. NAN: not known. */
struct fulcrum_candidate_machine {
    double steps_per_s;
    double system_w;
    double price;
    double rack_unit_count;
};

/* What is asked for; of all machines bought together. NAN: no such limit. */
struct fulcrum_need {
    enum fulcrum_objective goal;
    double least_steps_per_s;
    double most_w;
    double most_price;
    double most_rack_units;
    double most_machines;       /* at least 1 */
    bool fills;                 /* as many machines as the limits allow */
    double electricity_per_kwh; /* NAN: not given */
    double years;               /* above 0: machines run all the time, then are worth
                                   nothing */
    double total_env_steps;     /* of one training */
};

/* Why an offer does not do. What is not known never does. */
enum fulcrum_miss {
    FULCRUM_MISS_RATE = 1 << 0,
    FULCRUM_MISS_WATTS = 1 << 1,
    FULCRUM_MISS_PRICE = 1 << 2,
    FULCRUM_MISS_RACK_UNITS = 1 << 3,
    FULCRUM_MISS_NO_WATTS = 1 << 4, /* asked for, but not known, as the next ones */
    FULCRUM_MISS_NO_PRICE = 1 << 5,
    FULCRUM_MISS_NO_RACK_UNITS = 1 << 6
};

/* So many machines of a kind. Money is NAN where a price or electricity is missing. */
struct fulcrum_cost {
    double machine_count;
    double steps_per_s;
    double system_w;
    double steps_per_j;
    double price;
    double rack_unit_count;
    double electricity; /* money for it, over the years */
    double cost;        /* of ownership: price and electricity */
    double cost_per_step;
    double training_cost;
    unsigned misses; /* of enum fulcrum_miss; 0: it does */
};

/*
 * Fewest machines whose rates add up to what is needed, or where `fills` the most whose
 * watts, price and rack units stay within their limits, at least 1; no more than may be
 * bought. A limit on what is not known of the offer counts as none: its cost misses it.
 */
double fulcrum_candidate_machine_count(
    const struct fulcrum_candidate_machine *offer, const struct fulcrum_need *need);

/*
 * What `machine_count` such machines do and cost, and what of the need they miss. Each
 * of them works on its own: rates, watts, money and rack units add up.
 */
void fulcrum_cost_of(const struct fulcrum_candidate_machine *offer,
    double machine_count, const struct fulcrum_need *need, struct fulcrum_cost *out);

/* What the goal looks at, so that more is better; NAN where it is not known. */
double fulcrum_cost_merit(const struct fulcrum_cost *cost, enum fulcrum_objective goal);

/* The best of those that miss nothing, the first of equals; `count` if all miss. */
size_t fulcrum_cost_best(
    const struct fulcrum_cost *costs, size_t count, enum fulcrum_objective goal);

/* One thing beside another, from draws that stand for the same world by pairs. */
struct fulcrum_contest {
    size_t draw_count; /* that both have */
    double beats_frac; /* draws in which A is better, ties by half; NAN without draws */
    double ratio;      /* A / B: median and 5 % and 95 % quantiles; likewise */
    double ratio_lo;
    double ratio_hi;
};

/* Values of both in each draw, NAN where one cannot run. Borrowed. */
struct fulcrum_paired {
    const double *a;
    const double *b;
    size_t count;
};

/*
 *   sense    what is better
 *   column   room for a number per draw; may be NULL without draws
 */
void fulcrum_contest_of(const struct fulcrum_paired *paired, enum fulcrum_sense sense,
    double *column, struct fulcrum_contest *out);

#endif
