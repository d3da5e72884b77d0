/* recommend.h - what to buy: objectives and limits, the fewest that suffice, the
 * threads it needs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_WHATIF_RECOMMEND_H
#define FULCRUM_MODEL_WHATIF_RECOMMEND_H

#include <stdbool.h>
#include <stddef.h>

#include "model/number.h"
#include "model/predict/predict.h"
#include "model/status.h"
#include "model/study/sweep.h"

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
    int goal; /* enum fulcrum_objective */
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

/* A curve over places, which is asked for its values. */
struct fulcrum_asked_curve {
    /* The value at a place; NAN: there is none. A failure ends the search with it. */
    enum fulcrum_status (*ask)(
        void *context, size_t place, double *out, struct fulcrum_error *err);
    void *context;
    size_t count; /* of places, from 0 */
};

struct fulcrum_fewest {
    size_t place; /* the first of all places whose value is `share` of the best */
    double value; /* there */
    size_t best;  /* the best place of those asked for */
    double best_value;
    size_t asked;       /* places whose value was asked for, each once */
    double wiggle_frac; /* the deepest valley among them, as a share of its brim */
};

/*
 * Finds the first place of which the value is at least `share` of the best of all
 * places, asking for as few as it can: some over the whole curve, then halves of what
 * may still hold the answer, then those just before it. A curve that rises, or rises
 * and falls, is searched so. Of one that has valleys, any gap is taken to hide a value
 * that exceeds both its ends by twice the deepest valley seen so far, and is looked
 * into where that could matter; where a place has no value behind one that has, all are
 * asked for. INFEASIBLE: no place that was asked for has a value above 0.
 *   share    above 0, at most 1
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fewest_find(
    const struct fulcrum_asked_curve *curve, double share, struct fulcrum_fewest *out,
    struct fulcrum_error *err);

/* The same of the values of one field, and of every draw. */
struct fulcrum_fewest_plan {
    const struct fulcrum_scenario *scenario;
    struct fulcrum_sweep_plan sweep; /* of one axis */
    size_t metric;                   /* the output of which more is better */
    double share;
    int (*watch)(void *watcher, double done_frac); /* not 0 ends the work */
    void *watcher;
};

struct fulcrum_fewest_answer {
    struct fulcrum_fewest found;          /* on the estimate's curve */
    struct fulcrum_prediction prediction; /* there */
    struct fulcrum_interval value;  /* of the field, over the draws' own answers */
    struct fulcrum_interval metric; /* at the answer */
    struct fulcrum_interval best;
    double draws;                   /* that have an answer */
    bool is_rising;                 /* the metric has no plateau within the range */
    double best_error_rel;          /* of the solver, where the best is */
    struct fulcrum_interval within; /* of the field, as far as the solver's error goes;
                                       NAN: the metric does not go with the rate */
    size_t predicted;               /* points and draws */
};

/* Actors follow the sweep's rule, and are those of the estimate in every draw. */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_fewest_answer_find(
    const struct fulcrum_fewest_plan *plan, struct fulcrum_fewest_answer *out,
    struct fulcrum_error *err);

enum { FULCRUM_THREAD_NEED_SETTINGS_MOST = 6 };

/* What is asked for. Borrowed. */
struct fulcrum_thread_need_plan {
    const struct fulcrum_setting *settings; /* of the run; neither threads nor actors */
    size_t setting_count; /* at most FULCRUM_THREAD_NEED_SETTINGS_MOST */
    double plateau_frac;  /* of the plateau, in (0, 1) */
    /* Actors follow the threads, rounded to what replicas can share; 0: they do not. */
    double actors_per_thread;
    /* Each number of threads takes the fastest of these; count 0: none. */
    const double *actor_choices;
    size_t actor_choice_count;
    double most_threads;      /* that are looked at */
    double near_thread_count; /* 0, or an answer for the same run in another draw: then
                                 the search begins an eighth to a quarter of it up */
    struct fulcrum_solver_options solver;
};

struct fulcrum_thread_need {
    double thread_count;
    double steps_per_s; /* with so many */
    double plateau_steps_per_s;
    bool is_rising; /* more threads than were looked at might add to the plateau */
};

/*
 * Looks for the fewest threads, in whole cores with the machine's threads per core, at
 * which the run reaches plan->plateau_frac of the most it does with any number of them
 * (docs/model.md "Node"): doubling from a core for each replica on, then by regula
 * falsi. The rate need not rise core by core: one core less does not reach it, but
 * still fewer might. predictor  of the machine's scenario; what it predicted last is
 * forgotten draw       0: every parameter at its value; else the number of a draw
 *   out        untouched on failure
 *   fails      as fulcrum_predict: where no number of threads can run
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_thread_need_find(
    const struct fulcrum_thread_need_plan *plan, struct fulcrum_predictor *predictor,
    uint64_t draw, struct fulcrum_thread_need *out, struct fulcrum_error *err);

#endif
