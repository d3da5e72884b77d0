/* test_references.c - references are read with their sources and steps. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "presets/load/reference_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/load/preset.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#define SCHEMA "\"schema\":{\"name\":\"fulcrum-reference\",\"version\":1},"
#define NAMED  "\"kind\":\"reference\",\"name\":\"r\","
#define SOURCE "\"source\":{\"points\":\"a table\"},"
#define KIND   "\"predictor\":\"cpu_curve\","
#define HEAD   "{" SCHEMA NAMED SOURCE KIND
#define GOOD_POINT                                                                     \
    "{\"set\":{\"workers\":1},\"observed\":{\"steps_per_s\":{\"value\":100}}}"
#define GOOD "\"points\":[" GOOD_POINT "]"
#define SERIES                                                                         \
    "\"points\":[{\"series\":\"one\",\"set\":{\"workers\":1},\"observed\":{"           \
    "\"steps_per_s\":{\"value\":1}}},"                                                 \
    "{\"series\":\"other\",\"set\":{\"workers\":1},\"observed\":{"                     \
    "\"steps_per_s\":{\"value\":1}}}]"

/* Loads a file of that content. */
static enum fulcrum_status load(
    const char *content, struct fulcrum_reference **out, struct fulcrum_error *err)
{
    struct scratch scratch = scratch_new();
    char *path = scratch_write(&scratch, "my.json", content);
    enum fulcrum_status status = fulcrum_reference_load(path, out, err);
    free(path);
    scratch_free(&scratch);
    return status;
}

static struct fulcrum_reference *load_good(const char *content)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    ASSERT_OK(load(content, &reference, &err));
    CU_ASSERT_STRING_EQUAL(err.detail, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(reference);
    return reference;
}

TEST(test_all_faults_of_a_file_are_named_in_one_go)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    CU_ASSERT_NOT_EQUAL(
        load("{" SCHEMA NAMED SOURCE "\"predictor\":\"x\",\"frame_skip\":0,"
             "\"machine\":\"dgx-0\",\"relative_to\":5,\"points\":[{\"set\":{\"a.b\":1},"
             "\"observed\":{\"gpu_w\":{\"value\":-1,\"half_width\":-1}}}]}",
            &reference, &err),
        FULCRUM_OK);
    size_t lines = 1;
    for (const char *c = err.detail; *c != '\0'; c++) {
        lines += *c == '\n' ? 1 : 0;
    }
    CU_ASSERT_EQUAL(lines, 7);
    assert_part(err.detail, "predictor = \"x\"");
    assert_part(err.detail, "frame_skip = 0");
    assert_part(err.detail, "machine = \"dgx-0\"");
    assert_part(err.detail, "relative_to = 5");
    assert_part(err.detail, "set.a.b: no field is called so");
    assert_part(err.detail, "gpu_w.value = -1");
    assert_part(err.detail, "gpu_w.half_width = -1");
}

TEST(test_unknown_references_are_suggested)
{
    struct fulcrum_reference *reference = NULL;
    ASSERT_FAILS(fulcrum_reference_load("inci2020-fig3-txt", &reference, &err),
        FULCRUM_ERR_UNKNOWN_NAME, "did you mean inci2020-fig3-text?");
    CU_ASSERT_EQUAL(
        fulcrum_reference_load("./absent.json", &reference, NULL), FULCRUM_ERR_FILE);
    CU_ASSERT_PTR_NULL(reference);
    fulcrum_reference_free(NULL);
}

/* Members in an order that needs the frame skip before it is read. */
TEST(test_frames_become_steps_with_their_half_width)
{
    struct fulcrum_reference *reference = load_good(
        "{\"points\":[{\"set\":{\"run.env_count\":20},\"observed\":{"
        "\"frames_per_s\":{\"value\":11347,\"half_width\":2},\"gpu_w\":{\"value\":70}}"
        "}],\"frame_skip\":4," SCHEMA NAMED SOURCE "\"predictor\":\"throughput\"}");
    const struct fulcrum_reference_point *point = &reference->points[0];
    CU_ASSERT_EQUAL_FATAL(point->observation_count, 2);
    CU_ASSERT_STRING_EQUAL(point->observations[0].quantity, "steps_per_s");
    CU_ASSERT_EQUAL(point->observations[0].value, 2836.75);
    CU_ASSERT_EQUAL(point->observations[0].half_width, 0.5);
    CU_ASSERT_STRING_EQUAL(point->observations[1].quantity, "gpu_w");
    CU_ASSERT_EQUAL(point->observations[1].value, 70.0);
    CU_ASSERT(isnan(point->observations[1].half_width));
    CU_ASSERT_EQUAL(reference->frame_skip, 4.0);
    CU_ASSERT_EQUAL(reference->predictor, FULCRUM_PREDICTOR_THROUGHPUT);
    CU_ASSERT_EQUAL(reference->is_relative, 0);
    fulcrum_reference_free(reference);
}

TEST(test_points_keep_series_settings_and_base)
{
    struct fulcrum_reference *reference = load_good(
        HEAD "\"title\":\"T\",\"note\":\"N\",\"relative_to\":1,\"points\":["
             "{\"series\":\"one\",\"set\":{\"game\":\"Pong\",\"run.sm_count\":40},"
             "\"observed\":{\"speedup\":{\"value\":0.5}}},"
             "{\"series\":\"one\",\"set\":{\"run.sm_count\":80,\"game\":\"Pong\"},"
             "\"observed\":{\"speedup\":{\"value\":1,\"half_width\":0}}},"
             "{\"series\":\"two\",\"set\":{\"run.sm_count\":80,\"game\":\"Pong\"},"
             "\"observed\":{\"time_bias_frac\":{\"value\":-0.1}}}]}");
    CU_ASSERT_STRING_EQUAL(reference->name, "r");
    CU_ASSERT_STRING_EQUAL(reference->title, "T");
    CU_ASSERT_STRING_EQUAL(reference->note, "N");
    CU_ASSERT_EQUAL_FATAL(reference->point_count, 3);
    const struct fulcrum_reference_point *point = &reference->points[0];
    CU_ASSERT_STRING_EQUAL(point->series, "one");
    CU_ASSERT_EQUAL_FATAL(point->setting_count, 2);
    CU_ASSERT_STRING_EQUAL(point->settings[0].path, "game");
    CU_ASSERT_STRING_EQUAL(point->settings[0].text, "Pong");
    CU_ASSERT(isnan(point->settings[0].number));
    CU_ASSERT_STRING_EQUAL(point->settings[1].path, "run.sm_count");
    CU_ASSERT_EQUAL(point->settings[1].number, 40.0);
    CU_ASSERT_STRING_EQUAL(point->settings[1].text, "");
    CU_ASSERT_EQUAL(reference->is_relative, 1);
    CU_ASSERT_EQUAL(reference->relative_to, 1);
    CU_ASSERT_EQUAL(reference->points[2].observations[0].value, -0.1);
    fulcrum_reference_free(reference);
}

/* A preset with what it extends, and an object whose other fields stay unknown. */
TEST(test_one_series_can_be_taken_by_itself)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_error err;
    ASSERT_OK(fulcrum_reference_load("sf-fig3-10-core-atari", &reference, NULL));
    CU_ASSERT_EQUAL(fulcrum_reference_keep_series(reference, "SEED RL", &err),
        FULCRUM_ERR_UNKNOWN_NAME);
    CU_ASSERT(strstr(err.detail, "'SEED RL V-trace'") != NULL);
    size_t all = reference->point_count;
    ASSERT_OK(fulcrum_reference_keep_series(reference, "SEED RL V-trace", &err));
    CU_ASSERT_EQUAL(reference->point_count, 5);
    CU_ASSERT(all > 5);
    for (size_t i = 0; i < reference->point_count; i++) {
        CU_ASSERT_STRING_EQUAL(reference->points[i].series, "SEED RL V-trace");
        CU_ASSERT_EQUAL(reference->points[i].index, all - 5 + i);
    }
    fulcrum_reference_free(reference);
}

TEST(test_series_have_calibrations_of_their_own)
{
    struct fulcrum_reference *reference =
        load_good(HEAD "\"calibration\":\"v100-impala-prior\","
                       "\"calibrations\":{\"one\":\"v100-prior\"}," SERIES "}");
    CU_ASSERT_EQUAL(reference->calibration_count, 1);
    CU_ASSERT_STRING_EQUAL(
        fulcrum_reference_calibration(reference, "one"), "v100-prior");
    CU_ASSERT_STRING_EQUAL(
        fulcrum_reference_calibration(reference, "other"), "v100-impala-prior");
    fulcrum_reference_free(reference);
    reference = load_good(HEAD "\"workload\":\"r2d2-atari\"," SERIES "}");
    CU_ASSERT_STRING_EQUAL(
        fulcrum_reference_calibration(reference, "one"), "v100-prior");
    fulcrum_reference_free(reference);
    reference = load_good(HEAD SERIES "}");
    CU_ASSERT_STRING_EQUAL(fulcrum_reference_calibration(reference, "one"), "");
    fulcrum_reference_free(reference);
}

/* Wherever the program runs, a path is seen from the file that names it. */
TEST(test_calibrations_lie_beside_the_reference)
{
    struct scratch scratch = scratch_new();
    struct fulcrum_reference *reference = NULL;
    char *path = scratch_write(&scratch, "my.json",
        HEAD
        "\"calibration\":\"c.json\",\"calibrations\":{\"one\":\"/d/c.json\"}," SERIES
        "}");
    char *beside = scratch_write(&scratch, "c.json", "");
    ASSERT_OK(fulcrum_reference_load(path, &reference, NULL));
    CU_ASSERT_STRING_EQUAL(reference->calibration, beside);
    CU_ASSERT_STRING_EQUAL(
        fulcrum_reference_calibration(reference, "one"), "/d/c.json");
    fulcrum_reference_free(reference);
    free(beside);
    free(path);
    scratch_free(&scratch);
}

TEST(test_machine_and_workload_fill_the_design)
{
    struct fulcrum_reference *reference = load_good(
        "{" SCHEMA NAMED KIND "\"source\":{\"points\":\"p\",\"workload\":\"w\"},"
        "\"machine\":\"dgx-1-inci2020\",\"workload\":{\"name\":\"mine\","
        "\"frame_skip\":4,\"step\":{\"mean_s\":0.002}}," GOOD "}");
    CU_ASSERT_STRING_EQUAL(reference->machine, "dgx-1-inci2020");
    CU_ASSERT_EQUAL(reference->design.machine.cpu.thread_count, 40.0);
    CU_ASSERT_EQUAL(reference->design.machine.gpu.sm_count, 80.0);
    CU_ASSERT_STRING_EQUAL(reference->workload, "mine");
    CU_ASSERT_EQUAL(reference->design.workload.frame_skip, 4.0);
    CU_ASSERT_EQUAL(reference->design.workload.step.mean_s, 0.002);
    CU_ASSERT(isnan(reference->design.workload.step.cv));
    CU_ASSERT_EQUAL(reference->design.run.gpu_count, 1.0);
    CU_ASSERT_EQUAL_FATAL(reference->source_count, 2);
    CU_ASSERT_STRING_EQUAL(reference->sources[1].part, "workload");
    CU_ASSERT_STRING_EQUAL(reference->sources[1].text, "w");
    fulcrum_reference_free(reference);
    reference = load_good(HEAD "\"machine\":null,\"calibration\":null," GOOD "}");
    CU_ASSERT_STRING_EQUAL(reference->machine, "");
    CU_ASSERT_STRING_EQUAL(reference->calibration, "");
    CU_ASSERT(isnan(reference->design.machine.cpu.thread_count));
    fulcrum_reference_free(reference);
}

/* Ratios need their base point to be 1; what nothing predicts says why. */
static void check_preset(const struct fulcrum_reference *reference)
{
    const char *name = reference->name;
    CU_ASSERT(reference->point_count > 0);
    CU_ASSERT(reference->title[0] != '\0');
    if (reference->predictor == FULCRUM_PREDICTOR_NONE &&
        reference->not_predicted[0] == '\0') {
        (void)fprintf(stderr, "%s does not say why nothing predicts it\n", name);
        CU_FAIL("no reason");
    }
    if (reference->is_relative) {
        const struct fulcrum_reference_point *base =
            &reference->points[reference->relative_to];
        CU_ASSERT_EQUAL_FATAL(base->observation_count, 1);
        CU_ASSERT_EQUAL(base->observations[0].value, 1.0);
        CU_ASSERT_EQUAL(base->observations[0].half_width, 0.0);
    }
}

static void load_preset(const char *name)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    if (fulcrum_reference_load(name, &reference, &err) != FULCRUM_OK) {
        (void)fprintf(stderr, "%s\n", err.detail);
        CU_FAIL("a shipped reference does not load");
        return;
    }
    check_preset(reference);
    fulcrum_reference_free(reference);
}

/* The first row of a table that names it; "" where there is none. */
static void find_row(const char *document, const char *name, char *out, size_t size)
{
    char wanted[80];
    (void)snprintf(wanted, sizeof wanted, "`%s`", name);
    const char *found = strstr(document, wanted);
    while (found != NULL && found > document && found[-1] != '\n') {
        found--;
    }
    size_t length = found != NULL ? strcspn(found, "\n") : 0;
    (void)snprintf(out, size, "%.*s", (int)length, found != NULL ? found : "");
}

/* docs/references.md is written by hand. */
static void check_document(const char *document, const char *name)
{
    struct fulcrum_reference *reference = NULL;
    ASSERT_OK(fulcrum_reference_load(name, &reference, NULL));
    char row[600];
    char predictor[40];
    find_row(document, name, row, sizeof row);
    (void)snprintf(predictor, sizeof predictor, "| `%s` |",
        fulcrum_predictor_name(reference->predictor));
    assert_part(row, name);
    assert_part(row, predictor);
    fulcrum_reference_free(reference);
}

TEST(test_every_shipped_reference_is_documented)
{
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = 0;
    ASSERT_OK(fulcrum_preset_list(FULCRUM_PRESET_REFERENCE, &entries, &count, NULL));
    char *document = scratch_read("docs/references.md");
    for (size_t i = 0; i < count; i++) {
        check_document(document, entries[i].name);
    }
    free(document);
    free(entries);
}

TEST(test_every_shipped_reference_loads)
{
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = 0;
    ASSERT_OK(fulcrum_preset_list(FULCRUM_PRESET_REFERENCE, &entries, &count, NULL));
    CU_ASSERT(count >= 33);
    for (size_t i = 0; i < count; i++) {
        load_preset(entries[i].name);
    }
    free(entries);
}

SUITE_SETUP
{
    /* The data of this tree, not what is installed; CTest runs in its root. */
    return setenv("FULCRUM_PRESETS", "presets", 1);
}
