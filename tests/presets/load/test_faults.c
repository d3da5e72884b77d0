/* test_faults.c - each fault of a file is named: those of tests/data/faults.txt. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* getline */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/load/network_line.h"
#include "presets/load/partition_file.h"
#include "presets/load/preset.h"
#include "presets/load/reference_file.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

/* What the caller's design holds stays as it is. */
static enum fulcrum_status load_machine(const char *path, struct fulcrum_error *err)
{
    struct fulcrum_design design;
    fulcrum_design_init(&design);
    design.machine.rest_w = 123.0;
    design.machine.gpu.sm_count = 7.0;
    enum fulcrum_status status = fulcrum_machine_load(path, &design, NULL, err);
    CU_ASSERT_EQUAL(design.machine.rest_w, 123.0);
    CU_ASSERT_EQUAL(design.machine.gpu.sm_count, 7.0);
    return status;
}

static enum fulcrum_status load_reference(const char *path, struct fulcrum_error *err)
{
    struct fulcrum_reference *reference = NULL;
    enum fulcrum_status status = fulcrum_reference_load(path, &reference, err);
    CU_ASSERT_PTR_NULL(reference);
    fulcrum_reference_free(reference);
    return status;
}

static enum fulcrum_status load_calibration(const char *path, struct fulcrum_error *err)
{
    struct fulcrum_calibration *calibration = NULL;
    enum fulcrum_status status = fulcrum_calibration_load(path, &calibration, err);
    CU_ASSERT_PTR_NULL(calibration);
    fulcrum_calibration_free(calibration);
    return status;
}

static enum fulcrum_status load_partition(const char *path, struct fulcrum_error *err)
{
    struct fulcrum_partition *partition = NULL;
    enum fulcrum_status status = fulcrum_partition_load(path, &partition, err);
    free(partition);
    return status;
}

static enum fulcrum_status parse_network(const char *path, struct fulcrum_error *err)
{
    struct fulcrum_network_line line;
    char *text = scratch_read(path);
    enum fulcrum_status status =
        fulcrum_network_line_parse(&line, "line 7", text, strlen(text), err);
    CU_ASSERT_EQUAL(err->status, status);
    fulcrum_network_line_clear(&line);
    free(text);
    return status;
}

static const struct kind {
    const char *name;
    enum fulcrum_status (*load)(const char *path, struct fulcrum_error *err);
} kinds[] = {{"machine", load_machine}, {"reference", load_reference},
    {"calibration", load_calibration}, {"partition", load_partition},
    {"network", parse_network}};

/* The file of faults while it is read. */
struct faults {
    struct scratch scratch;
    const struct kind *kind;
    char start[400]; /* of the files that follow */
    char content[2000];
    size_t count;
};

static void begin_kind(struct faults *faults, const char *line)
{
    char name[32] = "";
    CU_ASSERT_EQUAL_FATAL(sscanf(line, "@ %31s", name), 1);
    (void)snprintf(faults->start, sizeof faults->start, "%s", line + 3 + strlen(name));
    const struct kind *found = NULL;
    for (size_t i = 0; i < LENGTH(kinds); i++) {
        found = strcmp(kinds[i].name, name) == 0 ? &kinds[i] : found;
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    faults->kind = found != NULL ? found : kinds;
}

static const char *code_of(enum fulcrum_status status)
{
    static const char *const codes[] = {
#define X(code, text) #code,
        FULCRUM_STATUS_LIST(X)
#undef X
    };
    return codes[status];
}

/* `expected` is a status and a part of the message, or all of it. */
static void assert_fault(struct faults *faults, const char *expected)
{
    struct fulcrum_error err = {FULCRUM_OK, ""};
    const char *path = scratch_put(&faults->scratch, "my.json", faults->content);
    enum fulcrum_status status = faults->kind->load(path, &err);
    size_t length = strcspn(expected, " ");
    const char *part = expected + length + strspn(expected + length, " ");
    bool is_same = strncmp(code_of(status), expected, length) == 0;
    /* References have one fault each; elsewhere members miss besides. */
    bool is_one =
        faults->kind->load != load_reference || strchr(err.detail, '\n') == NULL;
    if (!is_same || !is_one) {
        (void)fprintf(
            stderr, "%s\n%s: %s\n", faults->content, code_of(status), err.detail);
    }
    CU_ASSERT(is_same);
    CU_ASSERT(is_one);
    assert_part(err.detail, part);
    bool is_whole = faults->kind->load == parse_network;
    CU_ASSERT(!is_whole || strlen(err.detail) == strlen(part));
    faults->count++;
}

static void read_line(struct faults *faults, const char *line)
{
    if (line[0] == '@') {
        begin_kind(faults, line);
    } else if (line[0] == ' ') {
        assert_fault(faults, line + strspn(line, " "));
    } else if (line[0] != '#') {
        int length = snprintf(
            faults->content, sizeof faults->content, "%s%s", faults->start, line);
        CU_ASSERT_FATAL((size_t)length < sizeof faults->content);
    }
}

TEST(test_each_fault_is_named_with_place_value_and_expectation)
{
    struct faults faults = {.scratch = scratch_new(), .kind = kinds};
    FILE *stream = fopen("tests/data/faults.txt", "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stream) > 0) {
        line[strcspn(line, "\n")] = '\0';
        read_line(&faults, line);
    }
    CU_ASSERT(faults.count >= 203);
    free(line);
    (void)fclose(stream);
    scratch_free(&faults.scratch);
}

/* Presets are suggested from this tree; CTest runs in its root. */
SUITE_SETUP
{
    return setenv("FULCRUM_PRESETS", "presets", 1);
}
