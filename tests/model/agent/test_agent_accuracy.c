/* test_agent_accuracy.c - equations, exact solution and simulation of random agents. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/agent/agent.h"
#include "model/parallel.h"
#include "tests/support/suite.h"

enum { NETWORKS_MOST = 1024 };

struct trial {
    enum fulcrum_agent_coupling coupling;
    double live_most;
    double half_width_rel;
    bool is_exact;  /* beside the product form: only what it takes as it is */
    bool simulates; /* in place of the equations */
    double error_rel[NETWORKS_MOST];
    bool is_flagged[NETWORKS_MOST];
};

static double between(gsl_rng *random, double low, double high)
{
    return low * exp(gsl_rng_uniform(random) * log(high / low));
}

static bool one_in(gsl_rng *random, double chance)
{
    return gsl_rng_uniform(random) < chance;
}

/* One that takes between a tenth and five times what making its batch takes. */
static void add_trainer(gsl_rng *random, double live_most,
    enum fulcrum_agent_coupling coupling, struct fulcrum_agent_network *network)
{
    double group = pow(2.0, floor(5.0 * gsl_rng_uniform(random)));
    double most = fmax(4.0, 4.0 * live_most / group);
    double batch = group * round(between(random, 2.0, most));
    struct fulcrum_agent_network alone = *network;
    struct fulcrum_agent_solution steady;
    alone.live_count = fmin(network->live_count, batch);
    fulcrum_agent_fast(&alone, &steady);
    double making_s = batch / steady.trajectories_per_s;
    network->trainer = (struct fulcrum_agent_trainer){.coupling = coupling,
        .batch_size = batch,
        .group_size = group,
        .train_s = fmin(1e6, making_s * between(random, 0.1, 5.0)),
        .switch_s = one_in(random, 0.5) ? 0.0 : between(random, 0.5, 20.0)};
    if (coupling == FULCRUM_AGENT_STREAM) {
        network->trainer.staleness = 4.0 * gsl_rng_uniform(random);
    }
}

static struct fulcrum_agent_network random_agents(gsl_rng *random, double live_most)
{
    double cores = round(between(random, 2.0, 128.0));
    struct fulcrum_agent_network network = {
        .live_count = round(between(random, 2.0, live_most)),
        .decode = {.instance_count = round(between(random, 1.0, 16.0)),
            .per_token_s = between(random, 4e-3, 3e-2),
            .per_item_s = between(random, 2e-5, 4e-4),
            .per_context_s = one_in(random, 0.5) ? 0.0 : between(random, 1e-10, 1e-8),
            .per_prompt_s = one_in(random, 0.5) ? 0.0 : between(random, 1e-6, 1e-4)},
        .cpu = {.core_count = cores,
            .thread_count = one_in(random, 0.5) ? cores : 2.0 * cores,
            .smt_yield_frac = 0.4 * gsl_rng_uniform(random),
            .turbo_frac = 0.3 * gsl_rng_uniform(random)},
        .trajectory = {
            .turn_count = one_in(random, 0.2) ? 1.0 : between(random, 2.0, 60.0),
            .turn_cv = 0.8 * gsl_rng_uniform(random),
            .output_tokens = between(random, 50.0, 2000.0),
            .output_cv = 1.2 * gsl_rng_uniform(random),
            .prompt_tokens = between(random, 50.0, 2000.0),
            .context_tokens = between(random, 1e3, 3e4),
            .tool_s = one_in(random, 0.1) ? 0.0 : between(random, 0.05, 8.0),
            .tool_cv = 2.0 * gsl_rng_uniform(random),
            .delay_s = one_in(random, 0.5) ? 0.0 : between(random, 0.05, 10.0),
            .start_s = one_in(random, 0.3) ? 0.0 : between(random, 0.5, 30.0),
            .verify_s = one_in(random, 0.5) ? 0.0 : between(random, 1.0, 60.0),
            .verify_tokens = one_in(random, 0.8) ? 0.0 : between(random, 100.0, 2e3)}};
    network.decode.item_exponent =
        one_in(random, 0.5) ? 1.0 : between(random, 0.4, 1.0);
    network.start_limit =
        one_in(random, 0.5) ? 0.0 : round(between(random, 1.0, 200.0));
    network.decode.most_items =
        one_in(random, 0.7) ? 0.0 : round(between(random, 8.0, 256.0));
    return network;
}

static void try_network(void *context, size_t index)
{
    struct trial *trial = context;
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(random, index + 1);
    struct fulcrum_agent_network network = random_agents(random, trial->live_most);
    if (trial->coupling != FULCRUM_AGENT_ALONE) {
        add_trainer(random, trial->live_most, trial->coupling, &network);
    }
    if (trial->is_exact && trial->simulates) {
        /* Prompts that come first, and lines before a full instance, are no processor
         * sharing. */
        network.trajectory.prompt_tokens = 0.0;
        network.decode.most_items = 0.0;
        network.decode.instance_count = 1.0;
    }
    struct fulcrum_agent_solution found = {.flags = 0};
    struct fulcrum_agent_solution true_one = {.flags = 0};
    const struct fulcrum_solver_options options = {
        .method = trial->simulates ? FULCRUM_METHOD_SIMULATE : FULCRUM_METHOD_FAST,
        .seed = index,
        .half_width_rel = trial->half_width_rel,
        .max_steps = trial->simulates ? 4e7 : 0.0};
    struct fulcrum_solver_options other = options;
    other.method =
        trial->is_exact ? FULCRUM_METHOD_PRODUCT_FORM : FULCRUM_METHOD_SIMULATE;
    other.max_steps = 2e6;
    bool is_solved =
        fulcrum_agent_check(&network, NULL) == FULCRUM_OK &&
        fulcrum_agent_solve(&network, &options, &found, NULL) == FULCRUM_OK &&
        fulcrum_agent_solve(&network, &other, &true_one, NULL) == FULCRUM_OK;
    trial->error_rel[index] =
        is_solved ? fabs(found.trajectories_per_s / true_one.trajectories_per_s - 1.0)
                  : (double)NAN;
    trial->is_flagged[index] = found.flags != 0U;
    gsl_rng_free(random);
}

/* Errors of `count` networks: their mean, and what 95 of 100 of those stay below that
 * are not flagged. Returns their sum. */
static double judge(const char *what, struct trial *trial, size_t count,
    double most_mean_rel, double most_p95_rel)
{
    double sum = 0.0;
    fulcrum_parallel_each(count, try_network, trial);
    size_t sure = 0;
    double most_rel = 0.0;
    for (size_t i = 0; i < count; i++) {
        double error_rel = trial->error_rel[i];
        CU_ASSERT_FATAL(!isnan(error_rel));
        sum += error_rel;
        most_rel = fmax(most_rel, error_rel);
        if (!trial->is_flagged[i]) {
            trial->error_rel[sure++] = error_rel;
        }
    }
    gsl_sort(trial->error_rel, 1, sure);
    double mean_rel = sum / (double)count;
    double p95_rel = trial->error_rel[sure * 95 / 100];
    (void)printf(
        "\n    %s, %zu networks: mean %.2f %%, most %.1f %%; of %zu not flagged "
        "95 of 100 within %.2f %%, all within %.1f %% ",
        what, count, 100.0 * mean_rel, 100.0 * most_rel, sure, 100.0 * p95_rel,
        100.0 * trial->error_rel[sure - 1]);
    CU_ASSERT(mean_rel <= most_mean_rel);
    CU_ASSERT(p95_rel <= most_p95_rel);
    return sum;
}

static struct trial *new_trial(void)
{
    struct trial *trial = calloc(1, sizeof *trial);
    if (trial == NULL) {
        abort();
    }
    return trial;
}

TEST(test_equations_beside_the_exact_solution)
{
    struct trial *trial = new_trial();
    *trial = (struct trial){.live_most = 2000.0, .is_exact = true};
    (void)judge("equations, exact", trial, 1000, 0.001, 0.004);
    free(trial);
}

TEST(test_the_simulation_beside_the_exact_solution)
{
    struct trial *trial = new_trial();
    *trial = (struct trial){.live_most = 100.0,
        .is_exact = true,
        .simulates = true,
        .half_width_rel = 2e-3};
    (void)judge("simulation, exact", trial, 24, 0.0015, 0.004);
    free(trial);
}

TEST(test_equations_beside_the_simulation)
{
    static const struct {
        enum fulcrum_agent_coupling coupling;
        size_t count;
    } cases[] = {{FULCRUM_AGENT_ALONE, 100}, {FULCRUM_AGENT_IN_TURNS, 150},
        {FULCRUM_AGENT_ONE_OFF, 150}, {FULCRUM_AGENT_STREAM, 250}};
    struct trial *trial = new_trial();
    double sum = 0.0;
    double count = 0.0;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        *trial = (struct trial){
            .coupling = cases[i].coupling, .live_most = 300.0, .half_width_rel = 7e-3};
        sum += judge(fulcrum_agent_coupling_name((int)cases[i].coupling), trial,
            cases[i].count, 0.02, 0.05);
        count += (double)cases[i].count;
    }
    (void)printf("\n    all %.0f: mean %.2f %% ", count, 100.0 * sum / count);
    CU_ASSERT(sum / count <= 0.015);
    free(trial);
}
