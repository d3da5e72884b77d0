/* test_junit.c - the XML made of checks. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/validate/junit.h"

#include <stdlib.h>
#include <string.h>

#include "calibrate/reference/baseline.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

struct check {
    const char *suite;
    const char *name;
    enum fulcrum_check_outcome outcome;
    const char *text;
};

/* What is written; the caller frees it. */
static char *junit(const struct check *checks, size_t count)
{
    FILE *stream = stream_new();
    struct fulcrum_result *result = fulcrum_result_new(NULL);
    struct fulcrum_table *table = fulcrum_result_table(result, "checks", NULL);
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_string why = {0};
        fulcrum_string_add(&why, "%s", checks[i].text);
        fulcrum_check_add(
            table, checks[i].suite, checks[i].outcome, &why, "%s", checks[i].name);
        CU_ASSERT_EQUAL(fulcrum_check_outcome_of(table, i), checks[i].outcome);
    }
    fulcrum_junit_write(table, "run", stream);
    fulcrum_result_free(result);
    return stream_text(stream);
}

TEST(test_suites_follow_each_other)
{
    static const struct check checks[] = {{"a", "point 1", FULCRUM_CHECK_PASSED, ""},
        {"a", "point 2", FULCRUM_CHECK_FAILED, "moved by 3 %"},
        {"b", "predicted", FULCRUM_CHECK_SKIPPED, "no reason"}};
    char *text = junit(checks, LENGTH(checks));
    CU_ASSERT_STRING_EQUAL(text,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites name=\"run\" tests=\"3\" failures=\"1\" errors=\"0\" "
        "skipped=\"1\">\n"
        "  <testsuite name=\"a\" tests=\"2\" failures=\"1\" errors=\"0\" "
        "skipped=\"0\">\n"
        "    <testcase classname=\"a\" name=\"point 1\"/>\n"
        "    <testcase classname=\"a\" name=\"point 2\">\n"
        "      <failure message=\"moved by 3 %\"/>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        "  <testsuite name=\"b\" tests=\"1\" failures=\"0\" errors=\"0\" "
        "skipped=\"1\">\n"
        "    <testcase classname=\"b\" name=\"predicted\">\n"
        "      <skipped message=\"no reason\"/>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        "</testsuites>\n");
    free(text);
    text = junit(NULL, 0);
    assert_part(text, "tests=\"0\"");
    free(text);
}

/* Names come from files: whatever they hold, the XML is well-formed. */
TEST(test_any_text_is_well_formed)
{
    static const struct check check = {
        "a<b>&\"c\"", "\x01\xff", FULCRUM_CHECK_FAILED, "one\ntwo \xc3\xa9"};
    char *text = junit(&check, 1);
    assert_part(text, "classname=\"a&lt;b&gt;&amp;&quot;c&quot;\" name=\"??\"");
    assert_part(text, "message=\"one&#10;two \xc3\xa9\"");
    free(text);
}
