/* test_cpu_drain.c - the drained CPU against numeric integration. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/cpu_curve.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_odeiv2.h>
#include <math.h>

#include "tests/support/suite.h"

/* Of one number alone. */
static double left_of(const struct fulcrum_cpu_drain *drain, double n, double time_s)
{
    double left = 0.0;
    fulcrum_cpu_drain_left(drain, &n, 1, time_s, &left);
    return left;
}

/* Rises, sags and rises again, as measured ones do. */
static const double measured[] = {
    1.0, 1.9, 2.9, 3.6, 4.6, 5.1, 5.0, 4.7, 5.2, 5.9, 6.3, 6.4, 6.4, 6.5, 6.6, 6.6};

#define SATURATING(form, cores, threads)                                               \
    {                                                                                  \
        .curve = (form), .core_count = (cores), .thread_count = (threads),             \
        .smt_yield_frac = 0.3, .serial_frac = 0.004, .knee = 1.6,                      \
        .cap_per_core = 1.25, .cross_socket_frac = 0.8                                 \
    }

static const struct curve {
    const char *name;
    struct fulcrum_cpu_station cpu;
    double actors;
    /* Of what is left and of the rate: lines in place of bends, and one jump too few
       where threads on a second socket begin to make up for what they cost. */
    double error_rel;
    double rate_error_rel;
} curves[] = {
    {"line", {.core_count = 8, .thread_count = 8}, 40, 1e-6, 1e-12},
    {"SMT", {.core_count = 8, .thread_count = 16, .smt_yield_frac = 0.3}, 60, 1e-6,
        1e-12},
    {"no yield", {.core_count = 8, .thread_count = 16}, 60, 1e-6, 1e-12},
    {"turbo",
        {.core_count = 8, .thread_count = 16, .smt_yield_frac = 0.3, .turbo_frac = 0.5},
        60, 1e-6, 1e-12},
    {"most turbo", {.core_count = 8, .thread_count = 8, .turbo_frac = 1.0}, 20, 1e-6,
        1e-12},
    {"learner",
        {.core_count = 20,
            .thread_count = 40,
            .reserved_threads = 3.3,
            .smt_yield_frac = 0.25,
            .turbo_frac = 0.33},
        256, 1e-6, 1e-12},
    /* Cores that the learner fills leave no turbo to actors. */
    {"no turbo left",
        {.core_count = 4,
            .thread_count = 8,
            .reserved_threads = 4.5,
            .smt_yield_frac = 0.5,
            .turbo_frac = 0.4},
        30, 1e-6, 1e-12},
    {"oversubscribed",
        {.core_count = 8,
            .thread_count = 16,
            .smt_yield_frac = 0.3,
            .turbo_frac = 0.3,
            .oversubscription_frac = 0.7},
        60, 1e-6, 1e-12},
    {"one thread", {.core_count = 1, .thread_count = 1, .turbo_frac = 0.5}, 5, 1e-6,
        1e-12},
    {"saturating", SATURATING(FULCRUM_CURVE_SATURATING, 32, 64), 300, 2e-3, 0.02},
    {"many cores", SATURATING(FULCRUM_CURVE_SATURATING, 512, 1024), 3000, 4e-3, 0.02},
    {"lockstep", SATURATING(FULCRUM_CURVE_SATURATING_SYNC, 32, 64), 300, 4e-3, 0.02},
    {"table",
        {.curve = FULCRUM_CURVE_TABLE,
            .core_count = 8,
            .thread_count = 16,
            .capacity = measured,
            .capacity_count = LENGTH(measured)},
        60, 1e-6, 1e-12},
    {"short table",
        {.curve = FULCRUM_CURVE_TABLE,
            .core_count = 8,
            .thread_count = 16,
            .capacity = measured,
            .capacity_count = 4},
        60, 1e-6, 1e-12},
    {"learner's table",
        {.curve = FULCRUM_CURVE_TABLE,
            .core_count = 8,
            .thread_count = 16,
            .reserved_threads = 5.0,
            .capacity = measured,
            .capacity_count = LENGTH(measured)},
        60, 5e-3, 1e-9},
    {"crowded table",
        {.curve = FULCRUM_CURVE_TABLE,
            .core_count = 4,
            .thread_count = 8,
            .reserved_threads = 2.0,
            .capacity = measured,
            .capacity_count = LENGTH(measured),
            .crowd_count = 12.0},
        12, 5e-3, 1e-9},
};

enum { CURVES = LENGTH(curves) };

#define STEP_S 0.25

static int slope(double time_s, const double n[], double out[], void *data)
{
    (void)time_s;
    const struct fulcrum_cpu_station *cpu = data;
    out[0] = -fulcrum_cpu_capacity(cpu, fmax(0.0, n[0])) / STEP_S;
    return GSL_SUCCESS;
}

/* From `actors` on until few are left, at equal distances of time. */
static void assert_drained(const struct curve *curve, double actors)
{
    struct fulcrum_cpu_station cpu = curve->cpu;
    struct fulcrum_cpu_drain drain;
    fulcrum_cpu_drain_init(&drain, &cpu, curve->actors, STEP_S);
    CU_ASSERT(drain.count <= FULCRUM_DRAIN_PIECES);
    gsl_odeiv2_system system = {slope, NULL, 1, &cpu};
    gsl_odeiv2_driver *driver = gsl_odeiv2_driver_alloc_y_new(
        &system, gsl_odeiv2_step_rkf45, 1e-4, 1e-10, 1e-10);
    double n[1] = {actors};
    double time_s = 0.0;
    double part_s = 0.05 * STEP_S * (1.0 + actors / fulcrum_cpu_capacity(&cpu, actors));
    double worst = 0.0;
    for (int i = 1; i < 100 && n[0] > 1e-3; i++) {
        CU_ASSERT_EQUAL(gsl_odeiv2_driver_apply(driver, &time_s, (double)i * part_s, n),
            GSL_SUCCESS);
        double left = left_of(&drain, actors, time_s);
        worst = fmax(worst, fabs(left - n[0]) / fmax(1.0, n[0]));
    }
    gsl_odeiv2_driver_free(driver);
    if (worst > curve->error_rel) {
        (void)printf("\n    %s from %g: off by %g", curve->name, actors, worst);
    }
    CU_ASSERT(worst <= curve->error_rel);
}

TEST(test_left_solves_the_differential_equation)
{
    for (size_t i = 0; i < CURVES; i++) {
        double servers = fulcrum_cpu_servers(&curves[i].cpu);
        assert_drained(&curves[i], curves[i].actors);
        assert_drained(&curves[i], servers);
        assert_drained(&curves[i], 0.7 * servers);
        assert_drained(&curves[i], 0.3 * servers);
    }
}

TEST(test_rate_is_that_of_the_cpu)
{
    for (size_t i = 0; i < CURVES; i++) {
        const struct fulcrum_cpu_station *cpu = &curves[i].cpu;
        struct fulcrum_cpu_drain drain;
        fulcrum_cpu_drain_init(&drain, cpu, curves[i].actors, 1.0);
        for (int k = 1; k <= (int)curves[i].actors; k++) {
            double n = (double)k;
            assert_close(curves[i].name, fulcrum_cpu_drain_rate(&drain, n),
                fulcrum_cpu_capacity(cpu, n), curves[i].rate_error_rel);
        }
        assert_close("slope at 0", fulcrum_cpu_drain_rate(&drain, 1e-9) / 1e-9,
            fulcrum_cpu_capacity(cpu, 1e-9) / 1e-9, 0.01);
    }
}

struct drained {
    const struct fulcrum_cpu_drain *drain;
    double n;
};

static double drained_at(double time_s, void *data)
{
    const struct drained *drained = data;
    return left_of(drained->drain, drained->n, time_s);
}

/* As far as the lowest piece goes, bent or not; hardly bent, too. */
TEST(test_area_is_the_integral_of_what_is_left)
{
    static const double shares[] = {1.0, 0.5, 1e-3, 1e-9, 0.0};
    static const double times[] = {0.0, 1e-6, 0.1, 1.0, 7.0, 60.0};
    gsl_integration_workspace *room = gsl_integration_workspace_alloc(200);
    for (size_t i = 0; i < CURVES * LENGTH(shares) * LENGTH(times); i++) {
        const struct curve *curve = &curves[i % CURVES];
        double time_s = times[i / CURVES % LENGTH(times)] * STEP_S;
        struct fulcrum_cpu_drain drain;
        fulcrum_cpu_drain_init(&drain, &curve->cpu, curve->actors, STEP_S);
        struct drained drained = {
            &drain, drain.piece[1].low * shares[i / CURVES / LENGTH(times)]};
        gsl_function function = {drained_at, &drained};
        double area = 0.0;
        double error = 0.0;
        CU_ASSERT_EQUAL(gsl_integration_qag(&function, 0.0, time_s, 1e-12, 1e-10, 200,
                            GSL_INTEG_GAUSS31, room, &area, &error),
            GSL_SUCCESS);
        CU_ASSERT_DOUBLE_EQUAL(fulcrum_cpu_drain_area(&drain, drained.n, time_s), area,
            1e-12 + 1e-8 * area);
    }
    gsl_integration_workspace_free(room);
}

/* Two times one after the other are their sum; nobody leaves in no time. */
static void assert_additive(const struct fulcrum_cpu_drain *drain, double n)
{
    double whole_s = 3.0 * STEP_S;
    double half = left_of(drain, n, 0.4 * whole_s);
    double left = left_of(drain, half, 0.6 * whole_s);
    CU_ASSERT_DOUBLE_EQUAL(left, left_of(drain, n, whole_s), 1e-9 * n);
    CU_ASSERT(half < n && left < half && left >= 0.0);
    assert_close("still", left_of(drain, n, 0.0), n, 1e-12);
}

TEST(test_drains_in_a_row_are_one)
{
    enum { NUMBERS = 25 };
    for (size_t i = 0; i < CURVES; i++) {
        double actors = curves[i].actors;
        struct fulcrum_cpu_drain drain;
        fulcrum_cpu_drain_init(&drain, &curves[i].cpu, actors, STEP_S);
        for (int k = 0; k <= NUMBERS; k++) {
            assert_additive(&drain, 0.5 * pow(2.0 * actors, (double)k / NUMBERS));
        }
        CU_ASSERT_EQUAL(left_of(&drain, 0.0, 1.0), 0.0);
        CU_ASSERT_EQUAL(fulcrum_cpu_drain_rate(&drain, 0.0), 0.0);
        CU_ASSERT_DOUBLE_EQUAL(left_of(&drain, actors, 1e6), 0.0, 1e-9);
    }
}

/* A line is left exponentially; a full CPU is left at a constant rate. */
TEST(test_closed_forms)
{
    struct fulcrum_cpu_drain drain;
    fulcrum_cpu_drain_init(&drain, &curves[0].cpu, 1e6, 2.0);
    assert_close("line", left_of(&drain, 7.0, 3.0), 7.0 * exp(-1.5), 1e-12);
    assert_close("full", left_of(&drain, 1e6, 1e5), 1e6 - 8e5 / 2.0, 1e-12);
    /* 40 - 8 t / 2 is 8 after 8 s. */
    assert_close("both", left_of(&drain, 40.0, 11.0), 8.0 * exp(-1.5), 1e-12);
}
