/* test_preset.c - machines and workloads are read with their sources. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "presets/load/preset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#define HEAD "{\"kind\":\"machine\",\"name\":\"m\","

/* Loads a file of that content. */
static enum fulcrum_status load_machine(const char *content,
    struct fulcrum_design *design, struct fulcrum_sources *sources,
    struct fulcrum_error *err)
{
    struct scratch scratch = scratch_new();
    const char *path = scratch_put(&scratch, "my.json", content);
    enum fulcrum_status status = fulcrum_machine_load(path, design, sources, err);
    scratch_free(&scratch);
    return status;
}

TEST(test_all_faults_come_in_one_go)
{
    struct fulcrum_design design;
    struct fulcrum_error err;
    /* Whatever the caller's error held before must not show. */
    memset(&err, 'x', sizeof err);
    CU_ASSERT_EQUAL(
        load_machine("{\"kind\":\"machine\",\"gpu\":{\"sm_count\":0,\"idle\":4},"
                     "\"rest_w\":\"a\\u001b\",\"psu_efficiency_frac\":0.9}",
            &design, NULL, &err),
        FULCRUM_ERR_MISSING);
    static const char *const parts[] = {"my.json: name is not given", "\n",
        "my.json: gpu.sm_count = 0: ", "my.json: gpu.idle: unknown key",
        "my.json: rest_w = \"a\\u001b\": ",
        "my.json: psu_efficiency_frac = 0.9: no source"};
    for (size_t i = 0; i < LENGTH(parts); i++) {
        assert_part(err.detail, parts[i]);
    }
    size_t lines = 1;
    for (const char *c = err.detail; *c != '\0'; c++) {
        lines += *c == '\n';
    }
    CU_ASSERT_EQUAL(lines, 5);
}

/* A copy, empty where there is none. */
static struct fulcrum_source source_of(
    const struct fulcrum_sources *sources, const char *path)
{
    static const struct fulcrum_source none = {.path = ""};
    const struct fulcrum_source *found = fulcrum_sources_find(sources, path);
    CU_ASSERT_PTR_NOT_NULL(found);
    return found != NULL ? *found : none;
}

TEST(test_a_given_machine_is_read_with_its_sources)
{
    struct fulcrum_design design;
    struct fulcrum_sources sources = {0, NULL};
    fulcrum_design_init(&design);
    ASSERT_OK(load_machine(HEAD
        "\"title\":\"T\",\"accelerator\":\"gpu\",\"rest_w\":4e2,"
        "\"gpu\":{\"idle_w\":40,\"floor_w\":22,\"sm_count\":80},"
        "\"source\":{\"gpu\":\"a\",\"rest_w\":\"b\",\"accelerator\":\"c\"},"
        "\"prior\":{\"gpu.idle_w\":{\"spread_factor\":1.3,\"reason\":\"d\"}}}",
        &design, &sources, NULL));
    CU_ASSERT_STRING_EQUAL(design.machine.name, "m");
    CU_ASSERT_STRING_EQUAL(design.machine.title, "T");
    CU_ASSERT_EQUAL(design.machine.rest_w, 400.0);
    CU_ASSERT_EQUAL(design.machine.gpu.sm_count, 80.0);
    CU_ASSERT(isnan(design.machine.gpu.count));
    CU_ASSERT_EQUAL(design.machine.gpu.power_exponent, 1.0);
    CU_ASSERT_EQUAL(sources.count, 5);
    CU_ASSERT_STRING_EQUAL(sources.items[0].path, "machine.accelerator");
    struct fulcrum_source idle = source_of(&sources, "machine.gpu.idle_w");
    struct fulcrum_source floor_w = source_of(&sources, "machine.gpu.floor_w");
    CU_ASSERT(idle.is_prior);
    CU_ASSERT_EQUAL(idle.spread_factor, 1.3);
    CU_ASSERT_STRING_EQUAL(idle.text, "d");
    CU_ASSERT_STRING_EQUAL(idle.file, "m");
    CU_ASSERT(!floor_w.is_prior);
    CU_ASSERT_EQUAL(floor_w.spread_factor, 1.0);
    CU_ASSERT_STRING_EQUAL(floor_w.text, "a");
    CU_ASSERT_PTR_NULL(fulcrum_sources_find(&sources, "machine.gpu.count"));
    fulcrum_sources_free(&sources);
    CU_ASSERT_EQUAL(sources.count, 0);
}

/* Of what has no entry of its own. */
TEST(test_one_source_may_be_that_of_all_values)
{
    struct fulcrum_design design;
    struct fulcrum_sources sources = {0, NULL};
    fulcrum_design_init(&design);
    ASSERT_OK(load_machine(HEAD
        "\"rest_w\":4e2,\"gpu\":{\"idle_w\":40},\"source\":\"inventory\","
        "\"prior\":{\"rest_w\":{\"spread_factor\":1.3,\"reason\":\"d\"}}}",
        &design, &sources, NULL));
    CU_ASSERT_STRING_EQUAL(source_of(&sources, "machine.rest_w").text, "d");
    CU_ASSERT_STRING_EQUAL(source_of(&sources, "machine.gpu.idle_w").text, "inventory");
    fulcrum_sources_free(&sources);
    ASSERT_FAILS(
        load_machine(HEAD "\"rest_w\":4e2,\"source\":\"\"}", &design, NULL, &err),
        FULCRUM_ERR_RANGE, "my.json: source = \"\": expected some text");
}

TEST(test_a_child_overrides_takes_back_and_keeps)
{
    struct scratch scratch = scratch_new();
    (void)scratch_put(&scratch, "parent.json",
        "{\"kind\":\"machine\",\"name\":\"parent\",\"title\":\"P\",\"rest_w\":300,"
        "\"cpu\":{\"core_count\":40,\"thread_count\":80,\"knee\":3},"
        "\"gpu\":{\"count\":8},\"source\":{\"cpu\":\"a\",\"gpu\":\"b\",\"rest_w\":"
        "\"c\"}}");
    const char *path = scratch_put(&scratch, "child.json",
        "{\"kind\":\"machine\",\"name\":\"child\",\"extends\":\"./parent.json\","
        "\"cpu\":{\"thread_count\":40,\"knee\":null},\"gpu\":null,"
        "\"prior\":{\"cpu\":{\"spread_factor\":2,\"reason\":\"d\"}}}");
    struct fulcrum_design design;
    struct fulcrum_sources sources = {0, NULL};
    fulcrum_design_init(&design);
    ASSERT_OK(fulcrum_machine_load(path, &design, &sources, NULL));
    CU_ASSERT_STRING_EQUAL(design.machine.name, "child");
    CU_ASSERT_STRING_EQUAL(design.machine.title, "child");
    CU_ASSERT_EQUAL(design.machine.cpu.core_count, 40.0);
    CU_ASSERT_EQUAL(design.machine.cpu.thread_count, 40.0);
    CU_ASSERT_EQUAL(design.machine.cpu.knee, 2.1);
    CU_ASSERT(isnan(design.machine.gpu.count));
    CU_ASSERT_EQUAL(design.machine.rest_w, 300.0);
    CU_ASSERT_EQUAL(sources.count, 3);
    struct fulcrum_source threads = source_of(&sources, "machine.cpu.thread_count");
    struct fulcrum_source cores = source_of(&sources, "machine.cpu.core_count");
    CU_ASSERT_STRING_EQUAL(threads.file, "child");
    CU_ASSERT_STRING_EQUAL(cores.file, "parent");
    fulcrum_sources_free(&sources);
    scratch_free(&scratch);
}

TEST(test_a_circle_of_files_is_refused)
{
    struct scratch scratch = scratch_new();
    (void)scratch_put(&scratch, "b.json",
        "{\"kind\":\"machine\",\"name\":\"b\",\"extends\":\"./a.json\"}");
    const char *path = scratch_put(&scratch, "a.json",
        "{\"kind\":\"machine\",\"name\":\"a\",\"extends\":\"./b.json\"}");
    struct fulcrum_design design;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    CU_ASSERT_EQUAL(
        fulcrum_machine_load(path, &design, NULL, &err), FULCRUM_ERR_FORMAT);
    assert_part(err.detail, "b.json: extends = \"./a.json\": expected a chain");
    assert_part(err.detail, "without a circle");
    scratch_free(&scratch);
}

TEST(test_files_that_cannot_be_read_are_named)
{
    struct scratch scratch = scratch_new();
    const char *absent = scratch_at(&scratch, "absent.json");
    const char *folder = scratch_at(&scratch, "");
    const char *huge = scratch_at(&scratch, "huge.json");
    const char *empty = scratch_put(&scratch, "empty.json", "");
    FILE *stream = fopen(huge, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    /* A hole: takes no room on the disk. */
    CU_ASSERT_EQUAL(fseek(stream, (64L << 20) + 1, SEEK_SET), 0);
    (void)fputc('x', stream);
    (void)fclose(stream);
    const struct {
        const char *path;
        enum fulcrum_status status;
        const char *detail;
    } cases[] = {
        {absent, FULCRUM_ERR_FILE,
            "absent.json: cannot be read: No such file or directory"},
        {folder, FULCRUM_ERR_FILE, "is a directory: expected a file"},
        {huge, FULCRUM_ERR_FILE, "huge.json: is larger than 64 MiB"},
        {empty, FULCRUM_ERR_FORMAT, "empty.json: is empty"},
        {"/dev/null", FULCRUM_ERR_FORMAT, "/dev/null: is empty"},
        {"/proc/self/mem", FULCRUM_ERR_FILE, "/proc/self/mem: cannot be read: "},
        {"dgx1", FULCRUM_ERR_UNKNOWN_NAME,
            "\"dgx1\" is no machine preset; did you mean dgx-1?"},
        {"", FULCRUM_ERR_UNKNOWN_NAME, "\"\" is no machine preset"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_design design;
        ASSERT_FAILS(fulcrum_machine_load(cases[i].path, &design, NULL, &err),
            cases[i].status, cases[i].detail);
    }
    scratch_free(&scratch);
}

static enum fulcrum_status load_any(
    enum fulcrum_preset_kind kind, const char *name, struct fulcrum_error *err)
{
    struct fulcrum_design design;
    if (kind == FULCRUM_PRESET_MACHINE) {
        return fulcrum_machine_load(name, &design, NULL, err);
    }
    if (kind == FULCRUM_PRESET_WORKLOAD) {
        return fulcrum_workload_load(name, &design, NULL, err);
    }
    struct fulcrum_calibration *calibration = NULL;
    enum fulcrum_status status = fulcrum_calibration_load(name, &calibration, err);
    fulcrum_calibration_free(calibration);
    return status;
}

static void check_shipped(enum fulcrum_preset_kind kind)
{
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = 0;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    ASSERT_OK(fulcrum_preset_list(kind, &entries, &count, &err));
    CU_ASSERT(count > 0);
    for (size_t i = 0; i < count; i++) {
        ASSERT_OK(load_any(kind, entries[i].name, &err));
        CU_ASSERT(entries[i].title[0] != '\0');
        CU_ASSERT(i == 0 || strcmp(entries[i - 1].name, entries[i].name) < 0);
    }
    CU_ASSERT_STRING_EQUAL(err.detail, "");
    free(entries);
}

TEST(test_every_shipped_preset_loads)
{
    check_shipped(FULCRUM_PRESET_MACHINE);
    check_shipped(FULCRUM_PRESET_WORKLOAD);
    check_shipped(FULCRUM_PRESET_CALIBRATION);
}

TEST(test_published_values_of_the_dgx_1_are_kept)
{
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    ASSERT_OK(fulcrum_machine_load("dgx-1", &design, NULL, NULL));
    double sms = design.machine.gpu.count * design.machine.gpu.sm_count;
    CU_ASSERT_EQUAL(design.machine.cpu.thread_count / sms, 1.0 / 8.0);
    ASSERT_OK(fulcrum_machine_load("dgx-1-inci2020", &design, NULL, NULL));
    CU_ASSERT_EQUAL(design.machine.cpu.thread_count / sms, 1.0 / 16.0);
    CU_ASSERT_EQUAL(design.machine.cpu.core_count, 20.0);
    ASSERT_OK(fulcrum_workload_load("r2d2-atari", &design, NULL, NULL));
    CU_ASSERT_EQUAL(design.workload.batching.policy, FULCRUM_BATCH_FIXED);
    CU_ASSERT_EQUAL(design.workload.training.env_steps_per_train_step, 3360.0);
    CU_ASSERT_STRING_EQUAL(design.workload.calibration, "v100-prior");
    CU_ASSERT(isnan(design.workload.step.mean_s));
}

TEST(test_a_folder_of_the_user_comes_first)
{
    struct scratch scratch = scratch_new();
    const char *folder = scratch_at(&scratch, "machines");
    CU_ASSERT_EQUAL_FATAL(mkdir(folder, 0700), 0);
    const char *path = scratch_put(&scratch, "machines/dgx-1.json",
        "{\"kind\":\"machine\",\"name\":\"dgx-1\",\"title\":\"mine\"}");
    (void)scratch_put(&scratch, "machines/notes.txt", "no preset");
    CU_ASSERT_EQUAL_FATAL(setenv("FULCRUM_PRESETS", scratch.folder, 1), 0);
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    ASSERT_OK(fulcrum_machine_load("dgx-1", &design, NULL, NULL));
    CU_ASSERT_STRING_EQUAL(design.machine.title, "mine");
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = 0;
    ASSERT_OK(fulcrum_preset_list(FULCRUM_PRESET_MACHINE, &entries, &count, NULL));
    CU_ASSERT(count >= 2);
    size_t own = 0;
    while (own < count && strcmp(entries[own].name, "dgx-1") != 0) {
        own++;
    }
    CU_ASSERT_FATAL(own < count);
    CU_ASSERT_STRING_EQUAL(entries[own].file, path);
    free(entries);
    path = scratch_put(
        &scratch, "machines/other.json", "{\"kind\":\"machine\",\"name\":\"another\"}");
    ASSERT_FAILS(fulcrum_preset_list(FULCRUM_PRESET_MACHINE, &entries, &count, &err),
        FULCRUM_ERR_FORMAT, "other.json: name = \"another\": expected \"other\"");
    CU_ASSERT_EQUAL_FATAL(setenv("FULCRUM_PRESETS", path, 1), 0);
    ASSERT_FAILS(fulcrum_machine_load("dgx-1", &design, NULL, &err), FULCRUM_ERR_FILE,
        "FULCRUM_PRESETS = ");
    CU_ASSERT_EQUAL(unsetenv("FULCRUM_PRESETS"), 0);
    scratch_free(&scratch);
}

TEST(test_references_are_listed_by_their_head)
{
    struct scratch scratch = scratch_new();
    const char *folder = scratch_at(&scratch, "references");
    CU_ASSERT_EQUAL_FATAL(mkdir(folder, 0700), 0);
    (void)scratch_put(&scratch, "references/aa.json",
        "{\"kind\":\"reference\",\"name\":\"aa\",\"title\":\"A\",\"source\":{},"
        "\"points\":[]}");
    CU_ASSERT_EQUAL_FATAL(setenv("FULCRUM_PRESETS", scratch.folder, 1), 0);
    struct fulcrum_preset_entry *entries = NULL;
    size_t count = 0;
    ASSERT_OK(fulcrum_preset_list(FULCRUM_PRESET_REFERENCE, &entries, &count, NULL));
    CU_ASSERT_STRING_EQUAL(entries[0].name, "aa");
    CU_ASSERT_STRING_EQUAL(entries[0].title, "A");
    free(entries);
    (void)scratch_put(
        &scratch, "references/bb.json", "{\"kind\":\"reference\",\"name\":\"bb\"}");
    ASSERT_FAILS(fulcrum_preset_list(FULCRUM_PRESET_REFERENCE, &entries, &count, &err),
        FULCRUM_ERR_FORMAT, "bb.json: source is not given: expected an object");
    CU_ASSERT_EQUAL(unsetenv("FULCRUM_PRESETS"), 0);
    scratch_free(&scratch);
}

SUITE_SETUP
{
    (void)unsetenv("FULCRUM_PRESETS");
    return 0;
}
