/* test_validation.c - references beside predictions, each by its own predictor. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/reference/validation.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "presets/load/preset.h"
#include "presets/load/reference_file.h"
#include "tests/support/suite.h"

/* A reference with what is predicted of it. */
struct run {
    struct fulcrum_reference *reference;
    struct fulcrum_calibration *calibration;
    struct fulcrum_validation validation;
};

static struct run run(const char *reference, const char *calibration)
{
    struct run out = {.reference = NULL};
    ASSERT_OK(fulcrum_reference_load(reference, &out.reference, NULL));
    if (calibration != NULL) {
        ASSERT_OK(fulcrum_calibration_load(calibration, &out.calibration, NULL));
    }
    ASSERT_OK(fulcrum_validate(out.reference, out.calibration, &out.validation, NULL));
    return out;
}

static void end(struct run *run)
{
    fulcrum_validation_clear(&run->validation);
    fulcrum_calibration_free(run->calibration);
    fulcrum_reference_free(run->reference);
}

TEST(test_each_kind_has_its_predictor)
{
    static const char *const references[] = {
        "envpool-atari-laptop", "power-mlenergy-llama8b-h100", "power-teads-ec2"};
    for (size_t i = 0; i < LENGTH(references); i++) {
        struct run one = run(references[i], NULL);
        struct fulcrum_comparison_errors held_out = fulcrum_comparison_errors(
            &one.validation.comparison, NULL, FULCRUM_COMPARE_PREDICTED, -1);
        CU_ASSERT_STRING_EQUAL(one.validation.reason, "");
        CU_ASSERT(held_out.count > 3);
        CU_ASSERT(held_out.mape_frac > 0.0 && held_out.mape_frac < 0.1);
        end(&one);
    }
}

/* What a reference says of itself is the reason; nothing is tried. */
TEST(test_what_nothing_predicts_says_why)
{
    struct run none = run("power-h100-node", NULL);
    CU_ASSERT_EQUAL(none.validation.comparison.count, 0);
    CU_ASSERT_STRING_EQUAL(none.validation.reason, none.reference->not_predicted);
    CU_ASSERT(strstr(none.validation.reason, "was made from these watts") != NULL);
    end(&none);
    struct run one_point = run("sf-pure-simulation", NULL);
    CU_ASSERT_EQUAL(one_point.validation.comparison.count, 0);
    CU_ASSERT(strstr(one_point.validation.reason, "one point per game") != NULL);
    end(&one_point);
}

/* Figures beside the gains are told of, and are no failure. */
TEST(test_what_describes_a_gpu_is_not_predicted)
{
    struct run copa = run("copa-gpun", NULL);
    CU_ASSERT_EQUAL(copa.validation.comparison.count, 2);
    CU_ASSERT(strstr(copa.validation.reason, "identity: the first gain") != NULL);
    CU_ASSERT(!copa.validation.has_failed);
    end(&copa);
}

/* Without words of its own the kind of the points is named. */
TEST(test_points_that_no_predictor_knows_name_their_kind)
{
    struct run shares = run("rlscope-fig5-stage-shares", NULL);
    struct fulcrum_validation again;
    fulcrum_validation_clear(&shares.validation);
    shares.reference->not_predicted[0] = '\0';
    ASSERT_OK(fulcrum_validate(shares.reference, NULL, &again, NULL));
    CU_ASSERT_STRING_EQUAL(again.reason,
        "nothing predicts shares of time in simulation, inference and training yet");
    shares.reference->predictor = FULCRUM_PREDICTOR_NONE;
    ASSERT_OK(fulcrum_validate(shares.reference, NULL, &again, NULL));
    CU_ASSERT_STRING_EQUAL(again.reason, "nothing predicts points of this kind yet");
    end(&shares);
}

/* Every preset that no predictor takes says why in words of its own. */
TEST(test_presets_that_are_not_predicted_say_why)
{
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = 0;
    size_t silent = 0;
    ASSERT_OK(fulcrum_preset_list(FULCRUM_PRESET_REFERENCE, &entries, &count, NULL));
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_reference *reference = NULL;
        ASSERT_OK(fulcrum_reference_load(entries[i].name, &reference, NULL));
        bool is_taken = reference->predictor != FULCRUM_PREDICTOR_NONE &&
                        reference->predictor != FULCRUM_PREDICTOR_STAGE_SHARES;
        silent += !is_taken && reference->not_predicted[0] == '\0' ? 1 : 0;
        fulcrum_reference_free(reference);
    }
    CU_ASSERT_EQUAL(silent, 0);
    free(entries);
}

TEST(test_a_reference_brings_its_calibration)
{
    struct run own = run("inci2020-fig3-text", NULL);
    struct run given = run("inci2020-fig3-text", "v100-prior");
    CU_ASSERT_STRING_EQUAL(own.validation.calibration, "v100-prior");
    CU_ASSERT_EQUAL_FATAL(own.validation.comparison.count, 2);
    CU_ASSERT_EQUAL(own.validation.comparison.items[0].predicted,
        given.validation.comparison.items[0].predicted);
    end(&own);
    end(&given);
}

static double predicted_from(const char *calibration, size_t item)
{
    struct run one = run("inci2020-fig3-text", calibration);
    CU_ASSERT_EQUAL_FATAL(one.validation.comparison.count, 2);
    double value = one.validation.comparison.items[item].predicted;
    end(&one);
    return value;
}

/* The point that ratios refer to goes with either; points keep their places. */
TEST(test_series_are_predicted_from_calibrations_of_their_own)
{
    struct fulcrum_series_calibration *own = calloc(1, sizeof *own);
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_validation parts;
    if (own == NULL) {
        CU_FAIL("no memory");
        return;
    }
    ASSERT_OK(fulcrum_reference_load("inci2020-fig3-text", &reference, NULL));
    (void)strcpy(reference->points[1].series, "near");
    *own = (struct fulcrum_series_calibration){"near", "v100-inci2020"};
    reference->calibrations = own;
    reference->calibration_count = 1;
    ASSERT_OK(fulcrum_validate(reference, NULL, &parts, NULL));
    CU_ASSERT_STRING_EQUAL(parts.calibration, "by series");
    CU_ASSERT_STRING_EQUAL(parts.reason, "");
    CU_ASSERT_EQUAL_FATAL(parts.comparison.count, 2);
    const struct fulcrum_compared *items = parts.comparison.items;
    CU_ASSERT_EQUAL(items[0].point, 1);
    CU_ASSERT_EQUAL(items[1].point, 2);
    CU_ASSERT_EQUAL(items[0].observed, 5.8);
    CU_ASSERT_EQUAL(items[0].predicted, predicted_from("v100-inci2020", 0));
    CU_ASSERT_EQUAL(items[1].predicted, predicted_from("v100-prior", 1));
    CU_ASSERT_EQUAL(items[1].is_fitted, 0);
    fulcrum_validation_clear(&parts);
    fulcrum_reference_free(reference);
}

/* Each figure of the paper, and how far the fitted calibration may be off. */
static const struct {
    const char *reference;
    double value;
    double tolerance_rel;
} figures[] = {
    {"inci2020-fig3-text", 5.8, 0.01}, {"inci2020-fig3-further-text", 2.0, 0.01},
    {"inci2020-fig4-text", 1.06, 0.0094}, /* one point of slowdown */
};
enum { FIGURES = LENGTH(figures) };

TEST(test_priors_cover_the_paper)
{
    for (size_t i = 0; i < FIGURES; i++) {
        struct run one = run(figures[i].reference, "v100-prior");
        const struct fulcrum_compared *item = &one.validation.comparison.items[0];
        CU_ASSERT_EQUAL_FATAL(one.validation.comparison.count, i == 0 ? 2 : 1);
        CU_ASSERT_EQUAL(item->is_fitted, 0);
        CU_ASSERT_EQUAL(item->observed, figures[i].value);
        CU_ASSERT(item->lo < figures[i].value && item->hi > figures[i].value);
        CU_ASSERT(isfinite(item->baseline[FULCRUM_BASELINE_BOUNDS]));
        CU_ASSERT(isfinite(item->baseline[FULCRUM_BASELINE_TEXTBOOK]));
        end(&one);
    }
}

TEST(test_the_fitted_calibration_meets_the_paper)
{
    for (size_t i = 0; i < FIGURES; i++) {
        struct run one = run(figures[i].reference, "v100-inci2020");
        const struct fulcrum_compared *item = &one.validation.comparison.items[0];
        CU_ASSERT_FATAL(one.validation.comparison.count > 0);
        CU_ASSERT_EQUAL(item->is_fitted, 1);
        assert_close(figures[i].reference, item->predicted, figures[i].value,
            figures[i].tolerance_rel);
        end(&one);
    }
}

/* What a fit has seen, by the notes of its calibration. */

TEST(test_lists_have_whole_items)
{
    static const struct {
        const char *list;
        const char *item;
        bool has;
        bool has_part; /* the item, whole or one series */
    } cases[] = {
        {NULL, "a", 0, 0},
        {"", "a", 0, 0},
        {"a", "a", 1, 1},
        {"ab, ca", "a", 0, 0},
        {"b, a", "a", 1, 1},
        {"b, a, c", "a", 1, 1},
        {"b, a:s, c", "a", 0, 1},
        {"b, a:s, c", "a:s", 1, 1},
        {"a-2, a:12", "a:1", 0, 0},
        /* A series may have a comma in its name. */
        {"a:Pong, 4 GPUs, b", "a:Pong, 4 GPUs", 1, 1},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char point[40];
        (void)snprintf(point, sizeof point, "%s:7", cases[i].item);
        CU_ASSERT_EQUAL(
            fulcrum_fitted_points_list_has(cases[i].list, cases[i].item), cases[i].has);
        CU_ASSERT_EQUAL(
            fulcrum_fitted_points_saw(cases[i].list, NULL, point), cases[i].has_part);
        CU_ASSERT_FALSE(fulcrum_fitted_points_saw(cases[i].list, point, point));
    }
}

/* A calibration with these notes; NULL: none of that key. */
static struct fulcrum_calibration *noted(const char *fitted_to, const char *held_out)
{
    struct fulcrum_calibration *calibration = NULL;
    ASSERT_OK(fulcrum_calibration_new(&calibration, NULL));
    CU_ASSERT_PTR_NOT_NULL_FATAL(calibration);
    if (fitted_to != NULL) {
        ASSERT_OK(fulcrum_calibration_add_note(
            calibration, FULCRUM_NOTE_FITTED_TO, fitted_to, NULL));
    }
    if (held_out != NULL) {
        ASSERT_OK(fulcrum_calibration_add_note(
            calibration, FULCRUM_NOTE_HELD_OUT, held_out, NULL));
    }
    return calibration;
}

/* What the notes of a fit say of a reference of two points. */
struct seen_case {
    const char *fitted_to;
    const char *held_out;
    int whole;
    int part;
    int seen[2];
};

static void check_case(
    const struct fulcrum_reference *reference, const struct seen_case *expected)
{
    struct fulcrum_calibration *calibration =
        noted(expected->fitted_to, expected->held_out);
    CU_ASSERT_EQUAL(
        fulcrum_fitted_points_whole(calibration, reference), expected->whole);
    CU_ASSERT_EQUAL(fulcrum_fitted_points_part(calibration, reference), expected->part);
    for (size_t k = 0; k < 2; k++) {
        CU_ASSERT_EQUAL(
            fulcrum_fitted_points_point(calibration, reference, k), expected->seen[k]);
    }
    fulcrum_calibration_free(calibration);
}

/* Points of a file whose first was left away: places and indices differ. */
TEST(test_points_that_were_held_out_are_not_seen)
{
    struct fulcrum_reference_point points[] = {
        {.series = "slow", .index = 1}, {.series = "fast", .index = 2}};
    const struct fulcrum_reference reference = {
        .name = "runs", .points = points, .point_count = 2};
    static const struct seen_case cases[] = {
        {NULL, NULL, 0, 0, {0, 0}},
        {"others", NULL, 0, 0, {0, 0}},
        {"others, runs", NULL, 1, 1, {1, 1}},
        {"runs:fast", NULL, 0, 1, {0, 1}},
        {"runs", "runs:2, runs:0", 1, 1, {1, 0}},
        {"runs", "runs:12", 1, 1, {1, 1}},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        check_case(&reference, &cases[i]);
    }
}
