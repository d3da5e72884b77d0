/* thread_need.h - the fewest CPU threads that keep a run's GPUs near their plateau. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_WHATIF_THREAD_NEED_H
#define FULCRUM_MODEL_WHATIF_THREAD_NEED_H

#include <stdbool.h>

#include "model/predict/predict.h"

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
    double most_threads; /* that are looked at */
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
 * (docs/model.md "Node"): doubling from a core for each replica on, then halving the
 * step. The rate need not rise core by core: one core less does not reach it, but still
 * fewer might.
 *   predictor  of the machine's scenario; what it predicted last is forgotten
 *   draw       0: every parameter at its value; else the number of a draw
 *   out        untouched on failure
 *   fails      as fulcrum_predict: where no number of threads can run
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_thread_need_find(
    const struct fulcrum_thread_need_plan *plan, struct fulcrum_predictor *predictor,
    uint64_t draw, struct fulcrum_thread_need *out, struct fulcrum_error *err);

#endif
