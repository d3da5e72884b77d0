/* suite.c - runs one table of CUnit cases per executable. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/suite.h"

#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int suite_run(const char *name, const struct suite_case *cases, size_t count, int argc,
    char **argv)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    CU_pSuite suite = CU_add_suite(name, NULL, NULL);
    for (size_t i = 0; suite != NULL && i < count; i++) {
        if (argc < 2 || strcmp(argv[1], cases[i].name) == 0) {
            CU_add_test(suite, cases[i].name, cases[i].run);
        }
    }
    CU_basic_set_mode(CU_BRM_VERBOSE);
    int ran = suite != NULL && CU_basic_run_tests() == CUE_SUCCESS &&
              CU_get_number_of_tests_run() > 0;
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return ran && failures == 0 ? 0 : 1;
}

void assert_close(
    const char *what, double actual, double expected, double tolerance_rel)
{
    int close = fabs(actual - expected) <= tolerance_rel * fabs(expected);
    if (!close) {
        (void)printf("\n    %s: %.17g, expected %.17g within %g\n", what, actual,
            expected, tolerance_rel);
    }
    CU_ASSERT(close);
}

void assert_part(const char *text, const char *part)
{
    int has_part = strstr(text, part) != NULL;
    if (!has_part) {
        (void)fprintf(stderr, "expected: %s\nfound: %s\n", part, text);
    }
    CU_ASSERT(has_part);
}
