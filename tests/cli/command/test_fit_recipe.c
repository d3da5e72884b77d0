/* test_fit_recipe.c - a fitted calibration tells how it was made, and of what. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/command/fit_job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/reference/comparison.h"
#include "presets/load/preset.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

/* Every option that counts, and a word that a shell would take apart. */
#define ALL                                                                            \
    "inci2020-fig3-text 'my runs/it'\\''s:A 1' --calibration v100-prior --free "       \
    "workload.step.mean_s --free workload.step.cv --set workload.step.cv=0.5 --sd "    \
    "1,2 --hold-out 2 --noise 0.1 --draws 0 --seed 7"

/* Texts, and what is written of them: what changes no value is left out. */
TEST(test_a_recipe_reads_as_it_was_written)
{
    static const char *const texts[][2] = {{ALL, ALL},
        {"a --noise 0.008 --draws 50000 --seed 1",
            "a --noise 0.008 --draws 50000 --seed 1"},
        {"'' --set '' --noise 1e-06 --draws 100000000 --seed 9007199254740992",
            "'' --set '' --noise 1e-06 --draws 100000000 --seed 9007199254740992"},
        {" a  --leave-one-out -n 1000", "a --noise 0.008 --draws 1000 --seed 1"}};
    for (size_t i = 0; i < LENGTH(texts); i++) {
        struct fulcrum_note note;
        struct fulcrum_fit_recipe recipe;
        ASSERT_OK(fulcrum_fit_recipe_parse(texts[i][0], &recipe, NULL));
        ASSERT_OK(fulcrum_fit_recipe_write(&recipe.settings, &note, NULL));
        CU_ASSERT_STRING_EQUAL(note.text, texts[i][1]);
        fulcrum_fit_recipe_clear(&recipe);
    }
}

TEST(test_what_is_no_recipe_is_refused)
{
    static const struct {
        const char *text;
        enum fulcrum_status status;
        const char *word;
    } cases[] = {
        {"a 'b", FULCRUM_ERR_FORMAT, "quote"},
        {"a --nose 1", FULCRUM_ERR_UNKNOWN_NAME, "--noise"},
        {"a -o b.json", FULCRUM_ERR_UNKNOWN_NAME, "-o"},
        {"a --noise", FULCRUM_ERR_MISSING, "--noise"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_fit_recipe recipe;
        ASSERT_FAILS(fulcrum_fit_recipe_parse(cases[i].text, &recipe, &err),
            cases[i].status, cases[i].word);
        fulcrum_fit_recipe_clear(&recipe);
    }
}

/* A text that is cut short would be another fit. */
TEST(test_a_recipe_that_does_not_fit_is_an_error)
{
    static const char rest[] = " --noise 0.008 --draws 50000 --seed 1";
    struct fulcrum_note note;
    char text[sizeof note.text + 1] = "";
    size_t most = sizeof note.text - sizeof rest;
    for (size_t length = most; length <= most + 1; length++) {
        struct fulcrum_fit_recipe recipe;
        memset(text, 'a', length);
        ASSERT_OK(fulcrum_fit_recipe_parse(text, &recipe, NULL));
        CU_ASSERT_EQUAL(fulcrum_fit_recipe_write(&recipe.settings, &note, NULL),
            length == most ? FULCRUM_OK : FULCRUM_ERR_RANGE);
        fulcrum_fit_recipe_clear(&recipe);
    }
}

/* Of nine of its parameters one is free: a second's work. */
/* Greedy batches are quick to solve; its five points are 22 to 26 of the file. */
#define SERIES "sf-fig3-10-core-atari:SEED RL V-trace"
#define OTHER  "sf-fig3-10-core-dmlab:RLlib IMPALA"
#define QUICK                                                                          \
    "'" SERIES "' --calibration sf-10-core-atari-prior --free workload.step.mean_s "   \
    "--hold-out 2 --noise 0.05 --draws 0 --seed 3"

static struct fulcrum_calibration *repeat(const char *arguments)
{
    static const struct fulcrum_context context = {.quiet = 1};
    struct fulcrum_calibration *calibration = NULL;
    ASSERT_OK(fulcrum_fit_repeat(arguments, "made", &context, &calibration, NULL));
    return calibration;
}

static double value_of(const struct fulcrum_calibration *calibration, const char *path)
{
    const struct fulcrum_parameter *found =
        fulcrum_calibration_parameter(calibration, path);
    return found != NULL ? found->value : (double)NAN;
}

static void assert_note(const struct fulcrum_calibration *calibration, const char *key,
    const char *expected)
{
    const char *text = fulcrum_calibration_note(calibration, key);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    if (text != NULL) {
        CU_ASSERT_STRING_EQUAL(text, expected);
    }
}

TEST(test_a_calibration_can_be_made_again_from_its_notes)
{
    struct fulcrum_calibration *first = repeat(QUICK);
    CU_ASSERT_STRING_EQUAL(first->name, "made");
    assert_note(first, "fit_arguments", QUICK);
    assert_note(first, FULCRUM_NOTE_FITTED_TO, SERIES);
    assert_note(first, FULCRUM_NOTE_HELD_OUT, "sf-fig3-10-core-atari:23");
    struct fulcrum_calibration *second =
        repeat(fulcrum_calibration_note(first, "fit_arguments"));
    CU_ASSERT(value_of(first, "workload.step.mean_s") > 0.0);
    CU_ASSERT_EQUAL(value_of(first, "workload.step.mean_s"),
        value_of(second, "workload.step.mean_s"));
    fulcrum_calibration_free(first);
    fulcrum_calibration_free(second);
}

/* What the priors of a fit have seen, the fit has seen. */
TEST(test_priors_hand_on_what_they_were_fitted_to)
{
    struct scratch scratch = scratch_new();
    const char *path = scratch_at(&scratch, "first.json");
    struct fulcrum_calibration *first = repeat(QUICK);
    ASSERT_OK(fulcrum_calibration_save(first, path, NULL));
    char arguments[400];
    (void)snprintf(arguments, sizeof arguments,
        "'" OTHER "' --calibration %s --free workload.host.delay_s --draws 0", path);
    struct fulcrum_calibration *second = repeat(arguments);
    assert_note(second, FULCRUM_NOTE_FITTED_TO, OTHER ", " SERIES);
    assert_note(second, FULCRUM_NOTE_HELD_OUT, "sf-fig3-10-core-atari:23");
    (void)snprintf(arguments, sizeof arguments,
        "'" SERIES "' --calibration %s --free workload.host.delay_s --hold-out 1 "
        "--draws 0",
        path);
    struct fulcrum_calibration *third = repeat(arguments);
    assert_note(third, FULCRUM_NOTE_FITTED_TO, SERIES);
    CU_ASSERT_PTR_NULL(fulcrum_calibration_note(third, FULCRUM_NOTE_HELD_OUT));
    fulcrum_calibration_free(first);
    fulcrum_calibration_free(second);
    fulcrum_calibration_free(third);
    scratch_free(&scratch);
}
