/* test_solver_accuracy.c - how well the solvers agree, over many random networks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/compare.h"
#include "model/predict/solver.h"
#include "model/simulate/simulate.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

enum { REPEATS = 200 };

/* Wider than what `fulcrum-bench accuracy` asks for: enough to tell the targets. */
static const double judge_half_width_rel = 0.003;

static void print_summary(
    const struct fulcrum_target *target, const struct fulcrum_comparison_summary *all)
{
    (void)printf(
        "\n    %s of %s: %zu networks, mean %.3f %%, p95 %.2f %%, p99 %.2f %%, "
        "most %.2f %%, flagged %.0f %%, within %.0f %%",
        fulcrum_method_name(target->method), fulcrum_domain_name(target->domain),
        all->count, 100.0 * all->mean_rel, 100.0 * all->p95_rel, 100.0 * all->p99_rel,
        100.0 * all->max_rel, 100.0 * all->flagged_frac, 100.0 * all->within_frac);
}

static void check_verdicts(const struct fulcrum_target *target,
    const struct fulcrum_comparison_summary *summaries)
{
    struct fulcrum_verdict verdicts[FULCRUM_TARGET_LIMITS_MOST];
    size_t count = fulcrum_target_judge(target, verdicts, summaries);
    CU_ASSERT(count > 0);
    for (size_t i = 0; i < count; i++) {
        if (!verdicts[i].is_met) {
            (void)printf("\n    missed: %s of %s networks is %.4g, target %.4g",
                verdicts[i].quantity, fulcrum_comparison_set_name(verdicts[i].set),
                verdicts[i].measured, verdicts[i].limit);
        }
        CU_ASSERT(verdicts[i].is_met);
    }
}

static void check_target(const struct fulcrum_target *target)
{
    static const enum fulcrum_comparison_set sets[] = {
        FULCRUM_COMPARISON_ALL, FULCRUM_COMPARISON_UNFLAGGED};
    const struct fulcrum_comparison_plan plan = {.domain = target->domain,
        .seed = 1,
        .method = target->method,
        .half_width_rel = target->half_width_rel,
        .judge = target->judge,
        .judge_half_width_rel = judge_half_width_rel};
    struct fulcrum_comparison *comparisons =
        calloc(target->networks, sizeof *comparisons);
    CU_ASSERT_PTR_NOT_NULL_FATAL(comparisons);
    fulcrum_compare(&plan, comparisons, 0, target->networks, NULL);
    /* Neither method nor judge leaves a network out. */
    CU_ASSERT_EQUAL(fulcrum_comparison_count(
                        comparisons, target->networks, FULCRUM_COMPARISON_DONE),
        target->networks);
    struct fulcrum_comparison_summary summaries[2];
    for (size_t i = 0; i < 2; i++) {
        ASSERT_OK(fulcrum_comparison_summarise(
            &summaries[sets[i]], comparisons, target->networks, sets[i], NULL));
    }
    print_summary(target, &summaries[FULCRUM_COMPARISON_ALL]);
    check_verdicts(target, summaries);
    free(comparisons);
}

TEST(test_methods_meet_their_targets)
{
    size_t count = 0;
    const struct fulcrum_target *targets = fulcrum_targets(&count);
    CU_ASSERT(count > 0);
    for (size_t i = 0; i < count; i++) {
        check_target(&targets[i]);
    }
    (void)printf("\n    ");
}

/* A half batch with training: the hardest network to give an honest interval for. */
TEST(test_intervals_cover_the_truth)
{
    struct fulcrum_network network = plain_network(64, 20, 0, 0);
    network.cpu.thread_count = 40;
    network.cpu.smt_yield_frac = 0.3;
    network.step = (struct fulcrum_step){2e-3, 0.5, FULCRUM_LAW_LOGNORMAL};
    network.host = (struct fulcrum_batch_time){.per_batch_s = 1e-3, .per_item_s = 4e-5};
    network.gpu = (struct fulcrum_batch_time){.per_batch_s = 1e-3, .per_item_s = 7e-6};
    network.policy = FULCRUM_BATCH_FIXED;
    network.batch_size = 32;
    network.depth = 2;
    network.training = (struct fulcrum_training){3360, 0.2, 2.4, 1.0};
    for (int trains = 0; trains < 2; trains++) {
        network.training.env_steps_per_train_step = trains ? 3360 : 0;
        double truth = simulated(&network, 1, 0.0003).steps_per_s;
        int covered = 0;
        for (uint64_t seed = 0; seed < REPEATS; seed++) {
            struct fulcrum_solution out = simulated(&network, 1000 + seed, 0.01);
            covered += out.steps_per_s_lo <= truth && truth <= out.steps_per_s_hi;
        }
        (void)printf("\n    %d of %d intervals cover\n    ", covered, REPEATS);
        CU_ASSERT(covered >= REPEATS * 9 / 10);
    }
}

static double between(gsl_rng *rng, double least, double most)
{
    return least * pow(most / least, gsl_rng_uniform(rng));
}

/* As PPO runs: all environments in lockstep, 4 to 2048 rounds, then training. */
static struct fulcrum_network ppo_like(gsl_rng *rng)
{
    static const double cvs[] = {0, 0.1, 0.3, 1, 2};
    double threads = pow(2, (double)gsl_rng_uniform_int(rng, 7));
    struct fulcrum_network out =
        plain_network(floor(between(rng, 1, 129)), threads, 0, 0);
    out.cpu.core_count = fmax(1, threads / (double)(1 + gsl_rng_uniform_int(rng, 2)));
    out.cpu.smt_yield_frac = 0.3;
    out.step = (struct fulcrum_step){.mean_s = between(rng, 1e-5, 1e-2),
        .cv = cvs[gsl_rng_uniform_int(rng, LENGTH(cvs))]};
    out.step.law = out.step.cv > 0 ? FULCRUM_LAW_LOGNORMAL : FULCRUM_LAW_DETERMINISTIC;
    out.host.per_batch_s = between(rng, 1e-6, 1e-3);
    out.host.per_item_s = between(rng, 1e-7, 1e-4);
    out.gpu.per_batch_s = between(rng, 1e-5, 1e-2);
    out.gpu.per_item_s = between(rng, 1e-7, 1e-4);
    out.delay_s = gsl_rng_uniform(rng) < 0.5 ? 0 : between(rng, 1e-6, 1e-3);
    out.policy = FULCRUM_BATCH_FIXED;
    out.batch_size = out.actors;
    double rounds = floor(between(rng, 4, 2049));
    out.training =
        (struct fulcrum_training){.env_steps_per_train_step = rounds * out.actors,
            .train_step_s = between(rng, 0.05, 20) * rounds * out.step.mean_s,
            .queue_train_steps = 1};
    out.loop = FULCRUM_LOOP_ALTERNATING;
    return out;
}

TEST(test_loops_that_alternate_are_met)
{
    enum { LOOPS = 300 };
    const struct fulcrum_solver_options options = {.method = FULCRUM_METHOD_AUTO};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    double mean = 0;
    double most = 0;
    gsl_rng_set(rng, 11);
    for (size_t i = 0; i < LOOPS; i++) {
        struct fulcrum_network network = ppo_like(rng);
        struct fulcrum_solution out = {.steps_per_s = 0.0};
        ASSERT_OK(fulcrum_network_check(&network, NULL));
        ASSERT_OK(fulcrum_solve(&network, &options, &out, NULL));
        double judged = simulated(&network, i, judge_half_width_rel).steps_per_s;
        mean += fabs(out.steps_per_s / judged - 1) / LOOPS;
        most = fmax(most, fabs(out.steps_per_s / judged - 1));
    }
    gsl_rng_free(rng);
    (void)printf("\n    %d loops that alternate: mean %.2f %%, most %.2f %%\n    ",
        LOOPS, 100 * mean, 100 * most);
    CU_ASSERT(mean <= 0.01 && most <= 0.05);
}
