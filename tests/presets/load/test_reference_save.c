/* test_reference_save.c - what is saved of a reference is read again, member by member.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "presets/load/reference_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "presets/load/preset.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

/* NAN is a value here: not known. */
static void assert_number(const char *what, double found, double expected)
{
    if (isnan(expected)) {
        CU_ASSERT(isnan(found));
    } else {
        assert_close(what, found, expected, 0.0);
    }
}

static void assert_settings(const struct fulcrum_reference_point *found,
    const struct fulcrum_reference_point *expected)
{
    CU_ASSERT_EQUAL_FATAL(found->setting_count, expected->setting_count);
    for (size_t i = 0; i < found->setting_count; i++) {
        CU_ASSERT_STRING_EQUAL(found->settings[i].path, expected->settings[i].path);
        CU_ASSERT_STRING_EQUAL(found->settings[i].text, expected->settings[i].text);
        assert_number(found->settings[i].path, found->settings[i].number,
            expected->settings[i].number);
    }
}

static void assert_observations(const struct fulcrum_reference_point *found,
    const struct fulcrum_reference_point *expected)
{
    CU_ASSERT_EQUAL_FATAL(found->observation_count, expected->observation_count);
    for (size_t i = 0; i < found->observation_count; i++) {
        const struct fulcrum_observation *observation = &found->observations[i];
        const struct fulcrum_observation *wanted = &expected->observations[i];
        CU_ASSERT_STRING_EQUAL(observation->quantity, wanted->quantity);
        assert_number(wanted->quantity, observation->value, wanted->value);
        assert_number("half width", observation->half_width, wanted->half_width);
    }
}

static void assert_points(
    const struct fulcrum_reference *found, const struct fulcrum_reference *expected)
{
    CU_ASSERT_EQUAL_FATAL(found->point_count, expected->point_count);
    for (size_t i = 0; i < found->point_count; i++) {
        CU_ASSERT_EQUAL(found->points[i].index, expected->points[i].index);
        CU_ASSERT_STRING_EQUAL(found->points[i].series, expected->points[i].series);
        assert_settings(&found->points[i], &expected->points[i]);
        assert_observations(&found->points[i], &expected->points[i]);
    }
}

static void assert_lists(
    const struct fulcrum_reference *found, const struct fulcrum_reference *expected)
{
    CU_ASSERT_EQUAL_FATAL(found->source_count, expected->source_count);
    for (size_t i = 0; i < found->source_count; i++) {
        CU_ASSERT_STRING_EQUAL(found->sources[i].part, expected->sources[i].part);
        CU_ASSERT_STRING_EQUAL(found->sources[i].text, expected->sources[i].text);
    }
    CU_ASSERT_EQUAL_FATAL(found->calibration_count, expected->calibration_count);
    for (size_t i = 0; i < found->calibration_count; i++) {
        const struct fulcrum_series_calibration *own = &found->calibrations[i];
        CU_ASSERT_STRING_EQUAL(own->series, expected->calibrations[i].series);
        CU_ASSERT_STRING_EQUAL(own->calibration, expected->calibrations[i].calibration);
    }
}

/* Every field of machine and workload, whatever their kinds. */
static void assert_designs(
    const struct fulcrum_design *found, const struct fulcrum_design *expected)
{
    size_t count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&count);
    for (size_t i = 0; i < count; i++) {
        const struct fulcrum_field *field = &fields[i];
        if (strncmp(field->path, "run.", 4) == 0) {
            continue; /* belongs to the points */
        }
        CU_ASSERT_STRING_EQUAL(
            fulcrum_field_text(field, found), fulcrum_field_text(field, expected));
        if (field->kind != FULCRUM_FIELD_TEXT) {
            assert_number(field->path, fulcrum_field_number(field, found),
                fulcrum_field_number(field, expected));
        }
    }
}

static void assert_same(
    const struct fulcrum_reference *found, const struct fulcrum_reference *expected)
{
    CU_ASSERT_STRING_EQUAL(found->name, expected->name);
    CU_ASSERT_STRING_EQUAL(found->title, expected->title);
    CU_ASSERT_STRING_EQUAL(found->note, expected->note);
    CU_ASSERT_STRING_EQUAL(found->not_predicted, expected->not_predicted);
    CU_ASSERT_STRING_EQUAL(found->machine, expected->machine);
    CU_ASSERT_STRING_EQUAL(found->workload, expected->workload);
    CU_ASSERT_STRING_EQUAL(found->calibration, expected->calibration);
    CU_ASSERT_EQUAL(found->predictor, expected->predictor);
    CU_ASSERT_EQUAL(found->is_relative, expected->is_relative);
    CU_ASSERT_EQUAL(found->relative_to, expected->relative_to);
    assert_points(found, expected);
    assert_lists(found, expected);
    assert_designs(&found->design, &expected->design);
}

static struct fulcrum_reference *load(const char *name)
{
    struct fulcrum_reference *reference = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    ASSERT_OK(fulcrum_reference_load(name, &reference, &err));
    CU_ASSERT_STRING_EQUAL(err.detail, "");
    if (reference == NULL) {
        abort();
    }
    return reference;
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

static void assert_round_trip(const char *name)
{
    struct scratch scratch = scratch_new();
    char *path = scratch_path(&scratch, "saved.json");
    char *again = scratch_path(&scratch, "again.json");
    struct fulcrum_reference *reference = load(name);
    if (reference->machine[0] != '\0') {
        add_source(reference, "machine");
    }
    if (reference->workload[0] != '\0') {
        add_source(reference, "workload");
    }
    struct fulcrum_error err = {FULCRUM_OK, ""};
    ASSERT_OK(fulcrum_reference_save(reference, path, &err));
    CU_ASSERT_STRING_EQUAL(err.detail, "");
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
    free(path);
    free(again);
    fulcrum_reference_free(read);
    fulcrum_reference_free(reference);
    scratch_free(&scratch);
}

TEST(test_every_reference_there_is_survives_a_round_trip)
{
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = 0;
    ASSERT_OK(fulcrum_preset_list(FULCRUM_PRESET_REFERENCE, &entries, &count, NULL));
    CU_ASSERT(count > 10);
    for (size_t i = 0; i < count; i++) {
        assert_round_trip(entries[i].name);
    }
    free(entries);
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
        {.index = 0,
            .series = "one \\ two",
            .settings = settings,
            .setting_count = 3,
            .observations = observations,
            .observation_count = 3},
        {.index = 1,
            .series = "one \\ two",
            .settings = settings,
            .setting_count = 1,
            .observations = observations,
            .observation_count = 1},
    };
    static struct fulcrum_reference_source sources[] = {
        {"points", "line one\nline two"}};
    struct fulcrum_reference odd = {.name = "odd",
        .title = "Odd \"things\"",
        .note = "a tab\there",
        .predictor = FULCRUM_PREDICTOR_NONE,
        .frame_skip = 1.0,
        .is_relative = 1,
        .relative_to = 1,
        .point_count = 2,
        .points = points,
        .source_count = 1,
        .sources = sources};
    fulcrum_design_init(&odd.design);
    return odd;
}

TEST(test_odd_text_and_numbers_survive)
{
    struct scratch scratch = scratch_new();
    char *path = scratch_path(&scratch, "odd.json");
    struct fulcrum_reference odd = odd_reference();
    ASSERT_OK(fulcrum_reference_save(&odd, path, NULL));
    struct fulcrum_reference *read = load(path);
    assert_same(read, &odd);
    fulcrum_reference_free(read);
    free(path);
    scratch_free(&scratch);
}

TEST(test_a_reference_without_name_or_source_is_not_saved)
{
    struct scratch scratch = scratch_new();
    char *path = scratch_path(&scratch, "none.json");
    for (int i = 0; i < 2; i++) {
        struct fulcrum_reference odd = odd_reference();
        odd.source_count = i == 0 ? 0 : 1;
        odd.name[0] = i == 0 ? 'o' : '\0';
        ASSERT_FAILS(fulcrum_reference_save(&odd, path, &err), FULCRUM_ERR_MISSING,
            "none.json: a reference needs a name and a source");
    }
    CU_ASSERT_EQUAL(scratch_count(&scratch), 0);
    free(path);
    scratch_free(&scratch);
}

TEST(test_a_write_that_fails_leaves_nothing)
{
    struct scratch scratch = scratch_new();
    struct fulcrum_reference odd = odd_reference();
    char *nowhere = scratch_path(&scratch, "no/such/folder.json");
    ASSERT_FAILS(
        fulcrum_reference_save(&odd, nowhere, &err), FULCRUM_ERR_FILE, "folder.json");
    CU_ASSERT_EQUAL(scratch_count(&scratch), 0);
    /* A folder of that name: the text is written beside it, and cannot take its place.
     */
    char *taken = scratch_path(&scratch, "taken.json");
    CU_ASSERT_EQUAL_FATAL(mkdir(taken, 0777), 0);
    ASSERT_FAILS(
        fulcrum_reference_save(&odd, taken, &err), FULCRUM_ERR_FILE, "taken.json");
    CU_ASSERT_EQUAL(scratch_count(&scratch), 1);
    free(nowhere);
    free(taken);
    scratch_free(&scratch);
}
