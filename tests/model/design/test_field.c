/* test_field.c - fields of a design by path, nearest names, completeness. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "model/design/design.h"
#include "model/string.h"
#include "tests/support/designs.h"
#include "tests/support/suite.h"

TEST(test_every_field_is_found_by_its_path_and_starts_at_its_fallback)
{
    size_t count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&count);
    static struct fulcrum_design design;
    fulcrum_design_init(&design);
    CU_ASSERT(count > 60);
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT_PTR_EQUAL(fulcrum_field_find(fields[i].path), &fields[i]);
        double value = fulcrum_field_number(&fields[i], &design);
        bool is_number = fields[i].kind == FULCRUM_FIELD_NUMBER ||
                         fields[i].kind == FULCRUM_FIELD_COUNT;
        CU_ASSERT(!is_number || value == fields[i].fallback ||
                  (isnan(value) && isnan(fields[i].fallback)));
        CU_ASSERT(strlen(fields[i].meaning) > 3);
        CU_ASSERT(
            (fields[i].kind == FULCRUM_FIELD_CHOICE) == (fields[i].choice != NULL));
    }
}

static void assert_refused(
    const struct fulcrum_field *field, struct fulcrum_design *design, double value)
{
    CU_ASSERT_EQUAL(
        fulcrum_field_set_number(field, design, value, NULL), FULCRUM_ERR_RANGE);
}

TEST(test_limits_of_every_number_hold)
{
    size_t count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&count);
    static struct fulcrum_design design;
    fulcrum_design_init(&design);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].kind != FULCRUM_FIELD_NUMBER &&
            fields[i].kind != FULCRUM_FIELD_COUNT) {
            continue;
        }
        assert_refused(&fields[i], &design, nextafter(fields[i].least, -INFINITY));
        assert_refused(&fields[i], &design, nextafter(fields[i].most, INFINITY));
        assert_refused(&fields[i], &design, (double)NAN);
        assert_refused(&fields[i], &design, (double)INFINITY);
        ASSERT_OK(fulcrum_field_set_number(&fields[i], &design, fields[i].least, NULL));
        CU_ASSERT_EQUAL(fulcrum_field_number(&fields[i], &design), fields[i].least);
    }
}

TEST(test_texts_are_read_as_the_field_wants)
{
    static const struct {
        const char *path;
        const char *text;
        enum fulcrum_status status;
        const char *detail; /* what the message must hold */
    } cases[] = {
        {"machine.cpu.thread_count", "80", FULCRUM_OK, NULL},
        {"machine.cpu.thread_count", "80.5", FULCRUM_ERR_RANGE, "whole number"},
        {"machine.cpu.thread_count", "-1", FULCRUM_ERR_RANGE, "= -1:"},
        {"machine.cpu.thread_count", "many", FULCRUM_ERR_FORMAT, "\"many\""},
        {"machine.cpu.thread_count", "8x", FULCRUM_ERR_FORMAT, "expected a number"},
        {"machine.cpu.thread_count", "", FULCRUM_ERR_FORMAT, "expected a number"},
        {"workload.step.mean_s", "nan", FULCRUM_ERR_RANGE, "nan"},
        {"workload.step.mean_s", "1e400", FULCRUM_ERR_RANGE, "inf"},
        {"workload.step.law", "erlang", FULCRUM_OK, NULL},
        {"workload.step.law", "normal", FULCRUM_ERR_RANGE, "lognormal"},
        {"machine.gpu.name", "V100", FULCRUM_OK, NULL},
        {"actors", "12", FULCRUM_OK, NULL},
    };
    static struct fulcrum_design design;
    fulcrum_design_init(&design);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct fulcrum_error err = {FULCRUM_OK, ""};
        const struct fulcrum_field *field = fulcrum_field_find(cases[i].path);
        CU_ASSERT_EQUAL(fulcrum_field_set_text(field, &design, cases[i].text, &err),
            cases[i].status);
        CU_ASSERT(
            cases[i].detail == NULL || strstr(err.detail, cases[i].detail) != NULL);
        CU_ASSERT(cases[i].detail == NULL || strstr(err.detail, field->path) != NULL);
    }
    CU_ASSERT_EQUAL(design.machine.cpu.thread_count, 80.0);
    CU_ASSERT_STRING_EQUAL(design.machine.gpu.name, "V100");
    CU_ASSERT_STRING_EQUAL(
        fulcrum_field_text(fulcrum_field_find("workload.step.law"), &design), "erlang");
    CU_ASSERT_EQUAL(design.run.actor_count, 12.0);
    char longer[200];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    CU_ASSERT_EQUAL(fulcrum_field_set_text(
                        fulcrum_field_find("machine.gpu.name"), &design, longer, NULL),
        FULCRUM_ERR_RANGE);
    CU_ASSERT_EQUAL(fulcrum_field_set_number(
                        fulcrum_field_find("machine.gpu.name"), &design, 1.0, NULL),
        FULCRUM_ERR_RANGE);
}

TEST(test_nearest_field_of_a_mistyped_path)
{
    CU_ASSERT_STRING_EQUAL(
        fulcrum_field_nearest("machine.cpu.thread_cuont"), "machine.cpu.thread_count");
    CU_ASSERT_STRING_EQUAL(fulcrum_field_nearest("sm_count"), "machine.gpu.sm_count");
    CU_ASSERT_PTR_NULL(fulcrum_field_nearest("zzzzzzzz"));
    CU_ASSERT_PTR_NULL(fulcrum_field_find("machine.cpu"));
}

TEST(test_edit_distance_by_hand)
{
    CU_ASSERT_EQUAL(fulcrum_edit_distance("", ""), 0);
    CU_ASSERT_EQUAL(fulcrum_edit_distance("", "abc"), 3);
    CU_ASSERT_EQUAL(fulcrum_edit_distance("kitten", "sitting"), 3);
    CU_ASSERT_EQUAL(fulcrum_edit_distance("dgx-1", "dgx1"), 1);
}

TEST(test_names_are_joined_as_far_as_there_is_room)
{
    static const char *const items[] = {"table", "csv", "json"};
    static const struct {
        size_t count;
        size_t size;
        const char *text;
    } cases[] = {
        {0, 4, ""},
        {1, 6, "table"},
        {2, 13, "table or csv"},
        {3, 19, "table, csv or json"},
        {3, 18, "table, csv or ..."},
        {3, 17, "table, ..."},
        {3, 5, "..."},
        {1, 5, "..."},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char out[32];
        const struct fulcrum_names names = {items, cases[i].count, sizeof items[0]};
        memset(out, '#', sizeof out);
        fulcrum_names_join(&names, out, cases[i].size);
        CU_ASSERT_STRING_EQUAL(out, cases[i].text);
        CU_ASSERT_EQUAL(out[cases[i].size], '#');
    }
}

TEST(test_a_hint_is_the_nearest_name_or_all)
{
    /* Every other one of a table. */
    static const char *const items[] = {"runtime_s", "s", "gpu_w", "W"};
    const struct fulcrum_names names = {items, 2, 2 * sizeof items[0]};
    const struct fulcrum_names none = {NULL, 0, sizeof items[0]};
    char hint[80];
    fulcrum_names_hint(&names, "gpu_q", hint, sizeof hint);
    CU_ASSERT_STRING_EQUAL(hint, "; did you mean 'gpu_w'?");
    fulcrum_names_hint(&names, "zzz", hint, sizeof hint);
    CU_ASSERT_STRING_EQUAL(hint, ": expected runtime_s or gpu_w");
    fulcrum_names_hint(&none, "zzz", hint, sizeof hint);
    CU_ASSERT_STRING_EQUAL(hint, "");
}

static void fill_good(struct fulcrum_design *design)
{
    fulcrum_design_init(design);
    designs_set(design,
        "machine.cpu.core_count=20 machine.cpu.thread_count=40 "
        "machine.cpu.smt_yield_frac=0.25 machine.gpu.count=8 machine.gpu.sm_count=80 "
        "workload.total_env_steps=1e6 workload.step.mean_s=2e-3 workload.step.cv=0.5 "
        "workload.network.per_batch_s=1e-3 workload.network.per_item_s=1e-5 "
        "run.actor_count=16");
}

TEST(test_check_finds_what_is_missing_or_inconsistent)
{
    static const struct {
        const char *path;
        double value; /* NAN: taken away */
        enum fulcrum_status status;
    } cases[] = {
        {"run.gpu_count", 8, FULCRUM_OK},
        {"run.gpu_count", 9, FULCRUM_ERR_RANGE},
        {"run.sm_count", 81, FULCRUM_ERR_RANGE},
        {"machine.cpu.thread_count", 19, FULCRUM_ERR_RANGE},
        {"workload.network.math_frac", 0.5, FULCRUM_ERR_RANGE},
        {"workload.training.env_steps_per_train_step", 3360, FULCRUM_ERR_MISSING},
        {"workload.step.mean_s", NAN, FULCRUM_ERR_MISSING},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        static struct fulcrum_design design;
        fill_good(&design);
        const struct fulcrum_field *field = fulcrum_field_find(cases[i].path);
        memcpy((char *)&design + field->offset, &cases[i].value, sizeof(double));
        CU_ASSERT_EQUAL(fulcrum_design_check(&design, NULL), cases[i].status);
    }
}

TEST(test_a_cpu_learner_needs_a_core_beside_the_actors)
{
    static struct fulcrum_design design;
    fill_good(&design);
    design.machine.accelerator = FULCRUM_ACCELERATOR_CPU;
    design.machine.gpu.count = (double)NAN;
    design.machine.gpu.sm_count = (double)NAN;
    ASSERT_OK(fulcrum_design_check(&design, NULL));
    designs_assert_refused(
        &design, "machine.learner_core_count=20", FULCRUM_ERR_INFEASIBLE, "");
}
