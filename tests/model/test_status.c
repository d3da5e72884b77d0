/* test_status.c - failures carry a code and a text. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/status.h"

#include <string.h>

#include "tests/support/suite.h"

TEST(test_fail_stores_code_and_text)
{
    struct fulcrum_error err = {FULCRUM_OK, ""};
    CU_ASSERT_EQUAL(
        fulcrum_fail(&err, FULCRUM_ERR_RANGE, "x = %d", 3), FULCRUM_ERR_RANGE);
    CU_ASSERT_EQUAL(err.status, FULCRUM_ERR_RANGE);
    CU_ASSERT_STRING_EQUAL(err.detail, "x = 3");
    CU_ASSERT_EQUAL(fulcrum_fail(NULL, FULCRUM_ERR_FILE, "x"), FULCRUM_ERR_FILE);
}

TEST(test_fail_more_keeps_every_line_that_fits)
{
    struct fulcrum_error err = {FULCRUM_OK, ""};
    (void)fulcrum_fail_more(&err, FULCRUM_ERR_RANGE, "one");
    (void)fulcrum_fail_more(&err, FULCRUM_ERR_FORMAT, "two");
    CU_ASSERT_EQUAL(err.status, FULCRUM_ERR_RANGE);
    CU_ASSERT_STRING_EQUAL(err.detail, "one\ntwo");
    char large[sizeof err.detail];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    (void)fulcrum_fail_more(&err, FULCRUM_ERR_FORMAT, "%s", large);
    CU_ASSERT_STRING_EQUAL(err.detail, "one\ntwo");
}

TEST(test_fail_in_puts_the_context_first)
{
    struct fulcrum_error err = {FULCRUM_OK, ""};
    (void)fulcrum_fail(&err, FULCRUM_ERR_RANGE, "bad");
    CU_ASSERT_EQUAL(fulcrum_fail_in(&err, err.status, "a.json"), FULCRUM_ERR_RANGE);
    CU_ASSERT_STRING_EQUAL(err.detail, "a.json: bad");
}

TEST(test_status_text_covers_every_status)
{
    CU_ASSERT_STRING_EQUAL(fulcrum_status_text(FULCRUM_OK), "success");
    CU_ASSERT_STRING_EQUAL(fulcrum_status_text(FULCRUM_ERR_INTERRUPTED), "interrupted");
    CU_ASSERT_STRING_EQUAL(
        fulcrum_status_text((enum fulcrum_status)99), "unknown status");
}
