/* test_bench_frameworks.c - an environment that was left out is found again, and the
 * published ones as far off as they were found to be. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "bench/frameworks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/reference/throughput.h"
#include "presets/load/preset.h"
#include "presets/load/reference_file.h"
#include "tests/support/suite.h"

static const struct {
    const char *reference;
    const char *prior;
} environments[] = {
    {"sf-fig3-10-core-atari", "sf-10-core-atari-prior"},
    {"sf-fig3-10-core-vizdoom", "sf-10-core-vizdoom-prior"},
    {"sf-fig3-10-core-dmlab", "sf-10-core-dmlab-prior"},
};
enum { ENVIRONMENTS = sizeof environments / sizeof environments[0], POINTS = 5 };

struct loaded {
    struct fulcrum_left_out_plan plan;
    struct fulcrum_reference *references[ENVIRONMENTS];
    struct fulcrum_calibration *priors[ENVIRONMENTS];
    struct fulcrum_left_out_environment all[ENVIRONMENTS];
};

static void load(struct loaded *out)
{
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        CU_ASSERT_EQUAL_FATAL(fulcrum_reference_load(
                                  environments[i].reference, &out->references[i], NULL),
            FULCRUM_OK);
        CU_ASSERT_EQUAL_FATAL(
            fulcrum_reference_keep_series(out->references[i], "SEED RL V-trace", NULL),
            FULCRUM_OK);
        CU_ASSERT_EQUAL_FATAL(
            fulcrum_calibration_load(environments[i].prior, &out->priors[i], NULL),
            FULCRUM_OK);
        CU_ASSERT_EQUAL_FATAL(out->references[i]->point_count, POINTS);
        out->all[i] =
            (struct fulcrum_left_out_environment){out->references[i], out->priors[i]};
    }
}

/* Borrowed, until the next call. */
static const struct fulcrum_left_out_plan *plan_of(
    struct loaded *loaded, size_t left_out)
{
    loaded->plan = (struct fulcrum_left_out_plan){loaded->all, ENVIRONMENTS, left_out};
    return &loaded->plan;
}

static void unload(struct loaded *loaded)
{
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        fulcrum_reference_free(loaded->references[i]);
        fulcrum_calibration_free(loaded->priors[i]);
    }
}

/* In place of what was published: what the network makes of these parameters. */
static void make_up(struct fulcrum_reference *reference,
    const struct fulcrum_calibration *prior, const double shared[3])
{
    static const char *const paths[] = {"workload.step.mean_s",
        "workload.network.per_batch_s", "workload.network.per_item_s",
        "workload.host.delay_s"};
    const struct fulcrum_reference *references[] = {reference};
    const struct fulcrum_throughput_plan plan = {.references = references,
        .reference_count = 1,
        .calibrations = &prior,
        .calibration_count = 1,
        .paths = paths,
        .path_count = 4,
        .thread_count = 1};
    const double parameter[] = {fulcrum_calibration_parameter(prior, paths[0])->value,
        shared[0], shared[1], shared[2]};
    struct fulcrum_throughput *model = NULL;
    double rate[POINTS];
    CU_ASSERT_EQUAL_FATAL(fulcrum_throughput_new(&plan, &model, NULL), FULCRUM_OK);
    CU_ASSERT_FATAL(fulcrum_throughput_forward(
        fulcrum_throughput_contexts(model)[0], parameter, rate));
    for (size_t i = 0; i < POINTS; i++) {
        reference->points[i].observations[0].value = rate[i];
    }
    fulcrum_throughput_free(model);
}

static void test_an_environment_follows_from_the_others(void)
{
    static const double shared[] = {2e-3, 2.4e-4, 3e-4};
    struct loaded loaded;
    load(&loaded);
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        make_up(loaded.references[i], loaded.priors[i], shared);
    }
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        double predicted[POINTS];
        CU_ASSERT_EQUAL(
            fulcrum_left_out_network(plan_of(&loaded, i), predicted, NULL), FULCRUM_OK);
        for (size_t k = 0; k < POINTS; k++) {
            /* Priors pull a little, simulations correct the fast method. */
            suite_assert_close(environments[i].reference, predicted[k],
                loaded.references[i]->points[k].observations[0].value, 0.03);
        }
    }
    unload(&loaded);
}

/* Without ceilings one curve stands for all environments. */
static void test_a_formula_follows_from_the_others(void)
{
    struct loaded loaded;
    load(&loaded);
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        for (size_t k = 0; k < POINTS; k++) {
            double n = loaded.references[i]->points[k].settings[0].number;
            loaded.references[i]->points[k].observations[0].value =
                n / (0.005 + 1.5e-4 * n);
        }
    }
    double predicted[POINTS];
    CU_ASSERT_EQUAL(fulcrum_left_out_formula(plan_of(&loaded, 1),
                        FULCRUM_LEFT_OUT_HYPERBOLA, predicted, NULL),
        FULCRUM_OK);
    for (size_t k = 0; k < POINTS; k++) {
        suite_assert_close("hyperbola", predicted[k],
            loaded.references[1]->points[k].observations[0].value, 1e-3);
    }
    unload(&loaded);
}

static void test_priors_that_lack_something_are_refused(void)
{
    struct loaded loaded;
    double predicted[POINTS];
    struct fulcrum_error err = {FULCRUM_OK, ""};
    load(&loaded);
    loaded.priors[0]->quantity_count = 0;
    CU_ASSERT_EQUAL(fulcrum_left_out_formula(
                        plan_of(&loaded, 1), FULCRUM_LEFT_OUT_CAPPED, predicted, &err),
        FULCRUM_ERR_MISSING);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "simulation_ceiling_per_s"));
    loaded.priors[0]->parameter_count = 0;
    CU_ASSERT_EQUAL(fulcrum_left_out_network(plan_of(&loaded, 1), predicted, &err),
        FULCRUM_ERR_MISSING);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "workload.step.mean_s"));
    unload(&loaded);
}

static const struct fulcrum_framework_row *find(
    const struct fulcrum_framework_rows *rows, const char *left_out, const char *series)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct fulcrum_framework_row *row = &rows->items[i];
        if (strcmp(row->left_out, left_out) == 0 && strcmp(row->series, series) == 0 &&
            strcmp(row->reference, "all") == 0) {
            return row;
        }
    }
    return NULL;
}

/* The promise for SEED RL, and that knowing the parts pays where they change. */
static void test_published_frameworks_are_met_as_they_were_found_to(void)
{
    struct fulcrum_framework_rows rows = {.count = 0};
    struct fulcrum_error err = {FULCRUM_OK, ""};
    CU_ASSERT_EQUAL_FATAL(fulcrum_frameworks_run(&rows, &err), FULCRUM_OK);
    CU_ASSERT_EQUAL(rows.count, 5 * 4 + 4);
    const struct fulcrum_framework_row *counts =
        find(&rows, "counts", "SEED RL V-trace");
    const struct fulcrum_framework_row *left =
        find(&rows, "environment", "SEED RL V-trace");
    if (counts == NULL || left == NULL) {
        CU_FAIL("SEED RL is not among the rows");
        fulcrum_framework_rows_clear(&rows);
        return;
    }
    const struct fulcrum_framework_errors *network =
        &counts->errors[FULCRUM_FRAMEWORK_NETWORK];
    CU_ASSERT_EQUAL(network->count, 6);
    CU_ASSERT(network->mape_frac <= 0.045 && network->max_frac <= 0.12);
    network = &left->errors[FULCRUM_FRAMEWORK_NETWORK];
    CU_ASSERT_EQUAL(network->count, 15);
    CU_ASSERT(network->mape_frac <= 0.10 && network->max_frac <= 0.33);
    CU_ASSERT(left->errors[FULCRUM_FRAMEWORK_CAPPED_HYPERBOLA].mape_frac >
              network->mape_frac);
    CU_ASSERT(
        left->errors[FULCRUM_FRAMEWORK_HYPERBOLA].mape_frac > 3.0 * network->mape_frac);
    (void)fprintf(stderr, "left out: %.2f / %.1f %%, capped %.2f / %.1f %%\n",
        100.0 * network->mape_frac, 100.0 * network->max_frac,
        100.0 * left->errors[FULCRUM_FRAMEWORK_CAPPED_HYPERBOLA].mape_frac,
        100.0 * left->errors[FULCRUM_FRAMEWORK_CAPPED_HYPERBOLA].max_frac);
    fulcrum_framework_rows_clear(&rows);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_an_environment_follows_from_the_others),
        SUITE_CASE(test_a_formula_follows_from_the_others),
        SUITE_CASE(test_priors_that_lack_something_are_refused),
        SUITE_CASE(test_published_frameworks_are_met_as_they_were_found_to),
    };
    /* The data of this tree, not what is installed; CTest runs in its root. */
    if (setenv("FULCRUM_PRESETS", "presets", 1) != 0) {
        return EXIT_FAILURE;
    }
    return suite_run(
        "bench_frameworks", cases, sizeof cases / sizeof cases[0], argc, argv);
}
