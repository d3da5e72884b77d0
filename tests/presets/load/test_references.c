/* test_references.c - references from files and tables, and saved again. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/string.h"
#include "presets/load/preset.h"
#include "presets/load/reference_file.h"
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

/* A preset by its name, a file by its path. */
static struct fulcrum_reference *load(const char *name)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    ASSERT_OK(fulcrum_reference_load(name, &reference, &err));
    CU_ASSERT_STRING_EQUAL(err.detail, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(reference);
    return reference;
}

/* A file of that content. */
static struct fulcrum_reference *load_good(const char *content)
{
    struct scratch scratch = scratch_new();
    struct fulcrum_reference *reference =
        load(scratch_put(&scratch, "my.json", content));
    scratch_free(&scratch);
    return reference;
}

TEST(test_all_faults_of_a_file_are_named_in_one_go)
{
    static const char content[] =
        "{" SCHEMA NAMED SOURCE "\"predictor\":\"x\",\"frame_skip\":0,"
        "\"drift_sd\":-0.1,\"machine\":\"dgx-0\",\"relative_to\":5,\"points\":[{"
        "\"set\":{\"a.b\":1},"
        "\"observed\":{\"gpu_w\":{\"value\":-1,\"half_width\":-1}}}]}";
    static const char *const parts[] = {"predictor = \"x\"", "frame_skip = 0",
        "drift_sd = -0.1", "machine = \"dgx-0\"", "relative_to = 5",
        "set.a.b: no field is called so", "gpu_w.value = -1", "gpu_w.half_width = -1"};
    struct scratch scratch = scratch_new();
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    const char *path = scratch_put(&scratch, "my.json", content);
    CU_ASSERT_NOT_EQUAL(fulcrum_reference_load(path, &reference, &err), FULCRUM_OK);
    scratch_free(&scratch);
    size_t lines = 1;
    for (const char *c = err.detail; *c != '\0'; c++) {
        lines += *c == '\n' ? 1 : 0;
    }
    CU_ASSERT_EQUAL(lines, LENGTH(parts));
    for (size_t i = 0; i < LENGTH(parts); i++) {
        assert_part(err.detail, parts[i]);
    }
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

TEST(test_one_series_can_be_taken_by_itself)
{
    struct fulcrum_reference *reference = load("sf-fig3-10-core-atari");
    ASSERT_FAILS(fulcrum_reference_keep_series(reference, "SEED RL", &err),
        FULCRUM_ERR_UNKNOWN_NAME, "'SEED RL V-trace'");
    size_t all = reference->point_count;
    ASSERT_OK(fulcrum_reference_keep_series(reference, "SEED RL V-trace", NULL));
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
    struct fulcrum_reference *reference = load(scratch_put(&scratch, "my.json",
        HEAD
        "\"calibration\":\"c.json\",\"calibrations\":{\"one\":\"/d/c.json\"}," SERIES
        "}"));
    CU_ASSERT_STRING_EQUAL(reference->calibration, scratch_put(&scratch, "c.json", ""));
    CU_ASSERT_STRING_EQUAL(
        fulcrum_reference_calibration(reference, "one"), "/d/c.json");
    fulcrum_reference_free(reference);
    scratch_free(&scratch);
}

/* A preset with what it extends, and an object whose other fields stay unknown. */
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
static void check_document(const struct fulcrum_reference *reference)
{
    char row[600];
    char predictor[40];
    char *document = scratch_read("docs/references.md");
    find_row(document, reference->name, row, sizeof row);
    (void)snprintf(predictor, sizeof predictor, "| `%s` |",
        fulcrum_predictor_name((int)reference->predictor));
    assert_part(row, reference->name);
    assert_part(row, predictor);
    free(document);
}

static void each_shipped(void (*check)(const struct fulcrum_reference *reference))
{
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = 0;
    ASSERT_OK(fulcrum_preset_list(FULCRUM_PRESET_REFERENCE, &entries, &count, NULL));
    CU_ASSERT(count >= 33);
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_reference *reference = load(entries[i].name);
        check(reference);
        fulcrum_reference_free(reference);
    }
    free(entries);
}

TEST(test_every_shipped_reference_is_documented)
{
    each_shipped(check_document);
}

TEST(test_every_shipped_reference_loads)
{
    each_shipped(check_preset);
}

SUITE_SETUP
{
    /* The data of this tree, not what is installed; CTest runs in its root. */
    return setenv("FULCRUM_PRESETS", "presets", 1);
}

/* NAN is a value here: not known. */
static void tell_number(struct fulcrum_string *out, const char *what, double value)
{
    fulcrum_string_add(out, isnan(value) ? "%s=?\n" : "%s=%.17g\n", what, value);
}

static void tell_point(
    struct fulcrum_string *out, const struct fulcrum_reference_point *point)
{
    fulcrum_string_add(out, "point %zu of '%s'\n", point->index, point->series);
    for (size_t i = 0; i < point->setting_count; i++) {
        fulcrum_string_add(out, "set '%s' ", point->settings[i].text);
        tell_number(out, point->settings[i].path, point->settings[i].number);
    }
    for (size_t i = 0; i < point->observation_count; i++) {
        const struct fulcrum_observation *observation = &point->observations[i];
        tell_number(out, observation->quantity, observation->value);
        tell_number(out, "half width", observation->half_width);
    }
}

/* Everything but the frame skip and the run, which belongs to the points. */
static struct fulcrum_string tell(const struct fulcrum_reference *of)
{
    struct fulcrum_string out = {0};
    fulcrum_string_add(&out, "'%s' '%s' '%s' '%s'\n'%s' '%s' '%s' %d %d %zu\n",
        of->name, of->title, of->note, of->not_predicted, of->machine, of->workload,
        of->calibration, (int)of->predictor, of->is_relative, of->relative_to);
    for (size_t i = 0; i < of->point_count; i++) {
        tell_point(&out, &of->points[i]);
    }
    for (size_t i = 0; i < of->source_count; i++) {
        fulcrum_string_add(
            &out, "source '%s' '%s'\n", of->sources[i].part, of->sources[i].text);
    }
    for (size_t i = 0; i < of->calibration_count; i++) {
        fulcrum_string_add(&out, "series '%s' '%s'\n", of->calibrations[i].series,
            of->calibrations[i].calibration);
    }
    size_t count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&count);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(fields[i].path, "run.", 4) == 0) {
            continue;
        }
        fulcrum_string_add(&out, "'%s' ", fulcrum_field_text(&fields[i], &of->design));
        tell_number(
            &out, fields[i].path, fulcrum_field_number(&fields[i], &of->design));
    }
    return out;
}

static void assert_same(
    const struct fulcrum_reference *found, const struct fulcrum_reference *expected)
{
    struct fulcrum_string text = tell(found);
    struct fulcrum_string wanted = tell(expected);
    CU_ASSERT(text.length > 1000);
    CU_ASSERT_STRING_EQUAL(fulcrum_string_get(&text), fulcrum_string_get(&wanted));
    fulcrum_string_clear(&text);
    fulcrum_string_clear(&wanted);
}

/* Sources of the presets that a reference names stay with them; an object needs its
 * own. */
static void add_source(struct fulcrum_reference *reference, const char *part)
{
    for (size_t i = 0; i < reference->source_count; i++) {
        if (strcmp(reference->sources[i].part, part) == 0) {
            return;
        }
    }
    struct fulcrum_reference_source *more = realloc(
        reference->sources, (reference->source_count + 1) * sizeof *reference->sources);
    if (more == NULL) {
        abort();
    }
    reference->sources = more;
    more = &more[reference->source_count++];
    *more = (struct fulcrum_reference_source){.text = "of the preset"};
    (void)snprintf(more->part, sizeof more->part, "%s", part);
}

static void assert_round_trip(const struct fulcrum_reference *shipped)
{
    struct scratch scratch = scratch_new();
    const char *path = scratch_at(&scratch, "saved.json");
    const char *again = scratch_at(&scratch, "again.json");
    struct fulcrum_reference *reference = load(shipped->name);
    if (reference->machine[0] != '\0') {
        add_source(reference, "machine");
    }
    if (reference->workload[0] != '\0') {
        add_source(reference, "workload");
    }
    ASSERT_OK(fulcrum_reference_save(reference, path, NULL));
    struct fulcrum_reference *read = load(path);
    assert_same(read, reference);
    assert_close("frame skip", read->frame_skip, 1.0, 0.0);
    /* The same bytes once more: nothing is lost by being read. */
    ASSERT_OK(fulcrum_reference_save(read, again, NULL));
    char *first = scratch_read(path);
    char *second = scratch_read(again);
    CU_ASSERT(strlen(first) > 100);
    CU_ASSERT_STRING_EQUAL(second, first);
    free(first);
    free(second);
    fulcrum_reference_free(read);
    fulcrum_reference_free(reference);
    scratch_free(&scratch);
}

TEST(test_every_reference_there_is_survives_a_round_trip)
{
    each_shipped(assert_round_trip);
}

/* What no preset has: text with quotes, half-widths and numbers of all sizes. */
static struct fulcrum_reference odd_reference(void)
{
    static struct fulcrum_reference_setting settings[] = {
        {.path = "run.actor_count", .number = 3},
        {.path = "workload.batching.policy", .number = (double)NAN, .text = "fixed"},
        {.path = "colour", .number = (double)NAN, .text = "gr\303\274n \"dark\""},
    };
    static struct fulcrum_observation observations[] = {
        {"steps_per_s", 0.1 + 0.2, (double)NAN},
        {"gpu_w", 1e-300, 0.0},
        {"cpu_w", 1e20, 3.0000000000000004},
    };
    static struct fulcrum_reference_point points[] = {
        {0, "one \\ two", 3, settings, 3, observations},
        {1, "one \\ two", 1, settings, 1, observations}};
    static struct fulcrum_reference_source source = {"points", "line one\nline two"};
    struct fulcrum_reference odd = {.name = "odd",
        .title = "Odd \"things\"",
        .note = "a tab\there",
        .predictor = FULCRUM_PREDICTOR_NONE,
        .frame_skip = 1.0,
        .drift_sd = 0.07,
        .is_relative = 1,
        .relative_to = 1,
        .point_count = 2,
        .points = points,
        .source_count = 1,
        .sources = &source};
    fulcrum_design_init(&odd.design);
    return odd;
}

TEST(test_odd_text_and_numbers_survive)
{
    struct scratch scratch = scratch_new();
    const char *path = scratch_at(&scratch, "odd.json");
    struct fulcrum_reference odd = odd_reference();
    ASSERT_OK(fulcrum_reference_save(&odd, path, NULL));
    struct fulcrum_reference *read = load(path);
    assert_same(read, &odd);
    assert_close("drift", read->drift_sd, odd.drift_sd, 0.0);
    fulcrum_reference_free(read);
    scratch_free(&scratch);
}

TEST(test_a_reference_without_name_or_source_is_not_saved)
{
    struct scratch scratch = scratch_new();
    const char *path = scratch_at(&scratch, "none.json");
    for (int i = 0; i < 2; i++) {
        struct fulcrum_reference odd = odd_reference();
        odd.source_count = i == 0 ? 0 : 1;
        odd.name[0] = i == 0 ? 'o' : '\0';
        ASSERT_FAILS(fulcrum_reference_save(&odd, path, &err), FULCRUM_ERR_MISSING,
            "none.json: a reference needs a name and a source");
    }
    CU_ASSERT_EQUAL(scratch_count(&scratch), 0);
    scratch_free(&scratch);
}

TEST(test_a_write_that_fails_leaves_nothing)
{
    struct scratch scratch = scratch_new();
    struct fulcrum_reference odd = odd_reference();
    ASSERT_FAILS(
        fulcrum_reference_save(&odd, scratch_at(&scratch, "no/such/folder.json"), &err),
        FULCRUM_ERR_FILE, "folder.json");
    CU_ASSERT_EQUAL(scratch_count(&scratch), 0);
    /* A folder of that name: the text is written beside it, and cannot take its place.
     */
    const char *taken = scratch_at(&scratch, "taken.json");
    CU_ASSERT_EQUAL_FATAL(mkdir(taken, 0777), 0);
    ASSERT_FAILS(
        fulcrum_reference_save(&odd, taken, &err), FULCRUM_ERR_FILE, "taken.json");
    CU_ASSERT_EQUAL(scratch_count(&scratch), 1);
    scratch_free(&scratch);
}

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
    const char *path = scratch_put(&scratch, "my runs.CSV", text);
    enum fulcrum_status status = fulcrum_reference_csv_load(path, &design, out, err);
    scratch_free(&scratch);
    return status;
}

static struct fulcrum_reference *load_csv(const char *text)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    ASSERT_OK(load_text(text, &reference, &err));
    CU_ASSERT_STRING_EQUAL(err.detail, "");
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
        load_csv("\xef\xbb\xbf# by hand\r\n"
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
    struct fulcrum_reference *first = load_csv("run.env_count,speedup,gpu_w\n"
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
    struct fulcrum_reference *marked = load_csv("actors,runtime_rel,is_base\n"
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
    struct fulcrum_string text = {0};
    fulcrum_string_add(&text, "actors,steps_per_s\n");
    for (size_t i = 0; i < count; i++) {
        fulcrum_string_add(&text, "4,900\n");
    }
    enum fulcrum_status status = load_text(fulcrum_string_get(&text), &reference, err);
    fulcrum_reference_free(reference);
    fulcrum_string_clear(&text);
    return status;
}

TEST(test_a_file_has_its_limit)
{
    ASSERT_OK(load_rows(FULCRUM_REFERENCE_CSV_ROWS_MOST, NULL));
    ASSERT_FAILS(load_rows(FULCRUM_REFERENCE_CSV_ROWS_MOST + 1, &err),
        FULCRUM_ERR_RANGE, "1001 rows: expected at most 1000");
}
