/* step_law.h - the random length of an environment step. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_STEP_LAW_H
#define FULCRUM_MODEL_STEP_LAW_H

#include "model/network.h"

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

#endif
