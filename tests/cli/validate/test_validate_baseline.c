/* test_validate_baseline.c - a run of `validate` against a stored one. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/validate/validate_job.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "cli/output/check_list.h"
#include "presets/load/reference_file.h"
#include "tests/support/suite.h"

#define REFERENCE "power-mlenergy-llama8b-h100"

/* Predicted once for all cases. */
struct fixture {
    struct fulcrum_reference *reference;
    struct fulcrum_validation set;
};

static struct fixture *fixture(void)
{
    static struct fixture one;
    return &one;
}

static int set_up(void)
{
    struct fixture *own = fixture();
    return fulcrum_reference_load(REFERENCE, &own->reference, NULL) == FULCRUM_OK &&
                   fulcrum_validate(own->reference, NULL, &own->set, NULL) == FULCRUM_OK
               ? 0
               : 1;
}

static void tear_down(void)
{
    fulcrum_validation_clear(&fixture()->set);
    fulcrum_reference_free(fixture()->reference);
}

enum { STORED_MOST = 64 };

/* The set as it is now, as a stored run would have it. */
static void store_now(struct fulcrum_stored_point points[STORED_MOST])
{
    const struct fulcrum_comparison *all = &fixture()->set.comparison;
    CU_ASSERT_FATAL(all->count < STORED_MOST);
    for (size_t i = 0; i < all->count; i++) {
        points[i] = (struct fulcrum_stored_point){.reference = REFERENCE,
            .calibration = "",
            .quantity = "gpu_w",
            .point = (double)all->items[i].point,
            .observed = fulcrum_relative_change_stored(all->items[i].observed),
            .predicted = fulcrum_relative_change_stored(all->items[i].predicted),
            .is_fitted = all->items[i].is_fitted};
    }
}

static size_t stored_count(void)
{
    return fixture()->set.comparison.count;
}

static const struct fulcrum_baseline_limits limits = {
    .moved_rel = 0.005, .loss_frac = 0.005};

/* How many checks fail; one of them must say `text`, unless it is NULL. */
static size_t failures(struct fulcrum_stored_point points[STORED_MOST],
    const struct fulcrum_baseline_limits *by, const char *text)
{
    const struct fulcrum_baseline_run baseline = {
        .count = stored_count(), .points = points};
    const struct fulcrum_validate_job job = {.count = 1, .sets = &fixture()->set};
    struct fulcrum_context context = {.quiet = true};
    struct fulcrum_baseline_run now = {.count = 0};
    ASSERT_OK(fulcrum_baseline_make(&job, false, &context, &now, NULL));
    struct fulcrum_check_list checks = {.count = 0};
    (void)fulcrum_baseline_check(
        &(struct fulcrum_baseline_pair){&baseline, &now}, &fixture()->set, by, &checks);
    fulcrum_baseline_clear(&now);
    size_t failed = fulcrum_check_list_count(&checks, FULCRUM_CHECK_FAILED);
    bool is_said = text == NULL;
    for (size_t i = 0; i < checks.count && text != NULL; i++) {
        is_said = is_said || strstr(checks.items[i].text, text) != NULL;
    }
    CU_ASSERT(is_said);
    fulcrum_check_list_clear(&checks);
    return failed;
}

static void test_the_same_run_passes(void)
{
    struct fulcrum_stored_point points[STORED_MOST];
    store_now(points);
    CU_ASSERT_EQUAL(failures(points, &limits, NULL), 0);
}

static void test_a_moved_prediction_fails(void)
{
    struct fulcrum_stored_point points[STORED_MOST];
    store_now(points);
    points[1].predicted *= 1.004;
    CU_ASSERT_EQUAL(failures(points, &limits, NULL), 0);
    points[1].predicted *= 1.004;
    CU_ASSERT_EQUAL(failures(points, &limits, "moved by"), 1);
    points[1].predicted = 0.0;
    CU_ASSERT(failures(points, &limits, ", 0 stored") >= 1);
}

/* A stored run has fewer digits than a prediction: those alone are compared. */
static void test_nothing_moves_from_what_was_just_stored(void)
{
    const struct fulcrum_baseline_limits none = {.moved_rel = 0.0, .loss_frac = 0.0};
    struct fulcrum_stored_point points[STORED_MOST];
    store_now(points);
    CU_ASSERT_EQUAL(failures(points, &none, NULL), 0);
    points[1].predicted *= 1.00001;
    CU_ASSERT(failures(points, &none, "moved by") >= 1);
}

static void test_numbers_move_by_shares_of_what_is_stored(void)
{
    const double unknown = (double)NAN;
    assert_close("up", fulcrum_relative_change(200.0, 201.0), 0.005, 1e-12);
    assert_close("down", fulcrum_relative_change(-200.0, -202.0), 0.01, 1e-12);
    CU_ASSERT_EQUAL(fulcrum_relative_change(0.0, 0.0), 0.0);
    CU_ASSERT(isinf(fulcrum_relative_change(0.0, 1e-300)));
    CU_ASSERT_EQUAL(fulcrum_relative_change(unknown, unknown), 0.0);
    CU_ASSERT(isinf(fulcrum_relative_change(unknown, 1.0)));
    CU_ASSERT(isinf(fulcrum_relative_change(1.0, unknown)));
    CU_ASSERT_EQUAL(fulcrum_relative_change_stored(1.23456789), 1.23457);
    CU_ASSERT(isnan(fulcrum_relative_change_stored(unknown)));
    struct fulcrum_check check = {.outcome = FULCRUM_CHECK_FAILED};
    fulcrum_relative_change_say(&check, "gpu_w ", 200.0, 190.0);
    CU_ASSERT_STRING_EQUAL(
        check.text, "gpu_w is predicted as 190, 200 stored: moved by -5 %");
    fulcrum_relative_change_say(&check, "", 0.0, 190.0);
    CU_ASSERT_STRING_EQUAL(check.text, "is predicted as 190, 0 stored");
}

static void test_other_data_fail(void)
{
    struct fulcrum_stored_point points[STORED_MOST];
    store_now(points);
    points[1].observed *= 1.1;
    points[3].is_fitted = !points[3].is_fitted;
    points[5].point = 4000.0;
    CU_ASSERT(failures(points, &limits, "was observed as") >= 3);
    CU_ASSERT(failures(points, &limits, "fitted stored") >= 3);
    CU_ASSERT(failures(points, &limits, "not predicted any more") >= 3);
}

/* With room to move, what counts is whether the set has become worse. */
static void test_a_worse_set_fails(void)
{
    struct fulcrum_stored_point points[STORED_MOST];
    store_now(points);
    const struct fulcrum_baseline_limits loose = {.moved_rel = 1.0, .loss_frac = 0.005};
    for (size_t i = 0; i < stored_count(); i++) {
        points[i].predicted = points[i].observed;
    }
    CU_ASSERT_EQUAL(failures(points, &loose, "worse by more than"), 1);
    for (size_t i = 0; i < stored_count(); i++) {
        points[i].predicted = 1.1 * points[i].observed;
    }
    CU_ASSERT_EQUAL(failures(points, &loose, NULL), 0);
}

/* Of a run over everything, what is stored must still be there. */
static void test_a_set_that_is_gone_fails(void)
{
    struct fulcrum_stored_point points[STORED_MOST];
    struct fulcrum_baseline_run baseline = {.count = stored_count(), .points = points};
    store_now(points);
    struct fulcrum_validate_job job = {.count = 1, .sets = &fixture()->set};
    struct fulcrum_check_list checks = {.count = 0};
    fulcrum_baseline_check_sets(&baseline, &job, 1, &checks);
    CU_ASSERT_EQUAL(checks.count, 0);
    baseline.points[0].calibration = "another";
    baseline.points[2].reference = "another";
    fulcrum_baseline_check_sets(&baseline, &job, 1, &checks);
    CU_ASSERT_EQUAL(fulcrum_check_list_count(&checks, FULCRUM_CHECK_FAILED), 2);
    fulcrum_check_list_clear(&checks);
}

/* Of a run over some references, those under another calibration are missed. */
static void test_a_calibration_of_another_name_fails(void)
{
    struct fulcrum_stored_point points[STORED_MOST];
    struct fulcrum_baseline_run baseline = {.count = stored_count(), .points = points};
    store_now(points);
    struct fulcrum_validate_job job = {.count = 1, .sets = &fixture()->set};
    struct fulcrum_check_list checks = {.count = 0};
    baseline.points[2].reference = "another";
    fulcrum_baseline_check_sets(&baseline, &job, 0, &checks);
    CU_ASSERT_EQUAL(checks.count, 0);
    for (size_t i = 0; i < baseline.count; i++) {
        baseline.points[i].calibration = "another";
    }
    fulcrum_baseline_check_sets(&baseline, &job, 0, &checks);
    CU_ASSERT(fulcrum_check_list_count(&checks, FULCRUM_CHECK_FAILED) >= 1);
    CU_ASSERT_STRING_EQUAL(checks.items[0].suite, REFERENCE);
    fulcrum_check_list_clear(&checks);
}

enum { TEXT_SIZE = 480 };

/* A design in few words. */
static struct fulcrum_stored_design design(double steps_per_s, double gpu_w)
{
    struct fulcrum_stored_design out = {
        .machine = "box", .workload = "game", .actor_count = 16.0};
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        out.value[i] = (double)NAN;
    }
    out.value[FULCRUM_OUTPUT_steps_per_s] = steps_per_s;
    out.value[FULCRUM_OUTPUT_gpu_w] = gpu_w;
    return out;
}

/* Whether a stored design passes beside one of now; what is said goes to `text`. */
static int passes(struct fulcrum_stored_design stored, struct fulcrum_stored_design now,
    char text[TEXT_SIZE])
{
    const struct fulcrum_baseline_run from = {.design_count = 1, .designs = &stored};
    const struct fulcrum_baseline_run to = {.design_count = 1, .designs = &now};
    struct fulcrum_check_list checks = {.count = 0};
    fulcrum_baseline_check_designs(
        &(struct fulcrum_baseline_pair){&from, &to}, 0.005, &checks);
    CU_ASSERT_EQUAL_FATAL(checks.count, 1);
    int outcome = checks.items[0].outcome == FULCRUM_CHECK_PASSED;
    (void)snprintf(text, TEXT_SIZE, "%s", checks.items[0].text);
    fulcrum_check_list_clear(&checks);
    return outcome;
}

static void test_designs_that_move_are_named(void)
{
    const double none = (double)NAN;
    char text[TEXT_SIZE];
    CU_ASSERT(passes(design(1000.0, none), design(1004.0, none), text));
    CU_ASSERT(!passes(design(1000.0, none), design(1006.0, none), text));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "steps_per_s is predicted as 1006"));
    CU_ASSERT(!passes(design(1000.0, 100.0), design(1010.0, 120.0), text));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "gpu_w"));
    CU_ASSERT(!passes(design(1000.0, 100.0), design(1000.0, none), text));
    CU_ASSERT(!passes(design(1000.0, none), design(1000.0, 100.0), text));
    struct fulcrum_stored_design other = design(1000.0, none);
    other.actor_count = 17.0;
    CU_ASSERT(!passes(design(1000.0, none), other, text));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "not predicted any more"));
}

/* Every machine that a workload with a calibration can run on is there. */
static void test_presets_are_predicted(void)
{
    struct fulcrum_context context = {.quiet = 1};
    const struct fulcrum_validate_job job = {.count = 0};
    struct fulcrum_baseline_run made = {.count = 0};
    ASSERT_OK(fulcrum_baseline_make(&job, true, &context, &made, NULL));
    CU_ASSERT(made.design_count >= 20);
    for (size_t i = 0; i < made.design_count; i++) {
        CU_ASSERT(made.designs[i].value[FULCRUM_OUTPUT_steps_per_s] > 0.0);
        CU_ASSERT(made.designs[i].machine[0] != '\0');
    }
    fulcrum_baseline_clear(&made);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_the_same_run_passes),
        SUITE_CASE(test_a_moved_prediction_fails),
        SUITE_CASE(test_nothing_moves_from_what_was_just_stored),
        SUITE_CASE(test_numbers_move_by_shares_of_what_is_stored),
        SUITE_CASE(test_other_data_fail),
        SUITE_CASE(test_a_worse_set_fails),
        SUITE_CASE(test_a_set_that_is_gone_fails),
        SUITE_CASE(test_a_calibration_of_another_name_fails),
        SUITE_CASE(test_designs_that_move_are_named),
        SUITE_CASE(test_presets_are_predicted),
    };
    if (set_up() != 0) {
        (void)fprintf(stderr, "%s cannot be predicted\n", REFERENCE);
        return 1;
    }
    int code = suite_run("validate_baseline", cases, LENGTH(cases), argc, argv);
    tear_down();
    return code;
}
