/* test_range.c - axes of a sweep as people write them. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/option.h"

#include <stdbool.h>
#include <stdlib.h>

#include "tests/support/suite.h"

static bool is_increasing(const double *values, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (!(values[i] > values[i - 1])) {
            return 0;
        }
    }
    return 1;
}

TEST(test_ranges_and_lists_give_increasing_values)
{
    static const struct {
        const char *path;
        const char *text;
        size_t count;
        double first;
        double last;
    } cases[] = {
        {"machine.cpu.thread_count", "8:1024:x2", 8, 8.0, 1024.0},
        {"machine.cpu.thread_count", "8:1000:x2", 7, 8.0, 512.0},
        {"run.actor_count", "4:64:4", 16, 4.0, 64.0},
        {"run.actor_count", "4:64:+4", 16, 4.0, 64.0},
        {"run.actor_count", "1:4:*1.2", 4, 1.0, 4.0},
        {"run.actor_count", "5,1,2,2", 3, 1.0, 5.0},
        {"workload.step.mean_s", "1e-3", 1, 1e-3, 1e-3},
        {"workload.step.cv", "0:1:0.1", 11, 0.0, 1.0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        double *values = NULL;
        size_t count = 0;
        ASSERT_OK(fulcrum_range_parse(
            fulcrum_field_find(cases[i].path), cases[i].text, &values, &count, NULL));
        CU_ASSERT_EQUAL(count, cases[i].count);
        assert_close(cases[i].text, values[0], cases[i].first, 1e-12);
        assert_close(cases[i].text, values[count - 1], cases[i].last, 1e-12);
        CU_ASSERT(is_increasing(values, count));
        free(values);
    }
}

TEST(test_bad_ranges_are_refused)
{
    static const struct {
        const char *path;
        const char *text;
        enum fulcrum_status status;
    } cases[] = {
        {"run.actor_count", "", FULCRUM_ERR_FORMAT},
        {"run.actor_count", "abc", FULCRUM_ERR_FORMAT},
        {"run.actor_count", "1:2", FULCRUM_ERR_FORMAT},
        {"run.actor_count", "1:2:x", FULCRUM_ERR_FORMAT},
        {"run.actor_count", "1:2:x2x", FULCRUM_ERR_FORMAT},
        {"run.actor_count", "1,,2", FULCRUM_ERR_FORMAT},
        {"run.actor_count", "1,2,", FULCRUM_ERR_FORMAT},
        {"run.actor_count", "1:nan:2", FULCRUM_ERR_FORMAT},
        {"run.actor_count", "1:inf:2", FULCRUM_ERR_FORMAT},
        {"run.actor_count", "64:4:x2", FULCRUM_ERR_RANGE},
        {"run.actor_count", "4:64:x1", FULCRUM_ERR_RANGE},
        {"run.actor_count", "4:64:x0.5", FULCRUM_ERR_RANGE},
        {"run.actor_count", "4:64:0", FULCRUM_ERR_RANGE},
        {"run.actor_count", "4:64:-4", FULCRUM_ERR_RANGE},
        {"run.actor_count", "0:64:4", FULCRUM_ERR_RANGE},
        {"run.actor_count", "1.5", FULCRUM_ERR_RANGE},
        {"run.actor_count", "1,2.5,4", FULCRUM_ERR_RANGE},
        {"run.actor_count", "1.5:64:x2", FULCRUM_ERR_RANGE},
        {"workload.step.mean_s", "0:1:1e-9", FULCRUM_ERR_RANGE},
        {"workload.step.mean_s", "-1,1", FULCRUM_ERR_RANGE},
        {"workload.step.law", "1:2:1", FULCRUM_ERR_RANGE},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        double *values = NULL;
        size_t count = 0;
        struct fulcrum_error err = {FULCRUM_OK, ""};
        enum fulcrum_status status = fulcrum_range_parse(
            fulcrum_field_find(cases[i].path), cases[i].text, &values, &count, &err);
        CU_ASSERT_EQUAL(status, cases[i].status);
        CU_ASSERT_PTR_NULL(values);
        CU_ASSERT(err.detail[0] != '\0');
    }
}
