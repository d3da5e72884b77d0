/* test_baseline.c - a run of `validate` against a stored one. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/baseline.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "model/number.h"
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

SUITE_SETUP
{
    struct fixture *own = fixture();
    return fulcrum_reference_load(REFERENCE, &own->reference, NULL) == FULCRUM_OK &&
                   fulcrum_validate(own->reference, NULL, &own->set, NULL) == FULCRUM_OK
               ? 0
               : 1;
}

/* The set as it is now, as a stored run would have it. */
static struct fulcrum_result *store_now(void)
{
    return fulcrum_baseline_new(&fixture()->set, 1);
}

/* A case with such a run. */
#define STORED_TEST(function)                                                          \
    TEST_EACH(function, with_stored, struct fulcrum_result *stored)
static void with_stored(void (*run)(struct fulcrum_result *stored))
{
    struct fulcrum_result *stored = store_now();
    run(stored);
    fulcrum_result_free(stored);
}

static struct fulcrum_table *points_of(struct fulcrum_result *run)
{
    for (size_t i = 0; i < fulcrum_result_count(run); i++) {
        const struct fulcrum_item *item = fulcrum_result_item(run, i);
        if (strcmp(item->key, "points") == 0) {
            return item->table;
        }
    }
    return NULL;
}

static void set_number(
    struct fulcrum_result *run, size_t row, const char *key, double value)
{
    fulcrum_table_return(points_of(run), row);
    fulcrum_table_number(points_of(run), key, "", value);
}

static void set_text(
    struct fulcrum_result *run, size_t row, const char *key, const char *text)
{
    fulcrum_table_return(points_of(run), row);
    fulcrum_table_text(points_of(run), key, "", text);
}

static double number_of(struct fulcrum_result *run, size_t row, const char *key)
{
    return fulcrum_table_at(points_of(run), row, key).number;
}

static void scale(struct fulcrum_result *run, size_t row, const char *key, double by)
{
    set_number(run, row, key, by * number_of(run, row, key));
}

static size_t stored_count(void)
{
    return fixture()->set.comparison.count;
}

/* How many checks failed; one of them must say `text`, unless it is empty. */
static size_t count_failed(const struct fulcrum_table *checks, const char *text)
{
    size_t failed = 0;
    bool is_said = text[0] == '\0';
    for (size_t i = 0; i < fulcrum_table_rows(checks); i++) {
        failed += fulcrum_check_outcome_of(checks, i) == FULCRUM_CHECK_FAILED ? 1 : 0;
        is_said =
            is_said || strstr(fulcrum_table_at(checks, i, "text").text, text) != NULL;
    }
    CU_ASSERT(is_said);
    return failed;
}

static const struct fulcrum_baseline_check limits = {
    .moved_rel = 0.005, .loss_frac = 0.005};

static size_t failures(const struct fulcrum_result *stored,
    const struct fulcrum_baseline_check *by, const char *text)
{
    struct fulcrum_result *now = store_now();
    struct fulcrum_result *found = fulcrum_result_new(NULL);
    struct fulcrum_baseline_check check = *by;
    check.stored = stored;
    check.now = now;
    check.checks = fulcrum_result_table(found, "checks", NULL);
    CU_ASSERT(
        fulcrum_baseline_check_set(&check, &fixture()->set) + 3 >= stored_count());
    size_t failed = count_failed(check.checks, text);
    fulcrum_result_free(now);
    fulcrum_result_free(found);
    return failed;
}

STORED_TEST(test_a_moved_prediction_fails)
{
    CU_ASSERT_EQUAL(failures(stored, &limits, ""), 0);
    scale(stored, 1, "predicted", 1.004);
    CU_ASSERT_EQUAL(failures(stored, &limits, ""), 0);
    scale(stored, 1, "predicted", 1.004);
    CU_ASSERT_EQUAL(failures(stored, &limits, "moved by"), 1);
    set_number(stored, 1, "predicted", 0.0);
    CU_ASSERT(failures(stored, &limits, ", 0 stored") >= 1);
}

/* A stored run has fewer digits than a prediction: those alone are compared. */
STORED_TEST(test_nothing_moves_from_what_was_just_stored)
{
    const struct fulcrum_baseline_check none = {.moved_rel = 0.0, .loss_frac = 0.0};
    CU_ASSERT_EQUAL(failures(stored, &none, ""), 0);
    scale(stored, 1, "predicted", 1.00001);
    CU_ASSERT(failures(stored, &none, "moved by") >= 1);
}

TEST(test_numbers_move_by_shares_of_what_is_stored)
{
    const double unknown = FULCRUM_UNKNOWN;
    assert_close("up", fulcrum_relative_change(200.0, 201.0), 0.005, 1e-12);
    assert_close("down", fulcrum_relative_change(-200.0, -202.0), 0.01, 1e-12);
    CU_ASSERT_EQUAL(fulcrum_relative_change(0.0, 0.0), 0.0);
    CU_ASSERT(isinf(fulcrum_relative_change(0.0, 1e-300)));
    CU_ASSERT_EQUAL(fulcrum_relative_change(unknown, unknown), 0.0);
    CU_ASSERT(isinf(fulcrum_relative_change(unknown, 1.0)));
    CU_ASSERT(isinf(fulcrum_relative_change(1.0, unknown)));
}

STORED_TEST(test_other_data_fail)
{
    bool is_fitted =
        strcmp(fulcrum_table_at(points_of(stored), 3, "kind").text, "fitted") == 0;
    scale(stored, 1, "observed", 1.1);
    set_text(stored, 3, "kind", is_fitted ? "predicted" : "fitted");
    set_number(stored, 5, "point", 4000.0);
    CU_ASSERT(failures(stored, &limits, "was observed as") >= 3);
    CU_ASSERT(failures(stored, &limits, " stored") >= 3);
    CU_ASSERT(failures(stored, &limits,
                  is_fitted ? "predicted stored" : "fitted stored") >= 3);
    CU_ASSERT(failures(stored, &limits, "not predicted any more") >= 3);
}

/* With room to move, what counts is whether the set has become worse. */
STORED_TEST(test_a_worse_set_fails)
{
    const struct fulcrum_baseline_check loose = {.moved_rel = 1.0, .loss_frac = 0.005};
    for (size_t i = 0; i < stored_count(); i++) {
        set_number(stored, i, "predicted", number_of(stored, i, "observed"));
    }
    CU_ASSERT_EQUAL(failures(stored, &loose, "worse by more than"), 1);
    for (size_t i = 0; i < stored_count(); i++) {
        scale(stored, i, "predicted", 1.1);
    }
    CU_ASSERT_EQUAL(failures(stored, &loose, ""), 0);
}

static size_t missing(struct fulcrum_result *stored, bool is_all)
{
    struct fulcrum_result *found = fulcrum_result_new(NULL);
    const struct fulcrum_baseline_check check = {.stored = stored,
        .sets = &fixture()->set,
        .set_count = 1,
        .checks = fulcrum_result_table(found, "checks", NULL)};
    fulcrum_baseline_check_missing(&check, is_all);
    size_t count = fulcrum_table_rows(check.checks);
    CU_ASSERT_EQUAL(count_failed(check.checks, ""), count);
    fulcrum_result_free(found);
    return count;
}

/* Of a run over everything, what is stored must still be there. */
STORED_TEST(test_a_set_that_is_gone_fails)
{
    CU_ASSERT_EQUAL(missing(stored, true), 0);
    set_text(stored, 0, "calibration", "another");
    set_text(stored, 2, "reference", "another");
    CU_ASSERT_EQUAL(missing(stored, true), 2);
}

/* Of a run over some references, those under another calibration are missed. */
STORED_TEST(test_a_calibration_of_another_name_fails)
{
    set_text(stored, 2, "reference", "another");
    CU_ASSERT_EQUAL(missing(stored, false), 0);
    for (size_t i = 0; i < stored_count(); i++) {
        set_text(stored, i, "calibration", "another");
    }
    CU_ASSERT(missing(stored, false) >= 1);
}

enum { TEXT_SIZE = 480 };

static struct fulcrum_result *run_of_design(
    double actor_count, double steps_per_s, double gpu_w)
{
    struct fulcrum_result *run = fulcrum_result_new(NULL);
    struct fulcrum_prediction prediction = {.actor_count = actor_count};
    for (size_t i = 0; i < FULCRUM_OUTPUT_COUNT; i++) {
        prediction.value[i] = FULCRUM_UNKNOWN;
    }
    prediction.value[FULCRUM_OUTPUT_steps_per_s] = steps_per_s;
    prediction.value[FULCRUM_OUTPUT_gpu_w] = gpu_w;
    fulcrum_baseline_add_design(
        fulcrum_result_table(run, "designs", ""), "box", "game", &prediction);
    return run;
}

TEST(test_designs_that_move_are_named)
{
    const double none = FULCRUM_UNKNOWN;
    const struct {
        double from[2]; /* steps per second and watts */
        double to[2];
        double actor_count; /* of now; 16 stored */
        const char *text;   /* that the failed check says; NULL: it passes */
    } cases[] = {
        {{1000.0, none}, {1004.0, none}, 16.0, NULL},
        {{1000.0, none}, {1006.0, none}, 16.0,
            "steps_per_s is predicted as 1006, 1000 stored: moved by 0.6 %"},
        {{1000.0, 100.0}, {1010.0, 120.0}, 16.0,
            "gpu_w is predicted as 120, 100 stored: moved by 20 %"},
        {{1000.0, 100.0}, {1000.0, none}, 16.0,
            "gpu_w is predicted as nan, 100 stored"},
        {{1000.0, none}, {1000.0, 100.0}, 16.0,
            "gpu_w is predicted as 100, nan stored"},
        {{1000.0, none}, {1000.0, none}, 17.0, "is not predicted any more"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_result *stored =
            run_of_design(16.0, cases[i].from[0], cases[i].from[1]);
        struct fulcrum_result *now =
            run_of_design(cases[i].actor_count, cases[i].to[0], cases[i].to[1]);
        struct fulcrum_result *found = fulcrum_result_new(NULL);
        struct fulcrum_baseline_check check = limits;
        check.stored = stored;
        check.now = now;
        check.checks = fulcrum_result_table(found, "checks", NULL);
        fulcrum_baseline_check_designs(&check);
        CU_ASSERT_EQUAL_FATAL(fulcrum_table_rows(check.checks), 1);
        CU_ASSERT_STRING_EQUAL(fulcrum_table_at(check.checks, 0, "text").text,
            cases[i].text != NULL ? cases[i].text : "");
        CU_ASSERT_STRING_EQUAL(
            fulcrum_table_at(check.checks, 0, "name").text, "game, 16 actors");
        CU_ASSERT_EQUAL(fulcrum_check_outcome_of(check.checks, 0),
            cases[i].text != NULL ? FULCRUM_CHECK_FAILED : FULCRUM_CHECK_PASSED);
        fulcrum_result_free(stored);
        fulcrum_result_free(now);
        fulcrum_result_free(found);
    }
}
