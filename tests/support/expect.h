/* expect.h - asserts what a message must contain. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_EXPECT_H
#define FULCRUM_TESTS_EXPECT_H

#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

/* Asserts that `text` contains `part`, and prints both if not. */
static inline void expect_part(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        (void)fprintf(stderr, "expected: %s\nfound: %s\n", part, text);
        CU_FAIL("a part is missing");
    }
}

#endif
