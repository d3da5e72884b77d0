/* test_reference_csv.c - tables that people keep become references, or say why not. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* open_memstream */

#include "presets/load/reference_csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "presets/load/preset.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static struct fulcrum_design paper(void)
{
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    ASSERT_OK(fulcrum_machine_load("dgx-1-inci2020", &design, NULL, NULL));
    ASSERT_OK(fulcrum_workload_load("r2d2-atari", &design, NULL, NULL));
    return design;
}

static enum fulcrum_status load_text(
    const char *text, struct fulcrum_reference **out, struct fulcrum_error *err)
{
    struct scratch scratch = scratch_new();
    struct fulcrum_design design = paper();
    char *path = scratch_write(&scratch, "my runs.CSV", text);
    enum fulcrum_status status = fulcrum_reference_csv_load(path, &design, out, err);
    free(path);
    scratch_free(&scratch);
    return status;
}

static struct fulcrum_reference *load(const char *text)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    enum fulcrum_status status = load_text(text, &reference, &err);
    if (status != FULCRUM_OK) {
        (void)fprintf(stderr, "%s\n", err.detail);
    }
    ASSERT_OK(status);
    return reference;
}

TEST(test_names_of_csv_files)
{
    CU_ASSERT(fulcrum_reference_is_csv("a.csv"));
    CU_ASSERT(fulcrum_reference_is_csv("./b/A.CSV"));
    CU_ASSERT(!fulcrum_reference_is_csv(".csv"));
    CU_ASSERT(!fulcrum_reference_is_csv("csv"));
    CU_ASSERT(!fulcrum_reference_is_csv("a.csv.json"));
}

static void assert_observed(const struct fulcrum_reference_point *point, size_t index,
    const char *quantity, double value)
{
    CU_ASSERT_FATAL(index < point->observation_count);
    CU_ASSERT_STRING_EQUAL(point->observations[index].quantity, quantity);
    assert_close(quantity, point->observations[index].value, value, 1e-15);
}

/* As spreadsheets write them: byte order mark, carriage returns, quotes, blank lines.
 */
TEST(test_a_table_becomes_points)
{
    struct fulcrum_reference *reference =
        load("\xef\xbb\xbf# by hand\r\n"
             "\"actors\",workload.batching.policy,frames_per_s,"
             "frames_per_s_half_width,gpu_w,series\r\n"
             "4,greedy,4000,40,,\"one, two\"\r\n"
             "# a pause\r\n"
             "4,greedy,4040,40,,\"one, two\"\r\n"
             "64,fixed,,,81.5,\r\n"
             "\r\n\r\n");
    const struct fulcrum_reference_point *points = reference->points;
    CU_ASSERT_STRING_EQUAL(reference->name, "my runs");
    CU_ASSERT_STRING_EQUAL(reference->machine, "dgx-1-inci2020");
    CU_ASSERT_STRING_EQUAL(reference->workload, "r2d2-atari");
    CU_ASSERT_EQUAL(reference->predictor, FULCRUM_PREDICTOR_THROUGHPUT);
    CU_ASSERT_EQUAL(reference->is_relative, 0);
    CU_ASSERT_EQUAL(reference->frame_skip, 4.0);
    assert_part(reference->sources[0].text, "my runs.CSV: by hand");
    CU_ASSERT_EQUAL_FATAL(reference->point_count, 3);
    CU_ASSERT_EQUAL(points[2].index, 2);
    CU_ASSERT_STRING_EQUAL(points[0].series, "one, two");
    CU_ASSERT_STRING_EQUAL(points[2].series, "");
    CU_ASSERT_EQUAL_FATAL(points[0].setting_count, 2);
    CU_ASSERT_STRING_EQUAL(points[0].settings[0].path, "run.actor_count");
    CU_ASSERT_EQUAL(points[0].settings[0].number, 4.0);
    CU_ASSERT_STRING_EQUAL(points[0].settings[1].text, "greedy");
    CU_ASSERT(isnan(points[0].settings[1].number));
    CU_ASSERT_EQUAL(points[0].observation_count, 1);
    assert_observed(&points[0], 0, "steps_per_s", 1000.0);
    assert_close("half-width", points[0].observations[0].half_width, 10.0, 1e-15);
    assert_observed(&points[1], 0, "steps_per_s", 1010.0);
    CU_ASSERT_EQUAL(points[2].observation_count, 1);
    assert_observed(&points[2], 0, "gpu_w", 81.5);
    CU_ASSERT(isnan(points[2].observations[0].half_width));
    fulcrum_reference_free(reference);
}

/* Ratios refer to the first row; its watts count nevertheless. */
TEST(test_ratios_refer_to_a_row)
{
    struct fulcrum_reference *first = load("run.env_count,speedup,gpu_w\n"
                                           "4,1,70\n"
                                           "40,5.8,110\n");
    CU_ASSERT_EQUAL(first->is_relative, 1);
    CU_ASSERT_EQUAL(first->relative_to, 0);
    CU_ASSERT_EQUAL_FATAL(first->point_count, 3);
    CU_ASSERT_STRING_EQUAL(first->points[2].settings[0].path, "run.env_count");
    CU_ASSERT_EQUAL(first->points[2].settings[0].number, 4.0);
    CU_ASSERT_EQUAL(first->points[2].index, 0);
    CU_ASSERT_EQUAL(first->points[2].observation_count, 1);
    assert_observed(&first->points[2], 0, "gpu_w", 70.0);
    fulcrum_reference_free(first);
    struct fulcrum_reference *marked = load("actors,runtime_rel,is_base\n"
                                            "4,5.8,0\n"
                                            "40,1,1\n"
                                            "256,0.5,\n");
    CU_ASSERT_EQUAL(marked->is_relative, 1);
    CU_ASSERT_EQUAL(marked->relative_to, 1);
    CU_ASSERT_EQUAL(marked->point_count, 3);
    fulcrum_reference_free(marked);
}

static const struct {
    const char *text;
    enum fulcrum_status status;
    const char *part;
} faults[] = {
    {"actors,steps_per_s\n1e9,3\n", FULCRUM_ERR_RANGE, "line 2: actors = 1e9"},
    {"actors,steps_per_s\nmany,3\n", FULCRUM_ERR_FORMAT, "line 2: actors = many"},
    {"actors,steps_per_s\n4,inf\n", FULCRUM_ERR_FORMAT, "steps_per_s = inf"},
    {"actors,steps_per_s\n4,0\n", FULCRUM_ERR_RANGE, "expected a number above 0"},
    {"actors,steps_per_s\n4,1e22\n", FULCRUM_ERR_RANGE, "steps_per_s = 1e22"},
    {"run.env_count,steps_per_s\n4.5,9\n", FULCRUM_ERR_RANGE, "run.env_count = 4.5"},
    {"run.env_count,actors,steps_per_s\n4,4,9\n", FULCRUM_ERR_FORMAT,
        "column 1: 'run.env_count' beside a column of actors"},
    {"workload.step.law,steps_per_s\nodd,9\n", FULCRUM_ERR_RANGE, "= odd: expected"},
    {"machine.cpu.name,steps_per_s\nx,9\n", FULCRUM_ERR_UNKNOWN_NAME, "column 1"},
    {"series,steps_per_s\n\"\xff\",9\n", FULCRUM_ERR_RANGE, "UTF-8"},
    {"actors,speedup\n4,\n8,1\n", FULCRUM_ERR_MISSING, "line 2: nothing was observed"},
    {"actors,gpu_w,speedup\n4,70,\n8,90,2\n", FULCRUM_ERR_RANGE, "expected 1 here"},
    {"actors,speedup,is_base\n4,1,yes\n", FULCRUM_ERR_FORMAT, "is_base = yes"},
    {"actors,speedup,is_base\n4,1,2\n", FULCRUM_ERR_RANGE, "expected 1, 0 or nothing"},
    {"actors,steps_per_s,is_base\n4,9,1\n", FULCRUM_ERR_FORMAT, "column 3: is_base"},
    {"actors\n4\n", FULCRUM_ERR_MISSING, "no column of what was observed"},
    {"actors,steps_per_s\n4,9,8\n", FULCRUM_ERR_FORMAT, "line 2: has 3 cells"},
};

TEST(test_what_is_wrong_is_told_with_its_place)
{
    for (size_t i = 0; i < LENGTH(faults); i++) {
        struct fulcrum_reference *reference = NULL;
        struct fulcrum_error err = {FULCRUM_OK, ""};
        CU_ASSERT_EQUAL(load_text(faults[i].text, &reference, &err), faults[i].status);
        CU_ASSERT_PTR_NULL(reference);
        assert_part(err.detail, "my runs.CSV: ");
        assert_part(err.detail, faults[i].part);
    }
}

static enum fulcrum_status load_rows(size_t count, struct fulcrum_error *err)
{
    struct fulcrum_reference *reference = NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    CU_ASSERT_FATAL(stream != NULL);
    (void)fputs("actors,steps_per_s\n", stream);
    for (size_t i = 0; i < count; i++) {
        (void)fputs("4,900\n", stream);
    }
    (void)fclose(stream);
    enum fulcrum_status status = load_text(text, &reference, err);
    fulcrum_reference_free(reference);
    free(text);
    return status;
}

TEST(test_a_file_has_its_limit)
{
    struct fulcrum_error err = {FULCRUM_OK, ""};
    ASSERT_OK(load_rows(FULCRUM_REFERENCE_CSV_ROWS_MOST, &err));
    CU_ASSERT_EQUAL(
        load_rows(FULCRUM_REFERENCE_CSV_ROWS_MOST + 1, &err), FULCRUM_ERR_RANGE);
    assert_part(err.detail, "1001 rows: expected at most 1000");
}
