/* test_which_number.c - which of the paper's uncertain numbers matter, and how much. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The prototype of the model found first-order shares for three ratios of the paper
 * (one V100 beside 40 threads, priors alone) by simulating random draws; the command
 * finds them anew by the fast solver and another estimator. They must agree within
 * 0.08: what 512 rows leave open is 0.02, the prototype's own noise was not told.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/command/sensitivity_inputs.h"
#include "tests/support/suite.h"

#define TOLERANCE 0.08

enum { NAMED_MOST = 4 };

/* A question, the shares that stand out, and the most that any other has. */
struct question {
    const char *name;
    double actor_count;
    const char *set; /* NULL: none */
    const char *base;
    const char *metric;
    struct {
        const char *path;
        double first; /* the prototype's */
    } named[NAMED_MOST];
    double least_named; /* below every share that stands out */
    double most_other;  /* above every other */
};

static const struct question questions[] = {
    {"4 to 40 actors", 40, NULL, "run.actor_count=4", "speedup",
        {{"workload.host.per_batch_s", 0.51}, {"workload.host.per_item_s", 0.09},
            {"workload.training.train_step_s", 0.08}},
        0.06, 0.06},
    {"40 to 256 actors", 256, NULL, "run.actor_count=40", "speedup",
        {{"workload.host.per_batch_s", 0.22}, {"workload.step.mean_s", 0.22},
            {"workload.training.train_step_s", 0.13},
            {"workload.network.per_batch_s", 0.10}},
        0.06, 0.05},
    {"40 of 80 SMs", 256, "run.sm_count=40", "run.sm_count=80", "runtime_rel",
        {{"workload.training.train_step_s", 0.38}, {"workload.step.mean_s", 0.35}},
        0.25, 0.05},
};

/* The analysis of one question. */
struct analysis {
    struct fulcrum_design_inputs design;
    struct fulcrum_sensitivity_inputs inputs;
    struct fulcrum_sensitivity *result;
};

static void load(const struct question *question, struct analysis *out)
{
    struct fulcrum_context context = {.exit_code = 0};
    const char *sets[] = {question->set};
    const char *bases[] = {question->base};
    const struct fulcrum_design_settings settings = {.machine = "dgx-1-inci2020",
        .workload = "r2d2-atari",
        .actor_count = question->actor_count,
        .sets = {question->set != NULL, sets}};
    const struct fulcrum_text_list none = {0, NULL};
    const struct fulcrum_text_list base = {1, bases};
    const struct fulcrum_sensitivity_request request = {
        &none, &base, question->metric, NULL};
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_design_inputs_load(&settings, &context, &out->design, NULL),
        FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(fulcrum_sensitivity_inputs_read(
                              &request, &out->design, &context, &out->inputs, NULL),
        FULCRUM_OK);
}

static void analyse(
    const struct question *question, size_t row_count, struct analysis *out)
{
    load(question, out);
    const struct fulcrum_sensitivity_plan plan = {
        .scenario = &out->design.scenario,
        .inputs = out->inputs.inputs,
        .input_count = out->inputs.input_count,
        .outputs = out->inputs.outputs,
        .output_count = out->inputs.output_count,
        .base = out->inputs.base,
        .base_count = out->inputs.base_count,
        .solver = {.method = FULCRUM_METHOD_FAST},
        .sobol = {.row_count = row_count,
            .replicate_count = 8,
            .worker_count = 2,
            .seed = 1},
    };
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_sensitivity_run(&plan, &out->result, NULL), FULCRUM_OK);
}

static void clear(struct analysis *analysis)
{
    fulcrum_sensitivity_free(analysis->result);
    fulcrum_sensitivity_inputs_free(&analysis->inputs);
    fulcrum_design_inputs_free(&analysis->design);
}

/* NAN: nothing is known of this field. */
static double prototype_share(const struct question *question, const char *path)
{
    for (size_t i = 0; i < NAMED_MOST; i++) {
        if (question->named[i].path != NULL &&
            strcmp(question->named[i].path, path) == 0) {
            return question->named[i].first;
        }
    }
    return (double)NAN;
}

static void check_share(const struct question *question, const char *path, double first)
{
    double expected = prototype_share(question, path);
    bool is_named = !isnan(expected);
    int agrees =
        is_named ? fabs(first - expected) < TOLERANCE && first > question->least_named
                 : first < question->most_other;
    if (!agrees) {
        (void)fprintf(stderr, "%s: %s has %.3f, expected %.3f\n", question->name, path,
            first, is_named ? expected : question->most_other);
    }
    CU_ASSERT(agrees);
}

static void test_shares_agree_with_the_prototypes(void)
{
    for (size_t q = 0; q < sizeof questions / sizeof questions[0]; q++) {
        struct analysis analysis = {.result = NULL};
        analyse(&questions[q], 64, &analysis);
        size_t seen = 0;
        for (size_t i = 0; i < analysis.inputs.input_count; i++) {
            const char *path = analysis.inputs.words[i].label;
            struct fulcrum_sobol_index index =
                fulcrum_sobol_index(analysis.result->sobol, 0, i);
            check_share(&questions[q], path, index.first);
            seen += isnan(prototype_share(&questions[q], path)) ? 0 : 1;
        }
        CU_ASSERT(seen >= 2);
        clear(&analysis);
    }
}

static bool is_watts(const char *path)
{
    size_t length = strlen(path);
    return strncmp(path, "machine.", 8) == 0 && length > 2 &&
           strcmp(path + length - 2, "_w") == 0;
}

/* Watts do not change how fast it is, and a ratio of rates has none of them. */
static void test_watts_have_no_share_of_rates(void)
{
    struct analysis analysis = {.result = NULL};
    analyse(&questions[0], 4, &analysis);
    size_t watts = 0;
    double sum = 0.0;
    for (size_t i = 0; i < analysis.inputs.input_count; i++) {
        if (is_watts(analysis.inputs.words[i].label)) {
            sum += fulcrum_sobol_index(analysis.result->sobol, 0, i).total;
            watts++;
        }
    }
    CU_ASSERT(watts >= 5);
    CU_ASSERT_EQUAL(sum, 0.0);
    clear(&analysis);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_shares_agree_with_the_prototypes),
        SUITE_CASE(test_watts_have_no_share_of_rates),
    };
    return suite_run("which_number", cases, sizeof cases / sizeof cases[0], argc, argv);
}
