/* test_step_law.c - tails and moments of each law belong together. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fast/steps.h"

#include <math.h>

#include "tests/support/suite.h"

static const struct {
    struct fulcrum_step step;
    double cv;
} laws[] = {
    {{2.0, 0.55, FULCRUM_LAW_LOGNORMAL}, 0.55},
    {{2.0, 2.0, FULCRUM_LAW_LOGNORMAL}, 2.0},
    {{2.0, 0.0, FULCRUM_LAW_EXPONENTIAL}, 1.0},
    {{2.0, 0.0, FULCRUM_LAW_DETERMINISTIC}, 0.0},
    {{2.0, 0.3, FULCRUM_LAW_ERLANG}, 0.30151134457776363}, /* 1 / sqrt(11) */
    {{2.0, 1.7, FULCRUM_LAW_HYPEREXPONENTIAL}, 1.7},
    {{2.0, 9.0, FULCRUM_LAW_PARETO}, 2.1821789023599236}, /* 1 / sqrt(2.1 x 0.1) */
};

#define LAW_COUNT (LENGTH(laws))

TEST(test_cv_is_the_one_the_law_has)
{
    for (size_t i = 0; i < LAW_COUNT; i++) {
        assert_close("cv", fulcrum_step_cv(&laws[i].step), laws[i].cv, 1e-12);
    }
}

/* Trapezoids in the logarithm of time, which suits the narrow and the heavy tails. */
static double integral(const struct fulcrum_step_form *form, double from, int moment)
{
    enum { PARTS = 200000 };
    double low = log(from);
    double part = (log(1e9) - low) / PARTS;
    double sum = 0.0;
    for (int i = 0; i < PARTS; i++) {
        double x = exp(low + ((double)i + 0.5) * part);
        double weight = moment == 1 ? 1.0 : 2.0 * x;
        sum += fulcrum_step_tail(form, x) * weight * x * part;
    }
    return sum;
}

static void assert_tail(const struct fulcrum_step_form *form, double cv)
{
    assert_close("mean", integral(form, 1e-9, 1), 2.0, 1e-4);
    assert_close("excess", fulcrum_step_excess(form, 0.0), 2.0, 1e-12);
    static const double from[] = {0.5, 1.0, 2.0, 4.0, 8.0};
    for (size_t i = 0; i < LENGTH(from); i++) {
        double excess = fulcrum_step_excess(form, from[i]);
        CU_ASSERT_DOUBLE_EQUAL(integral(form, from[i], 1), excess, 2e-4);
    }
    if (form->law != FULCRUM_LAW_PARETO) { /* its second moment converges too late */
        double square = 4.0 * (1.0 + cv * cv);
        assert_close("square", integral(form, 1e-9, 2), square, 1e-3);
    }
}

TEST(test_tail_integrates_to_the_mean_the_variance_and_the_excess)
{
    for (size_t i = 0; i < LAW_COUNT; i++) {
        struct fulcrum_step_form form = fulcrum_step_form_of(&laws[i].step);
        assert_tail(&form, laws[i].cv);
    }
}
