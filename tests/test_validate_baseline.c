/* test_validate_baseline.c - a run of `validate` against a stored one. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/validate_baseline.h"

#include <string.h>

#include "presets/reference_load.h"
#include "tests/suite.h"

#define REFERENCE "power-mlenergy-llama8b-h100"

static struct fulcrum_reference *reference;
static struct fulcrum_validation set;

static int set_up(void)
{
    return fulcrum_reference_load(REFERENCE, &reference, NULL) == FULCRUM_OK &&
                   fulcrum_validate(reference, NULL, &set, NULL) == FULCRUM_OK
               ? 0
               : 1;
}

static void tear_down(void)
{
    fulcrum_validation_clear(&set);
    fulcrum_reference_free(reference);
}

enum { STORED_MOST = 64 };

/* The set as it is now, as a stored run would have it. */
static struct fulcrum_baseline_run stored_now(struct fulcrum_stored_point *points)
{
    const struct fulcrum_comparison *all = &set.comparison;
    CU_ASSERT_FATAL(all->count < STORED_MOST);
    for (size_t i = 0; i < all->count; i++) {
        points[i] = (struct fulcrum_stored_point){.reference = REFERENCE,
            .quantity = "gpu_w",
            .point = (double)all->items[i].point,
            .observed = all->items[i].observed,
            .predicted = all->items[i].predicted,
            .is_fitted = all->items[i].is_fitted};
    }
    return (struct fulcrum_baseline_run){.count = all->count, .points = points};
}

static const struct fulcrum_baseline_limits limits = {
    .moved_rel = 0.005, .loss_frac = 0.005};

/* How many checks fail, and whether one of them says `text`. */
static size_t failures(const struct fulcrum_baseline_run *baseline,
    const struct fulcrum_baseline_limits *by, const char *text)
{
    struct fulcrum_check_list checks = {.count = 0};
    (void)fulcrum_baseline_check(baseline, &set, by, &checks);
    size_t failed = fulcrum_check_list_count(&checks, FULCRUM_CHECK_FAILED);
    int is_said = text == NULL;
    for (size_t i = 0; i < checks.count; i++) {
        is_said = is_said || strstr(checks.items[i].text, text) != NULL;
    }
    CU_ASSERT(is_said);
    fulcrum_check_list_clear(&checks);
    return failed;
}

static void test_the_same_run_passes(void)
{
    struct fulcrum_stored_point points[STORED_MOST];
    struct fulcrum_baseline_run baseline = stored_now(points);
    CU_ASSERT_EQUAL(failures(&baseline, &limits, NULL), 0);
}

static void test_a_moved_prediction_fails(void)
{
    struct fulcrum_stored_point points[STORED_MOST];
    struct fulcrum_baseline_run baseline = stored_now(points);
    points[1].predicted *= 1.004;
    CU_ASSERT_EQUAL(failures(&baseline, &limits, NULL), 0);
    points[1].predicted *= 1.004;
    CU_ASSERT_EQUAL(failures(&baseline, &limits, "moved by"), 1);
    points[1].predicted = 0.0;
    CU_ASSERT(failures(&baseline, &limits, "moved by") >= 1);
}

static void test_other_data_fail(void)
{
    struct fulcrum_stored_point points[STORED_MOST];
    struct fulcrum_baseline_run baseline = stored_now(points);
    points[1].observed *= 1.1;
    points[3].is_fitted = !points[3].is_fitted;
    points[5].point = 4000.0;
    CU_ASSERT(failures(&baseline, &limits, "was observed as") >= 3);
    CU_ASSERT(failures(&baseline, &limits, "fitted stored") >= 3);
    CU_ASSERT(failures(&baseline, &limits, "not predicted any more") >= 3);
}

/* With room to move, what counts is whether the set has become worse. */
static void test_a_worse_set_fails(void)
{
    struct fulcrum_stored_point points[STORED_MOST];
    struct fulcrum_baseline_run baseline = stored_now(points);
    const struct fulcrum_baseline_limits loose = {.moved_rel = 1.0, .loss_frac = 0.005};
    for (size_t i = 0; i < baseline.count; i++) {
        points[i].predicted = points[i].observed;
    }
    CU_ASSERT_EQUAL(failures(&baseline, &loose, "worse by more than"), 1);
    for (size_t i = 0; i < baseline.count; i++) {
        points[i].predicted = 1.1 * points[i].observed;
    }
    CU_ASSERT_EQUAL(failures(&baseline, &loose, NULL), 0);
}

/* Of a run over everything, what is stored must still be there. */
static void test_a_set_that_is_gone_fails(void)
{
    struct fulcrum_stored_point points[STORED_MOST];
    struct fulcrum_baseline_run baseline = stored_now(points);
    struct fulcrum_validate_job job = {.count = 1, .sets = &set};
    struct fulcrum_check_list checks = {.count = 0};
    fulcrum_baseline_check_sets(&baseline, &job, &checks);
    CU_ASSERT_EQUAL(checks.count, 0);
    (void)strcpy(points[0].calibration, "another");
    (void)strcpy(points[2].reference, "another");
    fulcrum_baseline_check_sets(&baseline, &job, &checks);
    CU_ASSERT_EQUAL(fulcrum_check_list_count(&checks, FULCRUM_CHECK_FAILED), 2);
    fulcrum_check_list_clear(&checks);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_the_same_run_passes),
        SUITE_CASE(test_a_moved_prediction_fails),
        SUITE_CASE(test_other_data_fail),
        SUITE_CASE(test_a_worse_set_fails),
        SUITE_CASE(test_a_set_that_is_gone_fails),
    };
    if (set_up() != 0) {
        (void)fprintf(stderr, "%s cannot be predicted\n", REFERENCE);
        return 1;
    }
    int code = suite_run(
        "validate_baseline", cases, sizeof cases / sizeof cases[0], argc, argv);
    tear_down();
    return code;
}
