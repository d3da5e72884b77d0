/* test_measured_result.c - measured beside predicted, for people and programs. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "calibrate/reference/measured_result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/result/result_io.h"
#include "tests/support/suite.h"

enum { ITEMS = 4, PREDICTED = 3, RATE = FULCRUM_OUTPUT_steps_per_s };

/* Two calm points, one that failed between them, and one that was disturbed. */
struct scene {
    struct fulcrum_measure_window windows[ITEMS][2];
    struct fulcrum_measured items[ITEMS];
    struct fulcrum_measurement found;
    struct fulcrum_prediction predictions[PREDICTED];
    struct fulcrum_measured_points answer;
};

static void set_item(struct scene *scene, size_t i, double actors, double steps_per_s)
{
    struct fulcrum_measured *item = &scene->items[i];
    item->config = (struct fulcrum_measure_config){
        .actor_count = (size_t)actors, .envs_per_actor = 1};
    item->window_count = 2;
    item->windows = scene->windows[i];
    item->median = (struct fulcrum_measure_window){.steps_per_s = steps_per_s,
        .mean_batch = 1.5,
        .cpu_w = (double)NAN,
        .gpu_w = (double)NAN,
        .j_per_step = (double)NAN};
    item->lo = 0.98 * steps_per_s;
    item->hi = 1.02 * steps_per_s;
    item->windows[0].steps_per_s = item->lo;
    item->windows[1].steps_per_s = item->hi;
}

static void set_prediction(
    struct fulcrum_prediction *prediction, double value, double half)
{
    prediction->value[RATE] = value;
    prediction->value[FULCRUM_OUTPUT_mean_batch] = 1.75;
    prediction->has_interval = 1;
    prediction->lo[RATE] = value - half;
    prediction->hi[RATE] = value + half;
}

static void set_scene(struct scene *scene)
{
    *scene = (struct scene){.found = {.count = ITEMS,
                                .items = scene->items,
                                .actor = "cartpole",
                                .learner = "cpu",
                                .is_complete = 1,
                                .energy_reason = "no meter",
                                .placement = {.actors = {.count = 3, .cpu = {0, 1, 4}},
                                    .server = {.count = 1, .cpu = {7}},
                                    .is_apart = 1}}};
    set_item(scene, 0, 1.0, 1000.0);
    set_item(scene, 1, 2.0, 0.0);
    set_item(scene, 2, 4.0, 4000.0);
    set_item(scene, 3, 8.0, 5000.0);
    scene->items[1].window_count = 0;
    (void)snprintf(scene->items[1].failure, sizeof scene->items[1].failure,
        "the left wheel came off");
    scene->items[3].is_disturbed = 1;
    scene->windows[3][0].is_disturbed = 1;
    scene->windows[3][1].is_disturbed = 1;
    set_prediction(&scene->predictions[0], 1100.0, 90.0); /* misses by 10 a second */
    set_prediction(&scene->predictions[1], 3800.0, 130.0);
    set_prediction(&scene->predictions[2], 6000.0, 10.0);
    scene->answer = (struct fulcrum_measured_points){
        .measurement = &scene->found, .predictions = scene->predictions};
}

/* A case on that scene. */
#define SCENE_TEST(function) TEST_EACH(function, with_scene, struct scene *scene)
static void with_scene(void (*run)(struct scene *scene))
{
    struct scene scene;
    set_scene(&scene);
    run(&scene);
}

/* The caller frees it. */
static struct fulcrum_result *result_of(const struct scene *scene)
{
    struct fulcrum_result *result = fulcrum_measured_result(&scene->answer);
    ASSERT_OK(fulcrum_result_check(result, NULL));
    return result;
}

/* What is predicted of the third item is the second prediction. */
SCENE_TEST(test_errors_are_of_the_points_that_count)
{
    static const struct {
        const char *key;
        double value;
    } cases[] = {
        {"undisturbed/point_count", 2.0},
        {"undisturbed/mape_frac", 0.075},
        {"undisturbed/bias_frac", 0.025},
        {"undisturbed/max_frac", 0.1},
        /* 1010 to 1190 meets 980 to 1020, 3670 to 3930 meets 3920 to 4080. */
        {"undisturbed/covered_frac", 1.0},
        {"all/point_count", 3.0},
        {"all/max_frac", 0.2},
        {"all/mape_frac", 0.35 / 3.0},
        {"all/covered_frac", 2.0 / 3.0},
    };
    struct fulcrum_result *result = result_of(scene);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_close(cases[i].key, fulcrum_result_number_of(result, cases[i].key),
            cases[i].value, 1e-12);
    }
    fulcrum_result_free(result);
}

SCENE_TEST(test_errors_of_nothing_are_not_known)
{
    static const char *const keys[] = {"undisturbed/mape_frac", "undisturbed/max_frac",
        "undisturbed/bias_frac", "undisturbed/covered_frac"};
    for (size_t i = 0; i < ITEMS; i++) {
        scene->items[i].is_disturbed = 1;
    }
    struct fulcrum_result *result = result_of(scene);
    CU_ASSERT_EQUAL(fulcrum_result_number_of(result, "undisturbed/point_count"), 0.0);
    for (size_t i = 0; i < LENGTH(keys); i++) {
        CU_ASSERT_PTR_NOT_NULL(fulcrum_result_find(result, keys[i]));
        CU_ASSERT(isnan(fulcrum_result_number_of(result, keys[i])));
    }
    fulcrum_result_free(result);
}

/* The caller frees it. */
static char *print(const struct scene *scene, enum fulcrum_format format)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    struct fulcrum_result *result = result_of(scene);
    CU_ASSERT_FATAL(stream != NULL);
    ASSERT_OK(fulcrum_result_write(result, format, NULL, stream, NULL));
    fulcrum_result_free(result);
    (void)fclose(stream);
    return text;
}

SCENE_TEST(test_rows_have_what_was_measured_and_what_was_not)
{
    char *csv = print(scene, FULCRUM_FORMAT_CSV);
    assert_part(csv, "batching,actors,envs_per_actor,measured_steps_per_s,");
    assert_part(csv, "greedy K=1,1,1,1000,980,1020,1100,1010,1190,0.1");
    assert_part(csv, "greedy K=1,2,1,,,,,,,,,,,,,,,,,,0,0,the left wheel came off");
    assert_part(csv, "greedy K=1,4,1,4000,3920,4080,3800,3670,3930,-0.05");
    assert_part(csv, ",2,2,disturbed");
    free(csv);
    scene->answer.predictions = NULL;
    csv = print(scene, FULCRUM_FORMAT_CSV);
    assert_part(csv, "greedy K=1,4,1,4000,3920,4080,,,,,1.5,,");
    free(csv);
}

SCENE_TEST(test_people_read_errors_and_notes)
{
    char *text = print(scene, FULCRUM_FORMAT_TABLE);
    assert_part(text, "actors on processors  0-1,4\n");
    assert_part(text, "server on processors  7\n");
    assert_part(
        text, "2 points: mean |error| 7.5 %, largest 10.0 %, bias +2.5 %; 100 %");
    assert_part(text, "3 points: mean |error| 11.7 %, largest 20.0 %");
    assert_part(text, "1 of 4 points disturbed: a canary above 1.08");
    assert_part(text, "other programs above 3 % of the machine");
    assert_part(text, "power not measured: `fulcrum list meters` says why");
    CU_ASSERT_PTR_NULL(strstr(text, "share cores"));
    CU_ASSERT_PTR_NULL(strstr(text, "nothing predicted"));
    free(text);
}

SCENE_TEST(test_a_table_has_no_column_that_says_nothing)
{
    for (int predicts = 1; predicts >= 0; predicts--) {
        scene->answer.predictions = predicts ? scene->answer.predictions : NULL;
        char *text = print(scene, FULCRUM_FORMAT_TABLE);
        CU_ASSERT_EQUAL(strstr(text, "  predicted  ") != NULL, predicts);
        CU_ASSERT_PTR_NULL(strstr(text, "GPU power"));
        CU_ASSERT_PTR_NULL(strstr(text, "envs"));
        assert_part(text, "actors busy");
        assert_part(text, "the left wheel came off");
        free(text);
    }
    scene->items[0].median.gpu_w = 250.0;
    scene->items[0].config.envs_per_actor = 2;
    char *text = print(scene, FULCRUM_FORMAT_TABLE);
    assert_part(text, "GPU power");
    assert_part(text, "250 W");
    assert_part(text, "envs");
    free(text);
}

SCENE_TEST(test_sentences_that_are_not_needed_are_left_out)
{
    scene->answer.predictions = NULL;
    scene->items[3].is_disturbed = 0;
    scene->items[0].median.cpu_w = 50.0;
    scene->found.placement.is_apart = 0;
    char *text = print(scene, FULCRUM_FORMAT_TABLE);
    assert_part(text, "actors and server share cores, which the model does not");
    assert_part(text, "nothing predicted: --calibration FILE, taken beforehand");
    CU_ASSERT_PTR_NULL(strstr(text, "disturbed"));
    CU_ASSERT_PTR_NULL(strstr(text, "|error|"));
    CU_ASSERT_PTR_NULL(strstr(text, "power not"));
    free(text);
}

/* The canary then took 1 ms. */
TEST(test_a_machine_in_another_state_is_told)
{
    static const struct {
        double canary_s;
        const char *part; /* NULL: nothing is said */
    } cases[] = {
        {1.1e-3, "takes 10.0 % longer than when the calibration was taken"},
        {0.8e-3, "takes 20.0 % less than when"},
        {1.04e-3, NULL},
    };
    struct fulcrum_calibration *calibration = NULL;
    ASSERT_OK(fulcrum_calibration_new(&calibration, NULL));
    calibration->machine.cpu.canary_s = 1e-3;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct scene scene;
        set_scene(&scene);
        scene.answer.calibration = calibration;
        for (size_t k = 0; k < ITEMS; k++) {
            scene.items[k].median.canary_s = cases[i].canary_s;
        }
        char *text = print(&scene, FULCRUM_FORMAT_TABLE);
        assert_part(text, cases[i].part != NULL ? cases[i].part : "power not measured");
        CU_ASSERT_EQUAL(
            strstr(text, "the canary takes") != NULL, cases[i].part != NULL);
        free(text);
    }
    fulcrum_calibration_free(calibration);
}

SCENE_TEST(test_the_document_has_every_window)
{
    char *text = print(scene, FULCRUM_FORMAT_JSON);
    static const char *const parts[] = {"\"actor\": \"cartpole\"",
        "\"learner\": \"cpu\"", "\"actor_cpus\": \"0-1,4\"", "\"server_cpus\": \"7\"",
        "\"complete\": true", "\"calibration\": null", "\"undisturbed\": {",
        "\"point_count\": 2", "\"all\": {", "\"canary_drift_rel\": null",
        "\"power\": \"no meter\""};
    for (size_t i = 0; i < LENGTH(parts); i++) {
        assert_part(text, parts[i]);
    }
    free(text);
    /* Of three points; the fourth has none. */
    struct fulcrum_result *result = result_of(scene);
    CU_ASSERT_EQUAL(fulcrum_table_rows(fulcrum_result_table_of(result, "windows")), 6);
    fulcrum_result_free(result);
}
