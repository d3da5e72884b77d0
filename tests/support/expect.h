/* expect.h - the earlier name of assert_part. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_EXPECT_H
#define FULCRUM_TESTS_EXPECT_H

#include "tests/support/suite.h"

static inline void expect_part(const char *text, const char *part)
{
    assert_part(text, part);
}

#endif
