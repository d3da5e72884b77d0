/* test_which_number.c - which of the paper's uncertain numbers matter, and how much. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The prototype of the model found first-order shares for three ratios of the paper
 * (one V100 beside 40 threads, priors alone) by simulating random draws; the command
 * finds them anew by the fast solver and another estimator. They must agree within
 * 0.08: what 512 rows leave open is 0.02, the prototype's own noise was not told. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "model/result.h"
#include "tests/support/reply.h"
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

/* The rows of the command's answer to one question; the caller frees the result. */
static const struct fulcrum_table *analyse(
    const struct question *question, const char *samples, struct fulcrum_result **out)
{
    char line[400];
    (void)snprintf(line, sizeof line,
        "sensitivity -m dgx-1-inci2020 -w r2d2-atari --actors %.0f --base %s --metric "
        "%s "
        "-n %s%s%s",
        question->actor_count, question->base, question->metric, samples,
        question->set != NULL ? " --set " : "",
        question->set != NULL ? question->set : "");
    *out = reply_to(line);
    return fulcrum_result_table_of(*out, "rows");
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

TEST(test_shares_agree_with_the_prototypes)
{
    for (size_t q = 0; q < LENGTH(questions); q++) {
        struct fulcrum_result *result = NULL;
        const struct fulcrum_table *rows = analyse(&questions[q], "512", &result);
        size_t seen = 0;
        for (size_t i = 0; i < fulcrum_table_rows(rows); i++) {
            const char *path = fulcrum_table_at(rows, i, "field").text;
            check_share(
                &questions[q], path, fulcrum_table_at(rows, i, "first_frac").number);
            seen += isnan(prototype_share(&questions[q], path)) ? 0 : 1;
        }
        CU_ASSERT(seen >= 2);
        fulcrum_result_free(result);
    }
}

static bool is_watts(const char *path)
{
    size_t length = strlen(path);
    return strncmp(path, "machine.", 8) == 0 && length > 2 &&
           strcmp(path + length - 2, "_w") == 0;
}

/* Watts do not change how fast it is, and a ratio of rates has none of them. */
TEST(test_watts_have_no_share_of_rates)
{
    struct fulcrum_result *result = NULL;
    const struct fulcrum_table *rows = analyse(&questions[0], "32", &result);
    size_t watts = 0;
    double sum = 0.0;
    for (size_t i = 0; i < fulcrum_table_rows(rows); i++) {
        if (is_watts(fulcrum_table_at(rows, i, "field").text)) {
            sum += fulcrum_table_at(rows, i, "total_frac").number;
            watts++;
        }
    }
    CU_ASSERT(watts >= 5);
    CU_ASSERT_EQUAL(sum, 0.0);
    fulcrum_result_free(result);
}
