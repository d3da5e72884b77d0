/* test_predict_throughput.c - references of throughput, beside networks done by hand.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/validation.h"

#include <math.h>
#include <string.h>

#include "tests/support/hand_reference.h"
#include "tests/support/suite.h"

/* Of a rate that is simulated to 1 % and compared with another. */
#define RATE_ERROR 0.02

static struct fulcrum_parameter *parameter_of(
    struct fulcrum_calibration *calibration, const char *path)
{
    struct fulcrum_parameter *found = NULL;
    for (size_t i = 0; i < calibration->parameter_count; i++) {
        if (strcmp(calibration->parameters[i].path, path) == 0) {
            found = &calibration->parameters[i];
        }
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    return found;
}

static struct fulcrum_comparison predict(const struct fulcrum_reference *reference,
    const struct fulcrum_calibration *calibration)
{
    struct fulcrum_comparison out = {.count = 0};
    struct fulcrum_error err = {FULCRUM_OK, ""};
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict_reference(reference, calibration, &out, &err), FULCRUM_OK);
    CU_ASSERT_STRING_EQUAL(err.detail, "");
    return out;
}

/* A lone actor never waits: what a batch costs more is what its cycle lasts longer. */
static void test_a_lone_actor_pays_for_each_part_of_its_cycle(void)
{
    static const double actors[] = {1.0};
    static const char *const parts[] = {"workload.host.per_batch_s",
        "workload.host.per_item_s", "workload.network.per_batch_s",
        "workload.network.per_item_s"};
    struct fulcrum_reference *one = hand_reference(actors, 1, "steps_per_s");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        struct fulcrum_calibration *calibration = hand_priors();
        struct fulcrum_comparison before = predict(one, calibration);
        double cycle_s = 1.0 / before.items[0].predicted;
        parameter_of(calibration, parts[i])->value += cycle_s;
        struct fulcrum_comparison after = predict(one, calibration);
        suite_assert_close(
            parts[i], after.items[0].predicted, 0.5 / cycle_s, RATE_ERROR);
        fulcrum_comparison_clear(&before);
        fulcrum_comparison_clear(&after);
        fulcrum_calibration_free(calibration);
    }
    fulcrum_reference_free(one);
}

/* More actors than anything can serve: the rate is that of the slowest station. */
static void test_a_crowd_is_held_to_the_hosts_rate(void)
{
    static const double actors[] = {512.0};
    const double per_item_s = 1e-3;
    struct fulcrum_reference *crowd = hand_reference(actors, 1, "steps_per_s");
    struct fulcrum_calibration *calibration = hand_priors();
    parameter_of(calibration, "workload.host.per_item_s")->value = per_item_s;
    parameter_of(calibration, "workload.host.per_batch_s")->value = 1e-6;
    parameter_of(calibration, "workload.network.per_item_s")->value = 1e-8;
    parameter_of(calibration, "workload.network.per_batch_s")->value = 1e-6;
    struct fulcrum_comparison found = predict(crowd, calibration);
    suite_assert_close("rate", found.items[0].predicted, 1.0 / per_item_s, RATE_ERROR);
    fulcrum_comparison_clear(&found);
    fulcrum_calibration_free(calibration);
    fulcrum_reference_free(crowd);
}

/* What a fit has seen is marked, but for the points that it was told to leave out. */
static void test_points_that_a_fit_has_seen_are_marked(void)
{
    static const double actors[] = {1.0, 2.0, 4.0};
    struct fulcrum_reference *three = hand_reference(actors, 3, "steps_per_s");
    for (size_t i = 0; i < three->point_count; i++) {
        three->points[i].index = i;
    }
    struct fulcrum_calibration *calibration = hand_priors();
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_calibration_add_note(calibration, "fitted_to", "hand", NULL),
        FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_calibration_add_note(calibration, "held_out", "hand:1", NULL),
        FULCRUM_OK);
    struct fulcrum_comparison found = predict(three, calibration);
    CU_ASSERT_EQUAL_FATAL(found.count, 3);
    CU_ASSERT(found.items[0].is_fitted);
    CU_ASSERT(!found.items[1].is_fitted);
    CU_ASSERT(found.items[2].is_fitted);
    for (size_t i = 0; i < found.count; i++) {
        CU_ASSERT(found.items[i].lo <= found.items[i].predicted);
        CU_ASSERT(found.items[i].predicted <= found.items[i].hi);
    }
    fulcrum_comparison_clear(&found);
    fulcrum_calibration_free(calibration);
    fulcrum_reference_free(three);
}

static void test_a_point_that_cannot_run_is_named(void)
{
    static const double actors[] = {4.0};
    struct fulcrum_reference *one = hand_reference(actors, 1, "steps_per_s");
    struct fulcrum_calibration *calibration = hand_priors();
    struct fulcrum_comparison out = {.count = 0};
    struct fulcrum_error err = {FULCRUM_OK, ""};
    one->design.workload.batching.policy = FULCRUM_BATCH_FIXED;
    one->design.workload.batching.size = 8.0;
    CU_ASSERT_EQUAL(fulcrum_predict_reference(one, calibration, &out, &err),
        FULCRUM_ERR_INFEASIBLE);
    CU_ASSERT_STRING_NOT_EQUAL(err.detail, "");
    CU_ASSERT_EQUAL(out.count, 0);
    fulcrum_calibration_free(calibration);
    fulcrum_reference_free(one);
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_a_lone_actor_pays_for_each_part_of_its_cycle),
        SUITE_CASE(test_a_crowd_is_held_to_the_hosts_rate),
        SUITE_CASE(test_points_that_a_fit_has_seen_are_marked),
        SUITE_CASE(test_a_point_that_cannot_run_is_named),
    };
    return suite_run(
        "predict_throughput", cases, sizeof cases / sizeof cases[0], argc, argv);
}
