/* test_predict_memory.c - gains of memory systems. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/predictors.h"

#include <math.h>
#include <stdio.h>

#include "presets/load/reference_file.h"
#include "tests/support/expect.h"
#include "tests/support/suite.h"

enum { POINTS = 3, SETTINGS = 2 };

/* One series in memory: a change and one quantity a point, nothing to free. */
struct made {
    struct fulcrum_reference reference;
    struct fulcrum_reference_point points[POINTS];
    struct fulcrum_reference_setting settings[POINTS][SETTINGS];
    struct fulcrum_observation observed[POINTS];
};

struct given {
    double cache_rel;
    double bandwidth_rel;
    const char *quantity;
    double value;
};

static void make(struct made *made, const struct given *given, size_t count)
{
    *made = (struct made){.reference = {.name = "made",
                              .predictor = FULCRUM_PREDICTOR_MEMORY_GAIN,
                              .points = made->points,
                              .point_count = count}};
    for (size_t i = 0; i < count; i++) {
        made->settings[i][0] =
            (struct fulcrum_reference_setting){"cache_rel", given[i].cache_rel, ""};
        made->settings[i][1] = (struct fulcrum_reference_setting){
            "bandwidth_rel", given[i].bandwidth_rel, ""};
        made->observed[i] =
            (struct fulcrum_observation){"", given[i].value, (double)NAN};
        (void)snprintf(made->observed[i].quantity, sizeof made->observed[i].quantity,
            "%s", given[i].quantity);
        made->points[i] = (struct fulcrum_reference_point){.index = i,
            .setting_count = SETTINGS,
            .settings = made->settings[i],
            .observation_count = 1,
            .observations = &made->observed[i]};
    }
}

/* At the same change every member of the family says the same, so the error of the
 * second figure is that of taking two kinds of work for one. */
static void test_copa_is_two_guesses(void)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_comparison found;
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_reference_load("copa-gpun", &reference, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(fulcrum_predict_memory(reference, &found, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(found.count, 2);
    suite_assert_close("inference", found.items[0].predicted, 0.31, 1e-12);
    CU_ASSERT_EQUAL(found.items[0].observed, 0.35);
    suite_assert_close("GPUs", found.items[1].predicted, 0.31 / 1.31, 1e-12);
    CU_ASSERT(!found.items[0].is_fitted && !found.items[1].is_fitted);
    CU_ASSERT(isnan(found.items[0].lo));
    fulcrum_comparison_clear(&found);
    fulcrum_reference_free(reference);
}

/* Work of a share of 0.28 and an exponent of 0.5, at another change: (18) by hand. */
static void test_another_change_is_predicted_with_an_interval(void)
{
    double at_copa = 1 / (0.72 + 0.28 / 4 / 1.6) - 1;
    double at_four = 1 / (0.72 + 0.28 / 2) - 1;
    const struct given given[] = {{16, 1.6, "training_gain_frac", at_copa},
        {4, 1, "training_gain_frac", at_four}, {4, 1, "fewer_gpus_frac", 0.2}};
    struct made made;
    struct fulcrum_comparison found;
    make(&made, given, 3);
    CU_ASSERT_EQUAL_FATAL(
        fulcrum_predict_memory(&made.reference, &found, NULL), FULCRUM_OK);
    CU_ASSERT_EQUAL_FATAL(found.count, 2);
    suite_assert_close("4 x", found.items[0].predicted, at_four, 1e-9);
    CU_ASSERT(found.items[0].lo < at_four && at_four < found.items[0].hi);
    suite_assert_close("fewer", found.items[1].predicted, 0.14, 1e-9);
    CU_ASSERT(found.items[1].lo < 0.14 && 0.14 < found.items[1].hi);
    CU_ASSERT(!found.items[0].is_fitted);
    fulcrum_comparison_clear(&found);
}

static void test_gains_that_say_nothing_are_refused(void)
{
    static const struct {
        struct given given;
        enum fulcrum_status status;
        const char *part;
    } cases[] = {
        {{16, 1.6, "sm_count", 134}, FULCRUM_ERR_MISSING, "no point sets cache_rel"},
        {{1, 1.6, "training_gain_frac", 0.3}, FULCRUM_ERR_RANGE, "made: 1 times"},
        {{16, 1.6, "training_gain_frac", -0.3}, FULCRUM_ERR_RANGE, "a gain of -0.3"},
        {{16, 1, "training_gain_frac", 9}, FULCRUM_ERR_INFEASIBLE, "no share meets"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made made;
        struct fulcrum_comparison found;
        struct fulcrum_error err = {FULCRUM_OK, ""};
        make(&made, &cases[i].given, 1);
        CU_ASSERT_EQUAL(
            fulcrum_predict_memory(&made.reference, &found, &err), cases[i].status);
        expect_part(err.detail, cases[i].part);
    }
}

int main(int argc, char **argv)
{
    static const struct suite_case cases[] = {
        SUITE_CASE(test_copa_is_two_guesses),
        SUITE_CASE(test_another_change_is_predicted_with_an_interval),
        SUITE_CASE(test_gains_that_say_nothing_are_refused),
    };
    return suite_run(
        "predict_memory", cases, sizeof cases / sizeof cases[0], argc, argv);
}
