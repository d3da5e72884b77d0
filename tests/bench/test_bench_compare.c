/* test_bench_compare.c - errors counted right, drawn again alike, printed to replay. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/compare.h"
#include "presets/load/network_line.h"
#include "tests/support/suite.h"

/* Errors of +1, -2, ... +99, -100 %: quantiles and means are known. */
enum { HUNDRED = 100 };

static void fill_hundred(struct fulcrum_comparison *out)
{
    for (size_t i = 0; i < HUNDRED; i++) {
        double error = 0.01 * (double)(i + 1);
        out[i] = (struct fulcrum_comparison){.state = FULCRUM_COMPARISON_DONE,
            .index = i,
            .error_rel = i % 2 == 0 ? error : -error,
            .told_rel = 0.45,
            .judge_rel = 0.05,
            .batch_error_rel = -0.5,
            .cpu_busy_error = i % 2 == 0 ? 0.25 : -0.25,
            .flags = i < 20 ? 0U : 1U};
    }
}

TEST(test_summary_of_known_errors)
{
    struct fulcrum_comparison errors[HUNDRED];
    struct fulcrum_comparison_summary all;
    fill_hundred(errors);
    ASSERT_OK(fulcrum_comparison_summarise(
        &all, errors, HUNDRED, FULCRUM_COMPARISON_ALL, NULL));
    CU_ASSERT_EQUAL(all.count, HUNDRED);
    assert_close("mean", all.mean_rel, 0.505, 1e-12);
    assert_close("bias", all.bias_rel, -0.005, 1e-9);
    assert_close("p50", all.p50_rel, 0.505, 1e-12);
    assert_close("p95", all.p95_rel, 0.9505, 1e-12);
    assert_close("p99", all.p99_rel, 0.9901, 1e-12);
    assert_close("max", all.max_rel, 1.0, 1e-12);
    assert_close("flagged", all.flagged_frac, 0.8, 1e-12);
    assert_close("within", all.within_frac, 0.5, 1e-12);
    assert_close("over told", all.told_ratio_max, 2.0, 1e-12);
    assert_close("batch", all.batch_rel, 0.5, 1e-12);
    assert_close("cpu", all.cpu_busy, 0.25, 1e-12);
    assert_close("judge", all.judge_rel, 0.05, 1e-12);
}

TEST(test_only_what_was_compared_and_asked_for_counts)
{
    struct fulcrum_comparison errors[HUNDRED];
    struct fulcrum_comparison_summary unflagged;
    fill_hundred(errors);
    errors[0].state = FULCRUM_COMPARISON_REFUSED;
    errors[19].state = FULCRUM_COMPARISON_NOT_RUN;
    ASSERT_OK(fulcrum_comparison_summarise(
        &unflagged, errors, HUNDRED, FULCRUM_COMPARISON_UNFLAGGED, NULL));
    CU_ASSERT_EQUAL(unflagged.count, 18);
    assert_close("max", unflagged.max_rel, 0.19, 1e-12);
    CU_ASSERT_EQUAL(
        fulcrum_comparison_count(errors, HUNDRED, FULCRUM_COMPARISON_REFUSED), 1);
    CU_ASSERT_EQUAL(fulcrum_comparison_worst(errors, HUNDRED, 3), 3);
    CU_ASSERT_EQUAL(errors[0].index, 99);
    CU_ASSERT_EQUAL(errors[1].index, 98);
    CU_ASSERT_EQUAL(errors[97].index, 1);
    CU_ASSERT_EQUAL(fulcrum_comparison_worst(errors, HUNDRED, 1000), 98);
}

/* How many limits of a target are met. */
static size_t count_met(const struct fulcrum_target *target,
    const struct fulcrum_comparison_summary *summaries)
{
    struct fulcrum_verdict verdicts[FULCRUM_TARGET_LIMITS_MOST];
    size_t count = fulcrum_target_judge(target, verdicts, summaries);
    size_t met = 0;
    CU_ASSERT(count > 0);
    for (size_t i = 0; i < count; i++) {
        met += verdicts[i].is_met != 0;
    }
    return met;
}

TEST(test_an_empty_set_misses_every_target)
{
    struct fulcrum_comparison_summary summaries[2];
    size_t targets = 0;
    ASSERT_OK(fulcrum_comparison_summarise(
        &summaries[0], NULL, 0, FULCRUM_COMPARISON_ALL, NULL));
    CU_ASSERT(isnan(summaries[0].mean_rel) && isnan(summaries[0].p99_rel));
    CU_ASSERT(isnan(summaries[0].within_frac));
    summaries[1] = summaries[0];
    const struct fulcrum_target *target = fulcrum_targets(&targets);
    for (size_t i = 0; i < targets; i++) {
        CU_ASSERT_EQUAL(count_met(&target[i], summaries), 0);
    }
}

/* One limit of each kind, met at the limit and missed a little beyond it. */
TEST(test_limits_are_met_up_to_their_value)
{
    const struct fulcrum_target target = {.limits = {
                                              {FULCRUM_TARGET_MEAN, 0, 0.01},
                                              {FULCRUM_TARGET_MAX, 1, 0.02},
                                              {FULCRUM_TARGET_WITHIN, 0, 0.9},
                                          }};
    struct fulcrum_comparison_summary summaries[2] = {
        {.mean_rel = 0.01, .max_rel = 1.0, .within_frac = 0.9},
        {.mean_rel = 1.0, .max_rel = 0.02}};
    struct fulcrum_verdict verdicts[FULCRUM_TARGET_LIMITS_MOST];
    CU_ASSERT_EQUAL(fulcrum_target_judge(&target, verdicts, summaries), 3);
    CU_ASSERT(verdicts[0].is_met && verdicts[1].is_met && verdicts[2].is_met);
    CU_ASSERT_STRING_EQUAL(verdicts[1].quantity, "max");
    summaries[0].mean_rel = 0.0101;
    summaries[1].max_rel = 0.0201;
    summaries[0].within_frac = 0.89;
    (void)fulcrum_target_judge(&target, verdicts, summaries);
    CU_ASSERT(!verdicts[0].is_met && !verdicts[1].is_met && !verdicts[2].is_met);
}

TEST(test_targets_are_found_by_what_they_are_about)
{
    CU_ASSERT_PTR_NULL(fulcrum_target_find(
        FULCRUM_DOMAIN_CORNERS, FULCRUM_METHOD_FAST, FULCRUM_METHOD_SIMULATE));
    const struct fulcrum_target *target = fulcrum_target_find(
        FULCRUM_DOMAIN_GREEDY, FULCRUM_METHOD_FAST, FULCRUM_METHOD_SIMULATE);
    CU_ASSERT(target != NULL && target->networks >= 1000);
}

/* A part of a series gives the same as the whole: nothing depends on what was before.
 */
TEST(test_comparisons_do_not_depend_on_each_other)
{
    enum { COUNT = 6 };
    const struct fulcrum_comparison_plan plan = {.domain = FULCRUM_DOMAIN_GREEDY,
        .seed = 5,
        .method = FULCRUM_METHOD_SIMULATE,
        .half_width_rel = 0.1,
        .judge = FULCRUM_METHOD_SIMULATE,
        .judge_half_width_rel = 0.1};
    struct fulcrum_comparison whole[COUNT];
    struct fulcrum_comparison part[2];
    fulcrum_compare(&plan, whole, 0, COUNT, NULL);
    fulcrum_compare(&plan, part, 3, 2, NULL);
    for (size_t i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(part[i].state, FULCRUM_COMPARISON_DONE);
        CU_ASSERT_EQUAL(part[i].index, 3 + i);
        CU_ASSERT_EQUAL(part[i].error_rel, whole[3 + i].error_rel);
    }
    /* The judge draws numbers of its own, so that an error can show. */
    CU_ASSERT(fabs(whole[0].error_rel) > 0.0);
    CU_ASSERT(whole[0].told_rel > 0.0 && whole[0].judge_rel > 0.0);
}

TEST(test_what_cannot_be_compared_says_why)
{
    volatile sig_atomic_t stop = 0;
    struct fulcrum_comparison out[2];
    struct fulcrum_comparison_plan plan = {.domain = FULCRUM_DOMAIN_FIXED,
        .seed = 1,
        .method = FULCRUM_METHOD_CHAIN,
        .judge = FULCRUM_METHOD_SIMULATE,
        .judge_half_width_rel = 0.1};
    fulcrum_compare(&plan, out, 0, 1, &stop);
    CU_ASSERT_EQUAL(out[0].state, FULCRUM_COMPARISON_REFUSED);
    plan.method = FULCRUM_METHOD_FAST;
    plan.judge = FULCRUM_METHOD_CHAIN;
    fulcrum_compare(&plan, out, 0, 1, &stop);
    CU_ASSERT_EQUAL(out[0].state, FULCRUM_COMPARISON_UNJUDGED);
    stop = 1;
    fulcrum_compare(&plan, out, 0, 2, &stop);
    CU_ASSERT_EQUAL(out[1].state, FULCRUM_COMPARISON_NOT_RUN);
}

static char *line_of(const struct fulcrum_network *network)
{
    char *text = NULL;
    ASSERT_OK(fulcrum_network_line_text(network, &text, NULL));
    return text;
}

/* Printed, read and printed again: the same bytes, so that no digit was lost. */
static void check_replay(const struct fulcrum_network *network)
{
    struct fulcrum_network_line line;
    char *text = line_of(network);
    CU_ASSERT_PTR_NULL(strchr(text, '\n'));
    ASSERT_OK(fulcrum_network_line_parse(&line, "line 1", text, strlen(text), NULL));
    (void)snprintf(line.network.name, sizeof line.network.name, "%.60s", line.name);
    char *again = line_of(&line.network);
    CU_ASSERT_STRING_EQUAL(text, again);
    free(again);
    free(text);
    fulcrum_network_line_clear(&line);
}

TEST(test_every_domain_can_be_replayed)
{
    for (int domain = 0; domain < (int)FULCRUM_DOMAIN_COUNT; domain++) {
        for (size_t i = 0; i < 20; i++) {
            struct fulcrum_network network =
                fulcrum_random_network((enum fulcrum_domain)domain, 3, i);
            check_replay(&network);
        }
    }
}
