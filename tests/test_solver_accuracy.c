/* test_solver_accuracy.c - how well the solvers agree, over many random networks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort_double.h>
#include <math.h>
#include <stdio.h>

#include "model/simulate.h"
#include "model/solver.h"
#include "tests/suite.h"

enum { NETWORKS = 400, REPEATS = 200 };

static struct fulcrum_solution simulated(
    const struct fulcrum_network *network, double half_width_rel, uint64_t seed)
{
    struct fulcrum_solver_options options = {
        .seed = seed, .half_width_rel = half_width_rel};
    struct fulcrum_solution out = {.steps_per_s = 0.0};
    CU_ASSERT_EQUAL(fulcrum_network_check(network, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL(fulcrum_simulate(network, &options, &out, NULL), FULCRUM_OK);
    return out;
}

/* `servers` cores without SMT or turbo: c(n) = min(n, servers). */
static struct fulcrum_network plain(double actors, double servers)
{
    return (struct fulcrum_network){.actors = actors,
        .cpu = {.core_count = servers, .thread_count = servers},
        .step = {1.0, 0.0, FULCRUM_LAW_EXPONENTIAL},
        .depth = 1};
}

/* Machine repair: N machines that run `think` on average, c repairmen, service 1. */
static double machine_repair(double machines, double servers, double think)
{
    double weight = 1.0;
    double sum = 1.0;
    double busy = 0.0;
    for (int i = 1; i <= (int)machines; i++) {
        double n = (double)i;
        weight *= (machines - n + 1.0) / (think * fmin(n, servers));
        sum += weight;
        busy += weight * fmin(n, servers);
    }
    return busy / sum;
}

static void test_cpu_alone_is_machine_repair(void)
{
    static const double cases[][3] = {
        {1, 1, 2.0}, {5, 2, 3.0}, {20, 8, 1.0}, {40, 8, 4.0}, {64, 64, 0.5}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fulcrum_network network = plain(cases[i][0], cases[i][1]);
        network.gpu = (struct fulcrum_batch_time){.count = 0};
        network.delay_s = cases[i][2];
        struct fulcrum_solution out = simulated(&network, 0.0008, 11);
        double exact = machine_repair(cases[i][0], cases[i][1], cases[i][2]);
        suite_assert_close("X", out.steps_per_s, exact, 0.002);
        suite_assert_close(
            "busy", out.cpu_thread_busy_frac, exact / cases[i][1], 0.002);
        suite_assert_close(
            "cpu", out.residence.cpu_s, cases[i][0] / exact - cases[i][2], 0.01);
    }
}

/* Log-uniform. */
static double between(const gsl_rng *rng, double low, double high)
{
    return low * pow(high / low, gsl_rng_uniform(rng));
}

/* The domain of docs/model.md "Solver targets": N and C 4..512, t0/t_e .05..3. */
static struct fulcrum_network random_greedy(const gsl_rng *rng)
{
    static const struct fulcrum_step laws[] = {{1.0, 1.0, FULCRUM_LAW_EXPONENTIAL},
        {1.0, 0.3, FULCRUM_LAW_ERLANG}, {1.0, 0.5, FULCRUM_LAW_LOGNORMAL},
        {1.0, 2.0, FULCRUM_LAW_LOGNORMAL}, {1.0, 0.0, FULCRUM_LAW_PARETO}};
    double actors = round(between(rng, 4.0, 512.0));
    struct fulcrum_network network = plain(actors, round(between(rng, 4.0, 512.0)));
    network.gpu.per_batch_s = between(rng, 0.05, 3.0);
    network.gpu.per_item_s = network.gpu.per_batch_s * between(rng, 0.001, 0.1);
    network.step = laws[gsl_rng_uniform_int(rng, 5)];
    return network;
}

/* The same with SMT, turbo, oversubscription and a host, which the equations allow. */
static struct fulcrum_network random_machine(const gsl_rng *rng)
{
    struct fulcrum_network network = random_greedy(rng);
    network.cpu.thread_count = 2.0 * network.cpu.core_count;
    network.cpu.smt_yield_frac = 0.6 * gsl_rng_uniform(rng);
    network.cpu.turbo_frac = 0.5 * gsl_rng_uniform(rng);
    network.cpu.oversubscription_frac = 0.1 * gsl_rng_uniform(rng);
    network.host.per_batch_s = 0.5 * gsl_rng_uniform(rng) * network.gpu.per_batch_s;
    return network;
}

/* A host, half of the time a delay, and training for 3 % to twice what it has. */
static struct fulcrum_network random_training(const gsl_rng *rng)
{
    struct fulcrum_network network = random_greedy(rng);
    double part = gsl_rng_uniform(rng);
    network.host.per_batch_s = part * network.gpu.per_batch_s;
    network.host.per_item_s = gsl_rng_uniform(rng) * network.gpu.per_item_s;
    double service_s = network.host.per_batch_s + network.gpu.per_batch_s;
    double delay_s = service_s * between(rng, 0.05, 2.0);
    network.delay_s = gsl_rng_uniform(rng) < 0.5 ? delay_s : 0.0;
    double period = between(rng, 6.0, 3000.0);
    double load = between(rng, 0.03, 2.0);
    struct fulcrum_solver_options options = {.method = FULCRUM_METHOD_FAST};
    struct fulcrum_solution alone;
    if (fulcrum_solve(&network, &options, &alone, NULL) == FULCRUM_OK) {
        network.training =
            (struct fulcrum_training){period, load * period / alone.steps_per_s, 10.0};
    } else {
        network.depth = 2; /* refused without training, which says nothing of it */
    }
    return network;
}

/*
 * A perceptron on the core that also trains it, its times those of a calibration of
 * MuJoCo's humanoid, with the numbers of actors and threads and the step varied.
 */
static struct fulcrum_network random_perceptron(const gsl_rng *rng)
{
    struct fulcrum_network network =
        plain(round(between(rng, 4.0, 256.0)), round(between(rng, 1.0, 128.0)));
    double cv = between(rng, 0.2, 0.6);
    network.step = (struct fulcrum_step){
        3.2e-4 * between(rng, 0.3, 3.0), cv, FULCRUM_LAW_LOGNORMAL};
    network.host = (struct fulcrum_batch_time){5.5e-6, 3.2e-6, NULL, NULL, 0};
    network.gpu = (struct fulcrum_batch_time){1.05e-5, 5.3e-6, NULL, NULL, 0};
    network.delay_s = 1.26e-5;
    network.training = (struct fulcrum_training){51.2, 3.4e-3, 10.0};
    return network;
}

/* What the mean and 95 % and 99 % of the networks must stay below, and the share. */
struct target {
    double mean;
    double p95;
    double p99;
    double accepted_frac;
};

static void compare_methods(struct fulcrum_network (*draw)(const gsl_rng *rng),
    const char *what, const struct target *target)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    gsl_rng_set(rng, 2024);
    double error[NETWORKS];
    double sum = 0.0;
    size_t drawn = 0;
    for (size_t count = 0; count < NETWORKS; drawn++) {
        struct fulcrum_network network = draw(rng);
        struct fulcrum_solver_options options = {.method = FULCRUM_METHOD_FAST};
        struct fulcrum_solution fast;
        if (fulcrum_solve(&network, &options, &fast, NULL) == FULCRUM_OK) {
            double truth = simulated(&network, 0.003, drawn).steps_per_s;
            error[count] = fabs(fast.steps_per_s / truth - 1.0);
            sum += error[count];
            count++;
        }
    }
    gsl_rng_free(rng);
    gsl_sort(error, 1, NETWORKS);
    double p95 = error[NETWORKS * 95 / 100];
    double p99 = error[NETWORKS * 99 / 100];
    (void)printf("\n    %s: %d of %zu networks; error mean %.3f %%, p95 %.2f %%, p99 "
                 "%.2f %%, most %.2f %%\n    ",
        what, NETWORKS, drawn, 100.0 * sum / NETWORKS, 100.0 * p95, 100.0 * p99,
        100.0 * error[NETWORKS - 1]);
    CU_ASSERT(sum / NETWORKS <= target->mean);
    CU_ASSERT(p95 <= target->p95);
    CU_ASSERT(p99 <= target->p99);
    /* Refusing most networks would be no way to be accurate. */
    CU_ASSERT(NETWORKS >= target->accepted_frac * (double)drawn);
}

static void test_fast_meets_its_targets_on_plain_machines(void)
{
    compare_methods(random_greedy, "plain", &(struct target){0.005, 0.015, 0.03, 0.8});
}

static void test_fast_meets_its_targets_on_real_machines(void)
{
    compare_methods(
        random_machine, "SMT, turbo, host", &(struct target){0.005, 0.015, 0.03, 0.8});
}

static void test_fast_meets_its_targets_with_delay_and_training(void)
{
    compare_methods(
        random_training, "delay, training", &(struct target){0.01, 0.02, 0.03, 0.4});
    compare_methods(random_perceptron, "perceptron on the learner's core",
        &(struct target){0.01, 0.02, 0.03, 0.4});
}

/* A half batch with training: the hardest network to give an honest interval for. */
static void test_intervals_cover_the_truth(void)
{
    struct fulcrum_network network = plain(64, 20);
    network.cpu.thread_count = 40;
    network.cpu.smt_yield_frac = 0.3;
    network.step = (struct fulcrum_step){2e-3, 0.5, FULCRUM_LAW_LOGNORMAL};
    network.host = (struct fulcrum_batch_time){.per_batch_s = 1e-3, .per_item_s = 4e-5};
    network.gpu = (struct fulcrum_batch_time){.per_batch_s = 1e-3, .per_item_s = 7e-6};
    network.policy = FULCRUM_BATCH_FIXED;
    network.batch_size = 32;
    network.depth = 2;
    network.training = (struct fulcrum_training){3360, 0.2, 2.4};
    for (int trains = 0; trains < 2; trains++) {
        network.training.env_steps_per_train_step = trains ? 3360 : 0;
        double truth = simulated(&network, 0.0003, 1).steps_per_s;
        int covered = 0;
        for (uint64_t seed = 0; seed < REPEATS; seed++) {
            struct fulcrum_solution out = simulated(&network, 0.01, 1000 + seed);
            covered += out.steps_per_s_lo <= truth && truth <= out.steps_per_s_hi;
        }
        (void)printf("\n    %d of %d intervals cover\n    ", covered, REPEATS);
        CU_ASSERT(covered >= REPEATS * 9 / 10);
    }
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_cpu_alone_is_machine_repair),
        SUITE_CASE(test_fast_meets_its_targets_on_plain_machines),
        SUITE_CASE(test_fast_meets_its_targets_on_real_machines),
        SUITE_CASE(test_fast_meets_its_targets_with_delay_and_training),
        SUITE_CASE(test_intervals_cover_the_truth),
    };
    return suite_run(
        "solver_accuracy", cases, sizeof cases / sizeof cases[0], argc, argv);
}
