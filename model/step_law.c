/* step_law.c - the random length of an environment step. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A law is chosen by name and set by its mean and coefficient of variation, so that a
 * measured cv can be given to any of them (docs/model.md "Step laws"). Each offers its
 * tail and the integral of that in closed form, for the equations. The simulation works
 * the parameters out for itself (step_draw.c), as it is to judge these.
 */
#include "model/step_law.h"

#include <math.h>

/* A tail so heavy that the variance is barely finite; docs/model.md "Step laws". */
#define PARETO_SHAPE 2.1

static double erlang_stages(double cv)
{
    return fmax(1.0, round(1.0 / (cv * cv)));
}

struct fulcrum_step_form fulcrum_step_form_of(const struct fulcrum_step *step)
{
    struct fulcrum_step_form form = {.law = step->law, .mean_s = step->mean_s};
    double square = step->cv * step->cv;
    switch (step->law) {
    case FULCRUM_LAW_LOGNORMAL:
        form.shape = sqrt(log1p(square));
        form.scale = log(fmax(step->mean_s, 1e-300)) - 0.5 * log1p(square);
        break;
    case FULCRUM_LAW_ERLANG:
        form.shape = erlang_stages(step->cv);
        form.scale = step->mean_s / form.shape;
        break;
    case FULCRUM_LAW_HYPEREXPONENTIAL:
        /* Balanced means: each phase contributes half of the mean. */
        form.shape = 0.5 * (1.0 + sqrt((square - 1.0) / (square + 1.0)));
        form.scale = 0.5 * step->mean_s / form.shape;
        form.scale2 = 0.5 * step->mean_s / (1.0 - form.shape);
        break;
    case FULCRUM_LAW_PARETO:
        form.shape = PARETO_SHAPE;
        form.scale = step->mean_s * (PARETO_SHAPE - 1.0) / PARETO_SHAPE;
        break;
    case FULCRUM_LAW_EXPONENTIAL:
    case FULCRUM_LAW_DETERMINISTIC:
    default:
        break;
    }
    return form;
}

double fulcrum_step_cv(const struct fulcrum_step *step)
{
    switch (step->law) {
    case FULCRUM_LAW_EXPONENTIAL:
        return 1.0;
    case FULCRUM_LAW_DETERMINISTIC:
        return 0.0;
    case FULCRUM_LAW_ERLANG:
        return 1.0 / sqrt(erlang_stages(step->cv));
    case FULCRUM_LAW_PARETO:
        return 1.0 / sqrt(PARETO_SHAPE * (PARETO_SHAPE - 2.0));
    case FULCRUM_LAW_LOGNORMAL:
    case FULCRUM_LAW_HYPEREXPONENTIAL:
    default:
        return step->cv;
    }
}

/* exp(-x) sum_{i < stages} x^i / i!: P(sum of unit exponentials > x). */
static double erlang_tail(double stages, double x)
{
    double term = exp(-x);
    double sum = term;
    for (size_t i = 1; i < (size_t)stages; i++) {
        term *= x / (double)i;
        sum += term;
    }
    return fmin(1.0, sum);
}

static double normal_tail(double z)
{
    return 0.5 * erfc(z / sqrt(2.0));
}

double fulcrum_step_tail(const struct fulcrum_step_form *form, double time_s)
{
    if (time_s <= 0.0) {
        return 1.0;
    }
    switch (form->law) {
    case FULCRUM_LAW_LOGNORMAL:
        return normal_tail((log(time_s) - form->scale) / form->shape);
    case FULCRUM_LAW_EXPONENTIAL:
        return exp(-time_s / form->mean_s);
    case FULCRUM_LAW_ERLANG:
        return erlang_tail(form->shape, time_s / form->scale);
    case FULCRUM_LAW_HYPEREXPONENTIAL:
        return form->shape * exp(-time_s / form->scale) +
               (1.0 - form->shape) * exp(-time_s / form->scale2);
    case FULCRUM_LAW_PARETO:
        return time_s <= form->scale ? 1.0 : pow(time_s / form->scale, -form->shape);
    case FULCRUM_LAW_DETERMINISTIC:
    default:
        return time_s < form->mean_s ? 1.0 : 0.0;
    }
}

double fulcrum_step_excess(const struct fulcrum_step_form *form, double time_s)
{
    if (time_s <= 0.0) {
        return form->mean_s - time_s;
    }
    switch (form->law) {
    case FULCRUM_LAW_LOGNORMAL: {
        double z = (log(time_s) - form->scale) / form->shape;
        return form->mean_s * normal_tail(z - form->shape) - time_s * normal_tail(z);
    }
    case FULCRUM_LAW_EXPONENTIAL:
        return form->mean_s * exp(-time_s / form->mean_s);
    case FULCRUM_LAW_ERLANG:
        return form->mean_s * erlang_tail(form->shape + 1.0, time_s / form->scale) -
               time_s * erlang_tail(form->shape, time_s / form->scale);
    case FULCRUM_LAW_HYPEREXPONENTIAL:
        return 0.5 * form->mean_s *
               (exp(-time_s / form->scale) + exp(-time_s / form->scale2));
    case FULCRUM_LAW_PARETO:
        return time_s <= form->scale ? form->mean_s - time_s
                                     : pow(time_s / form->scale, 1.0 - form->shape) *
                                           form->scale / (form->shape - 1.0);
    case FULCRUM_LAW_DETERMINISTIC:
    default:
        return fmax(0.0, form->mean_s - time_s);
    }
}
