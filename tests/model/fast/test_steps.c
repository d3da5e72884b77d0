/* test_steps.c - laws of steps and their tables; roots, and times of a batch. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_integration.h>
#include <math.h>
#include <stdbool.h>

#include "model/fast/steps.c" /* NOLINT(bugprone-suspicious-include) */
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

/* Interpolation is rough where the law bends on the scale of a cell: at Pareto's least
 * value, and somewhat in narrow tabulated. */
#define SMOOTH 4e-4, 6e-5
#define NARROW 6e-4, 6e-5
#define BENT   0.045, 2e-3

/* `shape` and `scale` are worked out by hand: lognormal zeta = -sigma^2 / 2 and sigma
 * with sigma^2 = ln(1 + cv^2); Erlang stages and the mean of each; the share of the
 * first phase and its mean; Pareto exponent and least value. */
struct law {
    struct fulcrum_step step; /* times in the table do not depend on its mean */
    double shape;
    double scale;
    double cv; /* that the table is to have */
    /* What the table may be off by, at worst between nodes, in tail and excess. */
    double tail_error;
    double excess_error;
};

static const struct law tabulated[] = {
    {{1.0, 0.5, FULCRUM_LAW_LOGNORMAL}, -0.11157177565710488, 0.47238072707743883, 0.5,
        SMOOTH},
    {{7e-3, 2.0, FULCRUM_LAW_LOGNORMAL}, -0.80471895621705018, 1.2686362411795196, 2.0,
        SMOOTH},
    {{1.0, 0.2, FULCRUM_LAW_LOGNORMAL}, -0.019610356576640673, 0.19804220042528294, 0.2,
        SMOOTH},
    {{1.0, 1.0, FULCRUM_LAW_EXPONENTIAL}, 0.0, 0.0, 1.0, SMOOTH},
    {{1e3, 0.0, FULCRUM_LAW_EXPONENTIAL}, 0.0, 0.0, 1.0, SMOOTH},
    {{1.0, 0.3, FULCRUM_LAW_ERLANG}, 11.0, 1.0 / 11.0, 0.30151134457776363, SMOOTH},
    {{1.0, 0.7, FULCRUM_LAW_ERLANG}, 2.0, 0.5, 0.70710678118654757, SMOOTH},
    {{1.0, 2.0, FULCRUM_LAW_HYPEREXPONENTIAL}, 0.88729833462074170, 0.56350832689629149,
        2.0, SMOOTH},
    {{1.0, 4.0, FULCRUM_LAW_HYPEREXPONENTIAL}, 0.96967060430288080, 0.51563903016054906,
        4.0, SMOOTH},
    {{1.0, 0.0, FULCRUM_LAW_PARETO}, 2.1, 1.1 / 2.1, 2.1821789023599236, BENT},
    /* Narrower than a table can be: as a lognormal of cv 0.05. */
    {{1.0, 0.0, FULCRUM_LAW_DETERMINISTIC}, -0.0012484401002075, 0.04996879226671, 0.05,
        NARROW},
    {{1.0, 0.01, FULCRUM_LAW_LOGNORMAL}, -0.0012484401002075, 0.04996879226671, 0.05,
        NARROW},
    {{1.0, 0.02, FULCRUM_LAW_ERLANG}, -0.0012484401002075, 0.04996879226671, 0.05,
        NARROW},
};

enum { LAWS = LENGTH(tabulated), PARTS = 1000 };

static double hyperexponential_tail(const struct law *law, double x)
{
    double rest = 1.0 - law->shape;
    return law->shape * gsl_cdf_exponential_Q(x, law->scale) +
           rest * gsl_cdf_exponential_Q(x, 0.5 / rest);
}

static double tail(double x, void *data)
{
    const struct law *law = data;
    if (law->cv < 0.06) {
        return gsl_cdf_lognormal_Q(x, law->shape, law->scale);
    }
    switch (law->step.law) {
    case FULCRUM_LAW_EXPONENTIAL:
        return gsl_cdf_exponential_Q(x, 1.0);
    case FULCRUM_LAW_ERLANG:
        return gsl_cdf_gamma_Q(x, law->shape, law->scale);
    case FULCRUM_LAW_HYPEREXPONENTIAL:
        return hyperexponential_tail(law, x);
    case FULCRUM_LAW_PARETO:
        return x < law->scale ? 1.0 : gsl_cdf_pareto_Q(x, law->shape, law->scale);
    case FULCRUM_LAW_LOGNORMAL:
    case FULCRUM_LAW_DETERMINISTIC:
    default:
        return gsl_cdf_lognormal_Q(x, law->shape, law->scale);
    }
}

/* The integral of the tail from x on, by adaptive quadrature. */
static double exact_excess(
    const struct law *law, double x, gsl_integration_workspace *work)
{
    struct law own = *law;
    gsl_function f = {tail, &own};
    double near = 0.0;
    double far = 0.0;
    double error = 0.0;
    double middle = fmax(2.0, 2.0 * x);
    CU_ASSERT_EQUAL(
        gsl_integration_qag(&f, x, middle, 1e-9, 1e-8, PARTS, 6, work, &near, &error),
        0);
    CU_ASSERT_EQUAL(
        gsl_integration_qagiu(&f, middle, 1e-9, 1e-8, PARTS, work, &far, &error), 0);
    return near + far;
}

/* Off the nodes, which all have short binary fractions. */
static const double places[] = {0.0, 1e-3, 0.0157, 0.031, 0.1, 0.31, 0.5, 0.523, 0.53,
    0.77, 0.93, 1.01, 1.11, 1.37, 1.9, 2.09, 2.24, 3.3, 4.5, 7.1, 13.7, 29.0, 61.0};

enum { PLACES = LENGTH(places) };

static void assert_law(struct law *law, gsl_integration_workspace *work)
{
    struct fulcrum_step_table table;
    fulcrum_step_table_init(&table, &law->step);
    assert_close("cv", table.cv, law->cv, 1e-12);
    for (size_t k = 0; k < PLACES; k++) {
        double x = places[k];
        CU_ASSERT_DOUBLE_EQUAL(tail_at(&table, x), tail(x, law), law->tail_error);
        CU_ASSERT_DOUBLE_EQUAL(
            excess_at(&table, x), exact_excess(law, x, work), law->excess_error);
    }
}

TEST(test_tail_and_excess_are_those_of_the_law)
{
    gsl_integration_workspace *work = gsl_integration_workspace_alloc(PARTS);
    for (size_t i = 0; i < LAWS; i++) {
        struct law law = tabulated[i];
        assert_law(&law, work);
    }
    gsl_integration_workspace_free(work);
}

/* What little is left beyond the table goes on falling. */
static bool keeps_falling(const struct fulcrum_step_table *table)
{
    enum { FACTORS = 25 };
    double rest_before = 1.0;
    double tail_before = 1.0;
    int falls = 1;
    for (int k = -1; k < FACTORS; k++) {
        double x = table->end * (k < 0 ? 1.0 - 1e-12 : pow(1.7, (double)k));
        double rest = excess_at(table, x);
        double here = tail_at(table, x);
        falls = falls && rest >= 0.0 && rest <= rest_before + 1e-9 && here >= 0.0 &&
                here <= tail_before + 1e-9;
        rest_before = rest;
        tail_before = here;
    }
    return falls;
}

TEST(test_beyond_the_table_the_tail_goes_on)
{
    for (size_t i = 0; i < LAWS; i++) {
        struct fulcrum_step_table table;
        fulcrum_step_table_init(&table, &tabulated[i].step);
        CU_ASSERT(keeps_falling(&table));
    }
}

/* Pareto's tail is a power of x, there and everywhere. */
TEST(test_pareto_goes_on_as_a_power)
{
    struct law pareto = tabulated[9];
    struct fulcrum_step_table table;
    CU_ASSERT_EQUAL(pareto.step.law, FULCRUM_LAW_PARETO);
    fulcrum_step_table_init(&table, &pareto.step);
    for (int k = 0; k < 25; k++) {
        double x = table.end * pow(1.7, (double)k);
        double here = tail_at(&table, x);
        assert_close("tail", here, tail(x, &pareto), 1e-6);
        assert_close("excess", excess_at(&table, x), here * x / 1.1, 1e-6);
    }
}

static const double periods[] = {0.003, 0.02, 0.07, 0.13, 0.149, 0.151, 0.4, 1.0, 3.0};

enum { PERIODS = LENGTH(periods), COHORTS = 100000 };

/* One by one; what 10^5 cohorts leave of Pareto's tail has a closed form. */
static double summed(struct law *law, double period, double age)
{
    double sum = 0.0;
    double x = age;
    for (int j = 0; j < COHORTS; j++) {
        double term = tail(x, law);
        if (term < 1e-14) {
            return sum;
        }
        sum += term;
        x = age + (double)(j + 1) * period;
    }
    return sum + 0.5 * tail(x, law) + tail(x, law) * x / 1.1 / period;
}

/* Beside what a term or the integral may be off by, the rest of Euler and Maclaurin. */
static double sum_error(const struct law *law, double period)
{
    return law->tail_error + law->excess_error / period + 1e-3 * (0.5 + 1.0 / period);
}

enum { CASES = LAWS * PERIODS };

/* The table of a law, for each period. */
static struct fulcrum_step_table table_of(size_t i)
{
    struct fulcrum_step_table table;
    fulcrum_step_table_init(&table, &tabulated[i / PERIODS].step);
    return table;
}

TEST(test_cohorts_add_up)
{
    for (size_t i = 0; i < CASES; i++) {
        struct law law = tabulated[i / PERIODS];
        struct fulcrum_step_table table = table_of(i);
        double period = periods[i % PERIODS];
        double worst = 0.0;
        for (int k = 0; k < 4; k++) {
            double age = 0.617 * (double)k;
            double sum = fulcrum_step_cohorts(&table, period, age);
            worst = fmax(worst, fabs(sum - summed(&law, period, age)));
        }
        CU_ASSERT(worst <= sum_error(&law, period));
    }
}

/* One actor comes per period and stays for a mean step, so that one is there on average
 * (Little); and in an area lies what the cohorts sum up to over it. */
TEST(test_areas_are_those_of_the_cohorts)
{
    enum { SLICES = 2000 };
    for (size_t i = 0; i < CASES; i++) {
        struct fulcrum_step_table table = table_of(i);
        double period = periods[i % PERIODS];
        double first = fulcrum_step_cohorts_area(&table, period, 0.0);
        double last = fulcrum_step_cohorts_area(&table, period, period);
        CU_ASSERT_DOUBLE_EQUAL(first - last, 1.0, 5e-5);
        double width = 0.37 * period / SLICES;
        double sum = 0.0;
        for (int j = 0; j < SLICES; j++) {
            sum += fulcrum_step_cohorts(&table, period, width * ((double)j + 0.5));
        }
        double area = first - fulcrum_step_cohorts_area(&table, period, 0.37 * period);
        assert_close("area", area, sum * width, 5e-4);
    }
}

/* Who is left of a cohort when the next comes is left of those before it then. */
TEST(test_a_period_later_the_youngest_is_one_older)
{
    for (size_t i = 0; i < CASES; i++) {
        struct fulcrum_step_table table = table_of(i);
        double period = periods[i % PERIODS];
        double worst = 0.0;
        for (int k = 0; k < 13; k++) {
            double age = 0.23 * (double)k;
            double gone = fulcrum_step_cohorts(&table, period, age) -
                          fulcrum_step_cohorts(&table, period, age + period);
            worst = fmax(worst, fabs(gone - tail_at(&table, age)));
        }
        CU_ASSERT(worst <= sum_error(&tabulated[i / PERIODS], period));
    }
}

/* A sum of 1 / (1 - exp(-t)) with exponential steps, t the period. */
TEST(test_exponential_cohorts_are_a_geometric_series)
{
    struct fulcrum_step step = {1.0, 1.0, FULCRUM_LAW_EXPONENTIAL};
    struct fulcrum_step_table table;
    fulcrum_step_table_init(&table, &step);
    for (size_t k = 0; k < PERIODS; k++) {
        double sum = fulcrum_step_cohorts(&table, periods[k], 0.0);
        assert_close("series", sum, -1.0 / expm1(-periods[k]), 3e-4);
    }
}

static double line(double x)
{
    return 3.0 * x - 6.0;
}

static double cube(double x)
{
    return x * x * x - 8.0;
}

/* Rises by 1e-9 of its height over nearly all of the bracket. */
static double wall(double x)
{
    return x < 2.0 ? -1.0 - 1e-9 * (2.0 - x) : 1e6 * (x - 2.0);
}

static double jump(double x)
{
    return x < 2.0 ? -1.0 : 1.0;
}

static double logarithm(double x)
{
    return log(x / 2.0);
}

/* Level but for one place: the secant has no direction. */
static double terrace(double x)
{
    return fmax(-1.0, fmin(1.0, 1e3 * (x - 2.0)));
}

/* Nearly level up to 2; far away it is not what it was meant to be. */
static double plateau(double x)
{
    return x < 2.0 ? -0.1 + 1e-13 * x : fmin(x - 2.0, 1e3 - x);
}

struct search {
    double (*f)(double x);
    double high;
    double start;
    double slope;
};

/* Evaluates as a caller does; returns how often that was. */
static int find(const struct search *search, double tolerance_rel, double *out)
{
    struct fulcrum_root root = {.high = search->high,
        .x = search->start,
        .slope = search->slope,
        .tolerance_rel = tolerance_rel};
    int turns = 0;
    do {
        turns++;
        *out = root.x;
        CU_ASSERT(root.x > 0.0 && root.x < search->high);
    } while (fulcrum_root_next(&root, search->f(root.x)));
    return turns;
}

/* All have their root at 2. */
static const struct search searches[] = {{line, 100.0, 50.0, 3.0},
    {line, 100.0, 50.0, 1e-6}, {line, 100.0, 1e-9, 1e9},
    {line, (double)INFINITY, 1e-3, 3.0}, {cube, 1e6, 1e5, 1.0},
    {cube, (double)INFINITY, 1e-3, 1.0}, {wall, 1e4, 1.0, 1.0}, {wall, 1e4, 9e3, 1.0},
    {jump, 7.0, 5.0, 1.0}, {jump, (double)INFINITY, 0.1, 1.0},
    {plateau, (double)INFINITY, 0.7, 0.1}, {plateau, (double)INFINITY, 1e-6, 1e6},
    {logarithm, 1e3, 1e-4, 1.0}, {logarithm, 1e3, 999.0, 1e-4},
    {terrace, 100.0, 1.0, 1.0}, {terrace, 100.0, 99.0, 1.0}};

enum { SEARCHES = LENGTH(searches) };

TEST(test_roots_are_found)
{
    for (size_t i = 0; i < SEARCHES; i++) {
        double x = 0.0;
        int turns = find(&searches[i], 1e-9, &x);
        assert_close("root", x, 2.0, 1e-8);
        CU_ASSERT(turns <= FULCRUM_ROOT_STEPS_MOST);
    }
}

/* A caller uses what it evaluated last: that must be the place that is good. */
TEST(test_a_loose_tolerance_is_kept)
{
    for (size_t i = 0; i < SEARCHES; i++) {
        double x = 0.0;
        find(&searches[i], 1e-3, &x);
        assert_close("root", x, 2.0, 2e-3);
    }
}

/* Two evaluations make the secant, a third one is at its root. */
TEST(test_a_line_takes_three_evaluations)
{
    struct search search = {line, 100.0, 50.0, 17.0};
    double x = 0.0;
    CU_ASSERT(find(&search, 1e-9, &x) <= 4);
    search.slope = 3.0;
    CU_ASSERT(find(&search, 1e-9, &x) <= 2);
}

/* Without a root the search runs to the end that is nearest to one, and ends. */
static double never(double x)
{
    (void)x;
    return -1.0;
}

static double always(double x)
{
    (void)x;
    return 1.0;
}

TEST(test_a_function_without_a_root_ends_at_the_border)
{
    struct search search = {never, 10.0, 1.0, 1.0};
    double x = 0.0;
    find(&search, 1e-6, &x);
    assert_close("high", x, 10.0, 1e-5);
    search.f = always;
    find(&search, 1e-6, &x);
    CU_ASSERT(x < 1e-5);
}

/* Times for a batch of 10: host 1 + 10 x 0.1 = 2 s, GPU 2 + 10 x 0.2 = 4 s alone. */
static struct fulcrum_network network(double depth)
{
    return (struct fulcrum_network){.actors = 100,
        .host = {.per_batch_s = 1.0, .per_item_s = 0.1},
        .gpu = {.per_batch_s = 2.0, .per_item_s = 0.2},
        .depth = depth,
        .delay_s = 0.5};
}

TEST(test_times_are_those_worked_out)
{
    static const struct {
        double depth;
        double stretch;
        double host_factor;
        double interval_s;
        double latency_s; /* of a batch that waits for nobody */
        double crowded_s; /* of one that always has others inside */
    } cases[] = {
        {1, 1.0, 1.0, 6.0, 6.5, 6.5},
        {1, 2.0, 1.0, 10.0, 10.5, 10.5},
        {2, 1.0, 1.0, 4.0, 6.5, 8.5},
        {3, 1.0, 1.0, 4.0, 6.5, 12.5},
        {2, 1.5, 1.0, 6.0, 8.5, 12.5},
        /* A slow host never lets batches wait for the GPU. */
        {2, 1.0, 2.5, 5.0, 9.5, 9.5},
        {5, 1.0, 2.5, 5.0, 9.5, 9.5},
        /* Without a host there is nothing to overlap. */
        {1, 1.0, 0.0, 4.0, 4.5, 4.5},
        {4, 1.0, 0.0, 4.0, 4.5, 4.5},
        {4, 2.0, 0.0, 8.0, 8.5, 8.5},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_network own = network(cases[i].depth);
        own.host.per_batch_s *= cases[i].host_factor;
        own.host.per_item_s *= cases[i].host_factor;
        struct fulcrum_batch_service calm =
            fulcrum_batch_service_unhurried(&own, cases[i].stretch, 10.0);
        struct fulcrum_batch_service pace =
            fulcrum_batch_service_of(&own, cases[i].stretch, 10.0);
        assert_close("host", calm.host_s, 2.0 * cases[i].host_factor, 1e-14);
        assert_close("GPU", calm.gpu_s, 4.0 * cases[i].stretch, 1e-14);
        assert_close("interval", calm.interval_s, cases[i].interval_s, 1e-14);
        assert_close("latency", calm.latency_s, cases[i].latency_s, 1e-14);
        assert_close("interval", pace.interval_s, cases[i].interval_s, 1e-14);
        assert_close("crowded", pace.latency_s, cases[i].crowded_s, 1e-14);
    }
}

/* Means below one come out of equations; a batch below one there is not. */
TEST(test_there_is_no_batch_below_one)
{
    struct fulcrum_network own = network(1);
    struct fulcrum_batch_service one = fulcrum_batch_service_of(&own, 1.0, 1.0);
    struct fulcrum_batch_service less = fulcrum_batch_service_of(&own, 1.0, 0.3);
    assert_close("interval", one.interval_s, 1.1 + 2.2, 1e-14);
    assert_close("interval", less.interval_s, one.interval_s, 1e-14);
}

TEST(test_measured_tables_are_looked_up)
{
    static const double size[] = {1, 20};
    static const double time_s[] = {3.0, 22.0};
    struct fulcrum_network own = network(1);
    own.gpu.size = size;
    own.gpu.time_s = time_s;
    own.gpu.count = 2;
    assert_close("GPU", fulcrum_batch_service_of(&own, 2.0, 10.0).gpu_s, 24.0, 1e-14);
}
