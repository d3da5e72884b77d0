/* test_properties.c - what every solution must obey, over random networks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * No reference values: each property follows from what a network is. A network that
 * breaks one is printed as a line for `fulcrum solve`.
 *
 * FULCRUM_PROPERTY_COUNT networks (300) are drawn from each domain by
 * FULCRUM_PROPERTY_SEED (1). The fast method gets all of them, slower ones a share.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/compare.h"
#include "model/predict/solver.h"
#include "presets/load/network_line.h"
#include "tests/support/network_bounds.h"
#include "tests/support/suite.h"

#define ROUNDING 1e-6

/* Below it actors may lock into step. */
#define LEAST_CV 0.2

/* Half-widths of a simulation: the noise of one is beyond that once in 10^5 times. */
#define NOISE_HALF_WIDTHS 2.5

/* What is printed of the networks that break a property. */
#define MOST_PRINTED 5

/* The share of networks that may fall by more than a method's own measure. */
#define MOST_FALLS 5e-5

/* How many of the networks each method gets, up to which size, and what is changed. */
struct trial {
    enum fulcrum_method method;
    double share;
    double most_actors;
    void (*adapt)(struct fulcrum_network *network);
    double fall_rel;      /* of throughput, that few networks may exceed, */
    double fall_most_rel; /* and none */
};

/* The chain would refuse nearly all of them as they are drawn. */
static void simplify(struct fulcrum_network *network)
{
    network->step.law = FULCRUM_LAW_EXPONENTIAL;
    network->step.cv = 1.0;
    network->step.mean_s = fmax(network->step.mean_s, 1e-6);
    network->depth = 1.0;
    network->delay_s = 0.0;
    network->training = (struct fulcrum_training){0.0, 0.0, 0.0, 1.0};
}

static void keep(struct fulcrum_network *network)
{
    (void)network;
}

/* The fast method may fall by hundredths of a per cent where it follows actors one by
 * one until that settles; few may fall by more, and none by its mean error. */
static const struct trial trials[] = {
    {FULCRUM_METHOD_FAST, 1.0, 1e6, keep, 1e-4, 0.005},
    {FULCRUM_METHOD_CHAIN, 0.2, 200.0, simplify, 0.0, 0.0},
    {FULCRUM_METHOD_SIMULATE, 0.05, 5000.0, keep, 0.0, 0.0},
};

enum { TRIAL_COUNT = LENGTH(trials) };

static const enum fulcrum_domain domains[] = {FULCRUM_DOMAIN_CORNERS,
    FULCRUM_DOMAIN_WIDE, FULCRUM_DOMAIN_FIXED, FULCRUM_DOMAIN_SHARE,
    FULCRUM_DOMAIN_SLICES};

enum { DOMAIN_COUNT = LENGTH(domains) };

static unsigned long setting(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoul(text, NULL, 10) : otherwise;
}

static bool is_share(double value)
{
    return value >= 0.0 && value <= 1.0 + ROUNDING;
}

static bool is_time(double value)
{
    return value >= 0.0 && isfinite(value);
}

static bool is_near(double value, double expected)
{
    return fabs(value - expected) <= ROUNDING * (fabs(expected) + ROUNDING);
}

static const char *fault_of_ranges(const struct fulcrum_solution *solution)
{
    const struct fulcrum_residence *time = &solution->residence;
    if (!(solution->steps_per_s > 0.0 && isfinite(solution->steps_per_s))) {
        return "throughput is positive and finite";
    }
    if (!is_share(solution->cpu_thread_busy_frac) ||
        !is_share(solution->cpu_core_busy_frac) ||
        !is_share(solution->host_busy_frac) || !is_share(solution->gpu_busy_frac) ||
        !is_share(solution->gpu_inference_busy_frac) ||
        !is_share(solution->gpu_train_busy_frac)) {
        return "busy fractions lie in [0, 1]";
    }
    if (!is_time(time->cpu_s) || !is_time(time->host_s) || !is_time(time->gpu_s) ||
        !is_time(time->delay_s)) {
        return "residence times are finite and not negative";
    }
    if (solution->has_interval &&
        !(solution->steps_per_s_lo <= solution->steps_per_s &&
            solution->steps_per_s <= solution->steps_per_s_hi)) {
        return "the interval contains the throughput";
    }
    return NULL;
}

static const char *fault_of_laws(
    const struct fulcrum_network *network, const struct fulcrum_solution *solution)
{
    const struct fulcrum_residence *time = &solution->residence;
    double round_s = time->cpu_s + time->host_s + time->gpu_s + time->delay_s;
    if (!is_near(solution->steps_per_s * round_s, network->actors)) {
        return "Little's law, N = X R";
    }
    double batch = solution->mean_batch;
    if (!(batch >= network_least_batch(network) * (1.0 - ROUNDING) &&
            batch <= network_most_batch(network) * (1.0 + ROUNDING))) {
        return "the mean batch lies within its limits";
    }
    return NULL;
}

/* What a simulation that has settled may be off by chance and by its two ends. */
static double noise_rel(const struct fulcrum_solution *solution, double actors)
{
    if (!solution->has_interval) {
        return 0.0;
    }
    double half_rel = solution->steps_per_s_hi / solution->steps_per_s - 1.0;
    double ends_rel = actors / solution->simulated_steps;
    return NOISE_HALF_WIDTHS * half_rel + ends_rel;
}

static const char *fault_of(
    const struct fulcrum_network *network, const struct fulcrum_solution *solution)
{
    const char *fault = fault_of_ranges(solution);
    fault = fault == NULL ? fault_of_laws(network, solution) : fault;
    /* A short run may begin and end at different points of its cycle. */
    if (fault != NULL || (solution->flags & FULCRUM_FLAG_NOT_SETTLED) != 0) {
        return fault;
    }
    double slack = ROUNDING + noise_rel(solution, network->actors);
    return solution->steps_per_s > network_bound_per_s(network) * (1.0 + slack)
               ? "throughput is within its asymptotic bounds"
               : NULL;
}

/* What came of the networks that one method was given. */
struct tally {
    size_t solved;
    size_t refused;
    size_t broken;
    size_t falls;
};

static void print_network(const struct fulcrum_network *network)
{
    char *text = NULL;
    ASSERT_OK(fulcrum_network_line_text(network, &text, NULL));
    (void)puts(text);
    free(text);
}

/* Nonzero if it was printed, so that more may be said of it. */
static int report_fault(struct tally *tally, const struct trial *trial,
    const struct fulcrum_network *network, const char *fault)
{
    tally->broken++;
    if (tally->broken > MOST_PRINTED) {
        return 0;
    }
    (void)printf("\n    %s breaks: %s\n", fulcrum_method_name(trial->method), fault);
    print_network(network);
    return 1;
}

static enum fulcrum_status solve(const struct trial *trial,
    const struct fulcrum_network *network, struct fulcrum_solution *out)
{
    const struct fulcrum_solver_options options = {
        .method = trial->method, .seed = 1, .max_steps = 2e5};
    return fulcrum_solve(network, &options, out, NULL);
}

/* Any other failure than a refusal breaks the promise that a checked network solves. */
static int try_network(struct tally *tally, const struct trial *trial,
    const struct fulcrum_network *network, struct fulcrum_solution *out)
{
    enum fulcrum_status status = solve(trial, network, out);
    if (status == FULCRUM_ERR_UNSUPPORTED) {
        tally->refused++;
        return 0;
    }
    if (status != FULCRUM_OK) {
        (void)report_fault(tally, trial, network, fulcrum_status_text(status));
        return 0;
    }
    tally->solved++;
    return 1;
}

/* Runs one method over its share of a domain. */
typedef void trial_step(struct tally *tally, const struct trial *trial,
    const struct fulcrum_network *network, size_t index);

static void run_trial(
    const struct trial *trial, enum fulcrum_domain domain, trial_step *step)
{
    unsigned long seed = setting("FULCRUM_PROPERTY_SEED", 1);
    unsigned long drawn = setting("FULCRUM_PROPERTY_COUNT", 300);
    double count = ceil((double)drawn * trial->share);
    struct tally tally = {0, 0, 0, 0};
    for (size_t i = 0; i < (size_t)count; i++) {
        struct fulcrum_network network = fulcrum_random_network(domain, seed, i);
        trial->adapt(&network);
        if (network.actors <= trial->most_actors) {
            step(&tally, trial, &network, i);
        }
    }
    (void)printf("\n    %s, %s: %zu solved, %zu refused, %zu broken, %zu falls",
        fulcrum_domain_name(domain), fulcrum_method_name(trial->method), tally.solved,
        tally.refused, tally.broken, tally.falls);
    CU_ASSERT_EQUAL(tally.broken, 0);
    CU_ASSERT((double)tally.falls <= ceil(MOST_FALLS * (double)tally.solved));
}

static void check_one(struct tally *tally, const struct trial *trial,
    const struct fulcrum_network *network, size_t index)
{
    (void)index;
    struct fulcrum_solution solution;
    if (try_network(tally, trial, network, &solution)) {
        const char *fault = fault_of(network, &solution);
        if (fault != NULL && report_fault(tally, trial, network, fault)) {
            (void)printf("    X = %.9g of at most %.9g, batch %.9g\n",
                solution.steps_per_s, network_bound_per_s(network),
                solution.mean_batch);
        }
    }
}

TEST(test_solutions_obey_laws_and_bounds)
{
    for (size_t i = 0; i < DOMAIN_COUNT; i++) {
        for (size_t j = 0; j < TRIAL_COUNT; j++) {
            run_trial(&trials[j], domains[i], check_one);
        }
    }
    (void)printf("\n    ");
}

/* What an actor does between two batches, a step and the delay, varies enough to mix
 * them; of a law whose cv is not given it is 1 or more. */
static int mixes(const struct fulcrum_network *network)
{
    const struct fulcrum_step *step = &network->step;
    bool has_cv = step->law == FULCRUM_LAW_LOGNORMAL || step->law == FULCRUM_LAW_ERLANG;
    double spread_s = step->mean_s * (has_cv ? step->cv : 1.0);
    return step->law != FULCRUM_LAW_DETERMINISTIC &&
           spread_s >= LEAST_CV * (step->mean_s + network->delay_s);
}

/* Less service time may cost throughput where a batch of fixed size or rounds of equal
 * length make actors wait for each other in another order, where a fuller CPU is
 * slower, and where host and GPU overlap: a faster host forms more and smaller batches
 * for the GPU. */
static int should_rise(const struct fulcrum_network *network)
{
    return network->policy == FULCRUM_BATCH_GREEDY && network->depth <= 1.0 &&
           mixes(network) && network_cpu_rises(network);
}

/* The same network with one of its times cut by 30 %. */
static struct fulcrum_network faster(
    const struct fulcrum_network *network, size_t which)
{
    struct fulcrum_network other = *network;
    double *const times[] = {&other.step.mean_s, &other.gpu.per_batch_s,
        &other.gpu.per_item_s, &other.host.per_batch_s, &other.host.per_item_s,
        &other.delay_s, &other.training.train_step_s};
    *times[which % (LENGTH(times))] *= 0.7;
    return other;
}

static void check_rise(struct tally *tally, const struct trial *trial,
    const struct fulcrum_network *network, size_t index)
{
    struct fulcrum_solution before;
    struct fulcrum_solution after;
    struct fulcrum_network other = faster(network, index);
    if (!should_rise(network) || !try_network(tally, trial, network, &before) ||
        solve(trial, &other, &after) != FULCRUM_OK) {
        return;
    }
    double slack = ROUNDING + noise_rel(&before, network->actors) +
                   noise_rel(&after, network->actors);
    double fall = 1.0 - after.steps_per_s / before.steps_per_s - slack;
    tally->falls += fall > trial->fall_rel;
    if (fall > trial->fall_most_rel &&
        report_fault(tally, trial, network, "less time does not cost throughput")) {
        print_network(&other);
        (void)printf(
            "    X = %.9g, then %.9g\n", before.steps_per_s, after.steps_per_s);
    }
}

TEST(test_less_time_does_not_cost_throughput)
{
    for (size_t j = 0; j < TRIAL_COUNT; j++) {
        run_trial(&trials[j], FULCRUM_DOMAIN_WIDE, check_rise);
        run_trial(&trials[j], FULCRUM_DOMAIN_CORNERS, check_rise);
    }
    (void)printf("\n    ");
}

TEST(test_no_time_at_all_is_an_error)
{
    for (size_t i = 0; i < DOMAIN_COUNT; i++) {
        struct fulcrum_network network = fulcrum_random_network(domains[i], 1, 0);
        ASSERT_OK(fulcrum_network_check(&network, NULL));
        network.step.mean_s = 0.0;
        network.host = (struct fulcrum_batch_time){.count = 0};
        network.gpu = (struct fulcrum_batch_time){.count = 0};
        network.delay_s = 0.0;
        CU_ASSERT_EQUAL(fulcrum_network_check(&network, NULL), FULCRUM_ERR_INFEASIBLE);
    }
}
